"""Kept margins: what is moved along with the weights instead of being computed."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rosenblatt.learn.kernels.arrays import (
    ALARMS,
    ALL_ALARMS,
    AWAKE,
    BLOCKS,
    EACH,
    ENOUGH,
    LANES,
    LIMIT,
    LOW,
    MOVED,
    PEAK,
    REACH,
    SINCE,
    WEIGHTS,
    WORK,
    U,
    V,
    compiled,
)
from rosenblatt.learn.kernels.keeping import squares
from rosenblatt.learn.kernels.margins import margin

# Margins that are kept, not computed. With q_i = (y_i (w.x_i + b) - bar) / R_i, an update
# w += c x_j, b += c is q += c G[j]: n additions instead of n dot products. What is kept is
# not what `margin` would give, so it only says who is certainly above the bar; everybody
# else is computed by `margin`, and the updates are those of the plain loop to the last bit.
#
# Let q' be the margins at the last `refresh`, and D the way from the weights then, (w', b'),
# to those now. Since |x_i.a| <= R_i ||a||, |q_i - q'_i| <= ||D||, and at an update
#   ||D + c (x_j, 1)||^2 <= ||D||^2 + 2 c y_j (margin of j now - at the refresh) + (c R_j)^2,
# numbers that are at hand. As long as ||D|| <= B, which is chosen (REACH), a row with
# q'_i > B cannot be a mistake: it sleeps, and only those awake are kept. Updates nearly
# cancel over a pass where it takes thousands, so ||D|| stays far below what was walked.
#
# Those awake are kept in float32. Let W = ||(w', b')|| + B, m = |c| R_j, u = 2^-53,
# g = 2^-24, v the unit of the type of w (u or g), |q_i| <= S and |kept - exact| <= E. Then
#   computing:  E = (d + 8) u (W + bar) + g S
#   an update:  E += g (S + E + 4 m) + 2 v (W + m) + (d + 8) u m
# (g for rounding q, c, G and c G; v for the weights and c x_j; the last for the error in G).
# `margin` errs by less than (d + 8) u W R_i, so E + (d + 8) u W is where doubt begins: LOW
# is at least that. ||D||^2 grows by at most 8 ((d + 8) u + v) (W + m) (B + m) more than
# computed, from the errors of both margins and the weights, if B >= W / 10^6. Factors
# of 1.1 and 2.1 for 1 and 2, and 1e-40, cover the rounding of the bounds and underflow.

LARGEST = 1e30  # weights and rows up to here: nothing overflows, not in float32 either


@intrinsic
def move_lanes(typing_context, q, first, C, row, c, low):
    """q[first:][:LANES] += c C[row:][:LANES]; the bits of those that are not above `low`."""

    def generate(context, builder, signature, args):
        lanes = ir.VectorType(ir.FloatType(), LANES)
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)

        def place(number):
            array = context.make_array(signature.args[number])(context, builder, args[number])
            start = builder.gep(array.data, [args[number + 1]])
            return builder.bitcast(start, lanes.as_pointer())

        def everywhere(value):
            empty = ir.Constant(lanes, ir.Undefined)
            one = builder.insert_element(empty, value, ir.IntType(32)(0))
            return builder.shuffle_vector(one, empty, zeros)

        step = builder.load(place(2), align=4)
        step = builder.fmul(everywhere(args[4]), step, flags=("contract",))
        now = builder.fadd(builder.load(place(0), align=4), step, flags=("contract",))
        builder.store(now, place(0), align=4)
        # "unordered": what is not a number is not above
        return builder.bitcast(
            builder.fcmp_unordered("<=", now, everywhere(args[5])), ir.IntType(LANES)
        )

    number = types.float32
    return types.uint32(q, types.int64, C, types.int64, number, number), generate


@intrinsic
def lowest_bit(typing_context, word):
    """The number of the lowest bit that is set; some bit must be."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.uint32(types.uint32), generate


@compiled()
def reach_out(state, W):
    """Choose B: a refresh should cost little beside following, and few should be awake."""
    if state[REACH] == 0.0:
        state[REACH] = W / 64.0
    elif state[MOVED] <= state[LIMIT]:  # not for want of reach
        state[REACH] = min(state[REACH], 1.25 * np.sqrt(state[PEAK]))
    elif state[SINCE] * state[AWAKE] < 8.0 * state[WORK]:
        state[REACH] *= 1.5
    state[REACH] = min(max(state[REACH], 2e-6 * W), 2.0 * W)


@compiled()
def wake(gram, reach):
    """Those not above `reach` are awake from now on, and C is G without the others."""
    n, who, slot = gram.slot.size, gram.who, gram.slot
    m = 0
    for i in range(n):
        slot[i] = m
        if not gram.scaled[i] > reach:
            who[m] = i
            m += 1
    for a in range(m, who.size):
        who[a] = n
    wide = -(-m // LANES) * LANES
    for a in range(m):
        for k in range(wide):
            gram.C[a * wide + k] = gram.G[who[a], who[k]] if k < m else 0.0
    gram.state[AWAKE] = m


@compiled()
def refresh(rows, y, w, b, bar, gram, unit):
    """Compute all margins anew, and let others sleep if need be."""
    n, d, state, scaled, who = y.size, w.size, gram.state, gram.scaled, gram.who
    W = (1.0 + 1e-6) * np.sqrt(squares(w) + np.float64(b) ** 2) + 1e-150
    reach_out(state, W)
    B = state[REACH]
    W += B
    error = 2.1 * (d + 8) * U * (W + bar) if W + bar < LARGEST else np.inf  # all awake
    awake, woken, deep = 0, False, B + error
    for i in range(n):
        gram.base[i] = margin(rows, i, y, w, b)
        scaled[i] = (gram.base[i] - bar) / gram.R[i]
        deep = max(deep, -scaled[i])
        if not scaled[i] > B + error:
            awake += 1
            woken = woken or who[gram.slot[i]] != i
    if woken or awake < 0.75 * state[AWAKE]:
        wake(gram, 1.1 * B + error)
        state[WORK] = n * d + 8.0 * state[AWAKE] ** 2
    else:
        state[WORK] = n * d
    state[SINCE] = state[PEAK] = 0.0
    state[ENOUGH] = 64.0 * state[WORK] / max(1.0, state[AWAKE])
    S = B + deep
    state[WEIGHTS] = W
    state[LIMIT] = (1.0 - 1e-6) * B * B
    state[MOVED] = state[ALARMS] = 0.0
    state[LOW] = 1.1 * (error + V * S) + 1e-40
    state[EACH] = 1.1 * (V * S + 2.0 * unit * W) + 1e-40
    blocks = -(-int(state[AWAKE]) // LANES)
    for a in range(blocks * LANES):
        gram.q[a] = scaled[who[a]] if who[a] < n else np.inf
    for k in range(blocks):
        first = np.int64(k * LANES)
        none = np.float32(0.0)
        gram.low[k] = move_lanes(gram.q, first, gram.C, first, none, above(state[LOW]))
    gram.low[blocks] = 1  # where the search ends
    state[BLOCKS] = blocks


@compiled(forceinline=True)
def above(low):
    """A float32 that is at least `low`."""
    return np.float32((1.0 + 1e-6) * low)


@compiled(forceinline=True)
def follow(gram, j, c, gain, d, unit):
    """Row j was added c times, `gain` = c y_j (its margin - its base)."""
    q, C, low, state = gram.q, gram.C, gram.low, gram.state
    m, W, B = abs(c) * gram.R[np.uint64(j)], state[WEIGHTS], state[REACH]
    state[LOW] += state[EACH] + 1.1 * (
        V * (state[LOW] + 4.0 * m) + 2.0 * unit * m + (d + 8) * U * m
    )
    state[MOVED] += 2.0 * gain + m * m + 8.0 * ((d + 8) * U + unit) * (W + m) * (B + m)
    state[SINCE] += 1.0
    state[PEAK] = max(state[PEAK], state[MOVED])
    if not (state[MOVED] <= state[LIMIT] and state[SINCE] < state[ENOUGH]):
        state[ALARMS] = np.inf
    doubt, step, blocks = above(state[LOW]), np.float32(c), np.int64(state[BLOCKS])
    row = gram.slot[np.uint64(j)] * blocks * LANES
    for k in range(blocks):
        first = np.int64(k * LANES)
        low[np.uint64(k)] = move_lanes(q, first, C, row + first, step, doubt)


@compiled(forceinline=True)
def next_low(gram, t):
    """The first row from t on that is awake and not above LOW, or the number of rows."""
    a = gram.slot[np.uint64(t)]
    k = np.uint64(a // LANES)
    word = np.uint32(gram.low[k] & np.uint32(0xFFFFFFFF << (a % LANES)))
    while word == 0:
        k += np.uint64(1)
        word = gram.low[k]
    return gram.who[k * np.uint64(LANES) + np.uint64(lowest_bit(word))]


@compiled(forceinline=True)
def find(rows, y, w, b, index, t, bar, gram, unit):
    """What `scan` finds, computing only the margins that are not known to be above `bar`."""
    if gram.state[ALARMS] >= y.size:
        refresh(rows, y, w, b, bar, gram, unit)
    z, doubt = 0.0, above(gram.state[LOW])
    while t < y.size:
        i = t
        if index.size:
            i = index[np.uint64(t)]
            a = np.uint64(gram.slot[np.uint64(i)])
            if gram.who[a] != i or gram.q[a] > doubt:
                t += 1
                continue
        else:
            i = t = next_low(gram, t)
            if t == y.size:
                break
        z = margin(rows, i, y, w, b)
        if not (bar < z and z < np.inf):
            break
        gram.state[ALARMS] += 1.0
        gram.state[ALL_ALARMS] += 1.0
        t += 1
    return t, z
