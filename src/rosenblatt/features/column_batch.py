"""Batches of table columns and their kinds, as CSV, Parquet and frames give them to encoders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import ParameterError


class TextColumn(NamedTuple):
    """Texts of a column, each stored once.

    Attributes
    ----------
    codes : int32 array
        For each row the place of its text in `words`; -1 for a row without a text.
    words : tuple of str
        Distinct texts, in the order in which they first occur.
    """

    codes: npt.NDArray[np.int32]
    words: tuple[str, ...]


class NumberColumn(NamedTuple):
    """Numbers of a column.

    Attributes
    ----------
    values : float64 array
        NaN where the cell is missing or is a text.
    texts : TextColumn or None
        Cells that are neither a number nor missing; None if there are none. A reader gives them
        where the head of the file has only numbers in this column and a later row has a text.
    """

    values: npt.NDArray[np.float64]
    texts: TextColumn | None = None


class DateColumn(NamedTuple):
    """Dates or times of a column: datetime64[us] in UTC, NaT where missing; texts as above."""

    values: npt.NDArray[np.datetime64]
    texts: TextColumn | None = None


class ColumnBatch(NamedTuple):
    """Consecutive rows of a table, column by column, without the labels.

    Which class a column has depends on its kind, which is decided from the head of the file (CSV)
    or from the schema (Parquet, frames), and is the same in all batches of a pass. The words of a
    TextColumn may differ from batch to batch; rows do not depend on how the file was cut.

    Attributes
    ----------
    names : tuple of str
        Of the columns.
    columns : tuple
        One NumberColumn, TextColumn or DateColumn per name.
    n_rows : int
    """

    names: tuple[str, ...]
    columns: tuple[NumberColumn | TextColumn | DateColumn, ...]
    n_rows: int


NUMBER, CATEGORY, DATE_KIND, DROP = "number", "category", "date", "drop"
KINDS: dict[str, type] = {NUMBER: NumberColumn, CATEGORY: TextColumn, DATE_KIND: DateColumn}


def check_kinds(kinds: Mapping[str, str], allowed: Iterable[str] = (*KINDS, DROP)) -> None:
    """Refuse kinds of columns that do not exist."""
    allowed = tuple(allowed)
    for name, kind in kinds.items():
        if kind not in allowed:
            raise ParameterError(
                f"column {name!r} has the unknown kind {kind!r}. Use one of {', '.join(allowed)}."
            )
