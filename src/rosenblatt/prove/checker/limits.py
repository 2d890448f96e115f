"""Limits: whether the numbers of a result are of a length that these data can need.

A result may come from anyone, and longer numbers take longer to check.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from rosenblatt.data.cone import Cone, ConeBlock
from rosenblatt.data.exact import bit_range
from rosenblatt.prove.checker.limbs import as_float64, values

FREE_BITS = 10_000  # of a number that is never too long


def too_long(result: Any, rows: Cone, max_bits: int | None = None) -> str | None:
    """Whether numbers are longer than `max_bits`, in words.

    By default they may have 4 (p + 1) (e + 10) + 10,000 bits, p being the number of columns with
    the offset and e the bits of an entry as a multiple of the smallest power of two in the data:
    by Hadamard's inequality, twice the length of a quotient of two determinants of the rows.
    """
    groups = list(_groups(result))
    limit = FREE_BITS if max_bits is None else max_bits
    if not any(_longer(group, limit) for group in groups):
        return None
    if max_bits is None:
        limit += 4 * (rows.n_features + 2) * (_entry_bits(rows) + 10)
        if not any(_longer(group, limit) for group in groups):
            return None
    return (
        f"its numbers have more than {limit} bits, too many to check; give max_bits to allow more"
    )


def _groups(value: Any) -> Iterator[list[Fraction]]:
    """Numbers that are brought to a common denominator: of a tuple, of one field of many."""
    singles: dict[str, list[Fraction]] = {}

    def walk(value: Any, path: str) -> Iterator[list[Fraction]]:
        if is_dataclass(value):
            for f in fields(value):
                yield from walk(getattr(value, f.name), f"{path}.{f.name}")
        elif isinstance(value, Fraction):
            singles.setdefault(path, []).append(value)
        elif isinstance(value, tuple):
            if value and all(isinstance(v, (float, Fraction)) for v in value):
                yield [v for v in value if isinstance(v, Fraction)]
            else:
                for v in value:
                    yield from walk(v, path)

    yield from walk(value, "")
    yield from singles.values()


def _longer(values: Sequence[Fraction], limit: int) -> bool:
    """Whether they have more bits than that over their common denominator."""
    common = 1
    for q in {v.denominator for v in values}:
        if q.bit_length() > limit:
            return True
        common = lcm(common, q)
        if common.bit_length() > limit:
            return True
    longest = max((v.numerator.bit_length() for v in values), default=0)
    return longest + common.bit_length() > limit


def _entry_bits(rows: Cone) -> int:
    """From the highest bit of the largest entry to the lowest bit of all."""
    ends = [found for found in rows.map(_part_range) if found is not None]
    if not ends:
        return 1
    return int(max(high for _, high in ends) - min(low for low, _ in ends))


def _part_range(part: ConeBlock) -> tuple[int, int] | None:
    return bit_range(values(as_float64(part.X)))


def indices(at: Sequence[int], below: int) -> bool:
    """Whether they are different, and numbers from 0 to `below`, which is excluded."""
    return len(set(at)) == len(at) and all(0 <= i < below for i in at)
