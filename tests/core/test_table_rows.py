"""Rows of tables that the core puts together, beside dicts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt._core import assemble_rows, least_and_greatest

COLUMNS = st.integers(-1, 6)
NUMBERS = st.sampled_from([np.nan, -2.0, 0.0, 0.5, 3.0])


@st.composite
def tables(draw):
    """A number of rows, and parts of their cells, every other one a column of a larger array."""
    n, parts = draw(st.integers(0, 12)), []
    for _ in range(draw(st.integers(0, 5))):
        if draw(st.booleans()):
            cells = np.array(draw(st.lists(NUMBERS, min_size=n, max_size=n)), np.float64)
            columns = [draw(st.integers(0, 6))]
        else:
            columns = draw(st.lists(COLUMNS, max_size=4))
            places = st.integers(-1, len(columns) - 1)
            cells = np.array(draw(st.lists(places, min_size=n, max_size=n)), np.int32)
        if draw(st.booleans()):
            cells = np.stack([cells, cells], axis=1)[:, 1]
        parts.append((cells, np.array(columns, np.int32)))
    return n, parts


@given(tables())
def test_rows_have_the_entries_of_all_parts_in_order_of_columns(table):
    n, parts = table
    indptr, indices, values = assemble_rows(n, parts)
    assert len(indptr) == n + 1
    for i in range(n):
        row = {}
        for cells, columns in parts:
            if cells.dtype == np.float64:
                column, value = (columns[0], cells[i]) if cells[i] == cells[i] else (-1, 0.0)
            else:
                column, value = columns[cells[i]] if cells[i] >= 0 else -1, 1.0
            if column >= 0:
                row[column] = row.get(column, 0.0) + value
        span = slice(indptr[i], indptr[i + 1])
        assert dict(zip(indices[span], values[span], strict=True)) == row
        assert indices[span].tolist() == sorted(row)
    assert indptr[-1] == len(indices) == len(values)


@pytest.mark.parametrize(
    "part",
    [
        (np.zeros(2, np.int32), np.zeros(1, np.int32)),
        (np.ones(3, np.int32), np.zeros(1, np.int32)),
        (np.zeros(3), np.zeros(2, np.int32)),
        (np.zeros(3), np.full(1, -1, np.int32)),
    ],
)
def test_parts_that_do_not_fit_are_refused(part):
    with pytest.raises(ValueError, match="one"):
        assemble_rows(3, [part])


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
def test_cells_of_other_types_are_not_converted(dtype):
    with pytest.raises(TypeError, match="float64 numbers or int32 places"):
        assemble_rows(3, [(np.ones(3, dtype), np.zeros(1, np.int32))])
    with pytest.raises(ValueError, match="negative"):
        assemble_rows(-1, [])


def test_least_and_greatest_leave_out_nan():
    values = np.array([[np.nan, 1.0], [2.0, 5.0], [-3.0, np.nan]])
    assert least_and_greatest(values[:, 0]) == (-3.0, 2.0)
    assert least_and_greatest(values[:, 1]) == (1.0, 5.0)
    assert least_and_greatest(np.full(2, np.nan)) == (np.inf, -np.inf)
