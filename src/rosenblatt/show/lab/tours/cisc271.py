"""cisc271: labels 0 and 1, residuals, the Missed flag, batches, and Iris from random starts."""

from __future__ import annotations

from typing import Any

from rosenblatt.data.toy_datasets import SLOW, STARTS, petals, random_start
from rosenblatt.show.lab.situation import Situation, Start
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

TITLE = "cisc271: Iris from random starts"
LECTURE = "CISC 271, Class 30: Supervised Learning, Perceptron Rule"
SECOND, LAST = STARTS[1], STARTS[-1]


def flowers(seed: int, species: str = "setosa", **options: Any) -> Situation:
    """Petals of Iris from the random start of that seed; heaviside(0) = 1."""
    return situation(
        petals(species),
        start=random_start(seed, 2),
        names=("petal length, cm", "petal width, cm"),
        classes=("0: other", f"1: {species}"),
        **{"tie": "positive", **options},
    )


def tour() -> Tour:
    """The lecture's order: the rule and its two tables, the pseudocode, the batch, Figure 30.1."""
    return Tour("cisc271", TITLE, LECTURE, (*_tables(), *_loops(), *_figure()))


def _tables() -> list[Step]:
    iris = flowers(SECOND)
    run = Told(iris)
    positive = next(t for t in range(1, run.visits) if run.margin(t) < 0 < run.score(t))
    half = chosen(iris, tie="half", start=Start())
    whole = chosen(half, tie="positive")
    return [
        Step(
            "Right or wrong",
            "Setosa is class 1, the others class 0. A random ŵ quantizes each flower: q = "
            "heaviside(x̂·ŵ). The table counts four cases: TP {tp@0}, TN {tn@0}, FN {fn@0}, FP "
            "{fp@0}. Only false ones, negative or positive, change ŵ.",
            iris,
            "confusion",
            "Drag the arrow w, and watch the table.",
        ),
        Step(
            "A false negative",
            "Flower {row@1} has y = 1 and the score {score@1}, so q = 0. The residual is e = y - q "
            "= +1, and ŵ becomes ŵ + e x̂: closer to x̂. w = {w@1}, b = {b@1}.",
            iris,
            "words",
            "Press **Step**.",
            visits(1),
        ),
        Step(
            "A false positive",
            "Flower {row} has y = 0 and the score {score}, so q = 1 and e = -1: x̂ is subtracted. "
            "ŵ turns farther from x̂. All four cases are one line: ŵ becomes ŵ + e x̂.",
            chosen(iris, at=positive - 1),
            "words",
            "Press **Step**.",
            visits(positive),
            more={"row": run.row(positive), "score": run.score(positive)},
        ),
        Step(
            "At exactly 0",
            "The text says that q is 0 or 1. MATLAB's heaviside(0) is 1/2: from ŵ = 0 the residual "
            "of flower 1 is 1/2; a step adds half of x̂: w = {w@1}. With q = 1 flower 1 is right, "
            "and nothing moves.",
            half,
            "rule",
            "Set **tie** to positive, and press **Step**: w = {whole/w@1}.",
            setting("tie", "positive"),
            others={"whole": whole},
            done=whole,
        ),
    ]


def _loops() -> list[Step]:
    other = flowers(SECOND, "versicolor", passes=20)
    return [
        Step(
            "The Missed flag",
            "Pass after pass, until one has missed nothing. Misses of each pass: {misses}. "
            "{updates} updates; the classes can be separated, so the rule converges.",
            flowers(SECOND),
            "mistakes",
            "Press **Pass** until the end.",
            AT_END,
        ),
        Step(
            "max_iterations",
            "Versicolor against the rest is {verdict}, so a clean pass will never come. A limit "
            "ends the loop: after {passes} passes, {wrong} of {n} are wrong. The verdict needs no "
            "loop; its proof is a point in both hulls.",
            other,
            "verdict",
            "Press **Play**, or drag the slider to its end.",
            AT_END,
        ),
        Step(
            "All observations at once",
            "ŵ becomes ŵ + X̂ᵀ(y - q). One step answers every miss: {count@1} in the first. Misses "
            "of each step: {misses}.",
            flowers(SECOND, mode="batch"),
            "mistakes",
            "Press **Step** a few times, then **Play**.",
            AT_END,
        ),
    ]


def _figure() -> list[Step]:
    slow = [flowers(seed, eta=SLOW) for seed in (SECOND, LAST)]
    quick = chosen(slow[1], eta=1.0)
    zero = chosen(flowers(SECOND), start=Start())
    minover = chosen(zero, rule="minover")
    better = Told(minover)
    return [
        Step(
            "Figure 30.1",
            "Slowed down by η = {eta}, the line creeps: {updates} updates. It stops as soon as "
            "nothing is missed, {near@end} cm from the nearest flower. The best line keeps {best} "
            "cm away.",
            slow[0],
            "plane",
            "Press **Play**.",
            AT_END,
            more={"eta": SLOW},
        ),
        Step(
            "Another random start",
            "Another line: {updates} updates, {near@end} cm from the nearest flower. How many can "
            "there be? R²/γ² = {zero/ratio} is for a start at zero. From here, with this η, at "
            "most {bound}.",
            slow[1],
            "plane",
            "Press **Play**, then choose the start **random** with other seeds.",
            AT_END,
            others={"zero": chosen(quick, start=Start())},
        ),
        Step(
            "Less than ideal",
            "Content with any separating line, the rule ended {last/near@end} cm from a flower. "
            "Much work went into better estimates. **minover** adds the flower of smallest margin, "
            "right or wrong, and goes on: about {farther} cm. The best line keeps {best} cm.",
            zero,
            "rule",
            "Set **rule** to minover, and press **Play**.",
            setting("rule", "minover"),
            others={"last": slow[1]},
            more={"farther": round(better.near(better.visits), 2)},
            done=minover,
        ),
    ]
