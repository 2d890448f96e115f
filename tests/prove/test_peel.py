"""Peeling: what a feature splits off by itself, and that all rounds together err nowhere."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.chunks import as_rows
from rosenblatt.prove.search.cone import Cone
from rosenblatt.prove.search.peel import peel
from tests.strategies import integer_rows


def left_of(peeled, n):
    """Which rows no round split off."""
    return np.ones(n, bool) if peeled.rounds_of is None else rounds_of(peeled) == 0


def rounds_of(peeled):
    return np.concatenate(peeled.rounds_of.values)


@given(integer_rows(max_rows=10, max_features=4, most=2), st.booleans(), st.booleans())
def test_all_rounds_together_err_nowhere(rows, intercept, sparse):
    X, y = np.array(rows[0], dtype=float), np.array(rows[1])
    cone = Cone.of(as_rows(sp.csr_array(X) if sparse else X, y), intercept)
    peeled = peel(cone)
    w = peeled.extended(cone, [Fraction(0)] * cone.n_columns)
    Z = (np.c_[X, np.ones(len(X))] if intercept else X) * y[:, None]
    for z, left in zip(Z, left_of(peeled, len(X)), strict=True):
        score = sum(Fraction(a) * b for a, b in zip(z, w, strict=True))
        assert score == 0 if left else score > 0
    rest = X[left_of(peeled, len(X))]
    assert set(peeled.labels) == set(y[left_of(peeled, len(X))])
    if len(rest) and peeled.rounds and len(peeled.labels) == 2:
        constant = (rest == (rest[0] if intercept else 0)).all(axis=0)
        assert np.array_equal(~constant, peeled.features)


@given(integer_rows(max_rows=10, max_features=3, most=2))
def test_without_offset_what_is_left_has_both_signs(rows):
    X, y = np.array(rows[0], dtype=float), np.array(rows[1])
    peeled = peel(Cone.of(as_rows(X, y), False))
    left = (X * y[:, None])[left_of(peeled, len(X))]
    if len(peeled.labels) == 2:
        assert all((c == 0).all() or ((c > 0).any() and (c < 0).any()) for c in left.T)


@pytest.mark.parametrize("intercept", [True, False])
def test_rounds_follow_one_another(intercept):
    """Feature 0 splits off the last rows; only then does feature 1 split off the first."""
    X = np.array([[0.0, 1], [0, -1], [0, 0], [0, 0], [1, -1], [-1, 1]])
    y = np.array([1, -1, 1, -1, 1, -1])
    peeled = peel(Cone.of(as_rows(X, y), intercept))
    assert rounds_of(peeled).tolist() == [2, 2, 0, 0, 1, 1]
    assert not peeled.features.any()
