"""The losses in one picture, at every margin what the loss is there."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from rosenblatt import LossesDisplay, Perceptron
from rosenblatt.errors import DataError, LabelError, NotSupportedError, ParameterError
from rosenblatt.theory.losses import LOSSES


def test_all_five_are_there_with_their_values():
    shown = LossesDisplay.from_functions()
    assert list(shown.lines_) == ["hard", "soft", "hinge", "logistic", "squared"]
    for name, line in shown.lines_.items():
        s, value = line.get_data()
        assert value.tolist() == LOSSES[name](s).tolist()
    assert len(shown.ax_.get_legend().texts) == 5
    dashes = {str(line._unscaled_dash_pattern) for line in shown.lines_.values()}
    assert len(dashes) == 5
    s, hard = shown.lines_["hard"].get_data()
    assert s[hard == 1].max() == pytest.approx(0, abs=1e-9)  # the step is upright
    assert s[hard == 0].min() == 0


def test_own_functions_such_as_relu():
    shown = LossesDisplay.from_functions({"ReLU": lambda s: np.maximum(s, 0)}, span=(-1, 2))
    s, value = shown.lines_["ReLU"].get_data()
    assert (s[0], s[-1]) == (-1, 2)
    assert value[-1] == 2
    constant = LossesDisplay.from_functions({"one": lambda s: 1.0})
    assert (constant.curves["one"] == 1).all()


def test_margins_of_a_model_are_below():
    X, y = load_iris(return_X_y=True)
    clf = Perceptron(shuffle=False).fit(X, y == 0)
    shown = LossesDisplay.from_estimator(clf, X, y == 0, functions=["soft", "hinge"])
    margins = np.where(y == 0, 1, -1) * clf.decision_function(X)
    drawn = [np.array(r.get_offsets())[:, 0] for r in shown.rows_]
    assert drawn[0] == pytest.approx(margins[y != 0])
    assert drawn[1] == pytest.approx(margins[y == 0])
    assert all((r.get_offsets()[:, 1] < 0).all() for r in shown.rows_)
    assert shown.s[0] <= margins.min()
    assert margins.max() <= shown.s[-1]


def test_bad_calls_say_what_to_do():
    with pytest.raises(ParameterError, match="functions must be a list with some of 'hard'"):
        LossesDisplay.from_functions(["hard", "harsh"])
    with pytest.raises(ParameterError, match="must be a list"):
        LossesDisplay.from_functions("hard")
    for span in ((1, 1), 5, (0, 1, 2)):
        with pytest.raises(ParameterError, match="span must be two numbers, the smaller first"):
            LossesDisplay.from_functions(span=span)
    for span in (("a", "b"), (0, np.inf)):
        with pytest.raises(DataError, match="span "):
            LossesDisplay.from_functions(span=span)
    several = Perceptron().fit([[0], [1], [2]], [0, 1, 2])
    with pytest.raises(LabelError, match="two classes, y has 3"):
        LossesDisplay.from_estimator(several, [[0], [1], [2]], [0, 1, 2])
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        LossesDisplay.from_estimator(Perceptron(), [[0]], [0])


def test_labels_are_those_of_the_model():
    X, y = [[0, 0], [1, 1], [2, 2]], ["n", "y", "y"]
    clf = Perceptron().fit(X, y)
    assert LossesDisplay.from_estimator(clf, X[1:], y[1:]).points.codes.tolist() == [1, 1]
    with pytest.raises(LabelError, match="'z'"):
        LossesDisplay.from_estimator(clf, X, ["n", "y", "z"])
    with pytest.raises(NotSupportedError, match="LinearRegression has no classes_"):
        LossesDisplay.from_estimator(LinearRegression().fit(X, [0, 1, 1]), X, y)
    with pytest.raises(NotSupportedError, match="no decision_function"):
        LossesDisplay.from_estimator(GaussianNB().fit(X, y), X, y)
