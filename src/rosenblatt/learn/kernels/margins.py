"""Margins: what a mistake is, and who makes the next one."""

from __future__ import annotations

import numpy as np

from rosenblatt.learn.kernels.arrays import CORRECT, HALF, POSITIVE, compiled
from rosenblatt.learn.kernels.rows import ahead, dot


@compiled()
def mistake(z, y, tie):
    """How much of a mistake the margin z = y (w.x + b) is: 0, 1/2 or 1.

    A score of exactly 0 is decided by `tie`, see docs/conventions.md.
    """
    if z < 0.0:
        return 1.0
    if z > 0.0 or tie == CORRECT:
        return 0.0
    if tie == POSITIVE:
        return 1.0 if y < 0 else 0.0
    if tie == HALF:
        return 0.5
    return 1.0


@compiled()
def push(rule, z, y):
    """How many times eta y x is added at margin z: the mistake, or 1 up to tau."""
    if rule.margin:
        return 1.0 if z <= rule.tau else 0.0
    return mistake(z, y, rule.tie)


@compiled()
def margin(rows, i, y, w, b):
    """y_i (w.x_i + b).

    All callers get the same bits: `dot` is vectorised before it comes here, and without
    flags nothing may be drawn into its sum.
    """
    return y[np.uint64(i)] * (dot(rows, i, w) + b)


@compiled()
def scan(rows, y, w, b, index, t, bar):
    """The first visit from t on whose margin is not clearly above `bar`, and that margin."""
    z = 0.0
    while t < y.size:
        i = t
        if index.size:
            i = index[np.uint64(t)]
            ahead(rows, index, t)
        z = margin(rows, i, y, w, b)
        if not (bar < z and z < np.inf):
            break
        t += 1
    return t, z


@compiled()
def repeats(z, y, q, k, tie):
    """k visits in a row to one example: (whole updates, half updates).

    Each whole update raises z by q = eta (||x||^2 + 1). Closed form of the loop
    `for _ in range(k): update if mistake`.
    """
    e = mistake(z, y, tie)
    if e == 0.0 or k == 0.0:
        return 0.0, 0.0
    if q == 0.0:  # x = 0 without offset: the score never moves
        return (0.0, k) if e == 0.5 else (k, 0.0)
    if z == 0.0 and e == 0.5:
        return 0.0, 1.0
    # the smallest m with z + m q > 0, or >= 0 where a 0 is no (whole) mistake
    m = np.floor(-z / q)
    while m > 0.0 and z + m * q >= 0.0:
        m -= 1.0
    while z + m * q < 0.0:
        m += 1.0
    half = 0.0
    if z + m * q == 0.0:
        left = mistake(0.0, y, tie)
        if left == 1.0:
            m += 1.0
        elif left == 0.5 and m < k:
            half = 1.0
    return min(m, k), half


@compiled()
def rival(rows, i, y, w, b):
    """(margin over, number of) the best-scoring class other than y; the first on a tie."""
    own, best, r = 0.0, -np.inf, -1
    for k in range(b.size):
        s = dot(rows, i, w[k]) + b[k]
        if k == y:
            own = s
        elif r < 0 or s > best:
            best, r = s, k
    return own - best, r
