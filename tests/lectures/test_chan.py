"""docs/lectures/chan.md: the numbers, the slips and the figures of chan's lecture."""

import itertools
import re
from statistics import median

import numpy as np
import pytest

from tests.lectures.pages import page_text, run_page

SPREADS = ("deviation", "variance")


@pytest.fixture(scope="module")
def page():
    return run_page("chan")


@pytest.fixture
def close_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


# ------------------------------------------------------------------ thresholds and losses


def test_both_approaches_separate_two_clouds(page):
    assert page["wrong"] == {"LDA": 0, "perceptron": 0}
    assert set(page["wrong_after_stage2"].values()) == {0}


def test_the_soft_threshold_and_the_hard_one_agree(page):
    assert np.array_equal(np.sign(page["soft"] - 0.5), page["hard"])


def test_the_logistic_function_tends_to_a_step_and_not_to_sign(page):
    x, steepest = np.array([-1, -0.1, 0, 0.1, 1]), page["limits"][10_000]
    assert steepest.tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]
    assert np.array_equal(2 * steepest - 1, np.sign(x))
    assert not np.array_equal(steepest, np.sign(x))


def test_cross_entropy_of_a_hard_decision_is_zero_or_infinite(page):
    assert page["cross_entropy"] == [0, 0, np.inf, np.inf]
    assert page["candidate"] == [0, 0, 1, 1]


def test_four_cases_of_the_hard_and_the_soft_loss(page):
    assert page["hard_losses"] == [0, 0, 1, 1]
    assert page["soft_losses"] == [0, 0, 2, 2]
    assert page["here"] == page["nearby"] > 0


def test_the_hard_loss_at_a_score_of_zero_depends_on_sign(page):
    assert page["hard_at_zero"] == {0: [0, 0], 1: [0, 1], -1: [1, 0]}


def test_the_two_losses_vanish_at_the_same_parameters(page):
    rng = np.random.default_rng(3)
    X, y = rng.integers(-2, 3, (4, 2)), np.array([1, 1, -1, -1])
    some = rng.integers(-2, 3, (500, 3))
    hard = np.array([page["J_hard"](theta, X, y) for theta in some])
    soft = np.array([page["J_soft"](theta, X, y) for theta in some])
    assert np.array_equal(hard == 0, soft == 0)
    assert 0 < np.sum(hard == 0) < len(some)


def test_only_the_hard_loss_is_not_convex(page):
    above = page["above_chord"]
    assert above["J_hard"] == page["highest"] >= 1
    assert max(above[loss] for loss in ("J_squared", "J_logistic", "J_soft")) < 1e-12


def test_zero_minimises_the_soft_loss_and_is_unique_only_if_the_classes_overlap(page):
    assert page["J_at_zero"]["J_soft"] == 0
    minimizers = list(page["minimizers"].values())
    assert [page["J_soft"](theta, *page["apart"]) for theta in minimizers] == [0, 0, 0]
    assert np.linalg.matrix_rank(minimizers[1:]) == 2  # not multiples of each other
    assert page["separability"](*page["mixed"]).verdict == "overlapping"
    assert page["rank"] == 3


def test_the_gradient_is_the_one_of_the_lecture_except_at_the_corner(page):
    x = page["x_vec"]
    wrong, right, corner = (page["gradients"][score] for score in (-3, 5, 0))
    assert wrong == ([-2, 1], [-2, 1]) == ((-x).tolist(), (-x).tolist())
    assert right == ([0, 0], [0, 0])
    assert corner[0] != corner[1]


def test_losses_at_five_margins(page):
    table = {name: row.tolist() for name, row in page["loss_table"].items()}
    assert table["hard"] == [1, 1, 0, 0, 0]
    assert table["soft"] == [2, 1, 0, 0, 0]
    assert table["hinge"] == [3, 2, 1, 0, 0]
    assert table["squared"] == [9, 4, 1, 0, 1]
    assert table["logistic"] == pytest.approx(np.logaddexp(0, [2, 1, 0, -1, -2]))


# ------------------------------------------------------------------ convexity


def test_convexity_of_the_soft_loss(page):
    assert page["same_margins"]
    assert page["holds"]
    assert page["equal_when"]
    assert page["violations"] == 0


def test_the_counterexample_for_the_hard_loss(page):
    assert page["hard_between"] == 1
    assert page["hard_chord"] * 10 == 9


def test_the_soft_loss_shrinks_with_theta(page):
    first, *others = page["shrinking"]
    assert first > 0
    assert others == pytest.approx([first / 10, first / 100, first / 1000])


def test_the_normalised_problem_tells_the_classes_apart(page):
    assert page["minimum"]["apart"].value == 0.0
    assert page["minimum"]["apart"].certificate.verdict == "separable"
    assert page["minimum"]["mixed"].value > 1
    assert page["minimum"]["mixed"].certificate.verdict == "overlapping"
    assert page["infeasible"].value == np.inf
    assert page["infeasible"].certificate.verdict == "overlapping"


def test_the_cvxpy_program_of_the_page_finds_the_same_minimum(page):
    pytest.importorskip("cvxpy")
    (program,) = re.findall(r"^```python\n(import cvxpy.*?)^```", page_text("chan"), re.M | re.S)
    found = {"mixed": page["mixed"]}
    exec(program, found)
    assert found["as_in_the_lecture"] == pytest.approx(0, abs=1e-6)
    assert found["normalised"] == pytest.approx(page["minimum"]["mixed"].value, rel=1e-6)


def test_the_logistic_loss_has_no_minimum_on_separable_data(page):
    assert all(a > b > 0 for a, b in itertools.pairwise(page["falling"]))
    assert page["falling"][-1] < 1e-9


# ------------------------------------------------------------------ the five scenarios


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_no_rule_is_better_than_the_oracle(page, number, spread):
    oracle, best_line, perceptron, separable = page["readings"][spread, number]
    assert 0 < oracle <= best_line * (1 + 1e-9)
    assert best_line <= perceptron
    assert separable == (0 if (spread, number) == ("deviation", 2) else 15)


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_no_training_set_gives_less_than_the_best_line(page, number):
    errors = page[f"errors{number}"]
    (best,) = errors["best line"]
    assert min(min(found) for found in errors.values() if len(found) == 15) >= best
    if number != 2:  # separable: the last weights make no mistake, so they are in the pocket
        assert errors["pocket"] == errors["last"]


def test_oracle_errors(page):
    errors = {key: row[0] for key, row in page["readings"].items()}
    expected = [2.035e-4, 3.855e-2, 1.382e-10, 7.687e-13, 4.559e-13]
    assert [errors["deviation", k] for k in range(1, 6)] == pytest.approx(expected, rel=1e-3)
    expected = [2.867e-7, 2.035e-4, 2.066e-13, 7.687e-13, 4.559e-13]
    assert [errors["variance", k] for k in range(1, 6)] == pytest.approx(expected, rel=1e-3)


def test_scenarios_1_and_2_are_as_the_lecture_says(page):
    assert median(page["errors1"]["last"]) < 0.05  # pretty good
    two = page["errors2"]
    (oracle,) = two["oracle"]
    assert median(two["pocket"]) < oracle + 0.01  # still okay
    assert median(two["average"]) < median(two["last"])


@pytest.mark.parametrize("spread", SPREADS)
def test_in_scenario_3_a_line_does_work(page, spread):
    oracle, best_line, perceptron, _ = page["readings"][spread, 3]
    assert oracle < best_line < 1e-5
    assert perceptron < 1e-3


def test_scenario_4_balanced_samples_do_no_better(page):
    for errors in (page["errors4"], page["errors5"]):
        last = median(errors["last"])
        assert last < 1e-3
        assert last < 10 * median(errors["1000+1000"])


def test_scenario_5_has_the_lines_of_scenario_4(page):
    def lines(pair):
        runs = sorted(page["train"](pair, page["samples4"]), key=lambda run: run[1])
        return np.array([np.append(model.coef_, model.intercept_) for _, _, model in runs])

    assert np.array_equal(lines(page["pair4"]), lines(page["pair5"]))
    assert [page["at4"], page["at5"]] == pytest.approx([5, 5 + np.log(9) / 20])


def test_the_average_errs_more_because_early_weights_count_fully(page):
    last, average = (median(page["errors1"][keep]) for keep in ("last", "average"))
    assert average > 10 * last
    one, ten, hundred = page["passes"].values()
    assert one > ten > hundred
    assert hundred <= last
    (oracle,) = page["errors1"]["oracle"]
    assert max(page["centred"]) < 1.5 * oracle
    late, early = (
        page["crossing"](model.coef_, model.intercept_[0])
        for model in (page["last"], page["average"])
    )
    assert early < late < 5
    assert median(page["crossings"]) < 1.5  # 5 is right


# ------------------------------------------------------------------ the algorithm


def test_descent_on_the_soft_loss_ends_at_no_hard_loss(page):
    assert page["hard_path"][0] > 0
    assert page["hard_path"][-1] == page["soft_path"][-1] == 0
    assert page["soft_path"][1] > page["soft_path"][0]
    assert page["descent"].stop_reason_ == "separated"


def test_the_soft_loss_is_minus_the_sum_over_the_misclassified(page):
    assert page["same_loss"] == len(page["some"]) == 1000


def test_the_algorithm_of_the_page_is_the_batch_perceptron(page):
    np.testing.assert_allclose(page["path_apart"], page["thetas"])
    assert page["sizes_apart"] == page["hard_path"]


def test_the_set_of_mistakes_grows_and_shrinks(page):
    assert page["sizes_apart"][-1] == 0
    assert page["grew"] > 0 < page["shrank"]
    assert len(page["sizes_mixed"]) == 400
    assert min(page["sizes_mixed"]) > 0


def test_from_zero_nothing_is_learned(page):
    assert page["sizes_zero"] == [0]
    assert np.array_equal(page["path_zero"], [[0, 0, 0]])
    assert "nothing would ever be learned" in page["refused"]


def test_decreasing_steps_lead_to_zero(page):
    lengths = page["lengths"]
    assert all(a > b for a, b in itertools.pairwise(lengths))
    assert lengths[-1] < 0.05


def test_one_sample(page):
    assert page["after"].tolist() == [-1.0, 1.5]
    assert (page["margin_before"], page["margin_after"], page["rise"]) == (-3.0, 1.25, 4.25)
    assert page["margins_long"] == [-6.0, -1.75, 2.5]


# ------------------------------------------------------------------ slips and figures


def test_the_four_slips_have_their_boxes():
    sections = re.split(r"^## (.+)$", page_text("chan"), flags=re.M)
    boxes = {
        heading: re.findall(r"^:::\{admonition\} Slip: (.+)\n:class: slip$", body, re.M)
        for heading, body in zip(sections[1::2], sections[2::2], strict=True)
    }
    assert {heading: titles for heading, titles in boxes.items() if titles} == {
        "From Logistic to Perceptron: the limit": ["the limit is a step, not sign"],
        "Comparing the loss function": ["the soft loss always has the minimizer 0"],
        "Implication of Convexity": [
            "the minimum is always 0",
            "convexity does not give existence",
        ],
        "Perceptron Algorithm: gradient descent": ["from zero, nothing is ever learned"],
    }


def test_the_logistic_function_steepens_to_a_step(page):
    x = np.linspace(-1.5, 1.5, 601)
    away = np.abs(x) > 0.1
    assert list(page["steepening"]) == [f"$a = {a}$" for a in (1, 2, 5, 20, 100)]
    np.testing.assert_allclose(page["steepening"]["$a = 100$"](x)[away], x[away] > 0, atol=1e-4)


def test_three_relatives_are_drawn_as_their_formulas(page):
    s = np.linspace(-2, 2, 9)
    perceptron, hinge, relu = (f(s) for f in page["relatives"].values())
    assert np.array_equal(perceptron, np.where(s < 0, -s, 0))
    assert np.array_equal(hinge, page["relatives"]["perceptron loss"](s - 1))
    assert np.array_equal(relu, page["relatives"]["perceptron loss"](-s))


@pytest.mark.usefixtures("close_figures")
def test_all_five_losses_are_in_one_plot(page):
    display = page["LossesDisplay"].from_functions()
    text = " ".join(t.get_text() for t in display.ax_.get_legend().texts)
    assert all(name in text for name in page["loss_table"])


def test_only_the_soft_loss_is_convex_along_the_segment(page):
    soft, hard = page["along"]["soft"], page["along"]["hard"]
    assert np.diff(soft, 2).min() > -1e-9
    assert np.diff(hard, 2).min() < -0.5
    assert all(isinstance(count, int) for count in hard)


@pytest.mark.usefixtures("close_figures")
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_a_scenario_shows_the_oracle_the_median_run_and_the_others(page, number):
    pair, samples = page[f"pair{number}"], page[f"samples{min(number, 4)}"]
    display = page["scenario_picture"](pair, samples)
    errors = page[f"errors{number}"]
    assert display.errors["oracle"] == errors["oracle"][0]
    assert display.errors["perceptron"] == median(errors["last"])
    thin = [line for line in display.ax_.lines if line.get_linewidth() < 1]
    assert len(thin) == 15


@pytest.mark.usefixtures("close_figures")
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_one_update_grows_frame_by_frame(page, number):
    display = page["frame"](number)
    ends = {tuple(np.round(t.xy, 12)) for t in display.ax_.texts if getattr(t, "arrow_patch", None)}
    assert (tuple(page["after"]) in ends) == (number >= 3)
