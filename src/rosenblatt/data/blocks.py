"""Blocks: the bytes of a file, decompressed, in pieces that end where a line ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from rosenblatt.data.piped import pipe_of
from rosenblatt.errors import DataError

LONGEST_LINE = 1 << 28  # bytes; a file without line ends must not fill the memory
MARKS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Block:
    """Whole lines: data[:size], with a newline after them at data[size].

    bytes_read : where it ends in the file; of a compressed one, how much of it was read by then
    """

    data: bytearray
    size: int
    bytes_read: int


@dataclass(frozen=True, eq=False)
class Source:
    """An open file: decompressed bytes come out, `raw` is the file as it lies on disk."""

    stream: Any
    raw: Any

    @property
    def plain(self) -> bool:
        """Whether the bytes come out as they lie on disk."""
        return self.stream is self.raw

    def stop(self) -> None:
        """Nobody wants more: a reader that waits for a pipe need not."""
        if hasattr(self.raw, "stop"):
            self.raw.stop()

    def fill(self, data: bytearray, start: int, stop: int) -> int:
        """Read into data[start:stop] until it is full or the file ends; where that is."""
        with memoryview(data) as view:
            while start < stop:
                count = self.stream.readinto(view[start:stop])
                if not count:
                    break
                start += count
        return start


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """The file, decompressed if its first bytes say gzip, bzip2 or zstd."""
    try:
        with ExitStack() as stack:
            pipe = pipe_of(path)
            if pipe is None:
                raw: Any = stack.enter_context(open(path, "rb", buffering=0))
            else:
                raw = stack.enter_context(pipe.begin())
            mark = _first_bytes(raw)
            raw.seek(0)
            codec = next((c for m, c in MARKS.items() if mark.startswith(m)), None)
            if codec is None:
                yield Source(raw, raw)
                return
            import pyarrow as pa

            held = stack.enter_context(pa.PythonFile(raw, "r"))
            yield Source(stack.enter_context(pa.CompressedInputStream(held, codec)), raw)
    except OSError as e:
        raise DataError(
            f"cannot read {path}: {e.strerror or e}. Give a file that is there and whole, plain or "
            "compressed with gzip, bzip2 or zstd."
        ) from e


def _first_bytes(raw: Any) -> bytes:
    """Enough to tell the compression; a pipe may give one byte at a time."""
    found = b""
    while len(found) < 4 and (more := raw.read(4 - len(found))):
        found += more
    return found


def last_line_end(data: bytearray, size: int) -> int:
    """Where the last whole line ends; 0 if there is none."""
    return data.rfind(b"\n", 0, size) + 1


def is_plain(path: Path) -> bool:
    """Whether the file is not compressed."""
    with opened(path) as source:
        return source.plain


def blocks(
    source: Source,
    path: Path,
    size: int,
    cut: Callable[[bytearray, int], int] = last_line_end,
    leap: int = 0,
) -> Iterator[Block]:
    """The file in pieces of about `size` bytes; a longer line makes a larger piece.

    leap : after the first piece go on at this byte, if it lies further on, where a line begins
    """
    rest, first, at = bytearray(), True, 0
    while True:
        room = max(size, 2 * len(rest))
        data = bytearray(room + 1)
        data[: len(rest)] = rest
        filled = source.fill(data, len(rest), room)
        ended = filled < room
        if first and data.startswith(BYTE_ORDER_MARK):
            del data[:3]
            filled -= 3
            at = 3
        first = False
        end = filled if ended else cut(data, filled)
        if end == 0 and not ended and room > LONGEST_LINE:
            raise DataError(
                f"{path} has no line end within {room:,} bytes. Is it text? Give a file of lines."
            )
        rest = data[end:filled]
        if end:
            data[end] = 10
            at += end
            yield Block(data, end, at if source.plain else source.raw.tell())
        if ended:
            return
        if end and at < leap and source.plain:
            source.raw.seek(leap)
            rest, at = bytearray(), leap


def in_order(
    items: Iterator[Block],
    first: Callable[[Block], T],
    parse: Callable[[Block], T],
    threads: int,
    stop: Callable[[], None],
) -> Iterator[T]:
    """parse(block) for every block, in order. The first is done before the others are begun.

    One thread reads ahead, others parse; few blocks are held at a time. At the end, whatever
    brings it, `stop` is called, so that nobody waits for the thread that reads.
    """
    with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(threads) as workers:
        ahead = reader.submit(next, items, None)
        waiting: deque[Future[T]] = deque()
        begun = False
        try:
            while True:
                while len(waiting) <= threads:
                    block = ahead.result()
                    if block is None:
                        break
                    ahead = reader.submit(next, items, None)
                    if begun:
                        waiting.append(workers.submit(parse, block))
                    else:
                        yield first(block)
                        begun = True
                if not waiting:
                    return
                yield waiting.popleft().result()
        finally:
            stop()
            for future in waiting:
                future.cancel()
