"""Exact arithmetic: floats as integers, residues modulo a prime, pivots, sums that must vanish.

A float64 is an integer times a power of two, so a row of floats is a row of integers times a
power of two, and has residues modulo every odd prime. What is independent modulo a prime is
independent; the converse fails with a chance of about one in the prime.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Residues = npt.NDArray[np.int64]
Number = int | float | Fraction
MANTISSA = 53
PRIME = 2_147_483_629  # below 2^31: products of two residues fit in int64


def split(values: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Odd integers m (or 0) and exponents e with values = m 2^e exactly; e is 0 for a 0.

    >>> split(np.array([0.75, -6.0, 0.0]))
    (array([ 3, -3,  0]), array([-2,  1,  0]))
    """
    fraction, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    whole = np.ldexp(fraction, MANTISSA).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1].astype(np.int64) - 1
    there = whole != 0
    zeros = np.where(there, zeros, 0)
    return whole >> zeros, np.where(there, exponent.astype(np.int64) - MANTISSA + zeros, 0)


def bit_range(values: Array) -> tuple[int, int] | None:
    """(low, high): every value is an integer times 2^low, smaller than 2^high; None: all are 0."""
    there = values[values != 0]
    if there.size == 0:
        return None
    return int(split(there)[1].min()), int(np.frexp(there)[1].max())


def to_integers(
    Z: Any, shifts: Sequence[int] | Array | None = None
) -> tuple[list[list[int]], list[int]]:
    """Rows as integers, as small as powers of two allow: integer row = row * 2^exponent.

    With `shifts`, of the rows with column j multiplied by 2^shifts[j].

    >>> to_integers(np.array([[0.75, -6.0], [1e300, 0.0]]))[1]
    [2, -946]
    """
    whole, exponent = split(Z.toarray() if hasattr(Z, "toarray") else Z)
    if shifts is not None:
        exponent = exponent + np.asarray(shifts, dtype=np.int64)
    there = whole != 0
    lowest = np.min(np.where(there, exponent, 1 << 40), axis=1, initial=1 << 40)
    lowest = np.where(lowest == 1 << 40, 0, lowest)
    up = np.where(there, exponent - lowest[:, None], 0)
    if up.max(initial=0) <= 62 - MANTISSA:
        table = (whole << up).tolist()
    else:
        table = [
            [v << s for v, s in zip(line, by, strict=True)]
            for line, by in zip(whole.tolist(), up.tolist(), strict=True)
        ]
    return table, (-lowest).tolist()


def entries(X: Any, k: int) -> Iterator[tuple[int, int, int]]:
    """(j, m, e) for every entry of row k that is not zero: it is m 2^e. X is an array or CSR."""
    if hasattr(X, "indptr"):
        inside = slice(X.indptr[k], X.indptr[k + 1])
        pairs = zip(X.indices[inside].tolist(), X.data[inside].tolist(), strict=True)
    else:
        pairs = zip(range(X.shape[1]), X[k].tolist(), strict=True)
    for j, v in pairs:
        if v:
            m, q = v.as_integer_ratio()
            yield j, m, 1 - q.bit_length()


def exact_dot(X: Any, k: int, vector: Mapping[int, int]) -> Fraction:
    """Row k of X times an integer vector, given as column: entry.

    >>> exact_dot(np.array([[0.5, 1e-3]]), 0, {0: 2, 1: 1}) == 1 + Fraction(1e-3)
    True
    """
    found = [(m * vector[j], e) for j, m, e in entries(X, k) if j in vector]
    low = min((e for _, e in found), default=0)
    return Fraction(2) ** low * sum(m << (e - low) for m, e in found)


def cancels(Z: Any, weights: Sequence[Number]) -> bool:
    """Whether sum_i weights_i z_i = 0 exactly, for the rows of Z, an array or CSR.

    >>> cancels(np.array([[0.1, 0.3], [0.1, 0.3]]), [1, -1])
    True
    >>> cancels(np.array([[0.1], [0.2], [0.3]]), [1, 1, -1])
    False
    """
    whole = common_integers(weights)
    if hasattr(Z, "indptr"):
        row = np.repeat(np.arange(Z.shape[0]), np.diff(Z.indptr))
        column, values = Z.indices, Z.data
    else:
        row, column = np.nonzero(Z)
        values = Z[row, column]
    numbers, exponents = split(values)
    shifts = exponents - exponents.min(initial=0)
    sums: dict[int, int] = {}
    terms = (row.tolist(), column.tolist(), numbers.tolist(), shifts.tolist())
    for k, j, m, s in zip(*terms, strict=True):
        if whole[k]:
            sums[j] = sums.get(j, 0) + ((whole[k] * m) << s)
    return not any(sums.values())


# ---------------------------------------------------------------------- vectors of rationals


def common_integers(values: Sequence[Number]) -> list[int]:
    """The values times the least positive integer that makes all of them integers.

    >>> common_integers([0.5, Fraction(1, 3), 2])
    [3, 2, 12]
    """
    ratios = [v.as_integer_ratio() for v in values]
    common = lcm(*{q for _, q in ratios})
    return [p * (common // q) for p, q in ratios]


def primitive(values: Sequence[Number]) -> list[int]:
    """The same direction in integers without a common divisor.

    >>> primitive([Fraction(2, 3), -4])
    [1, -6]
    """
    whole = common_integers(values)
    divisor = gcd(*whole) or 1
    return [v // divisor for v in whole]


def floats_if_exact(values: Sequence[Number]) -> tuple[float, ...] | None:
    """The values as floats, or None if a float cannot hold one of them."""
    if any(abs(v.as_integer_ratio()[0]) >= 2**1000 for v in values):
        return None
    floats = tuple(float(v) for v in values)
    return floats if all(f == v for f, v in zip(floats, values, strict=True)) else None


def fractions(values: Any) -> list[Fraction]:
    """The entries of a flint vector or list as Python's rationals."""
    return [Fraction(int(v.p), int(v.q)) for v in values]


def combination(
    rows: Sequence[Sequence[int]],
    target: Sequence[int | Fraction],
    basis: tuple[list[int], list[int]] | None = None,
) -> list[Fraction] | None:
    """Weights with which integer rows sum to the target: 0 but for a basis. None if there are none.

    `basis` is what `independent` says of the rows. It is found modulo a prime, and might be too
    small, with a chance of one in the prime: then there might be weights nevertheless.

    >>> combination([[2, 0], [1, 1]], [1, 1])
    [Fraction(0, 1), Fraction(1, 1)]
    >>> combination([[2, 0]], [1, 1]) is None
    True
    """
    from flint import fmpz_mat

    inside, pivots = independent(integer_residues(rows)) if basis is None else basis
    common, *whole = common_integers([1, *target])
    weights = [Fraction(0)] * len(rows)
    if not inside:
        return None if any(whole) else weights
    matrix = fmpz_mat([[rows[k][j] for k in inside] for j in pivots])
    solution: Any = matrix.solve(fmpz_mat(len(pivots), 1, [whole[j] for j in pivots]))
    numerators, denominator = solution.numer_denom()
    sums = numerators.transpose() * fmpz_mat([rows[k] for k in inside])
    if any(int(v) != int(denominator) * t for v, t in zip(sums.entries(), whole, strict=True)):
        return None
    for k, c in zip(inside, numerators.entries(), strict=True):
        weights[k] = Fraction(int(c), int(denominator) * common)
    return weights


# ---------------------------------------------------------------------- modulo a prime


def primes() -> Iterator[int]:
    """Primes below 2^31, the largest first."""
    from flint import fmpz

    return (p for p in range(2**31 - 1, 2, -2) if fmpz(p).is_prime())


def residues(values: Array, prime: int = PRIME) -> Residues:
    """Floats modulo an odd prime below 2^31, where 2 has an inverse.

    >>> (2 * residues(np.array([0.5, -3.0])) % PRIME).tolist() == [1, PRIME - 6]
    True
    """
    whole, exponent = split(values)
    low, high = int(exponent.min(initial=0)), int(exponent.max(initial=0))
    powers = np.array([pow(2, e, prime) for e in range(low, high + 1)], dtype=np.int64)
    return np.asarray(whole % prime * powers[exponent - low] % prime)


def integer_residues(rows: Sequence[Sequence[int]], prime: int = PRIME) -> Residues:
    """Integers of any length modulo a prime."""
    table = np.array([[v % prime for v in row] for row in rows], dtype=np.int64)
    return table.reshape(len(rows), len(rows[0]) if len(rows) else 0)


def echelon(A: Residues, prime: int = PRIME) -> tuple[list[int], Residues]:
    """Pivot columns of residues, the first that are independent, and the reduced echelon form."""
    reduced, pivots = _reduced(A, prime)
    free = np.setdiff1d(np.arange(A.shape[1]), pivots).tolist()
    table = np.zeros((len(pivots), A.shape[1]), dtype=np.int64)
    table[np.arange(len(pivots)), pivots] = 1
    if pivots and free:  # the entries of flint's matrices are fetched one by one
        table[:, free] = [[int(reduced[k, j]) for j in free] for k in range(len(pivots))]
    return pivots, table


def pivot_columns(A: Residues, prime: int = PRIME) -> list[int]:
    """The first columns that are independent modulo the prime.

    >>> pivot_columns(np.array([[1, 2, 0], [2, 4, 1]]))
    [0, 2]
    """
    return _reduced(A, prime)[1]


def _reduced(A: Residues, prime: int) -> tuple[Any, list[int]]:
    """The reduced echelon form as a matrix of flint, and its pivot columns."""
    from flint import nmod_mat

    if A.size == 0:
        return None, []
    reduced, rank = nmod_mat(A.shape[0], A.shape[1], A.ravel().tolist(), prime).rref()
    columns: list[int] = []
    for j in range(A.shape[1]):
        if len(columns) < rank and int(reduced[len(columns), j]):
            columns.append(j)
    return reduced, columns


def independent(A: Residues, prime: int = PRIME) -> tuple[list[int], list[int]]:
    """Rows that form a basis of all rows modulo the prime, and pivot columns of these."""
    columns = pivot_columns(A, prime)
    return pivot_columns(A[:, columns].T, prime), columns


def random_solution(
    pivots: list[int], table: Residues, rng: np.random.Generator, prime: int = PRIME
) -> Residues | None:
    """A random vector orthogonal to rows, from their reduced echelon form; None if only 0 is.

    A row that is not in their span is orthogonal to it with a chance of one in the prime.
    """
    n = table.shape[1]
    free = np.setdiff1d(np.arange(n), pivots)
    if not free.size:
        return None
    x = np.zeros(n, dtype=np.int64)
    x[free] = rng.integers(1, prime, free.size)
    x[pivots] = -modular_product(table[:, free], x[free], prime) % prime
    return x


def modular_product(A: Residues, x: Residues, prime: int = PRIME) -> Residues:
    """A x modulo a prime below 2^31, all entries being residues."""
    total = np.zeros(A.shape[0], dtype=np.int64)
    for k in range(0, A.shape[1], 1 << 10):  # sums of 2^10 residues below 2^31 fit
        total += (A[:, k : k + (1 << 10)] * x[k : k + (1 << 10)] % prime).sum(axis=1) % prime
    return total % prime
