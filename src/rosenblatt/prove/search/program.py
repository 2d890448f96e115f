"""Program: the linear programs of the search, in floats, warm. They propose, and prove nothing."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Array = npt.NDArray[Any]
SOME_COLUMNS = 300  # from here on many steps of the simplex method take long
FEW_STEPS = 500
MANY_COLUMNS = 5_000  # a step of the interior point method factors a matrix of this size


class Hinge:
    """maximise sum_i c_i with sum_i c_i z_i = 0 and 0 <= c_i <= 1, rows z_i added as they come.

    Its dual is the hinge loss: minimise sum_i max(0, 1 - v.z_i). So either all c_i = 0, and
    v.z_i >= 1 for all rows, or the rows with c_i > 0 cancel. c = 0 is always feasible and
    every c_i is bounded: no rays, and each solve starts where the last one ended.
    """

    def __init__(self, columns: int, seconds: float | None = None) -> None:
        self.model, self.columns = _model(seconds), columns
        self.model.changeObjectiveSense(highspy.ObjSense.kMaximize)
        zero = np.zeros(columns)
        self.model.addRows(columns, zero, zero, 0, *_starts(columns), np.empty(0))
        self.n_rows = 0

    def add(self, Z: Any) -> None:
        """More rows z_i, dense or CSR."""
        m, rows = Z.shape[0], sp.csr_array(Z)
        self.model.addCols(
            m,
            np.ones(m),
            np.zeros(m),
            np.ones(m),
            rows.nnz,
            rows.indptr[:-1].astype(np.int32),
            rows.indices.astype(np.int32),
            rows.data,
        )
        self.n_rows += m

    def solve(self) -> tuple[Array, Array] | None:
        """v and the weights c; None if HiGHS gives up.

        Few steps of the simplex method settle what can be separated. A large program with rows
        that cancel takes thousands; an interior point is quicker there, and does as well.
        """
        large = SOME_COLUMNS < self.columns <= MANY_COLUMNS
        self.model.setOptionValue("simplex_iteration_limit", FEW_STEPS if large else 2**31 - 1)
        self.model.run()
        if self.model.getModelStatus() == highspy.HighsModelStatus.kIterationLimit:
            self.model.setOptionValue("solver", "ipm")
            self.model.setOptionValue("run_crossover", "off")
            self.model.run()
            self.model.setOptionValue("solver", "simplex")
        if self.model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        solution = self.model.getSolution()
        return np.array(solution.row_dual), np.array(solution.col_value)


def vertex(
    Z: Array, total: Array, cost: Array, sums: bool = False, seconds: float | None = None
) -> Array | None:
    """A vertex of {c >= 0 : sum_i c_i z_i = total} of small cost; with `sums`, of mean 1.

    None if there is none, or none was found within so many seconds.

    Exactly 0 outside the basis; inside it perhaps a little less than 0.
    """
    A = np.hstack([Z, np.ones((len(Z), 1))]) if sums else Z
    right = np.append(total, float(len(Z))) if sums else total
    model, columns, m = _model(seconds), sp.csr_array(A), len(Z)
    model.addRows(len(right), right, right, 0, *_starts(len(right)), np.empty(0))
    model.addCols(
        m,
        cost,
        np.zeros(m),
        np.full(m, highspy.kHighsInf),
        columns.nnz,
        columns.indptr[:-1].astype(np.int32),
        columns.indices.astype(np.int32),
        columns.data,
    )
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    basic = np.array([s == highspy.HighsBasisStatus.kBasic for s in model.getBasis().col_status])
    return np.where(basic, model.getSolution().col_value, 0.0)


def _model(seconds: float | None) -> Any:
    model: Any = highspy.Highs()  # type: ignore[no-untyped-call]  # it has no hints
    model.setOptionValue("output_flag", False)
    model.setOptionValue("solver", "simplex")
    model.setOptionValue("presolve", "off")
    model.setOptionValue("primal_feasibility_tolerance", 1e-9)
    model.setOptionValue("dual_feasibility_tolerance", 1e-9)
    if seconds is not None:
        model.setOptionValue("time_limit", max(seconds, 0.01))
    return model


def _starts(rows: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    return np.zeros(rows, dtype=np.int32), np.empty(0, dtype=np.int32)
