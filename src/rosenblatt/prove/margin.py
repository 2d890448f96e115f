"""Margin: the hyperplane of largest margin (optimal stability), with both bounds.

The largest margin is a distance, so it is found as one:

- offset free: half the distance of the two convex hulls, the norm of the smallest point of
  {x_i - x_j : y_i = +1, y_j = -1};
- offset inside the norm (the constant 1 as a feature), or no offset: the norm of the smallest
  point of the hull of the z_i = y_i (x_i, 1), or y_i x_i.

Wolfe's algorithm (1976) walks over corrals, affinely independent sets of vertices, and ends
after finitely many. At every step, any point p of the set bounds the margin from above by its
norm, and the hyperplane it points along has at least the smallest p.v / ||p|| from below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.problem import Problem
from rosenblatt.errors import RosenblattError
from rosenblatt.prove.certificate import Certificate, Separable
from rosenblatt.prove.separability import separability

Array = npt.NDArray[Any]


class NotSeparable(RosenblattError, ValueError):
    """There is no margin to maximise; `certificate` proves it."""

    def __init__(self, certificate: Certificate) -> None:
        self.certificate = certificate
        super().__init__(
            f"the classes are {certificate.verdict}, so no margin is positive. The proof is in "
            f"`certificate`:\n{certificate.explain()}"
        )


@dataclass(frozen=True, eq=False)
class MaxMargin:
    """The hyperplane (w, b) and the interval its margin and the largest one lie in.

    `lower` is the margin of (w, b), `upper` bounds every margin; floating-point numbers.
    `augmented`: whether the offset is counted in the norm of the weights. `support`: the rows
    that hold the hyperplane in its place.
    """

    w: Array
    b: float
    lower: float
    upper: float
    augmented: bool
    support: tuple[int, ...]
    n_steps: int

    def __str__(self) -> str:
        return (
            f"largest margin between {self.lower:.9g} and {self.upper:.9g}, held by "
            f"{len(self.support)} rows ({self.n_steps} steps)"
        )


def max_margin(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    augmented: bool = False,
    rtol: float = 1e-6,
    max_steps: int = 100_000,
) -> MaxMargin:
    """The hyperplane of largest margin, its bounds within `rtol` of each other.

    After `max_steps` it gives back what it has; `lower` and `upper` say how good that is.

    Parameters
    ----------
    fit_intercept : bool, default=True
        With an offset, or through the origin.
    augmented : bool, default=False
        Count the offset in the norm, as the mistake bound does.

    Examples
    --------
    >>> found = max_margin([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]], [0, 0, 1, 1])
    >>> found.w, found.b, round(found.lower, 6), round(found.upper, 6)
    (array([1., 0.]), -1.0, 1.0, 1.0)
    """
    certificate = separability(X, y, fit_intercept=fit_intercept)
    if not isinstance(certificate, Separable):
        raise NotSeparable(certificate)
    problem = Problem.of(X, y)
    pairs = fit_intercept and not augmented
    vertices = _Vertices(problem, fit_intercept, pairs)
    start = _direction(
        [*certificate.w, certificate.b] if fit_intercept and not pairs else certificate.w
    )
    point, smallest, corral, steps = _smallest_point(vertices, start, rtol, max_steps)
    unit = point / float(np.linalg.norm(point))
    scores = vertices.scores(unit)
    if pairs:
        low = float(scores[vertices.positive].min())
        high = float(scores[vertices.negative].max())
        w, b, lower, upper = unit, -(low + high) / 2, (low - high) / 2, smallest / 2
    else:
        d = problem.n_features
        w, b = (unit[:d], float(unit[d])) if fit_intercept else (unit, 0.0)
        lower, upper = float((scores * problem.y).min()), smallest
    support = tuple(sorted({i for vertex in corral for i in vertex}))
    return MaxMargin(w, b, lower, upper, fit_intercept and not pairs, support, steps)


def _direction(w: Sequence[float | Fraction]) -> Array:
    """The same direction in floats, whatever the size of the numbers."""
    top = max((abs(Fraction(v)) for v in w), default=Fraction(0)) or Fraction(1)
    return np.array([float(Fraction(v) / top) for v in w])


@dataclass
class _Vertices:
    """The vertices of the set, reached through the one that a direction likes least."""

    problem: Problem
    intercept: bool
    pairs: bool

    def __post_init__(self) -> None:
        self.positive = np.flatnonzero(self.problem.y > 0)
        self.negative = np.flatnonzero(self.problem.y < 0)

    def scores(self, w: Array) -> Array:
        d = self.problem.n_features
        offset = w[d] if self.intercept and not self.pairs else 0.0
        return np.asarray(self.problem.X @ w[:d] + offset, dtype=np.float64)

    def least(self, w: Array) -> tuple[int, ...]:
        """The vertex v with the smallest w.v: a pair of rows, or one row."""
        scores = self.scores(w)
        if self.pairs:
            i = self.positive[np.argmin(scores[self.positive])]
            j = self.negative[np.argmax(scores[self.negative])]
            return int(i), int(j)
        return (int(np.argmin(scores * self.problem.y)),)

    def vector(self, vertex: tuple[int, ...]) -> Array:
        rows = self.problem.X[list(vertex)]
        dense = np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)
        if self.pairs:
            return np.asarray(dense[0] - dense[1])
        row = np.append(dense[0], 1.0) if self.intercept else dense[0]
        return np.asarray(row * float(self.problem.y[vertex[0]]))


def _smallest_point(
    vertices: _Vertices, start: Array, rtol: float, max_steps: int
) -> tuple[Array, float, list[tuple[int, ...]], int]:
    """Wolfe: the point that points best, the smallest norm met, the last corral, the steps.

    The norm of every point of the set is a bound from above; the direction of a point is worth
    what its least vertex says.
    """
    corral = [vertices.least(start)]
    V = vertices.vector(corral[0])[None]
    weights = np.ones(1)
    point = V[0]
    best_lower, best, smallest = -np.inf, point, np.inf
    steps = 0
    while steps < max_steps:
        steps += 1
        norm = float(np.linalg.norm(point))
        vertex = vertices.least(point)
        new = vertices.vector(vertex)
        smallest = min(smallest, norm)
        lower = float(point @ new) / norm if norm > 0 else 0.0
        if lower > best_lower:
            best_lower, best = lower, point
        if norm - lower <= rtol / 4 * norm or vertex in corral:
            break
        corral, V, weights = [*corral, vertex], np.vstack([V, new]), np.append(weights, 0.0)
        while True:
            affine = _affine_minimum(V)
            if (affine > 1e-12).all():
                weights = affine
                break
            down = affine <= 1e-12
            theta = min(1.0, float(np.min(weights[down] / (weights[down] - affine[down] + 1e-300))))
            weights = np.maximum(theta * affine + (1 - theta) * weights, 0.0)
            keep = weights > 1e-14
            keep[np.argmin(np.where(down, weights, np.inf))] = False
            corral = [c for c, k in zip(corral, keep, strict=True) if k]
            V, weights = V[keep], weights[keep] / weights[keep].sum()
        point = weights @ V
    return best, smallest, corral, steps


def _affine_minimum(V: Array) -> Array:
    """Weights, summing to 1, of the point of smallest norm in the affine hull of the rows."""
    if len(V) == 1:
        return np.ones(1)
    rest, *_ = np.linalg.lstsq((V[1:] - V[0]).T, -V[0], rcond=None)
    return np.append(1.0 - rest.sum(), rest)
