"""Plane: rows with two features, the window they are seen through, and lines cut by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.chunks import frame_names
from rosenblatt.data.problem import Problem
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.show.figures.canvas import plain

Array = npt.NDArray[Any]
RATIO = 4 / 3  # width to height of matplotlib's own figures, roughly that of their Axes
TOO_UNEQUAL = 12.0  # ranges of two features from which one unit cannot be as long on both axes


@dataclass(frozen=True, eq=False)
class Points:
    """Rows with two features and their class numbers, ready to be drawn."""

    X: Array
    codes: Array
    names: tuple[str, ...]  # of the classes
    axes: tuple[str, str]  # of the features

    @classmethod
    def of(cls, X: Any, y: Any, classes: Any = None) -> Points:
        """Checked as training checks them; two features, in memory and dense."""
        problem = Problem.of(X, y, classes=classes)
        check_two_features(problem.n_features)
        dense = problem.X.toarray() if sp.issparse(problem.X) else problem.X
        names = tuple(str(c) for c in problem.classes.tolist())
        return cls(
            np.asarray(dense, dtype=np.float64), problem.class_numbers(), names, axis_names(X)
        )

    @property
    def signs(self) -> Array:
        """-1 and +1 of two classes."""
        return 2 * self.codes - 1

    def label(self, ax: Any) -> None:
        """The names of the features on the axes."""
        ax.set_xlabel(self.axes[0])
        ax.set_ylabel(self.axes[1])


def check_two_features(n_features: int, what: str = "this picture") -> None:
    """DataError if a plane cannot show them."""
    if n_features != 2:
        raise DataError(
            f"{what} has two axes, so it needs rows with 2 features, got {n_features}. Fit on two "
            "columns, X[:, [0, 1]], or on a projection to two, such as PCA(2).fit_transform(X)."
        )


def axis_names(X: Any) -> tuple[str, str]:
    """Those of the columns of a frame, or x1 and x2."""
    names = frame_names(X)
    return (plain(names[0]), plain(names[1])) if names is not None else ("$x_1$", "$x_2$")


def hyperplane(w: Any, b: Any) -> tuple[Array, float]:
    """Two weights and an offset as floats, from whatever holds them."""
    dense = w.toarray() if sp.issparse(w) else w
    w = np.array([float(v) for v in np.ravel(dense)])
    check_two_features(len(w))
    b = float(np.ravel(b)[0])
    if not (np.isfinite(w).all() and np.isfinite(b)):
        raise ParameterError(f"a hyperplane needs finite weights, got w = {w}, b = {b}.")
    return w, b


@dataclass(frozen=True)
class Window:
    """What part of the plane is seen: left, right, bottom, top."""

    left: float
    right: float
    bottom: float
    top: float

    @classmethod
    def around(cls, X: Array, pad: float = 0.12, equal: bool = True) -> Window:
        """All rows and a border. `equal`: as wide for its height as Axes usually are."""
        low, high = X.min(axis=0), X.max(axis=0)
        size = high - low
        size = np.where(size > 0, size, max(float(size.max()), 1.0))
        middle, half = (low + high) / 2, size * (0.5 + pad)
        if equal:
            half = np.array([max(half[0], RATIO * half[1]), max(half[1], half[0] / RATIO)])
        return cls(
            *(float(v) for v in (middle[0] - half[0], middle[0] + half[0])),
            *(float(v) for v in (middle[1] - half[1], middle[1] + half[1])),
        )

    @property
    def corners(self) -> Array:
        """Counter-clockwise."""
        l, r, b, t = self.left, self.right, self.bottom, self.top
        return np.array([[l, b], [r, b], [r, t], [l, t]])

    @property
    def centre(self) -> Array:
        return np.array([(self.left + self.right) / 2, (self.bottom + self.top) / 2])

    @property
    def height(self) -> float:
        return self.top - self.bottom

    def contains(self, p: Any) -> bool:
        return bool(self.left <= p[0] <= self.right and self.bottom <= p[1] <= self.top)

    def show(self, ax: Any, equal: bool = True) -> None:
        """Fix the limits of the Axes; `equal`: one unit is as long on both axes."""
        ax.set_xlim(self.left, self.right)
        ax.set_ylim(self.bottom, self.top)
        if equal:
            ax.set_aspect("equal", adjustable="box")

    def grid(self, steps: int = 220) -> tuple[Array, Array, Array]:
        """Coordinates of a grid, and its points as rows."""
        x = np.linspace(self.left, self.right, steps)
        y = np.linspace(self.bottom, self.top, steps)
        xx, yy = np.meshgrid(x, y)
        return x, y, np.column_stack([xx.ravel(), yy.ravel()])

    def chord(self, w: Array, b: float) -> Array:
        """The two ends of w.x + b = 0 inside the window; no rows if it passes by.

        >>> Window(0.0, 2.0, 0.0, 2.0).chord(np.array([1.0, -1.0]), 0.0)
        array([[0., 0.],
               [2., 2.]])
        """
        side = self.clip([(w, b)])
        near = 1e-9 * (np.abs(self.corners).max(axis=0) @ np.abs(w) + abs(b))
        ends = side[np.abs(side @ w + b) <= near]
        if len(ends) < 2 or not w.any():
            return np.empty((0, 2))
        along = ends @ np.array([-w[1], w[0]])
        ends = ends[[int(along.argmin()), int(along.argmax())]]
        found: Array = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
        return found

    def clip(self, half_planes: list[tuple[Array, float]]) -> Array:
        """Corners of the part of the window with w.x + b >= 0 for all (w, b).

        One half-plane cuts after the other [Sutherland, Hodgman 1974].
        """
        polygon = self.corners
        for w, b in half_planes:
            polygon = _cut(polygon, w, b)
            if len(polygon) == 0:
                break
        return polygon


def _cut(polygon: Array, w: Array, b: float) -> Array:
    value = polygon @ w + b
    kept: list[Array] = []
    for k in range(len(polygon)):
        p, q, at_p, at_q = polygon[k - 1], polygon[k], value[k - 1], value[k]
        if (at_p >= 0) != (at_q >= 0) and at_p != 0 and at_q != 0:
            kept.append(p + (q - p) * (at_p / (at_p - at_q)))
        if at_q >= 0:
            kept.append(q)
    return np.array(kept) if kept else np.empty((0, 2))


def too_unequal(X: Array) -> bool:
    """Whether one of the features varies so much more that equal units hide the other."""
    low, high = sorted(np.ptp(X, axis=0))
    return bool(low > 0 and high > TOO_UNEQUAL * low)


def hull(X: Array) -> Array:
    """Corners of the convex hull, counter-clockwise; one or two if the rows lie on a line.

    Andrew's monotone chain [1979].

    >>> hull(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [0.0, 2.0], [0.5, 0.5]]))
    array([[0., 0.],
           [2., 0.],
           [0., 2.]])
    """
    points = np.unique(X, axis=0)
    if len(points) < 3:
        return points

    def half(points: Array) -> list[Array]:
        chain: list[Array] = []
        for p in points:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array(half(points) + half(points[::-1]))


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def equation(b: float, w: str = "w") -> str:
    """
    >>> print(equation(-2.5))
    $w \\cdot x - 2.5 = 0$
    """
    offset = f"{'+' if b > 0 else '-'} {abs(b):.3g} " if b else ""
    return f"${w} \\cdot x {offset}= 0$"
