"""Alma: an approximately largest margin, with steps that shrink.

With rows of p-norm 1 (the offset counts as a feature that is always 1), k = 1 + steps so far and
f^-1(theta)_j = sign(theta_j) |theta_j|^(p-1) / ||theta||_p^(p-2), the identity for p = 2:

    while y w.x <= bar sqrt(p-1) / sqrt(k):
        theta += step / sqrt((p-1) k) y x;  theta /= max(1, ||theta||_p);  w = f^-1(theta)

Then ||w||_q = ||theta||_p <= 1, 1/p + 1/q = 1. Only the entries of the row change but for a common
factor: theta = t theta' and w = scale g(theta') with g(a) = sign(a) |a|^(p-1), N = sum |theta'_j|^p
and scale = t / N^((p-2)/p). So inside a pass the model holds g(theta'), and a step costs no more
than its row. The average is lazy, with sigma, the sum of the scales so far, in the place of the
number of visits (as in penalised.py).  [Gentile 2001]
"""

from __future__ import annotations

import numpy as np

from rosenblatt.learn.kernels.arrays import compiled
from rosenblatt.learn.kernels.rows import dot, entries, entry

# Slots of Alma.state: t, N, scale, sigma.
T, N, SCALE, SIGMA = 0, 1, 2, 3
LEAST = 1e-9  # a t below this is multiplied out


@compiled()
def length(rows, i, rule, d):
    """The p-norm of row i, with its offset."""
    s = 1.0 if rule.intercept else 0.0
    first, last = entries(rows, i, d)
    for k in range(first, last):
        _, x = entry(rows, i, k)
        s += x * x if rule.p == 2.0 else abs(x) ** rule.p
    return np.sqrt(s) if rule.p == 2.0 else s ** (1.0 / rule.p)


@compiled()
def linked(a, p):
    """g(a), or a itself for p = 2."""
    if p == 2.0 or a == 0.0:
        return a
    return np.sign(a) * abs(a) ** (p - 1.0)


@compiled()
def opened(w, b, visits, rule):
    """Let the model hold g(theta'), theta' = theta; theta[d] is that of the offset."""
    state, theta, p = rule.state, rule.theta, rule.p
    total = 0.0
    for j in range(w.size + 1):
        a = theta[j]
        total += a * a if p == 2.0 else abs(a) ** p
        if j < w.size:
            w[j] = linked(a, p)
        else:
            b[0] = linked(a, p)
    state[T], state[N] = 1.0, total
    rescaled(rule)
    state[SIGMA] = visits * state[SCALE]


@compiled()
def rescaled(rule):
    """Back into the ball, and the common factor of all weights."""
    state, p = rule.state, rule.p
    size = state[N] ** (1.0 / p)
    if state[T] * size > 1.0:
        state[T] = 1.0 / size
    # no steps yet, all is 0: any factor will do
    state[SCALE] = state[T] / size ** (p - 2.0) if size > 0.0 else 1.0


@compiled()
def closed(w, b, u, ub, visits, rule):
    """Let the model hold the weights themselves, and the average (if u is not empty) what it is."""
    state = rule.state
    owed = visits * state[SCALE] - state[SIGMA]
    for j in range(w.size):
        if u.size:
            u[j] += owed * w[j]
        w[j] = state[SCALE] * w[j]
        rule.theta[j] *= state[T]
    if u.size:
        ub[0] += owed * b[0]
    b[0] = state[SCALE] * b[0]
    rule.theta[w.size] *= state[T]


@compiled()
def stepped(rows, i, c, w, b, u, ub, rule):
    """theta += c x, then back into the ball."""
    theta, state, p = rule.theta, rule.state, rule.p
    c /= state[T]
    first, last = entries(rows, i, w.size)
    for k in range(first, last):
        j, x = entry(rows, i, k)
        old, before = theta[j], np.float64(w[j])
        theta[j] = old + c * x
        w[j] = linked(theta[j], p)
        state[N] += abs(theta[j]) ** p - abs(old) ** p
        if u.size:
            u[j] += state[SIGMA] * (w[j] - before)
    if rule.intercept:
        old, before = theta[w.size], np.float64(b[0])
        theta[w.size] = old + c
        b[0] = linked(theta[w.size], p)
        state[N] += abs(theta[w.size]) ** p - abs(old) ** p
        if u.size:
            ub[0] += state[SIGMA] * (b[0] - before)
    state[N] = max(state[N], 0.0)
    rescaled(rule)


@compiled()
def measured(rows, i, w, b, rule):
    """(score of the row scaled to length 1, its length); the score of a row of zeros is 0."""
    size = length(rows, i, rule, w.size)
    s = rule.state[SCALE] * (dot(rows, i, w) + b[0])
    return (s / size if size > 0.0 else 0.0), size


@compiled()
def stride(rule, updates, k, size):
    """How much of a row of weight k is added to theta, but for the sign."""
    if size == 0.0:
        return 0.0
    return k * rule.step / np.sqrt((rule.p - 1.0) * (updates + 1.0)) / size


@compiled()
def reach(rule, updates):
    """The margin asked for."""
    return rule.bar * np.sqrt(rule.p - 1.0) / np.sqrt(updates + 1.0)
