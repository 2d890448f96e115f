"""cisc271: its tables, its batch equation, and Iris from four random starts."""

import numpy as np
import pytest

from tests.lectures.shown import shown


def numbers(step):
    (found,) = [
        s.numbers for s in shown("cisc271") if s.title.startswith(step) or s.step.endswith(step)
    ]
    return found


def test_only_setosa_separates():
    assert numbers("CISC 271")["verdicts"] == {
        "setosa": "separable",
        "versicolor": "overlapping",
        "virginica": "overlapping",
    }


def test_the_neuron_ends_without_a_false_answer():
    n = numbers("Supervised Learning")
    before, after = n["counts"]["before"], n["counts"]["after"]
    assert sum(before.values()) == sum(after.values()) == 150
    assert before["False Positive"] + before["False Negative"] > 0
    assert [*after.values()] == [50, 100, 0, 0]
    assert n["updates"] > 0


def test_table_30_1_four_cases_and_their_actions():
    n = numbers("logic")
    actions = {name: case["action"] for name, case in n["cases"].items()}
    assert actions == {
        "True Positive": "unchanged",
        "True Negative": "unchanged",
        "False Negative": "closer",
        "False Positive": "farther",
    }
    was, now = n["distance"]
    assert now < was  # a false positive, and yet closer in distance


def test_table_30_2_the_residual_is_the_action():
    n = numbers("residual")
    assert [case["residual"] for case in n["cases"].values()] == [0, 0, 1, -1]
    for case in n["cases"].values():
        np.testing.assert_allclose(case["moved"], case["residual"] * np.array([1, 2]), atol=1e-15)
    assert n["ties"] == {
        "positive": [0, -1],
        "half": [0.5, -0.5],
        "mistake": [1, -1],
        "correct": [0, 0],
    }


def test_the_pseudocode_ends_with_a_pass_that_misses_nothing():
    n = numbers("pseudocode")
    assert n["misses"][-1] == 0
    assert all(n["misses"][:-1])
    assert sum(n["misses"]) == n["updates"]
    assert n["off"] == pytest.approx(0, abs=1e-12)
    assert n["versicolor"] in ("max_iter", "cycle")


def test_slip_9_the_bound_from_another_start_is_another():
    n = numbers("pseudocode")
    from_zero, from_there = n["bound"]
    assert from_there > 1.5 * from_zero
    assert n["slow updates"] <= from_there


def test_equation_30_4_is_the_batch_mode():
    n = numbers("30.2")
    assert n["misses"] == n["library"]
    assert n["off"] < 1e-10


@pytest.mark.parametrize(("name", "errors"), [("All four features", 3), ("Petals only", 1)])
def test_four_starts_four_hyperplanes_all_correct_some_close(name, errors):
    n = numbers("30.3")[name]
    assert n["k-means errors"] == errors  # the lecture's one, on petals
    assert [r["correct"] for r in n["runs"]] == [150] * 4
    assert n["angle"] > 20  # four distinctly different results
    nearest = [min(r["setosa"], r["others"]) for r in n["runs"]]
    assert all(d < n["best"] for d in nearest)
    assert min(nearest) < 0.1 * n["best"]
    lopsided = [min(r["setosa"], r["others"]) / max(r["setosa"], r["others"]) for r in n["runs"]]
    assert min(lopsided) < 0.5  # closer to one class than to the other
