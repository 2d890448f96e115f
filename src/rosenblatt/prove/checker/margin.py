"""Margin: whether a hyperplane has a margin, and whether none has more.

A point p = sum c_i z_i bounds every margin from above by its norm if c_i > 0 and sum c_i = 1: a
hyperplane of norm 1 with margin m has w.z_i >= m for all i, so m <= w.p <= ||p||. Where the offset
is free, z_i = y_i x_i, the weights of each class sum to 1, offsets drop out of w.p, and
2 m <= w.p <= ||p||. If moreover all rows have p.z_i >= ||p||^2 (or, in each class, the score of
that class's own share of p), the hyperplane of p has the margin ||p||, which is the largest.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from rosenblatt.data.cone import Cone, ConeBlock
from rosenblatt.data.exact import entries
from rosenblatt.prove.checker.digest import Piece, together
from rosenblatt.prove.checker.limbs import as_float64
from rosenblatt.prove.checker.limits import indices
from rosenblatt.prove.checker.norms import Floor
from rosenblatt.prove.checker.signs import Plane, part_signs, plane_of, plane_problems

Vector = list[Fraction]


def margin_problems(claim: Any, cone: Cone) -> tuple[list[str], str]:
    """What is not true of a `MaxMargin`, in words, and the digest of the data: one reading."""
    said = _form_problems(claim, cone)
    floor, tight = None, None
    if not said:
        said, tight = _upper_problems(claim, cone)
        if claim.lower > -inf:
            inside = claim.augmented
            plane = plane_of(claim.w.tolist(), claim.b, claim.fit_intercept)
            floor = Floor.of(plane, claim.lower, inside)
            said += [] if floor is not None else ["a hyperplane of weights 0 has no margin"]
    found = cone.map(_scan, floor, tight)
    if not all(cleared for cleared, _, _ in found):
        said.append(f"the margin of its hyperplane is less than {claim.lower!r}")
    if not all(reached for _, reached, _ in found):
        said.append("the point of the proof is not the smallest, so a margin may be larger")
    return said, together([piece for _, _, piece in found], cone.n_rows, cone.n_features)


def _form_problems(claim: Any, cone: Cone) -> list[str]:
    said = plane_problems(claim.w.tolist(), claim.b, cone.n_features, claim.fit_intercept)
    if not said and claim.augmented and not claim.fit_intercept:
        said.append("there is an offset, though the hyperplane is to pass through the origin")
    if claim.lower != claim.lower or claim.lower == inf or not claim.upper >= 0:
        said.append("a bound is not a number")
    return said


def _upper_problems(claim: Any, cone: Cone) -> tuple[list[str], tuple[Plane, Plane] | None]:
    """What is not true of the upper bound; for `square`, the planes that each class must clear."""
    at, weights = claim.proof.rows, claim.proof.weights
    if not at or len(at) != len(weights) or not indices(at, cone.n_rows):
        return ["a row of the proof does not exist, or is repeated"], None
    if min(weights) <= 0:
        return ["a weight of the proof is not positive"], None
    groups = 2 if claim.fit_intercept and not claim.augmented else 1
    shares = _shares(cone, at, weights, claim.augmented)
    totals = [share[-1] for share in shares]
    if totals != [1, 1] if groups == 2 else sum(totals) != 1:
        return ["the weights of the proof do not sum to 1"], None
    point = [a - b for a, b in zip(*(share[:-1] for share in shares), strict=True)]
    square = sum((v * v for v in point), Fraction(0)) / groups**2
    if claim.upper < inf and Fraction(claim.upper) ** 2 < square:
        return [f"the rows of the proof do not bound margins by {claim.upper!r}"], None
    if claim.square is None:
        return [], None
    if claim.square != square:
        return ["the square of the largest margin is another"], None
    if groups == 2:  # scores of the points of both hulls
        ends = [_dot(point, share[:-1]) for share in shares]
        return [], (_plane(point, -ends[0], False), _plane(point, -ends[1], False))
    level = square
    return [], tuple(_plane(point, -y * level, claim.augmented) for y in (1, -1))  # type: ignore[return-value]  # two


def _shares(cone: Cone, at: Any, weights: Any, constant: bool) -> list[Vector]:
    """Of each class, +1 first: sum weight_i (x_i, 1) without signs, then the sum of the weights."""
    block = cone.take(at)
    X = as_float64(block.X)
    width = cone.n_features + int(constant)
    sums = [[Fraction(0)] * (width + 1) for _ in range(2)]
    for k, c in enumerate(weights):
        mine = sums[int(block.sign[k] < 0)]
        for j, m, e in entries(X, k):
            mine[j] += c * m * Fraction(2) ** e
        if constant:
            mine[width - 1] += c
        mine[width] += c
    return sums


def _plane(point: Vector, shift: Fraction, constant: bool) -> Plane:
    """The hyperplane of a point, its offset shifted."""
    if constant:
        return Plane(point[:-1], point[-1] + shift)
    return Plane(point, shift)


def _dot(a: Vector, b: Vector) -> Fraction:
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def _scan(
    block: ConeBlock, floor: Floor | None, tight: tuple[Plane, Plane] | None
) -> tuple[bool, bool, Piece]:
    """Whether all rows have the margin, and clear the planes of their class; their digest."""
    cleared = floor is None or floor.cleared(block)
    reached = tight is None or all(
        bool((part_signs(_of_class(block, y), plane) >= 0).all())
        for y, plane in zip((1, -1), tight, strict=True)
    )
    return cleared, reached, Piece.of(block)


def _of_class(block: ConeBlock, sign: int) -> ConeBlock:
    mine = np.flatnonzero(block.sign == sign)
    return block.part(mine)
