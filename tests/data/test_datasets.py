"""Datasets of pyarrow are read as their rows stand, and only those that are asked for."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from rosenblatt import fit_file, fit_stream, predict_file, read, read_chunks
from rosenblatt.errors import DataError, ParameterError

RNG = np.random.default_rng(0)
N = 400
ROWS = pa.table(
    {
        "x": RNG.standard_normal(N).round(3),
        "n": RNG.integers(-5, 5, N),
        "year": np.repeat([2001, 2002, 2003, 2004], N // 4),
        "y": RNG.choice(["no", "yes"], N),
    }
)
CITIES = ROWS.append_column("city", pa.array(RNG.choice(["Bonn", "Rome", "Oslo"], N).tolist()))


@pytest.fixture
def folder(tmp_path):
    """Files whose order by name is that of the rows, written in another."""
    (tmp_path / "parts").mkdir()
    for k in (2, 0, 3, 1):
        part = ROWS.slice(k * 100, 100)
        pq.write_table(part, tmp_path / "parts" / f"part-{k}.parquet", row_group_size=30)
    return tmp_path / "parts"


def numbers(table):
    names = [n for n in table.schema.names if n not in ("y", "city")]
    return np.column_stack([table[n].to_numpy() for n in names])


def test_a_dataset_is_its_folder(folder, tmp_path):
    data = ds.dataset(folder)
    table = read(data, target="y", chunk_bytes=1000)
    assert np.array_equal(table.X, numbers(ROWS))
    assert table.y.tolist() == ROWS["y"].to_pylist()
    asked = {"target": "y", "max_iter": 3, "chunk_bytes": 1000}
    one = fit_file(folder, tmp_path / "one", **asked)
    other = fit_file(data, tmp_path / "other", **asked)
    assert other.model.coef.tobytes() == one.model.coef.tobytes()
    assert (other.file_bytes, str(other.file)) == (one.file_bytes, "dataset of 4 files")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    streamed = fit_stream(read_chunks(data, target="y"), max_iter=3).model
    assert streamed.coef.tobytes() == one.model.coef.tobytes()
    errors = {
        predict_file(tmp_path / "one", place, threads=threads).errors
        for place in (folder, data, ds.dataset(ROWS))
        for threads in (1, 2)
    }
    assert len(errors) == 1


def test_files_come_as_they_are_listed(folder):
    files = [folder / f"part-{k}.parquet" for k in (3, 1)]
    table = read(ds.dataset(files), target="y")
    wanted = pa.concat_tables([ROWS.slice(300, 100), ROWS.slice(100, 100)])
    assert np.array_equal(table.X, numbers(wanted))
    two = ds.dataset([ds.dataset(files[0]), ds.dataset(files[1])])
    assert np.array_equal(read(two, target="y").X, table.X)


def test_a_filtered_dataset_gives_the_rows_of_its_filter(folder):
    data = ds.dataset(folder).filter((ds.field("year") > 2001) & (ds.field("n") < 2))
    kept = (ROWS["year"].to_numpy() > 2001) & (ROWS["n"].to_numpy() < 2)
    table = read(data, target="y")
    assert np.array_equal(table.X, numbers(ROWS)[kept])


@pytest.mark.parametrize("kind", ["csv", "hive"])
def test_other_datasets_and_raw_columns(kind, tmp_path):
    if kind == "csv":
        pc.write_csv(CITIES, tmp_path / "rows.csv")
        data = ds.dataset(tmp_path / "rows.csv", format="csv")
    else:
        ds.write_dataset(CITIES, tmp_path / "h", format="parquet", partitioning=["year"],
                         partitioning_flavor="hive")  # fmt: skip
        data = ds.dataset(tmp_path / "h", partitioning="hive")
    recent = data.filter(ds.field("year") < 2004)
    done = fit_file(recent, tmp_path / "m", target="y", max_iter=2)
    assert done.table is not None
    assert done.n_rows == 300
    names = {done.model.name(k) for k in range(done.model.n_features)}
    assert names == {"city=Bonn", "city=Oslo", "city=Rome", "x", "n", "year"}
    found = predict_file(tmp_path / "m", data, tmp_path / "labels")
    assert (found.rows, found.labelled) == (400, 400)
    assert len((tmp_path / "labels").read_text().split()) == 400


def test_what_a_dataset_cannot_do_is_said(folder, tmp_path):
    data, out = ds.dataset(folder), tmp_path / "m"
    with pytest.raises(ParameterError, match="can be read again from any place"):
        fit_file(data, out, target="y", checkpoint=tmp_path / "saved")
    with pytest.raises(ParameterError, match="target is missing"):
        read_chunks(data)
    with pytest.raises(ParameterError, match="has no format"):
        read_chunks(data, target="y", format="csv")
    with pytest.raises(DataError, match="cannot read dataset of 4 files: No match"):
        read(data.filter(ds.field("m") < 2), target="y")
    with pytest.raises(DataError, match="dataset of 4 files has no rows"):
        read(data.filter(ds.field("n") > 99), target="y")
    with pytest.raises(DataError, match=r"Read it with read_chunks\(\.\.\., target=\.\.\.\)"):
        fit_stream(data)
    file = folder / "part-0.parquet"
    with pytest.raises(ParameterError, match="it would be lost"):
        fit_file(data, file, target="y")
    file.write_bytes(b"no such thing")
    broken = ds.dataset([folder / "part-1.parquet", file])
    with pytest.raises(DataError, match="cannot read"):
        read(broken, target="y")
