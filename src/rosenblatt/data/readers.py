"""Readers: files in, chunk by chunk or whole. The front door; the formats stand beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.blocks import is_plain
from rosenblatt.data.datasets import check_where, is_dataset, name_of
from rosenblatt.data.folders import size_of
from rosenblatt.data.formats import KNOWN, format_of
from rosenblatt.data.piped import pipe_of
from rosenblatt.data.reading import (
    LISTED,
    Chunk,
    Csr,
    Format,
    Mark,
    NotNumbers,
    Parsed,
    Plan,
    Progress,
    ReadAgain,
    Skipped,
    without_first,
)
from rosenblatt.data.where import parse_where
from rosenblatt.errors import DataError, ParameterError

CHUNK_BYTES = 1 << 21
THREADS = 2


@dataclass(frozen=True, eq=False)
class Table:
    """A whole file: rows, labels, and what else it held.

    Attributes
    ----------
    X : CSR matrix (LIBSVM, VW text) or array (CSV, Parquet) of float64
    y : one label a row; NaN where a line of VW text has none
    feature_names : names of the columns of X, if the file has any
    sample_weight : one weight a row, or None for all ones
    skipped : malformed lines that were left out
    """

    X: Any
    y: npt.NDArray[Any]
    feature_names: tuple[str, ...] = ()
    sample_weight: npt.NDArray[np.float64] | None = None
    skipped: Skipped = field(default_factory=Skipped)


SKIPPING = (
    "Fix the file, or skip such lines: on_error='skip' in Python, "
    "--skip-errors on the command line."
)


@dataclass(eq=False)
class FileChunks:
    """A file as chunks (X, y, sample_weight), read anew each time it is iterated.

    Attributes
    ----------
    skipped : malformed lines that the latest pass has left out so far
    feature_names : names of the columns (CSV, Parquet), once a pass has begun
    counts_from_zero : whether indices count from 0 (LIBSVM), once a pass has begun
    mark : where the latest pass stands
    """

    path: Path
    format: Format
    plan: Plan
    on_error: str = "raise"
    progress: Callable[[Progress], object] | None = None
    skipped: Skipped = field(default_factory=Skipped, init=False)
    feature_names: tuple[str, ...] = field(default=(), init=False)
    counts_from_zero: bool | None = field(default=None, init=False)
    _bytes_total: int | None = field(default=None, init=False)
    mark: Mark = field(default_factory=Mark, init=False)

    def __iter__(self) -> Iterator[Chunk]:
        for chunk in self._plain():
            yield chunk._replace(X=chunk.X.matrix()) if isinstance(chunk.X, Csr) else chunk

    @property
    def plain(self) -> Plain:
        """The same with X of LIBSVM and VW text as bare arrays (`Csr`)."""
        return Plain(self)

    @property
    def size(self) -> int:
        """Bytes on disk of all files, as far as they are known."""
        size: int | None = getattr(self.format, "size", None)
        return size_of(self.path) if size is None else size

    def _plain(self, after: Mark | None = None) -> Iterator[Chunk]:
        """All chunks; those after a mark: what comes before is leapt over, or read and dropped."""
        began, reading = time.perf_counter(), self.format.begin()
        leaps = getattr(reading, "settled_by_first", False)
        leaps = leaps and not self.path.is_dir() and is_plain(self.path)
        wanted = after or Mark()
        leap = wanted.offset if leaps and wanted.chunk_bytes == self.plan.chunk_bytes else 0
        rows, lines, self.skipped = 0, 0, Skipped()
        if leap:
            rows, lines, self.skipped = wanted.rows, wanted.lines, wanted.skipped
        for k, part in enumerate(reading.blocks(self.path, replace(self.plan, leap=leap))):
            leaps = leaps and (k > 0 or part.rows > 0)
            self.feature_names = getattr(reading, "feature_names", ())
            self.counts_from_zero = getattr(reading, "base", None) == 0
            if leap and part.bytes_read <= leap:  # only for what it settles
                reading.chunk(part)
                continue
            self._look_at_malformed(part, lines)
            lines += part.lines
            rows += part.rows
            self._report(part, rows, time.perf_counter() - began)
            if not part.rows:
                continue
            chunk = reading.chunk(part)
            end = part.bytes_read if leaps else 0
            self.mark = Mark(rows, lines, self.skipped, end, self.plan.chunk_bytes)
            if rows > wanted.rows:
                known = wanted.rows - (rows - part.rows)
                yield without_first(chunk, known) if known > 0 else chunk
        if not rows:
            why = f": {self.skipped}" if self.skipped.count else ""
            raise DataError(f"{self.path} has no rows{why}. Give a file with at least one.")

    def pairs(self) -> Iterator[tuple[Any, npt.NDArray[Any]]]:
        """(X, y) of every chunk, for those who have no use for weights."""
        for X, y, _ in self:
            yield X, y

    def scanned(self) -> FileChunks:
        """The same after one pass over the file: now every chunk is as wide as the widest.

        Of a LIBSVM file it also settles whether indices count from 0. Other formats know their
        width from the start.
        """
        if not hasattr(self.format, "zero_based"):
            return self
        silent = replace(self, progress=None)
        try:
            width = max(X.shape[1] for X, _, _ in silent)
        except ReadAgain as e:
            return self._again(e).scanned()
        base = silent.counts_from_zero
        settled = replace(self.format, n_features=width, zero_based=base)  # type: ignore[type-var]  # a protocol; every format is a dataclass
        return replace(self, format=settled)

    def _again(self, e: ReadAgain) -> FileChunks:
        return replace(self, format=replace(self.format, **e.settings))  # type: ignore[type-var]  # a protocol; every format is a dataclass

    def _look_at_malformed(self, part: Parsed, lines: int) -> None:
        if not part.n_bad:
            return
        bad = part.moved(lines)
        if self.on_error == "raise":
            unread = bad[0].expected.startswith(("a number in", "a finite number in"))
            raise (NotNumbers if unread else DataError)(f"{self.path}, {bad[0]}. {SKIPPING}")
        first = (self.skipped.first + bad)[:LISTED]
        self.skipped = Skipped(self.skipped.count + part.n_bad, first)

    def _report(self, part: Parsed, rows: int, seconds: float) -> None:
        if self.progress is not None:
            if self._bytes_total is None:
                self._bytes_total = 0 if pipe_of(self.path) else self.size
            total = self._bytes_total
            self.progress(Progress(part.bytes_read, total, rows, self.skipped.count, seconds))


@dataclass(frozen=True, eq=False)
class Plain:
    """Chunks of a file without scipy's matrices; as `FileChunks` otherwise."""

    chunks: FileChunks

    def __iter__(self) -> Iterator[Chunk]:
        return self.chunks._plain()

    @property
    def mark(self) -> Mark:
        return self.chunks.mark

    def after(self, mark: Mark) -> Iterator[Chunk]:
        """Only the rows after a mark of an earlier pass."""
        return self.chunks._plain(mark)


def read_chunks(
    path: Any,
    *,
    format: str | None = None,
    target: str | int | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    labels: str | None = None,
    n_features: int | None = None,
    zero_based: bool | str | None = None,
    bits: int | None = None,
    hash: str | None = None,
    constant: bool | None = None,
    columns: Any = None,
    missing: Sequence[str] | None = None,
    where: Any = None,
    on_error: str = "raise",
    chunk_bytes: int = CHUNK_BYTES,
    threads: int = THREADS,
    progress: Callable[[Progress], object] | None = None,
) -> FileChunks:
    """A file as chunks (X, y, sample_weight), a few of them in memory at a time.

    The chunks do not depend on the number of threads. Numbers are the nearest float64.

    Parameters
    ----------
    path : str, Path or pyarrow dataset
        Plain or compressed (gzip, bzip2, zstd: the first bytes tell). Or a folder of CSV or of
        Parquet files, which are read in the order of their names. Or a dataset of pyarrow
        (docs/how-to/out_of_core.md), which is read as Parquet would be, whatever it is made of.
    format : "libsvm", "vw", "csv", "parquet" or None
        None: as the name says (.svm, .libsvm, .svmlight, .vw, .csv, .tsv, .parquet, .pq), else as
        the first bytes look.
    target : str or int
        CSV and Parquet: the label column, by name or by number (from 0; -1 is the last).
    header : bool or None
        CSV: whether the first line holds names. None: it does if `target` is not a number.
    delimiter : str
        CSV: what parts the cells. A comma, or a tab if the name ends in .tsv.
    labels : "integers", "numbers", "text" or None
        CSV: what the labels are. None: the narrowest that fits the first chunk.
    n_features : int or None
        LIBSVM: columns of X. None: as many as were met so far, so that later chunks may be wider;
        see :meth:`FileChunks.scanned`. CSV and Parquet: a file of just so many columns, none of
        them called `target`, has no labels, and y is NaN.
    zero_based : bool or "auto"
        LIBSVM: whether indices count from 0. "auto": from 1, unless the first chunk has an index 0.
        If a later chunk has one, that is an error.
    bits : int, 1 to 30
        VW text: features go to 2**bits positions, as with `vw -b`. 18 if not given.
    hash : "strings" or "all"
        VW text: as `vw --hash`. With "strings", the default, a name of digits is a number.
    constant : bool
        VW text: whether to add VW's constant feature. False if not given.
    columns : :class:`rosenblatt.Columns`, "raw" or None
        CSV and Parquet: what is done to columns of any kind to make numbers of them. "raw": X is an
        Arrow table, to learn that from; see :func:`rosenblatt.columns_of_file`. None: all columns
        but the labels must be numbers.
    missing : list of str
        CSV, with `columns`: marks of missing values besides those that are always: nothing, ?, NA,
        N/A, n/a, #N/A, NaN, nan, NULL, null and None.
    where : str or None
        Parquet, datasets, and CSV with `columns`: which rows are read, e.g. "delay > 15 and
        origin = 'LAS'". For a dataset also an expression of pyarrow.
        Nothing in it is run; see docs/how-to/columns.md.
    on_error : "raise" or "skip"
        At a malformed line: stop, or leave it out, count it and list the first ten.
    chunk_bytes : int
        Bytes of text in a chunk (of numbers in memory, for Parquet).
    threads : int
        How many parse at the same time.
    progress : callable or None
        Called with a :class:`Progress` at every chunk.

    Examples
    --------
    >>> from pathlib import Path; from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "tiny.svm"
    >>> size = file.write_text("+1 1:0.5 3:2 # a comment\\n-1 2:9.8E-02\\n")
    >>> for X, y, sample_weight in read_chunks(file):
    ...     print(X.toarray(), y)
    [[0.5   0.    2.   ] [0.    0.098 0.   ]] [ 1. -1.]
    """
    held, path = path, name_of(path)
    if is_dataset(held):
        format = format or "parquet"
    elif not isinstance(where, str | None):
        raise ParameterError(
            f"where is a {type(where).__name__}: that is for datasets of pyarrow. Give text."
        )
    name = format_of(path) if format is None else format
    given: dict[str, dict[str, Any]] = {
        "libsvm": {"n_features": n_features, "zero_based": zero_based},
        "vw": {"bits": bits, "hash": hash, "constant": constant},
        "csv": {
            "target": target, "header": header, "delimiter": delimiter, "labels": labels,
            "n_features": n_features, "columns": columns, "missing": missing,
            "where": where,
        },
        "parquet": {
            "target": target, "n_features": n_features, "columns": columns, "where": where,
        },
    }  # fmt: skip
    if name == "parquet" and pipe_of(path):
        raise DataError(
            f"{path} is a pipe, and a Parquet file cannot be read from one: what is in it stands "
            "at its end. Write it to a file first."
        )
    if name not in given:
        raise ParameterError(f"format must be one of {', '.join(KNOWN)}, got {name!r}.")
    for other, settings in given.items():
        for key, value in settings.items():
            if value is not None and key not in given[name]:
                raise ParameterError(
                    f"{key} is a setting of {other} files; {path} is read as {name}."
                )
    if on_error not in ("raise", "skip"):
        raise ParameterError(f"on_error must be 'raise' or 'skip', got {on_error!r}.")
    for key, number in (("chunk_bytes", chunk_bytes), ("threads", threads)):
        if number < 1:
            raise ParameterError(f"{key} must be at least 1, got {number}.")
    asked = {k: v for k, v in given[name].items() if v is not None}
    if is_dataset(held):
        if name != "parquet":
            raise ParameterError(f"a dataset of pyarrow has no format, got format={format!r}.")
        check_where(where)
        asked["dataset"] = held
    made = _format(name, path, asked)
    return FileChunks(path, made, Plan(chunk_bytes, threads), on_error, progress)


def read(path: str | Path, **settings: Any) -> Table:
    """A whole file in memory. Parameters as for :func:`read_chunks`.

    What a stream has to settle at its first chunk is settled by the whole file here: whether the
    indices of a LIBSVM file count from 0, and what kind the labels of a CSV file are.

    Examples
    --------
    >>> from pathlib import Path; from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "tiny.vw"
    >>> size = file.write_text("1 2.0 |f a b:0.5\\n-1 |f b\\n")
    >>> table = read(file, bits=4)
    >>> table.X.toarray()[:, 3:5], table.y, table.sample_weight
    (array([[1. , 0.5], [0. , 1. ]]), array([ 1., -1.]), array([2., 1.]))
    """
    chunks, source = all_chunks(read_chunks(path, **settings))
    y = np.concatenate([c.y for c in chunks])
    X = _stacked([c.X for c in chunks])
    return Table(X, y, source.feature_names, all_weights(chunks), source.skipped)


def all_chunks(source: FileChunks) -> tuple[list[Chunk], FileChunks]:
    """The whole file, and the source as it was read in the end."""
    while True:
        try:
            return list(source), source
        except ReadAgain as e:
            source = source._again(e)


def all_weights(chunks: Sequence[Chunk]) -> Any:
    """The weights of all rows, 1 where a chunk has none; None where no chunk has any."""
    if all(c.sample_weight is None for c in chunks):
        return None
    ones = (np.ones(len(c.y)) if c.sample_weight is None else c.sample_weight for c in chunks)
    return np.concatenate(list(ones))


def read_csv(path: str | Path, target: str, header: bool | None = None) -> Table:
    """A CSV file of numbers with one column of labels, whole.

    Parameters
    ----------
    path : str or Path
        Plain or compressed (gzip, bzip2, zstd).
    target : str
        The label column: its name, or its number (from 0; -1 is the last).
    header : bool or None
        Whether the first line holds names. None: it does if `target` is not a number.

    Raises
    ------
    DataError
        If a line is malformed. No line is skipped: proofs are about all of them.
    """
    try:
        return read(path, format="csv", target=target, header=header)
    except DataError as e:
        if SKIPPING not in str(e):
            raise
        fix = "Fix the line or remove it: a proof is about every line of the file."
        raise DataError(str(e).replace(SKIPPING, fix)) from e


def _format(name: str, path: Path, given: dict[str, Any]) -> Format:
    if name == "libsvm":
        from rosenblatt.data.libsvm import LARGEST_INDEX, Libsvm

        base = given.get("zero_based", "auto")
        if base not in ("auto", True, False):
            raise ParameterError(f"zero_based must be True, False or 'auto', got {base!r}.")
        n = given.get("n_features")
        if n is not None and not 1 <= n <= LARGEST_INDEX + 1:
            raise ParameterError(f"n_features must be between 1 and 2**31 - 1, got {n!r}.")
        return Libsvm(n, None if base == "auto" else bool(base))
    if name == "vw":
        from rosenblatt.data.vw_text import VWText

        wanted = VWText(**given)
        if not 1 <= wanted.bits <= 30:
            raise ParameterError(f"bits must be between 1 and 30, got {wanted.bits!r}.")
        if wanted.hash not in ("strings", "all"):
            raise ParameterError(f"hash must be 'strings' or 'all', got {wanted.hash!r}.")
        return wanted
    if "target" not in given:
        raise ParameterError(
            f"target is missing: say which column of {path} holds the labels (--target)."
        )
    given["target"] = str(given["target"])
    if "columns" in given:
        return _raw(name, given, path)
    if name == "csv":
        for key in ("missing", "where"):
            if given.pop(key, None):
                raise ParameterError(f"{key} is a setting of raw columns. Give columns too.")
    if "dataset" in given:
        from rosenblatt.data.arrow_dataset import ArrowDataset

        return ArrowDataset(**given)
    if given.get("where"):
        parse_where(given["where"])
    if name == "parquet":
        from rosenblatt.data.parquet_file import Parquet

        return Parquet(**given)
    from rosenblatt.data.csv_file import KINDS, Csv

    if given.get("labels") not in (None, *KINDS):
        raise ParameterError(f"labels must be one of {KINDS}, got {given['labels']!r}.")
    return Csv(**{"delimiter": _delimiter(path)} | given)


def _raw(name: str, given: dict[str, Any], path: Path) -> Format:
    """The format for columns of any kind."""
    from rosenblatt.data.columns.frozen import Columns
    from rosenblatt.data.columns.raw_csv import RawCsv
    from rosenblatt.data.columns.raw_parquet import RawParquet

    if isinstance(given.get("where"), str):
        parse_where(given["where"])
    columns = given.pop("columns")
    if columns != "raw" and not isinstance(columns, Columns):
        raise ParameterError(f"columns must be Columns, 'raw' or None, got {columns!r:.80}.")
    given["columns"] = columns if isinstance(columns, Columns) else None
    if "dataset" in given:
        from rosenblatt.data.arrow_dataset import RawArrowDataset

        return RawArrowDataset(**given)
    if name == "parquet":
        return RawParquet(**given)
    given["missing"] = tuple(given.get("missing", ()))
    return RawCsv(**{"delimiter": _delimiter(path)} | given)


def _delimiter(path: Path) -> str:
    return "\t" if ".tsv" in (s.lower() for s in path.suffixes) else ","


def _stacked(parts: list[Any]) -> Any:
    """One matrix of the rows of all parts; the parts are used up."""
    if isinstance(parts[0], np.ndarray):
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    import scipy.sparse as sp

    width = max(part.shape[1] for part in parts)
    for part in parts:
        part.resize(part.shape[0], width)
    return parts[0] if len(parts) == 1 else sp.vstack(parts, format="csr")
