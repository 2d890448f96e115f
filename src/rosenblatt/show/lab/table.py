"""Table: a CSV file somebody brings along, and the points that two of its columns make."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.errors import DataError
from rosenblatt.show.lab import limits
from rosenblatt.show.lab.limits import NAME
from rosenblatt.show.lab.situation import Situation, shown
from rosenblatt.text import plural

DELIMITERS = ",;\t|"
OFFERED = 20  # values of a column that are told


@dataclass(frozen=True)
class Table:
    """Cells by line, as they stand in the file; `lines` says where."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

    @classmethod
    def read(cls, raw: bytes) -> Table:
        """A header, if the first line is not all numbers, and rows of as many cells."""
        if b"\0" in raw:
            raise DataError("the file holds a zero byte, so it is not text. Save it as CSV.")
        text = _decoded(raw)
        first = next((line for line in text.splitlines() if line.strip()), "")
        sign = max(DELIMITERS, key=first.count)
        rows, lines = _cells(text, sign)
        if not rows:
            raise DataError("the file has no rows. Give a header and a line for each example.")
        names = tuple(f"column {k + 1}" for k in range(len(rows[0])))
        if not all(_number(cell) is not None for cell in rows[0]):
            names, rows, lines = _unique(rows[0]), rows[1:], lines[1:]
        if not rows:
            raise DataError("the file has a header and no rows. Add a line for each example.")
        for cells, line in zip(rows, lines, strict=True):
            if len(cells) != len(names):
                raise DataError(
                    f"line {line} has {plural(len(cells), 'cell')}, the first line has "
                    f"{len(names)}. Give every line as many, or quote cells that hold {sign!r}."
                )
        return cls(names, tuple(rows), tuple(lines))

    def column(self, name: str) -> int:
        """Which column has that name."""
        if name not in self.names:
            known = ", ".join(self.names[:20])
            raise DataError(f"there is no column {shown(name)}. There are {known}.")
        return self.names.index(name)

    def told(self) -> dict[str, Any]:
        """What there is to choose from."""
        columns = []
        for k, name in enumerate(self.names):
            cells = [row[k] for row in self.rows]
            wrong = [i for i, cell in enumerate(cells) if _number(cell) is None]
            values = list(dict.fromkeys(cells))
            column: dict[str, Any] = {
                "name": name, "kind": "text" if wrong else "number", "distinct": len(values),
                "values": values[:OFFERED],
            }  # fmt: skip
            if 0 < len(wrong) <= len(cells) / 2:  # of numbers, but for a few
                column["bad"] = {"line": self.lines[wrong[0]], "value": cells[wrong[0]][:NAME]}
            columns.append(column)
        return {"columns": columns, "rows": len(self.rows)}

    def situation(self, x: str, y: str, label: str, positive: str) -> tuple[Situation, str]:
        """The points, and what should be known about them."""
        axes, k = (self.column(x), self.column(y)), self.column(label)
        labels = [row[k] for row in self.rows]
        values = list(dict.fromkeys(labels))
        chosen = [v for v in values if _same(v, positive)]
        if not chosen:
            raise DataError(
                f"no row has {shown(positive)} in column {shown(label)}. There are "
                f"{', '.join(map(shown, values[:OFFERED]))}."
            )
        signs = np.array([1 if v in chosen else -1 for v in labels], dtype=np.int8)
        rows = _spread(signs)
        X = np.array([[self._coordinate(i, j) for j in axes] for i in rows])
        others = [v for v in values if v not in chosen]
        negative = others[0] if len(others) == 1 else f"not {chosen[0]}"
        made = Situation(
            X + 0.0, signs[rows], (_short(x), _short(y)), (_short(negative), _short(chosen[0]))
        )
        return made, self._note(len(rows), signs[rows])

    def _coordinate(self, row: int, column: int) -> float:
        cell, where = self.rows[row][column], f"line {self.lines[row]}"
        value = _number(cell)
        if value is None:
            raise DataError(
                f"{where}, column {shown(self.names[column])}: {shown(cell)} is not a number. "
                "Correct it or leave the line out."
            )
        if abs(value) > limits.LARGEST:
            raise DataError(
                f"{where}, column {shown(self.names[column])}: {cell} is beyond "
                f"{limits.LARGEST:g}, the largest the lab draws. Divide the column."
            )
        return value

    def _note(self, taken: int, signs: Any) -> str:
        positive = int((signs > 0).sum())
        said = f"{plural(taken, 'point')}, {positive} of them positive."
        if taken < len(self.rows):
            said += (
                f" The file has {len(self.rows):,} rows; the lab draws {limits.POINTS}, taken "
                "evenly from both classes."
            )
        return said


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = raw[: e.start].count(b"\n") + 1
        raise DataError(f"line {line} is not UTF-8 text. Save the file as UTF-8.") from e


def _cells(text: str, sign: str) -> tuple[list[tuple[str, ...]], list[int]]:
    """All cells, stripped, and the line each row begins at; empty lines are left out."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True)
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                _check(cells, line, len(rows))
                rows.append(tuple(cell.strip() for cell in cells))
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error as e:
        raise DataError(f"line {line} cannot be read as CSV: {e}. Look at its quotes.") from e
    return rows, lines


def _check(cells: Sequence[str], line: int, so_far: int) -> None:
    if so_far > limits.TABLE_ROWS:
        raise DataError(f"the file has more than {limits.TABLE_ROWS:,} rows. Give fewer.")
    if len(cells) > limits.TABLE_COLUMNS:
        raise DataError(
            f"line {line} has {len(cells)} cells, more than {limits.TABLE_COLUMNS}. Leave columns "
            "out."
        )
    longest = max(map(len, cells))
    if longest > limits.TABLE_FIELD:
        raise DataError(
            f"line {line} has a cell of {longest:,} characters, more than {limits.TABLE_FIELD:,}. "
            "A quote may be missing."
        )


def _number(cell: str) -> float | None:
    """A finite number, as Python reads it but without its underscores, or None."""
    try:
        value = float(cell) if "_" not in cell else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _same(a: str, b: str) -> bool:
    """The same text, or the same number."""
    first, second = _number(a), _number(b)
    return a == b.strip() or (first is not None and first == second)


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    found: list[str] = []
    for k, name in enumerate(names):
        wanted, n = name or f"column {k + 1}", 2
        chosen = wanted
        while chosen in found:
            chosen, n = f"{wanted} ({n})", n + 1
        found.append(chosen)
    return tuple(found)


def _short(name: str) -> str:
    return name if len(name) <= limits.NAME else name[: limits.NAME - 3] + "..."


def _spread(signs: Any) -> list[int]:
    """All rows, or so many, taken evenly from each class in proportion."""
    if len(signs) <= limits.POINTS:
        return list(range(len(signs)))
    positive, negative = np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)
    share = round(limits.POINTS * len(positive) / len(signs))
    share = min(max(share, 1), limits.POINTS - 1) if len(negative) else limits.POINTS
    taken = []
    for rows, many in ((positive, share), (negative, limits.POINTS - share)):
        many = min(many, len(rows))
        taken += rows[np.arange(many) * len(rows) // max(many, 1)].tolist()
    return sorted(taken)
