"""Adaptive: steps that follow from the margin and the variance of a row.

Passive-aggressive rules, AROW, SCW and the second-order perceptron are one loop: with
z = y (w.x + b) and v = x'Sx (the offset counts as a feature that is always 1),

    w += step y S x,    S -= beta Sx (Sx)',

and the rules differ in `moves`, `steps` and the loss. S is kept whole (2-d) or as its diagonal
(1-d), which is that of the whole update; for the passive-aggressive rules it stays the identity.
"""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from rosenblatt.learn.kernels.arrays import (
    AROW,
    BORROWED,
    CONTRACT,
    FAST,
    PA,
    PA1,
    PA2,
    SCW,
    SOP,
    Dense,
    compiled,
    is_a,
)
from rosenblatt.learn.kernels.margins import mistake
from rosenblatt.learn.kernels.rows import entries, entry

# ------------------------------------------------------------------- what a rule asks


@compiled()
def asked(rule, v):
    """The margin that a row of variance v must have, or reach, for nothing to happen."""
    if rule.kind == SCW:
        return rule.phi * np.sqrt(v)
    return 0.0 if rule.kind == SOP else 1.0


@compiled()
def moves(rule, z, v, y):
    """Whether a row moves the weights."""
    if rule.kind == SOP:
        return mistake(z, y, rule.tie) > 0.0
    # a row that nothing can move is never right with z <= 0
    return z < asked(rule, v) or (z <= 0.0 and v == 0.0)


@compiled()
def steps(rule, z, v, k):
    """(step, beta) for a row of weight k > 0."""
    if v == 0.0:
        return 0.0, 0.0
    if rule.kind == PA:
        return (1.0 - z) / v, 0.0
    if rule.kind == PA1:
        return min(rule.c * k, (1.0 - z) / v), 0.0
    if rule.kind == PA2:
        return (1.0 - z) / (v + 0.5 / (rule.c * k)), 0.0
    if rule.kind == AROW:
        beta = 1.0 / (v + rule.c / k)
        return (1.0 - z) * beta, beta
    if rule.kind == SOP:
        beta = 1.0 / (v + 1.0 / k)
        return (1.0 - z) * beta, beta
    # SCW: the smallest step after which z >= phi sqrt(v), with the variance it leaves
    phi2 = rule.phi * rule.phi
    root = np.sqrt(z * z * phi2 * phi2 / 4.0 + v * phi2 * (1.0 + phi2))
    step = (root - z * (1.0 + phi2 / 2.0)) / (v * (1.0 + phi2))
    step = min(max(step, 0.0), rule.c * k)
    gone = step * v * rule.phi
    left = (np.sqrt(gone * gone + 4.0 * v) - gone) / 2.0  # the deviation afterwards
    return step, step * rule.phi / (left + gone)


# ----------------------------------------------------------------- what S does to a row


def variance(rows, i, spread, work):
    """x'Sx. With all of S, also S x, into `work`."""


@overload(variance, jit_options={"fastmath": FAST} | BORROWED)
def _variance(rows, i, spread, work):
    # unsigned indices spare numba's test for negative ones
    if spread.ndim == 2:
        return _full_variance
    if is_a(rows, Dense):

        def dense(rows, i, spread, work):
            v = spread[0]
            for j in range(np.uint64(spread.size - 1)):
                x = np.float64(rows.X[np.uint64(i), j])
                v += spread[j + np.uint64(1)] * x * x
            return v

        return dense

    def sparse(rows, i, spread, work):
        v = spread[0]
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            x = np.float64(rows.data[k])
            v += spread[np.uint64(rows.indices[k]) + np.uint64(1)] * x * x
        return v

    return sparse


def _full_variance(rows, i, spread, work):
    d = spread.shape[0]
    for m in range(d):
        work[m] = spread[0, m]
    first, last = entries(rows, i, d - 1)
    for k in range(first, last):
        j, x = entry(rows, i, k)
        if x != 0.0:
            for m in range(d):
                work[m] += x * spread[j + 1, m]
    v = work[0]
    for k in range(first, last):
        j, x = entry(rows, i, k)
        v += x * work[j + 1]
    return max(v, 0.0)


def nudge(rows, i, c, visits, beta, spread, work, w, wide, u):
    """w += c S x, u += c visits S x unless that is empty, then S -= beta Sx (Sx)'.

    Gives back c times the first entry of S x, by which the offset moves. `wide` is w, or a copy
    of it that follows. No variance grows, and none falls below 0.
    """


@overload(nudge, jit_options={"fastmath": CONTRACT} | BORROWED)
def _nudge(rows, i, c, visits, beta, spread, work, w, wide, u):
    apart = w.dtype != wide.dtype
    if spread.ndim == 2:

        def full(rows, i, c, visits, beta, spread, work, w, wide, u):
            for j in range(w.size):
                step = c * work[j + 1]
                w[j] = np.float64(w[j]) + step
                if apart:
                    wide[j] = w[j]
                if u.size:
                    u[j] += visits * step
            if beta != 0.0:
                for a in range(spread.shape[0]):
                    if work[a] != 0.0:
                        for m in range(spread.shape[0]):
                            spread[a, m] -= (work[a] * work[m]) * beta  # symmetric to the bit
            return c * work[0]

        return full
    if is_a(rows, Dense):

        def dense(rows, i, c, visits, beta, spread, work, w, wide, u):
            for j in range(np.uint64(w.size)):
                one(j, np.float64(rows.X[np.uint64(i), j]), c, visits, beta, spread, w, wide, u)
            return first(c, beta, spread)

        return dense

    def sparse(rows, i, c, visits, beta, spread, work, w, wide, u):
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            j = np.uint64(rows.indices[k])
            one(j, np.float64(rows.data[k]), c, visits, beta, spread, w, wide, u)
        return first(c, beta, spread)

    return sparse


@compiled(forceinline=True, fastmath=CONTRACT)
def one(j, x, c, visits, beta, spread, w, wide, u):
    """What `nudge` does at one entry, with the diagonal of S."""
    s = spread[j + np.uint64(1)]
    step = c * (s * x)
    w[j] = np.float64(w[j]) + step
    wide[j] = w[j]
    if u.size:
        u[j] += visits * step
    if beta != 0.0:
        spread[j + np.uint64(1)] = max(s - beta * ((s * x) * (s * x)), 0.0)


@compiled(forceinline=True)
def first(c, beta, spread):
    """What `nudge` does at the offset."""
    s = spread[0]
    spread[0] = max(s - beta * (s * s), 0.0)
    return c * s
