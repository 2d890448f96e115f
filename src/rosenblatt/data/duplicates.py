"""Duplicates: whether a row of a CSR matrix names a column twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from rosenblatt.data.compiled import quick_to_load

Array = npt.NDArray[Any]


def has_duplicates(indptr: Array, indices: Array, n_columns: int) -> bool:
    """In one look at every entry, without sorting; the indices must be within the columns."""
    return bool(_found(indptr, indices, np.full(n_columns, -1, dtype=np.int64)))


def _search(indptr: Array, indices: Array, last: Array) -> bool:
    """last: of each column, the last row that named it."""
    for i in range(indptr.size - 1):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if last[j] == i:
                return True
            last[j] = i
    return False


try:
    _found = quick_to_load(njit(cache=True, nogil=True)(_search))
except RuntimeError:  # no place to write a cache
    _found = njit(nogil=True)(_search)
