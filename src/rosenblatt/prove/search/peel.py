"""Peel: features that split off rows all by themselves.

With an offset: if no row of class +1 has x_j < t and none of class -1 has x_j > t (or the other
way round), the hyperplane x_j = t errs nowhere and splits off every row with x_j != t. The rows
left all have x_j = t, so the feature tells nothing more about them, and another one may now split
off some of the rest. Without an offset the same holds with t = 0 for y_i x_ij >= 0. Sparse data,
counts and categories are full of such features; looking for them costs a few readings.

The hyperplanes of later rounds err on rows split off before. With a large enough multiple of the
earlier ones their sum errs nowhere, and splits off all of these rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.chunks import Kept, Part
from rosenblatt.prove.search.cone import Array, Cone, dense
from rosenblatt.prove.search.limits import UNLIMITED, Limits

SAMPLE = 2_000
MOST_ROUNDS = 50


@dataclass(frozen=True, eq=False)
class Round:
    """Features, and on which side of `at` the class +1 is."""

    features: npt.NDArray[np.int64]
    sides: Array
    at: Array

    def features_sides_at(self) -> Iterator[tuple[int, float, float]]:
        return zip(self.features.tolist(), self.sides.tolist(), self.at.tolist(), strict=True)


@dataclass(frozen=True, eq=False)
class Peeled:
    """All rounds, and what they left.

    rounds_of : the number of the round, from 1, that split off a row, or 0 if it is left; None
        if there was no round
    features : which features still differ among the rows left
    labels : which labels they have
    """

    rounds: tuple[Round, ...]
    rounds_of: Kept | None
    features: npt.NDArray[np.bool_]
    labels: tuple[int, ...]

    @classmethod
    def nothing(cls, cone: Cone) -> Peeled:
        return cls((), None, np.ones(cone.rows.n_features, dtype=bool), (-1, 1))

    def extended(
        self,
        cone: Cone,
        w: list[Fraction],
        exactly: bool = False,
        limits: Limits = UNLIMITED,
    ) -> list[Fraction]:
        """w, which is right on the rows left, with multiples that make it right on the others.

        How large the multiples must be is estimated in floats, or found `exactly`. Time is
        checked before each round and, if exactly, after each part.
        """
        w = list(w)
        powers = [Fraction(2) ** e for e in cone.exponents.tolist()]
        near = np.array([_float(x / q) for x, q in zip(w, powers, strict=True)])
        for number, one in reversed(list(enumerate(self.rounds, 1))):
            limits.check_time()
            split = self.rounds_of, number, one
            if exactly:
                power = 1
                for found in cone.rows.each(_exact_power, *split, w, powers):
                    limits.check_time()
                    power = max(power, found)
            else:
                power = _power(list(cone.rows.each(_need, *split, near, cone.exponents)))
            for j, side, at in one.features_sides_at():
                step = int(side) * Fraction(2) ** power * powers[j]
                w[j] += step
                near[j] = _float(w[j] / powers[j])
                if at:
                    w[-1] -= step * Fraction(at)
            near[-1] = _float(w[-1] / powers[-1])
        return w


def peel(cone: Cone, limits: Limits = UNLIMITED) -> Peeled:
    """Round after round, until no feature splits off anything."""
    nothing = Peeled.nothing(cone)
    if _ruled_out(cone):
        return nothing
    rounds: list[Round] = []
    rounds_of: Kept | None = None
    while True:
        limits.check_time()
        low, high = _ends(cone, rounds_of)
        features = low.min(axis=0) < high.max(axis=0)
        if not cone.intercept:
            features |= np.isfinite(low).any() & (low.min(axis=0) != 0)
        labels = tuple(y for y, there in zip((-1, 1), np.isfinite(low[:, 0]), strict=True) if there)
        found = _one_round(low, high, cone.intercept) if len(labels) == 2 else None
        if found is None or len(rounds) == MOST_ROUNDS:
            return Peeled(tuple(rounds), rounds_of, features, labels)
        rounds.append(found)
        rounds_of = cone.rows.kept(_after_round, rounds_of, found, len(rounds))


def is_left(part: Part, rounds_of: Array | None) -> npt.NDArray[np.bool_]:
    """Which rows of a part no round split off."""
    return np.ones(len(part), dtype=bool) if rounds_of is None else rounds_of == 0


def _ruled_out(cone: Cone) -> bool:
    """Whether a sample of rows shows that no feature splits off anything.

    Dense data are mostly so, and then this is all that peeling costs.
    """
    found = cone.rows.each(_rules_out, cone.intercept)
    return any(found) if cone.rows.apart else next(found)


def _rules_out(part: Part, intercept: bool) -> bool:
    """Whether the first rows of a part show it."""
    n = min(len(part), SAMPLE)
    if len(np.unique(part.y[:n])) < 2:
        return False
    low, high = _part_ends(part.X[:n], part.y[:n], np.ones(n, dtype=bool))
    splits, _, _ = _splitting(low, high, intercept)
    varies = low.min(axis=0) < high.max(axis=0)
    return bool(varies.all() and not splits.any())


def _one_round(low: Array, high: Array, intercept: bool) -> Round | None:
    """The features that split off rows, all at once: none of them errs on any row left."""
    splits, sides, at = _splitting(low, high, intercept)
    features = np.flatnonzero(splits)
    return Round(features, sides[features], at[features]) if features.size else None


def _after_round(part: Part, rounds_of: Array | None, one: Round, number: int) -> Array:
    """`rounds_of` with the rows that this round splits off."""
    new = np.zeros(len(part), np.int8) if rounds_of is None else rounds_of.copy()
    new[(new == 0) & _differ(part.X, one.features, one.at)] = number
    return new


def _ends(cone: Cone, rounds_of: Kept | None) -> tuple[Array, Array]:
    """Smallest and largest entries of each feature for either class, -1 first.

    inf and -inf for a class of which no row is left.
    """
    low, high = zip(*cone.rows.each(_ends_left, rounds_of), strict=True)
    return np.minimum.reduce(low), np.maximum.reduce(high)


def _ends_left(part: Part, rounds_of: Array | None) -> tuple[Array, Array]:
    return _part_ends(part.X, part.y, is_left(part, rounds_of))


def _part_ends(X: Any, y: Array, left: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    d = X.shape[1]
    low, high = np.full((2, d), np.inf), np.full((2, d), -np.inf)
    for k, label in enumerate((-1, 1)):
        rows = np.flatnonzero((y == label) & left)
        if rows.size:
            part = X[rows]
            low[k] = dense(part.min(axis=0)).ravel()
            high[k] = dense(part.max(axis=0)).ravel()
    return low, high


def _splitting(low: Array, high: Array, intercept: bool) -> tuple[Array, Array, Array]:
    """Which features split off rows, the side of class +1 (-1 or +1), and where."""
    if not intercept:
        varies = (low.min(axis=0) < 0) | (high.max(axis=0) > 0)
        up, down = (low[1] >= 0) & (high[0] <= 0), (high[1] <= 0) & (low[0] >= 0)
        return (up | down) & varies, np.where(up, 1.0, -1.0), np.zeros(low.shape[1])
    varies = low.min(axis=0) < high.max(axis=0)
    up, down = low[1] >= high[0], high[1] <= low[0]
    above, below = np.where(up, low[1], low[0]), np.where(up, high[0], high[1])
    middle = below + (above / 2 - below / 2)  # in a gap all rows are split off
    return (up | down) & varies, np.where(up, 1.0, -1.0), np.clip(middle, below, above)


def _differ(X: Any, features: Array, at: Array) -> Array:
    """Which rows have x_j != at_j for one of the features."""
    part = X[:, features]
    if not sp.issparse(part):
        return np.asarray((part != at).any(axis=1))
    part = sp.csr_array(part)
    row = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
    same = part.data == at[part.indices]
    equal = np.bincount(row[same & (at[part.indices] != 0)], minlength=part.shape[0])
    other = np.bincount(row[~same], minlength=part.shape[0])
    return np.asarray((other > 0) | (equal < np.count_nonzero(at)))


def _power(needs: list[float]) -> int:
    """The power of two by which the round outweighs w on its rows."""
    factor = float(np.max(needs))
    return int(np.frexp(factor)[1]) + 1 if 0 < factor < np.inf else 1


def _need(
    part: Part, rounds_of: Array, number: int, one: Round, near: Array, exponents: Array
) -> float:
    """How many times the round, w being near (of scaled columns), on rows of the part."""
    part = _split_off(part, rounds_of, number)
    with np.errstate(all="ignore"):
        need = _losses(part, np.ldexp(near, exponents)) / _gains(part, one, exponents)
        return float(np.max(need, initial=0.0))


def _split_off(part: Part, rounds_of: Array, number: int) -> Part:
    rows = np.flatnonzero(rounds_of == number)
    return Part(-1, part.X[rows], part.y[rows])


def _gains(part: Part, one: Round, exponents: Array) -> Array:
    """sum_j scale_j |x_j - at_j| of these rows."""
    scale = np.ldexp(1.0, exponents[one.features])
    X = part.X[:, one.features]
    if sp.issparse(X):
        signed = X @ (one.sides * scale) - float(one.sides @ (scale * one.at))
        return np.asarray(np.abs(signed))
    return np.asarray(np.abs(X.astype(np.float64) - one.at) @ scale)


def _losses(part: Part, w: Array) -> Array:
    """-w.z_i of these rows, roughly."""
    d = part.X.shape[1]
    raw = part.X @ w[:d] + (w[-1] if len(w) > d else 0.0)
    return np.asarray(-raw * part.y)


def _exact_power(
    part: Part,
    rounds_of: Array,
    number: int,
    one: Round,
    w: list[Fraction],
    powers: list[Fraction],
) -> int:
    """The power over the rationals, row by row, on rows of the part."""
    part, most = _split_off(part, rounds_of, number), Fraction(1)
    for x, label in zip(dense(part.X).astype(np.float64).tolist(), part.y.tolist(), strict=True):
        row = [Fraction(v) for v in x]
        row = row if len(w) == len(row) else [*row, Fraction(1)]
        loss = -int(label) * sum((c * v for c, v in zip(w, row, strict=True) if c), Fraction(0))
        gain = sum(
            (powers[j] * abs(row[j] - Fraction(at)) for j, _, at in one.features_sides_at()),
            Fraction(0),
        )
        most = max(most, loss / gain)
    return most.numerator.bit_length() - most.denominator.bit_length() + 2


def _float(value: Fraction) -> float:
    return float(value) if abs(value) < 2**1023 else np.inf
