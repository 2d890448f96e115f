"""Reading: what a certificate says of all rows, asked of every part in one reading."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rosenblatt.data.chunks import Part, Rows
from rosenblatt.prove.checking.means import Sums
from rosenblatt.prove.checking.plane import Floor, Plane, part_signs
from rosenblatt.prove.checking.span import Span
from rosenblatt.prove.claims.digest import Piece, together


@dataclass(frozen=True)
class Question:
    """What is to be found out; what is None is not asked.

    Attributes
    ----------
    plane : on which side of it do rows lie?
    floor : do they have this margin? Parts that do, if it is positive, are not asked for sides
    few : how many of the first rows strictly on their side are to be named
    span : does it contain all rows, or with a plane all rows that lie on it?
    means : are the sums of the classes wanted?
    digest : and the digest of the data?
    """

    plane: Plane | None = None
    floor: Floor | None = None
    few: int = 0
    span: Span | None = None
    means: bool = False
    digest: bool = False


@dataclass(frozen=True)
class Answer:
    """What was found, of one part or of all. Rows are numbered as in all of them.

    Attributes
    ----------
    wrong, on, split : rows on the wrong side, on the plane, strictly on their side
    first_bad : the first row not strictly on its side, or None
    first_split : the first few rows strictly on their side
    cleared : whether all rows have the margin
    spanned : whether the span contains what it should
    sums : of the two classes
    digest : of the data
    """

    wrong: int = 0
    on: int = 0
    split: int = 0
    first_bad: int | None = None
    first_split: tuple[int, ...] = ()
    cleared: bool = False
    spanned: bool = True
    sums: Sums | None = None
    digest: str | Piece | None = None


def ask(rows: Rows, question: Question) -> Answer:
    """The answer of all rows: one reading."""
    found: list[Answer] = list(rows.each(_answer, question))
    bad = [a.first_bad for a in found if a.first_bad is not None]
    pieces = [a.digest for a in found if isinstance(a.digest, Piece)]
    sums = [a.sums for a in found if a.sums is not None]
    return Answer(
        wrong=sum(a.wrong for a in found),
        on=sum(a.on for a in found),
        split=sum(a.split for a in found),
        first_bad=min(bad, default=None),
        first_split=tuple(i for a in found for i in a.first_split)[: question.few],
        cleared=all(a.cleared for a in found),
        spanned=all(a.spanned for a in found),
        sums=Sums.together(sums) if sums else None,
        digest=together(pieces, rows.n_rows, rows.n_features) if question.digest else None,
    )


def _answer(part: Part, question: Question) -> Answer:
    """The answer of one part."""
    floor, span = question.floor, question.span
    cleared = floor is not None and floor.cleared(part)
    signs, among = None, None
    if question.plane is not None and not (cleared and floor is not None and floor.margin > 0):
        signs = part_signs(part, question.plane)
    wrong = on = 0
    split, first_bad, first_split = len(part), None, ()
    if signs is not None:
        bad, right = np.flatnonzero(signs <= 0), np.flatnonzero(signs > 0)
        wrong, split = int((signs < 0).sum()), len(right)
        on = len(part) - wrong - split
        first_bad = part.start + int(bad[0]) if bad.size else None
        first_split = tuple((part.start + right[: question.few]).tolist())
        among = np.flatnonzero(signs == 0)
    return Answer(
        wrong,
        on,
        split,
        first_bad,
        first_split,
        cleared,
        span is None or span.contains(part.X if among is None else part.X[among]),
        Sums.of(part) if question.means else None,
        Piece.of(part) if question.digest else None,
    )
