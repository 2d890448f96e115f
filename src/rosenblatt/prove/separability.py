"""Separability: can two classes be separated by a hyperplane? A verdict with a proof.

With z_i = y_i (x_i, 1), or y_i x_i without offset, exactly one of three holds:

- separable: some w has w.z_i > 0 for all i;
- quasi-separable: some w has w.z_i >= 0 for all i and > 0 for some, none all > 0;
- overlapping: w.z_i >= 0 for all i forces w.z_i = 0 for all i.

The search, each step for the rows that the one before left over:

1. a short perceptron run settles most separable data;
2. features that split off rows by themselves are peeled off (:mod:`.peel`);
3. a linear program over a small working set (:class:`.program.Hinge`) either has v.z_i >= 1 for
   all its rows, then rows that v gets wrong are added; or it finds rows that cancel. These go
   on a face: every w that errs nowhere is orthogonal to them. The rest is decided among the
   w orthogonal to the face, until v errs nowhere or all rows lie in the span of the face;
4. floats only propose: one rational system makes the weights of the face exact, another puts
   the hyperplane through it exactly;
5. where that fails the working set is decided over the rationals (:mod:`.rational`).

No verdict leaves unverified.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from rosenblatt.data.chunks import Chunked, Rows, as_rows
from rosenblatt.data.problem import Problem
from rosenblatt.errors import RosenblattError
from rosenblatt.learn.keep import State
from rosenblatt.learn.rules import Update
from rosenblatt.learn.schedule import Schedule
from rosenblatt.learn.training import Stop, train
from rosenblatt.prove import exact, rational
from rosenblatt.prove import verify as checker
from rosenblatt.prove.certificate import (
    Certificate,
    Combination,
    Overlapping,
    QuasiSeparable,
    Separable,
    data_digest,
)
from rosenblatt.prove.cone import Array, Cone, dense, largest, unit
from rosenblatt.prove.peel import Peeled, peel
from rosenblatt.prove.program import Hinge, vertex

PASSES = 10  # of the perceptron, before anything else; more if programs have many columns
CHUNK_PASSES = 4  # where every pass is a reading of the chunks
FEW_UPDATES = 200_000
FLAT = 1e-9  # floats closer than this to the span of a face are proposed to lie in it


class Undecided(RosenblattError):
    """A limit was reached before a verdict could be proven. It says how far it came."""


def separability(
    X: Any,
    y: Any = None,
    *,
    fit_intercept: bool = True,
    max_seconds: float | None = None,
    max_bits: int | None = None,
) -> Certificate:
    """Whether a hyperplane separates the two classes, with a certificate.

    Parameters
    ----------
    X : array, CSR matrix, memory map or frame of shape (n, d)
        Or, with y left out, something that can be iterated again and again (or a function that
        returns it anew) and yields chunks (X, y); they are read several times.
    y : labels of two classes
    fit_intercept : bool, default=True
        Hyperplanes with an offset, or through the origin.
    max_seconds, max_bits : optional
        Give up with `Undecided` after this time, or when a rational needs more bits.

    Examples
    --------
    >>> cert = separability([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> cert.verdict, cert.witness.rows
    ('overlapping', (0, 1, 2, 3))
    >>> bool(cert.verify([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]))
    True
    """
    limits = Limits.starting_now(max_seconds, max_bits)
    return _Search(as_rows(X, y), bool(fit_intercept), limits).decide()


@dataclass
class Limits:
    """How long a search may take and how long its numbers may be; where it stands."""

    deadline: float
    max_seconds: float | None
    max_bits: int | None
    stage: str = "before the first pass"

    @classmethod
    def starting_now(cls, max_seconds: float | None, max_bits: int | None) -> Limits:
        end = np.inf if max_seconds is None else time.perf_counter() + max_seconds
        return cls(end, max_seconds, max_bits)

    @property
    def seconds_left(self) -> float | None:
        return None if self.max_seconds is None else self.deadline - time.perf_counter()

    def check_time(self) -> None:
        if time.perf_counter() > self.deadline:
            raise Undecided(
                f"no verdict within {self.max_seconds} s: stopped {self.stage}. Give more time."
            )

    def check_bits(self, values: Sequence[Fraction]) -> None:
        bits = max(
            (f.numerator.bit_length() + f.denominator.bit_length() for f in values), default=0
        )
        if self.max_bits is not None and bits > self.max_bits:
            raise Undecided(
                f"a proof needs rationals of {bits} bits, more than max_bits={self.max_bits}: "
                f"stopped {self.stage}."
            )


class _Search:
    def __init__(self, rows: Rows, intercept: bool, limits: Limits) -> None:
        self.rows, self.intercept, self.limits = rows, intercept, limits
        limits.check_time()
        self.cone = Cone.of(rows, intercept)
        self.peeled = Peeled.nothing(self.cone)
        self.working: list[int] = []
        self.rng = np.random.default_rng(0)

    def decide(self) -> Certificate:
        limits = self.limits
        w = self._by_perceptron()
        if w is not None and (found := self._separable(w.tolist())):
            return found
        limits.stage = "after a short perceptron run"
        limits.check_time()
        self.peeled = peel(self.cone)
        if found := self._all_peeled():
            return found
        limits.stage = f"with {self.peeled.left.sum()} rows that no feature splits off by itself"
        self._start_working()
        return self._by_programs() or self._by_rationals()

    # ------------------------------------------------------------------ 1: a perceptron

    def _by_perceptron(self) -> Array | None:
        """The weights v of a clean pass; else `self.guess` tells which rows are hard."""
        self.guess = np.zeros(self.cone.n_columns)
        state: State | None = None
        clean = False
        try:
            most = max(FEW_UPDATES, 20 * self.rows.n_rows)
            for _ in range(self._passes()):
                self.limits.check_time()
                moved = 0
                for part in self.rows.parts():
                    problem = Problem(part.X, part.y.astype(np.int8), self.rows.classes)
                    if state is None:
                        state = State.at(np.zeros(problem.n_features), np.zeros(1), part.X.dtype)
                    if part.X.dtype != state.w.dtype:
                        problem = Problem(part.X.astype(state.w.dtype), problem.y, problem.classes)
                    stop = Stop(max_iter=1, cycle=False)
                    update = Update(fit_intercept=self.intercept)
                    trace, *_ = train(problem, update, Schedule(), "average", stop, state)
                    moved += int(trace.updates.sum())
                clean = moved == 0
                if clean or state is None or state.updates > most:
                    break
            assert state is not None
            w, b = (state.w, state.b) if clean else state.average()
        except RosenblattError as e:  # overflow: the programs work on scaled columns
            if isinstance(e, Undecided):
                raise
            return None
        full = np.append(w, b) if self.intercept else w
        self.guess = np.ldexp(full.astype(np.float64), -self.cone.exponents)
        return full.astype(np.float64) if clean else None

    def _passes(self) -> int:
        if isinstance(self.rows, Chunked):
            return CHUNK_PASSES
        return min(max(PASSES, self.cone.n_columns // 20), 1000)

    # ------------------------------------------------------------------ 2: peeling

    def _all_peeled(self) -> Certificate | None:
        """Nothing left, or one class that an offset alone puts on its side."""
        left = np.unique(self.cone.y[self.peeled.left])
        if left.size == 0 or (left.size == 1 and self.intercept):
            w = [Fraction(0)] * self.cone.n_columns
            if left.size:
                w[-1] = Fraction(int(left[0]))
            return self._lifted(w)
        return None

    # ------------------------------------------------------------------ 3: programs

    def _start_working(self) -> None:
        """The rows that the perceptron finds hardest, of either class."""
        scores = self.cone.scores(self.guess)
        size = self._batch
        for label in (-1, 1):
            rows = np.flatnonzero((self.cone.y == label) & self.peeled.left)
            if len(rows) > size:
                rows = rows[np.argpartition(scores[rows], size)[:size]]
            self.working.extend(rows.tolist())

    def _add(self, rows: Array) -> list[int]:
        known = set(self.working)
        new = [i for i in rows.tolist() if i not in known]
        self.working.extend(new)
        return new

    @property
    def columns(self) -> Array:
        """The columns that tell rows apart: features that differ among the rows left, offset.

        Any other is a multiple of the offset on the rows left (without offset, 0).
        """
        kept = self.peeled.features
        found = np.flatnonzero(np.append(kept, True) if self.intercept else kept)
        return found if found.size else np.zeros(1, dtype=np.int64)

    @property
    def _batch(self) -> int:
        return 2 * int(self.peeled.features.sum()) + 20

    def _worst(self, rows: Array, scores: Array) -> Array:
        """The rows furthest on the wrong side, and some at random places among them."""
        if len(rows) <= self._batch:
            return rows
        picked = rows[np.argpartition(scores[rows], self._batch)[: self._batch]]
        return np.unique(np.concatenate([picked, rows[:: max(1, len(rows) // 50)]]))

    def _by_programs(self) -> Certificate | None:
        """Rows that cancel go on the face, until the rest is split off. None: floats are blind."""
        face = self.cone.row_of_zeros()  # it cancels by itself
        while True:
            space = _Space.orthogonal_to(self.cone.scaled(face), self.columns)
            self.limits.stage = (
                f"with {len(self.working)} rows in the working set, {len(face)} of them cancelling"
            )
            found = self._one_face(space)
            if found is None:
                return None
            v, cancel = found
            if not cancel:
                return self._proven(face, v)
            face.extend(cancel)

    def _one_face(self, space: _Space) -> tuple[Array, list[int]] | None:
        """v that errs nowhere off the face (0 if all rows are on it), or rows that cancel there."""
        program = Hinge(space.size, self.limits.seconds_left)
        inside = space.coordinates(self.cone.scaled(self.working))
        at = [i for i, off in zip(self.working, space.off(inside), strict=True) if off]
        program.add(unit(inside[space.off(inside)]))
        while True:
            self.limits.check_time()
            if at:
                solved = program.solve()
                self.limits.check_time()
                if solved is None:
                    return None
                inner, weights = solved
                cancel = [i for i, c in zip(at, weights, strict=True) if c > 1e-7]
                if cancel:
                    return np.zeros(0), cancel
            else:  # is anything off the face at all?
                inner = self.rng.standard_normal(space.size)
            v = space.outside(inner)
            new, inside = self._overlooked(v, space, bool(at))
            if not new:
                return (v if at else 0 * v), []
            at.extend(new)
            program.add(unit(inside))

    def _overlooked(self, v: Array, space: _Space, strict: bool) -> tuple[list[int], Any]:
        """Rows off the face that v does not have on their side; without `strict`, that it moves."""
        if space.size == 0:
            return [], np.empty((0, 0))
        scores = self.cone.scores(v)
        size = FLAT * float(np.abs(v).max())
        wrong = self.peeled.left & (scores <= size if strict else np.abs(scores) > size)
        wrong[self.working] = False
        if strict and space.basis is not None and wrong.any():
            turned = space.outside(self.rng.standard_normal(space.size))  # 0 on the face only
            wrong &= np.abs(self.cone.scores(turned)) > FLAT
        some = self._worst(np.flatnonzero(wrong), scores)
        inside = space.coordinates(self.cone.scaled(some))
        off = space.off(inside)
        return self._add(some[off]), inside[off]

    # ------------------------------------------------------------------ 4: exact proofs

    def _proven(self, face_rows: list[int], v: Array) -> Certificate | None:
        """The certificate that these floats suggest, exactly; None if they mislead."""
        near = v[self.columns].tolist()
        if not face_rows:
            return self._lifted(self._unscaled([Fraction(x) for x in near]))
        face = self._face(face_rows)
        proofs = self._proofs(face)
        if proofs is None:
            return None
        self.limits.check_time()
        if not v.any():
            return self._on_face(proofs, [Fraction(0)] * self.cone.n_columns)
        for bits in (8, 24, 53, 120):  # the fewest that do keep the rationals short
            self.limits.check_time()
            w = exact.hyperplane_through(face, near, bits)
            if found := self._on_face(proofs, self._unscaled(w)):
                return found
        return None

    def _face(self, at: list[int]) -> exact.Face:
        return exact.Face.of_rows(at, *self._integers(at))

    def _integers(self, at: list[int]) -> tuple[exact.Rows, list[int]]:
        """The scaled z_i of rows as integers, in the columns that tell rows apart."""
        part, columns = self.rows.take(at), self.columns
        X = part.X[:, columns[columns < self.rows.n_features]]
        shifts = self.cone.exponents[columns].tolist()
        return exact.integer_rows(X, part.y, range(len(at)), self.intercept, shifts)

    def _unscaled(self, v: Sequence[Fraction]) -> list[Fraction]:
        """Weights of all columns from weights of the scaled ones that tell rows apart."""
        w = [Fraction(0)] * self.cone.n_columns
        for j, c in zip(self.columns.tolist(), v, strict=True):
            w[j] = c * Fraction(2) ** int(self.cone.exponents[j])
        return w

    def _proofs(self, face: exact.Face) -> tuple[Combination, Combination] | None:
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
        return _combination(face, decided.weights), _combination(face, decided.circuit)

    def _circuit(self, face: exact.Face, Z: Array) -> tuple[Combination, int] | None:
        """Rows of a face that cancel in just one way, and their rank."""
        found = vertex(Z, np.zeros(Z.shape[1]), np.arange(1.0, len(Z) + 1), sums=True)
        if found is None:
            return None
        small = self._face([i for i, c in zip(face.at, found, strict=True) if c])
        weights = exact.circuit(small)
        if weights is None:
            return None
        self.limits.check_bits(weights)
        return _combination(small, weights), sum(1 for c in weights if c) - 1

    def _spanning(self, face: exact.Face, Z: Array) -> Combination | None:
        """Positive weights on a basis and at most as many other rows [Steinitz], exactly."""
        found = vertex(Z, -Z[face.basis].sum(axis=0), np.ones(len(Z)))
        if found is None:
            return None
        factors, basis = self._row_factors(face), set(face.basis)
        others = {
            k: Fraction(float(c)) * factors[k] for k, c in enumerate(found) if c and k not in basis
        }
        full = exact.completed_weights(face.rows, face.basis, face.pivots, others)
        if full is None or any(full[k] == 0 for k in basis):
            return None
        self.limits.check_bits(full)
        return _combination(face, full)

    def _row_factors(self, face: exact.Face) -> list[Fraction]:
        """scaled float row = integer row * factor."""
        powers = self.cone.row_exponents(face.at)
        return [Fraction(2) ** (p - e) for p, e in zip(powers, face.exponents, strict=True)]

    def _on_face(
        self, proofs: tuple[Combination, Combination], rest: list[Fraction]
    ) -> Certificate | None:
        """Quasi-separable or overlapping, if `rest` errs nowhere on the rows left."""
        proof, witness = proofs
        if not any(rest) and not self.peeled.rounds:
            return self._verified(Overlapping(**self._common(), proof=proof, witness=witness))
        signs = checker.signs(self.rows, *self._parted(_floats_if_exact(rest)), self.intercept)
        if (signs[self.peeled.left] < 0).any():
            return None
        for exactly in (False, True):
            full = _primitive(self.peeled.extended(self.cone, rest, exactly))
            self.limits.check_bits(full)
            w, b = self._parted(_floats_if_exact(full))
            signs = checker.signs(self.rows, w, b, self.intercept)
            if (signs >= 0).all():
                split = int((signs > 0).sum())
                return self._verified(
                    QuasiSeparable(
                        **self._common(), w=w, b=b, proof=proof, witness=witness, n_split=split
                    )
                    if split
                    else Overlapping(**self._common(), proof=proof, witness=witness)
                )
        return None

    # ------------------------------------------------------------------ 5: rationals

    def _by_rationals(self) -> Certificate:
        """Floats cannot see it: decide working sets over the rationals, however long it takes."""
        while True:
            self.limits.stage = f"with {len(self.working)} rows, over the rationals"
            self.limits.check_time()
            rows, exponents = self._integers(self.working)
            decided = rational.decide(rows, self.limits.check_time)
            self.limits.check_bits([*decided.w, *decided.weights])
            w = self._unscaled(decided.w)
            face = [row for row, c in zip(rows, decided.weights, strict=True) if c]
            if self._add(self._overlooked_exactly(w, face)):
                continue
            at = exact.Face(self.working, rows, exponents, [], [])
            proofs = _combination(at, decided.weights), _combination(at, decided.circuit)
            found = self._on_face(proofs, w) if face else self._lifted(w)
            if found is None:
                raise Undecided(f"a proof did not verify: stopped {self.limits.stage}.")
            return found

    def _overlooked_exactly(self, w: list[Fraction], face: exact.Rows) -> Array:
        """Rows on the wrong side of w, or on it though they are not in the span of the face."""
        signs = checker.signs(self.rows, *self._parted(w), self.intercept)
        if not face:
            wrong = signs <= 0
        else:  # a random direction orthogonal to the face moves what is not in its span
            u = self._unscaled(rational.random_orthogonal(face, self.rng))
            wrong = (signs < 0) | (
                (signs == 0) & (checker.signs(self.rows, *self._parted(u), self.intercept) != 0)
            )
        rows = np.flatnonzero(wrong & self.peeled.left)
        return rows[:: max(1, len(rows) // self._batch)]

    # ------------------------------------------------------------------ the verdicts

    def _lifted(self, rest: list[Fraction]) -> Certificate | None:
        """Separable, if `rest` separates the rows left."""
        for exactly in (False, True):
            w = self.peeled.extended(self.cone, rest, exactly)
            if found := self._separable(w):
                return found
        return None

    def _separable(self, w: Sequence[Any]) -> Certificate | None:
        """The certificate, if w has every row strictly on its side: in floats if they do."""
        for plain in _as_short_as_possible(w):
            vector, b = self._parted(plain)
            if (checker.signs(self.rows, vector, b, self.intercept) > 0).all():
                low, high = checker.margin_interval(self.rows, vector, b, self.intercept)
                return self._verified(
                    Separable(**self._common(), w=vector, b=b, margin=low, margin_bound=high)
                )
        return None

    def _parted(self, w: Sequence[Any]) -> tuple[tuple[Any, ...], Any]:
        d = self.rows.n_features
        return tuple(w[:d]), w[d] if self.intercept else 0.0

    def _common(self) -> dict[str, Any]:
        rows = self.rows
        return {
            "fit_intercept": self.intercept,
            "n_rows": rows.n_rows,
            "n_features": rows.n_features,
            "data": data_digest(rows),
            "positive": str(rows.classes[1]),
            "negative": str(rows.classes[0]),
            "feature_names": rows.feature_names,
        }

    def _verified(self, certificate: Certificate) -> Certificate | None:
        """No answer leaves unverified."""
        return None if certificate._untrue(self.rows) else certificate.described(self.rows)


@dataclass(frozen=True, eq=False)
class _Space:
    """The w that are 0 outside some columns and orthogonal to a face, in coordinates.

    An orthonormal basis of what is orthogonal to the face; None if that is everything.
    """

    n_columns: int
    columns: Array
    basis: Array | None

    @classmethod
    def orthogonal_to(cls, Z: Any, columns: Array) -> _Space:
        if not Z.shape[0]:
            return cls(Z.shape[1], columns, None)
        q, r, _ = scipy.linalg.qr(dense(Z[:, columns]).T, pivoting=True)
        sizes = np.abs(np.diagonal(r))
        rank = int((sizes > FLAT * sizes[0]).sum())
        return cls(Z.shape[1], columns, q[:, rank:])

    @property
    def size(self) -> int:
        return len(self.columns) if self.basis is None else int(self.basis.shape[1])

    def coordinates(self, Z: Any) -> Any:
        inside = Z[:, self.columns]
        return inside if self.basis is None else inside @ self.basis

    def outside(self, v: Array) -> Array:
        w = np.zeros(self.n_columns)
        w[self.columns] = v if self.basis is None else self.basis @ v
        return w

    @staticmethod
    def off(inside: Any) -> npt.NDArray[np.bool_]:
        """Which rows, by their coordinates, are not on the face."""
        return largest(inside) > FLAT


def _combination(face: exact.Face, weights: Sequence[Fraction]) -> Combination:
    """Positive weights of the z_i as coprime integers, in the order of the rows."""
    true = exact.unscaled(weights, face.exponents)
    pairs = sorted((i, c) for i, c in zip(face.at, true, strict=True) if c)
    return Combination(tuple(i for i, _ in pairs), tuple(_primitive([c for _, c in pairs])))


def _primitive(values: Sequence[Fraction]) -> list[Fraction]:
    """The same direction in coprime integers."""
    common = lcm(*(v.denominator for v in values))
    return [Fraction(v) for v in exact.coprime([int(v * common) for v in values])]


def _as_short_as_possible(w: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """w rounded to floats if it has finite ones, then w itself unless that is the same."""
    top = max((abs(Fraction(v)) for v in w), default=Fraction(0)) or Fraction(1)
    power = top.numerator.bit_length() - top.denominator.bit_length()
    unit = Fraction(2) ** power if abs(power) > 900 else Fraction(1)
    floats = tuple(float(Fraction(v) / unit) for v in w)
    yield floats
    if any(Fraction(f) * unit != v for f, v in zip(floats, w, strict=True)):
        yield tuple(_primitive([Fraction(v) for v in w]))


def _floats_if_exact(values: Sequence[Fraction]) -> tuple[Any, ...]:
    """Floats where floats can do it, rationals otherwise."""
    if all(abs(v.numerator) < 2**1000 for v in values):
        floats = tuple(float(v) for v in values)
        if all(Fraction(f) == v for f, v in zip(floats, values, strict=True)):
            return floats
    return tuple(values)
