"""The benchmarks run on tiny data, and their tables find their places; nothing is timed here."""

import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "benchmarks"
if not (SCRIPTS / "report.py").exists():
    pytest.skip("the folder benchmarks is not beside the tests", allow_module_level=True)
sys.path.append(str(SCRIPTS))  # scripts import each other by name, as they do when they are run

# E402: they are found only now
import accuracy  # noqa: E402
import accuracy_tables  # noqa: E402
import checkpoints  # noqa: E402
import choices  # noqa: E402
import datasets  # noqa: E402
import fit  # noqa: E402
import passes  # noqa: E402
import peers  # noqa: E402
import proofs  # noqa: E402
import report  # noqa: E402
import run  # noqa: E402
import size  # noqa: E402
import texts  # noqa: E402
from contenders import CONTENDERS  # noqa: E402


def tiny():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    return datasets.held_out(X, (X @ [1, -2, 3, 0.5] > 0).astype(int))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.001234, "0.00123"), (0.1, "0.100"), (1.2345, "1.23"), (123.4, "123"), (9876.5, "9,876")],
)
def test_numbers_have_three_digits_and_no_exponent(value, text):
    assert report.number(value) == text


def test_best_of_takes_turns():
    calls = []
    seconds = report.best_of(2, {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")})
    assert calls == ["a", "b", "a", "b"]
    assert set(seconds) == {"a", "b"}
    assert all(0 <= one < float("inf") for one in seconds.values())


def test_a_section_is_replaced_and_the_rest_stays(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- one -->\nold\n<!-- end -->\nb\n<!-- two -->\n<!-- end -->\n")
    report.write_section(page, "one", report.table(["x"], [[1], [r"\1"]]))
    report.write_section(page, "two", "new")
    assert page.read_text() == (
        "a\n<!-- one -->\n| x |\n| --- |\n| 1 |\n| \\1 |\n<!-- end -->\nb\n"
        "<!-- two -->\nnew\n<!-- end -->\n"
    )
    assert report.sections_of(page) == ["one", "two"]
    with pytest.raises(LookupError, match="three"):
        report.write_section(page, "three", "")


def test_every_table_of_every_script_has_one_place():
    wanted = [place for script in run.SCRIPTS.values() for place in script.places.values()]
    own = ("peers-seconds", "peers-accuracy", "scaling", "accuracy")
    wanted += [(run.PAGE, name) for name in own]
    pages = sorted({page for page, _ in wanted})
    found = [(page, name) for page in pages for name in report.sections_of(report.DOCS / page)]
    assert sorted(found) == sorted(wanted)


def test_every_job_is_listed_in_the_documentation():
    page = (report.DOCS / run.PAGE).read_text()
    assert [name for name in run.JOBS if f"`{name}`" not in page] == []


@pytest.mark.parametrize("name", sorted(run.SCRIPTS))
def test_options_of_jobs_are_known_to_their_scripts(name):
    script = run.SCRIPTS[name]
    text = (SCRIPTS / script.file).read_text()
    options = [*script.options, *(script.quick or ()), *["--against"] * script.compares]
    assert [o for o in options if o.startswith("--") and f'"{o}"' not in text] == []


def test_a_process_is_measured_as_a_whole():
    code = "import time; held = bytearray(50_000_000); time.sleep(0.1)"
    found = report.measure_process([sys.executable, "-c", code])
    assert found.seconds >= 0.1
    assert 50 < found.memory_mb < 500
    with pytest.raises(RuntimeError, match="ended with code 3"):
        report.measure_process([sys.executable, "-c", "raise SystemExit(3)"])


def test_a_child_imports_its_own_packages(tmp_path, monkeypatch):
    (tmp_path / "rosenblatt.py").write_text("raise ImportError('of another folder')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    child = tmp_path / "scripts" / "child.py"
    child.parent.mkdir()
    child.write_text(
        "import json, os, rosenblatt\n"
        "print('said before')\n"
        "names = ('OMP_NUM_THREADS', 'PYTHONDONTWRITEBYTECODE')\n"
        "print(json.dumps([rosenblatt.__file__, *map(os.environ.get, names)]))\n"
    )
    import rosenblatt

    assert report.run_child(str(child), threads=2) == [rosenblatt.__file__, "2", None]
    child.write_text("raise SystemExit('no rows')")
    with pytest.raises(RuntimeError, match="no rows"):
        report.run_child(str(child))


def test_checkpoints_are_measured(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["checkpoints.py", *run.SCRIPTS["checkpoints"].quick])
    checkpoints.main()
    tables = report.tables_in(capsys.readouterr().out)
    assert [len(text.splitlines()) for text in tables.values()] == [6, 3]


def test_a_pass_is_the_difference_of_two_fits():
    fits = {"few": [2, 1.0, 30], "many": [10, 1.8, 110], "rows": 100}
    assert passes.one_pass(fits) == {"ms": pytest.approx(100), "share": pytest.approx(0.1)}
    fits["many"][0] = 2
    assert np.isnan(passes.one_pass(fits)["ms"])


@pytest.mark.parametrize("left_out", [0.0, 0.3])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_rows_close_to_the_hyperplane_are_left_out(kind, left_out):
    X, y = passes.rows(kind, 200, 5, "float64", 0.0, left_out)
    assert X.shape[0] == len(y) == 200
    assert X.dtype == np.float64
    assert len(set(y.tolist())) == 2


def test_files_have_the_same_rows_in_both_formats(tmp_path):
    svm, vw = (path.read_text().splitlines() for path in fit.write(tmp_path, 0.1))
    assert len(svm) == len(vw)
    assert {line.split()[0] for line in svm} == {"-1", "+1"}
    assert svm[0].split()[1:] == vw[0].split(" | ")[1].split()
    index = [int(entry.split(":")[0]) for entry in svm[0].split()[1:]]
    assert index == sorted(set(index))
    assert len(index) == fit.ENTRIES


def test_the_size_counts_required_packages():
    assert {"numpy", "scipy", "joblib"} <= size.required("scikit-learn") < size.required(size.OURS)
    files = size.files_of("scikit-learn")
    assert size.megabytes(files) > 1
    assert all(path.suffix != ".pyc" for path in files)


def test_the_output_of_a_script_is_written_table_by_table(tmp_path, capsys):
    (tmp_path / "page.md").write_text("<!-- a -->\n<!-- end -->\n<!-- b -->\n<!-- end -->\n")
    script = run.Script("none.py", (), (), {"alpha": ("page.md", "a"), "beta": ("page.md", "b")})
    output = "said\n| alpha |\n|---|\n| 1 |\n\n| beta |\n|---|\n| 2 |\n\n| gamma |\n|---|\n"
    script.write(output, tmp_path, 0.5)
    text = (tmp_path / "page.md").read_text()
    assert text.startswith(
        "<!-- a -->\n| alpha |\n|---|\n| 1 |\n<!-- end -->\n<!-- b -->\n| beta |"
    )
    assert "Load average before the run: 0.5" in text
    assert "gamma" in capsys.readouterr().err


@pytest.mark.parametrize("name", [name for name, kind in CONTENDERS.items() if kind.learns])
@pytest.mark.filterwarnings("ignore")  # what peers warn of is theirs
def test_each_contender_learns(name, tmp_path):
    package = CONTENDERS[name].package
    if package != "rosenblatt" and report.version(package) is None:
        pytest.skip(f"{package} is not installed")
    contender = CONTENDERS[name](tiny(), tmp_path)
    contender.start()
    contender.convert()
    contender.fit(20)
    train, test = contender.accuracy()
    assert train > 0.9
    assert test > 0.7


def test_peers_in_processes_of_their_own():
    names = ["scikit-learn Perceptron", "X @ w", "bytes of the file"]
    rows = peers.compare("tiny", tiny(), 1, 60, names)
    found = {(row.contender, row.asked): row for row in rows}
    one = found["scikit-learn Perceptron", 5]
    assert one.passes == 5
    assert one.seconds > 0
    assert 0 <= one.test <= 1
    assert one.memory > 0
    assert "there is no file" in found["bytes of the file", None].failed
    assert "not run: LookupError" in peers.markdown(rows, {"tiny": "60 rows"})


def test_a_contender_that_dies_is_a_row():
    row = peers.Row("tiny", "rosenblatt, last", None, failed="died")
    assert "| tiny | died |" in peers.summary([row])
    assert "not run: died" in peers.details([row], "tiny")


def test_figures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    import figures

    rows = [
        peers.Row("tiny", name, passes, passes, 0.1 * passes, test=0.8 + 0.01 * passes)
        for name in ("rosenblatt, last", "Vowpal Wabbit")
        for passes in (1, 5)
    ]
    figures.time_against_accuracy(rows, tmp_path / "images" / "a.svg")
    curve = {"rosenblatt, last": [(1, 0.1), (10, 1.0)], "River": [], "X @ w": [(1, 0.01)]}
    figures.scaling({"rows": curve}, tmp_path / "images" / "b.svg")
    for name in ("a.svg", "b.svg"):
        text = (tmp_path / "images" / name).read_text()
        assert "rosenblatt" in text
        assert "seconds" in text


def test_a_setting_is_judged_on_training_rows_alone():
    split = tiny()
    folds = list(choices.parts(split))
    assert len(folds) == choices.FOLDS * choices.REPEATS
    held = np.concatenate([fold.X_test for fold in folds[: choices.FOLDS]])
    assert sorted(map(tuple, held)) == sorted(map(tuple, split.X))
    assert all(len(fold.y) + len(fold.y_test) == len(split.y) for fold in folds)


def test_the_cheapest_of_equals_is_chosen():
    two, one, pa = (
        choices.Setting(r, passes=p) for r, p in (("margin", 2), ("margin", 1), ("pa", 1))
    )
    equals = [choices.Judged(s, a, 1.0) for s, a in ((two, 0.9), (pa, 0.8999), (one, 0.8995))]
    assert choices.best(equals).setting == two
    assert choices.cheapest(equals).setting == one
    assert choices.cheapest(equals[:2]).setting == pa
    assert choices.cheapest([*equals, choices.Judged(two, 0.95, 9.0)]).setting == two


def test_a_rising_search_ends_after_two_that_are_worse():
    accuracies = {1: 0.5, 2: 0.5, 3: 0.5, 4: 0.9, 5: 0.8, 6: 0.7, 7: 1.0}
    found = choices.rising(list(accuracies), lambda v: choices.Judged(v, accuracies[v], 0.0))
    assert [j.setting for j in found] == [1, 2, 3, 4, 5, 6]
    assert choices.best(found).setting == 4


def test_what_was_judged_is_read_again(tmp_path):
    setting = choices.Setting("arow", (("covariance", "full"), ("r", 0.1)), "average", 2, "direct")
    told = [choices.Judged(setting, 0.9, 1.0), choices.Judged(0.3, 0.8, 2.0)]
    choices.Memory(tmp_path / "m.json").put("a", (told, 5.0))
    assert choices.Memory(tmp_path / "m.json").get("a") is None
    assert choices.Memory(tmp_path / "m.json", use=True).get("a") == [told, 5.0]


def test_accuracies_side_by_side():
    if any(report.version(name) is None for name in ("liblinear-official", "vowpalwabbit")):
        pytest.skip("liblinear-official and vowpalwabbit are not installed")
    rows = accuracy.compare("tiny", tiny(), ["perceptron"], quick=True)
    assert [r.contender for r in rows if r.chosen] == ["rosenblatt"]
    assert all(0 < r.seconds < float("inf") and 0 <= r.test <= 1 for r in rows)
    assert "| tiny | perceptron()" in accuracy_tables.summary(rows)
    assert "-B 1" in accuracy_tables.details(rows, "tiny")


def test_words_of_test_texts_are_not_learned():
    split = texts.vectorised((["a red cat", "a red dog"], np.array([0, 1])), (["red fox"], [1]), "")
    assert split.X.shape == (2, 1)  # "red", the only word in two texts
    assert split.X_test.toarray().tolist() == [[1.0]]


@pytest.mark.parametrize("job", list(proofs.CASES))
def test_proofs_are_measured_and_described(job, monkeypatch):
    monkeypatch.setitem(proofs.CASES, job, {"tiny": (lambda: proofs.small("separable"),)})
    found = proofs.measure(job, "tiny", seconds=1.0, smaller=40, limit=1.0)
    assert found["size"][1] == 6
    if job == "readings":
        assert min(found["counts"].values()) >= 1
    else:
        assert found["result"]
