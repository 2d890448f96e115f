"""OracleDisplay: two Gaussian classes, the Bayes rule, and linear rules beside it.

The oracle knows the densities and says class 1 where p1 f1(x) >= p0 f0(x); nobody errs less. The
errors in the legend are true errors, computed from the densities and not counted on rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from rosenblatt.data.problem import Problem
from rosenblatt.errors import DataError, NotSupportedError, ParameterError
from rosenblatt.show.figures.canvas import DASHES, MARKERS, Canvas, plain, point_size
from rosenblatt.show.figures.models import Array, check_fitted
from rosenblatt.show.figures.plane import Window

RADII = (1.0, 2.0, 3.0)  # standard deviations at which the densities are drawn
HUES = (4, 2, 3, 5, 6)  # of the rules; 0 and 1 are the classes


@dataclass(kw_only=True, eq=False)
class OracleDisplay:
    """Densities and boundaries. Two features: contours. One: the curves p f themselves.

    Attributes
    ----------
    pair : GaussianPair
    rules : dict of str to (w, b)
        Linear rules: class 1 where w.x + b >= 0.
    errors : dict of str to float
        The true error of each rule, and of 'oracle'.
    X, codes : arrays or None
        Rows that are drawn, and their classes 0 and 1.
    window : Window
    steps : int
        Points of the grid along an axis, on which the boundary of the oracle is found.
    ax_, figure_ : the Axes and their figure
    densities_ : list of two lists of Line2D
        Two features: ellipses at 1, 2 and 3 standard deviations. One: the curve p f.
    boundary_ : ContourSet (two features) or list of Line2D
        Where the oracle changes its mind.
    lines_ : dict of str to Line2D
        The boundaries of the rules that cross the window.
    points_ : list of artists
    """

    pair: Any
    rules: dict[str, tuple[Array, float]]
    errors: dict[str, float]
    X: Array | None
    codes: Array | None
    window: Window
    steps: int
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)
    boundary_: Any = field(default=None, init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        pair: Any,
        X: Any = None,
        y: Any = None,
        *,
        name: str | None = None,
        best_linear: bool = False,
        steps: int = 300,
        ax: Any = None,
        **shown: Any,
    ) -> Self:
        """Draw the hyperplane of a fitted model beside the oracle.

        Parameters
        ----------
        estimator : fitted linear classifier of two classes
            Its second class is class 1 of the pair.
        pair : GaussianPair
            Of one or two features.
        X, y : rows and labels, optional
            What it was trained on, for example.
        name : str, optional
            What the model is called in the legend; its class in small letters by default.
        best_linear : bool, default=False
            Also draw the linear rule of least true error.
        steps : int, default=300
            Points of the grid along an axis, on which the boundary of the oracle is found.
        ax : Axes, optional
            Where to draw; a new figure by default.
        **shown : passed on to `plot`

        Examples
        --------
        >>> from rosenblatt import GaussianPair, OracleDisplay, Perceptron
        >>> pair = GaussianPair([0, 0], 4.0, [10, 10], 4.0)
        >>> X, y = pair.sample((50, 50), seed=0)
        >>> shown = OracleDisplay.from_estimator(Perceptron().fit(X, y), pair, X, y)
        >>> shown.errors["oracle"] < shown.errors["perceptron"] < 0.05
        True
        >>> import matplotlib.pyplot as plt
        >>> plt.close(shown.figure_)
        """
        check_fitted(estimator)
        coef = getattr(estimator, "coef_", None)
        if coef is None or coef.shape[0] != 1:
            raise NotSupportedError(
                f"the oracle is compared with one hyperplane, and this {type(estimator).__name__} "
                "has none or several. Fit a linear model on two classes; "
                "DecisionDisplay draws any other."
            )
        rules = {name or type(estimator).__name__.lower(): (coef, estimator.intercept_)}
        return cls.from_rules(
            pair, rules, X, y, best_linear=best_linear, steps=steps, ax=ax, **shown
        )

    @classmethod
    def from_rules(
        cls,
        pair: Any,
        rules: Mapping[str, tuple[Any, Any]],
        X: Any = None,
        y: Any = None,
        *,
        best_linear: bool = False,
        steps: int = 300,
        ax: Any = None,
        **shown: Any,
    ) -> Self:
        """Draw several linear rules beside the oracle.

        Parameters
        ----------
        pair : GaussianPair
            Of one or two features.
        rules : dict of name to (w, b); may be empty
        X, y, best_linear, steps, ax, **shown : as in `from_estimator`
        """
        d = pair.n_features
        if d not in (1, 2):
            raise DataError(
                f"a pair of one or two features can be drawn, this one has {d}. Its errors need no "
                "picture: pair.bayes_error(), pair.error_of(w, b)."
            )
        checked = {name: _plane(name, rule, d) for name, rule in rules.items()}
        if best_linear:
            best = pair.best_linear()
            checked["best linear"] = _plane("best linear", (best.w, best.b), d)
        errors = {name: float(pair.error_of(w, b)) for name, (w, b) in checked.items()}
        rows, codes = _rows(X, y, d)
        return cls(
            pair=pair,
            rules=checked,
            errors={"oracle": float(pair.bayes_error()), **errors},
            X=rows,
            codes=codes,
            window=_window(pair, rows),
            steps=steps,
        ).plot(ax, **shown)

    def plot(self, ax: Any = None, *, regions: bool = True, legend: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
        regions : bool, default=True
            Fill the regions of the oracle.
        legend : bool, default=True
            With the true error of every rule.
        """
        c = Canvas.on(ax)
        self.ax_, self.figure_ = c.ax, c.ax.figure
        self.densities_: list[list[Any]] = []
        self.lines_: dict[str, Any] = {}
        self.points_: list[Any] = []
        if self.pair.n_features == 2:
            self._draw_plane(c, regions)
        else:
            self._draw_line(c, regions)
        if legend:
            c.legend()
        return self

    def _words(self, name: str) -> str:
        return f"{plain(name)}: error {self.errors[name]:.3g}"

    def _looks(self, c: Canvas) -> Any:
        for k, (name, (w, b)) in enumerate(self.rules.items()):
            look = {"color": c.hue(HUES[k % len(HUES)]), "ls": DASHES[1:][k % 4], "lw": 2.2}
            yield name, w, b, {**look, "label": self._words(name), "zorder": 5}

    # ------------------------------------------------------------------ two features

    def _draw_plane(self, c: Canvas, regions: bool) -> None:
        x, y, grid = self.window.grid(self.steps)
        with np.errstate(over="ignore"):
            odds = np.clip(self.pair.decision(grid), -1e9, 1e9).reshape(self.steps, self.steps)
        if regions:
            hues = [c.wash(0), c.wash(1)]
            c.ax.contourf(x, y, odds, levels=[-2e9, 0, 2e9], colors=hues, zorder=0)
        c.ax.plot([], [], color=c.ink, lw=2.2, label=self._words("oracle"))
        if odds.min() < 0 < odds.max():
            self.boundary_ = c.ax.contour(
                x, y, odds, levels=[0.0], colors=[c.ink], linewidths=2.2, zorder=4
            )
        if self.X is not None and self.codes is not None:
            names = ["class 0", "class 1"]
            size = 0.55 * point_size(len(self.X))
            self.points_ = c.points(self.X, self.codes, names, s=size, linewidth=0.4)
        for k, (mean, cov) in enumerate(_classes(self.pair)):
            look = {"color": c.hue(k), "lw": 1.4, "ls": DASHES[k], "zorder": 3.5}
            rings = [c.ax.plot(*_ellipse(mean, cov, r).T, **look)[0] for r in RADII]
            rings[0].set_label(f"class {k}" if self.X is None else None)
            self.densities_.append(rings)
        for name, w, b, look in self._looks(c):
            ends = self.window.chord(w, b)
            if len(ends):
                (self.lines_[name],) = c.ax.plot(*ends.T, **look)
            else:
                c.ax.plot([], [], **look | {"label": f"{self._words(name)} (not in sight)"})
        c.ax.set(xlabel="$x_1$", ylabel="$x_2$")
        self.window.show(c.ax)

    # ------------------------------------------------------------------- one feature

    def _draw_line(self, c: Canvas, regions: bool) -> None:
        x = np.linspace(self.window.left, self.window.right, 8 * self.steps)
        with np.errstate(over="ignore"):
            odds = np.asarray(self.pair.decision(x[:, None]))
        priors = (1 - self.pair.prior1, self.pair.prior1)
        top = 0.0
        for k, prior in enumerate(priors):
            height = prior * self.pair.density(x[:, None], k)
            top = max(top, float(height.max()))
            if regions:
                mine = (odds >= 0) == bool(k)
                c.ax.fill_between(x, height, where=mine, color=c.wash(k, 0.35), zorder=0)
            look = {"color": c.hue(k), "ls": DASHES[k], "lw": 1.9, "zorder": 3}
            label = rf"$p_{k}\,f_{k}(x)$"
            self.densities_.append(c.ax.plot(x, height, label=label, **look))
        self.boundary_ = []
        at = np.flatnonzero((odds[1:] >= 0) != (odds[:-1] >= 0))
        for j in at.tolist():
            zero = x[j] + (x[j + 1] - x[j]) * odds[j] / (odds[j] - odds[j + 1])
            self.boundary_.append(c.ax.axvline(zero, color=c.ink, lw=2.0, zorder=4))
        c.ax.plot([], [], color=c.ink, lw=2.0, label=self._words("oracle"))
        for name, w, b, look in self._looks(c):
            if w[0]:
                self.lines_[name] = c.ax.axvline(-b / w[0], **look)
        if self.X is not None and self.codes is not None:
            self._draw_rug(c, self.X, self.codes, top)
        c.ax.set(xlabel="$x$", ylabel="density times prior", xlim=(x[0], x[-1]))
        c.ax.set_ylim(-0.12 * top if self.X is not None else 0.0, 1.05 * top)

    def _draw_rug(self, c: Canvas, X: Array, codes: Array, top: float) -> None:
        for k in (0, 1):
            mine = X[codes == k, 0]
            look = {"marker": MARKERS[k], "s": 0.6 * point_size(len(X)), "linewidth": 0.4}
            look |= {"facecolor": c.hue(k), "edgecolor": c.ink, "label": f"rows of class {k}"}
            low = np.full(len(mine), -top * (0.04 + 0.05 * k))
            self.points_.append(c.ax.scatter(mine, low, **look))


def _classes(pair: Any) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    return (pair.mean0, pair.cov0), (pair.mean1, pair.cov1)


def _ellipse(mean: Array, cov: Array, radius: float) -> Array:
    """The points x with (x - mean)' cov^-1 (x - mean) = radius^2."""
    at = np.linspace(0, 2 * np.pi, 181)
    values, vectors = np.linalg.eigh(cov)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    found: Array = mean + radius * np.column_stack([np.cos(at), np.sin(at)]) @ root.T
    return found


def _window(pair: Any, rows: Array | None) -> Window:
    """Three standard deviations of both classes, and all rows."""
    ends = []
    for mean, cov in _classes(pair):
        spread = 3.2 * np.sqrt(np.diag(cov))
        ends += [mean - spread, mean + spread]
    seen = np.array(ends) if rows is None else np.vstack([*ends, rows])
    if seen.shape[1] == 1:
        seen = np.column_stack([seen, np.zeros(len(seen))])
        return Window.around(seen, pad=0.02, equal=False)
    return Window.around(seen, pad=0.1)


def _plane(name: str, rule: tuple[Any, Any], d: int) -> tuple[Array, float]:
    w, b = rule
    w = np.ravel(w.toarray() if sp.issparse(w) else w).astype(np.float64)
    if len(w) != d:
        raise ParameterError(
            f"the rule {name!r} has {len(w)} weights and the pair has {d} features. Fit it on rows "
            "of this pair: pair.sample(n)."
        )
    return w, float(np.ravel(b)[0])


def _rows(X: Any, y: Any, d: int) -> tuple[Array | None, Array | None]:
    if X is None:
        return None, None
    problem = Problem.of(X, y)
    if problem.n_features != d or len(problem.classes) > 2:
        raise DataError(
            f"rows of {d} features and two classes can be drawn on this pair, got "
            f"{problem.n_features} features and {len(problem.classes)} classes."
        )
    dense = problem.X.toarray() if sp.issparse(problem.X) else problem.X
    return np.asarray(dense, dtype=np.float64), problem.class_numbers()
