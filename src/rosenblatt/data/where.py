"""Where: which rows of a file are read, in a small language that runs nothing.

    where      =  condition { "and" condition }
    condition  =  column ( "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" ) value
    column     =  a name of letters, digits, _ and . | any name between backquotes
    value      =  a number | true | false | a date as 2024-01-31 | text between ' or "

A missing value fulfils no condition.
"""

from __future__ import annotations

import datetime
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rosenblatt.errors import ParameterError

LONGEST = 10_000
TOKEN = re.compile(
    r"""\s*(?:(?P<op><=|>=|!=|==|=|<|>)
        |(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})(?![\w.])
        |(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![\w.])
        |'(?P<single>[^']*)'|"(?P<double>[^"]*)"|`(?P<quoted>[^`]+)`
        |(?P<word>[^\W\d][\w.]*))""",
    re.VERBOSE,
)
TESTS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
Value = float | bool | str | datetime.date


@dataclass(frozen=True)
class Condition:
    """A column, a comparison, a value."""

    column: str
    test: str
    value: Value

    def holds(self, cell: str) -> bool:
        """Whether a cell of text, as a CSV file has it, fulfils it."""
        try:
            read = _read(cell.strip(), self.value)
        except ValueError:
            return False
        return bool(TESTS[self.test](read, self.value))


def parse_where(text: str) -> tuple[Condition, ...]:
    """The conditions of a text.

    >>> parse_where("delay > 15 and origin = 'LAS'")
    (Condition(column='delay', test='>', value=15.0),
     Condition(column='origin', test='=', value='LAS'))
    """
    if len(text) > LONGEST:
        raise ParameterError(f"where is longer than {LONGEST:,} characters.")
    tokens = _tokens(text)
    made = []
    while True:
        if len(tokens) < 3:
            raise _unclear(text, "a condition is not whole")
        (kind, column), (op, test), (sort, value) = tokens[:3]
        if kind not in ("word", "quoted") or op != "op":
            raise _unclear(text, f"expected a column and a comparison, found {column!r} {test!r}")
        made.append(Condition(column, test.replace("==", "="), _value(text, sort, value)))
        tokens = tokens[3:]
        if not tokens:
            return tuple(made)
        if tokens[0][0] != "word" or tokens[0][1].lower() != "and":
            raise _unclear(text, f"expected 'and', found {tokens[0][1]!r}")
        tokens = tokens[1:]


def expression(conditions: tuple[Condition, ...]) -> Any:
    """The same for pyarrow."""
    import pyarrow.compute as pc

    parts = [TESTS[c.test](pc.field(c.column), pc.scalar(c.value)) for c in conditions]
    made = parts[0]
    for part in parts[1:]:
        made = made & part
    return made


def _tokens(text: str) -> list[tuple[str, str]]:
    at, tokens, end = 0, [], len(text.rstrip())
    while at < end:
        found = TOKEN.match(text, at)
        if found is None:
            raise _unclear(text, f"cannot read {text[at : at + 20].strip()!r}")
        tokens.append((str(found.lastgroup), str(found[str(found.lastgroup)])))
        at = found.end()
    return tokens


def _value(text: str, kind: str, value: str) -> Value:
    if kind in ("single", "double"):
        return value
    if kind == "number":
        return float(value)
    if kind == "date":
        try:
            return datetime.date.fromisoformat(value)
        except ValueError as e:
            raise _unclear(text, f"{value} is no date") from e
    if kind == "word" and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise _unclear(text, f"expected a value, found {value!r} (text stands between quotes)")


def _read(cell: str, like: Value) -> Any:
    """A cell as the kind of thing it is compared with."""
    if isinstance(like, bool):
        if cell.lower() not in ("true", "false"):
            raise ValueError(cell)
        return cell.lower() == "true"
    if isinstance(like, float):
        return float(cell)
    if isinstance(like, datetime.date):
        return datetime.date.fromisoformat(cell[:10])
    return cell


def _unclear(text: str, why: str) -> ParameterError:
    return ParameterError(
        f"where={text[:100]!r} cannot be understood: {why}. Write column, comparison, value, "
        "joined by and: delay > 15 and origin = 'LAS'."
    )
