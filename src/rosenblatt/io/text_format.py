"""What all file formats share: options of reading, labels, parsed blocks, and text in lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt._core import FeatureIndex, ParsedRows, renumber_columns
from rosenblatt.data.labels import as_labels
from rosenblatt.data.source import LabelIndex, check_exact, label_key
from rosenblatt.errors import LimitError, ParameterError
from rosenblatt.features.column_batch import check_kinds
from rosenblatt.features.feature_index import check_bits
from rosenblatt.io.bad_lines import BadLine, describe
from rosenblatt.io.byte_stream import (
    ByteStream,
    TextBlock,
    last_line_end,
    parse_in_order,
    text_blocks,
)
from rosenblatt.io.formats import FORMATS
from rosenblatt.io.limits import LINE_BYTES, NAMES
from rosenblatt.io.location import Piece
from rosenblatt.io.progress import Progress

if TYPE_CHECKING:
    from rosenblatt.features.table_features import TableFeatures
    from rosenblatt.io.layout import Layout

CHUNK_BYTES = 1 << 21
THREADS = 2
FEW = 8  # labels


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
    missing: Sequence[str] | None = None
    kinds: Mapping[str, str] | None = None
    optional_label: bool = False  # rows to predict may have no label column
    on_error: str = "raise"
    chunk_bytes: int = CHUNK_BYTES
    threads: int = THREADS
    max_line_bytes: int = LINE_BYTES.most
    progress: Callable[[Progress], object] | None = None

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise ParameterError(
                f"format must be one of {', '.join(FORMATS)}, got {self.format!r}."
            )
        if self.on_error not in ("raise", "skip"):
            raise ParameterError(f"on_error must be 'raise' or 'skip', got {self.on_error!r}.")
        for key in ("chunk_bytes", "threads", "max_line_bytes"):
            value = getattr(self, key)
            if not is_whole(value) or value < 1:
                raise ParameterError(f"{key} must be a whole number from 1, got {value!r}.")
        if self.n_features is not None and not is_whole(self.n_features):
            raise ParameterError(f"n_features must be a whole number, got {self.n_features!r}.")
        if self.bits is not None:
            check_bits(self.bits)
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
        check_kinds(self.kinds or {})
        if not all(isinstance(mark, str) for mark in self.missing or ()):
            raise ParameterError(f"missing must be a list of texts, got {self.missing!r}.")

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> ReadOptions:
        """Options from parameters by name; refuses unknown names."""
        known = {f.name for f in fields(cls)}
        if unknown := sorted(set(settings) - known):
            raise ParameterError(
                f"{unknown[0]} is no setting of reading. There are {sorted(known)}."
            )
        return cls(**settings)

    def check_format(self, name: str, place: str) -> None:
        """Refuse settings of other formats."""
        for other, format in FORMATS.items():
            for key in format.settings:
                if getattr(self, key) is not None and key not in FORMATS[name].settings:
                    raise ParameterError(
                        f"{key} is a setting of {other} files; {place} is read as {name}."
                    )
        if FORMATS[name].is_table and self.target is None:
            raise ParameterError(
                f"target is missing: name the column of {place} that holds the labels (--target)."
            )


class Labels(NamedTuple):
    """Labels of rows as places among distinct values; -1: none.

    `values` is an array if their type is known, else a list of texts, which may be numbers.
    """

    codes: npt.NDArray[np.int32]
    values: list[str] | npt.NDArray[Any]

    @classmethod
    def of_numbers(cls, y: npt.NDArray[Any]) -> Labels:
        """Numbers; NaN: none."""
        codes, left = np.full(len(y), -1, np.int32), y == y
        values: list[Any] = []
        while len(values) < FEW and left.any():  # mostly two: sorting takes longer
            same = y == y[left.argmax()]
            codes[same] = len(values)
            values.append(y[left.argmax()])
            left &= ~same
        if not left.any():
            return cls(codes, check_exact(np.array(values, y.dtype)))
        distinct, place = np.unique(y, return_inverse=True)
        if distinct.dtype.kind == "f" and np.isnan(distinct[-1]):
            distinct, place = distinct[:-1], np.where(place == len(distinct) - 1, -1, place)
        return cls.of_typed(place, check_exact(distinct))

    @classmethod
    def of_typed(cls, codes: npt.NDArray[Any], values: npt.NDArray[Any]) -> Labels:
        """Of these values those that occur, in the order in which they do."""
        used, first = np.unique(codes, return_index=True)
        used = used[np.argsort(first)]
        used = used[used >= 0]
        place = np.full(len(values) + 1, -1, np.int32)
        place[used] = np.arange(len(used))
        return cls(place[codes], values[used])

    @classmethod
    def none(cls, n_rows: int) -> Labels:
        """Rows without labels."""
        return cls(np.full(n_rows, -1, np.int32), np.zeros(0))

    def codes_in(self, index: LabelIndex) -> npt.NDArray[np.int32]:
        """The codes in an index, which gets labels that are new."""
        if not len(self.values):
            return self.codes
        if isinstance(self.values, list):
            found = index.encode_words(self.values)
        else:
            found = index.encode(as_labels(self.values))
        return np.append(found, np.int32(-1))[self.codes]

    def decoded(self, index: LabelIndex) -> npt.NDArray[Any]:
        """The label of each row, NaN for none; `index` knows the texts so far."""
        if isinstance(self.values, list):
            codes = self.codes_in(index)  # first: there may be new ones
            return index.values[codes]
        there = self.codes >= 0
        return (
            self.values[self.codes] if there.all() else np.append(self.values, np.nan)[self.codes]
        )

    def numbers_of(self, classes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The number of the class of each row; -1 for no label, len(classes) for any other label.

        >>> Labels.of_numbers(np.array([1.0, np.nan, 7.0])).numbers_of(np.array([-1, 1]))
        array([ 1, -1,  2])
        """
        numbers, keys = {label: k for k, label in enumerate(classes.tolist())}, list(self.values)
        if isinstance(self.values, list) and classes.dtype.kind != "U":
            keys = list(map(label_key, keys))
        return np.array([*(numbers.get(key, len(classes)) for key in keys), -1])[self.codes]


class Rows(NamedTuple):
    """Rows with labels and weights."""

    X: Any
    y: Labels
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


class Format:
    """How one format is read, and what has been found out while reading.

    Attributes
    ----------
    feature_names : tuple of str
        Of tables, and of VW text that is not hashed.
    encoder : TableFeatures or None
        What makes rows of numbers of table columns; None if they are numbers. Set it before
        reading.
    layout : Layout or None
        The columns of a table.
    first_column : int
        Columns before it have no feature: 1 where LIBSVM indices count from 1.
    features : FeatureIndex or None
        VW text: features by name. LIBSVM: indices from PLAIN_COLUMNS on, in the order of columns.
    """

    name = ""
    feature_names: tuple[str, ...] = ()
    encoder: TableFeatures | None = None
    layout: Layout | None = None
    first_column = 0
    features: FeatureIndex | None = None

    def __init__(self, options: ReadOptions) -> None:
        self.options = options

    def look(self, piece: Piece, stream: ByteStream | None) -> None:
        """Look at the first file, or at its beginning."""

    def read(self, piece: Piece, stream: ByteStream | None, offset: int) -> Iterator[Parsed]:
        """The parsed blocks of a file, from a byte on; `stream` if it is open already."""
        raise NotImplementedError

    def rows(self, parsed: Parsed) -> Rows:
        """The rows of a parsed block; blocks come in order."""
        raise NotImplementedError

    def settings(self) -> dict[str, Any]:
        """How files were read, with what was found out, for the file of a model."""
        return {}

    def get_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """What reading has found so far, as JSON can hold it, and as arrays."""
        if self.encoder is not None:
            return self.encoder.get_state()
        arrays: dict[str, npt.NDArray[Any]] = {}
        if self.features is not None:
            names, offsets, spaces = self.features.arrays()
            arrays = {"names": names, "offsets": offsets, "spaces": spaces}
        return {"first_column": self.first_column}, arrays

    def set_state(self, facts: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on with what an earlier run found."""
        if self.encoder is not None:
            self.encoder.set_state(facts, arrays)
            return
        self.first_column = int(facts["first_column"])
        if self.features is not None:
            self.features = FeatureIndex.from_arrays(
                arrays["names"], arrays["offsets"], arrays["spaces"]
            )


class TextFormat(Format):
    """Formats made of lines. A format has `parse` and `rows`."""

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


class IndexedFormat(TextFormat):
    """Formats of sparse rows whose features may get columns in the order in which they appear.

    `features` that are there already are those of a model: others have no weight.
    """

    def __init__(self, options: ReadOptions, features: FeatureIndex | None) -> None:
        super().__init__(options)
        self.features = features
        self._closed = features is not None and len(features) > 0

    def parsed(self, rows: ParsedRows, block: TextBlock, own: FeatureIndex | None) -> Parsed:
        """The rows of a block, whose features have columns of their `own`."""
        bad = tuple(describe(line, block.data, block.size) for line in rows.bad_lines)
        return Parsed(
            len(rows.labels), rows.n_lines, rows.n_bad_lines, bad, (rows, own),
            block.bytes_read, block.offset,
        )  # fmt: skip

    def indexed(self, rows: ParsedRows, own: FeatureIndex, first: int = 0) -> int:
        """Replace columns from `first` on, in place. Returns how many columns there are."""
        assert self.features is not None
        columns, count = self.features.add_all(own), len(self.features)
        if not self._closed and len(columns) and columns.min() < 0:
            option = "bits (--hash-bits)" if self.name == "vw" else None
            raise LimitError(NAMES.words, count + 1, count, "The file", option)
        columns[columns < 0] = count  # beyond all that have a weight
        renumber_columns(rows.indptr, rows.indices, rows.values, columns, first)
        return first + count + self._closed
