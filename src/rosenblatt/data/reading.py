"""Reading: what one pass over a file gives out: chunks, lines left out, progress."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import DataError

LARGEST_INTEGER = 2**53  # every integer up to here is a float64
LISTED = 10  # malformed lines that are listed; the others are counted


class Csr(NamedTuple):
    """A CSR matrix as its arrays. scipy.sparse has more to offer, and takes 0.1 s to import."""

    data: npt.NDArray[np.float64]
    indices: npt.NDArray[np.int32]
    indptr: npt.NDArray[np.int32]
    shape: tuple[int, int]

    def matrix(self) -> Any:
        """For scipy."""
        import scipy.sparse as sp

        return sp.csr_matrix((self.data, self.indices, self.indptr), shape=self.shape)


class Chunk(NamedTuple):
    """Some rows in a row: X (CSR or dense), y, and one weight a row or None for all ones."""

    X: Any
    y: npt.NDArray[Any]
    sample_weight: npt.NDArray[np.float64] | None


def without_first(chunk: Chunk, count: int) -> Chunk:
    """The chunk without its first `count` rows."""
    X, y, weight = chunk
    if isinstance(X, Csr):
        at = X.indptr[count]
        shape = (X.shape[0] - count, X.shape[1])
        X = Csr(X.data[at:], X.indices[at:], X.indptr[count:] - at, shape)
    else:
        X = X[count:]
    return Chunk(X, y[count:], None if weight is None else weight[count:])


@dataclass(frozen=True)
class BadLine:
    """A malformed line: where, what was expected there, what was found.

    Lines and columns count from 1. Of a CSV file the column is that of the table, and a Parquet
    file has rows in place of lines (`unit`).
    """

    line: int
    column: int
    expected: str
    found: str
    unit: str = "line"

    def __str__(self) -> str:
        where = f"{self.unit} {self.line}, column {self.column}"
        return f"{where}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True)
class Skipped:
    """Malformed lines that were left out: how many, and the first ten of them."""

    count: int = 0
    first: tuple[BadLine, ...] = ()

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Skipped:
        """From what `dataclasses.asdict` made of it."""
        return cls(int(values["count"]), tuple(BadLine(**line) for line in values["first"]))

    def __str__(self) -> str:
        if not self.count:
            return "no malformed lines"
        listed = "".join(f"\n  {bad}" for bad in self.first)
        return f"{self.count:,} malformed lines left out, the first of them:{listed}"


@dataclass(frozen=True)
class Progress:
    """How far a pass has come.

    Attributes
    ----------
    bytes_read, bytes_total : int
        Of the file as it lies on disk, compressed or not.
    rows, skipped : int
        Rows given out and malformed lines left out so far.
    seconds : float
        Since the pass began.

    Examples
    --------
    >>> print(Progress(bytes_read=30, bytes_total=120, rows=1000, skipped=0, seconds=2.0))
    25 %, 1,000 rows, 500 rows/s, 6 s left
    """

    bytes_read: int
    bytes_total: int
    rows: int
    skipped: int
    seconds: float

    @property
    def rows_per_second(self) -> float:
        return self.rows / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float:
        """As long as the rest takes at the same speed."""
        left = self.bytes_total - self.bytes_read
        return self.seconds * left / self.bytes_read if self.bytes_read else float("inf")

    def __str__(self) -> str:
        part = 100 * self.bytes_read / self.bytes_total if self.bytes_total else 100
        skipped = f"{self.skipped:,} lines left out, " if self.skipped else ""
        return (
            f"{part:.0f} %, {self.rows:,} rows, {skipped}{self.rows_per_second:,.0f} rows/s, "
            f"{self.seconds_left:.0f} s left"
        )


@dataclass(frozen=True, eq=False)
class Parsed:
    """One block of a file, parsed. Lines of `bad` count from the start of the block.

    `content` is what the format needs to make a chunk of it.
    """

    rows: int
    lines: int
    content: Any
    n_bad: int = 0
    bad: tuple[BadLine, ...] = ()
    bytes_read: int = 0

    def moved(self, lines: int) -> tuple[BadLine, ...]:
        """The malformed lines, counted from the start of the file."""
        return tuple(replace(b, line=b.line + lines) for b in self.bad)


@dataclass(frozen=True)
class Plan:
    """How to read: bytes of text in a chunk, how many threads parse, and what to leap over.

    leap : text that is not compressed: after the first block, go on at this byte
    """

    chunk_bytes: int
    threads: int
    leap: int = 0


@dataclass(frozen=True)
class Mark:
    """Where a pass stands after a chunk, for another to go on from there.

    Attributes
    ----------
    rows, lines : how many came before
    skipped : malformed lines among them
    offset : the byte where the next line begins; 0 if that is not known, or not enough
    chunk_bytes : with which the file was read
    """

    rows: int = 0
    lines: int = 0
    skipped: Skipped = Skipped()
    offset: int = 0
    chunk_bytes: int = 0


class Pass(Protocol):
    """One pass over one file: blocks in order, then chunks (dense or `Csr`) in the same order.

    One of text may have `settled_by_first = True`: where its first block has rows, that block and
    its chunk settle all that later ones depend on, so that what follows can be leapt over.
    """

    def blocks(self, path: Path, plan: Plan) -> Iterator[Parsed]: ...

    def chunk(self, parsed: Parsed) -> Chunk: ...


class Format(Protocol):
    """A format with its settings; every pass starts afresh."""

    def begin(self) -> Pass: ...


class ReadAgain(DataError):
    """A later part of the file contradicts what the first part led to assume.

    `settings` are those with which another reading would succeed.
    """

    def __init__(self, message: str, settings: dict[str, Any]) -> None:
        super().__init__(message)
        self.settings = settings


class NotNumbers(DataError):
    """A column holds something that is no number: it could be learned as a raw column."""
