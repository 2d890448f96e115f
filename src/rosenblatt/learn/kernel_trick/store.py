"""Store: the support rows, shared by all hyperplanes, with a coefficient for each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.errors import OverflowedError
from rosenblatt.learn.kernel_trick.functions import Kernel

Array = npt.NDArray[Any]
Matrix = Any  # dense or CSR

PIECE = 1024  # support rows in one product: large for BLAS, small for the cache


@dataclass
class Store:
    """Support rows in pieces that are never changed in place, so that a copy is cheap.

    coef, lag : arrays of shape (room, hyperplanes), the first `size` lines used
        The last coefficients; and what gives their mean, see `loops`.
    numbers : which row each is, counted over all rows ever given
    """

    pieces: list[Matrix]
    coef: Array
    lag: Array
    numbers: Array
    size: int = 0

    @classmethod
    def empty(cls, planes: int) -> Store:
        return cls([], np.zeros((0, planes)), np.zeros((0, planes)), np.zeros(0, np.int64))

    def copy(self) -> Store:
        """A copy that can be trained without touching this one."""
        return replace(
            self,
            pieces=list(self.pieces),
            coef=self.coef.copy(),
            lag=self.lag.copy(),
            numbers=self.numbers.copy(),
        )

    def make_room(self, more: int) -> None:
        """Lines for so many more support rows."""
        if self.size + more > len(self.coef):
            room = max(self.size + more, 2 * len(self.coef))
            self.coef, self.lag = _longer(self.coef, room), _longer(self.lag, room)
            self.numbers = _longer(self.numbers, room)

    def append(self, rows: Matrix) -> None:
        """Put rows behind the last; their lines of coefficients are there already."""
        if self.pieces and self.pieces[-1].shape[0] < PIECE:
            rows = _stack(self.pieces.pop(), rows)
        for start in range(0, rows.shape[0], PIECE):
            self.pieces.append(rows[start : start + PIECE])

    def rearrange(self, rows: Matrix, source: Array) -> None:
        """Every place gets the row that `source` names: one of the store, or one of `rows`."""
        if len(source) == 0:
            return
        before = [*self.pieces, rows]
        rows = before[0] if len(before) == 1 else _stack(self.rows(), rows)
        self.pieces = []
        self.append(rows[source])

    def rows(self) -> Matrix:
        """All support rows as one matrix, a copy."""
        return sp.vstack(self.pieces, format="csr") if self.sparse else np.concatenate(self.pieces)

    @property
    def sparse(self) -> bool:
        return bool(self.pieces) and sp.issparse(self.pieces[0])

    def columns(self, kernel: Kernel, X: Matrix) -> Array:
        """K of every row of X (down) with every support row (across)."""
        blocks = [kernel.block(X, piece) for piece in self.pieces]
        return np.concatenate(blocks, axis=1) if blocks else np.zeros((X.shape[0], 0))

    def scores(self, kernel: Kernel, X: Matrix, coef: Array) -> Array:
        """f_k(x) for every row (down) and hyperplane (across), summed in float64."""
        total, start = np.zeros((X.shape[0], coef.shape[1])), 0
        with np.errstate(over="ignore", invalid="ignore"):
            for piece in self.pieces:
                lines = coef[start : start + piece.shape[0]]
                total += kernel.block(X, piece).astype(np.float64, copy=False) @ lines
                start += piece.shape[0]
        return check_finite(total)

    def mean(self, visits: int) -> Array:
        """The mean of the coefficients after each of so many visits."""
        return self.coef[: self.size] - self.lag[: self.size] / max(1, visits)


def check_finite(values: Array) -> Array:
    """The values, if float64 has room for all of them."""
    if not np.isfinite(values).all():
        raise OverflowedError(
            "Floating-point overflow: scores or coefficients left the range of float64. Scale the "
            "data, the sample weights or the kernel."
        )
    return values


def _stack(above: Matrix, below: Matrix) -> Matrix:
    """Rows under rows, of the kind and type of the first."""
    if sp.issparse(above):
        if not sp.issparse(below):
            below = type(above)(below)
        stacked = sp.vstack([above, below], format="csr", dtype=above.dtype)
        return type(above)(stacked)
    if sp.issparse(below):
        below = below.toarray()
    return np.concatenate([above, below.astype(above.dtype, copy=False)])


def _longer(values: Array, room: int) -> Array:
    out = np.zeros((room, *values.shape[1:]), values.dtype)
    out[: len(values)] = values
    return out
