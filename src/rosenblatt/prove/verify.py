"""Verify: the checker. Short, exact, and sharing nothing with the code that makes claims.

Every float is a rational number, so a claim about floats can be checked exactly. A row is
first looked at in floating point with a rigorous error bound; rows which that cannot decide
are summed over integers. With z_i = y_i (x_i, 1), or y_i x_i without offset:

- a hyperplane (w, b) has the exact sign of w.z_i at every row;
- weights c_i > 0 on some rows cancel if sum_i c_i z_i = 0 exactly;
- rows S span rows T if the rank of S, certified modulo a prime, is the rank of S and T.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from flint import fmpz_mat

from rosenblatt.data.chunks import Rows

Number = float | Fraction
Array = npt.NDArray[Any]
UNIT = 2.0**-53
TINY = 2.0**-1074
PRIME = 2_147_483_629  # below 2^31, so that products of two residues fit in int64
BLOCK = 1 << 17  # numbers looked at together


def signs(rows: Rows, w: Sequence[Number], b: Number, intercept: bool) -> npt.NDArray[np.int8]:
    """The exact sign of y_i (w.x_i + b) for every row; without `intercept`, of y_i w.x_i.

    >>> from rosenblatt.data.chunks import as_rows
    >>> signs(as_rows([[0.1], [0.3]], [1, -1]), [3.0], -0.3, True)
    array([ 1, -1], dtype=int8)
    >>> signs(as_rows([[0.5], [1.0]], [-1, 1]), [2.0], -1.0, True)
    array([0, 1], dtype=int8)
    """
    weights = [*w, b] if intercept else list(w)
    exact, near = _whole(weights), np.array([_nearest(v) for v in weights])
    rounded = any(
        not np.isfinite(f) or Fraction(f) != v for f, v in zip(near, weights, strict=True)
    )
    out = np.empty(rows.n_rows, dtype=np.int8)
    for start, block, y in _blocks(rows):
        part = _with_ones(block) if intercept else block
        scores, bound = _float_scores(part, near, rounded)
        sure = np.isfinite(scores) & np.isfinite(bound) & (np.abs(scores) > bound)
        found = np.sign(np.where(sure, scores, 0.0)).astype(np.int8)
        for k in np.flatnonzero(~sure).tolist():
            total = _dot(_integers(_row(part, k)), exact)
            found[k] = (total > 0) - (total < 0)
        out[start : start + len(found)] = found * y
    return out


def cancels(rows: Rows, at: Sequence[int], weights: Sequence[Number], intercept: bool) -> bool:
    """Whether the weights are positive, one per row `at`, and sum_i weight_i z_i = 0 exactly."""
    if len(at) != len(weights) or len(set(at)) != len(at) or not at:
        return False
    if any(not isinstance(i, int) or not 0 <= i < rows.n_rows for i in at):
        return False
    if any(c <= 0 for c in weights):
        return False
    sums: dict[int, Fraction] = {}
    chosen, y = _chosen(rows, at, intercept)
    for row, sign, c in zip(chosen, y, _whole(weights), strict=True):
        for j, (m, e) in row.items():
            value = Fraction(sign * c * m) * Fraction(2) ** e
            sums[j] = sums.get(j, Fraction(0)) + value
    return not any(sums.values())


def spans(rows: Rows, at: Sequence[int], among: npt.NDArray[np.bool_], intercept: bool) -> bool:
    """Whether the rows (x_i, 1) for i in `at` span all (x_i, 1) with among[i].

    The rank of `at` is at least their rank modulo a prime. If that is the number of
    columns, they span everything. Otherwise as many independent vectors as columns are
    missing must be orthogonal to every row, exactly.
    """
    columns = rows.n_features + int(intercept)
    chosen, _ = _chosen(rows, at, intercept)
    rank = _rank_modulo(chosen, columns)
    if rank == columns:
        return True
    if among.sum() < columns - rank:  # few rows: the rank of all of them together
        others, _ = _chosen(rows, np.flatnonzero(among), intercept)
        return int(fmpz_mat(_table([*chosen, *others], columns)).rank()) == rank
    missing = _orthogonal(chosen, columns, rank)
    if missing is None:
        return False
    return all(_all_zero(rows, vector, among, intercept) for vector in missing)


def _all_zero(rows: Rows, vector: list[int], among: npt.NDArray[np.bool_], intercept: bool) -> bool:
    """Whether all rows `among` have an exactly zero product with an integer vector."""
    weights = [float(v) if abs(v) < 2**53 else Fraction(v) for v in vector]
    w, b = (weights[:-1], weights[-1]) if intercept else (weights, 0.0)
    return not signs(rows, w, b, intercept)[among].any()


def _blocks(rows: Rows) -> Iterator[tuple[int, Any, npt.NDArray[Any]]]:
    """(first row, X as float64, y) of a few rows at a time: as much as a cache holds."""
    for part in rows.parts():
        X, y = part.X, part.y
        n, size = X.shape[0], X.nnz if sp.issparse(X) else X.size
        step = max(1, n * BLOCK // max(size, 1))
        for low in range(0, n, step):
            yield part.start + low, _as_float64(X[low : low + step]), y[low : low + step]


def _as_float64(X: Any) -> Any:
    if sp.issparse(X):
        return sp.csr_array(X, dtype=np.float64)
    return np.asarray(X, dtype=np.float64)


def _with_ones(X: Any) -> Any:
    ones = np.ones((X.shape[0], 1))
    return sp.hstack([X, ones], format="csr") if sp.issparse(X) else np.hstack([X, ones])


def _chosen(
    rows: Rows, at: Any, intercept: bool
) -> tuple[list[dict[int, tuple[int, int]]], list[int]]:
    """Some rows (x_i, 1) as exact entries, and their labels."""
    part = rows.take(at)
    X = _as_float64(part.X)
    X = _with_ones(X) if intercept else X
    return [_integers(_row(X, k)) for k in range(X.shape[0])], [int(v) for v in part.y]


def _all_whole(values: Array) -> bool:
    return bool(np.all(np.isfinite(values)) and np.all(values == np.floor(values)))


def _float_scores(part: Any, w: Array, rounded: bool) -> tuple[Array, Array]:
    """Scores, and a bound on how far they are from the exact ones, -1 if they are exact.

    Any order of d additions errs by at most gamma_d sum |x_j w_j|, gamma_k = k u / (1 - k u),
    plus one underflow a product; w may be rounded itself (one u more), the bound is computed
    in floating point too (a few u more).
    """
    d = part.shape[1]
    gamma = (d + 4) * UNIT / (1 - (d + 4) * UNIT)
    with np.errstate(all="ignore"):
        scores = np.asarray(part @ w)
        size = np.asarray(abs(part) @ np.abs(w))
        bound = gamma * size * (1 + 8 * gamma) + (2 * d + 4) * TINY * (1 + np.abs(part).max())
    if rounded is False and _all_whole(w) and _all_whole(part.data if sp.issparse(part) else part):
        bound = np.where(size < 2.0**52, -1.0, bound)  # integers: every partial sum is exact
    return scores, bound


def _nearest(v: Number) -> float:
    try:
        return float(v)
    except OverflowError:
        return float("inf")


def _whole(values: Sequence[Number]) -> list[int]:
    """The values times one positive number that makes them all integers."""
    fractions = [Fraction(v) for v in values]
    common = lcm(*(f.denominator for f in fractions)) if fractions else 1
    return [int(f * common) for f in fractions]


def _row(part: Any, k: int) -> dict[int, float]:
    """Row k as its nonzero entries."""
    if sp.issparse(part):
        lo, hi = part.indptr[k], part.indptr[k + 1]
        return dict(zip(part.indices[lo:hi].tolist(), part.data[lo:hi].tolist(), strict=True))
    return dict(enumerate(part[k].tolist()))


def _integers(row: dict[int, float]) -> dict[int, tuple[int, int]]:
    """Each entry as (m, e) with value m 2^e, exactly."""
    out = {}
    for j, v in row.items():
        numerator, denominator = v.as_integer_ratio()
        out[j] = (numerator, 1 - denominator.bit_length())
    return out


def _dot(row: dict[int, tuple[int, int]], w: list[int]) -> int:
    """row . w times a power of two, exactly."""
    lowest = min((e for _, e in row.values()), default=0)
    return sum((m * w[j]) << (e - lowest) for j, (m, e) in row.items())


def _rank_modulo(rows: list[dict[int, tuple[int, int]]], columns: int) -> int:
    """Rank modulo PRIME, at most the rank. Rows may be scaled by powers of two."""
    A = np.zeros((len(rows), columns), dtype=np.int64)
    for k, row in enumerate(rows):
        lowest = min((e for _, e in row.values()), default=0)
        for j, (m, e) in row.items():
            A[k, j] = (m % PRIME) * pow(2, e - lowest, PRIME) % PRIME
    rank = 0
    for j in range(columns):
        live = np.flatnonzero(A[rank:, j])
        if live.size == 0:
            continue
        top = rank + int(live[0])
        A[[rank, top]] = A[[top, rank]]
        A[rank] = A[rank] * pow(int(A[rank, j]), PRIME - 2, PRIME) % PRIME
        below = A[rank + 1 :, j].copy()
        A[rank + 1 :] = (A[rank + 1 :] - below[:, None] * A[rank] % PRIME) % PRIME
        rank += 1
        if rank == len(rows):
            break
    return rank


def _table(rows: list[dict[int, tuple[int, int]]], columns: int) -> list[list[int]]:
    """Rows as integers, each scaled by a power of two."""
    table = []
    for row in rows:
        lowest = min((e for _, e in row.values()), default=0)
        dense = [0] * columns
        for j, (m, e) in row.items():
            dense[j] = m << (e - lowest)
        table.append(dense)
    return table


def _orthogonal(
    rows: list[dict[int, tuple[int, int]]], columns: int, rank: int
) -> list[list[int]] | None:
    """columns - rank independent integer vectors orthogonal to the rows, if they exist."""
    space, nullity = fmpz_mat(_table(rows, columns)).nullspace()
    if int(nullity) != columns - rank:
        return None
    vectors = []
    for k in range(int(nullity)):
        vector = [int(space[j, k]) for j in range(columns)]
        divisor = gcd(*vector)
        vectors.append([v // divisor for v in vector])
    return vectors


def is_number(value: Number) -> bool:
    """Whether it is a rational number: no NaN, no infinity."""
    return isinstance(value, (int, Fraction)) or bool(np.isfinite(value))


def labels(rows: Rows, at: Sequence[int]) -> tuple[int, ...]:
    """-1 or +1 for some rows."""
    return tuple(int(v) for v in rows.take(at).y)


def common_point(rows: Rows, at: Sequence[int], weights: Sequence[Number]) -> tuple[Fraction, ...]:
    """The mean, under the weights, of those of the rows that have label +1."""
    part = rows.take(at)
    X = _as_float64(part.X)
    mine = [(k, Fraction(c)) for k, c in enumerate(weights) if part.y[k] > 0]
    sums = [Fraction(0)] * rows.n_features
    for k, c in mine:
        for j, v in _row(X, k).items():
            sums[j] += c * Fraction(v)
    total = sum(c for _, c in mine)
    return tuple(v / total for v in sums)
