"""Words: what happened at a visit, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from rosenblatt.text import plural

AS_ON_THE_PAGE = {
    "Give a start (init='random' or an array)": "Choose another start (random or given)",
    "or a rule object such as Margin(tau=1.0)": "such as arow or margin(tau=1)",
}


def number(value: float) -> str:
    """A few digits, and no -0.

    >>> number(0.19999999999999996), number(-0.0), number(1234567.0)
    ('0.2', '0', '1.235e+06')
    """
    return f"{value + 0.0:.4g}" if abs(value) >= 1e-300 else "0"


def vector(values: Sequence[float]) -> str:
    """(2, 1.2)."""
    return "(" + ", ".join(map(number, values)) + ")"


def weights(w: Sequence[float], b: float, offset: bool) -> str:
    """w = (1, -0.8), b = 0."""
    return f"w = {vector(w)}" + (f", b = {number(b)}" if offset else "")


def moved(w: Sequence[float], b: float, offset: bool) -> str:
    """Where the weights go."""
    return f"w moves to {vector(w)}" + (f", b to {number(b)}" if offset else "")


def one_row(
    row: int, label: int, score: float, mistake: float, moves: str | None, slack: float | None
) -> str:
    """A visit to one example, counted from 1 as lectures do.

    >>> one_row(2, 1, -0.6, 1, moved([2, 1.2], 1, True), None)
    'example 3 (+1) scored -0.6: mistake; w moves to (2, 1.2), b to 1'
    >>> one_row(0, -1, -2, 0, None, None)
    'example 1 (-1) scored -2: right; nothing moves'
    """
    judged = {1: "mistake", 0.5: "half a mistake", 0: "right"}.get(mistake, "mistake")
    if mistake and score == 0:
        judged = f"a tie, which counts as {judged if mistake == 0.5 else 'a mistake'}"
    elif moves and not mistake and slack is not None:
        judged = f"right, but its margin {number(slack)} is too small"
    said = f"example {row + 1} ({label:+d}) scored {number(score)}: {judged}; "
    return said + (moves or "nothing moves")


def all_rows(n: int, mistakes: int, moves: str | None) -> str:
    """A batch step.

    >>> all_rows(4, 0, None)
    'all 4 examples at once: no mistake; nothing moves'
    """
    count = plural(mistakes, "mistake") if mistakes else "no mistake"
    return f"all {plural(n, 'example')} at once: {count}; {moves or 'nothing moves'}"


def smallest(row: int, label: int, margin: float, moves: str) -> str:
    """A step of minover.

    >>> smallest(2, 1, 0.0, "w moves to (1, 0)")
    'example 3 (+1) has the smallest margin, 0: w moves to (1, 0)'
    """
    return f"example {row + 1} ({label:+d}) has the smallest margin, {number(margin)}: {moves}"


def for_page(message: str) -> str:
    """What the engine refuses, in the names that the page has for it."""
    for theirs, ours in AS_ON_THE_PAGE.items():
        message = message.replace(theirs, ours)
    return message
