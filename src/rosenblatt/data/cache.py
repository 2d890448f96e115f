"""Cache: parsed chunks in a compact binary form on disk, for the passes after the first.

The file has no name from the start where the system can do that, so it is gone whatever ends the
process. It holds nothing but arrays; what and where they are stays in memory, so nothing on disk
is trusted. Values go as nothing (all are 1), as float32 (if that is exact) or as float64.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.reading import Chunk, Progress
from rosenblatt.errors import DataError

BLOCK_BYTES = 1 << 23  # chunks are joined up to here: fewer, larger pieces to train on
Array = npt.NDArray[Any]


class _Place(NamedTuple):
    """An array in the file: its type there (None: all ones), its length, its type in memory."""

    stored: np.dtype[Any] | None
    length: int
    dtype: np.dtype[Any]


class _Block(NamedTuple):
    """Some rows: values, y, then indptr and indices if sparse, then weights if there are any."""

    rows: int
    sparse: bool
    places: tuple[_Place, ...]


class ChunkCache:
    """Chunks go in one by one, come out in larger blocks of the same rows in the same order.

    A block lies in memory that a later one takes: use it before going on.

    Parameters
    ----------
    folder : where the file is; it needs about the room of the text
    progress : called at every block that comes out
    """

    def __init__(self, folder: Path, progress: Callable[[Progress], object] | None = None) -> None:
        # open as long as the cache lives, closed in `close`
        self._file = tempfile.TemporaryFile(dir=folder, prefix=".rosenblatt-cache-")  # noqa: SIM115
        self._blocks: list[_Block] = []
        self._waiting: list[Chunk] = []
        self._size = 0
        self._room: dict[tuple[int, int, Any], Array] = {}
        self.progress = progress
        self.width = 0
        self.nbytes = 0

    def __enter__(self) -> ChunkCache:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, chunk: Chunk) -> None:
        """One chunk more; the widest says how wide all are."""
        X = chunk.X
        self.width = max(self.width, X.shape[1])
        self._waiting.append(chunk)
        self._size += 12 * X.nnz if sp.issparse(X) else X.nbytes
        if self._size >= BLOCK_BYTES:
            self._write()

    def _write(self) -> None:
        chunks, self._waiting, self._size = self._waiting, [], 0
        if not chunks:
            return
        sparse = sp.issparse(chunks[0].X)
        places = tuple(self._put(arrays) for arrays in _columns(chunks, sparse))
        self._blocks.append(_Block(sum(len(c.y) for c in chunks), sparse, places))

    def _put(self, arrays: list[Array]) -> _Place:
        """Write arrays one after the other; they come back as one."""
        stored, dtype = _stored(arrays), arrays[0].dtype
        length = sum(array.size for array in arrays)
        if stored is not None:
            for array in arrays:
                content: Any = np.ascontiguousarray(array, stored)
                self._file.write(content)
            self.nbytes += length * stored.itemsize
        return _Place(stored, length, dtype)

    def __iter__(self) -> Iterator[Chunk]:
        began, rows = time.perf_counter(), 0
        self._write()
        self._file.seek(0)
        with ThreadPoolExecutor(1) as reader:  # one block ahead
            waiting = None
            for k, block in enumerate([*self._blocks, None]):
                ahead = block and reader.submit(self._read, block, k % 2)
                if waiting is not None:
                    chunk = waiting.result()
                    rows += len(chunk.y)
                    yield chunk
                    self._report(k, rows, time.perf_counter() - began)
                waiting = ahead

    def _report(self, k: int, rows: int, seconds: float) -> None:
        if self.progress is not None:
            done = self.nbytes * k // len(self._blocks)
            self.progress(Progress(done, self.nbytes, rows, 0, seconds))

    def _read(self, block: _Block, side: int) -> Chunk:
        X, y, *more = (self._get((side, k), place) for k, place in enumerate(block.places))
        if block.sparse:
            indptr, indices, *more = more
            X = sp.csr_matrix((X, indices, indptr), shape=(block.rows, self.width))
        else:
            X = X.reshape(block.rows, self.width)
        return Chunk(X, y, more[0] if more else None)

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


def _columns(chunks: list[Chunk], sparse: bool) -> list[list[Array]]:
    """What a block holds, each as the arrays of its chunks."""
    columns = [[c.X.data if sparse else c.X.ravel() for c in chunks], [c.y for c in chunks]]
    if sparse:
        ends = np.cumsum([0] + [c.X.nnz for c in chunks])
        starts = [c.X.indptr[:-1] + at for c, at in zip(chunks, ends[:-1], strict=True)]
        columns += [
            [part.astype(np.int32) for part in (*starts, ends[-1:])],
            [c.X.indices for c in chunks],
        ]
    if any(c.sample_weight is not None for c in chunks):
        columns.append(
            [np.ones(len(c.y)) if c.sample_weight is None else c.sample_weight for c in chunks]
        )
    return columns


def _stored(arrays: list[Array]) -> np.dtype[Any] | None:
    """The type that holds these numbers in few bytes: None if all are 1, float32 if exact."""
    dtype = arrays[0].dtype
    if dtype != np.float64:
        return dtype
    if all(_holds(array, lambda v: v == 1.0) for array in arrays):
        return None
    with np.errstate(over="ignore", under="ignore"):
        exact = all(_holds(array, lambda v: v.astype(np.float32) == v) for array in arrays)
    return np.dtype(np.float32) if exact else dtype


def _holds(values: Array, test: Callable[[Array], Array]) -> bool:
    """Whether all pass; a few are asked first, which mostly settles it."""
    return bool(test(values[:64]).all() and test(values).all())
