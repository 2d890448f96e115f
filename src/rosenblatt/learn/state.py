"""State: weights and sums of all hyperplanes of a model, and the votes of a run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt.data.block import core_rows
from rosenblatt.errors import OverflowedError, ParameterError
from rosenblatt.learn.rules import Rule
from rosenblatt.learn.settings import Keep

Array = npt.NDArray[Any]
MOST_COVARIANCE_BYTES = 2**31


@dataclass(frozen=True, eq=False)
class Votes:
    """The hyperplanes of a run, each with the visit at which it began.

    Freund and Schapire's voted perceptron: the visit that caused a hyperplane counts as its first.
    """

    w: Array
    b: Array
    began: Array

    def counts(self, visits: float) -> Array:
        """The number of visits that each hyperplane survived."""
        return np.diff(np.append(self.began, visits))

    def extended(self, w: Array, b: Array, began: Array) -> Votes:
        """These and later ones."""
        return Votes(
            np.concatenate([self.w, w]),
            np.concatenate([self.b, b]),
            np.concatenate([self.began, began]),
        )

    def mirrored(self) -> Votes:
        """The votes with the two classes exchanged."""
        return replace(self, w=-self.w, b=-self.b)


@dataclass(frozen=True, eq=False)
class Ballot:
    """The hyperplanes of keep="vote", each with one vote per visit it survived.

    Attributes
    ----------
    w : array of shape (m, n_features), or (m, n_classes, n_features) for the direct rule
        Weights of the m hyperplanes.
    b : array of shape (m, 1) or (m, n_classes)
        Offsets.
    counts : array of shape (m,)
        Votes of each hyperplane.
    """

    w: Array
    b: Array
    counts: Array

    def __len__(self) -> int:
        return len(self.counts)

    def scores(self, X: Any) -> Array:
        """Return the mean vote of each row, from -1 to 1; for the direct rule, shares per class.

        Each hyperplane votes as it would predict: a score of 0 votes for the second class.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            Validated rows.

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_classes)
            Mean votes, or shares of votes.
        """
        n, total = X.shape[0], float(self.counts.sum()) or 1.0
        chunk = max(1, 2**24 // max(1, self.w.size // self.w.shape[-1]))
        parts = [self._chunk(X[i : i + chunk]) for i in range(0, n, chunk)]
        return np.concatenate(parts) / total

    def _chunk(self, X: Any) -> Array:
        flat = self.w.reshape(-1, self.w.shape[-1]).astype(np.float64, copy=False)
        scores = _core.scores(core_rows(X), flat, self.b.reshape(-1).astype(np.float64))
        if self.w.ndim == 2:
            return np.where(scores >= 0, 1.0, -1.0) @ self.counts
        shape = len(scores), *self.b.shape
        winners = _core.decide(scores.reshape(-1, shape[2])).reshape(shape[:2])
        return np.stack([(winners == k) @ self.counts for k in range(self.b.shape[1])], axis=1)


@dataclass
class State:
    """The hyperplanes of a model: all that is needed to continue training, to the bit.

    Attributes
    ----------
    w : float64 array of shape (planes, capacity)
        The last weights; columns beyond `n_features` are room for features that come later.
    b : float64 array of shape (planes,)
    n_features : int
    dtype : dtype
        Of the rows. For float32 every stored weight is rounded to float32.
    u, ub : arrays of the shapes of w and b, or None
        Lazy sums of the average, which after T visits is (T w - u) / T.
    variance : array of shape (planes, capacity + 1), (planes, (n_features + 1)^2), or None
        Variances of the weights, the offset first; they do not change with the sign of a class.
    visits, updates, mistakes : arrays of shape (planes,)
        Of each hyperplane, including earlier calls. The direct rule counts in the first entry.
    votes : list of Votes or None, one per hyperplane
    """

    w: Array
    b: Array
    n_features: int
    dtype: Any = np.float64
    u: Array | None = None
    ub: Array | None = None
    variance: Array | None = None
    visits: Array = field(default_factory=lambda: np.zeros(1))
    updates: Array = field(default_factory=lambda: np.zeros(1, np.int64))
    mistakes: Array = field(default_factory=lambda: np.zeros(1, np.int64))
    votes: list[Votes | None] = field(default_factory=lambda: [None])

    @classmethod
    def at(cls, w: Any, b: Any, dtype: Any = np.float64) -> State:
        """Before the first visit, at these weights: one row per hyperplane."""
        w = np.array(np.atleast_2d(w), dtype=dtype).astype(np.float64, order="C")
        b = np.array(np.atleast_1d(b), dtype=dtype).astype(np.float64)
        n = len(b)
        counts = np.zeros(n, np.int64)
        return cls(
            w, b, w.shape[1], np.dtype(dtype), visits=np.zeros(n), updates=counts,
            mistakes=counts.copy(), votes=[None] * n,
        )  # fmt: skip

    @property
    def n_planes(self) -> int:
        return len(self.b)

    def copy(self) -> State:
        """A copy that can be trained without touching this one."""
        arrays = ("w", "b", "u", "ub", "variance", "visits", "updates", "mistakes")
        copies: dict[str, Any] = {
            n: None if getattr(self, n) is None else getattr(self, n).copy() for n in arrays
        }
        return replace(self, **copies, votes=list(self.votes))

    def prepare(self, rule: Rule, keep: Keep, fit_intercept: bool) -> None:
        """Create the arrays that a rule and `keep` need, unless they exist."""
        if rule.has_variance:
            width = (self.w.shape[1] + 1) ** (2 if rule.full_covariance else 1)
            if self.variance is None or self.variance.shape[1] != width:
                self.variance = first_variances(rule, self.n_planes, self.w.shape[1], fit_intercept)
        if keep == "average" and self.u is None:  # it counts the visits from here on
            self.u, self.ub = np.zeros(self.w.shape), np.zeros(self.b.shape)
            self.visits[:] = 0.0

    def gather(self, planes: list[tuple[int, float]], rule: Rule, fit_intercept: bool) -> State:
        """A state whose hyperplane k is plane `planes[k][0]` of this one, times a sign of +1 or -1.

        A plane of -1 is a new one, which starts at zero.
        """
        which = np.array([k for k, _ in planes])
        signs = np.array([sign for _, sign in planes])
        new = which < 0

        def signed(values: Array) -> Array:
            out = values[which] * signs.reshape(-1, *[1] * (values.ndim - 1))
            out += 0.0  # -0.0 becomes 0.0
            out[new] = 0.0
            return np.ascontiguousarray(out)

        variance = self.variance
        if variance is not None:
            variance = variance[which]
            if new.any():
                first = first_variances(rule, 1, self.w.shape[1], fit_intercept)
                variance[new] = first[0]
        votes = [
            None if k < 0 or self.votes[k] is None else self.votes[k] if sign > 0
            else self.votes[k].mirrored()  # type: ignore[union-attr]  # tested above
            for k, sign in planes
        ]  # fmt: skip
        return replace(
            self,
            w=signed(self.w),
            b=signed(self.b),
            u=None if self.u is None else signed(self.u),
            ub=None if self.ub is None else signed(self.ub),
            variance=variance,
            visits=np.where(new, self.visits[0], self.visits[which]),
            updates=np.where(new, 0, self.updates[which]),
            mistakes=np.where(new, 0, self.mistakes[which]),
            votes=votes,
        )

    def widen(self, n_features: int, rule: Rule, spare_room: bool = False) -> None:
        """Make room for more features of weight 0; with `spare_room`, for later ones too."""
        if n_features <= self.n_features:
            return
        self.n_features = n_features
        has = self.w.shape[1]
        if n_features <= has:
            return
        spare_room = spare_room and not rule.full_covariance
        room = max(n_features, 2 * has, 16) if spare_room else n_features
        more = ((0, 0), (0, room - has))
        self.w = np.pad(self.w, more)
        if self.u is not None:
            self.u = np.pad(self.u, more)
        if self.variance is not None and rule.full_covariance:
            self.variance = _wider_covariance(self.variance, has, room, rule)
        elif self.variance is not None:
            self.variance = np.pad(self.variance, more, constant_values=rule.first_variance)

    def without_room(self, n_features: int, rule: Rule) -> State:
        """A copy with the first features only, and no room for later ones."""
        state, d = self.copy(), n_features
        state.n_features, state.w = d, state.w[:, :d].copy()
        if state.u is not None:
            state.u = state.u[:, :d].copy()
        if state.variance is not None and not rule.full_covariance:
            state.variance = state.variance[:, : d + 1].copy()
        return state

    def ballot(self, plane: int) -> Ballot:
        """The votes of one hyperplane as they are now, for keep="vote"."""
        votes = self.votes[plane]
        assert votes is not None
        return Ballot(votes.w, votes.b, votes.counts(float(self.visits[plane])))

    def kept(self, keep: Keep) -> tuple[Array, Array]:
        """(coef, intercept) that "last" or "average" returns, in the type of the rows."""
        w, b = self.w[:, : self.n_features], self.b
        if keep == "average" and self.u is not None and self.ub is not None:
            w, b = self._average(w, b, self.u[:, : self.n_features], self.ub)
        return w.astype(self.dtype), b.astype(self.dtype)

    def _average(self, w: Array, b: Array, u: Array, ub: Array) -> tuple[Array, Array]:
        """The mean of the weights after each visit (the start not counted), or w before any."""
        visits = self.visits
        T = np.where(visits == 0, 1.0, visits)
        none = visits == 0
        with np.errstate(over="ignore", invalid="ignore"):
            mean_w = np.where(none[:, None], w, (T[:, None] * w - u) / T[:, None])
            mean_b = np.where(none, b, (T * b - ub) / T)
        if not (np.isfinite(mean_w).all() and np.isfinite(mean_b).all()):
            raise OverflowedError(
                "Floating-point overflow: the sum of the weights over all visits left the range of "
                "float64, though the weights did not. Scale the data or lower eta0."
            )
        return mean_w, mean_b


def _wider_covariance(variance: Array, has: int, room: int, rule: Rule) -> Array:
    """Covariances of `has` features and the offset, with those of new features after them."""
    planes = len(variance)
    wide = first_variances(rule, planes, room, True).reshape(planes, room + 1, room + 1)
    wide[:, : has + 1, : has + 1] = variance.reshape(planes, has + 1, has + 1)
    return np.ascontiguousarray(wide.reshape(planes, -1))


def first_variances(rule: Rule, planes: int, d: int, fit_intercept: bool) -> Array:
    """The variances before any row, one line per hyperplane, the offset first."""
    width = d + 1
    diagonal = np.full(width, rule.first_variance)
    diagonal[0] *= fit_intercept
    one = diagonal
    if rule.full_covariance:
        if 8 * planes * width**2 > MOST_COVARIANCE_BYTES:
            raise ParameterError(
                f"covariance='full' keeps {width:,} x {width:,} numbers"
                + (f" for each of {planes} classes" if planes > 1 else "")
                + f", more than {MOST_COVARIANCE_BYTES / 2**30:g} GiB. Use covariance='diagonal'."
            )
        one = np.diag(diagonal).ravel()
    return np.repeat(one[None], planes, axis=0)
