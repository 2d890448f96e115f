"""LIBSVM: files of `label index:value ...`, also known as svmlight."""

from __future__ import annotations

from dataclasses import dataclass

from rosenblatt._core import ParsedRows, parse_libsvm
from rosenblatt.data.blocks import Block
from rosenblatt.data.reading import Chunk, Csr, Parsed, ReadAgain
from rosenblatt.data.text import TextPass, lines_of, parsed

LARGEST_INDEX = 2**31 - 2  # indices are int32, and so is the number of features


@dataclass(frozen=True)
class Libsvm:
    """Settings: how many features, and whether indices count from 0 (None: see `first`)."""

    n_features: int | None = None
    zero_based: bool | None = None

    def begin(self) -> LibsvmPass:
        return LibsvmPass(self)


class LibsvmPass(TextPass):
    """Rows so far, and the base of the indices once it is known."""

    def __init__(self, format: Libsvm) -> None:
        self.format = format
        self.zero_based = format.zero_based
        self.width = 0
        self.rows = 0

    @property
    def base(self) -> int:
        """The index of the first column. It is 1 until an index 0 is met."""
        return 0 if self.zero_based else 1

    def first(self, block: Block) -> Parsed:
        """Indices count from 1, unless they were said to count from 0 or one of the block is 0."""
        found = self.parse(block)
        if self.zero_based is None and found.content.has_zero:
            self.zero_based = True
            found = self.parse(block)
        return found

    def parse(self, block: Block) -> Parsed:
        n = self.format.n_features
        max_index = (LARGEST_INDEX if n is None else n - 1) + self.base
        return parsed(block, parse_libsvm(lines_of(block), self.zero_based, max_index))

    def chunk(self, found: Parsed) -> Chunk:
        rows: ParsedRows = found.content
        if self.zero_based is None and rows.has_zero:
            raise ReadAgain(
                f"an index is 0 among rows {self.rows} to {self.rows + found.rows - 1}; all rows "
                "before had indices from 1 and were read so. Pass zero_based=True.",
                {"zero_based": True},
            )
        self.rows += found.rows
        self.width = max(self.width, rows.max_index + 1 - self.base)
        shape = (found.rows, self.format.n_features or self.width)
        return Chunk(Csr(rows.values, rows.indices, rows.indptr, shape), rows.labels, None)
