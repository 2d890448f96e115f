"""Verify removal: checks a claim that some rows must go. Shares nothing with the search.

With z_i = y_i (x_i, 1), or y_i x_i without offset:

- rows S are enough to remove if some (w, b) has w.z_i > 0 for all other rows;
- rows with the same z_i form one group of mass m: it takes the removal of all m to be rid of it;
- rows W with positive weights that cancel cannot all stay [Gordan], so one of their groups goes
  entirely;
- shares u_W >= 0 that draw at most its mass from every group prove that at least sum u_W rows go;
- or else a search shows that no choice of groups of less mass meets every W.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from math import ceil, nan
from typing import Any

import scipy.sparse as sp

from rosenblatt.data.cone import Cone
from rosenblatt.data.exact import exact_dot
from rosenblatt.prove.checker.combination import cancels, labels
from rosenblatt.prove.checker.digest import data_digest
from rosenblatt.prove.checker.limbs import as_float64, with_ones
from rosenblatt.prove.checker.limits import indices
from rosenblatt.prove.checker.norms import sqrt_nearest
from rosenblatt.prove.checker.signs import plane_of, plane_problems, signs

CHECK_STEPS = 100_000


def removal_problems(claim: Any, cone: Cone) -> tuple[list[str], str]:
    """What is not true of `Offenders`, in words, and the digest of the data."""
    said = _wrong_rows(claim, cone)
    said += _false_copies(cone, claim.copies, claim.fit_intercept)
    for k, part in enumerate(claim.witnesses):
        if not cancels(cone, part.rows, part.weights, claim.fit_intercept):
            said.append(f"the weights of witness {k} do not cancel, or are not positive")
    if not said:
        if claim.labels != labels_of(cone, claim.rows):
            said.append("the labels of the removed rows are others")
        found = distances(cone, claim.rows, claim.w, claim.b, claim.fit_intercept)
        if repr(claim.distances) != repr(found):  # nan is what it is
            said.append("the distances of the removed rows are others")
        shares = [(part.rows, part.share) for part in claim.witnesses]
        said += unproven_bound(claim.lower_bound, shares, claim.copies, claim.by_search)
    return said, data_digest(cone)


def _wrong_rows(claim: Any, cone: Cone) -> list[str]:
    """What is not true of the claim that (w, b) is right about all rows but the removed ones."""
    removed, intercept = list(claim.rows), claim.fit_intercept
    if any(not 0 <= i < cone.n_rows for i in removed):
        return ["a removed row does not exist"]
    if removed != sorted(set(removed)):
        return ["the removed rows are not in order, or one is named twice"]
    if said := plane_problems(claim.w, claim.b, cone.n_features, intercept):
        return said
    found = signs(cone, claim.w, claim.b, intercept)
    found[removed] = 1
    wrong = (found <= 0).nonzero()[0]
    if wrong.size:
        return [f"{wrong.size} of the rows that stay are not on their side, first {wrong[0]}"]
    return []


def labels_of(cone: Cone, at: Sequence[int]) -> tuple[str, ...]:
    """The labels of some rows, as text."""
    return tuple(str(cone.classes[int(y > 0)]) for y in labels(cone, at))


def distances(
    rows: Cone,
    removed: Sequence[int],
    w: Sequence[float | Fraction],
    b: float | Fraction,
    intercept: bool,
) -> tuple[float, ...]:
    """y_i (w.x_i + b) / ||w|| of the removed rows, as the nearest floats; nan if w = 0."""
    plane = plane_of(w, b, intercept)
    if not plane.square:
        return (nan,) * len(removed)
    part = rows.take(removed)
    X = with_ones(as_float64(part.X))
    found = []
    for k, y in enumerate(part.sign.tolist()):
        score = y * exact_dot(X, k, plane.vector)
        size = sqrt_nearest(score * score / plane.square)
        found.append(size if score >= 0 else -size)
    return tuple(found)


def _false_copies(rows: Cone, copies: Sequence[Sequence[int]], intercept: bool) -> list[str]:
    """What is not true of the claim that the rows of each group have the same z."""
    named = [i for group in copies for i in group]
    if not indices(named, rows.n_rows):
        return ["a row is named as a copy twice, or does not exist"]
    part = rows.take(named)
    X = as_float64(part.X)
    Z = sp.csr_array(with_ones(X) if intercept else X).multiply(part.sign[:, None]).tocsr()
    place = {i: k for k, i in enumerate(named)}
    for group in copies:
        for i in group[1:]:
            if (Z[[place[group[0]]]] != Z[[place[i]]]).nnz:
                return [f"rows {group[0]} and {i} differ"]
    return []


def unproven_bound(
    bound: int,
    witnesses: Sequence[tuple[Sequence[int], Fraction]],
    copies: Sequence[Sequence[int]],
    by_search: bool,
) -> list[str]:
    """What is missing for `bound`, the witnesses (rows, share) being known to cancel."""
    if bound < 0:
        return [f"no bound is negative, and this one is {bound}"]
    group_of = {i: k for k, group in enumerate(copies) for i in group}
    mass = {k: len(group) for k, group in enumerate(copies)}
    drawn: dict[int, Fraction] = {}
    sets = []
    for rows, share in witnesses:
        if share < 0:
            return ["a share is negative"]
        groups = frozenset(
            group_of.get(i, -1 - i) for i in rows
        )  # a row without copies is a group itself
        sets.append(groups)
        for g in groups:
            drawn[g] = drawn.get(g, Fraction(0)) + share
    over = [g for g, total in drawn.items() if total > mass.get(g, 1)]
    if over:
        return [f"the shares draw more from {len(over)} groups of rows than they have"]
    if bound <= ceil(sum((share for _, share in witnesses), Fraction(0))):
        return []
    if not by_search:
        return [f"the shares do not add up to a bound of {bound}"]
    try:
        hit = hitting_set(sets, mass, bound - 1, CHECK_STEPS)
    except SearchLimitError:
        return [f"the search for fewer than {bound} rows was not completed"]
    return [] if hit is None else [f"fewer than {bound} rows meet every witness"]


class SearchLimitError(Exception):
    """A search went beyond its limits."""


def hitting_set(
    sets: Sequence[Collection[int]],
    mass: Mapping[int, int],
    budget: int,
    steps: int,
    out_of_time: Callable[[], bool] = lambda: False,
) -> set[int] | None:
    """Groups of mass at most `budget` that meet all sets; None if there are none.

    A group without a mass has 1. Branches on the unmet set with the fewest groups; a group once
    tried is barred further on, so no choice is met twice. A branch ends when sets that share no
    group need more than the budget, or when no so many groups meet as many sets as are unmet.
    After so many steps, or when time is out, it raises SearchLimitError.

    >>> triangle = [{0, 1}, {1, 2}, {0, 2}]
    >>> hitting_set(triangle, {}, 1, 100), hitting_set(triangle, {}, 2, 100)
    (None, {0, 1})
    """
    members = sorted((sorted(W) for W in {frozenset(W) for W in sets}), key=len)
    meets: dict[int, int] = {}  # group -> the sets it meets, as bits
    for k, W in enumerate(members):
        for g in W:
            meets[g] = meets.get(g, 0) | 1 << k

    def branch(unmet: int, budget: int, barred: frozenset[int]) -> list[int]:
        """What to try next: the groups of one unmet set; nothing if there is no hope."""
        shortest: list[int] = []
        used: set[int] = set()
        able: set[int] = set()
        need, left = 0, unmet
        while left:
            low = left & -left
            left ^= low
            free = [g for g in members[low.bit_length() - 1] if g not in barred]
            if not free:
                return []
            able.update(free)
            if not shortest or len(free) < len(shortest):
                shortest = free
            if used.isdisjoint(free):
                used.update(free)
                need += min(mass.get(g, 1) for g in free)
                if need > budget:
                    return []
        met = {g: (meets[g] & unmet).bit_count() for g in able}
        if sum(sorted(met.values(), reverse=True)[:budget]) < unmet.bit_count():
            return []  # every group has a mass of at least 1
        return sorted(shortest, key=lambda g: -met[g])

    def below(unmet: int, budget: int, barred: frozenset[int]) -> set[int] | None:
        nonlocal steps
        steps -= 1
        if steps < 0 or (steps % 64 == 0 and out_of_time()):
            raise SearchLimitError
        if not unmet:
            return set()
        for g in branch(unmet, budget, barred):
            rest = budget - mass.get(g, 1)
            found = below(unmet & ~meets[g], rest, barred) if rest >= 0 else None
            if found is not None:
                return found | {g}
            barred |= {g}
        return None

    return below((1 << len(members)) - 1, budget, frozenset())
