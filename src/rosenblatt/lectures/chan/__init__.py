"""chan: from logistic regression to the perceptron, its losses, the convex problem, the oracle."""

from __future__ import annotations

from rosenblatt.lectures.chan import algorithm, convexity, oracle, thresholds
from rosenblatt.lectures.lecture import Lecture

LECTURE = Lecture(
    "chan",
    "ECE595 / STAT598, Lecture 16: Perceptron, definition and concept (Stanley Chan, 2020)",
    (
        thresholds.overview,
        thresholds.outline,
        thresholds.single_layer,
        thresholds.to_the_step,
        thresholds.two_stages,
        thresholds.candidate,
        thresholds.hard_cases,
        thresholds.soft_cases,
        thresholds.comparing,
        thresholds.relatives,
        thresholds.pictures,
        convexity.affine,
        convexity.maximum,
        convexity.inequality,
        convexity.implication,
        *oracle.SCENARIOS,
        algorithm.descent,
        algorithm.redefined,
        algorithm.algorithm,
        *algorithm.FRAMES,
        algorithm.reading,
    ),
)
