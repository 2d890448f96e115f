"""Rows in: how every estimator takes its rows, and what a failure leaves behind."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from sklearn.utils.validation import validate_data

from rosenblatt.data.problem import as_labels, as_matrix
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


class TakesRows:
    """An estimator that checks its rows, and knows their columns again."""

    n_features_in_: int

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
