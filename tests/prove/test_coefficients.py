"""States of coefficients agree with an independent exact decision; altered proofs fail."""

import dataclasses
import gzip
import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_ndtr
from sklearn.datasets import load_iris, load_svmlight_file
from sklearn.linear_model import LogisticRegression

from rosenblatt import max_margin
from rosenblatt.errors import DataError, LabelError, ParameterError, UndecidedError
from rosenblatt.prove import coefficients
from rosenblatt.prove.certificate import Combination
from rosenblatt.prove.checker.span import Span
from rosenblatt.prove.coefficients import Coefficients, State, infinite_coefficients
from tests.prove import exact_oracle as oracle
from tests.strategies import integer_rows


def independent_states(X, y, intercept):
    return oracle.states(oracle.cone_rows(X, y, intercept))


def agrees(X, y, intercept, A=None):
    """The states of X, y (or of A, the same in another form) are the independent ones."""
    found = infinite_coefficients(X if A is None else A, y, fit_intercept=intercept)
    assert list(found.states.values()) == independent_states(X, y, intercept)
    assert found.verify(X if A is None else A, y)
    assert str(found)
    assert found._repr_html_()
    dropped = [j for j, item in enumerate(found) if item.reduced is None]
    assert oracle.rank([[*map(Fraction, x), Fraction(intercept)] for x in X]) == len(found) - len(
        dropped
    )
    keeps_intercept = intercept and len(found) - 1 not in dropped
    rest = [[v for j, v in enumerate(x) if j not in dropped] for x in X]
    assert list(found.reduced.values()) == independent_states(rest, y, keeps_intercept)
    return found


@given(
    rows=integer_rows(max_rows=7, max_features=3, most=2),
    intercept=st.booleans(),
    kind=st.sampled_from(["dense", "csr", "float32"]),
)
def test_the_states_are_the_independent_ones(rows, intercept, kind):
    A = np.array(rows[0], dtype=np.float32 if kind == "float32" else np.float64)
    agrees(*rows, intercept, sp.csr_matrix(A) if kind == "csr" else A)


def test_every_state_is_seen_often():
    rng, seen = np.random.default_rng(0), Counter()
    for k in range(60):
        X = rng.integers(-(k % 2), 2, (rng.integers(3, 8), 1 + k % 3))
        if k % 6 == 2:
            X[:, 2] = X[:, 0] - X[:, 1]
        y = rng.choice([-1, 1], len(X))
        y[:2] = -1, 1
        for intercept in (True, False):
            found = agrees(X.tolist(), y.tolist(), intercept, X)
            seen.update((state, intercept) for state in found.states.values())
    assert len(seen) == 10
    assert min(seen.values()) >= 6, seen


def test_rationals_decide_the_same(monkeypatch):
    """Without linear programs every sign is left to exact arithmetic."""
    monkeypatch.setattr(coefficients.SignProgram, "minimise", lambda *_: None)
    rng = np.random.default_rng(1)
    for _ in range(30):
        X = rng.integers(-1, 2, (rng.integers(3, 8), rng.integers(1, 4)))
        y = rng.choice([-1, 1], len(X))
        y[:2] = -1, 1
        agrees(X.tolist(), y.tolist(), True, X)


# ------------------------------------------------------------------ known cases


def states(X, y, **options):
    found = infinite_coefficients(X, y, **options)
    assert found.verify(X, y)
    return list(found.states.values())


@pytest.mark.parametrize(
    ("X", "y", "expected"),
    [
        # one measurement: complete, quasi-complete and no separation [Albert and Anderson 1984]
        ([[-1], [3]], [0, 1], ["+inf", "undetermined"]),
        ([[1], [3]], [0, 1], ["+inf", "-inf"]),
        ([[3], [1]], [0, 1], ["-inf", "+inf"]),
        ([[-2], [0], [0], [2]], [0, 0, 1, 1], ["+inf", "finite"]),
        ([[1], [2], [2], [3]], [0, 0, 1, 1], ["+inf", "-inf"]),
        ([[1], [3], [2], [4]], [0, 0, 1, 1], ["finite", "finite"]),
        # a 2 x 2 table with an empty cell: nobody exposed is healthy, nobody unexposed ill
        ([[0], [0], [1]], [0, 1, 1], ["+inf", "finite"]),
        ([[0], [1], [1]], [0, 0, 1], ["+inf", "-inf"]),
        # three levels, two of them as dummies: one level has only class 1
        ([[0, 0], [0, 0], [1, 0], [1, 0], [0, 1]], [0, 1, 0, 1, 1], ["finite", "+inf", "finite"]),
        # the same with that level as the reference: everything moves
        ([[1, 0], [1, 0], [0, 1], [0, 1], [0, 0]], [0, 1, 0, 1, 1], ["-inf", "-inf", "+inf"]),
        # all three dummies and an intercept
        (
            [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]],
            [0, 1, 0, 1, 1],
            ["not identified"] * 4,
        ),
    ],
)
def test_textbook_cases(X, y, expected):
    assert states(X, y) == expected
    flipped = {"+inf": "-inf", "-inf": "+inf"}
    assert states(X, [1 - v for v in y]) == [flipped.get(s, s) for s in expected]


def test_a_category_without_a_case_is_not_made_the_reference():
    """Were x2 dropped, as the last, the other two and the intercept would be infinite."""
    X = np.eye(3)[[0, 0, 1, 1, 2]]
    found = infinite_coefficients(X, [0, 1, 0, 1, 1])
    assert found.drop == ("x1",)
    assert dict(found.reduced) == {"x0": "finite", "x2": "+inf", "intercept": "finite"}
    assert found["x1"].reason == "x1 = 1 - x0 - x2"


def test_reasons_speak_of_separating_directions():
    """The reference level has one class only, so every comparison with it is infinite."""
    found = infinite_coefficients([[1, 0], [1, 0], [0, 1], [0, 1], [0, 0]], [0, 1, 0, 1, 1])
    assert [c.reason for c in found] == [
        f"it is {side} 0 in every separating direction (1 row proves it)"
        for side in ("<=", "<=", ">=")
    ]
    either = infinite_coefficients([[-1], [3]], [0, 1])["intercept"]
    assert either.reason == "it is > 0 in one separating direction and < 0 in another"


def test_iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    for a, b, expected in ((0, 1, "undetermined"), (0, 2, "undetermined"), (1, 2, "finite")):
        pair = y.isin([a, b])
        found = infinite_coefficients(X[pair], y[pair])
        assert set(found.states.values()) == {expected}
        assert list(found.states)[:1] == ["sepal length (cm)"]
        assert (found.positive, found.negative) == (str(b), str(a))
        assert found.verify(X[pair], y[pair])


def ridge(X, y, link, penalty):
    """Penalised maximum likelihood: as the penalty falls, the likelihood nears its supremum."""
    Z = np.c_[X, np.ones(len(X))] * np.where(y, 1, -1)[:, None]
    log_f = {"logit": lambda s: -np.logaddexp(0, -s), "probit": log_ndtr}[link]
    start = np.zeros(Z.shape[1])
    for p in (1.0, 1e-1, 1e-2, penalty):
        start = minimize(
            lambda w, p=p: p * w @ w - log_f(Z @ w).sum(),
            start,
            method="BFGS",
            options={"gtol": 1e-9},
        ).x
    return start


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_fits_with_less_and_less_penalty_go_where_the_states_say(link):
    rng, seen = np.random.default_rng(4), Counter()
    for _ in range(6):
        X = rng.integers(-1, 2, (14, 3)).astype(float)
        y = X[:, 0] + rng.integers(-1, 2, 14) > 0
        X[:, 1] = np.where(y, np.abs(X[:, 1]), X[:, 1])
        weak, weaker = ridge(X, y, link, 1e-4), ridge(X, y, link, 1e-6)
        for state, a, b in zip(
            infinite_coefficients(X, y).states.values(), weak, weaker, strict=True
        ):
            seen[state] += 1
            if state == "finite":
                assert abs(b - a) < 0.1
            elif state in ("+inf", "-inf"):
                sign = 1 if state == "+inf" else -1
                assert sign * b > sign * a + 0.3
                assert sign * a > 0
    assert min(seen[s] for s in ("finite", "+inf", "-inf")) >= 2, seen


def test_the_coefficients_of_scikit_learn_grow_where_the_states_say():
    X = np.array([[0, 1.5], [0, 2], [0, 2.5], [0, 1], [1, 1], [1, 2]])
    y = np.array([0, 1, 0, 1, 1, 1])
    assert states(X, y) == ["+inf", "finite", "finite"]
    fits = [LogisticRegression(C=C, max_iter=10_000, tol=1e-10).fit(X, y) for C in (1e2, 1e4, 1e6)]
    exposed, dose = np.array([fit.coef_[0] for fit in fits]).T
    assert (np.diff(exposed) > 3).all()
    assert abs(dose[2] - dose[1]) < 0.01


# ------------------------------------------------------------------ proofs that are altered

QUASI = ([[0, 1], [0, 2], [0, 3], [0, 2], [1, 2], [1, 4]], [0, 0, 0, 1, 1, 1])


def tampered(found):
    """False claims about each part of a proof."""
    items, members = found.items, found.members
    k = next(k for k, c in enumerate(items) if c.bound)
    bound = items[k].bound

    def with_item(**changes):
        item = dataclasses.replace(items[k], **changes)
        return dataclasses.replace(found, items=(*items[:k], item, *items[k + 1 :]))

    def with_parts(**changes):
        return dataclasses.replace(found, **changes)

    weights = bound.weights
    yield with_item(bound=Combination(bound.rows, (weights[0] + 1, *weights[1:])))
    yield with_item(bound=Combination((99, *bound.rows[1:]), weights))
    yield with_item(bound=Combination((), ()))
    yield with_item(bound=Combination(bound.rows, (-weights[0], *weights[1:])))
    yield with_item(bound=None)
    other = State.MINUS if items[k].reduced is State.PLUS else State.PLUS
    yield with_item(state=other, reduced=other)
    yield with_item(state=State.FINITE, reduced=State.FINITE)
    yield with_item(state=State.FINITE, reduced=State.FINITE, bound=None)
    yield with_item(state=State.NOT_IDENTIFIED)
    yield with_item(state=State.NOT_IDENTIFIED, bound=None, reduced=None)
    yield with_parts(members=tuple(tuple(-v for v in m) for m in members))
    yield with_parts(members=())
    yield with_parts(members=members * 9)
    yield with_parts(members=tuple((*m[:-1], float("nan")) for m in members))
    yield with_parts(members=tuple(m[:-1] for m in members))
    yield with_parts(members=(*members, (1.0, 0.0, 0.0)[::-1]))
    yield with_parts(spanning=found.spanning[:-1])
    yield with_parts(spanning=())
    yield with_parts(spanning=(*found.spanning, found.spanning[0]))
    yield with_parts(items=items[:-1])
    yield with_parts(items=(*items, items[-1]))
    lie = dataclasses.replace(found.certificate, b=Fraction(1, 7), sealed=None)
    yield with_parts(certificate=lie)


def test_altered_proofs_fail():
    found = infinite_coefficients(*QUASI)
    assert list(found.states.values()) == ["+inf", "finite", "finite"]
    assert found.verify(*QUASI)
    lies = list(tampered(found))
    assert len(lies) == 22
    for k, lie in enumerate(lies):
        said = lie.verify(*QUASI)
        assert not said, k
        assert not said.truth, k


def test_other_data_fail():
    X, y = np.array(QUASI[0], dtype=float), np.array(QUASI[1])
    found = infinite_coefficients(X, y)
    moved = X.copy()
    moved[4, 0] = np.nextafter(1, 2)
    said = found.verify(moved, y)
    assert not said.integrity
    assert not found.verify(X, 1 - y).truth
    assert not found.verify(X[:-1], y[:-1]).truth
    assert not found.verify(np.c_[X, X], y).truth


@given(
    values=st.lists(
        st.lists(
            st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, -2.0, 1e300, 5e-324]), min_size=3, max_size=3
        ),
        min_size=1,
        max_size=6,
    ),
    some=st.integers(0, 6),
    order=st.permutations(range(4)),
)
def test_spans_and_relations_are_exact(values, some, order):
    full = [[*map(Fraction, row), Fraction(1)] for row in values]
    known = full[:some]
    for X in (np.array(values), sp.csr_array(np.array(values))):
        span = Span.of(X[:some], True, order=order)
        expected = [oracle.rank([*known, row]) > oracle.rank(known) for row in full]
        assert span.outside(X).tolist() == expected
        relations = span.complement
        assert not any(
            sum(c * row[j] for j, c in v.items()) for v in relations.values() for row in known
        )
        kept = []
        for j in order:  # a column is left out if it is a combination of those before it
            columns = [[row[k] for k in (*kept, j)] for row in known]
            if oracle.rank(columns) > len(kept):
                kept.append(j)
        assert sorted(relations) == sorted(set(range(4)).difference(kept))
        assert all(set(v) <= {j, *kept} for j, v in relations.items())


# ------------------------------------------------------------------ bad input


@given(rows=integer_rows(max_rows=6, max_features=2, most=2), power=st.sampled_from([-1000, 900]))
def test_the_scale_of_a_column_changes_nothing(rows, power):
    """Beyond where floats can multiply: 2^-1000 and 2^900."""
    X, y = np.array(rows[0], dtype=float), rows[1]
    scaled = X * np.ldexp(1.0, [power if j % 2 == 0 else 0 for j in range(X.shape[1])])
    assert states(scaled, y) == states(X, y)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e16, 1e300])
@pytest.mark.parametrize("step", [-1, 0, 1])
def test_one_unit_in_the_last_place_decides(scale, step):
    a = scale
    b = {-1: np.nextafter(a, 0), 0: a, 1: np.nextafter(a, np.inf)}[step]
    X, y = np.array([[0.5 * scale], [a], [b], [2 * scale]]), np.array([0, 0, 1, 1])
    expected = {-1: ["finite", "finite"], 0: ["+inf", "-inf"], 1: ["+inf", "-inf"]}[step]
    assert states(X, y) == expected


def test_a_narrow_cone():
    """Rounded to few bits, a member lies on its boundary."""
    X = [[1, -128, 0, 0], [0, 1, -128, 0], [0, 0, 1, -128], [0, 0, 0, -1]]
    assert states(X, [1, 1, 1, 0], fit_intercept=False) == ["+inf"] * 4
    assert states(X, [1, 1, 1, 0]) == independent_states(X, [1, 1, 1, -1], True)


def test_mixed_scales_in_one_row():
    X = np.array([[1e300, 1e-300, 1], [1e300, -1e-300, 0], [-1e300, 1e-300, 1], [0, 1, 1]])
    assert states(X, [0, 1, 1, 0]) == independent_states(X.tolist(), [-1, 1, 1, -1], True)


def test_constant_empty_duplicated_and_dependent_columns():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(40, 3))
    group = np.eye(3)[rng.integers(0, 3, 40)]
    X = np.c_[A, A[:, 1], 2 * A[:, 0], np.zeros(40), np.full(40, 0.1), group]
    y = rng.integers(0, 2, 40)
    found = infinite_coefficients(X, y)
    assert found.drop == ("x3", "x4", "x5", "x6", "x9")
    assert [found[name].reason for name in found.drop] == [
        "x3 = x1",
        "x4 = 2 x0",
        "x5 is always 0",
        "x6 is always 0.1",
        "x9 = 1 - x7 - x8",
    ]
    assert set(found.reduced.values()) == {"finite"}
    assert [n for n, s in found.states.items() if s == "finite"] == ["x2"]
    assert found["x0"].reason.startswith("tied to x4; after dropping:")
    assert found.verify(X, y)
    for kind in (sp.csr_matrix, sp.csc_array):
        assert infinite_coefficients(kind(X), y).states == found.states


def test_more_columns_than_rows():
    X = np.random.default_rng(3).normal(size=(6, 15))
    found = infinite_coefficients(X, [0, 1, 0, 1, 1, 1])
    assert set(found.states.values()) == {"not identified"}
    assert len(found.reduced) == 6
    assert set(found.reduced.values()) <= {"undetermined", "+inf", "-inf"}
    assert found.verify(X, [0, 1, 0, 1, 1, 1])


def test_without_an_intercept():
    assert states([[1.0], [2.0]], [0, 1], fit_intercept=False) == ["finite"]
    assert states([[-1.0], [2.0]], [0, 1], fit_intercept=False) == ["+inf"]
    assert states([[0.0], [0.0]], [0, 1], fit_intercept=False) == ["not identified"]


def test_a_single_row_of_a_class():
    assert states([[0, 1], [1, 0], [2, 3], [0.5, 0.5]], [0, 0, 0, 1]) == independent_states(
        [[0, 1], [1, 0], [2, 3], [0.5, 0.5]], [-1, -1, -1, 1], True
    )


def test_names():
    X = pd.DataFrame({"age": [1, 2, 3], "intercept": [0, 1, 0]})
    assert list(infinite_coefficients(X, [0, 1, 0]).states) == ["age", "intercept", "(intercept)"]
    X = pl.DataFrame({"age": [1, 2, 3], "dose": [0, 1, 0]})
    assert list(infinite_coefficients(X, [0, 1, 0]).states) == ["age", "dose", "intercept"]
    twice = pd.DataFrame([[1, 2], [2, 0]], columns=["a", "a"])
    assert list(infinite_coefficients(twice, [0, 1]).states) == ["a (0)", "a (1)", "intercept"]
    for wrong in (["a"], ["a", "a"]):
        with pytest.raises(DataError, match="a name of its own"):
            infinite_coefficients(X, [0, 1, 0], wrong)


@pytest.mark.parametrize(
    ("X", "y", "error"),
    [
        ([[1.0], [np.nan]], [0, 1], DataError),
        ([[1.0], [2.0]], [1, 1], LabelError),
        ([[1.0], [2.0], [3.0]], [0, 1, 2], LabelError),
        ([[1.0], [2.0]], [0], LabelError),
    ],
)
def test_bad_input_is_told(X, y, error):
    with pytest.raises(error):
        infinite_coefficients(X, y)


def test_fit_intercept_is_a_truth_value():
    with pytest.raises(ParameterError, match="fit_intercept must be True or False, got 'no'"):
        infinite_coefficients([[1.0], [2.0]], [0, 1], fit_intercept="no")
    with pytest.raises(ParameterError, match="fit_intercept"):
        max_margin([[1.0], [2.0]], [0, 1], fit_intercept=2)


def test_chunks():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 4)).astype(float), rng.integers(0, 2, 60)
    X[:, 3] = np.where(y, X[:, 3], 0)
    chunks = [(X[:20], y[:20]), (X[20:45], y[20:45]), (X[45:], y[45:])]
    found = infinite_coefficients(chunks)
    assert found.states == infinite_coefficients(X, y).states
    assert found.states["x3"] == "+inf"
    assert found.verify(chunks)
    assert found.verify(X, y)


def test_no_time_no_claim():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(UndecidedError, match="Give more time"):
        infinite_coefficients(X[:100], y[:100], max_seconds=1e-9)


# ------------------------------------------------------------------ what people see


def test_what_people_see():
    found = infinite_coefficients(*QUASI, ["exposed", "dose"])
    assert isinstance(found, Coefficients)
    text = str(found)
    assert "every row with exposed > 0 is of class 1 (2 rows)" in text
    assert "2 rows are split off" in text
    assert json.loads(found.to_json())["items"][0]["state"] == "+inf"
    assert found.to_dict()["certificate"]["positive"] == "1"
    assert Coefficients.from_json(found.to_json()) == found
    assert found["dose"].state == "finite" == found[1].state
    assert [c.name for c in found] == ["exposed", "dose", "intercept"]
    with pytest.raises(KeyError, match="'age'; there are 'exposed', 'dose', 'intercept'"):
        found["age"]
    assert repr(found) == "<Coefficients: 1 +inf, 2 finite>"
    assert "<td>exposed</td>" in found._repr_html_()
    many = np.random.default_rng(0).normal(size=(300, 50))
    many[:, 49] = np.arange(300) % 2 * (np.arange(300) < 9)
    long = str(infinite_coefficients(many, np.arange(300) % 2))
    assert "... and 11 more" in long
    assert long.splitlines()[5].startswith("x49")


# ------------------------------------------------------------------ real data


def test_mushrooms(shared_data):
    """Perfect separation of dummies: nothing is identified, and after dropping all is open."""
    with gzip.open(shared_data / "agaricus" / "agaricus.train.svm.gz") as f:
        X, y = load_svmlight_file(f, zero_based=True)
    found = infinite_coefficients(X, y)
    assert found.certificate.verdict == "separable"
    assert "no coefficient has a finite estimate, nor a sign" in str(found)
    assert set(found.reduced.values()) == {"undetermined"}
    rest = sp.csr_matrix(X[:, [j for j in range(X.shape[1]) if f"x{j}" not in found.drop]])
    assert len(infinite_coefficients(rest, y).drop) == 0
    assert found.verify(X, y)


def test_ionosphere(shared_data):
    text = (shared_data / "ionosphere" / "ionosphere.data").read_text()
    rows = [line.split(",") for line in text.split()]
    X = np.array([row[:-1] for row in rows], dtype=float)
    y = [row[-1] for row in rows]
    found = infinite_coefficients(X, y)
    infinite = {name: s for name, s in found.states.items() if s != "finite"}
    assert infinite == {"x0": "+inf", "x1": "not identified", "intercept": "-inf"}
    assert found["x0"].reason == "every row with x0 < 1 is of class b"
    assert found.verify(X, y)


def test_adult_incomes(shared_data):
    """Dummies of 14 attributes, most of them complete sets; five categories with one class."""
    with gzip.open(shared_data / "a9a" / "a9a.svm.gz") as f:
        X, y = load_svmlight_file(f)
    found = infinite_coefficients(X, y)
    assert Counter(found.reduced.values()) == {"finite": 103, "-inf": 5}
    assert len(found.drop) == 16
    assert found["x12"].reason.startswith("every row with x12 > 0 is of class -1")
    assert found.verify(X, y)
