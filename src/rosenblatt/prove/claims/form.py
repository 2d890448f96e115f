"""Form: whether the fields of a result have their types, and its numbers a length to work with.

A result may come from anyone. Before anything is computed from it, every field is compared with
its type hint, and the length of its numbers with what a proof about these data can need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache
from math import lcm
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from rosenblatt.data.chunks import Part, Rows
from rosenblatt.prove.checking import limbs
from rosenblatt.prove.checking.blocks import as_float64

FREE_BITS = 10_000  # of a number that is never too long


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def misfit(result: Any) -> str | None:
    """The first field that is not of its type, in words; None if all are."""
    kind: Any = type(result)
    for name, value in _fields(result):
        found = _misfit(value, _hints(kind)[name], name)
        if found is not None:
            return found
    return None


def _fields(result: Any) -> list[tuple[str, Any]]:
    return [(f.name, getattr(result, f.name)) for f in fields(result)]


def _misfit(value: Any, hint: Any, name: str) -> str | None:
    if isinstance(hint, UnionType):
        return None if any(_misfit(value, h, name) is None for h in get_args(hint)) else _no(name)
    kinds = get_args(hint)
    if get_origin(hint) is tuple:
        if not isinstance(value, tuple):
            return _no(name)
        if len(kinds) == 2 and kinds[1] is Ellipsis:
            kinds = (kinds[0],) * len(value)
        if len(value) != len(kinds):
            return _no(name)
        pairs = zip(value, kinds, strict=True)
        return next((bad for v, h in pairs if (bad := _misfit(v, h, name)) is not None), None)
    if isinstance(hint, type) and is_dataclass(hint):
        found = misfit(value) if isinstance(value, hint) else ""
        return None if found is None else f"{name}: {found}" if found else _no(name)
    if hint in (int, bool, str, NoneType):
        return None if type(value) is hint else _no(name)
    return None if isinstance(value, hint) else _no(name)


def _no(name: str) -> str:
    return f"the field {name} is not of its type"


# ---------------------------------------------------------------------- the length of numbers


def too_long(result: Any, rows: Rows, max_bits: int | None = None) -> str | None:
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


def _entry_bits(rows: Rows) -> int:
    """From the highest bit of the largest entry to the lowest bit of all."""
    ends = [found for found in rows.each(_part_range) if found is not None]
    if not ends:
        return 1
    return int(max(high for _, high in ends) - min(low for low, _ in ends))


def _part_range(part: Part) -> tuple[int, int] | None:
    return limbs.bit_range(limbs.values(as_float64(part.X)))


def indices(at: Sequence[int], below: int) -> bool:
    """Whether they are different, and numbers from 0 to `below`, which is excluded."""
    return len(set(at)) == len(at) and all(0 <= i < below for i in at)
