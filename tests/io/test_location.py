"""Files, folders, URLs and pieces of files."""

import gzip
import os
from contextlib import suppress
from dataclasses import fields

import fsspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import read
from rosenblatt.errors import DataError, FileError
from rosenblatt.io.file_source import open_source
from rosenblatt.io.formats import FORMATS, format_of_bytes
from rosenblatt.io.location import Fingerprint, Piece, locate, split
from rosenblatt.io.reader import read_chunks
from rosenblatt.io.text_format import ReadOptions


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(10, 300))
def test_pieces_of_a_file_have_each_line_once(tmp_path_factory, widths, size):
    path = tmp_path_factory.getbasetemp() / "pieces.svm"
    path.write_text("".join(f"{k} 1:{'1' * w}\n" for k, w in enumerate(widths)))
    labels = []
    for piece in split(locate(path), size):
        rows = open_source(piece).rows()
        with suppress(DataError):  # no rows: a piece within one line
            for (_, y, _), _, _ in rows:
                labels += y.values[y.codes].tolist()
    assert labels == list(range(len(widths)))


def test_a_url_is_read_as_a_file_is(tmp_path):
    memory = fsspec.filesystem("memory")
    memory.pipe("/shop/rows/a.csv", b"x,y\n1,no\n2,yes\n")
    memory.pipe("/shop/rows/b.csv.gz", gzip.compress(b"x,y\n3,no\n"))
    memory.pipe("/shop/rows/_log/c.csv", b"nonsense")
    pieces = locate("memory://shop/rows")
    assert [(p.url, p.format) for p in pieces] == [
        ("memory:///shop/rows/a.csv", "csv"), ("memory:///shop/rows/b.csv.gz", "csv"),
    ]  # fmt: skip
    table = read("memory://shop/rows", target="y")
    assert (table.X.ravel().tolist(), table.y.tolist()) == ([1, 2, 3], ["no", "yes", "no"])
    assert read("memory://shop/rows/a.csv", target="y").X.ravel().tolist() == [1, 2]
    with pytest.raises(FileError, match="cannot read"):
        read("memory://shop/nowhere.csv", target="y")
    with pytest.raises(DataError, match="scheme that fsspec does not know"):
        read("nonsense://shop/rows.csv", target="y")


def test_folders_of_any_format_are_read(tmp_path):
    for k, text in enumerate(("+1 1:1\n", "-1 2:1\n+1 3:1\n")):
        (tmp_path / f"{k}.svm").write_text(text)
    (tmp_path / "README").write_text("nonsense")
    assert read(tmp_path).y.tolist() == [1, -1, 1]
    (tmp_path / "2.csv").write_text("1")
    with pytest.raises(DataError, match="has files of csv and libsvm"):
        locate(tmp_path)
    with pytest.raises(FileError, match="No such file"):
        locate(tmp_path / "nowhere")
    tabs = tmp_path / "tabs"
    tabs.mkdir()
    (tabs / "a.tsv").write_text("x\ty\n1.5\ta\n2\tb\n")
    assert read(tabs, target="y").X.ravel().tolist() == [1.5, 2]
    assert read(tabs, target=-1).feature_names == ("x",)


def test_errors_in_a_folder_name_file_and_line(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n" * 5)
    (tmp_path / "b.svm").write_text("1 1:1\nspam\n")
    with pytest.raises(DataError, match=r"b\.svm, line 2, column 1"):
        read(tmp_path)


def test_formats_that_are_easily_confused():
    assert format_of_bytes(b"2020-01-01 10:30:00,5,a\n") == "csv"
    assert format_of_bytes(b"5 10:30:00,5,a\n") == "csv"
    assert format_of_bytes(b"1 1:2\n") == "libsvm"
    assert format_of_bytes(b"1 1:2 3:" + b"9" * 5) == "libsvm"


def test_a_fingerprint_sees_changes(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 1:1\n" * 100)
    before = Fingerprint.of(locate(path))
    assert Fingerprint.of(locate(path)).difference(before) is None
    path.write_text("1 1:1\n" * 99 + "1 1:2\n")
    assert "contents have changed" in Fingerprint.of(locate(path)).difference(before)
    path.write_text("1 1:1\n" * 99)
    assert "600 bytes, now 594" in Fingerprint.of(locate(path)).difference(before)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_what_is_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text("")
    assert Piece(str(tmp_path / "pipe")).is_pipe
    assert Piece("-").is_pipe
    assert not Piece(str(tmp_path / "file")).is_pipe
    assert not Piece(str(tmp_path / "absent")).is_pipe


def test_the_table_of_formats_fits_classes_options_and_documentation():
    options = {field.name for field in fields(ReadOptions)}
    for name, one in FORMATS.items():
        assert one.load().name == name
        assert set(one.settings) <= options
        for text in (f'"{name}"', *one.suffixes):
            assert text in read_chunks.__doc__
