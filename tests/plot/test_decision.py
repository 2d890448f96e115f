"""What DecisionDisplay draws: the hyperplane, its margin, the regions, and who is wrong."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from rosenblatt import DecisionDisplay, Perceptron
from rosenblatt.errors import DataError, LabelError, NotSupportedError

IRIS, SPECIES = load_iris(return_X_y=True)
PETALS = IRIS[:, 2:]


@pytest.fixture(scope="module")
def setosa():
    return Perceptron(shuffle=False).fit(PETALS, SPECIES == 0)


def legend(shown):
    return [t.get_text() for t in shown.ax_.get_legend().texts]


def test_the_hyperplane_the_margin_and_the_vector_are_where_they_belong(setosa):
    shown = DecisionDisplay.from_estimator(setosa, PETALS, SPECIES == 0)
    w, b = setosa.coef_[0], setosa.intercept_[0]
    assert shown.hyperplane_.get_xydata() @ w + b == pytest.approx(0, abs=1e-9)
    y = np.where(SPECIES == 0, 1, -1)
    margin = (y * (PETALS @ w + b)).min() / np.linalg.norm(w)
    assert shown.margin == pytest.approx(margin)
    away = [(line.get_xydata() @ w + b) / np.linalg.norm(w) for line in shown.margins_]
    assert np.sort(np.concatenate(away)) == pytest.approx([-margin, -margin, margin, margin])
    foot, tip = np.array(shown.weight_vector_.xyann), np.array(shown.weight_vector_.xy)
    assert foot @ w + b == pytest.approx(0, abs=1e-9)
    assert np.cross([*(tip - foot), 0], [*w, 0])[2] == pytest.approx(0, abs=1e-9)
    assert (tip - foot) @ w > 0
    assert shown.ax_.get_aspect() == 1.0
    assert shown.misclassified.size == 0
    assert shown.misclassified_ is None
    assert legend(shown) == [r"$w \cdot x + 2 = 0$", "margin 0.4028", "False", "True"]


def test_rows_are_drawn_with_a_shape_for_each_class(setosa):
    shown = DecisionDisplay.from_estimator(setosa, PETALS, SPECIES == 0)
    drawn = [p.get_offsets().tolist() for p in shown.points_]
    assert drawn == [PETALS[SPECIES != 0].tolist(), PETALS[SPECIES == 0].tolist()]
    shapes = [p.get_paths()[0].vertices.shape for p in shown.points_]
    assert shapes[0] != shapes[1]


def test_rows_on_the_wrong_side_are_ringed():
    clf = Perceptron(keep="pocket", max_iter=5, tol=None).fit(PETALS, SPECIES == 1)
    shown = DecisionDisplay.from_estimator(clf, PETALS, SPECIES == 1)
    wrong = clf.predict(PETALS) != (SPECIES == 1)
    assert wrong.any()
    assert shown.misclassified_.get_offsets().tolist() == PETALS[wrong].tolist()
    assert shown.margin < 0
    assert shown.margins_ == []
    assert f"wrong side ({wrong.sum()})" in legend(shown)


@pytest.mark.parametrize(
    "clf",
    [
        Perceptron(multiclass="direct"),
        Perceptron(keep="vote", max_iter=5, tol=None),
        make_pipeline(StandardScaler(), Perceptron()),
        KNeighborsClassifier(5),
    ],
    ids=["direct", "vote", "pipeline", "neighbours"],
)
def test_the_regions_are_what_the_model_predicts(clf):
    clf.fit(PETALS, SPECIES)
    shown = DecisionDisplay.from_estimator(clf, PETALS, SPECIES)
    predicted = clf.predict(shown.window.grid()[2]).reshape(shown.lead.shape[1:])
    assert ((shown.lead > 0).sum(axis=0) == 1).all()
    assert (shown.lead.argmax(axis=0) == predicted).all()
    assert len(shown.boundaries_) == 3
    assert shown.hyperplane_ is None


def test_two_classes_without_one_hyperplane_have_one_boundary():
    clf = Perceptron(keep="vote").fit(PETALS, SPECIES == 0)
    shown = DecisionDisplay.from_estimator(clf, PETALS, SPECIES == 0)
    assert len(shown.boundaries_) == 1
    assert shown.w is None


def test_other_libraries_models_are_drawn():
    for clf in (LinearSVC(), LogisticRegression()):
        clf.fit(PETALS, SPECIES == 0)
        shown = DecisionDisplay.from_estimator(clf, PETALS, SPECIES == 0)
        ends = shown.hyperplane_.get_xydata()
        assert clf.decision_function(ends) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_the_columns_are_on_the_axes(frame):
    X = frame({"length": PETALS[:, 0], "width": PETALS[:, 1]})
    clf = Perceptron().fit(X, SPECIES)
    shown = DecisionDisplay.from_estimator(clf, X, SPECIES)
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("length", "width")


def test_names_are_words_and_not_formulas():
    X = pd.DataFrame({"price_$": PETALS[:, 0], "_cost $a_": PETALS[:, 1]})
    y = np.where(SPECIES == 0, "_first", "$x^")
    shown = DecisionDisplay.from_estimator(Perceptron().fit(X, y), X, y)
    assert shown.ax_.get_xlabel() == r"price_\$"
    assert legend(shown)[-2:] == [r"\$x^", " _first"]
    shown.figure_.draw_without_rendering()


def test_features_of_very_different_range_fill_the_axes():
    X = PETALS * [1.0, 1000.0]
    shown = DecisionDisplay.from_estimator(Perceptron().fit(X, SPECIES == 0), X, SPECIES == 0)
    assert not shown.window.equal
    assert shown.ax_.get_aspect() == "auto"
    assert shown.weight_vector_ is None
    assert shown.margins_ == []


def test_a_hyperplane_without_a_model():
    shown = DecisionDisplay.from_hyperplane([1, 0], -1, [[0, 0], [0, 1], [2, 0]], [0, 0, 1])
    assert shown.hyperplane_.get_xdata() == pytest.approx([1, 1])
    assert shown.margin == 1.0


def test_zero_weights_have_no_hyperplane():
    shown = DecisionDisplay.from_hyperplane([0, 0], 1, [[0, 0], [2, 0]], [0, 1])
    assert shown.hyperplane_ is None
    assert shown.misclassified.tolist() == [0]


def test_it_can_be_drawn_again_elsewhere(setosa):
    shown = DecisionDisplay.from_estimator(setosa, PETALS, SPECIES == 0)
    first = shown.figure_
    fig, ax = plt.subplots()
    assert shown.plot(ax=ax, margin=False, legend=False, weight_vector=False) is shown
    assert (shown.ax_, shown.figure_) == (ax, fig)
    assert first is not fig
    assert shown.margins_ == []
    assert shown.weight_vector_ is None
    assert ax.get_legend() is None


def test_bad_calls_say_what_to_do(setosa):
    with pytest.raises(NotFittedError, match=r"not fitted yet\. Call 'fit'"):
        DecisionDisplay.from_estimator(Perceptron(), PETALS, SPECIES)
    wide = Perceptron().fit(IRIS[:, :3], SPECIES)
    with pytest.raises(DataError, match=r"needs rows with 2 features, got 3. Fit on two"):
        DecisionDisplay.from_estimator(wide, IRIS[:, :3], SPECIES)
    with pytest.raises(DataError, match="2 features, got 4"):
        DecisionDisplay.from_estimator(setosa, IRIS, SPECIES == 0)

    with pytest.raises(NotSupportedError, match="LinearRegression has no classes_"):
        DecisionDisplay.from_estimator(LinearRegression().fit(PETALS, SPECIES), PETALS, SPECIES)
    for w, b, message in (
        ([1, 2, 3], 0, "w must be 2 numbers, got 3"),
        ([1, "a"], 0, "w is not made of numbers"),
        ([1, 2], [0, 5], r"b must be one number, got \[0.0, 5.0\]"),
        ([1, 2], [], "b must be one number"),
        ([1, np.nan], 0, "w holds NaN"),
    ):
        with pytest.raises(DataError, match=message):
            DecisionDisplay.from_hyperplane(w, b, PETALS, SPECIES == 0)
    with pytest.raises(LabelError, match=r"two classes, y has 3.*pass y == label"):
        DecisionDisplay.from_hyperplane([1, 2], 0, PETALS, SPECIES)
    with pytest.raises(LabelError, match=r"two classes, y has 1 \(0\)"):
        DecisionDisplay.from_hyperplane([1, 2], 0, PETALS[:50], SPECIES[:50])
