"""CSV files that people bring along, whole and broken."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.errors import DataError
from rosenblatt.show.lab import limits
from rosenblatt.show.lab.table import Table

FLOWERS = b"length,width,species\r\n1.5,0.2,setosa\r\n4.5,1.5,versicolor\r\n\r\n1.4,0.1,setosa\r\n"


def test_columns_are_told():
    told = Table.read(FLOWERS).told()
    assert told["rows"] == 3
    assert [(c["name"], c["kind"], c["distinct"]) for c in told["columns"]] == [
        ("length", "number", 3), ("width", "number", 3), ("species", "text", 2),
    ]  # fmt: skip
    assert told["columns"][2]["values"] == ["setosa", "versicolor"]


def test_a_bad_cell_among_numbers_is_told():
    told = Table.read(b"a,b,c\n1,2,yes\n3,nan,no\n5,6,no\n").told()["columns"]
    assert [column.get("bad") for column in told] == [None, {"line": 3, "value": "nan"}, None]


def test_two_columns_make_points():
    made, note = Table.read(FLOWERS).situation("length", "width", "species", "setosa")
    assert made.X.tolist() == [[1.5, 0.2], [4.5, 1.5], [1.4, 0.1]]
    assert made.y.tolist() == [1, -1, 1]
    assert made.classes == ("versicolor", "setosa")
    assert made.names == ("length", "width")
    assert note == "3 points, 2 of them positive."


@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6, allow_subnormal=True), st.booleans()),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(",;\t"),
)
def test_points_come_back_to_the_bit(points, sign):
    head = sign.join(['"x1"', "x2", '"the ""class"""'])
    lines = [sign.join([repr(a), repr(b), "+1" if c else "-1"]) for a, b, c in points]
    table = Table.read("\n".join([head, *lines, "0" + sign + "0" + sign + "+1"]).encode())
    made, _ = table.situation("x1", "x2", 'the "class"', "1")
    assert made.X[:-1].tolist() == [[a + 0.0, b + 0.0] for a, b, _ in points]
    assert made.y[:-1].tolist() == [1 if c else -1 for *_, c in points]


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "no rows"),
        (b"a,b,c\n", "no rows"),
        (b"a,b,c\n1,2,x\n3,4\n", "line 3 has 2 cells"),
        (b'a,b,c\n1,2,"x\n3,4,y\n', "line 2 cannot be read"),
        (b'a,b,c\n1,"2"9,x\n', "line 2 cannot be read"),
        (b"a,b,c\n1,2,x\n\xff,4,y\n", "line 3 is not UTF-8"),
        (b"a,b\0,c\n1,2,x\n", "zero byte"),
        (b"a,b,c\n1,2," + 2000 * b"x" + b"\n", "line 2 has a cell of 2,000"),
        (b",".join([b"a"] * 300), "line 1 has 300 cells"),
    ],
)
def test_broken_files_name_the_line(raw, said):
    with pytest.raises(DataError, match=said):
        Table.read(raw)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("length", "species", "species", "setosa"), "line 2, column 'species': 'setosa'"),
        (("length", "depth", "species", "setosa"), "no column 'depth'"),
        (("length", "width", "species", "rose"), "no row has 'rose'"),
    ],
)
def test_bad_choices_say_what_there_is(asked, said):
    with pytest.raises(DataError, match=said):
        Table.read(FLOWERS).situation(*asked)
    with pytest.raises(DataError, match=r"line 2, column 'b': 1e9 is beyond"):
        Table.read(b"a,b,c\n1,1e9,x\n").situation("a", "b", "c", "x")
    for bad in (b"nan", b"inf", b"", b"1_0"):
        with pytest.raises(DataError, match="line 2, column 'b'"):
            Table.read(b"a,b,c\n1," + bad + b",x\n").situation("a", "b", "c", "x")


def test_large_files_are_thinned_evenly(monkeypatch):
    lines = [f"{k},{k % 7},{'rare' if k % 50 == 0 else 'common'}" for k in range(5000)]
    made, note = Table.read("\n".join(["a,b,c", *lines]).encode()).situation("a", "b", "c", "rare")
    assert len(made.y) == limits.POINTS
    assert (made.y > 0).sum() == limits.POINTS // 50
    assert np.diff(made.X[:, 0]).min() > 0
    assert made.X[:, 0].max() > 4900
    assert "5,000 rows" in note
    monkeypatch.setattr(limits, "TABLE_ROWS", 100)
    with pytest.raises(DataError, match="more than 100 rows"):
        Table.read("\n".join(["a,b,c", *lines]).encode())


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(raw):
    try:
        told = Table.read(raw).told()
    except DataError as e:
        assert str(e)  # noqa: PT017  # or it is read
    else:
        assert told["rows"] >= 1
