"""Source: the rows of Dask collections, checked once and kept in the memory of the workers.

A shard is one partition, or several in a row, as a block in the memory of some worker. How rows
are cut into shards depends on the partitions alone, never on how many workers there are. Work is a
pure function of a block and of arguments, so what a worker that dies takes with it is computed
again, to the same bits.
"""

from __future__ import annotations

import copy
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.cluster.frames import as_numbers, columns_of
from rosenblatt.cluster.futures import (
    PATIENCE,
    client_or_default,
    failed,
    gathered,
    lost,
    wait_for,
)
from rosenblatt.cluster.partitions import parts_of
from rosenblatt.data.block import START, Block, Csr, Position, stack
from rosenblatt.data.labels import as_labels, check_two_classes
from rosenblatt.data.matrix import check_kept_by_floats
from rosenblatt.data.problem import as_weights
from rosenblatt.data.source import LabelIndex, PerBlock, Source, rows_among
from rosenblatt.errors import DataError, ParameterError, RosenblattError
from rosenblatt.features.table_features import TableFeatures

Array = npt.NDArray[Any]
MOST_SHARDS = 256  # a task costs a scheduler about a millisecond
FAN_IN = 8  # results that are combined at a time
SMALL = 1 << 16  # bytes of arguments that go along with every task


class DaskSource(Source):
    """Rows of Dask collections, in shards in the memory of the workers.

    They are read and checked when this is made, so several fits and several questions about the
    same rows need not read them again.

    Parameters
    ----------
    futures : sequence of distributed.Future
        One per shard, of a :class:`~rosenblatt.data.block.Block`; :meth:`of` makes them.
    classes : array
        The labels of all rows, sorted.
    client : distributed.Client
        The cluster.
    timeout : float, default=60
        Seconds without any worker before work is given up.
    columns : TableFeatures or None
        How columns of texts and categories were encoded; None if there are none.
    feature_names : sequence of str
        Names of the columns, if they have some.

    Attributes
    ----------
    labels : LabelIndex
        The labels.
    n_rows, n_features : int
        Size of the data.
    sizes : tuple of int
        Rows of each shard.
    class_rows, class_weights : array of shape (shards, classes)
        Rows of each class in each shard, and the sums of their weights.
    dtype : dtype
        float32 if all rows are, else float64.
    nbytes : int
        Of all rows and labels in memory.
    passes, n_taken : int
        Questions asked of all shards so far, and rows fetched.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> X = da.from_array([[-2.0], [0.0], [0.0], [2.0]], chunks=(2, 1))
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
    ...     rows = DaskSource.of(X, [0, 0, 1, 1])
    >>> rows.sizes, rows.labels.classes.tolist()
    ((2, 2), [0, 1])
    """

    remote = True
    n_features: int
    n_rows: int

    def __init__(
        self,
        futures: Sequence[Any],
        classes: Array,
        client: Any,
        timeout: float = PATIENCE,
        columns: TableFeatures | None = None,
        feature_names: Sequence[str] = (),
    ) -> None:
        self.futures, self.client, self.timeout = tuple(futures), client, timeout
        self.labels = LabelIndex(classes, closed=True)
        self.columns = columns
        self.feature_names = tuple(feature_names) or None
        self._held: list[Any] = []  # futures of the last question, kept until the next
        self.passes = 0
        totals = self.map(_totals, len(classes))
        self.passes = self.n_taken = 0
        self.n_features, self.dtype = totals[0].width, totals[0].dtype
        self.class_rows = np.array([one.rows for one in totals])
        self.class_weights = np.array([one.weights for one in totals])
        self.sizes = tuple(one.n_rows for one in totals)
        self.nbytes, self.n_rows = sum(one.nbytes for one in totals), sum(self.sizes)
        if not self.class_weights.any():
            raise DataError("Sample weights must contain at least one non-zero number; all are 0.")

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        client: Any = None,
        *,
        n_shards: int = MOST_SHARDS,
        timeout: float = PATIENCE,
        exact: bool = True,
    ) -> DaskSource:
        """Read, check and keep the rows of Dask collections.

        Parameters
        ----------
        X : dask array (dense blocks or scipy CSR), dask frame, or list of delayed blocks
            Rows; each text or category of a column becomes one feature.
        y : dask array or series, list of delayed blocks, or array
            Labels in the partitions of X; an array if the sizes of those are known.
        sample_weight : as y, optional
            One weight per row.
        client : distributed.Client, optional
            The cluster; None: the one in use.
        n_shards : int, default=256
            Partitions are merged, neighbours only, into at most this many shards.
        timeout : float, default=60
            Seconds without any worker before work is given up.
        exact : bool, default=True
            Refuse numbers that float64 would round.

        Returns
        -------
        DaskSource
            The rows.

        Raises
        ------
        DataError
            If rows, labels or weights are invalid.
        ClusterError
            If there is no cluster, or it is lost.
        """
        client = client_or_default(client)
        if isinstance(n_shards, bool) or not isinstance(n_shards, int | np.integer) or n_shards < 1:
            raise ParameterError(f"n_shards must be a whole number >= 1, got {n_shards!r}.")
        columns, names = columns_of(X, client, timeout)
        parts = parts_of(X, y, sample_weight)
        rows, known = _read(client, parts, columns, exact, n_shards, timeout)
        if not rows:
            raise DataError("there are no rows in any partition. Give at least one.")
        widths = sorted({one.block.X.shape[1] for one in known})
        if len(widths) > 1:
            raise DataError(
                f"partitions have rows of {widths[0]} and of {widths[1]} features. Give all the "
                "same columns."
            )
        blocks, classes = joined(client, rows, known)
        return cls(blocks, classes, client, timeout, columns, names)

    def __len__(self) -> int:
        return len(self.futures)

    def only(self, which: Sequence[int]) -> DaskSource:
        """Return some of the shards.

        Parameters
        ----------
        which : sequence of int
            Their numbers.

        Returns
        -------
        DaskSource
            Rows keep their numbers.
        """
        part = copy.copy(self)
        part.__dict__.pop("_taken", None)
        part._held = []
        part.futures = tuple(self.futures[k] for k in which)
        part.sizes = tuple(self.sizes[k] for k in which)
        part.class_rows, part.class_weights = (
            of[list(which)] for of in (self.class_rows, self.class_weights)
        )
        part.n_rows = sum(part.sizes)
        return part

    # ------------------------------------------------------------------ questions and answers

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        for future in self.futures:
            (block,) = gathered(self.client, [future], "shard", self.timeout)
            if (rest := block.after(after)) is not None:
                yield rest

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        leaves = self._asked(function, args)
        return gathered(self.client, leaves, "shard", self.timeout)

    def map_and_keep(self, function: Callable[..., Any], *args: Any) -> PerBlock:
        leaves = self._asked(function, args)
        wait_for(self.client, leaves, "shard", self.timeout)
        return PerBlock(tuple(leaves))

    def reduce(
        self, function: Callable[..., Any], combine: Callable[[list[Any]], Any], *args: Any
    ) -> Any:
        """Combine function(block, *args) of all shards, neighbours first, in a tree.

        The tree depends on the number of shards alone, so sums are rounded in the same order
        whichever worker computes them.

        Parameters
        ----------
        function : callable
            Called with each block where it is; depends on its arguments alone, and changes none.
        combine : callable
            Takes a list of results, 8 at most, and returns one.
        *args : Any
            Further arguments of `function`.

        Returns
        -------
        Any
            The one result.
        """
        leaves = level = self._asked(function, args)
        while len(level) > 1 or level is leaves:
            groups = [level[k : k + FAN_IN] for k in range(0, len(level), FAN_IN)]
            level = self._submitted(combine, groups)
            self._held += level
        try:
            return gathered(self.client, level, "sum", self.timeout)[0]
        except RosenblattError:
            if level[0].status == "error":  # which that of a shard explains
                wait_for(self.client, leaves, "shard", self.timeout)
            raise

    def _read(self, wanted: npt.NDArray[np.int64]) -> Iterable[tuple[Any, Block]]:
        firsts = itertools.accumulate(self.sizes, initial=0)
        edges = np.searchsorted(wanted, list(firsts))
        asked = [k for k in range(len(self.futures)) if edges[k] < edges[k + 1]]
        self.n_taken += len(wanted)
        inside = [wanted[edges[k] : edges[k + 1]] for k in asked]
        leaves = self._submitted(rows_among, [self.futures[k] for k in asked], inside)
        return gathered(self.client, leaves, "shard", self.timeout)

    def _asked(self, function: Callable[..., Any], args: tuple[Any, ...]) -> list[Any]:
        """One task per shard."""
        import dask

        self.passes += 1
        own = [arg.values for arg in args if isinstance(arg, PerBlock)]
        question: Any = _Question(function, [_OWN if isinstance(a, PerBlock) else a for a in args])
        if size_of(args) > SMALL:
            # once to the cluster, then from worker to worker; as a task, so that it can be made
            # again if the worker that has it dies. Dask warns of large tasks
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
                (question,) = self._submitted(_same, [question])
        # the futures of the question before are dropped only here: Dask would otherwise send their
        # release together with the next message, 10 ms later
        self._held = self._submitted(_answer, [question] * len(self), self.futures, *own)
        return list(self._held)

    def _submitted(self, function: Callable[..., Any], *each: Sequence[Any]) -> list[Any]:
        if self.client.status != "running":
            raise lost(self.client)
        return list(self.client.map(function, *map(list, each), pure=False))


# ------------------------------------------------------------------ what workers do

_OWN = PerBlock(())  # stands for the value that each shard has of its own


def size_of(value: Any) -> int:
    """Bytes of arguments, about. Dask's own estimate leaves out fields at random where many are."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, Mapping):
        return size_of(list(value.items()))
    if isinstance(value, tuple | list):
        return sum(map(size_of, value))
    return sys.getsizeof(value)


@dataclass(frozen=True, eq=False)
class _Question:
    """A function and its arguments; Dask does not look into it."""

    function: Callable[..., Any]
    args: list[Any]


def _same(question: _Question) -> _Question:
    return question


def _answer(question: _Question, block: Block, *own: Any) -> Any:
    values = iter(own)
    args = (next(values) if isinstance(arg, PerBlock) else arg for arg in question.args)
    return question.function(block, *args)


class ShardRows(NamedTuple):
    """Rows of one shard with codes of its own labels. In a summary, the block has no rows."""

    block: Block
    labels: LabelIndex
    n_rows: int


class _Totals(NamedTuple):
    """Size and type of one shard, and the rows and weights of each class in it."""

    n_rows: int
    width: int
    dtype: Any
    rows: Array
    weights: Array
    nbytes: int


def _checked(
    parts: list[tuple[Any, ...]], columns: TableFeatures | None, exact: bool, first: int
) -> ShardRows | None:
    """Partitions of one shard, checked one by one and put together; None if they have no rows."""
    labels, blocks = LabelIndex(), []
    for k, part in enumerate(parts):
        try:
            block = _one_part(part, columns, exact, labels)
        except RosenblattError as e:
            raise failed(e, f"partition {first + k}") from e
        blocks += [] if block is None else [block]
    widths = sorted({block.X.shape[1] for block in blocks})
    if len(widths) > 1:
        raise DataError(
            f"partitions {first} to {first + len(parts) - 1} have rows of {widths} features. Give "
            "all the same columns."
        )
    if not blocks:
        return None
    whole = stack(blocks) if len(blocks) > 1 else blocks[0]
    return ShardRows(whole, labels, whole.n_rows)


def _one_part(
    part: tuple[Any, ...], columns: TableFeatures | None, exact: bool, labels: LabelIndex
) -> Block | None:
    blocks, y, weight = part
    rows = together(blocks)
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    if n == 0 and len(y) == 0:
        return None
    if exact:
        check_kept_by_floats(rows)
    X = as_numbers(rows, columns)
    n = X.shape[0]
    codes, weights = labels.encode(as_labels(y, n)), as_weights(weight, n, all_rows=False)
    if sp.issparse(X):
        X = Csr(X.data, X.indices, X.indptr, X.shape[1])
    return Block(X, codes, weights)


def together(blocks: tuple[Any, ...]) -> Any:
    """Blocks of columns side by side."""
    if len(blocks) == 1:
        return blocks[0]
    if any(map(sp.issparse, blocks)):
        return sp.hstack(blocks, format="csr")
    return np.concatenate(blocks, axis=1)


def summary(rows: Any) -> Any:
    """The shard without its rows: what the client must know of all before it uses one."""
    return None if rows is None else rows._replace(block=rows.block.rows(0, 0))


def _numbered(rows: Any, numbers: Array, first_row: int, dtype: Any, prepare: Any) -> Block:
    """A shard as one block whose labels are the numbers of their classes."""
    X, y, weight, *_ = rows.block if prepare is None else prepare(rows.block)
    if isinstance(X, Csr):
        X = X._replace(data=X.data.astype(dtype, copy=False))
    else:
        X = X.astype(dtype, copy=False)
    return Block(X, numbers[y], weight, first_row, Position(rows=first_row + len(y)))


def _totals(block: Block, n_classes: int) -> _Totals:
    X, y, weight = block.X, block.y, block.sample_weight
    there = y >= 0
    rows = np.bincount(y[there], minlength=n_classes)
    weights = rows if weight is None else np.bincount(y[there], weight[there], n_classes)
    parts = (X.data, X.indices, X.indptr) if isinstance(X, Csr) else (X,)
    nbytes = sum(int(part.nbytes) for part in (*parts, y))
    return _Totals(len(y), X.shape[1], X.dtype, rows, weights.astype(np.float64), nbytes)


# ------------------------------------------------------------------------- reading


def spread(client: Any, rows: Sequence[Any], function: Any, *each: Sequence[Any]) -> list[Any]:
    """function(rows, ...) of every shard, on the worker that has the rows unless it has its share.

    Where a shard is changes nothing but time: if its worker dies, any other does the work.
    """
    threads, has = client.nthreads(), client.who_has(list(rows))
    free = {w: -(-len(rows) * n // sum(threads.values())) for w, n in threads.items()}
    futures = []
    for future, *args in zip(rows, *each, strict=True):
        held = [worker for worker in has.get(future.key, ()) if free.get(worker)]
        place = held[0] if held else max(free, key=lambda w: free[w], default=None)
        if place is not None:
            free[place] -= 1
        kept: dict[str, Any] = {"workers": place, "allow_other_workers": place is not None}
        futures.append(client.submit(function, future, *args, **kept, pure=False))
    return futures


def joined(
    client: Any, rows: Sequence[Any], known: Sequence[Any], prepare: Sequence[Any] | None = None,
    as_words: bool = False,
) -> tuple[list[Any], Array]:  # fmt: skip
    """Blocks of all shards with the class numbers of all, and the classes.

    Parameters
    ----------
    client : distributed.Client
    rows : list of futures, of ShardRows or the like
    known : their summaries
    prepare : functions that change the block of each shard first
    as_words : whether labels are texts in all shards if they are in one
    """
    labels, kinds = LabelIndex(), {one.labels.values.dtype.kind in "OUS" for one in known}
    as_words = as_words and len(kinds) > 1
    for one in known:
        labels.encode_words(one.labels.words) if as_words else labels.encode(one.labels.values)
    check_two_classes(labels.classes)
    numbers = []
    for one in known:
        own = one.labels
        codes = labels.encode_words(own.words) if as_words else labels.encode(own.values)
        numbers.append(labels.class_numbers[np.append(codes, -1)])  # -1 for rows without a label
    firsts = itertools.accumulate((one.n_rows for one in known[:-1]), initial=0)
    dtype = np.result_type(*(one.block.X.dtype for one in known))
    n = len(rows)
    prepare = prepare or [None] * n
    blocks = spread(client, rows, _numbered, numbers, list(firsts), [dtype] * n, prepare)
    return blocks, labels.classes


def _read(
    client: Any,
    parts: list[tuple[Any, ...]],
    columns: Any,
    exact: bool,
    n_shards: int,
    timeout: float,
) -> tuple[list[Any], list[ShardRows]]:
    """The rows of every shard in the memory of workers, and summaries; empty shards left out."""
    import dask

    n = min(n_shards, len(parts))
    cuts = list(itertools.pairwise(len(parts) * k // n for k in range(n + 1)))
    checked = dask.delayed(_checked, pure=False)
    asked = [checked(parts[a:b], columns, exact, a) for a, b in cuts]
    with client.as_current():
        futures = list(client.compute(asked))
    where = [f"partition {a}" if b == a + 1 else f"partitions {a} to {b - 1}" for a, b in cuts]
    return summed_up(client, futures, where, timeout)


def summed_up(
    client: Any, futures: Sequence[Any], names: Sequence[str], timeout: float
) -> tuple[list[Any], list[Any]]:
    """Shards that have rows, and their summaries, when all were read."""
    wait_for(client, futures, names, timeout)
    known = gathered(client, client.map(summary, futures, pure=False), names, timeout)
    there = [k for k, one in enumerate(known) if one is not None]
    return [futures[k] for k in there], [known[k] for k in there]
