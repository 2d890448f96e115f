"""Extremes: the least score and the largest norm over all rows, without rounding.

Rows are looked at in floating point first, with a bound on the error that holds for any order
of summation; the few that could be the extreme one are then summed over integers.

    |fl(x.v) - x.v| <= gamma_d |x|.|v| + underflow,    |x|.|v| <= ||x|| ||v||
"""

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

Array = npt.NDArray[Any]
Number = float | Fraction
UNIT = 2.0**-53
TINY = 2.0**-1074
FEW = 1000  # rows summed over integers even where floats would do


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


def root(square: Fraction) -> Fraction:
    """The root rounded down to 128 bits or more; the root itself if it is that short."""
    p, q = square.numerator, square.denominator
    shift = max(0, 256 - p.bit_length() + q.bit_length())
    shift += shift % 2
    return Fraction(math.isqrt((p << shift) // q), 1 << (shift // 2))


def down(value: Fraction) -> float:
    """The largest float at most `value`."""
    near = nearest(value)
    if math.isinf(near):
        return math.nextafter(math.inf, 0) if near > 0 else near
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


@dataclass(frozen=True)
class Least:
    """The smallest score of some rows: at least `value`, and `value` itself if `exact`."""

    value: Fraction
    row: int
    exact: bool = True


@dataclass(frozen=True, eq=False)
class Direction:
    """Weights and an offset for scores y_i v.x_i, times 2^-shift, each wrong by at most `error`."""

    weights: Array
    offset: float
    error: float
    shift: int

    def scores(self, part: ConeBlock) -> Array:
        """Of the rows of a part."""
        raw = np.asarray(part.X @ self.weights, dtype=np.float64) + self.offset
        return np.asarray(raw * part.sign)


@dataclass(frozen=True, eq=False)
class Scanner:
    """Rows that are looked at in one direction after another.

    Attributes
    ----------
    constant : bool
        Whether every row has a 1 at its end.
    exponent : int
        All |x_ij| are at most 2^exponent.
    square : Fraction
        The largest ||x_i||^2, the constant left out; rounded up if many rows could have it.
    first : (int, int)
        The first row of each class, +1 first.
    """

    rows: Cone
    constant: bool
    exponent: int
    square: Fraction
    first: tuple[int, int]

    @classmethod
    def of(cls, rows: Cone, constant: bool) -> Scanner:
        """One reading of all rows."""
        exponents, squares, firsts = zip(*rows.map(_summary), strict=True)
        first = [next((f[k] for f in firsts if f[k] >= 0), -1) for k in range(2)]
        return cls(rows, constant, max(exponents), max(squares), (first[0], first[1]))

    @property
    def radius_squared(self) -> Fraction:
        """R^2 = max ||z_i||^2."""
        return self.square + int(self.constant)

    def direction(self, v: Sequence[Number] | Array) -> Direction:
        """What y_i v.x_i is computed with; with a constant the last entry of v belongs to it."""
        near, power = _mantissas(v)
        d = self.rows.n_features
        size = float(np.linalg.norm(near)) * (1 + 1e-9)
        with np.errstate(all="ignore"):  # entries that underflow are in the bound
            weights = np.ldexp(near[:d], -self.exponent)
            offset = math.ldexp(float(near[d]), -self.exponent) if self.constant else 0.0
        radius = math.sqrt(up(self.square / Fraction(4) ** self.exponent)) * (1 + 1e-9)
        gamma = (d + 8) * UNIT / (1 - (d + 8) * UNIT)
        tail = (2 * d + 8) * (TINY + math.ldexp(1.0, abs(self.exponent) - 1074))
        error = gamma * (radius * size + abs(offset)) * (1 + 1e-9) + tail

        return Direction(weights, offset, error, power + self.exponent)

    def least(
        self, v: Sequence[Number], by_class: bool = False, enough: float = 0.0
    ) -> tuple[Least, ...]:
        """The smallest y_i v.(x_i, 1) of all rows, or of each class (+1 first).

        Exact, unless more than FEW rows could be it and floats are sure to within a relative
        `enough`; then it is a bound from below.
        """
        direction, sides = self.direction(v), (1, -1) if by_class else (0,)
        found = zip(*self.rows.map(_lowest, direction, sides), strict=True)
        return tuple(self._settled(v, list(parts), direction, enough) for parts in found)

    def _settled(
        self,
        v: Sequence[Number],
        parts: list[tuple[Array, Array]],
        direction: Direction,
        enough: float,
    ) -> Least:
        """The least of the rows near the lowest score, exactly if they are few."""
        at, scores = map(np.concatenate, zip(*parts, strict=True))
        low, error = float(scores.min()), direction.error
        near = scores <= low + 2 * error
        at, scores = at[near], scores[near]
        if len(at) > FEW and error <= enough * (low - error):
            value = (Fraction(low) - Fraction(error)) * Fraction(2) ** direction.shift
            return Least(value, int(at[np.argmin(scores)]), exact=False)
        return self._exactly(v, at)

    def _exactly(self, v: Sequence[Number], at: Array) -> Least:
        whole, common = _whole(v)
        part = self.rows.take(at)
        best: tuple[Fraction, int] | None = None
        for k, row in enumerate(at.tolist()):
            value = exact_dot(part.X, k, whole, self.constant) * int(part.sign[k])
            if best is None or value < best[0]:
                best = value, row
        assert best is not None
        return Least(best[0] / common, best[1])


def _summary(part: ConeBlock) -> tuple[int, Fraction, tuple[int, int]]:
    """Of a part: the exponent, the largest ||x_i||^2, and the first row of each class or -1."""
    exponent = _exponent(part.X)
    mine = [np.flatnonzero(part.sign == label) for label in (1, -1)]
    first = [part.first_row + int(at[0]) if at.size else -1 for at in mine]
    return exponent, _largest_square(part.X, exponent), (first[0], first[1])


def _lowest(
    part: ConeBlock, direction: Direction, sides: tuple[int, ...]
) -> list[tuple[Array, Array]]:
    """For each label (0: all) the rows of a part that could have the lowest score, and scores."""
    scores, found = direction.scores(part), []
    for label in sides:
        mine = np.flatnonzero(part.sign == label) if label else np.arange(len(part))
        least = scores[mine].min(initial=math.inf)
        mine = mine[scores[mine] <= least + 2 * direction.error]
        found.append((mine + part.first_row, scores[mine]))
    return found


def exact_dot(X: Any, k: int, whole: list[int], constant: bool) -> Fraction:
    """Row k times integer weights, the last of them for the constant."""
    if sp.issparse(X):
        lo, hi = X.indptr[k], X.indptr[k + 1]
        entries = zip(X.indices[lo:hi].tolist(), X.data[lo:hi].tolist(), strict=True)
        pairs = [(whole[j], v) for j, v in entries if v]
    else:
        pairs = [(c, v) for c, v in zip(whole, X[k].tolist(), strict=False) if v and c]
    ratios = [(c, *v.as_integer_ratio()) for c, v in pairs]
    bottom = max((q for _, _, q in ratios), default=1)
    total = Fraction(sum(c * p * (bottom // q) for c, p, q in ratios), bottom)
    return total + whole[-1] if constant else total


def _whole(v: Sequence[Number]) -> tuple[list[int], int]:
    """Integers, and the positive integer that was multiplied by."""
    fractions = [Fraction(f) for f in v]
    common = math.lcm(*(f.denominator for f in fractions)) if fractions else 1
    return [int(f * common) for f in fractions], common


def _mantissas(v: Sequence[Number] | Array) -> tuple[Array, int]:
    """Floats of size at most 1, and the power of two they were divided by."""
    if isinstance(v, np.ndarray) and v.dtype == np.float64:
        top = float(np.max(np.abs(v), initial=0.0))
        power = math.frexp(top)[1] if top else 0
        return np.ldexp(v, -power), power
    exact = [Fraction(f) for f in v]
    top_exact = max((abs(f) for f in exact), default=Fraction(0)) or Fraction(1)
    power = top_exact.numerator.bit_length() - top_exact.denominator.bit_length() + 1
    unit = Fraction(2) ** power
    return np.array([float(f / unit) for f in exact]), power


def _exponent(X: Any) -> int:
    """All entries are at most 2 to this in size; at least -1000."""
    data = X.data if sp.issparse(X) else X
    top = max(float(data.max(initial=0)), -float(data.min(initial=0)))
    return max(math.frexp(top)[1], -1000)


def _largest_square(X: Any, exponent: int) -> Fraction:
    """The largest ||x||^2 of these rows; rounded up if many could have it."""
    scale = 0 if abs(exponent) < 450 else exponent  # squares neither overflow nor vanish
    part = X if scale == 0 else X.astype(np.float64) * math.ldexp(1.0, -scale)
    if sp.issparse(part):
        squares = np.asarray(part.astype(np.float64).power(2) @ np.ones(part.shape[1]))
    else:
        squares = np.einsum("ij,ij->i", part, part, dtype=np.float64)
    slack = (X.shape[1] + 8) * 2.0**-52
    top = float(squares.max())
    at = np.flatnonzero(squares >= top * (1 - 2 * slack))
    if len(at) > FEW:
        return Fraction(top) * (1 + Fraction(slack)) * Fraction(4) ** scale
    return max(_exact_square(X, k) for k in at.tolist())


def _exact_square(X: Any, k: int) -> Fraction:
    values = X.data[X.indptr[k] : X.indptr[k + 1]] if sp.issparse(X) else X[k]
    ratios = [v.as_integer_ratio() for v in values.tolist() if v]
    bottom = max((q for _, q in ratios), default=1)
    return Fraction(sum((p * (bottom // q)) ** 2 for p, q in ratios), bottom * bottom)
