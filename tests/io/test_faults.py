"""What older readers got wrong, mostly without a word."""

import datetime as dt
import gzip
import os
import threading
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from rosenblatt import Perceptron, fit_file, fit_stream, load_model, predict_file, read, save_model
from rosenblatt.cli import app
from rosenblatt.errors import DataError, LabelError, LimitError, ParameterError
from rosenblatt.model.linear_model import LinearModel


@pytest.fixture
def write(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("target", ["-1", "2", -1, 2])
def test_a_header_is_found_when_the_label_column_has_a_number(write, tmp_path, target):
    rows = "".join(f"{k % 60},{k % 7}.5,{k % 2}\n" for k in range(200))
    path = write("age,height,y\n" + rows)
    done = fit_file(path, tmp_path / "m", target=target)
    assert done.model.feature_names == ("age", "height")
    assert done.model.classes.tolist() == [0, 1]
    assert done.n_rows == 200
    plain = fit_file(write(rows, "plain.csv"), tmp_path / "n", target=target)
    assert plain.model.coef.tobytes() == done.model.coef.tobytes()
    assert plain.model.feature_names == ("f0", "f1")


def test_a_header_that_cannot_be_told_is_an_error(write):
    with pytest.raises(DataError, match=r"no column has only numbers.*--no-header"):
        read(write("a,b\nc,d\n"), target=-1)
    with pytest.raises(DataError, match="the first line has both"):
        read(write("x,1\n1,2\n3,4\n"), target=0)
    assert read(write("x,1\n1,2\n3,4\n"), target=0, header=True).X.tolist() == [[2.0], [4.0]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('"open,3\n', "line 500, column 1: expected a closing quote"),
        ('"a"b,1\n', "line 500, column 1: expected a delimiter or line end after the closing"),
        ('5" disc,1\n', "line 500, column 1: expected no quote within a cell"),
        ("a\rb,1\n", "line 500, column 1: expected LF or CR LF"),
    ],
)
def test_quotes_lose_no_rows(write, line, message):
    rows = [f"{k % 9}.5,c{k % 2}\n" for k in range(1000)]
    path = write("x,y\n" + "".join([*rows[:498], line, *rows[498:]]))
    for chunk_bytes in (100, 1 << 21):
        with pytest.raises(DataError, match=message):
            read(path, target="y", chunk_bytes=chunk_bytes)
        table = read(path, target="y", chunk_bytes=chunk_bytes, on_error="skip")
        assert (len(table.y), table.skipped.count) == (1000, 1)


def test_a_header_that_ends_in_a_lone_cr_is_malformed(write):
    with pytest.raises(DataError, match="expected LF or CR LF"):
        read(write("x,y\r1,a\n2,b\n"), target="y")


def test_marks_of_missing_values_apply_to_labels(write):
    path = write("x,y\n1,0\n2,-999\n3,1\n")
    with pytest.raises(DataError, match="line 3, column 2: expected a label"):
        read(path, target="y", missing=["-999"])
    assert read(path, target="y", missing=["-999"], on_error="skip").y.tolist() == [0, 1]
    texts = write("x,y\n1,NA\n2,EU\n3,none\n", "texts.csv")
    assert read(texts, target="y").y.tolist() == ["NA", "EU", "none"]
    with pytest.raises(DataError, match="expected a label in column 'y', found 'none'"):
        read(texts, target="y", missing=["none"])


def test_labels_that_differ_in_a_null_character_are_not_merged(write):
    with pytest.raises(LabelError, match="null character"):
        read(write("x,y\n1,a\n2,a\0\n"), target="y")


@pytest.mark.parametrize("chunk_bytes", [1, 2, 3, 4, 5, 100])
def test_a_byte_order_mark_is_dropped_at_any_block_size(write, chunk_bytes):
    mark = b"\xef\xbb\xbf"
    table = read(write(mark + b"x,y\n1,a\n2,b\n"), target="y", chunk_bytes=chunk_bytes)
    assert table.feature_names == ("x",)
    rows = read(write(mark + b"1 1:1\n-1 2:1\n", "a.svm"), chunk_bytes=chunk_bytes)
    assert rows.y.tolist() == [1, -1]


@pytest.mark.parametrize(
    "values", [[dt.date(2020, 1, 1), dt.date(2020, 1, 2)], [Decimal("1.5"), Decimal("2.5")]]
)
def test_labels_that_a_model_cannot_hold_are_refused_before_training(tmp_path, values):
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": values}), tmp_path / "t.parquet")
    with pytest.raises(LabelError, match=r"cannot be labels\. Convert it to text or integers"):
        fit_file(tmp_path / "t.parquet", tmp_path / "m", target="y")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("target", ["²", "--1", "- 1"])
def test_a_target_that_is_no_number_is_a_name(write, tmp_path, target):
    with pytest.raises(DataError, match="has no column"):
        read(write("x,y\n1,a\n"), target=target)
    pq.write_table(pa.table({"x": [1.0], "y": [1]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="has no column"):
        read(tmp_path / "t.parquet", target=target)


def test_progress_of_a_dataset_ends_at_its_size(tmp_path):
    pq.write_table(pa.table({"x": np.arange(100.0), "y": [0, 1] * 50}), tmp_path / "t.parquet")
    seen = []
    read(ds.dataset(tmp_path), target="y", progress=seen.append)
    assert seen[-1].bytes_read == seen[-1].bytes_total > 0


def test_classes_that_are_not_sorted_and_labels_with_line_breaks_are_predicted(write, tmp_path):
    model = LinearModel(
        np.array([[1.0]]), np.array([0.0]), np.array(["z", 'a,"\n']), ("x",), {},
        {"format": "csv", "target": "y"},
    )  # fmt: skip
    save_model(model, tmp_path / "m")
    path = write("x,y\n1,z\n-1,z\n")
    told = predict_file(tmp_path / "m", path, tmp_path / "labels")
    assert (tmp_path / "labels").read_text() == '"a,""\n"\nz\n'
    assert (told.labelled, told.errors) == (2, 1)
    predict_file(tmp_path / "m", path, tmp_path / "scores", scores=True)
    assert (tmp_path / "scores").read_text() == 'label\tscore\n"a,""\n"\t1.0\nz\t-1.0\n'


def test_long_labels_take_little_memory(write, tmp_path):
    label = "a" * 40_000
    with pytest.raises(DataError, match="expected a label of at most 1,000 bytes"):
        read(write(f"x,y\n1,{label}\n2,b\n"), target="y")
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": [label, "b"]}), tmp_path / "t.parquet")
    with pytest.raises(LimitError, match="40,000 characters in a label, the limit is 1,000"):
        fit_file(tmp_path / "t.parquet", tmp_path / "m", target="y")


def test_rows_of_vw_text_without_a_label_are_skipped_and_counted(write, tmp_path):
    path = write("1 |f a\n|f b\n-1 |f c\n|f a\n1 |f a c\n", "rows.vw")
    labelled = write("1 |f a\n-1 |f c\n1 |f a c\n", "labelled.vw")
    done = fit_file(path, tmp_path / "m", max_iter=3)
    same = fit_file(labelled, tmp_path / "n", max_iter=3)
    assert done.unlabelled == done.to_dict()["rows_without_label"] == 2
    assert (done.model.feature_names, same.model.feature_names) == (tuple("abc"), tuple("ac"))
    assert done.model.coef[0, [0, 2]].tolist() == same.model.coef[0].tolist()
    assert done.model.coef[0, 1] == 0


@pytest.mark.parametrize("chunk_bytes", [8, 1 << 20])
@pytest.mark.parametrize("max_iter", [1, 3])
def test_labels_that_turn_out_to_be_texts_are_learned_without_reading_again(
    write, tmp_path, max_iter, chunk_bytes
):
    y = ["10", "2", "+10", "10.0", "2", "3", "spam", "2", "10", "spam"]
    x = [3.0, -1, 2, 1, -2, 0, 5, -3, 2, 4]
    text = "x,y\n" + "".join(f"{a},{b}\n" for a, b in zip(x, y, strict=True))
    begun = []

    class Told:
        def begin(self, epoch):
            begun.append(epoch)

        def progress(self, now): ...

        def say(self, message): ...

    done = fit_file(
        write(text), tmp_path / "m", target="y", max_iter=max_iter, chunk_bytes=chunk_bytes,
        keep="last", watcher=Told(),
    )  # fmt: skip
    same = [{"+10": "10", "10.0": "10"}.get(label, label) for label in y]
    clf = Perceptron(shuffle=False, max_iter=max_iter, tol=None).fit(np.c_[x], same)
    assert done.model.classes.tolist() == ["10", "2", "3", "spam"]
    assert done.model.coef.tobytes() == clf.coef_.tobytes()
    assert done.model.intercept.tobytes() == clf.intercept_.tobytes()
    assert begun == list(range(1, done.n_epochs + 1))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("packed", [False, True])
def test_a_named_pipe_is_read_in_python(tmp_path, packed):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    rows = b"x,y\n" + b"1,a\n2,b\n" * 200_000

    def serve():
        with open(pipe, "wb") as file:
            file.write(gzip.compress(rows, 1) if packed else rows)

    server = threading.Thread(target=serve)
    server.start()
    try:
        done = fit_file(pipe, tmp_path / "m", target="y", max_iter=2)
    finally:
        server.join()
    assert done.n_rows == 400_000


def test_one_kind_of_result(write, tmp_path):
    path = write("x,y\n1,a\n2,b\n")
    one = fit_file(path, tmp_path / "m", target="y")
    other = fit_stream([(np.array([[1.0], [2.0]]), ["a", "b"])])
    assert type(one) is type(other)
    assert one.model.coef.tobytes() == other.model.coef.tobytes()
    assert load_model(tmp_path / "m").classes.tolist() == ["a", "b"]


@pytest.mark.parametrize("name", ["rows.svm", "rows.vw", "rows.parquet", "rows.csv"])
def test_all_formats_are_decided_and_verified(write, tmp_path, name):
    x, y = [1.0, 2.0, -1.0, -2.0], [1, 1, 0, 0]
    options = ["--target", "y"]
    if name == "rows.parquet":
        path = tmp_path / name
        pq.write_table(pa.table({"x": x, "y": y}), path)
    elif name == "rows.csv":
        path = write("x,y\n" + "".join(f"{a},{b}\n" for a, b in zip(x, y, strict=True)), name)
    else:
        space = "| " if name.endswith("vw") else ""
        lines = (f"{b} {space}1:{a}\n" for a, b in zip(x, y, strict=True))
        path, options = write("".join(lines), name), []

    def run(*args):
        return CliRunner().invoke(app, [str(a) for a in args])

    proof = tmp_path / "proof.json"
    done = run("separable", path, *options, "--certificate", proof)
    assert done.exit_code == 0, done.output
    checked = run("verify", proof, path, *options)
    assert checked.exit_code == 0, checked.output


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("max_iter", [1, 3])
def test_large_indices_have_columns_of_their_own(write, tmp_path, monkeypatch, base, max_iter):
    monkeypatch.setattr("rosenblatt.io.libsvm.PLAIN_COLUMNS", 64)
    large = {7: 2_000_000_000, 8: 5_000_000, 9: 1_999_999_999}
    rng = np.random.default_rng(0)
    rows = rng.integers(-3, 4, (60, 10)) * (rng.random((60, 10)) < 0.5)
    y = np.where(rows.sum(axis=1) > 0, 1, -1)

    def lines(columns, which):
        for row, label in zip(rows[which], y[which], strict=True):
            entries = sorted((columns.get(k, k + base), v) for k, v in enumerate(row) if v or k < 2)
            yield f"{label} " + " ".join(f"{k}:{v}" for k, v in entries) + "\n"

    part = slice(0, 40)
    path = write("".join(lines(large, part)), "large.svm")
    small = write("".join(lines({}, part)), "small.svm")
    settings = {"max_iter": max_iter, "chunk_bytes": 200, "rule": "pa1"}
    done = fit_file(path, tmp_path / "m", **settings)
    same = fit_file(small, tmp_path / "n", **settings)
    assert done.model.n_features == 64 + 3 - base
    order = [k for row in rows[part] for k in (8, 9, 7) if row[k]]
    order = list(dict.fromkeys(order))
    held = load_model(tmp_path / "m")
    assert held.large_indices.tolist() == [large[k] for k in order]
    assert held.name(held.n_features - 1) == f"x{held.large_indices[-1]}"
    columns = [*range(7), *(64 - base + k for k in range(3))]
    assert np.allclose(held.coef[0, columns], same.model.coef[0, [*range(7), *order]], rtol=1e-12)
    assert np.count_nonzero(held.coef) == np.count_nonzero(same.model.coef)
    rest = slice(40, 60)  # and an index that was not met in training
    other = write("".join(lines({**large, 6: 4_300_000}, rest)), "rest.svm")
    plain = write("".join(lines({6: 70}, rest)), "plain.svm")
    for model, file, out in (("m", other, "a"), ("n", plain, "b")):
        predict_file(tmp_path / model, file, tmp_path / out)
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()
    saved = fit_file(
        path, tmp_path / "m", checkpoint=tmp_path / "saved", checkpoint_every=0, **settings
    )
    assert saved.model.coef.tobytes() == done.model.coef.tobytes()


def test_labels_that_floats_or_spellings_merge(write, tmp_path):
    """9007199254740993 and ...992 were one class of LIBSVM rows, and so were 007 and 7 of CSV."""
    large = write("9007199254740993 1:1\n9007199254740992 1:2\n", "large.svm")
    for use in (read, lambda path: fit_file(path, tmp_path / "m")):
        with pytest.raises(LabelError, match=r"beyond 2\*\*53"):
            use(large)
    table = write("x,y\n1,9007199254740993\n2,9007199254740992\n")
    assert read(table, target="y").y.tolist() == [2**53 + 1, 2**53]
    with pytest.raises(LabelError, match=r"beyond 2\*\*53"):
        read(write("x,y\n1,12345678901234567890\n2,12345678901234567891\n"), target="y")
    codes = write("x,y\n1,007\n2,7\n3,+7\n4,08\n")
    assert read(codes, target="y").y.tolist() == ["007", "7", "7", "08"]
    done = fit_file(codes, tmp_path / "m", target="y")
    assert done.model.classes.tolist() == ["007", "08", "7"]
    told = predict_file(tmp_path / "m", codes, tmp_path / "labels")
    assert told.labelled == 4
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": ["x", "x\0"]}), tmp_path / "t.parquet")
    for use in (read, lambda path, target: fit_file(path, tmp_path / "m", target=target)):
        with pytest.raises(LabelError, match="null character"):
            use(tmp_path / "t.parquet", target="y")


def test_a_first_row_of_numbers_with_zeros_in_front_is_no_header(write):
    assert read(write("05,1\n06,0\n"), target=-1).X.tolist() == [[5.0], [6.0]]


def test_a_header_may_look_like_the_names_of_columns_without_one(write, tmp_path):
    path = write("f0,f1,f2\n1,2,0\n3,4,1\n")
    for target in (-1, "f2"):
        table = read(path, target=target)
        assert (table.feature_names, len(table.y)) == (("f0", "f1"), 2)
    fit_file(path, tmp_path / "m", target="f2")
    swapped = write("f1,f0\n2,1\n4,3\n", "swapped.csv")
    predict_file(tmp_path / "m", path, tmp_path / "a")
    predict_file(tmp_path / "m", swapped, tmp_path / "b")
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()


@pytest.mark.parametrize(
    "wrong",
    [
        {"threads": "a"}, {"threads": True}, {"chunk_bytes": 2.5}, {"max_line_bytes": None},
        {"max_rows": "a"}, {"missing": "NA"}, {"missing": [-999]}, {"delimiter": 5},
        {"target": ["y"]}, {"header": "yes"}, {"kinds": ["x"]}, {"n_features": "a"},
        {"bits": 2.5}, {"columns": "raw"},
    ],
)  # fmt: skip
def test_settings_of_other_types_are_refused(write, wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        read(write("x,y\n1,a\n2,b\n"), **{"target": "y", **wrong})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"feature_names": ["a", "a"]}, "'a' twice"),
        ({"feature_names": "ab"}, "a list of names"),
        ({"feature_names": ["a"]}, "1 names, the rows have 2"),
        ({"scale": "yes"}, "scale must be"),
        ({"kinds": {"z": "number"}}, "no column 'z'"),
    ],
)
def test_wrong_settings_of_a_stream_are_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        fit_stream([([[1.0, 2.0], [3.0, 4.0]], [0, 1])], **wrong)


def test_indices_beyond_32_bits_are_refused():
    X = sp.csr_matrix((np.ones(2), np.array([0, 2**31 + 5]), np.array([0, 1, 2])), (2, 2**31 + 6))
    with pytest.raises(DataError, match="at most 2,147,483,647"):
        fit_stream([(X, [0, 1])])
