"""Rows read in parts: the same rows, whatever holds them; chunks must stay what they were."""

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import read, read_chunks
from rosenblatt.data.cone import as_cone
from rosenblatt.errors import DataError, LabelError


def identity(block):
    return block


def joined(rows):
    parts = rows.map(identity)
    X = np.vstack([p.X.toarray() if sp.issparse(p.X) else p.X for p in parts])
    return X, np.concatenate([p.sign for p in parts]), [p.first_row for p in parts]


@given(
    cuts=st.lists(st.integers(0, 12), max_size=4),
    sparse=st.booleans(),
    at=st.lists(st.integers(0, 11)),
)
def test_chunks_are_the_rows_they_were_cut_from(cuts, sparse, at):
    X, y = np.arange(36.0).reshape(12, 3) % 7, np.arange(12) % 2
    ends = [0, *sorted(cuts), 12]
    pieces = [(X[a:b], y[a:b]) for a, b in pairwise(ends)]
    if sparse:
        pieces = [(sp.csr_array(part), labels) for part, labels in pieces]
    whole, chunked = as_cone(X, y), as_cone(pieces)
    assert chunked.n_rows == whole.n_rows
    assert chunked.n_features == whole.n_features
    for a, b in zip(joined(whole)[:2], joined(chunked)[:2], strict=True):
        assert np.array_equal(a, b)
    a, b = whole.take(at), chunked.take(at)
    assert np.array_equal(a.X, b.X.toarray() if sp.issparse(b.X) else b.X)
    assert np.array_equal(a.sign, b.sign)


class Changing:
    def __init__(self):
        self.reading = 0

    def __iter__(self):
        self.reading += 1
        yield np.array([[1.0], [self.reading]]), [0, 1]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (iter([([[1.0]], [0])]), "only once"),
        ([([[1.0]], [0]), ([[1.0, 2.0]], [1])], "has 2 features"),
        (lambda: iter(()), "no rows"),
        (lambda: [np.zeros((2, 2))], "expected pairs"),
        ([([[1.0]], [0]), ([[np.nan]], [1])], "starts at row 1"),
    ],
)
def test_what_cannot_be_read_again_is_refused(source, message):
    with pytest.raises(DataError, match=message):
        as_cone(source)


def test_two_classes_over_all_chunks():
    with pytest.raises(LabelError, match="two classes, got 3"):
        as_cone([([[1.0]], [0]), ([[1.0]], [1]), ([[1.0]], [2])])


def test_chunks_that_change_are_noticed():
    rows = as_cone(Changing())
    with pytest.raises(DataError, match="differs from the first reading"):
        rows.map(identity)


def test_chunks_of_frames_have_the_same_columns():
    import pandas as pd

    A, B = pd.DataFrame({"a": [0, 0], "b": [0, 1]}), pd.DataFrame({"a": [1, 2], "b": [0, 1]})
    assert as_cone([(A, [0, 0]), (B, [1, 1])]).names == ("a", "b")
    for other in (B[["b", "a"]], B.to_numpy()):
        with pytest.raises(DataError, match="same columns"):
            as_cone([(A, [0, 0]), (other, [1, 1])])


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1], [np.nextafter(np.longdouble(1), 2)]]),
        [[Decimal("0.1")], [Decimal(1)]],
        [[Fraction(1, 3)], [1]],
    ],
)
def test_numbers_that_floats_round_are_refused(X):
    with pytest.raises(DataError, match="no float64 is"):
        as_cone(X, [0, 1])


def test_rationals_that_floats_hold_are_taken():
    assert as_cone([[Fraction(1, 4)], [Decimal("0.5")]], [0, 1]).n_rows == 2


def test_what_was_read_is_taken_as_it_is(tmp_path):
    path = tmp_path / "few.svm"
    path.write_text("0 1:1\n1 1:2 3:4\n")
    assert as_cone(read(path)).n_features == 3
    assert as_cone(read_chunks(path)).n_rows == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((([[1.0]], [0]),), "labels y are missing"),
        (("rows.csv",), "'rows.csv', not a table of numbers. If it is a file, read it first"),
        (([(np.ones((2, 1)), [0, 1])], [0, 1]), "Leave y out"),
        ((lambda: None,), "returned a NoneType"),
    ],
)
def test_what_was_probably_meant(given, message):
    with pytest.raises(DataError, match=message):
        as_cone(*given)


def test_rows_that_were_taken_are_not_read_again():
    readings = []

    def source():
        readings.append(1)
        return [([[0.0], [1.0]], [0, 1]), (sp.csr_matrix([[2.0], [3.0]]), [1, 0])]

    rows = as_cone(source)
    part = rows.take([3, 0, 3])
    assert part.X.ravel().tolist() == [3.0, 0.0, 3.0]
    assert part.sign.tolist() == [-1, -1, -1]
    assert len(readings) == 2
    assert rows.take([0]).X.ravel().tolist() == [0.0]
    assert rows.take([]).X.shape == (0, 1)
    assert len(readings) == 2
    assert rows.take([2, 3]).X.toarray().ravel().tolist() == [2.0, 3.0]
    assert len(readings) == 3


def test_some_rows_are_a_view_of_chunks():
    X, y = np.arange(14.0).reshape(7, 2), [0, 1, 0, 1, 1, 0, 1]
    rows = as_cone([(X[:3], y[:3]), (X[3:4], y[3:4]), (X[4:], y[4:])])
    at = np.array([1, 2, 4, 6])
    some = rows.select(at)
    found, signs, starts = joined(some)
    assert np.array_equal(found, X[at])
    assert signs.tolist() == [1, -1, 1, 1]
    assert starts == [0, 2, 2]
    assert some.n_rows == 4
    assert some.map(len) == [2, 0, 2]
    assert some.take([3, 0]).X.tolist() == X[[6, 1]].tolist()
