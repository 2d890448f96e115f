"""Source: the only way rows reach training, prediction and proofs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rosenblatt.data.block import START, Block, Position

Array = npt.NDArray[Any]


class LabelIndex:
    """Numbers for labels, in the order in which they were first seen.

    >>> labels = LabelIndex()
    >>> labels.add("spam"), labels.add("ham"), labels.add("spam"), labels.labels
    (0, 1, 0, ['spam', 'ham'])
    """

    def __init__(self, labels: Iterable[Hashable] = ()) -> None:
        self.labels: list[Any] = []
        self.numbers: dict[Any, int] = {}
        for label in labels:
            self.add(label)

    def __len__(self) -> int:
        return len(self.labels)

    def add(self, label: Hashable) -> int:
        """The number of a label, a new one if it was not seen before."""
        number = self.numbers.setdefault(label, len(self.labels))
        if number == len(self.labels):
            self.labels.append(label)
        return number


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
        self, X: Any, y: Array, labels: Iterable[Hashable], sample_weight: Array | None = None
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
