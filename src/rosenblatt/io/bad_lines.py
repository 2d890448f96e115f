"""Messages about malformed lines: what was expected and found at the place that a parser named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rosenblatt._core import BadLine as CoreBadLine
from rosenblatt._core import LineError, csv_first_record

LISTED = 10  # malformed lines that are listed; all are counted

EXPECTED = {
    LineError.OUT_OF_RANGE: "numbers within the range of float64",
    LineError.NAME_TOO_LONG: "a name of a feature of at most 1,000 bytes",
    LineError.TOO_MANY_NAMES: "at most 1,000,000 names of features in a block",
    LineError.LABEL: "a label (one number) and a space",
    LineError.QUERY: "a whole number after qid:",
    LineError.INDEX: "an index and a colon, as in 3:0.5",
    LineError.INDEX_ORDER: "indices that rise within a row",
    LineError.INDEX_ZERO: "indices from 1 (zero_based=False was given)",
    LineError.INDEX_TOO_LARGE: "an index within n_features, and below 2**31 - 1",
    LineError.VALUE: "a number after the colon",
    LineError.AFTER_VALUE: "a space after the value",
    LineError.TAB_BEFORE_BAR: "no tab before the first | (VW drops what stands before it)",
    LineError.MISSING_BAR: "a | after label, weight, base and tag",
    LineError.LABEL_WORDS: "label, weight and base as at most three numbers before the |",
    LineError.NEGATIVE_WEIGHT: "an importance weight that is not negative",
    LineError.NAMESPACE_NAME: "the name of a namespace, or a space, after |",
    LineError.NAMESPACE_SCALE: "a number after the colon of a namespace",
    LineError.FEATURE_VALUE: "a number or text after the colon (VW would misread this)",
    LineError.AFTER_FEATURE: "a space or | after a feature or namespace",
    LineError.QUOTE_OPEN: "a closing quote",
    LineError.AFTER_QUOTE: "a delimiter or line end after the closing quote",
    LineError.BARE_QUOTE: "no quote within a cell that does not begin with one",
    LineError.LONE_CR: "LF or CR LF at the end of a line, not CR alone",
    LineError.NOT_UTF8: "text in UTF-8 (iconv converts other encodings)",
    LineError.NOT_A_NUMBER: "a number",
    LineError.INTEGER_TOO_LARGE: "integers up to 2**53, where float64 tells neighbours apart,",
    LineError.MISSING_LABEL: "a label",
    LineError.LABEL_TOO_LONG: "a label of at most 1,000 bytes",
}


@dataclass(frozen=True)
class BadLine:
    """A malformed line: where it is, what was expected there and what was found.

    Lines and columns count from 1. The column is a byte of the line; in CSV and Parquet it is a
    column of the table, and Parquet has rows in place of lines (`unit`).
    """

    line: int
    column: int
    expected: str
    found: str
    unit: str = "line"

    def __str__(self) -> str:
        where = f"{self.unit} {self.line}, column {self.column}"
        return f"{where}: expected {self.expected}, found {self.found}"

    def moved(self, lines: int) -> BadLine:
        """The same with `lines` added to its line number."""
        return replace(self, line=self.line + lines)


@dataclass(frozen=True)
class SkippedLines:
    """Malformed lines that were skipped: how many, and the first ten of them."""

    count: int = 0
    first: tuple[BadLine, ...] = ()

    @classmethod
    def from_dict(cls, values: dict[str, object]) -> SkippedLines:
        """From the result of `dataclasses.asdict`."""
        listed: Sequence[dict[str, object]] = values["first"]  # type: ignore[assignment]  # JSON
        return cls(int(values["count"]), tuple(BadLine(**line) for line in listed))  # type: ignore[call-overload, arg-type]

    def plus(self, count: int, bad: Sequence[BadLine]) -> SkippedLines:
        """With further lines."""
        return SkippedLines(self.count + count, (*self.first, *bad)[:LISTED])

    def __str__(self) -> str:
        if not self.count:
            return "no malformed lines"
        listed = "".join(f"\n  {bad}" for bad in self.first)
        return f"{self.count:,} malformed lines left out, the first of them:{listed}"


def describe(
    bad: CoreBadLine, data: bytearray, end: int, names: Sequence[str] = (), delimiter: str = ","
) -> BadLine:
    """A malformed line of data[:end] in words; `names` are those of the columns of a table."""
    stop = min(end, bad.offset + 200)
    line_end = data.find(b"\n", bad.offset, stop)
    rest = bytes(data[bad.offset : stop if line_end < 0 else line_end]).removesuffix(b"\r")
    if not names:
        words = rest[:24].split(maxsplit=1)
        found = shown(words[0]) if words else "the end of the line"
        return BadLine(bad.line, bad.column, EXPECTED[bad.error], found)
    if bad.error == LineError.CELL_COUNT:
        return BadLine(bad.line, 1, f"{len(names)} cells", str(bad.cell))
    expected, column = EXPECTED[bad.error], max(bad.cell, 0)
    if column < len(names):
        expected += f" in column {names[column]!r}"
    cells, _ = csv_first_record(rest, delimiter)
    cell = shown(rest[:24]) if cells is None else repr(cells[0][:40]) if cells[0].strip() else ""
    return BadLine(bad.line, column + 1, expected, cell or "nothing")


def shown(text: bytes) -> str:
    """Bytes as a quoted text."""
    return repr(text.decode("utf-8", "backslashreplace"))
