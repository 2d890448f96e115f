"""Train on the shards of a cluster: the engine, with checkpoints and times of epochs."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.cluster.machine import AllShards, ClusterMachine, HeldOutShards
from rosenblatt.cluster.source import DaskSource
from rosenblatt.data.block import START, Block, Csr
from rosenblatt.io.progress import Watcher
from rosenblatt.learn import engine
from rosenblatt.stream.checkpoint import CheckpointObserver
from rosenblatt.stream.train import EpochTimer

Array = npt.NDArray[Any]


def train(
    machine: ClusterMachine,
    *,
    held_out: DaskSource | None = None,
    asked: Mapping[str, Any] | None = None,
    checkpoint: str | Path | None = None,
    every: float = 0.0,
    resume: bool = False,
    observers: Sequence[engine.Observer] = (),
    watcher: Watcher | None = None,
    seconds: float = 0.0,
) -> tuple[float, ...]:
    """Train on the shards of a machine; the seconds of each epoch.

    Parameters
    ----------
    machine : ClusterMachine
    held_out : DaskSource or None
        Shards for early stopping.
    asked : mapping or None
        What a run must have in common with the one it resumes, besides rows, start and seed, as
        JSON can hold it.
    checkpoint, every, resume
        The folder of checkpoints, seconds between two (0: after each epoch), and whether to go on.
    observers : sequence of Observer
    watcher : Watcher or None
    seconds : float
        Of reading, which counts for the first epoch.
    """
    watcher = watcher or Watcher()
    timer = EpochTimer(watcher)
    timer.before = seconds
    source, run = AllShards(machine.source), (0, START)
    saves: CheckpointObserver | None = None
    if checkpoint is not None:
        of_run = {**(asked or {}), **_identity(machine, held_out)}
        saves = CheckpointObserver(Path(checkpoint), every, resume, of_run, None, watcher.say)
    with saves or nullcontext():
        if saves is not None:
            run = saves.attach(source, machine, timer)
        engine.run(
            source, [machine], max_iter=machine.settings.max_iter,
            held_out=None if held_out is None else HeldOutShards(held_out),
            observers=[timer, *observers, *([] if saves is None else [saves])], resume=run,
        )  # fmt: skip
    return tuple(timer.seconds)


def _identity(machine: ClusterMachine, held_out: DaskSource | None) -> dict[str, Any]:
    """Checksums of rows and start, to notice that a run is resumed with others."""
    assert machine.learner is not None
    state = machine.learner.state
    shards = [machine.source] if held_out is None else [machine.source, held_out]
    rows = [part for source in shards for part in source.map(_checksum_of_shard)]
    return {
        "seed": machine.seed, "start": checksum((state.w, state.b)), "rows": checksum(rows),
        "classes": list(map(str, machine.labels.values.tolist())),
    }  # fmt: skip


def _checksum_of_shard(block: Block) -> Array:
    """The number of rows, and a checksum of their numbers, labels and weights."""
    X = block.X
    parts = X[:3] if isinstance(X, Csr) else (X,)
    weight = () if block.sample_weight is None else (block.sample_weight,)
    return np.array([block.n_rows, checksum((*parts, block.y, *weight))])


def checksum(arrays: Iterable[Array]) -> int:
    """Of the bytes of arrays, one after another, and of how long each is."""
    total = 0
    for array in arrays:
        total = zlib.crc32(f"{array.dtype}{array.shape}".encode(), total)
        if array.size:
            total = zlib.crc32(np.ascontiguousarray(array).data.cast("B"), total)
    return total


class PrintEpochs:
    """Prints a line after each epoch, for `verbose`."""

    def begin_epoch(self, epoch: int) -> None: ...

    def after_block(self, progress: engine.Progress) -> None: ...

    def end_epoch(self, progress: engine.Progress) -> bool:
        (group,) = progress.machines
        machines = [m for m in group.machines.values() if m.n_epochs == progress.epoch]
        totals = [machine.core.totals() for machine in machines]
        mistakes, updates = (sum(int(t[n][-1]) for t in totals) for n in ("mistakes", "updates"))
        loss = np.mean([m.mean_loss(t["loss"][-1]) for m, t in zip(machines, totals, strict=True)])
        scores = [machine.scores[-1] for machine in machines if machine.scores]
        held = f", held out {np.mean(scores):.4f}" if scores else ""
        print(
            f"epoch {progress.epoch}: {mistakes:,} mistakes, {updates:,} updates, "
            f"mean loss {loss:.6g}{held}, {sum(m.seconds for m in machines):.2f} s"
        )
        return False
