"""Poisson regression as a second family on the cone of `separability`.

The likelihood with a log link has no maximum exactly if some w has x.w <= 0 for rows with count 0,
x.w < 0 for one of them, and x.w = 0 for rows with a positive count [Santos Silva, Tenreyro 2010].
So a count of 0 is the row -(x, 1), a positive count an equality.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import infinite_coefficients, separability
from rosenblatt.data.cone import Cone
from rosenblatt.data.source import ArraySource
from tests.prove import exact_oracle as oracle


def poisson_cone(X, counts):
    """Rows with count 0 have the sign -1, the others hold with equality."""
    source = ArraySource(X, (counts > 0).astype(np.int32), [0, 1])
    return Cone(source, np.array([0, 1]), np.array([-1, 0], dtype=np.int8))


def separated(X, counts):
    """Observations whose fitted mean tends to 0, proven by a certificate."""
    cone = poisson_cone(X, counts)
    certificate = separability(cone)
    assert certificate.verify(cone)
    if (counts == 0).all():  # no event at all: the intercept separates every observation
        assert certificate.verdict == "separable"
    else:
        assert certificate.verdict != "separable"
    return certificate.split_rows(cone)


NAMES = ("01", "02", "03", "04", "05", "06", "08", "09", "10", "11")


@pytest.mark.parametrize("name", NAMES)
def test_known_cases_of_ppmlhdfe(name, shared_data):
    """Fixed effects become columns of 0 and 1."""
    lines = (shared_data / "separation" / f"poisson-{name}.csv").read_text().splitlines()
    table = dict(
        zip(lines[0].split(","), np.array([x.split(",") for x in lines[1:]]).T, strict=True)
    )
    columns = [v.astype(float) for k, v in table.items() if k.startswith("x")]
    for ids in (v for k, v in table.items() if k.startswith("id")):
        columns += [(ids == level).astype(float) for level in sorted(set(ids))]
    found = separated(np.column_stack(columns), table["y"].astype(float))
    assert found.tolist() == np.flatnonzero(table["separated"] == "1").tolist()


@given(
    X=st.lists(st.tuples(*[st.integers(-2, 2)] * 2), min_size=2, max_size=6),
    counts=st.lists(st.integers(0, 2), min_size=6, max_size=6),
)
def test_brute_force_agrees(X, counts):
    """Over the rationals, from the definition."""
    counts = np.array(counts[: len(X)])
    Z = oracle.cone_rows([[-v for v in x] for x in X], [1] * len(X), False)
    Z = [[*z, -1] for z in Z]
    equal = [[[-v for v in z]] for z, c in zip(Z, counts, strict=True) if c]
    both = Z + list(itertools.chain(*equal))
    expected = [
        k
        for k, c in enumerate(counts)
        if not c and oracle.feasible(both, [i == k for i in range(len(both))])
    ]
    assert separated(np.array(X, dtype=float), counts).tolist() == expected
    cone = poisson_cone(np.array(X, dtype=float), counts)
    found = infinite_coefficients(cone)
    assert list(found.states.values()) == oracle.states(both)
    assert found.verify(cone)
