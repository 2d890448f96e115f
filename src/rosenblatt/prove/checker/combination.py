"""Combination: whether weights on rows cancel, exactly, and the point they meet in."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import scipy.sparse as sp

from rosenblatt.data.cone import Cone
from rosenblatt.data.exact import common_integers, entries
from rosenblatt.prove.checker import limbs
from rosenblatt.prove.checker.limbs import as_float64
from rosenblatt.prove.checker.signs import is_number

Number = float | Fraction


def cancels(rows: Cone, at: Sequence[int], weights: Sequence[Number], intercept: bool) -> bool:
    """Whether there is one weight per row `at`, positive, and sum_i weight_i z_i = 0 exactly.

    Rows of equality may have any weight.
    """
    if len(at) != len(weights) or len(set(at)) != len(at) or not at:
        return False
    if any(not isinstance(i, int) or not 0 <= i < rows.n_rows for i in at):
        return False
    if not all(is_number(c) for c in weights):
        return False
    part = rows.take(at)
    if any(c <= 0 and label for c, label in zip(weights, part.label.tolist(), strict=True)):
        return False
    signed = [int(y) * c for y, c in zip(part.sign, common_integers(weights), strict=True)]
    if intercept and sum(signed) != 0:
        return False
    columns = as_float64(part.X).T
    columns = sp.csr_array(columns) if sp.issparse(columns) else columns
    return bool(limbs.orthogonal(columns, [dict(enumerate(signed))]).all())


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
