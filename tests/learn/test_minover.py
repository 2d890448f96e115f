"""Minover: the same steps as the reference, and an interval that holds the largest margin."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from rosenblatt import MinOver, Perceptron, max_margin
from rosenblatt.errors import NotSupportedError, OverflowedError, ParameterError
from rosenblatt.learn import reference, rules
from rosenblatt.learn.in_memory import train
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.state import State
from tests.learn.test_against_reference import KINDS, same
from tests.real_data import rows_of
from tests.strategies import integer_rows, problem, separable_rows

XOR = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]


@given(
    rows=integer_rows(),
    kind=st.sampled_from(KINDS),
    intercept=st.booleans(),
    gap=st.sampled_from([0.5, 0.1]),
    steps=st.sampled_from([7, 10_000]),
    column_bytes=st.sampled_from([1, 2**28]),  # room for one column, or all
    max_updates=st.sampled_from([20, 200]),
    keep=st.sampled_from(["last", "average"]),
    record=st.booleans(),
)
def test_compiled_is_the_reference(
    rows, kind, intercept, gap, steps, column_bytes, max_updates, keep, record
):
    X, y = rows
    run = reference.minover(
        X, y, gap=gap, intercept=intercept, steps=steps, max_iter=20, max_updates=max_updates
    )
    update = TrainingSettings(rule=MinOver(gap), fit_intercept=intercept)
    state = State.at([0] * len(X[0]), [0], kind[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "MOST_STEPS", steps)
        patch.setattr(rules, "GRAM_BYTES", column_bytes)
        trace, w, b = train(
            problem(X, y, *kind),
            replace(
                update,
                order="shuffle",
                keep=keep,
                max_iter=20,
                max_updates=max_updates,
                tol=1e-3,
                cycle=False,
                record=record,
            ),
            state=state,
            seed=1,
        )
    # a run that was closed by the last pass allowed was not seen to move nothing in another
    assert trace.stop_reason == run.stop_reason or trace.n_epochs == 20
    assert trace.n_updates == len(run.visits)
    assert trace.mistakes[: len(run.mistakes)].tolist() == run.mistakes
    same((state.w, state.b), run.weights)
    if keep == "average" and run.visits:
        mean = reference.average(run)
        same((w, b), ([kind[1](v) for v in mean[0]], kind[1](mean[1])))
    if record:
        assert [(u.row, u.w.tolist(), u.b[0]) for u in trace.record] == run.updates


def margin_square(X, y, w, b, intercept):
    """The signed square of the margin of (w, b), without rounding."""
    w, b = [Fraction(float(v)) for v in w], Fraction(float(b))
    low = min(
        label * (sum(a * Fraction(float(c)) for a, c in zip(w, x, strict=True)) + b)
        for x, label in zip(X, y, strict=True)
    )
    return abs(low) * low / (sum(v * v for v in w) + b * b)


@given(
    drawn=separable_rows(),
    intercept=st.booleans(),
    scale=st.sampled_from([1.0, 0.1]),  # exact sums, or rounded ones
    kind=st.sampled_from(KINDS),
)
def test_99_percent_of_the_largest_margin_and_an_interval_that_holds_it(
    drawn, intercept, scale, kind
):
    X, y, u, _ = drawn
    if not intercept:
        rows = [(x, np.dot(u, x)) for x in X]
        X, y = [x for x, s in rows if s], [int(np.sign(s)) for _, s in rows if s]
    assume(len(set(y)) == 2)
    X = (scale * np.array(X)).astype(kind[1])
    rows = X if kind[0] == "dense" else sp.csr_matrix(X)
    clf = Perceptron(rule="minover", fit_intercept=intercept).fit(rows, y)
    found = max_margin(X, y, fit_intercept=intercept, augmented=True)
    interval = clf.trace_.margin
    assert clf.stop_reason_ == "separated"
    assert interval.lower <= found.upper
    assert found.lower <= interval.upper
    assert interval.lower >= 0.99 * found.lower * (1 - 1e-12)
    assert interval.augmented == intercept
    square = margin_square(X, y, clf.coef_[0], clf.intercept_[0], intercept)
    assert Fraction(interval.lower) ** 2 <= square
    assert Fraction(interval.upper) ** 2 >= square
    assert clf.certificate(X, y).verdict == "separable"


@given(rows=integer_rows(), intercept=st.booleans(), max_updates=st.integers(1, 100))
def test_the_interval_is_true_at_every_step_and_whatever_the_rows(rows, intercept, max_updates):
    X, y = rows
    clf = Perceptron(
        rule=MinOver(0.001), fit_intercept=intercept, max_updates=max_updates, tol=None
    ).fit(X, y)
    interval, (w, b) = clf.trace_.margin, (clf.coef_[0], clf.intercept_[0])
    if w.any() or b:
        square = margin_square(X, y, w, b, intercept)
        lower = Fraction(interval.lower)
        assert abs(lower) * lower <= square
        assert square <= Fraction(interval.upper) ** 2
    length = sum(Fraction(float(v)) ** 2 for v in [*w, b])
    assert length <= (Fraction(interval.upper) * clf.n_updates_) ** 2


def test_iris_setosa():
    X, y = load_iris(return_X_y=True)
    found = max_margin(X, y == 0, augmented=True)
    kinds = (X.astype(np.float32), sp.csr_matrix(X), X)
    for rows in kinds:
        clf = Perceptron(rule="minover").fit(rows, y == 0)
        assert (clf.stop_reason_, clf.n_iter_, clf.n_mistakes_) == ("separated", 2, 25)
        assert clf.n_updates_ == 774
        interval = clf.trace_.margin
        assert interval.lower < found.lower
        assert found.upper < interval.upper
        assert interval.lower > 0.99 * found.upper
    assert "largest margin between 0.747986 and 0.755449 (offset counted" in str(clf.trace_)
    mean = Perceptron(rule="minover", keep="average").fit(X, y == 0)
    assert mean.trace_.margin.lower == pytest.approx(interval.lower)  # of the last weights
    assert mean.score(X, y == 0) == 1.0


@pytest.mark.parametrize("name", ["sonar", "wine 1 2"])
def test_a_thin_margin_is_not_reached_and_nothing_is_claimed(name):
    X, y = rows_of(name)
    clf = Perceptron(rule="minover", max_iter=20, tol=None).fit(X, y)
    found, interval = max_margin(X, y, augmented=True), clf.trace_.margin
    assert clf.stop_reason_ == "max_iter"
    assert interval.lower < 0 < found.upper < interval.upper < 3 * found.upper
    assert "if there is one" in str(clf.trace_)


def test_rows_that_nothing_separates():
    clf = Perceptron(rule="minover").fit(*XOR)
    assert clf.stop_reason_ == "cycle"
    assert clf.trace_.cycle.exact
    assert clf.certificate(*XOR).verdict == "overlapping"
    assert clf.trace_.margin.upper < 1e-14
    with pytest.warns(UserWarning, match="Maximum number of iteration"):
        clf = Perceptron(rule="minover", max_iter=3).fit([[0.1], [0.3], [0.7]], [0, 1, 0])
    assert clf.stop_reason_ == "max_iter"
    point = Perceptron(rule="minover", fit_intercept=False).fit([[0.0], [1.0]], [0, 1])
    assert point.stop_reason_ == "cycle"


def test_rows_without_weight_and_rows_held_out_are_left_out():
    X, y = load_iris(return_X_y=True)
    used = np.arange(150) % 3 > 0
    clf = Perceptron(rule="minover").fit(X, y == 0, sample_weight=used)
    part = Perceptron(rule="minover").fit(X[used], (y == 0)[used])
    assert np.array_equal(clf.coef_, part.coef_)
    assert clf.n_updates_ == part.n_updates_
    assert clf.trace_.margin == part.trace_.margin
    early = Perceptron(rule="minover", early_stopping=True, tol=None).fit(X, y == 0)
    assert early.trace_.n_rows == 135
    assert early.stop_reason_ == "separated"


def test_one_against_the_rest_and_the_order_of_visits_means_nothing():
    X, y = load_iris(return_X_y=True)
    clf = Perceptron(rule="minover", max_iter=2, tol=None).fit(X, y)
    other = Perceptron(rule="minover", max_iter=2, tol=None, shuffle="sample", random_state=7)
    assert np.array_equal(clf.coef_, other.fit(X, y).coef_)
    assert clf.trace_[0].stop_reason == "separated"
    assert "class 0: largest margin between" in str(clf.trace_)
    assert "class 1: largest margin at most" in str(clf.trace_)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"keep": "vote"}, "keep='last'"),
        ({"keep": "pocket"}, "keep='last'"),
        ({"init": "random"}, "init='zero'"),
        ({"init": [1.0, 0.0]}, "init='zero'"),
        ({"penalty": "l2"}, "penalty=None"),
        ({"mode": "batch"}, "mode='online'"),
        ({"eta0": 2.0}, "Leave eta0 out"),
        ({"class_weight": {0: 2.0}}, "0 to leave rows out"),
        ({"weighting": "repeat"}, "weighting='scale'"),
    ],
)
def test_what_it_cannot_do_it_says(params, words):
    with pytest.raises(NotSupportedError, match=words):
        Perceptron(rule="minover", **params).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


def test_what_else_it_cannot_do():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotSupportedError, match="multiclass='ovr'"):
        Perceptron(rule="minover", multiclass="direct").fit(X, y)
    with pytest.raises(NotSupportedError, match="warm_start=False"):
        Perceptron(rule="minover", warm_start=True).fit(X, y == 0).fit(X, y == 0)
    for gap in (0.0, 1.0, "0.1"):
        with pytest.raises(ParameterError, match="gap must be between 0 and 1"):
            MinOver(gap)
    for large in (1e150, 1e200):
        with pytest.raises(OverflowedError, match="Scale the data"):
            Perceptron(rule="minover").fit([[large], [-large]], [0, 1])
