"""Losses: hard, soft, hinge, logistic and squared, as functions of the margin s = y (w.x + b).

    hard      1 if s < 0, else 0         chan's J_hard; a step
    soft      max(-s, 0)                 chan's J_soft, the perceptron loss
    hinge     max(1 - s, 0)
    logistic  log(1 + exp(-s))           minus the log-likelihood
    squared   (1 - s)^2                  = (g - y)^2, since y^2 = 1

`value` sums a loss over rows, `gradient` differentiates the sum by w and b: the slope of the loss
times y (x, 1), summed. Where a loss has a corner the slope is the one from the right (chan: the
gradient of max(-s, 0) is 0 at s = 0), so that at w = 0 nothing moves. Sums are the lectures' J;
`mean=True` divides by the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from rosenblatt.data.labels import as_labels
from rosenblatt.data.problem import Problem
from rosenblatt.errors import DataError, LabelError, NotSupportedError, ParameterError
from rosenblatt.theory.validation import as_plane

Array = npt.NDArray[Any]
TIES = ("mistake", "positive", "correct", "half")


def hard(margin: Any) -> Array:
    """1 where the margin is negative, else 0. A margin of 0 has no loss, as in chan.

    >>> hard([-2.0, 0.0, 3.0])
    array([1., 0., 0.])
    """
    return np.asarray(np.less(margin, 0), dtype=np.float64)


def soft(margin: Any) -> Array:
    """max(-s, 0): how far on the wrong side.

    >>> soft([-2.0, 0.0, 3.0])
    array([2., 0., 0.])
    """
    return np.maximum(-np.asarray(margin, dtype=np.float64), 0.0)


def hinge(margin: Any) -> Array:
    """max(1 - s, 0): how much less than 1.

    >>> hinge([-2.0, 0.0, 3.0])
    array([3., 1., 0.])
    """
    return np.maximum(1.0 - np.asarray(margin, dtype=np.float64), 0.0)


def logistic(margin: Any) -> Array:
    """log(1 + exp(-s)), for any margin without overflow.

    >>> logistic([0.0, 800.0, -1e300])
    array([6.93147181e-001, 0.00000000e+000, 1.00000000e+300])
    """
    return np.logaddexp(0.0, -np.asarray(margin, dtype=np.float64))


def squared(margin: Any) -> Array:
    """(1 - s)^2; infinite where that overflows.

    >>> squared([-2.0, 0.0, 3.0])
    array([9., 1., 4.])
    """
    with np.errstate(over="ignore"):
        return np.square(1.0 - np.asarray(margin, dtype=np.float64))


LOSSES: dict[str, Callable[[Any], Array]] = {
    "hard": hard,
    "soft": soft,
    "hinge": hinge,
    "logistic": logistic,
    "squared": squared,
}

# the derivative by the margin; at a corner, from the right
SLOPES: dict[str, Callable[[Array], Array]] = {
    "soft": lambda s: -np.less(s, 0).astype(np.float64),
    "hinge": lambda s: -np.less(s, 1).astype(np.float64),
    "logistic": lambda s: -expit(-s),
    "squared": lambda s: 2.0 * (s - 1.0),
}


@dataclass(frozen=True, eq=False)
class Gradient:
    """The derivatives of a loss by the weights and by the offset."""

    w: Array
    b: float


def value(loss: str, X: Any, y: Any, w: Any, b: Any = 0.0, *, mean: bool = False) -> float:
    """The loss of the hyperplane (w, b), summed over the rows.

    Parameters
    ----------
    loss : {'hard', 'soft', 'hinge', 'logistic', 'squared'}
    X : array, frame or CSR matrix of shape (n, d)
    y : labels of two classes; the second in sorted order is +1
    w : d weights, also as `coef_` has them
    b : the offset, default=0
    mean : bool, default=False
        Divide by n. The lectures sum.

    Examples
    --------
    >>> X, y = [[1, 2], [-1, 2], [0, -1]], [1, -1, -1]
    >>> value("soft", X, y, [2.0, 1.2]), value("hard", X, y, [2.0, 1.2])
    (0.3999999999999999, 1.0)
    """
    losses = _chosen(loss, LOSSES)(margins(two_classes(X, y), w, b))
    with np.errstate(over="ignore"):
        return float(losses.mean() if mean else losses.sum())


def gradient(loss: str, X: Any, y: Any, w: Any, b: Any = 0.0, *, mean: bool = False) -> Gradient:
    """The gradient of `value` by w and b; at a corner, the subgradient from the right.

    For the soft loss it is minus the sum of y (x, 1) over the misclassified rows, so that
    chan's step is w - alpha * gradient.

    Parameters
    ----------
    loss : {'soft', 'hinge', 'logistic', 'squared'}
        The hard loss is a step: its gradient is 0 wherever it exists.
    X, y, w, b, mean : as for `value`

    Examples
    --------
    >>> X, y = [[1, 2], [-1, 2], [0, -1]], [1, -1, -1]
    >>> found = gradient("soft", X, y, [2.0, 1.2])
    >>> found.w, found.b
    (array([-1.,  2.]), 1.0)
    """
    if loss == "hard":
        raise NotSupportedError(
            "the hard loss is a step: its gradient is 0 wherever it has one. Descend on 'soft'."
        )
    slope = _chosen(loss, SLOPES)
    rows = two_classes(X, y)
    with np.errstate(over="ignore"):
        signed = slope(margins(rows, w, b)) * rows.y / (len(rows.y) if mean else 1)
        return Gradient(np.asarray(rows.X.T @ signed, dtype=np.float64), float(signed.sum()))


def misclassified(X: Any, y: Any, w: Any, b: Any = 0.0, *, tie: str = "correct") -> Array:
    """M(theta): the numbers of the rows on the wrong side.

    Parameters
    ----------
    X, y, w, b : as for `value`
    tie : {'correct', 'mistake', 'positive', 'half'}, default='correct'
        What a score of exactly 0 is (docs/explanation/conventions.md). chan: never a mistake.
        'mistake' and 'half': always one; 'positive': for the negative class only.

    Examples
    --------
    >>> X, y = [[1, 2], [-1, 2], [0, -1]], [1, -1, -1]
    >>> misclassified(X, y, [2.0, 1.2]), misclassified(X, y, [0.0, 0.0])
    (array([1]), array([], dtype=int64))
    >>> misclassified(X, y, [0.0, 0.0], tie="mistake")
    array([0, 1, 2])
    """
    if tie not in TIES:
        raise ParameterError(f"tie must be one of {', '.join(map(repr, TIES))}, got {tie!r}.")
    rows = two_classes(X, y)
    s = margins(rows, w, b)
    on = (s == 0) & (tie != "correct")
    if tie == "positive":
        on &= rows.y < 0
    return np.flatnonzero((s < 0) | on)


def _chosen(loss: str, among: dict[str, Callable[[Any], Array]]) -> Callable[[Any], Array]:
    if loss not in among:
        raise ParameterError(f"loss must be one of {', '.join(map(repr, among))}, got {loss!r}.")
    return among[loss]


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


def margins(rows: Problem, w: Any, b: Any) -> Array:
    """y (w.x + b) of each row, in float64."""
    weights, offset = as_plane(w, b, rows.n_features)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = np.asarray(rows.X @ weights, dtype=np.float64) + offset
    if not np.isfinite(scores).all():
        raise DataError(
            "w.x + b leaves the range of floats for some rows. Divide X or w by a power of two."
        )
    return np.asarray(rows.y * scores)
