"""Figures: the plots of docs/reference/benchmarks.md, drawn from the numbers of a run.

Colours are those of Okabe and Ito; every contender also has a marker and a line of its own, and
its name stands beside its curve, so that nothing depends on colour.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from contenders import CONTENDERS
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from peers import Row, sets_of
from report import number
from scaling import Curve

# colour, marker, line; grey values of the colours differ too
LOOKS = {
    "rosenblatt, last": ("#0072B2", "o", "-"),
    "rosenblatt, average": ("#000000", "s", "-"),
    "scikit-learn Perceptron": ("#D55E00", "^", "--"),
    "scikit-learn SGDClassifier": ("#E69F00", "v", "--"),
    "LIBLINEAR": ("#009E73", "D", ":"),
    "Vowpal Wabbit": ("#CC79A7", "P", "-."),
    "River": ("#56B4E9", "X", ":"),
    "X @ w": ("#777777", "None", "-"),
}
SHORT = {
    "rosenblatt, last": "rosenblatt",
    "rosenblatt, average": "rosenblatt, average",
    "scikit-learn Perceptron": "sklearn Perceptron",
    "scikit-learn SGDClassifier": "sklearn SGD",
    "Vowpal Wabbit": "VW",
}
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "rosenblatt",
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
}


def save(figure: Any, path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def log_axis(axis: Any) -> None:
    """Powers of ten, written out."""
    axis.set_major_locator(LogLocator(numticks=12))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value, 1)))


def draw(axes: Any, name: str, points: list[tuple[float, float]], hollow: bool = False) -> None:
    colour, marker, line = LOOKS[name]
    x, y = zip(*points, strict=True)
    axes.plot(
        x,
        y,
        color=colour,
        marker=marker,
        linestyle=line,
        markersize=5,
        linewidth=1.4,
        markerfacecolor="white" if hollow else colour,
        clip_on=False,
        zorder=3,
    )


def label_ends(axes: Any, ends: dict[str, tuple[float, float]]) -> None:
    """Names right of the axes, in the order of the curves' ends, a faint line to each."""
    transform = axes.transData.transform
    inverse = axes.transAxes.inverted().transform
    placed = sorted((float(inverse(transform(end))[1]), name) for name, end in ends.items())
    gap = 0.085
    heights: list[float] = []
    for wanted, _ in placed:
        heights.append(max(wanted, heights[-1] + gap) if heights else max(wanted, 0.0))
    over = max(0.0, (heights[-1] if heights else 0) - 1.0)
    heights = [h - over for h in heights]
    for k in range(len(heights) - 2, -1, -1):
        heights[k] = min(heights[k], heights[k + 1] - gap)
    for (_, name), height in zip(placed, heights, strict=True):
        colour, marker, line = LOOKS[name]
        axes.annotate(
            "",
            xy=ends[name],
            xycoords="data",
            xytext=(1.04, height),
            textcoords="axes fraction",
            arrowprops={"arrowstyle": "-", "color": "#c4c4c4", "lw": 0.6, "shrinkB": 4},
            annotation_clip=False,
            zorder=1,
        )
        axes.plot(
            [1.045, 1.075, 1.105],
            [height] * 3,
            color=colour,
            marker=marker,
            markevery=[1],
            linestyle=line,
            markersize=4.5,
            linewidth=1.2,
            transform=axes.transAxes,
            clip_on=False,
        )
        axes.text(
            1.125,
            height,
            SHORT.get(name, name),
            va="center",
            fontsize=8,
            color="#222222",
            transform=axes.transAxes,
        )


def time_against_accuracy(rows: list[Row], path: Path) -> None:
    """One panel per data set; the points of a curve are 1, 5 and 20 passes, where they were run.

    A contender that got a part of the rows only is left out: its accuracy is of that part.
    """
    learned = [r for r in rows if r.seconds and r.test is not None]
    names = [data for data in sets_of(rows) if any(r.data == data for r in learned)]
    height = (len(names) + 1) // 2
    with mpl.rc_context(STYLE):
        figure, grid = plt.subplots(
            height, 2, figsize=(9.6, 2.6 * height), squeeze=False, layout="constrained"
        )
        for axes in grid.flat[len(names) :]:
            axes.remove()
        for axes, data in zip(grid.flat, names, strict=False):
            panel(axes, data, [r for r in learned if r.data == data])
        save(figure, path)


def panel(axes: Any, data: str, rows: list[Row]) -> None:
    axes.set_xscale("log")
    log_axis(axes.xaxis)
    ends = {}
    for name, kind in CONTENDERS.items():
        mine = [r for r in rows if r.contender == name and (r.asked or kind.default_only)]
        mine = sorted((r for r in mine if r.scale == 1), key=lambda r: r.asked or 0)
        points = [(float(r.seconds or 0), float(r.test or 0)) for r in mine]
        if points:
            draw(axes, name, points)
            ends[name] = max(points)
    axes.set_title(data, fontsize=9.5, loc="left", fontweight="bold")
    axes.set_xlabel("seconds of training")
    axes.set_ylabel("test accuracy")
    axes.margins(x=0.05, y=0.08)
    axes.autoscale_view()
    label_ends(axes, ends)


def scaling(found: dict[str, Curve], path: Path) -> None:
    with mpl.rc_context(STYLE):
        figure, grid = plt.subplots(
            len(found), 1, figsize=(7.2, 3.1 * len(found)), squeeze=False, layout="constrained"
        )
        for axes, (sweep, curve) in zip(grid.flat, found.items(), strict=True):
            axes.set_xscale("log")
            axes.set_yscale("log")
            log_axis(axes.xaxis)
            log_axis(axes.yaxis)
            drawn = {name: points for name, points in curve.items() if points}
            for name, points in drawn.items():
                draw(axes, name, [(float(x), y) for x, y in points], hollow=name == "River")
            axes.set_xlabel(sweep)
            axes.set_ylabel("seconds")
            axes.autoscale_view()
            label_ends(axes, {name: points[-1] for name, points in drawn.items()})
        save(figure, path)
