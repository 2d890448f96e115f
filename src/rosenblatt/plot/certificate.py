"""CertificateDisplay: the proof that a certificate holds, drawn.

- separable: the hyperplane, and beside it the band that no row enters, as wide as its margin;
- quasi-separable: the hyperplane, the rows that lie on it, and the point on it that lies in both
  convex hulls, so that no hyperplane separates strictly;
- overlapping: both convex hulls, and the point in both that the witness of the proof names.

Without offset the hull is that of the z = y x, and the point is the origin: it lies in the hull
exactly if no hyperplane separates strictly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from rosenblatt.errors import DataError
from rosenblatt.plot.canvas import Canvas, Display
from rosenblatt.plot.plane import Array, Points, Window, equation, hull
from rosenblatt.plot.style import DASHES, Axes, literal
from rosenblatt.prove.certificate import Certificate, QuasiSeparable, Separable
from rosenblatt.prove.separability import separability
from rosenblatt.theory.validation import as_plane


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
        c = self._canvas(ax)
        points, point, n = self.points, self.common_point, len(self.points.X)
        seen = points.X if point is None else np.vstack([points.X, point])
        window = Window.around(seen)
        self.hyperplane_: Any = None
        self.on_hyperplane_ = self.common_point_ = self.witness_ = self.hyperplane_
        self.margins_: list[Any] = []
        self.links_: list[Any] = []
        self._draw_hulls(c)
        if self.w is not None:
            self.hyperplane_ = c.line(window, self.w, self.b, label=equation(self.b, symbol))
            if isinstance(self.certificate, Separable) and window.equal:
                self.margins_ = c.margin(window, self.w, self.b, self.certificate.margin)
        self.points_ = c.points(points)
        if self.on_hyperplane.size:
            rows = points.X[self.on_hyperplane]
            self.on_hyperplane_ = c.ring(rows, "on the hyperplane", n)
        if point is not None:
            self._draw_common_point(c, point)
        window.show(c.ax, points.axes)
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
        rows, n = self.points.X[self.witness], len(self.points.X)
        for x, y in rows:
            look = {"color": c.colors.ink, "lw": 1.2, "zorder": 2}
            self.links_ += c.ax.plot([point[0], x], [point[1], y], **look)
        if not self.on_hyperplane.size:
            self.witness_ = c.ring(rows, f"witness: {len(rows)} rows", n, marker="h", scale=6.0)
        label = "in both hulls" if self.certificate.fit_intercept else "the origin, in the hull"
        star = {"marker": "*", "s": 230, "facecolor": "none", "edgecolor": c.colors.accent}
        self.common_point_ = c.ax.scatter(*point, label=label, linewidth=1.8, zorder=6, **star)


def _signed(points: Points) -> Points:
    """The z = y x in place of the rows."""
    names = (f"−x of {points.names[0]}", f"x of {points.names[1]}")
    axes = tuple(f"$y$ · {name}" for name in points.axes)
    return replace(points, X=points.signs[:, None] * points.X, names=names, axes=axes)
