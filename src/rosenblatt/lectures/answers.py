"""Answers to exercises: numbers read strictly from text, and what is said about them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rosenblatt.learn.trace import plural

DIGITS = 9  # of a numerator, a denominator, before or after a decimal point
SOME = rf"\d{{1,{DIGITS}}}"
NUMBER = re.compile(rf"[-+]?({SOME}|{SOME}/{SOME}|{SOME}\.({SOME})?|\.{SOME})")
SHOWN = 40  # characters of an answer that are quoted


class UnreadableError(Exception):
    """An answer is not of the form that the exercise asks for."""


@dataclass(frozen=True)
class Feedback:
    """What is said about an answer.

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


def right(message: str) -> Feedback:
    """Feedback on a correct answer."""
    return Feedback(True, message)


def wrong(message: str) -> Feedback:
    """Feedback on a wrong answer."""
    return Feedback(False, message)


def as_text(answer: Any) -> str:
    """An answer as text: rows of a list, a tuple or an array are separated by semicolons."""
    if isinstance(answer, str):
        return answer
    if not isinstance(answer, Iterable):
        return str(answer)
    parts = list(answer)
    nested = any(isinstance(part, Iterable) and not isinstance(part, str) for part in parts)
    return ("; " if nested else " ").join(as_text(part) for part in parts)


def numbers(text: str, count: int) -> list[Fraction]:
    """Exactly `count` numbers: whole, decimal, or fractions such as -4/5."""
    words = re.sub(r"[\s,;()\[\]]+", " ", text.replace("−", "-")).split()
    found = [_number(word) for word in words]
    if len(found) != count:
        raise UnreadableError(f"Expected {plural(count, 'number')}, got {len(found)}.")
    return found


def rows(text: str, count: int, most: int = 20) -> list[list[Fraction]]:
    """Rows of `count` numbers, separated by semicolons or line breaks."""
    parts = [part for part in re.split(r"[;\n]", text) if part.strip(" ,()[]")]
    if not 1 <= len(parts) <= most:
        raise UnreadableError(f"Give 1 to {most} rows separated by semicolons, not {len(parts)}.")
    return [numbers(part, count) for part in parts]


def _number(word: str) -> Fraction:
    shown = word if len(word) <= SHOWN else word[:SHOWN] + "..."
    if not NUMBER.fullmatch(word):
        raise UnreadableError(
            f"Cannot read {shown!r} as a number. Write whole numbers, decimals or fractions, with "
            f"at most {DIGITS} digits: 3, -0.8, 5/2."
        )
    try:
        return Fraction(word)
    except ZeroDivisionError:
        raise UnreadableError(f"{shown} divides by zero.") from None


def decimal(value: Fraction) -> str:
    """A number as a person writes it: 0.2 rather than 1/5, but 1/3."""
    return f"{float(value):g}" if Fraction(f"{float(value):g}") == value else str(value)


def vector(values: Iterable[Fraction]) -> str:
    """Numbers in parentheses."""
    return f"({', '.join(decimal(Fraction(v)) for v in values)})"
