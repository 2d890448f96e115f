"""Learners: what is trained on a sample of a Gaussian pair, each with its true error.

The perceptron with every `keep`, linear and quadratic discriminant analysis, and logistic
regression, with the defaults of `Perceptron` and of scikit-learn.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.problem import Problem
from rosenblatt.learn.in_memory import train
from rosenblatt.learn.schedule import seeds_and_split
from rosenblatt.learn.settings import Keep, TrainingSettings
from rosenblatt.learn.state import Ballot, State

if TYPE_CHECKING:
    from rosenblatt.theory.gaussian_pair import GaussianPair

Array = npt.NDArray[Any]
Learner = Callable[["GaussianPair", Array, Array, int], float]
KEEPS: tuple[Keep, ...] = ("last", "average", "vote", "pocket")
DRAWN = 1 << 16  # rows of each class on which a vote is tried


def perceptron(keep: Keep) -> Learner:
    """The estimator's run with this `keep`; nan where a vote had too many hyperplanes."""

    def learn(pair: GaussianPair, X: Array, y: Array, seed: int) -> float:
        state = State.at(np.zeros(X.shape[1]), np.zeros(1))
        settings = TrainingSettings(order="shuffle", keep=keep, tol=1e-3)  # as the estimator's
        drawn = seeds_and_split(seed, 1, lambda: None)[0][0]
        _, w, b = train(Problem.of(X, y), settings, state=state, seed=drawn)
        if keep != "vote":
            return pair.error_of(w, b)
        return error_of_vote(pair, state.ballot(0), seed)

    return learn


def error_of_vote(pair: GaussianPair, votes: Ballot, seed: int = 0) -> float:
    """From `DRAWN` rows of each class: how often the vote is wrong."""
    chances = []
    for k, (mean, spread) in enumerate(zip((pair.mean0, pair.mean1), pair._spreads, strict=True)):
        R = spread.root
        z = np.random.default_rng((seed, k)).standard_normal((DRAWN, R.shape[1]))
        chances.append(float((votes.scores(mean + z @ R.T) >= 0).mean()))
    return (1 - pair.prior1) * chances[0] + pair.prior1 * (1 - chances[1])


def lda(pair: GaussianPair, X: Array, y: Array, seed: int) -> float:
    """Linear discriminant analysis."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return _fitted(LinearDiscriminantAnalysis(), pair, X, y)


def logistic_regression(pair: GaussianPair, X: Array, y: Array, seed: int) -> float:
    """Logistic regression, with scikit-learn's penalty: without, it may diverge."""
    from sklearn.linear_model import LogisticRegression

    return _fitted(LogisticRegression(max_iter=10_000), pair, X, y)


def _fitted(clf: Any, pair: GaussianPair, X: Array, y: Array) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # collinear features, no convergence: the error tells
        clf.fit(X, y)
    return pair.error_of(clf.coef_, clf.intercept_)


def qda(pair: GaussianPair, X: Array, y: Array, seed: int) -> float:
    """Quadratic discriminant analysis; nan where a class has too few rows for a covariance."""
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    clf = QuadraticDiscriminantAnalysis()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.fit(X, y)
    except (np.linalg.LinAlgError, ValueError):
        return math.nan
    if any(min(s) <= 0 for s in clf.scalings_):
        return math.nan
    inverses = [(R / s) @ R.T for R, s in zip(clf.rotations_, clf.scalings_, strict=True)]
    slopes = [S @ m for S, m in zip(inverses, clf.means_, strict=True)]
    heights = [
        float(m @ g + np.log(s).sum() - 2 * math.log(p))
        for m, g, s, p in zip(clf.means_, slopes, clf.scalings_, clf.priors_, strict=True)
    ]
    return pair.error_of_quadratic(
        (inverses[0] - inverses[1]) / 2, slopes[1] - slopes[0], (heights[0] - heights[1]) / 2
    )


LEARNERS: dict[str, Learner] = {
    **{f"perceptron, {keep}": perceptron(keep) for keep in KEEPS},
    "LDA": lda,
    "QDA": qda,
    "logistic regression": logistic_regression,
}


def error_after(name: str, pair: GaussianPair, X: Array, y: Array, seed: int) -> float:
    """The true error of one learner; trained on one class, it predicts that class."""
    if y.min() == y.max():
        return pair.prior1 if y[0] == 0 else 1 - pair.prior1
    return LEARNERS[name](pair, X, y, seed)
