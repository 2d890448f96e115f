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


RESUMED = [n for n, s in SETTINGS.items() if not s.rule.needs_all_rows and s.keep != "pocket"]


@pytest.mark.parametrize("name", RESUMED)
@pytest.mark.parametrize("width", [D, D + 3], ids=["same arrays", "room for more features"])
def test_another_machine_goes_on_from_what_was_saved(name, width):
    """After every visit the state is copied, and a new machine takes over."""
    settings = SETTINGS[name]
    expected, code = whole(settings)
    block, X = block_for(settings), rows()[0]
    made, state = machine(settings)
    reached = _core.Code.RUNNING
    if width != D and settings.rule.full_covariance:
        pytest.skip("a full covariance does not grow")
    logs = []
    while reached is _core.Code.RUNNING and made.core.n_epochs < EPOCHS:
        visited = made.core.visit(block, 1)
        if visited is not _core.Code.RUNNING or not made.core.position:
            made.core.close_epoch(block)
            reached = made.core.judge(block)
        saved, log = made.core.get_state(), made.core.log()
        logs.append(log)
        copied = state.copy()
        if width != D:  # arrays of a state with spare room, as late features need it
            copied.widen(width, settings.rule)
            copied.n_features = D
        after, _ = machine(settings)
        after.state = copied
        after.core = after._make()
        after.core.set_state(saved)
        made, state = after, copied
    assert reached is code
    np.testing.assert_array_equal(X, rows()[0])
    kept = [getattr(state, n) for n in ("w", "b", "u", "ub", "variance")]
    first, first_state = machine(settings)
    first.core.epochs(block_for(settings), EPOCHS)
    wanted = [getattr(first_state, n) for n in ("w", "b", "u", "ub", "variance")]
    for ours, theirs in zip(kept, wanted, strict=True):
        if theirs is not None:
            cut = ours[:, : theirs.shape[1]] if theirs.ndim == 2 else ours
            assert np.array_equal(cut, theirs)
    assert expected


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
