"""Digest: SHA-256 of numbers and labels, whatever holds them."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.chunks import Rows

Array = npt.NDArray[Any]
BLOCK = 1 << 16  # numbers digested at once


def data_digest(rows: Rows) -> str:
    """SHA-256 of the numbers and labels.

    The same for dense and CSR, float32 and float64, any order in memory and any chunks: four
    streams are digested apart, each row by row, and then their digests together. They are the
    labels, how many entries of a row are not zero, these entries as float64, and their columns
    unless none is missing.

    >>> from rosenblatt.data.chunks import as_rows
    >>> data_digest(as_rows([[1.0, 0.0], [2.0, 3.0]], [0, 1]))[:8]
    '00eebdaa'
    """
    labels, counts, values, columns = streams = [hashlib.sha256() for _ in range(4)]
    d = rows.n_features
    for part in rows.parts():
        labels.update(part.y.astype(np.int8).tobytes())
        n, size = part.X.shape[0], part.X.nnz if sp.issparse(part.X) else part.X.size
        step = max(1, n * BLOCK // max(size, 1))
        for low in range(0, n, step):
            count, value, column = _entries(part.X[low : low + step], d)
            counts.update(count.astype("<i8").data)
            values.update(np.ascontiguousarray(value, dtype="<f8").data)
            columns.update(column.astype("<i8").data)
    whole = hashlib.sha256(np.array([rows.n_rows, d], dtype="<i8").tobytes())
    for stream in streams:
        whole.update(stream.digest())
    return whole.hexdigest()


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
