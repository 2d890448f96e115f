"""Columns: what one reading of the rows says of every feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.cone import Cone, ConeBlock

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Columns:
    """For every feature, in each class: its range, and how often it is not 0.

    Attributes
    ----------
    low, high : arrays of shape (2, d), the smallest and largest value in the negative and in
        the positive class
    used : array of shape (2, d), how many rows of the class have another value than 0
    example : array of d row numbers, a row where the feature is not 0, or -1
    """

    low: Array
    high: Array
    used: npt.NDArray[np.int64]
    example: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rows: Cone) -> Columns:
        found: list[Columns] = list(rows.map(cls.of_part))
        examples = np.stack([one.example for one in found])
        first = (examples >= 0).argmax(axis=0)
        return cls(
            np.minimum.reduce([one.low for one in found]),
            np.maximum.reduce([one.high for one in found]),
            np.sum([one.used for one in found], axis=0),
            examples[first, np.arange(rows.n_features)],
        )

    @classmethod
    def of_part(cls, part: ConeBlock) -> Columns:
        """The same of the rows of a part."""
        d = part.X.shape[1]
        low, high = np.full((2, d), np.inf), np.full((2, d), -np.inf)
        used = np.zeros((2, d), dtype=np.int64)
        for k, label in enumerate((-1, 1)):
            X = part.X[np.flatnonzero(part.sign == label)]
            if X.shape[0]:
                low[k], high[k] = _flat(X.min(axis=0)), _flat(X.max(axis=0))
                used[k] = _flat((X != 0).sum(axis=0)).astype(np.int64)
        return cls(low, high, used, _examples(part))

    @property
    def largest(self) -> Array:
        """The largest absolute value of each feature."""
        return np.asarray(np.maximum(np.abs(self.low), np.abs(self.high)).max(axis=0))

    def one_signed(self) -> npt.NDArray[np.int64]:
        """1 where y_i x_ij >= 0 for all rows and > 0 for some, -1 where <= 0, else 0."""
        some = self.used.sum(axis=0) > 0
        up = (self.low[1] >= 0) & (self.high[0] <= 0)
        down = (self.high[1] <= 0) & (self.low[0] >= 0)
        return np.where(some & up, 1, np.where(some & down, -1, 0))


def _flat(values: Any) -> Array:
    dense = values.toarray() if sp.issparse(values) else values
    return np.asarray(dense, dtype=np.float64).ravel()


def _examples(part: ConeBlock) -> npt.NDArray[np.int64]:
    """For each column a row where it is not 0 (if dense, the largest), or -1."""
    X = part.X
    if sp.issparse(X):
        at, row = np.flatnonzero(X.data), np.full(X.shape[1], -1)
        there, first = np.unique(X.indices[at], return_index=True)
        row[there] = np.searchsorted(X.indptr, at[first], side="right") - 1
    else:
        row = np.abs(X).argmax(axis=0)
        row = np.where(X[row, np.arange(X.shape[1])] != 0, row, -1)
    return np.where(row >= 0, row + part.first_row, -1)
