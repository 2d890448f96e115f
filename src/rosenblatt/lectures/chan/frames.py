"""chan, figures: one update in five frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.show.figures.canvas import DASHES, Canvas

Array = npt.NDArray[Any]


def update_frame(w: Array, x: Array, y: int, frame: int) -> Any:
    """One update in five frames: w and x; y x; their sum; the new hyperplane; what is left."""
    canvas = Canvas.on()
    ax, new = canvas.ax, w + y * x
    reach = 1.25 * float(max(np.hypot(*w), np.hypot(*x), np.hypot(*new)))
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.axhline(0, lw=0.6, color=canvas.ink, alpha=0.4)
    ax.axvline(0, lw=0.6, color=canvas.ink, alpha=0.4)
    if frame < 5:
        _line(canvas, w, "-" if frame < 4 else DASHES[1], "w.x = 0")
        canvas.arrow((0, 0), w, "w")
    if 2 <= frame < 4:
        canvas.arrow((0, 0), y * x, "y x", color=canvas.hue(4))
    if frame == 3:
        for start in (w, y * x):
            ax.plot(*zip(start, new, strict=True), ls=DASHES[2], color=canvas.ink)
    if frame >= 3:
        canvas.arrow((0, 0), new, "w + y x", color=canvas.hue(0))
    if frame >= 4:
        _line(canvas, new, "-", "(w + y x).x = 0")
    canvas.points(np.array([x]), [0], [f"x, label {y:+d}"], s=90, facecolor=canvas.hue(1))
    ax.set(xlabel="feature 0", ylabel="feature 1")
    canvas.legend(loc="upper left")
    return ax.figure


def _line(canvas: Canvas, w: Array, dashes: Any, label: str) -> None:
    """The line through the origin at a right angle to w."""
    canvas.ax.axline((0, 0), (-w[1], w[0]), color=canvas.ink, ls=dashes, lw=1.4, label=label)
