"""The least soft loss among hyperplanes with a mean margin of 1, zero only if the data separate.

J_soft(0) = 0 on any data, so the plain minimum says nothing. The normalised problem does:

    minimise  J(w, b) = sum_n max(-s_n, 0)    subject to  mean_n s_n = 1,   s_n = y_n (w.x_n + b)

Its dual is: maximise n v, with weights c_n between v and v + 1 that cancel, sum_n c_n z_n = 0,
z_n = y_n (x_n, 1). So the minimum is 0 unless positive weights on all rows cancel, which is to
say, unless the classes overlap (Stiemke); and nothing is feasible if sum_n z_n = 0, which is
an overlap that equal weights prove. The certificate decides exactly which of these holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.cone import ConeBlock, rows_and_labels
from rosenblatt.data.exact import Number, cancels, common_integers, exact_dot
from rosenblatt.data.matrix import check_kept_by_floats
from rosenblatt.errors import DataError, UndecidedError
from rosenblatt.learn.trace import Trace
from rosenblatt.prove.certificate import Certificate, QuasiSeparable, Separable
from rosenblatt.theory.losses import margins, two_classes

Array = npt.NDArray[Any]
TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


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


def soft_minimum(
    X: Any, y: npt.ArrayLike | None = None, *, fit_intercept: bool = True
) -> SoftMinimum:
    """Minimise the sum of the soft loss over hyperplanes with a mean margin of 1.

    Parameters
    ----------
    X : array, frame or CSR matrix of shape (n_samples, n_features)
        Rows of numbers; or a table of :func:`rosenblatt.read`.
    y : array of shape (n_samples,), optional
        Labels of two classes. Left out for a table that was read.
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
    from rosenblatt.prove.separability.scaling import signed_rows

    X, y = rows_and_labels(X, y)
    check_kept_by_floats(X)
    rows = two_classes(X, y)
    certificate = separability(rows.X, rows.y, fit_intercept=fit_intercept)
    Z = sp.csr_array(signed_rows(ConeBlock(rows.X, rows.y), fit_intercept))
    if isinstance(certificate, (Separable, QuasiSeparable)):
        exact = [Fraction(x) for x in (*certificate.w, certificate.b)][: Z.shape[1]]
        exact = [x / max(map(abs, exact)) for x in exact]
        v = np.array([float(x) for x in exact])
        value, v, solver = 0.0, v / _mean_margin(Z, v, exact), "certificate"
    elif cancels(Z, [1] * Z.shape[0]):
        value, v, solver = math.inf, np.full(Z.shape[1], math.nan), "certificate"
    else:
        (value, v), solver = _value(Z, _minimise(Z)), "highs"
    w, b = (v[:-1], float(v[-1])) if fit_intercept else (v, 0.0)
    return SoftMinimum(value, w, b if value < math.inf else math.nan, certificate, solver)


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
    rows, path = two_classes(X, y), []
    for update in record:
        s = margins(rows, update.w, update.b)
        mean = float(s.mean())
        path.append(float(np.maximum(-s, 0.0).sum()) / mean if mean > 0 else math.inf)
    return np.array(path)


def _mean_margin(Z: Any, v: Array, exact: Sequence[Number]) -> float:
    """The mean of z.v; from exact sums where rounding loses that it is positive."""
    mean = math.fsum((Z @ v).tolist()) / Z.shape[0]
    return mean if 0 < mean < math.inf else float(sum(_exact_margins(Z, exact)) / Z.shape[0])


def _value(Z: Any, v: Array) -> tuple[float, Array]:
    """The loss at v after scaling it to mean margin 1; never 0, since nothing attains 0."""
    mean = _mean_margin(Z, v, v.tolist())
    if not 0 < mean < math.inf:
        raise _undecided("but the solver found no hyperplane with a positive mean margin")
    total = math.fsum(np.maximum(-(Z @ v), 0.0).tolist()) / mean
    if total == 0:  # rounding hides it
        exact = _exact_margins(Z, v.tolist())
        total = float(sum(-s for s in exact if s < 0) * len(exact) / sum(exact))
    if total <= 0:
        raise _undecided("but it is too small for floats")
    return total, v / mean


def _exact_margins(Z: Any, v: Sequence[Number]) -> list[Fraction]:
    """z.v for each row, without rounding."""
    whole = common_integers(v)
    times = next((Fraction(x) / k for x, k in zip(v, whole, strict=True) if k), Fraction(0))
    return [times * exact_dot(Z, k, dict(enumerate(whole))) for k in range(Z.shape[0])]


def _minimise(Z: Any) -> Array:
    """minimise sum t with t >= -Zv, t >= 0 and sum_n z_n.v = n, through its dual.

    The dual, maximise v0 with 0 <= u <= 1 and sum_n (u_n + v0) z_n = 0, has as many rows as
    columns of Z; v is in its multipliers. Powers of two scale the columns exactly.
    """
    from scipy.optimize import linprog

    n, d = Z.shape
    top = abs(Z).max(axis=0).toarray().ravel()
    scales = np.ldexp(1.0, -np.where(top > 0, np.frexp(top)[1], 0))
    Z = Z @ sp.diags_array(scales)
    total = np.asarray(Z.sum(axis=0)).ravel()
    found = linprog(
        np.append(np.zeros(n), -1.0),
        A_eq=sp.hstack([sp.csc_array(Z.T), total[:, None]]).tocsc(),
        b_eq=np.zeros(d),
        bounds=[(0, 1)] * n + [(None, None)],
        method="highs",
        options=TIGHT,
    )
    if found.status != 0:
        raise _undecided(f"but HiGHS gave up ({found.message})")
    # multipliers of the equations: z_n.v >= -(something >= 0) and total.v = -1, up to sign
    return np.asarray(-n * found.eqlin.marginals * scales, dtype=np.float64)


def _undecided(why: str) -> UndecidedError:
    return UndecidedError(
        f"the classes overlap, so the minimum is positive, {why}. Scale the columns of X to "
        "similar sizes."
    )
