"""Matrix: validated rows, dense or CSR, and integers that floats keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt._core import CsrForm, all_finite, csr_form
from rosenblatt.data.labels import LARGEST_INTEGER
from rosenblatt.errors import DataError, DataTypeError

SHORT_FLOATS = ("float64", "Float64", "float32", "Float32")
Matrix = Any  # npt.NDArray[np.floating] or scipy.sparse CSR


def as_matrix(X: Any, name: str = "X", ordered: bool = True) -> Matrix:
    """Numbers as a float matrix, dense or CSR, or an error that says what is wrong.

    float32 stays float32; everything else becomes float64. Input is never modified,
    and only copied where it has to be converted. A CSR matrix may keep its columns in any order
    if they need not be `ordered`: the scores of learning are sums, and sorting costs more.
    """
    if sp.issparse(X):
        return _as_csr(X, name, ordered)
    refuse_lazy(X, name)
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return _from_frame(X, name)
    A = _as_numbers(X, name)
    if A.ndim != 2:
        raise DataError(
            f"Expected 2D array, got {A.ndim}D array instead: {name} has shape {A.shape}. "
            "Reshape your data: one row per example, X.reshape(-1, 1) for a single feature, "
            "X.reshape(1, -1) for a single example."
        )
    _check_shape(A.shape, name)
    A = np.ascontiguousarray(A, dtype=np.float32 if A.dtype == np.float32 else np.float64)
    check_finite(A, name, _in_row)
    return A


def refuse_lazy(X: Any, name: str = "X") -> None:
    """A polars LazyFrame looks like a frame, and warns and fails when it is asked for numbers."""
    if type(X).__name__ == "LazyFrame":
        raise DataTypeError(f"{name} is a LazyFrame, which holds no numbers yet. Call .collect().")


def frame_names(X: Any) -> tuple[str, ...] | None:
    """The names of the columns of a pandas or polars frame."""
    refuse_lazy(X)
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return tuple(str(c) for c in X.columns)
    return None


def check_kept_by_floats(X: Any) -> None:
    """An answer about exact numbers must not be about rounded ones."""
    if sp.issparse(X):
        columns = [X.data]
    elif hasattr(X, "columns") and hasattr(X, "dtypes"):
        kinds = [str(t) for t in X.dtypes]
        columns = [
            np.asarray(X[c])
            for c, k in zip(X.columns, kinds, strict=True)
            if k not in SHORT_FLOATS and not k.startswith("Sparse")
        ]
    else:
        columns = [X if isinstance(X, np.ndarray) else _as_array(X)]
    for values in columns:
        if values.dtype.kind == "f" and values.dtype.itemsize > 8:
            rounded = values[values.astype(np.float64) != values]
            lost = [repr(v) for v in rounded.flat[:1]]
        elif values.dtype.kind == "O":
            lost = [repr(v) for v in values.flat if _is_rounded(v)][:1]
        else:
            continue
        if lost:
            raise DataError(
                f"X holds {lost[0]}, which no float64 is, and the answer is about exact numbers. "
                "Multiply to integers, or convert to float yourself if the rounding is meant."
            )


def _is_rounded(value: Any) -> bool:
    """Whether a number that is neither whole nor a float is not what its nearest float is."""
    if not isinstance(value, (Fraction, Decimal, np.longdouble)):
        return False
    try:
        return bool(float(value) != value)
    except (ArithmeticError, ValueError):  # too large, or a signalling NaN
        return True


def _as_array(X: Any) -> npt.NDArray[Any]:
    """Nested lists as they are; input that is no array is refused later."""
    try:
        return np.asarray(X)
    except (ValueError, TypeError):
        return np.empty(0)


def _from_frame(X: Any, name: str) -> Matrix:
    """A pandas or polars frame, column by column: each may be of another kind."""
    _check_shape(X.shape, name)
    kinds = [str(t) for t in X.dtypes]
    if all(kind.startswith("Sparse") for kind in kinds):
        try:
            coo = X.sparse.to_coo()
        except ValueError as e:  # the entries that are not stored are not 0
            raise DataError(
                f"{name} is a sparse frame that cannot be a sparse matrix: {e}. Use a fill value "
                "of 0, or X.sparse.to_dense()."
            ) from e
        return _as_csr(coo, name)
    named = zip(X.columns, kinds, strict=True)
    categories = [c for c, k in named if k.split("(")[0] in ("category", "Categorical", "Enum")]
    if categories:
        raise DataTypeError(
            f"{name} has columns of categories, {categories}; the perceptron adds and multiplies. "
            "Encode them first, for instance with OneHotEncoder."
        )
    columns = []
    for k, label in enumerate(X.columns):
        column = X.iloc[:, k] if hasattr(X, "iloc") else X[:, k]
        missing = column.isna() if hasattr(column, "isna") else None
        if missing is not None and missing.any():
            column = column.astype(object).where(~missing, np.nan)
        columns.append(_as_numbers(column.to_numpy(), f"column {label!r} of {name}"))
    dtype = np.float32 if all(c.dtype == np.float32 for c in columns) else np.float64
    A = np.empty(X.shape, dtype)
    for k, values in enumerate(columns):
        A[:, k] = values
    labels = list(X.columns)
    check_finite(A, name, lambda at: f"row {at[0]}, column {labels[at[1]]!r}")
    return A


def _as_numbers(X: Any, name: str) -> npt.NDArray[Any]:
    if X is None:
        raise DataError(f"{name} is None. Give a table of numbers, one row per example.")
    if isinstance(X, (str, PathLike)):
        raise DataTypeError(
            f"{name} is {X!r}, not a table of numbers. If it is a file, read it first: table = "
            "rosenblatt.read(path, target=...), then give table.X and table.y."
        )
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], Mapping):
        raise DataTypeError(
            f"{name} is a list of dicts. learn_one, learn_many and predict_one take rows by name; "
            "for other methods encode them first (sklearn.feature_extraction.DictVectorizer)."
        )
    try:
        A = np.asarray(X)
    except ValueError as e:
        why = str(e).rstrip(".")
        raise DataError(
            f"{name} is not a table of numbers: {why}. Give rows of equal length."
        ) from e
    if A.dtype.kind == "c":
        raise DataError(f"Complex data not supported: {name} has dtype {A.dtype}. Split it in two.")
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        raise DataError(f"{name} has masked entries. Fill them in, or drop these rows.")
    mixed = isinstance(X, (list, tuple)) and A.dtype.kind == "f"
    if mixed and (np.abs(A) >= LARGEST_INTEGER).any():
        check_integers(np.array(X, dtype=object), name)  # integers beside floats
    check_integers(A, name)
    if A.dtype.kind in "OUS":
        try:
            A = A.astype(np.float64)
        except (TypeError, ValueError) as e:
            error = DataTypeError if isinstance(e, TypeError) else DataError
            raise error(
                f"{name} holds something that is not a number: {e}. Encode it first."
            ) from e
    if A.dtype.kind not in "fiub":
        raise DataTypeError(
            f"{name} has dtype {A.dtype}, which is not a number. Convert it to numbers first."
        )
    return A


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    if shape[0] == 0:
        raise DataError(
            f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required. "
            f"Give {name} at least one row."
        )
    if shape[1] == 0:
        raise DataError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required. "
            f"Give {name} at least one column."
        )


def check_integers(A: npt.NDArray[Any], name: str) -> None:
    """Integers beyond 2**53 would be rounded silently."""
    if A.size == 0 or A.dtype.kind not in "iuO" or A.dtype.itemsize < 8:
        return
    if A.dtype.kind == "O":
        whole = (int, np.integer)
        big = [int(v) for v in A.flat if isinstance(v, whole) and abs(int(v)) > LARGEST_INTEGER]
    else:
        low, high = int(A.min()), int(A.max())
        big = [v for v in (low, high) if abs(v) > LARGEST_INTEGER]
    if big:
        raise DataError(
            f"{name} holds the integer {big[0]}, beyond 2**53 = {LARGEST_INTEGER}, where float64 "
            "no longer tells neighbours apart. Subtract an offset, divide, or convert to float "
            "yourself if the rounding is meant."
        )


def check_finite(
    values: npt.NDArray[Any], name: str, where: Callable[[Any], str] = lambda at: f"entry {at}"
) -> None:
    """`where` says in words which entry it is, from its position in `values`."""
    if all_finite(np.ascontiguousarray(values)):
        return
    at = tuple(int(k) for k in np.argwhere(~np.isfinite(values))[0])
    if np.isnan(values).any():
        what, remedy = "NaN", "Drop such rows, or fill them in (sklearn.impute.SimpleImputer)."
    else:
        what, remedy = "infinity or a value too large for its type", "Drop or clip such values."
    remedy = remedy if name == "X" else "Give finite numbers."
    raise DataError(
        f"Input {name} contains {what}, the first in {where(at)} (dtype {values.dtype}). {remedy}"
    )


def _in_row(at: tuple[int, int]) -> str:
    return f"row {at[0]}, column {at[1]}"


def _as_csr(X: Any, name: str, ordered: bool = True) -> Matrix:
    """Any scipy sparse matrix as CSR with unique, valid indices, sorted if need be."""
    if X.dtype.kind == "c":
        raise DataError(f"Complex data not supported: {name} has dtype {X.dtype}. Split it in two.")
    if len(X.shape) != 2:
        raise DataError(
            f"Expected 2D array, got {len(X.shape)}D sparse array instead: {name} has shape "
            f"{X.shape}. Reshape it to one row per example."
        )
    _check_shape(X.shape, name)
    form = _form(X) if X.format == "csr" else CsrForm.BROKEN
    try:  # never trust flags or bounds that a caller may have edited, even to convert
        if form == CsrForm.BROKEN and X.format in ("csr", "csc", "bsr"):
            type(X)((X.data, X.indices, X.indptr), shape=X.shape).check_format(full_check=True)
        elif X.format == "coo":
            type(X)((X.data, tuple(X.coords)), shape=X.shape)
        A = X if X.format == "csr" else X.tocsr()
    except ValueError as e:
        raise DataError(f"{name} is not a valid sparse matrix: {e}. Build it again.") from e
    if form == CsrForm.BROKEN:
        form = _form(A)
    if form == CsrForm.REPEATED or (form == CsrForm.UNIQUE and ordered):
        A = type(A)((A.data.copy(), A.indices.copy(), A.indptr.copy()), shape=A.shape)
        A.has_canonical_format = A.has_sorted_indices = False
        A.sum_duplicates()
    check_integers(A.data, name)
    dtype = A.data.dtype if A.data.dtype in (np.float32, np.float64) else np.float64
    data = np.ascontiguousarray(A.data[: A.nnz], dtype=dtype)
    check_finite(data, name, lambda at: _in_row(_place(A, at[0])))
    indices, indptr = np.ascontiguousarray(A.indices[: A.nnz]), np.ascontiguousarray(A.indptr)
    if indices.dtype != indptr.dtype:
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    out = type(A)((data, indices, indptr), shape=A.shape)
    out.indices, out.indptr = indices, indptr  # scipy narrows int64 indices; keep what came
    return out


def _form(A: Matrix) -> CsrForm:
    plain = all(isinstance(part, np.ndarray) and part.ndim == 1 for part in (A.indptr, A.indices))
    whole = plain and A.indptr.dtype.kind == "i" and A.indices.dtype.kind == "i"
    if not whole or len(A.indptr) != A.shape[0] + 1 or len(A.data) < len(A.indices):
        return CsrForm.BROKEN
    indptr, indices = (
        part if part.dtype == np.int32 else part.astype(np.int64, copy=False)
        for part in (A.indptr, A.indices)
    )
    return csr_form(indptr, indices, int(A.shape[1]))


def _place(A: Matrix, k: int) -> tuple[int, int]:
    """Row and column of stored entry k."""
    return int(np.searchsorted(A.indptr, k, side="right")) - 1, int(A.indices[k])
