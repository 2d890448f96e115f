"""Batches of table columns from frames, Arrow tables, dicts of columns and lists of dicts."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.matrix import check_integers, refuse_lazy
from rosenblatt.data.source import NUMBER
from rosenblatt.errors import DataError, DataTypeError, ParameterError
from rosenblatt.features.column_batch import (
    DROP,
    ColumnBatch,
    DateColumn,
    NumberColumn,
    TextColumn,
    check_kinds,
)
from rosenblatt.features.dates import dates_of
from rosenblatt.text import repeated, spelled

Array = npt.NDArray[Any]
Cell = float | str | None


def batch_of_frame(
    frame: Any,
    kinds: Mapping[str, str] | None = None,
    missing: Collection[str] = (),
    only: Collection[str] | None = None,
) -> ColumnBatch:
    """The columns of a frame, an Arrow table, or a dict of columns.

    Parameters
    ----------
    frame : DataFrame, Table, RecordBatch or mapping
        Integers, floats, booleans, dates, times, texts, or any mixture of numbers, texts and None.
    kinds : mapping, optional
        "number", "category" or "date" for some columns; the others have the kind of their type.
        Columns of the kind "drop" are left out.
    missing : collection of str
        Texts that mean that a value is missing, besides None and NaN.
    only : collection of str, optional
        Names of columns; the others are left out.

    Returns
    -------
    ColumnBatch

    Raises
    ------
    DataError
        If this is no frame, has two columns of one name, or values of other types.
    """
    kinds = {} if kinds is None else kinds
    columns = [(n, v) for n, v in _columns(frame) if only is None or str(n) in only]
    names = [str(name) for name, _ in columns]
    if (twice := repeated(names)) is not None:
        raise DataError(f"two columns are named {twice!r}. Give each its own name.")
    unknown = [name for name in kinds if name not in names and only is None]
    if unknown:
        raise ParameterError(f"there is no column {unknown[0]!r}; there are {names[:20]}.")
    check_kinds(kinds)
    made = {
        name: _column(name, values, kinds.get(name), missing)
        for name, (_, values) in zip(names, columns, strict=True)
        if kinds.get(name) != DROP
    }
    lengths = {name: len(_codes_or_values(column)) for name, column in made.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"columns of different lengths: {lengths}. Give one value per row.")
    return ColumnBatch(tuple(made), tuple(made.values()), next(iter(lengths.values()), 0))


def is_table(data: Any) -> bool:
    """Whether `data` has columns with names: a frame, an Arrow table, or a dict of columns."""
    return isinstance(data, Mapping) or hasattr(data, "schema") or hasattr(data, "columns")


PLAIN = re.compile(r"Sparse.*|(u?int|float|halffloat|double|bool)\d*(ean)?", re.IGNORECASE)


def has_only_numbers(data: Any) -> bool:
    """Whether all columns are of numbers, or of booleans."""
    types = getattr(getattr(data, "schema", None), "types", None) or getattr(data, "dtypes", None)
    if types is not None and all(PLAIN.fullmatch(str(type)) for type in types):
        return True
    columns = batch_of_frame(data).columns  # objects may be numbers
    return all(isinstance(c, NumberColumn) and not np.isnan(c.values).any() for c in columns)


def _columns(frame: Any) -> list[tuple[Any, Any]]:
    """Names and values of columns."""
    refuse_lazy(frame)
    if isinstance(frame, Mapping):
        return list(frame.items())
    names = getattr(frame, "columns", None)
    if hasattr(frame, "schema") and hasattr(frame.schema, "names") and hasattr(frame, "column"):
        return list(zip(frame.schema.names, map(frame.column, range(frame.num_columns))))  # noqa: B905
    if names is None or not hasattr(frame, "__getitem__"):
        raise DataTypeError(f"expected a frame with named columns, got a {type(frame).__name__}.")
    if hasattr(frame, "iloc"):
        return [(name, frame.iloc[:, k]) for k, name in enumerate(names)]
    return [(name, frame[name]) for name in names]


def _codes_or_values(column: NumberColumn | TextColumn | DateColumn) -> Array:
    return column.codes if isinstance(column, TextColumn) else column.values


def _column(
    name: str, series: Any, kind: str | None, missing: Collection[str]
) -> NumberColumn | TextColumn | DateColumn:
    # a list of numbers and texts must not become one of texts
    values = np.array(series, object) if isinstance(series, list | tuple) else np.asarray(series)
    if values.ndim != 1:
        raise DataTypeError(f"column {name!r} holds lists. Give one value per row.")
    if str(getattr(series, "dtype", "")) == "category":
        kind = kind or "category"
    if values.dtype.kind == "O" and getattr(getattr(series, "dtype", None), "kind", "") == "M":
        values = np.asarray(series.dt.tz_convert("UTC").dt.tz_localize(None))  # pandas, with a zone
    if values.dtype.kind == "M" and kind in (None, "date"):
        return DateColumn(values.astype("datetime64[us]"))
    if values.dtype.kind == "m" and kind in (None, "number"):
        seconds = values.astype("timedelta64[us]").astype(np.float64) / 1e6
        return NumberColumn(np.where(np.isnat(values), np.nan, seconds))
    if values.dtype.kind in "iuf" and kind in (None, "number"):
        check_integers(values, f"column {name!r}")
        return NumberColumn(_finite(name, values.astype(np.float64)))
    given = [value for value in values.tolist() if not _is_missing(value)]
    if kind is None and given and all(hasattr(v, "year") for v in given):
        kind = "date"
    cells = [_cell(name, value, missing) for value in values.tolist()]
    if kind == "number":
        cells = [float(c) if isinstance(c, str) and NUMBER.fullmatch(c) else c for c in cells]
    numbers = all(isinstance(cell, float) for cell in cells if cell is not None)
    if kind == "number" or (kind is None and numbers and any(cell is not None for cell in cells)):
        floats = [cell if isinstance(cell, float) else np.nan for cell in cells]
        texts = [cell if isinstance(cell, str) else None for cell in cells]
        odd = None if all(text is None for text in texts) else _texts(texts)
        return NumberColumn(_finite(name, np.array(floats, np.float64)), odd)
    column = _texts([None if cell is None else spelled(cell) for cell in cells])
    return dates_of(column) if kind == "date" else column


def _cell(name: str, value: Any, missing: Collection[str]) -> Cell:
    """A cell as a number, a text, or None if it is missing."""
    if isinstance(value, str):
        return None if value in missing else value
    if _is_missing(value):
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | float | np.number | Decimal):
        check_integers(np.array([value], object), f"column {name!r}")
        return float(value)
    if isinstance(value, time):
        return value.hour * 3600.0 + value.minute * 60 + value.second + value.microsecond / 1e6
    if isinstance(value, timedelta):
        return value.total_seconds()
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise DataTypeError(
        f"column {name!r} holds {value!r:.60}, a {type(value).__name__}. Give numbers, texts, "
        "dates and None, or drop the column."
    )


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT, and the NA of pandas, which has no truth value."""
    if value is None or type(value).__name__ == "NAType":
        return True
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return hasattr(value, "isoformat") and str(value) == "NaT"


def _finite(name: str, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    if np.isinf(values).any():
        raise DataError(f"column {name!r} holds infinity. Replace it, or leave the row out.")
    return values


def _texts(cells: list[str | None]) -> TextColumn:
    numbers: dict[str, int] = {}
    codes = [-1 if cell is None else numbers.setdefault(cell, len(numbers)) for cell in cells]
    return TextColumn(np.array(codes, np.int32), tuple(numbers))
