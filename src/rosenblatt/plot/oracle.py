"""OracleDisplay: two Gaussian classes, the Bayes rule, and linear rules to compare with it.

The oracle knows the densities and predicts class 1 where p1 f1(x) >= p0 f0(x); no rule has a
smaller error. The errors in the legend are computed from the densities, not counted on rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from rosenblatt.errors import DataError, NotSupportedError, ParameterError
from rosenblatt.plot.canvas import Canvas, Display, check_fitted
from rosenblatt.plot.plane import GRID, Array, Points, Window, hyperplane
from rosenblatt.plot.style import DASHES, Axes, literal
from rosenblatt.theory.gaussian_pair import GaussianPair

RADII = (1.0, 2.0, 3.0)  # standard deviations at which the densities are drawn
COLORS = (4, 2, 3, 5)  # of the rules; 0 and 1 are the classes


@dataclass(eq=False, repr=False)
class OracleDisplay(Display):
    """Two Gaussian classes, the boundary of the Bayes rule, and those of linear rules.

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
        Two features: ellipses at 1, 2 and 3 standard deviations. One: the curve p f.
    boundary_ : ContourSet or list of Line2D
        Where the oracle changes its prediction.
    lines_ : dict of str to Line2D
        The boundaries of the rules that cross the window.
    points_ : list of artists
        The rows.

    Examples
    --------
    >>> from rosenblatt import GaussianPair, OracleDisplay, Perceptron
    >>> pair = GaussianPair([0, 0], 4.0, [10, 10], 4.0)
    >>> X, y = pair.sample((50, 50), seed=0)
    >>> display = OracleDisplay.from_estimator(Perceptron().fit(X, y), pair, X, y)
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
    def from_estimator(
        cls, estimator: Any, pair: GaussianPair, X: Any = None, y: Any = None, **options: Any
    ) -> Self:
        """Draw the hyperplane of a fitted model next to the oracle.

        Parameters
        ----------
        estimator : classifier
            A fitted linear classifier of two classes; the second is class 1 of the pair.
        pair : GaussianPair
            Classes with one or two features.
        X : array-like of shape (n, d), optional
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
        NotSupportedError
            If the model does not have one hyperplane.
        """
        check_fitted(estimator)
        coef = getattr(estimator, "coef_", None)
        if coef is None or coef.shape[0] != 1:
            raise NotSupportedError(
                f"the oracle is compared with one hyperplane, and this {type(estimator).__name__} "
                "has none or several. Fit a linear model on two classes; "
                "DecisionDisplay draws any other."
            )
        rules = {type(estimator).__name__.lower(): (coef, estimator.intercept_)}
        return cls.from_rules(pair, rules, X, y, **options)

    @classmethod
    def from_rules(
        cls,
        pair: GaussianPair,
        rules: Mapping[str, tuple[Any, Any]],
        X: Any = None,
        y: Any = None,
        **options: Any,
    ) -> Self:
        """Draw linear rules next to the oracle.

        Parameters
        ----------
        pair : GaussianPair
            Classes with one or two features.
        rules : dict of str to (w, b)
            Name, weights and offset of each rule; may be empty. ``pair.best_linear()`` finds the
            one with the smallest error.
        X : array-like of shape (n, d), optional
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
            If the pair has more than two features, or the rows have another number.
        ParameterError
            If a rule has another number of weights, or the name "oracle".
        """
        d = pair.n_features
        if d not in (1, 2):
            raise DataError(
                f"a pair of one or two features can be drawn, this one has {d}. Its errors need no "
                "picture: pair.bayes_error(), pair.error_of(w, b)."
            )
        if "oracle" in rules:
            raise ParameterError("'oracle' names the Bayes rule. Give your rule another name.")
        checked = {name: hyperplane(w, b) for name, (w, b) in rules.items()}
        for name, (w, _) in checked.items():
            if len(w) != d:
                raise ParameterError(f"rule {name!r} has {len(w)} weights; the pair needs {d}.")
        errors = {name: float(pair.error_of(w, b)) for name, (w, b) in checked.items()}
        errors = {"oracle": float(pair.bayes_error()), **errors}
        spreads = [(mean, 3.2 * np.sqrt(np.diag(cov))) for mean, cov in _classes(pair)]
        seen = np.array([mean + side * spread for mean, spread in spreads for side in (-1, 1)])
        points = None
        if X is not None:
            own = np.isin(np.asarray(y), (0, 1)).all()  # then a class may have no rows
            points = Points.of(X, y, (0, 1) if own else None)
            if points.X.shape[1] != d or len(points.names) != 2:
                raise DataError(
                    f"rows of {d} features and two classes can be drawn on this pair, got "
                    f"{points.X.shape[1]} features and {len(points.names)} classes."
                )
            points = replace(points, names=("class 0", "class 1"))
            seen = np.vstack([seen, points.X])
        window = Window.around(np.column_stack([seen, 0 * seen])[:, :2], 0.1, equal=d == 2)
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
        c = self._canvas(ax)
        self.lines_: dict[str, Any] = {}
        self.densities_: list[list[Any]] = []
        self.boundary_: Any = []
        self.points_: list[Any] = []
        look: dict[str, Any] = {"color": c.colors.ink, "lw": 2.2, "label": self._label("oracle")}
        c.ax.plot([], [], **look)
        window = self._draw_plane(c) if self.pair.n_features == 2 else self._draw_line(c)
        for k, (name, (w, b)) in enumerate(self.rules.items()):
            look = {"color": c.color(COLORS[k % len(COLORS)]), "ls": DASHES[1:][k % 4], "lw": 2.2}
            look |= {"label": self._label(name), "zorder": 5}
            line = c.line(window, np.append(w, 0.0)[:2], b, **look)
            if line is not None:
                self.lines_[name] = line
        c.finish(legend, grid=False)
        return self

    def _label(self, name: str) -> str:
        return f"{literal(name)}: error {self.errors[name]:.3g}"

    def _log_odds(self, rows: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.clip(self.pair.decision(rows), -1e9, 1e9)

    def _draw_plane(self, c: Canvas) -> Window:
        x, y, grid = self.window.grid()
        odds = self._log_odds(grid).reshape(GRID, GRID)
        look: dict[str, Any] = {"colors": [c.color(0), c.color(1)], "alpha": 0.16, "zorder": 0}
        c.ax.contourf(x, y, odds, levels=[-2e9, 0, 2e9], **look)
        if odds.min() < 0 < odds.max():
            look = {"colors": [c.colors.ink], "linewidths": 2.2, "zorder": 4}
            self.boundary_ = c.ax.contour(x, y, odds, levels=[0.0], **look)
        if self.points is not None:
            self.points_ = c.points(self.points, scale=0.55)
        at = np.linspace(0, 2 * np.pi, 181)
        circle = np.column_stack([np.cos(at), np.sin(at)])
        for k, (mean, cov) in enumerate(_classes(self.pair)):
            values, vectors = np.linalg.eigh(cov)
            ellipse = circle @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
            look = c.curve(k) | {"lw": 1.4, "zorder": 3.5}
            rings = [c.ax.plot(*(mean + radius * ellipse).T, **look)[0] for radius in RADII]
            rings[0].set_label(f"class {k}" if self.points is None else None)
            self.densities_.append(rings)
        self.window.show(c.ax, ("$x_1$", "$x_2$"))
        return self.window

    def _draw_line(self, c: Canvas) -> Window:
        x = np.linspace(self.window.left, self.window.right, 10 * GRID)
        odds = self._log_odds(x[:, None])
        priors = (1 - self.pair.prior1, self.pair.prior1)
        heights = [p * self.pair.density(x[:, None], k) for k, p in enumerate(priors)]
        for k, height in enumerate(heights):
            look = {"color": c.color(k), "alpha": 0.3, "lw": 0, "zorder": 0}
            c.ax.fill_between(x, height, where=(odds >= 0) == bool(k), **look)
            label = rf"$p_{k}\,f_{k}(x)$"
            self.densities_.append(c.ax.plot(x, height, label=label, **c.curve(k)))
        for j in np.flatnonzero(np.diff(odds >= 0)):
            zero = x[j] + (x[j + 1] - x[j]) * odds[j] / (odds[j] - odds[j + 1])
            self.boundary_.append(c.ax.axvline(zero, color=c.colors.ink, lw=2.0, zorder=4))
        top, low = float(np.max(heights)), 0.0
        if self.points is not None:
            low = -0.12 * top
            self.points_ = c.rug(self.points, low)
        window = Window(self.window.left, self.window.right, low, 1.05 * top, equal=False)
        window.show(c.ax, ("$x$", "density times prior"))
        return window


def _classes(pair: GaussianPair) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    return (pair.mean0, pair.cov0), (pair.mean1, pair.cov1)
