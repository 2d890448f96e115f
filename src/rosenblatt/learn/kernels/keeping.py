"""Keeping: what an update leaves behind: the average, the log, the pocket."""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from rosenblatt.learn.kernels.arrays import (
    AVERAGE,
    BEST_ERRORS,
    BEST_PASS,
    BEST_RUN,
    BORROWED,
    CHECKED,
    FAST,
    HOLDS,
    PASS,
    POCKET,
    RUN,
    UPDATES,
    VISITS,
    compiled,
    is_direct,
    keeps_margins,
)
from rosenblatt.learn.kernels.rows import add, dot, widen


@compiled()
def note(run, i, c, scale):
    """Write one update into the log while there is room; the weights are scale w."""
    log, model = run.log, run.model
    k = log.count[0]
    log.count[0] += 1
    if k < log.index.size:
        log.index[k] = i
        log.step[k] = c
        log.visit[k] = run.keeper.stats[VISITS]
        for j in range(model.flat.size):
            log.w[k, j] = scale * model.flat[j]
        for j in range(model.b.size):
            log.b[k, j] = model.b[j]


@compiled()
def new_weights(stats):
    """After an update: the run of right answers is over, the pocket has not seen these."""
    stats[RUN] = 0.0
    stats[CHECKED] = 0.0
    stats[HOLDS] = 0.0


@compiled()
def move(run, intercept, i, c, times):
    """w += times c x_i, as `times` updates on consecutive visits (c = eta step y).

    The average is lazy: an update at visit v counts for all visits but the first v,
    so u collects v c x and the mean of the weights after each of T visits is
    (T w - u) / T [Daume's trick; Freund and Schapire's average, w_0 not counted].
    """
    model, keeper = run.model, run.keeper
    add(run.rows, i, times * c, model.w)
    widen(run.rows, i, model.w, model.wide)
    if intercept:
        model.b[0] += times * c
    if keeper.kind == AVERAGE:
        v = c * (times * keeper.stats[VISITS] + times * (times - 1.0) / 2.0)
        add(run.rows, i, v, keeper.u)
        if intercept:
            keeper.ub[0] += v
    note(run, i, c, 1.0)
    run.stop.counters[UPDATES] += int(times)
    new_weights(keeper.stats)


@compiled()
def copy_into(there, here):
    for j in range(here.size):
        there[j] = here[j]


@compiled(fastmath=FAST)
def squares(values):
    s = 0.0
    for j in range(values.size):
        s += np.float64(values[j]) ** 2
    return s


@compiled()
def all_finite(values):
    for j in range(values.size):
        if not np.isfinite(values[j]):
            return False
    return True


def errors(run, limit):
    """The weight of the rows that prediction gets wrong, given up on at `limit`."""


@overload(errors, jit_options=BORROWED)
def _errors(run, limit):
    if is_direct(run):

        def direct(run, limit):
            y, weight = run.target.y, run.target.weight
            w, b = run.model.w, run.model.b
            wrong = 0.0
            for i in range(y.size):
                if y[i] < 0:
                    continue
                first, best = 0, -np.inf
                for k in range(b.size):
                    s = dot(run.rows, i, w[k]) + b[k]
                    if s > best:
                        first, best = k, s
                if first != y[i]:
                    wrong += weight[i] if weight.size else 1.0
                    if wrong >= limit:
                        break
            return wrong

        return direct

    def two_classes(run, limit):
        y, weight = run.target.y, run.target.weight
        w, b = run.model.w, run.model.b
        wrong = 0.0
        for i in range(y.size):
            s = dot(run.rows, i, w) + b[0]
            # prediction: a score >= 0 is the positive class, see docs/conventions.md
            if (y[i] > 0 and s < 0.0) or (y[i] < 0 and s >= 0.0):
                wrong += weight[i] if weight.size else 1.0
                if wrong >= limit:
                    break
        return wrong

    return two_classes


@compiled()
def ratchet(run):
    """Put the current weights into the pocket if they make fewer errors [Gallant 1990]."""
    keeper, stats = run.keeper, run.keeper.stats
    if stats[CHECKED] == 0.0:
        stats[CHECKED] = 1.0
        wrong = errors(run, stats[BEST_ERRORS])
        if wrong < stats[BEST_ERRORS]:
            stats[BEST_ERRORS] = wrong
            stats[BEST_PASS] = stats[PASS]
            stats[HOLDS] = 1.0
            copy_into(keeper.best_w, run.model.flat)
            copy_into(keeper.best_b, run.model.b)
    if stats[HOLDS] == 1.0:
        stats[BEST_RUN] = max(stats[BEST_RUN], stats[RUN])


def pocket(run):
    """`ratchet`, where there is a pocket."""


@overload(pocket, jit_options=BORROWED)
def _pocket(run):
    if keeps_margins(run):
        return lambda run: None

    def with_pocket(run):
        if run.keeper.kind == POCKET:
            ratchet(run)

    return with_pocket


@compiled()
def end_run(run):
    """The weights are about to change: were they right for longer than the pocket's?"""
    if run.keeper.kind == POCKET and run.keeper.stats[RUN] > run.keeper.stats[BEST_RUN]:
        ratchet(run)
