"""Checks of the exercises: one function per exercise, from an answer to what is to be said of it.

There is no list of right answers. Every check computes with the answer, in fractions: it runs the
perceptron rule, measures a margin, or asks for a proof of separability. It returns the name of the
feedback, whose sentences are in exercises.toml with the questions, and the numbers in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from rosenblatt.learn import reference
from rosenblatt.lectures.answers import Answer, UnreadableError, decimal, numbers, rows

Rows = Sequence[Sequence[Any]]
Finding = tuple[str, dict[str, Any]]
# radivojac and chan: four points on a line, with a 1 in front or at the end
POINTS, LABELS = [0, 1, 4, 5], [-1, -1, 1, 1]
WITH_X0, SAMPLES = [[1, x] for x in POINTS], [[x, 1] for x in POINTS]
# sutd: the test example and a fourth one, and the weights of the advertisement
TEST_X, TEST_Y = [[1, 2], [-1, 2], [0, -1], [1, -16]], [1, -1, -1, 1]
TEST_START = [Fraction(1), Fraction(-4, 5)]
AD_WEIGHTS = [2, 8, -15, 5]
REVIEWS_ONLY, EVERYTHING = (0, 1, 0, 0), (1, 1, 1, 1)
# online: five rounds, and a current estimate
ROUNDS = [([2, 1], 1), ([1, 2], -1), ([3, 2], 1), ([2, 3], -1), ([1, 0], 1)]
ESTIMATE = [2, 1]
# cisc271: observations with their labels, and the distance asked for in cm
OBSERVED = [([2, 1], 1), ([1, 3], 1), ([3, 1], 0), ([1, 2], 0), ([2, 2], 0)]
DISTANCE = Fraction(3, 5)
LARGEST = 2**53  # whole numbers up to here are floats


def radivojac_1(answer: Answer) -> Finding:
    """A solution w with a bound M²/ε² below 100."""
    w = numbers(answer, 2)
    values = _margins(w, WITH_X0, LABELS)
    if min(values) <= 0:
        k = _first_mistake(values)
        return "no_solution", {"x": POINTS[k], "y": LABELS[k], "value": values[k]}
    largest = max(map(_square, WITH_X0))
    bound = largest * _square(w) / min(values) ** 2
    if bound >= 100:
        return "weak", {"bound": float(bound)}
    return "right", {"largest": largest, "square": float(largest / bound), "most": int(bound)}


def radivojac_2(answer: Answer) -> Finding:
    """A start from which the learning rate changes the number of updates."""
    start = numbers(answer, 2)
    if max(map(abs, start)) > 100:
        raise UnreadableError("The numbers must lie between -100 and 100.")
    one, tenth = (
        len(_run(WITH_X0, LABELS, start, eta=eta, tie="positive").updates)
        for eta in (Fraction(1), Fraction(1, 10))
    )
    facts = {"start": start, "one": one, "tenth": tenth}
    if one != tenth:
        return "right", facts
    return "same" if any(start) else "zero", facts


def chan_1(answer: Answer) -> Finding:
    """Two θ and a λ at which J_hard lies above its chord."""
    *both, share = numbers(answer, 5)
    if not 0 <= share <= 1:
        return "no_share", {"share": share}
    one, two = both[:2], both[2:]
    between = [share * a + (1 - share) * b for a, b in zip(one, two, strict=True)]

    def chord(loss: Callable[[list[Fraction]], Any]) -> Any:
        return share * loss(one) + (1 - share) * loss(two)

    hard, limit = _hard_loss(between), chord(_hard_loss)
    facts = {"between": between, "hard": hard, "limit": limit}
    facts |= {"soft": _soft_loss(between), "soft_limit": chord(_soft_loss)}
    return "right" if hard > limit else "convex", facts


def chan_2(answer: Answer) -> Finding:
    """A θ from which one batch step misclassifies more samples than before."""
    theta = numbers(answer, 2)
    before = _misclassified(theta)
    if not before:
        return "converged" if any(theta) else "zero", {"theta": theta}
    after = [v + sum(LABELS[j] * SAMPLES[j][i] for j in before) for i, v in enumerate(theta)]
    now = len(_misclassified(after))
    facts = {"theta": theta, "moved": after, "before": len(before), "after": now}
    return "right" if now > len(before) else "not_more", facts


def sutd_1(answer: Answer) -> Finding:
    """Any θ that separates the test example and a fourth one through the origin."""
    theta = numbers(answer, 2)
    values = _margins(theta, TEST_X, TEST_Y)
    if min(values) > 0:
        return "right", {"values": ", ".join(map(decimal, values))}
    k = _first_mistake(values)
    facts = {"number": k + 1, "value": values[k]}
    steps = [TEST_START, *(w for _, w, _ in _run(TEST_X[:3], TEST_Y[:3], TEST_START).updates)]
    if theta in steps:
        facts["step"] = "⁰¹²³"[steps.index(theta)]
        return "last_step" if theta == steps[-1] else "step", facts
    if values[k] == 0:
        return "zero_positive" if TEST_Y[k] > 0 else "zero", facts
    return "mistake", facts


def sutd_2(answer: Answer) -> Finding:
    """An offset with which reviews alone mean yes, and a recent purchase always means no."""
    (offset,) = numbers(answer, 1)
    # of all users with a recent purchase, the one with all features has the highest score
    reviews, everything = (
        reference.score(AD_WEIGHTS, offset, user) for user in (REVIEWS_ONLY, EVERYTHING)
    )
    facts = {"reviews": reviews, "everything": everything}
    if reviews < 0:
        return "reviews", facts
    if everything >= 0:
        return "positive" if everything else "zero", facts
    return "right", facts


def sutd_3(answer: Answer) -> Finding:
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
        return "overlapping", {"scaled": scaled, "proof": shifted.explain(X, y)}
    found = "through" if through.verdict == "separable" else "right"
    return found, {"scaled": scaled, "proof": through.explain(X, y)}


def online_1(answer: Answer) -> Finding:
    """An order of the rounds in which every prediction is a mistake."""
    order = numbers(answer, len(ROUNDS))
    if sorted(order) != list(range(1, len(ROUNDS) + 1)):
        raise UnreadableError("Each of the numbers 1 to 5 must occur once.")
    X, y = zip(*(ROUNDS[int(k) - 1] for k in order), strict=True)
    run = _run(X, y, [0, 0], max_iter=1)
    (mistakes,) = run.mistakes
    if mistakes == len(ROUNDS):
        # w* = (1, -1), divided by its length
        gamma_squared = Fraction(min(_margins([1, -1], X, y)) ** 2, 2)
        return "right", {"mistakes": mistakes, "bound": max(map(_square, X)) / gamma_squared}
    k = next(k for k, visit in enumerate(run.visits) if not visit.mistake)
    w = run.visits[k - 1].w  # the first round is a mistake, because w is 0
    facts = {"mistakes": mistakes, "round": k + 1, "w": w, "example": order[k]}
    return "too_few", facts | {"value": y[k] * reference.score(w, 0, X[k])}


def online_2(answer: Answer) -> Finding:
    """A mistake at which the squared norm grows by the whole ‖x‖²."""
    *x, y = numbers(answer, 3)
    if y not in (-1, 1):
        raise UnreadableError("The last number is the label, 1 or -1.")
    value = y * reference.score(ESTIMATE, 0, x)
    growth = _square([a + y * b for a, b in zip(ESTIMATE, x, strict=True)]) - _square(ESTIMATE)
    facts = {"value": value, "growth": growth, "square": _square(x), "middle": 2 * value}
    if not any(x):
        return "no_x", facts
    if value > 0:
        return "no_mistake", facts
    return "less" if value else "right", facts


def cisc271_1(answer: Answer) -> Finding:
    """The residual errors of five observations."""
    given = numbers(answer, len(OBSERVED))
    scores = [reference.score([1, -1], 0, x) for x, _ in OBSERVED]
    residuals = [y - (score >= 0) for score, (_, y) in zip(scores, OBSERVED, strict=True)]
    if given == residuals:
        return "right", {}
    if given == [-e for e in residuals]:
        return "reversed", {}
    k = next(k for k, (e, true) in enumerate(zip(given, residuals, strict=True)) if e != true)
    facts = {"number": "₁₂₃₄₅"[k], "score": scores[k], "y": OBSERVED[k][1]}
    if abs(given[k]) == 2:
        return "too_large", facts
    return "mistake" if scores[k] else "zero", facts


def cisc271_2(answer: Answer) -> Finding:
    """A line between setosas and other flowers that stays 0.6 cm away from all of them."""
    from rosenblatt.data.toy_datasets import petals

    *w, offset = numbers(answer, 3)
    if not any(w):
        return "no_line", {}
    X, labels = petals()
    flowers = [[*(Fraction(str(v)) for v in x), 1] for x in X.tolist()]
    values = _margins([*w, offset], flowers, labels.tolist())
    failed = sum(value <= 0 for value in values)
    facts = {"failed": failed, "distance": float(min(values)) / math.sqrt(_square(w))}
    if failed:
        return "reversed" if failed == len(values) else "mistakes", facts
    return "right" if min(values) ** 2 >= DISTANCE**2 * _square(w) else "too_close", facts


def _margins(w: Sequence[Any], X: Rows, y: Sequence[int]) -> list[Fraction]:
    return [label * reference.score(w, 0, x) for x, label in zip(X, y, strict=True)]


def _first_mistake(values: Sequence[Any]) -> int:
    return next(k for k, value in enumerate(values) if value <= 0)


def _square(x: Sequence[Any]) -> Any:
    return sum(v * v for v in x)


def _run(X: Rows, y: Sequence[int], start: Sequence[Any], **options: Any) -> reference.Run:
    """The rule without offset, in fractions."""
    exact = [[Fraction(v) for v in x] for x in X]
    return reference.train(exact, y, w=start, intercept=False, **{"max_iter": 100_000, **options})


def _hard_loss(theta: Sequence[Fraction]) -> int:
    return reference.errors(SAMPLES, LABELS, theta, 0)


def _soft_loss(theta: Sequence[Fraction]) -> Fraction:
    return sum((max(-v, Fraction(0)) for v in _margins(theta, SAMPLES, LABELS)), Fraction(0))


def _misclassified(theta: Sequence[Fraction]) -> list[int]:
    """Numbers of the samples with y g(x) < 0: chan's ties are no mistakes."""
    return [j for j, v in enumerate(_margins(theta, SAMPLES, LABELS)) if v < 0]
