"""The form of a CSR matrix, against scipy's own checks."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt._core import CsrForm, csr_form
from rosenblatt.data.labels import sorted_classes
from rosenblatt.data.matrix import as_matrix


@given(
    rows=st.lists(st.lists(st.integers(-1, 6), max_size=5), min_size=1, max_size=5),
    kind=st.sampled_from([np.int32, np.int64]),
)
def test_every_form_is_recognised(rows, kind):
    indptr = np.cumsum([0, *map(len, rows)]).astype(kind)
    indices = np.array([j for row in rows for j in row], dtype=kind)
    expected = CsrForm.UNIQUE
    if any(j < 0 or j > 5 for j in indices):
        expected = CsrForm.BROKEN
    elif any(len(set(row)) < len(row) for row in rows):
        expected = CsrForm.REPEATED
    elif all(row == sorted(row) for row in rows):
        expected = CsrForm.SORTED
    assert csr_form(indptr, indices, 6) == expected


def test_row_pointers_that_fall_or_lead_outside_are_broken():
    indices = np.array([0, 1, 2], dtype=np.int32)
    for indptr in ([1, 3], [0, 4], [0, 2, 1, 3], [0, 5, 3], []):
        assert csr_form(np.array(indptr, dtype=np.int32), indices, 3) == CsrForm.BROKEN
    assert (
        csr_form(np.array([0, 0, 2, 2, 3], dtype=np.int32), indices[::-1].copy(), 3)
        == CsrForm.UNIQUE
    )


def test_rows_are_sorted_only_where_that_is_asked_for():
    A = sp.csr_matrix((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1]), np.array([0, 2, 3])))
    assert as_matrix(A).indices.tolist() == [0, 2, 1]
    loose = as_matrix(A, ordered=False)
    assert loose.indices.tolist() == [2, 0, 1]
    assert (loose.toarray() == A.toarray()).all()


@given(
    labels=st.lists(st.integers(0, 300), min_size=1),
    kind=st.sampled_from([np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64]),
    scale=st.sampled_from([1, 100, 2**54]),
)
def test_distinct_labels_are_those_of_numpy(labels, kind, scale):
    labels = (np.array(labels, dtype=np.uint64) * np.uint64(scale)).astype(kind)  # wraps
    found = sorted_classes(labels)
    assert found.dtype == labels.dtype
    assert found.tolist() == np.unique(labels).tolist()
