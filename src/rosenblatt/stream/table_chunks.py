"""Chunks of table columns of any kind, as chunks of features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from rosenblatt.data.block import as_csr
from rosenblatt.data.source import open_chunks
from rosenblatt.errors import ParameterError
from rosenblatt.features.table_features import TableFeatures


class TableChunks:
    """Chunks as the user gave them; if the first has columns that are not numbers, as CSR rows.

    `kinds`, `missing` and `scale` ask for CSR rows too, and so do tables that are no frames.

    Attributes
    ----------
    table : TableFeatures or None
        The features of the columns, whose kinds are those of the first chunk; None if the chunks
        stay as they are.
    scaled : bool
        Whether numbers are to be centred and scaled.
    """

    def __init__(
        self,
        chunks: Any,
        kinds: Mapping[str, str] | None,
        missing: Sequence[str],
        scale: bool | None,
    ) -> None:
        from rosenblatt.features.frames import batch_of_frame, has_only_numbers, is_table

        self.chunks, self.missing = chunks, missing
        rows = open_chunks(chunks)
        first = list(islice(rows, 1))
        self._opened: Iterator[Any] | None = chain(first, rows)
        self.table, self.scaled = None, False
        if not first or not isinstance(first[0], tuple | list) or not first[0]:
            return  # refused later
        X = first[0][0]
        plain = not is_table(X) or has_only_numbers(X)
        if not plain or kinds or missing or scale or isinstance(X, Mapping) or hasattr(X, "schema"):
            self.table = TableFeatures.of_batch(batch_of_frame(_named(X), kinds, missing))
            self.scaled = not plain if scale is None else scale

    def __iter__(self) -> Iterator[Any]:
        from rosenblatt.features.frames import batch_of_frame

        rows, self._opened = self._opened or open_chunks(self.chunks), None
        if self.table is None:
            yield from rows
            return
        self.table.begin()
        kinds = self.table.kinds
        for X, *others in rows:
            batch = batch_of_frame(_named(X), kinds, self.missing, kinds)
            yield (as_csr(self.table.encode(batch)).to_scipy(), *others)


def _named(X: Any) -> Any:
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
