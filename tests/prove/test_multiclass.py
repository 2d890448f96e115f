"""Verdicts for many classes."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from rosenblatt import separability_table
from rosenblatt.errors import LabelError


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
    assert "virginica" in str(table)
    assert "<table>" in table._repr_html_()


def test_one_class_is_no_question():
    with pytest.raises(LabelError, match="one class"):
        separability_table([[1], [2]], [0, 0])
