"""Norms: roots rounded up or down, the longest row, and the margin that all rows have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.cone import Cone, ConeBlock
from rosenblatt.data.exact import entries, exact_dot
from rosenblatt.prove.checker import limbs
from rosenblatt.prove.checker.limbs import with_ones
from rosenblatt.prove.checker.signs import FEW, Plane, plane_of, score_bounds

Array = npt.NDArray[Any]
Number = float | Fraction
DIGITS = 256  # bits of a square before its root is taken, at least
MORE = 1 + Fraction(1, 2**120)  # what a root of these lacks, relatively, and more
LARGEST = float(np.finfo(np.float64).max)
SMALL = 2.0**-1000  # a margin below this is called 0


# ---------------------------------------------------------------------- roots


def root(square: Fraction) -> Fraction:
    """The root rounded down to 128 bits or more; the root itself if it is that short."""
    p, q = square.numerator, square.denominator
    shift = max(0, DIGITS - p.bit_length() + q.bit_length())
    shift += shift % 2
    return Fraction(math.isqrt((p << shift) // q), 1 << (shift // 2))


def root_up(square: Fraction) -> Fraction:
    """The root, rounded up by very little."""
    near = root(square)
    return near if near * near == square else near * MORE


def sqrt_down(square: Fraction) -> float:
    """The largest float at most the root.

    >>> sqrt_down(Fraction(9, 4)), sqrt_down(Fraction(2)) ** 2 < 2
    (1.5, True)
    """
    return down(root(square))


def sqrt_up(square: Fraction) -> float:
    """The smallest float at least the root.

    >>> sqrt_up(Fraction(9, 4)), sqrt_up(Fraction(2)) ** 2 > 2
    (1.5, True)
    """
    low = sqrt_down(square)
    return low if Fraction(low) ** 2 >= square else math.nextafter(low, math.inf)


def sqrt_nearest(square: Fraction) -> float:
    """The float nearest to the root; inf beyond the range."""
    near = root(square)
    return nearest(near if near * near == square else near * (1 + Fraction(1, 2**130)))


def down(value: Fraction) -> float:
    """The largest float at most `value`."""
    near = nearest(value)
    if math.isinf(near):
        return LARGEST if near > 0 else near
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def up(value: Fraction) -> float:
    """The smallest float at least `value`."""
    return -down(-value)


def nearest(value: Number) -> float:
    """The nearest float, infinite beyond the range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def largest_square(cone: Cone) -> Fraction:
    """The largest ||x_i||^2, the constant left out; rounded up if many rows could have it."""
    squares: list[Fraction] = cone.map(_largest_square)
    return max(squares)


def _largest_square(block: ConeBlock) -> Fraction:
    values = limbs.values(block.X)
    top = float(np.abs(values).max(initial=0.0))
    exponent = max(math.frexp(top)[1], -1000)
    scale = 0 if abs(exponent) < 450 else exponent  # squares neither overflow nor vanish
    X = block.X if scale == 0 else block.X.astype(np.float64) * math.ldexp(1.0, -scale)
    if sp.issparse(X):
        squares = np.asarray(X.astype(np.float64).power(2) @ np.ones(X.shape[1]))
    else:
        squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    slack = (X.shape[1] + 8) * 2.0**-52
    top = float(squares.max())
    at = np.flatnonzero(squares >= top * (1 - 2 * slack))
    if len(at) > FEW:
        return Fraction(top) * (1 + Fraction(slack)) * Fraction(4) ** scale
    return max(_exact_square(block.X, k) for k in at.tolist())


def _exact_square(X: Any, k: int) -> Fraction:
    found = list(entries(X, k))
    low = min((e for _, _, e in found), default=0)
    return Fraction(4) ** low * sum((m << (e - low)) ** 2 for _, m, e in found)


# ---------------------------------------------------------------------- the margin of all rows


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
        if not -math.inf < margin < math.inf or square == 0:
            return None
        p, q = margin.as_integer_ratio()
        exact = p * p * square << 128
        root = math.isqrt(exact)
        root = -root if margin < 0 else root + (root * root < exact)
        return cls(plane, margin, square, root, q << 64)

    def cleared(self, block: ConeBlock) -> bool:
        """Whether every row of the block has it, exactly; rows of equality have no margin."""
        if block.equality is not None and block.equality.any():
            return False
        near = math.nextafter(nearest(Fraction(self.root, self.below * self.plane.unit)), math.inf)
        low, _ = score_bounds(block, self.plane)
        for sign in (1, -1):
            rest = with_ones(block.X[np.flatnonzero(~(low > near) & (block.sign == sign))])
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


def margin_of(rows: Cone, w: Sequence[Number], b: Number, intercept: bool) -> float:
    """A margin that (w, b) has, rounded down to a float; 0 if none is positive.

    >>> from rosenblatt.data.cone import as_cone
    >>> round(margin_of(as_cone([[0.0], [1.0], [5.0]], [0, 0, 1]), [1.0], -2.0, True), 6)
    1.0
    """
    plane = plane_of(w, b, intercept)
    low = min(rows.map(_least_bound, plane))
    if not plane.square or low <= 0:
        return 0.0
    margin = down(Fraction(low) * plane.unit / root_up(Fraction(plane.square)))
    return margin if margin > SMALL else 0.0


def _least_bound(block: ConeBlock, plane: Plane) -> float:
    return float(score_bounds(block, plane)[0].min(initial=math.inf))
