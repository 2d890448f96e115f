"""docs/lectures/radivojac.md: the rule, the proof, the stream, the learning rate, the pocket."""

import re

import numpy as np
import pytest

from rosenblatt import Perceptron
from tests.lectures.pages import page_text, run_page


@pytest.fixture(scope="module")
def page():
    return run_page("radivojac")


def test_the_machine_answers_plus_one_at_zero(page):
    assert page["wrong_at_zero"] == 100
    assert page["wrong_after"] == 0


def test_an_update_moves_the_score_by_the_squared_norm(page):
    assert page["rises"] == page["squares"]
    assert len(page["rises"]) == page["iris"].n_updates_ == 5


def test_slip_2_flipping_changes_the_run_only_where_zero_is_positive(page):
    same = {tie: same for tie, (_, _, same) in page["flipped"].items()}
    assert same == {"mistake": True, "positive": False, "correct": True, "half": True}
    assert page["flipped"]["positive"][:2] == (5, 0)
    assert page["flipped"]["correct"][:2] == (0, 0)
    assert "{admonition} Slip: the flip changes the run" in page_text("radivojac")


@pytest.mark.parametrize("tie", ["mistake", "positive", "half"])
def test_the_rule_of_the_page_is_that_of_the_library(page, tie):
    updates, w = page["train"](page["X"], page["y"], page["ties"][tie])
    clf = Perceptron(**page["settings"], tie=tie).fit(page["X"], page["y"])
    assert clf.n_updates_ == updates
    np.testing.assert_allclose(clf.coef_[0], w, rtol=0, atol=1e-12)


def test_the_cosine_stays_between_its_bounds(page):
    along, norm = page["along"], page["norm"]
    k = np.arange(1, len(along) + 1)
    assert len(along) == page["wine"].n_updates_ == 58
    assert (along >= k * page["gamma"] * (1 - 1e-12)).all()
    assert (norm <= np.sqrt(k) * page["M"] * (1 + 1e-12)).all()
    assert (along <= norm).all()
    assert len(along) <= (page["M"] / page["gamma"]) ** 2


def test_the_figure_shows_the_run_and_where_the_bounds_meet(page):
    growth = page["growth"]
    assert growth.bound == pytest.approx((page["M"] / page["gamma"]) ** 2)
    assert len(growth.lines_["cosine"].get_ydata()) == 58
    assert np.nanmax(growth.lines_["cosine"].get_ydata()) <= 1


def test_slip_3_equality_where_the_score_is_zero(page):
    assert page["zero_scores"].tolist() == [1]
    assert (page["unit_updates"], page["unit_square"]) == (5, 5.0)  # not < 5, as Eq. (5) says
    assert 1 / page["unit_margin"] ** 2 == pytest.approx(5)
    assert "{admonition} Slip: a strict inequality" in page_text("radivojac")


def test_the_theorem_on_three_data_sets(page):
    assert [*page["limits"]] == ["Iris", "wine", "tumours"]
    for updates, ratio, most in page["limits"].values():
        assert 0 < updates <= most <= ratio < most + 1


def test_the_iris_bound_has_one_value_and_the_others_their_reason(page):
    _, ratio, most = page["limits"]["Iris"]
    assert (round(ratio, 1), most) == (221.8, 221)
    radius = np.linalg.norm(page["X"], axis=1).max()
    assert ratio == pytest.approx((radius / page["iris_margin"]) ** 2)
    assert page["in_mm"] == pytest.approx(223.5, abs=0.05)
    assert page["outside"] == pytest.approx(186.2, abs=0.05)


def test_mistakes_on_the_stream_come_in_bursts_below_one_bound(page):
    per_batch, quiet = page["per_batch"], page["quiet"]
    assert page["mistakes"][-1] == 1747 <= page["stream_bound"] == pytest.approx(50_000)
    assert per_batch[0] > 10 * per_batch[-10:].max()
    assert quiet == 11
    silent = np.flatnonzero(per_batch == 0)
    assert per_batch[silent[-1] + 1 :].sum() > 100  # after the silence they return
    assert page["stream_axes"].lines[0].get_ydata()[-1] == page["mistakes"][-1]


def test_slip_7_the_learning_rate_matters_only_from_elsewhere(page):
    updates, w = page["from_zero"][0]  # w / eta, to the bit
    assert page["from_zero"] == [(updates, w)] * 4
    assert updates == 5
    assert w == pytest.approx([1.0, 1.3, 4.1, -5.2, -2.2])
    assert page["from_elsewhere"] == sorted(set(page["from_elsewhere"]))
    assert "{admonition} Slip: the learning rate only rescales" in page_text("radivojac")


def test_cycles_are_found_and_prove_overlap(page):
    stuck, whole = page["stuck"], page["whole"]
    assert (stuck.stop_reason_, stuck.trace_.cycle.epochs, stuck.trace_.cycle.exact) == (
        "cycle",
        1,
        True,
    )
    assert page["proof"].verdict == "overlapping"
    assert page["proof"].verify(page["corners"], page["xor"])
    assert (whole.stop_reason_, whole.trace_.cycle.epochs) == ("cycle", 125)
    assert whole.trace_.cycle.exact


def test_the_pocket_helps(page):
    assert page["errors"] == {"last": 41, "pocket": 30}


def test_the_headings_are_those_of_the_lecture():
    headings = re.findall(r"^## (.+)$", page_text("radivojac"), flags=re.M)
    assert headings == ["1 Perceptron", "1.0.1 Problems with the perceptron algorithm"]
