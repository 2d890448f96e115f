"""Blocks: rows as float64, a few at a time. float32 and integers are converted exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Array = npt.NDArray[Any]
IN_CACHE = 1 << 17  # numbers: 1 MiB, which stays in the cache while it is looked at twice


def slices(X: Any, numbers: int) -> Iterator[tuple[int, Any]]:
    """(first row, some rows of X as float64), about so many numbers at a time."""
    n, size = X.shape[0], X.nnz if sp.issparse(X) else X.size
    step = max(1, n * numbers // max(size, 1))
    for low in range(0, n, step):
        yield low, as_float64(X[low : low + step] if step < n else X)


def as_float64(X: Any) -> Any:
    """The same numbers as float64, an array or CSR."""
    if sp.issparse(X):
        return sp.csr_array(X, dtype=np.float64)
    return np.asarray(X, dtype=np.float64)


def with_ones(X: Any) -> Any:
    """With a last column of ones, for the offset."""
    ones = np.ones((X.shape[0], 1))
    return sp.hstack([X, ones], format="csr") if sp.issparse(X) else np.hstack([X, ones])
