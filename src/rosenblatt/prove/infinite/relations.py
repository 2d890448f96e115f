"""Relations: columns that are exact combinations of others, checked on every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.cone import Cone, ConeBlock
from rosenblatt.prove.infinite.residues import split

Array = npt.NDArray[Any]
Terms = tuple[tuple[int, Fraction], ...]  # entries other than 0 of a vector: column, value


def well_formed(terms: Terms, columns: set[int]) -> bool:
    """Whether every term names another of the columns, and no value is 0."""
    named = [j for j, _ in terms]
    return len(set(named)) == len(named) and set(named) <= columns and all(v for _, v in terms)


@dataclass(frozen=True)
class Relation:
    """On every row, `column` is exactly the sum of value * column over the terms."""

    column: int
    terms: Terms


def broken(
    rows: Cone, relations: Sequence[Relation], intercept: bool, most: int = 20
) -> list[npt.NDArray[np.int64]]:
    """For every relation, some rows on which it does not hold, exactly; none if it holds."""
    if not relations:
        return []
    parts = zip(*rows.map(_broken_in, tuple(relations), intercept, most), strict=True)
    return [np.concatenate(found)[:most] for found in parts]


def _broken_in(
    part: ConeBlock, relations: Sequence[Relation], intercept: bool, most: int
) -> list[npt.NDArray[np.int64]]:
    """The same for the rows of a part."""
    X = sp.csc_array(part.X) if sp.issparse(part.X) else part.X

    def column(j: int) -> Array:
        if j == X.shape[1] and intercept:
            return np.ones(X.shape[0])
        values = X[:, [j]].toarray().ravel() if sp.issparse(X) else X[:, j]
        return np.asarray(values, dtype=np.float64)

    found = []
    for relation in relations:
        values = np.stack([column(j) for j, _ in _joined(relation)], axis=1)
        off = _not_zero(values, [c for _, c in _joined(relation)])
        found.append(part.first_row + off[:most])
    return found


def _joined(relation: Relation) -> Terms:
    return (*relation.terms, (relation.column, Fraction(-1)))


def _not_zero(values: Array, factors: Sequence[Fraction]) -> npt.NDArray[np.int64]:
    """Rows k of the values with sum_j values[k, j] factors[j] != 0, exactly."""
    if len(factors) == 1:
        return np.flatnonzero(values[:, 0])
    if len(factors) == 2 and _is_power_of_two(ratio := -factors[0] / factors[1]):
        m, e = split(values)  # a multiple of the other column: same digits, shifted
        shift = ratio.numerator.bit_length() - ratio.denominator.bit_length()
        same = (m[:, 0] == m[:, 1]) & ((e[:, 0] + shift == e[:, 1]) | (m[:, 0] == 0))
        return np.flatnonzero(~same)
    common = lcm(*(f.denominator for f in factors))
    integers = [int(f * common) for f in factors]
    with np.errstate(all="ignore"):
        size = np.abs(values) @ np.array([float(min(abs(f), 2**60)) for f in integers])
    if np.all(size < 2.0**52) and np.array_equal(values, np.floor(values)):
        return np.flatnonzero(values @ np.array(integers, dtype=np.float64))
    different, where = np.unique(values, axis=0, return_inverse=True)
    wrong = [
        any(row) and bool(sum(Fraction(v) * f for v, f in zip(row, integers, strict=True)))
        for row in different.tolist()
    ]
    return np.flatnonzero(np.array(wrong)[where.ravel()])


def _is_power_of_two(v: Fraction) -> bool:
    return v > 0 and v.numerator & (v.numerator - 1) == 0 == v.denominator & (v.denominator - 1)
