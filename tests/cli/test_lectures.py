"""`rosenblatt lectures` and `rosenblatt exercise`: lists, notebooks, answers, wrong use."""

import json
import re
import sys

import pytest
from typer.testing import CliRunner

from rosenblatt.cli import app
from rosenblatt.lectures.exercises import exercises
from rosenblatt.lectures.notebook import LECTURES


def run(*args, **settings):
    return CliRunner().invoke(app, [str(a) for a in args], **settings)


def test_the_list_has_the_title_and_a_summary_of_every_lecture():
    listed = run("lectures")
    assert listed.exit_code == 0
    titles = json.loads(run("lectures", "--json").stdout)
    assert list(titles) == list(LECTURES)
    for name, title in titles.items():
        assert f"{name:<10} {title}\n{'':<10} {LECTURES[name]}\n" in listed.stdout
    for author in ("Radivojac", "Chan", "SUTD", "CISC 271"):
        assert author in listed.stdout


@pytest.mark.parametrize("name", LECTURES)
def test_one_lecture_shows_its_headings_and_exercises(name):
    shown = run("lectures", name)
    facts = json.loads(run("lectures", name, "--json").stdout)
    assert shown.exit_code == 0
    assert facts["headings"]
    assert len(facts["exercises"]) >= 2
    for word in [facts["title"], *facts["headings"], *facts["exercises"]]:
        assert word in shown.stdout


def test_a_notebook_is_written(tmp_path):
    path = tmp_path / "online.ipynb"
    done = run("lectures", "online", "--out", path)
    assert done.exit_code == 0
    assert str(path) in done.stdout
    assert "pip install jupyterlab" in done.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["online.ipynb"]
    assert run("lectures", "online", "--out", "-").stdout.strip() == path.read_text().strip()


def test_an_older_file_is_replaced_only_with_force(tmp_path):
    path = tmp_path / "online.ipynb"
    path.write_text("my work")
    done = run("lectures", "online", "--out", path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "replace it with --force" in done.stderr
    assert path.read_text() == "my work"
    done = run("lectures", "online", "--out", path, "--force", "--json")
    assert json.loads(done.stdout) == {"notebook": str(path)}
    assert json.loads(path.read_text())["nbformat"] == 4


def test_no_help_gives_an_answer_away():
    answer = re.search(r'sutd-1 --answer "(.*)"', run("exercise", "--help").stdout)[1]
    assert not exercises()["sutd-1"].check(answer).correct


def test_bad_paths_are_refused_and_nothing_is_written(tmp_path):
    (tmp_path / "folder.ipynb").mkdir()
    for out, message in [
        (tmp_path / "page.html", "ends in .ipynb"),
        (tmp_path / "no" / "x.ipynb", "there is no folder"),
        (tmp_path / "folder.ipynb", "is a folder"),
    ]:
        done = run("lectures", "online", "--out", out)
        assert (done.exit_code, done.stdout) == (2, "")
        assert message in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["folder.ipynb"]


def test_a_lecture_has_to_be_named_and_known():
    done = run("lectures", "--out", "x.ipynb")
    assert (done.exit_code, "--out needs a lecture" in done.stderr) == (2, True)
    done = run("lectures", "chen")
    assert (done.exit_code, ", ".join(LECTURES) in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["lectures", "online", "--force"], "name it with --out"),
        (["lectures", "--force"], "name it with --out"),
        (["lectures", "online", "--out", "-", "--force"], "name it with --out"),
        (["lectures", "online", "--out", "-", "--json"], "Leave out --json"),
        (["exercise", "sutd-1", "--hint", "--answer", "1 2"], "give one"),
    ],
)
def test_options_that_would_be_ignored_are_refused(args, message):
    done = run(*args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr


def test_without_jupytext_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jupytext", None)
    done = run("lectures", "online", "--out", tmp_path / "x.ipynb")
    assert done.exit_code == 2
    assert "pip install 'rosenblatt[lectures]'" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_exercises_are_listed():
    listed = run("exercise").stdout
    assert all(f"{one.name} " in listed and one.title in listed for one in exercises().values())
    assert list(json.loads(run("exercise", "--json").stdout)) == list(exercises())


def test_an_exercise_in_a_pipe_is_shown_with_how_to_answer():
    shown = run("exercise", "sutd-1")
    assert shown.exit_code == 0
    assert "zero training error" in shown.stdout
    assert '--answer "..."' in shown.stdout
    facts = json.loads(run("exercise", "sutd-1", "--json", "--hint").stdout)
    assert facts["question"] == exercises()["sutd-1"].question
    assert facts["hint"] + "\n" == run("exercise", "sutd-1", "--hint").stdout


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        ("3, 0.1", 0, "Correct."),
        ("2 1.2", 1, "Not yet. Example 2"),
        ("-1 -1", 1, "Not yet. Example 1"),
        ("3", 2, "Expected 2 numbers, got 1."),
        ("__import__('os')", 2, "Cannot read '__import__'"),
    ],
)
def test_answers_give_exit_codes(answer, code, said):
    done = run("exercise", "sutd-1", "--answer", answer)
    assert done.exit_code == code
    assert done.stdout.startswith(said)
    facts = json.loads(run("exercise", "sutd-1", "--answer", answer, "--json").stdout)
    assert (facts["correct"], facts["readable"]) == (code == 0, code != 2)


def test_an_exercise_has_to_be_named_and_known():
    for args in (["--hint"], ["--answer", "1"]):
        done = run("exercise", *args)
        assert (done.exit_code, "which exercise?" in done.stderr) == (2, True)
    done = run("exercise", "sutd-4")
    assert (done.exit_code, "sutd-3" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("1 -0.8\nh\n\nx\n3 0.1\nnever\n", ["Not yet.", "Write down", "Cannot read", "Correct."]),
        ("q\n", []),
        ("", []),
        ("HINT\nquit\n", ["Write down"]),
    ],
)
def test_on_a_terminal_it_asks_until_an_answer_is_right(monkeypatch, typed, said):
    monkeypatch.setattr("rosenblatt.cli.lectures._on_terminal", lambda: True)
    done = run("exercise", "sutd-1", input=typed)
    assert done.exit_code == 0
    places = [done.stdout.find(words) for words in ["zero training error", *said]]
    assert places == sorted(places)
    assert min(places) >= 0
    assert "never" not in done.stdout
