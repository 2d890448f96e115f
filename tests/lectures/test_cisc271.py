"""docs/lectures/cisc271.md: its tables, its batch equation, and Iris from four random starts."""

import re

import numpy as np
import pytest

from rosenblatt import film
from tests.lectures.pages import page_text, run_page


@pytest.fixture(scope="module")
def page():
    return run_page("cisc271")


def test_only_setosa_separates(page):
    assert page["verdicts"] == {
        "setosa": "separable",
        "versicolor": "overlapping",
        "virginica": "overlapping",
    }


def test_the_neuron_ends_without_a_false_answer(page):
    before, after = page["cases_before"], page["cases_after"]
    assert sum(before.values()) == sum(after.values()) == 150
    assert before["False Positive"] + before["False Negative"] > 0
    assert [*after.values()] == [50, 100, 0, 0]


def test_table_30_1_four_cases_and_their_actions(page):
    turned = {name: np.sign(after - before) for name, (before, after) in page["angles"].items()}
    assert turned == {
        "True Positive": 0,  # unchanged
        "True Negative": 0,
        "False Negative": -1,  # closer
        "False Positive": 1,  # farther
    }


def test_a_false_positive_may_come_closer_in_distance(page):
    before, after = page["distances"]
    assert before == pytest.approx(9 * 5**0.5)
    assert after == pytest.approx(8 * 5**0.5)


def test_parallel_vectors_keep_their_angle(page):
    """The exception that the note names: 0 stays 0, and 180 stays 180."""
    x, visit, angle = page["x"], page["visit"], page["angle"]
    assert page["parallel"] == pytest.approx([0, 0], abs=1e-5)
    very_wrong = visit(-10 * x, x, 1)
    assert angle(-10 * x, x) == pytest.approx(180) == angle(very_wrong, x)
    assert angle(visit(x / 2, x, 0), x) == pytest.approx(180)  # reversed
    assert "true of the angle, always" not in page_text("cisc271")
    random = np.random.default_rng(0)
    for w in random.normal(size=(200, 2)):
        for label in (0, 1):
            move = np.sign(angle(visit(w, x, label), x) - angle(w, x))
            assert move == -np.sign(label - page["quantize"](x, w))


def test_a_margin_that_counts_the_constant_has_no_unit():
    assert not re.search(r"(gamma|R) = \{[^}]*\} cm", page_text("cisc271"))


@pytest.mark.parametrize("seed", range(5))
def test_when_a_mistake_changes_the_distance(page, seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        x, w = rng.normal(size=3), rng.normal(size=3) * 3
        before = np.linalg.norm(w - x)
        if w @ x < 0:  # a false negative: closer
            assert np.linalg.norm(page["visit"](w, x, 1) - x) < before
        else:
            farther = 2 * (w @ x) < 3 * (x @ x)
            assert (np.linalg.norm(page["visit"](w, x, 0) - x) > before) == farther


def test_table_30_2_the_residual_is_the_action(page):
    residuals = page["residuals"]
    assert [*residuals.values()] == [0, 0, 1, -1]
    for name, e in residuals.items():
        assert page["moves"][name] == tuple((e * page["x"]).tolist())


def test_four_readings_of_heaviside_at_zero(page):
    assert page["at_zero"] == {
        "positive": [0, -1],
        "half": [0.5, -0.5],
        "mistake": [1, -1],
        "correct": [0, 0],
    }


def test_the_pseudocode_ends_with_a_pass_that_misses_nothing(page):
    misses = page["misses"]
    assert misses[-1] == 0
    assert all(misses[:-1])
    assert misses == page["clf"].trace_.mistakes.tolist()
    assert sum(misses) == page["clf"].n_updates_
    np.testing.assert_allclose(page["w_library"], page["w_end"], rtol=0, atol=1e-12)


def test_a_limit_ends_what_does_not_separate(page):
    assert page["never"].stop_reason_ == "max_iter"
    assert page["never"].trace_.mistakes[-1] > 0


def test_slip_9_the_bound_from_another_start_is_another(page):
    assert (round(page["ratio"], 1), page["from_zero"]) == (221.8, 221)
    assert page["from_start"] > page["from_zero"]
    assert page["from_start_slow"] > 1.5 * page["from_zero"]
    assert page["slow"].n_updates_ <= page["from_start_slow"]
    assert "{admonition} Note: how soon does it converge?" in page_text("cisc271")


def test_the_iris_bound_is_that_of_radivojac(page):
    assert page["ratio"] == pytest.approx(run_page("radivojac")["limits"]["Iris"][1])


def test_equation_30_4_is_the_batch_mode(page):
    assert [*page["batch_misses"], 0] == page["batch"].trace_.mistakes.tolist()
    assert page["batch_misses"][:2] == [100, 50]
    np.testing.assert_allclose(page["w_batch"], page["w"], rtol=0, atol=1e-10)


def test_k_means_errs_where_the_rule_does_not(page):
    assert page["k_means_errors"] == {"petals": 1, "all four": 3}  # the lecture's one, on petals


@pytest.mark.parametrize("name", ["petals", "all four"])
def test_four_starts_four_hyperplanes_all_correct_some_close(page, name):
    X = page["X"][:, page["features"][name]]
    assert [int((run.predict(X) == page["y"]).sum()) for run in page["runs"][name]] == [150] * 4
    assert page["turned"][name] > 20  # four distinctly different results
    nearest = np.array(page["nearest"][name])
    assert (nearest.min(axis=1) < page["best"][name]).all()
    assert nearest.min() < 0.1 * page["best"][name]
    assert (nearest.min(axis=1) / nearest.max(axis=1)).min() < 0.5  # closer to one class


def test_a_small_step_exaggerates(page):
    assert page["closest"][0.01] < 0.2 * page["closest"][1]


def test_the_figures_show_every_flower(page):
    assert [ax.get_title() for ax in page["update_axes"]] == ["False Negative", "False Positive"]
    for ax in page["start_axes"].flat:
        drawn = [len(artist.get_offsets()) for artist in ax.collections]
        assert sum(drawn) == 150
        assert len(ax.lines) >= 2
    *clusters, ringed = page["cluster_axes"].lines
    assert [len(line.get_xdata()) for line in clusters] == [51, 99]
    assert len(ringed.get_xdata()) == 1


def test_the_distances_show_the_nearest_flowers(page):
    lines = page["distance_axes"].lines
    assert sum(len(line.get_xdata()) for line in lines if line.get_marker() in "os") == 5 * 150
    bars = [line.get_xdata()[0] for line in lines if line.get_linewidth() == 2]
    assert len(bars) == 10
    assert bars[-2:] == pytest.approx([-0.81756, 0.81756], abs=1e-4)  # of the largest margin


def test_a_run_can_be_filmed(page, tmp_path):
    film(page["runs"]["petals"][3], tmp_path / "iris.html")
    assert (tmp_path / "iris.html").stat().st_size > 10_000


def test_the_headings_are_those_of_the_lecture():
    headings = re.findall(r"^## (.+)$", page_text("cisc271"), flags=re.M)
    assert headings == [
        "CISC 271 Class 30",
        "Supervised Learning – Perceptron Rule",
        "30.1 The Perceptron Rule",
        "30.2 Perceptron Rule – Batch Learning",
        "30.3 Example: Performance on the Iris Data Set",
    ]
