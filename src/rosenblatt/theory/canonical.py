"""Canonical: coordinates in which both classes are diagonal; what the Bayes rule is in them.

With u = T (x - mean0), class 0 is N(0, diag(v)) and class 1 is N(m, diag(1 - v)). The log-odds are

    q(u) = 1/2 sum_i [ u_i^2 / v_i - (u_i - m_i)^2 / (1 - v_i) + log(v_i / (1 - v_i)) ] + log(p1/p0)

and with u_i = sqrt(v_i) z_i, or m_i + sqrt(1 - v_i) z_i, a quadratic in standard normals for
either class. Singular covariances:

- directions in which neither class varies are left out, unless the means differ there: then
  the classes never meet;
- if only one class varies in some direction (v_i = 0 or 1), the other lies in a set that the
  first meets with probability 0. Then too the Bayes error is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import arb, ctx, fmpq_mat
from scipy.special import ndtr

from rosenblatt.theory.covariance import Root, floats
from rosenblatt.theory.precise import Joint, independent, rational, submatrix
from rosenblatt.theory.quadratic_form import Quadratic

Array = npt.NDArray[Any]
ON_SUPPORT = 1e-9  # how near, in standard deviations of both classes, counts as on it


@dataclass(frozen=True, eq=False)
class Canonical:
    """The pair in canonical coordinates.

    Attributes
    ----------
    rows : which features determine the others
    joint : the coordinates, in long floats; None if neither class varies at all
    T, m, share, rest : the same in floats
    null : directions in which neither class varies; the columns of a matrix
    gap : how far the means differ along `null`
    """

    rows: list[int]
    joint: Joint | None
    T: Array
    m: Array
    share: Array
    rest: Array
    null: Array
    gap: Array

    @classmethod
    def of(cls, root0: Root, root1: Root, mean0: Array, mean1: Array) -> Canonical:
        S0, S1 = root0.exact, root1.exact
        delta = rational(mean1[:, None]) - rational(mean0[:, None])
        total = S0 + S1
        J = independent(total)
        null, gap = _null(total, J, delta)
        if not J:
            nothing = np.empty(0)
            return cls(J, None, np.empty((0, 0)), nothing, nothing, nothing, null, gap)
        joint = Joint.of(submatrix(S0, J, J), submatrix(S1, J, J), submatrix(delta, J, [0]))
        m, share, rest = (
            np.array([float(v) for v in p]) for p in (joint.m, joint.share, joint.rest)
        )
        return cls(J, joint, floats(joint.T), m, share, rest, null, gap)

    @property
    def apart(self) -> bool:
        """Whether the classes lie in sets that never meet, or with probability 0."""
        return bool(self.gap.any() or (self.share == 0).any() or (self.rest == 0).any())

    def least_error(self, prior1: float, log_odds: float, equal: bool) -> float:
        """The Bayes error; in closed form for equal covariances."""
        p1, p0 = prior1, 1 - prior1
        if p1 in (0.0, 1.0) or self.apart:
            return 0.0
        if self.joint is None:  # two equal points
            return min(p0, p1)
        if equal:
            D = math.sqrt(2.0) * float(np.linalg.norm(self.m))  # v = 1/2
            if D == 0:
                return min(p0, p1)
            return float(p0 * ndtr(-D / 2 + log_odds / D) + p1 * ndtr(-D / 2 - log_odds / D))
        of0, of1 = self.quadratics(log_odds)
        return p0 * of0.positive() + p1 * of1.negative()

    def quadratics(self, log_odds: float) -> tuple[Quadratic, Quadratic]:
        """q for x of class 0 and for x of class 1, if the covariances are not singular."""
        assert self.joint is not None
        with ctx.workprec(self.joint.bits):
            m, v, r = self.joint.m, self.joint.share, self.joint.rest
            logs = sum((a.log() - b.log() for a, b in zip(v, r, strict=True)), arb(0)) / 2
            both = logs + arb(log_odds)
            first = [((1 - b / a) / 2, c * b.sqrt() / a) for a, b, c in zip(r, v, m, strict=True)]
            at0 = both - sum((c * c / a for c, a in zip(m, r, strict=True)), arb(0)) / 2
            second = [((a / b - 1) / 2, c * a.sqrt() / b) for a, b, c in zip(r, v, m, strict=True)]
            at1 = both + sum((c * c / b for c, b in zip(m, v, strict=True)), arb(0)) / 2
            return _as_floats(first, at0), _as_floats(second, at1)

    def decision(self, X: Array, mean0: Array, log_odds: float) -> Array:
        """The log-odds of class 1 at the rows of X; infinite where only one class can be."""
        off = X - mean0
        u = off[:, self.rows] @ self.T.T
        if self.apart:
            return self._by_support(off, u)
        with np.errstate(over="ignore", invalid="ignore"):
            terms = u**2 / self.share - (u - self.m) ** 2 / self.rest
            logs = float(np.sum(np.log(self.share) - np.log(self.rest)))
            return np.asarray((terms.sum(axis=1) + logs) / 2 + log_odds)

    def _by_support(self, off: Array, u: Array) -> Array:
        """Minus infinity on the set that holds class 0, infinity on that of class 1.

        Floats are rarely on a set exactly, so near counts; off both sets, the nearer one.
        """
        along = off @ self.null
        away0 = np.abs(np.hstack([u[:, self.share == 0], along]))
        away1 = np.abs(np.hstack([(u - self.m)[:, self.rest == 0], along - self.gap]))
        far0, far1 = away0.max(axis=1, initial=0.0), away1.max(axis=1, initial=0.0)
        near = ON_SUPPORT * (1 + np.abs(u).max(axis=1, initial=0.0))
        on0, on1 = far0 <= near, far1 <= near
        if away0.shape[1] == 0:
            zero = ~on1
        elif away1.shape[1] == 0:
            zero = on0
        else:
            zero = np.where(on0 == on1, far0 <= far1, on0)
        return np.where(zero, -math.inf, math.inf)


def _as_floats(terms: list[tuple[arb, arb]], constant: arb) -> Quadratic:
    """In floats, with the vertex where that is near and the largest coefficient 1."""
    top = max((max(abs(a), abs(g)) for a, g in terms), default=arb(0), key=float)
    if not top > 0:
        return Quadratic(*(np.empty(0),) * 3, float(constant))
    square, shift, slope = [], [], []
    for a, g in terms:
        near = bool(abs(g) <= 2 * abs(a)) and bool(a != 0)
        h = g / (2 * a) if near else arb(0)
        constant -= a * h * h
        square.append(float(a / top))
        shift.append(float(h))
        slope.append(0.0 if near else float(g / top))
    return Quadratic(np.array(square), np.array(shift), np.array(slope), float(constant / top))


def _null(total: fmpq_mat, J: list[int], delta: fmpq_mat) -> tuple[Array, Array]:
    """A basis of the directions in which nothing varies, scaled to size 1, and delta along it.

    The features J determine the others, x_k = c_k.x_J, so e_k - c_k is such a direction.
    """
    d = total.nrows()
    others = [k for k in range(d) if k not in J]
    columns, gap = [], []
    core = submatrix(total, J, J).inv() if J else None
    for k in others:
        v = [0.0] * d
        v[k] = 1.0
        apart = delta[k, 0]
        if core is not None:
            c = submatrix(total, [k], J) * core
            for i, j in enumerate(J):
                v[j] = -float(int(c[0, i].p) / int(c[0, i].q))
                apart -= c[0, i] * delta[j, 0]
        size = float(np.linalg.norm(v))
        columns.append(np.array(v) / size)
        gap.append(int(apart.p) / int(apart.q) / size)
    return np.array(columns).T.reshape(d, len(others)), np.array(gap)
