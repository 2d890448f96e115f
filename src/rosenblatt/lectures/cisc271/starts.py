"""Starts: section 30.3, Iris from four random starts, and k-means."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from rosenblatt.lectures.cisc271.flowers import (
    PETALS,
    SLOW,
    STARTS,
    iris,
    learned,
    weights,
)
from rosenblatt.lectures.lecture import Given, Note, Section, Table
from rosenblatt.prove.margin import max_margin


def runs(columns: list[int], eta: float) -> tuple[list[dict[str, Any]], float]:
    """Four random starts on these columns of Iris, and the largest margin there is."""
    X, y = iris()
    X, found = X[:, columns], []
    for seed in STARTS:
        clf = learned(X, y, seed, eta0=eta)
        distance = np.abs(clf.decision_function(X)) / np.linalg.norm(clf.coef_)
        found.append(
            {
                "updates": clf.n_updates_,
                "correct": int((clf.predict(X) == y).sum()),
                "plane": (weights(clf) / np.linalg.norm(clf.coef_)).tolist(),
                "setosa": float(distance[y == 1].min()),
                "others": float(distance[y == 0].min()),
            }
        )
    return found, max_margin(X, y).lower


def clustered(columns: list[int]) -> int:
    """How many flowers k-means, asked for two clusters, puts to the wrong species."""
    X, y = iris()
    label = KMeans(2, n_init=4, random_state=0).fit(X[:, columns]).labels_
    return int(min((label != y).sum(), (label == y).sum()))


def _starts(name: str, columns: list[int]) -> tuple[list[Any], dict[str, Any]]:
    """The runs on these columns: a table, a note, the numbers."""
    found, best = runs(columns, SLOW)
    missed = clustered(columns)
    rows = [
        [k + 1, r["updates"], r["correct"], r["setosa"], r["others"], f"{near(r) / best:.1%}"]
        for k, r in enumerate(found)
    ]
    caption = (
        f"{name}, eta = {SLOW}: how far the nearest flower of each class is from the hyperplane, "
        f"in cm. The best hyperplane keeps {best:.4g} cm from both."
    )
    header = ["start", "updates", "correct", "setosa", "others", "nearest, of the best"]
    parts = [
        Table.of(header, rows, caption),
        Note(f"{name}: k-means with two clusters puts {missed} of 150 flowers to the wrong one."),
    ]
    quick = runs(columns, 1.0)[0]
    return parts, {"runs": found, "best": best, "k-means errors": missed, "quick": quick}


def near(run: dict[str, Any]) -> float:
    """How far the nearest flower is from the hyperplane."""
    return float(min(run["setosa"], run["others"]))


def four_starts(_: Given) -> Section:
    """Figure 30.1: four hyperplanes, all correct, some close to one class."""
    parts, numbers = [], {}
    for name, columns in {"All four features": [0, 1, 2, 3], "Petals only": PETALS}.items():
        more, numbers[name] = _starts(name, columns)
        parts += more
    quick, slow = (
        np.median([near(r) for r in numbers["All four features"][which]])
        for which in ("quick", "runs")
    )
    parts.append(
        Note(
            "The rule stops as soon as nothing is missed, however close that is. A small eta "
            f"exaggerates it: on all four features the nearest flower is {slow:.2g} cm away "
            f"(median of four), with eta = 1 {quick:.2g} cm."
        )
    )
    return Section(
        "30.3 Example: Performance on the Iris Data Set",
        "k-means mis-classified one data vector. The Perceptron Rule separates correctly, from "
        "four random starts in four distinctly different ways, each close to one of the classes.",
        tuple(parts),
        numbers,
    )
