"""Run the engine on a source, with its cached and shuffled rows and the times of epochs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rosenblatt.data.block import START
from rosenblatt.data.source import Source
from rosenblatt.features.table_features import TableFeatures
from rosenblatt.io.block_cache import CachedSource, ShuffledSource
from rosenblatt.io.progress import Watcher
from rosenblatt.learn import engine
from rosenblatt.learn.machine_group import MachineGroup
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.stream.checkpoint import CheckpointObserver
from rosenblatt.stream.standardized_source import StandardizedSource, Standardizer


class EpochTimer:
    """Seconds of each epoch; tells the watcher when one begins. An observer of the engine."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.seconds: list[float] = []
        self.before = 0.0  # seconds of this epoch in a run that was interrupted
        self._began = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """Seconds of the epoch that is not finished."""
        return self.before + time.perf_counter() - self._began

    def begin_epoch(self, epoch: int) -> None:
        """Start the clock."""
        self._began = time.perf_counter()
        self.watcher.begin(epoch)

    def after_block(self, progress: engine.Progress) -> None:
        """Do nothing."""

    def end_epoch(self, progress: engine.Progress) -> bool:
        """Note the seconds."""
        self.seconds.append(self.elapsed)
        self.before = 0.0
        return False


@dataclass(frozen=True, eq=False)
class Trained:
    """A run that ended: hyperplanes, labels, times, size of the cache, means of scaled columns."""

    group: MachineGroup
    epoch_seconds: tuple[float, ...]
    cache_memory_bytes: int = 0
    cache_file_bytes: int = 0
    scaled: Standardizer | None = None


def train(
    source: Source,
    settings: TrainingSettings,
    *,
    scratch: Path | None = None,
    shuffle: int | None = None,
    watcher: Watcher | None = None,
    checkpoint: CheckpointObserver | None = None,
    scaled: TableFeatures | None = None,
) -> Trained:
    """Train on the blocks of a source, as `Perceptron(shuffle=False, tol=None)` would on all rows.

    Parameters
    ----------
    source : Source
    settings : TrainingSettings
    scratch : Path or None
        Folder for a cache, from which later epochs are read. None: every epoch reads `source`.
    shuffle : int or None
        Seed of the order of visits. All blocks are cached first, which needs `scratch`.
    watcher : Watcher or None
    checkpoint : CheckpointObserver or None
        Saves the run, and knows where an earlier one was.
    scaled : TableFeatures or None
        The encoder of `source`, if its numbers are to be centred and scaled.

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt.data.source import ChunkSource
    >>> X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 0, 0, 1]
    >>> chunks = ChunkSource([(X[:3], y[:3]), (X[3:], y[3:])])
    >>> done = train(chunks, TrainingSettings(max_iter=100))
    >>> done.group.kept(), done.group.trace().n_mistakes, str(done.group.reasons[0])
    ((array([[3., 2.]]), array([-4.])), 18, 'separated')
    """
    watcher = watcher or Watcher()
    with ExitStack() as stack:
        saved = checkpoint.saved if checkpoint is not None else None
        left = settings.max_iter - (0 if saved is None else len(saved.facts["epoch_seconds"]))
        rows: Any = source
        cached = None
        if scratch is not None and (left > 1 or (shuffle is not None and left > 0)):
            cached = CachedSource(source, scratch, watcher.progress, watcher.say)
            rows = stack.enter_context(cached)
        if shuffle is not None and cached is not None:
            rows = ShuffledSource(cached, shuffle)
        standard = None
        if scaled is not None:
            rows = standard = StandardizedSource(rows, scaled, source)
        group = MachineGroup(settings, source.labels, same_order=shuffle is None)
        seconds = run(
            rows, group, watcher=watcher, checkpoint=checkpoint, origin=standard or source
        )
        cache = (cached.cache.memory_bytes, cached.cache.file_bytes) if cached else (0, 0)
    return Trained(group, seconds, *cache, standard)


def run(
    source: Any,
    group: MachineGroup,
    *,
    watcher: Watcher | None = None,
    checkpoint: CheckpointObserver | None = None,
    origin: Any = None,
    held_out: engine.Scorer | None = None,
    observers: Sequence[engine.Observer] = (),
    seconds: float = 0.0,
) -> tuple[float, ...]:
    """Run the engine, with checkpoints; the seconds of each epoch.

    Parameters
    ----------
    source : Source
    group : MachineGroup
    watcher : Watcher or None
    checkpoint : CheckpointObserver or None
    origin : Source or None
        The source whose state a checkpoint holds; None: `source`.
    held_out : Scorer or None
        Rows for early stopping.
    observers : sequence of Observer
        Called before the checkpoint is saved.
    seconds : float
        Spent before, which count for the first epoch.
    """
    timer, resume = EpochTimer(watcher or Watcher()), (0, START)
    timer.before = seconds
    saves: list[engine.Observer] = []
    if checkpoint is not None:
        resume = checkpoint.attach(origin or source, group, timer)
        saves.append(checkpoint)
    engine.run(
        source, [group], max_iter=group.settings.max_iter, held_out=held_out,
        observers=[timer, *observers, *saves], resume=resume,
    )  # fmt: skip
    return tuple(timer.seconds)
