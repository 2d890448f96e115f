"""Parquet files and datasets of pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import LARGEST_INTEGER, as_labels
from rosenblatt.errors import DataError, LabelError, MissingPackageError
from rosenblatt.features.column_batch import (
    CATEGORY,
    DATE_KIND,
    DROP,
    NUMBER,
    ColumnBatch,
    DateColumn,
    NumberColumn,
    TextColumn,
)
from rosenblatt.io.bad_lines import LISTED, BadLine
from rosenblatt.io.byte_stream import ByteStream
from rosenblatt.io.layout import Layout, TableFormat
from rosenblatt.io.limits import LABEL_CHARS, TABLE_COLUMNS
from rosenblatt.io.location import Piece, is_url, readable
from rosenblatt.io.text_format import Labels, Parsed, ReadOptions, Rows

READ_AHEAD = 2  # batches; pyarrow's 16 take more memory


def is_dataset(given: Any) -> bool:
    """Whether it is a dataset of pyarrow, without importing pyarrow."""
    return hasattr(given, "get_fragments") and hasattr(given, "to_batches")


def dataset_files(dataset: Any) -> list[Path]:
    """The files of a dataset that are on this machine."""
    return [path for path in map(Path, getattr(dataset, "files", ())) if path.is_file()]


def dataset_piece(dataset: Any) -> Piece:
    """What a dataset is called in messages, and the size of its files."""
    files = getattr(dataset, "files", None)
    name = "dataset" if files is None else f"dataset of {len(files)} files"
    size = sum(path.stat().st_size for path in dataset_files(dataset))
    return Piece(name, "parquet", size, dataset=dataset)


def pyarrow() -> Any:
    """The package, or an error that says how to install it."""
    try:
        import pyarrow as pa
    except ImportError as e:
        raise MissingPackageError(
            "Parquet files and datasets need pyarrow: pip install 'rosenblatt[files]'."
        ) from e
    return pa


class Parquet(TableFormat):
    """One pass over Parquet files, or over a dataset. Rows take the place of lines."""

    name = "parquet"

    def __init__(self, options: ReadOptions, wanted: Sequence[str] | None) -> None:
        pyarrow()
        super().__init__(options, wanted)
        self._names: list[str] = []  # of the columns that are read
        self._other: tuple[str, Any] | None = None  # a column that is not numbers, and its type

    def read(self, piece: Piece, stream: ByteStream | None, offset: int) -> Iterator[Parsed]:
        """The parsed batches of a file."""
        first: Piece | None = piece
        what = "" if piece.dataset is not None else " as Parquet"
        with readable(f"{piece}{what}", pyarrow().ArrowException):
            for batch, share in self._batches(piece):
                yield self._parsed(batch, piece, share)._replace(begins=first)
                first = None

    def look(self, piece: Piece, stream: ByteStream | None) -> None:
        """Find the columns of the first file."""
        if piece.is_pipe:
            raise DataError(
                f"{piece} is a pipe, and Parquet cannot be read from one: its table of contents is "
                "at the end. Write it to a file first."
            )
        if piece.dataset is not None:
            self._begin(piece.dataset.schema, piece)
            return
        import pyarrow.parquet as pq

        named = f"{piece} as Parquet"
        with readable(named, pyarrow().ArrowException), pq.ParquetFile(_source(piece)) as file:
            self._begin(file.schema_arrow, piece, _columns_with_nulls(file))

    def _batches(self, piece: Piece) -> Iterator[tuple[Any, float]]:
        """Record batches, and which share of the rows has been read with each."""
        threads = self.options.threads > 1
        if piece.dataset is not None:
            self._begin(piece.dataset.schema, piece)
            total, rows = piece.dataset.count_rows(), 0
            for batch in piece.dataset.to_batches(
                columns=self._names, batch_size=self._step, batch_readahead=READ_AHEAD,
                fragment_readahead=1, use_threads=threads,
            ):  # fmt: skip
                rows += batch.num_rows
                yield batch, rows / max(1, total)
            return
        import pyarrow.parquet as pq

        with pq.ParquetFile(_source(piece)) as file:
            self._begin(file.schema_arrow, piece)
            texts = [name for name in self._names if _is_text(file.schema_arrow.field(name).type)]
        with pq.ParquetFile(_source(piece), read_dictionary=texts) as file:
            total, rows = file.metadata.num_rows, 0
            for batch in file.iter_batches(self._step, columns=self._names, use_threads=threads):
                rows += batch.num_rows
                yield batch, rows / total

    @property
    def _step(self) -> int:
        return max(1, self.options.chunk_bytes // (8 * max(1, len(self._names))))

    def _begin(self, schema: Any, piece: Piece, empty: Sequence[int] = ()) -> None:
        names, place = list(schema.names), str(piece)
        TABLE_COLUMNS.check(len(names), place)
        label = self.label_column(names, place)
        plain = [_is_plain(schema.field(name).type) for name in names]
        if self.begin_file(names, label, place):
            forced = self.options.kinds or {}
            kinds = tuple(forced.get(name) or _kind(schema.field(name).type) for name in names)
            used = (k for k, kind in enumerate(kinds) if k != label and kind != DROP)
            only_numbers = all(plain[k] and k not in empty for k in used)
            self.choose(Layout(tuple(names), label, kinds, only_numbers), place)
        others = (names[k] for k in self.used if not plain[k])
        self._other = next(((name, schema.field(name).type) for name in others), None)
        self._names = [names[k] for k in self.used] + ([names[label]] if label is not None else [])
        if label is not None:
            _check_label_type(schema.field(names[label]).type, names[label], place)

    def _parsed(self, batch: Any, piece: Piece, share: float) -> Parsed:
        """The columns of a batch, without the rows that have no label or an impossible number."""
        import pyarrow as pa

        layout = self.layout
        assert layout is not None
        if self.encoder is None and self._other is not None:
            raise DataError(
                f"column {self._other[0]!r} of {piece} has values of type {self._other[1]}, not "
                "numbers. Encode or drop it first."
            )
        kinds = dict(zip(layout.names, layout.kinds, strict=True))
        if self.encoder is None:
            kinds = dict.fromkeys(layout.names, NUMBER)
        good, bad = np.ones(batch.num_rows, dtype=bool), []
        for name in self._names:
            column = batch.column(name)
            is_label = layout.label is not None and name == layout.names[layout.label]
            for wrong, expected in _wrong(column, is_label, self.encoder is None):
                for k in np.flatnonzero(wrong & good)[:LISTED].tolist():
                    found = column[k].as_py()
                    shown = "nothing" if found is None else repr(found)[:80]
                    what, place = f"{expected} in column {name!r}", layout.names.index(name)
                    bad.append(BadLine(k + 1, place + 1, what, shown, "row"))
                good &= ~wrong
        n = batch.num_rows
        if not good.all():
            batch = batch.filter(pa.array(good))
        columns = tuple(_column(batch.column(name), kinds[name]) for name in self.feature_names)
        labels = None if layout.label is None else batch.column(layout.names[layout.label])
        content = ColumnBatch(self.feature_names, columns, batch.num_rows), labels
        bad = sorted(bad, key=lambda b: b.line)[:LISTED]
        skipped = n - batch.num_rows
        return Parsed(batch.num_rows, n, skipped, tuple(bad), content, int(piece.size * share))

    def rows(self, parsed: Parsed) -> Rows:
        """Rows of numbers with their labels."""
        batch, labels = parsed.content
        if self.encoder is not None:
            X = self.encoder.encode(batch)
        else:
            X = np.column_stack([column.values for column in batch.columns])
        if labels is None:
            return Rows(X, Labels.none(parsed.n_rows))
        return Rows(X, _labels(labels))


def _wrong(
    column: Any, is_label: bool, only_numbers: bool
) -> Iterator[tuple[npt.NDArray[np.bool_], str]]:
    """Rows whose cell cannot be used, and what was expected."""
    import pyarrow as pa

    if is_label:
        yield _nulls(column), "a label"
    elif only_numbers:
        yield _nulls(column), "a number"
    if pa.types.is_floating(column.type):
        values = _floats(column)
        wrong = ~np.isfinite(values) if is_label or only_numbers else np.isinf(values)
        yield wrong, "a finite label" if is_label else "a finite number"
    elif pa.types.is_integer(column.type) and only_numbers and not is_label:
        yield _beyond_floats(column), "integers up to 2**53"


def _source(piece: Piece) -> Any:
    return piece.open() if is_url(piece.url) else piece.url


def _column(column: Any, kind: str) -> NumberColumn | TextColumn | DateColumn:
    """A column of a record batch as an encoder takes it."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(column.type) and not _is_text(column.type.value_type):
        column = column.dictionary_decode()
    try:
        if types.is_boolean(column.type) and kind != NUMBER:
            flags: Any = np.from_dlpack(column.cast(pa.int32()).fill_null(-1))
            return TextColumn(flags.copy(), ("false", "true"))
        if kind == NUMBER:
            empty = _nulls(column)
            if types.is_time(column.type) or types.is_duration(column.type):
                seconds = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[column.type.unit]
                column = column.cast(pa.int32() if types.is_time32(column.type) else pa.int64())
                values = _floats(column) * seconds
            else:
                values = _floats(column).copy()
            values[empty | ~np.isfinite(values)] = np.nan
            return NumberColumn(values)
        if kind == DATE_KIND:
            zone = getattr(column.type, "tz", None)
            empty = _nulls(column)
            moments: Any = np.from_dlpack(
                column.cast(pa.timestamp("us", zone), safe=False).cast(pa.int64()).fill_null(0)
            )
            values = moments.astype("datetime64[us]")
            values[empty] = np.datetime64("NaT")
            return DateColumn(values)
        if not types.is_dictionary(column.type):
            if types.is_binary(column.type) or types.is_large_binary(column.type):
                raise pa.ArrowInvalid("bytes are no text")
            column = column.cast(pa.string()).dictionary_encode()
        codes: Any = np.from_dlpack(column.indices.cast(pa.int32()).fill_null(-1))
        return TextColumn(codes.copy(), tuple(column.dictionary.cast(pa.string()).to_pylist()))
    except (pa.ArrowException, KeyError) as e:
        raise DataError(
            f"a column of type {column.type} cannot be used as a {kind}: {e}. Drop it."
        ) from e


def _kind(type: Any) -> str:
    import pyarrow.types as kind

    if kind.is_boolean(type):
        return CATEGORY
    if _is_plain(type) or kind.is_decimal(type) or kind.is_null(type):
        return NUMBER
    if kind.is_time(type) or kind.is_duration(type):
        return NUMBER
    return DATE_KIND if kind.is_date(type) or kind.is_timestamp(type) else CATEGORY


def _is_plain(type: Any) -> bool:
    import pyarrow.types as kind

    return bool(kind.is_integer(type) or kind.is_floating(type) or kind.is_boolean(type))


def _columns_with_nulls(file: Any) -> list[int]:
    """The columns of a file that have missing values, where its statistics say so."""
    found, metadata = set(), file.metadata
    if metadata.num_columns != len(file.schema_arrow.names):
        return []  # nested
    for k in range(metadata.num_row_groups):
        group = metadata.row_group(k)
        for column in range(metadata.num_columns):
            statistics = group.column(column).statistics
            if statistics is not None and statistics.has_null_count and statistics.null_count:
                found.add(column)
    return sorted(found)


def _is_text(type: Any) -> bool:
    import pyarrow.types as kind

    return bool(kind.is_string(type) or kind.is_large_string(type))


def _check_label_type(type: Any, name: str, place: str) -> None:
    import pyarrow.types as kind

    value = type.value_type if kind.is_dictionary(type) else type
    known = kind.is_integer(value) or kind.is_floating(value) or kind.is_boolean(value)
    if not (known or _is_text(value)):
        raise LabelError(
            f"column {name!r} of {place} has values of type {type}, which cannot be labels. "
            "Convert it to text or integers."
        )


def _beyond_floats(column: Any) -> npt.NDArray[np.bool_]:
    """Integers beyond 2**53; 2**53 + 1 is rounded to 2**53, so the integer itself is compared."""
    large = np.abs(_floats(column)) >= LARGEST_INTEGER
    for at in np.flatnonzero(large).tolist():
        value = column[at].as_py()
        large[at] = value is not None and abs(value) > LARGEST_INTEGER
    return large


def _nulls(column: Any) -> npt.NDArray[np.bool_]:
    if not column.null_count:
        return np.zeros(len(column), dtype=bool)
    import pyarrow as pa

    return np.from_dlpack(column.is_null().cast(pa.int8())).astype(bool)


def _floats(column: Any) -> npt.NDArray[np.float64]:
    """The column as float64, 0 where nothing is. (to_numpy would import pandas.)"""
    import pyarrow as pa

    values: Any = np.from_dlpack(column.cast(pa.float64(), safe=False).fill_null(0.0))
    return values  # type: ignore[no-any-return]  # pyarrow has no hints


def _labels(column: Any) -> Labels:
    import pyarrow as pa
    import pyarrow.compute as pc

    types = pa.types
    if types.is_dictionary(column.type) and not _is_text(column.type.value_type):
        column = column.dictionary_decode()
    if types.is_boolean(column.type):
        return Labels.of_numbers(_floats(column) != 0)
    if types.is_integer(column.type) or types.is_floating(column.type):
        return Labels.of_numbers(np.from_dlpack(column))
    texts = column.dictionary if types.is_dictionary(column.type) else column
    LABEL_CHARS.check(pc.max(pc.utf8_length(texts)).as_py() or 0, "the label column")
    found = _column(column, CATEGORY)
    assert isinstance(found, TextColumn)
    values = as_labels(list(found.words)) if found.words else np.zeros(0, str)
    return Labels.of_typed(found.codes, values)
