"""Schedule: who is visited next: in order, shuffled by seed, or sampled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from rosenblatt.errors import ParameterError

MAX_INT = np.iinfo(np.int32).max
T = TypeVar("T")


@dataclass(frozen=True)
class Schedule:
    """The order of visits. `seed` is a number from 0 to 2**31 - 1.

    "order": rows as they stand, pass after pass. "shuffle": a new permutation each pass,
    the one scikit-learn makes from the same seed. "sample": n draws with replacement.
    """

    kind: Literal["order", "shuffle", "sample"] = "order"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in ("order", "shuffle", "sample"):
            raise ParameterError(f"kind must be order, shuffle or sample, got {self.kind!r}.")

    @property
    def fixed(self) -> bool:
        """Whether every pass visits the same rows in the same order."""
        return self.kind == "order"


def generator(random_state: Any) -> np.random.RandomState:
    """numpy's legacy generator, as scikit-learn's check_random_state gives it."""
    if random_state is None or random_state is np.random:
        return np.random.mtrand._rand
    if isinstance(random_state, np.random.RandomState):
        return random_state
    return np.random.RandomState(random_state)


def seeds_and_split(random_state: Any, runs: int, split: Callable[[], T]) -> tuple[list[int], T]:
    """The shuffling seed of each run, and the held-out rows, drawn in scikit-learn's order.

    A generator given as `random_state` moves with every draw, so the order matters: with one
    run, a number is spent on scikit-learn's data set, then the rows are held out, then the
    seed is drawn; with one run per class, the rows come first and each run has its own seed.
    """
    if runs == 1:
        rng = generator(random_state)
        rng.randint(1, MAX_INT)
        held = split()
        return [int(rng.randint(MAX_INT))], held
    held = split()
    seeds = generator(random_state).randint(MAX_INT, size=runs)
    return [seeds_and_split(int(seed), 1, lambda: None)[0][0] for seed in seeds], held
