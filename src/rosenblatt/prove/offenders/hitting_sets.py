"""Hitting sets: how little mass meets every set of a family?

Sets W of elements g with whole masses m_g >= 1; a hitting set takes at least one element of every
W. Packing: shares u_W >= 0 with sum_{W containing g} u_W <= m_g for every g prove that every
hitting set has a mass of at least sum_W u_W, so at least its ceiling: sum_W u_W
<= sum_W u_W |W & H| = sum_{g in H} sum_{W containing g} u_W <= sum_{g in H} m_g.

The linear program is in floats; its shares are made rational, and keep within the masses exactly.
Where packing is not enough, the checker's `can_hit` shows that no hitting set is lighter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

Sets = Sequence[frozenset[int]]
Mass = Sequence[int]


@dataclass(frozen=True)
class Packing:
    """Shares of the sets, the bound they prove, and prices of the elements (a proposal)."""

    shares: tuple[Fraction, ...]
    prices: dict[int, float]

    @property
    def bound(self) -> int:
        return ceil(sum(self.shares, Fraction(0)))


def packing(
    sets: Sets, mass: Mass, enough: int | None = None, seconds: float | None = None
) -> Packing:
    """The best shares, rounded to rationals that keep within the masses exactly.

    If sets that share no element prove a bound of `enough` already, these are taken; and if the
    best ones take longer than this time.

    >>> triangle = [frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 2})]
    >>> found = packing(triangle, [1, 1, 1])
    >>> [str(u) for u in found.shares], found.bound
    (['1/2', '1/2', '1/2'], 2)
    """
    if not sets:
        return Packing((), {})
    simple = Packing(_disjoint(sets, mass), {})
    if enough is not None and simple.bound >= enough:
        return simple
    elements, A = _incidence(sets)
    room = np.array([mass[g] for g in elements], dtype=np.float64)
    found = linprog(
        -np.ones(len(sets)),
        A_ub=A,
        b_ub=room,
        bounds=(0, None),
        method="highs-ds",
        options={} if seconds is None else {"time_limit": max(seconds, 0.05)},
    )
    if found.status != 0:
        return simple
    prices = dict(zip(elements, (-found.ineqlin.marginals).tolist(), strict=True))
    shares = _within(sets, mass, found.x.tolist())
    return Packing(shares if sum(shares) > sum(simple.shares) else simple.shares, prices)


def _incidence(sets: Sets) -> tuple[list[int], sp.csr_array]:
    """Elements that occur, and the matrix element x set."""
    elements = sorted(set().union(*sets))
    place = {g: k for k, g in enumerate(elements)}
    row = [place[g] for W in sets for g in W]
    column = [k for k, W in enumerate(sets) for _ in W]
    shape = (len(elements), len(sets))
    return elements, sp.csr_array((np.ones(len(row)), (row, column)), shape)


def _within(sets: Sets, mass: Mass, proposed: list[float]) -> tuple[Fraction, ...]:
    """Short fractions near the proposed shares, cut down where an element is overdrawn."""
    shares = [max(Fraction(u).limit_denominator(5040), Fraction(0)) for u in proposed]
    drawn: dict[int, Fraction] = {}
    for W, u in zip(sets, shares, strict=True):
        for g in W if u else ():
            drawn[g] = drawn.get(g, Fraction(0)) + u
    for k, W in enumerate(sets):
        over = max((drawn.get(g, Fraction(0)) - mass[g] for g in W), default=Fraction(0))
        cut = min(shares[k], over)
        if cut > 0:
            shares[k] -= cut
            for g in W:
                drawn[g] -= cut
    return tuple(shares)


def _disjoint(sets: Sets, mass: Mass) -> tuple[Fraction, ...]:
    """Whole shares, shortest sets first."""
    room = {g: mass[g] for W in sets for g in W}
    shares = [Fraction(0)] * len(sets)
    for k in sorted(range(len(sets)), key=lambda k: len(sets[k])):
        take = min(room[g] for g in sets[k])
        shares[k] = Fraction(take)
        for g in sets[k]:
            room[g] -= take
    return tuple(shares)


def cover(sets: Sets, mass: Mass, seconds: float) -> set[int] | None:
    """A light hitting set by integer programming, a proposal; None if it found none in time."""
    if not sets:
        return set()
    elements, A = _incidence(sets)
    found = milp(
        np.array([mass[g] for g in elements], dtype=np.float64),
        constraints=LinearConstraint(A.T, lb=1.0),
        bounds=Bounds(0, 1),
        integrality=np.ones(len(elements)),
        options={"time_limit": max(seconds, 0.05)},
    )
    if found.x is None:
        return None
    return {g for g, v in zip(elements, found.x.tolist(), strict=True) if v > 0.5}
