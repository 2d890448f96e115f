"""Limbs: exact signs and sums of floats times long integers, for many rows at once.

A float64 is an integer times a power of two. Take one power of two, 2^low, that makes all
entries of X integers, and cut these and the integer weights into limbs of s bits,

    x = 2^low sum_k x_k 2^(s k),   w = sum_l w_l 2^(s l),   |x_k|, |w_l| < 2^s,

with s so small that p 2^(2 s) <= 2^53 for rows of p entries. Then every partial sum in a
product of limbs is an integer below 2^53: a matrix product in float64 is exact, in whatever
order it adds. Carries in int64 put the products together. Entries that differ by more than
900 bits are summed one by one in Python's integers instead.

The checker stands on this; it shares nothing with the code that makes claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.prove.checking.blocks import slices

Array = npt.NDArray[Any]
Vector = Mapping[int, int]  # column -> entry; other entries are 0
MANTISSA = 53
MOST_BITS = 900  # between the largest and the smallest bit: powers of two stay in range
TOGETHER = 1 << 20  # numbers, or limbs of sums, held at once


def product_signs(X: Any, *vectors: Vector) -> npt.NDArray[np.int8]:
    """The sign of every row of X times every vector, an entry each; X float64, array or CSR.

    >>> product_signs(np.array([[0.1, -0.3], [3.0, 1.0]]), {0: 3, 1: 1}).tolist()
    [[1], [1]]
    >>> X = np.array([[0.5, 1.0], [1e300, 1e-300]])
    >>> product_signs(X, {0: -2 * 10**99, 1: 10**99}, {0: 1}).tolist()
    [[0, 1], [-1, 1]]
    """
    longest = max((abs(c).bit_length() for v in vectors for c in v.values()), default=0)
    out = np.zeros((X.shape[0], len(vectors)), dtype=np.int8)
    digits: dict[int, Array] = {}
    for start, part in slices(X, TOGETHER):
        ends, here = bit_range(values(part)), slice(start, start + part.shape[0])
        if ends is None or longest == 0:
            continue
        low, bits = ends[0], ends[1] - ends[0]
        if bits > MOST_BITS:
            out[here] = _one_by_one(part, vectors)
            continue
        room = MANTISSA - row_length(part).bit_length()
        few = 3 * bits <= 2 * room  # X needs one limb, and the weights get the rest of the room
        s = room - bits if few else room // 2
        if s not in digits:
            digits[s] = _digits(vectors, X.shape[1], longest, s)
        out[here] = _signs_of_sums(part, low, 1 if few else -(-bits // s), digits[s], s)
    return out


def orthogonal(X: Any, vectors: Sequence[Vector]) -> bool:
    """Whether every row of X is orthogonal to every vector, exactly."""
    longest = max((abs(c).bit_length() for v in vectors for c in v.values()), default=1)
    step = max(1, TOGETHER // (X.shape[1] * (1 + longest // 16)))
    return not any(
        product_signs(X, *vectors[k : k + step]).any() for k in range(0, len(vectors), step)
    )


def _signs_of_sums(X: Any, low: int, count: int, digits: Array, s: int) -> npt.NDArray[np.int8]:
    n, (d, m, length) = X.shape[0], digits.shape
    step = max(1, TOGETHER // (m * (count + length)))
    if step < n:
        return np.concatenate(
            [_signs_of_sums(X[k : k + step], low, count, digits, s) for k in range(0, n, step)]
        )
    flat = digits.reshape(d, m * length)
    sums = np.zeros((count + length, n, m), dtype=np.int64)
    for k, limb in _limbs(X, low, count, s):
        products = np.asarray(limb @ flat).reshape(n, m, length)
        sums[k : k + length] += np.moveaxis(products, 2, 0).astype(np.int64)
    for t in range(len(sums) - 1):  # afterwards 0 <= sums[t] < 2^s for all but the last
        carry = sums[t] >> s
        sums[t] -= carry << s
        sums[t + 1] += carry
    return np.where(sums[-1] < 0, -1, sums.any(axis=0)).astype(np.int8)


def column_sums(X: Any, groups: Array) -> list[list[Fraction]]:
    """For every group (a 0/1 column of `groups`), the exact sum of its rows of X."""
    m, d = groups.shape[1], X.shape[1]
    totals = [[Fraction(0)] * d for _ in range(m)]
    ends = bit_range(values(X))
    if ends is None:
        return totals
    low, high = ends
    if high - low > MOST_BITS:
        return _summed_one_by_one(X, groups)
    s = MANTISSA - X.shape[0].bit_length()
    sums = [[0] * d for _ in range(m)]
    for k, limb in _limbs(X, low, -(-(high - low) // s), s):
        part = np.asarray(limb.T @ groups)  # integers below 2^53
        for g in range(m):
            for j in np.flatnonzero(part[:, g]).tolist():
                sums[g][j] += int(part[j, g]) << (s * k)
    unit = Fraction(2) ** low
    return [[v * unit for v in line] for line in sums]


def values(X: Any) -> Array:
    """The entries, stored zeros included."""
    return np.asarray(X.data if sp.issparse(X) else X)


def row_length(X: Any) -> int:
    """At most so many entries of a row are not zero."""
    return int(np.diff(X.indptr).max(initial=1)) if sp.issparse(X) else int(X.shape[1])


def bit_range(numbers: Array) -> tuple[int, int] | None:
    """(low, high): every value is an integer times 2^low and smaller than 2^high; None: all 0."""
    there = numbers[numbers != 0]
    if there.size == 0:
        return None
    fraction, exponent = np.frexp(there)
    whole = np.abs(fraction * 2.0**MANTISSA).astype(np.int64)
    trailing = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return int((exponent - MANTISSA + trailing).min()), int(exponent.max())


def _limbs(X: Any, low: int, count: int, s: int) -> Iterator[tuple[int, Any]]:
    """(k, X_k) from the highest: X = 2^low sum_k X_k 2^(s k), |X_k| < 2^s, all exact."""
    rest = np.ldexp(values(X), -low)
    for k in reversed(range(count)):
        limb = np.trunc(np.ldexp(rest, -s * k)) if k else rest
        if sp.issparse(X):
            yield k, sp.csr_array((limb, X.indices, X.indptr), shape=X.shape)
        else:
            yield k, limb
        if k:
            rest = rest - np.ldexp(limb, s * k)


def _digits(vectors: Sequence[Vector], d: int, longest: int, s: int) -> Array:
    """(column, vector, place): the digits in base 2^s, lowest first, signed like the entry."""
    size, length = -(-longest // 8), -(-longest // s)
    column = [j for v in vectors for j in v]
    number = [k for k, v in enumerate(vectors) for _ in v]
    whole = [c for v in vectors for c in v.values()]
    raw = b"".join(abs(c).to_bytes(size, "little") for c in whole)
    octets = np.frombuffer(raw, dtype=np.uint8).reshape(len(whole), size)
    bits = np.unpackbits(octets, axis=1, count=length * s, bitorder="little")
    bits = bits.reshape(len(whole), length, s)
    found = np.zeros((len(whole), length))
    for k in range(s):
        found += bits[:, :, k] * 2.0**k
    digits = np.zeros((d, len(vectors), length))
    digits[column, number] = found * np.array([-1.0 if c < 0 else 1.0 for c in whole])[:, None]
    return digits


# ---------------------------------------------------------------------- the slow twins


def entries(X: Any, k: int) -> Iterator[tuple[int, int, int]]:
    """(j, m, e) for every entry of row k that is not zero: it is m 2^e."""
    if sp.issparse(X):
        inside = slice(X.indptr[k], X.indptr[k + 1])
        pairs = zip(X.indices[inside].tolist(), X.data[inside].tolist(), strict=True)
    else:
        pairs = zip(range(X.shape[1]), X[k].tolist(), strict=True)
    for j, v in pairs:
        if v:
            m, q = v.as_integer_ratio()
            yield j, m, 1 - q.bit_length()


def exact_product(X: Any, k: int, vector: Vector) -> Fraction:
    """Row k of X times an integer vector."""
    found = [(m * vector[j], e) for j, m, e in entries(X, k) if j in vector]
    low = min((e for _, e in found), default=0)
    return Fraction(2) ** low * sum(m << (e - low) for m, e in found)


def _one_by_one(X: Any, vectors: Sequence[Vector]) -> npt.NDArray[np.int8]:
    sums = [[exact_product(X, k, v) for v in vectors] for k in range(X.shape[0])]
    return np.array([[(v > 0) - (v < 0) for v in line] for line in sums], dtype=np.int8)


def _summed_one_by_one(X: Any, groups: Array) -> list[list[Fraction]]:
    totals = [[Fraction(0)] * X.shape[1] for _ in range(groups.shape[1])]
    for k, mine in enumerate(groups.tolist()):
        for j, m, e in entries(X, k):
            for g, inside in enumerate(mine):
                if inside:
                    totals[g][j] += m * Fraction(2) ** e
    return totals
