"""radivojac: the rule, the proof, the stream, the learning rate, the cycle and the pocket."""

import numpy as np
import pytest

from tests.lectures.shown import shown


@pytest.fixture(scope="module")
def numbers():
    return {section.step or section.heading: section.numbers for section in shown("radivojac")}


def test_the_machine_answers_plus_one_at_zero(numbers):
    n = numbers["Eq. (1), the machine"]
    assert n == {"wrong_at_zero": 100, "wrong_after": 0}


def test_an_update_moves_the_score_by_the_squared_norm(numbers):
    n = numbers["Eq. (2), the training rule"]
    assert n["rises_less_norms"] == [0.0] * n["updates"]


def test_flipping_changes_the_run_only_where_zero_is_positive(numbers):
    n = numbers["the set D+"]
    assert n["same"] == {"mistake": True, "positive": False, "correct": True, "half": True}
    assert n["updates"]["positive"][1] == 0
    assert n["updates"]["positive"][0] > 0


def test_the_cosine_grows_towards_the_bound(numbers):
    n = numbers["Eq. (3) to (5), convergence"]
    along, norm, k = np.array(n["along"]), np.array(n["norm"]), np.arange(1, n["updates"] + 1)
    assert (along >= k * n["eps"] * (1 - 1e-12)).all()
    assert (norm <= np.sqrt(k) * n["M"] * (1 + 1e-12)).all()
    assert (along <= norm).all()
    assert n["updates"] <= n["bound"]
    assert n["at_a_score_of_zero"] >= 1


def test_the_theorem_on_real_sets(numbers):
    sets = numbers["l_max, the theorem"]["sets"]
    assert [s["name"] for s in sets] == ["iris", "wine", "tumours"]
    assert all(0 < s["updates"] <= s["bound"] for s in sets)


def test_a_stream_makes_ever_fewer_mistakes_below_one_bound(numbers):
    n = numbers["an endless stream"]
    assert n["mistakes"][-1] <= n["bound"]
    half = len(n["mistakes"]) // 2
    assert n["mistakes"][-1] - n["mistakes"][half] < n["mistakes"][half]


def test_the_learning_rate_matters_only_from_elsewhere(numbers):
    n = numbers["the learning rate"]
    assert len(set(n["from_zero"])) == 1
    assert len(set(n["from_elsewhere"])) > 1


def test_a_cycle_is_seen_and_the_pocket_helps(numbers):
    n = numbers["1.0.1 Problems with the perceptron algorithm"]
    assert (n["stop_reason"], n["verdict"], n["verified"]) == ("cycle", "overlapping", True)
    assert n["errors"]["pocket"] < n["errors"]["last"]
