"""Theorems on the number of mistakes of a run, computed over the rationals and rounded up.

Let z_i = y_i (x_i, 1) (y_i x_i without offset) and R = max ||z_i||. An update at row i is made
while z_i.w <= 0, so it adds at most eta^2 R^2 to ||w||^2.

- Novikoff: let z_i.v >= g > 0 for all i. An update adds at least eta g to w.v, and w.v is at
  most ||w|| ||v||, so after M of them
      (w_0.v + eta M g)^2 <= ||v||^2 (||w_0||^2 + eta^2 M R^2);
  from w_0 = 0, with gamma = g / ||v||: M <= R^2 / gamma^2.
- Freund and Schapire: any v, z_i.v >= 1 - d_i. With D^2 the sum of d_i^2 over all visits, the
  updates lose at most sum d_i <= sqrt(M) D of the gain:
      w_0.v + eta (M - sqrt(M) D) <= ||v|| (||w_0|| + eta sqrt(M) R);
  from zero sqrt(M) <= R ||v|| + D, which is their (R + D) / gamma with u and gamma for v.
- hinge: the same with the loss L = sum d_i itself: M <= L + R ||v|| sqrt(L) + R^2 ||v||^2.

A rule that also moves at margins up to tau adds 2 eta tau more, so R^2 + 2 tau / eta takes the
place of R^2. A batch step that adds m <= n rows adds at most eta^2 m^2 R^2 <= eta^2 m n R^2:
n R^2 takes its place, and M counts rows. Half updates (tie="half") have their own forms: with s
the sum of the steps and N their number, sum of squares <= 3 s / 2 - N / 2.

The theorems are about the rule in exact arithmetic: a run in floating point that rounds a score to
the wrong sign may do something else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.cone import cone_of_arrays
from rosenblatt.data.problem import Problem
from rosenblatt.errors import ParameterError
from rosenblatt.prove.checker.norms import largest_square, root_up, sqrt_down, sqrt_up, up
from rosenblatt.prove.checker.signs import least_scores, plane_of

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class MistakeBound:
    """R, the margin of one hyperplane (offset inside the norm), and what they allow.

    Attributes
    ----------
    radius : float
        The largest ||z_i||, rounded up.
    margin : float
        min z_i.(w, b) / ||(w, b)||, rounded down; not positive if some row is on the wrong side.
    mistakes : float
        Infinite if the hyperplane does not separate the rows.
    """

    radius: float
    margin: float
    mistakes: float


@dataclass(frozen=True)
class Start:
    """Where a run starts, seen along v, in units of the learning rate.

    along = w_0.v / eta and square = ||w_0||^2 ||v||^2 / eta^2.
    """

    along: Fraction = Fraction(0)
    square: Fraction = Fraction(0)

    @property
    def behind(self) -> Fraction:
        """||w_0|| ||v|| - w_0.v over eta, rounded up: what the start owes at most."""
        return root_up(self.square) - self.along


def novikoff(growth: Fraction, gain: Fraction, start: Start, half: bool = False) -> Fraction:
    """The largest M with (along + M gain)^2 <= square + M growth, or a little more.

    `growth` is R^2 ||v||^2 and `gain` is g > 0.

    >>> novikoff(Fraction(26), Fraction(2), Start())
    Fraction(13, 2)
    >>> novikoff(Fraction(26), Fraction(2), Start(), half=True) * 8 / 9
    Fraction(13, 2)
    """
    b = growth / 2 - start.along * gain
    most = (b + root_up(b * b + gain * gain * (start.square - start.along**2))) / gain**2
    if not half:
        return most
    if growth == 0:
        return 2 * most
    best = 9 * growth / (8 * gain**2) - 3 * start.along / gain + 2 * start.square / growth
    return min(best, 2 * most)


def freund_schapire(
    growth: Fraction, loss_squared: Fraction, start: Start, half: bool = False
) -> Fraction:
    """M <= (sqrt(growth) + D)^2 from zero; `loss_squared` is D^2 at margin 1.

    >>> freund_schapire(Fraction(9), Fraction(4), Start())
    Fraction(25, 1)
    """
    whole = root_up(growth) + root_up(loss_squared)
    if start.square == 0:
        return whole**2 * (Fraction(9, 8) if half else 1)
    step = (whole + root_up(whole**2 + 4 * start.behind)) / 2
    return step**2 * (2 if half else 1)


def hinge(growth: Fraction, loss: Fraction, start: Start, half: bool = False) -> Fraction:
    """M <= L + sqrt(growth L) + growth; `loss` is L at margin 1.

    >>> hinge(Fraction(9), Fraction(4), Start())
    Fraction(19, 1)
    """
    loss = loss + start.behind
    return (loss + root_up(growth * loss) + growth) * (2 if half else 1)


def _vector(w: Any, b: Any, intercept: bool) -> list[Fraction]:
    end = [float(b)] if intercept else []
    return [Fraction(float(c)) for c in [*np.ravel(w).tolist(), *end]]


def start_along(v: list[Fraction], w0: list[Fraction], eta: Fraction) -> Start:
    """Where w0 stands along v.

    >>> start_along([Fraction(1), Fraction(0)], [Fraction(3), Fraction(4)], Fraction(1))
    Start(along=Fraction(3, 1), square=Fraction(25, 1))
    """
    along = sum((a * c for a, c in zip(w0, v, strict=True)), Fraction(0))
    square = sum((a * a for a in w0), Fraction(0)) * sum((c * c for c in v), Fraction(0))
    return Start(along / eta, square / eta**2)


def mistake_bound(
    problem: Problem,
    w: Any,
    b: Any = 0.0,
    *,
    intercept: bool = True,
    eta: float = 1.0,
    start: tuple[Any, float] | None = None,
    tie: str = "mistake",
    tau: float = 0.0,
) -> MistakeBound:
    """How many updates the hyperplane (w, b) allows a run of the online rule.

    Parameters
    ----------
    problem : Problem
        The rows of two classes.
    w, b : the hyperplane; a fitted ``coef_`` and ``intercept_`` will do
    intercept : bool, default=True
        Whether the offset is trained.
    eta, tau : float
        The learning rate, and the margin up to which the rule moves.
    start : (w_0, b_0), default=None
        Where the run starts; None is zero.
    tie : str, default="mistake"
        What a score of 0 is; "half" allows at most 9/8 as many updates from zero.

    Examples
    --------
    >>> p = Problem.of([[1.0], [-1.0]], [1, -1])
    >>> mistake_bound(p, np.array([1.0]), 0.0, intercept=False).mistakes
    1.0
    """
    w, b = np.ravel(w).astype(np.float64), float(np.ravel(b)[0])
    if w.size != problem.n_features or len(problem.classes) != 2:
        raise ParameterError(
            f"a hyperplane for two classes and {problem.n_features} features is asked for, got "
            f"{w.size} weights and {len(problem.classes)} classes."
        )
    if not eta > 0 or tie not in ("mistake", "positive", "correct", "half"):
        raise ParameterError(f"eta must be > 0 and tie one of the four, got {eta!r}, {tie!r}.")
    cone = cone_of_arrays(problem.X, problem.y, problem.classes)
    v, step = _vector(w, b, intercept), Fraction(eta)
    radius_squared = largest_square(cone) + int(intercept)
    R = sqrt_up(radius_squared)
    square = sum(c * c for c in v)
    if square == 0:
        return MistakeBound(R, 0.0, math.inf)
    (low,) = least_scores(cone, plane_of(w.tolist(), b, intercept))
    ratio = low.value**2 / square
    if low.value <= 0:
        return MistakeBound(R, -sqrt_up(ratio), math.inf)
    growth = (radius_squared + 2 * Fraction(tau) / step) * square
    begin = Start() if start is None else start_along(v, _vector(*start, intercept), step)
    most = novikoff(growth, low.value, begin, half=tie == "half" and tau == 0)
    return MistakeBound(R, sqrt_down(ratio), max(0.0, up(most)))
