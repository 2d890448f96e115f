"""WeightsDisplay and HyperplanesDisplay: how a run moved, update by update."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from rosenblatt.errors import ParameterError
from rosenblatt.show.figures.canvas import DASHES, MARKERS, Canvas, plain
from rosenblatt.show.figures.models import Array, record_of, start_of, trace_of
from rosenblatt.show.figures.plane import Points, Window, check_two_features, too_unequal

MOST_LINES = 8  # weights that can be told apart
FEW = 40  # updates that can have a marker each


@dataclass(frozen=True, eq=False)
class Path:
    """The weights before the first update, if known, and after each."""

    numbers: Array  # of updates made
    w: Array
    b: Array

    @classmethod
    def of(cls, source: Any, label: Any = None) -> Path:
        """From a fitted Perceptron or a Trace that recorded its updates."""
        record = record_of(trace_of(source, label))
        numbers = np.arange(1, len(record) + 1)
        w, b = np.asarray(record.w, dtype=np.float64), np.ravel(record.b).astype(np.float64)
        start = start_of(record)
        if start is not None:
            numbers = np.arange(len(record) + 1)
            w, b = np.vstack([start[0], w]), np.append(start[1], b)
        return cls(numbers, w, b)


@dataclass(kw_only=True, eq=False)
class WeightsDisplay:
    """Every weight, and the offset, against the number of updates.

    Attributes
    ----------
    path : Path
        `numbers`, `w` and `b`; the start is number 0.
    names : tuple of str
        Of the weights.
    offset : bool
        Whether the offset moved, and is drawn.
    ax_, figure_ : the Axes and their figure
    lines_ : dict of str to Line2D
    """

    path: Path
    names: tuple[str, ...]
    offset: bool
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, label: Any = None, ax: Any = None, **shown: Any
    ) -> Self:
        """Draw the weights of a run that was fitted with ``record="updates"``.

        Parameters
        ----------
        estimator : fitted Perceptron, or a Trace
        label : one of the classes, if there are more than two
            Whose hyperplane against the rest is meant.
        ax : Axes, optional
            Where to draw; a new figure by default.
        **shown : passed on to `plot`

        Examples
        --------
        >>> from rosenblatt import Perceptron, WeightsDisplay
        >>> sutd = Perceptron(
        ...     fit_intercept=False, shuffle=False, init=[1, -0.8], record="updates", tol=None
        ... ).fit([[1, 2], [-1, 2], [0, -1]], [1, -1, -1])
        >>> shown = WeightsDisplay.from_estimator(sutd)
        >>> shown.lines_["$w_1$"].get_ydata()
        array([1., 2., 3., 3.])
        >>> import matplotlib.pyplot as plt
        >>> plt.close(shown.figure_)
        """
        path = Path.of(estimator, label)
        given = getattr(estimator, "feature_names_in_", None)
        d = path.w.shape[1]
        if given is None:
            names = [f"$w_{j + 1}$" if j < 9 else f"$w_{{{j + 1}}}$" for j in range(d)]
        else:
            names = [plain(name) for name in given]
        return cls(path=path, names=tuple(names), offset=bool(path.b.any())).plot(ax, **shown)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
        legend : bool, default=True
            Name the lines. More than eight are drawn alike and not named.
        """
        c = Canvas.on(ax)
        self.ax_, self.figure_ = c.ax, c.ax.figure
        values = dict(zip(self.names, self.path.w.T, strict=True))
        if self.offset:
            values["offset b"] = self.path.b
        alike = len(values) > MOST_LINES
        self.lines_ = {}
        for k, (name, line) in enumerate(values.items()):
            look: dict[str, Any] = {"color": c.hue(0), "alpha": 0.5, "lw": 0.8}
            if not alike:
                look = {"color": c.hue(k), "ls": DASHES[k % len(DASHES)], "lw": 1.7, "label": name}
                if len(line) <= FEW:
                    look |= {"marker": MARKERS[k], "mec": c.ink, "mew": 0.6, "ms": 5}
            steps = {"drawstyle": "steps-post"} if len(line) > FEW else {}
            (self.lines_[name],) = c.ax.plot(self.path.numbers, line, **look, **steps)
        c.ax.set(xlabel="update", ylabel="weight")
        c.ax.xaxis.get_major_locator().set_params(integer=True)
        c.ax.axhline(0, color=c.ink, lw=0.6, zorder=1)
        c.ax.grid(alpha=0.25)
        if legend and not alike:
            c.legend()
        return self


@dataclass(kw_only=True, eq=False)
class HyperplanesDisplay:
    """Hyperplanes of one run over its rows, pale at first: where it started, how it came there.

    Attributes
    ----------
    points : Points
    window : Window
    chosen : int array
        The numbers of the updates after which a hyperplane is drawn; 0 is the start.
    w, b : arrays
        These hyperplanes, one a row.
    geometry : bool
        Whether one unit is as long on both axes.
    ax_, figure_ : the Axes and their figure
    points_ : list of artists
    lines_ : dict of int to Line2D
        By number of the update; those that lie outside the window are not in it.
    """

    points: Points
    window: Window
    chosen: Array
    w: Array
    b: Array
    geometry: bool
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        most: int = 8,
        label: Any = None,
        ax: Any = None,
        **shown: Any,
    ) -> Self:
        """Draw the hyperplanes of a run that was fitted with ``record="updates"``.

        Parameters
        ----------
        estimator : fitted Perceptron, or a Trace
        X, y : rows with two features, and their labels
        most : int, default=8
            How many hyperplanes, at least 2: the first, the last, and some between.
        label : one of the classes, if there are more than two
        ax : Axes, optional
            Where to draw; a new figure by default.
        **shown : passed on to `plot`
        """
        if most < 2:
            raise ParameterError(f"most must be at least 2, the first and the last, got {most!r}.")
        path = Path.of(estimator, label)
        check_two_features(path.w.shape[1])
        points = Points.of(X, y)
        at = np.unique(np.linspace(0, len(path.numbers) - 1, most).round().astype(int))
        geometry = not too_unequal(points.X)
        return cls(
            points=points,
            window=Window.around(points.X, equal=geometry),
            chosen=path.numbers[at],
            w=path.w[at],
            b=path.b[at],
            geometry=geometry,
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
        self.lines_ = {}
        last = len(self.chosen) - 1
        for k, number in enumerate(self.chosen.tolist()):
            ends = self.window.chord(self.w[k], float(self.b[k]))
            if len(ends) == 0:
                continue
            look: dict[str, Any] = {"alpha": 0.25 + 0.45 * k / last, "lw": 1.0, "ls": (0, (3, 2))}
            if k == last:
                look = {"lw": 2.4, "label": f"last (update {number})"}
            elif k == 0:
                look = {"lw": 1.6, "ls": (0, (1, 1.4)), "label": _first(number)}
            (self.lines_[number],) = c.ax.plot(*ends.T, color=c.ink, zorder=2, **look)
        self.points_ = c.points(self.points.X, self.points.codes, list(self.points.names))
        self.points.label(c.ax)
        self.window.show(c.ax, self.geometry)
        if legend:
            c.legend()
        return self


def _first(number: int) -> str:
    return "start" if number == 0 else f"update {number}"
