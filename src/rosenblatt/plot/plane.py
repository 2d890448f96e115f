"""Rows with two features, the window of the plane that is drawn, and lines cut by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.matrix import frame_names
from rosenblatt.data.problem import Problem
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.plot.style import literal

Array = npt.NDArray[Any]
RATIO = 4 / 3  # width to height of Axes
TOO_UNEQUAL = 12.0  # ratio of two ranges from which equal units would hide the smaller
GRID = 250  # points along each axis at which regions are computed


@dataclass(frozen=True, eq=False)
class Points:
    """Rows and their class numbers, ready to be drawn.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The rows.
    codes : ndarray of shape (n,)
        The number of the class of each row.
    names : tuple of str
        Names of the classes.
    axes : tuple of str
        Names of the features.
    """

    X: Array
    codes: Array
    names: tuple[str, ...]
    axes: tuple[str, ...]

    @classmethod
    def of(cls, X: Any, y: Any, classes: Any = None) -> Points:
        """Validate rows and labels as training does."""
        problem = Problem.of(X, y, classes=classes)
        names = tuple(str(name) for name in problem.classes.tolist())
        columns = frame_names(X)
        axes = ("$x_1$", "$x_2$") if columns is None else tuple(map(literal, columns))
        return cls(dense(problem.X), problem.class_numbers(), names, axes)

    @classmethod
    def in_plane(cls, X: Any, y: Any, classes: Any = None) -> Points:
        """The same for rows that must have two features."""
        points = cls.of(X, y, classes)
        check_two_features(points.X.shape[1])
        return points

    @property
    def signs(self) -> Array:
        """-1 and +1 of two classes."""
        if len(self.names) != 2:
            raise LabelError(
                f"this picture shows two classes, y has {len(self.names)} "
                f"({', '.join(self.names[:5])}). To show one against the rest, pass y == label."
            )
        return 2 * self.codes - 1


def dense(X: Any) -> Array:
    """A dense float64 array."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def check_two_features(n_features: int) -> None:
    """Raise DataError if a plane cannot show them."""
    if n_features != 2:
        raise DataError(
            f"this picture needs rows with 2 features, got {n_features}. Fit on two columns, "
            "X[:, [0, 1]], or on two components, PCA(2).fit_transform(X)."
        )


def check_whole(name: str, value: Any, high: int) -> None:
    """Raise ParameterError unless this is a whole number from 1 to `high`."""
    if not isinstance(value, (int, np.integer)) or not 1 <= value <= high:
        raise ParameterError(f"{name} must be a whole number from 1 to {high}, got {value!r}.")


def equation(b: float, symbol: str = "w") -> str:
    """
    >>> print(equation(-2.5))
    $w \\cdot x - 2.5 = 0$
    """
    offset = f"{'+' if b > 0 else '-'} {abs(b):.3g} " if b else ""
    return f"${symbol} \\cdot x {offset}= 0$"


@dataclass(frozen=True)
class Window:
    """The part of the plane that is drawn.

    Attributes
    ----------
    left, right, bottom, top : float
        Its sides.
    equal : bool
        Whether both axes have the same scale.
    """

    left: float
    right: float
    bottom: float
    top: float
    equal: bool = True

    @classmethod
    def around(cls, X: Array, pad: float = 0.12, equal: bool | None = None) -> Window:
        """All rows and a border. By default units are equal unless that would hide a feature."""
        low, high = X.min(axis=0), X.max(axis=0)
        size = high - low
        if equal is None:
            equal = not 0 < TOO_UNEQUAL * size.min() < size.max()
        size = np.where(size > 0, size, max(float(size.max()), 1.0))
        middle, half = (low + high) / 2, size * (0.5 + pad)
        if equal:
            half = np.array([max(half[0], RATIO * half[1]), max(half[1], half[0] / RATIO)])
        (left, bottom), (right, top) = (middle - half).tolist(), (middle + half).tolist()
        return cls(left, right, bottom, top, equal)

    @property
    def corners(self) -> Array:
        """Counter-clockwise."""
        l, r, b, t = self.left, self.right, self.bottom, self.top
        return np.array([[l, b], [r, b], [r, t], [l, t]])

    @property
    def height(self) -> float:
        return self.top - self.bottom

    def grid(self, n: int = GRID) -> tuple[Array, Array, Array]:
        """Coordinates of a grid, and its points as rows."""
        x, y = np.linspace(self.left, self.right, n), np.linspace(self.bottom, self.top, n)
        return x, y, np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)

    def chord(self, w: Array, b: float) -> Array:
        """The two ends of w.x + b = 0 in the window; no rows if it does not cross.

        >>> Window(0.0, 2.0, 0.0, 2.0).chord(np.array([1.0, -1.0]), 0.0)
        array([[0., 0.],
               [2., 2.]])
        """
        side = self.clip([(w, b)])
        near = 1e-9 * (np.abs(self.corners).max(axis=0) @ np.abs(w) + abs(b))
        ends = side[np.abs(side @ w + b) <= near]
        if len(ends) < 2 or not w.any():
            return np.empty((0, 2))
        ends = ends[np.argsort(ends @ np.array([-w[1], w[0]]))[[0, -1]]]
        found: Array = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
        return found

    def clip(self, half_planes: Sequence[tuple[Array, float]]) -> Array:
        """Corners of the part of the window with w.x + b >= 0 for all (w, b).

        One half-plane cuts after the other [Sutherland, Hodgman 1974].
        """
        polygon = self.corners
        for w, b in half_planes:
            value, kept = polygon @ w + b, []
            for k, corner in enumerate(polygon):
                before, after = value[k - 1], value[k]
                if before and after and (before < 0) != (after < 0):
                    share = before / (before - after)
                    kept.append(polygon[k - 1] + (corner - polygon[k - 1]) * share)
                if after >= 0:
                    kept.append(corner)
            polygon = np.array(kept).reshape(-1, 2)
        return polygon


def hull(X: Array) -> Array:
    """Corners of the convex hull, counter-clockwise; one or two if the rows lie on a line.

    >>> hull(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [0.0, 2.0], [0.5, 0.5]])).tolist()
    [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]]
    """
    from scipy.spatial import ConvexHull, QhullError

    points = np.unique(X, axis=0)
    try:
        corners: Array = points[ConvexHull(points).vertices]
    except QhullError:  # on one line, or fewer than three
        corners = points[[0, -1]][: len(points)]
    return corners
