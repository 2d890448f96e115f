"""Canonical: coordinates in which both classes are diagonal; what the Bayes rule is in them.

With S0 = L0 L0', S1 = L1 L1' and the singular values of L1^-1 L0 = U diag(s) V', the coordinates
u = U' L1^-1 (x - mean0) make class 0 N(0, diag(s^2)) and class 1 N(c, 1). The log-odds are

    q(u) = 1/2 sum_i [ u_i^2 / s_i^2 - (u_i - c_i)^2 ] + sum_i log s_i + log(p1/p0)

and with u_i = s_i z_i, or c_i + z_i, a quadratic in standard normals for either class. Singular
values of a quotient of roots keep twice the digits that eigenvalues of S1^-1 S0 would.

Singular covariances:

- directions in which neither class varies are left out, unless the means differ there: then
  the classes never meet;
- if only one class varies in some direction, the other lies in a set that the first meets with
  probability 0. Then too the Bayes error is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpq_mat
from scipy.linalg import solve_triangular
from scipy.special import ndtr

from rosenblatt.theory.covariance import Spread, cholesky, exact, exact_rank, too_near
from rosenblatt.theory.quadratic_form import Quadratic

Array = npt.NDArray[Any]
ON_SUPPORT = 1e-9  # how near, in standard deviations of both classes, counts as on it


@dataclass(frozen=True, eq=False)
class Canonical:
    """A pair in coordinates v = T (x - mean0): N(0, diag(share)) and N(m, diag(rest)).

    share + rest = 1, each as precise as the other.

    Attributes
    ----------
    spreads : of class 0, of class 1 and of their sum
    regular : whether both classes vary in every direction in which one does
    gap : how far the means differ along the directions in which neither class varies, scaled
    """

    spreads: tuple[Spread, Spread, Spread]
    T: Array
    m: Array
    share: Array
    rest: Array
    regular: bool
    gap: Array

    @classmethod
    def of(cls, spread0: Spread, spread1: Spread, delta: Array) -> Canonical:
        total = Sum(spread0.S + spread1.S, spread0, spread1)
        gap = total.gap(delta)
        inside = np.eye(len(delta)) if total.full else total.axes[:, total.values > total.zero]
        P = inside.T * total.scale  # x to coordinates of the directions that vary
        regular = spread0.rank == spread1.rank == total.rank
        K0, K1 = P @ spread0.S @ P.T, P @ spread1.S @ P.T
        if not regular:
            # eigenvalues of S0 relative to S0 + S1; those that are not between 0 and 1 are rounding
            roots = np.sqrt(total.values[total.values > total.zero])
            white = np.eye(len(roots)) / roots if not total.full else _inverse_root(K0 + K1)
            share, axes = np.linalg.eigh(white.T @ K0 @ white)
            share = np.where(share < ON_SUPPORT, 0.0, np.where(share > 1 - ON_SUPPORT, 1.0, share))
            T = axes.T @ white.T @ P
            m = T @ delta
            rest = 1 - share
        else:
            T, ratio = _quotient(K0, K1, P, np.array_equal(spread0.S, spread1.S))
            norm = np.hypot(1.0, ratio)
            T = T / norm[:, None]
            m, share, rest = T @ delta, (ratio / norm) ** 2, norm**-2.0
        return cls((spread0, spread1, total), T, m, share, rest, regular, gap)

    @property
    def apart(self) -> bool:
        """Whether the classes lie in sets that never meet, or with probability 0."""
        return bool(self.gap.any() or not self.regular)

    def least_error(self, p0: float, p1: float, log_odds: float, equal: bool) -> float:
        """The Bayes error; in closed form for equal covariances."""
        if p1 in (0.0, 1.0) or self.apart:
            return 0.0
        if not self.m.size:  # two equal points
            return min(p0, p1)
        if equal:
            D = math.sqrt(2.0) * float(np.linalg.norm(self.m))  # share = 1/2
            if D == 0:
                return min(p0, p1)
            return float(p0 * ndtr(-D / 2 + log_odds / D) + p1 * ndtr(-D / 2 - log_odds / D))
        of0, of1 = self.quadratics(log_odds)
        return p0 * of0.positive() + p1 * of1.negative()

    def quadratics(self, log_odds: float) -> tuple[Quadratic, Quadratic]:
        """q for x of class 0 and for x of class 1, if the covariances are regular.

        With t = s^2: for class 0, a = (1 - t) / 2 and g = s c, constant -c^2 / 2; for class 1,
        a = (1 / t - 1) / 2 and g = c / t, constant c^2 / (2 t). With the vertex taken out, both
        constants are -c^2 / (2 (1 - t)), which cancels nothing.
        """
        s2 = self.share / self.rest
        c2 = self.m**2 / self.rest
        logs = float(np.sum(np.log(self.share) - np.log(self.rest))) / 2 + log_odds
        c = self.m / np.sqrt(self.rest)
        with np.errstate(all="ignore"):
            at_vertex = -c2 / (2 * (1 - s2))
            first = _quadratic((1 - s2) / 2, np.sqrt(s2) * c, -c2 / 2, at_vertex, logs)
            second = _quadratic((1 / s2 - 1) / 2, c / s2, c2 / (2 * s2), at_vertex, logs)
        return first, second

    def decision(self, X: Array, mean0: Array, mean1: Array, log_odds: float, equal: bool) -> Array:
        """The log-odds of class 1 at the rows of X; infinite where only one class can be."""
        if self.apart:
            return self._by_support(X, mean0, mean1)
        u = (X - mean0) @ self.T.T
        if equal:  # the squares cancel; share = rest = 1/2
            return np.asarray(2 * (u @ self.m) - self.m @ self.m + log_odds)
        with np.errstate(over="ignore", invalid="ignore"):
            terms = u**2 / self.share - (u - self.m) ** 2 / self.rest
            logs = float(np.sum(np.log(self.share) - np.log(self.rest)))
            return np.asarray((terms.sum(axis=1) + logs) / 2 + log_odds)

    def _by_support(self, X: Array, mean0: Array, mean1: Array) -> Array:
        """Minus infinity on the set that holds class 0, infinity on that of class 1.

        Floats are rarely on a set exactly, so near counts; off both sets, the nearer one.
        """
        of0, of1, total = self.spreads
        far0, far1 = (
            np.abs(((X - mean) * spread.scale) @ spread.null).max(axis=1, initial=0.0)
            for mean, spread in ((mean0, of0), (mean1, of1))
        )
        near = ON_SUPPORT * (1 + np.abs((X - mean0) * total.scale).max(axis=1))
        on0, on1 = far0 <= near, far1 <= near
        if of0.full:
            zero = ~on1
        elif of1.full:
            zero = on0
        else:
            zero = np.where(on0 == on1, far0 <= far1, on0)
        return np.where(zero, -math.inf, math.inf)


@dataclass(frozen=True, eq=False)
class Sum(Spread):
    """The spread of both classes together: S0 + S1, rounded, and exactly."""

    one: Spread
    other: Spread

    @property
    def exact(self) -> fmpq_mat:
        return self.one.exact + self.other.exact

    def gap(self, delta: Array) -> Array:
        """delta along the directions in which neither class varies, scaled; 0 if exactly so."""
        found = (delta * self.scale) @ self.null
        if not found.size:
            return np.asarray(found)
        columns = [[*row, v] for row, v in zip(self.exact.tolist(), _column(delta), strict=True)]
        if exact_rank(fmpq_mat(columns)) == self.rank:
            return np.zeros_like(found)
        if np.abs(found).max() <= ON_SUPPORT * np.abs(delta * self.scale).max():
            raise too_near()
        return np.asarray(found)


def _column(values: Array) -> list[fmpq]:
    return [row[0] for row in exact(values[:, None]).tolist()]


def _quotient(K0: Array, K1: Array, P: Array, equal: bool) -> tuple[Array, Array]:
    """T and s with T S0 T' = diag(s^2) and T S1 T' = 1, T being U' L1^-1 P."""
    if not len(K0):
        return P, np.empty(0)
    L1 = cholesky(K1)
    onto = np.asarray(solve_triangular(L1, P, lower=True))
    if equal:
        return onto, np.ones(len(K0))
    U, s, _ = np.linalg.svd(solve_triangular(L1, cholesky(K0), lower=True))
    return np.asarray(U.T @ onto), s


def _inverse_root(S: Array) -> Array:
    """W with W' S W = 1."""
    return np.asarray(solve_triangular(cholesky(S), np.eye(len(S)), lower=True).T)


def _quadratic(a: Array, g: Array, constant: Array, at_vertex: Array, rest: float) -> Quadratic:
    """sum a z^2 + g z + constant, with the vertex taken out where that is near."""
    near = np.abs(g) <= 2 * np.abs(a)
    shift = np.divide(g, 2 * a, out=np.zeros_like(g), where=near & (a != 0))
    total = float(np.sum(np.where(near & (a != 0), at_vertex, constant))) + rest
    return Quadratic(a, shift, np.where(near, 0.0, g), total)
