"""Sketch: dense rows rounded to 16 bits, and when to look at them instead of the rows.

A sketch changes no update, only what it costs to find it: the mathematics is beside `sift` in
kernels/sketches.py. Making one costs MAKING passes or so, so it is made when as many were made
and more are to come. It pays where rows do not stay in the cache and few must be looked at
themselves: a row that is looked at costs more than before, as it is no longer read ahead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.learn import kernels

Array = npt.NDArray[Any]

SMALLEST = 2**23  # bytes of rows below which they stay in the cache
SHORTEST, LONGEST = 64, 2**15  # features: below, arithmetic costs more than reading
MAKING = 2  # passes that making a sketch costs
IN_ORDER, SHUFFLED = 0.02, 0.1  # rows looked at, a visit, up to which it pays
PAD = 16  # columns come in so many, which keeps vectors full


def no_sketch() -> kernels.Sketch:
    """Rows are looked at themselves."""
    return _empty(0, 0)


def _empty(n: int, d: int) -> kernels.Sketch:
    short, scale = np.zeros((n, d), dtype=np.int16), np.zeros(n, dtype=np.float32)
    return kernels.Sketch(short, scale, np.zeros(d, dtype=np.float32), np.zeros(3))


def sketch(X: Array) -> kernels.Sketch:
    """Round the rows."""
    n, d = X.shape
    made = _empty(n, -(-d // PAD) * PAD)
    kernels.draw(X, X.view(np.int64 if X.itemsize == 8 else np.int32), made)
    return made


class Sketching:
    """Whether a sketch is used, judged by what the passes so far needed."""

    def __init__(self, rows: Any, in_order: bool, possible: bool, max_iter: int) -> None:
        self.rows, self.left, self.passes, self.vain = rows, max_iter, 0, 0.0
        self.most = IN_ORDER if in_order else SHUFFLED
        self.possible = (
            possible
            and isinstance(rows, kernels.Dense)
            and rows.X.nbytes >= SMALLEST
            and SHORTEST <= rows.X.shape[1] <= LONGEST
        )
        self.sketch = no_sketch()

    def after(self, updates: Array) -> kernels.Sketch:
        """Passes were made with so many updates each; what the next ones should use."""
        self.passes += len(updates)
        self.left -= len(updates)
        if not self.possible or len(updates) == 0:
            return self.sketch
        # the last pass counts: mistakes become fewer
        looked, visits = float(updates[-1]), len(self.rows.X)
        used = self.sketch.scale.size > 0
        if used:
            vain = float(self.sketch.state[kernels.VAIN])
            looked, self.vain = looked + (vain - self.vain) / len(updates), vain
        pays = looked <= self.most * visits
        if used and not pays:
            self.sketch, self.possible = no_sketch(), False
        if not used and pays and self.passes >= MAKING and self.left > 2 * MAKING:
            self.sketch = sketch(self.rows.X)
        return self.sketch
