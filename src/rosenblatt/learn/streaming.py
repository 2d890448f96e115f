"""Streaming: training over chunks of rows, as if they were one matrix.

Rows are visited in order. The state of each hyperplane goes from chunk to chunk, and from pass to
pass, so the weights are those of one run over all rows, to the bit, however they are cut. A
feature that is met late had the weight 0 until then, as it would have had.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rosenblatt.data.cache import ChunkCache
from rosenblatt.data.labels import as_labels, check_same_kind, sorted_classes
from rosenblatt.data.readers import FileChunks
from rosenblatt.data.reading import Chunk, Mark, Progress, ReadAgain, without_first
from rosenblatt.data.shuffle import Shuffle
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.learn.keep import Keep
from rosenblatt.learn.keeper import Keeper
from rosenblatt.learn.run import NewLabels, Run, Streamed
from rosenblatt.learn.update import Update

__all__ = ["Nobody", "Streamed", "Watcher", "train_file", "train_stream"]

Array = npt.NDArray[Any]


class Watcher(Protocol):
    """Somebody who is told how it goes."""

    def begin(self, pass_number: int) -> None:
        """A pass begins; 0 is the look at raw columns before the first."""

    def progress(self, now: Progress) -> None:
        """Some more was read and learned."""

    def say(self, message: str) -> None:
        """Something that is worth a line."""


class Nobody:
    """Watches nothing."""

    def begin(self, pass_number: int) -> None: ...

    def progress(self, now: Progress) -> None: ...

    def say(self, message: str) -> None: ...


def train_stream(
    source: Iterable[Chunk],
    *,
    passes: int = 1,
    update: Update | None = None,
    keep: Keep = "last",
    scratch: Path | None = None,
    watcher: Watcher | None = None,
    keeper: Keeper | None = None,
    shuffle: Shuffle | None = None,
    classes: Array | None = None,
) -> Streamed:
    """Train on chunks: what `Perceptron(shuffle=False, max_iter=passes, tol=None)` gives.

    Parameters
    ----------
    source : chunks (X, y, sample_weight), all dense or all CSR; the same each time it is iterated
    passes : most passes over the rows; fewer if a whole pass moves nothing, or weights come back
    update : the rule; the perceptron's with an offset if left out
    keep : "last" or "average"
    scratch : folder for a cache of parsed rows; with more than one pass, the second and later
        ones read that. None: every pass iterates `source`.
    watcher : is told how it goes
    keeper : saves where the run stands, and knows where it stood; for chunks of a file (`Plain`)
    shuffle : the order of visits (data/shuffle.py). Unless it takes chunks as they arrive, they
        are all read into the cache first, which needs `scratch`.
    classes : all labels, sorted, if they are known before; another one is then an error

    The classes are otherwise those of the first chunk. If a later one has others, all labels are
    looked at and training starts again.

    Examples
    --------
    >>> rows = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> X, y = np.array(rows), np.array([0, 0, 0, 1])
    >>> done = train_stream([Chunk(X[:3], y[:3], None), Chunk(X[3:], y[3:], None)], passes=100)
    >>> done.coef, done.intercept, done.mistakes.sum(), done.reasons[0]
    (array([[3., 2.]]), array([-4.]), np.int64(18), <StopReason.SEPARATED: 'separated'>)
    """
    watcher = watcher or Nobody()
    update = update or Update()
    by_block = shuffle is not None and not shuffle.arriving
    if by_block and scratch is None:
        raise ParameterError("blocks in an order that is drawn need scratch, a folder for a cache.")

    def trained(classes: Array, begun: Iterable[Chunk] | None, waited: float = 0.0) -> Streamed:
        run = Run(classes, update, keep, same_order=shuffle is None)
        run.waited = waited
        if keeper is not None and keeper.saved is not None:
            keeper.restore(run)
        least = 0 if by_block else 1
        if passes - len(run.seconds) <= least or scratch is None:
            return _passes(run, begun, source, passes, None, watcher, keeper, shuffle)
        with ChunkCache(scratch, watcher.progress) as cache:
            return _passes(run, begun, source, passes, cache, watcher, keeper, shuffle)

    try:
        if keeper is not None and keeper.saved is not None:
            return trained(keeper.saved.classes, None)
        if classes is not None:
            return trained(classes, None)
        return trained(*_begun(source, watcher))
    except NewLabels as e:
        if classes is not None:
            raise LabelError(str(e.__cause__)) from e
        watcher.say("a label comes late in the file: looking at all labels, then starting again")
        if keeper is not None:
            keeper.begin_again()
        return trained(_all_classes(source), source)


def _begun(source: Iterable[Chunk], watcher: Watcher) -> tuple[Array, Iterable[Chunk], float]:
    """The classes, the chunks, and the seconds that the first took, where it gave the classes."""
    began, chunks = time.perf_counter(), iter(source)
    first = next(chunks, None)
    waited = time.perf_counter() - began
    if first is None:
        raise DataError("there are no rows. Give at least one.")
    classes = sorted_classes(as_labels(first.y))
    begun: Iterable[Chunk] = chain([first], chunks)
    if len(classes) < 2:
        watcher.say("the first chunk has one label only: looking at all labels first")
        return _all_classes(begun), source, 0.0
    return classes, begun, waited


def train_file(
    source: FileChunks, *, keeper: Keeper | None = None, **settings: Any
) -> tuple[Streamed, FileChunks]:
    """The same for a file. Also gives the file as it was read in the end.

    Where a later part contradicts what the first led to assume (indices count from 0, labels are
    text), the file is read again from the start, with what is known then.
    """
    watcher = settings.get("watcher") or Nobody()
    if keeper is not None:
        source = keeper.opened(source)
    while True:
        try:
            return train_stream(source.plain, keeper=keeper, **settings), source
        except ReadAgain as e:
            watcher.say(f"{e} Starting again with it")
            source = keeper.begin_again(e.settings) if keeper else source._again(e)


def _passes(
    run: Run,
    begun: Iterable[Chunk] | None,
    source: Any,
    passes: int,
    cache: ChunkCache | None,
    watcher: Watcher,
    keeper: Keeper | None,
    shuffle: Shuffle | None = None,
) -> Streamed:
    """All passes that are left: one over the source, the others over the cache if there is one.

    begun : the source from its start, of which some may be in memory; None: go on where `run` is
    """
    marks: list[Mark] = []  # after each chunk of the cache
    full = False

    def read(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            run.mark = getattr(source, "mark", run.mark)
            yield run.encoded(chunk)

    def stored(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """The same, put in the cache if there is one."""
        nonlocal full
        for chunk in chunks:
            if cache is not None:
                marks.append(run.mark)
                if cache.add(chunk):
                    watcher.say(_cached(cache))
            yield chunk
        full = cache is not None

    def cached() -> Iterator[Chunk]:
        for chunk, run.mark in zip(cache or (), marks, strict=True):
            yield chunk

    def in_order() -> Iterator[Chunk]:
        known = run.rows if run.within else 0
        if known and cache is None:
            return read(source.after(run.mark))
        if full:
            return cached()
        return unvisited(stored(read(from_start())), known)

    def from_start() -> Iterable[Chunk]:
        nonlocal begun
        chunks, begun = begun, None
        return source if chunks is None else chunks

    def shuffled(shuffle: Shuffle) -> Iterator[Chunk]:
        number, known = len(run.seconds) + 1, run.rows if run.within else 0
        if not full and not (shuffle.arriving or cache is None):
            for _ in stored(read(from_start())):
                pass
        if full and cache is not None:
            n = len(cache)
            order = range(n) if shuffle.arriving else shuffle.order(number, 0, n).tolist()
            blocks = cache.taken(order)
        else:
            blocks = stored(read(from_start()))
        return unvisited(shuffle.windows(blocks, number), known)

    while run.within or (len(run.seconds) < passes and not run.planes.settled):
        watcher.begin(len(run.seconds) + 1)
        began = time.perf_counter()
        chunks = in_order() if shuffle is None else shuffled(shuffle)
        run.waited += time.perf_counter() - began  # filling the cache
        run.one_pass(chunks, keeper)
    if keeper is not None:
        keeper.ended(run)
    return run.streamed(cache)


def unvisited(chunks: Iterable[Chunk], known: int) -> Iterator[Chunk]:
    """The rows after the first `known`."""
    for chunk in chunks:
        n = len(chunk.y)
        if known < n:
            yield without_first(chunk, known) if known else chunk
        known = max(0, known - n)


def _cached(cache: ChunkCache) -> str:
    return (
        f"parsed rows beyond {cache.memory_bytes / 1e6:,.0f} MB are cached in a file in "
        f"{cache.folder} until the end"
    )


def _all_classes(source: Iterable[Chunk]) -> Array:
    found: Array | None = None
    for chunk in source:
        labels = as_labels(chunk.y)
        if found is not None:
            check_same_kind(labels, found)
            labels = np.concatenate([found, labels])
        found = sorted_classes(labels)
    assert found is not None
    return found
