"""Offenders agree with brute force over all subsets; altered answers do not verify."""

import dataclasses
import itertools
import json
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from rosenblatt import offenders, read
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.prove.checker import removal as claims
from rosenblatt.prove.offenders import cancelling_sets, descent, hitting_sets, search
from tests.prove import exact_oracle as oracle
from tests.prove.test_separability import points
from tests.real_data import rows_of
from tests.strategies import integer_rows


def fewest(X, y, intercept):
    return oracle.fewest(oracle.cone_rows(X, y, intercept))


def check(X, y, intercept, true):
    found = offenders(X, y, fit_intercept=intercept)
    assert found.lower_bound <= true <= len(found.rows)
    assert found.minimum  # so small that it is always reached
    assert found.verify(X, y)
    return found


@given(
    rows=integer_rows(max_rows=7, max_features=3, most=2),
    intercept=st.booleans(),
    kind=st.sampled_from(["dense", "csr", "float32"]),
)
def test_the_minimum_is_that_of_brute_force(rows, intercept, kind):
    X, y = points(*rows, kind)
    check(X, y, intercept, fewest(*rows, intercept))


def test_the_minimum_many_times():
    """Eight rows, crowded on a small grid: copies, opposite copies, rows of zeros."""
    rng = np.random.default_rng(settings().max_examples)
    seen = set()
    for k in range(settings().max_examples // 2):
        d, most = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        X = rng.integers(-most, most + 1, (8, d))
        y = np.where(rng.random(8) < 0.5, -1, 1)
        y[:2] = -1, 1
        true = fewest(X.tolist(), y.tolist(), bool(k % 2))
        seen.add(len(check(X, y, bool(k % 2), true)))
    assert len(seen) >= 3


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e16, 1e300])
def test_steps_of_one_unit_in_the_last_place(scale):
    """Crossed by a hair, or in the same place: the exact numbers count."""
    a = scale
    places = [a, np.nextafter(a, 0), np.nextafter(a, np.inf), 0.5 * a, 2 * a, a]
    for labels in itertools.islice(itertools.product([0, 1], repeat=6), 1, 63, 7):
        if len(set(labels)) == 2:
            X = np.array(places)[:, None]
            signed = [2 * label - 1 for label in labels]
            true = fewest(X.tolist(), signed, True)
            assert len(check(X, np.array(labels), True, true)) == true


@pytest.mark.parametrize(("n", "d"), [(14, 2), (18, 3), (24, 2)])
def test_larger_ones_are_proven_too(n, d):
    rng = np.random.default_rng(n)
    X, y = rng.integers(-4, 5, (n, d)), np.arange(n) % 2
    found = offenders(X, y)
    assert found.minimum
    assert found.verify(X, y)
    assert offenders(X, 1 - y).lower_bound == len(found)  # the other way round, the same


def test_a_label_turned_is_found_among_many_rows():
    """More rows than the programs take in at once; a turned label deep in the other class."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40_000, 3))
    y = X[:, 0] > 0
    X[:, 0] += np.where(y, 0.5, -0.5)
    X[:2] = [[2.0, 0.1, 0.1], [-2.0, 0.1, 0.1]]
    y[:2] = False, True
    found = offenders(X, y)
    assert found.rows == (0, 1)
    assert found.minimum
    assert found.verify(X, y)


def test_the_same_seed_gives_the_same_answer():
    X, y = np.random.default_rng(1).integers(-3, 4, (16, 2)), np.arange(16) % 2
    one, two = (offenders(X, y, random_state=7) for _ in range(2))
    assert dataclasses.replace(one, seconds=0.0) == dataclasses.replace(two, seconds=0.0)


# ------------------------------------------------- sets to be hit


@st.composite
def families(draw):
    mass = draw(st.lists(st.integers(1, 3), min_size=1, max_size=7))
    element = st.integers(0, len(mass) - 1)
    sets = draw(st.lists(st.frozensets(element, min_size=1, max_size=4), min_size=1, max_size=9))
    return sets, mass


@given(families())
def test_hitting_sets_agree_with_all_subsets(family):
    sets, mass = family
    every = itertools.product([False, True], repeat=len(mass))
    chosen = ({g for g, taken in enumerate(picks) if taken} for picks in every)
    lightest = min(sum(mass[g] for g in H) for H in chosen if all(H & W for W in sets))

    packed = hitting_sets.packing(sets, mass)
    assert packed.bound <= lightest
    for g, m in enumerate(mass):
        drawn = [u for W, u in zip(sets, packed.shares, strict=True) if g in W]
        assert sum(drawn) <= m
    found = hitting_sets.cover(sets, mass, 5.0)
    assert all(found & W for W in sets)
    assert sum(mass[g] for g in found) == lightest

    masses = dict(enumerate(mass))
    assert claims.hitting_set(sets, masses, lightest - 1, 10**5) is None
    light = claims.hitting_set(sets, masses, lightest, 10**5)
    assert all(light & W for W in sets)
    assert sum(mass[g] for g in light) == lightest

    # elements as rows, a mass being that many copies
    numbered = itertools.count(len(mass))
    copies = [(g, *(next(numbered) for _ in range(m - 1))) for g, m in enumerate(mass)]
    witnesses = [(tuple(W), u) for W, u in zip(sets, packed.shares, strict=True)]
    assert not claims.unproven_bound(lightest, witnesses, copies, True)
    assert claims.unproven_bound(lightest + 1, witnesses, copies, True)
    assert not claims.unproven_bound(packed.bound, witnesses, copies, False)
    assert claims.unproven_bound(packed.bound + 1, witnesses, copies, False)


def test_a_search_that_is_too_long_proves_nothing():
    lines = [frozenset({k, (k + 1) % 7, (k + 3) % 7}) for k in range(7)]  # of the Fano plane
    assert hitting_sets.packing(lines, [1] * 7).bound == 3  # 7/3; any two lines meet
    assert claims.hitting_set(lines, {}, 2, 10**4) is None
    for budget, steps in ((2, 0), (3, 1)):
        with pytest.raises(claims.SearchLimitError):
            claims.hitting_set(lines, {}, budget, steps)
    assert claims.hitting_set(lines, {}, 2, 64, lambda: True) is None  # done in fewer steps
    with pytest.raises(claims.SearchLimitError):  # looked at every 64 steps
        claims.hitting_set(lines, {}, 2, 65, lambda: True)


# ------------------------------------------------- corners


def test_what_is_separable_needs_nothing():
    X, y = [[0.0], [1.0]], ["a", "b"]
    found = offenders(X, y)
    assert (found.rows, found.lower_bound, found.minimum) == ((), 0, True)
    assert found.witnesses == ()
    assert "none of the 2 rows" in str(found)
    assert found.verify(X, y)


def test_one_class_alone_is_separable_with_an_offset():
    X, y = [[1.0], [1.0], [1.0]], ["a", "b", "b"]
    found = offenders(X, y)
    assert found.rows == (0,)
    assert found.minimum
    assert found.b > 0
    assert found.verify(X, y)
    assert "row 0 (a)" in found.explain()


def test_one_class_alone_needs_a_hyperplane_without_an_offset():
    X, y = [[1.0], [1.0], [-1.0], [-2.0], [-3.0]], [0, 1, 1, 1, 1]
    found = offenders(X, y, fit_intercept=False)
    assert found.rows == (0, 1) or found.rows == (1,)
    assert found.minimum
    assert found.verify(X, y)
    line = offenders([[1.0], [-1.0], [-2.0]], [0, 1, 1], fit_intercept=False)
    assert line.rows == ()
    assert line.w[0] < 0


def test_rows_of_zeros_must_go_without_an_offset():
    X, y = np.zeros((4, 2)), np.array([0, 1, 1, 0])
    X[3] = 1.0
    found = offenders(X, y, fit_intercept=False)
    assert found.rows == (0, 1, 2)
    assert found.minimum
    assert found.verify(X, y)
    nothing_left = offenders(np.zeros((3, 2)), [0, 1, 1], fit_intercept=False)
    assert nothing_left.rows == (0, 1, 2)
    assert nothing_left.minimum
    assert nothing_left.verify(np.zeros((3, 2)), [0, 1, 1])


def test_copies_go_together():
    """Five and three copies of one point: all of the three; identical rows are one group."""
    X, y = np.array([[1.0, 2.0]] * 8 + [[9.0, 9.0]]), np.array([0] * 5 + [1] * 4)
    found = offenders(X, y)
    assert found.rows == (5, 6, 7)
    assert found.minimum
    assert found.copies == ((0, 1, 2, 3, 4), (5, 6, 7))
    X[:8] *= np.arange(1, 9)[:, None] / 3
    found = offenders(X, y, fit_intercept=False)
    assert found.minimum
    assert found.verify(X, y)
    assert found.rows == (5, 6, 7)


def test_quasi_separable_rows_must_go_as_well():
    X, y = [[-2], [0], [0], [2]], [0, 0, 1, 1]
    found = offenders(X, y)
    assert found.rows in ((1,), (2,))
    assert found.minimum


# ------------------------------------------------- claims that are not true


CROSSED = np.array([[0.0], [1.0], [2.0], [2.0], [3.0], [4.0], [5.0], [5.5]])
LABELS = np.array([0, 0, 1, 0, 0, 1, 0, 1])


def test_altered_answers_do_not_verify():
    found = offenders(CROSSED, LABELS)
    assert found.minimum
    assert found.verify(CROSSED, LABELS)
    first = found.witnesses[0]
    change = dataclasses.replace
    other = next(i for i in range(8) if i not in first.rows)
    lies = [
        change(found, rows=found.rows[1:]),
        change(found, rows=found.rows[::-1] * 2),
        change(found, rows=(*found.rows, 99)),
        change(found, lower_bound=found.lower_bound + 1),
        change(found, lower_bound=found.lower_bound + 1, by_search=True),
        change(found, w=tuple(-Fraction(v) for v in found.w)),
        change(found, w=(*found.w, 0.0)),
        change(found, b=1e6),
        change(found, n_rows=7),
        change(found, copies=((0, 1),)),
        change(found, copies=((2, 2),)),
    ]
    for part in (
        change(first, share=first.share + 1),
        change(first, share=Fraction(-1)),
        change(first, weights=(first.weights[0] + 1, *first.weights[1:])),
        change(first, weights=tuple(-c for c in first.weights)),
        change(first, rows=(other, *first.rows[1:])),
    ):
        lies.append(change(found, witnesses=(part, *found.witnesses[1:])))
    for lie in lies:
        said = lie.resealed().verify(CROSSED, LABELS)
        assert said.integrity
        assert not said.truth, lie
    assert change(found, lower_bound=0).resealed().verify(CROSSED, LABELS)  # weaker, and true
    moved = CROSSED.copy()
    moved[0, 0] = -1
    assert not found.verify(moved, LABELS).integrity


def test_words_and_plain_values():
    found = offenders(CROSSED, np.where(LABELS, "<yes>", "no"))
    text = found.explain()
    assert f"without {len(found)} rows of 8" in text
    assert "beyond the hyperplane" in text or "lies on the hyperplane" in text
    assert "&lt;yes&gt;" in found._repr_html_() or "(no)" in text
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["rows"] == list(found.rows)
    assert plain["lower_bound"] == len(found.rows)
    assert Fraction(plain["witnesses"][0]["share"]) == found.witnesses[0].share


@pytest.mark.parametrize(
    ("X", "y", "options", "error", "match"),
    [
        (CROSSED, np.arange(8) % 3, {}, LabelError, "two classes"),
        (CROSSED, np.zeros(8), {}, LabelError, "two classes"),
        (CROSSED * np.nan, LABELS, {}, DataError, "NaN"),
        ([(CROSSED, LABELS)], None, {}, DataError, "read in chunks"),
        (CROSSED, LABELS, {"fit_intercept": 1}, ParameterError, "must be True or False"),
        (CROSSED, None, {}, LabelError, "labels y are missing"),
        (CROSSED, LABELS, {"max_seconds": 0}, ParameterError, "max_seconds"),
        (CROSSED, LABELS, {"max_seconds": float("nan")}, ParameterError, "max_seconds"),
    ],
)
def test_bad_input(X, y, options, error, match):
    with pytest.raises(error, match=match):
        offenders(X, y, **options)


def test_a_table_that_was_read(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,kind\n0,no\n1,no\n2,yes\n3,no\n4,yes\n5,yes\n")
    table = read(path, target="kind")
    found = offenders(table)
    assert found.rows == offenders(pd.DataFrame({"a": np.arange(6.0)}), table.y).rows
    assert found.verify(table)


@given(
    st.lists(
        st.tuples(st.integers(-4, 4), st.sampled_from([-2, -1, 1, 2]), st.integers(1, 3)),
        max_size=7,
    )
)
def test_the_best_step_of_one_weight(groups):
    scores, x, mass = np.array(groups, dtype=float).reshape(-1, 3).T

    def wrong(t):
        return mass[scores + t * x <= 0].sum()

    step = descent.best_step(scores, x, mass)
    assert wrong(step) == min(wrong(t) for t in np.arange(-6, 6.01, 0.125))
    assert step == 0 or wrong(step) < wrong(0)


def test_no_step_goes_beyond_the_range_of_floats():
    tiny = np.array([5e-324, -5e-324, 1.0])
    assert descent.best_step(np.array([-1.0, 1.0, 0.5]), tiny, np.ones(3)) == 0
    assert descent.best_step(np.array([-1.0, 1.0, -0.5]), tiny, np.ones(3)) == 1.5


def test_a_tiny_row_is_not_a_row_of_zeros():
    X = np.array([[1e300, 1e300], [1e300, -5e-324], [0, 5e-324], [-1e300, 1e300], [1e300, -1e300]])
    y = [-1, 1, 1, 1, -1]
    found = offenders(X, y, fit_intercept=False)
    assert found.verify(X, y)
    assert len(found.rows) == oracle.fewest(oracle.cone_rows(X.tolist(), y, False))


# ------------------------------------------------- real data


def test_iris():
    X, y = load_iris(return_X_y=True)
    found = offenders(X[50:], y[50:])
    assert found.minimum
    assert len(found) == 1
    assert offenders(X, y == 0).rows == ()


SEPARABLE = {"sonar", "breast cancer"}


@pytest.mark.parametrize(
    "name",
    [
        "sonar",
        "ionosphere",
        "wpbc",
        "spambase",
        "a9a",
        "breast cancer",
        "iris 1 2",
        "digits parity",
    ],
)
def test_real_sets(name, monkeypatch):
    """The clock counts how often it is asked, so the answer does not depend on the machine."""
    ticks = itertools.count()
    clock = SimpleNamespace(perf_counter=lambda: next(ticks) * 0.25)
    for module in (search, descent, cancelling_sets):
        monkeypatch.setattr(module, "time", clock)
    X, y = rows_of(name)
    found = offenders(X, y, max_seconds=60)
    assert 0 <= found.lower_bound <= len(found.rows)
    assert (len(found.rows) == 0) == (name in SEPARABLE)
    assert found.lower_bound >= int(name not in SEPARABLE)
    if not sp.issparse(X):
        assert found.verify(X, y)
