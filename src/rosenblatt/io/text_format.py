"""Formats: options of reading, and how a format turns the bytes of files into rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import ParameterError
from rosenblatt.features.column_batch import ColumnBatch
from rosenblatt.io.bad_lines import BadLine
from rosenblatt.io.byte_stream import (
    ByteStream,
    TextBlock,
    last_line_end,
    parse_in_order,
    text_blocks,
)
from rosenblatt.io.limits import DEFAULT
from rosenblatt.io.location import KNOWN, Piece
from rosenblatt.io.progress import Progress

CHUNK_BYTES = 1 << 21
THREADS = 2
SETTINGS = {
    "libsvm": ("n_features", "zero_based"),
    "vw": ("bits", "hash", "constant"),
    "csv": ("target", "header", "delimiter", "missing", "kinds", "bits"),
    "parquet": ("target", "kinds", "bits"),
}


def is_whole(value: Any) -> bool:
    """Whether it is an integer, which True is not here."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How a file is read; the parameters of :func:`rosenblatt.read_chunks`."""

    format: str | None = None
    target: str | int | None = None
    header: bool | None = None
    delimiter: str | None = None
    n_features: int | None = None
    zero_based: bool | str | None = None
    bits: int | None = None
    hash: str | None = None
    constant: bool | None = None
    missing: Sequence[str] | None = None
    kinds: Mapping[str, str] | None = None
    optional_label: bool = False  # rows to predict may have no label column
    on_error: str = "raise"
    chunk_bytes: int = CHUNK_BYTES
    threads: int = THREADS
    max_line_bytes: int = DEFAULT.line_bytes
    progress: Callable[[Progress], object] | None = None

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in KNOWN:
            raise ParameterError(f"format must be one of {', '.join(KNOWN)}, got {self.format!r}.")
        if self.on_error not in ("raise", "skip"):
            raise ParameterError(f"on_error must be 'raise' or 'skip', got {self.on_error!r}.")
        for key in ("chunk_bytes", "threads", "max_line_bytes"):
            value = getattr(self, key)
            if not is_whole(value) or value < 1:
                raise ParameterError(f"{key} must be a whole number from 1, got {value!r}.")
        for key in ("n_features", "bits"):
            value = getattr(self, key)
            if value is not None and not is_whole(value):
                raise ParameterError(f"{key} must be a whole number, got {value!r}.")
        if self.bits is not None and not 1 <= self.bits <= 30:
            raise ParameterError(f"bits must be between 1 and 30, got {self.bits}.")
        if not isinstance(self.target, str | int | np.integer | None):
            raise ParameterError(f"target must be a name or a number, got {self.target!r}.")
        for key, kinds, words in (
            ("header", bool, "True or False"), ("delimiter", str, "a text"),
            ("kinds", Mapping, "a dict of names and kinds"),
            ("missing", list | tuple | set | frozenset, "a list of texts"),
        ):  # fmt: skip
            value = getattr(self, key)
            if value is not None and not isinstance(value, kinds):
                raise ParameterError(f"{key} must be {words}, got {value!r}.")
        if not all(isinstance(mark, str) for mark in self.missing or ()):
            raise ParameterError(f"missing must be a list of texts, got {self.missing!r}.")

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> ReadOptions:
        """From parameters of which some may be unknown."""
        known = {f.name for f in fields(cls)}
        if unknown := sorted(set(settings) - known):
            raise ParameterError(
                f"{unknown[0]} is no setting of reading. There are {sorted(known)}."
            )
        return cls(**settings)

    def check_format(self, name: str, place: str) -> None:
        """Refuse settings of other formats."""
        for other, settings in SETTINGS.items():
            for key in settings:
                if getattr(self, key) is not None and key not in SETTINGS[name]:
                    raise ParameterError(
                        f"{key} is a setting of {other} files; {place} is read as {name}."
                    )
        if "target" in SETTINGS[name] and self.target is None:
            raise ParameterError(
                f"target is missing: name the column of {place} that holds the labels (--target)."
            )


class Encoder(Protocol):
    """What turns table columns of any kind into rows of numbers."""

    def begin(self) -> None:
        """The first row comes next."""

    def encode(self, batch: ColumnBatch) -> Any:
        """Rows of numbers, dense or Csr."""


class Labels(NamedTuple):
    """Labels as places in a list of texts; -1: none.

    `are_texts`: they are not numbers, whatever they look like.
    """

    codes: npt.NDArray[np.int32]
    words: Sequence[str]
    are_texts: bool = False


class Rows(NamedTuple):
    """Rows with labels: numbers (NaN: none), texts of a typed column, or texts to be typed."""

    X: Any
    y: npt.NDArray[Any] | Labels
    sample_weight: npt.NDArray[np.float64] | None = None


class Parsed(NamedTuple):
    """A block, parsed. Lines of `bad` count from the start of the block.

    `content` is what the format needs for its rows. `begins` is the file, where a new one begins,
    and `lines_before` the lines of its header.
    """

    n_rows: int
    n_lines: int
    n_bad: int
    bad: tuple[BadLine, ...]
    content: Any
    bytes_read: int = 0
    offset: int = 0
    begins: Piece | None = None
    lines_before: int = 0


class Format(Protocol):
    """How one format is read, and what has been found out while reading."""

    name: str
    feature_names: tuple[str, ...]

    def read(self, piece: Piece, stream: ByteStream | None, offset: int) -> Iterator[Parsed]:
        """The parsed blocks of a file, from a byte on; `stream` if it is open already."""

    def rows(self, parsed: Parsed) -> Rows:
        """The rows of a parsed block; blocks come in order."""


class TextFormat:
    """Formats made of lines. A format has `parse` and `rows`."""

    name = ""
    feature_names: tuple[str, ...] = ()

    def __init__(self, options: ReadOptions) -> None:
        self.options = options

    def begin(self, stream: ByteStream) -> tuple[int, int]:
        """Look at the head of a file. Returns bytes and lines before the first record."""
        return 0, 0

    def cut(self, data: bytearray, size: int) -> int:
        """Where the last whole record of data[:size] ends; 0 if there is none."""
        return last_line_end(data, size)

    def parse(self, block: TextBlock) -> Parsed:
        """The records of a block; any thread."""
        raise NotImplementedError

    @property
    def longest(self) -> int:
        """Bytes in the longest record."""
        return self.options.max_line_bytes

    def read(self, piece: Piece, stream: ByteStream | None, offset: int) -> Iterator[Parsed]:
        """The parsed blocks of a file, from a byte on; `stream` if it is open already."""
        opened = stream or ByteStream(piece)
        try:
            head, lines = self.begin(opened)
        except BaseException:
            opened.close()
            raise
        options = self.options
        first: Piece | None = piece

        def blocks() -> Iterator[TextBlock]:
            with opened:
                if head and not offset:
                    opened.fill(bytearray(head), 0, head)
                    opened.start += head
                yield from text_blocks(
                    opened, options.chunk_bytes, self.longest, self.cut, offset or None
                )

        for parsed in parse_in_order(blocks(), self.parse, options.threads, not piece.is_pipe):
            yield parsed._replace(begins=first, lines_before=lines)
            first = None
