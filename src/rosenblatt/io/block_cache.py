"""Cached and shuffled sources: parsed blocks for later epochs, in memory and then in a file.

The first blocks stay in memory, up to a budget. What comes after goes to a file in a compact binary
form, which has no name where the system can do that, so it is gone whatever ends the process. It
holds nothing but arrays; what and where they are stays in memory, so nothing on disk is trusted.
Values go as nothing (all are 1), as float32 (if that is exact) or as float64.

A shuffled source visits the rows of a cached one in an order that a seed draws, block by block, in
bounded memory. In epoch p = 1, 2, ...

1. the blocks are put in the order of keys(p, 0);
2. every 8 blocks in a row, in that order, make a window; the rows of window k = 1, 2, ... are put
   together, as they stand, and then in the order of keys(p, k).

keys(p, k) are the first raw 64-bit numbers of PCG64(SeedSequence([seed, p, k])), one for each thing
to be ordered; they are sorted, the earlier of equal ones first. NumPy keeps these numbers the same
in all versions. Nothing else is drawn, so no order depends on what was drawn before, on the number
of threads, or on how often a run was interrupted.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.block import START, Block, Csr, Position, as_csr, stack
from rosenblatt.data.source import Source
from rosenblatt.errors import DataError
from rosenblatt.io.progress import Progress

MEMORY_BYTES = 1 << 25  # of blocks that stay in memory
WINDOW = 8  # blocks whose rows are mixed; memory holds about three times as many
Array = npt.NDArray[Any]


class _Place(NamedTuple):
    """An array in the file: its type there (None: all ones), its length, its type in memory."""

    stored: np.dtype[Any] | None
    length: int
    dtype: np.dtype[Any]


class _Stored(NamedTuple):
    """A block in the file: values, y, then indptr and indices if sparse, then weights if any."""

    start: int
    shape: tuple[int, int]
    sparse: bool
    places: tuple[_Place, ...]


class BlockCache:
    """Blocks are added one by one, and read as often as wanted, in any order.

    Parameters
    ----------
    folder : Path
        Where the file is made. It is about as large as the text.
    progress : function or None
        Called at every block that is read.
    """

    def __init__(self, folder: Path, progress: Callable[[Progress], object] | None = None) -> None:
        self.folder, self.progress = folder, progress
        self._file: Any = None
        self._reader = ThreadPoolExecutor(1)  # starts a thread when it is used first
        self._blocks: list[Block | _Stored] = []
        self.memory_bytes = 0
        self.file_bytes = 0
        self.sparse = False  # whether a block is; then all are given as Csr

    def __enter__(self) -> BlockCache:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.shutdown()
        if self._file is not None:
            self._file.close()

    def __len__(self) -> int:
        return len(self._blocks)

    def add(self, block: Block) -> None:
        """Store a block, which must not change afterwards."""
        X, y, weight = block.X, block.y, block.sample_weight
        sparse = isinstance(X, Csr)
        self.sparse = self.sparse or sparse
        arrays = [X.data, y, X.indptr, X.indices] if sparse else [X.ravel(), y]
        arrays += [] if weight is None else [weight]
        size = sum(array.nbytes for array in arrays)
        if self._file is None and self.memory_bytes + size <= MEMORY_BYTES:
            self._blocks.append(block)
            self.memory_bytes += size
            return
        if self._file is None:  # open as long as the cache lives
            self._file = tempfile.TemporaryFile(dir=self.folder, prefix=".rosenblatt-cache-")  # noqa: SIM115  # as said
        start = self.file_bytes
        self._blocks.append(_Stored(start, X.shape, sparse, tuple(map(self._put, arrays))))

    def _put(self, array: Array) -> _Place:
        stored = _stored(array)
        if stored is not None:
            content: Any = np.ascontiguousarray(array, stored)
            self._file.write(content)
            self.file_bytes += content.nbytes
        return _Place(stored, array.size, array.dtype)

    def read(self, order: Iterable[int]) -> Iterator[Block]:
        """These blocks, in this order; one is read ahead while the others are used."""
        began, rows, nbytes = time.perf_counter(), 0, self.memory_bytes + self.file_bytes
        coming = map(self._begin, order)
        ahead, seen = next(coming, None), 0
        while ahead is not None:
            block, ahead = ahead, next(coming, None)
            block = block.result() if isinstance(block, Future) else block
            yield block._replace(X=as_csr(block.X)) if self.sparse else block
            rows, seen = rows + block.n_rows, seen + 1
            if self.progress is not None:
                seconds = time.perf_counter() - began
                self.progress(Progress(nbytes * seen // len(self), nbytes, rows, 0, seconds))

    def _begin(self, k: int) -> Block | Future[Block]:
        block = self._blocks[k]
        return block if isinstance(block, Block) else self._reader.submit(self._get, block)

    def _get(self, block: _Stored) -> Block:
        self._file.seek(block.start)
        X, y, *more = map(self._array, block.places)
        if block.sparse:
            indptr, indices, *more = more
            X = Csr(X, indices, indptr, block.shape[1])
        else:
            X = X.reshape(block.shape)
        return Block(X, y, *more)

    def _array(self, place: _Place) -> Any:
        if place.stored is None:
            return np.ones(place.length, place.dtype)
        values = np.empty(place.length, place.stored)
        into: Any = values.view(np.uint8)
        if self._file.readinto(into) != values.nbytes:
            raise DataError("the cache of parsed rows was cut short while in use. Run it again.")
        return values.astype(place.dtype, copy=False)


def _stored(array: Array) -> np.dtype[Any] | None:
    """The type that holds these numbers in few bytes: None if all are 1, float32 if exact."""
    if array.dtype != np.float64:
        return array.dtype
    if _holds(array, lambda v: v == 1.0):
        return None
    with np.errstate(over="ignore", under="ignore"):
        exact = _holds(array, lambda v: v.astype(np.float32) == v)
    return np.dtype(np.float32) if exact else array.dtype


def _holds(values: Array, test: Callable[[Array], Array]) -> bool:
    """Whether all values satisfy a test; a few are tested first, which is mostly enough."""
    return bool(test(values[:64]).all() and test(values).all())


def random_order(seed: int, epoch: int, k: int, n: int) -> npt.NDArray[np.int64]:
    """Which of n things comes first, second, ...: blocks for k = 0, else rows of window k.

    >>> random_order(7, 1, 0, 5).tolist()
    [1, 3, 2, 4, 0]
    """
    bits = np.random.PCG64(np.random.SeedSequence([seed, epoch, k]))
    return np.argsort(bits.random_raw(n), kind="stable")


class CachedSource(Source):
    """A source that is read once; later epochs come from a cache, in memory and in a file.

    Parameters
    ----------
    source : Source
    folder : Path
        Where the file is made, if the blocks do not fit in memory.
    progress : function or None
        Called with a Progress at every block that comes from the cache.
    say : function or None
        Called with a line of text when the cache begins to fill a file.
    """

    def __init__(
        self,
        source: Source,
        folder: Path,
        progress: Callable[[Progress], object] | None = None,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.source, self.labels, self.n_rows = source, source.labels, source.n_rows
        self.cache, self._say = BlockCache(folder, progress), say
        self._ends: list[Position] = []
        self._complete = False

    def __enter__(self) -> CachedSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.cache.__exit__()

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        """Blocks of the source the first time, of the cache afterwards."""
        for block in self._cached() if self._complete else self._filling():
            if rest := block.after(after):
                yield rest

    def _filling(self) -> Iterator[Block]:
        cache = self.cache
        for block in self.source.blocks():
            before = cache.file_bytes
            cache.add(block)
            if cache.file_bytes > before == 0:
                self._say(
                    f"parsed rows beyond {cache.memory_bytes / 1e6:,.0f} MB are cached in a "
                    f"file in {cache.folder} until the end"
                )
            self._ends.append(block.end)
            yield block
        self.n_rows, self.feature_names = self._ends[-1].rows, self.source.feature_names
        self._complete = True

    def _cached(self) -> Iterator[Block]:
        first_row = 0
        for block, end in zip(self.cache.read(range(len(self.cache))), self._ends, strict=True):
            yield block._replace(first_row=first_row, end=end)
            first_row = end.rows

    def fill(self) -> None:
        """Read the source into the cache."""
        if not self._complete:
            for _ in self._filling():
                pass


class ShuffledSource(Source):
    """The rows of a cached source in an order drawn from a seed, another one in every epoch."""

    same_order = False

    def __init__(self, source: CachedSource, seed: int) -> None:
        self.source, self.seed = source, seed
        self.labels = source.labels

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        """Windows of blocks, their rows mixed."""
        self.source.fill()
        self.labels.closed = True  # all were seen
        self.n_rows, self.feature_names = self.source.n_rows, self.source.feature_names
        cache, rows, window = self.source.cache, 0, 0
        blocks = cache.read(random_order(self.seed, epoch, 0, len(cache)).tolist())
        while held := list(islice(blocks, WINDOW)):
            window += 1
            whole = stack(held)
            del held  # before the next copy
            mixed = whole.some(random_order(self.seed, epoch, window, whole.n_rows))
            del whole
            end = Position(rows=rows + mixed.n_rows)
            if rest := mixed._replace(first_row=rows, end=end).after(after):
                yield rest
            rows = end.rows
            del mixed, rest  # before the next window is read
