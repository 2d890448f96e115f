"""Minimum: the soft loss made to tell separable data from others.

J_soft(0) = 0 on any data, so the plain minimum says nothing. The normalised problem does:

    minimise  J(w, b) = sum_n max(-s_n, 0)    subject to  mean_n s_n = 1,   s_n = y_n (w.x_n + b)

Its dual is: maximise n v, with weights c_n between v and v + 1 that cancel, sum_n c_n z_n = 0,
z_n = y_n (x_n, 1). So the minimum is 0 unless positive weights on all rows cancel, which is to
say, unless the classes overlap (Stiemke); and nothing is feasible if sum_n z_n = 0, which is
an overlap that equal weights prove. The certificate decides exactly which of these holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.chunks import as_rows
from rosenblatt.data.problem import check_kept_by_floats
from rosenblatt.errors import DataError, Undecided
from rosenblatt.learn.trace import Trace
from rosenblatt.prove import verify as checker
from rosenblatt.prove.certificate import Certificate, QuasiSeparable, Separable
from rosenblatt.theory.scored import Scored, two_classes

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class SoftMinimum:
    """The least soft loss among hyperplanes with a mean margin of 1.

    Attributes
    ----------
    value : float
        The loss of (w, b), recomputed from the rows. Exactly 0.0 if and only if the certificate
        says separable or quasi-separable; inf if no hyperplane has a positive mean margin.
    w, b : array, float
        A hyperplane that attains it, to the accuracy of the solver; with value 0, the one of
        the certificate, rounded. NaN if there is none.
    certificate : Certificate
        What proves that the value is 0, or that it is not.
    solver : str
        What found (w, b): 'highs', or 'certificate' where no program was needed.
    """

    value: float
    w: Array
    b: float
    certificate: Certificate
    solver: str

    @property
    def feasible(self) -> bool:
        """Whether some hyperplane has mean margin 1."""
        return self.value < math.inf

    def __str__(self) -> str:
        verdict = self.certificate.verdict
        if not self.feasible:
            return f"no hyperplane has a positive mean margin: the classes are {verdict}, proven"
        if self.value == 0:
            return f"soft loss 0 at mean margin 1, exactly: the classes are {verdict}, proven"
        return (
            f"least soft loss {self.value:.9g} at mean margin 1 ({self.solver}); that it is not 0 "
            f"is proven: the classes are {verdict}"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def soft_minimum(X: Any, y: Any, *, fit_intercept: bool = True) -> SoftMinimum:
    """Minimise the sum of the soft loss over hyperplanes with a mean margin of 1.

    Parameters
    ----------
    X : array, frame or CSR matrix of shape (n, d)
    y : labels of two classes
    fit_intercept : bool, default=True
        Hyperplanes with an offset, or through the origin.

    Returns
    -------
    SoftMinimum
        Its value is 0.0 exactly if the classes are separable or quasi-separable.

    Examples
    --------
    >>> found = soft_minimum([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
    >>> round(found.value, 8), found.certificate.verdict
    (2.0, 'overlapping')
    >>> soft_minimum([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]).value
    0.0
    """
    from rosenblatt.prove.separability import separability

    check_kept_by_floats(X)
    problem = two_classes(X, y)
    rows = as_rows(problem.X, problem.y)
    certificate = separability(rows, fit_intercept=fit_intercept)
    if isinstance(certificate, (Separable, QuasiSeparable)):
        w, b = _scaled(certificate, problem.X, problem.y)
        return SoftMinimum(0.0, w, b, certificate, "certificate")
    if checker.cancels(rows, range(rows.n_rows), [1] * rows.n_rows, fit_intercept):
        nothing = np.full(problem.n_features, math.nan)
        return SoftMinimum(math.inf, nothing, math.nan, certificate, "certificate")
    w, b = _minimise(problem.X, problem.y, fit_intercept)
    return SoftMinimum(*_value(problem.X, problem.y, w, b), certificate, "highs")


def soft_path(trace: Trace, X: Any, y: Any) -> Array:
    """The normalised soft loss after each recorded update of a run.

    The soft loss divided by the mean margin, which is what `soft_minimum` minimises: no entry
    is below its value. It is inf where the mean margin is not positive.

    Parameters
    ----------
    trace : Trace
        Of a run with ``record="updates"``; ``mode="batch"`` is gradient descent on the soft loss.
    X, y : the rows and labels of that run

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1]
    >>> clf = Perceptron(mode="batch", tol=None, max_iter=50, record="updates").fit(X, y)
    >>> path = soft_path(clf.trace_, X, y)
    >>> round(float(path.min()), 6)
    2.0
    """
    record = getattr(trace, "record", None)
    if record is None:
        raise DataError(
            'the trace holds no updates. Train with record="updates" and give its trace_.'
        )
    return np.array([_normalised(Scored.of(X, y, w, b)) for w, b in _planes(record)])


def _planes(record: Any) -> Iterator[tuple[Array, Array]]:
    for update in record:
        yield update.w, update.b


def _normalised(at: Scored) -> float:
    mean = float(at.margins.mean())
    return float(np.maximum(-at.margins, 0.0).sum()) / mean if mean > 0 else math.inf


def _scaled(found: Separable | QuasiSeparable, X: Any, y: Array) -> tuple[Array, float]:
    """The hyperplane of the certificate with mean margin 1, rounded to floats."""
    plane = [Fraction(v) for v in (*found.w, found.b)]
    top = max(abs(v) for v in plane)
    near = np.array([float(v / top) for v in plane])
    mean = float((y * (X @ near[:-1] + near[-1])).mean())
    if not 0 < mean < math.inf:
        mean = float(sum(_exact_margins(X, y, plane, range(len(y)))) / len(y) / top)
    scaled = near / mean
    return scaled[:-1], float(scaled[-1])


def _value(X: Any, y: Array, w: Array, b: float) -> tuple[float, Array, float]:
    """The loss at (w, b) after scaling it to mean margin 1; never 0, since nothing attains 0."""
    s = y * np.asarray(X @ w + b, dtype=np.float64)
    mean = math.fsum(s.tolist()) / len(s)
    if not 0 < mean < math.inf:
        raise Undecided(
            "the classes overlap, so the minimum is positive, but the solver found no hyperplane "
            "with a positive mean margin. Scale the columns of X to similar sizes."
        )
    total = math.fsum(np.maximum(-s, 0.0).tolist()) / mean
    if total == 0:  # rounding hides it: sum without
        plane = [Fraction(v) for v in (*w.tolist(), b)]
        exact = _exact_margins(X, y, plane, range(len(y)))
        total = float(sum(-v for v in exact if v < 0) * len(y) / sum(exact))
    if total <= 0:
        raise Undecided(
            "the classes overlap, so the minimum is positive, but it is too small for floats. "
            "Scale the columns of X to similar sizes."
        )
    return total, w / mean, b / mean


def _exact_margins(X: Any, y: Array, plane: list[Fraction], rows: range) -> list[Fraction]:
    out = []
    for n in rows:
        x = X[[n]].toarray()[0] if sp.issparse(X) else X[n]
        score = sum((p * Fraction(v) for p, v in zip(plane, x.tolist(), strict=False)), plane[-1])
        out.append(int(y[n]) * score)
    return out


# ---------------------------------------------------------------------- the program


def _minimise(X: Any, y: Array, intercept: bool) -> tuple[Array, float]:
    """(w, b) of least soft loss with mean margin 1. Powers of two scale the columns exactly."""
    exponents = _exponents(X)
    Z: Any = (
        sp.csr_array(X, dtype=np.float64) if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    )
    scales = np.ldexp(1.0, -exponents)
    Z = Z @ sp.diags_array(scales) if sp.issparse(Z) else Z * scales
    Z = sp.csr_array(Z.multiply(y[:, None])) if sp.issparse(Z) else Z * y[:, None]
    if intercept:
        last = y[:, None].astype(np.float64)
        Z = sp.csr_array(sp.hstack([Z, last])) if sp.issparse(Z) else np.hstack([Z, last])
    v = _by_highs(Z)
    w = np.ldexp(v[: X.shape[1]], -exponents)
    return w, float(v[-1]) if intercept else 0.0


def _exponents(X: Any) -> npt.NDArray[np.int64]:
    """The power of two just above the largest entry of each column; 0 for a column of zeros."""
    tops = abs(X).max(axis=0)
    tops = tops.toarray().ravel() if sp.issparse(tops) else np.asarray(tops)
    return np.where(tops > 0, np.frexp(tops.astype(np.float64))[1], 0).astype(np.int64)


def _by_highs(Z: Any) -> Array:
    """minimise sum t with t >= -Zv, t >= 0 and sum_n z_n.v = n, through its dual.

    The dual, maximise v0 with 0 <= u <= 1 and sum_n (u_n + v0) z_n = 0, has as many rows as
    columns of Z; v is in its multipliers.
    """
    from scipy.optimize import linprog

    n = Z.shape[0]
    total = np.asarray(Z.sum(axis=0)).ravel()
    columns = sp.hstack([sp.csc_array(Z.T), total[:, None]]).tocsc()
    found = linprog(
        np.append(np.zeros(n), -1.0),
        A_eq=columns,
        b_eq=np.zeros(Z.shape[1]),
        bounds=[(0, 1)] * n + [(None, None)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.status != 0:
        raise Undecided(
            f"HiGHS gave up ({found.message}). The classes overlap, which is proven, so the "
            "minimum is positive. Scale the columns of X to similar sizes."
        )
    # multipliers of the equations: z_n.v >= -(something >= 0) and total.v = -1, up to sign
    v: Array = np.asarray(found.eqlin.marginals, dtype=np.float64)
    return np.asarray(-n * v)
