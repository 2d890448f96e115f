"""What the property tests draw: small integer problems on which float sums are exact."""

import os

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from rosenblatt.data.problem import Problem

# what is compiled for few tests is tried by `make soak` only
SOAKED = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
TIES = ["mistake", "positive", "correct", "half"]


@st.composite
def integer_rows(draw, max_rows=12, max_features=4, most=4):
    """(X, y) with small integers, both classes present, ties and duplicates likely."""
    n = draw(st.integers(2, max_rows))
    d = draw(st.integers(1, max_features))
    entry = st.integers(-most, most)
    X = draw(st.lists(st.lists(entry, min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    y[0], y[1] = -1, 1
    return X, y


@st.composite
def separable_rows(draw, max_rows=12, max_features=3, most=5):
    """(X, y, u, v): integer rows labelled by an integer hyperplane u.x + v, never on it."""
    d = draw(st.integers(1, max_features))
    u = draw(st.lists(st.integers(-3, 3), min_size=d, max_size=d).filter(any))
    v = draw(st.integers(-3, 3))
    entry = st.integers(-most, most)
    rows = draw(st.lists(st.lists(entry, min_size=d, max_size=d), min_size=2, max_size=max_rows))
    scores = [sum(a * b for a, b in zip(u, x, strict=True)) + v for x in rows]
    kept = [(x, 1 if s > 0 else -1) for x, s in zip(rows, scores, strict=True) if s]
    X, y = [x for x, _ in kept], [label for _, label in kept]
    return X, y, u, v


def problem(X, y, kind="dense", dtype=np.float64, weight=None):
    """The rows as a Problem of a kind: dense, csr32 or csr64 (index size)."""
    A = np.array(X, dtype=dtype)
    if kind != "dense":
        A = sp.csr_matrix(A)
        size = np.int32 if kind == "csr32" else np.int64
        A.indices, A.indptr = A.indices.astype(size), A.indptr.astype(size)
    return Problem.of(A, y, weight, classes=[-1, 1])
