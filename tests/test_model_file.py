"""Model files: the same bits come back, and nothing malformed is believed."""

import json
import os
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import save

from rosenblatt import Perceptron
from rosenblatt.errors import DataError, NotSupportedError
from rosenblatt.model_file import KEY, LinearModel, load_model, save_model

TEXT = st.text(max_size=5).filter(lambda s: "\0" not in s)  # numpy drops zeros at the end
LABELS = st.one_of(
    st.lists(st.integers(-(2**62), 2**62), min_size=2, max_size=4, unique=True),
    st.lists(TEXT, min_size=2, max_size=4, unique=True),
    st.just([False, True]),
    st.just([-1.0, 0.5]),
)  # fmt: skip


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
    )


def small(path):
    model = LinearModel(np.array([[1.0, 2.0]]), np.array([3.0]), np.array(["ham", "spam"]))
    save_model(path, model)
    return path


def same(a, b):
    for name in ("coef", "intercept", "classes"):
        left, right = getattr(a, name), getattr(b, name)
        assert left.dtype == right.dtype
        assert left.shape == right.shape
        assert left.tobytes() == right.tobytes()
    assert (a.feature_names, a.options, a.reader, a.made_by) == (
        b.feature_names, b.options, b.reader, b.made_by
    )  # fmt: skip


@given(model=models())
def test_the_same_bits_come_back(model, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "model.safetensors"
    save_model(path, model)
    same(load_model(path), model)


def test_a_fitted_perceptron_predicts_the_same_from_its_file(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 4)), rng.integers(0, 3, 60)
    clf = Perceptron(max_iter=5, tol=None).fit(X, y)
    save_model(tmp_path / "m", clf)
    model = load_model(tmp_path / "m")
    assert (model.predict(X) == clf.predict(X)).all()
    assert model.options["max_iter"] == 5
    with pytest.raises(NotSupportedError, match="coef_"):
        save_model(tmp_path / "m", Perceptron())


@given(at=st.integers(0, 10**9), bit=st.integers(0, 7), cut=st.booleans())
def test_a_damaged_file_is_refused_or_reads_the_same(at, bit, cut, tmp_path_factory):
    path = small(tmp_path_factory.getbasetemp() / "damaged.safetensors")
    model, content = load_model(path), bytearray(path.read_bytes())
    at %= len(content)
    if cut:
        del content[at:]
    else:
        content[at] ^= 1 << bit
    path.write_bytes(content)
    try:
        found = load_model(path)
    except DataError:
        return
    same(found, model)  # a space of the header's JSON, say


def test_what_is_something_else_is_refused(tmp_path):
    path = tmp_path / "m"
    eye = {"coef": np.eye(1), "intercept": np.zeros(1)}
    for content, why in (
        (b"", "a header of 0 bytes"),
        (b"hello, world", "a header of"),
        (struct.pack("<Q", 2**40) + b"{}", "a header of 1,099,511,627,776 bytes"),
        (struct.pack("<Q", 2) + b"{}", "another program"),
        (save(eye), "another program"),
        (save(eye, {KEY: "{"}), "not JSON"),
        (save(eye, {KEY: "[" * 100_000}), "not JSON"),
        (save(eye, {KEY: "[]"}), "does not say its format"),
        (save(eye, {KEY: json.dumps({"format": 2})}), "reads format 1"),
        (save(eye, {KEY: json.dumps({"format": 1})}), "no made_by"),
    ):
        path.write_bytes(content)
        with pytest.raises(DataError, match=why):
            load_model(path)
    with pytest.raises(DataError, match="cannot read"):
        load_model(tmp_path / "absent")


def test_an_altered_weight_is_seen_by_the_digest(tmp_path):
    path = small(tmp_path / "m")
    content = path.read_bytes()
    path.write_bytes(content.replace(np.float64(2).tobytes(), np.float64(4).tobytes()))
    with pytest.raises(DataError, match="digest"):
        load_model(path)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = small(tmp_path / "m")
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        save_model(path, LinearModel(np.eye(1), np.zeros(1), np.array([0, 1])))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m"]


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
