"""A few epochs of the perceptron: they separate, or show which rows are hard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.cone import Cone, ConeBlock
from rosenblatt.data.problem import Problem
from rosenblatt.errors import OverflowedError
from rosenblatt.learn.in_memory import train
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.state import State
from rosenblatt.prove.limits import Limits

Array = npt.NDArray[Any]
EPOCHS = 10  # more where programs have many columns
READINGS = 2  # where every epoch is a reading of the data
REMOTE_EPOCHS = 3  # over a block that runs by itself, before its weights are averaged with others
FEW_UPDATES = 200_000


@dataclass(frozen=True, eq=False)
class PerceptronStart:
    """The last weights if an epoch had no mistake, else the average; the offset last."""

    separates: bool
    w: Array


def perceptron_start(cone: Cone, limits: Limits) -> PerceptronStart:
    """Epoch after epoch until one has no mistake, or there were enough."""
    if cone.remote:
        return _mixed(cone, limits)
    most = READINGS
    block = cone.whole() if cone.resident and cone.selected is None else None
    if block is not None:
        most = min(max(EPOCHS, cone.n_columns // 20), 1000)
    dtype = np.dtype(np.float64) if block is None else block.X.dtype
    state = State.at(np.zeros(cone.n_features), np.zeros(1), dtype)
    epochs, clean = 0, False
    try:
        while (
            epochs < most and not clean and state.updates[0] <= max(FEW_UPDATES, 20 * cone.n_rows)
        ):
            limits.check_time()
            if block is None:
                clean, epochs = all(cone.map(_visited, cone.constant, state)), epochs + 1
            else:
                clean, epochs = _visited(block, cone.constant, state, EPOCHS), epochs + EPOCHS
        W, b = state.kept("last" if clean else "average")
    except OverflowedError:  # the programs work on scaled columns
        return PerceptronStart(False, np.zeros(cone.n_columns))
    w = np.append(W[0], b) if cone.constant else W[0]
    return PerceptronStart(clean, w.astype(np.float64))


def _mixed(cone: Cone, limits: Limits) -> PerceptronStart:
    """Every block runs from common weights, and these are averaged [McDonald, Hall, Mann 2010].

    A round in which no block moves them is clean.
    """
    w = np.zeros(cone.n_features + 1)
    for _ in range(2 * READINGS):
        limits.check_time()
        found = cone.map(_run_apart, w, cone.constant)
        if any(one is None for one in found):  # overflowed
            return PerceptronStart(False, np.zeros(cone.n_columns))
        moved, last, average = zip(*found, strict=True)
        if not any(moved):
            return PerceptronStart(True, w[: cone.n_columns])
        w = np.mean(last, axis=0)
    return PerceptronStart(False, np.mean(average, axis=0)[: cone.n_columns])


def _run_apart(block: ConeBlock, w: Array, constant: bool) -> tuple[bool, Array, Array] | None:
    """Whether a block moves the weights, offset last; its last ones, and their average."""
    d = block.X.shape[1]
    state = State.at(w[:d], w[d:])
    try:
        _, mean, b = train(_problem(block), _settings(constant, REMOTE_EPOCHS), state=state)
    except OverflowedError:
        return None
    return bool(state.updates[0] > 0), np.append(state.w[0], state.b), np.append(mean, b)


def _visited(block: ConeBlock, constant: bool, state: State, epochs: int = 1) -> bool:
    """Whether the last epoch, of at most `epochs`, had no mistake; changes the state in place."""
    problem = _problem(block, state.dtype)
    trace, *_ = train(problem, _settings(constant, epochs), state=state)
    return bool(trace.updates[-1] == 0)


def _problem(block: ConeBlock, dtype: Any = np.float64) -> Problem:
    X = block.X.astype(dtype, copy=False)
    return Problem(X, block.sign.astype(np.int8, copy=False), np.array([-1, 1]))


def _settings(fit_intercept: bool, epochs: int) -> TrainingSettings:
    return TrainingSettings(
        fit_intercept=fit_intercept, keep="average", max_iter=epochs, cycle=False
    )
