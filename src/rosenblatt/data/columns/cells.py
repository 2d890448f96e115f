"""Cells: columns of text, as a CSV file has them, as the narrowest kind that all of them fit.

A column is numbers if every cell is a number or missing, else true and false if all are, else dates
or times, with or without a zone, else text. Whether a cell fits does not depend on the others, so
the kind of a column does not depend on how the file is cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.columns.arrow import nulls

ORDER = ("number", "boolean", "date", "zoned date", "text")
TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
WORDS = {
    "number": "a number",
    "boolean": "true or false",
    "date": "a date or time",
    "zoned date": "a date or time with a zone",
    "text": "text in UTF-8",
}


def arrow_type(kind: str) -> Any:
    """The type in which pyarrow reads a column of this kind."""
    import pyarrow as pa

    return {
        "number": pa.float64(),
        "boolean": pa.bool_(),
        "date": pa.timestamp("us"),
        "zoned date": pa.timestamp("us", "UTC"),
        "text": pa.dictionary(pa.int32(), pa.string()),
    }[kind]


def kind_of_cells(column: Any) -> str | None:
    """The narrowest kind of a column of texts; None if all are missing."""
    if column.null_count == len(column):
        return None
    return next(kind for kind in ORDER if converted(column, kind) is not None)


def converted(column: Any, kind: str) -> Any | None:
    """Texts as what they stand for, or None if one of them does not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind == "text":
        return column.dictionary_encode()
    trimmed = pc.ascii_trim_whitespace(column)
    if kind == "boolean":
        known = pc.is_in(trimmed, pa.array([*TRUE, *FALSE]))
        if not pc.all(pc.or_(known, pc.is_null(trimmed)), min_count=0).as_py():
            return None
        yes = pc.is_in(trimmed, pa.array(TRUE))
        return pc.if_else(pc.is_null(trimmed), pa.scalar(None, pa.bool_()), yes)
    try:
        # a cast that fails writes a message for every cell: try a few first
        trimmed.slice(0, 16).cast(arrow_type(kind))
        return trimmed.cast(arrow_type(kind))
    except pa.ArrowInvalid:
        return None


def misfits(column: Any, kind: str) -> npt.NDArray[np.bool_]:
    """Which texts do not fit the kind: one by one, so only where it is known that some do not."""
    return np.array([converted(column.slice(k, 1), kind) is None for k in range(len(column))])


def with_missing(column: Any, marks: Any) -> Any:
    """The same with nothing where a mark of missing values stands; text or dictionary."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = pa.types.is_dictionary(column.type)
    values = column.dictionary if encoded else column
    if not len(values):
        return column
    found = pc.is_in(pc.ascii_trim_whitespace(values), marks)
    if not pc.any(found).as_py():
        return column
    if not encoded:
        return pc.if_else(found, pa.scalar(None, values.type), values)
    at = column.indices.fill_null(0)
    empty = pc.or_(found.take(at), pa.array(nulls(column)))
    kept = pc.if_else(empty, pa.scalar(None, column.indices.type), column.indices)
    return pa.DictionaryArray.from_arrays(kept, column.dictionary)
