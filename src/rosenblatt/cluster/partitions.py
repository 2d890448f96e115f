"""Partitions of dask collections, each as rows, labels and weights to be computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rosenblatt.data.labels import as_labels
from rosenblatt.errors import DataError, DataTypeError, LabelError


def parts_of(X: Any, y: Any, sample_weight: Any = None) -> list[tuple[Any, ...]]:
    """Blocks of columns, labels and weights of each partition; each delayed, or None."""
    if y is None:
        raise LabelError("requires y to be passed, but the target y is None. Give one per row.")
    rows = blocks_of(X)
    sizes = _sizes(X)
    labels = _beside(y, "y", len(rows), sizes, LabelError)
    weights: Sequence[Any] = [None] * len(rows)
    if sample_weight is not None:
        weights = _beside(sample_weight, "sample_weight", len(rows), sizes, DataError)
    return list(zip(rows, labels, weights, strict=True))


def is_collection(X: Any) -> bool:
    """Whether these are rows in partitions: a dask array or frame, or a list of delayed blocks."""
    return _is_array(X) or _is_frame(X) or _is_list(X)


def blocks_of(X: Any) -> list[tuple[Any, ...]]:
    """Every partition of X as its blocks of columns, from left to right."""
    if _is_list(X):
        return [(block,) for block in X]
    if _is_frame(X):
        return [(block,) for block in X.to_delayed()]
    if not _is_array(X):
        raise DataTypeError(
            f"X is {type(X).__name__}, not a dask array, a dask frame or a list of delayed blocks. "
            "Use Perceptron for rows on one machine, or dask.array.from_array(X, chunks=...)."
        )
    check_table(X)
    return [tuple(blocks) for blocks in X.to_delayed()]


def check_table(X: Any, n_features: int | None = None) -> None:
    """Refuse a dask array that is no table, or has other columns than the model."""
    if X.ndim != 2:
        raise DataError(
            f"Expected 2D array, got {X.ndim}D array instead: X has shape {X.shape}. Reshape your "
            "data: one row per example, X.reshape(1, -1) for a single example."
        )
    if n_features is not None and X.shape[1] != n_features:
        raise DataError(
            f"X has {X.shape[1]} features, but DaskPerceptron is expecting {n_features} "
            "features as input. Give the columns the model was trained on."
        )


def _beside(
    values: Any, name: str, n: int, sizes: tuple[int, ...] | None, error: type[DataError]
) -> list[Any]:
    """One block of labels or weights for every partition of X."""
    import dask.array as da

    if not is_collection(values):
        if sizes is None:
            raise error(
                f"{name} is in one piece, and the sizes of the partitions of X are not known. Give "
                f"a dask array of the same partitions, or call X.compute_chunk_sizes() first."
            )
        array = as_labels(values) if name == "y" else np.asarray(values)
        values = da.from_array(array, chunks=-1)
    if _is_frame(values) and getattr(values, "ndim", 1) == 2:
        if len(values.columns) != 1:
            raise error(f"{name} has {len(values.columns)} columns. Give one.")
        values = values[values.columns[0]]
    if _is_array(values):
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise error(f"{name} should be a 1d array, got shape {values.shape}. Give one per row.")
        own = _sizes(values)
        if own is not None and sizes is not None and own != sizes:
            if sum(own) != sum(sizes):
                raise error(
                    f"Found input variables with inconsistent numbers of samples: {sum(sizes)} "
                    f"rows in X, {sum(own)} in {name}. Give one per row."
                )
            values = values.rechunk((sizes,))
    blocks = list(values) if _is_list(values) else list(values.to_delayed())
    if len(blocks) != n:
        raise error(
            f"X has {n} partitions and {name} has {len(blocks)}. Give both the same: rechunk or "
            "repartition one of them."
        )
    return blocks


def _sizes(X: Any) -> tuple[int, ...] | None:
    """Rows of every partition, where they are known before anything is computed."""
    if not _is_array(X) or any(np.isnan(size) for size in X.chunks[0]):
        return None
    return tuple(map(int, X.chunks[0]))


def _is_array(X: Any) -> bool:
    import dask.array as da

    return isinstance(X, da.Array)


def _is_frame(X: Any) -> bool:
    return (
        hasattr(X, "npartitions")
        and hasattr(X, "to_delayed")
        and (hasattr(X, "dtypes") or hasattr(X, "dtype"))
        and (not _is_array(X))
    )


def _is_list(X: Any) -> bool:
    from dask.delayed import Delayed
    from distributed import Future

    return (
        isinstance(X, (list, tuple))
        and len(X) > 0
        and all(isinstance(block, (Delayed, Future)) for block in X)
    )
