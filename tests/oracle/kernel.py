"""The kernel perceptron in plain Python, with and without a budget of support rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rosenblatt.learn.reference import Row, in_order, xorshift


@dataclass
class KernelRun:
    """The history of a kernel perceptron: w is the sum of alpha[i][k] phi(x_i), never written."""

    alpha: dict[int, list[Any]]  # row -> a coefficient for each hyperplane
    held: list[int]  # the rows in the order of their places in the store
    steps: list[tuple[int, int, int, Any]]  # (visit from 1, row, hyperplane, amount)
    mistakes: list[int]
    stop_reason: str
    visits: int = 0

    def after(self, visit: int, row: int, plane: int) -> Any:
        """The coefficient of a row after so many visits (without a budget)."""
        own = (s for s in self.steps if s[0] <= visit and s[1:3] == (row, plane))
        return sum((s[3] for s in own), 0)


def kernel_perceptron(
    X: Sequence[Row],
    planes: Sequence[Sequence[int]],
    kernel: Callable[[Row, Row], Any],
    *,
    weights: Sequence[Any] | None = None,
    passes: Iterator[list[int]] | None = None,
    max_iter: int = 1000,
    size: float = math.inf,
    seed: int | None = None,
    eta: Any = None,
) -> KernelRun:
    """f_k(x) = sum_i alpha_ik K(x_i, x): at a mistake of hyperplane k, alpha_ik += y_ik.

    `planes` has a list of labels -1 and +1 for each hyperplane. A store of `size` rows is kept
    within that bound by dropping a random row (`seed`), or (`eta`) by projecting a row that is
    within eta of the span of the store onto it, and every row once the store is full.

    >>> run = kernel_perceptron([[0, 0], [0, 1], [1, 0], [1, 1]], [[-1, 1, 1, -1]],
    ...                         lambda x, z: (1 + x[0] * z[0] + x[1] * z[1]) ** 2)   # XOR
    >>> run.stop_reason, run.mistakes, run.alpha
    ('separated', [4, 4, 4, 4, 3, 1, 1, 0], {0: [-7], 1: [5], 2: [5], 3: [-4]})
    """
    run = KernelRun({}, [], [], [], "max_iter")
    order = passes or in_order(len(X))

    def add(i: int, amounts: list[Any]) -> None:
        run.alpha[i] = [a + c for a, c in zip(run.alpha[i], amounts, strict=True)]

    for _ in range(max_iter):
        run.mistakes.append(0)
        for i in next(order):
            run.visits += 1
            part = 1 if weights is None else weights[i]
            scores = [sum(run.alpha[j][k] * kernel(X[j], X[i]) for j in run.held)
                      for k in range(len(planes))]  # fmt: skip
            wrong = [part > 0 and y[i] * s <= 0 for y, s in zip(planes, scores, strict=True)]
            if not any(wrong):
                continue
            run.mistakes[-1] += sum(wrong)
            amounts = [part * y[i] if e else 0 for y, e in zip(planes, wrong, strict=True)]
            run.steps += [(run.visits, i, k, a) for k, a in enumerate(amounts) if a]
            if i not in run.alpha and eta is not None:
                d = projection(X, run.held, X[i], kernel)
                near = sum(c * kernel(X[j], X[i]) for c, j in zip(d, run.held, strict=True))
                if len(run.held) == size or kernel(X[i], X[i]) - near <= eta * eta:
                    for c, j in zip(d, run.held, strict=True):
                        add(j, [a * c for a in amounts])
                    continue
            if i not in run.alpha:
                if len(run.held) < size:
                    run.held.append(i)
                else:
                    seed = xorshift(seed or 1)
                    place = (seed & 0x7FFFFFFF) % len(run.held)
                    del run.alpha[run.held[place]]
                    run.held[place] = i
                run.alpha[i] = [0] * len(planes)
            add(i, amounts)
        if run.mistakes[-1] == 0:
            run.stop_reason = "separated"
            break
    return run


def projection(
    X: Sequence[Row], held: list[int], x: Row, kernel: Callable[[Row, Row], Any]
) -> list[Any]:
    """d with sum_j d_j phi(x_j) nearest to phi(x): G d = k, by elimination, in fractions."""
    G = [[Fraction(kernel(X[i], X[j])) for j in held] + [Fraction(kernel(X[i], x))] for i in held]
    n = len(held)
    for p in range(n):  # G is positive definite: no pivot is 0
        G[p] = [v / G[p][p] for v in G[p]]
        for q in range(n):
            if q != p:
                G[q] = [a - G[q][p] * b for a, b in zip(G[q], G[p], strict=True)]
    return [line[n] for line in G]
