"""Engine: visit blocks of rows until there is a reason to stop. The only training driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt.data.block import START, Block, Position, core_rows
from rosenblatt.data.source import ArraySource, Source
from rosenblatt.errors import ParameterError
from rosenblatt.learn.machine import Machine
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.state import State
from rosenblatt.learn.trace import StopReason, Trace

if TYPE_CHECKING:  # scipy.sparse: not for files and streams
    from rosenblatt.data.problem import Problem

Array = npt.NDArray[Any]


class Trainable(Protocol):
    """What the engine trains: a Machine, a kernel machine, a round on a cluster."""

    reason: StopReason | None

    @property
    def n_epochs(self) -> int: ...

    def visit(self, block: Block, seen: Array | None = None, resident: bool = False) -> None: ...

    def end_epoch(self, score: Callable[[Any], float] | None = None) -> None: ...

    def epochs(self, block: Block, n: int) -> None: ...


class Progress(NamedTuple):
    """Where a run is: the epoch, the position within it, and the machines."""

    epoch: int
    position: Position
    machines: Sequence[Any]


class Observer(Protocol):
    """What follows a run: callbacks, verbose output, progress bars, checkpoints."""

    def begin_epoch(self, epoch: int) -> None: ...

    def after_block(self, progress: Progress) -> None: ...

    def end_epoch(self, progress: Progress) -> bool:
        """True asks to stop."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows kept aside, and the accuracy of a machine on them."""

    X: Any
    y: npt.NDArray[np.int32]
    weight: Array | None
    mask: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, block: Block, mask: npt.NDArray[np.bool_]) -> HeldOut:
        """The rows of a block in `mask`."""
        weight = block.sample_weight
        return cls(block.X[mask], block.y[mask], None if weight is None else weight[mask], mask)

    def score(self, machine: Machine) -> float:
        """Accuracy of the weights that `keep` keeps; each row counts its weight."""
        w, b = machine.kept()
        W, b = np.atleast_2d(w).astype(np.float64), b.astype(np.float64)
        scores = _core.scores(core_rows(self.X), W, b)
        y = self.y if machine.plane is None else self.y == machine.positive
        right = _core.decide(scores) == y
        return float(np.average(right, weights=self.weight))


def run(
    source: Source,
    machines: Sequence[Trainable],
    *,
    max_iter: int,
    held_out: HeldOut | None = None,
    observers: Sequence[Observer] = (),
    resume: tuple[int, Position] = (0, START),
    seen: Callable[[Block, Array], None] | None = None,
) -> None:
    """Visit the blocks of a source epoch by epoch until every machine has a reason to stop.

    Parameters
    ----------
    source : Source
    machines : sequence of Trainable
        Trained side by side, each on every block.
    max_iter : int
        Most epochs.
    held_out : HeldOut or None
        Rows for early stopping.
    observers : sequence of Observer
    resume : (int, Position)
        Epochs that are done, and the position within the next one.
    seen : function or None
        Called after each block of the first epoch with the scores (machines, rows) that its rows
        had before they were visited.
    """
    epoch, position = resume
    score = None if held_out is None else held_out.score
    while epoch < max_iter and (active := [m for m in machines if m.reason is None]):
        if source.resident and score is None and not observers and seen is None:
            (block,) = source.blocks()
            for machine in active:
                machine.epochs(block, max_iter)
            break
        for observer in observers:
            observer.begin_epoch(epoch + 1)
        for block in source.blocks(epoch + 1, position):
            scores = None
            if seen is not None and epoch == 0:
                scores = np.empty((len(active), block.n_rows, 1))
            for k, machine in enumerate(active):
                machine.visit(block, None if scores is None else scores[k], source.resident)
            position = block.end
            if scores is not None and seen is not None:
                seen(block, scores[..., 0])
            for observer in observers:
                observer.after_block(Progress(epoch, position, machines))
        for machine in active:
            machine.end_epoch(score)
        epoch, position = epoch + 1, START
        asked = [observer.end_epoch(Progress(epoch, position, machines)) for observer in observers]
        if any(asked):
            stop(machines, StopReason.CALLBACK)
    stop(machines, StopReason.MAX_ITER)


def stop(machines: Sequence[Trainable], reason: StopReason) -> None:
    """Give a reason to the machines that have none."""
    for machine in machines:
        machine.reason = machine.reason or reason


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

    `state` is changed in place and can be trained further. Returns the trace and the weights that
    `keep` keeps.

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
    trace = machine.trace(problem, held_out)
    return trace, *machine.result()


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
    repeat = settings.weighting == "repeat" and (weight is not None or bool(table))
    size = float(np.count_nonzero(visited))
    if repeat:
        each = np.ones(problem.n_rows) if weight is None else weight
        each = each * np.array(table)[y] if table else each
        size = float(each[visited].sum())
    machine = Machine(
        settings, state, None if direct else plane, positive, seed=seed,
        n_rows=int(np.count_nonzero(visited)), size=size, class_weight=table, repeat=repeat,
        by_score=held_out is not None, n_classes=len(problem.classes),
    )  # fmt: skip
    codes = np.where(visited, y, -1)
    return machine, ArraySource(problem.X, codes, problem.classes.tolist(), weight)


def class_weight_table(
    class_weight: Array | None, positive: int, n_classes: int, direct: bool
) -> list[float]:
    """The weight of each class as one machine takes it; one against the rest, the rest weighs 1."""
    if class_weight is None:
        return []
    table: list[float] = class_weight.tolist()
    if n_classes > 2 and not direct:
        table = [v if k == positive else 1.0 for k, v in enumerate(table)]
    return table
