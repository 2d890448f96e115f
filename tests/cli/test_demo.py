"""`rosenblatt demo`: a run, a proof, files that work, and commands that can be typed."""

import json
import re
import shlex
import sys

import nbformat
import pytest
from typer.testing import CliRunner

from rosenblatt.cli import app
from rosenblatt.cli.app import program


def run(*args, **settings):
    return CliRunner().invoke(app, [str(a) for a in args], **settings)


def test_it_shows_a_run_a_proof_and_files(tmp_path):
    done = run("demo", "--out", tmp_path / "demo")
    assert done.exit_code == 0, done.output
    updates = [int(k) for k in re.findall(r"update +(\d+) of 13", done.stdout)]
    assert updates == list(range(1, 14))
    assert "separable with an offset: a hyperplane has all 150 rows" in done.stdout
    assert "verified: unaltered, and true of these data" in done.stdout
    for name in ("film.html", "cisc271.ipynb"):
        assert str(tmp_path / "demo" / name) in done.stdout
    assert "<html" in (tmp_path / "demo" / "film.html").read_text()
    nbformat.validate(nbformat.read(tmp_path / "demo" / "cisc271.ipynb", as_version=4))


def test_the_commands_that_it_recommends_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("demo", "--out", "demo")
    advice = done.stdout.split("What to try next:")[1]
    commands = re.findall(rf"^  {re.escape(program())} (.*)$", advice, re.M)
    assert len(commands) >= 5
    for command in commands:
        tried = run(*shlex.split(command))
        assert tried.exit_code == 0, (command, tried.output)


def test_the_facts_as_json(tmp_path):
    facts = json.loads(run("demo", "--out", tmp_path, "--json").stdout)
    assert facts["stop_reason"] == "separated"
    assert facts["mistakes"] == sum(facts["mistakes_per_epoch"]) == 13
    assert facts["mistakes_per_epoch"][-1] == 0
    assert (facts["verdict"], facts["verified"]) == ("separable", True)
    assert facts["coef"] == pytest.approx([-2.6, 2.6])
    assert facts["intercept"] == 1
    for name in ("film", "notebook", "flowers", "proof"):
        assert facts[name].startswith(str(tmp_path))


def test_an_older_notebook_may_hold_work_and_stays(tmp_path):
    notebook = tmp_path / "cisc271.ipynb"
    notebook.write_text("my work")
    done = run("demo", "--out", tmp_path)
    assert done.exit_code == 0
    assert notebook.read_text() == "my work"
    assert "It existed before and was not changed." in done.stdout


def test_without_a_terminal_no_symbols_are_explained_and_jupyter_is(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.lectures.program", lambda: "env/bin/rosenblatt")
    (tmp_path / "cisc271.ipynb").write_text("{}")
    done = run("demo", "--out", tmp_path)
    assert not re.search(r"\(o\)|\(x\)|@|·", done.stdout)
    assert "env/bin/pip install jupyterlab" in done.stdout


def test_without_jupytext_the_rest_is_shown_and_the_package_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jupytext", None)
    done = run("demo", "--out", tmp_path)
    assert done.exit_code == 0
    assert "pip install 'rosenblatt[lectures]'" in done.stdout
    assert (tmp_path / "film.html").exists()
    assert json.loads(run("demo", "--out", tmp_path, "--json").stdout)["notebook"] is None


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "demo").write_text("mine")
    done = run("demo", "--out", tmp_path / "demo")
    assert (done.exit_code, "is a file" in done.stderr) == (2, True)
    assert (tmp_path / "demo").read_text() == "mine"


def test_on_a_terminal_the_boundary_moves(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.cli.demo.FRAME_SECONDS", 0)
    done = run("demo", "--out", tmp_path, env={"FORCE_COLOR": "1", "COLUMNS": "80", "LINES": "30"})
    assert done.exit_code == 0
    assert done.stdout.count("update 13 of 13") >= 1
    frames = re.split(r"update +\d+ of 13", done.stdout)
    assert len(frames) >= 14
    assert all("·" in frame for frame in frames[1:12])
    assert "@: the mistake" in frames[0]


def test_the_command_is_named_as_it_has_to_be_typed(tmp_path, monkeypatch):
    folder = tmp_path / "env" / "bin"
    folder.mkdir(parents=True)
    script = folder / "rosenblatt"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script)])
    assert program() == "env/bin/rosenblatt"
    monkeypatch.setenv("PATH", str(folder))
    assert program() == "rosenblatt"
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "__main__.py")])
    assert program().endswith(" -m rosenblatt.cli")
