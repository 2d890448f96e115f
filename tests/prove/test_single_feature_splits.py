"""Features that split off rows by themselves: the sum of all rounds errs nowhere."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.data.cone import as_cone
from rosenblatt.prove.limits import Limits
from rosenblatt.prove.separability.scaling import ScaledCone, column_sizes
from rosenblatt.prove.separability.single_feature_splits import single_feature_splits
from tests.strategies import integer_rows


def split(cone):
    return single_feature_splits(cone, Limits.starting_now(None, None))


def left_of(splits, n):
    """Which rows no round split off."""
    return np.ones(n, bool) if splits.rounds_of is None else rounds_of(splits) == 0


def rounds_of(splits):
    return np.concatenate([rounds for pieces in splits.rounds_of.values for rounds in pieces])


@given(integer_rows(max_rows=10, max_features=4, most=2), st.booleans(), st.booleans())
def test_all_rounds_together_err_nowhere(rows, intercept, sparse):
    X, y = np.array(rows[0], dtype=float), np.array(rows[1])
    cone = as_cone(sp.csr_array(X) if sparse else X, y, intercept)
    splits, scaled = split(cone), ScaledCone.of(cone, cone.map(column_sizes))
    zero = [Fraction(0)] * cone.n_columns
    Z = (np.c_[X, np.ones(len(X))] if intercept else X) * y[:, None]
    for exactly in (False, True):
        w = splits.extended(scaled, zero, Limits.starting_now(None, None), exactly)
        for z, left in zip(Z, left_of(splits, len(X)), strict=True):
            score = sum(Fraction(a) * b for a, b in zip(z, w, strict=True))
            assert score == 0 if left else score > 0
    rest = X[left_of(splits, len(X))]
    assert set(splits.signs) == set(y[left_of(splits, len(X))])
    if len(rest) and splits.rounds and len(splits.signs) == 2:
        constant = (rest == (rest[0] if intercept else 0)).all(axis=0)
        assert np.array_equal(~constant, splits.features)


@given(integer_rows(max_rows=10, max_features=3, most=2))
def test_without_offset_what_is_left_has_both_signs(rows):
    X, y = np.array(rows[0], dtype=float), np.array(rows[1])
    splits = split(as_cone(X, y, False))
    left = (X * y[:, None])[left_of(splits, len(X))]
    if len(splits.signs) == 2:
        assert all((c == 0).all() or ((c > 0).any() and (c < 0).any()) for c in left.T)


@pytest.mark.parametrize("intercept", [True, False])
def test_rounds_follow_one_another(intercept):
    """Feature 0 splits off the last rows; only then does feature 1 split off the first."""
    X = np.array([[0.0, 1], [0, -1], [0, 0], [0, 0], [1, -1], [-1, 1]])
    y = np.array([1, -1, 1, -1, 1, -1])
    splits = split(as_cone(X, y, intercept))
    assert rounds_of(splits).tolist() == [2, 2, 0, 0, 1, 1]
    assert not splits.features.any()
