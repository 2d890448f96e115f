"""The path of a newcomer: fit, predict, explain, separable and verify, on every kind of input."""

import gzip
import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from rosenblatt.cli import app

CLICKS = "age,city,member,since,clicked\n" + "".join(
    f"{'' if k % 9 == 0 else 20 + k % 40},{('Rome', 'Bonn', '')[k % 3]},{('true', 'false')[k % 2]},"
    f"2024-0{1 + k % 9}-03,{'yes' if k % 3 == 0 else 'no'}\n"
    for k in range(300)
)


def run(*words, stdin=None, code=0):
    done = CliRunner().invoke(app, [str(word) for word in words], input=stdin)
    assert done.exit_code == code, done.output + done.stderr
    return done.stdout


def learned(tmp_path, source, *reading, stdin=None, errors=0):
    """Fit, predict and explain; what explain prints."""
    model, labels = tmp_path / "model.safetensors", tmp_path / "labels.txt"
    facts = json.loads(
        run("fit", source, *reading, "--out", model, "--max-iter", 5, "--json", stdin=stdin)
    )
    told = json.loads(
        run("predict", model, source, *reading, "--out", labels, "--json", stdin=stdin)
    )
    assert (
        told["rows"]
        == told["labelled_rows"]
        == facts["rows"]
        == len(labels.read_text().splitlines())
    )
    assert told["errors"] <= errors
    return run("explain", model)


def proven(tmp_path, source, *reading, stdin=None):
    """Decide and verify."""
    proof = tmp_path / "proof.json"
    said = run("separable", source, *reading, "--certificate", proof, stdin=stdin)
    assert said.startswith("separable with an offset")
    assert "verified" in run("verify", proof, source, *reading, stdin=stdin)


def numbers():
    X = np.random.default_rng(0).integers(-5, 6, (60, 3))
    return X, np.where(X @ [2, -3, 1] > 0, "up", "down")


def test_columns_of_every_kind_from_a_file_and_from_a_pipe(tmp_path):
    path = tmp_path / "clicks.csv"
    path.write_text(CLICKS)
    for source, stdin in ((path, None), ("-", gzip.compress(CLICKS.encode()))):
        reading = ("--target", "clicked", *(("--format", "csv") if stdin else ()))
        shown = learned(tmp_path, source, *reading, stdin=stdin)
        assert "city=Rome" in shown
        assert "age=missing" in shown
        run("separable", source, *reading, stdin=stdin, code=2)  # a proof is about numbers


def test_a_folder_of_parquet(tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    X, y = numbers()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=y)
    frame[:40].to_parquet(folder / "1.parquet")
    frame[40:].to_parquet(folder / "2.parquet")
    assert "a, b, c" in learned(tmp_path, folder, "--target", "kind", errors=3)
    proven(tmp_path, folder, "--target", "kind")


def refused(*args):
    done = CliRunner().invoke(app, [str(arg) for arg in args])
    assert done.exit_code == 2
    return done.stderr


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.mark.threads
def test_a_url(tmp_path):
    X, y = numbers()
    (tmp_path / "rows.csv").write_text(
        "a,b,c,kind\n"
        + "".join(f"{','.join(map(str, x))},{k}\n" for x, k in zip(X, y, strict=True))
    )
    handler = partial(Quiet, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}/rows.csv"
            assert "a, b, c" in learned(tmp_path, url, "--target", "kind", errors=3)
            proven(tmp_path, url, "--target", "kind")
            for command in (("explain",), ("predict",), ("verify",)):
                file = () if command == ("explain",) else (url,)
                assert "is a URL; models and certificates" in refused(*command, url, *file)
            nowhere = refused("fit", f"{url}x", "--format", "csv", "--target", "kind")
            assert "rows.csvx: there is no such file. Give a file" in nowhere
        finally:
            server.shutdown()
            thread.join()


def test_vw_text(tmp_path):
    X, y = numbers()
    (tmp_path / "rows.vw").write_text(
        "".join(
            f"{1 if k == 'up' else -1} |f "
            + " ".join(f"{n}:{v}" for n, v in zip("abc", x, strict=True))
            + "\n"
            for x, k in zip(X, y, strict=True)
        )
    )
    assert "f^a" in learned(tmp_path, tmp_path / "rows.vw", errors=3)
    proven(tmp_path, tmp_path / "rows.vw")
