"""Machine: a kernel perceptron as it stands, for one hyperplane or several, and how it learns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt.learn.kernel_trick import loops
from rosenblatt.learn.kernel_trick.budget import Budget, Projectron, RandomBudget
from rosenblatt.learn.kernel_trick.functions import Kernel
from rosenblatt.learn.kernel_trick.store import Store, check_finite
from rosenblatt.learn.trace import StopReason

Array = npt.NDArray[Any]
Matrix = Any  # dense or CSR

BLOCK = 512  # rows whose kernel values are computed at once
ROOM = 2**26  # bytes of kernel values held when votes are counted


@dataclass(frozen=True, eq=False)
class Steps:
    """Every change of a coefficient, in order.

    Attributes
    ----------
    visit : int array
        At which visit, from 1; visits of earlier calls are counted.
    support : int array
        Which support row.
    plane : int array
        Which hyperplane: 0 for two classes, the class number for more.
    amount : float array
        What was added: the row's weight times +1 or -1.
    """

    visit: Array
    support: Array
    plane: Array
    amount: Array

    def __len__(self) -> int:
        return len(self.visit)

    def of(self, plane: int) -> Steps:
        """The steps of one hyperplane."""
        own = self.plane == plane
        return Steps(self.visit[own], self.support[own], self.plane[own], self.amount[own])

    def then(self, later: list[Steps]) -> Steps:
        """These, and those of later blocks."""
        parts = [self, *later]
        names = ("visit", "support", "plane", "amount")
        return Steps(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))


def no_steps() -> Steps:
    """Before the first visit."""
    empty = np.empty(0, np.int64)
    return Steps(empty, empty, empty, np.empty(0))


@dataclass(frozen=True, eq=False)
class Rows:
    """What is learned from: y is -1 or +1 with a line for each hyperplane; one weight a row."""

    X: Matrix
    y: Array
    weight: Array


@dataclass(frozen=True)
class Stop:
    """When to end: a clean pass always does."""

    max_iter: int = 1000
    tol: float | None = 1e-3
    patience: int = 5
    clean: bool = True  # False: passes are made whatever happens in them


class Passed(NamedTuple):
    """What the passes of one call did: lines are passes, columns hyperplanes."""

    reason: StopReason
    mistakes: Array
    norms: Array
    seconds: float
    compile_seconds: float  # making the machine code on first use, or loading it from disk

    @property
    def planes(self) -> int:
        return int(self.mistakes.shape[1])


class Scores(NamedTuple):
    """One run judged three ways: each of shape (ends, rows, hyperplanes)."""

    last: Array
    average: Array
    vote: Array


@dataclass
class Machine:
    """Where the run stands: enough to go on training or to predict.

    visits : made so far. given : rows of all calls. mistakes : of each hyperplane.
    squares : ||w||^2 of each, in feature space. NaN with a random budget: what a row that is
        dropped takes away depends on its kernel values with all others.
    steps : without a budget, every change of a coefficient.
    inverse : of the Gram matrix of the store, for a Projectron.
    seed : of the rows that a random budget drops.
    waited : seconds for the compiler in this call.
    """

    kernel: Kernel
    store: Store
    mistakes: Array
    squares: Array
    budget: Budget | None = None
    visits: int = 0
    given: int = 0
    steps: Steps = field(default_factory=no_steps)
    inverse: Array = field(default_factory=lambda: np.zeros((0, 0)))
    seed: Array = field(default_factory=lambda: np.ones(1, np.uint32))
    waited: float = 0.0

    @classmethod
    def begin(
        cls, kernel: Kernel, planes: int, budget: Budget | None = None, seed: int = 1
    ) -> Machine:
        """Before the first visit: all coefficients are zero."""
        side = budget.size if isinstance(budget, Projectron) else 0
        return cls(
            kernel,
            Store.empty(planes),
            np.zeros(planes, np.int64),
            np.full(planes, np.nan if isinstance(budget, RandomBudget) else 0.0),
            budget,
            inverse=np.zeros((side, side)),
            seed=np.array([seed], np.uint32),
        )

    def copy(self) -> Machine:
        """A copy that can be trained without touching this one."""
        arrays = {n: getattr(self, n).copy() for n in ("mistakes", "squares", "inverse", "seed")}
        return replace(self, store=self.store.copy(), **arrays)

    # -------------------------------------------------------------------- training

    def train(
        self,
        rows: Rows,
        passes: Iterator[Array],
        stop: Stop,
        say: Callable[[int, Array], None] = lambda number, mistakes: None,
    ) -> Passed:
        """Pass after pass, each in the order that `passes` gives, until `stop` says so."""
        began = time.perf_counter()
        slot = np.full(rows.X.shape[0], -1, np.int64)
        counts: list[Array] = []
        norms: list[Array] = []
        best, stalled, reason = np.inf, 0, StopReason.MAX_ITER
        for number in range(1, stop.max_iter + 1):
            before = self.mistakes.copy()
            self._one_pass(rows, next(passes), slot)
            counts.append(self.mistakes - before)
            norms.append(np.sqrt(np.maximum(self.squares, 0.0)))
            say(number, counts[-1])
            if stop.clean and not counts[-1].any():
                reason = StopReason.SEPARATED
                break
            share = counts[-1].sum() / rows.y.size
            stalled = 0 if stop.tol is None or share < best - stop.tol else stalled + 1
            best = min(best, share)
            if stop.tol is not None and stalled >= stop.patience:
                reason = StopReason.NO_IMPROVEMENT
                break
        self.given += rows.X.shape[0]
        waited, self.waited = self.waited, 0.0
        seconds = time.perf_counter() - began - waited
        return Passed(reason, np.array(counts), np.array(norms), seconds, waited)

    def _one_pass(self, rows: Rows, order: Array, slot: Array) -> None:
        made: list[Steps] = []
        for start in range(0, len(order), BLOCK):
            index = order[start : start + BLOCK]
            X = rows.X[index]
            block = loops.Block(
                self.kernel.block(X, X),
                np.ascontiguousarray(rows.y[:, index]),
                rows.weight[index],
                index,
                self.visits,
            )
            if self.budget is None:
                made.append(self._freely(X, block, slot))
            else:
                self._within_budget(X, block, slot)
            self.visits += len(index)
        self.steps = self.steps.then(made)

    def _held(self, slot: Array, more: int, source: Array) -> loops.Held:
        store = self.store
        store.make_room(more)
        store.numbers -= self.given  # those of earlier calls are below 0
        size = np.array([store.size])
        return loops.Held(store.coef, store.lag, store.numbers, slot, source, size)

    def _freely(self, X: Matrix, block: loops.Block, slot: Array) -> Steps:
        """Every mistake adds its row to the store."""
        scores = self.store.scores(self.kernel, X, self.store.coef)
        held = self._held(slot, len(block.index), np.empty(0, np.int64))
        most, before = block.y.size, self.store.size
        visit, support, plane = (np.empty(most, np.int64) for _ in range(3))
        steps = loops.Steps(visit, support, plane, np.empty(most))
        lines = np.ascontiguousarray(scores.T)
        n = self._call(loops.visit, lines, block, held, steps, self.mistakes, self.squares)
        after = int(held.size[0])
        if after > before:
            position = np.empty(len(slot), np.int64)
            position[block.index] = np.arange(len(block.index))
            self.store.append(X[position[self.store.numbers[before:after]]])
        self.store.numbers += self.given
        self.store.size = after
        return Steps(*(values[:n].copy() for values in steps))

    def _within_budget(self, X: Matrix, block: loops.Block, slot: Array) -> None:
        """At most `size` rows in the store, during the block and after it."""
        budget, store = self.budget, self.store
        assert budget is not None
        size, places = store.size, min(budget.size, store.size + len(block.index))
        K = np.zeros((len(block.index), places))
        K[:, :size] = store.columns(self.kernel, X)
        held = self._held(slot, places - size, np.arange(places))
        if isinstance(budget, Projectron):
            share = float(np.sqrt(np.finfo(block.gram.dtype).eps))
            least = (float(budget.eta) ** 2, share)
            own: list[Any]
            kind, own = loops.visit_projecting, [least, self.inverse, self.squares]
        else:
            kind, own = loops.visit_dropping, [self.seed]
        self._call(kind, K, block, held, budget.size, *own, self.mistakes)
        store.numbers += self.given
        store.size = int(held.size[0])
        source = held.source[: store.size]
        if (source >= places).any():
            store.rearrange(X, np.where(source >= places, source - places + size, source))
        check_finite(store.coef[: store.size])

    def _call(self, loop: Any, *arguments: Any) -> Any:
        """A compiled loop; a call that waits for the compiler does little else."""
        began, known = time.perf_counter(), len(getattr(loop, "signatures", ()))
        result = loop(*arguments)
        if len(getattr(loop, "signatures", ())) > known:
            self.waited += time.perf_counter() - began
        return result

    # ------------------------------------------------------------------ prediction

    def coefficients(self, average: bool = False) -> Array:
        """The last ones or their mean: a line for each support row, a column a hyperplane."""
        store = self.store
        return store.mean(self.visits) if average else store.coef[: store.size]

    def scores(self, X: Matrix, average: bool = False) -> Array:
        """f_k(x) for every row and hyperplane, with the last coefficients or their mean."""
        coef, starts = self.coefficients(average), range(0, X.shape[0], BLOCK)
        parts = [self.store.scores(self.kernel, X[i : i + BLOCK], coef) for i in starts]
        return np.concatenate(parts)

    def scores_after(self, X: Matrix, ends: Any) -> Scores:
        """Last, averaged and voted scores of the run as it stood after `ends` visits, rising.

        One look at the kernel values serves all of them. Only without a budget: what was dropped
        cannot be asked again.
        """
        ends = np.asarray(ends, np.int64)
        planes = len(self.mistakes)
        own = [self.steps.of(k) for k in range(planes)]
        out = Scores(*(np.empty((3, len(ends), X.shape[0], planes))))
        chunk = max(1, min(BLOCK, ROOM // (8 * max(1, self.store.size))))
        for start in range(0, X.shape[0], chunk):
            rows = slice(start, start + chunk)
            columns = np.ascontiguousarray(self.store.columns(self.kernel, X[rows]).T)
            for k, steps in enumerate(own):
                seen = np.empty((3, len(ends), columns.shape[1]))
                loops.replay(columns, steps.visit, steps.support, steps.amount, ends, *seen)
                for whole, part in zip(out, seen, strict=True):
                    whole[:, rows, k] = part
        return out


def in_order(n: int) -> Iterator[Array]:
    """Pass after pass, the rows as they stand."""
    index = np.arange(n)
    while True:
        yield index


def shuffled(n: int, seed: int) -> Iterator[Array]:
    """Each pass shuffles the last permutation, from the same seed, as `Perceptron` does."""
    index = np.arange(n)
    while True:
        loops.shuffle(index, seed)
        yield index
