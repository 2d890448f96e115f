"""Step: one idea of a guided tour, with its situation and what there is to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rosenblatt.data.toy_datasets import Examples
from rosenblatt.show.lab.situation import Segment, Situation, Start
from rosenblatt.show.lab.tours.facts import Facts

WORDS = 60  # of one step, at most
STEPS = 10  # of one tour, at most
PANELS = (
    "plane", "verdict", "rule", "motion", "words", "mistakes", "cosine", "loss", "confusion",
    "version", "data", "share",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Step:
    """A title, a text of at most 60 words and the situation it is about.

    Parameters
    ----------
    title : a few words
    text : the idea, `**bold**` words in it. Numbers are not written into it: `{w@1}` is replaced
        by the weights after the first visit (see `Facts` for what else can be asked).
    situation : what the page shows when the step begins
    watch : the panel to look at, one of PANELS
    do : what to press or to drag, in words; numbers and bold words as in `text`
    goal : what the page waits for before it ticks the step
    others : further situations by name: `{zero/updates}` is what the run of `zero` does
    more : numbers that no run gives, by name
    done : the situation after somebody did what `do` says; not sent to the page, but tried
    """

    title: str
    text: str
    situation: Situation
    watch: str
    do: str | None = None
    goal: Mapping[str, Any] | None = None
    others: Mapping[str, Situation] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)
    done: Situation | None = None

    def filled(self, template: str) -> str:
        """The text with its numbers."""
        return template.format_map(Facts(self.situation, self.others, self.more))

    def told(self) -> dict[str, Any]:
        """As the page reads it."""
        return {
            "title": self.title,
            "text": self.filled(self.text),
            "situation": self.situation.told(),
            "watch": self.watch,
            "do": None if self.do is None else self.filled(self.do),
            "goal": None if self.goal is None else dict(self.goal),
        }


@dataclass(frozen=True, eq=False)
class Tour:
    """The steps through one lecture, in its order and with its conventions."""

    name: str
    title: str
    lecture: str
    steps: tuple[Step, ...]

    def told(self) -> dict[str, Any]:
        """As the page reads it."""
        steps = [step.told() for step in self.steps]
        return {"name": self.name, "title": self.title, "lecture": self.lecture, "steps": steps}


# ---------------------------------------------------------------- situations


def situation(
    examples: Examples,
    *,
    offset: bool = True,
    start: Any = None,
    at: int = 0,
    passes: int = 100,
    names: tuple[str, str] = ("x1", "x2"),
    classes: tuple[str, str] = ("-1", "+1"),
    **choices: Any,
) -> Situation:
    """The examples in their order, and the choices of one segment.

    `start` is None for zero, or the weights and then, with an offset, that.
    """
    X, y = examples
    begin = Start()
    if start is not None:
        first, second, *rest = (float(v) for v in start)
        begin = Start("given", 0, (first, second), rest[0] if rest else 0.0)
    return Situation(
        np.array(X, dtype=np.float64), np.array(y, dtype=np.int8), names, classes, offset, begin,
        (Segment(**choices),), passes, at,
    )  # fmt: skip


def moved(before: Situation, row: int, to: tuple[float, float]) -> Situation:
    """One point somewhere else."""
    X = before.X.copy()
    X[row] = to
    return replace(before, X=X)


def chosen(before: Situation, **choices: Any) -> Situation:
    """Other choices from the first visit on, or another `offset`, `at`, `passes`, `start`."""
    whole = {k: choices.pop(k) for k in ("offset", "at", "passes", "start") if k in choices}
    return replace(before, segments=(replace(before.segments[0], **choices),), **whole)


def visits(at_least: int) -> dict[str, Any]:
    """The goal that so many visits have been made."""
    return {"kind": "at_least", "visits": at_least}


def verdict(wanted: str) -> dict[str, Any]:
    """The goal that the verdict is this one."""
    return {"kind": "verdict", "is": wanted}


def setting(name: str, wanted: Any) -> dict[str, Any]:
    """The goal that a setting has this value."""
    return {"kind": "setting", "name": name, "is": wanted}


AT_END: dict[str, Any] = {"kind": "at_end"}
