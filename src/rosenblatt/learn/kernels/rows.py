"""Rows: dense and CSR behind the same few functions, resolved from the type of `rows`."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from rosenblatt.learn.kernels.arrays import BORROWED, CONTRACT, FAR, FAST, LINES, NEAR, Dense, is_a


def dot(rows, i, w):
    """w . x_i, summed in float64 whatever the data."""


@overload(dot, jit_options={"fastmath": FAST} | BORROWED)
def _dot(rows, i, w):
    # unsigned indices spare numba's test for negative ones
    if is_a(rows, Dense):

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
    if is_a(rows, Dense):

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
    if is_a(rows, Dense):

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
    if is_a(rows, Dense):

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
    if is_a(rows, Dense):

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
    if is_a(rows, Dense):
        return lambda rows, i, d: (0, d)
    # of one type, so that the bits of a sum do not depend on that of the indices
    return lambda rows, i, d: (np.int64(rows.indptr[i]), np.int64(rows.indptr[i + 1]))


def entry(rows, i, k):
    """(column, value) at position k of row i."""


@overload(entry, jit_options=BORROWED)
def _entry(rows, i, k):
    if is_a(rows, Dense):
        return lambda rows, i, k: (k, np.float64(rows.X[i, k]))
    return lambda rows, i, k: (np.int64(rows.indices[k]), np.float64(rows.data[k]))
