"""Features that split off rows by themselves, and the sum of their hyperplanes.

With an offset: if no row of class +1 has x_j < t and none of class -1 has x_j > t (or the other
way round), the hyperplane x_j = t errs nowhere and splits off every row with x_j != t. The rows
left all have x_j = t, so the feature tells nothing more about them, and another one may now split
off some of the rest. Without an offset the same holds with t = 0 for y_i x_ij >= 0. Sparse data,
counts and categories are full of such features; looking for them costs a few readings.

The hyperplanes of later rounds err on rows split off before. With a large enough multiple of the
earlier ones their sum errs nowhere, and splits off all of these rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.cone import Cone, ConeBlock
from rosenblatt.data.source import PerBlock
from rosenblatt.prove.checker.ranges import class_ends
from rosenblatt.prove.checker.signs import Plane, part_signs
from rosenblatt.prove.limits import Limits
from rosenblatt.prove.separability.scaling import ScaledCone, scores

Array = npt.NDArray[Any]
SAMPLE = 2_000
MOST_ROUNDS = 50


@dataclass(frozen=True, eq=False)
class Round:
    """Features, and on which side of `at` the rows of sign +1 are."""

    features: npt.NDArray[np.int64]
    sides: Array
    at: Array

    def vector(self, exponents: Array) -> list[Fraction]:
        """Weights of the hyperplane: the sum over the scaled features."""
        w = [Fraction(0)] * len(exponents)
        for j, side, at in zip(self.features.tolist(), self.sides, self.at.tolist(), strict=True):
            w[j] = int(side) * Fraction(2) ** int(exponents[j])
            if at:
                w[-1] -= w[j] * Fraction(at)
        return w


@dataclass(frozen=True, eq=False)
class Splits:
    """All rounds, and what they leave.

    Attributes
    ----------
    rounds : tuple of Round
    rounds_of : PerBlock or None
        The number of the round, from 1, that split off a row, or 0 if it is left; None if there
        was no round.
    features : bool array
        Which features differ among the rows left.
    signs : tuple of int
        Which signs the rows left have.
    """

    rounds: tuple[Round, ...]
    rounds_of: PerBlock | None
    features: npt.NDArray[np.bool_]
    signs: tuple[int, ...]

    @classmethod
    def none(cls, cone: Cone) -> Splits:
        return cls((), None, np.ones(cone.n_features, dtype=bool), (-1, 1))

    def extended(
        self, scaled: ScaledCone, w: list[Fraction], limits: Limits, exactly: bool = False
    ) -> list[Fraction]:
        """w, which is right on the rows left, with multiples that make it right on the others.

        How large the multiples must be is estimated in floats; `exactly`: until they are.
        """
        near = np.array([_float(c) for c in w])
        for number, one in reversed(list(enumerate(self.rounds, 1))):
            limits.check_time()
            split, vector = (self.rounds_of, number), one.vector(scaled.exponents)
            needs = scaled.cone.map(_need, *split, one, near, scaled.exponents)
            need = float(np.max(needs, initial=0.0))
            power, step = int(np.frexp(need)[1]) + 1 if 0 < need < np.inf else 1, 1
            while True:
                factor = Fraction(2) ** power
                found = [c + v * factor if v else c for c, v in zip(w, vector, strict=True)]
                plane = scaled.plane(found)
                if not exactly or all(scaled.cone.map(_is_right, *split, plane)):
                    break
                limits.check_time()
                power, step = power + step, 2 * step
            changed = [j for j, v in enumerate(vector) if v]
            near[changed] = [_float(found[j]) for j in changed]
            w = found
        return w


def single_feature_splits(cone: Cone, limits: Limits) -> Splits:
    """Round after round, until no feature splits off anything."""
    rounds: list[Round] = []
    rounds_of: PerBlock | None = None
    while True:
        limits.check_time()
        low, high = _ends(cone, rounds_of)
        features = low.min(axis=0) < high.max(axis=0)
        if not cone.constant:
            features |= np.isfinite(low).any() & (low.min(axis=0) != 0)
        signs = tuple(s for s, there in zip((-1, 1), np.isfinite(low[:, 0]), strict=True) if there)
        found = _one_round(low, high, cone.constant) if len(signs) == 2 else None
        if found is None or len(rounds) == MOST_ROUNDS:
            return Splits(tuple(rounds), rounds_of, features, signs)
        rounds.append(found)
        rounds_of = cone.map_and_keep(_after_round, rounds_of, found, len(rounds))


def splits_ruled_out(block: ConeBlock, constant: bool) -> bool:
    """Whether the first rows of a block show that no feature splits off anything.

    Dense data are mostly so, and then this is all that the search for splits costs.
    """
    n = min(len(block), SAMPLE)
    if len(np.unique(block.sign[:n])) < 2:
        return False
    low, high = class_ends(block.part(np.arange(n)), np.ones(n, dtype=bool))
    splits, _, _ = _splitting(low, high, constant)
    varies = low.min(axis=0) < high.max(axis=0)
    return bool(varies.all() and not splits.any())


def is_left(block: ConeBlock, rounds_of: Array | None) -> npt.NDArray[np.bool_]:
    """Which rows of a block no round split off."""
    return np.ones(len(block), dtype=bool) if rounds_of is None else rounds_of == 0


def _one_round(low: Array, high: Array, constant: bool) -> Round | None:
    """The features that split off rows, all at once: none of them errs on any row left."""
    splits, sides, at = _splitting(low, high, constant)
    features = np.flatnonzero(splits)
    return Round(features, sides[features], at[features]) if features.size else None


def _after_round(block: ConeBlock, rounds_of: Array | None, one: Round, number: int) -> Array:
    """`rounds_of` with the rows that this round splits off."""
    new = np.zeros(len(block), np.int8) if rounds_of is None else rounds_of.copy()
    new[(new == 0) & _differ(block.X, one.features, one.at)] = number
    return new


def _ends(cone: Cone, rounds_of: PerBlock | None) -> tuple[Array, Array]:
    """Smallest and largest entries of each feature for either sign, -1 first.

    inf and -inf for a sign of which no row is left.
    """
    low, high = zip(*cone.map(_ends_left, rounds_of), strict=True)
    return np.minimum.reduce(low), np.maximum.reduce(high)


def _ends_left(block: ConeBlock, rounds_of: Array | None) -> tuple[Array, Array]:
    return class_ends(block, is_left(block, rounds_of))


def _splitting(low: Array, high: Array, constant: bool) -> tuple[Array, Array, Array]:
    """Which features split off rows, the side of class +1 (-1 or +1), and where."""
    if not constant:
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


def _need(
    block: ConeBlock, rounds_of: Array, number: int, one: Round, w: Array, exponents: Array
) -> float:
    """How many times the round outweighs w on the rows that it split off, in floats."""
    some = _split_off(block, rounds_of, number)
    X = some.X[:, one.features]
    with np.errstate(all="ignore"):
        scale = np.ldexp(1.0, exponents[one.features])
        if sp.issparse(X):
            gains = np.abs(X @ (one.sides * scale) - float(one.sides @ (scale * one.at)))
        else:
            gains = np.abs(X.astype(np.float64) - one.at) @ scale
        return float(np.max(-scores(some, w) / gains, initial=0.0))


def _is_right(block: ConeBlock, rounds_of: Array, number: int, w: Plane) -> bool:
    """Whether w has the rows that the round split off strictly on their side, exactly."""
    return bool((part_signs(_split_off(block, rounds_of, number), w) > 0).all())


def _split_off(block: ConeBlock, rounds_of: Array, number: int) -> ConeBlock:
    rows = np.flatnonzero(rounds_of == number)
    return block.part(rows)


def _float(value: Fraction) -> float:
    return float(value) if abs(value) < 2**1023 else np.inf
