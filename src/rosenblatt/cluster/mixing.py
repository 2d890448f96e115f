"""Mixing: one hyperplane from what every shard made of the last one. Plain arithmetic, no cluster.

Iterative parameter mixing: in each round shard i makes one pass from the common weights w and
comes to w_i with k_i updates; the next common weights are

    w' = sum_i mu_i w_i,   mu_i >= 0,  sum_i mu_i = 1                 [McDonald, Hall, Mann 2010]

with mu_i = 1/S ("uniform") or k_i / sum k ("mistakes"). If a unit vector u has y x.u >= gamma for
all rows, and ||x|| <= R, then w'.u >= w.u + gamma sum_i mu_i k_i, and, as the square of a norm is
convex, ||w'||^2 <= ||w||^2 + R^2 sum_i mu_i k_i. From w = 0 therefore, over all rounds,

    sum_rounds sum_i mu_i k_i <= R^2 / gamma^2,

the bound of Novikoff for weighted mistakes. With S shards, up to S times as many mistakes are
made as on one machine; that fewer rounds than passes are needed is not promised.

Rules of second order that are least squares on the rows they move at (arow, sop) keep a Gaussian
with precision P = S^-1 and mean theta. A step at row (x, y) adds x x'/r to P and y x/r to P theta,
so with covariance="full" what the shards add can be added up,

    P' = P + sum_i (P_i - P),   P' theta' = P theta + sum_i (P_i theta_i - P theta),

which is, exactly, the Gaussian of all rows that any shard moved at. With covariance="diagonal" the
steps are those of no Gaussian, and added up they overshoot; there the mean is taken, in which a
shard counts for a weight as much as it is sure of it:

    P' = sum_i mu_i P_i,   P' theta' = sum_i mu_i P_i theta_i.       [Dredze, Kulesza, Crammer 2010]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Mixing = Literal["uniform", "mistakes"]
NOTHING = np.empty(0)


class Passed(NamedTuple):
    """Where one pass over one shard led, and what it did.

    w, b, spread : the weights, and the variances of rules that keep them (offset first)
    sum_w, sum_b : the sums of the weights after every visit, or empty
    """

    w: Array
    b: Array
    spread: Array
    sum_w: Array
    sum_b: Array
    visits: float
    updates: int
    mistakes: int
    loss: float


class Term(NamedTuple):
    """A sum over some shards. `w`, `b` and `precision` are those of the weighted hyperplanes."""

    w: Array
    b: Array
    precision: Array
    weight: float
    weighted: float
    sum_w: Array
    sum_b: Array
    visits: float
    updates: int
    mistakes: int
    loss: float


def term(passed: Passed, mixing: Mixing) -> Term:
    """What one shard adds to the sum, in float64."""
    weight = 1.0 if mixing == "uniform" else float(passed.updates)
    if passed.spread.size:
        precision, pull = natural(whole(passed.w, passed.b), passed.spread)
        precision, pull = weight * precision, weight * pull
        w, b = pull[..., 1:], pull[..., 0]
    else:
        precision = NOTHING
        w = weight * passed.w.astype(np.float64)
        b = weight * passed.b.astype(np.float64)
    return Term(
        w, b, precision, weight, weight * passed.updates, passed.sum_w, passed.sum_b,
        passed.visits, passed.updates, passed.mistakes, passed.loss,
    )  # fmt: skip


def added(terms: Sequence[Term]) -> Term:
    """Their sum, from the first to the last: the same terms give the same bits."""
    columns: Any = zip(*terms, strict=True)
    return Term(*(reduce(add, column) for column in columns))


def mixed(total: Term, w: Array, b: Array, spread: Array, shards: int) -> tuple[Array, ...]:
    """The next common (w, b, spread), of the types of the last; the last where nothing moved."""
    if total.updates == 0:
        return w, b, spread
    if not spread.size:
        new_w, new_b = total.w / total.weight, total.b / total.weight
        return new_w.astype(w.dtype), new_b.astype(b.dtype), spread
    before = whole(w, b)
    pull = np.concatenate([total.b[..., None], total.w], axis=-1)
    if spread.shape == before.shape:
        theta, spread = moments(total.precision / total.weight, pull / total.weight, before)
    else:
        first, first_pull = natural(before, spread)
        theta, spread = moments(
            total.precision - (shards - 1) * first, pull - (shards - 1) * first_pull, before
        )
    b_shape = b.shape
    return theta[..., 1:].astype(w.dtype), theta[..., 0].reshape(b_shape).astype(b.dtype), spread


def weighted_mistakes(total: Term) -> float:
    """sum_i mu_i k_i of the round: what the bound counts."""
    return total.weighted / total.weight if total.weight else 0.0


# ------------------------------------------------------------------ Gaussians


def whole(w: Array, b: Array) -> Array:
    """(offset, weights) in float64; a row for each class of the direct rule."""
    offset = np.asarray(b, dtype=np.float64).reshape(*w.shape[:-1], 1)
    return np.concatenate([offset, w.astype(np.float64)], axis=-1)


def natural(theta: Array, spread: Array) -> tuple[Array, Array]:
    """(P, P theta) of a Gaussian; rows and columns without variance stay 0."""
    if spread.shape == theta.shape:
        with np.errstate(divide="ignore"):
            P = np.where(spread > 0, 1.0 / spread, 0.0)
        return P, P * theta
    P = np.zeros_like(spread)
    first = _first(spread)
    P[..., first:, first:] = np.linalg.inv(spread[..., first:, first:])
    return P, np.einsum("...ij,...j->...i", P, theta)


def moments(P: Array, pull: Array, before: Array) -> tuple[Array, Array]:
    """(theta, S) back from (P, P theta); what has no variance stays as it was before."""
    if P.shape == pull.shape:
        some = P > 0
        spread = np.where(some, 1.0 / np.where(some, P, 1.0), 0.0)
        return np.where(some, spread * pull, before), spread
    first = _first(P)
    spread = np.zeros_like(P)
    spread[..., first:, first:] = np.linalg.inv(P[..., first:, first:])
    theta = np.einsum("...ij,...j->...i", spread, pull)
    theta[..., :first] = before[..., :first]
    return theta, spread


def _first(matrix: Array) -> int:
    """1 where the offset is not learned, whose row is 0."""
    return 0 if matrix[..., 0, 0].all() else 1
