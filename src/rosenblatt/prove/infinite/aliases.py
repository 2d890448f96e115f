"""Aliases: features that others determine exactly, and which to leave out.

With rows (x_i, 1), columns are collinear if some n != 0 has n.(x_i, 1) = 0 for all rows. Going
through the columns, a column is dropped if it is a combination of those before it: R's `glm` gives
such coefficients NA. The offset comes first, then columns with y_i x_ij of one sign in all rows:
were such a category the reference, the coefficients of all others would be infinite instead. Pivots
are found modulo a prime in some of the rows; the combinations are solved over the rationals and
hold on every row before they leave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpz_mat, nmod_mat

from rosenblatt.data.cone import Cone
from rosenblatt.prove.infinite.columns import Columns
from rosenblatt.prove.infinite.relations import Relation, broken
from rosenblatt.prove.infinite.residues import dense, residues, whole

Array = npt.NDArray[Any]
PRIMES = (2_147_483_629, 2_147_483_587, 2_147_483_579)


@dataclass(frozen=True)
class Aliases:
    """Columns that stay, relations of those that do not, rows that show the rest independent."""

    kept: tuple[int, ...]
    relations: tuple[Relation, ...]
    spanning: tuple[int, ...]


def aliases(
    rows: Cone,
    intercept: bool,
    columns: Columns,
    also: Sequence[int] = (),
    tick: Callable[[], None] = lambda: None,
) -> Aliases:
    """Which columns to drop. `also` are rows to look at first."""
    d, example, one = rows.n_features, columns.example, columns.one_signed() != 0
    empty = [Relation(int(j), ()) for j in np.flatnonzero(example < 0)]
    there = np.flatnonzero(example >= 0)
    live = [d] * intercept + [*there[one[there]].tolist(), *there[~one[there]].tolist()]
    count = min(rows.n_rows, len(live) + 50)
    sample = np.random.default_rng(0).choice(rows.n_rows, count, replace=False)
    at = np.unique(np.concatenate([example[example >= 0], sample, np.array(also, dtype=np.int64)]))
    attempt = 0
    while True:
        tick()
        found = combinations(rows, at, live, PRIMES[attempt])
        wrong = broken(rows, found.relations, intercept)
        if not any(w.size for w in wrong):
            dropped = sorted([*empty, *found.relations], key=lambda r: r.column)
            return Aliases(found.kept, tuple(dropped), found.spanning)
        new = np.setdiff1d(np.concatenate(wrong), at)
        if new.size == 0:  # rows that were looked at: the prime divides a determinant
            attempt = (attempt + 1) % len(PRIMES)
        at = np.union1d(at, new)


def combinations(rows: Cone, at: Any, columns: Sequence[int], prime: int = PRIMES[0]) -> Aliases:
    """Which of the columns are combinations of those before them, as far as rows `at` show."""
    at = np.asarray(at, dtype=np.int64)
    basis, pivots = echelon(residues(dense(rows, at, columns), prime), prime)
    kept = [columns[k] for k in pivots]
    rest = [j for j in columns if j not in set(kept)]
    relations = _relations(rows, at[basis], kept, rest)
    return Aliases(tuple(sorted(kept)), tuple(relations), tuple(at[basis].tolist()))


def _relations(rows: Cone, at: Array, kept: list[int], rest: list[int]) -> list[Relation]:
    """Each of the `rest` as a combination of the kept, exactly as on the rows `at`."""
    if not rest or not kept:
        return [Relation(j, ()) for j in rest]
    values = whole(dense(rows, at, [*kept, *rest]))
    k = len(kept)
    left = fmpz_mat([row[:k] for row in values])
    solved = left.solve(fmpz_mat([row[k:] for row in values]))
    out = []
    for r, j in enumerate(rest):
        column = [solved[i, r] for i in range(k)]
        terms = [(c, Fraction(int(v.p), int(v.q))) for c, v in zip(kept, column, strict=True) if v]
        out.append(Relation(j, tuple(sorted(terms))))
    return out


def echelon(A: npt.NDArray[np.int64], prime: int) -> tuple[list[int], list[int]]:
    """Positions of independent rows, and pivot columns: the first that are independent."""
    if A.size == 0:
        return [], []
    basis = _pivots(A.T, prime)
    return basis, _pivots(A[basis], prime)


def _pivots(A: npt.NDArray[np.int64], prime: int) -> list[int]:
    if A.size == 0:
        return []
    reduced, rank = nmod_mat(A.shape[0], A.shape[1], A.ravel().tolist(), prime).rref()
    columns: list[int] = []
    for j in range(A.shape[1]):
        if len(columns) < rank and int(reduced[len(columns), j]):
            columns.append(j)
    return columns
