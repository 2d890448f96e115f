"""The figures of the lectures: what is drawn, in the artists, not in pixels."""

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import PathCollection

from rosenblatt.errors import MissingPackageError
from rosenblatt.lectures import cisc271, online, sutd
from rosenblatt.lectures.cisc271 import starts
from rosenblatt.lectures.drawing import intervals
from rosenblatt.lectures.lecture import Given, Picture, Played
from rosenblatt.lectures.page import write_page
from rosenblatt.lectures.sutd import drawing, kinds, linear, offset, update

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    """No figure stays open."""
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def pictures(section):
    return {part.name: part.drawn() for part in section(Given()).parts if isinstance(part, Picture)}


def offsets(ax):
    """How many points each artist of points shows."""
    return [len(c.get_offsets()) for c in ax.collections if type(c) is PathCollection]


def titles(figure):
    return [ax.get_title() for ax in figure.axes]


def labels(ax):
    return [text.get_text() for text in ax.get_legend().texts]


def test_one_feature_shows_every_flower_and_both_borders():
    (figure,) = pictures(kinds.one_feature).values()
    (ax,) = figure.axes
    assert [n for n in offsets(ax) if n] == [50, 50, 50]
    assert len(ax.lines) == 2
    assert [t.get_text() for t in ax.get_yticklabels()] == ["setosa", "versicolor", "virginica"]


def test_two_features_show_both_species_and_a_line_between():
    (figure,) = pictures(kinds.two_features).values()
    (ax,) = figure.axes
    assert [n for n in offsets(ax) if n][:2] == [50, 50]
    assert ax.get_xlabel() == "petal length, cm"


def test_rings_are_parted_by_the_lifted_rule_only():
    (figure,) = pictures(kinds.non_linear).values()
    assert titles(figure) == ["x1, x2", "with x1^2 + x2^2"]
    assert "wrong side (69)" in labels(figure.axes[0])
    assert not any("wrong" in text for text in labels(figure.axes[1]))


def test_regressions_draw_their_functions():
    figure = pictures(kinds.curve)["curve"]
    points, line, parabola = figure.axes[0].lines
    assert len(points.get_xdata()) == 569
    x = parabola.get_xdata()
    assert np.diff(parabola.get_ydata(), 2).min() > 0  # it is bent ...
    assert np.abs(np.diff(line.get_ydata(), 2)).max() < 1e-8  # ... and the other straight
    assert x[0] == points.get_xdata().min()
    (figure,) = pictures(kinds.line).values()
    assert figure.axes[0].get_ylabel() == "petal width, cm"


def test_the_mouse_three_times():
    (figure,) = pictures(kinds.clustering).values()
    assert titles(figure) == ["Original Data", "k-Means Clustering", "EM Clustering"]
    original, k_means, em = (sorted(offsets(ax)) for ax in figure.axes)
    assert original == [100, 100, 300]
    assert sum(k_means) == sum(em) == 500
    assert max(k_means) < max(em)  # the ears take their share of the head


def test_intervals_show_what_was_judged():
    one = {"train": 0.1, "unseen": 0.3, "low": 0.2, "high": 0.45}
    found = {"constant": one, "other": {**one, "unseen": 0.4}}
    (ax,) = intervals(found, "share").axes
    assert ax.lines[0].get_xdata() == pytest.approx([0.3, 0.3])  # the constant
    (segment,) = ax.collections[1].get_segments()
    assert segment[:, 0] == pytest.approx([0.2, 0.45])
    assert [t.get_text() for t in ax.get_yticklabels()] == ["constant", "other"]


def test_the_classifier_is_orthogonal_to_its_weights():
    (figure,) = pictures(linear.half_planes).values()
    (ax,) = figure.axes
    ends = np.column_stack(ax.lines[0].get_data())
    assert (ends[1] - ends[0]) @ [3.0, 0.2] == pytest.approx(0)
    assert sum(offsets(ax)) == 3


def test_proofs_and_updates_are_drawn_side_by_side():
    assert titles(*pictures(linear.definition).values())[0] == "the test example"
    assert titles(*pictures(offset.converse).values()) == ["with an offset", "through the origin"]
    assert len(pictures(update.two_updates)["two-updates"].axes) == 2


def test_allowed_weights_and_the_run_that_ends_among_them():
    figure = pictures(update.theorem)["allowed"]
    way = [line for line in figure.axes[1].lines if "run" in str(line.get_label())]
    thetas = [[1, -0.8], [2, 1.2], [3, -0.8], [3, 0.2]]
    np.testing.assert_allclose(np.column_stack(way[0].get_data()), thetas)


def test_the_frames_of_the_test_example():
    figure = pictures(update.worked_example)["test-example"]
    assert [t.split("=")[1].split("$")[0].strip(" ,") for t in titles(figure)] == [
        "(1, -0.8)",
        "(2, 1.2), updated at",
        "(3, -0.8), updated at",
        "(3, 0.2), updated at",
    ]
    assert "wrong side (2)" in labels(figure.axes[0])


def test_the_offset_shifts_a_parallel_line():
    (ax,) = drawing.shifted(offset.THETA, offset.THETA_0).axes
    through, shifted = (np.column_stack(line.get_data()) for line in ax.lines[:2])
    assert through @ offset.THETA == pytest.approx([0, 0])
    assert shifted @ offset.THETA == pytest.approx([2, 2])


def test_contributions_end_at_the_score():
    (ax,) = pictures(offset.five_users)["five-users"].axes
    ends = [line.get_xdata()[0] for line in ax.lines[:5]]
    assert ends == [-1, 1, 4, -11, -9]
    assert [t.get_text() for t in ax.texts] == ["-1, no", "1, yes", "4, yes", "-11, no", "-9, no"]
    widths = sorted(bar.get_width() for bar in ax.patches)
    assert widths == [-15, -9, -9, -9, -9, -9, 2, 5, 5, 8, 8, 8, 8]


def test_online_the_cosine_below_its_bound():
    figure = pictures(online.algorithm)["growth"]
    cosine = figure.axes[-1].lines[0].get_ydata()
    assert np.nanmax(cosine) <= 1
    (setting,) = pictures(online.perceptrons).values()
    assert sum(offsets(setting.axes[0])) == 400


def test_cisc271_a_false_negative_and_a_false_positive():
    figure = pictures(cisc271.table_1)["closer-and-farther"]
    assert titles(figure) == ["false negative", "false positive"]


def test_cisc271_four_convergences():
    figure = starts.figure_30_1()
    for ax in figure.axes:
        assert sum(offsets(ax)) == 150
        assert len(ax.lines) >= 2  # where it started, where it ended
    assert "setosa" in labels(figure.axes[0])


def test_cisc271_distances_and_clusters():
    (ax,) = starts.side_views().axes
    assert [t.get_text() for t in ax.get_yticklabels()][-1] == "the best"
    assert sum(offsets(ax)) == 5 * 150
    bars = [line.get_xdata()[0] for line in ax.lines[-3:-1]]  # the nearest to the best hyperplane
    assert bars == pytest.approx([-0.81756, 0.81756], abs=1e-4)
    X, y = cisc271.flowers.iris()
    (ax,) = cisc271.drawing.two_clusters(X[:, 2:], y, starts.clusters([2, 3])).axes
    assert offsets(ax)[-1] == 1  # the ring


@pytest.mark.parametrize("lecture", [sutd, online, cisc271], ids=lambda m: m.LECTURE.name)
def test_a_worked_run_is_played(lecture, tmp_path):
    section = {
        "sutd": update.worked_example,
        "online": online.algorithm,
        "cisc271": cisc271.four_starts,
    }
    parts = section[lecture.LECTURE.name](Given()).parts
    (film,) = [part for part in parts if isinstance(part, Played)]
    film.write(tmp_path / "film.html")
    assert lecture.LECTURE.name in (tmp_path / "film.html").read_text()


def test_numbers_need_no_matplotlib_and_pages_say_so(monkeypatch, tmp_path):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    sections = list(online.LECTURE.run())
    assert sections[1].numbers["mistakes"] > 0
    with pytest.raises(MissingPackageError, match=r"pip install 'rosenblatt\[plots\]'"):
        write_page(online.LECTURE, sections, tmp_path)
