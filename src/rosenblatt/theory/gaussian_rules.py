"""Rules: a linear or a quadratic score, class 1 where it is >= 0, and its exact error.

With x of class k distributed as N(m_k, S_k), a linear score w.x + b is normal, with mean w.m_k + b
and variance w'S_k w: both are summed without rounding. A quadratic score is a quadratic in
standard normals (:mod:`.quadratic_form`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from rosenblatt.errors import DataError
from rosenblatt.theory.covariance import Spread, exact
from rosenblatt.theory.quadratic_form import Quadratic

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class LinearRule:
    """Class 1 where w.x + b >= 0. A rule with w = 0 is constant.

    Attributes
    ----------
    w, b : array, float
    error : float
        Its exact error for the pair it was made for.
    """

    w: Array
    b: float
    error: float

    def decision(self, X: Any) -> Array:
        """w.x + b for each row."""
        return np.asarray(as_points(X, len(self.w)) @ self.w + self.b)

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """0 or 1 for each row."""
        return np.asarray(self.decision(X) >= 0, dtype=np.int64)

    def __str__(self) -> str:
        return f"linear rule w = {self.w}, b = {self.b:.9g}, error {self.error:.9g}"


@dataclass(frozen=True, eq=False)
class QuadraticRule:
    """Class 1 where x'A x + w.x + b >= 0.

    Attributes
    ----------
    A, w, b : array, array, float
    error : float
        Its error for the pair it was made for.
    """

    A: Array
    w: Array
    b: float
    error: float

    def decision(self, X: Any) -> Array:
        """x'A x + w.x + b for each row."""
        points = as_points(X, len(self.w))
        return np.asarray(np.sum((points @ self.A) * points, axis=1) + points @ self.w + self.b)

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """0 or 1 for each row."""
        return np.asarray(self.decision(X) >= 0, dtype=np.int64)


def as_points(X: Any, d: int) -> Array:
    """Rows of d numbers."""
    points = np.asarray(X, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 and d == 1 else points
    if points.ndim != 2 or points.shape[1] != d:
        raise DataError(f"X has shape {np.shape(X)}. Give rows of {d} features, shape (n, {d}).")
    return points


def as_plane(w: Any, b: Any, d: int) -> tuple[Array, float]:
    """Weights and offset, also as `coef_` and `intercept_` have them."""
    weights, offset = np.asarray(w, np.float64).reshape(-1), np.asarray(b, np.float64).reshape(-1)
    if weights.shape != (d,) or offset.shape != (1,):
        raise DataError(
            f"w has shape {np.shape(w)} and b {np.shape(b)}, but there are {d} features. Give {d} "
            "weights and one offset."
        )
    if not (np.isfinite(weights).all() and np.isfinite(offset).all()):
        raise DataError("w or b is not finite. Give finite numbers.")
    return weights, float(offset[0])


def sides(w: Array, b: float, mean: Array, S: Array) -> tuple[float, float]:
    """P(w.x + b < 0) and P(w.x + b >= 0) for x of N(mean, S), from exact sums."""
    row = exact(w[None, :])
    score = (row * exact(mean[:, None]))[0, 0] + exact([[b]])[0, 0]
    variance = (row * exact(S) * row.transpose())[0, 0]
    if variance <= 0:
        return float(score < 0), float(score >= 0)
    square = score * score / variance
    try:
        size = math.sqrt(Fraction(int(square.p), int(square.q)))
    except OverflowError:
        size = math.inf
    size = -size if score < 0 else size
    return float(ndtr(-size)), float(ndtr(size))


def quadratic_of(A: Array, w: Array, b: float, mean: Array, R: Array) -> Quadratic:
    """x'A x + w.x + b for x = mean + R z, as a quadratic in z along the axes of R'A R."""
    m, S = exact(mean[:, None]), exact((A + A.T) / 2)
    row = exact(w[None, :])
    constant = (m.transpose() * S * m + row * m)[0, 0] + exact([[b]])[0, 0]
    slope = [float(Fraction(int(v.p), int(v.q))) for v in (2 * (m.transpose() * S) + row).entries()]
    at = float(Fraction(int(constant.p), int(constant.q)))
    inside = R.T @ ((A + A.T) / 2) @ R
    values, axes = np.linalg.eigh((inside + inside.T) / 2)
    return Quadratic.of(values, np.array(slope) @ R @ axes, at)


def log_odds_coefficients(
    means: tuple[Array, Array], spreads: tuple[Spread, Spread], log_odds: float
) -> tuple[Array, Array, float]:
    """(A, w, b) of log p1 f1(x) - log p0 f0(x) = x'A x + w.x + b.

    A = (S0^-1 - S1^-1) / 2,   w = S1^-1 m1 - S0^-1 m0,
    b = (m0'S0^-1 m0 - m1'S1^-1 m1 + log(det S0 / det S1)) / 2 + log(p1 / p0).
    """
    inverses = [spread.inverse for spread in spreads]
    slopes = [S @ m for S, m in zip(inverses, means, strict=True)]
    heights = [m @ s for m, s in zip(means, slopes, strict=True)]
    logs = spreads[0].log_determinant - spreads[1].log_determinant
    b = float(heights[0] - heights[1] + logs) / 2 + log_odds
    return (inverses[0] - inverses[1]) / 2, slopes[1] - slopes[0], b
