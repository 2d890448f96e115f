"""Words: what a certificate says, for people. Sentences for the terminal, a table for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from html import escape

from rosenblatt.errors import DataError
from rosenblatt.prove.certificate.codec import number_text

Number = float | Fraction
FEW_ROWS = 8
FEW_WEIGHTS = 5
SHORT = 12  # characters of a fraction that is still worth reading


def word(text: object) -> str:
    """A label or a name in one line, whatever characters are in it."""
    found = str(text)
    return found if found.isprintable() else repr(found)[1:-1]


def named(names: Iterable[object] | None, n_features: int) -> list[str]:
    """The names of all features: those given, or x0, x1, ..."""
    if names is None:
        return [f"x{j}" for j in range(n_features)]
    found = [word(name) for name in names]
    if len(found) != n_features:
        raise DataError(f"feature_names has {len(found)} names for {n_features} features.")
    return found


def rows_words(rows: Sequence[int], n: int | None = None) -> str:
    """The first few of n rows: 'row 3', 'rows 1, 2', 'rows 0, 1, 2, ... (90 in all)'."""
    n = len(rows) if n is None else n
    shown = ", ".join(str(i) for i in rows[:FEW_ROWS])
    more = f", ... ({n} in all)" if n > len(rows[:FEW_ROWS]) else ""
    return f"row{'s' if n != 1 else ''} {shown}{more}"


def short(value: Number) -> str | None:
    """A rational in few characters, or None."""
    exact = Fraction(value)
    bits = exact.numerator.bit_length() + exact.denominator.bit_length()
    text = number_text(exact) if bits < 4 * SHORT else ""
    return text if 0 < len(text) <= SHORT else None


def number(value: Number) -> str:
    """A float in a few digits; a rational in full if it is short."""
    if isinstance(value, Fraction) and (text := short(value)) is not None:
        return text
    return f"{float(value):.4g}"


def weights_words(w: Sequence[Number], b: Number, intercept: bool, names: list[str]) -> str:
    """The largest weights by name. Only their ratios matter, so long ones are scaled to 1."""
    if not any(w):
        return "All weights are 0."
    order = sorted(range(len(w)), key=lambda j: abs(Fraction(w[j])), reverse=True)[:FEW_WEIGHTS]
    top, title = Fraction(1), "Weights"
    if any(isinstance(v, Fraction) and short(v) is None for v in (*w, b)):
        top, title = abs(Fraction(w[order[0]])), "Weights, the largest scaled to 1"
    scale = (lambda v: _ratio(Fraction(v), top)) if top != 1 else (lambda v: v)
    shown = ", ".join(f"{names[j]} {number(scale(w[j]))}" for j in order if w[j])
    left = sum(1 for v in w if v) - sum(1 for j in order if w[j])
    more = f" and {left} smaller ones" if left else ""
    offset = f"; offset {number(scale(b))}" if intercept else ""
    return f"{title}: {shown}{more}{offset}."


def _ratio(value: Fraction, top: Fraction) -> float:
    """value / top as a float, however long both are."""
    try:
        return (value.numerator * top.denominator) / (value.denominator * top.numerator)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def hull_words(
    rows: Sequence[int], weights: Sequence[Fraction], signs: Sequence[int], labels: tuple[str, str]
) -> str:
    """A point of both hulls as a combination of rows of each label."""
    total = sum(c for c, s in zip(weights, signs, strict=True) if s > 0)
    sides = []
    for sign, label in zip((-1, 1), labels, strict=True):
        mine = [(i, c / total) for i, c, s in zip(rows, weights, signs, strict=True) if s == sign]
        sides.append(f"{_sum_words(mine)} of label {word(label)}")
    return " and ".join(sides)


def _sum_words(terms: Sequence[tuple[int, Fraction]]) -> str:
    """'1/2 row 3 + 1/2 row 4', or only the rows where the weights are long."""
    texts = [short(c) for _, c in terms]
    if len(terms) == 1 or len(terms) > FEW_ROWS or None in texts:
        return rows_words([i for i, _ in terms])
    return " + ".join(f"{t} row {i}" for t, (i, _) in zip(texts, terms, strict=True))


def origin_words(rows: Sequence[int], weights: Sequence[Fraction], signs: Sequence[int]) -> str:
    """The origin as a combination of the y*x of some rows: '1/2 row 0 - 1/2 row 3 = 0'."""
    total = sum(weights)
    shares = [short(c / total) for c in weights]
    if len(rows) > FEW_ROWS or None in shares:
        return rows_words(rows)
    terms = [
        f"{'-' if s < 0 else '+'} {t} row {i}" for t, s, i in zip(shares, signs, rows, strict=True)
    ]
    text = " ".join(terms).removeprefix("+ ")
    return (f"-{text[2:]}" if text.startswith("- ") else text) + " = 0"


def point_words(point: Sequence[Fraction], names: list[str]) -> str:
    """A point by its coordinates."""
    return "(" + ", ".join(f"{n} {number(v)}" for n, v in zip(names, point, strict=True)) + ")"


def html_facts(title: str, facts: Sequence[tuple[str, str]]) -> str:
    """A small table: a fact a line."""
    lines = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in facts
    )
    return f"<table><caption>{escape(title)}</caption>{lines}</table>"
