"""Means: sums of the rows of either class, and the margin that no hyperplane exceeds.

With an offset, a margin is at most half the distance of any two points, one of each class's hull;
without, at most the norm of any point of the hull of the y_i x_i. The means are such points.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.chunks import Part, Rows
from rosenblatt.prove.checking import limbs
from rosenblatt.prove.checking.blocks import IN_CACHE, slices
from rosenblatt.prove.checking.plane import TINY, UNIT

Array = npt.NDArray[Any]
SLACK = 4  # so that the bound made of these parts holds up in floats, mostly, for others too


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of rows, +1 first, of their sizes, and how many additions they took."""

    sums: Array
    sizes: Array
    counts: Array
    steps: int
    longest: int

    @classmethod
    def of(cls, part: Part) -> Sums:
        d = part.X.shape[1]
        sums, sizes, counts = np.zeros((d, 2)), np.zeros(d), np.zeros(2)
        steps, longest = 0, 0
        with np.errstate(all="ignore"):
            for low, X in slices(part.X, IN_CACHE):
                groups = _groups(part.y[low : low + X.shape[0]])
                sums += X.T @ groups
                sizes += np.ravel(abs(X).sum(axis=0))
                counts += groups.sum(axis=0)
                steps, longest = steps + 1, max(longest, X.shape[0])
        return cls(sums, sizes, counts, steps, longest)

    @classmethod
    def together(cls, found: Iterable[Sums]) -> Sums:
        """Of all parts."""
        parts = list(found)
        with np.errstate(all="ignore"):
            return cls(
                sum((p.sums for p in parts[1:]), parts[0].sums),
                sum((p.sizes for p in parts[1:]), parts[0].sizes),
                sum((p.counts for p in parts[1:]), parts[0].counts),
                sum(p.steps for p in parts),
                max(p.longest for p in parts),
            )

    def bound(self, intercept: bool, slack: int = 1) -> float:
        """The bound of the means, rounded up; inf if it overflows.

        A sum of m numbers in one block, then of the blocks of a part, then of the parts, with k
        blocks in all, errs by at most gamma_(m+k) times the sum of the sizes; the bound takes
        2 (m + k + 8) u, which covers its own rounding, and TINY an addition for what is flushed
        to zero. With `slack` it takes as many times that.
        """
        with np.errstate(all="ignore"):
            most = (self.longest + self.steps + 8) * slack
            error = 2 * most * UNIT * self.sizes / self.counts.min() + most * TINY
            parts = self.sums / (2 * self.counts if intercept else self.counts.sum())
            reach = np.abs(parts[:, 0] - parts[:, 1]) + error
            top = float(reach.max())
            norm = top * float(np.sqrt(np.sum((reach / top) ** 2)))  # no overflow on the way
        found = norm * (1 + 2 * (len(self.sums) + 8) * UNIT)
        return found if found == found else inf


def exactly_bounded(rows: Rows, intercept: bool, bound: float) -> bool:
    """The same comparison over the rationals: one more reading."""
    counts, totals = [0, 0], [[Fraction(0)] * rows.n_features for _ in range(2)]
    for number, sums in rows.each(_exact_sums):
        for g in range(2):
            counts[g] += number[g]
            totals[g] = [a + c for a, c in zip(totals[g], sums[g], strict=True)]
    first, second = (2 * counts[0], 2 * counts[1]) if intercept else (rows.n_rows, rows.n_rows)
    point = [a / first - c / second for a, c in zip(*totals, strict=True)]
    return bool(sum(v * v for v in point) <= Fraction(bound) ** 2)


def _exact_sums(part: Part) -> tuple[list[int], list[list[Fraction]]]:
    counts, totals = [0, 0], [[Fraction(0)] * part.X.shape[1] for _ in range(2)]
    for low, X in slices(part.X, IN_CACHE):
        groups = _groups(part.y[low : low + X.shape[0]])
        for g, sums in enumerate(limbs.column_sums(X, groups)):
            counts[g] += int(groups[:, g].sum())
            totals[g] = [a + c for a, c in zip(totals[g], sums, strict=True)]
    return counts, totals


def _groups(y: Array) -> Array:
    return np.stack([y > 0, y < 0], axis=1).astype(np.float64)
