"""The largest margin, beside independent methods and plain rational arithmetic."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from rosenblatt import max_margin
from rosenblatt.errors import ParameterError, UndecidedError
from rosenblatt.prove import margin
from rosenblatt.prove.margin import NotSeparableError
from tests.real_data import rows_of
from tests.strategies import separable_rows

KINDS = {
    "free": {},
    "augmented": {"augmented": True},
    "origin": {"fit_intercept": False},
}


def by_nnls(Z):
    """u = argmin_{u >= 0} ||Z'u||^2 + (1 - 1'u)^2 is proportional to the optimal weights."""
    u, _ = nnls(np.vstack([Z.T, np.ones(len(Z))]), np.append(np.zeros(Z.shape[1]), 1.0))
    return np.linalg.norm(Z.T @ u) / u.sum()


def own_margin_squared(found, X, y):
    """The margin of (w, b) squared, over the rationals; negative if it separates nothing."""
    w, b = [Fraction(v) for v in found.w.tolist()], Fraction(found.b)
    scores = [
        int(label) * (sum((Fraction(a) * c for a, c in zip(row, w, strict=True)), Fraction(0)) + b)
        for row, label in zip(np.asarray(X, dtype=float).tolist(), y, strict=True)
    ]
    square = sum(c * c for c in w) + (b * b if found.augmented else 0)
    low = min(scores)
    return low * abs(low) / square


def check(found, X, y, closed=True):
    """`lower` is a bound on the margin of (w, b), and the interval is as narrow as promised."""
    assert Fraction(found.lower) ** 2 <= own_margin_squared(found, X, y)
    assert found.closed == closed
    if closed:
        assert 0 < found.lower <= found.upper
        assert found.square is not None or found.upper - found.lower <= 1e-6 * found.upper
    return found


@given(rows=separable_rows(), kind=st.sampled_from(list(KINDS)))
def test_beside_floating_point_methods(rows, kind):
    X, y, _, v = rows
    assume(len(set(y)) == 2 and (kind != "origin" or v == 0))
    X, y = np.array(X, dtype=float), np.array(y)
    found = check(max_margin(X, y, **KINDS[kind]), X, y.tolist())
    if kind == "free":
        svm = SVC(kernel="linear", C=1e10, tol=1e-9).fit(X, y)
        assert 1 / np.linalg.norm(svm.coef_) == pytest.approx(found.lower, rel=1e-4)
        Z = X[y > 0][:, None] - X[y < 0][None]
        assert by_nnls(Z.reshape(-1, X.shape[1])) / 2 == pytest.approx(found.upper, rel=1e-6)
    else:
        Z = y[:, None] * (np.c_[X, np.ones(len(X))] if kind == "augmented" else X)
        assert by_nnls(Z) == pytest.approx(found.upper, rel=1e-6)


# ------------------------------------------------------- an exact oracle in the plane


def to_segment(p, a, b):
    """The squared distance of a point and a segment, over the rationals."""
    ap, ab = (p[0] - a[0], p[1] - a[1]), (b[0] - a[0], b[1] - a[1])
    length = ab[0] ** 2 + ab[1] ** 2
    t = min(max((ap[0] * ab[0] + ap[1] * ab[1]) / length, 0), 1) if length else 0
    return (ap[0] - t * ab[0]) ** 2 + (ap[1] - t * ab[1]) ** 2


def segments(points):
    return itertools.combinations_with_replacement(points, 2)


def largest_margin_squared(X, y, kind):
    """Disjoint polygons are nearest at a vertex of one of them: try every vertex and segment."""
    if kind == "free":
        plus = [x for x, label in zip(X, y, strict=True) if label > 0]
        minus = [x for x, label in zip(X, y, strict=True) if label < 0]
        one = min(to_segment(p, *s) for p in plus for s in segments(minus))
        return min(one, min(to_segment(p, *s) for p in minus for s in segments(plus))) / 4
    if kind == "augmented":
        X = [(x[0], Fraction(1)) for x in X]
    Z = [(label * x[0], label * x[1]) for x, label in zip(X, y, strict=True)]
    return min(to_segment((Fraction(0), Fraction(0)), *s) for s in segments(Z))


@st.composite
def plane_rows(draw):
    """Rows in the plane on two sides of a line, sometimes only just: (X, y, kind)."""
    kind = draw(st.sampled_from(list(KINDS)))
    d = 1 if kind == "augmented" else 2
    unit = draw(st.sampled_from([1.0, 0.1, 1e-9, 2.0**-52, 1e-300, 1e300]))
    base = draw(st.sampled_from([0.0, 1.0, 1000.0])) if kind != "origin" and unit < 1 else 0.0
    entry = st.integers(-6, 6).map(lambda k: base + k * unit)
    row = st.lists(entry, min_size=d, max_size=d)
    X = draw(st.lists(row, min_size=2, max_size=7))
    u = draw(st.tuples(st.integers(-3, 3), st.integers(-3, 3)).filter(any))[:d]
    exact = [[Fraction(v) for v in x] for x in X]
    along = [sum(a * b for a, b in zip(u, x, strict=True)) for x in exact]
    cut = 0 if kind == "origin" else draw(st.sampled_from(along))
    y = [1 if s > cut else -1 for s in along]
    kept = [k for k, s in enumerate(along) if s != cut or kind != "origin"]
    X, y = [X[k] for k in kept], [y[k] for k in kept]
    assume(len(set(y)) == 2)
    return X, y, kind


@given(case=plane_rows())
def test_beside_exact_geometry(case):
    X, y, kind = case
    found = check(max_margin(X, y, **KINDS[kind]), X, y)
    true = largest_margin_squared([[Fraction(v) for v in x] for x in X], y, kind)
    assert true <= Fraction(found.upper) ** 2
    assert Fraction(found.lower) ** 2 <= own_margin_squared(found, X, y) <= true
    assert found.square in (None, true)


@given(case=plane_rows())
def test_the_rationals_alone_find_the_same(
    case,
):
    X, y, kind = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(margin._Search, "_solve", lambda _: False)
        found = check(max_margin(X, y, **KINDS[kind]), X, y)
    true = largest_margin_squared([[Fraction(v) for v in x] for x in X], y, kind)
    assert found.square in (None, true)
    assert Fraction(found.lower) ** 2 <= true <= Fraction(found.upper) ** 2


# ------------------------------------------------------------- scales and fine gaps


@pytest.fixture
def spread():
    rng = np.random.default_rng(1)
    X = rng.integers(-5, 6, (40, 3)).astype(float)
    return X, np.where(X @ [1.0, 2.0, -1.0] + 0.5 > 0, 1, -1)


@pytest.mark.parametrize("exponent", [-1000, -500, 500, 1000])
def test_a_power_of_two_only_scales(spread, exponent):
    X, y = spread
    one, other = max_margin(X, y), max_margin(np.ldexp(X, exponent), y)
    assert other.lower == math.ldexp(one.lower, exponent)
    assert other.upper == math.ldexp(one.upper, exponent)
    assert np.array_equal(one.w, other.w)


@pytest.mark.parametrize("kind", ["free", "augmented"])
@pytest.mark.parametrize("factor", [1e-320, 1e-300, 1e-150, 1e150, 1e300])
def test_extreme_scales(spread, factor, kind):
    X, y = spread[0] * factor, spread[1]
    found = check(max_margin(X, y, **KINDS[kind]), X, y.tolist())
    if kind == "free":
        assert found.lower == pytest.approx(max_margin(*spread).lower * factor, rel=1e-2)


@pytest.mark.parametrize("kind", ["free", "augmented"])
@pytest.mark.parametrize("columns", [(1e-12, 1, 1e12), (1e-200, 1, 1e200)])
def test_columns_of_different_scales(spread, columns, kind):
    X, y = spread[0] * columns, spread[1]
    found = check(max_margin(X, y, **KINDS[kind]), X, y.tolist())
    assert found.square is not None


@pytest.mark.parametrize("gap", [1e-6, 1e-9, 1e-12, 1e-14])
def test_gaps_near_rounding(gap):
    rng = np.random.default_rng(1)
    X, w = rng.standard_normal((60, 4)), np.array([0.5, 0.5, -0.5, 0.5])
    side = np.where(X @ w > 0, 1.0, -1.0)
    X = X - np.outer(X @ w, w) + np.outer(side * gap, w)
    found = check(max_margin(X, side), X, side.tolist())
    assert found.square is not None
    assert found.upper == pytest.approx(gap, rel=1e-15 / gap)


def test_neighbouring_floats():
    X, y = [[1.0], [np.nextafter(1, 2)]], [-1, 1]
    found = max_margin(X, y)
    assert found.lower == found.upper == 2.0**-53
    assert found.square == Fraction(1, 2**106)
    assert own_margin_squared(found, X, y) == found.square


def test_weights_that_no_float_holds():
    a = 2.0**53
    X, y = np.array([[a - 2, -(a - 3)], [a - 1, -(a - 2)]]), [1, -1]
    check(max_margin(X, y, fit_intercept=False), X, y)


def test_a_margin_beyond_the_floats():
    X = np.array([[1.7e308] * 4, [-1.7e308] * 4])
    found = max_margin(X, [0, 1])
    assert found.upper == math.inf
    assert found.lower == np.finfo(float).max
    assert found.square == 4 * Fraction(1.7e308) ** 2
    assert "and inf" in str(found)


# ------------------------------------------------------------------- kinds of input


def test_iris_dense_sparse_single_and_chunked():
    X, species = load_iris(return_X_y=True)
    y = np.where(species == 0, 1, -1)
    found = check(max_margin(X, y), X, y.tolist())
    assert len(found.support) <= X.shape[1] + 2
    assert check(max_margin(sp.csr_matrix(X), y), X, y.tolist()).lower == pytest.approx(found.lower)
    single = X.astype(np.float32)
    check(max_margin(single, y), single, y.tolist())
    chunks = [(X[k : k + 37], y[k : k + 37]) for k in range(0, 150, 37)]
    again = max_margin(chunks)
    assert (again.lower, again.upper, again.support) == (found.lower, found.upper, found.support)
    mixed = [(sp.csr_matrix(a), b) if k % 2 else (a, b) for k, (a, b) in enumerate(chunks)]
    assert max_margin(mixed).upper == pytest.approx(found.upper)


def test_chunks_are_read_few_times(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 10))
    side = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += 0.1 * side
    path = tmp_path / "rows.npy"
    np.save(path, X)
    opened = []

    def chunks():
        opened.append(1)
        A = np.load(path, mmap_mode="r")
        return ((A[k : k + 3000], side[k : k + 3000]) for k in range(0, len(A), 3000))

    found = max_margin(chunks)
    assert found.closed
    assert len(opened) <= 20
    mapped = max_margin(np.load(path, mmap_mode="r"), side)
    assert mapped.upper == pytest.approx(found.upper, rel=1e-9)


@pytest.mark.parametrize("name", ["sonar", "wine 1 2"])
def test_real_sets(name):
    X, y = rows_of(name)
    y = np.where(y == y[0], -1, 1)
    for kind in KINDS.values():
        check(max_margin(X, y, **kind), X, y.tolist())


# --------------------------------------------------------------------- what it says


@pytest.mark.parametrize("kind", list(KINDS))
def test_what_is_not_separable_says_why(kind):
    X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    with pytest.raises(NotSeparableError, match="overlapping") as caught:
        max_margin(X, y, **KINDS[kind])
    assert caught.value.certificate.verify(X, y)


def test_chunks_that_are_not_separable():
    chunks = [([[0, 0], [1, 1]], [0, 0]), ([[0, 1], [1, 0]], [1, 1])]
    with pytest.raises(NotSeparableError) as caught:
        max_margin(chunks)
    assert caught.value.certificate.verify(chunks)


def test_more_features_than_rows():
    rng = np.random.default_rng(0)
    X = sp.random(30, 400, density=0.05, random_state=0, format="csr")
    y = np.where(rng.random(30) < 0.5, 1, -1)
    found = check(max_margin(X, y), X.toarray(), y.tolist())
    svm = SVC(kernel="linear", C=1e10, tol=1e-9).fit(X.toarray(), y)
    assert 1 / np.linalg.norm(svm.coef_) == pytest.approx(found.lower, rel=1e-4)


def test_rows_of_zeros():
    with pytest.raises(NotSeparableError):
        max_margin(np.zeros((3, 2)), [0, 1, 1])
    with pytest.raises(NotSeparableError):
        max_margin([[0.0], [1.0]], [0, 1], fit_intercept=False)


def test_what_time_ends_still_holds(spread):
    X, y = spread
    centres = [X[y == label].mean(axis=0) for label in (-1, 1)]
    far = X + 100 * np.where(y[:, None] > 0, centres[1], centres[0])
    found = max_margin(far, y, max_seconds=0)  # the first rows of both classes separate the others
    assert 0 < found.lower <= max_margin(far, y).lower <= found.upper
    assert "did not close" in str(found)
    assert found.verify(far, y)
    with pytest.raises(UndecidedError, match="before a hyperplane was found"):
        max_margin(X, y, max_seconds=0)


def test_where_even_the_rationals_are_too_many(spread, monkeypatch):
    """Floats that see nothing, and a corral too large for rationals: the certificate's margin."""
    monkeypatch.setattr(margin._Search, "by_rationals", lambda *_: False)
    monkeypatch.setattr(margin, "SMALL", 0)
    X, y = spread
    X = X * [1e-200, 1, 1e200]
    found = max_margin(X, y)
    check(found, X, y.tolist(), closed=False)
    assert found.lower > 0


def test_words():
    found = max_margin([[0.0], [2.0]], [0, 1])
    assert str(found) == ("largest margin 1, known exactly up to a root, held by 2 rows")
    assert "2 rows" in found._repr_html_()
    with pytest.raises(AttributeError):
        found.lower = 3.0
    with pytest.raises(ParameterError, match="rtol"):
        max_margin([[0.0], [2.0]], [0, 1], rtol=0)
