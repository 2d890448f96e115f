"""Shuffle: an order of rows that a seed draws, block by block, in bounded memory.

A block is a chunk of rows as it was read. In pass p = 1, 2, ...

1. the blocks are put in the order of keys(p, 0);
2. every 8 blocks in a row, in that order, make a window; the rows of window k = 1, 2, ... are put
   together, as they stand, and then in the order of keys(p, k).

keys(p, k) are the first raw 64-bit numbers of PCG64(SeedSequence([seed, p, k])), one for each thing
to be ordered; they are sorted, the earlier of equal ones first. NumPy keeps these numbers the same
in all versions. Nothing else is drawn, so no order depends on what was drawn before, on the number
of threads, or on how often a run was interrupted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.block import Csr
from rosenblatt.data.reading import Chunk
from rosenblatt.errors import DataError, ParameterError

WINDOW = 8  # blocks whose rows are mixed; memory holds about three times as many
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Shuffle:
    """Orders of blocks and of rows, drawn from a seed from 0 to 2**32 - 1."""

    seed: int

    @classmethod
    def from_seed(cls, seed: int | None) -> Shuffle | None:
        """Check `shuffle_seed`; None for rows in order."""
        if seed is None:
            return None
        whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
        if not (whole and 0 <= seed < 2**32):
            raise ParameterError(
                f"shuffle_seed must be a whole number from 0 to {2**32 - 1:,}, got {seed!r}."
            )
        return cls(int(seed))

    def order(self, pass_number: int, k: int, n: int) -> npt.NDArray[np.int64]:
        """Which of n things comes first, second, ...: blocks for k = 0, else rows of window k.

        >>> Shuffle(seed=7).order(1, 0, 5).tolist()
        [1, 3, 2, 4, 0]
        """
        bits = np.random.PCG64(np.random.SeedSequence([self.seed, pass_number, k]))
        return np.argsort(bits.random_raw(n), kind="stable")

    def windows(self, blocks: Iterable[Chunk], pass_number: int) -> Iterator[Chunk]:
        """The rows of every window as one chunk. The blocks must stay as they are meanwhile."""
        left, k = iter(blocks), 0
        while held := list(islice(left, WINDOW)):
            k += 1
            n = sum(len(block.y) for block in held)
            mixed = permuted(held, self.order(pass_number, k, n))
            del held  # before the next ones come
            yield mixed
            del mixed


def permuted(blocks: list[Chunk], order: npt.NDArray[np.int64]) -> Chunk:
    """Row i of the result is row order[i] of all blocks, one after the other."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    starts = np.cumsum([0, *(len(block.y) for block in blocks)])
    places = [place[lo:hi] for lo, hi in pairwise(starts)]
    y = np.concatenate([block.y for block in blocks])[order]
    weight = None
    if any(block.sample_weight is not None for block in blocks):
        weight = np.ones(len(order))
        for block, at in zip(blocks, places, strict=True):
            weight[at] = 1.0 if block.sample_weight is None else block.sample_weight
    tables = [block.X for block in blocks]
    sparse = {hasattr(X, "indptr") for X in tables}
    if len(sparse) > 1:
        raise DataError("some chunks are sparse and some are not. Give all in one form.")
    return Chunk((_sparse if sparse.pop() else _dense)(tables, places), y, weight)


def _dense(tables: list[Array], places: list[Array]) -> Array:
    widths = {X.shape[1] for X in tables}
    if len(widths) > 1:
        raise DataError(f"rows of {max(widths)} features among rows of {min(widths)}.")
    X = np.empty((sum(map(len, places)), widths.pop()), tables[0].dtype)
    for part, at in zip(tables, places, strict=True):
        X[at] = part
    return X


def _sparse(tables: list[Any], places: list[Array]) -> Csr:
    n, size = sum(map(len, places)), sum(len(X.data) for X in tables)
    if size > np.iinfo(np.int32).max:
        raise DataError(
            f"{len(tables)} blocks have {size:,} entries, more than are shuffled at a time. Give "
            "smaller chunks."
        )
    indptr = np.zeros(n + 1, dtype=np.int32)
    for part, at in zip(tables, places, strict=True):
        indptr[at + 1] = np.diff(part.indptr)
    np.cumsum(indptr, out=indptr)
    data, indices = np.empty(size), np.empty(size, dtype=np.int32)
    for part, at in zip(tables, places, strict=True):
        ahead = indptr[at] - part.indptr[:-1]  # how far each row moves
        to = np.repeat(ahead, np.diff(part.indptr)) + np.arange(len(part.data))
        data[to], indices[to] = part.data, part.indices
    return Csr(data, indices, indptr, max(X.shape[1] for X in tables))
