"""Train on the shards of a cluster: the engine, with checkpoints and times of epochs."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from rosenblatt.cluster.machine import AllShards, ClusterMachine, HeldOutShards
from rosenblatt.cluster.source import DaskSource
from rosenblatt.data.block import Block
from rosenblatt.io.progress import Watcher
from rosenblatt.learn import engine
from rosenblatt.stream.checkpoint import CheckpointObserver
from rosenblatt.stream.train import run


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
    saved: AbstractContextManager[CheckpointObserver | None] = nullcontext()
    if checkpoint is not None:
        of_run = {**(asked or {}), **_identity(machine, held_out)}
        saved = CheckpointObserver(Path(checkpoint), every, resume, of_run, None, watcher.say)
    with saved as saves:
        return run(
            AllShards(machine.source), machine, watcher=watcher, checkpoint=saves,
            held_out=None if held_out is None else HeldOutShards(held_out), observers=observers,
            seconds=seconds,
        )  # fmt: skip


def _identity(machine: ClusterMachine, held_out: DaskSource | None) -> dict[str, Any]:
    """Checksums of rows and start, to notice that a run is resumed with others."""
    assert machine.learner is not None
    state, classes = machine.learner.state, machine.labels.values.tolist()
    shards = [machine.source] if held_out is None else [machine.source, held_out]
    return {
        "seed": machine.seed, "start": zlib.crc32(state.w.tobytes() + state.b.tobytes()),
        "rows": [one for source in shards for one in source.map(Block.checksum)],
        "classes": list(map(str, classes)),
    }  # fmt: skip
