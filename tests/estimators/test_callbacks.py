"""Callbacks of scikit-learn: which events they see, and how they stop or fail a fit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

from rosenblatt import Perceptron
from tests.estimators.test_contract import each_variant

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 has callbacks")
FitCallback, ProgressBar, ScoringMonitor = (
    callback.FitCallback, callback.ProgressBar, callback.ScoringMonitor
)  # fmt: skip
IRIS, SPECIES = load_iris(return_X_y=True)
SETOSA, VIRGINICA = SPECIES == 0, SPECIES == 2


class Recorder:
    """What a callback was told, in order; `stop_at` asks to stop after so many passes."""

    def __init__(self, stop_at=None):
        self.events, self.stop_at = [], stop_at

    def setup(self, estimator, context):
        self.events.append(("setup", context, None))

    def teardown(self, estimator, context):
        self.events.append(("teardown", context, None))

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        self.events.append(("begin", context, None))

    def on_fit_task_end(
        self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None
    ):
        told = {"X": X, "y": y, "metadata": metadata, "model": fitted_estimator}
        self.events.append(("end", context, told))
        return context.task_name == "epoch" and len(self.ends("epoch")) == self.stop_at

    def ends(self, name):
        return [e for e in self.events if e[0] == "end" and e[1].task_name.startswith(name)]


def recorded(clf, X, y, **kwargs):
    recorder = Recorder(kwargs.pop("stop_at", None))
    assert isinstance(recorder, FitCallback)
    return clf.set_callbacks(recorder).fit(X, y, **kwargs), recorder


@pytest.mark.parametrize("keep", ["last", "average", "pocket"])
def test_a_callback_sees_every_pass_with_a_model_that_predicts(keep):
    clf, recorder = recorded(Perceptron(keep=keep, tol=None, max_iter=6), IRIS, VIRGINICA)
    passes = recorder.ends("epoch")
    assert len(passes) == clf.n_iter_ == 6
    assert [e[1].task_id for e in passes] == list(range(6))
    assert [e[0] for e in recorder.events].count("begin") == 7
    assert (recorder.events[0][0], recorder.events[-1][0]) == ("setup", "teardown")
    for k, (_, context, told) in enumerate(passes, start=1):
        assert context.parent.task_name == "fit"
        shorter = Perceptron(keep=keep, tol=None, max_iter=k).fit(IRIS, VIRGINICA)
        np.testing.assert_array_equal(told["model"].coef_, shorter.coef_)
        np.testing.assert_array_equal(told["model"].predict(IRIS), shorter.predict(IRIS))
        np.testing.assert_array_equal(told["X"], IRIS)
        np.testing.assert_array_equal(told["y"], VIRGINICA)
    assert recorder.events[-2][2]["model"].score(IRIS, VIRGINICA) == clf.score(IRIS, VIRGINICA)
    np.testing.assert_array_equal(
        clf.coef_, Perceptron(keep=keep, tol=None, max_iter=6).fit(IRIS, VIRGINICA).coef_
    )


def test_a_callback_sees_a_task_per_class_and_a_pass_inside_each():
    clf, recorder = recorded(Perceptron(n_jobs=2), IRIS, SPECIES)
    assert [e[1].task_name for e in recorder.ends("class")] == ["class 0", "class 1", "class 2"]
    counts = [0, 0, 0]
    for _, context, _ in recorder.ends("epoch"):
        counts[context.parent.task_id] += 1
    assert counts == [t.n_epochs for t in clf.trace_.traces]
    np.testing.assert_array_equal(clf.coef_, Perceptron().fit(IRIS, SPECIES).coef_)


@pytest.mark.parametrize("clf", [Perceptron(multiclass="direct"), Perceptron(keep="vote")], ids=str)
def test_a_callback_sees_the_other_ways_to_train(clf):
    clf, recorder = recorded(clone(clf), IRIS, SPECIES)
    assert len(recorder.ends("fit")) == 1
    traces = getattr(clf.trace_, "traces", [clf.trace_])
    assert len(recorder.ends("epoch")) == sum(t.n_epochs for t in traces)
    clf.set_callbacks().fit(IRIS, SPECIES)
    assert recorder.events[-1][0] == "teardown"


def test_a_pass_begins_before_it_is_made():
    """eta0 is asked for at every pass, so it tells when that pass is made."""
    recorder = Recorder()

    def eta(k):
        recorder.events.append(("step", k, None))
        return 0.5

    clf = Perceptron(mode="batch", eta0=eta, tol=None, max_iter=3).set_callbacks(recorder)
    clf.fit(IRIS, VIRGINICA)
    story = [kind for kind, what, _ in recorder.events if kind == "step" or "epoch" in str(what)]
    first = story.index("begin")
    assert story[first:] == ["begin", "step", "end"] * 3


def test_a_callback_can_stop_training():
    clf, _ = recorded(Perceptron(), IRIS, VIRGINICA, stop_at=2)
    assert (clf.stop_reason_, clf.n_iter_) == ("callback", 2)
    same = Perceptron(tol=None, max_iter=2).fit(IRIS, VIRGINICA)
    np.testing.assert_array_equal(clf.coef_, same.coef_)
    many, recorder = recorded(Perceptron(), IRIS, SPECIES, stop_at=1)
    assert many.trace_[0].n_epochs == 1
    assert many.stop_reason_ == "callback"
    assert len(recorder.ends("class")) == 3


def test_a_callback_that_fails_leaves_the_estimator_as_it_was():
    class Broken(Recorder):
        def on_fit_task_end(self, estimator, context):
            raise RuntimeError("no")

    clf = Perceptron().fit(IRIS, SETOSA)
    before = clf.set_callbacks(Broken()).coef_
    with pytest.raises(RuntimeError, match="no"):
        clf.fit(IRIS, SPECIES)
    assert clf.coef_ is before
    assert clf._skl_callbacks[0].events[-1][0] == "teardown"
    assert not any("callback" in name and name != "_skl_callbacks" for name in vars(clf))


def test_the_model_of_a_pass_is_not_the_one_before():
    """An estimator fitted before, otherwise, hands on the weights of this run."""
    clf = Perceptron(keep="vote").fit(IRIS, SPECIES).set_params(keep="last", tol=None, max_iter=1)
    clf, recorder = recorded(clf, IRIS, SETOSA)
    model = recorder.ends("epoch")[0][2]["model"]
    np.testing.assert_array_equal(model.predict(IRIS), clf.predict(IRIS))


@pytest.mark.parametrize("y", [VIRGINICA, SPECIES], ids=["two", "three"])
@each_variant
@pytest.mark.threads  # scikit-learn's bar has some, and a process
def test_progress_bar(clf, y, capsys):
    clone(clf).set_callbacks(ProgressBar()).fit(IRIS, y)
    shown = capsys.readouterr().out
    assert "Perceptron - fit" in shown
    if len(np.unique(y)) == 3 and clf.multiclass == "ovr":
        assert "Perceptron - class 2" in shown


@pytest.mark.threads
def test_progress_bar_of_a_search_shows_our_fits(capsys):
    search = GridSearchCV(Perceptron(), {"eta0": [1.0, 0.5]}, cv=2)
    search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(IRIS, SPECIES)
    assert "Perceptron - fit" in capsys.readouterr().out


@pytest.mark.threads
@pytest.mark.parametrize("as_frame", [False, True])
def test_scoring_monitor_scores_every_pass(as_frame):
    monitor = ScoringMonitor(scoring="accuracy")
    X = pd.DataFrame(IRIS, columns=list("abcd")) if as_frame else IRIS
    clf = Perceptron().set_callbacks(monitor).fit(X, VIRGINICA)
    log = monitor.get_logs().data_as_pandas
    scores = log[log.task_name == "epoch"]["accuracy"]
    assert len(scores) == clf.n_iter_
    assert scores.iloc[-1] == clf.score(X, VIRGINICA)
