"""Closest: the nearest points of two hulls, or of one hull and the origin, over all rows.

Wolfe's algorithm runs over a working set of rows; a scan of all rows says which others are
further down than those, and the lowest few join. Floats go first, rationals finish.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.chunks import Part
from rosenblatt.prove.exact import integer_rows
from rosenblatt.prove.margins.corral import Corral, ExactCorral
from rosenblatt.prove.margins.extremes import Direction, Scanner, sqrt_up

Array = npt.NDArray[Any]
PER_SCAN = 60  # rows of each group that a scan adds to the working set
NOTHING = 1e-15  # a square, relative to the largest, that floats cannot tell from 0
EXACT_ROWS = 400  # a rational system of this size takes about 10 s


@dataclass(eq=False)
class Closest:
    """A search for the smallest point: a working set, a corral in floats, one in rationals.

    Attributes
    ----------
    groups : int
        2: the nearest points of the hulls of the two classes. 1: of the hull of all z_i and 0.
    rtol : float
        The floats stop when rows further down by this, relatively, are no longer found.
    exact : ExactCorral
        After `by_floats`, the last corral of the floats with their weights; after a
        `by_rationals` that is True, the answer.
    """

    scanner: Scanner
    groups: int
    rtol: float
    max_steps: int
    deadline: float = inf  # on the clock of time.perf_counter
    steps: int = 0
    scans: int = 1
    working: list[int] = field(default_factory=list)
    known: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.rows = self.scanner.rows
        constant = self.scanner.constant
        self.columns = self.rows.n_features + int(constant)
        # powers of two bring the largest entry to about 1: exact, and squares stay in range
        self.exponent = max(self.scanner.exponent, 1) if constant else self.scanner.exponent
        size = sqrt_up(self.scanner.radius_squared / Fraction(4) ** self.exponent) or 1.0
        self.corral = Corral(self.columns, self.groups, size)
        self.Z: Any = None
        self.group = np.zeros(0, dtype=np.int64)

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return time.perf_counter() > self.deadline

    # ------------------------------------------------------------------ in floats

    def by_floats(self) -> None:
        """Alternate: the smallest point over the working set, and a scan of all rows."""
        self._alternate()
        self.exact = self._exact_corral()

    def _alternate(self) -> None:
        self._let_in(self.rows.take(self.scanner.first), np.array(self.scanner.first))
        for k in range(self.groups):
            self.corral.add(k, int(self.group[k]), self._vector(k))
        fine, gap = self.rtol / 16, 1.0
        while self.steps < self.max_steps and not self.late:
            tol = max(fine, min(gap, 1.0) / 100)  # no finer than the working set is worth
            moved = self._descend(tol)
            p = self.corral.point
            square = float(p @ p)
            if square <= NOTHING * self.corral.size**2:
                return
            lowest, fresh = self._scan(p)
            gap = (square - sum(lowest)) / square
            if gap <= 2 * fine or not moved or (not fresh and tol == fine):
                return
            gap = gap if fresh else 0.0

    def _let_in(self, part: Part, rows: Array) -> None:
        """Rows into the working set, as floats of size about 1."""
        X = part.X.astype(np.float64) * np.ldexp(1.0, -self.exponent)
        y = part.y.astype(np.float64)
        Z = sp.diags_array(y) @ X if sp.issparse(X) else y[:, None] * X
        if self.scanner.constant:
            end = np.ldexp(y, -self.exponent)[:, None]
            Z = sp.hstack([Z, sp.csr_array(end)]) if sp.issparse(Z) else np.hstack([Z, end])
        self.Z = Z if self.Z is None else _stacked(self.Z, Z)
        side = part.y < 0 if self.groups == 2 else np.zeros(len(part), bool)
        self.group = np.concatenate([self.group, side.astype(np.int64)])
        self.working += rows.tolist()
        self.known |= set(rows.tolist())

    def _vector(self, k: int) -> Array:
        row = self.Z[[k]]
        return np.ravel(row.toarray() if sp.issparse(row) else row)

    def _descend(self, tol: float) -> bool:
        """Wolfe over the working set, to a relative gap of `tol`; False if floats are stuck."""
        corral = self.corral
        moved = len(self.working) <= 2
        while self.steps < self.max_steps and not self.late:
            p = corral.point
            square = float(p @ p)
            scores = np.asarray(self.Z @ p)
            short = np.full(len(scores), -np.inf)
            total = 0.0
            for g in range(self.groups):
                mine = self.group == g
                inside = [k for k, h in zip(corral.rows, corral.group, strict=True) if h == g]
                weight = [w for w, h in zip(corral.weights, corral.group, strict=True) if h == g]
                mu = float(np.dot(weight, scores[inside])) / sum(weight)
                short[mine] = mu - scores[mine]
                total += float(short[mine].max())
            if total <= tol * square or square <= NOTHING * corral.size**2:
                return True
            k = int(np.argmax(short))
            if k in corral.rows or not corral.add(k, int(self.group[k]), self._vector(k)):
                return moved
            self.steps += 1
            if not corral.settle():
                return moved
            moved = True
        return moved

    def _scan(self, p: Array) -> tuple[list[float], bool]:
        """The lowest score of each group over all rows; the lowest few join the working set."""
        direction = self.scanner.direction(p)
        self.scans += 1
        parts = zip(*self.rows.each(_few_lowest, direction, self.groups), strict=True)
        few = [_joined(list(found)) for found in parts]
        lowest = [float(found.scores.min(initial=np.inf)) for found in few]
        fresh = False
        for found in few:
            new = [k for k, r in enumerate(found.rows.tolist()) if r not in self.known]
            if new:
                fresh = True
                self._let_in(Part(-1, found.X[new], found.y[new]), found.rows[new])
        shift = direction.shift - self.exponent
        return [float(np.ldexp(v, shift)) for v in lowest], fresh

    # --------------------------------------------------------------- in rationals

    def _exact_corral(self) -> ExactCorral:
        """The float corral, its weights made to sum to exactly 1 in each group."""
        corral, exact = self.corral, ExactCorral(self.groups)
        weights = [Fraction(float(a)) for a in corral.weights]
        totals = [
            sum((a for a, h in zip(weights, corral.group, strict=True) if h == g), Fraction(0))
            for g in range(self.groups)
        ]
        at = [self.working[k] for k in corral.rows]
        for row, g, a, whole in zip(at, corral.group, weights, self._whole(at), strict=True):
            if a > 0:
                exact.add(row, g, *whole, a / totals[g])
        return exact

    def _whole(self, at: list[int]) -> list[tuple[list[int], int]]:
        """The z_i as integers and the exponents of two they were multiplied by."""
        part = self.rows.take(at)
        rows, exponents = integer_rows(part.X, part.y, range(len(at)), self.scanner.constant)
        return list(zip(rows, exponents, strict=True))

    def by_rationals(self, most_rows: int = EXACT_ROWS, most_steps: int | None = None) -> bool:
        """Finish without rounding: True if the smallest point was reached."""
        exact = self.exact
        last = self.max_steps if most_steps is None else self.steps + most_steps
        while len(exact.rows) <= most_rows and self.steps <= last and not self.late:
            exact.settle()
            point, _ = exact.point()
            if not any(point):
                return False
            found = self.scanner.least(point, by_class=self.groups == 2)
            self.scans += 1
            level = exact.levels(point)
            short = [mu - low.value for mu, low in zip(level, found, strict=True)]
            most, g = max((s, g) for g, s in enumerate(short))
            if most <= 0:
                return True
            exact.add(found[g].row, g, *self._whole([found[g].row])[0], Fraction(0))
            self.steps += 1
        return False

    def point(self) -> tuple[list[int], Fraction]:
        """A positive multiple of the point reached, and its norm squared, exactly."""
        point, common = self.exact.point()
        square = Fraction(sum(v * v for v in point), common * common)
        return point, square / Fraction(4) ** self.exact.exponent


@dataclass(frozen=True, eq=False)
class _Few:
    """The rows of a group with the lowest scores: they come with the answer, so none is fetched."""

    scores: Array
    rows: npt.NDArray[np.int64]
    X: Any
    y: Array


def _few_lowest(part: Part, direction: Direction, groups: int) -> list[_Few]:
    """Of a part, for each group."""
    scores, found = direction.scores(part), []
    for g in range(groups):
        mine = np.flatnonzero(part.y == 1 - 2 * g) if groups == 2 else np.arange(len(part))
        at = mine[_lowest(scores[mine])]
        found.append(_Few(scores[at], at + part.start, part.X[at], part.y[at]))
    return found


def _joined(parts: list[_Few]) -> _Few:
    """Of all parts."""
    scores = np.concatenate([few.scores for few in parts])
    keep = _lowest(scores)
    X = parts[0].X
    for few in parts[1:]:
        X = _stacked(X, few.X)
    rows, y = (np.concatenate([getattr(few, name) for few in parts]) for name in ("rows", "y"))
    return _Few(scores[keep], rows[keep], X[keep], y[keep])


def _lowest(scores: Array) -> Array:
    """Positions of the PER_SCAN smallest."""
    if len(scores) <= PER_SCAN:
        return np.arange(len(scores))
    return np.argpartition(scores, PER_SCAN)[:PER_SCAN]


def _stacked(A: Any, B: Any) -> Any:
    if sp.issparse(A) and sp.issparse(B):
        return sp.vstack([A, B], format="csr")
    return np.vstack([M.toarray() if sp.issparse(M) else M for M in (A, B)])
