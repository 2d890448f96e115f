"""The rows z_i grouped: rows that are the same are one ray, with their number as its mass.

With z_i = y_i (x_i, 1), or y_i x_i without offset. The float matrix Z is for proposals only: its
columns and rows are scaled by powers of two, which changes no sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.cone import Cone, ConeBlock, cone_of_arrays
from rosenblatt.data.problem import Problem
from rosenblatt.prove.separability.scaling import signed_rows

Array = npt.NDArray[Any]
DENSE = 20_000_000  # numbers of a matrix that is kept dense


@dataclass(frozen=True, eq=False)
class Rays:
    """Rays of a problem.

    Attributes
    ----------
    first : the first row on each ray; rays are in the order of these
    mass : how many rows lie on each
    ray : the ray of each row
    Z : the rays as scaled floats, dense or CSR
    scale : powers of two; weights v of Z are weights v * scale of the data
    """

    problem: Problem
    intercept: bool
    first: Array
    mass: Array
    ray: Array
    Z: Any
    scale: Array

    @classmethod
    def of(cls, problem: Problem, intercept: bool) -> Rays:
        """Group the rows that are the same z."""
        known: dict[bytes, int] = {}
        keys = _keys(problem.X, problem.y, intercept)
        ray = np.array([known.setdefault(key, len(known)) for key in keys])
        first = np.unique(ray, return_index=True)[1]
        Z, scale = _scaled(problem.X[first], problem.y[first], intercept)
        return cls(problem, intercept, first, np.bincount(ray), ray, Z, scale)

    def __len__(self) -> int:
        return len(self.first)

    def rows(self, rays: Any) -> Array:
        """All rows on these rays, in order."""
        chosen = np.zeros(len(self), dtype=bool)
        chosen[list(rays)] = True
        return np.flatnonzero(chosen[self.ray])

    def heads(self, at: Array) -> Cone:
        """The first row on each of these rays."""
        return in_memory(self.problem, self.first[at])

    def weights(self, v: Array) -> tuple[list[float], float]:
        """(w, b) of the data from weights of the scaled columns."""
        with np.errstate(all="ignore"):
            w = (v * self.scale).tolist()
        return (w[:-1], w[-1]) if self.intercept else (w, 0.0)

    def zeros(self) -> list[int]:
        """The ray of zeros, if there is one: it cancels by itself."""
        heads = self.problem.X[self.first]
        return [] if self.intercept else np.flatnonzero(_tops(heads, axis=1) == 0).tolist()

    def opposite_pairs(self) -> list[tuple[int, int]]:
        """Rays that point against each other: the shortest cancelling sets."""
        X, y = self.problem.X[self.first], self.problem.y[self.first]
        known = {key: g for g, key in enumerate(_keys(X, y, self.intercept))}
        opposite = [known.get(key, -1) for key in _keys(X, -y, self.intercept)]
        return [(g, h) for g, h in enumerate(opposite) if g < h]


def in_memory(problem: Problem, at: Array) -> Cone:
    """Some rows of a problem, for the checker. They may be of one class only."""
    return cone_of_arrays(problem.X[at], problem.y[at], problem.classes)


def _keys(X: Any, y: Array, intercept: bool) -> list[bytes]:
    """Bytes for every row, the same for the same z."""
    Z = signed_rows(ConeBlock(X, y), intercept)
    if not sp.issparse(Z):
        return [row.tobytes() for row in np.ascontiguousarray(Z) + 0.0]  # no -0.0
    Z = Z.copy()
    Z.eliminate_zeros()
    Z.sort_indices()
    ends = zip(Z.indptr[:-1].tolist(), Z.indptr[1:].tolist(), strict=True)
    return [Z.indices[a:b].tobytes() + Z.data[a:b].tobytes() for a, b in ends]


def _scaled(X: Any, y: Array, intercept: bool) -> tuple[Any, Array]:
    """y (x, 1) with columns, then rows, brought to about 1 by powers of two."""
    Z = sp.csr_array(X, dtype=np.float64)
    if intercept:
        Z = sp.hstack([Z, np.ones((Z.shape[0], 1))], format="csr")
    scale = _powers(_tops(Z, axis=0))
    Z = sp.diags_array(y.astype(np.float64)) @ Z @ sp.diags_array(scale)
    Z = sp.csr_array(sp.diags_array(_powers(_tops(Z, axis=1))) @ Z)
    many = Z.shape[0] * Z.shape[1]
    return (Z.toarray() if many <= DENSE and Z.nnz * 5 > many else Z), scale


def _tops(X: Any, axis: int) -> Array:
    """The largest size in every column (axis 0) or row (axis 1)."""
    top = abs(X).max(axis=axis)
    return np.asarray(top.toarray() if sp.issparse(top) else top, dtype=np.float64).ravel()


def _powers(top: Array) -> Array:
    """Powers of two that bring numbers of these sizes to about 1 (0 stays 0)."""
    exponent = np.frexp(np.where(top > 0, top, 1.0))[1]
    return np.asarray(np.ldexp(1.0, np.clip(-exponent, -1000, 1000)))
