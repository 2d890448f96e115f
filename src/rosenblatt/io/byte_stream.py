"""Byte streams: the decompressed bytes of a file or pipe, cut into blocks of whole records."""

from __future__ import annotations

import io
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from importlib import import_module
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

from rosenblatt.errors import LimitError, MissingPackageError
from rosenblatt.io.formats import BYTE_ORDER_MARK
from rosenblatt.io.limits import LINE_BYTES
from rosenblatt.io.location import Piece, readable

GZIP, BZIP2, ZSTD = b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd"
AHEAD = 3  # blocks that are read before they are needed

Result = TypeVar("Result")


class _Raw(io.RawIOBase):
    """The bytes as they are on disk or come from a pipe; the first ones can be looked at."""

    def __init__(self, file: Any) -> None:
        super().__init__()
        self.file, self.count, self._first = file, 0, b""

    def peek(self, size: int) -> bytes:
        while len(self._first) < size and (more := self.file.read(size - len(self._first))):
            self._first += more
        return self._first[:size]

    def readable(self) -> bool:
        return True

    def readinto(self, data: Any) -> int:
        view = memoryview(data)
        if self._first:
            part, self._first = self._first[: len(view)], self._first[len(view) :]
            view[: len(part)] = part
            n = len(part)
        else:
            n = self.file.readinto(view) or 0
        self.count += n
        return n

    def seek(self, at: int, whence: int = 0) -> int:
        self.file.seek(at)
        self._first, self.count = b"", at
        return at

    def close(self) -> None:
        if not self.closed:
            self.file.close()
        super().close()


class ByteStream:
    """The bytes of a file or pipe, decompressed if the first bytes say gzip, bzip2 or zstd.

    A byte order mark at the start is dropped.

    Attributes
    ----------
    start : int
        Where the text begins in the file: 3 after a byte order mark.
    plain : bool
        Whether bytes come as they are on disk, so that reading can begin at any of them.
    """

    def __init__(self, piece: Piece) -> None:
        self.piece = piece
        with readable(piece), ExitStack() as failed:
            self._raw = _Raw(piece.open())
            failed.callback(self._raw.close)
            first = self._raw.peek(4)
            self._file, self._broken = _decompressed(self._raw, first)
            self.plain = self._file is self._raw and not piece.is_pipe
            self._head, self.start = b"", 0
            if self.peek(3) == BYTE_ORDER_MARK:
                self._head, self.start = self._head[3:], 3
            failed.pop_all()  # open until `close`

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._file is not self._raw:
            self._file.close()
        self._raw.close()

    @property
    def bytes_read(self) -> int:
        """Bytes read of the file on disk."""
        return self._raw.count

    def peek(self, size: int) -> bytes:
        """The next bytes, fewer at the end; they are read again afterwards."""
        if len(self._head) < size:
            data = bytearray(size)
            self._head = bytes(data[: self.fill(data, 0, size)])
        return self._head[:size]

    def fill(self, data: bytearray, start: int, stop: int) -> int:
        """Read into data[start:stop] until it is full or the file ends. Returns where that is."""
        head = self._head[: stop - start]
        self._head = self._head[len(head) :]
        data[start : start + len(head)] = head
        start += len(head)
        with readable(self.piece, self._broken), memoryview(data) as view:
            while start < stop:
                count = self._file.readinto(view[start:stop])
                if not count:
                    break
                start += count
        return start

    def seek(self, at: int) -> None:
        """Go to a byte of a plain file."""
        self._raw.seek(at)
        self._head = b""


def _decompressed(raw: _Raw, first: bytes) -> tuple[Any, type[Exception]]:
    """The file decompressed, and the error that says that it is broken."""
    if first.startswith(GZIP):
        import gzip

        return gzip.GzipFile(fileobj=raw), zlib.error
    if first.startswith(BZIP2):
        import bz2

        return bz2.BZ2File(raw), OSError
    if first == ZSTD:
        try:
            zstd: Any = import_module("compression.zstd")  # Python 3.14
        except ImportError:
            try:
                zstd = import_module("backports.zstd")
            except ImportError as e:
                raise MissingPackageError(
                    "a file compressed with zstd needs backports.zstd: "
                    "pip install 'rosenblatt[files]'."
                ) from e
        return zstd.ZstdFile(raw), zstd.ZstdError
    return raw, OSError


class TextBlock(NamedTuple):
    """Whole records: data[:size], with a newline after them.

    Attributes
    ----------
    data : bytearray
    size : int
    bytes_read : int
        Bytes on disk that were read so far.
    offset : int
        Where it ends in a plain file; 0 in any other.
    """

    data: bytearray
    size: int
    bytes_read: int
    offset: int


def last_line_end(data: bytearray, size: int) -> int:
    """Where the last whole line ends; 0 if there is none."""
    return data.rfind(b"\n", 0, size) + 1


def text_blocks(
    stream: ByteStream,
    size: int,
    longest: int,
    cut: Callable[[bytearray, int], int] = last_line_end,
    begin: int | None = None,
) -> Iterator[TextBlock]:
    """A stream in blocks of about `size` bytes; a longer record makes a larger block.

    Parameters
    ----------
    stream : ByteStream
    size : int
    longest : int
        Bytes in the longest record that is read.
    cut : function
        Where the last whole record of data[:size] ends; 0 if there is none.
    begin : int or None
        Where to begin in a plain file. None: where the stream is.
    """
    piece, rest = stream.piece, bytearray()
    at = stream.start
    if begin is not None:
        stream.seek(begin)
        at = begin
    stop = None if piece.length is None else piece.start + piece.length
    between = bool(piece.start) and begin is None
    if between:
        stream.seek(piece.start)
        at = piece.start
    while True:
        room = max(size, min(2 * len(rest), longest + 1))
        data = bytearray(room + 1)
        data[: len(rest)] = rest
        filled = stream.fill(data, len(rest), room)
        ended = filled < room
        end = filled if ended else cut(data, filled)
        if between and end:  # the rest of a line that belongs to the piece before
            skipped = data.find(b"\n", 0, end) + 1
            if skipped:
                del data[:skipped]
                data += bytes(skipped)
                filled, end, at, between = filled - skipped, end - skipped, at + skipped, False
            else:
                return
        if stop is not None and at + end > stop >= at:
            line_end = data.find(b"\n", stop - at, end) + 1
            end, ended = line_end or end, bool(line_end) or ended
        elif stop is not None and at > stop:
            return
        if end == 0 and not ended and room > longest:
            raise LimitError(LINE_BYTES.words, room, longest, str(piece), "max_line_bytes")
        rest = data[end:filled]
        if end:
            data[end] = 10
            at += end
            yield TextBlock(data, end, at if stream.plain else stream.bytes_read,
                            at if stream.plain else 0)  # fmt: skip
        if ended:
            return


class ReadAhead:
    """The items of a generator, made by a thread before they are needed.

    The thread ends with the program: it may wait for a pipe in which nothing comes. Elsewhere
    `close` waits for it.
    """

    def __init__(self, items: Iterator[TextBlock], waits: bool) -> None:
        self._items, self._waits, self._stopped = items, waits, False
        self._room = threading.Semaphore(AHEAD)
        self._queue: SimpleQueue[TextBlock | BaseException | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="rosenblatt-read", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            item: TextBlock | None = None
            while True:
                self._room.acquire()
                if self._stopped:
                    break
                item = next(self._items, None)
                self._queue.put(item)
                if item is None:
                    break
        except BaseException as e:
            self._queue.put(e)
        finally:
            getattr(self._items, "close", lambda: None)()

    def __iter__(self) -> Iterator[TextBlock]:
        while (item := self._queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            self._room.release()
            yield item

    def close(self) -> None:
        """Stop the thread."""
        self._stopped = True
        self._room.release()
        if self._waits:
            self._thread.join()


def parse_in_order(
    blocks: Iterator[TextBlock], parse: Callable[[TextBlock], Result], threads: int, waits: bool
) -> Iterator[Result]:
    """parse(block) of every block, in order: one thread reads ahead, others parse."""
    ahead = ReadAhead(blocks, waits)
    with ThreadPoolExecutor(threads) as workers:
        waiting: deque[Future[Result]] = deque()
        try:
            for block in ahead:
                waiting.append(workers.submit(parse, block))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            ahead.close()
            for future in waiting:
                future.cancel()
