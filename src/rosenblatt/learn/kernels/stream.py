"""Stream: one visit to rows that come in pieces."""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from rosenblatt.learn.kernels.adaptive import asked, moves, nudge, steps, variance
from rosenblatt.learn.kernels.arrays import (
    BORROWED,
    OVERFLOW,
    RUNNING,
    SCW,
    Adaptive,
    compiled,
    entry_point,
    is_a,
)
from rosenblatt.learn.kernels.margins import mistake, push
from rosenblatt.learn.kernels.rows import add, dot


def at_rest(rule):
    """The margin above which no row moves the weights."""


@overload(at_rest, jit_options=BORROWED)
def _at_rest(rule):
    if is_a(rule, Adaptive):
        return lambda rule: np.inf if rule.kind == SCW else asked(rule, 0.0)
    return lambda rule: rule.tau


def learn(rows, i, k, z, sign, planes, p, rule):
    """What hyperplane p does at a row of weight k > 0 and margin z: RUNNING or OVERFLOW."""


@overload(learn, jit_options=BORROWED)
def _learn(rows, i, k, z, sign, planes, p, rule):
    if is_a(rule, Adaptive):

        def adaptive(rows, i, k, z, sign, planes, p, rule):
            spread, work, u = planes.spread[p], rule.work, planes.u
            v = variance(rows, i, spread, work)
            if not np.isfinite(v):
                return OVERFLOW
            if moves(rule, z, v, sign):
                step, beta = steps(rule, z, v, k)
                c = step * sign
                w = planes.w[p]
                sums = u[p] if u.size else planes.ub[:0]
                moved = nudge(rows, i, c, planes.visits[p], beta, spread, work, w, w, sums)
                planes.b[p] += moved
                if u.size:
                    planes.ub[p] += planes.visits[p] * moved
                planes.mistakes[p] += 1 if mistake(z, sign, rule.tie) > 0.0 else 0
                planes.updates[p] += 1
            return RUNNING

        return adaptive

    def online(rows, i, k, z, sign, planes, p, rule):
        u, ub = planes.u, planes.ub
        step = push(rule, z, sign)
        if step > 0.0:
            c = rule.eta * sign
            c *= step * k
            add(rows, i, c, planes.w[p])
            if rule.intercept:
                planes.b[p] += c
            if u.size:
                add(rows, i, c * planes.visits[p], u[p])
                if rule.intercept:
                    ub[p] += c * planes.visits[p]
            planes.mistakes[p] += 1 if mistake(z, sign, rule.tie) > 0.0 else 0
            planes.updates[p] += 1
        return RUNNING

    return online


@entry_point
def visit(rows, y, weight, planes, rule):
    """What `visited` does; here numba counts references, there it does not."""
    return visited(rows, y, weight, planes, rule)


@compiled()
def visited(rows, y, weight, planes, rule):
    """One visit to every row, in order, of hyperplanes trained side by side: RUNNING or OVERFLOW.

    For each plane what `passes` does in one pass of `Online` (without `repeat`) or `Adaptive`, to
    the bit, and nothing else: little has to be compiled, and little is done per call, so rows may
    come in many pieces. y: class numbers. Plane p has class p for +1; one plane alone, class 1.
    """
    w, b, visits = planes.w, planes.b, planes.visits
    alone, bar = 1 if b.size == 1 else 0, at_rest(rule)
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
            if not (bar < z and z < np.inf):
                if not np.isfinite(z):
                    return OVERFLOW
                if k > 0.0 and learn(rows, i, k, z, sign, planes, p, rule) == OVERFLOW:
                    return OVERFLOW
            visits[p] += 1.0
        planes.wrong[0] += 1 if own <= rival and k > 0.0 else 0
    return RUNNING
