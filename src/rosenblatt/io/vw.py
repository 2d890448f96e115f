"""VW text: files of `label weight |namespace feature:value ...`, as Vowpal Wabbit reads them."""

from __future__ import annotations

from typing import Any

from rosenblatt._core import FeatureIndex, ParsedRows, parse_vw
from rosenblatt.data.block import Csr
from rosenblatt.errors import ParameterError
from rosenblatt.io.byte_stream import TextBlock
from rosenblatt.io.text_format import IndexedFormat, Labels, Parsed, ReadOptions, Rows


class VWText(IndexedFormat):
    """One pass over VW text. Features have columns in the order in which they first appear.

    With `bits` they have those of Vowpal Wabbit, which hashes their names.
    """

    name = "vw"

    def __init__(self, options: ReadOptions, features: FeatureIndex | None) -> None:
        super().__init__(options, features)
        self.bits, self.hash = options.bits, options.hash
        if self.hash not in (None, "strings", "all"):
            raise ParameterError(f"hash must be 'strings' or 'all', got {self.hash!r}.")
        if self.bits is None and self.hash is not None:
            raise ParameterError(f"hash={self.hash!r} needs bits, to which names are hashed.")
        if self.bits is not None:
            self.features = None
        elif self.features is None:
            self.features = FeatureIndex()

    @property
    def feature_names(self) -> tuple[str, ...]:  # type: ignore[override]  # others set it
        """Names after their namespaces."""
        return () if self.features is None else tuple(self.features.names("^"))

    def settings(self) -> dict[str, Any]:
        """How files were read, with what was found out, for the file of a model."""
        return {} if self.bits is None else {"bits": self.bits, "hash": self.hash or "strings"}

    def parse(self, block: TextBlock) -> Parsed:
        """The rows of a block; any thread."""
        own = None if self.features is None else FeatureIndex()
        text = memoryview(block.data)[: block.size]
        rows = parse_vw(text, self.bits or 18, self.hash == "all", features=own)
        return self.parsed(rows, block, own)

    def rows(self, parsed: Parsed) -> Rows:
        """Rows as wide as all rows so far."""
        rows: ParsedRows = parsed.content[0]
        width = 1 << self.bits if self.bits is not None else self.indexed(*parsed.content)
        X = Csr(rows.values, rows.indices, rows.indptr, width)
        return Rows(X, Labels.of_numbers(rows.labels), rows.weights)
