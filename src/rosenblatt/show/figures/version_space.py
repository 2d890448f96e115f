"""VersionSpaceDisplay: which weights are still allowed.

A row allows the weights with y (w.x + b) > 0. With two weights that is half of their plane, and
what all rows allow is the version space. Without offset every half-plane has the origin on its
edge, so the version space is a cone, empty if nothing separates the rows through the origin.

An offset is a third weight. Of its space this is a slice: the w that go with one value of b. One
feature with an offset has two weights again, w and b, and is drawn whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from rosenblatt.data.problem import Problem
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.prove.separability import separability
from rosenblatt.show.figures.canvas import DASHES, Canvas, plain
from rosenblatt.show.figures.models import check_trained_on, record_of, trace_of
from rosenblatt.show.figures.plane import Array, Window
from rosenblatt.show.figures.weights import Path

MOST_LINES = 200  # half-planes whose edges are drawn


@dataclass(kw_only=True, eq=False)
class VersionSpaceDisplay:
    """The plane of the weights: the edge of what each row allows, and what all allow.

    Attributes
    ----------
    normals : array of shape (n, 2)
        y x of each row, or y (x, 1) for one feature: it points into what the row allows.
    shifts : array of shape (n,)
        y b: the row allows normal.w + shift > 0.
    codes : int array
        0 for the first class, 1 for the second: how the edges are drawn.
    names : tuple of str
        Of the classes.
    window : Window
    corners : array of shape (k, 2)
        Of the version space inside the window, counter-clockwise; no rows if it is empty.
    path : array of shape (m, 2)
        The weights of a run, in order; no rows if none is drawn.
    axes : tuple of str
        What the axes are called.
    b : float or None
        The offset of the slice; None where nothing was cut.
    ax_, figure_ : the Axes and their figure
    space_ : Polygon, or None if the version space is empty
    edges_ : list of Line2D
    path_ : Line2D or None
    """

    normals: Array
    shifts: Array
    codes: Array
    names: tuple[str, ...]
    window: Window
    corners: Array
    path: Array
    axes: tuple[str, str]
    b: float | None
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @property
    def empty(self) -> bool:
        """Whether no weights at all are right on every row, decided exactly.

        A slice at b != 0 is empty if no (w, c) with c > 0 has y (w.x + c b) > 0 for all rows: if
        the rows (x, b), and one more with only the 1 that makes c positive, do not separate.
        """
        rows, labels = self.normals, np.ones(len(self.normals), dtype=int)
        if self.b:
            rows = np.vstack([np.column_stack([rows, self.shifts]), [0.0, 0.0, 1.0]])
            labels = np.append(labels, 1)
        # one z with the other label turned round is the same z, and two classes are asked for
        rows, labels = np.vstack([rows, -rows[:1]]), np.append(labels, -1)
        return separability(rows, labels, fit_intercept=False).verdict != "separable"

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        *,
        b: float = 0.0,
        reach: float | None = None,
        ax: Any = None,
        **shown: Any,
    ) -> Self:
        """Draw what these rows allow.

        Parameters
        ----------
        X, y : rows and labels of two classes
            Two features: the plane of (w1, w2). One feature: the plane of (w, b).
        b : float, default=0.0
            Two features: the offset of the slice. 0 is the case without offset.
        reach : float, optional
            How far the axes go; by default 1, or what the offset needs.
        ax : Axes, optional
            Where to draw; a new figure by default.
        **shown : passed on to `plot`

        Examples
        --------
        >>> from rosenblatt import VersionSpaceDisplay
        >>> shown = VersionSpaceDisplay.from_data([[1, 2], [-1, 2], [0, -1]], [1, -1, -1])
        >>> shown.corners
        array([[0. , 0. ],
               [1. , 0. ],
               [1. , 0.5]])
        >>> import matplotlib.pyplot as plt
        >>> plt.close(shown.figure_)
        """
        return cls._of(Problem.of(X, y), float(b), np.empty((0, 2)), reach).plot(ax, **shown)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        reach: float | None = None,
        ax: Any = None,
        **shown: Any,
    ) -> Self:
        """Draw what these rows allow, and the way of a run that had ``record="updates"``.

        Parameters
        ----------
        estimator : fitted Perceptron on two classes
        X, y : the rows and labels it was trained on
            Two features: the slice is taken at the offset it came to. Earlier weights had other
            offsets, so the way is then seen from above; without offset all is in the plane.
        reach, ax, **shown : as in `from_data`
        """
        path, problem = Path.of(estimator), Problem.of(X, y)
        dense = problem.X.toarray() if sp.issparse(problem.X) else problem.X
        signs = 2 * problem.class_numbers() - 1
        check_trained_on(record_of(trace_of(estimator)), dense, signs)
        if path.w.shape[1] == 1:
            return cls._of(problem, 0.0, np.column_stack([path.w[:, 0], path.b]), reach).plot(
                ax, **shown
            )
        return cls._of(problem, float(path.b[-1]), path.w, reach).plot(ax, **shown)

    @classmethod
    def _of(cls, problem: Problem, b: float, path: Array, reach: float | None) -> Self:
        if len(problem.classes) != 2:
            raise LabelError(
                f"a version space is of two classes, got {len(problem.classes)}. Compare one with "
                "the rest: y == label."
            )
        rows = problem.X.toarray() if sp.issparse(problem.X) else np.asarray(problem.X)
        rows = rows.astype(np.float64)
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
        signs = 2 * problem.class_numbers() - 1
        normals = signs[:, None] * (np.column_stack([rows, np.ones(len(rows))]) if whole else rows)
        shifts = (signs * b).astype(np.float64)
        window = _window(normals, shifts, path, reach)
        return cls(
            normals=normals,
            shifts=shifts,
            codes=problem.class_numbers(),
            names=tuple(str(c) for c in problem.classes.tolist()),
            window=window,
            corners=_allowed(window, normals, shifts),
            path=path,
            axes=("$w$", "$b$") if whole else ("$w_1$", "$w_2$"),
            b=None if whole else b,
        )

    def plot(self, ax: Any = None, *, normals: bool = True, legend: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
        normals : bool, default=True
            Short arrows from the edges into what each row allows, if there are at most twelve.
        legend : bool, default=True
        """
        c = Canvas.on(ax)
        self.ax_, self.figure_ = c.ax, c.ax.figure
        self.window.show(c.ax)
        self._draw_space(c)
        self._draw_edges(c, normals and len(self.normals) <= 12)
        self.path_ = None
        if len(self.path):
            look = {"color": c.ink, "marker": "o", "ms": 5, "lw": 1.4, "zorder": 5}
            (self.path_,) = c.ax.plot(*self.path.T, label="run, update by update", **look)
            c.words(self.path[0], "start", self.path[1] if len(self.path) > 1 else None)
            if len(self.path) > 1:
                c.words(self.path[-1], "end", self.path[-2])
        c.ax.plot(0, 0, marker="+", ms=9, mew=1.4, color=c.ink, zorder=4)
        c.ax.set(xlabel=self.axes[0], ylabel=self.axes[1])
        if self.b:
            c.ax.set_xlabel(f"$w_1$ (slice at offset $b$ = {self.b:.4g})")
        if legend:
            c.legend()
        return self

    def _draw_space(self, c: Canvas) -> None:
        self.space_ = None
        if len(self.corners):
            look = {"fc": c.wash(2, 0.45), "ec": c.ink, "lw": 1.0, "hatch": "..", "zorder": 1}
            (self.space_,) = c.ax.fill(*self.corners.T, label="version space", **look)
            self.space_.set_hatch_linewidth(0.4)
            return
        words = "the version space is outside this window, or too narrow to be seen"
        if self.empty:
            where = " at this offset" if self.b else ""
            words = f"the version space is empty: no weights are right on all rows{where}"
        c.ax.set_title(words, fontsize="medium")

    def _draw_edges(self, c: Canvas, normals: bool) -> None:
        self.edges_ = []
        named: set[int] = set()
        for k in range(min(len(self.normals), MOST_LINES)):
            normal, code = self.normals[k], int(self.codes[k])
            ends = self.window.chord(normal, float(self.shifts[k]))
            if len(ends) == 0:
                continue
            label = None if code in named else f"edge of a row of {plain(self.names[code])}"
            named.add(code)
            look = {"color": c.hue(code), "ls": DASHES[code], "lw": 1.5 if normals else 0.8}
            self.edges_ += c.ax.plot(*ends.T, label=label, zorder=2, **look)
            if normals:
                foot = ends[0] + 0.12 * (ends[1] - ends[0])
                tip = foot + 0.09 * self.window.height * normal / np.hypot(*normal)
                c.arrow(foot, tip, color=c.hue(code), lw=1.2, mutation_scale=9, zorder=3)


def _window(normals: Array, shifts: Array, path: Array, reach: float | None) -> Window:
    """Round the origin, far enough for the run and for the nearest points of the edges."""
    if reach is not None and not reach > 0:
        raise ParameterError(f"reach must be positive, got {reach!r}.")
    far = [1.0] if not len(path) else [1.3 * float(np.abs(path).max())]
    lengths = np.hypot(*normals.T)
    if shifts.any() and lengths.any():
        away = np.abs(shifts) / np.where(lengths > 0, lengths, np.inf)
        far.append(float(min(1.3 * away.max(), 4 * np.median(away))))
    far_enough = reach or max(far) or 1.0
    return Window(-far_enough, far_enough, -far_enough, far_enough)


def _allowed(window: Window, normals: Array, shifts: Array) -> Array:
    """Corners of what all rows allow; none if they enclose nothing, for edges are not allowed."""
    if (~normals.any(axis=1) & (shifts <= 0)).any():  # x = 0: no w changes its score
        return np.empty((0, 2))
    corners = window.clip(list(zip(normals, shifts, strict=True)))
    x, y = corners.T
    twice = float(np.abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))))
    size = float(np.abs(corners).max()) if len(corners) else 0.0
    return corners if twice > 1e-12 * size**2 else np.empty((0, 2))
