"""Kernels: the parts that can be tried alone."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from rosenblatt.data.compiled import only_linked
from rosenblatt.learn import kernels, reference
from rosenblatt.learn.cycle import cancels
from rosenblatt.learn.kernels import arrays, loop, margins
from tests.strategies import TIES


@njit
def repeats(z, y, q, k, tie):  # kernels have no Python wrapper of their own
    return margins.repeats(z, y, q, k, tie)


@njit
def arrange(order):
    loop.arrange(order)


def test_what_is_only_linked_computes_the_same(monkeypatch):
    def twice(x):
        return 2 * x

    def caller(function):
        return njit(lambda x: function(x) + 1.0)

    assert caller(njit(**only_linked())(twice))(3.0) == 7.0
    monkeypatch.setattr("numba.__version__", "0.67.0")  # whose insides may be others
    options = only_linked()
    assert "pipeline_class" not in options
    assert caller(njit(**options)(twice))(3.0) == 7.0


@given(
    z=st.integers(-40, 5),
    q=st.integers(0, 7),
    k=st.integers(0, 12),
    y=st.sampled_from([-1, 1]),
    tie=st.sampled_from(TIES),
)
def test_repeats_in_closed_form(z, q, k, y, tie):
    """As many updates as k visits in a row make, one by one."""
    whole = half = 0
    now = z
    for _ in range(k):
        e = reference.mistake(now, y, tie)
        whole += e == 1
        half += e == 0.5
        now += e * q
    assert repeats(float(z), y, float(q), float(k), kernels.TIES[tie]) == (whole, half)


@given(seed=st.integers(0, 2**31 - 1), n=st.integers(1, 40), kind=st.sampled_from([1, 2]))
def test_the_order_of_visits_is_the_reference_s(seed, n, kind):
    index, state = np.arange(n), np.array([seed], dtype=np.uint32)
    order = kernels.Order(kind, index, state)
    passes = (reference.shuffled if kind == kernels.SHUFFLED else reference.sampled)(n, seed)
    for _ in range(3):
        arrange(order)
        assert index.tolist() == next(passes)


def test_what_is_cached_is_stamped_with_every_file_of_the_folder():
    files = list(Path(kernels.__file__).parent.glob("*.py"))
    for function in (kernels.passes, kernels.visit, kernels.draw):
        assert len(function._cache._cache_file._source_stamp) == len(files)


def test_without_a_place_for_a_cache_it_still_compiles(monkeypatch):
    real, asked = arrays.njit, []

    def njit(**options):
        asked.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(**options)

    monkeypatch.setattr(arrays, "njit", njit)
    twice = arrays.entry_point(lambda x: 2 * x)
    assert twice(4) == 8
    assert len(asked) == 2


@given(
    rows=st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2),
        min_size=1,
        max_size=5,
    ),
    counts=st.lists(st.integers(1, 9), min_size=5, max_size=5),
)
def test_cancelling_is_decided_exactly(rows, counts):
    from fractions import Fraction

    X = np.array(rows + [[-v for v in x] for x in rows])
    c = np.array(counts[: len(rows)] * 2, dtype=float)
    which = np.arange(len(X))
    assert cancels(X, which, c, intercept=False)
    c[0] += 1  # one row more often than its mirror image
    total = [sum(Fraction(a) * Fraction(v) for a, v in zip(c, col, strict=True)) for col in X.T]
    assert cancels(X, which, c, intercept=False) == (not any(total))


@pytest.mark.parametrize("tiny", [5e-324, 1e-300])
def test_cancelling_sees_the_smallest_numbers(tiny):
    X = np.array([[1.0], [1.0], [tiny]])
    assert not cancels(X, np.arange(3), np.array([1.0, -1.0, 1.0]), intercept=False)
