"""Linear: the linear classifier through the origin, its training error, and separability."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.taught import CROSSED, TEST_EXAMPLE
from rosenblatt.data.taught import THETA_START as START
from rosenblatt.learn import reference
from rosenblatt.lectures.lecture import Given, Note, Picture, Section, Slip, Table
from rosenblatt.lectures.sutd import drawing
from rosenblatt.prove.separability import separability

Array = npt.NDArray[Any]
HEADING = "Linear Classifier"
X, Y = TEST_EXAMPLE


def sign(score: Any) -> Array:
    """+1 from 0 on, else -1."""
    return np.where(np.asarray(score) >= 0, 1, -1)


def training_error(theta: Array, X: Array = X, y: Array = Y) -> float:
    """E_n: the share of examples with y (theta.x) <= 0."""
    return float((y * (X @ theta) <= 0).mean())


def vector(v: Any) -> str:
    """(1, -0.8)."""
    return "(" + ", ".join(f"{round(float(c), 9) + 0:g}" for c in v) + ")"


def through_origin(_: Given) -> Section:
    """Different weights, different classifiers; twice the weights, the same one."""
    thetas = [START, np.array([2.0, 1.2]), np.array([3.0, 0.2]), 2 * np.array([3.0, 0.2])]
    thetas.append(-np.array([3.0, 0.2]))
    answers = [sign(X @ theta).tolist() for theta in thetas]
    rows = [
        [vector(theta), *(f"{a:+d}" for a in said)]
        for theta, said in zip(thetas, answers, strict=True)
    ]
    return Section(
        HEADING,
        "h(x; theta) = sign(theta.x), +1 from 0 on, through the origin. Different settings of the "
        "weights give different classifiers.",
        (
            Table.of(["theta", *(f"h{vector(x)}" for x in X)], rows, "Three points of the plane."),
            Note("Different directions do. Only the direction matters: 2 theta answers as theta."),
        ),
        {"answers": answers},
        step="through the origin",
    )


def half_planes(_: Given) -> Section:
    """The boundary is orthogonal to theta."""
    theta = np.array([3.0, 0.2])
    along = np.array([-theta[1], theta[0]])  # a direction inside the boundary
    scores = [float(theta @ (t * along)) for t in (-2.0, 1.0, 5.0)]
    side = float(theta @ theta)
    return Section(
        HEADING,
        "The line theta.x = 0 parts the plane: +1 on the side theta points to, -1 on the other.",
        (
            Note(
                f"theta = {vector(theta)}: every point of the boundary is a multiple of "
                f"{vector(along)} and scores {scores[0]:g}; theta itself scores "
                f"||theta||^2 = {side:g} > 0."
            ),
            Picture(
                "half-planes",
                lambda: drawing.frames([theta], [], X, Y),
                "theta stands at a right angle to the boundary and points to the side of +1.",
            ),
        ),
        {"scores": scores, "side": side},
        step="in the plane",
    )


def error(_: Given) -> Section:
    """E_n(theta), and the tie in which the two forms of it differ."""
    thetas = [np.zeros(2), START, np.array([2.0, 1.2]), np.array([3.0, -0.8]), np.array([3.0, 0.2])]
    counted = [training_error(theta) for theta in thetas]
    predicted = [float((sign(X @ theta) != Y).mean()) for theta in thetas]
    rows = [[vector(theta), p, c] for theta, p, c in zip(thetas, predicted, counted, strict=True)]
    zero = [reference.predict([0, 0], 0, X[0].tolist()), reference.mistake(0, 1, "mistake")]
    return Section(
        HEADING,
        "Training error: the share of examples with y != h(x), which the lecture equates with "
        "y (theta.x) <= 0. A classifier with zero training error is called realizable.",
        (
            Table.of(["theta", "y != h(x)", "y (theta.x) <= 0"], rows, "On the test example."),
            Slip(
                "The two forms differ where theta.x = 0: h(0) = +1 predicts a positive example "
                "right, and y (theta.x) <= 0 counts it as wrong. At theta = 0 all three are "
                f"counted, and only the negative ones ({predicted[0]:.3g} of all) are predicted "
                "wrong. Here both are kept: the first for prediction, the second for training."
            ),
        ),
        {"counted": counted, "predicted": predicted, "at zero": zero},
        step="training error",
    )


def definition(_: Given) -> Section:
    """Definition 1.1: separable through the origin, decided with a proof."""
    sets = {"the test example": (X, Y), "four points, crosswise": CROSSED}
    found = {name: separability(*pair, fit_intercept=False) for name, pair in sets.items()}
    rows = [[name, cert.verdict, bool(cert.verify(*sets[name]))] for name, cert in found.items()]
    return Section(
        HEADING,
        "Definition 1.1: linearly separable through origin if some theta has y (theta.x) > 0 for "
        "all examples. How do we find the weights such that they minimize the training error?",
        (
            Table.of(["examples", "verdict", "proof checked"], rows),
            Picture(
                "definition",
                lambda: drawing.proofs({name: (*pair, False) for name, pair in sets.items()}),
                "Left: a line through the origin and the band without rows. Right: the origin "
                "lies in the hull of the y x, so there is none.",
            ),
            Note(f"The second set: {found['four points, crosswise'].explain()}"),
        ),
        {name: cert.verdict for name, cert in found.items()},
        step="Definition 1.1",
    )


SECTIONS = (through_origin, half_planes, error, definition)
