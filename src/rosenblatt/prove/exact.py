"""Exact: integers, rationals and linear algebra over them, for those who make claims.

Rows are integers after scaling each by a power of two, which moves no hyperplane. flint does
the linear algebra; the simplex method here is the last resort where floats cannot see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from flint import fmpq, fmpq_mat, fmpz_mat, nmod_mat

Array = npt.NDArray[Any]
Rows = list[list[int]]
PRIME = 2**61 - 1


def integer_rows(X: Any, y: Array, rows: Sequence[int], intercept: bool) -> tuple[Rows, list[int]]:
    """z_i = y_i (x_i, 1) as integers, and the exponents e_i with integer row = z_i 2^e_i."""
    part = X[list(rows)]
    dense = part.toarray() if sp.issparse(part) else np.asarray(part)
    dense = dense.astype(np.float64)
    out, exponents = [], []
    for values, label in zip(dense.tolist(), y[list(rows)].tolist(), strict=True):
        ratios = [v.as_integer_ratio() for v in values]
        shift = max((q.bit_length() - 1 for _, q in ratios), default=0)
        whole = [int(label) * (p << (shift - q.bit_length() + 1)) for p, q in ratios]
        if intercept:
            whole.append(int(label) << shift)
        common = _trailing_zeros(whole)
        out.append([v >> common for v in whole])
        exponents.append(shift - common)
    return out, exponents


@dataclass(frozen=True)
class Face:
    """Rows that cancel, they say: which, as integers, and a basis of them."""

    at: list[int]
    rows: Rows
    exponents: list[int]
    basis: list[int]
    pivots: list[int]

    @classmethod
    def of(cls, X: Any, y: Array, at: list[int], intercept: bool) -> Face:
        rows, exponents = integer_rows(X, y, at, intercept)
        return cls(at, rows, exponents, *independent(rows))


def _trailing_zeros(values: list[int]) -> int:
    return min(((v & -v).bit_length() - 1 for v in values if v), default=0)


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
    """Weights of all rows that cancel, those outside `basis` being given; None if not > 0."""
    p = len(rows[0])
    target = [Fraction(0)] * p
    for k, c in weights.items():
        for j in range(p):
            target[j] -= c * rows[k][j]
    matrix = [[rows[k][j] for k in basis] for j in columns]
    found = solve(matrix, [target[j] for j in columns])
    full = [weights.get(k, Fraction(0)) for k in range(len(rows))]
    for k, c in zip(basis, found, strict=True):
        full[k] += c
    if any(c < 0 for c in full) or any(full[k] <= 0 for k in basis):
        return None
    for j in range(p):
        if sum(c * row[j] for c, row in zip(full, rows, strict=True)):
            return None
    return full


def hyperplane_through(face: Face, near: Sequence[float], bits: int) -> list[Fraction]:
    """Weights orthogonal to all rows, close to `near`: free entries rounded to `bits` bits."""
    rows, basis, columns, p = face.rows, face.basis, face.pivots, len(near)
    top = max((abs(v) for v in near), default=0.0) or 1.0
    unit = Fraction(2) ** (int(np.frexp(top)[1]) - bits)
    w = [Fraction(0)] * p
    pivot = set(columns)
    for j in range(p):
        if j not in pivot:
            w[j] = round(Fraction(near[j]) / unit) * unit
    matrix = [[rows[k][j] for j in columns] for k in basis]
    right = [-sum((w[j] * rows[k][j] for j in range(p)), Fraction(0)) for k in basis]
    for j, v in zip(columns, solve(matrix, right), strict=True):
        w[j] = v
    return w


def decide(
    rows: Rows, tick: Callable[[], None] = lambda: None
) -> tuple[list[Fraction], list[Fraction]]:
    """A strictly complementary pair for integer rows Z: w with Zw >= 0, c >= 0 with cZ = 0.

    For every row exactly one of w.z_i and c_i is positive, so it tells apart what can be
    split off from what cancels. Rational simplex: look for c >= 0 with cZ = 0 and weight 1
    on rows not yet known to cancel; what it finds cancels, and when it finds nothing the
    multipliers are w. `tick` is called at every pivot and may raise.
    """
    m, p = len(rows), len(rows[0])
    total = [Fraction(0)] * m
    while True:
        open_rows = [total[i] == 0 for i in range(m)]
        if not any(open_rows):
            return [Fraction(0)] * p, total
        columns = [[*row, int(free)] for row, free in zip(rows, open_rows, strict=True)]
        solution, multipliers = _phase_one(columns, p + 1, tick)
        if solution is None:
            return [-v for v in multipliers[:p]], total
        total = [a + b for a, b in zip(total, solution, strict=True)]


def _phase_one(
    columns: list[list[int]], height: int, tick: Callable[[], None]
) -> tuple[list[Fraction] | None, list[Fraction]]:
    """c >= 0 with sum_i c_i columns_i = (0, ..., 0, 1), or multipliers that rule it out.

    Primal simplex on the sum of artificial variables, Bland's rule, a dense rational table.
    The multipliers q satisfy q.column_i <= 0 for all i and q.(0, ..., 0, 1) > 0.
    """
    m = len(columns)
    table = [[Fraction(columns[i][r]) for i in range(m)] for r in range(height)]
    inverse = [[Fraction(int(a == b)) for b in range(height)] for a in range(height)]
    right = [Fraction(0)] * (height - 1) + [Fraction(1)]
    basis = [m + r for r in range(height)]
    while True:
        tick()
        artificial = [r for r in range(height) if basis[r] >= m]
        enter = next(
            (
                i
                for i in range(m)
                if i not in basis and sum((table[r][i] for r in artificial), Fraction(0)) > 0
            ),
            None,
        )
        if enter is None:
            break
        rows = [r for r in range(height) if table[r][enter] > 0]
        leave = min(rows, key=lambda r: (right[r] / table[r][enter], basis[r]))
        factor = table[leave][enter]
        table[leave] = [v / factor for v in table[leave]]
        inverse[leave] = [v / factor for v in inverse[leave]]
        right[leave] /= factor
        for r in range(height):
            if r != leave and (f := table[r][enter]):
                table[r] = [a - f * b for a, b in zip(table[r], table[leave], strict=True)]
                inverse[r] = [a - f * b for a, b in zip(inverse[r], inverse[leave], strict=True)]
                right[r] -= f * right[leave]
        basis[leave] = enter
    if sum((right[r] for r in range(height) if basis[r] >= m), Fraction(0)) == 0:
        solution = [Fraction(0)] * m
        for r in range(height):
            if basis[r] < m:
                solution[basis[r]] = right[r]
        return solution, []
    multipliers = [
        sum((inverse[r][k] for r in range(height) if basis[r] >= m), Fraction(0))
        for k in range(height)
    ]
    return None, multipliers


def circuit(face: Face) -> list[Fraction] | None:
    """Positive weights with which the rows cancel, if they do so in just one way."""
    if len(face.basis) != len(face.rows) - 1:
        return None
    last = next(k for k in range(len(face.rows)) if k not in set(face.basis))
    return completed_weights(face.rows, face.basis, face.pivots, {last: Fraction(1)})
