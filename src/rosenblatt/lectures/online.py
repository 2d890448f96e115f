"""online: the perceptron algorithm, round by round, and how many mistakes it can make."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.taught import rounds as examples
from rosenblatt.estimators import Perceptron
from rosenblatt.lectures.drawing import below, panels
from rosenblatt.lectures.lecture import (
    Given,
    Lecture,
    Note,
    Picture,
    Played,
    Section,
    Slip,
    Table,
)
from rosenblatt.lectures.run import updates
from rosenblatt.prove.margin import max_margin
from rosenblatt.prove.separability import separability
from rosenblatt.show.film import film
from rosenblatt.show.plots import CosineDisplay, DecisionDisplay

Array = npt.NDArray[Any]


def one_run() -> Perceptron:
    """Every example once, from w = 0."""
    X, y = examples()
    clf = Perceptron(fit_intercept=False, shuffle=False, tol=None, max_iter=1, record="updates")
    clf.fit(X, y)
    return clf


def best() -> Array:
    """w*: the unit vector of largest margin."""
    w = max_margin(*examples(), fit_intercept=False).w
    return np.asarray(w / np.linalg.norm(w), dtype=float)


def setting() -> Any:
    """The examples and the line of w*."""
    figure, (c,) = panels(height=4.4)
    DecisionDisplay.from_hyperplane(best(), 0.0, *examples(), ax=c.ax)
    below(c, 4)
    return figure


def growth() -> Any:
    """w.w* and ||w|| with their bounds, and the cosine."""
    shown = CosineDisplay.from_estimator(one_run(), *examples())
    shown.figure_.set_size_inches(7.0, 5.4)
    return shown.figure_


def perceptrons(_: Given) -> Section:
    """The title: the setting of the page."""
    X, y = examples()
    verdict = separability(X, y, fit_intercept=False)
    return Section(
        "Perceptrons",
        "Examples come one at a time; a hyperplane through the origin predicts their labels.",
        (
            Note(
                f"{len(X)} rounds on points of the plane, no offset, labels -1 and +1. "
                f"Can a line through the origin separate them? {verdict.verdict}, with a proof."
            ),
            Picture("setting", setting, "The examples, and the line w* that keeps farthest away."),
        ),
        {"rounds": len(X), "verdict": verdict.verdict},
    )


def algorithm(_: Given) -> Section:
    """w_1 = 0; predict sign(w.x); the outcome is revealed; if wrong, w += y x."""
    X, y = examples()
    clf, star = one_run(), best()
    gamma, R = float((y * (X @ star)).min()), float(np.linalg.norm(X, axis=1).max())
    steps = list(updates(clf))
    along = [float(u.w @ star) for u in steps]
    norm = [float(np.linalg.norm(u.w)) for u in steps]
    rows = [
        [m, u.row + 1, a, m * gamma, size, m**0.5 * R, a / size]
        for m, (u, a, size) in enumerate(zip(steps, along, norm, strict=True), 1)
    ]
    header = ["mistake", "round", "w.w*", ">= M gamma", "||w||", "<= sqrt(M) R", "cosine"]
    return Section(
        "The Perceptron Algorithm",
        "If a mistake is made, w.w* grows by at least gamma and ||w||^2 by at most R^2; "
        "the cosine is at most 1, so M <= R^2 / gamma^2.",
        (
            Table.of(header, rows, "All mistakes of one run."),
            Picture(
                "growth",
                growth,
                "w.w* and the length of w after each mistake, with their bounds; below, the "
                "cosine. Where the bounds meet, no more mistakes are possible.",
            ),
            Note(
                f"{len(steps)} mistakes in {len(X)} rounds; R^2 / gamma^2 = {(R / gamma) ** 2:.1f}."
            ),
            Played(
                "rounds",
                lambda path: film(clf, path, title="online: mistake by mistake"),
                "The run as a film.",
            ),
            Slip(
                "The lecture says that y w.x is negative at a mistake. It is negative or zero: at "
                "the first one w = 0 and the score is 0. The bound holds all the same."
            ),
            Note("The non-separable case is harder: lecture radivojac shows it, with the pocket."),
        ),
        {
            "mistakes": len(steps),
            "bound": (R / gamma) ** 2,
            "gamma": gamma,
            "radius": R,
            "along": along,
            "norm": norm,
        },
    )


LECTURE = Lecture("online", "Perceptrons: the algorithm, online", (perceptrons, algorithm))
