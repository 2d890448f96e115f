"""What a run proved is returned verified; what it did not, is not claimed."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from rosenblatt import Certificate, Perceptron, separability
from rosenblatt.errors import DataError, NothingProvenError, NotSupportedError
from tests.strategies import TIES, integer_rows

XOR = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
ABSORBED = [[1e20, 0.0], [0.0, 1e15], [-1.0, 1e-3], [-1e20, 0.0]], [1, 1, 1, 0]


def fitted(X, y, **params):
    return Perceptron(**{"shuffle": False, "tol": None, "max_iter": 3000, **params}).fit(X, y)


@given(
    rows=integer_rows(max_rows=8, max_features=3),
    tie=st.sampled_from([t for t in TIES if t != "correct"]),
    mode=st.sampled_from(["online", "batch"]),
    intercept=st.booleans(),
)
def test_integer_runs_prove_the_true_verdict(rows, tie, mode, intercept):
    X, y = rows
    clf = fitted(X, y, tie=tie, mode=mode, fit_intercept=intercept)
    true = separability(X, y, fit_intercept=intercept)
    try:
        found = clf.certificate(X, y)
    except NothingProvenError:
        # a score of 0 counts as right for one class, or the passes ran out
        assert clf.stop_reason_ == "max_iter" or tie == "positive"
    else:
        assert found.verify(X, y)
        assert Certificate.from_json(found.to_json()) == found
        assert found.verdict == true.verdict
        assert found.fit_intercept == intercept
        if found.verdict != "separable":
            assert clf.trace_.cycle.exact
            assert len(found.witness) <= len(X[0]) + intercept + 1


def test_xor_is_proven_by_its_own_cycle():
    clf = fitted(*XOR)
    found = clf.certificate(*XOR)
    assert found.verdict == "overlapping"
    assert set(found.proof.rows) == set(clf.trace_.cycle.rows.tolist())
    assert found.verify(*XOR)


def test_a_cycle_that_does_not_span_is_not_taken_for_overlap():
    """Two rows at one place cancel and prove "not separable"; the others can be split off."""
    X, y = [[-2], [0], [0], [2]], [0, 0, 1, 1]
    clf = fitted(X, y)
    assert clf.trace_.cycle.exact
    found = clf.certificate(X, y)
    assert found.verdict == "quasi-separable"
    assert set(found.witness.rows) <= set(clf.trace_.cycle.rows.tolist())
    assert found.verify(X, y)


def test_rounding_alone_claims_nothing():
    X, y = ABSORBED
    clf = fitted(X, y, fit_intercept=False)
    assert clf.stop_reason_ == "cycle"
    with pytest.raises(
        NothingProvenError, match=r"not shown to sum to exactly zero.*`separability"
    ):
        clf.certificate(X, y)
    assert separability(X, y, fit_intercept=False).verdict == "separable"


def test_the_trained_hyperplane():
    X, species = load_iris(return_X_y=True)
    y = np.where(species == 0, "setosa", "other")
    for keep in ("last", "average", "vote", "pocket"):
        clf = Perceptron(keep=keep).fit(X, y)
        found = clf.certificate(X, y)
        assert found.verdict == "separable"
        assert found.verify(X, y)
        scores = np.where(y == "setosa", 1, -1) * (X @ np.array(found.w) + found.b)
        if keep == "last":
            assert found.w == tuple(clf.coef_[0].tolist())
        assert 0 < found.margin <= scores.min() / np.linalg.norm(found.w) * (1 + 1e-9)
        assert found.margin <= 0.8175557
    assert clf.certificate(sp.csr_matrix(X), y).verify(X, y)


def test_a_clean_pass_that_rounding_made():
    """1 - 1e-17 - 1 is 0 in floats, which tie="correct" lets pass, and below 0 in truth."""
    X, y = [[1.0, -1.0, 1e-17], [-1.0, 0.5, 0.0]], [1, 0]
    clf = fitted(X, y, init=[1.0, 1.0, -1.0], tie="correct", fit_intercept=False)
    assert clf.stop_reason_ == "separated"
    with pytest.raises(NothingProvenError, match="without rounding"):
        clf.certificate(X, y)


def test_a_run_that_ended_early():
    X, species = load_iris(return_X_y=True)
    clf = Perceptron().fit(X, species == 1)
    assert clf.stop_reason_ == "no_improvement"
    with pytest.raises(NothingProvenError, match="no_improvement"):
        clf.certificate(X, species == 1)


def test_other_rows_than_those_of_the_cycle():
    clf = fitted(*XOR)
    with pytest.raises(NothingProvenError, match="trained on"):
        clf.certificate([[0, 0], [1, 1], [0, 1], [1, 5]], XOR[1])


def test_bad_input():
    with pytest.raises(NotFittedError):
        Perceptron().certificate(*XOR)
    X, species = load_iris(return_X_y=True)
    for params in ({}, {"multiclass": "direct"}):
        with pytest.raises(NotSupportedError, match="separability_table"):
            Perceptron(**params).fit(X, species).certificate(X, species)
    with pytest.raises(DataError, match="features"):
        fitted(*XOR).certificate([[1.0], [2.0]], [0, 1])
