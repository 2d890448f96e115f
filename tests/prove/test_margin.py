"""The largest margin, beside independent methods."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from rosenblatt import max_margin
from rosenblatt.prove.margin import NotSeparable
from tests.strategies import separable_rows


def by_nnls(Z):
    """u = argmin_{u >= 0} ||Z'u||^2 + (1 - 1'u)^2 is proportional to the optimal weights."""
    u, _ = nnls(np.vstack([Z.T, np.ones(len(Z))]), np.append(np.zeros(Z.shape[1]), 1.0))
    return np.linalg.norm(Z.T @ u) / u.sum()


@given(rows=separable_rows(), kind=st.sampled_from(["free", "augmented", "origin"]))
def test_the_bounds_meet_at_the_largest_margin(rows, kind):
    X, y, _, v = rows
    assume(len(set(y)) == 2 and (kind != "origin" or v == 0))
    X, y = np.array(X, dtype=float), np.array(y)
    found = max_margin(X, y, fit_intercept=kind != "origin", augmented=kind == "augmented")
    assert found.upper >= found.lower * (1 - 1e-12) > 0
    assert found.upper - found.lower <= 1e-6 * found.upper
    scores = y * (X @ found.w + found.b)
    inside = np.append(found.w, found.b if kind == "augmented" else 0.0)
    assert scores.min() / np.linalg.norm(inside) == pytest.approx(found.lower, rel=1e-9)
    if kind == "free":
        svm = SVC(kernel="linear", C=1e9, tol=1e-9).fit(X, y)
        assert 1 / np.linalg.norm(svm.coef_) == pytest.approx(found.lower, rel=1e-3)
    else:
        Z = y[:, None] * (np.c_[X, np.ones(len(X))] if kind == "augmented" else X)
        assert by_nnls(Z) == pytest.approx(found.upper, rel=1e-5)


def test_iris_and_csr():
    X, species = load_iris(return_X_y=True)
    y = species == 0
    found, sparse = max_margin(X, y), max_margin(sp.csr_matrix(X), y)
    assert found.upper - found.lower <= 1e-6 * found.upper
    assert sparse.lower == pytest.approx(found.lower, rel=1e-6)
    assert len(found.support) <= X.shape[1] + 2


def test_what_is_not_separable_says_why():
    X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    with pytest.raises(NotSeparable, match="overlapping") as caught:
        max_margin(X, y)
    assert caught.value.certificate.verify(X, y)


def test_sonar(shared_data):
    path = next((shared_data / "sonar").iterdir())
    rows = [line.split(",") for line in path.read_text().split()]
    X, y = np.array([r[:-1] for r in rows], dtype=float), np.array([r[-1] for r in rows])
    for augmented in (False, True):
        found = max_margin(X, y, augmented=augmented)
        assert found.upper - found.lower <= 1e-6 * found.upper
