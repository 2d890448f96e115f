"""Parquet: columns of numbers with one column of labels, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.problem import LARGEST_INTEGER
from rosenblatt.data.reading import LISTED, BadLine, Chunk, Parsed, Plan
from rosenblatt.errors import DataError


@dataclass(frozen=True)
class Parquet:
    """Settings: the label column, by name or number."""

    target: str

    def begin(self) -> ParquetPass:
        return ParquetPass(self)


class ParquetPass:
    """One pass. Rows take the place of lines: the file has none."""

    def __init__(self, format: Parquet) -> None:
        self.format = format
        self.feature_names: tuple[str, ...] = ()
        self.label = ""

    def blocks(self, path: Path, plan: Plan) -> Iterator[Parsed]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(path) as file:
                self._choose_columns(file.schema_arrow, path)
                total, rows = file.metadata.num_rows, 0
                size = path.stat().st_size
                step = max(1, plan.chunk_bytes // (8 * len(file.schema_arrow.names)))
                for batch in file.iter_batches(step, use_threads=plan.threads > 1):
                    rows += batch.num_rows
                    yield self._parsed(batch, size * rows // total)
        except (OSError, pa.ArrowInvalid) as e:
            raise DataError(f"cannot read {path} as Parquet: {e}. Give a whole file.") from e

    def chunk(self, found: Parsed) -> Chunk:
        X, y = found.content
        return Chunk(X, y, None)

    def _choose_columns(self, schema: Any, path: Path) -> None:
        import pyarrow.types as kind

        names, target = schema.names, self.format.target
        if len(set(names)) < len(names):
            twice = next(n for k, n in enumerate(names) if n in names[:k])
            raise DataError(f"two columns of {path} are called {twice!r}. Rename one.")
        if target not in names and target.lstrip("-").isdigit():
            if not -len(names) <= int(target) < len(names):
                raise DataError(f"{path} has {len(names)} columns, so there is no column {target}.")
            target = names[int(target)]
        if target not in names:
            raise DataError(f"{path} has no column {target!r}; it has {names[:20]}.")
        for name in names:
            k = schema.field(name).type
            if name != target and not (
                kind.is_integer(k) or kind.is_floating(k) or kind.is_boolean(k)
            ):
                raise DataError(
                    f"column {name!r} of {path} holds {k}, not numbers. Encode or drop it first."
                )
        self.label = target
        self.feature_names = tuple(n for n in names if n != target)

    def _parsed(self, batch: Any, bytes_read: int) -> Parsed:
        import pyarrow as pa

        n = batch.num_rows
        X = np.empty((n, len(self.feature_names)))
        whole = np.ones(n, dtype=bool)
        bad: list[BadLine] = []

        def strike(wrong: npt.NDArray[np.bool_], column: str, expected: str, found: Any) -> None:
            for k in np.flatnonzero(wrong & whole)[:LISTED]:
                at = batch.schema.names.index(column) + 1
                shown = "nothing" if found[k].as_py() is None else repr(found[k].as_py())
                what = f"{expected} in column {column!r}"
                bad.append(BadLine(int(k) + 1, at, what, shown, "row"))
            whole[wrong] = False

        for k, name in enumerate(self.feature_names):
            column = batch.column(name)
            strike(column.is_null().to_numpy(zero_copy_only=False), name, "a number", column)
            values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            X[:, k] = values
            if pa.types.is_integer(column.type):
                # rounding to float64 keeps the order, so this sees every integer beyond 2**53
                # but 2**53 + 1, which rounds to 2**53: look at those one by one
                large = np.abs(values) >= LARGEST_INTEGER
                for at in np.flatnonzero(large):
                    large[at] = abs(column[int(at)].as_py() or 0) > LARGEST_INTEGER
                strike(large, name, "integers up to 2**53", column)
            else:
                strike(~np.isfinite(values), name, "a finite number", column)
        labels = batch.column(self.label)
        strike(labels.is_null().to_numpy(zero_copy_only=False), self.label, "a label", labels)
        if pa.types.is_floating(labels.type):
            values = labels.to_numpy(zero_copy_only=False)
            strike(~np.isfinite(values), self.label, "a finite label", labels)
        bad.sort(key=lambda b: b.line)
        kept = int(whole.sum())
        labels = labels.filter(pa.array(whole))
        plain = pa.types.is_primitive(labels.type) and not pa.types.is_temporal(labels.type)
        y = labels.to_numpy(zero_copy_only=False) if plain else np.array(labels.to_pylist())
        X = X if kept == n else X[whole]
        return Parsed(kept, n, (X, y), n - kept, tuple(bad[:LISTED]), bytes_read)
