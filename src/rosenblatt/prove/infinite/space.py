"""Space: the cone {w : w.z_i >= 0} in coordinates in which it has an interior.

The rows F that the whole cone is orthogonal to are gone. On the kept columns w is a combination
of directions that vanish on F, each with a 1 at its own free column where the others have 0: the
free columns' weights u are the coordinates. Row i becomes q_i = (direction_a.z_i)_a, and column j
becomes g_j with w_j = g_j.u. Floats see scaled columns, v = u / scale; rationals see u.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from flint import fmpq, fmpq_mat, fmpz_mat

from rosenblatt.data.cone import Cone, ConeBlock
from rosenblatt.data.exact import fractions, to_integers
from rosenblatt.prove.infinite.proof import Number
from rosenblatt.prove.infinite.relations import Terms
from rosenblatt.prove.separability.scaling import signed_rows

Array = npt.NDArray[Any]


class Space:
    """Coordinates.

    Parameters
    ----------
    rows : the rows off F
    kept : columns that stay; the intercept is column d
    directions : what spans the w that vanish on F, or None for all w: F is empty
    scale : powers of two, one per kept column, that bring its values to about 1
    """

    def __init__(
        self,
        rows: Cone,
        intercept: bool,
        kept: tuple[int, ...],
        directions: tuple[Terms, ...] | None,
        scale: Array,
    ) -> None:
        self.rows, self.intercept, self.kept = rows, intercept, kept
        self.directions, self.scale = directions, scale
        self.place = {j: k for k, j in enumerate(kept)}
        self.free = kept if directions is None else _free(directions)
        self.free_scale = scale[[self.place[a] for a in self.free]]
        self.width = len(self.free)
        self.lift = self._lift()

    def moves(self, j: int) -> bool:
        """Whether column j is not 0 on the whole cone."""
        return self.directions is None or any(c == j for t in self.directions for c, _ in t)

    # ------------------------------------------------------------------ floats

    def _lift(self) -> Array | None:
        """The directions in scaled columns: w / scale = lift @ v."""
        if self.directions is None:
            return None
        out = np.zeros((len(self.kept), self.width))
        for a, terms in enumerate(self.directions):
            for j, v in terms:
                k = self.place[j]
                out[k, a] = _near(v * Fraction(self.free_scale[a]) / Fraction(self.scale[k]))
        return out

    def coordinates(self, w: Sequence[Number]) -> Array:
        """v of a vector of the cone, the largest made about 1."""
        pairs = zip(self.free, self.free_scale.tolist(), strict=True)
        values = [Fraction(w[a]) / Fraction(s) for a, s in pairs]
        top = max((abs(v) for v in values), default=Fraction(0)) or Fraction(1)
        return np.array([float(v / top) for v in values])

    def gradient(self, j: int) -> Array:
        """g_j in scaled columns, the largest entry made 1; 0 if floats cannot say."""
        if self.lift is None:
            return np.asarray(np.eye(1, self.width, self.place[j])[0])
        g = self.lift[self.place[j]]
        top = np.abs(g).max()
        return np.asarray(g / top if np.isfinite(top) and top > 0 else np.zeros(self.width))

    def ray_lengths(self, v: Array, D: Array) -> Array:
        """How far one can go from v along every row of D until a row is on the wrong side."""
        W = np.zeros((1 + len(D), self.rows.n_features + 1))
        with np.errstate(all="ignore"):
            V = np.vstack([v, D])
            W[:, list(self.kept)] = (V if self.lift is None else V @ self.lift.T) * self.scale
        return np.asarray(np.minimum.reduce(self.rows.map(_ray_lengths, W.T)))

    def scores(self, v: Array) -> Array:
        """w.z_i for every row; what overflows counts as wrong."""
        w = np.zeros(self.rows.n_features + 1)
        with np.errstate(all="ignore"):
            w[list(self.kept)] = (v if self.lift is None else self.lift @ v) * self.scale
        raw = list(self.rows.map(_scores, w))
        return np.asarray(np.nan_to_num(np.concatenate(raw), nan=-np.inf))

    def scaled(self, at: npt.NDArray[np.int64]) -> Array:
        """q_i of some rows in scaled columns, each row divided by its largest entry."""
        part = self.rows.take(at)
        X = np.asarray(part.X.toarray() if sp.issparse(part.X) else part.X, dtype=np.float64)
        Z = np.hstack([X, np.ones((len(X), 1))])[:, list(self.kept)]
        with np.errstate(all="ignore"):
            Z = _unit(Z * self.scale * part.sign[:, None])
            return Z if self.lift is None else _unit(np.nan_to_num(Z @ self.lift))

    # ------------------------------------------------------------------ rationals

    def rounded(self, v: Array, bits: int) -> list[Number]:
        """The exact vector of the cone's span whose free columns are v, to so many bits."""
        unit = Fraction(2) ** (int(np.frexp(np.abs(v).max())[1]) - bits)
        pairs = zip(v.tolist(), self.free_scale.tolist(), strict=True)
        return self.vector([round(Fraction(x) / unit) * unit * Fraction(s) for x, s in pairs])

    def vector(self, u: Sequence[Fraction]) -> list[Number]:
        """w from its free columns."""
        w = [Fraction(0)] * (self.rows.n_features + int(self.intercept))
        if self.directions is None:
            for a, value in zip(self.free, u, strict=True):
                w[a] = value
        else:
            for terms, value in zip(self.directions, u, strict=True):
                for j, v in terms:
                    w[j] += v * value
        return _floats_if_exact(w)

    def exact_gradient(self, j: int) -> list[Fraction]:
        """g_j."""
        if self.directions is None:
            return [Fraction(int(a == j)) for a in self.free]
        return [dict(terms).get(j, Fraction(0)) for terms in self.directions]

    def products(self, at: npt.NDArray[np.int64]) -> tuple[list[list[int]], list[Fraction]]:
        """q_i of some rows as coprime integers, and factors: integer row = q_i * factor."""
        Z = signed_rows(self.rows.take(at), self.intercept)[:, list(self.kept)]
        whole, exponents = to_integers(Z)
        powers = [Fraction(2) ** e for e in exponents]
        if self.directions is None:
            return whole, powers
        B = fmpq_mat(len(self.kept), self.width)
        for a, terms in enumerate(self.directions):
            for j, v in terms:
                B[self.place[j], a] = _fmpq(v)
        lifted = (fmpq_mat(fmpz_mat(whole)) * B).tolist()
        rows = [coprime(fractions(row)) for row in lifted]
        factors = zip(rows, powers, strict=True)
        return [row for row, _ in rows], [factor * power for (_, factor), power in factors]


def coprime(values: Sequence[Fraction]) -> tuple[list[int], Fraction]:
    """Coprime integers = values * factor, and the factor > 0."""
    common = lcm(*(v.denominator for v in values))
    whole = [int(v * common) for v in values]
    divisor = gcd(*whole) or 1
    return [v // divisor for v in whole], Fraction(common, divisor)


def _scores(part: ConeBlock, w: Array) -> Array:
    """w.z_i of the rows of a part."""
    with np.errstate(all="ignore"):
        return np.asarray((part.X @ w[:-1] + w[-1]) * part.sign)


def _ray_lengths(block: ConeBlock, W: Array) -> Array:
    """How far from the first column of W along every other one, for the rows of a block."""
    with np.errstate(all="ignore"):
        products = (block.X @ W[:-1] + W[-1]) * block.sign[:, None]
        ends = np.where(products[:, 1:] < 0, products[:, :1] / -products[:, 1:], np.inf)
        return np.asarray(np.maximum(np.nan_to_num(ends, nan=0.0, posinf=np.inf).min(axis=0), 0.0))


def _free(directions: tuple[Terms, ...]) -> tuple[int, ...]:
    """For every direction a column that no other uses."""
    used: dict[int, int] = {}
    for terms in directions:
        for j, _ in terms:
            used[j] = used.get(j, 0) + 1
    return tuple(next(j for j, v in terms if used[j] == 1 and v == 1) for terms in directions)


def _unit(Z: Array) -> Array:
    top = np.abs(Z).max(axis=1, keepdims=True, initial=0)
    return np.asarray(np.where(np.isfinite(top) & (top > 0), Z / np.where(top > 0, top, 1), 0.0))


def _near(v: Fraction) -> float:
    try:
        return float(v)
    except OverflowError:
        return float("inf")


def _fmpq(v: Fraction) -> Any:
    return fmpq(v.numerator, v.denominator)


def _floats_if_exact(values: Sequence[Fraction]) -> list[Number]:
    """Floats if all of them can be, for they are quicker to check; else the rationals."""
    try:
        floats = [float(v) for v in values]
    except OverflowError:
        return list(values)
    same = all(Fraction(f) == v for f, v in zip(floats, values, strict=True))
    return [*floats] if same else list(values)
