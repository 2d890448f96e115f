"""Quadratic: how probable a negative value of a quadratic in standard normals is.

    q(z) = sum_i a_i (z_i + h_i)^2 + g_i z_i + c,     z_i independent, standard normal

(a generalised chi-square variable). With u_i = 1 - 2 a_i s its cumulant generating function is

    K(s) = c s + sum_i [ -log(u_i) / 2 + (a_i h_i^2 s + g_i^2 s^2 / 2) / u_i ],

one of h_i, g_i being 0. Between the singularities 1 / (2 a_i) on both sides of 0,

    P(q < 0) = -1/(2 pi i)  integral of exp(K(s)) / s ds  along any path from -i inf to i inf
                            that crosses the real axis once, at some s0 < 0.

The path here goes through the saddle s0 of K(s) - log(-s), where nothing cancels, and is

    s(y) = s0 + i y + B k (sqrt(A^2 + y^2) - A),     y = r sinh(t),

with B the side on which exp(K) decays, and the bend k from A on chosen so that nowhere on the
path exp(K)/s is larger than at the saddle. In t the integrand is analytic in a strip and decays
exponentially, so the trapezoidal rule converges geometrically [Weideman and Trefethen 2007]: the
step is halved until two sums agree, and the finer one is far better than their difference says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import ndtr

from rosenblatt.errors import Undecided

Array = npt.NDArray[Any]
ENOUGH = 1e-9  # two sums must agree to this, relatively; the finer one is far better
MOST_NODES = 1 << 21
DEAD = 42.0  # exp(-42) of the peak is rounding
NEGLIGIBLE = 1e-32  # a coordinate this much smaller than another does not move q
STEP = 0.25
BEND = 0.5


@dataclass(frozen=True, eq=False)
class Quadratic:
    """sum_i square_i (z_i + shift_i)^2 + slope_i z_i + constant; a shift or a slope, not both."""

    square: Array
    shift: Array
    slope: Array
    constant: float

    @classmethod
    def of(cls, square: Any, slope: Any, constant: float) -> Quadratic:
        """sum_i square_i z_i^2 + slope_i z_i + constant, in floats."""
        a, g = np.asarray(square, dtype=np.float64), np.asarray(slope, dtype=np.float64)
        near = np.abs(g) <= 2 * np.abs(a)  # the vertex is within 1 of the origin
        h = np.divide(g, 2 * a, out=np.zeros_like(g), where=near & (a != 0))
        rest = np.where(near, 0.0, g)
        return cls(a, h, rest, float(constant - np.sum(a * h * h)))

    def positive(self) -> float:
        """P(q > 0), as accurately as `negative`."""
        return self._mirrored().negative()

    def negative(self) -> float:
        """P(q < 0), to about 1e-12 of itself if it is small."""
        q = self._significant()
        if len(q.square) == 0:
            return float(q.constant < 0)
        if len(q.square) == 1:
            return q._one()
        if q._never_below():
            return 0.0
        if q._mirrored()._never_below():
            return 1.0
        mean = q.constant + float(np.sum(q.square * (1 + q.shift**2)))
        return _tail(q) if mean > 0 else 1.0 - _tail(q._mirrored())

    def _mirrored(self) -> Quadratic:
        return Quadratic(-self.square, self.shift, -self.slope, -self.constant)

    def _significant(self) -> Quadratic:
        """Scaled to size 1, without coordinates that do not matter."""
        size = np.maximum(np.abs(self.square), np.abs(self.slope))
        top = float(size.max(initial=0.0))
        if top == 0:
            return Quadratic(*(np.empty(0),) * 3, self.constant)
        keep = size > NEGLIGIBLE * top
        a, g = self.square[keep] / top, self.slope[keep] / top
        a = np.where(np.abs(a) <= 1e-18 * np.abs(g), 0.0, a)
        with np.errstate(over="ignore"):
            return Quadratic(a, self.shift[keep], g, float(np.float64(self.constant) / top))

    def _far(self) -> float:
        """q at its vertex, the coordinates without a square left out."""
        bent = self.square != 0
        return self.constant - float(np.sum(self.slope[bent] ** 2 / (4 * self.square[bent])))

    def _never_below(self) -> bool:
        bowl = (self.square > 0) | ((self.square == 0) & (self.slope == 0))
        return bool(bowl.all() and self._far() >= 0)

    def _one(self) -> float:
        """One coordinate: between or beyond two thresholds, or beyond one."""
        a, h, g, c = (
            float(self.square[0]),
            float(self.shift[0]),
            float(self.slope[0]),
            self.constant,
        )
        if a == 0:
            return float(ndtr(-c / abs(g)))
        if g == 0:
            if (c >= 0) == (a > 0) or c == 0:  # no sign change
                return float(a < 0) if c <= 0 or a < 0 else 0.0
            root = math.sqrt(-c / a)
            low, high = -h - root, -h + root
        else:
            disc = g * g - 4 * a * c
            if disc <= 0:
                return float(a < 0)
            q = -(g + math.copysign(math.sqrt(disc), g)) / 2
            low, high = sorted((q / a, c / q))
        return between(low, high) if a > 0 else float(ndtr(low) + ndtr(-high))

    def cumulant(self, s: Array) -> Array:
        """K(s), for s off the real axis or between the singularities."""
        u = 1.0 - 2.0 * self.square * s[:, None]
        bent = (self.square * self.shift**2) * s[:, None] + (self.slope * s[:, None]) ** 2 / 2
        return np.asarray(self.constant * s + np.sum(bent / u - np.log(u) / 2, axis=1))

    def derivatives(self, s: float) -> tuple[float, float]:
        """K'(s) and K''(s) at a real s between the singularities."""
        a, h2, g2 = self.square, self.shift**2, self.slope**2
        u = 1.0 - 2.0 * a * s
        first = a / u + a * h2 / u**2 + g2 * s * (1 - a * s) / u**2
        second = 2 * (a / u) ** 2 + (4 * a * a * h2 + g2) / u**3
        return self.constant + float(first.sum()), float(second.sum())


def between(low: float, high: float) -> float:
    """P(low < z < high), without cancellation."""
    if low > 0:
        low, high = -high, -low
    return float(ndtr(high) - ndtr(low))


def _tail(q: Quadratic) -> float:
    """P(q < 0) where q is positive in the mean."""
    s0 = _saddle(q)
    second = q.derivatives(s0)[1] + 1 / s0**2
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        path = _Path.chosen(q, s0, 1 / math.sqrt(second))
        if path.peak < -745:
            return 0.0
        return path.integral()


def _saddle(q: Quadratic) -> float:
    """The least K(s) - log(-s) for s < 0 right of the singularities; any near it will do."""
    falling = -q.square[q.square < 0]
    lowest = math.log(0.5 / float(falling.max())) if falling.size else 300.0

    def slope(t: float) -> float:
        s = -math.exp(t)
        with np.errstate(all="ignore"):
            return q.derivatives(s)[0] * -s + 1.0  # times |s|, for the same sign

    high = lowest - 1e-13 * max(1.0, abs(lowest))
    t = min(0.0, high)
    if slope(t) > 0:  # the saddle is further out
        low, reach = t, 1.0
        while slope(t) > 0:
            if t == high:
                return -math.exp(high)
            low, t, reach = t, min(t + reach, high), 2 * reach
    else:
        high, reach = t, 1.0
        while not slope(t) > 0:
            high, t, reach = t, t - reach, 2 * reach
        low, t = t, high
    return -math.exp(brentq(slope, low, t, xtol=1e-6, rtol=1e-12))


@dataclass(frozen=True, eq=False)
class _Path:
    """s(y) = s0 + i y + bend (sqrt(A^2 + y^2) - A), y = r sinh t."""

    q: Quadratic
    s0: float
    r: float
    bend: float
    start: float
    peak: float
    end: float  # t from which the integrand is negligible

    @classmethod
    def chosen(cls, q: Quadratic, s0: float, r: float) -> _Path:
        """The path that bends earliest among those that never exceed the saddle."""
        side = -math.copysign(1.0, q._far())
        peak = float(cls(q, s0, r, 0.0, r, 0.0, 0.0).log_size(np.zeros(1))[0])
        if peak < -745:  # the probability is no float
            return cls(q, s0, r, 0.0, r, peak, 0.0)
        grid = np.arange(0.0, 160.0, STEP)
        for power in range(0, 60, 2):
            path = cls(q, s0, r, BEND * side, r * 2.0**power, peak, 0.0)
            sizes = path.log_size(grid, jacobian=False)
            if np.max(sizes) <= sizes[0] + 0.7:
                alive = np.flatnonzero(path.log_size(grid) > peak - DEAD)
                return replace(path, end=STEP * (int(alive[-1]) + 2))
        raise _too_hard()

    def points(self, t: Array) -> tuple[Array, Array]:
        """s and ds/dt."""
        y, dy = self.r * np.sinh(t), self.r * np.cosh(t)
        root = np.hypot(self.start, y)
        s = self.s0 + self.bend * (y * (y / (root + self.start))) + 1j * y
        return s, dy * (1j + self.bend * (y / root))

    def log_size(self, t: Array, jacobian: bool = True) -> Array:
        s, ds = self.points(t)
        sizes = self.q.cumulant(s).real - np.log(np.abs(s))
        sizes = sizes + np.log(np.abs(ds)) if jacobian else sizes
        return np.where(np.isnan(sizes), -math.inf, sizes)

    def integral(self) -> float:
        step = STEP / 2
        total = self.sum_at(np.arange(1, math.ceil(self.end / step)) * step)
        total += self.sum_at(np.zeros(1)) / 2
        old = math.inf
        while True:
            new = total * step / math.pi
            if abs(new - old) <= ENOUGH * abs(new):
                return min(max(new * math.exp(self.peak), 0.0), 1.0)
            n = math.ceil(self.end / step)
            if n > MOST_NODES:
                raise _too_hard()
            total += self.sum_at((np.arange(n) + 0.5) * step)
            old, step = new, step / 2

    def sum_at(self, t: Array) -> float:
        parts = []
        for k in range(0, len(t), 1 << 15):
            s, ds = self.points(t[k : k + (1 << 15)])
            terms = (np.exp(self.q.cumulant(s) - self.peak) / s * ds).imag
            parts.append(float(np.where(np.isfinite(terms), terms, 0.0).sum()))
        return -math.fsum(parts)


def _too_hard() -> Undecided:
    return Undecided(
        "the error of this quadratic rule could not be computed to 1e-6: its coefficients differ "
        "by too many orders of magnitude. Scale the features to similar sizes."
    )
