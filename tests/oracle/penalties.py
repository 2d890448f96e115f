"""Penalties and changing learning rates in plain Python, as scikit-learn's SGD has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rosenblatt.learn.reference import Row, Weights, in_order, score


def optimal(alpha: Any) -> Callable[[int], Any]:
    """eta_t = 1 / (alpha (t0 + t - 1)), the first being alpha^(-1/4)."""
    t0 = 1 / (alpha * alpha**-0.25)
    return lambda t: 1 / (alpha * (t0 + t - 1))


def invscaling(eta0: Any, power_t: Any) -> Callable[[int], Any]:
    """eta_t = eta0 / t^power_t."""
    return lambda t: eta0 / t**power_t


def penalised(
    X: Sequence[Row],
    y: Sequence[int],
    *,
    eta: Any | Callable[[int], Any] = 1,
    tau: Any = 0,
    alpha: Any = 0.0001,
    l1_ratio: Any = 0,
    intercept: bool = True,
    touched_only: bool = False,
    passes: Iterator[list[int]] | None = None,
    max_iter: int = 1000,
) -> list[Weights]:
    """The rule with a penalty at every visit, as scikit-learn does it: weights after each.

    L2: w *= 1 - eta alpha (1 - l1_ratio). L1: each weight moves towards 0 by all the
    shrinking owed so far, less what it got [Tsuruoka, Tsujii, Ananiadou 2009]; `touched_only`:
    only the weights of features that the row has, as with an elastic net on sparse rows. A
    function is called with the number t of the visit, from 1 over all passes, and gives its eta.
    """
    rate = eta if callable(eta) else lambda t: eta
    w, b = [0.0] * len(X[0]), 0.0
    got = [0.0] * len(w)
    owed = 0.0
    order = passes or in_order(len(X))
    history: list[Weights] = []
    for _ in range(max_iter):
        for i in next(order):
            step = rate(len(history) + 1)
            wrong = y[i] * score(w, b, X[i]) <= tau
            w = [wj * max(0, 1 - (1 - l1_ratio) * step * alpha) for wj in w]
            if wrong:
                w = [wj + step * y[i] * xj for wj, xj in zip(w, X[i], strict=True)]
                b = b + step * y[i] if intercept else b
            owed += l1_ratio * step * alpha
            for j, before in enumerate(w):
                if touched_only and X[i][j] == 0:
                    continue
                if before > 0:
                    w[j] = max(0, before - (owed + got[j]))
                elif before < 0:
                    w[j] = min(0, before + (owed - got[j]))
                got[j] += w[j] - before
            history.append((list(w), b))
    return history
