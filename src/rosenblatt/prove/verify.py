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

Number = float | Fraction
Array = npt.NDArray[Any]
UNIT = 2.0**-53
TINY = 2.0**-1074
PRIME = 2_147_483_629  # below 2^31, so that products of two residues fit in int64
CHUNK = 1 << 22  # numbers looked at together


def signs(
    X: Any, y: Array, w: Sequence[Number], b: Number, intercept: bool
) -> npt.NDArray[np.int8]:
    """The exact sign of y_i (w.x_i + b) for every row.

    >>> signs(np.array([[0.1], [0.3]]), np.array([1, 1]), [3.0], -0.3, True)
    array([1, 1], dtype=int8)
    >>> signs(np.array([[0.5]]), np.array([-1]), [2.0], -1.0, True)
    array([0], dtype=int8)
    """
    weights = [*w, b] if intercept else list(w)
    exact, near = _whole(weights), np.array([_nearest(v) for v in weights])
    rounded = any(
        not np.isfinite(f) or Fraction(f) != v for f, v in zip(near, weights, strict=True)
    )
    out = np.empty(len(y), dtype=np.int8)
    for start, part in _chunks(X, intercept):
        scores, bound = _float_scores(part, near, rounded)
        sure = np.isfinite(scores) & np.isfinite(bound) & (np.abs(scores) > bound)
        found = np.sign(np.where(sure, scores, 0.0)).astype(np.int8)
        for k in np.flatnonzero(~sure).tolist():
            total = _dot(_integers(_row(part, k)), exact)
            found[k] = (total > 0) - (total < 0)
        out[start : start + len(found)] = found
    return out * y.astype(np.int8)


def cancels(
    X: Any, y: Array, rows: Sequence[int], weights: Sequence[Number], intercept: bool
) -> bool:
    """Whether the weights are positive, one per row, and sum_i weight_i z_i = 0 exactly."""
    if len(rows) != len(weights) or len(set(rows)) != len(rows) or not rows:
        return False
    if any(not isinstance(i, int) or not 0 <= i < len(y) for i in rows):
        return False
    if any(c <= 0 for c in weights):
        return False
    sums: dict[int, Fraction] = {}
    for i, c in zip(rows, _whole(weights), strict=True):
        sign = int(y[i])
        for j, (m, e) in _integers(_row_of(X, i, intercept)).items():
            value = Fraction(sign * c * m) * Fraction(2) ** e
            sums[j] = sums.get(j, Fraction(0)) + value
    return not any(sums.values())


def spans(X: Any, rows: Sequence[int], among: Array, intercept: bool) -> bool:
    """Whether the rows (x_i, 1) for i in `rows` span all (x_i, 1) for i in `among`.

    The rank of `rows` is at least their rank modulo a prime. If that is the number of
    columns, they span everything. Otherwise as many independent vectors as columns are
    missing must be orthogonal to every row, exactly.
    """
    columns = X.shape[1] + int(intercept)
    chosen = [_integers(_row_of(X, i, intercept)) for i in rows]
    rank = _rank_modulo(chosen, columns)
    if rank == columns:
        return True
    if len(among) < columns - rank:  # few rows: the rank of all of them together
        others = [_integers(_row_of(X, int(i), intercept)) for i in among]
        return int(fmpz_mat(_table([*chosen, *others], columns)).rank()) == rank
    missing = _orthogonal(chosen, columns, rank)
    if missing is None:
        return False
    return all((_zero_scores(X, vector, among, intercept)).all() for vector in missing)


def _zero_scores(X: Any, vector: list[int], among: Array, intercept: bool) -> Array:
    """Which of the rows `among` have an exactly zero product with an integer vector."""
    support = [j for j, v in enumerate(vector) if v]
    if len(support) == 1 and support[0] < X.shape[1]:  # a column of zeros
        column = X[:, support[0]]
        values = column.toarray().ravel() if sp.issparse(column) else np.asarray(column)
        return np.asarray(values[among] == 0)
    weights = [float(v) if abs(v) < 2**53 else Fraction(v) for v in vector]
    w, b = (weights[:-1], weights[-1]) if intercept else (weights, 0.0)
    return np.asarray(signs(X[among], np.ones(len(among)), w, b, intercept) == 0)


def _chunks(X: Any, intercept: bool) -> Iterator[tuple[int, Any]]:
    """The rows as float64, a few at a time, with a 1 at the end of each for the offset."""
    n, d = X.shape
    step = max(1, CHUNK // (d + 1)) if not sp.issparse(X) else max(1, n // (1 + X.nnz // CHUNK))
    for start in range(0, n, step):
        part = X[start : start + step]
        if sp.issparse(part):
            part = sp.csr_array(part, dtype=np.float64)
            if intercept:
                part = sp.hstack([part, np.ones((part.shape[0], 1))], format="csr")
        else:
            part = np.asarray(part, dtype=np.float64)
            if intercept:
                part = np.hstack([part, np.ones((part.shape[0], 1))])
        yield start, part


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


def _row_of(X: Any, i: int, intercept: bool) -> dict[int, float]:
    row = X[[i]]
    values = (
        _row(sp.csr_array(row, dtype=np.float64), 0)
        if sp.issparse(row)
        else _row(np.asarray(row, dtype=np.float64), 0)
    )
    return {**values, X.shape[1]: 1.0} if intercept else values


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
