"""The largest weights, and the rows that moved them: what the rows added is the weights."""

import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import LinearModel, Perceptron
from rosenblatt.learn import machine
from rosenblatt.learn.contributions import largest_first
from rosenblatt.learn.heaviest import _steps

X = np.random.default_rng(0).integers(-3, 4, (40, 5)).astype(float)
NAMED = np.array(["a", "b", "c"])[np.arange(40) % 3]


def test_the_largest_weights_come_first():
    model = LinearModel(
        np.array([[1.0, -4.0, 0.0, 3.0]]), np.array([7.0]), np.array([0, 1]), tuple("pqrs")
    )
    told = model.explain_model(3)
    (plane,) = told.planes
    assert [(w.feature, w.weight) for w in plane.weights] == [("q", -4), ("s", 3), ("p", 1)]
    assert (plane.label, plane.against, plane.offset) == (1, 0, 7)
    assert (plane.n_nonzero, plane.n_features, plane.norm) == (3, 4, np.sqrt(26))
    assert str(told).splitlines() == [
        "1 against 0: offset 7, ||w|| 5.09902, 3 of 4 weights not 0",
        "feature  weight",
        "      q      -4",
        "      s       3",
        "      p       1",
    ]
    assert len(model.explain_model(0).planes[0].weights) == 0
    assert json.loads(json.dumps(told.facts()))["planes"][0]["weights"][0]["feature"] == "q"
    assert "<table>" in told._repr_html_()


@pytest.mark.parametrize(
    ("rows", "y", "multiclass"),
    [
        (X, NAMED != "a", "ovr"),
        (sp.csr_matrix(X), NAMED != "a", "ovr"),
        (X, NAMED, "ovr"),
        (X, NAMED, "direct"),
    ],
)
def test_the_rows_times_their_amounts_are_the_weights(rows, y, multiclass):
    clf = Perceptron(max_iter=6, tol=None, record="updates", multiclass=multiclass).fit(rows, y)
    told = clf.explain_model(len(X))
    assert told.note == ""
    assert len(told.planes) == len(clf.coef_)
    updates = 0
    for plane, w, b in zip(told.planes, clf.coef_, clf.intercept_, strict=True):
        moved = {m.row: m.amount for m in plane.moved}
        assert sum(a * X[i] for i, a in moved.items()).tolist() == w.tolist()
        assert sum(moved.values()) == b
        distances = [m.distance for m in plane.moved]
        assert distances == sorted(distances, reverse=True)
        for m in plane.moved:
            assert m.distance >= abs(m.amount) * np.linalg.norm(X[m.row]) * (1 - 1e-12)
        updates += sum(m.updates for m in plane.moved)
    assert updates == clf.n_updates_ * (2 if multiclass == "direct" else 1)
    assert len(clf.explain_model(3).planes[0].moved) == 3
    assert "distance" in str(told)


def test_rules_that_do_not_add_rows_have_distances_only():
    clf = Perceptron(rule="arow", max_iter=2, tol=None, record="updates").fit(X, NAMED != "a")
    moved = clf.explain_model(3).planes[0].moved
    assert [m.amount for m in moved] == [None] * 3
    record = clf.trace_.record
    steps = np.linalg.norm(np.diff(record.w, axis=0, prepend=0), axis=1)
    assert moved[0].distance == max(np.bincount(record.row, steps))
    assert moved[0].distance > 0
    assert str(moved[0].row) in str(clf.explain_model(3))


def test_a_penalty_is_part_of_the_distances():
    clf = Perceptron(penalty="l2", max_iter=2, tol=None, record="updates").fit(X, NAMED != "a")
    assert "penalty" in clf.explain_model().note


@given(sizes=st.lists(st.integers(0, 5)), most=st.integers(0, 12))
def test_the_largest_come_first_and_equal_ones_in_order(sizes, most):
    by_hand = sorted(range(len(sizes)), key=lambda k: (-sizes[k], k))[:most]
    assert largest_first(np.array(sizes, dtype=float), most).tolist() == by_hand


def test_long_records_are_looked_at_in_blocks():
    w = np.random.default_rng(0).standard_normal((20, 3))
    start = np.ones(3)
    by_hand = np.linalg.norm(np.diff(np.vstack([start, w]), axis=0), axis=1)
    for block in (1, 2, 7, 19, 20, 21):
        assert np.allclose(_steps(w, start, block), by_hand)


def test_what_is_not_known_is_said(monkeypatch):
    clf = Perceptron(max_iter=3, tol=None).fit(X, NAMED)
    told = clf.explain_model()
    assert 'record="updates"' in told.note
    assert told.note in str(told)
    assert not told.planes[0].moved
    clf.set_params(record="updates").fit(X, NAMED)
    stored = pickle.loads(pickle.dumps(clf))
    assert stored.explain_model() == clf.explain_model()
    batch = Perceptron(max_iter=3, tol=None, mode="batch", record="updates").fit(X, NAMED != "a")
    assert "at once" in batch.explain_model().note
    monkeypatch.setattr(machine, "MOST_LOGGED", 5)
    clf.fit(X, NAMED)
    assert clf.explain_model().note.startswith("The first 5 of ")
    assert sum(m.updates for m in clf.explain_model().planes[0].moved) == 5
