"""The search for offenders: an upper and a lower bound, until they meet or time ends.

To find the fewest is hard in general (it is the smallest training error of a hyperplane), so the
answer is an interval: a removal that is proven to be enough, and a proven bound from below. Every
cancelling set must lose a group, so a removal is a hitting set of all of them. Three things are
done in turn, each with what the others found:

- removals of falling mass (:mod:`.descent`), signs checked exactly;
- cancelling sets that share few groups (:mod:`.cancelling_sets`), and the packing bound they prove;
- implicit hitting sets: the lightest set that hits all cancelling sets known so far; if what it
  leaves is separable it is the lightest removal of all, otherwise there is a new cancelling set.
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.cone import as_cone
from rosenblatt.errors import DataError, ParameterError, RosenblattError
from rosenblatt.prove import checker
from rosenblatt.prove.certificate import spoken_of
from rosenblatt.prove.certificate.offenders import Offenders, Witness
from rosenblatt.prove.checker.removal import SearchLimitError, distances, hitting_set, labels_of
from rosenblatt.prove.margin import max_margin
from rosenblatt.prove.offenders import hitting_sets
from rosenblatt.prove.offenders.cancelling_sets import CancellingSet, Finder, Hyperplane
from rosenblatt.prove.offenders.descent import Descent
from rosenblatt.prove.offenders.groups import Groups, some_rows

Array = npt.NDArray[Any]
Number = float | Fraction
FEW_STEPS = 2_000  # the same, to begin with
SEARCH_STEPS = 50_000  # of the exact search that proves a bound
SEARCH_SETS = 2_000
STALE = 4  # rounds of packing without gain
FEW = 60  # rows to remove up to which hitting sets are worth the while
MANY = 40  # groups for each column from which on neighbours are looked at first
SMALL = 100_000  # numbers of data for which the hyperplane of largest margin is looked for


def offenders(
    X: Any,
    y: npt.ArrayLike | None = None,
    *,
    fit_intercept: bool = True,
    max_seconds: float = 20.0,
    random_state: int = 0,
) -> Offenders:
    """Find few rows whose removal makes the data separable, and a bound on how few suffice.

    Separable means strictly: some (w, b) has y_i (w.x_i + b) > 0 for every row that stays. Rows of
    one class alone count as separable with an offset (w = 0 is enough); without an offset they need
    a w like any others. Rows of zeros can never stay without an offset.

    The removal and the bound are verified exactly. Whether they meet depends on the data and on
    time: finding the smallest removal is NP-hard.

    Parameters
    ----------
    X : array, frame or CSR matrix of shape (n_samples, n_features)
        Rows of numbers; or a table of :func:`rosenblatt.read`.
    y : array of shape (n_samples,), optional
        Labels of two classes. Left out for a table that was read.
    fit_intercept : bool, default=True
        Hyperplanes with an offset, or through the origin.
    max_seconds : float, default=20.0
        Time limit of the search. It ends earlier if the removal and the bound meet. Verifying the
        result may take a little longer.
    random_state : int, default=0
        Seed of the random choices of the search. The answer is true with any seed. If the time
        limit ends the search, the same seed may give another answer.

    Returns
    -------
    Offenders
        The rows to remove, the bound and the proofs of both.

    Raises
    ------
    ParameterError
        If `max_seconds` is not > 0.
    DataError
        If X is invalid, or holds numbers that float64 rounds.
    LabelError
        If y does not have two classes.

    Examples
    --------
    >>> X, y = [[0], [1], [2], [3], [4], [5]], ["a", "a", "b", "a", "b", "b"]
    >>> found = offenders(X, y)
    >>> len(found.rows), found.lower_bound, found.minimum
    (1, 1, True)
    >>> bool(found.verify(X, y))
    True
    """
    began = time.perf_counter()
    if not max_seconds > 0:
        raise ParameterError(
            f"max_seconds must be a number > 0, got {max_seconds!r}. Give at least a second or two."
        )
    cone = as_cone(X, y, fit_intercept)
    if not cone.resident:
        raise DataError("X is read in chunks. Give offenders an array, a CSR matrix or a frame.")
    groups = Groups.of(cone)
    search = _Search(groups, began, began + 0.8 * max_seconds, np.random.default_rng(random_state))
    search.run()
    end = max(began + max_seconds, time.perf_counter() + 0.1 * max_seconds)
    return replace(_put_together(search, end), seconds=time.perf_counter() - began)


class _Search:
    """What is known so far: the lightest removal, cancelling sets, a proven bound."""

    def __init__(self, groups: Groups, began: float, until: float, rng: np.random.Generator):
        self.began, self.until, self.rng = began, until, rng
        self.groups, self.finder = groups, Finder(groups)
        self.mass: list[int] = groups.mass.tolist()
        self.pool: dict[frozenset[int], CancellingSet] = {}
        self.packed: dict[frozenset[int], Fraction] = {}
        self.bound, self.by_search = 0, False
        self.searched: list[frozenset[int]] = []
        none = (0.0,) * groups.cone.n_features
        self.best_plane = Hyperplane(none, 0.0)
        self.out = np.ones(len(groups), dtype=bool)  # w = 0 is right about nothing
        for b in (1.0, -1.0) if groups.cone.constant else ():
            self._consider(Hyperplane(none, b))

    @property
    def best(self) -> int:
        """The mass of the lightest removal known."""
        return int(self.groups.mass[self.out].sum())

    def closed(self) -> bool:
        """Whether the bounds meet."""
        return self.bound >= self.best

    def _late(self, share: float = 1.0) -> bool:
        """Whether this share of the time is over."""
        return time.perf_counter() > self._end(share)

    def _end(self, share: float) -> float:
        return self.began + share * self._seconds

    @property
    def _seconds(self) -> float:
        return self.until - self.began

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
        while not self.closed() and not self._late(0.9):
            self._descend(tries=20, share=0.9)
        if not self.closed():
            self._put_back()
            if not self.pool:  # without time for more than one: the exact decision
                everything = np.arange(len(self.groups))
                self._learn(self.finder.decided(everything, self.until + 0.1 * self._seconds))
            self._raise_bound()
            self._prove_by_search(SEARCH_STEPS)

    # ------------------------------------------------------------------ from above

    def _consider(self, plane: Hyperplane) -> None:
        """Keep this hyperplane if it is wrong about less mass, exactly."""
        out = self.finder.signs(plane.w, plane.b) <= 0
        if self.groups.mass[out].sum() < self.best:
            self.out, self.best_plane = out, plane

    def _descend(self, tries: int, share: float) -> None:
        if self.closed():
            return
        for v in Descent(self.finder.elastic, self.rng, self._end(share)).run(tries):
            if self.groups.mass[self.groups.Z @ v <= 0].sum() < self.best:
                w, b = self.finder.unscaled(v)
                if np.isfinite([*w, b]).all():
                    self._consider(Hyperplane(w, b))
            if self.closed():
                return

    def _put_back(self) -> None:
        """Groups that fit in again, decided exactly."""
        for g in np.flatnonzero(self.out).tolist():
            if self._late(0.95) or self.closed():
                return
            if self.out[g]:
                allowed = ~self.out
                allowed[g] = True
                self._learn(self.finder.ask(allowed, self._costs(), self.until))

    # ------------------------------------------------------------------ from below

    def _learn(self, answer: Hyperplane | CancellingSet | None) -> None:
        if isinstance(answer, Hyperplane):
            self._consider(answer)
        elif isinstance(answer, CancellingSet):
            self.pool.setdefault(frozenset(answer.groups), answer)

    def _short_sets(self) -> None:
        """A row of zeros cancels by itself, opposite ones in pairs."""
        Z = self.groups.Z
        for g in np.flatnonzero(np.asarray(abs(Z).sum(axis=1)).ravel() == 0).tolist():
            self._learn(self.finder.exactly(np.array([g]), self.until))  # it may be tiny
        for pair in self.groups.opposite_pairs():
            self._learn(self.finder.exactly(np.array(pair), self.until))
            if self._late(0.3):
                return

    def _first_set(self) -> None:
        """One cancelling set, around the group furthest on the wrong side."""
        if self.closed() or len(self.groups) <= MANY * self.groups.Z.shape[1]:
            return
        everything = np.ones(len(self.groups), dtype=bool)
        worst = int(np.argmin(self.groups.Z @ self.finder.elastic.latest))
        self._learn(self.finder.around(worst, everything, self.until, 30))
        self._raise_bound()

    def _costs(self) -> Array:
        """Groups taken out are dear, and so are those whose share is used up; the rest random."""
        cost = 0.05 * self.rng.random(len(self.groups))
        cost[self.out] += 1.0
        return cost

    def _pack(self, share: float) -> None:
        """Rounds of cancelling sets that share no group; the bound is that of all together."""
        stale, prices = 0, np.zeros(len(self.groups))
        near = len(self.groups) > MANY * self.groups.Z.shape[1]
        while not self.closed() and stale < STALE and not self._late(share):
            before, total = len(self.pool), self._packed_total
            self._round(self._costs() + prices, share, near)
            for g, price in self._raise_bound().items():
                prices[g] = price
            gained = len(self.pool) > before and self._packed_total > total
            stale, near = 0 if gained else stale + 1, False

    @property
    def _packed_total(self) -> Fraction:
        return sum(self.packed.values(), Fraction(0))

    def _raise_bound(self) -> dict[int, float]:
        """The bound by packing all sets known; the prices of groups."""
        sets = list(self.pool)
        seconds = self.until - time.perf_counter()
        found = hitting_sets.packing(sets, self.mass, self.best, seconds)
        if sum(found.shares, Fraction(0)) > self._packed_total:
            self.packed = {W: u for W, u in zip(sets, found.shares, strict=True) if u}
            if found.bound >= self.bound:
                self.bound, self.by_search = found.bound, False
        return found.prices

    def _round(self, cost: Array, share: float, near: bool) -> None:
        """Cancelling sets one after the other, each using up its groups, until none is left."""
        room = self.groups.mass.copy()
        for W in self.pool:
            if len(W) <= 2:
                self._use_up(room, W)
        if near:
            self._near_round(room, share)
        while not self._late(share):
            found = self.finder.circuit(room > 0, cost, self._end(share))
            if found is None:
                return
            self._learn(found)
            self._use_up(room, found.groups)

    @staticmethod
    def _use_up(room: Array, groups: Any) -> None:
        at = list(groups)
        room[at] -= min(room[at])

    def _near_round(self, room: Array, share: float) -> None:
        """Short sets around groups that are out, among their neighbours, while that succeeds."""
        hits, misses = 0, 0
        for h in self.rng.permutation(np.flatnonzero(self.out)).tolist():
            if self._late(0.8 * share) or misses > 60 + 25 * hits:
                return
            if room[h] == 0:
                continue
            found = self.finder.around(h, (room > 0) & ~self.out, self.until)
            hits, misses = hits + (found is not None), misses + (found is None)
            if found is not None:
                self._learn(found)
                self._use_up(room, found.groups)

    # ------------------------------------------------------------------ both meet

    def _cover(self, share: float) -> None:
        """Implicit hitting sets: refute every light one by a set that it does not hit."""
        while not self.closed() and not self._late(share):
            hit = self._prove_by_search(FEW_STEPS)
            if hit is None and not self.closed():
                hit = self._by_integer_program()
            if hit is None or not self._grow(hit):
                return
            if len(self.pool) % 16 == 0:
                self._raise_bound()

    def _by_integer_program(self) -> set[int] | None:
        """The lightest hitting set as HiGHS sees it, or as an exact search does."""
        seconds = (self.until - time.perf_counter()) / 4
        hit = hitting_sets.cover(list(self.pool), self.mass, seconds)
        if hit is None or sum(self.mass[g] for g in hit) < self.best:
            return hit
        self._raise_bound()
        return None if self.closed() else self._prove_by_search(SEARCH_STEPS)

    def _grow(self, hit: set[int]) -> bool:
        """Ask about what is left without these groups, and again without what cancels there."""
        allowed = np.ones(len(self.groups), dtype=bool)
        allowed[list(hit)] = False
        answer = self.finder.ask(allowed, self._costs(), self.until)
        grown = answer is not None
        while answer is not None:
            self._learn(answer)
            if isinstance(answer, Hyperplane) or self._late():
                break
            allowed[list(answer.groups)] = False
            answer = self.finder.ask(allowed, self._costs(), self.until)
        return grown

    def _prove_by_search(self, steps: int) -> set[int] | None:
        """Raise the bound as far as the checker's search proves it; a hitting set it finds."""
        sets = sorted(self.pool, key=len)[:SEARCH_SETS]
        mass = dict(enumerate(self.mass))
        for target in range(self.bound + 1, self.best + 1):
            try:
                found = hitting_set(sets, mass, target - 1, steps, self._late)
            except SearchLimitError:
                return None
            if found is not None:
                return found
            self.bound, self.by_search, self.searched = target, True, sets
        return None


# ---------------------------------------------------------------------- the result


def _put_together(search: _Search, end: float) -> Offenders:
    """The result, verified. A bound whose search cannot be checked again is not claimed."""
    groups = search.groups
    cone = groups.cone
    removed = groups.rows(np.flatnonzero(search.out))
    w, b = _best_placed(search, removed, max(end - time.perf_counter(), 0.0))
    found = Offenders(
        rows=tuple(removed.tolist()),
        lower_bound=search.bound,
        witnesses=_witnesses(search, search.by_search),
        copies=_copies(search, search.by_search),
        by_search=search.by_search,
        w=w,
        b=b,
        labels=labels_of(cone, removed.tolist()),
        distances=distances(cone, removed.tolist(), w, b, cone.constant),
        **spoken_of(cone, cone.constant),
    )
    verified = found._with_digest(cone)
    if verified is None and found.by_search:
        packed = sum(search.packed.values(), Fraction(0))
        found = replace(
            found,
            lower_bound=-int(-packed // 1),
            witnesses=_witnesses(search, False),
            copies=_copies(search, False),
            by_search=False,
        )
        verified = found._with_digest(cone)
    if verified is None:
        raise RosenblattError(
            f"the answer did not verify ({'; '.join(found._problems(cone)[0])}), so it is not "
            "given. Please report these data."
        )
    return verified


def _best_placed(
    search: _Search, removed: Array, seconds: float
) -> tuple[tuple[Number, ...], Number]:
    """The hyperplane of largest margin where that is quick, else the one that was found."""
    plain, cone = (search.best_plane.w, search.best_plane.b), search.groups.cone
    stay = some_rows(cone, np.setdiff1d(np.arange(cone.n_rows), removed))
    one_class = len(np.unique(stay.whole().sign)) < 2
    if cone.n_rows * cone.n_features > SMALL or one_class:
        return plain
    try:
        with np.errstate(all="ignore"):  # norms overflow where exact signs do not
            found = max_margin(stay, fit_intercept=cone.constant, max_seconds=seconds)
    except RosenblattError:
        return plain
    w, b = tuple(found.w.tolist()), found.b
    right = (checker.signs(stay, w, b, cone.constant) > 0).all()
    return (w, b) if right else plain


def _witnesses(search: _Search, by_search: bool) -> tuple[Witness, ...]:
    first = search.groups.first
    sets = search.searched if by_search else list(search.packed)
    return tuple(
        Witness(
            tuple(int(first[g]) for g in search.pool[W].groups),
            search.pool[W].weights,
            search.packed.get(W, Fraction(0)),
        )
        for W in sets
    )


def _copies(search: _Search, by_search: bool) -> tuple[tuple[int, ...], ...]:
    """The groups of several rows that the witnesses speak of."""
    named = set().union(*(search.searched if by_search else search.packed))
    several = [g for g in sorted(named) if search.mass[g] > 1]
    rows: list[list[int]] = [[] for _ in several]
    place = {g: k for k, g in enumerate(several)}
    for i in search.groups.rows(several).tolist():
        rows[place[int(search.groups.of_row[i])]].append(i)
    return tuple(map(tuple, rows))
