"""Files of a folder or a URL become shards; `rosenblatt fit` on a cluster."""

from __future__ import annotations

import asyncio
import gzip
import json
import multiprocessing
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("distributed", reason="the extra [dask] is not installed")

from rosenblatt import fit_file, load_model
from rosenblatt.cli import app
from rosenblatt.cli.cluster import local_cluster, undisturbed
from rosenblatt.cluster.files import fit_files
from rosenblatt.errors import ClusterError, DataError
from rosenblatt.io.progress import Watcher
from tests.cluster.local import trained
from tests.waiting import PATIENCE

RNG = np.random.default_rng(5)
X = RNG.integers(-3, 4, (90, 7)).astype(np.float64)
X[60:, 0] = 0  # the last file counts from 1, for all one can see
X[:60, 6] = 0  # and is the only one with the last feature
Y = np.where(X @ [1, 2, 0, -1, 0, 0, 1] + RNG.normal(size=90) > 0, 1, -1)


def libsvm(rows: Any, labels: Any) -> str:
    return "".join(
        f"{y} {' '.join(f'{j}:{v:g}' for j, v in enumerate(x) if v)}\n"
        for x, y in zip(rows, labels, strict=True)
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "rows"
    (place / "more").mkdir(parents=True)
    (place / "a.svm").write_text(libsvm(X[:30], Y[:30]))
    with gzip.open(place / "b.svm.gz", "wt") as file:
        file.write(libsvm(X[30:60], Y[30:60]))
    (place / "more" / "c.svm").write_text(libsvm(X[60:], Y[60:]))
    (place / "_SUCCESS").write_text("")
    (place / ".d.svm").write_text("nonsense")
    (place / "README").write_text("nonsense")
    return place


def test_what_one_file_cannot_know_is_settled_by_all(client: Any, folder: Path) -> None:
    done = fit_files(str(folder), folder / "model", client=client, max_iter=4, keep="last")
    here = trained(X, Y, {30, 60}, shuffle=False, tol=None, max_iter=4)
    assert np.array_equal(done.model.coef, here.kept()[0])
    assert (done.n_rows, done.n_epochs, done.model.n_features) == (90, 4, 7)
    assert done.model.options["shards"] == 3
    held = load_model(folder / "model")
    assert held.reader == {"format": "libsvm", "zero_based": True}
    assert held.training["epochs"] == 4


class Heard(Watcher):
    """A watcher that keeps the messages."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def say(self, message: str) -> None:
        self.messages.append(message)


def test_columns_of_any_kind(client: Any, tmp_path: Path) -> None:
    place = tmp_path / "rows"
    place.mkdir()
    colours = np.where(Y > 0, "red", "blue")
    for k in range(3):
        lines = [f"{c},{x[0]:g},{y}" for c, x, y in list(zip(colours, X, Y, strict=True))[k::3]]
        (place / f"{k}.csv").write_text("\n".join(["colour,size,answer", *lines]) + "\n")
    heard = Heard()
    done = fit_files(
        str(place), tmp_path / "m", client=client, max_iter=9, target="answer", watcher=heard
    )
    assert done.stop_reasons == ("separated",)
    assert heard.messages == ["90 rows in 3 shards on 2 workers"]
    names = {done.model.name(k) for k in range(done.model.n_features)}
    assert names == {"colour=blue", "colour=red", "size"}
    told = CliRunner().invoke(app, ["predict", str(tmp_path / "m"), str(place / "0.csv"), "--json"])
    assert json.loads(told.stdout)["error"] == 0.0
    assert done.model.deviations is not None
    raw = fit_files(str(place), tmp_path / "m", client=client, target="answer", scale=False)
    assert raw.model.deviations is None


NAMED = {
    "svm": ["1 3:1 5000000:2\n-1 1:1 7000001:1\n", "1 9000000:1\n-1 2:1 5000000:1\n"],
    "vw": ["1 |a x y:2 |b z\n-1 |a y\n |b z\n", "1 |b w x |a z\n-1 |a x |b z\n"],
}


@pytest.mark.parametrize("suffix", list(NAMED))
def test_features_of_all_files_have_the_columns_of_one_reading(
    client: Any, tmp_path: Path, suffix: str
) -> None:
    place = tmp_path / "rows"
    place.mkdir()
    for k, text in enumerate(NAMED[suffix]):
        (place / f"{k}.{suffix}").write_text(text)
    one = fit_file(place, tmp_path / "one", max_iter=2).model
    done = fit_files(str(place), tmp_path / "many", client=client, max_iter=2)
    many = done.model
    assert done.unlabelled == (suffix == "vw")
    assert (many.feature_names, many.namespaces) == (one.feature_names, one.namespaces)
    large = [[] if m.large_indices is None else m.large_indices.tolist() for m in (one, many)]
    assert large[0] == large[1]
    assert len(large[0]) == 3 * (suffix == "svm")
    assert many.coef.shape == one.coef.shape
    assert many.reader == one.reader
    (place / f"1.{suffix}").unlink()  # one shard is one machine
    one = fit_file(place, tmp_path / "one", max_iter=5, keep="last").model
    many = fit_files(str(place), tmp_path / "many", client=client, max_iter=5, keep="last").model
    assert np.array_equal(many.coef, one.coef)
    assert np.array_equal(many.intercept, one.intercept)


def test_features_and_means_are_those_of_all_files(client: Any, tmp_path: Path) -> None:
    """Names as one reading finds them, the deviations of all rows, and rows without a label."""
    place = tmp_path / "rows"
    place.mkdir()
    header = "town,size,when,kind"
    parts = [
        ["Rome,1,2020-01-31,yes", "Oslo,2,2020-02-01,no", "Rome,,2020-02-02,yes"],
        ["Bern,1e3,2021-01-05,yes", "Oslo,5,2021-01-06,", "Oslo,7,2021-02-06,maybe"],
        ["Rome,-3,2020-01-31,no", "Bern,4,,yes"],
    ]
    for k, lines in enumerate(parts):
        (place / f"{k}.csv").write_text("\n".join([header, *lines]) + "\n")
    settings: dict[str, Any] = {"max_iter": 3, "target": "kind", "kinds": {"when": "date"}}
    settings["on_error"] = "skip"
    one = fit_file(place, tmp_path / "one", **settings)
    many = fit_files(str(place), tmp_path / "many", client=client, **settings)
    assert many.model.classes.tolist() == ["maybe", "no", "yes"]
    assert many.model.feature_names == one.model.feature_names
    assert many.model.columns is not None
    assert one.model.columns is not None
    assert many.model.columns["kinds"] == one.model.columns["kinds"]
    assert (many.n_rows, many.skipped.count) == (one.n_rows, one.skipped.count) == (7, 1)
    assert many.table is not None
    assert one.table is not None
    assert many.table.counts == one.table.counts
    assert many.model.deviations is not None
    assert np.allclose(many.model.deviations, one.model.deviations)
    assert 0 < many.progressive_error <= 1
    assert load_model(tmp_path / "many").predict([{"town": "Rome", "size": 1.0}]).shape == (1,)


def test_the_command(
    client: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rosenblatt.cli.cluster.CONNECT", PATIENCE)
    address = client.scheduler.address
    asked = [
        "fit",
        str(folder),
        "--cluster",
        address,
        "--shuffle",
        "--random-state",
        "3",
        "--json",
        "--max-iter",
    ]
    whole = CliRunner().invoke(app, [*asked, "6", "--out", str(tmp_path / "whole")])
    assert whole.exit_code == 0, whole.output
    assert json.loads(whole.stdout)["epochs"] == 6
    saving = ["--checkpoint", str(tmp_path / "saved"), "--resume", "--out", str(tmp_path / "m")]
    for passes in ("2", "6"):
        done = CliRunner().invoke(app, [*asked, passes, *saving])
        assert done.exit_code == 0, done.output
    assert "going on from" in done.stderr
    assert "epoch 2, done\n" in done.stderr
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    shown = CliRunner().invoke(
        app, ["fit", str(folder), "--cluster", address, "--out", str(tmp_path / "m")]
    )
    assert "90 rows in 3 shards on 2 workers\n" in shown.stderr
    assert "1 (the limit on epochs was reached" in shown.stdout
    for more, words in (
        (["--checkpoint-every", "300"], "needs checkpoint"),
        (["--workers", "1"], "Give one"),
    ):
        bad = CliRunner().invoke(app, [*asked, "1", "--out", str(tmp_path / "m"), *more])
        assert bad.exit_code == 2
        assert words in bad.stderr


def test_what_can_be_refused_is_before_a_cluster_is_begun(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for place, more, words in (
        (folder, ["--rule", "scw"], "rule='scw'"),
        (folder, ["--keep", "vote"], "keep must be"),
        (folder, ["--resume"], "resume needs checkpoint"),
        (folder, ["--target", "y"], "setting of csv files"),
        (folder / "nowhere", [], "cannot read"),
        (tmp_path / "empty", [], "has no file"),
    ):
        asked = ["fit", str(place), "--cluster", "nobody", "--out", str(tmp_path / "m"), *more]
        done = CliRunner().invoke(app, asked)
        assert done.exit_code == 2
        assert words in done.stderr
        assert "scheduler" not in done.stderr


def answer(port: int, path: str) -> int | None:
    """The status of a web page, None if the port does not speak HTTP."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE) as page:
            return int(page.status)
    except urllib.error.HTTPError as e:
        return e.code
    except OSError:
        return None


@pytest.mark.threads
def test_processes_of_the_command_listen_to_nothing_else() -> None:
    psutil, distributed = pytest.importorskip("psutil"), pytest.importorskip("distributed")
    me = psutil.Process()
    others = set(me.children(recursive=True))  # of the cluster of other tests
    with local_cluster(1) as local:
        with distributed.Client(local, timeout=PATIENCE) as client:
            assert client.submit(sum, [1, 2]).result(PATIENCE) == 3
        ports = []
        for process in set(me.children(recursive=True)) - others:
            for socket in process.net_connections("tcp"):
                if socket.status == psutil.CONN_LISTEN:
                    assert socket.laddr.ip == "127.0.0.1"
                    ports.append(socket.laddr.port)
        scheduler = int(local.scheduler_address.rpartition(":")[2])
        assert local.scheduler_address == f"tls://127.0.0.1:{scheduler}"
        for port in (*ports, int(local.dashboard_link.split(":")[2].split("/")[0])):
            for path in ("/", "/status", "/info/main/workers.html", "/json/counts.json"):
                assert answer(port, path) in (404, None)
        with pytest.raises(OSError, match=r"TLS|handshake|[Tt]imed out|Connection"):
            distributed.Client(f"tcp://127.0.0.1:{scheduler}", timeout=2)
        other = distributed.Security.temporary()
        with pytest.raises(OSError, match=r"TLS|handshake|[Tt]imed out|Connection"):
            distributed.Client(local.scheduler_address, security=other, timeout=2)


def test_the_dashboard_is_for_workers_only(folder: Path, tmp_path: Path) -> None:
    asked = ["fit", str(folder), "--cluster", "tcp://x", "--dashboard", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 2
    assert "--dashboard is for --workers" in done.stderr


@pytest.mark.threads
@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="threads block no signals here")
def test_what_workers_are_started_by_does_not_hear_ctrl_c() -> None:
    """Else each of them would end by itself when it is typed, with a traceback."""
    code = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"

    async def heard() -> str:
        multiprocessing.get_context("spawn").Lock()
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout

    with undisturbed() as loop:
        done = asyncio.run_coroutine_threadsafe(heard(), loop.asyncio_loop)
        assert done.result(PATIENCE) == "True\n"
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_errors_name_the_file(client: Any, tmp_path: Path) -> None:
    (tmp_path / "a.svm").write_text("1 1:2\n-1 2:1\n")
    (tmp_path / "b.svm").write_text("1 1:2\nspam\n")
    with pytest.raises(DataError, match=r"b\.svm, line 2"):
        fit_files(str(tmp_path), tmp_path / "m", client=client)
    tables = tmp_path / "_tables"
    tables.mkdir()
    for name in "ab":
        (tables / f"{name}.csv").write_text(f"{name},y\n1,0\n2,1\n")
    with pytest.raises(DataError, match=r"a\.csv has a, and .*b\.csv has b\."):
        fit_files(str(tables), tmp_path / "m", client=client, target="y")
    (tmp_path / "b.svm").write_text("1 1:2\n")
    (tmp_path / "b.svm").chmod(0)
    try:
        (tmp_path / "b.svm").read_text()
    except OSError:
        with pytest.raises(ClusterError, match=r"b\.svm: PermissionError"):
            fit_files(str(tmp_path), tmp_path / "m", client=client)
