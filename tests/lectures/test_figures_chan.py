"""The figures of chan and radivojac: what is drawn, in the artists, not in pixels."""

import matplotlib as mpl
import numpy as np
import pytest

from rosenblatt.lectures.lecture import Picture
from rosenblatt.theory import losses
from tests.lectures.shown import shown

mpl.use("Agg")


@pytest.fixture
def draw():
    """A figure of a lecture by name, with the numbers of its section."""
    import matplotlib.pyplot as plt

    def drawn(lecture, name):
        for section in shown(lecture):
            for part in section.parts:
                if isinstance(part, Picture) and part.name == name:
                    return part.drawn(), section.numbers
        raise AssertionError(f"{lecture} has no picture {name}")

    yield drawn
    plt.close("all")


def curves(figure):
    """The lines of the first Axes that have a label, by label."""
    return {line.get_label(): line.get_xydata() for line in figure.axes[0].lines}


def test_the_logistic_function_steepens_to_a_step(draw):
    figure, _ = draw("chan", "logistic-to-step")
    found = curves(figure)
    steepest = found["a = 100"]
    assert {"a = 1", "a = 2", "a = 5", "a = 20"} <= set(found)
    away = np.abs(steepest[:, 0]) > 0.1
    np.testing.assert_allclose(steepest[away, 1], steepest[away, 0] > 0, atol=1e-4)


def test_three_relatives_are_drawn_as_their_formulas(draw):
    figure, _ = draw("chan", "relatives")
    found = [data for name, data in curves(figure).items() if "max" in name]
    formulas = [losses.soft, losses.hinge, lambda s: np.maximum(s, 0)]
    assert len(found) == 3
    for data, formula in zip(found, formulas, strict=True):
        np.testing.assert_allclose(data[:, 1], formula(data[:, 0]))


def test_all_losses_in_one_plot(draw):
    figure, _ = draw("chan", "losses")
    text = " ".join(t.get_text() for t in figure.axes[0].get_legend().texts)
    assert all(name in text for name in losses.LOSSES)


def test_only_the_soft_loss_is_convex_along_a_segment(draw):
    figure, _ = draw("chan", "convexity")
    soft, hard = (d[:, 1] for d in list(curves(figure).values())[:2])
    assert np.diff(soft, 2).min() > -1e-9
    assert np.diff(hard, 2).min() < -0.5
    np.testing.assert_array_equal(hard, hard.round())  # it counts


def test_the_size_of_m_k_is_drawn(draw):
    figure, numbers = draw("chan", "batch")
    found = curves(figure)["mistakes"][:, 1]
    assert found.tolist() == numbers["sizes"][: len(found)]


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_a_scenario_shows_the_oracle_the_rule_and_their_errors(draw, number):
    figure, numbers = draw("chan", f"scenario-{number}")
    text = [t.get_text() for t in figure.axes[0].get_legend().texts]
    assert any(f"{numbers['errors']['oracle']:.3g}" in line for line in text)
    assert any(line.startswith("perceptron") for line in text)


@pytest.mark.parametrize("frame", [1, 2, 3, 4, 5])
def test_one_update_grows_frame_by_frame(draw, frame):
    figure, numbers = draw("chan", f"one-sample-{frame}")
    (ax,) = figure.axes
    ends = {tuple(np.round(t.xy, 12)) for t in ax.texts if getattr(t, "arrow_patch", None)}
    assert (tuple(numbers["after"]) in ends) == (frame >= 3)


def test_the_cosine_of_radivojac_is_that_of_its_table(draw):
    figure, numbers = draw("radivojac", "cosine")
    drawn = [line.get_ydata() for ax in figure.axes for line in ax.lines]
    cosines = np.array(numbers["along"]) / np.array(numbers["norm"])
    assert any(len(d) >= len(cosines) and np.allclose(d[-len(cosines) :], cosines) for d in drawn)


def test_the_stream_of_radivojac_counts_its_mistakes(draw):
    figure, numbers = draw("radivojac", "stream")
    (line,) = figure.axes[0].lines
    assert line.get_xdata().tolist() == [0, *numbers["seen"]]
    assert line.get_ydata().tolist() == [0, *numbers["mistakes"]]
