"""Bounds: what a run was allowed to do, beside what it did.

Novikoff: let z_i = y_i (x_i, 1) (y_i x_i without offset), R = max ||z_i||, and u a unit
vector with z_i . u >= gamma > 0 for all i. Each mistake adds at least eta gamma to w.u and
at most eta^2 R^2 to ||w||^2, so from w = 0 there are at most R^2 / gamma^2 mistakes. From
w_0 != 0 the number M of mistakes satisfies

    (w_0.u + eta M gamma)^2 <= ||w_0||^2 + eta^2 M R^2.

A rule that also moves at margins up to tau adds 2 eta tau more, so R^2 + 2 tau / eta takes
the place of R^2. Half updates at a score of 0 (tie="half") cost at most 9/8 as many.

The margins here are floating-point numbers; certificates are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.problem import Problem
from rosenblatt.errors import ParameterError

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class MistakeBound:
    """R, the margin of one hyperplane (offset inside the norm), and what they allow.

    `mistakes` is infinite if the hyperplane does not separate the rows.
    """

    radius: float
    margin: float
    mistakes: float


def radius(X: Any, intercept: bool) -> float:
    """R = max ||(x_i, 1)||, or max ||x_i|| without offset.

    >>> radius(np.array([[3.0, 4.0]]), intercept=False)
    5.0
    """
    squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
    return math.sqrt(float(np.max(squares)) + (1.0 if intercept else 0.0))


def margin(problem: Problem, w: Array, b: float, intercept: bool) -> float:
    """min_i y_i (w.x_i + b) / ||(w, b)||: the distance of the nearest z_i to the hyperplane.

    Negative if some row is on the wrong side, 0 for w = 0.
    """
    norm = math.sqrt(float(np.sum(np.square(w, dtype=np.float64))) + (b * b if intercept else 0.0))
    if norm == 0:
        return 0.0
    scores = problem.X @ np.asarray(w, dtype=np.float64) + (b if intercept else 0.0)
    return float(np.min(problem.y * scores)) / norm


def mistake_bound(
    problem: Problem,
    w: Any,
    b: Any = 0.0,
    *,
    intercept: bool = True,
    eta: float = 1.0,
    start: tuple[Array, float] | None = None,
    tie: str = "mistake",
    tau: float = 0.0,
) -> MistakeBound:
    """How many updates the hyperplane (w, b) allows a run that starts at `start` (or zero).

    `w` and `b` may be a fitted ``coef_`` and ``intercept_``. For tie="half" no bound is known
    here from a start other than zero: infinite.

    Examples
    --------
    >>> p = Problem.of([[1.0], [-1.0]], [1, -1])
    >>> mistake_bound(p, np.array([1.0]), 0.0, intercept=False).mistakes
    1.0
    """
    w, b = np.ravel(w).astype(np.float64), float(np.ravel(b)[0])
    if w.size != problem.n_features or len(problem.classes) != 2:
        raise ParameterError(
            f"a hyperplane for two classes and {problem.n_features} features is asked for, got "
            f"{w.size} weights and {len(problem.classes)} classes."
        )
    if not eta > 0 or tie not in ("mistake", "positive", "correct", "half"):
        raise ParameterError(f"eta must be > 0 and tie one of the four, got {eta!r}, {tie!r}.")
    R, gamma = radius(problem.X, intercept), margin(problem, w, b, intercept)
    if gamma <= 0 or (tie == "half" and start is not None):
        return MistakeBound(R, gamma, math.inf)
    growth = R * R + 2 * tau / eta
    if start is None:
        return MistakeBound(R, gamma, growth / gamma**2 * (9 / 8 if tie == "half" else 1))
    u = np.append(np.asarray(w, dtype=np.float64), b if intercept else 0.0)
    w0 = np.append(np.asarray(start[0], dtype=np.float64), start[1] if intercept else 0.0)
    along, square = float(w0 @ u) / float(np.linalg.norm(u)), float(w0 @ w0)
    # eta^2 gamma^2 M^2 + (2 along eta gamma - eta^2 growth) M + along^2 - square <= 0
    a = (eta * gamma) ** 2
    half = along * eta * gamma - eta * eta * growth / 2
    root = math.sqrt(max(half * half - a * (along * along - square), 0.0))
    return MistakeBound(R, gamma, max(0.0, (root - half) / a))
