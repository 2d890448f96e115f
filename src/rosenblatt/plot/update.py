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
from rosenblatt.plot.plane import Array, Window, check_two_features, check_whole
from rosenblatt.plot.run import recorded_rows
from rosenblatt.plot.style import DASHES, MARKERS, Axes
from rosenblatt.theory.validation import as_plane

FRAMES = 5
SMALL_ANGLE = 8.0  # degrees: too small for its number
DASHED = (0, (4, 2))


@dataclass(eq=False, repr=False)
class UpdateDisplay(Display):
    """One update: w, x and w + eta y x as arrows, the hyperplane before and after, the angles.

    Parameters
    ----------
    w : ndarray
        The weights before the update.
    b : float or None
        The offset before the update; None for hyperplanes through the origin.
    x : ndarray
        The misclassified row.
    y : int
        Its label, -1 or +1.
    eta : float
        The learning rate.

    Attributes
    ----------
    step : ndarray
        eta y x: what is added to w.
    new_w, new_b : ndarray, and float or None
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
    b: float | None
    x: Array
    y: int
    eta: float

    @property
    def step(self) -> Array:
        """What is added to w."""
        return self.eta * self.y * self.x

    @property
    def new_w(self) -> Array:
        """The weights after the update."""
        return self.w + self.step

    @property
    def new_b(self) -> float | None:
        """The offset after the update."""
        return None if self.b is None else self.b + self.eta * self.y

    @property
    def scores(self) -> tuple[float, float]:
        """The values y (w.x + b) before and after."""
        before = self.y * (self.w @ self.x + (self.b or 0.0))
        after = self.y * (self.new_w @ self.x + (self.new_b or 0.0))
        return float(before), float(after)

    @property
    def angles(self) -> tuple[float, float]:
        """Degrees between x and w before and after."""
        before, after = (abs(np.degrees(_turn(self.x, w))) for w in (self.w, self.new_w))
        return float(before), float(after)

    @classmethod
    def from_example(
        cls, w: Any, x: Any, y: int, *, b: float | None = None, eta: float = 1.0, **options: Any
    ) -> Self:
        """Draw the update of w at the row x with label y.

        Parameters
        ----------
        w, x : array-like of shape (2,)
            The weights and the row.
        y : int
            The label, -1 or +1.
        b : float, optional
            The offset, which the update moves by eta y. By default there is none.
        eta : float, default=1.0
            The learning rate.
        **options : dict
            Passed to `plot`, for example `ax`.

        Returns
        -------
        UpdateDisplay
            The picture that was drawn.

        Raises
        ------
        DataError
            If w or x is not two numbers, or x is zero.
        ParameterError
            If y is not -1 or +1, or eta not positive.
        """
        w, offset = as_plane(w, b or 0.0, 2)
        x, eta = as_plane(x, eta, 2, ("x", "eta"))
        if y not in (-1, 1):
            raise ParameterError(f"y must be -1 or +1, got {y!r}.")
        if eta <= 0:
            raise ParameterError(f"eta must be positive, got {eta!r}.")
        if not x.any():
            raise DataError("x is 0, so the update does not change w. Choose another row.")
        return cls(w, None if b is None else offset, x, int(y), eta).plot(**options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, number: int = 1, **options: Any
    ) -> Self:
        """Draw one update of a run that was fitted with ``record="updates"``.

        Parameters
        ----------
        estimator : Perceptron or Trace
            Fitted with mode "online"; or its `trace_`.
        X : array-like of shape (n, 2)
            The rows it was fitted on.
        y : array-like of shape (n,)
            Their labels.
        number : int, default=1
            Which update, counted from 1.
        **options : dict
            Passed to `plot`, for example `ax`.

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
        DataError
            If X and y are not the rows of the run, or do not have two features.
        """
        w, b, record, points = recorded_rows(estimator, X, y)
        check_two_features(w.shape[1])
        check_whole("number", number, len(b) - 1)
        row, amount = record.row[number - 1], abs(record.amount[number - 1])
        settings, before = record.setting.settings, number - 1
        if not settings.adds_rows:
            raise NotSupportedError(
                f"an update of rule={settings.rule} does not add a multiple of its row. Draw the "
                "run with rosenblatt.film."
            )
        if row < 0:
            raise ParameterError('the update was not made at one row. Fit with mode="online".')
        options |= {"b": b[before] if settings.fit_intercept else None, "eta": amount}
        return cls.from_example(w[before], points.X[row], points.signs[row], **options)

    def plot(
        self, ax: Axes | None = None, *, frame: int = FRAMES, legend: bool = True, symbol: str = "w"
    ) -> Self:
        r"""Draw the picture, or a part of it.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.
        frame : int, default=5
            1: w, its hyperplane and the misclassified row. 2: and eta y x. 3: and their sum, the
            new w, with the score of the row before and after. 4: and its hyperplane. 5: the old
            ones fade, the angles appear.
        legend : bool, default=True
            Draw a legend.
        symbol : str, default="w"
            Symbol for the weights, for example ``r"\theta"``.

        Returns
        -------
        UpdateDisplay
            This display.

        Raises
        ------
        ParameterError
            If there is no such frame.
        """
        check_whole("frame", frame, FRAMES)
        ends = [np.zeros(2), self.w, self.x, self.step, self.new_w, -0.4 * self.new_w]
        window = Window.around(np.array(ends), pad=0.3, equal=True)
        c = self._canvas(ax, window, ("$x_1$", "$x_2$"))
        fade = {"alpha": 0.55} if frame == FRAMES else {}
        before: dict[str, Any] = {"label": "hyperplane before", "ls": DASHES[1], "lw": 1.6}
        lines = {"old": c.line(self.w, self.b or 0.0, **before, **fade)}
        if frame >= 4:
            after = {"label": "hyperplane after", "lw": 2.2}
            lines["new"] = c.line(self.new_w, self.new_b or 0.0, **after)
        self.lines_ = {name: line for name, line in lines.items() if line is not None}
        self._draw_arrows(c, frame, symbol, fade)
        self._draw_arcs(c, window.height if frame == FRAMES else 0.0)
        look = {"marker": MARKERS[self.y > 0], "facecolor": c.color(self.y > 0), "zorder": 6}
        c.ax.scatter(*self.x, s=74, edgecolor=c.colors.edge, linewidth=0.8, **look)
        score = rf"y\,({symbol} \cdot x{'' if self.b is None else ' + b'})"
        then = f" before, ${self.scores[1]:.3g}$ after" if frame >= 3 else ""
        c.ax.set_title(f"${score}$: ${self.scores[0]:.3g}${then}", fontsize="medium")
        c.finish(legend)
        return self

    def _draw_arrows(self, c: Canvas, frame: int, symbol: str, fade: dict[str, Any]) -> None:
        origin, blue, red = np.zeros(2), c.colors.negative, c.colors.accent
        sign, times = "-" if self.y < 0 else "+", "" if self.eta == 1 else rf"{self.eta:.3g}\,"
        self.arrows_ = {}
        if self.w.any():
            look = {"color": blue, "ls": "-" if frame < 3 else DASHED, **fade}
            self.arrows_["w"] = c.arrow(origin, self.w, f"${symbol}$", **look)
        same = frame >= 3 and np.array_equal(self.new_w, self.x)  # from w = 0: one label for both
        label = f"$x{f' = {symbol} + x' if same else ''}$ ($y = {self.y:+d}$)"
        self.arrows_["x"] = c.arrow(origin, self.x, label, gap=14, lw=1.3, shrinkB=5)
        if frame in (2, 3, 4) and (self.y < 0 or self.eta != 1):
            step = f"${sign.strip('+')}{times}x$"
            self.arrows_["step"] = c.arrow(origin, self.step, step, color=red, lw=1.6)
        if frame >= 3 and self.w.any():
            look = {"color": red, "lw": 1.1, "ls": (0, (2, 2))}
            self.arrows_["shifted"] = c.arrow(self.w, self.new_w, **look)
        if frame >= 3 and self.new_w.any():
            new = "" if same else rf"${symbol} {sign} {times}x$"
            self.arrows_["new"] = c.arrow(origin, self.new_w, new, color=blue, lw=2.6)

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
            beside = arc[46 if name == "new" and self.y < 0 else 30]  # beyond the smaller angle
            c.text(beside, f"{abs(np.degrees(turn)):.0f}°", (0, 0), fontsize="small")


def _turn(x: Array, w: Array) -> float:
    """The angle from x to w in radians, between -pi and pi; nan if w is zero."""
    return float(np.angle(complex(*w) / complex(*x))) if w.any() else float("nan")
