"""Combination: whether positive weights on rows cancel, exactly, and the point they meet in."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from rosenblatt.data.cone import Cone
from rosenblatt.data.exact import common_integers, entries
from rosenblatt.prove.checker import limbs
from rosenblatt.prove.checker.limbs import as_float64

Number = float | Fraction


def cancels(rows: Cone, at: Sequence[int], weights: Sequence[Number], intercept: bool) -> bool:
    """Whether the weights are positive, one per row `at`, and sum_i weight_i z_i = 0 exactly."""
    if len(at) != len(weights) or len(set(at)) != len(at) or not at:
        return False
    if any(not isinstance(i, int) or not 0 <= i < rows.n_rows for i in at):
        return False
    if not all(is_number(c) and c > 0 for c in weights):
        return False
    part = rows.take(at)
    signed = [int(y) * c for y, c in zip(part.sign, common_integers(weights), strict=True)]
    if intercept and sum(signed) != 0:
        return False
    columns = as_float64(part.X).T
    columns = sp.csr_array(columns) if sp.issparse(columns) else columns
    return limbs.orthogonal(columns, [dict(enumerate(signed))])


def labels(rows: Cone, at: Sequence[int]) -> tuple[int, ...]:
    """-1 or +1 for some rows."""
    return tuple(int(v) for v in rows.take(at).sign)


def common_point(rows: Cone, at: Sequence[int], weights: Sequence[Number]) -> tuple[Fraction, ...]:
    """The mean, under the weights, of those of the rows that have label +1."""
    part = rows.take(at)
    X = as_float64(part.X)
    mine = [(k, Fraction(c)) for k, c in enumerate(weights) if part.sign[k] > 0]
    sums = [Fraction(0)] * rows.n_features
    for k, c in mine:
        for j, m, e in entries(X, k):
            sums[j] += c * m * Fraction(2) ** e
    total = sum(c for _, c in mine)
    return tuple(v / total for v in sums)


def is_number(value: Number) -> bool:
    """Whether it is a rational number: no NaN, no infinity."""
    return isinstance(value, (int, Fraction)) or bool(np.isfinite(value))
