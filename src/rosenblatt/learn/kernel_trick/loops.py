"""Loops: the visits of one block of rows, compiled. Kernel values in, coefficients out.

f_k(x) = sum_j coef[j, k] K(x_j, x) is the score of hyperplane k. Rows are visited in order:

    if y_k f_k(x) <= 0:  coef[x, k] += weight y_k        a score of 0 is a mistake

The kernel values of the whole block come from BLAS before the first of these visits. What a
mistake in the block changes for the rows after it is put right here, so that the sequence is that
of one row at a time. The mean of the coefficients after each of T visits is coef - lag / T, where
lag gathers each amount times the visits before it.

Every function here calls only functions of this file: numba's disk cache does not notice an edit
made elsewhere. The plain-Python twin is `reference.kernel_perceptron`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from rosenblatt.data.compiled import quick_to_load

FAST = {"reassoc", "contract", "nsz"}  # vectorised sums; never flags that assume finite values


def entry_point(function):
    """njit with the disk cache, or without it where there is no place to write one."""
    options: Any = {"nogil": True, "error_model": "numpy", "fastmath": FAST}
    try:
        return quick_to_load(njit(cache=True, **options)(function))
    except RuntimeError:
        return njit(**options)(function)


class Block(NamedTuple):
    """The rows of a block, in the order of visits.

    gram: K of each with each. y: -1 or +1, one line a hyperplane. index: their numbers in X.
    before: visits made before the first.
    """

    gram: Any
    y: Any
    weight: Any
    index: Any
    before: int


class Held(NamedTuple):
    """The store while a block is visited.

    coef, lag: one line a support row. numbers: which row it is, from 0; less than 0 for those of
    earlier calls. slot: of each row of X its place in the store, or -1. source: for a store with a
    budget, where the row in a place comes from: a place of before, or `places + position in the
    block`. size: how many there are.
    """

    coef: Any
    lag: Any
    numbers: Any
    slot: Any
    source: Any
    size: Any


class Steps(NamedTuple):
    """Each change of a coefficient: at which visit (from 1), which support row and hyperplane."""

    visit: Any
    support: Any
    plane: Any
    amount: Any


@entry_point
def shuffle(index, seed):
    """Fisher-Yates on the last permutation, as the other loops and scikit-learn make it."""
    seed, n = np.uint32(seed), index.size
    for i in range(n - 1):
        if seed == 0:
            seed = np.uint32(1)
        seed = np.uint32(seed ^ np.uint32(seed << np.uint32(13)))
        seed = np.uint32(seed ^ np.uint32(seed >> np.uint32(17)))
        seed = np.uint32(seed ^ np.uint32(seed << np.uint32(5)))
        j = i + np.int64(seed & np.uint32(0x7FFFFFFF)) % (n - i)
        index[i], index[j] = index[j], index[i]


@entry_point
def visit(scores, block, held, steps, mistakes, squares):
    """Without a budget: how many steps were made.

    scores: of the block before its first visit, one line a hyperplane. squares: ||w_k||^2, which
    an update moves by 2 amount f(x) + amount^2 K(x, x).
    """
    made = 0
    planes, n = scores.shape
    for r in range(n):
        if block.weight[r] == 0:
            continue
        i = block.index[r]
        for k in range(planes):
            y, s = block.y[k, r], scores[k, r]
            if y * s > 0:
                continue
            mistakes[k] += 1
            if held.slot[i] < 0:
                held.slot[i] = held.size[0]
                held.numbers[held.size[0]] = i
                held.size[0] += 1
            j, amount = held.slot[i], y * block.weight[r]
            held.coef[j, k] += amount
            held.lag[j, k] += amount * (block.before + r)
            squares[k] += 2 * amount * s + amount * amount * block.gram[r, r]
            steps.visit[made] = block.before + r + 1
            steps.support[made] = j
            steps.plane[made] = k
            steps.amount[made] = amount
            made += 1
            for q in range(r + 1, n):
                scores[k, q] += amount * block.gram[r, q]
    return made


@entry_point
def visit_dropping(K, block, held, limit, seed, mistakes):
    """With a budget: a full store drops a random support row for the new one.

    K: kernel values of the block with every place of the store.
    """
    planes, n = block.y.shape
    places = held.source.size
    scores = np.empty(planes)
    for r in range(n):
        if block.weight[r] == 0:
            continue
        scores[:] = 0
        for j in range(held.size[0]):
            for k in range(planes):
                scores[k] += held.coef[j, k] * K[r, j]
        i = block.index[r]
        for k in range(planes):
            if block.y[k, r] * scores[k] > 0:
                continue
            mistakes[k] += 1
            if held.slot[i] < 0:
                if held.size[0] < limit:
                    j = held.size[0]
                    held.size[0] += 1
                else:
                    state = seed[0] if seed[0] else np.uint32(1)
                    state = np.uint32(state ^ np.uint32(state << np.uint32(13)))
                    state = np.uint32(state ^ np.uint32(state >> np.uint32(17)))
                    state = np.uint32(state ^ np.uint32(state << np.uint32(5)))
                    seed[0] = state
                    j = np.int64(state & np.uint32(0x7FFFFFFF)) % limit
                    if held.numbers[j] >= 0:
                        held.slot[held.numbers[j]] = -1
                    held.coef[j, :] = 0
                held.slot[i], held.numbers[j], held.source[j] = j, i, places + r
                for q in range(r + 1, n):
                    K[q, j] = block.gram[r, q]
            held.coef[held.slot[i], k] += block.y[k, r] * block.weight[r]


@entry_point
def visit_projecting(K, block, held, limit, least, inverse, squares, mistakes):
    """With a budget: a row that the store nearly spans is projected onto it.

    least: (eta^2, share of K(x, x)); a squared distance up to the larger of both is projected.
    inverse: of the Gram matrix of the store. With a new row at the distance delta from its
    projection d, it grows by [d, -1] [d, -1]^T / delta^2. squares: ||w_k||^2, which an update moves
    by 2 amount f(x) + amount^2 (K(x, x), less delta^2 where only the projection is added).
    """
    planes, n = block.y.shape
    places = held.source.size
    scores, d, amounts = np.empty(planes), np.empty(places), np.empty(planes)
    for r in range(n):
        if block.weight[r] == 0:
            continue
        scores[:] = 0
        size = held.size[0]
        for j in range(size):
            for k in range(planes):
                scores[k] += held.coef[j, k] * K[r, j]
        wrong = False
        for k in range(planes):
            amounts[k] = 0
            if block.y[k, r] * scores[k] <= 0:
                amounts[k] = block.y[k, r] * block.weight[r]
                mistakes[k] += 1
                wrong = True
        if not wrong:
            continue
        i, length = block.index[r], np.float64(block.gram[r, r])
        if held.slot[i] < 0:
            distance = length
            for j in range(size):
                total = 0.0
                for m in range(size):
                    total += inverse[j, m] * K[r, m]
                d[j] = total
                distance -= total * K[r, j]
            if size == limit or distance <= max(least[0], least[1] * length):
                for k in range(planes):
                    squares[k] += amounts[k] * (2 * scores[k] + amounts[k] * (length - distance))
                for j in range(size):
                    for k in range(planes):
                        held.coef[j, k] += amounts[k] * d[j]
                        held.lag[j, k] += amounts[k] * d[j] * (block.before + r)
                continue
            d[size] = -1.0
            for j in range(size + 1):
                for m in range(size + 1):
                    inverse[j, m] += d[j] * d[m] / distance
            held.slot[i], held.numbers[size], held.source[size] = size, i, places + r
            held.size[0] += 1
            for q in range(r + 1, n):
                K[q, size] = block.gram[r, q]
        for k in range(planes):
            squares[k] += amounts[k] * (2 * scores[k] + amounts[k] * length)
            held.coef[held.slot[i], k] += amounts[k]
            held.lag[held.slot[i], k] += amounts[k] * (block.before + r)


@entry_point
def replay(columns, visit, support, amount, ends, last, mean, vote):
    """One hyperplane's run once more, seen by other rows, looked at after `ends` visits.

    columns: K of each support row (down) with each of these rows. A hyperplane has one vote for
    every visit it survived, the visit that made it counted as its first; a score of 0 votes +1.
    """
    n = columns.shape[1]
    s, area, votes = np.zeros(n), np.zeros(n), np.zeros(n)
    now, step = 0, 0
    for e in range(ends.size):
        while True:
            more = step < visit.size and visit[step] <= ends[e]
            until = visit[step] - 1 if more else ends[e]
            lasted = np.float64(until - now)
            now = until
            if lasted > 0:
                for q in range(n):
                    area[q] += lasted * s[q]
                    votes[q] += lasted if s[q] >= 0 else -lasted
            if not more:
                break
            j, a = support[step], amount[step]
            for q in range(n):
                s[q] += a * columns[j, q]
            step += 1
        total = max(1.0, np.float64(ends[e]))
        for q in range(n):
            last[e, q] = s[q]
            mean[e, q] = area[q] / total
            vote[e, q] = votes[q] / total
