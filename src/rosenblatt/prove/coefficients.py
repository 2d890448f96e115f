"""Coefficients: which maximum-likelihood coefficients are finite, and which are not.

The log-likelihood of a logistic or probit regression is sum_i log F(w.z_i), z_i = y_i (x_i, 1),
with log F strictly concave, increasing to 0 and without bound below. It never falls along w if
w.z_i >= 0 for all i: the cone C of these w decides everything. Let F be the rows that all of C is
orthogonal to. Along every sequence of weights whose likelihood tends to its supremum, w.z_i
converges for the rows of F to the maximum-likelihood fit of F alone, and tends to infinity for
all others. Hence coefficient j

- converges, to the same number each time, if e_j is a combination of the rows of F;
- tends to +inf if e_j = sum_i c_i z_i with c_i >= 0 off F and c_i > 0 for some, that is, if
  w_j >= 0 on C and > 0 somewhere; to -inf likewise;
- can be sent either way if w_j takes both signs on C;
- is not identified if some w with w.z_i = 0 for all i has w_j != 0: collinear columns.
"""

from __future__ import annotations

from typing import Any

from rosenblatt.data.cone import as_cone
from rosenblatt.errors import UndecidedError
from rosenblatt.prove.certificate.coefficients import (
    Coefficient,
    Coefficients,
    State,
    items_of,
    names_of,
)
from rosenblatt.prove.infinite import words
from rosenblatt.prove.infinite.columns import Columns
from rosenblatt.prove.infinite.search import search
from rosenblatt.prove.infinite.signs import Clock
from rosenblatt.prove.separability import separability

__all__ = ["Coefficient", "Coefficients", "State", "infinite_coefficients"]


def infinite_coefficients(
    X: Any,
    y: Any = None,
    feature_names: Any = None,
    *,
    fit_intercept: bool = True,
    max_seconds: float | None = None,
) -> Coefficients:
    """Which coefficients of a logistic or probit regression are infinite, with proof.

    Parameters
    ----------
    X : array, CSR matrix or frame of shape (n, d)
    y : labels of two classes
        The second in sorted order is the one whose probability is modelled.
    feature_names : sequence of d names, optional
        Default: the columns of a frame, else x0, x1, ...
    fit_intercept : bool, default=True
        Whether the model has an intercept; it is a coefficient like the others.
    max_seconds : float, optional
        Give up with `UndecidedError` after this time. It says how far it came.

    Returns
    -------
    Coefficients
        `states` maps each name to "finite", "+inf", "-inf", "undetermined" (it can be sent
        either way) or "not identified" (collinear columns; `drop` names columns to leave out,
        `reduced` the states after that). `verify(X, y)` checks all proofs.

    Examples
    --------
    >>> X = [[0, 1], [1, 2], [0, 3], [0, 2], [0, 4], [0, 3]]
    >>> found = infinite_coefficients(X, [0, 1, 1, 0, 1, 0], ["exposed", "dose"])
    >>> found.states["exposed"], found.states["dose"], found.states["intercept"]
    ('+inf', '+inf', '-inf')
    >>> bool(found.verify(X, [0, 1, 1, 0, 1, 0]))
    True
    """
    clock = Clock(max_seconds)
    rows = as_cone(X, y)
    names = names_of(rows, feature_names, fit_intercept)
    certificate = separability(rows, fit_intercept=fit_intercept, max_seconds=max_seconds)
    columns = Columns.of(rows)
    evidence, claims = search(rows, certificate, columns, clock)
    told = words.Facts(names, columns, evidence)
    result = Coefficients(items=items_of(names, evidence, claims, told), evidence=evidence)
    wrong = result._untrue(rows, columns)
    if wrong:
        raise UndecidedError(f"a proof did not verify: {'; '.join(wrong[:3])}.")
    return result
