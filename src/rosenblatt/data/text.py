"""Text: blocks of LIBSVM or VW lines through a compiled loop, and what it found."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data import parsers
from rosenblatt.data.blocks import Block, blocks, in_order, opened
from rosenblatt.data.reading import LISTED, BadLine, Parsed, Plan

EXPECTED = {
    parsers.LABEL: "a label (one number) and a space",
    parsers.INDEX: "an index and a colon, as in 3:0.5",
    parsers.VALUE: "a number after the colon",
    parsers.RANGE: "numbers within the range of float64",
    parsers.RISING: "indices that rise within a row",
    parsers.FROM_ONE: "indices from 1 (zero_based=False was given)",
    parsers.WIDE: "an index within n_features, and below 2**31 - 1",
    parsers.QUERY: "a whole number after qid:",
    parsers.AFTER: "a space after the value",
    parsers.NO_BAR: "a | after label, weight, base and tag",
    parsers.WEIGHT: "an importance weight that is not negative",
    parsers.LABELS: "label, weight and base as at most three numbers before the |",
    parsers.NAMESPACE: "the name of a namespace, or a space, after |",
    parsers.SCALE: "a number after the colon of a namespace",
    parsers.TEXT_VALUE: "a number or text after the colon (VW would misread this)",
    parsers.MIDDLE: "a space or | after a feature or namespace",
    parsers.TABBED: "no tab before the first | (VW drops what stands before it)",
}


@dataclass(frozen=True, eq=False)
class Lines:
    """What a block held: label and weight of each row, and its entries."""

    y: npt.NDArray[np.float64]
    sample_weight: npt.NDArray[np.float64] | None
    indptr: npt.NDArray[np.int32]
    indices: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]
    largest: int
    has_zero: bool


class Room(threading.local):
    """Arrays that one thread parses into, used again for every block.

    They are as large as the shortest rows and entries could need; what is not used costs no memory.
    """

    size = -1

    def hold(self, size: int, entry: int, hashed: bool) -> None:
        """Make room for `size` bytes of entries of at least `entry` bytes."""
        if size <= self.size:
            return
        rows = size // 2 + 2
        entries = size // entry + 2 + (rows if hashed else 0)
        self.rows = parsers.Rows(
            label=np.empty(rows),
            weight=np.empty(rows if hashed else 0),
            indptr=np.empty(rows + 1, dtype=np.int32),
            indices=np.empty(entries, dtype=np.int32),
            values=np.empty(entries),
        )
        self.keys = np.empty(entries if hashed else 0, dtype=np.uint64)
        self.spare = np.empty(entries if hashed else 0)
        self.unsure = np.empty((entries + rows, 3), dtype=np.int64)
        self.bad = np.empty((LISTED, 4), dtype=np.int64)
        self.size = size


def parsed(block: Block, room: Room, kernel: Callable[[int, Any], None]) -> Parsed:
    """Run `kernel(address, count)`, twice if there are numbers that Python has to work out."""
    count = np.zeros(9, dtype=np.int64)
    count[parsers.KNOWN], count[parsers.LARGEST] = -1, -1
    address = np.frombuffer(block.data, dtype=np.uint8).ctypes.data
    kernel(address, count)
    if n := int(count[parsers.UNSURE]):
        for k in range(n):
            begin, end = room.unsure[k, :2]
            (room.unsure[k, 2],) = struct.unpack(
                "q", struct.pack("d", float(block.data[begin:end]))
            )
        count[:] = 0
        count[parsers.KNOWN], count[parsers.LARGEST] = n, -1
        kernel(address, count)
    rows, entries = int(count[parsers.ROWS]), int(count[parsers.ENTRIES])
    lines = Lines(
        y=room.rows.label[:rows].copy(),
        sample_weight=room.rows.weight[:rows].copy() if count[parsers.WEIGHTED] else None,
        indptr=room.rows.indptr[: rows + 1].copy(),
        indices=room.rows.indices[:entries].copy(),
        values=room.rows.values[:entries].copy(),
        largest=int(count[parsers.LARGEST]),
        has_zero=bool(count[parsers.HAS_ZERO]),
    )
    n_bad = int(count[parsers.BAD])
    bad = tuple(bad_line(block, *map(int, room.bad[k])) for k in range(min(n_bad, LISTED)))
    return Parsed(rows, int(count[parsers.LINES]), lines, n_bad, bad, block.bytes_read)


def bad_line(block: Block, line: int, begin: int, p: int, lack: int) -> BadLine:
    """In words."""
    end = block.data.index(b"\n", p)
    words = bytes(block.data[p : min(end, p + 24)]).split(maxsplit=1)
    found = repr(words[0].decode("utf-8", "backslashreplace")) if words else "the end of the line"
    return BadLine(line, p - begin + 1, EXPECTED[lack], found)


class TextPass:
    """One pass over a file of lines. What depends on the format is `parse` and `first`."""

    settled_by_first = True

    def __init__(self) -> None:
        self.room = Room()

    def parse(self, block: Block) -> Parsed:
        """Any thread; nothing is changed but the room of that thread."""
        raise NotImplementedError

    def first(self, block: Block) -> Parsed:
        """The first block, before all others."""
        return self.parse(block)

    def compile(self) -> None:
        """Have the parser compiled, by reading nothing."""
        self.parse(Block(bytearray(b"\n"), 0, 0))

    def blocks(self, path: Path, plan: Plan) -> Iterator[Parsed]:
        with opened(path) as source:
            items = blocks(source, path, plan.chunk_bytes, leap=plan.leap)
            yield from in_order(items, self.first, self.parse, plan.threads, source.stop)
