"""Hashing: any number of named features in a fixed number of columns."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rosenblatt.errors import DataTypeError, ParameterError


@dataclass(frozen=True)
class Hashing:
    """Turns a row of named features into one of numbered columns, with constant memory.

    The column of a name is its CRC-32 modulo 2**bits, the same in every process. Names that meet in
    a column add up; half of them (by another bit of the checksum) count negatively, so that they
    rather cancel than pile up. Two names meet with probability 2**-bits.

    Parameters
    ----------
    bits : int, default=18
        There are 2**bits columns, from 1 to 30 bits.

    Examples
    --------
    >>> hashed = Hashing(bits=10)
    >>> hashed({"cheap": 1, "pills": 2})
    {893: -1.0, 306: 2.0}
    """

    bits: int = 18

    def __post_init__(self) -> None:
        if isinstance(self.bits, bool) or not isinstance(self.bits, int):
            raise ParameterError(f"bits must be a whole number from 1 to 30, got {self.bits!r}.")
        if not 1 <= self.bits <= 30:
            raise ParameterError(f"bits must be from 1 to 30, got {self.bits}.")

    def __call__(self, row: Mapping[str, Any]) -> dict[int, float]:
        """A row for `learn_one`, `predict_one` or, in a list, `learn_many`."""
        if not isinstance(row, Mapping):
            raise DataTypeError(
                f"A row to hash is a dict of names and values, got a {type(row).__name__}. "
                "For a list of words use dict.fromkeys(words, 1)."
            )
        columns: dict[int, float] = {}
        mask, crc32 = (1 << self.bits) - 1, zlib.crc32
        for name, value in row.items():
            code = crc32(str(name).encode())
            signed = -value if code >> 31 else value
            columns[code & mask] = columns.get(code & mask, 0.0) + signed
        return columns
