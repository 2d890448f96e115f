"""radivojac: the machine, why it converges, the learning rate, and the pocket."""

from __future__ import annotations

import numpy as np

from rosenblatt.data.toy_datasets import XOR, rounds, sepals, two_species
from rosenblatt.show.lab.situation import Situation
from rosenblatt.show.lab.tours.facts import Told
from rosenblatt.show.lab.tours.step import (
    AT_END,
    Step,
    Tour,
    chosen,
    setting,
    situation,
    visits,
)

TITLE = "radivojac: why it converges"
LECTURE = "Machine Learning Lecture Notes: Perceptron (Predrag Radivojac, 2015)"
HALF = 0.5
ELSEWHERE, SLOW = (1.0, 1.0, -3.0), 0.1


def flowers(at: int = 0) -> Situation:
    """Iris, one flower of each species in turn; f(0) = +1, from w = 0."""
    return situation(
        sepals(),
        tie="positive",
        at=at,
        names=("sepal length - 5 cm", "sepal width - 3 cm"),
        classes=("other", "setosa"),
    )


def tour() -> Tour:
    """The lecture's order: the rule, the proof, the learning rate, the problems."""
    return Tour("radivojac", TITLE, LECTURE, (*_rule(), *_convergence(), *_problems()))


def _rule() -> list[Step]:
    return [
        Step(
            "The machine",
            "f(x) = +1 if w·x >= 0, else -1, with x₀ = 1; the lab writes b for its weight. Iris, "
            "setosa against the rest. At w = 0 every score is 0, and f(0) = +1: {fp@0} flowers are "
            "wrong. **Tie** is set to positive for that.",
            flowers(),
            "confusion",
            "Press **Step**. Flower 1 is a setosa: right, w stays.",
            visits(1),
        ),
        Step(
            "The training rule",
            "Flower {row@2} is no setosa, but f says +1. Incorrectly classified: w becomes w + y x "
            "= {w@2}, and its offset {b@2}.",
            flowers(at=1),
            "words",
            "Press **Step**.",
            visits(2),
        ),
        Step(
            "Why is that good?",
            "w·x moved by ||x||² = {square@2}, x₀ counted, in the right direction: from {score@2} "
            "to {score_after@2}. Another flower may pay for it: {off@2} are wrong now. The "
            "hypothesis is that right moves lead to a separating hyperplane.",
            flowers(at=2),
            "plane",
            "Press **Pass** to visit every flower once.",
            visits(Told(flowers()).n),
        ),
        Step(
            "It converges",
            "Mistakes of each pass: {misses}. {updates} updates in all. With an offset, a clean "
            "pass under f(0) = +1 proves that the classes are separable.",
            flowers(at=Told(flowers()).n),
            "mistakes",
            "Press **Play**, or drag the slider to its end.",
            AT_END,
        ),
    ]


def _convergence() -> list[Step]:
    end = Told(flowers()).visits
    X, y = rounds(30)
    plain = situation((X, y), offset=False, tie="positive")
    flipped = situation((X * y[:, None], np.ones_like(y)), offset=False, tie="positive")
    counted = chosen(flipped, tie="mistake")
    both = chosen(plain, tie="mistake")
    return [
        Step(
            "All positive",
            "D+: every negative x becomes the positive -x. Said to change nothing. With f(0) = +1 "
            "it does: at w = 0 every score is 0, which is right for a positive. {updates} updates, "
            "nothing learned; unflipped, {plain/updates}.",
            flipped,
            "rule",
            "Set **tie** to mistake: {counted/updates} updates, as without the flip.",
            setting("tie", "mistake"),
            others={"plain": plain, "counted": counted, "both": both},
            done=counted,
        ),
        Step(
            "The cosine is at most 1",
            "With w₀ a unit separator, w·w₀ grows at least like l ε, ||w|| at most like √l M. So l "
            "<= M²/ε² = {ratio}; the run made {updates}. Eq. (5) has < where it is <=: at a score "
            "of 0, as at the first update, all of ||x||² is added.",
            flowers(at=end),
            "cosine",
            "Drag the slider along the run.",
        ),
        Step(
            "The learning rate",
            "η in (0, 1] is said to avoid rapid movements. From w = 0 it only rescales w: the same "
            "{updates} updates, the same line. From {elsewhere} it matters: {there/updates} "
            "updates with η = 1, {slow/updates} with η = {small}.",
            flowers(),
            "rule",
            "Set **eta** to {eta} and drag the slider to its end: {half/updates} updates again.",
            setting("eta", HALF),
            others={
                "half": chosen(flowers(), eta=HALF),
                "there": _from_elsewhere(1.0),
                "slow": _from_elsewhere(SLOW),
            },
            more={"elsewhere": ELSEWHERE, "small": SLOW, "eta": HALF},
            done=chosen(flowers(), eta=HALF),
        ),
    ]


def _from_elsewhere(eta: float) -> Situation:
    return situation(sepals(), tie="positive", start=ELSEWHERE, eta=eta)


def _problems() -> list[Step]:
    mixed = situation(
        two_species(),
        tie="positive",
        passes=50,
        names=("petal length, cm", "petal width, cm"),
        classes=("virginica", "versicolor"),
    )
    pocket = chosen(mixed, keep="pocket")
    return [
        Step(
            "Not separable",
            "Exclusive or is {verdict}: the algorithm never stops, and cycles can be hard to "
            "detect. In a fixed order the lab detects them: after {passes} passes the weights are "
            "back at earlier ones.",
            situation(XOR, tie="positive"),
            "motion",
            "Press **Play**.",
            AT_END,
        ),
        Step(
            "The pocket",
            "Versicolor and virginica overlap. After {passes} passes the last weights have {wrong} "
            "of {n} flowers wrong, by chance of the moment. The Pocket Algorithm keeps the best "
            "weights seen: {pocket/wrong} wrong.",
            mixed,
            "rule",
            "Set **keep** to pocket and drag the slider. Dashed: what is kept.",
            setting("keep", "pocket"),
            others={"pocket": pocket},
            done=pocket,
        ),
    ]
