"""Programs: two linear programs over rays z_g that HiGHS keeps warm. Floats: they propose.

- Elastic: maximise sum_g c_g with sum_g c_g z_g = 0 and 0 <= c_g <= m_g. Its multipliers v
  minimise sum_g m_g max(0, 1 - z_g.v), so they say how far each ray is from being right. The
  optimum is 0 exactly when the rays with m_g > 0 are separable.
- Circuits: minimise sum_g k_g c_g with sum_g c_g z_g = 0, sum_g c_g = 1, c_g >= 0. A vertex is a
  smallest cancelling set; the costs k steer which.
"""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Array = npt.NDArray[Any]
FREE = highspy.kHighsInf


class _Program:
    """Columns c_g with bounds 0 <= c_g <= upper_g; one row of equality per entry of z."""

    def __init__(self, Z: Any, right: Array, cost: Array, upper: Array, strategy: int) -> None:
        self.model: Any = highspy.Highs()  # type: ignore[no-untyped-call]  # it has no hints
        for name, value in (
            ("output_flag", False),
            ("solver", "simplex"),
            ("presolve", "off"),
            ("simplex_strategy", strategy),
        ):
            self.model.setOptionValue(name, value)
        columns = sp.csr_array(Z)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = columns.shape
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, np.zeros(len(cost)), upper
        lp.row_lower_ = lp.row_upper_ = right
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = columns.indptr.astype(np.int32)
        lp.a_matrix_.index_ = columns.indices.astype(np.int32)
        lp.a_matrix_.value_ = columns.data
        self.model.passModel(lp)
        self.upper = np.array(upper, dtype=np.float64)

    def set_upper(self, upper: Array) -> None:
        """New upper bounds; only those that differ are passed on."""
        at = np.flatnonzero(upper != self.upper).astype(np.int32)
        if at.size:
            self.model.changeColsBounds(at.size, at, np.zeros(at.size), upper[at])
            self.upper = np.array(upper, dtype=np.float64)

    def run(self, seconds: float) -> bool:
        """Whether it came to an optimum in time."""
        self.model.setOptionValue("time_limit", self.model.getRunTime() + max(seconds, 0.01))
        self.model.run()
        return bool(self.model.getModelStatus() == highspy.HighsModelStatus.kOptimal)


class Elastic(_Program):
    """How far the rays are from being separable, and the hyperplane that says so."""

    def __init__(self, Z: Any, mass: Array) -> None:
        cost = -np.ones(len(mass))  # HiGHS minimises
        super().__init__(Z, np.zeros(Z.shape[1]), cost, np.asarray(mass, dtype=np.float64), 1)

    def solve(self, mass: Array, seconds: float) -> tuple[float, Array] | None:
        """The optimum and the weights v, for these masses (0: the ray is out)."""
        self.set_upper(np.asarray(mass, dtype=np.float64))
        if not self.run(seconds):
            return None
        value = -float(self.model.getInfo().objective_function_value)
        return value, -np.array(self.model.getSolution().row_dual)


class Circuits(_Program):
    """Cancelling sets of rays."""

    def __init__(self, Z: Any) -> None:
        n, p = Z.shape
        with_sum = sp.hstack([sp.csr_array(Z), np.ones((n, 1))], format="csr")
        right = np.append(np.zeros(p), 1.0)
        super().__init__(with_sum, right, np.zeros(n), np.full(n, FREE), 4)
        self.everything = np.arange(n, dtype=np.int32)

    def solve(self, alive: Array, cost: Array, seconds: float) -> Array | None:
        """The support of a vertex among the rays that are alive."""
        self.set_upper(np.where(alive, FREE, 0.0))
        self.model.changeColsCost(len(cost), self.everything, np.asarray(cost, dtype=np.float64))
        if not self.run(seconds):
            return None
        return np.flatnonzero(np.array(self.model.getSolution().col_value) > 1e-9)


def combination(Z: Any, target: Array, cost: Array, seconds: float) -> Array | None:
    """The support of a cheapest c >= 0 with sum_g c_g z_g = target, at a vertex."""
    program = _Program(Z, target, cost, np.full(len(cost), FREE), 4)
    if not program.run(seconds):
        return None
    return np.flatnonzero(np.array(program.model.getSolution().col_value) > 1e-9)
