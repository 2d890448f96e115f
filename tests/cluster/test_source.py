"""DaskSource: whatever collection rows come in, the shards hold those rows."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

dask = pytest.importorskip("dask", reason="the extra [dask] is not installed")
import dask.array as da  # noqa: E402  # after importorskip
import dask.dataframe as dd  # noqa: E402  # after importorskip
import pandas as pd  # noqa: E402  # after importorskip

from rosenblatt.cluster import DaskPerceptron, DaskSource  # noqa: E402  # after importorskip
from rosenblatt.cluster.source import size_of  # noqa: E402  # after importorskip
from rosenblatt.data.block import Csr  # noqa: E402  # after importorskip
from rosenblatt.errors import (  # noqa: E402  # after importorskip
    ClusterError,
    DataError,
    DataTypeError,
    LabelError,
    MissingPackageError,
)

RNG = np.random.default_rng(0)
X = RNG.integers(-3, 4, (100, 5)).astype(np.float64)
Y = np.where(X[:, 0] > 0, "spam", "ham")
WEIGHT = RNG.integers(1, 4, 100).astype(np.float64)


def held(shards: DaskSource) -> tuple[Any, Any, Any]:
    """All rows, labels and weights as the workers have them."""
    blocks = list(shards.blocks())
    Xs = [b.X.to_scipy().toarray() if isinstance(b.X, Csr) else b.X for b in blocks]
    weights = [b.sample_weight for b in blocks]
    labels = np.concatenate([shards.labels.values[b.y] for b in blocks])
    return np.concatenate(Xs), labels, None if weights[0] is None else np.concatenate(weights)


@pytest.mark.parametrize("kind", ["rows", "columns", "sparse", "unknown", "delayed", "numpy y"])
def test_any_collection_gives_the_same_rows(client: Any, kind: str) -> None:
    rows, labels = da.from_array(X, chunks=(30, 5)), da.from_array(Y, chunks=25)
    weights: Any = da.from_array(WEIGHT, chunks=10)
    sizes = (30, 30, 30, 10)
    if kind == "columns":
        rows = rows.rechunk((30, 2))
    elif kind == "sparse":
        rows = rows.map_blocks(sp.csr_matrix)
    elif kind == "numpy y":
        labels, weights = Y, WEIGHT
    elif kind == "unknown":
        there = da.from_array(X[:, 1] > -3, chunks=30)
        labels, weights = (v.rechunk(30)[there] for v in (labels, weights))
        rows = rows[there]
    elif kind == "delayed":
        cut = [slice(0, 60), slice(60, 60), slice(60, 100)]
        rows, labels, weights = ([dask.delayed(a[c]) for c in cut] for a in (X, Y, WEIGHT))
        sizes = (60, 40)  # the empty one is left out
    shards = DaskSource.of(rows, labels, weights)
    there = X[:, 1] > -3 if kind == "unknown" else np.ones(100, bool)
    got = held(shards)
    assert np.array_equal(got[0], X[there])
    assert np.array_equal(got[1], Y[there])
    assert np.array_equal(got[2], WEIGHT[there])
    assert shards.n_rows == there.sum()
    assert shards.class_rows.sum(axis=0).tolist() == [
        (Y[there] == "ham").sum(),
        (Y[there] == "spam").sum(),
    ]
    if kind != "unknown":
        assert shards.sizes == sizes
    firsts = shards.map(lambda block: block.first_row)
    assert firsts == np.cumsum([0, *shards.sizes[:-1]]).tolist()


def test_partitions_merge_into_few_shards(client: Any) -> None:
    rows = da.from_array(X.astype(np.float32), chunks=(7, 5))
    shards = DaskSource.of(rows, Y, n_shards=4)
    assert len(shards) == 4
    assert shards.dtype == np.float32
    assert np.array_equal(held(shards)[0], X)
    total = shards.reduce(lambda block, c: c * block.X.sum(axis=0), sum, np.ones(5))
    assert np.array_equal(total, X.sum(axis=0))
    large = np.ones(100_000)
    assert shards.map(lambda block, v: (block.n_rows, v.size), large)[3] == (
        shards.sizes[3],
        100_000,
    )
    own = shards.map_and_keep(lambda block: block.first_row)
    assert shards.map(lambda block, first: block.first_row - first, own) == [0] * 4
    assert np.array_equal(shards.take([99, 3]).X, X[[99, 3]])


def test_a_tree_of_many_shards(client: Any) -> None:
    shards = DaskSource.of(da.from_array(X, chunks=(5, 5)), Y)
    in_order = shards.reduce(lambda block: f"{block.first_row // 5}", " ".join)
    assert in_order == " ".join(map(str, range(20)))
    assert shards.only([3, 7]).map(lambda block: block.first_row) == [15, 35]


def test_categories_become_features(client: Any) -> None:
    frame = pd.DataFrame(
        {
            "size": np.arange(20.0),
            "colour": pd.Categorical(["red", "blue", None, "blue"] * 5, ["red", "green", "blue"]),
        }
    )
    rows = dd.from_pandas(frame, npartitions=3)
    shards = DaskSource.of(rows, (rows["size"] > 9).astype(int))
    assert shards.feature_names == ("size", "colour=blue", "colour=green", "colour=red")
    assert held(shards)[0][:3].tolist() == [[0, 0, 0, 1], [1, 1, 0, 0], [2, 0, 0, 0]]
    unknown = rows.assign(colour=rows["colour"].cat.as_unknown())
    texts = frame.assign(colour=frame["colour"].astype(object))
    for looked_up in (unknown, dd.from_pandas(texts, npartitions=3)):
        read = DaskSource.of(looked_up, rows["size"] > 9)
        assert read.feature_names == ("size", "colour=blue", "colour=red")  # those that occur
        assert held(read)[0][:3].tolist() == [[0, 0, 1], [1, 1, 0], [2, 0, 0]]
        clf = DaskPerceptron(max_iter=9, tol=None).fit(looked_up, rows["size"] > 9)
        assert clf.predict(looked_up).compute().tolist() == clf.predict(rows).compute().tolist()
    for spelling in (str, "object", "string", "string[pyarrow]"):
        with dask.config.set({"dataframe.convert-string": False}):
            texts = dd.from_pandas(frame.dropna().astype({"colour": spelling}), npartitions=2)
        read = DaskSource.of(texts, texts["size"] > 9)
        assert read.feature_names == ("size", "colour=blue", "colour=red")
    mixed = pd.DataFrame({"colour": ["red", 1.5] * 10}, dtype=object)
    with dask.config.set({"dataframe.convert-string": False}):
        numbers_too = dd.from_pandas(mixed, npartitions=2)
    with pytest.raises(DataTypeError, match=r"partition 0 of 2: .*'colour' holds 1\.5, which"):
        DaskSource.of(numbers_too, rows["size"] > 9)
    dates = rows.assign(colour=dd.to_datetime(rows["size"]))
    with pytest.raises(DataTypeError, match="'colour' holds datetime"):
        DaskSource.of(dates, rows["size"] > 9)
    missing = rows.assign(size=rows["size"].where(rows["size"] != 8))
    with pytest.raises(DataError, match=r"partition 1: .*row 1, column 'size'"):
        DaskSource.of(missing, rows["size"] > 9)


@pytest.mark.parametrize(
    ("values", "names"),
    [([True, False], ("c=false", "c=true")), ([2.0, 0.5], ("c=0.5", "c=2")), ([], ())],
)
def test_categories_that_are_no_texts(client: Any, values: list[Any], names: Any) -> None:
    given = values * 6 if values else [None] * 12
    frame = pd.DataFrame({"size": np.arange(12.0), "c": pd.Categorical(given, values)})
    rows = dd.from_pandas(frame, npartitions=3)
    for looked_up in (rows, rows.assign(c=rows["c"].cat.as_unknown())):
        read = DaskSource.of(looked_up, rows["size"] > 5)
        assert read.feature_names == ("size", *names)
        spelled = [f"c={value:g}" if value in (2, 0.5) else f"c={value}".lower() for value in given]
        expected = [[value == name for name in names] for value in spelled]
        assert held(read)[0][:, 1:].tolist() == expected


def _broken(block: Any) -> Any:
    raise OSError("the disk is on fire")


ROWS = da.from_array(X, chunks=(30, 5))
BAD: list[tuple[str, Any, Any, type[Exception], str]] = [
    ("numpy", X, Y, DataTypeError, "Use Perceptron"),
    ("one class", ROWS, np.zeros(100), LabelError, "greater than one"),
    ("no labels", ROWS, None, LabelError, "y is None"),
    ("too few labels", ROWS, Y[:99], LabelError, "100 rows in X, 99 in y"),
    ("other parts", ROWS, [dask.delayed(Y)], LabelError, "X has 4 partitions and y has 1"),
    (
        "a kind of label", [dask.delayed(X)] * 2, [dask.delayed(Y), dask.delayed(X[:, 0] > 0)],
        LabelError, "another kind",
    ),
    ("no rows", [dask.delayed(X[:0])], [dask.delayed(Y[:0])], DataError, "no rows in any"),
    ("nan", da.where(ROWS == 3, np.nan, ROWS), Y, DataError, "partition 0: .*NaN"),
    (
        "widths", [dask.delayed(X), dask.delayed(X[:, :3])], [dask.delayed(Y)] * 2, DataError,
        "of 3 and of 5 features",
    ),
    (
        "a source that fails", [dask.delayed(X), dask.delayed(_broken)(X)], [dask.delayed(Y)] * 2,
        ClusterError, "partition 1: OSError: the disk is on fire",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("X", "y", "error", "words"), [b[1:] for b in BAD], ids=[b[0] for b in BAD]
)
def test_errors_name_the_partition(
    client: Any, X: Any, y: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        DaskSource.of(X, y)
    assert caught.type is error


def test_a_function_that_raises_names_its_shard(client: Any) -> None:
    shards = DaskSource.of(ROWS, Y)

    def picky(block: Any) -> int:
        if block.first_row == 60:
            raise ZeroDivisionError("no")
        return 1

    for ask in (lambda: shards.map(picky), lambda: shards.reduce(picky, sum)):
        with pytest.raises(ClusterError, match="shard 2 of 4: ZeroDivisionError: no") as caught:
            ask()
        assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_without_a_cluster_it_says_how_to_start_one(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    def none() -> None:
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "default_client", none)
    with pytest.raises(ClusterError, match="Client\\(n_workers=2"):
        DaskSource.of(ROWS, Y)


def test_without_dask_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingPackageError, match=r"rosenblatt\[dask\]"):
        DaskSource.of(np.eye(2), [0, 1])


def test_one_large_argument_among_many_is_seen():
    weights = np.zeros(1_000_000)
    job = (*range(20), {"w": weights}, *range(20))  # Dask's own estimate looks at ten of them
    assert {size_of((job,)) >= weights.nbytes for _ in range(20)} == {True}
    assert size_of((1, "text", [2.0, 3.0])) < 1000
