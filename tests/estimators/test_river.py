"""River: its checks, pipelines and evaluation on the wrapper of Perceptron."""

import copy
import pickle

import numpy as np
import pytest

from rosenblatt import Perceptron
from tests.estimators.test_contract import IRIS, SPECIES

river = pytest.importorskip("river", reason="River is not installed")
from river import checks, datasets, evaluate, metrics, preprocessing, stream  # noqa: E402

from rosenblatt.compat.river import RiverPerceptron  # noqa: E402

ESTIMATORS = [Perceptron(), Perceptron(keep="average"), Perceptron(rule="arow")]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_checks_of_river(estimator):
    checks.check_estimator(RiverPerceptron(estimator))


def test_a_pipeline_gives_the_weights_of_learn_one_on_scaled_rows():
    names = list("abcd")
    pipeline = preprocessing.StandardScaler() | RiverPerceptron(Perceptron(keep="average"))
    metric = metrics.Accuracy()
    evaluate.progressive_val_score(
        stream.iter_array(IRIS, SPECIES, feature_names=names), pipeline, metric
    )
    scaler, ours, mistakes = preprocessing.StandardScaler(), Perceptron(keep="average"), 0
    for row, label in zip(IRIS.tolist(), SPECIES.tolist(), strict=True):
        x = dict(zip(names, row, strict=True))
        mistakes += ours.predict_one(scaler.transform_one(x)) not in (None, label)
        scaler.learn_one(x)
        ours.learn_one(scaler.transform_one(x), label)
    learned = pipeline["RiverPerceptron"].model
    np.testing.assert_array_equal(learned.coef_, ours.coef_)
    assert metric.get() == pytest.approx(1 - mistakes / (len(IRIS) - 1))


def test_copies_learn_alone():
    model = RiverPerceptron()
    for x, y in datasets.Phishing().take(50):
        model.learn_one(x, y)
    before = model.model.coef_.copy()
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.clone()):
        for x, y in datasets.Phishing().take(80):
            other.learn_one(x, y)
    np.testing.assert_array_equal(model.model.coef_, before)
    assert model.clone().predict_one({"a": 1.0}) is None


def test_parameters_of_the_estimator_are_those_of_the_model():
    estimator = Perceptron(rule="pa1", fit_intercept=False)
    assert RiverPerceptron(estimator).model.get_params() == estimator.get_params()
    assert not estimator.__sklearn_is_fitted__()
