"""Covariance: means and covariances checked once, exactly; and a root of each.

A float matrix is a rational one, so whether it is positive semidefinite, and of which rank, is
decided without rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import arb_mat, ctx, fmpq_mat

from rosenblatt.errors import DataError, ParameterError, Undecided
from rosenblatt.theory.precise import (
    FIRST_BITS,
    MOST_BITS,
    cholesky,
    independent,
    rational,
    submatrix,
)

Array = npt.NDArray[Any]
ASYMMETRY = 1e-12  # relative; more is a mistake, less is rounding


def as_mean(mean: Any, name: str) -> Array:
    """A mean as a vector; a number is a vector of length 1."""
    out = _numbers(mean, name)
    out = out.reshape(1) if out.ndim == 0 else out
    if out.ndim != 1 or out.size == 0:
        raise DataError(f"{name} has shape {np.shape(mean)}. Give a vector, one number a feature.")
    return _locked(out)


def as_covariance(cov: Any, d: int, name: str) -> Array:
    """A covariance as a symmetric matrix that is positive semidefinite, exactly.

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
    _check_semidefinite(S, top, name)
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


def _check_semidefinite(S: Array, top: float, name: str) -> None:
    least = float(np.linalg.eigvalsh(S / top)[0]) if top else 0.0
    if least > 1e-13 * len(S) or semidefinite(rational(S)):
        return
    advice = "A covariance has no negative variance in any direction; check how it was made."
    if least > -1e-10:
        more = 2 * top * max(-least, 1e-15)
        advice = f"If that is rounding, add a little to the diagonal: S + {more:.1g} * np.eye(d)."
    raise DataError(
        f"{name} is not positive semidefinite: its smallest eigenvalue is about "
        f"{least * top:.3g}. {advice}"
    )


def semidefinite(A: fmpq_mat) -> bool:
    """Whether a symmetric rational matrix is positive semidefinite.

    By elimination: every pivot is >= 0, and a pivot of 0 has a row of zeros.
    """
    n = A.nrows()
    a = A.tolist()
    for k in range(n):
        if a[k][k] < 0 or (a[k][k] == 0 and any(a[k][j] != 0 for j in range(k + 1, n))):
            return False
        if a[k][k] == 0:
            continue
        for i in range(k + 1, n):
            if a[i][k] != 0:
                f = a[i][k] / a[k][k]
                for j in range(i, n):
                    a[i][j] -= f * a[k][j]
                    a[j][i] = a[i][j]
    return True


@dataclass(frozen=True, eq=False)
class Root:
    """R with R R' = S, in long floats: x = mean + R z for standard normal z.

    R has as many columns as S has rank. The first rows that are independent determine the
    others, exactly.
    """

    S: Array

    @cached_property
    def exact(self) -> fmpq_mat:
        return rational(self.S)

    @cached_property
    def rows(self) -> list[int]:
        return independent(self.exact)

    @cached_property
    def long(self) -> tuple[arb_mat, arb_mat, int]:
        """R, the inverse of its independent rows, and the bits they were computed with."""
        S, J = self.exact, self.rows
        core = submatrix(S, J, J)
        spread = submatrix(S, list(range(S.nrows())), J) * core.inv()
        bits = FIRST_BITS
        while bits <= MOST_BITS:
            with ctx.workprec(bits):
                L = cholesky(arb_mat(core))
                if L is not None:
                    inverse = L.inv()
                    if _sharp(L) and _sharp(inverse):
                        return arb_mat(spread) * L, inverse, bits
            bits *= 2
        raise Undecided("a covariance is too nearly singular to be factored. Scale the features.")

    @cached_property
    def floats(self) -> Array:
        return floats(self.long[0]) if self.rows else np.zeros((len(self.S), 0))

    def log_density(self, X: Array) -> Array:
        """Of N(0, S) at the rows of X, if S is not singular."""
        inverse = floats(self.long[1])
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.sum((X @ inverse.T) ** 2, axis=1)
        logs = float(np.sum(np.log(np.diagonal(inverse))))
        return np.asarray(logs - squares / 2 - len(self.S) * math.log(2 * math.pi) / 2)


def floats(A: arb_mat) -> Array:
    """Each entry as the nearest float."""
    return np.array([[float(v) for v in row] for row in A.tolist()])


def _sharp(A: arb_mat) -> bool:
    """Whether every entry is known to more digits than the floats of its row have."""
    for row in A.tolist():
        top = max(abs(v.mid()) for v in row)
        if any(not v.rad() <= 2.0**-80 * top for v in row):
            return False
    return True
