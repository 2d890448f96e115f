"""Batches of columns from frames: against scikit-learn's encoders, and any kind of frame."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rosenblatt.data.block import START, Block, as_csr
from rosenblatt.data.source import LabelIndex, Source
from rosenblatt.errors import DataError, DataTypeError
from rosenblatt.features.frames import batch_of_frame
from rosenblatt.features.table_features import TableFeatures
from rosenblatt.stream.standardized_source import StandardizedSource
from tests.features.test_table_features import padded
from tests.real_data import click_log

numbers = st.one_of(st.none(), st.integers(-1000, 1000), st.floats(-1e6, 1e6, width=32))
words = st.one_of(st.none(), st.sampled_from(["red", "green", "blue", "ä", "", "a b"]))
tables = st.lists(
    st.tuples(numbers, words, st.one_of(st.none(), st.booleans()), numbers), min_size=1, max_size=40
).map(
    lambda rows: pa.table(
        {
            "x": pa.array([None if r[0] is None else float(r[0]) for r in rows], pa.float64()),
            "colour": pa.array([r[1] for r in rows], pa.string()),
            "flag": pa.array([r[2] for r in rows], pa.bool_()),
            "z": pa.array([None if r[3] is None else float(r[3]) for r in rows], pa.float64()),
        }
    )
)


class Once(Source):
    """A table as one block."""

    def __init__(self, table, X):
        self.labels, self.X = LabelIndex([0, 1]), X

    def blocks(self, epoch=1, after=START):
        yield Block(self.X, np.zeros(self.X.shape[0], np.int32))


def standardized(frame, **options):
    """The features of a frame, numbers standardized; and their names."""
    batch = batch_of_frame(frame, **options)
    table = TableFeatures.of_batch(batch)
    source = StandardizedSource(Once(table, table.encode(batch)), table)
    for _ in source.blocks():
        pass
    return as_csr(next(iter(source.blocks(2))).X), table


def oracle(table):
    """The same by scikit-learn: names and columns."""
    made = {}
    for name in ("x", "z"):
        values = np.array(table[name].to_pylist(), dtype=float).reshape(-1, 1)
        empty = np.isnan(values)
        if empty.all():
            made[name] = np.zeros(len(values))
        else:  # mean and deviation of the rows that have a value
            values = StandardScaler().fit_transform(values)
            made[name] = SimpleImputer().fit_transform(values)[:, 0]
        if empty.any():
            made[f"{name}=missing"] = empty[:, 0].astype(float)
    for name in ("colour", "flag"):
        cells = [str(v).lower() if isinstance(v, bool) else v for v in table[name].to_pylist()]
        texts = np.array(cells, dtype=object).reshape(-1, 1)
        encoder = OneHotEncoder(sparse_output=False).fit(texts)
        for word, column in zip(encoder.categories_[0], encoder.transform(texts).T, strict=True):
            made[f"{name}={'missing' if word is None else word}"] = column
    return made


@given(tables)
def test_features_are_those_of_scikit_learn(table):
    want = oracle(table)
    X, features = standardized(table)
    assert sorted(features.feature_names) == sorted(want)
    for name, found in zip(features.feature_names, X.to_scipy().toarray().T, strict=True):
        np.testing.assert_allclose(np.clip(want[name], -10, 10), found, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", ["criteo", "digits"])
def test_a_real_click_log_against_a_column_transformer(name, tmp_path):
    frame = click_log(name, tmp_path)[1].drop(columns=["Id", "Label"])
    counts = [c for c in frame if c.startswith("I")]
    others = [c for c in frame if c.startswith("C")]
    texts = frame[others].astype(object)
    frame[others] = texts.where(texts.notna(), None)
    X, _ = standardized(frame)
    mine = X.to_scipy()
    scaled = make_pipeline(StandardScaler(), SimpleImputer(add_indicator=True))
    theirs = ColumnTransformer(
        [("n", scaled, counts), ("c", OneHotEncoder(), others)], sparse_threshold=1.0
    ).fit_transform(frame)
    far = abs(theirs) > 10  # count as 10 deviations
    theirs = sp.csr_matrix(theirs - theirs.multiply(far) + far.multiply(theirs.sign()) * 10)
    assert mine.shape == theirs.shape
    # the same columns in another order: a column is known by its products with two vectors
    probes = np.random.default_rng(0).normal(size=(2, len(frame)))
    a, b = (np.asarray(probes @ X) for X in (mine, theirs))
    order_a, order_b = (np.lexsort(np.round(s, 6)) for s in (a, b))
    np.testing.assert_allclose(a[:, order_a], b[:, order_b], atol=1e-6)
    assert abs(mine[:, order_a] - theirs[:, order_b]).max() < 1e-9


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=300))
def test_means_and_deviations_are_accurate(values):
    from fractions import Fraction

    held = [Fraction(1e9 + v) for v in values]
    batch = batch_of_frame({"x": [1e9 + v for v in values]})
    table = TableFeatures.of_batch(batch)
    source = StandardizedSource(Once(table, table.encode(batch)), table)
    for _ in source.blocks():
        pass
    mean = sum(held) / len(held)
    variance = sum((v - mean) ** 2 for v in held) / len(held)
    assert abs(source.mean[0] - float(mean)) <= 1e-15 * 2e9 * len(held)
    # as accurate as the numbers are, 1e9 away from 0: half a unit in the last place of each
    assert abs(source.deviation[0] - float(variance) ** 0.5) <= 1e-9 * source.deviation[0] + 1e-6


def features(data, **options):
    """Features of a frame as they are, with their names."""
    batch = batch_of_frame(data, **options)
    table = TableFeatures.of_batch(batch)
    X = table.encode(batch)
    return padded(X, table.n_features), table


def test_dates_become_days_and_parts():
    days = [dt.datetime(2024, 2, 29, 23), dt.datetime(2024, 3, 1), None, dt.datetime(1969, 12, 31)]
    X, table = features({"t": days})
    assert table.feature_names == [
        "t", "t month=Feb", "t weekday=Thu", "t hour=23", "t month=Mar", "t weekday=Fri",
        "t hour=0", "t=missing", "t month=Dec", "t weekday=Wed",
    ]  # fmt: skip
    assert X[:, 0].tolist() == [19782 + 23 / 24, 19783, 0, -1]
    assert X[:, 1:].tolist() == [
        [1, 1, 1, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, 1, 1, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 1, 0, 1, 1],
    ]
    zoned = pa.array([0, 3_600_000_000], pa.timestamp("us", "Europe/Berlin"))
    assert "t hour=1" in features(pa.table({"t": zoned}))[1].feature_names


@given(st.lists(st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1)), min_size=1))
def test_parts_of_dates_are_those_of_python(moments):
    X, table = features({"t": moments})
    for row, moment in zip(X, moments, strict=True):
        on = {n for n, v in zip(table.feature_names[1:], row[1:], strict=True) if v == 1}
        assert on == {f"t month={moment:%b}", f"t weekday={moment:%a}", f"t hour={moment.hour}"}


def test_what_says_nothing_and_what_looks_odd_is_remarked():
    n = 200
    _, table = features(
        {
            "one": [7.0] * n,
            "none": [None] * n,
            "sometimes": ["x", None] * (n // 2),
            "id": [f"user-{k}" for k in range(n)],
        }
    )
    assert table.remarks() == [
        "one: all cells are equal, so it says nothing.",
        "none: every cell is missing.",
        "sometimes: all cells are equal, so it says nothing.",
        "id: every row has another text. Is it an identifier?",
    ]
    _, table = features({"a\x1b[2J": ["x", "y"] * 20})
    assert "\x1b" not in table.describe()


def test_columns_that_cannot_be_used_are_named():
    for values in ([[1], [2]], [b"a", b"b"], [{"a": 1}] * 2):
        with pytest.raises(DataTypeError, match=r"column 'bad' holds"):
            batch_of_frame({"x": [1, 2], "bad": values})
        assert batch_of_frame({"x": [1, 2], "bad": values}, {"bad": "drop"}).names == ("x",)
    with pytest.raises(DataError, match="column 'x' holds infinity"):
        batch_of_frame({"x": [1.0, np.inf]})
    with pytest.raises(DataError, match="columns of different lengths"):
        batch_of_frame({"x": [1.0, 2.0], "z": [1.0]})
    with pytest.raises(DataTypeError, match="expected a frame with named columns"):
        batch_of_frame(3)
    with pytest.raises(DataError, match="two columns are named 'x'"):
        batch_of_frame(pd.DataFrame([[1, 2]], columns=["x", "x"]))
    with pytest.raises(DataTypeError, match="LazyFrame"):
        batch_of_frame(pl.LazyFrame({"x": [1]}))


def test_subnormal_numbers_stay_finite():
    X, _ = standardized({"x": [0.0, 5e-324, 1e-320]})
    assert np.isfinite(X.data).all()


def test_kinds_and_marks_of_missing_values():
    raw = {"zip": [10115, 10117, 10115], "s": ["1", " 2e1", "?"], "x": [-2.0, 1.0, None]}
    X, table = features(raw, kinds={"zip": "category", "s": "number"}, missing=["?"])
    assert table.feature_names == ["s", "x", "zip=10115", "zip=10117", "s=missing", "x=missing"]
    assert table.kinds == {"zip": "category", "s": "number", "x": "number"}
    assert X[:, 0].tolist() == [1, 20, 0]
    assert X[:, 2:].tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 1]]


def test_frames_of_every_kind_are_the_same_columns():
    raw = {
        "n": [1.5, None, 3.0], "i": [1, 2, 3], "s": ["a", None, "b"], "b": [True, False, True],
        "d": [dt.date(2024, 1, 1), None, dt.date(2024, 5, 3)],
    }  # fmt: skip
    X, want = features(raw)
    table = pa.table(raw)
    frames = [
        table, table.to_batches()[0], pl.DataFrame(raw), table.to_pandas(),
        pl.DataFrame(raw).with_columns(pl.col("s").cast(pl.Categorical)),
        table.to_pandas().astype({"s": "category"}),
        table.to_pandas().set_index(pd.Index([5, 6, 7], name="other")),
    ]  # fmt: skip
    for frame in frames:
        same, found = features(frame)
        assert found.kinds == want.kinds
        assert found.feature_names == want.feature_names
        assert same.tolist() == X.tolist()
    codes = pd.DataFrame({"zip": pd.Categorical([10115, 10117])})
    assert features(codes)[1].feature_names == ["zip=10115", "zip=10117"]


def test_times_and_decimals_are_numbers():
    X, table = features(
        {
            "t": [dt.time(0, 0, 1), dt.time(1)],
            "w": [dt.timedelta(days=1), dt.timedelta(0)],
            "m": [Decimal("1.25"), Decimal("2.5")],
            "v": np.array([90, 30], "m8[s]"),
        }
    )
    assert table.all_numbers
    assert X.tolist() == [[1, 86400, 1.25, 90], [3600, 0, 2.5, 30]]


def test_names_of_features_are_different():
    _, table = features({"a": [1, None], "b": ["c=d", "e"], "b=c": ["d", "f"]})
    pairs = {table.index.pair(k) for k in range(table.n_features)}
    assert len(pairs) == table.n_features == 6  # b=c=d twice for people, but two features


def test_batches_with_other_columns_are_refused():
    _, table = features({"x": [1.0], "y": ["a"]})
    with pytest.raises(DataError, match="no column 'y'"):
        table.encode(batch_of_frame({"x": [1.0]}))
    with pytest.raises(DataError, match="column 'x' is of kind category"):
        table.encode(batch_of_frame({"x": ["a"], "y": ["a"]}))
