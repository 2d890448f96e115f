"""Scan: what a certificate says of all rows, asked of every part in one reading."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rosenblatt.data.cone import Cone, ConeBlock
from rosenblatt.prove.checker.digest import Piece, together
from rosenblatt.prove.checker.norms import Floor
from rosenblatt.prove.checker.signs import Plane, part_signs, violated
from rosenblatt.prove.checker.span import Span


@dataclass(frozen=True)
class Question:
    """What is to be found out; what is None is not asked.

    Attributes
    ----------
    plane : on which side of it do rows lie?
    floor : do they have this margin? Parts that do, if it is positive, are not asked for sides
    span : does it contain all rows, or with a plane all rows that lie on it?
    digest : and the digest of the data?
    """

    plane: Plane | None = None
    floor: Floor | None = None
    span: Span | None = None
    digest: bool = False


@dataclass(frozen=True)
class Answer:
    """What was found, of one part or of all. Rows are numbered as in all of them.

    Attributes
    ----------
    wrong, on, split : rows on the wrong side, on the plane, strictly on their side
    first_bad : the first row not strictly on its side, or None
    cleared : whether all rows have the margin
    spanned : whether the span contains what it should
    digest : of the data
    """

    wrong: int = 0
    on: int = 0
    split: int = 0
    first_bad: int | None = None
    cleared: bool = False
    spanned: bool = True
    digest: str | Piece | None = None


def ask(rows: Cone, question: Question) -> Answer:
    """The answer of all rows: one reading."""
    found: list[Answer] = list(rows.map(_answer, question))
    bad = [a.first_bad for a in found if a.first_bad is not None]
    pieces = [a.digest for a in found if isinstance(a.digest, Piece)]
    return Answer(
        wrong=sum(a.wrong for a in found),
        on=sum(a.on for a in found),
        split=sum(a.split for a in found),
        first_bad=min(bad, default=None),
        cleared=all(a.cleared for a in found),
        spanned=all(a.spanned for a in found),
        digest=together(pieces, rows.n_rows, rows.n_features) if question.digest else None,
    )


def _answer(part: ConeBlock, question: Question) -> Answer:
    """The answer of one part."""
    floor, span = question.floor, question.span
    cleared = floor is not None and floor.cleared(part)
    signs, among = None, None
    if question.plane is not None and not (cleared and floor is not None and floor.margin > 0):
        signs = part_signs(part, question.plane)
    wrong = on = 0
    split, first_bad = len(part), None
    if signs is not None:
        wrongs = violated(part, signs)
        bad = np.flatnonzero(wrongs | (signs == 0))
        wrong, on = int(wrongs.sum()), int((signs == 0).sum())
        split = len(part) - wrong - on
        first_bad = part.first_row + int(bad[0]) if bad.size else None
        among = np.flatnonzero(signs == 0)
    return Answer(
        wrong,
        on,
        split,
        first_bad,
        cleared,
        span is None or span.contains(part.X if among is None else part.X[among]),
        Piece.of(part) if question.digest else None,
    )
