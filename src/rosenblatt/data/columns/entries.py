"""Entries: what is done to one raw column, with the numbers it takes. One class a kind.

    number    x -> (x - center) / scale; nothing -> (fill - center) / scale
    boolean   false, true -> 0, 1; nothing -> fill
    category  one feature a category, 1 where it is that one; one for all others, one for nothing
    hash      one feature a bucket; the bucket of a text is the CRC-32 of its UTF-8 modulo 2**bits
    date      days since 1970 as a number; one feature a month, weekday and hour
    dropped   none

Numbers, booleans and dates with missing values in training get a feature besides that is 1 where
nothing is.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.data.columns.arrow import (
    MICROSECONDS_A_DAY,
    floats,
    kind_of_type,
    microseconds,
    texts,
)
from rosenblatt.errors import DataError

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
NONE = -1


class Piece(NamedTuple):
    """Some features of all rows: a number each, or the place of the one that is 1 (-1: none)."""

    values: npt.NDArray[np.float64] | None
    places: npt.NDArray[np.int64] | None
    width: int = 1


@dataclass(frozen=True)
class Entry:
    """One raw column. `missing` counts empty rows in training; `note` is a remark for people."""

    kind: ClassVar[str]
    name: str
    missing: int = 0
    note: str = ""

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features it becomes."""
        raise NotImplementedError

    @property
    def width(self) -> int:
        """How many features it becomes; known without making their names."""
        raise NotImplementedError

    @property
    def slots(self) -> int:
        """How many of its features can differ from 0 in one row."""
        raise NotImplementedError

    @property
    def done(self) -> str:
        """What is done to it, for people."""
        raise NotImplementedError

    def pieces(self, column: Any) -> list[Piece]:
        """Its features for the rows of an Arrow array."""
        raise NotImplementedError

    def wrong(self) -> str | None:
        """What keeps these numbers from having a meaning."""
        return None

    def _indicator(self, empty: npt.NDArray[np.bool_]) -> list[Piece]:
        return [Piece(None, np.where(empty, 0, NONE))] if self.missing else []

    def _refuse(self, column: Any, wanted: tuple[str, ...], what: str) -> None:
        found = kind_of_type(column.type)
        if found not in wanted and column.null_count < len(column):
            raise DataError(
                f"column {self.name!r} holds {column.type}, and was {what} when it was learned. "
                "Give a column of the same kind."
            )


@dataclass(frozen=True)
class Number(Entry):
    """(x - center) / scale."""

    kind = "number"
    center: float = 0.0
    scale: float = 1.0
    fill: float = 0.0

    @property
    def features(self) -> tuple[str, ...]:
        return (self.name, f"{self.name} missing") if self.missing else (self.name,)

    @property
    def width(self) -> int:
        return 2 if self.missing else 1

    slots = width

    @property
    def done(self) -> str:
        if self.center == 0 and self.scale == 1:
            shown = "as it is"
        elif self.center == 0:
            shown = f"divided by {self.scale:.6g}"
        else:
            shown = f"minus {self.center:.6g}, divided by {self.scale:.6g}"
        return shown + (f"; nothing is {self.fill:.6g}" if self.missing else "")

    def pieces(self, column: Any) -> list[Piece]:
        self._refuse(column, ("number", "boolean"), "numbers")
        x = floats(column)
        empty = np.isnan(x)
        x[empty] = self.fill
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = (x - self.center) / self.scale
        if not np.isfinite(scaled).all():
            raise DataError(
                f"column {self.name!r} holds {x[~np.isfinite(scaled)][0]!r}, which is not finite "
                "once scaled. Leave such rows out."
            )
        return [Piece(scaled, None), *self._indicator(empty)]

    def wrong(self) -> str | None:
        return None if self.scale > 0 else f"a scale of {self.scale}"


@dataclass(frozen=True)
class Boolean(Entry):
    """0 for false, 1 for true."""

    kind = "boolean"
    fill: float = 0.0

    features, width, slots = Number.features, Number.width, Number.slots

    @property
    def done(self) -> str:
        return "0 or 1" + (f"; nothing is {self.fill:.6g}" if self.missing else "")

    def pieces(self, column: Any) -> list[Piece]:
        self._refuse(column, ("number", "boolean"), "true or false")
        x = floats(column)
        empty = np.isnan(x)
        x[empty] = self.fill
        if not ((x >= 0) & (x <= 1)).all():
            odd = x[~((x >= 0) & (x <= 1))][0].item()
            raise DataError(f"column {self.name!r} was true or false, and now holds {odd!r}.")
        return [Piece(x, None), *self._indicator(empty)]

    def wrong(self) -> str | None:
        return None if 0 <= self.fill <= 1 else f"a share of {self.fill}"


@dataclass(frozen=True)
class Category(Entry):
    """One feature a category. An unknown one is `other` where there is such a feature, else none.

    `categories` are sorted. Missing values are a category of their own if there were any.
    """

    kind = "category"
    categories: tuple[str, ...] = ()
    other: bool = False

    @property
    def features(self) -> tuple[str, ...]:
        known = tuple(f"{self.name}={c}" for c in self.categories)
        more = (f"{self.name} other",) if self.other else ()
        return known + more + ((f"{self.name} missing",) if self.missing else ())

    @property
    def width(self) -> int:
        return len(self.categories) + self.other + bool(self.missing)

    @property
    def slots(self) -> int:
        return 1

    @property
    def done(self) -> str:
        rest = ", one for the others" if self.other else ""
        return f"one of {len(self.categories):,}{rest}" + (
            ", one for nothing" if self.missing else ""
        )

    @cached_property
    def _known(self) -> Any:
        import pyarrow as pa

        return pa.array(self.categories, pa.string())

    def pieces(self, column: Any) -> list[Piece]:
        import pyarrow.compute as pc

        values, number = texts(column)
        unknown = len(self.categories) if self.other else NONE
        nothing = self.width - 1 if self.missing else NONE
        place = np.full(len(values) + 1, nothing, dtype=np.int64)  # the last is that of number -1
        if len(values):
            place[:-1] = np.from_dlpack(pc.index_in(values, self._known).fill_null(unknown))
        return [Piece(None, place[number], self.width)]

    def wrong(self) -> str | None:
        pairs = zip(self.categories, self.categories[1:], strict=False)
        if not all(a < b for a, b in pairs):
            return "categories that are not sorted, or twice there"
        return None if self.width else "no categories"


@dataclass(frozen=True)
class Hashed(Entry):
    """One feature a bucket of texts."""

    kind = "hash"
    bits: int = 14

    @property
    def features(self) -> tuple[str, ...]:
        known = tuple(f"{self.name}#{k}" for k in range(1 << self.bits))
        return known + ((f"{self.name} missing",) if self.missing else ())

    @property
    def width(self) -> int:
        return (1 << self.bits) + bool(self.missing)

    @property
    def slots(self) -> int:
        return 1

    @property
    def done(self) -> str:
        return f"hashed to {1 << self.bits:,} buckets" + (
            ", one for nothing" if self.missing else ""
        )

    def pieces(self, column: Any) -> list[Piece]:
        values, number = texts(column)
        place = np.full(len(values) + 1, self.width - 1 if self.missing else NONE, dtype=np.int64)
        crc, last = zlib.crc32, (1 << self.bits) - 1  # as `bucket`, a million times
        place[:-1] = [crc(text.encode()) & last for text in values.to_pylist()]
        return [Piece(None, place[number], self.width)]

    def wrong(self) -> str | None:
        return None if 1 <= self.bits <= 20 else f"{self.bits} bits, expected 1 to 20"


@dataclass(frozen=True)
class Moment(Entry):
    """Days since 1970 as a number, and the month, the weekday and the hour as categories."""

    kind = "date"
    center: float = 0.0
    scale: float = 1.0
    months: tuple[int, ...] = ()
    weekdays: tuple[int, ...] = ()
    hours: tuple[int, ...] = ()
    zoned: bool = False

    @property
    def features(self) -> tuple[str, ...]:
        name = self.name
        parts = [f"{name} month={MONTHS[k]}" for k in self.months]
        parts += [f"{name} weekday={WEEKDAYS[k]}" for k in self.weekdays]
        parts += [f"{name} hour={k}" for k in self.hours]
        return (name, *parts) + ((f"{name} missing",) if self.missing else ())

    @property
    def width(self) -> int:
        parts = len(self.months) + len(self.weekdays) + len(self.hours)
        return 1 + parts + bool(self.missing)

    @property
    def slots(self) -> int:
        return 1 + sum(map(bool, (self.months, self.weekdays, self.hours, self.missing)))

    @property
    def done(self) -> str:
        mean = np.datetime64(0, "D") + int(np.clip(self.center, -7e5, 2.9e6))
        parts = [
            f"{len(held)} {what}"
            for held, what in (
                (self.months, "months"), (self.weekdays, "weekdays"), (self.hours, "hours"),
            ) if held
        ]  # fmt: skip
        days = f"days since {mean}, divided by {self.scale:.6g}"
        return ", ".join([days, *parts]) + ("; nothing is the mean" if self.missing else "")

    def pieces(self, column: Any) -> list[Piece]:
        self._refuse(column, ("date",), "dates")
        if kind_of_type(column.type) != "date":  # nothing but missing values
            moments, empty = np.zeros(len(column), dtype=np.int64), np.ones(len(column), dtype=bool)
        else:
            moments, empty = microseconds(column)
        days = np.where(empty, self.center, moments / MICROSECONDS_A_DAY)
        made = [Piece((days - self.center) / self.scale, None)]
        for held, part in zip(
            (self.months, self.weekdays, self.hours), parts_of(moments), strict=True
        ):
            if held:
                place = np.full(24, NONE)
                place[list(held)] = np.arange(len(held))
                made.append(Piece(None, np.where(empty, NONE, place[part]), len(held)))
        return made + self._indicator(empty)

    def wrong(self) -> str | None:
        if not self.scale > 0:
            return f"a scale of {self.scale}"
        for held, most in ((self.months, 12), (self.weekdays, 7), (self.hours, 24)):
            if list(held) != sorted(set(held)) or not all(0 <= k < most for k in held):
                return f"parts of a date {held[:30]}"
        return None


@dataclass(frozen=True)
class Dropped(Entry):
    """A column that is not used; the note says why."""

    kind = "dropped"

    @property
    def features(self) -> tuple[str, ...]:
        return ()

    @property
    def width(self) -> int:
        return 0

    slots = width

    @property
    def done(self) -> str:
        return "not used"

    def pieces(self, column: Any) -> list[Piece]:
        return []


KINDS: dict[str, type[Entry]] = {
    k.kind: k for k in (Number, Boolean, Category, Hashed, Moment, Dropped)
}


def bucket(text: str, bits: int) -> int:
    """Where a text goes.

    >>> bucket("spam", 8), bucket("eggs", 8)
    (61, 110)
    """
    return zlib.crc32(text.encode()) & ((1 << bits) - 1)


def parts_of(moments: npt.NDArray[np.int64]) -> Sequence[npt.NDArray[np.int64]]:
    """Month (0 is January), weekday (0 is Monday) and hour of microseconds since 1970."""
    day = moments // MICROSECONDS_A_DAY
    month = day.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    # 1970-01-01 was a Thursday
    return month, (day + 3) % 7, moments // (MICROSECONDS_A_DAY // 24) % 24
