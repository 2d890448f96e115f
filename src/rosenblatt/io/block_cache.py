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
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.block import START, Block, Csr, Position, as_csr
from rosenblatt.data.source import BaseSource, Source
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io.progress import Progress

MEMORY_BYTES = 1 << 25  # of blocks that stay in memory
Array = npt.NDArray[Any]


class _Place(NamedTuple):
    """An array in the file: its type there (None: all ones), its length, its type in memory."""

    stored: np.dtype[Any] | None
    length: int
    dtype: np.dtype[Any]


class _Stored(NamedTuple):
    """A block in the file: values, y, then indptr and indices if sparse, then weights if any."""

    shape: tuple[int, int]
    sparse: bool
    places: tuple[_Place, ...]


class BlockCache:
    """Blocks are added one by one and read as often as wanted, in the same order or another.

    A block that comes from the file lies in memory that a later one takes: use it before the next.

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
        self._held: list[Block] = []
        self._blocks: list[_Stored] = []
        self._starts: list[int] = []  # of blocks in the file
        self._room: dict[tuple[int, int, Any], Array] = {}
        self.memory_bytes = 0
        self.file_bytes = 0
        self.sparse = False  # whether a block is; then all are given as Csr

    @property
    def nbytes(self) -> int:
        return self.memory_bytes + self.file_bytes

    def __enter__(self) -> BlockCache:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, block: Block) -> bool:
        """Store a block, which must not change afterwards; True if it is the first in the file."""
        self.sparse = self.sparse or isinstance(block.X, Csr)
        columns = _columns(block)
        size = sum(array.nbytes for array in columns)
        if self._file is None and self.memory_bytes + size <= MEMORY_BYTES:
            self._held.append(block)
            self.memory_bytes += size
            return False
        if self._file is None:  # open as long as the cache lives
            self._file = tempfile.TemporaryFile(dir=self.folder, prefix=".rosenblatt-cache-")  # noqa: SIM115  # as said
        self._starts.append(self.file_bytes)
        places = tuple(map(self._put, columns))
        self._blocks.append(_Stored(block.X.shape, isinstance(block.X, Csr), places))
        return len(self._blocks) == 1

    def _put(self, array: Array) -> _Place:
        stored = _stored(array)
        if stored is not None:
            content: Any = np.ascontiguousarray(array, stored)
            self._file.write(content)
            self.file_bytes += content.nbytes
        return _Place(stored, array.size, array.dtype)

    def __iter__(self) -> Iterator[Block]:
        began, rows, seen = time.perf_counter(), 0, 0
        with closing(self._from_file()) as others:
            for blocks in (self._held, others):
                for block in blocks:
                    yield self._alike(block)
                    rows += len(block.y)
                    seen += 1
                    self._report(seen, rows, time.perf_counter() - began)

    def __len__(self) -> int:
        return len(self._held) + len(self._blocks)

    def taken(self, order: Iterable[int]) -> Iterator[Block]:
        """These blocks, in this order, each in memory of its own."""
        began, rows = time.perf_counter(), 0
        for seen, k in enumerate(order, start=1):
            at = k - len(self._held)
            if at < 0:
                block = self._held[k]
            else:
                self._file.seek(self._starts[at])
                self._room = {}
                block = self._read(self._blocks[at], 0)
            yield self._alike(block)
            rows += len(block.y)
            self._report(seen, rows, time.perf_counter() - began)

    def _alike(self, block: Block) -> Block:
        return block._replace(X=as_csr(block.X)) if self.sparse else block

    def _from_file(self) -> Generator[Block, None, None]:
        """Those that are in the file, one read ahead while the others are used."""
        if not self._blocks:
            return
        self._file.seek(0)
        with ThreadPoolExecutor(1) as reader:
            ahead = reader.submit(self._read, self._blocks[0], 0)
            for k in range(1, len(self._blocks)):
                block = ahead.result()
                ahead = reader.submit(self._read, self._blocks[k], k % 2)
                yield block
            yield ahead.result()

    def _report(self, seen: int, rows: int, seconds: float) -> None:
        if self.progress is not None:
            done = self.nbytes * seen // len(self)
            self.progress(Progress(done, self.nbytes, rows, 0, seconds))

    def _read(self, block: _Stored, side: int) -> Block:
        X, y, *more = (self._get((side, k), place) for k, place in enumerate(block.places))
        if block.sparse:
            indptr, indices, *more = more
            return Block(Csr(X, indices, indptr, block.shape[1]), y, more[0] if more else None)
        return Block(X.reshape(block.shape), y, more[0] if more else None)

    def _get(self, key: tuple[int, int], place: _Place) -> Array:
        """One array of a block, in memory that is used again."""
        if place.stored is None:
            return np.ones(place.length, place.dtype)
        room = self._room.get((*key, place.stored))
        if room is None or room.size < place.length:
            room = self._room[*key, place.stored] = np.empty(place.length, place.stored)
        values = room[: place.length]
        into: Any = values.view(np.uint8)
        if self._file.readinto(into) != values.nbytes:
            raise DataError("the cache of parsed rows was cut short while in use. Run it again.")
        return values.astype(place.dtype, copy=False)


def _columns(block: Block) -> list[Array]:
    """The arrays of a block, in the order in which they are stored."""
    X, y, weight = block.X, block.y, block.sample_weight
    columns = [X.data, y, X.indptr, X.indices] if isinstance(X, Csr) else [X.ravel(), y]
    return columns if weight is None else [*columns, weight]


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


WINDOW = 8  # blocks whose rows are mixed; memory holds about three times as many


@dataclass(frozen=True)
class Shuffle:
    """Orders of blocks and of rows, drawn from a seed from 0 to 2**32 - 1."""

    seed: int

    @classmethod
    def from_seed(cls, seed: int | None) -> Shuffle | None:
        """Check a seed; None for rows in order."""
        if seed is None:
            return None
        whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
        if not (whole and 0 <= seed < 2**32):
            raise ParameterError(
                f"random_state must be a whole number from 0 to {2**32 - 1:,}, got {seed!r}."
            )
        return cls(int(seed))

    def order(self, epoch: int, k: int, n: int) -> npt.NDArray[np.int64]:
        """Which of n things comes first, second, ...: blocks for k = 0, else rows of window k.

        >>> Shuffle(seed=7).order(1, 0, 5).tolist()
        [1, 3, 2, 4, 0]
        """
        bits = np.random.PCG64(np.random.SeedSequence([self.seed, epoch, k]))
        return np.argsort(bits.random_raw(n), kind="stable")

    def windows(self, blocks: Iterable[Block], epoch: int) -> Iterator[Block]:
        """The rows of every window as one block. The blocks must stay as they are meanwhile."""
        left, k = iter(blocks), 0
        while held := list(islice(left, WINDOW)):
            k += 1
            n = sum(len(block.y) for block in held)
            mixed = permuted(held, self.order(epoch, k, n))
            del held  # before the next ones come
            yield mixed
            del mixed


def permuted(blocks: list[Block], order: npt.NDArray[np.int64]) -> Block:
    """Row i of the result is row order[i] of all blocks, one after the other."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    starts = np.cumsum([0, *(len(block.y) for block in blocks)])
    places = [place[lo:hi] for lo, hi in pairwise(starts)]
    y = np.concatenate([block.y for block in blocks])[order]
    weight = None
    if any(block.sample_weight is not None for block in blocks):
        weight = np.ones(len(order))
        for block, at in zip(blocks, places, strict=True):
            weight[at] = 1.0 if block.sample_weight is None else block.sample_weight
    tables = [block.X for block in blocks]
    sparse = isinstance(tables[0], Csr)
    return Block((_sparse if sparse else _dense)(tables, places), y, weight)


def _dense(tables: list[Array], places: list[Array]) -> Array:
    widths = {X.shape[1] for X in tables}
    if len(widths) > 1:
        raise DataError(f"rows of {max(widths)} features among rows of {min(widths)}.")
    X = np.empty((sum(map(len, places)), widths.pop()), tables[0].dtype)
    for part, at in zip(tables, places, strict=True):
        X[at] = part
    return X


def _sparse(tables: list[Any], places: list[Array]) -> Csr:
    n, size = sum(map(len, places)), sum(len(X.data) for X in tables)
    if size > np.iinfo(np.int32).max:
        raise DataError(
            f"{len(tables)} blocks have {size:,} entries, more than are shuffled at a time. Give "
            "smaller chunks."
        )
    indptr = np.zeros(n + 1, dtype=np.int32)
    for part, at in zip(tables, places, strict=True):
        indptr[at + 1] = np.diff(part.indptr)
    np.cumsum(indptr, out=indptr)
    data, indices = np.empty(size), np.empty(size, dtype=np.int32)
    for part, at in zip(tables, places, strict=True):
        ahead = indptr[at] - part.indptr[:-1]  # how far each row moves
        to = np.repeat(ahead, np.diff(part.indptr)) + np.arange(len(part.data))
        data[to], indices[to] = part.data, part.indices
    return Csr(data, indices, indptr, max(X.shape[1] for X in tables))


class CachedSource(BaseSource):
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
        say: Callable[[str], object] | None = None,
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
        for block in self.source.blocks():
            if self.cache.add(block) and self._say:
                self._say(
                    f"parsed rows beyond {self.cache.memory_bytes / 1e6:,.0f} MB are cached in a "
                    f"file in {self.cache.folder} until the end"
                )
            self._ends.append(block.end)
            yield block
        self.n_rows, self.feature_names = self._ends[-1].rows, self.source.feature_names
        self._complete = True

    def _cached(self) -> Iterator[Block]:
        first_row = 0
        for block, end in zip(self.cache, self._ends, strict=True):
            yield block._replace(first_row=first_row, end=end)
            first_row = end.rows

    def fill(self) -> None:
        """Read the source into the cache."""
        if not self._complete:
            for _ in self._filling():
                pass


class ShuffledSource(BaseSource):
    """The rows of a cached source in an order drawn from a seed, another one in every epoch."""

    same_order = False

    def __init__(self, source: CachedSource, shuffle: Shuffle) -> None:
        self.source, self.shuffle = source, shuffle
        self.labels = source.labels

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        """Windows of blocks, their rows mixed."""
        self.source.fill()
        self.labels.closed = True  # all were seen
        self.n_rows, self.feature_names = self.source.n_rows, self.source.feature_names
        cache, rows = self.source.cache, 0
        order = self.shuffle.order(epoch, 0, len(cache)).tolist()
        for mixed in self.shuffle.windows(cache.taken(order), epoch):
            block = mixed._replace(first_row=rows, end=Position(rows=rows + len(mixed.y)))
            rows = block.end.rows
            if rest := block.after(after):
                yield rest
