"""Reference: every rule in plain Python, as the lectures write it.

This is the lesson, and the oracle of the tests: no arrays, no tricks, one visit after
another. Numbers may be floats, or fractions for exact arithmetic. The compiled twin is
``core/``; it makes the same updates, to the bit where sums are exact.

Two classes are y = -1 and y = +1. A row x is a list of numbers; the weights are a list w
and an offset b.

>>> run = train([[1, 2], [-1, 2], [0, -1]], [1, -1, -1], w=[1, -0.8], intercept=False)
>>> [w for _, w, _ in run.updates]                              # sutd, the worked example
[[2, 1.2], [3, -0.8], [3, 0.19999999999999996]]
>>> run.stop_reason, run.mistakes
('separated', [3, 0])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rosenblatt.errors import LabelError, ParameterError

Row = Sequence[Any]
Weights = tuple[list[Any], Any]


def score(w: Row, b: Any, x: Row) -> Any:
    """g(x) = w . x + b."""
    return sum(wj * xj for wj, xj in zip(w, x, strict=True)) + b


def predict(w: Row, b: Any, x: Row) -> int:
    """h(x): a score of 0 predicts +1, always."""
    return 1 if score(w, b, x) >= 0 else -1


def mistake(z: Any, y: int, tie: str = "mistake") -> float:
    """How much of a mistake is the margin z = y g(x)? Ties: docs/explanation/conventions.md."""
    if z < 0:
        return 1
    if z > 0:
        return 0
    return {"mistake": 1, "positive": 1 if y < 0 else 0, "correct": 0, "half": 0.5}[tie]


def check(X: Sequence[Row], y: Sequence[int], tie: str) -> None:
    """What the lesson takes for granted."""
    if len(X) != len(y) or not set(y) <= {-1, 1}:
        raise LabelError(
            f"give one label -1 or +1 per row: {len(X)} rows, {len(y)} labels, {sorted(set(y))}."
        )
    if tie not in ("mistake", "positive", "correct", "half"):
        raise ParameterError(f"tie must be mistake, positive, correct or half, got {tie!r}.")


def in_order(n: int) -> Iterator[list[int]]:
    """Pass after pass, the rows as they stand."""
    while True:
        yield list(range(n))


def xorshift(seed: int) -> int:
    """The next state of Marsaglia's 32-bit generator, as scikit-learn uses it."""
    seed = seed or 1
    seed ^= (seed << 13) & 0xFFFFFFFF
    seed ^= seed >> 17
    seed ^= (seed << 5) & 0xFFFFFFFF
    return seed


def shuffled(n: int, seed: int) -> Iterator[list[int]]:
    """Each pass shuffles the last permutation, from the same seed [Fisher-Yates]."""
    index = list(range(n))
    while True:
        state = seed
        for i in range(n - 1):
            state = xorshift(state)
            j = i + (state & 0x7FFFFFFF) % (n - i)
            index[i], index[j] = index[j], index[i]
        yield list(index)


def sampled(n: int, seed: int) -> Iterator[list[int]]:
    """n draws with replacement per pass."""
    state = seed
    while True:
        index = []
        for _ in range(n):
            state = xorshift(state)
            index.append((state & 0x7FFFFFFF) % n)
        yield index


class Visit(NamedTuple):
    """One visit: how much of a mistake it was, what moved, and the weights after it."""

    epoch: int
    row: int
    mistake: float
    step: Any
    w: list[Any]
    b: Any


@dataclass
class Run:
    """The whole history of a run."""

    start: Weights
    visits: list[Visit]
    stop_reason: str
    cycle: int = 0  # its length in passes, if there was one

    @property
    def weights(self) -> Weights:
        return (self.visits[-1].w, self.visits[-1].b) if self.visits else self.start

    @property
    def updates(self) -> list[tuple[int, list[Any], Any]]:
        return [(v.row, v.w, v.b) for v in self.visits if v.step]

    @property
    def mistakes(self) -> list[int]:
        """Mistakes per pass."""
        count = [0] * (self.visits[-1].epoch if self.visits else 0)
        for v in self.visits:
            count[v.epoch - 1] += v.mistake > 0
        return count


def average(run: Run) -> Weights:
    """The mean of the weights after each visit; the start is not counted."""
    n = len(run.visits)
    w = [sum(v.w[j] for v in run.visits) / n for j in range(len(run.start[0]))]
    return w, sum(v.b for v in run.visits) / n


def votes(run: Run) -> list[tuple[list[Any], Any, int]]:
    """Each hyperplane of the run and how many visits it survived [Freund, Schapire 1999]."""
    kept = [[*run.start, 0]]
    for v in run.visits:
        if v.step:
            kept.append([v.w, v.b, 1])
        else:
            kept[-1][2] += 1
    return [(w, b, count) for w, b, count in kept]


def errors(X: Sequence[Row], y: Sequence[int], w: Row, b: Any) -> int:
    """How many rows the weights predict wrongly."""
    return sum(predict(w, b, x) != label for x, label in zip(X, y, strict=True))


def pocket(X: Sequence[Row], y: Sequence[int], run: Run) -> Weights:
    """The pocket with ratchet [Gallant 1990].

    Weights that were right for a longer run than those in the pocket, and the weights at
    the end of each pass, go into the pocket if they make fewer errors on the training set.
    """
    best = now = run.start
    fewest, longest, right = errors(X, y, *now), 0, 0

    def ratchet() -> None:
        nonlocal best, fewest, longest
        if errors(X, y, *now) < fewest:
            best, fewest = now, errors(X, y, *now)
        if best is now:
            longest = max(longest, right)

    for k, v in enumerate(run.visits):
        if v.step:
            if right > longest:
                ratchet()
            now, right = (v.w, v.b), 0
        else:
            right += 1
        if k + 1 == len(run.visits) or run.visits[k + 1].epoch > v.epoch:
            ratchet()
    return best


def train(
    X: Sequence[Row],
    y: Sequence[int],
    *,
    w: Row | None = None,
    b: Any = 0,
    eta: Any = 1,
    tie: str = "mistake",
    tau: Any = None,
    intercept: bool = True,
    weights: Sequence[Any] | None = None,
    repeat: bool = False,
    passes: Iterator[list[int]] | None = None,
    with_replacement: bool = False,
    max_iter: int = 1000,
    max_updates: float = math.inf,
) -> Run:
    """The online rule: for each row in turn, if y g(x) is a mistake, w += eta y x.

    `tau` asks for a margin: every row with y g(x) <= tau moves the weights. `weights`
    multiply updates, or (`repeat`) say how often a row is visited in a row. Stops at a
    pass that moved nothing (drawn with replacement: if then no row would), at max_iter,
    before more than max_updates, or, in a fixed order, when the weights after a pass equal
    those after an earlier one [Brent's method].
    """
    check(X, y, tie)
    w = [0] * len(X[0]) if w is None else list(w)
    run = Run((w, b), [], "max_iter")
    order = passes or in_order(len(X))
    done = 0

    def push(i: int, w: Row, b: Any) -> tuple[Any, Any]:
        z = y[i] * score(w, b, X[i])
        e = mistake(z, y[i], tie)
        return e, e if tau is None else int(z <= tau)

    saved, power, length = (w, b), 1, 0
    for epoch in range(1, max_iter + 1):
        before = done
        for i in next(order):
            k = 1 if weights is None else weights[i]
            for part in parts(k) if repeat else [k]:
                e, step = push(i, w, b) if k > 0 else (0, 0)
                if step and done == max_updates:
                    run.stop_reason = "max_updates"
                    return run
                if step:
                    done += 1
                    change = eta * step * part * y[i]
                    w = [wj + change * xj for wj, xj in zip(w, X[i], strict=True)]
                    b = b + change if intercept else b
                run.visits.append(Visit(epoch, i, e, step, w, b))
        there = [i for i in range(len(X)) if weights is None or weights[i] > 0]
        left = with_replacement and any(push(i, w, b)[1] for i in there)
        if done == before and not left:
            run.stop_reason = "separated"
            return run
        length += 1
        if passes is None and (w, b) == saved:
            run.stop_reason, run.cycle = "cycle", length
            return run
        if length == power:
            saved, power, length = (w, b), 2 * power, 0
    return run


def parts(k: Any) -> list[Any]:
    """A weight of k as visits: floor(k) whole ones and one for the remainder."""
    whole = math.floor(k)
    return [1] * whole + ([k - whole] if k > whole else [])


def batch(
    X: Sequence[Row],
    y: Sequence[int],
    *,
    w: Row | None = None,
    b: Any = 0,
    eta: Callable[[int], Any] = lambda k: 1,
    tie: str = "mistake",
    intercept: bool = True,
    mean: bool = False,
    max_iter: int = 1000,
    cycle: bool = True,
) -> Run:
    """All misclassified at once: w += alpha_k sum_M y x, or the mean over M  [chan, cisc271].

    One step is one visit of the history; its row is -1. With `cycle` it stops when the weights
    come back: leave that out where eta changes, for then they may go elsewhere the next time.
    """
    check(X, y, tie)
    w = [0] * len(X[0]) if w is None else list(w)
    run = Run((w, b), [], "max_iter")
    saved, power, length = (w, b), 1, 0
    for k in range(1, max_iter + 1):
        M = []
        for x, label in zip(X, y, strict=True):
            e = mistake(label * score(w, b, x), label, tie)
            if e:
                M.append((e * label, x))
        share = sum(abs(c) for c, _ in M) if mean else 1
        if M:
            w = [wj + eta(k) * sum(c * x[j] for c, x in M) / share for j, wj in enumerate(w)]
            b = b + eta(k) * sum(c for c, _ in M) / share if intercept else b
        run.visits.append(Visit(k, -1, len(M), 1 if M else 0, w, b))
        if not M:
            run.stop_reason = "separated"
            return run
        length += 1
        if cycle and (w, b) == saved:
            run.stop_reason, run.cycle = "cycle", length
            return run
        if length == power:
            saved, power, length = (w, b), 2 * power, 0
    return run


def minover(
    X: Sequence[Row],
    y: Sequence[int],
    *,
    gap: Any = 0.01,
    intercept: bool = True,
    steps: int = 10_000,
    max_iter: int = 1000,
    max_updates: float = math.inf,
) -> Run:
    """The row of smallest margin is added, whether or not it is a mistake [Krauth, Mezard 1987].

    After M steps from w = 0, with ||.|| and w counting the offset, no hyperplane has a margin
    above ||w|| / M: each step adds at least gamma to the component of w along the best one. So
    the run ends when its own margin is (1 - gap) of that. A pass is `steps` steps.

    >>> run = minover([[2], [-1]], [1, -1], gap=0.1)
    >>> [row for row, _, _ in run.updates], run.weights, run.stop_reason
    ([0, 1, 1, 1], ([5], -2), 'separated')
    """
    check(X, y, "mistake")
    w, b = [0] * len(X[0]), 0
    run = Run((w, b), [], "max_iter")
    for made in range(steps * max_iter + 1):
        margins = [label * score(w, b, x) for x, label in zip(X, y, strict=True)]
        z = min(margins)
        i = margins.index(z)  # the first on a tie
        if z > 0 and z * made >= (1 - gap) * (sum(wj * wj for wj in w) + b * b):
            run.stop_reason = "separated"
            break
        if made == steps * max_iter:
            break
        if made >= max_updates:
            run.stop_reason = "max_updates"
            break
        w = [wj + y[i] * xj for wj, xj in zip(w, X[i], strict=True)]
        b = b + y[i] if intercept else b
        run.visits.append(Visit(1 + made // steps, i, mistake(z, y[i]), 1, w, b))
    return run
