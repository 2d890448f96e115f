"""Judging: how well a hypothesis predicts rows it has not seen, with the doubt that is left.

Every row is predicted by models that were trained without it (ten folds, twice over).
The intervals are of 95 % and over rows: n rows are all we know of the patients. The training
sets of the folds overlap, so the truth may be a little wider.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

from rosenblatt.estimators import Perceptron

Array = npt.NDArray[Any]
FOLDS, REPEATS = 10, 2
Z = 1.959964  # of a normal distribution, 95 % lie within


@dataclass(frozen=True)
class Judged:
    """Errors on the training rows and on rows not seen, and the difference to a constant."""

    train: float
    unseen: float
    low: float
    high: float
    gain: float  # of the constant's error: positive is better
    gain_low: float
    gain_high: float
    found: float | None = None  # share of the class looked for that is found

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return asdict(self)


def encoded(model: Any, *more: Any) -> Any:
    """Missing values become the median, every feature gets mean 0 and deviation 1; then the rest.

    It is learned from the training rows alone.
    """
    return make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), *more, model)


def classifiers() -> dict[str, Any]:
    """Hypothesis classes from small to big, and three ways to choose in the same one."""

    def perceptron(keep: str) -> Perceptron:
        return Perceptron(keep=keep, tol=None, max_iter=50)

    first = FunctionTransformer(_first_column)
    return {
        "a constant: the larger class": DummyClassifier(),
        "linear, mean radius only": encoded(perceptron("average"), first),
        "linear, last weights": encoded(perceptron("last")),
        "linear, pocket": encoded(perceptron("pocket")),
        "linear, average": encoded(perceptron("average")),
        "quadratic, average": encoded(
            perceptron("average"), PolynomialFeatures(2), StandardScaler()
        ),
    }


def _first_column(X: Array) -> Array:
    return X[:, :1]


def regressors() -> dict[str, Any]:
    """From small to big for a number."""
    return {
        "a constant: the median": DummyRegressor(strategy="median"),
        "linear, shrunk (ridge)": encoded(Ridge(alpha=30.0)),
        "linear, least squares": encoded(LinearRegression()),
    }


def judge(
    models: dict[str, Any], X: Array, y: Array, positive: str | None = None
) -> dict[str, Judged]:
    """Each model against the first, which is the constant. With `positive`: a classification."""
    found: dict[str, Judged] = {}
    base: Array | None = None
    for name, model in models.items():
        guesses = unseen(model, X, y, stratified=positive is not None)
        wrong = loss(guesses, y, positive).mean(axis=0)
        base = wrong if base is None else base
        own = float(loss(_quietly(model, X, y).predict(X), y, positive).mean())
        gain, half = float((base - wrong).mean()), _half(base - wrong)
        low, high = wilson(float(wrong.mean()), len(y)) if positive else _about(wrong)
        share = None if positive is None else float((guesses[:, y == positive] == positive).mean())
        found[name] = Judged(
            own, float(wrong.mean()), low, high, gain, gain - half, gain + half, share
        )
    return found


def loss(guess: Array, y: Array, positive: str | None) -> Array:
    """1 for a wrong class, or how far off a number is."""
    found: Array = (guess != y).astype(float) if positive is not None else np.abs(guess - y)
    return found


def unseen(model: Any, X: Array, y: Array, stratified: bool) -> Array:
    """One line of predictions for each repeat, every row predicted without it."""
    kind = StratifiedKFold if stratified else KFold
    guesses = np.empty((REPEATS, len(y)), dtype=y.dtype)
    for repeat in range(REPEATS):
        folds = kind(FOLDS, shuffle=True, random_state=repeat)
        for train, test in folds.split(X, y):
            guesses[repeat, test] = _quietly(model, X[train], y[train]).predict(X[test])
    return guesses


def _quietly(model: Any, X: Array, y: Array) -> Any:
    """Fitted; that it did not converge is what the numbers show."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(model).fit(X, y)


def wilson(share: float, n: int) -> tuple[float, float]:
    """The interval of a share of n rows [Wilson 1927].

    >>> low, high = wilson(0.5, 100)
    >>> round(low, 3), round(high, 3)
    (0.404, 0.596)
    """
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2)) / (1 + Z**2 / n)
    return float(middle - half), float(middle + half)


def _about(values: Array) -> tuple[float, float]:
    return float(values.mean() - _half(values)), float(values.mean() + _half(values))


def _half(values: Array) -> float:
    return float(Z * values.std(ddof=1) / np.sqrt(len(values)))
