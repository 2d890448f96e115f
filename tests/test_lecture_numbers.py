"""The numbers of the five lectures that belong to learning, and their slips."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris

from rosenblatt import Perceptron
from rosenblatt.errors import ParameterError
from rosenblatt.learn import reference
from rosenblatt.learn.in_memory import train
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.state import State
from tests.strategies import TIES, integer_rows, problem

SUTD_X, SUTD_Y = [[1, 2], [-1, 2], [0, -1]], [1, -1, -1]
SUTD = {"fit_intercept": False, "shuffle": False, "tol": None, "init": [1, -0.8]}


def test_sutd_worked_example_update_by_update():
    clf = Perceptron(**SUTD, record="updates").fit(SUTD_X, SUTD_Y)
    steps = [(u.epoch, u.row, u.w.tolist()) for u in clf.trace_.record]
    assert steps == [
        (1, 0, [2.0, 1.2]),
        (1, 1, [3.0, -0.8]),
        (1, 2, [3.0, 0.19999999999999996]),
    ]
    assert clf.trace_.mistakes.tolist() == [3, 0]
    assert clf.stop_reason_ == "separated"
    assert clf.score(SUTD_X, SUTD_Y) == 1


def test_sutd_an_update_with_offset_raises_the_margin_by_norm_squared_plus_one():
    run = reference.train(SUTD_X, SUTD_Y, max_iter=1)
    w, b = [0, 0], 0
    for row, w_after, b_after in run.updates:
        x, y = SUTD_X[row], SUTD_Y[row]
        rise = y * reference.score(w_after, b_after, x) - y * reference.score(w, b, x)
        assert rise == sum(v * v for v in x) + 1
        w, b = w_after, b_after


def test_sutd_advertisement():
    #              repair reviews bought clicked
    users = np.array([[0, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 1], [0, 1, 1, 1], [0, 0, 0, 0]])
    clicks = ["no", "yes", "yes", "no", "no"]
    clf = Perceptron(shuffle=False, init=[2, 8, -15, 5, -9]).fit(users, clicks)
    assert clf.n_updates_ == 0  # the lecture's weights already say it
    assert clf.decision_function(users).tolist() == [-1, 1, 4, -11, -9]
    assert clf.predict(users).tolist() == clicks
    assert (users[3] * clf.coef_[0]).tolist() == [0, 8, -15, 5]  # the contributions


@pytest.mark.parametrize(
    ("y", "score", "case", "e"),
    [(1, 1, "TP", 0), (0, -1, "TN", 0), (1, -1, "FN", 1), (0, 1, "FP", -1)],
)
def test_cisc271_tables_30_1_and_30_2(y, score, case, e):
    """e = y - heaviside(score); w <- w + e x: closer after a FN, farther after a FP."""
    x, start = np.array([1.0, 2.0]), np.array([score / 5, score * 2 / 5])  # start.x = score
    assert start @ x == score
    clf = Perceptron(
        tie="positive", fit_intercept=False, shuffle=False, tol=None, max_iter=1, init=start
    )
    rows = np.array([x, np.zeros(2)])  # a row of zeros brings the other label and moves nothing
    clf.fit(rows, [y, 1 - y])
    moved = clf.coef_[0] - start
    np.testing.assert_allclose(moved, e * x, atol=1e-15)

    def angle(w):
        return np.arccos(np.clip(w @ x / np.linalg.norm(w) / np.linalg.norm(x), -1, 1))

    if case == "FN":
        assert angle(clf.coef_[0]) < angle(start)
    elif case == "FP":
        assert angle(clf.coef_[0]) > angle(start)


def test_cisc271_batch_equation_30_4():
    """w_k = w_{k-1} + X^T (y - q) with labels 0 and 1, q = heaviside(Xw), heaviside(0) = 1."""
    X, species = load_iris(return_X_y=True)
    y = (species == 0).astype(int)
    augmented = np.hstack([X, np.ones((150, 1))])
    w = np.array([1.0, -1.0, 2.0, 0.5, 0.25])
    start = w.copy()
    for _ in range(5):
        w = w + augmented.T @ (y - (augmented @ w >= 0))
    clf = Perceptron(mode="batch", tie="positive", init=start, tol=None, max_iter=5).fit(X, y)
    np.testing.assert_allclose(np.append(clf.coef_, clf.intercept_), w, rtol=1e-12)


def test_cisc271_matlab_heaviside_takes_half_steps():
    run = reference.train([[2], [-2]], [1, -1], tie="half", intercept=False)
    assert [w for _, w, _ in run.updates] == [[1.0]]  # half of 1 * 2, once


def test_cisc271_iris_from_four_random_starts():
    """Figure 30.1: four different hyperplanes, all correct, some close to one class."""
    X, species = load_iris(return_X_y=True)
    y = species == 0
    planes, nearest = [], []
    for seed in range(4):
        clf = Perceptron(
            init="random", random_state=seed, eta0=0.01, shuffle=False, tol=None, max_iter=10_000
        ).fit(X, y)
        assert clf.stop_reason_ == "separated"
        assert clf.score(X, y) == 1
        norm = np.linalg.norm(clf.coef_)
        distance = np.abs(clf.decision_function(X)) / norm
        planes.append(np.append(clf.coef_, clf.intercept_) / norm)
        nearest.append(sorted([distance[y].min(), distance[~y].min()]))
    for a in range(4):
        for b in range(a):
            assert np.abs(planes[a] - planes[b]).max() > 0.05
    assert min(low / high for low, high in nearest) < 0.25  # much closer to one class


def test_iris_only_setosa_separates_from_the_rest():
    X, species = load_iris(return_X_y=True)
    X = np.round(X * 10)  # tenths of a millimetre: whole numbers, exact sums
    reasons = [
        Perceptron(shuffle=False, tol=None, max_iter=3000).fit(X, species == k).stop_reason_
        for k in range(3)
    ]
    assert reasons[0] == "separated"
    assert "separated" not in reasons[1:]


# ------------------------------------------------------------------------------ slips


def test_slip_1_chan_from_zero_learns_nothing():
    with pytest.raises(ParameterError, match="nothing would ever be learned"):
        Perceptron(tie="correct").fit(SUTD_X, SUTD_Y)
    run = reference.batch(SUTD_X, SUTD_Y, tie="correct")
    assert run.stop_reason == "separated"  # the lecture's loop: content with theta = 0
    assert run.weights == ([0, 0], 0)


def test_slip_1_the_origin_can_be_reached_from_elsewhere():
    clf = Perceptron(tie="correct", fit_intercept=False, init=[-1.0], shuffle=False)
    with pytest.warns(UserWarning, match="ended at w = 0"):
        clf.fit([[1.0], [-1.0]], [1, -1])
    assert not clf.coef_.any()


@given(rows=integer_rows(), tie=st.sampled_from(TIES))
def test_slip_2_flipping_negatives_matters_only_for_positive_ties(rows, tie):
    """D+: x <- -x, y <- +1 for every negative example (the offset's 1 is flipped too)."""
    X, y = rows
    X = [[*x, 1] for x in X]
    flipped = [[v * label for v in x] for x, label in zip(X, y, strict=True)]

    def weights(rows, labels):
        state = State.at([0] * len(rows[0]), [0], np.float64)
        update = TrainingSettings(tie=tie, fit_intercept=False)
        trace, *_ = train(problem(rows, labels), replace(update, max_iter=20), state=state)
        return state.w[0].tolist(), trace.n_mistakes

    if tie == "positive":
        assert weights(flipped, [1] * len(X)) == ([0] * len(X[0]), 0)
        assert weights(X, y)[1] > 0
    else:
        assert weights(X, y) == weights(flipped, [1] * len(X))


def test_slip_3_equality_at_a_score_of_zero():
    """||w_l||^2 = ||w_{l-1}||^2 + ||x||^2, not <, at every update made at a score of 0."""
    X, y = [[1, 0], [0, 1], [1, 1]], [1, 1, 1]
    run = reference.train(X, y, intercept=False)
    squares = [0] + [sum(v * v for v in w) for _, w, _ in run.updates]
    sizes = [sum(v * v for v in X[row]) for row, _, _ in run.updates]
    assert len(run.updates) == 2  # the second at a score of 0 too
    assert squares == [0, sizes[0], sizes[0] + sizes[1]]


def test_slip_6_predicted_right_and_counted_wrong():
    clf = Perceptron(fit_intercept=False, shuffle=False, tol=None, max_iter=1)
    clf.fit([[0.0], [-1.0]], [1, -1])
    assert clf.n_mistakes_ == 2  # the row of zeros scores 0 and counts as a mistake ...
    assert clf.predict([[0.0]]) == [1]  # ... and is predicted as what it is


@given(rows=integer_rows(), power=st.integers(-20, 20), keep=st.sampled_from(["last", "average"]))
def test_slip_7_the_learning_rate_only_rescales_from_zero(rows, power, keep):
    X, y = rows
    one, other = (
        Perceptron(eta0=eta, shuffle=False, tol=None, max_iter=15, keep=keep).fit(X, y)
        for eta in (1.0, 2.0**power)
    )
    assert one.trace_.mistakes.tolist() == other.trace_.mistakes.tolist()
    assert np.array_equal(one.coef_ * 2.0**power, other.coef_)


def test_slip_7_another_start_makes_it_matter():
    counts = {
        eta: Perceptron(**{**SUTD, "init": [-9, 4]}, eta0=eta).fit(SUTD_X, SUTD_Y).n_mistakes_
        for eta in (0.125, 1.0)
    }
    assert counts[0.125] > counts[1.0]


def test_slip_10_areas_are_those_of_discs_of_the_mean_radius():
    """The diagnostic set has the same columns: what comes first is a radius, not a size."""
    X, _ = load_breast_cancer(return_X_y=True)
    assert np.median(X[:, 3] / (np.pi * X[:, 0] ** 2)) == pytest.approx(1, rel=0.02)


def test_slip_10_tumor_size_is_the_mean_radius(shared_data):
    rows = [line.split(",") for line in (shared_data / "wpbc" / "wpbc.data").read_text().split()]
    first = next(r for r in rows if r[3] == "18.02")
    outcome, time, radius, texture, perimeter, area = first[1], *map(float, first[2:7])
    assert (outcome, time, texture, perimeter) == ("N", 31, 27.6, 117.5)  # the lecture's row
    assert area == pytest.approx(np.pi * radius**2, rel=0.05)  # a radius, not a size
    assert float(first[33]) == 5.0  # the tumour's size stands elsewhere


@given(rows=integer_rows(), scale=st.sampled_from([1, 0.5, 2.0**-20]))
def test_slip_4_the_soft_loss_is_zero_at_zero_and_scales(rows, scale):
    """J_soft(0) = 0 on any data, and J_soft(c theta) = c J_soft(theta): no minimum above 0."""
    X, y = np.array(rows[0]), np.array(rows[1])

    def soft(w, b):
        return np.maximum(-y * (X @ w + b), 0).sum()

    w, b = np.arange(1, X.shape[1] + 1.0), 1.0
    assert soft(0 * w, 0 * b) == 0
    assert soft(scale * w, scale * b) == scale * soft(w, b)


def test_slip_5_the_logistic_function_tends_to_a_step_not_to_the_sign():
    x = np.array([-1.0, 1.0])
    h = 1 / (1 + np.exp(-500 * x))
    np.testing.assert_allclose(h, [0, 1], atol=1e-200)
    np.testing.assert_allclose(2 * h - 1, np.sign(x), atol=1e-200)


def test_slip_8_convex_without_a_minimiser():
    """The logistic loss of separable data falls for ever along a separator, and stays > 0."""
    clf = Perceptron(**SUTD).fit(SUTD_X, SUTD_Y)
    margins = np.array(SUTD_Y) * clf.decision_function(SUTD_X)
    losses = [np.log1p(np.exp(-c * margins)).sum() for c in (1, 2, 4, 8, 16)]
    assert all(a > b > 0 for a, b in itertools.pairwise(losses))
