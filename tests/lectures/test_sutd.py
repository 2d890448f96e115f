"""docs/lectures/sutd.md: every number and slip of conventions.md for this lecture."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from rosenblatt import Perceptron
from rosenblatt.lectures import exercise
from tests.lectures.pages import page_text, run_page


@pytest.fixture(scope="module")
def page():
    """The page, run on the lecture's own data where they are."""
    folders = (parent / "shared" / "data" / "wpbc" for parent in Path(__file__).resolve().parents)
    return run_page("sutd", next((folder for folder in folders if folder.is_dir()), None))


@pytest.fixture(scope="module")
def wpbc(page, shared_data):
    """The page, run on the lecture's own data; the tests skip where they are absent."""
    assert "prognostic" in page["data"].source
    return page


def boxes(kind):
    """Titles of the boxes of a class."""
    return re.findall(rf"^:::\{{admonition\}} (.*)\n:class: {kind}$", page_text("sutd"), re.M)


# ------------------------------------------------------------------------ learning problems


def test_the_settings_of_the_lecture(page):
    assert page["lecture"]["tie"] == Perceptron().tie == "mistake"
    assert not page["lecture"]["shuffle"]


def test_classification_of_one_feature(page):
    low, high = page["borders"]
    answers = page["f"].predict([[low - 0.02], [low + 0.02], [high - 0.02], [high + 0.02]])
    assert answers.tolist() == ["setosa", "versicolor", "versicolor", "virginica"]
    assert 0 < page["wrong_1d"] < 15
    told = page["f"].predict(page["length"]) == "setosa"
    assert (told == (page["species"] == "setosa")).all()


def test_a_line_for_two_features_and_a_curve_for_rings(page):
    assert (page["verdict_2d"], page["wrong_2d"]) == ("separable", 0)
    assert page["verdict_rings"] == ["overlapping", "separable"]
    assert page["wrong_rings"][0] > 50
    assert page["wrong_rings"][1] == 0


def test_regressions(page):
    assert page["slope"] == pytest.approx(0.41576, abs=1e-5)
    assert page["r2"] == pytest.approx(0.927, abs=1e-3)
    assert page["r2_line"] < page["r2_curve"]
    assert page["leading"] == pytest.approx(np.pi, rel=0.02)  # the area of a disc


def test_em_finds_the_ears_that_k_means_cuts(page):
    agreement = page["agreement"]
    assert agreement["Original Data"] == 1
    assert agreement["EM Clustering"] > 0.85 > 0.65 > agreement["k-Means Clustering"]


# --------------------------------------------------------------------------- the case study


def test_the_file_of_the_lecture(wpbc):
    assert (wpbc["n"], wpbc["d"], wpbc["k"], wpbc["missing"]) == (198, 32, 2, 4)
    assert wpbc["counts"] == {"R": 47, "N": 151}
    assert wpbc["median_time"]["R"] < wpbc["median_time"]["N"]
    assert wpbc["majority"] == "N"
    assert wpbc["majority_error"] == pytest.approx(47 / 198)


def test_slip_10_tumor_size_is_a_radius(wpbc):
    data, rows = wpbc["data"], wpbc["found"]
    assert [match.sum() for match in wpbc["matches"]] == [1, 1, 1]
    assert data.names[0] == "mean radius"
    assert data.X[rows, 0].tolist() == [18.02, 17.99, 20.29]
    assert data.outcome[rows].tolist() == ["N", "N", "R"]
    assert data.time[rows].tolist() == [31, 61, 27]
    assert wpbc["ratio"] == pytest.approx(np.pi, rel=0.02)
    assert data.names[30] == "tumour size"


def test_the_five_steps(wpbc):
    assert wpbc["Z"].shape == (198, 32)
    assert wpbc["case_verdict"] == "overlapping"
    assert 0 < wpbc["case_error"] < 47 / 198


def test_no_rule_is_shown_to_beat_the_majority_of_198_patients(wpbc):
    judged = wpbc["judged"]
    assert wpbc["better"] == []
    constant, *others = judged.values()
    assert constant["train"] == constant["unseen"] == pytest.approx(47 / 198)
    for one in others:
        assert one["low"] < one["unseen"] < one["high"]
    for name, (gain, low, high) in wpbc["gains"].items():
        assert low <= gain <= high
        assert gain == pytest.approx(constant["unseen"] - judged[name]["unseen"])
    quadratic = judged["quadratic, average"]
    assert quadratic["train"] < 0.05 < 0.2 < quadratic["unseen"]  # H too big
    radius = judged["linear, mean radius only"]
    assert radius["train"] > 0.2  # H too small


def test_time_until_recurrence_as_a_regression(wpbc):
    assert len(wpbc["months"]) == 47
    constant, shrunk, squares = wpbc["judged_time"].values()
    assert squares["train"] < constant["train"]
    assert squares["low"] > constant["unseen"]  # overfitted
    assert shrunk["low"] < constant["unseen"] < shrunk["high"]


@pytest.fixture(scope="module")
def without_file(tmp_path_factory):
    """The page, run where there is no wpbc.data."""
    return run_page("sutd", tmp_path_factory.mktemp("no_data"))


def test_without_the_file_the_diagnostic_set_is_used(without_file):
    page = without_file
    assert page["data"].source == "the diagnostic data set in scikit-learn"
    assert page["counts"] == {"M": 212, "B": 357}
    assert (page["n"], page["d"], page["missing"]) == (569, 30, 0)
    assert [match.sum() for match in page["matches"]] == [0, 1, 1]
    assert set(page["data"].outcome[page["found"]]) == {"M"}
    assert page["ratio"] == pytest.approx(np.pi, rel=0.02)
    assert page["judged"]["linear, average"]["unseen"] < 0.05
    assert page["judged"]["linear, mean radius only"]["unseen"] > 0.1  # H too small
    assert page["better"] == list(page["gains"])  # all but the constant
    assert page["median_time"] == page["judged_time"] == {}


def test_a_short_run_on_separable_data_may_end_above_zero(without_file):
    """What the page says of the diagnostic set: separable, a thin margin, an early stop."""
    page = without_file
    assert page["case_verdict"] == "separable"
    assert page["case_error"] > 0
    data = page["data"]
    y = np.where(data.outcome == page["positive"], 1, -1)
    pocket = Perceptron(shuffle=False, keep="pocket").fit(page["Z"], y)
    assert (pocket.stop_reason_, pocket.n_iter_no_change) == ("no_improvement", 5)
    long = Perceptron(shuffle=False, tol=None, max_iter=1000).fit(page["Z"], y)
    assert long.stop_reason_ == "max_iter"  # thousands of updates do not suffice
    assert long.n_updates_ > 5000


def test_what_the_page_says_is_true_of_both_data_sets(page, without_file):
    for one in (page, without_file):
        assert one["case_error"] > 0
    text = page_text("sutd")
    assert "shared/data" not in text
    assert "All three rows" in text


# ----------------------------------------------------------------------- linear classifiers


def test_weights_and_classifiers(page):
    answers = page["answers"]
    assert answers[2] == answers[3] == [1, -1, -1]  # theta and 2 theta
    assert len({tuple(a) for a in answers}) == 4
    assert page["boundary_scores"] == pytest.approx([0, 0, 0])
    assert page["side"] > 0


def test_slip_6_the_two_forms_of_the_training_error(page):
    third = Fraction(1, 3)
    assert page["counted"] == [1, 2 * third, third, third, 0]
    assert page["predicted"] == [2 * third, 2 * third, third, third, 0]


def test_definition_1_1(page):
    assert (page["yes"].verdict, page["no"].verdict) == ("separable", "overlapping")
    assert page["crossed_sum"] == [0, 0]


def test_the_algorithm_from_zero(page):
    assert page["from_zero"] == [[1, 2], [2, 0], [2, 1], [3, -1], [3, 0], [3, 1]]
    assert page["same_run"]
    assert page["never"].stop_reason_ == "cycle"


def test_what_an_update_does(page):
    for y, before, after in page["moves"]:
        assert y * before <= 0
        assert y * (after - before) > 0
    assert page["rises"] == [(5, 5), (5, 5), (1, 1)]


def test_the_test_example_in_fractions(page):
    thetas = [new for t, old, new in page["updates"]]
    assert [t for t, old, new in page["updates"]] == [0, 1, 2]
    assert thetas == [[2, Fraction(6, 5)], [3, Fraction(-4, 5)], [3, Fraction(1, 5)]]
    assert min(page["second_pass"]) > 0


def test_the_test_example_in_floating_point(page):
    clf = page["clf"]
    assert clf.trace_.record.w.tolist() == [[2, 1.2], [3, -0.8], [3, 0.19999999999999996]]
    assert clf.trace_.mistakes.tolist() == [3, 0]


def test_the_frames_of_the_test_example(page):
    titles = [ax.get_title() for ax in page["panels"]]
    for title, theta in zip(titles, ["1, -0.8", "2, 1.2", "3, -0.8", "3, 0.2"], strict=True):
        assert f"= ({theta})$" in title
    for t, ax in enumerate(page["panels"][1:]):
        ring = ax.lines[-1]
        assert [*ring.get_xdata(), *ring.get_ydata()] == page["X"][t].tolist()


def test_theorem_2_1_and_item_9_the_bound_is_for_a_start_at_zero(page):
    assert page["gamma"] == pytest.approx(10**-0.5)
    assert page["mistakes"] == [6, 3, 110]
    zero, lecture, far = page["bounds"]
    assert zero == pytest.approx(50)
    assert lecture >= 3
    assert far >= 110 > zero
    novikoff = [
        Perceptron(init=start, **page["lecture"])
        .fit(page["X"], page["y"])
        .bounds(page["X"], page["y"])
        .bounds[0]
        .most
        for start in ([0, 0], [1, -0.8], [-100, 0])
    ]
    assert novikoff == [50, 45, 665] == [int(b + 1e-6) for b in page["bounds"]]


# ------------------------------------------------------------------------------ with offset


def test_the_offset_shifts_the_hyperplane(page):
    clf = page["with_offset"]
    assert (clf.coef_[0].tolist(), clf.intercept_[0], clf.n_updates_) == ([2, 1], -1, 3)
    assert page["shifted_scores"] == [0, 0, 0]
    assert np.linalg.norm(page["foot"]) == page["distance"] == 2.5


def test_the_advertisement(page):
    assert page["theta"].tolist() == [2, 8, -15, 5]
    assert page["theta_0"] == -9
    assert page["scores"].tolist() == [-1, 1, 4, -11, -9]
    assert page["clicks"] == ["no", "yes", "yes", "no", "no"]
    assert page["contributions"].tolist() == [
        [0, 8, 0, 0],
        [2, 8, 0, 0],
        [0, 8, 0, 5],
        [0, 8, -15, 5],
        [0, 0, 0, 0],
    ]
    assert page["everything"] == -9
    assert page["yes_users"] == [(0, 1, 0, 1), (1, 1, 0, 0), (1, 1, 0, 1)]
    ad = page["ad"]
    assert ad.predict(page["users"]).tolist() == page["clicks"]
    assert [ad.explain(user).score for user in page["users"]] == page["scores"].tolist()


def test_the_bars_of_the_advertisement_end_at_the_scores(page):
    ax = page["ax"]  # of the last figure with one panel
    assert [line.get_xdata()[0] for line in ax.lines[:5]] == [-1, 1, 4, -11, -9]
    assert [t.get_text() for t in ax.texts] == ["-1, no", "1, yes", "4, yes", "-11, no", "-9, no"]
    widths = sorted(bar.get_width() for bar in ax.patches if bar.get_width())
    assert widths == [-15, -9, -9, -9, -9, -9, 2, 5, 5, 8, 8, 8, 8]


def test_exercise_3_separable_with_an_offset_and_not_through_the_origin(page):
    assert list(page["verdicts"].values()) == [
        ["separable", "separable"],
        ["overlapping", "overlapping"],
        ["overlapping", "separable"],
    ]
    assert page["shifted_sum"] == [0, 0]
    assert page["best"].lower == pytest.approx(0.45**0.5)


def test_the_rule_with_offset_is_the_rule_on_one_and_x(page):
    assert page["same_updates"]
    assert len(page["offset_run"]) == len(page["rises_offset"]) == 8
    assert all(rise == square for rise, square in page["rises_offset"])


# ------------------------------------------------------------------------ boxes and exercises


def test_slips_6_and_10_are_slips_and_item_9_is_a_note():
    assert boxes("slip") == [
        'Slip: "tumor size" is a radius',
        "Slip: the two forms differ at a score of zero",
    ]
    assert "Note: the bound depends on the start" in boxes("note")


def test_the_answers_on_the_page_are_wrong_and_the_right_ones_are_accepted(page):
    right = {
        "sutd-1": (30, 1),
        "sutd-2": -8,
        "sutd-3": np.column_stack([page["X_shifted"], page["y_shifted"]]).tolist(),
    }
    for name, answer in right.items():
        assert exercise(name).check(answer).correct, name
    for theta in [*page["thetas"], *page["from_zero"], *(new for *_, new in page["updates"])]:
        assert not exercise("sutd-1").check(theta).correct  # nothing on the page spoils it
    for reply in (page["reply_1"], page["reply_2"], page["reply_3"]):
        assert reply.readable
        assert not reply.correct
