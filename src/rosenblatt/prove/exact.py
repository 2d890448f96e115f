"""Exact: integers, rationals and linear algebra over them, for those who make claims.

Rows are integers after scaling each by a power of two, which moves no hyperplane. flint does
the linear algebra; the simplex method here is the last resort where floats cannot see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from flint import fmpq, fmpq_mat, fmpz_mat, nmod_mat

Array = npt.NDArray[Any]
Rows = list[list[int]]
PRIME = 3_141_592_653_589_793_239  # of no special form: data made of powers of two must not hit it


def integer_rows(
    X: Any, y: Array, rows: Sequence[int], intercept: bool, shifts: Sequence[int] | None = None
) -> tuple[Rows, list[int]]:
    """z_i = y_i (x_i, 1) as integers, and the exponents e_i with integer row = z_i 2^e_i.

    With `shifts`, of z_i with column j multiplied by 2^shifts[j].
    """
    part = X[list(rows)]
    dense = part.toarray() if sp.issparse(part) else np.asarray(part)
    dense = dense.astype(np.float64)
    if intercept:
        dense = np.hstack([dense, np.ones((len(dense), 1))])
    mantissa, exponent = np.frexp(dense)
    whole = np.ldexp(mantissa * y[list(rows)][:, None], 53).astype(np.int64)
    exponent = exponent.astype(np.int64) - 53 + (0 if shifts is None else np.array(shifts))
    low_bits = np.frexp((whole & -whole).astype(np.float64))[1] - 1  # trailing zeros
    low_bits = np.where(whole == 0, 0, low_bits)
    whole, exponent = whole >> low_bits, exponent + low_bits
    lowest = np.min(exponent, axis=1, initial=2**40, where=whole != 0)
    lowest = np.where(lowest == 2**40, 0, lowest)
    shift = np.where(whole == 0, 0, exponent - lowest[:, None])
    if shift.max(initial=0) <= 9:  # all fit into 62 bits
        table = (whole << shift).tolist()
    else:
        table = [
            [v << s for v, s in zip(line, by, strict=True)]
            for line, by in zip(whole.tolist(), shift.tolist(), strict=True)
        ]
    return table, (-lowest).tolist()


@dataclass(frozen=True)
class Face:
    """Rows that cancel, they say: which, as integers, and a basis of them."""

    at: list[int]
    rows: Rows
    exponents: list[int]
    basis: list[int]
    pivots: list[int]

    @classmethod
    def of_rows(cls, at: list[int], rows: Rows, exponents: list[int]) -> Face:
        return cls(at, rows, exponents, *independent(rows))


def unscaled(weights: Sequence[Fraction], exponents: Sequence[int]) -> list[Fraction]:
    """Weights of the z_i from weights of the integer rows."""
    return [c * Fraction(2) ** e for c, e in zip(weights, exponents, strict=True)]


def fractions(values: Any) -> list[Fraction]:
    """flint rationals as Python's."""
    return [Fraction(int(v.p), int(v.q)) for v in values]


def independent(rows: Rows) -> tuple[list[int], list[int]]:
    """Positions of rows that form a basis of all, and pivot columns of these.

    Found modulo a prime: independent there is independent; a basis there might be too small
    with odds of about one in the prime, and then what is built on it fails to verify.
    """
    if not rows:
        return [], []
    residues = [[v % PRIME for v in row] for row in rows]
    matrix = nmod_mat(residues, PRIME)
    return _pivots(matrix.transpose()), _pivots(matrix)


def _pivots(matrix: Any) -> list[int]:
    """The pivot columns of the reduced echelon form."""
    reduced, rank = matrix.rref()
    columns, k = [], 0
    for j in range(matrix.ncols()):
        if k < rank and reduced[k, j] != 0:
            columns.append(j)
            k += 1
    return columns


def solve(matrix: Rows, right: list[Fraction]) -> list[Fraction]:
    """The solution of a square system with integer matrix; ZeroDivisionError if singular."""
    n = len(matrix)
    if n == 0:
        return []
    column = fmpq_mat(n, 1, [fmpq(f.numerator, f.denominator) for f in right])
    x = fmpq_mat(fmpz_mat(matrix)).solve(column)
    return fractions([x[k, 0] for k in range(n)])


def completed_weights(
    rows: Rows, basis: list[int], columns: list[int], weights: dict[int, Fraction]
) -> list[Fraction] | None:
    """Weights of all rows that cancel, those outside `basis` being given; None if one is < 0."""
    others = list(weights)
    common = lcm(*(weights[k].denominator for k in others))
    whole = [int(weights[k] * common) for k in others]
    if others:
        target = fmpz_mat(1, len(others), whole) * fmpz_mat([rows[k] for k in others])
    else:
        target = fmpz_mat(1, len(rows[0]))
    chosen = fmpz_mat([rows[k] for k in basis])
    matrix = fmpz_mat([[rows[k][j] for k in basis] for j in columns])
    right = fmpz_mat(len(columns), 1, [-int(target[0, j]) for j in columns])
    solution: Any = matrix.solve(right)
    numerators, denominator = solution.numer_denom()
    sums = numerators.transpose() * chosen + denominator * target
    if any(int(v) for v in sums.entries()):
        return None
    scale = int(denominator) * common
    full = [weights.get(k, Fraction(0)) for k in range(len(rows))]
    for k, c in zip(basis, numerators.entries(), strict=True):
        full[k] += Fraction(int(c), scale)
    return None if any(c < 0 for c in full) else full


def hyperplane_through(face: Face, near: Sequence[float], bits: int) -> list[Fraction]:
    """Weights orthogonal to all rows, close to `near`: free entries rounded to `bits` bits."""
    rows, basis, columns, p = face.rows, face.basis, face.pivots, len(near)
    top = max((abs(v) for v in near), default=0.0) or 1.0
    unit = Fraction(2) ** (int(np.frexp(top)[1]) - bits)
    pivot = set(columns)
    free = [0 if j in pivot else round(Fraction(near[j]) / unit) for j in range(p)]
    if not basis:
        return [v * unit for v in free]
    chosen = fmpz_mat([rows[k] for k in basis])
    right = chosen * fmpz_mat(p, 1, free)
    matrix = fmpz_mat([[rows[k][j] for j in columns] for k in basis])
    found = matrix.solve(right)
    w = [v * unit for v in free]
    for j, v in zip(columns, found.entries(), strict=True):
        w[j] = -Fraction(int(v.p), int(v.q)) * unit
    return w


def coprime(values: list[int]) -> list[int]:
    """The same direction in coprime integers."""
    divisor = gcd(*values) or 1
    return [v // divisor for v in values]


def circuit(face: Face) -> list[Fraction] | None:
    """Weights >= 0 with which the rows cancel, if they do so in just one way."""
    if not face.basis:  # rows of zeros cancel by themselves
        return [Fraction(int(k == 0)) for k in range(len(face.rows))]
    if len(face.basis) != len(face.rows) - 1:
        return None
    last = next(k for k in range(len(face.rows)) if k not in set(face.basis))
    return completed_weights(face.rows, face.basis, face.pivots, {last: Fraction(1)})
