"""Frames: how the columns of partitions become numbers, decided before rows are encoded.

Numbers and booleans stay as they are. A column of texts or categories becomes one feature per
category, 1 where it is that one; a missing category, or one that was not there in training, leaves
all of them 0.
"""

from __future__ import annotations

from typing import Any

from rosenblatt._core import FeatureIndex
from rosenblatt.cluster.futures import PATIENCE, gathered
from rosenblatt.data.block import as_csr
from rosenblatt.data.matrix import as_matrix
from rosenblatt.errors import DataError, DataTypeError
from rosenblatt.features.feature_index import check_features
from rosenblatt.features.frames import batch_of_frame
from rosenblatt.features.table_features import TableFeatures


def columns_of(
    X: Any, client: Any, timeout: float = PATIENCE
) -> tuple[TableFeatures | None, tuple[str, ...]]:
    """What to do to the columns of a frame (None if they are all numbers), and names of features.

    The texts of columns of texts, and categories that are not known yet, are looked up in one pass.

    Examples
    --------
    >>> import pandas as pd
    >>> colour = pd.Categorical(["red"], categories=["red", "blue"])
    >>> columns_of(pd.DataFrame({"size": [1.0], "colour": colour}), client=None)[1]
    ('size', 'colour=blue', 'colour=red')
    """
    if not hasattr(X, "dtypes") or isinstance(X, list):
        return None, ()
    from pandas.api.types import is_string_dtype

    kinds: dict[str, str] = {}
    words: dict[Any, set[str]] = {}
    unknown = []
    for name, dtype in X.dtypes.items():
        if str(dtype) in ("bool", "boolean") or getattr(dtype, "kind", "O") in "iuf":
            kinds[str(name)] = "number"
            continue
        kinds[str(name)] = "category"
        if str(dtype) == "category" and getattr(X[name].cat, "known", True):
            words[name] = _spelled(name, dtype.categories)
        elif str(dtype) == "category" or is_string_dtype(dtype):
            unknown.append(name)
        else:
            raise DataTypeError(
                f"column {name!r} holds {dtype}, not numbers, texts or categories. Drop it, or "
                f"use X = X.astype({{{name!r}: str}})."
            )
    if unknown:
        words |= _looked_up(X[unknown], client, timeout)
    if not words:
        return None, tuple(kinds)
    table = TableFeatures(kinds, FeatureIndex())
    for name in (name for name in X.columns if name in words):
        check_features(table.index, len(words[name]), [(str(name), word) for word in words[name]])
        for word in sorted(words[name]):
            table.index.add(word, str(name))
    table.closed = True
    return table, tuple(table.feature_names)


def _looked_up(X: Any, client: Any, timeout: float) -> dict[Any, set[str]]:
    """The texts or categories that occur in each column of a frame."""
    import dask

    words_of = dask.delayed(_words)
    futures = client.compute([words_of(part) for part in X.to_delayed()])
    found = gathered(client, futures, "partition", timeout)
    return {name: set().union(*(words[name] for words in found)) for name in X.columns}


def _words(frame: Any) -> dict[Any, set[str]]:
    found = {}
    for name in frame.columns:
        values = frame[name].dropna().unique()
        others = [v for v in values if not isinstance(v, str)]
        if others and str(frame[name].dtype) != "category":
            raise DataTypeError(
                f"column {name!r} holds {others[0]!r}, which is not text. Convert the column: "
                f"X.astype({{{name!r}: str}}), or float if all are numbers."
            )
        found[name] = _spelled(name, values)
    return found


def _spelled(name: Any, values: Any) -> set[str]:
    """Categories as rows are encoded: `True` is "true", and 1.0 is "1"."""
    column: Any = batch_of_frame({name: list(values)}, {str(name): "category"}).columns[0]
    return set(column.words)


def as_numbers(X: Any, columns: TableFeatures | None) -> Any:
    """A partition as the numbers it stands for, checked: float32 or float64, dense or CSR."""
    if columns is None:
        return as_matrix(X)
    if not hasattr(X, "dtypes"):
        raise DataTypeError(
            f"X has columns of categories in training and is now {type(X).__name__}. Give a frame "
            "with the same columns."
        )
    if not len(X):
        return as_matrix(X.select_dtypes("number"))  # which says that there are no rows
    numbers = [n for n, kind in columns.kinds.items() if kind == "number" and n in X.columns]
    for name in numbers:
        missing = X[name].isna()
        if missing.any():
            raise DataError(
                f"Input X contains NaN, the first in row {int(missing.to_numpy().argmax())}, "
                f"column {name!r}. Drop such rows, or fill them in."
            )
    flags = {n: float for n in numbers if str(X[n].dtype) in ("bool", "boolean")}
    rows = columns.encode(batch_of_frame(X.astype(flags), columns.kinds, (), columns.kinds))
    return as_matrix(as_csr(rows).to_scipy())
