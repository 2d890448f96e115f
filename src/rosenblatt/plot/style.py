"""The style of figures: colours for light and dark backgrounds, markers, dashes, and new Axes.

The hues are those of Okabe and Ito, chosen to be told apart with any colour vision. Nothing
depends on hue alone: classes differ in marker shape, lines in dash pattern.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

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

    `picture` turns each into a CSS variable: ``ink`` into ``--fig-ink``, and so on.
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
    nrows: int = 1,
    ncols: int = 1,
    *,
    width: float | None = None,
    height: float | None = None,
    **options: Any,
) -> Any:
    """Make a new figure in the style of the documentation.

    Parameters
    ----------
    nrows, ncols : int, default=1
        Rows and columns of Axes.
    width, height : float, optional
        Size of the figure in inches. Legends of Displays are placed below the Axes and add to
        the height.
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
    plt = pyplot()
    palette = palette_of(plt.rcParams["axes.facecolor"])
    size = (
        width or (5.0 if ncols == 1 else min(3.2 * ncols, 9.0)),
        height or (3.4 if nrows == ncols == 1 else 3.0 * nrows),
    )
    style = {
        "axes.edgecolor": palette.ink,
        "axes.labelcolor": palette.ink,
        "axes.prop_cycle": plt.cycler(color=palette.series),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlesize": "medium",
        "text.color": palette.ink,
    }
    with plt.rc_context(style):
        figure, made = plt.subplots(
            nrows, ncols, figsize=size, **{"layout": "constrained", **options}
        )
    _legends[figure] = {}
    for ax in figure.axes:
        ax.tick_params(colors=palette.ink, grid_color=palette.muted, grid_alpha=0.3)
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


def palette_of(ground: Any) -> Palette:
    """The palette for a background of this colour."""
    return LIGHT if brightness(ground) > 0.5 else DARK


def brightness(color: Any) -> float:
    """The luma of a colour, from 0 (black) to 1 (white)."""
    from matplotlib.colors import to_rgb

    r, g, b = to_rgb(color)
    return 0.299 * r + 0.587 * g + 0.114 * b
