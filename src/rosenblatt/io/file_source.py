"""File sources: the blocks of any file, folder, URL or pipe, whatever its format."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt._core import FeatureIndex
from rosenblatt.data.block import START, Block, Csr, Position
from rosenblatt.data.labels import as_labels
from rosenblatt.data.source import LabelIndex, Source
from rosenblatt.errors import DataError, MalformedLineError, NoRowsError, ParameterError
from rosenblatt.io.bad_lines import SkippedLines
from rosenblatt.io.byte_stream import ByteStream
from rosenblatt.io.formats import FORMATS, format_of_bytes
from rosenblatt.io.location import Piece, locate
from rosenblatt.io.parquet import dataset_piece, is_dataset
from rosenblatt.io.progress import Progress
from rosenblatt.io.text_format import (
    Format,
    Parsed,
    ReadOptions,
    Rows,
)

PEEK = 1 << 16  # bytes that tell the format


class FileSource(Source):
    """The rows of files, or of a pipe.

    Parameters
    ----------
    place : str
        What is read, in words.
    pieces : list of Piece
    format : Format
    options : ReadOptions
    stream : ByteStream or None
        A pipe that is open already.

    Attributes
    ----------
    skipped : SkippedLines
        Of the latest reading.
    unlabelled : int
        Rows without a label in the latest pass.
    """

    def __init__(
        self,
        place: str,
        pieces: Sequence[Piece],
        format: Format,
        options: ReadOptions,
        stream: ByteStream | None,
    ) -> None:
        self.place, self.pieces, self.format, self.options = place, pieces, format, options
        self.labels = LabelIndex()
        self.repeatable = stream is None
        self._stream, self._used = stream, False
        self.skipped, self.unlabelled = SkippedLines(), 0

    @property
    def size(self) -> int:
        """Bytes on disk, as far as they are known."""
        known = sum(piece.size for piece in self.pieces)
        return known or (self._stream.bytes_read if self._stream is not None else 0)

    @property
    def feature_names(self) -> tuple[str, ...]:  # type: ignore[override]  # others set it
        """Names of the columns of tables, and of features of VW text."""
        return self.format.feature_names

    def columns(self, n: int) -> slice:
        """Which of n columns have features, once the files were read."""
        first = self.format.first_column
        width = self.options.n_features
        return slice(first, n if width is None else min(n, first + width))

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        """Read the files; plain text before the position is not parsed again."""
        end = after  # a checkpoint after the last block leaves no rows
        for rows, first_row, end in self.rows(after):
            X, y, weight = rows
            codes = y.codes_in(self.labels)
            if self.labels.values.dtype.kind == "f":
                as_labels(self.labels.values)  # refuses measurements
            self.unlabelled += int(np.count_nonzero(codes < 0))
            if rest := Block(X, codes, weight, first_row, end).after(after):
                yield rest
        self.n_rows = end.rows

    def rows(self, after: Position = START) -> Iterator[tuple[Rows, int, Position]]:
        """Rows of parsed blocks, the number of their first row, and where they end."""
        if self._used and not self.repeatable:
            raise DataError(
                f"{self.place} is a pipe, which can be read only once. Write the rows to a file "
                "first."
            )
        self._used = True
        began = time.perf_counter()
        single = len(self.pieces) == 1
        offset = after.offset if single else 0
        n_rows = lines = done = 0
        skipped = SkippedLines()
        if offset:
            n_rows, lines = after.rows, after.lines
            skipped = SkippedLines(after.skipped, self.skipped.first[: after.skipped])
        else:
            self.unlabelled = 0
            if self.format.encoder is not None:
                self.format.encoder.begin()
        self.skipped = skipped
        piece, total = self.pieces[0], sum(p.size for p in self.pieces)
        for parsed in self._parsed(offset):
            if parsed.begins is not None and not offset:
                done += 0 if parsed.begins is self.pieces[0] else piece.size
                piece, lines = parsed.begins, parsed.lines_before
            self._check_malformed(parsed, piece, lines)
            first_row, lines, n_rows = n_rows, lines + parsed.n_lines, n_rows + parsed.n_rows
            if self.options.progress is not None:
                seconds = time.perf_counter() - began
                self.options.progress(
                    Progress(done + parsed.bytes_read, total, n_rows, self.skipped.count, seconds)
                )
            if parsed.n_rows:
                offset_now = parsed.offset if single else 0
                end = Position(n_rows, lines, self.skipped.count, offset_now)
                yield self.format.rows(parsed), first_row, end
        if not n_rows:
            why = f": {self.skipped}" if self.skipped.count else ""
            raise NoRowsError(f"{self.place} has no rows{why}. Give a file with at least one.")

    def settled_rows(self) -> Iterator[Rows]:
        """Rows whose columns count from 0, which the first block settles for LIBSVM text."""
        base = None
        for rows, first_row, end in self.rows():
            base = self.format.first_column if base is None else base
            if self.format.first_column != base:
                raise DataError(
                    f"an index is 0 among rows {first_row} to {end.rows - 1}; all rows before had "
                    "indices from 1. Pass zero_based=True."
                )
            yield rows._replace(X=self.columns_from(rows.X, base))

    def columns_from(self, X: Any, base: int) -> Any:
        """The columns from `base` on."""
        if not isinstance(X, Csr):
            return X
        used = self.columns(X.n_features)
        indices = X.indices - np.int32(base) if base else X.indices
        return X._replace(indices=indices, n_features=used.stop - used.start)

    def _parsed(self, offset: int) -> Iterator[Parsed]:
        for piece in self.pieces:
            yield from self.format.read(piece, self._stream, offset)

    def _check_malformed(self, parsed: Parsed, piece: Piece, lines: int) -> None:
        if not parsed.n_bad:
            return
        bad = [line.moved(lines) for line in parsed.bad]
        if self.options.on_error == "raise":
            raise MalformedLineError(f"{piece}, {bad[0]}")
        self.skipped = self.skipped.plus(parsed.n_bad, bad)

    def get_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """What reading has found so far, as JSON can hold it, and as arrays."""
        facts, arrays = self.format.get_state()
        found = {
            "words": self.labels.words if self.labels.values.dtype.kind in "if" else [],
            "skipped": asdict(self.skipped),
            "unlabelled": self.unlabelled,
            "format": facts,
        }
        return found, arrays

    def set_state(self, state: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Continue with what an earlier run found; the labels are there already."""
        if words := state["words"]:
            self.labels.set_state(self.labels.values, self.labels.closed, list(map(str, words)))
        self.skipped = SkippedLines.from_dict(state["skipped"])
        self.unlabelled = int(state["unlabelled"])
        self.format.set_state(state["format"], arrays)

    def described(self) -> dict[str, Any]:
        """What was asked for, as JSON can hold it."""
        options = self.options
        held: dict[str, Any] = {"format": self.format.name, "on_error": options.on_error}
        for name in FORMATS[self.format.name].settings:
            value = getattr(options, name)
            held[name] = value if isinstance(value, bool | int | str | None) else repr(value)
        return held

    def settings(self) -> dict[str, Any]:
        """How the files were read, with what was found out, for the file of a model."""
        return {"format": self.format.name, **self.format.settings()}


class Identified(NamedTuple):
    """A place: its name, its files, their format, and the stream of a pipe, which is open."""

    place: str
    pieces: Sequence[Piece]
    format: str
    stream: ByteStream | None = None


def identify(place: Any, format: str | None = None) -> Identified:
    """Find the files of a place and their format."""
    if is_dataset(place):
        if format not in (None, "parquet"):
            raise ParameterError(f"a dataset of pyarrow has no format, got format={format!r}.")
        piece = dataset_piece(place)
        return Identified(str(piece), [piece], "parquet")
    pieces = [place] if isinstance(place, Piece) else locate(place, format)
    first = pieces[0]
    name = format or first.format
    shown = str(first) if len(pieces) == 1 else str(place)
    if name is not None and not first.is_pipe:
        return Identified(shown, pieces, name)
    stream = ByteStream(first)
    name = name or format_of_bytes(stream.peek(PEEK))
    if name is None or not first.is_pipe:
        stream.close()
    if name is None:
        raise DataError(
            f"cannot tell the format of {first} from its name or its first bytes. Say it: "
            f"format={' or '.join(map(repr, FORMATS))}; --format on the command line."
        )
    return Identified(shown, pieces, name, stream if first.is_pipe else None)


def open_source(
    place: Any,
    options: ReadOptions | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    features: FeatureIndex | None = None,
) -> FileSource:
    """Open a file, folder, URL, pipe or dataset of pyarrow as a source.

    Parameters
    ----------
    place : str, Path, dataset of pyarrow, Piece or Identified
        "-" is standard input.
    options : ReadOptions or None
    feature_names : sequence of str or None
        Table columns to read, by name; the others are left out, and the label column may be
        missing.
    features : FeatureIndex or None
        LIBSVM: gives columns to indices from PLAIN_COLUMNS on; None: the index is the column. VW
        text: gives columns to names.

    Returns
    -------
    FileSource

    Raises
    ------
    FileError
        If there is no such file.
    """
    options = options or ReadOptions()
    found = place if isinstance(place, Identified) else identify(place, options.format)
    shown, pieces, name, stream = found
    try:
        options.check_format(name, str(pieces[0]))
        known = feature_names if FORMATS[name].is_table else features
        format: Format = FORMATS[name].load()(options, known)
        format.look(pieces[0], stream)
    except BaseException:
        if stream is not None:
            stream.close()
        raise
    return FileSource(shown, pieces, format, options, stream)
