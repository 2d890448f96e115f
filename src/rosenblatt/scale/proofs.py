"""Proofs: verdicts about rows on a cluster, with certificates that anyone can check.

The search and the checker are those of one machine (:mod:`rosenblatt.prove.separability`). They ask
questions of parts of the rows; here the parts are shards, the questions go to the workers that
have them, and only answers come back: sums, counts, and the few rows that hyperplanes get wrong.
A question is a pure function of a shard and of what comes with it, so a worker that dies changes
nothing.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from rosenblatt.data import chunks
from rosenblatt.data.chunks import Kept, Part, Rows, TakenRows, two_classes
from rosenblatt.data.problem import as_matrix
from rosenblatt.errors import DataTypeError
from rosenblatt.prove import separability as one_machine
from rosenblatt.prove.certificate import Certificate
from rosenblatt.scale.parts import is_collection
from rosenblatt.scale.shards import SMALL, Shard, Shards
from rosenblatt.scale.waiting import raise_first, wait_for

log = logging.getLogger(__name__)


def separability(
    X: Any,
    y: Any = None,
    *,
    fit_intercept: bool = True,
    max_seconds: float | None = None,
    max_bits: int | None = None,
    client: Any = None,
) -> Certificate:
    """Whether a hyperplane separates two classes of rows on a cluster, with a certificate.

    The verdict is that of :func:`rosenblatt.separability` on all rows in the order of the
    collection, and so are the numbers of rows. The certificate verifies on one machine, and one
    made there verifies here: ``cert.verify(X, y)`` is one pass over the shards.

    Parameters
    ----------
    X : dask array (dense blocks or scipy CSR), dask frame, list of delayed blocks, or ClusterRows
    y : dask array, series or list of labels of two classes, in the partitions of X
    fit_intercept : bool, default=True
        Hyperplanes with an offset, or through the origin.
    max_seconds, max_bits : optional
        Give up with `Undecided` after this time, or when a rational needs more bits. The time is
        looked at between two passes.
    client : distributed.Client, optional
        The cluster; left out, the one in use.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> X = da.from_array([[-2.0], [0.0], [0.0], [2.0]], chunks=(2, 1))
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
    ...     cert = separability(X, da.from_array([0, 0, 1, 1], chunks=2))
    >>> cert.verdict, cert.witness.rows
    ('quasi-separable', (1, 2))
    """
    rows = X if isinstance(X, Rows) else ClusterRows.of(X, y, client)
    try:
        return one_machine.separability(
            rows, fit_intercept=fit_intercept, max_seconds=max_seconds, max_bits=max_bits
        )
    finally:
        log.info("separability: %s", getattr(rows, "traffic", ""))


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


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterRows(Rows):
    """Rows of two classes in the shards of a cluster, for `separability` and `verify`.

    They are read, checked and kept in the memory of the workers when this is made, so several
    questions about the same rows need not read them again.

    Attributes
    ----------
    shards : the rows
    traffic : passes, rows and bytes so far
    """

    apart: ClassVar[bool] = True

    shards: Shards
    futures: tuple[Any, ...]
    traffic: Traffic = field(default_factory=Traffic)
    taken: TakenRows = field(default_factory=TakenRows)

    @classmethod
    def of(cls, X: Any, y: Any = None, client: Any = None) -> ClusterRows:
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
        with shards.client.as_current():
            futures = tuple(
                shards.client.submit(_part, shard, key=f"rosenblatt-part-{uuid.uuid4().hex}-{k}")
                for k, shard in enumerate(shards.futures)
            )
        rows = cls(
            n_rows=shards.n_rows,
            n_features=shards.n_features,
            classes=two_classes(shards.classes),
            feature_names=shards.feature_names or None,
            shards=shards,
            futures=futures,
        )
        rows._done(futures)
        return rows

    def parts(self) -> Iterator[Part]:
        """Shard after shard on this machine: for questions that nobody has taken apart."""
        for future in self.futures:
            yield self.shards.client.gather(future)

    def each(self, function: Callable[..., Any], *args: Any) -> Iterator[Any]:
        leaves = self._asked(_answer, function, args)
        self.traffic.passes += 1
        return iter(self._answers(leaves))

    def kept(self, function: Callable[..., Any], *args: Any) -> Kept:
        leaves = self._asked(_kept, function, args)
        self.traffic.passes += 1
        self._done(leaves)
        return Kept(tuple(leaves))

    def take(self, rows: Sequence[int] | npt.NDArray[Any]) -> Part:
        at = np.asarray(rows, dtype=np.int64)
        new = self.taken.missing(at)
        if new.size:
            edges = np.searchsorted(new, [*self.shards.firsts, self.n_rows])
            asked = [k for k in range(len(self.futures)) if edges[k] < edges[k + 1]]
            inside = {k: new[edges[k] : edges[k + 1]] - self.shards.firsts[k] for k in asked}
            leaves = self._asked(_answer, _rows_at, (), inside)
            self.taken.add(new, self._answers(leaves))
            self.traffic.rows += len(new)
        return self.taken.part(at, self.n_features)

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
        kept = [arg for arg in args if isinstance(arg, Kept)]
        question: Any = dumps((function, [_HERE if isinstance(a, Kept) else a for a in args]))
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


def _part(shard: Shard) -> Part:
    """A shard as one part, the columns of every row in order. Nothing is copied without need."""
    return Part(shard.first, as_matrix(shard.problem.X), shard.problem.y)


def _same(question: bytes) -> bytes:
    return question


def _kept(question: bytes, part: Part, own: list[Any]) -> Any:
    from distributed.protocol.pickle import loads

    function, args = loads(question)
    here = iter(own)
    filled = [next(here) if isinstance(a, str) and a == _HERE else a for a in args]
    return function(part, *filled, *here)


def _answer(question: bytes, part: Part, own: list[Any]) -> bytes:
    from distributed.protocol.pickle import dumps

    return bytes(dumps(_kept(question, part, own)))


def _rows_at(part: Part, inside: npt.NDArray[np.int64]) -> Part:
    return Part(-1, part.X[inside], part.y[inside])


# ------------------------------------------------------------------ collections as rows


def _on_cluster(X: Any) -> bool:
    """Whether these rows are better read on the cluster in use."""
    import distributed

    if not is_collection(X):
        return False
    try:
        distributed.default_client()
    except ValueError:
        return False
    return True


chunks.COLLECTIONS.append((_on_cluster, ClusterRows.of))
