"""Operations on rows: the same bits in every variant, for every kind of row, as the model says."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import _core

# of very different size, so that every change in the order of a sum shows
NUMBERS = st.floats(-1e6, 1e6, width=32) | st.sampled_from([0.0, -0.0, 1e-30, -1e30, 0.1, 3e7])
KINDS = [
    (value, index) for value in (np.float32, np.float64) for index in (None, np.int32, np.int64)
]


def lane_sum(columns, terms):
    """The sum that rows.hpp defines, in plain Python."""
    s = [0.0] * 8
    for j, term in zip(columns, terms, strict=True):
        s[j & 7] += term
    for half in (4, 2, 1):
        for l in range(half):
            s[l] += s[l + half]
    return s[0]


def rows_of(X, kind, cpu, shift=0):
    """A dense matrix as Rows of a kind; the columns of CSR rows may be shifted."""
    value, index = kind
    X = np.ascontiguousarray(X, dtype=value)
    if index is None:
        if shift:
            X = np.hstack([np.zeros((len(X), shift), dtype=value), X])
        return _core.Rows(X, cpu=cpu)
    stored = [np.flatnonzero(x) for x in X]
    indptr = np.cumsum([0, *map(len, stored)]).astype(index)
    indices = np.array([j for row in stored for j in row], dtype=index) + index(shift)
    data = np.array([x[j] for x, row in zip(X, stored, strict=True) for j in row], dtype=value)
    return _core.Rows(data, indices, indptr, X.shape[1] + shift, cpu=cpu)


def every(X, shift=0):
    """Rows of a matrix in every variant and kind. Its values must fit into float32."""
    return [rows_of(X, kind, cpu, shift) for cpu in _core.cpus() for kind in KINDS]


@st.composite
def matrices(draw, max_rows=6, max_columns=70):
    n, d = draw(st.integers(0, max_rows)), draw(st.integers(0, max_columns))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)  # many numbers: hypothesis draws a few, the rest are random
    X = np.exp(rng.normal(0, 8, (n, d))) * rng.choice([-1, 0, 1], (n, d))
    for i, j in draw(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=4)):
        if X.size:
            X[i % n, j % d] = draw(NUMBERS)
    return X.astype(np.float32).astype(np.float64)


def weights(rng, *shape):
    return np.exp(rng.normal(0, 5, shape)) * rng.choice([-1, 1], shape)


SEEDS = st.integers(0, 2**32 - 1)


@given(X=matrices(), seed=SEEDS, planes=st.integers(0, 12), threads=st.integers(1, 3))
def test_scores_have_the_bits_of_the_model(X, seed, planes, threads):
    rng = np.random.default_rng(seed)
    W, b = weights(rng, planes, X.shape[1]), weights(rng, planes)
    expected = [
        [lane_sum(range(len(x)), (x * w).tolist()) + c for w, c in zip(W, b, strict=True)]
        for x in X
    ]
    expected = np.array(expected).reshape(len(X), planes)
    for rows in every(X):
        assert (rows.n_rows, rows.n_features) == X.shape
        found = _core.scores(rows, W, b, n_threads=threads)
        assert found.tobytes() == expected.tobytes()
        for i in range(len(X)):
            for p in range(planes):
                assert rows.dot(i, W[p]) + b[p] == expected[i, p]


def test_large_scores_have_the_bits_of_single_rows():
    """Enough rows and columns for whole tiles, several threads and rearranged weights."""
    rng = np.random.default_rng(0)
    for n, d, planes in [(300, 203, 11), (2000, 100, 1), (501, 784, 10), (999, 5, 3)]:
        X = rng.normal(size=(n, d)).astype(np.float32) * (rng.random((n, d)) < 0.5)
        W, b = rng.normal(size=(planes, d)), rng.normal(size=planes)
        expected = None
        for rows in every(X):
            found = [_core.scores(rows, W, b, n_threads=k).tobytes() for k in (1, 2, 5)]
            single = [[rows.dot(i, w) + c for w, c in zip(W, b, strict=True)] for i in range(9)]
            expected = expected or found[0]
            assert found == [expected] * 3
            assert np.array(single).tobytes() == expected[: 9 * planes * 8]


@given(X=matrices(), shift=st.integers(0, 20), seed=SEEDS)
def test_shifted_columns_keep_the_bits(X, shift, seed):
    w = weights(np.random.default_rng(seed), X.shape[1])
    shifted = np.concatenate([np.full(shift, 7.0), w])
    for i in range(len(X)):
        found = [rows.dot(i, w) for rows in every(X)]
        found += [rows.dot(i, shifted) for rows in every(X, shift)]
        assert len(set(found)) == 1


@given(X=matrices(max_rows=1), seed=SEEDS)
def test_unsorted_rows_are_added_in_their_order(X, seed):
    rng = np.random.default_rng(seed)
    w = weights(rng, X.shape[1])
    for x in X:
        columns = rng.permutation(np.flatnonzero(x))
        expected = lane_sum(columns.tolist(), (x[columns] * w[columns]).tolist())
        for cpu in _core.cpus():
            for value, index in KINDS:
                if index:
                    rows = _core.Rows(
                        x[columns].astype(value),
                        columns.astype(index),
                        np.array([0, len(columns)], dtype=index),
                        len(x),
                        cpu=cpu,
                    )
                    assert rows.dot(0, w) == expected
                    assert rows.entries(0) == (columns.tolist(), x[columns].tolist())


@given(X=matrices(), seed=SEEDS, c=NUMBERS, beta=st.sampled_from([0.0, 0.5, 1e-3, 1e6]))
def test_updates_have_the_bits_of_the_model(X, seed, c, beta):
    rng = np.random.default_rng(seed)
    d = X.shape[1]
    w, u, S = weights(rng, d), weights(rng, d), np.abs(weights(rng, d + 1))
    for i, x in enumerate(X):
        squares = lane_sum(range(d), (x * x).tolist())
        variance = S[0] + lane_sum(range(d), (S[1:] * x * x).tolist())
        added = w + c * x
        step = c * (S[1:] * x)
        contracted = S.copy()
        if beta:
            contracted[1:] = np.maximum(S[1:] - beta * ((S[1:] * x) * (S[1:] * x)), 0)
        for rows in every(X):
            assert rows.square(i) == squares
            assert rows.variance(i, S) == variance
            dense = dict(zip(*rows.entries(i), strict=True))
            assert [dense.get(j, 0.0) for j in range(d)] == x.tolist()
            # a CSR row leaves alone what it has no entry for; rounding would change it
            touched = np.array([j in dense for j in range(d)], dtype=bool)
            for round32 in (False, True):
                a, b, v, T = w.copy(), w.copy(), u.copy(), S.copy()
                rows.add(i, c, a, round32=round32)
                rows.nudge(i, c, 3.0, beta, T, b, v, round32=round32)
                for found, expected in ((a, added), (b, w + step)):
                    if round32:
                        with np.errstate(over="ignore"):
                            expected = expected.astype(np.float32).astype(np.float64)
                    assert np.array_equal(found, np.where(touched, expected, w))
                assert np.array_equal(v, u + 3.0 * step)
                assert np.array_equal(T, contracted)
                e, T = w.copy(), S.copy()
                rows.nudge(i, c, 3.0, beta, T, e, None, round32=round32)
                assert np.array_equal(e, b)


@given(
    X=matrices(max_rows=40, max_columns=20),
    seed=SEEDS,
    bar=st.sampled_from([-np.inf, -1.0, 0.0, 10.0, np.inf]),
    shuffled=st.booleans(),
)
def test_a_scan_stops_at_the_first_row_that_needs_attention(X, seed, bar, shuffled):
    rng = np.random.default_rng(seed)
    n = len(X)
    w, b = weights(rng, X.shape[1]), float(rng.normal())
    y = rng.choice(np.array([-1, 0, 1, 2], dtype=np.int32), n, p=[0.03, 0.3, 0.37, 0.3])
    order = rng.integers(0, n, 2 * n) if shuffled and n else None
    visits = range(n) if order is None else order.tolist()
    for rows in every(X):
        scores = _core.scores(rows, w[None], np.array([b]))[:, 0]
        t = 0
        seen = np.full(n, np.nan)
        while True:
            expected, score = len(visits), 0.0
            for k in range(t, len(visits)):
                i = visits[k]
                if y[i] < 0:
                    expected = k
                    break
                if not bar < (scores[i] if y[i] == 1 else -scores[i]) < np.inf:
                    expected, score = k, scores[i]
                    break
            assert rows.scan(y, 1, w, b, t, bar, order, seen) == (expected, score)
            visited = [i for i in visits[t : expected + 1] if y[i] >= 0]
            assert np.array_equal(seen[visited], scores[visited])
            if expected == len(visits):
                break
            t = expected + 1
        unvisited = sorted(set(range(n)) - {i for i in visits if y[i] >= 0})
        assert np.isnan(seen[unvisited]).all()


def test_huge_scores_pass_and_infinite_ones_do_not():
    X = np.array([[1.0], [1e300], [1e308], [10.0], [np.nan]])
    y = np.zeros(5, dtype=np.int32)
    for cpu in _core.cpus():
        rows = _core.Rows(X, cpu=cpu)
        assert rows.scan(y, 0, np.array([1.0]), 0.0)[0] == 4
        assert rows.scan(y, 0, np.array([1e8]), 0.0) == (2, np.inf)
        assert rows.scan(y, 1, np.array([1e8]), 0.0, bar=-np.inf) == (2, np.inf)
        # a value that is no number stays in its row
        assert np.isnan(_core.scores(rows, np.ones((1, 1)), np.zeros(1))[:, 0]).tolist() == [
            False, False, False, False, True,
        ]  # fmt: skip


def test_arrays_are_read_in_place_and_kept_alive():
    X = np.arange(6.0).reshape(2, 3)
    X.flags.writeable = False
    rows = _core.Rows(X)
    del X
    assert rows.dot(1, np.ones(3)) == 12
    data, indices = np.array([1.0, 2.0, 3.0]), np.array([0, 2, 1], dtype=np.int32)
    part = _core.Rows(data, indices, np.array([1, 2, 3], dtype=np.int32), 3)  # rows 1 and 2 of 3
    data[1] = 5.0
    assert [part.dot(i, np.array([100.0, 10.0, 1.0])) for i in (0, 1)] == [5, 30]


def array(*values, dtype=np.int32):
    return np.array(values, dtype=dtype)


@pytest.mark.parametrize(
    ("arrays", "error"),
    [
        ((np.zeros((2, 2), dtype=np.int64),), TypeError),
        ((np.zeros(2),), ValueError),
        ((np.zeros(2), array(0, 0)), ValueError),
        ((np.zeros(2), array(0, 0, dtype=np.int16), array(0, 2, dtype=np.int16), 3), TypeError),
        ((np.zeros(2), array(0, 0), array(0, 2, dtype=np.int64), 3), TypeError),
        ((np.zeros(2), array(0, 0), array(0, 3), 3), ValueError),
        ((np.zeros(2), array(0, 0), array(), 3), ValueError),
        ((np.zeros(2), array(0, 0), array(0, 2), -1), ValueError),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays, error):
    with pytest.raises(error):
        _core.Rows(*arrays)


def test_an_instruction_set_can_be_forced():
    def run(cpu):
        return subprocess.run(
            [sys.executable, "-c", "from rosenblatt import _core; print(_core.cpu())"],
            env={**os.environ, "ROSENBLATT_CPU": cpu},
            capture_output=True,
            text=True,
            check=False,
        )

    assert run("").stdout.strip() == _core.cpus()[-1]
    for cpu in _core.cpus():
        assert run(cpu).stdout.strip() == cpu
    assert "ROSENBLATT_CPU='v9' does not run here; choose one of: " in run("v9").stderr
    with pytest.raises(ValueError, match="cpu='v9' does not run here"):
        _core.Rows(np.zeros((1, 1)), cpu="v9")


@given(st.integers(0, 300), st.data())
def test_all_finite_finds_every_value_that_is_not(n, data):
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    values = np.full(n, np.finfo(dtype).max, dtype)
    assert _core.all_finite(values)
    if n:
        values[data.draw(st.integers(0, n - 1))] = data.draw(
            st.sampled_from([np.nan, np.inf, -np.inf])
        )
        assert not _core.all_finite(values)
