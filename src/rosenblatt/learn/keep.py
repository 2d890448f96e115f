"""Keep: which weights are kept: last, average, vote or pocket."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import OverflowedError

Keep = Literal["last", "average", "vote", "pocket"]
Array = npt.NDArray[Any]

VOTE_BYTES = 2**30  # default bound on the hyperplanes of keep="vote": 1 GiB, at most 10,000
RECORD_BYTES = 2**28
MOST_LOGGED = 10_000


@dataclass
class State:
    """Where a run stands: enough to go on as if it had never paused.

    w, b are the last weights; u, ub the lazy sums of the average, which after T visits is
    (T w - u) / T; `votes` the hyperplanes so far and the visit at which each began; `spread` the
    variances (offset first) of rules that keep them, which do not change sign with the classes.
    """

    w: Array
    b: Array
    u: Array = field(default_factory=lambda: np.empty(0))
    ub: Array = field(default_factory=lambda: np.empty(0))
    visits: float = 0.0
    updates: int = 0
    mistakes: int = 0
    votes: Votes | None = None
    spread: Array = field(default_factory=lambda: np.empty(0))

    @classmethod
    def at(cls, w: Array, b: Array, dtype: Any) -> State:
        return cls(np.array(w, dtype=dtype, order="C"), np.array(b, dtype=dtype, order="C"))

    def copy(self) -> State:
        """A copy that can be trained without touching this one."""
        arrays = {name: getattr(self, name).copy() for name in ("w", "b", "u", "ub", "spread")}
        return replace(self, **arrays)

    def mirrored(self) -> State:
        """The same run with the two classes exchanged."""
        arrays = {name: -getattr(self, name) for name in ("w", "b", "u", "ub")}
        votes = self.votes and replace(self.votes, w=-self.votes.w, b=-self.votes.b)
        return replace(self, **arrays, votes=votes, spread=self.spread.copy())

    def row(self, k: int) -> State:
        """Class k of the direct rule."""
        u, ub = (self.u[k], self.ub[k : k + 1]) if self.u.size else (self.u, self.ub)
        spread = self.spread[k] if self.spread.size else self.spread
        return replace(
            self, w=self.w[k], b=self.b[k : k + 1], u=u, ub=ub, votes=None, spread=spread
        )

    def kept(self, keep: Keep) -> tuple[Array, Array]:
        """The weights that `keep` gives back, where they follow from the state alone."""
        return self.average() if keep == "average" else (self.w, self.b)

    def average(self) -> tuple[Array, Array]:
        """The mean of the weights after each visit (w_0 not counted), or w before any."""
        if self.visits == 0 or self.u.size == 0:
            return self.w, self.b
        with np.errstate(over="ignore", invalid="ignore"):
            w = (self.visits * self.w.astype(np.float64) - self.u) / self.visits
            b = (self.visits * self.b.astype(np.float64) - self.ub) / self.visits
        if not (np.isfinite(w).all() and np.isfinite(b).all()):
            raise OverflowedError(
                "Floating-point overflow: the sum of the weights over all visits left the range of "
                "float64, though the weights did not. Scale the data or lower eta0."
            )
        return w.astype(self.w.dtype), b.astype(self.b.dtype)


@dataclass(frozen=True, eq=False)
class Votes:
    """The hyperplanes of a run, each with the number of visits it survived.

    Freund and Schapire's voted perceptron: the visit that caused a hyperplane counts as
    its first.
    """

    w: Array
    b: Array
    began: Array

    def counts(self, visits: float) -> Array:
        """How many visits each hyperplane survived."""
        return np.diff(np.append(self.began, visits))

    def extended(self, w: Array, b: Array, began: Array) -> Votes:
        return Votes(
            np.concatenate([self.w, w]),
            np.concatenate([self.b, b]),
            np.concatenate([self.began, began]),
        )


def logged(nbytes: int, width: int) -> int:
    """How many updates of `width` numbers fit."""
    return max(1, min(MOST_LOGGED, nbytes // (8 * width)))


@dataclass(frozen=True, eq=False)
class Ballot:
    """keep="vote": the hyperplanes, each with one vote per visit it survived.

    w has shape (m, d) for two classes and (m, K, d) for the direct multiclass rule.
    """

    w: Array
    b: Array
    counts: Array

    def __len__(self) -> int:
        return len(self.counts)

    def scores(self, X: Any) -> Array:
        """Two classes: the mean vote, from -1 to 1. Direct: the share of votes per class.

        Each hyperplane votes as it would predict: a score of 0 votes for +1.
        """
        n, total = X.shape[0], float(self.counts.sum()) or 1.0
        chunk = max(1, 2**24 // max(1, self.w.size // self.w.shape[-1]))
        parts = [self._chunk(X[i : i + chunk]) for i in range(0, n, chunk)]
        return np.concatenate(parts) / total

    def _chunk(self, X: Any) -> Array:
        flat = self.w.reshape(-1, self.w.shape[-1])
        scores = np.asarray(X @ flat.T) + self.b.reshape(-1)
        if self.w.ndim == 2:
            return np.where(scores >= 0, 1.0, -1.0) @ self.counts
        winners = scores.reshape(len(scores), *self.b.shape).argmax(axis=2)
        return np.stack([(winners == k) @ self.counts for k in range(self.b.shape[1])], axis=1)


def ballot(state: State) -> Ballot:
    """The votes of a run as they stand."""
    votes = state.votes
    assert votes is not None
    return Ballot(votes.w, votes.b, votes.counts(state.visits))
