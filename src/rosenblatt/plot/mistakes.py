"""MistakesDisplay: how many mistakes each epoch made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rosenblatt.learn.trace import OneVsRestTrace, Trace
from rosenblatt.plot.canvas import Display, literal
from rosenblatt.plot.plane import Array
from rosenblatt.plot.runs import any_trace
from rosenblatt.plot.style import DASHES, MARKERS, Axes

FEW = 60  # epochs that can have a marker each


@dataclass(eq=False, repr=False)
class MistakesDisplay(Display):
    """Mistakes per epoch; with more than two classes, one line for each against the rest.

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
        """Draw the run of a fitted Perceptron.

        Parameters
        ----------
        estimator : Perceptron
            A fitted Perceptron.
        **options : dict
            Passed to `plot`, for example `ax`.

        Returns
        -------
        MistakesDisplay
            The picture that was drawn.
        """
        return cls.from_trace(any_trace(estimator), **options)

    @classmethod
    def from_trace(cls, trace: Trace | OneVsRestTrace, **options: Any) -> Self:
        """Draw a trace.

        Parameters
        ----------
        trace : Trace or OneVsRestTrace
            A fitted Perceptron has it as `trace_`.
        **options : as in `from_estimator`
            See `from_estimator`.

        Returns
        -------
        MistakesDisplay
            The picture that was drawn.
        """
        trace = any_trace(trace)
        if isinstance(trace, OneVsRestTrace):
            pairs = zip(trace.classes.tolist(), trace.traces, strict=True)
            lines = {f"{label} against the rest": np.asarray(t.mistakes) for label, t in pairs}
        else:
            lines = {"mistakes": np.asarray(trace.mistakes)}
            if (trace.updates != trace.mistakes).any():
                lines["updates"] = np.asarray(trace.updates)
        stopped = f"{trace.stop_reason}: {trace.stop_reason.sentence}"
        return cls(lines, stopped).plot(**options)

    def plot(self, ax: Axes | None = None, *, title: bool = True) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.
        title : bool, default=True
            Say above the picture why the run stopped.

        Returns
        -------
        MistakesDisplay
            This display.
        """
        c = self._canvas(ax)
        self.lines_ = {}
        for k, (name, values) in enumerate(self.mistakes.items()):
            look = {"color": c.color(k), "ls": DASHES[k % len(DASHES)], "lw": 1.8, "zorder": 3}
            if len(values) <= FEW:
                look |= {"marker": MARKERS[k % len(MARKERS)], "mec": c.colors.edge, "mew": 0.6}
            epochs = np.arange(1, len(values) + 1)
            (self.lines_[name],) = c.ax.plot(epochs, values, label=literal(name), **look)
        c.ax.set(xlabel="epoch", ylabel="per epoch" if "updates" in self.lines_ else "mistakes")
        c.ax.set_ylim(bottom=-0.03 * max(1, *(int(v.max()) for v in self.mistakes.values())))
        for axis in (c.ax.xaxis, c.ax.yaxis):
            axis.get_major_locator().set_params(integer=True)
        if title:
            c.ax.set_title(self.stopped, fontsize="medium", wrap=True)
        c.finish(legend=len(self.lines_) > 1)
        return self
