"""Proofs: positive weights with which rows cancel exactly, from a face that floats propose.

One rational system makes float weights exact; where they mislead, the face is decided over the
rationals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from rosenblatt.prove import exact
from rosenblatt.prove.certificate import Combination
from rosenblatt.prove.search import rational
from rosenblatt.prove.search.cone import Array, Cone, dense
from rosenblatt.prove.search.limits import Limits
from rosenblatt.prove.search.program import vertex


@dataclass(frozen=True, eq=False)
class Proofs:
    """Makes proofs about rows of a cone, in the columns that tell rows apart."""

    cone: Cone
    columns: Array
    limits: Limits

    def face(self, at: list[int]) -> exact.Face:
        return exact.Face.of_rows(at, *self.integers(at))

    def integers(self, at: list[int]) -> tuple[exact.Rows, list[int]]:
        """The scaled z_i of rows as integers, in the columns that tell rows apart."""
        part, columns = self.cone.rows.take(at), self.columns
        X = part.X[:, columns[columns < self.cone.rows.n_features]]
        shifts = self.cone.exponents[columns].tolist()
        return exact.integer_rows(X, part.y, range(len(at)), self.cone.intercept, shifts)

    def of(self, face: exact.Face) -> tuple[Combination, Combination] | None:
        """Weights that cancel and span the face, and a smallest set that cancels.

        Floats propose which rows; where they fail, the face is decided over the rationals.
        """
        Z = dense(self.cone.scaled(face.at)[:, self.columns])
        witness = self._circuit(face, Z)
        if witness is not None:
            circuit, rank = witness
            if rank == len(face.basis):
                return circuit, circuit
            proof = self._spanning(face, Z)
            if proof is not None:
                return proof, circuit
        decided = rational.decide(face.rows, self.limits.check_time)
        if any(decided.w):
            return None
        return combination(face, decided.weights), combination(face, decided.circuit)

    def _circuit(self, face: exact.Face, Z: Array) -> tuple[Combination, int] | None:
        """Rows of a face that cancel in just one way, and their rank."""
        cost = np.arange(1.0, len(Z) + 1)
        for tried in (cost, cost[::-1], np.ones(len(Z))):
            self.limits.check_time()
            seconds = self.limits.seconds_left
            found = vertex(Z, np.zeros(Z.shape[1]), tried, sums=True, seconds=seconds)
            if found is None:
                continue
            small = self.face([i for i, c in zip(face.at, found, strict=True) if c])
            weights = exact.circuit(small)
            if weights is not None:
                self.limits.check_bits(weights)
                return combination(small, weights), sum(1 for c in weights if c) - 1
        return None

    def _spanning(self, face: exact.Face, Z: Array) -> Combination | None:
        """Positive weights on a basis and at most as many other rows [Steinitz], exactly."""
        self.limits.check_time()
        total, seconds = -Z[face.basis].sum(axis=0), self.limits.seconds_left
        found = vertex(Z, total, np.ones(len(Z)), seconds=seconds)
        if found is None:
            return None
        factors, basis = self._row_factors(face), set(face.basis)
        others = {
            k: Fraction(float(c)) * factors[k]
            for k, c in enumerate(found)
            if c > 0 and k not in basis
        }
        full = exact.completed_weights(face.rows, face.basis, face.pivots, others)
        if full is None or any(full[k] == 0 for k in basis):
            return None
        self.limits.check_bits(full)
        return combination(face, full)

    def _row_factors(self, face: exact.Face) -> list[Fraction]:
        """scaled float row = integer row * factor."""
        powers = self.cone.row_exponents(face.at)
        return [Fraction(2) ** (p - e) for p, e in zip(powers, face.exponents, strict=True)]


def combination(face: exact.Face, weights: Sequence[Fraction]) -> Combination:
    """Positive weights of the z_i as coprime integers, in the order of the rows."""
    true = exact.unscaled(weights, face.exponents)
    pairs = sorted((i, c) for i, c in zip(face.at, true, strict=True) if c)
    return Combination(tuple(i for i, _ in pairs), tuple(primitive([c for _, c in pairs])))


def primitive(values: Sequence[Fraction]) -> list[Fraction]:
    """The same direction in coprime integers."""
    common = lcm(*(v.denominator for v in values))
    return [Fraction(v) for v in exact.coprime([int(v * common) for v in values])]
