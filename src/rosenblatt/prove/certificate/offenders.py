"""Offenders: rows to remove, and the proof of how many must go at least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import Any

import numpy as np

from rosenblatt.data.cone import Cone, as_cone
from rosenblatt.prove import checker
from rosenblatt.prove.certificate.base import Result, Verification
from rosenblatt.prove.certificate.codec import kind_of_result, misfit
from rosenblatt.prove.certificate.verdicts import Separable
from rosenblatt.prove.checker import removal as claims
from rosenblatt.prove.checker.digest import data_digest
from rosenblatt.prove.checker.limits import too_long

Number = float | Fraction
SHOWN = 10


@dataclass(frozen=True)
class Witness:
    """Rows of which at least one must go: with these positive weights their z_i cancel.

    `share` is how much the witness counts in the lower bound: 1 if it shares no row with
    others, less if it does, more if its rows occur several times.
    """

    rows: tuple[int, ...]
    weights: tuple[Fraction, ...]
    share: Fraction

    def __len__(self) -> int:
        return len(self.rows)


@kind_of_result("offenders")
@dataclass(frozen=True, kw_only=True, repr=False)
class Offenders(Result):
    """Rows to remove, and the proof of how many must go.

    Attributes
    ----------
    rows : the rows to remove, in order; the others are strictly separable
    lower_bound : proven: no smaller number of rows is enough
    minimum : whether `rows` is proven to be as small as possible, lower_bound == len(rows)
    witnesses : cancelling sets that prove the bound
    copies : groups of rows, of those in witnesses, with the same z
    by_search : whether the bound needs a search over all witnesses, or adding shares is enough
    w, b : a hyperplane that has every row that stays strictly on its side
    certificate : that the rows that stay are separable, from :func:`separability`; None if they
        are of one class, or if time ran out (w and b prove it nevertheless)
    labels : the label of each removed row
    distances : how far each removed row is from the hyperplane, negative on the wrong side, the
        nearest float; nan if w = 0
    fit_intercept, n_rows, n_features, data : what it speaks of; `data` is a digest
    seconds : how long the search took
    """

    rows: tuple[int, ...]
    lower_bound: int
    witnesses: tuple[Witness, ...]
    copies: tuple[tuple[int, ...], ...]
    by_search: bool
    w: tuple[Number, ...]
    b: Number
    certificate: Separable | None
    labels: tuple[str, ...]
    distances: tuple[float, ...]
    fit_intercept: bool
    n_rows: int
    n_features: int
    data: str
    seconds: float = field(default=0.0, compare=False, metadata={"apart": True})

    @property
    def minimum(self) -> bool:
        return self.lower_bound == len(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def verify(
        self,
        X: Any,
        y: Any = None,
        *,
        max_bits: int | None = None,
        max_seconds: float | None = None,
    ) -> Verification:
        """Check against the raw data, exactly: that the removal is enough, and the bound.

        Parameters
        ----------
        X, y : the data, as for :func:`offenders`
        max_bits : int, optional
            Refuse results with longer numbers than that; see :meth:`Certificate.verify`.
        max_seconds : float, optional
            Stop with `UndecidedError` after this time. It is tested before each block of rows.

        Returns
        -------
        Verification
            Its `unchecked` holds "feature_names" if the certificate of the rows that stay has
            names. Every other field but `seconds` is checked.
        """
        rows = as_cone(X, y, self.fit_intercept is not False).within(max_seconds)
        if problem := misfit(self) or too_long(self, rows, max_bits):
            return Verification.refused(problem)
        problems = self._broken_seal()
        if self.data != data_digest(rows):
            problems.append("these are not the data it was made for: their digest differs")
        untrue = self._untrue(rows)
        named = self.certificate is not None and self.certificate.feature_names is not None
        unchecked = ("feature_names",) if named else ()
        return Verification(not problems, not untrue, (*problems, *untrue), unchecked)

    def _untrue(self, rows: Cone) -> list[str]:
        """What is not true, in words."""
        if (rows.n_rows, rows.n_features) != (self.n_rows, self.n_features):
            return [
                f"it speaks of {self.n_rows} x {self.n_features} numbers, these are "
                f"{rows.n_rows} x {rows.n_features}"
            ]
        if len(rows.classes) != 2:
            return [f"it speaks of two classes, these rows have {len(rows.classes)}"]
        intercept = self.fit_intercept
        said = claims.wrong_rows(rows, self.rows, self.w, self.b, intercept)
        said += claims.false_copies(rows, self.copies, intercept)
        for k, part in enumerate(self.witnesses):
            if not checker.cancels(rows, part.rows, part.weights, intercept):
                said.append(f"the weights of witness {k} do not cancel, or are not positive")
        if not said:
            said += self._false_places(rows)
            shares = [(part.rows, part.share) for part in self.witnesses]
            said += claims.unproven_bound(self.lower_bound, shares, self.copies, self.by_search)
            said += self._certificate_untrue(rows)
        return said

    def _false_places(self, rows: Cone) -> list[str]:
        """What is not true of the labels and distances of the removed rows."""
        said = []
        if self.labels != labels_of(rows, self.rows):
            said.append("the labels of the removed rows are others")
        found = claims.distances(rows, self.rows, self.w, self.b, self.fit_intercept)
        if repr(self.distances) != repr(found):  # nan is what it is
            said.append("the distances of the removed rows are others")
        return said

    def _certificate_untrue(self, rows: Cone) -> list[str]:
        if self.certificate is None:
            return []
        if self.certificate.verdict != "separable":
            return ["the certificate of the rows that stay does not say that they are separable"]
        if self.certificate.fit_intercept != self.fit_intercept:
            return ["the certificate is about other hyperplanes"]
        stay = np.setdiff1d(np.arange(rows.n_rows), self.rows)
        found = self.certificate.verify(rows.select(stay))
        return [f"the certificate of the rows that stay: {p}" for p in found.problems]

    # ------------------------------------------------------------------ for people

    def __str__(self) -> str:
        return self.explain()

    __repr__ = __str__

    def explain(self) -> str:
        """The answer in plain words, with the place of each row (the first ten)."""
        where = "with an offset" if self.fit_intercept else "through the origin"
        if not self.rows:
            return f"separable {where}: none of the {self.n_rows} rows has to go."
        return "\n".join([*self._summary(where), *self._places()])

    def _summary(self, where: str) -> list[str]:
        k, low = len(self.rows), self.lower_bound
        first = (
            f"without {_count(k)} of {self.n_rows} the classes are separable {where}: "
            f"{_listed(self.rows)}."
        )
        sets = _count(len(self.witnesses), "cancelling set", "cancelling sets")
        how = "fewer rows cannot meet all of them" if self.by_search else "each must lose a row"
        proof = f"{sets} {'proves' if len(self.witnesses) == 1 else 'prove'} it; {how}"
        if not low:
            second = "No proof that any must go was found in time."
        elif self.minimum:
            second = f"Fewer are not enough ({proof}): this is a smallest such set."
        else:
            second = (
                f"At least {_count(low)} must go ({proof}): the smallest number is between {low} "
                f"and {k}."
            )
        return [first, second]

    def _places(self) -> list[str]:
        lines = []
        for i, label, far in list(zip(self.rows, self.labels, self.distances, strict=True))[:SHOWN]:
            if far != far:
                place = "is of the class that went altogether"
            elif far < 0:
                place = f"lies {-far:.4g} beyond the hyperplane of the others"
            elif far > 0:
                place = f"lies {far:.4g} on its own side of the hyperplane of the others"
            else:
                place = "lies on the hyperplane of the others"
            lines.append(f"row {i} ({label}) {place}")
        if len(self.rows) > SHOWN:
            lines.append(f"and {len(self.rows) - SHOWN} more")
        return lines

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.explain())}</pre>"


def labels_of(rows: Cone, at: Sequence[int]) -> tuple[str, ...]:
    """The labels of some rows, as text."""
    return tuple(str(rows.classes[int(y > 0)]) for y in checker.labels(rows, at))


def _count(k: int, one: str = "row", many: str = "rows") -> str:
    return f"{k} {one if k == 1 else many}"


def _listed(rows: Sequence[int]) -> str:
    shown = ", ".join(str(i) for i in rows[:SHOWN])
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return f"{'row' if len(rows) == 1 else 'rows'} {shown}{more}"
