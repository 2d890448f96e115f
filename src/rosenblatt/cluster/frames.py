"""Frames: columns of a partition to numbers, in a way that is frozen before any is read.

Numbers and booleans stay as they are. A column of categories that are known becomes one feature a
category, 1 where it is that one; a missing category, or one that was not there in training, leaves
all of them 0.
"""

from __future__ import annotations

from typing import Any

from rosenblatt.data.columns import Boolean, Category, Columns, Number
from rosenblatt.data.problem import as_matrix
from rosenblatt.errors import DataError, DataTypeError

UNKNOWN = "__UNKNOWN_CATEGORIES__"  # what dask calls categories that nobody has looked up


def columns_of(meta: Any) -> Columns | None:
    """What to do to the columns of such a frame; None if they are all numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> colour = pd.Categorical(["red"], categories=["red", "blue"])
    >>> columns_of(pd.DataFrame({"size": [1.0], "colour": colour})).feature_names
    ('size', 'colour=blue', 'colour=red')
    """
    entries: list[Any] = []
    for name, dtype in meta.dtypes.items():
        if str(dtype) == "category":
            categories = list(map(str, dtype.categories))
            if UNKNOWN in categories:
                raise DataTypeError(
                    f"the categories of column {name!r} are not known yet. Call X = X.categorize() "
                    "first, which looks them up in one pass."
                )
            entries.append(Category(str(name), categories=tuple(sorted(set(categories)))))
        elif str(dtype) in ("bool", "boolean"):
            entries.append(Boolean(str(name)))
        elif getattr(dtype, "kind", "O") in "iuf":
            entries.append(Number(str(name)))
        else:
            raise DataTypeError(
                f"column {name!r} holds {dtype}, which is neither numbers nor categories. Drop it, "
                f"or use X = X.astype({{{name!r}: 'category'}}).categorize()."
            )
    return Columns(tuple(entries)) if any(isinstance(e, Category) for e in entries) else None


def as_numbers(X: Any, columns: Columns | None) -> Any:
    """A partition as the numbers it stands for, checked: float32 or float64, dense or CSR."""
    if columns is None:
        return as_matrix(X, ordered=False)
    if not hasattr(X, "dtypes"):
        raise DataTypeError(
            f"X has columns of categories in training and is now {type(X).__name__}. Give a frame "
            "with the same columns."
        )
    if not len(X):
        return as_matrix(X.select_dtypes("number"))  # which says that there are no rows
    for entry in columns.entries:
        if not isinstance(entry, Category) and entry.name in X.columns:
            missing = X[entry.name].isna()
            if missing.any():
                raise DataError(
                    f"Input X contains NaN, the first in row {int(missing.to_numpy().argmax())}, "
                    f"column {entry.name!r}. Drop such rows, or fill them in."
                )
    return as_matrix(columns.transform(X), ordered=False)
