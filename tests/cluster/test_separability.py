"""Verdicts about shards are those about all rows, and certificates verify on either side."""

from __future__ import annotations

import itertools
import os
import pickle
import signal
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("distributed", reason="the extra [dask] is not installed")
import dask.array as da
import dask.dataframe as dd
import pandas as pd

from rosenblatt import separability as on_one_machine
from rosenblatt.cluster import DaskSource, separability
from rosenblatt.data.block import START, Block, Csr, Position
from rosenblatt.data.cone import Cone, as_cone
from rosenblatt.data.source import PerBlock, Source
from rosenblatt.errors import DataError, DataTypeError, LabelError, UndecidedError
from rosenblatt.prove.certificate import data_digest
from tests.strategies import integer_rows

# ------------------------------------------------- shards without a cluster


class Cut(Source):
    """Rows in pieces that are apart: all that goes there and comes back is pickled."""

    remote = True

    def __init__(self, X: Any, y: Any, pieces: tuple[Block, ...]) -> None:
        self.labels = as_cone(X, y).source.labels
        self.n_rows, self.n_features = X.shape
        self.pieces = pieces

    def blocks(self, epoch: int = 1, after: Position = START) -> Any:
        return iter(self.pieces)

    def map(self, function: Any, *args: Any) -> list[Any]:
        found = []
        for k, block in enumerate(self.pieces):
            filled = [a.values[k] if isinstance(a, PerBlock) else a for a in args]
            sent = pickle.loads(pickle.dumps((function, block, *filled)))
            found.append(pickle.loads(pickle.dumps(sent[0](*sent[1:]))))
        return found


def cut(X: Any, y: Any, ends: list[int], sparse: list[bool]) -> Cone:
    whole = as_cone(X, y).source.block
    edges = sorted({0, len(y), *(e for e in ends if e < len(y))})
    pieces = []
    for k, (a, b) in enumerate(itertools.pairwise(edges)):
        block = whole.rows(a, b)
        if sparse[k]:
            rows = sp.csr_array(block.X)
            block = block._replace(X=Csr(rows.data, rows.indices, rows.indptr, rows.shape[1]))
        pieces.append(block)
    return as_cone(Cut(X, y, tuple(pieces)))


def agree(X: Any, y: Any, shards: Any, intercept: bool) -> None:
    """The same verdict, and either certificate holds on the other side."""
    here = on_one_machine(X, y, fit_intercept=intercept)
    there = separability(shards, fit_intercept=intercept)
    assert there.verdict == here.verdict
    assert there.data == here.data
    assert there.verify(X, y)
    assert here.verify(shards)
    assert there.verify(shards)


cuts = st.lists(st.integers(1, 9), max_size=4)
kinds = st.lists(st.booleans(), min_size=5, max_size=5)


@given(integer_rows(max_rows=10, max_features=3, most=2), st.booleans(), cuts, kinds)
def test_any_partition_gets_the_verdict_of_all_rows(
    rows: Any, intercept: bool, ends: list[int], sparse: list[bool]
) -> None:
    X, y = np.array(rows[0], dtype=float), np.array(rows[1])
    agree(X, y, cut(X, y, ends, sparse), intercept)


@given(st.integers(0, 2**32 - 1), st.integers(2, 10), st.integers(1, 3), st.booleans(), cuts, kinds)
def test_steps_of_one_unit_in_the_last_place(
    seed: int, n: int, d: int, crossed: bool, ends: list[int], sparse: list[bool]
) -> None:
    """Points within 2^-50 of a hyperplane; one of them moved across it by a hair."""
    rng = np.random.default_rng(seed)
    w = rng.integers(1, 4, d)
    X, y = rng.integers(-8, 9, (n, d)).astype(float), np.resize([-1, 1], n)
    X[:, 0] = (2.0**-50 * y - X[:, 1:] @ w[1:]) / w[0]
    if crossed:
        X[1] = X[0]
        X[1, 0] = np.nextafter(X[1, 0], -np.inf)
    agree(X, y, cut(X, y, ends, sparse), True)


@pytest.mark.parametrize("d", [3, 700])
def test_the_digest_does_not_see_the_parts(d: int) -> None:
    """Leaves of 2,730 rows for 3 columns, of 64 rows for many; parts that end anywhere."""
    rng = np.random.default_rng(d)
    n = 30_000 // d + 200
    X, y = rng.integers(-1, 2, (n, d)).astype(float), np.arange(n) % 2
    digests = {data_digest(as_cone(X, y)), data_digest(as_cone(sp.csr_array(X), y))}
    for ends in ([1, 63, 64, 65, 130], [n - 1], [64, 128, 192], list(range(5, n, 97))):
        digests.add(data_digest(cut(X, y, ends, [k % 2 == 1 for k in range(n)])))
    assert len(digests) == 1
    X[n // 2, 1] += 1
    assert data_digest(as_cone(X, y)) not in digests


# ------------------------------------------------- a real cluster


def table(verdict: str, n: int = 600) -> tuple[Any, Any]:
    """Integers, so that some rows lie on the hyperplane."""
    rng = np.random.default_rng(3)
    X = rng.integers(-9, 10, (n, 4)).astype(float)
    X[1:3] = [1, 2, 0, 2]
    score = X @ [1, -2, 3, 1] + 1
    if verdict == "separable":
        X, score = X[score != 0], score[score != 0]
    y = score > 0
    if verdict == "quasi-separable":
        y[1] = True  # the same row twice, with either label
    if verdict == "overlapping":
        y[np.argmax(score)] = False
    return X, y


@pytest.mark.parametrize("verdict", ["separable", "quasi-separable", "overlapping"])
def test_a_cluster_decides_as_one_machine(client: Any, verdict: str) -> None:
    X, y = table(verdict)
    rows, labels = da.from_array(X, chunks=(170, 4)), da.from_array(y, chunks=170)
    if verdict == "quasi-separable":
        rows = rows.map_blocks(sp.csr_matrix)
    shards = DaskSource.of(rows, labels)
    cert = separability(shards)
    assert cert.verdict == verdict
    assert cert.verify(X, y)
    assert 5 <= shards.passes <= 30
    assert shards.n_taken < 100
    shards.passes = 0
    assert on_one_machine(X, y).verify(shards)
    assert shards.passes == 1
    altered = replace(cert, data="0" * 64).resealed()
    assert altered.verify(shards).problems == (
        "these are not the data it was made for: their digest differs",
    )


def test_a_collection_becomes_a_source(client: Any) -> None:
    X, y = table("overlapping", 60)
    rows, labels = da.from_array(X, chunks=(20, 4)), da.from_array(y, chunks=20)
    cert = separability(rows, labels)
    assert cert.verify(DaskSource.of(rows, labels))
    y[0] ^= True
    assert not cert.verify(DaskSource.of(rows, da.from_array(y, chunks=20)))


@pytest.mark.parametrize("listed", [False, True])
def test_a_collection_itself_is_refused_on_one_machine(listed: bool) -> None:
    X, y = table("overlapping", 60)
    rows: Any = da.from_array(X, chunks=(20, 4))
    with pytest.raises(DataTypeError, match="DaskSource"):
        as_cone(list(rows.to_delayed().ravel()) if listed else rows, y)


def test_frames_keep_their_names(client: Any) -> None:
    X, y = table("separable", 60)
    frame = pd.DataFrame(X, columns=list("abcd"))
    rows = dd.from_pandas(frame, npartitions=3)
    labels = dd.from_pandas(pd.Series(y), npartitions=3)
    cert = separability(rows, labels, fit_intercept=False)
    assert cert.feature_names == ("a", "b", "c", "d")
    assert cert.verify(frame, y)
    assert cert.verdict == on_one_machine(frame, y, fit_intercept=False).verdict


def test_errors_are_those_of_one_machine(client: Any) -> None:
    X, y = table("overlapping", 60)
    rows = da.from_array(X, chunks=(20, 4))
    with pytest.raises(LabelError, match="two classes"):
        separability(rows, da.from_array(np.arange(60) % 3, chunks=20))
    with pytest.raises(UndecidedError, match="within"):
        separability(rows, da.from_array(y, chunks=20), max_seconds=0.0)
    thirds = rows.astype(np.longdouble) / 3
    with pytest.raises(DataError, match=r"partition 0: .* which no float64 is"):
        separability(thirds, da.from_array(y, chunks=20))


def test_a_worker_that_dies_changes_nothing(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table("quasi-separable")
    # column 3 splits off rows by itself, and the workers keep which
    X[:, 3] = np.where(y, np.maximum(X[:, 3], 2), np.minimum(X[:, 3], 2))
    rows, labels = da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)
    undisturbed = separability(rows, labels)
    assert undisturbed.verdict == "quasi-separable"
    assert undisturbed.verify(X, y)
    asked, count = DaskSource._asked, 0

    def deadly(self: DaskSource, function: Any, args: Any) -> list[Any]:
        nonlocal count
        leaves = asked(self, function, args)
        count += any(isinstance(arg, PerBlock) for arg in args)
        if count == 2:
            count += 1
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        return leaves

    monkeypatch.setattr(DaskSource, "_asked", deadly)
    assert separability(rows, labels) == undisturbed
    assert count > 4
