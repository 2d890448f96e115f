"""predict_file: the labels that are written are those of the model, and can be read back."""

import csv

import numpy as np
import pytest

from rosenblatt import LinearModel, Perceptron, fit_file, load_model, predict_file, save_model


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


def test_vw_text_is_learned_and_predicted_by_name(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.integers(-2, 3, (60, 5))
    y = np.where(rows @ [1, -2, 3, -1, 1] > 0, 1, -1)

    def text(which, more=""):
        lines = []
        for x, label in zip(rows[which], y[which], strict=True):
            spaces = {"a": "", "b": "", "": ""}
            for v, (space, name) in zip(x, PAIRS, strict=True):
                spaces[space] += f" {name}:{v}" if v else ""
            parts = [f"|{space}{named}" for space, named in sorted(spaces.items(), reverse=True)]
            lines.append(f"{label} {' '.join(parts)}{more}\n")
        return "".join(lines)

    PAIRS = [("a", "x"), ("b", "x"), ("", "12"), ("a", "y"), ("b", "y")]
    (tmp_path / "train.vw").write_text(text(slice(0, 40)))
    (tmp_path / "test.vw").write_text(text(slice(40, 60), more=" |new x y:7"))
    done = fit_file(tmp_path / "train.vw", tmp_path / "m", max_iter=3, chunk_bytes=99)
    model = load_model(tmp_path / "m")
    pairs = list(zip(model.namespaces, model.feature_names, strict=True))
    assert sorted(pairs) == sorted(PAIRS)
    assert {model.name(k) for k in range(5)} == {"a^x", "b^x", "12", "a^y", "b^y"}
    X = rows[:, [PAIRS.index(pair) for pair in pairs]].astype(float)
    clf = Perceptron(shuffle=False, max_iter=3, tol=None, keep="average").fit(X[:40], y[:40])
    np.testing.assert_allclose(model.coef, clf.coef_, rtol=1e-12)
    told = predict_file(tmp_path / "m", tmp_path / "test.vw", tmp_path / "labels")
    wanted = clf.predict(X[40:])
    assert (tmp_path / "labels").read_text().split() == [str(label) for label in wanted]
    assert told.errors == (wanted != y[40:]).sum()
    hashed = fit_file(tmp_path / "train.vw", tmp_path / "h", max_iter=3, bits=12)
    assert (hashed.model.n_features, hashed.model.feature_names) == (4096, ())
    assert done.trace.mistakes.tolist() == hashed.trace.mistakes.tolist()
    assert (
        model.explain({"a^x": 2.0}).contributions[0] == 2 * model.coef[0, pairs.index(("a", "x"))]
    )
