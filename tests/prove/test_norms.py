"""Least scores, longest rows and roots equal those of plain rational arithmetic."""

import sys
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

from rosenblatt.data.cone import as_cone
from rosenblatt.prove.checker import norms
from rosenblatt.prove.checker.norms import (
    down,
    largest_square,
    nearest,
    root_up,
    sqrt_down,
    sqrt_nearest,
    sqrt_up,
    up,
)
from rosenblatt.prove.checker.signs import Plane, least_scores, score_bounds

FLOATS = st.one_of(
    st.integers(-9, 9).map(float),
    st.floats(-4, 4, width=32),
    st.sampled_from([5e-324, 1e-320, -1e-300, 1e-160, 1e160, -1e300, 1.7e308, 0.1, 1 + 2.0**-52]),
)


@st.composite
def rows_and_weights(draw):
    """(X, y, w, b): few rows of few features, weights sometimes rational."""
    n, d = draw(st.integers(2, 7)), draw(st.integers(1, 4))
    row = st.lists(FLOATS, min_size=d, max_size=d)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    v = draw(st.lists(FLOATS, min_size=d + 1, max_size=d + 1))
    if draw(st.booleans()):
        v = [Fraction(c) / 3 for c in v]
    b = v[-1] if draw(st.booleans()) else 0
    others = draw(st.lists(st.sampled_from([-1, 1]), min_size=n - 2, max_size=n - 2))
    return X, [-1, 1, *others], v[:-1], b


def exactly(X, y, w, b, k):
    products = (Fraction(a) * Fraction(c) for a, c in zip(X[k].tolist(), w, strict=True))
    return y[k] * sum(products, Fraction(b))


@given(case=rows_and_weights(), sparse=st.booleans())
def test_least_scores_and_norms_are_exact(case, sparse):
    X, y, w, b = case
    cone, plane = as_cone(sp.csr_matrix(X) if sparse else X, y), Plane(w, b)
    scores = [exactly(X, y, w, b, k) for k in range(len(y))]
    (found,) = least_scores(cone, plane)
    assert found.exact
    assert found.value == min(scores) == scores[found.row]
    for found, label in zip(least_scores(cone, plane, by_class=True), (1, -1), strict=True):
        assert found.value == min(s for s, side in zip(scores, y, strict=True) if side == label)
    unit = Fraction(plane.unit, plane.factor)
    for low, high, score in zip(*score_bounds(cone.whole(), plane), scores, strict=True):
        assert low == -np.inf or Fraction(low) * unit <= score
        assert high == np.inf or score <= Fraction(high) * unit
    assert largest_square(cone) == max(
        sum((Fraction(v) ** 2 for v in row), Fraction(0)) for row in X.tolist()
    )


def test_many_ties_are_bounded(monkeypatch):
    for module in (sys.modules["rosenblatt.prove.checker.signs"], norms):
        monkeypatch.setattr(module, "FEW", 3)
    X, y = np.full((10, 2), 0.1), [-1, 1] * 5
    cone, plane = as_cone(X, y), Plane([1.0, 1.0], 0)
    found, _ = least_scores(cone, plane, by_class=True, enough=1e-9)
    true, small = Fraction(0.1) * 2, Fraction(1, 10**9)
    assert not found.exact
    assert true * (1 - small) <= found.value <= true
    assert least_scores(cone, plane, by_class=True)[0].value == true
    square = Fraction(0.1) ** 2 * 2
    assert square <= largest_square(cone) <= square * (1 + small)


@example(p=10**40 - 15005, q=1, shift=0)  # the root is a hair below a float
@given(p=st.integers(1, 10**40), q=st.integers(1, 10**40), shift=st.integers(-1200, 1200))
def test_roots_are_rounded_the_right_way(p, q, shift):
    square = Fraction(p, q) * Fraction(2) ** shift
    low, high = sqrt_down(square), sqrt_up(square)
    assert Fraction(low) ** 2 <= square <= Fraction(high) ** 2
    assert low == high or np.nextafter(low, np.inf) == high
    middle = (Fraction(low) + Fraction(high)) / 2
    assert sqrt_nearest(square) in ((low,) if square < middle**2 else (low, high))
    assert sqrt_nearest(square) in ((high,) if square > middle**2 else (low, high))
    assert square <= root_up(square) ** 2 <= square * (1 + Fraction(1, 2**100))
    assert Fraction(down(square)) <= square
    assert up(square) == np.inf or Fraction(up(square)) >= square


def test_beyond_the_floats():
    big = Fraction(10) ** 400
    assert (nearest(big), nearest(-big)) == (np.inf, -np.inf)
    assert down(big) == pytest.approx(1.7976931348623157e308)
    assert (up(big), down(-big), up(1 / big), down(1 / big)) == (np.inf, -np.inf, 5e-324, 0.0)
