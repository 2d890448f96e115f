"""Cancelling: smallest sets of rays with positive weights that cancel exactly.

If sum_i c_i z_i = 0 with every c_i > 0, no hyperplane has w.z_i > 0 for all these rows [Gordan],
so at least one of them must go. Linear programs propose the sets; the weights are solved for
over the rationals, and whatever floats cannot see is left to :func:`separability`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from flint import fmpz_mat

from rosenblatt.data.exact import to_integers
from rosenblatt.errors import UndecidedError
from rosenblatt.prove import checker
from rosenblatt.prove.certificate import Overlapping, QuasiSeparable, Separable
from rosenblatt.prove.removal.programs import SOME, Circuits, Elastic
from rosenblatt.prove.removal.rays import Rays
from rosenblatt.prove.separability import separability
from rosenblatt.prove.separability.linear_programs import vertex
from rosenblatt.prove.separability.scaling import signed_rows

Array = npt.NDArray[Any]
Number = float | Fraction
ALMOST = 1e-7  # HiGHS's own tolerance: which of the two answers to try first


@dataclass(frozen=True)
class Plane:
    """A hyperplane that is strictly right, exactly, about all rays asked for."""

    w: tuple[Number, ...]
    b: Number


@dataclass(frozen=True)
class Circuit:
    """Rays whose first rows cancel, with these weights."""

    rays: tuple[int, ...]
    weights: tuple[Fraction, ...]


def signs(rays: Rays, at: Array, w: Sequence[Number], b: Number) -> Array:
    """The exact sign of w.z for the first row on each of these rays."""
    return checker.signs(rays.heads(at), w, b, rays.intercept)


class Finder:
    """Asks whether some of the rays are separable; the answer is a proof of yes or of no."""

    def __init__(self, rays: Rays) -> None:
        self.rays = rays
        self.elastic = Elastic(rays.Z, rays.mass)
        self._circuits: Circuits | None = None
        self._squares: Array | None = None

    @property
    def circuits(self) -> Circuits:
        """Over the rays that the elastic program has found to matter so far."""
        at = self.elastic.at
        if self._circuits is None or len(at) > 1.2 * len(self._circuits.at):
            self._circuits = Circuits(self.rays.Z, at)
        return self._circuits

    def ask(self, alive: Array, cost: Array, until: float) -> Plane | Circuit | None:
        """Are the rays in the mask `alive` separable? None if time ran out."""
        found = self.elastic.solve(np.where(alive, self.rays.mass, 0), until - time.perf_counter())
        ways = [self._plane, self._circuit]
        if found is not None and found[0] > ALMOST:
            ways.reverse()
        for way in ways:
            answer = way(alive, cost, found, until)
            if answer is not None:
                return answer
        return self._by_certificate(np.flatnonzero(alive), until)

    def _plane(self, alive: Array, cost: Array, found: Any, until: float) -> Plane | None:
        return None if found is None else self.plane(np.flatnonzero(alive), found[1])

    def plane(self, at: Array, v: Array) -> Plane | None:
        """The proposal v as a hyperplane, if it is right about all these rays."""
        w, b = self.rays.weights(v)
        if not np.isfinite([*w, b]).all() or (signs(self.rays, at, w, b) <= 0).any():
            return None
        return Plane(tuple(w), b)

    def _circuit(self, alive: Array, cost: Array, found: Any, until: float) -> Circuit | None:
        return self.circuit(alive, cost, until)

    def circuit(self, alive: Array, cost: Array, until: float) -> Circuit | None:
        """A cancelling set of low cost among the rays in the mask; None if none was found."""
        at = self.circuits.solve(alive, cost, until - time.perf_counter())
        return None if at is None else self.exactly(at)

    def around(
        self, h: int, alive: Array, out: Array, until: float, neighbours: int = 3
    ) -> Circuit | None:
        """A short cancelling set with ray h and its neighbours in the mask that are not `out`.

        Minimise sum_g c_g |x_g - x_h|^2 with sum_g c_g z_g = -z_h: near rays are cheap, so few
        features differ among those that are used. `neighbours` is how many a column.
        """
        Z, pool = self.rays.Z, np.flatnonzero(alive & ~out)
        if not pool.size:
            return None
        distance = self._distances(h)[pool]
        few = min(neighbours * Z.shape[1], pool.size)
        near = np.argpartition(distance, few - 1)[:few]
        target = -self._dense(h)
        cost = np.maximum(distance[near], 0.0) + 1e-3
        c = vertex(Z[pool[near]], target, cost, until - time.perf_counter())
        return None if c is None else self.exactly(np.append(pool[near][c > SOME], h))

    def _dense(self, g: int) -> Array:
        row = self.rays.Z[[g]]
        return np.asarray(row.toarray() if sp.issparse(row) else row).ravel()

    def _distances(self, h: int) -> Array:
        """Squared distances of all points from the point of ray h (labels aside)."""
        Z, label = self.rays.Z, self.rays.problem.y[self.rays.first].astype(np.float64)
        if self._squares is None:
            self._squares = np.ravel((Z * Z).sum(axis=1))
        inner = (Z @ self._dense(h)) * label * label[h]
        return np.asarray(self._squares + self._squares[h] - 2 * inner)

    def exactly(self, at: Array) -> Circuit | None:
        """Positive weights with which these rays cancel, or some of them."""
        rays = self.rays
        whole, exponents = to_integers(signed_rows(rays.heads(at).whole(), rays.intercept))
        weights = _only_dependence(whole)
        if weights is None:
            answer = self._by_certificate(at, time.perf_counter() + 1.0)
            return answer if isinstance(answer, Circuit) else None
        return _primitive(
            at.tolist(), [c * Fraction(2) ** e for c, e in zip(weights, exponents, strict=True)]
        )

    def _by_certificate(self, at: Array, until: float) -> Plane | Circuit | None:
        """The exact decision about these rays, however floats may look at them."""
        rays = self.rays
        X, y = rays.problem.X[rays.first[at]], rays.problem.y[rays.first[at]]
        seconds = until - time.perf_counter()
        if not rays.intercept and len(at) and len(set(y.tolist())) == 1:
            X, y = _one_mirrored(X, y)  # z stays what it is
        if len(set(y.tolist())) < 2 or seconds <= 0:
            return self._of_one_class(at) if len(set(y.tolist())) < 2 else None
        try:
            found = separability(X, y, fit_intercept=rays.intercept, max_seconds=seconds)
        except UndecidedError:
            return None
        if isinstance(found, Separable):
            return Plane(found.w, found.b)
        assert isinstance(found, (Overlapping, QuasiSeparable))
        inside = [int(at[k]) for k in found.witness.rows]
        return _primitive(inside, list(found.witness.weights))

    def _of_one_class(self, at: Array) -> Plane | Circuit | None:
        """One class and an offset: the offset alone. Without offset: one row, or none."""
        rays = self.rays
        d = rays.problem.n_features
        if rays.intercept:
            side = float(rays.problem.y[rays.first[at[0]]]) if len(at) else 1.0
            return Plane((0.0,) * d, side)
        if not len(at):
            return Plane((0.0,) * d, 0.0)
        row = rays.problem.X[[int(rays.first[at[0]])]]
        x = np.asarray(row.toarray() if sp.issparse(row) else row, dtype=np.float64)[0]
        if not x.any():
            return Circuit((int(at[0]),), (Fraction(1),))
        return Plane(tuple((x * float(rays.problem.y[rays.first[at[0]]])).tolist()), 0.0)


def _one_mirrored(X: Any, y: Array) -> tuple[Any, Array]:
    """The first row and its label both negated."""
    flip = np.ones(len(y))
    flip[0] = -1.0
    mirrored = sp.csr_array(sp.diags_array(flip) @ X) if sp.issparse(X) else X * flip[:, None]
    return mirrored, (y * flip).astype(np.int8)


def _only_dependence(rows: list[list[int]]) -> list[Fraction] | None:
    """Positive weights with which the rows cancel, if there is just one way to."""
    space, nullity = fmpz_mat(rows).transpose().nullspace()
    if int(nullity) != 1:
        return None
    weights = [Fraction(int(space[k, 0])) for k in range(len(rows))]
    if all(c < 0 for c in weights):
        weights = [-c for c in weights]
    return weights if all(c > 0 for c in weights) else None


def _primitive(rays: Sequence[int], weights: Sequence[Fraction]) -> Circuit:
    """The same weights as coprime integers, rays in order."""
    common = lcm(*(c.denominator for c in weights))
    whole = [int(c * common) for c in weights]
    divisor = gcd(*whole) or 1
    pairs = sorted(zip(rays, whole, strict=True))
    return Circuit(tuple(g for g, _ in pairs), tuple(Fraction(c // divisor) for _, c in pairs))
