"""Claim: what every verdict carries, how it checks itself, how it is written and said.

A claim holds numbers only; what they prove, `verify` checks from the raw data
(:mod:`rosenblatt.prove.verify`). The three verdicts are in :mod:`rosenblatt.prove.certificate`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy.typing as npt

from rosenblatt.data.chunks import Rows, as_rows
from rosenblatt.prove.claims import form, words, writing
from rosenblatt.prove.claims.reading import Answer, Question, ask

Array = npt.NDArray[Any]
Facts = list[tuple[str, str]]  # what it is about, and the sentence
VERDICTS: dict[str, type[Certificate]] = {}  # filled where they are defined


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

    @classmethod
    def refused(cls, problem: str) -> Verification:
        """For a result that is not even of the form of one."""
        return cls(False, False, (problem,))


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
class Certificate:
    """What every verdict carries.

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
    sealed : str
        The digest of everything above and below, taken when it was made, or written in the
        file it came from. If it is not `digest`, something was altered since.
    """

    verdict: ClassVar[str]

    fit_intercept: bool
    n_rows: int
    n_features: int
    data: str
    positive: str
    negative: str
    feature_names: tuple[str, ...] | None = None
    sealed: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.sealed is None:
            object.__setattr__(self, "sealed", self.digest)

    @property
    def digest(self) -> str:
        """SHA-256 of everything the certificate says."""
        return writing.digest_of(_content(self))

    def resealed(self) -> Self:
        """The same with its digest taken anew: now it is unaltered, whether true or not."""
        return replace(self, sealed=None)

    # ------------------------------------------------------------------ checking it

    def verify(self, X: Any, y: Any = None, *, max_bits: int | None = None) -> Verification:
        """Check integrity and truth against the raw data, exactly.

        Parameters
        ----------
        X, y : the data, held in any way: arrays, a frame, CSR, a memory map, or chunks of
            (X, y) with `y` left out.
        max_bits : int, optional
            Refuse certificates with longer numbers than that. The default allows for what a proof
            about these data may need.

        Returns
        -------
        Verification
            Its `unchecked` holds "feature_names" if the data have no names to compare with.
        """
        rows = as_rows(X, y)
        if problem := form.misfit(self) or form.too_long(self, rows, max_bits):
            return Verification.refused(problem)
        untrue, answer = self._looked(rows, digest=True)
        altered = self._altered(rows, answer.digest)
        free = self.feature_names is not None and rows.feature_names is None
        unchecked = ("feature_names",) if free else ()
        return Verification(not altered, not untrue, (*altered, *untrue), unchecked)

    def _untrue(self, rows: Rows) -> list[str]:
        """What is not true, in words."""
        return self._looked(rows, digest=False)[0]

    def _looked(self, rows: Rows, digest: bool) -> tuple[list[str], Answer]:
        """What is not true, in words, and all that was seen in one reading of the rows.

        The few rows of a proof are taken first, to know what to look for.
        """
        if rows.n_features != self.n_features or rows.n_rows != self.n_rows:
            size = (
                f"it speaks of {self.n_rows} x {self.n_features} numbers, these are "
                f"{rows.n_rows} x {rows.n_features}"
            )
            return [size], ask(rows, Question(digest=True)) if digest else Answer()
        said, question = self._asked(rows)
        question = replace(question, digest=digest)
        answer = ask(rows, question) if question != Question() else Answer()
        return [*self._misnamed(rows), *self._false(rows, said, answer)], answer

    def _altered(self, rows: Rows, digest: object) -> list[str]:
        """What does not fit together, in words."""
        said = []
        if self.sealed != self.digest:
            said.append("the certificate was altered: its digest does not fit")
        if self.data != digest:
            said.append("these are not the data it was made for: their digest differs")
        if self.feature_names and rows.feature_names and self.feature_names != rows.feature_names:
            said.append(_other_names(self.feature_names, rows.feature_names))
        return said

    def _misnamed(self, rows: Rows) -> list[str]:
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

    def _asked(self, rows: Rows) -> tuple[list[str], Question]:
        """What is not true of the few rows it names, and what to ask of all."""
        raise NotImplementedError

    def _false(self, rows: Rows, said: list[str], answer: Answer) -> list[str]:
        """What is not true, of the few rows as `said` and of all by the answer."""
        raise NotImplementedError

    def split_rows(self, X: Any, y: Any = None) -> Array:
        """The numbers of the rows that the hyperplane has strictly on their side."""
        raise NotImplementedError

    # ------------------------------------------------------------------ writing it

    def to_json(self) -> str:
        """The certificate as text, its digest in it; rationals and floats exactly."""
        return writing.written(_content(self), str(self.sealed))

    @staticmethod
    def from_json(text: str | bytes) -> Certificate:
        """The certificate that `to_json` wrote; `verify` notices if it was altered since.

        DataError if it is no such text: nothing but white space may differ in its spelling.
        """
        try:
            content, digest = writing.read(text)
            cls = VERDICTS[str(content.pop("verdict"))]
            made = {f.name: _parsed(f.name, content.pop(f.name)) for f in _said(cls)}
            if content:
                raise ValueError(f"unexpected entries {sorted(content)[:5]}")
            found = cls(**made, sealed=digest)
            writing.check_spelling(text, _content(found), digest)
        except KeyError as e:
            writing.refused(ValueError(f"there is no {e}"))
        except (TypeError, ValueError) as e:
            writing.refused(e)
        return found

    # ------------------------------------------------------------------ saying it

    def described(self, rows: Rows) -> Self:
        """The same with what people like to know beside the proof, read from the rows."""
        return self

    def explain(self, feature_names: Iterable[object] | None = None) -> str:
        """The verdict in plain words: which rows prove it, which features it is about.

        Parameters
        ----------
        feature_names : names of the columns, optional
            Those of the frame it was made from, if left out.
        """
        return "\n".join(sentence for _, sentence in self._facts(self._names(feature_names)))

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self.n_rows} rows, {self.n_features} features, "
            f"{self._where}>"
        )

    def _repr_html_(self) -> str:
        return words.html_facts(self.verdict, self._facts(self._names(None)))

    def _facts(self, names: list[str]) -> Facts:
        raise NotImplementedError

    def _names(self, given: Iterable[object] | None) -> list[str]:
        return words.named(self.feature_names if given is None else given, self.n_features)

    @property
    def _where(self) -> str:
        return "with an offset" if self.fit_intercept else "through the origin"


# ---------------------------------------------------------------------- text to fields


def _said(cls: type[Certificate]) -> list[Any]:
    """The fields that the digest covers."""
    return [f for f in fields(cls) if f.name != "sealed"]


def _content(certificate: Certificate) -> dict[str, Any]:
    """The certificate as JSON values."""

    def value(name: str) -> Any:
        found = getattr(certificate, name)
        if isinstance(found, Combination):
            found = {"rows": found.rows, "weights": found.weights}
        return writing.plain(found)

    said = {f.name: value(f.name) for f in _said(type(certificate))}
    return {"verdict": certificate.verdict, **said}


def _parsed(name: str, value: Any) -> Any:
    if name in ("proof", "witness"):
        return Combination(*writing.combination(value))
    return writing.field_value(name, value)


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
