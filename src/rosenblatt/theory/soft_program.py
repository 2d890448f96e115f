"""Programs: the normalised soft problem handed to a solver, columns scaled to similar size."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.errors import ParameterError, Undecided

Array = npt.NDArray[Any]


def minimise(X: Any, y: Array, intercept: bool, solver: str) -> tuple[Array, float]:
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
    v = (_by_cvxpy if solver == "cvxpy" else _by_highs)(Z)
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
        raise _gave_up("HiGHS", found.message)
    # multipliers of the equations: z_n.v >= -(something >= 0) and total.v = -1, up to sign
    v: Array = np.asarray(found.eqlin.marginals, dtype=np.float64)
    return np.asarray(-n * v)


def _by_cvxpy(Z: Any) -> Array:
    """The problem as the lecture would type it into CVX."""
    try:
        import cvxpy
    except ImportError as e:
        raise ParameterError(
            "solver='cvxpy' needs cvxpy, which is not installed. Run "
            "`pip install rosenblatt[convex]`, or take solver='highs'."
        ) from e
    cp: Any = cvxpy  # half of its names have no hints
    v = cp.Variable(Z.shape[1])
    margins = Z @ v
    problem = cp.Problem(cp.Minimize(cp.sum(cp.pos(-margins))), [cp.sum(margins) == Z.shape[0]])
    tight = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
    problem.solve(solver=cp.CLARABEL, **tight)
    if v.value is None:
        raise _gave_up("cvxpy", problem.status)
    return np.asarray(v.value, dtype=np.float64)


def _gave_up(who: str, why: str) -> Undecided:
    return Undecided(
        f"{who} gave up ({why}). The classes overlap, which is proven, so the minimum is positive. "
        "Scale the columns of X to similar sizes, or try the other solver."
    )
