"""Coefficients: whether what is said of every coefficient follows from the rows, exactly.

Write z_i = y_i (x_i, 1), or y_i x_i without offset; C = {w : w.z_i >= 0 for all i}; F the rows
that all of C is orthogonal to, known from the certificate: those on its hyperplane (all rows if
there is none, no rows if they are separable).

1. Some rows span all others, so a vector orthogonal to them is orthogonal to all rows: these are
   the relations of collinear columns. With the columns that stay taken first, every column that is
   left out is a combination of those, and they are independent.
2. Directions, as many as F leaves, are independent and orthogonal to the rows of the certificate's
   proof, which span F: among the columns that stay they span the w that vanish on F, and so C.
3. Members of C are orthogonal to F and have w.z_i >= 0 everywhere else.
4. Coefficient j is finite if every direction has a 0 there. It goes to +inf if a member is > 0
   there, none < 0, and weights c_i >= 0 make sum c_i z_i - e_j orthogonal to every direction: then
   w_j = sum c_i w.z_i >= 0 on C [Farkas]. It is undetermined if members have both signs.

Relations and directions are derived here, so that a proof cannot be wrong about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from flint import fmpz_mat

from rosenblatt.data.cone import Cone, ConeBlock
from rosenblatt.data.exact import common_integers, to_integers
from rosenblatt.prove.checker.limbs import Vector, as_float64, with_ones
from rosenblatt.prove.checker.limits import indices
from rosenblatt.prove.checker.ranges import Ranges
from rosenblatt.prove.checker.signs import Plane, is_number, part_signs, violated
from rosenblatt.prove.checker.span import Span

Array = npt.NDArray[Any]
STATES = {
    (False, False): "finite",
    (True, False): "+inf",
    (False, True): "-inf",
    (True, True): "undetermined",
}


@dataclass(frozen=True, eq=False)
class Facts:
    """What the rows say of the columns. Columns are counted 0 to d - 1, and d is the intercept.

    Attributes
    ----------
    relations : for every column that is left out, a vector over the columns that is orthogonal to
        all rows; its other entries are of columns that stay
    ranges : smallest and largest values
    """

    relations: dict[int, Vector]
    ranges: Ranges


def coefficient_problems(
    found: Any, cone: Cone, ranges: Ranges | None = None
) -> tuple[list[str], Facts | None]:
    """What is not true of `Coefficients`, in words, and what the rows say: one reading.

    The certificate, names and reasons are not looked at. `ranges` are taken unless they are known.
    """
    if said := _form_problems(found, cone):
        return said, None
    kept, dropped = kept_and_dropped(found)
    spanning = cone.take(found.spanning).X
    span = Span.of(spanning, cone.constant, order=[*kept, *dropped], deadline=cone.deadline)
    relations = span.complement
    if sorted(relations) != dropped:
        return ["the rows that span do not show that just these columns are independent"], None
    plane, face = face_of(found.certificate, cone)
    directions = directions_of(face.X, kept, cone.constant, cone.deadline)
    members = [plane_of_columns(member, cone) for member in found.members]
    if any(part_signs(face, member).any() for member in members):
        said.append("a member is not orthogonal to the rows of the certificate's proof")
    answers = cone.map(_scan, span, plane, tuple(members), ranges is None)
    if not all(spanned for spanned, _, _ in answers):
        said.append("the rows that span do not span all rows")
    wrong = {number for _, numbers, _ in answers for number in numbers}
    said += [f"member {number} errs on some row" for number in sorted(wrong)]
    said += _state_problems(found, relations, directions) or _bound_problems(
        found, cone, kept, directions
    )
    return said, Facts(relations, ranges or Ranges.joined(own for _, _, own in answers))


def kept_and_dropped(found: Any) -> tuple[list[int], list[int]]:
    """The columns that stay, and those that are left out."""
    kept = [j for j, item in enumerate(found.items) if item.reduced is not None]
    return kept, sorted(set(range(len(found.items))).difference(kept))


def face_of(certificate: Any, cone: Cone) -> tuple[Plane | None, ConeBlock]:
    """The certificate's hyperplane, which has F on it, and rows that span F.

    No hyperplane if F is empty, one of weights 0 if F is everything.
    """
    proof = getattr(certificate, "proof", None)
    if proof is None:
        return None, cone.take(())
    w = getattr(certificate, "w", (0.0,) * cone.n_features)
    return Plane(w, getattr(certificate, "b", 0.0)), cone.take(proof.rows)


def directions_of(
    X: Any, kept: Sequence[int], constant: bool, deadline: float | None = None
) -> dict[int, Vector]:
    """Vectors over the columns that stay which span what is orthogonal to rows X.

    By a column that no other of them has.
    """
    features = [j for j in kept if j < X.shape[1]]
    found = Span.of(X[:, features], constant, deadline=deadline).complement
    return {kept[k]: {kept[i]: v for i, v in vector.items()} for k, vector in found.items()}


def plane_of_columns(w: Sequence[Any], cone: Cone) -> Plane:
    """The hyperplane of weights of all columns."""
    d = cone.n_features
    return Plane(w[:d], w[d] if cone.constant else 0.0)


def states_of(
    width: int, relations: dict[int, Vector], members: Sequence[Sequence[Any]]
) -> list[tuple[str, str | None]]:
    """Of every column its state, and its state when the columns to drop are left out."""
    tied = {j for vector in relations.values() for j in vector}
    found: list[tuple[str, str | None]] = []
    for j in range(width):
        if j in relations:
            found.append(("not identified", None))
            continue
        signs = any(m[j] > 0 for m in members), any(m[j] < 0 for m in members)
        found.append(("not identified" if j in tied else STATES[signs], STATES[signs]))
    return found


def _form_problems(found: Any, cone: Cone) -> list[str]:
    width = cone.n_columns
    if len(found.items) != width:
        return [f"it speaks of {len(found.items)} coefficients, there are {width}"]
    if cone.constant and found.items[-1].reduced is None:
        return ["the intercept is left out, though it is never a combination of 0 columns"]
    if not indices(found.spanning, cone.n_rows):
        return ["a row that spans does not exist, or is repeated"]
    if len(found.members) > 2 * width:
        return [f"there are {len(found.members)} members, more than two for every coefficient"]
    _, dropped = kept_and_dropped(found)
    for number, member in enumerate(found.members):
        if len(member) != width:
            return [f"member {number} has {len(member)} numbers"]
        if not all(is_number(v) for v in member):
            return [f"member {number} is not finite"]
        if any(member[j] for j in dropped):
            return [f"member {number} is not 0 on a column that is left out"]
    return []


def _scan(
    block: ConeBlock, span: Span, plane: Plane | None, members: tuple[Plane, ...], ranges: bool
) -> tuple[bool, list[int], Ranges | None]:
    """Whether the rows are in the span, which members err on rows off F, and perhaps the ranges."""
    off = block
    if plane is not None and members:
        off = block.part(np.flatnonzero(part_signs(block, plane)))
    wrong = [k for k, w in enumerate(members) if violated(off, part_signs(off, w)).any()]
    return span.contains(block.X), wrong, Ranges.of(block) if ranges else None


def _state_problems(
    found: Any, relations: dict[int, Vector], directions: dict[int, Vector]
) -> list[str]:
    """Coefficients whose states are not those that the members show."""
    moves = {j for vector in directions.values() for j in vector}
    expected = states_of(len(found.items), relations, found.members)
    for j, (item, (state, reduced)) in enumerate(zip(found.items, expected, strict=True)):
        if (item.state, item.reduced) != (state, reduced):
            return [
                f"coefficient {j} is called {item.state} ({item.reduced} after dropping), but "
                f"the members show {state} ({reduced})"
            ]
        if reduced == "finite" and j in moves:
            return [f"coefficient {j} is not determined by the rows that overlap"]
        if (item.bound is not None) != (reduced in ("+inf", "-inf")):
            return [f"coefficient {j} has weights that prove nothing, or lacks weights"]
    return []


def _bound_problems(
    found: Any, cone: Cone, kept: list[int], directions: dict[int, Vector]
) -> list[str]:
    """Coefficients with weights c_i for which sum c_i z_i -+ e_j leaves some direction."""
    bounded = [j for j in kept if found.items[j].bound is not None]
    if not bounded:
        return []
    left = []
    for j in bounded:
        bound, sign = found.items[j].bound, 1 if found.items[j].reduced == "+inf" else -1
        rows, weights = bound.rows, bound.weights
        exist = all(0 <= i < cone.n_rows for i in rows)
        if not rows or len(rows) != len(weights) or not exist or min(weights) < 0:
            return [f"coefficient {j}: a weight is negative, or its row does not exist"]
        table, factors = integer_rows(cone, rows, kept)
        shares = (c / factor for c, factor in zip(weights, factors, strict=True))
        *whole, one = common_integers([*shares, 1])
        total = (fmpz_mat([whole]) * fmpz_mat(table)).entries()
        total[kept.index(j)] -= sign * one
        left.append(total)
    product = fmpz_mat(left) * direction_matrix(directions, kept).transpose()
    off = [j for j, line in zip(bounded, product.tolist(), strict=True) if any(line)]
    return [f"coefficient {j}: the weights do not bound it" for j in off]


def integer_rows(
    cone: Cone, at: Sequence[int] | Array, columns: Sequence[int]
) -> tuple[list[list[int]], list[Fraction]]:
    """Some columns of some z_i as integers, and factors: integer row = z_i * factor."""
    block = cone.take(at)
    X = as_float64(block.X)
    dense = with_ones(X.toarray() if sp.issparse(X) else X)[:, list(columns)]
    table, exponents = to_integers(dense * block.sign[:, None])
    return table, [Fraction(2) ** e for e in exponents]


def direction_matrix(directions: dict[int, Vector], kept: Sequence[int]) -> Any:
    """One row for every direction, one column for every column that stays."""
    entries = [vector.get(j, 0) for vector in directions.values() for j in kept]
    return fmpz_mat(len(directions), len(kept), entries)
