"""Streams: raw rows that never end, with columns that are frozen after the first of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from rosenblatt.data.columns.arrow import as_table, labels_of, whole
from rosenblatt.data.columns.frozen import Columns
from rosenblatt.data.columns.learning import Learner, Wishes, without
from rosenblatt.errors import DataError, LabelError, ParameterError


class Chunk(NamedTuple):
    """Rows of numbers and their labels."""

    X: Any
    y: Any
    sample_weight: None = None


class RawStream:
    """Chunks (X, y, None) of batches of raw rows. The first rows settle what is done to columns.

    Parameters
    ----------
    batches : record batches, tables, frames or dicts of columns, as many as come
    target : the column of labels
    warmup_rows : the columns are learned from exactly so many rows, which are held until then, and
        given out after; from all rows, if fewer come
    columns : what is done to columns, if that is known already: no row is held
    scaling, max_categories, hash_bits, kinds : as for :func:`rosenblatt.learn_columns`

    What comes after the first rows changes nothing: a new category is an unknown one, a missing
    value where there was none is the mean.

    Examples
    --------
    >>> first = {"x": [1.0, 3.0], "s": ["a", "b"], "y": [0, 1]}
    >>> stream = RawStream([first, {"x": [5.0], "s": ["c"], "y": [1]}], "y", warmup_rows=2)
    >>> for X, y, _ in stream:
    ...     print(X.tolist(), y)
    [[-1.0, 1.0, 0.0], [1.0, 0.0, 1.0]] [0 1]
    [[3.0, 0.0, 0.0]] [1]
    >>> stream.columns.feature_names
    ('x', 's=a', 's=b')
    """

    def __init__(
        self,
        batches: Iterable[Any],
        target: str,
        *,
        warmup_rows: int = 10_000,
        columns: Columns | None = None,
        scaling: str = "standard",
        max_categories: int = 1000,
        hash_bits: int = 14,
        kinds: Mapping[str, str] | None = None,
    ) -> None:
        if warmup_rows < 1:
            raise ParameterError(f"warmup_rows must be at least 1, got {warmup_rows}.")
        self.batches, self.target, self.warmup_rows = batches, target, warmup_rows
        self.columns = columns
        self._wishes = Wishes(scaling, max_categories, hash_bits, dict(kinds or {}))

    def __iter__(self) -> Iterator[Chunk]:
        held: list[Any] = []
        learner, rows = Learner(self._wishes), 0
        for table in map(as_table, self.batches):
            if self.columns is None:
                held.append(table)
                learner.add(without(table.slice(0, self.warmup_rows - rows), self.target))
                rows += table.num_rows
                if rows < self.warmup_rows:
                    continue
                self.columns = learner.freeze()
            yield from map(self._chunk, held or [table])
            held = []
        if held:
            self.columns = learner.freeze()
            yield from map(self._chunk, held)

    def _chunk(self, table: Any) -> Chunk:
        assert self.columns is not None
        names = table.schema.names
        if self.target not in names:
            raise DataError(
                f"there is no column {self.target!r} of labels; there are {names[:20]}."
            )
        labels = whole(table.column(self.target))
        if labels.null_count:
            raise LabelError(f"a label in column {self.target!r} is missing. Leave such rows out.")
        return Chunk(self.columns.transform(table), labels_of(labels))
