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
from rosenblatt.plot.canvas import Canvas, Display, check_classifier
from rosenblatt.plot.plane import GRID, Array, Points, Window
from rosenblatt.plot.style import DASHES, Axes, literal
from rosenblatt.theory.gaussian_pair import GaussianPair
from rosenblatt.theory.validation import as_plane

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
        Ellipses at 1, 2 and 3 standard deviations.
    boundary_ : ContourSet or None
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
            Classes with two features.
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
        NotSupportedError
            If the estimator is not a classifier, or does not have one hyperplane.
        DataError
            If the pair or the rows do not have two features.
        LabelError
            If y does not have two classes.
        """
        check_classifier(estimator)
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
            Classes with two features.
        rules : dict of str to (w, b)
            Name, weights and offset of each rule; may be empty. ``pair.best_linear()`` finds the
            one with the smallest error.
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
            If the pair or the rows do not have two features, or a rule not two weights.
        LabelError
            If y does not have two classes.
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
        checked = {
            name: as_plane(w, b, 2, (f"w of {name!r}", f"b of {name!r}"))
            for name, (w, b) in rules.items()
        }
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
        c = self._canvas(ax)
        self.lines_: dict[str, Any] = {}
        self.points_: list[Any] = []
        self._draw_oracle(c)
        if self.points is not None:
            self.points_ = c.points(self.points, scale=0.55)
        self._draw_densities(c)
        for k, (name, (w, b)) in enumerate(self.rules.items()):
            look = {"color": c.color(COLORS[k % len(COLORS)]), "ls": DASHES[1:][k % 4], "lw": 2.2}
            line = c.line(self.window, w, b, label=self._label(name), **look | {"zorder": 5})
            if line is not None:
                self.lines_[name] = line
        self.window.show(c.ax, ("$x_1$", "$x_2$"))
        c.finish(legend, grid=False)
        return self

    def _label(self, name: str) -> str:
        return f"{literal(name)}: error {self.errors[name]:.3g}"

    def _draw_oracle(self, c: Canvas) -> None:
        """The two regions of the Bayes rule and the boundary between them."""
        x, y, grid = self.window.grid()
        with np.errstate(over="ignore"):
            odds = np.clip(self.pair.decision(grid), -1e9, 1e9).reshape(GRID, GRID)
        look: dict[str, Any] = {"colors": [c.color(0), c.color(1)], "alpha": 0.16, "zorder": 0}
        c.ax.contourf(x, y, odds, levels=[-2e9, 0, 2e9], **look)
        c.ax.plot([], [], color=c.colors.ink, lw=2.2, label=self._label("oracle"))
        self.boundary_: Any = None
        if odds.min() < 0 < odds.max():
            look = {"colors": [c.colors.ink], "linewidths": 2.2, "zorder": 4}
            self.boundary_ = c.ax.contour(x, y, odds, levels=[0.0], **look)

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
