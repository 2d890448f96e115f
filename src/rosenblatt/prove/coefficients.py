"""Coefficients: which maximum-likelihood coefficients are finite, and which are not.

The log-likelihood of a logistic or probit regression is sum_i log F(w.z_i), z_i = y_i (x_i, 1),
with log F strictly concave, increasing to 0 and without bound below. It never falls along w if
w.z_i >= 0 for all i: the cone C of these w decides everything. Let F be the rows that all of C is
orthogonal to. Along every sequence of weights whose likelihood tends to its supremum, w.z_i
converges for the rows of F to the maximum-likelihood fit of F alone, and tends to infinity for
all others. Hence coefficient j

- converges, to the same number each time, if e_j is a combination of the rows of F;
- tends to +inf if e_j = sum_i c_i z_i with c_i >= 0 off F and c_i > 0 for some, that is, if
  w_j >= 0 on C and > 0 somewhere; to -inf likewise;
- can be sent either way if w_j takes both signs on C;
- is not identified if some w with w.z_i = 0 for all i has w_j != 0: collinear columns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from types import MappingProxyType
from typing import Any

from rosenblatt.data.chunks import Rows, as_rows
from rosenblatt.errors import DataError, Undecided
from rosenblatt.learn.trace import html_table
from rosenblatt.prove.certificate import Certificate, Verification
from rosenblatt.prove.claims import form
from rosenblatt.prove.infinite import words
from rosenblatt.prove.infinite.columns import Columns
from rosenblatt.prove.infinite.proof import Claim, Evidence, untrue
from rosenblatt.prove.infinite.search import search
from rosenblatt.prove.infinite.signs import Clock
from rosenblatt.prove.separability import separability

SHOWN = 40  # lines of a table for the terminal
INTERCEPT = ("intercept", "(intercept)")


class State(StrEnum):
    """What maximum likelihood makes of a coefficient."""

    FINITE = "finite"
    PLUS = "+inf"
    MINUS = "-inf"
    UNDETERMINED = "undetermined"
    NOT_IDENTIFIED = "not identified"


@dataclass(frozen=True)
class Coefficient:
    """One coefficient.

    Attributes
    ----------
    name : str
    state : State
    reduced : State or None
        Its state in the model without the dropped columns; None if it is dropped itself. The
        same as `state` unless that is "not identified".
    reason : str
        Why, in words.
    claim : Claim or None
        What proves `reduced`.
    """

    name: str
    state: State
    reduced: State | None
    reason: str
    claim: Claim | None


@dataclass(frozen=True)
class Coefficients(Sequence[Coefficient]):
    """The state of every coefficient, with proof. The intercept comes last.

    Attributes
    ----------
    items : tuple of Coefficient
    evidence : Evidence
        What the proofs share, the certificate of separability among it.
    """

    items: tuple[Coefficient, ...]
    evidence: Evidence

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, k: Any) -> Any:
        """A coefficient by name or by position."""
        if isinstance(k, str):
            for item in self.items:
                if item.name == k:
                    return item
            raise KeyError(k)
        return self.items[k]

    @property
    def certificate(self) -> Certificate:
        """Whether the classes can be separated."""
        return self.evidence.certificate

    @property
    def positive(self) -> str:
        """The class whose probability is modelled."""
        return self.certificate.positive

    @property
    def negative(self) -> str:
        """The other class."""
        return self.certificate.negative

    @property
    def states(self) -> Mapping[str, str]:
        """State by name."""
        return MappingProxyType({c.name: str(c.state) for c in self.items})

    @property
    def drop(self) -> tuple[str, ...]:
        """Columns that others determine; without them every coefficient is identified."""
        return tuple(c.name for c in self.items if c.reduced is None)

    @property
    def reduced(self) -> Mapping[str, str]:
        """State by name in the model without the columns to drop."""
        kept = {c.name: str(c.reduced) for c in self.items if c.reduced is not None}
        return MappingProxyType(kept)

    def verify(
        self, X: Any, y: Any = None, feature_names: Any = None, *, max_bits: int | None = None
    ) -> Verification:
        """Check every proof, name and reason against the raw data, exactly.

        Parameters
        ----------
        X, y : the data, as for :func:`infinite_coefficients`
        feature_names : sequence of names, optional
            Names of the columns to compare with. Default: the columns of a frame.
        max_bits : int, optional
            Refuse results with longer numbers than that; see :meth:`Certificate.verify`.

        Returns
        -------
        Verification
            Its `unchecked` holds "names" if the data have no names to compare with.
        """
        rows = as_rows(X, y)
        if problem := form.misfit(self) or form.too_long(self, rows, max_bits):
            return Verification.refused(problem)
        said = self.certificate.verify(rows, max_bits=max_bits)
        if not said.truth:
            return said
        untrue = self._misnamed(rows, feature_names) or self._untrue(rows)
        names = tuple(c.name for c in self.items)
        told = rows.feature_names is not None or feature_names is not None
        free = not told and names != _names(rows, None, self.certificate.fit_intercept)
        unchecked = (*said.unchecked, *(("names",) if free else ()))
        return Verification(said.integrity, not untrue, (*said.problems, *untrue), unchecked)

    def _misnamed(self, rows: Rows, given: Any) -> list[str]:
        """What is not true of the names of the coefficients."""
        intercept = self.certificate.fit_intercept
        mine = tuple(c.name for c in self.items)
        theirs = _names(rows, given, intercept)
        if len(mine) != len(theirs):
            return [f"it speaks of {len(mine)} coefficients, there are {len(theirs)}"]
        if given is None and rows.feature_names is None:  # only the default names can be wrong
            if len(set(mine)) < len(mine) or (intercept and mine[-1] not in INTERCEPT):
                return ["two coefficients have one name, or the last is not the intercept"]
            theirs = tuple(b if a in theirs else a for a, b in zip(mine, theirs, strict=True))
        for k, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            if a != b:
                return [
                    f"coefficient {k} is called {a!r:.40}, but {b!r:.40} in these data; if other "
                    "names were given, give them to verify as well"
                ]
        return []

    def _untrue(self, rows: Rows, columns: Columns | None = None) -> list[str]:
        """What is not true, in words; `columns` are those of the rows, if known."""
        width = rows.n_features + int(self.certificate.fit_intercept)
        if len(self.items) != width:
            return [f"it speaks of {len(self.items)} coefficients, there are {width}"]
        said, claims = [], []
        tied = {j for r in self.evidence.relations for j, _ in ((r.column, 1), *r.terms)}
        dropped = {r.column for r in self.evidence.relations}
        for j, item in enumerate(self.items):
            reduced = None if item.claim is None else _STATES[item.claim.signs]
            state = State.NOT_IDENTIFIED if j in tied else reduced
            if (item.reduced, item.state) != (reduced, state) or (j in dropped) != (
                reduced is None
            ):
                said.append(f"{item.name} is not what its proof says")
            elif item.claim is not None:
                claims.append(item.claim)
                if item.claim.column != j:
                    said.append(f"the proof of {item.name} is about another column")
        said = said or untrue(self.evidence, claims, rows)
        if not said:
            names = tuple(item.name for item in self.items)
            told = words.Facts(names, columns or Columns.of(rows), self.evidence)
            expected = _items(names, self.evidence, claims, told)
            pairs = zip(self.items, expected, strict=True)
            said = [f"the reason of {a.name} is another" for a, b in pairs if a != b]
        return said

    def to_dict(self) -> dict[str, Any]:
        """States, reasons, and which model it is, as JSON values."""
        certificate = self.certificate
        return {
            "positive": self.positive,
            "negative": self.negative,
            "fit_intercept": certificate.fit_intercept,
            "verdict": certificate.verdict,
            "n_rows": certificate.n_rows,
            "data": certificate.data,
            "states": dict(self.states),
            "drop": list(self.drop),
            "reduced": dict(self.reduced),
            "reasons": {c.name: c.reason for c in self.items},
        }

    def to_json(self) -> str:
        """`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=1)

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Header and lines of the table, one line per coefficient."""
        header = ["coefficient", "state", "why"]
        lines = [[c.name, str(c.state), c.reason] for c in self.items]
        if self.drop:
            header.insert(2, "after dropping")
            for line, c in zip(lines, self.items, strict=True):
                line.insert(2, "dropped" if c.reduced is None else str(c.reduced))
        return header, lines

    def summary(self) -> str:
        """The result in a few sentences."""
        return words.summary(self)

    def __str__(self) -> str:
        header, lines = self.rows()
        if len(lines) > SHOWN:  # what is not finite comes first
            lines.sort(key=lambda line: "finite" in line[1:-1])
        table = words.left_table(header, lines[:SHOWN])
        more = len(lines) - SHOWN
        rest = f"\n... and {more} more: see `states`, or `rows()` for all." if more > 0 else ""
        return f"{self.summary()}\n\n{table}{rest}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.summary())}</p>{html_table(*self.rows())}"


_STATES = {
    (False, False): State.FINITE,
    (True, False): State.PLUS,
    (False, True): State.MINUS,
    (True, True): State.UNDETERMINED,
}


def infinite_coefficients(
    X: Any,
    y: Any = None,
    feature_names: Any = None,
    *,
    fit_intercept: bool = True,
    max_seconds: float | None = None,
) -> Coefficients:
    """Which coefficients of a logistic or probit regression are infinite, with proof.

    Parameters
    ----------
    X : array, CSR matrix or frame of shape (n, d)
    y : labels of two classes
        The second in sorted order is the one whose probability is modelled.
    feature_names : sequence of d names, optional
        Default: the columns of a frame, else x0, x1, ...
    fit_intercept : bool, default=True
        Whether the model has an intercept; it is a coefficient like the others.
    max_seconds : float, optional
        Give up with `Undecided` after this time. It says how far it came.

    Returns
    -------
    Coefficients
        `states` maps each name to "finite", "+inf", "-inf", "undetermined" (it can be sent
        either way) or "not identified" (collinear columns; `drop` names columns to leave out,
        `reduced` the states after that). `verify(X, y)` checks all proofs.

    Examples
    --------
    >>> X = [[0, 1], [1, 2], [0, 3], [0, 2], [0, 4], [0, 3]]
    >>> found = infinite_coefficients(X, [0, 1, 1, 0, 1, 0], ["exposed", "dose"])
    >>> found.states["exposed"], found.states["dose"], found.states["intercept"]
    ('+inf', '+inf', '-inf')
    >>> bool(found.verify(X, [0, 1, 1, 0, 1, 0]))
    True
    """
    clock = Clock(max_seconds)
    rows = as_rows(X, y)
    names = _names(rows, feature_names, fit_intercept)
    certificate = separability(rows, fit_intercept=fit_intercept, max_seconds=max_seconds)
    columns = Columns.of(rows)
    evidence, claims = search(rows, certificate, columns, clock)
    told = words.Facts(names, columns, evidence)
    result = Coefficients(_items(names, evidence, claims, told), evidence)
    wrong = result._untrue(rows, columns)
    if wrong:
        raise Undecided(f"a proof did not verify: {'; '.join(wrong[:3])}.")
    return result


def _names(rows: Rows, given: Any, intercept: bool) -> tuple[str, ...]:
    """Names of all columns, the intercept's last, no two the same."""
    d = rows.n_features
    if given is None:
        names = list(rows.feature_names or (f"x{j}" for j in range(d)))
        names = [f"{n} ({j})" if names.count(n) > 1 else n for j, n in enumerate(names)]
    else:
        names = [str(n) for n in given]
        if len(names) != d or len(set(names)) != d:
            raise DataError(
                f"feature_names holds {len(names)} names, {len(set(names))} different ones, for "
                f"{d} features. Give each feature a name of its own."
            )
    if intercept:
        names.append(INTERCEPT["intercept" in names])
    return tuple(names)


def _items(
    names: tuple[str, ...], evidence: Evidence, claims: list[Claim], told: words.Facts
) -> tuple[Coefficient, ...]:
    by_column = {claim.column: claim for claim in claims}
    tied = {j for r in evidence.relations for j, _ in r.terms}
    items = []
    for j, name in enumerate(names):
        claim = by_column.get(j)
        if claim is None:
            items.append(Coefficient(name, State.NOT_IDENTIFIED, None, told.dropped(j), None))
            continue
        reduced = _STATES[claim.signs]
        state = State.NOT_IDENTIFIED if j in tied else reduced
        reason = told.reason(claim)
        if j in tied:
            reason = f"{told.tied(j)}; after dropping: {reason}"
        items.append(Coefficient(name, state, reduced, reason, claim))
    return tuple(items)
