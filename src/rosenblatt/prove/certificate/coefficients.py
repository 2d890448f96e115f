"""Coefficients: the state of every coefficient of a logistic regression, with proofs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from html import escape
from types import MappingProxyType
from typing import Any

from rosenblatt.data.cone import Cone
from rosenblatt.errors import DataError
from rosenblatt.prove.certificate import explain as words
from rosenblatt.prove.certificate.base import (
    Certificate,
    Combination,
    Findings,
    Result,
    Verification,
)
from rosenblatt.prove.certificate.codec import kind_of_result
from rosenblatt.prove.checker.coefficients import Facts, coefficient_problems, states_of
from rosenblatt.text import html_table, left_table

Number = float | Fraction
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
    bound : Combination or None
        For "+inf", weights c_i >= 0 with w_j = sum c_i w.z_i for every member w of the cone, so no
        w_j is < 0. For "-inf", with -w_j = sum c_i w.z_i, so no w_j is > 0.
    """

    name: str
    state: State
    reduced: State | None
    reason: str
    bound: Combination | None


@kind_of_result("coefficients")
@dataclass(frozen=True, kw_only=True, repr=False)
class Coefficients(Result, Sequence[Coefficient]):
    """The state of every coefficient, with proof. The intercept comes last.

    Attributes
    ----------
    items : tuple of Coefficient
    certificate : Certificate
        Whether the classes can be separated.
    spanning : tuple of int
        Rows that span all rows.
    members : tuple of tuple
        Weights with which no row is on the wrong side, one number per coefficient.
    """

    items: tuple[Coefficient, ...]
    certificate: Certificate
    spanning: tuple[int, ...]
    members: tuple[tuple[float | Fraction, ...], ...]

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, k: Any) -> Any:
        """A coefficient by name or by position."""
        if isinstance(k, str):
            for item in self.items:
                if item.name == k:
                    return item
            raise KeyError(f"{k!r}; there are {', '.join(repr(c.name) for c in self.items[:10])}")
        return self.items[k]

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
        return self._verified(X, y, max_bits, max_seconds, feature_names=feature_names)

    @property
    def _constant(self) -> bool:
        return self.certificate.fit_intercept

    def _findings(self, cone: Cone, *, feature_names: Any = None, **options: Any) -> Findings:
        untrue, altered, unchecked = self.certificate._findings(cone)
        if self.certificate.sealed != self.certificate.digest:
            altered.append("the certificate of the verdict was altered: its digest does not fit")
        if not untrue:
            untrue = self._misnamed(cone, feature_names) or self._problems(cone)
            told = cone.names is not None or feature_names is not None
            names = tuple(c.name for c in self.items)
            if not told and names != names_of(cone, None, self._constant):
                unchecked = (*unchecked, "names")
        return untrue, altered, unchecked

    @property
    def _named_rows(self) -> list[int]:
        """The rows that proofs name: few, and needed before all others."""
        bounds = [item.bound.rows for item in self.items if item.bound is not None]
        rows = {i for some in (self.spanning, *bounds) for i in some if 0 <= i < 2**62}
        return [*self.certificate._named_rows, *rows]

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

    def _problems(self, rows: Cone) -> list[str]:
        """What is not true of states and reasons, in words."""
        said, facts = coefficient_problems(self, rows)
        if said or facts is None:
            return said
        names, bounds = [], {}
        for j, item in enumerate(self.items):
            names.append(item.name)
            if item.bound is not None:
                bounds[j] = item.bound
        expected = items_of(names, facts, self.certificate, self.members, bounds)
        pairs = zip(self.items, expected, strict=True)
        return [f"the reason of {a.name} is another" for a, b in pairs if a != b]

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
        return words.coefficients_summary(self)

    def __str__(self) -> str:
        header, lines = self.rows()
        if len(lines) > SHOWN:  # what is not finite comes first
            lines.sort(key=lambda line: "finite" in line[1:-1])
        table = left_table(header, lines[:SHOWN])
        more = len(lines) - SHOWN
        rest = f"\n... and {more} more: see `states`, or `rows()` for all." if more > 0 else ""
        return f"{self.summary()}\n\n{table}{rest}"

    def __repr__(self) -> str:
        counted = Counter(str(c.state) for c in self.items)
        return f"<Coefficients: {', '.join(f'{n} {state}' for state, n in counted.items())}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.summary())}</p>{html_table(*self.rows())}"


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
    names: Sequence[str],
    facts: Facts,
    certificate: Certificate,
    members: Sequence[tuple[Number, ...]],
    bounds: Mapping[int, Combination],
) -> tuple[Coefficient, ...]:
    """All coefficients, their states and reasons from what proves them."""
    told = words.Reasons(names, facts, certificate)
    items = []
    states = states_of(len(names), facts.relations, members)
    for j, (name, (state, reduced)) in enumerate(zip(names, states, strict=True)):
        reason = told.reason(j, state, reduced, bounds.get(j))
        kept = None if reduced is None else State(reduced)
        items.append(Coefficient(name, State(state), kept, reason, bounds.get(j)))
    return tuple(items)
