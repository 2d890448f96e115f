"""Words: why a coefficient is what it is, for people."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rosenblatt.prove.infinite.columns import Columns
from rosenblatt.prove.infinite.proof import Claim, Evidence
from rosenblatt.prove.infinite.relations import Relation

TERMS = 6  # terms of a relation that are written out


@dataclass(frozen=True, eq=False)
class Facts:
    """What the sentences are made of."""

    names: tuple[str, ...]
    columns: Columns
    evidence: Evidence

    def reason(self, claim: Claim) -> str:
        """Why a kept coefficient has the state it has."""
        up, down = claim.signs
        if not up and not down:
            n = self.evidence.certificate.n_rows - getattr(self.evidence.certificate, "n_split", 0)
            return f"the {n} rows that overlap determine it"
        if up and down:
            return "it is > 0 in one separating direction and < 0 in another"
        seen = self._in_the_data(claim.column, 1 if up else 0)
        if seen:
            return seen
        m = 0 if claim.bound is None else len(claim.bound)
        side = ">=" if up else "<="
        rows = "1 row proves it" if m == 1 else f"{m} rows prove it"
        return f"it is {side} 0 in every separating direction ({rows})"

    def _in_the_data(self, j: int, k: int) -> str:
        """What anyone can see in the column itself; k is the class of large values."""
        if j >= len(self.columns.example):
            return ""
        name, (low, high, used) = self.names[j], self._ranges(j)
        certificate = self.evidence.certificate
        classes = certificate.negative, certificate.positive
        other, this = classes[1 - k], classes[k]
        if low[k] >= 0 and high[1 - k] <= 0:  # large values here, none there
            said = []
            if used[k]:
                said.append(f"every row with {name} > 0 is of class {this} ({_count(used[k])})")
            if used[1 - k]:
                n = _count(used[1 - k])
                said.append(f"every row with {name} < 0 is of class {other} ({n})")
            return ", ".join(said)
        cut, top = low[k], high[1 - k]
        if cut > top:
            return f"{name} >= {cut:.6g} in class {this}, {name} <= {top:.6g} in class {other}"
        if cut == top:
            said = [f"every row with {name} > {cut:.6g} is of class {this}"] * int(high[k] > cut)
            said += [f"every row with {name} < {cut:.6g} is of class {other}"] * int(
                low[1 - k] < cut
            )
            return ", ".join(said)
        return ""

    def _ranges(self, j: int) -> tuple[Any, Any, Any]:
        c = self.columns
        return c.low[:, j], c.high[:, j], c.used[:, j]

    def dropped(self, j: int) -> str:
        """Which combination of others a dropped column is."""
        relation = next(r for r in self.evidence.relations if r.column == j)
        return self._equation(relation)

    def tied(self, j: int) -> str:
        """Which dropped columns a kept one is tied to."""
        others = [r.column for r in self.evidence.relations if any(c == j for c, _ in r.terms)]
        listed = ", ".join(self.names[c] for c in others[:TERMS])
        return f"tied to {listed}" + (" and others" if len(others) > TERMS else "")

    def _equation(self, relation: Relation) -> str:
        name, d = self.names[relation.column], len(self.columns.example)
        terms = sorted(relation.terms, key=lambda t: t[0] != d)
        if not terms:
            return f"{name} is always 0"
        if [j for j, _ in terms] == [d]:
            return f"{name} is always {_number(terms[0][1])}"
        text = "".join(
            _term(v, None if j == d else self.names[j], k == 0)
            for k, (j, v) in enumerate(terms[:TERMS])
        )
        more = f" + {len(terms) - TERMS} more terms" if len(terms) > TERMS else ""
        return f"{name} = {text}{more}"


def _count(n: int) -> str:
    return "1 row" if n == 1 else f"{n} rows"


def _number(v: Fraction) -> str:
    try:
        near = float(v)
    except OverflowError:
        return "(a number beyond 1e308)"
    if v.denominator == 1 and abs(v) < 10**6:
        return str(v.numerator)
    return f"{near:.6g}" if Fraction(near) == v or v.denominator > 999 else str(v)


def _term(value: Fraction, name: str | None, first: bool) -> str:
    sign = ("-" if value < 0 else "") if first else (" - " if value < 0 else " + ")
    size = _number(abs(value))
    if name is None:
        return sign + size
    return f"{sign}{name}" if abs(value) == 1 else f"{sign}{size} {name}"


def summary(result: Any) -> str:
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
