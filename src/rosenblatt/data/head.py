"""Head: the first rows of a file, and whether there are more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.data.readers import FileChunks, Table, _stacked, read_chunks
from rosenblatt.data.reading import Chunk, ReadAgain
from rosenblatt.errors import LabelError, ParameterError


@dataclass(frozen=True, eq=False)
class Head:
    """The labelled ones among the first rows of a file.

    Attributes
    ----------
    table : Table
    more : bool
        Whether the file goes on after them.
    unlabelled : int
        Rows without a label, left out.
    """

    table: Table
    more: bool
    unlabelled: int


def head(path: str | Path, rows: int, **settings: Any) -> Head:
    """The first `rows` rows; settings as for :func:`rosenblatt.read_chunks`.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "tiny.csv"
    >>> size = file.write_text("1,yes\\n2,no\\n3,no\\n")
    >>> start = head(file, 2, target=-1)
    >>> start.table.X, start.table.y, start.more
    (array([[1.], [2.]]), array(['yes', 'no'], dtype='<U3'), True)
    """
    if rows < 1:
        raise ParameterError(f"rows must be at least 1, got {rows}.")
    source = read_chunks(path, **settings)
    while True:
        try:
            chunks, more = _first(source, rows)
            break
        except ReadAgain as e:
            source = source._again(e)
    y = np.concatenate([c.y for c in chunks])
    X = _stacked([c.X for c in chunks])
    weights = None
    if any(c.sample_weight is not None for c in chunks):
        ones = (np.ones(len(c.y)) if c.sample_weight is None else c.sample_weight for c in chunks)
        weights = np.concatenate(list(ones))
    there = ~np.isnan(y) if y.dtype.kind == "f" else np.ones(len(y), dtype=bool)
    if not there.any():
        raise LabelError(f"the first {len(y):,} rows of {path} have no labels. Give rows that do.")
    if not there.all():
        X, y, weights = X[there], y[there], None if weights is None else weights[there]
    table = Table(X, y, source.feature_names, weights, source.skipped)
    return Head(table, more, int((~there).sum()))


def _first(source: FileChunks, rows: int) -> tuple[list[Chunk], bool]:
    """Chunks of just so many rows, or all there are."""
    chunks: list[Chunk] = []
    left = rows
    for chunk in source:
        if left == 0:
            return chunks, True
        if len(chunk.y) > left:
            weight = chunk.sample_weight
            cut = Chunk(chunk.X[:left], chunk.y[:left], None if weight is None else weight[:left])
            return [*chunks, cut], True
        chunks.append(chunk)
        left -= len(chunk.y)
    return chunks, False
