"""Verdicts agree with an independent exact decision; certificates verify, altered ones do not."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt import separability
from rosenblatt.data.exact import to_integers
from rosenblatt.errors import LabelError, ParameterError, RosenblattError, UndecidedError
from rosenblatt.prove.certificate import from_json
from rosenblatt.prove.checker.span import Span
from rosenblatt.prove.separability.exact_decision import decide
from tests.prove import exact_oracle as oracle
from tests.real_data import rows_of
from tests.strategies import integer_rows


def independent_verdict(X, y, intercept):
    return oracle.verdict(oracle.cone_rows(X, y, intercept))


def points(X, y, kind):
    A = np.array(X, dtype=np.float32 if kind == "float32" else np.float64)
    return (sp.csr_matrix(A) if kind == "csr" else A), np.array(y)


@given(
    rows=integer_rows(max_rows=7, max_features=3, most=2),
    intercept=st.booleans(),
    kind=st.sampled_from(["dense", "csr", "float32"]),
)
def test_the_verdict_is_the_independent_one(rows, intercept, kind):
    X, y = points(*rows, kind)
    cert = separability(X, y, fit_intercept=intercept)
    assert cert.verdict == independent_verdict(*rows, intercept)
    assert cert.verify(X, y)
    again = from_json(cert.to_json())
    assert again == cert
    assert again.verify(X, y)
    assert cert.verdict in cert.explain()
    if cert.verdict != "separable":
        rank = np.linalg.matrix_rank(np.c_[X.toarray() if sp.issparse(X) else X, np.ones(len(y))])
        assert len(cert.proof) <= 2 * max(rank, 1)


QUASI = ([[-2], [0], [0], [2]], [0, 0, 1, 1])


def test_a_cancelling_set_that_does_not_span_is_no_overlap():
    """x = -2, 0, 0, 2: two rows cancel, and still it is quasi-separable."""
    X, y = (np.array(v, dtype=float) for v in QUASI)
    cert = separability(X, y)
    assert cert.verdict == "quasi-separable"
    assert cert.split_rows(X, y).tolist() == [0, 3]
    assert cert.witness.rows == (1, 2)
    assert not Span.of(X[list(cert.proof.rows)], True).contains(X)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e16, 1e300])
@pytest.mark.parametrize("step", [-1, 0, 1])
def test_one_unit_in_the_last_place_decides(scale, step):
    """Two points a hair apart, or in the same place, or crossed."""
    a = scale
    b = {-1: np.nextafter(a, 0), 0: a, 1: np.nextafter(a, np.inf)}[step]
    X, y = np.array([[0.5 * scale], [a], [b], [2 * scale]]), np.array([0, 0, 1, 1])
    cert = separability(X, y)
    assert cert.verdict == {-1: "overlapping", 0: "quasi-separable", 1: "separable"}[step]
    assert cert.verify(X, y)


def test_a_separator_that_no_float_can_write():
    big = 2.0**53
    X = np.array([[big - 2, -(big - 3)], [big - 1, -(big - 2)]])
    y = np.array([1, 0])
    cert = separability(X, y, fit_intercept=False)
    assert cert.verdict == "separable"
    assert cert.verify(X, y)


@pytest.mark.parametrize(
    ("X", "y", "verdict"),
    [
        ([[1e-9, 1], [1e-9, -1]], [1, 1], "separable"),  # HiGHS alone drops the small entries
        ([[1, 0], [1, 0]], [0, 1], "overlapping"),  # the same row twice, opposite labels
        ([[0, 0], [0, 0], [5, 5]], [0, 1, 1], "quasi-separable"),
        ([[3, 7, 7], [4, 7, 7]], [0, 1], "separable"),  # constant and duplicated columns
        ([[5e-324], [1e-323]], [0, 1], "separable"),  # denormals
        ([[1e308, 1e308], [-1e308, -1e308]], [1, 0], "separable"),  # sums overflow
    ],
)
def test_awkward_numbers(X, y, verdict):
    X, y = np.array(X, dtype=float), np.array(y)
    intercept = len(set(y)) == 2
    if not intercept:  # one class: make the mirror image the other
        X, y, intercept = np.vstack([X, -X]), np.array([1, 1, 0, 0]), False
    cert = separability(X, y, fit_intercept=intercept)
    assert cert.verdict == verdict
    assert cert.verify(X, y)


def test_more_features_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 50)), np.arange(20) % 2
    assert separability(X, y).verdict == "separable"
    X[1] = X[0]
    cert = separability(X, y)
    assert cert.verdict == "quasi-separable"
    assert cert.witness.rows == (0, 1)


def test_limits_say_how_far_it_came():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 5)), rng.random(200) < 0.5
    with pytest.raises(UndecidedError, match="within"):
        separability(X, y, max_seconds=0.0)
    with pytest.raises(RosenblattError, match="bits"):
        separability(X, y, max_bits=3)
    with pytest.raises(LabelError, match="two classes"):
        separability(X, np.arange(200) % 3)


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("sonar", "separable"),
        ("ionosphere", "quasi-separable"),
        ("wpbc", "overlapping"),
        ("spambase", "overlapping"),
        ("agaricus", "separable"),
        ("a9a", "quasi-separable"),
        ("mnist 0 1", "separable"),
        # ten seconds: in a soak
        *([("mnist 3 5", "quasi-separable")] if settings().max_examples >= 5000 else []),
        ("reuters", "quasi-separable"),
        ("w8a", "quasi-separable"),
        ("breast cancer", "separable"),
        ("wine 0 1", "separable"),
        ("digits parity", "quasi-separable"),
        ("iris 1 2", "overlapping"),
    ],
)
def test_real_sets(name, verdict):
    X, y = rows_of(name)
    cert = separability(X, y)
    assert cert.verdict == verdict
    assert cert.verify(X, y)


def test_every_verdict_many_times():
    """Random small integer instances until each verdict came up often, both ways.

    Degenerate ones are likely: duplicates, opposite labels, rows of zeros, collinear points.
    """
    wanted = max(2, 3 * settings().max_examples // 10)  # 1,500 in a soak
    rng = np.random.default_rng(settings().max_examples)
    seen = {}
    while len(seen) < 6 or min(seen.values()) < wanted:
        n, d = int(rng.integers(2, 8)), int(rng.integers(1, 4))
        X = rng.integers(-2, 3, (n, d)).tolist()
        y = np.where(rng.random(n) < 0.5, -1, 1)
        y[:2] = -1, 1
        for intercept in (True, False):
            cert = separability(X, y, fit_intercept=intercept)
            assert cert.verdict == independent_verdict(X, y.tolist(), intercept)
            assert cert.verify(X, y)
            seen[cert.verdict, intercept] = seen.get((cert.verdict, intercept), 0) + 1


def cut(X, y, ends):
    """The rows in chunks, opened anew at each reading."""
    edges = [0, *sorted(ends), len(y)]
    return lambda: ((X[a:b], y[a:b]) for a, b in itertools.pairwise(edges))


@given(
    rows=integer_rows(max_rows=9, max_features=3, most=2),
    intercept=st.booleans(),
    sparse=st.booleans(),
    ends=st.lists(st.integers(0, 9), max_size=3),
)
def test_chunks_get_the_verdict_of_the_whole(rows, intercept, sparse, ends):
    X, y = points(*rows, "csr" if sparse else "dense")
    whole = separability(X, y, fit_intercept=intercept)
    chunks = cut(X, y, [min(e, len(y)) for e in ends])
    cert = separability(chunks, fit_intercept=intercept)
    assert cert.verdict == whole.verdict
    assert cert.verify(X, y)
    assert whole.verify(chunks)


def test_a_memory_map(tmp_path):
    rng = np.random.default_rng(0)
    X = np.memmap(tmp_path / "rows", np.float32, "w+", shape=(5000, 4))
    X[:] = rng.standard_normal((5000, 4))
    y = X @ [1, -2, 3, 0.5] > 0.1
    assert separability(X, y).verdict == "separable"
    y[np.argmax(X @ [1, -2, 3, 0.5])] ^= True
    cert = separability(X, y)
    assert cert.verdict == "overlapping"
    assert cert.verify(np.asarray(X, dtype=float), y)


SIZES = [0.0, 5e-324, 1e-310, 1e-300, 1e-9, 0.1, 1.0, 3.0, 1e16, 1e300, 1e308]
awkward = st.builds(
    lambda size, sign, step: sign * (np.nextafter(size, np.inf) if step and size < 1e308 else size),
    st.sampled_from(SIZES),
    st.sampled_from([-1.0, 1.0]),
    st.booleans(),
)


@given(
    st.integers(1, 2).flatmap(
        lambda d: st.lists(st.lists(awkward, min_size=d, max_size=d), min_size=2, max_size=6)
    ),
    st.lists(st.sampled_from([-1, 1]), min_size=6, max_size=6),
    st.booleans(),
)
def test_floats_of_all_sizes_side_by_side(X, y, intercept):
    """Extreme scales and steps of one unit in the last place in one table."""
    y = [-1, 1, *y[2:]][: len(X)]
    exact = [[Fraction(float(v)) for v in row] for row in X]
    cert = separability(np.array(X), y, fit_intercept=intercept)
    assert cert.verdict == independent_verdict(exact, y, intercept)
    assert cert.verify(np.array(X), y)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 12),
    st.integers(1, 4),
    st.integers(40, 60),
    st.booleans(),
)
def test_a_gap_that_floats_barely_see(seed, n, d, bits, crossed):
    """Points within 2^-bits of a hyperplane; one of them moved across it by a hair, and back."""
    rng = np.random.default_rng(seed)
    w = rng.integers(-3, 4, d)
    w[0] = w[0] or 1
    X = rng.integers(-8, 9, (n, d)).astype(float)
    y = np.resize([-1, 1], n)
    X[:, 0] = (2.0**-bits * y - X[:, 1:] @ w[1:]) / w[0]
    if crossed:
        X[1] = X[0]
        X[1, 0] = np.nextafter(X[1, 0], -np.inf if w[0] > 0 else np.inf)
    Z, _ = to_integers(np.c_[X, np.ones(n)] * np.asarray(y)[:, None])
    found = decide(Z)
    expected = "separable" if not any(found.weights) else "quasi-separable"
    expected = expected if any(found.w) else "overlapping"
    cert = separability(X, y)
    assert cert.verdict == expected
    assert cert.verify(X, y)


@pytest.mark.parametrize(
    "wrong", [{"max_seconds": "1"}, {"max_seconds": -1}, {"max_bits": "a"}, {"fit_intercept": "no"}]
)
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        separability([[0.0], [1.0]], [0, 1], **wrong)
