"""Training over chunks gives what training on the whole gives, to the bit."""

import os
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import Perceptron, read_chunks
from rosenblatt.data.block import Block, Csr
from rosenblatt.data.source import ChunkSource, LabelIndex
from rosenblatt.errors import (
    DataError,
    LabelError,
    NotSupportedError,
    OverflowedError,
    ParameterError,
    RosenblattError,
)
from rosenblatt.io.block_cache import BlockCache
from rosenblatt.io.progress import Watcher
from rosenblatt.io.reader import Chunk
from rosenblatt.learn.rules import ALMA, AROW, PA, PA1, PA2, SCW, SOP, Margin, MinOver
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.stream.fit import fit_file
from rosenblatt.stream.train import train


def run(chunks, classes=None, scratch=None, **settings):
    """Train on chunks; the machines at the end."""
    labels = LabelIndex() if classes is None else LabelIndex(classes, closed=True)
    settings = TrainingSettings(**{"max_iter": 1, **settings})
    return train(ChunkSource(chunks, labels, copy=True), settings, scratch=scratch).group


def check_same(group, clf):
    """The bytes of a fitted Perceptron; 0.0 and -0.0 may not be exchanged."""
    coef, intercept = group.kept()
    assert group.learner.classes.tolist() == clf.classes_.tolist()
    assert coef.tobytes() == clf.coef_.tobytes()
    assert intercept.tobytes() == clf.intercept_.tobytes()
    assert (group.trace().n_mistakes, group.trace().n_updates) == (clf.n_mistakes_, clf.n_updates_)
    assert group.n_epochs == clf.n_iter_
    traces = getattr(clf.trace_, "traces", (clf.trace_,))
    assert group.reasons == tuple(t.stop_reason for t in traces)


def cut(X, y, weight, cuts, sparse):
    """Chunks of the rows; sparse ones are as wide as what was met so far."""
    chunks, width = [], 1
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
    if not hasattr(X, "indptr"):
        return X
    return sp.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape).toarray()


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
    y = np.sort(y) if draw(st.booleans()) else y  # classes that appear late
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
    named=st.booleans(),
)
def test_chunks_train_as_the_whole_does(
    stream, sparse, passes, keep, offset, eta0, cached, named, tmp_path_factory
):
    X, y, weight, cuts = stream
    options = {"keep": keep, "fit_intercept": offset, "eta0": eta0}
    clf = Perceptron(shuffle=False, max_iter=passes, tol=None, **options)
    clf.fit(sp.csr_matrix(X) if sparse else X, y, sample_weight=weight)
    done = run(
        cut(X, y, weight, cuts, sparse),
        classes=np.unique(y) if named else None,
        scratch=tmp_path_factory.getbasetemp() if cached else None,
        max_iter=passes, keep=keep, eta0=eta0, fit_intercept=offset,
    )  # fmt: skip
    check_same(done, clf)
    if eta0 == 1.0 and np.isin(X, range(-4, 5)).all():  # sums are exact
        wrong = _wrong_before_learning(X, y, weight, done.learner.classes, offset, named)
        counted = len(y) if weight is None else np.count_nonzero(weight)
        assert (done.errors, done.n_scored) == (wrong, counted)


def _wrong_before_learning(X, y, weight, classes, offset, named=False):
    """One row after the other, one hyperplane per class, in plain Python.

    Each row is predicted among the classes that were seen before it, or among all if `named`.
    """
    w, b, wrong = np.zeros((len(classes), X.shape[1])), np.zeros(len(classes)), 0
    seen = np.full(len(classes), named)
    for i, x in enumerate(X):
        k = 1.0 if weight is None else weight[i]
        scores = w @ x + b
        own = classes == y[i]
        among = np.flatnonzero(seen)
        if len(among) == 2:
            predicted = among[int(scores[among[1]] >= 0)]
        else:
            predicted = among[scores[among].argmax()] if len(among) else -1
        wrong += k > 0 and predicted != np.flatnonzero(own)[0]
        seen |= own
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
        patch.setattr("rosenblatt.io.block_cache.MEMORY_BYTES", block)
        with BlockCache(tmp_path_factory.getbasetemp()) as cache:
            for chunk in cut(X, y, weight, cuts, sparse):
                A = chunk.X
                if sparse:
                    A = Csr(A.data, A.indices, A.indptr, A.shape[1])
                cache.add(Block(A, chunk.y, chunk.sample_weight))
            for _ in range(2):
                rows, labels, weights = [], [], []
                for part, label, w, *_ in cache.read(range(len(cache))):
                    rows.append(dense(part).copy())
                    labels.append(label.copy())
                    weights.append(np.ones(len(label)) if w is None else w.copy())
                assert np.concatenate(rows).tobytes() == X.tobytes()
                assert (np.concatenate(labels) == y).all()
                assert (np.concatenate(weights) == (1.0 if weight is None else weight)).all()


def test_the_cache_is_compact_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.io.block_cache.MEMORY_BYTES", 0)
    X, y = np.ones((1000, 8)), np.zeros(1000, np.int8)
    sizes = []
    for values in (X, X / 2, X / 3):
        with BlockCache(tmp_path) as cache:
            cache.add(Block(values, y, None))
            (chunk,) = cache.read([0])
            assert np.array_equal(chunk.X, values)
            sizes.append(cache.file_bytes)
            assert cache.memory_bytes == 0
    assert sizes == [1000, 33_000, 65_000]
    assert os.listdir(tmp_path) == []


class Listening(Watcher):
    def __init__(self):
        self.said, self.begun = [], []

    def begin(self, epoch):
        self.begun.append(epoch)

    def say(self, message):
        self.said.append(message)


def test_a_file_that_begins_otherwise_than_it_goes_on(tmp_path):
    path = tmp_path / "late.svm"
    path.write_text("1 1:2 2:1\n" * 20 + "2 1:1 2:2\n" * 20 + "1 0:3\n")
    heard = Listening()
    done = fit_file(path, tmp_path / "m", chunk_bytes=64, max_iter=3, watcher=heard)
    assert done.model.reader["zero_based"] is True
    assert done.model.coef.shape == (1, 3)
    assert done.model.classes.tolist() == [1.0, 2.0]
    assert heard.said == []
    assert heard.begun == [1, 2, 3]  # nothing is read again
    whole = fit_file(path, tmp_path / "m", max_iter=3, zero_based=True)
    assert whole.model.coef.tobytes() == done.model.coef.tobytes()
    assert sorted(os.listdir(tmp_path)) == ["late.svm", "m"]


def test_what_does_not_fit_in_memory_goes_to_a_file_and_it_is_said(tmp_path, monkeypatch):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:2 2:0.1\n2 2:1 3:0.3\n" * 30)
    whole = fit_file(path, tmp_path / "m", max_iter=4)
    assert (whole.cache_memory_bytes > 0, whole.cache_file_bytes) == (True, 0)
    monkeypatch.setattr("rosenblatt.io.block_cache.MEMORY_BYTES", 200)
    heard = Listening()
    done = fit_file(path, tmp_path / "m", chunk_bytes=64, max_iter=4, watcher=heard)
    assert 0 < done.cache_memory_bytes <= 200 < done.cache_file_bytes
    assert [str(tmp_path) in said for said in heard.said] == [True]
    assert sorted(os.listdir(tmp_path)) == ["m", "rows.svm"]
    assert done.model.coef.tobytes() == whole.model.coef.tobytes()


def test_a_third_class_may_come_late(tmp_path):
    path = tmp_path / "late.svm"
    path.write_text("1 1:2 2:1\n2 2:1\n" * 20 + "3 3:1\n")
    heard = Listening()
    done = fit_file(path, tmp_path / "m", chunk_bytes=64, watcher=heard, keep="last")
    assert (heard.said, heard.begun) == ([], [1])  # it is not read again
    X, y = np.array([[2.0, 1, 0], [0, 1, 0]] * 20 + [[0, 0, 1]]), np.array([1, 2] * 20 + [3])
    clf = Perceptron(shuffle=False, max_iter=1, tol=None).fit(sp.csr_matrix(X), y)
    assert done.model.coef.tobytes() == clf.coef_.tobytes()
    wrong = _wrong_before_learning(X, y, None, done.model.classes, True)
    assert done.progressive_error == wrong / 41


@pytest.mark.parametrize("classes", [2, 3])
def test_the_trace_of_a_file_is_that_of_its_matrix(tmp_path, classes):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 2)), np.arange(50) % classes
    rows = (f"{k} 1:{a!r} 2:{b!r}\n" for k, (a, b) in zip(y, X.tolist(), strict=True))
    (tmp_path / "rows.svm").write_text("".join(rows))
    done = fit_file(tmp_path / "rows.svm", tmp_path / "m", max_iter=3, chunk_bytes=200)
    clf = Perceptron(keep="average", shuffle=False, max_iter=3, tol=None).fit(X, y)
    traces = [clf.trace_] if classes == 2 else clf.trace_.traces
    for found, expected in zip(done.traces, traces, strict=True):
        assert found.loss.tolist() == expected.loss.tolist()
        assert found.mistakes.tolist() == expected.mistakes.tolist()
        assert found.n_rows == expected.n_rows == 50


@pytest.mark.parametrize("chunk_bytes", [100, 1 << 21])
def test_the_progressive_error_is_that_of_rows_however_parquet_is_cut(tmp_path, chunk_bytes):
    # a part of a row group names the classes of rows that come in later blocks
    rng = np.random.default_rng(0)
    X, words = rng.normal(size=(60, 3)), np.array(["b"] * 20 + ["a"] * 20 + ["c"] * 20)
    pq.write_table(pa.table({**dict(zip("xyz", X.T, strict=True)), "t": words}), tmp_path / "p")
    done = fit_file(
        tmp_path / "p", tmp_path / "m", format="parquet", target="t", chunk_bytes=chunk_bytes
    )
    wrong = _wrong_before_learning(X, words, None, done.model.classes, True)
    assert done.progressive_error == wrong / 60


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
        run([Chunk(np.array(X), np.array(y), weight)])


RULES = [
    PA(), PA1(0.3), PA2(0.3), AROW(0.5), SCW(), SOP(2.0), Margin(1.0), ALMA(0.5),
    AROW(covariance="full"),
]  # fmt: skip


@given(
    seed=st.integers(0, 2**31 - 1),
    rule=st.sampled_from(RULES),
    keep=st.sampled_from(["last", "average"]),
    n_classes=st.sampled_from([2, 3]),
    sparse=st.booleans(),
    late=st.booleans(),
)
def test_every_rule_gives_the_weights_of_fit(seed, rule, keep, n_classes, sparse, late):
    X, y, cuts = late_rows(seed, n_classes, late)
    clf = Perceptron(rule=rule, keep=keep, shuffle=False, max_iter=2, tol=None).fit(
        sp.csr_matrix(X) if sparse else X, y
    )
    check_same(run(cut(X, y, None, cuts, sparse), max_iter=2, keep=keep, rule=rule), clf)


def late_rows(seed, n_classes, late):
    """Rows whose last features, and if `late` some of whose classes, appear in the second half."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 6)) * (rng.random((30, 6)) < 0.5)
    y = rng.permutation(n_classes)[rng.integers(n_classes, size=30)]
    if late:
        y[:15] = y[0]
        y[15:18] = rng.permutation(3) % n_classes
    y[-n_classes:] = np.arange(n_classes)
    X[:15, 4:] = 0
    X[0, -1] = 0 if rng.random() < 0.9 else 1.0
    X[-1, -1] = 1.0
    return X, y, sorted(rng.integers(1, 30, size=3).tolist())


@pytest.mark.filterwarnings("ignore:Maximum number of iteration")
@given(
    seed=st.integers(0, 2**31 - 1),
    options=st.sampled_from([
        {"penalty": "l2", "alpha": 0.01},
        {"penalty": "l1", "alpha": 0.003},
        {"penalty": "elasticnet", "alpha": 0.01, "l1_ratio": 0.3},
        {"penalty": "l2", "alpha": 0.3, "learning_rate": "optimal"},
        {"learning_rate": "invscaling", "eta0": 2.0},
        {"learning_rate": "adaptive", "tol": 0.01, "n_iter_no_change": 1},
        {"mode": "batch", "eta0": [1.0, 0.5]},
        {"mode": "batch-mean"},
        {"weighting": "repeat"},
        {"tie": "half"},
        {"max_updates": 7},
        {"tol": 0.01, "n_iter_no_change": 2},
    ]),
    keep=st.sampled_from(["last", "average"]),
    n_classes=st.sampled_from([2, 3]),
    sparse=st.booleans(),
    late=st.booleans(),
    weighed=st.booleans(),
)  # fmt: skip
def test_penalties_rates_and_modes_give_the_weights_of_fit(
    seed, options, keep, n_classes, sparse, late, weighed
):
    X, y, cuts = late_rows(seed, n_classes, late)
    weight = np.random.default_rng(seed).choice([0.0, 1.0, 2.0], len(y)) if weighed else None
    if weighed:
        weight[0] = 1.0
    params = {"keep": keep, "shuffle": False, "max_iter": 4, "tol": None, **options}
    clf = Perceptron(**params)
    settings = TrainingSettings.from_params(clf.get_params(deep=False))
    clf.fit(sp.csr_matrix(X) if sparse else X, y, sample_weight=weight)
    chunks = ChunkSource(cut(X, y, weight, cuts, sparse))
    check_same(train(chunks, settings).group, clf)


def test_the_direct_rule_needs_all_classes_named():
    X, y, cuts = late_rows(0, 3, True)
    settings = TrainingSettings(direct=True, max_iter=3, keep="average")
    with pytest.raises(NotSupportedError, match="Name them before"):
        train(ChunkSource(cut(X, y, None, cuts, True)), settings)
    labels = LabelIndex(np.arange(3), closed=True)
    done = train(ChunkSource(cut(X, y, None, cuts, True), labels), settings).group
    clf = Perceptron(multiclass="direct", keep="average", shuffle=False, max_iter=3, tol=None)
    clf.fit(sp.csr_matrix(X), y)
    assert done.kept()[0].tobytes() == clf.coef_.tobytes()
    assert done.errors > 0


def test_ties_that_need_to_know_the_second_class():
    X, y, cuts = late_rows(0, 2, False)
    settings = TrainingSettings(tie="positive", max_iter=3)
    with pytest.raises(ParameterError, match="Name all classes"):
        train(ChunkSource(cut(X, y, None, cuts, False)), settings)
    clf = Perceptron(tie="positive", shuffle=False, max_iter=3, tol=None).fit(X, y)
    check_same(run(cut(X, y, None, cuts, False), classes=[0, 1], tie="positive", max_iter=3), clf)


def test_labels_are_of_one_kind():
    with pytest.raises(LabelError, match=r"in chunk 1, .*y holds labels of another kind"):
        run([([[1.0]], ["a"]), ([[2.0]], [1])])


@pytest.mark.parametrize("rule", [PA(), PA1(0.3), PA2(0.3), AROW(0.5), SCW(), SOP(2.0)])
def test_rows_too_large_for_their_squares_are_an_error(rule):
    X, y = np.array([[1.0, 2.0], [-2.0, 1.0]]) * 1e160, np.array([0, 1])
    with pytest.raises(OverflowedError, match="Scale the data"):
        run([Chunk(X, y, None)], rule=rule)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"rule": MinOver()}, "compares all rows at every step, and a file or stream"),
        ({"keep": "pocket"}, "keep='pocket' needs the whole training set"),
        ({"keep": "vote"}, "notes the weights after every update"),
        ({"order": "shuffle"}, "shuffle=True"),
    ],
)
def test_what_needs_all_rows_is_refused(settings, why):
    with pytest.raises(NotSupportedError, match=why):
        run([Chunk(np.eye(2), np.array([0, 1]), None)], **settings)


def test_rows_without_any_feature_are_refused(tmp_path):
    (tmp_path / "a.svm").write_text("1\n-1\n")
    with pytest.raises(DataError, match="no row has a feature"):
        fit_file(tmp_path / "a.svm", tmp_path / "m")
    with pytest.raises(DataError, match="no rows"):
        run([])


@pytest.mark.parametrize("options", [{}, {"penalty": "l1", "alpha": 0.01}, {"mode": "batch"}])
def test_rows_without_a_feature_may_come_first(options, tmp_path):
    X = np.array([[0.0, 0], [0, 0], [0, 2], [1, 3], [1, -1]])
    y = np.array([1, 0, 1, 0, 0])
    clf = Perceptron(shuffle=False, max_iter=5, tol=None, **options)
    settings = TrainingSettings.from_params(clf.get_params(deep=False))
    clf.fit(sp.csr_matrix(X), y)
    path = tmp_path / "a.svm"
    path.write_text("1\n0\n1 2:2\n0 1:1 2:3\n0 1:1 2:-1\n")
    source = read_chunks(path, chunk_bytes=2, zero_based=False).source()
    assert len(list(source.blocks())) > 3
    check_same(train(source, settings).group, clf)


def test_a_thousand_classes_in_blocks():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(300), 3))
    X = rng.normal(size=(900, 5))
    clf = Perceptron(shuffle=False, max_iter=1, tol=None).fit(X, y)
    check_same(run(cut(X, y, None, [200, 201, 700], False)), clf)


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ([Decimal("1.5"), Decimal("2.5")], "values of type decimal"),
        ([date(2020, 1, 1), date(2020, 1, 2)], "of type date32"),
        ([datetime(2020, 1, 1), datetime(2020, 1, 2)], "of type timestamp"),
        ([b"a", b"b"], "of type binary"),
        (["a" * 1001, "b"], "1,001 characters in a label, the limit is 1,000"),
    ],
)
def test_labels_that_a_model_cannot_hold_are_refused_at_the_first_block(labels, why, tmp_path):
    """Not when the model is saved, after the last epoch."""
    n = 4000
    table = pa.table({"x": np.arange(float(n)), "y": labels * (n // 2)})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=100)
    heard = Heard()
    with pytest.raises(RosenblattError, match=why):
        fit_file(
            tmp_path / "rows.parquet", tmp_path / "m", target="y", max_iter=3, chunk_bytes=1000,
            watcher=heard,
        )  # fmt: skip
    assert heard.rows <= n / 2
    assert not (tmp_path / "m").exists()


class Heard(Watcher):
    """Knows how many rows were read."""

    rows = 0

    def progress(self, now):
        self.rows = max(self.rows, now.rows)
