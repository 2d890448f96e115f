"""KernelPerceptron: its oracles, its guarantee, its budget, and scikit-learn's checks."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import KernelPerceptron, Perceptron, Projectron, RandomBudget, RosenblattError
from rosenblatt.errors import DataError, LabelError, NotSupportedError, ParameterError
from tests.estimators.test_contract import REPEATED
from tests.real_data import rows_of
from tests.strategies import integer_rows, separable_rows

IRIS, SPECIES = load_iris(return_X_y=True)
DIGITS, DIGIT = load_digits(return_X_y=True)
SQUARE = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}

VARIANTS = [
    KernelPerceptron(),
    KernelPerceptron(keep="average", kernel="poly"),
    KernelPerceptron(keep="vote", kernel="linear"),
    KernelPerceptron(budget=RandomBudget(150)),
    KernelPerceptron(budget=Projectron(50), keep="average"),
]
each_variant = pytest.mark.parametrize("clf", VARIANTS, ids=str)


@parametrize_with_checks(VARIANTS, expected_failed_checks=lambda clf: REPEATED)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Can't check dok sparse matrix:UserWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ------------------------------------------------------------------------------ oracles


@given(integer_rows(), st.booleans(), st.booleans(), st.sampled_from(["last", "average", "vote"]))
def test_the_linear_kernel_is_the_perceptron_without_an_offset(rows, shuffle, sparse, keep):
    X, y = np.array(rows[0], dtype=float), np.array(rows[1])
    params = {"shuffle": shuffle, "tol": None, "max_iter": 4, "keep": keep, "random_state": 3}
    theirs = Perceptron(fit_intercept=False, **params).fit(X, y)
    A = sp.csr_array(X) if sparse else X
    ours = KernelPerceptron(kernel="linear", **params).fit(A, y)
    same = theirs.n_iter_ == ours.n_iter_  # a cycle ends the other run before its time
    assume(same)
    assert ours.trace_.mistakes.tolist() == theirs.trace_.mistakes.tolist()
    assert ours.n_mistakes_ == theirs.n_mistakes_
    np.testing.assert_allclose(ours.trace_.norms, theirs.trace_.norms)
    if keep == "last":
        np.testing.assert_array_equal(ours.dual_coef_ @ X[ours.support_], theirs.coef_)
    if keep == "average":
        w = ours.dual_coef_ @ X[ours.support_]
        np.testing.assert_allclose(w, theirs.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), rtol=1e-9, atol=1e-9
    )


@given(separable_rows(), st.booleans())
def test_mistakes_stay_within_the_bound_of_the_feature_space(rows, shuffle):
    """M <= max K(x, x) / g^2, where u.x + v is a hyperplane in the feature space of 1 + x.z.

    Its margin is g = min y (u.x + v) / ||(u, v)||.
    """
    X, y, u, v = rows
    assume(len(set(y)) == 2)
    clf = KernelPerceptron(kernel="poly", degree=1, gamma=1, coef0=1, tol=None, max_iter=100_000)
    clf.set_params(shuffle=shuffle).fit(X, y)
    X, y = np.array(X), np.array(y)
    norm2 = np.dot(u, u) + v * v
    least = int((y * (X @ u + v)).min())
    assert clf.stop_reason_ == "separated"
    assert clf.n_mistakes_ * least**2 <= (1 + (X * X).sum(axis=1).max()) * norm2
    assert clf.trace_.mistakes[-1] == 0
    np.testing.assert_array_equal(clf.predict(X), y)


def test_many_classes_are_each_against_the_rest_in_one_store():
    X = (DIGITS[:600] / 16).astype(np.float32)
    y = DIGIT[:600]
    params = dict(SQUARE, shuffle=False, tol=None, max_iter=3)
    with_all = KernelPerceptron(**params).fit(X, y)
    alone = [KernelPerceptron(**params).fit(X, y == k) for k in range(10)]
    assert with_all.n_mistakes_ == sum(c.n_mistakes_ for c in alone)
    assert set(with_all.support_) == set(np.concatenate([c.support_ for c in alone]))
    assert len(with_all.support_) < sum(len(c.support_) for c in alone)
    for k, one in enumerate(alone):
        own = one.trace_.mistakes.tolist()  # it stops at its own clean pass
        assert with_all.trace_[k].mistakes.tolist() == own + [0] * (with_all.n_iter_ - len(own))
        coef = dict(zip(with_all.support_, with_all.dual_coef_[k], strict=True))
        for row, c in zip(one.support_, one.dual_coef_[0], strict=True):
            assert coef.pop(row) == c
        assert not any(coef.values())
    np.testing.assert_array_equal(with_all.support_vectors_, X[with_all.support_])


def test_a_function_is_a_kernel_too():
    X, y = make_moons(200, noise=0.1, random_state=0)
    named = KernelPerceptron(kernel="rbf", gamma=2.0).fit(X, y)
    called = KernelPerceptron(kernel=lambda A, B: rbf_kernel(A, B, gamma=2.0)).fit(X, y)
    np.testing.assert_array_equal(named.support_, called.support_)
    assert named.score(X, y) > 0.95
    assert named.gamma_ == 2.0
    assert not hasattr(called, "gamma_")
    with pytest.raises(ParameterError, match=r"shape \(200, 200\)"):
        KernelPerceptron(kernel=lambda A, B: np.zeros(3)).fit(X, y)
    with pytest.raises(DataError, match="NaN"):
        KernelPerceptron(kernel=lambda A, B: A @ B.T * np.nan).fit(X, y)


@each_variant
def test_dense_and_sparse_give_the_same_model(clf):
    X = np.rint(4 * IRIS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rosenblatt.learn.kernel_machine.GRAM_ROWS", 32)
        clf = clone(clf).set_params(gamma=0.25, tol=None, max_iter=4)
        with_dense = clone(clf).fit(X, SPECIES)
        with_csr = clone(clf).fit(sp.csr_matrix(X), SPECIES)
    assert sp.issparse(with_csr.support_vectors_)
    assert with_csr.n_mistakes_ == with_dense.n_mistakes_
    np.testing.assert_allclose(
        with_csr.decision_function(X), with_dense.decision_function(sp.csr_array(X)), rtol=1e-6
    )


# ------------------------------------------------------------------- streams and budgets


@each_variant
def test_a_stream_in_parts_is_one_pass_over_all(clf):
    X, y = np.rint(4 * IRIS), SPECIES
    clf = clone(clf).set_params(gamma=0.25, shuffle=False, max_iter=1, tol=None)
    whole = clone(clf).fit(X, y)
    parts = clone(clf)
    for start in range(0, 150, 40):
        parts.partial_fit(X[start : start + 40], y[start : start + 40], classes=[0, 1, 2])
    np.testing.assert_array_equal(parts.support_, whole.support_)
    assert parts.n_mistakes_ == whole.n_mistakes_
    np.testing.assert_array_equal(parts.support_vectors_, X[whole.support_])
    np.testing.assert_allclose(
        parts.decision_function(X), whole.decision_function(X), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("budget", [RandomBudget(30), Projectron(30, eta=0.1)], ids=str)
def test_the_store_never_grows_beyond_the_budget(budget):
    rng = np.random.default_rng(0)
    clf = KernelPerceptron(gamma=1.0, budget=budget)
    stored = []
    for _ in range(25):
        X = rng.uniform(-2, 2, (80, 2))
        clf.partial_fit(X, np.where(X[:, 0] * X[:, 1] > 0, "in", "out"), classes=["in", "out"])
        model = clf._model
        assert len(clf.support_) <= 30
        assert clf.support_vectors_.shape == (len(clf.support_), 2)
        held = [*model.store.pieces, model.store.coef, model.store.lag, model.inverse]
        stored.append(sum(a.nbytes for a in held))
        assert len(model.steps) == 0
    assert max(stored) <= 8 * (30 * 2 + 2 * 60 + 30 * 30)  # rows, two columns with room, inverse
    assert clf.n_mistakes_ > 60
    X = rng.uniform(-2, 2, (500, 2))
    assert clf.score(X, np.where(X[:, 0] * X[:, 1] > 0, "in", "out")) > 0.75
    assert set(clf.predict(X)) == {"in", "out"}


def test_what_a_budget_cannot_keep_is_refused():
    for keep, budget in (("vote", "random"), ("average", "random"), ("vote", "projectron")):
        with pytest.raises(NotSupportedError, match=f"keep='{keep}'"):
            KernelPerceptron(keep=keep, budget=budget).fit(IRIS, SPECIES)


def test_a_search_reaches_the_budget():
    search = GridSearchCV(
        KernelPerceptron(budget=RandomBudget(), max_iter=2, tol=None), {"budget__size": [5, 100]},
        cv=3,
    ).fit(IRIS, SPECIES)  # fmt: skip
    assert search.best_params_ == {"budget__size": 100}
    with pytest.raises(AttributeError, match="keep='vote' has no dual_coef_"):
        KernelPerceptron(keep="vote").fit(IRIS, SPECIES).dual_coef_  # noqa: B018 (the access is the test)
    with pytest.raises(RosenblattError, match="budget is None"):
        KernelPerceptron().set_params(budget__size=3)


# -------------------------------------------------------------------------- the contract


@each_variant
def test_a_failed_fit_changes_nothing_and_copies_go_on_alike(clf):
    clf = clone(clf).set_params(max_iter=2, tol=None).fit(IRIS, SPECIES)
    before, scores = dict(vars(clf)), clf.decision_function(IRIS)
    other = pickle.loads(pickle.dumps(clf))
    for X, y in ((IRIS[:, :2], SPECIES[:3]), (IRIS, np.zeros(150))):
        with pytest.raises(RosenblattError):
            clf.fit(X, y)
    with pytest.raises(LabelError):
        clf.partial_fit(IRIS, SPECIES + 1)
    broken = clone(clf).set_params(kernel=lambda A, B: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        broken.fit(IRIS, SPECIES)
    assert vars(clf) == before
    np.testing.assert_array_equal(clf.decision_function(IRIS), scores)
    for one in (clf, other):
        one.partial_fit(IRIS[::2], SPECIES[::2])
    np.testing.assert_array_equal(other.decision_function(IRIS), clf.decision_function(IRIS))


def test_wrong_parameters_are_told_apart():
    for params, words in (
        ({"kernel": "sigmoid"}, "kernel must be"),
        ({"degree": 1.5}, "degree must be"),
        ({"gamma": -1}, "gamma must be"),
        ({"coef0": np.inf}, "coef0 must be"),
        ({"keep": "pocket"}, "'keep' parameter"),
        ({"shuffle": "sample"}, "'shuffle' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"budget": 3}, "budget must be"),
    ):
        with pytest.raises(ParameterError, match=words):
            KernelPerceptron(**params).fit(IRIS, SPECIES)
    clf = KernelPerceptron().partial_fit(IRIS, SPECIES)
    with pytest.raises(ParameterError, match="changed after the first call"):
        clf.set_params(degree=4).partial_fit(IRIS, SPECIES)
    with pytest.raises(LabelError, match="same as on last call"):
        clf.set_params(degree=3).partial_fit(IRIS, SPECIES, classes=[0, 1])
    with pytest.raises(LabelError, match="name all classes"):
        KernelPerceptron().partial_fit(IRIS, np.ones(150))


def test_why_it_stopped_and_what_it_says(capsys):
    with pytest.warns(ConvergenceWarning) as caught:
        clf = KernelPerceptron(max_iter=2, verbose=1).fit(IRIS, SPECIES)
    assert caught[0].filename == __file__
    assert clf.stop_reason_ == "max_iter"
    lines = capsys.readouterr().out.splitlines()
    total = sum(t.mistakes[-1] for t in clf.trace_.traces)
    assert lines[-1] == f"epoch 2: {total} mistakes"
    stalled = KernelPerceptron(kernel="linear", tol=0.5).fit(IRIS, SPECIES)
    assert (stalled.stop_reason_, stalled.n_iter_) == ("no_improvement", 6)
    assert "mean of the weights" in str(
        KernelPerceptron(keep="average").fit(IRIS, SPECIES == 0).trace_
    )


@pytest.mark.parametrize(("name", "rows"), [("mnist", 2000), ("digits", 1000)])
def test_digits_by_vote_and_average_beat_the_last(name, rows):
    """Freund and Schapire's experiment on the first rows; benchmarks/ has all of it."""
    X, y = rows_of(name)
    X = X[:3000].astype(np.float32) / np.float32(X.max())
    wrong = {}
    for keep in ("last", "average", "vote"):
        clf = KernelPerceptron(**SQUARE, keep=keep, shuffle=False, max_iter=1, tol=None)
        wrong[keep] = 1 - clf.fit(X[:rows], y[:rows]).score(X[rows:3000], y[rows:3000])
    assert max(wrong["average"], wrong["vote"]) < wrong["last"] < 0.2
