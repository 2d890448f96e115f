"""Run: hyperplanes, the classes they part, and passes over chunks of rows."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.cache import ChunkCache
from rosenblatt.data.labels import as_labels, encode
from rosenblatt.data.reading import Chunk, Mark
from rosenblatt.errors import DataError, LabelError
from rosenblatt.learn.keep import Keep
from rosenblatt.learn.keeper import Keeper
from rosenblatt.learn.planes import Planes
from rosenblatt.learn.trace import StopReason
from rosenblatt.learn.update import Update

Array = npt.NDArray[Any]
MOST_CLASSES = 1000  # each has weights of its own


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


class NewLabels(Exception):
    """A chunk has labels that are not among the classes."""


class Run:
    """The hyperplanes, the classes they part, and what one pass is."""

    def __init__(self, classes: Array, update: Update, keep: Keep, same_order: bool = True) -> None:
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
        n = 1 if len(classes) == 2 else len(classes)
        self.planes = Planes(n, update, keep, same_order)
        self.rows = 0  # visited in this pass, or in the one before
        self.within = False  # a pass
        self.weighed = False  # any of the rows
        self.mark = Mark()  # where the file stood after the chunk that was visited last
        self.seconds: list[float] = []
        self.waited = 0.0  # for a chunk that is part of the next pass
        self._began = time.perf_counter()

    @property
    def elapsed(self) -> float:
        """Seconds of this pass so far."""
        return self.waited + time.perf_counter() - self._began if self.within else 0.0

    def encoded(self, chunk: Chunk) -> Chunk:
        """The same with class numbers for labels."""
        labels = as_labels(chunk.y, chunk.X.shape[0])
        try:
            number = encode(labels, self.classes)
        except LabelError as e:
            raise NewLabels from e
        number_or_side: Array = number > 0 if len(self.classes) == 2 else number
        return chunk._replace(y=number_or_side.astype(np.int32))

    def one_pass(self, chunks: Iterable[Chunk], keeper: Keeper | None = None) -> None:
        """One visit to every row of all chunks; or the rest of them, within a pass."""
        self._began, compiled = time.perf_counter(), self.planes.compile_seconds
        if not self.within:
            self.rows, self.weighed, self.within = 0, False, True
            self.planes.begin_pass()
        for chunk in chunks:
            self.planes.visit(chunk)
            self.rows += len(chunk.y)
            weight = chunk.sample_weight
            self.weighed = self.weighed or weight is None or bool(weight.any())
            if keeper is not None:
                keeper.visited(self)
        if not self.planes.width:
            raise DataError("no row has a feature: there is nothing to learn from but the labels.")
        if not self.weighed:
            raise DataError("Sample weights must contain at least one non-zero number; all are 0.")
        self.planes.end_pass()
        compiling = self.planes.compile_seconds - compiled
        self.seconds.append(self.elapsed - compiling)
        self.waited, self.within = 0.0, False
        if keeper is not None:
            keeper.visited(self)

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
