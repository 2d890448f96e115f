"""Verify: the checker. Short, exact, and sharing nothing with the code that makes claims.

Every float is a rational number, so a claim about floats can be checked exactly. A row is
first looked at in floating point with a rigorous error bound; rows which that cannot decide
are summed over integers (`checking/limbs.py`). With z_i = y_i (x_i, 1), or y_i x_i without offset:

- a hyperplane (w, b) has the exact sign of w.z_i at every row, and a margin of at least so much;
- no hyperplane has a margin of more than half the distance of the means of the classes;
- weights c_i > 0 on some rows cancel if sum_i c_i z_i = 0 exactly;
- rows span other rows: :mod:`rosenblatt.prove.checking.span`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, isqrt, lcm, nextafter
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.chunks import Rows
from rosenblatt.prove.checking import limbs
from rosenblatt.prove.checking.blocks import IN_CACHE, as_float64, blocks, slices, with_ones
from rosenblatt.prove.checking.span import spans

Number = float | Fraction
Array = npt.NDArray[Any]
UNIT = 2.0**-53
TINY = 2.0**-1019
SMALL = 2.0**-1000  # from here up floats keep their precision
LARGEST = float(np.finfo(np.float64).max)
__all__ = [
    "bounded",
    "cancels",
    "clears",
    "common_point",
    "is_number",
    "labels",
    "margin_interval",
    "signs",
    "spans",
]


# ---------------------------------------------------------------------- the hyperplane


def signs(rows: Rows, w: Sequence[Number], b: Number, intercept: bool) -> npt.NDArray[np.int8]:
    """The exact sign of y_i (w.x_i + b) for every row; without `intercept`, of y_i w.x_i.

    >>> from rosenblatt.data.chunks import as_rows
    >>> signs(as_rows([[0.1], [0.3]], [1, -1]), [3.0], -0.3, True)
    array([ 1, -1], dtype=int8)
    >>> signs(as_rows([[0.5], [1.0]], [-1, 1]), [2.0], -1.0, True)
    array([0, 1], dtype=int8)
    """
    plane = _Plane(w, b if intercept else 0)
    out = np.empty(rows.n_rows, dtype=np.int8)
    for part in rows.parts():
        found, sure = np.empty(len(part), dtype=np.int8), np.empty(len(part), dtype=bool)
        for low, X in slices(part.X, IN_CACHE):
            scores, error = plane.scores(X)
            here = slice(low, low + len(scores))
            found[here] = (scores > 0).astype(np.int8) - (scores < 0)
            sure[here] = np.isfinite(scores) & (np.abs(scores) > error)
        undecided = np.flatnonzero(~sure)
        if undecided.size:
            exact = limbs.product_signs(with_ones(as_float64(part.X[undecided])), plane.vector)
            found[undecided] = exact[:, 0]
        out[part.start : part.start + len(part)] = found * part.y
    return out


def clears(rows: Rows, w: Sequence[Number], b: Number, intercept: bool, margin: float) -> bool:
    """Whether y_i (w.x_i + b) >= margin ||w|| for every row, exactly.

    The root is irrational, so rows are compared with a rational just above it, and those
    below that, if any, by their squares.
    """
    plane = _Plane(w, b if intercept else 0)
    square = sum(v * v for v in plane.whole[:-1])
    if not 0 <= margin < inf or square == 0:
        return False
    p, q = margin.as_integer_ratio()
    exact = p * p * square << 128
    root = isqrt(exact)
    root, below = root + (root * root < exact), q << 64  # margin ||w|| <= root / below
    near = nextafter(_quotient(root, below * plane.unit), inf)
    for _, X, y in blocks(rows):
        scores, error = plane.scores(X)
        with np.errstate(over="ignore"):
            sure = np.isfinite(scores) & (scores * y > near + error)
        for sign in (1, -1):
            rest = with_ones(X[np.flatnonzero(~sure & (y == sign))])
            if rest.shape[0] == 0:
                continue
            shifted = [v * below for v in plane.whole]
            shifted[-1] -= sign * root
            found = sign * limbs.product_signs(rest, dict(enumerate(shifted)))[:, 0]
            for k in np.flatnonzero(found < 0).tolist():
                score = sign * limbs.exact_product(rest, k, plane.vector)
                if score < 0 or score**2 * q * q < p * p * square:
                    return False
    return True


def margin_interval(
    rows: Rows, w: Sequence[Number], b: Number, intercept: bool
) -> tuple[float, float]:
    """A margin that (w, b) has, if positive, and one that no hyperplane exceeds.

    Both in floating point, rounded to the safe side: `clears` and `bounded` hold for them.

    >>> from rosenblatt.data.chunks import as_rows
    >>> low, high = margin_interval(as_rows([[0.0], [1.0], [5.0]], [0, 0, 1]), [1.0], -2.0, True)
    >>> round(low, 6), round(high, 6)
    (1.0, 2.25)
    """
    plane = _Plane(w, b if intercept else 0)
    low = inf
    for _, X, y in blocks(rows):
        scores, error = plane.scores(X)
        with np.errstate(all="ignore"):
            sure = np.where(np.isfinite(scores) & np.isfinite(error), scores * y - error, -inf)
        low = min(low, float(sure.min()))
    square = sum(v * v for v in plane.whole[:-1])
    norm = _quotient(isqrt(square << 128) + 1, plane.unit << 64)  # rounded up
    low = min(low / norm * (1 - 4 * UNIT), LARGEST) if norm > SMALL else 0.0
    return (low if low > SMALL else 0.0), _mean_bound(rows, intercept)


class _Plane:
    """Weights, the offset last, as integers `whole` times `unit` and as nearest floats.

    `near` is `whole / unit`, at most 1 in size. The unit is a power of two.
    """

    def __init__(self, w: Sequence[Number], b: Number) -> None:
        self.whole = _whole([*w, b])
        longest = max(abs(v).bit_length() for v in self.whole)
        self.unit = 1 << longest
        self.near = np.array([v / self.unit for v in self.whole])
        smallest = min((abs(v) for v in self.whole if v), default=1)
        self.vector = {j: v for j, v in enumerate(self.whole) if v}
        self.lost = smallest.bit_length() < longest - 1000  # some may underflow

    def scores(self, X: Any) -> tuple[Array, Array]:
        """Scores w.x + b in units, and a bound on how far they are from the exact ones.

        Write t for the exact weights, v for the nearest floats, u = 2^-53, and p for the
        number of terms. In any order, with or without fused operations, floats give
        sum x_j v_j up to gamma_p A with A = sum |x_j v_j|, gamma_p = p u / (1 - p u); an
        underflow, even one flushed to zero, adds at most 2^-1021 a term. Rounding the
        weights adds u A, and 2^-1022 |x_j| where v_j is not a normal number. Together less
        than 1.1 (p + 2) u A and p TINY (1 + max |x|); the bound takes 2 (p + 4) u A, which
        covers its own rounding. Overflow gives inf or nan, and no row is decided by that.
        """
        v, b = self.near[:-1], self.near[-1]
        terms = limbs.row_length(X) + 1
        with np.errstate(all="ignore"):
            scores = np.asarray(X @ v) + b
            size = np.asarray(abs(X) @ np.abs(v)) + abs(b)
            largest = float(np.abs(limbs.values(X)).max(initial=0.0)) if self.lost else 0.0
            return scores, 2 * (terms + 4) * UNIT * size + terms * TINY * (1 + largest)


# ---------------------------------------------------------------------- no margin is larger


def bounded(rows: Rows, intercept: bool, bound: float) -> bool:
    """Whether the means of the classes prove that no margin is larger than `bound`.

    With an offset, a margin is at most half the distance of any two points, one of each
    class's hull; without, at most the norm of any point of the hull of the y_i x_i.
    """
    if bound == inf:
        return True
    if not bound >= 0:
        return False
    if _mean_bound(rows, intercept) <= bound:
        return True
    counts, totals = [0, 0], [[Fraction(0)] * rows.n_features for _ in range(2)]
    for _, X, y in blocks(rows):
        groups = _groups(y)
        for g, sums in enumerate(limbs.column_sums(X, groups)):
            counts[g] += int(groups[:, g].sum())
            totals[g] = [a + c for a, c in zip(totals[g], sums, strict=True)]
    first, second = (2 * counts[0], 2 * counts[1]) if intercept else (rows.n_rows, rows.n_rows)
    point = [a / first - c / second for a, c in zip(*totals, strict=True)]
    return bool(sum(v * v for v in point) <= Fraction(bound) ** 2)


def _mean_bound(rows: Rows, intercept: bool) -> float:
    """The bound of the means, rounded up; inf if it overflows.

    A sum of m numbers in one block and then of k blocks errs by at most gamma_(m+k) times
    the sum of the sizes; the bound takes 2 (m + k + 8) u, which covers its own rounding, and
    TINY an addition for what is flushed to zero.
    """
    sums, sizes = np.zeros((rows.n_features, 2)), np.zeros(rows.n_features)
    counts, steps, longest = np.zeros(2), 0, 0
    with np.errstate(all="ignore"):
        for _, X, y in blocks(rows):
            groups = _groups(y)
            sums += X.T @ groups
            sizes += np.ravel(abs(X).sum(axis=0))
            counts, steps, longest = counts + groups.sum(axis=0), steps + 1, max(longest, len(y))
        most = longest + steps + 8
        error = 2 * most * UNIT * sizes / counts.min() + most * TINY
        parts = sums / (2 * counts if intercept else counts.sum())
        reach = np.abs(parts[:, 0] - parts[:, 1]) + error
        top = float(reach.max())
        norm = top * float(np.sqrt(np.sum((reach / top) ** 2)))  # no overflow on the way
    found = norm * (1 + 2 * (len(sums) + 8) * UNIT)
    return found if found == found else inf


def _groups(y: Array) -> Array:
    return np.stack([y > 0, y < 0], axis=1).astype(np.float64)


# ---------------------------------------------------------------------- rows that cancel


def cancels(rows: Rows, at: Sequence[int], weights: Sequence[Number], intercept: bool) -> bool:
    """Whether the weights are positive, one per row `at`, and sum_i weight_i z_i = 0 exactly."""
    if len(at) != len(weights) or len(set(at)) != len(at) or not at:
        return False
    if any(not isinstance(i, int) or not 0 <= i < rows.n_rows for i in at):
        return False
    if not all(is_number(c) and c > 0 for c in weights):
        return False
    part = rows.take(at)
    signed = [int(y) * c for y, c in zip(part.y, _whole(weights), strict=True)]
    if intercept and sum(signed) != 0:
        return False
    columns = as_float64(part.X).T
    columns = sp.csr_array(columns) if sp.issparse(columns) else columns
    return limbs.orthogonal(columns, [dict(enumerate(signed))])


# ---------------------------------------------------------------------- for people


def labels(rows: Rows, at: Sequence[int]) -> tuple[int, ...]:
    """-1 or +1 for some rows."""
    return tuple(int(v) for v in rows.take(at).y)


def common_point(rows: Rows, at: Sequence[int], weights: Sequence[Number]) -> tuple[Fraction, ...]:
    """The mean, under the weights, of those of the rows that have label +1."""
    part = rows.take(at)
    X = as_float64(part.X)
    mine = [(k, Fraction(c)) for k, c in enumerate(weights) if part.y[k] > 0]
    sums = [Fraction(0)] * rows.n_features
    for k, c in mine:
        for j, m, e in limbs.entries(X, k):
            sums[j] += c * m * Fraction(2) ** e
    total = sum(c for _, c in mine)
    return tuple(v / total for v in sums)


# ---------------------------------------------------------------------- numbers


def is_number(value: Number) -> bool:
    """Whether it is a rational number: no NaN, no infinity."""
    return isinstance(value, (int, Fraction)) or bool(np.isfinite(value))


def _whole(values: Sequence[Number]) -> list[int]:
    """The values times one positive number that makes them all integers."""
    ratios = [v.as_integer_ratio() for v in values]
    common = lcm(*{q for _, q in ratios})
    return [p * (common // q) for p, q in ratios]


def _quotient(p: int, q: int) -> float:
    try:
        return p / q
    except OverflowError:
        return inf
