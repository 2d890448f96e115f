"""A run that goes on from a checkpoint ends as one that was never interrupted, to the bit."""

import bz2
import errno
import gzip
import os
import shutil
import signal
import subprocess
import sys
import tracemalloc
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import _core
from rosenblatt.errors import CheckpointError, DataError, ParameterError
from rosenblatt.io.atomic import replace_file
from rosenblatt.io.libsvm import Libsvm
from rosenblatt.io.progress import Watcher
from rosenblatt.io.safetensors_file import read, write
from rosenblatt.stream import fit as fit_module
from rosenblatt.stream.checkpoint import Checkpoint, Interrupted, StopSignals
from rosenblatt.stream.checkpoint_folder import KEY, NEWEST, PREVIOUS, CheckpointFolder
from rosenblatt.stream.fit import fit_file

KINDS = (
    "svm", "svm.gz", "svm.bz2", "vw", "hashed.vw", "csv", "parquet", "raw.csv", "raw.parquet",
    "folder",
)  # fmt: skip


class Crash(Exception):
    """As if the process had ended."""


class Crashing(Watcher):
    """Crashes at the n-th chunk that is read."""

    def __init__(self, n):
        self.left, self.said = n, []

    def progress(self, now):
        self.left -= 1
        if self.left < 0:
            raise Crash

    def say(self, message):
        self.said.append(message)


def rows(seed, n=120, classes=2, d=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(2) * (rng.random((n, d)) < 0.6)
    X[: n // 2, d - 2 :] = 0  # features that are met late
    y = (X @ rng.normal(size=(d, classes)) + 0.3 * rng.normal(size=(n, classes))).argmax(axis=1)
    y[:classes] = np.arange(classes)
    return X, y


def written(folder, kind, X, y):
    """The rows as a file of that kind, and how to read it."""
    path = Path(folder) / f"rows.{kind}"
    plain = [[f"{j + 1}:{v}" for j, v in enumerate(x) if v] for x in X.tolist()]
    if kind.startswith("svm"):
        text = "".join(f"{k} {' '.join(r)}\n" for k, r in zip(y, plain, strict=True))
        opened = {"svm": open, "svm.gz": gzip.open, "svm.bz2": bz2.open}[kind]
        with opened(path, "wb") as file:
            file.write(text.encode())
        return path, {}
    if kind.endswith("vw"):
        weights = 1 + np.arange(len(y)) % 3
        parts = zip(y, weights, plain, strict=True)
        path.write_text("".join(f"{k} {w} |f {' '.join(r)}\n" for k, w, r in parts))
        return path, {"bits": 5} if kind.startswith("hashed") else {}
    names = [f"f{j}" for j in range(X.shape[1])]
    table = {**dict(zip(names, X.T, strict=True)), "kind": [f"c{k}" for k in y]}
    if kind.startswith("raw"):  # texts, met late
        table["f1"] = ["1"] * 20 + [f"t{v:.0f}" for v in X[20:, 1]]
        table["f2"] = [None if v == 0 else v for v in X[:, 2]]
    table = pa.table(table)
    if kind.endswith("parquet"):
        pq.write_table(table, path)
    elif kind == "folder":
        path.mkdir()
        for k in range(3):
            pc.write_csv(table[20 * k : 20 * k + 20 if k < 2 else None], path / f"part{k}.csv")
    else:
        pc.write_csv(table, path)
    return path, {"target": "kind"}


def counts(done):
    return [(t.mistakes.tolist(), t.updates.tolist()) for t in done.traces]


def outcome(done):
    model = done.model
    return (
        model.coef.tobytes(), model.intercept.tobytes(), model.coef.shape, model.classes.tolist(),
        model.feature_names, dict(model.reader), *counts(done),
        done.n_rows, done.progressive_error, done.stop_reasons, done.skipped, done.out.read_bytes(),
    )  # fmt: skip


@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 10**6),
    classes=st.sampled_from([2, 2, 3]),
    rule=st.sampled_from(["perceptron", "margin(tau=0.5)", "arow", "scw", "pa1", "alma"]),
    keep=st.sampled_from(["average", "last"]),
    passes=st.integers(1, 5),
    sizes=st.tuples(*[st.sampled_from([200, 700, 1 << 21])] * 3),
    crashes=st.lists(st.integers(0, 25), min_size=1, max_size=2),
    every=st.sampled_from([0, 0, 0.002]),
    late=st.booleans(),
    memory=st.sampled_from([0, 1 << 26]),
)
def test_a_run_that_crashed_ends_as_one_that_did_not(
    kind, seed, classes, rule, keep, passes, sizes, crashes, every, late, memory, tmp_path_factory
):
    folder = tmp_path_factory.mktemp("run")
    X, y = rows(seed, 60, classes)
    if late:  # one class at first
        X, y = X[order := np.argsort(y == 0, kind="stable")], y[order]
    path, reading = written(folder, kind, X, y)
    settings = {"max_iter": passes, "keep": keep, "rule": rule, **reading}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rosenblatt.io.block_cache.MEMORY_BYTES", memory)
        patch.setattr("os.fsync", lambda _: None)  # slow, and only an end of the machine would tell
        expected = outcome(fit_file(path, folder / "m", chunk_bytes=200, **settings))
        (folder / "m").unlink()
        settings |= {"checkpoint": folder / "saved", "checkpoint_every": every, "resume": True}
        for n, size in zip(crashes, sizes, strict=False):
            try:
                fit_file(path, folder / "m", watcher=Crashing(n), chunk_bytes=size, **settings)
            except Crash:
                continue
        done = fit_file(path, folder / "m", chunk_bytes=sizes[0], **settings)
    assert outcome(done) == expected
    left = sorted(os.listdir(folder / "saved"))
    assert len(left) == 2
    assert left[1] == "lock"
    shutil.rmtree(folder)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_resumes_after_any_block(kind, tmp_path):
    path, reading = written(tmp_path, kind, *rows(0, 60))
    reading["chunk_bytes"] = 400
    expected = outcome(fit_file(path, tmp_path / "m", **reading))
    reading |= {"checkpoint": tmp_path / "saved", "checkpoint_every": 0}
    n_crashes, ended = 0, False
    while not ended:
        (tmp_path / "m").unlink()
        with suppress(Crash):
            fit_file(path, tmp_path / "m", watcher=Crashing(n_crashes), **reading)
            ended = True
        done = fit_file(path, tmp_path / "m", resume=True, **reading)
        assert outcome(done) == expected
        shutil.rmtree(tmp_path / "saved")
        n_crashes += 1
    assert n_crashes > 1


def crashed(tmp_path, n=20, kind="svm", **settings):
    """A run of several passes that crashed in the n-th chunk; the settings it was begun with."""
    path, reading = written(tmp_path, kind, *rows(0))
    settings = {
        "max_iter": 3, "checkpoint": tmp_path / "saved", "checkpoint_every": 0, "chunk_bytes": 300,
        **reading, **settings,
    }  # fmt: skip
    with pytest.raises(Crash):
        fit_file(path, tmp_path / "m", watcher=Crashing(n), **settings)
    assert not (tmp_path / "m").exists()
    return path, settings


RESUMED = """
import sys
from rosenblatt.stream.fit import fit_file
path, out, saved, resume = sys.argv[1:]
class Stops:
    left = 12
    def begin(self, epoch): ...
    def say(self, message): ...
    def progress(self, now):
        self.left -= 1
        if not (self.left or resume):
            sys.exit(7)
fit_file(path, out, max_iter=3, chunk_bytes=300, rule="arow", checkpoint=saved, checkpoint_every=0,
         resume=bool(resume), watcher=Stops())
"""


def test_a_run_goes_on_with_another_instruction_set(tmp_path):
    path, _ = written(tmp_path, "svm", *rows(0, classes=3))
    expected = fit_file(path, tmp_path / "whole", max_iter=3, chunk_bytes=300, rule="arow")
    command = [sys.executable, "-c", RESUMED, path, tmp_path / "m", tmp_path / "saved"]
    first, last = _core.cpus()[0], _core.cpus()[-1]
    for cpu, resume, code in ((first, "", 7), (last, "yes", 0)):
        env = {**os.environ, "ROSENBLATT_CPU": cpu}
        assert subprocess.run([*command, resume], env=env).returncode == code
    assert (tmp_path / "m").read_bytes() == expected.out.read_bytes()


def test_what_is_said_and_what_stays(tmp_path):
    path, settings = crashed(tmp_path)
    names = sorted(os.listdir(tmp_path / "saved"))
    assert len(names) == 3  # two, and the lock
    expected = fit_file(path, tmp_path / "whole", max_iter=3, chunk_bytes=300)
    with pytest.raises(CheckpointError, match=r"did not finish \(epoch \d, .* rows done\)"):
        fit_file(path, tmp_path / "m", **settings)
    heard = Crashing(10**9)
    done = fit_file(path, tmp_path / "m", resume=True, watcher=heard, **settings)
    assert heard.said[0].startswith(f"going on from {tmp_path / 'saved' / names[1]}: epoch ")
    assert outcome(done) == outcome(expected)
    (tmp_path / "m").unlink()
    heard = Crashing(0)  # reads nothing
    done = fit_file(path, tmp_path / "m", resume=True, watcher=heard, **settings)
    assert "had finished: there is nothing left to learn" in heard.said[0]
    assert outcome(done) == outcome(expected)
    heard = Crashing(10**9)
    fit_file(path, tmp_path / "m", watcher=heard, **settings)  # from the start: it was finished
    assert heard.said == []
    shutil.rmtree(tmp_path / "saved")
    fit_file(path, tmp_path / "m", resume=True, watcher=heard, **settings)
    assert "starting from the beginning" in heard.said[0]


def test_another_run_is_told_apart(tmp_path):
    path, settings = crashed(tmp_path)
    names = set(os.listdir(tmp_path / "saved"))
    for other, why in (
        ({"max_iter": 4}, "max_iter was 3, now 4"),
        ({"eta0": 0.5, "keep": "last"}, "keep was 'average', now 'last'; eta0 was 1.0, now 0.5"),
        ({"rule": "arow(r=2)"}, "rule was"),
        ({"zero_based": True}, "zero_based was None, now True"),
        ({"on_error": "skip"}, "on_error was 'raise', now 'skip'"),
    ):
        with pytest.raises(CheckpointError, match=why):
            fit_file(path, tmp_path / "m", **{**settings, **other, "resume": True})
    before = path.read_text()
    path.write_text(before[:-1] + " 3:1\n")
    with pytest.raises(CheckpointError, match=r"is another file: it had .* bytes, now"):
        fit_file(path, tmp_path / "m", resume=True, **settings)
    path.write_text(before[:-2] + "9\n")
    with pytest.raises(CheckpointError, match="contents have changed"):
        fit_file(path, tmp_path / "m", resume=True, **settings)
    path.unlink()
    with pytest.raises(DataError, match="cannot read"):
        fit_file(path, tmp_path / "m", resume=True, **settings)
    assert set(os.listdir(tmp_path / "saved")) == names
    path.write_text(before)
    heard = Crashing(10**9)
    fit_file(path, tmp_path / "m", resume=True, watcher=heard, **settings)
    assert "another date than before" in heard.said[0]


def test_a_file_that_begins_otherwise_than_it_goes_on(tmp_path):
    path = tmp_path / "late.svm"
    path.write_text("1 1:2 2:1\n" * 20 + "2 1:1 2:2\n" * 20 + "1 0:3\n" + "2 1:1 2:-1\n3 3:1\n" * 9)
    settings = {"max_iter": 3, "chunk_bytes": 64}
    expected = fit_file(path, tmp_path / "m", **settings)
    assert expected.model.reader["zero_based"] is True
    settings |= {"checkpoint": tmp_path / "saved", "checkpoint_every": 0, "resume": True}
    for n in (3, 9, 12, 20, 25, 3, 3):
        with suppress(Crash):
            fit_file(path, tmp_path / "m", watcher=Crashing(n), **settings)
    assert outcome(fit_file(path, tmp_path / "m", **settings)) == outcome(expected)


def test_malformed_lines_are_counted_once(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 1:1\nwhat\n-1 2:1\n1 1:x\n" * 40)
    settings = {"max_iter": 2, "chunk_bytes": 64, "on_error": "skip"}
    expected = fit_file(path, tmp_path / "m", **settings)
    assert expected.skipped.count == 80
    settings |= {"checkpoint": tmp_path / "saved", "checkpoint_every": 0, "resume": True}
    for n in (4, 9, 20):
        with pytest.raises(Crash):
            fit_file(path, tmp_path / "m", watcher=Crashing(n), **settings)
    assert outcome(fit_file(path, tmp_path / "m", **settings)) == outcome(expected)


@pytest.mark.parametrize("at", [0, 1 << 10])
def test_a_full_disk_stops_the_run_and_the_last_good_one_stays(tmp_path, monkeypatch, at):
    path, settings = crashed(tmp_path)
    expected = fit_file(path, tmp_path / "whole", max_iter=3, chunk_bytes=300)
    names = set(os.listdir(tmp_path / "saved"))

    class Full:
        def __init__(self, file):
            self.file = file

        def write(self, _):
            self.file.write(b"x" * at)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    @contextmanager
    def full(path):
        with replace_file(path) as file:
            yield Full(file)

    with monkeypatch.context() as patch:
        patch.setattr("rosenblatt.io.safetensors_file.replace_file", full)
        with pytest.raises(CheckpointError, match=r"No space left.*checkpoint.safetensors is good"):
            fit_file(path, tmp_path / "m", resume=True, **settings)
        assert set(os.listdir(tmp_path / "saved")) == names
        shutil.rmtree(tmp_path / "other", ignore_errors=True)
        with pytest.raises(CheckpointError, match="no checkpoint is there"):
            fit_file(path, tmp_path / "m", **{**settings, "checkpoint": tmp_path / "other"})
    assert outcome(fit_file(path, tmp_path / "m", resume=True, **settings)) == outcome(expected)


class Removing(Crashing):
    """Removes a folder at the n-th chunk."""

    def __init__(self, n, folder):
        super().__init__(10**9)
        self.at, self.folder = n, folder

    def progress(self, now):
        self.at -= 1
        if self.at == 0:
            shutil.rmtree(self.folder)


def test_a_folder_that_vanishes_is_an_error(tmp_path):
    path, settings = crashed(tmp_path)
    heard = Removing(16, tmp_path / "saved")
    with pytest.raises(CheckpointError, match=r"cannot write.*no checkpoint is there"):
        fit_file(path, tmp_path / "m", resume=True, watcher=heard, **settings)
    assert not (tmp_path / "m").exists()


def test_a_small_file_system_that_fills_up(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a tmpfs is not allowed here")
    try:
        path, reading = written(tmp_path, "vw", *rows(0))
        settings = {
            "max_iter": 3,
            "chunk_bytes": 300,
            "checkpoint_every": 0,
            "checkpoint": disk / "saved",
        }
        settings |= {**reading, "bits": 8}  # 4 kB of weights and as much of sums
        with pytest.raises(Crash):
            fit_file(path, tmp_path / "m", watcher=Crashing(9), **settings)
        names = set(os.listdir(disk / "saved"))
        filler = disk / "filler"
        with suppress(OSError), open(filler, "wb", buffering=0) as file:
            while file.write(b"x" * 512):
                pass
        with pytest.raises(CheckpointError, match="No space left on device"):
            fit_file(path, tmp_path / "m", resume=True, **settings)
        assert set(os.listdir(disk / "saved")) == names
        filler.unlink()
        done = fit_file(path, tmp_path / "m", resume=True, **settings)
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    for name in ("checkpoint", "checkpoint_every"):
        settings.pop(name)
    assert outcome(done) == outcome(fit_file(path, tmp_path / "whole", **settings))


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two checkpoints of one run, as files."""
    folder = tmp_path_factory.mktemp("two")
    crashed(folder)
    return [p.read_bytes() for p in sorted((folder / "saved").glob("*.safetensors"))]


def content(checkpoint):
    return checkpoint.facts, {name: v.tobytes() for name, v in checkpoint.arrays.items()}


@given(data=st.data())
def test_damaged_checkpoints_are_never_believed(two, data, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / "damaged"
    folder.mkdir(exist_ok=True)
    older, newer = folder / PREVIOUS, folder / NEWEST
    wanted = []
    for path, held in zip((older, newer), two, strict=True):
        path.write_bytes(held)
        wanted.append(content(Checkpoint.unpacked(*unpacked(path))))
    flipped = bytearray(two[1])
    for _ in range(data.draw(st.integers(1, 3))):
        flipped[data.draw(st.integers(0, len(flipped) - 1))] ^= data.draw(st.integers(1, 255))
    cut = two[1][: data.draw(st.integers(0, len(two[1]) - 1))]
    if data.draw(st.booleans()):
        cut += b"\0" * (len(two[1]) - len(cut))  # as after a crash of some file systems
    for bad in (bytes(flipped), cut):
        newer.write_bytes(bad)
        said = []
        tracemalloc.start()
        with CheckpointFolder(folder, said.append) as files:
            found = files.newest(Checkpoint.unpacked)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2_000_000
        # what is not the older one is the newer one, where the harm was to a blank
        assert content(found) == wanted[0 if said else 1]
        assert not said or "damaged" in said[0]
        if said:
            older.write_bytes(bad)
            with (
                CheckpointFolder(folder) as files,
                pytest.raises(CheckpointError, match="no other"),
            ):
                files.newest(Checkpoint.unpacked)
            older.write_bytes(two[0])


def test_the_one_before_is_used_and_it_is_said(tmp_path):
    path, settings = crashed(tmp_path)
    expected = fit_file(path, tmp_path / "whole", max_iter=3, chunk_bytes=300)
    older, newer = sorted((tmp_path / "saved").glob("*.safetensors"))
    newer.write_bytes(newer.read_bytes()[:-100])
    heard = Crashing(10**9)
    done = fit_file(path, tmp_path / "m", resume=True, watcher=heard, **settings)
    assert f"{newer} is damaged" in heard.said[0]
    assert f"going on from {older}" in heard.said[1]
    assert outcome(done) == outcome(expected)


def unpacked(file):
    """The description and the arrays of a checkpoint."""
    found = read(file, KEY)
    return {"format": found.format, **found.facts}, found.arrays


def forged(file, change):
    """The same file with a true digest after a change of its description or arrays."""
    facts, arrays = change(*unpacked(file))
    write(file, KEY, facts.pop("format"), facts, arrays)


def sized(facts, arrays, name, values):
    """The same with another array of the run of its one machine, of a size that is noted."""
    sizes = {**facts["run"]["sizes"], name: [len(values)]}
    return {**facts, "run": {**facts["run"], "sizes": sizes}}, {**arrays, f"run.{name}": values}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda f, a: ({**f, "format": 9}, a), "of format 9"),
        (lambda f, a: ({**f, "position": 3}, a), "position is of another type"),
        (lambda f, a: ({**f, "position": {"row": 3}}, a), "does not hold together"),
        (lambda f, a: ({**f, "labels": 3}, a), "labels is of another type"),
        (lambda f, a: ({**f, "settings": []}, a), "settings is of another type"),
        (lambda f, a: ({k: v for k, v in f.items() if k != "run"}, a), "run is of another type"),
        (lambda f, a: (f, {**a, "u": a["u"][:, :2]}), "u is not float64 of shape"),
        (lambda f, a: (f, {**a, "w": a["w"].astype("f4")}), "w is not float64 of shape"),
        (lambda f, a: (f, {k: v for k, v in a.items() if k != "run.epochs"}), "run.epochs is not"),
        (lambda f, a: (f, {**a, "run.saved_w": a["run.saved_w"][:2]}), "run.saved_w is not"),
        (lambda f, a: sized(f, a, "saved_w", a["run.saved_w"][:2]), "saved_w has a size that"),
        (lambda f, a: sized(f, a, "saved_b", a["run.saved_b"][:0]), "saved_b is missing"),
        (lambda f, a: sized(f, a, "epochs", a["run.epochs"][:3]), "damaged"),
        (lambda f, a: sized(f, a, "order", np.arange(5)), "not between two blocks"),
        (lambda f, a: (f, {**a, "run.position": np.array([7])}), "not between two blocks"),
        (lambda f, a: ({**f, "run": {**f["run"], "n_features": 10**15}}, a), "is not float64"),
        (lambda f, a: ({**f, "run": {**f["run"], "reasons": []}}, a), "has 0 hyperplanes"),
        (lambda f, a: ({**f, "run": {**f["run"], "reasons": ["x"]}}, a), "not a valid"),
        (lambda f, a: ({**f, "run": {}}, a), "damaged"),
        (lambda f, a: ({**f, "epoch_seconds": []}, a), "epochs"),
        (lambda f, a: ({**f, "source": {}}, a), "damaged"),
    ],
)
def test_what_was_tampered_with_is_refused(tmp_path, change, why):
    path, settings = crashed(tmp_path)
    for file in (tmp_path / "saved").glob("*.safetensors"):
        forged(file, change)
    with pytest.raises(CheckpointError, match=why):
        fit_file(path, tmp_path / "m", resume=True, **settings)


def test_other_files_are_refused(tmp_path):
    path, settings = crashed(tmp_path)
    older, newer = sorted((tmp_path / "saved").glob("*.safetensors"))
    fit_file(path, newer)  # a model
    older.write_text("[1, 2]")
    with pytest.raises(CheckpointError, match=r"of another program.*no other"):
        fit_file(path, tmp_path / "m", resume=True, **settings)


def test_the_folder_is_used_by_one_and_what_was_begun_is_cleared_away(tmp_path):
    pytest.importorskip("fcntl")
    begun = tmp_path / ".checkpoint.begun.safetensors.0123abcd"
    begun.write_text("half")
    with CheckpointFolder(tmp_path):
        assert not begun.exists()
        with (
            pytest.raises(CheckpointError, match="another run uses it"),
            CheckpointFolder(tmp_path),
        ):
            pass
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="cannot keep checkpoints"):
        CheckpointFolder(tmp_path / "file").__enter__()


@pytest.mark.parametrize("every", ["30s", "", -1, float("nan"), float("inf"), None, True])
def test_how_often_must_be_a_number_of_seconds(every, tmp_path):
    path, _ = written(tmp_path, "svm", *rows(0))
    if every is None:  # as often as is usual
        fit_file(path, tmp_path / "m", checkpoint=tmp_path / "x", checkpoint_every=every)
        return
    with pytest.raises(
        ParameterError, match="checkpoint_every must be a number of seconds >= 0, got"
    ):
        fit_file(path, tmp_path / "m", checkpoint=tmp_path / "x", checkpoint_every=every)


def test_what_needs_a_folder_or_a_file(tmp_path):
    path, _ = written(tmp_path, "svm", *rows(0))
    with pytest.raises(ParameterError, match="resume needs checkpoint"):
        fit_file(path, tmp_path / "m", resume=True)
    with pytest.raises(ParameterError, match="checkpoint_every needs checkpoint"):
        fit_file(path, tmp_path / "m", checkpoint_every=3)
    pipe = tmp_path / "pipe.svm"
    os.mkfifo(pipe)
    with pytest.raises(ParameterError, match="can be read again from any place"):
        fit_file(pipe, tmp_path / "m", format="libsvm", checkpoint=tmp_path / "c")


class Signalled(Crashing):
    """Is told to end at the n-th chunk, `times` times."""

    def __init__(self, n, number=signal.SIGINT, times=1):
        super().__init__(10**9)
        self.at, self.number, self.times = n, number, times

    def progress(self, now):
        self.at -= 1
        if self.at == 0:
            for _ in range(self.times):
                signal.raise_signal(self.number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_told_to_end_it_saves_and_says_where(tmp_path, number, interruptible):
    path, reading = written(tmp_path, "svm", *rows(0))
    settings = {"max_iter": 3, "chunk_bytes": 300, "checkpoint": tmp_path / "saved", **reading}
    settings["checkpoint_every"] = 86400.0  # only when told
    before = signal.getsignal(number)
    with pytest.raises(
        Interrupted, match=r"saved in .*checkpoint.safetensors.*epoch 2, \d+ rows done"
    ) as told:
        fit_file(path, tmp_path / "m", watcher=Signalled(20, number), **settings)
    assert told.value.signal == number
    assert signal.getsignal(number) == before
    done = fit_file(path, tmp_path / "m", resume=True, **settings)
    assert outcome(done) == outcome(fit_file(path, tmp_path / "w", max_iter=3, chunk_bytes=300))


def test_told_twice_or_with_nothing_to_save_it_ends_at_once(tmp_path, interruptible):
    path, _ = written(tmp_path, "svm", *rows(0))
    settings = {
        "max_iter": 3,
        "chunk_bytes": 300,
        "checkpoint": tmp_path / "saved",
        "checkpoint_every": 86400.0,
    }
    for watcher in (Signalled(9, times=2), Signalled(1)):
        with pytest.raises(KeyboardInterrupt) as told:
            fit_file(path, tmp_path / "m", watcher=watcher, **settings)
        assert not isinstance(told.value, Interrupted)
        assert os.listdir(tmp_path / "saved") == ["lock"]
    with pytest.raises(KeyboardInterrupt):  # as ever, without checkpoints
        fit_file(path, tmp_path / "m", watcher=Signalled(9), max_iter=3, chunk_bytes=300)


def test_a_signal_that_comes_when_all_is_done_is_not_lost(tmp_path, monkeypatch, interruptible):
    path, _ = written(tmp_path, "svm", *rows(0))

    def late(model, out):
        saved(model, out)
        signal.raise_signal(signal.SIGINT)

    saved = fit_module.save_model
    monkeypatch.setattr(fit_module, "save_model", late)
    with pytest.raises(Interrupted, match="the model is written"):
        fit_file(path, tmp_path / "m", checkpoint=tmp_path / "saved")
    assert (tmp_path / "m").exists()


def test_signals_that_are_ignored_stay_so(interruptible):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with StopSignals() as signals:
        signals.can_wait = True
        signal.raise_signal(signal.SIGINT)
        assert signals.received is None
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def test_bytes_before_the_mark_are_leapt_over(tmp_path, monkeypatch):
    """Of plain text only what is left is read."""
    path, settings = crashed(tmp_path, n=9, max_iter=1)
    seen = []
    parse = Libsvm.parse

    def counted(self, block):
        seen.append(block.offset)
        return parse(self, block)

    monkeypatch.setattr(Libsvm, "parse", counted)
    fit_file(path, tmp_path / "m", resume=True, **settings)
    assert min(seen) > 7 * 250
    assert max(seen) == path.stat().st_size
