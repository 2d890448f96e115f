"""A run can stop after any visit and go on to the same bits."""

import numpy as np
import pytest

from rosenblatt import _core
from tests.core.machines import SETTINGS, D, contents, core_block, machine, rows, takes_weights

EPOCHS = 3


def block_for(settings):
    X, y, weight = rows()
    y = y if settings.direct else (y > 0).astype(np.int32)
    return core_block(X, y, weight if takes_weights(settings) else None)


def whole(settings):
    made, state = machine(settings)
    code = made.core.epochs(block_for(settings), EPOCHS)
    return contents(made, state), code


def one_visit_at_a_time(made, block, after_visit=lambda: None):
    code = _core.Code.RUNNING
    while code is _core.Code.RUNNING and made.core.n_epochs < EPOCHS:
        visited = made.core.visit(block, 1)
        after_visit()
        if visited is _core.Code.RUNNING and made.core.position:
            continue
        made.core.close_epoch(block)
        code = made.core.judge(block)
    return code


@pytest.mark.parametrize("name", SETTINGS)
def test_every_visit_is_a_place_to_stop(name):
    settings = SETTINGS[name]
    expected, code = whole(settings)
    made, state = machine(settings)
    assert one_visit_at_a_time(made, block_for(settings)) is code
    assert contents(made, state) == expected


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("width", [D, D + 3], ids=["same arrays", "room for more features"])
def test_another_machine_goes_on_from_what_was_saved(name, width):
    """After every visit the state is copied, and a new machine takes over."""
    settings = SETTINGS[name]
    if width != D and settings.rule.full_covariance:
        pytest.skip("a full covariance does not grow")
    block = block_for(settings)
    made, state = machine(settings)
    reached = _core.Code.RUNNING
    while reached is _core.Code.RUNNING and made.core.n_epochs < EPOCHS:
        visited = made.core.visit(block, 1)
        if visited is not _core.Code.RUNNING or not made.core.position:
            made.core.close_epoch(block)
            reached = made.core.judge(block)
        state = state.copy()
        if width != D:  # arrays of a state with spare room, as late features need it
            state.widen(width, settings.rule)
            state.n_features = D
        before, (made, _) = made, machine(settings)
        made.state = state
        made.core = made._make()
        made.core.set_state(before.core.get_state())
    first, first_state = machine(settings)
    assert first.core.epochs(block, EPOCHS) is reached
    for name in ("w", "b", "u", "ub", "variance"):
        ours, theirs = getattr(state, name), getattr(first_state, name)
        if theirs is not None:
            assert np.array_equal(ours[:, : theirs.shape[1]] if theirs.ndim == 2 else ours, theirs)
    if settings.keep == "pocket":
        for ours, theirs in zip(made.core.pocket, first.core.pocket, strict=True):
            assert np.array_equal(ours, theirs)
    if settings.rule.needs_all_rows:
        assert made.core.margin == first.core.margin


@pytest.mark.parametrize("name", [n for n, s in SETTINGS.items() if s.one_row_at_a_time])
def test_the_score_of_every_visit_can_be_recorded(name):
    """Scores are those before each visit; recording them changes nothing."""
    settings = SETTINGS[name]
    expected, _ = whole(settings)
    X, y, weight = rows()
    y = y if settings.direct else (y > 0).astype(np.int32)
    planes = 3 if settings.direct else 1
    seen = np.full((len(y), planes), np.nan)
    block = core_block(X, y, weight if takes_weights(settings) else None, seen=seen)
    made, state = machine(settings)
    before = {}

    def note():
        before.update({i: seen[i].copy() for i in range(len(y)) if not np.isnan(seen[i]).any()})

    one_visit_at_a_time(made, block, note)
    assert contents(made, state) == expected
    if settings.order != "sample":
        assert len(before) == len(y)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_state_that_does_not_fit_changes_nothing(name):
    settings = SETTINGS[name]
    made, _ = machine(settings)
    made.core.visit(block_for(settings), 1)
    before = made.core.get_state()
    for field, value in before.items():
        wrong = np.full(5, 99) if isinstance(value, np.ndarray) else "text"
        others = {f: np.zeros_like(v) for f, v in before.items()}
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            made.core.set_state({**others, field: wrong})
        after = made.core.get_state()
        assert all(np.array_equal(after[f], v, equal_nan=True) for f, v in before.items())
    with pytest.raises(KeyError):
        made.core.set_state({})


def test_orders_and_pockets_that_do_not_fit_are_refused():
    made, _ = machine(SETTINGS["perceptron"])
    with pytest.raises(ValueError, match="order was given"):
        made.core.set_state({**made.core.get_state(), "order": np.zeros(1, np.int64)})
    made, _ = machine(SETTINGS["pocket"])
    made.core.visit(block_for(SETTINGS["pocket"]), 1)
    with pytest.raises(ValueError, match="pocket_w and pocket_b"):
        made.core.set_state({**made.core.get_state(), "pocket_w": np.zeros(0)})


def test_seen_must_be_contiguous():
    X, y, _ = rows()
    with pytest.raises(ValueError, match="seen is not C-contiguous"):
        core_block(X, y, seen=np.zeros((len(y), 3))[:, ::-1])
