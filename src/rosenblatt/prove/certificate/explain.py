"""Words: what a certificate says, for people. Sentences for the terminal, a table for notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

from rosenblatt.errors import DataError
from rosenblatt.prove.certificate.codec import number_text
from rosenblatt.prove.checker.coefficients import Facts
from rosenblatt.text import plural

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


# ---------------------------------------------------------------------- coefficients

TERMS = 6  # terms of a relation that are written out


@dataclass(frozen=True, eq=False)
class Reasons:
    """Why coefficients are what they are, from names, what the rows say, and the certificate."""

    names: Sequence[str]
    facts: Facts
    certificate: Any

    def reason(self, j: int, state: str, reduced: str | None, bound: Any) -> str:
        """Why coefficient j has its state."""
        if reduced is None:
            return self._equation(j)
        reason = self._of_reduced(j, reduced, bound)
        if state == reduced:
            return reason
        others = [self.names[k] for k, vector in self.facts.relations.items() if j in vector]
        more = " and others" if len(others) > TERMS else ""
        return f"tied to {', '.join(others[:TERMS])}{more}; after dropping: {reason}"

    def _of_reduced(self, j: int, reduced: str, bound: Any) -> str:
        """Why it has its state once the columns to drop are left out."""
        if reduced == "finite":
            n = self.certificate.n_rows - getattr(self.certificate, "n_split", 0)
            return f"the {n} rows that overlap determine it"
        if reduced == "undetermined":
            return "it is > 0 in one separating direction and < 0 in another"
        up = reduced == "+inf"
        if seen := self._in_the_data(j, int(up)):
            return seen
        rows = "1 row proves it" if len(bound) == 1 else f"{len(bound)} rows prove it"
        return f"it is {'>=' if up else '<='} 0 in every separating direction ({rows})"

    def _in_the_data(self, j: int, k: int) -> str:
        """What anyone can see in the column itself; k is the class of large values."""
        ranges = self.facts.ranges
        if j >= ranges.low.shape[1]:
            return ""
        name, low, high, used = (
            self.names[j],
            *(v[:, j] for v in (ranges.low, ranges.high, ranges.used)),
        )
        classes = self.certificate.negative, self.certificate.positive
        other, this = classes[1 - k], classes[k]
        said = []
        if low[k] >= 0 and high[1 - k] <= 0:  # large values here, none there
            if used[k]:
                said.append(
                    f"every row with {name} > 0 is of class {this} ({plural(used[k], 'row')})"
                )
            if used[1 - k]:
                n = plural(used[1 - k], "row")
                said.append(f"every row with {name} < 0 is of class {other} ({n})")
            return ", ".join(said)
        cut, top = low[k], high[1 - k]
        if cut > top:
            return f"{name} >= {cut:.6g} in class {this}, {name} <= {top:.6g} in class {other}"
        if cut == top and high[k] > cut:
            said.append(f"every row with {name} > {cut:.6g} is of class {this}")
        if cut == top and low[1 - k] < cut:
            said.append(f"every row with {name} < {cut:.6g} is of class {other}")
        return ", ".join(said)

    def _equation(self, j: int) -> str:
        """Which combination of others a column is that is left out."""
        name, d = self.names[j], self.facts.ranges.low.shape[1]
        vector = self.facts.relations[j]
        others = sorted((k for k in vector if k != j), key=lambda k: (k != d, k))
        terms = [(k, Fraction(-vector[k], vector[j])) for k in others[:TERMS]]
        if not terms:
            return f"{name} is always 0"
        if others == [d]:
            return f"{name} is always {_constant(terms[0][1])}"
        text = ""
        for k, v in terms:
            sign = (" - " if v < 0 else " + ") if text else ("-" if v < 0 else "")
            size = _constant(abs(v))
            text += sign + (
                size if k == d else self.names[k] if abs(v) == 1 else f"{size} {self.names[k]}"
            )
        more = f" + {len(others) - TERMS} more terms" if len(others) > TERMS else ""
        return f"{name} = {text}{more}"


def _constant(v: Fraction) -> str:
    """A factor, in full if it is short."""
    try:
        near = float(v)
    except OverflowError:
        return "(a number beyond 1e308)"
    if v.denominator == 1 and abs(v) < 10**6:
        return str(v.numerator)
    return f"{near:.6g}" if Fraction(near) == v or v.denominator > 999 else str(v)


def coefficients_summary(result: Any) -> str:
    """The model, the verdict, how many coefficients are what."""
    certificate, n = result.certificate, len(result)
    count = Counter(str(c.state) for c in result)
    said = ", ".join(f"{k} {state}" for state, k in sorted(count.items(), key=lambda p: -p[1]))
    lines = [
        f"Logistic or probit regression of {result.positive!r} against {result.negative!r}, "
        f"{certificate.n_rows} rows: {certificate.verdict}.",
        f"{n} coefficients: {said}.",
    ]
    states = {str(c.reduced) for c in result if c.reduced is not None}
    if certificate.verdict == "separable":
        lines.append(
            "Perfect separation: every fitted probability tends to 0 or 1, and no coefficient has "
            "a finite estimate" + ("." if states != {"undetermined"} else ", nor a sign.")
        )
    elif certificate.verdict == "quasi-separable":
        lines.append(
            f"{certificate.n_split} rows are split off: their fitted probabilities tend to 0 or 1. "
            f"The other {certificate.n_rows - certificate.n_split} determine what is finite."
        )
    if result.drop:
        shown = ", ".join(result.drop[:10])
        more = f" and {len(result.drop) - 10} more" if len(result.drop) > 10 else ""
        lines.append(f"Collinear columns. Without {shown}{more} every coefficient is identified.")
    return "\n".join(lines)
