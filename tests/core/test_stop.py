"""Stop tests and orders of visits of the core, as machines written in Python use them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt._core import Code, Order, Stop
from rosenblatt.learn import reference


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0.0, 0.25, 0.5, 1.0, None]))),
    st.sampled_from([None, 0.0, 0.25]),
    st.integers(1, 3),
    st.booleans(),
)
def test_clean_then_no_gain(epochs, tol, patience, clean):
    stop, best, stalled = Stop(tol=tol, patience=patience, clean=clean), np.inf, 0
    for updates, objective in epochs:
        if clean and updates == 0:
            expected = Code.SEPARATED
        elif objective is None:
            expected = Code.RUNNING
        else:
            stalled = stalled + 1 if tol is not None and objective > best - tol else 0
            best = min(best, objective)
            expected = Code.NO_IMPROVEMENT if stalled >= patience else Code.RUNNING
        assert stop.end_epoch(updates, objective) == expected


@given(st.integers(0, 9), st.integers(1, 9))
def test_weights_that_come_back_are_a_cycle(tail, length):
    """Weights go through `tail` epochs and then around a cycle; each epoch has two updates."""
    stop = Stop(watch_cycle=True)
    weights = [*range(tail), *itertools.islice(itertools.cycle(range(tail, tail + length)), 99)]
    w, b = np.zeros((2, 3)), np.zeros(2)
    w[1, 2], b[0] = weights[0], -weights[0]
    stop.start(w, b)
    for number in weights[1:]:
        w[1, 2], b[0] = number, -number
        code = stop.end_epoch(2, 1.0, w, b)
        if code != Code.RUNNING:
            break
    assert code == Code.CYCLE
    assert (stop.cycle_length, stop.cycle_updates) == (length, 2 * length)
    assert stop.end_epoch(0, 1.0, w, b) == Code.SEPARATED  # the clean test comes first


def test_a_cycle_needs_weights_of_one_shape():
    stop, w, b = Stop(watch_cycle=True), np.zeros((1, 2)), np.zeros(1)
    with pytest.raises(ValueError, match="start"):
        stop.end_epoch(1, 1.0, w, b)
    stop.start(w, b)
    with pytest.raises(ValueError, match="after each epoch"):
        stop.end_epoch(1, 1.0)
    with pytest.raises(ValueError, match="as many"):
        stop.end_epoch(1, 1.0, np.zeros((1, 3)), b)
    with pytest.raises(ValueError, match="one entry per row"):
        stop.start(w, np.zeros(2))


@given(st.integers(1, 40), st.integers(0, 2**31 - 1))
def test_orders_are_those_of_the_reference(n, seed):
    expected = reference.shuffled(n, seed)
    shuffled, plain = Order(1, seed), Order()
    for _ in range(3):
        assert shuffled.arrange(n).tolist() == next(expected)
        assert plain.arrange(n).tolist() == list(range(n))
    with pytest.raises(ValueError, match="kind"):
        Order(3)
