"""Directions v with small losses d_i = max(0, 1 - z_i.v), for rows that no hyperplane separates.

Freund and Schapire's bound from zero is F(v)^2 with

    F(v) = ||v|| G + sqrt(P) ||d(v)||,    G^2 the growth of ||w||^2 per update, P the epochs:

a convex function, so a good v can be found by descent. Any v gives a bound that holds; its
losses are then summed with all rounding errors on the safe side.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from rosenblatt.data.cone import Cone, ConeBlock
from rosenblatt.prove.checker.signs import Plane, score_bounds

Array = npt.NDArray[Any]
NUMBERS_PER_SEARCH = 2e9  # how many entries of the rows the descent may look at
MULTIPLES = np.logspace(-2, 5, 57)


def losses(cone: Cone, plane: Plane) -> tuple[Fraction, Fraction] | None:
    """sum d_i and sum d_i^2 over all rows, rounded up; None beyond the range of floats.

    The plane has weights in floats, so that its unit is a power of two.
    """
    found = cone.map(_losses, plane)
    total, squares = (math.fsum(column) for column in zip(*found, strict=True))
    if not math.isfinite(total + squares):
        return None
    more = 1 + Fraction(cone.n_rows + 32) * Fraction(2) ** -51
    return Fraction(total) * more, Fraction(squares) * more


def _losses(block: ConeBlock, plane: Plane) -> tuple[float, float]:
    """sum d_i and sum d_i^2 over a block, from scores that are at most the true ones."""
    low, _ = score_bounds(block, plane)
    shift = plane.unit.bit_length() - plane.factor.bit_length()
    with np.errstate(all="ignore"):
        d = np.maximum(0.0, 1.0 - np.ldexp(low, shift))
        return float(d.sum()), float(d @ d)


def good_directions(
    cone: Cone,
    growth: Fraction,
    epochs: int,
    planes: Sequence[Array],
    deadline: float = math.inf,
) -> list[Array]:
    """Vectors v for the two bounds: multiples of the planes given, and what descent makes of them.

    `growth` is G^2. The rows are scaled by a power of two to entries of at most 1, in floats. The
    descent ends at the deadline, as of time.time.
    """
    block, constant = cone.whole(), cone.constant
    power = -max(math.frexp(float(abs(block.X).max()))[1], -1000)
    X, y = block.X.astype(np.float64) * math.ldexp(1.0, power), block.sign.astype(np.float64)
    ones = np.full(len(y), math.ldexp(1.0, power))
    size = math.sqrt(float(growth * Fraction(4) ** power))

    def scores(v: Array) -> Array:
        return np.asarray(y * (X @ v[: X.shape[1]] + (v[-1] * ones if constant else 0)))

    def total(c: Array) -> Array:
        signed = c * y
        return np.append(X.T @ signed, ones @ signed) if constant else X.T @ signed

    def value(v: Array) -> tuple[float, Array]:
        """F and its gradient."""
        d = np.maximum(0.0, 1.0 - scores(v))
        norm, loss = float(np.linalg.norm(v)), math.sqrt(epochs * float(d @ d))
        gradient = size * v / max(norm, 1e-300)
        return size * norm + loss, gradient - epochs * total(d) / loss if loss else gradient

    def scaled(v: Array, hinge: bool) -> Array:
        """The best of many multiples of v for one of the bounds."""
        at, norm = scores(v), float(np.linalg.norm(v)) * size
        top = float(np.abs(at).max())
        if not 0 < top < math.inf:
            return v
        best, least = v, math.inf
        for t in MULTIPLES / top:
            d = np.maximum(0.0, 1.0 - t * at)
            L = epochs * float(d.sum())
            squares = t * norm + math.sqrt(epochs * float(d @ d))
            found = L + t * norm * math.sqrt(L) + (t * norm) ** 2 if hinge else squares
            if found < least:
                best, least = t * v, found
        return np.asarray(best)

    starts = [v / (np.abs(v).max(initial=0.0) or 1.0) for v in (*planes, total(np.ones(len(y))))]
    starts = [v for v in starts if v.any() and np.isfinite(v).all()]
    if not starts:
        return []
    best = min((scaled(v, hinge=False) for v in starts), key=lambda v: value(v)[0])

    def stop_if_late(_: Array) -> None:
        if time.time() > deadline:
            raise StopIteration

    most = int(np.clip(NUMBERS_PER_SEARCH / (4 * len(y) * max(X.shape[1], 1)), 3, 40))
    options = {"maxiter": most}
    found = minimize(value, best, jac=True, method="CG", callback=stop_if_late, options=options)
    best = np.asarray(found.x if found.fun <= value(best)[0] else best)
    softer = [scaled(v, hinge=True) for v in (best, *starts)]
    with np.errstate(all="ignore"):
        return [np.ldexp(v, power) for v in (best, *softer)]
