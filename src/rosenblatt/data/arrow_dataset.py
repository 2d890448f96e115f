"""Arrow dataset: rows of a dataset of pyarrow, whatever it is made of.

Rows come in the order in which the dataset has them, always the same: of a list of files as they
are listed (`dataset.files`), of a folder by path, of several datasets one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rosenblatt.data.columns.raw_parquet import RawParquet, RawParquetPass
from rosenblatt.data.datasets import files_on_disk
from rosenblatt.data.parquet_file import Parquet, ParquetPass
from rosenblatt.data.reading import Parsed, Plan
from rosenblatt.data.where import expression, parse_where
from rosenblatt.errors import DataError

READ_AHEAD = 2  # batches; pyarrow's 16 take more memory


@dataclass(frozen=True)
class ArrowDataset(Parquet):
    """Settings: as `Parquet`, and the dataset. `where` may be an expression of pyarrow."""

    dataset: Any = None
    where: Any = None

    @property
    def size(self) -> int:
        return sum(path.stat().st_size for path in files_on_disk(self.dataset))

    def begin(self) -> ArrowDatasetPass:
        return ArrowDatasetPass(self)


@dataclass(frozen=True)
class RawArrowDataset(RawParquet):
    """The same for columns of any kind."""

    dataset: Any = None
    where: Any = None
    size = ArrowDataset.size

    def begin(self) -> RawArrowDatasetPass:
        return RawArrowDatasetPass(self)


class ArrowDatasetPass(ParquetPass):
    """One pass over a dataset of numbers."""

    def blocks(self, path: Path, plan: Plan) -> Iterator[Parsed]:
        return _blocks(self, path, plan)


class RawArrowDatasetPass(RawParquetPass):
    """One pass over a dataset of any columns."""

    def blocks(self, path: Path, plan: Plan) -> Iterator[Parsed]:
        return _blocks(self, path, plan)


def _blocks(one: ParquetPass, path: Path, plan: Plan) -> Iterator[Parsed]:
    import pyarrow as pa

    format: Any = one.format
    data, chosen = format.dataset, {}
    one._choose_columns(data.schema, path)
    if format.where is not None:
        chosen["filter"] = _wanted(format.where, data.schema.names, path)
    step = max(1, plan.chunk_bytes // (8 * max(1, len(one.read))))
    try:
        for batch in data.to_batches(
            columns=one.read, batch_size=step, batch_readahead=READ_AHEAD, fragment_readahead=1,
            use_threads=plan.threads > 1, **chosen,
        ):  # fmt: skip
            yield one._parsed(batch, 0)
    except (OSError, pa.ArrowException) as e:
        raise DataError(f"pyarrow cannot read the {path}: {e}.") from e


def _wanted(where: Any, names: list[str], path: Path) -> Any:
    if not isinstance(where, str):
        return where
    conditions = parse_where(where)
    for c in conditions:
        if c.column not in names:
            raise DataError(f"the {path} has no column {c.column!r} for where.")
    return expression(conditions)
