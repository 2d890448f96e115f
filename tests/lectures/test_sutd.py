"""sutd: its figures of learning problems, the case study, the test example, the advertisement."""

import numpy as np
import pytest

from rosenblatt.errors import DataError, LabelError
from rosenblatt.lectures.case_study import prognostic
from rosenblatt.lectures.lecture import Given, Slip
from rosenblatt.lectures.sutd import LECTURE, case, kinds
from tests.lectures.shown import shown as computed

CASE = {section.__name__: section for section in case.SECTIONS}


@pytest.fixture(scope="module")
def shown():
    """Every section by the name of its function, without a file."""
    return {f.__name__: s for f, s in zip(LECTURE.sections, computed("sutd"), strict=True)}


@pytest.fixture(scope="module")
def wpbc(shared_data):
    """The case study on the lecture's own data."""
    given = Given(shared_data / "wpbc" / "wpbc.data")
    return {name: section(given) for name, section in CASE.items()}


# ------------------------------------------------------------------------ learning problems


def test_the_opening(shown):
    assert shown["perceptron"].numbers["options"]["tie"] == "mistake"
    assert len(shown["learning_problems"].numbers["problems"]) == 6


def test_classification_of_one_feature(shown):
    n = shown["one_feature"].numbers
    x, species, clf = kinds.lengths()
    low, high = n["borders"]
    assert x.min() < low < high < x.max()
    expected = clf.predict([[low - 0.01], [low + 0.01], [high - 0.01], [high + 0.01]])
    assert expected.tolist() == ["setosa", "versicolor", "versicolor", "virginica"]
    assert n["wrong"] == (clf.predict(x) != species).sum() < 15


def test_a_line_for_two_features_and_a_curve_for_rings(shown):
    assert shown["two_features"].numbers["verdict"] == "separable"
    assert shown["two_features"].numbers["wrong"] == 0
    flat, lifted = shown["non_linear"].numbers.values()
    assert (flat["verdict"], lifted["verdict"]) == ("overlapping", "separable")
    assert flat["wrong"] > 50
    assert lifted["wrong"] == 0


def test_regressions(shown):
    assert shown["line"].numbers["slope"] == pytest.approx(0.41576, abs=1e-5)
    n = shown["curve"].numbers
    assert n["line"] < n["parabola"]
    assert n["leading"] == pytest.approx(np.pi, rel=0.02)  # the area of a disc


def test_em_finds_the_ears_that_k_means_cuts(shown):
    agreement = shown["clustering"].numbers["agreement"]
    assert agreement["EM Clustering"] > 0.85 > 0.65 > agreement["k-Means Clustering"]


# --------------------------------------------------------------------------- the case study


def test_without_the_file_the_diagnostic_set_stands_in(shown):
    n = shown["case_study"].numbers
    assert (n["rows"], n["features"], n["missing"]) == (569, 30, 0)
    assert "--data" in shown["case_study"].parts[1].text
    assert shown["supervised"].numbers["counts"] == {"M": 212, "B": 357}
    assert shown["three_rows"].numbers["found"] == [0, 1, 1]
    assert shown["steps"].numbers["verdict"] == "separable"
    judged = shown["generalisation"].numbers["judged"]
    assert judged["linear, average"]["unseen"] < 0.05
    assert judged["linear, mean radius only"]["unseen"] > 0.1  # H too small
    assert len(shown["generalisation"].numbers["clear"]) == len(judged) - 1
    assert "--data" in shown["time_until"].parts[0].text


def test_the_lecture_s_file(wpbc):
    n = wpbc["case_study"].numbers
    assert (n["rows"], n["features"], n["missing"]) == (198, 32, 4)
    assert wpbc["supervised"].numbers["counts"] == {"R": 47, "N": 151}
    assert wpbc["followed"].numbers["R"]["rows"] == 47
    assert wpbc["terminology"].numbers["targets"] == "outcome, time"
    assert wpbc["training_data"].numbers == {"n": 198, "d": 32, "classes": ["N", "R"]}
    assert wpbc["classifier"].numbers == {"majority": "N", "error": pytest.approx(47 / 198)}


def test_slip_10_tumor_size_is_a_radius(wpbc):
    n = wpbc["three_rows"].numbers
    assert n["found"] == [1, 1, 1]
    assert n["ratio"] == pytest.approx(np.pi, rel=0.02)
    assert any(isinstance(part, Slip) for part in wpbc["three_rows"].parts)


def test_the_five_steps(wpbc):
    n = wpbc["steps"].numbers
    assert n["encoded"] == [198, 32]
    assert n["verdict"] == "overlapping"
    assert 0 < n["error"] < 47 / 198


def test_no_rule_is_shown_to_beat_the_majority_of_198_patients(wpbc):
    n = wpbc["generalisation"].numbers
    assert n["clear"] == []
    constant, *others = n["judged"].values()
    assert constant["train"] == constant["unseen"] == pytest.approx(47 / 198)
    for j in others:
        assert j["low"] < j["unseen"] < j["high"]
        assert j["gain_low"] <= j["gain"] <= j["gain_high"]
        assert j["gain"] == pytest.approx(constant["unseen"] - j["unseen"])
    quadratic = n["judged"]["quadratic, average"]
    assert quadratic["train"] < 0.05 < 0.2 < quadratic["unseen"]  # H too big


def test_time_until_recurrence_as_a_regression(wpbc):
    n = wpbc["time_until"].numbers
    assert n["rows"] == 47
    constant, shrunk, squares = n["judged"].values()
    assert squares["train"] < constant["train"]
    assert squares["unseen"] > constant["unseen"]  # overfitted
    assert shrunk["gain_low"] < 0 < shrunk["gain_high"]


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("", DataError, "is empty"),
        ("1,N,31\n", DataError, "row 1 of .* has 3 cells; wpbc.data has 35"),
        ("1,X," + ",".join("1" * 33) + "\n", LabelError, r"outcomes must be N and R, got \['X'\]"),
        ("1,N,z," + ",".join("1" * 32) + "\n1,R," + ",".join("1" * 33), DataError, "'z' in .* is"),
    ],
)
def test_another_file_is_refused_with_what_to_do(tmp_path, text, error, said):
    file = tmp_path / "other.data"
    file.write_text(text)
    with pytest.raises(error, match=said):
        prognostic(file)


# ----------------------------------------------------------------------- linear classifiers


def test_weights_and_classifiers(shown):
    answers = shown["through_origin"].numbers["answers"]
    assert answers[2] == answers[3] == [1, -1, -1]  # theta and 2 theta
    assert len({tuple(a) for a in answers}) == 4
    assert shown["half_planes"].numbers["scores"] == pytest.approx([0, 0, 0])
    assert shown["half_planes"].numbers["side"] > 0


def test_slip_6_the_two_forms_of_the_training_error(shown):
    n = shown["error"].numbers
    assert n["counted"] == pytest.approx([1, 2 / 3, 1 / 3, 1 / 3, 0])
    assert n["predicted"] == pytest.approx([2 / 3, 2 / 3, 1 / 3, 1 / 3, 0])
    assert n["at zero"] == [1, 1]  # predicted right, counted wrong


def test_definition_1_1(shown):
    verdicts = list(shown["definition"].numbers.values())
    assert verdicts == ["separable", "overlapping"]


def test_the_algorithm_from_zero(shown):
    n = shown["algorithm"].numbers
    assert n["thetas"] == [[1, 2], [2, 0], [2, 1], [3, -1], [3, 0], [3, 1]]
    assert n["errors"][-1] == 0
    assert n["stop"] == "separated"
    assert n["never"] == "cycle"


def test_what_an_update_does(shown):
    for update in shown["direction"].numbers["updates"]:
        before, after = update["scores"]
        assert update["y"] * before <= 0
        assert update["y"] * (after - before) > 0
    assert shown["amount"].numbers["rises"] == [["5", "5"], ["5", "5"], ["1", "1"]]
    assert shown["two_updates"].numbers["thetas"] == [[2.0, 1.2], [3.0, -0.8]]
    assert shown["two_updates"].numbers["off"] == pytest.approx([0, 0], abs=1e-15)


def test_exercise_1_in_fractions(shown):
    n = shown["exercise_1"].numbers
    assert n["thetas"] == [["2", "6/5"], ["3", "-4/5"], ["3", "1/5"]]
    assert n["mistakes"] == [3, 0]


def test_theorem_2_1_and_slip_9(shown):
    n = shown["theorem"].numbers
    assert n["allowed"] == pytest.approx([0, np.degrees(np.arctan(0.5))])
    assert n["margin"] == pytest.approx(10**-0.5)
    assert n["bounds"]["0"] == pytest.approx(50)
    for start, mistakes in n["mistakes"].items():
        assert mistakes <= n["bounds"][start]
    assert n["mistakes"]["far"] > n["bounds"]["0"]  # the bound from zero does not hold there


def test_the_test_example_update_by_update(shown):
    n = shown["worked_example"].numbers
    thetas = [[2.0, 1.2], [3.0, -0.8], [3.0, 0.19999999999999996]]
    assert [step["theta"] for step in n["steps"]] == thetas
    assert [step["score"] for step in n["steps"]] == pytest.approx([-0.6, -0.4, -0.8])
    assert n["mistakes"] == [3, 0]
    assert min(n["ends"]) > 0


# ------------------------------------------------------------------------------ with offset


def test_the_offset_shifts_the_hyperplane(shown):
    assert shown["with_offset"].numbers == {"theta": [2, 1], "offset": -1, "updates": 3}
    n = shown["parallel"].numbers
    assert n["scores"] == pytest.approx([0, 0, 0])
    assert np.linalg.norm(n["foot"]) == pytest.approx(n["distance"])


def test_the_advertisement(shown):
    assert shown["exercise_2"].numbers == {"yes": 3}
    assert shown["advertisement"].numbers == {"weights": [2, 8, -15, 5], "offset": -9}
    n = shown["five_users"].numbers
    assert n["scores"] == [-1, 1, 4, -11, -9]
    assert n["predictions"] == ["no", "yes", "yes", "no", "no"]
    assert n["contributions"][3] == [0, 8, -15, 5]
    assert n["every"] == -9
    assert n["updates"] == 0


def test_exercise_3_separable_with_an_offset_and_not_through_the_origin(shown):
    verdicts = [list(v.values()) for v in shown["exercise_3"].numbers.values()]
    assert verdicts == [
        ["separable", "separable"],
        ["overlapping", "overlapping"],
        ["overlapping", "separable"],
    ]
    n = shown["converse"].numbers
    assert (n["through the origin"], n["with an offset"]) == ("overlapping", "separable")
    assert n["margin"] == pytest.approx(0.45**0.5)


def test_the_rule_with_offset_is_the_rule_on_one_and_x(shown):
    assert shown["offset_rule"].numbers == {"same": True, "updates": 8, "stop": "separated"}
    rises = shown["rise"].numbers["rises"]
    assert len(rises) == 8
    assert all(gain == square for gain, square in rises)


def test_learning_outcomes(shown):
    n = shown["outcomes"].numbers
    assert n["mistakes"] == 6 <= n["bound"] == pytest.approx(50)
