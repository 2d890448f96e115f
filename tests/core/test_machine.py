"""The machine of the core: stopping and going on, threads, overflow."""

import threading

import numpy as np
import pytest

from rosenblatt import Perceptron, _core
from rosenblatt.errors import OverflowedError


def rows_that_overlap(n=2_000, d=50):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)), (rng.random(n) < 0.5).astype(np.int32)


def machine(d, **settings):
    rule = _core.AdditiveRule(1.0, 0.0, 0, False, True)
    return _core.Machine(rule, np.zeros((1, d)), np.zeros(1), **settings)


def test_other_threads_run_during_a_fit():
    """The compiled loop does not hold the interpreter: another thread can cancel it."""
    X, y = rows_that_overlap()
    block = _core.Block(_core.Rows(X), y)
    endless = machine(50)
    threading.Timer(0.05, endless.cancel).start()
    assert endless.epochs(block, 10**9) is _core.Code.INTERRUPTED


@pytest.mark.parametrize("shuffle", [True, False])
def test_overflow_is_an_error(shuffle):
    X = np.array([[1e200], [-1e200], [1.0]])
    clf = Perceptron(eta0=1e150, shuffle=shuffle)
    with pytest.raises(OverflowedError, match="epoch #"):
        clf.fit(X, [-1, 1, 1])
