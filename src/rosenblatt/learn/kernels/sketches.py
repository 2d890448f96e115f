"""Sketches: margins from rows that are rounded to 16 bits, with a bound on the error."""

from __future__ import annotations

import math

import numpy as np
from numba.extending import overload

from rosenblatt.learn.kernels.arrays import (
    BLOCK,
    FAST,
    FLOOR,
    SPAN,
    VAIN,
    Dense,
    compiled,
    entry_point,
    is_a,
)
from rosenblatt.learn.kernels.margins import margin, scan
from rosenblatt.learn.kernels.rows import ahead

# Margins from a sketch. Reading rows is what a pass costs, so they are kept rounded to 16
# bits, x_i = s q + e with s = scale[i] a power of two, |q_j| <= 2^14 and |e_j| <= 0.51 s (0.01
# for rounding in float32), and the weights in float32, w = v + f. The rounded margin only says
# who is certainly above the bar; everybody else is computed by `margin`, and the updates are
# those of the plain loop to the last bit. Exactly, w.x - s v.q = w.e + s q.f. With
# W >= ||(w, b)|| and Q = 2^14 s sqrt(d) >= s ||q||:
#   |w.e| <= 0.51 s sqrt(d) W,  |s q.f| <= 2^-24 Q W;
#   sums of BLOCK products in float32 add 257 2^-24 Q W, a quarter of s sqrt(d) W;
#   all rounding in float64, that of `margin` included, (d + 16) 2^-52 (Q + 1) W at most.
# In all less than 0.8 s sqrt(d) W + (d + 16) 2^-52 W = SPAN s + FLOOR for d <= 2^15. Outside
# 1e-20 < W < 1e20 nothing is decided: inside, nothing that matters is lost to underflow or
# overflow. Infinite s: nothing is known of that row.


@compiled(fastmath=FAST)
def rough(short, i, v):
    """q_i . v"""
    total, i = 0.0, np.uint64(i)
    d, first = np.uint64(v.size), np.uint64(0)
    while first < d:
        s, last = np.float32(0.0), min(first + np.uint64(BLOCK), d)
        for j in range(first, last):
            s += np.float32(short[i, j]) * v[j]
        total += np.float64(s)
        first = last
    return total


@compiled(fastmath=FAST)
def renew(w, b, sketch):
    """The weights changed: round them, and bound the errors anew."""
    norm = np.float64(b) ** 2
    for j in range(w.size):
        a = np.float64(w[np.uint64(j)])
        sketch.v[np.uint64(j)] = np.float32(a)
        norm += a * a
    W = (1.0 + 1e-6) * np.sqrt(norm)
    if not (W > 1e-20 and W < 1e20):
        W = np.inf
    sketch.state[SPAN] = 0.8 * np.sqrt(np.float64(w.size)) * W
    sketch.state[FLOOR] = (w.size + 16) * 2.0**-52 * W


def sift(rows, y, w, b, index, t, bar, sketch):
    """What `scan` finds, computing only the margins that the sketch cannot place above `bar`."""


@overload(sift, inline="always")
def _sift(rows, y, w, b, index, t, bar, sketch):
    if not is_a(rows, Dense):  # no gain was measured on CSR
        return lambda rows, y, w, b, index, t, bar, sketch: scan(rows, y, w, b, index, t, bar)
    return lambda rows, y, w, b, index, t, bar, sketch: sift_dense(
        rows, y, w, b, index, t, bar, sketch
    )


@compiled(forceinline=True)
def sift_dense(rows, y, w, b, index, t, bar, sketch):
    short, scale, v, state = sketch.short, sketch.scale, sketch.v, sketch.state
    reach, floor, z = state[SPAN], state[FLOOR], 0.0
    while t < y.size:
        i = t
        if index.size:
            i = index[np.uint64(t)]
            ahead(Dense(short), index, t)
        s = np.float64(scale[np.uint64(i)])
        low = y[np.uint64(i)] * (s * rough(short, i, v) + b) - (reach * s + floor)
        if not low > bar:
            z = margin(rows, i, y, w, b)
            if not (bar < z and z < np.inf):
                break
            state[VAIN] += 1.0
        t += 1
    return t, z


@entry_point
def draw(X, bits, sketch):
    """Round the rows of X into the sketch; bits: X, read as whole numbers.

    scale: the power of two that brings a row below 2^14; infinite for numbers that are too
    large, not below 2^-74 for tiny ones, which become 0.
    """
    short, half = sketch.short, X.dtype.type(0.5)
    fraction, bias = (52, 1023) if X.itemsize == 8 else (23, 127)
    for i in range(np.uint64(X.shape[0])):
        top = bits[i, 0] & 0
        for j in range(np.uint64(X.shape[1])):
            top = max(top, bits[i, j] & np.iinfo(bits.dtype).max)
        exponent = (int(np.int64(top)) >> fraction) - bias
        s = math.ldexp(1.0, max(exponent, -61) - 13) if exponent <= 60 else np.inf
        sketch.scale[i] = s
        inverse = X.dtype.type(1.0 / s)
        for j in range(np.uint64(X.shape[1])):
            short[i, j] = np.int32(np.floor(X[i, j] * inverse + half))
