"""Columns of any kind: what is done to those of a file, learned in a pass before the first."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rosenblatt.data.column_batch import ColumnBatch, DateColumn, NumberColumn
from rosenblatt.data.columns.entries import Dropped, Moment, Number
from rosenblatt.data.columns.frozen import Columns
from rosenblatt.data.columns.learning import Learner, Wishes
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io.parquet import pyarrow
from rosenblatt.io.reader import open_source
from rosenblatt.io.text_format import ReadOptions


def arrow_table(batch: ColumnBatch, plain: bool = False) -> Any:
    """The columns as an Arrow table; `plain`: without dictionaries."""
    pa = pyarrow()

    columns = {}
    for name, column in zip(batch.names, batch.columns, strict=True):
        if isinstance(column, NumberColumn | DateColumn):
            empty = np.isnan(column.values) if column.values.dtype.kind == "f" else None
            empty = np.isnat(column.values) if empty is None else empty
            columns[name] = pa.array(column.values, mask=empty)
            continue
        codes = pa.array(column.codes, mask=column.codes < 0)
        texts = pa.DictionaryArray.from_arrays(codes, pa.array(column.words, pa.string()))
        columns[name] = texts.dictionary_decode() if plain else texts
    return pa.table(columns)


class ColumnsEncoder:
    """Makes rows of numbers of table columns, as `Columns` says."""

    def __init__(self, columns: Columns) -> None:
        self.columns, self.feature_names = columns, columns.feature_names

    def encode(self, batch: ColumnBatch) -> Any:
        """Rows of numbers, dense or Csr."""
        made = self.columns.matrix(arrow_table(batch))
        return np.ascontiguousarray(made) if isinstance(made, np.ndarray) else made

    @property
    def digest(self) -> str:
        """Of what is done to the columns."""
        return hashlib.sha256(json.dumps(self.columns.to_json()).encode()).hexdigest()

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of every column that is used, as readers have it."""
        kinds = {Number: "number", Moment: "date"}
        return {e.name: kinds.get(type(e), "category") for e in self.columns.used}


class _Learning:
    """Hands the columns of a file to a learner."""

    feature_names: tuple[str, ...] = ()

    def __init__(self, learner: Learner) -> None:
        self.learner = learner

    def encode(self, batch: ColumnBatch) -> Any:
        self.learner.add(arrow_table(batch, plain=True))
        return np.empty((batch.n_rows, 0))


def learn_file_columns(place: Any, options: ReadOptions, wishes: Wishes) -> Columns:
    """Read a file once, to learn what is done to its columns."""
    dropped = {name for name, kind in wishes.kinds.items() if kind == "drop"}
    forced = {
        name: "category" if kind == "hash" else kind
        for name, kind in wishes.kinds.items() if kind != "drop"
    }  # fmt: skip
    looked = open_source(place, options)
    layout = looked.layout
    if layout is None:
        raise DataError(f"{place} is neither CSV nor Parquet: it has no columns of other kinds.")
    for name in wishes.kinds:
        if name not in layout.features:
            raise ParameterError(
                f"{place} has no column {name!r} to learn from; it has "
                f"{list(layout.features[:20])}."
            )
    kept = [name for name in layout.features if name not in dropped]
    if not kept:
        raise DataError(f"no column of {place} can be used: all are dropped.")
    learner = Learner(replace(wishes, kinds={k: v for k, v in wishes.kinds.items() if k in kept}))
    source = open_source(
        place, replace(options, kinds=forced or None), encoder=_Learning(learner),
        feature_names=kept,
    )  # fmt: skip
    for _ in source.rows():
        pass
    found = learner.freeze()
    entries = {e.name: e for e in found.entries}
    entries |= {name: Dropped(name, 0, "dropped as asked") for name in dropped}
    columns = Columns(tuple(entries[name] for name in layout.features), found.rows)
    if not columns.width:
        raise DataError(f"no column of {place} can be used:\n{columns.describe()}")
    return columns


def columns_of_file(
    path: Any,
    *,
    scaling: str = "standard",
    max_categories: int = 1000,
    hash_bits: int = 14,
    kinds: Mapping[str, str] | None = None,
    **reading: Any,
) -> Columns:
    """Read the columns of a file once, to find what is done to make numbers of them.

    Parameters
    ----------
    path : str, Path or pyarrow dataset
        A CSV or Parquet file, which may be larger than memory.
    scaling, max_categories, hash_bits, kinds
        As for :func:`rosenblatt.learn_columns`.
    **reading
        Parameters of :func:`rosenblatt.read_chunks`; `target` is needed.

    Examples
    --------
    >>> from pathlib import Path; from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "clicks.csv"
    >>> size = file.write_text("age,city,clicked\\n20,Bonn,no\\n?,Rome,yes\\n40,Rome,no\\n")
    >>> print(columns_of_file(file, target="clicked").describe())
    column  kind      features  what is done
    age     number           2  minus 30, divided by 10; nothing is 30 (33.33% missing)
    city    category         2  one of 2
    """
    wishes = Wishes(scaling, max_categories, hash_bits, dict(kinds or {}))
    return learn_file_columns(path, ReadOptions.of(reading), wishes)
