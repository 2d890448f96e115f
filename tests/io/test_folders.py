"""Folders of files, and which of their rows are read."""

import datetime as dt
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from rosenblatt import read
from rosenblatt.cli import app
from rosenblatt.errors import DataError
from rosenblatt.io.location import locate
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
    one = fit_file(whole, tmp_path / "one", target="y", max_iter=3)
    many = fit_file(folder, tmp_path / "many", target="y", max_iter=3)
    assert many.n_rows == 8
    assert many.file_bytes == sum(piece.size for piece in locate(folder)) > 0
    assert one.model.coef.tobytes() == many.model.coef.tobytes()
    assert one.table.facts() == many.table.facts()
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
    found = [str(Path(p.url).relative_to(tmp_path)) for p in locate(tmp_path)]
    assert found == ["a.csv.gz", "b/10.csv", "b/2.csv"]
    (tmp_path / "q.parquet").write_text("")
    with pytest.raises(DataError, match="has files of csv and parquet"):
        locate(tmp_path)
    with pytest.raises(DataError, match="has no file whose name tells its format"):
        locate(tmp_path / "c")


def test_files_of_other_columns_are_refused(tmp_path):
    (tmp_path / "1.csv").write_text("x,y\n1,0\n2,1\n")
    (tmp_path / "2.csv").write_text("z,y\n1,0\n")
    with pytest.raises(DataError, match=r"the columns of .*2.csv are"):
        read(tmp_path, target="y")
    folder = tmp_path / "p"
    folder.mkdir()
    pq.write_table(pa.table({"x": [1, 2], "y": [0, 1]}), folder / "1.parquet")
    pq.write_table(pa.table({"z": [1, 2], "y": [0, 1]}), folder / "2.parquet")
    with pytest.raises(DataError, match=r"the columns of .*2.parquet are \['z', 'y'\]"):
        read(folder, target="y")


def test_plain_folders_of_numbers_are_read_too(tmp_path):
    for k in range(3):
        (tmp_path / f"{k}.csv").write_text(f"x,y\n{k},0\n{k + 10},1\n")
    table = read(tmp_path, target="y")
    assert table.X.ravel().tolist() == [0, 10, 1, 11, 2, 12]
