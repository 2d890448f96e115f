"""Sources: labels as codes, blocks of rows, rows from a position on."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import read_chunks
from rosenblatt.data.block import START, Csr, Position, stack
from rosenblatt.data.source import ChunkSource, LabelIndex
from rosenblatt.errors import DataError, LabelError
from rosenblatt.io.block_cache import CachedSource, ShuffledSource


def dense(X):
    if not isinstance(X, Csr):
        return X
    return sp.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape).toarray()


def rows_of(blocks):
    """Rows, labels, weights and the number of the first row of all blocks."""
    blocks = list(blocks)
    width = max(b.X.shape[1] for b in blocks)
    X = [np.pad(dense(b.X), ((0, 0), (0, width - b.X.shape[1]))) for b in blocks]
    return np.concatenate(X), np.concatenate([b.y for b in blocks]), blocks[0].first_row


@given(
    parts=st.lists(
        st.lists(st.sampled_from(["b", "a", "dd", "c"]), min_size=1, max_size=5), max_size=5
    )
)
def test_codes_are_in_the_order_of_appearance(parts):
    labels, seen = LabelIndex(), []
    for part in parts:
        codes = labels.encode(np.array(part))
        seen += [label for label in dict.fromkeys(part) if label not in seen]
        assert codes.dtype == np.int32
        assert [seen[code] for code in codes] == part
    assert labels.values.tolist() == seen
    assert labels.classes.tolist() == sorted(seen)
    assert [labels.classes[k] for k in labels.class_numbers[:-1]] == seen
    assert labels.class_numbers[-1] == -1


def test_labels_that_do_not_fit():
    labels = LabelIndex()
    assert labels.encode(np.array([2, 1])).tolist() == [0, 1]
    assert labels.encode(np.array([1.0, 3.0])).tolist() == [1, 2]  # whole numbers of any type
    assert labels.classes.tolist() == [1, 2, 3]
    with pytest.raises(LabelError, match="of another kind"):
        labels.encode(np.array(["a"]))
    labels.closed = True
    with pytest.raises(LabelError, match=r"labels \[7\] that are not among classes \[1.0, 2.0, 3"):
        labels.encode(np.array([1, 7]))
    assert len(labels) == 3


def chunks(sparse, n=23):
    rng = np.random.default_rng(0)
    X, y = rng.integers(1, 9, (n, 3)).astype(float), rng.integers(0, 3, n)
    cuts = [0, 4, 5, 16, n]
    parts = [slice(*pair) for pair in pairwise(cuts)]
    return X, y, [(sp.csr_matrix(X[p]) if sparse else X[p], y[p]) for p in parts]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["chunks", "cached", "file"])
def test_rows_after_a_position(kind, sparse, tmp_path):
    X, y, parts = chunks(sparse)
    source = ChunkSource(parts, copy=True)
    if kind == "cached":
        source = CachedSource(source, tmp_path)
    elif kind == "file":
        lines = (
            f"{k} " + " ".join(f"{j + 1}:{v:g}" for j, v in enumerate(x))
            for x, k in zip(X, y, strict=True)
        )
        (tmp_path / "rows.svm").write_text("\n".join(lines) + "\n")
        source = read_chunks(tmp_path / "rows.svm", chunk_bytes=60, zero_based=False).source()
    ends = [START]
    for epoch in (1, 2):
        for after in ends:
            found, codes, first = rows_of(source.blocks(epoch, after))
            assert np.array_equal(found, X[after.rows :])
            assert np.array_equal(source.labels.values[codes], y[after.rows :])
            assert first == after.rows
        ends = [START, *(block.end for block in source.blocks(epoch))][:-1]
        if kind != "file":
            ends.append(Position(rows=7))
    assert source.n_rows == len(y)
    few = source.take([11, 0, 11])
    assert np.array_equal(dense(few.X), X[[11, 0, 11]])
    assert source.labels.values[few.y].tolist() == y[[11, 0, 11]].tolist()


def test_shuffled_rows_after_a_position(tmp_path):
    X, _, parts = chunks(True)
    with CachedSource(ChunkSource(iter(parts), copy=True), tmp_path) as cached:
        source = ShuffledSource(cached, 3)
        assert not source.same_order
        assert not source.labels.closed
        whole = rows_of(source.blocks(2))
        assert source.labels.closed
        assert source.n_rows == len(X)
        assert sorted(whole[0].tolist()) == sorted(X.tolist())
        rest = rows_of(source.blocks(2, Position(rows=9)))
        assert np.array_equal(rest[0], whole[0][9:])
        assert rest[2] == 9


def test_an_iterator_is_read_once():
    source = ChunkSource(iter(chunks(False)[2]))
    assert not source.repeatable
    assert rows_of(source.blocks())[2] == 0
    with pytest.raises(DataError, match="can be read only once"):
        next(source.blocks())


def test_blocks_put_together():
    X, y, parts = chunks(True)
    weighed = [(*parts[0], np.full(4, 2.0)), *parts[1:]]
    whole = stack(list(ChunkSource(weighed).blocks()))
    assert np.array_equal(dense(whole.X), X)
    assert whole.sample_weight.tolist() == [2.0] * 4 + [1.0] * (len(y) - 4)


def test_columns_beyond_32_bits_are_refused():
    wide = sp.csr_array((np.ones(1), np.array([2**31], np.int64), np.array([0, 1])), (1, 2**31 + 1))
    with pytest.raises(DataError, match="at most 2,147,483,647"):
        list(ChunkSource([(wide, [1])]).blocks())
