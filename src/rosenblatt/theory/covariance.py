"""Covariance: means, covariances and priors, checked once; ranks and roots in floats.

A covariance is looked at with its features scaled by powers of two to variances near 1, so that
units do not matter. An eigenvalue of that matrix below `ZERO` times its size is rounding: it may
be 0. Whether it is, the rank over the rationals says; if it is not, floats cannot work with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpq_mat
from scipy.linalg import solve_triangular

from rosenblatt.errors import DataError, ParameterError, Undecided

Array = npt.NDArray[Any]
ASYMMETRY = 1e-12  # relative; more is a mistake, less is rounding
ZERO = 2.0**-49  # an eigenvalue, relative to the size of the scaled matrix


def as_mean(mean: Any, name: str) -> Array:
    """A mean as a vector; a number is a vector of length 1."""
    out = _numbers(mean, name)
    out = out.reshape(1) if out.ndim == 0 else out
    if out.ndim != 1 or out.size == 0:
        raise DataError(
            f"{name} has shape {np.shape(mean)}. Give a vector with one number per feature."
        )
    return _locked(out)


def as_covariance(cov: Any, d: int, name: str) -> Array:
    """A covariance as a symmetric matrix that is positive semidefinite, up to rounding.

    A number is that variance in every direction.
    """
    S = _numbers(cov, name)
    if S.ndim == 0:
        S = float(S) * np.eye(d)
    if S.shape != (d, d):
        raise DataError(
            f"{name} has shape {np.shape(cov)}, but the mean has {d} entries. Give a "
            f"{d} x {d} matrix, or one number: the variance in every direction."
        )
    top = float(np.abs(S).max())
    gap = np.abs(S - S.T)
    if gap.max() > ASYMMETRY * top:
        i, j = (int(k) for k in np.unravel_index(gap.argmax(), gap.shape))
        raise DataError(
            f"{name} is not symmetric: entry ({i}, {j}) is {S[i, j]!r}, ({j}, {i}) is {S[j, i]!r}. "
            "Give (S + S.T) / 2 if that is what you mean."
        )
    S = S if not gap.any() else (S + S.T) / 2
    _check_semidefinite(S, name)
    return _locked(S)


def as_prior(prior: Any) -> float:
    """The probability of class 1."""
    number = isinstance(prior, (int, float, np.floating, np.integer))
    if not number or isinstance(prior, bool) or not 0 <= prior <= 1:
        raise ParameterError(
            f"prior1 is the probability of class 1 and must be from 0 to 1, got {prior!r}."
        )
    return float(prior)


def _numbers(values: Any, name: str) -> Array:
    try:
        out = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as e:
        raise DataError(f"{name} is not made of numbers: {e}.") from e
    if not np.isfinite(out).all():
        raise DataError(f"{name} holds NaN or infinity. Give finite numbers.")
    return out


def _locked(values: Array) -> Array:
    values.setflags(write=False)
    return values


def _check_semidefinite(S: Array, name: str) -> None:
    spread = Spread(S)
    least = float(spread.values[0])
    if least >= -spread.zero:
        return
    advice = "A covariance has no negative variance in any direction; check how it was made."
    if least > -1e-8:
        more = 2 * float(np.abs(S).max()) * -least
        advice = f"If that is rounding, add a little to the diagonal: S + {more:.1g} * np.eye(d)."
    raise DataError(
        f"{name} is not positive semidefinite: its smallest eigenvalue is about "
        f"{float(np.linalg.eigvalsh(S)[0]):.3g}. {advice}"
    )


@dataclass(frozen=True, eq=False)
class Spread:
    """A covariance S = R R', its rank, and the directions in which nothing varies.

    scale : powers of two that bring the variances near 1; 1 where there is none
    values, axes : eigenvalues, the least first, and eigenvectors of the scaled matrix
    """

    S: Array

    @cached_property
    def scale(self) -> Array:
        variance = np.maximum(np.diagonal(self.S), 0.0)
        exponent = np.where(variance > 0, np.frexp(variance)[1], 0)
        return np.asarray(np.ldexp(1.0, -(exponent // 2)))

    @cached_property
    def scaled(self) -> Array:
        return np.asarray(self.scale[:, None] * self.S * self.scale)

    @cached_property
    def _eigen(self) -> tuple[Array, Array]:
        values, axes = np.linalg.eigh(self.scaled)
        return values, axes

    @property
    def values(self) -> Array:
        return self._eigen[0]

    @property
    def axes(self) -> Array:
        return self._eigen[1]

    @property
    def zero(self) -> float:
        """An eigenvalue of this size is rounding."""
        return len(self.S) * ZERO * float(np.abs(self.values).max())

    @property
    def full(self) -> bool:
        return bool(self.values[0] > self.zero)

    @cached_property
    def rank(self) -> int:
        """The rank, exactly; `Undecided` if floats cannot tell an eigenvalue from 0."""
        found = int((self.values > self.zero).sum())
        if not self.full and exact_rank(self.exact) != found:
            raise too_near()
        return found

    @property
    def exact(self) -> fmpq_mat:
        return exact(self.S)

    @property
    def null(self) -> Array:
        """Directions n, columns, with no variance of n.(scale * x)."""
        return self.axes[:, self.values <= self.zero]

    @cached_property
    def root(self) -> Array:
        """R with R R' = S, as many columns as the rank: x = mean + R z for standard normal z."""
        if self.full:
            return cholesky(self.scaled) / self.scale[:, None]
        there = self.values > self.zero
        return self.axes[:, there] * np.sqrt(self.values[there]) / self.scale[:, None]

    def log_density(self, X: Array) -> Array:
        """Of N(0, S) at the rows of X, if S is not singular."""
        z = solve_triangular(cholesky(self.scaled), (X * self.scale).T, lower=True)
        with np.errstate(over="ignore"):
            squares = np.sum(z * z, axis=0)
        d = len(self.S)
        return np.asarray(-self.log_determinant / 2 - squares / 2 - d * math.log(2 * math.pi) / 2)

    @property
    def log_determinant(self) -> float:
        """Of S, if it is not singular."""
        inside = 2 * np.sum(np.log(np.diagonal(cholesky(self.scaled))))
        return float(inside - 2 * np.sum(np.log(self.scale)))

    @property
    def inverse(self) -> Array:
        """Of S, if it is not singular."""
        half = solve_triangular(cholesky(self.scaled), np.eye(len(self.S)), lower=True)
        return np.asarray(self.scale[:, None] * (half.T @ half) * self.scale)


def cholesky(S: Array) -> Array:
    """The lower triangular L with L L' = S."""
    try:
        return np.asarray(np.linalg.cholesky(S))
    except np.linalg.LinAlgError:
        raise too_near() from None


def exact(values: Any) -> fmpq_mat:
    """A matrix of floats as the rationals they are."""
    A = np.atleast_2d(np.asarray(values, dtype=np.float64))
    return fmpq_mat([[fmpq(*v.as_integer_ratio()) for v in row] for row in A.tolist()])


def exact_rank(A: fmpq_mat) -> int:
    """The rank over the rationals."""
    return int(A.rref()[1])


def too_near() -> Undecided:
    """A matrix that is neither singular nor far enough from it."""
    return Undecided(
        "a covariance is too nearly singular for floats. Leave out features that others "
        "determine, or add a little to its diagonal."
    )
