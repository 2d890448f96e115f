"""compare: what is tried, how it is judged, what is recommended."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.datasets import dump_svmlight_file
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from typer.testing import CliRunner

from rosenblatt import Margin, Perceptron, RosenblattError, compare, compare_file, read_chunks
from rosenblatt.cli import app
from rosenblatt.comparison.compare import KEEPS, _choices
from rosenblatt.comparison.result import PLAIN_FIRST, Comparison, Trial
from rosenblatt.data.source import ArraySource
from rosenblatt.data.toy_datasets import cultivar, setosa, versicolor
from rosenblatt.errors import LabelError, ParameterError
from rosenblatt.learn.rules import RULES, Rosenblatt
from tests.real_data import libsvm_file

PLAIN = ["perceptron"]


@pytest.fixture(scope="module")
def mixed():
    X, y = versicolor()
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


@pytest.fixture(scope="module")
def found(mixed):
    return compare(*mixed, rules=["perceptron", "margin"], cv=3)


def test_accuracies_are_those_of_scikit_learn(mixed, found):
    X, y = mixed
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    assert {(t.name, t.keep) for t in found.rows} == {
        (r, k) for r in ("perceptron", "margin") for k in ("last", "average")
    }
    for trial in found.rows:
        expected = cross_val_score(Perceptron(**trial.params), X, y, cv=folds)
        assert trial.accuracies == pytest.approx(expected)
    floor = cross_val_score(DummyClassifier(strategy="most_frequent"), X, y, cv=folds)
    assert found.floor.accuracies == pytest.approx(floor)
    assert [t.accuracy for t in found.rows] == sorted(t.accuracy for t in found.rows)[::-1]


@pytest.mark.parametrize("keep", ["last", "average"])
def test_the_progressive_error_is_that_of_row_by_row(mixed, keep):
    X, y = mixed
    model, wrong, seen = Perceptron(keep=keep, shuffle=False), 0, set()
    for k in range(len(y)):
        # nothing is known of the first row of a class
        wrong += y[k] not in seen or model.predict(X[k : k + 1])[0] != y[k]
        seen.add(y[k])
        model.partial_fit(X[k : k + 1], y[k : k + 1], classes=[-1, 1])
    (trial,) = compare(X, y, rules=PLAIN, keeps=keep, cv=2).rows
    assert trial.progressive_error == pytest.approx(wrong / len(y))
    most, wrong = -1, 0
    for k in range(len(y)):
        wrong += most != y[k]
        values, counts = np.unique(y[: k + 1], return_counts=True)
        most = values[counts.argmax()]
    floor = compare(X, y, rules=PLAIN, keeps=keep, cv=2).floor
    assert floor.progressive_error == pytest.approx(wrong / len(y))


def test_without_ties_it_is_the_mistakes_of_one_epoch_but_for_new_classes():
    X = np.random.default_rng(0).normal(size=(100, 3))
    y = X[:, 0] + 0.5 * X[:, 1] > 0.3
    once = Perceptron(shuffle=False, max_iter=1, tol=None).fit(X, y)
    new = int(np.argmax(y != y[0]))  # the first row of the second class is always an error
    before = Perceptron(shuffle=False).partial_fit(X[:new], y[:new], classes=[False, True])
    was_right = before.predict(X[new : new + 1])[0] == y[new]
    (trial,) = compare(X, y, rules=PLAIN, keeps="last", cv=2).rows
    assert trial.progressive_error == pytest.approx((once.n_mistakes_ + was_right) / 100)


def test_different_weights_have_no_progressive_error(mixed):
    X, y = mixed
    weight = np.where(y > 0, 2.0, 1.0)
    found = compare(X, y, rules=PLAIN, cv=2, sample_weight=weight)
    assert {t.progressive_error for t in (*found.rows, found.floor)} == {None}
    same = compare(X, y, rules=PLAIN, cv=2, sample_weight=np.full(len(y), 2.0))
    assert None not in {t.progressive_error for t in (*same.rows, same.floor)}


def test_dense_sparse_threads_and_frames_agree(mixed, found):
    def facts(comparison):
        return [(t.name, t.keep, t.accuracies, t.progressive_error) for t in comparison.rows]

    choices = {"rules": ["perceptron", "margin"], "cv": 3}
    X, y = mixed
    assert facts(compare(X, y, n_jobs=2, **choices)) == facts(found)
    assert facts(compare(sp.csr_matrix(X), y, **choices)) == facts(found)
    assert facts(compare(X.tolist(), ["no" if v < 0 else "yes" for v in y], **choices)) == facts(
        found
    )


def test_metadata_routing_changes_nothing(mixed, found):
    with sklearn.config_context(enable_metadata_routing=True):
        routed = compare(*mixed, rules=["perceptron", "margin"], cv=3)
    assert [t.accuracies for t in routed.rows] == [t.accuracies for t in found.rows]


def test_a_weight_of_0_is_a_row_less_and_the_floor_counts_weights(mixed):
    X, y = mixed
    weight = np.ones(len(y))
    weight[:20] = 0
    part = compare(X[20:], y[20:], rules=PLAIN, cv=2)
    same = compare(X, y, rules=PLAIN, cv=2, sample_weight=weight)
    assert [t.accuracies for t in same.rows] == [t.accuracies for t in part.rows]
    heavy = compare(X, y, rules=PLAIN, cv=2, sample_weight=np.where(y > 0, 10.0, 1.0))
    assert heavy.floor.accuracy == pytest.approx(500 / 600)
    (scaled,) = compare(
        X, y, rules=PLAIN, keeps="last", cv=2, sample_weight=weight, before=StandardScaler()
    ).rows
    folds = list(StratifiedKFold(2, shuffle=True, random_state=0).split(X[20:], y[20:]))
    for accuracy, (train, test) in zip(scaled.accuracies, folds, strict=True):
        model = make_pipeline(StandardScaler(), Perceptron(**scaled.params))
        score = model.fit(X[20:][train], y[20:][train]).score(X[20:][test], y[20:][test])
        assert accuracy == pytest.approx(score)


def test_more_than_two_classes_and_several_passes():
    X = np.random.default_rng(0).normal(size=(90, 4))
    y = np.array(["a", "b", "c"])[X[:, :3].argmax(axis=1)]
    found = compare(X, y, rules=PLAIN, max_iter=(1, 3), cv=3)
    assert (found.n_classes, len(found.rows)) == (3, 4)
    assert {t.max_iter for t in found.rows} == {1, 3}
    by = {(t.keep, t.max_iter): t for t in found.rows}
    assert by["last", 1].progressive_error == by["last", 3].progressive_error
    assert "epochs" in found.table()[0]
    assert Perceptron(**found.best.params).fit(X, y).score(X, y) > 0.7


def test_all_rules_by_default():
    runs, refused = _choices(None, KEEPS, 2, 100, {}, 0)
    assert refused == []
    assert [(r.name, r.keep) for r in runs] == [
        (name, keep) for name in RULES for keep in ("last", "average")
    ]
    assert set(RULES) <= set(PLAIN_FIRST)


def test_what_is_not_supported_is_listed_with_the_reason(mixed):
    choices = {"keeps": "average", "weighting": "repeat", "cv": 2}
    found = compare(*mixed, rules=["perceptron", "margin"], **choices)
    assert [(t.name, t.keep) for t in found.rows] == [("perceptron", "average")]
    (refused,) = found.refused
    assert (refused.rule, refused.keep) == ("margin", "average")
    assert "weighting='repeat' is defined for rule='perceptron'" in refused.reason
    assert "not tried: margin, average: weighting='repeat' is" in str(found)
    with pytest.raises(RosenblattError, match="none of the choices can be tried"):
        compare(*mixed, rules="margin", **choices)


def test_a_pocket_has_no_progressive_error(mixed):
    (trial,) = compare(*mixed, rules=PLAIN, keeps="pocket", cv=2).rows
    assert trial.progressive_error is None
    assert trial.accuracy > 0.6


def test_an_overflow_is_a_reason_too():
    X = np.array([[1e200], [-1e200]] * 10)
    with pytest.raises(RosenblattError, match=r"none of the choices.*perceptron, last: "):
        compare(X, [0, 1] * 10, rules=PLAIN, cv=2)


def trial(name, keep, *accuracies, max_iter=2):
    rule = Rosenblatt() if name == "perceptron" else Margin()
    return Trial(rule, keep, max_iter, accuracies, 0.1, 0.01)


def told(*trials, floor=(0.5, 0.5, 0.5)):
    majority = Trial(None, "", 2, floor, 0.5, 0.0)
    return Comparison(trials, majority, (), 300, 2, 2, 3)


def test_a_clear_winner_is_recommended():
    found = told(
        trial("margin", "average", 0.90, 0.91, 0.92), trial("perceptron", "last", 0.8, 0.81, 0.8)
    )
    assert found.best is found.recommended is found.rows[0]
    assert found.recommendation == (
        'Use Perceptron(rule="margin", keep="average", max_iter=2, tol=None): 91.00 % right on '
        "rows held out. It leads the next, perceptron with keep='last' and 2 epochs, by 10.67 "
        "points, which varies by 1.15 between folds. It leads the majority class (50.00 %) by "
        "41.00 points, which varies by 1.00 between folds."
    )


def test_the_simplest_within_one_standard_error_is_preferred():
    close = told(
        trial("margin", "average", 0.90, 0.92, 0.94),
        trial("perceptron", "average", 0.90, 0.91, 0.93),
    )
    assert close.recommended is close.rows[1]
    assert close.best is close.rows[0]
    assert "the simplest within one standard error (1.15 points)" in close.recommendation
    far = told(
        trial("margin", "average", 0.91, 0.92, 0.93),
        trial("perceptron", "average", 0.89, 0.92, 0.92),
    )
    assert far.recommended is far.best is far.rows[0]
    assert "do not tell the two apart" in far.recommendation


def test_the_majority_class_is_a_floor():
    low = told(trial("perceptron", "last", 0.4, 0.5, 0.45))
    assert low.recommendation.startswith("No choice is better than the majority class (50.00 %).")
    near = told(trial("perceptron", "last", 0.4, 0.8, 0.45))
    assert "leads the majority class (50.00 %) by 5.00 points, which" in near.recommendation
    assert "It leads the next" not in near.recommendation


def test_it_prints_as_a_table_and_as_json(found):
    text = str(found)
    assert text.startswith("150 rows, 4 features, 2 classes; 3 folds")
    assert "majority class" in text
    assert found.recommended.call in text  # in one line
    assert max(map(len, text.splitlines())) <= 120
    facts = json.loads(json.dumps(found.to_dict()))
    assert len(facts["trials"]) == 4
    assert facts["recommended"]["call"] == found.recommended.call
    assert "<table>" in found._repr_html_()
    assert (
        eval(found.recommended.call).get_params()
        == Perceptron(**found.recommended.params).get_params()
    )


def test_sorted_labels_and_unequal_columns_are_remarked_on():
    X, y = setosa()
    said = compare(X, y, rules=PLAIN, cv=2).remarks
    assert len(said) == 1
    assert "come in runs" in said[0]
    assert compare(X, y, rules=PLAIN, cv=2, shuffle=True).remarks == ()
    X, y = cultivar()
    said = compare(X, y, rules=PLAIN, cv=2, shuffle=True).remarks
    assert len(said) == 1
    assert "StandardScaler" in said[0]


def test_columns_are_made_from_what_is_not_held_out(mixed):
    X, y = mixed
    X = X * [1, 100, 1, 1e-3]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    found = compare(X, y, rules=PLAIN, cv=3, before=StandardScaler())
    for trial in found.rows:
        model = make_pipeline(StandardScaler(), Perceptron(**trial.params))
        assert trial.accuracies == pytest.approx(cross_val_score(model, X, y, cv=folds))
    assert "made by StandardScaler, fitted in each fold" in found.remarks[0]
    texts = ["good day", "bad day", "very good", "very bad", "good", "bad"] * 4
    words = compare(texts, [1, 0] * 12, rules=PLAIN, keeps="last", cv=2, before=CountVectorizer())
    assert (words.n_features, words.best.accuracy) == (4, 1.0)


def test_other_splitters_and_watchers(mixed):
    calls = []
    found = compare(
        *mixed, rules=[Margin(tau=2.0)], keeps="last", cv=ShuffleSplit(2, random_state=1),
        progress=lambda *told: calls.append(told),
    )  # fmt: skip
    assert found.n_folds == 2
    assert found.rows[0].call == "Perceptron(rule=Margin(tau=2.0), max_iter=2, tol=None)"
    assert [made for made, _, _ in calls] == list(range(1, calls[0][1] + 1))
    assert calls[-1][2] == "Margin(tau=2.0), last"


@pytest.mark.parametrize("progress", [True, None, False])
def test_the_bar_is_drawn_on_a_terminal_or_on_request(mixed, progress, capsys):
    compare(*mixed, rules=PLAIN, cv=2, progress=progress)
    assert ("100%" in capsys.readouterr().err) == (progress is True)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"rules": ["dance"]}, "rule must be one of"),
        ({"rules": []}, "must each hold something"),
        ({"keeps": ["best"]}, "'keep' parameter"),
        ({"cv": 1}, "cv must be a whole number >= 2"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"random_state": "x"}, "'random_state' parameter of compare must be"),
        ({"n_jobs": 0}, "'n_jobs' parameter of compare must be"),
        ({"shuffle": "x"}, "shuffle must be True or False, got 'x'"),
        ({"tol": 3}, "no setting 'tol'"),
        ({"gamma": 3}, "no setting 'gamma'"),
    ],
)
def test_wrong_choices_are_refused_before_any_work(mixed, choices, said):
    with pytest.raises(ParameterError, match=said):
        compare(*mixed, **choices)


def test_labels_that_cannot_be_compared():
    X = [[0.0], [1.0], [2.0]]
    with pytest.raises(LabelError, match="one class"):
        compare(X, [1, 1, 1])
    with pytest.raises(LabelError, match="class 2 has a single row"):
        compare(X, [1, 1, 2])
    with pytest.raises(RosenblattError, match=r"fewer folds \(cv\)"):
        compare([[0.0], [1.0], [2.0], [3.0]], [1, 1, 2, 2], cv=3, rules=PLAIN)


# ---------------------------------------------------------------------------- files


def run(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


@pytest.fixture
def csv(tmp_path, mixed):
    X, y = mixed
    lines = [",".join(map(repr, [*x, v])) for x, v in zip(X.tolist(), y.tolist(), strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c,d,kind\n" + "\n".join(lines) + "\n")
    return path


def test_the_command_says_what_compare_says(csv, mixed):
    done = run("compare", csv, "--target", "kind", "--rule", "perceptron", "--folds", 3, "--json")
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    facts, same = json.loads(done.stdout), compare(*mixed, rules=PLAIN, cv=3).to_dict()
    for one in (*facts["trials"], *same["trials"]):
        del one["seconds"]
    assert facts["trials"] == same["trials"]
    told = run("compare", csv, "--target", "kind", "--rule", "perceptron", "--keep", "average",
               "--max-iter", 1, "--max-iter", 2, "--no-fit-intercept", "--scale")  # fmt: skip
    assert told.exit_code == 0
    assert "majority class" in told.stdout
    assert "made by StandardScaler" in told.stdout
    assert "fit_intercept=False" in told.stdout


def test_the_first_rows_of_a_file(csv, mixed):
    found = compare_file(csv, max_rows=100, target="kind", rules=PLAIN, cv=2)
    part = compare(mixed[0][:100], mixed[1][:100], rules=PLAIN, cv=2)
    assert [t.accuracies for t in found.rows] == [t.accuracies for t in part.rows]
    assert found.remarks[0] == f"These are the first 100 rows of {csv}; there are more."
    with pytest.raises(ParameterError, match="max_rows must be a whole number from 1, got 0"):
        compare_file(csv, max_rows=0, target="kind")
    exact = compare_file(csv, max_rows=150, target="kind", rules=PLAIN, cv=2)
    assert exact.remarks == ()


def test_rows_without_a_label_and_malformed_lines_are_left_out(tmp_path):
    path = tmp_path / "rows.vw"
    path.write_text("1 |f a\n|f a b\n-1 2.0 |f b\nnonsense here\n1 |f a c\n-1 |f b c\n" * 3)
    found = compare_file(path, bits=4, on_error="skip", rules=PLAIN, keeps="last", cv=2)
    assert (found.n_rows, found.n_features) == (12, 16)
    assert found.rows[0].progressive_error is None  # the weights differ
    assert any("without a label" in said for said in found.remarks)
    assert any("malformed" in said for said in found.remarks)
    path.write_text("|f a\n|f b\n")
    with pytest.raises(LabelError, match="have no labels"):
        compare_file(path)


def test_every_source_is_compared(csv, mixed, tmp_path):
    X, y = mixed
    expected = compare(X[:100], y[:100], rules=PLAIN, cv=2)
    parts = [(X[k : k + 40], y[k : k + 40]) for k in range(0, 150, 40)]
    svm, parquet = tmp_path / "rows.svm", tmp_path / "rows.parquet"
    dump_svmlight_file(X, y, str(svm), zero_based=False)
    pd.DataFrame(X, columns=list("abcd")).assign(kind=y).to_parquet(parquet)
    chunks = read_chunks(csv, target="kind", chunk_bytes=500)
    classes = np.unique(y)
    resident = ArraySource(X, np.searchsorted(classes, y), classes.tolist())
    target = {"target": "kind"}
    for rows, reading, place in (
        (csv, target, csv), (svm, {}, svm), (parquet, target, parquet), (chunks, {}, csv),
        (parts, {}, "the chunks"), (lambda: iter(parts), {}, "the chunks"),
        (iter(parts), {}, "the chunks"), (resident, {}, "the chunks"),
    ):  # fmt: skip
        found = compare_file(rows, max_rows=100, rules=PLAIN, cv=2, **reading)
        assert [t.accuracies for t in found.rows] == [t.accuracies for t in expected.rows]
        assert (found.n_rows, found.n_features) == (100, 4)
        assert found.remarks[0] == f"These are the first 100 rows of {place}; there are more."
    with pytest.raises(ParameterError, match="target is a setting for reading files"):
        compare_file(parts, **target)


@pytest.mark.parametrize(
    "setting",
    [
        {"reading": {"target": 0}}, {"optional_label": True}, {"y": [0, 1]},
        {"sample_weight": [1, 1]}, {"rule": "pa"}, {"gamma": 3},
    ],
)  # fmt: skip
def test_unknown_settings_are_refused_before_a_file_is_read(setting):
    with pytest.raises(ParameterError, match=f"compare_file has no setting '{min(setting)}'"):
        compare_file("nowhere.csv", **setting)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_that_are_not_numbers_become_features(tmp_path, suffix):
    rng, path = np.random.default_rng(0), tmp_path / f"rows.{suffix}"
    town = rng.choice(["Rome", "Oslo", "Bern"], 300)
    size = np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300))
    kind = np.where((town == "Rome") | (size > 1), "yes", "no")
    frame = pd.DataFrame({"town": town, "size": 1000 * size, "kind": kind})
    if suffix == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    found = compare_file(path, target="kind", rules=PLAIN, cv=3)
    assert (found.n_rows, found.n_features) == (300, 5)  # size, its absence, three towns
    assert found.best.accuracy > 0.9 > found.floor.accuracy
    assert "made by StandardScaler" in " ".join(found.remarks)
    raw = compare_file(path, target="kind", rules=PLAIN, cv=3, scale=False)
    assert "made by" not in " ".join(raw.remarks)
    own = compare_file(path, target="kind", rules=PLAIN, cv=3, before=MaxAbsScaler())
    assert "made by MaxAbsScaler" in " ".join(own.remarks)
    with pytest.raises(ParameterError, match="Give one of them"):
        compare_file(path, target="kind", scale=True, before=MaxAbsScaler())
    dropped = {"target": "kind", "kinds": {"size": "drop"}}
    assert compare_file(path, **dropped, rules=PLAIN, cv=3).n_features == 3
    told = run("compare", path, "--target", "kind", "--rule", "perceptron", "--column", "size=drop")
    assert told.exit_code == 0, told.output
    assert "300 rows, 3 features, 2 classes" in told.stdout


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        (["--rule", "dance"], "rule must be one of"),
        (["--target", "nowhere"], "nowhere"),
        (["--target", "a"], "continuous"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(csv, extra, said):
    target = [] if "--target" in extra else ["--target", "kind"]
    done = run("compare", csv, *target, *extra)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_sorted_file_is_cut_before_the_second_class(tmp_path):
    path = tmp_path / "sorted.csv"
    path.write_text("1,0\n" * 50 + "2,1\n" * 50)
    done = run("compare", path, "--target", -1, "--max-rows", 20)
    assert done.exit_code == 2
    assert "Take more rows, or shuffle them" in done.stderr


@pytest.mark.parametrize("name", ["a9a/a9a.svm.gz", "digits parity.svm"])
def test_real_data(name, tmp_path):
    file = libsvm_file(name, tmp_path)
    found = compare_file(file, max_rows=4000, rules=["perceptron", "margin"], cv=3)
    assert found.recommended.keep == "average"
    assert found.recommended.accuracy > found.floor.accuracy + 0.05
    last = next(t for t in found.rows if t.keep == "last")
    assert found.best.progressive_error < last.progressive_error < found.floor.progressive_error
