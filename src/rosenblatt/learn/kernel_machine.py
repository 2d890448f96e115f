"""Kernel perceptron: support rows, budgets and training runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt._core import (
    Code,
    GramBlock,
    Order,
    Stop,
    SupportRows,
    kernel_replay,
    kernel_visit,
    kernel_visit_dropping,
    kernel_visit_projecting,
)
from rosenblatt.data.block import Block
from rosenblatt.errors import OverflowedError, ParameterError
from rosenblatt.learn.kernel import Kernel, is_sparse
from rosenblatt.learn.parameters import Parameters, is_number
from rosenblatt.learn.trace import StopReason

Array = npt.NDArray[Any]
Matrix = Any  # a numpy array or a scipy CSR matrix

GRAM_ROWS = 512  # rows whose kernel values are computed at once
PIECE_ROWS = 1024  # support rows in one product: large for BLAS, small for the cache
REPLAY_BYTES = 2**26  # kernel values in memory while votes are counted


@dataclass(frozen=True)
class Budget(Parameters):
    """A limit on the number of support rows."""

    kind_of_object: ClassVar[str] = "budget"
    size: int = 1000

    def __post_init__(self) -> None:
        if not (is_number(self.size, Integral) and self.size >= 1):
            raise ParameterError(
                f"size must be an integer >= 1, got {self.size!r}. It is the largest number of "
                "support rows."
            )


@dataclass(frozen=True)
class RandomBudget(Budget):
    """Randomized budget perceptron: a new support row replaces a random one.

    Once there are `size` support rows, every new one takes the place of a random one, in all
    classes. Source: Cavallanti, Cesa-Bianchi and Gentile 2007.

    Parameters
    ----------
    size : int, default=1000
        Largest number of support rows.

    Examples
    --------
    >>> RandomBudget(size=500).get_params()
    {'size': 500}
    """

    name: ClassVar[str] = "random"


@dataclass(frozen=True)
class Projectron(Budget):
    """Projectron: rows near the span of the support rows are projected onto it.

    With d = G^-1 k, where G is the Gram matrix of the support rows and k their kernel values with
    x, the part of phi(x) outside the span has the squared length K(x, x) - k.d. If that is at most
    eta^2, or there are `size` support rows, the update y d is added to the coefficients; else x
    becomes a support row. Source: Orabona, Keshet and Caputo 2008, who set no size.

    With eta=0 and a large size, the result is that of the perceptron with fewer support rows. A
    squared distance below about 1e-8 K(x, x) (float32: 3e-4) counts as 0, because it is within
    rounding errors.

    Parameters
    ----------
    size : int, default=1000
        Largest number of support rows. The inverse Gram matrix has size^2 numbers.
    eta : float, default=0.1
        Distance from the span, in feature space, up to which a row is projected.

    Examples
    --------
    >>> Projectron(size=500).get_params()
    {'size': 500, 'eta': 0.1}
    """

    eta: float = 0.1
    name: ClassVar[str] = "projectron"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (is_number(self.eta) and 0 <= self.eta < np.inf):
            raise ParameterError(f"eta must be a finite number >= 0, got {self.eta!r}.")


BUDGETS: dict[str, type[Budget]] = {b.name: b for b in (RandomBudget, Projectron)}


def resolve_budget(budget: Any) -> Budget | None:
    """Return the budget for a name, an object or None.

    >>> resolve_budget("random")
    RandomBudget(size=1000)
    """
    if budget is None or isinstance(budget, (RandomBudget, Projectron)):
        return budget
    if isinstance(budget, str) and budget in BUDGETS:
        return BUDGETS[budget]()
    raise ParameterError(
        f"budget must be None, one of {sorted(BUDGETS)} or an object such as "
        f"RandomBudget(size=1000), got {budget!r}."
    )


@dataclass
class SupportStore:
    """Support rows, shared by all hyperplanes, and their coefficients.

    pieces : matrices of support rows, never changed in place, so that copies can share them
    coef, lag : (capacity, hyperplanes), the first `size` rows used; see core/kernel_machine.hpp
    row_numbers : (capacity,), which row each is, counted over all rows ever given
    """

    pieces: list[Matrix]
    coef: Array
    lag: Array
    row_numbers: Array
    size: int = 0

    @classmethod
    def empty(cls, planes: int) -> SupportStore:
        return cls([], np.zeros((0, planes)), np.zeros((0, planes)), np.zeros(0, np.int64))

    def copy(self) -> SupportStore:
        """Return a copy that can be trained without changing this store."""
        arrays = (self.coef.copy(), self.lag.copy(), self.row_numbers.copy())
        return SupportStore(list(self.pieces), *arrays, self.size)

    def reserve(self, more: int) -> None:
        """Make room for the coefficients of more support rows."""
        if self.size + more > len(self.coef):
            capacity = max(self.size + more, 2 * len(self.coef))
            arrays = (self.coef, self.lag, self.row_numbers)
            self.coef, self.lag, self.row_numbers = (_longer(a, capacity) for a in arrays)

    def append(self, rows: Matrix) -> None:
        """Add rows after the last one."""
        if self.pieces and self.pieces[-1].shape[0] < PIECE_ROWS:
            rows = _stack([self.pieces.pop(), rows])
        for start in range(0, rows.shape[0], PIECE_ROWS):
            self.pieces.append(rows[start : start + PIECE_ROWS])

    def replace(self, rows: Matrix, new_row: Array) -> None:
        """Put row new_row[j] of `rows` in place j; -1 leaves the one that is there."""
        if (new_row >= 0).any():
            n_before = sum(piece.shape[0] for piece in self.pieces)
            source = np.where(new_row >= 0, n_before + new_row, np.arange(len(new_row)))
            both = _stack([*self.pieces, rows])
            self.pieces = []
            self.append(both[source])

    def rows(self) -> Matrix:
        """Return all support rows as one matrix, a copy."""
        return _stack(self.pieces)

    def places(self, first_row: int, n_rows: int) -> Array:
        """Return the place of each of the rows first_row, first_row + 1, ..., or -1."""
        index = self.row_numbers[: self.size] - first_row
        known = np.flatnonzero((index >= 0) & (index < n_rows))
        places = np.full(n_rows, -1, np.int64)
        places[index[known]] = known
        return places

    def kernel_values(self, kernel: Kernel, X: Matrix) -> Array:
        """Return K of every row of X (down) with every support row (across)."""
        values = [kernel.matrix(X, piece) for piece in self.pieces]
        return np.concatenate(values, axis=1) if values else np.zeros((X.shape[0], 0))

    def scores(self, kernel: Kernel, X: Matrix, coef: Array) -> Array:
        """Return the score of every row (down) for every hyperplane (across), in float64."""
        total, start = np.zeros((X.shape[0], coef.shape[1])), 0
        with np.errstate(over="ignore", invalid="ignore"):
            for piece in self.pieces:
                part = coef[start : start + piece.shape[0]]
                total += kernel.matrix(X, piece).astype(np.float64, copy=False) @ part
                start += piece.shape[0]
        _check(bool(np.isfinite(total).all()))
        return total


def _stack(parts: list[Matrix]) -> Matrix:
    """Return the rows of all parts as one new matrix of the kind and dtype of the first."""
    first = parts[0]
    if not is_sparse(first):
        arrays = [part.toarray() if is_sparse(part) else part for part in parts]
        return np.concatenate(arrays, dtype=first.dtype)
    import scipy.sparse as sp

    return sp.vstack([type(first)(part) for part in parts], format="csr", dtype=first.dtype)


def _longer(values: Array, length: int) -> Array:
    out = np.zeros((length, *values.shape[1:]), values.dtype)
    out[: len(values)] = values
    return out


def _check(finite: bool) -> None:
    if not finite:
        raise OverflowedError(
            "Floating-point overflow: scores or coefficients are beyond the range of float64. "
            "Scale the data, the sample weights or the kernel."
        )


@dataclass(frozen=True, eq=False)
class CoefficientSteps:
    """Every change of a coefficient, in order.

    Attributes
    ----------
    visit : int array
        The visit, from 1; visits of earlier calls are counted.
    support : int array
        The support row.
    plane : int array
        The hyperplane: 0 for two classes, else the class number.
    amount : float array
        What was added: the sample weight times +1 or -1.
    """

    visit: Array = field(default_factory=lambda: np.empty(0, np.int64))
    support: Array = field(default_factory=lambda: np.empty(0, np.int64))
    plane: Array = field(default_factory=lambda: np.empty(0, np.int64))
    amount: Array = field(default_factory=lambda: np.empty(0))

    def __len__(self) -> int:
        return len(self.visit)


def _joined(parts: list[CoefficientSteps]) -> CoefficientSteps:
    names = (f.name for f in fields(CoefficientSteps))
    return CoefficientSteps(*(np.concatenate([getattr(p, n) for p in parts]) for n in names))


class ScoresAfter(NamedTuple):
    """Three kinds of scores of one run, each of shape (ends, rows, hyperplanes)."""

    last: Array
    average: Array
    vote: Array


@dataclass
class KernelModel:
    """A kernel perceptron: what is needed to predict and to continue training.

    mistakes, square_norm : (hyperplanes,), mistakes so far, and ||w||^2 in feature space. The norm
        is NaN with a random budget: dropping a row changes it by all its kernel values
    visits, n_rows : of all runs
    steps : all changes of coefficients, without a budget
    inverse : inverse Gram matrix of the support rows, for a Projectron
    seed : state of the generator that chooses the rows to drop, for a random budget
    """

    kernel: Kernel
    store: SupportStore
    mistakes: Array
    square_norm: Array
    budget: Budget | None = None
    visits: int = 0
    n_rows: int = 0
    steps: CoefficientSteps = field(default_factory=CoefficientSteps)
    inverse: Array = field(default_factory=lambda: np.zeros((0, 0)))
    seed: int = 1

    @classmethod
    def zero(
        cls, kernel: Kernel, planes: int, budget: Budget | None = None, seed: int = 1
    ) -> KernelModel:
        """Return the model before the first visit: no support rows."""
        norm = np.full(planes, np.nan if isinstance(budget, RandomBudget) else 0.0)
        model = cls(kernel, SupportStore.empty(planes), np.zeros(planes, np.int64), norm, budget)
        if isinstance(budget, Projectron):
            model.inverse = np.zeros((budget.size, budget.size))
        model.seed = seed
        return model

    def copy(self) -> KernelModel:
        """Return a copy that can be trained without changing this model."""
        arrays = {name: getattr(self, name).copy() for name in ("mistakes", "square_norm")}
        return replace(self, store=self.store.copy(), inverse=self.inverse.copy(), **arrays)

    def coefficients(self, average: bool = False) -> Array:
        """Return the last or the mean coefficients: (support rows, hyperplanes)."""
        store = self.store
        lag = store.lag / max(1, self.visits) if average else 0.0
        return (store.coef - lag)[: store.size]

    def scores(self, X: Matrix, average: bool = False) -> Array:
        """Return the scores of all rows, with the last or the mean coefficients."""
        coef, starts = self.coefficients(average), range(0, X.shape[0], GRAM_ROWS)
        parts = [self.store.scores(self.kernel, X[i : i + GRAM_ROWS], coef) for i in starts]
        return np.concatenate(parts)

    def scores_after(self, X: Matrix, ends: Any) -> ScoresAfter:
        """Return last, average and vote as they were after `ends` visits, in rising order.

        Each kernel value is computed once. Not for a budget, which drops support rows.
        """
        ends = np.asarray(ends, np.int64)
        planes, steps = len(self.mistakes), self.steps
        own = [steps.plane == k for k in range(planes)]
        runs = [(steps.visit[k], steps.support[k], steps.amount[k]) for k in own]
        out = np.empty((3, len(ends), X.shape[0], planes))
        chunk = max(1, min(GRAM_ROWS, REPLAY_BYTES // (8 * max(1, self.store.size))))
        for start in range(0, X.shape[0], chunk):
            rows = slice(start, start + chunk)
            parts = [self.kernel.matrix(piece, X[rows]) for piece in self.store.pieces]
            values = np.concatenate(parts or [np.empty((0, X[rows].shape[0]))])
            for k, run in enumerate(runs):
                out[:, :, rows, k] = kernel_replay(values, *run, ends)
        return ScoresAfter(*out)


class KernelMachine:
    """A training run of a kernel model: the order of visits, the visits and the stop tests.

    Attributes
    ----------
    model : KernelModel
        Changed in place.
    reason : StopReason or None
        Why the run stopped, once it did.
    mistakes, norms : list of arrays of shape (hyperplanes,)
        Mistakes of each epoch, and ||w|| after it.
    """

    def __init__(
        self,
        model: KernelModel,
        *,
        shuffle: bool = False,
        seed: int = 0,
        tol: float | None = None,
        patience: int = 5,
        clean: bool = True,
    ) -> None:
        self.model = model
        self.reason: StopReason | None = None
        self.mistakes: list[Array] = []
        self.norms: list[Array] = []
        self._order = Order(int(shuffle), seed)
        self._stop = Stop(tol=tol, patience=min(patience, 2**62), clean=clean)
        self._first_row = model.n_rows  # rows of earlier runs have lower numbers
        self._before = model.mistakes.copy(), model.visits

    @property
    def n_epochs(self) -> int:
        return len(self.mistakes)

    def epochs(self, block: Block, n: int) -> None:
        """Train on a resident block until there is a reason to stop or n epochs are finished."""
        while self.reason is None and self.n_epochs < n:
            self.visit(block)
            self.end_epoch()

    def visit(self, block: Block, seen: Array | None = None, resident: bool = True) -> None:
        """Visit each row of a block once, as many at a time as one Gram matrix holds."""
        model, n = self.model, len(block.y)
        first_row = self._first_row + block.first_row
        weight = np.ones(n) if block.sample_weight is None else block.sample_weight
        places = model.store.places(first_row, n)
        order = self._order.arrange(n)
        order = order[block.y[order] >= 0]
        steps = [model.steps]
        for start in range(0, len(order), GRAM_ROWS):
            index = order[start : start + GRAM_ROWS]
            X = block.X[index]
            gram = model.kernel.matrix(X, X)
            rows = GramBlock(gram, block.y[index], weight[index], index, model.visits)
            if model.budget is None:
                steps.append(self._visit_unlimited(X, rows, places, first_row))
            else:
                self._visit_limited(X, rows, places, first_row, model.budget)
            model.visits += len(index)
        model.steps = _joined(steps)
        model.n_rows = max(model.n_rows, first_row + n)

    def end_epoch(self, score: Callable[[Any], float] | None = None) -> None:
        """Note the totals of the epoch and decide whether to stop, by the share of mistakes."""
        model, (mistakes_before, visits_before) = self.model, self._before
        self._before = model.mistakes.copy(), model.visits
        self.mistakes.append(model.mistakes - mistakes_before)
        self.norms.append(np.sqrt(np.maximum(model.square_norm, 0.0)))
        total = int(self.mistakes[-1].sum())
        objective = total / max(1, (model.visits - visits_before) * len(model.mistakes))
        code = self._stop.end_epoch(total, objective)
        if code != Code.RUNNING:
            self.reason = StopReason(code.name.lower())

    def _support(self, more: int, places: Array, first_row: int) -> SupportRows:
        store = self.model.store
        store.reserve(more)
        arrays = (store.coef, store.lag, store.row_numbers, places)
        return SupportRows(*arrays, first_row, store.size)

    def _visit_unlimited(
        self, X: Matrix, rows: GramBlock, places: Array, first_row: int
    ) -> CoefficientSteps:
        """Visit rows; every mistake adds its row to the store."""
        model, store = self.model, self.model.store
        scores = np.ascontiguousarray(store.scores(model.kernel, X, store.coef).T)
        support = self._support(X.shape[0], places, first_row)
        code, new_rows, *steps = kernel_visit(
            rows, support, scores, model.mistakes, model.square_norm
        )
        _check(code != Code.OVERFLOW)
        if len(new_rows):
            store.append(X[new_rows])
        store.size = support.size
        return CoefficientSteps(*steps)

    def _visit_limited(
        self, X: Matrix, rows: GramBlock, places: Array, first_row: int, budget: Budget
    ) -> None:
        """Visit rows with at most `budget.size` support rows at any time."""
        model, store = self.model, self.model.store
        most = min(budget.size, store.size + X.shape[0])
        values = np.zeros((X.shape[0], most))
        values[:, : store.size] = store.kernel_values(model.kernel, X)
        support = self._support(most - store.size, places, first_row)
        if isinstance(budget, Projectron):
            projectron = (float(budget.eta), model.inverse)
            code, new_row = kernel_visit_projecting(
                rows, support, values, budget.size, *projectron, model.mistakes, model.square_norm
            )
        else:
            code, new_row, model.seed = kernel_visit_dropping(
                rows, support, values, budget.size, model.seed, model.mistakes
            )
        store.size = support.size
        finite = np.isfinite(store.coef[: store.size]).all()
        _check(code != Code.OVERFLOW and bool(finite))
        store.replace(X, new_row[: store.size])
