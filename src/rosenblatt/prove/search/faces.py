"""Faces: which rows cancel and which can be split off, as floats see it.

A linear program over a small working set of rows (:class:`.program.Hinge`) either has v.z_i >= 1
for all of them, then rows that v gets wrong are added; or it finds rows that cancel. These go on a
face: every w that errs nowhere is orthogonal to them. The rest is decided among the w orthogonal to
the face, until v errs nowhere or all rows lie in the span of the face.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.prove.search.cone import Array, Cone, unit
from rosenblatt.prove.search.limits import Limits
from rosenblatt.prove.search.peel import Peeled
from rosenblatt.prove.search.program import Hinge
from rosenblatt.prove.search.space import FLAT, Space


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
        scores = self.cone.scores(guess)
        size = self.batch
        for label in (-1, 1):
            rows = np.flatnonzero((self.cone.y == label) & self.peeled.left)
            if len(rows) > size:
                rows = rows[np.argpartition(scores[rows], size)[:size]]
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

    def _worst(self, rows: Array, scores: Array) -> Array:
        """The rows furthest on the wrong side, and some at random places among them."""
        if len(rows) <= self.batch:
            return rows
        picked = rows[np.argpartition(scores[rows], self.batch)[: self.batch]]
        return np.unique(np.concatenate([picked, rows[:: max(1, len(rows) // 50)]]))

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
        return self.add(some[off]), inside[off]
