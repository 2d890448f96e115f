"""Corral: Wolfe's algorithm for the smallest point of a hull, in floats and in rationals.

    minimise ||p||^2,  p = sum_i a_i z_i,  a >= 0,  the weights a of each group summing to 1

One group: the smallest point of the hull of the z_i. Two groups, the classes: the difference
of the nearest points of their hulls. A corral is a set of rows whose (z_i, e_group) are
linearly independent. On its affine hull the smallest point has z_i.p = mu_group for all of
its rows, and sum mu = ||p||^2; it is the answer if its weights are >= 0 and no row of any
group has z_i.p < mu_group. Such a row enters the corral (it is independent of the others,
for (p, -mu) is orthogonal to all of them but not to it), rows whose weight falls to 0 leave,
||p|| falls at every step, and there are finitely many corrals [Wolfe 1976].
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpz_mat
from scipy.linalg import LinAlgError, qr, qr_delete, solve_triangular

Array = npt.NDArray[Any]
REFRESH = 100  # updates of the factors before they are computed anew


class Corral:
    """Rows in floats, the QR factors of their (z_i, size e_group), and their weights."""

    def __init__(self, columns: int, groups: int, size: float) -> None:
        self.columns, self.groups, self.size = columns, groups, size
        self.rows: list[int] = []
        self.group: list[int] = []
        self.lifted: list[Array] = []  # the (z_i, size e_group)
        self.weights = np.zeros(0)
        self._room = np.empty((columns + groups, 8), order="F")
        self.R = np.zeros((0, 0))
        self.age = 0

    @property
    def Q(self) -> Array:
        return self._room[:, : len(self.rows)]

    def add(self, row: int, group: int, vector: Array) -> bool:
        """Let a row in with weight 0; False if floats cannot tell it from the others."""
        k = len(self.rows)
        column = np.append(vector, np.zeros(self.groups))
        column[self.columns + group] = self.size
        if k == len(column):
            return False
        along = self.Q.T @ column
        rest = column - self.Q @ along
        size, length = float(np.linalg.norm(column)), float(np.linalg.norm(rest))
        if length < 0.7 * size:  # Gram-Schmidt: twice is enough [Kahan, Parlett]
            again = self.Q.T @ rest
            rest, along = rest - self.Q @ again, along + again
            length = float(np.linalg.norm(rest))
        if not length > 1e-14 * size:
            return False
        if k == self._room.shape[1]:
            self._room = np.asfortranarray(np.hstack([self._room, np.empty_like(self._room)]))
        self._room[:, k] = rest / length
        R = np.zeros((k + 1, k + 1))
        R[:k, :k], R[:k, k], R[k, k] = self.R, along, length
        self.R = R
        self.weights = np.append(self.weights, 0.0 if group in self.group else 1.0)
        self.rows.append(row)
        self.group.append(group)
        self.lifted.append(column)
        return True

    def _drop(self, k: int) -> None:
        Q, R = self.Q, self.R
        del self.rows[k], self.group[k], self.lifted[k]
        self.weights = np.delete(self.weights, k)
        self.age += 1
        n = len(self.rows)
        if self.age % REFRESH:
            Q, R = qr_delete(Q, R, k, which="col", check_finite=False)
        else:
            Q, R = qr(np.column_stack(self.lifted), mode="economic")
        self._room[:, :n], self.R = Q[:, :n], R[:n]

    def _affine(self) -> Array:
        """The weights of the smallest point of the affine hull.

        With N = QR the lifted rows and S the last rows of Q: N a = Q R a, and the smallest
        N a whose last entries are `size` has R a = S' m with S S' m = size.
        """
        S = self.Q[self.columns :]
        m = np.linalg.solve(S @ S.T, np.full(self.groups, self.size))
        return np.asarray(solve_triangular(self.R, S.T @ m))

    def settle(self) -> bool:
        """Move to the smallest point that keeps all weights positive; False if floats fail."""
        while True:
            try:
                affine = self._affine()
            except (LinAlgError, ValueError):
                return False
            if not np.isfinite(affine).all():
                return False
            down = affine <= 1e-13
            if not down.any():
                self.weights = affine
                return True
            room = self.weights[down] - affine[down]
            ratio = np.where(room > 0, self.weights[down] / np.where(room > 0, room, 1.0), 0.0)
            theta = min(1.0, float(ratio.min()))
            leaves = int(np.flatnonzero(down)[np.argmin(ratio)])
            self.weights = np.maximum(self.weights + theta * (affine - self.weights), 0.0)
            if self.group.count(self.group[leaves]) == 1:
                return False
            self._drop(leaves)

    @property
    def point(self) -> Array:
        return np.asarray(self.Q[: self.columns] @ (self.R @ self.weights))


class ExactCorral:
    """The same with integer rows and rational weights: nothing is rounded."""

    def __init__(self, groups: int) -> None:
        self.groups = groups
        self.rows: list[int] = []
        self.group: list[int] = []
        self.vectors: list[list[int]] = []
        self.weights: list[Fraction] = []
        self.exponent = 0  # vectors are the z_i times 2 to this

    def add(self, row: int, group: int, vector: list[int], exponent: int, weight: Fraction) -> None:
        """Let a row in; the weights of each group must sum to 1 when `settle` is called."""
        if not self.rows:
            self.exponent = exponent
        if exponent > self.exponent:
            finer = exponent - self.exponent
            self.vectors = [[v << finer for v in other] for other in self.vectors]
            self.exponent = exponent
        vector = [v << (self.exponent - exponent) for v in vector]
        self.rows.append(row)
        self.group.append(group)
        self.vectors.append(vector)
        self.weights.append(weight)

    def settle(self) -> None:
        """Move to the smallest point that keeps all weights positive."""
        while True:
            try:
                target = self._affine()
            except ZeroDivisionError:  # dependent rows: one can be left out, p stays
                self._move(self._dependence())
                continue
            change = [t - a for t, a in zip(target, self.weights, strict=True)]
            if all(t > 0 for t in target):
                self.weights = target
                return
            self._move(change)

    def _move(self, change: list[Fraction]) -> None:
        """Go in this direction until a weight is 0, and drop the rows without weight."""
        pairs = list(zip(self.weights, change, strict=True))
        theta = min(a / -c for a, c in pairs if c < 0)
        weights = [a + theta * c for a, c in pairs]
        keep = [k for k, a in enumerate(weights) if a > 0]
        self.weights = [weights[k] for k in keep]
        self.rows = [self.rows[k] for k in keep]
        self.group = [self.group[k] for k in keep]
        self.vectors = [self.vectors[k] for k in keep]

    def _ends(self) -> list[list[int]]:
        return [[int(h == g) for h in range(self.groups)] for g in self.group]

    def _affine(self) -> list[Fraction]:
        """Solve z_i.p = mu_group for all rows, each group's weights summing to 1."""
        k, g = len(self.rows), self.groups
        Z, C = fmpz_mat(self.vectors), self._ends()
        gram = (Z * Z.transpose()).tolist()
        matrix: list[list[Any]]
        matrix = [[*row, *(-c for c in end)] for row, end in zip(gram, C, strict=True)]
        matrix += [[end[h] for end in C] + [0] * g for h in range(g)]
        found = fmpz_mat(matrix).solve(fmpz_mat(k + g, 1, [0] * k + [1] * g))
        return [Fraction(int(found[i, 0].p), int(found[i, 0].q)) for i in range(k)]

    def _dependence(self) -> list[Fraction]:
        """Weights, not all 0, with which the (z_i, e_group) cancel."""
        lifted = [[*v, *end] for v, end in zip(self.vectors, self._ends(), strict=True)]
        space, _ = fmpz_mat(lifted).transpose().nullspace()
        return [Fraction(int(space[i, 0])) for i in range(len(lifted))]

    def point(self) -> tuple[list[int], int]:
        """p as integers over one denominator."""
        common = lcm(*(a.denominator for a in self.weights))
        weights = fmpz_mat([[a.numerator * (common // a.denominator) for a in self.weights]])
        total = weights * fmpz_mat(self.vectors)
        return [int(v) for v in total.entries()], common

    def levels(self, point: list[int]) -> list[Fraction]:
        """z_i.point of the rows of each group, the same for all of a settled one."""
        out = {}
        for g, vector in zip(self.group, self.vectors, strict=True):
            if g not in out:
                out[g] = sum(a * b for a, b in zip(vector, point, strict=True))
        return [Fraction(out[g]) / Fraction(2) ** self.exponent for g in range(self.groups)]
