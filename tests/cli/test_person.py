"""The command line as a person drives it: at a terminal, in pipes, with Ctrl-C."""

import codecs
import json
import os
import re
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="terminals and pipes of POSIX")

COMMAND = [sys.executable, "-m", "rosenblatt"]
# a session of its own whose terminal is standard error, so that Ctrl-C typed there is a signal
AT_TERMINAL = (
    "import fcntl, termios; fcntl.ioctl(2, termios.TIOCSCTTY, 0)\n"
    "from rosenblatt.cli import app; app()"
)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Two clouds that overlap: no number of passes ends by itself."""
    path = tmp_path_factory.mktemp("rows") / "rows.svm"
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 3)).round(3)
    y = np.where(X[:, 0] + rng.standard_normal(20_000) > 0, 1, -1)
    lines = (f"{k:+d} 1:{a} 2:{b} 3:{c}\n" for k, (a, b, c) in zip(y, X, strict=True))
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="module")
def model(rows):
    """Made in a pipe: no bar, no remark, no colours."""
    out = rows.parent / "m"
    done = subprocess.run([*COMMAND, "fit", rows, "--out", out], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "progressive error" in done.stdout
    assert "\x1b" not in done.stdout
    return out


class Terminal:
    """A program whose input, output and errors are a terminal."""

    def __init__(self, *args, stdout=None):
        self.master, slave = os.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", AT_TERMINAL, *map(str, args)],
            stdin=slave, stdout=stdout or slave, stderr=slave, start_new_session=True,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
        )  # fmt: skip
        os.close(slave)
        # a read may end within a character
        self.seen, self.decoder = "", codecs.getincrementaldecoder("utf-8")()

    def until(self, pattern, seconds=600):
        """Read until this is seen; None: until the end."""
        end = time.monotonic() + seconds
        while pattern is None or not re.search(pattern, self.seen):
            assert time.monotonic() < end, self.seen[-2000:]
            if not select.select([self.master], [], [], 1)[0]:
                continue
            try:
                more = os.read(self.master, 1 << 16)
            except OSError:  # on Linux the end of a terminal is an error
                more = b""
            if not more:
                assert pattern is None, self.seen[-2000:]
                break
            self.seen += self.decoder.decode(more)
        return self.seen

    def type(self, keys):
        os.write(self.master, keys)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def test_a_bar_on_a_terminal_and_ctrl_c_ends_it(rows, tmp_path, interruptible):
    with Terminal("fit", rows, "--out", tmp_path / "m", "--max-iter", 10**8) as terminal:
        terminal.until(r"epoch [1-9]\d*.*rows/s")
        terminal.type(b"\x03")
        shown = terminal.until(None)
        assert terminal.process.wait() == 130
    assert shown.count("rosenblatt: interrupted") == 1
    assert "Traceback" not in shown
    assert "Aborted" not in shown
    assert os.listdir(tmp_path) == []


def test_a_terminal_sees_that_work_goes_on_and_the_result_goes_elsewhere(tmp_path):
    rows, out = tmp_path / "rows.csv", tmp_path / "out.json"
    rows.write_text("0,a\n1,a\n3,b\n5,b\n7,c\n9,c\n")
    with open(out, "wb") as file:
        args = ("separable", rows, "--target", -1, "--json")
        with Terminal(*args, stdout=file) as terminal:
            shown = terminal.until(None)
            assert terminal.process.wait() == 1
    assert "deciding ..." in shown
    assert "pairs" not in shown
    assert json.loads(out.read_text())["pairs"][0] == ["a", "b", "separable"]


def test_a_model_goes_through_a_pipe_and_labels_come_out(rows, tmp_path):
    with (
        open(rows, "rb") as source,
        subprocess.Popen(
            [*COMMAND, "fit", "-", "--format", "libsvm", "--out", "-", "--json"],
            stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as first,
    ):  # fmt: skip
        second = subprocess.run(
            [*COMMAND, "predict", "-", rows, "--out", "-"], stdin=first.stdout, capture_output=True
        )
        assert b'"rows": 20000' in first.stderr.read()
    assert (first.returncode, second.returncode) == (0, 0)
    labels = second.stdout.split()
    assert len(labels) == 20_000
    assert set(labels) == {b"1", b"-1"}
    assert b"of 20,000 labelled rows" in second.stderr


def test_ctrl_c_while_rows_are_awaited_that_do_not_come(rows, tmp_path, interruptible):
    """The other end of the pipe is open and silent: nobody waits for it."""
    process = subprocess.Popen(
        [*COMMAND, "fit", "-", "--out", tmp_path / "m", "--max-iter", "3"],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    text = rows.read_text()
    for _ in range(8):  # more than a chunk: when it is written, the process is at work
        process.stdin.write(text)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=600) == 130
    assert process.stderr.read() == "rosenblatt: interrupted\n"
    process.stdin.close()
    process.stderr.close()
    assert os.listdir(tmp_path) == []


def test_silence_in_a_pipe_and_who_has_seen_enough_may_go(rows, model):
    process = subprocess.Popen(
        [*COMMAND, "predict", model, rows, "--out", "-", "--scores"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout.readline() == b"label\tscore\n"
    process.stdout.close()
    assert process.wait() == 141
    assert process.stderr.read() == b""
    process.stderr.close()


def test_help_imports_little():
    code = (
        "import sys\nfrom rosenblatt.cli import app\n"
        "try: app(['fit', '--help'])\nexcept SystemExit as e: assert not e.code\n"
        "print(sorted({m.split('.')[0] for m in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--checkpoint" in done.stdout
    loaded = set(re.findall(r"'(\w+)'", done.stdout.splitlines()[-1]))
    assert loaded.isdisjoint({"numpy", "scipy", "sklearn", "pyarrow", "pydantic"})
