"""The order of visits: scikit-learn's shuffle, and draws with replacement."""

from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import _core
from rosenblatt.learn import reference

SHUFFLED, SAMPLED = 1, 2


@given(
    seed=st.integers(0, 2**31 - 1), n=st.integers(1, 40), kind=st.sampled_from([SHUFFLED, SAMPLED])
)
def test_the_order_of_visits_is_the_reference_s(seed, n, kind):
    epochs = (reference.shuffled if kind == SHUFFLED else reference.sampled)(n, seed)
    order = _core.Order(kind, seed)
    for _ in range(3):
        assert order.arrange(n).tolist() == next(epochs)
