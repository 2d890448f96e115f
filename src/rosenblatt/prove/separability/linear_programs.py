"""Linear programs over rows z_i whose basis HiGHS keeps. They are in floats and prove nothing."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Array = npt.NDArray[Any]
FREE = highspy.kHighsInf
MEANT = 1e-7  # a weight larger than this is not noise
PRIMAL = 4  # the number of the primal simplex method in HiGHS


class Program:
    """Variables c_i with 0 <= c_i <= upper_i and sum_i c_i z_i = right."""

    def __init__(self, right: Array, maximise: bool = False) -> None:
        self.model = _model()
        if maximise:
            self.model.changeObjectiveSense(highspy.ObjSense.kMaximize)
        starts = np.zeros(len(right), dtype=np.int32)
        self.model.addRows(len(right), right, right, 0, starts, np.empty(0, np.int32), np.empty(0))
        self.upper = np.empty(0)

    def add(self, Z: Any, cost: Array, upper: Array) -> None:
        """One variable per row of Z, dense or CSR."""
        rows, m = sp.csr_array(Z), Z.shape[0]
        start, index = rows.indptr[:-1].astype(np.int32), rows.indices.astype(np.int32)
        self.model.addCols(m, cost, np.zeros(m), upper, rows.nnz, start, index, rows.data)
        self.upper = np.append(self.upper, upper)

    def set_upper(self, upper: Array) -> None:
        """Set new upper bounds; only those that differ are passed to HiGHS."""
        at = np.flatnonzero(upper != self.upper).astype(np.int32)
        if at.size:
            self.model.changeColsBounds(at.size, at, np.zeros(at.size), upper[at])
            self.upper = np.array(upper, dtype=np.float64)

    def set_cost(self, cost: Array) -> None:
        """New costs of all variables."""
        at = np.arange(len(cost), dtype=np.int32)
        self.model.changeColsCost(len(cost), at, np.asarray(cost, dtype=np.float64))

    def run(self, seconds: float | None = None) -> bool:
        """Whether an optimum was found within the time limit, in seconds."""
        return _run(self.model, seconds)

    def values(self) -> Array:
        """The variables of the last run, at a vertex: 0 outside the basis."""
        return np.array(self.model.getSolution().col_value)

    def multipliers(self) -> Array:
        """One number per column of Z."""
        return np.array(self.model.getSolution().row_dual)


class CancellingProgram(Program):
    """maximise sum_i c_i with sum_i c_i z_i = 0 and 0 <= c_i <= upper_i; rows come as needed.

    Its dual minimises sum_i upper_i max(0, 1 - v.z_i). So either all c_i = 0 and v.z_i >= 1 for
    all rows, or the rows with c_i > 0 cancel. A freed row has any c_i at no cost: v is orthogonal
    to it. c = 0 is always feasible and the optimum bounded, and each run starts where the last one
    ended.
    """

    def __init__(self, n_columns: int) -> None:
        super().__init__(np.zeros(n_columns), maximise=True)
        self.freed = np.zeros(0, dtype=bool)

    def add_rows(self, Z: Any, upper: Array | None = None) -> None:
        """More rows z_i, dense or CSR."""
        ones = np.ones(Z.shape[0])
        self.add(Z, ones, ones if upper is None else np.asarray(upper, dtype=np.float64))
        self.freed = np.append(self.freed, np.zeros(Z.shape[0], dtype=bool))

    def free(self, rows: Array) -> None:
        """Make v orthogonal to these rows."""
        at, zero = rows.astype(np.int32), np.zeros(len(rows))
        self.model.changeColsBounds(len(at), at, zero - FREE, zero + FREE)
        self.model.changeColsCost(len(at), at, zero)
        self.freed[rows] = True

    def solve(self, seconds: float | None = None) -> tuple[Array, Array] | None:
        """v, and the rows not freed that cancel with the freed ones; None if HiGHS gives up.

        The first run takes the method that HiGHS chooses. Later ones start from a feasible basis,
        which the primal simplex method keeps.
        """
        found = self.run(seconds)
        self.model.setOptionValue("simplex_strategy", PRIMAL)
        if not found:
            return None
        return self.multipliers(), np.flatnonzero((self.values() > MEANT) & ~self.freed)


class CircuitProgram(Program):
    """minimise sum_i k_i c_i with sum_i c_i z_i = 0, c >= 0 of mean 1: a vertex has few rows.

    Rows that are left out, and a new cost, start from the last vertex: the dual simplex method
    keeps what it knows about the cost.
    """

    def __init__(self, Z: Any) -> None:
        n = Z.shape[0]
        super().__init__(np.append(np.zeros(Z.shape[1]), float(n)))
        ones = np.ones((n, 1))
        lifted = sp.hstack([Z, ones], format="csr") if sp.issparse(Z) else np.hstack([Z, ones])
        self.add(lifted, np.zeros(n), np.full(n, FREE))

    def solve(
        self, cost: Array, allowed: Array | None = None, seconds: float | None = None
    ) -> Array | None:
        """Weights with which some of the rows allowed cancel; None if none do, or time ran out."""
        if allowed is not None:
            self.set_upper(np.where(allowed, FREE, 0.0))
        self.set_cost(cost)
        return self.values() if self.run(seconds) else None


class SignProgram:
    """minimise g.v with v.z_i >= 0, = 0 for rows of equality, and |v_a| <= 1.

    Rows are added and g changes.
    """

    def __init__(self, width: int, equal: Any) -> None:
        self.model, self.width, self.n_equal = _model(), width, equal.shape[0]
        ones, none = np.ones(width), np.empty(0, dtype=np.int32)
        self.model.addCols(width, np.zeros(width), -ones, ones, 0, none, none, np.empty(0))
        self.add_rows(equal, 0.0)

    def add_rows(self, Z: Any, upper: float = FREE) -> None:
        """More rows z_i."""
        rows, n = sp.csr_array(Z), Z.shape[0]
        start, index = rows.indptr[:-1].astype(np.int32), rows.indices.astype(np.int32)
        if n:
            zero = np.zeros(n)
            self.model.addRows(n, zero, zero + upper, rows.nnz, start, index, rows.data)

    def minimise(
        self, g: Array, seconds: float | None = None
    ) -> tuple[float, Array, npt.NDArray[np.int64]] | None:
        """The smallest value, where, and the rows added that hold it up; None if HiGHS gives up."""
        self.model.changeColsCost(self.width, np.arange(self.width, dtype=np.int32), g)
        if not _run(self.model, seconds):
            return None
        solution = self.model.getSolution()
        v, held = np.array(solution.col_value), np.abs(solution.row_dual[self.n_equal :])
        return float(g @ v), v, np.flatnonzero(held > 1e-12)


def vertex(Z: Any, right: Array, cost: Array, seconds: float | None = None) -> Array | None:
    """A vertex of {c >= 0 : sum_i c_i z_i = right} of least cost.

    None if there is none, or none was found within the time limit in seconds.
    """
    program = Program(right)
    program.add(Z, np.asarray(cost, dtype=np.float64), np.full(Z.shape[0], FREE))
    return program.values() if program.run(seconds) else None


def _model() -> Any:
    model: Any = highspy.Highs()  # type: ignore[no-untyped-call]  # it has no hints
    for name, value in (
        ("output_flag", False),
        ("solver", "simplex"),
        ("presolve", "off"),
        ("primal_feasibility_tolerance", 1e-9),
        ("dual_feasibility_tolerance", 1e-9),
    ):
        model.setOptionValue(name, value)
    return model


def _run(model: Any, seconds: float | None) -> bool:
    """Whether an optimum was found within the time limit, in seconds."""
    if seconds is not None:  # HiGHS adds up the time of all runs
        limit = model.getRunTime() + max(seconds, 0.01)
        model.setOptionValue("time_limit", min(limit, 1e9))
    model.run()
    return bool(model.getModelStatus() == highspy.HighsModelStatus.kOptimal)
