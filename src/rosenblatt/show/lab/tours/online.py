"""online: predict, see the outcome, update; and how many mistakes that can cost."""

from __future__ import annotations

import math

from rosenblatt.data.toy_datasets import rounds
from rosenblatt.prove.margin import max_margin
from rosenblatt.show.lab.situation import Situation
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

TITLE = "online: how many mistakes can there be?"
LECTURE = "Perceptrons: the algorithm, online"
ROUNDS = 60
CLOSER, ACROSS = 0.5, -1.0  # where a point is dragged, as a multiple of its place


def once() -> Situation:
    """Each example once, from w = 0, no offset."""
    return situation(rounds(ROUNDS), offset=False, passes=1)


def tour() -> Tour:
    """The two inequalities of the page, each seen in the run."""
    return Tour("online", TITLE, LECTURE, (*_rounds(), *_two_inequalities(), *_afterwards()))


def _rounds() -> list[Step]:
    second = next(t for t in range(2, ROUNDS) if Told(once()).so_far(t) == 2)
    return [
        Step(
            "Round by round",
            "w₁ = 0. In round i we receive xᵢ and predict sign(wᵢ·xᵢ); then the outcome yᵢ is "
            "revealed. In round 1 the score is {score@1}, and sign(0) is neither class: a "
            "mistake. So w₂ = y₁ x₁ = {w@1}.",
            once(),
            "words",
            "Press **Step**.",
            visits(1),
        ),
        Step(
            "No update when right",
            "In round 2 the score is {score@2} and the outcome {label@2}: right, so w stays. The "
            "next mistake comes in round {second}.",
            chosen(once(), at=1),
            "words",
            "Press **Step** until it comes, or **Play**.",
            visits(second),
            more={"second": second},
        ),
        Step(
            "The unknown w*",
            "Suppose that a unit vector w* separates all examples. One does, with proof: the "
            "verdict is {verdict}. Its margin is γ = {gamma}: every yᵢ xᵢ·w* is at least that. "
            "And no xᵢ is longer than R = {R}.",
            chosen(once(), at=second),
            "verdict",
            "Drag a point towards the line, and watch the band shrink.",
        ),
    ]


def _two_inequalities() -> list[Step]:
    run = Told(once())
    return [
        Step(
            "w·w* grows by γ or more",
            "Each mistake adds yᵢ xᵢ·w* >= γ to w·w*. After M mistakes w·w* >= γ M. Is w turning "
            "towards w*, or only growing longer? The cosine tells.",
            once(),
            "cosine",
            "Press **Pass**: {mistakes} mistakes.",
            AT_END,
        ),
        Step(
            "||w|| grows slowly",
            "A mistake adds at most ||xᵢ||² to ||w||², because yᵢ w·xᵢ is negative, says the "
            "lecture. Negative or zero: in round 1 it is zero. So ||w|| <= √M R holds all the "
            "same: {norm@end} <= {most}.",
            chosen(once(), at=run.visits),
            "cosine",
            "Drag the slider, and see where the norm grows.",
            more={"most": math.sqrt(run.mistakes) * run.R},
        ),
        Step(
            "M <= R²/γ²",
            "γ M <= w·w* <= ||w|| <= √M R. So M <= R²/γ² = {ratio}, whatever the order. This order "
            "made {mistakes} mistakes. The bound is for the worst case.",
            once(),
            "mistakes",
            "Set **order** to shuffle and try seeds: the bound holds for all of them.",
            setting("order", "shuffle"),
            done=chosen(once(), order="shuffle"),
        ),
    ]


def _afterwards() -> list[Step]:
    again = chosen(once(), passes=100, at=ROUNDS)
    held = max_margin(again.X, again.y, fit_intercept=False).support[0]
    close, across = _dragged(again, held, CLOSER), _dragged(again, 0, ACROSS)
    return [
        Step(
            "Round after round",
            "After {n} rounds the lecture stops; {off@60} of the examples would still be "
            "predicted wrong. The bound counts every later round too: going on makes {mistakes} "
            "mistakes in {passes} passes, the last one clean.",
            again,
            "mistakes",
            "Press **Play**.",
            AT_END,
        ),
        Step(
            "A small margin",
            "Mistakes are bounded by R²/γ², so what is close to the line is dear. Here γ = {gamma} "
            "and R²/γ² = {ratio}.",
            again,
            "cosine",
            "Drag example {near}, one of those that hold the band, halfway to the origin: R²/γ² "
            "becomes {close/ratio}.",
            others={"close": close},
            more={"near": held + 1},
            done=close,
        ),
        Step(
            "The non-separable case is harder",
            "So ends the lecture. Without a w* there is no γ and no bound of this kind, and the "
            "run need not end.",
            again,
            "verdict",
            "Drag example 1 through the origin to the other side: {across/verdict}.",
            verdict("overlapping"),
            others={"across": across},
            done=across,
        ),
    ]


def _dragged(before: Situation, row: int, times: float) -> Situation:
    x, y = before.X[row].tolist()
    return moved(before, row, (times * x, times * y))
