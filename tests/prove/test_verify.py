"""The checker against slow, plain fractions; every kind of false claim fails truth."""

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import separability
from rosenblatt.data.cone import as_cone
from rosenblatt.data.exact import exact_dot
from rosenblatt.prove import checker
from rosenblatt.prove.certificate import Combination
from rosenblatt.prove.checker import limbs
from rosenblatt.prove.checker.norms import Floor
from rosenblatt.prove.checker.signs import Plane
from rosenblatt.prove.checker.span import Span
from tests.strategies import integer_rows


def spans(rows, at, among, intercept, orthogonal=None):
    """Whether the rows `at` span those that are among."""
    return Span.of(rows.take(at).X, intercept, orthogonal).contains(
        rows.take(np.flatnonzero(among)).X
    )


def test_the_checker_shares_nothing_with_the_search():
    """Importing all results and their checks imports no search, no solver and no training."""
    code = (
        "import sys, rosenblatt.prove.certificate\n"
        "from rosenblatt.prove.certificate.codec import KINDS\n"
        "print(len(KINDS), *sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    kinds, *used = done.stdout.split()
    assert int(kinds) == 6
    proofs = [name for name in used if name.startswith("rosenblatt.prove.")]
    assert {name.split(".")[2] for name in proofs} <= {"certificate", "checker"}
    for foreign in ("rosenblatt.learn", "highspy", "scipy.optimize"):
        assert foreign not in used


# ---------------------------------------------------------------------- floats of all sizes

extreme = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 2.0**-1022, 1.0, -1.0, 2.0**53]),
    st.builds(lambda m, e: float(np.ldexp(m, e)), st.integers(-9, 9), st.integers(-1074, 1000)),
)
gentle = st.one_of(st.integers(-3, 3).map(float), st.sampled_from([0.1, 0.3, -0.7, 1 / 3]))


@st.composite
def planes(draw):
    """Cone, labels and a hyperplane; often some rows lie on it, or next to it."""
    numbers = draw(st.sampled_from([extreme, gentle]))
    n, d = draw(st.integers(2, 6)), draw(st.integers(1, 4))
    X = np.array([[draw(numbers) for _ in range(d)] for _ in range(n)])
    w = [draw(numbers) for _ in range(d)]
    b = draw(numbers)
    if draw(st.booleans()):  # rationals, short and long
        scale = draw(st.sampled_from([1, 3, 7**300]))
        w, b = [Fraction(v) / scale for v in w], Fraction(b) / scale
    if draw(st.booleans()) and w[0]:  # a row on it, up to rounding
        products = [Fraction(a) * Fraction(c) for a, c in zip(X[0, 1:], w[1:], strict=True)]
        quotient = -(sum(products) + Fraction(b)) / Fraction(w[0])
        if abs(quotient) < 10**300:
            X[0, 0] = float(quotient)
    return X, np.array([-1, 1] + [draw(st.sampled_from([-1, 1])) for _ in range(n - 2)]), w, b


def sign(value):
    return (value > 0) - (value < 0)


def scores(X, y, w, b, intercept):
    weights = [Fraction(v) for v in w]
    return [
        int(label)
        * (
            sum((Fraction(a) * c for a, c in zip(x, weights, strict=True)), Fraction(0))
            + (Fraction(b) if intercept else 0)
        )
        for x, label in zip(X.tolist(), y, strict=True)
    ]


def forms(X, y):
    yield as_cone(X, y)
    yield as_cone(sp.csr_array(X), y)
    yield as_cone([(X[:1], y[:1]), (sp.csr_array(X[1:]), y[1:])])


def clears(rows, w, b, intercept, margin):
    """Whether y_i (w.x_i + b) >= margin ||w|| for every row."""
    floor = Floor.of(checker.plane_of(w, b, intercept), margin)
    return margin >= 0 and floor is not None and all(rows.map(lambda part: floor.cleared(part)))


@given(planes(), st.booleans())
def test_signs_are_those_of_fractions(plane, intercept):
    X, y, w, b = plane
    right = [sign(s) for s in scores(X, y, w, b, intercept)]
    for rows in forms(X, y):
        assert checker.signs(rows, w, b, intercept).tolist() == right


@given(planes(), st.booleans())
def test_the_filter_never_lies(plane, intercept):
    """The float scores are within their own bound of the exact ones."""
    X, y, w, b = plane
    found = Plane(w, b if intercept else 0)
    exact = scores(X, np.ones(len(y)), found.whole[:-1], found.whole[-1], True)
    for A in (X, sp.csr_array(X)):
        near, error = found.scores(A)
        for s, e, value in zip(near.tolist(), error.tolist(), exact, strict=True):
            if np.isfinite(s) and np.isfinite(e):
                assert abs(Fraction(s) - value / found.unit) <= Fraction(e)


@given(planes(), st.booleans(), st.booleans())
def test_margins_are_what_they_are_said_to_be(plane, intercept, exactly):
    X, y, w, b = plane
    square = sum(Fraction(v) ** 2 for v in w)
    least = min(scores(X, y, w, b, intercept))
    rows = as_cone(X, y)
    low = checker.margin_of(rows, w, b, intercept)
    assert low == 0 or clears(rows, w, b, intercept, low)
    for margin in {0.0, low, float(np.nextafter(low, 9)), 2 * low, 5e-324, 1e308}:
        if np.isfinite(margin):
            true = square > 0 and least >= 0 and least**2 >= Fraction(margin) ** 2 * square
            assert clears(rows, w, b, intercept, margin) == true
    assert not clears(rows, w, b, intercept, -1.0)
    assert not clears(rows, w, b, intercept, float("nan"))


def test_a_margin_may_be_met_exactly():
    rows = as_cone([[-1.0, 0], [3, 4]], [0, 1])
    for margin, holds in ((1.0, True), (np.nextafter(1.0, 2), False)):
        assert clears(rows, [1.0, 0.0], 0.0, True, margin) == holds
    rows = as_cone([[-3.0, -4], [3, 4]], [0, 1])  # ||w|| = 5, the scores are 25
    for margin, holds in ((5.0, True), (np.nextafter(5.0, 9), False)):
        assert clears(rows, [3.0, 4.0], 0.0, False, margin) == holds


# ---------------------------------------------------------------------- long integers in bulk


@given(
    st.lists(st.lists(st.one_of(gentle, extreme), min_size=3, max_size=3), min_size=1, max_size=5),
    st.lists(st.integers(-(10**30), 10**30), min_size=6, max_size=6),
    st.sampled_from([1, 2**64 + 1, 3**900]),
)
def test_limbs_are_fractions(rows, whole, scale):
    X = np.array(rows)
    vectors = [dict(enumerate(v * scale for v in whole[:3])), dict(enumerate(whole[3:]))]
    right = [
        [sign(sum(Fraction(a) * v[j] for j, a in enumerate(x))) for v in vectors]
        for x in X.tolist()
    ]
    for A in (X, sp.csr_array(X)):
        assert limbs.product_signs(A, *vectors).tolist() == right
        slow = [[exact_dot(A, k, v) for v in vectors] for k in range(len(X))]
        assert [[sign(s) for s in line] for line in slow] == right
    assert limbs.orthogonal(X, vectors).tolist() == [not any(line) for line in right]


def test_many_long_rows_on_a_hyperplane():
    """Rows on it and a hair off it, more limbs than one, several blocks."""
    rng = np.random.default_rng(0)
    X = rng.integers(-200, 200, (4000, 60)).astype(np.float64)
    X[:, 59] = X[:, 3] - 2 * X[:, 4]
    big = 7**2000
    w = [Fraction(0)] * 60
    w[3], w[4], w[59] = Fraction(big), Fraction(-2 * big), Fraction(-big)
    X[17, 59] += 1
    X[18, 59] -= 2.0**-40
    rows = as_cone(X, np.arange(4000) % 2)
    found = checker.signs(rows, w, 0.0, True)
    assert np.flatnonzero(found).tolist() == [17, 18]
    assert found[[17, 18]].tolist() == [-1, -1]


# ---------------------------------------------------------------------- combinations


@given(integer_rows(max_rows=7, max_features=4), st.data())
def test_spans_is_a_question_of_rank(data, drawn):
    X, y = np.array(data[0], dtype=float), np.array(data[1])
    at = drawn.draw(st.lists(st.integers(0, len(X) - 1), max_size=5, unique=True))
    among = np.array(drawn.draw(st.lists(st.booleans(), min_size=len(X), max_size=len(X))))
    scale = drawn.draw(st.sampled_from([1.0, 2.0**31 - 1, 2.0**-1070]))
    for intercept in (False, True):
        Z = np.c_[X, np.ones(len(X))] if intercept else X
        both = Z[at + np.flatnonzero(among).tolist()]
        right = np.linalg.matrix_rank(both) == np.linalg.matrix_rank(Z[at])
        for rows in forms(X * scale, y):
            assert spans(rows, at, among, intercept) == right


def test_a_bad_prime_is_noticed():
    p = 2.0**31 - 1
    rows = as_cone([[p, 0, 0], [0, p, 0], [1, 1, 0], [2, 3, 0]], [0, 0, 1, 1])
    everything = np.ones(4, dtype=bool)
    assert spans(rows, [0, 1], everything, False)
    rows = as_cone([[p, 0, p], [p, p, 2 * p], [1, 1, 2], [2, 3, 5.5]], [0, 0, 1, 1])
    assert spans(rows, [0, 1], np.array([1, 1, 1, 0], dtype=bool), False)
    assert not spans(rows, [0, 1], everything, False)


def test_large_spans():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 256, (600, 200)).astype(np.float32)
    X[:, 150:] = 0  # dead columns
    X[:, 140] = X[:, 0] - X[:, 1]
    y, everything = np.arange(600) % 2, np.ones(600, dtype=bool)
    w = [0.0] * 201
    w[0], w[1], w[140] = 1.0, -1.0, -1.0
    for rows in (as_cone(X, y), as_cone(sp.csr_array(X), y)):
        assert spans(rows, range(160), everything, True)
        assert spans(rows, range(160), everything, True, w)
        assert not spans(rows, range(140), everything, True)
        assert not spans(rows, range(140), everything, True, w)
        assert spans(rows, range(140), np.arange(600) < 140, True)
    doubled = [*range(100), *range(100, 120)]
    X[100:120] = X[:20] + X[20:40]  # rank below the number of rows
    assert not spans(as_cone(X, y), doubled, everything, True)


@given(integer_rows(max_rows=6, max_features=3), st.data())
def test_cancels_is_a_sum(data, drawn):
    X, y = np.array(data[0], dtype=float), np.array(data[1])
    at = drawn.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=5, unique=True))
    weights = [Fraction(drawn.draw(st.integers(1, 4)), 3) for _ in at]
    for intercept in (False, True):
        Z = (np.c_[X, np.ones(len(X))] if intercept else X) * y[:, None]
        total = [
            sum(c * int(v) for c, v in zip(weights, Z[at, j], strict=True))
            for j in range(Z.shape[1])
        ]
        for rows in forms(X, y):
            assert checker.cancels(rows, at, weights, intercept) == (not any(total))


def test_what_is_no_combination():
    rows = as_cone([[0.0], [0.0]], [0, 1])
    assert checker.cancels(rows, (0, 1), (Fraction(1), Fraction(1)), True)
    for at, weights in [
        ((), ()),
        ((0, 0), (1, 1)),
        ((0, 2), (1, 1)),
        ((0, -1), (1, 1)),
        ((0, 1), (1,)),
        ((0, 1), (1, 2)),
        ((0, 1), (0, 0)),
        ((0, 1), (-1, -1)),
        ((0, 1), (float("nan"), float("nan"))),
        ((0, 1), (float("inf"), float("inf"))),
        ((0.0, 1.0), (1, 1)),
    ]:
        assert not checker.cancels(rows, at, weights, True)


# ---------------------------------------------------------------------- false claims

OVERLAP = ([[0.0, 0], [1, 1], [0, 1], [1, 0], [3, 5]], [0, 0, 1, 1, 1])
QUASI = ([[-2.0, 0], [0, 0], [0, 0], [0, 1], [0, 1], [2, 1]], [0, 0, 1, 0, 1, 1])
SEPARABLE = ([[-2.0, 1], [-1, 0], [1, 0], [3, 2]], [0, 0, 1, 1])
OVERLAP_AT_0 = ([[1.0, 0], [1, 0], [0, 1], [0, 1]], [0, 1, 0, 1])
QUASI_AT_0 = ([[1.0, 0], [1, 0], [1, 1], [2, 5]], [0, 1, 1, 1])


def combinations_that_lie(part):
    """A weight, a row, a dropped row, signs, repeated rows, other lengths."""
    rows, weights = part.rows, part.weights
    yield Combination(rows, (weights[0] + Fraction(1, 10**30), *weights[1:]))
    yield Combination(rows[:-1], weights[:-1])
    yield Combination((*rows[:-1], 5 if rows[-1] != 5 else 4), weights)
    yield Combination((99, *rows[1:]), weights)
    yield Combination((-1, *rows[1:]), weights)
    yield Combination(rows, tuple(-c for c in weights))
    yield Combination(rows, tuple(0 * c for c in weights))
    yield Combination((*rows, rows[0]), (*weights, Fraction(1)))
    yield Combination(rows + rows, weights + weights)
    yield Combination(rows[:-1], weights)
    yield Combination((), ())


def lies(cert):
    if hasattr(cert, "proof"):
        for lie in combinations_that_lie(cert.proof):
            yield replace(cert, proof=lie)
        for lie in combinations_that_lie(cert.witness):
            yield replace(cert, witness=lie)
    if hasattr(cert, "w"):
        yield replace(cert, w=(*cert.w, 0.0))
        yield replace(cert, w=cert.w[:-1])
        yield replace(cert, w=tuple(-v for v in cert.w), b=-cert.b)
        yield replace(cert, w=tuple(0 * v for v in cert.w), b=0.0)
        yield replace(cert, w=(float("nan"), *cert.w[1:]))
        yield replace(cert, b=Fraction(10**6))
        yield replace(cert, b=float("inf"))
    if hasattr(cert, "n_split"):
        yield replace(cert, n_split=cert.n_split + 1)
        yield replace(cert, n_split=0)
    if hasattr(cert, "margin"):
        yield replace(cert, margin=cert.margin * (1 + 1e-9))
        yield replace(cert, margin=-1.0)
        yield replace(cert, margin=float("nan"))
    yield replace(cert, positive=cert.negative, negative=cert.positive)
    yield replace(cert, n_rows=cert.n_rows + 1)
    yield replace(cert, n_features=cert.n_features + 1)


@pytest.mark.parametrize(
    ("data", "intercept", "verdict"),
    [
        (OVERLAP, True, "overlapping"),
        (QUASI, True, "quasi-separable"),
        (SEPARABLE, True, "separable"),
        (OVERLAP_AT_0, False, "overlapping"),
        (QUASI_AT_0, False, "quasi-separable"),
        (SEPARABLE, False, "separable"),
    ],
)
def test_false_claims_fail_truth_even_with_a_fresh_digest(data, intercept, verdict):
    X, y = data
    cert = separability(X, y, fit_intercept=intercept)
    assert cert.verdict == verdict
    assert cert.verify(X, y)
    for lie in lies(cert):
        said = lie.resealed().verify(X, y)
        assert said.integrity
        assert not said.truth, lie
        assert not said
        assert said.problems
        assert not lie.verify(X, y).integrity


def test_another_verdict_is_a_false_claim():
    """The proof of quasi-separation does not span all rows, so it is none of overlap."""
    from rosenblatt.prove.certificate import Overlapping, QuasiSeparable

    X, y = QUASI
    quasi = separability(X, y)
    assert isinstance(quasi, QuasiSeparable)
    common = {
        name: getattr(quasi, name)
        for name in ("fit_intercept", "n_rows", "n_features", "data", "positive", "negative")
    }
    said = Overlapping(**common, proof=quasi.proof, witness=quasi.witness).verify(X, y)
    assert said.integrity
    assert str(said) == "NOT verified: the rows of the proof do not span all rows"
    few = Combination((1, 2), (Fraction(1), Fraction(1)))  # cancels, does not span the plane
    said = replace(quasi, proof=few).resealed().verify(X, y)
    assert str(said) == (
        "NOT verified: the rows of the proof do not span the rows on the hyperplane"
    )


def test_a_hyperplane_moved_across_a_point_by_one_step():
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    cert = replace(separability(X, y), w=(1.0,), b=-5e-324, margin=5e-324).resealed()
    assert cert.verify(X, y)
    assert not replace(cert, b=0.0).resealed().verify(X, y).truth
    assert not replace(cert, b=5e-324).resealed().verify(X, y).truth
    assert not replace(cert, margin=1e-323).resealed().verify(X, y).truth
