"""LIBSVM text: files of `label index:value ...`, also known as svmlight."""

from __future__ import annotations

from typing import Any

from rosenblatt._core import PLAIN_COLUMNS, FeatureIndex, ParsedRows, parse_libsvm
from rosenblatt.data.block import Csr
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io.byte_stream import TextBlock
from rosenblatt.io.text_format import IndexedFormat, Labels, Parsed, ReadOptions, Rows

LARGEST_INDEX = 2**31 - 2  # indices are int32, and so is the number of features


class Libsvm(IndexedFormat):
    """One pass over LIBSVM text.

    Where it is not known whether indices count from 0 or from 1, columns are the indices as they
    are written; column 0 is dropped at the end if no index was 0.

    With an index of features, indices from PLAIN_COLUMNS on get columns after it in the order in
    which they occur, so memory does not grow with the largest index.
    """

    name = "libsvm"

    def __init__(self, options: ReadOptions, features: FeatureIndex | None = None) -> None:
        super().__init__(options, features if options.n_features is None else None)
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
        return self.parsed(rows, block, own)

    def rows(self, parsed: Parsed) -> Rows:
        """Rows as wide as all rows so far."""
        rows: ParsedRows = parsed.content[0]
        own: FeatureIndex | None = parsed.content[1]
        if self.zero_based is None and rows.has_zero:
            self.first_column = 0
        shift = self.zero_based is not False
        last = rows.max_index
        if own is not None and len(own):
            last = self.indexed(rows, own, PLAIN_COLUMNS - 1 + shift) - shift
        self._width = max(self._width, last + shift)
        width, n = self._width, self.n_features
        if n is not None:
            width = n + (self.zero_based is None)
            if self.zero_based is None and self.first_column == 0 and self._width > n:
                raise DataError(
                    f"an index is 0 and another is {n}, so there are more than n_features={n}. "
                    "Raise n_features or pass zero_based."
                )
        X = Csr(rows.values, rows.indices, rows.indptr, width)
        return Rows(X, Labels.of_numbers(rows.labels), rows.weights)

    def settings(self) -> dict[str, Any]:
        """How files were read, with what was found out, for the file of a model."""
        return {"zero_based": self.first_column == 0 and self.zero_based is not False}
