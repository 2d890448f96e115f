"""Piped: rows that come through a pipe, which can be read only once.

Reading a file begins more than once: a few bytes tell the format, a few the compression, and now
and then a later row shows that the first were read wrongly. So the first bytes of a pipe are kept,
and whoever begins again gets them first. Beyond `KEPT` bytes nothing is kept, memory stays as it
is, and who would begin again is told to write the rows to a file.
"""

from __future__ import annotations

import io
import os
import select
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rosenblatt.errors import DataError

KEPT = 1 << 26
LOOK_UP = 0.1  # seconds: so often a reader that waits for rows looks whether it may end


class Pipe:
    """A pipe and the bytes that came first.

    Attributes
    ----------
    bytes_read : how many came so far
    """

    def __init__(self, path: Path, stream: Any, most: int) -> None:
        self.path, self._stream, self._most = path, stream, most
        self._kept: bytearray | None = bytearray()
        self.bytes_read = 0
        try:
            self._number: int | None = stream.fileno()
        except (OSError, AttributeError):  # made of bytes in memory
            self._number = None

    def begin(self) -> Replay:
        """From the first byte."""
        if self._kept is None:
            raise DataError(
                f"{self.path} is a pipe: it cannot be read again, and only its first "
                f"{self._most:,} bytes were kept. Columns that are no numbers take a second "
                "reading. Write the rows to a file, and give that."
            )
        return Replay(self)

    def get(self, at: int, view: memoryview, replay: Replay) -> int:
        """Fill with what is kept from `at` on, else with what comes; 0 at the end."""
        if at < self.bytes_read:
            if self._kept is None:
                raise DataError(f"another reading of {self.path} went on. Read it once at a time.")
            part = self._kept[at : at + len(view)]
            view[: len(part)] = part
            return len(part)
        count = self._read(view, replay)
        self.bytes_read += count
        if self._kept is not None:
            if self.bytes_read > self._most:
                self._kept = None
            else:
                self._kept += view[:count]
        return count

    def _read(self, view: memoryview, replay: Replay) -> int:
        if self._number is None:
            part = self._stream.read(len(view))
        elif self._comes(self._number, replay):
            part = os.read(self._number, len(view))
        else:
            return 0
        view[: len(part)] = part
        return len(part)

    def _comes(self, number: int, replay: Replay) -> bool:
        """Wait until there is something to read, or nobody wants it any more."""
        while not replay.stopped:
            try:
                if select.select([number], [], [], LOOK_UP)[0]:
                    return True
            except (OSError, ValueError):  # a system that cannot wait for pipes
                return True
        return False


class Replay(io.RawIOBase):
    """One reading of a pipe, from its first byte on."""

    def __init__(self, pipe: Pipe) -> None:
        super().__init__()
        self._pipe, self._at, self.stopped = pipe, 0, False

    def readable(self) -> bool:
        return True

    def readinto(self, data: Any) -> int:
        with memoryview(data) as view:
            count = self._pipe.get(self._at, view, self)
        self._at += count
        return count

    def tell(self) -> int:
        return self._at

    def seek(self, at: int, whence: int = 0) -> int:
        """Back to bytes that are kept."""
        if whence or at > self._at:
            raise OSError("a pipe cannot be leapt over")
        self._at = at
        return at

    def stop(self) -> None:
        """Nobody wants more: whoever waits for it gets nothing."""
        self.stopped = True


_pipes: dict[Path, Pipe] = {}


@contextmanager
def piped(path: Path, stream: Any) -> Iterator[Pipe]:
    """Within `with`, readers that are given `path` read the stream."""
    pipe = _pipes[path] = Pipe(path, stream, KEPT)
    try:
        yield pipe
    finally:
        del _pipes[path]


def pipe_of(path: Path) -> Pipe | None:
    """The pipe that `path` stands for, if any."""
    return _pipes.get(path)
