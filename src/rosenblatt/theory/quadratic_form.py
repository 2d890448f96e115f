"""Quadratic forms in normal variables: the probability of a negative value.

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
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from rosenblatt.errors import UndecidedError

Array = npt.NDArray[Any]
ENOUGH = 1e-9  # two sums must agree to this, relatively; the finer one is far better
MOST_NODES = 1 << 21
NEGLIGIBLE = 42.0  # exp(-42) of the peak is rounding
UNDERFLOW = -745.0  # exp of less is 0 in floats
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
    def of(
        cls, square: Any, slope: Any, constant: Any, vertex: Any = None, more: float = 0.0
    ) -> Quadratic:
        """sum_i square_i z_i^2 + slope_i z_i + constant.

        With `vertex`, there is a constant for each term, vertex_i is the least or largest value of
        the term, known more precisely than constant_i - slope_i^2 / (4 square_i), and `more` is
        added.
        """
        a, g = np.asarray(square, dtype=np.float64), np.asarray(slope, dtype=np.float64)
        near = (np.abs(g) <= 2 * np.abs(a)) & (a != 0)  # the vertex is within 1 of the origin
        h = np.divide(g, 2 * a, out=np.zeros_like(g), where=near)
        if vertex is None:
            total = constant - np.sum(a * h * h)
        else:
            total = np.sum(np.where(near, vertex, constant)) + more
        return cls(a, h, np.where(near, 0.0, g), float(total))

    def positive(self) -> float:
        """P(q > 0), as accurately as `negative`."""
        return Quadratic(-self.square, self.shift, -self.slope, -self.constant).negative()

    def negative(self) -> float:
        """P(q < 0), to about 1e-12 of itself if it is small."""
        size = float(np.maximum(np.abs(self.square), np.abs(self.slope)).max(initial=0.0))
        if size == 0:
            return float(self.constant < 0)
        a, g = self.square / size, self.slope / size
        a = np.where(np.abs(a) <= 1e-18 * np.abs(g), 0.0, a)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            q = Quadratic(a, self.shift, g, float(np.float64(self.constant) / size))
            mirrored = Quadratic(-a, self.shift, -g, -q.constant)
            if q._never_negative() or mirrored._never_negative():
                return float(not q._never_negative())
            mean = q.constant + float(np.sum(a * (1 + q.shift**2)))
            return _tail(q) if mean > 0 else 1.0 - _tail(mirrored)

    def vertex(self) -> float:
        """q where its derivatives vanish, the coordinates without a square left out."""
        bent = self.square != 0
        return self.constant - float(np.sum(self.slope[bent] ** 2 / (4 * self.square[bent])))

    def _never_negative(self) -> bool:
        convex = (self.square > 0) | ((self.square == 0) & (self.slope == 0))
        return bool(convex.all() and self.vertex() >= 0)

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


def _saddle(q: Quadratic) -> float:
    """The least K(s) - log(-s) for s < 0 right of the singularities; any near it will do."""
    falling = -q.square[q.square < 0]
    lowest = math.log(0.5 / float(falling.max())) if falling.size else 300.0
    lowest -= 1e-13 * max(1.0, abs(lowest))

    def slope(t: float) -> float:
        s = -math.exp(t)
        return q.derivatives(s)[0] * -s + 1.0  # times |s|, for the same sign

    if slope(lowest) > 0:
        return -math.exp(lowest)
    return -math.exp(brentq(slope, -300.0, lowest, xtol=1e-6, rtol=1e-12))


def _tail(q: Quadratic) -> float:
    """P(q < 0) where q is positive in the mean."""
    s0 = _saddle(q)
    r = 1 / math.sqrt(q.derivatives(s0)[1] + 1 / s0**2)
    peak = float(q.cumulant(np.array([s0]))[0]) - math.log(-s0) + math.log(r)
    if peak < UNDERFLOW:
        return 0.0
    bend = -math.copysign(BEND, q.vertex())

    def integrand(t: Array, start: float) -> tuple[Array, Array, Array]:
        """K(s), s and ds/dt on the path that bends from y = start on."""
        y, dy = r * np.sinh(t), r * np.cosh(t)
        root = np.hypot(start, y)
        s = s0 + bend * (y * (y / (root + start))) + 1j * y
        return q.cumulant(s), s, dy * (1j + bend * (y / root))

    grid = np.arange(0.0, 160.0, STEP)
    for power in range(0, 60, 2):  # the path that bends earliest and never exceeds the saddle
        start = r * 2.0**power
        K, s, ds = integrand(grid, start)
        size = np.nan_to_num(K.real - np.log(np.abs(s)), nan=-math.inf)
        if size.max() <= size[0] + 0.7:
            alive = np.flatnonzero(size + np.log(np.abs(ds)) > peak - NEGLIGIBLE)
            return math.exp(peak) * _trapezoid(integrand, start, peak, STEP * (int(alive[-1]) + 2))
    raise _too_hard()


def _trapezoid(integrand: Any, start: float, peak: float, end: float) -> float:
    """The integral over t from 0 to end, divided by pi exp(peak)."""

    def summed(t: Array) -> float:
        total = 0.0
        for part in np.array_split(t, 1 + len(t) // (1 << 15)):
            K, s, ds = integrand(part, start)
            total -= float(
                np.nan_to_num((np.exp(K - peak) / s * ds).imag, posinf=0, neginf=0).sum()
            )
        return total

    step, old = STEP / 2, math.inf
    total = summed(np.arange(1, math.ceil(end / step)) * step) + summed(np.zeros(1)) / 2
    while abs(total * step - old) > ENOUGH * abs(total * step):
        n = math.ceil(end / step)
        if n > MOST_NODES:
            raise _too_hard()
        old = total * step
        total, step = total + summed((np.arange(n) + 0.5) * step), step / 2
    return min(max(total * step / math.pi, 0.0), math.exp(min(-peak, 700.0)))


def _too_hard() -> UndecidedError:
    return UndecidedError(
        "the error of this quadratic rule could not be computed to 1e-6: its coefficients differ "
        "by too many orders of magnitude. Scale the features to similar sizes."
    )
