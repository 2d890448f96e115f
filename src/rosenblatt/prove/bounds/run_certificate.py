"""The certificate of what a training run proved.

- Weights that have every row strictly on its side, checked exactly, prove "separable".
- A cycle of the weights whose updates sum to exactly zero is a combination c_i > 0 of rows whose
  z_i cancel: it proves that nothing separates them [Gordan]. If these rows span all rows, the
  data overlap [Stiemke]. If they do not, `separability` decides between overlapping and
  quasi-separable, and the cycle is the witness of its certificate.
- Anything else, such as a cycle that only rounding closed, proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from flint import fmpz_mat

from rosenblatt.data.cone import Cone
from rosenblatt.data.exact import primitive, to_integers
from rosenblatt.errors import NothingProvenError
from rosenblatt.learn.trace import Trace
from rosenblatt.prove import checker
from rosenblatt.prove.certificate import (
    Certificate,
    Combination,
    Overlapping,
    QuasiSeparable,
    Separable,
    spoken_of,
)
from rosenblatt.prove.separability import separability

C = TypeVar("C", bound=Certificate)


def run_certificate(
    rows: Cone, intercept: bool, planes: Sequence[tuple[Any, float]], trace: Trace
) -> Certificate:
    """The certificate for what a run showed, verified; NothingProvenError if it showed nothing.

    `planes`: hyperplanes (w, b) the run came to, the ones it gives back first.
    """
    for w, b in planes:
        found = _separable(rows, intercept, np.ravel(w).tolist(), float(b))
        if found is not None:
            return found
    cycle = trace.cycle
    if cycle is not None and cycle.exact and cycle.counts.ndim == 1:
        counts = [Fraction(float(c)) for c in cycle.counts]
        combination = _combination([int(i) for i in cycle.rows], counts)
        if checker.cancels(rows, combination.rows, combination.weights, intercept):
            return _not_separable(rows, intercept, combination)
        raise NothingProvenError(
            "the updates of the cycle do not cancel on these rows. Give the rows and labels the "
            "model was trained on."
        )
    raise NothingProvenError(_what_happened(trace))


def _what_happened(trace: Trace) -> str:
    end = "Ask `separability(X, y)`: it decides."
    if trace.cycle is not None:
        return (
            "the weights returned to earlier ones, but the updates in between were not shown to "
            f"sum to exactly zero. This proves nothing about the data. {end}"
        )
    if trace.stop_reason == "separated":
        return (
            "a pass moved nothing, but not every row is strictly on its side when the scores are "
            f"computed without rounding. This proves nothing about the data. {end}"
        )
    return (
        f"the run stopped for another reason ({trace.stop_reason}: "
        f"{trace.stop_reason.sentence}), with rows on the wrong side. This proves nothing about "
        f"the data. {end}"
    )


def _separable(rows: Cone, intercept: bool, w: list[float], b: float) -> Separable | None:
    """The certificate, if this hyperplane has every row strictly on its side."""
    if not np.isfinite([*w, b]).all():
        return None
    if not (checker.signs(rows, w, b, intercept) > 0).all():
        return None
    b = b if intercept else 0.0
    low = checker.margin_of(rows, w, b, intercept)
    found = Separable(**spoken_of(rows, intercept), w=tuple(w), b=b, margin=low)
    return _verified(found, rows)


def _verified(certificate: C, rows: Cone) -> C:
    """No certificate leaves unverified."""
    wrong = certificate._untrue(rows)
    if wrong:
        raise NothingProvenError(f"the certificate does not verify: {'; '.join(wrong)}.")
    return certificate


def _combination(rows: Sequence[int], weights: Sequence[Fraction]) -> Combination:
    """Weights as coprime whole numbers."""
    return Combination(tuple(rows), tuple(map(Fraction, primitive(weights))))


def _not_separable(rows: Cone, intercept: bool, proof: Combination) -> Certificate:
    """Overlapping if the rows of the proof span all; otherwise whatever `separability` finds."""
    witness = smallest(rows, intercept, proof)
    everything = np.ones(rows.n_rows, dtype=bool)
    if checker.spans(rows, proof.rows, everything, intercept):
        found: Certificate = Overlapping(**spoken_of(rows, intercept), proof=proof, witness=witness)
    else:
        found = separability(rows, fit_intercept=intercept)
        if isinstance(found, (Overlapping, QuasiSeparable)):
            found = replace(found, witness=witness, sealed=None)
    return _verified(found, rows)


def smallest(rows: Cone, intercept: bool, proof: Combination) -> Combination:
    """Rows of the proof that cancel in just one way, at most one more than their rank.

    Another way for some of them to cancel, subtracted until a weight is 0, leaves fewer
    [Caratheodory].
    """
    part = rows.take(proof.rows)
    X = part.X.toarray() if hasattr(part.X, "toarray") else part.X
    Z = part.sign[:, None] * (np.column_stack([X, np.ones(len(X))]) if intercept else X)
    whole, exponents = to_integers(Z.astype(np.float64))
    at = list(range(len(whole)))
    weights = [c / Fraction(2) ** e for c, e in zip(proof.weights, exponents, strict=True)]
    while (change := _other_way([whole[k] for k in at], weights)) is not None:
        step = min(c / d for c, d in zip(weights, change, strict=True) if d > 0)
        left = [c - step * d for c, d in zip(weights, change, strict=True)]
        at, weights = [k for k, c in zip(at, left, strict=True) if c > 0], [c for c in left if c]
    true = [c * Fraction(2) ** exponents[k] for k, c in zip(at, weights, strict=True)]
    return _combination([proof.rows[k] for k in at], true)


def _other_way(whole: list[list[int]], weights: list[Fraction]) -> list[Fraction] | None:
    """Weights, some of them positive, with which rows cancel, not a multiple of those given."""
    few = whole[: len(whole[0]) + 2]
    space, nullity = fmpz_mat(few).transpose().nullspace()
    for k in range(min(int(nullity), 2)):
        found = [Fraction(int(space[i, k])) for i in range(len(few))]
        found += [Fraction(0)] * (len(whole) - len(few))
        if len({d / c for c, d in zip(weights, found, strict=True)}) > 1:
            return found if any(d > 0 for d in found) else [-d for d in found]
    return None
