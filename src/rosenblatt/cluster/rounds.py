"""Rounds: all hyperplanes of a model go over all shards, round after round, until they are done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.cluster.hyperplane import Plane
from rosenblatt.cluster.mixing import Mixing
from rosenblatt.cluster.shard_work import (
    Job,
    all_sums,
    all_terms,
    one_pass,
    one_sum,
    scored,
    size_of,
)
from rosenblatt.cluster.shards import Shards
from rosenblatt.io.safetensors_file import Damaged
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.trace import StopReason

Array = npt.NDArray[Any]
# most settled first: a run has the reason of the hyperplane that is least so
LEAST_SETTLED = [
    StopReason.MAX_ITER, StopReason.NO_IMPROVEMENT, StopReason.CYCLE, StopReason.SEPARATED,
]  # fmt: skip


@dataclass(frozen=True)
class Round:
    """What one round did.

    Attributes
    ----------
    number : from 1
    mistakes, updates : of all shards and hyperplanes
    weighted_mistakes : the sum of mu_i k_i, which the bound of mixing counts; the mistakes of a
        batch step
    error : progressive error: mistakes by visits, before a visit could teach anything
    loss : mean perceptron loss (or what the rule has for it) of the visits, of all hyperplanes
    score : accuracy on the held-out shards, or None
    seconds : how long it took
    nbytes : weights that went to shards and came back
    """

    number: int
    mistakes: int
    updates: int
    weighted_mistakes: float
    error: float
    loss: float
    score: float | None
    seconds: float
    nbytes: int


@dataclass(frozen=True)
class Plan:
    """What is asked of a run besides the options of one machine."""

    options: TrainingSettings
    mixing: Mixing
    class_weight: Array | None
    seed: int

    @property
    def batch(self) -> bool:
        return self.options.mode != "online"


class Rounds:
    """A run. `planes` and `history` are all it remembers from round to round.

    Parameters
    ----------
    shards, held : to learn from, and to score on (or None)
    plan : what is asked
    starts : (w, b) of each hyperplane before the first round
    """

    def __init__(
        self, shards: Shards, held: Shards | None, plan: Plan, starts: list[tuple[Array, Array]]
    ) -> None:
        self.shards, self.held, self.plan = shards, held, plan
        sizes = shards.each(size_of, plan.options, plan.class_weight, len(starts))
        size = np.sum(sizes, axis=0)
        self.planes = [
            Plane.begin(w, b, plan.options, float(size[k])) for k, (w, b) in enumerate(starts)
        ]
        self.history: list[Round] = []
        self.best_score, self.stalled, self.kept_round = -np.inf, 0, 0
        self.best: tuple[Array, Array] | None = None
        self.ended: StopReason | None = None

    def run(self, after: Callable[[Rounds], None] = lambda _: None) -> StopReason:
        """Until there is a reason to stop; `after` is called after every round."""
        while self.reason is None:
            self.one()
            after(self)
        assert self.reason is not None
        return self.reason

    @property
    def reason(self) -> StopReason | None:
        """Why it stopped, or None."""
        if self.ended is not None:
            return self.ended
        reasons = [plane.reason for plane in self.planes]
        if None not in reasons:
            return next(r for r in LEAST_SETTLED if r in reasons)
        return StopReason.MAX_ITER if len(self.history) >= self.plan.options.max_iter else None

    def one(self) -> None:
        """One round."""
        began, plan, number = time.perf_counter(), self.plan, len(self.history) + 1
        active = [plane for plane in self.planes if plane.reason is None]
        job = Job(
            tuple(p.common if p.reason is None else None for p in self.planes),
            plan.options, plan.class_weight, plan.mixing, plan.seed, number,
        )  # fmt: skip
        work: tuple[Any, Any] = (one_sum, all_sums) if plan.batch else (one_pass, all_terms)
        totals = self.shards.reduce(*work, job)
        mistakes, updates, loss, weighted = 0, 0, 0.0, 0.0
        for plane, total in zip(self.planes, totals, strict=True):
            if plane.reason is not None:
                continue
            before = plane.updates
            if plan.batch:
                weighted += plane.step(total, number, plan.options)
            else:
                weighted += plane.mix(total, len(self.shards), plan.options)
            mistakes += total.mistakes
            updates += plane.updates - before
            loss += total.loss / plane.size
        score = None if self.held is None else self._score()
        back = sum(getattr(v, "nbytes", 0) for total in totals if total for v in total)
        error = mistakes / (len(active) * self.shards.n_rows)
        seconds, sent = time.perf_counter() - began, len(self.shards) * (job.nbytes + back)
        self.history.append(
            Round(
                number, mistakes, updates, weighted, error, loss / len(active), score, seconds, sent
            )
        )

    def kept(self) -> tuple[Array, Array]:
        """The weights that are given back: W with a row for each hyperplane, and b."""
        return self.best if self.best is not None else self._now()

    def _now(self) -> tuple[Array, Array]:
        kept = [plane.kept(self.plan.options) for plane in self.planes]
        return np.concatenate([np.atleast_2d(w) for w, _ in kept]), np.concatenate(
            [b for _, b in kept]
        )

    def _score(self) -> float:
        """Accuracy on the held-out shards; the best weights are kept, as on one machine."""
        assert self.held is not None
        coef, intercept = self._now()
        right, whole = np.sum(self.held.each(scored, coef, intercept), axis=0)
        score, stop = float(right / whole), self.plan.options
        gained = stop.tol is None or score >= self.best_score + stop.tol
        self.stalled = 0 if gained else self.stalled + 1
        if score > self.best_score:
            self.best_score, self.kept_round = score, len(self.history) + 1
            self.best = (coef.copy(), intercept.copy())
        if self.stalled >= stop.patience:
            self.ended = StopReason.NO_IMPROVEMENT
        return score

    # ------------------------------------------------------------------ checkpoints

    def packed(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """As JSON and arrays."""
        facts: dict[str, Any] = {
            "history": [asdict(one) for one in self.history],
            "best_score": None if np.isinf(self.best_score) else self.best_score,
            "stalled": self.stalled, "kept_round": self.kept_round,
            "ended": self.ended and str(self.ended), "planes": [],
        }  # fmt: skip
        arrays: dict[str, Array] = {}
        for k, plane in enumerate(self.planes):
            numbers, own = plane.packed()
            facts["planes"].append(numbers)
            arrays |= {f"{name}-{k}": values for name, values in own.items() if values.size}
        if self.best is not None:
            arrays |= {"best_coef": self.best[0], "best_intercept": self.best[1]}
        return facts, arrays

    def restore(self, facts: dict[str, Any], arrays: dict[str, Array]) -> None:
        """Back to where a run like this stood; `Damaged` if it is not one."""
        try:
            if len(facts["planes"]) != len(self.planes):
                raise Damaged(f"it has {len(facts['planes'])} hyperplanes")
            for k, (plane, numbers) in enumerate(zip(self.planes, facts["planes"], strict=True)):
                own = {n.rpartition("-")[0]: v for n, v in arrays.items() if n.endswith(f"-{k}")}
                plane.restore(numbers, own)
            self.history = [Round(**one) for one in facts["history"]]
            best = facts["best_score"]
            self.best_score = -np.inf if best is None else best
            self.stalled, self.kept_round = facts["stalled"], facts["kept_round"]
            self.ended = facts["ended"] and StopReason(facts["ended"])
            if "best_coef" in arrays:
                self.best = np.array(arrays["best_coef"]), np.array(arrays["best_intercept"])
        except (KeyError, TypeError, ValueError) as e:
            raise Damaged(f"its description does not hold together: {e!r}") from e
