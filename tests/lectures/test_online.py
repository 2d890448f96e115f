"""docs/lectures/online.md: every inequality of its proof, on a real run."""

import re

import numpy as np
import pytest

from rosenblatt import film
from tests.lectures.pages import page_text, run_page


@pytest.fixture(scope="module")
def page():
    return run_page("online")


def test_the_examples_are_separable_and_w_star_is_a_unit_vector(page):
    assert page["verdict"] == "separable"
    assert np.linalg.norm(page["w_star"]) == pytest.approx(1)
    assert (page["y"] * (page["X"] @ page["w_star"]) >= page["gamma"]).all()


def test_the_loop_and_the_library_make_the_same_mistakes(page):
    assert page["rounds"] == (page["clf"].trace_.record.row + 1).tolist()
    assert (page["clf"].coef_[0] == page["weights"][-1]).all()


def test_every_mistake_keeps_both_bounds(page):
    M = np.arange(1, page["M"] + 1)
    along, norm = np.array(page["along"]), np.array(page["norm"])
    assert page["M"] >= 2
    assert (along >= M * page["gamma"] * (1 - 1e-12)).all()
    assert (norm <= np.sqrt(M) * page["R"] * (1 + 1e-12)).all()
    assert (along <= norm).all()


def test_the_dot_product_always_grows_and_the_angle_does_not_always_shrink(page):
    assert (np.diff(page["along"]) >= page["gamma"]).all()
    assert page["angle"][3] > page["angle"][2]
    assert page["angle"][-1] == page["angle"].min() < 3


def test_slip_3_the_score_at_a_mistake_is_negative_or_zero(page):
    first, *later = page["scores"]
    assert first == 0
    assert all(score < 0 for score in later)
    assert "{admonition} Slip: negative, or zero" in page_text("online")


def test_the_mistake_bound_holds_in_every_order(page):
    assert page["bound"] == (page["R"] / page["gamma"]) ** 2
    assert page["bound"] == pytest.approx(167.0, abs=0.05)
    assert page["M"] <= max(page["orders"]) <= page["bound"]
    assert len(page["orders"]) == 1000


def test_the_non_separable_case_has_a_bound_too(page):
    harder = page["harder"]
    assert harder["Novikoff"].most is None
    assert harder.made <= harder["Freund and Schapire"].most < len(page["X"])


def test_the_figures_show_all_examples_and_a_cosine_below_one(page):
    drawn = [len(artist.get_offsets()) for artist in page["setting"].points_]
    assert sum(drawn) == len(page["X"]) == 400
    assert np.nanmax(page["growth"].lines_["cosine"].get_ydata()) <= 1
    assert page["growth"].bound == pytest.approx(page["bound"])


def test_the_run_can_be_filmed(page, tmp_path):
    film(page["clf"], tmp_path / "online.html")
    assert (tmp_path / "online.html").stat().st_size > 10_000


def test_the_headings_are_those_of_the_lecture():
    headings = re.findall(r"^## (.+)$", page_text("online"), flags=re.M)
    assert headings == ["Perceptrons", "The Perceptron Algorithm"]
