"""VW text: files of `label weight |namespace feature:value ...`, hashed as Vowpal Wabbit does."""

from __future__ import annotations

from dataclasses import dataclass

from rosenblatt._core import ParsedRows, parse_vw
from rosenblatt.data.blocks import Block
from rosenblatt.data.reading import Chunk, Csr, Parsed
from rosenblatt.data.text import TextPass, lines_of, parsed


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
        self.format = format

    def parse(self, block: Block) -> Parsed:
        bits, hash, constant = self.format.bits, self.format.hash, self.format.constant
        return parsed(block, parse_vw(lines_of(block), bits, hash == "all", constant))

    def chunk(self, found: Parsed) -> Chunk:
        rows: ParsedRows = found.content
        shape = (found.rows, 1 << self.format.bits)
        return Chunk(Csr(rows.values, rows.indices, rows.indptr, shape), rows.labels, rows.weights)
