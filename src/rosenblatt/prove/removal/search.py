"""Offender search: removals from above, cancelling sets from below, until they meet or time ends.

Every cancelling set must lose a ray, so a removal is a hitting set of all of them. Three things
are done in turn, each with what the others found:

- removals of falling mass (:mod:`rosenblatt.prove.removal.descent`), signs checked exactly;
- cancelling sets that share few rays, and the packing bound they prove;
- implicit hitting sets: the lightest set that hits all cancelling sets known so far; if what it
  leaves is separable it is the lightest removal of all, otherwise there is a new cancelling set.
"""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.prove.removal import hitting
from rosenblatt.prove.removal.cancelling import Circuit, Finder, Plane, signs
from rosenblatt.prove.removal.descent import Descent
from rosenblatt.prove.removal.rays import Rays

Array = npt.NDArray[Any]
SEARCH_STEPS = 50_000  # of the exact search that proves a bound
FEW_STEPS = 2_000
SEARCH_SETS = 2_000
STALE = 4  # rounds of packing without gain
FEW = 60  # rows to remove up to which hitting sets are worth the while
FIRST = 20
MISSES = 25  # in a row of one kind, before another kind is looked for
MANY = 40  # rays a column from which on neighbours are looked at first


class Search:
    """What is known so far: the lightest removal, cancelling sets, a proven bound."""

    def __init__(self, rays: Rays, seconds: float, seed: Any) -> None:
        self.began = time.perf_counter()
        self.until = self.began + seconds
        self.rays, self.finder = rays, Finder(rays)
        self.rng = np.random.default_rng(seed)
        self.mass: list[int] = rays.mass.tolist()
        self.pool: dict[frozenset[int], Circuit] = {}
        self.packed: dict[frozenset[int], Fraction] = {}
        self.bound, self.by_search = 0, False
        self.searched: list[frozenset[int]] = []
        d = rays.problem.n_features
        self.plane = Plane((0.0,) * d, 0.0)
        self.out = np.ones(len(rays), dtype=bool)  # w = 0 is right about nothing
        for b in (1.0, -1.0) if rays.intercept else ():
            self.consider(Plane((0.0,) * d, b))

    @property
    def best(self) -> int:
        """The mass of the lightest removal known."""
        return int(self.rays.mass[self.out].sum())

    def closed(self) -> bool:
        """Whether the bounds meet."""
        return self.bound >= self.best

    def late(self, share: float = 1.0) -> bool:
        """Whether this share of the time is over."""
        return time.perf_counter() > self._end(share)

    def _end(self, share: float) -> float:
        return self.began + share * (self.until - self.began)

    def run(self) -> None:
        """All of it, in the order of what it costs."""
        self._short_sets()
        self._descend(tries=1, share=0.3)
        self._first_set()
        few = self.best <= FEW
        self._pack(share=0.45 if few else 0.75)
        if few:
            self._descend(tries=3, share=0.5)
            self._cover(share=0.85)
        while not self.closed() and not self.late(0.9):
            self._descend(tries=20, share=0.9)
        if not self.closed():
            self._put_back()
            self._raise_bound()
            self._prove_by_search(SEARCH_STEPS)

    # ------------------------------------------------------------------ from above

    def consider(self, plane: Plane) -> None:
        """Keep this hyperplane if it is wrong about less mass, exactly."""
        out = signs(self.rays, np.arange(len(self.rays)), plane.w, plane.b) <= 0
        if self.rays.mass[out].sum() < self.best:
            self.out, self.plane = out, plane

    def _descend(self, tries: int, share: float) -> None:
        if self.closed():
            return
        rays, until = self.rays, self._end(share)
        for v in Descent(rays.Z, rays.mass, self.finder.elastic, self.rng, until).run(tries):
            if rays.mass[rays.Z @ v <= 0].sum() < self.best:
                w, b = rays.weights(v)
                if np.isfinite([*w, b]).all():
                    self.consider(Plane(tuple(w), b))
            if self.closed():
                return

    def _put_back(self) -> None:
        """Rays that fit in again, decided exactly."""
        for g in np.flatnonzero(self.out).tolist():
            if self.late(0.95) or self.closed():
                return
            if self.out[g]:
                alive = ~self.out
                alive[g] = True
                self._learn(self.finder.ask(alive, self._costs(), self.until))

    # ------------------------------------------------------------------ from below

    def _learn(self, answer: Plane | Circuit | None) -> None:
        if isinstance(answer, Plane):
            self.consider(answer)
        elif isinstance(answer, Circuit):
            self.pool.setdefault(frozenset(answer.rays), answer)

    def _short_sets(self) -> None:
        """A ray of zeros cancels by itself, opposite ones in pairs."""
        for g in self.rays.zeros():
            self._learn(Circuit((g,), (Fraction(1),)))
        for pair in self.rays.opposite_pairs():
            self._learn(self.finder.exactly(np.array(pair)))
            if self.late(0.3):
                return

    def _first_set(self) -> None:
        """One cancelling set, around some ray of the removal, however late it is."""
        if self.closed() or len(self.rays) <= MANY * self.rays.Z.shape[1]:
            return
        everything = np.ones(len(self.rays), dtype=bool)
        order = self._deepest_first()
        for h in order[:: len(order) // FIRST + 1].tolist():
            found = self.finder.around(h, everything, self.out, np.inf, 30)
            self._learn(found)
            if found is not None or self.late():
                break
        self._raise_bound()

    def _costs(self) -> Array:
        """Rays taken out are dear, and so are those whose share is used up; the rest random."""
        cost = 0.05 * self.rng.random(len(self.rays))
        cost[self.out] += 1.0
        return cost

    def _pack(self, share: float) -> None:
        """Rounds of cancelling sets that share no ray; the bound is that of all rounds together."""
        if self.closed():
            return
        stale, turn, prices = 0, 0, np.zeros(len(self.rays))
        while stale < STALE and not self.late(share):
            before = len(self.pool)
            self._round(turn, prices, share)
            turn += 1
            found = self._raise_bound()
            if self.closed():
                return
            for g, price in found.prices.items():
                prices[g] = price
            stale = 0 if len(self.pool) > before and self.gained else stale + 1

    def _raise_bound(self) -> hitting.Packing:
        sets = list(self.pool)
        found = hitting.packing(sets, self.mass, self.best)
        value = sum(found.shares, Fraction(0))
        self.gained = value > sum(self.packed.values(), Fraction(0))
        if self.gained:
            self.packed = {W: u for W, u in zip(sets, found.shares, strict=True) if u}
            if found.bound >= self.bound:
                self.bound, self.by_search = found.bound, False
        return found

    def _round(self, turn: int, prices: Array, share: float) -> None:
        """Cancelling sets one after the other, each using up its rays, until none is left.

        Every other turn begins with sets that are harder to find and use up less.
        """
        room = self.rays.mass.copy()
        for W in sorted(self.pool, key=len):
            if len(W) <= 2:
                room[list(W)] -= min(room[list(W)])
        if len(self.rays) > MANY * self.rays.Z.shape[1] and turn == 0:
            self._near_rounds(room, share)
        cost = self._costs() + prices
        if turn % 2:
            self._with_one_out(room, cost, share)
        while not self.late(share):
            found = self.finder.circuit(room > 0, cost, self._end(share))
            if found is None:
                return
            self._learn(found)
            room[list(found.rays)] -= min(room[list(found.rays)])

    def _with_one_out(self, room: Array, cost: Array, share: float) -> None:
        """Sets with a single ray of the removal, the scarce ones, as long as there are any."""
        misses = 0
        for h in self.rng.permutation(np.flatnonzero(self.out & (room > 0))).tolist():
            if misses == MISSES or self.late(share):
                return
            alive = (room > 0) & ~self.out
            alive[h] = room[h] > 0
            found = self.finder.circuit(alive, cost, self._end(share))
            if found is None:
                misses += 1
                continue
            self._learn(found)
            room[list(found.rays)] -= min(room[list(found.rays)])

    def _deepest_first(self) -> Array:
        """The rays of the removal, those furthest on the wrong side first (as floats see it)."""
        at = np.flatnonzero(self.out)
        top = max(abs(Fraction(c)) for c in (*self.plane.w, self.plane.b)) or Fraction(1)
        w = [float(Fraction(c) / top) for c in self.plane.w]
        b = [float(Fraction(self.plane.b) / top)] if self.rays.intercept else []
        with np.errstate(all="ignore"):
            scores = self.rays.Z[at] @ (np.array([*w, *b]) / self.rays.scale)
        return np.asarray(at[np.argsort(scores, kind="stable")])

    def _near_rounds(self, room: Array, share: float) -> None:
        """Short sets around rays that are out, among their neighbours, while that succeeds."""
        hits, misses = 0, 0
        for h in self.rng.permutation(np.flatnonzero(self.out)).tolist():
            if self.late(0.8 * share) or misses > 60 + 25 * hits:
                return
            if room[h] == 0:
                continue
            found = self.finder.around(h, room > 0, self.out, self.until)
            hits, misses = hits + (found is not None), misses + (found is None)
            if found is not None:
                self._learn(found)
                room[list(found.rays)] -= min(room[list(found.rays)])

    # ------------------------------------------------------------------ both meet

    def _cover(self, share: float) -> None:
        """Implicit hitting sets: refute every light one by a set that it does not hit."""
        while not self.closed() and not self.late(share):
            hit = self._prove_by_search(FEW_STEPS)
            if hit is None and not self.closed():
                hit = self._by_integer_program()
            if hit is None or not self._grow(hit):
                return
            if len(self.pool) % 16 == 0:
                self._raise_bound()

    def _by_integer_program(self) -> set[int] | None:
        """The lightest hitting set as HiGHS sees it, or as an exact search does."""
        hit = hitting.cover(list(self.pool), self.mass, (self.until - time.perf_counter()) / 4)
        if hit is None or sum(self.mass[g] for g in hit) < self.best:
            return hit
        self._raise_bound()
        return None if self.closed() else self._prove_by_search(SEARCH_STEPS)

    def _grow(self, hit: set[int]) -> bool:
        """Ask about what is left without these rays, and again without what cancels there."""
        alive = np.ones(len(self.rays), dtype=bool)
        alive[list(hit)] = False
        answer = self.finder.ask(alive, self._costs(), self.until)
        grown = answer is not None
        while answer is not None:
            self._learn(answer)
            if isinstance(answer, Plane) or self.late():
                break
            alive[list(answer.rays)] = False
            answer = self.finder.ask(alive, self._costs(), self.until)
        return grown

    def _prove_by_search(self, steps: int) -> set[int] | None:
        """Raise the bound by exact search; a hitting set that is too light, if there is one."""
        sets = sorted(self.pool, key=len)[:SEARCH_SETS]
        for target in range(self.bound + 1, self.best + 1):
            try:
                found = hitting.lighter(sets, self.mass, target, steps, self.until)
            except hitting.TooLong:
                return None
            if found is not None:
                return found
            self.bound, self.by_search, self.searched = target, True, sets
        return None
