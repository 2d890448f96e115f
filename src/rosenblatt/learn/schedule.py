"""Schedule: who is visited next: in order, shuffled by seed, or sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rosenblatt.learn import kernels

MAX_INT = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Schedule:
    """The order of visits. `seed` is a number from 0 to 2**31 - 1.

    "order": rows as they stand, pass after pass. "shuffle": a new permutation each pass,
    the one scikit-learn makes from the same seed. "sample": n draws with replacement.
    """

    kind: Literal["order", "shuffle", "sample"] = "order"
    seed: int = 0

    @property
    def fixed(self) -> bool:
        """Whether every pass visits the same rows in the same order."""
        return self.kind == "order"

    def order(self, n_rows: int) -> kernels.Order:
        """The state the kernels walk through."""
        code = {"order": kernels.IN_ORDER, "shuffle": kernels.SHUFFLED, "sample": kernels.SAMPLED}
        index = np.arange(0 if self.fixed else n_rows, dtype=np.int64)
        return kernels.Order(code[self.kind], index, np.array([self.seed], dtype=np.uint32))


def generator(random_state: Any) -> np.random.RandomState:
    """numpy's legacy generator, as scikit-learn's check_random_state gives it."""
    if random_state is None or random_state is np.random:
        return np.random.mtrand._rand
    if isinstance(random_state, np.random.RandomState):
        return random_state
    return np.random.RandomState(random_state)


def seed_for_two_classes(random_state: Any) -> int:
    """The shuffling seed scikit-learn draws: one number is spent on its data set first."""
    rng = generator(random_state)
    rng.randint(1, MAX_INT)
    return int(rng.randint(MAX_INT))


def seeds_for_each_class(random_state: Any, n_classes: int) -> list[int]:
    """One shuffling seed per one-vs-rest problem, as scikit-learn draws them."""
    seeds = generator(random_state).randint(MAX_INT, size=n_classes)
    return [seed_for_two_classes(int(seed)) for seed in seeds]
