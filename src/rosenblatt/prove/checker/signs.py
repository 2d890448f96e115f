"""Signs: on which side of a hyperplane rows lie, exactly, and with what margin.

A row is first looked at in floating point with a rigorous error bound; rows which that cannot
decide are summed over integers (:mod:`.limbs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isqrt, nextafter
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.cone import Cone, ConeBlock
from rosenblatt.data.exact import common_integers, exact_dot
from rosenblatt.prove.checker import limbs
from rosenblatt.prove.checker.limbs import IN_CACHE, as_float64, slices, with_ones

Number = float | Fraction
Array = npt.NDArray[Any]
UNIT = 2.0**-53
TINY = 2.0**-1019
SMALL = 2.0**-1000  # from here up floats keep their precision
LARGEST = float(np.finfo(np.float64).max)


class Plane:
    """Weights, the offset last, as integers `whole` times `unit` and as nearest floats.

    `near` is `whole / unit`, at most 1 in size. The unit is a power of two.
    """

    def __init__(self, w: Sequence[Number], b: Number) -> None:
        self.whole = common_integers([*w, b])
        longest = max(abs(v).bit_length() for v in self.whole)
        self.unit = 1 << longest
        self.near = np.array([v / self.unit for v in self.whole])
        smallest = min((abs(v) for v in self.whole if v), default=1)
        self.vector = {j: v for j, v in enumerate(self.whole) if v}
        self.lost = smallest.bit_length() < longest - 1000  # some may underflow

    @property
    def square(self) -> int:
        """The square of the norm of the weights, without the offset."""
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


def part_signs(part: ConeBlock, plane: Plane) -> npt.NDArray[np.int8]:
    """The exact sign of y_i (w.x_i + b) for every row of a part."""
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
    return (found * part.sign).astype(np.int8, copy=False)


@dataclass(frozen=True)
class Floor:
    """y_i (w.x_i + b) >= margin ||w||, a claim about rows; ||(w, b)|| with `augmented`.

    The root is irrational, so rows are compared with a rational just above it, and those
    below that, if any, by their squares: margin ||w|| <= root / below.
    """

    plane: Plane
    margin: float
    square: int  # of the norm
    root: int
    below: int

    @classmethod
    def of(cls, plane: Plane, margin: float, augmented: bool = False) -> Floor | None:
        """None if there is no such margin: it is not finite, or all weights are 0."""
        square = plane.square + (plane.whole[-1] ** 2 if augmented else 0)
        if not -inf < margin < inf or square == 0:
            return None
        p, q = margin.as_integer_ratio()
        exact = p * p * square << 128
        root = isqrt(exact)
        root = -root if margin < 0 else root + (root * root < exact)
        return cls(plane, margin, square, root, q << 64)

    def cleared(self, part: ConeBlock) -> bool:
        """Whether every row of the part has it, exactly."""
        near = nextafter(quotient(self.root, self.below * self.plane.unit), inf)
        for low, X in slices(part.X, IN_CACHE):
            y = part.sign[low : low + X.shape[0]]
            scores, error = self.plane.scores(X)
            with np.errstate(over="ignore"):
                sure = np.isfinite(scores) & (scores * y > near + error)
            for sign in (1, -1):
                rest = with_ones(X[np.flatnonzero(~sure & (y == sign))])
                if rest.shape[0] and not self._cleared_exactly(rest, sign):
                    return False
        return True

    def _cleared_exactly(self, rest: Any, sign: int) -> bool:
        """The same for rows (x_i, 1) of one label."""
        plane = self.plane
        p, q = self.margin.as_integer_ratio()
        shifted = [v * self.below for v in plane.whole]
        shifted[-1] -= sign * self.root
        found = sign * limbs.product_signs(rest, dict(enumerate(shifted)))[:, 0]
        for k in np.flatnonzero(found < 0).tolist():
            score = sign * exact_dot(rest, k, plane.vector)
            above = score * abs(score) * q * q
            if above < p * abs(p) * self.square:  # squares with their signs
                return False
        return True


def least_score(part: ConeBlock, plane: Plane) -> float:
    """At most the smallest y_i (w.x_i + b) of the part, in units; -inf if unknown."""
    low = inf
    for start, X in slices(part.X, IN_CACHE):
        scores, error = plane.scores(X)
        y = part.sign[start : start + X.shape[0]]
        with np.errstate(all="ignore"):
            sure = np.where(np.isfinite(scores) & np.isfinite(error), scores * y - error, -inf)
        low = min(low, float(sure.min()))
    return low


def quotient(p: int, q: int) -> float:
    """p / q in floats; inf if that is too large."""
    try:
        return p / q
    except OverflowError:
        return inf


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


def plane_of(w: Sequence[Number], b: Number, intercept: bool) -> Plane:
    """The hyperplane as the parts are asked about it."""
    return Plane(w, b if intercept else 0)


def clears(rows: Cone, w: Sequence[Number], b: Number, intercept: bool, margin: float) -> bool:
    """Whether y_i (w.x_i + b) >= margin ||w|| for every row, exactly."""
    floor = Floor.of(plane_of(w, b, intercept), margin)
    return margin >= 0 and floor is not None and all(rows.map(_cleared, floor))


def _cleared(part: ConeBlock, floor: Floor) -> bool:
    return floor.cleared(part)


def margin_of(rows: Cone, w: Sequence[Number], b: Number, intercept: bool) -> float:
    """A margin that (w, b) has, rounded down to a float; 0 if none is positive.

    >>> from rosenblatt.data.cone import as_cone
    >>> round(margin_of(as_cone([[0.0], [1.0], [5.0]], [0, 0, 1]), [1.0], -2.0, True), 6)
    1.0
    """
    plane = plane_of(w, b, intercept)
    least = min(rows.map(least_score, plane))
    norm = quotient(isqrt(plane.square << 128) + 1, plane.unit << 64)  # rounded up
    low = min(least / norm * (1 - 4 * UNIT), LARGEST) if norm > SMALL else 0.0
    return low if low > SMALL else 0.0
