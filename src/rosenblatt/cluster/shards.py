"""Shards: the rows of a cluster, checked once and kept where they are.

A shard is one partition, or several in a row, as a :class:`~rosenblatt.data.problem.Problem` in
the memory of some worker. How rows are cut into shards depends on the partitions alone, never on
how many workers there are. Work is a pure function of a shard and of arguments that come along, so
what a worker that dies takes with it is computed again, to the same bits.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
    raise_first,
    wait_for,
)
from rosenblatt.cluster.partitions import Part, parts_of
from rosenblatt.cluster.placement import places_for
from rosenblatt.data.labels import as_labels, check_same_kind, sorted_classes
from rosenblatt.data.problem import Problem, as_weights
from rosenblatt.errors import DataError, LabelError, ParameterError, RosenblattError
from rosenblatt.features.table_features import TableFeatures

Array = npt.NDArray[Any]
MOST_SHARDS = 256  # a task costs a scheduler about a millisecond a round
FAN_IN = 8  # results that are combined at a time
SMALL = 1 << 16  # bytes of arguments that go along with every task


class Rows(NamedTuple):
    """Rows of one shard before the classes of all are known."""

    X: Any
    y: Array
    weight: Array | None


class Facts(NamedTuple):
    """What must be known of every shard before the first is used."""

    rows: int
    width: int
    float32: bool
    weighed: bool
    counts: bool  # some weight is not 0
    nbytes: int
    classes: Array


@dataclass(frozen=True, eq=False)
class Shard:
    """What a function of :meth:`Shards.each` is given.

    Attributes
    ----------
    problem : the rows, with the classes of all shards
    number : which shard it is, from 0
    first : the number of its first row among the rows of all shards
    """

    problem: Problem
    number: int
    first: int


@dataclass(frozen=True, eq=False)
class Shards:
    """Rows on a cluster.

    Attributes
    ----------
    futures : one a shard, of a :class:`Shard`
    classes : the labels of all rows, sorted
    n_features : columns of every shard
    sizes : rows of every shard
    counts : rows of each class, of all shards together
    dtype : float32 if all rows are, else float64
    nbytes : of all rows and labels, in memory
    columns : what was done to columns of categories, or None
    feature_names : of a frame, else empty
    client : the cluster
    timeout : seconds without any worker before work is given up
    """

    futures: tuple[Any, ...]
    classes: Array
    n_features: int
    sizes: tuple[int, ...]
    counts: Array
    dtype: Any
    nbytes: int
    columns: TableFeatures | None
    feature_names: tuple[str, ...]
    client: Any
    timeout: float = PATIENCE

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        client: Any = None,
        *,
        most: int = MOST_SHARDS,
        timeout: float = PATIENCE,
        classes: Any = None,
    ) -> Shards:
        """Read, check and keep the rows of dask collections.

        Parameters
        ----------
        X : dask array (dense blocks or scipy CSR), dask frame, or list of delayed blocks
        y, sample_weight : dask arrays, series or lists in the same partitions
        client : the cluster; left out, the one in use
        most : partitions are merged, neighbours only, into at most so many shards
        timeout : seconds without any worker before work is given up
        classes : all labels there are; left out, those that are found
        """
        client = client_or_default(client)
        if most < 1:
            raise ParameterError(f"there must be at least 1 shard, got {most}.")
        meta: Any = getattr(X, "_meta", None) if hasattr(X, "npartitions") else None
        frame = hasattr(meta, "dtypes")
        columns = columns_of(meta) if frame else None
        names = tuple(map(str, meta.columns)) if frame else ()
        rows = _read(client, parts_of(X, y, sample_weight), columns, most, timeout)
        facts = _on_all(client, rows, _facts, timeout)
        there = [k for k, fact in enumerate(facts) if fact is not None]
        rows, facts = [rows[k] for k in there], [facts[k] for k in there]
        if not rows:
            raise DataError("there are no rows in any partition. Give at least one.")
        known = _classes(facts, classes)
        widths = sorted({fact.width for fact in facts})
        if len(widths) > 1:
            raise DataError(
                f"partitions have rows of {widths[0]} and of {widths[1]} features. Give all the "
                "same columns."
            )
        if not any(fact.counts for fact in facts):
            raise DataError("Sample weights must contain at least one non-zero number; all are 0.")
        dtype = np.dtype(np.float32 if all(f.float32 for f in facts) else np.float64)
        weighed = any(fact.weighed for fact in facts)
        sizes = tuple(fact.rows for fact in facts)
        firsts = itertools.accumulate(sizes[:-1], initial=0)
        token = uuid.uuid4().hex
        places = places_for(client, rows, [fact.nbytes for fact in facts])
        with client.as_current():
            futures = tuple(
                client.submit(
                    _shard, one, known, dtype, weighed, k, first,
                    key=f"rosenblatt-shard-{token}-{k}", workers=place,
                    allow_other_workers=place is not None,
                )
                for k, (one, first, place) in enumerate(zip(rows, firsts, places, strict=True))
            )  # fmt: skip
        wait_for(client, futures, timeout)
        raise_first(futures, "shard")
        shards = cls(
            futures, known, widths[0], sizes, np.zeros(len(known), np.int64), dtype,
            sum(fact.nbytes for fact in facts), columns,
            tuple(columns.feature_names) if columns is not None else names, client, timeout,
        )  # fmt: skip
        counts = np.sum(shards.each(_counts), axis=0)
        return replace(shards, counts=counts)

    def __len__(self) -> int:
        return len(self.futures)

    @property
    def n_rows(self) -> int:
        return sum(self.sizes)

    @property
    def firsts(self) -> tuple[int, ...]:
        """The number of the first row of every shard."""
        return tuple(itertools.accumulate(self.sizes[:-1], initial=0))

    def only(self, which: Sequence[int]) -> Shards:
        """Some of the shards; they keep their numbers."""
        return replace(
            self,
            futures=tuple(self.futures[k] for k in which),
            sizes=tuple(self.sizes[k] for k in which),
        )

    def each(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """function(shard, *args) of every shard, in their order.

        It runs where the shard is, and must depend on its arguments alone and change none of them.
        """
        graph, leaves = self._graph(function, args)
        return gathered(self.client, self._asked(graph, leaves), "shard", self.timeout)

    def reduce(
        self, function: Callable[..., Any], combine: Callable[[list[Any]], Any], *args: Any
    ) -> Any:
        """combine(...combine([function(shard, *args), ...])...): neighbours first, in a tree.

        The tree depends on the number of shards alone, so sums are rounded in the same order
        whoever computes them. `combine` takes a list of results, 8 at most, and gives one.
        """
        graph, leaves = self._graph(function, args)
        level, token = leaves, uuid.uuid4().hex
        for depth in itertools.count():
            parts = [level[k : k + FAN_IN] for k in range(0, len(level), FAN_IN)]
            level = [f"rosenblatt-sum-{token}-{depth}-{k}" for k in range(len(parts))]
            graph |= {key: (combine, part) for key, part in zip(level, parts, strict=True)}
            if len(level) == 1:
                break
        root, *others = self._asked(graph, [*level, *leaves])
        wait_for(self.client, [root], self.timeout)
        if root.status == "error":  # of which shard?
            wait_for(self.client, others, self.timeout)
            raise_first(others, "shard")
        return gathered(self.client, [root], "sum", self.timeout)[0]

    def _graph(
        self, function: Callable[..., Any], args: tuple[Any, ...]
    ) -> tuple[dict[str, Any], list[str]]:
        """A task for every shard, and their names."""
        token = uuid.uuid4().hex
        leaves = [f"rosenblatt-{token}-{k}" for k in range(len(self.futures))]
        graph: dict[str, Any] = {}
        shared: Any = Arguments(args)
        if sum(getattr(arg, "nbytes", 0) for arg in args) > SMALL:
            # once to the cluster, then from worker to worker; as a task, so that it can be made
            # again if the worker that has it dies
            graph[f"rosenblatt-args-{token}"] = (_same, shared)
            shared = f"rosenblatt-args-{token}"
        for key, shard in zip(leaves, self.futures, strict=True):
            graph[key] = (_apply, function, shard, shared)
        return graph, leaves

    def _asked(self, graph: dict[str, Any], keys: list[str]) -> list[Any]:
        """Futures of some tasks. In one message: each costs the scheduler milliseconds."""
        try:
            with self.client.as_current():
                return list(self.client.get(graph, keys, sync=False))
        except Exception as e:
            if self.client.status != "running":
                raise lost(self.client) from e
            raise


# ------------------------------------------------------------------ what workers do


@dataclass(frozen=True, eq=False)
class Arguments:
    """What comes along with a task; dask does not look into it."""

    given: tuple[Any, ...]


def _same(shared: Arguments) -> Arguments:
    return shared


def _apply(function: Callable[..., Any], shard: Shard, shared: Arguments) -> Any:
    return function(shard, *shared.given)


def _checked(
    parts: list[tuple[Any, ...]], columns: TableFeatures | None, first: int
) -> Rows | None:
    """Partitions of one shard, checked one by one and put together; None if they have no rows."""
    made = []
    for k, (blocks, y, weight) in enumerate(parts):
        try:
            one = _one_part(blocks, y, weight, columns)
        except RosenblattError as e:
            raise failed(e, f"partition {first + k}") from e
        if one is not None:
            made.append(one)
    if len(made) < 2:
        return made[0] if made else None
    Xs, ys, weights = zip(*made, strict=True)
    if len({X.shape[1] for X in Xs}) > 1:
        raise DataError(
            f"partitions {first} to {first + len(parts) - 1} have rows of "
            f"{sorted({X.shape[1] for X in Xs})} features. Give all the same columns."
        )
    for y in ys[1:]:
        check_same_kind(y, ys[0])
    sparse = any(map(sp.issparse, Xs))
    X = sp.vstack(Xs, format="csr") if sparse else np.concatenate(Xs)
    weight = None
    if any(w is not None for w in weights):
        weight = np.concatenate(
            [np.ones(len(y)) if w is None else w for w, y in zip(weights, ys, strict=True)]
        )
    return Rows(X, np.concatenate(ys), weight)


def together(blocks: tuple[Any, ...]) -> Any:
    """Blocks of columns side by side."""
    if len(blocks) == 1:
        return blocks[0]
    if any(map(sp.issparse, blocks)):
        return sp.hstack(blocks, format="csr")
    return np.concatenate(blocks, axis=1)


def _one_part(
    blocks: tuple[Any, ...], y: Any, weight: Any, columns: TableFeatures | None
) -> Rows | None:
    rows = together(blocks)
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    if n == 0 and len(y) == 0:
        return None
    X = as_numbers(rows, columns)
    return Rows(X, as_labels(y, X.shape[0]), _weights(weight, X.shape[0]))


def _weights(weight: Any, n: int) -> Array | None:
    """As Problem wants them, but that all of a part may be 0."""
    if weight is None:
        return None
    given = np.asarray(weight)
    if given.shape == (n,) and given.dtype.kind in "fiub" and not given.any():
        return np.zeros(n)
    return as_weights(given, n)


def _facts(rows: Rows | None) -> Facts | None:
    if rows is None:
        return None
    X, y, weight = rows
    parts = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    nbytes = sum(int(part.nbytes) for part in parts) + int(y.nbytes)
    return Facts(
        X.shape[0], X.shape[1], X.dtype == np.float32, weight is not None,
        weight is None or bool(weight.any()), nbytes, sorted_classes(y),
    )  # fmt: skip


def _shard(rows: Rows, classes: Array, dtype: Any, weighed: bool, number: int, first: int) -> Shard:
    X, y, weight = rows
    if weighed and weight is None:
        weight = np.ones(X.shape[0])
    problem = Problem.labelled(X.astype(dtype, copy=False), y, None, classes)
    return Shard(replace(problem, sample_weight=weight), number, first)


def _counts(shard: Shard) -> Array:
    return shard.problem.counts()


# ------------------------------------------------------------------------- plumbing


def _read(
    client: Any, parts: list[Part], columns: TableFeatures | None, most: int, timeout: float
) -> list[Any]:
    """The rows of every shard on their way into the memory of workers."""
    import dask

    n = min(most, len(parts))
    cuts = [len(parts) * k // n for k in range(n + 1)]
    checked = dask.delayed(_checked, pure=False)
    asked = [
        checked([tuple(part) for part in parts[a:b]], columns, a)
        for a, b in itertools.pairwise(cuts)
    ]
    with client.as_current():
        futures = list(client.compute(asked))
    wait_for(client, futures, timeout)
    for future, (a, b) in zip(futures, itertools.pairwise(cuts), strict=True):
        if future.status == "error":
            error = future.exception()
            where = f"partition {a}" if b == a + 1 else f"partitions {a} to {b - 1}"
            if isinstance(error, RosenblattError):
                raise error  # it names its partition itself
            raise failed(error, where)
    raise_first(futures, "shard")
    return futures


def _on_all(
    client: Any, futures: Sequence[Any], function: Callable[[Any], Any], timeout: float
) -> list[Any]:
    token = uuid.uuid4().hex
    with client.as_current():
        asked = [
            client.submit(function, future, key=f"rosenblatt-look-{token}-{k}")
            for k, future in enumerate(futures)
        ]
    return gathered(client, asked, "shard", timeout)


def _classes(facts: Sequence[Facts], named: Any) -> Array:
    """All labels, which must be of one kind and more than one."""
    first = facts[0].classes
    for fact in facts[1:]:
        check_same_kind(fact.classes, first)
    found = sorted_classes(np.concatenate([fact.classes for fact in facts]))
    if named is not None:
        found = sorted_classes(as_labels(named, name="classes"), "classes")
    if len(found) < 2:
        raise LabelError(
            "The number of classes has to be greater than one; got 1 class "
            f"({found.tolist()[0]!r}). Add another class."
        )
    return found
