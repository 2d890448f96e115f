"""Decisions over the rationals: both sides hold exactly, and they agree with elimination."""

import numpy as np
import pytest
from flint import fmpz_mat
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.exact import to_integers
from rosenblatt.prove.separability.exact_decision import decide, random_orthogonal
from tests.prove.exact_oracle import feasible


def dot(a, b):
    return sum(u * v for u, v in zip(a, b, strict=True))


def rank_of(rows):
    return int(fmpz_mat(rows).rank()) if rows else 0


@st.composite
def tables(draw):
    p = draw(st.integers(1, 4))
    entry = st.one_of(st.integers(-2, 2), st.sampled_from([2**60, -(2**60) + 1, 3**40]))
    return draw(st.lists(st.lists(entry, min_size=p, max_size=p), min_size=1, max_size=7))


@given(tables())
def test_a_decision_carries_both_proofs(rows):
    found = decide(rows)
    assert all(dot(found.w, row) >= 0 for row in rows)
    for weights in (found.weights, found.circuit):
        assert all(c >= 0 for c in weights)
        assert not any(dot(weights, column) for column in zip(*rows, strict=True))
    face = [row for row, c in zip(rows, found.weights, strict=True) if c]
    rank = rank_of(face)
    assert len(face) <= max(1, 2 * rank)
    for row in rows:  # what w does not split off is in the span of what cancels
        inside = bool(face) and rank_of([*face, row]) == rank
        assert (dot(found.w, row) > 0) == (not inside)
    circuit = [row for row, c in zip(rows, found.circuit, strict=True) if c]
    assert bool(circuit) == bool(face)
    assert rank_of(circuit) == max(len(circuit) - 1, 0)


@given(tables())
def test_it_agrees_with_elimination(rows):
    found = decide(rows)
    assert feasible(rows, [True] * len(rows)) == (not any(found.weights))
    some = any(feasible(rows, [i == k for i in range(len(rows))]) for k in range(len(rows)))
    assert some == any(found.w)


@pytest.mark.parametrize(("pairs", "d"), [(10, 5), (20, 10), (40, 30)])
def test_pairs_one_unit_in_the_last_place_apart(pairs, d):
    """Floats see the same points twice; exactly, they are not."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((pairs, d))
    B = np.nextafter(A, rng.choice([-np.inf, np.inf], d))
    y = np.repeat([-1, 1], pairs)
    Z = np.c_[np.vstack([A, B]), np.ones(2 * pairs)] * y[:, None]
    rows, _ = to_integers(Z)
    found = decide(rows)
    assert any(found.weights)
    assert not any(dot(found.weights, column) for column in zip(*rows, strict=True))


@given(tables())
def test_a_random_orthogonal_vector_is_orthogonal(rows):
    u = random_orthogonal(rows, np.random.default_rng(0))
    assert not any(dot(u, row) for row in rows)
    assert any(u) == (rank_of(rows) < len(rows[0]))
