"""Pictures of a run: mistakes, weights, hyperplanes, one update, the cosine towards its bound."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron as SklearnPerceptron

from rosenblatt import (
    CosineDisplay,
    HyperplanesDisplay,
    Margin,
    MistakesDisplay,
    Perceptron,
    UpdateDisplay,
    VersionSpaceDisplay,
    WeightsDisplay,
)
from rosenblatt.errors import DataError, NotSupportedError, ParameterError

AND, YES = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 0, 0, 1])
SUTD, SIGNS = np.array([[1.0, 2.0], [-1.0, 2.0], [0.0, -1.0]]), np.array([1, -1, -1])
IRIS, SPECIES = load_iris(return_X_y=True)
PETALS = IRIS[:, 2:]


def run(X, y, **options):
    options = {"shuffle": False, "tol": None, "record": "updates", **options}
    return Perceptron(**options).fit(X, y)


@pytest.fixture(scope="module")
def sutd():
    return run(SUTD, SIGNS, fit_intercept=False, init=[1, -0.8])


@pytest.fixture(scope="module")
def conjunction():
    return run(AND, YES)


def legend(ax):
    return [t.get_text() for t in ax.get_legend().texts]


def test_the_path_of_a_run_begins_at_its_start(sutd):
    w, b = sutd.trace_.path()
    assert w == pytest.approx(np.array([[1, -0.8], [2, 1.2], [3, -0.8], [3, 0.2]]))
    assert b.tolist() == [0, 0, 0, 0]
    with pytest.raises(ParameterError, match="did not keep its weights after each update"):
        Perceptron().fit(AND, YES).trace_.path()


# ------------------------------------------------------------------------- mistakes


def test_mistakes_of_each_pass(conjunction):
    shown = MistakesDisplay.from_estimator(conjunction)
    line = shown.lines_["mistakes"]
    assert line.get_xdata().tolist() == list(range(1, 10))
    assert line.get_ydata().tolist() == conjunction.trace_.mistakes.tolist()
    assert shown.ax_.get_title() == "a whole epoch without an update"
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("epoch", "mistakes")


def test_one_line_for_each_of_more_classes():
    clf = Perceptron(max_iter=4, tol=None).fit(IRIS, SPECIES)
    shown = MistakesDisplay.from_estimator(clf.trace_)
    assert legend(shown.ax_) == [f"{k} against the rest" for k in range(3)]
    for k in range(3):
        drawn = shown.lines_[f"{k} against the rest"].get_ydata()
        assert drawn.tolist() == clf.trace_[k].mistakes.tolist()


def test_updates_have_a_line_where_they_are_not_mistakes():
    shown = MistakesDisplay.from_estimator(run(AND, YES, rule=Margin(1.0)))
    assert set(shown.lines_) == {"mistakes", "updates"}
    assert (shown.lines_["updates"].get_ydata() >= shown.lines_["mistakes"].get_ydata()).all()


# -------------------------------------------------------------- weights, hyperplanes


def test_weights_of_the_worked_example(sutd):
    shown = WeightsDisplay.from_estimator(sutd)
    assert shown.lines_["$w_1$"].get_ydata().tolist() == [1, 2, 3, 3]
    assert shown.lines_["$w_2$"].get_ydata() == pytest.approx([-0.8, 1.2, -0.8, 0.2])
    assert shown.lines_["$w_1$"].get_xdata().tolist() == [0, 1, 2, 3]
    assert legend(shown.ax_) == ["$w_1$", "$w_2$"]  # no offset was trained


def test_a_trace_is_enough(sutd):
    shown = WeightsDisplay.from_estimator(sutd.trace_)
    assert shown.lines_["$w_1$"].get_ydata().tolist() == [1, 2, 3, 3]
    assert UpdateDisplay.from_estimator(sutd.trace_, SUTD, SIGNS, 3).w.tolist() == [3, -0.8]


def test_many_weights_are_drawn_without_names():
    X = np.arange(40.0).reshape(4, 10) % 7
    shown = WeightsDisplay.from_estimator(run(X, [0, 1, 0, 1], max_iter=3))
    assert len(shown.lines_) == 11
    assert shown.ax_.get_legend() is None


def test_hyperplanes_of_a_run_from_the_start_to_the_end():
    clf = run(PETALS, SPECIES == 0, init="random", random_state=3, eta0=0.02)
    shown = HyperplanesDisplay.from_estimator(clf, PETALS, SPECIES == 0)
    assert len(shown.updates) == 8
    assert shown.updates[[0, -1]].tolist() == [0, clf.n_updates_]
    for number, line in shown.lines_.items():
        k = shown.updates.tolist().index(number)
        assert line.get_xydata() @ shown.w[k] + shown.b[k] == pytest.approx(0, abs=1e-9)
    last = shown.lines_[clf.n_updates_]
    assert last.get_xydata() @ clf.coef_[0] + clf.intercept_ == pytest.approx(0, abs=1e-9)
    assert last.get_label() == f"last (update {clf.n_updates_})"


def test_one_class_of_several_is_drawn_from_its_trace():
    clf = run(PETALS, SPECIES, max_iter=3)
    shown = HyperplanesDisplay.from_estimator(clf.trace_.of(0), PETALS, SPECIES == 0)
    assert shown.w[-1].tolist() == clf.trace_.of(0).record.w[-1].tolist()
    update = UpdateDisplay.from_estimator(clf.trace_.of(1), PETALS, SPECIES == 1, 3)
    assert update.w.tolist() == clf.trace_.of(1).record.w[1].tolist()
    for draw in (HyperplanesDisplay, UpdateDisplay, VersionSpaceDisplay, CosineDisplay):
        with pytest.raises(ParameterError, match=r"has 3 traces.*pass trace_\.of\(0\)"):
            draw.from_estimator(clf, PETALS, SPECIES)
    with pytest.raises(ParameterError, match="has 3 traces"):
        WeightsDisplay.from_estimator(clf)


# ------------------------------------------------------------------------ one update


def test_one_update_of_the_worked_example(sutd):
    shown = UpdateDisplay.from_estimator(sutd, SUTD, SIGNS, 2)
    assert shown.w.tolist() == [2, 1.2]
    assert (shown.x.tolist(), shown.y) == ([-1, 2], -1)
    assert shown.arrows_["new"].xy == pytest.approx((3, -0.8))
    assert shown.arrows_["shifted"].xyann == pytest.approx((2, 1.2))
    for name, w in (("old", shown.w), ("new", shown.new_w)):
        assert shown.lines_[name].get_xydata() @ w == pytest.approx(0, abs=1e-9)
    assert shown.ax_.get_title() == r"$y\,(w \cdot x)$: $-0.4$ before, $4.6$ after"
    assert shown.scores[1] - shown.scores[0] == pytest.approx(5)  # ||x||^2


def test_one_label_where_x_and_the_new_w_are_the_same_arrow():
    shown = UpdateDisplay.from_example([0, 0], [1, 2], 1)
    labels = {text.get_text() for text in shown.ax_.texts} - {""}
    assert labels == {"$x = w + x$ ($y = +1$)"}


@pytest.mark.parametrize(("y", "closer"), [(1, True), (-1, False)])
def test_w_comes_closer_after_a_false_negative_and_goes_away_after_a_false_positive(y, closer):
    shown = UpdateDisplay.from_example([-y, 0.5 * y], [1, 0.3], y)
    before, after = shown.angles
    assert (after < before) == closer
    texts = {t.get_text() for t in shown.ax_.texts}
    assert {f"{before:.0f}°", f"{after:.0f}°"} <= texts
    ends = shown.arcs_["new"].get_xydata()[[0, -1]]
    cosines = [
        np.dot(e, v) / np.linalg.norm(e) / np.linalg.norm(v)
        for e, v in zip(ends, (shown.x, shown.new_w), strict=True)
    ]
    assert cosines == pytest.approx([1, 1])


def test_an_offset_raises_the_score_by_one_more(conjunction):
    shown = UpdateDisplay.from_estimator(conjunction, AND, YES, 5)
    assert shown.b is not None
    assert shown.scores[1] - shown.scores[0] == pytest.approx(shown.x @ shown.x + 1)


def test_five_frames_add_one_thing_each():
    seen = []
    shown = UpdateDisplay.from_example([2, 1], [2, -0.5], -1)
    for frame in range(1, 6):
        shown.plot(frame=frame)
        seen.append((set(shown.arrows_), set(shown.lines_), set(shown.arcs_)))
    assert seen == [
        ({"w", "x"}, {"old"}, set()),
        ({"w", "x", "step"}, {"old"}, set()),
        ({"w", "x", "step", "shifted", "new"}, {"old"}, set()),
        ({"w", "x", "step", "shifted", "new"}, {"old", "new"}, set()),
        ({"w", "x", "shifted", "new"}, {"old", "new"}, {"old", "new"}),
    ]


def test_bad_updates_say_what_to_do(sutd):
    with pytest.raises(ParameterError, match="y must be -1 or"):
        UpdateDisplay.from_example([1, 1], [1, 1], 0)
    with pytest.raises(DataError, match="x is 0"):
        UpdateDisplay.from_example([1, 1], [0, 0], 1)
    with pytest.raises(DataError, match="w must be 2 numbers, got 3"):
        UpdateDisplay.from_example([1, 1, 1], [1, 0], 1)
    with pytest.raises(DataError, match="x holds NaN"):
        UpdateDisplay.from_example([1, 1], [np.nan, 0], 1)
    with pytest.raises(ParameterError, match=r"eta must be positive, got -1\.0"):
        UpdateDisplay.from_example([1, 1], [1, 0], 1, eta=-1)
    for number in (0, 4, 1.5, "1"):
        with pytest.raises(ParameterError, match="number must be a whole number from 1 to 3"):
            UpdateDisplay.from_estimator(sutd, SUTD, SIGNS, number)
    with pytest.raises(ParameterError, match="frame must be a whole number from 1 to 5"):
        UpdateDisplay.from_example([1, 1], [1, 0], 1, frame=6)
    with pytest.raises(DataError, match="x is 0"):
        UpdateDisplay.from_estimator(run(AND, YES), AND, YES, 1)
    batch = run(SUTD, SIGNS, fit_intercept=False, mode="batch")
    with pytest.raises(ParameterError, match="not made at one row"):
        UpdateDisplay.from_estimator(batch, SUTD, SIGNS)


# ------------------------------------------------------------------------ the bound


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"eta0": 0.25},
        {"init": [-5, -5, 0]},
        {"rule": Margin(1.0)},
        {"mode": "batch-mean"},
        {"init": [3, -2, 1], "eta0": 0.5, "shuffle": True},
    ],
    ids=str,
)
def test_the_run_stays_between_its_two_bounds(options):
    clf = run(AND, YES, **options)
    shown = CosineDisplay.from_estimator(clf, AND, YES)
    k = shown.updates
    assert k.tolist() == list(range(clf.n_updates_ + 1))
    assert (shown.projections >= shown.projection_bound(k) - 1e-9).all()
    assert (shown.norms <= shown.norm_bound(k) + 1e-9).all()
    known = ~np.isnan(shown.cosine_bound(k)) & (shown.norms > 0)
    assert (shown.cosines[known] >= shown.cosine_bound(k)[known] - 1e-9).all()
    assert np.nanmax(shown.cosines) <= 1 + 1e-9
    assert k[-1] <= shown.bound
    assert shown.projection_bound(shown.bound) == pytest.approx(shown.norm_bound(shown.bound))
    assert int(shown.bound) == clf.bounds(AND, YES)["Novikoff"].most


def test_the_picture_of_the_bound(conjunction):
    shown = CosineDisplay.from_estimator(conjunction, AND, YES)
    w = np.vstack(
        [np.zeros(3), np.column_stack([conjunction.trace_.record.w, conjunction.trace_.record.b])]
    )
    assert shown.lines_["norm"].get_ydata() == pytest.approx(np.linalg.norm(w, axis=1))
    k, bound = shown.lines_["norm bound"].get_data()
    assert bound == pytest.approx(np.sqrt(k * 3))
    assert k[-1] == pytest.approx(51)
    k, bound = shown.lines_["projection bound"].get_data()
    assert bound == pytest.approx(k / np.sqrt(17))
    assert shown.lines_["bound"].get_xdata() == pytest.approx([51, 51])
    upper, lower = shown.axes_
    assert upper.get_xlim() == lower.get_xlim()
    assert upper.get_xscale() == "linear"
    assert r"at most $\sqrt{k}\,R$" in legend(lower)
    assert r"$R^2/\gamma^2$ = 51" in legend(lower)


def test_a_far_bound_is_seen_on_logarithmic_axes():
    clf = run(IRIS, SPECIES == 0, max_iter=5)
    shown = CosineDisplay.from_estimator(clf, IRIS, SPECIES == 0, log=True)
    assert [ax.get_xscale() for ax in shown.axes_] == ["log", "log"]
    assert shown.lines_["cosine"].get_xdata()[0] == 1
    assert shown.plot().ax_.get_xscale() == "linear"


def test_the_picture_of_the_bound_has_the_symbols_of_its_page(conjunction):
    symbols = {"w": r"\mathbf{w}^{(\ell)}", "u": r"\mathbf{w}_0", "k": r"\ell", "R": "M"}
    shown = CosineDisplay.from_estimator(conjunction, AND, YES, symbol=symbols)
    assert shown.axes_[1].get_xlabel() == r"updates $\ell$"
    assert set(legend(shown.axes_[1])) == {
        r"$\|\mathbf{w}^{(\ell)}\|$",
        r"$\mathbf{w}^{(\ell)} \cdot \mathbf{w}_0$",
        r"at most $\sqrt{\ell}\,M$",
        r"at least $\ell\,\gamma$",
        r"$M^2/\gamma^2$ = 51",
    }
    shown.figure_.draw_without_rendering()
    with pytest.raises(TypeError, match="unexpected keyword argument 'v'"):
        shown.plot(symbol={"v": "v"})


def test_it_is_drawn_on_two_axes(conjunction):
    pair = plt.figure().subplots(2, 1)
    shown = CosineDisplay.from_estimator(conjunction, AND, YES, ax=pair)
    assert shown.axes_ == tuple(pair)
    for number in (1, 3):
        with pytest.raises(ParameterError, match="ax must be two Axes"):
            shown.plot(ax=plt.figure().subplots(number, 1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": "l2", "max_iter": 3}, "a penalty moves the weights"),
        ({"mode": "batch"}, "corrects several mistakes. Fit with mode='batch-mean'"),
        ({"tie": "half"}, "half updates. Fit with tie='mistake'"),
        ({"class_weight": {0: 1, 1: 2}}, "updates of different sizes"),
        (
            {"mode": "batch-mean", "eta0": [1.0, 0.5] * 50, "max_iter": 100},
            "the learning rate changes",
        ),
    ],
    ids=str,
)
def test_runs_without_this_bound_say_why(options, message):
    with pytest.raises(NotSupportedError, match=message):
        CosineDisplay.from_estimator(run(AND, YES, **options), AND, YES)


def test_the_bound_of_a_trace_is_not_known(conjunction):
    with pytest.raises(ParameterError, match=r"a Trace does not have. Pass the fitted Perceptron"):
        CosineDisplay.from_estimator(conjunction.trace_, AND, YES)


def test_rows_that_nothing_separates_have_no_bound():
    xor = [0, 1, 1, 0]
    with pytest.raises(NotSupportedError, match="no margin, the classes are overlapping"):
        CosineDisplay.from_estimator(run(AND, xor, max_iter=3), AND, xor)


# ------------------------------------------------------------------------- bad calls


@pytest.mark.parametrize(
    "draw",
    [
        lambda clf: WeightsDisplay.from_estimator(clf),
        lambda clf: HyperplanesDisplay.from_estimator(clf, AND, YES),
        lambda clf: UpdateDisplay.from_estimator(clf, AND, YES),
        lambda clf: CosineDisplay.from_estimator(clf, AND, YES),
        lambda clf: VersionSpaceDisplay.from_estimator(clf, AND, YES),
    ],
    ids=["weights", "hyperplanes", "update", "cosine", "version space"],
)
def test_every_picture_of_updates_asks_for_them(draw):
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        draw(Perceptron())
    with pytest.raises(ParameterError, match=r'Perceptron\(record="updates"\)'):
        draw(Perceptron().fit(AND, YES))
    with pytest.raises(ParameterError, match="this run made no update"):
        draw(run(AND, YES, init=[2, 2, -3]))
    with pytest.raises(ParameterError, match=r"only a rosenblatt\.Perceptron"):
        draw(SklearnPerceptron().fit(AND, YES))


def test_hyperplanes_need_two_features():
    with pytest.raises(DataError, match="got 4"):
        HyperplanesDisplay.from_estimator(run(IRIS, SPECIES == 0), IRIS, SPECIES == 0)


def test_the_direct_rule_has_no_single_hyperplane():
    clf = run(PETALS, SPECIES, multiclass="direct", max_iter=2)
    with pytest.raises(NotSupportedError, match='multiclass="ovr"'):
        WeightsDisplay.from_estimator(clf)


def test_pictures_of_updates_refuse_rows_of_another_run():
    X, y = np.array([[1.0, 2.0], [-1.0, 2.0], [0.0, -1.0]]), np.array([1, -1, -1])
    clf = Perceptron(shuffle=False, tol=None, fit_intercept=False, record="updates").fit(X, y)
    for shown in (HyperplanesDisplay, UpdateDisplay, VersionSpaceDisplay):
        draw = shown.from_estimator
        for rows, labels in ((X, -y), (X[::-1], y[::-1]), (X + 1, y)):
            with pytest.raises(DataError, match="not the rows and labels this run was made on"):
                draw(clf, rows, labels)
