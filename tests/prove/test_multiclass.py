"""Verdicts for many classes."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from rosenblatt import read, separability_table
from rosenblatt.errors import LabelError, ParameterError


def test_iris():
    X, species = load_iris(return_X_y=True, as_frame=False)
    y = np.array(["setosa", "versicolor", "virginica"])[species]
    table = separability_table(X, y)
    assert table.pairs["setosa", "virginica"].verdict == "separable"
    assert table.pairs["versicolor", "virginica"].verdict == "overlapping"
    assert {k: c.verdict for k, c in table.versus_rest.items()} == {
        "setosa": "separable",
        "versicolor": "overlapping",
        "virginica": "overlapping",
    }
    both = np.isin(y, ["versicolor", "virginica"])
    assert table.pairs["versicolor", "virginica"].verify(X[both], y[both])
    assert table.versus_rest["setosa"].verify(X, y == "setosa")
    assert not table.all_separable
    assert "virginica" in str(table)
    assert "<table>" in table._repr_html_()
    found = json.loads(json.dumps(table.verdicts()))
    assert found["classes"] == ["setosa", "versicolor", "virginica"]
    assert ["versicolor", "virginica", "overlapping"] in found["pairs"]
    assert ["setosa", "separable"] in found["versus_rest"]


def test_ten_digits_fit_on_a_page():
    X, y = load_digits(return_X_y=True)
    some = np.arange(len(y)) % 4 == 0
    table = separability_table(X[some], y[some])
    lines = str(table).splitlines()
    assert max(map(len, lines)) <= 100
    assert len(lines) == 12
    assert lines[-1].startswith("sep = separable")
    assert table.all_separable


def test_when_time_runs_out_the_rest_stays_undecided():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 6)), np.arange(300) % 3
    table = separability_table(X, y, max_seconds=0.0)
    assert table.pairs[0, 1] is None
    assert "undecided" in str(table)
    assert not table.all_separable
    assert table.verdicts()["pairs"][0] == [0, 1, "undecided"]


@pytest.mark.parametrize("wrong", [-1, "a", float("nan")])
def test_what_is_no_time_is_refused(wrong):
    with pytest.raises(ParameterError, match="max_seconds must be a number >= 0 or None"):
        separability_table([[0], [1]], [0, 1], max_seconds=wrong)


def test_a_table_that_was_read(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,kind\n0,no\n1,yes\n2,perhaps\n3,no\n")
    table = read(path, target="kind")
    assert str(separability_table(table)) == str(separability_table(table.X, table.y))
    with pytest.raises(LabelError, match="requires y"):
        separability_table(table.X)


def test_one_class_is_no_question():
    with pytest.raises(LabelError, match="one class"):
        separability_table([[1], [2]], [0, 0])


def test_labels_with_strange_characters_stay_in_their_line():
    table = separability_table([[0.0], [1.0]], ["a\nb", "<i>"])
    assert len(str(table).splitlines()) == 3
    assert "<i>" not in table._repr_html_()
