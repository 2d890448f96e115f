"""Ranges: the smallest and largest values of every column in either class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.cone import ConeBlock

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Ranges:
    """For every column, in the class of sign -1 and in that of +1: arrays of shape (2, d).

    Attributes
    ----------
    low, high : the smallest and the largest value; inf and -inf for a class without rows
    used : how many rows have another value than 0
    """

    low: Array
    high: Array
    used: npt.NDArray[np.int64]

    @classmethod
    def of(cls, block: ConeBlock) -> Ranges:
        """Those of the rows of a block."""
        low, high, used = _empty(block), -_empty(block), np.zeros((2, block.X.shape[1]), np.int64)
        for k, X in _of_classes(block, np.ones(len(block), dtype=bool)):
            low[k], high[k] = _ends(X)
            used[k] = _flat((X != 0).sum(axis=0))
        return cls(low, high, used)

    @classmethod
    def joined(cls, parts: Iterable[Ranges]) -> Ranges:
        """Those of all blocks."""
        low, high, used = zip(*((p.low, p.high, p.used) for p in parts), strict=True)
        return cls(np.minimum.reduce(low), np.maximum.reduce(high), np.sum(used, axis=0))

    @property
    def largest(self) -> Array:
        """The largest absolute value of each column."""
        return np.asarray(np.maximum(np.abs(self.low), np.abs(self.high)).max(axis=0))

    @property
    def one_sided(self) -> npt.NDArray[np.int64]:
        """1 where y_i x_ij >= 0 for all rows and > 0 for some, -1 where <= 0, else 0."""
        some = self.used.sum(axis=0) > 0
        up = (self.low[1] >= 0) & (self.high[0] <= 0)
        down = (self.high[1] <= 0) & (self.low[0] >= 0)
        return np.where(some & up, 1, np.where(some & down, -1, 0))


def class_ends(block: ConeBlock, among: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    """Smallest and largest values of some rows, of sign -1 and of sign +1; inf and -inf of none."""
    low, high = _empty(block), -_empty(block)
    for k, X in _of_classes(block, among):
        low[k], high[k] = _ends(X)
    return low, high


def _of_classes(block: ConeBlock, among: npt.NDArray[np.bool_]) -> Iterator[tuple[int, Any]]:
    """0 and some rows of sign -1, 1 and those of sign +1, for signs that there are.

    Rows of equality count for both signs, so a hyperplane that errs on neither holds them.
    """
    equality = False if block.equality is None else block.equality
    for k, sign in enumerate((-1, 1)):
        rows = np.flatnonzero(((block.sign == sign) | equality) & among)
        if rows.size:
            yield k, block.X[rows]


def _empty(block: ConeBlock) -> Array:
    return np.full((2, block.X.shape[1]), np.inf)


def _ends(X: Any) -> tuple[Array, Array]:
    return _flat(X.min(axis=0)), _flat(X.max(axis=0))


def _flat(values: Any) -> Array:
    dense = values.toarray() if sp.issparse(values) else values
    return np.asarray(dense, dtype=np.float64).ravel()
