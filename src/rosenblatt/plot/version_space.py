"""VersionSpaceDisplay: which weights are still allowed.

A row allows the weights with y (w.x + b) > 0. With two weights that is half of their plane, and
what all rows allow is the version space. Without offset every half-plane has the origin on its
edge, so the version space is a cone, empty if no hyperplane through the origin separates the rows.

An offset is a third weight: the picture is then a slice, the w allowed for one value of b. One
feature with an offset has two weights again, w and b, and the picture is complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rosenblatt.errors import DataError, ParameterError
from rosenblatt.plot.canvas import Canvas, Display, literal
from rosenblatt.plot.plane import Array, Points, Window
from rosenblatt.plot.runs import WeightPath
from rosenblatt.plot.style import DASHES, Axes
from rosenblatt.prove.separability import separability

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
        The vectors y x, or y (x, 1) for one feature.
    shifts : ndarray of shape (n,)
        The values y b: a row allows the weights with normal.w + shift > 0.
    window : Window
        The part of the plane that is drawn.
    corners : ndarray of shape (k, 2)
        Corners of the version space in the window, counter-clockwise; no rows if there are none.
    path : ndarray of shape (m, 2)
        The weights of a run; no rows if none is drawn.
    b : float or None
        The offset of the slice; None for one feature.

    Attributes
    ----------
    empty : bool
        Whether no weights at all are right on every row, decided exactly.
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
    shifts: Array
    window: Window
    corners: Array
    path: Array
    b: float | None

    @property
    def empty(self) -> bool:
        # A slice at b != 0 is empty if no (w, c) with c > 0 has y (w.x + c b) > 0 for all rows:
        # if the rows (x, b), and one more with only the 1 that makes c positive, do not separate.
        rows = self.normals
        if self.b:
            rows = np.vstack([np.column_stack([rows, self.shifts]), [0.0, 0.0, 1.0]])
        # two classes are required, and -z with label -1 says the same as z with label +1
        labels = np.append(np.ones(len(rows), dtype=int), -1)
        certificate = separability(np.vstack([rows, -rows[:1]]), labels, fit_intercept=False)
        return certificate.verdict != "separable"

    @classmethod
    def from_data(
        cls, X: Any, y: Any, *, b: float = 0.0, limit: float | None = None, **options: Any
    ) -> Self:
        """Draw what these rows allow.

        Parameters
        ----------
        X : array-like of shape (n, 1) or (n, 2)
            Rows. Two features: the plane of (w_1, w_2). One feature: the plane of (w, b).
        y : array-like of shape (n,)
            Labels of two classes.
        b : float, default=0.0
            Two features: the offset of the slice. 0 is the case without offset.
        limit : float, optional
            The axes go from -limit to limit; by default 1, or what the offset needs.
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
            If there are more than two classes.
        """
        return cls._of(Points.of(X, y), float(b), np.empty((0, 2)), limit).plot(**options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, limit: float | None = None, **options: Any
    ) -> Self:
        """Draw what these rows allow, and the weights of a run with ``record="updates"``.

        Parameters
        ----------
        estimator : Perceptron
            Fitted on two classes.
        X : array-like of shape (n, 1) or (n, 2)
            The rows it was fitted on. Two features with an offset: the slice is taken at the
            last offset, and earlier weights, which had other offsets, are projected into it.
        y : array-like of shape (n,)
            Their labels.
        limit, **options : as in `from_data`
            See `from_data`.

        Returns
        -------
        VersionSpaceDisplay
            The picture that was drawn.
        """
        path, points = WeightPath.of(estimator), Points.of(X, y)
        path.check_rows(points)
        if path.w.shape[1] == 1:
            plane, b = np.column_stack([path.w[:, 0], path.b]), 0.0
        else:
            plane, b = path.w, float(path.b[-1])
        return cls._of(points, b, plane, limit).plot(**options)

    @classmethod
    def _of(cls, points: Points, b: float, path: Array, limit: float | None) -> Self:
        rows, signs = points.X, points.signs
        if rows.shape[1] > 2:
            raise DataError(
                f"a plane shows two weights, and {rows.shape[1]} features have more. Draw two "
                "columns, X[:, [0, 1]], or one column with its offset."
            )
        whole = rows.shape[1] == 1
        if whole and b:
            raise ParameterError(
                f"with one feature the offset is an axis, so b is not fixed; got b={b!r}. Leave it "
                "out."
            )
        if limit is not None and not limit > 0:
            raise ParameterError(f"limit must be positive, got {limit!r}.")
        normals = signs[:, None] * (np.column_stack([rows, np.ones(len(rows))]) if whole else rows)
        shifts = (signs * b).astype(np.float64)
        limit = limit or _limit(normals, shifts, path)
        window = Window(-limit, limit, -limit, limit)
        corners = _allowed(window, normals, shifts)
        return cls(points, normals, shifts, window, corners, path, None if whole else b)

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
        names = (f"${symbol}$", "$b$") if self.b is None else (f"${symbol}_1$", f"${symbol}_2$")
        if self.b:
            names = (f"{names[0]} (slice at offset $b$ = {self.b:.4g})", names[1])
        self.window.show(c.ax, names)
        self._draw_space(c)
        self._draw_edges(c)
        self.path_ = None
        if len(self.path):
            look = {"color": c.colors.ink, "marker": "o", "ms": 4.5, "lw": 1.4, "zorder": 5}
            (self.path_,) = c.ax.plot(*self.path.T, label="run, update by update", **look)
            c.text(self.path[0], "start", self.path[1])
            c.text(self.path[-1], "end", self.path[-2])
        c.ax.plot(0, 0, marker="+", ms=9, mew=1.4, color=c.colors.ink, zorder=4)
        c.finish(legend, grid=False)
        return self

    def _draw_space(self, c: Canvas) -> None:
        self.space_ = None
        if len(self.corners):
            (self.space_,) = c.ax.fill(
                *self.corners.T, fc=c.colors.third, alpha=0.4, lw=0, label="version space", zorder=1
            )
            return
        title = "the version space is outside this window, or too narrow to be seen"
        if self.empty:
            where = " at this offset" if self.b else ""
            title = f"the version space is empty: no weights are right on all rows{where}"
        c.ax.set_title(title, fontsize="medium", wrap=True)

    def _draw_edges(self, c: Canvas) -> None:
        """Edges, and short arrows to the side that a row allows if there are few."""
        self.edges_ = []
        named: set[int] = set()
        arrows = len(self.normals) <= MAX_ARROWS
        for k, normal in enumerate(self.normals[:MAX_EDGES]):
            code = int(self.points.codes[k])
            look = {"color": c.color(code), "ls": DASHES[code], "lw": 1.5 if arrows else 0.8}
            line = c.line(self.window, normal, float(self.shifts[k]), **look)
            if line is None:
                continue
            self.edges_.append(line)
            if code not in named:
                line.set_label(f"edge of a row of {literal(self.points.names[code])}")
                named.add(code)
            if arrows:
                start, end = line.get_xydata()
                foot = start + 0.12 * (end - start)
                tip = foot + 0.09 * self.window.height * normal / np.hypot(*normal)
                c.arrow(foot, tip, color=c.color(code), lw=1.2, mutation_scale=9, zorder=3)


def _limit(normals: Array, shifts: Array, path: Array) -> float:
    """Far enough from the origin for the run and for the nearest points of the edges."""
    limits = [1.3 * float(np.abs(path).max())] if len(path) else [1.0]
    lengths = np.hypot(*normals.T)
    if shifts.any() and lengths.any():
        away = np.abs(shifts) / np.where(lengths > 0, lengths, np.inf)
        limits.append(float(min(1.3 * away.max(), 4 * np.median(away))))
    return max(limits) or 1.0


def _allowed(window: Window, normals: Array, shifts: Array) -> Array:
    """Corners of what all rows allow; none if they enclose nothing, for edges are not allowed."""
    if (~normals.any(axis=1) & (shifts <= 0)).any():  # x = 0: no w changes its score
        return np.empty((0, 2))
    corners = window.clip(list(zip(normals, shifts, strict=True)))
    x, y = corners.T
    twice_area = float(np.abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))))
    size = float(np.abs(corners).max(initial=0.0))
    return corners if twice_area > 1e-12 * size**2 else np.empty((0, 2))
