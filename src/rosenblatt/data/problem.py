"""Problem: validated rows, labels and weights.

X is a C-contiguous float32 or float64 array, or a CSR matrix that names no column of a row
twice; y is -1 or +1 for two classes and a class number for more; weights are finite and >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import as_labels, encode, sorted_classes
from rosenblatt.data.matrix import Matrix, as_matrix, check_finite, check_kept_by_floats
from rosenblatt.errors import DataError, DataTypeError


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows, labels and weights to learn from.

    Attributes
    ----------
    X : float32 or float64 array, or CSR matrix, of shape (n, d)
        Rows.
    y : int8 or int64 array of shape (n,)
        -1 and +1 for two classes, class numbers for more.
    classes : array of shape (n_classes,)
        The labels, sorted.
    sample_weight : float64 array of shape (n,), or None
        Weights of rows; None if all are 1.

    Examples
    --------
    >>> p = Problem.of([[1, 2], [3, 4]], ["ham", "spam"])
    >>> p.y, p.classes, p.X.dtype
    (array([-1,  1], dtype=int8), array(['ham', 'spam'], dtype='<U4'), dtype('float64'))
    """

    X: Matrix
    y: npt.NDArray[np.integer[Any]]
    classes: npt.NDArray[Any]
    sample_weight: npt.NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        classes: npt.ArrayLike | None = None,
    ) -> Problem:
        """Check rows, labels and weights.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows of numbers.
        y : array of shape (n_samples,)
            Labels.
        sample_weight : array of shape (n_samples,), optional
            Weights >= 0.
        classes : array, optional
            All labels, if they are known.

        Returns
        -------
        Problem
            The checked input.

        Raises
        ------
        DataError
            If something is invalid.
        """
        return cls.labelled(as_matrix(X), y, sample_weight, classes)

    @classmethod
    def exact(cls, X: Any, y: npt.ArrayLike, classes: npt.ArrayLike | None = None) -> Problem:
        """Check rows for a proof: numbers that float64 would round are refused.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows of numbers.
        y : array of shape (n_samples,)
            Labels.
        classes : array, optional
            All labels, if they are known.

        Returns
        -------
        Problem
            The checked input.
        """
        check_kept_by_floats(X)
        return cls.of(X, y, classes=classes)

    @classmethod
    def labelled(
        cls,
        X: Matrix,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        classes: npt.ArrayLike | None = None,
    ) -> Problem:
        """Check labels and weights of rows that `as_matrix` has checked.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Checked rows.
        y : array of shape (n_samples,)
            Labels.
        sample_weight : array of shape (n_samples,), optional
            Weights >= 0.
        classes : array, optional
            All labels, if they are known.

        Returns
        -------
        Problem
            The checked input.
        """
        y = as_labels(y, X.shape[0])
        if classes is None:
            known = sorted_classes(y)
        else:
            known = sorted_classes(as_labels(classes, name="classes"), "classes")
        return cls(X, encode(y, known), known, as_weights(sample_weight, X.shape[0]))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    def versus_rest(self, k: int) -> Problem:
        """Return the two-class problem of one class against all others.

        Parameters
        ----------
        k : int
            Number of the class.

        Returns
        -------
        Problem
            Its classes are False and True.
        """
        if len(self.classes) <= 2:
            y = self.y if k else (-self.y).astype(np.int8)
        else:
            y = np.where(self.y == k, 1, -1).astype(np.int8)
        return replace(self, y=y, classes=np.array([False, True]))

    def counts(self) -> npt.NDArray[np.int64]:
        """Count the rows of each class.

        Returns
        -------
        int array of shape (n_classes,)
            Numbers of rows.
        """
        return np.bincount(self.class_numbers(), minlength=len(self.classes))

    def class_numbers(self) -> npt.NDArray[np.int64]:
        """Return y as 0, 1, ..., for any number of classes.

        Returns
        -------
        int array of shape (n_samples,)
            The number of the class of each row.
        """
        if len(self.classes) == 1:
            return np.zeros(self.n_rows, dtype=np.int64)
        y = self.y.astype(np.int64)
        return (y + 1) // 2 if len(self.classes) == 2 else y


def as_weights(
    sample_weight: Any, n_rows: int, all_rows: bool = True
) -> npt.NDArray[np.float64] | None:
    """One finite weight >= 0 per row; a number stands for all rows.

    If these are `all_rows` there are, the weights may not all be 0.
    """
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight)
        if weights.dtype.kind == "O" and all(isinstance(v, Number) for v in weights.flat):
            weights = weights.astype(np.float64)
    except (TypeError, ValueError) as e:
        raise DataError(f"sample_weight is not a list of numbers: {e}.") from e
    if weights.dtype.kind not in "fiub":
        raise DataTypeError(f"sample_weight has dtype {weights.dtype}; give numbers.")
    weights = weights.astype(np.float64)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.ndim != 1:
        raise DataError(
            f"Sample weights must be 1D array or scalar, got {weights.ndim}D array. Give one "
            "weight per row."
        )
    if weights.size != n_rows:
        raise DataError(
            f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}! Give one weight per "
            "row."
        )
    check_finite(weights, "sample_weight")
    if (weights < 0).any():
        raise DataError(
            f"Negative values in sample_weight ({weights.min():g}): weights must not "
            "be negative. Use weights >= 0, and flip the label if the opposite is meant."
        )
    if all_rows and not weights.any():
        raise DataError("Sample weights must contain at least one non-zero number; all are 0.")
    return weights
