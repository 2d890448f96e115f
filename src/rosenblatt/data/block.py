"""Block: a run of rows with class numbers and weights, and where it ends in its source."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt.errors import DataError

Array = npt.NDArray[Any]


class Csr(NamedTuple):
    """Rows of a CSR matrix as bare arrays; no row names a column twice."""

    data: Array
    indices: Array
    indptr: Array
    n_features: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.indptr) - 1, self.n_features

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype

    def to_scipy(self) -> Any:
        """The same as a CSR matrix of scipy."""
        import scipy.sparse as sp

        return sp.csr_matrix((self.data, self.indices, self.indptr), shape=self.shape)


class Position(NamedTuple):
    """A place between two rows of a source: rows, lines and skipped lines before it."""

    rows: int = 0
    lines: int = 0
    skipped: int = 0
    offset: int = 0  # bytes, where the source is a file that can be read from there


START = Position()


class Block(NamedTuple):
    """Consecutive rows of a source.

    Attributes
    ----------
    X : float32 or float64 array, C-contiguous, or Csr
    y : int32 array
        Numbers of the labels in `source.labels`; -1 for a row that is not visited.
    sample_weight : float64 array or None
        None: every row counts 1.
    first_row : int
        Number of the first row in the source.
    end : Position
        Where the next block begins.
    """

    X: Any
    y: npt.NDArray[np.int32]
    sample_weight: npt.NDArray[np.float64] | None = None
    first_row: int = 0
    end: Position = START

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def rows(self, start: int, stop: int) -> Block:
        """Some consecutive rows. Their `end` is known only if they are the last ones."""
        if (start, stop) == (0, self.n_rows):
            return self
        X, y, weight, first_row, end = self
        if isinstance(X, Csr):
            lo, hi = X.indptr[start], X.indptr[stop]
            indptr = X.indptr[start : stop + 1] - lo
            X = Csr(X.data[lo:hi], X.indices[lo:hi], indptr, X.n_features)
        else:
            X = X[start:stop]
        weight = None if weight is None else weight[start:stop]
        end = end if stop == self.n_rows else Position(rows=first_row + stop)
        return Block(X, y[start:stop], weight, first_row + start, end)

    def some(self, numbers: Array) -> Block:
        """Some rows by their numbers in the block, in this order, copied."""
        X, y, weight, _, _ = self
        weight = None if weight is None else weight[numbers]
        if not isinstance(X, Csr):
            return Block(X[numbers], y[numbers], weight)
        lengths = np.diff(X.indptr)[numbers]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(X.indptr.dtype)
        entries = np.arange(indptr[-1]) + np.repeat(X.indptr[numbers] - indptr[:-1], lengths)
        X = Csr(X.data[entries], X.indices[entries], indptr, X.n_features)
        return Block(X, y[numbers], weight)

    def after(self, position: Position) -> Block | None:
        """The rows after a position, or None if there are none."""
        known = max(0, position.rows - self.first_row)
        return self.rows(known, self.n_rows) if known < self.n_rows else None

    def checksum(self) -> int:
        """Of the shape and the bytes of rows, labels and weights."""
        X = self.X[:3] if isinstance(self.X, Csr) else (self.X,)
        total = zlib.crc32(repr((self.X.shape, self.X.dtype)).encode())
        for part in (*X, self.y, self.sample_weight):
            if part is not None and part.size:
                total = zlib.crc32(np.ascontiguousarray(part).data.cast("B"), total)
        return total

    def in_core(self, seen: Array | None = None) -> _core.Block:
        """The block as the core visits it; `seen` receives the score of every visited row."""
        return _core.Block(core_rows(self.X), self.y, self.sample_weight, seen)


def stack(blocks: Sequence[Block]) -> Block:
    """The rows of several blocks as one, copied."""
    tables = [_bare(block.X) for block in blocks]
    X: Any
    if not all(isinstance(table, Csr) for table in tables):
        tables = [_dense(table) if isinstance(table, Csr) else table for table in tables]
    if isinstance(tables[0], Csr):
        lengths = np.concatenate([np.diff(table.indptr) for table in tables])
        if (size := int(lengths.sum(dtype=np.int64))) > np.iinfo(tables[0].indptr.dtype).max:
            raise DataError(f"{len(tables)} blocks have {size:,} entries. Give smaller chunks.")
        X = Csr(
            np.concatenate([table.data for table in tables]),
            np.concatenate([table.indices for table in tables]),
            np.concatenate([[0], np.cumsum(lengths)]).astype(tables[0].indptr.dtype),
            max(table.n_features for table in tables),
        )
    else:
        X = np.concatenate(tables)
    weight = None
    if any(block.sample_weight is not None for block in blocks):
        ones = (np.ones(b.n_rows) if b.sample_weight is None else b.sample_weight for b in blocks)
        weight = np.concatenate(list(ones))
    return Block(X, np.concatenate([block.y for block in blocks]), weight)


def _bare(X: Any) -> Any:
    """A scipy matrix as bare arrays; other rows as they are."""
    if isinstance(X, Csr) or not hasattr(X, "indptr"):
        return X
    return Csr(X.data, X.indices, X.indptr, X.shape[1])


def _dense(X: Csr) -> Array:
    table = np.zeros(X.shape, X.dtype)
    table[np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices] = X.data
    return table


def as_csr(X: Array | Csr) -> Csr:
    """Rows as Csr with every entry, zeros too."""
    if isinstance(X, Csr):
        return X
    n, d = X.shape
    indices = np.tile(np.arange(d, dtype=np.int32), n)
    return Csr(X.ravel(), indices, np.arange(n + 1, dtype=np.int32) * np.int32(d), d)


def core_rows(X: Any) -> _core.Rows:
    """Validated rows, dense or CSR, read in place."""
    if hasattr(X, "indptr"):
        return _core.Rows(X.data, X.indices, X.indptr, int(X.shape[1]))
    return _core.Rows(X)
