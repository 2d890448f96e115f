"""LIBSVM: files of `label index:value ...`, also known as svmlight."""

from __future__ import annotations

from dataclasses import dataclass

from rosenblatt.data import parsers
from rosenblatt.data.blocks import Block
from rosenblatt.data.reading import Chunk, Csr, Parsed, ReadAgain
from rosenblatt.data.text import Lines, TextPass, parsed

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
        super().__init__()
        self.format = format
        self.base = {None: parsers.AUTO, True: 0, False: parsers.STRICT}[format.zero_based]
        self.width = 0
        self.rows = 0

    def first(self, block: Block) -> Parsed:
        """Indices count from 1, unless they were said to count from 0 or one of the block is 0."""
        found = self.parse(block)
        if self.base == parsers.AUTO and found.content.has_zero:
            self.base = 0
            found = self.parse(block)
        return found

    def parse(self, block: Block) -> Parsed:
        room, base = self.room, self.base
        room.hold(block.size, entry=4, hashed=False)
        offset = 0 if base == 0 else 1
        n = self.format.n_features
        limit = (LARGEST_INDEX if n is None else n - 1) + offset

        def kernel(address: int, count: object) -> None:
            parsers.libsvm(
                address, block.size, base, limit, room.rows, room.unsure, room.bad, count
            )

        return parsed(block, room, kernel)

    def chunk(self, found: Parsed) -> Chunk:
        lines: Lines = found.content
        if self.base == parsers.AUTO and lines.has_zero:
            raise ReadAgain(
                f"an index is 0 among rows {self.rows} to {self.rows + found.rows - 1}; all rows "
                "before had indices from 1 and were read so. Pass zero_based=True.",
                {"zero_based": True},
            )
        self.rows += found.rows
        offset = 0 if self.base == 0 else 1
        self.width = max(self.width, lines.largest + 1 - offset)
        shape = (found.rows, self.format.n_features or self.width)
        X = Csr(lines.values, lines.indices, lines.indptr, shape)
        return Chunk(X, lines.y, None)
