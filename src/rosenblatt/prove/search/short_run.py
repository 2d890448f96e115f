"""Short run: a few passes of the perceptron. They separate, or show which rows are hard."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rosenblatt.data.chunks import Chunked, Part
from rosenblatt.data.problem import Problem
from rosenblatt.errors import OverflowedError
from rosenblatt.learn.keep import State
from rosenblatt.learn.rules import Update
from rosenblatt.learn.schedule import Schedule
from rosenblatt.learn.training import Stop, train
from rosenblatt.prove.search.cone import Array, Cone
from rosenblatt.prove.search.limits import Limits

PASSES = 10  # more where programs have many columns
CHUNK_PASSES = 4  # where every pass is a reading of the chunks
FEW_UPDATES = 200_000


@dataclass(frozen=True, eq=False)
class ShortRun:
    """The last weights if a pass was clean, else the average; offset last."""

    clean: bool
    w: Array


def short_run(cone: Cone, limits: Limits) -> ShortRun:
    """Pass after pass until one is clean, or there were enough."""
    state: State | None = None
    clean = False
    try:
        for _ in range(_passes(cone)):
            limits.check_time()
            moved = 0
            for part in cone.rows.parts():
                state = state or State.at(np.zeros(cone.rows.n_features), np.zeros(1), part.X.dtype)
                moved += _moved(part, cone, state)
            clean = moved == 0
            assert state is not None
            if clean or state.updates > max(FEW_UPDATES, 20 * cone.rows.n_rows):
                break
        assert state is not None
        w, b = (state.w, state.b) if clean else state.average()
    except OverflowedError:  # the programs work on scaled columns
        return ShortRun(False, np.zeros(cone.n_columns))
    return ShortRun(clean, (np.append(w, b) if cone.intercept else w).astype(np.float64))


def _moved(part: Part, cone: Cone, state: State) -> int:
    """Updates of one pass over a part."""
    X = part.X if part.X.dtype == state.w.dtype else part.X.astype(state.w.dtype)
    problem = Problem(X, part.y.astype(np.int8), cone.rows.classes)
    update, stop = Update(fit_intercept=cone.intercept), Stop(max_iter=1, cycle=False)
    trace, *_ = train(problem, update, Schedule(), "average", stop, state)
    return int(trace.updates.sum())


def _passes(cone: Cone) -> int:
    if isinstance(cone.rows, Chunked):
        return CHUNK_PASSES
    return min(max(PASSES, cone.n_columns // 20), 1000)
