"""UpdateDisplay: the geometry of one update.

A mistake at (x, y) turns w into w + eta y x. After a false negative (y = +1) w comes closer to x,
after a false positive (y = -1) it moves away from it; y (w.x + b) grows by eta ||x||^2, and by
eta more if there is an offset.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rosenblatt.errors import DataError, NotSupportedError, ParameterError
from rosenblatt.plot.canvas import Canvas, Display
from rosenblatt.plot.plane import Array, Points, Window, check_two_features, hyperplane
from rosenblatt.plot.runs import WeightPath
from rosenblatt.plot.style import Axes

FRAMES = 5
SMALL_ANGLE = 8.0  # degrees: too small for its number
DASHED = (0, (4, 2))


@dataclass(eq=False, repr=False)
class UpdateDisplay(Display):
    """One update: w, x and w + eta y x as arrows, the hyperplane before and after, the angles.

    Parameters
    ----------
    w, b : ndarray and float
        Weights and offset before the update.
    x : ndarray
        The misclassified row.
    y : int
        Its label, -1 or +1.
    eta : float
        The learning rate.
    fit_intercept : bool
        Whether the update adds eta y to b.

    Attributes
    ----------
    step : ndarray
        eta y x: what is added to w.
    new_w, new_b : ndarray and float
        Weights and offset after the update.
    scores : tuple of float
        y (w.x + b) before and after.
    angles : tuple of float
        Degrees between x and w before and after; nan if one of them is zero.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.
    arrows_ : dict of str to Annotation
        'w', 'x', 'step', 'new', as far as the frame has them; 'shifted' is the step drawn from the
        tip of w.
    lines_, arcs_ : dict of str to Line2D
        'old' and 'new': the hyperplanes, and the arcs between x and w.

    Examples
    --------
    >>> from rosenblatt import UpdateDisplay
    >>> display = UpdateDisplay.from_example([1, -0.8], [1, 2], 1)
    >>> display.new_w, [round(angle) for angle in display.angles]
    (array([2. , 1.2]), [102, 32])
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    w: Array
    b: float
    x: Array
    y: int
    eta: float
    fit_intercept: bool

    @property
    def step(self) -> Array:
        return self.eta * self.y * self.x

    @property
    def new_w(self) -> Array:
        return self.w + self.step

    @property
    def new_b(self) -> float:
        return self.b + self.eta * self.y * self.fit_intercept

    @property
    def scores(self) -> tuple[float, float]:
        before = self.y * (self.w @ self.x + self.b)
        after = self.y * (self.new_w @ self.x + self.new_b)
        return float(before), float(after)

    @property
    def angles(self) -> tuple[float, float]:
        before, after = (abs(np.degrees(_turn(self.x, w))) for w in (self.w, self.new_w))
        return float(before), float(after)

    @classmethod
    def from_example(
        cls,
        w: Any,
        x: Any,
        y: int,
        *,
        b: float = 0.0,
        eta: float = 1.0,
        fit_intercept: bool = False,
        **options: Any,
    ) -> Self:
        """Draw the update of w at the row x with label y.

        Parameters
        ----------
        w, x : array-like of shape (2,)
            The weights and the row.
        y : int
            The label, -1 or +1.
        b : float, default=0.0
            The offset.
        eta : float, default=1.0
            The learning rate.
        fit_intercept : bool, default=False
            Whether the update also moves the offset, by eta y.
        **options : dict
            Passed to `plot`, for example `ax`.

        Returns
        -------
        UpdateDisplay
            The picture that was drawn.

        Raises
        ------
        DataError
            If x is zero or does not hold two numbers.
        """
        (w, b), (x, _) = hyperplane(w, b), hyperplane(x, 0.0)
        for vector in (w, x):
            check_two_features(len(vector))
        if y not in (-1, 1):
            raise ParameterError(f"y must be -1 or +1, got {y!r}.")
        if not x.any():
            raise DataError("x is 0, so the update does not change w. Choose another row.")
        return cls(w, b, x, int(y), float(eta), fit_intercept).plot(**options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, number: int = 1, **options: Any
    ) -> Self:
        """Draw one update of a run that was fitted with ``record="updates"``.

        Parameters
        ----------
        estimator : Perceptron or Trace
            Fitted on two classes with mode "online"; or its `trace_`.
        X : array-like of shape (n, 2)
            The rows it was fitted on.
        y : array-like of shape (n,)
            Their labels.
        number : int, default=1
            Which update, counted from 1.
        **options : as in `from_example`
            See `from_example`.

        Returns
        -------
        UpdateDisplay
            The picture that was drawn.

        Raises
        ------
        ParameterError
            If the run did not record its updates, or has no such update.
        NotSupportedError
            If the rule does not add multiples of rows.
        """
        path, points = WeightPath.of(estimator), Points.in_plane(X, y)
        check_two_features(path.w.shape[1])
        setting, n_updates = path.record.setting, len(path.record)
        if setting is None:
            raise ParameterError("the start of this run was not recorded. Fit again.")
        if not 1 <= number <= n_updates:
            raise ParameterError(
                f"number must be between 1 and {n_updates}, the updates recorded, got {number!r}."
            )
        path.check_rows(points)
        if not setting.settings.adds_rows:
            raise NotSupportedError(
                f"an update of rule={setting.settings.rule} is not a multiple of its row, which is "
                "what this picture shows. Draw the whole run with rosenblatt.film."
            )
        update, before = path.record[number - 1], number - 1
        if not 0 <= update.row < len(points.X):
            raise ParameterError(
                'this update was not made at one row. Fit with mode="online" on the rows X.'
            )
        x, sign = points.X[update.row], int(points.signs[update.row])
        options |= {"b": path.b[before], "eta": abs(update.amount)}
        options |= {"fit_intercept": bool(path.b[number] != path.b[before])}
        return cls.from_example(path.w[before], x, sign, **options)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        frame: int = FRAMES,
        title: bool = True,
        legend: bool = True,
        symbol: str = "w",
    ) -> Self:
        r"""Draw the picture, or a part of it.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.
        frame : int, default=5
            1: w, its hyperplane and the misclassified row. 2: and eta y x. 3: and their sum, the
            new w. 4: and its hyperplane. 5: the old ones fade, the angles appear.
        title : bool, default=True
            The score of the row, before and after.
        legend : bool, default=True
            Draw a legend.
        symbol : str, default="w"
            Symbol for the weights, for example ``r"\theta"``.

        Returns
        -------
        UpdateDisplay
            This display.
        """
        if frame not in range(1, FRAMES + 1):
            raise ParameterError(f"frame must be 1 to {FRAMES}, got {frame!r}.")
        c = self._canvas(ax)
        ends = [np.zeros(2), self.w, self.x, self.step, self.new_w, -0.4 * self.new_w]
        window = Window.around(np.array(ends), pad=0.3, equal=True)
        window.show(c.ax, ("$x_1$", "$x_2$"))
        old = {"label": "hyperplane before", "ls": (0, (5, 3)), "lw": 1.6}
        old |= {"alpha": 0.55} if frame == FRAMES else {}
        lines = {"old": c.line(window, self.w, self.b, **old)}
        if frame >= 4:
            label = "hyperplane after"
            lines["new"] = c.line(window, self.new_w, self.new_b, label=label, lw=2.2)
        self.lines_ = {name: line for name, line in lines.items() if line is not None}
        self._draw_arrows(c, frame, symbol)
        self._draw_arcs(c, window.height if frame == FRAMES else 0.0)
        c.ax.scatter(*self.x, zorder=6, **c.marker(int(self.y > 0), 1, 1.6))
        if title:
            before, after = self.scores
            then = f" before, ${after:.3g}$ after" if frame >= 3 else ""
            score = rf"y\,({symbol} \cdot x{' + b' if self.b or self.fit_intercept else ''})"
            c.ax.set_title(f"${score}$: ${before:.3g}${then}", fontsize="medium")
        c.finish(legend)
        return self

    def _draw_arrows(self, c: Canvas, frame: int, symbol: str) -> None:
        origin, colors = np.zeros(2), c.colors
        times = "" if self.eta == 1 else rf"{self.eta:.3g}\,"
        sign = "-" if self.y < 0 else "+"
        self.arrows_ = {}
        if self.w.any():
            look: dict[str, Any] = {"color": colors.negative, "ls": "-" if frame < 3 else DASHED}
            look |= {"alpha": 0.55} if frame == FRAMES else {}
            self.arrows_["w"] = c.arrow(origin, self.w, f"${symbol}$", **look)
        label = f"$x$ ($y = {self.y:+d}$)"
        self.arrows_["x"] = c.arrow(origin, self.x, label, gap=14, lw=1.3, shrinkB=5)
        if frame in (2, 3, 4) and (self.y < 0 or self.eta != 1):
            step = f"${sign.strip('+')}{times}x$"
            self.arrows_["step"] = c.arrow(origin, self.step, step, color=colors.accent, lw=1.6)
        if frame >= 3 and self.w.any():
            look = {"color": colors.accent, "lw": 1.1, "ls": (0, (2, 2))}
            self.arrows_["shifted"] = c.arrow(self.w, self.new_w, **look)
        if frame >= 3 and self.new_w.any():
            new = rf"${symbol} {sign} {times}x$"
            self.arrows_["new"] = c.arrow(origin, self.new_w, new, color=colors.negative, lw=2.6)

    def _draw_arcs(self, c: Canvas, height: float) -> None:
        """Arcs from x to w, the short way round, unless there is no room for the angle."""
        self.arcs_ = {}
        for name, w, size, dash in (("old", self.w, 0.24, DASHED), ("new", self.new_w, 0.14, "-")):
            turn = _turn(self.x, w)
            if not height or not abs(np.degrees(turn)) >= SMALL_ANGLE:
                continue
            at = np.arctan2(*self.x[::-1]) + np.linspace(0, turn, 61)
            arc = size * height * np.column_stack([np.cos(at), np.sin(at)])
            look = {"color": c.colors.ink, "lw": 1.1, "ls": dash, "zorder": 3}
            (self.arcs_[name],) = c.ax.plot(*arc.T, **look)
            c.text(arc[30], f"{abs(np.degrees(turn)):.0f}°", (0, 0), fontsize="small")


def _turn(a: Array, b: Array) -> float:
    """The angle from a to b in radians, between -pi and pi; nan if one of them is zero."""
    if not (a.any() and b.any()):
        return float("nan")
    return float(np.arctan2(a[0] * b[1] - a[1] * b[0], a @ b))
