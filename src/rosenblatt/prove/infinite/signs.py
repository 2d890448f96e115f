"""Signs: which signs every column takes on the cone {w : w.z_i >= 0 for all i}.

In the coordinates of :class:`.space.Space` some u has u.q_i > 0 for all rows, and column j is
g_j.u. Is it ever negative? Where there are many columns, perceptrons that start on the wrong side
of many j at once find members which settle most signs. How far one can go from u along every g_j
before a row is on the wrong side is one product of matrices, and settles many more. For what is
left a linear program, minimise g_j.u with u.q_i >= 0 on a small working set and |u_a| <= 1, gives a
member, or weights c_i >= 0 with g_j = sum c_i q_i [Farkas]. Floats only propose: members and
weights are made exact, and where that fails a few rows are decided over the rationals.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpz_mat

from rosenblatt.data.exact import common_integers, independent, integer_residues, solve
from rosenblatt.data.problem import Problem
from rosenblatt.errors import RosenblattError, UndecidedError
from rosenblatt.learn.in_memory import train
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.state import State
from rosenblatt.prove import checker
from rosenblatt.prove.certificate import Combination
from rosenblatt.prove.infinite.proof import Claim, Number
from rosenblatt.prove.infinite.space import Space, coprime
from rosenblatt.prove.separability.exact_decision import decide
from rosenblatt.prove.separability.linear_programs import SignProgram

Array = npt.NDArray[Any]
WIDE = 60  # columns from which a perceptron finds more signs than rays do
STARTS = 12  # of perceptrons
PASSES = 100
ROUNDS = 6  # of rays that look for missing signs
MOST_ENDS = 8  # members that a round looks for
MARGIN = 0.02  # of a ray beyond what turns the sign
SMALL = 1e-9  # below this a float program says nothing; exact arithmetic does


class Clock:
    """Raises when the time is over."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds, self.began = seconds, time.perf_counter()

    @property
    def left(self) -> float | None:
        """Seconds that remain."""
        if self.seconds is None:
            return None
        return max(self.seconds - (time.perf_counter() - self.began), 0.0)

    def tick(self, stage: str) -> None:
        if self.left == 0:
            raise UndecidedError(
                f"no proof within {self.seconds} s: stopped {stage}. Give more time."
            )


class Signs:
    """The search. `at` are the numbers of the space's rows among all rows.

    `inner` is a member with w.z_i > 0 on all rows of the space; `clock` is told how far it
    came, and may raise.
    """

    def __init__(
        self,
        space: Space,
        at: npt.NDArray[np.int64],
        inner: tuple[Number, ...],
        clock: Clock,
    ) -> None:
        self.space, self.at, self.inner, self.clock = space, at, inner, clock
        self.moving = [j for j in space.kept if space.moves(j)]
        self.members: list[tuple[Number, ...]] = []
        self.up: dict[int, int] = {}
        self.down: dict[int, int] = {}
        self.bound: dict[int, Combination] = {}
        self.centre = space.coordinates(inner)
        self.working = np.empty(0, dtype=np.int64)
        self.Q = np.empty((0, space.width))
        self.program: SignProgram | None = None

    def claims(self, hints: Sequence[tuple[Number, ...]] = ()) -> list[Claim]:
        """For every kept column which signs it takes, each with its proof in `members`."""
        for w in (self.inner, *hints):
            self._member(w)
        if self.space.width > WIDE:
            self._start()
            self._by_perceptrons()
        self._by_rays()
        if self._open() and not self.working.size:
            self._start()
        for j in self.moving:
            for sign, known in ((1, self.up), (-1, self.down)):
                if j not in known and j not in self.bound:
                    self._settle(j, sign)
        return [
            Claim(j, self.up.get(j), self.down.get(j), self.bound.get(j)) for j in self.space.kept
        ]

    def _open(self) -> dict[int, int]:
        """Columns of which a sign is missing, and that sign (both missing: 1)."""
        missing = {}
        for j in self.moving:
            if j not in self.bound and not (j in self.up and j in self.down):
                missing[j] = -1 if j in self.up else 1
        return missing

    def _tell(self) -> None:
        self.clock.tick(f"with {len(self._open())} of {len(self.space.kept)} coefficients open")

    # ------------------------------------------------------------------ members

    def _wrong(self, w: Sequence[Number]) -> npt.NDArray[np.int64]:
        """The rows with w.z_i < 0, exactly."""
        rows, intercept = self.space.rows, self.space.intercept
        d = rows.n_features
        found = checker.signs(rows, w[:d], w[d] if intercept else 0.0, intercept)
        return np.flatnonzero(found < 0)

    def _member(self, w: Sequence[Number]) -> bool:
        """Keep w if it is in the cone and shows a sign not seen before."""
        up = [j for j in self.moving if w[j] > 0 and j not in self.up]
        down = [j for j in self.moving if w[j] < 0 and j not in self.down]
        if not (up or down) or self._wrong(w).size:
            return False
        self.members.append(tuple(w))
        self.up.update(dict.fromkeys(up, len(self.members) - 1))
        self.down.update(dict.fromkeys(down, len(self.members) - 1))
        return True

    def _near(self, v: Array, j: int | None = None, sign: int = 0) -> bool:
        """A member near v (short numbers first), with this sign at j if asked."""
        for bits in (12, 53) if np.isfinite(v).all() and v.any() else ():
            w = self.space.rounded(v, bits)
            if (j is None or w[j] * sign > 0) and self._member(w):
                return True
        return False

    # ------------------------------------------------------------------ the working set

    def _add(self, rows: npt.NDArray[np.int64]) -> bool:
        new = np.setdiff1d(rows, self.working)
        if new.size:
            self.working = np.concatenate([self.working, new])
            self.Q = np.vstack([self.Q, self.space.scaled(new)])
        return bool(new.size)

    def _worst(self, scores: Array, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Those of the rows furthest on the wrong side."""
        size = 2 * self.space.width + 20
        return np.asarray(rows[np.argsort(scores[rows], kind="stable")[:size]])

    def _start(self) -> None:
        """The hardest rows, and a few others."""
        n = self.space.rows.n_rows
        self._add(self._worst(self.space.scores(self.centre), np.arange(n)))
        rng = np.random.default_rng(0)
        self._add(rng.choice(n, min(n, self.space.width + 20), replace=False))

    # ------------------------------------------------------------------ perceptrons

    def _by_perceptrons(self) -> None:
        """Members with many missing signs at once: from a start that has them, a perceptron."""
        rng, idle = np.random.default_rng(0), 0
        for k in range(STARTS):
            missing = self._open()
            if not missing or idle == 3:
                return
            self._tell()
            towards = np.zeros(self.space.width)
            for j, sign in missing.items():
                towards += sign * self.space.gradient(j) * rng.uniform(0.5, 1.5)
            v = self._separating(self.centre + 4.0 ** (k % 4) * towards / (_top(towards) or 1.0))
            found = v is not None and self._near(v)
            idle = 0 if found else idle + 1

    def _separating(self, v: Array) -> Array | None:
        """A perceptron on the working set, which grows by the rows it gets wrong."""
        settings = TrainingSettings(
            fit_intercept=False, max_iter=PASSES, max_updates=100_000, cycle=False
        )
        for _ in range(20):
            ones = np.ones(len(self.Q), dtype=np.int8)
            problem = Problem(np.ascontiguousarray(self.Q), ones, np.array([-1, 1]))
            try:
                trace, v, _ = train(problem, settings, state=State.at(v, np.zeros(1)))
            except RosenblattError:
                return None
            if trace.stop_reason != "separated":
                return None
            scores = self.space.scores(v)
            wrong = np.flatnonzero(scores <= 0)
            if not wrong.size:
                return v
            if not self._add(self._worst(scores, wrong)):
                return None
        return None

    # ------------------------------------------------------------------ rays

    def _by_rays(self) -> None:
        """Members with many missing signs at once, along the gradients of their columns."""
        centre = self.centre
        for _ in range(ROUNDS):
            missing = self._open()
            if not missing:
                return
            self._tell()
            G = np.array([sign * self.space.gradient(j) for j, sign in missing.items()])
            D = G * self._reach(centre, G)[:, None]
            with np.errstate(all="ignore"):  # the part of every ray that turns its sign
                needs = np.nan_to_num(-(G @ centre) / np.einsum("ij,ij->i", G, D), nan=np.inf)
                shares = np.maximum(1.25 * needs, 0) + MARGIN
            order = np.argsort(shares)[: int((shares < 1).sum())]
            rays = D[order] * shares[order, None]
            ends = self._ends(centre, rays)
            if not ends:
                return
            centre = (centre + sum(ends)) / (1 + len(ends))

    def _ends(self, centre: Array, rays: Array) -> list[Array]:
        """Members at the ends of sums of rays, as many rays at a time as the cone admits."""
        found: list[Array] = []
        while len(rays) and len(found) < MOST_ENDS:
            self._tell()
            sizes = len(rays) // 2 ** np.arange(int(np.log2(len(rays))) + 1)
            sums = np.cumsum(rays, axis=0)[sizes - 1]
            lengths = self.space.ray_lengths(centre, sums)
            k = next((k for k, length in enumerate(lengths) if length > 1), len(sizes) - 1)
            v = centre + min(1.0, 0.99 * lengths[k]) * sums[k]
            if self._near(v):
                found.append(v)
            rays = rays[sizes[k] :]
        return found

    def _reach(self, centre: Array, D: Array) -> Array:
        """How far one can go from the centre along every row of D, within some bounds."""
        most = 8 * _top(centre) / np.maximum(np.abs(D).max(axis=1), 1e-300)
        return np.asarray(np.minimum(self.space.ray_lengths(centre, D), most))

    # ------------------------------------------------------------------ one sign of one column

    def _settle(self, j: int, sign: int) -> None:
        """A member with this sign at j, or weights that show there is none."""
        self._tell()
        if not self._by_program(j, sign):
            self._by_rationals(j, sign)

    def _by_program(self, j: int, sign: int) -> bool:
        """The same by linear programs; False if floats cannot tell."""
        g = -sign * self.space.gradient(j)
        if self.program is None:
            self.program = SignProgram(self.space.width)
        while g.any():
            self._tell()
            self.program.add_rows(self.Q[self.program.n_rows :])
            found = self.program.minimise(g, self.clock.left)
            if found is None:
                return False
            value, v, active = found
            if value > -SMALL:
                return self._bounds(j, -sign, self.working[active])
            inward = self.centre * min(1.0, -value / (2 * abs(g @ self.centre) + 1e-300))
            if self._near(v + inward, j, sign) or self._near(v + 1e-3 * inward, j, sign):
                return True
            scores = self.space.scores(v)
            if not self._add(self._worst(scores, np.flatnonzero(scores < 0))):
                return False
        return False

    def _bounds(self, j: int, sign: int, rows: npt.NDArray[np.int64]) -> bool:
        """Weights c_i >= 0 on these rows with sum c_i q_i = sign g_j, if that is so."""
        if not rows.size:
            return False
        table, factors = self.space.products(rows)
        basis, pivots = independent(integer_residues(table))
        target = [sign * v for v in self.space.exact_gradient(j)]
        matrix = [[table[k][a] for k in basis] for a in pivots]
        weights = solve(matrix, [target[a] for a in pivots])
        if any(c < 0 for c in weights):
            return False
        common, *whole = common_integers([1, *weights])
        sums = fmpz_mat([whole]) * fmpz_mat([table[k] for k in basis])
        if [int(v) for v in sums.entries()] != [int(common * v) for v in target]:
            return False
        pairs = zip(basis, weights, strict=True)
        self._bounded(j, {int(rows[k]): c * factors[k] for k, c in pairs if c})
        return True

    def _bounded(self, j: int, weights: dict[int, Fraction]) -> None:
        order = sorted(weights)
        self.bound[j] = Combination(
            tuple(int(self.at[k]) for k in order), tuple(weights[k] for k in order)
        )

    def _by_rationals(self, j: int, sign: int) -> None:
        """Floats cannot see it: a few rows over the rationals, more where the answer errs.

        Some u has u.q_i > 0 for all of them, so what cancels contains the goal, sign g_j.
        """
        goal, factor = coprime([sign * v for v in self.space.exact_gradient(j)])
        rows = self.working[: 2 * self.space.width + 20]
        while True:
            table, factors = self.space.products(rows)
            found = decide([*table, goal], self._tell)
            if found.weights[-1]:
                last = found.weights[-1] * factor
                each = zip(rows.tolist(), found.weights[:-1], factors, strict=True)
                return self._bounded(j, {i: c * f / last for i, c, f in each if c})
            w = self.space.vector(found.w)
            if self._member(w):
                return None
            new = np.setdiff1d(self._wrong(w), rows)
            rows = np.concatenate([rows, new[: self.space.width + 10]])


def _top(v: Array) -> float:
    return float(np.abs(v).max(initial=0.0))
