"""Mutated results: `verify` refuses them, or what they say is still true.

Every field of every result is changed, by its type hints in memory and by its place in JSON:
numbers, signs, order, repeats, zeros, swapped names and labels, missing and extra entries, inf and
nan, wrong types, indices out of range, long numbers. Seals are made again. Then `verify` must
refuse without an exception, or tests/prove/reference_checker.py must find every statement true.
"""

import copy
import dataclasses
import hashlib
import json
import math
import types
import typing
from enum import Enum
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

from rosenblatt import Perceptron, infinite_coefficients, max_margin, offenders, separability
from rosenblatt.errors import DataError
from rosenblatt.prove.certificate import Certificate, from_json
from rosenblatt.prove.coefficients import Coefficients, State
from tests.prove.reference_checker import Data, false_statements

MUTATIONS = 200 + 2 * settings.default.max_examples  # of each result, in memory and in JSON

LONG = Fraction(10**3000 + 1, 3**2000)
OTHER_TYPES = (
    None, True, 7, -1, 2**70, 1.5, math.nan, math.inf, -math.inf, "7", "", b"7", (), (0,), [], {},
    Fraction(1, 3), LONG, np.float64(0.5), np.int64(1), np.array([1.0]), object(),
)  # fmt: skip


# ---------------------------------------------------------------------- results


@dataclasses.dataclass(frozen=True)
class Case:
    """A result and the data it speaks of."""

    result: Any
    X: Any
    y: Any

    @property
    def data(self) -> Data:
        named = hasattr(self.X, "columns")
        names = tuple(map(str, self.X.columns)) if named else None
        return Data(np.asarray(self.X, dtype=float).tolist(), list(self.y), names)


SEPARABLE = np.array([[0.0, 1.0], [1.0, 0.5], [3.0, 0.1], [2.0, 3.0]]), [0, 0, 1, 1]
QUASI = np.array([[0.0, 1.0], [1.0, 2.0], [1.0, 2.0], [2.0, 5.0], [3.0, 1.0]]), [0, 0, 1, 1, 1]
OVERLAP = np.array([[0.0, 0.1], [2.0, 2.0], [1.0, 1.0], [3.0, 0.3], [1.0, 1.2]]), [0, 0, 1, 1, 1]
ORIGIN = np.array([[1.0, 2], [1, -2], [-1, -2.5], [0, 1], [0, 1]]), [1, 1, 0, 0, 1]
THIN = np.array([[1e-8], [1e-8 * (1 + 2**-52)], [1.0]]), [0, 1, 1]
LINE = np.array([[0.0], [1.0], [2.0], [2.0], [3.0], [4.0], [5.0], [5.5]]), [0, 0, 1, 0, 0, 1, 0, 1]
TIED = (
    np.array([[0.0, 1, 0], [0, 2, 0], [0, 3, 0], [1, 2, 0], [1, 1, 0], [0, 2.5, 0]]),
    [0, 1, 0, 1, 1, 1],
)
COLLINEAR = np.array([[0.0, 0, 1], [1, 2, 1], [2, 4, 0], [3, 6, 1], [4, 8, 0]]), [0, 1, 0, 1, 1]
UNDETERMINED = (
    np.array([[-1.0, 2, -2], [1, 0, 2], [-2, -1, 1], [0, 0, 1], [2, -2, -2], [0, 0, 1]]),
    [0, 1, 0, 0, 1, 1],
)
DOUBLED = (
    np.array([[1.0, 0], [-1, 0], [2, 0], [0, 0], [1, 1], [1, -2], [3, 1], [1, 0]]),
    [0, 0, 1, 0, 1, 0, 1, 1],
)
TEXT = np.array([[0.0], [1.0], [4.0]]), ["1", "True", "True"]
FRAME = pd.DataFrame(QUASI[0], columns=["dose", "age"]), QUASI[1]
FINE = np.array([[0.1], [0.3], [0.3], [0.7]]), [0, 1, 0, 1]


PAIRS = (
    pd.DataFrame([[0.0, 0], [1, 0], [0, 1], [0, 0], [1, 0], [0, 1], [3, 3]], columns=["a", "b"]),
    [0, 0, 0, 1, 1, 1, 1],
)
SEARCHED = (  # four cancelling sets that no single row meets, though shares add up to 1 only
    np.array(
        [[1.0, 2, -2], [2, -1, 2], [1, 1, -2], [-2, 2, -1], [1, 2, 0], [2, 0, -2], [-2, 0, -2],
         [2, 1, -2]]
    ),
    [0, 1, 1, 1, 0, 1, 0, 0],
)  # fmt: skip
SIDES = np.array([[1.0, 2.0], [2.0, 0.5], [-1.0, -1.5], [-3.0, 0.25]]), [1, 1, 0, 0]
SPREAD = (
    np.array([[0.0, 1], [1, 3], [2, 2], [0.5, 7], [4, 1], [6, 3], [5, -2]]),
    [0, 0, 0, 0, 1, 1, 1],
)
CYCLE = np.array([[1.0, 1], [2, 2], [1, 2], [2, 1]]), [0, 0, 1, 1]


def _of_run(X: Any, y: Any) -> Certificate:
    """The certificate that a training run proves."""
    return Perceptron(max_iter=200, shuffle=False, tol=None).fit(X, y).certificate(X, y)


def _through_origin(function: Any) -> Any:
    return lambda X, y: function(X, y, fit_intercept=False)


RESULTS = {
    "separable": (separability, SEPARABLE),
    "separable, thin": (separability, THIN),
    "separable, text": (separability, TEXT),
    "quasi-separable": (separability, QUASI),
    "quasi-separable, frame": (separability, FRAME),
    "quasi-separable, rationals": (separability, UNDETERMINED),
    "quasi-separable, no intercept": (_through_origin(separability), ORIGIN),
    "overlapping": (separability, OVERLAP),
    "overlapping, no intercept": (_through_origin(separability), FINE),
    "run, separable": (_of_run, SEPARABLE),
    "run, cycle": (_of_run, CYCLE),
    "coefficients, tied": (infinite_coefficients, TIED),
    "coefficients, collinear": (infinite_coefficients, COLLINEAR),
    "coefficients, undetermined": (infinite_coefficients, UNDETERMINED),
    "coefficients, separable": (infinite_coefficients, SEPARABLE),
    "coefficients, no intercept": (_through_origin(infinite_coefficients), ORIGIN),
    "coefficients, frame": (infinite_coefficients, FRAME),
    "offenders": (offenders, LINE),
    "offenders, no intercept": (_through_origin(offenders), DOUBLED),
    "offenders, frame": (offenders, PAIRS),
    "offenders, by search": (_through_origin(offenders), SEARCHED),
    "margin": (max_margin, SEPARABLE),
    "margin, thin": (max_margin, THIN),
    "margin, augmented": (lambda X, y: max_margin(X, y, augmented=True), SEPARABLE),
    "margin, no intercept": (_through_origin(max_margin), SIDES),
    "margin, not closed": (lambda X, y: max_margin(X, y, max_seconds=0), SPREAD),
}


@cache
def case(name: str) -> Case:
    """A result of each kind, small enough for the reference checker."""
    function, (X, y) = RESULTS[name]
    return Case(function(X, y), X, y)


# ---------------------------------------------------------------------- changes in memory

Change = tuple[tuple[Any, ...], Any]  # where, and the value to put there


def changes(value: Any, hint: Any, at: tuple[Any, ...] = ()) -> list[Change]:
    """Every single change of a value and of what is inside it."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        options = [h for h in typing.get_args(hint) if h is not type(None)]
        hint = options[0] if value is None else next((h for h in options if _fits(value, h)), None)
    found = [(at, other) for other in OTHER_TYPES if not _same(other, value)]
    if dataclasses.is_dataclass(value):
        found += _field_changes(value, at)
    elif isinstance(value, tuple):
        found += _tuple_changes(value, hint, at)
    elif isinstance(value, np.ndarray):
        found += [(at, value[:-1]), (at, value[::-1]), (at, np.append(value, 0.0)), (at, -value)]
        for k, v in enumerate(value.tolist()):
            for other in (*_numbers(v), math.nan, math.inf):
                changed = value.astype(object)
                changed[k] = other
                plain = all(isinstance(c, float) for c in changed)
                found.append((at, changed.astype(float) if plain else changed))
    elif isinstance(value, Enum):
        found += [(at, other) for other in type(value) if other != value]
    elif isinstance(value, bool):
        found += [(at, not value)]
    elif isinstance(value, (int, float, Fraction)):
        found += [(at, other) for other in _numbers(value)]
    elif isinstance(value, str):
        others = (value + "x", value.upper(), value[::-1], "1", "1.0", "True", "0", "x0", "x1")
        found += [(at, other) for other in others if other != value]
    return found


def _fits(value: Any, hint: Any) -> bool:
    kind = typing.get_origin(hint) or hint
    return isinstance(kind, type) and isinstance(value, kind)


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and repr(a) == repr(b)


def _numbers(v: Any) -> list[Any]:
    found = [-v, v + 1, v - 1, 2 * v, 0 * v, v * 10**30]
    if not isinstance(v, int):
        found += [v / 3, v * (1 + 1e-9), math.nextafter(v, math.inf), math.nextafter(v, -math.inf)]
        if v == v and abs(v) < math.inf:
            found += [Fraction(v) + Fraction(1, 10**30), Fraction(v) - Fraction(1, 10**30), LONG]
    return [other for other in found if other != v]


def _field_changes(value: Any, at: tuple[Any, ...]) -> list[Change]:
    hints = typing.get_type_hints(type(value))
    fields = [f.name for f in dataclasses.fields(value) if f.name != "sealed"]
    found: list[Change] = []
    for name in fields:
        found += changes(getattr(value, name), hints[name], (*at, name))
    for a in fields:  # two fields exchanged
        for b in fields:
            one, two = getattr(value, a), getattr(value, b)
            if a < b and type(one) is type(two) and not _same(one, two):
                found.append((at, _with(_with(value, a, two), b, one)))
    return found


def _tuple_changes(value: tuple[Any, ...], hint: Any, at: tuple[Any, ...]) -> list[Change]:
    inside = (*typing.get_args(hint), Any)
    each = list(inside[: len(value)]) if Ellipsis not in inside else [inside[0]] * len(value)
    found: list[Change] = [(at, value[::-1]), (at, list(value)), (at, value + value)]
    if Ellipsis in inside:  # an entry more
        found += [(at, (*value, extra)) for extra in _examples(inside[0])]
    for k, (item, kind) in enumerate(zip(value, each, strict=False)):
        before, after = value[:k], value[k + 1 :]
        found += [(at, before + after), (at, (*before, item, item, *after))]
        found += [(at, (*after, *before, item)), (at, (*before, None, *after))]
        inner = changes(item, kind, (*at, k))
        found += inner
        if not isinstance(item, (int, float, Fraction, str)):  # a changed copy beside it
            for where, new in inner:
                other = _put(item, where[len(at) + 1 :], new)
                found += [
                    (at, (*before, other, item, *after)),
                    (at, (*before, item, other, *after)),
                ]
        for m in range(k + 1, len(value)):
            swapped = list(value)
            swapped[k], swapped[m] = value[m], value[k]
            found.append((at, tuple(swapped)))
            if dataclasses.is_dataclass(item) and type(item) is type(value[m]):
                for f in dataclasses.fields(item):  # one field of both exchanged
                    pair = list(value)
                    pair[k] = _with(item, f.name, getattr(value[m], f.name))
                    pair[m] = _with(value[m], f.name, getattr(item, f.name))
                    found.append((at, tuple(pair)))
    return found


def _examples(hint: Any) -> list[Any]:
    """Small values of a type: numbers, and tuples of numbers."""
    kinds = typing.get_args(hint)
    if typing.get_origin(hint) is tuple and Ellipsis not in kinds:
        return list(product(*map(_examples, kinds)))
    if hint is Fraction or Fraction in kinds:
        return [Fraction(0), Fraction(1)]
    return {int: [0, 1, 2, 3], float: [0.0], str: ["x0"]}.get(hint, [])


def _with(value: Any, name: str, new: Any) -> Any:
    """A dataclass with another value in a field, sealed again."""
    other = copy.copy(value)
    object.__setattr__(other, name, new)
    if hasattr(other, "sealed") and name != "sealed":
        try:
            object.__setattr__(other, "sealed", other.digest)
        except Exception:  # what cannot be written cannot be sealed
            object.__setattr__(other, "sealed", "none")
    return other


def _put(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    """The value with another one at some place."""
    if not at:
        return new
    first, rest = at[0], at[1:]
    if isinstance(first, str):
        return _with(value, first, _put(getattr(value, first), rest, new))
    return (*value[:first], _put(value[first], rest, new), *value[first + 1 :])


def _consistent(result: Any) -> Any:
    """Coefficients whose states follow from their changed members, as a forger would write them."""
    states = {
        (False, False): State.FINITE,
        (True, False): State.PLUS,
        (False, True): State.MINUS,
        (True, True): State.UNDETERMINED,
    }
    try:
        items = []
        for j, item in enumerate(result.items):
            signs = any(m[j] > 0 for m in result.members), any(m[j] < 0 for m in result.members)
            reduced = None if item.reduced is None else states[signs]
            tied = item.state is State.NOT_IDENTIFIED or reduced is None
            state = State.NOT_IDENTIFIED if tied else reduced
            items.append(dataclasses.replace(item, state=state, reduced=reduced))
        return dataclasses.replace(result, items=tuple(items))
    except (AttributeError, TypeError, ValueError, LookupError):
        return result


def mutants(result: Any, count: int, seed: int) -> typing.Iterator[tuple[str, Any]]:
    """Changed results, each with a word on where: one change, sometimes two, sometimes smoothed."""
    random = Random(seed)
    singles = [(at, new) for at, new in changes(result, type(result)) if at or _is_one(new)]
    typed = [change for change in singles if not any(change[1] is v for v in OTHER_TYPES)]
    chosen = random.sample(typed, min(count * 4 // 5, len(typed)))
    chosen += random.choices(singles, k=count - len(chosen))
    for at, new in chosen:
        words, other = _words(at, new), _put(result, at, new)
        if random.random() < 0.3:
            more, value = random.choice(typed)
            try:
                other = _put(other, more, value)
                words += " and " + _words(more, value)
            except (AttributeError, TypeError, IndexError):
                pass
        if isinstance(result, Coefficients) and random.random() < 0.5:
            other = _consistent(other)
        yield words, other


def _is_one(value: Any) -> bool:
    """Whether it is a result, and not something else in its place."""
    return dataclasses.is_dataclass(value)


def _words(at: tuple[Any, ...], new: Any) -> str:
    return ".".join(map(str, at)) + f" <- {_shown(new)}"


def _shown(value: Any) -> str:
    try:
        return f"{value!r:.80}"
    except (AttributeError, TypeError, ValueError):  # long numbers, wrong types inside
        return f"some {type(value).__name__}"


# ---------------------------------------------------------------------- changes of JSON


def json_changes(value: Any, at: tuple[Any, ...] = ()) -> list[Change]:
    """Every single change of a JSON value and of what is inside it."""
    others: list[Any] = [None, True, 7, -1, 0.5, 2**60, "7", "-1/2", "x", [], {}, [0], "inf", 1e308]
    others += ["1" * 3000, "1/" + "7" * 3000]
    if isinstance(value, dict):
        for k in value:
            others += [{n: v for n, v in value.items() if n != k}, {**value, k + "x": value[k]}]
            others += [{**{n: v for n, v in value.items() if n != k}, k: value[k]}]
            for m in value:
                if type(value[k]) is type(value[m]) and value[k] != value[m]:
                    others.append({**value, k: value[m], m: value[k]})
    elif isinstance(value, list):
        others += [value[::-1], value + value, [*value, None], [*value, 0]]
        for k, item in enumerate(value):
            others += [value[:k] + value[k + 1 :], [*value[:k], item, *value[k:]]]
            others += [value[k:] + value[:k]]
    elif isinstance(value, str):
        others += [value + "x", "-" + value, value + "/3", "0", "0" + value, value + ".0", "True"]
    elif isinstance(value, bool):
        others.append(not value)
    elif isinstance(value, (int, float)):
        others += [-value, value + 1, value * 2, value * 0, float(value), value - 1, str(value)]
    found = [(at, other) for other in others if not _same(other, value)]
    if isinstance(value, (dict, list)):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        found += [change for k, item in inside for change in json_changes(item, (*at, k))]
    return found


def _json_put(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    other = copy.copy(value)
    other[at[0]] = _json_put(value[at[0]], at[1:], new)
    return other


def json_mutants(text: str, count: int, seed: int) -> typing.Iterator[tuple[str, str]]:
    """Changed texts with a digest that fits them, each with a word on where."""
    random, content = Random(seed), json.loads(text)
    singles = json_changes(content)
    for at, new in random.choices(singles, k=count):
        other = _json_put(content, at, new)
        if isinstance(other, dict):
            rest = {k: v for k, v in other.items() if k != "digest"}
            packed = json.dumps(rest, separators=(",", ":"))
            if "digest" in other and at[:1] != ("digest",):
                other["digest"] = hashlib.sha256(packed.encode()).hexdigest()
        yield _words(at, new), json.dumps(other, indent=random.choice([None, 1]))


# ---------------------------------------------------------------------- the tests


def falsely_accepted(given: Case, other: Any, text: str | None = None) -> str | None:
    """What is wrong with the answer of `verify`, or None."""
    try:
        found = other.verify(given.X, given.y)
    except Exception as e:
        return f"raised {type(e).__name__}: {e!s:.80}"
    if not found:
        return None
    unchecked = getattr(found, "unchecked", ())
    wrong = false_statements(other if text is None else text, given.data, unchecked)
    if not wrong and isinstance(other, Coefficients) and "reasons" not in unchecked:
        reasons = [[c.reason for c in result.items] for result in (given.result, other)]
        wrong = ["other reasons"] if reasons[0] != reasons[1] else []
    return f"verified, but {wrong[0]}" if wrong else None


@pytest.mark.parametrize("name", RESULTS)
def test_the_reference_checker_agrees(name):
    given = case(name)
    found = given.result.verify(given.X, given.y)
    assert found, str(found)
    assert false_statements(given.result, given.data, found.unchecked) == []


@pytest.mark.parametrize("name", RESULTS)
def test_a_changed_result_is_refused_or_true(name):
    given = case(name)
    found = [
        f"{where}: {wrong}"
        for where, other in mutants(given.result, MUTATIONS, seed=len(name))
        if (wrong := falsely_accepted(given, other))
    ]
    assert not found, f"{len(found)} of {MUTATIONS}:\n" + "\n".join(found[:20])


@pytest.mark.parametrize("name", RESULTS)
def test_a_changed_text_is_refused_or_true(name):
    given, found = case(name), []
    for where, text in json_mutants(given.result.to_json(), MUTATIONS, seed=len(name)):
        try:
            other = from_json(text)
        except DataError:
            continue
        if wrong := falsely_accepted(given, other, text):
            found.append(f"{where}: {wrong}")
    assert not found, f"{len(found)} of {MUTATIONS}:\n" + "\n".join(found[:20])
