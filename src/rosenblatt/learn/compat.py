"""Compatibility: the engine as the lab calls it, until the lab becomes a static page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.problem import Problem
from rosenblatt.learn import in_memory
from rosenblatt.learn.settings import Keep, TrainingSettings
from rosenblatt.learn.state import State as Hyperplanes
from rosenblatt.learn.state import Votes
from rosenblatt.learn.trace import Trace

Array = npt.NDArray[Any]
Update = TrainingSettings


class Stop(NamedTuple):
    """When to stop."""

    max_iter: int = 1000
    max_updates: int | None = None
    clean: bool = True
    cycle: bool = True


class Schedule(NamedTuple):
    """The order of visits and its seed."""

    kind: Any = "order"
    seed: int = 0


class Options(NamedTuple):
    """Validated settings, as the lab has them."""

    update: TrainingSettings
    keep: Keep

    @classmethod
    def of(cls, params: Mapping[str, Any], owner: str) -> Options:
        """Check parameters of an estimator."""
        settings = TrainingSettings.from_params(params, owner)
        return cls(settings, settings.keep)

    def schedule(self, seed: int) -> Schedule:
        """The order of visits from one seed."""
        return Schedule(self.update.order, seed)


@dataclass
class State:
    """One hyperplane: w, b, the lazy sums of its average, its counts, votes and variances."""

    w: Array
    b: Array
    u: Array = field(default_factory=lambda: np.empty(0))
    ub: Array = field(default_factory=lambda: np.empty(0))
    visits: float = 0.0
    updates: int = 0
    votes: Votes | None = None
    spread: Array = field(default_factory=lambda: np.empty(0))

    @classmethod
    def at(cls, w: Array, b: Array, dtype: Any) -> State:
        """Before the first visit."""
        return cls(np.array(w, dtype=dtype), np.array(b, dtype=dtype))


def train(
    problem: Problem, update: TrainingSettings, schedule: Schedule, keep: Keep, stop: Stop,
    state: State, *, record: bool = False,
) -> tuple[Trace, Array, Array]:  # fmt: skip
    """Train `state` in place: two classes in memory."""
    settings = replace(
        update, order=schedule.kind, keep=keep, tol=None, record=record, **stop._asdict()
    )
    planes = Hyperplanes.at(state.w, state.b)
    planes.visits[0], planes.updates[0], planes.votes[0] = state.visits, state.updates, state.votes
    if state.u.size:
        planes.u, planes.ub = state.u[None].copy(), state.ub.copy()
    if state.spread.size:
        planes.variance = state.spread[None].copy()
    trace, w, b = in_memory.train(problem, settings, state=planes, seed=schedule.seed)
    state.w, state.b = planes.w[0], planes.b
    state.visits, state.updates = float(planes.visits[0]), int(planes.updates[0])
    state.votes = planes.votes[0]
    if planes.u is not None and planes.ub is not None:
        state.u, state.ub = planes.u[0], planes.ub
    if planes.variance is not None:
        state.spread = planes.variance[0]
    return trace, w, b
