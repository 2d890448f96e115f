"""Limbs: exact signs of floats times long integers, for many rows at once.

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
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.exact import MANTISSA, bit_range, exact_dot

Array = npt.NDArray[Any]
Vector = Mapping[int, int]  # column -> entry; other entries are 0
MOST_BITS = 900  # between the largest and the smallest bit: powers of two stay in range
TOGETHER = 1 << 20  # numbers, or limbs of sums, held at once
IN_CACHE = 1 << 17  # numbers: 1 MiB, which stays in the cache while it is looked at twice


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


def orthogonal(X: Any, vectors: Sequence[Vector]) -> npt.NDArray[np.bool_]:
    """Which rows of X are orthogonal to every vector, exactly."""
    longest = max((abs(c).bit_length() for v in vectors for c in v.values()), default=1)
    step = max(1, TOGETHER // (X.shape[1] * (1 + longest // 16)))
    found = np.ones(X.shape[0], dtype=bool)
    for k in range(0, len(vectors), step):
        found &= ~product_signs(X, *vectors[k : k + step]).any(axis=1)
    return found


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


def slices(X: Any, numbers: int) -> Iterator[tuple[int, Any]]:
    """(first row, some rows of X as float64), about so many numbers at a time."""
    n, size = X.shape[0], X.nnz if sp.issparse(X) else X.size
    step = max(1, n * numbers // max(size, 1))
    for low in range(0, n, step):
        yield low, as_float64(X[low : low + step] if step < n else X)


def as_float64(X: Any) -> Any:
    """The same numbers as float64, an array or CSR; float32 and integers are converted exactly."""
    if sp.issparse(X):
        return sp.csr_array(X, dtype=np.float64)
    return np.asarray(X, dtype=np.float64)


def with_ones(X: Any) -> Any:
    """With a last column of ones, for the offset."""
    ones = np.ones((X.shape[0], 1))
    return sp.hstack([X, ones], format="csr") if sp.issparse(X) else np.hstack([X, ones])


def values(X: Any) -> Array:
    """The entries, stored zeros included."""
    return np.asarray(X.data if sp.issparse(X) else X)


def row_length(X: Any) -> int:
    """At most so many entries of a row are not zero."""
    return int(np.diff(X.indptr).max(initial=1)) if sp.issparse(X) else int(X.shape[1])


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


def _one_by_one(X: Any, vectors: Sequence[Vector]) -> npt.NDArray[np.int8]:
    sums = [[exact_dot(X, k, v) for v in vectors] for k in range(X.shape[0])]
    return np.array([[(v > 0) - (v < 0) for v in line] for line in sums], dtype=np.int8)
