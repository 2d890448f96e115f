"""Block: a run of rows with class numbers and weights, and where it ends in its source."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt import _core

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

    def in_core(self, seen: Array | None = None) -> _core.Block:
        """The block as the core visits it; `seen` receives the score of every visited row."""
        return _core.Block(core_rows(self.X), self.y, self.sample_weight, seen)


def core_rows(X: Any) -> _core.Rows:
    """Validated rows, dense or CSR, read in place."""
    if hasattr(X, "indptr"):
        return _core.Rows(X.data, X.indices, X.indptr, int(X.shape[1]))
    return _core.Rows(X)
