"""Given: chunks of rows that somebody hands over, looked at one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt.data.chunks import frame_names
from rosenblatt.data.labels import as_labels
from rosenblatt.data.problem import as_matrix, as_weights
from rosenblatt.data.reading import Chunk, Csr
from rosenblatt.errors import DataError

HOW = "pairs (X, y) or triples (X, y, sample_weight)"


class GivenChunks:
    """Chunks (X, y) or (X, y, sample_weight) as `Chunk`, in float64, checked as they come.

    Parameters
    ----------
    source : an iterable of chunks, or a function that returns one. An iterator can be read once.
    held : whether chunks are kept while others come, so that each must be in memory of its own
    """

    def __init__(self, source: Any, held: bool = False) -> None:
        if not callable(source) and (not isinstance(source, Iterable) or _is_table(source)):
            raise DataError(
                f"the chunks are a {type(source).__name__}. Give an iterable of {HOW}, or a "
                "function that returns one."
            )
        self.source, self.held = source, held
        self.once = isinstance(getattr(source, "batches", source), Iterator)  # or a RawStream's
        self.feature_names: tuple[str, ...] = ()
        self._begun = False

    def __iter__(self) -> Iterator[Chunk]:
        if self.once and self._begun:
            raise DataError(
                "the chunks come from an iterator, which can be read only once, and the first "
                "chunk does not have all labels. Name them in classes, or give something that can "
                "be read again: a list of chunks, or a function that opens them anew."
            )
        self._begun = True
        chunks = self.source() if callable(self.source) else self.source
        if not isinstance(chunks, Iterable):
            raise DataError(
                f"the function that opens the chunks returned a {type(chunks).__name__}. Return "
                f"something that yields {HOW}."
            )
        first: tuple[bool, int] | None = None
        names: tuple[str, ...] | None = None
        for k, given in enumerate(chunks):
            if not isinstance(given, tuple | list) or len(given) not in (2, 3):
                raise DataError(f"chunk {k} is a {type(given).__name__}, expected {HOW}.")
            if getattr(given[0], "shape", (1,))[0] == 0:
                continue
            chunk, found = self._looked_at(k, *given), frame_names(given[0])
            if first is None:
                first = isinstance(chunk.X, Csr), chunk.X.shape[1]
                names, self.feature_names = found, found or ()
            _check_like(k, chunk, *first)
            if found != names:
                raise DataError(
                    f"chunk {k} has the columns {found}, those before it {names}. Give chunks with "
                    "the same columns in the same order."
                )
            yield chunk

    def _looked_at(self, k: int, X: Any, y: Any, sample_weight: Any = None) -> Chunk:
        try:
            A = as_matrix(X, ordered=False)
            labels = as_labels(y, A.shape[0])
            weight = as_weights(sample_weight, A.shape[0])
        except DataError as e:
            raise type(e)(f"in chunk {k}: {e}") from e
        parts = [A.data, A.indices, A.indptr] if sp.issparse(A) else [A]
        types = [np.float64, np.int32, np.int32]
        first, *more = (p.astype(t, copy=self.held) for p, t in zip(parts, types, strict=False))
        if self.held and weight is not None:
            weight = weight.copy()
        if not more:
            return Chunk(first, labels, weight)
        return Chunk(Csr(first, more[0], more[1], A.shape), labels, weight)


def _is_table(source: Any) -> bool:
    """An array, a frame or text, over whose rows, columns or letters one could iterate."""
    return isinstance(source, str | bytes | dict) or hasattr(source, "shape")


def _check_like(k: int, chunk: Chunk, first_sparse: bool, width: int) -> None:
    sparse = isinstance(chunk.X, Csr)
    if sparse != first_sparse:
        raise DataError(
            f"chunk {k} is {'sparse' if sparse else 'dense'}, those before it are not. Give all "
            "chunks in one form."
        )
    if not sparse and chunk.X.shape[1] != width:
        raise DataError(
            f"chunk {k} has {chunk.X.shape[1]} features, those before it {width}. Give chunks of "
            "one table."
        )
