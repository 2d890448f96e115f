"""Figures as SVG: one drawing serves light and dark, because its colours are CSS variables."""

from __future__ import annotations

import hashlib
import io
import re
import reprlib
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.errors import ParameterError
from rosenblatt.plot.style import DARK, LIGHT, palette_of, pyplot

SIDES = ("width", "height")
WIDE = 420  # points: such a figure scrolls on a phone


@dataclass(frozen=True)
class Picture:
    """A figure as SVG, displayed in notebooks and on pages.

    Parameters
    ----------
    svg : str
        The ``<svg>`` element. Each colour is a CSS variable with a fallback, for example
        ``var(--fig-ink, #1b1f24)``.

    Examples
    --------
    >>> from rosenblatt.plot import axes, picture
    >>> picture(axes()).svg.endswith("</svg>")
    True
    """

    svg: str

    def _repr_html_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write an SVG file that follows the colour scheme of the reader's system.

        Parameters
        ----------
        path : str or Path
            Where to write it.
        """
        light, dark = (
            "".join(f"{name}:{code};" for code, name in palette.css().items())
            for palette in (LIGHT, DARK)
        )
        media = f"@media (prefers-color-scheme:dark){{svg{{{dark}}}}}"
        style = f"<style>svg{{{light}}}{media}</style>"
        opening, body = self.svg.split(">", 1)
        Path(path).write_text(f"{opening}>{style}{body}\n", encoding="utf-8")


def picture(drawn: Any, description: str = "") -> Picture:
    """Turn a figure into SVG for light and dark pages, and close it.

    Parameters
    ----------
    drawn : Axes, array of Axes, Figure or Display
        What to show; the whole figure it belongs to is shown.
    description : str, optional
        What the figure shows, for readers who cannot see it. By default the title and the names
        of the axes.

    Returns
    -------
    Picture
        Shown as inline SVG by Jupyter and on the pages of the documentation.

    Raises
    ------
    ParameterError
        If `drawn` was not drawn with matplotlib.

    Examples
    --------
    >>> from rosenblatt.plot import axes, picture
    >>> ax = axes()
    >>> "var(--fig-ink, #1b1f24)" in picture(ax).svg
    True
    """
    first = [*np.ravel(drawn), None][0]
    figure = getattr(getattr(first, "ax_", first), "figure", None)
    if figure is None:
        raise ParameterError(
            f"picture needs an Axes, a figure or a Display, got {reprlib.repr(drawn)}. "
            "Make Axes with rosenblatt.plot.axes()."
        )
    variables = _variables(figure)
    text = re.sub(r"#[0-9a-f]{6}\b", lambda code: variables.get(code[0], code[0]), _written(figure))
    prefix = f"fig-{hashlib.sha256(text.encode()).hexdigest()[:10]}-"
    opening, body = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{prefix}", text).split(">", 1)
    width, height = (float(re.findall(rf'{side}="([\d.]+)pt"', opening)[0]) for side in SIDES)
    pyplot().close(figure)
    return Picture(
        f'<svg class="rosenblatt-figure{" wide" if width > WIDE else ""}" role="img" '
        f'aria-label="{escape(description or _words(figure))}" viewBox="0 0 {width} {height}" '
        f'width="{width}pt" height="{height}pt" xmlns="http://www.w3.org/2000/svg" '
        'xmlns:xlink="http://www.w3.org/1999/xlink" '
        'style="max-width: 100%; height: auto; stroke-linejoin: round; '
        f'fill: {variables["#000000"]}">{body}'
    )


def _written(figure: Any) -> str:
    """What matplotlib writes, from <svg> on: text as paths, so that it looks the same anywhere."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_math_fontfamily("dejavuserif")  # close to the formulas of the page
    for ax in figure.axes:
        ax.title.set_fontsize("medium")
    out = io.StringIO()
    plain = {"svg.fonttype": "path", "svg.hashsalt": "rosenblatt"}
    empty = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with pyplot().rc_context(plain):
        figure.savefig(
            out, format="svg", bbox_inches="tight", pad_inches=0.04, metadata=empty, dpi=150
        )
    svg = out.getvalue()
    dropped = r"<!--.*?-->|<metadata>.*?</metadata>|<defs>\s*<style.*?</defs>"
    svg = re.sub(dropped, "", svg[svg.index("<svg") :], flags=re.S)
    return re.sub(r"\n\s*", "\n", svg).strip()


def _variables(figure: Any) -> dict[str, str]:
    """Hex code to CSS variable; black and white are ink and ground, or the reverse if dark."""
    palette = palette_of(figure)
    found = {code: f"var({name}, {code})" for code, name in palette.css().items()}
    ends = ("#000000", "#ffffff") if palette is LIGHT else ("#ffffff", "#000000")
    return found | {ends[0]: found[palette.ink], ends[1]: found[palette.ground]}


def _words(figure: Any) -> str:
    """Titles and names of the axes, without the marks of formulas."""
    words = [(ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) for ax in figure.axes]
    text = "; ".join(filter(None, sum(words, ()))).replace(r"\cdot", "·")
    return re.sub(r"\\[,;!]|[\\${}]", "", text) or "figure"
