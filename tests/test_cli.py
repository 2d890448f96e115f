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


def test_not_separable_is_exit_code_1(xor_csv):
    found = run(app, ["separable", str(xor_csv), "--target", "-1", "--json"])
    assert found.exit_code == 1
    assert json.loads(found.output)["verdict"] == "overlapping"
    through = run(app, ["separable", str(xor_csv), "--target", "2", "--no-offset"])
    assert "through the origin" in through.output


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        (None, "y", "cannot read"),
        ("a,y\n1,0\n2,1\n", "z", "no column 'z'"),
        ("1,0\n2,1\n", "7", "no column 7"),
        ("a,y\nx,0\nz,1\n", "y", "holds string"),
        ("a,y\n1,0\n2,0\n", "y", "two classes"),
        ("a,y\n1,0\n,1\n", "y", "NaN"),
        ("", "y", "cannot read"),
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


def test_what_is_no_certificate_is_exit_code_2(xor_csv, tmp_path):
    bad = tmp_path / "c.json"
    for content in (b"{}", b"\xff\xfe"):
        bad.write_bytes(content)
        found = run(app, ["verify", str(bad), str(xor_csv), "--target", "2"])
        assert found.exit_code == 2
