"""Answers to exercises, numbers or text that is read strictly, and the feedback on them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from rosenblatt.text import plural

Answer = list[list[str]]  # rows of words
LENGTH = 40  # characters of a number
MOST_ROWS = 20
SIMPLE = 1000  # the largest denominator that is shown


class UnreadableError(Exception):
    """An answer is not of the form that the exercise asks for."""


@dataclass(frozen=True)
class Feedback:
    """Whether an answer is right, and why.

    Parameters
    ----------
    correct : bool
        Whether the answer is right.
    message : str
        Why, in a sentence or two.
    readable : bool
        False if the answer does not have the form that the exercise asks for.
    """

    correct: bool
    message: str
    readable: bool = True

    def __str__(self) -> str:
        if not self.readable:
            return self.message
        return f"{'Correct.' if self.correct else 'Not yet.'} {self.message}"

    __repr__ = __str__


class Hint(str):
    """A hint, shown without quotation marks."""

    __repr__ = str.__str__


def parts(answer: Any) -> Answer:
    """An answer as rows of numbers, each in words.

    In text, rows are separated by semicolons or line breaks; the rows of a list, a tuple or an
    array are rows.
    """
    lines = re.split(r"[;\n]", as_text(answer).replace("−", "-"))
    words = [re.sub(r"[\s,()\[\]]+", " ", line).split() for line in lines]
    return [row for row in words if row]


def as_text(answer: Any) -> str:
    """An answer as text; a float is the decimal that is printed: 0.1 is 1/10."""
    if hasattr(answer, "tolist"):  # of NumPy
        answer = answer.tolist()
    if isinstance(answer, float):
        return format(Decimal(repr(answer)), "f")
    if isinstance(answer, str) or not isinstance(answer, Iterable):
        return str(answer)
    items = list(answer)
    nested = any(isinstance(item, Iterable) and not isinstance(item, str) for item in items)
    return (";" if nested else " ").join(as_text(item).replace(";", " ") for item in items)


def numbers(answer: Answer, count: int) -> list[Fraction]:
    """Exactly `count` numbers: whole, decimal, or fractions such as -4/5."""
    found = [_number(part) for row in answer for part in row]
    if len(found) != count:
        raise UnreadableError(
            f"Expected {plural(count, 'number')}, got {len(found)}. A comma separates numbers; "
            "decimals have a point: 0.8."
        )
    return found


def rows(answer: Answer, count: int) -> list[list[Fraction]]:
    """Rows of `count` numbers."""
    if not 1 <= len(answer) <= MOST_ROWS:
        raise UnreadableError(
            f"Give 1 to {MOST_ROWS} rows separated by semicolons, not {len(answer)}."
        )
    return [numbers([row], count) for row in answer]


def _number(word: str) -> Fraction:
    try:
        if len(word) > LENGTH or not set(word) <= set("0123456789+-./"):
            raise ValueError
        return Fraction(word)
    except (ValueError, ZeroDivisionError):
        shown = word if len(word) <= LENGTH else word[:LENGTH] + "..."
        raise UnreadableError(
            f"Cannot read {shown!r} as a number. Write whole numbers, decimals or fractions, with "
            f"at most {LENGTH} characters: 3, -0.8, 5/2."
        ) from None


def decimal(value: Fraction) -> str:
    """A number as a person writes it: 0.2 rather than 1/5, but 1/3; long fractions rounded."""
    rounded = f"{float(value):g}"
    exact = Fraction(rounded) == value or value.denominator > SIMPLE
    return rounded if exact else str(value)


def shown(value: Any) -> Any:
    """Fractions as a person writes them, lists of numbers in parentheses, and all else as it is."""
    if isinstance(value, Fraction):
        return decimal(value)
    if isinstance(value, list):
        return f"({', '.join(decimal(Fraction(v)) for v in value)})"
    return value
