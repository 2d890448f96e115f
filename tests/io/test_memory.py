"""Memory of reading, in processes whose address space is limited."""

import bz2
import gzip
import subprocess
import sys

import pytest

from tests.waiting import PATIENCE

resource = pytest.importorskip("resource", reason="there are no limits on memory here")

CODE = """
import resource, sys
from rosenblatt import read, read_chunks, fit_file
from rosenblatt.errors import DataError
{imports}
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = held + {extra} * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    {call}
    print("done")
except DataError as e:
    print(type(e).__name__, e)
"""


def run(call, extra, imports=""):
    """What a process says that may take so many more MiB."""
    code = CODE.format(call=call, extra=extra, imports=imports)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.mark.parametrize("name", ["rows.svm", "rows.vw", "rows.csv"])
def test_a_long_file_takes_the_memory_of_a_few_blocks(tmp_path, name):
    line = {"rows.svm": "1 1:0.5 7:2\n", "rows.vw": "1 |f a b:2\n", "rows.csv": "1.5,2,a\n"}[name]
    path = tmp_path / name
    path.write_text(line * (60 * 2**20 // len(line)))
    options = ", target=-1, header=False" if name == "rows.csv" else ""
    call = f"print(sum(len(y) for _, y, _ in read_chunks({str(path)!r}{options})))"
    assert run(call, 400).split() == [str(path.stat().st_size // len(line)), "done"]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
@pytest.mark.parametrize("format", ["libsvm", "vw", "csv"])
def test_a_small_file_of_one_endless_line_is_refused(tmp_path, compress, format):
    path = tmp_path / "bomb"
    path.write_bytes(compress((b"1 " if format == "libsvm" else b"1") * 2**22) * 64)
    assert path.stat().st_size < 2**20
    options = ", target=0, header=False" if format == "csv" else ""
    said = run(f"read({str(path)!r}, format={format!r}{options})", 450)
    assert said.startswith("LimitError")
    assert "max_line_bytes" in said


def test_an_open_quote_at_the_start_of_a_long_file(tmp_path):
    path = tmp_path / "quote.csv"
    path.write_text('x,y\n1,a\n"2,b\n' + "3,c\n" * (30 * 2**20 // 4))
    said = run(f"read({str(path)!r}, target='y')", 600)
    assert "line 3, column 1: expected a closing quote" in said


def test_an_index_that_claims_much_is_refused_or_takes_nothing(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1 2000000000:1\n-1 2:1\n")
    assert run(f"print(read({str(path)!r}).X.nnz)", 300).split() == ["3", "done"]
    fit = f"fit_file({str(path)!r}, {str(tmp_path / 'm')!r}, max_iter=2)"
    assert run(fit, 700, "import rosenblatt.stream.fit").split() == ["done"]


def test_long_labels_of_parquet_are_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "rows.parquet"
    rows = 100_000
    codes = pa.array([k % 2 for k in range(rows)], pa.int32())
    labels = pa.DictionaryArray.from_arrays(codes, pa.array(["a" * 40_000, "b"]))
    pq.write_table(pa.table({"x": [1.0] * rows, "y": labels}), path)
    said = run(f"read({str(path)!r}, target='y')", 1500, "import pyarrow.parquet, scipy.sparse")
    assert said.startswith("LimitError")
    assert "characters in a label" in said


def test_a_long_header_of_a_model_is_refused(tmp_path):
    path = tmp_path / "m"
    text = b'{"__metadata__":{"rosenblatt":"' + b"[]," * (33 * 2**20) + b'"}}'
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    said = run(f"load_model({str(path)!r})", 200, "from rosenblatt import load_model")
    assert said.startswith("DataError")
    assert "the limit is" in said


def test_a_long_label_of_csv_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    rows = "".join(f"{k},{k % 2}\n" for k in range(300_000))
    path.write_text(f"x,y\n{rows}1,{'a' * 40_000}\n")
    said = run(f"fit_file({str(path)!r}, {str(tmp_path / 'm')!r}, target='y')", 500)
    assert "expected a label of at most 1,000 bytes" in said
