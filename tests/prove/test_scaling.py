"""Sizes of columns, by which linear programs are scaled."""

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt.data.cone import ConeBlock
from rosenblatt.prove.separability.scaling import column_sizes


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (3, 0), (7, 600), (20, 50), (21, 50), (1_029, 2)])
@pytest.mark.parametrize("form", [np.ascontiguousarray, np.asfortranarray, sp.csr_matrix])
def test_sizes_of_columns_are_their_largest_entries(form, shape, dtype):
    X = np.random.default_rng(0).normal(size=shape).astype(dtype)
    X[:, ::3] = -abs(X[:, ::3])
    X[-1:, 1::2] *= 9
    block = ConeBlock(form(X), np.ones(len(X), np.int8))
    np.testing.assert_array_equal(column_sizes(block)[0], abs(X).max(axis=0, initial=0))
