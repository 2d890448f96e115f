"""Voting: the true error of a vote of hyperplanes between two Gaussian classes.

A vote says class 1 where sum_k c_k sign(w_k.x + b_k) >= 0, with sign(0) = +1. In one feature that
is a set of intervals. In two, after whitening, it is a union of polygons around the origin, and
a line at distance h from it cuts off, between the angles whose tangents are t and s,

    1/(2 pi) integral of exp(-h^2 (1 + x^2)/2) / (1 + x^2) dx  from t to s  =  T(h, s) - T(h, t),

T being Owen's function: the probability of lying beyond that piece as seen from the origin. So
P(region) is [origin in it] plus or minus such pieces, over the pieces of the lines where the
majority changes: a closed form. In more features it is sampled; `versus_oracle` marks that.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, owens_t

from rosenblatt.learn.state import Ballot

Array = npt.NDArray[Any]
TINY = 1e-18
SAME = 12  # decimals to which two lines are one


def chance_of_one(votes: Ballot, mean: Array, R: Array) -> float:
    """P(the vote says class 1) for x = mean + R z, with z of one or two features."""
    slopes = votes.w.astype(np.float64) @ R
    heights = votes.w.astype(np.float64) @ mean + votes.b.reshape(-1)
    fixed = ~slopes.any(axis=1) if slopes.shape[1] else np.ones(len(heights), bool)
    counts = votes.counts.astype(np.float64)
    always = float(np.where(heights[fixed] >= 0, counts[fixed], -counts[fixed]).sum())
    if fixed.all():
        return float(always >= 0)
    norms = np.linalg.norm(slopes[~fixed], axis=1)
    n, h, c = slopes[~fixed] / norms[:, None], heights[~fixed] / norms, counts[~fixed]
    return (_one if n.shape[1] == 1 else _two)(n, h, c, always)


def _one(n: Array, h: Array, c: Array, always: float) -> float:
    """Thresholds on a line, from left to right."""
    at = -h / n[:, 0]
    order = np.argsort(at, kind="stable")
    at, step = at[order], 2 * (c * n[:, 0])[order]
    votes = always - float((c * n[:, 0]).sum()) + np.concatenate([[0.0], np.cumsum(step)])
    edges = np.concatenate([[-math.inf], at, [math.inf]])
    masses = ndtr(edges[1:]) - ndtr(edges[:-1])
    return float(masses[votes >= 0].sum())


def _two(n: Array, h: Array, c: Array, always: float) -> float:
    """Pieces of lines n.z + h = 0 where the majority changes."""
    n, h, gain, always = _merged(n, h, c, always)
    # now h >= 0: the origin is on the side n.z + h >= 0 of every line, and beyond it
    # the vote changes by -2 gain
    origin = always + float(gain.sum())
    total = float(origin >= 0)
    foot = -h[:, None] * n
    along = np.stack([-n[:, 1], n[:, 0]], axis=1)
    for k in range(len(h)):
        # on line k, at foot + x along: the others change sides at x = cut
        speed = n @ along[k]
        value = n @ foot[k] + h
        others = np.arange(len(h)) != k
        parallel = others & (np.abs(speed) < 1e-14)
        cross = others & ~parallel
        cut = -value[cross] / speed[cross]
        order = np.argsort(cut)
        rising = np.where(speed[cross] > 0, 2.0, -2.0) * gain[cross]
        start = always + float((gain[parallel] * np.where(value[parallel] >= 0, 1, -1)).sum())
        start -= float((gain[cross] * np.sign(speed[cross])).sum())
        others_vote = start + np.concatenate([[0.0], np.cumsum(rising[order])])
        inner, outer = others_vote + gain[k] >= 0, others_vote - gain[k] >= 0
        edges = np.concatenate([[-math.inf], cut[order], [math.inf]])
        changes = outer.astype(np.float64) - inner
        live = np.flatnonzero(changes)
        total += float((changes[live] * _beyond(float(h[k]), edges[live], edges[live + 1])).sum())
    return min(max(total, 0.0), 1.0)


def _beyond(h: float, low: Array, high: Array) -> Array:
    """Probability beyond a piece of a line at distance h, from x = low to x = high along it."""
    return np.asarray(owens_t(h, high / h) - owens_t(h, low / h))


def _merged(n: Array, h: Array, c: Array, always: float) -> tuple[Array, Array, Array, float]:
    """Lines turned so that the origin is on their near side, each once; `gain` may be negative.

    sign(-s) = -sign(s) except on the line itself, which has probability 0. Lines through the
    origin are moved apart by less than rounding, since many may meet there.
    """
    turned = np.where(h < 0, -1.0, 1.0)
    n, h, gain = n * turned[:, None], np.abs(h), c * turned
    keys = np.round(np.column_stack([n, h / np.maximum(1.0, h.max())]), SAME)
    through = h == 0  # either side may be near: one direction for both
    flip = through & ((n[:, 0] < 0) | ((n[:, 0] == 0) & (n[:, 1] < 0)))
    n[flip], gain[flip] = -n[flip], -gain[flip]
    keys[flip, :2] = -keys[flip, :2]
    _, first, which = np.unique(keys + 0.0, axis=0, return_index=True, return_inverse=True)
    joined = np.bincount(which.reshape(-1), weights=gain, minlength=len(first))
    keep = joined != 0
    n, h = n[first][keep], h[first][keep]
    return n, np.where(h < TINY, TINY * (1 + np.arange(len(h))), h), joined[keep], always
