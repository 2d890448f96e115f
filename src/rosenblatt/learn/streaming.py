"""Streaming: training over chunks of rows, as if they were one matrix.

Rows are visited in order. The state of each hyperplane goes from chunk to chunk, and from pass to
pass, so the weights are those of one run over all rows, to the bit, however they are cut. A
feature that is met late had the weight 0 until then, as it would have had.

Two classes share one hyperplane. More have one each, class against rest, and each stops by itself:
after a pass that moved nothing, or when its weights come back.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.cache import ChunkCache
from rosenblatt.data.problem import Problem, as_labels, check_same_kind, encode, sorted_classes
from rosenblatt.data.readers import FileChunks
from rosenblatt.data.reading import Chunk, Progress, ReadAgain
from rosenblatt.errors import DataError, LabelError, OverflowedError
from rosenblatt.learn.keep import Keep, State
from rosenblatt.learn.rules import Update
from rosenblatt.learn.schedule import Schedule
from rosenblatt.learn.trace import StopReason
from rosenblatt.learn.training import Stop, train

Array = npt.NDArray[Any]
MOST_CLASSES = 1000  # each has weights of its own
FEW = 4  # a chunk with fewer entries than weights / FEW waits for the next
ONE_CHUNK = Stop(max_iter=1, clean=False, cycle=False)


class Watcher(Protocol):
    """Somebody who is told how it goes."""

    def begin(self, pass_number: int) -> None:
        """A pass begins."""

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
    reasons : why each hyperplane stopped
    seconds : of each pass
    compile_seconds : of these, getting the compiled loop (from disk, if it was compiled before)
    cache_bytes : size of the cache of parsed rows, 0 if none was made
    """

    coef: Array
    intercept: Array
    classes: Array
    n_rows: int
    mistakes: npt.NDArray[np.int64]
    updates: npt.NDArray[np.int64]
    reasons: tuple[StopReason, ...]
    seconds: tuple[float, ...]
    compile_seconds: float
    cache_bytes: int

    @property
    def n_passes(self) -> int:
        return len(self.seconds)

    @property
    def progressive_error(self) -> float | None:
        """Share of rows that were mistakes when first met, before they were learned from.

        A score of 0 is a mistake. None for more than two classes: each hyperplane is trained by
        itself, so there is no common prediction before each update.
        """
        return float(self.mistakes[0, 0] / self.n_rows) if len(self.classes) == 2 else None


@dataclass
class _Plane:
    """One hyperplane: where it stands, and what it remembers to see a cycle (Brent's way)."""

    state: State
    saved: tuple[Array, Array]
    power: int = 1
    length: int = 0
    mistakes: list[int] = field(default_factory=list)
    updates: list[int] = field(default_factory=list)
    reason: StopReason | None = None

    @classmethod
    def at_zero(cls) -> _Plane:
        state = State.at(np.zeros(1), np.zeros(1), np.float64)
        return cls(state, (state.w.copy(), state.b.copy()))

    def widen(self, width: int) -> None:
        """Room for more features, whose weights have been 0 so far."""
        more = width - self.state.w.size
        if more > 0:
            state = self.state
            state.w = np.append(state.w, np.zeros(more))
            state.u = np.append(state.u, np.zeros(more)) if state.u.size else state.u
            self.saved = (np.append(self.saved[0], np.zeros(more)), self.saved[1])

    def begin_pass(self) -> None:
        self.mistakes.append(0)
        self.updates.append(0)

    def learn(self, problem: Problem, update: Update, keep: Keep) -> float:
        """One visit to every row; how long it took to get the compiled loop."""
        if self.reason is not None:
            return 0.0
        try:
            trace, *_ = train(problem, update, Schedule(), keep, ONE_CHUNK, self.state)
        except OverflowedError as e:
            number = len(self.mistakes)
            raise OverflowedError(str(e).replace("epoch #1:", f"epoch #{number}:")) from e
        self.mistakes[-1] += int(trace.mistakes[0])
        self.updates[-1] += int(trace.updates[0])
        return trace.compile_seconds

    def end_pass(self) -> None:
        """Clean, or back where it was? Then it goes no further."""
        if self.reason is not None:
            return
        if self.updates[-1] == 0:
            self.reason = StopReason.SEPARATED
        elif self._came_back():
            self.reason = StopReason.CYCLE

    def _came_back(self) -> bool:
        w, b = self.state.w, self.state.b
        self.length += 1
        if np.array_equal(w, self.saved[0]) and np.array_equal(b, self.saved[1]):
            return True
        if self.length == self.power:
            self.saved, self.power, self.length = (w.copy(), b.copy()), 2 * self.power, 0
        return False


class _NewLabels(Exception):
    """A chunk has labels that are not among the classes."""


class _Standing:
    """All hyperplanes, and the classes they part."""

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
        self.classes, self.update, self.keep = classes, update, keep
        self.planes = [_Plane.at_zero() for _ in range(1 if len(classes) == 2 else len(classes))]
        self.width, self.rows, self.compile_seconds = 0, 0, 0.0
        self.weighed = False

    @property
    def settled(self) -> bool:
        return all(plane.reason is not None for plane in self.planes)

    def encoded(self, chunk: Chunk) -> Chunk:
        """The same with class numbers for labels."""
        labels = as_labels(chunk.y, chunk.X.shape[0])
        try:
            return chunk._replace(y=encode(labels, self.classes))
        except LabelError as e:
            raise _NewLabels from e

    def learn(self, chunk: Chunk) -> None:
        """One visit to every row of a chunk as `encoded` gives it."""
        X, y, weight = chunk
        self.width = max(self.width, X.shape[1])
        self.weighed = self.weighed or weight is None or bool(weight.any())
        if sp.issparse(X):
            X.resize(X.shape[0], max(1, self.width))
        problem = Problem(X, y, self.classes, weight)
        for k, plane in enumerate(self.planes):
            plane.widen(X.shape[1])
            one = problem if len(self.planes) == 1 else problem.versus_rest(k)
            self.compile_seconds += plane.learn(one, self.update, self.keep)

    def one_pass(self, chunks: Iterable[Chunk]) -> float:
        """Seconds of one visit to every row of all chunks."""
        began, rows = time.perf_counter(), 0
        for plane in self.planes:
            plane.begin_pass()
        for chunk in chunks:
            self.learn(chunk)
            rows += chunk.X.shape[0]
        for plane in self.planes:
            plane.end_pass()
        self.rows = rows
        if not self.width:
            raise DataError("no row has a feature: there is nothing to learn from but the labels.")
        if not self.weighed:
            raise DataError("Sample weights must contain at least one non-zero number; all are 0.")
        return time.perf_counter() - began

    def streamed(self, seconds: list[float], cache_bytes: int) -> Streamed:
        for plane in self.planes:  # a later chunk may have been the wider one
            plane.widen(self.width)
        kept = [plane.state.kept(self.keep) for plane in self.planes]
        return Streamed(
            np.stack([w for w, _ in kept]),
            np.concatenate([b for _, b in kept]),
            self.classes,
            self.rows,
            np.array([plane.mistakes for plane in self.planes]),
            np.array([plane.updates for plane in self.planes]),
            tuple(plane.reason or StopReason.MAX_ITER for plane in self.planes),
            tuple(seconds),
            self.compile_seconds,
            cache_bytes,
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
    classes = sorted_classes(as_labels(_first(source).y))
    if len(classes) < 2:
        watcher.say("the first chunk has one label only: looking at all labels first")
        classes = _all_classes(source)

    def trained(classes: Array) -> Streamed:
        standing = _Standing(classes, update, keep)
        if passes == 1 or scratch is None:
            return _passes(standing, source, passes, None, watcher)
        with ChunkCache(scratch, watcher.progress) as cache:
            return _passes(standing, source, passes, cache, watcher)

    try:
        return trained(classes)
    except _NewLabels:
        watcher.say("a label comes late in the file: looking at all labels, then starting again")
        return trained(_all_classes(source))


def train_file(source: FileChunks, **settings: Any) -> tuple[Streamed, FileChunks]:
    """The same for a file. Also gives the file as it was read in the end.

    Where a later part contradicts what the first led to assume (indices count from 0, labels are
    text), the file is read again from the start, with what is known then.
    """
    watcher = settings.get("watcher") or Nobody()
    while True:
        try:
            return train_stream(source, **settings), source
        except ReadAgain as e:
            watcher.say(f"{e} Starting again with it")
            format: Any = replace(source.format, **e.settings)  # type: ignore[type-var]  # a protocol; every format is a dataclass
            source = replace(source, format=format)


def _passes(
    standing: _Standing,
    source: Iterable[Chunk],
    passes: int,
    cache: ChunkCache | None,
    watcher: Watcher,
) -> Streamed:
    def first_pass() -> Iterator[Chunk]:
        for chunk in _gathered(map(standing.encoded, source)):
            if cache is not None:
                cache.add(chunk)
            yield chunk

    watcher.begin(1)
    seconds = [standing.one_pass(first_pass())]
    while len(seconds) < passes and not standing.settled:
        watcher.begin(len(seconds) + 1)
        seconds.append(standing.one_pass(first_pass() if cache is None else cache))
    return standing.streamed(seconds, 0 if cache is None else cache.nbytes)


def _gathered(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """The same rows; sparse chunks with few entries beside the weights are joined.

    Every call of `train` looks at all weights a few times, which should not cost more than the
    rows do.
    """
    waiting: list[Chunk] = []
    entries = 0
    for chunk in chunks:
        if not sp.issparse(chunk.X):
            yield chunk
            continue
        waiting.append(chunk)
        entries += chunk.X.nnz
        if entries * FEW >= chunk.X.shape[1]:
            yield _joined(waiting)
            waiting, entries = [], 0
    if waiting:
        yield _joined(waiting)


def _joined(chunks: list[Chunk]) -> Chunk:
    if len(chunks) == 1:
        return chunks[0]
    width = max(c.X.shape[1] for c in chunks)
    for c in chunks:
        c.X.resize(c.X.shape[0], width)
    weight = None
    if any(c.sample_weight is not None for c in chunks):
        each = (np.ones(len(c.y)) if c.sample_weight is None else c.sample_weight for c in chunks)
        weight = np.concatenate(list(each))
    X = sp.vstack([c.X for c in chunks], format="csr")
    return Chunk(X, np.concatenate([c.y for c in chunks]), weight)


def _first(source: Iterable[Chunk]) -> Chunk:
    for chunk in source:
        return chunk
    raise DataError("there are no rows. Give at least one.")


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
