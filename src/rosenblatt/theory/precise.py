"""Precise: two covariances made diagonal together, in as many digits as that takes.

S0 = F diag(v) F' and S1 = F diag(1 - v) F' for one matrix F and 0 <= v_i <= 1. If both are nearly
singular in nearly the same direction, floats lose every digit of v. So F comes from a Cholesky
factor of S0 + S1 and Jacobi's rotations in long floats (flint), the digits doubled until the
result no longer changes; and which v_i are exactly 0 or 1 is a rank over the rationals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from rosenblatt.errors import Undecided

Array = npt.NDArray[Any]
FIRST_BITS, MOST_BITS = 256, 1 << 15


def rational(values: Any) -> fmpq_mat:
    """A matrix of floats as the rationals they are."""
    A = np.atleast_2d(np.asarray(values, dtype=np.float64))
    return fmpq_mat([[fmpq(*v.as_integer_ratio()) for v in row] for row in A.tolist()])


def independent(A: fmpq_mat) -> list[int]:
    """The first columns that span all columns."""
    reduced, rank = A.rref()
    out: list[int] = []
    for i in range(rank):
        j = out[-1] + 1 if out else 0
        while reduced[i, j] == 0:
            j += 1
        out.append(j)
    return out


def submatrix(A: fmpq_mat, rows: list[int], columns: list[int]) -> fmpq_mat:
    """Some rows and columns, in this order."""
    return fmpq_mat(len(rows), len(columns), [A[i, j] for i in rows for j in columns])


@dataclass(frozen=True, eq=False)
class Joint:
    """Coordinates u = T (x - mean0) in which class 0 is N(0, diag(v)), class 1 N(m, diag(1 - v)).

    `share` is v, `rest` 1 - v, each as precise as the other; all are long floats.
    """

    T: arb_mat
    m: list[arb]
    share: list[arb]
    rest: list[arb]
    bits: int

    @classmethod
    def of(cls, S0: fmpq_mat, S1: fmpq_mat, delta: fmpq_mat) -> Joint:
        """S0 + S1 must be positive definite."""
        r = S0.nrows()
        zeros = (r - S0.rank(), r - S1.rank())
        bits, old = FIRST_BITS, None
        while bits <= MOST_BITS:
            with ctx.workprec(bits):
                found = _diagonal(S0 + S1, S0, delta, zeros, bits)
            if found is not None and old is not None and _same(found, old):
                return found
            bits, old = 2 * bits, found
        raise Undecided(
            "the covariances could not be made diagonal together in 32768 bits. Scale the "
            "features to similar sizes."
        )


def _diagonal(
    total: fmpq_mat, S0: fmpq_mat, delta: fmpq_mat, zeros: tuple[int, int], bits: int
) -> Joint | None:
    L = cholesky(arb_mat(total))
    if L is None:
        return None
    inverse = L.inv()
    W = _mids(inverse * arb_mat(S0) * inverse.transpose())
    share, V = jacobi(W, bits)
    order = sorted(range(len(share)), key=lambda i: float(share[i]))
    T = arb_mat([[V[j, i] for j in range(len(share))] for i in order]) * inverse
    share = [share[i] for i in order]
    rest = [1 - v for v in share]
    for i in range(zeros[0]):
        share[i], rest[i] = arb(0), arb(1)
    for i in range(zeros[1]):
        share[-1 - i], rest[-1 - i] = arb(1), arb(0)
    m = (T * arb_mat(delta)).entries()
    if any(not (v.mid() > 0) for v in share[zeros[0] :]):
        return None
    if any(not (v.mid() > 0) for v in rest[: len(rest) - zeros[1]]):
        return None
    return Joint(_mids(T), [v.mid() for v in m], _points(share), _points(rest), bits)


def cholesky(A: arb_mat) -> arb_mat | None:
    """L with L L' = A; None if the digits do not show that A is positive definite."""
    n = A.nrows()
    L = [[arb(0)] * n for _ in range(n)]
    for j in range(n):
        pivot = A[j, j] - sum((v * v for v in L[j][:j]), arb(0))
        if not pivot > 0:
            return None
        L[j][j] = pivot.sqrt()
        for i in range(j + 1, n):
            inner = sum((a * b for a, b in zip(L[i][:j], L[j][:j], strict=True)), arb(0))
            L[i][j] = (A[i, j] - inner) / L[j][j]
    return arb_mat(L)


def jacobi(A: arb_mat, bits: int) -> tuple[list[arb], arb_mat]:
    """Eigenvalues and orthonormal eigenvectors (columns) of a symmetric matrix.

    Rotations in the planes of two coordinates, each making one entry 0, until all entries off
    the diagonal are negligible beside the two on it: small eigenvalues come out as precisely as
    large ones [Demmel and Veselic 1992]. Floats give a first basis.
    """
    n = A.nrows()
    V = _start(A)
    a = [list(row) for row in _mids(V.transpose() * A * V).tolist()]
    basis = [list(row) for row in V.tolist()]
    small, nothing = arb(2) ** (-2 * bits + 16), arb(2) ** -bits
    for _ in range(60):
        rotated = False
        for p in range(n):
            for q in range(p + 1, n):
                off = a[p][q]
                if abs(off) <= nothing or off * off <= small * abs(a[p][p] * a[q][q]):
                    continue
                rotated = True
                _rotate(a, basis, p, q)
        if not rotated:
            break
    return [a[i][i] for i in range(n)], arb_mat(basis)


def _rotate(a: list[list[arb]], basis: list[list[arb]], p: int, q: int) -> None:
    theta = (a[q][q] - a[p][p]) / (2 * a[p][q])
    t = (1 / (abs(theta) + (theta * theta + 1).sqrt())).mid()
    t = -t if theta < 0 else t
    c = (1 / (t * t + 1).sqrt()).mid()
    s = (t * c).mid()
    for k in range(len(a)):
        x, y = a[k][p], a[k][q]
        a[k][p], a[k][q] = (c * x - s * y).mid(), (s * x + c * y).mid()
        x, y = basis[k][p], basis[k][q]
        basis[k][p], basis[k][q] = (c * x - s * y).mid(), (s * x + c * y).mid()
    for k in range(len(a)):
        x, y = a[p][k], a[q][k]
        a[p][k], a[q][k] = (c * x - s * y).mid(), (s * x + c * y).mid()


def _start(A: arb_mat) -> arb_mat:
    """Eigenvectors from floats, made orthonormal in long floats."""
    near = np.array([[float(v) for v in row] for row in A.tolist()])
    V = arb_mat(np.linalg.eigh((near + near.T) / 2)[1].tolist())
    L = cholesky(V.transpose() * V)
    assert L is not None  # floats are orthonormal to 1e-15
    return _mids(V * L.inv().transpose())


def _mids(A: arb_mat) -> arb_mat:
    return A.mid()


def _points(values: list[arb]) -> list[arb]:
    return [v.mid() for v in values]


def _same(a: Joint, b: Joint) -> bool:
    """Whether two results agree to the last digits of a float."""
    for x, y in ((a.share, b.share), (a.rest, b.rest)):
        if any(abs(u - v) > 1e-17 * abs(u) for u, v in zip(x, y, strict=True)):
            return False
    sizes = [sum((u * u for u in j.m), arb(0)) for j in (a, b)]
    return not bool(abs(sizes[0] - sizes[1]) > 1e-17 * sizes[0])
