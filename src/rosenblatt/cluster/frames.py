"""Frames: columns of a partition to numbers, in a way that is frozen before any is read.

Numbers and booleans stay as they are. A column of categories that are known becomes one feature a
category, 1 where it is that one; a missing category, or one that was not there in training, leaves
all of them 0.
"""

from __future__ import annotations

from typing import Any

from rosenblatt._core import FeatureIndex
from rosenblatt.data.block import as_csr
from rosenblatt.data.matrix import as_matrix
from rosenblatt.errors import DataError, DataTypeError
from rosenblatt.features.frames import batch_of_frame
from rosenblatt.features.table_features import TableFeatures


def columns_of(X: Any) -> tuple[TableFeatures | None, tuple[str, ...]]:
    """What to do to the columns of a frame (None if they are all numbers), and names of features.

    Examples
    --------
    >>> import pandas as pd
    >>> colour = pd.Categorical(["red"], categories=["red", "blue"])
    >>> columns_of(pd.DataFrame({"size": [1.0], "colour": colour}))[1]
    ('size', 'colour=blue', 'colour=red')
    """
    if not hasattr(X, "dtypes") or isinstance(X, list):
        return None, ()
    kinds: dict[str, str] = {}
    categories: dict[str, list[str]] = {}
    for name, dtype in X.dtypes.items():
        if str(dtype) == "category":
            if not getattr(X[name].cat, "known", True):
                raise DataTypeError(
                    f"the categories of column {name!r} are not known yet. Call X = X.categorize() "
                    "first, which looks them up in one pass."
                )
            kinds[str(name)] = "category"
            categories[str(name)] = sorted(set(map(str, dtype.categories)))
        elif str(dtype) in ("bool", "boolean") or getattr(dtype, "kind", "O") in "iuf":
            kinds[str(name)] = "number"
        else:
            raise DataTypeError(
                f"column {name!r} holds {dtype}, which is neither numbers nor categories. Drop it, "
                f"or use X = X.astype({{{name!r}: 'category'}}).categorize()."
            )
    if not categories:
        return None, tuple(kinds)
    table = TableFeatures(kinds, FeatureIndex())
    for name, words in categories.items():
        for word in words:
            table.index.add(word, name)
    table.closed = True
    return table, tuple(table.feature_names)


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
