"""Schedule: seeds of the order of visits, drawn as scikit-learn draws them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

MAX_INT = np.iinfo(np.int32).max
T = TypeVar("T")


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
