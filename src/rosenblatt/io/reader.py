"""Readers: any supported file as chunks, or as a table in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt._core import FeatureIndex
from rosenblatt.data.block import Block, Csr, stack
from rosenblatt.data.source import LabelIndex
from rosenblatt.errors import ParameterError
from rosenblatt.io.bad_lines import SkippedLines
from rosenblatt.io.file_source import FileSource, open_source
from rosenblatt.io.progress import Progress
from rosenblatt.io.text_format import (
    ReadOptions,
    is_whole,
)


class Chunk(NamedTuple):
    """Rows with labels: X (CSR matrix or array), y, and one weight per row or None."""

    X: Any
    y: npt.NDArray[Any]
    sample_weight: npt.NDArray[np.float64] | None


class FileChunks:
    """A file as chunks (X, y, sample_weight); every iteration reads it again.

    Attributes
    ----------
    skipped : SkippedLines
        Malformed lines that the latest pass has skipped so far.
    feature_names : tuple of str
        Names of the columns of tables, and of features of VW text.
    """

    def __init__(self, place: Any, options: ReadOptions) -> None:
        self.place, self.options = place, options
        self._source, self._used = open_source(place, options), False

    @property
    def skipped(self) -> SkippedLines:
        return self._source.skipped

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self._source.feature_names

    def source(self, labels: LabelIndex | None = None) -> FileSource:
        """The file as a source."""
        if self._used and self._source.repeatable:
            self._source = open_source(self.place, self.options)
        source, self._used = self._source, True
        if labels is not None:  # to train on
            source.labels = labels
            if source.format.name == "libsvm" and source.options.n_features is None:
                source.format.features = FeatureIndex()
        return source

    def __iter__(self) -> Iterator[Chunk]:
        labels = LabelIndex()
        for X, y, weight in self.source().settled_rows():
            yield Chunk(X.to_scipy() if isinstance(X, Csr) else X, y.decoded(labels), weight)


def read_chunks(
    path: Any,
    *,
    format: str | None = None,
    target: str | int | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    n_features: int | None = None,
    zero_based: bool | str | None = None,
    bits: int | None = None,
    hash: str | None = None,
    missing: Sequence[str] | None = None,
    on_error: str = "raise",
    chunk_bytes: int = ReadOptions.chunk_bytes,
    threads: int = ReadOptions.threads,
    max_line_bytes: int = ReadOptions.max_line_bytes,
    progress: Callable[[Progress], object] | None = None,
) -> FileChunks:
    """Read a file as chunks (X, y, sample_weight), of which a few are in memory at a time.

    The chunks do not depend on the number of threads. Numbers are the nearest float64.

    Parameters
    ----------
    path : str, Path or pyarrow dataset
        A file, plain or compressed (gzip, bzip2, zstd: the first bytes tell); a folder of files of
        one format, which are read in the order of their names; a URL; a FIFO; "-", which is
        standard input; or a dataset of pyarrow (docs/how-to/out_of_core.md).
    format : {"libsvm", "vw", "csv", "parquet"}, optional
        None: as the name says (.svm, .libsvm, .svmlight, .vw, .csv, .tsv, .parquet, .pq), else as
        the first bytes look.
    target : str or int, optional
        CSV and Parquet: the label column, by name or by number (from 0; -1 is the last).
    header : bool, optional
        CSV: whether the first line has the names of the columns. None: it has if `target` is a
        name, or if it has text where the lines after it have numbers.
    delimiter : str, optional
        CSV: what separates the cells. A comma, or a tab if the name ends in .tsv.
    n_features : int, optional
        LIBSVM: columns of X. None: as many as have been seen, so later chunks may be wider.
    zero_based : bool or "auto", optional
        LIBSVM: whether indices count from 0. None: from 1, unless the first chunk has an index 0;
        an index 0 in a later chunk is then an error; `read` looks at the whole file.
    bits : int, optional
        VW text: features go to 2**bits positions, from 1 to 30, as with `vw -b`. None: they have
        columns in the order in which they first appear, so later chunks may be wider.
    hash : {"strings", "all"}, optional
        VW text, with `bits`: as `vw --hash`. With "strings", the default, a name of digits is a
        number.
    missing : sequence of str, optional
        CSV: marks of missing values besides ?, NA, N/A, n/a, #N/A, NaN, nan, NULL, null and None.
        They apply to labels too.
    on_error : {"raise", "skip"}
        At a malformed line: stop, or skip it, count it and list the first ten.
    chunk_bytes : int
        Bytes of text in a chunk (of numbers in memory, for Parquet).
    threads : int
        How many threads parse.
    max_line_bytes : int
        The longest line, or quoted cell of CSV, that is read.
    progress : callable, optional
        Called with a :class:`Progress` at every chunk.

    Returns
    -------
    FileChunks
        The chunks; every iteration reads the file again.

    Raises
    ------
    FileError
        If the file is not there. It is a DataError and an OSError.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "tiny.svm"
    >>> size = file.write_text("+1 1:0.5 3:2 # a comment\\n-1 2:9.8E-02\\n")
    >>> for X, y, sample_weight in read_chunks(file):
    ...     print(X.toarray(), y)
    [[0.5   0.    2.   ] [0.    0.098 0.   ]] [ 1. -1.]
    """
    options = ReadOptions(
        format=format, target=target, header=header, delimiter=delimiter, n_features=n_features,
        zero_based=zero_based, bits=bits, hash=hash, missing=missing,
        on_error=on_error, chunk_bytes=chunk_bytes, threads=threads, max_line_bytes=max_line_bytes,
        progress=progress,
    )  # fmt: skip
    return FileChunks(path, options)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows in memory, with labels, and what else the file had.

    Attributes
    ----------
    X : CSR matrix (LIBSVM, VW text) or array (CSV, Parquet) of float64
    y : array
        One label per row; NaN where a line of VW text has none.
    feature_names : tuple of str
        Names of the columns of X, if the file has any.
    sample_weight : array or None
        One weight per row; None for all ones.
    skipped : SkippedLines
        Malformed lines that were skipped.
    has_more : bool
        Whether the file goes on after `max_rows` rows.
    """

    X: Any
    y: npt.NDArray[Any]
    feature_names: tuple[str, ...] = ()
    sample_weight: npt.NDArray[np.float64] | None = None
    skipped: SkippedLines = field(default_factory=SkippedLines)
    has_more: bool = False


def read(path: Any, *, max_rows: int | None = None, **options: Any) -> Table:
    """Read a file into memory.

    Parameters
    ----------
    path : str, Path or pyarrow dataset
        As for :func:`read_chunks`.
    max_rows : int, optional
        Read only the first rows.
    **options : Any
        The parameters of :func:`read_chunks`.

    Returns
    -------
    Table
        The rows, their labels and weights.

    Raises
    ------
    DataError
        If a line is malformed, and `on_error` is not "skip".

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "tiny.vw"
    >>> size = file.write_text("1 2.0 |f a b:0.5\\n-1 |f b\\n")
    >>> table = read(file, bits=4)
    >>> table.X.toarray()[:, 3:5], table.y, table.sample_weight
    (array([[1. , 0.5], [0. , 1. ]]), array([ 1., -1.]), array([2., 1.]))
    """
    if max_rows is not None and not (is_whole(max_rows) and max_rows >= 1):
        raise ParameterError(f"max_rows must be a whole number from 1, got {max_rows!r}.")
    source = open_source(path, ReadOptions.of(options))
    blocks, words = [], LabelIndex()
    y: list[Any] = []
    n_rows, more = 0, False
    for (X, labels, weight), first_row, end in source.rows():
        if more := n_rows == max_rows:
            break
        typed_later = isinstance(labels.values, list)
        values = labels.codes_in(words) if typed_later else labels.decoded(words)
        block = Block(X, np.zeros(end.rows - first_row, np.int32), weight, first_row)
        stop = block.n_rows if max_rows is None else min(block.n_rows, max_rows - first_row)
        blocks.append(block.rows(0, stop))
        y.append(values[:stop])
        n_rows += stop
        more = stop < block.n_rows
        if more:
            break
    labels_of_all = np.concatenate(y)
    if len(words):
        labels_of_all = words.values[labels_of_all]
    whole = blocks[0] if len(blocks) == 1 else stack(blocks)
    X = source.columns_from(whole.X, source.format.first_column)
    return Table(
        X.to_scipy() if isinstance(X, Csr) else X, labels_of_all, source.format.feature_names,
        whole.sample_weight, source.skipped, more,
    )  # fmt: skip
