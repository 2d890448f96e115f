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

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rosenblatt.data.problem import Problem
from rosenblatt.errors import NotSupportedError, ParameterError
from rosenblatt.learn.trace import OneVsRestTrace
from rosenblatt.plot.canvas import Canvas, Display
from rosenblatt.plot.plane import Array
from rosenblatt.plot.runs import WeightPath, check_fitted, trace_of
from rosenblatt.plot.style import Axes, axes
from rosenblatt.prove.bounds import mistake_bound

FAR = 12  # times the updates made: from there on the axes are logarithmic


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
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        reference: tuple[Any, Any] | None = None,
        label: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a run that was fitted with ``record="updates"`` on separable rows.

        Parameters
        ----------
        estimator : Perceptron
            Fitted with mode "online" or "batch-mean", and tie other than "half".
        X : array-like of shape (n, d)
            The rows it was fitted on, with any number of features.
        y : array-like of shape (n,)
            Their labels.
        reference : tuple of (w, b), optional
            A hyperplane that separates the rows; u is its direction. By default the one of
            largest margin, which has the smallest bound.
        label : object, optional
            With more than two classes: the class whose hyperplane against the rest is drawn.
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
            If `reference` does not separate the rows.
        """
        check_fitted(estimator)
        trace_of(estimator, label)
        path, context = WeightPath.of(estimator, label), estimator._context
        bounds = estimator.bounds(X, y)
        if isinstance(estimator.trace_, OneVsRestTrace):
            bounds, y = bounds.of(label), [v == label for v in np.asarray(y).tolist()]
        several = context.mode == "batch" or context.tie == "half"
        reason = "a step answers several mistakes, or half of one" if several else ""
        if reason := reason or bounds["Novikoff"].why:
            raise NotSupportedError(
                f"there is no bound to draw: {reason}. Fit with rule 'perceptron' or 'margin', "
                "mode 'online' or 'batch-mean', tie 'mistake', one learning rate, no penalty and "
                "no weights, on rows that can be separated."
            )
        w, b = (bounds.margin.w, bounds.margin.b) if reference is None else reference
        eta, tau, start = context.eta, context.tau, (path.w[0], float(path.b[0]))
        intercept = context.fit_intercept
        problem = Problem.of(X, y)
        allowed = mistake_bound(problem, w, b, intercept=intercept, eta=eta, start=start, tau=tau)
        if not allowed.margin > 0:
            raise ParameterError(
                f"reference must separate the rows, its margin is {allowed.margin:.4g}. Leave it "
                "out for the hyperplane of largest margin, or check that w and b belong together."
            )
        u, walk = np.array([float(v) for v in np.ravel(w)]), path.w
        if intercept:
            u, walk = np.append(u, float(np.ravel(b)[0])), np.column_stack([path.w, path.b])
        return cls(
            updates=path.updates,
            projections=walk @ (u / np.linalg.norm(u)),
            norms=np.linalg.norm(walk, axis=1),
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
        log: bool | None = None,
        legend: bool = True,
        symbol: str = "w",
    ) -> Self:
        r"""Draw the picture.

        Parameters
        ----------
        ax : pair of Axes, optional
            Where to draw; a new figure by default.
        log : bool, optional
            Logarithmic axes, which leave out update 0. By default only if the bound is
            more than twelve times the number of updates.
        legend : bool, default=True
            Draw a legend.
        symbol : str, default="w"
            Symbol for the weights, for example ``r"\theta"``.

        Returns
        -------
        CosineDisplay
            This display.
        """
        pair: Any = axes(2, height=4.2, height_ratios=[2, 1]) if ax is None else ax
        if np.size(pair) != 2:
            raise ParameterError("ax must be two Axes, for example those of plt.subplots(2).")
        upper, lower = (Canvas.on(one) for one in np.ravel(pair))
        self.ax_, self.axes_, self.figure_ = upper.ax, (upper.ax, lower.ax), upper.ax.figure
        log = self.bound > FAR * self.updates[-1] if log is None else log
        end = max(self.bound, float(self.updates[-1]), 1.0)
        k = np.geomspace(1, end, 200) if log else np.linspace(0, end, 200)
        words, every = self._words(symbol), max(1, len(self.updates) // 12)
        self.lines_: dict[str, Any] = {}
        for c, name, at, marker, dash, values, bound in (
            (upper, "norm", 1, "s", (0, (1, 1.2)), self.norms, self.norm_bound),
            (upper, "projection", 0, "o", (0, (5, 2)), self.projections, self.projection_bound),
            (lower, "cosine", 2, "^", (0, (5, 2)), self.cosines, self.cosine_bound),
        ):
            dots = {"marker": marker, "mec": c.colors.edge, "mew": 0.6, "ms": 4.5}
            dots |= {"markevery": (at * every // 2, every), "label": words.get(name)}
            shown = slice(1 if log else 0, None)
            look = {"color": c.color(at), "lw": 1.7}
            (self.lines_[name],) = c.ax.plot(self.updates[shown], values[shown], **look, **dots)
            (self.lines_[f"{name} bound"],) = c.ax.plot(
                k, bound(k), ls=dash, label=words.get(f"{name} bound"), **look
            )
        for c, label in ((upper, words["bound"]), (lower, None)):
            look = {"color": c.colors.ink, "lw": 1.2, "ls": (0, (6, 2, 1, 2)), "label": label}
            self.lines_["bound"] = c.ax.axvline(self.bound, **look)
            c.ax.set_xscale("log" if log else "linear")
        upper.ax.set_yscale("log" if log else "linear")
        upper.ax.tick_params(labelbottom=False)
        lower.ax.axhline(1.0, color=lower.colors.ink, lw=0.9)
        lower.ax.set(xlabel="updates $k$", ylabel="cosine", xlim=upper.ax.get_xlim())
        lower.ax.set_ylim(min(0.0, np.nanmin(self.cosines)) - 0.08, 1.1)
        upper.finish(legend=False)
        lower.finish(legend, handles=upper.ax.get_legend_handles_labels()[0])
        return self

    def _words(self, symbol: str) -> dict[str, str]:
        """Labels of the lines; in a run from zero with eta = 1 they are those of the theorem."""
        from_zero = self.norms[0] == 0 and np.isclose(self.gain, self.gamma)
        plain = from_zero and np.isclose(self.growth, self.radius**2)
        norm, projection = rf"$\|{symbol}_k\|$", rf"${symbol}_k \cdot u$"
        name = r"$R^2/\gamma^2$" if plain else "bound"
        least = r"at least $k\,\gamma$" if from_zero else f"lower bound on {projection}"
        return {
            "norm": norm,
            "projection": projection,
            "norm bound": r"at most $\sqrt{k}\,R$" if plain else f"upper bound on {norm}",
            "projection bound": least,
            "bound": f"{name} = {self.bound:,.4g}",
        }


def _ratio(a: Array, b: Array) -> Array:
    found: Array = np.divide(a, b, out=np.full(np.shape(a), np.nan), where=b != 0)
    return found
