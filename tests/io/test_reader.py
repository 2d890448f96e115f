"""Files in: LIBSVM and VW text, compressed or not, in chunks or whole."""

import bz2
import gzip
import random
import sys

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from rosenblatt.data.cone import as_cone
from rosenblatt.data.source import LabelIndex
from rosenblatt.errors import DataError, LimitError, ParameterError
from rosenblatt.io.file_source import open_source
from rosenblatt.io.formats import format_of_bytes
from rosenblatt.io.location import Piece
from rosenblatt.io.progress import Progress
from rosenblatt.io.reader import FileChunks, ReadOptions, read, read_chunks
from rosenblatt.io.text_format import Labels
from tests.io import slow_readers as slow
from tests.real_data import libsvm_file
from tests.test_imports import loaded_by


@pytest.fixture
def write(tmp_path):
    def write(content, name="data.svm"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def lines(n, seed=0, width=3000):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        index = np.unique(rng.integers(1, width, 20))
        entries = " ".join(
            f"{k}:{v!r}" for k, v in zip(index, rng.random(20).tolist(), strict=False)
        )
        yield f"{rng.choice([-1, 1])} {entries}\n"


def equal(A, B):
    same = A.shape == B.shape and (A.indptr == B.indptr).all() and (A.indices == B.indices).all()
    return same and (A.data.view(np.int64) == B.data.view(np.int64)).all()


@pytest.mark.parametrize(
    "name",
    [
        "a9a/a9a.svm.gz",
        "a9a/a9a.t.svm.gz",
        "w8a/w8a.svm.gz",
        "reuters/reuters.test.svm.bz2",
        "agaricus/agaricus.train.svm.gz",
        "agaricus/agaricus.test.svm.gz",
        "digits.svm",
        "digits.svm.gz",
        "breast cancer.svm.bz2",
    ],
)
def test_real_files_are_what_scikit_learn_reads(tmp_path, name):
    path = libsvm_file(name, tmp_path)
    X, y = load_svmlight_file(path)
    whole = read(path)
    assert equal(whole.X, X)
    assert (whole.y == y).all()
    assert whole.sample_weight is None
    chunks = list(read_chunks(path, chunk_bytes=100_000, n_features=X.shape[1]))
    assert len(chunks) > 1
    assert equal(sp.vstack([c.X for c in chunks], format="csr"), X)


@given(st.lists(st.lists(st.floats(-1e308, 1e308), min_size=3, max_size=3)), st.booleans())
def test_what_scikit_learn_writes(tmp_path_factory, rows, zero_based):
    X = sp.csr_matrix(np.array([[1.0, 0.0, 0.0], *rows]))
    path = tmp_path_factory.mktemp("written") / "data.svm"
    with np.errstate(all="ignore"):  # it adds the numbers up to see whether they are finite
        dump_svmlight_file(X, np.arange(X.shape[0]), str(path), zero_based=zero_based)
    want, y = load_svmlight_file(path)
    found = read(path)
    assert equal(found.X, want)
    assert (found.y == y).all()


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, "zstd"])
def test_chunks_do_not_depend_on_threads_or_compression(write, compress):
    text = "".join(lines(1500)).encode()
    halves = text[: len(text) // 2], text[len(text) // 2 :]
    if compress == "zstd":
        if sys.version_info < (3, 14):
            pytest.importorskip("backports.zstd")
        parts = [pa.compress(half, "zstd", asbytes=True) for half in halves]
    else:
        parts = [compress(half) for half in halves]  # two members, one after the other
    path = write(b"".join(parts), "odd name")
    rows, bad = slow.libsvm(text)
    assert not bad
    for threads in (1, 2, 5):
        chunks = list(read_chunks(path, chunk_bytes=10_000, threads=threads))
        assert len(chunks) > 20
        if threads == 1:
            first = chunks
        assert all(
            equal(a.X, b.X) and (a.y == b.y).all() for a, b in zip(first, chunks, strict=True)
        )
    assert [y for c in chunks for y in c.y] == [row[0] for row in rows]
    values = np.concatenate([c.X.data for c in chunks]).tolist()
    assert values == [v for row in rows for _, v in row[2]]


@given(st.integers(1, 60), st.integers(0, 2**32))
def test_chunks_of_any_size_make_the_same_table(tmp_path_factory, size, seed):
    rng = random.Random(seed)
    pieces = ["1 1:1", "-1 2:0.5 7:1e-3", "", "# note", "3", "0.5 9:1 # note", "1 1:1\r"]
    text = "\n".join(rng.choice(pieces) for _ in range(12)) + rng.choice(["", "\n"]) + "\n7 1:1"
    path = tmp_path_factory.mktemp("sizes") / "data.svm"
    path.write_text(text, newline="")
    rows, _ = slow.libsvm(text.encode())
    table = read(path, chunk_bytes=size)
    assert table.y.tolist() == [row[0] for row in rows]
    assert table.X.data.tolist() == [v for row in rows for _, v in row[2]]
    assert table.X.indices.tolist() == [k for row in rows for k, _ in row[2]]


def test_a_line_longer_than_a_chunk(write):
    path = write("1 " + " ".join(f"{k}:{k}" for k in range(1, 5000)) + "\n-1 1:1\n")
    table = read(path, chunk_bytes=64)
    assert table.X.shape == (2, 4999)
    assert table.X.sum() == 4999 * 5000 / 2 + 1


def test_a_file_without_line_ends_does_not_fill_the_memory(write):
    path = write(b"1 " * 50_000)
    with pytest.raises(LimitError, match=r"data.svm: .* the limit is 10,000. .*max_line_bytes"):
        read(path, chunk_bytes=1000, max_line_bytes=10_000)


@pytest.mark.parametrize("chunk_bytes", [1, 50, 99, 1000])
def test_the_longest_line_is_read(write, chunk_bytes):
    line = "1 " + " ".join(f"{k}:1" for k in range(10, 30))
    assert len(line) == 101
    settings = {"chunk_bytes": chunk_bytes}
    path = write(f"{line}\n" * 3)
    assert read(path, max_line_bytes=102, **settings).X.sum() == 60
    if chunk_bytes < 100:
        with pytest.raises(LimitError):
            read(path, max_line_bytes=100, **settings)


def test_the_base_of_the_indices(write):
    ones = "1 1:1\n" * 100
    path = write(ones + "1 0:5 1:1\n")
    assert read(path, chunk_bytes=100).X.shape == (101, 2)  # as scikit-learn: a 0 anywhere
    assert read(path, zero_based=True).X.shape == (101, 2)
    chunks = read_chunks(path, chunk_bytes=100)
    with pytest.raises(DataError, match=r"an index is 0 among rows 96 to 100; .*zero_based=True"):
        list(chunks)
    settled = read_chunks(path, chunk_bytes=100, zero_based=True, n_features=2)
    assert {X.shape[1] for X, _, _ in settled} == {2}
    with pytest.raises(DataError, match=r"line 101, column 3: expected indices from 1 .*'0:5'"):
        read(path, zero_based=False)
    path = write("1 0:5\n" + ones)
    assert all(X.shape[1] == 2 for X, _, _ in list(read_chunks(path, chunk_bytes=100))[1:])
    assert read(write(ones)).X.shape == (100, 1)
    assert read(write(ones), zero_based=True).X.shape == (100, 2)


def test_the_width_grows_unless_it_is_known(write):
    path = write("1 1:1\n" * 10 + "1 9:1\n" * 10)
    widths = [X.shape[1] for X, _, _ in read_chunks(path, chunk_bytes=20)]
    assert widths[0] == 1
    assert widths[-1] == 9
    assert {X.shape[1] for X, _, _ in read_chunks(path, n_features=12)} == {12}
    with pytest.raises(DataError, match=r"line 11, column 3: expected an index within n_features"):
        read(path, n_features=8)


def test_the_first_rows_and_whether_there_are_more(write):
    file = write("1 1:1\n2 2:1\n1 1:3\n")
    for most in (1, 2, 3, 4, None):
        table = read(file, max_rows=most)
        assert table.X.shape[0] == len(table.y) == min(most or 3, 3)
        assert table.has_more == (most is not None and most < 3)
    with pytest.raises(ParameterError, match="max_rows must be a whole number from 1"):
        read(file, max_rows=0)


def test_chunks_are_rows_for_the_proofs(write):
    path = write("".join(lines(300)))
    chunks = read_chunks(path, chunk_bytes=5000, n_features=3000)
    rows = as_cone(lambda: ((X, y) for X, y, _ in chunks))
    assert rows.n_rows == 300
    assert rows.classes.tolist() == [-1, 1]
    assert sum(rows.map(len)) == 300


@pytest.mark.parametrize(
    ("line", "column", "expected", "found"),
    [
        ("x 1:1", 1, "a label", "'x'"),
        ("1,2 1:1", 2, "a label", "',2'"),
        ("1 1", 4, "an index and a colon", "the end of the line"),
        ("1 a:1", 3, "an index and a colon", "'a:1'"),
        ("1 1:", 5, "a number after the colon", "the end of the line"),
        ("1 1:nan", 5, "a number after the colon", "'nan'"),
        ("1 1:1_0", 6, "a space after the value", "'_0'"),
        ("1 1:1e999", 5, "within the range of float64", "'1e999'"),
        ("1 2:1 2:1", 7, "indices that rise", "'2:1'"),
        ("1 2147483648:1", 3, "an index within", "'2147483648:1'"),
        ("1 99999999999999999999:1", 3, "an index within", "'99999999999999999999:1'"),
        ("1 -1:1", 3, "an index and a colon", "'-1:1'"),
        ("1 qid:x 1:1", 7, "a whole number after qid:", "'x'"),
        ("1 1:\xff", 5, "a number", "'ÿ'"),
    ],
)
def test_a_malformed_line_is_named(write, line, column, expected, found):
    path = write(f"1 1:1\n# note\n\n{line}\n-1 1:2")
    with pytest.raises(DataError) as e:
        read(path)
    assert f"data.svm, line 4, column {column}: expected " in str(e.value)
    assert expected in str(e.value)
    assert f"found {found}" in str(e.value)
    assert "on_error='skip'" in str(e.value)
    table = read(path, on_error="skip")
    assert table.y.tolist() == [1, -1]
    assert table.skipped.count == 1
    assert str(table.skipped).endswith(f"found {found}")


def test_skipped_lines_are_counted_and_the_first_ones_listed(write):
    path = write("1 1:1\nbad\n" * 500)
    chunks = read_chunks(path, on_error="skip", chunk_bytes=256)
    for _ in range(2):
        assert sum(X.shape[0] for X, _, _ in chunks) == 500
        assert chunks.skipped.count == 500
        assert [b.line for b in chunks.skipped.first] == list(range(2, 21, 2))
    with pytest.raises(DataError, match=r"has no rows: 2 malformed lines left out"):
        read(write("bad\nworse\n"), on_error="skip")


@pytest.mark.parametrize(
    ("content", "name"),
    [("", "data.svm"), ("\n\n", "data.svm"), ("# nothing\n", "data.svm"), (" \r\n", "data.vw")],
)
def test_an_empty_file_says_so(write, content, name):
    with pytest.raises(DataError, match="has no rows"):
        read(write(content, name))


def test_a_file_that_cannot_be_read_is_closed(write, monkeypatch):
    opened, open_piece = [], Piece.open
    monkeypatch.setattr(Piece, "open", lambda piece: opened.append(open_piece(piece)) or opened[-1])
    with pytest.raises(DataError, match="cannot read") as caught:  # and its frames are kept
        read(write(gzip.compress(b"1 1:1\n")[:12], "data.svm.gz"))
    assert [file.closed for file in opened] == [True], caught


def test_what_cannot_be_read(write, tmp_path):
    with pytest.raises(DataError, match="No such file"):
        read(tmp_path / "absent.svm")
    with pytest.raises(OSError, match="No such file"):
        read(tmp_path / "absent.svm")
    with pytest.raises(DataError, match=r"cannot tell the format of .*csv"):
        read(write("what is this\n", "data.txt"))
    packed = gzip.compress("".join(lines(200)).encode())
    with pytest.raises(DataError, match=r"cannot read .*ended before"):
        read(write(packed[:-20], "data.svm.gz"))
    with pytest.raises(DataError, match="cannot read"):
        read(write(packed[:100] + b"xxxxxxxx" + packed[108:], "data.svm.gz"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"format": "arff"}, "format must be one of"),
        ({"on_error": "ignore"}, "on_error must be"),
        ({"target": "y"}, "target is a setting of csv files"),
        ({"bits": 20}, "bits is a setting of vw files"),
        ({"zero_based": "maybe"}, "zero_based must be"),
        ({"n_features": 0}, "n_features must be"),
        ({"chunk_bytes": 0}, "chunk_bytes must be"),
        ({"threads": 0}, "threads must be"),
        ({"format": "vw", "bits": 31}, "bits must be"),
        ({"format": "vw", "hash": "md5"}, "hash must be"),
        ({"format": "csv"}, "target is missing"),
        ({"format": "csv", "target": 0, "delimiter": "ab"}, "delimiter must be"),
        ({"max_line_bytes": 0}, "max_line_bytes must be"),
    ],
)
def test_wrong_settings(write, settings, message):
    with pytest.raises(ParameterError, match=message):
        read_chunks(write("1 1:1\n"), **settings)


def test_formats_are_told_by_content():
    assert format_of_bytes(b"\xef\xbb\xbf# note\n\n1\n1 qid:3 4:1\n") == "libsvm"
    assert format_of_bytes(b"1 # a|b\n-1 4:1") == "libsvm"
    assert format_of_bytes(b"1 |f a:1 b\n") == "vw"
    assert format_of_bytes(b"| a:1 b\n") == "vw"
    assert format_of_bytes(b"a,b\n1,2\n") == "csv"
    assert format_of_bytes(b"PAR1....") == "parquet"
    assert format_of_bytes(b"") is None


def test_a_byte_order_mark_is_not_a_label(write):
    assert read(write(b"\xef\xbb\xbf1 1:1\n")).y.tolist() == [1]


def test_progress_ends_at_the_end(write):
    text = "".join(lines(500)).encode()
    for content, name in ((text, "data.svm"), (gzip.compress(text), "data.svm.gz")):
        path = write(content, name)
        seen = []
        total = sum(
            X.shape[0] for X, _, _ in read_chunks(path, chunk_bytes=9000, progress=seen.append)
        )
        assert len(seen) > 5
        assert all(isinstance(p, Progress) for p in seen)
        assert seen[-1].bytes_read == seen[-1].bytes_total == len(content)
        assert seen[-1].rows == total == 500
        assert seen[-1].seconds_left == 0
        assert [p.rows for p in seen] == sorted(p.rows for p in seen)
        assert "500 rows" in str(seen[-1])


def test_stopping_early_leaves_nothing_open(write):
    chunks = read_chunks(write("".join(lines(500))), chunk_bytes=2000)
    for X, _, _ in chunks:
        assert X.shape[0]
        break
    assert sum(X.shape[0] for X, _, _ in chunks) == 500


def test_reading_does_not_import_scikit_learn(write):
    path = write("1 1:1\n")
    loaded = loaded_by(f"from rosenblatt import read; read({str(path)!r})")
    assert loaded.isdisjoint({"sklearn", "pandas", "pyarrow", "matplotlib"})
    table = write("a,b\n1,2\n", "data.csv")
    loaded = loaded_by(f"from rosenblatt import read; read({str(table)!r}, target='b')")
    assert loaded.isdisjoint({"sklearn", "pandas"})


def test_chunks_are_read_anew(write):
    chunks = read_chunks(write("1 1:1\n-1 2:1\n"))
    assert isinstance(chunks, FileChunks)
    assert [len(y) for _, y, _ in chunks] == [len(y) for _, y, _ in chunks] == [2]


# Positions of vowpalwabbit 9.11.9: Workspace(f"--quiet -b {bits} --hash {how}").parse(line)
# .iter_features(), hashes modulo 2**bits, values of one position added up.
VW = [
    ("1 |f a b:2 c:abc 12", 18, "strings", {14355: 1, 146788: 2, 95857: 1, 34887: 1, 116060: 1}),
    ("1 |f a b:2 c:abc 12", 18, "all", {14355: 1, 146788: 2, 95857: 1, 65340: 1, 116060: 1}),
    ("| :0.5 :0.25 |g:2 a:3 7", 18, "strings", {0: 0.5, 1: 0.25, 157167: 6, 189469: 2, 116060: 1}),
    ("-1 0.5 tag| 1:2 3:4 abc", 18, "strings", {1: 2, 3: 4, 103418: 1, 116060: 1}),
    ("-1 0.5 tag| 1:2 3:4 abc", 18, "all", {175251: 2, 238004: 4, 103418: 1, 116060: 1}),
    ("|12 5 a", 18, "strings", {17: 1, 203536: 1, 116060: 1}),
    ("|12 5 a", 18, "all", {37164: 1, 183857: 1, 116060: 1}),
    ("|99999999999 a 5", 18, "strings", {121081: 1, 190468: 1, 116060: 1}),
    ("| é ü:2 a#b 1.5 -3 +4", 18, "strings",
     {67463: 1, 59050: 2, 200600: 1, 171281: 1, 190767: 1, 48559: 1, 116060: 1}),
    ("|a b |a c |a:2 b", 18, "strings", {144016: 3, 120964: 1, 116060: 1}),
    ("| f:a:b g :abc |x :abc", 18, "strings",
     {39248: 1, 189462: 1, 103418: 1, 73027: 1, 116060: 1}),
    ("| j:east k:-abc", 18, "strings", {125518: 1, 147596: 1, 116060: 1}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "bits", "how", "positions"), VW)
def test_positions_are_those_of_vowpal_wabbit(write, line, bits, how, positions):
    row = read(write(line, "data.vw"), bits=bits, hash=how).X
    rows, _ = slow.vw(line.encode(), bits, how)
    assert dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) == dict(rows[0][2])
    rows, _ = slow.vw(line.encode(), bits, how, constant=True)
    assert dict(rows[0][2]) == positions


def test_vw_labels_weights_and_tags(write):
    text = (
        "1 |f a\n-1 2.5 |f a\n2 0.5 9 |f a\n3 1 'tag |f a\n4 tag|f a\n|f a\n5|f a\n+1 0 'x|f a\r\n"
    )
    table = read(write(text, "data.vw"))
    np.testing.assert_array_equal(table.y, [1, -1, 2, 3, 4, np.nan, np.nan, 1])
    assert table.sample_weight.tolist() == [1, 2.5, 0.5, 1, 1, 1, 1, 0]
    assert table.X.toarray().tolist() == [[1]] * 8
    assert table.feature_names == ("f^a",)
    hashed = read(write(text, "data.vw"), bits=18).X
    assert (hashed.indices == 14355).all()
    assert hashed.shape == (8, 2**18)
    assert read(write("1 |f a\n-1 | b\n", "data.vw")).sample_weight is None


def test_vw_weights_of_one_chunk_among_many(write):
    text = "1 |f a\n" * 50 + "1 3 |f a\n" + "1 |f a\n" * 50
    weights = read(write(text, "data.vw"), chunk_bytes=64).sample_weight
    assert weights.tolist() == [1] * 50 + [3] + [1] * 50


@given(st.lists(st.integers(0, 12) | st.just(np.nan)))
def test_labels_are_places_in_order_of_appearance(labels):
    y = np.array(labels, float)
    found = Labels.of_numbers(y)
    np.testing.assert_array_equal(found.decoded(LabelIndex()), y)
    assert found.values.tolist() == list(dict.fromkeys(y[~np.isnan(y)].tolist()))


def test_features_of_vw_text_have_columns_by_name(write):
    path = write("1 |f a b:2 |a f 12\n-1 |f b b:3 c:red\n1 | a\n" * 9, "data.vw")
    whole = read(path)
    assert whole.feature_names == ("f^a", "f^b", "a^f", "a^12", "f^c:red", "a")
    assert whole.X.toarray()[:3].tolist() == [
        [1, 2, 1, 1, 0, 0], [0, 4, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]
    ]  # fmt: skip
    chunks = read_chunks(path, chunk_bytes=8, threads=1)
    parts = [chunk.X for chunk in chunks]
    assert (parts[0].shape[1], parts[-1].shape[1]) == (4, 6)
    assert chunks.feature_names == whole.feature_names
    for X in parts:
        X.resize(X.shape[0], 6)
    assert (sp.vstack(parts) != whole.X).nnz == 0
    with pytest.raises(ParameterError, match="needs bits"):
        read(path, hash="all")


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [
        ("1 2 3", 6, "a | after label"),
        ("1 2 3 4 |f a", 7, "at most three numbers"),
        ("x |f a", 1, "at most three numbers"),
        ("1 -2 |f a", 3, "weight that is not negative"),
        ("1\t|f a", 2, "no tab before"),
        ("1 |: a", 4, "the name of a namespace"),
        ("1 |f:x a", 6, "a number after the colon of a namespace"),
        ("1 |f a: b", 8, "a number or text after the colon"),
        ("1 |f a:3x", 9, "a number or text after the colon"),
        ("1 |f a:e5", 8, "a number or text after the colon"),
        ("1 |f a:red|g b", 11, "a number or text after the colon"),
        ("1 |f a\rb", 7, "a space or |"),
        ("1 |f a:1e400", 8, "within the range"),
        ("1 |f:1e300 a:1e300", 19, "within the range"),
    ],
)
def test_malformed_vw_lines(write, line, column, expected):
    path = write(f"1 |f a\n{line}\n", "data.vw")
    with pytest.raises(DataError) as e:
        read(path)
    assert f"data.vw, line 2, column {column}: expected" in str(e.value)
    assert expected in str(e.value)
    assert read(path, on_error="skip").skipped.count == 1


@pytest.mark.parametrize("name", ["rows.svm", "rows.csv", "rows.csv.gz"])
def test_nothing_is_left_after_the_last_row(tmp_path, name):
    text = "1 1:2\n-1 1:3\n" if name.endswith("svm") else "a,y\n2,1\n3,-1\n"
    data = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    options = ReadOptions(target=None if name.endswith("svm") else "y")
    *_, last = open_source(tmp_path / name, options).blocks()
    again = open_source(tmp_path / name, options)
    assert list(again.blocks(1, last.end)) == []
    assert again.n_rows == 2
