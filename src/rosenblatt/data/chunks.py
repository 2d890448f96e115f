"""Labelled rows that are read part by part, any number of times, from any container.

An array, a CSR matrix, a memory map and a frame are one block in memory (or mapped into it); a
re-iterable of (X, y) chunks is read again each time, and must yield the same rows.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.problem import (
    Matrix,
    Problem,
    as_labels,
    as_matrix,
    check_kept_by_floats,
    encode,
    refuse_lazy,
    sorted_classes,
)
from rosenblatt.errors import DataError, LabelError

PART = 1 << 22  # numbers looked at together
# whether X is such a collection, and its rows; packages that import this one add theirs
COLLECTIONS: list[tuple[Callable[[Any], bool], Callable[[Any, Any], Rows]]] = []


@dataclass(frozen=True, eq=False)
class Part:
    """Consecutive rows: `X` and `y` (-1 and +1), the first of them being row `start`."""

    start: int
    X: Matrix
    y: npt.NDArray[np.integer[Any]]

    def __len__(self) -> int:
        return int(self.X.shape[0])


@dataclass(frozen=True, eq=False)
class Kept:
    """What a function made of every part, kept where the part is: see `Rows.kept`."""

    values: tuple[Any, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows:
    """Rows of two classes, in memory or not.

    A question about all rows is a function of a part: `each` asks it of every part in one
    reading, and only the answers come back. So parts may lie on other machines.

    Attributes
    ----------
    n_rows, n_features : int
    classes : the two labels as the user writes them; the second is +1
    feature_names : names of the columns if X is a frame, else None
    apart : whether every part lies with a worker of its own: what goes from part to part is slow
    """

    apart: ClassVar[bool] = False

    n_rows: int
    n_features: int
    classes: npt.NDArray[Any]
    feature_names: tuple[str, ...] | None = None

    def parts(self) -> Iterator[Part]:
        """All rows in order, a few million numbers at a time."""
        raise NotImplementedError

    def each(self, function: Callable[..., Any], *args: Any) -> Iterator[Any]:
        """function(part, *args) for every part in order: one reading.

        The function is pure, stands in a module and returns little. Of an argument that is
        `Kept`, each part gets its own value.

        >>> list(as_rows([[1, 2], [3, 4]], [0, 1]).each(len))
        [2]
        """
        for k, part in enumerate(self.parts()):
            yield function(part, *(a.values[k] if isinstance(a, Kept) else a for a in args))

    def kept(self, function: Callable[..., Any], *args: Any) -> Kept:
        """The same as an argument for later readings, for answers as long as the part."""
        return Kept(tuple(self.each(function, *args)))

    def take(self, rows: Sequence[int] | npt.NDArray[Any]) -> Part:
        """These rows, in this order, as one part."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, kw_only=True)
class InMemory(Rows):
    """One block of rows, in memory or mapped into it. Parts are views of it."""

    problem: Problem

    def parts(self) -> Iterator[Part]:
        X, y = self.problem.X, self.problem.y
        n, d = X.shape
        step = max(1, n * PART // max(X.nnz, 1)) if sp.issparse(X) else max(1, PART // d)
        for start in range(0, n, step):
            stop = min(start + step, n)
            yield Part(start, X if stop - start == n else X[start:stop], y[start:stop])

    def take(self, rows: Sequence[int] | npt.NDArray[Any]) -> Part:
        at = np.asarray(rows, dtype=np.int64)
        return Part(-1, self.problem.X[at], self.problem.y[at])


class TakenRows:
    """Rows that were taken before, so that none is read twice."""

    def __init__(self) -> None:
        self.place: dict[int, int] = {}
        self.X: Any = None
        self.y: Any = None

    def missing(self, at: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return np.array(sorted({i for i in at.tolist() if i not in self.place}), dtype=np.int64)

    def add(self, rows: npt.NDArray[np.int64], parts: list[Part]) -> None:
        Xs, ys = [p.X for p in parts], [p.y for p in parts]
        if self.y is not None:
            Xs, ys = [self.X, *Xs], [self.y, *ys]
        first = len(self.place)
        self.place.update((i, first + k) for k, i in enumerate(rows.tolist()))
        if all(map(sp.issparse, Xs)):
            self.X = sp.vstack(Xs, format="csr")
        else:
            self.X = np.vstack([X.toarray() if sp.issparse(X) else X for X in Xs])
        self.y = np.concatenate(ys)

    def part(self, at: npt.NDArray[np.int64], n_features: int) -> Part:
        if not at.size:
            return Part(-1, np.zeros((0, n_features)), np.zeros(0, dtype=np.int8))
        places = [self.place[i] for i in at.tolist()]
        return Part(-1, self.X[places], self.y[places])


@dataclass(frozen=True, eq=False, kw_only=True)
class Chunked(Rows):
    """A re-iterable of (X, y) chunks. Each reading is compared with the first by checksums.

    Rows that were taken are kept, as long as they are few.
    """

    source: Any
    checksums: tuple[int, ...]
    taken: TakenRows = field(default_factory=TakenRows)

    @classmethod
    def of(cls, source: Any) -> Chunked:
        """Read all chunks once: how many rows, which classes, are they numbers."""
        if isinstance(source, Iterator):
            raise DataError(
                "X is an iterator, which can be read only once. Give something that can be read "
                "again: a list of (X, y) chunks, an object with __iter__, or a function that opens "
                "the chunks anew."
            )
        n, d, found, sums, names = 0, None, [], [], None
        for X, y in _opened(source):
            names = frame_names(X) if d is None else names
            _check_names(X, names, n)
            A, labels = _checked(X, y, n)
            d = A.shape[1] if d is None else d
            if A.shape[1] != d:
                raise DataError(
                    f"the chunk that starts at row {n} has {A.shape[1]} features, those before it "
                    f"{d}. Give chunks of one table."
                )
            found.append(sorted_classes(labels))
            sums.append(_checksum(A, labels))
            n += A.shape[0]
        if d is None:
            raise DataError("there are no chunks with rows in X. Give at least one (X, y) pair.")
        classes = sorted_classes(np.concatenate(found))
        return cls(
            feature_names=names,
            source=source,
            n_rows=n,
            n_features=d,
            classes=two_classes(classes),
            checksums=tuple(sums),
        )

    def parts(self) -> Iterator[Part]:
        start, count = 0, 0
        for k, (X, y) in enumerate(_opened(self.source)):
            _check_names(X, self.feature_names, start)
            A, labels = _checked(X, y, start)
            if k >= len(self.checksums) or _checksum(A, labels) != self.checksums[k]:
                raise DataError(
                    f"chunk {k} (from row {start}) is not what it was at the first reading. Give "
                    "chunks that are the same every time they are read."
                )
            yield Part(start, A, encode(labels, self.classes))
            start, count = start + A.shape[0], k + 1
        if count != len(self.checksums):
            raise DataError(
                f"{count} chunks came, {len(self.checksums)} at the first reading. Give chunks "
                "that are the same every time they are read."
            )

    def take(self, rows: Sequence[int] | npt.NDArray[Any]) -> Part:
        at = np.asarray(rows, dtype=np.int64)
        few = at.size * self.n_features <= PART
        taken = self.taken if few else TakenRows()
        new = taken.missing(at)
        if new.size:
            taken.add(new, [part for part in self.each(_rows_among, new) if len(part)])
        return taken.part(at, self.n_features)


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectedRows(Rows):
    """Some rows of others, with numbers of their own; they stay where they are.

    Attributes
    ----------
    rows : Rows
    at : their numbers there, in order
    """

    rows: Rows
    at: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rows: Rows, at: npt.NDArray[np.int64]) -> SelectedRows:
        return cls(
            n_rows=len(at),
            n_features=rows.n_features,
            classes=rows.classes,
            feature_names=rows.feature_names,
            rows=rows,
            at=at,
        )

    def parts(self) -> Iterator[Part]:
        for part in self.rows.parts():
            yield _selected(part, self.at)

    def each(self, function: Callable[..., Any], *args: Any) -> Iterator[Any]:
        return self.rows.each(_of_selected, self.at, function, *args)

    def take(self, rows: Sequence[int] | npt.NDArray[Any]) -> Part:
        return self.rows.take(self.at[np.asarray(rows, dtype=np.int64)])


def _of_selected(
    part: Part, at: npt.NDArray[np.int64], function: Callable[..., Any], *args: Any
) -> Any:
    return function(_selected(part, at), *args)


def _selected(part: Part, at: npt.NDArray[np.int64]) -> Part:
    """Those of the rows that lie in a part, with their numbers among them."""
    low, high = np.searchsorted(at, [part.start, part.start + len(part)])
    inside = at[low:high] - part.start
    return Part(int(low), part.X[inside], part.y[inside])


def _rows_among(part: Part, rows: npt.NDArray[np.int64]) -> Part:
    """Those of the rows, which are in order, that lie in a part."""
    low, high = np.searchsorted(rows, [part.start, part.start + len(part)])
    inside = rows[low:high] - part.start
    return Part(-1, part.X[inside], part.y[inside])


def as_rows(X: Any, y: Any = None) -> Rows:
    """Rows from arrays, a CSR matrix, a frame, or (with y left out) chunks of (X, y).

    >>> as_rows([[1, 2], [3, 4]], ["ham", "spam"]).n_rows
    2
    >>> as_rows([([[1, 2]], [0]), ([[3, 4], [5, 6]], [1, 1])]).n_rows
    3
    """
    if isinstance(X, Rows):
        return X
    for is_one, rows_of in COLLECTIONS:
        if is_one(X):
            return rows_of(X, y)
    if y is None:
        if hasattr(X, "scanned"):  # what read_chunks gives
            return Chunked.of(X.scanned().pairs)
        if hasattr(X, "X") and hasattr(X, "y"):  # a table that was read
            return as_rows(X.X, X.y)
        if isinstance(X, Iterator) or _is_chunks(X):
            return Chunked.of(X)
        raise LabelError(
            "the labels y are missing. Give one label per row, or leave y out for chunks only: a "
            "list of pairs (X, y), or a function that returns them anew."
        )
    if isinstance(X, list) and _is_chunks(X) and getattr(X[0][0], "ndim", 1) == 2:
        raise DataError("X is a list of chunks (X, y), which bring their labels. Leave y out.")
    check_kept_by_floats(X)
    problem = Problem.of(X, y)
    return InMemory(
        n_rows=problem.n_rows,
        n_features=problem.n_features,
        classes=two_classes(problem.classes),
        feature_names=frame_names(X),
        problem=problem,
    )


def two_classes(classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The classes, if there are two."""
    if len(classes) != 2:
        raise LabelError(
            f"this is a question about two classes, got {len(classes)}: "
            f"{classes[:5].tolist()}. Pick two, or one against the rest."
        )
    return classes


def _check_names(X: Any, names: tuple[str, ...] | None, start: int) -> None:
    found = frame_names(X)
    if found != names:
        raise DataError(
            f"the chunk that starts at row {start} has the columns {_few(found)}, those before it "
            f"{_few(names)}. Give chunks with the same columns in the same order."
        )


def _few(names: tuple[str, ...] | None) -> str:
    return "without names" if names is None else str(list(names[:10]))


def frame_names(X: Any) -> tuple[str, ...] | None:
    """The names of the columns of a pandas or polars frame."""
    refuse_lazy(X)
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return tuple(str(c) for c in X.columns)
    return None


def _is_chunks(X: Any) -> bool:
    if callable(X):
        return True
    if hasattr(X, "shape") or hasattr(X, "__array__") or sp.issparse(X) or isinstance(X, str):
        return False
    if isinstance(X, (list, tuple)):
        return bool(X) and all(isinstance(c, tuple) and len(c) == 2 for c in X)
    return isinstance(X, Iterable)


def _opened(source: Any) -> Iterator[tuple[Any, Any]]:
    """(X, y) of every chunk that has rows."""
    chunks = source() if callable(source) else source
    if not isinstance(chunks, Iterable):
        raise DataError(
            f"the function that opens the chunks returned a {type(chunks).__name__}. Return "
            "something that yields pairs (X, y)."
        )
    for k, chunk in enumerate(chunks):
        if not isinstance(chunk, (tuple, list)) or len(chunk) != 2:
            raise DataError(
                f"chunk {k} is a {type(chunk).__name__}, not a pair (X, y). Give pairs of rows and "
                "labels."
            )
        if getattr(chunk[0], "shape", (1,))[0]:
            yield chunk[0], chunk[1]


def _checked(X: Any, y: Any, start: int) -> tuple[Matrix, npt.NDArray[Any]]:
    try:
        check_kept_by_floats(X)
        A = as_matrix(X)
        return A, as_labels(y, A.shape[0])
    except DataError as e:
        raise type(e)(f"in the chunk that starts at row {start}: {e}") from e


def _checksum(A: Matrix, labels: npt.NDArray[Any]) -> int:
    pieces = (A.data, A.indices, A.indptr) if sp.issparse(A) else (A,)
    total = zlib.crc32(repr((A.shape, str(A.dtype))).encode())
    for piece in pieces:
        total = zlib.crc32(np.ascontiguousarray(piece).data.cast("B"), total)
    if labels.dtype.kind in "biuf":
        return zlib.crc32(labels.astype(np.float64).data.cast("B"), total)
    return zlib.crc32("\0".join(map(str, labels.tolist())).encode(), total)
