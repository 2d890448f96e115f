"""CSV: header, kinds of columns and label column. The grammar is in core/parse_csv.hpp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from rosenblatt._core import ParsedTable, csv_first_record, csv_records_end, parse_csv
from rosenblatt.errors import DataError, ParameterError
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
from rosenblatt.features.dates import DATE, dates_of
from rosenblatt.io.bad_lines import describe
from rosenblatt.io.byte_stream import ByteStream, TextBlock
from rosenblatt.io.layout import Layout, TableFormat, is_number
from rosenblatt.io.limits import LABEL_CHARS, TABLE_COLUMNS
from rosenblatt.io.location import Piece, suffix_of
from rosenblatt.io.text_format import Labels, Parsed, ReadOptions, Rows, TextFormat

MISSING = ("?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None")
HEAD = 1 << 20  # bytes that decide the header and the kinds of columns


class Csv(TableFormat, TextFormat):
    """One pass over CSV text. Its layout is known once a file was opened."""

    name = "csv"

    def __init__(self, options: ReadOptions, wanted: Sequence[str] | None) -> None:
        super().__init__(options, wanted)
        self.delimiter = options.delimiter or ","
        if len(self.delimiter.encode()) != 1 or self.delimiter in '"\r\n':
            raise ParameterError(
                f"delimiter must be one character of one byte, no quote and no line end, got "
                f"{self.delimiter!r}."
            )
        self.missing = [*MISSING, *(options.missing or ())]

    def settings(self) -> dict[str, Any]:
        """How files were read, with what was found out, for the file of a model."""
        held = {**super().settings(), "delimiter": self.delimiter}
        if self.options.header is not None:
            held["header"] = self.options.header
        if self.options.missing:
            held["missing"] = list(self.options.missing)
        return held

    def look(self, piece: Piece, stream: ByteStream | None) -> None:
        """Look at the beginning of the first file."""
        if stream is not None:
            self.begin(stream)
            return
        with ByteStream(piece) as opened:
            self.begin(opened)

    @property
    def longest(self) -> int:
        """A record may have several long cells, and what follows an open quote is looked at."""
        return 2 * self.options.max_line_bytes + 2

    def begin(self, stream: ByteStream) -> tuple[int, int]:
        """Find header, label column and kinds of a file."""
        piece = stream.piece
        if self.options.delimiter is None:
            self.delimiter = "\t" if suffix_of(piece.url) == ".tsv" else ","
        head = bytearray(stream.peek(HEAD))
        start = 0
        while start < len(head) and head[start] in b"\r\n":
            start += 1
        if start == len(head):
            return start, head.count(b"\n")
        if len(head) == HEAD and not self.cut(head, len(head)):
            head = bytearray(stream.peek(self.longest))
        longest = self.options.max_line_bytes
        cells, size = csv_first_record(memoryview(head)[start:], self.delimiter, longest)
        if cells is None:
            table = parse_csv(memoryview(head)[start : start + size], "t", self.delimiter,
                              longest_cell=longest)  # fmt: skip
            bad = describe(table.bad_lines[0], head[start:], size, [""], self.delimiter)
            raise DataError(
                f"{piece}, {bad.moved(head.count(10, 0, start))}. Fix the first line: it says "
                "which columns there are."
            )
        TABLE_COLUMNS.check(len(cells), str(piece))
        end = len(head) if len(head) < HEAD else start + size + self.cut(
            head[start + size :], len(head) - start - size
        )  # fmt: skip
        rest = memoryview(head)[start + size : end]
        first = memoryview(head)[start : start + size]
        header = self._has_header(len(cells), first, rest, piece)
        names = tuple(cells) if header else tuple(f"f{k}" for k in range(len(cells)))
        if (
            not header and self.wanted is not None and len(names) == len(self.wanted)
            and self.options.optional_label
        ):  # fmt: skip
            names = tuple(self.wanted)
        label = self.label_column(names, piece)
        if self.begin_file(names, label, piece):
            records = rest if header else memoryview(head)[start:end]
            self.choose(self._layout(names, label, records), piece)
        begin = start + size if header else start
        return begin, head.count(b"\n", 0, begin)

    def _has_header(self, n: int, first: Any, rest: Any, piece: Any) -> bool:
        """Whether the first of the records, each of n cells, has the names of the columns."""
        target = self.options.target
        assert target is not None
        if self.options.header is not None:
            return self.options.header
        if not is_number(target):
            return True
        head, others = self._parse(first, "m" * n), self._parse(rest, "m" * n)
        values: Any = np.isfinite(head.numbers).any(axis=0)
        there = ~np.isnan(others.numbers)
        if not len(there):
            return not values.any()
        numeric = [bool(there[:, k].any()) and k not in others.odd for k in range(n)]
        has_names = any(is_numeric and k in head.odd for k, is_numeric in enumerate(numeric))
        has_values = bool(values[numeric].any())
        if has_names != has_values:
            return has_names
        why = "no column has only numbers" if not any(numeric) else "the first line has both"
        raise DataError(
            f"cannot tell whether the first line of {piece} has the names of the columns: {why}. "
            "Say it: header=True or False in Python, --header or --no-header on the command line."
        )

    def _parse(self, records: Any, kinds: str) -> ParsedTable:
        options = self.options
        label_marks = list(options.missing or ())
        if self.layout is not None and self.layout.label is not None:
            numbers = self.layout.kinds[self.layout.label] == NUMBER
            label_marks = self.missing if numbers else label_marks
        return parse_csv(
            records, kinds, self.delimiter, self.missing, label_marks, options.max_line_bytes,
            LABEL_CHARS.most,
        )  # fmt: skip

    def _layout(self, names: tuple[str, ...], label: int | None, records: Any) -> Layout:
        """The kinds of columns, from the head of the file."""
        table = self._parse(records, "m" * len(names))
        forced, skip = self.options.kinds or {}, self.options.on_error == "skip"
        kinds, mixed, plain = [], {}, True
        for k, name in enumerate(names):
            numbers = ~np.isnan(table.numbers[:, k])
            words = table.odd[k][2] if k in table.odd else ()
            kind = CATEGORY if words else NUMBER
            if words and not numbers.any() and all(DATE.fullmatch(word.strip()) for word in words):
                kind = DATE_KIND
            if k == label and not numbers.any() and not words:
                kind = CATEGORY  # labels that are all NA may be texts
            kinds.append(forced.get(name, kind))
            if k == label or kinds[k] == DROP:
                continue
            if words and numbers.any() and name not in forced:
                mixed[name] = words[0]
            plain &= (skip and bool(numbers.any())) or bool(numbers.all())
        return Layout(names, label, tuple(kinds), plain, mixed)

    @cached_property
    def _letters(self) -> str:
        """How each column is parsed, see core/parse_csv.hpp."""
        layout = self.layout
        assert layout is not None
        if self.encoder is None:
            letter = dict.fromkeys(layout.kinds, "n")
        else:
            letter = {NUMBER: "m", DATE_KIND: "t", CATEGORY: "t"}
        kept = set(self.used)
        return "".join(
            "l" if k == layout.label else letter[kind] if k in kept else "-"
            for k, kind in enumerate(layout.kinds)
        )

    def cut(self, data: bytearray, size: int) -> int:
        """Where the last whole record of data[:size] ends; 0 if there is none."""
        return csv_records_end(memoryview(data)[:size], self.delimiter, self.options.max_line_bytes)

    def parse(self, block: TextBlock) -> Parsed:
        """The records of a block; any thread."""
        table = self._parse(memoryview(block.data)[: block.size], self._letters)
        layout = self.layout
        assert layout is not None
        bad = tuple(
            describe(line, block.data, block.size, layout.names, self.delimiter)
            for line in table.bad_lines
        )
        n_rows = len(table.numbers)
        return Parsed(
            n_rows, table.n_lines, table.n_bad_lines, bad, table, block.bytes_read, block.offset
        )

    def rows(self, parsed: Parsed) -> Rows:
        """Rows of numbers, or of the features that the encoder makes of the columns."""
        table: ParsedTable = parsed.content
        labels = self._labels(table)
        if self.encoder is not None:
            return Rows(self.encoder.encode(self.batch(table)), labels)
        if self.used == sorted(self.used):
            return Rows(table.numbers, labels)
        order = np.argsort(np.argsort(self.used))  # of columns of the model in those of the file
        return Rows(np.ascontiguousarray(table.numbers[:, order]), labels)

    def _labels(self, table: ParsedTable) -> Labels:
        column = "".join(letter for letter in self._letters if letter in "tl").find("l")
        if column < 0:
            return Labels.none(len(table.numbers))
        return Labels(np.ascontiguousarray(table.codes[:, column]), table.words[column])

    def batch(self, table: ParsedTable) -> ColumnBatch:
        """The columns of a block as an encoder takes them."""
        layout = self.layout
        assert layout is not None
        columns: dict[int, NumberColumn | TextColumn | DateColumn] = {}
        numbers = texts = 0
        n_rows = len(table.numbers)
        for k, letter in enumerate(self._letters):
            if letter == "m":
                columns[k] = NumberColumn(
                    table.numbers[:, numbers], _odd(table.odd, numbers, n_rows)
                )
                numbers += 1
            elif letter in "tl":
                column = TextColumn(table.codes[:, texts], tuple(table.words[texts]))
                if letter == "t":
                    date = layout.kinds[k] == DATE_KIND
                    columns[k] = dates_of(column) if date else column
                texts += 1
        return ColumnBatch(self.feature_names, tuple(columns[k] for k in self.used), n_rows)


def _odd(odd: Mapping[int, Any], column: int, n_rows: int) -> TextColumn | None:
    if column not in odd:
        return None
    rows, places, words = odd[column]
    codes = np.full(n_rows, -1, np.int32)
    codes[rows] = places
    return TextColumn(codes, tuple(words))
