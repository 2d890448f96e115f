"""Facts: the numbers of a run that the text of a tour may mention.

They come from `learn.reference`, the rules in plain Python. The page shows what the compiled loop
does; the tests compare the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.problem import Problem
from rosenblatt.learn import reference
from rosenblatt.prove.bounds import MistakeBound, mistake_bound
from rosenblatt.prove.certificate.margin import MaxMargin
from rosenblatt.prove.margin import max_margin
from rosenblatt.prove.separability import separability
from rosenblatt.show.lab.situation import Situation
from rosenblatt.theory import losses

Array = npt.NDArray[Any]


class Facts(Mapping[str, str]):
    """What `{name}`, `{name@visit}` and `{other/name@visit}` in a text stand for.

    A visit is a number from 1 (or from 0, the start) or `end`.

    Of the run: `n` `visits` `passes` `updates` `mistakes` `misses` (of each pass) `wrong` (what
    the weights that are kept predict wrongly at the end).
    Of one visit: `row` `label` `score` `margin` (before it moves anything), `count` (rows of a
    batch step), `square` (||x||^2, with the 1 of the offset); `score_after` `margin_after`.
    After so many visits: `w` `b` `norm` `hard` `soft` `tp` `tn` `fp` `fn` `so_far` (mistakes)
    `off` (rows predicted wrongly) `near` (distance of the nearest point).
    Of the data: `verdict`, and where they separate `gamma` `R` `ratio` (R^2/gamma^2) `bound` (the
    updates that are allowed at most, from this start) `best` (the largest distance).
    """

    def __init__(
        self,
        situation: Situation,
        others: Mapping[str, Situation] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        self.run = Told(situation)
        self.others = {name: Told(other) for name, other in (others or {}).items()}
        self.more = dict(more or {})

    def __getitem__(self, key: str) -> str:
        return shown(self.value(key))

    def value(self, key: str) -> Any:
        """Before it is written."""
        if key in self.more:
            return self.more[key]
        other, _, rest = key.rpartition("/")
        name, _, visit = rest.partition("@")
        run = self.others[other] if other else self.run
        found = getattr(run, name)
        if not visit:
            return found
        return found(run.visits if visit == "end" else int(visit))

    def __iter__(self) -> Any:
        return iter(self.more)

    def __len__(self) -> int:
        return len(self.more)


def shown(value: Any) -> str:
    """Four digits are enough to read, and one after the point; vectors in brackets.

    >>> shown((2.0, 0.19999999999999996)), shown(-0.6000000000000001), shown([3, 0]), shown(-0.0)
    ('(2, 0.2)', '-0.6', '3, 0', '0')
    >>> shown(1280.66), shown(2.8613e-10)
    ('1280.7', '2.861e-10')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return "(" + ", ".join(map(shown, value)) + ")"
    if isinstance(value, list):
        return ", ".join(map(shown, value))
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value)}"
    digits = max(4, len(str(int(abs(value)))) + 1)
    return f"{float(f'{value:.{digits}g}') + 0:.{digits}g}"


class Told:
    """One run in plain Python, and what is known of its data."""

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        (self.choice,) = situation.segments
        self.X: list[list[float]] = situation.X.tolist()
        self.y: list[int] = situation.y.tolist()

    @cached_property
    def history(self) -> reference.Run:
        """All visits."""
        s, c = self.situation, self.choice
        assert c.rule in ("perceptron", "minover")
        assert c.order == "order"
        if c.rule == "minover":
            return reference.minover(self.X, self.y, intercept=s.offset, max_iter=s.passes)
        common: dict[str, Any] = {
            "w": list(s.start.w),
            "b": s.start.b,
            "tie": c.tie,
            "intercept": s.offset,
            "max_iter": s.passes,
        }
        if c.mode == "online":
            return reference.train(self.X, self.y, eta=c.eta, **common)
        mean = c.mode == "batch-mean"
        return reference.batch(self.X, self.y, eta=lambda k: c.eta, mean=mean, **common)

    # ---------------------------------------------------------------- the run

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def visits(self) -> int:
        return len(self.history.visits)

    @property
    def passes(self) -> int:
        return self.history.visits[-1].epoch

    @property
    def updates(self) -> int:
        return len(self.history.updates)

    @property
    def mistakes(self) -> int:
        return sum(self.misses)

    @property
    def misses(self) -> list[int]:
        """Mistakes of each pass; of each step in a batch."""
        if self.choice.mode == "online":
            return self.history.mistakes
        return [int(v.mistake) for v in self.history.visits]

    @property
    def wrong(self) -> int:
        """Rows that the kept weights predict wrongly."""
        kept: dict[str, Callable[[], reference.Weights]] = {
            "last": lambda: self.history.weights,
            "average": lambda: reference.average(self.history),
            "pocket": lambda: reference.pocket(self.X, self.y, self.history),
        }
        return reference.errors(self.X, self.y, *kept[self.choice.keep]())

    # ---------------------------------------------------------------- one visit, counted from 1

    def row(self, t: int) -> int:
        """Which example, counted from 1."""
        return self.history.visits[t - 1].row + 1

    def label(self, t: int) -> str:
        return f"{self.y[self.row(t) - 1]:+d}"

    def score(self, t: int) -> float:
        return float(reference.score(*self.weights(t - 1), self.X[self.row(t) - 1]))

    def margin(self, t: int) -> float:
        return self.y[self.row(t) - 1] * self.score(t)

    def margin_after(self, t: int) -> float:
        """The same example once more, after the visit."""
        return self.y[self.row(t) - 1] * self.score_after(t)

    def score_after(self, t: int) -> float:
        return float(reference.score(*self.weights(t), self.X[self.row(t) - 1]))

    def count(self, t: int) -> int:
        return int(self.history.visits[t - 1].mistake)

    def square(self, t: int) -> float:
        x = self.X[self.row(t) - 1]
        return sum(v * v for v in x) + (1 if self.situation.offset else 0)

    # ---------------------------------------------------------------- after so many visits

    def weights(self, t: int) -> reference.Weights:
        if t == 0:
            return self.history.start
        visit = self.history.visits[t - 1]
        return visit.w, visit.b

    def w(self, t: int) -> tuple[float, ...]:
        return tuple(self.weights(t)[0])

    def b(self, t: int) -> float:
        return float(self.weights(t)[1])

    def norm(self, t: int) -> float:
        """Of w, with the offset where there is one."""
        w, b = self.weights(t)
        return math.hypot(*w, b if self.situation.offset else 0.0)

    def so_far(self, t: int) -> int:
        return sum(v.mistake > 0 for v in self.history.visits[:t])

    def hard(self, t: int) -> int:
        return int(self._loss("hard", t))

    def soft(self, t: int) -> float:
        return self._loss("soft", t)

    def _loss(self, kind: str, t: int) -> float:
        w, b = self.weights(t)
        return losses.value(kind, self.situation.X, self.situation.y, w, b)

    def off(self, t: int) -> int:
        return reference.errors(self.X, self.y, *self.weights(t))

    def tp(self, t: int) -> int:
        return self._cases(t, 1, 1)

    def tn(self, t: int) -> int:
        return self._cases(t, -1, -1)

    def fp(self, t: int) -> int:
        return self._cases(t, -1, 1)

    def fn(self, t: int) -> int:
        return self._cases(t, 1, -1)

    def _cases(self, t: int, label: int, said: int) -> int:
        w, b = self.weights(t)
        pairs = zip(self.X, self.y, strict=True)
        return sum(y == label and reference.predict(w, b, x) == said for x, y in pairs)

    def near(self, t: int) -> float:
        """How far the nearest point is from the line."""
        w, b = self.weights(t)
        return float(min(abs(reference.score(w, b, x)) for x in self.X) / math.hypot(*w))

    # ---------------------------------------------------------------- the data

    @property
    def verdict(self) -> str:
        s = self.situation
        return separability(s.X, s.y, fit_intercept=s.offset).verdict

    @cached_property
    def _augmented(self) -> MaxMargin:
        s = self.situation
        return max_margin(s.X, s.y, fit_intercept=s.offset, augmented=s.offset)

    @cached_property
    def _bound(self) -> MistakeBound:
        s, best = self.situation, self._augmented
        return mistake_bound(
            Problem.of(s.X, s.y), best.w, best.b, intercept=s.offset, eta=self.choice.eta,
            start=(np.array(s.start.w), s.start.b), tie=self.choice.tie,
        )  # fmt: skip

    @property
    def R(self) -> float:
        return self._bound.radius

    @property
    def gamma(self) -> float:
        return self._bound.margin

    @property
    def ratio(self) -> float:
        """R^2 / gamma^2, as it is for a start at zero."""
        return (self.R / self.gamma) ** 2

    @property
    def bound(self) -> int:
        """Updates come in whole numbers."""
        return math.floor(self._bound.mistakes)

    @property
    def best(self) -> float:
        s = self.situation
        return max_margin(s.X, s.y, fit_intercept=s.offset).lower
