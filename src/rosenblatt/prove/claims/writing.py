"""Writing: a certificate as text and back, sealed by a digest of that text.

The text is JSON: floats as Python writes them (they come back to the bit), rationals as
"p/q" in lowest terms, everything in one fixed order. The digest is the SHA-256 of the text
without white space (outside of strings) and without the entry "digest" itself. Reading
refuses text that is not written in this one way, so nothing but white space can change
unnoticed; and it refuses numbers so long that reading them would take for ever.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from fractions import Fraction
from math import isfinite
from typing import Any, NoReturn

from flint import fmpz

from rosenblatt.errors import DataError

FORMAT = "rosenblatt-certificate-3"
EARLIER = ("rosenblatt-certificate-1", "rosenblatt-certificate-2")
LONGEST = 100_000  # digits of a number
LONGEST_TEXT = 10_000  # characters of a label or a name
LONGEST_DENOMINATORS = 100_000  # digits of all different denominators together
RATIONAL = re.compile(r"(-?(?:0|[1-9][0-9]*))(?:/([1-9][0-9]*))?")
DENOMINATOR = re.compile(r'/([1-9][0-9]*)"')
STRING_OR_SPACE = re.compile(r'("(?:[^"\\]|\\.)*")|[ \t\r\n]+')
Content = dict[str, Any]
Number = float | Fraction


def rational_text(value: Fraction) -> str:
    """A rational as "p/q" or "p"; any length (Python's own conversion stops at 4,300 digits)."""
    whole = str(fmpz(value.numerator))
    return whole if value.denominator == 1 else f"{whole}/{fmpz(value.denominator)!s}"


def rational(text: str) -> Fraction:
    """The rational written as "p/q" or "p".

    >>> rational("-3/4")
    Fraction(-3, 4)
    """
    found = RATIONAL.fullmatch(text) if len(text) <= 2 * LONGEST else None
    if found is None or max(len(part or "") for part in found.groups()) > LONGEST:
        raise ValueError(f"{_short(text)} is not a rational number of at most {LONGEST} digits")
    p, q = found.groups()
    return Fraction(int(fmpz(p)), int(fmpz(q)) if q else 1)


def plain(value: Any) -> Any:
    """A value as JSON values: rationals as text, infinite floats as text."""
    if isinstance(value, Fraction):
        return rational_text(value)
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def digest_of(content: Content) -> str:
    """SHA-256 of the text of this content."""
    return hashlib.sha256(_packed({"format": FORMAT, **content}).encode()).hexdigest()


def written(content: Content, digest: str) -> str:
    """The text, with the digest in it."""
    return json.dumps({"format": FORMAT, "digest": digest, **content}, indent=1)


def read(text: str | bytes) -> tuple[Content, str]:
    """What the text says, and the digest in it. Raises ValueError, never anything else.

    Duplicated names, extra digits, other spellings of the same number: refused by
    `check_spelling` once it is known what the content means.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode()
        content = json.loads(text, parse_int=_whole, parse_float=_float, parse_constant=_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("it is not a JSON object")
    given = content.pop("format", None)
    if given in EARLIER:
        raise ValueError(f"{given} digests the data otherwise than {FORMAT}; decide once more")
    if given != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    digest = content.pop("digest", None)
    if not isinstance(digest, str):
        raise ValueError("it holds no digest")
    denominators = set(DENOMINATOR.findall(text))
    if sum(map(len, denominators)) > LONGEST_DENOMINATORS:
        raise ValueError(f"its denominators have more than {LONGEST_DENOMINATORS} digits")
    return content, digest


def check_spelling(text: str | bytes, content: Content, digest: str) -> None:
    """ValueError unless `text` is how this content is written, white space aside."""
    text = text.decode() if isinstance(text, bytes) else text
    found = STRING_OR_SPACE.sub(lambda m: m.group(1) or "", text)
    if found != _packed({"format": FORMAT, "digest": digest, **content}):
        raise ValueError("it is not spelled the way to_json spells it")


def refused(reason: Exception) -> NoReturn:
    """The error for text that is no certificate."""
    raise DataError(
        f"this is not a certificate: {reason}. Give the JSON that to_json wrote, unaltered."
    ) from reason


def _packed(content: Content) -> str:
    return json.dumps(content, separators=(",", ":"))


def _whole(text: str) -> int:
    if len(text) > 18:
        raise ValueError(f"the whole number {_short(text)} is too long")
    return int(text)


def _float(text: str) -> float:
    value = float(text) if len(text) <= 32 else float("nan")
    if not isfinite(value):
        raise ValueError(f"{_short(text)} is no float as Python writes them")
    return value


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")


# ---------------------------------------------------------------------- the types of fields


def combination(value: Any) -> tuple[tuple[int, ...], tuple[Fraction, ...]]:
    """Rows and weights."""
    if not isinstance(value, dict) or value.keys() != {"rows", "weights"}:
        raise ValueError(f"{value!r:.40} is not a combination of rows")
    rows, weights = _list(value["rows"]), _list(value["weights"])
    return tuple(map(_whole_number, rows)), tuple(rational(_text(c)) for c in weights)


def field_value(name: str, value: Any) -> Any:
    """The value of a field from its JSON form, of exactly the right type."""
    if value is None and name in ("feature_names", "witness_signs", "point"):
        return None
    if name in _LISTS:
        return tuple(_LISTS[name](v) for v in _list(value))
    return _SINGLE[name](value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.40} is not text")
    return value


def _name(value: Any) -> str:
    if len(_text(value)) > LONGEST_TEXT:
        raise ValueError(f"a label or name has more than {LONGEST_TEXT} characters")
    return str(value)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{value!r:.40} is not a list")
    return value


def _whole_number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{value!r:.40} is not a whole number")
    return value


def _truth_value(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r:.40} is not true or false")
    return value


def _float64(value: Any) -> float:
    if value == "inf":
        return float("inf")
    if not isinstance(value, float):
        raise ValueError(f"{value!r:.40} is not a float")
    return value


def _number(value: Any) -> Number:
    return rational(value) if isinstance(value, str) else _float64(value)


_SINGLE: dict[str, Callable[[Any], Any]] = {
    "fit_intercept": _truth_value,
    "n_rows": _whole_number,
    "n_features": _whole_number,
    "n_split": _whole_number,
    "data": _text,
    "positive": _name,
    "negative": _name,
    "b": _number,
    "margin": _float64,
    "margin_bound": _float64,
}
_LISTS: dict[str, Callable[[Any], Any]] = {
    "w": _number,
    "feature_names": _name,
    "witness_signs": _whole_number,
    "first_split": _whole_number,
    "point": lambda v: rational(_text(v)),
}
