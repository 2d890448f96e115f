"""CosineDisplay: the proof of the mistake bound, for an actual run.

Let z = y (x, 1), or y x without offset, R the length of the longest z, u a unit vector with
z.u >= gamma > 0 for all rows. After k updates of step eta, from w_0:

    w_k.u    >=  w_0.u + k eta gamma              the projection grows like k
    ||w_k||  <=  sqrt(||w_0||^2 + k eta^2 R^2)    the norm like the root of k

Their ratio is a cosine and stays <= 1, so k cannot pass the point where the two meet; from zero
that is k = R^2 / gamma^2 [Novikoff 1962]. For a rule that moves at margins up to tau,
R^2 + 2 tau / eta takes the place of R^2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rosenblatt.data.problem import Problem
from rosenblatt.errors import NotSupportedError, ParameterError
from rosenblatt.learn.trace import OneVsRestTrace, Trace
from rosenblatt.plot.canvas import Canvas, Display
from rosenblatt.plot.plane import Array
from rosenblatt.plot.run import recorded
from rosenblatt.plot.style import DASHES, Axes, axes
from rosenblatt.prove.bounds import mistake_bound


@dataclass(eq=False, repr=False)
class CosineDisplay(Display):
    """The projection w_k.u and the norm of w_k with their bounds; below, their ratio, the cosine.

    Parameters
    ----------
    updates : ndarray of int
        0, 1, ..., the number of updates.
    projections, norms : ndarray
        The values w_k.u and ||w_k||, the offset counted as a weight.
    gamma, radius : float
        The margin of u, and R.
    bound : float
        Updates that u allows: R^2 / gamma^2 from zero, rounded up by very little.
    gain, growth : float
        The least that an update adds to w.u, and the most that it adds to ||w||^2.

    Attributes
    ----------
    cosines : ndarray
        Their ratio; nan where w_k = 0.
    ax_, figure_ : matplotlib Axes and Figure
        The upper Axes, and their figure.
    axes_ : tuple of Axes
        The upper and the lower Axes.
    lines_ : dict of str to Line2D
        'projection', 'norm', 'cosine', 'projection bound', 'norm bound', 'cosine bound', 'bound'.

    Examples
    --------
    >>> from rosenblatt import CosineDisplay, Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> clf = Perceptron(shuffle=False, tol=None, record="updates").fit(X, y)
    >>> display = CosineDisplay.from_estimator(clf, X, y)
    >>> int(display.updates[-1]), int(display.bound), round(float(display.cosines[-1]), 3)
    (18, 51, 0.991)
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    updates: Array
    projections: Array
    norms: Array
    gamma: float
    radius: float
    bound: float
    gain: float
    growth: float

    @property
    def cosines(self) -> Array:
        """The projections divided by the norms."""
        return _ratio(self.projections, self.norms)

    def projection_bound(self, k: Any) -> Array:
        """Lower bound on w_k.u.

        Parameters
        ----------
        k : array-like
            Numbers of updates.

        Returns
        -------
        ndarray
            One bound for each.
        """
        found: Array = self.projections[0] + np.asarray(k) * self.gain
        return found

    def norm_bound(self, k: Any) -> Array:
        """Upper bound on ||w_k||.

        Parameters
        ----------
        k : array-like
            Numbers of updates.

        Returns
        -------
        ndarray
            One bound for each.
        """
        found: Array = np.sqrt(self.norms[0] ** 2 + np.asarray(k) * self.growth)
        return found

    def cosine_bound(self, k: Any) -> Array:
        """Lower bound on the cosine.

        Parameters
        ----------
        k : array-like
            Numbers of updates.

        Returns
        -------
        ndarray
            One bound for each; nan where w_k.u may be negative, or w_k zero.
        """
        least = self.projection_bound(k)
        return _ratio(np.where(least >= 0, least, np.nan), self.norm_bound(k))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Self:
        """Draw a run that was fitted with ``record="updates"`` on separable rows.

        u is the direction of the hyperplane of largest margin, which has the smallest bound.

        Parameters
        ----------
        estimator : Perceptron
            Fitted with mode "online" or "batch-mean", and tie other than "half".
        X : array-like of shape (n, d)
            The rows it was fitted on, with any number of features.
        y : array-like of shape (n,)
            Their labels.
        **options : dict
            Passed to `plot`, for example `ax`.

        Returns
        -------
        CosineDisplay
            The picture that was drawn.

        Raises
        ------
        NotSupportedError
            If the theorem does not hold for such a run, or no hyperplane separates the rows.
        ParameterError
            If the run did not record its updates, or made none; or if this is a trace, which
            does not have the start and the parameters of the run.
        """
        if isinstance(estimator, (Trace, OneVsRestTrace)):
            raise ParameterError(
                f"the bound depends on parameters of the run, which a {type(estimator).__name__} "
                "does not have. Pass the fitted Perceptron."
            )
        w, b, _ = recorded(estimator)
        context, bounds = estimator._context, estimator.bounds(X, y)
        reason = bounds["Novikoff"].why
        if context.mode == "batch":
            reason = "a step of mode='batch' corrects several mistakes. Fit with mode='batch-mean'"
        elif context.tie == "half":
            reason = "tie='half' makes half updates. Fit with tie='mistake'"
        if reason:
            raise NotSupportedError(f"there is no bound to draw: {reason}.")
        intercept, eta, tau = context.fit_intercept, context.eta, context.tau
        widest, start = bounds.margin, (w[0], float(b[0]))
        allowed = mistake_bound(
            Problem.of(X, y), widest.w, widest.b, intercept=intercept, eta=eta, start=start, tau=tau
        )
        u = widest.w
        if intercept:
            u, w = np.append(u, widest.b), np.column_stack([w, b])
        return cls(
            updates=np.arange(len(w)),
            projections=w @ (u / np.linalg.norm(u)),
            norms=np.linalg.norm(w, axis=1),
            gamma=allowed.margin,
            radius=allowed.radius,
            bound=allowed.mistakes,
            gain=eta * allowed.margin,
            growth=eta**2 * allowed.radius**2 + 2 * eta * tau,
        ).plot(**options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        log: bool = False,
        legend: bool = True,
        symbol: str | Mapping[str, str] = "w",
    ) -> Self:
        r"""Draw the picture.

        Parameters
        ----------
        ax : pair of Axes, optional
            Where to draw; a new figure by default.
        log : bool, default=False
            Logarithmic axes, which leave out update 0: for a bound far beyond the last update.
        legend : bool, default=True
            Draw a legend.
        symbol : str or dict of str to str, default="w"
            Symbol for the weights, for example ``r"\theta"``; or symbols for some of ``"w"`` (the
            weights after k updates), ``"u"``, ``"k"``, ``"R"`` and ``"gamma"``, for example
            ``{"w": r"w_\ell", "k": r"\ell"}``.

        Returns
        -------
        CosineDisplay
            This display.

        Raises
        ------
        ParameterError
            If there are not two Axes.
        """
        pair: Any = axes(2, height=4.2, height_ratios=[2, 1]) if ax is None else ax
        if np.size(pair) != 2:
            raise ParameterError("ax must be two Axes, for example those of plt.subplots(2).")
        lower, upper = Canvas(np.ravel(pair)[1]), self._canvas(np.ravel(pair)[0])
        self.axes_ = (upper.ax, lower.ax)
        end, every = max(self.bound, float(self.updates[-1]), 1.0), 1 + len(self.updates) // 12
        k = np.geomspace(1, end, 200) if log else np.linspace(0, end, 200)
        shown = slice(int(log), None)
        words = self._words(**({"w": f"{symbol}_k"} if isinstance(symbol, str) else symbol))
        self.lines_: dict[str, Any] = {}
        for c, at, dash, name, values, bound in (
            (upper, 1, DASHES[2], "norm", self.norms, self.norm_bound),
            (upper, 0, DASHES[1], "projection", self.projections, self.projection_bound),
            (lower, 2, DASHES[1], "cosine", self.cosines, self.cosine_bound),
        ):
            look = c.curve(at, few=True) | {"ls": "-", "markevery": (at * every // 2, every)}
            (line,) = c.ax.plot(self.updates[shown], values[shown], label=words.get(name), **look)
            look = {"color": c.color(at), "ls": dash, "lw": 1.8}
            (least,) = c.ax.plot(k, bound(k), label=words.get(f"{name} bound"), **look)
            self.lines_ |= {name: line, f"{name} bound": least}
        for c, label in ((lower, None), (upper, words["bound"])):
            look = {"color": c.colors.ink, "lw": 1.2, "ls": DASHES[3], "label": label}
            self.lines_["bound"] = c.ax.axvline(self.bound, **look)
            c.ax.set_xscale("log" if log else "linear")
        upper.ax.set_yscale("log" if log else "linear")
        upper.ax.tick_params(labelbottom=False)
        lower.ax.axhline(1.0, color=lower.colors.ink, lw=0.9)
        lower.ax.set(xlabel=words["updates"], ylabel="cosine", xlim=upper.ax.get_xlim())
        lower.ax.set_ylim(min(0.0, np.nanmin(self.cosines)) - 0.08, 1.1)
        upper.finish(legend=False)
        lower.finish(legend, handles=upper.ax.get_legend_handles_labels()[0])
        return self

    def _words(
        self, w: str = "w_k", u: str = "u", k: str = "k", R: str = "R", gamma: str = r"\gamma"
    ) -> dict[str, str]:
        """Labels; in a run from zero with eta = 1 the bounds are those of the theorem."""
        norm, projection = rf"$\|{w}\|$", rf"${w} \cdot {u}$"
        most, least, bound = f"upper bound on {norm}", f"lower bound on {projection}", "bound"
        if np.allclose([self.norms[0], self.gain, self.growth], [0, self.gamma, self.radius**2]):
            most, least = rf"at most $\sqrt{{{k}}}\,{R}$", rf"at least ${k}\,{gamma}$"
            bound = f"${R}^2/{gamma}^2$"
        return {
            "norm": norm,
            "norm bound": most,
            "projection": projection,
            "projection bound": least,
            "bound": f"{bound} = {self.bound:,.4g}",
            "updates": f"updates ${k}$",
        }


def _ratio(a: Array, b: Array) -> Array:
    found: Array = np.divide(a, b, out=np.full(np.shape(a), np.nan), where=b != 0)
    return found
