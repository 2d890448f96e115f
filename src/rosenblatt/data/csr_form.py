"""CSR form: whether the indices of a CSR matrix are valid, sorted and unique, in one look."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from rosenblatt.data.compiled import quick_to_load

Array = npt.NDArray[Any]
BROKEN, SORTED, UNIQUE, REPEATED = 0, 1, 2, 3


def form(indptr: Array, indices: Array, n_columns: int) -> int:
    """BROKEN: no CSR matrix. SORTED: every row rises. UNIQUE: in any order. REPEATED: one twice."""
    return int(_form(indptr, indices, n_columns, np.zeros(n_columns, dtype=np.int64)))


def _look(indptr: Array, indices: Array, n_columns: int, last: Array) -> int:
    """last: of each column, the last row (from 1) that named it."""
    n = indptr.size - 1
    if n < 0 or indptr[0] != 0 or indptr[n] > indices.size:
        return BROKEN
    size = np.uint64(max(indptr[n], 0))
    outside = 0
    for k in range(size):
        outside += (indices[k] < 0) | (indices[k] >= n_columns)
    falls = 0  # where an index is not above the one before it, within a row
    for k in range(np.uint64(1), size):
        falls += indices[k] <= indices[k - np.uint64(1)]
    for i in range(n):
        if indptr[i] > indptr[i + 1]:
            return BROKEN
        if i > 0 and indptr[i] > indptr[i - 1] and np.uint64(indptr[i]) < size:
            falls -= indices[indptr[i]] <= indices[indptr[i] - 1]
    if outside > 0:
        return BROKEN
    if falls == 0:
        return SORTED
    for i in range(n):
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = np.uint64(indices[k])
            if last[j] == i + 1:
                return REPEATED
            last[j] = i + 1
    return UNIQUE


try:
    _form = quick_to_load(njit(cache=True, nogil=True)(_look))
except RuntimeError:  # no place to write a cache
    _form = njit(nogil=True)(_look)
