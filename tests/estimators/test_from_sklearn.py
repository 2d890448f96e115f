"""The same model as scikit-learn's Perceptron on dense data, and each deviation on purpose.

One test per line of docs/how-to/from_sklearn.md follows the tests of equality.
"""

import copy
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as Theirs
from sklearn.model_selection import StratifiedShuffleSplit

from rosenblatt import Perceptron
from tests.real_data import rows_of

SPARSE = [(f, i) for f in (np.float64, np.float32) for i in (np.int32, np.int64)]
RTOL = {np.float64: 1e-12, np.float32: 1e-4}


def _data():
    iris_X, species = load_iris(return_X_y=True)
    digits_X, digits = load_digits(return_X_y=True)
    two = make_blobs(200, centers=2, n_features=5, cluster_std=4, random_state=1)
    X, y = make_blobs([150, 100, 50], n_features=7, cluster_std=5, random_state=2)
    return {
        "iris": (iris_X, species),
        "setosa": (iris_X, species == 0),  # separable: ends at a clean pass
        "digits": (digits_X[:500], digits[:500]),
        "two": two,
        "words": (X, np.array(["lion", "ape", "cat"])[y]),
    }


DATA = _data()
PAIR = (Perceptron, Theirs)


def fitted(cls, X, y, how=None, **params):
    """Fit, silent about limits that a test sets on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return cls(**params).fit(X, y, **copy.deepcopy(how or {}))  # theirs writes to coef_init


def assert_same_weights(ours, theirs, rtol=1e-12):
    size = max(np.abs(theirs.coef_).max(), np.abs(theirs.intercept_).max())
    assert ours.coef_.dtype == theirs.coef_.dtype
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=rtol * size)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=rtol * size)


def assert_same_model(ours, theirs, rtol=1e-12):
    assert_same_weights(ours, theirs, rtol)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    traces = getattr(ours.trace_, "traces", [ours.trace_])
    if any(t.stop_reason == "separated" for t in traces):  # ours stops at the clean pass
        assert ours.n_iter_ <= theirs.n_iter_
        assert ours.t_ <= theirs.t_
    else:
        assert (ours.n_iter_, ours.t_) == (theirs.n_iter_, theirs.t_)


# `tol` looks at the penalty too, from this version on
PENALTY_IN_TOL = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8)


def both(X, y, how=None, **params):
    if params.get("penalty") and not PENALTY_IN_TOL:
        params = {"tol": None, "max_iter": 30} | params
    return fitted(Perceptron, X, y, how, **params), fitted(Theirs, X, y, how, **params)


# ------------------------------------------------------------------ the same model

PARAMS = [
    {},
    {"shuffle": False},
    {"random_state": 7},
    {"random_state": 123456789, "fit_intercept": False},
    {"eta0": 0.1},
    {"eta0": 8.0, "shuffle": False},
    {"tol": None, "max_iter": 3},
    {"tol": None, "max_iter": 7, "shuffle": False},
    {"tol": 0.1, "n_iter_no_change": 2},
    {"tol": 0.0, "n_iter_no_change": 1},
    {"class_weight": "balanced"},
    {"class_weight": "balanced", "eta0": 0.3, "fit_intercept": False},
    {"penalty": "l2"},
    {"penalty": "l2", "alpha": 0.01, "shuffle": False},
    {"penalty": "l2", "alpha": 0.01, "eta0": 0.5, "fit_intercept": False},
    {"penalty": "l1"},
    {"penalty": "l1", "alpha": 0.01, "class_weight": "balanced"},
    {"penalty": "elasticnet"},
    {"penalty": "elasticnet", "alpha": 0.01, "l1_ratio": 0.5, "shuffle": False},
    {"penalty": "elasticnet", "alpha": 0.001, "l1_ratio": 0.9, "eta0": 0.1},
    {"penalty": "elasticnet", "l1_ratio": 0.0},
    {"penalty": "elasticnet", "l1_ratio": 1.0},
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("params", PARAMS, ids=str)
@pytest.mark.parametrize("name", DATA)
def test_same_model(name, params, dtype):
    X, y = DATA[name]
    assert_same_model(*both(X.astype(dtype), y, **params), RTOL[dtype])


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.9, 2.0])  # from 1 on, nothing is left of w
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("name", ["two", "iris"])
def test_same_model_with_a_strong_penalty(name, penalty, alpha):
    assert_same_model(*both(*DATA[name], penalty=penalty, alpha=alpha))


@pytest.mark.parametrize(
    ("name", "class_weight"),
    [
        ("setosa", {False: 0.3, True: 4.0}),
        ("two", {0: 2.0, 1: 0.25}),
        ("two", {1: 3.0}),
        ("iris", {0: 1.0, 1: 5.0, 2: 0.5}),
        ("words", {"ape": 0.1, "lion": 2.0}),
        ("two", {0: 1.0, 1: 2.0, 2: 3.0}),  # a label too many is allowed if all are there
    ],
)
@pytest.mark.parametrize("penalty", [None, "l2"])
def test_same_model_with_a_dict_of_class_weights(name, class_weight, penalty):
    assert_same_model(*both(*DATA[name], class_weight=class_weight, penalty=penalty))


@pytest.mark.parametrize("name", ["two", "words"])
@pytest.mark.parametrize(
    "params", [{}, {"class_weight": "balanced"}, {"penalty": "elasticnet", "shuffle": False}]
)
def test_same_model_with_sample_weights(name, params):
    X, y = DATA[name]
    weight = np.random.RandomState(0).uniform(0, 3, len(y))
    weight[::7] = 0
    assert_same_model(*both(X, y, {"sample_weight": weight}, **params))
    assert_same_model(*both(X, y, {"sample_weight": 2.5}, **params))


def test_same_model_from_integers_and_fortran_order():
    X, y = DATA["digits"]
    assert_same_model(*both(X.astype(np.int64), y))
    assert_same_model(*both(np.asfortranarray(X), y))


def test_same_model_from_a_random_state_object_and_from_none():
    for name in ("two", "words"):
        X, y = DATA[name]
        ours, theirs = (fitted(c, X, y, random_state=np.random.RandomState(5)) for c in PAIR)
        assert_same_model(ours, theirs)
        pair = []
        for cls in PAIR:
            np.random.seed(3)
            pair.append(fitted(cls, X, y, random_state=None))
        assert_same_model(*pair)


@pytest.mark.parametrize("name", ["two", "words"])
@pytest.mark.parametrize("given", ["coef_init", "intercept_init", "both"])
def test_same_model_from_given_weights(name, given):
    X, y = DATA[name]
    rows = 1 if name == "two" else 3
    rng = np.random.RandomState(1)
    start = {"coef_init": rng.randn(rows, X.shape[1]), "intercept_init": rng.randn(rows)}
    how = start if given == "both" else {given: start[given]}
    assert_same_model(*both(X, y, how))
    before = copy.deepcopy(how)
    Perceptron().fit(X, y, **how)
    for key, value in how.items():
        np.testing.assert_array_equal(value, before[key])


def test_flat_coef_init_for_two_classes():
    X, y = DATA["two"]
    assert_same_model(*both(X, y, {"coef_init": np.arange(5.0), "intercept_init": [2.0]}))
    assert_same_model(*both(X, y, {"coef_init": np.arange(5.0)[None]}))


@pytest.mark.parametrize(
    "again", [{}, {"coef_init": np.ones((1, 5))}, {"intercept_init": np.array([9.0])}], ids=str
)
def test_same_model_from_a_warm_start(again):
    X, y = DATA["two"]
    pair = [cls(warm_start=True, tol=None, max_iter=2) for cls in PAIR]
    for clf in pair:
        clf.fit(X[::2], y[::2]).fit(X, y, **copy.deepcopy(again))
    assert_same_model(*pair)


def test_same_model_from_a_warm_start_with_many_classes():
    X, y = DATA["words"]
    pair = [cls(warm_start=True, tol=None, max_iter=2) for cls in PAIR]
    for clf in pair:
        for _ in range(3):
            clf.fit(X, y)
    assert_same_model(*pair)


@pytest.mark.parametrize("params", [{}, {"shuffle": False}, {"penalty": "elasticnet"}])
@pytest.mark.parametrize("name", ["two", "iris", "words"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_same_model_from_partial_fit(name, params, dtype):
    X, y = DATA[name]
    X, classes = X.astype(dtype), np.unique(y)
    order = np.random.RandomState(0).permutation(len(y))
    pair = [cls(**params) for cls in PAIR]
    for rows in np.array_split(order, 5):
        for clf in pair:
            clf.partial_fit(X[rows], y[rows], classes=classes)
        assert_same_weights(*pair, RTOL[dtype])
        assert (pair[0].t_, pair[0].n_iter_) == (pair[1].t_, pair[1].n_iter_)


def test_same_model_from_partial_fit_with_weights_and_after_fit():
    X, y = DATA["words"]
    weight = np.linspace(0, 2, len(y))
    pair = [cls(class_weight={"cat": 3.0}) for cls in PAIR]
    for clf in pair:
        clf.fit(X, y)
        for k in range(3):
            clf.partial_fit(X[k::3], y[k::3], sample_weight=weight[k::3])
    assert_same_weights(*pair)
    assert pair[0].t_ == pair[1].t_


def test_same_model_from_partial_fit_after_the_weights_were_edited():
    X, y = DATA["two"]
    pair = [cls().fit(X, y) for cls in PAIR]
    for clf in pair:
        clf.coef_ = np.zeros_like(clf.coef_)
        clf.intercept_ = np.zeros_like(clf.intercept_)
        clf.partial_fit(X, y)
    assert_same_weights(*pair)


def test_same_predictions_and_scores():
    for name, (X, y) in DATA.items():
        ours, theirs = both(X, y)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X), err_msg=name)
        mine, other = ours.decision_function(X), theirs.decision_function(X)
        assert mine.shape == other.shape
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9 * np.abs(other).max())
        assert ours.score(X, y) == theirs.score(X, y)


@pytest.mark.parametrize("cls", PAIR)
def test_both_warn_at_max_iter_unless_tol_is_none(cls):
    X, y = DATA["two"]
    with pytest.warns(ConvergenceWarning, match="Maximum number of iteration"):
        cls(max_iter=2).fit(X, y)
    cls(max_iter=2, tol=None).fit(X, y)  # a warning would be an error here


# ----------------------------------------------------------- deviations, on purpose


@pytest.mark.parametrize(("dtype", "index"), SPARSE)
@pytest.mark.parametrize("name", ["setosa", "digits"])
def test_sparse_gives_the_weights_of_dense(name, dtype, index):
    """scikit-learn moves the offset a hundred times less on sparse data."""
    X, y = DATA[name]
    X = X.astype(dtype)
    S = sp.csr_matrix(X)
    S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
    dense, sparse = fitted(Perceptron, X, y), fitted(Perceptron, S, y)
    if name == "digits":  # whole numbers: every sum is exact
        np.testing.assert_array_equal(sparse.coef_, dense.coef_)
        np.testing.assert_array_equal(sparse.intercept_, dense.intercept_)
    assert_same_model(sparse, dense, RTOL[dtype])
    S.indices, S.indptr = S.indices.astype(np.int32), S.indptr.astype(np.int32)
    assert not np.allclose(fitted(Theirs, S, y).intercept_, dense.intercept_)


def test_sparse_gives_the_weights_of_dense_with_decay():
    X, y = DATA["digits"]
    dense, sparse = (fitted(Perceptron, A, y, penalty="l2") for A in (X, sp.csr_array(X)))
    assert_same_model(sparse, dense, 1e-10)


def test_sparse_gives_the_weights_of_dense_with_truncation():
    X, y = DATA["digits"]
    params = {"penalty": "l1", "alpha": 0.001, "tol": None, "max_iter": 7}
    dense, sparse = (fitted(Perceptron, A, y, **params) for A in (X, sp.csr_array(X)))
    assert_same_model(sparse, dense, 1e-10)


def test_early_stopping_gives_back_the_best_weights_seen_not_the_last():
    X, y = DATA["two"]
    params = {"early_stopping": True, "random_state": 3, "validation_fraction": 0.2}
    ours, theirs = both(X, y, **params)
    split = StratifiedShuffleSplit(test_size=0.2, random_state=3)
    _, held = next(split.split(X, y))
    after = [fitted(Theirs, X, y, max_iter=k + 1, **params) for k in range(theirs.n_iter_)]
    scores = [clf.score(X[held], y[held]) for clf in after]
    best = int(np.argmax(scores))
    assert scores[best] > scores[-1]  # else this data would show nothing
    assert_same_weights(ours, after[best])
    np.testing.assert_allclose(ours.trace_.scores, scores)
    assert ours.trace_.kept_epoch == best + 1
    assert (ours.n_iter_, ours.t_) == (theirs.n_iter_, theirs.t_)
    assert ours.stop_reason_ == "no_improvement"


def test_early_stopping_gives_back_the_best_of_each_class():
    X, y = DATA["words"]
    weight = np.random.RandomState(0).uniform(0.5, 2, len(y))
    params = {"early_stopping": True, "tol": None, "max_iter": 8}
    ours = fitted(Perceptron, X, y, {"sample_weight": weight}, **params)
    _, held = next(StratifiedShuffleSplit(test_size=0.1, random_state=0).split(X, y))
    after = [
        fitted(Theirs, X, y, {"sample_weight": weight}, **(params | {"max_iter": k}))
        for k in range(1, 9)
    ]
    for k, label in enumerate(ours.classes_):
        right = [(c.decision_function(X[held])[:, k] > 0) == (y[held] == label) for c in after]
        best = int(np.argmax([np.average(r, weights=weight[held]) for r in right]))
        assert ours.trace_[k].kept_epoch == best + 1
        np.testing.assert_allclose(ours.coef_[k], after[best].coef_[k], rtol=1e-10, atol=1e-10)


def test_balanced_class_weights_in_partial_fit_follow_the_counts_seen_so_far():
    X, y = DATA["two"]
    chunks = [(X[:20], y[:20]), (X[20:120], y[20:120]), (X[120:], y[120:])]
    with pytest.raises(ValueError, match="not supported for partial_fit"):
        Theirs(class_weight="balanced").partial_fit(*chunks[0], classes=[0, 1])
    ours, seen = Perceptron(class_weight="balanced"), np.zeros(2)
    theirs = Theirs()
    for part, labels in chunks:
        seen += np.bincount(labels, minlength=2)
        theirs.set_params(class_weight=dict(enumerate(seen.sum() / (2 * seen))))
        theirs.partial_fit(part, labels, classes=[0, 1])
        ours.partial_fit(part, labels)
        assert_same_weights(ours, theirs)


def test_a_score_of_exactly_0_predicts_the_second_class():
    ours, theirs = both([[-1.0], [1.0]], ["no", "yes"])
    assert ours.decision_function([[0.0]]) == theirs.decision_function([[0.0]]) == 0
    assert ours.predict([[0.0]]) == ["yes"]
    assert theirs.predict([[0.0]]) == ["no"]


def test_csr_with_64_bit_indices_is_accepted():
    X, y = DATA["two"]
    S = sp.csr_matrix(X)
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    with pytest.raises(ValueError, match="int64 indices"):
        Theirs().fit(S, y)
    clf = Perceptron().fit(S, y)
    assert_same_model(clf, Perceptron().fit(X, y), 1e-10)
    assert clf.score(S, y) == clf.score(X, y)
    assert Perceptron().partial_fit(S, y).n_updates_ > 0
    assert S.indices.dtype == S.indptr.dtype == np.int64


@pytest.mark.parametrize("shuffle", [True, False])
def test_training_stops_at_a_clean_pass_with_the_same_weights(shuffle):
    ours, theirs = both(*DATA["setosa"], shuffle=shuffle)
    assert ours.stop_reason_ == "separated"
    assert ours.trace_.mistakes[-1] == 0
    assert ours.n_iter_ < theirs.n_iter_
    assert ours.t_ == 1 + 150 * ours.n_iter_
    assert_same_weights(ours, theirs)


def test_training_in_order_stops_at_a_cycle():
    """scikit-learn goes round until its own limit, and may end elsewhere on the cycle."""
    rng = np.random.RandomState(7)
    X, y = rng.randint(-3, 4, (12, 2)).astype(float), rng.randint(0, 2, 12)
    ours, theirs = both(X, y, shuffle=False)
    assert ours.stop_reason_ == "cycle"
    assert ours.n_iter_ < theirs.n_iter_
    assert not np.allclose(ours.coef_, theirs.coef_)
    assert_same_weights(ours, fitted(Theirs, X, y, shuffle=False, max_iter=ours.n_iter_))
    length = ours.trace_.cycle.epochs
    again = [fitted(Theirs, X, y, shuffle=False, max_iter=theirs.n_iter_ - k) for k in range(5)]
    assert any(np.array_equal(ours.coef_, clf.coef_) for clf in again[:length])


def test_the_limit_is_warned_of_only_where_it_was_the_reason():
    X, y = DATA["setosa"]
    Perceptron(max_iter=2).fit(X, y)  # separated in the last pass; a warning would be an error
    with pytest.warns(ConvergenceWarning):
        Theirs(max_iter=2).fit(X, y)


@pytest.mark.parametrize("name", ["two", "words"])
def test_float32_stays_float32_the_offset_too(name):
    X, y = DATA[name]
    clf = Perceptron().fit(X.astype(np.float32), y)
    assert clf.coef_.dtype == clf.intercept_.dtype == np.float32
    assert clf.decision_function(X.astype(np.float32)).dtype == np.float32


def test_classes_may_appear_in_a_stream():
    """As if they had been named at the start, which scikit-learn asks for."""
    X, y = DATA["words"]
    order = np.argsort(y, kind="stable")  # one class after the other
    with pytest.raises(ValueError, match="classes must be passed"):
        Theirs().partial_fit(X, y)
    ours, theirs = Perceptron(shuffle=False), Theirs(shuffle=False)
    for rows in np.array_split(order, 7):
        ours.partial_fit(X[rows], y[rows])
        theirs.partial_fit(X[rows], y[rows], classes=np.unique(y))
    assert_same_weights(ours, theirs)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)


def test_negative_weights_are_refused():
    X, y = DATA["two"]
    weight = np.where(y == 0, -1.0, 1.0)
    fitted(Theirs, X, y, {"sample_weight": weight})
    with pytest.raises(ValueError, match="Negative values in sample_weight"):
        Perceptron().fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("name", ["sonar", "wine 1 2"])
def test_a_set_is_left_unseparated_and_says_so(name):
    """A hyperplane separates it; scikit-learn stops far from one without a word."""
    X, y = rows_of(name)
    ours, theirs = both(X, y)
    assert_same_model(ours, theirs)
    assert ours.score(X, y) == theirs.score(X, y) < 0.8
    assert ours.stop_reason_ == "no_improvement"
    assert "not a separation" in str(ours.trace_)
