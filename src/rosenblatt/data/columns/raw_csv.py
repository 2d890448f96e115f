"""Raw CSV: files of columns of any kind. pyarrow reads; Python explains.

The first pass (`columns` is None) finds out what kind every column is: a column of which a cell
does not fit is text from then on, and is looked at again from the start, alone. The passes after it
know the kinds, and make numbers of the columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.blocks import Block
from rosenblatt.data.columns.arrow import floats, texts
from rosenblatt.data.columns.cells import (
    FALSE,
    TRUE,
    WORDS,
    arrow_type,
    converted,
    kind_of_cells,
    misfits,
    with_missing,
)
from rosenblatt.data.columns.entries import Boolean, Moment, Number
from rosenblatt.data.columns.frozen import Columns
from rosenblatt.data.csv_file import MISSING, NO_LABEL, Cells, Csv, CsvPass, missing, records
from rosenblatt.data.reading import LISTED, BadLine, Chunk, Parsed
from rosenblatt.data.where import parse_where
from rosenblatt.errors import DataError


@dataclass(eq=False)
class Kinds:
    """What is known of the kinds of columns so far.

    `known` has a kind or None (nothing but missing values yet) for every column that is read;
    `late` those whose kind was not clear from the first block, with the cell that did not fit.
    """

    known: dict[str, str | None] = field(default_factory=dict)
    late: dict[str, str] = field(default_factory=dict)
    forced: dict[str, str] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RawCsv(Csv):
    """Settings: as `Csv`, and what is done to the columns, or None while that is found out.

    missing : marks of missing values besides those that are always
    where : which rows are read (`data/where.py`)
    """

    missing: tuple[str, ...] = ()
    columns: Columns | None = None
    kinds: Kinds | None = None
    where: str | None = None

    def begin(self) -> RawCsvPass:
        return RawCsvPass(self)


class RawCsvPass(CsvPass):
    """One pass. A chunk has an Arrow table for X while the columns are looked at."""

    format: RawCsv

    def __init__(self, format: RawCsv) -> None:
        super().__init__(format)
        self.columns = format.columns
        self.state = format.kinds or Kinds()
        self.marks = sorted(MISSING | set(format.missing))
        self.conditions = () if format.where is None else parse_where(format.where)

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.columns.feature_names if self.columns is not None else super().feature_names

    def chunk(self, found: Parsed) -> Chunk:
        if self.columns is None:
            return Chunk(found.content.X, np.empty(0), None)
        return super().chunk(found)

    def _label_column(self, numbered: bool) -> int:
        if self.columns is None:
            return super()._label_column(numbered)
        needed = {e.name for e in self.columns.used}
        every = [e.name for e in self.columns.entries]
        headless = self.names == [f"f{k}" for k in range(len(self.names))]
        if headless and len(self.names) == len(every) and numbered:
            self.names = every  # the columns of the first file without its labels
            return NO_LABEL
        absent = sorted(needed - set(self.names))
        if absent:
            raise DataError(
                f"{self.path} has no column {absent[0]!r}; it has {self.names[:20]}. Give the "
                "columns of the model."
            )
        unlabelled = not numbered or len(self.names) == len(every)
        if unlabelled and self.format.target not in self.names:
            return NO_LABEL
        return super()._label_column(numbered)

    def _parsed(self, block: Block, start: int) -> Parsed:
        lines = block.data.count(b"\n", 0, block.size)
        if not self.state.known:
            self._begin(block, start)
        found = self._quick(block, start) if block.size > start else None
        bad: list[BadLine] = []
        if found is None:
            found, bad = self._slow(block, start)
        if self.columns is not None:
            found = Cells(self.columns.matrix(found.X), found.codes, found.texts)
        rows = len(found.codes)
        before = block.data.count(b"\n", 0, start)
        first = Parsed(0, 0, None, bad=tuple(bad[:LISTED])).moved(before)
        return Parsed(rows, lines, found, len(bad), first, block.bytes_read)

    def _begin(self, block: Block, start: int) -> None:
        """The kinds of the columns: as they were learned, or else as the first block looks."""
        state, label = self.state, None if self.label == NO_LABEL else self.names[self.label]
        if self.columns is not None:
            kind = {Number: "number", Boolean: "boolean"}
            for e in self.columns.used:
                dated = isinstance(e, Moment)
                zoned = "zoned date" if dated and e.zoned else "date" if dated else "text"  # type: ignore[attr-defined]  # a Moment
                state.known[e.name] = kind.get(type(e), zoned)
            return
        cells, _, _ = self._texts(block, start)
        for name, column in cells.items():
            if name != label and name not in state.dropped:
                found = state.forced.get(name) or kind_of_cells(column)
                state.known[name] = found

    def _quick(self, block: Block, start: int) -> Cells | None:
        """By pyarrow; None if there is anything to look at more closely."""
        import pyarrow as pa

        known = self.state.known
        tested = self._tested()
        types = {n: arrow_type(k) if k else pa.null() for n, k in known.items()}
        if self.columns is None:  # counted in groups, of which each has few of all texts
            types |= {n: pa.string() for n, k in known.items() if k == "text"}
        label = None if self.label == NO_LABEL else self.names[self.label]
        if label is not None:
            types[label] = arrow_type("text")
        try:
            table = self._read(block, start, types)
            if tested:
                words = self._read(block, start, dict.fromkeys(tested, pa.string()))
                wanted = self._wanted({n: words.column(n).combine_chunks() for n in tested})
                table = table.filter(pa.array(wanted))
        except pa.ArrowInvalid:
            return None
        columns, marks = {}, pa.array(self.marks)
        for name, kind in known.items():
            column = table.column(name).combine_chunks()
            if kind == "number" and np.isinf(floats(column)).any():
                return None
            columns[name] = with_missing(column, marks) if kind == "text" else column
        features = pa.table(columns) if columns else table.select([])
        if label is None or not table.num_rows:
            return Cells(features, np.zeros(table.num_rows, dtype=np.int32), [])
        values, codes = texts(table.column(label).combine_chunks())
        words = values.to_pylist()
        if tested:  # labels of rows that are not wanted do not count
            met, codes = np.unique(codes, return_inverse=True)
            words = [words[k] for k in met.tolist()]
        return None if missing(words) else Cells(features, codes, words)

    def _read(self, block: Block, start: int, types: dict[str, Any]) -> Any:
        """These columns as these types."""
        import pyarrow as pa
        import pyarrow.csv as pc

        part = memoryview(block.data)[start : block.size]
        return pc.read_csv(
            pa.BufferReader(pa.py_buffer(part)),
            pc.ReadOptions(use_threads=False, column_names=self.names, block_size=len(part) + 1),
            pc.ParseOptions(delimiter=self.format.delimiter, newlines_in_values=b'"' in block.data),
            pc.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=self.marks,
                true_values=TRUE,
                false_values=FALSE,
            ),
        )

    def _tested(self) -> list[str]:
        """The columns that conditions speak of."""
        names = sorted({c.column for c in self.conditions})
        for name in names:
            if name not in self.names:
                raise DataError(f"{self.path} has no column {name!r} for where.")
        return names

    def _wanted(self, cells: dict[str, Any]) -> npt.NDArray[np.bool_]:
        """Which rows fulfil all conditions, from columns of text."""
        wanted: npt.NDArray[np.bool_] = np.array(True)
        for c in self.conditions:
            values, number = texts(cells[c.column])
            # the last is that of number -1: nothing, which fulfils no condition
            holds = [w not in self.marks and c.holds(w) for w in values.to_pylist()] + [False]
            wanted = wanted & np.array(holds)[number]
        return wanted

    def _slow(self, block: Block, start: int) -> tuple[Cells, list[BadLine]]:
        """Cell by cell, with the lines of what is wrong."""
        import pyarrow as pa

        cells, places, bad = self._texts(block, start)
        tested = self._tested()
        unwanted = np.zeros(len(places), dtype=bool)
        if tested:
            unwanted = ~self._wanted({n: cells[n] for n in tested})
        wrong = unwanted.copy()

        def strike(odd: npt.NDArray[np.bool_], name: str, expected: str) -> None:
            at = self.names.index(name) + 1
            for k in np.flatnonzero(odd & ~wrong):
                cell = cells[name][int(k)].as_py()
                shown = "nothing" if not cell else repr(cell[:40])
                bad.append(BadLine(places[k], at, expected, shown))
            wrong[odd] = True

        columns = {}
        for name in self.state.known:
            column = self._as_known(name, cells[name], strike)
            if self.state.known[name] == "number":
                strike(np.isinf(floats(column)), name, f"a finite number in column {name!r}")
            columns[name] = column
        label = [""] * len(places)
        if self.label != NO_LABEL:
            name = self.names[self.label]
            label = cells[name].to_pylist()
            if missing(sorted(set(label))):
                strike(np.array([v in MISSING for v in label]), name, "a label")
        bad.sort(key=lambda b: b.line)
        kept = np.flatnonzero(~wrong)
        table = pa.table(columns) if columns else pa.table({"": label}).select([])
        words = sorted({label[k] for k in kept})
        code = {word: k for k, word in enumerate(words)}
        codes = np.array([code[label[k]] for k in kept], dtype=np.int64)
        return Cells(table.take(pa.array(kept)), codes, words), bad

    def _as_known(self, name: str, column: Any, strike: Any) -> Any:
        """The column as its kind; one that does not fit becomes text, if that is still open."""
        import pyarrow as pa

        kind = self.state.known[name]
        if kind is None:
            kind = kind_of_cells(column)
            if kind is None:
                return pa.nulls(len(column))
            self._learn(name, kind, "")
        made = converted(column, kind)
        if made is not None:
            return column if kind == "text" and self.columns is None else made
        odd = misfits(column, kind)
        if self.columns is None:
            self._learn(name, "text", column[int(odd.argmax())].as_py())
            return column
        strike(odd, name, f"{WORDS[kind]} in column {name!r}")
        fit = pa.array(~odd)
        import pyarrow.compute as pc

        return converted(pc.if_else(fit, column, pa.scalar(None, pa.string())), kind)

    def _learn(self, name: str, kind: str, cell: str) -> None:
        self.state.known[name] = kind
        if not self.state.late.get(name):
            self.state.late[name] = cell[:40]

    def _texts(self, block: Block, start: int) -> tuple[dict[str, Any], list[int], list[BadLine]]:
        """All cells as text, nothing where a mark stands; the lines of the rows; odd records."""
        import pyarrow as pa

        rows, places, bad = [], [], []
        for line, record in records(block, start, self.format.delimiter):
            if isinstance(record, BadLine):
                bad.append(record)
                continue
            odd = self._odd(record, line)
            if odd is not None:
                bad.append(odd)
                continue
            rows.append(record)
            places.append(line)
        columns, marks = {}, pa.array(self.marks)
        for k, name in enumerate(self.names):
            # in a column that is not read there may be bytes that are no text
            cells = [record[k].encode("utf-8", "replace").decode() for record in rows]
            column = pa.array(cells, pa.string())
            columns[name] = column if k == self.label else with_missing(column, marks)
        return columns, places, bad

    def _odd(self, record: list[str], line: int) -> BadLine | None:
        """A record that has no place in the table."""
        if len(record) != len(self.names):
            return BadLine(line, 1, f"{len(self.names)} cells", str(len(record)))
        if all(map(str.isascii, record)):
            return None
        known, tested = self.state.known, self._tested()
        for k, cell in enumerate(record):
            # what is not read can be anything, as for pyarrow
            unread = known and k != self.label and self.names[k] not in (*known, *tested)
            if not unread and any("\ud800" <= c <= "\udfff" for c in cell):
                what = f"text in UTF-8 in column {self.names[k]!r}"
                return BadLine(line, k + 1, what, repr(cell[:40]))
        return None
