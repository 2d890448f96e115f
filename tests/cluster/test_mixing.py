"""Mixing keeps its bound, and a batch step is the same however rows are cut. No cluster needed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rosenblatt import Perceptron
from rosenblatt.cluster import DaskPerceptron
from rosenblatt.cluster.mixing import added, mixed, term
from rosenblatt.errors import NotSupportedError, OverflowedError, ParameterError
from tests.cluster.local import trained
from tests.strategies import integer_rows, separable_rows

CUTS = st.sets(st.integers(1, 11), max_size=5)


@given(separable_rows(), CUTS, st.sampled_from(["uniform", "mistakes"]), st.booleans())
def test_weighted_mistakes_keep_the_bound(rows: Any, cuts: Any, mixing: str, shuffle: bool) -> None:
    X, y, u, v = rows
    assume(len(set(y)) == 2)
    cuts = {cut for cut in cuts if cut < len(y)}
    run = trained(X, y, cuts, mixing=mixing, shuffle=shuffle, tol=None, max_iter=300)
    A = np.column_stack([np.array(X), np.ones(len(y))])
    plane = np.append(u, v)
    smallest = int((np.array(y) * (A @ plane)).min())  # whole numbers: the bound is exact
    bound = int((A * A).sum(axis=1).max()) * int(plane @ plane) / smallest**2
    assert run.weighted_mistakes[0] <= bound * (1 + 1e-12)
    if run.reason == "separated":
        w, b = run.kept()
        assert (np.array(y) * (np.array(X) @ w[0] + b) > 0).all()
        assert run.trace().updates[-1] == 0


@given(
    integer_rows(max_rows=12), CUTS, st.sampled_from(["batch", "batch-mean"]),
    st.sampled_from(["last", "average"]), st.sampled_from(["mistake", "positive", "half"]),
)  # fmt: skip
def test_a_batch_is_that_of_one_machine_to_the_bit(
    rows: Any, cuts: Any, mode: str, keep: str, tie: str
) -> None:
    X, y = rows
    asked: dict[str, Any] = {"keep": keep, "tie": tie, "tol": None, "max_iter": 9}
    one = Perceptron(mode=mode, **asked).fit(X, y)
    run = trained(X, y, {cut for cut in cuts if cut < len(y)}, mode=mode, **asked)
    w, b = run.kept()
    assert np.array_equal(w, one.coef_)
    assert np.array_equal(b, one.intercept_)
    assert (run.n_epochs, str(run.reason)) == (one.n_iter_, one.stop_reason_)
    trace = run.trace()
    assert (trace.n_mistakes, trace.n_updates) == (one.n_mistakes_, one.n_updates_)
    assert np.allclose(trace.loss, one.trace_.loss, rtol=1e-12)
    assert np.array_equal(trace.norms, one.trace_.norms)


@given(
    integer_rows(max_rows=12), st.sampled_from(["perceptron", "margin"]),
    st.sampled_from(["last", "average"]),
)  # fmt: skip
def test_one_shard_is_one_machine(rows: Any, rule: str, keep: str) -> None:
    X, y = rows
    asked: dict[str, Any] = {"rule": rule, "keep": keep, "tol": None, "max_iter": 7}
    one = Perceptron(shuffle=False, **asked).fit(X, y)
    run = trained(X, y, (), shuffle=False, **asked)
    w, b = run.kept()
    assert np.array_equal(w, one.coef_)
    assert np.array_equal(b, one.intercept_)
    assert (run.n_epochs, str(run.reason)) == (one.n_iter_, one.stop_reason_)


def test_a_hand_made_round() -> None:
    """Two shards of one row each: (1, 0) is +1, (0, 1) is -1; both err at w = 0, ties."""
    X, y = [[1.0, 0.0], [0.0, 1.0]], [1, -1]
    run = trained(X, y, {1}, shuffle=False, fit_intercept=False, max_iter=9)
    assert run.weighted_mistakes.tolist() == [1.0]
    assert run.trace().mistakes.tolist() == [2, 0]
    assert run.kept()[0].tolist() == [[0.5, -0.5]]
    both = trained(
        [*X, [0.0, 2.0]], [1, -1, -1], {1}, shuffle=False, mixing="mistakes", max_iter=1, tol=None
    )
    # shard 1 stops at (0, -1 | -1), which has its second row right: one update each
    assert both.weighted_mistakes.tolist() == [1.0]


def test_mixing_by_mistakes_leaves_out_shards_that_made_none() -> None:
    def mean(*shards: tuple[float, float]) -> Any:
        terms = [term(np.array([[0.0, w]]), None, np.array([mu])) for w, mu in shards]
        theta, _ = mixed(added(terms), np.array([[0.0, 1.0]]), None, 2)
        return theta.tolist()

    assert mean((1.0, 0.0), (4.0, 3.0)) == [[0.0, 4.0]]
    assert mean((1.0, 1.0), (4.0, 1.0)) == [[0.0, 2.5]]


@pytest.mark.parametrize("intercept", [True, False])
def test_arow_with_full_covariance_adds_up_exactly(intercept: bool) -> None:
    """The mixture is ridge regression on the rows that moved some shard."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    y = np.where(X @ [1, -2, 0.5, 0] + 0.3 * rng.normal(size=60) > 0, 1, -1)
    run = trained(
        X, y, {20, 35}, rule="arow(r=0.5,covariance=full)", shuffle=False, max_iter=1,
        fit_intercept=intercept, tol=None,
    )  # fmt: skip
    A = np.column_stack([np.full(60, float(intercept)), X])
    P, pull = np.eye(5), np.zeros(5)
    for rows in (range(20), range(20, 35), range(35, 60)):
        S, theta = np.eye(5), np.zeros(5)
        for i in rows:
            if y[i] * (A[i] @ theta) >= 1:
                continue
            gain = S @ A[i] / (A[i] @ S @ A[i] + 0.5)
            theta = theta + gain * (y[i] - A[i] @ theta)
            S = S - np.outer(gain, S @ A[i])
            P, pull = P + np.outer(A[i], A[i]) / 0.5, pull + y[i] * A[i] / 0.5
    w, b = run.kept()
    assert np.allclose(np.append(b, w), np.linalg.solve(P, pull), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rule", ["pa1", "arow"])
@pytest.mark.parametrize("keep", ["last", "average"])
def test_other_rules_and_averages_learn(rule: str, keep: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = np.where(X[:, 0] - X[:, 1] > 0.3, 1, 0)
    run = trained(X, y, {80, 150, 200}, rule=rule, keep=keep, max_iter=10)
    w, b = run.kept()
    assert np.mean((X @ w[0] + b >= 0) == y) > 0.97


def test_the_average_counts_every_visit_of_every_shard_once() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.integers(-3, 4, (40, 3)), rng.integers(0, 2, 40)
    run = trained(X, y, {10, 17}, keep="average", shuffle=False, max_iter=1, tol=None)
    total, signs = np.zeros(4), 2 * y - 1
    A = np.column_stack([np.ones(40), X])
    for rows in (range(10), range(10, 17), range(17, 40)):
        theta = np.zeros(4)
        for i in rows:
            if signs[i] * (A[i] @ theta) <= 0:
                theta = theta + signs[i] * A[i]
            total += theta
    w, b = run.kept()
    assert np.allclose(np.append(b, w), total / 40, rtol=1e-14, atol=1e-15)


def test_many_classes_direct_and_one_against_the_rest() -> None:
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    X, y = X[order], y[order]
    for multiclass in ("ovr", "direct"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one = Perceptron(multiclass=multiclass, keep="average", max_iter=50).fit(X, y)
        run = trained(X, y, {50, 100}, multiclass=multiclass, keep="average", max_iter=50)
        w, b = run.kept()
        assert w.shape == (3, 4)
        assert np.mean((X @ w.T + b).argmax(axis=1) == y) > one.score(X, y) - 0.05


@pytest.mark.parametrize(("mode", "epoch"), [("online", 1), ("batch", 2)])
def test_an_overflow_names_the_epoch(mode: str, epoch: int) -> None:
    X, y = np.array([[1e200], [3e200], [1.0], [-1.0]]), [0, 1, 1, 0]
    asked: dict[str, Any] = {"mode": mode, "tol": None, "shuffle": False, "max_iter": 9}
    with pytest.raises(OverflowedError) as one:
        Perceptron(**asked).fit(X, y)
    with pytest.raises(OverflowedError) as many:
        trained(X, y, (2,), **asked)
    assert str(many.value) == str(one.value)
    assert f"epoch #{epoch}:" in str(many.value)


REFUSED = [
    ({"keep": "vote"}, NotSupportedError, "every hyperplane"),
    ({"keep": "pocket"}, NotSupportedError, "errors on all rows"),
    ({"rule": "minover"}, NotSupportedError, "all rows at every step"),
    ({"rule": "alma"}, NotSupportedError, "no guarantee for a mean"),
    ({"rule": "scw"}, NotSupportedError, "depend on its variances"),
    ({"rule": "arow(covariance=full)", "mixing": "mistakes"}, NotSupportedError, "adds up"),
    ({"shuffle": "sample"}, NotSupportedError, "draws from all rows"),
    ({"mode": "gossip"}, ParameterError, "'mode'"),
    ({"mixing": "median"}, ParameterError, "mixing must be"),
    ({"max_iter": 0}, ParameterError, "max_iter"),
    ({"mode": "batch", "rule": "pa1"}, NotSupportedError, "one row at a time"),
]


@pytest.mark.parametrize(("params", "error", "words"), REFUSED)
def test_what_has_no_meaning_is_refused(params: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        DaskPerceptron(**params)._settings()
