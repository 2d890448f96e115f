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

from rosenblatt.data.problem import Problem
from rosenblatt.errors import OverflowedError
from rosenblatt.learn import kernels
from rosenblatt.learn.keep import State
from rosenblatt.learn.schedule import Schedule
from rosenblatt.learn.training import Stop, _Run
from rosenblatt.learn.update import Update

Array = npt.NDArray[Any]


class BatchSum(NamedTuple):
    """One batch step over some rows, in float64."""

    g: Array
    gb: Array
    total: float
    mistakes: int
    loss: float


def batch_sum(problem: Problem, update: Update, w: Array, b: Array) -> BatchSum:
    """The sums of one step from w and b, which stay as they are.

    The compiled batch pass is made on a copy, with a rate of 1 and as the second visit of an
    average: the lazy sum u of the average then is 1 * g.

    Examples
    --------
    >>> problem = Problem.of([[2.0], [1.0], [3.0]], [0, 1, 1])
    >>> made = batch_sum(problem, Update(mode="batch"), np.zeros(1), np.zeros(1))
    >>> made.g, made.gb, made.total
    (array([2.]), array([1.]), 3.0)
    """
    state = State(w.copy(), b.copy(), np.zeros(w.shape), np.zeros(b.shape), visits=1.0)
    sums = replace(update, mode="batch", eta0=1.0)
    stop = Stop(max_iter=1, clean=False, cycle=False)
    run = _Run(problem, sums, Schedule(), "average", stop, state, False, None)
    tape, tally = run._tape(1), np.zeros(problem.n_rows)
    arrays = run.run._replace(tape=tape, tally=tally)
    _, code = kernels.passes(arrays, run.prepared.rule(1, 1), 1)
    if code == kernels.OVERFLOW:
        raise OverflowedError(
            f"Floating-point under-/overflow occurred: a score or a weight left the range of "
            f"{w.dtype}. Scale the data (sklearn.preprocessing.StandardScaler) or lower eta0."
        )
    return BatchSum(
        state.u, state.ub, float(tally.sum()), int(tape.mistakes[0]), float(tape.loss[0])
    )


def added(sums: list[BatchSum]) -> BatchSum:
    """Their sum, from the first to the last."""
    columns: Any = zip(*sums, strict=True)
    return BatchSum(*(reduce(add, column) for column in columns))
