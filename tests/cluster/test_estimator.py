"""DaskPerceptron on a real cluster of processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

pytest.importorskip("distributed", reason="the extra [dask] is not installed")
import dask
import dask.array as da
import dask.dataframe as dd
import pandas as pd

from rosenblatt import Perceptron, load_model, save_model
from rosenblatt.cluster import DaskPerceptron, DaskSource
from rosenblatt.errors import (
    CheckpointError,
    DataError,
    DataTypeError,
    NotSupportedError,
    ParameterError,
)
from tests.cluster.local import trained
from tests.real_data import rows_of
from tests.strategies import SOAKED

RNG = np.random.default_rng(0)
X = RNG.integers(-4, 5, (240, 6)).astype(np.float64)
Y = np.where(X @ [2, -1, 1, 0, 0, 1] + 3 * RNG.normal(size=240) > 0, "yes", "no")
ROWS = da.from_array(X, chunks=(50, 6))


def same(a: Any, b: Any) -> bool:
    return np.array_equal(a.coef_, b.coef_) and np.array_equal(a.intercept_, b.intercept_)


@pytest.fixture(scope="module")
def shards(client: Any) -> DaskSource:
    return DaskSource.of(ROWS, Y)


def test_a_cluster_gives_what_one_process_gives(shards: DaskSource) -> None:
    """To the bit, and the batch rule that of Perceptron, for any partitions."""
    asked: dict[str, Any] = {"max_iter": 6, "tol": None}
    for more in ({"keep": "average"}, {"mixing": "mistakes"}, {"shuffle": False}):
        model = DaskPerceptron(**asked, **more).fit(shards)
        seed = int(np.random.RandomState(0).randint(2**31 - 1))
        here = trained(X, Y, range(50, 240, 50), seed=seed, **asked, **more)
        assert np.array_equal(model.coef_, here.kept()[0])
        assert model.trace_.mistakes.tolist() == here.trace().mistakes.tolist()
        assert model.weighted_mistakes_ == tuple(here.weighted_mistakes)
    one = Perceptron(mode="batch-mean", **asked).fit(X, Y)
    assert same(DaskPerceptron(mode="batch-mean", **asked).fit(shards), one)
    others = da.from_array(X, chunks=(33, 6))
    if SOAKED:
        others = others.map_blocks(sp.csr_matrix)
    batch = DaskPerceptron(mode="batch-mean", n_shards=5, **asked).fit(others, Y)
    assert same(batch, one)
    assert len(batch.shard_sizes_) == 5


def test_scikit_learn_conventions(shards: DaskSource, tmp_path: Path) -> None:
    model = DaskPerceptron(max_iter=2, rule="margin", warm_start=True)
    with pytest.warns(ConvergenceWarning):
        model.fit(shards)
    assert model.classes_.tolist() == ["no", "yes"]
    assert (model.n_iter_, model.stop_reason_, model.n_features_in_) == (2, "max_iter", 6)
    assert model.n_mistakes_ == model.trace_.mistakes.sum()
    copy = clone(model).set_params(rule__tau=2.0)
    assert copy.rule.tau == 2.0
    assert not hasattr(copy, "coef_")
    save_model(model, tmp_path / "m")
    assert np.array_equal(load_model(tmp_path / "m").coef, model.coef_)
    with pytest.raises(DataError):
        model.fit(da.full((20, 6), np.nan, chunks=(10, 6)), Y[:20])
    assert model.n_iter_ == 2  # a failed fit leaves the model as it was
    with pytest.raises(ParameterError, match="n_shards"):
        DaskPerceptron(n_shards=0).fit(ROWS, Y)


def test_answers_are_lazy(shards: DaskSource) -> None:
    model = DaskPerceptron(tol=None, max_iter=9).fit(shards)
    labels, scores = model.predict(ROWS), model.decision_function(ROWS.rechunk((70, 2)))
    assert isinstance(labels, da.Array)
    assert labels.chunks == (ROWS.chunks[0],)
    here = model.predict(X)
    assert isinstance(here, np.ndarray)
    assert np.array_equal(labels.compute(), here)
    assert np.allclose(scores.compute(), X @ model.coef_[0] + model.intercept_)
    accuracy = np.mean(here == Y)
    assert model.score(ROWS, Y) == model.score(X, Y) == accuracy
    weight = np.arange(240.0)
    assert model.score(ROWS, Y, weight) == pytest.approx(np.average(here == Y, weights=weight))
    blocks = model.predict([dask.delayed(X[:3]), dask.delayed(X[:0])])
    assert [len(b) for b in dask.compute(*blocks)] == [3, 0]
    with pytest.raises(DataError, match="X has 3 features"):
        model.predict(ROWS[:, :3])


def test_frames_with_categories(client: Any) -> None:
    colour = pd.Categorical(np.where(Y == "yes", "red", "blue"), ["blue", "green", "red"])
    frame = pd.DataFrame({"size": X[:, 0], "colour": colour, "answer": Y})
    rows = dd.from_pandas(frame, npartitions=3)
    table = rows[["size", "colour"]]
    model = DaskPerceptron(max_iter=20).fit(table, rows["answer"])
    assert model.feature_names_in_.tolist() == ["size", "colour=blue", "colour=green", "colour=red"]
    assert model.stop_reason_ == "separated"
    labels = model.predict(table)
    assert isinstance(labels, dd.Series)
    assert labels.compute().tolist() == Y.tolist()
    assert model.predict(frame).tolist() == Y.tolist()
    assert model.score(table, rows["answer"]) == 1.0


def test_early_stopping_holds_out_shards(shards: DaskSource) -> None:
    model = DaskPerceptron(early_stopping=True, validation_fraction=0.3, n_iter_no_change=2)
    model.fit(shards)
    assert len(model.shard_sizes_) == 3  # of 5, round(1.5) = 2 are held out
    assert len(model.trace_.scores) == model.n_iter_
    assert model.trace_.scores.max() == model.trace_.scores[model.trace_.kept_epoch - 1]
    assert model.stop_reason_ in ("no_improvement", "separated")
    whole = DaskSource.of(da.from_array(X, chunks=-1), Y)
    with pytest.raises(DataError, match="holds out whole shards"):
        model.fit(whole)


def test_weights_and_classes(shards: DaskSource) -> None:
    """Whole weights are repeated rows, exactly, in a batch; balanced weights count all shards."""
    weight = RNG.integers(0, 3, 240).astype(float)
    asked: dict[str, Any] = {"max_iter": 5, "tol": None, "class_weight": "balanced"}
    one = Perceptron(mode="batch", **asked).fit(X, Y, sample_weight=weight)
    many = DaskPerceptron(mode="batch", **asked).fit(ROWS, Y, da.from_array(weight, chunks=50))
    assert np.allclose(many.coef_, one.coef_, rtol=1e-12)
    number = RNG.integers(0, 3, 240)
    direct = DaskPerceptron(multiclass="direct", max_iter=3, tol=None).fit(ROWS, number)
    assert direct.decision_function(ROWS).compute().shape == (240, 3)
    assert direct.predict(ROWS).compute().tolist() == direct.predict(X).tolist()


def test_a_run_that_goes_on_ends_as_one_that_never_stopped(
    shards: DaskSource, tmp_path: Path
) -> None:
    asked: dict[str, Any] = {"tol": None, "keep": "average", "early_stopping": True}
    whole = DaskPerceptron(max_iter=7, **asked).fit(shards)
    folder = tmp_path / "saved"
    DaskPerceptron(max_iter=3, checkpoint=folder, **asked).fit(shards)
    with pytest.raises(
        CheckpointError, match=r"of an earlier run \(epoch 3, done\)\. Go on with --resume"
    ):
        DaskPerceptron(max_iter=7, checkpoint=folder, **asked).fit(shards)
    again = DaskPerceptron(max_iter=7, checkpoint=folder, resume=True, **asked).fit(shards)
    assert same(again, whole)
    assert (again.n_mistakes_, again.n_iter_) == (whole.n_mistakes_, 7)
    other = DaskPerceptron(max_iter=7, checkpoint=folder, resume=True, tol=None, keep="last")
    with pytest.raises(CheckpointError, match="keep was 'average', now 'last'"):
        other.fit(shards)
    with pytest.raises(ParameterError, match="resume needs checkpoint"):
        DaskPerceptron(resume=True).fit(shards)


def test_progress_is_shown_if_asked_for(
    shards: DaskSource, capsys: pytest.CaptureFixture[str]
) -> None:
    DaskPerceptron(verbose=1, max_iter=2, tol=None).fit(shards)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("epoch 1: ")
    assert "mistakes" in second
    DaskPerceptron(max_iter=2, tol=None).fit(shards)
    assert not capsys.readouterr().out


@pytest.mark.parametrize(("name", "behind"), [("a9a", 0.002), ("digits parity", 0.02)])
def test_a_real_set_is_learned_as_on_one_machine(client: Any, name: str, behind: float) -> None:
    rows, labels = rows_of(name)
    size = len(labels) // 4
    cuts = range(0, len(labels), size)
    blocks = [dask.delayed(rows[k : k + size]) for k in cuts]
    labels_of = [dask.delayed(labels[k : k + size]) for k in cuts]
    asked: dict[str, Any] = {"keep": "average", "max_iter": 5, "tol": None}
    one = Perceptron(**asked).fit(rows, labels).score(rows, labels)
    many = DaskPerceptron(**asked).fit(blocks, labels_of).score(blocks, labels_of)
    assert many > one - behind


def test_columns_in_another_order_are_refused(client: Any) -> None:
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcdef")), npartitions=3)
    model = DaskPerceptron(max_iter=2, tol=None).fit(frame, da.from_array(Y, chunks=80))
    turned = frame[list("fedcba")]
    for asked in (model.predict, model.decision_function, lambda F: model.score(F, Y)):
        for other in (turned, turned.compute(), frame.rename(columns={"a": "z"})):
            with pytest.raises(DataError, match="are not those of the model"):
                asked(other)
    assert (model.predict(frame).compute() == model.predict(X)).all()


def test_a_run_does_not_go_on_with_other_rows(client: Any, tmp_path: Any) -> None:
    """Whichever number of whichever row differs, or a weight, or where it starts."""
    ones = sp.csr_matrix((np.ones(240), np.arange(240) % 6, np.arange(241)))
    moved = sp.csr_matrix((np.ones(240), (np.arange(240) + 1) % 6, np.arange(241)))
    other = X.copy()
    other[7, 3] += 1.0
    twice, labels = _blocks(np.full(240, 2.0)), _blocks(Y)
    for k, (first, then, weight) in enumerate(
        [(X, other, None), (X, X, twice), (ones, moved, None)]
    ):
        asked: dict[str, Any] = {"max_iter": 2, "tol": None, "checkpoint": tmp_path / str(k)}
        DaskPerceptron(**asked).fit(_blocks(first), labels)
        with pytest.raises(CheckpointError):
            DaskPerceptron(**asked, resume=True).fit(_blocks(then), labels, weight)
    warm = DaskPerceptron(**asked, resume=True, warm_start=True)
    warm.coef_, warm.intercept_ = np.ones((1, 6)), np.ones(1)
    with pytest.raises(CheckpointError):
        warm.fit(_blocks(ones), labels)


def _blocks(rows: Any) -> list[Any]:
    return [dask.delayed(rows[k : k + 50]) for k in range(0, 240, 50)]


def test_small_mistakes_are_explained(client: Any) -> None:
    nothing = da.from_array(np.zeros(240), chunks=50)
    with pytest.raises(DataError, match="all are 0"):
        DaskPerceptron().fit(ROWS, Y, nothing)
    with pytest.raises(ParameterError, match="timeout"):
        DaskPerceptron(timeout="x").fit(ROWS, Y)
    with pytest.raises(DataTypeError, match="not a dask array"):
        DaskPerceptron().fit(X, Y)
    for choices in ({"rule": "pa"}, {"rule": "arow"}):
        with pytest.raises((ParameterError, NotSupportedError)) as told:
            DaskPerceptron(mode="batch", **choices).fit(ROWS, Y)
        assert "mode='online'" in str(told.value)
    with pytest.warns(ConvergenceWarning) as warned:
        DaskPerceptron(max_iter=1).fit(ROWS, Y)
    assert warned[0].filename == __file__
