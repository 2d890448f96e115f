"""Base: validation of rows, attributes of fitted models, and failures that change nothing."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from rosenblatt.data.labels import as_labels
from rosenblatt.data.matrix import as_matrix
from rosenblatt.errors import DataError, DataTypeError


def unchanged_on_error(method: Callable[..., Any]) -> Callable[..., Any]:
    """A failed fit leaves the estimator as it was."""

    @functools.wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return guarded


class FittedAttribute:
    """An attribute of a fitted model, kept in `_fitted`.

    A model that learns one row at a time makes its attributes when one of them is first read.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self
        estimator._make_attributes()
        fitted = estimator.__dict__.get("_fitted", {})
        if self.name in fitted:
            return fitted[self.name]
        if self.name in ("coef_", "intercept_") and "votes_" in fitted:
            raise AttributeError(
                f"keep='vote' has no {self.name}: it keeps all hyperplanes, in votes_ (w, b, "
                "counts)."
            )
        raise AttributeError(f"{type(estimator).__name__!r} object has no attribute {self.name!r}")

    def __set__(self, estimator: Any, value: Any) -> None:
        estimator._make_attributes()
        estimator.__dict__["_fitted"] = {**estimator.__dict__.get("_fitted", {}), self.name: value}

    def __delete__(self, estimator: Any) -> None:
        estimator._make_attributes()
        fitted = dict(estimator.__dict__.get("_fitted", {}))
        del fitted[self.name]
        estimator.__dict__["_fitted"] = fitted


class RowsMixin:
    """An estimator that validates its rows and compares their columns with those of training."""

    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of BaseEstimator
        tags.input_tags.sparse = True
        return tags

    def _matrix(self, X: Any, y: Any = False, *, reset: bool) -> Any:
        """X checked, and its feature names remembered or compared."""
        if y is None:
            as_labels(y)
        checked = as_matrix(X, ordered=False)
        try:
            validate_data(self, X, reset=reset, skip_check_array=True)
            if not reset and checked.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"X has {checked.shape[1]} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
        except TypeError as e:
            raise DataTypeError(str(e)) from e
        except ValueError as e:
            raise DataError(f"{str(e).strip()} Give the columns the model was trained on.") from e
        self.n_features_in_ = int(checked.shape[1])
        return checked


def warn_of_max_iter(stacklevel: int) -> None:
    """Warn that `max_iter` ended training, in the words of scikit-learn."""
    warnings.warn(
        "Maximum number of iteration reached before convergence. Consider increasing max_iter to "
        "improve the fit.",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )
