"""Streaming: training over chunks of rows, as if they were one matrix.

Rows are visited in order. The state of each hyperplane goes from chunk to chunk, and from pass to
pass, so the weights are those of one run over all rows, to the bit, however they are cut. A
feature that is met late had the weight 0 until then, as it would have had.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rosenblatt.data.cache import ChunkCache
from rosenblatt.data.labels import as_labels, check_same_kind, encode, sorted_classes
from rosenblatt.data.readers import FileChunks
from rosenblatt.data.reading import Chunk, Progress, ReadAgain
from rosenblatt.errors import DataError, LabelError
from rosenblatt.learn.keep import Keep
from rosenblatt.learn.planes import Planes
from rosenblatt.learn.trace import StopReason
from rosenblatt.learn.update import Update

Array = npt.NDArray[Any]
MOST_CLASSES = 1000  # each has weights of its own


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


@dataclass(frozen=True, eq=False)
class Streamed:
    """What training over chunks gave.

    Attributes
    ----------
    coef, intercept, classes : the model: one hyperplane for two classes, else one a class
    n_rows : rows of one pass
    mistakes, updates : arrays of shape (hyperplanes, passes); 0 after a hyperplane has stopped
    first_errors : rows of the first pass that were got wrong before they were learned from
    reasons : why each hyperplane stopped
    seconds : of each pass, reading included
    compile_seconds : besides, getting the compiled loops (from disk, if compiled before)
    memory_bytes, file_bytes : size of the cache of parsed rows, 0 if none was made
    """

    coef: Array
    intercept: Array
    classes: Array
    n_rows: int
    mistakes: npt.NDArray[np.int64]
    updates: npt.NDArray[np.int64]
    first_errors: int
    reasons: tuple[StopReason, ...]
    seconds: tuple[float, ...]
    compile_seconds: float
    memory_bytes: int
    file_bytes: int

    @property
    def n_passes(self) -> int:
        return len(self.seconds)

    @property
    def cache_bytes(self) -> int:
        return self.memory_bytes + self.file_bytes

    @property
    def progressive_error(self) -> float:
        """Share of rows that were got wrong when first met, before they were learned from.

        Two classes: the score has the wrong sign, or is 0. More: another class scores as well as
        that of the row, or better.
        """
        return self.first_errors / self.n_rows


class _NewLabels(Exception):
    """A chunk has labels that are not among the classes."""


class _Run:
    """The hyperplanes, the classes they part, and what one pass is."""

    def __init__(self, classes: Array, update: Update, keep: Keep) -> None:
        if len(classes) < 2:
            raise LabelError(
                "The number of classes has to be greater than one; got 1 class "
                f"({classes.tolist()[0]!r}). Add another class."
            )
        if len(classes) > MOST_CLASSES:
            raise LabelError(
                f"there are {len(classes)} different labels, more than {MOST_CLASSES} classes. Is "
                "it a measurement rather than a label?"
            )
        self.classes = classes
        self.planes = Planes(1 if len(classes) == 2 else len(classes), update, keep)
        self.rows = 0
        self.seconds: list[float] = []
        self.waited = 0.0  # for a chunk that is part of the next pass

    def encoded(self, chunk: Chunk) -> Chunk:
        """The same with class numbers for labels."""
        labels = as_labels(chunk.y, chunk.X.shape[0])
        try:
            number = encode(labels, self.classes)
        except LabelError as e:
            raise _NewLabels from e
        number_or_side: Array = number > 0 if len(self.classes) == 2 else number
        return chunk._replace(y=number_or_side.astype(np.int32))

    def one_pass(self, chunks: Iterable[Chunk]) -> None:
        """One visit to every row of all chunks."""
        began, self.rows, weighed = time.perf_counter(), 0, False
        compiled = self.planes.compile_seconds
        self.planes.begin_pass()
        for chunk in chunks:
            self.planes.visit(chunk)
            self.rows += len(chunk.y)
            weighed = weighed or chunk.sample_weight is None or bool(chunk.sample_weight.any())
        if not self.planes.width:
            raise DataError("no row has a feature: there is nothing to learn from but the labels.")
        if not weighed:
            raise DataError("Sample weights must contain at least one non-zero number; all are 0.")
        self.planes.end_pass()
        compiling = self.planes.compile_seconds - compiled
        self.seconds.append(self.waited + time.perf_counter() - began - compiling)
        self.waited = 0.0

    def streamed(self, cache: ChunkCache | None) -> Streamed:
        planes = self.planes
        coef, intercept = planes.kept()
        return Streamed(
            coef,
            intercept,
            self.classes,
            self.rows,
            np.stack(planes.mistakes, axis=1),
            np.stack(planes.updates, axis=1),
            planes.wrong[0] if len(self.classes) > 2 else int(planes.mistakes[0][0]),
            tuple(reason or StopReason.MAX_ITER for reason in planes.reasons),
            tuple(self.seconds),
            planes.compile_seconds,
            cache.memory_bytes if cache else 0,
            cache.file_bytes if cache else 0,
        )


def train_stream(
    source: Iterable[Chunk],
    *,
    passes: int = 1,
    update: Update | None = None,
    keep: Keep = "last",
    scratch: Path | None = None,
    watcher: Watcher | None = None,
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

    The classes are those of the first chunk. If a later one has others, all labels are looked at
    and training starts again.

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
    began, chunks = time.perf_counter(), iter(source)
    first = next(chunks, None)
    waited = time.perf_counter() - began
    if first is None:
        raise DataError("there are no rows. Give at least one.")
    classes = sorted_classes(as_labels(first.y))
    begun: Iterable[Chunk] = chain([first], chunks)
    if len(classes) < 2:
        watcher.say("the first chunk has one label only: looking at all labels first")
        classes, begun, waited = _all_classes(begun), source, 0.0

    def trained(classes: Array, begun: Iterable[Chunk], waited: float = 0.0) -> Streamed:
        run = _Run(classes, update, keep)
        run.waited = waited
        if passes == 1 or scratch is None:
            return _passes(run, begun, source, passes, None, watcher)
        with ChunkCache(scratch, watcher.progress) as cache:
            return _passes(run, begun, source, passes, cache, watcher)

    try:
        return trained(classes, begun, waited)
    except _NewLabels:
        watcher.say("a label comes late in the file: looking at all labels, then starting again")
        return trained(_all_classes(source), source)


def train_file(source: FileChunks, **settings: Any) -> tuple[Streamed, FileChunks]:
    """The same for a file. Also gives the file as it was read in the end.

    Where a later part contradicts what the first led to assume (indices count from 0, labels are
    text), the file is read again from the start, with what is known then.
    """
    watcher = settings.get("watcher") or Nobody()
    compiling = source.compile()
    while True:
        try:
            done = train_stream(source.plain, **settings)
            return replace(done, compile_seconds=done.compile_seconds + compiling), source
        except ReadAgain as e:
            watcher.say(f"{e} Starting again with it")
            format: Any = replace(source.format, **e.settings)  # type: ignore[type-var]  # a protocol; every format is a dataclass
            source = replace(source, format=format)


def _passes(
    run: _Run,
    begun: Iterable[Chunk],
    source: Iterable[Chunk],
    passes: int,
    cache: ChunkCache | None,
    watcher: Watcher,
) -> Streamed:
    """All passes: the first over `begun`, the others over the cache if there is one."""

    def noted() -> Iterator[Chunk]:
        for chunk in map(run.encoded, begun):
            if cache is not None and cache.add(chunk):
                watcher.say(
                    f"parsed rows beyond {cache.memory_bytes / 1e6:,.0f} MB are cached in a file "
                    f"in {cache.folder} until the end"
                )
            yield chunk

    watcher.begin(1)
    run.one_pass(noted())
    while len(run.seconds) < passes and not run.planes.settled:
        watcher.begin(len(run.seconds) + 1)
        run.one_pass(map(run.encoded, source) if cache is None else cache)
    return run.streamed(cache)


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
