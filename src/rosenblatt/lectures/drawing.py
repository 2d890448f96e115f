"""Drawing: figures of one or more panels, and what several lectures draw in them."""

from __future__ import annotations

from typing import Any

from rosenblatt.show.figures.canvas import Canvas, pyplot

WIDTH = 7.0  # inches: as wide as the text of a page


def panels(
    rows: int = 1, columns: int = 1, height: float = 3.4, **options: Any
) -> tuple[Any, list[Canvas]]:
    """A figure as wide as the page, with rows x columns canvases; `height` of one row in inches."""
    options = {"layout": "constrained", "squeeze": False, **options}
    figure, axes = pyplot().subplots(rows, columns, figsize=(WIDTH, rows * height), **options)
    return figure, [Canvas.on(ax) for ax in axes.ravel()]


def below(c: Canvas, columns: int = 2) -> None:
    """The legend under the picture, where it covers nothing."""
    c.ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.2),
        ncols=columns,
        fontsize="small",
        frameon=False,
    )


def intervals(found: dict[str, dict[str, Any]], what: str) -> Any:
    """Errors of hypotheses on training and on unseen rows, with intervals; the first is a line."""
    figure, (c,) = panels(height=0.7 + 0.42 * len(found))
    c.ax.axvline(next(iter(found.values()))["unseen"], color=c.ink, lw=1, ls=(0, (5, 3)))
    for k, judged in enumerate(found.values()):
        bar = [[judged["unseen"] - judged["low"]], [judged["high"] - judged["unseen"]]]
        names = ("training", "unseen, with 95 %") if k == 0 else (None, None)
        look = {"mec": c.ink, "mew": 0.7, "ms": 7}
        c.ax.errorbar(
            judged["unseen"],
            k,
            xerr=bar,
            fmt="s",
            color=c.hue(4),
            capsize=3,
            label=names[1],
            **look,
        )
        c.ax.plot(judged["train"], k, "o", mfc="none", mec=c.hue(0), mew=2, ms=9, label=names[0])
    c.ax.set_yticks(range(len(found)), list(found))
    c.ax.set_ylim(len(found) - 0.5, -0.5)
    c.ax.set_xlim(left=0)
    c.ax.set_xlabel(what)
    c.ax.grid(axis="x", alpha=0.25)
    c.ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    return figure
