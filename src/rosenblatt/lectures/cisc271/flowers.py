"""Flowers: the Iris data of the lecture, and its rule run on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_iris

from rosenblatt.data.taught import random_start as start
from rosenblatt.estimators import Perceptron

Array = npt.NDArray[Any]
RULE: dict[str, Any] = {"tie": "positive", "shuffle": False, "tol": None, "max_iter": 10_000}
CASES = {"True Positive": (1, 1), "True Negative": (0, 0), "False Negative": (1, 0)}
CASES["False Positive"] = (0, 1)


def iris() -> tuple[Array, Array]:
    """150 flowers, and 1 for a setosa, 0 for another."""
    X, species = load_iris(return_X_y=True)
    return X, (species == 0).astype(int)


def augmented(X: Array) -> Array:
    """A constant 1 as the last feature: the circumflex of the lecture."""
    return np.hstack([X, np.ones((len(X), 1))])


def heaviside(score: Array) -> Array:
    """The quantisation q: 1 from a score of 0 on."""
    return np.where(score >= 0, 1, 0)


def learned(X: Array, y: Array, seed: int, **options: Any) -> Perceptron:
    """The rule, run from the random start of that seed."""
    clf = Perceptron(**{**RULE, "init": start(seed, X.shape[1]), **options})
    clf.fit(X, y)
    return clf


def weights(clf: Perceptron) -> Array:
    """The augmented weight vector."""
    return np.append(clf.coef_, clf.intercept_)
