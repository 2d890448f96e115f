"""Rays: the rows z_i as directions, those that point the same way taken together.

With z_i = y_i (x_i, 1), or y_i x_i without offset, a hyperplane is right about a row exactly
when it is right about every row on the same ray. So n rows are as many rays as differ, each
with a mass: how many rows lie on it. The float matrix Z is for proposals only: its columns and
rows are scaled by powers of two, which changes no sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.chunks import InMemory
from rosenblatt.data.problem import Problem

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
        """Group the rows; whoever shares a ray does so exactly."""
        ray = _exact_groups(problem, intercept, _keys(problem, intercept))
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

    def heads(self, at: Array) -> InMemory:
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
        here = self.heads(np.arange(len(self))).problem
        flipped = Problem(here.X, (-here.y).astype(np.int8), here.classes)
        order = np.argsort(keys := _keys(here, self.intercept))
        others = _keys(flipped, self.intercept)
        at = np.minimum(np.searchsorted(keys[order], others), len(keys) - 1)
        met = np.flatnonzero(keys[order[at]] == others)
        return [(int(g), int(order[at[g]])) for g in met if g < order[at[g]]]


def in_memory(problem: Problem, at: Array) -> InMemory:
    """Some rows of a problem, for the checker. They may be of one class only."""
    part = Problem(problem.X[at], problem.y[at], problem.classes)
    n, d = part.X.shape
    return InMemory(n_rows=n, n_features=d, classes=problem.classes, problem=part)


def _keys(problem: Problem, intercept: bool) -> npt.NDArray[np.uint64]:
    """A number for every row, the same for rows on the same ray (and, by accident, others)."""
    X, label = problem.X, problem.y.astype(np.float64)
    sparse = sp.issparse(X)
    values = np.asarray(X.data if sparse else X, dtype=np.float64) + 0.0  # no -0.0
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)) if sparse else np.zeros(0, int)
    if not intercept:  # of y x only the direction counts
        with np.errstate(all="ignore"):
            top = _tops(X, axis=1)
            divisor = np.where(top > 0, top, 1.0) * label
            values = values / (divisor[row] if sparse else divisor[:, None]) + 0.0
    columns = np.arange(X.shape[1], dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    columns = _mixed(columns) | np.uint64(1)
    with np.errstate(over="ignore"):
        if sparse:
            mixed = _mixed(values.view(np.uint64)) * columns[X.indices]
            mixed = np.where(values == 0, np.uint64(0), _mixed(mixed))
            keys = np.zeros(X.shape[0], dtype=np.uint64)
            np.add.at(keys, row, mixed)
        else:
            mixed = _mixed(_mixed(values.view(np.uint64)) * columns)
            keys = np.where(values == 0, np.uint64(0), mixed).sum(axis=1, dtype=np.uint64)
        return keys * np.uint64(2) + (label > 0).astype(np.uint64) if intercept else keys


def _mixed(bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """All bits of a number made to depend on all others [splitmix64]."""
    with np.errstate(over="ignore"):
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(bits ^ (bits >> np.uint64(31)))


def _exact_groups(problem: Problem, intercept: bool, keys: Array) -> Array:
    """The group of every row, numbered by first appearance: same key, and truly the same ray."""
    _, start, group = np.unique(keys, return_index=True, return_inverse=True)
    leader = start[group]
    others = np.flatnonzero(leader != np.arange(len(keys)))
    strangers = _not_parallel(problem, intercept, others, leader)
    leader[strangers] = strangers  # a collision of keys: a ray of its own, which is allowed
    return np.unique(leader, return_inverse=True)[1]


def _not_parallel(problem: Problem, intercept: bool, rows: Array, leader: Array) -> Array:
    if not len(rows):
        return rows
    X, y = problem.X, problem.y
    differ = X[rows] != X[leader[rows]]
    unequal = np.asarray(differ.sum(axis=1)).ravel() > 0 if sp.issparse(differ) else differ.any(1)
    doubtful: Array = rows[unequal | (y[rows] != y[leader[rows]])]
    if intercept:
        return doubtful
    pairs = [(i, int(leader[i])) for i in doubtful.tolist()]
    return np.array(
        [i for i, j in pairs if not _same_ray(_entries(X, y, i), _entries(X, y, j))],
        dtype=np.int64,
    )


def _entries(X: Any, y: Array, i: int) -> dict[int, Fraction]:
    row = X[[i]]
    dense = np.asarray(row.toarray() if sp.issparse(row) else row, dtype=np.float64)[0]
    return {int(j): Fraction(dense[j]) * int(y[i]) for j in np.flatnonzero(dense)}


def _same_ray(a: dict[int, Fraction], b: dict[int, Fraction]) -> bool:
    if a.keys() != b.keys():
        return False
    ratios = {a[j] / b[j] for j in a}
    return not ratios or (len(ratios) == 1 and ratios.pop() > 0)


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
