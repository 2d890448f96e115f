"""Covariance matrices: validation, rank, roots, and coordinates in which two are diagonal.

Eigenvalues are computed after the features are scaled by powers of two to variances near 1, so
units do not matter. An eigenvalue below `ZERO` times the largest one is rounding. Whether it is 0
is decided by the rank over the rationals; if it is not 0, floats cannot work with the matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpq_mat
from scipy.linalg import blas, eigh

from rosenblatt.errors import DataError, UndecidedError
from rosenblatt.theory.quadratic_form import Quadratic
from rosenblatt.theory.validation import as_numbers

Array = npt.NDArray[Any]
ASYMMETRY = 1e-12  # relative; more is a mistake, less is rounding
ZERO = 2.0**-49  # an eigenvalue, relative to the size of the scaled matrix
SMALL = 1e-9  # a relative difference that is neither 0 nor large enough for floats


def as_vector(values: Any, name: str) -> Array:
    """A mean as a vector that cannot be changed; a number is a vector of length 1."""
    out = as_numbers(values, name)
    out = out.reshape(1) if out.ndim == 0 else out
    if out.ndim != 1 or out.size == 0:
        raise DataError(
            f"{name} has shape {np.shape(values)}. Give a vector with one number per feature."
        )
    out.setflags(write=False)
    return out


def as_covariance(values: Any, d: int, name: str) -> Array:
    """A symmetric matrix that is positive semidefinite, up to rounding.

    A number is that variance in every direction.
    """
    S = as_numbers(values, name)
    if S.ndim == 0:
        S = float(S) * np.eye(d)
    if S.shape != (d, d):
        raise DataError(
            f"{name} has shape {np.shape(values)}, but the mean has {d} entries. Give a "
            f"{d} x {d} matrix, or one number: the variance in every direction."
        )
    gap = np.abs(S - S.T)
    if gap.max() > ASYMMETRY * np.abs(S).max():
        i, j = (int(k) for k in np.unravel_index(gap.argmax(), gap.shape))
        raise DataError(
            f"{name} is not symmetric: entry ({i}, {j}) is {S[i, j]}, ({j}, {i}) is {S[j, i]}. "
            "Give (S + S.T) / 2 if that is what you mean."
        )
    S = S if not gap.any() else (S + S.T) / 2
    found = Covariance(S)
    least = float(found.values[0])
    if least < -found.zero:
        advice = "A covariance has no negative variance in any direction; check how it was made."
        if least > -1e-8:
            more = 2 * float(np.abs(S).max()) * -least
            advice = (
                f"If that is rounding, add a little to the diagonal: S + {more:.1g} * np.eye(d)."
            )
        raise DataError(
            f"{name} is not positive semidefinite: its smallest eigenvalue is about "
            f"{float(np.linalg.eigvalsh(S)[0]):.3g}. {advice}"
        )
    S.setflags(write=False)
    return S


@dataclass(frozen=True, eq=False)
class Covariance:
    """A covariance S = R R', its rank, and the directions in which nothing varies."""

    S: Array

    @cached_property
    def scale(self) -> Array:
        """Powers of two that bring the variances near 1; 1 where there is none."""
        variance = np.maximum(np.diagonal(self.S), 0.0)
        exponent = np.where(variance > 0, np.frexp(variance)[1], 0)
        return np.asarray(np.ldexp(1.0, -(exponent // 2)))

    @cached_property
    def _eigen(self) -> tuple[Array, Array]:
        values, axes = np.linalg.eigh(self.scale[:, None] * self.S * self.scale)
        return values, axes

    @property
    def values(self) -> Array:
        """Eigenvalues of the scaled matrix, the least first."""
        return self._eigen[0]

    @property
    def zero(self) -> float:
        """An eigenvalue of this size is rounding."""
        return len(self.S) * ZERO * float(np.abs(self.values).max())

    @property
    def regular(self) -> bool:
        return bool(self.values[0] > self.zero)

    @cached_property
    def rank(self) -> int:
        """The rank, exactly; `UndecidedError` if floats cannot tell an eigenvalue from 0."""
        found = int((self.values > self.zero).sum())
        if not self.regular and exact(self.S).rref()[1] != found:
            raise too_near()
        return found

    @property
    def null(self) -> Array:
        """Columns n with no variance of n.x."""
        return self.scale[:, None] * self._eigen[1][:, self.values <= self.zero]

    @property
    def inside(self) -> Array:
        """Columns n so that the n.x vary and determine x - mean; the features if S is regular."""
        if self.regular:
            return np.eye(len(self.S))
        return self.scale[:, None] * self._eigen[1][:, self.values > self.zero]

    @cached_property
    def root(self) -> Array:
        """R with R R' = S, as many columns as the rank: x = mean + R z for standard normal z."""
        if self.regular:
            return cholesky(self.S)
        values, axes = self._eigen
        there = values > self.zero
        return axes[:, there] * np.sqrt(values[there]) / self.scale[:, None]


@dataclass(frozen=True, eq=False)
class Gaussian(Covariance):
    """A normal distribution: its mean and covariance."""

    mean: Array

    def reversed(self) -> Gaussian:
        """The same with the features in reverse order."""
        return Gaussian(self.S[::-1, ::-1], self.mean[::-1])

    def distance(self, X: Array) -> Array:
        """How far rows are from where the distribution lies; 0 if it is regular."""
        return np.asarray(np.abs((X - self.mean) @ self.null).max(axis=1, initial=0.0))

    def standard_score(self, w: Array, b: float) -> float:
        """Mean of w.x + b divided by its standard deviation, from exact sums.

        Without a deviation, infinite: positive if w.x + b >= 0.
        """
        row = exact(w[None, :])
        score = (row * exact(self.mean[:, None]))[0, 0] + exact(b)[0, 0]
        variance = (row * exact(self.S) * row.transpose())[0, 0]
        if variance <= 0:
            return math.inf if score >= 0 else -math.inf
        square = score * score / variance
        try:
            size = math.sqrt(Fraction(int(square.p), int(square.q)))
        except OverflowError:
            size = math.inf
        return -size if score < 0 else size

    def quadratic(self, A: Array, w: Array, b: float, order: int) -> Quadratic:
        """x'A x + w.x + b as a quadratic in standard normals.

        The features are taken as they are, order = 1, or in reverse, order = -1.
        """
        half = (A + A.T) / 2
        m, H, row = exact(self.mean[:, None]), exact(half), exact(w[None, :])
        at = (m.transpose() * H * m + row * m)[0, 0] + exact(b)[0, 0]
        slopes = (2 * (m.transpose() * H) + row).entries()
        slope, constant = (
            [float(Fraction(int(v.p), int(v.q))) for v in values] for values in (slopes, [at])
        )
        R = Covariance(self.S[::order, ::order]).root
        inside = R.T @ half[::order, ::order] @ R
        values, axes = np.linalg.eigh((inside + inside.T) / 2)
        return Quadratic.of(values, np.array(slope)[::order] @ R @ axes, constant[0])


@dataclass(frozen=True, eq=False)
class Coordinates:
    """u = T (x - mean0), for which class 0 is N(0, diag(share)), class 1 N(m, diag(rest)).

    share + rest = 1, and both are precise even if small. Directions in which neither class varies
    are left out.

    Attributes
    ----------
    gap : how far the means differ along these
    overlap : whether both classes vary in the same directions, and the means differ along no other;
        if not, a row belongs to one class only, except with probability 0
    """

    T: Array
    m: Array
    share: Array
    rest: Array
    gap: Array
    overlap: bool

    @classmethod
    def of(cls, of0: Gaussian, of1: Gaussian) -> Coordinates:
        total, delta = Covariance(of0.S + of1.S), of1.mean - of0.mean
        gap = _gap(of0, of1, total, delta)
        P = total.inside.T
        if not len(P):
            return cls(P, P @ delta, np.empty(0), np.empty(0), gap, not gap.any())
        K0, K1 = P @ of0.S @ P.T, P @ of1.S @ P.T
        try:
            share, axes = eigh(K0, K0 + K1)
            rest = eigh(K1, K0 + K1, eigvals_only=True)[::-1]  # 1 - share, precise if small
        except np.linalg.LinAlgError:
            raise too_near() from None
        T = axes.T @ P
        if of0.rank == of1.rank == len(P):
            if min(share.min(), rest.min()) <= 0:
                raise too_near()
            return cls(T, T @ delta, share, rest, gap, not gap.any())
        # beyond 0 and 1, and near them, is rounding
        share = np.where(share < SMALL, 0.0, np.where(share > 1 - SMALL, 1.0, share))
        return cls(T, T @ delta, share, 1 - share, gap, False)


def _gap(of0: Covariance, of1: Covariance, total: Covariance, delta: Array) -> Array:
    """delta along the directions in which neither class varies; exactly 0 if it is."""
    found = np.asarray(delta @ total.null)
    if not found.size:
        return found
    both, rank = exact(of0.S) + exact(of1.S), len(delta) - found.size
    pairs = zip(both.tolist(), exact(delta[:, None]).tolist(), strict=True)
    apart = fmpq_mat([[*row, *v] for row, v in pairs]).rref()[1] > rank
    tiny = np.abs(found).max() <= SMALL * np.abs(delta * total.scale).max()
    if both.rref()[1] != rank or (apart and tiny):
        raise too_near()
    return found * apart


def cholesky(S: Array) -> Array:
    """The lower triangular L with L L' = S."""
    try:
        return np.asarray(np.linalg.cholesky(S))
    except np.linalg.LinAlgError:
        raise too_near() from None


def divided(L: Array, B: Array) -> Array:
    """L^-1 B for a lower triangular L."""
    return np.asarray(blas.dtrsm(1.0, L, B, lower=1))  # LAPACK would start threads


def exact(values: Any) -> fmpq_mat:
    """A matrix of floats as the rationals they are."""
    A = np.atleast_2d(np.asarray(values, dtype=np.float64))
    return fmpq_mat([[fmpq(*v.as_integer_ratio()) for v in row] for row in A.tolist()])


def too_near() -> UndecidedError:
    """A matrix that is neither singular nor far enough from it."""
    return UndecidedError(
        "a covariance is too nearly singular for floats. Leave out features that others "
        "determine, or add a little to its diagonal."
    )
