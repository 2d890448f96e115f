"""TableEncoder: frames with texts, dates and missing values to numbers, for scikit-learn."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from rosenblatt._core import FeatureIndex
from rosenblatt.errors import ParameterError
from rosenblatt.features.feature_index import check_bits
from rosenblatt.features.frames import batch_of_frame
from rosenblatt.features.table_features import TableFeatures


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """Turn the columns of a frame into features: numbers as they are, categories by name.

    A text is the feature `column=text` with value 1. A date is a number of days since 1970, and its
    month, weekday and hour. A missing value is the feature `column=missing`. See
    docs/how-to/columns.md.

    Parameters
    ----------
    kinds : dict, optional
        "number", "category", "date" or "drop" for some columns; the others have the kind of their
        type.
    missing : list of str, default=()
        Texts that mean that a value is missing, besides None and NaN.
    hash_bits : int, optional
        Hash the names to 2**hash_bits columns instead of keeping them.

    Attributes
    ----------
    table_ : TableFeatures
        Kinds of the columns, and the index of the features.
    n_features_in_ : int
        Columns of the frame.
    feature_names_in_ : array of str
        Their names.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [30.0, None], "city": ["Rome", "Oslo"]})
    >>> encoder = TableEncoder().fit(frame)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'city=Rome', 'age=missing', 'city=Oslo']
    >>> encoder.transform(frame).toarray()
    array([[30.,  1.,  0.,  0.],
           [ 0.,  0.,  1.,  1.]])
    """

    def __init__(
        self,
        kinds: Mapping[str, str] | None = None,
        missing: Collection[str] = (),
        hash_bits: int | None = None,
    ) -> None:
        self.kinds = kinds
        self.missing = missing
        self.hash_bits = hash_bits

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn the kinds of the columns and the names of the features.

        Parameters
        ----------
        X : DataFrame
            Numbers, texts, dates, booleans and None.
        y : ignored
            As scikit-learn's transformers have it.

        Returns
        -------
        TableEncoder
            This encoder.

        Raises
        ------
        DataError
            If X is not a frame, or holds other types than numbers, texts, dates and None.
        """
        self._learn(X)
        return self

    def transform(self, X: Any) -> Any:
        """The features of each row.

        Parameters
        ----------
        X : DataFrame
            The columns are found by name.

        Returns
        -------
        CSR matrix of float64
            One row per row of X.

        Raises
        ------
        DataError
            If a column is not there, or is of another kind.
        """
        check_is_fitted(self)
        table: TableFeatures = self.table_
        batch = batch_of_frame(X, table.kinds, self.missing, table.kinds)
        return _matrix(table.encode(batch, grow=False))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the features of the same rows.

        Parameters
        ----------
        X : DataFrame
            Numbers, texts, dates, booleans and None.
        y : ignored
            As scikit-learn's transformers have it.

        Returns
        -------
        CSR matrix of float64
            One row per row of X.
        """
        return _matrix(self._learn(X))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """The name of each feature.

        Parameters
        ----------
        input_features : ignored
            As scikit-learn's transformers have it.

        Returns
        -------
        array of str
            In the order of the columns of `transform`.
        """
        check_is_fitted(self)
        if self.hash_bits is not None:
            return np.array([f"hash{k}" for k in range(self.table_.n_features)], object)
        return np.array(self.table_.feature_names, object)

    def _learn(self, X: Any) -> Any:
        bits = self.hash_bits
        if bits is not None:
            check_bits(bits, "hash_bits")
        if isinstance(self.missing, str):
            raise ParameterError(f"missing must be a list of texts, got {self.missing!r}.")
        batch = batch_of_frame(X, self.kinds, self.missing)
        table = TableFeatures.of_batch(batch, FeatureIndex(bits))
        found = table.encode(batch)
        self.table_ = table
        self.n_features_in_ = len(batch.names)
        self.feature_names_in_ = np.array(batch.names, object)
        return found


def _matrix(X: Any) -> Any:
    if not hasattr(X, "indptr"):
        return sp.csr_matrix(X)
    return sp.csr_matrix((X.data, X.indices, X.indptr), X.shape)
