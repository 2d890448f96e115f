"""The losses against their definitions, finite differences and chan's identities; the minimum."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import Perceptron, read, separability, soft_minimum
from rosenblatt.errors import (
    DataError,
    LabelError,
    NotSupportedError,
    ParameterError,
    UndecidedError,
)
from rosenblatt.theory import losses
from rosenblatt.theory.soft_minimum import soft_path
from tests.strategies import integer_rows

SMOOTH = ["logistic", "squared"]
CONVEX = ["soft", "hinge", "logistic", "squared"]
whole = st.integers(-5, 5)


@st.composite
def scored_rows(draw):
    """Rows, and an integer hyperplane: margins are exact, and often 0 or 1."""
    X, y = draw(integer_rows())
    w = draw(st.lists(whole, min_size=len(X[0]), max_size=len(X[0])))
    return np.array(X, dtype=float), np.array(y), np.array(w, dtype=float), float(draw(whole))


def plain(loss, s):
    """The definitions, one margin at a time."""
    return {
        "hard": lambda: 1.0 if s < 0 else 0.0,
        "soft": lambda: max(-s, 0.0),
        "hinge": lambda: max(1 - s, 0.0),
        "logistic": lambda: math.log(1 + math.exp(-s)),
        "squared": lambda: (1 - s) ** 2,
    }[loss]()


@given(loss=st.sampled_from(list(losses.LOSSES)), rows=scored_rows())
def test_values_are_sums_of_the_definition(loss, rows):
    X, y, w, b = rows
    margins = y * (X @ w + b)
    expected = sum(plain(loss, s) for s in margins.tolist())
    assert losses.value(loss, X, y, w, b) == pytest.approx(expected, rel=1e-13, abs=1e-13)
    assert losses.value(loss, sp.csr_matrix(X), y, w, b) == losses.value(loss, X, y, w, b)
    mean = losses.value(loss, X, y, w[None], [b], mean=True)
    assert mean == pytest.approx(expected / len(y), rel=1e-13, abs=1e-13)


@given(loss=st.sampled_from(SMOOTH), rows=scored_rows())
def test_smooth_gradients_are_the_differences(loss, rows):
    X, y, w, b = rows
    at = np.append(w / 8, b / 8)

    def f(v):
        return losses.value(loss, X, y, v[:-1], v[-1])

    found = losses.gradient(loss, X, y, at[:-1], at[-1])
    step = 1e-5
    slopes = [(f(at + step * e) - f(at - step * e)) / (2 * step) for e in np.eye(len(at))]
    scale = 1 + np.abs(X).sum() ** 2
    np.testing.assert_allclose(np.append(found.w, found.b), slopes, atol=1e-8 * scale)


@given(
    loss=st.sampled_from(CONVEX), rows=scored_rows(), other=st.lists(whole, min_size=5, max_size=5)
)
def test_gradients_support_the_loss_from_below(loss, rows, other):
    """f(v) >= f(u) + g.(v - u): what a subgradient is, corners included."""
    X, y, w, b = rows
    v = np.array(other[: len(w) + 1], dtype=float)
    g = losses.gradient(loss, X, y, w, b)
    lower = losses.value(loss, X, y, w, b) + g.w @ (v[:-1] - w) + g.b * (v[-1] - b)
    assert losses.value(loss, X, y, v[:-1], v[-1]) >= lower - 1e-9 * (1 + abs(lower))
    sparse = losses.gradient(loss, sp.csr_matrix(X), y, w, b)
    np.testing.assert_allclose(sparse.w, g.w, rtol=1e-13, atol=1e-13)
    halved = losses.gradient(loss, X, y, w, b, mean=True)
    np.testing.assert_allclose(halved.w * len(y), g.w, rtol=1e-12, atol=1e-12)


@given(rows=scored_rows())
def test_the_soft_loss_is_minus_the_sum_over_the_misclassified(rows):
    """chan's re-defined loss, and its gradient; exact on integers."""
    X, y, w, b = rows
    M = losses.misclassified(X, y, w, b)
    assert losses.value("soft", X, y, w, b) == -(y[M] * (X[M] @ w + b)).sum()
    assert losses.value("hard", X, y, w, b) == len(M)
    g = losses.gradient("soft", X, y, w, b)
    np.testing.assert_array_equal(g.w, -(y[M] @ X[M]))
    assert g.b == -y[M].sum()


@pytest.mark.filterwarnings("ignore:Training ended at w = 0")
@given(rows=scored_rows(), steps=st.integers(1, 6))
def test_batch_mode_is_gradient_descent_on_the_soft_loss(rows, steps):
    X, y, w, b = rows
    start = np.append(w, b) if w.any() or b else np.ones(len(w) + 1)
    clf = Perceptron(mode="batch", tie="correct", tol=None, max_iter=steps, record="updates",
                     init=start)  # fmt: skip
    clf.fit(X, y)
    v = start.copy()
    for update in clf.trace_.record:
        g = losses.gradient("soft", X, y, v[:-1], v[-1])
        v = v - np.append(g.w, g.b)
        np.testing.assert_array_equal(np.append(update.w, update.b), v)


@given(rows=integer_rows())
def test_ties_are_what_the_conventions_say(rows):
    X, y = np.array(rows[0], dtype=float), np.array(rows[1])
    zero = np.zeros(X.shape[1])
    everyone = np.arange(len(y))
    for tie, expected in {
        "correct": everyone[:0],
        "mistake": everyone,
        "half": everyone,
        "positive": everyone[y < 0],
    }.items():
        np.testing.assert_array_equal(losses.misclassified(X, y, zero, tie=tie), expected)


def test_huge_margins_are_no_trouble():
    s = np.array([-1e308, -800.0, 0.0, 800.0, 1e308])
    np.testing.assert_array_equal(losses.logistic(s)[[0, 1, 3, 4]], [1e308, 800, 0, 0])
    np.testing.assert_array_equal(losses.squared(s)[[0, 2, 4]], [math.inf, 1, math.inf])
    np.testing.assert_array_equal(losses.hinge(s), [1e308, 801, 1, 0, 0])
    X, y = np.array([[1e300], [-1e300]]), [1, -1]
    assert losses.gradient("logistic", X, y, [-1.0]).w[0] == -2e300
    assert losses.gradient("logistic", X, y, [1.0]).w[0] == 0


def test_the_hard_loss_is_not_convex_and_the_soft_one_is():
    X, y = [[-1.0], [1.0]], [1, -1]
    hard, soft = ([losses.value(f, X, y, [w]) for w in (-1.0, 0.5, 2.0)] for f in ("hard", "soft"))
    assert hard == [0, 2, 2]
    assert hard[1] > (hard[0] + hard[2]) / 2
    assert soft == [0, 1, 4]
    assert soft[1] <= (soft[0] + soft[2]) / 2


# ------------------------------------------------------------------------- the minimum


def normalised(X, y, w, b):
    """J_soft / mean margin over the rationals."""
    plane = [Fraction(float(v)) for v in (*w, b)]
    rows = [[*map(Fraction, x), Fraction(1)] for x in X.tolist()]
    scores = [sum(p * v for p, v in zip(plane, x, strict=True)) for x in rows]
    s = [int(label) * score for label, score in zip(y, scores, strict=True)]
    return float(sum(max(-v, 0) for v in s) / (sum(s) / len(s)))


@given(rows=integer_rows(max_rows=9, max_features=3), intercept=st.booleans())
def test_the_minimum_is_zero_exactly_when_the_verdict_says_so(rows, intercept):
    X, y = np.array(rows[0], dtype=float), np.array(rows[1])
    found = soft_minimum(X, y, fit_intercept=intercept)
    verdict = separability(X, y, fit_intercept=intercept).verdict
    assert (found.value == 0.0) == (verdict != "overlapping")
    assert found.certificate.verdict == verdict
    z = y[:, None] * np.hstack([X, np.ones((len(X), int(intercept)))])
    assert found.feasible == z.sum(axis=0).any()
    if found.feasible:
        margins = y * (X @ found.w + found.b)
        assert margins.mean() == pytest.approx(1, rel=1e-9)
        assert not (found.b and not intercept)
        if found.value:
            assert normalised(X, y, found.w, found.b) == pytest.approx(found.value, rel=1e-9)
        else:
            assert margins.min() >= -1e-12
    else:
        assert np.isnan(found.w).all()
    for v in np.random.default_rng(0).normal(size=(20, X.shape[1] + 1)):  # none does better
        s = y * (X @ v[:-1] + intercept * v[-1])
        if s.mean() > 1e-6:
            assert np.maximum(-s, 0).sum() / s.mean() >= found.value - 1e-9


def soft_minimum_by_cvxpy(X, y, fit_intercept):
    """The problem as the lecture would type it into CVX."""
    cp = pytest.importorskip("cvxpy")
    scale = np.abs(X).max(axis=0)
    w, b = cp.Variable(X.shape[1]), cp.Variable() if fit_intercept else 0.0
    margins = cp.multiply(y, (X / scale) @ w + b)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.pos(-margins))), [cp.sum(margins) == len(y)])
    tight = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
    return problem.solve(solver=cp.CLARABEL, **tight)


@pytest.mark.parametrize("sparse", [False, True])
def test_cvxpy_agrees(sparse):
    rng = np.random.default_rng(0)
    for k in range(4 if sparse else 10):
        n, d = rng.integers(10, 40), rng.integers(1, 5)
        X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, size=d)
        y = np.where(np.arange(n) % 3, 1, -1)
        found = soft_minimum(sp.csr_matrix(X) if sparse else X, y, fit_intercept=bool(k % 2))
        expected = soft_minimum_by_cvxpy(X, y, bool(k % 2))
        assert found.value == pytest.approx(expected, rel=1e-8, abs=1e-8)
        assert found.solver == ("highs" if found.value else "certificate")


def test_separable_rows_have_the_hyperplane_of_the_certificate():
    X, y = [[1.0, 2.0], [-1.0, 2.0], [0.0, -1.0]], [1, -1, -1]
    found = soft_minimum(X, y)
    assert found.value == 0.0
    assert found.solver == "certificate"
    assert bool(found.certificate.verify(X, y))
    assert "exactly: the classes are separable" in str(found)


def test_a_table_that_was_read(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,kind\n0,no\n2,no\n1,yes\n3,yes\n")
    assert soft_minimum(read(path, target="kind")).value == pytest.approx(2.0, rel=1e-8)


def test_a_minimum_that_no_tolerance_would_see():
    """One ulp apart: separable. The other way round: overlapping, and the value is not 0."""
    near = 1.0 + 2.0**-52
    assert soft_minimum([[1.0], [near]], [0, 1]).value == 0.0
    crossed = soft_minimum([[0.0], [near], [1.0], [3.0]], [0, 0, 1, 1])
    assert crossed.certificate.verdict == "overlapping"
    assert 0 < crossed.value < 1e-12
    nothing = soft_minimum([[0.0], [1.0], [0.0], [1.0]], [0, 0, 1, 1])
    assert nothing.value == math.inf
    assert "no hyperplane has a positive mean margin" in str(nothing)


def test_the_path_of_batch_descent_comes_down_to_the_minimum():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    least = soft_minimum(X, y).value
    clf = Perceptron(mode="batch", tol=None, max_iter=3000, record="updates",
                     eta0=lambda k: 1 / math.sqrt(k)).fit(X, y)  # fmt: skip
    path = soft_path(clf.trace_, X, y)
    assert path.min() >= least - 1e-9
    assert path[-1] < 3 * least < np.median(path[:100])
    with pytest.raises(DataError, match='Train with record="updates"'):
        soft_path(Perceptron().fit(X, y).trace_, X, y)


def test_bad_calls_say_what_to_do():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    with pytest.raises(ParameterError, match="loss must be one of 'hard', 'soft'"):
        losses.value("huber", X, y, [1.0])
    with pytest.raises(NotSupportedError, match="Descend on 'soft'"):
        losses.gradient("hard", X, y, [1.0])
    with pytest.raises(DataError, match="w must be 1 number, got 2"):
        losses.value("soft", X, y, [1.0, 2.0])
    with pytest.raises(DataError, match="w holds NaN"):
        losses.value("soft", X, y, [math.nan])
    with pytest.raises(DataError, match="leaves the range of floats"):
        losses.value("soft", [[1e300], [1.0], [1.0]], y, [1e300])
    with pytest.raises(LabelError, match="needs two classes, got 3"):
        losses.value("soft", X, [0, 1, 2], [1.0])
    with pytest.raises(ParameterError, match="tie must be one of"):
        losses.misclassified(X, y, [1.0], tie="never")


def test_a_solver_that_gives_up_says_so(monkeypatch):
    def nothing(*args, **kwargs):
        from types import SimpleNamespace

        return SimpleNamespace(status=4, message="numerical difficulties")

    monkeypatch.setattr("scipy.optimize.linprog", nothing)
    with pytest.raises(UndecidedError, match="the minimum is positive"):
        soft_minimum([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
