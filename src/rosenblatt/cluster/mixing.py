"""Mixing: one hyperplane from what every shard made of the last one. Plain arithmetic, no cluster.

Iterative parameter mixing: in each epoch shard i visits its rows from the common weights w and
comes to w_i with k_i updates; the next common weights are

    w' = sum_i mu_i w_i,   mu_i >= 0,  sum_i mu_i = 1                 [McDonald, Hall, Mann 2010]

with mu_i = 1/S ("uniform") or k_i / sum k ("mistakes"). If a unit vector u has y x.u >= gamma for
all rows, and ||x|| <= R, then w'.u >= w.u + gamma sum_i mu_i k_i, and, as the square of a norm is
convex, ||w'||^2 <= ||w||^2 + R^2 sum_i mu_i k_i. From w = 0 therefore, over all epochs,

    sum_epochs sum_i mu_i k_i <= R^2 / gamma^2,

the bound of Novikoff for weighted mistakes. With S shards, up to S times as many mistakes are
made as on one machine; that fewer epochs are needed is not promised.

Rules of second order that are least squares on the rows they move at (arow, sop) keep a Gaussian
with precision P = S^-1 and mean theta. A step at row (x, y) adds x x'/r to P and y x/r to P theta,
so with covariance="full" what the shards add can be added up,

    P' = P + sum_i (P_i - P),   P' theta' = P theta + sum_i (P_i theta_i - P theta),

which is, exactly, the Gaussian of all rows that any shard moved at. With covariance="diagonal" the
steps are those of no Gaussian, and added up they overshoot; there the mean is taken, in which a
shard counts for a weight as much as it is sure of it:

    P' = sum_i mu_i P_i,   P' theta' = sum_i mu_i P_i theta_i.       [Dredze, Kulesza, Crammer 2010]

Arrays have one line per hyperplane. theta is (offset, weights); S is the variances of theta, or
matrices of covariances.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Mixing = Literal["uniform", "mistakes"]
Sums = dict[str, Any]  # sums over shards by name


def term(theta: Array, S: Array | None, weight: Array) -> Sums:
    """What the hyperplanes of one shard add to the mixture; `weight` is mu_i times a constant."""
    if S is None:
        return {"weight": weight, "theta": weight[:, None] * theta}
    P, pull = natural(theta, S)
    return {
        "weight": weight, "theta": weight[:, None] * pull,
        "precision": weight.reshape(-1, *[1] * (P.ndim - 1)) * P,
    }  # fmt: skip


def added(terms: Sequence[Sums]) -> Sums:
    """Their sum, from the first to the last: the same terms give the same bits."""
    return {name: reduce(add, (one[name] for one in terms)) for name in terms[0]}


def mixed(total: Sums, theta: Array, S: Array | None, n_shards: int) -> tuple[Array, Array | None]:
    """The next common (theta, S), of which those before are given."""
    weight = total["weight"][:, None]
    if S is None:
        return total["theta"] / weight, None
    if S.ndim == 2:
        return moments(total["precision"] / weight, total["theta"] / weight, theta)
    P, pull = natural(theta, S)
    more = n_shards - 1
    return moments(total["precision"] - more * P, total["theta"] - more * pull, theta)


# ------------------------------------------------------------------ Gaussians


def natural(theta: Array, S: Array) -> tuple[Array, Array]:
    """(P, P theta) of a Gaussian; rows and columns without variance stay 0."""
    if S.ndim == 2:
        with np.errstate(divide="ignore"):
            P = np.where(S > 0, 1.0 / S, 0.0)
        return P, P * theta
    P = np.zeros_like(S)
    first = _first(S)
    P[:, first:, first:] = np.linalg.inv(S[:, first:, first:])
    return P, np.einsum("kij,kj->ki", P, theta)


def moments(P: Array, pull: Array, before: Array) -> tuple[Array, Array]:
    """(theta, S) back from (P, P theta); what has no variance stays as it was before."""
    if P.ndim == 2:
        some = P > 0
        S = np.where(some, 1.0 / np.where(some, P, 1.0), 0.0)
        return np.where(some, S * pull, before), S
    first = _first(P)
    S = np.zeros_like(P)
    S[:, first:, first:] = np.linalg.inv(P[:, first:, first:])
    theta = np.einsum("kij,kj->ki", S, pull)
    theta[:, :first] = before[:, :first]
    return theta, S


def _first(matrix: Array) -> int:
    """1 where the offset is not learned, whose row is 0."""
    return 0 if matrix[:, 0, 0].all() else 1
