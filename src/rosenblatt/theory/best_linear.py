"""Best linear: the hyperplane of least true error between two Gaussian classes.

    minimise over (w, b)   p1 Phi(-(w.m1 + b)/s1) + p0 Phi((w.m0 + b)/s0),    s_k^2 = w'S_k w

Where the gradient vanishes, (t1 S1 + t0 S0) w is a multiple of m1 - m0 for some t1, t0 [Anderson
and Bahadur 1962]. Only the ratio of t1 and t0 matters, so the candidates lie on one curve; t1, t0
need not both be positive, and the error along the curve has several minima. In canonical
coordinates (:mod:`.canonical`) the curve is

    w_i = m_i / (t1 (1 - v_i) + t0 v_i),     (t1, t0) = (cos a, sin a).

It has a pole for each i. If m_i = 0 the curve does not turn towards axis i at its pole, and
w + h e_i, any h, has to be tried there as well: with equal means, only these are left. Both
constant rules are candidates. For each direction the offset is the better root of a quadratic.
Every candidate is an upper bound of the least error, and the best one is refined.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from rosenblatt.theory.canonical import Canonical

Array = npt.NDArray[Any]
REACH = np.linspace(-34.0, 34.0, 137)  # logits: both ends of an interval are approached to 1e-15
REFINED = 12  # candidates that are refined
THIN = 1e-12  # a class that does not vary along w is given this share of the other's spread


def best_plane(
    at: Canonical, mean0: Array, mean1: Array, prior1: float
) -> tuple[Array, float] | None:
    """(w, b) of the best linear rule in the features as given; None if that is a constant."""
    if prior1 in (0.0, 1.0):
        return None
    total = at.spreads[2]
    if at.gap.any():  # the classes never meet along a direction in which neither varies
        k = int(np.abs(at.gap).argmax())
        w = total.null[:, k] * np.sign(at.gap[k]) * total.scale
        return w, -float(w @ (mean0 + mean1)) / 2
    found = Search(at.m, at.share, at.rest, prior1).best() if at.m.size else None
    if found is None:
        return None
    w = found[0] @ at.T
    return w, found[1] - float(w @ mean0)


@dataclass(frozen=True, eq=False)
class Search:
    """Directions in canonical coordinates, and the least error that each allows."""

    m: Array
    share: Array
    rest: Array
    prior1: float

    def best(self) -> tuple[Array, float] | None:
        """w and b for scores w.u + b; None if a constant rule does as well."""
        arcs = [self._arc(a, b) for a, b in self._intervals()] if self.m.any() else []
        lines = [self._line(i) for i in range(len(self.m))]
        tried = []
        for direction in (*arcs, *lines):
            W = np.stack([direction(t) for t in REACH])
            for sign in (1.0, -1.0):
                errors = self.errors(sign * W)
                tried += [(float(errors[k]), sign, REACH[k], direction) for k in _dips(errors)]
        tried.sort(key=lambda found: found[0])
        best, least = None, min(self.prior1, 1 - self.prior1)
        for _, sign, t, direction in tried[:REFINED]:
            w = self._refined(direction, sign, t)
            error = float(self.errors(w[None])[0])
            if error < least:
                best, least = w, error
        return None if best is None else (best, float(-self.thresholds(best[None])[0]))

    def _refined(self, direction: Callable[[float], Array], sign: float, t: float) -> Array:
        def error(x: float) -> float:
            return float(self.errors(sign * direction(x)[None])[0])

        step = REACH[1] - REACH[0]
        found = minimize_scalar(
            error, bounds=(t - step, t + step), method="bounded", options={"xatol": 1e-10}
        )
        return sign * direction(float(found.x) if found.fun < error(t) else t)

    # ---------------------------------------------------------------- directions

    def _intervals(self) -> list[tuple[float, float]]:
        """Between neighbouring poles, around the half circle."""
        poles = np.unique(-np.arctan2(self.rest, self.share))
        return list(zip(poles, [*poles[1:], poles[0] + math.pi], strict=True))

    def _arc(self, low: float, high: float) -> Callable[[float], Array]:
        def direction(t: float) -> Array:
            a, b = _parts(t)
            angle = low + (high - low) * a if a < b else high - (high - low) * b
            below = math.cos(angle) * self.rest + math.sin(angle) * self.share
            below = np.where(below == 0, 1e-300, below)
            return _unit(self.m / below)

        return direction

    def _line(self, i: int) -> Callable[[float], Array]:
        """At the pole of i: the rest of the curve there, plus any multiple of axis i."""
        below = self.share[i] * self.rest - self.rest[i] * self.share
        far = np.abs(below) > 1e-12
        base = np.divide(self.m, below, out=np.zeros_like(self.m), where=far)
        base = _unit(base) if base.any() else base
        axis = np.zeros_like(base)
        axis[i] = 1.0

        def direction(t: float) -> Array:
            return _unit(base + math.sinh(t / 2) * axis) if base.any() else axis

        return direction

    # -------------------------------------------------------------------- errors

    def spreads(self, W: Array) -> tuple[Array, Array, Array]:
        """Mean of class 1, and both standard deviations, of the scores w.u."""
        s0, s1 = np.sqrt(W**2 @ self.share), np.sqrt(W**2 @ self.rest)
        least = THIN * np.maximum(np.maximum(s0, s1), 1e-300)
        return W @ self.m, np.maximum(s0, least), np.maximum(s1, least)

    def thresholds(self, W: Array) -> Array:
        """The best t for "class 1 where w.u >= t": a root of equal weighted densities.

        Infinite, a constant rule, only where there is no root.
        """
        mean, s0, s1 = self.spreads(W)
        log_odds = math.log(self.prior1) - math.log1p(-self.prior1)
        a = (s1 - s0) * (s1 + s0) / 2
        half, c = mean * s0**2 / 2, -((mean * s0) ** 2) / 2
        c = c + (log_odds + np.log(s0) - np.log(s1)) * (s0 * s1) ** 2
        # a t^2 + 2 half t + c = 0
        disc = half**2 - a * c
        root = np.sqrt(np.maximum(disc, 0.0))
        q = -(half + np.where(half >= 0, root, -root))
        constant = -math.inf if self.prior1 > 0.5 else math.inf
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            roots = np.stack([q / a, c / q])
        roots = np.where(np.isnan(roots) | (disc < 0), constant, roots)
        errors = self._errors_at(roots, mean, s0, s1)
        return np.asarray(roots[errors.argmin(axis=0), np.arange(len(W))])

    def errors(self, W: Array) -> Array:
        """The least error of each direction."""
        mean, s0, s1 = self.spreads(W)
        return np.asarray(self._errors_at(self.thresholds(W)[None], mean, s0, s1)[0])

    def _errors_at(self, t: Array, mean: Array, s0: Array, s1: Array) -> Array:
        with np.errstate(over="ignore"):
            missed, false = ndtr((t - mean) / s1), ndtr(-t / s0)
        return np.asarray(self.prior1 * missed + (1 - self.prior1) * false)


def _parts(t: float) -> tuple[float, float]:
    """1 / (1 + exp(-t)) and one minus it, both precisely."""
    e = math.exp(-abs(t))
    small, large = e / (1 + e), 1 / (1 + e)
    return (small, large) if t < 0 else (large, small)


def _unit(w: Array) -> Array:
    w = w / np.abs(w).max()
    return np.asarray(w / np.linalg.norm(w))


def _dips(values: Array) -> list[int]:
    """Where a sequence is no larger than on either side."""
    padded = np.concatenate([[math.inf], values, [math.inf]])
    below, above = values <= padded[:-2], values <= padded[2:]
    found: list[int] = np.flatnonzero(below & above).tolist()
    return [k for k in found if k - 1 not in found]  # one of a plateau
