"""Raw Parquet: files of columns of any kind, through pyarrow."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.columns.arrow import floats, nulls, whole
from rosenblatt.data.columns.frozen import Columns
from rosenblatt.data.parquet_file import Parquet, ParquetPass, labels_of
from rosenblatt.data.reading import LISTED, BadLine, Parsed
from rosenblatt.errors import DataError


@dataclass(frozen=True)
class RawParquet(Parquet):
    """Settings: as `Parquet`, and what is done to the columns, or None while that is found out."""

    columns: Columns | None = None
    dropped: frozenset[str] = frozenset()

    def begin(self) -> RawParquetPass:
        return RawParquetPass(self)


class RawParquetPass(ParquetPass):
    """One pass. A chunk has an Arrow table for X while the columns are looked at."""

    format: RawParquet

    def _choose_columns(self, schema: Any, path: Path) -> list[str]:
        import pyarrow.types as kind

        columns = self.format.columns
        names, target = schema.names, self.format.target
        if columns is None:
            self.label = self.label_column(schema, path)
            self.feature_names = tuple(n for n in names if n != self.label)
            needed = [n for n in self.feature_names if n not in self.format.dropped]
        else:
            needed = [e.name for e in columns.used]
            absent = [n for n in needed if n not in names]
            if absent:
                raise DataError(
                    f"{path} has no column {absent[0]!r}; it has {names[:20]}. Give the columns of "
                    "the model."
                )
            numbered = target.lstrip("-").isdigit() and len(names) != len(columns.entries)
            if target in names or numbered:
                self.label = self.label_column(schema, path)
            self.feature_names = columns.feature_names
        self.read = needed + ([self.label] if self.label is not None else [])
        if columns is None:  # counted in groups, of which each has few of all texts
            return []
        types = {n: schema.field(n).type for n in needed}
        return [n for n, t in types.items() if kind.is_string(t) or kind.is_large_string(t)]

    def _parsed(self, batch: Any, bytes_read: int) -> Parsed:
        import pyarrow as pa

        n = batch.num_rows
        kept = np.ones(n, dtype=bool)
        bad: list[BadLine] = []

        def strike(wrong: npt.NDArray[np.bool_], column: str, expected: str) -> None:
            for k in np.flatnonzero(wrong & kept)[:LISTED]:
                found = batch.column(column)[int(k)].as_py()
                shown = "nothing" if found is None else repr(found)
                what = f"{expected} in column {column!r}"
                at = self.read.index(column) + 1
                bad.append(BadLine(int(k) + 1, at, what, shown, "row"))
            kept[wrong] = False

        for name in self.read:
            if name != self.label and pa.types.is_floating(batch.schema.field(name).type):
                strike(np.isinf(floats(batch.column(name))), name, "a finite number")
        if self.label is None:
            labels = pa.nulls(n, pa.float64()).fill_null(np.nan)
        else:
            labels = batch.column(self.label)
            strike(nulls(labels), self.label, "a label")
            if pa.types.is_floating(labels.type):
                strike(~np.isfinite(floats(labels)), self.label, "a finite label")
        bad.sort(key=lambda b: b.line)
        table = pa.Table.from_batches([batch])
        table = table.select([n for n in self.read if n != self.label])
        rows = int(kept.sum())
        if rows < n:
            mask = pa.array(kept)
            table, labels = table.filter(mask), labels.filter(mask)
        if self.format.columns is None:
            return Parsed(rows, n, (table, np.empty(0)), n - rows, tuple(bad[:LISTED]), bytes_read)
        X = self.format.columns.matrix(table)
        y = labels_of(whole(labels))
        return Parsed(rows, n, (X, y), n - rows, tuple(bad[:LISTED]), bytes_read)
