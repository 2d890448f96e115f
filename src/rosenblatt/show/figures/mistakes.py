"""MistakesDisplay: how many mistakes each pass made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from rosenblatt.learn.trace import OneVsRestTrace, Trace
from rosenblatt.show.figures.canvas import DASHES, MARKERS, Canvas, plain
from rosenblatt.show.figures.models import Array, any_trace

FEW = 60  # passes that can have a marker each


@dataclass(kw_only=True, eq=False)
class MistakesDisplay:
    """Mistakes against passes; with more than two classes, one line for each against the rest.

    Attributes
    ----------
    mistakes : dict of str to int array
        What each line shows, one entry a pass.
    stopped : str
        Why the run stopped, in words: the title.
    ax_, figure_ : the Axes and their figure
    lines_ : dict of str to Line2D
    """

    mistakes: dict[str, Array]
    stopped: str
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **shown: Any) -> Self:
        """Draw the run of a fitted Perceptron.

        Parameters
        ----------
        estimator : fitted Perceptron
        ax : Axes, optional
            Where to draw; a new figure by default.
        **shown : passed on to `plot`

        Examples
        --------
        >>> from rosenblatt import MistakesDisplay, Perceptron
        >>> clf = Perceptron(shuffle=False, tol=None).fit([[0, 0], [0, 1], [1, 1]], [0, 0, 1])
        >>> shown = MistakesDisplay.from_estimator(clf)
        >>> shown.lines_["mistakes"].get_ydata()
        array([2, 3, 2, 1, 0])
        >>> import matplotlib.pyplot as plt
        >>> plt.close(shown.figure_)
        """
        return cls.from_trace(any_trace(estimator), ax=ax, **shown)

    @classmethod
    def from_trace(cls, trace: Trace | OneVsRestTrace, *, ax: Any = None, **shown: Any) -> Self:
        """Draw one trace.

        Parameters
        ----------
        trace : Trace or OneVsRestTrace
            A fitted Perceptron has it as `trace_`.
        ax, **shown : as in `from_estimator`
        """
        trace = any_trace(trace)
        if isinstance(trace, OneVsRestTrace):
            pairs = zip(trace.classes.tolist(), trace.traces, strict=True)
            lines = {f"{c} against the rest": np.asarray(t.mistakes) for c, t in pairs}
        else:
            lines = {"mistakes": np.asarray(trace.mistakes)}
            if (trace.updates != trace.mistakes).any():
                lines["updates"] = np.asarray(trace.updates)
        stopped = f"{trace.stop_reason}: {trace.stop_reason.sentence}"
        return cls(mistakes=lines, stopped=stopped).plot(ax, **shown)

    def plot(self, ax: Any = None, *, title: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
        title : bool, default=True
            Say above it why the run stopped.
        """
        c = Canvas.on(ax)
        self.ax_, self.figure_ = c.ax, c.ax.figure
        self.lines_ = {}
        for k, (name, values) in enumerate(self.mistakes.items()):
            look = {
                "color": c.hue(k),
                "ls": DASHES[k % len(DASHES)],
                "label": plain(name),
                "lw": 1.8,
            }
            if len(values) <= FEW:
                look |= {"marker": MARKERS[k % len(MARKERS)], "mec": c.ink, "mew": 0.7}
            epochs = np.arange(1, len(values) + 1)
            (self.lines_[name],) = c.ax.plot(epochs, values, **look, zorder=3)
        c.ax.set(xlabel="epoch", ylabel="mistakes" if len(self.lines_) == 1 else "in one epoch")
        c.ax.set_ylim(bottom=-0.03 * max(1, *(int(v.max()) for v in self.mistakes.values())))
        for axis in (c.ax.xaxis, c.ax.yaxis):
            axis.get_major_locator().set_params(integer=True)
        c.ax.grid(alpha=0.25)
        if title:
            c.ax.set_title(self.stopped, fontsize="medium", wrap=True)
        if len(self.lines_) > 1:
            c.legend()
        return self
