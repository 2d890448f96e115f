"""Models: what a picture needs to know of a fitted estimator, and what to do if it is not there."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.chunks import frame_names
from rosenblatt.errors import DataError, NotSupportedError, ParameterError
from rosenblatt.learn.trace import OneVsRestTrace, Record, Trace

Array = npt.NDArray[Any]


def check_fitted(estimator: Any) -> None:
    """scikit-learn's NotFittedError, with what to do."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(
        estimator,
        msg="this %(name)s is not fitted, so there is nothing to draw. Call fit(X, y) first.",
    )


def trace_of(source: Any, label: Any = None) -> Trace:
    """The one trace of a run on two classes, or of the class `label` against the rest."""
    trace = any_trace(source)
    if isinstance(trace, OneVsRestTrace):
        if label is None:
            raise ParameterError(
                f"this run has one trace for each of {len(trace)} classes. Say which is meant: "
                f"label={trace.classes.tolist()[0]!r}, for example."
            )
        if label not in trace.classes.tolist():
            raise ParameterError(
                f"label must be one of the classes {trace.classes.tolist()}, got {label!r}."
            )
        return trace.of(label)
    return trace


def any_trace(source: Any) -> Trace | OneVsRestTrace:
    """The trace of a fitted estimator, or the trace itself; never one without a pass."""
    if not isinstance(source, (Trace, OneVsRestTrace)):
        check_fitted(source)
        source = getattr(source, "trace_", None)
        if not isinstance(source, (Trace, OneVsRestTrace)):
            raise ParameterError(
                "only a rosenblatt.Perceptron keeps the trace of its run. Fit one, or pass a Trace."
            )
    if source.n_epochs == 0:
        raise ParameterError("this trace is empty: no pass was made. Fit with max_iter >= 1.")
    return source


def record_of(trace: Trace) -> Record:
    """The updates one by one; at least one."""
    if trace.record is None:
        raise ParameterError(
            "this run did not keep its weights after each update. Fit again with "
            'Perceptron(record="updates").'
        )
    if len(trace.record) == 0:
        raise ParameterError(
            "this run made no update, so no weights moved: there is nothing to draw. It started "
            "where every row was right, or under tie='correct' at zero. Try another start: init=."
        )
    if trace.record.w.ndim != 2:
        raise NotSupportedError(
            'multiclass="direct" moves the weights of all classes at once, and this picture is of '
            'one hyperplane. Fit with multiclass="ovr", or on two classes.'
        )
    return trace.record


def start_of(record: Record) -> tuple[Array, float] | None:
    """Where the recorded run began, if the record knows."""
    if record.setting is None:
        return None
    w, b = record.setting.start
    return np.asarray(w, dtype=np.float64).ravel(), float(np.ravel(b)[0])


def check_trained_on(record: Record, X: Array, signs: Array) -> None:
    """These must be the rows of the run, with their labels, where the record knows them."""
    problem = None if record.setting is None else record.setting.problem
    if problem is None:  # a trace that was stored or copied has no rows
        return
    own = problem.X.toarray() if hasattr(problem.X, "toarray") else problem.X
    if not np.array_equal(own, X) or not np.array_equal(problem.y, signs):
        raise DataError(
            "X and y are not the rows and labels this run was made on, or were changed since, so "
            "its updates are not theirs. Give those it was fitted on."
        )


def scores_of(estimator: Any, rows: Any) -> Array:
    """One column a class; the largest wins. Two classes: -s and s."""
    for name in ("decision_function", "predict_proba"):
        if hasattr(estimator, name):
            found = np.asarray(getattr(estimator, name)(rows), dtype=np.float64)
            return np.column_stack([-found, found]) if found.ndim == 1 else found
    raise NotSupportedError(
        f"{type(estimator).__name__} has neither decision_function nor predict_proba, so where its "
        "classes meet is not known. Use a classifier with one of them."
    )


def quiet_scores(estimator: Any, X: Any, grid: Array) -> Array:
    """Scores of points of a grid, held in a frame like X if X is one."""
    names = frame_names(X)
    rows: Any = grid
    if names is not None and type(X).__module__.split(".")[0] in ("pandas", "polars"):
        key = "columns" if hasattr(X, "iloc") else "schema"
        rows = type(X)(grid, **{key: list(names)})
    with warnings.catch_warnings():  # the names were checked on X itself
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return scores_of(estimator, rows)
