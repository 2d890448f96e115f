"""Arrow: frames as Arrow tables, and Arrow columns as arrays of numpy.

`to_numpy` of pyarrow would import pandas where it is installed, which takes half a second; dlpack
does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import DataError, DataTypeError

MICROSECONDS_A_DAY = 86_400_000_000
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
Array = npt.NDArray[Any]


def as_table(data: Any) -> Any:
    """A pyarrow table of: a table, a record batch, a pandas or polars frame, a dict of columns."""
    import pyarrow as pa

    try:
        if isinstance(data, pa.Table):
            return data
        if isinstance(data, pa.RecordBatch):
            return pa.Table.from_batches([data])
        if type(data).__module__.partition(".")[0] == "pandas":
            return pa.Table.from_pandas(data, preserve_index=False)
        if isinstance(data, dict) or hasattr(data, "__arrow_c_stream__"):
            return pa.table(data)
        if hasattr(data, "__dataframe__"):
            from pyarrow.interchange import from_dataframe

            return from_dataframe(data)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as e:
        raise DataError(
            f"the columns of a {type(data).__name__} cannot be read: {e}. Give every column one "
            "type."
        ) from e
    raise DataTypeError(
        f"got a {type(data).__name__}, not columns with names. Give a pyarrow table or record "
        "batch, a pandas or polars frame, or a dict of columns."
    )


def is_table(data: Any) -> bool:
    """Whether `data` has columns with names and types, as a frame or an Arrow table has."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def whole(column: Any) -> Any:
    """One array of a column in pieces."""
    import pyarrow as pa

    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def floats(column: Any) -> npt.NDArray[np.float64]:
    """Numbers, times and durations (in seconds) as float64; NaN where nothing is."""
    import pyarrow as pa

    if not len(column):
        return np.empty(0)
    kind, factor = column.type, 1.0
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        factor = SECONDS[kind.unit]
        column = column.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64())
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    held: Any = column.cast(pa.float64(), safe=False).fill_null(np.nan)
    return np.from_dlpack(held).astype(np.float64) * factor


def microseconds(column: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Dates and times as microseconds since 1970 (UTC if they have a zone); where nothing is."""
    import pyarrow as pa

    if not len(column):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=bool)
    empty = nulls(column)
    zone = getattr(column.type, "tz", None)
    whole_days = pa.types.is_date(column.type)
    column = column.cast(pa.timestamp("us") if whole_days else pa.timestamp("us", zone), safe=False)
    values: Any = np.from_dlpack(column.cast(pa.int64()).fill_null(0))
    return values.copy(), empty


def nulls(column: Any) -> npt.NDArray[np.bool_]:
    """Where nothing is."""
    import pyarrow as pa

    if not column.null_count:
        return np.zeros(len(column), dtype=bool)
    return np.from_dlpack(column.is_null().cast(pa.int8())).astype(bool)


def texts(column: Any) -> tuple[Any, npt.NDArray[np.int64]]:
    """The different texts of a column, and which of them stands in each row (-1: none)."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        values, numbers = column.dictionary, column.indices
    else:
        encoded = as_text(column).dictionary_encode()
        values, numbers = encoded.dictionary, encoded.indices
    if not len(column):
        return as_text(values), np.empty(0, dtype=np.int64)
    held: Any = np.from_dlpack(numbers.cast(pa.int64()).fill_null(-1))
    held = held.copy()
    if values.null_count:
        held[np.isin(held, np.flatnonzero(nulls(values)))] = -1
    return as_text(values), held


def as_text(column: Any) -> Any:
    """The column as plain text, whichever of Arrow's kinds of text it has, or numbers."""
    import pyarrow as pa

    return column if column.type == pa.string() else column.cast(pa.string())


def labels_of(column: Any) -> npt.NDArray[Any]:
    """Integers and floats as they are, everything else by way of Python."""
    import pyarrow as pa

    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return np.from_dlpack(column).copy()
    return np.array(column.to_pylist())


def kind_of_type(type: Any) -> str | None:
    """What a column of this type is taken for; None: it cannot be used."""
    import pyarrow.types as t

    if t.is_dictionary(type):
        return "category" if kind_of_type(type.value_type) is not None else None
    if t.is_boolean(type):
        return "boolean"
    if t.is_integer(type) or t.is_floating(type) or t.is_decimal(type) or t.is_null(type):
        return "number"
    if t.is_time(type) or t.is_duration(type):
        return "number"
    if t.is_string(type) or t.is_large_string(type) or t.is_string_view(type):
        return "category"
    if t.is_date(type) or t.is_timestamp(type):
        return "date"
    return None
