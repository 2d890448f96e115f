"""Cache: parsed chunks kept for the passes after the first: in memory, then in a file.

The first chunks stay in memory as they are, up to a budget. What comes after goes to a file in a
compact binary form, which has no name from the start where the system can do that, so it is gone
whatever ends the process. It holds nothing but arrays; what and where they are stays in memory, so
nothing on disk is trusted. Values go as nothing (all are 1), as float32 (if that is exact) or as
float64.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.block import Csr
from rosenblatt.data.reading import Chunk, Progress
from rosenblatt.errors import DataError

MEMORY_BYTES = 1 << 25  # of chunks that stay in memory
Array = npt.NDArray[Any]


class _Place(NamedTuple):
    """An array in the file: its type there (None: all ones), its length, its type in memory."""

    stored: np.dtype[Any] | None
    length: int
    dtype: np.dtype[Any]


class _Block(NamedTuple):
    """A chunk in the file: values, y, then indptr and indices if sparse, then weights if any."""

    shape: tuple[int, int]
    sparse: bool
    places: tuple[_Place, ...]


class ChunkCache:
    """Chunks go in one by one, and come out as often as wanted, in the same order or another.

    One that comes from the file lies in memory that a later one takes: use it before going on.

    Parameters
    ----------
    folder : where the file is; it needs about the room of the text
    progress : called at every chunk that comes out
    """

    def __init__(self, folder: Path, progress: Callable[[Progress], object] | None = None) -> None:
        self.folder, self.progress = folder, progress
        self._file: Any = None
        self._held: list[Chunk] = []
        self._blocks: list[_Block] = []
        self._starts: list[int] = []  # of blocks in the file
        self._room: dict[tuple[int, int, Any], Array] = {}
        self.memory_bytes = 0
        self.file_bytes = 0

    @property
    def nbytes(self) -> int:
        return self.memory_bytes + self.file_bytes

    def __enter__(self) -> ChunkCache:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, chunk: Chunk) -> bool:
        """One chunk more, not to be changed afterwards; whether it is the first in the file."""
        columns = _columns(chunk)
        size = sum(array.nbytes for array in columns)
        if self._file is None and self.memory_bytes + size <= MEMORY_BYTES:
            self._held.append(chunk)
            self.memory_bytes += size
            return False
        if self._file is None:  # open as long as the cache lives
            self._file = tempfile.TemporaryFile(dir=self.folder, prefix=".rosenblatt-cache-")  # noqa: SIM115  # as said
        self._starts.append(self.file_bytes)
        places = tuple(map(self._put, columns))
        self._blocks.append(_Block(chunk.X.shape, _is_sparse(chunk.X), places))
        return len(self._blocks) == 1

    def _put(self, array: Array) -> _Place:
        stored = _stored(array)
        if stored is not None:
            content: Any = np.ascontiguousarray(array, stored)
            self._file.write(content)
            self.file_bytes += content.nbytes
        return _Place(stored, array.size, array.dtype)

    def __iter__(self) -> Iterator[Chunk]:
        began, rows, seen = time.perf_counter(), 0, 0
        with closing(self._from_file()) as others:
            for chunks in (self._held, others):
                for chunk in chunks:
                    yield chunk
                    rows += len(chunk.y)
                    seen += 1
                    self._report(seen, rows, time.perf_counter() - began)

    def __len__(self) -> int:
        return len(self._held) + len(self._blocks)

    def taken(self, order: Iterable[int]) -> Iterator[Chunk]:
        """These chunks, in this order, each in memory of its own."""
        began, rows = time.perf_counter(), 0
        for seen, k in enumerate(order, start=1):
            at = k - len(self._held)
            if at < 0:
                chunk = self._held[k]
            else:
                self._file.seek(self._starts[at])
                self._room = {}
                chunk = self._read(self._blocks[at], 0)
            yield chunk
            rows += len(chunk.y)
            self._report(seen, rows, time.perf_counter() - began)

    def _from_file(self) -> Generator[Chunk, None, None]:
        """Those that are in the file, one read ahead while the others are used."""
        if not self._blocks:
            return
        self._file.seek(0)
        with ThreadPoolExecutor(1) as reader:
            ahead = reader.submit(self._read, self._blocks[0], 0)
            for k in range(1, len(self._blocks)):
                chunk = ahead.result()
                ahead = reader.submit(self._read, self._blocks[k], k % 2)
                yield chunk
            yield ahead.result()

    def _report(self, seen: int, rows: int, seconds: float) -> None:
        if self.progress is not None:
            done = self.nbytes * seen // len(self)
            self.progress(Progress(done, self.nbytes, rows, 0, seconds))

    def _read(self, block: _Block, side: int) -> Chunk:
        X, y, *more = (self._get((side, k), place) for k, place in enumerate(block.places))
        if block.sparse:
            indptr, indices, *more = more
            return Chunk(Csr(X, indices, indptr, block.shape[1]), y, more[0] if more else None)
        return Chunk(X.reshape(block.shape), y, more[0] if more else None)

    def _get(self, key: tuple[int, int], place: _Place) -> Array:
        """One array of a chunk, in memory that is used again."""
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


def _is_sparse(X: Any) -> bool:
    return hasattr(X, "indptr")


def _columns(chunk: Chunk) -> list[Array]:
    """The arrays of a chunk, in the order of a block."""
    X, y, weight = chunk
    columns = [X.data, y, X.indptr, X.indices] if _is_sparse(X) else [X.ravel(), y]
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
    """Whether all pass; a few are asked first, which mostly settles it."""
    return bool(test(values[:64]).all() and test(values).all())
