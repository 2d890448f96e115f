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

from rosenblatt.data.chunks import Part
from rosenblatt.prove.search.cone import Array, Cone, dense

SAMPLE = 2_000
MOST_ROUNDS = 50


@dataclass(frozen=True, eq=False)
class Round:
    """Features, on which side of `at` the class +1 is, and the rows they split off."""

    features: npt.NDArray[np.int64]
    sides: Array
    at: Array
    rows: npt.NDArray[np.int64]

    def features_sides_at(self) -> Iterator[tuple[int, float, float]]:
        return zip(self.features.tolist(), self.sides.tolist(), self.at.tolist(), strict=True)


@dataclass(frozen=True, eq=False)
class Peeled:
    """All rounds, which rows are left, and which features still differ among them."""

    rounds: tuple[Round, ...]
    left: npt.NDArray[np.bool_]
    features: npt.NDArray[np.bool_]

    @classmethod
    def nothing(cls, cone: Cone) -> Peeled:
        n, d = cone.rows.n_rows, cone.rows.n_features
        return cls((), np.ones(n, dtype=bool), np.ones(d, dtype=bool))

    def extended(self, cone: Cone, w: list[Fraction], exactly: bool = False) -> list[Fraction]:
        """w, which is right on the rows left, with multiples that make it right on the others.

        How large the multiples must be is estimated in floats, or found `exactly`.
        """
        w = list(w)
        powers = [Fraction(2) ** e for e in cone.exponents.tolist()]
        near = np.array([_float(x / q) for x, q in zip(w, powers, strict=True)])
        for one in reversed(self.rounds):
            part = cone.rows.take(one.rows)
            if exactly:
                power = _exact_power(part, one, w, powers)
            else:
                power = _power(cone, part, one, near)
            for j, side, at in one.features_sides_at():
                step = int(side) * Fraction(2) ** power * powers[j]
                w[j] += step
                near[j] = _float(w[j] / powers[j])
                if at:
                    w[-1] -= step * Fraction(at)
            near[-1] = _float(w[-1] / powers[-1])
        return w


def peel(cone: Cone) -> Peeled:
    """Round after round, until no feature splits off anything."""
    nothing = Peeled.nothing(cone)
    if _ruled_out(cone):
        return nothing
    rounds: list[Round] = []
    left, features = nothing.left, nothing.features
    while len(rounds) < MOST_ROUNDS and len(np.unique(cone.y[left])) == 2:
        low, high = _ends(cone, left)
        features = low.min(axis=0) < high.max(axis=0)
        if not cone.intercept:
            features |= low.min(axis=0) != 0
        found = _one_round(cone, left, low, high)
        if found is None:
            break
        rounds.append(found)
        left[found.rows] = False
    return Peeled(tuple(rounds), left, features)


def _ruled_out(cone: Cone) -> bool:
    """Whether a sample of rows shows that no feature splits off anything.

    Dense data are mostly so, and then this is all that peeling costs.
    """
    part = next(iter(cone.rows.parts()))
    n = min(len(part), SAMPLE)
    if len(np.unique(part.y[:n])) < 2:
        return False
    low, high = _part_ends(part.X[:n], part.y[:n], np.ones(n, dtype=bool))
    splits, _, _ = _splitting(low, high, cone.intercept)
    varies = low.min(axis=0) < high.max(axis=0)
    return bool(varies.all() and not splits.any())


def _one_round(cone: Cone, left: npt.NDArray[np.bool_], low: Array, high: Array) -> Round | None:
    """The features that split off rows, all at once: none of them errs on any row left."""
    splits, sides, at = _splitting(low, high, cone.intercept)
    features = np.flatnonzero(splits)
    if not features.size:
        return None
    found = []
    for part in cone.rows.parts():
        found.append(part.start + np.flatnonzero(_differ(part.X, features, at[features])))
    rows = np.concatenate(found)
    return Round(features, sides[features], at[features], rows[left[rows]])


def _ends(cone: Cone, left: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    """Smallest and largest entries of each feature for either class, -1 first."""
    d = cone.rows.n_features
    low, high = np.full((2, d), np.inf), np.full((2, d), -np.inf)
    for part in cone.rows.parts():
        a, b = _part_ends(part.X, part.y, left[part.start : part.start + len(part)])
        low, high = np.minimum(low, a), np.maximum(high, b)
    return low, high


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


def _power(cone: Cone, part: Part, one: Round, near: Array) -> int:
    """The power of two by which the round outweighs w on its rows, near v its scaled weights."""
    with np.errstate(all="ignore"):
        need = _losses(cone, part, near) / _gains(cone, part, one)
        factor = float(np.max(need, initial=0.0))
    return int(np.frexp(factor)[1]) + 1 if 0 < factor < np.inf else 1


def _gains(cone: Cone, part: Part, one: Round) -> Array:
    """sum_j scale_j |x_j - at_j| of these rows."""
    scale = np.ldexp(1.0, cone.exponents[one.features])
    X = part.X[:, one.features]
    if sp.issparse(X):
        signed = X @ (one.sides * scale) - float(one.sides @ (scale * one.at))
        return np.asarray(np.abs(signed))
    return np.asarray(np.abs(X.astype(np.float64) - one.at) @ scale)


def _losses(cone: Cone, part: Part, near: Array) -> Array:
    """-w.z_i of these rows, roughly, from weights of the scaled columns."""
    w = np.ldexp(near, cone.exponents)
    raw = part.X @ w[: cone.rows.n_features] + (w[-1] if cone.intercept else 0.0)
    return np.asarray(-raw * part.y)


def _exact_power(part: Part, one: Round, w: list[Fraction], powers: list[Fraction]) -> int:
    """The same over the rationals, row by row."""
    most = Fraction(1)
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
