"""- in place of a file, help with examples, JSON everywhere, completion, bench."""

import json
import os
import re
import subprocess

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from rosenblatt.cli import app
from rosenblatt.model.model_file import load_model

SVM = "+1 1:2 2:1\n-1 2:1 3:1\n+1 1:3\n-1 3:2\n"
RAW = "city,age,y\nRome,3,no\nBonn,?,yes\nRome,5,no\nBonn,2,yes\n"
COMMANDS = typer.main.get_command(app).commands


def run(*args, **settings):
    return CliRunner().invoke(app, [str(a) for a in args], **settings)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (SVM, ["--max-iter", 5]),
        (SVM, ["--format", "libsvm"]),
        ("+1 1:2\n" * 5 + "-1 0:1\n", ["--max-iter", 2]),  # the first block has an index 0
        ("1 | a b\n-1 | c\n", ["--format", "vw", "--hash-bits", 5]),
        ("1,2,no\n3,4,yes\n", ["--target", -1]),
        (RAW, ["--target", "y", "--max-iter", 2]),
    ],
)
def test_standard_input_gives_the_model_of_the_file(tmp_path, text, options):
    path, one, other = tmp_path / "rows", tmp_path / "one", tmp_path / "other"
    path.write_text(text)
    assert run("fit", path, "--out", one, *options).exit_code == 0
    done = run("fit", "-", "--out", other, *options, input=text)
    assert done.exit_code == 0, done.output
    assert one.read_bytes() == other.read_bytes()
    told = run("predict", one, "-", "--json", input=text)
    assert told.exit_code == 0, told.output
    same = json.loads(run("predict", one, path, "--json").stdout)
    assert json.loads(told.stdout)["errors"] == same["errors"]


def test_a_pipe_of_any_length_is_read_once(tmp_path):
    numbers = "".join(f"{k % 7},{k % 3}.5,{'ab'[k % 2]}\n" for k in range(300_000))
    assert len(numbers) > 1 << 21  # more than a block
    fit = ("fit", "-", "--format", "csv", "--target", -1, "--out")
    once = run(*fit, tmp_path / "m", "--max-iter", 3, "--json", input=numbers)
    # the next passes read the cache of parsed rows
    assert once.exit_code == 0, once.stderr
    assert json.loads(once.stdout)["epochs"] > 1
    texts = "".join(f"{k % 7},{'xyz'[k % 3]},{'ab'[k % 2]}\n" for k in range(300_000))
    again = run(*fit, tmp_path / "n", "--json", input=texts)
    assert again.exit_code == 0, again.stderr
    assert json.loads(again.stdout)["rows"] == 300_000
    assert sorted(os.listdir(tmp_path)) == ["m", "n"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_named_pipe_is_read_as_what_the_shell_makes_of_a_command(tmp_path):
    pipe, rows, out = tmp_path / "pipe", tmp_path / "rows.svm", tmp_path / "m"
    rows.write_text(SVM)
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"gzip -c '{rows}' > '{pipe}'"]):
        done = run("fit", pipe, "--out", out, "--max-iter", 3)
    assert done.exit_code == 0, done.output
    run("fit", rows, "--out", tmp_path / "same", "--max-iter", 3)
    assert out.read_bytes() == (tmp_path / "same").read_bytes()


def test_labels_and_scores_on_standard_output(tmp_path):
    rows, model = tmp_path / "rows.svm", tmp_path / "m"
    rows.write_text(SVM)
    run("fit", rows, "--out", model, "--max-iter", 9)
    done = run("predict", model, "-", "--out", "-", "--scores", input=SVM)
    held = load_model(model)
    names, *lines = done.stdout.splitlines()
    assert names == "label\tscore"
    X = np.array([[2, 1, 0], [0, 1, 1], [3, 0, 0], [0, 0, 2]])
    assert [float(line.split("\t")[1]) for line in lines] == held.decision_function(X).tolist()
    assert [line.split("\t")[0] for line in lines] == ["1", "-1", "1", "-1"]
    assert "labelled rows" in done.stderr
    told = run("predict", model, rows, "--out", "-", "--json")
    assert told.stdout == "1\n-1\n1\n-1\n"
    assert json.loads(told.stderr)["labels"] == "-"


def test_one_score_a_class_beyond_two(tmp_path):
    rows, model, out = tmp_path / "rows.csv", tmp_path / "m", tmp_path / "scores.tsv"
    rows.write_text("0,0,a\n5,0,b\n0,5,c\n1,0,a\n6,1,b\n")
    run("fit", rows, "--target", -1, "--out", model, "--max-iter", 9)
    assert run("predict", model, rows, "--out", out, "--scores").exit_code == 0
    names, *lines = (line.split("\t") for line in out.read_text().splitlines())
    assert names == ["label", "score:a", "score:b", "score:c"]
    for label, *scores in lines:
        assert label == "abc"[int(np.argmax(list(map(float, scores))))]


def test_a_certificate_through_pipes(tmp_path):
    text = "0,0,a\n1,1,a\n5,6,b\n"
    rows = tmp_path / "rows.csv"
    rows.write_text(text)
    made = run("separable", "-", "--target", -1, "--certificate", "-", input=text)
    assert made.exit_code == 0
    assert "strictly on their own side" in made.stderr
    checked = run("verify", "-", rows, "--target", -1, input=made.stdout)
    assert checked.exit_code == 0, checked.output
    (tmp_path / "c.json").write_text(made.stdout)
    assert run("verify", tmp_path / "c.json", "-", "--target", -1, input=text).exit_code == 0


def test_a_model_from_standard_input_is_explained(tmp_path):
    rows, model = tmp_path / "rows.svm", tmp_path / "m"
    rows.write_text(SVM)
    run("fit", rows, "--out", model)
    facts = json.loads(run("explain", "-", "--json", input=model.read_bytes()).stdout)
    assert facts["file"] == "-"
    assert facts["features"] == 3


@pytest.mark.parametrize(
    ("args", "given", "message"),
    [
        (["fit", "-", "--out", "m", "--checkpoint", "saved"], SVM, "a checkpoint needs a file"),
        (["fit", "-", "--out", "m", "--target", "y"], "PAR1....", "Parquet"),
        (["fit", "-", "--out", "m"], "", "cannot tell the format"),
        (["fit", "-", "--out", "m", "--format", "libsvm"], "", "has no rows"),
        (["fit", "-", "--out", "m", "--target", "z"], "a,y\n1,0\n", "no column 'z'"),
        (["fit", "-", "--out", "m"], "1,2\n", "(--target)"),
        (["predict", "-", "-"], "", "at once"),
        (["predict", "-", "rows"], "no model", "not a model file"),
        (["verify", "-", "rows", "--target", "0"], "{", "not a certificate"),
    ],
)
def test_what_a_pipe_cannot_do_is_said_in_a_line(tmp_path, monkeypatch, args, given, message):
    monkeypatch.chdir(tmp_path)
    done = run(*args, input=given)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.startswith("rosenblatt: ")
    assert done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_every_command_is_there_with_examples_and_json():
    assert set(COMMANDS) == {
        "fit", "predict", "separable", "verify", "explain", "compare", "lectures", "exercise",
        "lab", "bench", "demo",
    }  # fmt: skip
    for name, command in COMMANDS.items():
        known = {option for p in command.params for option in (*p.opts, *p.secondary_opts)}
        assert "--json" in known
        shown = re.findall(rf"rosenblatt {name}\b.*?(?=\[/cyan\]| \| )", command.epilog)
        assert shown
        for example in shown:
            assert set(re.findall(r"--[\w-]+", example)) <= known, example
    for name in ("fit", "bench"):
        done = run(name, "--help")
        assert done.exit_code == 0
        assert f"$ rosenblatt {name} " in done.output
    assert "130" in run("--help").output


def test_the_shell_completes_commands_and_options():
    def completed(words):
        told = {
            "_ROSENBLATT_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(words),
            "COMP_CWORD": str(len(words) - 1),
        }
        return run(prog_name="rosenblatt", env=told).stdout.split()

    assert completed(["rosenblatt", "exp"]) == ["explain"]
    assert completed(["rosenblatt", "predict", "--sc"]) == ["--scores"]


def test_bench_measures():
    done = run("bench", "--rows", 1000, "--max-iter", 2, "--repeats", 1, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert [one["trainer"] for one in found] == ["rosenblatt", "scikit-learn"] * 2
    for one in found:
        assert one["rows_per_second"] == pytest.approx(2000 / one["seconds"])
