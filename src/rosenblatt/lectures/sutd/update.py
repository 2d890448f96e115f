"""Update: the perceptron update rule, what it does, its theorem, and the test example."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.data.problem import Problem
from rosenblatt.data.taught import CROSSED
from rosenblatt.data.taught import THETA_START as START
from rosenblatt.estimators import Perceptron
from rosenblatt.learn import reference
from rosenblatt.learn.trace import plural
from rosenblatt.lectures.lecture import Given, Note, Picture, Played, Section, Slip, Table
from rosenblatt.lectures.run import trace, updates
from rosenblatt.lectures.sutd import drawing
from rosenblatt.lectures.sutd.linear import Array, X, Y, training_error, vector
from rosenblatt.prove.bounds import mistake_bound
from rosenblatt.prove.margin import max_margin
from rosenblatt.show.film import film

HEADING = "Perceptron update rule"
RULE: dict[str, Any] = {
    "shuffle": False,
    "tol": None,
    "fit_intercept": False,
    "record": "updates",
}


def run(start: Array | None = None, X: Array = X, y: Array = Y, **options: Any) -> Perceptron:
    """The rule of the lecture, from 0 or from a start."""
    clf = Perceptron(**{**RULE, "init": "zero" if start is None else start, **options})
    clf.fit(X, y)
    return clf


def exact_run() -> reference.Run:
    """The test example in fractions."""
    points = [[Fraction(v) for v in row] for row in X.tolist()]
    start = [Fraction(1), Fraction(-4, 5)]
    return reference.train(points, Y.tolist(), w=start, intercept=False)


def algorithm(_: Given) -> Section:
    """From 0, example after example, until a pass is clean or the passes are used up."""
    clf, never = run(), run(None, *CROSSED, max_iter=10)
    rows = [[u.epoch, u.row + 1, vector(u.w), training_error(u.w)] for u in updates(clf)]
    return Section(
        HEADING,
        "Start at theta = 0; at every example that is wrong, theta += y x. Stop at zero training "
        "error (realizable) or after a set number of iterations (non-realizable).",
        (
            Table.of(["pass", "example", "theta after", "E_n"], rows, "The test example, from 0."),
            Note(
                f"It stopped because: {clf.stop_reason_}. The set that is not separable: "
                f"{never.stop_reason_} after {plural(never.n_iter_, 'pass', 'passes')}, E_n = "
                f"{training_error(never.coef_[0], *CROSSED):.3g}."
            ),
        ),
        {
            "thetas": [u.w.tolist() for u in updates(clf)],
            "errors": [row[3] for row in rows],
            "stop": clf.stop_reason_,
            "never": never.stop_reason_,
        },
        step="the algorithm",
    )


def direction(_: Given) -> Section:
    """A missed positive becomes more positive, a missed negative more negative."""
    rows, numbers = [], []
    before = START
    for u in updates(run(START)):
        x, y = X[u.row], int(Y[u.row])
        scores = [float(before @ x), float(u.w @ x)]
        rows.append([f"{y:+d}", vector(x), *scores, "up" if scores[1] > scores[0] else "down"])
        numbers.append({"y": y, "scores": scores})
        before = u.w
    return Section(
        HEADING,
        "What does the update do? A positive example that was called negative gets a more "
        "positive score, a negative one that was called positive a more negative one.",
        (Table.of(["y", "x", "theta.x before", "after", "moved"], rows, "The test example."),),
        {"updates": numbers},
        step="what it does",
    )


def amount(_: Given) -> Section:
    """y (theta.x) rises by exactly ||x||^2."""
    theta, rows, rises = [Fraction(1), Fraction(-4, 5)], [], []
    for row, after, _b in exact_run().updates:
        x, y = [Fraction(v) for v in X[row].tolist()], int(Y[row])
        was, now = y * reference.score(theta, 0, x), y * reference.score(after, 0, x)
        square = sum(v * v for v in x)
        rows.append([vector(x), str(was), str(now), str(now - was), str(square)])
        rises.append([str(now - was), str(square)])
        theta = after
    return Section(
        HEADING,
        "At a mistake y (theta.x) <= 0. After the update it is y (theta.x) + ||x||^2: more "
        "positive, and in a realizable case > 0 in the end.",
        (
            Table.of(
                ["x", "y theta.x before", "after", "rise", "||x||^2"], rows, "In fractions: exact."
            ),
        ),
        {"rises": rises},
        step="by how much",
    )


def two_updates(_: Given) -> Section:
    """theta1 = theta0 + x1, theta2 = theta1 - x2."""
    clf = run(START)
    first, second, *_rest = updates(clf)
    off = [
        float(np.abs(first.w - (START + X[first.row])).max()),
        float(np.abs(second.w - (first.w - X[second.row])).max()),
    ]
    text = (
        f"theta(0) = {vector(START)}, theta(1) = {vector(first.w)}, theta(2) = {vector(second.w)}: "
        "a positive example is added, a negative one subtracted."
    )
    return Section(
        HEADING,
        "Example: theta(1) = theta(0) + x(1), theta(2) = theta(1) + (-1) x(2).",
        (
            Note(text),
            Picture(
                "two-updates",
                lambda: drawing.first_updates(clf, X, Y),
                "Adding x(1) turns theta towards it; subtracting x(2) turns theta away from it.",
            ),
        ),
        {"thetas": [first.w.tolist(), second.w.tolist()], "off": off},
        step="two updates",
    )


def exercise_1(_: Given) -> Section:
    """The text has no words for it: the test example by hand."""
    found = exact_run()
    thetas = [[str(v) for v in w] for _row, w, _b in found.updates]
    return Section(
        "Exercise 1",
        "The text gives no words to this exercise. The test example that follows can be worked by "
        "hand; here is what should come out, in fractions.",
        (Table.of(["update", "theta 1", "theta 2"], [[k + 1, *w] for k, w in enumerate(thetas)]),),
        {"thetas": thetas, "mistakes": found.mistakes},
    )


def theorem(_: Given) -> Section:
    """Theorem 2.1: finitely many mistakes; how many, and which weights are allowed."""
    best = max_margin(X, Y, fit_intercept=False)
    problem = Problem.of(X, Y)
    zero, there = (
        mistake_bound(problem, best.w, intercept=False, start=start).mistakes
        for start in (None, (START, 0.0))
    )
    far = np.array([-100.0, 0.0])
    bound = mistake_bound(problem, best.w, intercept=False, start=(far, 0.0)).mistakes
    counts = {
        "0": run().n_mistakes_,
        "lecture": run(START).n_mistakes_,
        "far": run(far).n_mistakes_,
    }
    rows = [
        ["(0, 0)", counts["0"], f"{zero:.2f}"],
        [vector(START), counts["lecture"], f"{there:.2f}"],
        [vector(far), counts["far"], f"{bound:.2f}"],
    ]
    low, high = allowed()
    return Section(
        HEADING,
        "Theorem 2.1: the rule converges after a finite number of mistakes when the examples are "
        "linearly separable through the origin.",
        (
            Note(
                "The weights that err nowhere point between "
                f"{low:.1f} and {high:.1f} degrees; the middle, {(low + high) / 2:.1f}, is not the "
                f"best: that is {np.degrees(np.arctan2(*best.w[::-1])):.1f}, with margin "
                f"{best.lower:.4g}."
            ),
            Picture(
                "allowed",
                lambda: drawing.allowed_weights(run(START), X, Y),
                "Each example allows half of the plane of weights; the run ends where all agree.",
            ),
            Table.of(["start", "mistakes", "at most"], rows, "Finite, and this many at most."),
            Slip(
                f"R^2 / gamma^2 = {zero:.2f} is for a start at 0. From theta(0) = "
                f"{vector(far)} the run makes {counts['far']} mistakes; the bound that knows the "
                "start allows them."
            ),
        ),
        {
            "allowed": [low, high],
            "margin": best.lower,
            "mistakes": counts,
            "bounds": {"0": zero, "lecture": there, "far": bound},
        },
        step="Theorem 2.1",
    )


def allowed() -> tuple[float, float]:
    """The open cone of weights with y (theta.x) > 0 for all examples: its angles, in degrees."""
    edges = [np.array([-z[1], z[0]]) * s for z in Y[:, None] * X for s in (-1, 1)]
    inside = [e for e in edges if (Y * (X @ e) >= 0).all()]
    angles = sorted(float(np.degrees(np.arctan2(e[1], e[0]))) for e in inside)
    return angles[0], angles[-1]


def worked_example(_: Given) -> Section:
    """The frames of the worked example."""
    clf = run(START)
    rows, before = [], START
    steps: list[dict[str, Any]] = []
    for k, u in enumerate(updates(clf)):
        score = float(Y[u.row] * (before @ X[u.row]))
        rows.append([k + 1, f"x({u.row + 1})", score, vector(before), vector(u.w)])
        steps.append({"row": u.row, "score": score, "theta": u.w.tolist()})
        before = u.w
    ends = [float(v) for v in Y * (X @ before)]
    visited = [int(s["row"]) for s in steps]
    title = "sutd: the test example"
    return Section(
        HEADING,
        "Test example: x(1) = (1, 2), x(2) = (-1, 2), x(3) = (0, -1), y = +1, -1, -1, random start "
        "theta(0) = (1, -0.8); three updates.",
        (
            Table.of(["update", "at", "y theta.x", "theta before", "after"], rows),
            Picture(
                "test-example",
                lambda: drawing.frames(
                    [START, *(np.array(s["theta"]) for s in steps)], visited, X, Y
                ),
                "The start and the three updates; the example of each update is ringed.",
            ),
            Played("test-example", lambda path: film(clf, path, title=title), "The run as a film."),
            Note(
                f"The second pass is clean: y theta.x = {vector(ends)}. In floating point the last "
                f"weight is {float(clf.coef_[0][1])!r}, not 0.2: -0.8 is not a binary fraction."
            ),
        ),
        {"steps": steps, "mistakes": trace(clf).mistakes.tolist(), "ends": ends},
        step="the test example",
    )


SECTIONS = (
    algorithm,
    direction,
    amount,
    two_updates,
    exercise_1,
    theorem,
    worked_example,
)
