"""Soft: directions v with small losses d_i = max(0, 1 - z_i.v), for data that nothing separates.

Freund and Schapire's bound from zero is F(v)^2 with

    F(v) = ||v|| G + sqrt(P) ||d(v)||,    G^2 the growth of ||w||^2 an update, P the passes:

a convex function, so a good v can be found by descent. Any v gives a bound that holds; its
losses are then summed with all rounding errors on the safe side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from rosenblatt.data.chunks import Part
from rosenblatt.prove.margins.extremes import Direction, Scanner

Array = npt.NDArray[Any]
NUMBERS_PER_SEARCH = 2e9  # how many entries of the rows the descent may look at


@dataclass(frozen=True)
class Losses:
    """sum d_i and sum d_i^2 over all rows once, rounded up."""

    total: Fraction
    squares: Fraction


def losses(scanner: Scanner, v: Array) -> Losses | None:
    """The losses of v; None if they leave the range of floats."""
    total = squares = 0.0
    for one, two in scanner.rows.each(_losses, scanner.direction(v)):
        total, squares = total + one, squares + two
    if not math.isfinite(total + squares):
        return None
    more = 1 + Fraction(scanner.rows.n_rows + 32) * Fraction(2) ** -51
    return Losses(Fraction(total) * more, Fraction(squares) * more)


def _losses(part: Part, direction: Direction) -> tuple[float, float]:
    """sum d_i and sum d_i^2 over a part, from scores that are at most the true ones."""
    with np.errstate(all="ignore"):  # rounding is less than error / 8
        low = np.ldexp(direction.scores(part) - 1.5 * direction.error, direction.shift)
        d = np.maximum(0.0, 1.0 - low)
        return float(d.sum()), float(d @ d)


def good_directions(
    scanner: Scanner, growth: Fraction, passes: int, planes: Sequence[Array]
) -> list[Array]:
    """Vectors v for the two bounds: multiples of the planes given, and what descent makes of them.

    `growth` is G^2.
    """
    search = _Search(scanner, growth, passes)
    starts = [_unit(v) for v in (*planes, search.mean())]
    starts = [v for v in starts if v.any() and np.isfinite(v).all()]
    if not starts:
        return []
    best = min((search.scaled(v, "squares") for v in starts), key=lambda v: search.value(v)[0])
    found = search.descent(best)
    softer = [search.scaled(v, "hinge") for v in (found, *starts)]
    with np.errstate(all="ignore"):
        return [np.ldexp(v, -scanner.exponent) for v in (found, *softer)]


def _unit(v: Array) -> Array:
    top = float(np.max(np.abs(v), initial=0.0))
    return v / top if top > 0 else v


@dataclass(frozen=True, eq=False)
class _Plane:
    """Weights and offset, and the power of two that rows are thought of as times."""

    weights: Array
    offset: float
    power: int
    constant: bool

    def total(self, part: Part, c: Array) -> Array:
        """sum_i c_i z_i over a part."""
        signed = c * part.y
        found = np.asarray(part.X.T @ np.ldexp(signed, self.power), dtype=np.float64)
        return np.append(found, np.ldexp(signed.sum(), self.power)) if self.constant else found


def _scores(part: Part, plane: _Plane) -> Array:
    """w.z_i of a part."""
    return np.asarray((part.X @ plane.weights + plane.offset) * part.y, dtype=np.float64)


def _sum(part: Part, plane: _Plane) -> Array:
    """sum z_i over a part."""
    return plane.total(part, np.ones(len(part)))


def _squares(part: Part, plane: _Plane) -> tuple[float, Array]:
    """sum d_i^2 and sum d_i z_i over a part, d_i = max(0, 1 - w.z_i)."""
    d = np.maximum(0.0, 1.0 - _scores(part, plane))
    return float(d @ d), plane.total(part, d)


class _Search:
    """Floats only; the rows are thought of as times 2^-exponent, v as times 2^exponent."""

    def __init__(self, scanner: Scanner, growth: Fraction, passes: int) -> None:
        self.scanner, self.passes = scanner, passes
        self.size = math.sqrt(float(growth / Fraction(4) ** scanner.exponent))

    def plane(self, v: Array) -> _Plane:
        """v for rows as they are."""
        d, e = self.scanner.rows.n_features, -self.scanner.exponent
        offset = float(np.ldexp(v[d], e)) if self.scanner.constant else 0.0
        return _Plane(np.ldexp(v[:d], e), offset, e, self.scanner.constant)

    def mean(self) -> Array:
        """The direction of the mean of the z_i."""
        zero = np.zeros(self.scanner.rows.n_features + int(self.scanner.constant))
        return sum(self.scanner.rows.each(_sum, self.plane(zero)), zero)

    def value(self, v: Array) -> tuple[float, Array]:
        """F and its gradient."""
        squares, slope = 0.0, np.zeros(len(v))
        for one, total in self.scanner.rows.each(_squares, self.plane(v)):
            squares += one
            slope -= total
        norm, loss = float(np.linalg.norm(v)), math.sqrt(self.passes * squares)
        gradient = self.size * v / max(norm, 1e-300)
        if loss > 0:
            gradient = gradient + self.passes * slope / loss
        return self.size * norm + loss, gradient

    def descent(self, start: Array) -> Array:
        """Conjugate gradients, as long as the size of the rows allows."""
        rows = self.scanner.rows
        most = int(np.clip(NUMBERS_PER_SEARCH / (4 * rows.n_rows * rows.n_features), 3, 40))
        found = minimize(self.value, start, jac=True, method="CG", options={"maxiter": most})
        return np.asarray(found.x if found.fun <= self.value(start)[0] else start)

    def scaled(self, v: Array, form: str) -> Array:
        """The best of many multiples of v for one of the bounds."""
        scores = np.concatenate(list(self.scanner.rows.each(_scores, self.plane(v))))
        top, norm = float(np.abs(scores).max()), float(np.linalg.norm(v)) * self.size
        if not 0 < top < math.inf:
            return v
        best, least = v, math.inf
        for t in np.logspace(-2, 5, 57) / top:
            d = np.maximum(0.0, 1.0 - t * scores)
            if form == "squares":
                value = t * norm + math.sqrt(self.passes * float(d @ d))
            else:
                total = self.passes * float(d.sum())
                value = total + t * norm * math.sqrt(total) + (t * norm) ** 2
            if value < least:
                best, least = t * v, value
        return best
