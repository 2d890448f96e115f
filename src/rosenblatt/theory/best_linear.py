"""Best linear: the hyperplane of least true error between two Gaussian classes.

    minimise over (w, b)   p1 Phi(-(w.m1 + b)/s1) + p0 Phi((w.m0 + b)/s0),    s_k^2 = w'S_k w

For a direction w the best offset is a root of a quadratic: where the weighted densities of the
scores are equal. Where the gradient by w vanishes, (t1 S1 + t0 S0) w is a multiple of m1 - m0 for
some t1, t0 [Anderson and Bahadur 1962], which need not both be positive. In canonical coordinates
(:mod:`.canonical`) these directions are

    w_i = m_i / (t1 (1 - v_i) + t0 v_i),     (t1, t0) = (cos a, sin a),

a curve with several minima and a pole for each axis. The starts are a grid on it, denser towards
the poles, and the axes, which with equal means are all there is. From the best starts the logarithm
of the error is minimised over all directions. Every rule that is tried bounds the least error from
above; constant rules are tried last.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit, ndtr

from rosenblatt.theory.canonical import Canonical

Array = npt.NDArray[Any]
BETWEEN = expit(np.linspace(-34.0, 34.0, 69))  # shares of the way from pole to pole
REFINED = 6  # starts from which it goes on
THIN = 1e-12  # a class that does not vary along w is given this share of the other's spread


def best_plane(
    at: Canonical, mean0: Array, mean1: Array, prior1: float
) -> tuple[Array, float] | None:
    """(w, b) of the best linear rule in the features as given; None if that is a constant."""
    if prior1 in (0.0, 1.0) or not (at.m.size or at.gap.any()):
        return None
    total = at.spreads[2]
    if at.gap.any():  # the classes never meet along a direction in which neither varies
        k = int(np.abs(at.gap).argmax())
        w = total.null[:, k] * np.sign(at.gap[k]) * total.scale
        return w, -float(w @ (mean0 + mean1)) / 2
    directions = _Directions(at.m, at.share, at.rest, prior1)
    v = directions.best()
    least = float(directions.errors(v[None])[0])
    if not least < min(prior1, 1 - prior1):
        return None
    w = v @ at.T
    return w, -float(directions.thresholds(v[None])[0]) - float(w @ mean0)


@dataclass(frozen=True, eq=False)
class _Directions:
    """Directions in canonical coordinates, and the least error that each allows."""

    m: Array
    share: Array
    rest: Array
    prior1: float

    def best(self) -> Array:
        """The direction of least error."""
        starts = self._starts()
        errors = self.errors(starts)
        order = np.argsort(errors, kind="stable")
        found = [starts[k] for k in order[:1]]
        for k in order[:REFINED]:
            found.append(self._descended(starts[k]))
        return np.asarray(found[int(np.argmin(self.errors(np.stack(found))))])

    def _starts(self) -> Array:
        """Rows: the curve between its poles, and the axes; both ways."""
        poles = np.unique(-np.arctan2(self.rest, self.share))
        ends = zip(poles, [*poles[1:], poles[0] + math.pi], strict=True)
        angle = np.concatenate([low + (high - low) * BETWEEN for low, high in ends])[:, None]
        below = np.cos(angle) * self.rest + np.sin(angle) * self.share
        curve = self.m / np.where(below == 0, 1e-300, below)
        rows = np.vstack([curve[curve.any(axis=1)], np.eye(len(self.m))])
        rows = rows / np.abs(rows).max(axis=1, keepdims=True)
        return np.vstack([rows, -rows])

    def _descended(self, w: Array) -> Array:
        """The end of a descent from w, on the logarithm of the error."""

        def height(v: Array) -> float:
            error = float(self.errors(v[None])[0])
            return math.log(error) if error > 0 else -1e3

        scale = np.abs(w).max()
        found = minimize(height, w / scale, method="BFGS", options={"gtol": 1e-9})
        return np.asarray(found.x if np.isfinite(found.x).all() and found.x.any() else w)

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
        logs = log_odds + np.log(s0) - np.log(s1)
        a = (s1 - s0) * (s1 + s0) / 2
        half, c = mean * s0**2 / 2, s0**2 * (logs * s1**2 - mean**2 / 2)
        # a t^2 + 2 half t + c = 0, and half^2 - a c without cancellation is
        disc = (s0 * s1) ** 2 * (mean**2 / 4 - a * logs)
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
