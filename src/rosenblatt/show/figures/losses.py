"""LossesDisplay: losses as functions of the margin s = y (w.x + b), in one plot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from rosenblatt.data.problem import Problem
from rosenblatt.errors import LabelError, ParameterError
from rosenblatt.show.figures.canvas import DASHES, MARKERS, Canvas, plain, point_size
from rosenblatt.show.figures.models import Array, check_fitted
from rosenblatt.theory.losses import LOSSES

WORDS = {
    "hard": "hard: 1 if $s < 0$",
    "soft": r"soft: $\max(-s,\ 0)$",
    "hinge": r"hinge: $\max(1 - s,\ 0)$",
    "logistic": r"logistic: $\log(1 + e^{-s})$",
    "squared": "squared: $(1 - s)^2$",
}
STEPS = 601


@dataclass(kw_only=True, eq=False)
class LossesDisplay:
    """Curves of one variable; and where the rows of a model stand, if it was given.

    Attributes
    ----------
    s : array
        Where the curves were computed; a step at 0 is seen as one.
    curves : dict of str to array
    margins : array or None
        y (w.x + b) of each row.
    codes : int array or None
        The class of each row, 0 or 1.
    names : tuple of str
        Of the classes.
    xlabel, ylabel : str
    top : float or None
        Where the picture ends above; None: with the curves.
    ax_, figure_ : the Axes and their figure
    lines_ : dict of str to Line2D
    rows_ : list of artists, one a class
    """

    s: Array
    curves: dict[str, Array]
    margins: Array | None = None
    codes: Array | None = None
    names: tuple[str, ...] = ()
    xlabel: str = "margin $s = y\\,(w \\cdot x + b)$"
    ylabel: str = "loss"
    top: float | None = None
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @classmethod
    def from_names(
        cls,
        names: Sequence[str] = tuple(LOSSES),
        *,
        span: tuple[float, float] = (-3.0, 3.0),
        ax: Any = None,
        **shown: Any,
    ) -> Self:
        """Draw losses of the lectures.

        Parameters
        ----------
        names : some of 'hard', 'soft', 'hinge', 'logistic', 'squared'; all by default
        span : (float, float), default=(-3, 3)
            The margins between which they are drawn. Above, the picture ends where the hinge
            leaves it on the left, because the square would dwarf the rest.
        ax : Axes, optional
            Where to draw; a new figure by default.
        **shown : passed on to `plot`

        Examples
        --------
        >>> from rosenblatt import LossesDisplay
        >>> shown = LossesDisplay.from_names()
        >>> [float(np.interp(-2, shown.s, curve)) for curve in shown.curves.values()][:3]
        [1.0, 2.0, 3.0]
        >>> import matplotlib.pyplot as plt
        >>> plt.close(shown.figure_)
        """
        s = _steps(span)
        return cls(s=s, curves=_named(names, s), top=_top(s)).plot(ax, **shown)

    @classmethod
    def from_functions(
        cls,
        functions: Mapping[str, Callable[[Array], Any]],
        *,
        span: tuple[float, float] = (-3.0, 3.0),
        xlabel: str = "$s$",
        ylabel: str = "",
        ax: Any = None,
        **shown: Any,
    ) -> Self:
        """Draw functions of your own: ReLU beside the losses, or a logistic function that steepens.

        Parameters
        ----------
        functions : dict of label to function of an array
        span : (float, float), default=(-3, 3)
        xlabel, ylabel : str
        ax, **shown : as in `from_names`
        """
        s = _steps(span)
        curves = {name: np.asarray(f(s), dtype=np.float64) for name, f in functions.items()}
        if not curves:
            raise ParameterError("functions is empty. Give at least one: {'ReLU': relu}.")
        for name, curve in curves.items():
            if curve.shape != s.shape:
                raise ParameterError(
                    f"the function {name!r} must give one number for each of {len(s)}, it gave "
                    f"shape {curve.shape}. Write it with numpy, np.maximum(s, 0) for example."
                )
        return cls(s=s, curves=curves, xlabel=xlabel, ylabel=ylabel).plot(ax, **shown)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        names: Sequence[str] = tuple(LOSSES),
        ax: Any = None,
        **shown: Any,
    ) -> Self:
        """Draw losses, and below them the margins of these rows under a fitted model.

        Parameters
        ----------
        estimator : fitted classifier of two classes with a decision_function
        X, y : rows and labels, any number of features
        names : some of 'hard', 'soft', 'hinge', 'logistic', 'squared'; all by default
        ax, **shown : as in `from_names`
        """
        check_fitted(estimator)
        scores = np.asarray(estimator.decision_function(X))
        return cls.from_predictions(y, scores, names=names, ax=ax, **shown)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        scores: Any,
        *,
        names: Sequence[str] = tuple(LOSSES),
        ax: Any = None,
        **shown: Any,
    ) -> Self:
        """The same from labels and scores.

        Parameters
        ----------
        y : labels of two classes
        scores : w.x + b of each row
        names, ax, **shown : as in `from_estimator`
        """
        scores = np.asarray(scores, dtype=np.float64)
        if scores.ndim != 1:
            raise LabelError(
                f"a margin is of two classes, and these scores have shape {scores.shape}. Compare "
                "one class with the rest: y == label."
            )
        problem = Problem.of(scores[:, None], y)
        if len(problem.classes) != 2:
            raise LabelError(
                f"a margin is of two classes, got {len(problem.classes)}. Compare one with the "
                "rest: y == label."
            )
        codes = problem.class_numbers()
        margins = (2 * codes - 1) * scores
        s = _steps((min(-1.0, 1.05 * float(margins.min())), max(1.0, 1.05 * float(margins.max()))))
        return cls(
            s=s,
            curves=_named(names, s),
            margins=margins,
            codes=codes,
            names=tuple(str(c) for c in problem.classes.tolist()),
            top=_top(s),
        ).plot(ax, **shown)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
        legend : bool, default=True
        """
        c = Canvas.on(ax)
        self.ax_, self.figure_ = c.ax, c.ax.figure
        self.lines_: dict[str, Any] = {}
        self.rows_: list[Any] = []
        for k, (name, curve) in enumerate(self.curves.items()):
            look = {"color": c.hue(k), "ls": DASHES[k % len(DASHES)], "lw": 2.0}
            (self.lines_[name],) = c.ax.plot(self.s, curve, label=WORDS.get(name, name), **look)
        c.ax.axvline(0, color=c.ink, lw=0.7, zorder=1)
        c.ax.set(xlabel=self.xlabel, ylabel=self.ylabel, xlim=(self.s[0], self.s[-1]))
        high = self.top or 1.05 * max(float(v.max()) for v in self.curves.values())
        low = min(0.0, *(float(v.min()) for v in self.curves.values()), 0.0) - 0.03 * high
        if self.margins is not None and self.codes is not None:
            low = -0.16 * high
            self._draw_rows(c, self.margins, self.codes, low)
        c.ax.set_ylim(low, high)
        c.ax.grid(alpha=0.25)
        if legend:
            c.legend()
        return self

    def _draw_rows(self, c: Canvas, margins: Array, codes: Array, low: float) -> None:
        """The margins of each class on a line of its own below zero."""
        for k, name in enumerate(self.names):
            mine = margins[codes == k]
            look = {"marker": MARKERS[k], "s": 0.6 * point_size(len(margins)), "linewidth": 0.4}
            look |= {"facecolor": c.hue(k), "edgecolor": c.ink, "alpha": 0.7}
            at = np.full(len(mine), low * (0.35 + 0.4 * k))
            self.rows_.append(
                c.ax.scatter(mine, at, label=f"rows of {plain(name)}", zorder=3, **look)
            )


def _named(names: Sequence[str], s: Array) -> dict[str, Array]:
    unknown = [name for name in names if name not in LOSSES]
    if isinstance(names, str) or unknown or not len(names):
        raise ParameterError(
            f"names must be some of {', '.join(map(repr, LOSSES))} in a list, got {names!r}."
        )
    return {name: LOSSES[name](s) for name in names}


def _steps(span: tuple[float, float]) -> Array:
    low, high = span
    if not low < high:
        raise ParameterError(f"span must be (low, high) with low < high, got {span!r}.")
    s = np.linspace(low, high, STEPS)
    if low < 0 < high:  # both sides of the step at 0
        s = np.unique(np.concatenate([s[np.abs(s) > 1e-9 * (high - low)], [-1e-12, 0.0]]))
    return s


def _top(s: Array) -> float:
    return max(1.0 - 1.04 * float(s[0]), 1.5)
