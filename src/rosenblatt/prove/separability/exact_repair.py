"""Exact weights and hyperplanes from rows that floats propose as cancelling.

One rational system makes the float weights exact, another puts the hyperplane through the rows.
Where floats mislead, the rows are decided over the rationals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpz_mat

from rosenblatt.data.exact import (
    combination,
    common_integers,
    fractions,
    independent,
    integer_residues,
    primitive,
)
from rosenblatt.prove.certificate import Combination
from rosenblatt.prove.limits import Limits
from rosenblatt.prove.separability.exact_decision import decide
from rosenblatt.prove.separability.linear_programs import CircuitProgram, vertex

Array = npt.NDArray[Any]
Rows = list[list[int]]
Weights = dict[int, Fraction]  # row number: weight of z_i, positive but for rows of equality


@dataclass(frozen=True)
class Face:
    """Rows that are proposed to cancel, as integers, and a basis of them.

    Attributes
    ----------
    at : list of int
        Their numbers; ~i for the negative of row i.
    rows, exponents
        Row k is z_k times 2^exponents[k].
    basis, pivots : list of int
        Positions of rows that form a basis, and pivot columns of these, found modulo a prime: the
        basis might be too small, with a chance of one in the prime; then no proof verifies.
    """

    at: list[int]
    rows: Rows
    exponents: list[int]
    basis: list[int]
    pivots: list[int]

    @classmethod
    def of(cls, at: list[int], rows: Rows, exponents: list[int]) -> Face:
        """The basis is computed."""
        return cls(at, rows, exponents, *independent(integer_residues(rows)))

    @property
    def size(self) -> tuple[int, int]:
        """How many equations a system in the basis has, and the bits of its longest entry."""
        bits = max((abs(v) for k in self.basis for v in self.rows[k]), default=0).bit_length()
        return len(self.basis), bits

    def part(self, chosen: Sequence[int]) -> Face:
        """The rows at these positions."""
        at, rows = [self.at[k] for k in chosen], [self.rows[k] for k in chosen]
        return Face.of(at, rows, [self.exponents[k] for k in chosen])

    def weights(self, values: Sequence[Fraction]) -> Weights:
        """Weights of the z_i by row number, from those of the integer rows; zeros left out.

        A row of equality, whose z and -z have weights, has their difference, which may be 0.
        """
        out: Weights = {}
        for i, c, e in zip(self.at, values, self.exponents, strict=True):
            if c:
                row, sign = (i, 1) if i >= 0 else (~i, -1)
                out[row] = out.get(row, Fraction(0)) + sign * c * Fraction(2) ** e
        return dict(sorted(out.items()))

    def circuit(self) -> list[Fraction] | None:
        """Weights >= 0 with which the rows cancel, if they do so in just one way."""
        if not self.basis:  # rows of zeros cancel by themselves
            return [Fraction(int(k == 0)) for k in range(len(self.rows))]
        if len(self.basis) != len(self.rows) - 1:
            return None
        last = next(k for k in range(len(self.rows)) if k not in set(self.basis))
        return self.completed({last: Fraction(1)})

    def completed(self, given: dict[int, Fraction]) -> list[Fraction] | None:
        """Weights with which all rows cancel, some being given; None if one is < 0.

        The weights of the basis are added to those given.
        """
        target = [Fraction(0)] * len(self.rows[0])
        if given:
            common, *whole = common_integers([1, *given.values()])
            total = fmpz_mat([whole]) * fmpz_mat([self.rows[k] for k in given])
            target = [Fraction(-int(v), common) for v in total.entries()]
        found = combination(self.rows, target, (self.basis, self.pivots))
        if found is None:
            return None
        full = [c + given.get(k, 0) for k, c in enumerate(found)]
        return None if any(c < 0 for c in full) else full

    def hyperplane_through(self, near: Sequence[float], bits: int) -> list[Fraction]:
        """Weights orthogonal to all rows, close to `near`: free entries rounded to `bits` bits."""
        p, pivot = len(near), set(self.pivots)
        top = max((abs(v) for v in near), default=0.0) or 1.0
        unit = Fraction(2) ** (int(np.frexp(top)[1]) - bits)
        free = [0 if j in pivot else round(Fraction(near[j]) / unit) for j in range(p)]
        w = [v * unit for v in free]
        if self.basis:
            chosen = fmpz_mat([self.rows[k] for k in self.basis])
            matrix = fmpz_mat([[self.rows[k][j] for j in self.pivots] for k in self.basis])
            found = matrix.solve(chosen * fmpz_mat(p, 1, free))
            for j, v in zip(self.pivots, fractions(found.entries()), strict=True):
                w[j] = -v * unit
        return w


def combination_of(weights: Weights) -> Combination:
    """The weights as integers without a common divisor."""
    whole = primitive(list(weights.values()))
    return Combination(tuple(weights), tuple(map(Fraction, whole)))


def cancelling_weights(
    face: Face, Z: Array, exponents: Array, limits: Limits
) -> tuple[Weights, Weights] | None:
    """Weights that cancel and span the face, and a smallest set of rows that cancel.

    Z are the rows of the face in floats, times 2^exponents. Floats propose which rows; where they
    fail, the face is decided over the rationals. None: the rows do not all cancel.
    """
    found = _circuit(face, Z, limits)
    if found is not None:
        small, weights = found
        witness = small.weights(weights)
        if len(small.basis) == len(face.basis):
            return witness, witness
        proof = _spanning(face, Z, exponents, limits)
        if proof is not None:
            return face.weights(proof), witness
    decided = decide(face.rows, limits)
    if any(decided.w):
        return None
    return face.weights(decided.weights), face.weights(decided.circuit)


def _circuit(face: Face, Z: Array, limits: Limits) -> tuple[Face, list[Fraction]] | None:
    """Rows of a face that cancel in just one way, with their weights."""
    program, cost = CircuitProgram(Z), np.arange(1.0, len(Z) + 1)
    for tried in (cost, cost[::-1], np.ones(len(Z))):
        limits.check_time()
        found = program.solve(tried, seconds=limits.seconds_left)
        if found is None:
            continue
        small = face.part(np.flatnonzero(found > 0).tolist())
        limits.check_system(*small.size)
        weights = small.circuit()
        if weights is not None:
            limits.check_bits(weights)
            keep = [k for k, c in enumerate(weights) if c]
            small = small if len(keep) == len(weights) else small.part(keep)
            return small, [weights[k] for k in keep]
    return None


def _spanning(face: Face, Z: Array, exponents: Array, limits: Limits) -> list[Fraction] | None:
    """Positive weights on a basis and at most as many other rows [Steinitz], exactly."""
    limits.check_time()
    limits.check_system(*face.size)
    found = vertex(Z, -Z[face.basis].sum(axis=0), np.ones(len(Z)), limits.seconds_left)
    if found is None:
        return None
    basis = set(face.basis)
    given = {
        k: Fraction(float(found[k])) * Fraction(2) ** (int(exponents[k]) - face.exponents[k])
        for k in np.flatnonzero(found > 0).tolist()
        if k not in basis
    }
    full = face.completed(given)
    if full is None or any(full[k] == 0 for k in basis):
        return None
    limits.check_bits(full)
    return full
