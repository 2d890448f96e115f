"""Raw columns to numbers: against scikit-learn's encoders, and what must hold always."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rosenblatt.data.columns import Columns, Learner, learn_columns
from rosenblatt.data.columns import learning as learning_module
from rosenblatt.data.columns import tallies as tallies_module
from rosenblatt.data.columns.entries import (
    Boolean,
    Category,
    Dropped,
    Hashed,
    Moment,
    Number,
    bucket,
)
from rosenblatt.data.columns.learning import Wishes
from rosenblatt.data.columns.streams import RawStream
from rosenblatt.errors import DataError, DataTypeError, ParameterError
from tests.real_data import click_log


def dense(X):
    return X.toarray() if sp.issparse(X) else X


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


def oracle(table):
    """The same by scikit-learn: names and columns."""
    made = {}
    for name in ("x", "z", "flag"):
        values = np.array(table[name].to_pylist(), dtype=float).reshape(-1, 1)
        empty = np.isnan(values)
        if empty.all() or (len(np.unique(values[~empty])) == 1 and not empty.any()):
            continue
        if name != "flag":  # mean and deviation of the rows that have a value
            values = StandardScaler().fit_transform(values)
        made[name] = SimpleImputer().fit_transform(values)[:, 0]
        if empty.any():
            made[f"{name} missing"] = empty[:, 0].astype(float)
    texts = np.array(table["colour"].to_pylist(), dtype=object).reshape(-1, 1)
    different = set(texts.ravel().tolist())
    if len(different) > 1:
        encoder = OneHotEncoder(sparse_output=False).fit(texts)
        for name, column in zip(encoder.categories_[0], encoder.transform(texts).T, strict=True):
            made["colour missing" if name is None else f"colour={name}"] = column
    return made


@given(tables)
def test_features_are_those_of_scikit_learn(table):
    want = oracle(table)
    columns = learn_columns(table)
    assert sorted(columns.feature_names) == sorted(want)
    X = dense(columns.transform(table))
    assert X.shape == (table.num_rows, columns.width)
    for name, found in zip(columns.feature_names, X.T, strict=True):
        np.testing.assert_allclose(found, want[name], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["criteo", "digits"])
def test_a_real_click_log_against_a_column_transformer(name, tmp_path):
    frame = click_log(name, tmp_path)[1].drop(columns=["Id", "Label"])
    counts = [c for c in frame if c.startswith("I")]
    others = [c for c in frame if c.startswith("C")]
    texts = frame[others].astype(object)
    frame[others] = texts.where(texts.notna(), None)
    columns = learn_columns(frame, max_categories=100_000)
    mine = columns.transform(frame)
    assert sp.issparse(mine)
    scaled = make_pipeline(StandardScaler(), SimpleImputer(add_indicator=True))
    theirs = ColumnTransformer(
        [("n", scaled, counts), ("c", OneHotEncoder(), others)], sparse_threshold=1.0
    ).fit_transform(frame)
    assert mine.shape == theirs.shape
    # the same columns in another order: a column is known by its products with two vectors
    probes = np.random.default_rng(0).normal(size=(2, len(frame)))
    a, b = (np.asarray(probes @ X) for X in (mine, theirs))
    order_a, order_b = (np.lexsort(np.round(s, 6)) for s in (a, b))
    np.testing.assert_allclose(a[:, order_a], b[:, order_b], atol=1e-6)
    assert abs(mine[:, order_a] - theirs.tocsr()[:, order_b]).max() < 1e-9


@given(tables, st.data())
def test_the_cut_of_the_rows_changes_no_bit(table, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, table.num_rows), max_size=5)))
    group = data.draw(st.sampled_from([1, 3, 7, 8192]))
    parts = [
        table.slice(a, b - a) for a, b in zip([0, *cuts], [*cuts, table.num_rows], strict=True)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning_module, "GROUP", group)
        assert learn_columns(parts) == learn_columns(table)
    columns = learn_columns(table)
    X = dense(columns.transform(table))
    assert np.vstack([dense(columns.transform(p)) for p in parts]).tobytes() == X.tobytes()


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=300), st.integers(1, 50))
def test_means_and_deviations_in_groups_are_accurate(values, group):
    from fractions import Fraction

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning_module, "GROUP", group)
        entry = learn_columns({"x": [1e9 + v for v in values]}).entries[0]
    held = [Fraction(1e9 + v) for v in values]
    if len(set(held)) == 1:
        assert entry.kind == "dropped"
    else:
        mean = sum(held) / len(held)
        variance = sum((v - mean) ** 2 for v in held) / len(held)
        assert abs(entry.center - float(mean)) <= 1e-15 * 2e9 * 4
        # as accurate as the numbers are, 1e9 away from 0: half a unit in the last place of each
        assert abs(entry.scale - float(variance) ** 0.5) <= 1e-9 * entry.scale + 1e-7


def test_unseen_and_missing_have_a_meaning():
    columns = learn_columns(
        {"n": [1.0, 3.0], "b": [True, False], "few": ["a", "b"], "many": ["a", "b"]}
    )
    X = dense(columns.transform({"n": [None, 2.0], "b": [None, True], "few": ["c", None],
                                 "many": ["b", "a"]}))  # fmt: skip
    assert columns.feature_names == ("n", "b", "few=a", "few=b", "many=a", "many=b")
    assert X.tolist() == [[0, 0.5, 0, 0, 0, 1], [0, 1, 0, 0, 1, 0]]
    capped = learn_columns({"c": ["a", "a", "b", "c", "c", None]}, max_categories=2)
    assert capped.feature_names == ("c=a", "c=c", "c other", "c missing")
    X = dense(capped.transform({"c": ["a", "b", "new", None, "c"]}))
    assert X.argmax(axis=1).tolist() == [0, 2, 2, 3, 1]
    assert (X.sum(axis=1) == 1).all()
    tied = learn_columns({"c": ["z", "b", "a"]}, max_categories=2)
    assert tied.entries[0].categories == ("a", "b")


def test_dates_become_days_and_parts():
    days = [dt.datetime(2024, 2, 29, 23), dt.datetime(2024, 3, 1), None, dt.datetime(1969, 12, 31)]
    columns = learn_columns({"t": days})
    assert columns.feature_names == (
        "t", "t month=Feb", "t month=Mar", "t month=Dec", "t weekday=Wed", "t weekday=Thu",
        "t weekday=Fri", "t hour=0", "t hour=23", "t missing",
    )  # fmt: skip
    X = dense(columns.transform({"t": days}))
    held = np.array([19782 + 23 / 24, 19783, -1])
    want = (held - held.mean()) / held.std()
    np.testing.assert_allclose(X[[0, 1, 3], 0], want, rtol=1e-12)
    assert X[:, 1:].tolist() == [
        [1, 0, 0, 0, 1, 0, 0, 1, 0],
        [0, 1, 0, 0, 0, 1, 1, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 1],
        [0, 0, 1, 1, 0, 0, 1, 0, 0],
    ]
    plain = learn_columns({"d": [dt.date(2024, 1, 1), dt.date(2024, 1, 2)]})
    assert plain.feature_names == ("d", "d weekday=Mon", "d weekday=Tue")
    zoned = pa.array([0, 3_600_000_000], pa.timestamp("us", "Europe/Berlin"))
    assert learn_columns(pa.table({"t": zoned})).entries[0].hours == (0, 1)


@given(st.lists(st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1)), min_size=2))
def test_parts_of_dates_are_those_of_python(moments):
    columns = learn_columns({"t": moments})
    assert (columns.entries[0].kind == "dropped") == (len(set(moments)) == 1)
    assume(len(set(moments)) > 1)
    X = dense(columns.transform({"t": moments}))
    names = columns.feature_names
    for row, moment in zip(X, moments, strict=True):
        on = {n for n, v in zip(names[1:], row[1:], strict=True) if v == 1}
        want = {f"t month={moment:%b}", f"t weekday={moment:%a}", f"t hour={moment.hour}"}
        assert on == want & set(names)


def test_what_says_nothing_is_dropped_and_what_looks_odd_is_remarked():
    n = 200
    columns = learn_columns(
        {
            "one": [7] * n,
            "none": pa.nulls(n, pa.string()),
            "sometimes": ["x", None] * (n // 2),
            "id": [f"user-{k}" for k in range(n)],
        }
    )
    assert [e.kind for e in columns.entries] == ["dropped", "dropped", "category", "category"]
    assert columns.remarks == (
        "column 'one': the same in every row",
        "column 'none': no value in any row",
        "column 'id': 200 different texts in 200 rows: an identifier? Then drop it",
    )
    assert learn_columns({"id": ["a", "b"]}, kinds={"id": "drop"}).width == 0
    shown = learn_columns({"a\x1b[2J": ["x", "y"]}).describe()
    assert "\x1b" not in shown


def test_columns_that_cannot_be_used_are_named():
    for values, type in (
        ([[1], [2]], "list"),
        ([b"a", b"b"], "binary"),
        ([{"a": 1}] * 2, "struct"),
    ):
        with pytest.raises(DataError, match=rf"column 'bad' holds {type}.*--column bad=drop"):
            learn_columns({"x": [1, 2], "bad": values})
    with pytest.raises(DataError, match="column 'x' holds an infinite number"):
        learn_columns({"x": [1.0, np.inf]})
    with pytest.raises(DataError, match=r"column 'x' .* deviation is beyond float64"):
        learn_columns({"x": [1e308, -1e308]})
    with pytest.raises(DataTypeError, match="not columns with names"):
        learn_columns(3)
    with pytest.raises(ParameterError, match="no column 'y'"):
        learn_columns({"x": [1, 2]}, kinds={"y": "drop"})
    with pytest.raises(ParameterError, match="cannot be taken for 'what'"):
        learn_columns({"x": [1, 2]}, kinds={"x": "what"})
    for wrong in ({"scaling": "huh"}, {"max_categories": 0}, {"hash_bits": 40}):
        with pytest.raises(ParameterError):
            learn_columns({"x": [1, 2]}, **wrong)
    columns = learn_columns({"x": [1, 2]})
    with pytest.raises(DataError, match="there is no column 'x'"):
        columns.transform({"y": [1]})
    with pytest.raises(DataError, match="holds string, and was numbers"):
        columns.transform({"x": ["a"]})
    with pytest.raises(DataError, match="not finite once scaled"):
        columns.transform({"x": [np.inf]})
    with pytest.raises(DataError, match="no rows"):
        learn_columns(pa.table({"x": pa.array([], pa.float64())}))


def test_subnormal_numbers_still_differ():
    X = dense(learn_columns({"x": [0.0, 5e-324, 1e-320]}).transform({"x": [0.0, 1e-320]}))
    assert np.isfinite(X).all()
    assert X[0, 0] < X[1, 0]


def test_wishes():
    raw = {"zip": [10115, 10117, 10115], "s": ["1", "2", "1"], "x": [-2.0, 1.0, None]}
    columns = learn_columns(raw, scaling="largest", kinds={"zip": "category", "s": "hash"},
                            hash_bits=3)  # fmt: skip
    assert [e.kind for e in columns.entries] == ["category", "hash", "number"]
    X = dense(columns.transform(raw))
    assert X[:, :2].tolist() == [[1, 0], [0, 1], [1, 0]]
    assert X[:, 2:10].argmax(axis=1).tolist() == [bucket("1", 3), bucket("2", 3), bucket("1", 3)]
    assert X[:, 10:].tolist() == [[-1, 0], [0.5, 0], [-0.25, 1]]
    assert dense(learn_columns({"x": [3, 5]}, scaling="none").transform({"x": [3]})) == 3


def test_texts_are_counted_within_bounds(monkeypatch):
    monkeypatch.setattr(tallies_module, "MOST_TRACKED", 50)
    many = [f"w{k}" for k in range(60)]
    found = learn_columns({"few": ["a", "b"] * 30, "many": many, "long": ["x" * 300, "y"] * 30})
    assert [e.kind for e in found.entries] == ["category", "hash", "hash"]
    assert "more than 50 different texts: hashed" in found.remarks[0]
    assert "more than 200 characters" in found.remarks[1]
    monkeypatch.setattr(learning_module, "MOST_TRACKED_IN_ALL", 60)
    two = learn_columns({"a": many[:40], "b": many[:39] + many[:1]})
    assert [e.kind for e in two.entries] == ["hash", "category"]


def test_hashing_spreads():
    counts = np.bincount([bucket(f"{k:x}", 10) for k in range(100_000)], minlength=1024)
    assert counts.min() > 50
    assert counts.max() < 160


def test_frames_of_every_kind_are_the_same_columns():
    raw = {
        "n": [1.5, None, 3.0], "i": [1, 2, 3], "s": ["a", None, "b"], "b": [True, False, True],
        "d": [dt.date(2024, 1, 1), None, dt.date(2024, 5, 3)],
    }  # fmt: skip
    want = learn_columns(raw)
    table = pa.table(raw)
    frames = [
        table, table.to_batches()[0], pl.DataFrame(raw), table.to_pandas(),
        pl.DataFrame(raw).with_columns(pl.col("s").cast(pl.Categorical)),
        table.to_pandas().astype({"s": "category"}),
    ]  # fmt: skip
    for frame in frames:
        assert learn_columns(frame) == want
        assert (dense(want.transform(frame)) == dense(want.transform(raw))).all()
    indexed = table.to_pandas().set_index(pd.Index([5, 6, 7], name="other"))
    assert learn_columns(indexed) == want
    with pytest.raises(DataError, match="Give every column one type"):
        learn_columns(pd.DataFrame({"x": [1, "a"]}, dtype=object))


def test_times_and_decimals_are_numbers():
    from decimal import Decimal

    columns = learn_columns(
        {
            "t": [dt.time(0, 0, 1), dt.time(1)],
            "w": [dt.timedelta(days=1), dt.timedelta(0)],
            "m": [Decimal("1.25"), Decimal("2.5")],
        },
        scaling="none",
    )
    X = columns.transform({"t": [dt.time(2)], "w": [dt.timedelta(1)], "m": [Decimal("0.5")]})
    assert dense(X).tolist() == [[7200, 86400, 0.5]]


def test_names_of_features_are_different():
    columns = learn_columns(
        {"a": [1, None], "a missing": [1, 2], "b": ["c=d", "e"], "b=c": ["d", "f"]}
    )
    assert len(set(columns.feature_names)) == len(columns.feature_names) == columns.width


def test_parts_with_other_columns_are_refused():
    learner = Learner(Wishes())
    learner.add(pa.table({"x": [1.0], "y": ["a"]}))
    with pytest.raises(DataError, match="a column is gone"):
        learner.add(pa.table({"x": [1.0]}))
    with pytest.raises(DataError, match="changed between two parts"):
        learn_columns([{"x": [1.0]}, {"x": ["a"]}])


entries = st.one_of(
    st.builds(Number, st.text(), st.integers(0, 9), st.just(""), st.floats(-1e300, 1e300),
              st.floats(1e-300, 1e300), st.floats(-1, 1)),
    st.builds(Boolean, st.text(), st.integers(0, 9), st.text(), st.floats(0, 1)),
    st.builds(Category, st.text(), st.integers(0, 9), st.text(),
              st.sets(st.text(), min_size=1).map(lambda s: tuple(sorted(s))), st.booleans()),
    st.builds(Hashed, st.text(), st.integers(0, 9), st.text(), st.integers(1, 5)),
    st.builds(Moment, st.text(), st.integers(0, 9), st.text(), st.floats(-1e5, 1e5),
              st.floats(0.1, 9), st.sets(st.integers(0, 11)).map(lambda s: tuple(sorted(s)))),
    st.builds(Dropped, st.text(), st.integers(0, 9), st.text()),
)  # fmt: skip
described = st.lists(entries, max_size=6, unique_by=lambda e: e.name).map(
    lambda e: Columns(tuple(e), 99)
)


@given(described)
def test_json_gives_back_the_same_columns(columns):
    again = Columns.from_json(json.loads(json.dumps(columns.to_json())))
    assert again == columns
    assert again.feature_names == columns.feature_names
    assert len(columns.feature_names) == columns.width
    assert len(columns.describe().splitlines()) == 1 + len(columns.entries)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(described, junk, st.data())
def test_json_of_strangers_is_refused_or_valid(columns, value, data):
    held = columns.to_json()
    place = held
    while True:  # anywhere in it
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], (dict, list)) or data.draw(st.booleans()):
            place[key] = value
            break
        place = place[key]
    try:
        again = Columns.from_json(held)
    except DataError as e:
        assert str(e)  # noqa: PT017  # or it is valid
    else:
        assert Columns.from_json(json.loads(json.dumps(again.to_json()))) == again


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format 2"),
        ({"rows": -1}, "rows is -1"),
        ({"rows": True}, "rows is True"),
        ({"entries": {}}, "no list"),
        ({"more": 1}, "parts format, rows and entries"),
        ({"entries": [{"kind": "__import__"}]}, "the kind '__import__'"),
        ({"entries": [{"kind": "dropped", "name": "x"}]}, "other parts than"),
        ({"entries": [{"kind": "dropped", "name": "\ud800", "missing": 0, "note": ""}]}, "name is"),
        (
            {"entries": [{"kind": "number", "name": "x", "missing": 0, "note": "", "center": 0.0,
                          "scale": 0.0, "fill": 0.0}]},
            "a scale of 0.0",
        ),
        (
            {"entries": [{"kind": "number", "name": "x", "missing": 0, "note": "",
                          "center": 10**400, "scale": 1.0, "fill": 0.0}]},
            "center is a int",
        ),
        (
            {"entries": [{"kind": "hash", "name": f"h{k}", "missing": 0, "note": "", "bits": 20}
                         for k in range(3)]},
            "more than 1,000,000",
        ),
        (
            {"entries": [{"kind": "hash", "name": "h", "missing": 0, "note": "", "bits": 63}]},
            "63 bits",
        ),
        (
            {"entries": [{"kind": "dropped", "name": "x", "missing": 0, "note": ""}] * 2},
            "two are called 'x'",
        ),
        (
            {"entries": [{"kind": "category", "name": "x", "missing": 0, "note": "",
                          "categories": ["b", "a"], "other": False}]},
            "not sorted",
        ),
    ],
)  # fmt: skip
def test_json_that_cannot_be_is_refused(change, message):
    held = {**learn_columns({"x": [1, 2]}).to_json(), **change}
    with pytest.raises(DataError, match=message):
        Columns.from_json(held)


@given(tables, st.integers(1, 50), st.integers(1, 20))
def test_a_stream_learns_its_columns_from_the_first_rows(table, warmup_rows, step):
    labelled = table.append_column("y", pa.array(range(table.num_rows)))
    batches = [labelled.slice(k, step) for k in range(0, table.num_rows, step)]
    stream = RawStream(batches, "y", warmup_rows=warmup_rows)
    chunks = list(stream)
    want = learn_columns(table.slice(0, warmup_rows))
    assert stream.columns == want
    X = np.vstack([dense(c.X) for c in chunks])
    assert X.tobytes() == dense(want.transform(table)).tobytes()
    assert np.concatenate([c.y for c in chunks]).tolist() == list(range(table.num_rows))
    again = [dense(c.X) for c in stream]
    assert np.vstack(again).tobytes() == X.tobytes()


def test_a_stream_holds_no_more_than_it_must_and_says_what_is_wrong():
    def endless():
        for k in range(10**9):
            yield {"x": [float(k), 0.5], "y": ["a", "b"]}

    taken = iter(RawStream(endless(), "y", warmup_rows=5))
    assert [next(taken).X.shape for _ in range(9)] == [(2, 1)] * 9
    known = learn_columns({"x": [1.0, 2.0]})
    assert next(iter(RawStream(endless(), "y", columns=known))).X.tolist() == [[-3.0], [-2.0]]
    with pytest.raises(DataError, match="no column 'z' of labels"):
        next(iter(RawStream(endless(), "z", warmup_rows=1)))
    with pytest.raises(DataError, match="a label in column 'y' is missing"):
        list(RawStream([{"x": [1, 2], "y": ["a", None]}], "y"))
    with pytest.raises(ParameterError, match="warmup_rows must be at least 1"):
        RawStream([], "y", warmup_rows=0)
