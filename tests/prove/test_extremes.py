"""Least scores and largest norms equal those of plain rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

from rosenblatt.data.cone import as_cone
from rosenblatt.prove.margins import extremes
from rosenblatt.prove.margins.extremes import Scanner, down, nearest, sqrt_down, sqrt_up, up

FLOATS = st.one_of(
    st.integers(-9, 9).map(float),
    st.floats(-4, 4, width=32),
    st.sampled_from([5e-324, 1e-320, -1e-300, 1e-160, 1e160, -1e300, 1.7e308, 0.1, 1 + 2.0**-52]),
)


@st.composite
def rows_and_direction(draw):
    n, d = draw(st.integers(2, 7)), draw(st.integers(1, 4))
    constant = draw(st.booleans())
    row = st.lists(FLOATS, min_size=d, max_size=d)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    v = draw(st.lists(FLOATS, min_size=d + constant, max_size=d + constant))
    if draw(st.booleans()):
        v = [Fraction(c) / 3 for c in v]
    return X, [-1, 1, *draw(st.lists(st.sampled_from([-1, 1]), min_size=n - 2, max_size=n - 2))], v


def exactly(X, y, v, k):
    row = [*X[k].tolist(), 1.0][: len(v)]
    return y[k] * sum((Fraction(a) * Fraction(b) for a, b in zip(row, v, strict=True)), Fraction(0))


@given(case=rows_and_direction(), sparse=st.booleans())
def test_the_least_score_is_exact(case, sparse):
    X, y, v = case
    rows = as_cone(sp.csr_matrix(X) if sparse else X, y)
    scanner = Scanner.of(rows, constant=len(v) > X.shape[1])
    scores = [exactly(X, y, v, k) for k in range(len(y))]
    (found,) = scanner.least(v)
    assert found.exact
    assert found.value == min(scores) == scores[found.row]
    for found, label in zip(scanner.least(v, by_class=True), (1, -1), strict=True):
        assert found.value == min(s for s, side in zip(scores, y, strict=True) if side == label)
    direction = scanner.direction(v)
    unit = Fraction(2) ** direction.shift
    for part in rows.map(lambda part: part):
        for k, s in enumerate(direction.scores(part)):
            off = Fraction(float(s)) * unit - scores[part.first_row + k]
            assert abs(off) <= Fraction(direction.error) * unit
    norms = [sum((Fraction(v) ** 2 for v in row), Fraction(0)) for row in X.tolist()]
    assert scanner.square == max(norms)


def test_many_ties_are_bounded_from_below(monkeypatch):
    monkeypatch.setattr(extremes, "FEW", 3)
    X, y = np.full((10, 2), 0.1), [-1, 1] * 5
    scanner = Scanner.of(as_cone(X, y), constant=False)
    found, _ = scanner.least([1.0, 1.0], by_class=True, enough=1e-9)
    true = Fraction(0.1) * 2
    assert not found.exact
    assert true * (1 - Fraction(1, 10**9)) <= found.value <= true
    assert scanner.least([1.0, 1.0], by_class=True)[0].value == true
    assert (
        Fraction(0.1) ** 2 * 2
        <= scanner.square
        <= Fraction(0.1) ** 2 * 2 * (1 + Fraction(1, 10**9))
    )


@example(p=10**40 - 15005, q=1, shift=0)  # the root is a hair below a float
@given(p=st.integers(1, 10**40), q=st.integers(1, 10**40), shift=st.integers(-1200, 1200))
def test_roots_are_rounded_the_right_way(p, q, shift):
    square = Fraction(p, q) * Fraction(2) ** shift
    low, high = sqrt_down(square), sqrt_up(square)
    assert Fraction(low) ** 2 <= square <= Fraction(high) ** 2
    assert low == high or np.nextafter(low, np.inf) == high
    assert Fraction(down(square)) <= square
    assert up(square) == np.inf or Fraction(up(square)) >= square


def test_beyond_the_floats():
    big = Fraction(10) ** 400
    assert (nearest(big), nearest(-big)) == (np.inf, -np.inf)
    assert down(big) == pytest.approx(1.7976931348623157e308)
    assert (up(big), down(-big), up(1 / big), down(1 / big)) == (np.inf, -np.inf, 5e-324, 0.0)
