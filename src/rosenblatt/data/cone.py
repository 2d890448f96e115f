"""Cone: rows as the constraints sign_i w.(x_i, 1) >= 0, or = 0 for some, a view of a source.

The searches of `prove/` and its checker see rows only through `map`, `map_and_keep` and `take`, so
arrays, chunks, files and shards on a cluster are one code.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.block import Block, Csr
from rosenblatt.data.matrix import Matrix, check_kept_by_floats, frame_names
from rosenblatt.data.problem import Problem
from rosenblatt.data.source import ArraySource, ChunkSource, PerBlock, Source
from rosenblatt.errors import DataError, DataTypeError, LabelError, ParameterError, UndecidedError

PIECE = 1 << 22  # numbers that a function gets at a time
EXACT_PACE = 4e-10  # seconds of a system of n equations, by n^3 and the bits of an entry, about
EXACT_SLACK = 0.5  # seconds after the deadline that such a system may end
Signs = npt.NDArray[np.int8]
_View = tuple[Signs, npt.NDArray[np.int64] | None, float | None]


@dataclass(frozen=True, eq=False)
class ConeBlock:
    """Consecutive rows of a cone.

    Attributes
    ----------
    X : float array or scipy CSR
    sign : -1 or +1 for every row
    equality : for which rows w.z_i = 0 is meant, not w.z_i >= 0; None: for none
    first_row : number of the first row in the cone
    """

    X: Matrix
    sign: npt.NDArray[np.integer[Any]]
    equality: npt.NDArray[np.bool_] | None = None
    first_row: int = 0

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def part(self, at: npt.NDArray[Any]) -> ConeBlock:
        """Some of its rows, which lose their numbers."""
        equality = None if self.equality is None else self.equality[at]
        return ConeBlock(self.X[at], self.sign[at], equality)

    @property
    def label(self) -> npt.NDArray[np.int8]:
        """The sign, or 0 for rows of equality."""
        label = self.sign.astype(np.int8)
        return label if self.equality is None else np.where(self.equality, np.int8(0), label)


@dataclass(frozen=True, eq=False)
class Cone:
    """Rows z_i = sign_i (x_i, 1), or sign_i x_i without the constant, and all w that fit them.

    These have w.z_i >= 0, and w.z_i = 0 for rows of equality. Two classes have none of those; they
    are for other models, such as a count of successes and failures for each row.

    Attributes
    ----------
    source : Source
    classes : the two labels as the user writes them; rows of the second have the sign +1
    signs : the sign of every label code of the source; 0: rows of equality
    constant : whether a 1 is appended to every row, whose weight is the offset
    selected : numbers of some rows of the source, in order; None: all rows
    deadline : the time (as of time.time) after which readings stop with UndecidedError; None: never
    """

    source: Any
    classes: npt.NDArray[Any]
    signs: Signs
    constant: bool = True
    selected: npt.NDArray[np.int64] | None = None
    deadline: float | None = None

    @property
    def n_rows(self) -> int:
        return int(self.source.n_rows if self.selected is None else len(self.selected))

    @property
    def n_features(self) -> int:
        return int(self.source.n_features)

    @property
    def n_columns(self) -> int:
        """Features, and the constant."""
        return self.n_features + self.constant

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the features, where the data have some."""
        names = self.source.feature_names
        return None if names is None else tuple(names)

    @property
    def resident(self) -> bool:
        """Whether all rows are in memory, or mapped into it."""
        return bool(self.source.resident)

    @property
    def remote(self) -> bool:
        """Whether every block is with a worker of its own, so that sending is slow."""
        return bool(self.source.remote)

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """function(block, *args) for consecutive ConeBlocks, in the order of rows: one reading.

        The function is pure, defined in a module, and returns little. Of an argument from
        `map_and_keep` each block gets its own value.

        >>> as_cone([[1, 2], [3, 4]], [0, 1]).map(len)
        [2]
        """
        found = self.source.map(_over_pieces, self._view, function, *args)
        return [value for values in found for value in values]

    def map_and_keep(self, function: Callable[..., Any], *args: Any) -> PerBlock:
        """The same for values as long as the block, which stay where the block is."""
        kept: PerBlock = self.source.map_and_keep(_kept_pieces, self._view, function, *args)
        return kept

    def take(self, rows: Sequence[int] | npt.NDArray[Any]) -> ConeBlock:
        """Some rows by their numbers, in this order."""
        some = np.asarray(rows, dtype=np.int64)
        if not some.size:
            return _cone_block(np.zeros((0, self.n_features)), np.zeros(0, dtype=np.int8))
        block = self.source.take(some if self.selected is None else self.selected[some])
        return _cone_block(_matrix(block.X), self.signs[block.y])

    def keep(self, rows: npt.NDArray[np.int64], block: ConeBlock) -> None:
        """Rows that a map returned, for `take`; of a cone that is read from elsewhere."""
        X = block.X
        if sp.issparse(X):
            X = Csr(X.data, X.indices, X.indptr, X.shape[1])
        order = np.argsort(self.signs, kind="stable")
        codes = order[np.searchsorted(self.signs[order], block.label)].astype(np.int32)
        numbers = rows if self.selected is None else self.selected[rows]
        self.source.keep(numbers.tolist(), Block(X, codes))

    def whole(self) -> ConeBlock:
        """All rows of a cone that is in memory."""
        (block,) = self.source.blocks()
        return _cone_block(_matrix(block.X), self.signs[block.y])

    @property
    def _view(self) -> _View:
        return self.signs, self.selected, self.deadline

    def within(self, max_seconds: float | None) -> Cone:
        """The same, for readings that stop with UndecidedError after this time."""
        return self if max_seconds is None else replace(self, deadline=time.time() + max_seconds)

    def select(self, rows: npt.NDArray[np.int64]) -> Cone:
        """A cone of some rows, numbered from 0; they stay where they are."""
        return replace(self, selected=rows if self.selected is None else self.selected[rows])


class _Pieces(list[Any]):
    """The values of one block of the source, one for each of its pieces."""


def _kept_pieces(block: Block, view: _View, function: Callable[..., Any], *args: Any) -> _Pieces:
    return _Pieces(_over_pieces(block, view, function, *args))


def _over_pieces(block: Block, view: _View, function: Callable[..., Any], *args: Any) -> list[Any]:
    """function(piece, *args) for the pieces of a block."""
    return [
        function(piece, *(a[k] if isinstance(a, _Pieces) else a for a in args))
        for k, piece in enumerate(_pieces(block, *view))
    ]


def _pieces(
    block: Block, signs: Signs, selected: Any, deadline: float | None
) -> Iterator[ConeBlock]:
    _check_time(deadline)
    X, first = _matrix(block.X), block.first_row
    n, d = X.shape
    if selected is not None:
        low, high = np.searchsorted(selected, [first, first + n])
        inside = selected[low:high] - first
        yield _cone_block(X[inside], signs[block.y[inside]], int(low))
        return
    step = max(1, n * PIECE // max(X.nnz, 1)) if sp.issparse(X) else max(1, PIECE // d)
    for start in range(0, n, step):
        stop = min(start + step, n)
        part = X if stop - start == n else X[start:stop]
        _check_time(deadline)
        yield _cone_block(part, signs[block.y[start:stop]], first + start)


def check_system(deadline: float | None, n: int, bits: int) -> None:
    """Raise UndecidedError if an exact linear system cannot be solved in time: nothing stops it.

    It has n equations and entries of so many bits.
    """
    seconds = EXACT_PACE * n**3 * (bits + n.bit_length())
    if deadline is not None and time.time() + seconds > deadline + EXACT_SLACK:
        raise UndecidedError(
            f"max_seconds would run out: an exact system of {n} equations takes about "
            f"{seconds:.1g} s. Give more time, or leave it out."
        )


def _check_time(deadline: float | None) -> None:
    if deadline is not None and time.time() >= deadline:
        raise UndecidedError(
            "max_seconds ran out before all rows were read. Give more time, or leave it out."
        )


def _cone_block(X: Matrix, label: Signs, first_row: int = 0) -> ConeBlock:
    equality = label == 0
    if not equality.any():
        return ConeBlock(X, label, None, first_row)
    return ConeBlock(X, np.where(equality, np.int8(1), label), equality, first_row)


def _matrix(X: Any) -> Matrix:
    if isinstance(X, Csr):
        return sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
    return X


def cone_of_arrays(X: Matrix, sign: Any, classes: Any = (-1, 1), constant: bool = True) -> Cone:
    """A cone of validated rows in memory with signs -1 and +1; a class may have no rows."""
    codes = (np.asarray(sign) > 0).astype(np.int32)
    return Cone(ArraySource(X, codes, classes), np.asarray(classes), _SIGNS, constant)


_SIGNS = np.array([-1, 1], dtype=np.int8)


def rows_and_labels(X: Any, y: Any) -> tuple[Any, Any]:
    """X and y; where y is left out and X is a table that was read, those of the table."""
    if y is None and hasattr(X, "X") and hasattr(X, "y"):
        return X.X, X.y
    return X, y


def as_cone(X: Any, y: Any = None, fit_intercept: bool = True, keep: Sequence[int] = ()) -> Cone:
    """A cone of arrays, a CSR matrix, a frame, chunks of (X, y) or a source.

    Rows are numbers that a float64 holds: others would be rounded, and are refused. Chunks are read
    once to count them; rows to `keep` are taken in the same reading.

    >>> as_cone([[1, 2], [3, 4]], ["ham", "spam"]).n_rows
    2
    >>> as_cone([([[1, 2]], [0]), ([[3, 4], [5, 6]], [1, 1])]).n_rows
    3
    """
    if not isinstance(fit_intercept, (bool, np.bool_)):
        raise ParameterError(f"fit_intercept must be True or False, got {fit_intercept!r}.")
    fit_intercept = bool(fit_intercept)
    if isinstance(X, Cone):
        return replace(X, constant=fit_intercept)
    if isinstance(X, Source):
        return cone_of_source(X, fit_intercept)
    _refuse_dask(X)
    if y is None:
        rows, labels = rows_and_labels(X, y)
        if labels is not None:
            cone = as_cone(rows, labels, fit_intercept)
            cone.source.feature_names = getattr(X, "feature_names", None) or None
            return cone
        if isinstance(X, Iterator):
            raise DataError(
                "X is an iterator, which can be read only once. Give something that can be read "
                "again: a list of (X, y) chunks, an object with __iter__, or a function that "
                "returns the chunks."
            )
        if _is_chunks(X):
            return cone_of_source(ChunkSource(X, exact=True), fit_intercept, keep)
        if isinstance(X, (str, PathLike)):
            raise DataTypeError(
                f"X is {X!r}, not a table of numbers. If it is a file, read it first: "
                "rosenblatt.read(path, target=...)."
            )
        raise LabelError(
            "the labels y are missing. Give one label per row, or leave y out for what has labels: "
            "a table of `read`, a list of pairs (X, y), or a function that returns such pairs."
        )
    if isinstance(X, list) and _is_chunks(X) and getattr(X[0][0], "ndim", 1) == 2:
        raise DataError("X is a list of chunks (X, y), which bring their labels. Leave y out.")
    check_kept_by_floats(X)
    problem = Problem.of(X, y)
    cone = cone_of_arrays(problem.X, problem.y, two_classes(problem.classes), fit_intercept)
    cone.source.feature_names = frame_names(X)
    return cone


def cone_of_source(source: Any, fit_intercept: bool = True, keep: Sequence[int] = ()) -> Cone:
    """A cone of the rows of a source, which is read once to count rows and classes."""
    if source.n_rows is None and len(keep):
        source.fetch(keep)
    if source.n_rows is None or source.n_features is None:
        widths = source.map(_width)
        source.n_features = max(widths)
    classes = two_classes(source.labels.classes)
    signs = np.where(source.labels.class_numbers[:-1] > 0, 1, -1).astype(np.int8)
    return Cone(source, classes, signs, fit_intercept)


def _width(block: Block) -> int:
    return int(block.X.shape[1])


def two_classes(classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The classes, if there are two."""
    if len(classes) != 2:
        raise LabelError(
            f"this is a question about two classes, got {len(classes)}: "
            f"{classes[:5].tolist()}. Pick two, or one against the rest."
        )
    return classes


def _is_chunks(X: Any) -> bool:
    if callable(X):
        return True
    if hasattr(X, "shape") or hasattr(X, "__array__") or sp.issparse(X) or isinstance(X, str):
        return False
    if isinstance(X, (list, tuple)):
        return bool(X) and all(isinstance(c, tuple) and len(c) == 2 for c in X)
    return isinstance(X, Iterable)


def _refuse_dask(X: Any) -> None:
    first = X[0] if isinstance(X, (list, tuple)) and len(X) else X
    if hasattr(first, "__dask_graph__"):
        raise DataTypeError(
            f"X is a Dask collection ({type(first).__name__}). Give "
            "rosenblatt.cluster.DaskSource.of(X, y) instead of X and y; the rows then stay on the "
            "cluster."
        )
