"""The mistake bound holds for every run on separable data."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rosenblatt.learn.in_memory import train
from rosenblatt.learn.rules import Margin
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.state import State
from rosenblatt.prove.bounds import mistake_bound
from rosenblatt.prove.bounds.theorems import (
    Start,
    freund_schapire,
    hinge,
    novikoff,
    start_along,
)
from tests.strategies import TIES, problem, separable_rows


@given(
    rows=separable_rows(),
    tie=st.sampled_from(TIES),
    schedule=st.sampled_from(["order", "shuffle", "sample"]),
    intercept=st.booleans(),
)
def test_from_zero(rows, tie, schedule, intercept):
    X, y, u, v = rows
    assume(len(X) >= 2 and (intercept or v == 0))
    p = problem(X, y)
    state = State.at([0] * len(u), [0], np.float64)
    update = TrainingSettings(tie=tie, fit_intercept=intercept)
    trace, *_ = train(
        p, replace(update, order=schedule, max_iter=20_000, cycle=False), state=state, seed=7
    )
    bound = mistake_bound(p, np.array(u), v, intercept=intercept, tie=tie)
    assert trace.n_updates <= bound.mistakes
    assert trace.stop_reason == "separated"


@given(
    rows=separable_rows(),
    start=st.lists(st.integers(-20, 20), min_size=4, max_size=4),
    eta=st.sampled_from([0.25, 1.0, 3.0]),
    tie=st.sampled_from(TIES),
)
def test_from_another_start(rows, start, eta, tie):
    X, y, u, v = rows
    assume(len(X) >= 2)
    p = problem(X, y)
    w0, b0 = start[: len(u)], start[3]
    state = State.at(w0, [b0], np.float64)
    trace, *_ = train(p, TrainingSettings(eta0=eta, tie=tie, max_iter=20_000), state=state)
    bound = mistake_bound(p, np.array(u), v, eta=eta, tie=tie, start=(np.array(w0), b0))
    assert trace.stop_reason == "separated"
    assert trace.n_updates <= bound.mistakes


@given(rows=separable_rows(), tau=st.sampled_from([0.5, 4.0, 50.0]))
def test_margin_rule_keeps_its_promise(rows, tau):
    """At most (R^2 + 2 tau) / gamma^2 updates, at least gamma tau / (2 tau + R^2) of margin."""
    X, y, u, v = rows
    assume(len(X) >= 2)
    p = problem(X, y)
    state = State.at([0] * len(u), [0], np.float64)
    trace, w, b = train(p, TrainingSettings(rule=Margin(tau), max_iter=50_000), state=state)
    bound = mistake_bound(p, np.array(u), v, tau=tau)
    R, gamma = bound.radius, bound.margin
    assert trace.stop_reason == "separated"
    assert trace.n_updates <= bound.mistakes
    assert mistake_bound(p, w, b[0]).margin >= gamma * tau / (2 * tau + R * R) * (1 - 1e-12)


@given(rows=separable_rows())
def test_batch_mean_needs_as_few_steps_as_the_online_rule_mistakes(rows):
    X, y, u, v = rows
    assume(len(X) >= 2)
    p = problem(X, y)
    state = State.at([0] * len(u), [0], np.float64)
    trace, *_ = train(p, TrainingSettings(mode="batch-mean"), state=state)
    assert trace.stop_reason == "separated"
    assert trace.n_updates <= mistake_bound(p, np.array(u), v).mistakes


@given(
    growth=st.fractions(0, 50),
    gain=st.fractions("1/9", 5),
    v=st.lists(st.integers(-4, 4), min_size=2, max_size=2),
    w0=st.lists(st.integers(-9, 9), min_size=2, max_size=2),
)
def test_the_largest_m(growth, gain, v, w0):
    """M satisfies the inequality, and nothing above it does: tried one by one."""
    start = start_along([Fraction(c) for c in v], [Fraction(c) for c in w0], Fraction(1))

    def allowed(steps, squares):
        reach = start.along + steps * gain
        return reach <= 0 or reach**2 <= start.square + squares * growth

    most = novikoff(growth, gain, start)
    assume(most < 60)
    assert max(m for m in range(80) if allowed(m, m)) == math.floor(most)
    half = math.floor(novikoff(growth, gain, start, half=True))
    for n in range(half + 1, half + 4):
        for h in range(n + 1):
            assert not allowed(n - Fraction(h, 2), n - Fraction(3 * h, 4))


@given(
    growth=st.fractions(0, 50), loss=st.fractions(0, 50), n=st.integers(0, 2000), half=st.booleans()
)
def test_soft_bounds_solve_their_inequalities(growth, loss, n, half):
    """If n updates are above the bound, no losses of that size allow them."""
    a, D, L = math.sqrt(growth), math.sqrt(loss), float(loss)
    if n > freund_schapire(growth, loss, Start()) * (1 + Fraction(1, 10**9)):
        assert n - math.sqrt(n) * D > a * math.sqrt(n)
    if n > hinge(growth, loss, Start()) * (1 + Fraction(1, 10**9)):
        assert n - L > a * math.sqrt(n)
    start = Start(Fraction(-3), Fraction(25))
    if n > freund_schapire(growth, loss, start) * (1 + Fraction(1, 10**9)):
        assert -3 + n - math.sqrt(n) * D > 5 + a * math.sqrt(n)
    if n > hinge(growth, loss, start) * (1 + Fraction(1, 10**9)):
        assert -3 + n - L > 5 + a * math.sqrt(n)
    assert freund_schapire(growth, loss, start, half) >= freund_schapire(growth, loss, start)


def test_a_hyperplane_that_errs_allows_anything():
    p = problem([[1], [-1]], [1, -1])
    assert mistake_bound(p, np.array([-1.0])).mistakes == math.inf
    assert mistake_bound(p, np.array([0.0])).mistakes == math.inf


def test_radius_of_sparse_rows():
    p = problem([[3, 4], [0, 1]], [1, -1], "csr32")
    assert mistake_bound(p, np.zeros(2)).radius == pytest.approx(26**0.5)
