"""Compiled equals reference: bit for bit while every partial sum is representable."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rosenblatt.learn import reference
from rosenblatt.learn.in_memory import train
from rosenblatt.learn.rules import Margin, Rosenblatt
from rosenblatt.learn.settings import Penalty, Rate, TrainingSettings
from rosenblatt.learn.state import State
from tests.oracle import penalties
from tests.oracle.direct import direct
from tests.strategies import TIES, integer_rows, problem

KINDS = [("dense", np.float64), ("dense", np.float32), ("csr32", np.float64), ("csr64", np.float32)]
# scores nearer to 0 than the first may have the wrong sign; weights differ by less than the second
ROUNDING = {np.float64: (1e-9, 1e-12), np.float32: (1e-2, 1e-4)}
PASSES = {
    "order": lambda n, seed: None,
    "shuffle": reference.shuffled,
    "sample": reference.sampled,
}


def close(ours, theirs, rounding):
    """Equal to the bit, or up to this much of the largest number."""
    ours = np.append(np.ravel(ours[0]).astype(np.float64), np.ravel(ours[1])[0])
    theirs = np.array([*theirs[0], theirs[1]], dtype=np.float64)
    if rounding:
        np.testing.assert_allclose(ours, theirs, atol=rounding * (1 + np.abs(theirs).max()), rtol=0)
    else:
        assert np.array_equal(ours, theirs)


def same(ours, theirs):
    w, b = ours
    assert np.array_equal(np.ravel(w).astype(np.float64), np.array(theirs[0], dtype=np.float64))
    assert float(np.ravel(b)[0]) == float(theirs[1])


@given(
    rows=integer_rows(),
    tie=st.sampled_from(TIES),
    schedule=st.sampled_from(list(PASSES)),
    seed=st.integers(0, 2**31 - 1),
    kind=st.sampled_from(KINDS),
    eta=st.sampled_from([0.25, 1.0, 4.0]),
    intercept=st.booleans(),
    start=st.lists(st.integers(-3, 3), min_size=5, max_size=5),
    margin=st.sampled_from([None, 0.0, 2.0]),
    max_iter=st.integers(1, 12),
    max_updates=st.sampled_from([None, 1, 7]),
)
def test_every_tie_schedule_and_keep(
    rows, tie, schedule, seed, kind, eta, intercept, start, margin, max_iter, max_updates
):
    X, y = rows
    d = len(X[0])
    w0, b0 = start[:d], start[4] if intercept else 0
    run = reference.train(
        X, y, w=w0, b=b0, eta=eta, tie=tie, tau=margin, intercept=intercept,
        passes=PASSES[schedule](len(X), seed), with_replacement=schedule == "sample",
        max_iter=max_iter, max_updates=max_updates or np.inf,
    )  # fmt: skip
    rule = Rosenblatt() if margin is None else Margin(margin)
    update = TrainingSettings(rule=rule, tie=tie, eta0=eta, fit_intercept=intercept)
    for keep in ("last", "average", "vote", "pocket"):
        state = State.at(w0, [b0], kind[1])
        trace, w, b = train(
            problem(X, y, *kind),
            replace(
                update,
                order=schedule,
                keep=keep,
                max_iter=max_iter,
                max_updates=max_updates,
                record=True,
            ),
            state=state,
            seed=seed,
        )
        assert trace.stop_reason == run.stop_reason
        assert trace.mistakes[: len(run.mistakes)].tolist() == run.mistakes
        assert not trace.mistakes[len(run.mistakes) :].any()
        assert trace.n_updates == len(run.updates)
        same((state.w, state.b), run.weights)
        if run.stop_reason == "cycle":
            assert trace.cycle.epochs == run.cycle
            assert trace.cycle.exact
        if keep == "last":
            same((w, b), run.weights)
            for ours, (row, ref_w, ref_b) in zip(trace.record, run.updates, strict=True):
                assert ours.row == row
                same((ours.w, ours.b), (ref_w, ref_b))
        elif keep == "average" and run.visits:
            mean = reference.average(run)
            same((w, b), ([kind[1](v) for v in mean[0]], kind[1](mean[1])))
        elif keep == "vote":
            votes = state.ballot(0)
            for k, (ref_w, ref_b, count) in enumerate(reference.votes(run)):
                same((votes.w[k], votes.b[k]), (ref_w, ref_b))
                assert votes.counts[k] == count
        elif keep == "pocket":
            same((w, b), reference.pocket(X, y, run))
            fewest = reference.errors(X, y, w.tolist(), float(b[0]))
            ends = {v.epoch: v for v in run.visits}.values()
            assert all(fewest <= reference.errors(X, y, v.w, v.b) for v in ends)


@given(
    rows=integer_rows(),
    tie=st.sampled_from(TIES),
    schedule=st.sampled_from(list(PASSES)),
    seed=st.integers(0, 2**31 - 1),
    keep=st.sampled_from(["last", "average", "vote", "pocket"]),
    intercept=st.booleans(),
    weights=st.lists(st.sampled_from([0, 1, 2, 5, 0.5, 2.25]), min_size=12, max_size=12),
    max_updates=st.sampled_from([None, 5]),
)
def test_repeat_is_that_many_visits(
    rows, tie, schedule, seed, keep, intercept, weights, max_updates
):
    X, y = rows
    weights = weights[: len(X)]
    assume(any(weights))
    run = reference.train(
        X, y, tie=tie, intercept=intercept, weights=weights, repeat=True, max_iter=6,
        passes=PASSES[schedule](len(X), seed), with_replacement=schedule == "sample",
        max_updates=max_updates or np.inf,
    )  # fmt: skip
    state = State.at([0] * len(X[0]), [0], np.float64)
    update = TrainingSettings(tie=tie, weighting="repeat", fit_intercept=intercept)
    trace, w, b = train(
        problem(X, y, weight=weights),
        replace(update, order=schedule, keep=keep, max_iter=6, max_updates=max_updates),
        state=state,
        seed=seed,
    )
    assert trace.stop_reason == run.stop_reason
    assert trace.n_updates == len(run.updates)
    assert trace.mistakes[: len(run.mistakes)].tolist() == run.mistakes
    same((state.w, state.b), run.weights)
    whole = all(float(k).is_integer() for k in weights)
    if keep == "average" and whole and run.visits:
        same((w, b), reference.average(run))
    if keep == "vote" and whole:
        counts = [count for _, _, count in reference.votes(run)]
        assert state.ballot(0).counts.tolist() == counts


@given(rows=integer_rows(), tie=st.sampled_from(TIES), factor=st.integers(1, 4))
def test_whole_weights_equal_a_longer_list(rows, tie, factor):
    """weighting="repeat" with weight k is the data set with each row k times in a row."""
    X, y = rows
    weights = [1 + (i * factor) % 4 for i in range(len(X))]
    long = [i for i, k in enumerate(weights) for _ in range(k)]
    d = len(X[0])
    for keep in ("last", "average", "pocket"):
        a, b = (State.at(range(1, d + 1), [0], np.float64) for _ in range(2))
        first = train(
            problem(X, y, weight=weights),
            TrainingSettings(tie=tie, weighting="repeat", keep=keep, max_iter=9, tol=1e-3),
            state=a,
        )
        second = train(
            problem([X[i] for i in long], [y[i] for i in long]),
            TrainingSettings(tie=tie, keep=keep, max_iter=9, tol=1e-3),
            state=b,
        )
        assert first[0].stop_reason == second[0].stop_reason
        assert first[0].mistakes.tolist() == second[0].mistakes.tolist()
        assert np.array_equal(first[1], second[1])
        assert np.array_equal(first[2], second[2])


STEPS = st.sampled_from([None, [1.0, 0.5, 2.0]])


def batches(rows, tie, mean, steps, intercept, max_iter=6):
    """A batch run of the reference, and the settings of ours."""
    X, y = rows
    run = reference.batch(
        X, y, w=[1] * len(X[0]), tie=tie, mean=mean, intercept=intercept, max_iter=max_iter,
        eta=lambda k: steps[min(k, 3) - 1] if steps else 1, cycle=not steps,
    )  # fmt: skip
    mode = "batch-mean" if mean else "batch"
    return run, TrainingSettings(tie=tie, mode=mode, eta0=steps or 1.0, fit_intercept=intercept)


@given(
    rows=integer_rows(),
    tie=st.sampled_from(TIES),
    kind=st.sampled_from(KINDS),
    steps=STEPS,
    intercept=st.booleans(),
)
def test_batch(rows, tie, kind, steps, intercept):
    X, y = rows
    run, update = batches(rows, tie, False, steps, intercept)
    for keep in ("last", "average", "pocket"):
        state = State.at([1] * len(X[0]), [0], kind[1])
        trace, w, b = train(
            problem(X, y, *kind), replace(update, keep=keep, max_iter=6), state=state
        )
        assert trace.stop_reason == run.stop_reason
        assert trace.mistakes.tolist() == [v.mistake for v in run.visits]
        same((state.w, state.b), run.weights)
        if keep == "average":
            theirs = reference.average(run)
            same((w, b), ([kind[1](v) for v in theirs[0]], kind[1](theirs[1])))
        if keep == "pocket":
            same((w, b), reference.pocket(X, y, run))


def certain(X, y, run, tie, near):
    """(how many steps of a batch run rounding cannot change, whether their sums are all exact).

    They are exact while all weights are multiples of 1/1024: then every score and every sum is a
    number of float32. After that, steps are certain until some score is nearer to 0 than `near`.
    """
    (w, b), exact = run.start, True
    for k, visit in enumerate(run.visits):
        scores = [reference.score(w, b, x) for x in X]
        if not exact and min(map(abs, scores)) < near:
            return k, exact
        errors = [reference.mistake(c * s, c, tie) for c, s in zip(y, scores, strict=True)]
        share = math.frexp(sum(errors))[0]
        exact = (
            exact
            and share in (0, 0.5)
            and all((1024.0 * v).is_integer() for v in (*visit.w, visit.b))
        )
        w, b = visit.w, visit.b
    return len(run.visits), exact


@pytest.mark.parametrize(("kind", "near", "rounding"), [(k, *ROUNDING[k[1]]) for k in KINDS])
@given(rows=integer_rows(), tie=st.sampled_from(TIES), steps=STEPS, intercept=st.booleans())
def test_batch_mean(kind, near, rounding, rows, tie, steps, intercept):
    """To the bit where the number of mistakes is a power of two, else up to rounding."""
    X, y = rows
    run, update = batches(rows, tie, True, steps, intercept)
    n, exact = certain(X, y, run, tie, near)
    ended = n == len(run.visits)
    run.visits = run.visits[:n]
    for keep in ("last", "average", "pocket"):
        state = State.at([1] * len(X[0]), [0], kind[1])
        # with rounding, weights that come back may do so a bit beside
        trace, w, b = train(
            problem(X, y, *kind), replace(update, keep=keep, max_iter=n, cycle=exact), state=state
        )
        assert trace.mistakes.tolist() == [v.mistake for v in run.visits]
        if exact and ended:
            assert trace.stop_reason == run.stop_reason
        close((state.w, state.b), run.weights, 0 if exact else rounding)
        if keep == "average":
            close((w, b), reference.average(run), rounding)
        if keep == "pocket" and (
            exact or min(abs(reference.score(*run.weights, x)) for x in X) > near
        ):
            close((w, b), reference.pocket(X, y, run), 0 if exact else rounding)


@given(
    rows=integer_rows(max_rows=10, max_features=3),
    labels=st.lists(st.integers(0, 2), min_size=10, max_size=10),
    tie=st.sampled_from(["mistake", "correct"]),
    schedule=st.sampled_from(["order", "shuffle"]),
    seed=st.integers(0, 2**31 - 1),
    kind=st.sampled_from(KINDS),
    weights=st.sampled_from([None, [0, 1, 2, 0.5, 3, 1, 2.25, 1, 0, 4]]),
    repeat=st.booleans(),
)
def test_direct_multiclass(rows, labels, tie, schedule, seed, kind, weights, repeat):
    X, y = rows[0], labels[: len(rows[0])]
    weights = weights and weights[: len(X)]
    assume(weights is None or any(weights))
    passes = PASSES[schedule](len(X), seed)
    W, b, mistakes = direct(
        X, y, 3, tie=tie, passes=passes, weights=weights, repeat=repeat, max_iter=8
    )
    p = problem(X, [-1 if i else 1 for i in range(len(X))], *kind, weight=weights)
    p = type(p)(p.X, np.array(y, dtype=np.int64), np.arange(3), p.sample_weight)
    state = State.at(np.zeros((3, len(X[0]))), np.zeros(3), kind[1])
    update = TrainingSettings(tie=tie, weighting="repeat" if repeat else "scale", direct=True)
    trace, w, ours = train(
        p, replace(update, order=schedule, max_iter=8, cycle=False), state=state, seed=seed
    )
    assert trace.mistakes.tolist() == mistakes
    assert np.array_equal(w, np.array(W, dtype=float))
    assert np.array_equal(ours, np.array(b, dtype=float))


@given(
    rows=integer_rows(),
    alpha=st.sampled_from([0.0, 0.01, 0.3, 3.0]),
    l1_ratio=st.sampled_from([0.0, 0.4, 1.0]),
    kind=st.sampled_from([KINDS[0], KINDS[2]]),
    keep=st.sampled_from(["last", "average"]),
    rate=st.sampled_from([None, "optimal", "invscaling"]),
    tau=st.sampled_from([0, 1]),
)
def test_penalties(rows, alpha, l1_ratio, kind, keep, rate, tau):
    """The scaled, lazy form against the plain one, in floating point, with rates that fall."""
    X, y = rows
    eta = {
        None: 0.5,
        "optimal": penalties.optimal(0.1),
        "invscaling": penalties.invscaling(0.5, 0.4),
    }[rate]
    sparse = kind[0] != "dense"
    assume(not (sparse and l1_ratio == 1.0 and keep == "average"))  # L1 is lazy on CSR rows
    history = penalties.penalised(
        X, y, eta=eta, tau=tau, alpha=alpha, l1_ratio=l1_ratio, max_iter=3,
        touched_only=sparse and l1_ratio == 0.4,
    )  # fmt: skip
    after = [y[(t + 1) % len(X)] * reference.score(w, b, X[(t + 1) % len(X)]) - tau
             for t, (w, b) in enumerate(history)]  # fmt: skip
    assume(min(map(abs, after[:-1]), default=1) > 1e-9)
    state = State.at([0] * len(X[0]), [0], np.float64)
    update = TrainingSettings(
        rule=Margin(tau) if tau else Rosenblatt(),
        eta0=0.5,
        penalty=Penalty(alpha, l1_ratio) if alpha else None,
        rate=rate and Rate(rate, 0.1, 0.4),
    )
    _, w, b = train(
        problem(X, y, *kind),
        replace(update, keep=keep, max_iter=3, clean=False, cycle=False),
        state=state,
    )
    if keep == "average":
        expected = np.mean([v for v, _ in history], axis=0)
        expected_b = np.mean([v for _, v in history])
    else:
        expected, expected_b = history[-1]
    np.testing.assert_allclose(w, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(b[0], expected_b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_same_updates_beyond_rounding(kind, data):
    """On any floats, the same updates wherever |score| exceeds the rounding bound.

    |fl(score) - score| <= (d + 1) u sum_j |w_j x_j| + |b| u, with u = 2^-53 and each weight
    carrying its own rounding; here the run is compared up to the first closer call.
    """
    from fractions import Fraction

    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n, d = 12, 4
    X = rng.standard_normal((n, d)).astype(kind[1])
    y = np.where(rng.random(n) < 0.5, -1, 1)
    y[:2] = -1, 1
    state = State.at(np.zeros(d), [0], kind[1])
    trace, *_ = train(problem(X, y, *kind), TrainingSettings(max_iter=5, record=True), state=state)
    w, b, k = [0.0] * d, 0.0, 0
    updates = list(trace.record)
    unit = 2.0**-53
    for p in range(1, trace.n_epochs + 1):
        for i in range(n):
            x = X[i].astype(float)
            exact = float(
                sum(Fraction(a) * Fraction(c) for a, c in zip(w, x.tolist(), strict=True))
                + Fraction(b)
            )
            bound = (d + 2) * unit * (sum(abs(a * c) for a, c in zip(w, x, strict=True)) + abs(b))
            moved = k < len(updates) and (updates[k].epoch, updates[k].row) == (p, i)
            if abs(exact) > bound:
                assert moved == (y[i] * exact <= 0)
            if moved:
                w, b = updates[k].w.astype(float).tolist(), float(updates[k].b[0])
                k += 1
    assert k == len(updates)
