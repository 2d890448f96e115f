"""A checker of under 200 lines, written from the page on the format, agrees with `verify`."""

import json
from random import Random

import numpy as np
import pytest
from hypothesis import settings

from rosenblatt import NotSeparableError, max_margin, separability
from rosenblatt.errors import DataError
from rosenblatt.prove.certificate import from_json
from tests.prove.format_checker import check
from tests.prove.test_mutations import json_mutants

CASES = 20 + settings.default.max_examples  # 1,000 in all, half of them altered, were run once


def results(seed):
    """A verdict or a margin of random small rows, ties and duplicates included."""
    rng, random = np.random.default_rng(seed), Random(seed)
    n, d = random.randint(2, 8), random.randint(1, 3)
    X = rng.integers(-3, 4, (n, d)) * random.choice([1.0, 0.1, 2.0**-40])
    y = np.resize([0, 1], n)
    if random.random() < 0.5:
        score = X @ rng.integers(-2, 3, d) + random.choice([0, 1])
        y = (score > 0).astype(int)
        y[:2] = [0, 1]
    offset = random.random() < 0.6
    if random.random() < 0.4:
        try:
            augmented = offset and random.random() < 0.5
            return max_margin(X, y, fit_intercept=offset, augmented=augmented), X, y
        except NotSeparableError:
            pass
    return separability(X, y, fit_intercept=offset), X, y


def answers(text, X, y):
    """Whether the package accepts the text, and whether the checker of the page does."""
    try:
        ours = bool(from_json(text).verify(X, y))
    except DataError:
        ours = False
    return ours, check(text, X.tolist(), y.tolist())


@pytest.mark.parametrize("seed", range(CASES))
def test_a_checker_written_from_the_page_agrees(seed):
    result, X, y = results(seed)
    text = result.to_json()
    assert answers(text, X, y) == (True, True)
    for where, altered in json_mutants(text, 1, seed):
        ours, theirs = answers(altered, X, y)
        assert ours == theirs, (where, json.loads(altered))
