"""Feature index: the columns of rows that arrive one at a time, by name, by number or as arrays.

A row is a dict, an array, or one sparse row. Text names a feature, which gets the next column when
it first appears; whole numbers are columns. A row leaves out what is 0. All rows of a model are of
one kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt.data.block import Csr
from rosenblatt.data.chunks import frame_names
from rosenblatt.data.problem import as_matrix, check_integers
from rosenblatt.data.reading import LARGEST_INTEGER
from rosenblatt.errors import DataError, DataTypeError

Array = npt.NDArray[Any]
Row = dict[Any, float] | Array  # names or columns with finite values, or all values
MOST_COLUMNS = np.iinfo(np.int32).max


class RowKind(IntEnum):
    """How the rows of a model are written; the numbers are those of the core."""

    NONE, NAMES, COLUMNS, ARRAYS = range(4)

    def __str__(self) -> str:
        return ("", "features by name", "features by column number", "arrays")[self]


@dataclass
class FeatureIndex:
    """The columns of a model.

    Attributes
    ----------
    n_features : int
    names : dict
        The column of each name; empty where columns have none.
    kind : RowKind
        NONE before the first row.
    """

    n_features: int = 0
    names: dict[str, int] = field(default_factory=dict)
    kind: RowKind = RowKind.NONE

    @classmethod
    def of(cls, names: Iterable[Any] | None, n_features: int) -> FeatureIndex:
        """The columns of a fitted model."""
        listed = () if names is None else names
        return cls(n_features, {str(name): k for k, name in enumerate(listed)})

    def copy(self) -> FeatureIndex:
        """A copy that can grow alone."""
        return replace(self, names=self.names.copy())

    def with_rows(self, rows: IndexedRows) -> FeatureIndex:
        """The index once these rows were learned from."""
        return FeatureIndex(rows.n_features, self.names | rows.new_names, rows.kind)

    def listed(self) -> list[str] | None:
        """The names of the columns, if they have some."""
        return list(self.names) if self.names and len(self.names) == self.n_features else None

    def kind_with(self, row: Row) -> RowKind:
        """The kind of the model's rows if this is one of them, or an error."""
        kind = kind_of(row)
        if kind is RowKind.NONE:  # an empty row
            nameless = self.n_features != len(self.names)
            kind = self.kind or (RowKind.COLUMNS if nameless else RowKind.NAMES)
        if self.kind not in (RowKind.NONE, kind):
            raise DataError(
                f"This model learns from {self.kind}, got {kind}. Use one kind of rows."
            )
        if kind is RowKind.NAMES and self.n_features != len(self.names):
            raise DataError(
                f"The model has {self.n_features} features without names, got features by name. "
                "Use arrays, or features by column number."
            )
        if kind is RowKind.ARRAYS and self.n_features not in (0, len(row)):
            raise DataError(
                f"The row has {len(row)} features, the model has {self.n_features}. Give one "
                "number for each, or a dict of those that are not 0: {'price': 1.5} or {3: 1.5}."
            )
        return kind

    def width_with(self, row: Row) -> int:
        """How many columns there are with this row."""
        if not isinstance(row, dict):
            return len(row)
        if kind_of(row) is RowKind.NAMES:
            return self.n_features + sum(name not in self.names for name in row)
        return max(self.n_features, max(row, default=-1) + 1)

    def known(self, row: Row) -> Array:
        """All columns of a row; features that the model does not have are left out."""
        if not isinstance(row, dict):
            return row[None]
        values = np.zeros((1, self.n_features))
        for key, value in row.items():
            column = self.names.get(key, -1) if isinstance(key, str) else key
            if 0 <= column < self.n_features:
                values[0, column] = value
        return values


class IndexedRows(NamedTuple):
    """Rows in the columns of a model.

    Attributes
    ----------
    X : float64 array or Csr with sorted columns
    kind : RowKind
    n_features : int
        Columns of the model with these rows.
    new_names : dict
        The columns of names that the model does not have yet.
    """

    X: Array | Csr
    kind: RowKind
    n_features: int
    new_names: dict[str, int]

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def matrix(self) -> Any:
        """The rows as an array or a scipy matrix."""
        if not isinstance(self.X, Csr):
            return self.X
        import scipy.sparse as sp

        return sp.csr_matrix((self.X.data, self.X.indices, self.X.indptr), self.X.shape)

    @classmethod
    def of(cls, X: Any, features: FeatureIndex) -> IndexedRows:
        """Read rows from a table, a frame, a sparse matrix or a list of rows.

        `features` stays as it is.
        """
        names = frame_names(X)
        by_name = features.kind is RowKind.NAMES or features.names or not features.n_features
        if names is not None and by_name:
            return cls._of_named(as_matrix(X), names, features)
        if not hasattr(X, "shape"):
            X = _as_list(X)
            if isinstance(X[0], Mapping) or hasattr(X[0], "tocsr"):
                return cls._of_rows(X, features)
        A = as_matrix(X).astype(np.float64, copy=False)
        if not hasattr(A, "indptr"):
            return cls(A, features.kind_with(A[0]), A.shape[1], {})
        kind, width = features.kind_with({0: 0.0}), max(features.n_features, A.shape[1])
        return cls(Csr(A.data, A.indices, A.indptr, width), kind, width, {})

    @classmethod
    def _of_named(cls, A: Any, names: Iterable[str], features: FeatureIndex) -> IndexedRows:
        """The columns of a frame are named features; a row has all of them."""
        import scipy.sparse as sp

        names = list(names)
        if len(set(names)) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise DataError(f"X has more than one column named {twice!r}. Give each its own name.")
        kind = features.kind_with(dict.fromkeys(names, 0.0))
        new = _new_names(names, features)
        known = features.names
        columns = np.array([known[name] if name in known else new[name] for name in names])
        width = features.n_features + len(new)
        A = A.astype(np.float64, copy=False)
        if hasattr(A, "indptr"):
            indices, indptr, data = columns[A.indices], A.indptr, A.data
        else:
            indices = np.tile(columns, len(A))
            indptr, data = np.arange(len(A) + 1) * len(columns), A.ravel()
        moved = sp.csr_matrix((data, indices, indptr), (A.shape[0], width))
        moved.sort_indices()
        return cls(Csr(moved.data, moved.indices, moved.indptr, width), kind, width, new)

    @classmethod
    def _of_rows(cls, rows: list[Any], features: FeatureIndex) -> IndexedRows:
        """Dicts and sparse rows."""
        first = next((row for row in rows if not isinstance(row, dict) or row), {})
        kind = features.kind_with(as_row(first))
        named = kind is RowKind.NAMES
        done = _core.index_rows(rows, features.names, features.n_features, named)
        if done is None:  # rows of other types, or bad ones: which, as_row says
            plain = []
            for i, given in enumerate(rows):
                row = as_row(given)
                if not isinstance(row, dict):
                    raise DataError(f"Row {i} is not of the kind of the first row. Use one kind.")
                if row and kind_of(row) is not kind:
                    raise DataError(
                        f"Row {i} has {kind_of(row)}, rows before it have {kind}. Use one kind of "
                        "rows."
                    )
                plain.append(row)
            done = _core.index_rows(plain, features.names, features.n_features, named)
        assert done is not None
        data, indices, indptr, width, new = done
        width = max(width, *map(sparse_width, rows)) if not named else width
        return cls(Csr(data, indices, indptr, width), kind, width, new)


def _new_names(names: Iterable[str], features: FeatureIndex) -> dict[str, int]:
    new: dict[str, int] = {}
    for name in names:
        if name not in features.names:
            new.setdefault(name, features.n_features + len(new))
    return new


def as_row(x: Any) -> Row:
    """A row in plain form: a dict of finite floats by name or column, or a float64 array."""
    if isinstance(x, Mapping):
        row = dict(x)
    elif hasattr(x, "tocsr"):
        if x.ndim == 2 and x.shape[0] != 1:
            raise DataError(f"Expected one row, got a matrix of shape {x.shape}. Use learn_many.")
        A = as_matrix(x.reshape(1, -1))
        row = dict(zip(A.indices.tolist(), A.data.tolist(), strict=True))
    else:
        return _as_values(x)
    if all(isinstance(key, str) for key in row):
        return {str(key): as_value(key, value) for key, value in row.items()}
    for key in row:
        if not isinstance(key, (int, np.integer)):
            raise DataTypeError(
                "The features of a row are names (text) or columns (whole numbers), all of one "
                f"kind; got {key!r} in {_short(tuple(row))}. Use str(name)."
            )
        if key < 0:
            raise DataError(f"Columns are counted from 0, got {key}.")
        if key >= MOST_COLUMNS:
            raise DataError(
                f"There is no room for column {key}. Number the columns from 0, or use "
                "Hashing(bits=18)."
            )
    return {int(key): as_value(key, value) for key, value in row.items()}


def sparse_width(x: Any) -> int:
    """The columns of a sparse row; 0 for other rows, which do not say."""
    return int(x.shape[-1]) if hasattr(x, "tocsr") else 0


def kind_of(row: Row) -> RowKind:
    """How a plain row is written; NONE if it is empty."""
    if not isinstance(row, dict):
        return RowKind.ARRAYS
    for key in row:
        return RowKind.NAMES if isinstance(key, str) else RowKind.COLUMNS
    return RowKind.NONE


def as_value(name: Any, value: Any) -> float:
    """A finite number, or an error that names the feature."""
    try:
        if isinstance(value, (str, bytes, bytearray)):
            raise TypeError("text")
        number = float(value)
    except (TypeError, ValueError, OverflowError) as e:
        raise DataTypeError(
            f"The feature {name!r} has the value {value!r}, which is not a number that fits in a "
            f"float. Turn categories into features of value 1: {{'{name}={value}': 1}}."
        ) from e
    if not np.isfinite(number):
        raise DataError(
            f"The feature {name!r} is {value!r}. Leave out missing values, or replace them by a "
            "number."
        )
    if abs(number) >= LARGEST_INTEGER:
        check_integers(np.array([value], dtype=object), f"The feature {name!r}")
    return number


def _as_values(x: Any) -> Array:
    try:
        given = values = np.asarray(x)
        if values.dtype.kind not in "biuf":
            if values.dtype.kind != "O":
                raise TypeError(f"its type is {values.dtype}")
            values = values.astype(np.float64)
    except (TypeError, ValueError) as e:
        raise DataTypeError(
            f"A row is a dict or an array of numbers, got {_short(x)}: {e}. For pairs "
            "(feature, value) use dict(pairs)."
        ) from e
    if values.ndim != 1:
        raise DataError(
            f"Expected one row, got an array of shape {values.shape}. Use learn_many or predict "
            "for several rows, and dict(pairs) for pairs (feature, value)."
        )
    if not values.size:
        raise DataError("The row has no numbers. Give at least one feature.")
    check_integers(given, "The row")
    values = np.ascontiguousarray(values, dtype=np.float64)
    if not hasattr(x, "dtype") and (np.abs(values) >= LARGEST_INTEGER).any():
        check_integers(np.array(x, dtype=object), "The row")  # integers beside floats
    if not np.isfinite(values).all():
        k = int(np.flatnonzero(~np.isfinite(values))[0])
        as_value(k, float(values[k]))
    return values


def _as_list(X: Any) -> list[Any]:
    if isinstance(X, Mapping) or not isinstance(X, Iterable):
        raise DataError(
            f"X is a table or a list of rows, got a {type(X).__name__}. For one row use learn_one."
        )
    rows = X if isinstance(X, list) else list(X)
    if not rows:
        raise DataError("X has no rows. Give at least one.")
    return rows


def _short(x: Any) -> str:
    shown = repr(x)
    return shown if len(shown) < 80 else shown[:77] + "..."
