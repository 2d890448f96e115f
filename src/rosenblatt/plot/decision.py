"""DecisionDisplay and OracleDisplay: what a model, or the Bayes rule, predicts at each point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rosenblatt.data.matrix import frame_names
from rosenblatt.errors import DataError, NotSupportedError, ParameterError
from rosenblatt.plot.canvas import Canvas, Display, check_classifier
from rosenblatt.plot.plane import GRID, Array, Points, Window, equation
from rosenblatt.plot.style import DASHES, Axes, literal
from rosenblatt.theory.gaussian_pair import GaussianPair
from rosenblatt.theory.validation import as_plane

RADII = (1.0, 2.0, 3.0)  # standard deviations at which densities are drawn
COLORS = (4, 2, 3, 5)  # of rules; 0 and 1 are the classes


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
        At the points of a grid, positive where a class is predicted and negative elsewhere.
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
        """The smallest y (w.x + b) / ||w||."""
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
            Any fitted classifier, also a pipeline.
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
            If it is not a classifier.
        """
        check_classifier(estimator)
        points = Points.in_plane(X, y, estimator.classes_)
        predicted = np.searchsorted(estimator.classes_, estimator.predict(X))
        coef = getattr(estimator, "coef_", None)
        if coef is not None and coef.shape[0] == 1 and len(estimator.classes_) == 2:
            return cls._of(points, predicted, coef, estimator.intercept_).plot(**options)
        window = Window.around(points.X)
        grid: Any = window.grid()[2]
        if frame_names(X) is not None:
            grid = type(X)(dict(zip(X.columns, grid.T, strict=True)))
        there = np.searchsorted(estimator.classes_, estimator.predict(grid)).reshape(GRID, GRID)
        lead = np.equal.outer(np.arange(len(points.names)), there) - 0.5
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
        c = self._canvas(ax, self.window, self.points.axes)
        self.regions_, self.boundaries_ = c.regions(self.lead, boundaries=self.w is None)
        self.hyperplane_ = c.line(self.w, self.b, label=equation(self.b, symbol))
        self.margins_ = c.margin(self.w, self.b, self.margin if margin else None)
        self.weight_vector_ = self._draw_weight_vector(c, symbol) if weight_vector else None
        self.points_ = c.points(self.points)
        wrong = self.points.X[self.misclassified]
        self.misclassified_ = c.ring(wrong, f"wrong side ({len(wrong)})")
        c.finish(legend, grid=False)
        return self

    def _draw_weight_vector(self, c: Canvas, symbol: str) -> Any:
        if self.w is None or self.hyperplane_ is None or not self.window.equal:
            return None
        start, end = self.hyperplane_.get_xydata()
        vector = 0.2 * self.window.height * self.w / np.hypot(*self.w)
        feet = start + np.array([[0.5], [0.35], [0.65]]) * (end - start)
        # where its label is farthest from the rows
        room = np.linalg.norm(feet + 1.3 * vector - self.points.X[:, None], axis=2)
        foot = feet[room.min(axis=0).argmax()]
        return c.arrow(foot, foot + vector, f"${symbol}$")


@dataclass(eq=False, repr=False)
class OracleDisplay(Display):
    """Two Gaussian classes, the boundary of the Bayes rule, and those of linear rules.

    The oracle knows the densities and predicts class 1 where p1 f1(x) >= p0 f0(x); no rule has a
    smaller error. The errors in the legend are computed from the densities, not counted on rows.
    Make it with `from_rules`.

    Parameters
    ----------
    pair : GaussianPair
        The classes.
    rules : dict of str to (ndarray, float)
        Linear rules: class 1 where w.x + b >= 0.
    errors : dict of str to float
        The true error of each rule, and of 'oracle'.
    points : Points or None
        Rows that are drawn.
    window : Window
        The part of the plane that is drawn.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    densities_ : list of two lists of Line2D
        Ellipses at 1, 2 and 3 standard deviations.
    regions_, boundaries_ : list of ContourSet
        Where the oracle predicts each class, and where its prediction changes.
    lines_ : dict of str to Line2D
        The boundaries of the rules that cross the window.
    points_ : list of artists
        The rows.

    Examples
    --------
    >>> from rosenblatt import GaussianPair, OracleDisplay, Perceptron
    >>> pair = GaussianPair([0, 0], 4.0, [10, 10], 4.0)
    >>> X, y = pair.sample((50, 50), seed=0)
    >>> display = OracleDisplay.from_rules(pair, {"perceptron": Perceptron().fit(X, y)}, X, y)
    >>> display.errors["oracle"] < display.errors["perceptron"] < 0.05
    True
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    pair: GaussianPair
    rules: dict[str, tuple[Array, float]]
    errors: dict[str, float]
    points: Points | None
    window: Window

    @classmethod
    def from_rules(
        cls,
        pair: GaussianPair,
        rules: Mapping[str, Any],
        X: Any = None,
        y: Any = None,
        **options: Any,
    ) -> Self:
        """Draw linear rules next to the oracle.

        Parameters
        ----------
        pair : GaussianPair
            Classes with two features.
        rules : dict of str to estimator or (w, b)
            Name of each rule, and a fitted linear classifier or weights and offset; may be empty.
            ``pair.best_linear()`` finds the one with the smallest error.
        X : array-like of shape (n, 2), optional
            Rows to draw.
        y : array-like of shape (n,), optional
            Their labels.
        **options : dict
            Passed to `plot`, for example `ax`.

        Returns
        -------
        OracleDisplay
            The picture that was drawn.

        Raises
        ------
        DataError
            If the pair or the rows do not have two features, or a rule not one hyperplane.
        LabelError
            If y does not have two classes.
        NotSupportedError
            If an estimator has no hyperplane.
        ParameterError
            If a rule has the name "oracle".
        """
        if pair.n_features != 2:
            raise DataError(
                f"a pair of two features can be drawn, this one has {pair.n_features}. Its errors "
                "need no picture: pair.bayes_error(), pair.error_of(w, b)."
            )
        if "oracle" in rules:
            raise ParameterError("'oracle' names the Bayes rule. Give your rule another name.")
        checked = {name: _hyperplane(name, rule) for name, rule in rules.items()}
        errors = {name: float(pair.error_of(w, b)) for name, (w, b) in checked.items()}
        errors = {"oracle": float(pair.bayes_error()), **errors}
        spreads = [(mean, 3.2 * np.sqrt(np.diag(cov))) for mean, cov in _classes(pair)]
        seen = np.array([mean + side * spread for mean, spread in spreads for side in (-1, 1)])
        points = None
        if X is not None:
            zero_one = np.isin(np.asarray(y), (0, 1)).all()  # then a class may have no rows
            points = Points.in_plane(X, y, (0, 1) if zero_one else None)
            points = replace(points, codes=points.signs > 0, names=("class 0", "class 1"))
            seen = np.vstack([seen, points.X])
        window = Window.around(seen, 0.1, equal=True)
        return cls(pair, checked, errors, points, window).plot(**options)

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.
        legend : bool, default=True
            Draw a legend with the true error of every rule.

        Returns
        -------
        OracleDisplay
            This display.
        """
        c = self._canvas(ax, self.window, ("$x_1$", "$x_2$"))
        with np.errstate(over="ignore"):
            odds = np.clip(self.pair.decision(self.window.grid()[2]), -1e9, 1e9)
        odds = odds.reshape(GRID, GRID)
        self.regions_, self.boundaries_ = c.regions(np.array([-odds, odds]))
        c.ax.plot([], [], color=c.colors.ink, lw=1.6, label=self._label("oracle"))
        self.points_ = [] if self.points is None else c.points(self.points, scale=0.55)
        self._draw_densities(c)
        self.lines_: dict[str, Any] = {}
        for k, (name, (w, b)) in enumerate(self.rules.items()):
            look = {"color": c.color(COLORS[k % len(COLORS)]), "ls": DASHES[1:][k % 4], "lw": 2.2}
            line = c.line(w, b, label=self._label(name), **look | {"zorder": 5})
            if line is not None:
                self.lines_[name] = line
        c.finish(legend, grid=False)
        return self

    def _label(self, name: str) -> str:
        return f"{literal(name)}: error {self.errors[name]:.3g}"

    def _draw_densities(self, c: Canvas) -> None:
        self.densities_: list[list[Any]] = []
        at = np.linspace(0, 2 * np.pi, 181)
        circle = np.column_stack([np.cos(at), np.sin(at)])
        for k, (mean, cov) in enumerate(_classes(self.pair)):
            values, vectors = np.linalg.eigh(cov)
            ellipse = circle @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
            look = c.curve(k) | {"lw": 1.4, "zorder": 3.5}
            rings = [c.ax.plot(*(mean + radius * ellipse).T, **look)[0] for radius in RADII]
            rings[0].set_label(f"class {k}" if self.points is None else None)
            self.densities_.append(rings)


def _classes(pair: GaussianPair) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    return (pair.mean0, pair.cov0), (pair.mean1, pair.cov1)


def _hyperplane(name: str, rule: Any) -> tuple[Array, float]:
    """Weights and offset of a fitted linear model, or those given."""
    if hasattr(rule, "fit"):
        check_is_fitted(rule)
        if not hasattr(rule, "coef_"):
            raise NotSupportedError(
                f"the oracle is compared with hyperplanes, and {name!r} has none. Give a linear "
                "model; DecisionDisplay draws any other."
            )
        rule = rule.coef_, rule.intercept_
    w, b = rule
    return as_plane(w, b, 2, (f"w of {name!r}", f"b of {name!r}"))
