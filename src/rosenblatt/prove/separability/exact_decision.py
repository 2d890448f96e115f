"""The verdict on a few integer rows over the rationals, for data where floats cannot decide."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpz_mat

from rosenblatt.data.exact import combination, independent, integer_residues, primes, primitive
from rosenblatt.prove.limits import UNLIMITED, Limits
from rosenblatt.prove.separability.nearest_point import separate

Rows = list[list[int]]


@dataclass(frozen=True)
class Decision:
    """w with w.z_i >= 0 for all rows; weights >= 0 that cancel; a smallest such set.

    w.z_i > 0 for every row outside the span of those with positive weight. All weights are 0 if
    w separates; w is 0 if all rows are in that span.
    """

    w: list[Fraction]
    weights: list[Fraction]
    circuit: list[Fraction]


def decide(rows: Rows, limits: Limits = UNLIMITED) -> Decision:
    """What holds for integer rows z_i.

    Rows found to cancel go on a face, and the rest is decided among the w orthogonal to it. At
    most twice as many weights as the rank of the face are positive [Steinitz]: k + 1 rows that
    cancel in just one way add k to the rank.

    >>> decide([[1, 0], [-1, 0], [0, 2]]).weights
    [Fraction(1, 2), Fraction(1, 2), Fraction(0, 1)]
    """
    m, p = len(rows), len(rows[0])
    Z = fmpz_mat(rows)
    space = fmpz_mat(p, p, [int(i == j) for i in range(p) for j in range(p)])
    weights = [Fraction(0)] * m
    zero = next((i for i, row in enumerate(rows) if not any(row)), None)
    circuit = [Fraction(int(i == zero)) for i in range(m)]  # a row of zeros cancels by itself
    while True:
        table = [[int(v) for v in line] for line in (Z * space).tolist()] if space.ncols() else []
        off = [i for i, line in enumerate(table) if any(line)]
        point, cancelling = separate([table[i] for i in off], limits) if off else ([], {})
        if not cancelling:
            w = space * fmpz_mat(len(point), 1, point) if point else fmpz_mat(p, 1)
            weights = weights if any(weights) else circuit
            return Decision([Fraction(int(v)) for v in w.entries()], weights, circuit)
        weights = _joined(rows, weights, {off[k]: c for k, c in cancelling.items()})
        circuit = circuit if any(circuit) else weights
        space = _orthogonal([rows[i] for i in range(m) if weights[i]], p)


def random_orthogonal(rows: Rows, rng: np.random.Generator) -> list[Fraction]:
    """A random integer vector orthogonal to the rows; 0 only if nothing else is."""
    p = len(rows[0])
    space = _orthogonal(rows, p)
    if not space.ncols():
        return [Fraction(0)] * p
    mix = fmpz_mat(space.ncols(), 1, rng.integers(1, 2**31, space.ncols()).tolist())
    return [Fraction(int(v)) for v in (space * mix).entries()]


def _orthogonal(rows: Rows, p: int) -> Any:
    """Integer columns that span what is orthogonal to the rows."""
    vectors, nullity = fmpz_mat(rows).nullspace()
    columns = [primitive([int(vectors[j, k]) for j in range(p)]) for k in range(int(nullity))]
    return fmpz_mat(p, len(columns), [column[j] for j in range(p) for column in columns])


def _joined(rows: Rows, weights: list[Fraction], found: dict[int, Fraction]) -> list[Fraction]:
    """Weights that cancel, positive where `weights` or `found` are.

    The rows found cancel up to a combination s of the face; a large multiple of the weights of
    the face absorbs what s takes from them.
    """
    at = [i for i, c in enumerate(weights) if c]
    face = [rows[i] for i in at]
    total = [
        sum((c * rows[i][j] for i, c in found.items()), Fraction(0)) for j in range(len(rows[0]))
    ]
    shares = None
    for prime in primes():  # a bad one makes the basis too small
        basis = independent(integer_residues(face, prime), prime)
        if (shares := combination(face, total, basis)) is not None:
            break
    assert shares is not None
    taken = dict(zip(at, shares, strict=True))
    factor = max([Fraction(1), *(1 + t / weights[i] for i, t in taken.items())])
    out = [factor * c for c in weights]
    for i, t in taken.items():
        out[i] -= t
    for i, c in found.items():
        out[i] += c
    return out
