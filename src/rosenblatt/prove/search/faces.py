"""Faces: which rows cancel and which can be split off, as floats see it.

A linear program over a small working set of rows (:class:`.program.Hinge`) either has v.z_i >= 1
for all of them, then rows that v gets wrong are added; or it finds rows that cancel. These go on a
face: every w that errs nowhere is orthogonal to them. The rest is decided among the w orthogonal to
the face, until v errs nowhere or all rows lie in the span of the face.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.data.chunks import Part
from rosenblatt.prove.search.cone import Array, Cone, part_scores, unit
from rosenblatt.prove.search.limits import Limits
from rosenblatt.prove.search.peel import Peeled, is_left
from rosenblatt.prove.search.program import Hinge
from rosenblatt.prove.search.space import FLAT, Space

PLACES = 50  # where rows are looked at besides the worst


@dataclass(frozen=True, eq=False)
class Proposal:
    """Rows said to cancel, and v said to have all rows off their span on its side (or 0)."""

    face: list[int]
    v: Array


class Faces:
    """The rows that peeling left, and the working set of them."""

    def __init__(self, cone: Cone, peeled: Peeled, guess: Array, limits: Limits) -> None:
        self.cone, self.peeled, self.limits = cone, peeled, limits
        self.rng = np.random.default_rng(0)
        self.working: list[int] = []
        kept = np.append(peeled.features, True) if cone.intercept else peeled.features
        # the columns that tell rows apart: any other is a multiple of the offset on the rows
        # left (without offset, 0)
        self.columns = np.flatnonzero(kept) if kept.any() else np.zeros(1, dtype=np.int64)
        self._start(guess)

    def propose(self) -> Proposal | None:
        """Rows that cancel go on the face, until the rest is split off. None: HiGHS gave up."""
        face = self.cone.row_of_zeros()  # it cancels by itself
        while True:
            space = Space.orthogonal_to(self.cone.scaled(face), self.columns)
            self.limits.stage = (
                f"with {len(self.working)} rows in the working set, {len(face)} of them cancelling"
            )
            found = self._one_face(space)
            if found is None:
                return None
            v, cancel = found
            if not cancel:
                return Proposal(face, v)
            face.extend(cancel)

    def _start(self, guess: Array) -> None:
        """The rows that the perceptron finds hardest, of either class."""
        w, left = self.cone.weights(guess), self.peeled.rounds_of
        found = list(self.cone.rows.each(_hardest, w, left, self.batch))
        for k in range(2):
            rows, _ = _lowest(*_joined(pair[k] for pair in found), self.batch)
            self.working.extend(rows.tolist())

    def add(self, rows: Array) -> list[int]:
        """Take rows into the working set; the new ones among them."""
        known = set(self.working)
        new = [i for i in rows.tolist() if i not in known]
        self.working.extend(new)
        return new

    @property
    def batch(self) -> int:
        return 2 * int(self.peeled.features.sum()) + 20

    def _one_face(self, space: Space) -> tuple[Array, list[int]] | None:
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

    def _overlooked(self, v: Array, space: Space, strict: bool) -> tuple[list[int], Any]:
        """Rows off the face that v does not have on their side; without `strict`, that it moves."""
        if space.size == 0:
            return [], np.empty((0, 0))
        turned = None
        if strict and space.basis is not None:
            turned = space.outside(self.rng.standard_normal(space.size))  # 0 on the face only
        look = _Look(
            self.cone.weights(v),
            FLAT * float(np.abs(v).max()),
            strict,
            None if turned is None else self.cone.weights(turned),
            np.sort(np.array(self.working, dtype=np.int64)),
            self.batch,
        )
        found = list(self.cone.rows.each(_overlooked, look, self.peeled.rounds_of))
        worst, _ = _lowest(*_joined(pair[0] for pair in found), self.batch)
        others = np.concatenate([pair[1] for pair in found])
        some = np.unique(np.concatenate([worst, spread(others, PLACES)]))
        inside = space.coordinates(self.cone.scaled(some))
        off = space.off(inside)
        return self.add(some[off]), inside[off]


# ---------------------------------------------------------------------- what parts are asked


@dataclass(frozen=True, eq=False)
class _Look:
    """For rows that w does not have on their side, or that it moves if not `strict`."""

    w: Array
    size: float
    strict: bool
    turned: Array | None  # moves what is not on the face
    known: Array  # rows that need not be found again, in order
    batch: int


def _overlooked(
    part: Part, look: _Look, rounds_of: Array | None
) -> tuple[tuple[Array, Array], Array]:
    """The rows furthest on the wrong side with their scores, and some at places among all."""
    scores = part_scores(part, look.w)
    wrong = is_left(part, rounds_of)
    wrong &= scores <= look.size if look.strict else np.abs(scores) > look.size
    low, high = np.searchsorted(look.known, [part.start, part.start + len(part)])
    wrong[look.known[low:high] - part.start] = False
    rows = np.flatnonzero(wrong)
    if look.turned is not None and rows.size:
        some = Part(-1, part.X[rows], part.y[rows])
        rows = rows[np.abs(part_scores(some, look.turned)) > FLAT]
    worst = _lowest(part.start + rows, scores[rows], look.batch)
    return worst, part.start + spread(rows, PLACES)


def _hardest(
    part: Part, w: Array, rounds_of: Array | None, size: int
) -> tuple[tuple[Array, Array], ...]:
    """The rows with the lowest scores and these, of label -1 and of label +1."""
    scores, left = part_scores(part, w), is_left(part, rounds_of)
    chosen = [np.flatnonzero((part.y == label) & left) for label in (-1, 1)]
    return tuple(_lowest(part.start + rows, scores[rows], size) for rows in chosen)


def _lowest(rows: Array, scores: Array, size: int) -> tuple[Array, Array]:
    """At most so many rows, those with the lowest scores."""
    if len(rows) <= size:
        return rows, scores
    picked = np.argpartition(scores, size)[:size]
    return rows[picked], scores[picked]


def _joined(pairs: Iterable[tuple[Array, Array]]) -> tuple[Array, Array]:
    rows, scores = zip(*pairs, strict=True)
    return np.concatenate(rows), np.concatenate(scores)


def spread(rows: Array, places: int) -> Array:
    """About so many of the rows, evenly spread."""
    return rows[:: max(1, len(rows) // places)]
