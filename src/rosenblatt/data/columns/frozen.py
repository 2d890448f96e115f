"""Frozen: what is done to every column, learned once and never changed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from rosenblatt.data.block import Csr
from rosenblatt.data.columns.arrow import as_table, whole
from rosenblatt.data.columns.entries import KINDS, Dropped, Entry, Piece
from rosenblatt.errors import DataError

FORMAT = 1
MOST_COLUMNS = 100_000
MOST_FEATURES = 1_000_000
LONGEST_TEXT = 10_000


@dataclass(frozen=True)
class Columns:
    """What is done to raw columns to make numbers of them. It never changes.

    Attributes
    ----------
    entries : one a column, in the order of the columns
    rows : how many rows it was learned from

    Examples
    --------
    >>> from rosenblatt.data.columns import learn_columns
    >>> columns = learn_columns({"size": [1.0, None, 3.0], "colour": ["red", "blue", "red"]})
    >>> columns.feature_names
    ('size', 'size missing', 'colour=blue', 'colour=red')
    >>> columns.transform({"size": [4.0], "colour": ["green"]})
    array([[2., 0., 0., 0.]])
    >>> Columns.from_json(columns.to_json()) == columns
    True
    """

    entries: tuple[Entry, ...]
    rows: int = 0

    def __post_init__(self) -> None:
        why = self._wrong()
        if why:
            raise DataError(f"these columns cannot be used: {why}.")

    @property
    def width(self) -> int:
        """How many features there are."""
        return sum(e.width for e in self.entries)

    @property
    def used(self) -> tuple[Entry, ...]:
        """The entries of columns that are used."""
        return tuple(e for e in self.entries if e.width)

    @property
    def sparse(self) -> bool:
        """Whether `transform` gives CSR: it does where more than half of a row would be zeros."""
        return self.width > 2 * sum(e.slots for e in self.entries)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """One name a feature; where two would be the same, the later gets a number."""
        seen: dict[str, int] = {}
        names = []
        for name in (f for e in self.entries for f in e.features):
            seen[name] = seen.get(name, 0) + 1
            names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
        return tuple(names)

    def transform(self, data: Any) -> Any:
        """The features of a table, record batch or frame: float64, CSR if `sparse`, else dense.

        Columns are found by name; others that the data have are passed over. A category that was
        not met in training goes to the feature of all others if the column has one, else all
        features of the column are 0. So they are where a category is missing and none was in
        training; a missing number is then the mean, without an indicator.
        """
        made = self.matrix(as_table(data))
        return made.to_scipy() if isinstance(made, Csr) else made

    def matrix(self, table: Any) -> Any:
        """The same of an Arrow table, CSR as bare arrays."""
        pieces = [p for e in self.used for p in self._pieces(e, table)]
        return (_csr if self.sparse else _dense)(pieces, table.num_rows, self.width)

    def _pieces(self, entry: Entry, table: Any) -> list[Piece]:
        import pyarrow as pa

        if table.schema.names.count(entry.name) != 1:
            found = table.schema.names
            raise DataError(
                f"there {'is no column' if entry.name not in found else 'are two columns'} "
                f"{entry.name!r}; there are {found[:20]}. Give the columns that were learned."
            )
        try:
            return entry.pieces(whole(table.column(entry.name)))
        except pa.ArrowException as e:
            raise DataError(f"column {entry.name!r} cannot be made numbers: {e}.") from e

    def describe(self, most: int | None = None) -> str:
        """A table for people: a line a column, of the first `most` columns if that is given."""
        head = ("column", "kind", "features", "what is done")
        rows = [
            (_shown(e.name), e.kind, f"{e.width:,}", _shown(_line(e, self.rows)))
            for e in self.entries[:most]
        ]
        wide = [max(len(row[k]) for row in [head, *rows]) for k in range(3)]
        lines = [
            f"{a:<{wide[0]}}  {b:<{wide[1]}}  {c:>{wide[2]}}  {d}" for a, b, c, d in [head, *rows]
        ]
        left = len(self.entries) - len(rows)
        return "\n".join(lines + ([f"... and {left:,} columns more"] if left else []))

    def facts(self) -> list[dict[str, Any]]:
        """The same as JSON can hold it: name, kind, features, what is done, a remark."""
        return [
            {
                "column": e.name,
                "kind": e.kind,
                "features": e.width,
                "missing": e.missing,
                "done": e.done,
                "remark": e.note,
            }
            for e in self.entries
        ]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What somebody should know: columns that were dropped, hashed, or look odd."""
        return tuple(f"column {e.name!r}: {e.note}" for e in self.entries if e.note)

    def to_json(self) -> dict[str, Any]:
        """All of it, as JSON can hold it. Numbers come back to the bit."""
        entries = [
            {"kind": e.kind, **{f.name: _plain(getattr(e, f.name)) for f in fields(e)}}
            for e in self.entries
        ]
        return {"format": FORMAT, "rows": self.rows, "entries": entries}

    @classmethod
    def from_json(cls, held: Any) -> Columns:
        """What `to_json` gave. Anything else is a DataError; nothing in it is run or believed."""
        if not isinstance(held, Mapping) or set(held) != {"format", "rows", "entries"}:
            raise _unknown("it has not the parts format, rows and entries")
        if held["format"] != FORMAT:
            raise _unknown(f"format {_brief(held['format'])}; this version reads format {FORMAT}")
        entries = held["entries"]
        if not isinstance(entries, list) or len(entries) > MOST_COLUMNS:
            raise _unknown(f"entries that are no list, or more than {MOST_COLUMNS:,}")
        rows = _checked("rows", "int", held["rows"])
        return cls(tuple(map(_entry, entries)), rows)

    def _wrong(self) -> str | None:
        if len(self.entries) > MOST_COLUMNS:
            return f"{len(self.entries):,} columns, more than {MOST_COLUMNS:,}"
        names = [e.name for e in self.entries]
        if len(set(names)) < len(names):
            twice = next(n for k, n in enumerate(names) if n in names[:k])
            return f"two are called {twice!r}"
        for e in self.entries:
            why = e.wrong()
            if why:
                return f"column {e.name!r} has {why}"
        if self.width > MOST_FEATURES:
            widest = max(self.entries, key=lambda e: e.width)
            return (
                f"they make {self.width:,} features, more than {MOST_FEATURES:,}, of which "
                f"{widest.width:,} of column {widest.name!r}. Take fewer categories or bits"
            )
        return None


def _line(entry: Entry, rows: int) -> str:
    share = ""
    if entry.missing and rows and not isinstance(entry, Dropped):
        share = f" ({entry.missing / rows:.2%} missing)"
    note = f" [{entry.note}]" if entry.note else ""
    return entry.done + share + note


def _shown(text: str) -> str:
    """Without what could move the cursor of a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _dense(pieces: Iterable[Piece], n: int, width: int) -> Any:
    X = np.zeros((n, width))
    start = 0
    for values, places, wide in pieces:
        if values is not None:
            X[:, start] = values
        elif places is not None:
            rows = np.flatnonzero(places >= 0)
            X[rows, start + places[rows]] = 1.0
        start += wide
    return X


def _csr(pieces: list[Piece], n: int, width: int) -> Csr:
    """Every piece has one slot a row; slots in the order of the features, so indices rise."""
    data = np.ones((n, len(pieces)))
    indices = np.empty((n, len(pieces)), dtype=np.int32)
    kept = np.ones((n, len(pieces)), dtype=bool)
    start = 0
    for k, (values, places, wide) in enumerate(pieces):
        if values is not None:
            data[:, k] = values
            indices[:, k] = start
        elif places is not None:
            indices[:, k] = start + places
            kept[:, k] = places >= 0
        start += wide
    indptr = np.zeros(n + 1, dtype=np.int32)
    np.cumsum(kept.sum(axis=1), out=indptr[1:])
    return Csr(data[kept], indices[kept], indptr, width)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _entry(held: Any) -> Entry:
    if not isinstance(held, Mapping) or not isinstance(held.get("kind"), str):
        raise _unknown("an entry without a kind")
    kind = KINDS.get(held["kind"])
    if kind is None:
        raise _unknown(f"the kind {_brief(held['kind'])}")
    wanted = {f.name: str(f.type) for f in fields(kind)}
    if set(held) != {"kind", *wanted}:
        raise _unknown(f"a {kind.kind} with other parts than {', '.join(wanted)}")
    return kind(**{name: _checked(name, type, held[name]) for name, type in wanted.items()})


def _checked(name: str, type: str, value: Any) -> Any:
    """The value, if it is of this type and of a size that can be."""
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
    if type == "float" and (whole or (isinstance(value, float) and math.isfinite(value))):
        return float(value)
    if type == "int" and whole and value >= 0:
        return value
    if type == "bool" and isinstance(value, bool):
        return value
    if type == "str" and isinstance(value, str) and len(value) <= LONGEST_TEXT and _utf8(value):
        return value
    if type.startswith("tuple") and isinstance(value, list) and len(value) <= MOST_FEATURES:
        inner = type.removeprefix("tuple[").partition(",")[0]
        return tuple(_checked(name, inner, v) for v in value)
    raise _unknown(f"{name} is {_brief(value)}, expected {type}")


def _brief(value: Any) -> str:
    """A few characters of something of any size."""
    if isinstance(value, str):
        return repr(value[:40])
    small = isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**64)
    return repr(value) if small or value is None else f"a {type(value).__name__}"


def _utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unknown(why: str) -> DataError:
    return DataError(f"this is no description of columns that can be read: {why}.")
