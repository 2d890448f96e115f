"""learn_one, learn_many and predict_one: one row at a time, to the bit what `fit` does in order."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, OrderedDict, defaultdict
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from rosenblatt import Hashing, Perceptron, load_model, save_model
from rosenblatt._core import PLAIN_COLUMNS as LARGE
from rosenblatt._core import FeatureIndex
from rosenblatt.errors import (
    DataError,
    DataTypeError,
    LabelError,
    LimitError,
    NotSupportedError,
    OverflowedError,
)
from rosenblatt.learn.multiclass import Learner
from rosenblatt.learn.online import OnlineLearner
from tests.io.slow_readers import murmur3
from tests.real_data import rows_of

RULES = ["perceptron", "margin", "pa", "pa1", "pa2", "arow", "scw", "sop", "alma"]
# what visits with scaled weights, a rate that falls, or all covariances
MORE = [
    {"penalty": "l2", "alpha": 0.01}, {"penalty": "l1", "alpha": 0.01},
    {"penalty": "elasticnet", "alpha": 0.02, "rule": "margin"},
    {"learning_rate": "optimal", "alpha": 0.01}, {"learning_rate": "invscaling", "eta0": 2.0},
    {"penalty": "l2", "alpha": 0.6, "learning_rate": "invscaling"},
    {"rule": "arow(covariance=full)"}, {"rule": "scw(covariance=full)"},
    {"rule": "sop(covariance=full)"}, {"tie": "half"}, {"eta0": 0.1},
]  # fmt: skip
IN_ORDER = {"shuffle": False, "max_iter": 1, "tol": None}


@st.composite
def streams(draw, late=True):
    """Rows as dicts, most features missing, and labels of two or three classes."""
    n = draw(st.integers(2, 14))
    names = [f"f{k}" for k in range(draw(st.integers(1, 6)))]
    value = st.one_of(st.integers(-3, 3).map(float), st.floats(-2, 2, width=32))
    row = st.dictionaries(st.sampled_from(names), value, min_size=0 if late else len(names))
    rows = draw(st.lists(row, min_size=n, max_size=n))
    rows[0] = rows[0] or {names[0]: 1.0}
    y = draw(st.lists(st.integers(0, draw(st.integers(1, 2))), min_size=n, max_size=n))
    y[-2:] = [0, 1]
    return rows, y


def as_csr(rows):
    """Columns in the order of first appearance; every entry that a row mentions is stored."""
    index = {}
    for row in rows:
        for name in row:
            index.setdefault(name, len(index))
    entries = [(i, index[k], v) for i, row in enumerate(rows) for k, v in row.items()]
    _i, j, v = (np.array(part) for part in zip(*entries, strict=True))
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    A = sp.csr_matrix((v.astype(float), j, indptr), (len(rows), len(index)))
    A.sort_indices()
    return A, list(index)


def loop(clf, rows, y):
    for x, label in zip(rows, y, strict=True):
        clf.learn_one(x, label)
    return clf


def same(a, b):
    assert a.classes_.tolist() == b.classes_.tolist()
    assert np.array_equal(a.coef_, b.coef_)
    assert np.array_equal(a.intercept_, b.intercept_)


# ------------------------------------------------------------------------ to the bit


SETTINGS = [{"rule": rule} for rule in RULES] + MORE


@given(streams(), st.sampled_from(SETTINGS), st.sampled_from(["last", "average"]), st.booleans())
def test_a_loop_is_many_is_fit_in_order(stream, setting, keep, intercept):
    rows, y = stream
    options = {**setting, "keep": keep, "fit_intercept": intercept}
    A, names = as_csr(rows)
    fitted = Perceptron(**options, **IN_ORDER).fit(A, y)
    one = loop(Perceptron(**options), rows, y)
    same(one, fitted)
    assert one.feature_names_in_.tolist() == names
    assert (one.n_mistakes_, one.n_updates_, one.t_) == (
        fitted.n_mistakes_, fitted.n_updates_, fitted.t_,
    )  # fmt: skip
    many = Perceptron(**options).learn_many(rows, y)
    same(many, fitted)
    assert many.progress_ == one.progress_
    numbered = [dict(zip(r.indices.tolist(), r.data.tolist(), strict=True)) for r in A]
    same(loop(Perceptron(**options), numbered, y), fitted)


@given(streams(), st.sampled_from(SETTINGS), st.sampled_from(["last", "average"]))
def test_arrays_too(stream, setting, keep):
    rows, y = stream
    X = as_csr(rows)[0].toarray()
    fitted = Perceptron(**setting, keep=keep, **IN_ORDER).fit(X, y)
    one = loop(Perceptron(**setting, keep=keep), X, y)
    same(one, fitted)
    many = Perceptron(**setting, keep=keep).learn_many(X, y)
    same(many, fitted)
    assert many.progress_ == one.progress_


def test_wide_rows_of_any_numbers_to_the_bit():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((500, 67)), rng.integers(0, 3, 500)
    for rule in ("margin", "scw", "alma"):
        options = {"rule": rule, "keep": "average"}
        fitted = Perceptron(**options, **IN_ORDER).fit(X, y)
        same(loop(Perceptron(**options), X, y), fitted)
        sparse = sp.random(500, 67, 0.3, "csr", random_state=0)
        fitted = Perceptron(**options, **IN_ORDER).fit(sparse, y)
        same(Perceptron(**options).learn_many(sparse, y), fitted)
        same(loop(Perceptron(**options), list(sparse), y), fitted)


@given(streams(), st.data())
def test_cut_anywhere_and_mixed_with_partial_fit(stream, data):
    rows, y = stream
    cut = data.draw(st.integers(0, len(y)))
    options = {**data.draw(st.sampled_from(SETTINGS)), "keep": "average"}
    whole = loop(Perceptron(**options), rows, y)
    parts = Perceptron(**options)
    if cut:
        parts.learn_many(rows[:cut], y[:cut])
    if data.draw(st.booleans()):
        parts = pickle.loads(pickle.dumps(copy.deepcopy(parts)))
    if data.draw(st.booleans()):
        parts = copy.copy(parts)
    if data.draw(st.booleans()):
        hasattr(parts, "coef_")  # looking changes nothing
    loop(parts, rows[cut:], y[cut:])
    same(parts, whole)
    X = as_csr(rows)[0].toarray()
    mixed = Perceptron(**options, shuffle=False)
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        mixed.learn_one(x, label) if i % 2 else mixed.partial_fit(x[None], [label])
    A = Perceptron(**options, shuffle=False)
    for x, label in zip(X, y, strict=True):
        A.partial_fit(x[None], [label])
    same(mixed, A)
    assert (mixed.t_, mixed.n_updates_) == (A.t_, A.n_updates_)


@given(streams(), st.sampled_from(["perceptron", "margin", "pa1", "arow"]), st.booleans())
def test_the_direct_rule_is_that_of_partial_fit(stream, rule, average):
    rows, y = stream
    X = as_csr(rows)[0].toarray()
    options = {"rule": rule, "keep": "average" if average else "last", "multiclass": "direct"}
    parts = Perceptron(**options, shuffle=False)
    for x, label in zip(X, y, strict=True):
        parts.partial_fit(x[None], [label])
    one = loop(Perceptron(**options), X, y)
    same(one, parts)
    assert (one.n_mistakes_, one.n_updates_) == (parts.n_mistakes_, parts.n_updates_)
    many = Perceptron(**options).learn_many(X, y)
    same(many, parts)
    assert many.progress_ == one.progress_


@pytest.mark.parametrize("weighting", ["scale", "repeat"])
def test_weights_of_classes(weighting):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((60, 4)), rng.integers(0, 3, 60)
    options = {"class_weight": {0: 2.0, 2: 3.0}, "weighting": weighting, "shuffle": False}
    whole = Perceptron(**options).partial_fit(X, y, classes=[0, 1, 2])
    parts = Perceptron(**options).partial_fit(X[:20], y[:20], classes=[0, 1, 2])
    same(loop(parts, X[20:40], y[20:40]).learn_many(X[40:], y[40:]), whole)
    two = y > 0
    fitted = Perceptron(**{**options, **IN_ORDER, "class_weight": {True: 2.0}}).fit(X, two)
    same(loop(Perceptron(**{**options, "class_weight": {True: 2.0}}), X, two), fitted)
    with pytest.raises(NotSupportedError, match="rule='pa'"):
        Perceptron(rule="pa", class_weight={0: 2.0}).learn_many(X, y)


@given(streams())
def test_against_six_lines_of_python(stream):
    rows = [{k: float(round(v)) for k, v in row.items()} for row in stream[0]]
    y = [label == 1 for label in stream[1]]
    w, b, wrong = {}, 0.0, 0
    for i, (x, label) in enumerate(zip(rows, y, strict=True)):
        score = sum(v * w.get(k, 0.0) for k, v in x.items()) + b
        known = set(y[:i])
        wrong += label not in known or (len(known) == 2 and (score >= 0) != label)
        if (score if label else -score) <= 0:
            w |= {k: w.get(k, 0.0) + (v if label else -v) for k, v in x.items()}
            b += 1.0 if label else -1.0
    clf = loop(Perceptron(), rows, y)
    assert dict(zip(clf.feature_names_in_, clf.coef_[0], strict=True)) == {
        name: w.get(name, 0.0) for name in clf.feature_names_in_
    }
    assert (clf.intercept_[0], clf.progress_.mistakes) == (b, wrong)


# ---------------------------------------------------------------------- answers


@given(streams(), st.sampled_from(SETTINGS), st.sampled_from(["last", "average"]))
def test_predict_one_is_predict_and_progress_counts_its_mistakes(stream, setting, keep):
    A, y = as_csr(stream[0])[0], stream[1]
    rows = [dict(zip(r.indices.tolist(), r.data.tolist(), strict=True)) for r in A]
    clf, wrong = Perceptron(**setting, keep=keep), 0
    for x, label in zip(rows, y, strict=True):
        wrong += clf.predict_one(x) != label
        clf.learn_one(x, label)
    assert (clf.progress_.n_rows, clf.progress_.mistakes) == (len(y), wrong)
    assert clf.progress_.error == wrong / len(y)
    before = [clf.predict_one(x) for x in rows]
    X = A.toarray()
    assert before == clf.predict(X).tolist()
    assert before == [clf.predict_one(x) for x in rows]  # from coef_
    bare = Perceptron(**setting, keep=keep).learn_many(X, y)
    assert [bare.predict_one(x) for x in X] == bare.predict(X).tolist()


def test_unknown_features_are_ignored_and_change_nothing():
    clf = Perceptron().learn_many([{"a": 1.0}, {"b": 2.0}], ["n", "y"])
    assert clf.predict_one({"c": 1e9, "b": 1, "a": 0}) == "y"
    assert clf.n_features_in_ == 2
    assert clf.predict_one({}) in ("n", "y")


def test_a_fitted_model_answers_one_row_and_goes_on():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"a": [0.0, 0, 1, 1], "b": [0.0, 1, 0, 1]})
    y = np.array(["no", "no", "no", "yes"])
    clf = Perceptron(shuffle=False).fit(X, y)
    trace = clf.trace_
    assert [clf.predict_one(row) for row in X.to_dict("records")] == clf.predict(X).tolist()
    assert clf.trace_ is trace
    assert (
        clf.predict_one({"b": 5, "c": 1}) == clf.predict(pd.DataFrame({"a": [0.0], "b": [5.0]}))[0]
    )
    clf.learn_one({"a": 1, "c": 1}, "no")
    assert clf.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(LabelError, match="close the list"):
        clf.learn_one({"a": 1}, "perhaps")
    vote = Perceptron(keep="vote", shuffle=False).fit(X, y)
    assert vote.predict_one({"a": 1, "b": 1}) == vote.predict(X)[3]
    frame = Perceptron().learn_many(X, y)
    same(frame, loop(Perceptron(), X.to_dict("records"), y))


# -------------------------------------------------------------------- the estimator


def test_conventions_of_scikit_learn_hold_between_rows():
    clf = Perceptron()
    with pytest.raises(NotFittedError):
        check_is_fitted(clf)
    assert clf.predict_one({"a": 1}) is None
    assert not hasattr(clf, "progress_")
    assert not hasattr(clf, "coef_")
    clf.learn_one({"a": 1}, 0)
    check_is_fitted(clf)
    assert clf.classes_.tolist() == [0]
    assert clf.predict_one({"a": 1}) == 0
    clf.learn_one({"a": -1}, 1)
    assert not hasattr(clone(clf), "classes_")
    assert clf.stop_reason_ == "max_iter"
    assert clf.n_iter_ == 1
    assert clf.trace_.n_rows == 2
    bare = Perceptron().learn_many([[1.0], [2.0]], [0, 1])
    assert "2 calls" in str(bare.bounds([[1.0], [2.0]], [0, 1]))


def test_edited_weights_and_new_parameters_are_respected():
    clf = Perceptron().learn_many([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    clf.coef_[0, 0] = 7.0
    assert clf.predict_one([1.0, 0.0]) == 1
    clf.learn_one([0.0, 0.0], 1)
    assert clf.coef_[0, 0] == 7.0
    assert clf.progress_.n_rows == 3
    assert clf.t_ == 4.0
    clf.set_params(eta0=10.0).learn_one([1.0, 0.0], 0)
    assert clf.coef_[0, 0] == -3.0
    clf.fit([[1.0], [2.0]], [0, 1])
    assert clf.n_features_in_ == 1
    assert not hasattr(clf, "progress_")


def test_a_model_that_learned_by_name_has_a_file(tmp_path):
    clf = loop(Perceptron(), [{"x": 1}, {"y": 1}], ["a", "b"])
    save_model(clf, tmp_path / "m")
    back = load_model(tmp_path / "m")
    assert back.feature_names == ("x", "y")
    assert np.array_equal(back.coef, clf.coef_)


def test_regret_against_the_best_hyperplane():
    X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1, 1]
    told = Perceptron().learn_many(X, y).regret(X, y)
    assert told.best_at_least == told.best_at_most == 1
    assert told.at_least == told.at_most == told.mistakes - 1
    with pytest.raises(DataError, match="4 rows, the model learned from 5"):
        Perceptron().learn_many(X, y).regret(X[:4], y[:4])


@pytest.mark.parametrize(
    "options",
    [
        {"keep": "vote"}, {"keep": "pocket"}, {"mode": "batch"}, {"class_weight": "balanced"},
        {"early_stopping": True}, {"max_updates": 3}, {"record": "updates"}, {"rule": "minover"},
    ],
)  # fmt: skip
def test_what_it_cannot_do_it_says(options):
    with pytest.raises(NotSupportedError):
        Perceptron(**options).learn_one({"a": 1}, 0)


# -------------------------------------------------------------------- bad rows


BAD = [
    ({"a": np.nan}, 0, DataError, "'a' is nan"),
    ({"new": np.inf}, 0, DataError, "'new' is inf"),
    ({"a": b"red"}, 0, DataTypeError, "not a number"),
    ({"a": "\ud800"}, 0, DataError, "Unicode"),
    ({"\ud800": 1}, 0, DataError, "Unicode"),
    ({"n" * 1001: 1}, 0, LimitError, "1,001 bytes in the name"),
    ({"a": "n" * 1001}, 0, LimitError, "1,001 bytes in the name"),
    ({"a": None}, 0, DataTypeError, "not a number"),
    ({"a": 10**400}, 0, DataTypeError, "fits"),
    ({"a": 1, 3: 1}, 0, DataTypeError, "all of one kind"),
    ({3: 1.0}, 0, DataError, "Use one kind of rows"),
    ([("a", 1), ("b", 2)], 0, DataTypeError, "use dict\\(pairs\\)"),
    ([1.0, 2.0], 0, DataError, "features, the model has 1|one kind"),
    ("text", 0, DataTypeError, "A row is"),
    ({"a": 1}, np.nan, LabelError, "NaN"),
    ({"a": 1}, "text", LabelError, "another kind"),
    ({"a": 1}, None, LabelError, "None"),
    ({"a": 1}, 0.5, LabelError, "continuous"),
    ({"new": np.nan}, 5, DataError, "'new' is nan"),
    ({"a": 1e308, "new": 1e308}, 0, DataError, "overflow"),
]


def everything(clf):
    """All that a model knows between two rows."""
    return pickle.dumps(clf._online), clf._learn_row.__self__ is clf._online.model, clf.progress_


@pytest.mark.parametrize(("x", "y", "error", "words"), BAD)
def test_a_bad_row_changes_nothing(x, y, error, words):
    clf = Perceptron().learn_many([{"a": 4.0}, {"a": -4.0}], [1, 0])
    before = everything(clf)
    with pytest.raises(error, match=words):
        clf.learn_one(x, y)
    assert everything(clf) == before
    with pytest.raises(DataError):
        clf.learn_many([{"a": 1.0}, x], [0, y])
    assert everything(clf) == before
    assert clf.learn_one({"a": 1.0}, 0).progress_.n_rows == 3


def test_bad_arrays_and_columns():
    clf = Perceptron().learn_many(np.eye(3), [0, 1, 0])
    for x, words in [
        (np.array([1.0, np.nan, 0]), "NaN, the first in row 0, column 1"),
        (np.zeros(4), "4 features, the model has 3"),
        (np.zeros((1, 3)), "Expected one row"),
        (np.array(["a", "b", "c"]), "A row is"),
        (np.zeros(0), "no numbers"),
        ({"a": 1}, "without names|one kind"),
        ({1: 1.0}, "one kind"),
    ]:
        with pytest.raises(DataError, match=words):
            clf.learn_one(x, 0)
    with pytest.raises(DataError, match="counted from 0"):
        Perceptron().learn_one({-1: 1.0}, 0)
    with pytest.raises(DataError, match="no room"):
        Perceptron().learn_one({1 << 63: 1.0}, 0)
    with pytest.raises(DataTypeError, match="not a number"):
        Perceptron().learn_one({3: "red"}, 0)
    same(clf, Perceptron().learn_many(np.eye(3), [0, 1, 0]))
    assert clf.learn_one([1, 0, True], 1).coef_.shape == (1, 3)


def test_sparse_rows_and_numbered_columns_widen():
    clf = Perceptron().learn_one({2: 1.0}, "a").learn_one({5: 1.0, 0: 2.0}, "b")
    assert clf.coef_.shape == (1, 6)
    assert clf.predict_one({5: 1.0, 99: 3.0}) == "b"
    clf.learn_one(sp.csr_matrix([[0.0] * 7 + [1.0]]), "a")
    assert clf.n_features_in_ == 8


def test_texts_are_categories():
    rows = [{"age": 30.0, "city": "Rome"}, {"age": 2.0, "city": "Oslo"}, {"city": "Rome"}]
    spelled = [{"age": 30.0, "city=Rome": 1.0}, {"age": 2.0, "city=Oslo": 1.0}, {"city=Rome": 1.0}]
    y = ["a", "b", "a"]
    clf = loop(Perceptron(), rows, y)
    same(clf, loop(Perceptron(), spelled, y))
    same(clf, Perceptron().learn_many(rows, y))
    assert clf.feature_names_in_.tolist() == ["age", "city=Rome", "city=Oslo"]
    odd = [{np.str_("age"): 30.0, "city": np.str_("Rome")}, *rows[1:]]
    same(clf, loop(Perceptron(), odd, y))
    same(clf, Perceptron().learn_many(odd, y))
    assert clf.predict_one({"city": "Rome", "age": "old"}) == clf.predict_one({"city": "Rome"})


def test_categories_go_on_after_other_methods():
    clf = Perceptron().learn_one({"city": "Rome"}, 1).learn_one({"age": 2.0}, 0)
    X = pd.DataFrame(np.zeros((1, 2)), columns=clf.feature_names_in_)
    clf.partial_fit(X, [1]).learn_one({"city": "Rome"}, 1)
    assert clf.feature_names_in_.tolist() == ["city=Rome", "age"]


def test_a_column_and_a_category_stay_apart():
    """The column "a" with the text "b=c" is not the column "a=b" with the text "c"."""
    clf = loop(Perceptron(), [{"a": "b=c"}, {"a=b": "c"}], [1, 0])
    assert clf.feature_names_in_.tolist() == ["a=b=c", "a=b=c"]
    assert (clf.predict_one({"a": "b=c"}), clf.predict_one({"a=b": "c"})) == (1, 0)
    for go_on in (
        lambda clf: clf.set_params(eta0=2.0),
        lambda clf: pickle.loads(pickle.dumps(clf)),
    ):
        clf = go_on(clf)
        assert (clf.predict_one({"a": "b=c"}), clf.predict_one({"a=b": "c"})) == (1, 0)
        assert clf.learn_one({"a": "b=c"}, 1).n_features_in_ == 2


def test_no_more_names_than_the_index_takes():
    clf = Perceptron().learn_one({"a": 1.0}, 0)
    online = clf._online
    online.refresh()
    online.features.index = index = FeatureIndex(max_features=2)
    index.add("a")
    online._connect()
    clf._go_on(online)
    clf.learn_one({"b": 1.0}, 1)
    before = everything(clf)
    for call in (
        lambda: clf.learn_one({"a": 1.0, "c": 1.0}, 1),
        lambda: clf.learn_many([{"a": 1.0}, {"c": 1.0}], [1, 0]),
    ):
        with pytest.raises(LimitError, match="3 names of features, the limit is 2"):
            call()
    assert everything(clf) == before


@given(st.lists(st.dictionaries(st.sampled_from([0, 5, LARGE, LARGE + 7, 2**31, 2**62]),
                                st.floats(-2, 2), min_size=1), min_size=2, max_size=9))  # fmt: skip
def test_large_columns_follow_the_others(rows):
    """From the first row with a large number on, new columns are numbered as they appear."""
    y = [k % 2 for k in range(len(rows))]
    one, many = loop(Perceptron(), rows, y), Perceptron().learn_many(rows, y)
    same(one, many)
    plain, width, index = None, 0, {}
    for row in rows:
        if plain is None and max(row) >= LARGE:
            plain = width
        for k in row:
            if plain is not None and k >= plain:
                index.setdefault(k, plain + len(index))
            width = max(width, index.get(k, k) + 1)
    small = [{index.get(k, k): v for k, v in row.items()} for row in rows]
    same(one, loop(Perceptron(), small, y))
    assert one.n_features_in_ == width < 20
    twin = loop(Perceptron(), small, y)
    assert [one.predict_one(row) for row in rows] == [twin.predict_one(row) for row in small]
    assert not hasattr(one, "feature_names_in_")
    again = pickle.loads(pickle.dumps(one.set_params(eta0=1.0)))
    same(again.learn_many(rows, y), loop(Perceptron(), small + small, y + y))


def test_a_learner_without_rows_can_be_pickled():
    online = Perceptron()._online_learner()
    assert pickle.loads(pickle.dumps(online)).learner is None


def test_a_large_column_takes_little_memory(interruptible):
    """It would be 16 GB for each array of weights."""
    program = """
import resource
from rosenblatt import Perceptron
Perceptron().learn_one({3: 1.0}, 0)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 100_000_000,) * 2)
clf = Perceptron().learn_one({2_000_000_000: 1.0}, "a").learn_one({7: 1.0}, "b")
clf.learn_many([{2_000_000_000: 1.0}, {3_000_000_000: 1.0}], ["a", "b"])
assert clf.coef_.shape == (1, 3), clf.coef_.shape
"""
    if not sys.platform.startswith("linux"):
        pytest.skip("needs /proc and RLIMIT_AS")
    subprocess.run([sys.executable, "-c", program], check=True)


def test_wide_matrices_keep_their_columns():
    wide = sp.csr_matrix(([1.0, -1.0], ([0, 1], [3, LARGE + 9])), (2, LARGE + 10))
    clf = Perceptron().learn_many(wide, [1, 0])
    assert clf.n_features_in_ == LARGE + 10
    assert clf.predict_one(wide[1]) == clf.predict_one({LARGE + 9: -1.0}) == 0
    same(clf, loop(Perceptron(), wide, [1, 0]))
    clf.learn_one({LARGE + 20: 1.0}, 1)
    assert clf.n_features_in_ == LARGE + 11
    with pytest.raises(DataError, match="order in which"):
        clf.learn_one(sp.csr_matrix((1, LARGE + 30)), 1)
    with pytest.raises(LimitError, match="columns"):
        Perceptron().learn_one(sp.csr_matrix((1, 2**40)), 1)


# --------------------------------------------------------------------- hashing


def test_hashed_rows_stay_within_their_columns():
    hashed = Hashing(bits=4)
    rows = [{f"word{k}": 1.0, f"other{k % 3}": 2.0} for k in range(200)]
    clf = loop(Perceptron(), map(hashed, rows), [k % 2 for k in range(200)])
    assert clf.coef_.shape[1] <= 16
    same(clf, Perceptron().learn_many([hashed(r) for r in rows], [k % 2 for k in range(200)]))
    total = hashed({f"word{k}": 1.0 for k in range(200)})
    parts = [hashed({f"word{k}": 1.0}) for k in range(200)]
    assert total == {c: sum(p.get(c, 0.0) for p in parts) for c in total}
    assert hashed({"city": "Rome", "7": 2}) == {
        murmur3(b"Rome", murmur3(b"city", 0)) % 16: 1.0,
        7: 2.0,
    }
    for row, words in [({"a": None}, "not a number"), ({"a": np.nan}, "nan"), ({3: 1}, "dict of")]:
        with pytest.raises(DataError, match=words):
            hashed(row)
    for bits in (0, 31, 2.0, True):
        with pytest.raises(ValueError, match="bits must be"):
            Hashing(bits=bits)


@pytest.mark.parametrize("name", ["spambase", "breast cancer"])
def test_real_rows_by_name(name):
    X, y = rows_of(name)
    X, y = X[::7], y[::7].astype(int)
    names = [f"c{k}" for k in range(X.shape[1])]
    rows = [dict(zip(names, x, strict=True)) for x in X.tolist()]
    for rule in ("perceptron", "arow"):
        clf = loop(Perceptron(rule=rule, keep="average"), rows, y.tolist())
        A, _ = as_csr(rows)
        same(clf, Perceptron(rule=rule, keep="average", **IN_ORDER).fit(A, y))


# ---------------------------------------------------------------- rows of many types


def test_rows_of_other_types_are_the_same_rows():
    rows = [{"a": 1.5, "b": -2.0}, {"b": 1.0, "c": 0.5}, {"a": -1.0, "c": 2.0}]
    y = ["n", "p", "p"]
    wanted = loop(Perceptron(rule="pa1"), rows, y)
    others = [
        [OrderedDict(row) for row in rows],
        [defaultdict(float, row) for row in rows],
        [MappingProxyType(row) for row in rows],
        [{np.str_(k): np.float32(v) for k, v in row.items()} for row in rows],
        [{k: Fraction(v) for k, v in row.items()} for row in rows],
        [{k: Decimal(v) for k, v in row.items()} for row in rows],
    ]
    for written in others:
        same(loop(Perceptron(rule="pa1"), written, y), wanted)
        same(Perceptron(rule="pa1").learn_many(written, y), wanted)
        assert [wanted.predict_one(x) for x in written] == [wanted.predict_one(x) for x in rows]
    X = np.array([[1.0, 0, 2], [0, 3, 1], [1, 1, 0]])
    wanted = loop(Perceptron(), list(X), y)
    fortran = np.asfortranarray(X)  # its rows are not contiguous
    for written in (X.tolist(), X.astype(int), X.astype(np.float32), fortran, map(tuple, X)):
        same(loop(Perceptron(), written, y), wanted)
    counts = [Counter("aab"), Counter("bc"), Counter("ca")]
    same(loop(Perceptron(), counts, y), loop(Perceptron(), map(dict, counts), y))
    same(loop(Perceptron(), [{"a": True, "b": False}] * 3, y),
         loop(Perceptron(), [{"a": 1.0, "b": 0.0}] * 3, y))  # fmt: skip


def test_labels_of_any_one_kind():
    rows = [{"a": 1.0}, {"b": 1.0}, {"a": 2.0}]
    for labels in (["x", "y", "x"], [1, 2, 1], [True, False, True], np.array([3, 4, 3])):
        clf = loop(Perceptron(), rows, labels)
        assert clf.predict_one({"a": 1.0}) == labels[0]
        assert clf.classes_.dtype == np.asarray(labels).dtype
    clf.learn_one({"a": 1.0}, np.array([4]))
    assert clf.progress_.n_rows == 4
    with pytest.raises(LabelError):
        clf.learn_one({"a": 1.0}, [3, 4])


# ---------------------------------------------------------------- large numbers


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("x", [[1e308, 1e308], [1e308, -1e308], [1e160, 2e160]])
def test_a_row_whose_numbers_overflow_changes_nothing(rule, x):
    clf = Perceptron(rule=rule).learn_many([[1.0, 2.0], [-2.0, 1.0], [3.0, 1.0]], [0, 1, 2])
    before = everything(clf)
    calls = [
        lambda model: model.learn_one(np.array(x), 1),
        lambda model: model.learn_one(x, 7),
        lambda model: model.learn_many([[1.0, 1.0], x, x], [0, 5, 1]),
    ]
    for call in calls:
        model = copy.deepcopy(clf).learn_one([1.0, 1.0], 2)
        untouched = everything(model)
        try:
            call(model)
        except OverflowedError:
            assert everything(model) == untouched
        else:  # for some rules these numbers fit
            assert all(np.isfinite(part).all() for part in (model.coef_, model.intercept_))
        assert model.learn_one([1.0, 1.0], 2).progress_.n_rows >= 5
    assert everything(clf) == before


def test_large_numbers_that_fit_are_learned_from():
    rng = np.random.default_rng(0)
    for size in (1e-200, 1e-40, 1e40, 1e100):
        X, y = size * rng.standard_normal((30, 3)), rng.integers(0, 2, 30)
        for options in ({}, {"rule": "margin", "keep": "average"}, {"eta0": 1e40}):
            fitted = Perceptron(**options, **IN_ORDER).fit(X, y)
            same(loop(Perceptron(**options), X, y), fitted)
            same(Perceptron(**options).learn_many(X, y), fitted)
    clf = Perceptron().learn_many([[1.0], [2.0]], [0, 1])
    clf.coef_[0, 0] = 1e308
    with pytest.raises(OverflowedError):
        clf.learn_one([100.0], 0)
    assert clf.coef_[0, 0] == 1e308


# ---------------------------------------------------------------- copies and threads


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))]
)
def test_copies_learn_alone(copied):
    rows, y = [{"a": 1.0}, {"b": 1.0}, {"a": -1.0, "c": 1.0}], [0, 1, 1]
    options = {"rule": "alma", "keep": "average"}
    clf = loop(Perceptron(**options), rows, y)
    other = copied(clf)
    other.learn_one({"d": 2.0}, 2)
    same(clf, loop(Perceptron(**options), rows, y))
    assert clf.feature_names_in_.tolist() == ["a", "b", "c"]
    same(other, loop(Perceptron(**options), [*rows, {"d": 2.0}], [*y, 2]))
    assert other.progress_.n_rows == 4


def test_a_float32_model_goes_on_in_float64():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)).astype(np.float32), rng.integers(0, 2, 20)
    clf = Perceptron(shuffle=False).fit(X, y)
    wide = Perceptron(shuffle=False).fit(X, y)
    wide.coef_, wide.intercept_ = wide.coef_.astype(np.float64), wide.intercept_.astype(np.float64)
    clf.learn_one(X[0], y[0])
    assert clf.coef_.dtype == np.float64
    assert clf.predict_one(X[1]) == clf.predict(X[1:2])[0]


def test_looking_at_every_row_changes_nothing():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((80, 5)), rng.integers(0, 3, 80)
    for options in ({"rule": "alma"}, {"penalty": "l1"}, {"penalty": "l2", "keep": "average"}):
        looked = Perceptron(**options)
        for x, label in zip(X, y, strict=True):
            looked.learn_one(x, label)
            assert looked.coef_.shape[1] == 5
            assert looked.t_ == 1 + looked.progress_.n_rows
        same(looked, loop(Perceptron(**options), X, y))


def test_set_params_is_read_and_the_count_goes_on():
    X, y = np.eye(3), [0, 1, 0]
    clf = Perceptron().learn_many(X, y)
    clf.set_params(rule="arow", keep="average").learn_many(X, y)
    assert (clf.progress_.n_rows, clf.t_) == (6, 7.0)
    clf.set_params(keep="vote")
    with pytest.raises(NotSupportedError, match="keep='vote'"):
        clf.learn_one(X[0], 0)
    assert clf.progress_.n_rows == 6


@pytest.mark.threads
def test_threads_predict_while_rows_are_learned():
    rng = np.random.default_rng(0)
    names = [f"f{k}" for k in range(20)]
    rows = [dict(zip(names, x, strict=True)) for x in rng.standard_normal((2000, 20)).tolist()]
    y = [row["f0"] > 0 for row in rows]
    clf = Perceptron().learn_many(rows[:10], y[:10])

    def answers(part):
        return [clf.predict_one(x) for x in part]

    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(answers, rows[k::4]) for k in range(4)]
        loop(clf, rows[10:], y[10:])
        assert all(a in (True, False) for f in found for a in f.result())
        again = [pool.submit(answers, rows) for _ in range(4)]
        wanted = answers(rows)
        assert all(f.result() == wanted for f in again)
    same(clf, loop(Perceptron(), rows, y))


@pytest.mark.threads
def test_ctrl_c_ends_learn_many_between_two_rows(interruptible):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000, 4))
    y = X[:, 0] > 0
    clf = Perceptron().learn_many(X[:10], y[:10])

    def interrupt():
        while clf.progress_.n_rows == 10:  # until rows are being learned from
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    def learn():
        while True:
            clf.learn_many(X, y)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        learn()
    thread.join()
    done = clf.progress_.n_rows - 10
    repeated = np.resize(np.arange(len(X)), done)
    same(clf, Perceptron().learn_many(X[:10], y[:10]).learn_many(X[repeated], y[repeated]))


def test_columns_of_one_name_are_refused():
    frame = pd.DataFrame(np.ones((2, 3)), columns=["a", "b", "a"])
    clf = Perceptron(penalty="l2")
    with pytest.raises(DataError, match="more than one column named 'a'"):
        clf.learn_many(frame, [0, 1])
    assert not hasattr(clf, "coef_")


def test_rows_before_ctrl_c_are_learned_from(monkeypatch):
    X, y = np.eye(4), [0, 1, 0, 1]
    clf, half = Perceptron().learn_many(X[:2], y[:2]), Perceptron().learn_many(X[:2], y[:2])
    assert clf.t_ == 3.0  # makes the attributes
    learn_many = OnlineLearner.learn_many

    def interrupted(self, X, y):
        learn_many(self, X[:1], y[:1])
        raise KeyboardInterrupt

    monkeypatch.setattr(OnlineLearner, "learn_many", interrupted)
    with pytest.raises(KeyboardInterrupt):
        clf.learn_many(X[2:], y[2:])
    monkeypatch.undo()
    half.learn_many(X[2:3], y[2:3])
    assert clf.t_ == half.t_ == 4.0
    np.testing.assert_array_equal(clf.coef_, half.coef_)
    assert clf.progress_ == half.progress_


@pytest.mark.parametrize("row", [[1.0, 2.0], {0: 1.0}, np.ones(2)])
def test_a_row_of_another_kind_is_refused_by_predict_one_too(row):
    clf = Perceptron().learn_one({"a": 1.0}, 0).learn_one({"b": 1.0}, 1)
    for _ in range(2):  # before and after the attributes are made
        with pytest.raises(DataError, match="features by name"):
            clf.predict_one(row)
        assert clf.coef_.shape == (1, 2)


@pytest.mark.parametrize(
    "row",
    [
        {"a": 2**53 + 1}, {"a": np.int64(2**53 + 1)}, {3: -(2**53) - 1}, [2**53 + 1, 0],
        [2**53 + 1, 0.5], np.array([2**53 + 1, 0]), np.array([2**53 + 1, 0], dtype=object),
    ],
)  # fmt: skip
def test_integers_that_float64_rounds_are_refused(row):
    with pytest.raises(DataError, match=r"9007199254740993, beyond 2\*\*53"):
        Perceptron().learn_one(row, 1)
    fine = dict.fromkeys(row, 1) if isinstance(row, dict) else np.ones(2)
    clf = Perceptron().learn_one(fine, 1).learn_one(fine, 0)
    with pytest.raises(DataError, match=r"9007199254740993, beyond 2\*\*53"):
        clf.learn_one(row, 1)
    assert clf.progress_.n_rows == 2


def test_large_floats_and_the_last_exact_integer_are_learned_from():
    clf = Perceptron(fit_intercept=False)
    for row in ({"a": 2**53}, {"a": 2.0**60}, {"a": np.float32(2.0**60)}):
        clf.learn_one(row, 1).learn_one({"b": 1}, 0)
    assert clf.coef_[0, 0] == 2.0**53


@pytest.mark.parametrize("label", [["x"], ("x",), {"x": 1}, {1}, np.array(["x", "y"])])
def test_a_row_has_one_label(label):
    with pytest.raises(LabelError, match="one label"):
        Perceptron().learn_one({"a": 1.0}, label)


def test_labels_that_cannot_be_ordered_are_refused():
    with pytest.raises(LabelError, match="ordered"):
        Perceptron().learn_one({"a": 1.0}, object())


def test_labels_that_end_in_a_null_character_are_refused():
    clf = Perceptron().learn_one({"x": 1.0}, "a")
    with pytest.raises(LabelError, match="null character"):
        clf.learn_one({"x": 2.0}, "a\0")
    with pytest.raises(LabelError, match="null character"):
        Perceptron().fit([[1.0], [2.0]], ["a", "a\0"])


def test_regret_needs_rows_learned_one_at_a_time():
    X, y = [[0.0], [1.0]], [0, 1]
    with pytest.raises(NotSupportedError, match="learn_one"):
        Perceptron().fit(X, y).regret(X, y)


def test_hashing_takes_dicts():
    with pytest.raises(DataTypeError, match="dict of names"):
        Hashing(bits=4)("abc")


def test_a_row_of_a_frame_is_a_row_by_name():
    frame = pd.DataFrame({"a": [1.0, 2.0, -1.0], "b": [0.5, 0.0, 1.0]})
    y = [0, 1, 0]
    one, dicts = Perceptron(), Perceptron()
    for (_, row), label in zip(frame.iterrows(), y, strict=True):
        one = one.learn_one(row, label)
        dicts = dicts.learn_one(row.to_dict(), label)
    whole = Perceptron().learn_many(frame, y)
    assert one.feature_names_in_.tolist() == ["a", "b"]
    assert np.array_equal(one.coef_, dicts.coef_)
    assert np.array_equal(one.coef_, whole.coef_)
    exchanged = frame.iloc[1][["b", "a"]]
    assert one.predict_one(exchanged) == one.predict_one({"a": 2.0, "b": 0.0})
    with pytest.raises(DataError, match="name 'a' twice"):
        one.learn_one(pd.Series([1.0, 2.0], index=["a", "a"]), 1)
    assert Perceptron().learn_one(pd.Series([1.0, 2.0]), 1).n_features_in_ == 2  # no names


def test_a_late_class_does_not_rebuild_the_machines(monkeypatch):
    """What a late class costs is a pass over the weights, in the core."""
    made, machines = [], Learner.machines

    def counted(self, *args, **kwargs):
        made.append(len(self.classes))
        return machines(self, *args, **kwargs)

    monkeypatch.setattr(Learner, "machines", counted)
    clf = Perceptron(keep="average")
    for k in range(20):
        clf = clf.learn_one({"a": 1.0, f"b{k}": 1.0}, k)
    assert made == [1]
    assert len(clf.classes_) == 20
