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
from math import inf, isqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.chunks import Part, Rows
from rosenblatt.prove.checking import limbs, means
from rosenblatt.prove.checking.blocks import as_float64
from rosenblatt.prove.checking.means import Sums
from rosenblatt.prove.checking.plane import (
    UNIT,
    Floor,
    Number,
    Plane,
    least_score,
    part_signs,
    quotient,
    whole_numbers,
)
from rosenblatt.prove.checking.span import spans

Array = npt.NDArray[Any]
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
    found = list(rows.each(part_signs, plane_of(w, b, intercept)))
    return np.concatenate(found) if found else np.empty(0, dtype=np.int8)


def plane_of(w: Sequence[Number], b: Number, intercept: bool) -> Plane:
    """The hyperplane as the parts are asked about it."""
    return Plane(w, b if intercept else 0)


def clears(rows: Rows, w: Sequence[Number], b: Number, intercept: bool, margin: float) -> bool:
    """Whether y_i (w.x_i + b) >= margin ||w|| for every row, exactly."""
    floor = Floor.of(plane_of(w, b, intercept), margin)
    return floor is not None and all(rows.each(_cleared, floor))


def _cleared(part: Part, floor: Floor) -> bool:
    return floor.cleared(part)


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
    plane = plane_of(w, b, intercept)
    scores, sums = zip(*rows.each(_score_and_sums, plane), strict=True)
    norm = quotient(isqrt(plane.square << 128) + 1, plane.unit << 64)  # rounded up
    low = min(min(scores) / norm * (1 - 4 * UNIT), LARGEST) if norm > SMALL else 0.0
    return (low if low > SMALL else 0.0), Sums.together(sums).bound(intercept, means.SLACK)


def _score_and_sums(part: Part, plane: Plane) -> tuple[float, Sums]:
    return least_score(part, plane), Sums.of(part)


def bounded(rows: Rows, intercept: bool, bound: float) -> bool:
    """Whether the means of the classes prove that no margin is larger than `bound`."""
    if bound == inf:
        return True
    return bounded_by(Sums.together(rows.each(Sums.of)), rows, intercept, bound)


def bounded_by(sums: Sums, rows: Rows, intercept: bool, bound: float) -> bool:
    """The same, the sums of the rows being known; over the rationals if they cannot tell."""
    if bound == inf or not bound >= 0:
        return bound == inf
    return sums.bound(intercept) <= bound or means.exactly_bounded(rows, intercept, bound)


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
    signed = [int(y) * c for y, c in zip(part.y, whole_numbers(weights), strict=True)]
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
