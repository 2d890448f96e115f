"""`rosenblatt lectures`: a list, a page, numbers, and what it says when asked for nonsense."""

import json

from typer.testing import CliRunner

from rosenblatt.cli import app
from rosenblatt.lectures import NAMES


def run(*args):
    return CliRunner().invoke(app, ["lectures", *map(str, args)])


def test_the_list_names_every_lecture():
    said = run()
    assert said.exit_code == 0
    assert [line.split()[0] for line in said.stdout.splitlines()] == list(NAMES)
    assert list(json.loads(run("--json").stdout)) == list(NAMES)


def test_a_lecture_is_written_and_printed(tmp_path):
    said = run("online", "--out", tmp_path)
    assert said.exit_code == 0
    assert "The Perceptron Algorithm" in said.stdout
    assert (tmp_path / "online.html").exists()


def test_the_numbers_as_json():
    said = json.loads(run("online", "--json").stdout)
    assert [s["heading"] for s in said["online"]] == ["Perceptrons", "The Perceptron Algorithm"]


def test_an_unknown_lecture_is_an_error_that_names_the_known_ones():
    said = run("chen")
    assert said.exit_code == 2
    assert ", ".join(NAMES) in said.stderr


def test_one_section_alone():
    said = json.loads(run("online", "--section", 2, "--json").stdout)
    assert [s["heading"] for s in said["online"]] == ["The Perceptron Algorithm"]
    said = run("online", "--section", 3)
    assert said.exit_code == 2
    assert "sections 1 to 2, got 3" in said.stderr
