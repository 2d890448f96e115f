"""VersionSpaceDisplay: which weights are still allowed.

A row allows the weights with y (w.x) > 0. With two weights that is half of their plane, with the
origin on its edge, and what all rows allow is a cone, the version space. It is empty if no
hyperplane through the origin separates the rows.

An offset is a third weight. One feature with an offset has two weights again, w and b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rosenblatt.errors import NotSupportedError
from rosenblatt.plot.canvas import Canvas, Display
from rosenblatt.plot.plane import Array, Points, Window, check_two_features
from rosenblatt.plot.run import recorded_rows
from rosenblatt.plot.style import DASHES, Axes, literal

MAX_EDGES = 200  # half-planes whose edges are drawn
MAX_ARROWS = 12  # half-planes whose sides are marked


@dataclass(eq=False, repr=False)
class VersionSpaceDisplay(Display):
    """The plane of the weights: the half-plane that each row allows, and what all rows allow.

    Parameters
    ----------
    points : Points
        The rows.
    normals : ndarray of shape (n, 2)
        The vectors y x, or y (x, 1) for one feature: a row allows the weights on its side.
    window : Window
        The part of the plane that is drawn.
    corners : ndarray of shape (k, 2)
        Corners of the version space in the window, counter-clockwise; no rows if there are none.
    path : ndarray of shape (m, 2)
        The weights of a run; no rows if none is drawn.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    edges_ : list of Line2D
        Edges of the half-planes.
    space_, path_ : artist or None
        The version space and the run.

    Examples
    --------
    >>> from rosenblatt import VersionSpaceDisplay
    >>> display = VersionSpaceDisplay.from_data([[1, 2], [-1, 2], [0, -1]], [1, -1, -1])
    >>> display.corners
    array([[0. , 0. ],
           [1. , 0. ],
           [1. , 0.5]])
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    points: Points
    normals: Array
    window: Window
    corners: Array
    path: Array

    @classmethod
    def from_data(cls, X: Any, y: Any, **options: Any) -> Self:
        """Draw what these rows allow.

        Parameters
        ----------
        X : array-like of shape (n, 1) or (n, 2)
            Rows. Two features: the plane of (w_1, w_2), without offset. One feature: the plane
            of (w, b).
        y : array-like of shape (n,)
            Labels of two classes.
        **options : dict
            Passed to `plot`, for example `ax`.

        Returns
        -------
        VersionSpaceDisplay
            The picture that was drawn.

        Raises
        ------
        DataError
            If there are more than two features.
        LabelError
            If there are not two classes.
        """
        return cls._of(Points.of(X, y), np.empty((0, 2))).plot(**options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, label: Any = None, **options: Any
    ) -> Self:
        """Draw what these rows allow, and the weights of a run with ``record="updates"``.

        Parameters
        ----------
        estimator : Perceptron or Trace
            Fitted on two features with ``fit_intercept=False``, or on one feature; or its `trace_`.
        X : array-like of shape (n, 1) or (n, 2)
            The rows it was fitted on.
        y : array-like of shape (n,)
            Their labels.
        label : object, optional
            With more than two classes: the class whose hyperplane against the rest is drawn.
        **options : dict
            Passed to `plot`, for example `ax`.

        Returns
        -------
        VersionSpaceDisplay
            The picture that was drawn.

        Raises
        ------
        ParameterError
            If the run did not record its updates, or made none.
        DataError
            If X and y are not the rows of the run, or have more than two features.
        NotSupportedError
            If there are two features and an offset, which make three weights.
        """
        w, b, record, points = recorded_rows(estimator, X, y, label)
        if w.shape[1] == 1:
            return cls._of(points, np.column_stack([w, b])).plot(**options)
        if record.setting.settings.fit_intercept:
            raise NotSupportedError(
                "two features and an offset are three weights, and a plane shows two. Fit with "
                "fit_intercept=False, or on one feature."
            )
        return cls._of(points, w).plot(**options)

    @classmethod
    def _of(cls, points: Points, path: Array) -> Self:
        rows = points.X
        if rows.shape[1] == 1:
            rows = np.column_stack([rows, np.ones(len(rows))])
        check_two_features(rows.shape[1])
        normals = points.signs[:, None] * rows
        limit = 1.3 * float(np.abs(path).max(initial=0.0)) or 1.0
        window = Window(-limit, limit, -limit, limit)
        # a row x = 0 allows no weights
        corners = window.clip([(normal, 0.0 if normal.any() else -1.0) for normal in normals])
        (x, y), nearly = corners.T, 1e-12 * limit**2
        if abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) <= nearly:  # edges are not allowed
            corners = corners[:0]
        return cls(points, normals, window, corners, path)

    def plot(self, ax: Axes | None = None, *, legend: bool = True, symbol: str = "w") -> Self:
        r"""Draw the picture.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.
        legend : bool, default=True
            Draw a legend.
        symbol : str, default="w"
            Symbol for the weights, for example ``r"\theta"``.

        Returns
        -------
        VersionSpaceDisplay
            This display.
        """
        c = self._canvas(ax)
        plain = (f"${symbol}_1$", f"${symbol}_2$")
        self.window.show(c.ax, plain if self.points.X.shape[1] == 2 else (f"${symbol}$", "$b$"))
        self._draw_edges(c)
        self.path_ = None
        if len(self.path):
            look = {"color": c.colors.ink, "marker": "o", "ms": 4.5, "lw": 1.4, "zorder": 5}
            (self.path_,) = c.ax.plot(*self.path.T, label="run, update by update", **look)
            c.text(self.path[0], "start", self.path[1])
            c.text(self.path[-1], "end", self.path[-2])
        c.ax.plot(0, 0, marker="+", ms=9, mew=1.4, color=c.colors.ink, zorder=4)
        self.space_ = None
        if len(self.corners):
            look = {"fc": c.colors.third, "alpha": 0.4, "lw": 0, "zorder": 1}
            (self.space_,) = c.ax.fill(*self.corners.T, label="version space", **look)
        else:
            c.ax.set_title("no weights in this window are right on all rows", fontsize="medium")
        c.finish(legend, grid=False)
        return self

    def _draw_edges(self, c: Canvas) -> None:
        """Edges, and short arrows to the side that a row allows if there are few."""
        self.edges_ = []
        few = len(self.normals) <= MAX_ARROWS
        labels = {k: f"edge of a row of {literal(v)}" for k, v in enumerate(self.points.names)}
        for k, normal in enumerate(self.normals[:MAX_EDGES]):
            code = int(self.points.codes[k])
            look = {"color": c.color(code), "ls": DASHES[code], "lw": 1.5 if few else 0.8}
            line = c.line(self.window, normal, 0.0, **look)
            if line is None:
                continue
            self.edges_.append(line)
            line.set_label(labels.pop(code, None))
            if few:
                start, end = line.get_xydata()
                foot = start + 0.12 * (end - start)
                tip = foot + 0.09 * self.window.height * normal / np.hypot(*normal)
                c.arrow(foot, tip, color=c.color(code), lw=1.2, mutation_scale=9)
