"""Tables of any columns: CSV and Parquet, fit and predict, whatever the cut; what is refused."""

import csv
import datetime as dt
import json
import os
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from rosenblatt import Perceptron, fit_stream, load_model, read, read_chunks, save_model
from rosenblatt.cli import app
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io.text_format import ReadOptions
from rosenblatt.stream.fit import fit_file, open_table
from rosenblatt.stream.predict import predict_file
from rosenblatt.stream.standardized_source import StandardizedSource
from tests.features.test_table_features import padded
from tests.real_data import click_log, csv_file, data_folder, rows_of

RAW = {
    "age": [20.0, None, 40.0, 31.0, 28.0, 55.0],
    "city": ["Bonn", "Rome", None, "Rome", "Oslo", "Bonn"],
    "member": [True, False, True, None, True, False],
    "since": [dt.date(2020, 1, 1), None, *(dt.date(2021, 3, d) for d in (2, 7, 8, 9))],
    "clicked": ["no", "yes", "no", "yes", "yes", "no"],
}  # fmt: skip


def encoded(path, **reading):
    """The rows of a file in the first epoch and in the second, their labels, and the source."""
    source, scaled = open_table(path, ReadOptions.of(reading), None, lambda _: None)
    rows = StandardizedSource(source, source.format.encoder) if scaled else source
    first, second = list(rows.blocks()), list(rows.blocks(2))
    width = source.format.encoder.n_features if scaled else first[0].X.shape[1]
    A, B = (np.vstack([padded(b.X, width) for b in blocks]) for blocks in (first, second))
    return A, B, source.labels.values[np.concatenate([b.y for b in first])], source


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
@pytest.mark.parametrize("scale", [None, False])
def test_weights_are_those_of_the_perceptron_on_the_same_features(
    clicks, tmp_path, kind, keep, scale
):
    out = tmp_path / "m.safetensors"
    done = fit_file(clicks[kind], out, target="clicked", max_iter=7, keep=keep, scale=scale)
    first, later, y, source = encoded(clicks[kind], target="clicked")
    if scale is False:
        source.format.encoder.closed = True
        parts = [padded(b.X, source.format.encoder.n_features) for b in source.blocks()]
        first = later = np.vstack(parts)
    epochs = done.n_epochs
    visits = np.vstack([first] + [later] * (epochs - 1))
    clf = Perceptron(shuffle=False, max_iter=1, tol=None, keep=keep)
    clf.fit(visits, np.tile(y, epochs))
    mine = done.model.decision_function(pd.DataFrame(RAW))
    np.testing.assert_allclose(mine, clf.decision_function(later), rtol=1e-9, atol=1e-9)
    names = [done.model.name(k) for k in range(done.model.n_features)]
    assert names == source.format.encoder.feature_names
    for other in clicks.values():  # learned from the one, used on the other
        labels = tmp_path / "labels.txt"
        told = predict_file(out, other, labels)
        assert labels.read_text().split() == clf.predict(later).tolist()
        assert told.labelled == 6
    json.dumps(done.to_dict())


def test_a_model_takes_rows_of_the_table(clicks, tmp_path):
    """Frames, dicts of columns and dicts get the labels that predict_file gives the file."""
    out = tmp_path / "m"
    fit_file(clicks["csv"], out, target="clicked", max_iter=5)
    model, labels = load_model(out), tmp_path / "labels"
    predict_file(out, clicks["csv"], labels, scores=True)
    scores = [float(line.split("\t")[1]) for line in labels.read_text().splitlines()[1:]]
    rows = [dict(zip(RAW, row, strict=True)) for row in zip(*RAW.values(), strict=True)]
    del rows[2]["city"]  # what is left out is missing
    polars = pytest.importorskip("polars")
    for X in (pd.DataFrame(RAW), RAW, rows, pa.table(RAW), polars.DataFrame(RAW)):
        assert model.decision_function(X).tolist() == scores
    features = {k: v for k, v in rows[0].items() if k != "clicked"}
    told = model.explain(features)
    assert told.score == scores[0]
    assert sum(told.contributions) + told.offset == pytest.approx(told.score)
    assert told["city=Bonn"].value == 1
    assert told["age"].value == 20
    frame = pd.DataFrame(RAW).drop(columns="clicked")
    assert model.explain(frame.iloc[[0]]).score == model.explain(frame.iloc[0]).score == scores[0]
    with pytest.raises(DataError, match="no column 'town'"):
        model.explain({"town": "Bonn"})
    with pytest.raises(DataError, match="no column 'city'"):
        model.predict(frame.drop(columns="city"))
    largest = model.explain_model().planes[0].weights
    sizes = [abs(w.weight * w.deviation) for w in largest]
    assert sizes == sorted(sizes, reverse=True)


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
    """Cells of columns of one kind, of two, or with missing values; and labels."""
    n = draw(st.integers(2, 12))
    columns = []
    for _ in range(draw(st.integers(1, 4))):
        some = draw(st.lists(st.sampled_from(list(cells)), min_size=1, max_size=2))
        choices = [cells[k] for k in some] + [empty] * draw(st.integers(0, 2))
        columns.append(draw(st.lists(st.one_of(choices), min_size=n, max_size=n)))
    labels = draw(st.lists(st.sampled_from(["no", "yes"]), min_size=n, max_size=n))
    return columns, labels


@given(csv_tables(), st.integers(1, 200), st.integers(1, 3))
def test_kinds_and_features_do_not_depend_on_the_cut_of_the_file(
    tmp_path_factory, table, chunk_bytes, threads
):
    columns, labels = table
    path = tmp_path_factory.getbasetemp() / "cut.csv"
    raw = {f"c{k}": c for k, c in enumerate(columns)}
    write_csv(path, raw | {"s": [f"s{k}" for k in range(len(labels))], "y": labels})
    A, later, y, one = encoded(path, target="y")
    B, other, same, two = encoded(path, target="y", chunk_bytes=chunk_bytes, threads=threads)
    assert A.tobytes() == B.tobytes()
    assert later.tobytes() == other.tobytes()
    assert y.tolist() == same.tolist() == labels
    assert one.format.encoder.feature_names == two.format.encoder.feature_names
    assert one.format.encoder.facts() == two.format.encoder.facts()
    assert one.format.encoder.remarks() == two.format.encoder.remarks()
    marks = {"", "?", "NA", "nan", "N/A", "null"}
    for told, cells_of in zip(one.format.encoder.facts()[:-1], columns, strict=True):
        assert told["missing"] == sum(c in marks for c in cells_of)
        if told["kind"] == "category":
            assert told["features"] == len({"" if c in marks else c for c in cells_of})


def test_files_of_numbers_are_plain(tmp_path):
    rows = np.random.default_rng(0).integers(-9, 9, (50, 3))
    y = np.where(rows.sum(axis=1) > 0, "p", "n")
    raw = {f"x{k}": rows[:, k].tolist() for k in range(3)} | {"y": y.tolist()}
    pq.write_table(pa.table(raw), tmp_path / "t.parquet")
    write_csv(tmp_path / "t.csv", raw)
    clf = Perceptron(shuffle=False, max_iter=1, tol=None, keep="average").fit(rows, y)
    two = Perceptron(shuffle=False, max_iter=1, tol=None, keep="average").fit(rows[:, 1:], y)
    for name in ("t.csv", "t.parquet"):
        done = fit_file(tmp_path / name, tmp_path / "m", target="y")
        assert done.table is None
        assert done.model.columns is None
        assert done.model.coef.tobytes() == clf.coef_.tobytes()
        fewer = fit_file(tmp_path / name, tmp_path / "m", target="y", kinds={"x0": "drop"})
        assert fewer.model.coef.tobytes() == two.coef_.tobytes()
        assert predict_file(tmp_path / "m", tmp_path / name).labelled == 50
        scaled = fit_file(tmp_path / name, tmp_path / "m", target="y", scale=True)
        assert scaled.model.columns is None  # and so it can be exported
        assert scaled.model.coef.tobytes() != clf.coef_.tobytes()
        np.testing.assert_allclose(scaled.model.deviations, rows.std(axis=0))


@pytest.mark.parametrize("name", ["rows.svm", "rows.vw"])
def test_scale_is_for_tables(tmp_path, name):
    path = tmp_path / name
    path.write_text("1 1:1\n-1 2:1\n" if name.endswith("svm") else "1 | a\n-1 | b\n")
    with pytest.raises(ParameterError, match="scale is for columns of tables"):
        fit_file(path, tmp_path / "m", scale=True)
    done = CliRunner().invoke(app, ["fit", str(path), "--scale", "--out", str(tmp_path / "m")])
    assert done.exit_code == 2
    assert "scale is for columns of tables" in done.output
    assert not (tmp_path / "m").exists()


def test_kinds_are_checked(clicks, tmp_path):
    out = tmp_path / "m"
    for file in clicks.values():
        with pytest.raises(ParameterError, match="no column 'nose'"):
            fit_file(file, out, target="clicked", kinds={"nose": "drop"})
        kinds = dict.fromkeys(("age", "city", "member", "since"), "drop")
        with pytest.raises(DataError, match=r"no column of .* can be used"):
            fit_file(file, out, target="clicked", kinds=kinds)
        for name in ("age", "clicked"):
            said = f"column '{name}' has the unknown kind 'text'.*drop"
            with pytest.raises(ParameterError, match=said):
                fit_file(file, out, target="clicked", kinds={name: "text"})
        with pytest.raises(DataError, match="number"):
            read(file, target="clicked")
        with pytest.raises(DataError, match="number"):
            list(read_chunks(file, target="clicked"))
    done = fit_file(clicks["csv"], out, target="clicked", kinds={"age": "category"})
    assert "age=20.0" in [done.model.name(k) for k in range(done.model.n_features)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1,a\n", r"line 4, column 1: expected 3 cells, found 2"),
        ("1,a,\n", r"line 4, column 3: expected a label in column 'y', found nothing"),
        ("1,\udcff,no\n", r"line 4, column 2: expected text in UTF-8 .* in column 'c'"),
    ],
)
def test_malformed_lines_are_named_or_skipped(tmp_path, line, message):
    path = tmp_path / "bad.csv"
    text = "x,c,y\n1,a,no\n2,b,yes\n" + line + "4,b,no\n"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    for chunk_bytes in (1, 1000):
        with pytest.raises(DataError, match=message):
            fit_file(path, tmp_path / "m", target="y", chunk_bytes=chunk_bytes)
        done = fit_file(path, tmp_path / "m", target="y", chunk_bytes=chunk_bytes, on_error="skip")
        assert done.n_rows == 3
        assert done.skipped.count == 1
        assert done.table.fill["x"] == pytest.approx(7 / 3)


def test_a_cell_of_another_kind_when_predicting_is_as_a_missing_one(clicks, tmp_path):
    out, labels = tmp_path / "m", tmp_path / "labels"
    raw = {**RAW, "age": [20, 30, 40, 31, 28, 55], "since": [dt.date(2020, 1, 1)] * 6}
    fit_file(write_csv(tmp_path / "t.csv", raw), out, target="clicked")
    path = tmp_path / "new.csv"
    found = []
    for age in ("old", ""):
        path.write_text(f"age,city,member,since\n1,Rome,true,2020-01-01\n{age},Rome,1,2020-01-01\n")
        predict_file(out, path, labels, scores=True)
        found.append(labels.read_text())
    assert found[0] == found[1]
    (tmp_path / "new.svm").write_text("1 1:1\n")
    with pytest.raises(DataError, match="trained on columns"):
        predict_file(out, tmp_path / "new.svm")


def test_a_late_text_in_a_column_of_numbers_is_a_feature_of_its_own(tmp_path):
    """One N/K in 50,000 rows left a column of numbers as ten categories, and read it again."""
    path = tmp_path / "late.csv"
    lines = ["x,s,y", *(f"{k % 10},u,{k % 10 > 4:d}" for k in range(300_000))]
    lines[250_001] = "N/K,u,0"
    path.write_text("\n".join(lines))
    done = fit_file(path, tmp_path / "m", target="y")
    assert done.table.kinds == {"x": "number", "s": "category"}
    assert [done.model.name(k) for k in range(3)] == ["x", "s=u", "x=N/K"]
    assert any("1 of 300,000 cells are no numbers" in remark for remark in done.table.remarks())
    said = []
    lines[5] = "N/K,u,0"  # in the head, it makes categories: that is said, with the remedy
    path.write_text("\n".join(lines[:2000]))

    class Told:
        def begin(self, epoch): ...
        def progress(self, now): ...
        def say(self, message):
            said.append(message)

    done = fit_file(path, tmp_path / "m", target="y", watcher=Told())
    assert done.table.kinds["x"] == "category"
    assert "texts such as N/K" in said[0].replace("'", "")
    assert "--column x=number" in said[0]
    done = fit_file(path, tmp_path / "m", target="y", kinds={"x": "number"})
    assert done.table.facts()[0]["texts"] == 1


def test_infinite_numbers_and_missing_labels_of_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    raw = {"x": [1.0, np.inf, None, 4.0], "s": list("abab"), "y": [0.0, 1.0, 1.0, None]}
    pq.write_table(pa.table(raw), path)
    with pytest.raises(DataError, match=r"row 2, column 1: expected a finite number in column 'x'"):
        fit_file(path, tmp_path / "m", target="y")
    _, _, y, source = encoded(path, target="y", on_error="skip")
    assert y.tolist() == [0.0, 1.0]
    assert source.skipped.count == 2


def test_without_header_columns_have_numbers(tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "m"
    path.write_text("no,1,a\nyes,2,b\nno,3,a\n")
    done = fit_file(path, out, target="0", max_iter=9, keep="last")
    assert [done.model.name(k) for k in range(3)] == ["f1", "f2=a", "f2=b"]
    (tmp_path / "new.csv").write_text("2,b\n3,a\n")
    predict_file(out, tmp_path / "new.csv", tmp_path / "labels")
    assert (tmp_path / "labels").read_text().split() == ["yes", "no"]
    assert predict_file(out, path).errors == 0


def test_where_lines_are_skipped_numbers_stay_plain_and_text_does_not(tmp_path):
    numbers, words = tmp_path / "n.csv", tmp_path / "w.csv"
    numbers.write_text("x,y\n1,0\nred,1\n2,1\n")
    words.write_text("x,s,y\n1,u,0\n2,v,1\n")
    done = fit_file(numbers, tmp_path / "m", target="y", on_error="skip")
    assert (done.table, done.skipped.count) == (None, 1)
    assert fit_file(words, tmp_path / "m", target="y", on_error="skip").table is not None


def test_a_model_with_other_columns_is_refused(clicks, tmp_path):
    from dataclasses import replace

    out = tmp_path / "m"
    model = fit_file(clicks["csv"], out, target="clicked").model
    for wrong in (
        {"kinds": [["age", "number"]]}, {}, {"kinds": 3, "fill": {}},
        {"kinds": [["age", "number"]], "fill": {"age": "x"}},
        {"kinds": [["nose", "number"]], "fill": {}},
        {"kinds": [["age", "number"]], "fill": {}, "hash_bits": 63},
        {"kinds": [["age", "number"]], "fill": {}, "hash_bits": 4},
        {"kinds": [["age"]], "fill": {}}, {"kinds": [["age", "what"]], "fill": {}},
    ):  # fmt: skip
        save_model(replace(model, columns=wrong), out)
        with pytest.raises(DataError, match=r"columns of the (table|model)"):
            predict_file(out, clicks["csv"])


def test_the_command_line_shows_the_columns(clicks, tmp_path):
    def run(*args):
        return CliRunner().invoke(app, [str(a) for a in args])

    out = tmp_path / "m"
    for file in clicks.values():
        done = run("fit", file, "--target", "clicked", "--out", out, "--column", "member=drop")
        assert done.exit_code == 0, done.output
        assert "age     number    2         16.67%" in done.stdout
        assert "member" not in done.stdout
        assert "Traceback" not in done.output
        done = run("fit", file, "--target", "clicked", "--out", out, "--json", "--quiet")
        assert [c["kind"] for c in json.loads(done.stdout)["columns"]] == [
            "number", "category", "category", "date",
        ]  # fmt: skip
        assert run("predict", out, file).exit_code == 0
        told = run("explain", out).stdout
        width = sum(c["features"] for c in json.loads(done.stdout)["columns"])
        assert f"4 columns to {width} features, see below" in told
        assert "age     number    2" in told
    done = run("fit", file, "--target", "clicked", "--out", out, "--column", "x")
    assert "NAME=KIND" in done.output
    done = run("fit", clicks["csv"], "--target", "clicked", "--out", out, "--hash-bits", "8")
    assert done.exit_code == 0, done.output
    assert load_model(out).n_features == 256
    assert run("predict", out, clicks["csv"]).exit_code == 0
    assert "hashed" in run("explain", out).stdout


def test_names_of_columns_reach_no_terminal(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\x1b[2J,b\x1b[2J,y\n1,u\x1b[2J,0\nv,u,1\n")
    done = CliRunner().invoke(
        app, ["fit", str(path), "--target", "y", "--out", str(tmp_path / "m")]
    )
    assert done.exit_code == 0, done.output
    assert "\x1b" not in done.output
    assert "\x1b" not in CliRunner().invoke(app, ["explain", str(tmp_path / "m")]).output


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
    done = fit_file(
        path, tmp_path / "m", format="csv", target=target, kinds={"f0": "drop"}, rule="arow"
    )
    assert done.n_rows == rows
    assert [c["column"] for c in done.table.facts() if c["missing"]] == [f"f{last}"]
    assert done.table.facts()[-1]["missing"] == lost
    frame = pd.read_csv(path, header=None, na_values="?")
    assert done.table.fill[f"f{last}"] == pytest.approx(frame[last].mean(), rel=1e-13)
    column = [done.model.name(k) for k in range(done.model.n_features)].index(f"f{last}")
    want = frame[last].std(ddof=0)
    assert done.model.deviations[column] == pytest.approx(want, rel=1e-13)


@pytest.mark.parametrize("name", ["criteo", "digits"])
def test_a_click_log_is_read_as_by_pandas(name, tmp_path):
    path, frame = click_log(name, tmp_path)
    asked = {"kinds": {"Id": "drop"}, "keep": "last"}
    done = fit_file(path, tmp_path / "m", target="Label", chunk_bytes=50_000, **asked)
    y = frame["Label"].to_numpy()
    X = frame.drop(columns="Label")
    parts = [(X[k : k + 100], y[k : k + 100]) for k in range(0, len(y), 100)]
    same = fit_stream(parts, **asked)
    assert done.model.feature_names == same.model.feature_names
    assert done.model.namespaces == same.model.namespaces
    assert done.model.coef.tobytes() == same.model.coef.tobytes()
    assert done.table.facts() == same.table.facts()


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
    assert list(done.table.kinds.values()) == ["date", "number", "category", "category"]
    pairs = zip(done.model.namespaces, done.model.feature_names, strict=True)
    origins = {name for space, name in pairs if space == "origin"}
    assert origins == set(table["origin"].to_pylist())
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
    chunk_bytes = data.draw(st.integers(8, 99))
    for on_error in ("raise", "skip"):
        try:
            X, _, y, source = encoded(path, target="y", on_error=on_error, chunk_bytes=chunk_bytes)
        except DataError:
            continue
        assert len(y) == len(X) == source.n_rows
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
    done = fit_file(path, tmp_path / "m", target="y")
    assert list(done.table.kinds.values()) == [
        "number", "number", "number", "number", "category", "category", "category", "date", "date",
        "number", "number",
    ]  # fmt: skip
    assert np.isfinite(encoded(path, target="y")[0]).all()
    for odd in (
        pa.array([[1], [2], [3]]),
        pa.array([{"a": 1}] * 3),
        pa.array([b"a", b"b", b"c"]),
        pa.array([[("a", 1)]] * 3, pa.map_(pa.string(), pa.int8())),
    ):
        pq.write_table(pa.table({"x": [1, 2, 3], "odd": odd, "y": [0, 1, 1]}), path)
        with pytest.raises(DataError, match=r"a column of type .* cannot be used as a category"):
            fit_file(path, tmp_path / "m", target="y")
        done = fit_file(path, tmp_path / "m", target="y", kinds={"odd": "drop"})
        assert done.model.n_features == 1


def test_categories_without_rows_are_no_classes(tmp_path):
    labels = pa.DictionaryArray.from_arrays([0, 1, 0, 1], ["b", "a", "unused"])
    table = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "y": labels})
    pq.write_table(table, tmp_path / "t.parquet")
    done = fit_file(tmp_path / "t.parquet", tmp_path / "m", target="y")
    assert done.model.classes.tolist() == ["a", "b"]
    assert read(tmp_path / "t.parquet", target="y").y.tolist() == ["b", "a", "b", "a"]
    data = ds.dataset(table).filter(ds.field("x") < 5)
    assert fit_file(data, tmp_path / "m", target="y").model.classes.tolist() == ["a", "b"]


@pytest.mark.parametrize("shuffle", [False, True])
def test_later_cells_of_another_kind(tmp_path, shuffle):
    """A table of numbers that has a text and a missing cell after the first block."""
    path = tmp_path / "t.csv"
    lines = ["x,z,y", *(f"{k % 7},{k % 5},{k % 7 > 3:d}" for k in range(400))]
    lines[300], lines[200] = "odd,1,0", "1,,0"
    path.write_text("\n".join(lines))
    asked = {"target": "y", "kinds": {"x": "number", "z": "number"}, "chunk_bytes": 99,
             "max_iter": 3, "shuffle": shuffle}  # fmt: skip
    done = fit_file(path, tmp_path / "m", **asked)
    assert [done.model.name(k) for k in range(4)] == ["x", "z", "z=missing", "x=odd"]
    assert predict_file(tmp_path / "m", path).labelled == 400
    whole = fit_file(path, tmp_path / "m", **{**asked, "chunk_bytes": 10**6})
    if not shuffle:
        assert whole.model.coef.tobytes() == done.model.coef.tobytes()


def test_numbers_of_a_read_file_are_streamed_as_a_table(tmp_path, clicks):
    done = fit_file(clicks["csv"], tmp_path / "m", target="clicked", max_iter=4)
    for place in clicks.values():
        same = fit_stream(read_chunks(place, target="clicked"), max_iter=4)
        assert same.model.coef.tobytes() == done.model.coef.tobytes()
        assert same.model.predict(RAW).tolist() == done.model.predict(RAW).tolist()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_of_any_columns_is_read_once(clicks, tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    server = threading.Thread(target=lambda: pipe.write_bytes(clicks["csv"].read_bytes()))
    server.start()
    try:
        done = fit_file(pipe, tmp_path / "m", target="clicked", max_iter=4)
    finally:
        server.join()
    whole = fit_file(clicks["csv"], tmp_path / "w", target="clicked", max_iter=4)
    assert done.model.coef.tobytes() == whole.model.coef.tobytes()
    assert [path.name for path in tmp_path.glob(".rosenblatt*")] == []


@pytest.mark.parametrize("rule", ["perceptron", "pa1", "arow"])
def test_constants_and_units_change_no_prediction(rule):
    """A year, a latitude and a timestamp: unless they are centred, half of the labels are wrong."""
    rng, n = np.random.default_rng(0), 6000
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 3)) + 0.7 * (y[:, None] - 0.5)
    tables = [
        {"year": X[:, 0], "latitude": X[:, 1], "time": X[:, 2]},
        {
            "year": 2015 + 3 * X[:, 0],
            "latitude": 52.5 + X[:, 1] / 10,
            "time": 1.7e9 + 1e6 * X[:, 2],
        },
    ]
    wrong = []
    for table in tables:
        first, rest = (
            {k: v[part] for k, v in table.items()} for part in (slice(4000), slice(4000, n))
        )
        done = fit_stream([(first, y[:4000])], rule=rule, scale=True)
        wrong.append(100 * np.mean(done.model.predict(rest) != y[4000:]))
    assert abs(wrong[0] - wrong[1]) <= 0.3
    assert wrong[0] < 35


def test_marks_of_missing_values_are_part_of_the_model(tmp_path):
    chunk = {"x": [1.0, 2.0, 3.0, 4.0], "s": ["a", "-", "b", "b"]}
    done = fit_stream([(chunk, [0, 0, 1, 1])], missing=["-"], max_iter=9)
    save_model(done.model, tmp_path / "m")
    held = load_model(tmp_path / "m")
    assert held.explain({"x": 2.0, "s": "-"})["s=missing"].value == 1
    path = write_csv(tmp_path / "t.csv", {**chunk, "y": [0, 0, 1, 1]})
    predict_file(tmp_path / "m", path, tmp_path / "labels", target="y")
    labels = (tmp_path / "labels").read_text().split()
    assert labels == [str(label) for label in held.predict(chunk)]
