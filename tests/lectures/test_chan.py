"""chan: thresholds, losses, convexity, the five scenarios, the algorithm."""

import itertools
import json

import numpy as np
import pytest

from rosenblatt.lectures.chan.oracle import FIVE, SCENARIOS
from rosenblatt.lectures.lecture import Given
from tests.lectures.shown import shown


@pytest.fixture(scope="module")
def numbers():
    return {s.title: s.numbers for s in shown("chan")}


def test_both_approaches_separate_two_clouds(numbers):
    assert numbers["Overview"]["wrong"] == [0, 0]
    assert set(numbers["From Logistic to Perceptron: two stages"]["wrong"].values()) == {0}


def test_the_soft_threshold_and_the_hard_one_agree(numbers):
    n = numbers["Perceptron as a Single-Layer Network"]
    assert [1 if h >= 0.5 else -1 for h in n["soft"]] == n["hard"]


def test_the_logistic_function_tends_to_a_step_and_not_to_sign(numbers):
    n = numbers["From Logistic to Perceptron: the limit"]
    steepest = np.array(n["limits"][-1])
    assert steepest.tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]
    assert (2 * steepest - 1).tolist() == n["signs"]


def test_cross_entropy_of_a_hard_decision_is_zero_or_infinite(numbers):
    n = numbers["How to Define Perceptron Loss Function"]
    assert [abs(float(e)) for e in n["cross_entropy"]] == [0, np.inf, 0, np.inf]
    assert n["candidate"] == [0, 1, 0, 1]


def test_four_cases_of_the_hard_and_the_soft_loss(numbers):
    hard = numbers["Understanding the Perceptron Loss function"]
    assert hard["losses"] == [0, 0, 1, 1]
    assert hard["change_nearby"] == 0
    assert numbers["Perceptron Loss function"]["losses"] == [0, 0, 2, 2]


def test_only_the_hard_loss_is_not_convex(numbers):
    violation = numbers["Comparing the loss function"]["violation"]
    assert violation["hard"] >= 1
    assert max(violation[loss] for loss in ("squared", "logistic", "soft")) < 1e-12
    assert numbers["Comparing the loss function"]["soft_at_zero"] == 0


def test_the_gradient_is_the_one_on_the_slide(numbers):
    n = numbers["Perceptron Loss, Hinge Loss and ReLU"]
    assert np.array_equal(n["gradients"], n["said"])


def test_losses_at_five_margins(numbers):
    n = numbers["Comparing Loss functions"]
    assert n["hinge"] == [3, 2, 1, 0, 0]
    assert n["squared"] == [9, 4, 1, 0, 1]


def test_convexity_of_the_soft_loss(numbers):
    heading = "Convexity of Perceptron (Soft) Loss"
    assert numbers[f"{heading}: a linear form"]["difference"] < 1e-14
    assert numbers[f"{heading}: the maximum"] == {
        "largest_excess": 0,
        "difference_same_sign": 0,
    }
    n = numbers[f"{heading}: the inequality"]
    assert n["largest_excess"] < 1e-12
    assert n["hard_middle"] > 0.9 * n["hard_ends"][0] + 0.1 * n["hard_ends"][1]


def test_the_normalised_problem_tells_the_classes_apart(numbers):
    n = numbers["Implication of Convexity"]
    assert set(n["values"]["separable"].values()) == {0.0}
    found = list(n["values"]["overlapping"].values())
    assert min(found) > 1
    assert max(found) - min(found) <= 1e-8 * max(found)
    falls = n["logistic_along_a_separator"]
    assert all(a > b > 0 for a, b in itertools.pairwise(falls))


@pytest.mark.parametrize("spread", ["deviation", "variance"])
def test_the_five_scenarios(spread):
    found = [show(Given(spread=spread)).numbers for show in SCENARIOS]
    assert len(found) == len(FIVE) == 5
    for n in found:
        errors = n["errors"]
        assert errors["oracle"] <= errors["best linear rule"] * (1 + 1e-9)
        assert min(n["least"].values()) >= errors["best linear rule"]
    one, two, three, four, five = (n["errors"] for n in found)
    assert one['perceptron, keep="last"'] < 0.05  # pretty good
    assert two['perceptron, keep="pocket"'] < two["oracle"] + 0.01  # still okay
    assert three["best linear rule"] < 1e-5  # a line does work
    assert three["oracle"] < three["best linear rule"]  # and is not the oracle's
    for few in (four, five):  # 1800 and 200 samples do as well as 1000 and 1000
        assert few['perceptron, keep="last"'] < 1e-3
        assert few['perceptron, keep="last"'] < 10 * few["the last, 1000 + 1000 samples"]
    overlapping = [
        "overlapping" if spread == "deviation" and k == 1 else "separable" for k in range(5)
    ]
    assert [n["verdict"] for n in found] == overlapping


def test_descent_on_the_soft_loss_ends_at_no_hard_loss(numbers):
    n = numbers["Perceptron with Hard Loss"]
    assert n["hard"][-1] == n["soft"][-1] == 0
    assert n["hard"][0] > 0
    assert numbers["Re-defining the Loss"]["largest_difference"] < 1e-12


def test_the_algorithm_converges_oscillates_and_is_refused_from_zero(numbers):
    n = numbers["Perceptron Algorithm: gradient descent"]
    assert (n["converges"], n["oscillates"], n["wrong"]) == ("separated", "max_iter", 0)
    moves = np.diff(n["sizes"])
    assert moves.max() > 0 > moves.min()
    assert "nothing would ever be learned" in n["refused"]


def test_one_sample_in_five_frames(numbers):
    frames = [numbers[f"Updating One Sample: frame {k}"] for k in range(1, 6)]
    for n in frames:
        assert n["after"] == [-1.0, 1.5]
        assert n["margin_before"] < 0 < n["margin_after"]
        assert n["margin_after"] - n["margin_before"] == 4.25  # ||x||^2


def test_the_numbers_are_json(numbers):
    json.dumps(numbers)
