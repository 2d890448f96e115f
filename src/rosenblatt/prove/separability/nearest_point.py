"""The nearest point of a hull to the origin, by Wolfe's algorithm over integers.

    minimise ||p||^2,  p = sum_i a_i z_i,  a >= 0,  the weights a of each group summing to 1

One group: the smallest point of the hull of the z_i. Two groups, the classes: the difference of
the nearest points of their hulls. A corral is a set of rows whose (z_i, e_group) are linearly
independent. The smallest point of its affine hull has z_i.p = mu_group for all of its rows, and
sum mu = ||p||^2; it is the answer if its weights are >= 0 and no row of any group has z_i.p <
mu_group. Such a row enters the corral, rows whose weight falls to 0 leave, ||p|| falls at every
step, and there are finitely many corrals [Wolfe 1976].
"""

from __future__ import annotations

from fractions import Fraction
from math import frexp, lcm, ldexp
from typing import Any

from flint import fmpz_mat

from rosenblatt.data.exact import fractions, primitive
from rosenblatt.prove.limits import UNLIMITED, Limits


class Corral:
    """Integer rows with rational weights. Row k is z_k times 2^exponent."""

    def __init__(self, n_groups: int = 1, limits: Limits = UNLIMITED) -> None:
        self.n_groups, self.limits = n_groups, limits
        self.rows: list[int] = []
        self.group: list[int] = []
        self.vectors: list[list[int]] = []
        self.weights: list[Fraction] = []
        self.exponent = 0

    def add(
        self, row: int, vector: list[int], weight: Fraction, group: int = 0, exponent: int = 0
    ) -> None:
        """Add a row; the weights of each group must sum to 1 when `settle` is called."""
        self.exponent = self.exponent if self.rows else exponent
        if exponent > self.exponent:
            finer = exponent - self.exponent
            self.vectors = [[v << finer for v in other] for other in self.vectors]
            self.exponent = exponent
        self.vectors.append([v << (self.exponent - exponent) for v in vector])
        self.rows.append(row)
        self.group.append(group)
        self.weights.append(weight)

    def settle(self) -> None:
        """Move to the smallest point that keeps all weights positive."""
        while True:
            try:
                target = self._affine()
            except ZeroDivisionError:  # dependent rows: one can be left out, p stays
                self._move(self._dependence())
                continue
            if all(t > 0 for t in target):
                self.weights = target
                return
            self._move([t - a for t, a in zip(target, self.weights, strict=True)])

    def point(self) -> tuple[list[int], int]:
        """p times 2^exponent, as integers over one denominator."""
        common = lcm(*(a.denominator for a in self.weights))
        whole = [a.numerator * (common // a.denominator) for a in self.weights]
        total = fmpz_mat([whole]) * fmpz_mat(self.vectors)
        return [int(v) for v in total.entries()], common

    def levels(self, point: list[int]) -> list[Fraction]:
        """z_i.point of the rows of each group, the same for all of them once settled."""
        out = dict.fromkeys(range(self.n_groups), Fraction(0))
        for g, vector in zip(self.group, self.vectors, strict=True):
            dot = sum(a * b for a, b in zip(vector, point, strict=True))
            out[g] = Fraction(dot) / Fraction(2) ** self.exponent
        return list(out.values())

    def _move(self, change: list[Fraction]) -> None:
        """Go in this direction until a weight is 0, and drop the rows without weight."""
        pairs = list(zip(self.weights, change, strict=True))
        step = min(a / -c for a, c in pairs if c < 0)
        weights = [a + step * c for a, c in pairs]
        keep = [k for k, a in enumerate(weights) if a > 0]
        self.weights = [weights[k] for k in keep]
        self.rows = [self.rows[k] for k in keep]
        self.group = [self.group[k] for k in keep]
        self.vectors = [self.vectors[k] for k in keep]

    def _ends(self) -> list[list[int]]:
        return [[int(h == g) for h in range(self.n_groups)] for g in self.group]

    def _affine(self) -> list[Fraction]:
        """Solve z_i.p = mu_group for all rows, each group's weights summing to 1."""
        k, g = len(self.rows), self.n_groups
        Z, ends = fmpz_mat(self.vectors), self._ends()
        gram: list[list[Any]] = (Z * Z.transpose()).tolist()
        self.limits.check_system(k + g, max(int(gram[i][i]).bit_length() for i in range(k)))
        matrix = [[*row, *(-c for c in end)] for row, end in zip(gram, ends, strict=True)]
        matrix += [[end[h] for end in ends] + [0] * g for h in range(g)]
        found = fmpz_mat(matrix).solve(fmpz_mat(k + g, 1, [0] * k + [1] * g))
        return fractions([found[i, 0] for i in range(k)])

    def _dependence(self) -> list[Fraction]:
        """Weights, not all 0, with which the (z_i, e_group) cancel."""
        lifted = [[*v, *end] for v, end in zip(self.vectors, self._ends(), strict=True)]
        space, _ = fmpz_mat(lifted).transpose().nullspace()
        found = [Fraction(int(space[i, 0])) for i in range(len(lifted))]
        return found if any(c < 0 for c in found) else [-c for c in found]


def separate(rows: list[list[int]], limits: Limits) -> tuple[list[int], dict[int, Fraction]]:
    """A point x with all z.x > 0 and no weights; or no point and weights > 0 that cancel.

    The nearest point of the hull is 0, or it separates. The search ends as soon as all z.x > 0.
    """
    Z, bits = fmpz_mat(rows), [max(abs(v) for v in row).bit_length() for row in rows]
    corral, start = Corral(limits=limits), 0
    corral.add(start, rows[start], Fraction(1))
    while True:
        limits.check_time()
        corral.settle()
        point = primitive(corral.point()[0])
        if not any(point):
            return [], dict(zip(corral.rows, corral.weights, strict=True))
        scores = [int(v) for v in (Z * fmpz_mat(len(point), 1, point)).entries()]
        if all(s > 0 for s in scores):
            return point, {}
        worst = _most_wrong(scores, bits)
        corral.add(worst, rows[worst], Fraction(0))


def _most_wrong(scores: list[int], bits: list[int]) -> int:
    """The row farthest on the wrong side, measured by its own size, roughly."""
    top = max(abs(s).bit_length() - b for s, b in zip(scores, bits, strict=True))

    def depth(k: int) -> float:
        s, shift = scores[k], max(abs(scores[k]).bit_length() - 60, 0)
        mantissa, exponent = frexp(float(s >> shift))
        return ldexp(mantissa, max(exponent + shift - bits[k] - top, -1000))

    return min((k for k, s in enumerate(scores) if s <= 0), key=depth)
