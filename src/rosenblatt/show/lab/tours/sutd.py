"""sutd: the linear classifier, its update rule and the test example; without, then with offset."""

from __future__ import annotations

from rosenblatt.data.toy_datasets import BEYOND, CROSSED, TEST_EXAMPLE, THETA_START
from rosenblatt.show.lab.situation import Start
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

TITLE = "sutd: a test example by hand"
LECTURE = "50.007 Machine Learning, Lecture 2: Perceptron"
LOW_POINT, ASIDE = 2, (1.0, 0.0)  # x(3), and where it takes the last separator away


def tour() -> Tour:
    """The lecture's order: through the origin first, the offset last."""
    return Tour(
        "sutd", TITLE, LECTURE, (*_classifier(), *_update_rule(), *_what_it_promises(), *_offset())
    )


def _classifier() -> list[Step]:
    example = situation(TEST_EXAMPLE, offset=False, start=THETA_START)
    zero = situation(TEST_EXAMPLE, offset=False)
    gone = moved(zero, LOW_POINT, ASIDE)
    return [
        Step(
            "A classifier is a direction",
            "h(x; θ) = sign(θ·x): +1 on the side to which θ points, -1 on the other. The line "
            "passes through the origin, at a right angle to θ. The lab writes w for θ.",
            example,
            "plane",
            "Drag the tip of the arrow w, and watch the two sides turn.",
        ),
        Step(
            "Training error, in two forms",
            "Eₙ counts y(θ·x) <= 0. At θ = 0 all {n} examples are errors. Yet h(0) = +1 predicts "
            "x(1) right: the table shows {fp@0} wrong ones. The lecture equates the two forms. "
            "Here the first trains, the second predicts.",
            zero,
            "confusion",
            "Press **Step**. Now {fp@1} is predicted wrong.",
            visits(1),
        ),
        Step(
            "Separable through the origin",
            "Definition 1.1: some θ has y(θ·x) > 0 for all examples. These are {verdict}, with a "
            "proof: the line, and the band without examples.",
            zero,
            "verdict",
            "Drag x(3), the lowest point, to about {place}. Now they are {gone/verdict}; the proof "
            "names the rows.",
            verdict("overlapping"),
            others={"gone": gone},
            more={"place": ASIDE},
            done=gone,
        ),
    ]


def _update_rule() -> list[Step]:
    example = situation(TEST_EXAMPLE, offset=False, start=THETA_START)
    run = Told(example)
    return [
        Step(
            "The update rule",
            "At a mistake, y(θ·x) <= 0, θ becomes θ + y x. The lecture's start is θ(0) = {w@0}. "
            "x(1) scores {score@1} and is {label@1}: a mistake. So θ(1) = θ(0) + x(1) = {w@1}.",
            example,
            "words",
            "Press **Step**.",
            visits(1),
        ),
        Step(
            "What the update does",
            "y(θ·x) rose by ||x||² = {square@1}, from {margin@1} to {margin_after@1}: x(1) is "
            "right now. Next, x(2) scores {score@2} and is {label@2}. It is subtracted: θ(2) = "
            "{w@2}.",
            chosen(example, at=1),
            "plane",
            "Press **Step**. θ turns away from x(2).",
            visits(2),
        ),
        Step(
            "A clean pass ends it",
            "x(3) is wrong too: θ(3) = {w@3} (in floating point its second entry is {exactly}). "
            "The next pass is clean. {updates} updates, {visits} visits.",
            chosen(example, at=2),
            "motion",
            "Press **Play**, or drag the slider to its end.",
            AT_END,
            more={"exactly": repr(run.w(3)[1])},
        ),
    ]


def _what_it_promises() -> list[Step]:
    example = situation(TEST_EXAMPLE, offset=False, start=THETA_START)
    zero = chosen(example, start=Start())
    crossed = situation(CROSSED, offset=False)
    return [
        Step(
            "Theorem 2.1",
            "If separable, there are finitely many mistakes. The wedge holds every θ that errs "
            "nowhere. From θ = 0 at most R²/γ² = {zero/ratio} mistakes are possible. From θ(0) "
            "another bound holds, {bound}. The run made {mistakes}.",
            chosen(example, at=Told(example).visits),
            "version",
            "Choose the start **zero**: {zero/mistakes} mistakes.",
            setting("start", "zero"),
            others={"zero": zero},
            done=zero,
        ),
        Step(
            "Not realizable",
            "Crosswise, no θ can part them: {verdict}. The lecture stops after a set number of "
            "iterations. The lab sees more: after {updates} updates θ is {w@end} again, as at the "
            "start. This run would never end.",
            crossed,
            "motion",
            "Press **Pass**.",
            AT_END,
        ),
    ]


def _offset() -> list[Step]:
    beyond = situation(BEYOND)
    through = chosen(beyond, offset=False)
    return [
        Step(
            "Exercise 3: is the converse true?",
            "Separable through the origin implies separable with offset: take θ₀ = 0. The "
            "converse is false. With an offset these four are {verdict}: a line keeps {best} away "
            "from all of them.",
            beyond,
            "verdict",
            "Untick **offset**: {through/verdict}.",
            setting("offset", False),
            others={"through": through},
            done=through,
        ),
        Step(
            "The offset is one more weight",
            "θ₀ is the weight of a feature that is always 1: at a mistake θ₀ becomes θ₀ + y. So "
            "y(θ·x + θ₀) rises by ||x||² + 1, at the first mistake by {square@1}. After {updates} "
            "updates: θ = {w@end}, θ₀ = {b@end}. The lab writes b for θ₀.",
            beyond,
            "words",
            "Press **Play**.",
            AT_END,
        ),
    ]
