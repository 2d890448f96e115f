"""Source: the only way rows reach training, prediction and proofs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rosenblatt.data.block import START, Block, Csr, Position, stack
from rosenblatt.data.labels import as_labels, check_same_kind
from rosenblatt.errors import DataError, LabelError

Array = npt.NDArray[Any]
MOST_ENTRIES = int(np.iinfo(np.int32).max)  # of a chunk of CSR rows, and columns


class LabelIndex:
    """Codes for labels: 0, 1, ... in the order in which the labels were first seen.

    Parameters
    ----------
    values : array or sequence
        The labels that are known, in the order of their codes.
    closed : bool
        Whether other labels are refused.

    Examples
    --------
    >>> labels = LabelIndex()
    >>> labels.encode(np.array(["spam", "ham", "spam"]))
    array([0, 1, 0], dtype=int32)
    >>> labels.values, labels.classes, labels.class_numbers
    (array(['spam', 'ham'], dtype='<U4'), array(['ham', 'spam'], dtype='<U4'), array([ 1, 0, -1], dtype=int32))
    """  # noqa: E501  # one line of output

    def __init__(self, values: Any = (), closed: bool = False) -> None:
        self.set_state(np.asarray(values), closed)

    def set_state(self, values: Array, closed: bool) -> None:
        """Replace all labels."""
        self.values, self.closed = values, closed
        self._codes = np.argsort(values, kind="stable").astype(np.int32)
        self._sorted = values[self._codes]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def classes(self) -> Array:
        """The labels, sorted."""
        return self._sorted

    @property
    def class_numbers(self) -> npt.NDArray[np.int32]:
        """The place of each code among the sorted labels; then -1, for the code -1."""
        numbers = np.full(len(self) + 1, -1, np.int32)
        numbers[self._codes] = np.arange(len(self), dtype=np.int32)
        return numbers

    def encode(self, y: Array) -> npt.NDArray[np.int32]:
        """Return the code of each label; new labels get new codes."""
        place, known = self._find(y)
        if not known.all():
            self._add(y[~known])
            place, _ = self._find(y)
        return self._codes[place]

    def _find(self, y: Array) -> tuple[Array, Array]:
        if not len(self):
            return np.zeros(len(y), np.intp), np.zeros(len(y), bool)
        if y.dtype.kind != self._sorted.dtype.kind:
            check_same_kind(y, self._sorted)
        place = np.minimum(np.searchsorted(self._sorted, y), len(self) - 1)
        return place, self._sorted[place] == y

    def _add(self, new: Array) -> None:
        try:
            values, first = np.unique(new, return_index=True)
        except TypeError as e:
            raise LabelError(f"y holds labels that cannot be ordered: {e}.") from e
        if self.closed:
            raise LabelError(
                f"y holds labels {values[:5].tolist()} that are not among classes "
                f"{self._sorted[:10].tolist()}. Name every class, or leave classes out to let them "
                "appear."
            )
        values = values[np.argsort(first)]
        everything = np.concatenate([self.values, values]) if len(self) else values
        self.set_state(everything, False)


class Source(Protocol):
    """Blocks of rows, epoch after epoch.

    Attributes
    ----------
    labels : LabelIndex
        Grows while blocks are read.
    n_features : int or None
        None while it may grow.
    resident : bool
        One block, the same in every epoch.
    repeatable : bool
        Rows can be read more than once.
    same_order : bool
        Every epoch has the rows in the same order; only then may weights that return be called a
        cycle.
    n_rows : int or None
        None until all rows were read once.
    feature_names : sequence of str or None
    """

    labels: LabelIndex
    n_features: int | None
    resident: bool
    repeatable: bool
    same_order: bool
    n_rows: int | None
    feature_names: Sequence[str] | None

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        """The blocks of an epoch, from a position on."""

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """function(block, *args) for every block, in the order of the rows."""

    def take(self, rows: Sequence[int]) -> Block:
        """Some rows, by their numbers."""


class BaseSource:
    """`map` and `take` on top of `blocks`."""

    labels: LabelIndex
    n_features: int | None = None
    resident = False
    repeatable = True
    same_order = True
    n_rows: int | None = None
    feature_names: Sequence[str] | None = None

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        """The blocks of an epoch, from a position on."""
        raise NotImplementedError

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """function(block, *args) for every block, in the order of the rows."""
        return [function(block, *args) for block in self.blocks()]

    def take(self, rows: Sequence[int]) -> Block:
        """Some rows, by their numbers."""
        found: dict[int, Block] = {}
        wanted = np.unique(np.asarray(rows, dtype=np.int64))
        for block in self.blocks():
            lo, hi = np.searchsorted(wanted, (block.first_row, block.first_row + block.n_rows))
            for row in wanted[lo:hi].tolist():
                found[row] = block.rows(row - block.first_row, row - block.first_row + 1)
        return stack([found[row] for row in rows])


class ArraySource(BaseSource):
    """Rows in memory, as one block.

    Parameters
    ----------
    X : validated rows, dense or CSR
    y : int array
        Class numbers from 0; -1 for rows that are not visited.
    labels : sequence
        The label of each class number.
    sample_weight : float64 array or None
    """

    resident = True

    def __init__(
        self, X: Any, y: Array, labels: Sequence[Hashable], sample_weight: Array | None = None
    ) -> None:
        self.labels = LabelIndex(labels)
        self.n_rows, self.n_features = X.shape
        y = np.ascontiguousarray(y, dtype=np.int32)
        self.block = Block(X, y, sample_weight, 0, Position(rows=len(y)))

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        """The one block."""
        if after.rows:
            raise ValueError("rows in memory are one block; there is no position inside it.")
        yield self.block

    def take(self, rows: Sequence[int]) -> Block:
        """Some rows, by their numbers."""
        X, y, weight, _, _ = self.block
        some = np.asarray(rows, dtype=np.intp)
        return Block(X[some], y[some], None if weight is None else weight[some])


CHUNKS = "pairs (X, y) or triples (X, y, sample_weight)"


class ChunkSource(BaseSource):
    """Chunks of rows from the user, checked as they come, in float64.

    Parameters
    ----------
    chunks : iterable or function
        Of pairs (X, y) or triples (X, y, sample_weight); a function returns such an iterable. An
        iterator can be read only once.
    labels : LabelIndex or None
    copy : bool
        Whether every chunk must have memory of its own, because it is kept while others come.
    """

    def __init__(self, chunks: Any, labels: LabelIndex | None = None, copy: bool = False) -> None:
        table = isinstance(chunks, str | bytes | dict) or hasattr(chunks, "shape")
        if not callable(chunks) and (not isinstance(chunks, Iterable) or table):
            raise DataError(
                f"the chunks are a {type(chunks).__name__}. Give an iterable of {CHUNKS}, or a "
                "function that returns one."
            )
        self.chunks, self.copy = chunks, copy
        self.labels = LabelIndex() if labels is None else labels
        self.repeatable = not isinstance(getattr(chunks, "batches", chunks), Iterator)
        self._used = False

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        """One block per chunk that has rows."""
        from rosenblatt.data.chunks import frame_names  # scipy.sparse: only if needed

        if self._used and not self.repeatable:
            raise DataError(
                "the chunks come from an iterator, which can be read only once. Give something "
                "that can be read again: a list of chunks, or a function that returns them."
            )
        self._used = True
        chunks = self.chunks() if callable(self.chunks) else self.chunks
        if not isinstance(chunks, Iterable):
            raise DataError(
                f"the function that opens the chunks returned a {type(chunks).__name__}. Return "
                f"something that yields {CHUNKS}."
            )
        n_rows = 0
        first: Block | None = None
        for k, chunk in enumerate(chunks):
            if not isinstance(chunk, tuple | list) or len(chunk) not in (2, 3):
                raise DataError(f"chunk {k} is a {type(chunk).__name__}, expected {CHUNKS}.")
            if getattr(chunk[0], "shape", (1,))[0] == 0:
                continue
            block, names = self._block(k, n_rows, *chunk), frame_names(chunk[0])
            if first is None:
                first, self.feature_names = block, names
            _check_alike(k, block, first)
            if names != self.feature_names:
                raise DataError(
                    f"chunk {k} has the columns {names}, those before it {self.feature_names}. "
                    "Give chunks with the same columns in the same order."
                )
            n_rows = block.end.rows
            if rest := block.after(after):
                yield rest
        if first is None:
            raise DataError("there are no rows. Give at least one.")
        self.n_rows = n_rows

    def _block(self, k: int, first_row: int, X: Any, y: Any, sample_weight: Any = None) -> Block:
        from rosenblatt.data.problem import as_matrix, as_weights

        try:
            A = as_matrix(X, ordered=False)
            labels = as_labels(y, A.shape[0])
            weight = as_weights(sample_weight, A.shape[0], all_rows=False)
            codes = self.labels.encode(labels)
        except DataError as e:
            raise type(e)(f"in chunk {k}: {e}") from e
        end = Position(rows=first_row + len(codes))
        if self.copy and weight is not None:
            weight = weight.copy()
        if not hasattr(A, "indptr"):
            return Block(A.astype(np.float64, copy=self.copy), codes, weight, first_row, end)
        if max(A.shape[1], A.nnz) > MOST_ENTRIES:
            raise DataError(
                f"chunk {k} has {A.shape[1]:,} columns and {A.nnz:,} entries; at most "
                f"{MOST_ENTRIES:,} of each are supported. Give smaller chunks, or hash the columns."
            )
        rows = Csr(
            A.data.astype(np.float64, copy=self.copy),
            A.indices.astype(np.int32, copy=self.copy),
            A.indptr.astype(np.int32, copy=self.copy),
            A.shape[1],
        )
        return Block(rows, codes, weight, first_row, end)


def _check_alike(k: int, block: Block, first: Block) -> None:
    sparse = isinstance(block.X, Csr)
    if sparse != isinstance(first.X, Csr):
        raise DataError(
            f"chunk {k} is {'sparse' if sparse else 'dense'}, those before it are not. Give all "
            "chunks in one form."
        )
    if not sparse and block.X.shape[1] != first.X.shape[1]:
        raise DataError(
            f"chunk {k} has {block.X.shape[1]} features, those before it {first.X.shape[1]}. Give "
            "chunks of one table."
        )
