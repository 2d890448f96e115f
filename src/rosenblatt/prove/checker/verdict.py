"""Verdict: whether what a certificate says of all rows is true, found out in one reading.

The few rows of a proof are taken first, to know what to look for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.data.cone import Cone, ConeBlock
from rosenblatt.prove.checker.combination import cancels
from rosenblatt.prove.checker.digest import Piece, together
from rosenblatt.prove.checker.norms import Floor
from rosenblatt.prove.checker.signs import Plane, part_signs, plane_of, plane_problems, violated
from rosenblatt.prove.checker.span import Span


def verdict_problems(claim: Any, cone: Cone) -> tuple[list[str], str]:
    """What is not true of a verdict, in words, and the digest of the data: one reading."""
    plane, floor, span, said = None, None, None, []
    if claim.kind != "overlapping":
        said = plane_problems(claim.w, claim.b, claim.n_features, claim.fit_intercept)
        plane = None if said else plane_of(claim.w, claim.b, claim.fit_intercept)
    if plane is not None and claim.kind == "separable":
        floor = Floor.of(plane, claim.margin)
    elif not said and not (said := _proof_problems(claim, cone, plane)):
        orthogonal = None if plane is None else (*claim.w, claim.b)
        span = Span.of(
            cone.take(claim.proof.rows).X, claim.fit_intercept, orthogonal, deadline=cone.deadline
        )
    found = cone.map(_scan, plane, floor, span)
    if plane is not None:
        of_all = _separable_problems if claim.kind == "separable" else _quasi_separable_problems
        said = [*of_all(claim, found), *said]
    if not said and not all(seen.spanned for seen in found):
        which = "all rows" if plane is None else "the rows on the hyperplane"
        said.append(f"the rows of the proof do not span {which}")
    return said, together([seen.digest for seen in found], cone.n_rows, cone.n_features)


def _separable_problems(claim: Any, found: list[_Seen]) -> list[str]:
    if bad := sum(seen.wrong + seen.on for seen in found):
        first = min(seen.first_bad for seen in found if seen.first_bad is not None)
        return [f"{bad} rows are not strictly on their side, the first is {first}"]
    if claim.margin != 0 and not (claim.margin > 0 and all(seen.cleared for seen in found)):
        return [f"the margin of its hyperplane is less than {claim.margin!r}"]
    return []


def _quasi_separable_problems(claim: Any, found: list[_Seen]) -> list[str]:
    said = []
    wrong, split = sum(seen.wrong for seen in found), sum(seen.split for seen in found)
    if wrong:
        said.append(f"{wrong} rows are on the wrong side")
    if split != claim.n_split or claim.n_split == 0:
        said.append(f"{split} rows are split off, not {claim.n_split}")
    return said


def _proof_problems(claim: Any, cone: Cone, plane: Plane | None) -> list[str]:
    """What is not true of the combinations, which are of rows on the hyperplane, if any."""
    said = []
    for name in ("proof", "witness"):
        part = getattr(claim, name)
        if name == "witness" and part == claim.proof:
            continue
        if not cancels(cone, part.rows, part.weights, claim.fit_intercept):
            said.append(f"the weights of the {name} do not cancel, or are not positive")
        elif plane is not None and part_signs(cone.take(part.rows), plane).any():
            said.append(f"rows of the {name} do not lie on the hyperplane")
    return said


@dataclass(frozen=True)
class _Seen:
    """Of the rows of a block: how many are on the wrong side, on the plane, and on their side.

    The first that is not on its side; whether all have the margin; whether the span contains them,
    or with a plane those on it; their digest.
    """

    wrong: int
    on: int
    split: int
    first_bad: int | None
    cleared: bool
    spanned: bool
    digest: Piece


def _scan(block: ConeBlock, plane: Plane | None, floor: Floor | None, span: Span | None) -> _Seen:
    cleared = floor is not None and floor.cleared(block)
    signs = np.ones(len(block), dtype=np.int8)
    if plane is not None and not (cleared and floor is not None and floor.margin > 0):
        signs = part_signs(block, plane)
    wrong = violated(block, signs)
    on = signs == 0
    bad = np.flatnonzero(wrong | on)
    inside = block.X if plane is None else block.X[np.flatnonzero(on)]
    return _Seen(
        wrong=int(wrong.sum()),
        on=int(on.sum()),
        split=len(block) - int(wrong.sum()) - int(on.sum()),
        first_bad=block.first_row + int(bad[0]) if bad.size else None,
        cleared=cleared,
        spanned=span is None or span.contains(inside),
        digest=Piece.of(block),
    )
