"""Run the engine on a source, with its cached and shuffled rows and the times of epochs."""

from __future__ import annotations

import time
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
        """Nothing."""

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
    timer = EpochTimer(watcher)
    observers: list[Any] = [timer]
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
        resume = (0, START)
        if checkpoint is not None:
            resume = checkpoint.attach(standard or source, group, timer)
            observers.append(checkpoint)
        engine.run(rows, [group], max_iter=settings.max_iter, observers=observers, resume=resume)
        cache = (cached.cache.memory_bytes, cached.cache.file_bytes) if cached else (0, 0)
    return Trained(group, tuple(timer.seconds), *cache, standard)
