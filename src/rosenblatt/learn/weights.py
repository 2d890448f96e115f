"""Weights: where training starts, and how much each row counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.problem import Problem, as_weights
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.learn.rules import Rosenblatt
from rosenblatt.learn.schedule import generator
from rosenblatt.learn.update import Update

Array = npt.NDArray[Any]


def start_weights(
    init: Any,
    coef_init: Any,
    intercept_init: Any,
    problem: Problem,
    random_state: Any,
    update: Update,
    direct: bool = False,
) -> tuple[Array, Array]:
    """The first weights: W of shape (rows, d) and b of shape (rows,), one row for two classes."""
    d = problem.n_features
    rows = 1 if len(problem.classes) <= 2 else len(problem.classes)
    dtype = problem.X.dtype
    w, b = np.zeros((rows, d), dtype), np.zeros(rows, dtype)
    names = ("coef_init", "intercept_init")
    if coef_init is None and intercept_init is None and not isinstance(init, str):
        coef_init, intercept_init = _apart(init, rows, d, update.fit_intercept)
        names = ("init", "init")
    elif coef_init is None and isinstance(init, str) and init == "random":
        rng = generator(random_state)
        w = rng.standard_normal((rows, d)).astype(dtype)
        if update.fit_intercept:
            b = rng.standard_normal(rows).astype(dtype)
    if coef_init is not None:
        w = _shaped(coef_init, (rows, d), names[0], dtype)
    if intercept_init is not None:
        b = _shaped(intercept_init, (rows,), names[1], dtype)
    never = update.tie == "correct" and isinstance(update.rule, Rosenblatt)
    flat = not (w.any(axis=1) | (b != 0)).all()
    level = direct and not (np.ptp(w, axis=0).any() or np.ptp(b))  # the direct rule's zero
    if never and (flat or level):
        raise ParameterError(
            "tie='correct' never counts a score of 0 as a mistake, and from w = 0 every score is "
            "0: nothing would ever be learned. Give a start (init='random' or an array), or use "
            "tie='mistake'."
        )
    return w, b


def _shaped(values: Any, shape: tuple[int, ...], name: str, dtype: Any) -> Array:
    try:
        with np.errstate(over="ignore"):
            given = values.toarray() if hasattr(values, "toarray") else values
            array = np.array(given, dtype=np.float64).astype(dtype)
    except (TypeError, ValueError) as e:
        raise DataError(f"{name} holds something that is not a number: {e}.") from e
    if array.size == np.prod(shape) and (array.shape == shape or shape[0] == 1):
        array = array.reshape(shape)
    if array.shape != shape:
        raise DataError(
            f"Provided {name} does not match dataset: its shape is {array.shape}, expected "
            f"{shape}. (With warm_start, it is that of the last fit.)"
        )
    if not np.isfinite(array).all():
        raise DataError(
            f"{name} holds NaN, infinity or a value too large for {dtype}. Start from finite "
            "weights."
        )
    return array


def _apart(init: Any, rows: int, d: int, intercept: bool) -> tuple[Array, Array | None]:
    """An `init` array as weights and, if one more column came along, offsets."""
    try:
        array = np.array(init, dtype=np.float64)
    except (TypeError, ValueError) as e:
        raise ParameterError(f"init must be 'zero', 'random' or an array, got {init!r}.") from e
    if rows == 1 and array.ndim == 1:
        array = array[None]
    if array.shape == (rows, d + 1) and intercept:
        return array[:, :d], array[:, d]
    if array.shape != (rows, d):
        shown = f"shape {array.shape}" if array.ndim else repr(init)
        raise ParameterError(
            f"init must be 'zero', 'random' or an array of the shape of coef_, {(rows, d)}"
            + (f", or {(rows, d + 1)} with the offset as last column" if intercept else "")
            + f". Got {shown}."
        )
    return array, None


def class_weights(class_weight: Any, problem: Problem, counts: Array | None = None) -> Array | None:
    """One weight per class, or None for all ones.

    "balanced": rows / (classes * rows of the class), from `counts` where given.
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        counts = problem.counts() if counts is None else counts
        balanced: Array = counts.sum() / (len(problem.classes) * np.maximum(counts, 1))
        return balanced
    known = problem.classes.tolist()
    strangers = [label for label in class_weight if label not in known]
    if strangers and any(label not in class_weight for label in known):
        raise ParameterError(
            f"class_weight names {strangers}, which are not among the classes {known}."
        )
    try:
        weights = np.array([float(class_weight.get(label, 1.0)) for label in known])
    except (TypeError, ValueError) as e:
        raise ParameterError(f"class_weight must hold numbers, got {class_weight!r}.") from e
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ParameterError(
            f"class_weight must hold finite weights >= 0, not all 0, got {class_weight!r}."
        )
    return weights


def row_weights(problem: Problem, weights: Array | None, versus: int | None = None) -> Array | None:
    """Sample weight times class weight. One against the rest, the rest weighs 1."""
    if weights is None:
        return problem.sample_weight
    number = problem.class_numbers()
    if versus is None:
        each = weights[number]
    else:
        each = np.where(number == versus, weights[versus], 1.0)
    if problem.sample_weight is not None:
        each = each * problem.sample_weight
    return as_weights(each, problem.n_rows)
