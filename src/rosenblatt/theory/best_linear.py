"""The hyperplane of least true error between two Gaussian classes.

    minimise over (w, b)   p1 Phi(-(w.m1 + b)/s1) + p0 Phi((w.m0 + b)/s0),    s_k^2 = w'S_k w

For a direction w the best offset is a root of a quadratic: where the weighted densities of the
scores are equal. Where the gradient by w vanishes, (t S1 + (1 - t) S0) w is a multiple of m1 - m0
for some t [Anderson and Bahadur 1962]. In the coordinates of :mod:`.covariance` that is

    w_i = m_i / (t (1 - v_i) + (1 - t) v_i).

The starts are a grid over t, between 0 and 1 and between the poles beyond, and the axes, which with
equal means are all there is. From the best starts the logarithm of the error is minimised over all
directions. Constant rules are tried last.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit, ndtr

from rosenblatt.theory.covariance import Coordinates

Array = npt.NDArray[Any]
BETWEEN = expit(np.linspace(-34.0, 34.0, 69))  # shares of the way from pole to pole
STARTS = 6
THIN = 1e-12  # a class that does not vary along w is given this share of the other's spread


def best_direction(at: Coordinates, prior1: float) -> tuple[Array, float] | None:
    """(v, t) of the best rule "class 1 where v.u >= t"; None if a constant is as good."""
    rule = _Rules(at, math.log(prior1) - math.log1p(-prior1), prior1)
    starts = _starts(at)
    order = np.argsort(rule.errors(starts), kind="stable")[:STARTS]
    ends = np.stack([starts[order[0]], *(_descended(rule, starts[k]) for k in order)])
    errors = rule.errors(ends)
    v = ends[int(np.argmin(errors))]
    if not errors.min() < min(prior1, 1 - prior1):
        return None
    return v, float(rule.thresholds(v[None])[0])


def _starts(at: Coordinates) -> Array:
    """Rows: the curve between its poles, and the axes; both ways."""
    poles = np.unique(-np.arctan2(at.rest, at.share))
    ends = zip(poles, [*poles[1:], poles[0] + math.pi], strict=True)
    angle = np.concatenate([low + (high - low) * BETWEEN for low, high in ends])[:, None]
    below = np.cos(angle) * at.rest + np.sin(angle) * at.share
    curve = at.m / np.where(below == 0, 1e-300, below)
    rows = np.vstack([curve[curve.any(axis=1)], np.eye(len(at.m))])
    rows = rows / np.abs(rows).max(axis=1, keepdims=True)
    return np.vstack([rows, -rows])


def _descended(rule: _Rules, start: Array) -> Array:
    """The end of a descent from a direction, on the logarithm of the error."""

    def height(v: Array) -> float:
        error = float(rule.errors(v[None])[0])
        return math.log(error) if error > 0 else -1e3

    found = minimize(height, start, method="BFGS", options={"gtol": 1e-9}).x
    return np.asarray(found if np.isfinite(found).all() and found.any() else start)


@dataclass(frozen=True, eq=False)
class _Rules:
    """The best threshold of each direction, a row of W, and its error."""

    at: Coordinates
    log_odds: float
    prior1: float

    def thresholds(self, W: Array) -> Array:
        """The best t: a root of equal weighted densities; infinite where there is no root."""
        mean, s0, s1 = self._scores(W)
        logs = self.log_odds + np.log(s0) - np.log(s1)
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
        return np.asarray(roots[self._errors_at(roots, W).argmin(axis=0), np.arange(len(W))])

    def errors(self, W: Array) -> Array:
        """The least error of each direction."""
        return self._errors_at(self.thresholds(W), W)

    def _scores(self, W: Array) -> tuple[Array, Array, Array]:
        """Mean of class 1, and both standard deviations, of the scores w.u."""
        s0, s1 = np.sqrt(W**2 @ self.at.share), np.sqrt(W**2 @ self.at.rest)
        least = THIN * np.maximum(np.maximum(s0, s1), 1e-300)
        return W @ self.at.m, np.maximum(s0, least), np.maximum(s1, least)

    def _errors_at(self, t: Array, W: Array) -> Array:
        mean, s0, s1 = self._scores(W)
        with np.errstate(over="ignore"):
            missed, false = ndtr((t - mean) / s1), ndtr(-t / s0)
        return np.asarray(self.prior1 * missed + (1 - self.prior1) * false)
