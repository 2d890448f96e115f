"""Exact arithmetic against Python's fractions."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rosenblatt.data import exact

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SHORT = st.integers(-3, 3).map(float) | st.sampled_from([0.5, 2.0**-1074, 1e300, 1 + 2.0**-52])
TABLES = st.tuples(st.integers(1, 5), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=FLOATS | SHORT)
)


def times_two(value: Fraction | int, power: int) -> Fraction:
    return Fraction(value) * Fraction(2) ** power


@given(TABLES, st.integers(-5, 5))
def test_integer_rows_are_the_rows_times_powers_of_two(Z: np.ndarray, shift: int) -> None:
    shifts = [shift * j for j in range(Z.shape[1])]
    rows, exponents = exact.to_integers(Z, shifts)
    for row, z, e in zip(rows, Z.tolist(), exponents, strict=True):
        assert [times_two(v, -e) for v in row] == [
            times_two(Fraction(v), s) for v, s in zip(z, shifts, strict=True)
        ]
        assert not any(row) or any(v % 2 for v in row)


@given(TABLES)
def test_sparse_rows_give_the_same_integers_and_entries(Z: np.ndarray) -> None:
    S = sp.csr_array(Z)
    assert exact.to_integers(S) == exact.to_integers(Z)
    for k in range(len(Z)):
        assert list(exact.entries(S, k)) == list(exact.entries(Z, k))


@given(TABLES)
def test_every_value_lies_between_the_ends_of_the_bit_range(Z: np.ndarray) -> None:
    ends = exact.bit_range(Z)
    assert (ends is None) == (not Z.any())
    if ends is not None:
        low, high = ends
        bits = [times_two(Fraction(v), -low) for v in Z.ravel().tolist()]
        assert all(b.denominator == 1 and abs(b) < 2 ** (high - low) for b in bits)
        assert any(b % 2 for b in bits)


@given(TABLES, st.data())
def test_products_and_sums_are_exact(Z: np.ndarray, data: st.DataObject) -> None:
    n, p = Z.shape
    vector = data.draw(st.dictionaries(st.integers(0, p - 1), st.integers(-(10**40), 10**40)))
    for k, z in enumerate(Z.tolist()):
        expected = sum((Fraction(v) * vector.get(j, 0) for j, v in enumerate(z)), Fraction(0))
        assert exact.exact_dot(Z, k, vector) == expected
    weights = data.draw(st.lists(st.fractions() | st.integers(-2, 2), min_size=n, max_size=n))
    sums = [
        sum(c * Fraction(z[j]) for c, z in zip(weights, Z.tolist(), strict=True)) for j in range(p)
    ]
    assert exact.cancels(Z, weights) == (not any(sums))
    assert exact.cancels(np.vstack([Z, -Z]), [*weights, *weights])


@given(st.lists(st.fractions() | st.integers(-9, 9) | SHORT, min_size=1, max_size=5))
def test_primitive_integers_keep_the_direction(values: list) -> None:
    whole = exact.primitive(values)
    k = next((k for k, v in enumerate(values) if v), None)
    if k is None:
        assert not any(whole)
    else:
        ratio = Fraction(whole[k]) / Fraction(values[k])
        assert ratio > 0
        assert [Fraction(v) * ratio for v in values] == whole
        assert gcd(*whole) == 1


def test_floats_only_where_they_are_exact() -> None:
    assert exact.floats_if_exact([Fraction(1, 4), 3]) == (0.25, 3.0)
    assert exact.floats_if_exact([Fraction(1, 3)]) is None
    assert exact.floats_if_exact([10**400]) is None
    assert exact.floats_if_exact([2**53 + 1]) is None


@given(TABLES, st.sampled_from([exact.PRIME, 2**31 - 1, 101]))
def test_residues_are_the_numbers_modulo_a_prime(Z: np.ndarray, prime: int) -> None:
    for v, r in zip(Z.ravel().tolist(), exact.residues(Z, prime).ravel().tolist(), strict=True):
        p, q = v.as_integer_ratio()
        assert r == p * pow(q, -1, prime) % prime


def test_primes_start_with_the_largest_below_two_to_the_31() -> None:
    assert next(exact.primes()) == 2**31 - 1


@pytest.mark.parametrize("seed", range(20))
def test_independent_rows_and_columns_have_the_rank(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 3, (6, 2)) @ rng.integers(-2, 3, (2, 5))
    R = exact.integer_residues(A.tolist())
    rank = np.linalg.matrix_rank(A)
    rows, columns = exact.independent(R)
    assert len(rows) == len(columns) == rank
    assert rank == 0 or np.linalg.matrix_rank(A[np.ix_(rows, columns)]) == rank
    x = exact.random_solution(*exact.echelon(R), rng)
    assert x is not None
    assert not exact.modular_product(R, x).any()
    e = exact.integer_residues(np.eye(5, dtype=int).tolist())
    inside = [np.linalg.matrix_rank(np.vstack([A, row])) == rank for row in np.eye(5)]
    assert (exact.modular_product(e, x) == 0).tolist() == inside


def test_only_zero_is_orthogonal_to_a_basis() -> None:
    assert (
        exact.random_solution(*exact.echelon(np.eye(3, dtype=np.int64)), np.random.default_rng(0))
        is None
    )
    empty = np.zeros((0, 2), dtype=np.int64)
    assert exact.random_solution(*exact.echelon(empty), np.random.default_rng(0)) is not None


def test_a_long_modular_product_does_not_overflow() -> None:
    A = np.full((1, 5000), exact.PRIME - 1)
    assert exact.modular_product(A, A[0]).tolist() == [5000]
