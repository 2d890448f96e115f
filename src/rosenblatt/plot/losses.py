"""LossesDisplay: losses as functions of the margin s = y (w.x + b)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from rosenblatt.errors import NotSupportedError, ParameterError
from rosenblatt.plot.canvas import Display, check_classifier
from rosenblatt.plot.plane import Array, Points
from rosenblatt.plot.style import Axes
from rosenblatt.theory.losses import LOSSES
from rosenblatt.theory.validation import as_numbers

FORMULAS = {
    "hard": "hard: 1 if $s < 0$",
    "soft": r"soft: $\max(-s,\ 0)$",
    "hinge": r"hinge: $\max(1 - s,\ 0)$",
    "logistic": r"logistic: $\log(1 + e^{-s})$",
    "squared": "squared: $(1 - s)^2$",
}
Losses = Sequence[str] | Mapping[str, Callable[[Array], Any]]
ALL: Losses = tuple(LOSSES)
Span = tuple[float, float]
SPAN = (-3.0, 3.0)


@dataclass(eq=False, repr=False)
class LossesDisplay(Display):
    """Losses as curves over the margin; below them the margins of a model's rows, if given.

    Parameters
    ----------
    s : ndarray
        Where the curves were computed; on both sides of a step at 0.
    curves : dict of str to ndarray
        The values of each curve.
    points : Points or None
        The margins y (w.x + b) of the rows as `X`, with `codes` and `names` of the classes.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    lines_ : dict of str to Line2D
        The curves.
    rows_ : list of artists
        The margins, one artist per class.

    Examples
    --------
    >>> from rosenblatt import LossesDisplay
    >>> display = LossesDisplay.from_functions()
    >>> [float(np.interp(-2, display.s, curve)) for curve in display.curves.values()][:3]
    [1.0, 2.0, 3.0]
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    s: Array
    curves: dict[str, Array]
    points: Points | None = None

    @classmethod
    def from_functions(cls, functions: Losses = ALL, *, span: Span = SPAN, **options: Any) -> Self:
        """Draw losses of the lectures, or any functions of one variable.

        Parameters
        ----------
        functions : list of str or dict of str to callable, optional
            Some of 'hard', 'soft', 'hinge', 'logistic', 'squared', by default all; or labels, each
            with a function of an array.
        span : tuple of float, default=(-3, 3)
            Where they are drawn.
        **options : dict
            Passed to `plot`, for example `ax`.

        Returns
        -------
        LossesDisplay
            The picture that was drawn.

        Raises
        ------
        ParameterError
            If a name is unknown, or the span is not two numbers, the smaller first.
        """
        return cls._of(functions, span).plot(**options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, functions: Losses = ALL, **options: Any
    ) -> Self:
        """Draw losses, and below them the margins of these rows under a fitted model.

        Parameters
        ----------
        estimator : classifier
            Fitted on two classes, with a decision_function.
        X : array-like of shape (n, d)
            Rows with any number of features.
        y : array-like of shape (n,)
            Their labels.
        functions : list of str or dict of str to callable, optional
            As for `from_functions`.
        **options : dict
            Passed to `plot`, for example `ax`.

        Returns
        -------
        LossesDisplay
            The picture that was drawn.

        Raises
        ------
        LabelError
            If there are not two classes, or y has labels of other classes.
        NotSupportedError
            If the estimator is not a classifier, or has no decision_function.
        ParameterError
            If a name is unknown.
        """
        check_classifier(estimator)
        if not hasattr(estimator, "decision_function"):
            raise NotSupportedError(
                f"losses are functions of y times the score, and {type(estimator).__name__} has no "
                "decision_function. Use a linear classifier, for example Perceptron."
            )
        points = Points.of(np.ones((len(np.asarray(y)), 1)), y, estimator.classes_)
        margins = points.signs * np.asarray(estimator.decision_function(X), dtype=np.float64)
        span = (min(-1.0, 1.05 * float(margins.min())), max(1.0, 1.05 * float(margins.max())))
        return cls._of(functions, span, replace(points, X=margins)).plot(**options)

    @classmethod
    def _of(cls, functions: Losses, span: Span, points: Points | None = None) -> Self:
        ends = as_numbers(span, "span")
        if ends.shape != (2,) or ends[0] >= ends[1]:
            raise ParameterError(f"span must be two numbers, the smaller first, got {span!r}.")
        if not isinstance(functions, Mapping):
            if isinstance(functions, str) or not functions or not set(functions) <= set(LOSSES):
                raise ParameterError(
                    f"functions must be a list with some of {', '.join(map(repr, LOSSES))}, or a "
                    f"dict of label to function, got {functions!r}."
                )
            functions = {name: LOSSES[name] for name in functions}
        # on both sides of a step at 0
        s = np.union1d(np.linspace(ends[0], ends[1], 601), np.clip([-1e-12, 0.0], *ends))
        curves = {name: np.broadcast_to(f(s), s.shape) for name, f in functions.items()}
        return cls(s, curves, points)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        xlabel: str = r"margin $s = y\,(w \cdot x + b)$",
        ylabel: str = "loss",
        legend: bool = True,
    ) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.
        xlabel, ylabel : str
            Names of the axes.
        legend : bool, default=True
            Draw a legend.

        Returns
        -------
        LossesDisplay
            This display.
        """
        c = self._canvas(ax)
        self.lines_: dict[str, Any] = {}
        self.rows_: list[Any] = []
        for k, (name, curve) in enumerate(self.curves.items()):
            label = FORMULAS.get(name, name)
            (self.lines_[name],) = c.ax.plot(self.s, curve, label=label, **c.curve(k))
        c.ax.axvline(0, color=c.colors.ink, lw=0.7, zorder=1)
        c.ax.set(xlabel=xlabel, ylabel=ylabel, xlim=(self.s[0], self.s[-1]))
        # the squared loss goes beyond the others
        shown = [v for name, v in self.curves.items() if name != "squared"] or self.curves.values()
        high = 1.05 * max(float(v.max()) for v in shown)
        low = min(0.0, *(float(v.min()) for v in self.curves.values())) - 0.03 * high
        if self.points is not None:
            low = -0.16 * high
            rows = np.column_stack([self.points.X, low * np.take([0.35, 0.75], self.points.codes)])
            names = tuple(f"rows of {name}" for name in self.points.names)
            self.rows_ = c.points(replace(self.points, X=rows, names=names), scale=0.6)
        c.ax.set_ylim(low, high)
        c.finish(legend)
        return self
