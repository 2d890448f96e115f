"""Learning rates that fall: the model of scikit-learn's SGDClassifier on dense data."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier

from rosenblatt import Margin, Perceptron

RATES = ["constant", "optimal", "invscaling", "adaptive"]
LOSS = {"hinge": Margin(tau=1.0), "perceptron": "perceptron"}
X3, Y3 = make_blobs([60, 40, 30], n_features=4, cluster_std=5, random_state=2)
X2, Y2 = X3[Y3 < 2], Y3[Y3 < 2]


def pair(loss="hinge", keep="last", **params):
    params = {"random_state": 0} | params  # theirs is None if left out
    ours = Perceptron(rule=LOSS[loss], keep=keep, **params)
    return ours, SGDClassifier(loss=loss, average=keep == "average", **params)


def both(X, y, how=None, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "Negative values for `power_t`", FutureWarning)
        return [clf.fit(X, y, **(how or {})) for clf in pair(**params)]


def assert_same(ours, theirs, rtol=1e-9):
    size = max(np.abs(theirs.coef_).max(), np.abs(theirs.intercept_).max())
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=rtol * size)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=rtol * size)
    assert (ours.n_iter_, ours.t_) == (theirs.n_iter_, theirs.t_)


@given(
    learning_rate=st.sampled_from(RATES),
    loss=st.sampled_from(["hinge", "perceptron"]),
    penalty=st.sampled_from([None, "l2", "l1", "elasticnet"]),
    alpha=st.sampled_from([1e-4, 0.003, 0.1, 3.0]),
    eta0=st.sampled_from([0.01, 0.3]),
    power_t=st.sampled_from([-0.3, 0.0, 0.25, 0.5, 1.0]),
    classes=st.sampled_from([2, 3]),
    tol=st.sampled_from([None, 1e-3]),
    shuffle=st.booleans(),
    fit_intercept=st.booleans(),
    random_state=st.integers(0, 99),
)
def test_the_last_weights_of_sgd(classes, **params):
    X, y = {2: (X2, Y2), 3: (X3, Y3)}[classes]
    assert_same(*both(X, y, max_iter=25, **params))


@pytest.mark.parametrize("penalty", [None, "l2"])
@pytest.mark.parametrize("rate", RATES)
def test_the_average_of_sgd(rate, penalty):
    """The mean after every visit in both; under L1 theirs leaves out what truncation took."""
    params = {"learning_rate": rate, "eta0": 0.1, "alpha": 0.01, "keep": "average", "max_iter": 20}
    for X, y in ((X2, Y2), (X3, Y3)):
        assert_same(*both(X, y, penalty=penalty, **params))
    ours, theirs = both(X2, Y2, penalty="l1", **params)
    assert not np.allclose(ours.coef_, theirs.coef_, rtol=1e-3)


@pytest.mark.parametrize("keep", ["last", "average"])
@pytest.mark.parametrize("rate", RATES)
def test_partial_fit_goes_on_counting_and_fit_starts_anew(rate, keep):
    params = {"learning_rate": rate, "eta0": 0.1, "penalty": "l2", "alpha": 0.01, "keep": keep}
    params["fit_intercept"] = keep == "last"  # averaging, theirs loses the offset between calls
    for X, y in ((X2, Y2), (X3, Y3)):
        clfs = pair(**params)
        for rows in np.array_split(np.random.RandomState(0).permutation(len(y)), 4):
            for clf in clfs:
                clf.partial_fit(X[rows], y[rows], classes=np.unique(y))
            assert_same(*clfs)
        for clf in clfs:
            clf.set_params(warm_start=True, tol=None, max_iter=3).fit(X, y)
        assert_same(*clfs)


def test_two_calls_in_order_are_two_passes():
    clf = Perceptron(rule="margin", learning_rate="optimal", penalty="l2", alpha=0.01,
                     keep="average", shuffle=False, tol=None, max_iter=2)  # fmt: skip
    whole = clf.fit(X2, Y2).coef_, clf.intercept_
    clf = Perceptron(**clf.get_params()).partial_fit(X2, Y2).partial_fit(X2, Y2)
    np.testing.assert_allclose(clf.coef_, whole[0], rtol=1e-10)
    np.testing.assert_allclose(clf.intercept_, whole[1], rtol=1e-10)


def test_partial_fit_after_fit():
    clfs = both(X3, Y3, learning_rate="optimal", penalty="l2", alpha=0.01, max_iter=9)
    for clf in clfs:
        clf.partial_fit(X3[::2], Y3[::2])
    assert_same(*clfs)


@pytest.mark.parametrize("rate", RATES[1:])
def test_weights_of_rows_and_classes(rate):
    weight = {"sample_weight": np.linspace(0, 2, len(Y3))}
    params = {"learning_rate": rate, "penalty": "elasticnet", "class_weight": {1: 3.0}}
    assert_same(*both(X3, Y3, weight, eta0=0.1, max_iter=20, **params))


def test_an_adaptive_rate_falls_by_fives_and_early_stopping_too():
    params = {"learning_rate": "adaptive", "eta0": 0.1, "penalty": "l2", "alpha": 0.01}
    ours, theirs = both(X2, Y2, **params)
    assert_same(ours, theirs)
    assert ours.stop_reason_ == "no_improvement"
    assert ours.n_iter_ > 5 * 8  # 0.1 / 5^8 is the first rate below 1e-6
    ours, theirs = both(X2, Y2, early_stopping=True, **params)
    assert (ours.n_iter_, ours.t_) == (theirs.n_iter_, theirs.t_)
    assert ours.trace_.scores.max() == ours.trace_.scores[ours.trace_.kept_epoch - 1]


@pytest.mark.parametrize(
    ("penalty", "keep"),
    [(None, "last"), (None, "average"), ("l2", "last"), ("l2", "average"), ("l1", "last")],
)
@pytest.mark.parametrize("rate", RATES[1:])
def test_sparse_gives_the_weights_of_dense(rate, penalty, keep):
    X = np.where(np.random.RandomState(1).random(X2.shape) < 0.3, X2, 0.0)
    clf = Perceptron(
        rule="margin", penalty=penalty, alpha=0.02, learning_rate=rate, eta0=0.1, keep=keep,
        max_iter=6, tol=None,
    )  # fmt: skip
    dense = clf.fit(X, Y2).coef_
    np.testing.assert_allclose(clf.fit(sp.csr_array(X), Y2).coef_, dense, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("rate", RATES)
def test_an_elastic_net_on_sparse_rows_is_theirs(rate):
    """It shrinks the weights of features that a row has; the others wait."""
    X = sp.csr_matrix(np.where(np.random.RandomState(1).random(X2.shape) < 0.3, X2, 0.0))
    params = {"penalty": "elasticnet", "alpha": 0.02, "l1_ratio": 0.4, "learning_rate": rate,
              "eta0": 0.1, "max_iter": 6, "tol": None, "fit_intercept": False}  # fmt: skip
    ours, theirs = both(X, Y2, **params)
    assert_same(ours, theirs)


@pytest.mark.parametrize("keep", ["last", "average", "vote", "pocket"])
def test_a_rate_that_does_not_fall_is_the_constant_one(keep):
    """Whole numbers, so that sums are exact: two loops, the same bits."""
    X, y = np.rint(X2), Y2
    params = {"keep": keep, "eta0": 0.5, "tol": None, "max_iter": 7, "record": "updates"}
    one = Perceptron(**params).fit(X, y)
    other = Perceptron(**params, learning_rate="invscaling", power_t=0.0).fit(X, y)
    np.testing.assert_array_equal(one.trace_.updates, other.trace_.updates)
    np.testing.assert_array_equal(one.trace_.record.w, other.trace_.record.w)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_a_clean_pass_ends_training_without_a_penalty():
    X, y = make_blobs(50, centers=[[-9, 0], [9, 0]], random_state=0)
    clf = Perceptron(learning_rate="optimal").fit(X, y)
    assert clf.stop_reason_ == "separated"
    assert clf.trace_.updates[-1] == 0
