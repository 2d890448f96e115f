"""WeightsDisplay: the weights of a run, update by update."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from rosenblatt.plot.canvas import Display, literal
from rosenblatt.plot.runs import WeightPath
from rosenblatt.plot.style import DASHES, MARKERS, Axes

MAX_NAMED = 8  # weights that can be told apart
FEW = 40  # updates that can have a marker each


@dataclass(eq=False, repr=False)
class WeightsDisplay(Display):
    """Each weight, and the offset, against the number of updates.

    Parameters
    ----------
    path : WeightPath
        `updates`, `w` and `b`; the start is update 0.
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

    path: WeightPath
    names: tuple[str, ...] | None

    @classmethod
    def from_estimator(cls, estimator: Any, *, label: Any = None, **options: Any) -> Self:
        """Draw the weights of a run that was fitted with ``record="updates"``.

        Parameters
        ----------
        estimator : Perceptron or Trace
            A fitted Perceptron, or its `trace_`.
        label : object, optional
            With more than two classes: the class whose hyperplane against the rest is drawn.
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
        return cls(WeightPath.of(estimator, label), named).plot(**options)

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
        numbers = range(1, self.path.w.shape[1] + 1)
        names = self.names or [f"${symbol}_{j if j < 10 else {j}}$" for j in numbers]
        values = dict(zip(names, self.path.w.T, strict=True))
        if self.path.b.any():
            values["offset $b$"] = self.path.b
        alike, few = len(values) > MAX_NAMED, len(self.path.updates) <= FEW
        self.lines_ = {}
        for k, (name, line) in enumerate(values.items()):
            look: dict[str, Any] = {"color": c.color(0), "alpha": 0.5, "lw": 0.8}
            if not alike:
                look = {"color": c.color(k), "ls": DASHES[k % len(DASHES)], "lw": 1.7}
                look |= {"label": name}
                if few:
                    look |= {"marker": MARKERS[k], "mec": c.colors.edge, "mew": 0.6, "ms": 5}
            steps = "default" if few else "steps-post"
            (self.lines_[name],) = c.ax.plot(self.path.updates, line, drawstyle=steps, **look)
        c.ax.set(xlabel="update", ylabel="weight")
        c.ax.xaxis.get_major_locator().set_params(integer=True)
        c.ax.axhline(0, color=c.colors.ink, lw=0.6, zorder=1)
        c.finish(legend)
        return self
