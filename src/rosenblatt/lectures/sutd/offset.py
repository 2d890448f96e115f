"""Offset: the linear classifier with an offset, the advertisement, and its update rule."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.data.problem import Problem
from rosenblatt.data.taught import BEYOND, CROSSED
from rosenblatt.estimators import Perceptron
from rosenblatt.learn import reference
from rosenblatt.lectures.lecture import Given, Note, Picture, Section, Table
from rosenblatt.lectures.run import updates
from rosenblatt.lectures.sutd import drawing
from rosenblatt.lectures.sutd.linear import X, Y, vector
from rosenblatt.lectures.sutd.update import run
from rosenblatt.prove.bounds import mistake_bound
from rosenblatt.prove.margin import max_margin
from rosenblatt.prove.separability import separability

HEADING = "Linear Classifier with offset"
THETA, THETA_0 = np.array([2.0, 1.0]), -2.0  # a hyperplane to look at, theta_0 < 0
FEATURES = ('searched "repair"', 'searched "reviews"', "recent purchase", "clicked ads before")
AD, AD_0 = np.array([2.0, 8.0, -15.0, 5.0]), -9.0
USERS = np.array([[0, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 1], [0, 1, 1, 1], [0, 0, 0, 0]])


def with_offset(_: Given) -> Section:
    """One more weight."""
    clf = run(fit_intercept=True)
    return Section(
        "Linear Classifier (with offset)",
        "The same, with an offset: hyperplanes that need not pass through the origin.",
        (
            Note(
                f"The test example from 0, now with an offset: theta = {vector(clf.coef_[0])}, "
                f"theta_0 = {clf.intercept_[0]:g} after {clf.n_updates_} updates: "
                f"{clf.stop_reason_}."
            ),
        ),
        {
            "theta": clf.coef_[0].tolist(),
            "offset": float(clf.intercept_[0]),
            "updates": clf.n_updates_,
        },
    )


def parallel(_: Given) -> Section:
    """theta stays orthogonal; the offset shifts the hyperplane by -theta_0 / ||theta||."""
    foot = -THETA_0 * THETA / (THETA @ THETA)
    along = np.array([-THETA[1], THETA[0]])
    scores = [float(THETA @ (foot + t * along) + THETA_0) for t in (-1.0, 0.0, 2.0)]
    distance = float(-THETA_0 / np.linalg.norm(THETA))
    return Section(
        HEADING,
        "The hyperplane theta.x + theta_0 = 0 is parallel to theta.x = 0; theta is still "
        "orthogonal to it, and theta_0 < 0.",
        (
            Note(
                f"theta = {vector(THETA)}, theta_0 = {THETA_0:g}: shifted by -theta_0 / ||theta||, "
                f"that is {distance:.4g}, in the direction of theta, to {vector(foot)}. Steps "
                f"along {vector(along)} from there keep the score at 0."
            ),
            Picture(
                "offset",
                lambda: drawing.shifted(THETA, THETA_0),
                "The same direction, another place.",
            ),
        ),
        {"distance": distance, "foot": foot.tolist(), "scores": scores},
        step="parallel and orthogonal",
    )


def exercise_2(_: Given) -> Section:
    """The text has no words for it: the advertisement by hand."""
    all_users = np.array([[int(c) for c in f"{k:04b}"] for k in range(16)])
    clicks = int((all_users @ AD + AD_0 >= 0).sum())
    return Section(
        "Exercise 2",
        "The text gives no words to this exercise. The advertisement that follows can be worked by "
        "hand.",
        (
            Note(
                f"Four binary features make 16 kinds of users; the weights below say yes to "
                f"{clicks} of them. Which?"
            ),
        ),
        {"yes": clicks},
    )


def advertisement(_: Given) -> Section:
    """Will a web user click? Four binary features and an offset."""
    rows = [[name, float(w)] for name, w in zip(FEATURES, AD, strict=True)] + [["offset", AD_0]]
    return Section(
        HEADING,
        "Predict whether a web user will click on an ad for a refrigerator, from four binary "
        "features with given weights.",
        (Table.of(["feature", "weight"], rows),),
        {"weights": AD.tolist(), "offset": AD_0},
        step="an advertisement",
    )


def five_users(_: Given) -> Section:
    """The scores of the five users, with what every feature contributes."""
    names = ["no", "yes", "yes", "no", "no"]
    clf = Perceptron(shuffle=False, init=[*AD, AD_0]).fit(USERS, names)
    scores, said = clf.decision_function(USERS), clf.predict(USERS)
    parts = USERS * clf.coef_[0]
    every = float(AD.sum() + AD_0)
    rows = [
        [*(f"{v:g}" if x else "." for v, x in zip(part, user, strict=True)), f"{AD_0:g}", s, p]
        for part, user, s, p in zip(parts, USERS, scores, said, strict=True)
    ]
    return Section(
        HEADING,
        "Evaluate it: reviews only, -1, no; repair and reviews, 1, yes; reviews and clicked, 4, "
        "yes; reviews, bought and clicked, -11, no; nothing, -9, no.",
        (
            Table.of(
                ["repair", "reviews", "purchase", "clicked", "offset", "score", "click?"],
                rows,
                "What every feature contributes; a dot is a feature that is 0.",
            ),
            Picture(
                "five-users",
                lambda: drawing.scores(parts, AD_0, FEATURES),
                "From the offset, feature by feature, to the score.",
            ),
            Note(
                f"A recent purchase outweighs everything else: all four features score {every:g}. "
                "The offset is what is predicted of a user of whom nothing is known. Trained on "
                f"these five from these weights, the rule makes {clf.n_updates_} updates."
            ),
        ),
        {
            "scores": scores.tolist(),
            "predictions": said.tolist(),
            "contributions": parts.tolist(),
            "every": every,
            "updates": clf.n_updates_,
        },
        step="five users",
    )


def exercise_3(_: Given) -> Section:
    """The question of the frames that follow."""
    verdicts = {
        name: {
            "through the origin": separability(*pair, fit_intercept=False).verdict,
            "with an offset": separability(*pair).verdict,
        }
        for name, pair in {"test example": (X, Y), "crosswise": CROSSED, "shifted": BEYOND}.items()
    }
    rows = [[name, *found.values()] for name, found in verdicts.items()]
    return Section(
        "Exercise 3",
        "Separable through the origin, or only with an offset? The question is in the frames that "
        "follow.",
        (Table.of(["examples", "through the origin", "with an offset"], rows),),
        verdicts,
    )


def converse(_: Given) -> Section:
    """Separable through the origin implies separable with an offset; not the converse."""
    points, labels = BEYOND
    without, cert = separability(*BEYOND, fit_intercept=False), separability(*BEYOND)
    best = max_margin(*BEYOND)
    return Section(
        HEADING,
        "Separable through the origin implies separable with offset. Is the converse true? Why "
        "not?",
        (
            Note(
                "It is not. With theta_0 = 0 the first holds. These four points: "
                + ", ".join(f"{vector(x)} {y:+d}" for x, y in zip(points, labels, strict=True))
                + f". With an offset: {cert.verdict}, largest margin {best.lower:.4g}. Through the "
                f"origin: {without.verdict}."
            ),
            Picture(
                "converse",
                lambda: drawing.proofs(
                    {"with an offset": (*BEYOND, True), "through the origin": (*BEYOND, False)}
                ),
                "Left: a line and the band without rows. Right: the y x; the origin lies in their "
                "hull, so every line through it has one on the wrong side.",
            ),
            Note(f"The proof: {without.explain()}"),
        ),
        {
            "through the origin": without.verdict,
            "with an offset": cert.verdict,
            "proof rows": list(without.proof.rows),  # type: ignore[attr-defined]  # it overlaps
            "margin": best.lower,
            "plane": [*(float(v) for v in best.w), float(best.b)],
        },
        step="is the converse true?",
    )


def offset_rule(_: Given) -> Section:
    """theta_0 += y * 1: a feature that is always 1."""
    clf = run(None, *BEYOND, fit_intercept=True)
    ones = np.column_stack([np.ones(len(BEYOND[0])), BEYOND[0]])
    augmented = run(None, ones, BEYOND[1])
    rows: list[list[Any]] = [
        [k + 1, u.row + 1, vector(u.w), float(u.b[0]), vector(a.w)]
        for k, (u, a) in enumerate(zip(updates(clf), updates(augmented), strict=True))
    ]
    same = all(
        np.array_equal([*u.b, *u.w], a.w)
        for u, a in zip(updates(clf), updates(augmented), strict=True)
    )
    return Section(
        HEADING,
        "The rule with offset: theta += y x and theta_0 += y * 1, which is the rule without it on "
        "(1, x).",
        (
            Table.of(
                ["update", "example", "theta", "theta_0", "theta of (1, x)"],
                rows,
                "The four points of exercise 3, from 0; both ways.",
            ),
            Note(f"The two runs are {'the same, update by update' if same else 'different'}."),
        ),
        {"same": same, "updates": len(rows), "stop": clf.stop_reason_},
        step="the update rule",
    )


def rise(_: Given) -> Section:
    """y* (theta*.x*) rises by ||x||^2 + 1."""
    points = [[Fraction(v) for v in row] for row in BEYOND[0].tolist()]
    labels = BEYOND[1].tolist()
    w, b, rises = [Fraction(0)] * 2, Fraction(0), []
    for row, w_after, b_after in reference.train(points, labels).updates:
        x, y = points[row], labels[row]
        gain = y * (reference.score(w_after, b_after, x) - reference.score(w, b, x))
        rises.append([str(gain), str(sum(v * v for v in x) + 1)])
        w, b = w_after, b_after
    first = [[k + 1, *pair] for k, pair in enumerate(rises[:5])]
    return Section(
        "Perceptron update rule (with offset)",
        "With 1 as the first element of x and theta_0 of theta: will y (theta.x) still be bigger "
        "after the update?",
        (
            Table.of(["update", "rise", "||x||^2 + 1"], first, "In fractions: exact."),
            Note(
                f"Yes: by ||x||^2 + 1, at all {len(rises)} updates. (The slide writes y for what "
                "theta predicts. Meant is the label: a prediction is never a mistake.)"
            ),
        ),
        {"rises": rises},
    )


def outcomes(_: Given) -> Section:
    """What a reader should be able to do now."""
    clf, best = run(), max_margin(X, Y, fit_intercept=False)
    bound = mistake_bound(Problem.of(X, Y), best.w, intercept=False).mistakes
    rows = [
        ["are they linearly separable?", "separability(X, y), fit_intercept=True or False"],
        ["how does the algorithm work?", 'Perceptron(record="updates").fit(X, y).trace_.record'],
        ["what is guaranteed?", f"{clf.n_mistakes_} mistakes here, at most {bound:.2f}"],
        ["on real data?", "rosenblatt lectures sutd --data wpbc.data"],
    ]
    return Section(
        "Intended Learning Outcomes",
        "Find out if examples are separable; how the algorithm works; what it guarantees; apply it "
        "to real data.",
        (Table.of(["outcome", "here"], rows),),
        {"mistakes": clf.n_mistakes_, "bound": bound},
    )


SECTIONS = (
    with_offset,
    parallel,
    exercise_2,
    advertisement,
    five_users,
    exercise_3,
    converse,
    offset_rule,
    rise,
    outcomes,
)
