"""UpdateDisplay: the geometry of one update.

A mistake at (x, y) turns w into w + eta y x. After a false negative (y = +1) w comes closer to x,
after a false positive (y = -1) it goes farther from it; y (w.x + b) grows by eta ||x||^2, and by
eta more if there is an offset.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from rosenblatt.errors import DataError, NotSupportedError, ParameterError
from rosenblatt.show.figures.canvas import Canvas
from rosenblatt.show.figures.models import check_trained_on, record_of, trace_of
from rosenblatt.show.figures.plane import Array, Points, Window, check_two_features, hyperplane
from rosenblatt.show.figures.weights import Path

FRAMES = 5
SMALL_ANGLE = 8.0  # degrees: below, there is no room for the number


@dataclass(kw_only=True, eq=False)
class UpdateDisplay:
    """w, x, y x and w + eta y x as arrows, the hyperplane before and after, and the angles.

    Attributes
    ----------
    w, b : array and float
        Before the update.
    x : array
        The row that is wrong.
    y : int
        Its label, -1 or +1.
    eta : float
        The learning rate.
    step : array
        eta y x: what is added to w.
    offset : bool
        Whether the offset is trained: eta y is added to b.
    ax_, figure_ : the Axes and their figure
    arrows_ : dict of str to Annotation
        'w', 'x', 'step', 'new', as far as the frame has them; 'beside' is the step again, drawn
        from the tip of w.
    lines_ : dict of str to Line2D
        'old' and 'new': the hyperplanes.
    angles_ : dict of str to Line2D
        'old' and 'new': arcs between x and w, unless they are below 8 degrees.
    """

    w: Array
    b: float
    x: Array
    y: int
    eta: float
    offset: bool
    ax_: Any = field(default=None, init=False)
    figure_: Any = field(default=None, init=False)

    @property
    def step(self) -> Array:
        return self.eta * self.y * self.x

    @property
    def new_w(self) -> Array:
        return self.w + self.step

    @property
    def new_b(self) -> float:
        return self.b + self.eta * self.y * self.offset

    @property
    def scores(self) -> tuple[float, float]:
        """y (w.x + b) before and after."""
        before = self.y * (self.w @ self.x + self.b)
        after = self.y * (self.new_w @ self.x + self.new_b)
        return float(before), float(after)

    @property
    def angles(self) -> tuple[float, float]:
        """Between x and w, before and after, in degrees; nan if one of them is zero."""
        return _angle(self.w, self.x), _angle(self.new_w, self.x)

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
        ax: Any = None,
        **shown: Any,
    ) -> Self:
        """Draw the update of w at the row x with label y.

        Parameters
        ----------
        w, x : two numbers each
        y : -1 or +1
        b, eta : float
            The offset and the learning rate.
        fit_intercept : bool, default=False
            Whether the update also moves the offset, by eta y.
        ax : Axes, optional
            Where to draw; a new figure by default.
        **shown : passed on to `plot`

        Examples
        --------
        >>> from rosenblatt import UpdateDisplay
        >>> shown = UpdateDisplay.from_example([1, -0.8], [1, 2], 1)
        >>> shown.new_w, [round(v) for v in shown.angles]
        (array([2. , 1.2]), [102, 32])
        >>> import matplotlib.pyplot as plt
        >>> plt.close(shown.figure_)
        """
        w, b = hyperplane(w, b)
        x, _ = hyperplane(x, 0.0)
        if y not in (-1, 1):
            raise ParameterError(f"y must be -1 or +1, got {y!r}.")
        if not x.any():
            raise DataError("x is 0, so the update changes nothing that can be seen. Take another.")
        return cls(w=w, b=b, x=x, y=int(y), eta=float(eta), offset=fit_intercept).plot(ax, **shown)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, number: int = 1, *, ax: Any = None, **shown: Any
    ) -> Self:
        """Draw one update of a run that was fitted with ``record="updates"``.

        Parameters
        ----------
        estimator : fitted Perceptron on two classes, or its Trace; mode "online"
        X, y : the rows and labels it was trained on; two features
        number : int, default=1
            Which update, counted from 1.
        ax, **shown : as in `from_example`
        """
        path = Path.of(estimator)
        points = Points.of(X, y)
        record = record_of(trace_of(estimator))
        check_two_features(path.w.shape[1])
        if path.numbers[0] != 0:
            raise ParameterError("where the run began was not recorded. Fit again.")
        if not 1 <= number <= len(record):
            raise ParameterError(
                f"number must be between 1 and {len(record)}, the updates recorded, got {number!r}."
            )
        check_trained_on(record, points.X, points.signs)
        made = record[number - 1]
        update = record.setting.settings if record.setting else None
        if update is not None and not update.adds_rows:
            raise NotSupportedError(
                f"an update of rule={update.rule} is not a multiple of its row, which is what this "
                "picture is about. Draw the whole run with rosenblatt.film."
            )
        if made.row < 0 or made.row >= len(points.X):
            raise ParameterError(
                "this update was not made at one row of X: give the rows the model was trained on, "
                'and mode="online".'
            )
        return cls.from_example(
            path.w[number - 1],
            points.X[made.row],
            int(points.signs[made.row]),
            b=float(path.b[number - 1]),
            eta=abs(made.amount),
            fit_intercept=bool(path.b[number] != path.b[number - 1]),
            ax=ax,
            **shown,
        )

    def plot(self, ax: Any = None, *, frame: int = FRAMES, title: bool = True) -> Self:
        """Draw it, or how far it has come.

        Parameters
        ----------
        ax : Axes, optional
        frame : int, default=5
            1: w, its hyperplane and the row that is wrong. 2: y x beside it. 3: their sum, the new
            w. 4: its hyperplane. 5: the old ones fade, and the angles are shown.
        title : bool, default=True
            The score of the row, before and after.
        """
        if frame not in range(1, FRAMES + 1):
            raise ParameterError(f"frame must be 1 to {FRAMES}, got {frame!r}.")
        c = Canvas.on(ax)
        self.ax_, self.figure_ = c.ax, c.ax.figure
        self.arrows_: dict[str, Any] = {}
        self.lines_: dict[str, Any] = {}
        self.angles_: dict[str, Any] = {}
        window = self._window()
        window.show(c.ax)
        faded = {"alpha": 0.55} if frame == FRAMES else {}
        self._draw_line(c, window, "old", self.w, self.b, {"ls": (0, (5, 3)), "lw": 1.6, **faded})
        if frame >= 4:
            self._draw_line(c, window, "new", self.new_w, self.new_b, {"lw": 2.2})
        self._draw_arrows(c, frame, faded)
        if frame == FRAMES:
            self._draw_angles(c, window)
        c.ax.plot(
            *self.x, marker="os"[self.y > 0], ms=9, mfc=c.hue(self.y > 0), mec=c.ink, zorder=6
        )
        c.ax.set(xlabel="$x_1$", ylabel="$x_2$")
        c.ax.grid(alpha=0.2)
        if title:
            before, after = self.scores
            then = f" before, {after:.3g} after" if frame >= 3 else ""
            score = r"$y\,(w \cdot x + b)$" if self.b or self.offset else r"$y\,(w \cdot x)$"
            c.ax.set_title(f"{score}: {before:.3g}{then}", fontsize="medium")
        if self.lines_:
            c.legend()
        return self

    def _draw_line(
        self, c: Canvas, window: Window, name: str, w: Array, b: float, look: dict[str, Any]
    ) -> None:
        ends = window.chord(w, b)
        if len(ends):
            words = "hyperplane before" if name == "old" else "hyperplane after"
            (self.lines_[name],) = c.ax.plot(*ends.T, color=c.ink, zorder=2, label=words, **look)

    def _draw_arrows(self, c: Canvas, frame: int, faded: dict[str, Any]) -> None:
        o = np.zeros(2)
        if self.w.any():
            look = {"color": c.hue(0), "ls": (0, (4, 2)) if frame >= 3 else "-", **faded}
            self.arrows_["w"] = c.arrow(o, self.w, "$w$", **look)
        self.arrows_["x"] = c.arrow(o, self.x, f"$x$ ($y$ = {self.y:+d})", gap=13, lw=1.3)
        times = "" if self.eta == 1 else rf"{self.eta:.3g}\,"
        if frame in (2, 3, 4) and (self.y < 0 or self.eta != 1):
            label = f"${'-' if self.y < 0 else ''}{times}x$"
            self.arrows_["step"] = c.arrow(o, self.step, label, color=c.hue(4), lw=1.6)
        if frame >= 3:
            if self.w.any():
                look = {"color": c.hue(4), "lw": 1.1, "ls": (0, (2, 2))}
                self.arrows_["beside"] = c.arrow(self.w, self.new_w, **look)
            if self.new_w.any():
                label = rf"$w {'-' if self.y < 0 else '+'} {times}x$"
                self.arrows_["new"] = c.arrow(o, self.new_w, label, color=c.hue(0), lw=2.6)

    def _draw_angles(self, c: Canvas, window: Window) -> None:
        sizes = {"old": (self.w, 0.16, (0, (4, 2))), "new": (self.new_w, 0.09, "-")}
        for (name, (w, size, ls)), angle in zip(sizes.items(), self.angles, strict=True):
            if not angle >= SMALL_ANGLE:
                continue
            arc = size * window.height * _arc(self.x, w)
            (self.angles_[name],) = c.ax.plot(*arc.T, color=c.ink, lw=1.1, ls=ls, zorder=3)
            middle = arc[len(arc) // 2]
            c.words(middle, f"{angle:.0f}°", away_from=(0, 0), fontsize="small")

    def _window(self) -> Window:
        ends = [np.zeros(2), self.w, self.x, self.step, self.new_w, -0.4 * self.new_w]
        return Window.around(np.array(ends), pad=0.3)


def _angle(a: Array, b: Array) -> float:
    if not (a.any() and b.any()):
        return float("nan")
    return float(np.degrees(np.arctan2(abs(a[0] * b[1] - a[1] * b[0]), a @ b)))


def _arc(a: Array, b: Array) -> Array:
    """The unit arc from the direction of a to that of b, the short way round."""
    start = np.arctan2(a[1], a[0])
    turn = (np.arctan2(b[1], b[0]) - start + np.pi) % (2 * np.pi) - np.pi
    at = start + np.linspace(0, turn, 60)
    return np.column_stack([np.cos(at), np.sin(at)])
