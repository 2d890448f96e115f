"""Forged results that must not verify, and data whose numbers floats would round."""

import dataclasses
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from rosenblatt import (
    infinite_coefficients,
    max_margin,
    offenders,
    separability,
    separability_table,
    soft_minimum,
)
from rosenblatt.data.cone import as_cone
from rosenblatt.errors import DataError, UndecidedError
from rosenblatt.prove.certificate import Combination, Verification, from_json
from rosenblatt.prove.checker import limbs
from rosenblatt.prove.checker.signs import Plane
from rosenblatt.prove.checker.span import Span
from rosenblatt.prove.coefficients import State
from rosenblatt.prove.limits import Limits

change = dataclasses.replace
TURNING = (
    np.array([[-1.0, 2, -2], [1, 0, 2], [-2, -1, 1], [0, 0, 1], [2, -2, -2], [0, 0, 1]]),
    [0, 1, 0, 0, 1, 1],
)
TIED = np.array([[0.0, 1, 0], [0, 2, 0], [0, 3, 0], [1, 2, 0], [1, 1, 0]]), [0, 1, 0, 1, 1]
LINE = np.array([[0.0], [1.0], [2.0], [2.0], [3.0], [4.0], [5.0], [5.5]]), [0, 0, 1, 0, 0, 1, 0, 1]


def _item(found, j, **fields):
    items = tuple(change(c, **fields) if k == j else c for k, c in enumerate(found.items))
    return change(found, items=items)


# ---------------------------------------------------------------------- coefficients


def test_a_coefficient_that_members_turn_is_not_bounded():
    X, y = TURNING
    found = infinite_coefficients(X, y)
    assert found.states["x1"] == "undetermined"
    for k, state in ((1, State.PLUS), (-1, State.MINUS)):
        some = tuple(m for m in found.members if m[1] * k >= 0)
        for c in (0, 1, Fraction(1, 3)):
            forged = _item(found, 1, state=state, reduced=state, bound=Combination((0,), (c,)))
            assert not forged.verify(X, y)
            assert not change(forged, members=some).verify(X, y)


def test_a_column_that_others_do_not_determine_is_not_left_out():
    found = infinite_coefficients(*TIED)
    assert found.states["x1"] == "finite"
    assert not _item(found, 1, state=State.NOT_IDENTIFIED).verify(*TIED)
    dropped = _item(found, 1, state=State.NOT_IDENTIFIED, reduced=None, reason="x1 is always 0")
    said = dropped.verify(*TIED)
    assert not said
    assert "independent" in str(said)


@pytest.mark.parametrize("spanning", [(999,), (-1,), (0, 0, 1, 3), (0.5,), ()])
def test_rows_that_do_not_exist_prove_nothing(spanning):
    found = infinite_coefficients(*TIED)
    assert not change(found, spanning=spanning).verify(*TIED)


def test_swapped_names_and_other_reasons_do_not_verify():
    found = infinite_coefficients(*TIED)
    names = [c.name for c in found.items]
    swapped = _item(_item(found, 0, name=names[1]), 1, name=names[0])
    assert not swapped.verify(*TIED)
    assert not _item(found, 0, reason="because").verify(*TIED)
    assert not _item(found, 3, name="slope").verify(*TIED)  # it is the intercept


def test_names_are_compared_with_those_of_the_data():
    X, y = TIED
    frame = pd.DataFrame(X, columns=["drug", "dose", "none"])
    found = infinite_coefficients(frame, y)
    assert found.verify(frame, y).unchecked == ()
    assert found.verify(X, y)
    assert found.verify(X, y).unchecked == ("feature_names", "names")
    assert not found.verify(frame[["dose", "drug", "none"]], y)
    assert not _item(_item(found, 0, name="dose"), 1, name="drug").verify(frame, y)


def test_names_given_to_the_search_are_given_to_verify():
    X, y = TIED
    found = infinite_coefficients(X, y, ["drug", "dose", "none"])
    assert found.verify(X, y).unchecked == ("names",)
    assert "not checked: names" in str(found.verify(X, y))
    assert found.verify(X, y, ["drug", "dose", "none"]).unchecked == ()
    assert not found.verify(X, y, ["dose", "drug", "none"])


def test_rows_split_off_are_not_copied_to_verify():
    """`verify` reads chunks, part by part, and takes only the few rows of proofs."""
    X, y = TURNING
    chunks = [(X[:2], y[:2]), (X[2:3], y[2:3]), (X[3:], y[3:])]
    found = infinite_coefficients(chunks)
    assert found.states == infinite_coefficients(X, y).states
    assert found.verify(chunks)
    assert found.verify(X, y)
    worse = (tuple(-v for v in found.members[0]), *found.members[1:])
    assert not change(found, members=worse).verify(chunks)


# ---------------------------------------------------------------------- offenders


def test_labels_distances_and_bounds_of_offenders_are_checked():
    found = offenders(*LINE)
    assert found.verify(*LINE)
    assert found.verify(*LINE).unchecked == ()
    assert not change(found, labels=found.labels[::-1]).verify(*LINE)
    assert not change(found, labels=("x", "x")).verify(*LINE)
    assert not change(found, distances=(1e9, 1e9)).verify(*LINE)
    nearby = tuple(np.nextafter(d, 9).item() for d in found.distances)
    assert not change(found, distances=nearby).verify(*LINE)
    assert not change(found, lower_bound=-1).verify(*LINE)
    assert not change(found, by_search="no").verify(*LINE)


def test_distances_are_the_nearest_floats():
    X, y = LINE[0] @ [[1.0, 0.3]], np.array(LINE[1])
    found = offenders(X, y)
    rows, w = list(found.rows), np.array(found.w, dtype=float)
    assert len(rows) == 2
    expected = (2 * y[rows] - 1) * (X[rows] @ w + float(found.b)) / np.linalg.norm(w)
    assert found.distances == pytest.approx(tuple(expected), rel=1e-13)


def test_an_offset_without_intercept_is_refused():
    found = offenders(*LINE, fit_intercept=False)
    assert found.verify(*LINE)
    said = change(found, b=123.0).verify(*LINE)
    assert not said
    assert "origin" in str(said)


@pytest.mark.parametrize("w", [(float("inf"),), (float("nan"),), (None,), None, "w", (True,)])
def test_weights_that_are_no_numbers_are_refused(w):
    found = offenders(*LINE)
    assert not change(found, w=w).verify(*LINE)


def test_float_shares_do_not_hide_what_they_draw():
    found = offenders(*LINE)
    first = change(found.witnesses[0], share=5e-324)
    assert not change(found, witnesses=(first, *found.witnesses[1:])).verify(*LINE)


# ---------------------------------------------------------------------- labels and names


@pytest.mark.parametrize("labels", [["1", "True"], ["1", "1.0"], ["\n", "\\n"]])
def test_labels_that_look_alike_are_told_apart(labels):
    X, y = np.array([[0.0], [1.0]]), np.array(labels)
    found = separability(X, y)
    assert found.verify(X, y)
    swapped = change(found, positive=found.negative, negative=found.positive, sealed=None)
    assert not swapped.verify(X, y)
    assert not from_json(swapped.to_json()).verify(X, y)


def test_labels_may_still_be_spelled_otherwise():
    X = np.array([[0.0], [1.0]])
    found = separability(X, [0, 1])
    assert found.verify(X, [False, True])
    assert found.verify(X, [0.0, 1.0])
    assert found.verify(X, ["0", "1"])


def test_names_without_names_in_the_data_are_not_checked():
    X, y = np.array([[0.0, 5.0], [1.0, 5.1]]), [0, 1]
    found = change(separability(X, y), feature_names=("income", "age"), sealed=None)
    said = found.verify(X, y)
    assert said
    assert said.unchecked == ("feature_names",)
    assert str(said).endswith("not checked: feature_names")
    assert not found.verify(pd.DataFrame(X, columns=["age", "income"]), y)
    assert separability(X, y).verify(X, y).unchecked == ()
    assert str(Verification(True, True)) == "verified: unaltered, and true of these data"


# ---------------------------------------------------------------------- long numbers


def test_numbers_longer_than_a_proof_needs_are_refused_before_any_row(monkeypatch):
    X, y = np.array([[0.0, 1.0], [1.0, 0.25]]), [0, 1]
    long = Fraction(10**90_000 + 1)
    found = change(separability(X, y), w=(long, Fraction(1)), b=long / 3, sealed=None)
    text = found.to_json()
    assert len(text) > 180_000
    monkeypatch.setattr(limbs, "product_signs", None)
    monkeypatch.setattr(Plane, "scores", None)
    said = from_json(text).verify(X, y)
    assert not said
    assert "max_bits" in str(said)


def test_longer_numbers_can_be_allowed():
    X, y = np.array([[0.0], [1.0]]), [0, 1]
    long = Fraction(3**20_000)
    found = change(separability(X, y), w=(long,), b=-long / 2, margin=0.25, sealed=None)
    assert not found.verify(X, y)
    assert found.verify(X, y, max_bits=100_000)


def test_many_denominators_are_long_together():
    X, y = np.eye(40), [0] * 20 + [1] * 20
    found = separability(X, y)
    w = tuple(Fraction(1, 2**1000 + 2 * k + 1) for k in range(40))
    said = change(found, w=w, sealed=None).verify(X, y)
    assert "max_bits" in str(said)


# ---------------------------------------------------------------------- numbers that floats round

THIRD = [[Fraction(1, 3)], [Fraction(1, 3) + Fraction(1, 10**30)], [Fraction(0)], [Fraction(1)]]
TENTHS = [[Decimal("0.1")], [Decimal("0.3")], [Decimal(0)], [Decimal(1)]]
WIDE = np.array([[1], [1], [0], [2]], dtype=np.longdouble) + np.finfo(np.longdouble).eps
HUGE = [[Fraction(10**400)], [Fraction(0)], [Fraction(1)], [Fraction(2)]]
longer = pytest.mark.skipif(
    np.finfo(np.longdouble).eps == np.finfo(np.float64).eps, reason="longdouble is float64 here"
)
TABLES = [THIRD, TENTHS, HUGE, pytest.param(WIDE, marks=longer)]


@pytest.mark.parametrize("X", TABLES)
@pytest.mark.parametrize(
    "function",
    [
        separability,
        separability_table,
        infinite_coefficients,
        max_margin,
        offenders,
        soft_minimum,
        lambda X, y: separability([(X, y)]),
        lambda X, y: max_margin([(X, y)]),
        lambda X, y: infinite_coefficients(lambda: [(X, y)]),
        lambda X, y: separability(pd.DataFrame(X), y),
    ],
)
def test_numbers_that_floats_round_are_refused(function, X):
    X = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    with pytest.raises(DataError, match="float"):
        function(X, [0, 1, 0, 1])


def test_verify_refuses_numbers_that_floats_round():
    found = offenders(*LINE)
    with pytest.raises(DataError, match="float"):
        found.verify([[Fraction(1, 3)]] * 8, LINE[1])


def test_exact_fractions_are_fine():
    X = [[Fraction(1, 4)], [Fraction(1, 2)]]
    assert separability(X, [0, 1]).verdict == "separable"
    assert separability([(X, [0, 1])]).verdict == "separable"


# ---------------------------------------------------------------------- soft_minimum


def test_small_terms_count_in_the_mean_margin():
    X, y = np.array([[1e300], [5e-324], [1e300], [0.0]]), [1, 1, 0, 0]
    try:
        found = soft_minimum(X, y)
    except UndecidedError:  # the minimum is no float, and nothing is claimed
        return
    assert found.feasible


def test_the_largest_floats_do_not_overflow():
    X, y = np.array([[1e308], [-1e308], [1e308], [-1e308]]), [0, 0, 1, 1]
    found = soft_minimum(X, y)
    assert not found.feasible
    assert found.certificate.verdict == "overlapping"


# ---------------------------------------------------------------------- time


def test_max_margin_without_time_gives_back_what_it_has():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [4.0, 0.0], [3.0, 3.0]]), [0, 0, 1, 1]
    found, best = max_margin(X, y, max_seconds=0.0), max_margin(X, y)
    assert best.closed
    assert not found.closed
    assert 0 < found.lower <= best.lower <= best.upper <= found.upper


def test_max_margin_without_time_and_hyperplane_is_undecided():
    X, y = np.array([[0.0], [2.0], [1.0], [3.0]]), [0, 0, 1, 1]
    with pytest.raises(UndecidedError):
        max_margin(X, y, max_seconds=0.0)


# ---------------------------------------------------------------------- bounded work


@pytest.mark.parametrize("verdict", ["separable", "quasi-separable", "overlapping"])
def test_verify_reads_chunks_twice(verdict):
    X = np.arange(40.0).reshape(20, 2) ** 2 % 7
    y = X[:, 0] > 1
    if verdict != "separable":
        y[X[:, 0] == 1] = np.arange(20)[X[:, 0] == 1] % 2
    if verdict == "overlapping":
        y = np.arange(20) % 3 == 1
    readings = []

    def chunks():
        readings.append(1)
        return ((X[k : k + 5], y[k : k + 5]) for k in range(0, 20, 5))

    found = separability(X, y)
    assert found.verdict == verdict
    assert found.verify(chunks)
    assert len(readings) == 2


def test_verify_stops_in_time():
    X, y = [[0.0], [1.0]], [0, 1]
    for found in (separability(X, y), max_margin(X, y), offenders(X, y)):
        with pytest.raises(UndecidedError, match="max_seconds"):
            found.verify(X, y, max_seconds=0)


def test_an_exact_system_that_would_take_too_long_is_not_begun():
    rng = np.random.default_rng(0)
    cone = as_cone(rng.normal(size=(250, 121)), rng.integers(0, 2, 250))
    X = cone.take(range(100)).X
    assert len(Span.of(X, True, deadline=time.time() + 60).vectors) == 22
    with pytest.raises(UndecidedError, match="an exact system of 100 equations takes about"):
        Span.of(X, True, deadline=time.time() - 1)
    limits = Limits.starting_now(10, None)
    limits.check_system(400, 60)
    with pytest.raises(UndecidedError, match="Give more time"):
        limits.check_system(4000, 60)
