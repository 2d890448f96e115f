"""Separability: can two classes be separated by a hyperplane? A verdict with a proof.

With z_i = y_i (x_i, 1), or y_i x_i without offset, exactly one of three holds:

- separable: some w has w.z_i > 0 for all i;
- quasi-separable: some w has w.z_i >= 0 for all i and > 0 for some, none all > 0;
- overlapping: w.z_i >= 0 for all i forces w.z_i = 0 for all i.

A short perceptron run settles most separable data. Otherwise a linear program over a small
working set of rows, maximise sum t_i with w.z_i >= t_i and 0 <= t_i <= 1, splits off what can
be split off (t_i = 1) from what cancels (t_i = 0); rows that its hyperplane gets wrong are
added until none is left. Floats only propose. Weights are repaired over the rationals, and
where that fails the working set is decided by a rational simplex method. No verdict leaves
unverified.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import highspy
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import linprog

from rosenblatt.data.chunks import InMemory
from rosenblatt.data.problem import Problem
from rosenblatt.errors import LabelError, RosenblattError
from rosenblatt.learn.keep import State
from rosenblatt.learn.rules import Update
from rosenblatt.learn.schedule import Schedule
from rosenblatt.learn.training import Stop, train
from rosenblatt.prove import exact
from rosenblatt.prove import verify as checker
from rosenblatt.prove.certificate import (
    Certificate,
    Combination,
    Overlapping,
    QuasiSeparable,
    Separable,
    data_digest,
)

Array = npt.NDArray[Any]
FIRST_PASSES = 20  # of the perceptron, before any linear program
FEW_UPDATES = 200_000


class Undecided(RosenblattError):
    """A limit was reached before a verdict could be proven. It says how far it came."""


def separability(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    max_seconds: float | None = None,
    max_bits: int | None = None,
) -> Certificate:
    """Whether a hyperplane separates the two classes, with a certificate.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
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
    problem = Problem.of(X, y)
    if len(problem.classes) != 2:
        raise LabelError(
            f"separability is a question about two classes, got {len(problem.classes)}: "
            f"{problem.classes[:5].tolist()}. Pick two, or one against the rest."
        )
    return _Search(problem, bool(fit_intercept), max_seconds, max_bits).decide()


@dataclass
class _Search:
    problem: Problem
    intercept: bool
    max_seconds: float | None
    max_bits: int | None

    def __post_init__(self) -> None:
        self.began = time.perf_counter()
        self.rows = InMemory(
            n_rows=self.problem.n_rows,
            n_features=self.problem.n_features,
            classes=self.problem.classes,
            problem=self.problem,
        )
        X = self.problem.X
        self.columns = self.problem.n_features + int(self.intercept)
        # powers of two that bring every column to about 1: exact, and HiGHS needs it
        top = np.maximum(_ends(X.max(axis=0)), -_ends(X.min(axis=0)))
        top = np.append(top, 1.0) if self.intercept else top
        self.scale = _powers(top)
        self.working: list[int] = []
        self.program: _Program | None = None
        self.stage = "before the first pass"

    # ------------------------------------------------------------------ the search

    def decide(self) -> Certificate:
        """Propose in floats, prove in rationals, add what was overlooked, again."""
        found = self._by_perceptron()
        if found is not None:
            return found
        while True:
            self.stage = f"with {len(self.working)} rows in the working set"
            self._check_time()
            found = self._by_program()
            if found is not None:
                return found

    def _check_time(self) -> None:
        if self.max_seconds is not None and time.perf_counter() - self.began > self.max_seconds:
            raise Undecided(
                f"no verdict within {self.max_seconds} s: stopped {self.stage}. Give more time."
            )

    def _check_bits(self, values: Sequence[Fraction]) -> None:
        bits = max(
            (f.numerator.bit_length() + f.denominator.bit_length() for f in values), default=0
        )
        if self.max_bits is not None and bits > self.max_bits:
            raise Undecided(
                f"a proof needs rationals of {bits} bits, more than max_bits={self.max_bits}: "
                f"stopped {self.stage}."
            )

    def _by_perceptron(self) -> Certificate | None:
        """A few passes; they separate, or show which rows are hard."""
        problem = self.problem
        state = State.at(np.zeros(problem.n_features), np.zeros(1), problem.X.dtype)
        stop = Stop(max_iter=FIRST_PASSES, max_updates=FEW_UPDATES, cycle=False)
        update = Update(fit_intercept=self.intercept)
        w = np.zeros(self.columns)
        try:
            trace, *_ = train(problem, update, Schedule(), "average", stop, state)
        except RosenblattError:  # overflow: the program works on scaled columns
            trace = None
        if trace is not None:
            if trace.stop_reason == "separated":
                w = self._joined(state.w, state.b)
                signs = self._signs(w.tolist())
                if (signs > 0).all():
                    return self._separable(w.tolist())
            else:
                w = self._joined(*state.average())
        scores = self._scores(w / self.scale)
        size = 4 * self.columns + 20
        for label in (-1, 1):
            rows = np.flatnonzero(problem.y == label)
            hard = rows[np.argsort(scores[rows], kind="stable")[: size // 2]]
            self._add(hard)
        return None

    def _joined(self, w: Array, b: Array) -> Array:
        w = np.asarray(w, dtype=np.float64)
        return np.append(w, float(b[0])) if self.intercept else w

    def _add(self, rows: Any) -> bool:
        known = set(self.working)
        new = [int(i) for i in rows if int(i) not in known]
        self.working.extend(new)
        return bool(new)

    def _scaled_rows(self, rows: Any) -> Array:
        """z_i with scaled columns, as floats; each row scaled by a power of two as well."""
        Z = self._with_scaled_columns(rows)
        return np.asarray(Z * _powers(np.abs(Z).max(axis=1))[:, None])

    def _with_scaled_columns(self, rows: Any) -> Array:
        part = self.problem.X[rows]
        Z = np.asarray(part.toarray() if sp.issparse(part) else part, dtype=np.float64)
        if self.intercept:
            Z = np.hstack([Z, np.ones((len(Z), 1))])
        return np.asarray(Z * self.scale * self.problem.y[rows][:, None])

    def _scores(self, v: Array) -> Array:
        """y_i (w.x_i + b) in floats for all rows, v being the weights of scaled columns."""
        w, d = v * self.scale, self.problem.n_features
        b = w[-1] if self.intercept else 0.0
        with np.errstate(all="ignore"):
            raw = np.concatenate([part @ w[:d] + b for part in _parts(self.problem.X)])
        return np.asarray(np.nan_to_num(raw * self.problem.y, nan=0.0))

    def _signs(self, w: Sequence[Any]) -> Array:
        d = self.problem.n_features
        b = w[d] if self.intercept else 0.0
        return checker.signs(self.rows, list(w[:d]), b, self.intercept)

    def _by_program(self) -> Certificate | None:
        """One round: the program, then a proof or more rows."""
        if self.program is None:
            self.program = _Program(self.columns)
        self.program.add(self._scaled_rows(self.working[self.program.n_rows :]))
        proposed = self.program.solve()
        if proposed is None:
            return self._by_rationals()
        v, split = proposed
        scores = self._scores(v)
        if split.all():
            wrong = np.flatnonzero(scores <= 0)
            if wrong.size == 0:
                w = (v * self.scale).tolist()
                signs = self._signs(w)
                if (signs > 0).all():
                    return self._separable(w)
                wrong = np.flatnonzero(signs <= 0)
            return None if self._add_worst(wrong, scores) else self._by_rationals()
        cancel = [i for i, t in zip(self.working, split, strict=True) if not t]
        face = exact.Face.of(self.problem.X, self.problem.y, cancel, self.intercept)
        if len(face.basis) < self.columns:
            negative = np.flatnonzero(scores < -1e-9 * np.abs(v).max())
            if negative.size and self._add_worst(negative, scores):
                return None
        proof = self._proof(face)
        if proof is None:
            return self._by_rationals()
        if len(face.basis) == self.columns:
            return self._overlapping(proof, self._witness(face) or proof)
        near = (v * self.scale).tolist()
        for bits in (4, 10, 24, 53, 120):  # the fewest that do keep the rationals short
            w = _primitive(exact.hyperplane_through(face, near, bits))
            signs = self._signs(_floats_if_exact(w))
            if (signs >= 0).all() and (signs[np.array(self.working)[split]] > 0).all():
                return self._on_a_face(face, proof, w, signs)
        if self._add(np.flatnonzero(signs < 0)[: self._batch()]):
            return None
        return self._by_rationals()

    def _on_a_face(
        self, face: exact.Face, proof: Combination, w: list[Fraction], signs: Array
    ) -> Certificate | None:
        """w errs nowhere and the proof's rows lie on it: do they span all that do?"""
        self._check_bits(w)
        on = np.flatnonzero(signs == 0)
        if not checker.spans(self.rows, proof.rows, signs == 0, self.intercept):
            if not self._add_outside(face.at, on):
                return self._by_rationals()
            return None
        witness = self._witness(face) or proof
        if len(on) == self.problem.n_rows:
            return self._overlapping(proof, witness)
        return self._quasi(w, proof, witness, int((signs > 0).sum()))

    def _batch(self) -> int:
        return 2 * int(self.columns) + 20

    def _add_worst(self, rows: Array, scores: Array) -> bool:
        """The rows furthest on the wrong side, and as many at random places among them."""
        order = rows[np.argsort(scores[rows], kind="stable")]
        picked = np.concatenate([order[: self._batch()], order[:: max(1, len(order) // 50)]])
        return self._add(picked)

    def _add_outside(self, cancel: list[int], on: Array) -> bool:
        """Rows on the hyperplane that the proof does not span."""
        Z = self._scaled_rows(np.concatenate([np.array(cancel), on]))
        head, rest = Z[: len(cancel)], Z[len(cancel) :]
        _, sizes, vt = np.linalg.svd(head, full_matrices=True)
        rank = int((sizes > 1e-9 * sizes[0]).sum()) if sizes.size else 0
        left = np.abs(rest @ vt[rank:].T).max(axis=1) if rank < self.columns else np.zeros(len(on))
        order = on[np.argsort(-left, kind="stable")]
        return self._add(order[: self._batch()])

    def _by_rationals(self) -> Certificate | None:
        """Floats cannot see it: decide the working set by rational simplex."""
        self.stage += ", by rational simplex"
        self._check_time()
        X, y = self.problem.X, self.problem.y
        rows, _ = exact.integer_rows(X, y, self.working, self.intercept)
        w, weights = exact.decide(rows, self._check_time)
        self._check_bits([*w, *weights])
        signs = self._signs(w)
        if not any(weights):
            if (signs > 0).all():
                return self._separable(w)
            self._add(np.flatnonzero(signs <= 0)[: self._batch()])
            return None
        cancel = [i for i, c in zip(self.working, weights, strict=True) if c]
        face = exact.Face.of(X, y, cancel, self.intercept)
        proof = _combination(face, [c for c in weights if c])
        if len(face.basis) == self.columns:
            return self._overlapping(proof, self._witness(face) or proof)
        if (signs < 0).any():
            self._add(np.flatnonzero(signs < 0)[: self._batch()])
            return None
        return self._on_a_face(face, proof, w, signs)

    # ------------------------------------------------------------------ the proofs

    def _proof(self, face: exact.Face) -> Combination | None:
        """Positive weights on a basis and at most as many other rows [Steinitz], exactly."""
        if not face.basis:  # rows of zeros cancel by themselves
            return _combination(face, [Fraction(1)] + [Fraction(0)] * (len(face.at) - 1))
        Z = self._scaled_rows(face.at)
        target = -Z[face.basis].sum(axis=0)
        found = _vertex(np.ones(len(Z)), Z.T, target)
        if found is None:
            return None
        factor, chosen = self._row_factors(face), set(face.basis)
        others = {
            k: Fraction(float(c)) * factor[k]
            for k, c in enumerate(found)
            if c > 1e-12 and k not in chosen
        }
        full = exact.completed_weights(face.rows, face.basis, face.pivots, others)
        if full is None:
            return None
        self._check_bits(full)
        return _combination(face, full)

    def _row_factors(self, face: exact.Face) -> list[Fraction]:
        """scaled float row = integer row * factor (column scaling aside)."""
        power = _powers(np.abs(self._with_scaled_columns(face.at)).max(axis=1))
        return [Fraction(p) / Fraction(2) ** e for p, e in zip(power, face.exponents, strict=True)]

    def _witness(self, face: exact.Face) -> Combination | None:
        """A smallest cancelling set: a vertex of the weights that cancel and sum to 1."""
        Z = self._scaled_rows(face.at)
        ones = np.ones(len(Z))
        target = np.append(np.zeros(self.columns), 1.0)
        found = _vertex(np.arange(1.0, len(Z) + 1), np.vstack([Z.T, ones]), target)
        if found is None:
            return None
        small = exact.Face.of(
            self.problem.X,
            self.problem.y,
            [i for i, c in zip(face.at, found, strict=True) if c > 1e-9],
            self.intercept,
        )
        weights = exact.circuit(small)
        return None if weights is None else _combination(small, weights)

    # ------------------------------------------------------------------ the verdicts

    def _common(self) -> dict[str, Any]:
        problem = self.problem
        return {
            "fit_intercept": self.intercept,
            "n_rows": problem.n_rows,
            "n_features": problem.n_features,
            "data": data_digest(self.rows),
            "positive": str(problem.classes[1]),
            "negative": str(problem.classes[0]),
        }

    def _separable(self, w: Sequence[Any]) -> Certificate:
        d = self.problem.n_features
        plain = _floats_if_exact(w)
        vector, b = plain[:d], plain[d] if self.intercept else 0.0
        low, high = _margin_interval(self.problem, vector, b, self.intercept)
        return self._checked(
            Separable(**self._common(), w=vector, b=b, margin=low, margin_bound=high)
        )

    def _overlapping(self, proof: Combination, witness: Combination) -> Certificate:
        return self._checked(Overlapping(**self._common(), proof=proof, witness=witness))

    def _quasi(
        self, w: Sequence[Fraction], proof: Combination, witness: Combination, split: int
    ) -> Certificate:
        d = self.problem.n_features
        plain = _floats_if_exact(_primitive(w))
        vector, b = plain[:d], plain[d] if self.intercept else 0.0
        return self._checked(
            QuasiSeparable(
                **self._common(), w=vector, b=b, proof=proof, witness=witness, n_split=split
            )
        )

    def _checked(self, certificate: Certificate) -> Certificate:
        """No answer leaves unverified."""
        wrong = certificate._untrue(self.rows)
        if wrong:
            raise Undecided(f"a proof did not verify ({'; '.join(wrong)}): stopped {self.stage}.")
        return certificate


def _ends(values: Any) -> Array:
    return np.asarray(values.toarray() if sp.issparse(values) else values, dtype=np.float64).ravel()


def _parts(X: Any) -> Iterator[Any]:
    """The rows as float64, a few million numbers at a time."""
    step = max(1, (1 << 22) // X.shape[1]) if not sp.issparse(X) else X.shape[0]
    for start in range(0, X.shape[0], step):
        with np.errstate(all="ignore"):
            yield X[start : start + step].astype(np.float64)


def _powers(top: Array) -> Array:
    """Powers of two that bring numbers of these sizes to about 1 (0 stays 0)."""
    exponent = np.frexp(np.where(top > 0, top, 1.0).astype(np.float64))[1]
    return np.asarray(np.ldexp(1.0, np.clip(-exponent, -1000, 1000)))


class _Program:
    """maximise sum t_i with w.z_i >= t_i and 0 <= t_i <= 1, rows added to a warm model."""

    def __init__(self, columns: int) -> None:
        self.columns, self.n_rows = columns, 0
        self.model: Any = highspy.Highs()  # type: ignore[no-untyped-call]  # it has no hints
        self.model.setOptionValue("output_flag", False)
        self.model.setOptionValue("solver", "simplex")
        self.model.changeObjectiveSense(highspy.ObjSense.kMaximize)
        free = np.full(columns, highspy.kHighsInf)
        nothing = np.empty(0, dtype=np.int32)
        self.model.addCols(
            columns, np.zeros(columns), -free, free, 0, nothing, nothing, np.empty(0)
        )

    def add(self, Z: Array) -> None:
        """More rows z_i, each with its own t_i."""
        m = len(Z)
        start = np.zeros(m, dtype=np.int32)
        self.model.addCols(
            m, np.ones(m), np.zeros(m), np.ones(m), 0, start, np.empty(0, np.int32), np.empty(0)
        )
        t = sp.csr_array(
            (-np.ones(m), (np.arange(m), self.n_rows + np.arange(m))), (m, self.n_rows + m)
        )
        rows = sp.hstack([sp.csr_array(Z), t], format="csr")
        self.model.addRows(
            m,
            np.zeros(m),
            np.full(m, highspy.kHighsInf),
            rows.nnz,
            rows.indptr[:-1].astype(np.int32),
            rows.indices.astype(np.int32),
            rows.data,
        )
        self.n_rows += m

    def solve(self) -> tuple[Array, npt.NDArray[np.bool_]] | None:
        """The weights, and which rows are split off (t = 1); None if HiGHS gives up."""
        self.model.run()
        if self.model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        values = np.array(self.model.getSolution().col_value)
        return values[: self.columns], values[self.columns :] > 0.5


def _vertex(cost: Array, A: Array, b: Array) -> Array | None:
    """A vertex of {c >= 0 : A c = b} with small cost, in floats."""
    found = linprog(cost, A_eq=A, b_eq=b, bounds=(0, None), method="highs-ds")
    return np.asarray(found.x) if found.status == 0 else None


def _combination(face: exact.Face, weights: Sequence[Fraction]) -> Combination:
    """Positive weights of the z_i as coprime integers, in the order of the rows."""
    true = exact.unscaled(weights, face.exponents)
    pairs = sorted((i, c) for i, c in zip(face.at, true, strict=True) if c)
    return Combination(tuple(i for i, _ in pairs), tuple(_primitive([c for _, c in pairs])))


def _primitive(values: Sequence[Fraction]) -> list[Fraction]:
    """The same direction in coprime integers."""
    common = lcm(*(v.denominator for v in values))
    whole = [int(v * common) for v in values]
    divisor = gcd(*whole) or 1
    return [Fraction(v // divisor) for v in whole]


def _floats_if_exact(values: Sequence[Any]) -> tuple[Any, ...]:
    """Floats where floats can do it, rationals otherwise."""
    try:
        floats = [float(v) for v in values]
    except OverflowError:
        return tuple(Fraction(v) for v in values)
    if all(np.isfinite(f) and Fraction(f) == v for f, v in zip(floats, values, strict=True)):
        return tuple(floats)
    return tuple(Fraction(v) for v in values)


def _margin_interval(
    problem: Problem, w: Sequence[Any], b: Any, intercept: bool
) -> tuple[float, float]:
    """The margin of this hyperplane, rounded down, and a bound on any, rounded up.

    Half the distance of two points, one of each class's hull, bounds every margin; without
    offset, the norm of any point of the hull of the y_i x_i does.
    """
    top = max(abs(Fraction(v)) for v in (*w, b)) or Fraction(1)
    unit = Fraction(2) ** (top.numerator.bit_length() - top.denominator.bit_length())
    vector, offset = np.array([float(Fraction(v) / unit) for v in w]), float(Fraction(b) / unit)
    X, y = problem.X, problem.y.astype(np.float64)
    error = (len(vector) + 8) * 2.0**-52
    norm, low, start = float(np.linalg.norm(vector)), np.inf, 0
    sums, sizes = np.zeros((2, len(vector))), np.zeros(len(vector))
    with np.errstate(all="ignore"):
        for part in _parts(X):
            label = y[start : start + part.shape[0]]
            start += part.shape[0]
            scores = (part @ vector + offset) * label
            size = abs(part) @ np.abs(vector) + abs(offset)
            low = min(low, float((scores - error * size).min()))
            sums += np.stack([part.T @ (label > 0), part.T @ (label < 0)])
            sizes += np.ravel(abs(part).sum(axis=0))
        low = low / norm * (1 - 1e-12) if norm > 0 else 0.0
        n_positive, n = float((y > 0).sum()), float(len(y))
        if intercept:
            point = (sums[0] / n_positive - sums[1] / (n - n_positive)) / 2
        else:
            point = (sums[0] - sums[1]) / n
        slack = n * 2.0**-52 * float(np.linalg.norm(sizes)) / min(n_positive, n - n_positive)
        high = float(np.linalg.norm(point)) * (1 + 1e-12) + slack
    return (max(low, 0.0) if np.isfinite(low) else 0.0), (high if high == high else np.inf)
