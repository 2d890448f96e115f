"""Direct: all classes at once, by Kesler's construction."""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from rosenblatt.learn.kernels.arrays import (
    AVERAGE,
    BORROWED,
    FULL,
    OVERFLOW,
    POCKET,
    RUN,
    RUNNING,
    UPDATES,
    VISITS,
    Direct,
    is_a,
)
from rosenblatt.learn.kernels.keeping import end_run, new_weights, note
from rosenblatt.learn.kernels.loop import one_pass
from rosenblatt.learn.kernels.margins import mistake, push, rival
from rosenblatt.learn.kernels.rows import add


@overload(one_pass, jit_options=BORROWED)
def _direct(run, rule, p):
    if not is_a(rule, Direct):
        return None

    # r = argmax_{k != y} w_k.x;  if w_y.x <= w_r.x: w_y += eta x, w_r -= eta x   [Kesler]
    def direct(run, rule, p):
        rows, y, weight = run.rows, run.target.y, run.target.weight
        w, b, index = run.model.w, run.model.b, run.order.index
        tape, stats, u, ub = run.tape, run.keeper.stats, run.keeper.u, run.keeper.ub
        counters, tally, logged = run.stop.counters, run.tally, run.log.index.size > 0
        averaged, pocket = run.keeper.kind == AVERAGE, run.keeper.kind == POCKET
        for t in range(y.size):
            i = index[t] if index.size else t
            if y[i] < 0:
                continue
            k = weight[i] if weight.size else 1.0
            # weight k as k visits: no closed form, the rival may change between them
            visits = int(np.ceil(k)) if rule.repeat else 1
            for n in range(visits):
                part = min(k - n, 1.0) if rule.repeat else k
                z, r = rival(rows, i, y[i], w, b)
                if not np.isfinite(z):
                    return OVERFLOW
                tape.loss[p] += max(rule.tau - z, 0.0)
                step = push(rule, z, 1) if k > 0.0 else 0.0
                if step == 0.0:
                    stats[RUN] += 1.0 if k > 0.0 else 0.0
                else:
                    if counters[UPDATES] >= run.stop.max_updates:
                        return FULL
                    if pocket:
                        end_run(run)
                    tape.mistakes[p] += 1 if mistake(z, 1, rule.tie) > 0.0 else 0
                    tape.updates[p] += 1
                    if tally.size:
                        tally[i * b.size + r] += step * part
                    c = rule.eta * step * part
                    for side in range(2):
                        row, a = (y[i], c) if side == 0 else (r, -c)
                        add(rows, i, a, w[row])
                        b[row] += a * rule.intercept
                        if averaged:
                            add(rows, i, a * stats[VISITS], u[row])
                            ub[row] += a * stats[VISITS] * rule.intercept
                    counters[UPDATES] += 1
                    if logged:
                        note(run, i, c, 1.0)
                    if pocket:
                        new_weights(stats)
                stats[VISITS] += part if rule.repeat else 1.0
        return RUNNING

    return direct
