"""What Displays share: Axes to draw on, marks on them, and how a Display shows itself."""

from __future__ import annotations

import math
import reprlib
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rosenblatt.errors import NotSupportedError, ParameterError
from rosenblatt.plot.plane import Array, Points, Window
from rosenblatt.plot.style import DASHES, MARKERS, Axes, axes, literal, make_room, palette_of
from rosenblatt.plot.svg import picture

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

    def _canvas(self, ax: Axes | None, window: Window | None = None, names: Any = ()) -> Canvas:
        c = Canvas(ax, window, names)
        self.ax_, self.figure_ = c.ax, c.ax.figure
        return c

    def __repr__(self) -> str:
        return f"{type(self).__name__}: save it with figure_.savefig('picture.png')"

    def _repr_html_(self) -> str:
        return picture(self, (type(self).__doc__ or "").partition("\n")[0]).svg


class Canvas:
    """Axes, by default of a new figure, and the colours that can be seen on them.

    With a window they show that part of the plane, whose axes have these names.
    """

    def __init__(
        self, ax: Axes | None = None, window: Window | None = None, names: Any = ()
    ) -> None:
        self.ax: Any = axes() if ax is None else ax
        if not hasattr(self.ax, "get_subplotspec"):
            raise ParameterError(
                f"ax must be a matplotlib Axes, got {reprlib.repr(ax)}. Make one with "
                "rosenblatt.plot.axes() or plt.subplots(), or leave it out."
            )
        self.colors = palette_of(self.ax)
        if window is not None:
            self.window = window
            self.ax.set(xlim=(window.left, window.right), ylim=(window.bottom, window.top))
            self.ax.set(xlabel=names[0], ylabel=names[1])
            self.ax.set_aspect("equal" if window.equal else "auto")

    def color(self, k: int) -> str:
        """Colour of class or curve number k."""
        return self.colors.series[k % len(self.colors.series)]

    def curve(self, k: int, few: bool = False) -> dict[str, Any]:
        """Style of curve number k; with markers if its points are few."""
        dots = {"marker": MARKERS[k % len(MARKERS)], "mec": self.colors.edge, "mew": 0.6, "ms": 5}
        look = {"color": self.color(k), "ls": DASHES[k % len(DASHES)], "lw": 1.8, "zorder": 3}
        return look | (dots if few else {})

    def points(self, points: Points, scale: float = 1.0) -> list[Any]:
        """Rows, one artist per class."""
        self.size = scale * point_size(len(points.X))
        look = {"s": self.size, "linewidth": 0.09 * self.size**0.5, "edgecolor": self.colors.edge}
        look |= {"rasterized": len(points.X) > MANY, "zorder": 3}
        drawn = []
        for k, name in enumerate(points.names):
            look |= {"marker": MARKERS[k % len(MARKERS)], "facecolor": self.color(k)}
            look |= {"label": literal(name)}
            drawn.append(self.ax.scatter(*points.X[points.codes == k].T, **look))
        return drawn

    def regions(self, lead: Array, boundaries: bool = True) -> tuple[list[Any], list[Any]]:
        """The region of each class, where its values on a grid are positive, and its boundary."""
        x, y, _ = self.window.grid(lead.shape[1])
        regions, edges = [], []
        for k, values in enumerate(lead):
            if values.max() > 0:
                look = {"levels": [0.0, 2 * values.max() + 1], "colors": [self.color(k)]}
                regions.append(self.ax.contourf(x, y, values, zorder=0, alpha=0.16, **look))
            # two classes have the same boundary
            if boundaries and values.min() < 0 < values.max() and (k or len(lead) > 2):
                look = {"levels": [0.0], "colors": [self.colors.ink]}
                edges.append(self.ax.contour(x, y, values, linewidths=1.6, **look))
        return regions, edges

    def ring(self, X: Array, label: str, scale: float = 3.6, **style: Any) -> Any:
        """Rings around some of the rows that were drawn; None without rows."""
        look = {"s": scale * self.size, "facecolor": "none", "edgecolor": self.colors.ink}
        look |= {"linewidth": 1.3, "zorder": 4, "label": label, **style}
        return self.ax.scatter(*X.T, **look) if len(X) else None

    def line(self, w: Array | None, b: float, **style: Any) -> Any:
        """The line w.x + b = 0; None if it does not cross the window, and the legend says so."""
        if w is None or not w.any():
            return None
        ends = self.window.chord(w, b)
        look = {"color": self.colors.ink, "lw": 2.0, "zorder": 2, **style}
        (line,) = self.ax.plot(*ends.T, **look)
        if len(ends):
            return line
        line.set_label(f"{style['label']}, outside" if "label" in style else None)
        return None

    def margin(self, w: Array | None, b: float, margin: float | None) -> list[Any]:
        """The two lines at this distance from w.x + b = 0, if positive, as far as they are seen."""
        if w is None or not margin or margin < 0 or not self.window.equal:
            return []
        away = margin * float(np.hypot(*w))
        both = [self.line(w, b + side, lw=1.1, ls=DASHES[1]) for side in (-away, away)]
        seen = [line for line in both if line is not None]
        for line in seen[:1]:
            line.set_label(f"margin {margin:.4g}")
        return seen

    def arrow(self, start: Any, end: Any, label: str = "", gap: float = 11, **style: Any) -> Any:
        """A vector from `start` to `end`; its `xyann` and `xy` are the two ends."""
        look = {"color": self.colors.ink, "lw": 1.8, "mutation_scale": 14, "shrinkA": 0}
        look |= {"arrowstyle": "-|>", "shrinkB": 0, **style}
        if label:
            self.text(end, label, start, gap, color=look["color"])
        return self.ax.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops=look, zorder=5)

    def text(self, at: Any, text: str, away_from: Any, gap: float = 11, **style: Any) -> Any:
        """Text beside a point, on the far side from `away_from`."""
        from matplotlib.patheffects import withStroke

        step = np.asarray(at, dtype=float) - np.asarray(away_from, dtype=float)
        shift = step / (np.hypot(*step) or 1.0)
        side = ("right", "center", "left")[int(np.sign(np.round(1.4 * shift[0]))) + 1]
        look = {"color": self.colors.ink, "ha": side, "va": "center", "zorder": 6}
        look |= {"path_effects": [withStroke(linewidth=2.5, foreground=self.colors.ground)]}
        place = {"xytext": tuple(gap * shift), "textcoords": "offset points"}
        return self.ax.annotate(text, xy=tuple(at), **place, **look | style)

    def finish(self, legend: bool, grid: bool = True, handles: list[Any] | None = None) -> None:
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
        self.ax.legend(handles=handles, fontsize=9, **place).set_zorder(7)


def check_classifier(estimator: Any) -> None:
    """Raise an error unless this is a fitted classifier."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "classes_"):
        raise NotSupportedError(
            f"this picture is of a classifier, and {type(estimator).__name__} has no classes_. "
            "Use one that has, for example Perceptron."
        )


def point_size(n: int) -> float:
    """The area of a marker, smaller where there are many.

    >>> point_size(10), round(point_size(1000), 1)
    (46.0, 14.5)
    """
    return float(46.0 / max(1.0, n / 100) ** 0.5)
