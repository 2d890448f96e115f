"""Margin: the hyperplane of largest margin (optimal stability), with both bounds.

The largest margin is a distance, so it is found as one:

- offset free: half the distance of the two convex hulls;
- offset inside the norm (the constant 1 as a feature), or no offset: the norm of the smallest
  point of the hull of the z_i = y_i (x_i, 1), or y_i x_i.

Every point p of the set bounds the margin from above by its norm (half of it, offset free);
every hyperplane bounds it from below by the smallest of its own y_i (w.x_i + b) / ||w||.
The smallest p is found in floats over a working set of rows (`margins/closest.py`), which the
others join a scan at a time. What is returned is computed from the rows without rounding; where
floats cannot close the interval, Wolfe's algorithm over integers finishes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.cone import Cone, as_cone
from rosenblatt.errors import ParameterError, RosenblattError
from rosenblatt.prove.certificate import Certificate, Combination, Separable, spoken_of
from rosenblatt.prove.certificate.margin import MaxMargin
from rosenblatt.prove.limits import Limits
from rosenblatt.prove.margins.closest import Closest
from rosenblatt.prove.margins.extremes import Scanner, nearest, root, sqrt_down, sqrt_up
from rosenblatt.prove.separability import separability

Array = npt.NDArray[Any]
Number = float | Fraction
EASY_ROWS, EASY_STEPS = 40, 3  # what is finished in rationals though floats would do
SMALL = 100  # columns up to which the rationals are tried before `separability` is asked


class NotSeparableError(RosenblattError, ValueError):
    """There is no margin to maximise; `certificate` proves it."""

    def __init__(self, certificate: Certificate) -> None:
        self.certificate = certificate
        super().__init__(
            f"the classes are {certificate.verdict}, so no margin is positive. The proof is in "
            f"`certificate`:\n{certificate.explain()}"
        )


def max_margin(
    X: Any,
    y: Any = None,
    *,
    fit_intercept: bool = True,
    augmented: bool = False,
    rtol: float = 1e-6,
    max_steps: int = 100_000,
    max_seconds: float | None = None,
) -> MaxMargin:
    """The hyperplane of largest margin, with bounds that lie within `rtol` of each other.

    Parameters
    ----------
    X : array, memory map, frame or CSR matrix of shape (n, d); or, with y left out, chunks
        of (X, y) that can be read again and again
    y : labels of two classes
    fit_intercept : bool, default=True
        With an offset, or through the origin.
    augmented : bool, default=False
        Count the offset in the norm, as the mistake bound does.
    rtol : float, default=1e-6
        How close `lower` and `upper` must be, relatively.
    max_steps : int, default=100000
        After these it gives back what it has, and `closed` says whether that is enough.
    max_seconds : float, optional
        The same after this time. The bounds of what was reached are then computed exactly.

    Raises
    ------
    NotSeparableError
        If nothing separates the classes; it carries the certificate.
    UndecidedError
        If no hyperplane that separates them was found within `max_seconds`.

    Examples
    --------
    >>> found = max_margin([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]], [0, 0, 1, 1])
    >>> found.w, found.b, found.lower, found.upper
    (array([1., 0.]), -1.0, 1.0, 1.0)
    """
    if not 0 < rtol < 1 or max_steps < 1:
        raise ParameterError(
            f"rtol must lie between 0 and 1 and max_steps be at least 1, got {rtol!r}, "
            f"{max_steps!r}."
        )
    limits = Limits.starting_now(max_seconds, None)
    limits.stage = "before a hyperplane was found"
    rows = as_cone(X, y)
    groups = 2 if fit_intercept and not augmented else 1
    scanner = Scanner.of(rows, fit_intercept and groups == 1)
    search = Closest(scanner, groups, rtol, max_steps, limits.deadline)
    search.by_floats()
    spoken = spoken_of(rows, fit_intercept)
    found = _result(search, spoken, exact=False)
    if found.closed:
        exact = search.by_rationals(EASY_ROWS, EASY_STEPS)
        return _result(search, spoken, exact) if exact else found
    hidden = found.lower <= 0  # floats see no hyperplane that separates
    wide = hidden and search.columns > SMALL
    certificate = _certified(rows, fit_intercept, limits) if wide else None
    exact = search.by_rationals()
    if hidden and certificate is None and not exact:
        certificate = _certified(rows, fit_intercept, limits)
    return _result(search, spoken, exact, certificate)


def _certified(rows: Cone, fit_intercept: bool, limits: Limits) -> Separable:
    """The hyperplane that `separability` finds, or the error that there is none."""
    limits.check_time()
    certificate = separability(rows, fit_intercept=fit_intercept, max_seconds=limits.seconds_left)
    if not isinstance(certificate, Separable):
        raise NotSeparableError(certificate)
    return certificate


def _result(
    search: Closest, spoken: dict[str, Any], exact: bool, certificate: Separable | None = None
) -> MaxMargin:
    """Both bounds from exact sums; `exact`: the point that was reached is the smallest."""
    point, square = search.point()
    square /= search.groups**2
    upper = sqrt_up(square)
    norm = root(Fraction(sum(v * v for v in point))) or Fraction(1)
    w, b, lower = _plane(search, [nearest(v / norm) for v in point])
    closed = _close(lower, upper, search.rtol)
    if exact and not closed:
        w, b, lower = _plane(search, [Fraction(v) for v in point])
    elif lower <= 0 and certificate is not None:
        inside = [certificate.b] if search.scanner.constant else []
        w, b, lower = _plane(search, [*certificate.w, *inside])
    used = sorted(zip(search.corral.rows, search.corral.weights, strict=True))
    proof = [(row, Fraction(a)) for row, a in used if a > 0]
    return MaxMargin(
        **spoken,
        w=w,
        b=b,
        lower=lower,
        upper=upper,
        augmented=search.scanner.constant,
        rtol=search.rtol,
        proof=Combination(tuple(i for i, _ in proof), tuple(a for _, a in proof)),
        square=square if exact else None,
        n_steps=search.steps,
        n_scans=search.scans,
    )


def _close(lower: float, upper: float, rtol: float) -> bool:
    return lower > 0 and upper < math.inf and upper - lower <= rtol * upper


def _plane(search: Closest, v: Sequence[Number]) -> tuple[Array, Number, float]:
    """The best hyperplane in direction v: (w, b), and its margin rounded down.

    If the offset is inside the norm, it is the last entry of v.
    """
    scanner, d = search.scanner, search.rows.n_features
    lows = [low.value for low in scanner.least(v, search.groups == 2, search.rtol / 100)]
    search.scans += 1
    floats = all(isinstance(c, float) for c in v)
    w = np.array(v[:d], dtype=np.float64 if floats else object)
    b: Number = v[d] if scanner.constant else 0.0
    if search.groups == 2:
        middle = (lows[1] - lows[0]) / 2
        b = nearest(middle) if floats else middle
        if b in (math.inf, -math.inf):
            return w, b, -math.inf
        lows = [lows[0] + Fraction(b), lows[1] - Fraction(b)]
    low = min(lows)
    square = sum((Fraction(c) ** 2 for c in v), Fraction(0))
    if square == 0:
        return w, b, -math.inf
    ratio = low * low / square
    return w, b, sqrt_down(ratio) if low >= 0 else -sqrt_up(ratio)
