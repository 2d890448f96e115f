"""Programs: two linear programs over rays z_g that HiGHS keeps warm. Floats: they propose.

- Elastic: maximise sum_g c_g with sum_g c_g z_g = 0 and 0 <= c_g <= m_g. Its multipliers v
  minimise sum_g m_g max(0, 1 - z_g.v), so they say how far each ray is from being right. The
  optimum is 0 exactly when the rays with m_g > 0 are separable.
- Circuits: minimise sum_g k_g c_g with sum_g c_g z_g = 0, sum_g c_g = 1, c_g >= 0. A vertex is a
  smallest cancelling set; the costs k steer which.
"""

from __future__ import annotations

import time
from typing import Any

import highspy
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Array = npt.NDArray[Any]
FREE = highspy.kHighsInf
ALL = 30_000  # rays that are all in the program from the start
SOME = 1e-9  # a weight that HiGHS means


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
        nothing = np.empty(0, dtype=np.int32)
        rows = len(right)
        start = np.zeros(rows, dtype=np.int32)
        self.model.addRows(rows, right, right, 0, start, nothing, np.empty(0))
        self.upper = np.empty(0)
        self.append(Z, cost, upper)

    def append(self, Z: Any, cost: Array, upper: Array) -> None:
        """More columns."""
        columns = sp.csr_array(Z)
        self.model.addCols(
            len(cost),
            np.asarray(cost, dtype=np.float64),
            np.zeros(len(cost)),
            np.asarray(upper, dtype=np.float64),
            columns.nnz,
            columns.indptr[:-1].astype(np.int32),
            columns.indices.astype(np.int32),
            columns.data,
        )
        self.upper = np.append(self.upper, upper)

    def set_upper(self, upper: Array) -> None:
        """New upper bounds; only those that differ are passed on."""
        at = np.flatnonzero(upper != self.upper).astype(np.int32)
        if at.size:
            self.model.changeColsBounds(at.size, at, np.zeros(at.size), upper[at])
            self.upper = np.array(upper, dtype=np.float64)

    def run(self, seconds: float) -> bool:
        """Whether it came to an optimum in time."""
        limit = self.model.getRunTime() + max(seconds, 0.01)
        self.model.setOptionValue("time_limit", min(limit, 1e9))
        self.model.run()
        return bool(self.model.getModelStatus() == highspy.HighsModelStatus.kOptimal)

    def values(self) -> Array:
        return np.array(self.model.getSolution().col_value)


class Elastic:
    """How far the rays are from being separable, and the hyperplane that says so.

    Of many rays only some are in the program: those with z_g.v < 1 come in as they show up, the
    others would have c_g = 0 anyway.
    """

    def __init__(self, Z: Any, mass: Array) -> None:
        n, p = Z.shape
        self.Z, self.mass = Z, np.asarray(mass, dtype=np.float64)
        self.latest = least_squares(Z, self.mass)  # weights to go on with if time runs out
        few = np.arange(n)
        if n > ALL:  # to begin with: the most wrong, the nearest to the hyperplane, any
            scores, every = Z @ self.latest, n // (50 * p) + 1
            worst, near = np.argsort(scores)[: 50 * p], np.argsort(np.abs(scores))[: 50 * p]
            few = np.unique(np.concatenate([worst, near, few[::every]]))
        self.at = few  # the rays in the program, in its order
        self.outside = np.ones(n, dtype=bool)
        self.outside[few] = False
        cost = -np.ones(len(few))  # HiGHS minimises
        self.program = _Program(Z[few], np.zeros(p), cost, self.mass[few], 1)

    def solve(self, mass: Array, seconds: float) -> tuple[float, Array] | None:
        """The optimum and the weights v, for these masses (0: the ray is out)."""
        until = time.perf_counter() + seconds
        mass = np.asarray(mass, dtype=np.float64)
        while True:
            self.program.set_upper(mass[self.at])
            if not self.program.run(until - time.perf_counter()):
                return None
            value = -float(self.program.model.getInfo().objective_function_value)
            v = self.latest = -np.array(self.program.model.getSolution().row_dual)
            if len(self.at) == len(mass):
                return value, v
            scores = self.Z @ v
            wanted = np.flatnonzero(self.outside & (mass > 0) & (scores < 1 - 1e-9))
            if not wanted.size:
                return value, v
            self._enter(wanted[np.argsort(scores[wanted], kind="stable")[: 200 * self.Z.shape[1]]])

    def _enter(self, rays: Array) -> None:
        self.program.append(self.Z[rays], -np.ones(len(rays)), self.mass[rays])
        self.outside[rays] = False
        self.at = np.append(self.at, rays)


class Circuits:
    """Cancelling sets among the rays `at`."""

    def __init__(self, Z: Any, at: Array) -> None:
        n, p = len(at), Z.shape[1]
        with_sum = sp.hstack([sp.csr_array(Z[at]), np.ones((n, 1))], format="csr")
        right = np.append(np.zeros(p), 1.0)
        self.at = at
        self.program = _Program(with_sum, right, np.zeros(n), np.full(n, FREE), 4)
        self.everything = np.arange(n, dtype=np.int32)

    def solve(self, alive: Array, cost: Array, seconds: float) -> Array | None:
        """The support of a vertex among the rays that are alive."""
        self.program.set_upper(np.where(alive[self.at], FREE, 0.0))
        prices = np.asarray(cost[self.at], dtype=np.float64)
        self.program.model.changeColsCost(len(self.at), self.everything, prices)
        if not self.program.run(seconds):
            return None
        found: Array = self.at[self.program.values() > SOME]
        return found


def least_squares(Z: Any, mass: Array) -> Array:
    """The weights v with the least sum_g m_g (z_g.v - 1)^2: a first guess that costs little."""
    weighted = sp.diags_array(mass) @ Z if sp.issparse(Z) else Z * mass[:, None]
    gram = weighted.T @ Z
    dense = np.asarray(gram.toarray() if sp.issparse(gram) else gram)
    return np.asarray(np.linalg.lstsq(dense, np.asarray(Z.T @ mass), rcond=None)[0])


def combination(Z: Any, target: Array, cost: Array, seconds: float) -> Array | None:
    """The support of a cheapest c >= 0 with sum_g c_g z_g = target, at a vertex."""
    program = _Program(Z, target, cost, np.full(len(cost), FREE), 4)
    return np.flatnonzero(program.values() > SOME) if program.run(seconds) else None
