"""Removal: few rays to take away so that a hyperplane is right about the others.

The elastic program says how far each ray is from being right. The one furthest away is taken
out, the program solved again, until nothing is wrong [Chinneck 1996]; then every ray taken out
that fits in again is put back. To get out of a local minimum some of the rays taken out are
declared right, at any price, and it starts over from there. All of it in floats: proposals.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.prove.removal.programs import Elastic

Array = npt.NDArray[Any]
NOTHING = 1e-9  # of the elastic optimum
ROUNDS = 150  # programs in one descent, about
CANDIDATES = 7  # tried out before one is taken, when there is time
PRICE = 1000.0  # how many times its mass a ray counts that is declared right


class Descent:
    """Removals of falling mass. `until` is the clock at which it ends."""

    def __init__(
        self, Z: Any, mass: Array, elastic: Elastic, rng: np.random.Generator, until: float
    ) -> None:
        self.Z, self.mass, self.elastic, self.rng = Z, mass.astype(np.float64), elastic, rng
        self.until = until

    def run(self, tries: int) -> Iterator[Array]:
        """Weights v that are wrong about less mass than all before."""
        best, out = np.inf, np.zeros(len(self.mass), dtype=bool)
        for k in range(tries):
            start = self.mass if k < 2 else self._shaken(out)
            for v in self._descend(start, careful=k == 1):
                wrong = self.Z @ v <= 0
                found = float(self.mass[wrong].sum())
                if found < best:
                    yield v
                if found <= best:
                    best, out = found, wrong
            if self._late() or best == 0 or (k == 1 and out.sum() <= 1):
                return

    def _late(self) -> bool:
        return time.perf_counter() > self.until

    def _solve(self, mass: Array) -> tuple[float, Array] | None:
        return self.elastic.solve(mass, self.until - time.perf_counter())

    def _descend(self, start: Array, careful: bool) -> Iterator[Array]:
        """Take out the worst until nothing is wrong, then put back what fits."""
        mass = start.copy()
        found = self._solve(mass)
        while found is not None and found[0] > NOTHING:
            yield found[1]
            slack = np.where((mass > 0) & (mass <= self.mass), 1 - self.Z @ found[1], 0.0)
            if self._late() or slack.max(initial=0.0) <= NOTHING:
                return
            mass[self._worst(slack, mass, careful)] = 0.0
            found = self._solve(mass)
        if found is None:
            yield self.elastic.latest
            return
        yield found[1]
        yield from self._put_back(found[1], mass)

    def _worst(self, slack: Array, mass: Array, careful: bool) -> Array:
        """The ray to take out: the furthest from being right; several at once if many are wrong."""
        several = 1 + int((slack >= 1).sum()) // ROUNDS
        order = np.argsort(-slack, kind="stable")
        if not careful or several > 1:
            return order[:several]
        best, choice = np.inf, int(order[0])
        for g in order[:CANDIDATES].tolist():
            if slack[g] <= NOTHING or self._late():
                break
            trial = mass.copy()
            trial[g] = 0.0
            found = self._solve(trial)
            if found is not None and found[0] < best:
                best, choice = found[0], g
        return np.array([choice])

    def _put_back(self, v: Array, mass: Array) -> Iterator[Array]:
        scores = self.Z @ v
        out = np.flatnonzero(mass == 0)
        for g in out[np.argsort(-scores[out], kind="stable")].tolist():
            if self._late():
                return
            if self.Z[[g]] @ v > 0:
                mass[g] = self.mass[g]
                continue
            trial = mass.copy()
            trial[g] = self.mass[g]
            found = self._solve(trial)
            if found is not None and found[0] <= NOTHING:
                v, mass = found[1], trial
                yield v

    def _shaken(self, out: Array) -> Array:
        """Some of the rays taken out are now to be right; the others stay out, or come back."""
        mass = self.mass.copy()
        if self.rng.random() < 0.5:
            mass[out] = 0.0
        at = np.flatnonzero(out)
        if at.size:
            few = int(self.rng.integers(1, 1 + max(1, min(5, at.size // 2))))
            forced = self.rng.choice(at, size=few, replace=False)
            mass[forced] = self.mass[forced] * PRICE
        return mass
