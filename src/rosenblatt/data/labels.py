"""Labels: of any one kind, as a flat array; the classes among them; as numbers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import LabelError

LARGEST_INTEGER = 2**53  # every integer up to here is a float64
NUMBERS = (bool, int, float, np.number, np.bool_)
CLOSE = 2**16  # whole numbers from least to most that are counted by a table


def as_labels(y: Any, n_rows: int | None = None, name: str = "y") -> npt.NDArray[Any]:
    """Labels of any one kind as a flat array."""
    if y is None:
        raise LabelError(
            f"requires y to be passed, but the target {name} is None. Give one label per row."
        )
    try:
        labels = np.asarray(y)
    except ValueError as e:
        raise LabelError(f"{name} is not a list of labels: {e}. Give one label per row.") from e
    if labels.ndim == 2 and labels.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the "
            "shape of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=6,
        )
        labels = labels.ravel()
    if labels.ndim != 1:
        raise LabelError(
            f"{name} should be a 1d array, got an array of shape {labels.shape} instead. Give one "
            "label per row (of indicator columns, the argmax; are X and y swapped?)."
        )
    if labels.dtype.kind == "c":
        raise LabelError(f"Complex data not supported: {name} has dtype {labels.dtype}.")
    if labels.dtype.kind == "O" or isinstance(y, (list, tuple)):
        _check_one_kind(y if isinstance(y, (list, tuple)) else labels, name)
        labels = np.array(labels.tolist()) if _all_numbers(labels) else labels
    if labels.dtype.kind in "fmM":
        missing = np.isnat(labels) if labels.dtype.kind in "mM" else ~np.isfinite(labels)
        if missing.any():
            what = "infinity" if np.isinf(labels.astype(float)).any() else "NaN or NaT"
            raise LabelError(f"Input {name} contains {what}. Drop the rows without a label.")
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        broken = labels[labels != np.floor(labels)][0].item()
        raise LabelError(
            f"Unknown label type: continuous ({name} holds {broken!r}). A classifier needs "
            "classes; cut y into classes or use a regressor."
        )
    if n_rows is not None and labels.size != n_rows:
        raise LabelError(
            f"Found input variables with inconsistent numbers of samples: {n_rows} rows in X, "
            f"{labels.size} labels in {name}. Give one label per row."
        )
    return labels


def _check_one_kind(values: Any, name: str) -> None:
    """Labels must be comparable: all text, all numbers, or all of one other type."""
    types = set(map(type, values))
    if str in types and any(isinstance(v, str) and v.endswith("\0") for v in values):
        raise LabelError(
            f"{name} holds text that ends in a null character, which numpy leaves out. Remove it "
            "or replace it."
        )
    if types <= {str} or types <= {int, bool}:
        return
    for v in values:
        try:
            missing = v is None or bool(v != v)
        except (TypeError, ValueError):  # a missing value that has no truth value
            missing = True
        if missing:
            raise LabelError(f"Input {name} contains NaN or None. Drop the rows without a label.")
    kinds = {
        "text" if issubclass(t, str) else "numbers" if issubclass(t, NUMBERS) else t.__name__
        for t in types
    }
    if len(kinds) > 1:
        raise LabelError(
            f"{name} mixes {' and '.join(sorted(kinds, reverse=True))}, which cannot be ordered. "
            "Use labels of one kind, for instance [str(v) for v in y]."
        )


def _all_numbers(labels: npt.NDArray[Any]) -> bool:
    return labels.dtype.kind == "O" and all(issubclass(t, NUMBERS) for t in set(map(type, labels)))


def sorted_classes(labels: npt.NDArray[Any], name: str = "y") -> npt.NDArray[Any]:
    """The distinct labels in order."""
    try:
        classes = _distinct(labels)
    except TypeError as e:
        raise LabelError(f"{name} holds labels that cannot be ordered: {e}.") from e
    if classes.size == 0:
        raise LabelError(f"{name} is empty. Name at least two classes.")
    return classes


def _distinct(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """np.unique, at once where labels are whole numbers close together."""
    if labels.dtype.kind in "iu" and labels.size:
        low, high = int(labels.min()), int(labels.max())
        if high - low < CLOSE and low > -(2**62) and high < 2**62:
            there = np.zeros(high - low + 1, dtype=bool)
            there[labels.astype(np.int64) - low] = True
            return (np.flatnonzero(there) + low).astype(labels.dtype)
    return np.unique(labels)


def check_same_kind(y: npt.NDArray[Any], classes: npt.NDArray[Any]) -> None:
    """Text and numbers do not compare."""

    def kind(labels: npt.NDArray[Any]) -> str:
        if labels.dtype.kind == "O":
            return "str" if isinstance(labels[0], str) else type(labels[0]).__name__
        return {"U": "str", "S": "bytes", "M": "date", "m": "time"}.get(labels.dtype.kind, "number")

    numbers = {"int", "float", "bool"}
    kinds = {"number" if k in numbers else k for k in (kind(y), kind(classes))}
    if len(kinds) > 1:
        raise LabelError(
            f"y holds labels of another kind than the classes {classes[:10].tolist()}: "
            f"{y[:3].tolist()}. Use one kind."
        )


def joined_classes(classes: npt.NDArray[Any], labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The classes and those among `labels` that are new, sorted."""
    both = np.concatenate([classes, labels])
    for before in (classes, labels):
        if both.dtype.kind == "f" and before.dtype.kind in "iu" and before.size:
            large = max(int(before.max()), -int(before.min()))
            if large > LARGEST_INTEGER:
                raise LabelError(
                    f"y mixes floats with the integer {large}, beyond 2**53 = {LARGEST_INTEGER}, "
                    "where floats no longer tell integers apart. Use integers, or text."
                )
    return np.unique(both)


def check_same_classes(classes: Any, known: npt.NDArray[Any]) -> None:
    """Refuse other classes than those of the first call of `partial_fit`; None names none."""
    if classes is None:
        return
    named = sorted_classes(as_labels(classes, name="classes"), "classes")
    if not np.array_equal(named, known):
        raise LabelError(
            f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
            f"{known!r}. Leave classes out on later calls."
        )


def check_two_classes(classes: npt.NDArray[Any]) -> None:
    """Refuse a single class."""
    if len(classes) < 2:
        raise LabelError(
            "The number of classes has to be greater than one; got 1 class "
            f"({classes.tolist()[0]!r}). Add another class, or name all classes in the first call "
            "of partial_fit."
        )


def one_label(y: Any) -> npt.NDArray[Any]:
    """The label of one row, as an array of length 1."""
    listed = y.tolist() if isinstance(y, np.ndarray) and y.shape == (1,) else [y]
    if np.ndim(listed[0]) != 0 or isinstance(listed[0], (set, dict)):
        raise LabelError(f"y must be one label, got {y!r}. Use learn_many for several rows.")
    labels = as_labels(listed)
    try:
        hash(labels.tolist()[0])
        bool(labels[0] < labels[0])
    except TypeError as e:
        raise LabelError(
            f"y must be a label that can be ordered, such as text or a number, got {y!r}."
        ) from e
    return labels


def encode(y: npt.NDArray[Any], classes: npt.NDArray[Any]) -> npt.NDArray[np.integer[Any]]:
    """Labels to -1 and +1 (two classes or one) or to class numbers (more)."""
    check_same_kind(y, classes)
    number = np.searchsorted(classes, y)
    number = np.minimum(number, len(classes) - 1)
    if (classes[number] != y).any():
        unknown = np.unique(y[classes[number] != y])[:5].tolist()
        raise LabelError(
            f"y holds labels {unknown} that are not among classes {classes[:10].tolist()}. "
            "Name every class on the first call."
        )
    if len(classes) <= 2:
        return (2 * number - 1).astype(np.int8)
    return number.astype(np.int64)
