"""Removals from above: few groups to take away so that a hyperplane is right about the others.

The elastic program says how far each group is from being right. The one furthest away is taken
out, the program solved again, until nothing is wrong [Chinneck 1996]; then every group taken out
that fits in again is put back. Hyperplanes on the way that err little are improved one weight at
a time, each set to where the least mass is wrong. To get out of a local minimum some of the
groups taken out are declared right, at any price, and it starts over from there. All of it in
floats: proposals.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.prove.separability.linear_programs import Program

Array = npt.NDArray[Any]
ALL = 30_000  # groups that are all in the program from the start
NOTHING = 1e-9  # of the elastic optimum
ROOM = 1e-9  # least gap between thresholds in which a step may end
ROUNDS = 150  # programs in one descent, about
CANDIDATES = 7  # tried out before one is taken, when there is time
NEAR = 1.05  # hyperplanes wrong about at most this many times the least mass so far are improved
FAR = 1e100  # how far a weight may go in one step
PRICE = 1000.0  # how many times its mass a group counts that is declared right


class ElasticProgram:
    """How far groups are from being separable, and the hyperplane that says so.

    Maximise sum_g c_g with sum_g c_g z_g = 0 and 0 <= c_g <= m_g. The multipliers v minimise
    sum_g m_g max(0, 1 - z_g.v), and the optimum is 0 exactly when the groups with m_g > 0 are
    separable. Of many groups only some are in the program: those with z_g.v < 1 come in as they
    show up, the others would have c_g = 0 anyway.
    """

    def __init__(self, Z: Any, mass: Array) -> None:
        n, p = Z.shape
        self.Z, self.mass = Z, np.asarray(mass, dtype=np.float64)
        self.latest = _least_squares(Z, self.mass)  # weights to go on with if time runs out
        few = np.arange(n)
        if n > ALL:  # to begin with: the most wrong, the nearest to the hyperplane, any
            scores, every = Z @ self.latest, n // (50 * p) + 1
            worst, near = np.argsort(scores)[: 50 * p], np.argsort(np.abs(scores))[: 50 * p]
            few = np.unique(np.concatenate([worst, near, few[::every]]))
        self.at = few  # the groups in the program, in its order
        self.outside = np.ones(n, dtype=bool)
        self.outside[few] = False
        self.program = Program(np.zeros(p), maximise=True)
        self.program.add(Z[few], np.ones(len(few)), self.mass[few])

    def solve(self, mass: Array, until: float) -> tuple[float, Array] | None:
        """The optimum and the weights v, for these masses (0: the group is out)."""
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

    def _enter(self, groups: Array) -> None:
        self.program.add(self.Z[groups], np.ones(len(groups)), self.mass[groups])
        self.outside[groups] = False
        self.at = np.append(self.at, groups)


class Descent:
    """Removals of falling mass. `until` is the clock at which it ends."""

    def __init__(self, elastic: ElasticProgram, rng: np.random.Generator, until: float) -> None:
        self.elastic, self.Z, self.mass = elastic, elastic.Z, elastic.mass
        self.rng, self.until = rng, until
        self.columns = sp.csc_array(self.Z)
        self.columns.eliminate_zeros()

    def run(self, tries: int) -> Iterator[Array]:
        """Weights v that are wrong about less mass than all before."""
        best, out = np.inf, np.zeros(len(self.mass), dtype=bool)
        for k in range(tries):
            start = self.mass if k < 2 else self._shaken(out)
            for v in self._descend(start, careful=k == 1):
                wrong, found = self._wrong(v)
                if found <= NEAR * best:
                    v = self._improved(v)
                    wrong, found = self._wrong(v)
                if found < best:
                    yield v
                if found <= best:
                    best, out = found, wrong
            if self._late() or best == 0 or (k == 1 and out.sum() <= 1):
                return

    def _wrong(self, v: Array) -> tuple[Array, float]:
        """The groups that v is wrong about, and their mass."""
        wrong = self.Z @ v <= 0
        return wrong, float(self.mass[wrong].sum())

    def _improved(self, v: Array) -> Array:
        """Set one weight after the other to where the least mass is wrong, while that helps."""
        v, scores = v.copy(), self.Z @ v
        j, since, ends = 0, 0, self.columns.indptr
        while since < len(v) and not self._late():
            column = slice(ends[j], ends[j + 1])
            rows, x = self.columns.indices[column], self.columns.data[column]
            step = best_step(scores[rows], x, self.mass[rows])
            if step:
                v[j] += step
                scores[rows] += step * x
            j, since = (j + 1) % len(v), 0 if step else since + 1
        return v

    def _late(self) -> bool:
        return time.perf_counter() > self.until

    def _descend(self, start: Array, careful: bool) -> Iterator[Array]:
        """Take out the worst until nothing is wrong, then put back what fits."""
        mass = start.copy()
        found = self.elastic.solve(mass, self.until)
        while found is not None and found[0] > NOTHING:
            yield found[1]
            slack = np.where((mass > 0) & (mass <= self.mass), 1 - self.Z @ found[1], 0.0)
            if self._late() or slack.max(initial=0.0) <= NOTHING:
                return
            mass[self._worst(slack, mass, careful)] = 0.0
            found = self.elastic.solve(mass, self.until)
        if found is None:
            yield self.elastic.latest
            return
        yield found[1]
        yield from self._put_back(found[1], mass)

    def _worst(self, slack: Array, mass: Array, careful: bool) -> Array:
        """The group to take out: the furthest from being right; several if many are wrong."""
        several = 1 + int((slack >= 1).sum()) // ROUNDS
        order = np.argsort(-slack, kind="stable")
        if not careful or several > 1:
            return order[:several]
        best, choice = np.inf, int(order[0])
        for g in order[:CANDIDATES].tolist():
            if slack[g] <= NOTHING or self._late():
                break
            found = self._with(mass, g, 0.0)
            if found is not None and found[0] < best:
                best, choice = found[0], g
        return np.array([choice])

    def _with(self, mass: Array, group: int, its_mass: float) -> tuple[float, Array] | None:
        """The optimum if one group had another mass."""
        trial = mass.copy()
        trial[group] = its_mass
        return self.elastic.solve(trial, self.until)

    def _put_back(self, v: Array, mass: Array) -> Iterator[Array]:
        scores = self.Z @ v
        out = np.flatnonzero(mass == 0)
        for g in out[np.argsort(-scores[out], kind="stable")].tolist():
            if self._late():
                return
            if self.Z[[g]] @ v > 0:
                mass[g] = self.mass[g]
                continue
            found = self._with(mass, g, self.mass[g])
            if found is not None and found[0] <= NOTHING:
                v, mass[g] = found[1], self.mass[g]
                yield v

    def _shaken(self, out: Array) -> Array:
        """Some of the groups taken out are now to be right; the others stay out, or come back."""
        mass = self.mass.copy()
        if self.rng.random() < 0.5:
            mass[out] = 0.0
        at = np.flatnonzero(out)
        if at.size:
            few = int(self.rng.integers(1, 1 + max(1, min(5, at.size // 2))))
            forced = self.rng.choice(at, size=few, replace=False)
            mass[forced] = self.mass[forced] * PRICE
        return mass


def best_step(scores: Array, x: Array, mass: Array) -> float:
    """The t for which the mass with scores + t x <= 0 is least; 0 if no t beats t = 0.

    A group is right above its threshold -score / x where x > 0, and below it where x < 0.
    """
    with np.errstate(over="ignore"):  # x may be tiny
        thresholds = -scores / x
    near = np.abs(thresholds) < FAR
    scores, mass, thresholds = scores[near], mass[near], thresholds[near]
    rises = x[near] > 0
    if not len(scores):
        return 0.0
    order = np.argsort(thresholds)
    at, change = thresholds[order], np.where(rises, -mass, mass)[order]
    wrong = mass[rises].sum() + np.concatenate([[0.0], np.cumsum(change)])
    ends = np.concatenate([at[:1] - 1.0, (at[1:] + at[:-1]) / 2, at[-1:] + 1.0])
    wrong[1:-1][at[1:] - at[:-1] <= ROOM] = np.inf  # no room between them
    k = int(np.argmin(wrong))
    return float(ends[k]) if wrong[k] < mass[scores <= 0].sum() else 0.0


def _least_squares(Z: Any, mass: Array) -> Array:
    """The weights v with the least sum_g m_g (z_g.v - 1)^2: a first guess that costs little."""
    weighted = sp.diags_array(mass) @ Z if sp.issparse(Z) else Z * mass[:, None]
    gram = weighted.T @ Z
    dense = np.asarray(gram.toarray() if sp.issparse(gram) else gram)
    return np.asarray(np.linalg.lstsq(dense, np.asarray(Z.T @ mass), rcond=None)[0])
