"""HyperplanesDisplay: the hyperplanes of a run, from its start to its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rosenblatt.errors import ParameterError
from rosenblatt.plot.canvas import Display
from rosenblatt.plot.plane import Array, Points, Window, check_two_features
from rosenblatt.plot.runs import WeightPath
from rosenblatt.plot.style import Axes


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
    >>> HyperplanesDisplay.from_estimator(clf, X, y, max_lines=4).updates
    array([ 0,  6, 12, 18])
    >>> import matplotlib.pyplot as plt
    >>> plt.close()
    """

    points: Points
    window: Window
    updates: Array
    w: Array
    b: Array

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        max_lines: int = 8,
        label: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the hyperplanes of a run that was fitted with ``record="updates"``.

        Parameters
        ----------
        estimator : Perceptron or Trace
            A fitted Perceptron, or its `trace_`.
        X : array-like of shape (n, 2)
            Rows with two features.
        y : array-like of shape (n,)
            Their labels.
        max_lines : int, default=8
            Number of hyperplanes, at least 2: the first, the last, and some between.
        label : object, optional
            With more than two classes: the class whose hyperplane against the rest is drawn.
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
        """
        if max_lines < 2:
            raise ParameterError(
                f"max_lines must be at least 2, the first and the last, got {max_lines!r}."
            )
        path = WeightPath.of(estimator, label)
        check_two_features(path.w.shape[1])
        points = Points.in_plane(X, y)
        at = np.unique(np.linspace(0, len(path.updates) - 1, max_lines).round().astype(int))
        window = Window.around(points.X)
        return cls(points, window, path.updates[at], path.w[at], path.b[at]).plot(**options)

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
        c = self._canvas(ax)
        self.lines_ = {}
        last = len(self.updates) - 1
        for k, number in enumerate(self.updates.tolist()):
            look: dict[str, Any] = {"alpha": 0.25 + 0.45 * k / last, "lw": 1.0, "ls": (0, (3, 2))}
            if k == last:
                look = {"lw": 2.4, "label": f"last (update {number})"}
            elif k == 0:
                name = f"update {number}" if number else "start"
                look = {"lw": 1.6, "ls": (0, (1, 1.4)), "label": name}
            line = c.line(self.window, self.w[k], float(self.b[k]), **look)
            if line is not None:
                self.lines_[number] = line
        self.points_ = c.points(self.points)
        self.window.show(c.ax, self.points.axes)
        c.finish(legend, grid=False)
        return self
