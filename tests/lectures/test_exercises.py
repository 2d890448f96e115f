"""Exercises: right answers pass, typical wrong ones are explained, nothing is evaluated."""

import itertools
import tomllib
from fractions import Fraction
from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import Perceptron, max_margin
from rosenblatt.data.toy_datasets import petals
from rosenblatt.errors import ParameterError
from rosenblatt.lectures import exercise
from rosenblatt.lectures.answers import UnreadableError, numbers, parts, rows
from rosenblatt.lectures.checks import ROUNDS
from rosenblatt.lectures.exercises import exercises
from rosenblatt.lectures.notebook import LECTURES

RIGHT = {
    "radivojac-1": ["-5/2 1", "-5 2", "-2.4, 1"],
    "radivojac-2": ["0 -10", "1 1", "100 -100"],
    "chan-1": ["0 100; 1 -2.5; 1/2", "0 -100 1 -2.5 0.5"],
    "chan-2": ["1 -1/2", "0.5 -0.25"],
    "sutd-1": ["3 0.1", "(3, 1/10)", "1, 0.05", "1000 1"],
    "sutd-2": ["-5", "-8", "-0.000000001"],
    "sutd-3": ["1 1 1; 2 2 -1", "1 1 -1; 2 1/2 -1; 2 2 1; 3 1.5 1", "0.1 0 1\n0.3 0 -1"],
    "online-1": ["1 4 5 3 2"],
    "online-2": ["1 -2 1", "-0.5 1 -1"],
    "cisc271-1": ["0 1 -1 0 -1"],
    "cisc271-2": ["-0.84 -0.54 2.47", "-84 -54 247"],
}
WRONG = {  # a typical wrong answer, and words of its explanation
    "radivojac-1": [
        ("-3 1", "260"),
        ("-30 10", "260"),  # scaling does not help
        ("-5 1", "not a solution: at x₁ = 4"),
        ("0 0", "not a solution"),
    ],
    "radivojac-2": [("0 0", "only rescales"), ("-5 2", "larger, or further")],
    "chan-1": [
        ("1 0; 1 -2; 1/2", "do not violate"),
        ("0 100; 1 -2.5; 2", "between 0 and 1"),
    ],
    "chan-2": [
        ("0 0", "without having learned anything"),
        ("1 -2.5", "already converged"),
        ("-1 0", "2 misclassified before, 2 after"),
    ],
    "sutd-1": [
        ("1 -0.8", "θ⁽⁰⁾"),
        ("2 1.2", "θ⁽¹⁾"),
        ("3 -0.8", "θ⁽²⁾"),
        ("3 0.2", "θ⁽³⁾ of the lecture; it knows three"),
        ("2 -1", "although h(x) = +1 is right"),
        ("3 0", "A value of 0 counts as a training error."),
        ("-1 -1", "Example 1 has y (θ·x) = -3."),
    ],
    "sutd-2": [
        ("-9", "scores -1"),
        ("0", "a score of 0 predicts yes"),
        ("8", "it must be negative"),
    ],
    "sutd-3": [
        ("1 1 1; -1 -1 -1", "They are separable through the origin"),
        ("0 0 1; 1 1 1; 0 1 -1; 1 0 -1", "They are not separable with an offset"),
    ],
    "online-1": [("1 2 3 4 5", "In round 3, w = (1, -1) is right about example 3")],
    "online-2": [
        ("1 1 1", "no mistake"),
        ("1 1 -1", "2 y (w·x) = -6"),
        ("0 0 1", "must not be 0"),
    ],
    "cisc271-1": [
        ("0 -1 1 0 1", "y - q, not q - y"),
        ("0 1 -1 0 -1/2", "MATLAB"),
        ("0 1 -1 0 0", "q = 1 here"),
        ("0 2 -2 0 -2", "at most 1"),
        ("0 0 -1 0 -1", "e₂ again: the score is -2, and y = 1"),
    ],
    "cisc271-2": [
        ("1 0 -2.45", "Reverse the signs"),
        ("-1 0 2.45", "0.55 cm"),
        ("-1 -1 1", "50 of 150"),
        ("0 0 1", "no line"),
    ],
}
UNREADABLE = {
    "radivojac-2": "101 0",
    "sutd-3": "1 1 1; 2 2 1",
    "online-1": "1 1 2 3 4",
    "online-2": "1 1 0",
}


def test_there_are_three_for_sutd_and_two_for_each_other_lecture():
    per_lecture = {name: len([e for e in exercises() if e.startswith(name)]) for name in LECTURES}
    assert per_lecture == {"radivojac": 2, "chan": 2, "sutd": 3, "online": 2, "cisc271": 2}
    assert set(exercises()) == set(RIGHT) == set(WRONG)
    lectures = [name.partition("-")[0] for name in exercises()]
    assert [name for name, _ in itertools.groupby(lectures)] == list(LECTURES)


def test_every_exercise_has_its_words():
    text = resources.files("rosenblatt.lectures").joinpath("exercises.toml").read_text("utf-8")
    for entry in tomllib.loads(text).values():
        assert set(entry) == {"title", "question", "form", "clue", "feedback"}
        assert all(entry.values())


@pytest.mark.parametrize("name", exercises())
def test_every_sentence_of_feedback_is_given_to_some_answer(name):
    answers = [*RIGHT[name], *(answer for answer, _ in WRONG[name])]
    checker = exercises()[name].checker
    assert {checker(parts(answer))[0] for answer in answers} == set(exercises()[name].feedback)


@pytest.mark.parametrize(("name", "answer"), [(k, a) for k in RIGHT for a in RIGHT[k]])
def test_right_answers_pass(name, answer):
    feedback = exercise(name).check(answer)
    assert feedback.correct, feedback
    assert str(feedback).startswith("Correct. ")


@pytest.mark.parametrize(("name", "answer", "why"), [(k, *p) for k in WRONG for p in WRONG[k]])
def test_a_typical_wrong_answer_is_explained(name, answer, why):
    feedback = exercise(name).check(answer)
    assert (feedback.correct, feedback.readable) == (False, True)
    assert why in feedback.message
    assert str(feedback).startswith("Not yet. ")


@pytest.mark.parametrize("name", exercises())
def test_the_example_of_the_form_can_be_read_and_is_wrong(name):
    example = exercise(name).form.partition("for example ")[2]
    feedback = exercise(name).check(example)
    assert (feedback.correct, feedback.readable) == (False, True)


@pytest.mark.parametrize("name", exercises())
@pytest.mark.parametrize("answer", ["", "x", "1e5", "nan", "1/0", "1//2", "0x10", "9" * 41, None])
def test_what_cannot_be_read_gets_a_kind_message(name, answer):
    feedback = exercise(name).check(answer)
    assert (feedback.correct, feedback.readable) == (False, False)
    assert str(feedback).endswith(f"The answer is {exercise(name).form}.")


@pytest.mark.parametrize(("name", "answer"), UNREADABLE.items())
def test_numbers_outside_of_the_form_get_a_kind_message(name, answer):
    assert not exercise(name).check(answer).readable


@given(st.text(max_size=30) | st.lists(st.floats() | st.booleans() | st.text(max_size=3)))
def test_no_answer_raises(answer):
    for name in exercises():
        exercise(name).check(answer)


def test_answers_may_be_numbers_lists_and_arrays():
    assert exercise("sutd-2").check(-5).correct
    assert exercise("sutd-1").check([3, 0.1]).correct
    assert exercise("sutd-1").check(np.array([3, 0.1])).correct
    assert exercise("sutd-1").check((Fraction(3), Fraction(1, 10))).correct
    assert exercise("sutd-3").check([(1, 1, 1), (2, 2, -1)]).correct
    assert exercise("sutd-3").check(np.array([[1, 1, 1], [2, 2, -1]])).correct


def test_several_numbers_need_no_brackets():
    assert exercise("sutd-1").check(3, 0.1).correct
    assert exercise("sutd-1").check("3", "1/10").correct
    assert exercise("sutd-3").check((1, 1, 1), (2, 2, -1)).correct
    assert str(exercise("sutd-1").check()).startswith("Expected 2 numbers, got 0.")


def test_floats_of_any_length_are_accepted():
    X, y = petals()
    best = max_margin(X, y)
    for answer in ([*best.w, best.b], np.array([*best.w, best.b]), (best.w, best.b)):
        assert exercise("cisc271-2").check(answer).correct, answer
    assert exercise("cisc271-2").check(best.w, best.b).correct
    clf = Perceptron(shuffle=False, tol=None, fit_intercept=False, init=[1, -0.8])
    clf.fit([[1, 2], [-1, 2], [0, -1], [1, -16]], [1, -1, -1, 1])
    assert exercise("sutd-1").check(clf.coef_).correct
    assert exercise("sutd-1").check(10, 1 / 3).correct
    assert exercise("sutd-1").check(np.float32(2), np.float32(0.1)).correct
    assert exercise("sutd-1").check("10, 0.33333333333333333333").correct
    shifted = [[1 / 3, 1 / 3, 1], [2 / 3, 2 / 3, -1]]
    assert exercise("sutd-3").check(shifted).correct


def test_floats_are_the_decimals_that_are_printed():
    assert numbers(parts([0.1, 1.2, 1e-5]), 3) == [
        Fraction(1, 10), Fraction(6, 5), Fraction(1, 100_000),
    ]  # fmt: skip
    assert "θ⁽¹⁾" in exercise("sutd-1").check(2, 1.2).message
    assert "y (θ·x) = -0.333333." in exercise("sutd-1").check(1, -1 / 6 - 0.5).message


@pytest.mark.parametrize("value", [1e41, 1e-41, 10**41, Fraction(1, 10**50), 5e-324, float("inf")])
def test_work_on_numbers_is_bounded(value):
    feedback = exercise("sutd-1").check(value, 1)
    assert (feedback.correct, feedback.readable) == (False, False)


def test_a_list_that_is_too_long_is_not_cut():
    feedback = exercise("online-1").check([1] * 1001)
    assert (feedback.readable, "got 1001" in feedback.message) == (False, True)


def test_a_comma_in_a_decimal_is_explained():
    feedback = exercise("sutd-1").check("3,5 1,5")
    assert "got 4. A comma separates numbers; decimals have a point: 0.8." in feedback.message


def test_coordinates_beyond_floats_are_refused():
    rows = "; ".join(f"1/{10**19 + k} {10**19 + k} 1" for k in range(19)) + "; 1 1 -1"
    assert not exercise("sutd-3").check(rows).readable


def test_numbers_are_read_exactly():
    assert numbers(parts("−0.1, [+5/2] (.5; 3.)"), 4) == [
        Fraction(-1, 10), Fraction(5, 2), Fraction(1, 2), Fraction(3),
    ]  # fmt: skip
    assert rows(parts("1 2; 3 4\n5 6;"), 2) == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(UnreadableError, match="1 to 20 rows"):
        rows(parts("1;" * 21), 1)


def test_a_hint_does_not_give_the_answer_away():
    for name, answers in RIGHT.items():
        hint = exercise(name).hint()
        assert repr(hint) == str(hint)
        assert not any(f" {answer}" in hint for answer in answers)


def test_a_proof_about_decimals_says_how_they_were_scaled():
    feedback = exercise("sutd-3").check("0.1 0.5 1; 0.2 1 -1").message
    assert "(all coordinates multiplied by 10)" in feedback
    assert "multiplied" not in exercise("sutd-3").check("2 1 1; 4 2 -1").message
    assert not exercise("sutd-3").check("1/999999937 1/999999929 1; 2 2 -1").readable


def test_twelve_orders_are_mistakes_throughout():
    orders = itertools.permutations(range(1, 6))
    assert sum(exercise("online-1").check(order).correct for order in orders) == 12


def test_the_hint_of_the_adversary_is_true_of_all_orders():
    assert "first two examples must have different labels" in exercise("online-1").hint()
    for order in itertools.permutations(range(1, 6)):
        if exercise("online-1").check(order).correct:
            first, second = (ROUNDS[k - 1][1] for k in order[:2])
            assert first != second


def test_the_largest_margin_solves_the_exercise_about_iris():
    X, y = petals()
    best = max_margin(X, y)
    w1, w2, b = (round(float(v), 6) for v in (*best.w, best.b))
    assert exercise("cisc271-2").check([w1, w2, b]).correct


def test_an_exercise_shows_itself_in_a_notebook():
    shown = exercise("sutd-1")._repr_markdown_()
    assert 'exercise("sutd-1").check(...)' in shown
    assert exercise("sutd-1").question in shown


def test_an_unknown_exercise_is_answered_with_the_known_ones():
    with pytest.raises(ParameterError, match="no exercise 'sutd-9'"):
        exercise("sutd-9")
