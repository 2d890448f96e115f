"""Training is killed, stopped and interrupted, and goes on as if nothing had been."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rosenblatt.cli import app
from tests.waiting import wait_until

KILLS = {"quick": 2, "soak": 50}.get(os.environ.get("HYPOTHESIS_PROFILE", "test"), 4)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_killed_at_random_moments_it_ends_with_the_same_weights(tmp_path):
    driver = Path(__file__).with_name("kill_driver.py")
    seed = int(time.time())
    done = subprocess.run(
        [sys.executable, str(driver), str(tmp_path), str(KILLS), str(seed)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["killed"] == KILLS, found
    assert found["same"] == found["finished"] >= 1, (seed, found)


def told_to_end(number, command, saved):
    """(exit code, output, errors) of a command that gets a signal after a checkpoint."""
    before = set(os.listdir(saved)) if saved.exists() else {"lock"}
    process = subprocess.Popen(
        [sys.executable, "-m", "rosenblatt", *command],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_until(
        lambda: process.poll() is not None or (saved.exists() and set(os.listdir(saved)) - before)
    )
    process.send_signal(number)  # does nothing where the command has ended
    output, errors = process.communicate()
    return process.returncode, output, errors


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_told_to_end_the_command_saves_and_says_where(tmp_path, interruptible):
    file, saved = tmp_path / "rows.svm", tmp_path / "saved"
    numbers = [k * k % 97 for k in range(9973)]
    lines = [f"{1 if k % 7 < 3 else -1} {k % 50 + 1}:{k % 11}.5 99:{k % 13}\n" for k in numbers]
    file.write_text("".join(lines) * 25)
    keeping = [
        str(tmp_path / "m"),
        "--checkpoint",
        str(saved),
        "--checkpoint-every",
        "0.001",
        "--resume",
    ]
    # more passes where all of them were made before the signal came
    for passes in (50, 500, 5000):
        settings = ["fit", str(file), "--max-iter", str(passes), "--rule", "pa1", "--out"]
        ends = [
            told_to_end(number, [*settings, *keeping, "--quiet"], saved)
            for number in (signal.SIGINT, signal.SIGTERM)
        ]
        if all(code != 0 for code, _, _ in ends):
            break
        shutil.rmtree(saved)
        (tmp_path / "m").unlink()
    assert [code for code, _, _ in ends] == [130, 143], ends
    for _, output, errors in ends:
        assert output == ""
        assert f"stopped: saved in {saved / 'checkpoint.safetensors'}" in errors
        assert len(errors.splitlines()) == 1
    assert not (tmp_path / "m").exists()
    for command in ([*settings, str(tmp_path / "whole")], [*settings, *keeping]):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
    assert "rosenblatt: going on from" in done.stderr
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    again = CliRunner().invoke(app, [*settings, *keeping])
    assert (again.exit_code, again.stderr.count("had finished")) == (0, 1)
    other = CliRunner().invoke(app, [*settings, *keeping, "--eta0", "1", "--keep", "last"])
    assert other.exit_code == 2
    assert "keep was 'average', now 'last'" in other.stderr
