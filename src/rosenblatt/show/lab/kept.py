"""Kept: the weights that `keep` would give back after any visit of a run.

- last: w after the visit.
- average: the mean of the weights after each visit since it began. With T of them and updates
  w += d_k at visits v_k (counted from there), it is (T w - sum (v_k - 1) d_k) / T.
- pocket: the ratchet of Gallant, see :func:`rosenblatt.learn.reference.pocket`.
- vote: no one hyperplane.

At the end of a segment it is what the engine gave back, to the bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.show.lab.runs import Run, Stretch

Array = npt.NDArray[Any]
CHUNK = 2**20  # scores at once


class Kept:
    """The kept weights of a run, computed once for each segment that is looked at."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._pockets: dict[int, tuple[Array, Array]] = {}

    def at(self, visits: Array) -> tuple[Array, Array]:
        """(w, b) after each of these numbers of visits; NaN where there is no one hyperplane."""
        run = self.run
        k = run.update_at(visits)
        w, b = run.w[k].copy(), run.b[k].copy()
        which = run.stretch_at(visits)
        for s in np.unique(which).tolist():
            stretch, here = run.stretches[s], which == s
            if stretch.keep == "vote":
                w[here], b[here] = np.nan, np.nan
            elif stretch.keep == "average":
                w[here], b[here] = self._average(stretch, visits[here])
            elif stretch.keep == "pocket":
                w[here], b[here] = self._pocket(s, visits[here])
            if stretch.keep in ("average", "pocket"):
                end = here & (visits == stretch.end) & (stretch.end > stretch.begin)
                w[end], b[end] = stretch.kept[0], stretch.kept[1][0]
        return w, b

    def _average(self, stretch: Stretch, visits: Array) -> tuple[Array, Array]:
        run, since = self.run, stretch.since
        both = np.column_stack([run.w, run.b])
        steps = np.diff(both, axis=0, prepend=both[:1])
        weight = np.where(run.visit > since, run.visit - 1 - since, 0)
        sums = np.cumsum(weight[:, None] * steps, axis=0)
        k, T = run.update_at(visits), np.maximum(visits - since, 1)[:, None]
        mean = np.where(visits[:, None] > since, (T * both[k] - sums[k]) / T, both[k])
        return mean[:, :2], mean[:, 2]

    def _pocket(self, s: int, visits: Array) -> tuple[Array, Array]:
        if s not in self._pockets:
            self._pockets[s] = _ratchet(self.run, self.run.stretches[s])
        since, which = self._pockets[s]
        k = which[np.maximum(np.searchsorted(since, visits, side="right") - 1, 0)]
        return self.run.w[k], self.run.b[k]


def errors(run: Run, which: Array) -> Array:
    """How many rows each of these weights predicts wrongly; a score of 0 predicts +1."""
    X, positive = run.situation.X, run.situation.y > 0
    wrong = np.empty(len(which), dtype=np.int64)
    step = max(1, CHUNK // max(1, len(X)))
    for first in range(0, len(which), step):
        k = which[first : first + step]
        scores = run.w[k] @ X.T + run.b[k, None]
        wrong[first : first + step] = ((scores >= 0) != positive).sum(axis=1)
    return wrong


def _ratchet(run: Run, stretch: Stretch) -> tuple[Array, Array]:
    """(visits, update numbers): from that visit on, the pocket holds the weights of that update."""
    first, last = (int(v) for v in run.update_at(np.array([stretch.begin, stretch.end])))
    wrong = errors(run, np.arange(first, last + 1))
    moves = run.visit[first + 1 : last + 1].tolist()
    ends = [int(e) for e in run.ends if stretch.begin < e <= stretch.end]
    since, which = [stretch.begin], [first]
    fewest, longest, best = int(wrong[0]), 0, first
    now, stood = first, stretch.begin

    def ratchet(visit: int, right: int) -> None:
        nonlocal fewest, longest, best
        if wrong[now - first] < fewest:
            fewest, best = int(wrong[now - first]), now
            since.append(visit)
            which.append(now)
        if best == now:
            longest = max(longest, right)

    events = sorted([(v, 0) for v in moves] + [(e, 1) for e in ends])
    for visit, end in events:
        if end:
            ratchet(visit, visit - stood)
            continue
        if visit - 1 - stood > longest:  # right answers of these weights, all passes counted
            ratchet(visit, visit - 1 - stood)
        now, stood = now + 1, visit
    return np.array(since), np.array(which)
