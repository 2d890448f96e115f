"""Shortcuts: when to keep margins up to date instead of computing them.

A shortcut changes no update, only what it costs to find it: the mathematics is beside `follow`
in kernels/kept_margins.py. With M updates a pass, a pass costs about n d multiplications plainly
and n M with the Gram matrix, which itself costs n n (d / BLAS + MEMORY) once. So it is made when
few enough rows make mistakes and as much work was done as making it costs, and dropped when it
stops paying.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.problem import Problem
from rosenblatt.learn import kernels

Array = npt.NDArray[Any]

MOST_ROWS = 2048  # two matrices of at most 16 MiB
UPDATES_PER_ENTRY = 0.3  # updates a pass, for each entry of a row, up to which it pays
ALARMS_PER_VISIT = 0.25  # margins computed in vain, a visit, up to which it pays
BLAS = 8  # how many times faster than the plain loop a product of matrices is
WORTH_COMPILING = 0.25  # seconds a run must last before it is compiled, or loaded
MEMORY = 60  # multiplications of the plain loop that one new entry of a matrix costs


NO_GRAM = None  # margins are computed


def gram(X: Any, y: Array, intercept: bool) -> kernels.Gram | None:
    """Margins are kept, from the next visit on; not in use where numbers are too large."""
    X = X.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        products = (X @ X.T).toarray() if sp.issparse(X) else X @ X.T
    R = (1.0 + 1e-6) * np.sqrt(products.diagonal() + 1.0)
    if not R.max() < kernels.LARGEST:
        return NO_GRAM
    products += 1.0 if intercept else 0.0
    products *= y / R
    n = len(y)
    blocks = -(-n // kernels.LANES)
    wide = blocks * kernels.LANES
    state = np.zeros(14)
    state[kernels.ALARMS] = np.inf  # nothing is known yet
    return kernels.Gram(
        products.astype(np.float32),
        R,
        np.full(wide + 1, n),
        _aligned(wide),
        _aligned(n * wide),
        np.zeros(blocks + 1, np.uint32),
        np.zeros(n, np.int64),
        np.zeros(n),
        np.zeros(n),
        state,
    )


def _aligned(n: int) -> Array:
    """n zeros that begin where a line of the cache begins."""
    room = np.zeros(n + 16, np.float32)
    first = -room.ctypes.data // 4 % 16
    return room[first : first + n]


class Choice:
    """Whether margins are kept, judged by what the passes so far cost."""

    def __init__(self, problem: Problem, y: Array, intercept: bool, possible: bool) -> None:
        self.X, self.y, self.intercept = problem.X, y, intercept
        self.possible = possible and len(y) <= MOST_ROWS
        self.gram: kernels.Gram | None = NO_GRAM
        self.passes, self.alarms = 0, 0.0

    def after(self, updates: Array, seconds: float, ready: bool) -> kernels.Gram | None:
        """Passes were made with so many updates each; what the next ones should use.

        seconds: how long the run took so far; ready: nothing has to be compiled.
        """
        n = len(self.y)
        self.passes += len(updates)
        if not self.possible or len(updates) == 0 or (seconds < WORTH_COMPILING and not ready):
            return self.gram
        width = max(1.0, (self.X.nnz if sp.issparse(self.X) else self.X.size) / n)
        if self.passes * width < n * (width / BLAS + MEMORY):
            return self.gram
        few = updates.sum() / len(updates) <= UPDATES_PER_ENTRY * width
        if self.gram is NO_GRAM:
            if few:
                self.gram = gram(self.X, self.y, self.intercept)
                self.possible = self.gram is not NO_GRAM
            return self.gram
        alarms = float(self.gram.state[kernels.ALL_ALARMS])
        vain, self.alarms = alarms - self.alarms, alarms
        if not few or vain > ALARMS_PER_VISIT * n * len(updates):
            self.gram, self.possible = NO_GRAM, False
        return self.gram
