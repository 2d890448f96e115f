"""Rules that came after the perceptron, in plain Python, as in their papers.

As in :mod:`rosenblatt.learn.reference`: no arrays, no tricks, one visit after another. A row x is a
list of numbers; an offset is one more feature that is always 1, the last. Numbers may be fractions,
but for SCW and ALMA, which need square roots. The compiled twins are in core/rule_adaptive.hpp
and core/rule_alma.hpp.

>>> run = adaptive([[3, 4], [0, 2]], [1, -1], passive_aggressive(), intercept=False, max_iter=1)
>>> [v.w for v in run.visits]  # each row has a margin of 1 right after its visit
[[0.12, 0.16], [0.12, -0.5]]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

from rosenblatt.learn.reference import Row, Run, Visit, in_order, mistake


class Step(NamedTuple):
    """What a rule does at margin z and variance v = x'Sx to a row of weight k; None: nothing.

    answer(z, v, k, wrong) -> (step, beta): w += step y S x, S -= beta Sx (Sx)'.
    first: S is this times the identity before any row.
    """

    answer: Callable[[Any, Any, Any, bool], tuple[Any, Any] | None]
    first: Any = 1


def passive_aggressive(C: Any = None, squared: bool = False) -> Step:
    """PA: the nearest w with y w.x >= 1. PA-I: no step above C. PA-II: slack squared.

    [Crammer, Dekel, Keshet, Shalev-Shwartz, Singer 2006]
    """

    def answer(z: Any, v: Any, k: Any, wrong: bool) -> tuple[Any, Any] | None:
        loss = 1 - z
        if loss <= 0:
            return None
        if squared:
            return loss / (v + 1 / (2 * C * k)), 0
        return (loss / v if C is None else min(C * k, loss / v)), 0

    return Step(answer)


def arow(r: Any = 1) -> Step:
    """Adaptive regularisation of weights  [Crammer, Kulesza, Dredze 2009]."""

    def answer(z: Any, v: Any, k: Any, wrong: bool) -> tuple[Any, Any] | None:
        beta = 1 / (v + r / k)
        return ((1 - z) * beta, beta) if z < 1 else None

    return Step(answer)


def second_order_perceptron(a: Any = 1) -> Step:
    """S = (a I + sum of x x')^-1 over mistakes, w += y x there; the hyperplane is S w.

    By Sherman and Morrison S -= Sx (Sx)' / (1 + v), and the change of S w is
    S x (y - x'Sw) / (1 + v).  [Cesa-Bianchi, Conconi, Gentile 2005]
    """

    def answer(z: Any, v: Any, k: Any, wrong: bool) -> tuple[Any, Any] | None:
        beta = 1 / (v + 1 / k)
        return ((1 - z) * beta, beta) if wrong else None

    return Step(answer, 1 / a)


def soft_confidence_weighted(C: float = 1.0, eta: float = 0.9) -> Step:
    """SCW-I: min KL(N(w', S') || N(w, S)) + C max(0, phi sqrt(x'S'x) - y w'.x).

    [Wang, Zhao, Hoi 2012, proposition 1]
    """
    phi = NormalDist().inv_cdf(eta)
    psi, zeta = 1 + phi**2 / 2, 1 + phi**2

    def answer(z: Any, v: Any, k: Any, wrong: bool) -> tuple[Any, Any] | None:
        if phi * math.sqrt(v) - z <= 0:
            return None
        root = math.sqrt(z * z * phi**4 / 4 + v * phi**2 * zeta)
        step = min(C * k, max(0.0, (-z * psi + root) / (v * zeta)))
        u = (-step * v * phi + math.sqrt(step**2 * v**2 * phi**2 + 4 * v)) ** 2 / 4
        return step, step * phi / (math.sqrt(u) + v * step * phi)

    return Step(answer)


class Weights:
    """w and S of one class; `full` keeps all of S, else every update's diagonal."""

    def __init__(self, d: int, first: Any, full: bool) -> None:
        self.w: list[Any] = [0] * d
        self.full = full
        self.S = [[first if i == j else 0 for j in range(d)] for i in range(d)]

    def spread(self, x: Row) -> list[Any]:
        """S x."""
        return [sum(s * xj for s, xj in zip(row, x, strict=True)) for row in self.S]

    def move(self, x: Row, change: Any, beta: Any) -> None:
        """w += change S x, S -= beta Sx (Sx)'."""
        Sx = self.spread(x)
        self.w = [wj + change * s for wj, s in zip(self.w, Sx, strict=True)]
        for i in range(len(Sx)):
            for j in range(len(Sx)) if self.full else [i]:
                self.S[i][j] -= beta * Sx[i] * Sx[j]


def dot(a: Row, b: Row) -> Any:
    """a . b"""
    return sum(p * q for p, q in zip(a, b, strict=True))


def adaptive(
    X: Sequence[Row],
    y: Sequence[int],
    rule: Step,
    *,
    full: bool = False,
    intercept: bool = True,
    tie: str = "mistake",
    weights: Sequence[Any] | None = None,
    passes: Iterator[list[int]] | None = None,
    max_iter: int = 1,
) -> Run:
    """Two classes, y = -1 and +1; max_iter passes, fewer if one moves nothing."""
    d, order = len(X[0]), passes or in_order(len(X))
    model = Weights(d + intercept, rule.first, full)
    run = Run((model.w[:d], 0), [], "max_iter")
    for epoch in range(1, max_iter + 1):
        moved = False
        for i in next(order):
            k = 1 if weights is None else weights[i]
            x = [*X[i], 1] if intercept else list(X[i])
            z, v = y[i] * dot(model.w, x), dot(x, model.spread(x))
            e = mistake(z, y[i], tie) if k > 0 else 0
            done = rule.answer(z, v, k, e > 0) if k > 0 else None
            if done:
                moved = True
                model.move(x, done[0] * y[i], done[1])
            w, b = model.w[:d], model.w[d] if intercept else 0
            run.visits.append(Visit(epoch, i, e, done[0] if done else 0, list(w), b))
        if not moved:
            run.stop_reason = "separated"
            break
    return run


def direct_adaptive(
    X: Sequence[Row],
    y: Sequence[int],
    n_classes: int,
    rule: Step,
    *,
    full: bool = False,
    intercept: bool = True,
    passes: Iterator[list[int]] | None = None,
    max_iter: int = 1,
) -> tuple[list[list[Any]], list[int]]:
    """All classes at once: the weights of each (offset last) and the mistakes of each pass.

    The rule on Kesler's row: z over the best-scoring rival, the variances of both classes added;
    the true class moves along S x, its rival against.  [Crammer, Singer 2003]
    """
    order = passes or in_order(len(X))
    models = [Weights(len(X[0]) + intercept, rule.first, full) for _ in range(n_classes)]
    mistakes = []
    for _ in range(max_iter):
        mistakes.append(0)
        for i in next(order):
            x = [*X[i], 1] if intercept else list(X[i])
            s = [dot(m.w, x) for m in models]
            r = max((c for c in range(n_classes) if c != y[i]), key=lambda c: s[c])
            z = s[y[i]] - s[r]
            v = sum(dot(x, models[c].spread(x)) for c in (y[i], r))
            mistakes[-1] += z <= 0
            done = rule.answer(z, v, 1, z <= 0)
            if done:
                models[y[i]].move(x, done[0], done[1])
                models[r].move(x, -done[0], done[1])
    return [m.w for m in models], mistakes


def alma(
    X: Sequence[Row],
    y: Sequence[int],
    *,
    alpha: float = 0.9,
    B: float | None = None,
    C: float = math.sqrt(2),
    intercept: bool = True,
    passes: Iterator[list[int]] | None = None,
    max_iter: int = 1,
) -> Run:
    """ALMA_2(alpha; B, C) on rows of length 1  [Gentile 2001, figure 1]."""
    B = math.sqrt(8) / alpha if B is None else B
    d, order = len(X[0]), passes or in_order(len(X))
    w, k = [0.0] * (d + intercept), 1
    run = Run(([0.0] * d, 0.0), [], "max_iter")
    for epoch in range(1, max_iter + 1):
        before = k
        for i in next(order):
            x = [*X[i], 1] if intercept else list(X[i])
            length = math.sqrt(dot(x, x))
            x = [xj / length for xj in x]
            z = y[i] * dot(w, x)
            step = 0.0
            if z <= (1 - alpha) * B / math.sqrt(k):
                step = C / math.sqrt(k)
                w = [wj + step * y[i] * xj for wj, xj in zip(w, x, strict=True)]
                longest = max(1.0, math.sqrt(dot(w, w)))
                w = [wj / longest for wj in w]
                k += 1
            e = mistake(z, y[i])
            run.visits.append(Visit(epoch, i, e, step, w[:d], w[d] if intercept else 0.0))
        if k == before:
            run.stop_reason = "separated"
            break
    return run
