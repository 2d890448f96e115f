"""Features: rows that come one at a time, by name, by column number or as arrays, as numbers.

A row is a dict, a list of pairs (feature, value), an array, or one sparse row. Text names features,
whose columns are given in the order of their first appearance; whole numbers are columns. What a
row does not mention is 0. A model keeps to the kind of its first row.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from math import isfinite
from operator import lt
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.errors import DataError, DataTypeError

Array = npt.NDArray[Any]
FLOAT64 = np.dtype(np.float64)
ARRAYS, NAMES, COLUMNS = "arrays", "features by name", "features by column number"
MOST_COLUMNS = np.iinfo(np.int32).max  # scipy's type for columns, on which bits depend


@lru_cache(maxsize=4096)
def _packs(n: int) -> tuple[Callable[..., None], Callable[..., None]]:
    """What writes n numbers into a buffer, whole ones or others: quicker than numpy on lists."""
    return struct.Struct(f"{n}i").pack_into, struct.Struct(f"{n}d").pack_into


class Features:
    """Which columns there are, and room for one row.

    Attributes
    ----------
    kind : how rows are written, None before the first
    width : columns so far
    index : the column of each name
    data, indices, begins : the last row as the compiled loops want it: of arrays (1, width) and
        None; else its values and their columns; begins[1] of them
    """

    def __init__(self, width: int = 0, names: Iterable[str] = (), begins: Array | None = None):
        self.kind: str | None = None
        self.width = width
        self.index = {name: k for k, name in enumerate(names)}
        self.data: Array = np.zeros(64)
        self.indices: Array | None = np.zeros(64, dtype=np.int32)
        self.begins: Array = np.zeros(2, dtype=np.int64) if begins is None else begins
        self._keys: Any = None  # of the last row, if its columns stand in `indices`, in order
        self._write: Any = None
        self.shape: tuple[int] | None = None  # of arrays

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_keys": None, "_write": None}

    def read(self, x: Any, grow: bool) -> None:
        """Put a row into `data` and `indices`. Unknown features are added, or left out."""
        if type(x) is dict:
            keys = tuple(x)
            if keys != self._keys and not self._find(x, keys, grow):
                return  # done: only those that are known
            try:
                self._write(self.data, 0, *x.values())
            except (struct.error, TypeError, OverflowError) as e:
                raise _not_a_number(x) from e
        elif type(x) is np.ndarray and x.shape == self.shape and x.dtype is FLOAT64:
            self.data[0] = x
        else:
            self._read_other(x, grow)

    def _read_other(self, x: Any, grow: bool) -> None:
        if type(x) is list and x and type(x[0]) is tuple and self._read_as_before(x):
            return
        pairs = None if isinstance(x, np.ndarray) else as_pairs(x)
        if pairs is not None:
            if sp.issparse(x) and grow:
                self.begin(COLUMNS)
                self.width = max(self.width, x.shape[1])
            self.read(pairs, grow)
            return
        values = as_values(x)
        if self.width and len(values) != self.width:
            raise DataError(
                f"the row has {len(values)} features, the model has {self.width}. Give one number "
                "for each, or only those that are there, by name or by number: {'price': 1.5} or "
                "[(3, 1.5)]."
            )
        if self.kind != ARRAYS:
            self.begin_arrays(len(values))
        self.data[0] = values

    def _read_as_before(self, x: list[tuple[Any, Any]]) -> bool:
        """Pairs with the features of the last row: whether they were."""
        try:
            keys, values = zip(*x, strict=True)
            if keys == self._keys:
                self._write(self.data, 0, *values)
                return True
        except (ValueError, TypeError, OverflowError, struct.error):
            pass  # what is wrong, others say
        return False

    def begin_arrays(self, width: int) -> None:
        self.check_kind(ARRAYS)
        if not width:
            raise DataError("the row has no numbers. Give at least one feature.")
        if self.kind is None:
            self.data, self.indices = np.zeros((1, width)), None
        self.kind, self.width, self.shape = ARRAYS, width, (width,)

    def begin(self, kind: str) -> None:
        self.check_kind(kind)
        self.kind = kind

    def check_kind(self, kind: str, kept: str | None = None) -> None:
        """Rows of this kind, after others (of the kind `kept`)."""
        kept = kept or self.kind
        if kept is not None and kept != kind:
            raise DataError(f"this model learns from {kept}, got {kind}. Keep to one kind of rows.")
        if kind == NAMES and self.width != len(self.index):
            raise DataError(
                f"the model has {self.width} features without names. Give arrays, or features by "
                "column number; or start with named ones."
            )

    def _find(self, x: dict[Any, Any], keys: tuple[Any, ...], grow: bool) -> bool:
        """Find the columns of all features: whether the row has still to be written."""
        columns = self._known(keys)
        if columns is None:
            kind, new = self._unknown(keys)
            if new and not grow:
                left_out = set(new)
                self.read({k: v for k, v in x.items() if k not in left_out}, False)
                return False
            if new:
                _check_finite(x)
                self._add(kind, new)
            self.kind = kind
            columns = [self.index[k] for k in keys] if kind == NAMES else list(keys)
        self._make_room(len(keys))
        whole, self._write = _packs(len(keys))
        whole(self.indices, 0, *columns)
        self.begins[1] = len(keys)
        ascending = all(map(lt, columns, columns[1:]))
        self._keys = keys if ascending else None  # they will be sorted in place
        return True

    def _known(self, keys: tuple[Any, ...]) -> list[int] | None:
        """The columns, if all are there; quickly."""
        if self.kind == NAMES:
            try:
                return list(map(self.index.__getitem__, keys))
            except KeyError:
                return None
        if self.kind == COLUMNS and keys and all(map(isinstance, keys, repeat(int))):
            return list(keys) if min(keys) >= 0 and max(keys) < self.width else None
        return None

    def _unknown(self, keys: tuple[Any, ...]) -> tuple[str, list[Any]]:
        """How the row is written, and the features that are not there yet."""
        kind = kind_of(keys)
        if kind is None:  # an empty row
            nameless = self.width != len(self.index)
            kind = COLUMNS if self.kind == COLUMNS or (self.kind is None and nameless) else NAMES
        self.check_kind(kind)
        if kind == NAMES:
            return kind, [k for k in keys if k not in self.index]
        return kind, beyond(keys, self.width)

    def _add(self, kind: str, new: list[Any]) -> None:
        if kind == NAMES:
            for name in new:
                self.index[str(name)] = len(self.index)
            self.width = len(self.index)
        else:
            self.width = int(max(new)) + 1

    def _make_room(self, n: int) -> None:
        if n > len(self.data):
            self.data, self.indices = np.zeros(2 * n), np.zeros(2 * n, dtype=np.int32)

    def table(self, x: Any) -> Array:
        """A row as a table of one row with all columns."""
        self.read(x, False)
        if self.indices is None:
            return self.data.copy()
        full, n = np.zeros((1, self.width)), int(self.begins[1])
        full[0, self.indices[:n]] = self.data[:n]
        return full

    def names(self) -> list[str] | None:
        """The names of the columns, if they have some."""
        return list(self.index) if self.index and len(self.index) == self.width else None


def kind_of(keys: tuple[Any, ...]) -> str | None:
    """How a row with these features is written; None for an empty one."""
    if not keys:
        return None
    if all(map(isinstance, keys, repeat(str))):
        return NAMES
    if all(map(isinstance, keys, repeat((int, np.integer)))):
        return COLUMNS
    odd = next(k for k in keys if type(k) is not type(keys[0]) or not isinstance(k, (str, int)))
    raise DataTypeError(
        f"features are names (text) or columns (whole numbers), all of one kind; got {odd!r} in "
        f"{_short(keys)}. Use str(name)."
    )


def as_pairs(x: Any) -> dict[Any, Any] | None:
    """A row that says which features it has, as a dict; None for one that is a list of numbers."""
    if isinstance(x, (dict, Mapping)):
        return dict(x)
    if sp.issparse(x):
        if x.ndim == 2 and x.shape[0] != 1:
            raise DataError(f"a row was expected, got a matrix of shape {x.shape}. Use learn_many.")
        entries = x.tocoo()
        x = list(zip(entries.coords[-1].tolist(), entries.data.tolist(), strict=True))
    elif not (isinstance(x, (list, tuple)) and all(_is_pair(entry) for entry in x)):
        return None
    try:
        row = dict(x)
    except TypeError as e:
        raise DataTypeError(f"a feature is a name or a column number, got {_short(x)}: {e}.") from e
    if len(row) < len(x):
        twice = next(k for k, _ in x if sum(1 for j, _ in x if j == k) > 1)
        raise DataError(f"the feature {twice!r} comes twice in one row. Add its values up first.")
    return row


def check_row(x: Any) -> None:
    """A row that some model could learn from."""
    Features().read(x, True)
    pairs = as_pairs(x)
    _check_finite(dict(enumerate(as_values(x).tolist())) if pairs is None else pairs)


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, (tuple, list)) and len(entry) == 2


def as_values(x: Any) -> Array:
    """A row of numbers."""
    try:
        values = np.asarray(x)
        if values.dtype.kind not in "biuf":
            if values.dtype.kind != "O":
                raise TypeError(f"its type is {values.dtype}")
            values = values.astype(np.float64)
    except (TypeError, ValueError) as e:
        raise DataTypeError(
            f"a row is a dict, pairs (feature, value) or an array of numbers, got {_short(x)}: {e}."
        ) from e
    if values.ndim != 1:
        raise DataError(
            f"a row was expected, got an array of shape {values.shape}. Use learn_many or predict "
            "for several."
        )
    return values


def beyond(keys: Sequence[int], width: int) -> list[int]:
    """The columns that are not there yet."""
    if keys and min(keys) < 0:
        raise DataError(f"columns are counted from 0, got {min(keys)}.")
    if keys and max(keys) >= MOST_COLUMNS:
        raise DataError(
            f"there is no room for a column {max(keys)}. Number the columns from 0, or use "
            "Hashing(bits=18)."
        )
    return [k for k in keys if k >= width]


def _check_finite(x: dict[Any, Any]) -> None:
    for name, value in x.items():
        check_value(name, value)


def check_value(name: Any, value: Any) -> None:
    """A finite number."""
    try:
        fine = isfinite(value)
    except (TypeError, ValueError, OverflowError) as e:
        raise _not_a_number({name: value}) from e
    if not fine:
        raise not_finite(name, value)


def not_finite(name: Any, value: Any) -> DataError:
    """About one value that is NaN or infinite."""
    return DataError(
        f"the feature {name!r} is {value!r}. Leave out what is missing, or put a number in its "
        "place; the row changed nothing."
    )


def bad_value(x: Any) -> DataError:
    """About the first value of a row that is not finite."""
    pairs = as_pairs(x)
    for name, value in enumerate(as_values(x).tolist()) if pairs is None else pairs.items():
        if not isfinite(value):
            return not_finite(name, value)
    return DataError("the row holds NaN or infinity; it changed nothing.")


def _not_a_number(x: dict[Any, Any]) -> DataTypeError:
    for name, value in x.items():
        try:
            struct.pack("d", value)
        except (struct.error, TypeError, OverflowError):
            return DataTypeError(
                f"the feature {name!r} has the value {value!r}, which is not a number that fits. "
                f"Turn categories into features of value 1: {{'{name}={value}': 1}}."
            )
    return DataTypeError(f"a row with a value that is not a number: {_short(x)}.")


def _short(x: Any) -> str:
    shown = repr(x)
    return shown if len(shown) < 80 else shown[:77] + "..."
