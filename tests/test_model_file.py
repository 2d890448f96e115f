"""Model files: the same bits come back, and nothing malformed is believed."""

import hashlib
import json
import os
import pickle
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors import safe_open
from safetensors.numpy import load_file, save
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from rosenblatt import LinearModel, Perceptron, load_model, save_model
from rosenblatt.errors import DataError, NotSupportedError
from rosenblatt.model_file import KEY, read_model

KEPT = Path(__file__).parent / "data_files"
TEXT = st.text(max_size=5).filter(lambda s: "\0" not in s)  # numpy drops zeros at the end
LABELS = st.one_of(
    st.lists(st.integers(-(2**62), 2**62), min_size=2, max_size=4, unique=True),
    st.lists(TEXT, min_size=2, max_size=4, unique=True),
    st.just([False, True]),
    st.just([-1.0, 0.5]),
)  # fmt: skip
FINITE = st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
OBJECT = st.dictionaries(TEXT, PLAIN, max_size=3)


@st.composite
def models(draw):
    classes = np.unique(np.array(draw(LABELS)))
    rows, d = 1 if len(classes) == 2 else len(classes), draw(st.integers(1, 5))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    finite = st.floats(allow_nan=False, allow_infinity=False, width=np.dtype(dtype).itemsize * 8)
    return LinearModel(
        draw(hnp.arrays(dtype, (rows, d), elements=finite)),
        draw(hnp.arrays(dtype, rows, elements=finite)),
        classes,
        tuple(f"é{k}" for k in range(d)) if draw(st.booleans()) else (),
        {"keep": "average", "eta0": draw(st.floats(0.1, 2))},
        {"format": "libsvm", "zero_based": False},
        training=draw(OBJECT),
        columns=draw(st.none() | OBJECT),
    )


def small(path):
    model = LinearModel(np.array([[1.0, 2.0]]), np.array([3.0]), np.array(["ham", "spam"]))
    save_model(model, path)
    return path


def same(a, b):
    for name in ("coef", "intercept", "classes"):
        left, right = getattr(a, name), getattr(b, name)
        assert left.dtype == right.dtype
        assert left.shape == right.shape
        assert left.tobytes() == right.tobytes()
    for name in ("feature_names", "options", "reader", "made_by", "training", "columns"):
        assert getattr(a, name) == getattr(b, name)


@given(model=models())
def test_the_same_bits_come_back(model, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "model.safetensors"
    save_model(model, path)
    same(load_model(path), model)


AD = ("repair", "reviews", "purchase", "clicked")
FIRST = {
    "text": LinearModel(
        np.array([[2.0, 8, -15, 5]]), np.array([-9.0]), np.array(["no", "yes"]), AD,
        {"passes": 3, "keep": "average", "eta0": 0.1, "fit_intercept": True},
        {"format": "csv", "target": "click", "header": True}, "rosenblatt 0.1.0",
    ),
    "numbers": LinearModel(
        np.array([[0.1, -0.0], [5e-324, 1.5], [-2.0, 1e308]]), np.array([0.5, -1 / 3, 0.0]),
        np.array([-1, 0, 7]), (), {}, {"format": "libsvm", "zero_based": False}, "rosenblatt 0.1.0",
    ),
    "float32": LinearModel(
        np.array([[0.1, 1e-45]], np.float32), np.array([-0.3], np.float32), np.array([-1.0, 0.5]),
        ("größe", "x\n1"), {"tol": -np.inf}, {}, "rosenblatt 0.1.0",
    ),
    "bool": LinearModel(
        np.eye(1), np.zeros(1), np.array([False, True]), made_by="rosenblatt 0.1.0"
    ),
}  # fmt: skip
SECOND = {
    "text": LinearModel(
        np.array([[2.0, 8, -15, 5]]), np.array([-9.0]), np.array(["no", "yes"]), AD,
        {"keep": "average", "eta0": 0.1}, {"format": "csv", "target": "click"}, "rosenblatt 0.1.0",
        {"rows": 5, "passes": 3, "stop_reasons": ["separated"]},
        {"columns": [{"name": "repair", "mean": 0.1}], "missing": None},
    ),
    "numbers": LinearModel(
        np.array([[0.1, -0.0], [5e-324, 1.5], [-2.0, 1e308]]), np.array([0.5, -1 / 3, 0.0]),
        np.array([-1, 0, 7], np.int8), made_by="rosenblatt 0.1.0",
    ),
    "float32": LinearModel(
        np.array([[0.1, 1e-45]], np.float32), np.array([-0.3], np.float32), np.array([-1.0, 0.5]),
        ("größe", "x\n1"), made_by="rosenblatt 0.1.0",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("number", "name"), [(1, name) for name in FIRST] + [(2, name) for name in SECOND]
)
def test_files_of_every_version_are_read(number, name):
    found = read_model(KEPT / f"model_v{number}_{name}.safetensors")
    assert found.format == number
    same(found.model, {1: FIRST, 2: SECOND}[number][name])


def test_the_same_model_is_the_same_file_in_every_process(tmp_path):
    program = (
        "import sys, numpy as np; from rosenblatt import LinearModel, save_model\n"
        "m = LinearModel(np.eye(3), np.zeros(3), np.arange(3), options={'b': 1, 'a': 2})\n"
        "save_model(m, sys.argv[1])"
    )
    files = [tmp_path / "one", tmp_path / "two"]
    for file in files:
        subprocess.run([sys.executable, "-c", program, file], check=True)
    assert files[0].read_bytes() == files[1].read_bytes()


X = np.random.default_rng(0).integers(-3, 4, (60, 4)).astype(float)
NAMED = np.array(["a", "b", "c"])[np.arange(60) % 3]


@pytest.mark.parametrize("keep", ["last", "average", "pocket"])
@pytest.mark.parametrize(
    ("y", "multiclass"), [(NAMED != "a", "ovr"), (NAMED, "ovr"), (NAMED, "direct")]
)
def test_a_fitted_perceptron_predicts_the_same_from_its_file(y, multiclass, keep, tmp_path):
    clf = Perceptron(max_iter=5, tol=None, keep=keep, multiclass=multiclass).fit(X, y)
    save_model(clf, tmp_path / "m")
    model = load_model(tmp_path / "m")
    assert model.coef.tobytes() == clf.coef_.tobytes()
    assert (model.scores(X) == clf.decision_function(X)).all()
    assert (model.predict(X) == clf.predict(X)).all()
    assert model.options["max_iter"] == 5
    assert model.training["mistakes"] == clf.n_mistakes_
    before = (tmp_path / "m").read_bytes()
    save_model(clf.sparsify(), tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before
    assert (load_model(tmp_path / "m").predict(sp.csr_matrix(X)) == clf.predict(X)).all()


@pytest.mark.parametrize("y", [NAMED != "a", NAMED], ids=["two", "three"])
def test_linear_models_of_scikit_learn_can_be_saved_too(y, tmp_path):
    clf = LogisticRegression().fit(X, y)
    save_model(clf, tmp_path / "m")
    assert (load_model(tmp_path / "m").predict(X) == clf.predict(X)).all()


def test_what_cannot_be_saved_says_why(tmp_path):
    with pytest.raises(NotSupportedError, match="Fit it first"):
        save_model(Perceptron(), tmp_path / "m")
    voted = Perceptron(keep="vote", max_iter=2, tol=None).fit(X, NAMED != "a")
    with pytest.raises(NotSupportedError, match=r"vote of [0-9]+ hyperplanes.*keep='average'"):
        save_model(voted, tmp_path / "m")
    with pytest.raises(NotSupportedError, match="every pair of 3 classes"):
        save_model(SVC(kernel="linear").fit(X, NAMED), tmp_path / "m")
    for changed, why in (
        ({"options": {"a": object()}}, "options"),
        ({"columns": {"a": np.inf}}, "come back"),
        ({"columns": {1: 2}}, "come back"),
        ({"training": json.loads("[" * 40 + "]" * 40)}, "deep"),
        ({"classes": np.array([1, 2], dtype=object)}, "object"),
        ({"classes": np.array(["a", "b" * 2**24], dtype=object)}, "too long"),
    ):
        model = LinearModel(
            **{"coef": np.eye(1), "intercept": np.zeros(1), "classes": np.arange(2), **changed}
        )
        with pytest.raises(NotSupportedError, match=why):
            save_model(model, tmp_path / "m")
    assert not os.listdir(tmp_path)


def test_a_model_of_ours_is_made_of_numbers_only():
    with pytest.raises(DataError, match="expected a table of floats"):
        LinearModel(np.eye(1, dtype=int), np.zeros(1, dtype=int), np.arange(2))
    assert pickle.loads(pickle.dumps(FIRST["text"])).predict([[0, 0, 0, 0]]).tolist() == ["no"]


def test_rows_of_other_shapes_are_refused():
    model = FIRST["text"]
    assert model.predict([[0, 1, 0, 1]]).tolist() == ["yes"]
    for rows, why in (
        ([[1, 2]], "4 features"),
        (np.full((1, 4), np.nan), "NaN"),
        (np.full((1, 4), 1e308), "beyond the range"),
        ([["a"] * 4], "number"),
    ):
        with np.errstate(over="ignore", invalid="ignore"), pytest.raises(DataError, match=why):
            model.predict(rows)


def test_columns_of_a_frame_are_compared_by_name():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[0, 1, 0, 1]], columns=list(AD))
    assert FIRST["text"].predict(frame).tolist() == ["yes"]
    with pytest.raises(DataError, match="same order"):
        FIRST["text"].predict(frame[list(AD[::-1])])


def test_what_is_something_else_is_refused(tmp_path):
    path = tmp_path / "m"
    eye = {"coef": np.eye(1), "intercept": np.zeros(1)}
    begins = '{"digest":"' + "0" * 64 + '","format":'
    for content, why in (
        (b"", "a header of 0 bytes"),
        (b"hello, world", "a header of"),
        (struct.pack("<Q", 2**40) + b"{}", "a header of 1,099,511,627,776 bytes"),
        (struct.pack("<Q", 2) + b"{}", "another program"),
        (save(eye), "another program"),
        (save(eye, {KEY: "{", "more": ""}), "expected one"),
        (save(eye, {KEY: "{"}), "not JSON"),
        (save(eye, {KEY: "[" * 100_000}), "not JSON"),
        (save(eye, {KEY: '{"a":1,"a":2}'}), "twice"),
        (save(eye, {KEY: "[]"}), "does not say its format"),
        (save(eye, {KEY: json.dumps({"format": 3})}), "of format 3; .* reads formats 1, 2"),
        (save(eye, {KEY: begins + "3,}"}), "of format 3; .* newer version"),
        (save(eye, {KEY: begins + "2,}"}), "digest"),
        (save(eye, {KEY: json.dumps({"format": 1})}), "not that of format 1"),
    ):
        path.write_bytes(content)
        with pytest.raises(DataError, match=why):
            load_model(path)
    with pytest.raises(DataError, match="cannot read"):
        load_model(tmp_path / "absent")
    with pytest.raises(DataError, match="not a file"):
        load_model(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="not a file"):
        load_model(tmp_path / "pipe")


def test_an_altered_weight_is_seen_by_the_digest(tmp_path):
    path = small(tmp_path / "m")
    content = path.read_bytes()
    path.write_bytes(content.replace(np.float64(2).tobytes(), np.float64(4).tobytes()))
    with pytest.raises(DataError, match="digest"):
        load_model(path)


def test_other_programs_can_read_it_and_check_the_digest(tmp_path):
    """The format as docs/how-to/models.md describes it, by code that shares nothing with ours."""
    path = small(tmp_path / "m")
    with safe_open(path, "np") as file:
        text = file.metadata()["rosenblatt"]
    tensors = load_file(path)
    facts = json.loads(text)
    hashed = hashlib.sha256(re.sub('(?<="digest":")[0-9a-f]{64}', "0" * 64, text, count=1).encode())
    for name in sorted(tensors):
        shape = ",".join(str(n) for n in tensors[name].shape)
        hashed.update(f"\n{name} F64 {shape}\n".encode() + tensors[name].tobytes())
    assert facts["digest"] == hashed.hexdigest() == read_model(path).digest
    assert facts["classes"] == ["ham", "spam"]
    assert tensors["coef"].tolist() == [[1, 2]]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = small(tmp_path / "m")
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save_model(LinearModel(np.eye(1), np.zeros(1), np.array([0, 1])), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m"]


def test_either_order_of_the_arguments_is_understood(tmp_path):
    save_model(tmp_path / "m", FIRST["text"])
    same(load_model(tmp_path / "m"), FIRST["text"])


@pytest.mark.parametrize(
    ("coef", "intercept", "classes", "why"),
    [
        (np.eye(1), np.zeros(2), [0, 1], "intercept"),
        (np.zeros((1, 0)), np.zeros(1), [0, 1], "table of floats"),
        (np.full((1, 1), np.nan), np.zeros(1), [0, 1], "not finite"),
        (np.eye(2), np.zeros(2), [0, 1], "2 hyperplanes for 2 classes"),
        (np.eye(1), np.zeros(1), [0, 1, 2], "1 hyperplanes for 3 classes"),
        (np.eye(1), np.zeros(1), [1, 1], "twice"),
    ],
)
def test_what_is_no_model_cannot_be_made(coef, intercept, classes, why):
    with pytest.raises(DataError, match=why):
        LinearModel(coef, intercept, np.array(classes))
