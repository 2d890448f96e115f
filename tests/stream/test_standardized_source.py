"""Standardized numbers: the same for any cut, and weights for the numbers as they are."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import Perceptron
from rosenblatt._core import FeatureIndex
from rosenblatt.data.block import START, Block, Position
from rosenblatt.data.source import LabelIndex, Source
from rosenblatt.errors import DataError
from rosenblatt.features.table_features import TableFeatures
from rosenblatt.stream.standardized_source import StandardizedSource
from tests.features.test_table_features import KINDS, ROWS, batch, dense, padded


class Encoded(Source):
    """Batches of rows, encoded as they are read."""

    def __init__(self, table, batches):
        self.labels, self.table, self.batches = LabelIndex([0, 1]), table, batches

    def blocks(self, epoch=1, after=START):
        at = 0
        for rows in self.batches:
            X = self.table.encode(batch(rows), grow=epoch == 1)
            end = Position(rows=at + len(rows))
            yield Block(X, np.zeros(len(rows), np.int32), None, at, end)
            at = end.rows


def standardized(rows, *cuts):
    table = TableFeatures(KINDS)
    ends = [0, *sorted(cuts), len(rows)]
    parts = [rows[a:b] for a, b in pairwise(ends)]
    source = StandardizedSource(Encoded(table, parts), table)
    first = [block.X for block in source.blocks()]
    second = [block.X for block in source.blocks(2)]
    width = table.n_features
    return source, *(np.vstack([padded(X, width) for X in found]) for found in (first, second))


@given(ROWS.filter(len), st.data())
def test_cuts_do_not_matter(rows, data):
    whole, first, second = standardized(rows)
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=3))
    parts, *found = standardized(rows, *cuts)
    assert [X.tolist() for X in found] == [first.tolist(), second.tolist()]
    for name, values in whole.get_state()[1].items():
        assert np.array_equal(values, parts.get_state()[1][name])
    resumed = StandardizedSource(whole.source, whole.table)
    resumed.set_state(*whole.get_state())
    assert np.array_equal(dense(next(resumed.blocks(2)).X), second)


@given(ROWS.filter(len), st.integers(0, 2**32 - 1))
def test_moments_and_weights_are_those_of_the_numbers(rows, seed):
    source, _, standard = standardized(rows)
    raw = dense(source.table.encode(batch(rows), grow=False))
    for k, (column, place) in enumerate(zip(source.columns, (0, 2, 3), strict=True)):
        name = source.table.feature_names[column]
        given_ = [i for i, row in enumerate(rows) if not isinstance(row[place], str | None)]
        x = raw[given_, column] if given_ else np.zeros(1)
        np.testing.assert_allclose(source.mean[k], x.mean(), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(source.deviation[k], x.std(), rtol=1e-6, atol=1e-6)
        assert source.fill()[name] == source.mean[k]
    rng = np.random.default_rng(seed)
    coef, intercept = rng.integers(-9, 9, (2, raw.shape[1])).astype(float), rng.normal(size=2)
    expected = standard @ coef.T + intercept
    unscaled, constant = source.unscaled(coef, intercept)
    found = raw @ unscaled.T + constant
    scale = np.abs(raw @ np.abs(unscaled).T) + np.abs(constant) + np.abs(expected) + 1
    assert (np.abs(found - expected) <= 1e-9 * scale).all()


def test_far_numbers_count_as_ten_deviations():
    rows = [(0.0, "a", None, 0.0, "a")] * 400 + [(1.0, "a", None, -1.0, "a")]
    source, first, second = standardized(rows)
    assert source.mean == pytest.approx([1 / 401, 0.0, -1 / 401])
    assert [first[-1, k] for k in source.columns] == [10.0, 0.0, -10.0]
    assert np.array_equal(first[-1], second[-1])


def test_numbers_that_overflow_and_hashed_columns():
    rows = [(1e308, "a", None, 0.0, "a"), (-1e308, "a", None, 0.0, "a")]
    with pytest.raises(DataError, match="row 1 has numbers too large"):
        standardized(rows)
    table = TableFeatures(KINDS, FeatureIndex(hash_bits=4))
    with pytest.raises(DataError, match="cannot be standardized"):
        StandardizedSource(Encoded(table, [rows]), table)


@pytest.mark.parametrize("rule", ["perceptron", "pa1", "arow"])
@pytest.mark.parametrize(("shift", "unit"), [(1e6, 1.0), (0.0, 1e-4), (-250.0, 3600.0)])
def test_constants_and_units_do_not_matter(rule, shift, unit):
    """A constant that is added, or another unit, changes test error by at most 0.3 points."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 3)) * [1, 5, 0.2] + [10, -3, 0.5]
    y = (X @ [1, 0.2, -4] + rng.logistic(size=8000) > 7.4).astype(int)
    errors = []
    for moved in (X[:, 0], (X[:, 0] + shift) * unit):
        rows = [(a, "a", None, b, "b") for a, b in zip(moved.tolist(), X[:, 1], strict=True)]
        source, first, _ = standardized(rows[:4000])
        clf = Perceptron(rule=rule, keep="average", shuffle=False, max_iter=1, tol=None).fit(
            first, y[:4000]
        )
        coef, intercept = source.unscaled(clf.coef_, clf.intercept_)
        test = dense(source.table.encode(batch(rows[4000:]), grow=False))
        errors.append(100 * ((test @ coef[0] + intercept >= 0) != y[4000:]).mean())
    assert abs(errors[0] - errors[1]) <= 0.3
