"""FileSource: the rows of a file as blocks; a cache of blocks; blocks in a shuffled order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.data.block import START, Block, Csr, Position
from rosenblatt.data.cache import ChunkCache
from rosenblatt.data.labels import as_labels
from rosenblatt.data.readers import FileChunks
from rosenblatt.data.reading import Chunk, Mark, Progress, Skipped
from rosenblatt.data.reading import Csr as ParsedCsr
from rosenblatt.data.shuffle import Shuffle
from rosenblatt.data.source import BaseSource, LabelIndex, Source


class FileSource(BaseSource):
    """The rows of a file.

    Parameters
    ----------
    chunks : FileChunks
        What reads the file.
    labels : LabelIndex or None
    """

    def __init__(self, chunks: FileChunks, labels: LabelIndex | None = None) -> None:
        self.chunks = chunks
        self.labels = LabelIndex() if labels is None else labels
        self._offsets_of = chunks.plan.chunk_bytes  # with which offsets of positions were found

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        """Read the file; plain text before the position is not parsed again."""
        first_row, mark = after.rows, None
        if after.rows:
            skipped = Skipped(after.skipped, self.chunks.skipped.first[: after.skipped])
            mark = Mark(after.rows, after.lines, skipped, after.offset, self._offsets_of)
        for X, y, weight in self.chunks._plain(mark):
            codes = self.labels.encode(as_labels(y, X.shape[0]))
            self.feature_names = self.chunks.feature_names
            now = self.chunks.mark
            end = Position(now.rows, now.lines, now.skipped.count, now.offset)
            yield Block(block_rows(X), codes, weight, first_row, end)
            first_row = end.rows
        self.n_rows = first_row

    def get_state(self) -> dict[str, Any]:
        """What reading has found so far, as JSON can hold it."""
        chunks = self.chunks
        first = [vars(line) for line in chunks.skipped.first]
        return {
            "feature_names": list(chunks.feature_names),
            "counts_from_zero": chunks.counts_from_zero,
            "skipped": {"count": chunks.skipped.count, "first": first},
            "chunk_bytes": chunks.plan.chunk_bytes,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue with what an earlier run found."""
        chunks = self.chunks
        chunks.feature_names = tuple(map(str, state["feature_names"]))
        chunks.counts_from_zero = state["counts_from_zero"]
        chunks.skipped = Skipped.from_dict(state["skipped"])
        self.feature_names, self._offsets_of = chunks.feature_names, int(state["chunk_bytes"])


def block_rows(X: Any) -> Any:
    """Rows that were read from a file, as a block has them."""
    if isinstance(X, ParsedCsr):
        return Csr(X.data, X.indices, X.indptr, X.shape[1])
    return np.ascontiguousarray(X, dtype=np.float64)


class CachedSource(BaseSource):
    """A source that is read once; later epochs come from a cache, in memory and in a file.

    Parameters
    ----------
    source : Source
    folder : Path
        Where the file is made, if the blocks do not fit in memory.
    progress : function or None
        Called with a Progress at every block that comes from the cache.
    say : function or None
        Called with a line of text when the cache begins to fill a file.
    """

    def __init__(
        self,
        source: Source,
        folder: Path,
        progress: Callable[[Progress], object] | None = None,
        say: Callable[[str], object] | None = None,
    ) -> None:
        self.source, self.labels, self.n_rows = source, source.labels, source.n_rows
        self.cache, self._say = ChunkCache(folder, progress), say
        self._ends: list[Position] = []
        self._complete = False

    def __enter__(self) -> CachedSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.cache.__exit__()

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        """Blocks of the source the first time, of the cache afterwards."""
        for block in self._cached() if self._complete else self._filling():
            if rest := block.after(after):
                yield rest

    def _filling(self) -> Iterator[Block]:
        for block in self.source.blocks():
            if self.cache.add(Chunk(block.X, block.y, block.sample_weight)) and self._say:
                self._say(
                    f"parsed rows beyond {self.cache.memory_bytes / 1e6:,.0f} MB are cached in a "
                    f"file in {self.cache.folder} until the end"
                )
            self._ends.append(block.end)
            yield block
        self.n_rows, self.feature_names = self._ends[-1].rows, self.source.feature_names
        self._complete = True

    def _cached(self) -> Iterator[Block]:
        first_row = 0
        for (X, y, weight), end in zip(self.cache, self._ends, strict=True):
            yield Block(X, y, weight, first_row, end)
            first_row = end.rows

    def fill(self) -> None:
        """Read the source into the cache."""
        if not self._complete:
            for _ in self._filling():
                pass


class ShuffledSource(BaseSource):
    """The rows of a cached source in an order drawn from a seed, another one in every epoch."""

    same_order = False

    def __init__(self, source: CachedSource, shuffle: Shuffle) -> None:
        self.source, self.shuffle = source, shuffle
        self.labels = source.labels

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        """Windows of blocks, their rows mixed."""
        self.source.fill()
        self.labels.closed = True  # all were seen
        self.n_rows, self.feature_names = self.source.n_rows, self.source.feature_names
        cache, rows = self.source.cache, 0
        order = self.shuffle.order(epoch, 0, len(cache)).tolist()
        for X, y, weight in self.shuffle.windows(cache.taken(order), epoch):
            block = Block(X, y, weight, rows, Position(rows=rows + len(y)))
            rows = block.end.rows
            if rest := block.after(after):
                yield rest
