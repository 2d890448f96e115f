"""Which rows cancel, and a hyperplane that has the others on its side, as floats see it.

A linear program over a small working set of rows either has v.z_i >= 1 for all of them, then rows
that v gets wrong are added; or it finds rows that cancel. These make up the face: every w that errs
nowhere is orthogonal to them, so the program frees them. It goes on until v errs nowhere off the
span of the face. Whether a row lies in that span is seen by one random vector orthogonal to the
face modulo a prime.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.cone import Cone, ConeBlock
from rosenblatt.data.exact import (
    PRIME,
    Residues,
    echelon,
    modular_product,
    random_solution,
    residues,
)
from rosenblatt.data.source import PerBlock
from rosenblatt.prove.limits import Limits
from rosenblatt.prove.separability.linear_programs import CancellingProgram
from rosenblatt.prove.separability.scaling import ScaledCone, dense, scores, signed_rows
from rosenblatt.prove.separability.single_feature_splits import Splits, is_left

Array = npt.NDArray[Any]
SPREAD = 50  # rows added besides the worst
FLAT = 1e-9  # a score below this, for v of size 1, may be 0


@dataclass(frozen=True, eq=False)
class Proposal:
    """Rows proposed to cancel, and v that has all rows off their span on its side (or 0)."""

    face: list[int]
    v: Array


class WorkingSet:
    """Rows that the linear program sees, out of those that single features leave.

    Attributes
    ----------
    columns : int array
        Columns in which the rows left differ; every other one is a multiple of the constant on
        them (without constant, 0).
    working : list of int
    """

    def __init__(self, scaled: ScaledCone, splits: Splits, guess: Array, limits: Limits) -> None:
        self.scaled, self.splits, self.limits = scaled, splits, limits
        self.cone, self.rng = scaled.cone, np.random.default_rng(0)
        varies = np.append(splits.features, True) if self.cone.constant else splits.features
        self.columns = np.flatnonzero(varies) if varies.any() else np.zeros(1, dtype=np.int64)
        self.batch = 2 * int(splits.features.sum()) + 20
        self.working: list[int] = []
        for rows, _ in hardest_rows(self.cone, guess, self.batch, splits.rounds_of):
            self.add(rows)

    def add(self, rows: Array) -> list[int]:
        """Add rows; the new ones among them."""
        known = set(self.working)
        new = [i for i in rows.tolist() if i not in known]
        self.working.extend(new)
        return new

    def propose(self) -> Proposal | None:
        """Free rows that cancel and add rows on the wrong side until there are none.

        None if HiGHS gives up.
        """
        program = CancellingProgram(len(self.columns))
        face = self._enter(program, self.working)
        self.span = np.zeros((0, len(self.columns)), dtype=np.int64)
        orthogonal, known = self._orthogonal([]), 0
        while True:
            self.limits.stage = (
                f"with {len(self.working)} rows in the working set, {len(face)} of them cancelling"
            )
            self.limits.check_time()
            solved = program.solve(self.limits.seconds_left)
            self.limits.check_time()
            if solved is None:
                return None
            inner, cancel = solved
            if cancel.size:
                program.free(cancel)
                face.extend(self.working[k] for k in cancel.tolist())
                continue
            if known < len(face):
                orthogonal, known = self._orthogonal(face[known:]), len(face)
            if orthogonal is None:  # the face spans everything
                return Proposal(face, np.zeros(self.cone.n_columns))
            v = np.zeros(self.cone.n_columns)
            v[self.columns] = inner
            new = self._overlooked(v, orthogonal if face else None)
            if not new:
                return Proposal(face, v)
            face.extend(self._enter(program, new))

    def _enter(self, program: CancellingProgram, new: list[int]) -> list[int]:
        """Put rows into the program; those of equality, which are freed at once."""
        block = self.cone.take(new)
        program.add_rows(self.scaled.rows(block, self.columns)[0])
        if block.equality is None:
            return []
        equal = np.flatnonzero(block.equality)
        program.free(len(program.freed) - len(new) + equal)
        return [new[k] for k in equal.tolist()]

    def _orthogonal(self, new: list[int]) -> Residues | None:
        """A random vector orthogonal to the span, which grows by these rows."""
        Z = signed_rows(self.cone.take(new), self.cone.constant)
        A = np.vstack([self.span, residues(dense(Z[:, self.columns]))])
        pivots, self.span = echelon(A)
        return random_solution(pivots, self.span, self.rng)

    def _overlooked(self, v: Array, orthogonal: Residues | None) -> list[int]:
        """Rows off the span of the face that v does not have on their side, now added."""
        look = _Look(
            self.scaled.weights(v),
            FLAT * float(np.abs(v).max(initial=0.0)),
            np.sort(np.array(self.working, dtype=np.int64)),
            self.columns,
            orthogonal,
            self.batch,
            _is_read_again(self.cone),
        )
        found = self.cone.map(_overlooked, look, self.splits.rounds_of)
        _keep(self.cone, (answer[2] for answer in found))
        worst, _ = lowest(*_joined(answer[0] for answer in found), self.batch)
        others = np.concatenate([answer[1] for answer in found])
        return self.add(np.unique(np.concatenate([worst, spread(others, SPREAD)])))


def hardest_rows(
    cone: Cone, w: Array, size: int, rounds_of: PerBlock | None = None
) -> list[tuple[Array, Array]]:
    """Of each sign, -1 first, the rows left with the lowest scores, at most `size`; and these."""
    found = cone.map(_hardest, w, rounds_of, size, _is_read_again(cone))
    _keep(cone, (rows for _, rows in found))
    return [lowest(*_joined(pairs[k] for pairs, _ in found), size) for k in range(2)]


def _is_read_again(cone: Cone) -> bool:
    """Whether rows that are not returned at once cost another reading."""
    return not cone.resident and not cone.remote


def _keep(cone: Cone, found: Iterable[tuple[Array, ConeBlock] | None]) -> None:
    """Rows that came with the answers, so that they are not read again."""
    for pair in found:
        if pair is not None:
            cone.keep(*pair)


# ---------------------------------------------------------------------- block by block


@dataclass(frozen=True, eq=False)
class _Look:
    """For rows that w does not have on their side, off the span of the face."""

    w: Array
    size: float
    known: Array  # rows that need not be found again, in order
    columns: Array
    orthogonal: Residues | None
    batch: int
    fetch: bool  # whether the rows found come with their numbers


def _overlooked(
    block: ConeBlock, look: _Look, rounds_of: Array | None
) -> tuple[tuple[Array, Array], Array, tuple[Array, ConeBlock] | None]:
    """The rows furthest on the wrong side with their scores, and some spread over all of them."""
    found = scores(block, look.w)
    if block.equality is not None:  # wherever they lie
        found[block.equality] = -np.inf
    wrong = is_left(block, rounds_of) & (found <= look.size)
    first = block.first_row
    low, high = np.searchsorted(look.known, [first, first + len(block)])
    wrong[look.known[low:high] - first] = False
    rows = np.flatnonzero(wrong)
    if look.orthogonal is not None and rows.size:
        rows = rows[_is_off(block.X[rows], look)]
    worst, others = lowest(first + rows, found[rows], look.batch), first + spread(rows, SPREAD)
    return worst, others, _fetched(block, np.union1d(worst[0], others)) if look.fetch else None


def _fetched(block: ConeBlock, rows: Array) -> tuple[Array, ConeBlock]:
    """Rows of a block, by their numbers."""
    inside = rows - block.first_row
    part = block.part(inside)
    return rows, replace(part, X=part.X.astype(np.float64))


def _is_off(X: Any, look: _Look) -> npt.NDArray[np.bool_]:
    """Which rows (x_i, 1) are not in the span of the face."""
    x = np.zeros(X.shape[1] + 1, dtype=np.int64)
    x[look.columns] = look.orthogonal
    if sp.issparse(X):
        ends = np.append(0, np.cumsum(residues(X.data) * x[X.indices] % PRIME))
        found = ends[X.indptr[1:]] - ends[X.indptr[:-1]]
    else:
        columns = look.columns[look.columns < X.shape[1]]
        found = modular_product(residues(X[:, columns]), x[columns])
    return np.asarray((found + x[-1]) % PRIME != 0)


def _hardest(
    block: ConeBlock, w: Array, rounds_of: Array | None, size: int, fetch: bool
) -> tuple[list[tuple[Array, Array]], tuple[Array, ConeBlock] | None]:
    """The rows with the lowest scores and these, of sign -1 and of sign +1."""
    found, left = scores(block, w), is_left(block, rounds_of)
    chosen = [np.flatnonzero((block.sign == sign) & left) for sign in (-1, 1)]
    pairs = [lowest(block.first_row + rows, found[rows], size) for rows in chosen]
    numbers = np.concatenate([rows for rows, _ in pairs])
    return pairs, _fetched(block, numbers) if fetch else None


def lowest(rows: Array, values: Array, size: int) -> tuple[Array, Array]:
    """The rows with the lowest scores, at most `size` of them."""
    if len(rows) <= size:
        return rows, values
    picked = np.argpartition(values, size)[:size]
    return rows[picked], values[picked]


def _joined(pairs: Iterable[tuple[Array, Array]]) -> tuple[Array, Array]:
    rows, values = zip(*pairs, strict=True)
    return np.concatenate(rows), np.concatenate(values)


def spread(rows: Array, n: int) -> Array:
    """About n of the rows, evenly spread."""
    return rows[:: max(1, len(rows) // n)]
