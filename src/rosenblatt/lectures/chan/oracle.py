"""chan, third part: the perceptron beside the Bayesian oracle, five scenarios.

The standard deviation, or with `Given.spread` the variance (`theory/scenarios.py`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

from rosenblatt.estimators import Perceptron
from rosenblatt.lectures.lecture import Given, Note, Part, Picture, Section, Slip, Table
from rosenblatt.prove.separability import separability
from rosenblatt.theory.gaussian_pair import GaussianPair
from rosenblatt.theory.scenarios import FIVE, Scenario

HEADING = "Comparing Perceptron and Bayesian Oracle"
KEPT = ("last", "average", "pocket")
SETS = 15  # training sets, seeds 0 to 14


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
