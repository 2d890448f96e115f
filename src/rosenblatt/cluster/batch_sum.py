"""Batch sum: what one step of the batch rule adds up, without taking it.

    M = {i : y_i (w.x_i + b) <= 0};   g = sum_M y_i x_i,   gb = sum_M y_i,   total = sum_M 1

(with the weights of rows, ties and margins that the rule has). Sums over parts of the rows add up
to the sum over all, which is how a batch step is shared.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt.data.block import core_rows
from rosenblatt.data.problem import Problem
from rosenblatt.errors import OverflowedError
from rosenblatt.learn.settings import TrainingSettings

Array = npt.NDArray[Any]


class BatchSum(NamedTuple):
    """One batch step over some rows, in float64."""

    g: Array
    gb: Array
    total: float
    mistakes: int
    loss: float


def batch_sum(problem: Problem, settings: TrainingSettings, w: Array, b: Array) -> BatchSum:
    """The sums of one step from w and b, which stay as they are.

    Examples
    --------
    >>> problem = Problem.of([[2.0], [1.0], [3.0]], [0, 1, 1])
    >>> made = batch_sum(problem, TrainingSettings(mode="batch"), np.zeros(1), np.zeros(1))
    >>> made.g, made.gb, made.total
    (array([2.]), array([1.]), 3.0)
    """
    rule = replace(settings, mode="batch", eta0=1.0).core_rule()
    w, b = w.astype(np.float64), b.astype(np.float64)
    machine = _core.Machine(rule, w[None], b, round32=problem.X.dtype == np.float32)
    y = (problem.y > 0).astype(np.int32)
    block = _core.Block(core_rows(problem.X), y, problem.sample_weight)
    if machine.visit(block) is _core.Code.OVERFLOW:
        raise OverflowedError(
            f"Floating-point under-/overflow occurred: a score or a weight left the range of "
            f"{problem.X.dtype}. Scale the data (sklearn.preprocessing.StandardScaler) or lower "
            "eta0."
        )
    made = machine.get_state()
    gb = np.array([made["sum_b"] if settings.fit_intercept else 0.0])
    return BatchSum(made["sum"], gb, made["total"], made["epoch_mistakes"], made["epoch_loss"])


def added(sums: list[BatchSum]) -> BatchSum:
    """Their sum, from the first to the last."""
    columns: Any = zip(*sums, strict=True)
    return BatchSum(*(reduce(add, column) for column in columns))
