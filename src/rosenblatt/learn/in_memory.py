"""Training on rows in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.block import Block
from rosenblatt.data.source import ArraySource
from rosenblatt.errors import ParameterError
from rosenblatt.learn.engine import HeldOut, Observer, run
from rosenblatt.learn.machine import Machine
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.state import State
from rosenblatt.learn.trace import Trace

if TYPE_CHECKING:  # scipy.sparse: not for files and streams
    from rosenblatt.data.problem import Problem

Array = npt.NDArray[Any]


def train(
    problem: Problem,
    settings: TrainingSettings,
    *,
    state: State | None = None,
    seed: int = 0,
    held_out: npt.NDArray[np.bool_] | None = None,
    observers: Sequence[Observer] = (),
) -> tuple[Trace, Array, Array]:
    """Train one hyperplane on two classes in memory, or one per class with `settings.direct`.

    Parameters
    ----------
    problem : Problem
    settings : TrainingSettings
    state : State or None
        The start, changed in place; None for zero weights.
    seed : int
        Seed of the order of visits.
    held_out : bool array or None
        Rows for early stopping, which are not visited.
    observers : sequence of Observer

    Returns
    -------
    trace : Trace
    w, b : arrays
        The weights that `settings.keep` selects.

    Raises
    ------
    ParameterError
        If the state does not fit the problem.

    Examples
    --------
    >>> from rosenblatt.data.problem import Problem
    >>> problem = Problem.of([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> trace, w, b = train(problem, TrainingSettings())
    >>> w, b, trace.n_mistakes
    (array([3., 2.]), array([-4.]), 18)
    """
    n_classes, d = len(problem.classes), problem.n_features
    direct = settings.direct and n_classes > 2
    shape = (n_classes, d) if direct else (1, d)
    if state is None:
        state = State.at(np.zeros(shape), np.zeros(shape[0]), problem.X.dtype)
    if (state.n_planes, state.n_features) != shape or (n_classes > 2 and not direct):
        raise ParameterError(
            f"The state has {state.n_planes} hyperplanes for {state.n_features} features; "
            f"{n_classes} classes of {d} features need {shape[0]} (more than two classes: "
            "settings.direct). Use problem.versus_rest(k) for one class against the rest."
        )
    if state.dtype != problem.X.dtype:
        raise ParameterError(
            f"The state is for {state.dtype} rows, the rows are {problem.X.dtype}. Use one type."
        )
    held = None if held_out is None else held_rows(problem, held_out)
    machine = run_machine(problem, settings, state, seed=seed, held_out=held, observers=observers)
    return machine.trace(problem, held_out), *machine.result()


def held_rows(problem: Problem, mask: npt.NDArray[np.bool_]) -> HeldOut:
    """The rows in `mask`, for early stopping."""
    numbers = problem.class_numbers().astype(np.int32)
    return HeldOut.of(Block(problem.X, numbers, problem.sample_weight), mask)


def run_machine(
    problem: Problem,
    settings: TrainingSettings,
    state: State,
    plane: int = 0,
    positive: int = 1,
    *,
    seed: int = 0,
    class_weight: Array | None = None,
    held_out: HeldOut | None = None,
    observers: Sequence[Observer] = (),
    running: list[Machine] | None = None,
) -> Machine:
    """Train one hyperplane of a state, or all for the direct rule; returns the finished machine.

    It is added to `running` before the run, so that another thread can cancel it.
    """
    direct = settings.direct and len(problem.classes) > 2
    y, weight = problem.class_numbers(), problem.sample_weight
    visited = np.ones(problem.n_rows, dtype=bool) if held_out is None else ~held_out.mask
    table = class_weight_table(class_weight, positive, len(problem.classes), direct)
    settings.check_weights(weight)
    settings.check_weights(np.array(table))
    n_rows = int(np.count_nonzero(visited))
    size = float(n_rows)
    if settings.weighting == "repeat" and (weight is not None or table):
        each = np.ones(problem.n_rows) if weight is None else weight
        each = each * np.array(table)[y] if table else each
        size = float(each[visited].sum())
    machine = Machine(
        settings, state, None if direct else plane, positive, seed=seed, n_rows=n_rows, size=size,
        class_weight=table, by_score=held_out is not None, n_classes=len(problem.classes),
    )  # fmt: skip
    if running is not None:
        running.append(machine)
    codes = np.where(visited, y, -1)
    source = ArraySource(problem.X, codes, problem.classes.tolist(), weight)
    run(source, [machine], max_iter=settings.max_iter, held_out=held_out, observers=observers)
    machine.finish()
    return machine


def class_weight_table(
    class_weight: Array | None, positive: int, n_classes: int, direct: bool
) -> list[float]:
    """The weights of all classes for one machine; one against the rest, the rest weighs 1."""
    if class_weight is None:
        return []
    table: list[float] = class_weight.tolist()
    if n_classes > 2 and not direct:
        table = [v if k == positive else 1.0 for k, v in enumerate(table)]
    return table
