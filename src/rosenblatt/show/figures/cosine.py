"""CosineDisplay: the mistake bound at work, update after update.

Let z = y (x, 1), or y x without offset, R the length of the longest z, u a unit vector with
z.u >= gamma > 0 for all rows. After k updates of step eta, from w_0:

    w_k.u    >=  w_0.u + k eta gamma              the numerator grows like k
    ||w_k||  <=  sqrt(||w_0||^2 + k eta^2 R^2)    the denominator like the root of k

Their ratio is a cosine and stays <= 1, so k cannot pass the point where the two meet; from zero
that is k = R^2 / gamma^2 [Novikoff 1962]. For a rule that moves at margins up to tau,
R^2 + 2 tau / eta takes the place of R^2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from rosenblatt.data.problem import Problem
from rosenblatt.errors import NotSupportedError, ParameterError
from rosenblatt.learn.trace import OneVsRestTrace
from rosenblatt.prove.bounds import mistake_bound
from rosenblatt.show.figures.canvas import Canvas, pyplot
from rosenblatt.show.figures.models import Array, check_fitted, trace_of
from rosenblatt.show.figures.weights import Path

FAR = 12  # times the updates made: from there on a bound is shown on logarithmic axes


@dataclass(kw_only=True, eq=False)
class CosineDisplay:
    """w_k.u and ||w_k|| with their bounds, and below them their ratio, the cosine.

    Attributes
    ----------
    updates : int array
        0, 1, ..., the number of updates.
    along, norms, cosine : float arrays
        w_k.u, ||w_k|| and their ratio (nan where w_k = 0), the offset counted as a weight.
    gamma, radius : float
        The margin of u, and R.
    bound : float
        Updates that u allows: R^2 / gamma^2 from zero, rounded up by very little.
    gain, growth : float
        What an update adds at least to w.u, and at most to ||w||^2.
    ax_, axes_, figure_ : the upper Axes, both, and their figure
    lines_ : dict of str to Line2D
        'along', 'norm', 'along bound', 'norm bound', 'cosine', 'cosine bound', 'bound'.
    """

    updates: Array
    along: Array
    norms: Array
    gamma: float
    radius: float
    bound: float
    gain: float
    growth: float
    ax_: Any = field(default=None, init=False)
    axes_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @property
    def cosine(self) -> Array:
        zero = self.norms == 0
        return np.where(zero, np.nan, self.along / np.where(zero, 1.0, self.norms))

    def least_along(self, k: Any) -> Array:
        """At least this is w_k.u."""
        found: Array = self.along[0] + np.asarray(k) * self.gain
        return found

    def most_norm(self, k: Any) -> Array:
        """At most this is ||w_k||."""
        found: Array = np.sqrt(self.norms[0] ** 2 + np.asarray(k) * self.growth)
        return found

    def least_cosine(self, k: Any) -> Array:
        """At least this is the cosine; nan where w_k.u may be negative, or w_k zero."""
        along, norm = self.least_along(k), self.most_norm(k)
        told = (along >= 0) & (norm > 0)
        return np.where(told, along / np.where(told, norm, 1.0), np.nan)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        reference: tuple[Any, Any] | None = None,
        label: Any = None,
        ax: Any = None,
        **shown: Any,
    ) -> Self:
        """Draw a run that was fitted with ``record="updates"`` on rows that can be separated.

        Parameters
        ----------
        estimator : fitted Perceptron
            With mode "online" or "batch-mean", and tie other than "half".
        X, y : the rows and labels it was trained on, any number of features
        reference : (w, b), optional
            The hyperplane that u is the direction of; one that separates the rows. By default the
            one of largest margin, which has the smallest bound.
        label : one of the classes, if there are more than two
            Whose hyperplane against the rest is meant.
        ax : Axes or a pair of Axes, optional
            One is split in two; a new figure by default.
        **shown : passed on to `plot`

        Examples
        --------
        >>> from rosenblatt import CosineDisplay, Perceptron
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
        >>> clf = Perceptron(shuffle=False, tol=None, record="updates").fit(X, y)
        >>> shown = CosineDisplay.from_estimator(clf, X, y)
        >>> int(shown.updates[-1]), int(shown.bound), round(float(shown.cosine[-1]), 3)
        (18, 51, 0.991)
        >>> import matplotlib.pyplot as plt
        >>> plt.close(shown.figure_)
        """
        check_fitted(estimator)
        trace_of(estimator, label)
        path = Path.of(estimator, label)
        began = _began(estimator)
        w, b = _largest_margin(estimator, X, y, label) if reference is None else reference
        problem = Problem.of(X, _labels(estimator, y, label))
        start = (path.w[0], float(path.b[0]))
        allowed = mistake_bound(
            problem, w, b, intercept=began.fit_intercept, eta=began.eta, start=start, tau=began.tau
        )
        if not allowed.margin > 0:
            raise ParameterError(
                f"reference must separate the rows, its margin is {allowed.margin:.4g}. Leave it "
                "out for the hyperplane of largest margin, or check that w and b belong together."
            )
        end = [float(np.ravel(b)[0])] if began.fit_intercept else []
        u = np.array([*map(float, np.ravel(w)), *end])
        walk = np.column_stack([path.w, path.b]) if began.fit_intercept else path.w
        return cls(
            updates=path.numbers,
            along=walk @ (u / np.linalg.norm(u)),
            norms=np.linalg.norm(walk, axis=1),
            gamma=allowed.margin,
            radius=allowed.radius,
            bound=allowed.mistakes,
            gain=began.eta * allowed.margin,
            growth=began.eta**2 * allowed.radius**2 + 2 * began.eta * began.tau,
        ).plot(ax, **shown)

    def plot(self, ax: Any = None, *, log: bool | None = None, legend: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : Axes or a pair of Axes, optional
        log : bool, optional
            Logarithmic axes, on which update 0 has no place. By default only if the bound is
            more than twelve times as far as the run went.
        legend : bool, default=True
        """
        upper, lower = _two(ax)
        self.ax_, self.axes_, self.figure_ = upper.ax, (upper.ax, lower.ax), upper.ax.figure
        log = self.bound > FAR * self.updates[-1] if log is None else log
        end = max(self.bound, float(self.updates[-1]), 1.0)
        k = np.geomspace(1, end, 200) if log else np.linspace(0, end, 200)
        keep = slice(1, None) if log else slice(None)
        self.lines_ = {}
        self._draw_growth(upper, k, keep)
        self._draw_cosine(lower, k, keep)
        for c in (upper, lower):
            words = f"{self._bound_words} = {self.bound:,.5g}" if c is upper else None
            look = {"color": c.ink, "lw": 1.2, "ls": (0, (6, 2, 1, 2)), "label": words}
            self.lines_["bound"] = c.ax.axvline(self.bound, **look)
            c.ax.grid(alpha=0.25)
            c.ax.set_xscale("log" if log else "linear")
        upper.ax.set_yscale("log" if log else "linear")
        upper.ax.tick_params(labelbottom=False)
        lower.ax.set(xlabel="updates $k$", ylabel="cosine", xlim=upper.ax.get_xlim())
        lower.ax.set_ylim(min(0.0, np.nanmin(self.cosine)) - 0.08, 1.1)
        if legend:
            upper.legend()
        return self

    def _draw_growth(self, c: Canvas, k: Array, keep: slice) -> None:
        norm = {"color": c.hue(1), "lw": 1.8}
        along = {"color": c.hue(0), "lw": 1.8}
        often = max(1, len(self.updates) // 20)
        dots = {"mec": c.ink, "mew": 0.6, "ms": 5, "markevery": often}
        seen, at = self.lines_, self.updates[keep]
        (seen["norm bound"],) = c.ax.plot(
            k, self.most_norm(k), **norm, ls=(0, (1, 1.2)), label=self._most_words
        )
        (seen["norm"],) = c.ax.plot(
            at, self.norms[keep], **norm, **dots, marker="s", label=r"$\|w_k\|$"
        )
        (seen["along"],) = c.ax.plot(
            at, self.along[keep], **along, **dots, marker="o", label=r"$w_k \cdot u$"
        )
        (seen["along bound"],) = c.ax.plot(
            k, self.least_along(k), **along, ls=(0, (5, 2)), label=self._least_words
        )

    def _draw_cosine(self, c: Canvas, k: Array, keep: slice) -> None:
        often = max(1, len(self.updates) // 20)
        dots = {"marker": "^", "mec": c.ink, "mew": 0.6, "ms": 5, "markevery": often}
        at, values = self.updates[keep], self.cosine[keep]
        (self.lines_["cosine"],) = c.ax.plot(at, values, color=c.hue(2), lw=1.8, **dots)
        look = {"color": c.hue(2), "lw": 1.4, "ls": (0, (5, 2))}
        (self.lines_["cosine bound"],) = c.ax.plot(k, self.least_cosine(k), **look)
        c.ax.axhline(1.0, color=c.ink, lw=0.9)

    @property
    def _from_zero(self) -> bool:
        return bool(self.norms[0] == 0 and np.isclose(self.gain, self.gamma))

    @property
    def _plain(self) -> bool:
        return self._from_zero and bool(np.isclose(self.growth, self.radius**2))

    @property
    def _bound_words(self) -> str:
        return r"$R^2/\gamma^2$" if self._plain else "bound"

    @property
    def _most_words(self) -> str:
        return r"at most $\sqrt{k}\,R$" if self._plain else r"most $\|w_k\|$ can be"

    @property
    def _least_words(self) -> str:
        return r"at least $k\,\gamma$" if self._from_zero else r"least $w_k \cdot u$ can be"


def _began(estimator: Any) -> Any:
    """How the run began, if the theorem holds for such runs."""
    began = estimator._context
    why = ""
    if began.calls > 1:
        why = "partial_fit was called more than once, and where the run began is not kept. Use fit"
    elif not began.has_rate:
        why = f"rule={began.rule!r} has steps of its own. Fit with rule='perceptron' or 'margin'"
    elif began.penalty:
        why = "a penalty moves the weights at every visit. Fit with penalty=None"
    elif began.weights == "other":
        why = "weights of rows make steps of different sizes. Fit without them"
    elif began.eta is None:
        why = "the learning rate changes. Fit with one number as eta0"
    elif began.mode == "batch" or began.tie == "half":
        why = (
            "a step of it answers several mistakes, or half of one. Fit with mode='online' or "
            "'batch-mean', and tie='mistake'"
        )
    elif not began.fit_intercept and began.starts[0][1].any():
        why = "it starts with an offset that is never trained. Start without"
    if why:
        raise NotSupportedError(f"this picture of the bound is not for this run: {why}.")
    return began


def _labels(estimator: Any, y: Any, label: Any) -> Any:
    """Two classes: as they are, or `label` against the rest."""
    if not isinstance(estimator.trace_, OneVsRestTrace):
        return y
    return np.asarray([v == label for v in np.asarray(y).tolist()])


def _largest_margin(estimator: Any, X: Any, y: Any, label: Any) -> tuple[Any, Any]:
    told = estimator.bounds(X, y)
    told = told.of(label) if isinstance(estimator.trace_, OneVsRestTrace) else told
    if told.margin is None:
        raise ParameterError(
            f"there is no bound to draw: {told['Novikoff'].why}. Draw rows that can be separated; "
            "separability(X, y) says which ones stand in the way."
        )
    return told.margin.w, told.margin.b


def _two(ax: Any) -> tuple[Canvas, Canvas]:
    """An upper and a lower canvas: both given, or one that is split, or new ones."""
    if ax is None:
        ax = pyplot().subplots(layout="constrained")[1]
    if np.ndim(ax) == 0:
        first = Canvas.on(ax)
        spec = ax.get_subplotspec()
        if spec is None:
            raise ParameterError(
                "this Axes is not part of a grid, so it cannot be split. Make it with "
                "plt.subplots(), or pass a pair: fig.subplots(2, 1)."
            )
        inner = spec.subgridspec(2, 1, height_ratios=[2, 1])
        ax.set_axis_off()
        ax = [first.ax.figure.add_subplot(inner[k]) for k in range(2)]
    pair = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(pair) != 2:
        raise ParameterError(f"ax must be one Axes or two, got {len(pair)}.")
    return Canvas.on(pair[0]), Canvas.on(pair[1])
