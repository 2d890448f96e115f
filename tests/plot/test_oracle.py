"""The oracle beside linear rules: densities, boundaries and true errors."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier

from rosenblatt import GaussianPair, OracleDisplay, Perceptron
from rosenblatt.errors import DataError, LabelError, NotSupportedError, ParameterError

PAIR = GaussianPair([0, 0], [[4, 1], [1, 2]], [6, 4], [[1, 0], [0, 3]], prior1=0.3)


def legend(shown):
    return [t.get_text() for t in shown.ax_.get_legend().texts]


@pytest.fixture(scope="module")
def fitted():
    X, y = PAIR.sample((60, 40), seed=0)
    return Perceptron().fit(X, y), X, y


def test_densities_boundary_and_hyperplane(fitted):
    clf, X, y = fitted
    shown = OracleDisplay.from_rules(PAIR, {"perceptron": clf}, X, y)
    for rings, mean, cov in zip(
        shown.densities_, (PAIR.mean0, PAIR.mean1), (PAIR.cov0, PAIR.cov1), strict=True
    ):
        for radius, ring in zip((1, 2, 3), rings, strict=True):
            away = ring.get_xydata() - mean
            square = np.einsum("ij,jk,ik->i", away, np.linalg.inv(cov), away)
            assert square == pytest.approx(radius**2)
    line = shown.lines_["perceptron"].get_xydata()
    assert clf.decision_function(line) == pytest.approx(0, abs=1e-9)
    (boundary,) = shown.boundaries_
    edge = np.vstack([p.vertices for p in boundary.get_paths()])
    assert np.abs(PAIR.decision(edge)).max() < 0.02
    assert [p.get_offsets().tolist() for p in shown.points_] == [
        X[y == 0].tolist(),
        X[y == 1].tolist(),
    ]


def test_errors_are_the_true_ones(fitted):
    clf, X, y = fitted
    best = PAIR.best_linear()
    rules = {"perceptron": (clf.coef_, clf.intercept_), "best linear": (best.w, best.b)}
    shown = OracleDisplay.from_rules(PAIR, rules, X, y)
    assert shown.errors == {
        "oracle": PAIR.bayes_error(),
        "perceptron": PAIR.error_of(clf.coef_, clf.intercept_),
        "best linear": best.error,
    }
    assert f"oracle: error {PAIR.bayes_error():.3g}" in legend(shown)
    assert f"best linear: error {best.error:.3g}" in legend(shown)


def test_a_rule_that_is_out_of_sight_is_still_named():
    shown = OracleDisplay.from_rules(PAIR, {"far": ([1.0, 0.0], 999.0)})
    assert shown.lines_ == {}
    assert "far: error 0.7, outside" in legend(shown)
    assert "class 0" in legend(shown)


def test_bad_calls_say_what_to_do(fitted):
    _, X, y = fitted
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        OracleDisplay.from_rules(PAIR, {"new": Perceptron()})
    with pytest.raises(DataError, match="two features can be drawn, this one has 3"):
        OracleDisplay.from_rules(GaussianPair(np.zeros(3), 1.0, np.ones(3), 1.0), {})
    with pytest.raises(DataError, match="w of 'short' must be 2 numbers, got 1"):
        OracleDisplay.from_rules(PAIR, {"short": ([1.0], 0.0)})
    with pytest.raises(DataError, match="2 features, got 1"):
        OracleDisplay.from_rules(PAIR, {}, X[:, :1], y)
    several = Perceptron().fit(X, np.arange(len(X)) % 3)
    with pytest.raises(DataError, match="w of 'several' must be 2 numbers, got 6"):
        OracleDisplay.from_rules(PAIR, {"several": several})
    with pytest.raises(NotSupportedError, match="hyperplanes, and 'neighbours' has none"):
        OracleDisplay.from_rules(PAIR, {"neighbours": KNeighborsClassifier().fit(X, y)})


def test_rows_of_one_class_keep_its_name():
    shown = OracleDisplay.from_rules(PAIR, {}, [[5, 4], [6, 3]], [1, 1])
    assert shown.points.codes.tolist() == [1, 1]
    with pytest.raises(LabelError, match=r"two classes, y has 1 \(ill\)"):
        OracleDisplay.from_rules(PAIR, {}, [[5, 4], [6, 3]], ["ill", "ill"])


def test_the_name_of_the_oracle_is_taken():
    with pytest.raises(ParameterError, match="Give your rule another name"):
        OracleDisplay.from_rules(PAIR, {"oracle": ([1, 1], 0)})
