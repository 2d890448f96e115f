"""Prediction: scores and labels of rows on a cluster, computed when they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.cluster.frames import as_numbers
from rosenblatt.cluster.futures import PATIENCE, client_or_default, gathered
from rosenblatt.cluster.partitions import check_table, is_collection, parts_of
from rosenblatt.errors import DataError
from rosenblatt.features.table_features import TableFeatures
from rosenblatt.model.linear_model import LinearModel

Array = npt.NDArray[Any]


def answered(model: LinearModel, columns: TableFeatures | None, X: Any, labels: bool) -> Any:
    """Scores, or labels, of X: a lazy collection for a collection, an array for rows at hand."""
    model.check_names(X)
    if not is_collection(X):
        return _answer(X, model, columns, labels)
    two = len(model.coef) == 1
    classes = model.classes
    dtype = classes.dtype if labels else model.coef.dtype
    if isinstance(X, (list, tuple)):
        import dask

        answer = dask.delayed(_answer)
        return [answer(block, model, columns, labels) for block in X]
    if hasattr(X, "map_partitions") and not hasattr(X, "chunks"):
        return _of_frame(model, columns, X, labels, dtype)
    check_table(X, model.n_features)
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    flat = labels or two
    shape: dict[str, Any] = {"drop_axis": 1} if flat else {"chunks": (X.chunks[0], (len(classes),))}
    meta = np.empty((0,) if flat else (0, 0), dtype=dtype)
    return X.map_blocks(_answer, model, columns, labels, dtype=dtype, meta=meta, **shape)


def _of_frame(
    model: LinearModel, columns: TableFeatures | None, X: Any, labels: bool, dtype: Any
) -> Any:
    import pandas as pd

    if labels or len(model.coef) == 1:
        name = "label" if labels else "score"
        meta: Any = pd.Series(np.empty(0, dtype=dtype), name=name)
    else:
        meta = pd.DataFrame({label: np.empty(0, dtype=dtype) for label in model.classes.tolist()})
    return X.map_partitions(_framed, model, columns, labels, meta, meta=meta)


def _framed(
    X: Any, model: LinearModel, columns: TableFeatures | None, labels: bool, meta: Any
) -> Any:
    import pandas as pd

    values = _answer(X, model, columns, labels)
    if values.ndim == 1:
        return pd.Series(values, index=X.index, name=meta.name)
    return pd.DataFrame(values, index=X.index, columns=meta.columns)


def _answer(X: Any, model: LinearModel, columns: TableFeatures | None, labels: bool) -> Array:
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n == 0:
        width = () if labels or len(model.coef) == 1 else (len(model.coef),)
        return np.empty((0, *width), dtype=model.classes.dtype if labels else model.coef.dtype)
    rows = X if columns is None else as_numbers(X, columns)
    return model.predict(rows) if labels else model.decision_function(rows)


def accuracy(
    model: LinearModel,
    columns: TableFeatures | None,
    X: Any,
    y: Any,
    weight: Any,
    client: Any = None,
    timeout: float = PATIENCE,
) -> float:
    """The share of rows, or of their weights, that get their label; reads all rows once."""
    import dask

    model.check_names(X)
    if hasattr(X, "chunks"):
        check_table(X, model.n_features)
    client = client_or_default(client)
    right = dask.delayed(_right, pure=False)
    asked = [right(model, columns, *part) for part in parts_of(X, y, weight)]
    with client.as_current():
        futures = client.compute(asked)
    good, total = np.sum(gathered(client, futures, "partition", timeout), axis=0)
    if not total > 0:
        raise DataError("there are no rows to score. Give at least one.")
    return float(good / total)


def _right(
    model: LinearModel, columns: TableFeatures | None, blocks: tuple[Any, ...], y: Any, weight: Any
) -> tuple[float, float]:
    from rosenblatt.cluster.source import together

    X, labels = together(blocks), np.asarray(y)
    if len(labels) == 0 and X.shape[0] == 0:
        return 0.0, 0.0
    same = _answer(X, model, columns, True) == labels
    each = np.ones(len(same)) if weight is None else np.asarray(weight, dtype=np.float64)
    return float(each @ same), float(each.sum())
