"""Proofs: verdicts about rows on a cluster, with certificates that anyone can check.

The search and the checker are those of one machine (:mod:`rosenblatt.prove.separability`). They ask
questions of parts of the rows; here the parts are shards, the questions go to the workers that
have them, and only answers come back: sums, counts, and the few rows that hyperplanes get wrong.
A question is a pure function of a shard and of what comes with it, so a worker that dies changes
nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.cluster.futures import raise_first, wait_for
from rosenblatt.cluster.shards import SMALL, Shard, Shards
from rosenblatt.data.block import START, Block, Position
from rosenblatt.data.cone import two_classes
from rosenblatt.data.matrix import as_matrix
from rosenblatt.data.source import LabelIndex, PerBlock, Source, rows_among
from rosenblatt.errors import DataTypeError


@dataclass
class Traffic:
    """What questions cost so far.

    Attributes
    ----------
    passes : questions asked of all shards
    rows : rows fetched
    sent, received : bytes of questions to all shards, and of answers and rows
    """

    passes: int = 0
    rows: int = 0
    sent: int = 0
    received: int = 0

    def __str__(self) -> str:
        return (
            f"{self.passes} passes, {self.rows} rows fetched, {self.sent:,} bytes sent to the "
            f"shards and {self.received:,} received"
        )


class DaskSource(Source):
    """Rows of two classes in the shards of a cluster, for `separability` and `verify`.

    They are read, checked and kept in the memory of the workers when this is made, so several
    questions about the same rows need not read them again.

    Attributes
    ----------
    shards : the rows
    traffic : passes, rows and bytes so far
    """

    remote = True

    def __init__(self, shards: Shards) -> None:
        self.shards, self.traffic = shards, Traffic()
        self.labels = LabelIndex(shards.classes)
        self.n_rows, self.n_features = shards.n_rows, shards.n_features
        self.feature_names = shards.feature_names or None
        with shards.client.as_current():
            self.futures = tuple(
                shards.client.submit(_block, shard, key=f"rosenblatt-part-{uuid.uuid4().hex}-{k}")
                for k, shard in enumerate(shards.futures)
            )
        self._done(self.futures)

    @classmethod
    def of(cls, X: Any, y: Any = None, client: Any = None) -> DaskSource:
        """From dask collections, or from shards.

        Parameters
        ----------
        X : dask array (dense blocks or scipy CSR), dask frame, list of delayed blocks, or Shards
        y : labels in the partitions of X; None with Shards
        client : the cluster; left out, the one in use
        """
        dtype = getattr(X, "dtype", None)
        if dtype is not None and (dtype.kind == "O" or (dtype.kind == "f" and dtype.itemsize > 8)):
            raise DataTypeError(
                f"X holds {dtype}, which may be no float64, and the answer is about exact numbers. "
                "Convert it to float64 yourself if rounding is meant: X.astype('float64')."
            )
        shards = X if isinstance(X, Shards) else Shards.of(X, y, client=client)
        two_classes(shards.classes)
        return cls(shards)

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        """Shard after shard on this machine."""
        for future in self.futures:
            block = self.shards.client.gather(future).after(after)
            if block is not None:
                yield block

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        leaves = self._asked(_answer, function, args)
        self.traffic.passes += 1
        return self._answers(leaves)

    def map_and_keep(self, function: Callable[..., Any], *args: Any) -> PerBlock:
        leaves = self._asked(_kept, function, args)
        self.traffic.passes += 1
        self._done(leaves)
        return PerBlock(tuple(leaves))

    def _read(self, wanted: npt.NDArray[np.int64]) -> Iterable[tuple[Any, Block]]:
        edges = np.searchsorted(wanted, [*self.shards.firsts, self.shards.n_rows])
        asked = [k for k in range(len(self.futures)) if edges[k] < edges[k + 1]]
        inside = {k: wanted[edges[k] : edges[k + 1]] for k in asked}
        self.traffic.rows += len(wanted)
        return self._answers(self._asked(_answer, rows_among, (), inside))

    # ------------------------------------------------------------------ questions and answers

    def _asked(
        self,
        how: Callable[..., Any],
        function: Callable[..., Any],
        args: tuple[Any, ...],
        inside: dict[int, Any] | None = None,
    ) -> list[Any]:
        """A task for every shard; with `inside`, for some, each with an argument of its own."""
        from distributed.protocol.pickle import dumps

        client, token = self.shards.client, uuid.uuid4().hex
        kept = [arg for arg in args if isinstance(arg, PerBlock)]
        question: Any = dumps((function, [_HERE if isinstance(a, PerBlock) else a for a in args]))
        numbers = range(len(self.futures)) if inside is None else sorted(inside)
        self.traffic.sent += len(question) * len(numbers)
        with client.as_current():
            if len(question) > SMALL:  # once to the cluster, then from worker to worker
                question = client.submit(_same, question, key=f"rosenblatt-question-{token}")
            return [
                client.submit(
                    how,
                    question,
                    self.futures[k],
                    [one.values[k] for one in kept] if inside is None else [inside[k]],
                    key=f"rosenblatt-answer-{token}-{k}",
                )
                for k in numbers
            ]

    def _answers(self, leaves: list[Any]) -> list[Any]:
        from distributed.protocol.pickle import loads

        self._done(leaves)
        found = self.shards.client.gather(leaves)
        self.traffic.received += sum(map(len, found))
        return [loads(one) for one in found]

    def _done(self, leaves: Sequence[Any]) -> None:
        wait_for(self.shards.client, leaves, self.shards.timeout)
        raise_first(leaves, "shard")


# ------------------------------------------------------------------ what workers do

_HERE = "the value kept with this shard"


def _block(shard: Shard) -> Block:
    """A shard as one block, the columns of every row in order. Nothing is copied without need."""
    codes = (shard.problem.y > 0).astype(np.int32)
    end = Position(rows=shard.first + len(codes))
    return Block(as_matrix(shard.problem.X), codes, None, shard.first, end)


def _same(question: bytes) -> bytes:
    return question


def _kept(question: bytes, block: Block, own: list[Any]) -> Any:
    from distributed.protocol.pickle import loads

    function, args = loads(question)
    here = iter(own)
    filled = [next(here) if isinstance(a, str) and a == _HERE else a for a in args]
    return function(block, *filled, *here)


def _answer(question: bytes, block: Block, own: list[Any]) -> bytes:
    from distributed.protocol.pickle import dumps

    return bytes(dumps(_kept(question, block, own)))
