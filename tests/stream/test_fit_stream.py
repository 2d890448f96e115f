"""fit_stream and shuffled passes: the weights of the same rows in one matrix, in the same order."""

import json
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import Perceptron, fit_file, fit_stream, load_model, read_chunks
from rosenblatt.data.block import Block
from rosenblatt.errors import (
    CheckpointError,
    DataError,
    LabelError,
    NotSupportedError,
    ParameterError,
)
from rosenblatt.io import block_cache as cache_module
from rosenblatt.io.block_cache import BlockCache
from rosenblatt.model.model_file import save_model


def keys(seed, number, k, n):
    """As docs/how-to/out_of_core.md has it."""
    raw = np.random.PCG64(np.random.SeedSequence([seed, number, k])).random_raw(n).tolist()
    return sorted(range(n), key=lambda i: raw[i])


def visits(sizes, seed, number):
    """The rows that a pass visits, in order, where blocks have these sizes."""
    starts = [sum(sizes[:k]) for k in range(len(sizes))]
    blocks = [list(range(s, s + n)) for s, n in zip(starts, sizes, strict=True)]
    blocks = [blocks[k] for k in keys(seed, number, 0, len(sizes))]
    rows = []
    for k, at in enumerate(range(0, len(blocks), 8), start=1):
        mixed = [row for block in blocks[at : at + 8] for row in block]
        rows += [mixed[i] for i in keys(seed, number, k, len(mixed))]
    return rows


def table(n, d=4, seed=0, classes=2):
    """Rows of which no hyperplane gets all right; all classes among the first of them."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)).round(3), rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    return X, y


def cut(X, y, sizes, weight=None, sparse=False):
    starts = np.cumsum([0, *sizes])
    X = sp.csr_matrix(X) if sparse else X
    parts = [slice(lo, hi) for lo, hi in pairwise(starts)]
    return [(X[p], y[p]) if weight is None else (X[p], y[p], weight[p]) for p in parts]


def write(path, X, y):
    """As LIBSVM."""
    with open(path, "w") as file:
        for x, label in zip(X, y, strict=True):
            print(label, *(f"{k + 1}:{v}" for k, v in enumerate(x)), file=file)


@given(
    sizes=st.lists(st.integers(1, 5), min_size=2, max_size=20),
    seed=st.integers(0, 2**32 - 1),
    passes=st.integers(1, 3),
    keep=st.sampled_from(["average", "last"]),
    sparse=st.booleans(),
    classes=st.sampled_from([2, 3]),
    weighed=st.booleans(),
    once=st.booleans(),
    named=st.booleans(),
)
def test_a_shuffled_stream_is_perceptron_on_the_permuted_rows(
    sizes, seed, passes, keep, sparse, classes, weighed, once, named
):
    X, y = table(sum(sizes), classes=min(classes, sum(sizes)))
    weight = np.random.default_rng(1).choice([0.5, 1.0, 2.0], len(y)) if weighed else None
    chunks = cut(X, y, sizes, weight, sparse)
    model = fit_stream(
        iter(chunks) if once else chunks, max_iter=passes, keep=keep,
        classes=np.unique(y) if named else None, shuffle=True, random_state=seed,
    ).model  # fmt: skip
    done = model.training["epochs"]
    orders = [visits(sizes, seed, p) for p in range(1, done + 1)]
    rows = np.concatenate(orders)
    assert all(sorted(order) == list(range(len(y))) for order in orders)
    # all passes as one: whatever stops early in a class goes on there, so only if none does
    if set(model.training["stop_reasons"]) == {"max_iter"}:
        clf = Perceptron(shuffle=False, max_iter=1, tol=None, keep=keep)
        A = sp.csr_matrix(X) if sparse else X
        clf.fit(A[rows], y[rows], sample_weight=None if weight is None else weight[rows])
        assert np.array_equal(model.coef, clf.coef_)
        assert np.array_equal(model.intercept, clf.intercept_)
        assert model.training["mistakes"] == clf.n_mistakes_


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["list", "function", "generator"])
def test_a_stream_in_order_is_perceptron_on_the_whole(kind, sparse, tmp_path):
    X, y = table(60, classes=3)
    y = np.array(["a", "b", "c"])[y]
    chunks = cut(X, y, [20, 1, 39], sparse=sparse)
    source = {"list": chunks, "function": lambda: iter(chunks), "generator": (c for c in chunks)}
    model = fit_stream(source[kind], max_iter=4, feature_names=list("wxyz")).model
    clf = Perceptron(shuffle=False, max_iter=4, tol=None, keep="average")
    clf.fit(sp.csr_matrix(X) if sparse else X, y)
    assert np.array_equal(model.coef, clf.coef_)
    save_model(model, tmp_path / "m")
    back = load_model(tmp_path / "m")
    assert back.predict(X).tolist() == clf.predict(X).tolist()
    assert "feature" in str(back.explain(dict(zip("wxyz", X[0], strict=True))))


def test_an_iterator_may_fill_the_same_array_again():
    X, y = table(40)

    def chunks():
        room = np.empty((10, 4))
        for k in range(0, 40, 10):
            room[:] = X[k : k + 10]
            yield room, y[k : k + 10]

    asked = {"max_iter": 3, "shuffle": True, "random_state": 5}
    one, other = fit_stream(chunks(), **asked), fit_stream(cut(X, y, [10] * 4), **asked)
    assert np.array_equal(one.model.coef, other.model.coef)


def test_labels_that_come_late():
    X, y = table(30)
    y = np.sort(y)
    chunks = cut(X, y, [10, 20])
    whole = Perceptron(shuffle=False, max_iter=2, tol=None, keep="average").fit(X, y)
    for source in (chunks, iter(chunks)):
        assert np.array_equal(fit_stream(source, max_iter=2).model.coef, whole.coef_)
    named = fit_stream(iter(chunks), max_iter=2, classes=[1, 0])
    assert np.array_equal(named.model.coef, whole.coef_)
    with pytest.raises(LabelError, match=r"labels \[1\] that are not among classes \[0, 2\]"):
        fit_stream(chunks, classes=[0, 2])


def test_raw_rows_and_files(tmp_path):
    batches = [({"x": [1.0, 3.0, 2.0], "s": ["a", "b", "a"]}, [0, 1, 0])] * 4
    model = fit_stream(iter(batches), max_iter=2, shuffle=True, random_state=0).model
    assert [model.name(k) for k in range(3)] == ["x", "s=a", "s=b"]
    assert model.columns is not None
    assert model.predict(batches[0][0]).tolist() == [0, 1, 0]
    X, y = table(50)
    write(tmp_path / "rows.svm", X, y)
    asked = {"max_iter": 3, "shuffle": True, "random_state": 1}
    ours = fit_stream(read_chunks(tmp_path / "rows.svm", chunk_bytes=200), **asked).model
    file = fit_file(tmp_path / "rows.svm", tmp_path / "m", chunk_bytes=200, **asked)
    assert np.array_equal(ours.coef, file.model.coef)
    assert ours.options["random_state"] == 1
    one = fit_file(tmp_path / "rows.svm", tmp_path / "m", chunk_bytes=200, threads=1, **asked)
    assert np.array_equal(one.model.coef, ours.coef)
    chunks = list(read_chunks(tmp_path / "rows.svm", chunk_bytes=200))
    assert len(chunks) > 8
    rows = np.concatenate([visits([len(c.y) for c in chunks], 1, p) for p in (1, 2, 3)])
    clf = Perceptron(shuffle=False, max_iter=1, tol=None, keep="average")
    assert np.array_equal(clf.fit(sp.csr_matrix(X)[rows], y[rows]).coef_, ours.coef)


def test_a_sorted_file_is_learned_when_shuffled(tmp_path):
    X, _ = table(2000, seed=3)
    y = (X @ [1.0, -2, 3, 0.5] > 0).astype(int)
    order = np.argsort(y, kind="stable")
    lines = (",".join(map(str, [*x, b])) for x, b in zip(X[order], y[order], strict=True))
    (tmp_path / "sorted.csv").write_text("\n".join(lines))
    asked = {"target": -1, "chunk_bytes": 2000, "keep": "last"}
    errors = {}
    for shuffle in (False, True):
        done = fit_file(tmp_path / "sorted.csv", tmp_path / "m", shuffle=shuffle, **asked)
        errors[shuffle] = np.mean(done.model.predict(X) != y)
    assert errors[True] < 0.05 < 0.1 < errors[False]


def test_weights_that_come_back_prove_nothing_when_shuffled():
    # two rows that contradict each other: in order, the weights return after a pass
    X, y = np.array([[1.0], [1.0]]), np.array([0, 1])
    asked = {"max_iter": 50, "keep": "last", "fit_intercept": False}
    assert fit_stream([(X, y)], **asked).stop_reasons == ("cycle",)
    shuffled = fit_stream([(X, y)], shuffle=True, random_state=0, **asked)
    assert (shuffled.stop_reasons, shuffled.n_epochs) == (("max_iter",), 50)


def test_blocks_come_from_the_cache_in_any_order(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "MEMORY_BYTES", 300)
    X, y = table(60)
    chunks = [Block(A, b.astype(np.int32), None) for A, b in cut(X, y, [5] * 12)]
    with BlockCache(tmp_path) as cache:
        for chunk in chunks:
            cache.add(chunk)
        assert len(cache) == 12
        assert min(cache.file_bytes, cache.memory_bytes) > 0
        for order in ([11, 0, 5, 5, 1], range(12)):
            taken = list(cache.read(order))  # each in memory of its own
            for k, found in zip(order, taken, strict=True):
                assert np.array_equal(found.X, chunks[k].X)
            shuffled = {}
    for room in (300, 1 << 26):
        monkeypatch.setattr(cache_module, "MEMORY_BYTES", room)
        model = fit_stream(
            iter([tuple(c[:2]) for c in chunks]),
            max_iter=3,
            shuffle=True,
            random_state=4,
            cache=tmp_path,
        )
        shuffled[room] = model.model.coef
    assert np.array_equal(shuffled[300], shuffled[1 << 26])
    assert not list(tmp_path.iterdir())


def test_memory_is_that_of_a_few_chunks():
    rng, n = np.random.default_rng(0), 1000

    def endless(count):
        for _ in range(count):
            X = rng.standard_normal((n, 50))
            yield X, X[:, 0] > 0

    peaks = {}
    fit_stream(endless(2))  # imports
    for count in (10, 100):
        tracemalloc.start()
        fit_stream(endless(count))
        peaks[count] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    block = n * 50 * 8
    assert peaks[100] < 1.1 * peaks[10]
    assert peaks[100] < 5 * block


class Stop(Exception):
    pass


class StopsAt:
    """A watcher that lets a run crash when the pass has come so far."""

    def __init__(self, pass_number, rows):
        self.at, self.rows, self.now = pass_number, rows, 0

    def begin(self, pass_number):
        self.now = pass_number

    def progress(self, now):
        if self.now == self.at and now.rows >= self.rows:
            raise Stop

    def say(self, message):
        pass


@pytest.mark.parametrize("pass_number", [1, 2, 3])
def test_a_shuffled_run_goes_on_from_a_checkpoint(tmp_path, pass_number):
    X, y = table(300)
    write(tmp_path / "rows.svm", X, y)
    asked = {"max_iter": 3, "shuffle": True, "random_state": 9, "chunk_bytes": 300}
    whole = fit_file(tmp_path / "rows.svm", tmp_path / "whole", **asked)
    kept = {"checkpoint": tmp_path / "saved", "checkpoint_every": 0, **asked}
    watcher = StopsAt(pass_number, 200)
    with pytest.raises(Stop):
        fit_file(tmp_path / "rows.svm", tmp_path / "m", watcher=watcher, **kept)
    if pass_number > 1:  # else it may have stopped before the first visit
        for other in ({"shuffle": True, "random_state": 8}, {"chunk_bytes": 400}):
            with pytest.raises(CheckpointError, match="another run"):
                fit_file(tmp_path / "rows.svm", tmp_path / "m", resume=True, **{**kept, **other})
    done = fit_file(tmp_path / "rows.svm", tmp_path / "m", resume=True, **kept)
    assert np.array_equal(done.model.coef, whole.model.coef)
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()


def test_raw_columns_shuffled_and_saved(tmp_path):
    lines = [f"{k % 7},{'ab'[k % 2]}{k % 3},{'yes' if k % 5 < 2 else 'no'}" for k in range(300)]
    (tmp_path / "rows.csv").write_text("\n".join(["x,s,y", *lines]))
    asked = {"target": "y", "max_iter": 2, "shuffle": True, "random_state": 2, "chunk_bytes": 400}
    whole = fit_file(tmp_path / "rows.csv", tmp_path / "whole", **asked)
    kept = {"checkpoint": tmp_path / "saved", "checkpoint_every": 0, **asked}
    with pytest.raises(Stop):
        fit_file(tmp_path / "rows.csv", tmp_path / "m", watcher=StopsAt(2, 100), **kept)
    done = fit_file(tmp_path / "rows.csv", tmp_path / "m", resume=True, **kept)
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    assert done.table.facts() == whole.table.facts()
    assert done.table.remarks() == whole.table.remarks()


@pytest.mark.parametrize(
    ("chunks", "settings", "error", "message"),
    [
        ([], {}, DataError, "no rows"),
        ([([[1.0]], [0, 1])], {}, LabelError, "in chunk 0, .*inconsistent numbers"),
        ([([[1.0], [2.0]], [0, 1]), ([[1.0, 2.0]], [0])], {}, DataError, "chunk 1 has 2 features"),
        ([[1.0], [2.0]], {}, DataError, "chunk 0 is a list, expected pairs"),
        (np.ones((3, 2)), {}, DataError, "chunks is a ndarray. Give an iterable of pairs"),
        (3, {}, DataError, "chunks is a int"),
        (lambda: 3, {}, DataError, "returned a int"),
        ("file.svm", {}, DataError, "use fit_file"),
        ([([[np.nan]], [0])], {}, DataError, "in chunk 0, .*NaN"),
        ([(sp.eye_array(2).tocsr(), [0, 1]), ([[1.0, 2]], [0])], {}, DataError, "chunk 1 is dense"),
        (
            [([[1.0], [2.0]], [0, 1])],
            {"shuffle": True, "random_state": -1},
            ParameterError,
            "from 0 to 4,294,967,",
        ),
        (
            [([[1.0], [2.0]], [0, 1])],
            {"shuffle": True, "random_state": 0.5},
            ParameterError,
            "whole number",
        ),
        (
            [([[1.0], [2.0]], [0, 1])],
            {"shuffle": True, "random_state": None},
            ParameterError,
            "got None",
        ),
        ([([[1.0], [2.0]], [0, 1])], {"max_iter": 2.5}, ParameterError, "whole number >= 1"),
        (
            [([[1.0], [2.0]], [0, 1])], {"max_iter": 2, "cache": "nowhere"}, ParameterError,
            "cache must be a folder",
        ),
        ([([[1.0], [2.0]], [0, 1])], {"feature_names": ["a", "b"]}, ParameterError, "2 names"),
        ([([[1.0], [2.0]], [0, 1])], {"keep": "vote"}, ParameterError, "average"),
        ([([[1.0], [2.0]], [0, 1])], {"rule": "minover"}, NotSupportedError, "compares all rows"),
    ],
)  # fmt: skip
def test_wrong_streams_are_explained(chunks, settings, error, message):
    with pytest.raises(error, match=message):
        fit_stream(chunks, **settings)


def test_the_command_shuffles(tmp_path, capsys):
    from rosenblatt.cli import app

    (tmp_path / "rows.svm").write_text("1 1:1\n-1 2:1\n1 1:2\n-1 1:0.5 2:3\n")
    command = ["fit", str(tmp_path / "rows.svm"), "--out", str(tmp_path / "m"), "--json"]
    with pytest.raises(SystemExit) as end:
        app([*command, "--shuffle", "--random-state", "3", "--quiet"])
    assert end.value.code in (0, None)
    assert json.loads(capsys.readouterr().out)["rows"] == 4
    assert load_model(tmp_path / "m").options["random_state"] == 3
