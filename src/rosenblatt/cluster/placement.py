"""Placing: which worker gets which shard, so that a round takes all of them equally long.

Where a shard is changes nothing but time: if its worker dies, any other does the work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def balanced(
    held: Sequence[str | None], sizes: Sequence[int], workers: Mapping[str, int]
) -> list[str]:
    """A worker for every shard: the one that has it, unless that has its share already.

    Parameters
    ----------
    held : the worker that has the rows of each shard, or None
    sizes : bytes of each shard
    workers : threads of every worker

    Examples
    --------
    >>> balanced(["a", "a", "a", "b"], [1, 1, 1, 1], {"a": 1, "b": 1})
    ['a', 'a', 'b', 'b']
    """
    share = sum(sizes) / sum(workers.values())
    load = dict.fromkeys(workers, 0.0)
    places: list[str | None] = [None] * len(held)
    for k, (worker, size) in enumerate(zip(held, sizes, strict=True)):
        if worker in load and load[worker] + size <= share * workers[worker] * (1 + 1e-9):
            load[worker] += size
            places[k] = worker
    largest_first = sorted(range(len(held)), key=lambda k: (-sizes[k], k))
    for k in largest_first:
        if places[k] is None:
            least = min(load, key=lambda w: ((load[w] + sizes[k]) / workers[w], w))
            load[least] += sizes[k]
            places[k] = least
    return [place for place in places if place is not None]


def places_for(client: Any, futures: Sequence[Any], sizes: Sequence[int]) -> list[str | None]:
    """A worker for every future, or None where that cannot be told now."""
    workers = dict(client.nthreads())
    if not workers:
        return [None] * len(futures)
    has = client.who_has(list(futures))
    held = [next(iter(has.get(future.key, ())), None) for future in futures]
    return list(balanced(held, sizes, workers))
