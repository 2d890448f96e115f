"""Digest: SHA-256 of numbers and labels, whatever holds them and however it is cut."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.cone import Cone, ConeBlock

Array = npt.NDArray[Any]
Streams = tuple[bytes, bytes, bytes, bytes]
LEAF = 1 << 13  # numbers of a table without gaps that are digested together
FEWEST = 64  # rows
TOGETHER = 1 << 16  # numbers looked at together


def data_digest(rows: Cone) -> str:
    """SHA-256 of the numbers and labels.

    The same for dense and CSR, float32 and float64, any order in memory and any chunks: so many
    rows, counted from the first, are a leaf, and the digests of the leaves are digested together.
    A leaf is four streams, each row by row, one after the other: the labels, how many entries of a
    row are not zero, these entries as float64, and their columns unless none is missing. How long
    they are follows from the number of rows and from the second.

    >>> from rosenblatt.data.cone import as_cone
    >>> data_digest(as_cone([[1.0, 0.0], [2.0, 3.0]], [0, 1]))[:8]
    'e3c0e2ce'
    """
    return together(rows.map(Piece.of), rows.n_rows, rows.n_features)


@dataclass(frozen=True)
class Piece:
    """What a part adds: digests of the leaves inside it, and its share of those at either end.

    `first` is what completes a leaf that began before the part (all of the part, if it does not
    even end there), `last` what begins one.
    """

    first: Streams
    leaves: bytes
    last: Streams

    @classmethod
    def of(cls, part: ConeBlock) -> Piece:
        size = _leaf_rows(part.X.shape[1])
        begin = min(-part.first_row % size, len(part))
        end = begin + (len(part) - begin) // size * size
        leaves = [_leaf(streams) for streams in _leaf_streams(part, begin, end, size)]
        return cls(_streams(part, 0, begin), b"".join(leaves), _streams(part, end, len(part)))


def together(pieces: Iterable[Piece], n: int, d: int) -> str:
    """The digest of all rows from their pieces, in order."""
    whole = hashlib.sha256(np.array([n, d], dtype="<i8").tobytes())
    begun: Streams = (b"", b"", b"", b"")
    size = _leaf_rows(d)
    for piece in pieces:
        begun = _joined(begun, piece.first)
        if len(begun[0]) == size:  # a byte a label
            whole.update(_leaf(begun))
            begun = (b"", b"", b"", b"")
        whole.update(piece.leaves)
        begun = _joined(begun, piece.last)
    if begun[0]:
        whole.update(_leaf(begun))
    return whole.hexdigest()


def _leaf_rows(d: int) -> int:
    return max(FEWEST, LEAF // d)


def _joined(a: Streams, b: Streams) -> Streams:
    if not a[0] or not b[0]:
        return b if b[0] else a
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


def _leaf(streams: Iterable[Any]) -> bytes:
    found = hashlib.sha256()
    for stream in streams:
        found.update(stream)
    return found.digest()


def _streams(part: ConeBlock, low: int, high: int) -> Streams:
    """The four streams of some rows."""
    if high <= low:
        return b"", b"", b"", b""
    label, count, value, column = next(_leaf_streams(part, low, high, high - low))
    return label.tobytes(), count.tobytes(), value.tobytes(), column.tobytes()


def _leaf_streams(part: ConeBlock, low: int, high: int, size: int) -> Iterator[tuple[Array, ...]]:
    """The four streams of every `size` rows; some are looked at together, which is quicker."""
    X, d = part.X, part.X.shape[1]
    numbers = X.nnz if sp.issparse(X) else X.size
    step = max(1, len(part) * TOGETHER // max(numbers, 1) // size) * size
    for a in range(low, high, step):
        b = min(a + step, high)
        count, value, column = _entries(X[a:b], d)
        label, count = part.label[a:b], count.astype("<i8")
        value = np.ascontiguousarray(value, dtype="<f8").ravel()
        column = column.astype("<i8")
        gaps = np.where(count < d, count, 0)
        cuts = np.arange(0, b - a + 1, size)
        at, gap_at = (np.append(0, np.cumsum(c))[cuts] for c in (count, gaps))
        for k in range(len(cuts) - 1):
            rows = slice(cuts[k], cuts[k + 1])
            yield (
                label[rows],
                count[rows],
                value[at[k] : at[k + 1]],
                column[gap_at[k] : gap_at[k + 1]],
            )


def _entries(X: Any, d: int) -> tuple[Array, Array, Array]:
    """Entries other than 0: how many in each row, their values, columns of rows with gaps."""
    n = X.shape[0]
    if sp.issparse(X):
        count, value, column = np.diff(X.indptr), X.data, X.indices
        keep = value != 0
        if not keep.all():
            row = np.repeat(np.arange(n), count)
            count = np.bincount(row[keep], minlength=n)
            value, column = value[keep], column[keep]
    else:
        there = X != 0
        if there.all():
            return np.full(n, d), X, np.empty(0, dtype=np.int64)
        count, value = there.sum(axis=1), X[there]
        column = np.flatnonzero(there) % d
    return count, value, column[np.repeat(count < d, count)]
