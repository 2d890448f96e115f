"""chan: two losses, convexity, the oracle, and gradient descent on all misclassified at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.toy_datasets import ONE_W, ONE_X, ONE_Y, Examples, two_clouds
from rosenblatt.show.lab.presets import SCENARIOS, scenario_pair
from rosenblatt.show.lab.situation import Situation, Start
from rosenblatt.show.lab.tours.facts import Told
from rosenblatt.show.lab.tours.step import (
    AT_END,
    Step,
    Tour,
    chosen,
    moved,
    setting,
    situation,
    verdict,
    visits,
)

TITLE = "chan: losses, the oracle, a batch at a time"
LECTURE = "ECE595 / STAT598, Lecture 16: Perceptron, definition and concept (Stanley Chan, 2020)"
START = (1.0, -1.0, 0.0)
SMALL = 0.01  # a step α with which J_soft never rises on the clouds that are far apart
EACH = 40  # points of each cloud
FAR, NEAR = 6.0, 1.5  # how far the clouds are apart


def batch(examples: Examples, **options: Any) -> Situation:
    """Chan's algorithm: all of Mₖ at once, a score of 0 no mistake, not from zero."""
    return situation(examples, start=START, mode="batch", tie="correct", **options)


def tour() -> Tour:
    """The lecture's order: losses, convexity, the oracle, the algorithm, one sample."""
    return Tour("chan", TITLE, LECTURE, (*_losses(), *_oracle(), *_algorithm(), _one_sample()))


def _losses() -> list[Step]:
    apart = batch(two_clouds(EACH, FAR))
    across = moved(apart, 0, (FAR, FAR))
    return [
        Step(
            "Two stages",
            "g(x) = w·x + w₀ is trained; h = sign(g) decides. The lab writes b for w₀. (As a "
            "grows, the logistic function tends to the step from 0 to 1; it is 2h - 1 that tends "
            "to sign.)",
            apart,
            "plane",
            "Drag the arrow w and see h change.",
        ),
        Step(
            "Two losses",
            "J_hard counts the wrong decisions: {hard@0} of {n}. It is a staircase, without a "
            "slope to follow. J_soft adds up how far they are on the wrong side: {soft@0}. It is "
            "convex.",
            apart,
            "loss",
            "Drag the arrow w slowly: J_soft glides, J_hard jumps.",
        ),
        Step(
            "What convexity does not tell",
            "Separable, says the lecture, if min J_soft is 0, else it is positive. But J_soft(0) = "
            "0 for all data, so the minimum is always 0. The verdict decides instead, with a "
            "proof: {verdict}.",
            apart,
            "verdict",
            "Drag a point from the lower cloud into the middle of the other: {across/verdict}.",
            verdict("overlapping"),
            others={"across": across},
            done=across,
        ),
    ]


def _oracle() -> list[Step]:
    return [
        _beside_oracle(
            0,
            "Scenario 1, beside the oracle",
            "N(0, {first}) and N(10, {second}), read as deviations in the plane. The run separates "
            "its {n} samples. On new ones it errs with probability {own}; the oracle, who knows "
            "the Gaussians, with {oracle}. “Pretty good”, says the lecture.",
        ),
        _beside_oracle(
            2,
            "Scenario 3, different spreads",
            "N(0, {first}) and N(10, {second}): “does not work”, says the lecture. Here it does: "
            "the best line errs with probability {line}, the oracle's curve with {oracle}, and "
            "this run, which is content with any separating line, with {own}.",
        ),
    ]


def _beside_oracle(which: int, title: str, text: str) -> Step:
    _, spreads, samples, _ = SCENARIOS[which]
    pair = scenario_pair(which)
    X, labels = pair.sample(samples, seed=0)
    here = batch((X, np.where(labels == 1, 1, -1)))
    run = Told(here)
    return Step(
        title,
        text,
        here,
        "plane",
        "Press **Play**.",
        AT_END,
        more={
            "own": pair.error_of(*run.weights(run.visits)),
            "oracle": pair.bayes_error(),
            "line": pair.best_linear().error,
            "first": spreads[0],
            "second": spreads[1],
        },
    )


def _algorithm() -> list[Step]:
    apart, mixed = batch(two_clouds(EACH, FAR)), batch(two_clouds(EACH, NEAR), passes=60)
    return [
        Step(
            "All misclassified at once",
            "Mₖ holds the samples with y g < 0: {count@1} of {n} at the start. One step of "
            "gradient descent on J_soft adds y x of all of them to w, and y to w₀: w = {w@1}, w₀ "
            "= {b@1}.",
            apart,
            "words",
            "Press **Step**.",
            visits(1),
        ),
        Step(
            "Separable: it converges",
            "Sizes of Mₖ: {misses}. J_soft rises at first, from {soft@0} to {soft@1}: with α = 1 "
            "the steps are not small. J_hard ends at {hard@end}.",
            apart,
            "loss",
            "Set **eta**, which is α, to {alpha}: J_soft falls at every step. Press **Play**.",
            setting("eta", SMALL),
            more={"alpha": SMALL},
            done=chosen(apart, eta=SMALL),
        ),
        Step(
            "Not separable: it oscillates",
            "Clouds that overlap. Mₖ grows and shrinks: {first}, and so on. The run stops only "
            "because {passes} steps were asked for.",
            mixed,
            "mistakes",
            "Press **Play**.",
            AT_END,
            more={"first": Told(mixed).misses[:8]},
        ),
        Step(
            "Not from zero",
            "The lecture does not say where to start. Not at θ = 0: there y g = 0 for all samples, "
            "none is < 0, M₁ is empty, and nothing is ever learned.",
            apart,
            "rule",
            "Choose the start **zero**: the lab refuses, and says why. Then set **tie** to "
            "mistake.",
            setting("tie", "mistake"),
            done=chosen(apart, start=Start(), tie="mistake"),
        ),
    ]


def _one_sample() -> Step:
    sample = np.array([ONE_X, -ONE_X]), np.array([ONE_Y, -ONE_Y])
    return Step(
        "Updating one sample",
        "w = {w@0} and x₁ = {x} with y₁ = {label@1}: y₁ w·x₁ = {margin@1}, wrong. Adding y₁ "
        "x₁, opposite to x₁, gives w = {w@1}: a new line, and y₁ w·x₁ = {margin_after@1}. Now "
        "you are happy! (-x₁ with the other label asks for the same.)",
        situation(sample, offset=False, start=ONE_W, tie="correct"),
        "plane",
        "Press **Step**.",
        visits(1),
        more={"x": tuple(ONE_X.tolist())},
    )
