"""The page tells what the run did: checked against the plain reference and the trace."""

import base64
import copy
import hashlib
import pickle
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from rosenblatt import Margin, Perceptron, film, max_margin
from rosenblatt.errors import DataError, NotSupportedError, ParameterError
from rosenblatt.learn import reference
from rosenblatt.show import pages
from tests.show.read_film import line_of, told
from tests.strategies import TIES, integer_rows

AND = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
XOR = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]


def recorded(X, y, **choices):
    choices = {"shuffle": False, "tol": None, "max_iter": 30, "record": "updates"} | choices
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Perceptron(**choices).fit(np.array(X, dtype=float), y)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Film a model and read the page back."""
    path = tmp_path_factory.mktemp("films") / "film.html"

    def filmed(clf, *args, **kwargs):
        return told(film(clf, path, *args, **kwargs))

    return filmed


# ------------------------------------------------------------------ what the frames say


@given(rows=integer_rows(max_features=2), tie=st.sampled_from(TIES), intercept=st.booleans())
def test_the_frames_are_the_updates_of_the_reference(page, rows, tie, intercept):
    X, y = rows
    plain = reference.train(X, y, tie=tie, intercept=intercept, max_iter=30)
    assume(plain.updates)
    frames = page(recorded(X, y, tie=tie, fit_intercept=intercept), bound=False)["frames"]
    moves = [(k, v) for k, v in enumerate(plain.visits) if v.step]
    assert frames["w"].tolist() == [list(map(float, plain.start[0])), *(v.w for _, v in moves)]
    assert frames["b"].tolist() == [0.0, *(v.b for _, v in moves)]
    assert frames["row"].tolist() == [-1, *(v.row for _, v in moves)]
    assert frames["visit"].tolist() == [0, *(k + 1 for k, _ in moves)]
    assert frames["pass"].tolist() == [0, *(v.epoch for _, v in moves)]
    mistakes = np.cumsum([v.mistake > 0 for v in plain.visits])
    assert frames["mistakes"].tolist() == [0, *(mistakes[k] for k, _ in moves)]
    before, after = frames["before"].tolist(), frames["after"].tolist()
    w, b = plain.start
    for j, (_, v) in enumerate(moves, start=1):
        x, label = X[v.row], y[v.row]
        assert before[j] == label * reference.score(w, b, x)
        assert after[j] == label * reference.score(v.w, v.b, x)
        w, b = v.w, v.b


@given(rows=integer_rows(max_features=2), tau=st.integers(0, 3), tie=st.sampled_from(TIES[:3]))
def test_a_rule_that_moves_on_right_answers_counts_its_mistakes(page, rows, tau, tie):
    X, y = rows
    plain = reference.train(X, y, tau=tau, tie=tie, max_iter=30)
    assume(plain.updates)
    data = page(recorded(X, y, rule=Margin(tau), tie=tie), bound=False)
    mistakes = np.cumsum([v.mistake > 0 for v in plain.visits])
    wanted = [0, *(mistakes[k] for k, v in enumerate(plain.visits) if v.step)]
    assert data["frames"]["mistakes"].tolist() == wanted
    assert data["tau"] == tau


def test_batch_steps_answer_all_mistakes_of_their_pass(page):
    X, y = [[2, 1], [1, 3], [-1, 0], [0, -2], [1, 0]], [1, 1, -1, -1, -1]
    clf = recorded(X, y, mode="batch")
    data = page(clf)
    plain = reference.batch(X, y, max_iter=30)
    assert data["batch"] is True
    assert data["totals"]["visits"] is None
    assert data["frames"]["w"].tolist()[1:] == [list(map(float, w)) for _, w, _ in plain.updates]
    assert data["frames"]["mistakes"].tolist()[-1] == clf.n_mistakes_
    assert clf.n_mistakes_ == sum(v.mistake for v in plain.visits)
    assert np.isnan(data["frames"]["before"]).all()
    assert data["bound"]["counted"] == "mistakes"


@pytest.mark.parametrize("mode", ["online", "batch"])
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_average_ends_where_the_model_does(page, mode, shuffle):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, size=30)
    clf = recorded(X, y, keep="average", mode=mode, shuffle=shuffle)
    frames = page(clf)["frames"]
    np.testing.assert_allclose(frames["averageW"][-1], clf.coef_[0], rtol=1e-9)
    np.testing.assert_allclose(frames["averageB"][-1], clf.intercept_[0], rtol=1e-9)


def test_weights_of_rows_penalties_and_held_out_rows_are_filmed(page):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, size=40)
    for choices in (
        {"penalty": "l2"},
        {"penalty": "elasticnet", "alpha": 0.01},
        {"class_weight": "balanced"},
        {"class_weight": {0: 3, 1: 1}, "weighting": "repeat"},
        {"keep": "pocket"},
        {"keep": "vote"},
    ):
        clf = recorded(X, y, max_iter=5, **choices)
        data = page(clf)
        assert data["totals"]["recorded"] == clf.n_updates_ == data["frames"]["update"][-1]
        assert data["frames"]["mistakes"][-1] == clf.n_mistakes_
        assert (data["frames"]["after"] > data["frames"]["before"])[1:].all()
    clf = recorded(X, y, early_stopping=True, validation_fraction=0.25)
    held = page(clf)["rows"]["held"]
    assert held.sum() == 10
    assert not set(np.flatnonzero(held)) & set(clf.trace_.record.row.tolist())


def test_partial_fit_is_filmed_from_where_it_stood(page):
    X, y = np.array(AND[0], dtype=float), AND[1]
    clf = Perceptron(shuffle=False, record="updates")
    for _ in range(2):
        clf.partial_fit(X, y, classes=[0, 1])
    data = page(clf)
    assert data["frames"]["w"][0].tolist() == [1.0, 1.0]  # after the first call
    assert data["frames"]["visit"].tolist() == [0, 1, 2, 4]
    assert data["totals"]["visits"] == 4


# ------------------------------------------------------------ bound, cosine and cycle


def test_the_bound_and_the_cosine_are_those_of_the_widest_separator(page):
    clf = recorded(*AND)
    data = page(clf)
    assert data["bound"]["most"] == clf.bounds(*AND)["Novikoff"].most == 51
    widest = max_margin(*AND, augmented=True)
    assert data["bound"]["gamma"] == widest.lower
    u = np.append(widest.w, widest.b).astype(float)
    for k, update in enumerate(clf.trace_.record, start=1):
        v = np.append(update.w, update.b)
        cosine = v @ u / np.linalg.norm(v) / np.linalg.norm(u)
        assert data["frames"]["cosine"][k] == pytest.approx(cosine, rel=1e-12)
    assert np.isnan(data["frames"]["cosine"][0])
    assert page(clf, bound=False)["bound"] is None


def test_a_cycle_names_the_two_frames_with_the_same_weights(page):
    X, y = [[0, 0], [1, 1], [0, 1], [1, 0], [3, 1]], [0, 0, 1, 1, 1]
    clf = recorded(X, y, max_iter=200)
    assert clf.stop_reason_ == "cycle"
    data = page(clf)
    first, last = data["cycle"]
    w, b = data["frames"]["w"], data["frames"]["b"]
    assert last == len(w) - 1
    assert last - first == clf.trace_.cycle.updates
    assert w[first].tolist() == w[last].tolist()
    assert b[first] == b[last]
    assert "no hyperplane separates these rows" in data["words"]["cycle"]
    assert "no margin" in data["bound"]["why"]


# -------------------------------------------------------------------------- the picture


@given(seed=st.integers(0, 10**6), d=st.integers(3, 6), sparse=st.booleans())
def test_in_a_projection_the_distances_to_the_hyperplane_are_true(page, seed, d, sparse):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rng.integers(4, 9), d)) + rng.normal(size=d)
    y = np.arange(len(X)) % 2
    clf = recorded(X, y, shuffle=True, max_iter=5)
    given_again = (sp.csr_matrix(X), y) if sparse else ()
    data = page(clf, *given_again, bound=False)
    assert data["kind"] == "projection"
    frames, x = data["frames"], data["rows"]["x"].astype(float)
    for k, update in enumerate(clf.trace_.record, start=1):
        distance = (X @ update.w + update.b[0]) / np.linalg.norm(update.w)
        a, _, c = line_of(data, k)
        across = x @ frames["w"][k] / a
        np.testing.assert_allclose(across + c / a, distance, atol=2e-5)
        reach = frames["reach"][k]
        assert np.abs(across).max() <= reach[0]
        score, *up = frames["visited"][k]
        np.testing.assert_allclose(score / a + c / a, distance[update.row], atol=1e-9)
        assert np.isfinite(up).all()


def test_more_features_than_rows_are_drawn_exactly_too(page):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(12, 400)), np.arange(12) % 2
    clf = recorded(X, y)
    data = page(clf)
    assert data["frames"]["w"].shape[1] == 12
    last = clf.trace_.record[-1]
    length = np.linalg.norm(last.w)
    across = data["rows"]["x"] @ data["frames"]["w"][-1] / length
    np.testing.assert_allclose(
        across + data["frames"]["b"][-1] / length, (X @ last.w + last.b[0]) / length, atol=1e-4
    )


def test_one_feature_and_unequal_scales_have_their_own_pictures(page):
    line = page(recorded([[1.0], [2.0], [3.0]], [0, 0, 1]))
    assert line["kind"] == "line"
    assert line["box"][2:] == [-1.0, 1.0]
    alike = page(recorded([[0, 0], [1, 2]], [0, 1]))["box"]
    assert alike[1] - alike[0] == alike[3] - alike[2]
    unlike = page(recorded([[0, 0], [1, 2000]], [0, 1]))["box"]
    assert unlike[1] - unlike[0] == pytest.approx(1.1)
    assert unlike[3] - unlike[2] == pytest.approx(2200)


def test_at_most_max_rows_are_drawn_each_class_in_its_share(page):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 2)), np.arange(500) % 5 == 0
    rows = page(recorded(X, y, max_iter=2), max_rows=50, bound=False)["rows"]
    assert 48 <= len(rows["y"]) <= 50
    assert (rows["y"] == 1).sum() == 10
    np.testing.assert_array_equal(rows["x"], X[rows["row"]])


# ------------------------------------------------------------------------------ thinning


def slow_turn(d, n_rows=40):
    """A run that starts far off and turns by very little at each update."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, d))
    u = rng.normal(size=d)
    y = (X @ u > 0).astype(int)
    return recorded(X, y, init=-300 * u, fit_intercept=False, eta0=0.1, max_iter=400)


def ends(line, box):
    """Where a line leaves a box, from the crossings with its four sides."""
    (a, b, c), (left, right, bottom, top) = line, box
    with np.errstate(divide="ignore", invalid="ignore"):
        found = [(x, -(c + a * x) / b) for x in (left, right)]
        found += [(-(c + b * y) / a, y) for y in (bottom, top)]
    inside = [p for p in found if left <= p[0] <= right and bottom <= p[1] <= top]
    return min(inside), max(inside)


def test_what_is_left_out_could_not_be_seen(page):
    clf = slow_turn(2)
    data, record = page(clf), clf.trace_.record
    assert len(record) > 1000
    shown = data["frames"]["update"]
    assert len(shown) < len(record) / 2
    assert {0, 1, len(record)} <= set(shown.tolist())
    pixel = (data["box"][1] - data["box"][0]) / 720
    for k in range(1, len(record) + 1, 7):
        there = int(shown[np.searchsorted(shown, k, side="right") - 1])
        drawn, true = (
            ends((*record[j - 1].w, record[j - 1].b[0]), data["box"]) for j in (there, k)
        )
        # how far each end of the true line lies from the line that is drawn instead
        w, b = record[there - 1].w, record[there - 1].b[0]
        off = [abs(np.dot(w, end) + b) / np.linalg.norm(w) for end in true]
        assert max(off) <= 0.5 * pixel, (k, there, drawn, true)
    assert f"{len(shown) - 1:,} of {len(record):,} updates are shown" in data["words"]["notes"]


def test_counters_stay_true_when_frames_are_left_out(page):
    clf = slow_turn(5)
    data, record = page(clf, bound=False), clf.trace_.record
    shown = data["frames"]["update"]
    assert 10 < len(shown) < len(record)
    picked = shown[1:] - 1
    np.testing.assert_array_equal(data["frames"]["row"][1:], record.row[picked])
    np.testing.assert_array_equal(data["frames"]["visit"][1:], record.visit[picked] + 1)
    np.testing.assert_array_equal(data["frames"]["mistakes"][1:], shown[1:])


def test_short_runs_are_shown_whole(page):
    clf = slow_turn(2, n_rows=8).set_params(max_iter=20)
    X = clf.trace_.record.setting.problem.X
    clf.fit(X, clf.trace_.record.setting.problem.y)
    data = page(clf)
    assert data["totals"]["frames"] == len(clf.trace_.record) + 1


# ------------------------------------------------------------------------- bad and evil


def direct():
    """A trace with a row of weights per class, as multiclass="direct" records it."""
    trace = recorded(*AND).trace_
    w = np.repeat(trace.record.w[:, None], 3, axis=1)
    return replace(trace, record=replace(trace.record, w=w))


@pytest.mark.parametrize(
    ("make", "error", "hint"),
    [
        (lambda: Perceptron().fit(*AND).trace_, ParameterError, "record='updates'"),
        (lambda: Perceptron(record="updates"), ParameterError, "fitted Perceptron"),
        (lambda: [1, 2], ParameterError, "needs a Trace"),
        (lambda: recorded(AND[0], [0, 1, 2, 0]), NotSupportedError, r"film\(trace\[0\], path\)"),
        (lambda: direct(), NotSupportedError, "multiclass='ovr'"),
        (lambda: recorded(*AND, init=[2, 2, -3]), ParameterError, "no update"),
        (lambda: pickle.loads(pickle.dumps(recorded(*AND))), DataError, r"film\(trace, path, X, y"),
        (lambda: copy.deepcopy(recorded(*AND).trace_), DataError, r"film\(trace, path, X, y\)"),
    ],
)
def test_a_bad_call_says_what_to_do(tmp_path, make, error, hint):
    with pytest.raises(error, match=hint):
        film(make(), tmp_path / "film.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("more", "error", "hint"),
    [
        ({"X": AND[0]}, ParameterError, "y is missing"),
        ({"X": AND[0], "y": [0, 1, 2, 0]}, DataError, "y == label"),
        ({"X": AND[0][:2], "y": [0, 1]}, DataError, "same order"),
        ({"X": [[0], [1], [2], [3]], "y": AND[1]}, DataError, "1 features, the run had 2"),
        ({"X": AND[0][::-1], "y": AND[1][::-1]}, DataError, "not the rows"),
        ({"X": AND[0], "y": [1, 1, 1, 0]}, DataError, "labels are not those"),
        ({"feature_names": ["a"]}, ParameterError, "one name per feature"),
        ({"class_names": "abc"}, ParameterError, "Give two"),
        ({"max_rows": 1}, ParameterError, "max_rows"),
    ],
)
def test_what_does_not_fit_the_run_is_refused(tmp_path, more, error, hint):
    with pytest.raises(error, match=hint):
        film(recorded(*AND), tmp_path / "film.html", **more)
    assert list(tmp_path.iterdir()) == []


def test_rows_that_were_changed_since_are_noticed(tmp_path):
    X = np.array(AND[0], dtype=float)
    clf = Perceptron(record="updates", shuffle=False).fit(X, AND[1])
    X[3] += 1.0
    with pytest.raises(DataError, match="changed since"):
        film(clf, tmp_path / "film.html")


def test_a_stored_model_has_no_rows_and_is_filmed_with_them_given_again(page):
    clf = recorded(*AND)
    fresh, stored = page(clf), pickle.loads(pickle.dumps(clf))
    assert stored.trace_.record.setting.problem is None
    again = page(stored.trace_, *AND)
    for name, values in fresh["frames"].items():
        np.testing.assert_array_equal(again["frames"][name], values)


def test_an_older_file_stays_until_the_new_one_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "film.html"
    path.write_text("older")
    clf = recorded(*AND)
    monkeypatch.setattr(pages, "as_json", lambda data: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        film(clf, path)
    assert path.read_text() == "older"
    monkeypatch.undo()
    assert film(clf, str(path)) == path
    assert path.read_text("utf-8").startswith("<!doctype html>")
    assert [p.name for p in tmp_path.iterdir()] == ["film.html"]
    with pytest.raises(DataError, match="cannot write"):
        film(clf, tmp_path / "nowhere" / "film.html")


EVIL = "</script><script>alert(1)</script><!--&\u2028'\""


def test_names_from_the_data_cannot_become_markup(tmp_path):
    clf = recorded(AND[0], [EVIL if label else "ham" for label in AND[1]])
    path = film(clf, tmp_path / "film.html", feature_names=[EVIL, "{{script}}"], title=EVIL)
    text = path.read_text("utf-8")
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert "\u2028" not in text.split('id="data"')[1]
    data = told(path)
    assert data["title"] == data["features"][0] == data["classes"][0] == EVIL
    assert data["features"][1] == "{{script}}"
    assert len(re.findall(r"<script\b", text)) == 2


def test_only_our_script_and_style_may_run_and_nothing_is_fetched(tmp_path):
    text = film(recorded(*AND), tmp_path / "film.html").read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none';")
    for tag, source in (("script", "script-src"), ("style", "style-src")):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{source} 'sha256-{digest}'" in policy
    assert not re.search(r"(src|href)\s*=|url\(|@import|https?:", text)
