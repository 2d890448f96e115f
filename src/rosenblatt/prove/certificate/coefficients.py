"""Coefficients: the state of every coefficient of a logistic regression, with proofs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from types import MappingProxyType
from typing import Any

from rosenblatt.data.cone import Cone, as_cone
from rosenblatt.errors import DataError
from rosenblatt.prove.certificate.base import Certificate, Result, Verification
from rosenblatt.prove.certificate.codec import kind_of_result, misfit
from rosenblatt.prove.checker.limits import too_long
from rosenblatt.prove.infinite import words
from rosenblatt.prove.infinite.columns import Columns
from rosenblatt.prove.infinite.proof import Claim, Evidence, untrue
from rosenblatt.text import html_table, left_table

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


@kind_of_result("coefficients")
@dataclass(frozen=True, kw_only=True, repr=False)
class Coefficients(Result, Sequence[Coefficient]):
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
        self,
        X: Any,
        y: Any = None,
        feature_names: Any = None,
        *,
        max_bits: int | None = None,
        max_seconds: float | None = None,
    ) -> Verification:
        """Check every proof, name and reason against the raw data, exactly.

        Parameters
        ----------
        X, y : the data, as for :func:`infinite_coefficients`
        feature_names : sequence of names, optional
            Names of the columns to compare with. Default: the columns of a frame.
        max_bits : int, optional
            Refuse results with longer numbers than that; see :meth:`Certificate.verify`.
        max_seconds : float, optional
            Stop with `UndecidedError` after this time. It is tested before each block of rows.

        Returns
        -------
        Verification
            Its `unchecked` holds "names" if the data have no names to compare with.
        """
        rows = as_cone(X, y).within(max_seconds)
        if problem := misfit(self) or too_long(self, rows, max_bits):
            return Verification.refused(problem)
        said = self.certificate.verify(rows, max_bits=max_bits)
        if not said.truth:
            return said
        untrue = self._misnamed(rows, feature_names) or self._untrue(rows)
        names = tuple(c.name for c in self.items)
        told = rows.names is not None or feature_names is not None
        free = not told and names != names_of(rows, None, self.certificate.fit_intercept)
        unchecked = (*said.unchecked, *(("names",) if free else ()))
        problems = self._broken_seal() + list(said.problems)
        integrity = said.integrity and self.sealed == self.digest
        return Verification(integrity, not untrue, (*problems, *untrue), unchecked)

    def _misnamed(self, rows: Cone, given: Any) -> list[str]:
        """What is not true of the names of the coefficients."""
        intercept = self.certificate.fit_intercept
        mine = tuple(c.name for c in self.items)
        theirs = names_of(rows, given, intercept)
        if len(mine) != len(theirs):
            return [f"it speaks of {len(mine)} coefficients, there are {len(theirs)}"]
        if given is None and rows.names is None:  # only the default names can be wrong
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

    def _untrue(self, rows: Cone, columns: Columns | None = None) -> list[str]:
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
            expected = items_of(names, self.evidence, claims, told)
            pairs = zip(self.items, expected, strict=True)
            said = [f"the reason of {a.name} is another" for a, b in pairs if a != b]
        return said

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
        table = left_table(header, lines[:SHOWN])
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


def names_of(rows: Cone, given: Any, intercept: bool) -> tuple[str, ...]:
    """Names of all columns, the intercept's last, no two the same."""
    d = rows.n_features
    if given is None:
        names = list(rows.names or (f"x{j}" for j in range(d)))
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


def items_of(
    names: tuple[str, ...], evidence: Evidence, claims: list[Claim], told: words.Facts
) -> tuple[Coefficient, ...]:
    """All coefficients, their states and reasons from the claims."""
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
