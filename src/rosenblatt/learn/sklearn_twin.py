"""Scikit-learn twin: the same hyperplanes as a fitted scikit-learn estimator."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rosenblatt.learn.linear import LinearModel


def sklearn_twin(model: LinearModel, *, encoded: bool = False) -> Any:
    """A fitted ``sklearn.linear_model.Perceptron``; it can also go on with `partial_fit`.

    It takes over the parameters that both have. The arrays are copies.
    """
    from sklearn.linear_model import Perceptron

    model.check_leaves(encoded)
    known = set(inspect.signature(Perceptron).parameters) - {"n_jobs", "verbose"}
    shared = {k: v for k, v in model.options.items() if k in known}
    if shared.get("shuffle") == "sample":  # draws with replacement, which scikit-learn lacks
        del shared["shuffle"]
    if isinstance(shared.get("tol"), str):  # "-inf" in a file: JSON has no such number
        shared["tol"] = float(shared["tol"])
    twin = Perceptron(**shared)
    twin.coef_ = model.coef.copy()
    twin.intercept_ = model.intercept.copy()
    twin.classes_ = model.classes.copy()
    twin.n_features_in_ = model.n_features
    twin.n_iter_ = int(model.training.get("passes", 1))
    twin.t_ = 1.0 + twin.n_iter_ * int(model.training.get("rows", 0))
    if model.feature_names:
        twin.feature_names_in_ = np.array(model.feature_names, dtype=object)
    return twin
