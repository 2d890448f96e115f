"""chan, third part: the perceptron beside the Bayesian oracle, five scenarios.

The text gives N(0, 2) and N(10, 2), and says neither whether the 2 is a variance or a standard
deviation nor how many dimensions there are. Here: two dimensions, means (0, 0) and (10, 10),
the standard deviation, or with `Given.spread` the variance, in every direction.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from rosenblatt.estimators import Perceptron
from rosenblatt.lectures.lecture import Given, Note, Part, Picture, Section, Slip, Table
from rosenblatt.prove.oracle import GaussianPair
from rosenblatt.prove.separability import separability

HEADING = "Comparing Perceptron and Bayesian Oracle"
KEPT = ("last", "average", "pocket")
SETS = 15  # training sets, seeds 0 to 14


@dataclass(frozen=True)
class Scenario:
    """Spreads of the two classes, how many samples of each, and the prior of the second."""

    number: int
    spreads: tuple[float, float]
    samples: tuple[int, int]
    prior1: float
    concludes: str

    def pair(self, spread: str) -> GaussianPair:
        """The two classes, under either reading of the second parameter."""
        first, second = (s**2 if spread == "deviation" else s for s in self.spreads)
        eye = np.eye(2)
        return GaussianPair(np.zeros(2), first * eye, np.full(2, 10.0), second * eye, self.prior1)

    @property
    def said(self) -> str:
        (s0, s1), (n0, n1) = self.spreads, self.samples
        priors = f", priors {1 - self.prior1:g} and {self.prior1:g}" if self.number == 5 else ""
        return (
            f"N(0, {s0:g}) with {n0} samples and N(10, {s1:g}) with {n1}{priors}. "
            f"The lecture concludes: {self.concludes}"
        )


FIVE = (
    Scenario(1, (2, 2), (50, 50), 0.5, "when everything is ideal, the perceptron is pretty good."),
    Scenario(
        2,
        (4, 4),
        (200, 200),
        0.5,
        "even when the data sets overlap, the perceptron is still okay.",
    ),
    Scenario(
        3,
        (2, 0.3),
        (200, 200),
        0.5,
        "when Gaussians have different covariances, the perceptron does not work.",
    ),
    Scenario(
        4,
        (1, 1),
        (1800, 200),
        0.5,
        "the number of training samples does not seem to affect the algorithm.",
    ),
    Scenario(
        5,
        (1, 1),
        (1800, 200),
        0.1,
        "intrinsic imbalance does not seem to affect the algorithm.",
    ),
)


def _shown(scenario: Scenario) -> Callable[[Given], Section]:
    def show(given: Given) -> Section:
        pair = scenario.pair(given.spread)
        X, y = pair.sample(scenario.samples, seed=0)
        verdict, best = separability(X, y).verdict, pair.best_linear()
        exact = {"oracle": pair.bayes_error(), "best linear rule": best.error}
        trained = {
            f'perceptron, keep="{keep}"': _true_errors(pair, scenario.samples, keep)
            for keep in KEPT
        }
        if scenario.number > 3:  # as many samples in all, half of each class
            half = sum(scenario.samples) // 2
            trained[f"the last, {half} + {half} samples"] = _true_errors(pair, (half, half), "last")
        table = [[who, error, "", ""] for who, error in exact.items()]
        table += [[who, median(e), min(e), max(e)] for who, e in trained.items()]
        parts: list[Part] = [
            Table.of(
                ["rule", "true error", "least", "most"],
                table,
                "Exact errors on the two distributions; nothing is sampled but the training sets. "
                f"Trained rules: the median, least and most of {SETS} training sets. "
                f"Read as {given.spread}.",
            ),
            Note(f"The {len(y)} samples of the first set are {verdict}, proven."),
            Picture(
                f"scenario-{scenario.number}",
                lambda: _picture(scenario, given.spread),
                "Rings at 1, 2 and 3 standard deviations, the first training set, the oracle's "
                "boundary and the perceptron's.",
            ),
        ]
        if scenario.number == 3:
            parts.append(_third(best.error))
        return Section(
            HEADING,
            scenario.said,
            tuple(parts),
            {
                "verdict": verdict,
                "errors": exact | {who: median(e) for who, e in trained.items()},
                "least": {who: min(e) for who, e in trained.items()},
                "spread": given.spread,
            },
            f"scenario {scenario.number}",
        )

    return show


def _third(best: float) -> Slip:
    return Slip(
        f"'Does not work' cannot be reproduced. The best linear rule errs with probability "
        f"{best:.1e}, and the classes are far apart. What is true: the oracle's boundary is "
        "curved, so no line is the oracle's, and a line that merely separates the samples may "
        "lie almost anywhere between the classes."
    )


def _true_errors(pair: GaussianPair, samples: tuple[int, int], keep: str) -> list[float]:
    """Of perceptrons trained on SETS samples; the error itself is computed, not sampled."""
    found = []
    for seed in range(SETS):
        clf = _trained(*pair.sample(samples, seed=seed), keep)
        found.append(pair.error_of(clf.coef_, clf.intercept_))
    return found


def _trained(X: Any, y: Any, keep: str) -> Perceptron:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scenario 2 overlaps and does not converge
        clf = Perceptron(keep=keep, tol=None, max_iter=200, random_state=0)
        clf.fit(X, y)
    return clf


def _picture(scenario: Scenario, spread: str) -> Any:
    from rosenblatt.show.plots import OracleDisplay

    pair = scenario.pair(spread)
    X, y = pair.sample(scenario.samples, seed=0)
    return OracleDisplay.from_estimator(_trained(X, y, "last"), pair, X, y).figure_


SCENARIOS = tuple(_shown(scenario) for scenario in FIVE)
