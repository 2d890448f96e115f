"""Explanations of a row: what the features contribute adds up to the score of predict."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rosenblatt import LinearModel, Perceptron
from rosenblatt.errors import DataError, NotSupportedError
from rosenblatt.model.explain import largest_first

AD = LinearModel(
    np.array([[2.0, 8, -15, 5]]),
    np.array([-9.0]),
    np.array(["no", "yes"]),
    ("repair", "reviews", "purchase", "clicked"),
)
USERS = [
    ([0, 1, 0, 0], -1, "no"),
    ([1, 1, 0, 0], 1, "yes"),
    ([0, 1, 0, 1], 4, "yes"),
    ([0, 1, 1, 1], -11, "no"),
    ([0, 0, 0, 0], -9, "no"),
]


@pytest.mark.parametrize(("x", "score", "label"), USERS)
def test_the_advertisement_of_the_lecture(x, score, label):
    named = {name: v for name, v in zip(AD.feature_names, x, strict=True) if v}
    rows = [x, [x], np.array(x, float), sp.csr_matrix([x], dtype=float), named]
    for row in rows:
        why = AD.explain(row)
        assert (why.label, why.score, why.offset) == (label, score, -9)
        assert why.contributions.sum() + why.offset == score
        assert {c.feature: c.contribution for c in why.largest()} == {
            name: AD.coef[0, AD.feature_names.index(name)] for name in named
        }
    assert AD.explain(x).names == AD.feature_names


def test_the_table_and_the_data():
    why = AD.explain([0, 1, 1, 1])
    assert str(why).splitlines() == [
        "no, not yes: the score -11 is < 0",
        " feature  value  weight  contribution",
        "purchase      1     -15           -15",
        " reviews      1       8             8",
        " clicked      1       5             5",
        "  offset                           -9",
        "   score                          -11",
    ]
    assert "<table>" in why._repr_html_()
    assert why["reviews"].contribution == 8
    assert json.loads(json.dumps(why.to_dict()))["contributions"][2] == {
        "feature": "purchase", "value": 1, "weight": -15, "contribution": -15
    }  # fmt: skip
    with pytest.raises(DataError, match="did you mean 'reviews'"):
        why["review"]


WHOLE = st.integers(-50, 50).map(float)


@given(data=st.data(), d=st.integers(1, 30), n_classes=st.integers(2, 4))
def test_contributions_and_offset_are_the_score_and_the_label_is_predicted(data, d, n_classes):
    """Sums of integers are exact, so equality is asked for to the bit."""
    rows = 1 if n_classes == 2 else n_classes
    model = LinearModel(
        data.draw(hnp.arrays(float, (rows, d), elements=WHOLE)),
        data.draw(hnp.arrays(float, rows, elements=WHOLE)),
        np.arange(n_classes),
    )
    x = data.draw(hnp.arrays(float, d, elements=WHOLE))
    why, scores = model.explain(x), np.atleast_1d(model.decision_function(x[None])[0])
    assert why.label == model.predict(x[None])[0] != why.against
    assert why.contributions.tolist() == (why.weights * x).tolist()
    assert why.contributions.sum() + why.offset == why.score
    if n_classes == 2:
        assert why.score == scores[0]
    else:
        first, second = np.sort(scores)[::-1][:2]
        assert (why.score, why.scores[why.against]) == (first - second, second)
    sparse = model.explain(sp.csr_matrix(x[None]))
    assert (sparse.label, sparse.score) == (why.label, why.score)
    _, lines = why.rows(most=3)
    shown = sum(float(line[3]) for line in lines[:-2])
    assert len(lines) <= 6
    assert shown == why.contributions.sum()
    assert str(why).count("\n") == 1 + len(why.rows()[1])


def test_a_fitted_perceptron_explains_its_predictions():
    X = np.random.default_rng(0).integers(-3, 4, (60, 4)).astype(float)
    y = np.array(["a", "b", "c"])[np.arange(60) % 3]
    clf = Perceptron(max_iter=3, tol=None).fit(X, y)
    for x, label in zip(X, clf.predict(X), strict=True):
        why = clf.explain(x)
        assert why.label == label
        assert f"{label}, not {why.against}" in str(why)
    with pytest.raises(NotSupportedError, match="keep='average'"):
        Perceptron(keep="vote", max_iter=1, tol=None).fit(X, y).explain(X[0])


def test_rows_of_frames_go_by_name():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[1, 0, 1, 0]], columns=["clicked", "purchase", "reviews", "repair"])
    assert AD.explain(frame.iloc[0]).score == 4
    with pytest.raises(DataError, match="same order"):
        AD.explain(frame)
    assert AD.explain(frame[list(AD.feature_names)]).score == 4


@pytest.mark.parametrize(
    ("x", "why"),
    [
        ([[1, 2, 3, 4], [1, 2, 3, 4]], "2 rows"),
        ([1, 2], "4 features"),
        ({"review": 1}, "no feature 'review'; did you mean 'reviews'"),
        ({"reviews": np.nan}, "NaN"),
        ({"reviews": "many"}, "number"),
        ([1, 2, np.inf, 4], "infinity"),
    ],
)
def test_what_is_no_row_is_refused(x, why):
    with pytest.raises(DataError, match=why):
        AD.explain(x)


def test_unnamed_features_are_called_by_number():
    model = LinearModel(np.array([[1.0, 2.0]]), np.zeros(1), np.array([0, 1]))
    assert model.explain({"x1": 3}).score == 6
    assert model.explain({1: 3}).score == 6
    assert model.predict([{1: -3}, {1: 3}, {2: -3}]).tolist() == [0, 1, 1]
    assert model.explain({}).score == 0
    for number in (2, -1):
        with pytest.raises(DataError, match=f"no feature {number}"):
            model.explain({number: 3})
    with pytest.raises(DataError, match="no feature 'x2'"):
        model.explain({"x2": 3})


def test_a_model_of_lists_is_refused():
    with pytest.raises(DataError, match="coef is a list, expected an array of NumPy"):
        LinearModel([[1.0, 2.0]], [0.0], [0, 1])


def test_the_largest_weights_come_first():
    model = LinearModel(
        np.array([[1.0, -4.0, 0.0, 3.0]]), np.array([7.0]), np.array([0, 1]), tuple("pqrs")
    )
    told = model.explain_model(3)
    (plane,) = told.planes
    assert [(w.feature, w.weight) for w in plane.weights] == [("q", -4), ("s", 3), ("p", 1)]
    assert (plane.label, plane.against, plane.offset) == (1, 0, 7)
    assert (plane.n_nonzero, plane.n_features, plane.norm) == (3, 4, np.sqrt(26))
    assert str(told).splitlines() == [
        "1 against 0: offset 7, ||w|| 5.09902, 3 of 4 weights not 0",
        "feature  weight",
        "      q      -4",
        "      s       3",
        "      p       1",
    ]
    assert len(model.explain_model(0).planes[0].weights) == 0
    assert json.loads(json.dumps(told.to_dict()))["planes"][0]["weights"][0]["feature"] == "q"
    assert "<table>" in told._repr_html_()


def test_weights_are_ordered_by_weight_times_deviation():
    model = LinearModel(
        np.array([[100.0, -0.5, 3.0]]), np.zeros(1), np.array([0, 1]), ("ratio", "salary", "flat"),
        deviations=np.array([0.01, 1000.0, 0.0]),
    )  # fmt: skip
    told = model.explain_model()
    assert [w.feature for w in told.planes[0].weights] == ["salary", "ratio"]
    assert str(told).splitlines()[1:] == [
        "feature  weight  deviation  weight x deviation",
        " salary    -0.5       1000                -500",
        "  ratio     100       0.01                   1",
    ]


@given(sizes=st.lists(st.integers(0, 5)), most=st.integers(0, 12))
def test_the_largest_come_first_and_equal_ones_in_order(sizes, most):
    by_hand = sorted(range(len(sizes)), key=lambda k: (-sizes[k], k))[:most]
    assert largest_first(np.array(sizes, dtype=float), most).tolist() == by_hand


def test_features_in_namespaces_are_explained_by_their_display_names():
    model = LinearModel(
        np.array([[1.0, 2.0]]), np.zeros(1), np.array([0, 1]), ("Rome", "Paris"),
        namespaces=("city", "city"),
    )  # fmt: skip
    assert model.explain({"city=Paris": 1}).score == 2


ROWS = [
    ({"age": 3, "city": "Rome"}, "a"),
    ({"age": 1, "city": "Bonn"}, "b"),
    ({"age": 2, "city": "Rome", "tall": True}, "a"),
]


def test_raw_rows_by_name_are_predicted_and_explained():
    clf = Perceptron()
    for x, y in ROWS * 5:
        clf.learn_one(x, y)
    model = LinearModel.of(clf)
    rows = [x for x, _ in ROWS] + [{"age": 1, "city": "Oslo"}, {"size": 3.0}, {}]
    assert model.predict(rows).tolist() == [clf.predict_one(x) for x in rows]
    for x in rows[:4]:
        why = model.explain(x)
        assert why.label == clf.predict_one(x)
        assert why.score == model.decision_function([x])[0]
    assert [c.feature for c in model.explain(ROWS[1][0]).largest()] == ["city=Bonn", "age"]
    pairs = LinearModel(
        np.array([[1.0, 2.0, 4.0]]), np.zeros(1), np.array([0, 1]), ("age", "Rome", "Bonn"),
        namespaces=("", "city", "city"),
    )  # fmt: skip
    assert pairs.decision_function(rows[:2]).tolist() == [5.0, 5.0]
    assert pairs.explain(rows[1]).names == ("age", "city=Bonn")
    with pytest.raises(DataError, match="'age' is \\[1\\], expected a number or text"):
        model.predict([{"age": [1]}])
    columns = {"kinds": [["age", "number"], ["city", "category"]], "fill": {"age": 30.0}}
    table = LinearModel(
        np.array([[1.0, -9.0]]), np.zeros(1), np.array([0, 1]), ("age", "Rome"),
        namespaces=("", "city"), columns=columns,
    )  # fmt: skip
    rows = [{"age": 5, "city": "Rome"}, {"city": "Oslo"}, {"age": 7, "more": 1}]
    assert table.decision_function(rows).tolist() == [-4, 30, 7]  # a missing age is the mean
    assert table.explain({"city": "Rome"})["age"].value == 30
    damaged = LinearModel(np.eye(1), np.zeros(1), np.array([0, 1]), ("age",), columns={"age": {}})
    assert damaged.predict([[1.0]]).tolist() == [1]
    with pytest.raises(DataError, match="columns of the table are damaged"):
        damaged.predict([{"age": 1}])
