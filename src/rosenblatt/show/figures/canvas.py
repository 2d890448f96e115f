"""Canvas: matplotlib on demand, and colours that work in grey, on light and on dark ground.

The hues are those of Okabe and Ito, who chose them to be told apart with any colour vision. No
meaning rests on hue alone: classes differ in the shape of their markers, lines in their dashes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.errors import MissingPackageError, ParameterError

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.4)), (0, (6, 2, 1, 2)), (0, (3, 1.4)))
ON_LIGHT = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#7F7F7F", "#000000")
ON_DARK = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#F0E442", "#B0B0B0", "#FFFFFF")


def pyplot() -> Any:
    """matplotlib.pyplot, imported when the first picture is made."""
    try:
        import matplotlib.pyplot
    except ImportError as missing:
        raise MissingPackageError(
            "plots are drawn with matplotlib, which is not installed. "
            "Install it: pip install 'rosenblatt[plots]'"
        ) from missing
    return matplotlib.pyplot


@dataclass(frozen=True)
class Canvas:
    """One Axes and the colours that can be seen on it."""

    ax: Any
    ink: Any  # of lines and words that belong to no class
    ground: Any
    hues: tuple[str, ...]

    @classmethod
    def on(cls, ax: Any = None) -> Canvas:
        """The Axes given, or those of a new figure; colours follow its face and rcParams."""
        plt = pyplot()
        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        if not hasattr(ax, "plot") or not hasattr(ax, "figure"):
            raise ParameterError(
                f"ax must be a matplotlib Axes, got {type(ax).__name__}. Make one with "
                "plt.subplots(), or leave it out."
            )
        ground = seen_ground(ax)
        light = brightness(ground) > 0.5
        ink = plt.rcParams["text.color"]
        if (brightness(ink) > 0.5) == light:  # a dark Axes in a light style, or the reverse
            ink = "black" if light else "white"
        return cls(ax, ink, ground, ON_LIGHT if light else ON_DARK)

    @property
    def dark(self) -> bool:
        return self.hues is ON_DARK

    def hue(self, k: int) -> str:
        return self.hues[k % len(self.hues)]

    def wash(self, k: int, strength: float | None = None) -> tuple[float, float, float]:
        """A hue mixed into the ground: opaque, so that what lies under it does not add up."""
        from matplotlib.colors import to_rgb

        strength = (0.28 if self.dark else 0.18) if strength is None else strength
        mixed = strength * np.array(to_rgb(self.hue(k))) + (1 - strength) * np.array(
            to_rgb(self.ground)
        )
        return (float(mixed[0]), float(mixed[1]), float(mixed[2]))

    # ------------------------------------------------------------------ what is drawn

    def points(self, X: Any, codes: Any, names: list[str], **style: Any) -> list[Any]:
        """Rows, one artist a class; `codes` are their class numbers."""
        drawn = []
        for k, name in enumerate(names):
            part = X[np.asarray(codes) == k]
            look = {
                "marker": MARKERS[k % len(MARKERS)],
                "s": point_size(len(X)),
                "facecolor": self.hue(k),
                "edgecolor": self.ink,
                "linewidth": 0.7,
                "label": plain(name),
                "zorder": 3,
                **style,
            }
            drawn.append(self.ax.scatter(part[:, 0], part[:, 1], **look))
        return drawn

    def ring(self, X: Any, label: str, among: int = 1, size: float = 3.4, **style: Any) -> Any:
        """A ring round rows that are meant, `among` so many that are drawn."""
        look = {
            "s": size * point_size(among),
            "marker": "o",
            "facecolor": "none",
            "edgecolor": self.ink,
            "linewidth": 1.3,
            "label": label,
            "zorder": 4,
            **style,
        }
        return self.ax.scatter(X[:, 0], X[:, 1], **look)

    def arrow(
        self, start: Any, end: Any, label: str | None = None, gap: float = 11, **style: Any
    ) -> Any:
        """A vector from `start` to `end`; its `xy` and `xyann` are the two ends."""
        look = {"arrowstyle": "-|>", "color": self.ink, "lw": 1.8, "mutation_scale": 14}
        look |= {"shrinkA": 0, "shrinkB": 0, **style}
        drawn = self.ax.annotate(
            "", xy=tuple(end), xytext=tuple(start), arrowprops=look, zorder=look.pop("zorder", 5)
        )
        if label:
            self.words(end, label, start, gap, color=look["color"])
        return drawn

    def words(
        self, at: Any, text: str, away_from: Any = None, gap: float = 11, **style: Any
    ) -> Any:
        """Words beside a point, on the far side from `away_from`, on a patch of the ground."""
        shift = np.array([0.0, 1.0])
        if away_from is not None:
            step = np.asarray(at, dtype=float) - np.asarray(away_from, dtype=float)
            shift = step / (np.hypot(*step) or 1.0)
        box = {"boxstyle": "round,pad=0.15", "fc": self.ground, "ec": "none", "alpha": 0.75}
        side = ("right", "center", "left")[int(np.sign(np.round(1.4 * shift[0]))) + 1]
        look = {"color": self.ink, "ha": side, "va": "center", "zorder": 6, "bbox": box}
        return self.ax.annotate(
            text,
            xy=tuple(at),
            xytext=tuple(gap * shift),
            textcoords="offset points",
            **look | style,
        )

    def legend(self, **style: Any) -> Any:
        """A legend of what has a label, where it covers least; None if nothing has."""
        if not self.ax.get_legend_handles_labels()[1]:
            return None
        found = self.ax.legend(**{"framealpha": 0.85, "fontsize": "small", **style})
        found.set_zorder(7)
        return found


def plain(text: object) -> str:
    r"""Words of the user as they are: no formula, and not hidden from the legend.

    >>> plain("$5"), plain("_no")
    ('\\$5', ' _no')
    """
    said = str(text).replace("$", r"\$")
    return f" {said}" if said.startswith("_") else said


def seen_ground(ax: Any) -> Any:
    """The colour behind the picture: of the Axes, or of the figure if they are transparent."""
    from matplotlib.colors import to_rgba

    face = to_rgba(ax.get_facecolor())
    if face[3] > 0:
        return face
    behind = to_rgba(ax.figure.get_facecolor())
    return behind if behind[3] > 0 else (1.0, 1.0, 1.0, 1.0)


def brightness(colour: Any) -> float:
    """From 0, black, to 1, white: the luma of the colour."""
    from matplotlib.colors import to_rgb

    r, g, b = to_rgb(colour)
    return 0.299 * r + 0.587 * g + 0.114 * b


def point_size(n: int) -> float:
    """The area of a marker: smaller where there are many.

    >>> point_size(10), round(point_size(1000), 1)
    (46.0, 14.5)
    """
    return float(46.0 / max(1.0, n / 100) ** 0.5)
