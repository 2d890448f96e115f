"""Plane: where one hyperplane stands between two rounds, and whether it is done.

The tests for the end are those of one machine (core/stop.hpp), with a round for a pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.cluster.batch_sum import BatchSum
from rosenblatt.cluster.mixing import NOTHING, Term, mixed, weighted_mistakes
from rosenblatt.cluster.shard_work import Common
from rosenblatt.errors import OverflowedError
from rosenblatt.io.safetensors_file import Damaged
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.state import first_variances
from rosenblatt.learn.trace import StopReason

Array = npt.NDArray[Any]
ARRAYS = ("w", "b", "spread", "u", "ub", "saved_w", "saved_b")
NUMBERS = (
    "size", "visits", "updates", "mistakes", "weighted", "best", "stalled", "power", "length",
)  # fmt: skip


@dataclass
class Plane:
    """One hyperplane, or the direct rule's rows of weights.

    u, ub : for the average; mixing, the sums of the weights after every visit; in batch steps, the
        lazy sums of :class:`~rosenblatt.learn.state.State`
    size : what a mean loss divides by
    weighted : sum over the rounds of the weighted mistakes, see mixing.py
    best, stalled : for the test of tol
    saved_w, saved_b, power, length : for Brent's test whether weights come back; empty if they
        cannot be told to
    """

    w: Array
    b: Array
    spread: Array = field(default_factory=lambda: NOTHING)
    u: Array = field(default_factory=lambda: NOTHING)
    ub: Array = field(default_factory=lambda: NOTHING)
    saved_w: Array = field(default_factory=lambda: NOTHING)
    saved_b: Array = field(default_factory=lambda: NOTHING)
    size: float = 0.0
    visits: float = 0.0
    updates: int = 0
    mistakes: int = 0
    weighted: float = 0.0
    best: float = np.inf
    stalled: int = 0
    power: int = 1
    length: int = 0
    reason: StopReason | None = None

    @classmethod
    def begin(cls, w: Array, b: Array, options: TrainingSettings, size: float) -> Plane:
        """Before the first round."""
        plane, rule = cls(w, b, size=size), options.rule
        if rule.has_variance and not rule.adds_rows:
            first = first_variances(rule, len(b), w.shape[-1], options.fit_intercept)
            width = w.shape[-1] + 1
            shape = (width, width) if rule.full_covariance else (width,)
            plane.spread = first.reshape(*w.shape[:-1], *shape)
        if options.keep == "average":
            plane.u, plane.ub = np.zeros(w.shape), np.zeros(b.shape)
        fixed = options.mode != "online" or options.order == "order"
        if fixed and options.weights_can_return and options.constant_eta:
            plane.saved_w, plane.saved_b = w.copy(), b.copy()
        return plane

    @property
    def common(self) -> Common:
        return Common(self.w, self.b, self.spread)

    def mix(self, total: Term, shards: int, options: TrainingSettings) -> float:
        """Take the mixture of a round; its weighted mistakes."""
        self.w, self.b, self.spread = mixed(total, self.w, self.b, self.spread, shards)
        if self.u.size:
            self.u, self.ub = self.u + total.sum_w, self.ub + total.sum_b
        self.visits += total.visits
        self._count(total.updates, total.mistakes)
        weighted = weighted_mistakes(total)
        self.weighted += weighted
        self._judge(total.updates, total.loss, options)
        return weighted

    def step(self, total: BatchSum, number: int, options: TrainingSettings) -> float:
        """Take the batch step number `number`, from 1; its mistakes.

        w + eta g, or w + eta g / total for the mean; to the bit what core/visit.cpp does.
        """
        update = options
        if total.total > 0.0:
            eta = float(update.etas(number, 1)[0])
            share = total.total if update.mode == "batch-mean" else 1.0
            move, offset = eta * total.g / share, eta * total.gb / share
            self.w = (self.w.astype(np.float64) + move).astype(self.w.dtype)
            if self.u.size:
                self.u = self.u + self.visits * move
            if update.fit_intercept:
                self.b = (self.b.astype(np.float64) + offset).astype(self.b.dtype)
                if self.u.size:
                    self.ub = self.ub + self.visits * offset
        self.visits += 1.0
        moved = int(total.total > 0.0)
        self._count(moved, total.mistakes)
        self.weighted += total.mistakes
        self._judge(moved, total.loss, options)
        return float(total.mistakes)

    def kept(self, options: TrainingSettings) -> tuple[Array, Array]:
        """The weights that are given back."""
        if options.keep != "average" or self.visits == 0:
            return self.w, self.b
        if options.mode != "online":
            w = (self.visits * self.w.astype(np.float64) - self.u) / self.visits
            b = (self.visits * self.b.astype(np.float64) - self.ub) / self.visits
            return w.astype(self.w.dtype), b.astype(self.b.dtype)
        w, b = self.u / self.visits, self.ub / self.visits
        return w.astype(self.w.dtype), b.astype(self.b.dtype)

    def _count(self, updates: int, mistakes: int) -> None:
        if not (np.isfinite(self.w).all() and np.isfinite(self.b).all()):
            raise OverflowedError(
                "Floating-point under-/overflow occurred: a weight left the range of "
                f"{self.w.dtype}. Scale the data (sklearn.preprocessing.StandardScaler) or lower "
                "eta0."
            )
        self.updates += updates
        self.mistakes += mistakes

    def _judge(self, updates: int, loss: float, options: TrainingSettings) -> None:
        batch = options.mode != "online"
        if updates == 0:
            self.reason = StopReason.SEPARATED
            return
        if self._came_back():
            self.reason = StopReason.CYCLE
            return
        if (batch and loss == 0.0) or options.tol is None:
            return
        objective = loss / self.size
        self.stalled = self.stalled + 1 if objective > self.best - options.tol else 0
        self.best = min(self.best, objective)
        if self.stalled >= options.patience:
            self.reason = StopReason.NO_IMPROVEMENT

    def _came_back(self) -> bool:
        if not self.saved_w.size:
            return False
        self.length += 1
        if np.array_equal(self.w, self.saved_w) and np.array_equal(self.b, self.saved_b):
            return True
        if self.length == self.power:
            self.saved_w, self.saved_b = self.w.copy(), self.b.copy()
            self.power, self.length = 2 * self.power, 0
        return False

    # ------------------------------------------------------------------ checkpoints

    def packed(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """As JSON and arrays."""
        facts = {name: getattr(self, name) for name in NUMBERS}
        facts["best"] = None if np.isinf(self.best) else self.best
        facts["reason"] = self.reason and str(self.reason)
        return facts, {name: getattr(self, name) for name in ARRAYS}

    def restore(self, facts: dict[str, Any], arrays: dict[str, Array]) -> None:
        """Back to where it stood; `Damaged` if that is not a place for a plane like this."""
        try:
            for name in ARRAYS:
                held, own = arrays.get(name, NOTHING), getattr(self, name)
                if own.size or held.size:
                    if (held.shape, held.dtype) != (own.shape, own.dtype):
                        raise Damaged(f"{name} is not {own.dtype} of shape {own.shape}")
                    setattr(self, name, np.array(held))
            for name in NUMBERS:
                setattr(self, name, facts[name])
            self.best = np.inf if facts["best"] is None else facts["best"]
            self.reason = facts["reason"] and StopReason(facts["reason"])
        except (KeyError, TypeError, ValueError) as e:
            raise Damaged(f"its description does not hold together: {e!r}") from e
