"""Perceptron: what its choices do, seen from outside."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, make_blobs

from rosenblatt import Margin, Perceptron
from rosenblatt.errors import OverflowedError
from rosenblatt.learn import reference
from tests.real_data import rows_of
from tests.strategies import TIES, integer_rows

IN_ORDER = {"shuffle": False, "tol": None}


def weights(clf):
    return clf.coef_.tolist(), clf.intercept_.tolist()


@given(
    rows=integer_rows(),
    labels=st.sampled_from([[0, 1], ["no", "yes"], [False, True], [-1.0, 1.0], [7, 1000]]),
    tie=st.sampled_from(TIES),
)
@pytest.mark.filterwarnings("ignore:Training ended at w = 0")
def test_labels_of_any_kind(rows, labels, tie):
    X, y = rows
    plain = Perceptron(**IN_ORDER, tie=tie, max_iter=5, init=[1] * len(X[0])).fit(X, y)
    named = Perceptron(**IN_ORDER, tie=tie, max_iter=5, init=[1] * len(X[0]))
    named.fit(X, [labels[label > 0] for label in y])
    assert weights(named) == weights(plain)
    assert named.predict(X).tolist() == [labels[int(v > 0)] for v in plain.predict(X)]


@given(
    rows=integer_rows(),
    cuts=st.lists(st.integers(1, 11), max_size=3),
    keep=st.sampled_from(["last", "average", "vote"]),
    many=st.booleans(),
    multiclass=st.sampled_from(["ovr", "direct"]),
)
def test_chunks_equal_one_pass_in_order(rows, cuts, keep, many, multiclass):
    X, y = np.array(rows[0]), np.array(rows[1])
    if many:
        y = np.abs(X.sum(axis=1)) % 3
    classes = [0, 1, 2] if many else [-1, 1]
    assume(len(np.unique(y)) == len(classes))
    chosen = {"shuffle": False, "keep": keep, "multiclass": multiclass}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = Perceptron(**chosen, max_iter=1).fit(X, y)
    parts = Perceptron(**chosen)
    for chunk in np.split(np.arange(len(X)), sorted(min(c, len(X)) for c in cuts)):
        if len(chunk):
            parts.partial_fit(X[chunk], y[chunk], classes=classes)
    assert np.array_equal(whole.decision_function(X), parts.decision_function(X))
    assert whole.n_mistakes_ == parts.n_mistakes_
    assert whole.n_updates_ == parts.n_updates_
    if keep != "vote":
        assert weights(whole) == weights(parts)


@given(
    rows=integer_rows(),
    labels=st.lists(st.integers(0, 4), min_size=12, max_size=12),
    keep=st.sampled_from(["last", "average", "vote"]),
    tie=st.sampled_from(["mistake", "half"]),
    size=st.integers(1, 5),
)
def test_late_classes_stand_where_they_would(rows, labels, keep, tie, size):
    """One against the rest: declared at the start or appearing late is the same."""
    X, y = np.array(rows[0]), np.array(labels[: len(rows[0])])
    late = Perceptron(shuffle=False, keep=keep, tie=tie)
    for i in range(0, len(X), size):
        late.partial_fit(X[i : i + size], y[i : i + size])
        assert set(late.predict(X)) <= set(y[: i + size])
    seen = np.unique(y)
    if len(seen) == 1:
        assert (late.predict(X) == y).all()
    else:
        known = Perceptron(shuffle=False, keep=keep, tie=tie)
        for i in range(0, len(X), size):
            known.partial_fit(X[i : i + size], y[i : i + size], classes=seen)
        assert np.array_equal(late.classes_, known.classes_)
        assert np.array_equal(late.decision_function(X), known.decision_function(X))


def test_late_classes_with_the_direct_rule_start_at_zero():
    X, y = load_iris(return_X_y=True)
    clf = Perceptron(multiclass="direct", shuffle=False, keep="average")
    for k in range(3):
        clf.partial_fit(X[y == k], y[y == k])
    assert clf.classes_.tolist() == [0, 1, 2]
    first = clf.coef_.copy()
    clf.set_params(shuffle=True, keep="last")
    for _ in range(60):
        clf.partial_fit(X, y)
    assert not np.array_equal(first, clf.coef_)
    assert clf.score(X, y) > 0.9


@given(
    rows=integer_rows(max_rows=8), seed=st.integers(0, 99), keep=st.sampled_from(["last", "pocket"])
)
def test_dense_equals_csr(rows, seed, keep):
    X, y = np.array(rows[0], dtype=float), rows[1]
    fits = [
        Perceptron(random_state=seed, keep=keep, tol=None, max_iter=8).fit(A, y)
        for A in (X, sp.csr_matrix(X), sp.csc_array(X))
    ]
    assert weights(fits[0]) == weights(fits[1]) == weights(fits[2])


def test_dense_equals_csr_on_real_data_with_penalties():
    X, y = load_digits(return_X_y=True)
    for penalty in ("l2", None):
        a = Perceptron(penalty=penalty).fit(X, y)
        b = Perceptron(penalty=penalty).fit(sp.csr_matrix(X), y)
        np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-9)
        assert a.n_iter_ == b.n_iter_


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, bool, np.float16])
def test_other_numbers_become_float64(dtype):
    X = (np.arange(24).reshape(8, 3) % 5).astype(dtype)
    y = [0, 1] * 4
    a = Perceptron(**IN_ORDER, max_iter=5).fit(X, y)
    b = Perceptron(**IN_ORDER, max_iter=5).fit(X.astype(float), y)
    assert weights(a) == weights(b)
    assert a.coef_.dtype == np.float64


def test_float32_stays_float32():
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32)
    for keep in ("last", "average", "pocket"):
        clf = Perceptron(keep=keep).fit(X, y)
        assert clf.coef_.dtype == clf.intercept_.dtype == np.float32
        assert clf.decision_function(X).dtype == np.float32


def test_vote_is_the_vote_of_its_hyperplanes():
    X, y = load_iris(return_X_y=True)
    y = np.where(y == 1, 1, -1)
    clf = Perceptron(keep="vote", shuffle=False, tol=None, max_iter=3)
    clf.fit(X, y)
    run = reference.train(X.tolist(), y.tolist(), max_iter=3)
    votes = reference.votes(run)
    total = sum(count for *_, count in votes)
    expected = [
        sum(c * reference.predict(w, b, x) for w, b, c in votes) / total for x in X[:20].tolist()
    ]
    np.testing.assert_allclose(clf.decision_function(X[:20]), expected)
    assert not hasattr(clf, "coef_")
    assert len(clf.votes_[0]) == clf.n_updates_ + 1


def test_vote_is_bounded_by_max_updates():
    X, y = load_iris(return_X_y=True)
    clf = Perceptron(keep="vote", max_updates=7, tol=None).fit(X, y == 1)
    assert clf.stop_reason_ == "max_updates"
    assert clf.n_updates_ == 7
    assert len(clf.votes_[0]) == 8


@pytest.mark.parametrize("multiclass", ["ovr", "direct"])
@pytest.mark.parametrize("keep", ["last", "average", "vote", "pocket"])
@pytest.mark.parametrize("order", [False, True, "sample"])
def test_every_keep_with_many_classes(multiclass, keep, order):
    X, y = make_blobs(300, centers=[[9, 0], [-9, 0], [0, 9], [0, -9]], random_state=3)
    clf = Perceptron(multiclass=multiclass, keep=keep, shuffle=order, tol=None, max_iter=40)
    clf.fit(X, np.array(list("abcd"))[y])
    assert clf.score(X, np.array(list("abcd"))[y]) > 0.9
    assert clf.decision_function(X).shape == (300, 4)
    assert "class" in str(clf.trace_) or multiclass == "direct"
    assert "<table>" in clf.trace_._repr_html_()


def test_pocket_is_never_worse_than_the_end_of_any_pass():
    X, y = load_iris(return_X_y=True)
    y = y == 1
    pocket = Perceptron(keep="pocket", tol=None, max_iter=50).fit(X, y).score(X, y)
    ends = [Perceptron(tol=None, max_iter=k).fit(X, y).score(X, y) for k in range(1, 51)]
    assert pocket >= max(ends)


def test_early_stopping_gives_back_the_best_weights_seen():
    X, y = load_digits(return_X_y=True)
    y = y % 2
    clf = Perceptron(early_stopping=True, n_iter_no_change=7, random_state=2).fit(X, y)
    scores = clf.trace_.scores
    assert clf.trace_.kept_epoch == int(np.argmax(scores)) + 1
    assert scores.max() > scores[-1]  # here the last weights are worse than the best
    short = Perceptron(
        early_stopping=True, tol=None, max_iter=clf.trace_.kept_epoch, random_state=2
    ).fit(X, y)
    assert weights(short) == weights(clf)


def test_cycle_is_found_and_proves_inseparability():
    xor = [[0, 0], [1, 1], [0, 1], [1, 0]]
    clf = Perceptron(**IN_ORDER).fit(xor, [0, 0, 1, 1])
    cycle = clf.trace_.cycle
    assert clf.stop_reason_ == "cycle"
    assert cycle.exact
    z = np.array([[*x, 1] for x in xor]) * np.array([-1, -1, 1, 1])[:, None]
    assert not (cycle.counts @ z[cycle.rows]).any()
    assert cycle.updates == cycle.counts.sum()
    assert "no hyperplane separates" in str(clf.trace_)


def test_cycle_closed_by_rounding_claims_nothing():
    """Separable, and yet the weights repeat: the small rows are absorbed by the large one."""
    X = np.array([[1e20, 0], [0, 1e15], [-1, 1e-3]])
    clf = Perceptron(**IN_ORDER, fit_intercept=False).fit(np.vstack([X, -X[:1]]), [1, 1, 1, 0])
    assert clf.stop_reason_ == "cycle"
    assert not clf.trace_.cycle.exact
    assert "nothing is proven" in str(clf.trace_.cycle)


def test_cycle_of_the_direct_rule():
    X = [[0], [0], [0]]
    clf = Perceptron(**IN_ORDER, multiclass="direct").fit(X, [0, 1, 2])
    assert clf.stop_reason_ == "cycle"
    assert clf.trace_.cycle.exact


def test_max_updates_counts_the_last_one_needed():
    X, y = load_iris(return_X_y=True)
    needed = Perceptron(**IN_ORDER).fit(X, y == 0).n_updates_
    assert Perceptron(**IN_ORDER, max_updates=needed).fit(X, y == 0).stop_reason_ == "separated"
    short = Perceptron(**IN_ORDER, max_updates=needed - 1).fit(X, y == 0)
    assert short.stop_reason_ == "max_updates"
    assert short.n_updates_ == needed - 1


def test_margin_counts_mistakes_and_updates_apart():
    X, y = load_iris(return_X_y=True)
    clf = Perceptron(rule=Margin(tau=20.0), **IN_ORDER).fit(X, y == 0)
    assert clf.n_updates_ > clf.n_mistakes_ > 0
    assert (np.where(y == 0, 1, -1) * clf.decision_function(X) > 20).all()


def test_balanced_in_partial_fit_follows_the_counts_so_far():
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    clf = Perceptron(class_weight="balanced", shuffle=False)
    clf.partial_fit(X, [0, 0, 0, 1], classes=[0, 1])
    by_hand = Perceptron(class_weight={0: 4 / 6, 1: 4 / 2}, shuffle=False)
    by_hand.partial_fit(X, [0, 0, 0, 1], classes=[0, 1])
    assert weights(clf) == weights(by_hand)
    clf.partial_fit(X, [1, 1, 1, 1])
    by_hand.set_params(class_weight={0: 8 / 6, 1: 8 / 10}).partial_fit(X, [1, 1, 1, 1])
    assert weights(clf) == weights(by_hand)


def test_batch_steps_may_be_a_function_or_a_list():
    X, y = load_iris(return_X_y=True)
    fits = [
        Perceptron(mode="batch", eta0=eta, tol=None, max_iter=4).fit(X, y == 1)
        for eta in (lambda k: 1 / k, [1, 1 / 2, 1 / 3, 1 / 4])
    ]
    assert weights(fits[0]) == weights(fits[1])


def test_random_start_depends_on_the_seed_alone():
    X, y = load_iris(return_X_y=True)
    a, b, c = (
        Perceptron(init="random", random_state=s, max_iter=1, tol=None).fit(X, y == 0)
        for s in (1, 1, 2)
    )
    assert weights(a) == weights(b) != weights(c)


def test_the_trace_tells_what_happened():
    X, y = load_iris(return_X_y=True)
    clf = Perceptron(**IN_ORDER, record="updates").fit(X, y == 0)
    trace = clf.trace_
    assert trace.mistakes.sum() == clf.n_mistakes_
    assert trace.norms[-1] == pytest.approx(np.linalg.norm(clf.coef_))
    assert trace.record.complete
    assert len(trace.record) == trace.n_updates
    assert np.array_equal(trace.record[-1].w, clf.coef_[0])
    with pytest.raises(AttributeError):
        trace.seconds = 0


@pytest.mark.parametrize("name", ["sonar", "wine 1 2"])
def test_a_fit_says_that_it_fell_short(name):
    """A hyperplane separates it; tol stops long before one is found, and says so."""
    X, y = rows_of(name)
    clf = Perceptron().fit(X, y)
    assert clf.score(X, y) < 0.9
    assert clf.stop_reason_ == "no_improvement"


def test_what_is_kept_may_change_between_chunks():
    X, y = load_iris(return_X_y=True)
    y = y == 1
    clf = Perceptron(shuffle=False, keep="average").partial_fit(X, y)
    clf.set_params(keep="last").partial_fit(X, y)  # goes on from the last weights, not the mean
    plain = Perceptron(shuffle=False).partial_fit(X, y).partial_fit(X, y)
    assert weights(clf) == weights(plain)
    plain.set_params(keep="average").partial_fit(X, y)  # averages from here on
    run = reference.train(
        X.tolist(), np.where(y, 1, -1).tolist(), w=clf.coef_[0], b=clf.intercept_[0], max_iter=1
    )
    np.testing.assert_allclose(plain.coef_[0], reference.average(run)[0], rtol=1e-12)


def test_vote_says_when_its_default_bound_ended_training(monkeypatch):
    from rosenblatt.errors import RosenblattWarning
    from rosenblatt.learn import machine

    monkeypatch.setattr(machine, "MOST_LOGGED", 9)
    X, y = load_iris(return_X_y=True)
    with pytest.warns(RosenblattWarning, match="Set max_updates"):
        clf = Perceptron(keep="vote", tol=None).fit(X, y == 1)
    assert len(clf.votes_[0]) == 10


def test_the_trace_says_which_weights_came_back():
    X, y = load_iris(return_X_y=True)
    pocket = Perceptron(keep="pocket", **IN_ORDER, max_iter=30, record="updates").fit(X, y == 1)
    trace = pocket.trace_
    passes = {u.epoch for u in trace.record if np.array_equal(u.w, pocket.coef_[0])}
    assert trace.kept_epoch in passes
    assert f"epoch {trace.kept_epoch}" in str(trace)
    early = Perceptron(early_stopping=True).fit(X, y == 1).trace_
    assert early.n_rows == 135
    assert "held-out" in str(early)
    assert Perceptron(keep="average").fit(X, y == 1).trace_.kept_epoch is None


def test_a_cycle_without_offset_speaks_of_the_origin():
    clf = Perceptron(**IN_ORDER, fit_intercept=False).fit([[1], [2]], [0, 1])
    assert "no hyperplane through the origin separates" in str(clf.trace_.cycle)
    assert Perceptron(**IN_ORDER).fit([[1], [2]], [0, 1]).stop_reason_ == "separated"


def test_one_class_of_many_can_be_asked_for():
    X, y = load_iris(return_X_y=True)
    trace = Perceptron(**IN_ORDER, max_iter=20).fit(X, np.array(list("abc"))[y]).trace_
    assert trace.of("b") is trace[1]
    assert repr(trace) == str(trace)


def test_a_new_form_of_covariance_starts_with_new_variances():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 3)), rng.integers(0, 2, 30)
    clf = Perceptron(rule="arow(covariance=full)").partial_fit(X, y)
    for rule in ("arow", "arow(covariance=full)"):
        before = clf.coef_.copy(), clf.intercept_.copy()
        clf.set_params(rule=rule).partial_fit(X, y)
        other = Perceptron(rule=rule, max_iter=1, tol=None).fit(X, y, *before)
        np.testing.assert_array_equal(clf.coef_, other.coef_)


@pytest.mark.parametrize("verbose", [0, 1])
def test_overflow_names_the_epoch(verbose, capsys):
    X, y = [[1e150], [1e150]], [0, 1]
    with pytest.raises(OverflowedError, match="epoch #1:"):
        Perceptron(eta0=1e200, shuffle=False, tol=None, verbose=verbose).fit(X, y)
