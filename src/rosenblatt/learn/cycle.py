"""Cycle proofs: do the updates of one round sum to exactly zero?

Every float is an integer times a power of two, so the sum is taken over integers.
If sum_i c_i y_i (x_i, 1) = 0 with c_i > 0, no (w, b) has y_i (w.x_i + b) > 0 for all
of these rows: multiplying by c_i and adding would give 0 > 0 [Gordan].
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data import exact


def cancels(
    X: Any, rows: npt.NDArray[np.int64], coefficients: npt.NDArray[np.float64], intercept: bool
) -> bool:
    """Whether there are rows, and sum_k coefficients[k] * (X[rows[k]], 1) is exactly zero.

    >>> cancels(np.array([[0.1], [0.2]]), np.array([0, 1]), np.array([2.0, -1.0]), False)
    True
    >>> cancels(np.array([[0.1], [0.3]]), np.array([0, 1]), np.array([3.0, -1.0]), False)
    False
    """
    if not len(rows):
        return False
    weights = coefficients.tolist()
    balanced = not intercept or exact.cancels(np.ones((len(rows), 1)), weights)
    return balanced and exact.cancels(X[rows], weights)
