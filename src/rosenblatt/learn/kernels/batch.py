"""Batch: all misclassified rows at once."""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from rosenblatt.learn.kernels.arrays import (
    AVERAGE,
    FULL,
    LINKED,
    OVERFLOW,
    RUNNING,
    UPDATES,
    VISITS,
    Batch,
    is_a,
)
from rosenblatt.learn.kernels.keeping import new_weights, note
from rosenblatt.learn.kernels.loop import one_pass
from rosenblatt.learn.kernels.margins import mistake, push, scan
from rosenblatt.learn.kernels.rows import add


@overload(one_pass, jit_options=LINKED)
def _batch(run, rule, p):
    if not is_a(rule, Batch):
        return None

    # M = {i : y_i (w.x_i + b) <= 0};  w += eta_k sum_M y_i x_i, or its mean   [chan, cisc271]
    def batch(run, rule, p):
        rows, y, weight = run.rows, run.target.y, run.target.weight
        w, b, keeper, tape = run.model.w, run.model.b, run.keeper, run.tape
        g, gb, total = np.zeros(w.size), 0.0, 0.0
        t = 0
        while True:
            t, z = scan(rows, y, w, b[0], run.order.index, t, rule.tau)
            if t == y.size:
                break
            i = t
            t += 1
            if y[i] == 0:
                continue
            if not np.isfinite(z):
                return OVERFLOW
            tape.loss[p] += max(rule.tau - z, 0.0)
            k = weight[i] if weight.size else 1.0
            step = push(rule, z, y[i]) * k
            if step > 0.0:
                tape.mistakes[p] += 1 if mistake(z, y[i], rule.tie) > 0.0 else 0
                add(rows, i, step * y[i], g)
                gb += step * y[i]
                total += step
                if run.tally.size:
                    run.tally[i] += step
        if total > 0.0:
            if run.stop.counters[UPDATES] >= run.stop.max_updates:
                return FULL
            eta, visits = rule.etas[min(p, rule.etas.size - 1)], keeper.stats[VISITS]
            share = total if rule.mean else 1.0
            for j in range(w.size):
                delta = eta * g[j] / share
                w[j] = np.float64(w[j]) + delta
                if keeper.kind == AVERAGE:
                    keeper.u[j] += visits * delta
            if rule.intercept:
                b[0] += eta * gb / share
                if keeper.kind == AVERAGE:
                    keeper.ub[0] += visits * (eta * gb / share)
            tape.updates[p] += 1
            run.stop.counters[UPDATES] += 1
            new_weights(keeper.stats)
            note(run, -1, eta / share, 1.0)
        keeper.stats[VISITS] += 1.0
        return RUNNING

    return batch
