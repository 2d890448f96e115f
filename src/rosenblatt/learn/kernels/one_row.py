"""One row: the same visits as elsewhere, for rows that come one at a time.

A call from Python costs more than learning from a short row, and most of that is the handing over
of arrays. So a call hands over one, the frame: where the others stand in memory, and their sizes.
Who makes a frame (:class:`rosenblatt.learn.running.Frame`) keeps its arrays alive, and of these
types and shapes; no other code calls what is here. The arrays are

    data     X (n, d), and no indices; or the entries of CSR rows, and their columns in indices
    marks    (3, n + 1): where CSR rows begin; class numbers; room
    table    (1 or 2, planes, d): the weights, and the lazy sums where the average is kept
    heads    (5, planes): b, the lazy sums of b, visits; of `Alma` the scale and what is owed
    memory   (planes, ...): variances with the offset first; or state and theta of `Alma`; or empty
    counts   (5 or more, planes or classes): mistakes, updates, zeros, room, rows of each class
    setting  the numbers of the rule in its order, then rows, wrong answers, is the class new

Each of more than two classes has its plane, two share one, and one that is left over has no class:
the rest against nobody, from which late classes start. Before a row is learned from, it is
answered as `predict` would: the progressive error counts those answers.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload
from numba.np.numpy_support import carray

from rosenblatt.learn.kernels import alma
from rosenblatt.learn.kernels.arrays import (
    BORROWED,
    LINKED,
    OVERFLOW,
    RUNNING,
    Adaptive,
    Alma,
    Dense,
    Online,
    Planes,
    Sparse,
    compiled,
    entry_point,
    is_a,
)
from rosenblatt.learn.kernels.margins import mistake
from rosenblatt.learn.kernels.rows import dot, entries, entry
from rosenblatt.learn.kernels.stream import visited

# Rows of marks, heads and counts.
BEGINS, LABEL, OWN = 0, 1, 2
B, UB, VISITS, SCALE, OWED = 0, 1, 2, 3, 4
MISTAKES, UPDATES, SETTLED, ROOM, SEEN = 0, 1, 2, 3, 4
# The end of setting.
ROWS, WRONG, NEW, SETTINGS = 5, 6, 7, 8
# The frame: addresses, then sizes: rows, entries there is room for, columns, ...
DATA, INDICES, MARKS, TABLE, HEADS, MEMORY, COUNTS, SETTING = range(8)
N, SIZE, D, LAYERS, PLANES, REMEMBERED, COUNTED, CLASSES, FRAME = range(8, 17)
# What is wrong with a row.
NOT_FINITE, TWICE, TOO_LARGE = -1, -2, -3


def row(data, indices, marks, i):
    """Row i alone, as rows of its own."""


@overload(row, jit_options=BORROWED)
def _row(data, indices, marks, i):
    if isinstance(indices, types.NoneType):
        return lambda data, indices, marks, i: Dense(data[i : i + 1])
    return lambda data, indices, marks, i: Sparse(marks[BEGINS, i : i + 2], indices, data)


def tidied(rows):
    """Put the columns of row 0 in order: whether one of them comes twice."""


@overload(tidied, jit_options=BORROWED)
def _tidied(rows):
    if is_a(rows, Dense):
        return lambda rows: False

    def sparse(rows):
        indices, data, first = rows.indices, rows.data, rows.indptr[0]
        for k in range(first + 1, rows.indptr[1]):
            j, x, m = indices[k], data[k], k
            while m > first and indices[m - 1] > j:
                indices[m], data[m] = indices[m - 1], data[m - 1]
                m -= 1
            indices[m], data[m] = j, x
            if m > first and indices[m - 1] == j:
                return True
        return False

    return sparse


@compiled()
def score(rows, table, heads, p):
    """w.x + b of the weights that are kept: the last, or their average, as `State` has it."""
    w, b, scale, T = table[0, p], heads[B, p], heads[SCALE, p], heads[VISITS, p]
    if table.shape[0] == 1 or T == 0.0:
        return scale * (dot(rows, 0, w) + b)
    u, owed, s = table[1, p], heads[OWED, p], 0.0
    first, last = entries(rows, 0, w.size)
    for k in range(first, last):
        j, x = entry(rows, 0, k)
        s += x * ((T * (scale * w[j]) - (u[j] + owed * w[j])) / T)
    return s + (T * (scale * b) - (heads[UB, p] + owed * b)) / T


@compiled()
def answered(rows, table, heads, n_classes):
    """The class that `predict` gives row 0, or what is wrong with the row."""
    if tidied(rows):
        return TWICE
    first, last = entries(rows, 0, table.shape[2])
    for k in range(first, last):
        _, x = entry(rows, 0, k)
        if not np.isfinite(x):
            return NOT_FINITE
    best, most = 0, -np.inf
    for p in range(n_classes if n_classes > 2 else 1):
        s = score(rows, table, heads, p)
        if not np.isfinite(s):
            return TOO_LARGE
        if n_classes == 2:
            return 1 if s >= 0.0 else 0
        if s > most:
            best, most = p, s
    return best


def visit_row(rows, y, table, heads, memory, counts, rule):
    """Learn from row 0, of class y[0]: RUNNING or OVERFLOW."""


@overload(visit_row, jit_options=BORROWED)
def _visit_row(rows, y, table, heads, memory, counts, rule):
    if is_a(rule, Alma):
        return _alma_row

    def other(rows, y, table, heads, memory, counts, rule):
        w = table[0]
        u = table[1] if table.shape[0] == 2 else w[:0]
        planes = Planes(
            w, heads[B], u, heads[UB], memory, heads[VISITS], counts[SETTLED], counts[MISTAKES],
            counts[UPDATES], counts[ROOM],
        )  # fmt: skip
        return visited(rows, y, heads[B, :0], planes, rule)

    return other


def _alma_row(rows, y, table, heads, memory, counts, rule):
    d, alone, none = table.shape[2], 1 if table.shape[1] == 1 else 0, table[0, 0, :0]
    for p in range(table.shape[1]):
        w, b, ub = table[0, p], heads[B, p : p + 1], heads[UB, p : p + 1]
        u = table[1, p] if table.shape[0] == 2 else none
        state = memory[p, :4]
        own = Alma(
            rule.bar, rule.step, rule.p, rule.tie, rule.intercept, memory[p, 4 : d + 5], state
        )
        if state[alma.T] == 0.0:  # the first row
            alma.opened(w, b, heads[VISITS, p], own)
        sign = 1.0 if y[0] == p + alone else -1.0
        s, size = alma.measured(rows, 0, w, b, own)
        if not np.isfinite(s):
            return OVERFLOW
        if sign * s <= alma.reach(own, counts[UPDATES, p]):
            counts[MISTAKES, p] += 1 if mistake(sign * s, sign, own.tie) > 0.0 else 0
            c = sign * alma.stride(own, counts[UPDATES, p], 1.0, size)
            alma.stepped(rows, 0, c, w, b, u, ub, own)
            counts[UPDATES, p] += 1
            if state[alma.T] < alma.LEAST:
                alma.closed(w, b, u, ub, heads[VISITS, p], own)
                alma.opened(w, b, heads[VISITS, p], own)
        heads[VISITS, p] += 1.0
        state[alma.SIGMA] += state[alma.SCALE]
        heads[SCALE, p] = state[alma.SCALE]
        heads[OWED, p] = heads[VISITS, p] * state[alma.SCALE] - state[alma.SIGMA]
    return RUNNING


@compiled()
def learned(data, indices, marks, table, heads, memory, counts, setting, n_classes, rule):
    """Learn from every row, in order: 0, or what is wrong with one; that one changed nothing."""
    shift = 1 if n_classes == 2 and table.shape[1] == 2 else 0
    for i in range(marks.shape[1] - 1):
        rows = row(data, indices, marks, i)
        found = answered(rows, table, heads, n_classes)
        if found < 0:
            return found
        y = marks[LABEL, i]
        marks[OWN, i] = y - shift
        if visit_row(
            rows, marks[OWN, i : i + 1], table, heads, memory, counts, rule
        ) == OVERFLOW:  # fmt: skip
            return TOO_LARGE
        setting[ROWS] += 1.0
        setting[WRONG] += 1.0 if found != y or setting[NEW] != 0.0 else 0.0
        setting[NEW] = 0.0
        counts[SEEN, y] += 1
    return 0


@compiled()
def answered_first(data, indices, marks, table, heads, n_classes):
    """`answered`; what counts references must not be given the views that `row` makes."""
    return answered(row(data, indices, marks, 0), table, heads, n_classes)


# ------------------------------------------------------------- what is called from Python


def lending(**options):
    """`compiled` for what makes arrays: it has to count references to them."""
    return njit(**options | {"nogil": True, "error_model": "numpy"} | LINKED)


@intrinsic
def pointer(typing_context, address):
    """The place in memory that a number says."""

    def generate(context, builder, signature, args):
        return builder.inttoptr(args[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), generate


@lending()
def floats(frame, k, shape):
    return carray(pointer(frame[k]), shape, np.float64)


@lending()
def whole(frame, k, shape):
    return carray(pointer(frame[k]), shape, np.int64)


def entries_of(frame, sparse):
    """(data, indices)"""


@overload(entries_of, jit_options=LINKED)
def _entries_of(frame, sparse):
    if isinstance(sparse, types.NoneType):
        return lambda frame, sparse: (floats(frame, DATA, (frame[N], frame[D])), None)
    return lambda frame, sparse: (
        floats(frame, DATA, (frame[SIZE],)),
        carray(pointer(frame[INDICES]), (frame[SIZE],), np.int32),
    )


@lending()
def learned_in(frame, sparse, rule):
    data, indices = entries_of(frame, sparse)
    return learned(
        data,
        indices,
        whole(frame, MARKS, (3, frame[N] + 1)),
        floats(frame, TABLE, (frame[LAYERS], frame[PLANES], frame[D])),
        floats(frame, HEADS, (5, frame[PLANES])),
        floats(frame, MEMORY, (frame[PLANES], frame[REMEMBERED])),
        whole(frame, COUNTS, (5, frame[COUNTED])),
        floats(frame, SETTING, (SETTINGS,)),
        frame[CLASSES],
        rule,
    )


@lending()
def answered_in(frame, sparse):
    data, indices = entries_of(frame, sparse)
    table = floats(frame, TABLE, (frame[LAYERS], frame[PLANES], frame[D]))
    heads = floats(frame, HEADS, (5, frame[PLANES]))
    marks = whole(frame, MARKS, (3, 2))
    return answered_first(data, indices, marks, table, heads, frame[CLASSES])


@lending()
def online_in(frame, sparse):
    a = floats(frame, SETTING, (SETTINGS,))
    rule = Online(a[0], a[1], int(a[2]), a[3] != 0.0, a[4] != 0.0, False)
    return learned_in(frame, sparse, rule)


@lending()
def adaptive_in(frame, sparse):
    a = floats(frame, SETTING, (SETTINGS,))
    rule = Adaptive(int(a[0]), a[1], a[2], int(a[3]), a[4] != 0.0, a[:0], a[:0])
    return learned_in(frame, sparse, rule)


@lending()
def alma_in(frame, sparse):
    a = floats(frame, SETTING, (SETTINGS,))
    rule = Alma(a[0], a[1], a[2], int(a[3]), a[4] != 0.0, a[:0], a[:0])
    return learned_in(frame, sparse, rule)


@entry_point
def answer(frame, sparse):
    """The class of one row as `predict` gives it, or what is wrong with the row."""
    return answered_in(frame, sparse)


@entry_point
def learn_online(frame, sparse):
    """`learned` by `Online`."""
    return online_in(frame, sparse)


@entry_point
def learn_adaptive(frame, sparse):
    """`learned` by `Adaptive`."""
    return adaptive_in(frame, sparse)


@entry_point
def learn_alma(frame, sparse):
    """`learned` by `Alma`."""
    return alma_in(frame, sparse)
