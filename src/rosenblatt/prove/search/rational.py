"""Rational: what floats cannot see, decided over the rationals.

The point x of the hull of the rows z_i that is nearest to the origin tells all: if x = 0, its
weights cancel; otherwise z_i.x >= x.x > 0 for every row, so x separates them. Wolfe's algorithm
(1976) finds it by exact steps: keep an affinely independent set of rows, the corral, and the
point of its hull nearest to the origin; add a row with z.x <= 0; go towards the nearest point of
the new affine hull, dropping rows whose weight reaches 0 on the way. The distance falls with
every row added, so no corral comes twice and it ends. Here it ends as soon as all z_i.x > 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import frexp, lcm, ldexp
from typing import Any

import numpy as np
from flint import fmpq, fmpz_mat

from rosenblatt.prove import exact

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


def decide(rows: Rows, tick: Callable[[], None] = lambda: None) -> Decision:
    """What holds for integer rows z_i.

    Rows found to cancel go on a face, and the rest is decided among the w orthogonal to it. At
    most twice as many weights as the rank of the face are positive [Steinitz]: k + 1 rows that
    cancel in just one way add k to the rank. `tick` is called at every step and may raise.

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
        point, cancelling = _nearest([table[i] for i in off], tick) if off else ([], {})
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
    columns = []
    for k in range(int(nullity)):
        columns.append(exact.coprime([int(vectors[j, k]) for j in range(p)]))
    return fmpz_mat(p, len(columns), [column[j] for j in range(p) for column in columns])


def _joined(rows: Rows, weights: list[Fraction], found: dict[int, Fraction]) -> list[Fraction]:
    """Weights that cancel, positive where `weights` or `found` are.

    The rows found cancel up to a combination s of the face; a large multiple of the weights of
    the face absorbs what s takes from them.
    """
    at = [i for i, c in enumerate(weights) if c]
    taken = {i: Fraction(0) for i in at}
    if at:
        face = [rows[i] for i in at]
        basis, pivots = exact.independent(face)
        total = [sum((c * rows[i][j] for i, c in found.items()), Fraction(0)) for j in pivots]
        matrix = [[face[k][j] for k in basis] for j in pivots]
        for k, c in zip(basis, exact.solve(matrix, total), strict=True):
            taken[at[k]] = c
    factor = max([Fraction(1), *(1 + t / weights[i] for i, t in taken.items())])
    out = [factor * c for c in weights]
    for i, t in taken.items():
        out[i] -= t
    for i, c in found.items():
        out[i] += c
    return out


def _nearest(rows: Rows, tick: Callable[[], None]) -> tuple[list[int], dict[int, Fraction]]:
    """A point x with all z.x > 0 and no weights, or weights with which some rows cancel."""
    Z, bits = fmpz_mat(rows), [max(abs(v) for v in row).bit_length() for row in rows]
    corral, weights = [0], [fmpq(1)]
    while True:
        tick()
        chosen = fmpz_mat([rows[i] for i in corral])
        point = _integers(weights) * chosen
        if not any(int(v) for v in point.entries()):
            return [], {
                i: Fraction(int(c.p), int(c.q)) for i, c in zip(corral, weights, strict=True)
            }
        scores = [int(v) for v in (Z * point.transpose()).entries()]
        if all(s > 0 for s in scores):
            return exact.coprime([int(v) for v in point.entries()]), {}
        corral = [*corral, _most_wrong(scores, bits)]
        weights = [*weights, fmpq(0)]
        corral, weights = _walked(rows, corral, weights)


def _walked(rows: Rows, corral: list[int], weights: list[Any]) -> tuple[list[int], list[Any]]:
    """The corral and weights of the nearest point, rows dropped whose weight reached 0."""
    while True:
        goal = _affine_nearest([rows[i] for i in corral])
        if all(g > 0 for g in goal):
            return corral, goal
        # the largest step that keeps every weight >= 0
        step = min(c / (c - g) for c, g in zip(weights, goal, strict=True) if g <= 0)
        moved = [c + step * (g - c) for c, g in zip(weights, goal, strict=True)]
        keep = [k for k, c in enumerate(moved) if c > 0]
        corral, weights = [corral[k] for k in keep], [moved[k] for k in keep]


def _affine_nearest(rows: Rows) -> list[Any]:
    """Weights, summing to 1, of the point of the affine hull nearest to the origin.

    They solve  G c + mu 1 = 0, 1.c = 1  with G the products of the rows.
    """
    k = len(rows)
    Z = fmpz_mat(rows)
    gram: list[list[Any]] = (Z * Z.transpose()).tolist()
    system: list[list[Any]] = [[*line, 1] for line in gram] + [[1] * k + [0]]
    found = fmpz_mat(system).solve(fmpz_mat(k + 1, 1, [0] * k + [1]))
    return [found[i, 0] for i in range(k)]


def _integers(weights: Sequence[Any]) -> Any:
    """Weights times their common denominator, as one line."""
    common = lcm(*(int(c.q) for c in weights))
    return fmpz_mat(1, len(weights), [int(c.p) * (common // int(c.q)) for c in weights])


def _most_wrong(scores: list[int], bits: list[int]) -> int:
    """The row farthest on the wrong side, measured by its own size, roughly."""
    top = max(abs(s).bit_length() - b for s, b in zip(scores, bits, strict=True))

    def depth(k: int) -> float:
        s, shift = scores[k], max(abs(scores[k]).bit_length() - 60, 0)
        mantissa, exponent = frexp(float(s >> shift))
        return ldexp(mantissa, max(exponent + shift - bits[k] - top, -1000))

    wrong = [k for k, s in enumerate(scores) if s <= 0]
    return min(wrong, key=depth)
