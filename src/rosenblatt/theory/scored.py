"""Scored: labelled rows under one hyperplane, and their margins y (w.x + b)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.problem import Matrix, Problem, as_labels
from rosenblatt.errors import DataError, LabelError

Array = npt.NDArray[Any]


def two_classes(X: Any, y: Any) -> Problem:
    """Rows with labels of two classes; -1 and +1 mean themselves, even if one is absent."""
    labels = as_labels(y)
    plain = labels.dtype.kind in "iuf" and bool(np.isin(labels, (-1, 1)).all())
    problem = Problem.of(X, y, classes=[-1, 1] if plain else None)
    if len(problem.classes) != 2:
        raise LabelError(
            f"y needs two classes, got {len(problem.classes)} "
            f"({', '.join(map(repr, problem.classes.tolist()[:5]))}). Give labels of two classes."
        )
    return problem


@dataclass(frozen=True, eq=False)
class Scored:
    """Rows X, labels y in {-1, +1}, and margins s_n = y_n (w.x_n + b) in float64."""

    X: Matrix
    y: Array
    margins: Array

    @classmethod
    def of(cls, X: Any, y: Any, w: Any, b: Any = 0.0) -> Scored:
        problem = two_classes(X, y)
        weights, offset = _plane(w, b, problem.n_features)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = np.asarray(problem.X @ weights, dtype=np.float64) + offset
        if not np.isfinite(scores).all():
            raise DataError(
                "w.x + b leaves the range of floats for some rows. Divide X or w by a power of two."
            )
        return cls(problem.X, problem.y, problem.y * scores)


def _plane(w: Any, b: Any, d: int) -> tuple[Array, float]:
    """w of length d and a number b: also as an estimator has them, (1, d) and (1,)."""
    weights = np.asarray(w, dtype=np.float64).reshape(-1)
    offset = np.asarray(b, dtype=np.float64).reshape(-1)
    if weights.shape != (d,) or offset.shape != (1,):
        raise DataError(
            f"w has shape {np.shape(w)} and b {np.shape(b)}, but X has {d} features. Give {d} "
            "weights and one offset."
        )
    if not (np.isfinite(weights).all() and np.isfinite(offset).all()):
        raise DataError("w or b is not finite. Give finite weights.")
    return weights, float(offset[0])
