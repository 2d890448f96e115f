"""The machine of the core: stopping and going on, threads, overflow."""

import threading
import time

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


def test_a_machine_is_used_by_one_thread_at_a_time():
    X, y = rows_that_overlap()
    block = _core.Block(_core.Rows(X), y)
    endless = machine(50)
    running = threading.Thread(target=endless.epochs, args=(block, 10**9))
    running.start()
    try:
        while not endless.visits:
            time.sleep(0.001)
        with pytest.raises(ValueError, match="another thread"):
            endless.visit(block)
    finally:
        endless.cancel()
        running.join()


def direct_machine(d, n_classes):
    rule = _core.AdditiveRule(1.0, 0.0, 0, False, True)
    return _core.Machine(rule, np.zeros((n_classes, d)), np.zeros(n_classes), direct=True)


def test_arrays_of_the_wrong_size_are_refused():
    X, y = np.ones((4, 2)), np.array([0, 1, 2, 0], np.int32)
    rows = _core.Rows(X)
    with pytest.raises(ValueError, match="number of features"):
        machine(3).visit(_core.Block(rows, y))
    with pytest.raises(ValueError, match="one entry per row"):
        _core.Block(rows, y[:3])
    with pytest.raises(ValueError, match="one column per hyperplane"):
        direct_machine(2, 3).visit(_core.Block(rows, y, seen=np.zeros((4, 1))))
    with pytest.raises(ValueError, match="class number without a hyperplane"):
        direct_machine(2, 2).visit(_core.Block(rows, y))
    with pytest.raises(ValueError, match="one per class"):
        direct_machine(2, 1)


def test_a_tally_needs_the_same_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((8, 2)), np.arange(8, dtype=np.int32) % 3
    rule = _core.AdditiveRule(1.0, 0.0, 0, False, True)
    counting = _core.Machine(rule, np.zeros((3, 2)), np.zeros(3), direct=True, tally=True)
    counting.epochs(_core.Block(_core.Rows(X[:4]), y[:4]), 1)
    with pytest.raises(ValueError, match="a tally needs the same rows"):
        counting.epochs(_core.Block(_core.Rows(X), y), 1)


def additive():
    return _core.AdditiveRule(1.0, 0.0, 0, False, True)


RULES = {
    "additive": additive,
    "alma": lambda: _core.AlmaRule(0.3, 1.4, 0, True),
    "batch": lambda: _core.BatchRule(additive(), [1.0], False),
    "minover": lambda: _core.MinOverRule(0.1, 10, 4, 0, True),
}


def test_a_machine_that_remembers_rows_does_not_go_on_in_other_arrays():
    X, y = np.eye(3), np.arange(3, dtype=np.int32)
    given = {"direct": False, "positive": 1, "sign": 1.0, "class_weight": []}
    for one in (
        machine(2, pocket=True),
        _core.Machine(RULES["minover"](), np.zeros((1, 2)), np.zeros(1)),
    ):
        with pytest.raises(ValueError, match="cannot go on in other arrays"):
            one.moved(np.zeros((1, 3)), np.zeros(1), **given)
    counting = _core.Machine(additive(), np.zeros((3, 3)), np.zeros(3), direct=True, tally=True)
    counting.visit(_core.Block(_core.Rows(X), y), 1)
    with pytest.raises(ValueError, match="within an epoch"):
        counting.moved(np.zeros((3, 4)), np.zeros(3), **given | {"direct": True})


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (0, 0)])
def test_no_rows_or_no_features(rule, shape):
    n, d = shape
    empty = _core.Machine(rule(), np.zeros((1, d)), np.zeros(1), pocket=True)
    block = _core.Block(_core.Rows(np.zeros(shape)), np.arange(n, dtype=np.int32) % 2)
    assert empty.epochs(block, 3) in (_core.Code.SEPARATED, _core.Code.RUNNING)
    w, b, _ = empty.pocket
    assert (w.shape, b.shape) == ((1, d), (1,))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_rows_that_take_no_part_move_nothing(rule):
    w, b = np.zeros((1, 2)), np.zeros(1)
    made = _core.Machine(rule(), w, b)
    X, y = np.ones((3, 2)), np.array([-1, 0, 1], np.int32)
    block = _core.Block(_core.Rows(X), y, np.array([1.0, 0.0, 0.0]))
    assert made.epochs(block, 3) is _core.Code.SEPARATED
    assert not w.any()
    assert not b.any()
