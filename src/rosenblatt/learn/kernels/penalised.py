"""Penalised: the online rule with weight decay and truncation at every visit, and rates that
change with the visits."""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from rosenblatt.learn.kernels.arrays import (
    AVERAGE,
    BORROWED,
    FULL,
    INVSCALING,
    OPTIMAL,
    OVERFLOW,
    POCKET,
    RUN,
    RUNNING,
    UPDATES,
    VISITS,
    Penalised,
    compiled,
    is_a,
)
from rosenblatt.learn.kernels.keeping import end_run, new_weights, note
from rosenblatt.learn.kernels.loop import one_pass
from rosenblatt.learn.kernels.margins import mistake, push
from rosenblatt.learn.kernels.rows import dot, entries, entry


@compiled()
def rate_at(rate, t):
    """eta at visit t = 1, 2, ...: 1 / (alpha (t0 + t - 1)) [Bottou], eta / t^power, or eta."""
    if rate.kind == OPTIMAL:
        return 1.0 / (rate.alpha * (rate.t0 + t - 1.0))
    if rate.kind == INVSCALING:
        return rate.eta / t**rate.power
    return rate.eta


@compiled()
def settle(run, scale, sigma):
    """Make v = scale v again, keeping the lazy sum (sigma v - u) what it was."""
    v, keeper = run.model.w, run.keeper
    for j in range(v.size):
        if keeper.kind == AVERAGE:
            keeper.u[j] += (keeper.stats[VISITS] * scale - sigma) * v[j]
        v[j] *= scale


@compiled()
def catch_up(rule, v, u, averaged, j, m):
    """Shrink weight j for the visits since its last one up to visit m; how far |v_j| fell.

    Between visits of its feature, v_j > 0 loses shrink_i / scale_i at each visit i until it
    is 0 (v_j < 0 likewise), and what it got is all that is owed. `shrunk` holds the sums of
    these losses, so the visit at which it reaches 0 is found by bisection.
    """
    old, since = np.float64(v[j]), rule.last[j]
    rule.last[j] = m
    if old == 0.0 or since == m:
        return 0.0
    sign, size = (1.0, old) if old > 0.0 else (-1.0, -old)
    shrunk, drift = rule.shrunk, rule.drift
    loss = shrunk[m] - shrunk[since]
    if loss < size:
        v[j] = sign * (size - loss)
        rule.q[j] = -sign * rule.owed[0]
        if averaged:
            u[j] -= sign * (drift[m] - drift[since])
        return loss
    low, high = since, m  # the first visit k with shrunk[k] - shrunk[since] >= size
    while high - low > 1:
        middle = (low + high) // 2
        if shrunk[middle] - shrunk[since] >= size:
            high = middle
        else:
            low = middle
    left = size - (shrunk[low] - shrunk[since])
    v[j] = 0.0
    rule.q[j] = -sign * (rule.owes[low] + rule.scales[high] * left)
    if averaged:
        u[j] -= sign * (drift[low] - drift[since] + rule.sigmas[high] * left)
    return size


@compiled()
def catch_up_all(rule, v, u, averaged, m):
    """Shrink every weight up to visit m, and start counting visits anew."""
    for j in range(rule.last.size):
        catch_up(rule, v, u, averaged, j, m)
        rule.last[j] = 0
    rule.owes[0] = rule.owed[0]


@overload(one_pass, jit_options=BORROWED)
def _penalised(run, rule, p):
    if not is_a(rule, Penalised):
        return None

    # minimise mean max(0, -y (w.x + b)) + alpha ((1 - r) ||w||^2 / 2 + r |w|_1), one row at
    # a time: w *= 1 - (1 - r) eta alpha; the perceptron update; then each touched weight
    # moves towards 0 by what it owes [cumulative L1: Tsuruoka, Tsujii, Ananiadou 2009].
    # w = scale v throughout. The average is lazy as in `move`, with sigma, the sum of the
    # scales so far, in the place of the number of visits.
    def penalised(run, rule, p):
        rows, y, weight = run.rows, run.target.y, run.target.weight
        v, b, index = run.model.w, run.model.b, run.order.index
        stats, tape, u, ub = run.keeper.stats, run.tape, run.keeper.u, run.keeper.ub
        counters, limit, logged = run.stop.counters, run.stop.max_updates, run.log.index.size > 0
        averaged, pocket = run.keeper.kind == AVERAGE, run.keeper.kind == POCKET
        scale, sigma, code = 1.0, stats[VISITS], RUNNING
        least = 1e-3 if averaged else 1e-9  # sums of v for the average cancel in u
        square_norm = one_norm = 0.0
        for j in range(v.size):
            square_norm += np.float64(v[j]) ** 2
            one_norm += abs(np.float64(v[j]))
        lazy, m = rule.last.size > 0, 0
        # the objective's norms are those of the last update, decayed since, as scikit-learn's
        if np.isnan(rule.owed[1]):
            rule.owed[1], rule.owed[2] = square_norm, one_norm
        seen_square, seen_one = rule.owed[1], rule.owed[2]
        for t in range(y.size):
            i = index[t] if index.size else t
            if y[i] == 0:
                continue
            first, last = entries(rows, i, v.size)
            if lazy:
                for e in range(first, last):
                    j, x = entry(rows, i, e)
                    fell = catch_up(rule, v, u, averaged, j, m)
                    if fell > 0.0:
                        now = abs(np.float64(v[j]))
                        one_norm -= fell * scale
                        square_norm -= fell * (fell + 2.0 * now) * scale * scale
            z = y[i] * (scale * dot(rows, i, v) + b[0])
            if not np.isfinite(z):
                code = OVERFLOW
                break
            k = weight[i] if weight.size else 1.0
            step = push(rule, z, y[i]) if k > 0.0 else 0.0
            if step > 0.0 and counters[UPDATES] >= limit:
                code = FULL
                break
            tape.loss[p] += max(rule.tau - z, 0.0) + rule.alpha * (
                (1.0 - rule.l1_ratio) * 0.5 * seen_square + rule.l1_ratio * seen_one
            )
            eta = rate_at(rule.rate, rule.owed[3])
            rule.owed[3] += 1.0
            decay = max(0.0, 1.0 - (1.0 - rule.l1_ratio) * eta * rule.alpha)
            shrink = rule.l1_ratio * eta * rule.alpha
            decay = np.float64(v.dtype.type(decay))  # rounded as scikit-learn rounds it
            scale = np.float64(v.dtype.type(scale * decay))
            square_norm *= decay * decay
            one_norm *= decay
            seen_square *= decay * decay
            seen_one *= decay
            if scale < least:
                if lazy:
                    catch_up_all(rule, v, u, averaged, m)
                    m = 0
                settle(run, scale, sigma)
                scale, sigma = 1.0, stats[VISITS]
            if step == 0.0:
                stats[RUN] += 1.0 if k > 0.0 else 0.0
            else:
                if pocket:  # without a penalty only: the scale is 1
                    end_run(run)
                c = eta * step * k * y[i]
                for e in range(first, last):
                    j, x = entry(rows, i, e)
                    old = np.float64(v[j])
                    v[j] = old + x * (c / scale)
                    new = np.float64(v[j])
                    square_norm += (new * new - old * old) * scale * scale
                    one_norm += (abs(new) - abs(old)) * scale
                    if averaged:
                        u[j] += sigma * (new - old)
                seen_square, seen_one = square_norm, one_norm
                if rule.intercept:
                    b[0] += c
                    if averaged:
                        ub[0] += stats[VISITS] * c
                tape.mistakes[p] += 1 if mistake(z, y[i], rule.tie) > 0.0 else 0
                tape.updates[p] += 1
                counters[UPDATES] += 1
                if logged:
                    note(run, i, c, scale)
                if pocket:
                    new_weights(stats)
            if shrink > 0.0:
                rule.owed[0] += shrink
                for e in range(first, last):
                    j, x = entry(rows, i, e)
                    old = np.float64(v[j])
                    if old > 0.0:
                        v[j] = max(0.0, old - (rule.owed[0] + rule.q[j]) / scale)
                    elif old < 0.0:
                        v[j] = min(0.0, old + (rule.owed[0] - rule.q[j]) / scale)
                    new = np.float64(v[j])
                    rule.q[j] += scale * (new - old)
                    square_norm += (new * new - old * old) * scale * scale
                    one_norm += (abs(new) - abs(old)) * scale
                    if averaged:
                        u[j] += sigma * (new - old)
            if lazy:
                m += 1
                rule.scales[m], rule.sigmas[m], rule.owes[m] = scale, sigma, rule.owed[0]
                rule.shrunk[m] = rule.shrunk[m - 1] + shrink / scale
                rule.drift[m] = rule.drift[m - 1] + sigma * shrink / scale
                for e in range(first, last):
                    j, x = entry(rows, i, e)
                    rule.last[j] = m
            sigma += scale
            stats[VISITS] += 1.0
        if lazy:
            catch_up_all(rule, v, u, averaged, m)
        settle(run, scale, sigma)
        rule.owed[1], rule.owed[2] = seen_square, seen_one
        return code

    return penalised
