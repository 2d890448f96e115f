"""Tallies: what is counted of one column during the first pass, in bounded memory.

Mean and deviation of a group of rows are computed in two passes over the group, and groups are
joined as Chan, Golub and LeVeque (1979) do:

    n = n_a + n_b,  d = mean_b - mean_a
    mean = mean_a + d n_b / n,  S = S_a + S_b + d^2 n_a n_b / n       (S: sum of squared deviations)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.columns.arrow import (
    MICROSECONDS_A_DAY,
    floats,
    microseconds,
    nulls,
    texts,
)
from rosenblatt.data.columns.entries import (
    Boolean,
    Category,
    Dropped,
    Entry,
    Hashed,
    Moment,
    Number,
    parts_of,
)
from rosenblatt.errors import DataError

MOST_TRACKED = 100_000  # different texts of one column
LONGEST_CATEGORY = 200  # characters; longer ones are prose, not categories
IDENTIFIER = 0.9  # share of different texts from which a column looks like an identifier


class Moments:
    """Mean, sum of squared deviations and range of numbers that come in groups."""

    def __init__(self) -> None:
        self.n = 0
        self.mean = self.squares = 0.0
        self.low, self.high = np.inf, -np.inf

    def add(self, x: npt.NDArray[np.float64]) -> None:
        n = len(x)
        if not n:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            mean = x.mean()
            away = x - mean
            # the second term is 0 but for rounding of the mean
            squares = (away * away).sum() - away.sum() ** 2 / n
            between = mean - self.mean
            total = self.n + n
            self.mean += float(between * n / total)
            self.squares += float(squares + between * between * self.n * n / total)
        self.n = total
        self.low, self.high = min(self.low, float(x.min())), max(self.high, float(x.max()))

    @property
    def deviation(self) -> float:
        """Of the population, as StandardScaler's; never 0 where numbers differ."""
        if not self.low < self.high:  # all the same, or none
            return 1.0
        return float(np.sqrt(self.squares / self.n)) or (self.high - self.low) / 2

    def check(self, name: str) -> None:
        if not (np.isfinite(self.mean) and np.isfinite(self.squares)):
            raise DataError(
                f"column {name!r} holds numbers between {self.low:.4g} and {self.high:.4g}, whose "
                "deviation is beyond float64. Give it in another unit."
            )


class Tally:
    """Counts of one column; `entry` says what is to be done with it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rows = 0
        self.missing = 0

    def add(self, column: Any) -> None:
        """Some rows more."""
        raise NotImplementedError

    def entry(self) -> Entry:
        """What is done to such a column."""
        raise NotImplementedError

    @property
    def tracked(self) -> int:
        """How many texts are held."""
        return 0

    def _unless_constant(self, different: int, made: Entry) -> Entry:
        """A column that is the same in every row says nothing."""
        if different == 0:
            return Dropped(self.name, self.missing, "no value in any row")
        if different == 1 and not self.missing:
            return Dropped(self.name, 0, "the same in every row")
        return made


class NumberTally(Tally):
    """Numbers and booleans."""

    def __init__(self, name: str, scaling: str, boolean: bool = False) -> None:
        super().__init__(name)
        self.scaling, self.boolean = scaling, boolean
        self.moments = Moments()

    def add(self, column: Any) -> None:
        x = floats(column)
        there = x[~np.isnan(x)]
        if np.isinf(there).any():
            raise DataError(
                f"column {self.name!r} holds an infinite number. Leave such rows out, or make it "
                "a missing value."
            )
        self.rows += len(x)
        self.missing += len(x) - len(there)
        self.moments.add(there)

    def entry(self) -> Entry:
        held = self.moments
        different = 0 if not held.n else 1 + (held.low < held.high)
        if self.boolean:
            return self._unless_constant(different, Boolean(self.name, self.missing, "", held.mean))
        if held.n:
            held.check(self.name)
        center, scale = 0.0, 1.0
        if self.scaling == "standard":
            center, scale = held.mean, held.deviation
        elif self.scaling == "largest":
            scale = max(abs(held.low), abs(held.high)) or 1.0
        made = Number(self.name, self.missing, "", center, scale, held.mean)
        return self._unless_constant(different, made)


class MomentTally(Tally):
    """Dates and times."""

    def __init__(self, name: str, scaling: str) -> None:
        super().__init__(name)
        self.scaling = scaling
        self.moments = Moments()
        self.parts: tuple[set[int], ...] = (set(), set(), set())
        self.zoned = False

    def add(self, column: Any) -> None:
        self.zoned = self.zoned or getattr(column.type, "tz", None) is not None
        moments, empty = microseconds(column)
        there = moments[~empty]
        self.rows += len(moments)
        self.missing += int(empty.sum())
        self.moments.add(there / MICROSECONDS_A_DAY)
        for held, part in zip(self.parts, parts_of(there), strict=True):
            held.update(np.flatnonzero(np.bincount(part, minlength=1)).tolist())

    def entry(self) -> Entry:
        held = self.moments
        # a part that is always the same says nothing
        months, weekdays, hours = (tuple(sorted(p)) if len(p) > 1 else () for p in self.parts)
        center, scale = (held.mean, held.deviation) if self.scaling != "none" else (0.0, 1.0)
        made = Moment(
            self.name, self.missing, "", center, scale, months, weekdays, hours, self.zoned
        )
        return self._unless_constant(0 if not held.n else 1 + (held.low < held.high), made)


class TextTally(Tally):
    """Texts and how often each occurs, up to a number of them; beyond it the column is hashed."""

    def __init__(self, name: str, most: int, bits: int, hashed: bool = False) -> None:
        super().__init__(name)
        self.most, self.bits = most, bits
        self.counts: dict[str, int] | None = None if hashed else {}
        self.note = ""

    def add(self, column: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self.rows += len(column)
        if self.counts is None:
            self.missing += int(nulls(column).sum())
            return
        values, number = texts(column)
        there = number[number >= 0]
        self.missing += len(number) - len(there)
        times = np.bincount(there, minlength=len(values))
        met = np.flatnonzero(times)
        if len(met) < len(values):
            values, times = values.take(pa.array(met)), times[met]
        if len(values) and pc.max(pc.utf8_length(values)).as_py() > LONGEST_CATEGORY:
            self.give_up(f"texts of more than {LONGEST_CATEGORY} characters")
            return
        counts = self.counts
        for word, count in zip(values.to_pylist(), times.tolist(), strict=True):
            counts[word] = counts.get(word, 0) + count
        if len(self.counts) > MOST_TRACKED:
            self.give_up(f"more than {MOST_TRACKED:,} different texts")

    def give_up(self, why: str) -> None:
        """Count no longer: hash."""
        looks = self._like_an_identifier()
        self.note = f"{why}: hashed" + (f"; {looks}" if looks else "")
        self.counts = None

    def _like_an_identifier(self) -> str:
        there, different = self.rows - self.missing, len(self.counts or ())
        if there < 100 or different < IDENTIFIER * there:
            return ""
        return f"{different:,} different texts in {there:,} rows: an identifier? Then drop it"

    @property
    def tracked(self) -> int:
        return len(self.counts or ())

    def entry(self) -> Entry:
        if self.counts is None:
            return Hashed(self.name, self.missing, self.note, self.bits)
        # the most frequent, ties by the text itself: the order of the rows does not matter
        ranked = sorted(self.counts, key=lambda w: (-self.counts[w], w))  # type: ignore[index]  # not None: see above
        kept, other = tuple(sorted(ranked[: self.most])), len(ranked) > self.most
        made = Category(self.name, self.missing, self._like_an_identifier(), kept, other)
        return self._unless_constant(len(ranked), made)
