"""The nearest points of two hulls, or of one hull and the origin, over all rows.

The smallest point over a working set of rows is found in floats; a scan of all rows says which
others are further down, and the lowest few join. Wolfe's algorithm over integers finishes.
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
from scipy.optimize import nnls

from rosenblatt.data.cone import ConeBlock
from rosenblatt.data.exact import to_integers
from rosenblatt.prove.margins.extremes import Direction, Scanner, sqrt_up
from rosenblatt.prove.separability.nearest_point import Corral
from rosenblatt.prove.separability.scaling import signed_rows

Array = npt.NDArray[Any]
PER_SCAN = 60  # rows of each group that a scan adds to the working set
NOTHING = 1e-15  # a square, relative to the largest, that floats cannot tell from 0
BALANCE = 1e3  # how much more two sums of weights must agree than sum to 1
EXACT_ROWS = 400  # a rational system of this size takes about 10 s


@dataclass(eq=False)
class Closest:
    """A search for the smallest point: a working set in floats, a corral in rationals.

    Attributes
    ----------
    groups : int
        2: the nearest points of the hulls of the two classes. 1: of the hull of all z_i and 0.
    rtol : float
        The floats stop when rows further down by this, relatively, are no longer found.
    corral : Corral
        After `by_floats`, the rows of the working set with positive weights; after a
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
    pace: float = 0.0  # seconds that the last solve took, divided by the cube of its size

    def __post_init__(self) -> None:
        self.rows = self.scanner.rows
        constant = self.scanner.constant
        self.columns = self.rows.n_features + int(constant)
        # powers of two bring the largest entry to about 1: exact, and squares stay in range
        self.exponent = max(self.scanner.exponent, 1) if constant else self.scanner.exponent
        size = sqrt_up(self.scanner.radius_squared / Fraction(4) ** self.exponent) or 1.0
        self.size = size
        self.Z: Any = None
        self.group = np.zeros(0, dtype=np.int64)
        self.weights = np.zeros(0)

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return time.perf_counter() > self.deadline

    # ------------------------------------------------------------------ in floats

    def by_floats(self) -> None:
        """Alternate: the smallest point over the working set, and a scan of all rows."""
        self._let_in(self.rows.take(self.scanner.first), np.array(self.scanner.first))
        self.weights = np.ones(len(self.working))
        least = np.inf
        while self.steps < self.max_steps and not self.late:
            p = self._point()
            square = float(p @ p)
            if square <= NOTHING * self.size**2 or square > least:
                break
            least = square
            lowest, fresh = self._scan(p)
            if square - sum(lowest) <= self.rtol / 8 * square or not fresh or not self._solve():
                break
        self.corral = self._exact_corral()

    def _solve(self) -> bool:
        """The weights of the smallest point over the working set; False without time for it.

        Lawson and Hanson's method: minimise ||sum_i a_i z_i||^2 + (sum_i a_i - size)^2 with a >= 0,
        a multiple of the answer; with two groups the sums of their weights must be equal.
        """
        began, n = time.perf_counter(), len(self.working)
        if began + self.pace * n**3 > self.deadline:
            return False
        Z = self.Z.toarray() if sp.issparse(self.Z) else self.Z
        ends = [np.full((1, n), self.size)]
        if self.groups == 2:
            ends.append(BALANCE * self.size * (1.0 - 2.0 * self.group)[None])
        right = np.zeros(self.columns + self.groups)
        right[self.columns] = self.size
        self.steps += 1
        try:
            found, _ = nnls(np.vstack([Z.T, *ends]), right, maxiter=20 * n)
        except RuntimeError:  # too many steps
            return False
        self.pace = (time.perf_counter() - began) / n**3
        if any(not found[self.group == g].any() for g in range(self.groups)):
            return False
        self.weights = found
        return True

    def _point(self) -> Array:
        """The point of these weights, each group's divided by their sum."""
        sums = np.bincount(self.group, self.weights, self.groups)
        return np.asarray(self.Z.T @ (self.weights / sums[self.group]))

    def _let_in(self, part: ConeBlock, rows: Array) -> None:
        """Rows into the working set, as floats of size about 1."""
        X = part.X.astype(np.float64) * np.ldexp(1.0, -self.exponent)
        y = part.sign.astype(np.float64)
        Z = sp.diags_array(y) @ X if sp.issparse(X) else y[:, None] * X
        if self.scanner.constant:
            end = np.ldexp(y, -self.exponent)[:, None]
            Z = sp.hstack([Z, sp.csr_array(end)]) if sp.issparse(Z) else np.hstack([Z, end])
        self.Z = Z if self.Z is None else _stacked(self.Z, Z)
        side = part.sign < 0 if self.groups == 2 else np.zeros(len(part), bool)
        self.group = np.concatenate([self.group, side.astype(np.int64)])
        self.weights = np.append(self.weights, np.zeros(len(rows)))
        self.working += rows.tolist()
        self.known |= set(rows.tolist())

    def _scan(self, p: Array) -> tuple[list[float], bool]:
        """The lowest score of each group over all rows; the lowest few join the working set."""
        direction = self.scanner.direction(p)
        self.scans += 1
        parts = zip(*self.rows.map(_few_lowest, direction, self.groups), strict=True)
        few = [_joined(list(found)) for found in parts]
        lowest = [float(found.scores.min(initial=np.inf)) for found in few]
        fresh = False
        for found in few:
            new = [k for k, r in enumerate(found.rows.tolist()) if r not in self.known]
            if new:
                fresh = True
                self._let_in(ConeBlock(found.X[new], found.y[new]), found.rows[new])
        shift = direction.shift - self.exponent
        return [float(np.ldexp(v, shift)) for v in lowest], fresh

    # --------------------------------------------------------------- in rationals

    def _exact_corral(self) -> Corral:
        """The rows with positive weights, which are made to sum to exactly 1 in each group."""
        corral, inside = Corral(self.groups), np.flatnonzero(self.weights).tolist()
        weights = {k: Fraction(float(self.weights[k])) for k in inside}
        totals = [Fraction(0)] * self.groups
        for k, a in weights.items():
            totals[self.group[k]] += a
        whole = self._whole([self.working[k] for k in inside])
        for (k, a), (vector, exponent) in zip(weights.items(), whole, strict=True):
            g = int(self.group[k])
            corral.add(self.working[k], vector, a / totals[g], g, exponent)
        return corral

    def _whole(self, at: list[int]) -> list[tuple[list[int], int]]:
        """The z_i as integers and the exponents of two they were multiplied by."""
        part = self.rows.take(at)
        rows, exponents = to_integers(signed_rows(part, self.scanner.constant))
        return list(zip(rows, exponents, strict=True))

    def by_rationals(self, most_rows: int = EXACT_ROWS, most_steps: int | None = None) -> bool:
        """Finish without rounding: True if the smallest point was reached."""
        corral = self.corral
        last = self.max_steps if most_steps is None else self.steps + most_steps
        while len(corral.rows) <= most_rows and self.steps <= last and not self.late:
            corral.settle()
            point = corral.point()[0]
            if not any(point):
                return False
            found = self.scanner.least(point, by_class=self.groups == 2)
            self.scans += 1
            level = corral.levels(point)
            short = [mu - low.value for mu, low in zip(level, found, strict=True)]
            most, g = max((s, g) for g, s in enumerate(short))
            if most <= 0:
                return True
            vector, exponent = self._whole([found[g].row])[0]
            corral.add(found[g].row, vector, Fraction(0), g, exponent)
            self.steps += 1
        return False

    def point(self) -> tuple[list[int], Fraction]:
        """A positive multiple of the point reached, and its norm squared, exactly."""
        point, common = self.corral.point()
        square = Fraction(sum(v * v for v in point), common * common)
        return point, square / Fraction(4) ** self.corral.exponent


@dataclass(frozen=True, eq=False)
class _Few:
    """The rows of a group with the lowest scores: they come with the answer, so none is fetched."""

    scores: Array
    rows: npt.NDArray[np.int64]
    X: Any
    y: Array


def _few_lowest(part: ConeBlock, direction: Direction, groups: int) -> list[_Few]:
    """Of a part, for each group."""
    scores, found = direction.scores(part), []
    for g in range(groups):
        mine = np.flatnonzero(part.sign == 1 - 2 * g) if groups == 2 else np.arange(len(part))
        at = mine[_lowest(scores[mine])]
        found.append(_Few(scores[at], at + part.first_row, part.X[at], part.sign[at]))
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
