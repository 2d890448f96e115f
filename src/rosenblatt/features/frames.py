"""Batches of table columns from frames of pandas, polars and others with named columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.column_batch import ColumnBatch, DateColumn, NumberColumn, TextColumn
from rosenblatt.data.problem import check_integers
from rosenblatt.errors import DataError, DataTypeError

Array = npt.NDArray[Any]


def batch_of_frame(
    frame: Any, kinds: Mapping[str, str] | None = None, missing: Collection[str] = ()
) -> ColumnBatch:
    """The columns of a frame.

    Parameters
    ----------
    frame : DataFrame
        Integers, floats, booleans, dates, texts, or any mixture of numbers, texts and None.
    kinds : mapping, optional
        "number", "category" or "date" for some columns; the others have the kind of their type.
    missing : collection of str
        Texts that mean that a value is missing, besides None and NaN.

    Returns
    -------
    ColumnBatch

    Raises
    ------
    DataError
        If this is no frame, has two columns of one name, or values of other types.
    """
    columns = getattr(frame, "columns", None)
    if columns is None or not hasattr(frame, "__getitem__"):
        raise DataTypeError(f"expected a frame with named columns, got a {type(frame).__name__}.")
    names = [str(name) for name in columns]
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise DataError(f"two columns are named {twice!r}. Give each its own name.")
    kinds = {} if kinds is None else kinds
    made = tuple(_column(str(name), frame[name], kinds.get(str(name)), missing) for name in columns)
    return ColumnBatch(tuple(names), made, None, len(frame))


def _column(
    name: str, series: Any, kind: str | None, missing: Collection[str]
) -> NumberColumn | TextColumn | DateColumn:
    values = np.asarray(series)
    if values.dtype.kind == "O" and getattr(getattr(series, "dtype", None), "kind", "") == "M":
        values = np.asarray(series.dt.tz_convert("UTC").dt.tz_localize(None))  # pandas, with a zone
    if values.dtype.kind == "M" and kind in (None, "date"):
        return DateColumn(values.astype("datetime64[us]"))
    if values.dtype.kind in "iuf" and kind in (None, "number"):
        check_integers(values, f"column {name!r}")
        return NumberColumn(_finite(name, values.astype(np.float64)))
    cells = [_cell(name, value, missing) for value in values.tolist()]
    numbers = all(isinstance(cell, float) for cell in cells if cell is not None)
    if kind == "number" or (kind is None and numbers and any(cell is not None for cell in cells)):
        floats = [cell if isinstance(cell, float) else np.nan for cell in cells]
        texts = [cell if isinstance(cell, str) else None for cell in cells]
        odd = None if all(text is None for text in texts) else _texts(texts)
        return NumberColumn(_finite(name, np.array(floats, np.float64)), odd)
    if kind == "date":
        return _dates(name, cells)
    return _texts([None if cell is None else _spelled(cell) for cell in cells])


def _cell(name: str, value: Any, missing: Collection[str]) -> float | str | None:
    """A cell as a number, a text, or None if it is missing."""
    if isinstance(value, str):
        return None if value in missing else value
    if _is_missing(value):
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | float | np.number):
        check_integers(np.array([value], object), f"column {name!r}")
        return float(value)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise DataTypeError(
        f"column {name!r} holds {value!r:.60}, a {type(value).__name__}. Give numbers, texts, "
        "dates and None."
    )


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT, and the NA of pandas, which has no truth value."""
    if value is None or type(value).__name__ == "NAType":
        return True
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return hasattr(value, "isoformat") and str(value) == "NaT"


def _spelled(cell: float | str) -> str:
    """A number as a category: whole ones without a fraction."""
    if isinstance(cell, str):
        return cell
    return str(int(cell)) if cell.is_integer() else repr(cell)


def _finite(name: str, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    if np.isinf(values).any():
        raise DataError(f"column {name!r} holds infinity. Replace it, or leave the row out.")
    return values


def _texts(cells: list[str | None]) -> TextColumn:
    numbers: dict[str, int] = {}
    codes = [-1 if cell is None else numbers.setdefault(cell, len(numbers)) for cell in cells]
    return TextColumn(np.array(codes, np.int32), tuple(numbers))


def _dates(name: str, cells: list[float | str | None]) -> DateColumn:
    dates: list[Any] = []
    texts: list[str | None] = []
    for cell in cells:
        try:
            dates.append(np.datetime64("NaT" if cell is None else str(cell), "us"))
            texts.append(None)
        except ValueError:
            dates.append(np.datetime64("NaT", "us"))
            texts.append(None if cell is None else _spelled(cell))
    odd = None if all(text is None for text in texts) else _texts(texts)
    return DateColumn(np.array(dates, "datetime64[us]"), odd)
