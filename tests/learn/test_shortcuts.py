"""Shortcuts: the same updates to the last bit, found at less cost."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import Perceptron
from rosenblatt.errors import OverflowedError
from rosenblatt.learn import kernels, shortcuts, training
from rosenblatt.learn.keep import State
from rosenblatt.learn.rules import Margin, Rosenblatt
from rosenblatt.learn.schedule import Schedule
from rosenblatt.learn.training import Stop, train
from rosenblatt.learn.update import Update
from tests.learn.any_run import ANY_RUN, assert_as_the_reference
from tests.learn.test_against_reference import KINDS as ALL_KINDS
from tests.learn.test_against_reference import PASSES
from tests.real_data import rows_of
from tests.strategies import SOAKED, problem

ALWAYS = {"UPDATES_PER_ENTRY": np.inf, "ALARMS_PER_VISIT": np.inf, "BLAS": np.inf, "MEMORY": 0}
ALWAYS["WORTH_COMPILING"] = 0.0
NEVER = {"MOST_ROWS": 0}
# each is compiled once more for kept margins
KINDS = ALL_KINDS[:3] if SOAKED else [ALL_KINDS[0], ALL_KINDS[2]]


def using(**constants):
    return patch.multiple(shortcuts, **constants)


@given(**ANY_RUN, kind=st.sampled_from(KINDS))
def test_kept_margins_find_what_the_reference_finds(**run):
    with using(**ALWAYS):
        assert_as_the_reference(**run)


def close_calls(seed, n, d, dtype, spread):
    """Rows of very different lengths, some twice, some mirrored, some a hair apart."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.exp(spread * rng.standard_normal((n, 1)))
    X[1] = X[0] * (1 + 1e-15)
    X[2] = -X[0]
    X[3] = X[0]
    y = np.where(rng.random(n) < 0.5, -1, 1)
    y[:2] = -1, 1
    return X.astype(dtype), y


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(4, 40),
    d=st.integers(1, 40),
    kind=st.sampled_from(KINDS),
    spread=st.sampled_from([0.0, 1.0, 6.0]),
    schedule=st.sampled_from(list(PASSES)),
    eta=st.sampled_from([1e-3, 0.1, 1.0, 1e5]),
    tau=st.sampled_from([None, 0.3]),
    weighted=st.booleans(),
    scale=st.sampled_from([1e-20, 1.0, 1e12, 1e26]),
    intercept=st.booleans(),
)
def test_the_same_bits_as_the_plain_loop(
    seed, n, d, kind, spread, schedule, eta, tau, weighted, scale, intercept
):
    X, y = close_calls(seed, n, d, np.float64, spread)
    X = (X * (scale if kind[1] is np.float64 else min(scale, 1e12))).astype(kind[1])
    weight = np.random.default_rng(seed).choice([0.0, 0.3, 1.0, 2.5], n) if weighted else None
    if weighted:
        weight[0] = 1.0
    rule = Rosenblatt() if tau is None else Margin(tau)
    runs = []
    for constants in (ALWAYS, NEVER):
        state = State.at(np.zeros(d), [0], kind[1])
        with using(**constants):
            trace, w, b = train(
                problem(X, y, *kind, weight=weight),
                Update(rule=rule, eta0=eta, fit_intercept=intercept),
                Schedule(schedule, seed % 2**31), "average", Stop(max_iter=40, tol=1e-9), state,
            )  # fmt: skip
        parts = (w, b, state.w, state.b, trace.mistakes, trace.loss, trace.norms)
        runs.append([np.asarray(p).tobytes() for p in parts] + [state.visits, trace.stop_reason])
    assert runs[0] == runs[1]


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(KINDS),
    spread=st.sampled_from([0.0, 2.0]),
    intercept=st.booleans(),
    tau=st.sampled_from([0.0, 0.7]),
)
def test_the_bound_on_kept_margins_holds(seed, kind, spread, intercept, tau):
    """Those awake to within LOW, those asleep above the bar, in fractions."""
    X, y = close_calls(seed, 12, 5, kind[1], spread)
    state = State.at(np.zeros(5), [0], kind[1])
    runs = []

    class Spy(training._Run):
        def __init__(self, *args):
            super().__init__(*args)
            runs.append(self)

    with using(**ALWAYS), patch.object(training, "_Run", Spy):
        rule = Margin(tau) if tau else Rosenblatt()
        update = Update(rule=rule, eta0=0.3, fit_intercept=intercept)
        train(problem(X, y, *kind), update, Schedule(), "last", Stop(max_iter=30), state)
    kept = runs[0].choice.gram
    slots = kept.state
    w = [Fraction(float(v)) for v in state.w]
    for i, x in enumerate(X):
        score = sum(a * Fraction(float(v)) for a, v in zip(w, x, strict=True))
        exact = int(y[i]) * (score + Fraction(float(state.b[0]))) - Fraction(tau)
        if slots[kernels.ALARMS] >= len(X):  # refreshed before it is used
            continue
        moved = (exact - Fraction(float(kept.base[i])) + Fraction(tau)) / Fraction(float(kept.R[i]))
        rounding = Fraction(1e-13) * Fraction(float(slots[kernels.WEIGHTS]))  # of the base
        assert max(abs(moved) - rounding, 0) ** 2 <= Fraction(float(slots[kernels.MOVED]))
        a = kept.slot[i]
        if kept.who[a] != i:
            assert exact > 0
        elif exact <= 0:
            assert not kept.q[a] > slots[kernels.LOW]
        if kept.who[a] == i and kept.scaled[i] <= slots[kernels.REACH]:
            error = abs(Fraction(float(kept.q[a])) - exact / Fraction(float(kept.R[i])))
            assert error <= Fraction(float(slots[kernels.LOW]))


@pytest.mark.parametrize("schedule", ["order", "shuffle"])
def test_rows_far_from_the_hyperplane_sleep(schedule):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((100, 3)), 1e-3 * rng.standard_normal((6, 3))])
    X[:100, 0] += 20 * np.sign(X[:100, 0])
    X[100:, 0] = 1e-4 * np.array([1, -1, 1, -1, 1, -1])
    y = np.where(X[:, 0] > 0, 1, -1)
    runs, weights = [], []

    class Spy(training._Run):
        def __init__(self, *args):
            super().__init__(*args)
            runs.append(self)

    for constants in (ALWAYS, NEVER):
        state = State.at(np.zeros(3), [0], np.float64)
        with using(**constants), patch.object(training, "_Run", Spy):
            order, stop = Schedule(schedule, 1), Stop(max_iter=3000)
            train(problem(X, y), Update(), order, "last", stop, state)
        weights.append(state.w.tobytes())
    assert weights[0] == weights[1]
    assert 0 < runs[0].choice.gram.state[kernels.AWAKE] < 20


@pytest.mark.parametrize("constants", [ALWAYS, NEVER])
def test_overflow_is_seen(constants):
    X = np.array([[1e200], [-1e200], [1.0]])
    state = State.at([0], [0], np.float64)
    with using(**constants), pytest.raises(OverflowedError, match="epoch #"):
        train(
            problem(X, [-1, 1, 1]), Update(eta0=1e150), Schedule(), "last", Stop(max_iter=50), state
        )


def choice(n, d, possible=True):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    p = problem(X, np.where(np.arange(n) % 2, -1, 1))
    return shortcuts.Choice(p, p.y, True, possible)


def test_on_when_it_pays_and_off_when_not():
    few, many = np.full(200, 3), np.full(200, 40)
    assert choice(100, 60).after(few, 1.0, False).base.size == 100
    assert choice(100, 60).after(few[:50], 1.0, False) is None  # too early
    assert choice(100, 60).after(many, 1.0, False) is None
    assert choice(100, 60).after(few, 0.1, False) is None  # nor worth compiling
    assert choice(100, 60).after(few, 0.1, True).base.size == 100
    assert choice(100, 60, possible=False).after(few, 1.0, False) is None
    on = choice(100, 60)
    on.after(few, 1.0, False)
    assert on.after(few, 1.0, False).base.size == 100
    assert on.after(many, 1.0, False) is None
    assert on.after(few, 1.0, False) is None  # it had its chance
    on = choice(100, 60)
    on.after(few, 1.0, False).state[kernels.ALL_ALARMS] = 100 * 200
    assert on.after(few, 1.0, False) is None


def test_numbers_too_large_to_bound_are_left_to_the_plain_loop():
    assert shortcuts.gram(np.array([[1e31], [1.0]]), np.array([1, -1]), True) is None


@pytest.mark.parametrize("name", ["sonar", "breast cancer"])
def test_real_sets(name):
    """A thin margin, thousands of passes: the shortcut is taken, and changes nothing."""
    X, y = rows_of(name)
    runs = []
    for constants in ({"WORTH_COMPILING": 0.0}, NEVER):
        with using(**constants):
            clf = Perceptron(max_iter=4000, tol=None, shuffle=False).fit(X, y)
        runs.append((clf.coef_.tobytes(), clf.intercept_.tobytes(), clf.n_mistakes_))
    assert runs[0] == runs[1]
