"""The direct rule for several classes in plain Python."""

from collections.abc import Iterator, Sequence
from typing import Any

from rosenblatt.learn.reference import Row, in_order, mistake, parts, score


def direct(
    X: Sequence[Row],
    y: Sequence[int],
    n_classes: int,
    *,
    eta: Any = 1,
    tie: str = "mistake",
    intercept: bool = True,
    weights: Sequence[Any] | None = None,
    repeat: bool = False,
    passes: Iterator[list[int]] | None = None,
    max_iter: int = 1000,
) -> tuple[list[list[Any]], list[Any], list[int]]:
    """Kesler's construction for classes 0, 1, ...: (W, b, mistakes per pass).

    The true class moves towards x, its best-scoring rival away from it.
    """
    W, b = [[0] * len(X[0]) for _ in range(n_classes)], [0] * n_classes
    order = passes or in_order(len(X))
    mistakes: list[int] = []
    for _ in range(max_iter):
        mistakes.append(0)
        for i in next(order):
            k = 1 if weights is None else weights[i]
            for part in parts(k) if repeat else [k]:
                s = [score(W[c], b[c], X[i]) for c in range(n_classes)]
                rivals = [c for c in range(n_classes) if c != y[i]]
                r = max(rivals, key=lambda c: s[c])  # the first of the best
                if k > 0 and mistake(s[y[i]] - s[r], 1, tie):
                    mistakes[-1] += 1
                    for c, sign in ((y[i], 1), (r, -1)):
                        change = sign * eta * part
                        W[c] = [wj + change * xj for wj, xj in zip(W[c], X[i], strict=True)]
                        b[c] += change if intercept else 0
        if mistakes[-1] == 0:
            break
    return W, b, mistakes
