"""Chunks of table columns of any kind, as chunks of features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from rosenblatt.data.block import as_csr
from rosenblatt.errors import ParameterError
from rosenblatt.features.table_features import TableFeatures


class OpenedChunks:
    """Chunks of which the first was looked at.

    Attributes
    ----------
    batches : iterable or function
        As the user gave them; an iterator can be read only once.
    first : tuple, list or None
        The first chunk; None if there is none, or if it is not a chunk.
    """

    def __init__(self, chunks: Any) -> None:
        self.batches = chunks
        rows = iter(chunks() if callable(chunks) else chunks)
        first = list(islice(rows, 1))
        self._opened: Iterator[Any] | None = chain(first, rows)
        chunk = first[0] if first else None
        self.first = chunk if isinstance(chunk, tuple | list) and chunk else None

    def __iter__(self) -> Iterator[Any]:
        opened, self._opened = self._opened, None
        self.first = None
        if opened is not None:
            return opened
        return iter(self.batches() if callable(self.batches) else self.batches)


class TableChunks:
    """Chunks of frames, Arrow tables or dicts of columns, as CSR rows of features.

    Attributes
    ----------
    table : TableFeatures
        The kinds of the columns are those of the first chunk.
    scaled : TableFeatures or None
        The same, if numbers are to be centred and scaled.
    """

    def __init__(
        self,
        opened: OpenedChunks,
        first: Any,
        kinds: Mapping[str, str],
        missing: Sequence[str],
        scale: bool,
    ) -> None:
        from rosenblatt.features.frames import batch_of_frame

        self.opened, self.batches, self.missing = opened, opened.batches, missing
        batch = batch_of_frame(named(first), kinds, missing)
        self.table = TableFeatures.of_batch(batch)
        self.scaled = self.table if scale else None

    def __iter__(self) -> Iterator[Any]:
        from rosenblatt.features.frames import batch_of_frame

        self.table.begin()
        kinds = self.table.kinds
        for X, *others in self.opened:
            batch = batch_of_frame(named(X), kinds, self.missing, kinds)
            rows = as_csr(self.table.encode(batch))
            yield (rows.to_scipy(), *others)


def named(X: Any) -> Any:
    """A table with named columns; those of an array are x0, x1, ..."""
    from rosenblatt.features.frames import is_table

    if is_table(X):
        return X
    if hasattr(X, "tocsr") or np.ndim(X) != 2:
        raise ParameterError(
            "scale, kinds and missing are for tables: frames, dicts of columns, dense arrays. "
            "Leave them out."
        )
    return {f"x{k}": column for k, column in enumerate(np.asarray(X).T)}


def open_chunks(
    chunks: Any, kinds: Mapping[str, str] | None, missing: Sequence[str], scale: bool | None
) -> Any:
    """Chunks of features if the columns of the first chunk are not all numbers, else as they are.

    `kinds`, `missing` and `scale` ask for features too.
    """
    from rosenblatt.features.frames import has_only_numbers, is_table

    if not callable(chunks) and not isinstance(chunks, Iterable):
        return chunks  # refused later
    if isinstance(chunks, str | bytes | dict) or hasattr(chunks, "shape"):
        return chunks
    try:
        opened = OpenedChunks(chunks)
    except TypeError:
        return chunks
    if opened.first is None:
        return opened
    X = opened.first[0]
    plain = not is_table(X) or has_only_numbers(X)
    named_columns = isinstance(X, Mapping) or hasattr(X, "schema")
    if plain and not (kinds or missing or scale or named_columns):
        return opened
    return TableChunks(opened, X, kinds or {}, missing, not plain if scale is None else scale)
