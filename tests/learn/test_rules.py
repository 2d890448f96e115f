"""The rules that came after: against the reference, and what each guarantees."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier

from rosenblatt import CosineDisplay, Perceptron, UpdateDisplay, film, max_margin
from rosenblatt.errors import NotSupportedError, OverflowedError, ParameterError
from rosenblatt.learn import reference
from rosenblatt.learn.rules import ALMA, AROW, PA, PA1, PA2, SCW, SOP, Margin, resolve
from tests.oracle import later_rules as plain
from tests.strategies import separable_rows

TWINS = {
    PA(): plain.passive_aggressive(),
    PA1(0.3): plain.passive_aggressive(0.3),
    PA2(0.3): plain.passive_aggressive(0.3, squared=True),
    AROW(0.5): plain.arow(0.5),
    SCW(0.7, 0.8): plain.soft_confidence_weighted(0.7, 0.8),
    SOP(2.0): plain.second_order_perceptron(2.0),
}
FULL = {
    AROW(0.5, covariance="full"): TWINS[AROW(0.5)],
    SCW(0.7, 0.8, covariance="full"): TWINS[SCW(0.7, 0.8)],
    SOP(2.0, covariance="full"): TWINS[SOP(2.0)],
}
BOTH = TWINS | FULL


def some_rows(seed, n=14, d=3, classes=2):
    """Rows with noisy labels and some zeros, all margins far from 0 and 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.8)
    y = np.argmax(X @ rng.normal(size=(d, classes)) + rng.normal(size=(n, classes)), axis=1)
    y[:classes] = np.arange(classes)
    return X, y


def fitted(rule, X, y, *, passes=2, **settings):
    settings = {"shuffle": False, "max_iter": passes, "tol": None} | settings
    return Perceptron(rule=rule, **settings).fit(X, y)


seeds = st.integers(0, 2**31 - 1)


@given(
    seed=seeds,
    rule=st.sampled_from(list(BOTH)),
    intercept=st.booleans(),
    weighted=st.booleans(),
    sparse=st.booleans(),
)
def test_the_compiled_rule_is_the_plain_one(seed, rule, intercept, weighted, sparse):
    X, y = some_rows(seed)
    weight = None
    if weighted:
        weight = np.random.default_rng(seed).choice([0.0, 0.5, 3.0], size=len(y))
        weight[:2] = 1.0
    if isinstance(rule, PA) and weighted:
        weight = (weight > 0).astype(float)
    assume(intercept or X.any(axis=1).all())
    run = plain.adaptive(
        X.tolist(), (2 * y - 1).tolist(), BOTH[rule],
        full=getattr(rule, "covariance", "") == "full", intercept=intercept,
        weights=None if weight is None else weight.tolist(), max_iter=2,
    )  # fmt: skip
    A = sp.csr_matrix(X) if sparse else X
    for keep in ("last", "average", "vote", "pocket"):
        clf = Perceptron(
            rule=rule, keep=keep, shuffle=False, max_iter=2, tol=None, fit_intercept=intercept
        ).fit(A, y, sample_weight=weight)
        assert clf.trace_.mistakes.tolist() == run.mistakes
        if keep == "vote":
            votes, theirs = clf.votes_[0], reference.votes(run)
            if clf.n_updates_ == len(run.updates):  # a margin of 1 is 1 up to rounding
                assert votes.counts.tolist() == [count for _, _, count in theirs]
                np.testing.assert_allclose(votes.w, [w for w, _, _ in theirs], atol=1e-9)
            continue
        if keep == "pocket":
            w, b = reference.pocket(X.tolist(), (2 * y - 1).tolist(), run)
            if weight is None and clf.n_updates_ == len(run.updates):
                assert np.allclose(clf.coef_[0], w)
                assert np.allclose(clf.intercept_, b)
            continue
        w, b = run.weights if keep == "last" else reference.average(run)
        np.testing.assert_allclose(clf.coef_[0], w, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(clf.intercept_, b, rtol=1e-9, atol=1e-9)


@given(seed=seeds, rule=st.sampled_from(list(BOTH)), intercept=st.booleans())
def test_all_classes_at_once_is_the_plain_rule_on_keslers_rows(seed, rule, intercept):
    X, y = some_rows(seed, classes=3)
    assume(intercept or X.any(axis=1).all())
    W, mistakes = plain.direct_adaptive(
        X.tolist(), y.tolist(), 3, BOTH[rule], intercept=intercept, max_iter=2,
        full=getattr(rule, "covariance", "") == "full",
    )  # fmt: skip
    dense = fitted(rule, X, y, multiclass="direct", fit_intercept=intercept)
    A = sp.csr_matrix(X)
    csr = fitted(rule, A, y, multiclass="direct", fit_intercept=intercept)
    assert dense.trace_.mistakes.tolist() == csr.trace_.mistakes.tolist() == mistakes
    whole = np.column_stack([dense.coef_, dense.intercept_]) if intercept else dense.coef_
    np.testing.assert_allclose(whole, W, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(csr.coef_, dense.coef_, rtol=1e-9, atol=1e-9)


def scores_after_the_first(run, X):
    """w.x + b at each visit but the first, with the weights before it."""
    pairs = zip(run.visits, run.visits[1:], strict=False)
    return np.array([np.dot(before.w, X[visit.row]) + before.b for before, visit in pairs])


@given(
    seed=seeds,
    alpha=st.sampled_from([0.3, 0.9]),
    intercept=st.booleans(),
    sparse=st.booleans(),
)
def test_alma_is_the_plain_one(seed, alpha, intercept, sparse):
    X, y = some_rows(seed)
    assume(intercept or X.any(axis=1).all())
    run = plain.alma(X.tolist(), (2 * y - 1).tolist(), alpha=alpha, intercept=intercept, max_iter=3)
    assume(np.abs(scores_after_the_first(run, X)).min() > 1e-9)  # a tie is a matter of rounding
    A = sp.csr_matrix(X) if sparse else X
    for keep in ("last", "average", "vote"):
        clf = fitted(ALMA(alpha), A, y, passes=3, keep=keep, fit_intercept=intercept)
        assert clf.trace_.mistakes.tolist() == run.mistakes
        assert clf.n_updates_ == len(run.updates)
        if keep == "vote":
            theirs = reference.votes(run)
            np.testing.assert_allclose(clf.votes_[0].w, [w for w, _, _ in theirs], atol=1e-9)
            np.testing.assert_allclose(clf.votes_[0].b[:, 0], [b for _, b, _ in theirs], atol=1e-9)
            continue
        w, b = run.weights if keep == "last" else reference.average(run)
        np.testing.assert_allclose(clf.coef_[0], w, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(clf.intercept_, b, rtol=1e-7, atol=1e-9)


@given(seed=seeds, rule=st.sampled_from([*BOTH, ALMA(0.5)]), multiclass=st.booleans())
def test_a_stream_of_pieces_remembers_the_variances(seed, rule, multiclass):
    X, y = some_rows(seed, n=20, classes=3 if multiclass else 2)
    direct = multiclass and not isinstance(rule, ALMA)
    kind = "direct" if direct else "ovr"
    whole = fitted(rule, X, y, passes=1, multiclass=kind, keep="average")
    pieces = Perceptron(rule=rule, shuffle=False, multiclass=kind, keep="average")
    for part in np.array_split(np.arange(20), 4):
        pieces.partial_fit(X[part], y[part], classes=np.unique(y))
    np.testing.assert_allclose(pieces.coef_, whole.coef_, rtol=1e-9, atol=1e-9)
    assert pieces.n_updates_ == whole.n_updates_


@given(seed=seeds, rule=st.sampled_from([PA1(0.3), AROW(0.5), SOP(covariance="full")]))
def test_a_class_that_comes_late_stands_where_it_would(seed, rule):
    X, y = some_rows(seed, n=20, classes=3)
    y = np.concatenate([np.sort(y[y < 2]), y[y == 2]])
    named = Perceptron(rule=rule, shuffle=False)
    late = Perceptron(rule=rule, shuffle=False)
    for i in range(20):
        named.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1, 2])
        late.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_allclose(late.coef_, named.coef_, rtol=1e-9, atol=1e-9)


def test_late_classes_of_the_direct_rule_start_with_their_own_variance():
    X, y = some_rows(3, n=20, classes=3)
    clf = Perceptron(rule=AROW(), multiclass="direct", shuffle=False)
    first = y < 2
    clf.partial_fit(X[first], y[first]).partial_fit(X[~first], y[~first])
    spread = clf._learner.state.variance[:3]
    assert spread.shape == (3, 4)
    assert (spread <= 1).all()
    assert (spread > 0).all()


# ---------------------------------------------------------------------- what they guarantee


@given(
    data=separable_rows(), tau=st.sampled_from([0.5, 1.0, 50.0]), eta=st.sampled_from([0.5, 2.0])
)
def test_the_margin_perceptron_reaches_its_share_of_the_margin(data, tau, eta):
    X, y, _, _ = data
    assume(len(set(y)) == 2)
    X = np.column_stack([np.array(X, float), np.ones(len(X))])  # the augmented margin
    clf = Perceptron(
        rule=Margin(tau), eta0=eta, shuffle=False, tol=None, fit_intercept=False, max_iter=10**6
    ).fit(X, y)
    assert clf.stop_reason_ == "separated"
    gamma = max_margin(X, y, fit_intercept=False).lower
    R2 = (X**2).sum(axis=1).max()
    margin = (np.array(y) * (X @ clf.coef_[0])).min() / np.linalg.norm(clf.coef_)
    assert margin >= gamma * tau / (2 * tau + eta * R2) * (1 - 1e-12)
    assert clf.n_updates_ <= (R2 + 2 * tau / eta) / gamma**2 * (1 + 1e-9)


@given(seed=seeds, sparse=st.booleans())
def test_pa_satisfies_its_constraint_after_each_update(seed, sparse):
    X, y = some_rows(seed)
    clf = fitted("pa", sp.csr_matrix(X) if sparse else X, y, record="updates")
    for step in clf.trace_.record:
        z = (2 * y[step.row] - 1) * (X[step.row] @ step.w + step.b)
        assert float(np.ravel(z)[0]) == pytest.approx(1, abs=1e-9)


@given(seed=seeds, C=st.sampled_from([0.01, 0.3, 10.0]))
def test_pa1_keeps_its_mistake_bound_for_any_hyperplane(seed, C):
    X, y = some_rows(seed, n=40)
    clf = fitted(PA1(C), X, y, passes=1, fit_intercept=False)
    rng, sign = np.random.default_rng(seed), 2 * y - 1
    R2 = (X**2).sum(axis=1).max()
    for u in (np.zeros(3), rng.normal(size=3), *clf.coef_):
        loss = np.maximum(0, 1 - sign * (X @ u)).sum()
        assert clf.n_mistakes_ <= max(R2, 1 / C) * (u @ u + 2 * C * loss) * (1 + 1e-9)


@given(seed=seeds, rule=st.sampled_from([r for r in BOTH if hasattr(r, "covariance")]))
def test_no_variance_ever_grows(seed, rule):
    X, y = some_rows(seed)
    clf = Perceptron(rule=rule, shuffle=False)
    directions = np.random.default_rng(seed).normal(size=(20, 4))

    def variances():
        S = clf._learner.state.variance[0]
        S = np.diag(S) if S.size == 4 else S.reshape(4, 4)
        assert np.array_equal(S, S.T)
        return np.concatenate([np.diag(S), np.einsum("ij,jk,ik->i", directions, S, directions)])

    before = None
    for _ in range(2):
        for i in range(len(y)):
            clf.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
            now = variances()
            assert (now >= -1e-12).all()
            assert before is None or (now <= before * (1 + 1e-12) + 1e-15).all()
            before = now


@given(seed=seeds, intercept=st.booleans())
def test_scw_gives_every_row_its_confidence_where_c_allows(seed, intercept):
    X, y = some_rows(seed)
    assume(intercept or X.any(axis=1).all())
    rule = SCW(C=1e9, eta=0.9, covariance="full")
    clf = Perceptron(rule=rule, shuffle=False, fit_intercept=intercept)
    for i in range(len(y)):
        clf.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
        x, S = np.array([float(intercept), *X[i]]), clf._learner.state.variance[0].reshape(4, 4)
        z = (2 * y[i] - 1) * float(clf.decision_function(X[i : i + 1])[0])
        assert z >= rule.phi * math.sqrt(max(x @ S @ x, 0)) - 1e-7


@given(seed=seeds)
def test_sop_is_the_perceptron_in_the_metric_of_its_mistakes(seed):
    X, y = some_rows(seed, n=30)
    a, sign = 0.7, 2 * y - 1
    A, w, errors = a * np.eye(3), np.zeros(3), 0
    for x, label in zip(X, sign, strict=True):  # with the inverse of the paper, row by row
        if label * (w @ np.linalg.solve(A, x)) <= 0:
            errors += 1
            w += label * x
            A += np.outer(x, x)
    clf = fitted(SOP(a, covariance="full"), X, y, passes=1, fit_intercept=False)
    assume(X.any(axis=1).all())
    assert clf.n_mistakes_ == errors
    np.testing.assert_allclose(clf.coef_[0], np.linalg.solve(A, w), rtol=1e-6, atol=1e-9)


@given(data=separable_rows(), alpha=st.sampled_from([0.3, 0.9]))
def test_alma_separates_with_the_margin_it_promises(data, alpha):
    X, y, _, _ = data
    assume(len(set(y)) == 2)
    rows = np.column_stack([np.array(X, float), np.ones(len(X))])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    gamma = max_margin(rows, y, fit_intercept=False).lower
    assume(gamma > 0.02)
    clf = fitted(ALMA(alpha), X, y, passes=10**5)
    assert clf.stop_reason_ == "separated"
    w = np.append(clf.coef_[0], clf.intercept_)
    assert np.linalg.norm(w) <= 1 + 1e-9
    assert (np.array(y) * (rows @ w)).min() >= (1 - alpha) * gamma * (1 - 1e-9)


@pytest.mark.parametrize("rule", ["pa1", "pa2"])
def test_passive_aggressive_is_scikit_learns(rule):
    X, y = some_rows(5, n=200, d=6)
    theirs = SGDClassifier(
        loss="hinge", penalty=None, learning_rate=rule, eta0=0.3, fit_intercept=False,
        shuffle=True, random_state=3, max_iter=4, tol=None,
    ).fit(X, y)  # fmt: skip
    ours = fitted(
        resolve(rule).with_params(C=0.3), X, y, passes=4, shuffle=True, random_state=3,
        fit_intercept=False,
    )  # fmt: skip
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)


# ------------------------------------------------------------------------- kinds and errors


@pytest.mark.parametrize("rule", [*TWINS, ALMA()])
def test_float32_rows_give_nearly_the_same(rule):
    X, y = some_rows(11, n=60)
    X = X.astype(np.float32)
    wide, narrow = fitted(rule, X.astype(np.float64), y), fitted(rule, X, y)
    assert narrow.coef_.dtype == np.float32
    np.testing.assert_allclose(narrow.coef_, wide.coef_, rtol=1e-3, atol=1e-4)


def test_a_row_of_zeros_is_never_called_separated():
    X, y = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 0.5]]), [1, 0, 0]
    for rule in (*BOTH, ALMA()):
        clf = fitted(rule, X, y, passes=40, fit_intercept=False)
        assert clf.stop_reason_ == "max_iter", rule
        assert np.isfinite(clf.coef_).all()


@pytest.mark.parametrize("rule", ["arow", "alma", "pa"])
def test_rows_drawn_with_replacement_end_when_nothing_is_left(rule):
    X, y = [[0.0, 1.0], [1.0, 0.5], [0.2, 2.0], [3.0, 0.1]], [0, 1, 0, 1]
    clf = Perceptron(rule=rule, shuffle="sample", tol=None, max_iter=10_000).fit(X, y)
    assert clf.score(X, y) == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"penalty": "l2"}, "rule='arow' has no penalty"),
        ({"mode": "batch"}, "learns from one row at a time"),
        ({"eta0": 0.5}, r"Leave eta0 out. Parameters of the rule: .*r\."),
        ({"weighting": "repeat"}, "weighting='repeat' is defined for rule='perceptron'"),
    ],
)
def test_what_does_not_go_with_a_rule_is_said(settings, words):
    with pytest.raises(NotSupportedError, match=words):
        Perceptron(rule="arow", **settings).fit([[0.0], [1.0]], [0, 1])


def test_weights_mean_nothing_to_pa():
    X, y = some_rows(1)
    with pytest.raises(NotSupportedError, match=r"Parameters of the rule: none\."):
        Perceptron(rule="pa", eta0=0.1).fit(X, y)
    with pytest.raises(NotSupportedError, match="Use rule='pa1' or 'pa2'"):
        Perceptron(rule="pa", class_weight="balanced").fit(X, y)


def test_alma_is_for_two_classes_at_a_time():
    X, y = some_rows(1, classes=3)
    assert fitted("alma", X, y).coef_.shape == (3, 3)
    with pytest.raises(NotSupportedError, match="multiclass='ovr'"):
        fitted("alma", X, y, multiclass="direct")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PA1(C=0), "C must be a number > 0, got 0"),
        (lambda: PA2(C=math.inf), "C must be"),
        (lambda: AROW(r=-1.0), "r must be a number > 0"),
        (lambda: AROW(covariance="wide"), "covariance must be 'diagonal' or 'full', got 'wide'"),
        (lambda: SCW(eta=0.5), "eta must be between 0.5 and 1"),
        (lambda: SOP(a=True), "a must be a number > 0"),
        (lambda: ALMA(alpha=0), "alpha must be above 0, at most 1"),
        (lambda: ALMA(B=-1), "B must be a number > 0 or None"),
    ],
)
def test_parameters_of_rules_are_checked(make, words):
    with pytest.raises(ParameterError, match=words):
        make()


def test_a_full_covariance_that_does_not_fit_is_refused():
    X = sp.csr_matrix(([1.0, 1.0], ([0, 1], [0, 99_999])), shape=(2, 100_000))
    with pytest.raises(ParameterError, match="Use covariance='diagonal'"):
        fitted(AROW(covariance="full"), X, [0, 1])


def test_a_grid_search_reaches_the_parameters():
    clf = Perceptron(rule="arow").set_params(rule__r=0.25)
    assert clf.rule == AROW(r=0.25)


@pytest.mark.parametrize("rule", [*BOTH, ALMA(0.5, B=2.0), Margin(3.0)])
def test_a_rule_is_written_as_it_is_read(rule):
    assert resolve(str(rule)) == rule


@pytest.mark.parametrize("text", ["arow(r)", "arow(r=)", "arow(tau=1)", "arow(r=x)", "a b", "x()"])
def test_what_is_no_rule_is_refused(text):
    with pytest.raises(ParameterError):
        resolve(text)


def test_no_theorem_of_the_perceptron_is_claimed_for_other_rules():
    X, y = [[0.0, 1.0], [1.0, 0.5], [0.2, 2.0], [3.0, 0.1]], [0, 1, 0, 1]
    told = fitted("arow", X, y).bounds(X, y)
    assert all(bound.most is None for bound in told.bounds)
    assert "has steps of its own" in str(told)


@pytest.mark.parametrize("rule", ["pa1", "arow", "alma"])
def test_a_film_of_any_rule(rule, tmp_path):
    X, y = some_rows(8, d=2)
    film(fitted(rule, X, y, record="updates"), tmp_path / "film.html")
    assert f"Rule {resolve(rule)}" in (tmp_path / "film.html").read_text()


def test_pictures_of_one_update_are_for_rules_that_add_rows():
    X, y = some_rows(8, d=2)
    with pytest.raises(NotSupportedError, match=r"rule=arow\(.*does not add a multiple of its row"):
        UpdateDisplay.from_estimator(fitted("arow", X, y, record="updates"), X, y)
    with pytest.raises(NotSupportedError, match="has steps of its own"):
        CosineDisplay.from_estimator(fitted("pa", X, y, record="updates"), X, y)


@pytest.mark.parametrize("rule", [*TWINS, ALMA(), SOP(covariance="full")])
def test_rows_too_large_for_their_squares_are_an_error(rule):
    X, y = some_rows(4)
    with pytest.raises(OverflowedError, match="Scale the data"):
        fitted(rule, X * 1e160, y)
