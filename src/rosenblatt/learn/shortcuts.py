"""Shortcuts: when to keep margins up to date instead of computing them.

A shortcut changes no update, only what it costs to find it: the mathematics is beside
`kernels.follow`. With M updates a pass, a pass costs about n d multiplications plainly and
n M with the Gram matrix, which itself costs n n d once. So it is made when few enough
rows make mistakes and as much work was done as making it costs, and dropped when it stops
paying.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.problem import Problem
from rosenblatt.learn import kernels

Array = npt.NDArray[Any]

MOST_ROWS = 2048  # a matrix of at most 32 MiB
UPDATES_PER_ENTRY = 0.5  # updates a pass, for each entry of a row, up to which it pays
ALARMS_PER_VISIT = 0.25  # margins computed in vain, a visit, up to which it pays
BLAS = 8  # how many times faster than the plain loop a product of matrices is


def no_gram() -> kernels.Gram:
    """Margins are computed."""
    return kernels.Gram(np.empty((0, 0)), np.empty(0), np.empty(0), np.zeros(4))


def gram(X: Any, y: Array, intercept: bool) -> kernels.Gram:
    """Margins are kept, from the next visit on; not in use where numbers are too large."""
    X = X.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        products = (X @ X.T).toarray() if sp.issparse(X) else X @ X.T
    R = (1.0 + 1e-6) * np.sqrt(products.diagonal() + 1.0)
    if not R.max() < 1e140:
        return no_gram()
    G = (products + (1.0 if intercept else 0.0)) * (y / R)
    state = np.zeros(4)
    state[kernels.ALARMS] = np.inf  # nothing is known yet
    return kernels.Gram(np.ascontiguousarray(G), R, np.zeros(len(y)), state)


class Choice:
    """Whether margins are kept, judged by what the passes so far cost."""

    def __init__(self, problem: Problem, y: Array, intercept: bool, possible: bool) -> None:
        X = problem.X
        n, entries = X.shape[0], X.nnz if sp.issparse(X) else X.size
        self.X, self.y, self.intercept = X, y, intercept
        self.possible = possible and n <= MOST_ROWS
        self.most_updates = UPDATES_PER_ENTRY * entries / max(n, 1)
        self.gram = no_gram()
        self.passes, self.alarms = 0, 0.0

    def after(self, updates: Array) -> kernels.Gram:
        """Passes were made with so many updates each; what the next ones should use."""
        self.passes += len(updates)
        if not self.possible or len(updates) == 0:
            return self.gram
        few = float(updates.mean()) <= self.most_updates
        n = len(self.y)
        if not self.gram.q.size:
            if few and self.passes * BLAS >= n:
                self.gram = gram(self.X, self.y, self.intercept)
                self.possible = self.gram.q.size > 0
            return self.gram
        alarms = float(self.gram.state[kernels.ALL_ALARMS])
        vain, self.alarms = alarms - self.alarms, alarms
        if not few or vain > ALARMS_PER_VISIT * n * len(updates):
            self.gram, self.possible = no_gram(), False
        return self.gram
