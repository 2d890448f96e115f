"""Dates: from texts, and their month, weekday and hour."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.features.column_batch import DateColumn, TextColumn

Array = npt.NDArray[Any]
DATE = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d(:?\d\d)?)?)?", re.ASCII
)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOURS = tuple(str(hour) for hour in range(24))
DATE_PARTS = (" month", " weekday", " hour")
HOUR = 3_600_000_000  # microseconds
DAY = 24 * HOUR


def dates_of(column: TextColumn) -> DateColumn:
    """Texts as dates and times; those that are none are kept apart.

    >>> dates_of(TextColumn(np.array([0, -1, 1], np.int32), ("2020-01-02 03:04Z", "?!"))).values
    array(['2020-01-02T03:04:00.000000',                        'NaT',
                                  'NaT'], dtype='datetime64[us]')
    """
    values = np.array([*map(_date, column.words), np.datetime64("NaT")], "datetime64[us]")
    odd = np.flatnonzero(np.isnat(values[:-1])).tolist()
    if not odd:
        return DateColumn(values[column.codes])
    place = np.full(len(values), -1, np.int32)
    place[odd] = np.arange(len(odd))
    texts = TextColumn(place[column.codes], tuple(column.words[k] for k in odd))
    return DateColumn(values[column.codes], texts)


def _date(word: str) -> np.datetime64:
    text = word.strip()
    try:
        if not DATE.fullmatch(text):
            return np.datetime64("NaT")
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return np.datetime64("NaT")
    return np.datetime64(moment, "us")


def parts_of_dates(dates: Array) -> Iterable[tuple[str, Sequence[str], npt.NDArray[np.int32]]]:
    """Month, weekday and hour of dates: the words, and their places, -1 for no date."""
    empty = np.isnat(dates)
    moments = np.where(empty, np.datetime64(0, "us"), dates).astype("datetime64[us]")
    days = moments.astype("datetime64[D]")
    months = days.astype("datetime64[M]").astype(np.int64) % 12
    weekdays = (days.astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday
    hours = moments.astype(np.int64) // HOUR % 24
    for part, words, places in (
        ("month", MONTHS, months), ("weekday", WEEKDAYS, weekdays), ("hour", HOURS, hours)
    ):  # fmt: skip
        yield part, words, np.where(empty, -1, places).astype(np.int32)
