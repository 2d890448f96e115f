"""Learning: from raw rows, counted once, to frozen columns.

Rows are counted in groups of a fixed size, whatever the pieces in which they come. So the result
is the same to the bit however the rows are cut, on the same machine; another order of the rows may
change the last bits of means and deviations, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rosenblatt.data.columns.arrow import as_table, is_table, kind_of_type, whole
from rosenblatt.data.columns.entries import Dropped, Entry
from rosenblatt.data.columns.frozen import MOST_COLUMNS, Columns
from rosenblatt.data.columns.tallies import (
    MomentTally,
    NumberTally,
    Tally,
    TextTally,
)
from rosenblatt.errors import DataError, ParameterError

GROUP = 8192  # rows counted together
GROUP_CELLS = 1 << 19  # fewer rows where there are many columns
MOST_TRACKED_IN_ALL = 500_000  # different texts of all columns together
WANTED = ("number", "category", "hash", "drop")
SCALINGS = ("standard", "largest", "none")


@dataclass(frozen=True)
class Wishes:
    """How columns are to be learned.

    Attributes
    ----------
    scaling : "standard" (mean 0, deviation 1), "largest" (largest absolute value 1) or "none"
    max_categories : most features of one column of texts; the rarest go to one for all others
    hash_bits : columns of too many texts go to 2**hash_bits features
    kinds : what single columns are taken for: "number", "category", "hash" or "drop"
    """

    scaling: str = "standard"
    max_categories: int = 1000
    hash_bits: int = 14
    kinds: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.scaling not in SCALINGS:
            raise ParameterError(f"scaling must be one of {SCALINGS}, got {self.scaling!r}.")
        if not 1 <= self.max_categories <= 100_000:
            raise ParameterError(
                f"max_categories must be between 1 and 100,000, got {self.max_categories!r}."
            )
        if not 1 <= self.hash_bits <= 20:
            raise ParameterError(f"hash_bits must be between 1 and 20, got {self.hash_bits!r}.")
        for name, kind in self.kinds.items():
            if kind not in WANTED:
                raise ParameterError(
                    f"column {name!r} cannot be taken for {kind!r}: it must be one of {WANTED}."
                )


class Learner:
    """Counts rows as they come; `freeze` says what is to be done with such columns."""

    def __init__(self, wishes: Wishes | None = None) -> None:
        self.wishes = wishes or Wishes()
        self.rows = 0
        self._names: list[str] | None = None
        self._tallies: dict[str, Tally] = {}
        self._waiting: list[Any] = []
        self._waiting_rows = 0

    def add(self, table: Any) -> None:
        """Some rows more: an Arrow table of the same columns every time."""
        if self._names is None:
            self.begin(table.schema)
        n = table.num_rows
        try:
            table = table.select(list(self._tallies))
        except KeyError as e:
            raise DataError(f"a column is gone: {e}. Give the same columns every time.") from e
        self.rows += n
        if not self._tallies:
            return
        self._waiting.append(table)
        self._waiting_rows += n
        if self._waiting_rows >= self._group:
            self._count(last=False)

    def forget(self, name: str) -> None:
        """Count this column no more; it is left out of what `freeze` gives."""
        self._tallies.pop(name, None)
        self._names = [n for n in self._names or () if n != name]
        kept = list(self._tallies)
        self._waiting = [t.select(kept) for t in self._waiting] if kept else []

    def freeze(self) -> Columns:
        """What is done to the columns from now on."""
        if not self.rows:
            raise DataError("there are no rows to learn the columns from. Give at least one.")
        self._count(last=True)
        return Columns(tuple(map(self._entry, self._names or ())), self.rows)

    def _entry(self, name: str) -> Entry:
        if name in self._tallies:
            return self._tallies[name].entry()
        return Dropped(name, 0, "dropped as asked")

    def begin(self, schema: Any) -> None:
        """The columns that are to come; the first table says it too."""
        names = schema.names
        if len(names) > MOST_COLUMNS:
            raise DataError(f"there are {len(names):,} columns, more than {MOST_COLUMNS:,}.")
        if len(set(names)) < len(names):
            twice = next(n for k, n in enumerate(names) if n in names[:k])
            raise DataError(f"two columns are called {twice!r}. Rename one.")
        for name in self.wishes.kinds:
            if name not in names:
                raise ParameterError(f"there is no column {name!r}; there are {names[:20]}.")
        self._names = list(names)
        for name in names:
            made = self._tally(name, schema.field(name).type)
            if made is not None:
                self._tallies[name] = made
        self._group = max(1, min(GROUP, GROUP_CELLS // max(1, len(names))))

    def _tally(self, name: str, type: Any) -> Tally | None:
        wished = self.wishes.kinds.get(name)
        if wished == "drop":
            return None
        found = kind_of_type(type)
        if found is None:
            raise DataError(
                f"column {name!r} holds {type}, which cannot be made numbers. Drop it "
                f"(kinds={{{name!r}: 'drop'}}, --column {name}=drop), or make plain columns of it "
                "first."
            )
        if wished == "number" and found not in ("number", "boolean"):
            raise DataError(f"column {name!r} holds {type}, and was to be a number.")
        if found == "category" or wished in ("category", "hash"):
            return TextTally(
                name, self.wishes.max_categories, self.wishes.hash_bits, wished == "hash"
            )
        if found == "date":
            return MomentTally(name, self.wishes.scaling)
        return NumberTally(name, self.wishes.scaling, found == "boolean" and wished is None)

    def _count(self, last: bool) -> None:
        """Count the rows that wait, a whole group at a time; what is left waits on."""
        import pyarrow as pa

        if not self._waiting:
            return
        try:
            table = pa.concat_tables(self._waiting)
        except pa.ArrowInvalid as e:
            raise DataError(f"the columns changed between two parts: {e}.") from e
        start = 0
        while table.num_rows - start >= self._group or (last and start < table.num_rows):
            part = table.slice(start, self._group)
            for name, tally in self._tallies.items():
                self._add(tally, part.column(name))
            self._keep_bounded()
            start += self._group
        rest = table.slice(start)
        self._waiting, self._waiting_rows = [rest], rest.num_rows

    def _add(self, tally: Tally, column: Any) -> None:
        import pyarrow as pa

        try:
            tally.add(whole(column.unify_dictionaries()))
        except pa.ArrowException as e:
            raise DataError(f"column {tally.name!r} cannot be read: {e}.") from e

    def _keep_bounded(self) -> None:
        """All columns together hold a bounded number of texts: those with most of them hash."""
        while sum(t.tracked for t in self._tallies.values()) > MOST_TRACKED_IN_ALL:
            largest = max(self._tallies.values(), key=lambda t: t.tracked)
            assert isinstance(largest, TextTally)
            largest.give_up(f"more than {MOST_TRACKED_IN_ALL:,} different texts in all columns")


def learn_columns(
    data: Any,
    *,
    target: str | None = None,
    scaling: str = "standard",
    max_categories: int = 1000,
    hash_bits: int = 14,
    kinds: Mapping[str, str] | None = None,
) -> Columns:
    """Look at raw columns once, and say what is to be done with them from then on.

    Parameters
    ----------
    data : a pyarrow table or record batch, a pandas or polars frame, a dict of columns, or an
        iterable of such, which may be larger than memory
    target : a column that is left out: the labels
    scaling : numbers get mean 0 and deviation 1 ("standard"), are divided by the largest absolute
        value ("largest"), or stay as they are ("none")
    max_categories : most features of one column of texts; the rarest go to one for all others
    hash_bits : a column of more than 100,000 different texts goes to 2**hash_bits features
    kinds : what single columns are taken for, by name: "number", "category" (a feature a value,
        for numbers too), "hash", or "drop"

    Examples
    --------
    >>> columns = learn_columns({"zip": [10115, 10117, 10115], "day": ["Mon", None, "Tue"]},
    ...                         kinds={"zip": "category"})
    >>> columns.feature_names
    ('zip=10115', 'zip=10117', 'day=Mon', 'day=Tue', 'day missing')
    """
    learner = Learner(Wishes(scaling, max_categories, hash_bits, dict(kinds or {})))
    for table in tables_of(data):
        learner.add(without(table, target))
    return learner.freeze()


def tables_of(data: Any) -> Iterator[Any]:
    """Arrow tables of one thing with columns, or of many."""
    if is_table(data) or isinstance(data, dict) or not isinstance(data, Iterable):
        yield as_table(data)
        return
    for part in data:
        yield as_table(part)


def without(table: Any, target: str | None) -> Any:
    """The table less the label column, which may not be there."""
    return table.drop_columns([target]) if target in table.schema.names else table
