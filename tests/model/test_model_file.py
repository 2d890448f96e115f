"""Model files: the same bits come back, and nothing malformed is believed."""

import hashlib
import inspect
import json
import os
import pickle
import struct
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors import safe_open
from safetensors.numpy import load_file, save
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import SVC
from sklearn.utils import all_estimators

from rosenblatt import LinearModel, Perceptron, load_model, save_model
from rosenblatt.errors import DataError, LimitError, NotSupportedError
from rosenblatt.model.model_file import KEY, read_model

KEPT = Path(__file__).parent / "files"
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
    names = tuple(f"é{k}" for k in range(d)) if draw(st.booleans()) else ()
    return LinearModel(
        draw(hnp.arrays(dtype, (rows, d), elements=finite)),
        draw(hnp.arrays(dtype, rows, elements=finite)),
        classes,
        names,
        {"keep": "average", "eta0": draw(st.floats(0.1, 2))},
        {"format": "libsvm", "zero_based": False},
        training=draw(OBJECT),
        columns=draw(st.none() | OBJECT),
        namespaces=draw(st.sampled_from([(), tuple("aba"[k % 3] for k in range(d))]))
        if names
        else (),
        deviations=draw(st.none() | hnp.arrays(float, d, elements=st.floats(0, 10))),
    )


WHOLE = '1,"made_by":"x","options":{},"reader":{},"training":{}}'


def sealed(tensors, rest):
    """A file with a digest that fits its contents, whatever these are."""
    zeros = "0" * 64
    content = save(tensors, {KEY: f'{{"digest":"{zeros}","format":{rest}'})
    return content.replace(zeros.encode(), hashlib.sha256(content).hexdigest().encode(), 1)


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
    for name in (
        "feature_names",
        "options",
        "reader",
        "made_by",
        "training",
        "columns",
        "namespaces",
    ):
        assert getattr(a, name) == getattr(b, name)
    assert (a.deviations is None) == (b.deviations is None)
    if a.deviations is not None:
        assert a.deviations.tolist() == b.deviations.tolist()


@given(model=models())
def test_the_same_bits_come_back(model, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "model.safetensors"
    save_model(model, path)
    same(load_model(path), model)


AD = ("repair", "reviews", "purchase", "clicked")
STORED = {  # in tests/model/files: later versions have to read them
    "text": LinearModel(
        np.array([[2.0, 8, -15, 5]]), np.array([-9.0]), np.array(["no", "yes"]), AD,
        {"keep": "average", "eta0": 0.1}, {"format": "csv", "target": "click"}, "rosenblatt 0.1.0",
        {"rows": 5, "epochs": 3, "stop_reasons": ["separated"]},
        {"columns": [{"name": "repair", "mean": 0.1}], "missing": None},
    ),
    "numbers": LinearModel(
        np.array([[0.1, -0.0], [5e-324, 1.5], [-2.0, 1e308]]), np.array([0.5, -1 / 3, 0.0]),
        np.array([-1, 0, 7], np.int8), made_by="rosenblatt 0.1.0",
    ),
    "float32": LinearModel(
        np.array([[0.1, 1e-45]], np.float32), np.array([-0.3], np.float32), np.array([-1.0, 0.5]),
        ("größe", "x\n1"), {"tol": "-inf"}, made_by="rosenblatt 0.1.0",
    ),
    "names": LinearModel(
        np.array([[1.0, 2.0, 3.0]]), np.zeros(1), np.array([False, True]), ("age", "Rome", "age"),
        made_by="rosenblatt 0.1.0", namespaces=("", "city", "city"),
        deviations=np.array([10.0, 0.5, 0.0]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STORED)
def test_stored_files_are_read(name, tmp_path):
    kept = KEPT / f"model_v1_{name}.safetensors"
    same(load_model(kept), STORED[name])
    save_model(STORED[name], tmp_path / "m")
    same(load_model(tmp_path / "m"), STORED[name])


def test_names_are_pairs():
    model = STORED["names"]
    assert [model.name(k) for k in range(3)] == ["age", "city=Rome", "city=age"]
    pair = {"coef": np.ones((1, 2)), "intercept": np.zeros(1), "classes": np.arange(2)}
    both = LinearModel(**pair, feature_names=("b=c", "c"), namespaces=("a", "a=b"))
    assert both.name(0) == both.name(1) == "a=b=c"  # shown alike, and two features
    vw = LinearModel(
        **pair, feature_names=("x", "y"), namespaces=("ns", ""), reader={"format": "vw"}
    )
    assert [vw.name(0), vw.name(1)] == ["ns^x", "y"]


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
    assert (model.decision_function(X) == clf.decision_function(X)).all()
    assert (model.predict(X) == clf.predict(X)).all()
    assert model.options["max_iter"] == 5
    assert model.training["mistakes"] == clf.n_mistakes_
    before = (tmp_path / "m").read_bytes()
    save_model(clf.sparsify(), tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before
    assert (load_model(tmp_path / "m").predict(sp.csr_matrix(X)) == clf.predict(X)).all()


@pytest.mark.parametrize("y", [np.where(NAMED == "a", "a", "b"), NAMED], ids=["two", "three"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.filterwarnings("ignore")  # of scikit-learn, about defaults and convergence
def test_every_linear_classifier_of_scikit_learn_can_be_saved(y, intercept, tmp_path):
    tried = 0
    for name, made in all_estimators(type_filter="classifier"):
        given = {"kernel": "linear"} if name in ("SVC", "NuSVC") else {}
        if "fit_intercept" in inspect.signature(made).parameters:
            given["fit_intercept"] = intercept
        if "NB" in name or (given.get("kernel") and len(np.unique(y)) > 2):
            continue
        try:
            clf = made(**given).fit(X, y)
            clf.coef_, clf.intercept_  # noqa: B018
        except (TypeError, ValueError, AttributeError):  # of other models, or without weights
            continue
        save_model(clf, tmp_path / "m")
        model = load_model(tmp_path / "m")
        clear = np.abs(clf.decision_function(X)).reshape(len(X), -1).min(axis=1) > 1e-9
        assert (model.predict(X) == clf.predict(X))[clear].all(), name
        twin = model.to_sklearn()
        assert (twin.predict(X) == clf.predict(X))[clear].all(), name
        twin.partial_fit(X, y)
        tried += 1
    assert tried >= 9


def test_what_cannot_be_saved_says_why(tmp_path):
    with pytest.raises(NotSupportedError, match="Fit it first"):
        save_model(Perceptron(), tmp_path / "m")
    voted = Perceptron(keep="vote", max_iter=2, tol=None).fit(X, NAMED != "a")
    with pytest.raises(NotSupportedError, match=r"vote of [0-9]+ hyperplanes.*keep='average'"):
        save_model(voted, tmp_path / "m")
    with pytest.raises(NotSupportedError, match="every pair of 3 classes"):
        save_model(SVC(kernel="linear").fit(X, NAMED), tmp_path / "m")
    with pytest.raises(NotSupportedError, match="several labels per row"):
        save_model(
            RidgeClassifier().fit(X, np.eye(3, dtype=int)[np.arange(60) % 3]), tmp_path / "m"
        )
    for changed, why in (
        ({"options": {"a": object()}}, "options"),
        ({"columns": {"a": np.inf}}, "without a change"),
        ({"columns": {1: 2}}, "without a change"),
        ({"training": json.loads("[" * 40 + "]" * 40)}, "deep"),
        ({"classes": np.array([1, 2], dtype=object)}, "of type int"),
        ({"feature_names": ("\ud800",)}, "Unicode"),
    ):
        model = LinearModel(
            **{"coef": np.eye(1), "intercept": np.zeros(1), "classes": np.arange(2), **changed}
        )
        with pytest.raises(NotSupportedError, match=why):
            save_model(model, tmp_path / "m")
    for changed, why in (
        ({"classes": np.array(["a", "b" * 1001], dtype=object)}, "1,001 characters in a label"),
        ({"options": {"a": "b" * 2**20}}, "bytes in the header, the limit is 1,048,576"),
    ):
        model = LinearModel(
            **{"coef": np.eye(1), "intercept": np.zeros(1), "classes": np.arange(2), **changed}
        )
        with pytest.raises(LimitError, match=why):
            save_model(model, tmp_path / "m")
    assert not os.listdir(tmp_path)


def test_a_model_of_ours_is_made_of_numbers_only():
    with pytest.raises(DataError, match="expected a table of floats"):
        LinearModel(np.eye(1, dtype=int), np.zeros(1, dtype=int), np.arange(2))
    assert pickle.loads(pickle.dumps(STORED["text"])).predict([[0, 0, 0, 0]]).tolist() == ["no"]


def test_rows_of_other_shapes_are_refused():
    model = STORED["text"]
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
    model = replace(STORED["text"], columns=None)
    assert model.predict(frame).tolist() == ["yes"]
    with pytest.raises(DataError, match="same order"):
        model.predict(frame[list(AD[::-1])])


def test_what_is_something_else_is_refused(tmp_path):
    path = tmp_path / "m"
    eye = {"coef": np.eye(1), "intercept": np.zeros(1)}
    begins = '{"digest":"' + "0" * 64 + '","format":'
    for content, why in (
        (b"", "a header of 0 bytes"),
        (b"hello, world", "a header of"),
        (struct.pack("<Q", 2**40) + b"{}", "a header of 1,099,511,627,776 bytes"),
        (struct.pack("<Q", 2) + b"{}", "another program"),
        (struct.pack("<Q", 50_000) + b"[" * 50_000, "not JSON"),
        (struct.pack("<Q", 15) + b'{"a":{},"a":{}}', "another program"),
        (save(eye), "another program"),
        (save(eye, {KEY: begins + "1,}", "more": ""}), "another program"),
        (save(eye, {KEY: "{"}), "another program"),
        (save(eye, {"other": begins + "1,}"}), "another program"),
        (save(eye, {KEY: begins + "1,}"}), "digest"),
        (sealed(eye, "1,}"), "not JSON"),
        (sealed(eye, '1,"a":1,"a":2}'), "not that of format 1"),
        (sealed(eye, '1,"digest":"a"}'), "not an object with a digest"),
        (sealed(eye, '1,"a":' + "[" * 10_000), "not JSON"),
        (sealed(eye, '2,"a":1}'), "of format 2; .* reads format 1. Install another version"),
        (sealed(eye, '1,"made_by":3}'), "not that of format 1"),
        (sealed(eye, '1,"made_by":"x","options":[],"reader":{},"training":{}}'), "not that of"),
        (sealed(eye, WHOLE), "it holds"),
        (sealed({**eye, "classes": np.arange(2), "more": np.eye(1)}, WHOLE), "it holds"),
        (sealed({**eye, "classes": np.arange(2), "names": np.eye(1)}, WHOLE), "it holds"),
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
        facts = json.loads(file.metadata()["rosenblatt"])
    tensors, content = load_file(path), path.read_bytes()
    zeroed = content.replace(facts["digest"].encode(), b"0" * 64, 1)
    assert facts["digest"] == hashlib.sha256(zeroed).hexdigest() == read_model(path).digest
    offsets = tensors["class_offsets"].tolist()
    whole = tensors["classes"].tobytes()
    assert [whole[a:b].decode() for a, b in pairwise(offsets)] == ["ham", "spam"]
    assert tensors["coef"].tolist() == [[1, 2]]


U8, I32, I64 = (lambda v, t=t: np.array(v, t) for t in (np.uint8, np.int32, np.int64))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"classes": U8([97, 98]), "class_offsets": I64([0, 1])}, "do not fit"),
        ({"classes": U8([97, 98]), "class_offsets": I64([1, 1, 2])}, "do not fit"),
        ({"classes": U8([97, 98]), "class_offsets": I64([0, 2**62, 2])}, "do not rise"),
        ({"classes": U8([97, 98]), "class_offsets": I64([0, -1, 2])}, "do not rise"),
        ({"classes": U8([97, 255]), "class_offsets": I64([0, 1, 2])}, "not UTF-8"),
        ({"classes": U8([97, 0]), "class_offsets": I64([0, 1, 2])}, "null character"),
        ({"classes": I32([97, 98]), "class_offsets": I64([0, 1, 2])}, "not bytes"),
        ({"classes": U8([97, 97]), "class_offsets": I64([0, 1, 2])}, "occurs twice"),
        ({"class_offsets": I64([])}, "not bytes"),
        ({"name_spaces": I32([-1, 0])}, "do not fit"),
        ({"name_spaces": I32([-1, 0, 1])}, "not there"),
        ({"name_spaces": I32([0, 0, 0])}, "not there"),
        ({"name_spaces": I32([-1, 0, -2])}, "not there"),
        ({"name_spaces": I32([-1, -1, 0])}, "1 names for 2 features"),
        ({"name_spaces": I32([-1, -1, -1])}, "not there"),
        ({"name_offsets": I64([0, 0, 1, 3])}, "do not fit"),
        ({"names": U8([120, 120])}, "occurs twice"),
        ({"deviations": np.array([1.0])}, "deviations"),
        ({"deviations": np.array([1.0, np.nan])}, "deviations"),
        ({"columns": U8([91])}, "not JSON"),
        ({"columns": U8([91, 93])}, "not an object"),
        ({"coef": np.zeros((1, 2, 2))}, "table of floats"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(changed, why, tmp_path):
    tensors = {
        "coef": np.ones((1, 2)), "intercept": np.zeros(1), "classes": np.arange(2),
        "names": U8([120, 121]), "name_offsets": I64([0, 0, 1, 2]), "name_spaces": I32([-1, 0, 0]),
    }  # fmt: skip
    path = tmp_path / "m"
    path.write_bytes(sealed(tensors, WHOLE))
    assert load_model(path).feature_names == ("x", "y")
    path.write_bytes(sealed({**tensors, **changed}, WHOLE))
    with pytest.raises(DataError, match=why):
        load_model(path)


def test_malformed_files_take_no_memory(tmp_path):
    """In a process with 64 MB more than it has: shapes and offsets that claim terabytes."""
    shapes = [[0, 2**62], [2**62, 0], [2**40, 2**40], [2**61], [-1]]
    for k, shape in enumerate(shapes):
        zeros = "0" * 64
        told = {"dtype": "F64", "shape": shape, "data_offsets": [0, 0]}
        text = f'{{"digest":"{zeros}","format":{WHOLE}'
        header = json.dumps({"__metadata__": {KEY: text}, "coef": told}, separators=(",", ":"))
        content = struct.pack("<Q", len(header)) + header.encode()
        digest = hashlib.sha256(content).hexdigest()
        (tmp_path / f"{k}").write_bytes(content.replace(zeros.encode(), digest.encode(), 1))
    nested = b'{"a":' * 200_000
    (tmp_path / "nested").write_bytes(struct.pack("<Q", len(nested)) + nested)
    large = json.dumps({"a": [{}] * 2**20}).encode()
    (tmp_path / "large").write_bytes(struct.pack("<Q", len(large)) + large)
    U = {"classes": np.frombuffer(b"ab" * 500, np.uint8), "class_offsets": I64([*range(0, 1001)])}
    many = {"coef": np.ones((1, 1)), "intercept": np.zeros(1), **U}
    (tmp_path / "many").write_bytes(sealed(many, WHOLE))
    program = (
        "import os, resource, sys, numpy\n"
        "from pathlib import Path\n"
        "import safetensors, rosenblatt.model.model_file\n"
        "from rosenblatt import load_model\n"
        "from rosenblatt.errors import DataError\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * os.sysconf('SC_PAGE_SIZE')\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**26, used + 2**26))\n"
        "for path in sorted(Path(sys.argv[1]).iterdir()):\n"
        "    try:\n"
        "        load_model(path)\n"
        "    except DataError as e:\n"
        "        print(path.name, str(e)[:300])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert len(done.stdout.splitlines()) == len(shapes) + 3, done.stdout


def test_a_private_file_stays_private(tmp_path):
    path = small(tmp_path / "m")
    path.chmod(0o600)
    small(path)
    assert path.stat().st_mode & 0o777 == 0o600


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


def test_feature_names_are_unique():
    for spaces in ((), ("s", "s")):
        with pytest.raises(DataError, match="'a' occurs twice"):
            LinearModel(np.ones((1, 2)), np.zeros(1), np.arange(2), ("a", "a"), namespaces=spaces)


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
