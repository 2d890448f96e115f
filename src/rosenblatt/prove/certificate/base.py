"""Base of all results: sealing, writing, verification; what every verdict holds.

A result holds numbers only; what they prove, `verify` checks from the raw data
(:mod:`rosenblatt.prove.checker`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy.typing as npt

from rosenblatt.data.cone import Cone, as_cone
from rosenblatt.prove.certificate import codec
from rosenblatt.prove.certificate import explain as words
from rosenblatt.prove.checker.digest import data_digest
from rosenblatt.prove.checker.limits import too_long
from rosenblatt.prove.checker.verdict import verdict_problems

Array = npt.NDArray[Any]
Facts = list[tuple[str, str]]  # what it is about, and the sentence
Findings = tuple[list[str], list[str], tuple[str, ...]]


@dataclass(frozen=True)
class Verification:
    """Two questions apart: is it unaltered, and is it true? True only if both hold."""

    integrity: bool
    truth: bool
    problems: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()  # fields that these data say nothing about

    def __bool__(self) -> bool:
        return self.integrity and self.truth

    def __str__(self) -> str:
        if not self:
            return "NOT verified: " + "; ".join(self.problems)
        rest = f"; not checked: {', '.join(self.unchecked)}" if self.unchecked else ""
        return f"verified: unaltered, and true of these data{rest}"


@dataclass(frozen=True, repr=False)
class Combination:
    """Positive weights on rows whose z_i cancel exactly."""

    rows: tuple[int, ...]
    weights: tuple[Fraction, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:  # weights may have more digits than Python is willing to print
        return f"<Combination of {words.rows_words(self.rows)}>"


@dataclass(frozen=True, kw_only=True, repr=False)
class Result:
    """What can be sealed, written and read: the base of all results.

    Attributes
    ----------
    sealed : str
        The digest of all other fields, taken when the result was made, or written in the file it
        came from. If it is not `digest`, something was altered since.
    """

    kind: ClassVar[str]

    sealed: str | None = field(default=None, compare=False, metadata={"apart": True})

    def __post_init__(self) -> None:
        if self.sealed is None:
            object.__setattr__(self, "sealed", self.digest)

    @property
    def digest(self) -> str:
        """SHA-256 of all fields."""
        return codec.digest_of(self)

    def resealed(self) -> Self:
        """Return a copy with a new digest. Whether it is true is another question.

        Returns
        -------
        Self
            The copy.
        """
        return replace(self, sealed=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the result and its digest as values of JSON, with exact numbers.

        Returns
        -------
        dict
            Integers, and texts "p/q" for rationals.
        """
        return codec.written(self, str(self.sealed))

    def to_json(self) -> str:
        """Return the result and its digest as text, which `from_json` reads.

        Returns
        -------
        str
            JSON with exact numbers.
        """
        return codec.to_text(self, str(self.sealed))

    def verify(
        self,
        X: Any,
        y: npt.ArrayLike | None = None,
        *,
        max_bits: int | None = None,
        max_seconds: float | None = None,
    ) -> Verification:
        """Check integrity and truth against the raw data, exactly.

        Parameters
        ----------
        X : array, CSR matrix, memory map, frame, or chunks (X, y)
            The rows of the result.
        y : array of shape (n_samples,), optional
            Their labels. None if X is chunks.
        max_bits : int, optional
            Refuse results with longer numbers than that. The default allows for what a proof about
            these data may need.
        max_seconds : float, optional
            Time limit, which is tested before each block of rows.

        Returns
        -------
        Verification
            Its `unchecked` names what these data say nothing about, such as "feature_names" if
            they have no names.

        Raises
        ------
        UndecidedError
            If the time is up.
        """
        return self._verified(X, y, max_bits, max_seconds)

    def _verified(
        self, X: Any, y: Any, max_bits: int | None, max_seconds: float | None, **options: Any
    ) -> Verification:
        if problem := codec.misfit(self):
            return Verification(False, False, (problem,))
        cone = as_cone(X, y, self._constant, self._named_rows).within(max_seconds)
        if problem := too_long(self, cone, max_bits):
            return Verification(False, False, (problem,))
        untrue, altered, unchecked = self._findings(cone, **options)
        if self.sealed != self.digest:
            altered.insert(0, "the certificate was altered: its digest does not fit")
        return Verification(not altered, not untrue, (*altered, *untrue), unchecked)

    @property
    def _constant(self) -> bool:
        """Whether hyperplanes with an offset were meant."""
        raise NotImplementedError

    @property
    def _named_rows(self) -> list[int]:
        """The rows that proofs name: few, and needed before all others."""
        raise NotImplementedError

    def _findings(self, cone: Cone, **options: Any) -> Findings:
        """What is not true, what was altered, and what these data say nothing about."""
        raise NotImplementedError

    @staticmethod
    def from_json(text: str | bytes) -> Any:
        """Read a result of any kind that `to_json` wrote. `verify` tells if it was altered.

        Parameters
        ----------
        text : str or bytes
            The text.

        Returns
        -------
        Certificate, MaxMargin or another result
            The result, not verified.

        Raises
        ------
        DataError
            If the text is not a result.
        """
        return codec.from_json(text)


@dataclass(frozen=True, kw_only=True, repr=False)
class DataResult(Result):
    """A result about rows of two classes, which it names by a digest.

    Attributes
    ----------
    fit_intercept : bool
        Whether hyperplanes with an offset were meant.
    n_rows, n_features : int
    data : str
        Digest of the rows and labels it speaks of.
    positive, negative : str
        The labels called +1 and -1.
    feature_names : tuple of str, or None
        The names of the columns, if the data were a frame.
    """

    _not_checked: ClassVar[tuple[str, ...]] = ()  # fields that no data say anything about

    fit_intercept: bool
    n_rows: int
    n_features: int
    data: str
    positive: str
    negative: str
    feature_names: tuple[str, ...] | None = None

    @property
    def where(self) -> str:
        """Which hyperplanes are meant, in words."""
        return "with an offset" if self.fit_intercept else "through the origin"

    @property
    def _constant(self) -> bool:
        return self.fit_intercept

    @property
    def _named_rows(self) -> list[int]:
        parts = [v for v in vars(self).values() if isinstance(v, Combination)]
        return [i for part in parts for i in part.rows if 0 <= i < self.n_rows < 2**62]

    def _findings(self, cone: Cone, **options: Any) -> Findings:
        untrue, digest = self._problems(cone)
        altered = []
        if self.data != digest:
            altered.append("these are not the data it was made for: their digest differs")
        if self.feature_names and cone.names and self.feature_names != cone.names:
            altered.append(_other_names(self.feature_names, cone.names))
        free = self.feature_names is not None and cone.names is None
        return untrue, altered, (*self._not_checked, *(("feature_names",) if free else ()))

    def _problems(self, cone: Cone) -> tuple[list[str], str]:
        """What is not true, in words, and the digest of the data: one reading."""
        if (cone.n_features, cone.n_rows) != (self.n_features, self.n_rows):
            size = (
                f"it speaks of {self.n_rows} x {self.n_features} numbers, these are "
                f"{cone.n_rows} x {cone.n_features}"
            )
            return [size], data_digest(cone)
        untrue, digest = self._checked(cone)
        return [*self._misnamed(cone), *untrue], digest

    def _checked(self, cone: Cone) -> tuple[list[str], str]:
        """The same from the checker of this kind of result."""
        raise NotImplementedError

    def _with_digest(self, cone: Cone) -> Self | None:
        """The result with the digest of the data, if it is true: one reading."""
        untrue, digest = self._problems(cone)
        return None if untrue else replace(self, data=digest, sealed=None)

    def _misnamed(self, rows: Cone) -> list[str]:
        """What is not true of labels and names."""
        said = []
        mine, theirs = [self.negative, self.positive], [str(c) for c in rows.classes]
        if not _same_labels(mine, theirs):
            said.append(
                f"it calls the labels {words.word(self.negative)} and {words.word(self.positive)}, "
                f"these are {words.word(theirs[0])} and {words.word(theirs[1])}"
            )
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            said.append(f"it has {len(self.feature_names)} names for {self.n_features} features")
        return said


@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate(DataResult):
    """A verdict with its proof: Separable, QuasiSeparable or Overlapping.

    Examples
    --------
    >>> from rosenblatt import Certificate, separability
    >>> X, y = [[0], [1], [2], [3]], ["no", "no", "yes", "yes"]
    >>> found = separability(X, y)
    >>> isinstance(found, Certificate), found.verdict, bool(found.verify(X, y))
    (True, 'separable', True)
    """

    @property
    def verdict(self) -> str:
        """The verdict: "separable", "quasi-separable" or "overlapping"."""
        return self.kind

    def _checked(self, cone: Cone) -> tuple[list[str], str]:
        return verdict_problems(self, cone)

    def split_rows(self, X: Any, y: npt.ArrayLike | None = None) -> Array:
        """Return the numbers of the rows that lie strictly on their side of the hyperplane.

        Parameters
        ----------
        X : array, CSR matrix, memory map, frame, or chunks (X, y)
            The rows of the certificate.
        y : array of shape (n_samples,), optional
            Their labels. None if X is chunks.

        Returns
        -------
        int array
            Row numbers; empty for `Overlapping`, which has no hyperplane.
        """
        raise NotImplementedError

    def explain(
        self,
        X: Any = None,
        y: npt.ArrayLike | None = None,
        *,
        feature_names: Iterable[object] | None = None,
    ) -> str:
        """Explain the verdict in plain words: which rows prove it, and which features it uses.

        Parameters
        ----------
        X : array, CSR matrix, memory map or frame, optional
            The rows of the certificate. With them the text also has the labels of the rows of the
            witness, the point that their hulls share, and the first rows that are split off.
        y : array of shape (n_samples,), optional
            Their labels.
        feature_names : iterable of str, optional
            Names of the columns. Default: those of the frame it was made from.

        Returns
        -------
        str
            One sentence per line.
        """
        rows = None if X is None else as_cone(X, y, self.fit_intercept)
        facts = self._facts(self._names(feature_names), rows)
        return "\n".join(sentence for _, sentence in facts)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self.n_rows} rows, {self.n_features} features, {self.where}>"
        )

    def _repr_html_(self) -> str:
        return words.html_facts(self.verdict, self._facts(self._names(None), None))

    def _facts(self, names: list[str], rows: Cone | None) -> Facts:
        raise NotImplementedError

    def _names(self, given: Iterable[object] | None) -> list[str]:
        return words.named(self.feature_names if given is None else given, self.n_features)


def _same_labels(mine: list[str], theirs: list[str]) -> bool:
    """Whether the labels are the same: 1, 1.0 and True are one, unless the data tell them apart."""
    forms = [_plain_label(label) for label in theirs]
    if len(set(forms)) < len(forms):
        return mine == theirs
    return [_plain_label(label) for label in mine] == forms


def _plain_label(label: str) -> str:
    label = {"True": "1", "False": "0"}.get(label, label)
    whole = label.removesuffix(".0")
    return whole if whole.isascii() and whole.removeprefix("-").isdigit() else label


def _other_names(mine: tuple[str, ...], theirs: tuple[str, ...]) -> str:
    if sorted(mine) == sorted(theirs):
        return "the columns of these data are in another order than the certificate's"
    k = next((k for k, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), None)
    if k is None:
        return f"these data have {len(theirs)} columns, the certificate names {len(mine)}"
    return (
        f"column {k} of these data is called {words.word(theirs[k])}, in the certificate "
        f"{words.word(mine[k])}"
    )
