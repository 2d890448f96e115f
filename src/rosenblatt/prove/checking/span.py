"""Span: whether some rows span others, exactly.

Let S be the chosen rows, T all rows in question with S among them, p the number of columns
that are not zero all over T, and r the rank of S modulo a prime, so that r <= rank S. S spans T

- if r = p;
- if r = p - 1 and some vector is orthogonal to T;
- if p - r independent vectors are orthogonal to T, for then rank T <= r.

It does not if rank S = r and T has a higher rank modulo the prime. A prime that divides what
should not vanish makes r too small; then the next one is tried. Yes is always proven. No is
proven too, except that for large S four primes have to agree on r: exactly would take long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from flint import fmpz, fmpz_mat, nmod_mat

from rosenblatt.data.chunks import Rows
from rosenblatt.prove.checking import limbs
from rosenblatt.prove.checking.blocks import as_float64, blocks, with_ones

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
TOGETHER = 1 << 20  # numbers looked at together
EXACT_RANK = 20_000  # numbers


def spans(
    rows: Rows,
    at: Sequence[int],
    among: Mask,
    intercept: bool,
    orthogonal: Sequence[float | Fraction] | None = None,
) -> bool:
    """Whether the rows (x_i, 1) for i in `at` span all (x_i, 1) with among[i], exactly.

    Parameters
    ----------
    among : boolean array, an entry per row
    orthogonal : (w, b), optional
        A vector known to be orthogonal to all these rows: where `signs` is 0. It only saves
        time.

    >>> from rosenblatt.data.chunks import as_rows
    >>> rows = as_rows([[1, 0], [0, 1], [1, 1], [2, 2]], [0, 0, 1, 1])
    >>> everything = np.ones(4, dtype=bool)
    >>> spans(rows, [0, 1], everything, False), spans(rows, [2, 3], everything, False)
    (True, False)
    """
    among = among.copy()
    among[list(at)] = True
    live = _live_columns(rows, among)
    chosen = _columns(rows.take(at).X, live, intercept)
    chosen = chosen.toarray() if sp.issparse(chosen) else chosen
    if chosen.size == 0:
        return chosen.shape[1] == 0 or not among.any()
    known = orthogonal is not None and any(
        [*(orthogonal[j] for j in live.tolist()), orthogonal[-1] if intercept else 0]
    )
    for tried, prime in enumerate(_primes()):
        matrix = _modulo(chosen, prime)
        if int(matrix.rank()) >= chosen.shape[1] - int(known):
            return True
        pivots, reduced = _echelon(matrix)
        sample = _orthogonal_modulo(pivots, reduced, prime)
        parts = _parts(rows, live, among, intercept)
        if any(_products_modulo(X, sample, prime).any() for X in parts):
            if _has_rank(chosen, len(pivots), tried):
                return False
            continue
        vectors = _orthogonal(chosen, pivots, prime)
        parts = _parts(rows, live, among, intercept)
        if all(limbs.orthogonal(X, vectors) for X in parts):
            return True
    raise AssertionError("only finitely many primes are bad")


def _has_rank(X: Array, rank: int, tried: int) -> bool:
    """Whether a rank modulo a prime is the rank: exactly, or of a large matrix for 4 primes."""
    if rank == len(X):
        return True
    if X.size > EXACT_RANK:
        return tried >= 3
    return int(fmpz_mat(_integers(X)).rank()) == rank


def _live_columns(rows: Rows, among: Mask) -> Array:
    """The columns that are not zero in all rows `among`."""
    live = np.zeros(rows.n_features, dtype=bool)
    for start, X, _ in blocks(rows):
        inside = np.flatnonzero(among[start : start + X.shape[0]])
        part = X if inside.size == X.shape[0] else X[inside]
        if live.all():
            break
        if sp.issparse(part):
            live[part.indices[part.data != 0]] = True
        else:
            live |= (part != 0).any(axis=0)
    return np.flatnonzero(live)


def _parts(rows: Rows, live: Array, among: Mask, intercept: bool) -> Iterator[Any]:
    """The rows `among`, their live columns, some at a time."""
    for part in rows.parts():
        inside = np.flatnonzero(among[part.start : part.start + len(part)])
        X = part.X if inside.size == len(part) else part.X[inside]
        step = max(1, TOGETHER // (len(live) + 1))
        for low in range(0, X.shape[0], step):
            yield _columns(X[low : low + step], live, intercept)


def _columns(X: Any, live: Array, intercept: bool) -> Any:
    X = as_float64(X if len(live) == X.shape[1] else X[:, live])
    return with_ones(X) if intercept else X


def _primes() -> Iterator[int]:
    """Primes below 2^31, the largest first: products of two residues fit in int64."""
    return (p for p in range(2**31 - 1, 2, -2) if fmpz(p).is_prime())


def _residues(numbers: Array, prime: int) -> Array:
    """Numbers modulo a prime, after scaling all of them by one power of two."""
    fraction, exponent = np.frexp(numbers)
    whole = (fraction * 2.0**53).astype(np.int64) % prime
    lowest = int(exponent.min(initial=0))
    powers = [pow(2, e, prime) for e in range(int(exponent.max(initial=0)) - lowest + 1)]
    return np.asarray(whole * np.array(powers, dtype=np.int64)[exponent - lowest] % prime)


def _products_modulo(X: Any, vector: Array, prime: int) -> Array:
    if sp.issparse(X):
        products = _residues(X.data, prime) * vector[X.indices] % prime
        sums = sp.csr_array((products, X.indices, X.indptr), shape=X.shape).sum(axis=1)
    else:
        sums = (_residues(X, prime) * vector % prime).sum(axis=1)
    return np.asarray(sums % prime)


def _modulo(X: Array, prime: int) -> Any:
    return nmod_mat(_residues(X, prime).tolist(), prime)


def _echelon(matrix: Any) -> tuple[list[int], Array]:
    """The reduced echelon form of a matrix modulo a prime, and its pivot columns."""
    reduced, rank = matrix.rref()
    table = np.array([int(v) for v in reduced.entries()], dtype=np.int64)
    table = table.reshape(matrix.nrows(), matrix.ncols())[:rank]
    return (table != 0).argmax(axis=1).tolist(), table


def _orthogonal_modulo(pivots: list[int], reduced: Array, prime: int) -> Array:
    """A vector orthogonal to the rows modulo a prime, its free entries at random."""
    free = np.setdiff1d(np.arange(reduced.shape[1]), pivots)
    vector = np.zeros(reduced.shape[1], dtype=np.int64)
    vector[free] = np.random.default_rng(0).integers(1, prime, len(free))
    vector[pivots] = -(reduced * vector % prime).sum(axis=1) % prime
    return vector


def _integers(X: Array) -> list[list[int]]:
    """The rows as integers, each scaled by a power of two."""
    if (np.abs(X) < 2.0**62).all() and (np.trunc(X) == X).all():
        return X.astype(np.int64).tolist()  # type: ignore[no-any-return]  # numpy: Any
    table = []
    for k in range(X.shape[0]):
        row, dense = list(limbs.entries(X, k)), [0] * X.shape[1]
        lowest = min((e for _, _, e in row), default=0)
        for j, m, e in row:
            dense[j] = m << (e - lowest)
        table.append(dense)
    return table


def _orthogonal(X: Array, pivots: list[int], prime: int) -> list[limbs.Vector]:
    """Independent integer vectors, one per column that is no pivot, orthogonal to a basis.

    With B the rows of a basis, those of the pivots: B_P c = B_f for column f.
    """
    taken = set(pivots)
    rest = [j for j in range(X.shape[1]) if j not in taken]
    if not pivots:
        return [{f: 1} for f in rest]
    basis, _ = _echelon(_modulo(X[:, pivots].T, prime))
    table = _integers(X[basis])
    block = fmpz_mat([[line[j] for j in pivots] for line in table])
    found = block.solve(fmpz_mat([[line[f] for f in rest] for line in table]))
    vectors: list[limbs.Vector] = []
    for k, f in enumerate(rest):
        column = [found[i, k] for i in range(len(pivots))]
        common = lcm(*(int(v.q) for v in column))
        entries = {
            j: -int(v.p) * (common // int(v.q)) for j, v in zip(pivots, column, strict=True) if v
        }
        vectors.append({f: common, **entries})
    return vectors
