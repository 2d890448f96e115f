"""Exercises: questions from the five lectures, with hints and checked answers."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import Any

from rosenblatt.errors import ParameterError
from rosenblatt.lectures import checks
from rosenblatt.lectures.answers import Answer, Feedback, Hint, UnreadableError, parts, shown
from rosenblatt.lectures.checks import Finding


@dataclass(frozen=True)
class Exercise:
    """A question with a hint and a check of answers.

    Parameters
    ----------
    name : str
        The lecture and a number, such as "sutd-1".
    title : str
        The subject in a few words.
    question : str
        The question.
    form : str
        How to write an answer.
    clue : str
        The hint.
    feedback : dict of str to str
        What is said of an answer, by name.
    checker : callable
        Takes the words and numbers of an answer; returns the name of the feedback, "right" if the
        answer is, and the numbers in it.
    """

    name: str
    title: str
    question: str
    form: str
    clue: str
    feedback: dict[str, str]
    checker: Callable[[Answer], Finding]

    def check(self, *answer: Any) -> Feedback:
        """Check an answer.

        Parameters
        ----------
        *answer : str, numbers or sequences of numbers
            Text such as "3, -0.8" or "5/2 1", or the numbers themselves: `check(3, 0.2)`,
            `check([3, 0.2])`, `check(clf.coef_, clf.intercept_)`. A float is the decimal that is
            printed: 0.1 is 1/10.

        Returns
        -------
        Feedback
            `correct`; a `message` that says why; and `readable`, which is False if the answer does
            not have the form that the exercise asks for.
        """
        try:
            name, facts = self.checker(parts(answer[0] if len(answer) == 1 else answer))
        except UnreadableError as e:
            return Feedback(False, f"{e} The answer is {self.form}.", readable=False)
        words = {fact: shown(value) for fact, value in facts.items()}
        return Feedback(name == "right", self.feedback[name].format(**words))

    def hint(self) -> Hint:
        """Return the hint."""
        return Hint(self.clue)

    def __str__(self) -> str:
        return f"{self.name}: {self.title}\n\n{self.question}\n\nThe answer is {self.form}."

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        this = f'exercise("{self.name}")'
        return (
            f"**Exercise {self.name}: {self.title}**\n\n{self.question}\n\n"
            f"The answer is {self.form}. Check it with `{this}.check(...)`; `{this}.hint()` "
            "shows a hint."
        )


@functools.cache
def exercises() -> dict[str, Exercise]:
    """All exercises by name, in the order of the lectures."""
    text = resources.files("rosenblatt.lectures").joinpath("exercises.toml").read_text("utf-8")
    return {
        name: Exercise(name, **entry, checker=getattr(checks, name.replace("-", "_")))
        for name, entry in tomllib.loads(text).items()
    }


def exercise(name: str) -> Exercise:
    """Find an exercise.

    Parameters
    ----------
    name : str
        The lecture and a number, such as "sutd-1". `rosenblatt exercise` lists them.

    Returns
    -------
    Exercise
        It has `check(answer)` and `hint()`, and shows its question in a notebook.

    Raises
    ------
    ParameterError
        If there is no exercise of that name.

    Examples
    --------
    >>> from rosenblatt.lectures import exercise
    >>> exercise("sutd-1").check("2, 6/5")
    Not yet. Example 2 has y (θ·x) = -0.4. This is θ⁽¹⁾ of the lecture; there are more updates.
    >>> exercise("sutd-1").check(3, 0)
    Not yet. Example 3 has y (θ·x) = 0. A value of 0 counts as a training error.
    """
    if name not in exercises():
        raise ParameterError(f"there is no exercise {name!r}. There are: {', '.join(exercises())}.")
    return exercises()[name]
