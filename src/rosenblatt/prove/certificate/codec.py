"""Codec: results as JSON and back, driven by the type hints of their fields, sealed by a digest.

Format 1, for all results. The text is a JSON object: "format", "kind", "digest", and the fields in
the order of the class. Rationals and floats are strings "p/q" or "p" in lowest terms (infinity and
NaN are "inf", "-inf", "nan"), other numbers are integers. The digest is the SHA-256 of the text
without white space outside of strings and without the entry "digest". Text that is spelled in any
other way is refused, and so are numbers that take long to read.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, NoReturn, cast, get_args, get_origin, get_type_hints

import numpy as np
from flint import fmpz

from rosenblatt.data.exact import floats_if_exact
from rosenblatt.errors import DataError

FORMAT = "rosenblatt-certificate-1"
LONGEST = 100_000  # digits of a number
LONGEST_TOGETHER = 20_000_000  # digits of all numbers
LONGEST_DENOMINATORS = 100_000  # digits of all different denominators together
LONGEST_TEXT = 10_000  # characters of a label or a name
RATIONAL = re.compile(r"(-?(?:0|[1-9][0-9]*))(?:/([1-9][0-9]*))?")
IN_TEXT = re.compile(r'"-?([0-9]+)(?:/([0-9]+))?"')
STRING_OR_SPACE = re.compile(r'("(?:[^"\\]|\\.)*")|[ \t\r\n]+')
NOT_FINITE = ("inf", "-inf", "nan")
KINDS: dict[str, type[Any]] = {}  # the class of every kind of result
Content = dict[str, Any]
Number = float | Fraction


def kind_of_result(name: str) -> Callable[[type[Any]], type[Any]]:
    """Register a class of results; `kind` is its name in JSON."""

    def register(cls: type[Any]) -> type[Any]:
        cls.kind = name
        KINDS[name] = cls
        return cls

    return register


# ---------------------------------------------------------------------- fields and their types


def hints(cls: Any) -> dict[str, Any]:
    """The fields that belong to the content of a result, and their types."""
    return _hints(cls)


@cache
def _hints(cls: Hashable) -> dict[str, Any]:
    found = get_type_hints(cls)
    return {f.name: found[f.name] for f in fields(cast(Any, cls)) if not f.metadata.get("apart")}


def misfit(result: Any) -> str | None:
    """The first field that is not of its type, in words; None if all are."""
    for name, hint in hints(type(result)).items():
        found = _misfit(getattr(result, name), hint, name)
        if found is not None:
            return found
    return None


def _misfit(value: Any, hint: Any, name: str) -> str | None:
    if isinstance(hint, UnionType):
        return None if any(_misfit(value, h, name) is None for h in get_args(hint)) else _no(name)
    if get_origin(hint) is tuple:
        if not isinstance(value, tuple):
            return _no(name)
        kinds = _kinds(hint, len(value))
        if len(value) != len(kinds):
            return _no(name)
        pairs = zip(value, kinds, strict=True)
        return next((bad for v, h in pairs if (bad := _misfit(v, h, name)) is not None), None)
    if isinstance(hint, type) and is_dataclass(hint):
        found = misfit(value) if isinstance(value, hint) else ""
        return None if found is None else f"{name}: {found}" if found else _no(name)
    if get_origin(hint) is np.ndarray:
        good = isinstance(value, np.ndarray) and value.ndim == 1
        return _misfit(tuple(value.tolist()), tuple[Number, ...], name) if good else _no(name)
    if hint in (int, bool, str, NoneType):
        return None if type(value) is hint else _no(name)
    return None if isinstance(value, hint) else _no(name)


def _kinds(hint: Any, length: int) -> tuple[Any, ...]:
    kinds = get_args(hint)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return (kinds[0],) * length
    return tuple(kinds)


def _no(name: str) -> str:
    return f"the field {name} is not of its type"


# ---------------------------------------------------------------------- writing


def content_of(result: Any) -> Content:
    """A result as JSON values, its kind first."""
    return {"kind": result.kind, **_fields(result)}


def _fields(value: Any) -> Content:
    return {name: plain(getattr(value, name)) for name in hints(type(value))}


def plain(value: Any) -> Any:
    """A value as JSON values."""
    if isinstance(value, bool | int | str | NoneType):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, float | Fraction):
        return number_text(value)
    if is_dataclass(value):
        return content_of(value) if hasattr(value, "kind") else _fields(value)
    if isinstance(value, tuple | np.ndarray):
        return [plain(v) for v in (value.tolist() if isinstance(value, np.ndarray) else value)]
    raise TypeError(f"{type(value).__name__} cannot be written")


def number_text(value: Number) -> str:
    """A rational as "p/q" or "p"; any length (Python's own conversion stops at 4,300 digits).

    >>> number_text(0.75), number_text(Fraction(-2)), number_text(float("inf"))
    ('3/4', '-2', 'inf')
    """
    if isinstance(value, float) and not isfinite(value):
        return str(float(value))
    p, q = value.as_integer_ratio()
    return str(fmpz(p)) if q == 1 else f"{fmpz(p)!s}/{fmpz(q)!s}"


def digest_of(result: Any) -> str:
    """SHA-256 of the text of a result."""
    return hashlib.sha256(_packed({"format": FORMAT, **content_of(result)}).encode()).hexdigest()


def written(result: Any, digest: str) -> Content:
    """A result as JSON values, with its digest."""
    return {"format": FORMAT, "digest": digest, **content_of(result)}


def to_text(result: Any, digest: str) -> str:
    """A result as text."""
    return json.dumps(written(result, digest), indent=1)


def _packed(content: Content) -> str:
    return json.dumps(content, separators=(",", ":"))


# ---------------------------------------------------------------------- reading


def from_json(text: str | bytes) -> Any:
    """A result of any kind from the text that its `to_json` returned.

    `verify` finds out whether it was altered since.

    Parameters
    ----------
    text : str or bytes
        What `to_json` returned, or text of the same format from elsewhere.

    Returns
    -------
    Certificate, Coefficients, Offenders or MaxMargin
        The result; its `verify(X, y)` checks it.

    Raises
    ------
    DataError
        If the text is not of this format: nothing but white space may differ in its spelling.

    Examples
    --------
    >>> from rosenblatt import separability
    >>> X, y = [[0.0], [1.0]], ["a", "b"]
    >>> bool(from_json(separability(X, y).to_json()).verify(X, y))
    True
    """
    try:
        text = text.decode() if isinstance(text, bytes) else text
        content = _read(text)
        digest = content.pop("digest")
        if not isinstance(digest, str):
            raise ValueError("the digest is not text")
        found = _result(content, "")
        if hasattr(found, "sealed"):
            object.__setattr__(found, "sealed", digest)
        packed = STRING_OR_SPACE.sub(lambda m: m.group(1) or "", text)
        if packed != _packed(written(found, digest)):
            raise ValueError("it is not spelled the way to_json spells it")
    except KeyError as e:
        raise _refused(ValueError(f"there is no {e}")) from e
    except (TypeError, ValueError, OverflowError) as e:
        raise _refused(e) from e
    return found


def _refused(reason: Exception) -> DataError:
    return DataError(
        f"this is not a certificate: {reason}. Give the JSON that to_json wrote, unaltered."
    )


def _read(text: str) -> Content:
    try:
        content = json.loads(
            text, parse_int=_whole, parse_float=_no_float, parse_constant=_no_float
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("it is not a JSON object")
    given = content.pop("format", None)
    if given != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    numbers = IN_TEXT.findall(text)
    if sum(len(p) + len(q) for p, q in numbers) > LONGEST_TOGETHER:
        raise ValueError(f"its numbers have more than {LONGEST_TOGETHER} digits")
    if sum(map(len, {q for _, q in numbers})) > LONGEST_DENOMINATORS:
        raise ValueError(f"its denominators have more than {LONGEST_DENOMINATORS} digits")
    return content


def _result(content: Any, name: str, expected: Any = None) -> Any:
    """A result of some kind, or a part of one."""
    if not isinstance(content, dict):
        raise ValueError(f"{_short(content)} is not an object ({name})")
    content = dict(content)
    cls = expected
    if expected is None or hasattr(expected, "kind") or expected in _bases():
        kind = content.pop("kind")
        cls = KINDS.get(kind) if isinstance(kind, str) else None
        if cls is None or (expected is not None and not issubclass(cls, expected)):
            raise ValueError(f"{_short(kind)} is not a kind of result")
    values = {n: _value(content.pop(n), hint, n) for n, hint in hints(cls).items()}
    if content:
        raise ValueError(f"unexpected entries {sorted(content)[:5]}")
    return cls(**values)


def _bases() -> set[Any]:
    return {base for cls in KINDS.values() for base in cls.__mro__ if is_dataclass(base)}


def _value(value: Any, hint: Any, name: str) -> Any:
    """The value of a type from its JSON form."""
    if hint == Number:
        return _number(value)
    if isinstance(hint, UnionType):
        options = [h for h in get_args(hint) if h is not NoneType]
        if value is None and len(options) < len(get_args(hint)):
            return None
        hint = options[0] if len(options) == 1 else Number
        return _value(value, hint, name)
    if get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise ValueError(f"{_short(value)} is not a list ({name})")
        kinds = _kinds(hint, len(value))
        found = tuple(_value(v, h, name) for v, h in zip(value, kinds, strict=True))
        if kinds and all(k == Number for k in kinds):  # floats if all of them are
            return floats_if_exact(found) or tuple(map(Fraction, found))
        return found
    if get_origin(hint) is np.ndarray:
        entries = _value(value, tuple[Number, ...], name)
        exact = any(isinstance(v, Fraction) for v in entries)
        return np.array(entries, dtype=object if exact else np.float64)
    if is_dataclass(hint):
        return _result(value, name, hint)
    if hint is Fraction:
        return rational(value)
    if hint is float:
        number = _number(value)
        if not isinstance(number, float):
            raise ValueError(f"{_short(value)} is not a float64 ({name})")
        return number
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(value)
    if hint not in (bool, int, str) or type(value) is not hint:
        raise ValueError(f"{_short(value)} is not of its type ({name})")
    if hint is str and len(value) > LONGEST_TEXT:
        raise ValueError(f"a label or name has more than {LONGEST_TEXT} characters")
    return value


def _number(value: Any) -> Number:
    """A float if it is one, else a rational."""
    if value in NOT_FINITE:
        return float(value)
    exact = rational(value)
    found = floats_if_exact([exact])
    return exact if found is None else found[0]


def rational(text: Any) -> Fraction:
    """The rational written as "p/q" or "p".

    >>> rational("-3/4")
    Fraction(-3, 4)
    """
    found = None
    if isinstance(text, str) and len(text) <= 2 * LONGEST:
        found = RATIONAL.fullmatch(text)
    if found is None or max(len(part or "") for part in found.groups()) > LONGEST:
        raise ValueError(f"{_short(text)} is not a rational number of at most {LONGEST} digits")
    p, q = found.groups()
    return Fraction(int(fmpz(p)), int(fmpz(q)) if q else 1)


def _whole(text: str) -> int:
    if len(text) > 18:
        raise ValueError(f"the whole number {_short(text)} is too long")
    return int(text)


def _no_float(text: str) -> NoReturn:
    raise ValueError(f'{_short(text)} is not a whole number; write others as text, as in "1/2"')


def _short(value: Any) -> str:
    return f"{value!r:.40}"
