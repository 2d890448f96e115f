"""VW text: files of `label weight |namespace feature:value ...`, hashed as Vowpal Wabbit does."""

from __future__ import annotations

from rosenblatt._core import ParsedRows, parse_vw
from rosenblatt.data.block import Csr
from rosenblatt.errors import ParameterError
from rosenblatt.io.bad_lines import describe
from rosenblatt.io.byte_stream import TextBlock
from rosenblatt.io.text_format import Parsed, ReadOptions, Rows, TextFormat


class VWText(TextFormat):
    """One pass over VW text."""

    name = "vw"

    def __init__(self, options: ReadOptions) -> None:
        super().__init__(options)
        self.bits = 18 if options.bits is None else options.bits
        self.hash = options.hash or "strings"
        self.constant = bool(options.constant)
        if self.hash not in ("strings", "all"):
            raise ParameterError(f"hash must be 'strings' or 'all', got {self.hash!r}.")

    def parse(self, block: TextBlock) -> Parsed:
        """The rows of a block; any thread."""
        text = memoryview(block.data)[: block.size]
        rows = parse_vw(text, self.bits, self.hash == "all", self.constant)
        bad = tuple(describe(line, block.data, block.size) for line in rows.bad_lines)
        return Parsed(
            len(rows.labels), rows.n_lines, rows.n_bad_lines, bad, rows, block.bytes_read,
            block.offset,
        )  # fmt: skip

    def rows(self, parsed: Parsed) -> Rows:
        """Rows of 2**bits columns."""
        rows: ParsedRows = parsed.content
        X = Csr(rows.values, rows.indices, rows.indptr, 1 << self.bits)
        return Rows(X, rows.labels, rows.weights)
