"""The rows z_i of a cone in floats, columns and rows scaled by powers of two.

Each column is multiplied by a power of two that brings its usual entries to about 1. That is
exact, moves no hyperplane (w.z = (w / scale).(scale z)), and linear programs need it: HiGHS drops
entries below 1e-9 and refuses large ones. Weights of scaled columns are called v, w = scale v.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.cone import Cone, ConeBlock
from rosenblatt.data.exact import floats_if_exact, to_integers
from rosenblatt.prove.checker.signs import Plane

Array = npt.NDArray[Any]
PIECE = 1 << 16
SAMPLE = 2_000  # rows of each block that tell how large its columns are
ENTRIES_TOGETHER = 1_024


@dataclass(frozen=True, eq=False)
class ScaledCone:
    """A cone, and the exponents of the scale of its columns."""

    cone: Cone
    exponents: npt.NDArray[np.int64]

    @classmethod
    def of(cls, cone: Cone, sizes: Iterable[tuple[Array, Array]]) -> ScaledCone:
        """From the `column_sizes` of all blocks."""
        top, usual = (np.maximum.reduce(some) for some in zip(*sizes, strict=True))
        size = np.maximum(usual, top / 1024)  # a few entries may be large
        size = np.where(size > 0, size, top)
        size = np.append(size, 1.0) if cone.constant else size
        return cls(cone, -np.frexp(np.where(size > 0, size, 1.0))[1].astype(np.int64))

    def weights(self, v: Array) -> Array:
        """Weights of the columns from those of the scaled ones."""
        with np.errstate(all="ignore"):
            return np.asarray(np.ldexp(v, self.exponents))

    def unscaled(self, v: Iterable[Fraction], columns: Array) -> list[Fraction]:
        """Rational weights of all columns from those of some scaled ones; the others are 0."""
        w = [Fraction(0)] * self.cone.n_columns
        for j, c in zip(columns.tolist(), v, strict=True):
            w[j] = c * Fraction(2) ** int(self.exponents[j])
        return w

    def plane(self, w: Sequence[Any]) -> Plane:
        """Exact weights of all columns, for the checker."""
        exact = floats_if_exact(w) or w
        return Plane(exact[:-1], exact[-1]) if self.cone.constant else Plane(exact, 0)

    def rows(self, block: ConeBlock, columns: Array) -> tuple[Any, Array]:
        """Some scaled columns of z_i, each row divided by a power of two of its size.

        And the exponents of those powers. An array, or CSR if the block is.
        """
        return unit(_scaled(signed_rows(block, self.cone.constant), self.exponents)[:, columns])

    def integers(self, block: ConeBlock, columns: Array) -> tuple[list[list[int]], list[int]]:
        """Some scaled columns of z_i as integers: see `to_integers`."""
        Z = signed_rows(block, self.cone.constant)[:, columns]
        return to_integers(Z, self.exponents[columns])


def signed_rows(block: ConeBlock, constant: bool) -> Any:
    """z_i in float64, an array or CSR if the block is."""
    X, ones = block.X.astype(np.float64), np.ones((len(block), 1))
    if not sp.issparse(X):
        return (np.hstack([X, ones]) if constant else X) * block.sign[:, None]
    Z = sp.csr_array(sp.hstack([X, ones], format="csr") if constant else X)
    return _with_data(Z, Z.data * np.repeat(block.sign, np.diff(Z.indptr)))


def scores(block: ConeBlock, w: Array) -> Array:
    """w.z_i in floats for every row of a block; what overflows counts as 0."""
    d = block.X.shape[1]
    with np.errstate(all="ignore"):
        raw = _product(block.X, w[:d])
        found = (raw + w[-1] if len(w) > d else raw) * block.sign
    return np.asarray(np.nan_to_num(found, copy=False, nan=0.0))


def column_sizes(block: ConeBlock) -> tuple[Array, Array]:
    """The largest |entry| of every column, and the usual one of a sample."""
    X = block.X
    top = np.maximum(_of_columns(np.maximum, X), -_of_columns(np.minimum, X))
    sizes = abs(X[:SAMPLE].astype(np.float64))
    with np.errstate(all="ignore"):
        usual = flat((sizes / 1024).sum(axis=0)) / np.maximum(flat((sizes != 0).sum(axis=0)), 1)
    return top, np.where(np.isfinite(usual), usual * 1024, 0.0)


def _of_columns(extreme: np.ufunc, X: Any) -> Array:
    """The maximum or minimum of every column; rows are taken side by side, which is faster."""
    rows, columns = X.shape
    together = ENTRIES_TOGETHER // max(columns, 1)
    if sp.issparse(X) or not X.flags.c_contiguous or not columns or not 1 < together <= rows:
        return flat(X.max(axis=0) if extreme is np.maximum else X.min(axis=0))
    side_by_side = X[: rows - rows % together].reshape(-1, together * columns)
    found = extreme.reduce(side_by_side, axis=0).reshape(together, columns)
    return flat(extreme.reduce(np.vstack([found, X[rows - rows % together :]]), axis=0))


def unit(Z: Any) -> tuple[Any, Array]:
    """Rows times powers of two that bring their largest entries to about 1; the exponents."""
    exponents = -np.frexp(largest(Z))[1]
    if sp.issparse(Z):
        return _with_data(Z, np.ldexp(Z.data, np.repeat(exponents, np.diff(Z.indptr)))), exponents
    return np.ldexp(Z, exponents[:, None]), exponents


def largest(Z: Any) -> Array:
    """The largest |entry| of each row."""
    if sp.issparse(Z):
        return flat(abs(Z).max(axis=1)) if Z.shape[1] else np.zeros(Z.shape[0])
    return np.asarray(np.abs(Z).max(axis=1, initial=0.0))


def dense(X: Any) -> Array:
    """Rows as an array."""
    return np.asarray(X.toarray() if sp.issparse(X) else X)


def flat(values: Any) -> Array:
    """One row or column as a float64 vector."""
    return dense(values).astype(np.float64).ravel()


def _scaled(Z: Any, exponents: Array) -> Any:
    if sp.issparse(Z):
        return _with_data(Z, np.ldexp(Z.data, exponents[Z.indices]))
    return np.ldexp(Z, exponents)


def _product(X: Any, w: Array) -> Array:
    """X w in float64; float32 is converted as much at a time as a cache holds."""
    if sp.issparse(X) or X.dtype == np.float64:
        return np.asarray(X @ w)
    step = max(1, PIECE // X.shape[1])
    out = np.empty(X.shape[0])
    for k in range(0, len(out), step):
        out[k : k + step] = X[k : k + step].astype(np.float64) @ w
    return out


def _with_data(Z: Any, data: Array) -> Any:
    return sp.csr_array((data, Z.indices, Z.indptr), shape=Z.shape)
