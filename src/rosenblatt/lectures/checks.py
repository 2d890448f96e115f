"""Checks of the exercises: one function per exercise, from an answer to feedback.

There is no list of right answers. Every check computes with the answer, in fractions: it runs the
perceptron rule, measures a margin, or asks for a proof of separability. exercises.toml has the
questions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from rosenblatt.learn import reference
from rosenblatt.lectures.answers import (
    Answer,
    Feedback,
    UnreadableError,
    decimal,
    numbers,
    right,
    rows,
    vector,
    wrong,
)

Rows = Sequence[Sequence[int]]
# radivojac and chan: four points on a line; radivojac's have x0 = 1 in front
POINTS, LABELS = [[0], [1], [4], [5]], [-1, -1, 1, 1]
AUGMENTED = [[1, *x] for x in POINTS]
# sutd: the test example and a fourth one, and the weights of the advertisement
TEST_X, TEST_Y = [[1, 2], [-1, 2], [0, -1], [1, -16]], [1, -1, -1, 1]
TEST_START = [Fraction(1), Fraction(-4, 5)]
AD_WEIGHTS = [2, 8, -15, 5]
REVIEWS_ONLY, EVERYTHING = (0, 1, 0, 0), (1, 1, 1, 1)
PURCHASE = 2  # number of the feature
# online: five rounds, and a current estimate
ROUNDS = [([2, 1], 1), ([1, 2], -1), ([3, 2], 1), ([2, 3], -1), ([1, 0], 1)]
ESTIMATE = [2, 1]
# cisc271: observations with their labels, and the distance asked for in cm
OBSERVED = [([2, 1], 1), ([1, 3], 1), ([3, 1], 0), ([1, 2], 0), ([2, 2], 0)]
DISTANCE = Fraction(3, 5)
LARGEST = 2**53  # whole numbers up to here are floats


def radivojac_1(answer: Answer) -> Feedback:
    """A solution w with a bound M²/ε² below 100."""
    w = numbers(answer, 2)
    values = _margins(w, 0, AUGMENTED, LABELS)
    if min(values) <= 0:
        k = next(k for k, value in enumerate(values) if value <= 0)
        return wrong(
            f"This w is not a solution: at x₁ = {POINTS[k][0]} with y = {LABELS[k]:+d}, "
            f"y w·x = {decimal(values[k])}. It must be positive for every data point."
        )
    largest = max(_square(x) for x in AUGMENTED)
    bound = largest * _square(w) / min(values) ** 2
    if bound >= 100:
        return wrong(
            f"This w separates the classes, but its bound is M²/ε² = {float(bound):.4g}. Multiples "
            "of w have the same bound, because w is divided by its length. Move the boundary."
        )
    return right(
        f"M² = {largest} and ε² = {float(largest / bound):.3g}: at most {int(bound)} updates."
    )


def radivojac_2(answer: Answer) -> Feedback:
    """A start from which the learning rate changes the number of updates."""
    start = numbers(answer, 2)
    if max(map(abs, start)) > 100:
        raise UnreadableError("The numbers must lie between -100 and 100.")
    one, tenth = (
        len(_run(AUGMENTED, LABELS, start, eta=eta, tie="positive").updates)
        for eta in (Fraction(1), Fraction(1, 10))
    )
    counts = f"From {vector(start)}, η = 1 makes {one} updates and η = 1/10 makes {tenth}."
    if one != tenth:
        return right(counts)
    if not any(start):
        return wrong(f"{counts} From 0, η only rescales w, and rescaling w changes no prediction.")
    return wrong(f"{counts} Take a start that is larger, or further from a solution.")


def chan_1(answer: Answer) -> Feedback:
    """Two θ and a λ at which J_hard lies above its chord."""
    *both, share = numbers(answer, 5)
    if not 0 <= share <= 1:
        return wrong(f"λ must lie between 0 and 1, and {decimal(share)} does not.")
    one, two = both[:2], both[2:]
    between = [share * a + (1 - share) * b for a, b in zip(one, two, strict=True)]

    def chord(loss: Callable[[list[Fraction]], Any]) -> Any:
        return share * loss(one) + (1 - share) * loss(two)

    hard, limit = _hard_loss(between), chord(_hard_loss)
    sides = f"J_hard is {hard} at {vector(between)}, and the right-hand side is {decimal(limit)}"
    if hard <= limit:
        return wrong(f"{sides}: these θ do not violate convexity.")
    return right(
        f"{sides}. For the soft loss the two are {decimal(_soft_loss(between))} and "
        f"{decimal(chord(_soft_loss))}: it is convex."
    )


def chan_2(answer: Answer) -> Feedback:
    """A θ from which one batch step misclassifies more samples than before."""
    theta = numbers(answer, 2)
    before = _misclassified(theta)
    if not before:
        why = (
            "At θ = 0 every y g(x) is 0, which is not negative: the algorithm stops there without "
            "having learned anything."
            if not any(theta)
            else "The algorithm has already converged."
        )
        return wrong(f"No sample is misclassified at {vector(theta)}, so θ does not move. {why}")
    w, offset = theta
    after = [
        w + sum(LABELS[j] * POINTS[j][0] for j in before),
        offset + sum(LABELS[j] for j in before),
    ]
    counts = f"{len(before)} misclassified before, {len(_misclassified(after))} after"
    moved = f"θ moves from {vector(theta)} to {vector(after)}: {counts}."
    return right(moved) if len(_misclassified(after)) > len(before) else wrong(moved)


def sutd_1(answer: Answer) -> Feedback:
    """Any θ that separates the test example and a fourth one through the origin."""
    theta = numbers(answer, 2)
    values = _margins(theta, 0, TEST_X, TEST_Y)
    if min(values) > 0:
        return right(f"y (θ·x) is {', '.join(map(decimal, values))}: positive for all four.")
    k = next(k for k, value in enumerate(values) if value <= 0)
    failed = f"Example {k + 1} has y (θ·x) = {decimal(values[k])}."
    steps = [TEST_START, *(w for _, w, _ in _run(TEST_X[:3], TEST_Y[:3], TEST_START).updates)]
    if theta in steps:
        number = "⁰¹²³"[steps.index(theta)]
        why = "it knows three of the examples" if theta == steps[-1] else "there are more updates"
        return wrong(f"{failed} This is θ⁽{number}⁾ of the lecture; {why}.")
    if values[k] == 0:
        although = ", although h(x) = +1 is right" if TEST_Y[k] > 0 else ""
        return wrong(f"{failed} A value of 0 counts as a training error{although}.")
    return wrong(failed)


def sutd_2(answer: Answer) -> Feedback:
    """An offset with which reviews alone mean yes, and a recent purchase always means no."""
    (offset,) = numbers(answer, 1)
    reviews, everything = (
        reference.score(AD_WEIGHTS, offset, user) for user in (REVIEWS_ONLY, EVERYTHING)
    )
    scores = f"“reviews” alone scores {decimal(reviews)}, all four features {decimal(everything)}"
    if reviews < 0:
        return wrong(f"With this offset {scores}: a user who only searched “reviews” gets a no.")
    buyers = [user for user in itertools.product((0, 1), repeat=4) if user[PURCHASE]]
    if any(reference.predict(AD_WEIGHTS, offset, user) > 0 for user in buyers):
        why = "a score of 0 predicts yes" if everything == 0 else "the last one should be a no"
        sign = " The offset is added to the score, so it must be negative." if offset > 0 else ""
        return wrong(f"With this offset {scores}, and {why}.{sign}")
    return right(f"With this offset {scores}.")


def sutd_3(answer: Answer) -> Feedback:
    """Examples that are separable with an offset and not through the origin."""
    from rosenblatt.prove.separability import separability

    examples = rows(answer, 3)
    if {label for _, _, label in examples} != {-1, 1}:
        raise UnreadableError("The last number of a row is its label, 1 or -1; both must occur.")
    # multiplied by this, the coordinates are whole numbers, which floats hold exactly
    scale = math.lcm(*(v.denominator for row in examples for v in row))
    X = [[int(v * scale) for v in x] for *x, _ in examples]
    if any(abs(v) > LARGEST for x in X for v in x):
        raise UnreadableError("The coordinates have too many digits together.")
    y = [int(label) for *_, label in examples]
    scaled = f" (all coordinates multiplied by {scale})" if scale > 1 else ""
    shifted, through = (separability(X, y, fit_intercept=offset) for offset in (True, False))
    if shifted.verdict != "separable":
        return wrong(f"They are not separable with an offset{scaled}:\n\n{shifted.explain(X, y)}")
    if through.verdict == "separable":
        return wrong(f"They are separable through the origin{scaled}:\n\n{through.explain(X, y)}")
    return right(f"They are separable with an offset, and{scaled}:\n\n{through.explain(X, y)}")


def online_1(answer: Answer) -> Feedback:
    """An order of the rounds in which every prediction is a mistake."""
    order = numbers(answer, len(ROUNDS))
    if sorted(order) != list(range(1, len(ROUNDS) + 1)):
        raise UnreadableError("Each of the numbers 1 to 5 must occur once.")
    X, y = zip(*(ROUNDS[int(k) - 1] for k in order), strict=True)
    run = _run(X, y, [0, 0], max_iter=1)
    (mistakes,) = run.mistakes
    if mistakes == len(ROUNDS):
        # w* = (1, -1), divided by its length
        gamma = Fraction(min(_margins([1, -1], 0, X, y)) ** 2, 2)
        bound = max(map(_square, X)) / gamma
        return right(f"All {mistakes} predictions are mistakes; R²/γ² = {bound} allows more.")
    k = next(k for k, visit in enumerate(run.visits) if not visit.mistake)
    w = run.visits[k - 1].w  # the first round is a mistake, because w is 0
    value = decimal(y[k] * reference.score(w, 0, X[k]))
    return wrong(
        f"Only {mistakes} of 5 predictions are mistakes. In round {k + 1}, w = {vector(w)} is "
        f"right about example {order[k]}: y (w·x) = {value}."
    )


def online_2(answer: Answer) -> Feedback:
    """A mistake at which the squared norm grows by the whole ‖x‖²."""
    *x, y = numbers(answer, 3)
    if y not in (-1, 1):
        raise UnreadableError("The last number is the label, 1 or -1.")
    if not any(x):
        return wrong("x must not be 0.")
    value = y * reference.score(ESTIMATE, 0, x)
    if value > 0:
        return wrong(f"y (w·x) = {decimal(value)} is positive: no mistake, so w stays as it is.")
    growth = _square([a + y * b for a, b in zip(ESTIMATE, x, strict=True)]) - _square(ESTIMATE)
    grows = f"‖w‖² grows by {decimal(growth)}, and ‖x‖² = {decimal(_square(x))}"
    if growth != _square(x):
        return wrong(f"A mistake, but {grows}, because 2 y (w·x) = {decimal(2 * value)}.")
    return right(
        f"{grows}. Here w·x = 0, and sign(0) is not y: at a mistake, y (w·x) is negative or zero."
    )


def cisc271_1(answer: Answer) -> Feedback:
    """The residual errors of five observations."""
    given = numbers(answer, len(OBSERVED))
    scores = [reference.score([1, -1], 0, x) for x, _ in OBSERVED]
    quantized = [int(score >= 0) for score in scores]
    residuals = [label - q for (_, label), q in zip(OBSERVED, quantized, strict=True)]
    if given == residuals:
        return right("Observation 2 is a false negative, observations 3 and 5 are false positives.")
    if given == [-e for e in residuals]:
        return wrong("All signs are reversed: the residual error is y - q, not q - y.")
    k = next(k for k, (e, true) in enumerate(zip(given, residuals, strict=True)) if e != true)
    why = f"Look at e{'₁₂₃₄₅'[k]} again: the score is {scores[k]}, and y = {OBSERVED[k][1]}."
    if abs(given[k]) == 2:
        return wrong(f"{why} Labels and quantizations are 0 and 1, so |e| is at most 1.")
    if scores[k] == 0:
        return wrong(f"{why} A score of 0 gives q = 1 here. (MATLAB's heaviside(0) is 1/2.)")
    return wrong(why)


def cisc271_2(answer: Answer) -> Feedback:
    """A line between setosas and other flowers that stays 0.6 cm away from all of them."""
    from rosenblatt.data.toy_datasets import petals

    *w, offset = numbers(answer, 3)
    if not any(w):
        return wrong("With w = 0 there is no line: all flowers have the same score.")
    X, labels = petals()
    values = _margins(
        w, offset, [[Fraction(str(v)) for v in x] for x in X.tolist()], labels.tolist()
    )
    failed = sum(value <= 0 for value in values)
    if failed == len(values):
        return wrong("All flowers are on the wrong side. Reverse the signs of w₁, w₂ and b.")
    if failed:
        return wrong(f"{failed} of 150 flowers are on the wrong side or on the line.")
    nearest = f"the nearest flower is {float(min(values)) / math.sqrt(_square(w)):.3g} cm away"
    if min(values) ** 2 < DISTANCE**2 * _square(w):
        return wrong(f"The line separates the classes, but {nearest}.")
    return right(f"The line separates the classes, and {nearest}.")


def _margins(w: Sequence[Any], offset: Any, X: Sequence[Any], y: Sequence[int]) -> list[Fraction]:
    return [label * reference.score(w, offset, x) for x, label in zip(X, y, strict=True)]


def _square(x: Sequence[Any]) -> Any:
    return sum(v * v for v in x)


def _run(X: Rows, y: Sequence[int], start: Sequence[Any], **options: Any) -> reference.Run:
    """The rule without offset, in fractions."""
    exact = [[Fraction(v) for v in x] for x in X]
    return reference.train(exact, y, w=start, intercept=False, **{"max_iter": 100_000, **options})


def _hard_loss(theta: Sequence[Fraction]) -> int:
    return reference.errors(POINTS, LABELS, theta[:1], theta[1])


def _soft_loss(theta: Sequence[Fraction]) -> Fraction:
    return -sum(
        (min(v, Fraction(0)) for v in _margins(theta[:1], theta[1], POINTS, LABELS)), Fraction(0)
    )


def _misclassified(theta: Sequence[Fraction]) -> list[int]:
    """Numbers of the samples with y g(x) < 0: chan's ties are no mistakes."""
    return [j for j, v in enumerate(_margins(theta[:1], theta[1], POINTS, LABELS)) if v < 0]
