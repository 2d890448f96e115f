"""Gathered: many rows, in a matrix or one by one, in the columns of a model that learns from rows.

Nothing about the model changes until all rows have been read and found good.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.chunks import frame_names
from rosenblatt.data.features import (
    ARRAYS,
    COLUMNS,
    NAMES,
    Features,
    as_pairs,
    beyond,
    check_value,
    kind_of,
)
from rosenblatt.data.problem import as_matrix
from rosenblatt.errors import DataError

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Gathered:
    """Rows as the compiled loops want them, and the features that came with them.

    data, indices, begins : a table and None; or CSR rows, in order within each
    """

    kind: str
    width: int
    data: Array
    indices: Array | None
    begins: Array
    new_names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.begins) - 1

    @classmethod
    def of(cls, X: Any, features: Features) -> Gathered:
        """Read rows; `features` says which columns they have, and stays as it is."""
        names = frame_names(X)
        if names is not None and (features.kind == NAMES or features.index or not features.width):
            return cls._named_table(as_matrix(X), names, features)
        if not hasattr(X, "shape") and (rows := _one_by_one(X)) is not None:
            return cls._of_rows(rows, features)
        A = as_matrix(X)
        kind = COLUMNS if sp.issparse(A) else ARRAYS
        features.check_kind(kind)
        if kind == COLUMNS:
            return cls._of_csr(A, max(features.width, A.shape[1]), COLUMNS)
        if features.width not in (0, A.shape[1]):
            raise DataError(
                f"X has {A.shape[1]} features, the model has {features.width}. Give the same."
            )
        A = np.require(A, np.float64, ["C", "W"])  # one type for the compiler
        return cls(ARRAYS, A.shape[1], A, None, np.zeros(len(A) + 1, dtype=np.int64))

    @classmethod
    def _of_csr(cls, A: Any, width: int, kind: str, new: tuple[str, ...] = ()) -> Gathered:
        data = np.require(A.data, np.float64, ["C", "W"])
        return cls(kind, width, data, A.indices.astype(np.int32), A.indptr.astype(np.int64), new)

    @classmethod
    def _named_table(cls, A: Any, names: tuple[str, ...], features: Features) -> Gathered:
        """The columns of a frame are named features; every row has all of them."""
        features.check_kind(NAMES)
        fresh = [name for name in names if name not in features.index]
        index = features.index | {name: features.width + k for k, name in enumerate(fresh)}
        columns = np.array([index[name] for name in names])
        if sp.issparse(A):
            moved = sp.csr_matrix((A.data, columns[A.indices], A.indptr), (A.shape[0], len(index)))
            moved.sort_indices()
        else:
            order, n = np.argsort(columns), len(A)
            moved = sp.csr_matrix(
                (A[:, order].ravel(), np.tile(columns[order], n), np.arange(n + 1) * len(names)),
                (n, len(index)),
            )
        return cls._of_csr(moved, len(index), NAMES, tuple(fresh))

    @classmethod
    def _of_rows(cls, rows: list[Any], features: Features) -> Gathered:
        kind, fresh, width = features.kind, dict[str, int](), features.width
        keys: list[Any] = []
        values: list[Any] = []
        begins = [0]
        for row in rows:
            pairs = row if type(row) is dict else as_pairs(row)
            if pairs is None:
                raise DataError(f"row {len(begins) - 1} is not of the kind of the first one.")
            own = kind_of(tuple(pairs)) or kind
            if own is not None:
                features.check_kind(own, kind)
            kind = own
            keys.extend(pairs)
            values.extend(pairs.values())
            begins.append(len(keys))
        if kind == NAMES:
            index = features.index
            for name in keys:
                if name not in index and name not in fresh:
                    fresh[name] = width + len(fresh)
            columns = [index[k] if k in index else fresh[k] for k in keys]
            width += len(fresh)
        else:
            columns = [int(k) for k in keys]
            late = beyond(keys, width)
            width = int(max(late)) + 1 if late else width
        for name, value in zip(keys, values, strict=True):
            check_value(name, value)
        A = sp.csr_matrix(
            (np.array(values, dtype=np.float64), np.array(columns, dtype=np.int64), begins),
            (len(rows), max(width, 1)),
        )
        A.sort_indices()
        return cls._of_csr(A, width, kind or NAMES, tuple(fresh))

    def settle(self, features: Features) -> None:
        """The rows are taken: so are their features."""
        if self.kind == ARRAYS:
            features.begin_arrays(self.width)
            return
        features.begin(self.kind)
        for name in self.new_names:
            features.index[name] = len(features.index)
        features.width = self.width

    def matrix(self) -> Any:
        """The rows as a matrix."""
        if self.indices is None:
            return self.data
        return sp.csr_matrix((self.data, self.indices, self.begins), (len(self), self.width))


def _one_by_one(X: Any) -> list[Any] | None:
    """Rows that say which features they have; None for a table of numbers."""
    if isinstance(X, Mapping) or not isinstance(X, Iterable):
        raise DataError(
            f"X is a table or a list of rows, got a {type(X).__name__}. For one row use learn_one."
        )
    rows = X if isinstance(X, list) else list(X)
    if not rows:
        raise DataError("X has no rows. Give at least one.")
    first = rows[0]
    if isinstance(first, Mapping) or sp.issparse(first):
        return rows
    pairs = isinstance(first, (list, tuple)) and as_pairs(first) is not None
    return rows if pairs else None
