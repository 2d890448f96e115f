"""Minover: the row of smallest margin is added, to optimal stability.

With z_i = y_i (x_i, 1), or y_i x_i without an offset, and w counting the offset:

    w += z_i,  i = argmin_i z_i.w  (the first on a tie)

M steps from w = 0 give w = sum_i counts_i z_i and, for the best direction u, ||u|| = 1,
||w|| >= w.u >= M gamma. So min z_i.w / ||w|| <= gamma <= ||w|| / M; the run is closed when
M min z_i.w >= (1 - gap) ||w||^2.  [Krauth, Mezard 1987]

No step touches w: margins follow by z_k.w += z_k.z_i, a column of the Gram matrix that is computed
when row i is first chosen (few rows ever are) and kept while there is room. At the end of a pass,
and before anything is claimed, w is summed anew from the counts and all margins from w, so that
rounding does not add up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from rosenblatt.learn.kernels.arrays import (
    AVERAGE,
    BORROWED,
    FULL,
    OVERFLOW,
    RUNNING,
    UPDATES,
    VISITS,
    U,
    V,
    compiled,
    is_a,
)
from rosenblatt.learn.kernels.keeping import copy_into, note, squares
from rosenblatt.learn.kernels.loop import one_pass
from rosenblatt.learn.kernels.margins import margin, mistake
from rosenblatt.learn.kernels.rows import add, dot, square

# Slots of MinOver.state: M, ||w||^2, max ||z_i||, the interval, whose column is replaced next, how
# many rows have been chosen, and from which step on the run may be closed.
STEPS, SQUARE, LENGTH, LOWER, UPPER, HAND, CHOSEN, AGAIN = 0, 1, 2, 3, 4, 5, 6, 7
BLOCK_OF_MARGINS = BLOCK = 16  # margins that are moved at once
LARGEST = 1e280  # products below it can be added up for as many steps as there are


class MinOver(NamedTuple):
    """w += z_argmin.

    steps: in a pass. Of each row: counts, how often it was added; moments, the sum of the numbers
    of these steps (for the average); slot, where its column is, or -1; margins, inf for a row that
    is not there. Columns (flat) and margins are filled up to a whole number of BLOCKs. Of each
    column: owner, used (since the hand last came by). work: room for d numbers.
    """

    tau: float
    tie: int
    margin: bool
    intercept: bool
    gap: float
    steps: int
    counts: Any
    moments: Any
    margins: Any
    columns: Any
    slot: Any
    owner: Any
    used: Any
    work: Any
    state: Any


@compiled()
def there(run, i):
    weight = run.target.weight
    return run.target.y[i] != 0 and (weight.size == 0 or weight[i] > 0.0)


@compiled()
def gathered(run, rule, amounts):
    """work = sum_i amounts_i y_i x_i, and the offset that goes with it."""
    y, b = run.target.y, 0.0
    rule.work[:] = 0.0
    for i in range(y.size):
        if amounts[i] != 0:
            add(run.rows, i, np.float64(amounts[i]) * y[i], rule.work)
            b += np.float64(amounts[i]) * y[i]
    return b if rule.intercept else 0.0


@compiled()
def refresh(run, rule):
    """The weights from the counts, the margins from the weights, and what they prove."""
    rows, y, model, state, margins = run.rows, run.target.y, run.model, rule.state, rule.margins
    if run.keeper.kind == AVERAGE:
        run.keeper.ub[0] = gathered(run, rule, rule.moments)
        copy_into(run.keeper.u, rule.work)
    model.b[0] = gathered(run, rule, rule.counts)
    copy_into(model.w, rule.work)
    copy_into(model.wide, model.w)
    state[SQUARE] = squares(model.w) + np.float64(model.b[0]) ** 2
    low, longest = np.inf, state[LENGTH]
    for i in range(y.size):
        margins[i] = np.inf
        if there(run, i):
            margins[i] = margin(rows, i, y, model.w, np.float64(model.b[0]))
            low = min(low, margins[i])
            if state[STEPS] == 0.0:
                longest = max(longest, np.sqrt(square(rows, i, model.w.size) + rule.intercept))
    state[LENGTH] = longest
    enclose(state, low, model.w.size, U if model.w.itemsize == 8 else V)


@compiled()
def enclose(state, low, d, unit):
    """The interval, wide enough for the rounding of d + 1 products and of the weights.

    A margin is off by (d + 2) U ||z|| ||w|| at most. A weight, a sum over the rows that were
    chosen, is off by as many U times the sum of counts_i |z_ij|, and rounded to `unit`.
    """
    M, size = state[STEPS], np.sqrt(state[SQUARE])
    slack = 1.01 * (d + 8) * U * state[LENGTH]
    state[LOWER] = -state[LENGTH] - slack
    if state[SQUARE] > 1e-280:  # below, squares lose digits
        state[LOWER] = low / size - slack
    state[UPPER] = np.inf
    if M > 0.0:
        slack += 1.01 * (state[CHOSEN] + 8) * U * state[LENGTH]
        state[UPPER] = (1.0 + 2.0 * unit) * size / M + slack + 1e-140


@compiled()
def column(run, rule, i):
    """Compute z_k.z_i for all rows k; where they are, -1 if out of the range of numbers."""
    rows, y, work = run.rows, run.target.y, rule.work
    slot, owner, used, state = rule.slot, rule.owner, rule.used, rule.state
    state[CHOSEN] += 1.0 if rule.counts[i] == 0 else 0.0
    here = int(state[HAND])
    while used[here]:  # those used since it last came by are spared once
        used[here] = False
        here = (here + 1) % owner.size
    state[HAND] = (here + 1) % owner.size
    if owner[here] >= 0:
        slot[owner[here]] = -1
    owner[here], slot[i] = i, here
    work[:] = 0.0
    add(rows, i, np.float64(y[i]), work)
    offset = np.float64(y[i]) if rule.intercept else 0.0
    for k in range(y.size):
        product = 0.0
        if there(run, k):
            product = y[k] * (dot(rows, k, work) + offset)
        if not abs(product) < LARGEST:
            return -1
        rule.columns[here * rule.margins.size + k] = product
    return here


@compiled()
def lowest(margins):
    """(smallest margin, its first row)"""
    z, i = np.inf, 0
    for k in range(margins.size):
        if margins[np.uint64(k)] < z:
            z, i = margins[np.uint64(k)], k
    return z, i


def _move_block(typing_context, margins, first, columns, start, z):
    """margins[first:][:BLOCK] += columns[start:][:BLOCK]; whether one is below z."""

    def generate(context, builder, signature, args):
        block = ir.VectorType(ir.DoubleType(), BLOCK)

        def place(number):
            array = context.make_array(signature.args[number])(context, builder, args[number])
            return builder.bitcast(builder.gep(array.data, [args[number + 1]]), block.as_pointer())

        now = builder.fadd(builder.load(place(0), align=8), builder.load(place(2), align=8))
        builder.store(now, place(0), align=8)
        empty = ir.Constant(block, ir.Undefined)
        one = builder.insert_element(empty, args[4], ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), [0] * BLOCK)
        below = builder.fcmp_ordered("<", now, builder.shuffle_vector(one, empty, zeros))
        word = ir.IntType(BLOCK)
        return builder.icmp_unsigned("!=", builder.bitcast(below, word), word(0))

    place = types.int64
    return types.boolean(margins, place, columns, place, types.float64), generate


move_block: Any = intrinsic(_move_block)  # numba has no type hints


@compiled()
def follow(margins, columns, here):
    """Margins move by a column; `lowest` of them. Few blocks hold a new lowest."""
    z, i, start = np.inf, 0, here * margins.size
    for first in range(0, margins.size, BLOCK):
        if move_block(margins, first, columns, start + first, z):
            for k in range(first, first + BLOCK):
                if margins[np.uint64(k)] < z:
                    z, i = margins[np.uint64(k)], k
    return z, i


@compiled()
def proven(run, rule):
    """Whether the interval is as narrow as it seems, with everything computed anew."""
    state = rule.state
    refresh(run, rule)
    z, _ = lowest(rule.margins)
    if state[LOWER] > 0.0 and z * state[STEPS] >= (1.0 - rule.gap) * state[SQUARE]:
        return True
    state[AGAIN] = 1.0 + 1.001 * state[STEPS]  # rounding stands in the way: not at once again
    return False


@compiled()
def logged(run, rule, i):
    """Whoever looks wants to see w at every step."""
    y = np.float64(run.target.y[i])
    add(run.rows, i, y, run.model.w)
    run.model.b[0] += y if rule.intercept else 0.0
    note(run, i, y, 1.0)


@overload(one_pass, jit_options=BORROWED)
def _minover(run, rule, p):
    if not is_a(rule, MinOver):
        return None

    def minover(run, rule, p):
        # handing `run` to a function costs as much as a step: only where it is seldom needed
        margins, columns, slot, used = rule.margins, rule.columns, rule.slot, rule.used
        counts, moments, tally, state = rule.counts, rule.moments, run.tally, rule.state
        stats, counters, y = run.keeper.stats, run.stop.counters, run.target.y
        code, mistakes, log = RUNNING, 0, run.log.index.size > 0
        if state[STEPS] == 0.0:
            refresh(run, rule)
        z, i = lowest(margins)
        for _ in range(rule.steps):
            M, total = state[STEPS], state[SQUARE]
            if z > 0.0 and z * M >= (1.0 - rule.gap) * total and state[AGAIN] <= M:
                if proven(run, rule):
                    break
                z, i = lowest(margins)
            if counters[UPDATES] >= run.stop.max_updates:
                code = FULL
                break
            here = slot[i]
            if here < 0:
                here = column(run, rule, i)
            if here < 0 or not total < LARGEST:
                return OVERFLOW
            used[here] = True
            mistakes += 1 if mistake(z, y[i], rule.tie) > 0.0 else 0
            counters[UPDATES] += 1
            run.tape.updates[p] += 1
            counts[i] += 1
            moments[i] += stats[VISITS]
            state[SQUARE] += 2.0 * z + columns[here * margins.size + i]
            state[STEPS] += 1.0
            if tally.size:
                tally[i] += 1.0
            if log:
                logged(run, rule, i)
            stats[VISITS] += 1.0
            z, i = follow(margins, columns, here)
        refresh(run, rule)
        run.tape.mistakes[p] = mistakes
        for k in range(y.size):
            run.tape.loss[p] += max(-margins[k], 0.0)
        return code

    return minover
