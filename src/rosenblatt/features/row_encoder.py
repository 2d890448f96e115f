"""Rows that arrive one at a time or in lists, and their columns.

A row is a dict, an array, a row of a frame, or one sparse row. In a dict, text names a feature:
`{"age": 30}` is the feature `age` with value 30, `{"city": "Rome"}` the feature `city=Rome` with
value 1. A feature gets the next column when it first appears. Whole numbers are columns. A row
leaves out what is 0. All rows of a model are of one kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt._core import FeatureIndex
from rosenblatt.data.block import Csr
from rosenblatt.data.labels import LARGEST_INTEGER
from rosenblatt.data.matrix import as_matrix, check_integers, frame_names
from rosenblatt.errors import DataError, DataTypeError, LimitError
from rosenblatt.features.feature_index import check_features
from rosenblatt.text import repeated

Array = npt.NDArray[Any]
Row = dict[Any, Any] | Array  # names or columns with finite values or texts, or all values
PLAIN_COLUMNS = _core.PLAIN_COLUMNS
MOST_COLUMNS = np.iinfo(np.int32).max
LARGEST_COLUMN = 2**63 - 1


class RowKind(IntEnum):
    """How the rows of a model are written; the numbers are those of the core."""

    NONE, NAMES, COLUMNS, ARRAYS = range(4)

    def __str__(self) -> str:
        return ("", "features by name", "features by column number", "arrays")[self]


@dataclass
class RowColumns:
    """The columns of the rows of a model.

    Attributes
    ----------
    n_features : int
    index : FeatureIndex
        Names of the columns; or, for rows by column number, the numbers from `plain_columns` on,
        whose columns follow those below.
    kind : RowKind
        NONE before the first row.
    plain_columns : int
        -1 if all columns are plain, see core/bind_one_row.cpp.
    """

    n_features: int = 0
    index: FeatureIndex = field(default_factory=FeatureIndex)
    kind: RowKind = RowKind.NONE
    plain_columns: int = -1

    @classmethod
    def of(cls, names: Iterable[Any] | None, n_features: int) -> RowColumns:
        """The columns of a fitted model."""
        columns = cls(n_features)
        for name in () if names is None else names:
            columns.index.add(str(name), reserved=True)
        return columns

    def copy(self) -> RowColumns:
        """A copy that can grow alone."""
        return replace(self, index=self.index.copy())

    def with_rows(self, rows: IndexedRows) -> RowColumns:
        """The columns once these rows were learned from."""
        index = self.index.copy()
        index.add_all(rows.new_names)
        return RowColumns(rows.n_features, index, rows.kind, rows.plain_columns)

    def listed(self) -> list[str] | None:
        """The names of the columns, if they have some."""
        named = self.kind is not RowKind.COLUMNS and 0 < len(self.index) == self.n_features
        return self.index.names() if named else None

    def kind_with(self, row: Row) -> RowKind:
        """The kind of the model's rows if this is one of them, or an error."""
        kind = kind_of(row)
        nameless = self.n_features != len(self.index)
        if kind is RowKind.NONE:  # an empty row
            kind = self.kind or (RowKind.COLUMNS if nameless else RowKind.NAMES)
        if self.kind not in (RowKind.NONE, kind):
            raise DataError(
                f"This model learns from {self.kind}, got {kind}. Use one kind of rows."
            )
        if kind is RowKind.NAMES and nameless:
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

    def column(self, key: Any, value: Any) -> int:
        """The column of an entry of a plain row, -1 if it has none."""
        if not isinstance(key, str):
            if key < self.plain_limit:
                return int(key)
            found = self.index.find(str(key)) if self.plain_columns >= 0 else -1
            return found if found < 0 else self.plain_columns + found
        return self.index.find(value, key) if isinstance(value, str) else self.index.find(key)

    @property
    def plain_limit(self) -> int:
        """The least number of a column that is indexed."""
        largest = max(PLAIN_COLUMNS, self.n_features)
        return largest if self.plain_columns < 0 else self.plain_columns

    def known(self, row: Row) -> Array:
        """All columns of a row; features that the model does not have are left out."""
        if not isinstance(row, dict):
            return row[None]
        values = np.zeros((1, self.n_features))
        for key, value in row.items():
            column = self.column(key, value)
            if 0 <= column < self.n_features:
                values[0, column] = 1.0 if isinstance(value, str) else value
        return values


class IndexedRows(NamedTuple):
    """Rows in the columns of a model.

    Attributes
    ----------
    X : float64 array or Csr with sorted columns
    kind : RowKind
    n_features : int
        Columns of the model with these rows.
    new_names : FeatureIndex
        Features that the model does not have yet, in the order of their columns.
    plain_columns : int
        As in RowColumns.
    """

    X: Array | Csr
    kind: RowKind
    n_features: int
    new_names: FeatureIndex
    plain_columns: int

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def matrix(self) -> Any:
        """The rows as an array or a scipy matrix."""
        return self.X.to_scipy() if isinstance(self.X, Csr) else self.X

    @classmethod
    def of(cls, X: Any, columns: RowColumns) -> IndexedRows:
        """Read rows from a table, a frame, a sparse matrix or a list of rows.

        `columns` stays as it is.
        """
        names = frame_names(X)
        named = columns.kind is RowKind.NAMES or columns.listed() or not columns.n_features
        if names is not None and named:
            return cls._of_named(as_matrix(X), names, columns)
        if not hasattr(X, "shape"):
            X = _as_list(X)
            if isinstance(X[0], Mapping) or hasattr(X[0], "tocsr"):
                return cls._of_rows(X, columns)
        A = as_matrix(X).astype(np.float64, copy=False)
        if not hasattr(A, "indptr"):
            kind = columns.kind_with(A[0])
            return cls(A, kind, A.shape[1], FeatureIndex(), columns.plain_columns)
        kind, plain = columns.kind_with({0: 0.0}), columns.plain_columns
        check_width(columns, A.shape[1])
        width = max(columns.n_features, A.shape[1])
        return cls(Csr(A.data, A.indices, A.indptr, width), kind, width, FeatureIndex(), plain)

    @classmethod
    def _of_named(cls, A: Any, names: Iterable[str], columns: RowColumns) -> IndexedRows:
        """The columns of a frame are named features; a row has all of them."""
        import scipy.sparse as sp

        names = list(names)
        if (twice := repeated(names)) is not None:
            raise DataError(f"X has more than one column named {twice!r}. Give each its own name.")
        kind = columns.kind_with(dict.fromkeys(names, 0.0))
        found, new = columns.index.find_all(names), FeatureIndex()
        unknown = [name for name, column in zip(names, found.tolist(), strict=True) if column < 0]
        check_features(columns.index, len(unknown), ((name, 0.0) for name in unknown))
        for name in unknown:
            new.add(name)
        width = columns.n_features + len(unknown)
        moved = np.where(found < 0, columns.n_features + np.cumsum(found < 0) - 1, found)
        A = A.astype(np.float64, copy=False)
        if hasattr(A, "indptr"):
            indices, indptr, data = moved[A.indices], A.indptr, A.data
        else:
            indices = np.tile(moved, len(A))
            indptr, data = np.arange(len(A) + 1) * len(moved), A.ravel()
        X = sp.csr_matrix((data, indices, indptr), (A.shape[0], width))
        X.sort_indices()
        csr = Csr(X.data, X.indices, X.indptr, width)
        return cls(csr, kind, width, new, columns.plain_columns)

    @classmethod
    def _of_rows(cls, rows: list[Any], columns: RowColumns) -> IndexedRows:
        """Dicts and sparse rows."""
        first = next((row for row in rows if not isinstance(row, dict) or row), {})
        kind = columns.kind_with(as_row(first))
        named = kind is RowKind.NAMES
        width = max(map(sparse_width, rows))
        check_width(columns, width)
        index, plain = columns.index, columns.plain_columns
        n_features = max(0 if named else width, columns.n_features)
        done = _core.index_rows(rows, index, plain, n_features, named)
        if done is None:  # rows of other types, or bad ones: which, as_row says
            rows = list(_plain_rows(rows, kind))
            done = _core.index_rows(rows, index, plain, n_features, named)
        if done is None:
            pairs = {(k, v if isinstance(v, str) else 0.0) for row in rows for k, v in row.items()}
            unknown = [pair for pair in pairs if columns.column(*pair) < 0]
            check_features(index, len(unknown), unknown)
        assert done is not None
        data, indices, indptr, width, new, plain = done
        return cls(Csr(data, indices, indptr, width), kind, width, new, plain)


def _plain_rows(rows: Iterable[Any], kind: RowKind) -> Iterator[Row]:
    """Rows of one kind in plain form, or an error that names the first that is not."""
    for i, given in enumerate(rows):
        row = as_row(given)
        if not isinstance(row, dict):
            raise DataError(f"Row {i} is not of the kind of the first row. Use one kind.")
        if row and kind_of(row) is not kind:
            raise DataError(
                f"Row {i} has {kind_of(row)}, rows before it have {kind}. Use one kind of rows."
            )
        yield row


def check_width(columns: RowColumns, n_columns: int) -> None:
    """Refuse a matrix whose columns would not be those of the model."""
    if n_columns > MOST_COLUMNS:
        raise LimitError("columns", n_columns, MOST_COLUMNS, "X")
    if n_columns > columns.plain_columns >= 0:
        raise DataError(
            f"X has {n_columns} columns, the model numbers those from {columns.plain_columns} on "
            "in the order in which they appeared. Give dicts of those that are not 0: {3: 1.5}."
        )


def as_row(x: Any) -> Row:
    """A row in plain form: a dict of finite floats or texts by name, of finite floats by column, or
    a float64 array.
    """
    if isinstance(x, Mapping):
        row = dict(x)
    elif _is_named(x):
        if (name := repeated(list(x.index))) is not None:
            raise DataError(f"The row has the name {name!r} twice. Rename one.")
        row = x.to_dict()
    elif hasattr(x, "tocsr"):
        if x.ndim == 2 and x.shape[0] != 1:
            raise DataError(f"Expected one row, got a matrix of shape {x.shape}. Use learn_many.")
        A = as_matrix(x.reshape(1, -1))
        row = dict(zip(A.indices.tolist(), A.data.tolist(), strict=True))
    else:
        return _as_values(x)
    if all(isinstance(key, str) for key in row):
        return {as_text(key): as_entry(key, value) for key, value in row.items()}
    for key in row:
        if not isinstance(key, (int, np.integer)):
            raise DataTypeError(
                "The features of a row are names (text) or columns (whole numbers), all of one "
                f"kind; got {key!r} in {_short(tuple(row))}. Use str(name)."
            )
        if key < 0:
            raise DataError(f"Columns are counted from 0, got {key}.")
        if key > LARGEST_COLUMN:
            raise DataError(
                f"There is no room for column {key}. Number the columns from 0, or use "
                "Hashing(bits=18)."
            )
    return {int(key): as_value(key, value) for key, value in row.items()}


def _is_named(x: Any) -> bool:
    """Whether this is a row of a frame: a pandas Series whose index is names."""
    if not (hasattr(x, "to_dict") and hasattr(x, "iloc") and x.ndim == 1):
        return False
    return all(isinstance(name, str) for name in x.index)


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


def as_text(text: str) -> str:
    """A name as a plain str that UTF-8 can spell."""
    try:
        str(text).encode()
    except UnicodeEncodeError as e:
        raise DataError(f"{text!r} is not valid Unicode text. Remove lone surrogates.") from e
    return str(text)


def as_entry(name: str, value: Any) -> float | str:
    """The value of a named feature: a finite number, or the text of a category."""
    return as_text(value) if isinstance(value, str) else as_value(name, value)


def as_value(name: Any, value: Any) -> float:
    """A finite number, or an error that names the feature."""
    try:
        if isinstance(value, (str, bytes, bytearray)):
            raise TypeError("text")
        number = float(value)
    except (TypeError, ValueError, OverflowError) as e:
        raise DataTypeError(
            f"The feature {name!r} has the value {_short(value)}, which is not a number that "
            "fits in a float. Give a number, or name the feature by text: {'city': 'Rome'}."
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
        A = np.asarray(x)
    except ValueError:  # lists of several lengths
        A = np.zeros((), "U1")
    if A.dtype.kind not in "biufO":
        raise DataTypeError(
            f"A row is a dict or an array of numbers, got {_short(x)}. For pairs (feature, value) "
            "use dict(pairs)."
        )
    if A.ndim != 1:
        raise DataError(
            f"Expected one row, got an array of shape {A.shape}. Use learn_many or predict "
            "for several rows, and dict(pairs) for pairs (feature, value)."
        )
    if not A.size:
        raise DataError("The row has no numbers. Give at least one feature.")
    row = as_matrix(A[None] if hasattr(x, "dtype") else [x], "x")[0]
    return np.ascontiguousarray(row, dtype=np.float64)


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
