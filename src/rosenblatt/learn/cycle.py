"""Cycle proofs: do the updates of one round sum to exactly zero?

Every float is an integer times a power of two, so the sum is taken over integers.
If sum_i c_i y_i (x_i, 1) = 0 with c_i > 0, no (w, b) has y_i (w.x_i + b) > 0 for all
of these rows: multiplying by c_i and adding would give 0 > 0 [Gordan].
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def cancels(
    X: Any, rows: npt.NDArray[np.int64], coefficients: npt.NDArray[np.float64], intercept: bool
) -> bool:
    """Whether there are rows, and sum_k coefficients[k] * (X[rows[k]], 1) is exactly zero.

    >>> cancels(np.array([[0.1], [0.2]]), np.array([0, 1]), np.array([2.0, -1.0]), False)
    True
    >>> cancels(np.array([[0.1], [0.3]]), np.array([0, 1]), np.array([3.0, -1.0]), False)
    False
    """
    import scipy.sparse as sp  # not needed for files and streams

    if not len(rows):
        return False
    part = X[rows]
    entries = part.tocoo() if sp.issparse(part) else sp.coo_array(part)
    who, column = entries.coords
    value = entries.data.astype(np.float64)
    if intercept:
        who = np.concatenate([who, np.arange(len(rows))])
        column = np.concatenate([column, np.full(len(rows), X.shape[1])])
        value = np.concatenate([value, np.ones(len(rows))])
    if value.size == 0:
        return True
    a, a_exponent = _integers(value)
    c, c_exponent = _integers(coefficients[who])
    exponent = a_exponent + c_exponent
    shift = exponent - exponent.min()
    sums: dict[int, int] = {}
    for j, p, q, s in zip(column.tolist(), a.tolist(), c.tolist(), shift.tolist(), strict=True):
        sums[j] = sums.get(j, 0) + ((p * q) << s)
    return not any(sums.values())


def _integers(values: npt.NDArray[np.float64]) -> tuple[Any, Any]:
    """values = integer * 2**exponent, exactly."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(mantissa, 53).astype(np.int64), exponent.astype(np.int64) - 53
