"""What Displays share: Axes to draw on, marks on them, and how a Display shows itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rosenblatt.errors import ParameterError
from rosenblatt.plot.plane import Array, Points, Window
from rosenblatt.plot.style import MARKERS, Axes, Palette, axes, make_room, palette_of
from rosenblatt.plot.svg import picture

MARGIN_DASH = (0, (5, 3))
MANY = 5_000  # rows from which an SVG of single markers would be slow to show


class Display:
    """A picture and the numbers behind it; a notebook shows it as SVG.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Where it was drawn last.
    figure_ : matplotlib.figure.Figure
        The figure of these Axes.
    """

    ax_: Axes
    figure_: Any

    def _canvas(self, ax: Axes | None) -> Canvas:
        c = Canvas.on(ax)
        self.ax_, self.figure_ = c.ax, c.ax.figure
        return c

    def __repr__(self) -> str:
        return f"{type(self).__name__}: save it with figure_.savefig('picture.png')"

    def _repr_html_(self) -> str:
        return picture(self, (type(self).__doc__ or "").partition("\n")[0]).svg


@dataclass(frozen=True)
class Canvas:
    """Axes and the colours that can be seen on them."""

    ax: Any
    colors: Palette

    @classmethod
    def on(cls, ax: Axes | None = None) -> Canvas:
        """Draw on these Axes, or on those of a new figure."""
        ax = axes() if ax is None else ax
        if not hasattr(ax, "plot") or not hasattr(ax, "figure"):
            raise ParameterError(
                f"ax must be a matplotlib Axes, got {type(ax).__name__}. Make one with "
                "rosenblatt.plot.axes() or plt.subplots(), or leave it out."
            )
        return cls(ax, palette_of(_ground(ax)))

    def color(self, k: int) -> str:
        """Colour of class or curve number k."""
        return self.colors.series[k % len(self.colors.series)]

    def points(self, points: Points, scale: float = 1.0) -> list[Any]:
        """Rows, one artist per class."""
        drawn = []
        for k, name in enumerate(points.names):
            look = self.marker(k, len(points.X), scale) | {"label": literal(name), "zorder": 3}
            drawn.append(self.ax.scatter(*points.X[points.codes == k].T, **look))
        return drawn

    def marker(self, k: int, n: int, scale: float = 1.0) -> dict[str, Any]:
        """Style of the marker of class k, smaller where n rows are many."""
        size = scale * point_size(n)
        return {
            "marker": MARKERS[k % len(MARKERS)],
            "s": size,
            "facecolor": self.color(k),
            "edgecolor": self.colors.edge,
            "linewidth": 0.09 * size**0.5,
            "rasterized": n > MANY,
        }

    def rug(self, points: Points, heights: list[float]) -> list[Any]:
        """Numbers of two classes, each on a line of its own."""
        rows = np.column_stack([np.ravel(points.X), np.take(heights, points.codes)])
        names = tuple(f"rows of {name}" for name in points.names)
        return self.points(replace(points, X=rows, names=names), scale=0.6)

    def ring(self, X: Array, label: str, n: int, marker: str = "o", scale: float = 3.6) -> Any:
        """Rings around rows, of which n are drawn."""
        size = {"s": scale * point_size(n), "linewidth": 1.3, "zorder": 4}
        look = {"facecolor": "none", "edgecolor": self.colors.ink, "marker": marker}
        return self.ax.scatter(*X.T, label=label, **size, **look)

    def line(self, window: Window, w: Array, b: float, **style: Any) -> Any:
        """The line w.x + b = 0; None if it does not cross the window, and the legend says so."""
        ends = window.chord(w, b)
        look = {"color": self.colors.ink, "lw": 2.0, "zorder": 2, **style}
        (line,) = self.ax.plot(*ends.T, **look)
        if len(ends):
            return line
        line.set_label(f"{style['label']}, outside" if "label" in style and w.any() else None)
        return None

    def margin(self, window: Window, w: Array, b: float, margin: float) -> list[Any]:
        """The two lines at the distance `margin` from w.x + b = 0, as far as they are seen."""
        away = margin * float(np.hypot(*w))
        both = [self.line(window, w, b + side * away, lw=1.1, ls=MARGIN_DASH) for side in (-1, 1)]
        seen = [line for line in both if line is not None]
        if seen:
            seen[0].set_label(f"margin {margin:.4g}")
        return seen

    def arrow(self, start: Any, end: Any, label: str = "", gap: float = 11, **style: Any) -> Any:
        """A vector from `start` to `end`; its `xyann` and `xy` are the two ends."""
        look = {"color": self.colors.ink, "lw": 1.8, "mutation_scale": 14, "shrinkA": 0}
        look |= {"arrowstyle": "-|>", "shrinkB": 0, **style}
        if label:
            self.text(end, label, start, gap, color=look["color"])
        return self.ax.annotate(
            "", xy=tuple(end), xytext=tuple(start), arrowprops=look, zorder=look.pop("zorder", 5)
        )

    def text(self, at: Any, text: str, away_from: Any, gap: float = 11, **style: Any) -> Any:
        """Text beside a point, on the far side from `away_from`."""
        from matplotlib.patheffects import withStroke

        step = np.asarray(at, dtype=float) - np.asarray(away_from, dtype=float)
        shift = step / (np.hypot(*step) or 1.0)
        outline = [withStroke(linewidth=2.5, foreground=self.colors.ground)]
        side = ("right", "center", "left")[int(np.sign(np.round(1.4 * shift[0]))) + 1]
        look = {"color": self.colors.ink, "ha": side, "va": "center", "zorder": 6}
        look |= {"path_effects": outline}
        place = {"xytext": tuple(gap * shift), "textcoords": "offset points"}
        return self.ax.annotate(text, xy=tuple(at), **place, **look | style)

    def finish(
        self, legend: bool = True, grid: bool = True, handles: list[Any] | None = None
    ) -> None:
        """Grid, and a legend of what has a label: below the Axes, where it covers no data."""
        if grid:
            self.ax.grid(color=self.colors.muted, alpha=0.25, lw=0.6)
        handles = handles or self.ax.get_legend_handles_labels()[0]
        if not legend or not handles:
            return
        place: dict[str, Any] = {"loc": "best", "framealpha": 0.85}
        if self.ax.figure.get_layout_engine() is not None:  # otherwise it would be cut off
            inches = self.ax.get_position(original=True).width * self.ax.figure.get_figwidth()
            columns = 2 if inches > 3.2 else 1
            place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "frameon": False}
            place |= {"borderaxespad": 3.9 if self.ax.get_xlabel() else 2.4, "ncols": columns}
            make_room(self.ax, 0.1 + 0.21 * math.ceil(len(handles) / columns))
        look = {"fontsize": 9, "labelcolor": self.colors.ink}
        self.ax.legend(handles=handles, **look, **place).set_zorder(7)


def literal(text: object) -> str:
    r"""Text of the user as it is: no formula, and not hidden from the legend.

    >>> literal("$5"), literal("_no")
    ('\\$5', ' _no')
    """
    written = str(text).replace("$", r"\$")
    return f" {written}" if written.startswith("_") else written


def point_size(n: int) -> float:
    """The area of a marker, smaller where there are many.

    >>> point_size(10), round(point_size(1000), 1)
    (46.0, 14.5)
    """
    return float(46.0 / max(1.0, n / 100) ** 0.5)


def _ground(ax: Any) -> Any:
    """The colour behind the Axes: their own, or that of the figure if they are transparent."""
    from matplotlib.colors import to_rgba

    faces = [to_rgba(drawn.get_facecolor()) for drawn in (ax, ax.figure)]
    return next((face for face in faces if face[3] > 0), "white")
