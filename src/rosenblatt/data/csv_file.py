"""CSV: files of numbers with one column of labels. pyarrow reads; Python explains.

Every block goes through pyarrow first. If it finds anything that is not a finite number, or an
integer beyond 2**53, the block is read again by Python's csv module, cell by cell, which says in
which line it stands or leaves that line out.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.blocks import Block, blocks, in_order, last_line_end, opened
from rosenblatt.data.folders import files_of, size_of
from rosenblatt.data.reading import LARGEST_INTEGER, LISTED, BadLine, Chunk, Parsed, Plan, ReadAgain
from rosenblatt.errors import DataError

NUMBER = re.compile(r"[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*")
INTEGER = re.compile(r"[ \t]*[+-]?[0-9]+[ \t]*")
MISSING = {"", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None"}
KINDS = ("integers", "numbers", "text")
NO_LABEL = -1


@dataclass(frozen=True)
class Csv:
    """Settings: the label column, whether names come first, what parts cells, what labels are.

    A file of just `n_features` columns, none of them called `target`, has no labels.
    """

    target: str
    header: bool | None = None
    delimiter: str = ","
    labels: str | None = None
    n_features: int | None = None

    def begin(self) -> CsvPass:
        return CsvPass(self)


@dataclass(frozen=True, eq=False)
class Cells:
    """What a block held: numbers, and the labels as numbers into a list of texts."""

    X: npt.NDArray[np.float64]
    codes: npt.NDArray[np.integer[Any]]
    texts: list[str]


class CsvPass:
    """One pass: the names of the columns, and what kind of thing the labels are, once known."""

    settled_by_first = True

    def __init__(self, format: Csv) -> None:
        self.format = format
        self.kind = None if format.labels is None else KINDS.index(format.labels)
        self.names: list[str] = []
        self.label = NO_LABEL
        self.path = Path()

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(n for k, n in enumerate(self.names) if k != self.label)

    def blocks(self, path: Path, plan: Plan) -> Iterator[Parsed]:
        self.path, before = path, 0
        for file in files_of(path):
            with opened(file) as source:
                items = blocks(source, file, plan.chunk_bytes, last_record_end, plan.leap)
                for part in in_order(items, self.first, self.parse, plan.threads, source.stop):
                    yield replace(part, bytes_read=before + part.bytes_read)
            before += size_of(file)

    def first(self, block: Block) -> Parsed:
        """Take the names from the first record that is not empty, then parse the rest."""
        start = 0
        while start < block.size and block.data[start] in b"\r\n":
            start += 1
        end = first_record_end(block.data, start, block.size)
        record = bytes(block.data[start:end]).decode("utf-8", "backslashreplace")
        cells = next(
            csv.reader(io.StringIO(record, newline=""), delimiter=self.format.delimiter), []
        )
        numbered = self.format.target.lstrip("-").isdigit()
        header = not numbered if self.format.header is None else self.format.header
        names, self.names = self.names, cells if header else [f"f{k}" for k in range(len(cells))]
        self.label = self._label_column(numbered)
        if names and self.names != names:
            raise DataError(
                f"the columns of one file of {self.path} are {self.names[:20]}, those of the files "
                f"before it {names[:20]}. Give files of the same columns in the same order."
            )
        return self._parsed(block, end if header else start)

    def parse(self, block: Block) -> Parsed:
        return self._parsed(block, 0)

    def chunk(self, found: Parsed) -> Chunk:
        cells: Cells = found.content
        if self.label == NO_LABEL:
            return Chunk(cells.X, np.full(cells.X.shape[0], np.nan), None)
        needed = max((kind_of(text) for text in cells.texts), default=0)
        self.kind = needed if self.kind is None else self.kind
        if needed > self.kind:
            odd = next(text for text in cells.texts if kind_of(text) == needed)
            raise ReadAgain(
                f"the labels of {self.path} were {KINDS[self.kind]} up to here, and now there is "
                f"{odd!r}. Pass labels={KINDS[needed]!r}.",
                {"labels": KINDS[needed]},
            )
        make = (int, float, str)[self.kind]
        dtype = (np.int64, np.float64, None)[self.kind]
        return Chunk(cells.X, np.array([make(t) for t in cells.texts], dtype)[cells.codes], None)

    def _label_column(self, numbered: bool) -> int:
        names, target = self.names, self.format.target
        for k, name in enumerate(names):
            if name in names[:k]:
                raise DataError(
                    f"columns {names.index(name)} and {k} of {self.path} are both called {name!r}. "
                    "Give every column its own name, or say that there is no header."
                )
        if target in names:
            return names.index(target)
        if len(names) == self.format.n_features:
            return NO_LABEL
        if not numbered:
            hint = " It seems to be separated by semicolons; commas or tabs are read."
            raise DataError(
                f"{self.path} has no column {target!r}; it has {names[:20]}."
                f"{hint if len(names) == 1 and ';' in names[0] else ''}"
            )
        if not -len(names) <= int(target) < len(names):
            raise DataError(
                f"{self.path} has {len(names)} columns, so there is no column {target}."
            )
        return int(target) % len(names)

    def _parsed(self, block: Block, start: int) -> Parsed:
        lines = block.data.count(b"\n", 0, block.size)
        cells = self._quickly(block, start) if block.size > start else None
        if cells is not None:
            return Parsed(len(cells.X), lines, cells, bytes_read=block.bytes_read)
        cells, bad = self._carefully(block, start)
        before = block.data.count(b"\n", 0, start)
        first = Parsed(0, 0, None, bad=tuple(bad[:LISTED])).moved(before)
        return Parsed(len(cells.X), lines, cells, len(bad), first, block.bytes_read)

    def _quickly(self, block: Block, start: int) -> Cells | None:
        """By pyarrow; None if there is anything to look at more closely."""
        import pyarrow as pa

        label = None if self.label == NO_LABEL else self.names[self.label]
        types = {n: pa.float64() for n in self.names}
        if label is not None:
            types[label] = pa.dictionary(pa.int32(), pa.string())
        try:
            table = self._table(block, start, types)
        except pa.ArrowInvalid:
            return None
        X = np.empty((table.num_rows, len(self.feature_names)))
        for k, name in enumerate(self.feature_names):
            column = table.column(name).combine_chunks()
            if column.null_count:
                return None
            X[:, k] = np.from_dlpack(column)  # to_numpy would import pandas
        if X.size and not self._small_or_written_so(X, block, start):
            return None
        if not table.num_rows or label is None:
            return Cells(X, np.zeros(len(X), dtype=np.int32), [])
        labels = table.column(label).combine_chunks()
        texts = labels.dictionary.to_pylist()
        codes: Any = np.from_dlpack(labels.indices)
        return None if missing(texts) else Cells(X, codes, texts)

    def _table(self, block: Block, start: int, types: dict[str, Any]) -> Any:
        import pyarrow as pa
        import pyarrow.csv as pc

        part = memoryview(block.data)[start : block.size]
        return pc.read_csv(
            pa.BufferReader(pa.py_buffer(part)),
            pc.ReadOptions(use_threads=False, column_names=self.names, block_size=len(part) + 1),
            pc.ParseOptions(delimiter=self.format.delimiter, newlines_in_values=b'"' in block.data),
            pc.ConvertOptions(column_types=types, include_columns=list(types)),
        )

    def _small_or_written_so(self, X: npt.NDArray[np.float64], block: Block, start: int) -> bool:
        """All finite, and what is beyond 2**53 is not written as an integer."""
        low, high = X.min(), X.max()
        if low > -LARGEST_INTEGER and high < LARGEST_INTEGER:
            return True
        if not (np.isfinite(low) and np.isfinite(high)):
            return False
        import pyarrow as pa

        large = np.abs(X) >= LARGEST_INTEGER
        at = np.flatnonzero(large.any(axis=0))
        names = [self.feature_names[k] for k in at]
        table = self._table(block, start, {name: pa.string() for name in names})
        for k, name in zip(at, names, strict=True):
            for text in table.column(name).filter(pa.array(large[:, k])).to_pylist():
                if INTEGER.fullmatch(text) and abs(int(text)) > LARGEST_INTEGER:
                    return False
        return True

    def _carefully(self, block: Block, start: int) -> tuple[Cells, list[BadLine]]:
        """Cell by cell."""
        rows, labels, places, bad = [], [], [], []
        for line, record in records(block, start, self.format.delimiter):
            if isinstance(record, BadLine):
                bad.append(record)
                continue
            wrong = self._wrong(record, line)
            if wrong is not None:
                bad.append(wrong)
                continue
            rows.append([float(c) for k, c in enumerate(record) if k != self.label])
            labels.append("0" if self.label == NO_LABEL else record[self.label])
            places.append(line)
        if missing(sorted(set(labels))):
            for k in [k for k, label in enumerate(labels) if label in MISSING][::-1]:
                found = "nothing" if not labels[k] else repr(labels[k])
                bad.append(BadLine(places[k], self.label + 1, "a label", found))
                del rows[k], labels[k]
            bad.sort(key=lambda b: b.line)
        texts = sorted(set(labels))
        code = {t: k for k, t in enumerate(texts)}
        X = np.array(rows, dtype=np.float64).reshape(len(rows), len(self.feature_names))
        return Cells(X, np.array([code[t] for t in labels], dtype=np.int32), texts), bad

    def _wrong(self, record: list[str], line: int) -> BadLine | None:
        if len(record) != len(self.names):
            return BadLine(line, 1, f"{len(self.names)} cells", str(len(record)))
        for k, cell in enumerate(record):
            where = f"column {self.names[k]!r}"
            found = repr(cell[:40]) if cell.strip() else "nothing"
            if k == self.label:
                if any("\ud800" <= c <= "\udfff" for c in cell):
                    return BadLine(line, k + 1, f"text in UTF-8 in {where}", found)
            elif not NUMBER.fullmatch(cell):
                return BadLine(line, k + 1, f"a number in {where}", found)
            elif not np.isfinite(float(cell)):
                return BadLine(line, k + 1, f"a number within float64 in {where}", found)
            elif INTEGER.fullmatch(cell) and abs(int(cell)) > LARGEST_INTEGER:
                what = f"integers up to 2**53, where float64 tells neighbours apart, in {where}"
                return BadLine(line, k + 1, what, found)
        return None


def kind_of(text: str) -> int:
    """0 for an integer (of 64 bits), 1 for another number, 2 for text: places in KINDS."""
    if INTEGER.fullmatch(text) and len(text) < 100 and -(2**63) <= int(text) < 2**63:
        return 0
    return 1 if NUMBER.fullmatch(text) and np.isfinite(float(text)) else 2


def missing(texts: list[str]) -> bool:
    """Whether a label is missing: nothing, or a mark such as NA or ? among numbers."""
    marks = [t for t in texts if t in MISSING]
    others = [t for t in texts if t not in MISSING]
    return "" in marks or bool(marks and others and all(kind_of(t) < 2 for t in others))


def first_record_end(data: bytearray, start: int, size: int) -> int:
    """Where the record ends that begins at `start`; a newline between quotes does not end it."""
    end = start
    while True:
        end = data.find(b"\n", end, size) + 1
        if not end:
            return size
        if data.count(b'"', start, end) % 2 == 0:
            return end


def last_record_end(data: bytearray, size: int) -> int:
    """Where the last whole record ends: at a newline with an even number of quotes before it."""
    end = last_line_end(data, size)
    quotes = data.count(b'"', 0, end)
    while quotes % 2:
        before = last_line_end(data, data.rfind(b'"', 0, end))
        quotes -= data.count(b'"', before, end)
        end = before
    return end


def records(block: Block, start: int, delimiter: str) -> Iterator[tuple[int, list[str] | BadLine]]:
    """The records of a block that hold something, with the lines they begin at; cells as text.

    Bytes that are no UTF-8 become surrogates; what is no record of CSV, a bad line.
    """
    text = bytes(block.data[start : block.size]).decode("utf-8", "surrogateescape")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    while True:
        line = reader.line_num + 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as e:
            yield line, BadLine(line, 1, "a record of CSV", f"one that cannot be read ({e})")
            continue
        if record:
            yield line, record
