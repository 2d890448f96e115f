"""Drawing: the pictures of this lecture."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.lectures.cisc271.flowers import Array
from rosenblatt.lectures.drawing import below, panels
from rosenblatt.show.plots import HyperplanesDisplay, UpdateDisplay

PETAL_AXES = {"xlabel": "petal length, cm", "ylabel": "petal width, cm"}


def closer_and_farther(w_missed: Array, w_false: Array, x: Array) -> Any:
    """The update at a false negative, and at a false positive."""
    figure, canvases = panels(1, 2, height=3.8)
    for c, w, y, name in zip(
        canvases, (w_missed, w_false), (1, -1), ("false negative", "false positive"), strict=True
    ):
        UpdateDisplay.from_example(w, x, y, ax=c.ax, title=False)
        c.ax.set_title(name, fontsize="medium", pad=14)
        below(c)
    return figure


def convergences(models: list[Any], X: Array, names: Array) -> Any:
    """Figure 30.1: how each run came to its line; the first lines are pale."""
    figure, canvases = panels(2, 2, height=3.0, sharex=True, sharey=True)
    for k, (c, clf) in enumerate(zip(canvases, models, strict=True)):
        HyperplanesDisplay.from_estimator(clf, X, names, most=6, ax=c.ax, legend=False)
        c.ax.set_title(f"start {k + 1}: {clf.n_updates_} updates", fontsize="medium")
        c.ax.set(**PETAL_AXES)
        c.ax.label_outer()
    canvases[0].ax.legend(fontsize="x-small", loc="upper left")
    return figure


def distances(planes: dict[str, Array], X: Array, y: Array) -> Any:
    """How far each flower is from each hyperplane: setosa to the right, the others to the left."""
    figure, (c,) = panels(height=0.9 + 0.5 * len(planes))
    rng = np.random.default_rng(0)
    for k, plane in enumerate(planes.values()):
        far = X @ plane[:-1] + plane[-1]
        rows = k + rng.uniform(-0.22, 0.22, len(far))
        points = np.column_stack([far, rows])
        c.points(points, y, ["others", "setosa"] if k == 0 else ["", ""], s=13, linewidth=0.4)
        for side in (0, 1):
            near = far[y == side][np.abs(far[y == side]).argmin()]
            c.ax.plot([near, near], [k - 0.34, k + 0.34], color=c.hue(side), lw=2)
    c.ax.axvline(0, color=c.ink, lw=1.8)
    c.ax.set_yticks(range(len(planes)), list(planes))
    c.ax.set_ylim(len(planes) - 0.5, -0.5)
    c.ax.set_xlabel("distance from the hyperplane, cm")
    c.ax.grid(axis="x", alpha=0.25)
    c.ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    return figure


def two_clusters(X: Array, y: Array, label: Array) -> Any:
    """What k-means makes of the petals, and which flowers it puts to the wrong species."""
    figure, (c,) = panels(height=3.6)
    c.points(X, label, ["cluster 1", "cluster 2"])
    wrong = X[label != y]
    c.ring(wrong, f"wrong species ({len(wrong)})", len(X), size=5)
    c.ax.set(**PETAL_AXES)
    c.ax.grid(alpha=0.25)
    c.legend(loc="upper left")
    return figure
