"""Verdicts, states, least removals and margins by brute force over the rationals, stdlib only.

It shares no code with the package: Fourier-Motzkin elimination, ranks by Gauss, all subsets. It is
made for a handful of rows with up to three features.
"""

import itertools
from fractions import Fraction


def cone_rows(X, y, intercept):
    """z = y (x, 1), or y x."""
    return [
        [s * Fraction(v) for v in x] + ([Fraction(s)] if intercept else [])
        for x, s in zip(X, y, strict=True)
    ]


def feasible(rows, strict):
    """Is there w with row.w >= 0 for all rows, > 0 where strict?"""
    system = {(scaled(row), s) for row, s in zip(rows, strict, strict=True)}
    for _ in range(len(rows[0]) if rows else 0):
        zero = {(r[1:], s) for r, s in system if r[0] == 0}
        plus = [(tuple(v / r[0] for v in r[1:]), s) for r, s in system if r[0] > 0]
        minus = [(tuple(v / -r[0] for v in r[1:]), s) for r, s in system if r[0] < 0]
        system = {(scaled(r), s) for r, s in zero}
        for (p, s), (m, t) in itertools.product(plus, minus):
            system.add((scaled([a + b for a, b in zip(p, m, strict=True)]), s or t))
    return not any(s for _, s in system)  # what is left reads 0 >= 0 or 0 > 0


def scaled(row):
    """The same inequality with a largest entry of 1."""
    top = Fraction(max(map(abs, row), default=0) or 1)
    return tuple(v / top for v in row)


def verdict(Z):
    n = len(Z)
    if feasible(Z, [True] * n):
        return "separable"
    if any(feasible(Z, [i == k for i in range(n)]) for k in range(n)):
        return "quasi-separable"
    return "overlapping"


def rank(rows):
    rows, found = [list(r) for r in rows], 0
    for j in range(len(rows[0]) if rows else 0):
        pivot = next((r for r in rows[found:] if r[j]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        for r in rows[found:]:
            if f := r[j] / pivot[j]:
                r[:] = [a - f * b for a, b in zip(r, pivot, strict=True)]
        rows.insert(found, pivot)
        found += 1
    return found


def states(Z):
    """The state of every column: which signs members of the cone have there."""
    full, out = rank(Z), []
    names = {(0, 0): "finite", (1, 0): "+inf", (0, 1): "-inf", (1, 1): "undetermined"}
    for j in range(len(Z[0])):
        axis = [Fraction(int(j == k)) for k in range(len(Z[0]))]
        if rank([*Z, axis]) > full:
            out.append("not identified")
            continue
        both = (axis, [-v for v in axis])
        signs = tuple(int(feasible([*Z, e], [False] * len(Z) + [True])) for e in both)
        out.append(names[signs])
    return out


def fewest(Z):
    """The smallest number of rows whose removal leaves the others strictly separable."""
    for k in range(len(Z) + 1):
        for left in itertools.combinations(Z, len(Z) - k):
            if not left or feasible(list(left), [True] * len(left)):
                return k
    raise AssertionError


def margin_squared(Z):
    """The squared distance of 0 from the convex hull of the rows; 0 if they do not separate."""
    for size in range(1, len(Z[0]) + 2):
        for some in itertools.combinations(Z, size):
            weights = affine_weights(some)
            if weights is None or min(weights) < 0:
                continue
            p = [
                sum(c * r[j] for c, r in zip(weights, some, strict=True)) for j in range(len(Z[0]))
            ]
            square = sum(v * v for v in p)
            if all(sum(a * b for a, b in zip(r, p, strict=True)) >= square for r in Z):
                return square
    raise AssertionError


def affine_weights(rows):
    """Weights of sum 1 of the point of the affine hull nearest to 0; None if not unique."""
    n = len(rows)
    system = [
        [sum(a * b for a, b in zip(r, s, strict=True)) for s in rows] + [Fraction(1), Fraction(0)]
        for r in rows
    ]
    system.append([Fraction(1)] * n + [Fraction(0), Fraction(1)])
    for j in range(n + 1):
        pivot = next((k for k in range(j, n + 1) if system[k][j]), None)
        if pivot is None:
            return None
        system[j], system[pivot] = system[pivot], system[j]
        system[j] = [v / system[j][j] for v in system[j]]
        for k in range(n + 1):
            if k != j and (f := system[k][j]):
                system[k] = [a - f * b for a, b in zip(system[k], system[j], strict=True)]
    return [system[k][-1] for k in range(n)]
