"""VW text: files of `label weight |namespace feature:value ...`, hashed as Vowpal Wabbit does."""

from __future__ import annotations

from dataclasses import dataclass

from rosenblatt.data import parsers
from rosenblatt.data.blocks import Block
from rosenblatt.data.reading import Chunk, Csr, Parsed
from rosenblatt.data.text import Lines, TextPass, parsed


@dataclass(frozen=True)
class VWText:
    """Settings: as `vw -b BITS --hash HASH`, and whether to add VW's constant feature."""

    bits: int = 18
    hash: str = "strings"
    constant: bool = False

    def begin(self) -> VWPass:
        return VWPass(self)


class VWPass(TextPass):
    """One pass over VW text."""

    def __init__(self, format: VWText) -> None:
        super().__init__()
        self.format = format

    def parse(self, block: Block) -> Parsed:
        room, wanted = self.room, self.format
        room.hold(block.size, entry=2, hashed=True)

        def kernel(address: int, count: object) -> None:
            parsers.vw(
                address,
                block.size,
                wanted.bits,
                wanted.hash == "all",
                wanted.constant,
                room.rows,
                room.keys,
                room.spare,
                room.unsure,
                room.bad,
                count,
            )

        return parsed(block, room, kernel)

    def chunk(self, found: Parsed) -> Chunk:
        lines: Lines = found.content
        shape = (found.rows, 1 << self.format.bits)
        X = Csr(lines.values, lines.indices, lines.indptr, shape)
        return Chunk(X, lines.y, lines.sample_weight)
