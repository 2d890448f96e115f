"""Cone: the rows z_i = y_i (x_i, 1) as the searches see them, in floats, scaled.

Each column is multiplied by a power of two that brings its usual entries to about 1. That is
exact, moves no hyperplane (w.z = (w / scale).(scale z)), and linear programs need it: HiGHS drops
entries below 1e-9 and refuses large ones. Weights of scaled columns are called v, w = scale v.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.chunks import Part, Rows

Array = npt.NDArray[Any]
BLOCK = 1 << 16
SAMPLE = 2_000  # rows of each part that tell how large its columns are


@dataclass(frozen=True, eq=False)
class Cone:
    """All z_i. `exponents` are those of the scale."""

    rows: Rows
    intercept: bool
    exponents: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rows: Rows, intercept: bool) -> Cone:
        """One reading of the rows: how large their columns are."""
        found = zip(*rows.each(_sizes), strict=True)
        top, usual = (np.maximum.reduce(sizes) for sizes in found)
        size = np.maximum(usual, top / 1024)  # a few entries may be large
        size = np.where(size > 0, size, top)
        size = np.append(size, 1.0) if intercept else size
        exponents = -np.frexp(np.where(size > 0, size, 1.0))[1].astype(np.int64)
        return cls(rows, intercept, exponents)

    @property
    def n_columns(self) -> int:
        return len(self.exponents)

    def row_of_zeros(self) -> list[int]:
        """The first row with z_i = 0, if there is one; with an offset there is none."""
        found = [] if self.intercept else self.rows.each(_row_of_zeros)
        return [i for i in found if i is not None][:1]

    def weights(self, v: Array) -> Array:
        """Weights of the columns as they are, from those of the scaled ones."""
        with np.errstate(all="ignore"):
            return np.asarray(np.ldexp(v, self.exponents))

    def scaled(self, at: Any) -> Any:
        """The scaled z_i of these rows, each divided by a power of two of its own size.

        An array, or CSR if the rows are.
        """
        return unit(self._columns_scaled(at))

    def row_exponents(self, at: Any) -> list[int]:
        """The powers of two by which `scaled` multiplies these rows."""
        return [int(e) for e in _row_exponents(self._columns_scaled(at))]

    def _columns_scaled(self, at: Any) -> Any:
        part = self.rows.take(at)
        X, ones = part.X.astype(np.float64), np.ones((part.X.shape[0], 1))
        if not sp.issparse(X):
            Z = np.hstack([X, ones]) if self.intercept else X
            return np.ldexp(Z * part.y[:, None], self.exponents)
        Z = sp.csr_array(sp.hstack([X, ones], format="csr") if self.intercept else X)
        label = np.repeat(part.y, np.diff(Z.indptr))
        return _with_data(Z, np.ldexp(Z.data * label, self.exponents[Z.indices]))


def part_scores(part: Part, w: Array) -> Array:
    """w.z_i in floats for every row of a part; what overflows counts as 0."""
    d = part.X.shape[1]
    with np.errstate(all="ignore"):
        raw = _product(part.X, w[:d])
        scores = (raw + w[-1] if len(w) > d else raw) * part.y
    return np.asarray(np.nan_to_num(scores, copy=False, nan=0.0))


def _sizes(part: Part) -> tuple[Array, Array]:
    """The largest |entry| of every column, and the usual one of a sample."""
    top = np.maximum(_ends(part.X.max(axis=0)), -_ends(part.X.min(axis=0)))
    return top, _usual(part.X[:SAMPLE])


def _row_of_zeros(part: Part) -> int | None:
    counts = (part.X != 0).sum(axis=1)
    return part.start + int(np.argmin(counts)) if (counts == 0).any() else None


def _product(X: Any, w: Array) -> Array:
    """X w in float64; float32 is converted as much at a time as a cache holds."""
    if sp.issparse(X) or X.dtype == np.float64:
        return np.asarray(X @ w)
    step = max(1, BLOCK // X.shape[1])
    out = np.empty(X.shape[0])
    for k in range(0, len(out), step):
        out[k : k + step] = X[k : k + step].astype(np.float64) @ w
    return out


def unit(Z: Any) -> Any:
    """Rows divided by powers of two of their size."""
    exponents = _row_exponents(Z)
    if sp.issparse(Z):
        return _with_data(Z, np.ldexp(Z.data, np.repeat(exponents, np.diff(Z.indptr))))
    return np.ldexp(Z, exponents[:, None])


def largest(Z: Any) -> Array:
    """The largest |entry| of each row."""
    if sp.issparse(Z):
        return _ends(abs(Z).max(axis=1)) if Z.shape[1] else np.zeros(Z.shape[0])
    return np.asarray(np.abs(Z).max(axis=1, initial=0.0))


def _row_exponents(Z: Any) -> Array:
    return np.asarray(-np.frexp(largest(Z))[1])


def _with_data(Z: Any, data: Array) -> Any:
    return sp.csr_array((data, Z.indices, Z.indptr), shape=Z.shape)


def dense(X: Any) -> Array:
    """A part's rows as an array."""
    return np.asarray(X.toarray() if sp.issparse(X) else X)


def _usual(X: Any) -> Array:
    """The mean of |x| over the entries that are not 0, column by column."""
    sizes = abs(X.astype(np.float64))
    with np.errstate(all="ignore"):
        means = _ends((sizes / 1024).sum(axis=0)) / np.maximum(_ends((X != 0).sum(axis=0)), 1)
    return np.where(np.isfinite(means), means * 1024, 0.0)


def _ends(values: Any) -> Array:
    return dense(values).astype(np.float64).ravel()
