"""Stream: one visit to rows that come in pieces."""

from __future__ import annotations

import numpy as np

from rosenblatt.learn.kernels.arrays import OVERFLOW, RUNNING, compiled, entry_point
from rosenblatt.learn.kernels.margins import mistake, push
from rosenblatt.learn.kernels.rows import add, dot


@entry_point
def visit(rows, y, weight, planes, rule):
    """What `visited` does; here numba counts references, there it does not."""
    return visited(rows, y, weight, planes, rule)


@compiled()
def visited(rows, y, weight, planes, rule):
    """One visit to every row, in order, of hyperplanes trained side by side: RUNNING or OVERFLOW.

    For each plane what `passes` does in one pass of `Online` (without `repeat`), to the bit, and
    nothing else: little has to be compiled, and little is done per call, so rows may come in many
    pieces. y: class numbers. Plane p has class p for +1; one plane alone, class 1.
    """
    w, b, u, ub, visits = planes.w, planes.b, planes.u, planes.ub, planes.visits
    alone = 1 if b.size == 1 else 0
    for i in range(y.size):
        k = weight[i] if weight.size else 1.0
        own, rival = 0.0, -np.inf
        for p in range(b.size):
            if planes.settled[p]:
                continue
            s = dot(rows, i, w[p]) + b[p]
            sign = 1.0 if y[i] == p + alone else -1.0
            if sign > 0.0:
                own = s
            else:
                rival = max(rival, s)
            z = sign * s
            if not (rule.tau < z and z < np.inf):
                if not np.isfinite(z):
                    return OVERFLOW
                step = push(rule, z, sign) if k > 0.0 else 0.0
                if step > 0.0:
                    c = rule.eta * sign
                    c *= step * k
                    add(rows, i, c, w[p])
                    if rule.intercept:
                        b[p] += c
                    if u.size:
                        add(rows, i, c * visits[p], u[p])
                        if rule.intercept:
                            ub[p] += c * visits[p]
                    planes.mistakes[p] += 1 if mistake(z, sign, rule.tie) > 0.0 else 0
                    planes.updates[p] += 1
            visits[p] += 1.0
        planes.wrong[0] += 1 if own <= rival and k > 0.0 else 0
    return RUNNING
