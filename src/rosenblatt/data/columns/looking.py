"""Looking: the first pass over a file, which settles what is done to its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rosenblatt.data.columns.cells import converted
from rosenblatt.data.columns.entries import Category, Dropped, Entry, Hashed
from rosenblatt.data.columns.frozen import Columns
from rosenblatt.data.columns.learning import Learner, Wishes
from rosenblatt.data.columns.raw_csv import Kinds, RawCsv
from rosenblatt.data.columns.raw_parquet import RawParquet
from rosenblatt.data.formats import format_of
from rosenblatt.data.readers import FileChunks, read_chunks
from rosenblatt.errors import DataError, ParameterError


def looked_at(source: FileChunks, wishes: Wishes | None = None) -> FileChunks:
    """The same file, read with columns that were learned from all of it.

    Parameters
    ----------
    source : a CSV or Parquet file, as `read_chunks(..., columns="raw")` gives it
    wishes : how the columns are to be learned
    """
    wishes = wishes or Wishes()
    dropped = frozenset(n for n, k in wishes.kinds.items() if k == "drop")
    format: Any = source.format
    if isinstance(format, RawCsv):
        entries, rows, names = _look_at_csv(source, wishes, dropped)
    elif isinstance(format, RawParquet):
        source = replace(source, format=replace(format, dropped=dropped))
        found = _look(source, wishes, None).freeze()
        entries, rows, names = list(found.entries), found.rows, source.feature_names
    else:
        raise DataError(f"{source.path} is neither CSV nor Parquet: it has no raw columns.")
    by_name = {e.name: e for e in entries}
    asked = {n: Dropped(n, 0, "dropped as asked") for n in dropped}
    columns = Columns(tuple((asked | by_name)[n] for n in names), rows)
    if not columns.width:
        raise DataError(f"no column of {source.path} can be used:\n{columns.describe()}")
    return replace(source, format=replace(format, columns=columns))


def needs_columns(path: str | Path, **reading: Any) -> bool:
    """Whether a column of the first block of a CSV file, the labels aside, has no number at all."""
    if (reading.get("format") or format_of(Path(path))) != "csv":
        return False
    import pyarrow as pa

    table = next(iter(read_chunks(path, **{**reading, "columns": "raw"}).plain)).X
    for column in table.columns:
        if pa.types.is_string(column.type):
            words = column.combine_chunks().unique().drop_null()
            if all(converted(words.slice(k, 1), "number") is None for k in range(len(words))):
                return True
        elif not pa.types.is_floating(column.type) and not pa.types.is_null(column.type):
            return True
    return False


def columns_of_file(
    path: str | Path,
    *,
    scaling: str = "standard",
    max_categories: int = 1000,
    hash_bits: int = 14,
    kinds: Mapping[str, str] | None = None,
    **reading: Any,
) -> Columns:
    """Look at the raw columns of a file once: what is to be done to make numbers of them.

    Parameters
    ----------
    path : a CSV or Parquet file; it may be larger than memory
    scaling, max_categories, hash_bits, kinds : as for :func:`rosenblatt.learn_columns`
    reading : settings of :func:`rosenblatt.read_chunks`; `target` is needed

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "clicks.csv"
    >>> size = file.write_text("age,city,clicked\\n20,Bonn,no\\n?,Rome,yes\\n40,Rome,no\\n")
    >>> columns = columns_of_file(file, target="clicked")
    >>> print(columns.describe())
    column  kind      features  what is done
    age     number           2  minus 30, divided by 10; nothing is 30 (33.33% missing)
    city    category         2  one of 2
    >>> next(iter(read_chunks(file, target="clicked", columns=columns))).X
    array([[-1.,  0.,  1.,  0.],
           [ 0.,  1.,  0.,  1.],
           [ 1.,  0.,  0.,  1.]])
    """
    wishes = Wishes(scaling, max_categories, hash_bits, dict(kinds or {}))
    source: Any = looked_at(read_chunks(path, **{**reading, "columns": "raw"}), wishes).format
    columns: Columns = source.columns
    return columns


def _look_at_csv(
    source: FileChunks, wishes: Wishes, dropped: frozenset[str]
) -> tuple[list[Entry], int, tuple[str, ...]]:
    """All columns in one pass; those whose kind was clear only later again, in a second.

    That may read a line that the first skipped, malformed in a column that is not read again, and
    its cells may call for another kind: then a third.
    """
    format: Any = source.format
    forced = {n: "text" for n, k in wishes.kinds.items() if k in ("category", "hash")}
    kinds = Kinds(forced=forced, dropped=dropped)
    # one thread parses: what a block shows of the kinds holds for the next
    source = replace(
        source, format=replace(format, kinds=kinds), plan=replace(source.plan, threads=1)
    )
    first = _look(source, wishes, kinds).freeze()
    entries, names = list(first.entries), source.feature_names
    while kinds.late:  # nothing but text can be late twice, and anything is text
        again = Kinds(known={name: kinds.known[name] for name in kinds.late})
        found = _look(replace(source, format=replace(format, kinds=again)), wishes, again)
        entries += [_remarked(e, kinds.late[e.name]) for e in found.freeze().entries]
        kinds = again
    return entries, first.rows, names


def _look(source: FileChunks, wishes: Wishes, kinds: Kinds | None) -> Learner:
    learner: Learner | None = None
    gone: set[str] = set()
    for chunk in source.plain:
        if learner is None:
            _check_names(source, wishes)
            there = set(chunk.X.schema.names)
            learner = Learner(
                replace(wishes, kinds={n: k for n, k in wishes.kinds.items() if n in there})
            )
            learner.begin(chunk.X.schema)
        for name in (set(kinds.late) if kinds is not None else set()) - gone:
            learner.forget(name)
            gone.add(name)
        learner.add(chunk.X)
    assert learner is not None  # a file without rows is an error before
    return learner


def _check_names(source: FileChunks, wishes: Wishes) -> None:
    for name in wishes.kinds:
        if name not in source.feature_names:
            raise ParameterError(
                f"{source.path} has no column {name!r} to learn from; it has "
                f"{list(source.feature_names[:20])}."
            )


def _remarked(entry: Entry, cell: str) -> Entry:
    """With the cell that made text of a column."""
    if not cell or not isinstance(entry, (Category, Hashed)):
        return entry
    odd = f"text because of {cell!r}; if that is no value, give it as a mark of missing values"
    return replace(entry, note="; ".join(filter(None, [entry.note, odd])))
