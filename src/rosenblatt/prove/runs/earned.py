"""Earned: the certificate that a training run earned, and nothing that it did not.

- Weights that have every row strictly on its side, checked exactly, prove "separable".
- A cycle of the weights whose updates sum to exactly zero is a combination c_i > 0 of rows whose
  z_i cancel: it proves that nothing separates them [Gordan]. If these rows span all rows, the
  data overlap [Stiemke]. If they do not, that alone tells not overlapping from quasi-separable,
  and `separability` is asked which it is; the cycle stays in the certificate as its witness.
- Anything else, such as a cycle that only rounding closed, proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from flint import fmpz_mat

from rosenblatt.data.chunks import Rows
from rosenblatt.errors import RosenblattError
from rosenblatt.learn.trace import Trace
from rosenblatt.prove import verify as checker
from rosenblatt.prove.certificate import (
    Certificate,
    Combination,
    Overlapping,
    QuasiSeparable,
    Separable,
    spoken_of,
)
from rosenblatt.prove.exact import integer_rows
from rosenblatt.prove.search.proofs import primitive
from rosenblatt.prove.separability import separability

C = TypeVar("C", bound=Certificate)


class NothingProven(RosenblattError):
    """The run established nothing about the rows; `separability` may."""


def earned(
    rows: Rows, intercept: bool, planes: Sequence[tuple[Any, float]], trace: Trace
) -> Certificate:
    """The certificate for what a run showed, verified; NothingProven if it showed nothing.

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
        raise NothingProven(
            "the updates of the cycle do not cancel on these rows. Give the rows and labels the "
            "model was trained on."
        )
    raise NothingProven(_what_happened(trace))


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


def _separable(rows: Rows, intercept: bool, w: list[float], b: float) -> Separable | None:
    """The certificate, if this hyperplane has every row strictly on its side."""
    if not np.isfinite([*w, b]).all():
        return None
    if not (checker.signs(rows, w, b, intercept) > 0).all():
        return None
    b = b if intercept else 0.0
    low, high = checker.margin_interval(rows, w, b, intercept)
    found = Separable(**spoken_of(rows, intercept), w=tuple(w), b=b, margin=low, margin_bound=high)
    return _verified(found, rows)


def _verified(certificate: C, rows: Rows) -> C:
    """No certificate leaves unverified."""
    wrong = certificate._untrue(rows)
    if wrong:
        raise NothingProven(f"the certificate does not verify: {'; '.join(wrong)}.")
    return certificate


def _combination(rows: Sequence[int], weights: Sequence[Fraction]) -> Combination:
    """Weights as coprime whole numbers."""
    return Combination(tuple(rows), tuple(primitive(weights)))


def _not_separable(rows: Rows, intercept: bool, proof: Combination) -> Certificate:
    """Overlapping if the rows of the proof span all; otherwise whatever `separability` finds."""
    witness = smallest(rows, intercept, proof)
    everything = np.ones(rows.n_rows, dtype=bool)
    if checker.spans(rows, proof.rows, everything, intercept):
        found: Certificate = Overlapping(**spoken_of(rows, intercept), proof=proof, witness=witness)
    else:
        found = separability(rows, fit_intercept=intercept)
        if isinstance(found, (Overlapping, QuasiSeparable)):
            found = replace(found, witness=witness, sealed=None)
    return _verified(found.described(rows), rows)


def smallest(rows: Rows, intercept: bool, proof: Combination) -> Combination:
    """Rows of the proof that cancel in just one way, at most one more than their rank.

    Another way for some of them to cancel, subtracted until a weight is 0, leaves fewer
    [Caratheodory].
    """
    part = rows.take(proof.rows)
    whole, exponents = integer_rows(part.X, part.y, range(len(part)), intercept)
    at = list(proof.rows)
    weights = [c / Fraction(2) ** e for c, e in zip(proof.weights, exponents, strict=True)]
    while (change := _other_way(whole, weights)) is not None:
        theta = min(c / d for c, d in zip(weights, change, strict=True) if d > 0)
        left = [c - theta * d for c, d in zip(weights, change, strict=True)]
        keep = [k for k, c in enumerate(left) if c > 0]
        at, whole = [at[k] for k in keep], [whole[k] for k in keep]
        exponents, weights = [exponents[k] for k in keep], [left[k] for k in keep]
    true = [c * Fraction(2) ** e for c, e in zip(weights, exponents, strict=True)]
    return _combination(at, true)


def _other_way(whole: list[list[int]], weights: list[Fraction]) -> list[Fraction] | None:
    """Weights, some of them positive, with which rows cancel, not a multiple of those given."""
    few = whole[: len(whole[0]) + 2]
    space, nullity = fmpz_mat(few).transpose().nullspace()
    if len(few) == len(whole) and int(nullity) == 1:
        return None
    for k in range(int(nullity)):
        found = [Fraction(int(space[i, k])) for i in range(len(few))]
        found += [Fraction(0)] * (len(whole) - len(few))
        ratios = {d / c for c, d in zip(weights, found, strict=True)}
        if len(ratios) > 1:
            return found if any(d > 0 for d in found) else [-d for d in found]
    return None
