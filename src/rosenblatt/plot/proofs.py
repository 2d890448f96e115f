"""CertificateDisplay and VersionSpaceDisplay: why classes can be separated, and by which weights.

The proof that a certificate holds:

- separable: the hyperplane, and beside it the band that no row enters, as wide as its margin;
- quasi-separable: the hyperplane, the rows that lie on it, and the point on it that lies in both
  convex hulls, so that no hyperplane separates strictly;
- overlapping: both convex hulls, and the point in both that the witness of the proof names.

Without offset the hull is that of the z = y x, and the point is the origin: it lies in the hull
exactly if no hyperplane separates strictly.

The version space: a row allows the weights with y (w.x) > 0. With two weights that is half of their
plane, with the origin on its edge, and what all rows allow is a cone. It is empty if no hyperplane
through the origin separates the rows. An offset is a third weight; one feature with an offset has
two weights again, w and b.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from rosenblatt.errors import DataError, NotSupportedError
from rosenblatt.plot.canvas import Canvas, Display
from rosenblatt.plot.plane import Array, Points, Window, check_two_features, equation, hull
from rosenblatt.plot.run import recorded_rows
from rosenblatt.plot.style import DASHES, Axes, literal
from rosenblatt.prove.certificate import Certificate, QuasiSeparable, Separable
from rosenblatt.prove.separability import separability
from rosenblatt.theory.validation import as_plane

MAX_EDGES = 200  # half-planes whose edges are drawn
MAX_ARROWS = 12  # half-planes whose sides are marked


@dataclass(eq=False, repr=False)
class CertificateDisplay(Display):
    """A verdict on separability and what proves it: a hyperplane, or a point in both hulls.

    Parameters
    ----------
    certificate : Certificate
        The verified proof.
    points : Points
        The rows; without offset, and if no hyperplane separates strictly, the z = y x.
    hulls : list of ndarray
        Corners of the convex hull of each class, or of all z.
    w, b : ndarray and float, or None
        The hyperplane, if the proof has one.
    on_hyperplane : ndarray of int
        Rows that lie on it (quasi-separable).
    witness : ndarray of int
        Rows whose weighted means meet in the common point.
    common_point : ndarray or None
        A point in both hulls; the origin without offset.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    points_, hulls_, margins_, links_ : list of artists
        What was drawn.
    hyperplane_, common_point_, on_hyperplane_, witness_ : artist or None
        What was drawn.

    Examples
    --------
    >>> from rosenblatt import CertificateDisplay
    >>> display = CertificateDisplay.from_data([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> display.certificate.verdict, display.common_point
    ('overlapping', array([0.5, 0.5]))
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    certificate: Certificate
    points: Points
    hulls: list[Array]
    w: Array | None
    b: float
    on_hyperplane: Array
    witness: Array
    common_point: Array | None

    @classmethod
    def from_data(cls, X: Any, y: Any, *, fit_intercept: bool = True, **options: Any) -> Self:
        """Decide whether a hyperplane separates the classes, and draw the proof.

        Parameters
        ----------
        X : array-like of shape (n, 2)
            Rows with two features.
        y : array-like of shape (n,)
            Labels of two classes.
        fit_intercept : bool, default=True
            Hyperplanes with an offset, or through the origin.
        **options : dict
            Passed to `plot`, for example `ax`.

        Returns
        -------
        CertificateDisplay
            The picture that was drawn.

        Raises
        ------
        DataError
            If the rows do not have two features.
        """
        Points.in_plane(X, y)
        certificate = separability(X, y, fit_intercept=fit_intercept)
        return cls.from_certificate(certificate, X, y, **options)

    @classmethod
    def from_certificate(cls, certificate: Certificate, X: Any, y: Any, **options: Any) -> Self:
        """Verify a certificate and draw it.

        Parameters
        ----------
        certificate : Certificate
            From `separability`, from `Perceptron.certificate`, or from a file.
        X : array-like of shape (n, 2)
            The rows it was made for.
        y : array-like of shape (n,)
            Their labels.
        **options : dict
            Passed to `plot`, for example `ax`.

        Returns
        -------
        CertificateDisplay
            The picture that was drawn.

        Raises
        ------
        DataError
            If the certificate does not hold for these rows.
        """
        points = Points.in_plane(X, y)
        if not (checked := certificate.verify(X, y)):
            raise DataError(
                f"this certificate does not hold for these rows, so it is not drawn. {checked}. "
                "Pass the rows it was made for, or make another with separability(X, y)."
            )
        w, b, point = None, 0.0, None
        on_hyperplane = witness = np.empty(0, dtype=np.int64)
        if isinstance(certificate, (Separable, QuasiSeparable)):
            w, b = as_plane(certificate.w, certificate.b, 2)
        if isinstance(certificate, QuasiSeparable):
            split = certificate.split_rows(X, y)
            on_hyperplane = np.setdiff1d(np.arange(len(points.X)), split)
        hulls = [hull(points.X[points.codes == k]) for k in (0, 1)]
        if not isinstance(certificate, Separable):
            proof: Any = certificate
            witness, point = np.array(proof.witness.rows), np.zeros(2)
            if certificate.fit_intercept:
                weights = np.array(proof.witness.weights) * (points.codes[witness] == 0)
                point = np.average(points.X[witness], axis=0, weights=weights.astype(float))
            else:
                points = _signed(points)
                hulls = [hull(points.X)]
        return cls(certificate, points, hulls, w, b, on_hyperplane, witness, point).plot(**options)

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
        CertificateDisplay
            This display.
        """
        points, point = self.points, self.common_point
        seen = points.X if point is None else np.vstack([points.X, point])
        c = self._canvas(ax, Window.around(seen), points.axes)
        self._draw_hulls(c)
        margin = self.certificate.margin if isinstance(self.certificate, Separable) else None
        self.hyperplane_ = c.line(self.w, self.b, label=equation(self.b, symbol))
        self.margins_ = c.margin(self.w, self.b, margin)
        self.points_ = c.points(points)
        self.on_hyperplane_ = c.ring(points.X[self.on_hyperplane], "on the hyperplane")
        self.common_point_, self.witness_ = None, None
        self.links_: list[Any] = []
        if point is not None:
            self._draw_common_point(c, point)
        where = "with an offset" if self.certificate.fit_intercept else "through the origin"
        c.ax.set_title(f"{self.certificate.verdict} {where}", fontsize="medium")
        c.finish(legend, grid=False)
        return self

    def _draw_hulls(self, c: Canvas) -> None:
        self.hulls_: list[Any] = []
        both = len(self.hulls) == 2
        for k, corners in enumerate(self.hulls):
            label = f"hull of {literal(self.points.names[k])}" if both else r"hull of $y\,x$"
            color = c.color(k if both else 2)
            look = {"ls": DASHES[k], "lw": 1.6, "zorder": 1}
            if len(corners) < 3:  # a segment, or a single point, which its marker shows
                label = f"{label}, flat" if len(corners) == 2 else ""
                self.hulls_ += c.ax.plot(*corners.T, color=color, label=label, **look)
                continue
            self.hulls_ += c.ax.fill(*corners.T, fc=(color, 0.14), ec=color, label=label, **look)
            # a hatch of its own: that of a patch with a face would cover what is behind it
            look = {"fill": False, "lw": 0, "hatch": ("//", "\\\\")[k], "hatch_linewidth": 0.4}
            c.ax.fill(*corners.T, ec=color, zorder=1, **look)

    def _draw_common_point(self, c: Canvas, point: Array) -> None:
        rows = self.points.X[self.witness]
        for x, y in rows:
            look = {"color": c.colors.ink, "lw": 1.2, "zorder": 2}
            self.links_ += c.ax.plot([point[0], x], [point[1], y], **look)
        if not self.on_hyperplane.size:
            self.witness_ = c.ring(rows, f"witness: {len(rows)} rows", scale=6.0, marker="h")
        label = "in both hulls" if self.certificate.fit_intercept else "the origin, in the hull"
        star = {"marker": "*", "s": 230, "facecolor": "none", "edgecolor": c.colors.accent}
        self.common_point_ = c.ax.scatter(*point, label=label, linewidth=1.8, zorder=6, **star)


def _signed(points: Points) -> Points:
    """The z = y x in place of the rows."""
    names = (f"−x of {points.names[0]}", f"x of {points.names[1]}")
    axes = tuple(f"$y$ · {name}" for name in points.axes)
    return replace(points, X=points.signs[:, None] * points.X, names=names, axes=axes)


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
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Self:
        """Draw what these rows allow, and the weights of a run with ``record="updates"``.

        Parameters
        ----------
        estimator : Perceptron or Trace
            Fitted on two features with ``fit_intercept=False``, or on one feature; or its `trace_`.
        X : array-like of shape (n, 1) or (n, 2)
            The rows it was fitted on.
        y : array-like of shape (n,)
            Their labels.
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
        w, b, record, points = recorded_rows(estimator, X, y)
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
        two = (f"${symbol}_1$", f"${symbol}_2$")
        names = two if self.points.X.shape[1] == 2 else (f"${symbol}$", "$b$")
        c = self._canvas(ax, self.window, names)
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
            line = c.line(normal, 0.0, **look)
            if line is None:
                continue
            self.edges_.append(line)
            line.set_label(labels.pop(code, None))
            if few:
                start, end = line.get_xydata()
                foot = start + 0.12 * (end - start)
                tip = foot + 0.09 * self.window.height * normal / np.hypot(*normal)
                c.arrow(foot, tip, color=c.color(code), lw=1.2, mutation_scale=9)
