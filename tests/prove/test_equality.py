"""Rows of equality: a hyperplane must hold them, which is as if z and -z were rows.

The first family with such rows is the binomial: a row of successes and failures has both z and -z.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import max_margin, separability
from rosenblatt.data.cone import Cone
from rosenblatt.data.source import ArraySource, ChunkSource
from rosenblatt.errors import NotSupportedError
from rosenblatt.prove.certificate import Certificate, Combination
from rosenblatt.prove.separability.working_set import WorkingSet

LABELS = ["failures", "successes", "both"]
SIGNS = np.array([-1, 1, 0], dtype=np.int8)


def grouped(X, successes, failures, constant=True):
    """The cone of a binomial regression: successes alone, failures alone, or both."""
    code = np.where(failures == 0, 1, np.where(successes == 0, 0, 2))
    source = ArraySource(X, code.astype(np.int32), LABELS)
    return Cone(source, np.array(LABELS[:2]), SIGNS, constant)


def ungrouped(X, successes, failures):
    """A row for each outcome, and the row of the table that each comes from."""
    at = np.append(np.flatnonzero(successes), np.flatnonzero(failures))
    return X[at], np.arange(len(at)) < np.count_nonzero(successes), at


def chunked(X, successes, failures, size):
    names = np.where(failures == 0, LABELS[1], np.where(successes == 0, LABELS[0], LABELS[2]))
    ends = range(0, len(X), size)
    source = ChunkSource([(X[k : k + size], names[k : k + size]) for k in ends], exact=True)
    source.n_features = max(source.map(lambda block: block.X.shape[1]))
    by_class = np.array([SIGNS[LABELS.index(name)] for name in source.labels.classes])
    return Cone(source, np.array(LABELS[:2]), by_class[source.labels.class_numbers[:-1]])


@st.composite
def tables(draw):
    """(X, successes, failures), both outcomes occurring."""
    n, d = draw(st.integers(2, 8)), draw(st.integers(1, 3))
    row = st.lists(st.integers(-2, 2).map(float), min_size=d, max_size=d)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    pairs = st.sampled_from([(1, 0), (0, 1), (2, 3)])
    counts = np.array(draw(st.lists(pairs, min_size=n, max_size=n)))
    counts[0], counts[1] = (3, draw(st.integers(0, 1))), (draw(st.integers(0, 1)), 2)
    return X, counts[:, 0], counts[:, 1]


@given(table=tables(), constant=st.booleans(), sparse=st.booleans(), floats=st.booleans())
def test_grouped_rows_have_the_verdict_of_single_outcomes(table, constant, sparse, floats):
    X, successes, failures = table
    single, y, at = ungrouped(X, successes, failures)
    expected = separability(single, y, fit_intercept=constant)
    cone = grouped(sp.csr_array(X) if sparse else X, successes, failures, constant)
    with pytest.MonkeyPatch.context() as patch:
        if not floats:  # the rationals alone
            patch.setattr(WorkingSet, "propose", lambda _: None)
        found = separability(cone, fit_intercept=constant)
    assert found.verify(cone)
    assert Certificate.from_json(found.to_json()).verify(cone)
    assert found.verdict == expected.verdict
    split = expected.split_rows(single, y) if expected.verdict != "overlapping" else []
    assert set(found.split_rows(cone)) == {at[k] for k in split}
    assert found.explain(cone)


def test_many_rows_of_equality():
    """Levels of a factor with both outcomes, and two that have only one."""
    rng = np.random.default_rng(0)
    level = np.sort(rng.integers(0, 40, 600))
    X = np.c_[(level[:, None] == np.arange(40)), rng.integers(-5, 6, 600)].astype(float)
    successes, failures = np.ones(600, dtype=int), np.where(level < 38, 2, 0)
    successes[level == 39], failures[level == 39] = 0, 1
    cone = grouped(X, successes, failures)
    found = separability(cone)
    assert found.verdict == "quasi-separable"
    assert found.verify(cone)
    assert found.n_split == (level >= 38).sum()
    assert max(found.proof.rows) < (level < 38).sum()
    pieces = chunked(X, successes, failures, 97)
    assert found.verify(pieces)
    assert separability(pieces).verify(cone)


@pytest.fixture
def quasi():
    """Rows 0 and 1 lie on x = 0, row 0 with both outcomes."""
    X = np.array([[0.0], [0.0], [1.0], [-1.0]])
    cone = grouped(X, np.array([1, 1, 1, 0]), np.array([1, 0, 0, 1]))
    found = separability(cone)
    assert found.verdict == "quasi-separable"
    assert found.verify(cone)
    return cone, found


def test_weights_of_equality_rows_have_any_sign(quasi):
    cone, found = quasi
    proof = Combination((0, 1), (Fraction(-1), Fraction(1)))
    assert replace(found, proof=proof, witness=proof, sealed=None).verify(cone)
    wrong = Combination((0, 1), (Fraction(1), Fraction(-1)))
    verified = replace(found, proof=wrong, witness=wrong, sealed=None).verify(cone)
    assert "not positive" in str(verified)


def test_rows_of_equality_must_lie_on_the_hyperplane(quasi):
    cone, found = quasi
    tilted = replace(found, b=1.0, n_split=3, sealed=None).verify(cone)
    assert not tilted.truth
    one = grouped(np.array([[1.0], [1.0]]), np.array([1, 1]), np.array([1, 0]))
    claim = separability([[1.0], [-1.0]], [1, 0])
    assert not replace(claim, sealed=None).verify(one).truth


def test_rows_of_equality_have_no_margin(quasi):
    with pytest.raises(NotSupportedError, match="no margin"):
        max_margin(quasi[0])


def test_equality_changes_the_digest(quasi):
    cone, found = quasi
    other = replace(cone, signs=np.array([-1, 1, 1], dtype=np.int8))
    assert not found.verify(other).integrity
