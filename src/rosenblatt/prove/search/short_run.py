"""Short run: a few passes of the perceptron. They separate, or show which rows are hard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.data.chunks import InMemory, Part
from rosenblatt.data.problem import Problem
from rosenblatt.errors import OverflowedError
from rosenblatt.learn.in_memory import train
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.state import State
from rosenblatt.prove.search.cone import Array, Cone
from rosenblatt.prove.search.limits import Limits

PASSES = 10  # more where programs have many columns
CHUNK_PASSES = 4  # where every pass is a reading of the chunks
APART_PASSES = 3  # over a part that runs by itself, before its weights are averaged with others
FEW_UPDATES = 200_000


@dataclass(frozen=True, eq=False)
class ShortRun:
    """The last weights if a pass was clean, else the average; offset last."""

    clean: bool
    w: Array


def short_run(cone: Cone, limits: Limits) -> ShortRun:
    """Pass after pass until one is clean, or there were enough."""
    rows, clean, left = cone.rows, False, _passes(cone)
    if rows.apart:
        return _mixed_run(cone, limits)
    kind = rows.problem.X.dtype if isinstance(rows, InMemory) else np.dtype(np.float64)
    state = State.at(np.zeros(rows.n_features), np.zeros(1), kind)
    try:
        while left > 0 and not clean and state.updates[0] <= max(FEW_UPDATES, 20 * rows.n_rows):
            limits.check_time()
            if isinstance(rows, InMemory):  # some passes in one call
                left -= PASSES
                clean = _passed(rows.problem.X, rows.problem.y, cone, state, PASSES)
            else:
                left -= 1
                clean = all(list(rows.each(_part_passed, cone, state)))
        W, b = state.kept("last" if clean else "average")
    except OverflowedError:  # the programs work on scaled columns
        return ShortRun(False, np.zeros(cone.n_columns))
    return ShortRun(clean, (np.append(W[0], b) if cone.intercept else W[0]).astype(np.float64))


def _mixed_run(cone: Cone, limits: Limits) -> ShortRun:
    """Every part runs from common weights, and these are averaged [McDonald, Hall, Mann 2010].

    A round in which no part moves them is clean.
    """
    w = np.zeros(cone.rows.n_features + 1)
    for _ in range(CHUNK_PASSES):
        limits.check_time()
        found = list(cone.rows.each(_run_apart, w, cone.intercept, cone.rows.classes))
        if any(one is None for one in found):  # overflowed
            return ShortRun(False, np.zeros(cone.n_columns))
        moved, last, average = zip(*found, strict=True)
        if not any(moved):
            return ShortRun(True, w[: cone.n_columns])
        w = np.mean(last, axis=0)
    return ShortRun(False, np.mean(average, axis=0)[: cone.n_columns])


def _run_apart(
    part: Part, w: Array, intercept: bool, classes: Array
) -> tuple[bool, Array, Array] | None:
    """Whether a part moves the weights, offset last; its last ones, and their average."""
    d = part.X.shape[1]
    state = State.at(w[:d], w[d:])
    problem = Problem(part.X.astype(np.float64, copy=False), part.y.astype(np.int8), classes)
    settings = _settings(intercept, APART_PASSES)
    try:
        _, mean, b = train(problem, settings, state=state)
    except OverflowedError:
        return None
    return bool(state.updates[0] > 0), np.append(state.w[0], state.b), np.append(mean, b)


def _part_passed(part: Part, cone: Cone, state: State) -> bool:
    """Whether a pass over a part, on this machine, was clean."""
    return _passed(part.X, part.y, cone, state, 1)


def _passed(X: Any, y: Any, cone: Cone, state: State, passes: int) -> bool:
    """Whether the last of at most so many passes was clean."""
    X = X if X.dtype == state.dtype else X.astype(state.dtype)
    problem = Problem(X, y.astype(np.int8), cone.rows.classes)
    trace, *_ = train(problem, _settings(cone.intercept, passes), state=state)
    return bool(trace.updates[-1] == 0)


def _settings(fit_intercept: bool, epochs: int) -> TrainingSettings:
    return TrainingSettings(
        fit_intercept=fit_intercept, keep="average", max_iter=epochs, cycle=False
    )


def _passes(cone: Cone) -> int:
    if not isinstance(cone.rows, InMemory):
        return CHUNK_PASSES
    return min(max(PASSES, cone.n_columns // 20), 1000)
