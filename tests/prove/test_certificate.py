"""Certificates: what they are digests of, how they are written, what they say."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import separability
from rosenblatt.data.chunks import as_rows
from rosenblatt.prove.certificate import data_digest

QUASI = ([[-2.0, 1], [0, 1], [0, 1], [2, 1]], [0, 0, 1, 1])


@given(
    entries=st.lists(st.sampled_from([0.0, -0.0, 1.5, -2.0]), min_size=24, max_size=24),
    cuts=st.lists(st.integers(0, 8), max_size=3),
    gaps=st.booleans(),
)
def test_the_digest_is_of_the_numbers_not_of_their_storage(entries, cuts, gaps):
    X, y = np.array(entries).reshape(8, 3), np.arange(8) % 2
    X = X if gaps else X + 5
    stored = sp.csr_matrix(np.ones((8, 3)))
    stored.data[:] = X.ravel()  # zeros that are stored
    single, ends = X.astype(np.float32), [0, *sorted(cuts), 8]
    chunks = [(sp.csr_array(X[a:b]) if a else single[a:b], y[a:b]) for a, b in pairwise(ends)]
    forms = (X, single, np.asfortranarray(X), sp.csr_array(single), stored, abs(X) * np.sign(X))
    digests = {data_digest(as_rows(A, y)) for A in forms} | {data_digest(as_rows(chunks))}
    assert len(digests) == 1
    k = int(np.flatnonzero(X.ravel())[0]) if X.any() else 0
    for other in (np.nextafter(X.ravel()[k], 9), X.ravel()[k] + 1):
        moved = X.copy()
        moved.ravel()[k] = other
        assert data_digest(as_rows(moved, y)) not in digests
    assert data_digest(as_rows(X, 1 - y)) not in digests
    assert data_digest(as_rows(X[:, ::-1], y)) not in digests or (X == X[:, ::-1]).all()


@pytest.mark.parametrize("intercept", [True, False])
def test_chunks_verify_like_the_whole(intercept):
    X, y = np.array(QUASI[0]), np.array(QUASI[1])
    cert = separability(X, y, fit_intercept=intercept)
    chunks = [(X[:1], y[:1]), (X[1:3], y[1:3]), (sp.csr_array(X[3:]), y[3:])]
    assert cert.verify(chunks)
    assert not cert.verify(chunks[::-1]).integrity
    moved = [(X[:1] - 1, y[:1]), *chunks[1:]]
    assert not cert.verify(moved).integrity
