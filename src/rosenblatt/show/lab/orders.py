"""Orders: which rows a schedule visits, one after another, as the compiled loops do.

A shuffled pass restarts Fisher-Yates from the same seed on the last permutation, so every pass
applies the same rearrangement s: p_k = p_(k-1)[s]. Draws with replacement go on where the last
pass ended. Both generators are those of :mod:`rosenblatt.learn.reference`.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.learn import reference

Array = npt.NDArray[Any]


def visited(kind: str, n: int, seed: int, visits: int) -> Array:
    """The rows of the first so many visits.

    >>> visited("order", 3, 0, 5).tolist()
    [0, 1, 2, 0, 1]
    """
    passes = -(-visits // n)
    if kind == "sample":
        drawn = chain.from_iterable(islice(reference.sampled(n, seed), passes))
        return np.fromiter(drawn, dtype=np.int32, count=passes * n)[:visits]
    rows = np.empty((passes, n), dtype=np.int32)
    rows[:] = np.arange(n, dtype=np.int32)
    if kind == "shuffle" and passes:
        again = np.array(next(reference.shuffled(n, seed)))
        now = rows[0]
        for p in range(passes):
            now = now[again]
            rows[p] = now
    return rows.reshape(-1)[:visits]
