"""Evidence: what proves the states of coefficients, and its exact check.

Write z_i = y_i (x_i, 1), or y_i x_i without offset; C = {w : w.z_i >= 0 for all i}; F the rows
that all of C is orthogonal to, known from a certificate. The check takes these steps and shares
nothing with the search:

1. the certificate holds, so F is what it says (all rows, those on its hyperplane, or none);
2. every dropped column is a combination of kept ones on every row, and the kept ones are
   independent (modulo a prime, so also over the rationals): they alone span the model;
3. the directions are independent, orthogonal to F, and as many as F leaves: among the kept
   columns they span all w that vanish on F, which is the span of C;
4. members of C are orthogonal to F and have w.z_i >= 0 everywhere else;
5. coefficient j is finite if every direction has a 0 there; it goes to +inf if a member is > 0
   there and weights c_i >= 0 make sum c_i z_i - e_j orthogonal to every direction, for then
   w_j = sum c_i w.z_i >= 0 on C [Farkas]; it is undetermined if members have both signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpq_mat, fmpz_mat

from rosenblatt.data.cone import Cone, ConeBlock, cone_of_arrays
from rosenblatt.data.exact import common_integers, to_integers
from rosenblatt.data.source import PerBlock
from rosenblatt.prove import checker
from rosenblatt.prove.certificate.base import Certificate, Combination
from rosenblatt.prove.certificate.verdicts import Separable
from rosenblatt.prove.checker.limits import indices
from rosenblatt.prove.checker.signs import Plane, part_signs
from rosenblatt.prove.infinite.relations import Relation, Terms, broken, well_formed
from rosenblatt.prove.infinite.residues import PRIME, dense, rank_modulo, residues, whole

Array = npt.NDArray[Any]
Number = float | Fraction


@dataclass(frozen=True)
class Evidence:
    """What all coefficients share. Columns are counted 0 to d - 1, and d is the intercept.

    Attributes
    ----------
    certificate : whether the classes can be separated, with its own proof
    kept : columns that stay when every dropped one is left out
    relations : one for every dropped column
    spanning : rows in which the kept columns are independent
    directions : a basis of all w on kept columns that vanish on F; None stands for all w,
        because F is empty
    members : vectors of the cone, one number per column
    """

    certificate: Certificate
    kept: tuple[int, ...]
    relations: tuple[Relation, ...]
    spanning: tuple[int, ...]
    directions: tuple[Terms, ...] | None
    members: tuple[tuple[Number, ...], ...]


@dataclass(frozen=True)
class Claim:
    """Of one kept column: which signs it takes on the cone, once the dropped ones are left out.

    `up` and `down` are numbers of members that are > 0 and < 0 there; `bound` are weights that
    show that no member is < 0 (if only `up` is there) or > 0 (only `down`).
    """

    column: int
    up: int | None = None
    down: int | None = None
    bound: Combination | None = None

    @property
    def signs(self) -> tuple[bool, bool]:
        """Whether it takes values > 0, and < 0."""
        return self.up is not None, self.down is not None


def untrue(evidence: Evidence, claims: Sequence[Claim], rows: Cone) -> list[str]:
    """What does not hold, in words; nothing if all is proven. The certificate is not looked at."""
    said = _columns(evidence, rows)
    if said:
        return said
    face = _Face.of(evidence, rows)
    said = face.wrong_directions()
    if not said:
        said = [w for k, m in enumerate(evidence.members) for w in face.wrong_member(k, m)]
    return said or [w for claim in claims for w in face.wrong_claim(claim)]


def _columns(evidence: Evidence, rows: Cone) -> list[str]:
    """Step 2."""
    intercept = evidence.certificate.fit_intercept
    dropped, kept = [r.column for r in evidence.relations], set(evidence.kept)
    everything = sorted([*dropped, *evidence.kept])
    if everything != list(range(rows.n_features + int(intercept))):
        return ["kept and dropped columns are not all columns, each once"]
    if not all(well_formed(r.terms, kept) for r in evidence.relations):
        return ["a relation names a column twice, a column that is dropped itself, or a factor 0"]
    if not indices(evidence.spanning, rows.n_rows):
        return ["a row that shows the kept columns independent does not exist, or is repeated"]
    said = [
        f"column {r.column} is not the combination it is said to be on row {wrong[0]}"
        for r, wrong in zip(
            evidence.relations, broken(rows, evidence.relations, intercept), strict=True
        )
        if wrong.size
    ]
    if rank_modulo(residues(dense(rows, evidence.spanning, evidence.kept))) != len(kept):
        said.append("the kept columns are not shown to be independent")
    return said


@dataclass(frozen=True, eq=False)
class _Face:
    """The rows of F, the rows off it, and what is orthogonal to F."""

    evidence: Evidence
    rows: Cone
    off: PerBlock | None  # which rows of each part are off F; None: all
    table: list[list[int]]  # rows that span F, kept columns, each scaled to integers
    rank: int  # of the table, at least

    @classmethod
    def of(cls, evidence: Evidence, rows: Cone) -> _Face:
        certificate = evidence.certificate
        proof = getattr(certificate, "proof", None)
        at = () if proof is None else proof.rows
        A = dense(rows, at, evidence.kept)
        off = (
            None
            if isinstance(certificate, Separable)
            else rows.map_and_keep(_off, _plane(certificate))
        )
        return cls(evidence, rows, off, whole(A), rank_modulo(residues(A)))

    def wrong_directions(self) -> list[str]:
        """Step 3."""
        directions, kept = self.evidence.directions, self.evidence.kept
        if directions is None:
            whole = isinstance(self.evidence.certificate, Separable)
            return [] if whole else ["F is not empty, so not every w vanishes on it"]
        if not all(well_formed(terms, set(kept)) for terms in directions):
            return ["a direction names a column twice, a dropped column, or an entry 0"]
        said = []
        table = [self._dense(terms) for terms in directions]
        if table and self.table and not self._orthogonal(table):
            said.append("a direction is not orthogonal to F")
        if rank_modulo(_residues_of(table)) != len(table) or self.rank + len(table) < len(kept):
            said.append("the directions are dependent, or too few")
        return said

    def wrong_member(self, number: int, member: Sequence[Number]) -> list[str]:
        """Step 4."""
        d, intercept = self.rows.n_features, self.evidence.certificate.fit_intercept
        kept = self.evidence.kept
        if len(member) != d + int(intercept):
            return [f"member {number} has {len(member)} numbers"]
        if not all(isinstance(v, Fraction) or np.isfinite(v) for v in member):
            return [f"member {number} is not finite"]
        if any(v for j, v in enumerate(member) if j not in set(kept)):
            return [f"member {number} is not 0 on a dropped column"]
        if self.table and not self._orthogonal([[Fraction(member[j]) for j in kept]]):
            return [f"member {number} is not orthogonal to F"]
        plane = Plane(member[:d], member[d] if intercept else 0.0)
        wrong = sum(self.rows.map(_errors, plane, self.off))
        return [f"member {number} errs on {wrong} rows"] if wrong else []

    def wrong_claim(self, claim: Claim) -> list[str]:
        """Step 5."""
        j, members = claim.column, self.evidence.members
        if j not in set(self.evidence.kept):
            return [f"column {j} is dropped"]
        for number, sign in ((claim.up, 1), (claim.down, -1)):
            if number is None:
                continue
            if not 0 <= number < len(members) or members[number][j] * sign <= 0:
                return [f"column {j}: member {number} has not the sign it is named for"]
        up, down = claim.signs
        if up == down and claim.bound is not None:
            return [f"column {j}: there are weights that prove nothing"]
        if up and down:
            return []
        if not up and not down:
            directions = self.evidence.directions
            moves = directions is None or any(j == c and v for t in directions for c, v in t)
            return [f"column {j} is not determined by F"] if moves else []
        if claim.bound is None or not self._bounds(claim.bound, j, 1 if up else -1):
            return [f"column {j}: the weights do not bound it"]
        return []

    def _bounds(self, bound: Combination, j: int, sign: int) -> bool:
        """Whether sum c_i z_i - sign e_j is orthogonal to every direction, all c_i >= 0."""
        n, kept, directions = self.rows.n_rows, self.evidence.kept, self.evidence.directions
        if len(bound.rows) != len(bound.weights) or any(c < 0 for c in bound.weights):
            return False
        if any(not isinstance(i, int) or not 0 <= i < n for i in bound.rows):
            return False
        if not bound.rows:
            return False
        table, exponents = to_integers(dense(self.rows, bound.rows, kept))
        signs = self.rows.take(bound.rows).sign.tolist()
        factors = [
            s * Fraction(c) / Fraction(2) ** e
            for s, c, e in zip(signs, bound.weights, exponents, strict=True)
        ]
        *factors, one = common_integers([*factors, 1])
        total = fmpz_mat([factors]) * fmpz_mat(table)
        left = [Fraction(int(v), one) for v in total.entries()]
        left[kept.index(j)] -= sign
        if directions is None:
            return not any(left)
        place = {c: k for k, c in enumerate(kept)}
        return not any(sum(v * left[place[c]] for c, v in terms) for terms in directions)

    def _orthogonal(self, vectors: list[list[Fraction]]) -> bool:
        """Whether all vectors vanish on the rows of F."""
        product = fmpq_mat(fmpz_mat(self.table)) * _matrix(vectors).transpose()
        return not any(product.entries())

    def _dense(self, terms: Terms) -> list[Fraction]:
        entries = dict(terms)
        return [entries.get(j, Fraction(0)) for j in self.evidence.kept]


def split_off(certificate: Certificate, rows: Cone) -> npt.NDArray[np.int64]:
    """Which rows are not on the certificate's hyperplane; none if they overlap."""
    return np.flatnonzero(np.concatenate(list(rows.map(_off, _plane(certificate)))))


def _plane(certificate: Certificate) -> Plane | None:
    """The certificate's hyperplane; None if the classes overlap."""
    w = getattr(certificate, "w", None)
    if w is None:
        return None
    return checker.plane_of(w, getattr(certificate, "b", 0.0), certificate.fit_intercept)


def _off(part: ConeBlock, plane: Plane | None) -> npt.NDArray[np.bool_]:
    """Which rows of a part are not on the hyperplane."""
    return np.zeros(len(part), dtype=bool) if plane is None else part_signs(part, plane) != 0


def _errors(part: ConeBlock, plane: Plane, off: npt.NDArray[np.bool_] | None) -> int:
    """How many of the rows off F are on the wrong side."""
    if off is not None:
        at = np.flatnonzero(off)
        part = ConeBlock(part.X[at], part.sign[at])
    return int((part_signs(part, plane) < 0).sum())


def subset(rows: Cone, at: npt.NDArray[np.int64]) -> Cone:
    """Some rows: copied if they are in memory, otherwise left where they are."""
    if not rows.resident:
        return rows.select(at)
    part = rows.take(at)
    return cone_of_arrays(part.X, part.sign, rows.classes)


def _residues_of(table: list[list[Fraction]]) -> npt.NDArray[np.int64]:
    """The same of rationals, each row times its denominators."""
    out = []
    for row in table:
        common = lcm(*(v.denominator for v in row))
        out.append([int(v * common) % PRIME for v in row])
    return np.array(out, dtype=np.int64)


def _matrix(table: list[list[Fraction]]) -> Any:
    entries = [fmpq(v.numerator, v.denominator) for row in table for v in row]
    return fmpq_mat(len(table), len(table[0]), entries)
