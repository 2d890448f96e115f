"""What a picture needs from a fitted model: its trace, its recorded updates, its scores."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.data.chunks import frame_names
from rosenblatt.errors import DataError, NotSupportedError, ParameterError
from rosenblatt.learn.trace import OneVsRestTrace, Record, Trace
from rosenblatt.plot.plane import Array, Points, dense


def check_fitted(estimator: Any) -> None:
    """Raise scikit-learn's NotFittedError, with what to do."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(
        estimator,
        msg="this %(name)s is not fitted, so there is nothing to draw. Call fit(X, y) first.",
    )


def any_trace(source: Any) -> Trace | OneVsRestTrace:
    """The trace of a fitted Perceptron, or the trace itself; never one without an epoch."""
    if not isinstance(source, (Trace, OneVsRestTrace)):
        check_fitted(source)
        source = getattr(source, "trace_", None)
        if not isinstance(source, (Trace, OneVsRestTrace)):
            raise ParameterError(
                "only a rosenblatt.Perceptron keeps the trace of its run. Fit one, or pass a Trace."
            )
    if source.n_epochs == 0:
        raise ParameterError("this trace is empty: no epoch was run. Fit with max_iter >= 1.")
    return source


def trace_of(source: Any, label: Any = None) -> Trace:
    """The trace of a run on two classes, or of the class `label` against the rest."""
    trace = any_trace(source)
    if isinstance(trace, Trace):
        return trace
    classes = trace.classes.tolist()
    if label is None:
        raise ParameterError(
            f"this run has one trace for each of {len(trace)} classes. Choose one, for example "
            f"label={classes[0]!r}."
        )
    if label not in classes:
        raise ParameterError(f"label must be one of the classes {classes}, got {label!r}.")
    return trace.of(label)


@dataclass(frozen=True, eq=False)
class WeightPath:
    """The weights of a run before the first update, if known, and after each.

    Attributes
    ----------
    updates : ndarray of int
        How many updates had been made; 0 is the start.
    w : ndarray of shape (n, d)
        The weights.
    b : ndarray of shape (n,)
        The offset.
    record : Record
        What the run recorded.
    """

    updates: Array
    w: Array
    b: Array
    record: Record

    @classmethod
    def of(cls, source: Any, label: Any = None) -> WeightPath:
        """From a fitted Perceptron or a Trace that recorded its updates."""
        record = _record(trace_of(source, label))
        w, b = np.asarray(record.w, dtype=np.float64), np.ravel(record.b).astype(np.float64)
        updates = np.arange(1, len(record) + 1)
        if record.setting is not None:
            first_w, first_b = record.setting.start
            w, b = np.vstack([np.ravel(first_w), w]), np.append(np.ravel(first_b)[:1], b)
            updates = np.arange(len(record) + 1)
        return cls(updates, w, b, record)

    def check_rows(self, points: Points) -> None:
        """Raise DataError unless these are the rows and labels of the run, where it knows them."""
        problem = None if self.record.setting is None else self.record.setting.problem
        if problem is None:  # a trace that was stored or copied has no rows
            return
        same = np.array_equal(dense(problem.X), points.X)
        if not same or not np.array_equal(problem.y, points.signs):
            raise DataError(
                "X and y are not the rows and labels this run was made on, or were changed since. "
                "Pass those it was fitted on."
            )


def _record(trace: Trace) -> Record:
    """The updates one by one; at least one."""
    if trace.record is None:
        raise ParameterError(
            "this run did not keep its weights after each update. Fit again with "
            'Perceptron(record="updates").'
        )
    if len(trace.record) == 0:
        raise ParameterError(
            "this run made no update, so there is nothing to draw. It started where every row was "
            "right, or at zero with tie='correct'. Try another start: init=."
        )
    if trace.record.w.ndim != 2:
        raise NotSupportedError(
            'multiclass="direct" moves the weights of all classes at once, and this picture is of '
            'one hyperplane. Fit with multiclass="ovr", or on two classes.'
        )
    return trace.record


def scores_on_grid(estimator: Any, X: Any, grid: Array) -> Array:
    """Scores of points of a grid, one column per class; the largest wins."""
    name = next((n for n in ("decision_function", "predict_proba") if hasattr(estimator, n)), None)
    if name is None:
        raise NotSupportedError(
            f"{type(estimator).__name__} has neither decision_function nor predict_proba, so its "
            "decision boundary is unknown. Use a classifier with one of them."
        )
    rows: Any = grid
    if type(X).__module__.split(".")[0] in ("pandas", "polars"):
        key = "columns" if hasattr(X, "iloc") else "schema"
        rows = type(X)(grid, **{key: list(frame_names(X) or ())})
    with warnings.catch_warnings():  # the names were checked on X itself
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        scores = np.asarray(getattr(estimator, name)(rows), dtype=np.float64)
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
