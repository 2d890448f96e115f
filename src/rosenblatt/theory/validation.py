"""Validate what people type: numbers, the weights and offset of a hyperplane."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.errors import DataError
from rosenblatt.text import plural

Array = npt.NDArray[Any]


def as_numbers(values: Any, name: str) -> Array:
    """A new array of finite floats, of the shape that was given."""
    try:
        found = np.array(values.toarray() if sp.issparse(values) else values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as e:
        raise DataError(f"{name} is not made of numbers: {e}.") from e
    if not np.isfinite(found).all():
        raise DataError(f"{name} holds NaN or infinity. Give finite numbers.")
    return found


def as_number(value: Any, name: str) -> float:
    """One finite number; also an array of one, as `intercept_` is."""
    found = as_numbers(value, name)
    if found.size != 1:
        raise DataError(f"{name} must be one number, got {found.tolist()}.")
    return float(found.reshape(-1)[0])


def as_plane(w: Any, b: Any, d: int, names: tuple[str, str] = ("w", "b")) -> tuple[Array, float]:
    """Weights of length d and an offset; also as an estimator has them, (1, d) and (1,)."""
    weights = as_numbers(w, names[0])
    if weights.size != d:
        raise DataError(f"{names[0]} must be {plural(d, 'number')}, got {weights.size}.")
    return weights.reshape(-1), as_number(b, names[1])
