"""CertificateDisplay: the proof that a certificate holds, drawn.

- separable: the hyperplane, and beside it the band that no row enters, as wide as its margin;
- quasi-separable: the hyperplane, the rows that lie on it, and the point on it that lies in both
  convex hulls, so that nothing separates strictly;
- overlapping: both convex hulls, and the point in both that the witness of the proof names.

Without offset hulls are of the z = y x, and the point is the origin: it lies in their hull exactly
if nothing separates strictly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from rosenblatt.data.chunks import as_rows
from rosenblatt.errors import DataError
from rosenblatt.prove import verify as checker
from rosenblatt.prove.certificate import Certificate, QuasiSeparable, Separable
from rosenblatt.prove.separability import separability
from rosenblatt.show.figures.canvas import DASHES, Canvas, plain
from rosenblatt.show.figures.plane import (
    Array,
    Points,
    Window,
    check_two_features,
    equation,
    hull,
    hyperplane,
    too_unequal,
)


@dataclass(kw_only=True, eq=False)
class CertificateDisplay:
    """A verdict and what proves it.

    Attributes
    ----------
    certificate : Certificate
    points : Points
        The rows; without offset, and if nothing separates strictly, the z = y x.
    hulls : list of arrays
        Corners of the convex hull of each class; of all z in the case just said.
    w, b : array and float, or None
        The hyperplane, if there is one in the proof.
    on : int array
        Rows that lie on it (quasi-separable).
    witness : int array
        Rows that make the common point: with their weights they meet in it.
    point : array or None
        The point in both hulls; the origin without offset.
    window : Window
    geometry : bool
        Whether one unit is as long on both axes.
    ax_, figure_ : the Axes and their figure
    points_, hulls_, margins_, links_ : lists of artists
    hyperplane_, point_, on_, witness_ : artists or None
    """

    certificate: Certificate
    points: Points
    hulls: list[Array]
    w: Array | None
    b: float | None
    on: Array
    witness: Array
    point: Array | None
    window: Window
    geometry: bool
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @classmethod
    def from_data(
        cls, X: Any, y: Any, *, fit_intercept: bool = True, ax: Any = None, **shown: Any
    ) -> Self:
        """Decide whether a hyperplane separates the classes, and draw the proof.

        Parameters
        ----------
        X, y : rows with two features, and labels of two classes
        fit_intercept : bool, default=True
            Hyperplanes with an offset, or through the origin.
        ax : Axes, optional
            Where to draw; a new figure by default.
        **shown : passed on to `plot`

        Examples
        --------
        >>> from rosenblatt import CertificateDisplay
        >>> shown = CertificateDisplay.from_data([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
        >>> shown.certificate.verdict, shown.point
        ('overlapping', array([0.5, 0.5]))
        >>> import matplotlib.pyplot as plt
        >>> plt.close(shown.figure_)
        """
        check_two_features(Points.of(X, y).X.shape[1])
        certificate = separability(X, y, fit_intercept=fit_intercept)
        return cls.from_certificate(certificate, X, y, ax=ax, **shown)

    @classmethod
    def from_certificate(
        cls, certificate: Certificate, X: Any, y: Any, *, ax: Any = None, **shown: Any
    ) -> Self:
        """Draw a certificate, which is verified first.

        Parameters
        ----------
        certificate : Certificate
            From `separability`, from `Perceptron.certificate`, or from a file.
        X, y : the rows and labels it was made for; two features
        ax, **shown : as in `from_data`
        """
        check_two_features(certificate.n_features)
        points = Points.of(X, y)
        if not (checked := certificate.verify(X, y)):
            raise DataError(
                f"this certificate does not hold for these rows, so it is not drawn. {checked}. "
                "Give the rows it was made for, or ask separability(X, y) for another."
            )
        w = b = point = None
        on = witness = np.empty(0, dtype=np.int64)
        if isinstance(certificate, (Separable, QuasiSeparable)):
            w, b = hyperplane(certificate.w, certificate.b)
        if isinstance(certificate, QuasiSeparable):
            split = certificate.split_rows(X, y)
            on = np.setdiff1d(np.arange(len(points.X)), split)
        strict = isinstance(certificate, Separable)
        if not strict:
            found: Any = certificate
            witness = np.array(found.witness.rows)
            point = _common_point(found, X, y)
        if strict or certificate.fit_intercept:
            hulls = [hull(points.X[points.codes == k]) for k in (0, 1)]
        else:
            points = _flipped(points)
            hulls = [hull(points.X)]
        seen = points.X if point is None else np.vstack([points.X, point])
        geometry = not too_unequal(seen)
        return cls(
            certificate=certificate,
            points=points,
            hulls=hulls,
            w=w,
            b=b,
            on=on,
            witness=witness,
            point=point,
            window=Window.around(seen, equal=geometry),
            geometry=geometry,
        ).plot(ax, **shown)

    def plot(self, ax: Any = None, *, title: bool = True, legend: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
        title : bool, default=True
            The verdict above the picture.
        legend : bool, default=True
        """
        c = Canvas.on(ax)
        self.ax_, self.figure_ = c.ax, c.ax.figure
        self.hyperplane_ = self.point_ = self.on_ = self.witness_ = None
        self.margins_: list[Any] = []
        self.links_: list[Any] = []
        self._draw_hulls(c)
        if self.w is not None and self.b is not None:
            self._draw_hyperplane(c, self.w, self.b)
        self.points_ = c.points(self.points.X, self.points.codes, list(self.points.names))
        if self.on.size:
            self.on_ = c.ring(self.points.X[self.on], "on the hyperplane", len(self.points.X))
        if self.point is not None:
            self._draw_point(c, self.point)
        self.points.label(c.ax)
        self.window.show(c.ax, self.geometry)
        if title:
            where = "with an offset" if self.certificate.fit_intercept else "through the origin"
            c.ax.set_title(f"{self.certificate.verdict} {where}", fontsize="medium")
        if legend:
            c.legend()
        return self

    def _draw_hulls(self, c: Canvas) -> None:
        self.hulls_ = []
        for k, corners in enumerate(self.hulls):
            both = len(self.hulls) == 2
            label = f"hull of {plain(self.points.names[k])}" if both else "hull of $y\\,x$"
            look = {
                "fc": (*c.wash(k if both else 2), 0.55),
                "ec": c.hue(k) if both else c.ink,
                "ls": DASHES[k],
                "lw": 1.6,
                "hatch": ("//", "\\\\")[k],
                "closed": True,
            }
            self.hulls_ += c.ax.fill(*corners.T, label=label, zorder=1, **look)
            self.hulls_[-1].set_hatch_linewidth(0.3)

    def _draw_hyperplane(self, c: Canvas, w: Array, b: float) -> None:
        ends = self.window.chord(w, b)
        if len(ends):
            look = {"color": c.ink, "lw": 2.2, "zorder": 2}
            (self.hyperplane_,) = c.ax.plot(*ends.T, label=equation(b), **look)
        if not isinstance(self.certificate, Separable) or not self.geometry:
            return
        for side in (-1, 1):
            ends = self.window.chord(w, b - side * self.certificate.margin * float(np.hypot(*w)))
            if len(ends):
                look = {"color": c.ink, "lw": 1.1, "ls": (0, (5, 3)), "zorder": 2}
                self.margins_ += c.ax.plot(*ends.T, **look)
        if self.margins_:
            self.margins_[0].set_label(f"margin {self.certificate.margin:.4g}")

    def _draw_point(self, c: Canvas, point: Array) -> None:
        rows = self.points.X[self.witness]
        for row in rows:
            self.links_ += c.ax.plot(*np.array([point, row]).T, color=c.ink, lw=1.2, zorder=2)
        n = len(self.points.X)
        if not self.on.size:
            self.witness_ = c.ring(rows, f"witness: {len(rows)} rows", n, size=6.0, marker="h")
        words = "in both hulls" if self.certificate.fit_intercept else "the origin, in the hull"
        star = {"marker": "*", "s": 150, "facecolor": c.hue(4), "edgecolor": c.ink, "zorder": 6}
        self.point_ = c.ax.scatter(*point, label=words, **star)


def _common_point(certificate: Any, X: Any, y: Any) -> Array:
    """The point of both hulls, computed over the rationals; the origin without offset."""
    if not certificate.fit_intercept:
        return np.zeros(2)
    witness = certificate.witness
    exact = checker.common_point(as_rows(X, y), witness.rows, witness.weights)
    return np.array([float(v) for v in exact])


def _flipped(points: Points) -> Points:
    """The z = y x in place of the rows."""
    names = [f"-x of {points.names[0]}", f"x of {points.names[1]}"]
    axes = (f"y * {points.axes[0]}", f"y * {points.axes[1]}")
    if points.axes[0].startswith("$"):
        axes = ("$y\\,x_1$", "$y\\,x_2$")
    return Points(points.signs[:, None] * points.X, points.codes, tuple(names), axes)
