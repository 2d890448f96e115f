"""Sketch: rows rounded to 16 bits find the same updates, to the last bit."""

import threading
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from rosenblatt.errors import OverflowedError
from rosenblatt.learn import kernels, sketch, training
from rosenblatt.learn.keep import State
from rosenblatt.learn.kernels import sketches
from rosenblatt.learn.rules import Margin, Rosenblatt
from rosenblatt.learn.schedule import Schedule
from rosenblatt.learn.training import Stop, train
from rosenblatt.learn.update import Update
from tests.learn.any_run import ANY_RUN, assert_as_the_reference
from tests.learn.test_against_reference import PASSES
from tests.learn.test_shortcuts import NEVER, close_calls
from tests.learn.test_shortcuts import using as gram
from tests.strategies import problem

ALWAYS = {"SMALLEST": 0, "SHORTEST": 0, "MAKING": 0, "IN_ORDER": np.inf, "SHUFFLED": np.inf}
OFF = {"SMALLEST": 2**62}
KINDS = [("dense", np.float64), ("dense", np.float32)]


def using(**constants):
    return patch.multiple(sketch, **constants)


@given(**ANY_RUN, kind=st.sampled_from(KINDS))
def test_a_sketch_finds_what_the_reference_finds(**run):
    with gram(**NEVER), using(**ALWAYS):
        assert_as_the_reference(**run)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(4, 60),
    d=st.integers(1, 600),
    kind=st.sampled_from(KINDS),
    spread=st.sampled_from([0.0, 1.0, 6.0]),
    schedule=st.sampled_from(list(PASSES)),
    eta=st.sampled_from([1e-30, 0.1, 1.0, 1e5, 1e25]),
    tau=st.sampled_from([None, 0.3]),
    weighted=st.booleans(),
)
def test_the_same_bits_as_the_plain_loop(seed, n, d, kind, spread, schedule, eta, tau, weighted):
    X, y = close_calls(seed, n, d, kind[1], spread)
    X[-1, 0] *= 1e9 if seed % 2 else 1e-40
    weight = np.random.default_rng(seed).choice([0.0, 0.3, 1.0, 2.5], n) if weighted else None
    if weighted:
        weight[0] = 1.0
    rule = Rosenblatt() if tau is None else Margin(tau)
    runs = []
    for constants in (ALWAYS, OFF):
        state = State.at(np.zeros(d), [0], kind[1])
        try:
            with gram(**NEVER), using(**constants):
                trace, w, b = train(
                    problem(X, y, *kind, weight=weight), Update(rule=rule, eta0=eta),
                    Schedule(schedule, seed % 2**31), "average", Stop(max_iter=30, tol=1e-9), state,
                )  # fmt: skip
        except OverflowedError as e:  # float32 has no room for all of this: then both say so
            runs.append([str(e), state.w.tobytes()])
            continue
        parts = (w, b, state.w, state.b, trace.mistakes, trace.loss, trace.norms)
        runs.append([np.asarray(p).tobytes() for p in parts] + [state.visits, trace.stop_reason])
    assert runs[0] == runs[1]


@njit
def rough(short, i, v):  # kernels have no Python wrapper of their own
    return sketches.rough(short, i, v)


@njit
def renew(w, b, made):
    sketches.renew(w, b, made)


@given(
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from([np.float64, np.float32]),
    d=st.sampled_from([1, 7, 40, 300]),
    spread=st.sampled_from([0.0, 2.0]),
    size=st.sampled_from([1e-12, 1.0, 1e12]),
)
def test_the_bound_on_rounded_margins_holds(seed, dtype, d, spread, size):
    """|rounded - exact| <= SPAN s + FLOOR, in fractions."""
    X, _ = close_calls(seed, 6, d, dtype, spread)
    rng = np.random.default_rng(seed)
    w, b = size * rng.standard_normal(d), size * rng.standard_normal()
    made = sketch.sketch(X)
    renew(w, b, made)
    reach, floor = made.state[[kernels.SPAN, kernels.FLOOR]]
    length = size * np.sqrt(d) * (1 + np.abs(X).max(axis=1))
    for i, x in enumerate(X):
        terms = (Fraction(float(a)) * Fraction(v) for a, v in zip(x, w, strict=True))
        s = float(made.scale[i])
        rounded = s * rough(made.short, i, made.v) + b
        assert abs(Fraction(rounded) - sum(terms, Fraction(b))) <= Fraction(reach * s + floor)
        assert reach * s + floor <= 1e-3 * (np.sqrt(d) + 5) * length[i]  # and says something


def test_rows_that_cannot_be_rounded_are_looked_at():
    X = np.array([[1e200, 1.0], [-1e200, 1.0], [1.0, 2.0], [0.0, 0.0], [1e-300, 0.0]])
    made = sketch.sketch(X)
    assert np.isinf(made.scale[:2]).all()
    assert np.isfinite(made.scale[2:]).all()
    assert not made.short[3:].any()
    assert (made.scale[2] * made.short[2, :2] == X[2]).all()


@pytest.mark.parametrize("constants", [ALWAYS, OFF])
def test_overflow_is_seen(constants):
    X = np.array([[1e200], [-1e200], [1.0]])
    state = State.at([0], [0], np.float64)
    with gram(**NEVER), using(**constants), pytest.raises(OverflowedError, match="epoch #"):
        train(
            problem(X, [-1, 1, 1]), Update(eta0=1e150), Schedule(), "last", Stop(max_iter=50), state
        )


def choice(n=20_000, d=100, possible=True, max_iter=100, in_order=False):
    return sketch.Sketching(kernels.Dense(np.ones((n, d))), in_order, possible, max_iter)


def test_on_when_it_pays_and_off_when_not():
    few, many = np.full(4, 1_000), np.full(4, 9_000)
    assert choice().after(few).scale.size == 20_000
    assert choice(in_order=True).after(few).scale.size == 0  # too many in order
    assert choice(in_order=True).after(few // 10).scale.size == 20_000
    assert choice().after(few[:1]).scale.size == 0  # too early
    assert choice(max_iter=8).after(few).scale.size == 0  # too late
    assert choice(n=2_000).after(few).scale.size == 0  # too small
    assert choice(n=200_000, d=10).after(few).scale.size == 0  # rows too short
    assert choice().after(many).scale.size == 0
    assert choice(possible=False).after(few).scale.size == 0
    on = choice()
    on.after(few)
    assert on.after(few).scale.size == 20_000
    assert on.after(many).scale.size == 0
    assert on.after(few).scale.size == 0  # it had its chance
    on = choice()
    on.after(few).state[kernels.VAIN] = 20_000 * 4
    assert on.after(few).scale.size == 0


@pytest.mark.threads
def test_other_threads_go_on_during_a_fit():
    """The compiled loop does not hold the interpreter."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2_000, 50)), np.where(rng.random(2_000) < 0.5, -1, 1)
    stop, counted = threading.Event(), [0]

    def count():
        while not stop.wait(0.001):
            counted[0] += 1

    made = problem(X, y)
    run = training._Run(
        made, Update(), Schedule(), "last", Stop(max_iter=10**6),
        State.at(np.zeros(50), [0], np.float64), False, None,
    )  # fmt: skip
    other = threading.Thread(target=count)
    other.start()
    try:
        # one call into the compiled loop, of milliseconds, then of twice as many, ...: however
        # long, a loop that holds the interpreter lets the other count once or twice
        passes, before = 100, counted[0]
        while counted[0] - before < 10 and passes < 100_000:
            passes, before = 2 * passes, counted[0]
            run.advance(passes)
        assert counted[0] - before >= 10
    finally:
        stop.set()
        other.join()
