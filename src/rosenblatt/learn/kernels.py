"""Kernels: the only compiled learning loops. Arrays in, arrays out.

One body per algorithm serves dense and CSR data alike. A row is reached through
`dot`, `add` and `square`, which numba resolves at compile time from the type of
`rows` (:class:`Dense` or :class:`Sparse`); which algorithm runs is resolved from the
type of `rule` (:class:`Online`, :class:`Penalised`, :class:`Batch`, :class:`Direct`).
Every function here calls only functions of this file: numba's disk cache does not
notice an edit made elsewhere.

The order of additions inside a dot product is left to the compiler (`reassoc`), so
scores carry rounding errors unless the sums are exact; no flag assumes finite values.
The plain-Python twin of everything here is :mod:`rosenblatt.learn.reference`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

from rosenblatt.data.compiled import quick_to_load

FAST = {"reassoc", "contract", "nsz"}  # vectorised sums; never flags that assume finite values
CONTRACT = {"contract"}
# Kernels borrow their arrays: without this, every call counts references to each of them
# with atomic instructions, which costs more than an update. Not where arrays are made.
BORROWED: Any = {"_nrt": False}

# What a score of exactly 0 is: see docs/conventions.md.
TIES = {"mistake": 0, "positive": 1, "correct": 2, "half": 3}
POSITIVE, CORRECT, HALF = 1, 2, 3
# Who is visited next.
IN_ORDER, SHUFFLED, SAMPLED = 0, 1, 2
# Which weights are kept besides the last.
AVERAGE, POCKET = 1, 2
# Why `passes` came back.
RUNNING, SEPARATED, CYCLE, NO_IMPROVEMENT, FULL, OVERFLOW = 0, 1, 2, 3, 4, 5
# Slots of Keeper.stats.
VISITS, RUN, BEST_RUN, BEST_ERRORS, CHECKED, HOLDS, PASS, BEST_PASS = 0, 1, 2, 3, 4, 5, 6, 7
# How many visits ahead to fetch rows, and how many cache lines of one at most.
NEAR, FAR, LINES = 6, 12, 16
# Slots of Stop.counters.
UPDATES, STALLED, POWER, LENGTH, UPDATES_AT_SAVE = 0, 1, 2, 3, 4
# Slots of Sketch.state, see `sift`.
SPAN, FLOOR, VAIN = 0, 1, 2
BLOCK = 256  # products of a sketch that are added up in float32
# Slots of Gram.state, see `refresh`.
LOW, EACH, WEIGHTS, REACH, LIMIT, MOVED, PEAK = 0, 1, 2, 3, 4, 5, 6
SINCE, ENOUGH, ALARMS, ALL_ALARMS, AWAKE, BLOCKS, WORK = 7, 8, 9, 10, 11, 12, 13
U, V = 2.0**-53, 2.0**-24  # the units of float64 and float32
LANES = 32  # margins that are kept are moved so many at a time


class Dense(NamedTuple):
    """Rows of a C-contiguous matrix."""

    X: Any


class Sparse(NamedTuple):
    """Rows of a CSR matrix in canonical form."""

    indptr: Any
    indices: Any
    data: Any


class Target(NamedTuple):
    """y: -1 or +1, 0 for a row that is not there (class number or -1 for `Direct`).
    weight: one number a row, or empty."""

    y: Any
    weight: Any


class Model(NamedTuple):
    """The weights: w (d,) and b (1,), or (K, d) and (K,); `flat` is a view of w.

    wide: w in float64, which `Online` scores with: w itself, or a copy that `widen` keeps.
    """

    w: Any
    b: Any
    flat: Any
    wide: Any


class Order(NamedTuple):
    """kind: who is next; index: the order of visits, empty when in order; seed (1,)."""

    kind: int
    index: Any
    seed: Any


class Keeper(NamedTuple):
    """What is kept besides the last weights: a running sum, or a pocket (flat)."""

    kind: int
    u: Any
    ub: Any
    best_w: Any
    best_b: Any
    stats: Any


class Log(NamedTuple):
    """The first `len(index)` updates: who, by how much, after how many visits, to where."""

    index: Any
    step: Any
    visit: Any
    w: Any
    b: Any
    count: Any


class Stop(NamedTuple):
    """When to stop, and what has to be remembered to know it."""

    max_updates: int
    tol: float
    patience: int
    clean: bool
    batch: bool
    size: float
    saved_w: Any
    saved_b: Any
    counters: Any
    best: Any


class Tape(NamedTuple):
    """One entry a pass."""

    mistakes: Any
    updates: Any
    loss: Any
    norm: Any


class Gram(NamedTuple):
    """Margins kept up to date instead of computed: see `refresh`.

    G[j, i] = y_i (x_i.x_j + 1) / R_i, without the 1 where there is no offset; R_i an upper
    bound on ||(x_i, 1)||. Of the rows that are awake, in order: who they are (then n); q,
    (margin - bar) / R up to an error (then inf); C, their rows and columns of G, each row
    of a whole number of `LANES`; low, one bit a row: q is not above state[LOW]. Of each
    row: slot, how many before it are awake; base, its margin at the last refresh, and the
    same scaled.
    """

    G: Any
    R: Any
    who: Any
    q: Any
    C: Any
    low: Any
    slot: Any
    base: Any
    scaled: Any
    state: Any


class Sketch(NamedTuple):
    """Dense rows and weights rounded to fewer bits: see `sift`. All empty: not in use.

    x_i ~ scale[i] short[i], whole numbers, with columns of 0 at the end; v: the weights.
    """

    short: Any
    scale: Any
    v: Any
    state: Any


class Run(NamedTuple):
    """Everything a pass reads and writes."""

    rows: Any
    target: Any
    model: Model
    order: Order
    keeper: Keeper
    log: Log
    stop: Stop
    tape: Tape
    tally: Any
    gram: Gram | None
    sketch: Sketch


class Online(NamedTuple):
    """w += eta y x at each mistake, one row at a time."""

    eta: float
    tau: float
    tie: int
    margin: bool
    intercept: bool
    repeat: bool


class Penalised(NamedTuple):
    """The same, with weight decay (L2) and cumulative truncation (L1) at every visit.

    q: what each weight got of L1; owed: what all owe, and the norms the objective sees.
    On sparse rows a weight is shrunk when its feature is next met or the pass ends: since
    its visit `last`, by the running sums `shrunk` (and `drift`, the same for the average).
    """

    eta: float
    tau: float
    tie: int
    margin: bool
    intercept: bool
    decay: float
    shrink: float
    alpha: float
    l1_ratio: float
    q: Any
    owed: Any
    last: Any
    shrunk: Any
    drift: Any
    scales: Any


class Batch(NamedTuple):
    """w += eta_k * sum (or mean) over all current mistakes of y x."""

    etas: Any
    tau: float
    tie: int
    margin: bool
    intercept: bool
    mean: bool


class Planes(NamedTuple):
    """Hyperplanes that `visit` trains side by side, one entry (or row) each.

    u, ub: the lazy sums of the average, or empty; settled: not to be moved any more; wrong (1,):
    rows for which another class scored as well or better before they were learned from.
    """

    w: Any
    b: Any
    u: Any
    ub: Any
    visits: Any
    settled: Any
    mistakes: Any
    updates: Any
    wrong: Any


class Direct(NamedTuple):
    """Kesler: w_y += eta x, w_r -= eta x, r the best-scoring wrong class."""

    eta: float
    tau: float
    tie: int
    margin: bool
    intercept: bool
    repeat: bool


def compiled(**options):
    """A function that only other kernels call: no Python wrapper to compile."""
    options |= {"nogil": True, "no_cpython_wrapper": True, "error_model": "numpy"}
    return njit(**options | BORROWED)


def entry_point(function):
    """njit with the disk cache, or without it where there is no place to write one."""
    try:
        return quick_to_load(njit(cache=True, nogil=True, error_model="numpy")(function))
    except RuntimeError:
        return njit(nogil=True, error_model="numpy")(function)


def _is(numba_type, named_tuple):
    return getattr(numba_type, "instance_class", None) is named_tuple


def _keeps_margins(run):
    return _is(run.types[run.fields.index("gram")], Gram)


# --------------------------------------------------------------------------- rows


def dot(rows, i, w):
    """w . x_i, summed in float64 whatever the data."""


@overload(dot, jit_options={"fastmath": FAST} | BORROWED)
def _dot(rows, i, w):
    # unsigned indices spare numba's test for negative ones
    if _is(rows, Dense):

        def dense(rows, i, w):
            s = 0.0
            for j in range(w.size):
                s += np.float64(rows.X[np.uint64(i), np.uint64(j)]) * np.float64(w[np.uint64(j)])
            return s

        return dense

    def sparse(rows, i, w):
        s = 0.0
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            s += np.float64(rows.data[k]) * np.float64(w[np.uint64(rows.indices[k])])
        return s

    return sparse


def add(rows, i, c, w):
    """w += c x_i, each entry rounded once to the type of w."""


@overload(add, jit_options={"fastmath": CONTRACT} | BORROWED)
def _add(rows, i, c, w):
    if _is(rows, Dense):

        def dense(rows, i, c, w):
            for j in range(w.size):
                k = np.uint64(j)
                w[k] = np.float64(w[k]) + c * np.float64(rows.X[np.uint64(i), k])

        return dense

    def sparse(rows, i, c, w):
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            j = np.uint64(rows.indices[k])
            w[j] = np.float64(w[j]) + c * np.float64(rows.data[k])

    return sparse


def add_here(rows, i, c, w):
    """`add` without a call, which costs as much as adding a short row."""


overload(add_here, jit_options={"fastmath": CONTRACT, "forceinline": True} | BORROWED)(_add)


def widen(rows, i, w, wide):
    """Row i was added to w: copy what changed into `wide`, where that is not w itself."""


@overload(widen, jit_options=BORROWED)
def _widen(rows, i, w, wide):
    if w.dtype == wide.dtype:
        return lambda rows, i, w, wide: None
    if _is(rows, Dense):

        def dense(rows, i, w, wide):
            for j in range(w.size):
                wide[np.uint64(j)] = w[np.uint64(j)]

        return dense

    def sparse(rows, i, w, wide):
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            j = np.uint64(rows.indices[k])
            wide[j] = w[j]

    return sparse


def square(rows, i, d):
    """||x_i||^2."""


@overload(square, jit_options={"fastmath": FAST} | BORROWED)
def _square(rows, i, d):
    if _is(rows, Dense):

        def dense(rows, i, d):
            s = 0.0
            for j in range(d):
                s += np.float64(rows.X[i, j]) ** 2
            return s

        return dense

    def sparse(rows, i, d):
        s = 0.0
        for k in range(rows.indptr[i], rows.indptr[i + 1]):
            s += np.float64(rows.data[k]) ** 2
        return s

    return sparse


@intrinsic
def prefetch(typing_context, array, position):
    """Ask the memory for array.flat[position] without waiting for it."""

    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        address = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
        builder.call(hint, [address, number(0), number(3), number(1)])  # read, keep, data
        return context.get_dummy_value()

    return types.void(array, position), generate


def ahead(rows, index, t):
    """Fetch what the visits soon after t will need, when rows are not visited in order."""


@overload(ahead, jit_options=BORROWED)
def _ahead(rows, index, t):
    if _is(rows, Dense):

        def dense(rows, index, t):
            if t + NEAR < index.size:
                d = rows.X.shape[1]
                first = index[t + NEAR] * d
                line = 64 // rows.X.itemsize
                for j in range(0, min(d, LINES * line), line):
                    prefetch(rows.X, first + j)

        return dense

    def sparse(rows, index, t):
        if t + FAR < index.size:
            prefetch(rows.indptr, index[t + FAR])
        if t + NEAR < index.size:
            first = np.int64(rows.indptr[index[t + NEAR]])
            last = np.int64(rows.indptr[index[t + NEAR] + 1])
            for k in range(first, min(last, first + 8 * LINES), 64 // rows.data.itemsize):
                prefetch(rows.data, k)
            for k in range(first, min(last, first + 8 * LINES), 64 // rows.indices.itemsize):
                prefetch(rows.indices, k)

    return sparse


def entries(rows, i, d):
    """The range of positions at which row i holds values."""


@overload(entries, jit_options=BORROWED)
def _entries(rows, i, d):
    if _is(rows, Dense):
        return lambda rows, i, d: (0, d)
    return lambda rows, i, d: (rows.indptr[i], rows.indptr[i + 1])


def entry(rows, i, k):
    """(column, value) at position k of row i."""


@overload(entry, jit_options=BORROWED)
def _entry(rows, i, k):
    if _is(rows, Dense):
        return lambda rows, i, k: (k, np.float64(rows.X[i, k]))
    return lambda rows, i, k: (rows.indices[k], np.float64(rows.data[k]))


# --------------------------------------------------------------- what a mistake is


@compiled()
def mistake(z, y, tie):
    """How much of a mistake the margin z = y (w.x + b) is: 0, 1/2 or 1.

    A score of exactly 0 is decided by `tie`, see docs/conventions.md.
    """
    if z < 0.0:
        return 1.0
    if z > 0.0 or tie == CORRECT:
        return 0.0
    if tie == POSITIVE:
        return 1.0 if y < 0 else 0.0
    if tie == HALF:
        return 0.5
    return 1.0


@compiled()
def push(rule, z, y):
    """How many times eta y x is added at margin z: the mistake, or 1 up to tau."""
    if rule.margin:
        return 1.0 if z <= rule.tau else 0.0
    return mistake(z, y, rule.tie)


@compiled()
def margin(rows, i, y, w, b):
    """y_i (w.x_i + b).

    All callers get the same bits: `dot` is vectorised before it comes here, and without
    flags nothing may be drawn into its sum.
    """
    return y[np.uint64(i)] * (dot(rows, i, w) + b)


@compiled()
def scan(rows, y, w, b, index, t, bar):
    """The first visit from t on whose margin is not clearly above `bar`, and that margin."""
    z = 0.0
    while t < y.size:
        i = t
        if index.size:
            i = index[np.uint64(t)]
            ahead(rows, index, t)
        z = margin(rows, i, y, w, b)
        if not (bar < z and z < np.inf):
            break
        t += 1
    return t, z


# Margins from a sketch. Reading rows is what a pass costs, so they are kept rounded to 16
# bits, x_i = s q + e with s = scale[i] a power of two, |q_j| <= 2^14 and |e_j| <= 0.51 s (0.01
# for rounding in float32), and the weights in float32, w = v + f. The rounded margin only says
# who is certainly above the bar; everybody else is computed by `margin`, and the updates are
# those of the plain loop to the last bit. Exactly, w.x - s v.q = w.e + s q.f. With
# W >= ||(w, b)|| and Q = 2^14 s sqrt(d) >= s ||q||:
#   |w.e| <= 0.51 s sqrt(d) W,  |s q.f| <= 2^-24 Q W;
#   sums of BLOCK products in float32 add 257 2^-24 Q W, a quarter of s sqrt(d) W;
#   all rounding in float64, that of `margin` included, (d + 16) 2^-52 (Q + 1) W at most.
# In all less than 0.8 s sqrt(d) W + (d + 16) 2^-52 W = SPAN s + FLOOR for d <= 2^15. Outside
# 1e-20 < W < 1e20 nothing is decided: inside, nothing that matters is lost to underflow or
# overflow. Infinite s: nothing is known of that row.


@compiled(fastmath=FAST)
def rough(short, i, v):
    """q_i . v"""
    total, i = 0.0, np.uint64(i)
    d, first = np.uint64(v.size), np.uint64(0)
    while first < d:
        s, last = np.float32(0.0), min(first + np.uint64(BLOCK), d)
        for j in range(first, last):
            s += np.float32(short[i, j]) * v[j]
        total += np.float64(s)
        first = last
    return total


@compiled(fastmath=FAST)
def renew(w, b, sketch):
    """The weights changed: round them, and bound the errors anew."""
    norm = np.float64(b) ** 2
    for j in range(w.size):
        a = np.float64(w[np.uint64(j)])
        sketch.v[np.uint64(j)] = np.float32(a)
        norm += a * a
    W = (1.0 + 1e-6) * np.sqrt(norm)
    if not (W > 1e-20 and W < 1e20):
        W = np.inf
    sketch.state[SPAN] = 0.8 * np.sqrt(np.float64(w.size)) * W
    sketch.state[FLOOR] = (w.size + 16) * 2.0**-52 * W


def sift(rows, y, w, b, index, t, bar, sketch):
    """What `scan` finds, computing only the margins that the sketch cannot place above `bar`."""


@overload(sift, inline="always")
def _sift(rows, y, w, b, index, t, bar, sketch):
    if not _is(rows, Dense):  # no gain was measured on CSR
        return lambda rows, y, w, b, index, t, bar, sketch: scan(rows, y, w, b, index, t, bar)
    return lambda rows, y, w, b, index, t, bar, sketch: sift_dense(
        rows, y, w, b, index, t, bar, sketch
    )


@compiled(forceinline=True)
def sift_dense(rows, y, w, b, index, t, bar, sketch):
    short, scale, v, state = sketch.short, sketch.scale, sketch.v, sketch.state
    reach, floor, z = state[SPAN], state[FLOOR], 0.0
    while t < y.size:
        i = t
        if index.size:
            i = index[np.uint64(t)]
            ahead(Dense(short), index, t)
        s = np.float64(scale[np.uint64(i)])
        low = y[np.uint64(i)] * (s * rough(short, i, v) + b) - (reach * s + floor)
        if not low > bar:
            z = margin(rows, i, y, w, b)
            if not (bar < z and z < np.inf):
                break
            state[VAIN] += 1.0
        t += 1
    return t, z


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


@compiled()
def repeats(z, y, q, k, tie):
    """k visits in a row to one example: (whole updates, half updates).

    Each whole update raises z by q = eta (||x||^2 + 1). Closed form of the loop
    `for _ in range(k): update if mistake`.
    """
    e = mistake(z, y, tie)
    if e == 0.0 or k == 0.0:
        return 0.0, 0.0
    if q == 0.0:  # x = 0 without offset: the score never moves
        return (0.0, k) if e == 0.5 else (k, 0.0)
    if z == 0.0 and e == 0.5:
        return 0.0, 1.0
    # the smallest m with z + m q > 0, or >= 0 where a 0 is no (whole) mistake
    m = np.floor(-z / q)
    while m > 0.0 and z + m * q >= 0.0:
        m -= 1.0
    while z + m * q < 0.0:
        m += 1.0
    half = 0.0
    if z + m * q == 0.0:
        left = mistake(0.0, y, tie)
        if left == 1.0:
            m += 1.0
        elif left == 0.5 and m < k:
            half = 1.0
    return min(m, k), half


# ------------------------------------------------------------- what an update does


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


# ------------------------------------------------------------------------ the pocket


def errors(run, rule, limit):
    """The weight of the rows that prediction gets wrong, given up on at `limit`."""


@overload(errors, jit_options=BORROWED)
def _errors(run, rule, limit):
    if _is(rule, Direct):

        def direct(run, rule, limit):
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

    def two_classes(run, rule, limit):
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
def ratchet(run, rule):
    """Put the current weights into the pocket if they make fewer errors [Gallant 1990]."""
    keeper, stats = run.keeper, run.keeper.stats
    if stats[CHECKED] == 0.0:
        stats[CHECKED] = 1.0
        wrong = errors(run, rule, stats[BEST_ERRORS])
        if wrong < stats[BEST_ERRORS]:
            stats[BEST_ERRORS] = wrong
            stats[BEST_PASS] = stats[PASS]
            stats[HOLDS] = 1.0
            copy_into(keeper.best_w, run.model.flat)
            copy_into(keeper.best_b, run.model.b)
    if stats[HOLDS] == 1.0:
        stats[BEST_RUN] = max(stats[BEST_RUN], stats[RUN])


def pocket(run, rule):
    """`ratchet`, where there is a pocket."""


@overload(pocket, jit_options=BORROWED)
def _pocket(run, rule):
    if _keeps_margins(run):
        return lambda run, rule: None

    def with_pocket(run, rule):
        if run.keeper.kind == POCKET:
            ratchet(run, rule)

    return with_pocket


@compiled()
def end_run(run, rule):
    """The weights are about to change: were they right for longer than the pocket's?"""
    if run.keeper.kind == POCKET and run.keeper.stats[RUN] > run.keeper.stats[BEST_RUN]:
        ratchet(run, rule)


# -------------------------------------------------------------------- the algorithms


def one_pass(run, rule, p):
    """One pass; writes entry p of the tape and returns RUNNING, FULL or OVERFLOW."""


@overload(one_pass, jit_options=BORROWED)
def _online(run, rule, p):
    if not _is(rule, Online) or _keeps_margins(run):
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
                    end_run(run, rule)
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
                    end_run(run, rule)
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
    if not _is(rule, Online) or not _keeps_margins(run):
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

    Between visits of its feature, v_j > 0 loses shrink / scale_i at each visit i until it
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
    owed = rule.owed[0] - (m - low) * rule.shrink
    rule.q[j] = -sign * (owed + rule.scales[high] * left)
    if averaged:
        sigma = (drift[high] - drift[low]) * rule.scales[high] / rule.shrink
        u[j] -= sign * (drift[low] - drift[since] + sigma * left)
    return size


@compiled()
def catch_up_all(rule, v, u, averaged, m):
    """Shrink every weight up to visit m, and start counting visits anew."""
    for j in range(rule.last.size):
        catch_up(rule, v, u, averaged, j, m)
        rule.last[j] = 0


@overload(one_pass, jit_options=BORROWED)
def _penalised(run, rule, p):
    if not _is(rule, Penalised):
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
        averaged = run.keeper.kind == AVERAGE
        scale, sigma, code = 1.0, stats[VISITS], RUNNING
        decay = np.float64(v.dtype.type(rule.decay))  # rounded as scikit-learn rounds it
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
            scale = np.float64(v.dtype.type(scale * decay))
            square_norm *= decay * decay
            one_norm *= decay
            seen_square *= decay * decay
            seen_one *= decay
            if scale < 1e-9:
                if lazy:
                    catch_up_all(rule, v, u, averaged, m)
                    m = 0
                settle(run, scale, sigma)
                scale, sigma = 1.0, stats[VISITS]
            if step > 0.0:
                c = rule.eta * step * k * y[i]
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
            if rule.shrink > 0.0:
                rule.owed[0] += rule.shrink
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
                rule.scales[m] = scale
                rule.shrunk[m] = rule.shrunk[m - 1] + rule.shrink / scale
                rule.drift[m] = rule.drift[m - 1] + sigma * rule.shrink / scale
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


@overload(one_pass)
def _batch(run, rule, p):
    if not _is(rule, Batch):
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


@compiled()
def rival(rows, i, y, w, b):
    """(margin over, number of) the best-scoring class other than y; the first on a tie."""
    own, best, r = 0.0, -np.inf, -1
    for k in range(b.size):
        s = dot(rows, i, w[k]) + b[k]
        if k == y:
            own = s
        elif r < 0 or s > best:
            best, r = s, k
    return own - best, r


@overload(one_pass, jit_options=BORROWED)
def _direct(run, rule, p):
    if not _is(rule, Direct):
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
                        end_run(run, rule)
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


# ------------------------------------------------------------------------- the passes


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
    if _is(rule, Direct):

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
def draw(X, bits, sketch):
    """Round the rows of X into the sketch; bits: X, read as whole numbers.

    scale: the power of two that brings a row below 2^14; infinite for numbers that are too
    large, not below 2^-74 for tiny ones, which become 0.
    """
    short, half = sketch.short, X.dtype.type(0.5)
    fraction, bias = (52, 1023) if X.itemsize == 8 else (23, 127)
    for i in range(np.uint64(X.shape[0])):
        top = bits[i, 0] & 0
        for j in range(np.uint64(X.shape[1])):
            top = max(top, bits[i, j] & np.iinfo(bits.dtype).max)
        exponent = (int(np.int64(top)) >> fraction) - bias
        s = math.ldexp(1.0, max(exponent, -61) - 13) if exponent <= 60 else np.inf
        sketch.scale[i] = s
        inverse = X.dtype.type(1.0 / s)
        for j in range(np.uint64(X.shape[1])):
            short[i, j] = np.int32(np.floor(X[i, j] * inverse + half))


@entry_point
def passes(run, rule, n):
    """Up to n passes: (how many were made, why it stopped or RUNNING)."""
    stop, tape, model = run.stop, run.tape, run.model
    if n > 0:
        pocket(run, rule)  # the weights at the start are the first in it
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
        pocket(run, rule)
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


# ------------------------------------------------------------------------- the stream


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
