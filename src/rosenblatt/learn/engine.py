"""Engine: the only training driver. It visits blocks of rows until every machine has stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt.data.block import START, Block, Position, core_rows
from rosenblatt.data.source import Source
from rosenblatt.learn.machine import Machine
from rosenblatt.learn.trace import StopReason

Array = npt.NDArray[Any]


class Trainable(Protocol):
    """What the engine trains: a Machine, a MachineGroup, a KernelMachine or a ClusterMachine.

    Attributes
    ----------
    reason : StopReason or None
        Why training stopped; None while there is more to do.
    """

    reason: StopReason | None

    @property
    def n_epochs(self) -> int:
        """Finished epochs."""

    def visit(self, block: Block, seen: Array | None = None, resident: bool = False) -> None:
        """Visit the rows of a block; `resident` if it has all rows of every epoch."""

    def end_epoch(self, score: Callable[[Any], Any] | None = None) -> None:
        """Close the epoch and make the stop tests, on `score` of held-out rows if it is given."""

    def epochs(self, block: Block, n: int) -> None:
        """Train on a resident block until there is a reason to stop or n epochs are finished."""


class Progress(NamedTuple):
    """Where a run is: finished epochs, the position within the next one, and the machines."""

    epoch: int
    position: Position
    machines: Sequence[Any]


class Observer(Protocol):
    """Called during a run: callbacks, verbose output, progress bars, checkpoints."""

    def begin_epoch(self, epoch: int) -> None:
        """Before an epoch, counted from 1."""

    def after_block(self, progress: Progress) -> None:
        """After each block."""

    def end_epoch(self, progress: Progress) -> bool:
        """After the stop tests of an epoch; True stops the run."""


class Scorer(Protocol):
    """Rows held out for early stopping."""

    def score(self, machine: Any) -> Any:
        """The accuracy of a machine, or of each of a list of machines for a group."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows held out for early stopping, and the accuracy of a machine on them."""

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
    held_out: Scorer | None = None,
    observers: Sequence[Observer] = (),
    resume: tuple[int, Position] = (0, START),
) -> None:
    """Visit the blocks of a source epoch by epoch until every machine has a reason to stop.

    Parameters
    ----------
    source : Source
    machines : sequence of Trainable
        Trained side by side, each on every block.
    max_iter : int
        Largest number of epochs, including those before `resume`.
    held_out : Scorer or None
        Rows for early stopping.
    observers : sequence of Observer
    resume : tuple of int and Position
        Finished epochs, and the position within the next one.
    """
    epoch, position = resume
    score = None if held_out is None else held_out.score
    while epoch < max_iter and (active := [m for m in machines if m.reason is None]):
        if source.resident and score is None and not observers:
            (block,) = source.blocks()
            for machine in active:
                machine.epochs(block, max_iter)
            break
        for observer in observers:
            observer.begin_epoch(epoch + 1)
        for block in source.blocks(epoch + 1, position):
            for machine in active:
                machine.visit(block, resident=source.resident)
            position = block.end
            for observer in observers:
                observer.after_block(Progress(epoch, position, machines))
        for machine in active:
            machine.end_epoch(score)
        epoch, position = epoch + 1, START
        progress = Progress(epoch, position, machines)
        asked = [observer.end_epoch(progress) for observer in observers]
        if any(asked):
            stop(machines, StopReason.CALLBACK)
    stop(machines, StopReason.MAX_ITER)


def stop(machines: Sequence[Trainable], reason: StopReason) -> None:
    """Give a reason to the machines that have none."""
    for machine in machines:
        machine.reason = machine.reason or reason
