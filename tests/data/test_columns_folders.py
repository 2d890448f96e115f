"""Folders of files, and which of their rows are read."""

import datetime as dt
import operator
from contextlib import suppress
from itertools import pairwise

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from rosenblatt import read
from rosenblatt.cli import app
from rosenblatt.data.columns.looking import columns_of_file
from rosenblatt.data.folders import files_of, size_of
from rosenblatt.data.where import TESTS, Condition, parse_where
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.stream.fit import fit_file
from rosenblatt.stream.predict import predict_file

RAW = {
    "delay": [3.0, 40.0, None, 16.0, 15.0, 90.0, -2.0, 17.0],
    "to": ["LAS", "ATL", "LAS", None, "MDW", "LAS", "ATL", "LAS"],
    "night": [True, False, True, True, None, False, False, True],
    "day": [dt.date(2001, 1, k) for k in range(1, 9)],
    "y": ["no", "yes", "no", "yes", "yes", "no", "no", "yes"],
}


def write(folder, kind, cuts=(0, 3, 5, 8)):
    folder.mkdir(exist_ok=True)
    table = pa.table(RAW)
    for k, (a, b) in enumerate(pairwise(cuts)):
        part = table.slice(a, b - a)
        if kind == "parquet":
            pq.write_table(part, folder / f"part-{k}.parquet", row_group_size=2)
        else:
            part.to_pandas().replace({True: "true", False: "false"}).to_csv(
                folder / f"part-{k}.csv", index=False
            )
    return folder


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_folder_is_one_file_cut_in_pieces(tmp_path, kind):
    whole = write(tmp_path / "whole", kind, (0, 8)) / f"part-0.{kind}"
    folder = write(tmp_path / "parts", kind)
    (folder / "_SUCCESS").write_text("")
    (folder / ".hidden.csv").write_text("x")
    (folder / "notes.txt").write_text("x")
    assert columns_of_file(folder, target="y") == columns_of_file(whole, target="y")
    one = fit_file(whole, tmp_path / "one", target="y", passes=3)
    many = fit_file(folder, tmp_path / "many", target="y", passes=3)
    assert many.n_rows == 8
    assert many.file_bytes == size_of(folder) > 0
    assert one.model.coef.tobytes() == many.model.coef.tobytes()
    assert (
        predict_file(tmp_path / "many", folder).errors
        == predict_file(tmp_path / "one", whole).errors
    )
    done = CliRunner().invoke(
        app, ["fit", str(folder), "--target", "y", "--out", str(folder / "m")]
    )
    assert done.exit_code == 0, done.output


def test_files_come_by_name_and_are_of_one_kind(tmp_path):
    for name in ("b/2.csv", "b/10.csv", "a.csv.gz", "c/_x/1.csv", "z.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    found = [str(f.relative_to(tmp_path)) for f in files_of(tmp_path)]
    assert found == ["a.csv.gz", "b/10.csv", "b/2.csv"]
    (tmp_path / "q.parquet").write_text("")
    with pytest.raises(DataError, match="CSV and Parquet files"):
        files_of(tmp_path)
    with pytest.raises(DataError, match=r"no CSV or Parquet file.*LIBSVM.*--workers N"):
        files_of(tmp_path / "c")


def test_files_of_other_columns_are_refused(tmp_path):
    (tmp_path / "1.csv").write_text("x,y\n1,0\n2,1\n")
    (tmp_path / "2.csv").write_text("z,y\n1,0\n")
    with pytest.raises(DataError, match=r"the columns of one file of .* are"):
        read(tmp_path, target="y")
    folder = tmp_path / "p"
    folder.mkdir()
    pq.write_table(pa.table({"x": [1, 2], "y": [0, 1]}), folder / "1.parquet")
    pq.write_table(pa.table({"z": [1, 2], "y": [0, 1]}), folder / "2.parquet")
    with pytest.raises(DataError, match=r"the columns of .*2.parquet are \['z'\]"):
        read(folder, target="y")


def test_plain_folders_of_numbers_are_read_too(tmp_path):
    for k in range(3):
        (tmp_path / f"{k}.csv").write_text(f"x,y\n{k},0\n{k + 10},1\n")
    table = read(tmp_path, target="y")
    assert table.X.ravel().tolist() == [0, 10, 1, 11, 2, 12]


CONDITIONS = [
    ("delay > 15", lambda f: f.delay > 15),
    ("delay<=17 and to = 'LAS'", lambda f: (f.delay <= 17) & (f.to == "LAS")),
    ("night == true", lambda f: f.night == True),  # noqa: E712  # a column, not a truth
    ("day >= 2001-01-04 and day != 2001-01-06",
     lambda f: (f.day >= dt.date(2001, 1, 4)) & (f.day != dt.date(2001, 1, 6))),
    ('`to` != "LAS" and y = "yes"', lambda f: (f.to != "LAS") & f.to.notna() & (f.y == "yes")),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("case", range(len(CONDITIONS)))
def test_rows_are_chosen_as_by_pandas(tmp_path, kind, case):
    where, chosen = CONDITIONS[case]
    folder = write(tmp_path / "parts", kind)
    frame = pd.DataFrame(RAW)
    wanted = frame[chosen(frame).astype(bool)]
    columns = columns_of_file(folder, target="y")
    table = read(folder, target="y", columns=columns, where=where)
    assert table.y.tolist() == wanted.y.tolist()
    want = columns.transform(frame)[wanted.index.to_numpy()]
    assert table.X.shape == want.shape
    assert abs(table.X - want).max() == 0
    assert columns_of_file(folder, target="y", where=where, kinds={"day": "category"}).rows == len(
        wanted
    )


def test_rows_that_are_not_wanted_are_not_malformed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,s,y\n1,a,0\n4,q,text\n2,a,1\n")
    columns = columns_of_file(path, target="y")
    assert read(path, target="y", columns=columns, where="s = 'a'").y.dtype.kind == "i"
    path.write_text("x,s,y\n1,a,0\ninf,b,1\n2,a,1\n3,c,\n")
    columns = columns_of_file(path, target="y", where="s = 'a'", kinds={"s": "category"})
    assert columns.rows == 2
    with pytest.raises(DataError, match="has no column 'q' for where"):
        columns_of_file(path, target="y", where="q = 1")
    with pytest.raises(DataError, match="has no rows"):
        columns_of_file(path, target="y", where="s = 'nobody'")
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": [0, 1]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="has no column 'q' for where"):
        read(tmp_path / "t.parquet", target="y", where="q = 1")
    with pytest.raises(DataError, match=r"cannot read .* as Parquet"):
        read(tmp_path / "t.parquet", target="y", where="x = 'text'")
    done = fit_file(path, tmp_path / "m", target="y", where="s = 'a'")
    assert done.n_rows == 2
    with pytest.raises(ParameterError, match="where is a setting of raw columns"):
        read(path, target="y", where="s = 'a'")


@pytest.mark.parametrize(
    "text",
    ["", "delay", "delay >", "delay > x", "delay > 15 or to = 'a'", "delay ? 3", "15 > delay",
     "a = 1 and", "a = 'open", "a = 2001-13-40", "__import__('os')", "a = 1; b = 2",
     "x" * 20_000],
)  # fmt: skip
def test_what_is_not_in_the_language_is_refused(text):
    with pytest.raises(ParameterError, match="where"):
        parse_where(text)


names = st.text(st.characters(exclude_characters="`", exclude_categories=["Cs"]), min_size=1)
values = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.dates(dt.date(1000, 1, 1)),
    st.text(st.characters(exclude_characters="'", exclude_categories=["Cs"])),
)


@given(st.lists(st.builds(Condition, names, st.sampled_from(sorted(TESTS)), values), min_size=1))
def test_every_condition_can_be_written(conditions):
    def shown(value):
        if isinstance(value, bool):
            return str(value).lower()
        return f"'{value}'" if isinstance(value, str) else str(value)

    text = " and ".join(f"`{c.column}` {c.test} {shown(c.value)}" for c in conditions)
    if len(text) <= 10_000:
        assert parse_where(text) == tuple(conditions)


@given(st.text())
def test_any_text_is_conditions_or_an_error(text):
    with suppress(ParameterError):
        parse_where(text)


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.sampled_from(sorted(TESTS)))
def test_cells_compare_as_numbers(a, b, test):
    compare = {"=": operator.eq, "!=": operator.ne}.get(test) or TESTS[test]
    assert Condition("x", test, b).holds(f" {a!r}") == compare(a, b)
    assert not Condition("x", test, b).holds("text")
    assert not Condition("x", test, True).holds("text")
    assert not Condition("x", test, dt.date(2000, 1, 1)).holds("text")
