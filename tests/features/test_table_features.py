"""Features of a table: equal to DictVectorizer on the same rows as dicts, for any cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction import DictVectorizer

from rosenblatt._core import FeatureIndex
from rosenblatt.data.block import Csr
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.features.column_batch import ColumnBatch, DateColumn, NumberColumn, TextColumn
from rosenblatt.features.table_features import TableFeatures

TEXT = st.none() | st.text("abc", max_size=2)
NUMBER = st.none() | st.sampled_from([0.0, 1.0, -2.5, 1e9])
DATE = st.none() | st.datetimes(np.datetime64(0, "us").item())
ROWS = st.lists(st.tuples(NUMBER | st.just("N/A"), TEXT, DATE, NUMBER, TEXT), max_size=12)
NAMES = ("n", "t", "d", "m", "u")


def text_column(cells):
    words = list(dict.fromkeys(c for c in cells if c is not None))
    codes = [-1 if c is None else words.index(c) for c in cells]
    return TextColumn(np.array(codes, np.int32), tuple(words))


def number_column(cells):
    texts = [c if isinstance(c, str) else None for c in cells]
    values = [np.nan if c is None or isinstance(c, str) else c for c in cells]
    odd = text_column(texts) if any(t is not None for t in texts) else None
    return NumberColumn(np.array(values, np.float64), odd)


def date_column(cells):
    return DateColumn(np.array([np.datetime64("NaT") if c is None else c for c in cells], "M8[us]"))


MAKE = {"n": number_column, "t": text_column, "d": date_column, "m": number_column,
        "u": text_column}  # fmt: skip
KINDS = {"n": "number", "t": "category", "d": "date", "m": "number", "u": "category"}


def batch(rows, names=NAMES):
    columns = tuple(MAKE[name]([row[NAMES.index(name)] for row in rows]) for name in names)
    return ColumnBatch(tuple(names), columns, len(rows))


def as_dict(row):
    """The row as a dict for DictVectorizer."""
    out = {}
    for name, cell in zip(NAMES, row, strict=True):
        if cell is None:
            out[f"{name}=missing"] = 1.0
        elif KINDS[name] == "date":
            out[name] = (cell - np.datetime64(0, "us").item()).total_seconds() / 86400
            out |= {f"{name} month": cell.strftime("%b"), f"{name} weekday": cell.strftime("%a"),
                    f"{name} hour": str(cell.hour)}  # fmt: skip
        else:
            out[name] = cell
    return out


def dense(X):
    if not isinstance(X, Csr):
        return X
    table = np.zeros(X.shape)
    for i in range(X.shape[0]):
        part = slice(X.indptr[i], X.indptr[i + 1])
        assert (np.diff(X.indices[part]) > 0).all()
        table[i, X.indices[part]] = X.data[part]
    return table


def padded(X, width):
    X = dense(X)
    return np.pad(X, ((0, 0), (0, width - X.shape[1])))


@given(ROWS, st.data())
def test_rows_are_those_of_dict_vectorizer_for_any_cut(rows, data):
    table = TableFeatures(KINDS)
    whole = dense(table.encode(batch(rows)))
    names = table.feature_names
    assert len(set(names)) == len(names) == whole.shape[1] == table.n_features
    vectorizer = DictVectorizer(sparse=False)
    expected = vectorizer.fit_transform([as_dict(row) for row in rows] or [{}])[: len(rows)]
    for name in names:
        if name in vectorizer.feature_names_:
            wanted = expected[:, vectorizer.feature_names_.index(name)]
            np.testing.assert_allclose(whole[:, names.index(name)], wanted, rtol=1e-15)
        else:
            assert name in ("n", "d", "m")
            assert not whole[:, names.index(name)].any()
    assert set(vectorizer.feature_names_) <= set(names)

    cut = data.draw(st.integers(0, len(rows)))
    parts = TableFeatures(KINDS)
    found = [parts.encode(batch(part)) for part in (rows[:cut], rows[cut:])]
    assert parts.feature_names == names
    assert np.array_equal(np.vstack([padded(X, len(names)) for X in found]), whole)
    assert parts.counts == table.counts
    assert np.array_equal(padded(table.encode(batch(rows), grow=False), len(names)), whole)


@given(ROWS, st.integers(0, 20))
def test_texts_without_room_are_other(rows, limit):
    index = FeatureIndex(max_features=limit + 3)
    table = TableFeatures(KINDS, index)
    X = dense(table.encode(batch(rows)))
    names = table.feature_names
    known = {name for name in names if "=" in name and not name.endswith(("other", "missing"))}
    for row, x in zip(rows, X, strict=True):
        for k in (1, 4):
            if row[k] is not None:
                name = f"{NAMES[k]}={row[k]}"
                name = name if name in known else f"{NAMES[k]}=other"
                assert x[names.index(name)] == 1
    if any("=other" in name for name in names):
        assert any("=other" in remark for remark in table.remarks())


def test_a_table_of_numbers_stays_dense():
    table = TableFeatures({"m": "number", "n": "number"})
    X = table.encode(batch([(1.0, None, None, 2.0, None)], ("n", "m")))
    assert X.tolist() == [[2.0, 1.0]]  # columns are found by name
    sparse = table.encode(batch([("N/A", None, None, 2.0, None)], ("n", "m")))
    assert dense(sparse).tolist() == [[2.0, 0.0, 1.0]]
    assert table.feature_names == ["m", "n", "n=N/A"]
    assert table.remarks() == [
        "m: all cells are equal, so it says nothing.",
        "n: 1 of 2 cells are no numbers, for example 'N/A'. Each text is a feature of its own.",
    ]


def test_unknown_cells_of_new_rows():
    table = TableFeatures(KINDS)
    table.encode(batch([(1.0, "a", None, 3.0, "b"), (2.0, "a", None, 4.0, "c")]))
    new = batch([(None, "z", None, "odd", None)])
    X = dense(table.encode(new, grow=False))[0]
    assert {n: v for n, v in zip(table.feature_names, X, strict=True) if v} == {"d=missing": 1.0}
    table.fill = {"n": 1.5, "m": 3.5}
    X = dense(table.encode(new, grow=False))[0]
    shown = {n: v for n, v in zip(table.feature_names, X, strict=True) if v}
    assert shown == {"d=missing": 1.0, "n": 1.5, "m": 3.5}
    again = TableFeatures.from_dict(table.to_dict(), map(table.index.pair, range(table.n_features)))
    assert dense(again.encode(new, grow=False))[0].tolist() == X.tolist()


def test_bad_tables():
    with pytest.raises(ParameterError, match="column 'a' has the unknown kind 'text'"):
        TableFeatures({"a": "text"})
    with pytest.raises(DataError, match="is too long"):
        TableFeatures({"a" * 1001: "number"})
    table = TableFeatures({"n": "number", "t": "category"})
    rows = [(1.0, "a", None, 2.0, "b")]
    with pytest.raises(DataError, match="no column 't'"):
        table.encode(batch(rows, ("n", "m")))
    with pytest.raises(DataError, match="of kind number, and was of kind category"):
        TableFeatures({"n": "category"}).encode(batch(rows))
    for saved in (None, {}, {"kinds": [["n", "number"]], "fill": {"n": "x"}},
                  {"kinds": [["q", "number"]], "fill": {}}, {"kinds": [["n", "q"]], "fill": {}},
                  {"kinds": [["n", "number"]], "fill": {"t": 0.5}}):  # fmt: skip
        with pytest.raises(DataError):
            TableFeatures.from_dict(saved, map(table.index.pair, range(table.n_features)))


def test_columns_that_are_called_as_features_are_refused():
    table = TableFeatures({"n": "number", "n=missing": "number", "n=other": "number"})
    full, empty = number_column([1.0]), number_column([None])
    names = tuple(table.kinds)
    assert dense(table.encode(ColumnBatch(names, (full,) * 3, 1))).tolist() == [[1.0] * 3]
    with pytest.raises(DataError, match=r"n=missing is a column of the table.*Rename"):
        table.encode(ColumnBatch(names, (empty, full, full), 1))
    table = TableFeatures({"t": "category", "t=other": "number"}, FeatureIndex(max_features=2))
    both = ColumnBatch(("t", "t=other"), (text_column(["a", "b"]), number_column([1.0, 2.0])), 2)
    with pytest.raises(DataError, match="t=other is a column of the table"):
        table.encode(both)
    with pytest.raises(DataError, match="'d month' is called as a part of a date"):
        TableFeatures({"d": "date", "d month": "category"})


def test_hashed_features_of_a_row_are_added():
    index = FeatureIndex(hash_bits=2)
    table = TableFeatures(KINDS, index)
    rows = [(1.0, "a", None, 3.0, "b"), ("N/A", None, None, 4.0, "c")]
    X = dense(table.encode(batch(rows)))
    assert X.shape == (2, 4)
    expected = np.zeros((2, 4))
    for i, row in enumerate(rows):
        for name, cell in zip(NAMES, row, strict=True):
            if cell is None:
                expected[i, index.find(f"{name}=missing")] += 1
            elif isinstance(cell, str):
                expected[i, index.find(cell, name)] += 1
            else:
                expected[i, index.find(name)] += cell
    assert np.array_equal(X, expected)
