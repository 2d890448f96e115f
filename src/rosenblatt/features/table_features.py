"""Features of a table: numbers as they are, categories and parts of dates by name.

    number    the feature `x` with its value
    category  the feature `x=text` with value 1
    date      the feature `x`, days since 1970, and `x month=Jan`, `x weekday=Mon`, `x hour=7`
    missing   the feature `x=missing`; a text in a column of numbers is a category of its own

A category that gets no column, because there are too many names or because it is too long, is
`x=other`. Columns are numbered in the order in which features first appear, row by row, so they do
not depend on how a table is cut into batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt._core import FeatureIndex, assemble_rows, least_and_greatest
from rosenblatt.data.block import Csr
from rosenblatt.errors import DataError
from rosenblatt.features.column_batch import (
    KINDS,
    ColumnBatch,
    DateColumn,
    NumberColumn,
    TextColumn,
    check_kinds,
)
from rosenblatt.features.dates import DATE_PARTS, DAY, parts_of_dates
from rosenblatt.features.feature_index import pairs_of
from rosenblatt.text import left_table, printable

Array = npt.NDArray[Any]
Columns = npt.NDArray[np.int32]
Texts = tuple[str, Sequence[str], npt.NDArray[Any]]  # namespace, words, places of words in rows
MARKS = ("=missing", "=other")


@dataclass
class ColumnCounts:
    """What was in a column: cells of each type, and the first text in a column of numbers."""

    rows: int = 0
    missing: int = 0
    texts: int = 0
    other: int = 0
    example: str | None = None
    least: float = np.inf
    greatest: float = -np.inf


class TableFeatures:
    """The features of the columns of a table.

    Parameters
    ----------
    kinds : mapping
        The kind of each column by name, in order: "number", "category" or "date".
    index : FeatureIndex, optional
        Of the features; empty for a table that was never read.
    """

    def __init__(self, kinds: Mapping[str, str], index: FeatureIndex | None = None) -> None:
        check_kinds(kinds, KINDS)
        parts = {f"{n}{part}": n for n, k in kinds.items() if k == "date" for part in DATE_PARTS}
        if clash := parts.keys() & kinds.keys():
            raise DataError(f"column {min(clash)!r} is called as a part of a date. Rename it.")
        self.kinds = dict(kinds)
        self.index = FeatureIndex() if index is None else index
        self.counts = {name: ColumnCounts() for name in self.kinds}
        self.fill: dict[
            str, float
        ] = {}  # by column, the mean for missing numbers where none was missing
        self.closed = False  # whether features that are new get no column
        if not len(self.index):
            for name, kind in self.kinds.items():
                if kind != "category" and self.index.add(name) < 0:
                    raise DataError(
                        f"the name of column {name[:20]!r}... is too long. Names may have "
                        f"{self.index.max_name_bytes:,} bytes."
                    )

    @classmethod
    def of_batch(cls, batch: ColumnBatch, index: FeatureIndex | None = None) -> TableFeatures:
        """The features of a table of which this is the first batch."""
        names = {kind: name for name, kind in KINDS.items()}
        kinds = [names[type(column)] for column in batch.columns]
        return cls(dict(zip(batch.names, kinds, strict=True)), index)

    @property
    def n_features(self) -> int:
        """Columns so far."""
        return self.index.n_features

    @property
    def feature_names(self) -> list[str]:
        """The name of each feature."""
        return self.index.names()

    @property
    def is_plain(self) -> bool:
        """Whether the features are the columns: all are numbers, and no cell was anything else."""
        return self.all_numbers and self.n_features == len(self.kinds)

    @property
    def all_numbers(self) -> bool:
        """Whether every column is of numbers."""
        return set(self.kinds.values()) <= {"number"}

    @property
    def number_names(self) -> list[str]:
        """The columns of numbers and dates."""
        return [name for name, kind in self.kinds.items() if kind != "category"]

    def number_columns(self) -> Columns:
        """The features that are numbers and days, in the order of the table."""
        return self.index.find_all(self.number_names)

    def instead(self) -> dict[int, list[int]]:
        """For each feature that is a number, those that a row has in its place."""
        numbers = dict(zip(self.number_names, self.number_columns().tolist(), strict=True))
        found: dict[int, list[int]] = {column: [] for column in numbers.values()}
        for column, (space, owner) in enumerate(self._owners()):
            if owner in numbers and numbers[owner] != column and space in ("", owner):
                found[numbers[owner]].append(column)
        return found

    def _owners(self) -> list[tuple[str, str]]:
        """For each feature its namespace, and the column of the table that it belongs to."""
        owners = {f"{name}{mark}": name for name in self.kinds for mark in (*MARKS, *DATE_PARTS)}
        owners |= {name: name for name in self.kinds}
        pairs = zip(*pairs_of(self.index), strict=True)
        return [(space, owners.get(space or word, "")) for word, space in pairs]

    # ------------------------------------------------------------------------- rows

    def begin(self) -> None:
        """Count cells from the beginning: all rows are read again."""
        self.counts = {name: ColumnCounts() for name in self.kinds}

    def encode(self, batch: ColumnBatch, grow: bool | None = None) -> Array | Csr:
        """The features of consecutive rows.

        Parameters
        ----------
        batch : ColumnBatch
            Columns are found by name; others are left out.
        grow : bool, optional
            Give columns to features that appear for the first time, and count cells (None: unless
            the table is closed). If not, a category that is not known is `other`, if there is one,
            and a missing number is the mean if numbers were never missing before.

        Returns
        -------
        array or Csr
            Rows as they are if all cells are numbers, otherwise CSR rows.

        Raises
        ------
        DataError
            If a column is not there, or not of its kind.
        """
        columns = [self._column(batch, name) for name in self.kinds]
        missing = list(map(_missing, columns))
        texts = list(map(self._texts, self.kinds, columns, missing))
        if not self.closed if grow is None else grow:
            self._count(columns, missing)
            self._add(texts)
        plain = self.all_numbers and not self.index.hash_bits and not any(texts)
        if plain and len(columns) == self.n_features:
            table = np.empty((batch.n_rows, len(columns)))
            for k, column in enumerate(columns):
                table[:, k] = column.values
            return table
        parts: list[tuple[Array, Columns]] = []
        for name, column, lists in zip(self.kinds, columns, texts, strict=True):
            parts += self._parts(name, column, lists)
        indptr, indices, values = assemble_rows(batch.n_rows, parts)
        return Csr(values, indices, indptr, self.n_features)

    def _column(self, batch: ColumnBatch, name: str) -> Any:
        if name not in batch.names:
            there = ", ".join(map(repr, batch.names[:10])) or "none that were there before"
            raise DataError(f"the table has no column {name!r}. Of the columns it has {there}.")
        column = batch.columns[batch.names.index(name)]
        kind = self.kinds[name]
        if not isinstance(column, KINDS[kind]):
            found = next(k for k, c in KINDS.items() if isinstance(column, c))
            raise DataError(
                f"column {name!r} is of kind {found}, and was of kind {kind} before. Give a "
                f"column of the same kind, or name its kind: {name}={kind}."
            )
        return column

    def _texts(self, name: str, column: Any, missing: npt.NDArray[np.bool_]) -> list[Texts]:
        """The features of a column that are texts, and the mark of missing cells."""
        found: list[Texts] = []
        if missing.any():
            found.append(("", (self._mark(name, "missing"),), missing.astype(np.int32) - 1))
        texts = column if isinstance(column, TextColumn) else column.texts
        if texts is not None:
            found.append((name, texts.words, texts.codes))
        if isinstance(column, DateColumn):
            parts = parts_of_dates(column.values)
            found += [(f"{name} {part}", words, codes) for part, words, codes in parts]
        return found

    def _count(self, columns: Sequence[Any], missing: Sequence[npt.NDArray[np.bool_]]) -> None:
        """Count the cells of each column."""
        for counts, column, absent in zip(self.counts.values(), columns, missing, strict=True):
            counts.rows += len(absent)
            counts.missing += int(absent.sum())
            texts = column if isinstance(column, TextColumn) else column.texts
            if texts is not None:
                given = texts.codes >= 0
                counts.texts += int(given.sum())
                if not isinstance(column, TextColumn) and counts.example is None and given.any():
                    counts.example = texts.words[texts.codes[given.argmax()]]
            if isinstance(column, NumberColumn):
                least, greatest = least_and_greatest(column.values)
                counts.least = min(counts.least, least)
                counts.greatest = max(counts.greatest, greatest)

    def _add(self, columns: Sequence[list[Texts]]) -> None:
        """Give new features their columns, in the order of rows, then of the table."""
        new: list[tuple[int, int, str, str]] = []  # row, place in the table, namespace, name
        for place, lists in enumerate(columns):
            for space, words, codes in lists:
                found = self.index.find_all(list(words), space)
                if (found < 0).any():
                    present, first = np.unique(codes, return_index=True)
                    new += [
                        (int(row), place, space, words[code])
                        for code, row in zip(present.tolist(), first, strict=True)
                        if code >= 0 and found[code] < 0
                    ]
        for _, place, space, word in sorted(new, key=lambda feature: feature[:2]):
            if self.index.add(word, space, reserved=not space) < 0:
                name = list(self.kinds)[place]
                self.index.add(self._mark(name, "other"), reserved=True)
                self.counts[name].other += 1

    def _mark(self, name: str, mark: str) -> str:
        """The feature of missing or other cells of a column."""
        if f"{name}={mark}" in self.kinds:
            raise DataError(
                f"{name}={mark} is a column of the table, and the feature of {mark} cells of "
                f"column {name!r}. Rename the column."
            )
        return f"{name}={mark}"

    def _parts(
        self, name: str, column: Any, lists: Sequence[Texts]
    ) -> Iterable[tuple[Array, Columns]]:
        """Features of a column, as `assemble_rows` takes them."""
        instead = []  # of a number
        for space, words, codes in lists:
            found = self.index.find_all(list(words), space)
            if space == name:
                found[found < 0] = self.index.find(f"{name}=other")
            if space in ("", name):
                instead.append((codes, found))
            yield codes, found
        if isinstance(column, TextColumn):
            return
        if isinstance(column, DateColumn):
            values = np.where(np.isnat(column.values), np.nan, column.values.astype(np.int64) / DAY)
        else:
            values = column.values
        if name in self.fill:
            filled = np.isnan(values)
            for codes, found in instead:
                filled &= np.append(found, np.int32(-1))[codes] < 0
            values = np.where(filled, self.fill[name], values)
        yield values, np.array([self.index.find(name)], np.int32)

    def count(self, other: TableFeatures) -> None:
        """Add the counts of another table, whose rows come after these."""
        for name, own in self.counts.items():
            more = other.counts[name]
            own.rows, own.missing = own.rows + more.rows, own.missing + more.missing
            own.texts, own.other = own.texts + more.texts, own.other + more.other
            own.example = more.example if own.example is None else own.example
            own.least, own.greatest = min(own.least, more.least), max(own.greatest, more.greatest)

    # ----------------------------------------------------------------------- results

    def features_of(self) -> dict[str, int]:
        """How many features each column has; none if they are hashed."""
        if self.index.hash_bits:
            return {}
        counted = Counter(owner for _, owner in self._owners())
        return {name: counted[name] for name in self.kinds}

    def describe(self, most: int | None = None) -> str:
        """A table for people: a line per column, of the first `most` if that is given."""
        counted = any(counts.rows for counts in self.counts.values())
        header = ["column", "kind", "features", "missing"][: 4 if counted else 3]
        width, lines = self.features_of(), []
        for name, kind in list(self.kinds.items())[:most]:
            counts = self.counts[name]
            line = [printable(name), kind, f"{width[name]:,}" if width else "hashed"]
            lines.append(line + [f"{counts.missing / max(1, counts.rows):.2%}"] * counted)
        left = len(self.kinds) - len(lines)
        more = f"\n... and {left:,} more columns" if left else ""
        return left_table(header, lines) + more

    def facts(self) -> list[dict[str, Any]]:
        """What `describe` shows, and texts, in types that JSON has."""
        width = self.features_of()
        return [
            {
                "column": name, "kind": kind, "features": width.get(name),
                "missing": self.counts[name].missing, "texts": self.counts[name].texts,
            }
            for name, kind in self.kinds.items()
        ]  # fmt: skip

    def remarks(self) -> list[str]:
        """What a person should know about the columns, from the counts of their cells."""
        words = Counter(space for space, _ in self._owners())
        found = []
        for name, kind in self.kinds.items():
            counts = self.counts[name]
            if kind != "category" and counts.texts:
                found.append(
                    f"{name}: {counts.texts:,} of {counts.rows:,} cells are no {kind}s, for "
                    f"example {counts.example!r}. Each text is a feature of its own."
                )
            if counts.other:
                found.append(
                    f"{name}: not every text has a feature of its own; the others are "
                    f"{name}=other. The index holds {self.index.max_features:,} names of at most "
                    f"{self.index.max_name_bytes:,} bytes."
                )
            given = counts.rows - counts.missing
            if kind == "category" and given > 10 and words[name] >= given:
                found.append(f"{name}: every row has another text. Is it an identifier?")
            if counts.rows and counts.missing == counts.rows:
                found.append(f"{name}: every cell is missing.")
            if kind == "category":
                constant = words[name] == 1 and not counts.other
            else:
                constant = counts.least == counts.greatest and not counts.texts
            if given > 1 and constant:
                found.append(f"{name}: all cells are equal, so it says nothing.")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Kinds of the columns and means of numbers that were never missing; not the index."""
        saved: dict[str, Any] = {"kinds": [*map(list, self.kinds.items())], "fill": dict(self.fill)}
        return saved | ({"hash_bits": self.index.hash_bits} if self.index.hash_bits else {})

    @classmethod
    def from_dict(cls, saved: Any, pairs: Iterable[tuple[str, str]]) -> TableFeatures:
        """The features of a saved table, closed; raises DataError if they are damaged.

        Parameters
        ----------
        saved : mapping
            As `to_dict` returned it.
        pairs : iterable of (str, str)
            Namespace and name of each column.
        """
        try:
            bits, fill = saved.get("hash_bits"), saved["fill"]
            index = FeatureIndex(bits)
            for space, name in pairs:
                index.add(name, space, reserved=True)
            table = cls({str(name): str(kind) for name, kind in saved["kinds"]}, index)
            numbers = all(isinstance(mean, float) and np.isfinite(mean) for mean in fill.values())
            if (
                not numbers
                or not set(fill) <= set(table.number_names)
                or (table.number_columns() < 0).any()
            ):
                raise DataError("a number has no column, or no mean")
            table.fill = dict(fill)
        except (DataError, AttributeError, KeyError, TypeError, ValueError) as e:
            raise DataError(f"the columns of the table are damaged: {e!r}.") from e
        table.closed = True
        return table

    def get_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """What a checkpoint needs: counts as JSON can hold them, and the index."""
        names, offsets, spaces = self.index.arrays()
        counts = {name: list(vars(found).values()) for name, found in self.counts.items()}
        for values in counts.values():  # JSON has no infinity
            values[-2:] = [repr(value) for value in values[-2:]]
        return {"counts": counts}, {"names": names, "offsets": offsets, "spaces": spaces}

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Go on from a checkpoint."""
        index = self.index
        if not index.hash_bits:
            self.index = FeatureIndex.from_arrays(
                arrays["names"], arrays["offsets"], arrays["spaces"], index.max_features,
                index.max_name_bytes,
            )  # fmt: skip
        for name, values in facts["counts"].items():
            counts = dict(zip(vars(ColumnCounts()), values, strict=True))
            counts |= {"least": float(values[-2]), "greatest": float(values[-1])}
            self.counts[name] = ColumnCounts(**counts)


def _missing(column: Any) -> npt.NDArray[np.bool_]:
    """Rows whose cell is missing."""
    if isinstance(column, TextColumn):
        return column.codes < 0
    empty = np.isnat(column.values) if isinstance(column, DateColumn) else np.isnan(column.values)
    return empty if column.texts is None else empty & (column.texts.codes < 0)
