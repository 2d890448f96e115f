"""The same bits: dense and CSR rows, 32- and 64-bit indices, every instruction set, any cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import _core
from tests.core.machines import (
    L1,
    SETTINGS,
    contents,
    core_block,
    machine,
    rows,
    takes_weights,
)

FORMS = ["dense", "csr32", "csr64"]


def trained(name, form="dense", cpu=None, dtype=np.float64, seed=0):
    settings = SETTINGS[name]
    X, y, weight = rows(dtype, seed)
    y = y if settings.direct else (y > 0).astype(np.int32)
    made, state = machine(settings, dtype)
    block = core_block(X, y, weight if takes_weights(settings) else None, form, cpu)
    made.core.epochs(block, 4)
    return contents(made, state)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SETTINGS)
def test_every_kind_of_rows_and_instruction_set(name, dtype):
    expected = trained(name, dtype=dtype)
    for cpu in _core.cpus():
        for form in FORMS:
            if form != "dense" and name in L1:
                continue  # weights of features that a row lacks are shrunk later
            assert trained(name, form, cpu, dtype) == expected, (form, cpu)


@pytest.mark.parametrize("form", ["csr32", "csr64"])
@pytest.mark.parametrize("name", L1)
def test_l1_on_csr_rows_has_one_result_too(name, form):
    assert len({trained(name, form, cpu) for cpu in _core.cpus()}) == 1


CUTTABLE = [
    n for n, s in SETTINGS.items()
    if not s.rule.needs_all_rows and s.keep not in ("pocket", "vote") and s.order == "order"
]  # fmt: skip


@pytest.mark.parametrize("name", CUTTABLE)
@given(cuts=st.sets(st.integers(1, 22), max_size=6), form=st.sampled_from(FORMS[:2]))
def test_any_cut_into_blocks(name, cuts, form):
    settings = SETTINGS[name]
    X, y, weight = rows()
    y = y if settings.direct else (y > 0).astype(np.int32)
    weight = weight if takes_weights(settings) else None
    results = []
    for ends in ([len(y)], [*sorted(cuts), len(y)]):
        made, state = machine(settings)
        starts = [0, *ends[:-1]]
        for _ in range(3):
            for a, b in zip(starts, ends, strict=True):
                part = None if weight is None else weight[a:b]
                made.core.visit(core_block(X[a:b], y[a:b], part, form))
            made.core.close_epoch()
            made.core.judge()
        results.append([getattr(state, n) for n in ("w", "b", "u", "ub", "variance")])
    for ours, theirs in zip(*results, strict=True):
        assert (ours is None and theirs is None) or np.array_equal(ours, theirs)
