"""The gallery runs, and the numbers behind its pictures are right."""

import re

import numpy as np
import pytest

import rosenblatt
from tests.lectures.pages import page_text, run_page

GALLERY = "../gallery/index"


@pytest.fixture(scope="module")
def page():
    return run_page(GALLERY)


def test_every_display_is_in_the_gallery():
    text = page_text(GALLERY)
    displays = [name for name in rosenblatt.__all__ if name.endswith("Display")]
    assert len(displays) == 10
    for name in displays:
        assert re.search(rf"\[`{name}`\]\(#[\w-]+\)", text)
        assert re.search(rf"{name}\.from_\w+\(", text)


def test_what_a_model_decides(page):
    assert page["decision"].margin == pytest.approx(0.4028, abs=5e-5)
    assert page["decision"].misclassified.size == 0
    assert page["three"].misclassified.size == 10
    assert len(page["three"].boundaries_) == 3


def test_a_run(page):
    drawn = page["mistakes"].lines_["mistakes"].get_ydata()
    assert drawn[:5].tolist() == [64, 64, 72, 54, 51]
    assert list(page["weights"].lines_) == ["petal length (cm)", "petal width (cm)", "offset $b$"]


def test_one_update_and_the_version_space(page):
    update = page["update"]
    assert update.new_w.tolist() == [2, 1.2]
    assert update.scores == pytest.approx((-0.6, 4.4))
    assert [round(angle) for angle in update.angles] == [102, 32]
    path = [[1, -0.8], [2, 1.2], [3, -0.8], [3, 0.2]]
    assert page["space"].path == pytest.approx(np.array(path))


def test_the_mistake_bound(page):
    cosine = page["cosine"]
    assert (int(cosine.updates[-1]), int(cosine.bound)) == (18, 51)
    assert (cosine.projections >= cosine.projection_bound(cosine.updates)).all()
    assert (cosine.norms <= cosine.norm_bound(cosine.updates)).all()


def test_proofs(page):
    overlap, quasi = page["overlap"], page["quasi"]
    assert (overlap.certificate.verdict, len(overlap.witness)) == ("overlapping", 2)
    assert overlap.common_point.tolist() == [4.8, 1.8]
    assert quasi.certificate.verdict == "quasi-separable"
    assert quasi.on_hyperplane.tolist() == [0, 1, 2, 7, 8]
    assert page["separable"].certificate.verdict == "separable"


def test_losses_and_the_oracle(page):
    assert list(page["losses"].lines_) == ["hard", "soft", "hinge", "logistic", "squared"]
    errors = page["oracle"].errors
    assert errors["oracle"] == pytest.approx(0.03855, abs=5e-7)
    assert errors["perceptron"] > errors["oracle"]
