"""Verdicts, states, removals and margins of random degenerate rows, against brute force."""

import math
import os
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import infinite_coefficients, max_margin, offenders, separability
from tests.prove import exact_oracle as oracle

INSTANCES = {"quick": 20, "soak": 10_000}.get(os.environ.get("HYPOTHESIS_PROFILE", ""), 100)


def instance(seed):
    """Rows and labels -1, +1 of both classes; every kind of degeneracy, and several at once."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    most = int(rng.integers(1, 4))
    X = rng.integers(-most, most + 1, (n, d)).astype(float)
    if rng.random() < 0.3:  # constant or repeated columns
        X[:, -1] = X[:, 0] * rng.choice([0.0, 1.0, -2.0]) + rng.choice([0.0, 1.0])
    if rng.random() < 0.3:  # repeated rows
        X[-1] = X[0] * rng.choice([1.0, 2.0])
    if rng.random() < 0.4:  # sizes
        X = X * 10.0 ** rng.choice([-300, -9, 0, 9, 300], d)
    if rng.random() < 0.5:  # units in the last place
        steps = rng.integers(-1, 2, X.shape)
        X = np.where(steps > 0, np.nextafter(X, math.inf), X)
        X = np.where(steps < 0, np.nextafter(X, -math.inf), X)
    y = rng.choice([-1, 1], n)
    y[:2] = -1, 1
    given = sp.csr_matrix(X) if rng.random() < 0.3 else X
    return X, y, given, bool(rng.random() < 0.6)


def check(seed):
    X, y, given, intercept = instance(seed)
    Z = oracle.cone_rows(X.tolist(), y.tolist(), intercept)
    true = oracle.verdict(Z)
    found = separability(given, y, fit_intercept=intercept)
    assert found.verdict == true
    assert found.verify(given, y)

    coefficients = infinite_coefficients(given, y, fit_intercept=intercept)
    assert list(coefficients.states.values()) == oracle.states(Z)
    assert coefficients.verify(given, y)

    removed = offenders(given, y, fit_intercept=intercept)
    assert removed.lower_bound <= oracle.fewest(Z) <= len(removed.rows)
    assert removed.minimum
    assert removed.verify(given, y)

    if true == "separable":
        widest = max_margin(given, y, fit_intercept=intercept, augmented=True)
        square = oracle.margin_squared(Z)
        assert Fraction(widest.lower) ** 2 <= square
        assert widest.upper == math.inf or square <= Fraction(widest.upper) ** 2


@pytest.mark.parametrize("block", range(10))
def test_everything_agrees_with_brute_force(block):
    for seed in range(block, INSTANCES, 10):
        try:
            check(seed)
        except Exception as e:
            e.add_note(f"instance {seed}: {instance(seed)}")
            raise
