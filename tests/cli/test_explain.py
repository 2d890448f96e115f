"""rosenblatt explain MODEL: what is inside, for people and for programs."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rosenblatt import LinearModel, fit_file, save_model
from rosenblatt.cli import app

NAMES = ("repair", "reviews", "purchase", "clicked")


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "ad.safetensors"
    save_model(
        LinearModel(
            np.array([[2.0, 8, -15, 5]]), np.array([-9.0]), np.array(["no", "yes"]),
            NAMES, {"keep": "average"}, {"format": "csv"},
            training={"rows": 5, "epochs": 2},
            columns={"kinds": [[name, "number"] for name in NAMES], "fill": {}},
        ),
        path,
    )  # fmt: skip
    return path


def run(*args):
    return CliRunner().invoke(app, ["explain", *map(str, args)])


def test_a_person_sees_what_is_inside(model):
    done = run(model)
    assert done.exit_code == 0, done.output
    for words in (
        "classes        no, yes",
        "features       4: repair, reviews, purchase, clicked",
        "preprocessing  4 columns to 4 features, see below",
        "repair    number  1",
        "options        keep=average",
        "training       epochs=2, rows=5",
        "made by        rosenblatt ",
        "format 1",
        "yes against no: offset -9",
        "purchase     -15",
    ):
        assert words in done.output
    largest = run(model, "--top", "2").output.split("yes against no")[1].split("\n\n")[0]
    assert "reviews" in largest
    assert "clicked" not in largest


def test_a_program_gets_json(model):
    facts = json.loads(run(model, "--json").output)
    assert facts["classes"] == ["no", "yes"]
    assert len(facts["digest"]) == 64
    assert facts["largest_weights"][0]["weights"][0] == {
        "feature": "purchase",
        "weight": -15,
        "deviation": None,
    }
    assert facts["columns"]["kinds"][0] == ["repair", "number"]


def test_columns_of_libsvm_text_are_told_from_its_indices(tmp_path):
    for indices, words in (
        ("1 2", "2, unnamed; x0 is index 1 of the file\n"),
        ("0 1", "2, unnamed\n"),
    ):
        a, b = indices.split()
        (tmp_path / "rows.svm").write_text(f"1 {a}:1\n-1 {b}:1\n")
        fit_file(tmp_path / "rows.svm", tmp_path / "model")
        assert f"features       {words}" in run(tmp_path / "model").output


def test_json_has_no_infinite_numbers():
    kept = Path(__file__).parents[1] / "model" / "files" / "model_v1_float32.safetensors"
    facts = json.loads(run(kept, "--json").output, parse_constant=pytest.fail)
    assert (facts["format"], facts["options"]) == (1, {"tol": "-inf"})


def test_a_damaged_file_is_one_line_and_exit_code_2(model, tmp_path):
    model.write_bytes(model.read_bytes()[:-1])
    for path in (model, tmp_path / "absent", tmp_path):
        done = run(path)
        assert done.exit_code == 2
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith("rosenblatt: ")


def test_what_a_stranger_wrote_cannot_move_the_cursor(tmp_path):
    nasty = "\x1b[2J\nyes"
    model = LinearModel(
        np.eye(1), np.zeros(1), np.array(["no", nasty]), (nasty,), {nasty: nasty}, made_by=nasty
    )
    save_model(model, tmp_path / "m")
    done = run(tmp_path / "m")
    assert done.exit_code == 0
    assert "\x1b" not in str(model.explain([1.0])) + str(model.explain_model())
    assert done.output.count("\\x1b[2J\\nyes") == 7
    assert json.loads(run(tmp_path / "m", "--json").output)["classes"] == ["no", nasty]
