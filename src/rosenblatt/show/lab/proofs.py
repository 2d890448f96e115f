"""Proofs: what is true of the points, remembered for a while.

The verdict and every run on the same points ask for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import RosenblattError
from rosenblatt.prove.certificate import Certificate, Separable
from rosenblatt.prove.certificate.margin import MaxMargin
from rosenblatt.prove.margin import max_margin
from rosenblatt.prove.separability import separability
from rosenblatt.show.lab import limits

Array = npt.NDArray[Any]
REMEMBERED = 128


def certificate(X: Array, y: Array, offset: bool) -> Certificate:
    """Whether a line separates the points of two classes, with its proof."""
    return _certificate(X.tobytes(), y.astype(np.int8).tobytes(), offset)


def widest(X: Array, y: Array, offset: bool, augmented: bool) -> MaxMargin | None:
    """The line of largest margin, the offset counted in the norm or not; None if there is none."""
    return _widest(X.tobytes(), y.astype(np.int8).tobytes(), offset, augmented)


@lru_cache(REMEMBERED)
def _certificate(X: bytes, y: bytes, offset: bool) -> Certificate:
    return separability(*_points(X, y), fit_intercept=offset, max_seconds=limits.SECONDS)


@lru_cache(REMEMBERED)
def _widest(X: bytes, y: bytes, offset: bool, augmented: bool) -> MaxMargin | None:
    try:
        if not isinstance(_certificate(X, y, offset), Separable):
            return None
        found = max_margin(
            *_points(X, y),
            fit_intercept=offset,
            augmented=augmented,
            max_seconds=limits.SECONDS,
        )
    except RosenblattError:  # undecided in the time there is
        return None
    return found if found.lower > 0 else None


def _points(X: bytes, y: bytes) -> tuple[Array, Array]:
    return np.frombuffer(X).reshape(-1, 2), np.frombuffer(y, dtype=np.int8)


def scaled(w: Iterable[Any], b: Any) -> list[float]:
    """w and then b as floats, the largest 1: rationals may be beyond the range of floats."""
    values = [Fraction(v) for v in (*w, b)]
    size = max(map(abs, values)) or Fraction(1)
    return [float(v / size) for v in values]
