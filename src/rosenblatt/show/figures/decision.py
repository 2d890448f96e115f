"""DecisionDisplay: which class a model gives to each point of the plane."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from rosenblatt.show.figures.canvas import Canvas
from rosenblatt.show.figures.models import check_fitted, quiet_scores
from rosenblatt.show.figures.plane import (
    Array,
    Points,
    Window,
    check_two_features,
    equation,
    hyperplane,
    too_unequal,
)


@dataclass(kw_only=True, eq=False)
class DecisionDisplay:
    """Regions of the classes; for two classes the hyperplane, its weight vector and margin.

    Make it with `from_estimator` or `from_hyperplane`; `plot` draws it again elsewhere.

    Attributes
    ----------
    points : Points
        The rows drawn.
    window : Window
        The part of the plane that is seen.
    lead : array of shape (n_classes, steps, steps)
        By how much each class wins at the points of a grid; its region is where this is >= 0.
    wrong : int array
        The rows on the wrong side: they are ringed.
    w, b : array and float, or None
        The hyperplane w.x + b = 0, where there is exactly one.
    margin : float or None
        The smallest y (w.x + b) / ||w||; negative if a row is on the wrong side.
    geometry : bool
        Whether one unit is as long on both axes, so that right angles look right.
    ax_, figure_ : the Axes and their figure
    points_, wrong_, regions_, boundaries_ : artists
    hyperplane_, margins_, weight_ : artists, or None where they are not drawn
    """

    points: Points
    window: Window
    lead: Array
    wrong: Array
    w: Array | None
    b: float | None
    margin: float | None
    geometry: bool
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)
    hyperplane_: Any = field(default=None, init=False)
    weight_: Any = field(default=None, init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        geometry: bool | None = None,
        steps: int = 220,
        ax: Any = None,
        **shown: Any,
    ) -> Self:
        """Draw what a fitted classifier decides, with these rows.

        Parameters
        ----------
        estimator : fitted classifier
            Of any kind that has decision_function or predict_proba; a pipeline will do.
        X, y : rows with two features, and their labels
        geometry : bool, optional
            Make one unit as long on both axes, so that the weight vector is seen at a right angle
            to its hyperplane. By default yes, unless one feature varies more than twelve times as
            much as the other; then the vector and the margin are left out.
        steps : int, default=220
            Points of the grid along each axis. Two classes and one hyperplane are drawn exactly
            anyway.
        ax : Axes, optional
            Where to draw; a new figure by default.
        **shown : passed on to `plot`

        Examples
        --------
        >>> from rosenblatt import DecisionDisplay, Perceptron
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
        >>> clf = Perceptron(shuffle=False, tol=None).fit(X, y)
        >>> shown = DecisionDisplay.from_estimator(clf, X, y)
        >>> [t.get_text() for t in shown.ax_.get_legend().texts][1:]
        ['margin 0.2774', 'no', 'yes']
        >>> import matplotlib.pyplot as plt
        >>> plt.close(shown.figure_)
        """
        check_fitted(estimator)
        check_two_features(int(getattr(estimator, "n_features_in_", 2)))
        points = Points.of(X, y, estimator.classes_)
        coef = getattr(estimator, "coef_", None)
        one = coef is not None and coef.shape[0] == 1 and len(estimator.classes_) == 2
        w, b = hyperplane(coef, estimator.intercept_) if one else (None, None)

        def scores(grid: Array) -> Array:
            return quiet_scores(estimator, X, grid)

        return cls._of(points, scores, w, b, geometry, steps).plot(ax, **shown)

    @classmethod
    def from_hyperplane(
        cls,
        w: Any,
        b: Any,
        X: Any,
        y: Any,
        *,
        geometry: bool | None = None,
        ax: Any = None,
        **shown: Any,
    ) -> Self:
        """Draw the hyperplane w.x + b = 0, with these rows of two classes.

        Parameters
        ----------
        w, b : two weights and the offset; where w.x + b >= 0 is the second class
        X, y, geometry, ax, **shown : as in `from_estimator`
        """
        w, b = hyperplane(w, b)

        def scores(grid: Array) -> Array:
            s = grid @ w + b
            return np.column_stack([-s, s])

        return cls._of(Points.of(X, y), scores, w, b, geometry, 2).plot(ax, **shown)

    @classmethod
    def _of(
        cls, points: Points, scores: Any, w: Any, b: Any, geometry: bool | None, steps: int
    ) -> Self:
        geometry = not too_unequal(points.X) if geometry is None else geometry
        window = Window.around(points.X, equal=geometry)
        lead = _leads(scores(window.grid(steps)[2])).T.reshape(-1, steps, steps)
        own = scores(points.X)
        winner = np.where(own[:, 1] >= 0, 1, 0) if own.shape[1] == 2 else own.argmax(axis=1)
        margin = None
        if w is not None and w.any():
            margin = float((points.signs * (points.X @ w + b)).min() / np.hypot(*w))
        return cls(
            points=points,
            window=window,
            lead=lead,
            wrong=np.flatnonzero(winner != points.codes),
            w=w,
            b=b,
            margin=margin,
            geometry=geometry,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        regions: bool = True,
        weight_vector: bool = True,
        margin: bool = True,
        legend: bool = True,
    ) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
        regions : bool, default=True
            Fill the region of each class.
        weight_vector : bool, default=True
            An arrow in the direction of w from the hyperplane; its length means nothing.
        margin : bool, default=True
            Dashed lines at the distance of the nearest row, if none is on the wrong side.
        legend : bool, default=True
        """
        c = Canvas.on(ax)
        self.ax_, self.figure_ = c.ax, c.ax.figure
        self._draw_regions(c, regions)
        self.hyperplane_ = self.weight_ = None
        self.margins_: list[Any] = []
        if self.w is not None and self.b is not None and self.w.any():
            self._draw_hyperplane(c, self.w, self.b, weight_vector, margin)
        self.points_ = c.points(self.points.X, self.points.codes, list(self.points.names))
        self.wrong_ = None
        if self.wrong.size:
            many = f"wrong side ({self.wrong.size})"
            self.wrong_ = c.ring(self.points.X[self.wrong], many, len(self.points.X))
        self.points.label(c.ax)
        self.window.show(c.ax, self.geometry)
        if legend:
            c.legend()
        return self

    def _draw_regions(self, c: Canvas, regions: bool) -> None:
        x, y, _ = self.window.grid(self.lead.shape[1])
        self.regions_, self.boundaries_ = [], []
        for k, lead in enumerate(self.lead):
            if regions and lead.max() > 0:
                top = [0.0, float(lead.max()) * 2 + 1]
                wash = [c.wash(k)]
                self.regions_.append(c.ax.contourf(x, y, lead, levels=top, colors=wash, zorder=0))
            curved = self.w is None and lead.min() < 0 < lead.max()
            if curved and (k > 0 or len(self.lead) > 2):
                line = c.ax.contour(x, y, lead, levels=[0.0], colors=[c.ink], linewidths=1.4)
                self.boundaries_.append(line)

    def _draw_hyperplane(
        self, c: Canvas, w: Array, b: float, weight_vector: bool, margin: bool
    ) -> None:
        ends = self.window.chord(w, b)
        if len(ends):
            look = {"color": c.ink, "lw": 2.0, "zorder": 2}
            (self.hyperplane_,) = c.ax.plot(*ends.T, label=equation(b), **look)
        if not self.geometry:
            return
        norm = float(np.hypot(*w))
        if margin and self.margin is not None and self.margin > 0:
            for side in (-1, 1):
                ends = self.window.chord(w, b - side * self.margin * norm)
                if len(ends):
                    line = c.ax.plot(*ends.T, color=c.ink, lw=1.1, ls=(0, (5, 3)), zorder=2)
                    self.margins_ += line
            if self.margins_:
                self.margins_[0].set_label(f"margin {self.margin:.4g}")
        if weight_vector and self.hyperplane_ is not None:
            foot = self._foot(w, b)
            tip = foot + 0.2 * self.window.height * w / norm
            self.weight_ = c.arrow(foot, tip, "$w$")

    def _foot(self, w: Array, b: float) -> Array:
        """The point of the hyperplane below the middle of the window, or of its chord."""
        middle = self.window.centre
        foot = middle - (middle @ w + b) / (w @ w) * w
        ends = self.window.chord(w, b)
        found: Array = foot if self.window.contains(foot) else ends.mean(axis=0)
        return found


def _leads(scores: Array) -> Array:
    """Of each column the score less the best of the others; two classes: the scores."""
    if scores.shape[1] == 2:
        return (scores - scores[:, ::-1]) / 2
    ordered = np.sort(scores, axis=1)
    best, second = ordered[:, [-1]], ordered[:, [-2]]
    found: Array = np.where(scores == best, best - second, scores - best)
    return found
