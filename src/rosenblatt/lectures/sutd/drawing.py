"""Drawing: the pictures of this lecture that no display makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.lectures.drawing import below, panels
from rosenblatt.show.figures.canvas import DASHES, MARKERS, Canvas
from rosenblatt.show.plots import (
    CertificateDisplay,
    DecisionDisplay,
    UpdateDisplay,
    VersionSpaceDisplay,
)

Array = npt.NDArray[Any]


def on_a_line(x: Array, names: Array, classes: Sequence[str], borders: Sequence[float]) -> Any:
    """One feature: the points of each class, and where the answer changes."""
    figure, (c,) = panels(height=2.4)
    edges = [x.min() - 0.3, *borders, x.max() + 0.3]
    rng = np.random.default_rng(0)
    for k, name in enumerate(classes):
        own = x[names == name, 0]
        c.ax.axvspan(edges[k], edges[k + 1], color=c.wash(k), lw=0)
        lift = k + rng.uniform(-0.28, 0.28, len(own))  # so that equal lengths are all seen
        c.points(
            np.column_stack([own, lift]),
            np.zeros(len(own)),
            [name],
            marker=MARKERS[k],
            facecolor=c.hue(k),
        )
    for border in borders:
        c.ax.axvline(border, color=c.ink, lw=1.8)
    c.ax.set_yticks(range(len(classes)), list(classes))
    c.ax.set(xlabel="petal length, cm", xlim=(edges[0], edges[-1]))
    return figure


def fits(x: Array, y: Array, curves: dict[str, Any], labels: tuple[str, str]) -> Any:
    """Points and one or more functions through them."""
    figure, (c,) = panels(height=3.4)
    c.ax.plot(x, y, "o", ms=4, color=c.hue(0), mec=c.ink, mew=0.3, alpha=0.6)
    grid = np.linspace(x.min(), x.max(), 200)
    for k, (name, f) in enumerate(curves.items()):
        c.ax.plot(
            grid,
            f(grid),
            color=c.hue(4 - 4 * k) if k == 0 else c.ink,
            lw=2,
            ls=DASHES[len(curves) - 1 - k],
            label=name,
        )
    c.ax.set(xlabel=labels[0], ylabel=labels[1])
    c.ax.grid(alpha=0.25)
    c.legend()
    return figure


def clusters(X: Array, partitions: dict[str, Array]) -> Any:
    """The same points, coloured by each partition."""
    figure, canvases = panels(1, len(partitions), height=2.5, sharex=True, sharey=True)
    for c, (name, codes) in zip(canvases, partitions.items(), strict=True):
        # clusters are numbered by their size and then from left to right, in every panel
        order = sorted(set(codes.tolist()), key=lambda k: X[codes == k, 0].mean())
        c.points(
            X, np.array([order.index(k) for k in codes.tolist()]), ["", "", ""], s=9, linewidth=0.3
        )
        c.ax.set_title(name, fontsize="medium")
        c.ax.set_aspect("equal")
        c.ax.set(xticks=[], yticks=[])
    return figure


def shifted(theta: Array, theta_0: float) -> Any:
    """theta.x = 0 and theta.x + theta_0 = 0, with theta and the distance."""
    figure, (c,) = panels(height=3.6)
    foot = -theta_0 * theta / (theta @ theta)
    along = np.array([-theta[1], theta[0]])
    reach = np.linspace(-3, 3, 2)[:, None] * along
    c.ax.plot(*reach.T, color=c.ink, lw=1.6, ls=(0, (5, 3)), label=r"$\theta\cdot x = 0$")
    c.ax.plot(*(foot + reach).T, color=c.ink, lw=2.2, label=r"$\theta\cdot x + \theta_0 = 0$")
    c.arrow(foot, foot + theta / 2, r"$\theta$", color=c.hue(0), lw=2.4)
    c.arrow((0, 0), foot, color=c.hue(4), lw=2.0)
    c.ax.text(0.27, -0.16, r"$-\theta_0/\|\theta\|$", color=c.hue(4))
    c.ax.plot(0, 0, "o", color=c.ink, ms=5)
    c.ax.text(2.2, 1.2, "+1", fontsize="x-large", color=c.hue(1))
    c.ax.text(-1.8, 0.9, "−1", fontsize="x-large", color=c.hue(0))
    c.ax.set(xlim=(-2.4, 3.2), ylim=(-1.6, 2.2), xlabel="$x_1$", ylabel="$x_2$")
    c.ax.set_aspect("equal")
    c.legend(loc="lower left")
    return figure


def scores(contributions: Array, offset: float, features: Sequence[str]) -> Any:
    """For each user, how the offset and the features add up to the score."""
    figure, (c,) = panels(height=3.9)
    for row, parts in enumerate(contributions):
        steps = [(offset, 6)] + [(float(v), j) for j, v in enumerate(parts) if v]
        at = 0.0
        for k, (value, hue) in enumerate(steps):
            y = row + 0.17 * (k - (len(steps) - 1) / 2)
            c.ax.barh(y, value, left=at, height=0.15, color=c.hue(hue), ec=c.ink, lw=0.5)
            at += value
        c.ax.plot([at, at], [row - 0.36, row + 0.36], color=c.ink, lw=2.4)
        said = f"{at:g}, {'yes' if at >= 0 else 'no'}"
        c.words((at, row - 0.36), said, gap=7, fontsize="small")
    _score_axes(c, len(contributions), features)
    return figure


def _score_axes(c: Canvas, users: int, features: Sequence[str]) -> None:
    from matplotlib.patches import Patch

    c.ax.axvline(0, color=c.ink, lw=1, ls=(0, (5, 3)))
    c.ax.set_yticks(range(users), [f"user {k + 1}" for k in range(users)])
    c.ax.set(xlabel="score", xlim=(-18, 8), ylim=(users - 0.4, -0.7))
    names = [*features, "offset"]
    hues = [*range(len(features)), 6]
    handles = [
        Patch(fc=c.hue(h), ec=c.ink, lw=0.5, label=n) for n, h in zip(names, hues, strict=True)
    ]
    c.ax.legend(handles=handles, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))


# ---------------------------------------------------------------- displays side by side


def decisions(
    models: dict[str, Any], X: Array, y: Array, axes: tuple[str, str] = ("$x_1$", "$x_2$")
) -> Any:
    """What each model decides."""
    figure, canvases = panels(1, len(models), height=3.5)
    for c, (name, model) in zip(canvases, models.items(), strict=True):
        DecisionDisplay.from_estimator(model, X, y, ax=c.ax, weight_vector=False)
        c.ax.set_title(name, fontsize="medium")
        c.ax.set(xlabel=axes[0], ylabel=axes[1])
        below(c)
    return figure


def proofs(sets: dict[str, tuple[Array, Array, bool]]) -> Any:
    """Certificates: (X, y, with offset) each."""
    figure, canvases = panels(1, len(sets), height=4.0)
    for c, (name, (X, y, offset)) in zip(canvases, sets.items(), strict=True):
        CertificateDisplay.from_data(X, y, fit_intercept=offset, ax=c.ax)
        c.ax.set_title(name, fontsize="medium")
        below(c)
    return figure


def first_updates(clf: Any, X: Array, y: Array) -> Any:
    """The first two updates of a run."""
    figure, canvases = panels(1, 2, height=3.8)
    for k, c in enumerate(canvases):
        UpdateDisplay.from_estimator(clf, X, y, k + 1, ax=c.ax, title=False)
        below(c)
    return figure


def allowed_weights(clf: Any, X: Array, y: Array) -> Any:
    """The input data, and the weights that err nowhere, with the way of a run into them."""
    figure, (left, right) = panels(1, 2, height=4.0)
    DecisionDisplay.from_estimator(clf, X, y, ax=left.ax, margin=False)
    below(left)
    left.ax.set_title("input data", fontsize="medium")
    VersionSpaceDisplay.from_estimator(clf, X, y, ax=right.ax)
    below(right)
    right.ax.set_title("weight vectors that are allowed", fontsize="medium")
    return figure


def frames(thetas: Sequence[Array], visited: Sequence[int], X: Array, y: Array) -> Any:
    """The classifier at the start and after each update; the example of the update is ringed."""
    rows = 1 if len(thetas) == 1 else 2
    figure, canvases = panels(rows, len(thetas) // rows, height=3.3)
    for k, (c, theta) in enumerate(zip(canvases, thetas, strict=True)):
        DecisionDisplay.from_hyperplane(theta, 0.0, X, y, ax=c.ax, margin=False, legend=not k)
        name = rf"$\theta^{{({k})}}$" if len(thetas) > 1 else r"$\theta$"
        title = f"{name} = ({theta[0]:.2g}, {theta[1]:.2g})"
        if k:
            c.ring(X[[visited[k - 1]]], "", size=6, linestyle=(0, (2, 1.5)))
            title += f", updated at $x^{{({visited[k - 1] + 1})}}$"
        c.ax.set_title(title, fontsize="medium")
    return figure
