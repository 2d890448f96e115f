"""Raw columns of files: CSV and Parquet, fit and predict, whatever the cut; what is refused."""

import csv
import datetime as dt
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from rosenblatt import Perceptron, load_model
from rosenblatt.cli import app
from rosenblatt.data.columns import Columns, learn_columns
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io.reader import open_source
from rosenblatt.io.text_format import ReadOptions
from rosenblatt.stream.columns import ColumnsEncoder, columns_of_file
from rosenblatt.stream.fit import fit_file
from rosenblatt.stream.predict import predict_file
from tests.real_data import click_log, csv_file, data_folder, rows_of

RAW = {
    "age": [20.0, None, 40.0, 31.0, 28.0, 55.0],
    "city": ["Bonn", "Rome", None, "Rome", "Oslo", "Bonn"],
    "member": [True, False, True, None, True, False],
    "since": [dt.date(2020, 1, 1), None, *(dt.date(2021, 3, d) for d in (2, 7, 8, 9))],
    "clicked": ["no", "yes", "no", "yes", "yes", "no"],
}  # fmt: skip


AS_READ = RAW | {"member": ["true", "false", "true", None, "true", "false"]}


def encoded(path, columns, **reading):
    """The rows that a file is read as with these columns, and their labels."""
    encoder = ColumnsEncoder(columns)
    options = ReadOptions(target="y", kinds=encoder.kinds, **reading)
    source = open_source(path, options, encoder=encoder, feature_names=list(encoder.kinds))
    blocks = list(source.blocks())
    X = np.vstack([dense(b.X.to_scipy() if hasattr(b.X, "to_scipy") else b.X) for b in blocks])
    return X, source.labels.values[np.concatenate([b.y for b in blocks])], source


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def write_csv(path, raw, mark=""):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(raw)
        for row in zip(*raw.values(), strict=True):
            shown = (str(v).lower() if isinstance(v, bool) else v for v in row)
            out.writerow([mark if v is None else v for v in shown])
    return path


@pytest.fixture
def clicks(tmp_path):
    pq.write_table(pa.table(RAW), tmp_path / "clicks.parquet")
    return {
        "csv": write_csv(tmp_path / "clicks.csv", RAW),
        "parquet": tmp_path / "clicks.parquet",
    }


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("keep", ["average", "last"])
def test_weights_are_those_of_the_perceptron_on_the_same_features(clicks, tmp_path, kind, keep):
    out = tmp_path / "m.safetensors"
    done = fit_file(clicks[kind], out, target="clicked", max_iter=7, keep=keep)
    table = pa.table(AS_READ)  # true and false are categories
    columns = learn_columns(table, target="clicked")
    assert done.columns == columns == Columns.from_json(load_model(out).columns)
    X = columns.transform(table)
    clf = Perceptron(shuffle=False, max_iter=7, tol=None, keep=keep).fit(X, RAW["clicked"])
    assert done.model.coef.tobytes() == clf.coef_.tobytes()
    assert done.model.feature_names == columns.feature_names
    for other in clicks.values():  # learned from the one, used on the other
        labels = tmp_path / "labels.txt"
        told = predict_file(out, other, labels)
        assert labels.read_text().split() == clf.predict(X).tolist()
        assert told.labelled == 6
    json.dumps(done.to_dict())


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_predicting_needs_no_labels_and_no_other_columns(clicks, tmp_path, kind):
    out = tmp_path / "m.safetensors"
    fit_file(clicks[kind], out, target="clicked", kinds={"member": "drop"})
    fewer = {k: RAW[k] for k in ("since", "city", "age")}
    pq.write_table(pa.table(fewer), tmp_path / "fewer.parquet")
    write_csv(tmp_path / "fewer.csv", fewer, "NA")
    said = []
    for file in ("fewer.csv", "fewer.parquet", f"clicks.{kind}"):
        done = predict_file(out, tmp_path / file, tmp_path / "labels")
        said.append((tmp_path / "labels").read_text())
        assert done.labelled == (6 if "clicks" in file else 0)
    assert said[0] == said[1] == said[2]
    write_csv(tmp_path / "less.csv", {"age": [1], "city": ["Rome"]})
    with pytest.raises(DataError, match="has no column 'since'"):
        predict_file(out, tmp_path / "less.csv")
    pq.write_table(pa.table({"age": [1]}), tmp_path / "less.parquet")
    with pytest.raises(DataError, match="has no column 'city'"):
        predict_file(out, tmp_path / "less.parquet")


cells = {
    "number": st.sampled_from(["1", "-2.5", "1e3", " 7", "0", "3.", "007", "1234567890123456789"]),
    "boolean": st.sampled_from(["true", "False", "TRUE"]),
    "date": st.sampled_from(["2024-02-29", "1969-12-31 23:59", "2001-01-01T00:00:00.5"]),
    "zoned": st.sampled_from(["2024-02-29T10:00:00Z", "1999-01-01 00:00:00+02:00"]),
    "category": st.sampled_from(["red", "a,b", 'say "hi"', "ä", "two\nlines", "nano", "1x"]),
}
empty = st.sampled_from(["", "?", "NA", "nan", "N/A", "null"])


@st.composite
def csv_tables(draw):
    """Cells of columns of one kind, of two, or with missing values, and what each column is."""
    n = draw(st.integers(2, 12))
    columns, kinds = [], []
    for _ in range(draw(st.integers(1, 4))):
        some = draw(st.lists(st.sampled_from(list(cells)), min_size=1, max_size=2))
        choices = [cells[k] for k in some] + [empty] * draw(st.integers(0, 2))
        column = draw(st.lists(st.one_of(choices), min_size=n, max_size=n))
        columns.append(column)
        kinds.append(some)
    labels = draw(st.lists(st.sampled_from(["no", "yes"]), min_size=n, max_size=n))
    return columns, labels


@given(csv_tables(), st.integers(1, 200))
def test_kinds_and_features_do_not_depend_on_the_cut_of_the_file(
    tmp_path_factory, table, chunk_bytes
):
    columns, labels = table
    path = tmp_path_factory.getbasetemp() / "cut.csv"
    raw = {f"c{k}": c for k, c in enumerate(columns)}
    write_csv(path, raw | {"n": list(range(len(labels))), "y": labels})
    want = columns_of_file(path, target="y")
    found = columns_of_file(path, target="y", chunk_bytes=chunk_bytes)
    # what made text of a column is remarked only where it came late
    strip = [(e.kind, e.features) for e in want.entries]
    assert [(e.kind, e.features) for e in found.entries] == strip
    bare = [{**e, "note": ""} for e in found.to_json()["entries"]]
    assert bare == [{**e, "note": ""} for e in want.to_json()["entries"]]
    A, y, _ = encoded(path, want)
    B, same, _ = encoded(path, found, chunk_bytes=chunk_bytes)
    assert A.tobytes() == B.tobytes()
    assert A.shape == (len(labels), want.width)
    assert y.tolist() == same.tolist() == labels
    marks = {"", "?", "NA", "nan", "N/A", "null"}
    for entry, cells_of in zip(want.entries[:-1], columns, strict=True):
        assert entry.missing == sum(c in marks for c in cells_of) or entry.kind == "dropped"
        if entry.kind == "category" and not any(c in marks for c in cells_of):
            assert entry.categories == tuple(sorted(set(cells_of)))


def test_files_of_numbers_go_on_as_before(tmp_path):
    rows = np.random.default_rng(0).integers(-9, 9, (50, 3))
    y = np.where(rows.sum(axis=1) > 0, "p", "n")
    raw = {f"x{k}": rows[:, k].tolist() for k in range(3)} | {"y": y.tolist()}
    pq.write_table(pa.table(raw), tmp_path / "t.parquet")
    write_csv(tmp_path / "t.csv", raw)
    clf = Perceptron(shuffle=False, max_iter=1, tol=None, keep="average").fit(rows, y)
    for name in ("t.csv", "t.parquet"):
        for columns in ("auto", "plain"):
            done = fit_file(tmp_path / name, tmp_path / "m", target="y", columns=columns)
            assert done.columns is None
            assert done.model.columns is None
            assert done.model.coef.tobytes() == clf.coef_.tobytes()
        raw_too = fit_file(tmp_path / name, tmp_path / "m", target="y", columns="raw")
        assert [e.kind for e in raw_too.columns.entries] == ["number"] * 3
        assert raw_too.model.coef.tobytes() != clf.coef_.tobytes()


def test_plain_columns_stay_refused_and_wishes_are_checked(clicks, tmp_path):
    out = tmp_path / "m"
    for file in clicks.values():
        with pytest.raises(DataError, match=r"number"):
            fit_file(file, out, target="clicked", columns="plain")
        with pytest.raises(ParameterError, match="leave out what is asked"):
            fit_file(file, out, target="clicked", columns="plain", max_categories=3)
        with pytest.raises(ParameterError, match="'auto', 'raw' or 'plain'"):
            fit_file(file, out, target="clicked", columns="cooked")
        with pytest.raises(ParameterError, match="has no column 'nose'"):
            fit_file(file, out, target="clicked", kinds={"nose": "drop"})
        kinds = dict.fromkeys(("age", "city", "member", "since"), "drop")
        with pytest.raises(DataError, match=r"no column of .* can be used"):
            fit_file(file, out, target="clicked", kinds=kinds)
    (tmp_path / "a.svm").write_text("1 1:1\n-1 2:1\n")
    with pytest.raises(DataError, match="neither CSV nor Parquet"):
        fit_file(tmp_path / "a.svm", out, columns="raw")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1,a\n", r"line 4, column 1: expected 3 cells, found 2"),
        ("1,a,\n", r"line 4, column 3: expected a label in column 'y', found nothing"),
        ("1,\udcff,no\n", r"line 4, column 2: expected text in UTF-8 .* in column 'c'"),
    ],
)
def test_malformed_lines_are_named_or_left_out(tmp_path, line, message):
    path = tmp_path / "bad.csv"
    text = "x,c,y\n1,a,no\n2,b,yes\n" + line + "4,b,no\n"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    for chunk_bytes in (1, 1000):
        with pytest.raises(DataError, match=message):
            columns_of_file(path, target="y", chunk_bytes=chunk_bytes)
        columns = columns_of_file(path, target="y", chunk_bytes=chunk_bytes, on_error="skip")
        assert columns.rows == 3
        assert columns.entries[0].center == pytest.approx(7 / 3)
        _, y, source = encoded(path, columns, on_error="skip", chunk_bytes=chunk_bytes)
        assert len(y) == 3
        assert source.skipped.count == 1
        with pytest.raises(DataError, match=message):
            encoded(path, columns, chunk_bytes=chunk_bytes)


def test_a_cell_of_another_kind_when_predicting_is_as_a_missing_one(clicks, tmp_path):
    out, labels = tmp_path / "m", tmp_path / "labels"
    fit_file(clicks["csv"], out, target="clicked")
    path = tmp_path / "new.csv"
    found = []
    for age, since in (("old", "never"), ("", "")):
        path.write_text(f"age,city,member,since\n1,Rome,true,2020-01-01\n{age},Rome,1,{since}\n")
        predict_file(out, path, labels, scores=True)
        found.append(labels.read_text())
    assert found[0] == found[1]
    (tmp_path / "new.svm").write_text("1 1:1\n")
    with pytest.raises(DataError, match="trained on columns"):
        predict_file(out, tmp_path / "new.svm")


def test_infinite_numbers_and_missing_labels_of_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    raw = {"x": [1.0, np.inf, None, 4.0], "s": list("abab"), "y": [0.0, 1.0, 1.0, None]}
    pq.write_table(pa.table(raw), path)
    with pytest.raises(DataError, match=r"row 2, column 1: expected a finite number in column 'x'"):
        columns_of_file(path, target="y")
    columns = columns_of_file(path, target="y", on_error="skip")
    _, y, source = encoded(path, columns, on_error="skip")
    assert y.tolist() == [0.0, 1.0]
    assert source.skipped.count == 2


def test_without_header_columns_have_numbers(tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "m"
    path.write_text("no,1,a\nyes,2,b\nno,3,a\n")
    done = fit_file(path, out, target="0", max_iter=9, keep="last")
    assert done.model.feature_names == ("f1", "f2=a", "f2=b")
    (tmp_path / "new.csv").write_text("2,b\n3,a\n")
    predict_file(out, tmp_path / "new.csv", tmp_path / "labels")
    assert (tmp_path / "labels").read_text().split() == ["yes", "no"]
    assert predict_file(out, path).errors == 0


def test_with_errors_left_out_numbers_stay_plain_and_text_does_not(tmp_path):
    numbers, words = tmp_path / "n.csv", tmp_path / "w.csv"
    numbers.write_text("x,y\n1,0\nred,1\n2,1\n")
    words.write_text("x,s,y\n1,u,0\n2,v,1\n")
    done = fit_file(numbers, tmp_path / "m", target="y", on_error="skip")
    assert (done.columns, done.skipped.count) == (None, 1)
    assert fit_file(words, tmp_path / "m", target="y", on_error="skip").columns is not None


def test_a_model_with_other_columns_is_refused(clicks, tmp_path):
    from dataclasses import replace

    from rosenblatt import save_model

    out = tmp_path / "m"
    model = fit_file(clicks["csv"], out, target="clicked").model
    for wrong, message in (
        ({"format": 1, "rows": 1, "entries": []}, "make 0 features"),
        ({"format": 1}, "no description of columns"),
    ):
        save_model(replace(model, columns=wrong), out)
        with pytest.raises(DataError, match=message):
            predict_file(out, clicks["csv"])


def test_the_command_line_shows_what_was_done(clicks, tmp_path):
    def run(*args):
        return CliRunner().invoke(app, [str(a) for a in args])

    out = tmp_path / "m"
    for file in clicks.values():
        done = run("fit", file, "--target", "clicked", "--out", out, "--column", "member=drop")
        assert done.exit_code == 0, done.output
        assert "age     number           2  minus 34.8" in done.stdout
        assert "member  dropped" in done.stdout
        assert "Traceback" not in done.output
        done = run("fit", file, "--target", "clicked", "--out", out, "--json", "--quiet")
        assert [c["kind"] for c in json.loads(done.stdout)["columns"]] == [
            "number", "category", "category", "date",
        ]  # fmt: skip
        assert run("predict", out, file).exit_code == 0
        told = run("explain", out).stdout
        width = sum(c["features"] for c in json.loads(done.stdout)["columns"])
        assert f"4 raw columns to {width} features, see below" in told
        assert "age     number           2  minus 34.8" in told
    done = run("fit", file, "--target", "clicked", "--out", out, "--column", "x")
    assert "NAME=KIND" in done.output
    done = run("fit", clicks["csv"], "--target", "clicked", "--out", out, "--columns", "plain")
    assert done.exit_code == 2
    assert "expected a number in column 'city', found 'Bonn'" in done.output


@pytest.mark.parametrize("name", ["wpbc", "breast cancer"])
def test_missing_values_of_the_tumour_data(name, tmp_path):
    """The prognostic set has four missing values; the diagnostic one has none, and gets two."""
    if name == "wpbc":
        path, last, target, rows, lost = data_folder() / "wpbc" / "wpbc.data", 34, "1", 198, 4
    else:
        path, last, target, rows, lost = csv_file(f"{name}.csv", tmp_path, False), 29, "-1", 569, 2
        lines = path.read_text().splitlines()
        for k in (6, 196):
            *cells, _, label = lines[k].split(",")
            lines[k] = ",".join([*cells, "?", label])
        path.write_text("\n".join(lines))
    columns = columns_of_file(path, format="csv", target=target, kinds={"f0": "drop"})
    assert columns.rows == rows
    assert [e.name for e in columns.entries if e.missing] == [f"f{last}"]
    assert columns.entries[-1].missing == lost
    frame = pd.read_csv(path, header=None, na_values="?")
    assert columns.entries[-1].center == pytest.approx(frame[last].mean(), rel=1e-14)
    assert columns.entries[-1].scale == pytest.approx(frame[last].std(ddof=0), rel=1e-14)


@pytest.mark.parametrize("name", ["criteo", "digits"])
def test_click_log_learned_and_read_as_by_pandas(name, tmp_path):
    path, frame = click_log(name, tmp_path)
    columns = columns_of_file(path, target="Label", kinds={"Id": "drop"}, chunk_bytes=50_000)
    same = learn_columns(frame, target="Label", kinds={"Id": "drop"})
    assert columns == same
    X = same.transform(frame)
    done = fit_file(path, tmp_path / "m", target="Label", kinds={"Id": "drop"}, keep="last")
    clf = Perceptron(shuffle=False, max_iter=1, tol=None).fit(X, frame["Label"].to_numpy())
    assert done.model.coef.tobytes() == clf.coef_.tobytes()


def flights(name):
    """date, delay, distance, origin, destination; or as many columns of the wines."""
    if name == "flights":
        with pq.ParquetFile(data_folder() / "flights" / "flights-3m.parquet") as file:
            return pa.Table.from_batches([next(file.iter_batches(20_000))])
    X, y = rows_of("wine")
    frame = {
        "date": [dt.date(1991, 7, 1) + dt.timedelta(days=k) for k in range(len(y))],
        "delay": X[:, 4].astype(int) - 80,  # milligrams of magnesium
        "distance": X[:, 0],
        "origin": [f"vine {k}" for k in y],
        "destination": [f"{x:.1f}" for x in X[:, 10]],
    }
    whole = pa.concat_tables([pa.table(frame)] * 30)
    return whole.set_column(4, "destination", whole["destination"].dictionary_encode())


@pytest.mark.parametrize("name", ["flights", "wine"])
def test_flights_with_a_label_of_their_own(name, tmp_path):
    table = flights(name)
    table = table.append_column("late", pc.greater(table["delay"], 15)).drop_columns(["delay"])
    path, out = tmp_path / "flights.parquet", tmp_path / "m"
    pq.write_table(table, path, row_group_size=3000)
    done = fit_file(path, out, target="late", chunk_bytes=100_000)
    assert [e.kind for e in done.columns.entries] == ["date", "number", "category", "category"]
    assert set(done.columns.entries[2].categories) == set(table["origin"].to_pylist())
    assert done.columns == learn_columns(table, target="late")
    assert predict_file(out, path).labelled == table.num_rows


BYTES = (
    b'n,s,d,y\n1,a,2024-01-01,no\n2.5,"b,\nc",,yes\nNA,?,2024-02-01 10:00,no\n'
    b"-3e5,\xc3\xa4,NA,yes\n"
)


@given(st.data())
def test_no_bytes_do_worse_than_an_error(tmp_path_factory, data):
    content = bytearray(BYTES)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(content)))
        piece = data.draw(
            st.sampled_from(
                [b"", b",", b'"', b"\n", b"\r", b"\x00", b"\xff", b"inf", b"1e999", b"-"]
            )
        )
        content[at : at + data.draw(st.integers(0, 3))] = piece
    path = tmp_path_factory.getbasetemp() / "fuzzed.csv"
    path.write_bytes(content)
    for on_error in ("raise", "skip"):
        reading = {
            "target": "y",
            "on_error": on_error,
            "chunk_bytes": data.draw(st.integers(8, 99)),
        }
        try:
            columns = columns_of_file(path, **reading)
            del reading["target"]
            X, y, _ = encoded(path, columns, **reading)
        except DataError:
            continue
        assert len(y) == len(X) == columns.rows
        assert np.isfinite(X).all()


def test_types_of_parquet_are_used_or_refused(tmp_path):
    usable = {
        "half": pa.array([1, None, 3], pa.float16()),
        "small": pa.array([1, 2, 3], pa.uint8()),
        "large": pa.array([2**62, 0, 5], pa.int64()),
        "money": pa.array([1, None, 2], pa.decimal128(9, 2)),
        "text": pa.array(["a", None, "b"], pa.large_string()),
        "view": pa.array(["a", "c", "b"], pa.string_view()),
        "coded": pa.array(["a", None, "b"]).dictionary_encode(),
        "nanos": pa.array([1, 2, 10**18], pa.timestamp("ns", "Asia/Tokyo")),
        "days": pa.array([1, None, 3], pa.date64()),
        "clock": pa.array([1, 2, 3], pa.time64("ns")),
        "empty": pa.nulls(3),
    }
    path = tmp_path / "types.parquet"
    pq.write_table(pa.table({**usable, "y": [0, 1, 1]}), path)
    columns = columns_of_file(path, target="y")
    assert [e.kind for e in columns.entries] == [
        "number", "number", "number", "number", "category", "category", "category", "date", "date",
        "number", "dropped",
    ]  # fmt: skip
    assert np.isfinite(encoded(path, columns)[0]).all()
    for odd in (
        pa.array([[1], [2], [3]]),
        pa.array([{"a": 1}] * 3),
        pa.array([b"a", b"b", b"c"]),
        pa.array([[("a", 1)]] * 3, pa.map_(pa.string(), pa.int8())),
    ):
        pq.write_table(pa.table({"x": [1, 2, 3], "odd": odd, "y": [0, 1, 1]}), path)
        with pytest.raises(DataError, match=r"a column of type .* cannot be used as a category"):
            fit_file(path, tmp_path / "m", target="y")
        assert fit_file(path, tmp_path / "m", target="y", kinds={"odd": "drop"}).columns.width == 1


def test_a_watcher_is_told_of_the_look_at_the_columns(clicks, tmp_path):
    class Told:
        def __init__(self):
            self.began, self.said, self.rows = [], [], []

        def begin(self, pass_number):
            self.began.append(pass_number)

        def progress(self, now):
            self.rows.append((now.rows, now.bytes_read == now.bytes_total))

        def say(self, message):
            self.said.append(message)

    for file in clicks.values():
        told = Told()
        fit_file(file, tmp_path / "m", target="clicked", max_iter=2, columns="raw", watcher=told)
        assert told.began[:2] == [0, 1]
        assert told.rows[0] == (6, True)
        told = Told()
        fit_file(file, tmp_path / "m", target="clicked", watcher=told)
        assert "learning them first" in told.said[0]


def test_the_bar_says_that_it_looks_at_the_columns(capsys):
    from rosenblatt.cli.progress_bar import ProgressBar
    from rosenblatt.io.progress import Progress

    with ProgressBar(print, draw=True) as bar:
        bar.begin(0)
        bar.progress(Progress(1, 2, 3, 0, 0.5))
    assert "reading the columns" in capsys.readouterr().err
