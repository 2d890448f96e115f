"""Text: blocks of LIBSVM or VW lines, parsed by the core, and malformed lines in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rosenblatt._core import BadLine as CoreBadLine
from rosenblatt._core import LineError, ParsedRows
from rosenblatt.data.blocks import Block, blocks, in_order, opened
from rosenblatt.data.reading import BadLine, Parsed, Plan

EXPECTED = {
    LineError.OUT_OF_RANGE: "numbers within the range of float64",
    LineError.LABEL: "a label (one number) and a space",
    LineError.QUERY: "a whole number after qid:",
    LineError.INDEX: "an index and a colon, as in 3:0.5",
    LineError.INDEX_ORDER: "indices that rise within a row",
    LineError.INDEX_ZERO: "indices from 1 (zero_based=False was given)",
    LineError.INDEX_TOO_LARGE: "an index within n_features, and below 2**31 - 1",
    LineError.VALUE: "a number after the colon",
    LineError.AFTER_VALUE: "a space after the value",
    LineError.TAB_BEFORE_BAR: "no tab before the first | (VW drops what stands before it)",
    LineError.MISSING_BAR: "a | after label, weight, base and tag",
    LineError.LABEL_WORDS: "label, weight and base as at most three numbers before the |",
    LineError.NEGATIVE_WEIGHT: "an importance weight that is not negative",
    LineError.NAMESPACE_NAME: "the name of a namespace, or a space, after |",
    LineError.NAMESPACE_SCALE: "a number after the colon of a namespace",
    LineError.FEATURE_VALUE: "a number or text after the colon (VW would misread this)",
    LineError.AFTER_FEATURE: "a space or | after a feature or namespace",
}


def lines_of(block: Block) -> memoryview:
    """The lines of a block, without a copy."""
    return memoryview(block.data)[: block.size]


def parsed(block: Block, rows: ParsedRows) -> Parsed:
    """The rows of a block with its malformed lines in words."""
    bad = tuple(bad_line(block, line) for line in rows.bad_lines)
    n_rows = len(rows.labels)
    return Parsed(n_rows, rows.n_lines, rows, rows.n_bad_lines, bad, block.bytes_read)


def bad_line(block: Block, bad: CoreBadLine) -> BadLine:
    """What was expected at that place, and the word that stands there."""
    end = block.data.find(b"\n", bad.offset, min(block.size, bad.offset + 24))
    rest = block.data[bad.offset : min(block.size, bad.offset + 24) if end < 0 else end]
    words = bytes(rest).split(maxsplit=1)
    found = repr(words[0].decode("utf-8", "backslashreplace")) if words else "the end of the line"
    return BadLine(bad.line, bad.column, EXPECTED[bad.error], found)


class TextPass:
    """One pass over a file of lines. What depends on the format is `parse` and `first`."""

    settled_by_first = True

    def parse(self, block: Block) -> Parsed:
        """Any thread; nothing is changed."""
        raise NotImplementedError

    def first(self, block: Block) -> Parsed:
        """The first block, before all others."""
        return self.parse(block)

    def blocks(self, path: Path, plan: Plan) -> Iterator[Parsed]:
        with opened(path) as source:
            items = blocks(source, path, plan.chunk_bytes, leap=plan.leap)
            yield from in_order(items, self.first, self.parse, plan.threads, source.stop)
