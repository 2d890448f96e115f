"""Coefficients: which maximum-likelihood coefficients are finite, and which are not.

The log-likelihood of a logistic or probit regression is sum_i log F(w.z_i), z_i = y_i (x_i, 1),
with log F strictly concave, increasing to 0 and without bound below. It never falls along w if
w.z_i >= 0 for all i: the cone C of these w decides everything. Let F be the rows that all of C is
orthogonal to. Along every sequence of weights whose likelihood tends to its supremum, w.z_i
converges for the rows of F to the maximum-likelihood fit of F alone, and tends to infinity for
all others. Hence coefficient j

- converges, to the same number each time, if e_j is a combination of the rows of F;
- tends to +inf if e_j = sum_i c_i z_i with c_i >= 0 off F and c_i > 0 for some, that is, if
  w_j >= 0 on C and > 0 somewhere; to -inf likewise;
- can be sent either way if w_j takes both signs on C;
- is not identified if some w with w.z_i = 0 for all i has w_j != 0: collinear columns.

The search: rows that span all rows show which columns are collinear (a few rows, and those outside
their span, until there are none). Directions orthogonal to F are coordinates of C. Linear programs
over a working set find members of C with many signs not seen before, then with one; where there is
none, their multipliers are the weights c_i. Floats only propose: members and weights are made
exact, and where that fails a few rows are decided over the rationals.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from flint import fmpz_mat

from rosenblatt.data.cone import Cone, ConeBlock, as_cone
from rosenblatt.data.exact import (
    combination,
    common_integers,
    floats_if_exact,
    independent,
    integer_residues,
    pivot_columns,
    primitive,
    residues,
)
from rosenblatt.errors import UndecidedError
from rosenblatt.prove.certificate import Certificate, Combination
from rosenblatt.prove.certificate.coefficients import (
    Coefficient,
    Coefficients,
    State,
    items_of,
    names_of,
)
from rosenblatt.prove.checker.coefficients import (
    Facts,
    coefficient_problems,
    directions_of,
    face_of,
    integer_rows,
    plane_of_columns,
)
from rosenblatt.prove.checker.limbs import Vector, with_ones
from rosenblatt.prove.checker.ranges import Ranges
from rosenblatt.prove.checker.signs import Plane, part_signs
from rosenblatt.prove.checker.span import Span
from rosenblatt.prove.limits import Limits
from rosenblatt.prove.separability.decide import verdict_of
from rosenblatt.prove.separability.exact_decision import decide
from rosenblatt.prove.separability.linear_programs import SignProgram
from rosenblatt.prove.separability.scaling import ScaledCone, dense, scores
from rosenblatt.prove.separability.working_set import hardest_rows, lowest, spread

__all__ = ["Coefficient", "Coefficients", "State", "infinite_coefficients"]

Array = npt.NDArray[Any]
Member = tuple[float | Fraction, ...]
MORE_ROWS = 50  # that are looked at first, besides as many as there are columns
BITS = (12, 53)  # to which members are rounded: short numbers first
SMALL = 1e-9  # below this a float program says nothing; exact arithmetic does


def infinite_coefficients(
    X: Any,
    y: Any = None,
    feature_names: Any = None,
    *,
    fit_intercept: bool = True,
    max_seconds: float | None = None,
) -> Coefficients:
    """Decide which coefficients of a logistic or probit regression are infinite, with proof.

    Parameters
    ----------
    X : array, CSR matrix, memory map or frame of shape (n_samples, n_features), or chunks
        Chunks are pairs (X, y), as for :func:`separability`.
    y : array of shape (n_samples,), optional
        Labels of two classes; the second in sorted order is the one whose probability is modelled.
        None if X is chunks.
    feature_names : sequence of str, optional
        Default: the columns of a frame, else x0, x1, ...
    fit_intercept : bool, default=True
        Whether the model has an intercept; it is a coefficient like the others.
    max_seconds : float, optional
        Give up with `UndecidedError` after this time. It says how far it came.

    Returns
    -------
    Coefficients
        `states` maps each name to "finite", "+inf", "-inf", "undetermined" (it can be sent
        either way) or "not identified" (collinear columns; `drop` names columns to leave out,
        `reduced` the states after that). `verify(X, y)` checks all proofs.

    Raises
    ------
    UndecidedError
        If the time is up.
    DataError
        If X is invalid, or holds numbers that float64 rounds, or names are missing.
    LabelError
        If y does not have two classes.

    Examples
    --------
    >>> X = [[0, 1], [1, 2], [0, 3], [0, 2], [0, 4], [0, 3]]
    >>> found = infinite_coefficients(X, [0, 1, 1, 0, 1, 0], ["exposed", "dose"])
    >>> found.states["exposed"], found.states["dose"], found.states["intercept"]
    ('+inf', '+inf', '-inf')
    >>> bool(found.verify(X, [0, 1, 1, 0, 1, 0]))
    True
    """
    limits = Limits.starting_now(max_seconds, None)
    cone = as_cone(X, y, fit_intercept).within(limits.seconds_left)
    names = names_of(cone, feature_names, fit_intercept)
    certificate = verdict_of(cone, limits)
    limits.stage = "looking for collinear columns"
    limits.check_time()
    found, examples = zip(*cone.map(_summary), strict=True)
    ranges, rows = Ranges.joined(found), np.unique([examples[0], np.max(examples, axis=0)])
    _, face = face_of(certificate, cone)
    proof = getattr(getattr(certificate, "proof", None), "rows", ())
    relations, spanning = _collinear(cone, np.union1d(proof, rows[rows >= 0]), ranges, limits)
    kept = [j for j in range(cone.n_columns) if j not in relations]
    directions = directions_of(face.X, kept, fit_intercept, cone.deadline)
    members: list[Member] = []
    bounds: dict[int, Combination] = {}
    if directions:
        signs = _Signs(cone, certificate, ranges, relations, directions, limits)
        members, bounds = signs.settled()
    facts = Facts(relations, ranges)
    result = Coefficients(
        items=items_of(names, facts, certificate, members, bounds),
        certificate=certificate,
        spanning=tuple(spanning),
        members=tuple(members),
    )
    if wrong := coefficient_problems(result, cone, ranges)[0]:
        raise UndecidedError(f"a proof did not verify: {'; '.join(wrong[:3])}.")
    return result


# ---------------------------------------------------------------------- collinear columns


def _collinear(
    cone: Cone, at: Array, ranges: Ranges, limits: Limits
) -> tuple[dict[int, Vector], list[int]]:
    """Relations of columns that others determine exactly, and rows that span all rows.

    A column is dropped if it is a combination of those before it: R's `glm` gives such
    coefficients NA. The offset comes first, then columns with y_i x_ij of one sign in all rows:
    were such a category the reference, the coefficients of all others would be infinite instead.
    """
    order = np.argsort(ranges.one_sided == 0, kind="stable").tolist()
    order = [cone.n_features, *order] if cone.constant else order
    count = max(len(order) - len(at), 0) + MORE_ROWS
    sample = np.random.default_rng(0).choice(cone.n_rows, min(cone.n_rows, count), replace=False)
    at = np.union1d(at, sample).astype(np.int64)
    while True:
        limits.check_time()
        X = cone.take(at).X
        span = Span.of(X, cone.constant, order=order, deadline=cone.deadline)
        new = np.concatenate(cone.map(_outside, span, len(order)))
        if span.basis is not None:
            at = at[span.basis]
        if not new.size:
            break
        at = np.union1d(at, spread(new, len(order)))
    relations = span.complement
    if span.basis is None:
        kept = [j for j in range(cone.n_columns) if j not in relations]
        basis = pivot_columns(residues(with_ones(dense(X))[:, kept].T))
        at = at[basis] if len(basis) == len(kept) else at
    return relations, at.tolist()


def _summary(block: ConeBlock) -> tuple[Ranges, Array]:
    """The ranges of the columns, and for every column a row where it is not 0, or -1."""
    X = block.X
    if sp.issparse(X):
        there, rows = np.flatnonzero(X.data), np.full(X.shape[1], -1)
        columns, first = np.unique(X.indices[there], return_index=True)
        rows[columns] = np.searchsorted(X.indptr, there[first], side="right") - 1
    else:
        rows, columns = (X[:MORE_ROWS] != 0).argmax(axis=0), np.arange(X.shape[1])
        none = X[rows, columns] == 0
        rows[none] = (X[:, none] != 0).argmax(axis=0)
        rows[X[rows, columns] == 0] = -1
    return Ranges.of(block), np.where(rows >= 0, rows + block.first_row, -1)


def _outside(block: ConeBlock, span: Span, most: int) -> Array:
    """Some of the rows that are not in the span."""
    return block.first_row + spread(np.flatnonzero(span.outside(block.X)), most)


# ---------------------------------------------------------------------- coordinates of the cone


class _Coordinates:
    """Weights w that vanish on F, by those of some columns, which are free.

    Every direction has an entry at its own free column. Floats see scaled columns: v are the
    weights of the free ones there.
    """

    def __init__(self, cone: Cone, ranges: Ranges, directions: dict[int, Vector]) -> None:
        largest = np.append(ranges.largest, 1.0)[: cone.n_columns]
        self.scaled = ScaledCone(cone, np.clip(-np.frexp(largest)[1].astype(np.int64), -1000, 1000))
        self.free = list(directions)
        self.exponents = self.scaled.exponents[self.free]
        used = {j for vector in directions.values() for j in vector}
        self.rest = sorted(used.difference(self.free))
        self.moving = [*self.free, *self.rest]  # columns that are not 0 on the whole cone
        self.common = lcm(*(vector[j] for j, vector in directions.items()))
        lines = [
            [v.get(k, 0) * (self.common // v[j]) for k in self.rest] for j, v in directions.items()
        ]
        self.matrix = fmpz_mat(len(self.free), len(self.rest), [c for line in lines for c in line])

    def weights(self, v: Array) -> Array:
        """Weights of all columns in floats."""
        w = np.zeros(self.scaled.cone.n_columns)
        w[self.moving] = v
        return self.scaled.weights(w)

    def rows(self, block: ConeBlock) -> Any:
        """The scaled moving columns of some z_i, up to powers of two."""
        return self.scaled.rows(block, np.array(self.moving))[0]

    def without(self, w: Sequence[Any], relations: dict[int, Vector]) -> Array:
        """Scaled weights of the moving columns once those of relations are left out, in floats."""
        v, e = self.coordinates(w), self.scaled.exponents
        with np.errstate(all="ignore"):
            for j, vector in relations.items():
                for k, c in vector.items() if v[j] else ():
                    if k != j:
                        v[k] -= v[j] * np.ldexp(_quotient(c, vector[j]), e[j] - e[k])
        return v[self.moving]

    def coordinates(self, w: Sequence[Any]) -> Array:
        """Weights of all scaled columns in floats, the largest made 1."""
        pairs = zip(w, self.scaled.exponents.tolist(), strict=True)
        values = [Fraction(c) / Fraction(2) ** e for c, e in pairs]
        top = max(abs(v) for v in values)
        return np.array([float(v / top) for v in values])

    def rounded(self, v: Array, bits: int) -> Member:
        """The exact vector whose free columns are v to so many bits, up to a factor > 0."""
        v = v[: len(self.free)]
        if not v.any():
            return (0.0,) * self.scaled.cone.n_columns
        whole = np.rint(np.ldexp(v, bits - int(np.frexp(np.abs(v).max())[1]))).astype(np.int64)
        shifts = (self.exponents - self.exponents.min()).tolist()
        return self.vector([u << s for u, s in zip(whole.tolist(), shifts, strict=True)])

    def vector(self, u: Sequence[int]) -> Member:
        """w from integer weights of its free columns, up to a factor > 0."""
        w = [0] * self.scaled.cone.n_columns
        for j, value in zip(self.free, u, strict=True):
            w[j] = value * self.common
        for j, number in zip(self.rest, (fmpz_mat([u]) * self.matrix).entries(), strict=True):
            w[j] = int(number)
        short = primitive(w)
        return floats_if_exact(short) or tuple(map(Fraction, short))

    def exact_gradient(self, j: int) -> list[int]:
        """g with w_j = g.u for integer weights u of the free columns."""
        if j in self.free:
            return [self.common * (a == j) for a in self.free]
        return [int(self.matrix[a, self.rest.index(j)]) for a in range(len(self.free))]

    def products(self, at: Array) -> tuple[list[list[int]], list[Fraction]]:
        """q_i of some rows as integers, with w.z_i = q_i.u / factor; and the factors."""
        table, factors = integer_rows(self.scaled.cone, at, self.moving)
        if self.rest:
            f = len(self.free)
            first, others = ([row[:f] for row in table], [row[f:] for row in table])
            product = fmpz_mat(first) * self.common + fmpz_mat(others) * self.matrix.transpose()
            table = [[int(v) for v in row] for row in product.tolist()]
        return table, factors


# ---------------------------------------------------------------------- signs on the cone


class _Signs:
    """Which signs every column takes on the cone: members of it, or weights that exclude a sign."""

    def __init__(
        self,
        cone: Cone,
        certificate: Certificate,
        ranges: Ranges,
        relations: dict[int, Vector],
        directions: dict[int, Vector],
        limits: Limits,
    ) -> None:
        plane, face = face_of(certificate, cone)
        self.at = np.arange(cone.n_rows)
        if plane is not None:
            self.at = np.flatnonzero(np.concatenate(cone.map(part_signs, plane)))
            cone = cone.select(self.at)
        self.cone, self.limits = cone, limits
        self.space = _Coordinates(cone, ranges, directions)
        self.certificate: Any = certificate
        self.relations = relations
        self.members: list[Member] = []
        self.decided: set[tuple[int, int]] = set()  # columns and signs, seen or excluded
        self.bounds: dict[int, Combination] = {}
        self.working = np.empty(0, dtype=np.int64)
        self.place = {j: k for k, j in enumerate(self.space.moving)}
        self.program = SignProgram(len(self.place), self.space.rows(face))

    def settled(self) -> tuple[list[Member], dict[int, Combination]]:
        """The members, and the weights of columns of one sign."""
        self.centre = self._first_member()
        missing = self._missing()
        if missing:
            hardest = hardest_rows(self.cone, self.space.weights(self.centre), self._batch)
            others = spread(np.arange(len(self.at)), self._batch)
            self._add(np.concatenate([others, *(rows for rows, _ in hardest)]))
        while missing and self._towards(missing):
            missing = self._missing()
        for j in self.space.moving:
            for sign in (1, -1):
                if (j, sign) not in self.decided and not self._towards({j: sign}):
                    self._by_rationals(j, sign)
        return self.members, self.bounds

    def _first_member(self) -> Array:
        """The certificate's hyperplane without the dropped columns, kept; its coordinates.

        Rounded if that is in the cone: relations may be long.
        """
        w = [*self.certificate.w, self.certificate.b][: self.space.scaled.cone.n_columns]
        centre = self.space.without(w, self.relations)
        for bits in BITS if np.isfinite(centre).all() and centre.any() else ():
            if self._keep(self.space.rounded(centre, bits)):
                return centre
        exact = list(map(Fraction, w))
        for j, vector in self.relations.items():
            factor = exact[j] / vector[j]
            for k, v in vector.items() if factor else ():
                exact[k] -= factor * v
        self._keep(floats_if_exact(exact) or tuple(exact))
        return self.space.coordinates(exact)[self.space.moving]

    @property
    def _batch(self) -> int:
        return len(self.space.free) // 2 + 20

    def _missing(self) -> dict[int, int]:
        """Columns of which a sign is not decided, and that sign (neither: 1)."""
        signs = {j: -1 if (j, 1) in self.decided else 1 for j in self.space.moving}
        return {j: sign for j, sign in signs.items() if (j, sign) not in self.decided}

    def _tell(self) -> None:
        self.limits.stage = f"with {len(self._missing())} coefficients open"
        self.limits.check_time()

    def _keep(self, w: Member) -> bool:
        """Keep w if it is in the cone and shows a sign not seen before."""
        signs = {(j, 1 if w[j] > 0 else -1) for j in self.space.moving if w[j]}
        if signs <= self.decided or self._errors(w).size:
            return False
        self.members.append(w)
        self.decided |= signs
        return True

    def _errors(self, w: Member) -> Array:
        """Some of the rows with w.z_i < 0, exactly."""
        found = self.cone.map(_errors, plane_of_columns(w, self.cone), self._batch)
        return spread(np.concatenate(found), self._batch)

    def _add(self, rows: Array) -> bool:
        """Add rows to the working set; whether some are new."""
        new = np.setdiff1d(rows, self.working)
        if new.size:
            self.working = np.concatenate([self.working, new])
            self.program.add_rows(self.space.rows(self.cone.take(new)))
        return bool(new.size)

    def _towards(self, wanted: dict[int, int]) -> bool:
        """Find a member with some of these signs; if one is wanted, or weights that exclude it.

        False if there is none, or floats see none.
        """
        places, signs = [self.place[j] for j in wanted], np.array(list(wanted.values()))
        g = np.zeros(len(self.place))
        g[places] = -signs
        while True:
            self._tell()
            found = self.program.minimise(g, self.limits.seconds_left)
            if found is None:
                return False
            value, v, active = found
            if value > -SMALL:
                ((j, sign), *others) = wanted.items()
                return not others and self._bound(j, -sign, self.working[active])
            need, rows = self._need(v)
            inward = _inward(signs * v[places], signs * self.centre[places], need)
            for bits in BITS if inward is not None else ():
                self._keep(self.space.rounded(v + inward * self.centre, bits))
                if not self.decided.isdisjoint(wanted.items()):
                    return True
            if not self._add(rows):
                return False

    def _need(self, v: Array) -> tuple[float, Array]:
        """How much of the centre must be added to v to err nowhere; the rows that need most."""
        W = np.stack([self.space.weights(v), self.space.weights(self.centre)], axis=1)
        rows, needs = map(np.concatenate, zip(*self.cone.map(_needs, W, self._batch), strict=True))
        return float(needs.max(initial=0.0)), lowest(rows, -needs, self._batch)[0]

    def _bound(self, j: int, sign: int, rows: Array) -> bool:
        """Whether weights c_i >= 0 on these rows have sum c_i q_i = sign g_j; they are kept."""
        if not rows.size:
            return False
        table, factors = self.space.products(rows)
        basis = independent(integer_residues(table))
        longest = max((abs(v) for k in basis[0] for v in table[k]), default=0)
        self.limits.check_system(len(basis[0]), longest.bit_length())
        target = [sign * v for v in self.space.exact_gradient(j)]
        weights = combination(table, target, basis)
        if weights is None or min(weights) < 0:
            return False
        self._bounded(j, sign, {int(rows[k]): c * factors[k] for k, c in enumerate(weights) if c})
        return True

    def _bounded(self, j: int, sign: int, weights: dict[int, Fraction]) -> None:
        """Keep weights which show that w_j has this sign on the cone, or is 0."""
        self.decided.add((j, -sign))
        order = sorted(weights)
        rows = tuple(int(self.at[k]) for k in order)
        self.bounds[j] = Combination(rows, tuple(weights[k] for k in order))

    def _by_rationals(self, j: int, sign: int) -> None:
        """Floats cannot see it: a few rows over the rationals, more where the answer errs.

        Some u has u.q_i > 0 for all of them, so what cancels contains the goal, sign g_j.
        """
        goal = [sign * v for v in self.space.exact_gradient(j)]
        rows = self.working[: self._batch]
        while True:
            table, factors = self.space.products(rows)
            self._tell()
            found = decide([*table, goal], self.limits)
            if last := found.weights[-1]:
                pairs = zip(rows.tolist(), found.weights[:-1], factors, strict=True)
                return self._bounded(j, -sign, {i: c * f / last for i, c, f in pairs if c})
            w = self.space.vector(common_integers(found.w))
            if self._keep(w):
                return None
            rows = np.union1d(rows, self._errors(w))


def _quotient(p: int, q: int) -> float:
    """p / q, infinite beyond the range of floats."""
    try:
        return p / q
    except OverflowError:
        return np.inf if (p > 0) == (q > 0) else -np.inf


def _inward(at: Array, slope: Array, need: float) -> float | None:
    """How far to go, more than `need`, to keep half of the positive entries of at + slope * far.

    None if that is too far.
    """
    there = at > SMALL
    with np.errstate(all="ignore"):
        most = np.where(slope < 0, at / -slope, np.inf)[there]
    far = float(np.median(most)) if there.any() else 0.0
    if not need < far:
        return None
    return max(1.0, 2 * need) if far == np.inf else min(1.0, need + (far - need) / 2)


def _errors(block: ConeBlock, plane: Plane, most: int) -> Array:
    """Some of the rows on the wrong side."""
    return block.first_row + spread(np.flatnonzero(part_signs(block, plane) < 0), most)


def _needs(block: ConeBlock, W: Array, most: int) -> tuple[Array, Array]:
    """The rows that need most of the second hyperplane for the first to be right, and how much."""
    first, second = scores(block, W[:, 0]), scores(block, W[:, 1])
    with np.errstate(all="ignore"):
        needs = np.where(first < 0, -first / np.maximum(second, 0), 0.0)
    rows, values = lowest(np.arange(len(block)), -needs, most)
    return block.first_row + rows, -values
