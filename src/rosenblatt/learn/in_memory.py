"""Training on rows in memory: the machine and the source of a problem, and `train`."""

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
    machine, source = machine_for(problem, settings, state, seed, held_out)
    held = None
    if held_out is not None:
        whole = Block(problem.X, problem.class_numbers().astype(np.int32), problem.sample_weight)
        held = HeldOut.of(whole, held_out)
    run(source, [machine], max_iter=settings.max_iter, held_out=held, observers=observers)
    machine.finish()
    return machine.trace(problem, held_out), *machine.result()


def machine_for(
    problem: Problem,
    settings: TrainingSettings,
    state: State,
    seed: int = 0,
    held_out: npt.NDArray[np.bool_] | None = None,
    plane: int | None = 0,
    positive: int = 1,
    class_weight: Array | None = None,
) -> tuple[Machine, ArraySource]:
    """The machine and the source of a run on rows in memory."""
    direct = settings.direct and len(problem.classes) > 2
    y, weight = problem.class_numbers(), problem.sample_weight
    visited = np.ones(problem.n_rows, dtype=bool) if held_out is None else ~held_out
    table = class_weight_table(class_weight, positive, len(problem.classes), direct)
    settings.check_weights(weight)
    if class_weight is not None:
        settings.check_weights(np.array(table))
    size = float(np.count_nonzero(visited))
    if settings.weighting == "repeat" and (weight is not None or table):
        each = np.ones(problem.n_rows) if weight is None else weight
        each = each * np.array(table)[y] if table else each
        size = float(each[visited].sum())
    machine = Machine(
        settings, state, None if direct else plane, positive, seed=seed,
        n_rows=int(np.count_nonzero(visited)), size=size, class_weight=table,
        by_score=held_out is not None, n_classes=len(problem.classes),
    )  # fmt: skip
    codes = np.where(visited, y, -1)
    return machine, ArraySource(problem.X, codes, problem.classes.tolist(), weight)


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
