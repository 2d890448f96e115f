"""The style of figures: colours for light and dark backgrounds, markers, dashes, and new Axes.

The hues are those of Okabe and Ito, chosen to be told apart with any colour vision. Nothing
depends on hue alone: classes differ in marker shape, lines in dash pattern.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from rosenblatt.errors import MissingPackageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # noqa: PLC0414
else:
    Axes = Any  # matplotlib is imported when the first figure is made

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.4)), (0, (6, 2, 1, 2)), (0, (3, 1.4)))


@dataclass(frozen=True)
class Palette:
    """Colours of one figure, as hex codes; by default for a light background.

    `picture` turns each into a CSS variable: ``ink`` into ``--fig-ink``, ``positive``,
    ``negative``, ``third`` and ``fourth`` into ``--fig-a`` to ``--fig-d``.
    """

    ink: str = "#1b1f24"  # lines and text that belong to no class
    ground: str = "#ffffff"
    muted: str = "#6e7781"  # grids and what is less important
    negative: str = "#0072b2"  # the first class
    positive: str = "#e69f00"  # the second class
    third: str = "#009e73"
    fourth: str = "#cc79a7"
    accent: str = "#d55e00"  # what the reader should look at
    edge: str = "#22272d"  # edges of markers, dark on either ground

    @property
    def series(self) -> tuple[str, ...]:
        """Colours of several classes or curves, in order."""
        return (self.negative, self.positive, self.third, self.fourth, self.accent, self.muted)

    def css(self) -> dict[str, str]:
        """The name of the CSS variable of each colour."""
        letters = {"positive": "a", "negative": "b", "third": "c", "fourth": "d"}
        return {code: f"--fig-{letters.get(name, name)}" for name, code in asdict(self).items()}


LIGHT = Palette()
DARK = Palette(
    ink="#e6e8ea",
    ground="#14181e",
    muted="#9aa3ad",
    negative="#5ab4f0",
    positive="#ffc24d",
    third="#35c99d",
    fourth="#e6a3c8",
    accent="#ff8a50",
    edge="#0b0e12",
)
colors = LIGHT
_legends: WeakKeyDictionary[Any, dict[int, float]] = WeakKeyDictionary()  # inches, by row of Axes


def pyplot() -> Any:
    """Import matplotlib.pyplot, which takes long, when the first figure is made."""
    try:
        import matplotlib.pyplot
    except ImportError as missing:
        raise MissingPackageError(
            "plots are drawn with matplotlib, which is not installed. "
            "Install it: pip install 'rosenblatt[plots]'"
        ) from missing
    return matplotlib.pyplot


def axes(
    nrows: int = 1, ncols: int = 1, *, width: float = 0, height: float = 0, **options: Any
) -> Any:
    """Make a new figure in the style of the documentation.

    Parameters
    ----------
    nrows, ncols : int, default=1
        Rows and columns of Axes.
    width, height : float, optional
        Size of the figure in inches; by default it depends on the number of Axes. Legends of
        Displays are placed below the Axes and add to the height.
    **options : dict
        Passed to :func:`matplotlib.pyplot.subplots`.

    Returns
    -------
    matplotlib.axes.Axes or ndarray of Axes
        One Axes, or an array of them if there are several.

    Examples
    --------
    >>> from rosenblatt.plot import axes, colors, picture
    >>> ax = axes()
    >>> line = ax.plot([0, 1], [0, 1], color=colors.accent)
    >>> picture(ax).svg[:4]
    '<svg'
    """
    size = (
        width or (5.0 if ncols == 1 else min(3.2 * ncols, 9.0)),
        height or (3.4 if nrows == ncols == 1 else 3.0 * nrows),
    )
    options = {"layout": "constrained", **options}
    figure, made = pyplot().subplots(nrows, ncols, figsize=size, **options)
    _legends[figure] = {}
    for ax in figure.axes:
        ax.set_prop_cycle(color=palette_of(ax).series)
        ax.spines[["right", "top"]].set_visible(False)
    return made


def make_room(ax: Any, inches: float) -> None:
    """Make a figure of `axes` higher, so that a legend below these Axes does not shrink them."""
    rows, spec = _legends.get(ax.figure), ax.get_subplotspec()
    if rows is None or spec is None:
        return
    row = spec.rowspan.stop
    more = max(0.0, inches - rows.get(row, 0.0))
    rows[row] = rows.get(row, 0.0) + more
    ax.figure.set_figheight(ax.figure.get_figheight() + more)


def palette_of(drawn: Any) -> Palette:
    """The palette that can be seen on these Axes, or on their figure if they are transparent."""
    from matplotlib.colors import to_rgba

    grounds = [to_rgba(one.get_facecolor()) for one in (drawn, drawn.figure)]
    ground = next((ground for ground in grounds if ground[3]), "white")
    return LIGHT if brightness(ground) > 0.5 else DARK


def brightness(color: Any) -> float:
    """The luma of a colour, from 0 (black) to 1 (white)."""
    from matplotlib.colors import to_rgb

    return float(np.dot(to_rgb(color), (0.299, 0.587, 0.114)))


def literal(text: object) -> str:
    r"""Text of the user as it is: no formula, and not hidden from the legend.

    >>> literal("$5"), literal("_no")
    ('\\$5', ' _no')
    """
    written = str(text).replace("$", r"\$")
    return f" {written}" if written.startswith("_") else written
