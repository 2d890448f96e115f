"""Other programs give the same labels: onnxruntime on 100,000 rows, and scikit-learn."""

import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from rosenblatt import LinearModel, Perceptron, export_onnx, load_model, read, save_model
from rosenblatt.errors import NotSupportedError
from tests.real_data import libsvm_file

ROWS = 100_000
CLASSES = {
    "text": np.array(["häm", "spam"]),
    "numbers": np.array([-1, 0, 7]),
    "floats": np.array([-0.5, 2.0]),
    "booleans": np.array([False, True]),
    "bytes": np.array([1, 2, 200], dtype=np.uint8),
    "many": np.array(list("abcdefghij")),
}


def model_of(classes, dtype, whole, d=12):
    rng = np.random.default_rng(1)
    rows = 1 if len(classes) == 2 else len(classes)
    coef, intercept = rng.standard_normal((rows, d)), rng.standard_normal(rows)
    if whole:  # sums are exact, and many scores are 0 or equal
        coef, intercept = np.rint(2 * coef), np.rint(intercept)
    return LinearModel(coef.astype(dtype), intercept.astype(dtype), classes)


def rows_of(dtype, whole, d=12):
    rng = np.random.default_rng(2)
    if whole:
        return rng.integers(-3, 4, (ROWS, d)).astype(dtype)
    return rng.standard_normal((ROWS, d)).astype(dtype)


def run(path, X):
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(["label", "scores"], {"X": X})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", CLASSES)
def test_onnxruntime_gives_the_same_labels_on_100_000_rows(kind, dtype, tmp_path):
    pytest.importorskip("onnx")
    model, X = model_of(CLASSES[kind], dtype, True), rows_of(dtype, True)
    export_onnx(model, tmp_path / "m.onnx")
    labels, scores = run(tmp_path / "m.onnx", X)
    assert scores.dtype == dtype
    assert (scores == model.decision_function(X)).all()
    assert (labels == model.predict(X)).all()
    if len(model.classes) == 2:
        assert (scores == 0).any()
    else:
        assert (np.diff(np.sort(scores, axis=1)[:, -2:]) == 0).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_round_give_the_same_labels_but_where_rounding_decides(dtype, tmp_path):
    pytest.importorskip("onnx")
    model, X = model_of(CLASSES["text"], dtype, False), rows_of(dtype, False)
    export_onnx(model, tmp_path / "m.onnx")
    labels, _ = run(tmp_path / "m.onnx", X)
    size = np.abs(X) @ np.abs(model.coef[0]) + np.abs(model.intercept[0])
    clear = (
        np.abs(model.decision_function(X)) > 2 * (model.n_features + 1) * np.finfo(dtype).eps * size
    )
    assert (labels == model.predict(X))[clear].all()
    assert clear.mean() > 0.9999


def test_the_graph_says_what_it_is(tmp_path):
    onnx = pytest.importorskip("onnx")
    named = LinearModel(
        np.eye(1), np.zeros(1), np.array([0, 1]), ("größe",), made_by="rosenblatt 0.1.0"
    )
    export_onnx(named, tmp_path / "m.onnx")
    made = onnx.load(tmp_path / "m.onnx")
    props = {p.key: p.value for p in made.metadata_props}
    assert json.loads(props["feature_names"]) == ["größe"]
    assert (made.producer_name, made.producer_version) == ("rosenblatt", "0.1.0")
    assert {o.op_type for o in made.graph.node} == {
        "MatMul", "Add", "GreaterOrEqual", "Cast", "Gather"
    }  # fmt: skip


X = np.random.default_rng(0).integers(-3, 4, (60, 4)).astype(float)
NAMED = np.array(["a", "b", "c"])[np.arange(60) % 3]


@pytest.mark.parametrize("y", [NAMED != "a", NAMED], ids=["two", "three"])
def test_scikit_learn_gives_the_same_labels_but_at_a_score_of_0(y, tmp_path):
    clf = Perceptron(max_iter=5, tol=None).fit(X, y)
    twin = clf.to_sklearn()
    assert type(twin).__module__.startswith("sklearn.")
    rows = np.random.default_rng(3).integers(-3, 4, (2000, 4)).astype(float)
    scores, ours, theirs = clf.decision_function(rows), clf.predict(rows), twin.predict(rows)
    assert (twin.decision_function(rows) == scores).all()
    tied = scores == 0 if scores.ndim == 1 else np.zeros(len(rows), bool)
    assert (ours == theirs)[~tied].all()
    if scores.ndim == 1:
        assert tied.any()
        assert (ours[tied] == clf.classes_[1]).all()
        assert (theirs[tied] == clf.classes_[0]).all()
    assert clone(twin).get_params()["max_iter"] == 5
    assert (pickle.loads(pickle.dumps(twin)).predict(rows) == theirs).all()
    before = clf.coef_.copy()
    twin.partial_fit(X, y)
    assert (clf.coef_ == before).all()
    export_onnx(clf, tmp_path / "m.onnx")
    assert (run(tmp_path / "m.onnx", rows)[0] == ours).all()


def test_names_go_along():
    twin = LinearModel(
        np.eye(1),
        np.zeros(1),
        np.array([0, 1]),
        ("a",),
        {"keep": "last", "tol": "-inf", "shuffle": "sample"},
    ).to_sklearn()
    assert twin.feature_names_in_.tolist() == ["a"]
    assert (twin.tol, twin.shuffle) == (-np.inf, True)


def test_what_cannot_leave_says_why(tmp_path):
    voted = Perceptron(keep="vote", max_iter=2, tol=None).fit(X, NAMED != "a")
    encoded = LinearModel(np.eye(1), np.zeros(1), np.array([0, 1]), columns={"a": {}})
    for leave in (
        lambda m: export_onnx(m, tmp_path / "m"),
        lambda m: LinearModel.of(m).to_sklearn(),
    ):
        with pytest.raises(NotSupportedError, match="vote of"):
            leave(voted)
        with pytest.raises(NotSupportedError, match="encoded=True"):
            leave(encoded)
    assert encoded.to_sklearn(encoded=True).predict([[1.0]]) == [1]


@pytest.mark.parametrize("name", ["a9a/a9a.svm.gz", "digits.svm"])
def test_real_rows_get_the_same_labels_from_every_copy(name, tmp_path):
    table = read(libsvm_file(name, tmp_path))
    clf = Perceptron(max_iter=2, tol=None, keep="average").fit(table.X, table.y)
    labels = clf.predict(table.X)
    save_model(clf, tmp_path / "m")
    export_onnx(clf, tmp_path / "m.onnx")
    assert (load_model(tmp_path / "m").predict(table.X) == labels).all()
    assert (clf.to_sklearn().predict(table.X) == labels).all()
    assert (run(tmp_path / "m.onnx", table.X.toarray())[0] == labels).all()
