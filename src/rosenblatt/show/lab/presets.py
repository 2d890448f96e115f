"""Presets: situations to begin with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from math import nextafter
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.toy_datasets import CROSSED, TEST_EXAMPLE, THETA_START
from rosenblatt.errors import ParameterError
from rosenblatt.show.lab import limits
from rosenblatt.show.lab.situation import Segment, Situation, Start
from rosenblatt.theory.gaussian_pair import GaussianPair

Array = npt.NDArray[Any]
# chan's five scenarios: title, standard deviations, samples, prior of the second class. Of the 1800
# and 200 samples of the last two, presets have half
SCENARIOS = (
    ("ideal", (2.0, 2.0), (50, 50), 0.5),
    ("they overlap", (4.0, 4.0), (200, 200), 0.5),
    ("different covariances", (2.0, 0.3), (200, 200), 0.5),
    ("uneven samples, 900 and 100", (1.0, 1.0), (1800, 200), 0.5),
    ("uneven classes, priors 0.9 and 0.1", (1.0, 1.0), (1800, 200), 0.1),
)
SPECIES = ("setosa", "versicolor", "virginica")


@dataclass(frozen=True)
class Preset:
    """A name for URLs, a title and a group for people, and how to make it."""

    name: str
    title: str
    group: str
    make: Callable[[], Situation]


def preset(name: str) -> Situation:
    """The situation of that name."""
    found = presets().get(name)
    if found is None:
        raise ParameterError(f"there is no preset {name[:60]!r}. There are {', '.join(presets())}.")
    return found.make()


@cache
def presets() -> dict[str, Preset]:
    """All of them, in the order in which they are offered."""
    each = [
        Preset("separable", "Separable", "Small", _separable),
        Preset("and", "AND", "Small", lambda: _gate([-1, -1, -1, 1])),
        Preset("xor", "XOR", "Small", lambda: _gate([-1, 1, 1, -1])),
        Preset("quasi", "Quasi-separable", "Small", _quasi),
        Preset("ulp-above", "Separable by one unit in the last place", "Small", lambda: _ulp(1)),
        Preset("ulp-on", "One unit lower: quasi-separable", "Small", lambda: _ulp(0)),
        Preset("ulp-below", "One more: overlapping", "Small", lambda: _ulp(-1)),
        Preset("sutd", "sutd's three rows, from w = (1, -0.8)", "Lectures", _sutd),
        Preset("sutd-crossed", "sutd's four rows crosswise", "Lectures", _crossed),
        Preset("margins", "Thin margin: many mistakes", "Lectures", _thin),
    ]
    for k, (title, *_) in enumerate(SCENARIOS):
        make = cache(lambda k=k: _scenario(k))
        each.append(Preset(f"oracle-{k + 1}", f"{k + 1}: {title}", "Oracle scenarios", make))
    for a, b in ((0, 1), (0, 2), (1, 2)):
        make = cache(lambda a=a, b=b: _iris(a, b))
        name, title = f"iris-{SPECIES[a]}-{SPECIES[b]}", f"Iris: {SPECIES[a]} or {SPECIES[b]}"
        each.append(Preset(name, title, "Iris, petals", make))
    return {p.name: p for p in each}


def _of(rows: Any, labels: Any, **other: Any) -> Situation:
    return Situation(np.array(rows, dtype=np.float64), np.array(labels, dtype=np.int8), **other)


def _separable() -> Situation:
    rows = [[1, 4], [2, 3], [3, 5], [4, 4], [2, 5], [1, 1], [3, 2], [4, 1], [5, 2], [5, 3]]
    return _of(rows, [1, 1, 1, 1, 1, -1, -1, -1, -1, -1])


def _gate(labels: list[int]) -> Situation:
    return _of([[0, 0], [0, 1], [1, 0], [1, 1]], labels)


def _quasi() -> Situation:
    """Three points on the line x1 = x2 with -1 between two +1; the others on their own sides."""
    rows = [[1, 1], [3, 3], [1, 3], [2, 4], [2, 2], [3, 1], [4, 2]]
    return _of(rows, [1, 1, 1, 1, -1, -1, -1])


def _ulp(side: int) -> Situation:
    """-1 at both ends of a line, +1 above its middle, on it, or below, by one unit."""
    height = 2.0 if side == 0 else nextafter(2.0, 3.0 if side > 0 else 1.0)
    rows = [[1.0, 1.0], [3.0, 3.0], [3.0, 1.0], [2.0, height], [1.0, 3.0]]
    return _of(rows, [-1, -1, -1, 1, 1])


def _sutd() -> Situation:
    first, second = THETA_START.tolist()
    return _of(*TEST_EXAMPLE, offset=False, start=Start("given", 0, (first, second), 0.0))


def _crossed() -> Situation:
    return _of(*CROSSED, offset=False)


def _thin() -> Situation:
    upper, lower = [0.5, 1.5, 2.5, 4.0], [0.0, 1.0, 2.0, 3.5]
    rows = [[4.0 * k, height] for side in (lower, upper) for k, height in enumerate(side)]
    return _of(rows, [-1, -1, -1, -1, 1, 1, 1, 1], passes=1000)


def scenario_pair(k: int) -> GaussianPair:
    """The Gaussians of a scenario, with means (0, 0) and (10, 10)."""
    _, (s0, s1), _, prior1 = SCENARIOS[k]
    return GaussianPair(np.zeros(2), s0**2 * np.eye(2), np.full(2, 10.0), s1**2 * np.eye(2), prior1)


def _scenario(k: int) -> Situation:
    """Means (0, 0) and (10, 10), drawn with seed 0, to a thousandth."""
    first, second = SCENARIOS[k][2]
    halves = 2 if first + second > limits.POINTS else 1
    X, y = scenario_pair(k).sample((first // halves, second // halves), seed=0)
    made = Situation(np.round(X, 3) + 0.0, np.where(y > 0, 1, -1).astype(np.int8))
    return replace(made, classes=("class 0", "class 1"), segments=(Segment(order="shuffle"),))


def _iris(a: int, b: int) -> Situation:
    """Petal length and width of two species, the second is +1."""
    from sklearn.datasets import load_iris

    X, species = load_iris(return_X_y=True)
    both = np.isin(species, (a, b))
    return Situation(
        np.ascontiguousarray(X[both, 2:]),
        np.where(species[both] == b, 1, -1).astype(np.int8),
        ("petal length (cm)", "petal width (cm)"),
        (SPECIES[a], SPECIES[b]),
    )
