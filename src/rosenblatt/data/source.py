"""Source: the only way rows reach training, prediction and proofs."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.block import START, Block, Csr, Position, stack
from rosenblatt.data.labels import LARGEST_INTEGER, as_labels, check_same_kind
from rosenblatt.errors import DataError, LabelError

Array = npt.NDArray[Any]
MOST_TAKEN = 1 << 22  # numbers in the rows that are kept
INTEGER = re.compile(r"[ \t]*[+-]?[0-9]+[ \t]*")
LEADING_ZERO = re.compile(r"[ \t]*[+-]?0[0-9]")
NUMBER = re.compile(r"[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*")
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
        self._exact = closed and self.values.dtype.kind == "U"

    def set_state(self, values: Array, closed: bool, words: Sequence[str] = ()) -> None:
        """Replace all labels; `words` are their spellings."""
        self.values, self.closed = values, closed
        self._codes = np.argsort(values, kind="stable").astype(np.int32)
        self._sorted = values[self._codes]
        self._words = list(words)

    @property
    def words(self) -> list[str]:
        """The labels as texts, as they were first spelled where they were read as texts."""
        if len(self._words) != len(self.values):
            self._words = [str(value) for value in self.values.tolist()]
        return self._words

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

    def encode_words(self, words: Sequence[str]) -> npt.NDArray[np.int32]:
        """Return the code of each text; texts of the same number, as 1, +1 and 1.0, have one code.

        `values` are integers if all labels are, else floats if all are numbers, else texts.
        """
        spelled = self.words
        keys = [word if self._exact else label_key(word) for word in spelled]
        codes = {key: code for code, key in reversed([*enumerate(keys)])}
        known = len(spelled)
        found = np.empty(len(words), np.int32)
        for k, word in enumerate(words):
            key = word if self._exact else label_key(word)
            found[k] = code = codes.setdefault(key, len(spelled))
            if code == len(spelled):
                if self.closed:
                    self._refuse([word])
                if word.endswith("\0"):
                    raise LabelError(
                        f"the label {word!r} ends in a null character, which numpy leaves out. "
                        "Remove it or replace it."
                    )
                spelled.append(word)
                keys.append(key)
        if len(spelled) > known:
            self.set_state(typed_labels(spelled, keys), False, spelled)
        return found

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
            self._refuse(values[:5].tolist())
        values = values[np.argsort(first)]
        everything = np.concatenate([self.values, values]) if len(self) else values
        self.set_state(everything, False)

    def _refuse(self, labels: Sequence[Any]) -> None:
        raise LabelError(
            f"y holds labels {list(labels)} that are not among classes "
            f"{self._sorted[:10].tolist()}. Name every class, or leave classes out to let them "
            "appear."
        )


def label_key(word: str) -> int | float | str:
    """The number that a text stands for, or the text; 007 is a text, not 7.

    >>> label_key("+1"), label_key("1.0"), label_key("a"), label_key("007")
    (1, 1.0, 'a', '007')
    """
    if LEADING_ZERO.match(word):
        return word
    if INTEGER.fullmatch(word):
        return int(word) if len(word) < 100 else float(word)
    if NUMBER.fullmatch(word) and isfinite(value := float(word)):
        return value
    return word


def typed_labels(words: Sequence[str], keys: Sequence[int | float | str]) -> Array:
    """Labels as integers if all are, else as floats if all are numbers, else as texts."""
    if any(isinstance(key, str) for key in keys):
        return np.array(words)
    if all(isinstance(key, int) and -(2**63) <= key < 2**63 for key in keys):
        return np.array(keys, np.int64)
    return check_exact(np.array(keys, np.float64))


def check_exact(y: Array) -> Array:
    """Labels as floats; those that are not told from their neighbours are refused."""
    large = np.abs(y) >= LARGEST_INTEGER
    if large.any():
        raise LabelError(
            f"the label {y[large][0]:.17g} is beyond 2**53, where floats do not tell neighbours "
            "apart. Number the classes from 0, or use text."
        )
    return y


@dataclass(frozen=True, eq=False)
class PerBlock:
    """A value for every block of a source; as an argument of `map`, each block gets its own."""

    values: tuple[Any, ...]


class Source:
    """Blocks of rows, epoch after epoch; rows that were taken are kept.

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
    remote : bool
        Every block is with a worker of its own.
    n_rows : int or None
        None until all rows were read once.
    feature_names : sequence of str or None
    """

    labels: LabelIndex
    n_features: int | None = None
    resident = False
    repeatable = True
    same_order = True
    remote = False
    n_rows: int | None = None
    feature_names: Sequence[str] | None = None

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        """The blocks of an epoch, from a position on."""
        raise NotImplementedError

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """function(block, *args) for every block, in the order of the rows."""
        return [
            function(block, *(a.values[k] if isinstance(a, PerBlock) else a for a in args))
            for k, block in enumerate(self.blocks())
        ]

    def map_and_keep(self, function: Callable[..., Any], *args: Any) -> PerBlock:
        """The same for values as long as a block, which stay where the block is."""
        return PerBlock(tuple(self.map(function, *args)))

    def take(self, rows: Sequence[int]) -> Block:
        """Return some rows, which are read once, then kept.

        Parameters
        ----------
        rows : sequence of int
            Their numbers.

        Returns
        -------
        Block
            The rows in this order.
        """
        self.fetch(rows)
        return stack([self._taken[int(i)] for i in rows])

    def fetch(self, rows: Sequence[int]) -> None:
        """Read those rows that exist, so that `take` need not; one reading if some are new.

        Parameters
        ----------
        rows : sequence of int
            Their numbers.
        """
        taken = self._taken
        wanted = np.array(sorted({int(i) for i in rows}.difference(taken)), dtype=np.int64)
        if wanted.size:
            if len(taken) * (self.n_features or 1) > MOST_TAKEN:
                taken.clear()
                wanted = np.unique(np.asarray(rows, dtype=np.int64))
            for numbers, block in self._read(wanted):
                single = (block.rows(k, k + 1) for k in range(block.n_rows))
                taken.update(zip(numbers.tolist(), single, strict=True))

    @cached_property
    def _taken(self) -> dict[int, Block]:
        return {}

    def keep(self, rows: Sequence[int], block: Block) -> None:
        """Keep rows that a map returned, so that `take` need not read them.

        Parameters
        ----------
        rows : sequence of int
            Their numbers.
        block : Block
            The rows in this order.
        """
        self._taken.update((int(i), block.rows(k, k + 1)) for k, i in enumerate(rows))

    def _read(self, wanted: npt.NDArray[np.int64]) -> Iterable[tuple[Array, Block]]:
        """Rows by their numbers, which are in order, block by block."""
        return [found for found in self.map(rows_among, wanted) if found[0].size]


def rows_among(block: Block, wanted: npt.NDArray[np.int64]) -> tuple[Array, Block]:
    """The wanted rows that are in a block, copied, and their numbers."""
    low, high = np.searchsorted(wanted, [block.first_row, block.first_row + block.n_rows])
    return wanted[low:high], block.some(wanted[low:high] - block.first_row)


class ArraySource(Source):
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
        return self.block.some(np.asarray(rows, dtype=np.intp))


CHUNKS = "pairs (X, y) or triples (X, y, sample_weight)"


def open_chunks(chunks: Any) -> Iterator[Any]:
    """Begin to read chunks, or what the function `chunks` returns."""
    given = chunks() if callable(chunks) else chunks
    table = isinstance(given, str | bytes | dict) or hasattr(given, "shape")
    if table or not isinstance(given, Iterable):
        what = "the function that opens the chunks returned" if callable(chunks) else "chunks is"
        raise DataError(
            f"{what} a {type(given).__name__}. Give an iterable of {CHUNKS}, or a function that "
            "returns one."
        )
    return iter(given)


class ChunkSource(Source):
    """Chunks of rows from the user, checked as they come, in float64.

    Parameters
    ----------
    chunks : iterable or function
        Of pairs (X, y) or triples (X, y, sample_weight); a function returns such an iterable. An
        iterator can be read only once.
    labels : LabelIndex or None
    copy : bool
        Whether every chunk must have memory of its own, because it is kept while others come.
    exact : bool
        For proofs: refuse numbers that floats round, and sample weights; keep the columns of CSR
        rows in order; compare every reading with the first.
    """

    def __init__(
        self,
        chunks: Any,
        labels: LabelIndex | None = None,
        copy: bool = False,
        exact: bool = False,
    ) -> None:
        self.chunks, self.copy, self.exact = chunks, copy, exact
        self._checksums: dict[int, tuple[int, int] | None] = {}  # by the first row
        self.labels = LabelIndex() if labels is None else labels
        self.repeatable = not isinstance(chunks, Iterator)
        self._used = False

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        """One block per chunk that has rows."""
        from rosenblatt.data.matrix import frame_names  # scipy.sparse: only if needed

        if self._used and not self.repeatable:
            raise DataError(
                "the chunks come from an iterator, which can be read only once. Give something "
                "that can be read again: a list of chunks, or a function that returns them."
            )
        self._used = True
        n_rows = 0
        first: Block | None = None
        for k, chunk in enumerate(open_chunks(self.chunks)):
            if not isinstance(chunk, tuple | list) or len(chunk) not in (2, 3):
                raise DataError(f"chunk {k} is a {type(chunk).__name__}, expected {CHUNKS}.")
            if getattr(chunk[0], "shape", (1,))[0] == 0:
                continue
            block, names = self._block(k, n_rows, *chunk), frame_names(chunk[0])
            if first is None:
                first, self.feature_names = block, names
                self.n_features = first.X.shape[1] if self.exact else None
            _check_alike(k, block, first, self.exact)
            if names != self.feature_names:
                raise DataError(
                    f"chunk {k} has the columns {names}, those before it {self.feature_names}. "
                    "Give chunks with the same columns in the same order."
                )
            n_rows = block.end.rows
            if self.exact:
                self._compare(k, block)
            if rest := block.after(after):
                yield rest
        if first is None:
            raise DataError("there are no rows. Give at least one.")
        if self.n_rows not in (None, n_rows) and self.exact:
            raise DataError(
                f"there were {self.n_rows} rows at the first reading, and {n_rows} at a later one. "
                "Give chunks that are the same every time they are read."
            )
        self.n_rows = n_rows

    def _compare(self, k: int, block: Block) -> None:
        """Compare a chunk with the first reading, by a checksum of its rows and labels."""
        total = (k, block.checksum())
        first = self._checksums.setdefault(block.first_row, total if self.n_rows is None else None)
        if first != total:
            raise DataError(
                f"chunk {k} (from row {block.first_row}) differs from the first reading. Give "
                "chunks that are the same every time they are read."
            )

    def _block(self, k: int, first_row: int, X: Any, y: Any, sample_weight: Any = None) -> Block:
        from rosenblatt.data.matrix import as_matrix, check_kept_by_floats
        from rosenblatt.data.problem import as_weights

        try:
            if self.exact:
                check_kept_by_floats(X)
            if self.exact and sample_weight is not None:
                raise DataError(
                    "there are sample weights, which proofs do not use. Leave them out."
                )
            A = as_matrix(X, ordered=self.exact)
            labels = as_labels(y, A.shape[0])
            weight = as_weights(sample_weight, A.shape[0], all_rows=False)
            codes = self.labels.encode(labels)
        except DataError as e:
            raise type(e)(f"in chunk {k}, which starts at row {first_row}: {e}") from e
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


def _check_alike(k: int, block: Block, first: Block, exact: bool) -> None:
    sparse = isinstance(block.X, Csr)
    if sparse != isinstance(first.X, Csr) and not exact:
        raise DataError(
            f"chunk {k} is {'sparse' if sparse else 'dense'}, those before it are not. Give all "
            "chunks in one form."
        )
    if (exact or not sparse) and block.X.shape[1] != first.X.shape[1]:
        raise DataError(
            f"chunk {k} has {block.X.shape[1]} features, those before it {first.X.shape[1]}. Give "
            "chunks of one table."
        )
