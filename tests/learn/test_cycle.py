"""A cycle proves something only if its updates sum to exactly zero."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from rosenblatt import Perceptron
from rosenblatt.learn.cycle import cancels

ENTRIES = st.one_of(
    st.integers(-5, 5).map(float),
    st.sampled_from([0.1, -0.1, 0.2, 0.3, 1e20, -1e20, 1e-3, 5e-324, -5e-324, 1e300, -1e300]),
)


@given(
    X=st.lists(st.lists(ENTRIES, min_size=2, max_size=2), min_size=1, max_size=5),
    coefficients=st.lists(
        st.sampled_from([-2.0, -1.0, -0.5, 0.5, 1.0, 3.0]), min_size=5, max_size=5
    ),
    mirrored=st.booleans(),
    intercept=st.booleans(),
    sparse=st.booleans(),
)
def test_sums_are_exact(X, coefficients, mirrored, intercept, sparse):
    c = coefficients[: len(X)]
    if mirrored:  # otherwise hardly anything cancels
        X, c = X + X, c + [-v for v in c]
    columns = [*zip(*X, strict=True), *([[1.0] * len(X)] if intercept else [])]
    sums = [
        sum(Fraction(a) * Fraction(b) for a, b in zip(c, column, strict=True)) for column in columns
    ]
    A = np.array(X)
    found = cancels(sp.csr_matrix(A) if sparse else A, np.arange(len(X)), np.array(c), intercept)
    assert found == (not any(sums))


def test_no_rows_prove_nothing():
    assert not cancels(np.ones((2, 1)), np.array([], dtype=np.int64), np.array([]), True)


@given(
    rows=st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=2, max_size=6),
    data=st.data(),
    settings=st.sampled_from([{"mode": "batch-mean"}, {"mode": "batch"}, {"rule": "minover"}]),
    intercept=st.booleans(),
)
def test_cycles_over_whole_numbers_are_exact(rows, data, settings, intercept):
    """What moved the weights between two visits of the same weights is counted, and cancels."""
    y = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(rows), max_size=len(rows)))
    assume(len(set(y)) == 2)
    clf = Perceptron(shuffle=False, tol=None, max_iter=40, fit_intercept=intercept, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(rows, y)
    assume(clf.stop_reason_ == "cycle")
    cycle = clf.trace_.cycle
    z = np.array([[*x, 1] if intercept else x for x in rows]) * np.array(y)[:, None]
    assert cycle.exact == (not (cycle.counts @ z[cycle.rows]).any())
    if settings.get("rule") or settings["mode"] == "batch":
        assert cycle.exact


def test_a_cycle_of_means_is_exact():
    clf = Perceptron(mode="batch-mean", fit_intercept=False, shuffle=False, tol=None)
    cycle = clf.fit([[1], [1], [1], [1]], [1, 1, 1, 0]).trace_.cycle
    assert cycle.exact
    assert cycle.counts.tolist() == [1, 1, 1, 3]  # a third each, and one


@pytest.mark.parametrize("mode", ["online", "batch"])
def test_integer_xor_cycles_exactly(mode):
    X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]]), [0, 0, 1, 1]
    clf = Perceptron(shuffle=False, tol=None, mode=mode).fit(X, y)
    assert clf.stop_reason_ == "cycle"
    assert clf.trace_.cycle.exact
    assert "sum to exactly zero" in str(clf.trace_.cycle)


def test_absorption_repeats_and_proves_nothing():
    """w = (1, 2000) separates these rows, and still the weights come back."""
    X, y = [[1e20, 0.0], [0.0, 1e15], [-1.0, 1e-3], [-1e20, 0.0]], [1, 1, 1, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = Perceptron(shuffle=False, tol=None, fit_intercept=False).fit(X, y)
    assert clf.stop_reason_ == "cycle"
    assert not clf.trace_.cycle.exact
    assert "nothing is proven" in str(clf.trace_.cycle)


@given(
    rows=st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2),
        min_size=1,
        max_size=5,
    ),
    counts=st.lists(st.integers(1, 9), min_size=5, max_size=5),
)
def test_cancelling_is_decided_exactly(rows, counts):
    from fractions import Fraction

    X = np.array(rows + [[-v for v in x] for x in rows])
    c = np.array(counts[: len(rows)] * 2, dtype=float)
    which = np.arange(len(X))
    assert cancels(X, which, c, intercept=False)
    c[0] += 1  # one row more often than its mirror image
    total = [sum(Fraction(a) * Fraction(v) for a, v in zip(c, col, strict=True)) for col in X.T]
    assert cancels(X, which, c, intercept=False) == (not any(total))


@pytest.mark.parametrize("tiny", [5e-324, 1e-300])
def test_cancelling_sees_the_smallest_numbers(tiny):
    X = np.array([[1.0], [1.0], [tiny]])
    assert not cancels(X, np.arange(3), np.array([1.0, -1.0, 1.0]), intercept=False)
