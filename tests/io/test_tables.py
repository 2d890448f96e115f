"""Files in: CSV and Parquet."""

import csv
import datetime as dt
import gzip
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.errors import DataError
from rosenblatt.io.reader import read, read_chunks
from tests.real_data import csv_file


@pytest.fixture
def write(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("name", "target", "header"),
    [
        ("sonar/sonar.all-data", "-1", None),
        ("ionosphere/ionosphere.data", "-1", None),
        ("spambase/spambase.csv.gz", "class", None),
        ("svmguide3/svmguide3.csv", "label", None),
        ("breast cancer.csv", "target", None),
        ("digits.csv", "-1", None),
    ],
)
def test_real_tables_are_what_pandas_reads(tmp_path, name, target, header):
    path = csv_file(name, tmp_path, header=target == "target")
    numbered = target.lstrip("-").isdigit()
    want = pd.read_csv(path, header=None if numbered else 0)
    label = want.columns[int(target)] if numbered else target
    for found in (
        read(path, format="csv", target=target, header=header),
        read(path, format="csv", target=target, header=header, chunk_bytes=9999),
    ):
        assert (want.drop(columns=label).to_numpy(dtype=float) == found.X).all()
        assert (found.y == want[label].to_numpy()).all()
        if not numbered:
            assert list(found.feature_names) == [c for c in want.columns if c != label]


def test_missing_values_of_a_shipped_table_are_found(tmp_path):
    path = csv_file("wine.csv", tmp_path)
    lines = path.read_text().splitlines()
    for k in (6, 28):
        cells = lines[k].split(",")
        lines[k] = ",".join([*cells[:-2], "?", cells[-1]])
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"wine.csv, line 7, column 13: expected a number .*'\?'"):
        read(path, target="target")
    table = read(path, target="target", on_error="skip")
    assert table.X.shape == (176, 13)
    assert [b.line for b in table.skipped.first] == [7, 29]
    assert set(table.y) == {0, 1, 2}


def test_missing_values_of_a_real_table_are_found(shared_data):
    path = shared_data / "wpbc" / "wpbc.data"
    with pytest.raises(DataError, match=r"wpbc.data, line 7, column 35: expected a number .*'\?'"):
        read(path, format="csv", target="1")
    table = read(path, format="csv", target="1", on_error="skip")
    assert table.X.shape == (194, 34)
    assert [b.line for b in table.skipped.first] == [7, 29, 86, 197]
    assert set(table.y) == {"N", "R"}


def test_labels_are_integers_numbers_or_text(write):
    assert read(write("x,y\n1,1\n2,0\n"), target="y").y.dtype == np.int64
    assert read(write("x,y\n1,1.0\n2,0\n"), target="y").y.tolist() == [1.0, 0.0]
    assert read(write("x,y\n1,1\n2,no\n"), target="y").y.tolist() == ["1", "no"]
    assert read(write("x,y\n1,NA\n2,EU\n"), target="y").y.tolist() == ["NA", "EU"]
    path = write("x,y\n" + "1,1\n" * 20 + "1,spam\n")
    assert read(path, target="y", chunk_bytes=20).y.tolist() == ["1"] * 20 + ["spam"]
    chunks = [y for _, y, _ in read_chunks(path, target="y", chunk_bytes=20)]
    assert chunks[0].tolist() == [1] * len(chunks[0])
    assert chunks[-1].tolist()[-1] == "spam"
    assert read(write("x,y\n1,1\n2,+1\n3,1.0\n"), target="y").y.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,y\n1,0\n2,\n", r"line 3, column 2: expected a label in column 'y', found nothing"),
        ("x,y\n1,0\n2,NA\n", r"line 3, column 2: expected a label in column 'y', found 'NA'"),
        ("x,y\n1,0\n,1\n", r"line 3, column 1: expected a number in column 'x', found nothing"),
        ("x,y\n1,0\nNA,1\n", r"line 3, column 1: expected a number in column 'x', found 'NA'"),
        ("x,y\nred,0\n", r"line 2, column 1: expected a number in column 'x', found 'red'"),
        ("x,y\ninf,0\n", r"line 2, column 1: expected a number in column 'x', found 'inf'"),
        ("x,y\n1e400,0\n", r"line 2, column 1: expected numbers within the range of float64"),
        ("x,y\n9007199254740993,0\n", r"line 2, column 1: expected integers up to 2\*\*53"),
        ("x,y\n1.5,1\n-9007199254740993,0\n", r"line 3, column 1: expected integers up to"),
        ("x,y\n123456789012345678901,0\n", r"line 2, column 1: expected integers up to"),
        ("x,y\n1,0\n1\n", r"line 3, column 1: expected 2 cells, found 1"),
        ("x,y\n1,0\n\n1,2,3\n", r"line 4, column 1: expected 2 cells, found 3"),
        (b"x,y\n1,\xff\n", r"line 2, column 2: expected text in UTF-8"),
        ('x,y\n1,"a\nb"\nq,0\n', r"line 4, column 1: expected a number"),
        ("x,x,y\n1,2,0\n", "columns 0 and 1 of .* are both called 'x'"),
        ("x,z\n1,2\n", r"no column 'y'; it has \['x', 'z'\]"),
        ("", "has no rows"),
        ("x,y\n", "has no rows"),
    ],
)
def test_what_is_wrong_is_said(write, content, message):
    with pytest.raises(DataError, match=message):
        read(write(content), target="y")


def test_columns_by_number(write):
    path = write("1,2,a\n3,4,b\n")
    assert read(path, target="-1").y.tolist() == ["a", "b"]
    assert read(write("1,2\n3,4\n"), target="0").X.tolist() == [[2.0], [4.0]]
    assert read(write("a,b\n3,4\n"), target="0", header=True).feature_names == ("b",)
    with pytest.raises(DataError, match=r"has 2 columns, so there is no column 3"):
        read(path, target="3")
    with pytest.raises(DataError, match="No such file"):
        read(path.parent / "absent.csv", target="y")


def test_large_floats_are_no_integers(write):
    path = write("x,y\n1e20,0\n9007199254740993.0,1\n9007199254740992,1\n")
    assert read(path, target="y").X.ravel().tolist() == [1e20, 9007199254740993.0, 2.0**53]


def test_lines_left_out(write):
    path = write("x,y\n" + "1,0\nbad,1\n2,1\n3\n" * 100)
    table = read(path, target="y", on_error="skip", chunk_bytes=50)
    assert table.X.ravel().tolist() == [1, 2] * 100
    assert table.skipped.count == 200
    assert [b.line for b in table.skipped.first] == [3, 5, 7, 9, 11, 13, 15, 17, 19, 21]


def test_other_delimiters_and_marks(write):
    assert read(write("x\ty\n1\ta\n", "data.tsv"), target="y").y.tolist() == ["a"]
    assert read(write("x;y\n1;a\n"), target="y", delimiter=";").y.tolist() == ["a"]
    assert read(write(b"\xef\xbb\xbfx,y\n1,a\n"), target="y").feature_names == ("x",)
    assert read(write("\n\nx,y\r\n1,a\r\n\r\n"), target="y").y.tolist() == ["a"]


@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False),
            st.text('ab",\n \r', min_size=1).filter(lambda text: text.strip(" ")),
        ),
        min_size=1,
    ),
    st.integers(1, 50),
)
def test_quoted_text_in_chunks_of_any_size(tmp_path_factory, rows, size):
    written = io.StringIO()
    csv.writer(written, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC).writerows(rows)
    path = tmp_path_factory.mktemp("quoted") / "data.csv"
    path.write_text(written.getvalue(), newline="")
    table = read(path, target="1", chunk_bytes=size)
    assert table.X.ravel().tolist() == [x for x, _ in rows]
    assert table.y.tolist() == [label for _, label in rows]


def test_chunks_do_not_depend_on_threads(write):
    rng = np.random.default_rng(0)
    text = "".join(f"{a!r},{b},{c}\n" for a, b, c in zip(
        rng.random(3000).tolist(), rng.integers(0, 99, 3000), rng.choice(["x", "y"], 3000),
        strict=True,
    ))  # fmt: skip
    path = write(gzip.compress(text.encode()), "data.csv.gz")
    one, two = (list(read_chunks(path, target=-1, threads=t, chunk_bytes=4000)) for t in (1, 2))
    assert len(one) > 10
    for a, b in zip(one, two, strict=True):
        assert (a.X == b.X).all()
        assert (a.y == b.y).all()


def parquet(path, **columns):
    pq.write_table(pa.table(columns), path, row_group_size=64)
    return path


def test_parquet(tmp_path):
    rng = np.random.default_rng(0)
    a, b, y = rng.random(500), rng.integers(0, 9, 500), rng.choice(["x", "y"], 500)
    flag = rng.random(500) < 0.5
    path = parquet(tmp_path / "data.parquet", a=a, y=y, b=b, flag=flag)
    for size in (1000, 1 << 22):
        table = read(path, target="y", chunk_bytes=size)
        assert (np.c_[a, b, flag] == table.X).all()
        assert (table.y == y).all()
        assert table.feature_names == ("a", "b", "flag")
    seen = []
    chunks = list(read_chunks(path, target=1, chunk_bytes=1000, progress=seen.append))
    assert len(chunks) > 5
    assert seen[-1].bytes_read == seen[-1].bytes_total
    path = parquet(tmp_path / "unnamed", a=a, b=b)  # known by its first bytes
    assert read(path, target="1").y.dtype == np.int64


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"x": [1.0, None], "y": [0, 1]},
            "row 2, column 1: expected a number in column 'x', found",
        ),
        ({"x": [1, 2**53 + 1], "y": [0, 1]}, r"row 2, column 1: expected integers up to 2\*\*53"),
        ({"x": [1.0, np.inf], "y": [0, 1]}, "row 2, column 1: expected a finite number"),
        ({"x": [1, 2], "y": ["a", None]}, "row 2, column 2: expected a label in column 'y'"),
        ({"x": [1, 2], "y": [0.0, np.nan]}, "row 2, column 2: expected a finite label"),
    ],
)
def test_parquet_rows_that_are_not_numbers(tmp_path, columns, message):
    path = parquet(tmp_path / "data.parquet", **columns)
    with pytest.raises(DataError, match=message):
        read(path, target="y")
    table = read(path, target="y", on_error="skip")
    assert table.X.tolist() == [[1.0]]
    assert table.skipped.count == 1


def test_parquet_that_cannot_be_read(tmp_path):
    dated = parquet(tmp_path / "dated.parquet", day=[dt.date(2006, 1, 1)], delay=[7])
    with pytest.raises(DataError, match=r"column 'day' of .* has values of type .*, not numbers"):
        read(dated, target="delay")
    path = parquet(tmp_path / "data.parquet", x=[1.0], y=[1])
    with pytest.raises(DataError, match="no column 'z'"):
        read(path, target="z")
    with pytest.raises(DataError, match="no column 7"):
        read(path, target=7)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match="cannot read"):
        read(path, target="y")
