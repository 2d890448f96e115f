"""Parquet: columns of numbers with one column of labels, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.folders import files_of
from rosenblatt.data.reading import (
    LARGEST_INTEGER,
    LISTED,
    BadLine,
    Chunk,
    NotNumbers,
    Parsed,
    Plan,
)
from rosenblatt.data.where import expression, parse_where
from rosenblatt.errors import DataError


@dataclass(frozen=True)
class Parquet:
    """Settings: the label column, by name or number; which rows are read (`data/where.py`).

    A file of just `n_features` columns, none of them called `target`, has no labels.
    """

    target: str
    n_features: int | None = None
    where: str | None = None

    def begin(self) -> ParquetPass:
        return ParquetPass(self)


class ParquetPass:
    """One pass. Rows take the place of lines: the file has none."""

    def __init__(self, format: Parquet) -> None:
        self.format = format
        self.feature_names: tuple[str, ...] = ()
        self.label: str | None = None  # there is none
        self.read: list[str] = []

    def blocks(self, path: Path, plan: Plan) -> Iterator[Parsed]:
        import pyarrow as pa

        before = 0
        for file in files_of(path):
            size = file.stat().st_size
            try:
                for batch, share in self._batches(file, plan):
                    yield self._parsed(batch, before + int(size * share))
            except (OSError, pa.ArrowException) as e:
                raise DataError(f"cannot read {file} as Parquet: {e}. Give a whole file.") from e
            before += size

    def _batches(self, path: Path, plan: Plan) -> Iterator[tuple[Any, float]]:
        """Record batches, and how much of the file has been read with each."""
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as file:
            names = self.feature_names
            texts = self._choose_columns(file.schema_arrow, path)
            if names and self.feature_names != names:
                raise DataError(
                    f"the columns of {path} are {list(self.feature_names[:20])}, those of the "
                    f"files before it {list(names[:20])}. Give files of the same columns."
                )
        step = max(1, plan.chunk_bytes // (8 * max(1, len(self.read))))
        if self.format.where is not None:
            yield from self._chosen(path, step)
            return
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            total, rows = file.metadata.num_rows, 0
            for batch in file.iter_batches(step, columns=self.read, use_threads=plan.threads > 1):
                rows += batch.num_rows
                yield batch, rows / total

    def _chosen(self, path: Path, step: int) -> Iterator[tuple[Any, float]]:
        """The rows that fulfil the condition; row groups that cannot hold any are not read."""
        import pyarrow.dataset as ds

        conditions = parse_where(self.format.where or "")
        data = ds.dataset(str(path), format="parquet")
        for c in conditions:
            if c.column not in data.schema.names:
                raise DataError(f"{path} has no column {c.column!r} for where.")
        wanted = expression(conditions)
        groups = [g for f in data.get_fragments() for g in f.split_by_row_group(wanted)]
        for k, group in enumerate(groups):
            for batch in group.to_batches(
                schema=data.schema, columns=self.read, filter=wanted, batch_size=step
            ):
                yield batch, (k + 1) / len(groups)

    def chunk(self, found: Parsed) -> Chunk:
        X, y = found.content
        return Chunk(X, y, None)

    def label_column(self, schema: Any, path: Path) -> str | None:
        """Which column holds the labels; None if there are none."""
        names, target = schema.names, self.format.target
        if len(set(names)) < len(names):
            twice = next(n for k, n in enumerate(names) if n in names[:k])
            raise DataError(f"two columns of {path} are called {twice!r}. Rename one.")
        labelled = target in names or len(names) != self.format.n_features
        if labelled and target not in names and target.lstrip("-").isdigit():
            if not -len(names) <= int(target) < len(names):
                raise DataError(f"{path} has {len(names)} columns, so there is no column {target}.")
            target = names[int(target)]
        if labelled and target not in names:
            raise DataError(f"{path} has no column {target!r}; it has {names[:20]}.")
        return target if labelled else None

    def _choose_columns(self, schema: Any, path: Path) -> list[str]:
        """Which columns are read, which of them are labels; those to read as dictionaries."""
        import pyarrow.types as kind

        self.label = self.label_column(schema, path)
        self.feature_names = tuple(n for n in schema.names if n != self.label)
        for name in self.feature_names:
            k = schema.field(name).type
            if not (kind.is_integer(k) or kind.is_floating(k) or kind.is_boolean(k)):
                raise NotNumbers(
                    f"column {name!r} of {path} holds {k}, not numbers. Encode or drop it first."
                )
        self.read = list(schema.names)
        return []

    def _parsed(self, batch: Any, bytes_read: int) -> Parsed:
        import pyarrow as pa

        n = batch.num_rows
        X = np.empty((n, len(self.feature_names)))
        whole = np.ones(n, dtype=bool)
        bad: list[BadLine] = []

        def strike(wrong: npt.NDArray[np.bool_], column: str, expected: str) -> None:
            cells = batch.column(column)
            for k in np.flatnonzero(wrong & whole)[:LISTED]:
                found = cells[int(k)].as_py()
                at = batch.schema.names.index(column) + 1
                what = f"{expected} in column {column!r}"
                shown = "nothing" if found is None else repr(found)
                bad.append(BadLine(int(k) + 1, at, what, shown, "row"))
            whole[wrong] = False

        for k, name in enumerate(self.feature_names):
            column = batch.column(name)
            strike(_nulls(column), name, "a number")
            X[:, k] = _floats(column)
            if pa.types.is_integer(column.type):
                # 2**53 + 1 rounds to 2**53, so look at what stands there
                large = np.abs(X[:, k]) >= LARGEST_INTEGER
                for at in np.flatnonzero(large):
                    large[at] = abs(column[int(at)].as_py()) > LARGEST_INTEGER
                strike(large, name, "integers up to 2**53")
            else:
                strike(~np.isfinite(X[:, k]), name, "a finite number")
        if self.label is None:
            labels = pa.nulls(n, pa.float64()).fill_null(np.nan)
        else:
            labels = batch.column(self.label)
            strike(_nulls(labels), self.label, "a label")
            if pa.types.is_floating(labels.type):
                strike(~np.isfinite(_floats(labels)), self.label, "a finite label")
        bad.sort(key=lambda b: b.line)
        kept = int(whole.sum())
        if kept < n:
            X, labels = X[whole], labels.filter(pa.array(whole))
        return Parsed(kept, n, (X, labels_of(labels)), n - kept, tuple(bad[:LISTED]), bytes_read)


def _nulls(column: Any) -> npt.NDArray[np.bool_]:
    if not column.null_count:
        return np.zeros(len(column), dtype=bool)
    return np.array(column.is_null().to_pylist())


def _floats(column: Any) -> npt.NDArray[np.float64]:
    """The column as float64, 0 where nothing is. (to_numpy would import pandas.)"""
    import pyarrow as pa

    values: Any = np.from_dlpack(column.cast(pa.float64(), safe=False).fill_null(0.0))
    return values  # type: ignore[no-any-return]  # pyarrow has no hints


def labels_of(column: Any) -> npt.NDArray[Any]:
    """Integers and floats as they are, everything else by way of Python."""
    import pyarrow as pa

    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return np.from_dlpack(column).copy()
    return np.array(column.to_pylist())
