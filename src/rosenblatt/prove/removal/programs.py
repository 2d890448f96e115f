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

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.prove.separability.linear_programs import FREE, Program

Array = npt.NDArray[Any]
ALL = 30_000  # rays that are all in the program from the start
SOME = 1e-9  # a weight that HiGHS means


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
        self.program = Program(np.zeros(p), maximise=True)
        self.program.add(Z[few], np.ones(len(few)), self.mass[few])

    def solve(self, mass: Array, seconds: float) -> tuple[float, Array] | None:
        """The optimum and the weights v, for these masses (0: the ray is out)."""
        until = time.perf_counter() + seconds
        mass = np.asarray(mass, dtype=np.float64)
        while True:
            self.program.set_upper(mass[self.at])
            if not self.program.run(until - time.perf_counter()):
                return None
            value = float(self.program.values().sum())
            v = self.latest = self.program.multipliers()
            if len(self.at) == len(mass):
                return value, v
            scores = self.Z @ v
            wanted = np.flatnonzero(self.outside & (mass > 0) & (scores < 1 - 1e-9))
            if not wanted.size:
                return value, v
            self._enter(wanted[np.argsort(scores[wanted], kind="stable")[: 200 * self.Z.shape[1]]])

    def _enter(self, rays: Array) -> None:
        self.program.add(self.Z[rays], np.ones(len(rays)), self.mass[rays])
        self.outside[rays] = False
        self.at = np.append(self.at, rays)


class Circuits:
    """Cancelling sets among the rays `at`."""

    def __init__(self, Z: Any, at: Array) -> None:
        n, p = len(at), Z.shape[1]
        with_sum = sp.hstack([sp.csr_array(Z[at]), np.ones((n, 1))], format="csr")
        right = np.append(np.zeros(p), 1.0)
        self.at = at
        self.program = Program(right)
        self.program.use_primal_simplex()
        self.program.add(with_sum, np.zeros(n), np.full(n, FREE))

    def solve(self, alive: Array, cost: Array, seconds: float) -> Array | None:
        """The support of a vertex among the rays that are alive."""
        self.program.set_upper(np.where(alive[self.at], FREE, 0.0))
        self.program.set_cost(cost[self.at])
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
