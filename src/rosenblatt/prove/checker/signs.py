"""Signs: on which side of a hyperplane rows lie, and the least of their scores, exactly.

A row is first looked at in floating point with a rigorous error bound; rows which that cannot
decide are summed over integers (:mod:`.limbs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.cone import Cone, ConeBlock
from rosenblatt.data.exact import exact_dot
from rosenblatt.prove.checker import limbs
from rosenblatt.prove.checker.limbs import IN_CACHE, as_float64, slices, with_ones

Number = float | Fraction
Array = npt.NDArray[Any]
UNIT = 2.0**-53
TINY = 2.0**-1019
FEW = 1000  # rows summed over integers even where floats would do


class Plane:
    """Weights, the offset last, as integers and as nearest floats.

    The weights are `whole / factor`; `near` is `whole / unit`, at most 1 in size. The unit is a
    power of two.
    """

    def __init__(self, w: Sequence[Number], b: Number) -> None:
        ratios = [v.as_integer_ratio() for v in (*w, b)]
        self.factor = lcm(*{q for _, q in ratios})
        self.whole = [p * (self.factor // q) for p, q in ratios]
        longest = max(abs(v).bit_length() for v in self.whole)
        self.unit = 1 << longest
        self.near = np.array([v / self.unit for v in self.whole])
        smallest = min((abs(v) for v in self.whole if v), default=1)
        self.vector = {j: v for j, v in enumerate(self.whole) if v}
        self.lost = smallest.bit_length() < longest - 1000  # some may underflow

    @property
    def square(self) -> int:
        """The square of the norm of the integer weights, without the offset."""
        return sum(v * v for v in self.whole[:-1])

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


def is_number(value: Number) -> bool:
    """Whether it is a rational number: no NaN, no infinity."""
    return isinstance(value, (int, Fraction)) or bool(np.isfinite(value))


def plane_problems(w: Sequence[Number], b: Number, d: int, intercept: bool) -> list[str]:
    """What is wrong with weights and an offset for d features, in words."""
    if len(w) != d:
        return [f"w has {len(w)} entries for {d} features"]
    if not all(is_number(v) for v in (*w, b)):
        return ["w or b is not finite"]
    if b and not intercept:
        return ["b is not 0, though the hyperplane is to pass through the origin"]
    return []


def plane_of(w: Sequence[Number], b: Number, intercept: bool) -> Plane:
    """The hyperplane as the parts are asked about it."""
    return Plane(w, b if intercept else 0)


def score_bounds(part: ConeBlock, plane: Plane) -> tuple[Array, Array]:
    """Bounds from below and above on y_i (w.x_i + b) in units, for every row of a part."""
    low, high = np.empty(len(part)), np.empty(len(part))
    for start, X in slices(part.X, IN_CACHE):
        here = slice(start, start + X.shape[0])
        scores, error = plane.scores(X)
        with np.errstate(all="ignore"):
            scores = scores * part.sign[here]
            sure = np.isfinite(scores)
            low[here] = np.where(sure, scores - error, -inf)
            high[here] = np.where(sure, scores + error, inf)
    return low, high


def part_signs(part: ConeBlock, plane: Plane) -> npt.NDArray[np.int8]:
    """The exact sign of y_i (w.x_i + b) for every row of a part."""
    low, high = score_bounds(part, plane)
    found = (low > 0).astype(np.int8) - (high < 0)
    undecided = np.flatnonzero(found == 0)
    if undecided.size:
        exact = limbs.product_signs(with_ones(as_float64(part.X[undecided])), plane.vector)
        found[undecided] = exact[:, 0] * part.sign[undecided]
    return np.asarray(found, dtype=np.int8)


def violated(part: ConeBlock, found: npt.NDArray[np.int8]) -> npt.NDArray[np.bool_]:
    """Which rows of a part with these signs do not hold: on the wrong side, or not equal to 0."""
    wrong = found < 0
    return wrong if part.equality is None else wrong | (part.equality & (found != 0))


# ---------------------------------------------------------------------- of all rows


def signs(rows: Cone, w: Sequence[Number], b: Number, intercept: bool) -> npt.NDArray[np.int8]:
    """The exact sign of y_i (w.x_i + b) for every row; without `intercept`, of y_i w.x_i.

    >>> from rosenblatt.data.cone import as_cone
    >>> signs(as_cone([[0.1], [0.3]], [1, -1]), [3.0], -0.3, True)
    array([ 1, -1], dtype=int8)
    >>> signs(as_cone([[0.5], [1.0]], [-1, 1]), [2.0], -1.0, True)
    array([0, 1], dtype=int8)
    """
    found = list(rows.map(part_signs, plane_of(w, b, intercept)))
    return np.concatenate(found) if found else np.empty(0, dtype=np.int8)


@dataclass(frozen=True)
class Least:
    """The smallest score of some rows: at least `value`, and `value` itself if `exact`."""

    value: Fraction
    row: int
    exact: bool = True


def least_scores(
    rows: Cone, plane: Plane, by_class: bool = False, enough: float = 0.0
) -> tuple[Least, ...]:
    """The smallest y_i (w.x_i + b) of all rows, or of each class (+1 first).

    Exact, unless more than FEW rows could be it and floats are sure to within a relative
    `enough`; then it is a bound from below.

    >>> from rosenblatt.data.cone import as_cone
    >>> rows = as_cone([[0.25], [1.0], [2.5]], [-1, 1, 1])
    >>> [(least.value, least.row) for least in least_scores(rows, Plane([2.0], -1.0), True)]
    [(Fraction(1, 1), 1), (Fraction(1, 2), 0)]
    """
    sides = (1, -1) if by_class else (0,)
    found = zip(*rows.map(_lowest, plane, sides), strict=True)
    return tuple(_least(rows, plane, list(parts), enough) for parts in found)


def _lowest(
    part: ConeBlock, plane: Plane, sides: tuple[int, ...]
) -> list[tuple[Array, Array, Array]]:
    """For each label (0: all) the rows of a part that could have the lowest score; bounds on it."""
    low, high = score_bounds(part, plane)
    found = []
    for label in sides:
        mine = np.flatnonzero(part.sign == label) if label else np.arange(len(part))
        mine = mine[low[mine] <= high[mine].min(initial=inf)]
        found.append((mine + part.first_row, low[mine], high[mine]))
    return found


def _least(
    rows: Cone, plane: Plane, parts: list[tuple[Array, Array, Array]], enough: float
) -> Least:
    """The least of the rows that could be it, exactly if they are few."""
    at, low, high = map(np.concatenate, zip(*parts, strict=True))
    top = float(high.min())
    near = low <= top
    at, bottom = at[near], float(low.min())
    if len(at) > FEW and top - bottom <= enough * bottom:
        first = int(at[np.argmin(low[near])])
        return Least(Fraction(bottom) * plane.unit / plane.factor, first, exact=False)
    part = rows.take(at)
    X = with_ones(as_float64(part.X))
    scores = [exact_dot(X, k, plane.vector) * int(y) for k, y in enumerate(part.sign.tolist())]
    best = min(range(len(at)), key=scores.__getitem__)
    return Least(scores[best] / plane.factor, int(at[best]))
