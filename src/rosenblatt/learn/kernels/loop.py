"""Loop: pass after pass, until there is a reason to stop."""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from rosenblatt.learn.kernels.arrays import (
    BORROWED,
    CYCLE,
    FULL,
    IN_ORDER,
    LENGTH,
    NO_IMPROVEMENT,
    OVERFLOW,
    PASS,
    POWER,
    RUNNING,
    SAMPLED,
    SEPARATED,
    SHUFFLED,
    STALLED,
    UPDATES,
    UPDATES_AT_SAVE,
    Adaptive,
    Alma,
    Direct,
    DirectAdaptive,
    compiled,
    entry_point,
    is_a,
)
from rosenblatt.learn.kernels.keeping import all_finite, copy_into, pocket, squares
from rosenblatt.learn.kernels.margins import push, rival
from rosenblatt.learn.kernels.rows import dot


def one_pass(run, rule, p):
    """One pass; writes entry p of the tape and returns RUNNING, FULL or OVERFLOW."""


@compiled()
def arrange(order):
    """Write the visits of the next pass into order.index.

    Shuffled: Fisher-Yates on the last permutation, restarted from the same seed each
    pass, with the xorshift generator and the modulo that scikit-learn uses, so that the
    same random_state gives the same order. Sampled: n draws with replacement.
    """
    index, n = order.index, order.index.size
    seed = order.seed[0]
    for i in range(n - 1 if order.kind == SHUFFLED else n):
        if seed == 0:
            seed = np.uint32(1)
        seed = np.uint32(seed ^ np.uint32(seed << np.uint32(13)))
        seed = np.uint32(seed ^ np.uint32(seed >> np.uint32(17)))
        seed = np.uint32(seed ^ np.uint32(seed << np.uint32(5)))
        draw = np.int64(seed & np.uint32(0x7FFFFFFF))
        if order.kind == SHUFFLED:
            j = i + draw % (n - i)
            index[i], index[j] = index[j], index[i]
        else:
            index[i] = draw % n
    if order.kind == SAMPLED:
        order.seed[0] = seed


def nothing_left(run, rule):
    """Would a pass in order over every row move nothing?"""


@overload(nothing_left, jit_options=BORROWED)
def _nothing_left(run, rule):
    if is_a(rule, Adaptive) or is_a(rule, DirectAdaptive) or is_a(rule, Alma):
        return None  # they have their own
    if is_a(rule, Direct):

        def direct(run, rule):
            y, weight = run.target.y, run.target.weight
            for i in range(y.size):
                if y[i] >= 0 and (weight.size == 0 or weight[i] > 0.0):
                    z, _ = rival(run.rows, i, y[i], run.model.w, run.model.b)
                    if push(rule, z, 1) > 0.0:
                        return False
            return True

        return direct

    def two_classes(run, rule):
        y, weight = run.target.y, run.target.weight
        for i in range(y.size):
            if y[i] != 0 and (weight.size == 0 or weight[i] > 0.0):
                z = y[i] * (dot(run.rows, i, run.model.w) + run.model.b[0])
                if push(rule, z, y[i]) > 0.0:
                    return False
        return True

    return two_classes


@compiled()
def came_back(run):
    """Brent's cycle detection on the weights after each pass: O(d) memory."""
    model, stop, counters = run.model, run.stop, run.stop.counters
    if stop.saved_w.size == 0:
        return False
    counters[LENGTH] += 1
    same = True
    for j in range(model.flat.size):
        if model.flat[j] != stop.saved_w[j]:
            same = False
            break
    for k in range(model.b.size):
        same = same and model.b[k] == stop.saved_b[k]
    if not same and counters[LENGTH] == counters[POWER]:
        copy_into(stop.saved_w, model.flat)
        copy_into(stop.saved_b, model.b)
        counters[POWER] *= 2
        counters[LENGTH] = 0
        counters[UPDATES_AT_SAVE] = counters[UPDATES]
    return same


@entry_point
def passes(run, rule, n):
    """Up to n passes: (how many were made, why it stopped or RUNNING)."""
    stop, tape, model = run.stop, run.tape, run.model
    if n > 0:
        pocket(run)  # the weights at the start are the first in it
    for p in range(n):
        run.keeper.stats[PASS] += 1.0
        tape.mistakes[p] = tape.updates[p] = 0
        tape.loss[p] = 0.0
        if run.order.kind != IN_ORDER:
            arrange(run.order)
        code = one_pass(run, rule, p)
        norm = squares(model.flat)
        tape.norm[p] = np.sqrt(norm)
        finite = np.isfinite(norm) or all_finite(model.flat)
        if code == OVERFLOW or not (finite and all_finite(model.b)):
            return p + 1, OVERFLOW
        pocket(run)
        if code == FULL:
            return p + 1, FULL
        still = stop.clean and tape.updates[p] == 0
        if still and (run.order.kind != SAMPLED or nothing_left(run, rule)):
            return p + 1, SEPARATED
        if came_back(run):
            return p + 1, CYCLE
        # scikit-learn's test: no gain of tol on the best mean objective, patience times;
        # a batch step from w = 0 has a loss of 0 whatever the data, which says nothing
        if stop.batch and tape.loss[p] == 0.0:
            continue
        objective = tape.loss[p] / stop.size
        if stop.tol > -np.inf and objective > stop.best[0] - stop.tol:
            stop.counters[STALLED] += 1
        else:
            stop.counters[STALLED] = 0
        stop.best[0] = min(stop.best[0], objective)
        if stop.counters[STALLED] >= stop.patience:
            return p + 1, NO_IMPROVEMENT
    return n, RUNNING
