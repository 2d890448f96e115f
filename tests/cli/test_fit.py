"""rosenblatt fit and predict: what is said, what is written, what is refused."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import dump_svmlight_file, load_iris
from typer.testing import CliRunner

from rosenblatt import Perceptron, read
from rosenblatt.cli import app
from rosenblatt.cli.progress_bar import ProgressBar
from rosenblatt.io.progress import Progress
from rosenblatt.model.model_file import load_model
from tests.waiting import wait_until


def run(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


@pytest.fixture
def iris():
    X, species = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    return X[order], species[order]


@pytest.fixture
def setosa(tmp_path, iris):
    X, species = iris
    path = tmp_path / "setosa.svm"
    dump_svmlight_file(X, np.where(species == 0, 1, -1), str(path), zero_based=False)
    return path


@pytest.mark.parametrize("keep", ["average", "last"])
@pytest.mark.parametrize("offset", ["--fit-intercept", "--no-fit-intercept"])
def test_fit_gives_the_weights_of_the_perceptron(setosa, tmp_path, keep, offset):
    out = tmp_path / "m.safetensors"
    done = run("fit", setosa, "--out", out, "--max-iter", 7, "--keep", keep, offset, "--json")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    table = read(setosa)
    clf = Perceptron(
        shuffle=False, max_iter=7, tol=None, keep=keep, fit_intercept=offset == "--fit-intercept"
    ).fit(table.X, table.y)
    model = load_model(out)
    assert model.coef.tobytes() == clf.coef_.tobytes()
    assert model.intercept.tobytes() == clf.intercept_.tobytes()
    assert facts["mistakes_per_epoch"] == clf.trace_.mistakes.tolist()
    assert facts["progressive_error"] == clf.trace_.mistakes[0] / 150
    assert (facts["rows"], facts["features"]) == (150, 4)
    assert model.reader == {"format": "libsvm", "zero_based": False}
    assert sorted(os.listdir(tmp_path)) == ["m.safetensors", "setosa.svm"]


def test_fit_tells_people_what_happened_and_predict_counts_the_errors(setosa, tmp_path):
    out, labels = tmp_path / "m.safetensors", tmp_path / "labels.txt"
    told = run("fit", setosa, "--out", out, "--max-iter", 100, "--keep", "last").stdout
    assert "a whole epoch without an update" in told
    assert re.search(r"mistakes per epoch +\d+, (\d+, )*0\n", told)
    assert "progressive error" in told
    assert re.search(r"first epoch +0\.0*[1-9]\d? MB/s|first epoch +[1-9]", told)
    assert "--max-iter" not in told
    assert "more epochs may make fewer (--max-iter)" in run("fit", setosa, "--out", out).stdout
    assert str(out) in told
    done = run("predict", out, setosa, "--out", labels)
    assert done.exit_code == 0, done.output
    assert "0.00% (0 of 150 labelled rows)" in done.stdout
    assert labels.read_text().split() == [f"{y:g}" for y in read(setosa).y]


def test_three_classes_of_a_csv_file(iris, tmp_path):
    X, species = iris
    names = np.array(["setosa", "versicolor", "virginica"])
    lines = ["a,b,c,d,kind"] + [
        ",".join(map(repr, x)) + f",{names[k]}" for x, k in zip(X.tolist(), species, strict=True)
    ]
    path, out = tmp_path / "iris.csv", tmp_path / "m"
    path.write_text("\n".join(lines))
    done = run("fit", path, "--out", out, "--target", "kind", "--max-iter", 5, "--json")
    clf = Perceptron(shuffle=False, max_iter=5, tol=None, keep="average").fit(X, names[species])
    model = load_model(out)
    assert model.coef.tobytes() == clf.coef_.tobytes()
    assert model.feature_names == ("a", "b", "c", "d")
    assert 0.0 < json.loads(done.stdout)["progressive_error"] < 1.0
    facts = json.loads(run("predict", out, path, "--json").stdout)
    assert facts["errors"] == (clf.predict(X) != names[species]).sum()
    assert "one hyperplane per class" in run("fit", path, "--out", out, "--target", "kind").stdout
    path.write_text("a,b,x,d,kind\n1,2,3,4,setosa\n")
    other = run("predict", out, path)
    assert other.exit_code == 2
    assert "has no column 'c' of the model" in other.output


def test_vw_text_is_hashed_the_same_way_again(tmp_path):
    path, out = tmp_path / "a.vw", tmp_path / "m"
    path.write_text("1 2.0 |f good fine\n-1 |f bad\n1 |f fine\n-1 |f bad poor\n")
    assert run("fit", path, "--out", out, "--hash-bits", 6, "--max-iter", 9).exit_code == 0
    assert load_model(out).coef.shape == (1, 64)
    assert json.loads(run("predict", out, path, "--json").stdout)["errors"] == 0
    path.write_text("|f good\n1 |f bad\n-1 |f bad\n")
    facts = json.loads(run("predict", out, path, "--json").stdout)
    assert (facts["rows"], facts["labelled_rows"], facts["errors"]) == (3, 2, 1)
    path.write_text("|f good\n|f bad\n")
    facts = json.loads(run("predict", out, path, "--out", tmp_path / "l", "--json").stdout)
    assert facts["error"] is None
    assert (tmp_path / "l").read_text() == "1\n-1\n"


def test_features_that_were_never_met_have_weight_0(tmp_path):
    path, wide, narrow, out = (tmp_path / n for n in ("a.svm", "b.svm", "c.svm", "m"))
    path.write_text("1 1:1\n-1 2:1\n")
    wide.write_text("1 1:1 9:5\n-1 2:1 7:3\n")
    narrow.write_text("1 1:1\n")
    assert run("fit", path, "--out", out, "--max-iter", 9).exit_code == 0
    for file in (wide, narrow):
        assert json.loads(run("predict", out, file, "--json").stdout)["errors"] == 0


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_without_labels_is_predicted(iris, tmp_path, kind, header):
    X, species = iris
    names = ["a", "b", "c", "d", "species"]

    def write(columns, path):
        if kind == "parquet":
            table = dict(zip(names, columns, strict=False))
            pq.write_table(pa.table(table), path)
        else:
            rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
            path.write_text("\n".join([",".join(names[: len(columns)])] * header + rows))
        return path

    whole = write([*X.T, species], tmp_path / f"whole.{kind}")
    bare = write(X.T, tmp_path / f"bare.{kind}")
    target = "species" if header else -1
    run("fit", whole, "--out", tmp_path / "m", "--target", target, "--max-iter", 3)
    for path in (whole, bare):
        done = run("predict", tmp_path / "m", path, "--out", tmp_path / f"{path.stem}.txt")
        assert done.exit_code == 0, done.output
    assert "no labels of the model" in done.stdout
    assert (tmp_path / "bare.txt").read_text() == (tmp_path / "whole.txt").read_text()
    done = run("predict", tmp_path / "m", write(X.T[:3], tmp_path / f"narrow.{kind}"))
    assert done.exit_code == 2


def test_labels_of_another_kind_are_no_labels(setosa, tmp_path):
    path, out = tmp_path / "a.csv", tmp_path / "m"
    path.write_text("1,0,0,0,a\n0,1,0,0,b\n0,0,1,0,a\n0,0,0,1,b\n")
    assert run("fit", path, "--out", out, "--target", -1).exit_code == 0
    done = run("predict", out, setosa)
    assert done.exit_code == 0, done.output
    assert "no labels of the model" in done.stdout


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (None, [], "cannot read"),
        ("1 1:1\n-1 x\n", [], "line 2"),
        ("1 1:1\n1 2:1\n", [], "got 1 class"),
        ("0.5 1:1\n1 2:1\n", [], "continuous"),
        ("1 1:1\n-1 2:1\n", ["--keep", "vote"], "'average' or 'last'"),
        ("1 1:1\n-1 2:1\n", ["--eta0", "0"], "eta0"),
        ("1 1:1\n-1 2:1\n", ["--target", "y"], "setting of csv"),
        ("1 1:1\n-1 2:1\n", ["--format", "xml"], "format must be one of"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_left(tmp_path, text, options, message):
    path = tmp_path / "data.svm"
    if text is not None:
        path.write_text(text)
    done = run("fit", path, "--out", tmp_path / "m", "--max-iter", 3, *options)
    assert done.exit_code == 2
    assert message in done.output
    assert set(os.listdir(tmp_path)) <= {"data.svm"}


def test_malformed_lines_can_be_left_out(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1 1:1\nwhat\n-1 2:1\n")
    done = run("fit", path, "--out", tmp_path / "m", "--skip-errors")
    assert done.exit_code == 0
    assert "1, skipped" in done.stdout


def test_a_place_that_is_not_there_is_refused_before_work_is_done(setosa, tmp_path):
    done = run("fit", setosa, "--out", tmp_path / "no" / "m")
    assert done.exit_code == 2
    assert "there is no folder" in done.output


def test_the_bar_is_drawn(capsys):
    said = []
    with ProgressBar(said.append, draw=True) as bar:
        bar.begin(1)
        for k in (1, 2):
            bar.progress(Progress(50 * k, 100, 1000 * k, 0, 0.5))
    shown = capsys.readouterr().err
    assert "epoch 1" in shown
    assert "2,000 rows, 4,000 rows/s" in shown
    assert not said


def test_the_process_does_not_import_scikit_learn(setosa, tmp_path):
    code = (
        "import sys\nfrom rosenblatt.cli import app\n"
        f"try: app(['fit', {str(setosa)!r}, '--out', {str(tmp_path / 'm')!r}])\n"
        "except SystemExit as e: assert not e.code\n"
        "print(sorted(sys.modules))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()[-1]
    loaded = set(re.findall(r"'([\w.]+)'", found))
    assert "rosenblatt._core" in loaded
    heavy = {"sklearn", "pandas", "matplotlib", "pyarrow", "flint", "highspy", "scipy"}
    assert loaded.isdisjoint(heavy)


def test_the_result_never_takes_the_place_of_its_sources(setosa, tmp_path):
    model, before = tmp_path / "m.safetensors", setosa.read_bytes()
    assert run("fit", setosa, "--out", setosa).exit_code == 2
    assert run("fit", setosa, "--out", model).exit_code == 0
    kept = model.read_bytes()
    for out in (setosa, model):
        said = run("predict", model, setosa, "--out", out)
        assert said.exit_code == 2
        assert "it would be lost" in said.stderr
    assert (setosa.read_bytes(), model.read_bytes()) == (before, kept)
    said = run("fit", setosa, "--out", tmp_path)
    assert said.exit_code == 2
    assert "is a folder" in said.stderr


def test_a_link_is_followed_and_a_device_written_to(setosa, tmp_path):
    model, target, link = tmp_path / "m", tmp_path / "labels.txt", tmp_path / "link.txt"
    run("fit", setosa, "--out", model)
    link.symlink_to(target)
    assert run("predict", model, setosa, "--out", link).exit_code == 0
    assert link.is_symlink()
    assert len(target.read_text().split()) == 150
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        assert run("predict", model, setosa, "--out", pipe).exit_code == 0
        assert reader.communicate()[0] == target.read_text()
    assert pipe.is_fifo()


def test_a_label_column_that_is_named_must_be_there(tmp_path):
    rows = "1,0,2,0\n2,1,0,1\n3,0,1,1\n0,0,1,0\n"
    (tmp_path / "train.csv").write_text(rows)
    (tmp_path / "narrow.csv").write_text("1,0,0\n2,1,1\n")  # one feature less, and its label
    model = tmp_path / "m"
    assert run("fit", tmp_path / "train.csv", "--target", -1, "--out", model).exit_code == 0
    said = run("predict", model, tmp_path / "narrow.csv", "--target", -1)
    assert said.exit_code == 2
    assert "column" in said.stderr


def test_hashed_features_are_not_plain_ones(setosa, tmp_path):
    (tmp_path / "rows.vw").write_text("1 | a b\n-1 | c\n")
    model = tmp_path / "m"
    run("fit", setosa, "--out", model)
    said = run("predict", model, tmp_path / "rows.vw")
    assert said.exit_code == 2
    assert "trained on libsvm" in said.stderr


def test_told_to_end_it_clears_away_what_it_began(setosa, tmp_path, interruptible):
    model, folder = tmp_path / "m", tmp_path / "out"
    run("fit", setosa, "--out", model)
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "rosenblatt.cli", "predict", str(model), "-", "--format", "libsvm",
         "--out", str(folder / "labels.txt")],
        stdin=subprocess.PIPE,
    )  # fmt: skip
    # the pipe stays open, so the command cannot come to its end by itself
    process.stdin.write(setosa.read_bytes() * 2000)
    process.stdin.flush()
    wait_until(lambda: list(folder.iterdir()) or process.poll() is not None)
    process.terminate()
    assert process.wait(timeout=600) == 143
    process.stdin.close()
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_is_an_error_in_a_line(setosa, tmp_path):
    model = tmp_path / "m"
    run("fit", setosa, "--out", model)
    command = [sys.executable, "-m", "rosenblatt.cli", "predict", str(model), str(setosa)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "No space left" in done.stderr


def test_a_model_without_a_place_is_called_as_its_file(tmp_path, monkeypatch):
    (tmp_path / "clicks.train.csv").write_text("age,city,clicked\n1,Bonn,no\n2,Rome,yes\n3,,no\n")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["fit", "clicks.train.csv", "--target", "clicked", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["model"] == "clicks.safetensors"
    assert load_model(tmp_path / "clicks.safetensors").classes.tolist() == ["no", "yes"]
    refused = CliRunner().invoke(app, ["fit", "-", "--format", "libsvm"], input="1 1:1\n")
    assert refused.exit_code == 2
    assert "Give --out" in refused.stderr


def test_no_model_is_replaced_unless_out_names_it(setosa, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("fit", "setosa.svm").exit_code == 0
    before = (tmp_path / "setosa.safetensors").read_bytes()
    (tmp_path / "setosa.csv").write_text("a,y\n1,0\n2,1\n")
    refused = run("fit", "setosa.csv", "--target", "y")
    assert refused.exit_code == 2
    assert (
        "setosa.safetensors exists. Give --out setosa.safetensors to replace it" in refused.stderr
    )
    assert (tmp_path / "setosa.safetensors").read_bytes() == before
    named = run("fit", "setosa.csv", "--target", "y", "--out", "setosa.safetensors")
    assert named.exit_code == 0
    assert load_model(tmp_path / "setosa.safetensors").feature_names == ("a",)


def test_a_private_model_and_private_labels_stay_private(setosa, tmp_path):
    for name in ("m", "labels"):
        (tmp_path / name).touch(mode=0o600)
    assert run("fit", setosa, "--out", tmp_path / "m").exit_code == 0
    assert run("predict", tmp_path / "m", setosa, "--out", tmp_path / "labels").exit_code == 0
    for name in ("m", "labels"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_escape_sequences_never_reach_the_terminal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nasty = "\x1b[2J\x1b]0;title\x07\x9b31m\u202eevil"
    (tmp_path / "rows.csv").write_text(f"{nasty},x,{nasty}y\n1,2,{nasty}a\n2,1,{nasty}b\n3,,c\n")
    commands = [
        ("fit", "rows.csv", "--target", f"{nasty}y", "--out", "m"),
        ("fit", "rows.csv", "--target", f"{nasty}y", "--out", "m", "--json"),
        ("explain", "m"),
        ("explain", "m", "--json"),
        ("predict", "m", "rows.csv"),
        ("fit", f"{nasty}.svm"),
        ("fit", "rows.csv", "--target", nasty * 2),
        ("separable", "rows.csv", "--target", f"{nasty}y"),
        ("compare", "rows.csv", "--target", "x", "--folds", 2),
    ]
    for command in commands:
        done = run(*command)
        for character in "\x1b\x07\x9b\u202e":
            assert character not in done.stdout + done.stderr, command
    assert run(*commands[0]).exit_code == 0


def test_json_is_one_document_on_the_output_and_all_else_on_stderr(setosa, tmp_path):
    out = tmp_path / "m"
    done = run("fit", setosa, "--out", out, "--json")
    assert json.loads(done.stdout)["epochs"] == 1
    assert json.loads(run("explain", out, "--json").stdout)["features"] == 4
    labels = run("predict", out, setosa, "--out", "-", "--json")
    assert json.loads(labels.stderr)["rows"] == 150
    assert len(labels.stdout.splitlines()) == 150


def test_the_shared_options_read_the_same_rows(tmp_path):
    (tmp_path / "a.csv").write_text("1;2;a\n2;1;b\n")
    model = tmp_path / "m"
    assert run("fit", tmp_path / "a.csv", "--target", -1, "--out", model).exit_code == 2
    given = ["--delimiter", ";", "--no-header", "--target", -1]
    done = run("fit", tmp_path / "a.csv", *given, "--out", model)
    assert done.exit_code == 0, done.output
    assert load_model(model).coef.shape == (1, 2)
    (tmp_path / "b.svm").write_text("1 1:1\n-1 2:1\n")
    for base, width in (("--zero-based", 3), ("--one-based", 2)):
        assert run("fit", tmp_path / "b.svm", base, "--out", model).exit_code == 0
        assert load_model(model).coef.shape == (1, width)
    refused = run("fit", tmp_path / "a.csv", "--column", "=number", "--out", model)
    assert "NAME=KIND" in refused.stderr
