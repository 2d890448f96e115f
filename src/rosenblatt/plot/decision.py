"""DecisionDisplay: which class a model gives to each point of the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rosenblatt.plot.canvas import Canvas, Display
from rosenblatt.plot.plane import Array, Points, Window, check_two_features, equation, hyperplane
from rosenblatt.plot.runs import check_fitted, scores_on_grid
from rosenblatt.plot.style import Axes


@dataclass(eq=False, repr=False)
class DecisionDisplay(Display):
    """Decision regions; for two classes also the hyperplane, its weight vector and margin.

    Make it with `from_estimator` or `from_hyperplane`.

    Parameters
    ----------
    points : Points
        The rows: `X`, `codes` (numbers of the classes) and `names` of the classes.
    window : Window
        The part of the plane that is drawn. If `window.equal`, both axes have the same
        scale, so that right angles look right.
    lead : ndarray of shape (n_classes, resolution, resolution)
        At the points of a grid, the score of each class less the best score of the others.
    misclassified : ndarray of int
        Rows on the wrong side; they are ringed.
    w, b : ndarray and float, or None
        The hyperplane w.x + b = 0, where there is exactly one.

    Attributes
    ----------
    margin : float or None
        The smallest y (w.x + b) / ||w||; negative if a row is on the wrong side.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    points_, regions_, boundaries_, margins_ : list of artists
        What was drawn.
    hyperplane_, weight_vector_, misclassified_ : artist or None
        What was drawn.

    Examples
    --------
    >>> from rosenblatt import DecisionDisplay, Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
    >>> clf = Perceptron(shuffle=False, tol=None).fit(X, y)
    >>> display = DecisionDisplay.from_estimator(clf, X, y)
    >>> round(display.margin, 4), display.misclassified.size
    (0.2774, 0)
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    points: Points
    window: Window
    lead: Array
    misclassified: Array
    w: Array | None
    b: float

    @property
    def margin(self) -> float | None:
        if self.w is None or not self.w.any():
            return None
        margins = self.points.signs * (self.points.X @ self.w + self.b)
        return float(margins.min() / np.hypot(*self.w))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        equal_axes: bool | None = None,
        grid_resolution: int = 220,
        **options: Any,
    ) -> Self:
        """Draw the decisions of a fitted classifier, and these rows.

        Parameters
        ----------
        estimator : classifier
            Any fitted classifier with decision_function or predict_proba, also a pipeline.
        X : array-like of shape (n, 2)
            Rows with two features.
        y : array-like of shape (n,)
            Their labels.
        equal_axes : bool, optional
            Give both axes the same scale, so that the weight vector is perpendicular to the
            hyperplane. By default True, unless one feature varies more than twelve times
            as much as the other. If False, weight vector and margin are not drawn.
        grid_resolution : int, default=220
            Points of the grid along each axis. A single hyperplane is drawn exactly.
        **options : dict
            Passed to `plot`, for example `ax`.

        Returns
        -------
        DecisionDisplay
            The picture that was drawn.

        Raises
        ------
        DataError
            If the rows do not have two features.
        NotFittedError
            If the estimator is not fitted.
        """
        check_fitted(estimator)
        check_two_features(int(getattr(estimator, "n_features_in_", 2)))
        points = Points.in_plane(X, y, estimator.classes_)
        window, n = Window.around(points.X, equal=equal_axes), grid_resolution
        coef, w, b = getattr(estimator, "coef_", None), None, 0.0
        if coef is not None and coef.shape[0] == 1 and len(estimator.classes_) == 2:
            (w, b), n = hyperplane(coef, estimator.intercept_), 2
        lead = _lead(scores_on_grid(estimator, X, window.grid(n)[2])).T.reshape(-1, n, n)
        predicted = np.searchsorted(estimator.classes_, estimator.predict(X))
        wrong = np.flatnonzero(predicted != points.codes)
        return cls(points, window, lead, wrong, w, b).plot(**options)

    @classmethod
    def from_hyperplane(
        cls, w: Any, b: Any, X: Any, y: Any, *, equal_axes: bool | None = None, **options: Any
    ) -> Self:
        """Draw the hyperplane w.x + b = 0, and these rows of two classes.

        Parameters
        ----------
        w : array-like of shape (2,)
            The weights.
        b : float
            The offset. Where w.x + b >= 0 is the second class.
        X, y, equal_axes, **options : as in `from_estimator`
            See `from_estimator`.

        Returns
        -------
        DecisionDisplay
            The picture that was drawn.
        """
        w, b = hyperplane(w, b)
        check_two_features(len(w))
        points = Points.in_plane(X, y)
        window = Window.around(points.X, equal=equal_axes)
        lead = (window.grid(2)[2] @ w + b).reshape(2, 2)
        wrong = np.flatnonzero((points.X @ w + b >= 0) != points.codes)
        return cls(points, window, np.array([-lead, lead]), wrong, w, b).plot(**options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        regions: bool = True,
        weight_vector: bool = True,
        margin: bool = True,
        legend: bool = True,
        symbol: str = "w",
    ) -> Self:
        r"""Draw the picture.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.
        regions : bool, default=True
            Fill the region of each class.
        weight_vector : bool, default=True
            Draw an arrow in the direction of w. Its length has no meaning.
        margin : bool, default=True
            Draw dashed lines at the distance of the nearest row, if no row is on the wrong side.
        legend : bool, default=True
            Draw a legend.
        symbol : str, default="w"
            Symbol for the weights, for example ``r"\theta"``.

        Returns
        -------
        DecisionDisplay
            This display.
        """
        c = self._canvas(ax)
        self._draw_regions(c, regions)
        self.hyperplane_: Any = None
        self.weight_vector_ = self.misclassified_ = None
        self.margins_: list[Any] = []
        w, b = self.w, self.b
        if w is not None and w.any():
            self.hyperplane_ = c.line(self.window, w, b, label=equation(b, symbol))
            if margin and self.window.equal and self.margin is not None and self.margin > 0:
                self.margins_ = c.margin(self.window, w, b, self.margin)
            if weight_vector and self.window.equal and self.hyperplane_ is not None:
                foot = self.hyperplane_.get_xydata().mean(axis=0)
                tip = foot + 0.2 * self.window.height * w / np.hypot(*w)
                self.weight_vector_ = c.arrow(foot, tip, f"${symbol}$")
        self.points_ = c.points(self.points)
        if self.misclassified.size:
            label = f"wrong side ({self.misclassified.size})"
            rows = self.points.X[self.misclassified]
            self.misclassified_ = c.ring(rows, label, len(self.points.X))
        self.window.show(c.ax, self.points.axes)
        c.finish(legend, grid=False)
        return self

    def _draw_regions(self, c: Canvas, regions: bool) -> None:
        x, y, _ = self.window.grid(self.lead.shape[1])
        self.regions_: list[Any] = []
        self.boundaries_: list[Any] = []
        for k, lead in enumerate(self.lead):
            if regions and lead.max() > 0:
                levels, color = [0.0, 2 * float(lead.max()) + 1], [c.color(k)]
                look = {"levels": levels, "colors": color, "alpha": 0.16, "zorder": 0}
                self.regions_.append(c.ax.contourf(x, y, lead, **look))
            if self.w is None and lead.min() < 0 < lead.max() and (k or len(self.lead) > 2):
                line = {"levels": [0.0], "colors": [c.colors.ink], "linewidths": 1.4}
                self.boundaries_.append(c.ax.contour(x, y, lead, **line))


def _lead(scores: Array) -> Array:
    """In each column the score less the best score of the other columns."""
    ordered = np.sort(scores, axis=1)
    best, second = ordered[:, [-1]], ordered[:, [-2]]
    found: Array = scores - np.where(scores == best, second, best)
    return found
