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
from typing import Any

import numpy as np

from rosenblatt.data.cone import Cone
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
from rosenblatt.prove.limits import UNLIMITED
from rosenblatt.prove.separability import separability
from rosenblatt.prove.separability.exact_repair import Face, cancelling_weights, combination_of
from rosenblatt.prove.separability.scaling import ScaledCone, column_sizes, dense


def run_certificate(rows: Cone, planes: Sequence[tuple[Any, float]], trace: Trace) -> Certificate:
    """The certificate for what a run showed, verified; NothingProvenError if it showed nothing.

    `planes`: hyperplanes (w, b) the run came to, the ones it gives back first.
    """
    for w, b in planes:
        found = _separable(rows, np.ravel(w).tolist(), float(b))
        if found is not None:
            return found
    cycle = trace.cycle
    if cycle is not None and cycle.exact and cycle.counts.ndim == 1:
        counts = (Fraction(float(c)) for c in cycle.counts)
        combination = combination_of(dict(zip(cycle.rows.tolist(), counts, strict=True)))
        if checker.cancels(rows, combination.rows, combination.weights, rows.constant):
            return _not_separable(rows, combination)
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


def _separable(rows: Cone, w: list[float], b: float) -> Separable | None:
    """The certificate, if this hyperplane has every row strictly on its side."""
    if not np.isfinite([*w, b]).all():
        return None
    b = b if rows.constant else 0.0
    low = checker.margin_of(rows, w, b, rows.constant)
    found = Separable(**spoken_of(rows, rows.constant), w=tuple(w), b=b, margin=low)
    return found._with_digest(rows)


def _not_separable(rows: Cone, proof: Combination) -> Certificate:
    """Overlapping if the rows of the proof span all; otherwise whatever `separability` finds."""
    witness = _fewer(rows, proof)
    spoken = spoken_of(rows, rows.constant)
    found = Overlapping(**spoken, proof=proof, witness=witness)._with_digest(rows)
    if found is not None:
        return found
    other = separability(rows, fit_intercept=rows.constant)
    if isinstance(other, (Overlapping, QuasiSeparable)):
        other = replace(other, witness=witness)._with_digest(rows) or other
    return other


def _fewer(rows: Cone, proof: Combination) -> Combination:
    """Rows of the proof that cancel in just one way."""
    at = list(proof.rows)
    scaled = ScaledCone.of(rows, rows.select(np.sort(at)).map(column_sizes))
    block, columns = rows.take(at), np.arange(rows.n_columns)
    face = Face.of(at, *scaled.integers(block, columns))
    Z, exponents = scaled.rows(block, columns)
    proofs = cancelling_weights(face, dense(Z), exponents, UNLIMITED)
    return proof if proofs is None else combination_of(proofs[1])
