"""DecisionDisplay: which class a model gives to each point of the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rosenblatt.data.matrix import frame_names
from rosenblatt.errors import NotSupportedError
from rosenblatt.plot.canvas import Canvas, Display, check_classifier
from rosenblatt.plot.plane import GRID, Array, Points, Window, equation
from rosenblatt.plot.style import Axes
from rosenblatt.theory.validation import as_plane


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
    w: Array | None = None
    b: float = 0.0

    @property
    def margin(self) -> float | None:
        if self.w is None or not self.w.any():
            return None
        margins = self.points.signs * (self.points.X @ self.w + self.b)
        return float(margins.min() / np.hypot(*self.w))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Self:
        """Draw the decisions of a fitted classifier, and these rows.

        Both axes have the same scale, so that the weight vector is perpendicular to the hyperplane,
        unless one feature varies more than twelve times as much as the other: then weight vector
        and margin are not drawn.

        Parameters
        ----------
        estimator : classifier
            Any fitted classifier with decision_function or predict_proba, also a pipeline.
        X : array-like of shape (n, 2)
            Rows with two features.
        y : array-like of shape (n,)
            Their labels.
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
        NotSupportedError
            If it is not a classifier, or has no scores.
        """
        check_classifier(estimator)
        points = Points.in_plane(X, y, estimator.classes_)
        predicted = np.searchsorted(estimator.classes_, estimator.predict(X))
        coef = getattr(estimator, "coef_", None)
        if coef is not None and coef.shape[0] == 1 and len(estimator.classes_) == 2:
            return cls._of(points, predicted, coef, estimator.intercept_).plot(**options)
        window = Window.around(points.X)
        lead = _lead(_scores(estimator, X, window.grid()[2])).T.reshape(-1, GRID, GRID)
        return cls(points, window, lead, np.flatnonzero(predicted != points.codes)).plot(**options)

    @classmethod
    def from_hyperplane(cls, w: Any, b: Any, X: Any, y: Any, **options: Any) -> Self:
        """Draw the hyperplane w.x + b = 0, and these rows of two classes.

        Parameters
        ----------
        w : array-like of shape (2,)
            The weights.
        b : float
            The offset. Where w.x + b >= 0 is the second class.
        X : array-like of shape (n, 2)
            Rows with two features.
        y : array-like of shape (n,)
            Labels of two classes.
        **options : dict
            Passed to `plot`, for example `ax`.

        Returns
        -------
        DecisionDisplay
            The picture that was drawn.

        Raises
        ------
        DataError
            If w is not two numbers or b not one, or the rows do not have two features.
        LabelError
            If there are not two classes.
        """
        w, b = as_plane(w, b, 2)
        points = Points.in_plane(X, y)
        return cls._of(points, points.X @ w + b >= 0, w, b).plot(**options)

    @classmethod
    def _of(cls, points: Points, predicted: Array, w: Any, b: Any) -> Self:
        w, b = as_plane(w, b, 2)
        window = Window.around(points.X)
        lead = (window.grid(2)[2] @ w + b).reshape(2, 2)
        wrong = np.flatnonzero(predicted != points.codes)
        return cls(points, window, np.array([-lead, lead]), wrong, w, b)

    def plot(
        self,
        ax: Axes | None = None,
        *,
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
        self._draw_regions(c)
        self.hyperplane_: Any = None
        self.weight_vector_ = self.misclassified_ = self.hyperplane_
        self.margins_: list[Any] = []
        w, b = self.w, self.b
        if w is not None and w.any():
            self.hyperplane_ = c.line(self.window, w, b, label=equation(b, symbol))
            if margin and self.window.equal and self.margin and self.margin > 0:
                self.margins_ = c.margin(self.window, w, b, self.margin)
            if weight_vector and self.window.equal and self.hyperplane_ is not None:
                start, end = self.hyperplane_.get_xydata()
                vector = 0.2 * self.window.height * w / np.hypot(*w)
                feet = start + np.array([[0.5], [0.35], [0.65]]) * (end - start)
                # where its label is farthest from the rows
                room = np.linalg.norm(feet + 1.3 * vector - self.points.X[:, None], axis=2)
                foot = feet[room.min(axis=0).argmax()]
                self.weight_vector_ = c.arrow(foot, foot + vector, f"${symbol}$")
        self.points_ = c.points(self.points)
        if self.misclassified.size:
            label = f"wrong side ({self.misclassified.size})"
            rows = self.points.X[self.misclassified]
            self.misclassified_ = c.ring(rows, label, len(self.points.X))
        self.window.show(c.ax, self.points.axes)
        c.finish(legend, grid=False)
        return self

    def _draw_regions(self, c: Canvas) -> None:
        x, y, _ = self.window.grid(self.lead.shape[1])
        self.regions_: list[Any] = []
        self.boundaries_: list[Any] = []
        for k, lead in enumerate(self.lead):
            if lead.max() > 0:
                look = {"levels": [0.0, 2 * lead.max() + 1], "colors": [c.color(k)], "alpha": 0.16}
                self.regions_.append(c.ax.contourf(x, y, lead, zorder=0, **look))
            if self.w is None and lead.min() < 0 < lead.max() and (k or len(self.lead) > 2):
                look = {"levels": [0.0], "colors": [c.colors.ink], "linewidths": 1.4}
                self.boundaries_.append(c.ax.contour(x, y, lead, **look))


def _lead(scores: Array) -> Array:
    """In each column the score less the best score of the other columns."""
    ordered = np.sort(scores, axis=1)
    best, second = ordered[:, [-1]], ordered[:, [-2]]
    found: Array = scores - np.where(scores == best, second, best)
    return found


def _scores(estimator: Any, X: Any, grid: Any) -> Array:
    """Scores of points of a grid, one column per class; the largest wins."""
    name = next((n for n in ("decision_function", "predict_proba") if hasattr(estimator, n)), None)
    if name is None:
        raise NotSupportedError(
            f"{type(estimator).__name__} has neither decision_function nor predict_proba, so its "
            "decision boundary is unknown. Use a classifier with one of them."
        )
    if frame_names(X) is not None:
        grid = type(X)(dict(zip(X.columns, grid.T, strict=True)))
    scores = np.asarray(getattr(estimator, name)(grid), dtype=np.float64)
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
