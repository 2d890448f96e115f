"""Span: whether some rows span others, exactly.

Let S be the chosen rows, p the number of columns that are not zero all over S, and r the rank of
S modulo a prime, so that r <= rank S. If p - r independent vectors over these columns are
orthogonal to S, then r = rank S, and a row is in the span of S exactly if it is zero in the other
columns and orthogonal to these vectors. A prime that divides what should not vanish makes r too
small, and the vectors fail on S; then the next one is tried. So yes and no are both proven, and
everything but the rows themselves is made from S alone, before any other row is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from flint import fmpz_mat

from rosenblatt.data.cone import check_system
from rosenblatt.data.exact import pivot_columns, primes, residues, to_integers
from rosenblatt.prove.checker import limbs
from rosenblatt.prove.checker.limbs import as_float64, with_ones

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
TOGETHER = 1 << 20  # numbers looked at together
Weights = Sequence[float | Fraction]


@dataclass(frozen=True, eq=False)
class Span:
    """All that some rows (x_i, 1) span, or x_i without offset.

    alive : which columns are not zero in all of them
    vectors : integer vectors over these columns, the offset last, orthogonal to just the span; the
        first entry of each is of a column that no other has
    basis : which of the rows form a basis of the span; None if no vectors were needed, as the
        rank is as large as it can be
    """

    alive: Mask
    vectors: list[limbs.Vector]
    intercept: bool
    basis: list[int] | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        intercept: bool,
        orthogonal: Weights | None = None,
        order: Sequence[int] | None = None,
        deadline: float | None = None,
    ) -> Span:
        """What the rows X span.

        With `orthogonal`, (w, b), it is meant for rows known to be orthogonal to that, as X is.
        It only saves time. In `order` columns are combinations of those before them, where they
        are; the offset is the last column. UndecidedError if it cannot be done by the deadline.
        """
        alive = _alive(X)
        live = np.flatnonzero(alive)
        chosen = _columns(X, live, intercept)
        chosen = chosen.toarray() if sp.issparse(chosen) else chosen
        known = orthogonal is not None and any(
            [*(orthogonal[j] for j in live.tolist()), orthogonal[-1] if intercept else 0]
        )
        place = np.append(np.cumsum(alive) - 1, len(live)).tolist()
        there = {*live.tolist(), len(alive)} if intercept else set(live.tolist())
        order = range(len(alive) + 1) if order is None else order
        first = np.array([place[j] for j in order if j in there], dtype=np.int64)
        for prime in primes():
            pivots = first[pivot_columns(residues(chosen[:, first], prime), prime)].tolist()
            if len(pivots) >= chosen.shape[1] - int(known):
                return cls(alive, [], intercept)
            basis = list(range(len(chosen)))
            if len(pivots) < len(chosen):
                basis = pivot_columns(residues(chosen[:, pivots].T, prime), prime)
            vectors = _orthogonal(chosen[basis], pivots, deadline)
            if limbs.orthogonal(chosen, vectors).all():
                return cls(alive, vectors, intercept, basis)
        raise AssertionError("only finitely many primes are bad")

    def contains(self, X: Any) -> bool:
        """Whether every row of X is in the span, exactly."""
        return not self.outside(X).any()

    def outside(self, X: Any) -> Mask:
        """Which rows of X are not in the span, exactly."""
        found = np.zeros(X.shape[0], dtype=bool)
        if self.alive.all() and not self.vectors:
            return found
        live = np.flatnonzero(self.alive)
        step = max(1, TOGETHER // (len(live) + 1))
        for low in range(0, X.shape[0], step):
            some, here = X[low : low + step], slice(low, low + step)
            if not self.alive.all():
                found[here] = _any_in_row(some, ~self.alive)
            if self.vectors:
                inside = _columns(some, live, self.intercept)
                found[here] |= ~limbs.orthogonal(inside, self.vectors)
        return found

    @property
    def complement(self) -> dict[int, limbs.Vector]:
        """Vectors over all columns, the offset last, that span what is orthogonal to the span.

        By a column that no other of them has.
        """
        columns = [*np.flatnonzero(self.alive).tolist(), len(self.alive)]
        found: dict[int, limbs.Vector] = {j: {j: 1} for j in np.flatnonzero(~self.alive).tolist()}
        for vector in self.vectors:
            named = {columns[k]: v for k, v in vector.items()}
            found[next(iter(named))] = named
        return found


def _alive(X: Any) -> Mask:
    """The columns that are not zero in all rows."""
    if sp.issparse(X):
        alive = np.zeros(X.shape[1], dtype=bool)
        alive[X.indices[X.data != 0]] = True
        return alive
    return np.asarray((X != 0).any(axis=0))


def _any_in_row(X: Any, columns: Mask) -> Mask:
    """Which rows are not zero in one of the columns."""
    if sp.issparse(X):
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        there = (X.data != 0) & columns[X.indices]
        return np.bincount(row[there], minlength=X.shape[0]) > 0
    return np.asarray((X[:, columns] != 0).any(axis=1))


def _columns(X: Any, live: Array, intercept: bool) -> Any:
    X = as_float64(X if len(live) == X.shape[1] else X[:, live])
    return with_ones(X) if intercept else X


def _orthogonal(basis: Array, pivots: list[int], deadline: float | None) -> list[limbs.Vector]:
    """Independent integer vectors, one per column that is no pivot, orthogonal to a basis.

    With B_P the columns of the basis that are pivots: B_P c = B_f for column f.
    """
    taken = set(pivots)
    rest = [j for j in range(basis.shape[1]) if j not in taken]
    if not pivots:
        return [{f: 1} for f in rest]
    table, _ = to_integers(basis)
    check_system(deadline, len(pivots), max(abs(v) for line in table for v in line).bit_length())
    block = fmpz_mat([[line[j] for j in pivots] for line in table])
    found = block.solve(fmpz_mat([[line[f] for f in rest] for line in table]))
    vectors: list[limbs.Vector] = []
    for k, f in enumerate(rest):
        column = [found[i, k] for i in range(len(pivots))]
        common = lcm(*(int(v.q) for v in column))
        entries = {
            j: -int(v.p) * (common // int(v.q)) for j, v in zip(pivots, column, strict=True) if v
        }
        vectors.append({f: common, **entries})
    return vectors
