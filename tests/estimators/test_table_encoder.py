"""TableEncoder: frames as scikit-learn's DictVectorizer has the same rows."""

import datetime
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import DictVectorizer
from sklearn.pipeline import make_pipeline

from rosenblatt import Perceptron, TableEncoder
from rosenblatt.errors import DataError, DataTypeError, ParameterError

ROWS = [
    {"age": 20.0, "city": "Bonn", "member": "true", "zip": "7"},
    {"city": "Rome", "member": "false", "zip": "7.5"},
    {"age": 40.0, "city": "Rome", "member": "true"},
    {"age": 60.0, "member": "false", "zip": "7"},
]


def frame():
    return pd.DataFrame(
        {
            "age": [20, None, 40, 60],
            "city": ["Bonn", "Rome", "Rome", "?"],
            "member": [True, False, True, False],
            "zip": [7.0, 7.5, None, 7.0],
        }
    )


def test_features_are_those_of_dict_vectorizer():
    encoder = TableEncoder(kinds={"zip": "category"}, missing=["?"])
    X = encoder.fit_transform(frame())
    names = encoder.get_feature_names_out().tolist()
    rows = [
        row | {f"{name}=missing": 1.0 for name in ("age", "city", "zip") if name not in row}
        for row in ROWS
    ]
    vectorizer = DictVectorizer(sparse=False)
    expected = vectorizer.fit_transform(rows)
    assert sorted(names) == sorted(vectorizer.feature_names_)
    order = [vectorizer.feature_names_.index(name) for name in names]
    assert np.array_equal(X.toarray(), expected[:, order])
    assert np.array_equal(encoder.transform(frame()).toarray(), X.toarray())
    again = pickle.loads(pickle.dumps(encoder))
    shuffled = frame()[["zip", "member", "city", "age"]].assign(more=1)
    assert np.array_equal(again.transform(shuffled).toarray(), X.toarray())
    assert clone(encoder).kinds == {"zip": "category"}


def test_dates_and_mixed_columns():
    days = ["2024-01-01 07:30:00", "2024-02-03 00:00:00"]
    zoned = pd.to_datetime(days).tz_localize("Europe/Rome")
    table = pd.DataFrame(
        {
            "a": pd.to_datetime(days),
            "b": zoned,
            "c": [datetime.date(2024, 1, 1), None],
            "d": ["2024-01-01", "soon"],
            "e": [1, "N/A"],
            "f": pd.array([1, None], dtype="Int64"),
            "g": [pd.NaT, "x"],
        }
    )
    encoder = TableEncoder(kinds={"c": "date", "d": "date", "e": "number"})
    X = encoder.fit_transform(table).toarray()
    found = [
        {n: v for n, v in zip(encoder.get_feature_names_out(), row, strict=True) if v} for row in X
    ]
    first = {"a": 19723.3125, "a month=Jan": 1.0, "a weekday=Mon": 1.0, "a hour=7": 1.0}
    assert found[0].items() >= first.items()
    assert found[0]["b"] == 19723 + 6.5 / 24
    assert found[0].items() >= {"c": 19723.0, "c month=Jan": 1.0, "d": 19723.0, "e": 1.0}.items()
    assert found[1].items() >= {"f=missing": 1.0, "g=x": 1.0}.items()
    assert found[0].items() >= {"f": 1.0, "g=missing": 1.0}.items()
    assert found[1].items() >= {"c=missing": 1.0, "d=soon": 1.0, "e=N/A": 1.0}.items()


def test_in_a_pipeline_and_hashed():
    y = ["no", "yes", "no", "yes"]
    model = make_pipeline(TableEncoder(missing=["?"]), Perceptron(max_iter=100, tol=None))
    assert model.fit(frame(), y).score(frame(), y) == 1
    hashed = TableEncoder(hash_bits=10).fit(frame())
    assert hashed.transform(frame()).shape == (4, 1024)
    assert len(hashed.get_feature_names_out()) == 1024


@pytest.mark.parametrize(
    ("params", "table", "error", "words"),
    [
        ({}, [[1, 2]], DataTypeError, "expected a frame"),
        ({}, pd.DataFrame({"a": [[1]]}), DataTypeError, "column 'a' holds"),
        ({}, pd.DataFrame({"a": [np.inf]}), DataError, "infinity"),
        ({}, pd.DataFrame([[1, 2]], columns=["a", "a"]), DataError, "two columns"),
        ({}, pd.DataFrame({"a": [2**53 + 1]}), DataError, "9007199254740993"),
        ({"kinds": {"b": "date"}}, pd.DataFrame({"a": [1]}), ParameterError, "no column 'b'"),
        (
            {"kinds": {"a": "num"}},
            pd.DataFrame({"a": [1]}),
            ParameterError,
            "unknown kind 'num'. Use one of",
        ),
        ({"hash_bits": 31}, pd.DataFrame({"a": [1]}), ParameterError, "from 1 to 30"),
        ({"hash_bits": 2.0}, pd.DataFrame({"a": [1]}), ParameterError, "whole number"),
        ({"missing": "?"}, pd.DataFrame({"a": [1]}), ParameterError, "a list of texts"),
    ],
)
def test_bad_input(params, table, error, words):
    encoder = TableEncoder(**params)
    with pytest.raises(error, match=words):
        encoder.fit(table)
    with pytest.raises(NotFittedError):
        encoder.transform(table)


def test_a_column_is_dropped():
    encoder = TableEncoder(kinds={"zip": "drop"})
    found = encoder.fit_transform(frame())
    assert not any(name.startswith("zip") for name in encoder.get_feature_names_out())
    assert (encoder.transform(frame().drop(columns="zip")) != found).nnz == 0


def test_new_rows_of_another_kind():
    encoder = TableEncoder().fit(frame())
    with pytest.raises(DataError, match="no column 'zip'"):
        encoder.transform(frame().drop(columns="zip"))
    odd = encoder.transform(frame().assign(age="old")).toarray()
    assert not odd[:, encoder.get_feature_names_out() == "age"].any()
