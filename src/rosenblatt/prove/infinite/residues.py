"""Residues: floats as integers, and ranks modulo a prime.

Every float is m 2^e, so a row of them is a row of integers times a power of two, and has residues
modulo an odd prime. Columns independent there are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from flint import nmod_mat

from rosenblatt.data.cone import Cone

Array = npt.NDArray[Any]
PRIME = 2_147_483_629  # below 2^31, so that products of two residues fit in int64


def dense(rows: Cone, at: Any, columns: Sequence[int]) -> Array:
    """(x_i, 1) of some rows as float64, some of the columns; the offset is column d."""
    X = rows.take(at).X
    A = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    return np.asarray(np.hstack([A, np.ones((len(A), 1))])[:, list(columns)])


def split(A: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """m and e with A = m 2^e exactly."""
    fraction, exponent = np.frexp(A)
    return np.ldexp(fraction, 53).astype(np.int64), exponent.astype(np.int64) - 53


def whole(A: Array) -> list[list[int]]:
    """Each row as integers, times a power of two of its own."""
    mantissa, exponent = split(A)
    lowest = np.where(mantissa != 0, exponent, 1 << 20).min(axis=1, keepdims=True, initial=1 << 20)
    shift = np.where(mantissa != 0, exponent - lowest, 0)
    if (np.abs(A) < 2.0**53).all() and np.array_equal(A, np.floor(A)):
        return [list(row) for row in A.astype(np.int64).tolist()]
    return [
        [m << s for m, s in zip(row, by, strict=True)]
        for row, by in zip(mantissa.tolist(), shift.tolist(), strict=True)
    ]


def residues(A: Array, prime: int = PRIME) -> npt.NDArray[np.int64]:
    """The numbers modulo a prime below 2^31, where 2 has an inverse."""
    mantissa, exponent = split(A)
    low, high = exponent.min(initial=0), exponent.max(initial=0)
    powers = np.array([pow(2, e, prime) for e in range(int(low), int(high) + 1)], dtype=np.int64)
    return np.asarray(mantissa % prime * powers[exponent - low] % prime)


def rank_modulo(A: npt.NDArray[np.int64]) -> int:
    """The rank modulo a prime of residues: the rank itself is at least that."""
    if not A.size:
        return 0
    return int(nmod_mat(A.shape[0], A.shape[1], A.ravel().tolist(), PRIME).rank())
