"""Cancelling sets: groups of rows with positive weights whose z cancel exactly.

If sum_i c_i z_i = 0 with every c_i > 0, no hyperplane has w.z_i > 0 for all these rows [Gordan],
so at least one of them must go. Linear programs propose the sets; the weights are solved for
over the rationals, and what floats cannot see is left to `separability`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.exact import primitive
from rosenblatt.errors import UndecidedError
from rosenblatt.prove import checker
from rosenblatt.prove.certificate import Separable
from rosenblatt.prove.offenders.descent import ElasticProgram
from rosenblatt.prove.offenders.groups import Groups, some_rows
from rosenblatt.prove.separability import separability
from rosenblatt.prove.separability.linear_programs import CircuitProgram, vertex
from rosenblatt.prove.separability.scaling import dense

Array = npt.NDArray[Any]
Number = float | Fraction
ALMOST = 1e-7  # HiGHS's own tolerance: which of the two answers to try first
SOME = 1e-9  # a weight that HiGHS means


@dataclass(frozen=True)
class Hyperplane:
    """A hyperplane that is strictly right, exactly, about all groups asked for."""

    w: tuple[Number, ...]
    b: Number


@dataclass(frozen=True)
class CancellingSet:
    """Groups whose first rows cancel, with these weights."""

    groups: tuple[int, ...]
    weights: tuple[Fraction, ...]

    @classmethod
    def of(cls, weights: Mapping[int, Fraction]) -> CancellingSet:
        """From the weights by group, made integers without a common divisor."""
        ordered = sorted(weights)
        whole = primitive([weights[g] for g in ordered])
        return cls(tuple(ordered), tuple(map(Fraction, whole)))


class Finder:
    """Asks whether some of the groups are separable; the answer is a proof of yes or of no."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self.elastic = ElasticProgram(groups.Z, groups.mass)
        self._circuits: tuple[Array, CircuitProgram] | None = None
        self._squares: Array | None = None

    def ask(self, allowed: Array, cost: Array, until: float) -> Hyperplane | CancellingSet | None:
        """Are the groups in the mask `allowed` separable? None if time ran out."""
        found = self.elastic.solve(np.where(allowed, self.elastic.mass, 0.0), until)
        at = np.flatnonzero(allowed)
        if found is not None and found[0] <= ALMOST and (right := self.hyperplane(at, found[1])):
            return right
        return self.circuit(allowed, cost, until) or self.decided(at, until)

    def hyperplane(self, at: Array, v: Array) -> Hyperplane | None:
        """The proposal v as a hyperplane, if it is right about all these groups."""
        w, b = self.unscaled(v)
        right = np.isfinite([*w, b]).all() and (self.signs(w, b)[at] > 0).all()
        return Hyperplane(w, b) if right else None

    def unscaled(self, v: Array) -> tuple[tuple[float, ...], float]:
        """(w, b) of the data from weights of the scaled columns."""
        w = self.groups.scaled.weights(v).tolist()
        return (tuple(w[:-1]), w[-1]) if self.groups.cone.constant else (tuple(w), 0.0)

    def signs(self, w: tuple[Number, ...], b: Number) -> Array:
        """The exact sign of w.z for the first row of every group."""
        cone = self.groups.scaled.cone
        return checker.signs(cone, w, b, cone.constant)

    def circuit(self, allowed: Array, cost: Array, until: float) -> CancellingSet | None:
        """A cancelling set of low cost among the groups in the mask; None if none was found."""
        at, program = self._known_circuits()
        weights = program.solve(cost[at], allowed[at], until - time.perf_counter())
        return None if weights is None else self.exactly(at[weights > SOME], until)

    def _known_circuits(self) -> tuple[Array, CircuitProgram]:
        """Over the groups that the elastic program has found to matter so far."""
        at = self.elastic.at
        if self._circuits is None or len(at) > 1.2 * len(self._circuits[0]):
            self._circuits = at, CircuitProgram(self.groups.Z[at])
        return self._circuits

    def around(
        self, h: int, allowed: Array, until: float, neighbours: int = 3
    ) -> CancellingSet | None:
        """A short cancelling set with group h and its neighbours in the mask.

        Minimise sum_g c_g |x_g - x_h|^2 with sum_g c_g z_g = -z_h: near rows are cheap, so few
        features differ among those that are used. `neighbours` is how many for each column.
        """
        Z, pool = self.groups.Z, np.flatnonzero(allowed)
        if not pool.size:
            return None
        distance = self._distances(h)[pool]
        few = min(neighbours * Z.shape[1], pool.size)
        near = np.argpartition(distance, few - 1)[:few]
        cost = np.maximum(distance[near], 0.0) + 1e-3
        target = -dense(Z[[h]]).ravel()
        c = vertex(Z[pool[near]], target, cost, until - time.perf_counter())
        return None if c is None else self.exactly(np.append(pool[near][c > SOME], h), until)

    def _distances(self, h: int) -> Array:
        """Squared distances of all points from the point of group h (labels aside)."""
        Z, sign = self.groups.Z, self.groups.scaled.cone.whole().sign.astype(np.float64)
        if self._squares is None:
            self._squares = np.ravel((Z * Z).sum(axis=1))
        inner = (Z @ dense(Z[[h]]).ravel()) * sign * sign[h]
        return np.asarray(self._squares + self._squares[h] - 2 * inner)

    def exactly(self, at: Array, until: float) -> CancellingSet | None:
        """Positive weights with which these groups cancel, or some of them."""
        face = self.groups.face(at)
        weights = face.circuit()
        if weights is not None:
            return CancellingSet.of(face.weights(weights))
        found = self.decided(at, until)
        return found if isinstance(found, CancellingSet) else None

    def decided(self, at: Array, until: float) -> Hyperplane | CancellingSet | None:
        """The exact decision about these groups, however floats may see them."""
        if not len(at):
            return Hyperplane((0.0,) * self.groups.cone.n_features, 0.0)
        seconds = until - time.perf_counter()
        if seconds <= 0:
            return None
        part = some_rows(self.groups.scaled.cone, at)
        try:
            found: Any = separability(part, fit_intercept=part.constant, max_seconds=seconds)
        except UndecidedError:
            return None
        if isinstance(found, Separable):
            return Hyperplane(found.w, found.b)
        pairs = zip(found.witness.rows, found.witness.weights, strict=True)
        return CancellingSet.of({int(at[k]): c for k, c in pairs})
