"""LIBSVM text: files of `label index:value ...`, also known as svmlight."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt._core import (
    PLAIN_COLUMNS,
    FeatureIndex,
    ParsedRows,
    parse_libsvm,
    renumber_columns,
)
from rosenblatt.data.block import Csr
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io.bad_lines import describe
from rosenblatt.io.byte_stream import TextBlock
from rosenblatt.io.limits import DEFAULT
from rosenblatt.io.text_format import Parsed, ReadOptions, Rows, TextFormat

LARGEST_INDEX = 2**31 - 2  # indices are int32, and so is the number of features


class Libsvm(TextFormat):
    """One pass over LIBSVM text.

    Where it is not known whether indices count from 0 or from 1, columns are the indices as they
    are written; column 0 is dropped at the end if no index was 0.

    With an index of features, indices from PLAIN_COLUMNS on get columns after it in the order in
    which they occur, so memory does not grow with the largest index.

    Attributes
    ----------
    first_column : int
        The first column that features use, as far as it has been read: 0 or 1.
    features : FeatureIndex or None
        Large indices, in the order of their columns.
    """

    name = "libsvm"

    def __init__(self, options: ReadOptions, features: FeatureIndex | None = None) -> None:
        super().__init__(options)
        self.features = features if options.n_features is None else None
        self._closed = features is not None and len(features) > 0  # those of a model
        base, n = options.zero_based, options.n_features
        if base not in ("auto", None, True, False):
            raise ParameterError(f"zero_based must be True, False or 'auto', got {base!r}.")
        if n is not None and not 1 <= n <= LARGEST_INDEX + 1:
            raise ParameterError(f"n_features must be between 1 and 2**31 - 1, got {n!r}.")
        self.zero_based = base if isinstance(base, bool) else None
        self.n_features = n
        self.first_column = 1 if self.zero_based is None else 0
        self._width = 0

    def parse(self, block: TextBlock) -> Parsed:
        """The rows of a block; any thread."""
        base, n = self.zero_based, self.n_features
        largest = LARGEST_INDEX if n is None else n - (base is True)
        text, own = memoryview(block.data)[: block.size], None
        if self.features is None:
            rows = parse_libsvm(text, base is not False, largest)
        else:
            own = FeatureIndex()
            rows = parse_libsvm(text, base is not False, features=own, plain_columns=PLAIN_COLUMNS)
        bad = tuple(describe(line, block.data, block.size) for line in rows.bad_lines)
        return Parsed(
            len(rows.labels), rows.n_lines, rows.n_bad_lines, bad, (rows, own),
            block.bytes_read, block.offset,
        )  # fmt: skip

    def rows(self, parsed: Parsed) -> Rows:
        """Rows as wide as all rows so far."""
        rows: ParsedRows = parsed.content[0]
        own: FeatureIndex | None = parsed.content[1]
        if self.zero_based is None and rows.has_zero:
            self.first_column = 0
        shift = self.zero_based is not False
        last = rows.max_index
        if own is not None and self.features is not None and len(own):
            columns, count = self.features.add_all(own), len(self.features)
            if not self._closed and count == self.features.max_features and columns.min() < 0:
                DEFAULT.check("names", count + 1, "indices beyond 2**22")
            columns[columns < 0] = count  # beyond all that have a weight
            renumber_columns(
                rows.indptr, rows.indices, rows.values, columns, PLAIN_COLUMNS - 1 + shift
            )
            last = PLAIN_COLUMNS + count - (not self._closed)
        self._width = max(self._width, last + shift)
        width, n = self._width, self.n_features
        if n is not None:
            width = n + (self.zero_based is None)
            if self.zero_based is None and self.first_column == 0 and self._width > n:
                raise DataError(
                    f"an index is 0 and another is {n}, so there are more than n_features={n}. "
                    "Raise n_features or pass zero_based."
                )
        return Rows(Csr(rows.values, rows.indices, rows.indptr, width), rows.labels, rows.weights)

    @property
    def large_indices(self) -> np.ndarray[Any, np.dtype[np.int64]] | None:
        """The indices of the columns after PLAIN_COLUMNS; None if there are none."""
        if self.features is None or not len(self.features):
            return None
        return np.array([int(name) for name in self.features.names()], np.int64)


def index_of(large_indices: Any, closed: bool = False) -> FeatureIndex:
    """An index of large indices; a closed one takes no others."""
    names = [] if large_indices is None else [str(k) for k in np.asarray(large_indices).tolist()]
    features = FeatureIndex(max_features=len(names)) if closed else FeatureIndex()
    for name in names:
        features.add(name)
    return features
