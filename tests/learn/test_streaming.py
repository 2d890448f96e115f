"""Training over chunks gives what training on the whole gives, to the bit."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from rosenblatt.learn.update import Update

from rosenblatt import Perceptron, read_chunks
from rosenblatt.data.cache import ChunkCache
from rosenblatt.data.reading import Chunk
from rosenblatt.errors import DataError, LabelError, NotSupportedError, OverflowedError
from rosenblatt.learn import streaming
from rosenblatt.learn.rules import ALMA, AROW, PA, PA1, PA2, SCW, SOP, Margin
from rosenblatt.learn.streaming import train_file, train_stream


def cut(X, y, weight, cuts, sparse):
    """Chunks of the rows; sparse ones are as wide as what was met so far."""
    chunks, width = [], 0
    for lo, hi in zip([0, *cuts], [*cuts, len(y)], strict=True):
        part = X[lo:hi]
        if sparse:
            used = np.flatnonzero(part.any(axis=0))
            width = max(width, used[-1] + 1 if used.size else 0)
            part = sp.csr_matrix(part[:, :width])
        if hi > lo:
            chunks.append(Chunk(part, y[lo:hi], None if weight is None else weight[lo:hi]))
    return chunks


def dense(X):
    return X.matrix().toarray() if hasattr(X, "matrix") else getattr(X, "toarray", lambda: X)()


@st.composite
def streams(draw):
    n, d = draw(st.integers(2, 25)), draw(st.integers(1, 6))
    n_classes = draw(st.integers(2, 4))
    entry = st.one_of(st.just(0), st.integers(-4, 4), st.sampled_from([0.5, 0.1, 2**-30, 1e10]))
    X = np.array(draw(st.lists(st.lists(entry, min_size=d, max_size=d), min_size=n, max_size=n)))
    X = X.astype(float)
    X[0, -1] = X[0, -1] or 1.0  # the whole must know its last column
    y = np.array(draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)))
    y[:2] = 0, 1
    labels = draw(st.sampled_from([np.arange(4), np.array(["a", "b", "cc", "ddd"])]))
    y = labels[np.roll(y, draw(st.integers(0, n - 1)))]
    weight = np.array(draw(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=n, max_size=n)))
    weight[draw(st.integers(0, n - 1))] = 1.0
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=6)))
    return X, y, draw(st.sampled_from([None, weight])), cuts


@given(
    stream=streams(),
    sparse=st.booleans(),
    passes=st.integers(1, 9),
    keep=st.sampled_from(["last", "average"]),
    offset=st.booleans(),
    eta0=st.sampled_from([1.0, 0.3]),
    cached=st.booleans(),
)
def test_chunks_train_as_the_whole_does(
    stream, sparse, passes, keep, offset, eta0, cached, tmp_path_factory
):
    X, y, weight, cuts = stream
    options = {"keep": keep, "fit_intercept": offset, "eta0": eta0}
    clf = Perceptron(shuffle=False, max_iter=passes, tol=None, **options)
    clf.fit(sp.csr_matrix(X) if sparse else X, y, sample_weight=weight)
    done = train_stream(
        cut(X, y, weight, cuts, sparse),
        passes=passes,
        keep=keep,
        update=Update(eta0=eta0, fit_intercept=offset),
        scratch=tmp_path_factory.getbasetemp() if cached else None,
    )
    assert done.classes.tolist() == clf.classes_.tolist()
    assert done.coef.tobytes() == clf.coef_.tobytes()
    assert done.intercept.tobytes() == clf.intercept_.tobytes()
    assert (done.mistakes.sum(), done.updates.sum()) == (clf.n_mistakes_, clf.n_updates_)
    assert done.n_passes == clf.n_iter_
    traces = getattr(clf.trace_, "traces", (clf.trace_,))
    assert done.reasons == tuple(t.stop_reason for t in traces)
    if len(done.classes) == 2:
        assert done.progressive_error == traces[0].mistakes[0] / len(y)
    elif eta0 == 1.0 and np.isin(X, range(-4, 5)).all():  # sums are exact
        wrong = _wrong_before_learning(X, y, weight, done.classes, offset)
        assert done.progressive_error == wrong / len(y)


def _wrong_before_learning(X, y, weight, classes, offset):
    """One row after the other, one hyperplane a class, in plain Python."""
    w, b, wrong = np.zeros((len(classes), X.shape[1])), np.zeros(len(classes)), 0
    for i, x in enumerate(X):
        k = 1.0 if weight is None else weight[i]
        scores = w @ x + b
        own = classes == y[i]
        wrong += k > 0 and scores[own] <= scores[~own].max()
        for p in np.flatnonzero(np.where(own, 1, -1) * scores <= 0):
            step = k * (1 if own[p] else -1)
            w[p] += step * x
            b[p] += step * offset
    return wrong


@given(stream=streams(), sparse=st.booleans(), block=st.integers(1, 400))
def test_the_cache_gives_back_the_same_rows(stream, sparse, block, tmp_path_factory):
    X, _, weight, cuts = stream
    y = np.arange(len(X), dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rosenblatt.data.cache.MEMORY_BYTES", block)
        with ChunkCache(tmp_path_factory.getbasetemp()) as cache:
            for chunk in cut(X, y, weight, cuts, sparse):
                cache.add(chunk)
            for _ in range(2):
                rows, labels, weights = [], [], []
                for part, label, w in cache:
                    rows.append(dense(part).copy())
                    labels.append(label.copy())
                    weights.append(np.ones(len(label)) if w is None else w.copy())
                assert np.concatenate(rows).tobytes() == X.tobytes()
                assert (np.concatenate(labels) == y).all()
                assert (np.concatenate(weights) == (1.0 if weight is None else weight)).all()


def test_the_cache_is_compact_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.data.cache.MEMORY_BYTES", 0)
    X, y = np.ones((1000, 8)), np.zeros(1000, np.int8)
    sizes = []
    for values in (X, X / 2, X / 3):
        with ChunkCache(tmp_path) as cache:
            cache.add(Chunk(values, y, None))
            (chunk,) = cache
            assert np.array_equal(chunk.X, values)
            sizes.append(cache.file_bytes)
            assert cache.memory_bytes == 0
    assert sizes == [1000, 33_000, 65_000]
    assert os.listdir(tmp_path) == []


class Listening(streaming.Nobody):
    def __init__(self):
        self.said, self.begun = [], []

    def begin(self, pass_number):
        self.begun.append(pass_number)

    def say(self, message):
        self.said.append(message)


def test_a_file_that_begins_otherwise_than_it_goes_on(tmp_path):
    path = tmp_path / "late.svm"
    path.write_text("1 1:2 2:1\n" * 20 + "2 1:1 2:2\n" * 20 + "1 0:3\n")
    heard = Listening()
    source = read_chunks(path, chunk_bytes=64)
    done, settled = train_file(source, passes=3, scratch=tmp_path, watcher=heard)
    assert settled.format.zero_based is True
    assert done.coef.shape == (1, 3)
    assert done.classes.tolist() == [1.0, 2.0]
    assert "one label only" in heard.said[0]
    assert "an index is 0" in heard.said[1]
    assert heard.begun == [1, 2, 3]
    assert os.listdir(tmp_path) == ["late.svm"]


def test_what_does_not_fit_in_memory_goes_to_a_file_and_it_is_said(tmp_path, monkeypatch):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:2 2:0.1\n2 2:1 3:0.3\n" * 30)
    whole, _ = train_file(read_chunks(path), passes=4, scratch=tmp_path)
    assert (whole.memory_bytes > 0, whole.file_bytes) == (True, 0)
    monkeypatch.setattr("rosenblatt.data.cache.MEMORY_BYTES", 200)
    heard = Listening()
    source = read_chunks(path, chunk_bytes=64)
    done, _ = train_file(source, passes=4, scratch=tmp_path, watcher=heard)
    assert 0 < done.memory_bytes <= 200 < done.file_bytes
    assert [str(tmp_path) in said for said in heard.said] == [True]
    assert os.listdir(tmp_path) == ["rows.svm"]
    assert done.coef.tobytes() == whole.coef.tobytes()


def test_a_third_class_may_come_late(tmp_path):
    path = tmp_path / "late.svm"
    path.write_text("1 1:2 2:1\n2 2:1\n" * 20 + "3 3:1\n")
    heard = Listening()
    done, _ = train_file(read_chunks(path, chunk_bytes=64), watcher=heard)
    assert "a label comes late" in heard.said[0]
    assert done.coef.shape == (3, 3)
    X = np.array([[2, 1, 0], [0, 1, 0]] * 20 + [[0, 0, 1]])
    wrong = _wrong_before_learning(X, np.array([1, 2] * 20 + [3]), None, done.classes, True)
    assert done.progressive_error == wrong / 41


@pytest.mark.parametrize(
    ("X", "y", "weight", "error", "why"),
    [
        ([[1.0], [2.0]], [0, 0], None, LabelError, "got 1 class"),
        ([[1.0], [2.0]], [0.5, 1], None, LabelError, "continuous"),
        ([[1.0], [2.0]], [0, 1], [0.0, 0.0], DataError, "all are 0"),
        ([[1e300], [-1e300]], [0, 1], None, OverflowedError, "epoch #1"),
        (np.arange(1001.0)[:, None], np.arange(1001), None, LabelError, "measurement"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(X, y, weight, error, why):
    weight = None if weight is None else np.array(weight)
    with pytest.raises(error, match=why):
        train_stream([Chunk(np.array(X), np.array(y), weight)])


@given(
    seed=st.integers(0, 2**31 - 1),
    rule=st.sampled_from([PA(), PA1(0.3), PA2(0.3), AROW(0.5), SCW(), SOP(2.0), Margin(1.0)]),
    keep=st.sampled_from(["last", "average"]),
    n_classes=st.sampled_from([2, 3]),
    sparse=st.booleans(),
)
def test_every_rule_gives_the_weights_of_fit(seed, rule, keep, n_classes, sparse):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 6)) * (rng.random((30, 6)) < 0.5)
    y = rng.integers(n_classes, size=30)
    y[:n_classes] = np.arange(n_classes)
    X[:15, 4:] = 0  # features that are met late
    clf = Perceptron(rule=rule, keep=keep, shuffle=False, max_iter=2, tol=None).fit(
        sp.csr_matrix(X) if sparse else X, y
    )
    done = train_stream(
        cut(X, y, None, [4, 11, 20], sparse), passes=2, keep=keep, update=Update(rule=rule)
    )
    assert done.coef.tobytes() == clf.coef_.tobytes()
    assert done.intercept.tobytes() == clf.intercept_.tobytes()
    assert (done.mistakes.sum(), done.updates.sum()) == (clf.n_mistakes_, clf.n_updates_)


@pytest.mark.parametrize("rule", [PA(), PA1(0.3), PA2(0.3), AROW(0.5), SCW(), SOP(2.0)])
def test_rows_too_large_for_their_squares_are_an_error(rule):
    X, y = np.array([[1.0, 2.0], [-2.0, 1.0]]) * 1e160, np.array([0, 1])
    with pytest.raises(OverflowedError, match="Scale the data"):
        train_stream([Chunk(X, y, None)], update=Update(rule=rule))
    clf = Perceptron(rule=rule).learn_many([[1.0, 2.0], [-2.0, 1.0]], [0, 1])
    w = clf.coef_.copy()
    with pytest.raises(DataError, match="overflow"):
        clf.learn_one(X[0], 1)
    assert (clf.coef_ == w).all()
    assert clf.progress_.n_rows == 2


@pytest.mark.parametrize("rule", [ALMA(), AROW(covariance="full")])
def test_rules_that_need_more_than_a_stream_has_are_refused(rule):
    with pytest.raises(NotSupportedError, match="Use Perceptron, or with"):
        train_stream([Chunk(np.eye(2), np.array([0, 1]), None)], update=Update(rule=rule))


def test_rows_without_any_feature_are_refused():
    with pytest.raises(DataError, match="no row has a feature"):
        train_stream([Chunk(sp.csr_matrix((2, 0)), np.array([0, 1]), None)])
    with pytest.raises(DataError, match="no rows"):
        train_stream([])
