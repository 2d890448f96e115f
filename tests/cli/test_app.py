"""The command line: exit codes, certificates in files, kind errors."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from rosenblatt.cli import app

run = CliRunner().invoke


@pytest.fixture
def iris_csv(tmp_path):
    X, species = load_iris(return_X_y=True)
    path = tmp_path / "iris.csv"
    names = "sepal_length,sepal_width,petal_length,petal_width,setosa"
    rows = np.c_[X, species == 0]
    np.savetxt(path, rows, delimiter=",", header=names, comments="", fmt="%.17g")
    return path


@pytest.fixture
def xor_csv(tmp_path):
    path = tmp_path / "xor.csv"
    path.write_text("0,0,a\n1,1,a\n0,1,b\n1,0,b\n")
    return path


def test_separable_and_verified(iris_csv, tmp_path):
    out = tmp_path / "c.json"
    found = run(app, ["separable", str(iris_csv), "--target", "setosa", "--certificate", str(out)])
    assert found.exit_code == 0
    assert "petal_length" in found.output
    check = ["verify", str(out), str(iris_csv), "--target", "setosa"]
    assert run(app, check).exit_code == 0
    out.write_text(out.read_text().replace('"n_rows": 150', '"n_rows": 151'))
    altered = run(app, check)
    assert altered.exit_code == 1
    assert "NOT verified" in altered.output


@pytest.mark.parametrize("line", [",3,z", "1,3,z,4"])
def test_a_malformed_line_gets_no_advice_that_the_command_lacks(tmp_path, line):
    path = tmp_path / "rows.csv"
    path.write_text(f"a,b,y\n1,2,x\n{line}\n4,5,x\n")
    done = run(app, ["separable", str(path), "--target", "y"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "line 3" in done.stderr
    assert "fix or remove the line" in done.stderr
    assert "skip" not in done.stderr


def test_not_separable_is_exit_code_1(xor_csv):
    found = run(app, ["separable", str(xor_csv), "--target", "-1", "--json"])
    assert found.exit_code == 1
    assert json.loads(found.output)["kind"] == "overlapping"
    through = run(app, ["separable", str(xor_csv), "--target", "2", "--no-fit-intercept"])
    assert "through the origin" in through.output


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        (None, "y", "cannot read"),
        ("a,y\n1,0\n2,1\n", "z", "no column 'z'"),
        ("1,0\n2,1\n", "7", "no column 7"),
        ("a,y\nx,0\nz,1\n", "y", "expected a number in column 'a', found 'x'"),
        ("a,y\n1,0\n2,0\n", "y", "two classes"),
        ("a,y\n1,0\n,1\n", "y", "found nothing"),
        ("", "y", "has no rows"),
    ],
)
def test_errors_are_exit_code_2_with_a_reason(tmp_path, text, target, message):
    path = tmp_path / "data.csv"
    if text is not None:
        path.write_text(text)
    found = run(app, ["separable", str(path), "--target", target])
    assert found.exit_code == 2
    assert message in found.output
    assert "Traceback" not in found.output


def test_the_certificate_knows_the_names_of_the_columns(iris_csv, tmp_path):
    out = tmp_path / "c.json"
    made = ["separable", str(iris_csv), "--target", "setosa", "--certificate", str(out)]
    assert run(app, made).exit_code == 0
    check = ["verify", str(out), str(iris_csv), "--target", "setosa", "--json"]
    found = run(app, check)
    assert found.exit_code == 0
    assert json.loads(found.output) == {
        "kind": "separable",
        "verified": True,
        "integrity": True,
        "truth": True,
        "problems": [],
        "unchecked": [],
    }
    iris_csv.write_text(iris_csv.read_text().replace("petal_width", "width", 1))
    renamed = run(app, check)
    assert renamed.exit_code == 1
    said = json.loads(renamed.output)
    assert (said["integrity"], said["truth"]) == (False, True)
    assert "is called width" in said["problems"][0]


@pytest.mark.parametrize("edit", ["number", "label", "row", "order"])
def test_altered_data_do_not_verify(xor_csv, tmp_path, edit):
    out = tmp_path / "c.json"
    run(app, ["separable", str(xor_csv), "--target", "2", "--certificate", str(out)])
    check = ["verify", str(out), str(xor_csv), "--target", "2"]
    assert run(app, check).exit_code == 0
    lines = xor_csv.read_text().splitlines()
    lines = {
        "number": ["1e-300,0,a", *lines[1:]],
        "label": ["0,0,b", *lines[1:]],
        "row": [*lines, "5,5,b"],
        "order": lines[::-1],
    }[edit]
    xor_csv.write_text("\n".join(lines) + "\n")
    found = run(app, check)
    assert found.exit_code == 1
    assert "NOT verified" in found.output


def test_any_change_of_the_certificate_is_not_verified(xor_csv, tmp_path):
    out = tmp_path / "c.json"
    run(app, ["separable", str(xor_csv), "--target", "2", "--certificate", str(out)])
    text = out.read_text()
    for old, new in [
        ("overlapping", "separable"),
        ('"1"', '"2"'),
        ("true", "false"),
        ("0,", "0.0,"),
        ("}", ', "more": 1}'),
        (text[60:64], ""),
    ]:
        assert old in text
        out.write_text(text.replace(old, new, 1))
        assert run(app, ["verify", str(out), str(xor_csv), "--target", "2"]).exit_code in (1, 2)


def test_more_than_two_classes_give_a_table(tmp_path):
    path = tmp_path / "three.csv"
    path.write_text("0,a\n1,a\n3,b\n5,b\n7,c\n9,c\n")
    found = run(app, ["separable", str(path), "--target", "1"])
    assert found.exit_code == 1  # b lies between the others
    assert "the rest" in found.output
    found = run(app, ["separable", str(path), "--target", "1", "--json"])
    assert json.loads(found.output)["pairs"][0] == ["a", "b", "separable"]
    refused = run(app, ["separable", str(path), "--target", "1", "--certificate", "never.json"])
    assert refused.exit_code == 2
    assert "two classes" in refused.output
    path.write_text("0,0,a\n0,1,a\n3,0,b\n4,0,b\n3,9,c\n3,8,c\n")
    assert run(app, ["separable", str(path), "--target", "2"]).exit_code == 0
    path.write_text("".join(f"{k},{k}\n" for k in range(40)))
    many = run(app, ["separable", str(path), "--target", "1"])
    assert many.exit_code == 2
    assert "40 different labels" in many.output


def test_no_verdict_in_time_is_exit_code_2(tmp_path):
    path = tmp_path / "noise.csv"
    rng = np.random.default_rng(0)
    np.savetxt(path, np.c_[rng.standard_normal((200, 5)), np.arange(200) % 2], delimiter=",")
    found = run(app, ["separable", str(path), "--target", "-1", "--max-seconds", "0"])
    assert found.exit_code == 2
    assert "within 0" in found.output
    assert (
        run(app, ["separable", str(path), "--target", "-1", "--max-seconds", "-1"]).exit_code == 2
    )


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("odd"), KeyboardInterrupt()])
def test_what_was_not_foreseen_is_no_answer(xor_csv, monkeypatch, error):
    def fails(*args, **kwargs):
        raise error

    monkeypatch.setattr("rosenblatt.prove.separability.separability", fails)
    found = run(app, ["separable", str(xor_csv), "--target", "2"])
    assert found.exit_code == (130 if isinstance(error, KeyboardInterrupt) else 2)
    assert "Traceback" not in found.output
    assert type(error).__name__ in found.output or "interrupted" in found.output


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("a,a,y\n1,2,0\n2,3,1\n", "y"),  # two columns of one name
        ("a,y\n1,0\n2,\n", "y"),  # a label is missing
        ("a,y\n1,0\n2,1,3\n", "y"),  # a row too long
        ("y\n1\n0\n", "y"),  # nothing but labels
        ("a,y\n", "y"),  # no rows
    ],
)
def test_files_that_cannot_be_right_are_exit_code_2(tmp_path, text, target):
    path = tmp_path / "data.csv"
    path.write_text(text)
    found = run(app, ["separable", str(path), "--target", target])
    assert found.exit_code == 2
    assert found.output.startswith("rosenblatt: ")


def test_a_certificate_that_cannot_be_written_or_read_is_exit_code_2(xor_csv, tmp_path):
    nowhere = str(tmp_path / "no" / "c.json")
    assert (
        run(app, ["separable", str(xor_csv), "--target", "2", "--certificate", nowhere]).exit_code
        == 2
    )
    assert run(app, ["verify", nowhere, str(xor_csv), "--target", "2"]).exit_code == 2


def test_what_is_no_certificate_is_exit_code_2(xor_csv, tmp_path):
    bad = tmp_path / "c.json"
    for content in (b"{}", b"\xff\xfe", b"[" * 100_000, b"1e999999999"):
        bad.write_bytes(content)
        found = run(app, ["verify", str(bad), str(xor_csv), "--target", "2"])
        assert found.exit_code == 2
