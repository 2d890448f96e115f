"""matplotlib only when something is drawn; colours that differ; a plane and its lines."""

import html
import inspect
import re
import subprocess
import sys
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text
from scipy.spatial import ConvexHull

import rosenblatt
from rosenblatt import GaussianPair, Perceptron
from rosenblatt.errors import MissingPackageError, ParameterError
from rosenblatt.plot import style
from rosenblatt.plot.canvas import Canvas
from rosenblatt.plot.plane import Window, hull
from rosenblatt.plot.style import DARK, LIGHT, brightness

numbers = st.integers(-8, 8).map(float)


def test_displays_are_there_before_matplotlib_is():
    code = "import sys, rosenblatt; rosenblatt.DecisionDisplay; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'rosenblatt\[plots\]'") as told:
        Canvas()
    assert isinstance(told.value, ImportError)


def test_in_a_terminal_a_display_says_how_to_save_it():
    clf = Perceptron(shuffle=False).fit([[0, 0], [1, 1]], [0, 1])
    display = rosenblatt.DecisionDisplay.from_estimator(clf, [[0, 0], [1, 1]], [0, 1])
    assert repr(display) == "DecisionDisplay: save it with figure_.savefig('picture.png')"
    plt.close(display.figure_)


def test_something_else_than_axes_is_refused():
    with pytest.raises(ParameterError, match="ax must be a matplotlib Axes, got 3\\."):
        Canvas(3)


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_ink_and_hues_stand_out_from_the_ground(style):
    with plt.style.context(style):
        c = Canvas()
    ground = brightness(c.colors.ground)
    assert abs(brightness(c.colors.ink) - ground) > 0.75
    assert all(abs(brightness(c.color(k)) - ground) > 0.25 for k in range(5))
    assert c.colors is (DARK if style == "dark_background" else LIGHT)
    assert brightness(c.ax.get_facecolor()) == pytest.approx(int(style == "default"))


def test_a_dark_axes_in_a_light_style_is_dark():
    _, ax = plt.subplots()
    ax.set_facecolor("black")
    assert Canvas(ax).colors is DARK


def test_transparent_axes_show_the_figure():
    fig, ax = plt.subplots()
    fig.set_facecolor("black")
    ax.set_facecolor("none")
    assert Canvas(ax).colors is DARK


def test_the_two_classes_differ_in_grey_and_in_shape():
    c = Canvas()
    assert abs(brightness(c.color(0)) - brightness(c.color(1))) > 0.2
    assert len(set(style.MARKERS)) == len(style.MARKERS)
    assert len(set(map(str, style.DASHES))) == len(style.DASHES)


def drawn_displays():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 0, 0, 1])
    clf = Perceptron(shuffle=False, tol=None, record="updates").fit(X, y)
    pair = GaussianPair([0, 0], 1.0, [2, 2], 1.0)
    return [
        rosenblatt.DecisionDisplay.from_estimator(clf, X, y),
        rosenblatt.MistakesDisplay.from_estimator(clf),
        rosenblatt.WeightsDisplay.from_estimator(clf),
        rosenblatt.HyperplanesDisplay.from_estimator(clf, X, y),
        rosenblatt.UpdateDisplay.from_estimator(clf, X, y, 2),
        rosenblatt.CosineDisplay.from_estimator(clf, X, y),
        rosenblatt.VersionSpaceDisplay.from_data(X, y),
        rosenblatt.CertificateDisplay.from_data(X, y),
        rosenblatt.LossesDisplay.from_estimator(clf, X, y),
        rosenblatt.OracleDisplay.from_rules(pair, {"perceptron": clf}, X, y),
    ]


def test_displays_show_themselves_as_svg_with_a_description_and_close_their_figure():
    for display in drawn_displays():
        svg = display._repr_html_()
        assert svg.startswith('<svg class="rosenblatt-figure"')
        assert f'aria-label="{html.escape(type(display).__doc__.splitlines()[0])}"' in svg
    assert plt.get_fignums() == []


def test_legends_lie_below_the_data():
    for display in drawn_displays():
        display.figure_.draw_without_rendering()
        for ax in display.figure_.axes:
            if ax.get_legend() is not None:
                legend = ax.get_legend().get_window_extent()
                lowest = min(a.get_window_extent().y0 for a in display.figure_.axes)
                assert legend.y1 < lowest
                assert legend.y0 >= 0  # inside of the figure


def test_the_symbol_of_the_weights_can_be_chosen():
    shown = [d.plot(symbol=r"\theta") for d in drawn_displays() if "symbol" in _options(d)]
    assert len(shown) == 6
    for display in shown:
        texts = [text.get_text() for text in display.figure_.findobj(Text)]
        assert any(r"\theta" in text for text in texts)
        assert not any(re.search(r"\bw\b", text) for text in texts)


def _options(display):
    return inspect.signature(display.plot).parameters


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20))
def test_the_hull_is_that_of_qhull(rows):
    X = np.array(rows)
    corners = hull(X)
    assert {tuple(p) for p in corners} <= {tuple(p) for p in X}
    if np.linalg.matrix_rank(X - X[0]) < 2:
        ends = sorted({tuple(p) for p in X})
        assert sorted(map(tuple, corners)) == sorted({ends[0], ends[-1]})
    else:
        assert sorted(map(tuple, corners)) == sorted(map(tuple, X[ConvexHull(X).vertices]))


@given(numbers, numbers, numbers)
def test_a_chord_ends_on_the_hyperplane_and_on_the_frame(w1, w2, b):
    window, w = Window(-3.1, 5.3, -2.7, 4.9), np.array([w1, w2])
    ends = window.chord(w, b)
    values = window.corners @ w + b
    assert (len(ends) == 2) == bool(w.any() and values.min() <= 0 <= values.max()) or (
        np.count_nonzero(values == 0) == 1
    )
    for p in ends:
        assert w @ p + b == pytest.approx(0, abs=1e-9)
        assert np.isclose(p, [window.left, window.bottom]).any() or (
            np.isclose(p, [window.right, window.top]).any()
        )


@given(st.lists(st.tuples(numbers, numbers, numbers), max_size=6))
def test_clipping_keeps_exactly_what_all_half_planes_have(planes):
    window = Window(-3.0, 5.0, -2.0, 4.0)
    half_planes = [(np.array(p[:2]), p[2]) for p in planes]
    polygon = window.clip(half_planes)
    for w, b in half_planes:
        assert (polygon @ w + b >= -1e-9).all()
    inside = [p for p in window.grid(9)[2] if all(w @ p + b > 1e-9 for w, b in half_planes)]
    for p in inside:  # to the left of every edge
        edges = pairwise([*polygon, polygon[0]])
        assert all(np.cross([*(b - a), 0], [*(p - a), 0])[2] >= -1e-9 for a, b in edges)


def test_a_window_is_as_wide_as_axes_and_holds_all_rows():
    X = np.array([[0.0, 0.0], [1.0, 10.0]])
    window = Window.around(X)
    assert (window.right - window.left) / window.height == pytest.approx(4 / 3)
    assert ((window.corners[0] < X) & (window.corners[2] > X)).all()
    assert Window.around(X[:1]).height > 0


def test_many_rows_become_one_image():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6_000, 2))
    svg = rosenblatt.DecisionDisplay.from_hyperplane([1, 1], 0, X, X.sum(axis=1) > 0)._repr_html_()
    assert len(svg) < 500_000
    assert "data:image/png;base64," in svg
