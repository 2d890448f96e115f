"""Verdict: whether a line separates the points, and what is drawn to prove it.

The answer is :func:`rosenblatt.prove.separability.separability`'s, exact and verified. Where it is
yes, the line that is drawn is the one of largest margin; where it is no, the point that both hulls
have in common, as a combination of the few rows of the certificate's witness.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.cone import as_cone
from rosenblatt.prove import checker
from rosenblatt.prove.certificate import Certificate, Separable
from rosenblatt.prove.certificate.codec import number_text
from rosenblatt.prove.certificate.explain import short
from rosenblatt.show.lab import limits, proofs, words

Array = npt.NDArray[Any]


def verdict_of(X: Array, y: Array, offset: bool) -> dict[str, Any]:
    """What the page draws and says about these points."""
    began = time.perf_counter()
    found = _answer(X, y, offset)
    found["milliseconds"] = round(1000 * (time.perf_counter() - began), 3)
    return found


def _answer(X: Array, y: Array, offset: bool) -> dict[str, Any]:
    told: dict[str, Any] = {
        "verified": True, "separator": None, "common": None, "proof": "", "exact": None,
        "certificate": None,
    }  # fmt: skip
    if len(y) == 0:
        return {"verdict": "empty", "words": "There are no points yet.", **told}
    if len(np.unique(y)) == 1:
        said = f"All points are of class {int(y[0]):+d}: there is nothing to separate."
        return {"verdict": "one class", "words": said, **told}
    certificate = proofs.certificate(X, y, offset)
    told["verified"] = bool(certificate.verify(X, y))
    told["certificate"] = json.loads(certificate.to_json())
    where = "a line" if offset else "a line through the origin"
    if isinstance(certificate, Separable):
        told["separator"] = line = _largest(certificate, X, y, offset)
        told["proof"] = (
            f"All {len(y)} points lie strictly on their own side of the line; its margin is "
            f"{words.number(line['margin'])}, held by {_examples(line['support'])}. Checked "
            "without rounding."
        )
        return {"verdict": certificate.verdict, "words": f"Separable by {where}.", **told}
    told["common"] = common = _common(certificate, X, y, offset)
    told["proof"] = f"{_proof(common, _rounded)} Checked without rounding."
    told["exact"] = _proof(common, str)[: limits.PROOF]
    said = f"No, {where} cannot have every point on its own side."
    if certificate.verdict == "quasi-separable":
        told["separator"] = _line(certificate)
        split = int(getattr(certificate, "n_split", 0))
        said = (
            f"Quasi-separable: {where} has no point on the wrong side and {split} of {len(y)} on "
            "their own, but the others lie on it, and none does better."
        )
    else:
        said = f"Overlapping: every line{'' if offset else ' through the origin'} has a point on "
        said += "the wrong side, unless all lie on it."
    return {"verdict": certificate.verdict, "words": said, **told}


def _line(certificate: Any) -> dict[str, Any]:
    """The certificate's own hyperplane."""
    *w, b = proofs.scaled(certificate.w, certificate.b)
    return {
        "w": w,
        "b": b,
        "exact": {
            "w": [number_text(Fraction(v)) for v in certificate.w],
            "b": number_text(Fraction(certificate.b)),
        },
        "margin": 0.0,
        "support": [],
    }


def _largest(certificate: Separable, X: Array, y: Array, offset: bool) -> dict[str, Any]:
    """The line of largest margin; `exact` is the certificate's, which is what was checked."""
    line = _line(certificate)
    line["margin"] = certificate.margin
    found = proofs.widest(X, y, offset, augmented=False)
    if found is None:
        return line
    *w, b = proofs.scaled(found.w, found.b)
    return {
        **line, "w": w, "b": b, "margin": found.lower, "support": [int(i) for i in found.support]
    }  # fmt: skip


def _common(certificate: Certificate, X: Array, y: Array, offset: bool) -> dict[str, Any]:
    """The point of both hulls, or the origin in the hull of the y x, and the rows that make it."""
    witness: Any = getattr(certificate, "witness")  # noqa: B009  # not of Separable
    signs = [int(y[i]) for i in witness.rows]
    shares = [Fraction(c) for c in witness.weights]
    ours = zip(shares, signs, strict=True)
    total = sum((c for c, s in ours if s > 0 or not offset), Fraction(0))
    parts: dict[int, list[dict[str, Any]]] = {1: [], -1: []}
    for row, share, sign in zip(witness.rows, shares, signs, strict=True):
        parts[sign].append({"row": int(row), "weight": number_text(share / total)})
    point = [Fraction(0), Fraction(0)]
    if offset:
        point = list(checker.common_point(as_cone(X, y), witness.rows, witness.weights))
    return {
        "kind": "hulls" if offset else "origin",
        "point": [float(v) for v in point],
        "exact": [number_text(v) for v in point],
        "positive": parts[1],
        "negative": parts[-1],
    }


def _rounded(exact: str) -> str:
    """A short fraction as it is, a long one in a few digits that say so."""
    value = Fraction(exact)
    return short(value) or f"≈{float(value):.4g}"


def _proof(common: dict[str, Any], spelled: Callable[[str], str]) -> str:
    positive, negative = (_sum(common[side], spelled) for side in ("positive", "negative"))
    if common["kind"] == "hulls":
        where = ", ".join(map(spelled, common["exact"]))
        return f"({where}) lies in both hulls: {positive} of class +1, and {negative} of class -1."
    sides = " minus ".join(side for side in (positive, negative) if side)
    return f"{sides} is exactly 0, so no w has a positive score for all of y x."


def _sum(parts: list[dict[str, Any]], spelled: Callable[[str], str]) -> str:
    """2/5 of example 3 + 3/5 of example 7."""
    terms = []
    for part in parts:
        many = "" if part["weight"] == "1" else f"{spelled(part['weight'])} of "
        terms.append(f"{many}example {part['row'] + 1}")
    text = " + ".join(terms)
    return f"({text})" if len(terms) > 1 else text


def _examples(rows: list[int]) -> str:
    """examples 1, 4 and 7, the first few."""
    names = [str(i + 1) for i in rows[:6]]
    if len(names) == 1:
        return f"example {names[0]}"
    more = f" and {len(rows) - 6} more" if len(rows) > 6 else ""
    if more or not names:
        return f"examples {', '.join(names)}{more}"
    return f"examples {', '.join(names[:-1])} and {names[-1]}"
