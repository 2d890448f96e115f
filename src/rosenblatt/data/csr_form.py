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
    """last: of each column, the last row (from 1) out of order that named it."""
    n = indptr.size - 1
    if n < 0 or indptr[0] != 0 or indptr[n] > indices.size:
        return BROKEN
    found = SORTED
    for i in range(n):
        first, end = indptr[i], indptr[i + 1]
        if first > end or end > indices.size:
            return BROKEN
        rising: Any = True
        before: Any = -1
        for k in range(first, end):
            j = np.int64(indices[k])
            if j < 0 or j >= n_columns:
                return BROKEN
            rising = rising and j > before
            before = j
        if not rising:
            found = max(found, UNIQUE)
            for k in range(first, end):
                j = np.int64(indices[k])
                if last[j] == i + 1:
                    found = REPEATED
                last[j] = i + 1
    return found


try:
    _form = quick_to_load(njit(cache=True, nogil=True)(_look))
except RuntimeError:  # no place to write a cache
    _form = njit(nogil=True)(_look)
