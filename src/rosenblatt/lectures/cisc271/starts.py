"""Starts: section 30.3, Iris from four random starts, and k-means."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from rosenblatt.data.taught import PETALS, SLOW, STARTS
from rosenblatt.estimators import Perceptron
from rosenblatt.lectures.cisc271 import drawing
from rosenblatt.lectures.cisc271.flowers import (
    Array,
    iris,
    learned,
    weights,
)
from rosenblatt.lectures.lecture import Given, Note, Part, Picture, Played, Section, Table
from rosenblatt.prove.margin import max_margin
from rosenblatt.show.film import film

ALL = [0, 1, 2, 3]


def models(columns: list[int], eta: float) -> list[Perceptron]:
    """The rule from four random starts on these columns of Iris."""
    X, y = iris()
    return [learned(X[:, columns], y, seed, eta0=eta, record="updates") for seed in STARTS]


def described(clf: Perceptron, columns: list[int]) -> dict[str, Any]:
    """Its hyperplane with ||w|| = 1, and how far the nearest flower of each class is."""
    X, y = iris()
    X, plane = X[:, columns], weights(clf) / np.linalg.norm(clf.coef_)
    distance = np.abs(X @ plane[:-1] + plane[-1])
    return {
        "updates": clf.n_updates_,
        "correct": int((clf.predict(X) == y).sum()),
        "plane": plane.tolist(),
        "setosa": float(distance[y == 1].min()),
        "others": float(distance[y == 0].min()),
    }


def near(run: dict[str, Any]) -> float:
    """How far the nearest flower is from the hyperplane."""
    return float(min(run["setosa"], run["others"]))


def best_plane(columns: list[int]) -> tuple[Array, float]:
    """The hyperplane of largest margin, and that margin."""
    X, y = iris()
    found = max_margin(X[:, columns], y)
    return np.array([*found.w, found.b], dtype=float), found.lower


def clusters(columns: list[int]) -> Array:
    """Two clusters by k-means, numbered so that most setosas are in number 1."""
    X, y = iris()
    label = np.asarray(KMeans(2, n_init=4, random_state=0).fit(X[:, columns]).labels_)
    return label if (label == y).sum() >= (label != y).sum() else 1 - label


def compared(name: str, columns: list[int]) -> tuple[list[Part], dict[str, Any]]:
    """The runs on these columns: a table, a note, the numbers."""
    found = [described(clf, columns) for clf in models(columns, SLOW)]
    quick = [described(clf, columns) for clf in models(columns, 1.0)]
    missed, (_plane, best) = int((clusters(columns) != iris()[1]).sum()), best_plane(columns)
    rows = [
        [k + 1, r["updates"], r["correct"], r["setosa"], r["others"], f"{near(r) / best:.1%}"]
        for k, r in enumerate(found)
    ]
    directions = [np.array(r["plane"][:-1]) for r in found]
    cosine = max(float(a @ b) for a, b in itertools.combinations(directions, 2))
    angle = float(np.degrees(np.arccos(cosine)))
    caption = (
        f"{name}, eta = {SLOW}: how far the nearest flower of each class is from the hyperplane, "
        f"in cm. The best hyperplane keeps {best:.4g} cm from both."
    )
    header = ["start", "updates", "correct", "setosa", "others", "nearest, of the best"]
    parts: list[Part] = [
        Table.of(header, rows, caption),
        Note(f"{name}: k-means with two clusters puts {missed} of 150 flowers to the wrong one."),
    ]
    parts.insert(1, Note(f"{name}: any two of the four differ by {angle:.0f} degrees or more."))
    numbers = {"runs": found, "best": best, "k-means errors": missed, "quick": quick}
    return parts, {**numbers, "angle": angle}


def side_views() -> Any:
    """Distances of all flowers from the four hyperplanes, and from the best one."""
    found = [described(clf, ALL)["plane"] for clf in models(ALL, SLOW)]
    planes = {f"start {k + 1}": np.array(plane) for k, plane in enumerate(found)}
    return drawing.distances({**planes, "the best": best_plane(ALL)[0]}, *iris())


def figure_30_1() -> Any:
    """Four convergences on petals."""
    X, y = iris()
    names = np.where(y == 1, "setosa", "others")
    return drawing.convergences(models(PETALS, SLOW), X[:, PETALS], names)


def pictures() -> list[Part]:
    """The two figures, k-means, and one run as a film."""
    X, y = iris()
    longest = max(models(ALL, SLOW), key=lambda clf: clf.n_updates_)
    title, names = "cisc271: Iris from a random start", ["other", "setosa"]
    return [
        Picture(
            "figure-30-1",
            figure_30_1,
            "Figure 30.1, on petals: four random starts, and some lines on the way; the last is "
            "the darkest. The starts were picked for lines that differ well.",
        ),
        Picture(
            "distances",
            side_views,
            "All four features: every flower's distance from each hyperplane; the coloured bars "
            "mark the nearest of each class. The best hyperplane keeps off both.",
        ),
        Picture(
            "k-means",
            lambda: drawing.two_clusters(X[:, PETALS], y, clusters(PETALS)),
            "Petals: what k-means makes of them; the flowers of the wrong species are ringed.",
        ),
        Played(
            "iris",
            lambda path: film(longest, path, title=title, class_names=names),
            "The longest of the runs on all four features, as a film.",
        ),
    ]


def four_starts(_: Given) -> Section:
    """Figure 30.1: four hyperplanes, all correct, some close to one class."""
    parts: list[Part] = []
    numbers: dict[str, Any] = {}
    for name, columns in {"All four features": ALL, "Petals only": PETALS}.items():
        more, numbers[name] = compared(name, columns)
        parts += more
    quick, slow = (
        np.median([near(r) for r in numbers["All four features"][which]])
        for which in ("quick", "runs")
    )
    last = Note(
        "The rule stops as soon as nothing is missed, however close that is. A small eta "
        f"exaggerates it: on all four features the nearest flower is {slow:.2g} cm away "
        f"(median of four), with eta = 1 {quick:.2g} cm."
    )
    return Section(
        "30.3 Example: Performance on the Iris Data Set",
        "k-means mis-classified one data vector. The Perceptron Rule separates correctly, from "
        "four random starts in four distinctly different ways, each close to one of the classes.",
        (*parts, *pictures(), last),
        numbers,
    )
