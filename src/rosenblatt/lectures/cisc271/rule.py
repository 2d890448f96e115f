"""Rule: sections 30.1 and 30.2, the four cases, the residual, the pseudocode, the batch."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_iris

from rosenblatt.data.problem import Problem
from rosenblatt.data.taught import SLOW
from rosenblatt.data.taught import random_start as start
from rosenblatt.estimators import Perceptron
from rosenblatt.learn import reference
from rosenblatt.lectures.cisc271 import drawing
from rosenblatt.lectures.cisc271.flowers import (
    CASES,
    RULE,
    Array,
    augmented,
    heaviside,
    iris,
    learned,
    weights,
)
from rosenblatt.lectures.lecture import Given, Note, Picture, Section, Slip, Table
from rosenblatt.lectures.run import trace
from rosenblatt.prove.bounds import mistake_bound
from rosenblatt.prove.margin import max_margin
from rosenblatt.prove.separability import separability


def class_30(_: Given) -> Section:
    """The sample problem: how can we learn a hyperplane from data?"""
    X, species = load_iris(return_X_y=True)
    names = load_iris().target_names.tolist()
    verdicts = {name: separability(X, species == k).verdict for k, name in enumerate(names)}
    return Section(
        "CISC 271 Class 30",
        "How can we learn a hyperplane from data?",
        (
            Note(
                f"The data are Iris: {len(X)} flowers, {X.shape[1]} measurements, {len(names)} "
                "species. What can a hyperplane do at all? Each verdict has a proof:"
            ),
            Table.of(["species", "against the rest"], [[n, v] for n, v in verdicts.items()]),
            Note("Only setosa separates from the rest. From here on it is class 1."),
        ),
        {"verdicts": verdicts},
    )


def neuron(_: Given) -> Section:
    """A binary neuron: q = heaviside(w.x); it learns from false answers."""
    X, y = iris()
    clf = learned(X, y, seed=0)
    counts = {
        when: _cases(y, heaviside(augmented(X) @ w))
        for when, w in {"before": start(0, X.shape[1]), "after": weights(clf)}.items()
    }
    rows = [[when, *found.values()] for when, found in counts.items()]
    return Section(
        "Supervised Learning – Perceptron Rule",
        "A Perceptron is a simple binary neuron cell. It learns from its false positives and "
        "false negatives.",
        (
            Note("Labels y are 0 and 1, the answer is q = heaviside(score), from random weights:"),
            Table.of(["rule", *CASES], rows, "Setosa (1) against the rest (0)."),
        ),
        {"counts": counts, "updates": clf.n_updates_},
    )


def _cases(y: Array, q: Array) -> dict[str, int]:
    return {name: int(((y == a) & (q == b)).sum()) for name, (a, b) in CASES.items()}


def one_visit(y: int, score: float) -> tuple[Array, Array, Array]:
    """x, the weights before a visit to it at that score, and those after."""
    x, w = np.array([1.0, 2.0]), score * np.array([0.2, 0.4]) + np.array([1.2, -0.6])
    clf = Perceptron(**{**RULE, "max_iter": 1}, fit_intercept=False, init=w)
    # a row of zeros brings the other label and moves nothing
    return x, w, clf.fit([x, [0.0, 0.0]], [y, 1 - y]).coef_[0]


def angle(w: Array, x: Array) -> float:
    """Between two vectors, in degrees."""
    cosine = w @ x / np.linalg.norm(w) / np.linalg.norm(x)
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def table_1(_: Given) -> Section:
    """The four cases; closer after a false negative, farther after a false positive."""
    rows, numbers = [], {}
    for name, (y, q) in CASES.items():
        x, w, after = one_visit(y, score=1.0 if q else -1.0)
        before, then = angle(w, x), angle(after, x)
        action = "unchanged" if then == before else "closer" if then < before else "farther"
        rows.append([f"y = {y}, q = {q}", name, round(before, 1), round(then, 1), action])
        numbers[name] = {"before": before, "after": then, "action": action}
    x = np.array([1.0, 2.0])
    far = 10 * x  # a false positive that is very sure of itself
    was, now = float(np.linalg.norm(far - x)), float(np.linalg.norm(far - x - x))
    header = ["condition", "case", "angle before", "after", "w and x"]
    return Section(
        "30.1 The Perceptron Rule",
        "Right: the hyperplane stays. Wrong: a false negative moves w closer to x, a false "
        "positive farther from it.",
        (
            Table.of(header, rows, "Table 30.1, each line one visit; angles in degrees."),
            Picture(
                "closer-and-farther",
                lambda: drawing.closer_and_farther(one_visit(1, -1.0)[1], one_visit(0, 1.0)[1], x),
                "Adding x turns w towards it, subtracting x turns w away from it.",
            ),
            Note(
                "That is said of the angle, which never turns the other way. Of the distance only "
                f"closer is true: a false positive at w = 10 x brings w from {was:.3g} to "
                f"{now:.3g} away from x."
            ),
        ),
        {"cases": numbers, "distance": [was, now]},
        step="Table 30.1, the logic",
    )


def table_2(_: Given) -> Section:
    """The residual e = y - q is the action."""
    rows, numbers = [], {}
    for name, (y, q) in CASES.items():
        x, w, after = one_visit(y, score=1.0 if q else -1.0)
        e = y - q
        moved = float(np.abs(after - w - e * x).max())
        rows.append([f"y = {y}, q = {q}", f"{e:+d}" if e else "0", name, _vector(after - w)])
        numbers[name] = {"residual": e, "moved": (after - w).tolist(), "off": moved}
    ties = {
        tie: [reference.mistake(0, y, tie) * y for y in (1, -1)]
        for tie in ("positive", "half", "mistake", "correct")
    }
    whose = ["heaviside(0) = 1", "MATLAB's heaviside(0) = 1/2", "sutd and online", "chan"]
    tied = [
        [w, t, *(f"{e:+g}" if e else "0" for e in ties[t])]
        for w, t in zip(whose, ties, strict=True)
    ]
    return Section(
        "30.1 The Perceptron Rule",
        "The residual e = y - q (30.1) is 0, +1 or -1, and all four actions are one: "
        "w <- w + e x (30.2).",
        (
            Table.of(
                ["condition", "e", "case", "w moved by"], rows, "Table 30.2, with x = (1, 2)."
            ),
            Note(
                "A score of exactly 0 is left open. The text says that q is 0 or 1; MATLAB, in "
                "which the lecture codes it, has heaviside(0) = 1/2, and then half of x is added:"
            ),
            Table.of(["convention", "tie", "e if y = 1", "e if y = 0"], tied),
        ),
        {"cases": numbers, "ties": ties},
        step="Table 30.2, the residual",
    )


def _vector(v: Array) -> str:
    return "(" + ", ".join(f"{round(float(c), 12) + 0:g}" for c in v) + ")"


def pseudocode(_: Given) -> Section:
    """Pass after pass, until one misses nothing; a limit, for data that do not separate."""
    X, y = iris()
    clf, slow = learned(X, y, seed=0), learned(X, y, seed=0, eta0=SLOW)
    *w, b = start(0, X.shape[1]).tolist()
    plain = reference.train(X.tolist(), (2 * y - 1).tolist(), w=w, b=b, tie="positive")
    off = float(np.abs(np.append(*plain.weights) - weights(clf)).max())
    never = Perceptron(**{**RULE, "max_iter": 200}).fit(X, load_iris().target == 1)
    best = max_margin(X, y, augmented=True)
    from_zero, from_there = (
        mistake_bound(
            Problem.of(X, y), best.w, best.b, start=begin, tie="positive", eta=SLOW
        ).mistakes
        for begin in (None, (w, b))
    )
    rows = [[k + 1, int(m), bool(m)] for k, m in enumerate(trace(clf).mistakes)]
    return Section(
        "30.1 The Perceptron Rule",
        "If the data can be separated by a hyperplane, the rule converges to a correct weight "
        "vector. A limit on the updates keeps other data from looping for ever.",
        (
            Table.of(["iteration", "misses", "Missed"], rows, "Setosa, from random weights."),
            Note(
                f"{clf.n_updates_} updates. The pseudocode in plain Python ends at the same "
                f"weights, up to {off:.1g}. Versicolor does not separate: after {never.n_iter_} "
                f"iterations the last one still missed {trace(never).mistakes[-1]}, and training "
                f"says only: {never.stop_reason_}."
            ),
            Slip(
                "Converges, but how soon? The well known bound R^2 / gamma^2, here "
                f"{from_zero:.0f}, is for a start at zero. From this random start, slowed as in "
                f"Figure 30.1 (here eta = {SLOW}), it is {from_there:.0f}; that run made "
                f"{slow.n_updates_} updates."
            ),
        ),
        {
            "misses": trace(clf).mistakes.tolist(),
            "updates": clf.n_updates_,
            "off": off,
            "versicolor": never.stop_reason_,
            "bound": [from_zero, from_there],
            "slow updates": slow.n_updates_,
        },
        step="the pseudocode",
    )


def batch(_: Given) -> Section:
    """w_k = w_{k-1} + X^T (y - q)."""
    X, y = iris()
    clf = learned(X, y, seed=0, mode="batch")
    w, misses = start(0, X.shape[1]), []
    while True:
        residual = y - heaviside(augmented(X) @ w)
        misses.append(int(np.abs(residual).sum()))
        if not misses[-1]:
            break
        w = w + augmented(X).T @ residual
    off = float(np.abs(w - weights(clf)).max())
    rows = [[k + 1, m] for k, m in enumerate(misses)]
    return Section(
        "30.2 Perceptron Rule – Batch Learning",
        "All observations at once: w_k = w_{k-1} + X^T (y - q) (30.4).",
        (
            Table.of(["k", "misses"], rows, "Equation 30.4 on Iris, in two lines of NumPy."),
            Note(
                f'Perceptron(mode="batch") makes the same {clf.n_iter_} iterations and ends at the '
                f"same weights, up to {off:.1g}."
            ),
        ),
        {"misses": misses, "library": trace(clf).mistakes.tolist(), "off": off},
    )
