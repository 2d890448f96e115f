"""Online: w += eta y x at each mistake, one row at a time."""

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
    Online,
    is_a,
    keeps_margins,
)
from rosenblatt.learn.kernels.keeping import end_run, move, new_weights, note
from rosenblatt.learn.kernels.kept_margins import find, follow
from rosenblatt.learn.kernels.loop import one_pass
from rosenblatt.learn.kernels.margins import margin, mistake, push, repeats, scan
from rosenblatt.learn.kernels.rows import add, add_here, square, widen
from rosenblatt.learn.kernels.sketches import renew, sift


@overload(one_pass, jit_options=BORROWED)
def _online(run, rule, p):
    if not is_a(rule, Online) or keeps_margins(run):
        return None

    # for each row: if y (w.x + b) <= 0: w += eta y x, b += eta y   [Rosenblatt 1958]
    def online(run, rule, p):
        rows, y, weight = run.rows, run.target.y, run.target.weight
        w, b, wide, index = run.model.w, run.model.b, run.model.wide, run.order.index
        stats, tape, limit = run.keeper.stats, run.tape, run.stop.max_updates
        counters, tally, logged = run.stop.counters, run.tally, run.log.index.size > 0
        u, ub = run.keeper.u, run.keeper.ub
        averaged, pocket = run.keeper.kind == AVERAGE, run.keeper.kind == POCKET
        bar = np.inf if rule.repeat else rule.tau
        sketch, sketched = run.sketch, run.sketch.scale.size > 0
        if sketched:
            renew(wide, b[0], sketch)
        t = 0
        while True:
            start = t
            if sketched:
                t, z = sift(rows, y, wide, b[0], index, t, bar, sketch)
            else:
                t, z = scan(rows, y, wide, b[0], index, t, bar)
            stats[VISITS] += t - start
            stats[RUN] += t - start
            if t == y.size:
                return RUNNING
            i = index[t] if index.size else t
            t += 1
            if y[i] == 0:
                continue
            if not np.isfinite(z):
                return OVERFLOW
            k = weight[i] if weight.size else 1.0
            c = rule.eta * y[i]
            if rule.repeat:
                whole = np.floor(k)
                q = rule.eta * (square(rows, i, w.size) + rule.intercept)
                full, half = repeats(z, y[i], q, whole, rule.tie)
                tape.loss[p] += max(-(full * z + q * full * (full - 1.0) / 2.0), 0.0)
                if full + half == 0.0:
                    stats[VISITS] += whole
                    stats[RUN] += whole
                else:
                    end_run(run)
                    left = float(limit - run.stop.counters[UPDATES])
                    done = min(full, left)
                    tape.mistakes[p] += int(min(full + half, left))
                    tape.updates[p] += int(min(full + half, left))
                    if run.tally.size:
                        run.tally[i] += done + 0.5 * min(half, left - done)
                    if run.log.index.size or q == 0.0:
                        for _ in range(int(done)):
                            move(run, rule.intercept, i, c, 1.0)
                            stats[VISITS] += 1.0
                    elif done > 0.0:
                        move(run, rule.intercept, i, c, done)
                        stats[VISITS] += done
                    for _ in range(int(min(half, left - done))):
                        move(run, rule.intercept, i, 0.5 * c, 1.0)
                        stats[VISITS] += 1.0
                    if full + half > left:
                        return FULL
                    stats[VISITS] += whole - full - half
                    stats[RUN] += whole - full - half
                    z = margin(rows, i, y, wide, b[0])
                k -= whole
                if k == 0.0:
                    continue
                tape.loss[p] += k * max(-z, 0.0)
            else:
                tape.loss[p] += max(rule.tau - z, 0.0)
            step = push(rule, z, y[i]) if k > 0.0 else 0.0
            if step == 0.0:
                stats[RUN] += 1.0 if k > 0.0 else 0.0
            else:
                if counters[UPDATES] >= limit:
                    return FULL
                tape.mistakes[p] += 1 if mistake(z, y[i], rule.tie) > 0.0 else 0
                tape.updates[p] += 1
                c *= step * k
                # `move`, written out: handing `run` to a function costs more than the update
                if pocket:
                    end_run(run)
                add(rows, i, c, w)
                widen(rows, i, w, wide)
                if rule.intercept:
                    b[0] += c
                if averaged:
                    add(rows, i, c * stats[VISITS], u)
                    if rule.intercept:
                        ub[0] += c * stats[VISITS]
                if tally.size:
                    tally[i] += step * k
                if sketched:
                    renew(wide, b[0], sketch)
                if logged:
                    note(run, i, c, 1.0)
                counters[UPDATES] += 1
                if pocket:
                    new_weights(stats)
            stats[VISITS] += k if rule.repeat else 1.0

    return online


@overload(one_pass, jit_options=BORROWED | {"forceinline": True})
def _kept(run, rule, p):
    if not is_a(rule, Online) or not keeps_margins(run):
        return None

    # `online` where margins are kept: no pocket, no log, no repeated rows, no tally
    def kept(run, rule, p):
        rows, y, weight = run.rows, run.target.y, run.target.weight
        w, b, wide, index = run.model.w, run.model.b, run.model.wide, run.order.index
        u, ub, averaged = run.keeper.u, run.keeper.ub, run.keeper.kind == AVERAGE
        left = run.stop.max_updates - run.stop.counters[UPDATES]
        gram, unit = run.gram, np.finfo(w.dtype).eps / 2.0
        before, code = run.keeper.stats[VISITS], RUNNING
        t = updates = mistakes = 0
        loss = 0.0
        while True:
            t, z = find(rows, y, wide, b[0], index, t, rule.tau, gram, unit)
            if t == y.size:
                break
            i = index[np.uint64(t)] if index.size else t
            t += 1
            if y[np.uint64(i)] == 0:
                before -= 1.0
                continue
            if not np.isfinite(z):
                code = OVERFLOW
                break
            loss += max(rule.tau - z, 0.0)
            k = weight[np.uint64(i)] if weight.size else 1.0
            step = push(rule, z, y[np.uint64(i)]) if k > 0.0 else 0.0
            if step == 0.0:
                continue
            if updates == left:
                code = FULL
                break
            updates += 1
            mistakes += 1 if mistake(z, y[np.uint64(i)], rule.tie) > 0.0 else 0
            c = rule.eta * y[np.uint64(i)] * (step * k)
            add_here(rows, i, c, w)
            widen(rows, i, w, wide)
            if rule.intercept:
                b[0] += c
            if averaged:
                add(rows, i, c * (before + t - 1.0), u)
                if rule.intercept:
                    ub[0] += c * (before + t - 1.0)
            follow(gram, i, c, c * y[np.uint64(i)] * (z - gram.base[np.uint64(i)]), w.size, unit)
        run.keeper.stats[VISITS] = before + t - (0.0 if code == RUNNING else 1.0)
        run.stop.counters[UPDATES] += updates
        run.tape.loss[p] = loss
        run.tape.updates[p] = updates
        run.tape.mistakes[p] = mistakes
        return code

    return kept
