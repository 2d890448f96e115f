"""Limits: how long a search may take and how long its numbers may be."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from rosenblatt.data.cone import check_system
from rosenblatt.errors import ParameterError, UndecidedError


@dataclass
class Limits:
    """How long a search may take and how long its numbers may be; where it stands."""

    deadline: float
    max_seconds: float | None
    max_bits: int | None
    stage: str = "before the first pass"

    @classmethod
    def starting_now(cls, max_seconds: float | None, max_bits: int | None) -> Limits:
        if max_seconds is not None and not (_is_real(max_seconds) and max_seconds >= 0):
            raise ParameterError(f"max_seconds must be a number >= 0 or None, got {max_seconds!r}.")
        if max_bits is not None and not (_is_real(max_bits) and max_bits >= 1):
            raise ParameterError(f"max_bits must be a number >= 1 or None, got {max_bits!r}.")
        end = np.inf if max_seconds is None else time.time() + max_seconds
        return cls(end, max_seconds, max_bits)

    @property
    def seconds_left(self) -> float | None:
        return None if self.max_seconds is None else max(self.deadline - time.time(), 0.0)

    def check_time(self) -> None:
        if time.time() > self.deadline:
            raise UndecidedError(
                f"no verdict within {self.max_seconds:g} s: stopped {self.stage}. Give more time."
            )

    def check_system(self, n: int, bits: int) -> None:
        """Raise if an exact linear system of n equations would take longer than the time left."""
        check_system(self.deadline, n, bits)

    def check_bits(self, values: Sequence[Fraction]) -> None:
        bits = max(
            (f.numerator.bit_length() + f.denominator.bit_length() for f in values), default=0
        )
        if self.max_bits is not None and bits > self.max_bits:
            raise UndecidedError(
                f"a proof needs rationals of {bits} bits, more than max_bits={self.max_bits}: "
                f"stopped {self.stage}."
            )


UNLIMITED = Limits(np.inf, None, None)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
