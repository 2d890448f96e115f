"""Displays of a run: its mistakes, its weights, and its hyperplanes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rosenblatt.errors import DataError, ParameterError
from rosenblatt.learn.trace import OneVsRestTrace, Trace
from rosenblatt.plot.canvas import Display
from rosenblatt.plot.plane import Array, Points, Window, check_two_features, dense
from rosenblatt.plot.style import Axes, literal

FEW = 60  # points of a curve that can have a marker each
MAX_NAMED = 8  # weights that can be told apart
LINES = 8  # hyperplanes of a run


def any_trace(source: Any) -> Trace | OneVsRestTrace:
    """The trace of a fitted Perceptron, or the trace itself."""
    if isinstance(source, (Trace, OneVsRestTrace)):
        return source
    check_is_fitted(source)
    if not hasattr(source, "trace_"):
        raise ParameterError(
            "only a rosenblatt.Perceptron keeps the trace of its run. Fit one, or pass a Trace."
        )
    found: Trace | OneVsRestTrace = source.trace_
    return found


def recorded(source: Any) -> tuple[Array, Array, Any]:
    """Weights, offsets and record of a run on two classes."""
    trace = any_trace(source)
    if isinstance(trace, OneVsRestTrace):
        label = trace.classes.tolist()[0]
        raise ParameterError(
            f"this run has {len(trace)} traces, one for each class against the rest. Draw one of "
            f"them: pass trace_.of({label!r}) with the labels y == {label!r}, or fit on these."
        )
    if trace.n_updates == 0:
        raise ParameterError(
            "this run made no update, so there is nothing to draw. Try another start: init=."
        )
    return *trace.path(), trace.record


def recorded_rows(source: Any, X: Any, y: Any) -> tuple[Array, Array, Any, Points]:
    """The same, and the rows; DataError unless they are those of the run, where it knows them."""
    w, b, record = recorded(source)
    points = Points.of(X, y)
    problem = record.setting.problem
    if problem is not None and not (  # a trace that was stored or copied has no rows
        np.array_equal(dense(problem.X), points.X) and np.array_equal(problem.y, points.signs)
    ):
        raise DataError(
            "X and y are not the rows and labels this run was made on, or were changed since. "
            "Pass those it was fitted on."
        )
    return w, b, record, points


@dataclass(eq=False, repr=False)
class MistakesDisplay(Display):
    """Mistakes per epoch; with several classes, each against the rest, one line for each.

    Parameters
    ----------
    mistakes : dict of str to ndarray
        What each line shows, one entry per epoch.
    stopped : str
        Why the run stopped: the title.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    lines_ : dict of str to Line2D
        The lines.

    Examples
    --------
    >>> from rosenblatt import MistakesDisplay, Perceptron
    >>> clf = Perceptron(shuffle=False, tol=None).fit([[0, 0], [0, 1], [1, 1]], [0, 0, 1])
    >>> display = MistakesDisplay.from_estimator(clf)
    >>> display.mistakes["mistakes"]
    array([2, 3, 2, 1, 0])
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    mistakes: dict[str, Array]
    stopped: str

    @classmethod
    def from_estimator(cls, estimator: Any, **options: Any) -> Self:
        """Draw a run.

        Parameters
        ----------
        estimator : Perceptron, Trace or OneVsRestTrace
            A fitted Perceptron, or its `trace_`.
        **options : dict
            Passed to `plot`, for example `ax`.

        Returns
        -------
        MistakesDisplay
            The picture that was drawn.

        Raises
        ------
        ParameterError
            If the estimator has no trace.
        """
        trace = any_trace(estimator)
        if isinstance(trace, OneVsRestTrace):
            pairs = zip(trace.classes.tolist(), trace.traces, strict=True)
            lines = {f"{label} against the rest": one.mistakes for label, one in pairs}
        else:
            lines = {"mistakes": trace.mistakes}
            if (trace.updates != trace.mistakes).any():
                lines["updates"] = trace.updates
        return cls(lines, trace.stop_reason.sentence).plot(**options)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        MistakesDisplay
            This display.
        """
        c = self._canvas(ax)
        self.lines_ = {}
        for k, (name, values) in enumerate(self.mistakes.items()):
            look = c.curve(k, few=len(values) <= FEW) | {"label": literal(name)}
            (self.lines_[name],) = c.ax.plot(np.arange(1, len(values) + 1), values, **look)
        c.ax.set(xlabel="epoch", ylabel="per epoch" if "updates" in self.lines_ else "mistakes")
        c.ax.set_ylim(bottom=-0.03 * max(1, *(int(v.max()) for v in self.mistakes.values())))
        for axis in (c.ax.xaxis, c.ax.yaxis):
            axis.get_major_locator().set_params(integer=True)
        c.ax.set_title(self.stopped, fontsize="medium", wrap=True)
        c.finish(legend=len(self.lines_) > 1)
        return self


@dataclass(eq=False, repr=False)
class WeightsDisplay(Display):
    """Each weight, and the offset, against the number of updates.

    Parameters
    ----------
    w : ndarray of shape (n_updates + 1, n_features)
        The weights at the start, and after each update.
    b : ndarray of shape (n_updates + 1,)
        The offset.
    names : tuple of str or None
        Names of the features; None if the model was fitted without.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    lines_ : dict of str to Line2D
        The lines. The offset has one if it moved.

    Examples
    --------
    >>> from rosenblatt import Perceptron, WeightsDisplay
    >>> clf = Perceptron(
    ...     fit_intercept=False, shuffle=False, init=[1, -0.8], record="updates", tol=None
    ... ).fit([[1, 2], [-1, 2], [0, -1]], [1, -1, -1])
    >>> display = WeightsDisplay.from_estimator(clf)
    >>> display.lines_["$w_1$"].get_ydata()
    array([1., 2., 3., 3.])
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    w: Array
    b: Array
    names: tuple[str, ...] | None

    @classmethod
    def from_estimator(cls, estimator: Any, **options: Any) -> Self:
        """Draw the weights of a run that was fitted with ``record="updates"``.

        Parameters
        ----------
        estimator : Perceptron or Trace
            A fitted Perceptron, or its `trace_`.
        **options : dict
            Passed to `plot`, for example `ax`.

        Returns
        -------
        WeightsDisplay
            The picture that was drawn.

        Raises
        ------
        ParameterError
            If the run did not record its updates, or made none.
        """
        names = getattr(estimator, "feature_names_in_", None)
        named = None if names is None else tuple(literal(name) for name in names)
        w, b, _ = recorded(estimator)
        return cls(w, b, named).plot(**options)

    def plot(self, ax: Axes | None = None, *, legend: bool = True, symbol: str = "w") -> Self:
        r"""Draw the picture.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.
        legend : bool, default=True
            Draw a legend, unless there are more than eight lines.
        symbol : str, default="w"
            Symbol for the weights, for example ``r"\theta"``.

        Returns
        -------
        WeightsDisplay
            This display.
        """
        c = self._canvas(ax)
        names = self.names or [f"${symbol}_{j + 1}$" for j in range(self.w.shape[1])]
        values = dict(zip(names, self.w.T, strict=True))
        if self.b.any():
            values["offset $b$"] = self.b
        few = len(self.b) <= FEW
        self.lines_ = {}
        for k, (name, line) in enumerate(values.items()):
            look = c.curve(k, few) | {"label": name}
            if len(values) > MAX_NAMED:
                look = {"color": c.color(0), "alpha": 0.5, "lw": 0.8}
            steps = "default" if few else "steps-post"
            (self.lines_[name],) = c.ax.plot(line, drawstyle=steps, **look)
        c.ax.set(xlabel="update", ylabel="weight")
        c.ax.xaxis.get_major_locator().set_params(integer=True)
        c.ax.axhline(0, color=c.colors.ink, lw=0.6, zorder=1)
        c.finish(legend)
        return self


@dataclass(eq=False, repr=False)
class HyperplanesDisplay(Display):
    """Hyperplanes of one run over its rows: the first dotted, the last bold, some between.

    Parameters
    ----------
    points : Points
        The rows.
    window : Window
        The part of the plane that is drawn.
    updates : ndarray of int
        The updates after which a hyperplane is drawn; 0 is the start.
    w, b : ndarray
        These hyperplanes, one per row.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    points_ : list of artists
        The rows.
    lines_ : dict of int to Line2D
        The hyperplanes that cross the window, by number of the update.

    Examples
    --------
    >>> from rosenblatt import HyperplanesDisplay, Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> clf = Perceptron(shuffle=False, tol=None, record="updates").fit(X, y)
    >>> HyperplanesDisplay.from_estimator(clf, X, y).updates
    array([ 0,  3,  5,  8, 10, 13, 15, 18])
    >>> import matplotlib.pyplot as plt
    >>> plt.close()
    """

    points: Points
    window: Window
    updates: Array
    w: Array
    b: Array

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Self:
        """Draw the hyperplanes of a run that was fitted with ``record="updates"``.

        Parameters
        ----------
        estimator : Perceptron or Trace
            A fitted Perceptron, or its `trace_`.
        X : array-like of shape (n, 2)
            Rows with two features.
        y : array-like of shape (n,)
            Their labels.
        **options : dict
            Passed to `plot`, for example `ax`.

        Returns
        -------
        HyperplanesDisplay
            The picture that was drawn.

        Raises
        ------
        ParameterError
            If the run did not record its updates, or made none.
        DataError
            If X and y are not the rows of the run, or do not have two features.
        """
        w, b, _, points = recorded_rows(estimator, X, y)
        check_two_features(w.shape[1])
        at = np.unique(np.linspace(0, len(b) - 1, LINES).round().astype(int))
        return cls(points, Window.around(points.X), at, w[at], b[at]).plot(**options)

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.
        legend : bool, default=True
            Draw a legend.

        Returns
        -------
        HyperplanesDisplay
            This display.
        """
        c = self._canvas(ax, self.window, self.points.axes)
        self.lines_ = {}
        last = len(self.updates) - 1
        for k, number in enumerate(self.updates.tolist()):
            look: dict[str, Any] = {"alpha": 0.25 + 0.45 * k / last, "lw": 1.0, "ls": (0, (3, 2))}
            if k == last:
                look = {"lw": 2.4, "label": f"last (update {number})"}
            elif k == 0:
                look = {"lw": 1.6, "ls": (0, (1, 1.4)), "label": "start"}
            line = c.line(self.w[k], float(self.b[k]), **look)
            if line is not None:
                self.lines_[number] = line
        self.points_ = c.points(self.points)
        c.finish(legend, grid=False)
        return self
