"""predict_file: the labels that are written are those of the model, and can be read back."""

import csv

import numpy as np
import pytest

from rosenblatt import LinearModel, predict_file, save_model


@pytest.mark.parametrize("classes", [["b", "a"], ["c", "a", "b"], [7, -1]])
def test_classes_need_not_be_sorted(classes, tmp_path):
    n = len(classes)
    coef = np.array([[-1.0, 1.0]]) if n == 2 else np.eye(3)
    save_model(LinearModel(coef, np.zeros(len(coef)), np.array(classes)), tmp_path / "m")
    rows = np.eye(n, coef.shape[1], dtype=int).tolist()
    lines = [",".join(map(str, [*x, label])) for x, label in zip(rows, classes, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    file, out = tmp_path / "rows.csv", tmp_path / "out"
    done = predict_file(tmp_path / "m", file, out, target="-1", header=False)
    assert out.read_text().splitlines() == [str(c) for c in classes]
    assert done.errors == 0


def test_labels_are_csv_fields(tmp_path):
    classes = ["", 'a "b"', "a\nb", "a\r\nb", "tab\there", "x,y", "plain"]
    model = LinearModel(np.eye(7), np.zeros(7), np.array(classes))
    save_model(model, tmp_path / "m")
    (tmp_path / "rows.svm").write_text("".join(f"{k} {k + 1}:1\n" for k in range(7)))
    predict_file(tmp_path / "m", tmp_path / "rows.svm", tmp_path / "labels")
    with open(tmp_path / "labels", newline="") as file:
        assert [row for (row,) in csv.reader(file, strict=True)] == classes
    predict_file(tmp_path / "m", tmp_path / "rows.svm", tmp_path / "scored", scores=True)
    with open(tmp_path / "scored", newline="") as file:
        header, *rows = csv.reader(file, delimiter="\t", strict=True)
    assert header == ["label", *(f"score:{c}" for c in classes)]
    assert [row[0] for row in rows] == classes
    assert "plain\n" in (tmp_path / "labels").read_text()
