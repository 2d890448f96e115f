"""Machine: a rule, its hyperplanes in a state and the stop tests, bound to the compiled core."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt.data.block import Block
from rosenblatt.errors import NotSupportedError, OverflowedError, ParameterError
from rosenblatt.learn.cycle import cancels
from rosenblatt.learn.settings import NO_LIMIT, TrainingSettings
from rosenblatt.learn.state import State, Votes
from rosenblatt.learn.trace import Cycle, MarginInterval, Record, Setting, StopReason, Trace

if TYPE_CHECKING:  # scipy.sparse: not for files and streams
    from rosenblatt.data.problem import Problem

Array = npt.NDArray[Any]
ORDERS = {"order": 0, "shuffle": 1, "sample": 2}
NO_CLASS = -2  # the class of a hyperplane that has every row on its negative side
REASONS = {
    _core.Code.SEPARATED: StopReason.SEPARATED,
    _core.Code.CYCLE: StopReason.CYCLE,
    _core.Code.NO_IMPROVEMENT: StopReason.NO_IMPROVEMENT,
    _core.Code.MAX_UPDATES: StopReason.MAX_UPDATES,
}
VOTE_BYTES = 2**30  # default bound on the hyperplanes of keep="vote": 1 GiB, at most 10,000
RECORD_BYTES = 2**28
MOST_LOGGED = 10_000
MOST_LOG_BYTES = 2**36  # more hyperplanes than this cannot be kept


def log_capacity(nbytes: int, width: int) -> int:
    """How many updates of `width` numbers fit."""
    return max(1, min(MOST_LOGGED, nbytes // (8 * width)))


@dataclass
class Best:
    """The weights that scored best on held-out rows."""

    score: float = -np.inf
    epoch: int = 0
    w: Array | None = None
    b: Array | None = None


class Machine:
    """One hyperplane of a state, or all of them for the direct rule, under training.

    Parameters
    ----------
    settings : TrainingSettings
    state : State
        Changed in place.
    plane : int or None
        Which hyperplane; None for the direct rule, which moves all of them.
    positive : int
        The class whose rows should score above 0.
    seed : int
        Seed of the order of visits.
    n_rows : int or None
        Rows per epoch, if they are known beforehand.
    size : float
        Divisor of the loss of an epoch; 0 stands for the number of visited rows.
    same_order : bool
        Whether every epoch has the rows in the same order.
    class_weight : list of float
        The weight of each class; empty for 1.
    by_score : bool
        Whether `tol` compares scores on held-out rows.
    n_classes : int or None
        Hyperplanes of the direct rule; None for all of the state.

    Attributes
    ----------
    reason : StopReason or None
        None while there is more to do.
    planes : slice
        The hyperplanes of the state that this machine moves.
    first : int
        The first of them, which has the counts.
    """

    def __init__(
        self,
        settings: TrainingSettings,
        state: State,
        plane: int | None = 0,
        positive: int = 1,
        *,
        seed: int = 0,
        n_rows: int | None = None,
        size: float = 0.0,
        same_order: bool = True,
        class_weight: list[float] | None = None,
        by_score: bool = False,
        n_classes: int | None = None,
    ) -> None:
        self.settings, self.state, self.plane = settings, state, plane
        self.positive, self.size, self.n_rows = positive, size, n_rows
        self.reason: StopReason | None = None
        self.seconds = 0.0
        self.scores: list[float] = []
        self.best = Best()
        together = n_classes or state.n_planes
        self.planes = slice(0, together) if plane is None else slice(plane, plane + 1)
        self.first = plane or 0
        self._resident: _core.Block | None = None
        self._seed, self._same_order, self._by_score = seed, same_order, by_score
        self._class_weight = class_weight or []
        state.prepare(settings.rule, settings.keep, settings.fit_intercept)
        self._check_start()
        self.start = self._weights()
        self.start_visits = float(state.visits[self.first])
        self.core = self._make()

    def _check_start(self) -> None:
        if not self.settings.rule.needs_all_rows:
            return
        w, b = self._weights()
        if w.any() or b.any() or self.state.visits[self.first]:
            raise NotSupportedError(
                f"rule={self.settings.rule.name!r} starts from w = 0: its bound on the largest "
                "margin counts steps from there. Use init='zero' and warm_start=False, without "
                "coef_init and intercept_init."
            )

    def _weights(self) -> tuple[Array, Array]:
        """Copies of the last weights, (d,) and (1,) or (K, d) and (K,)."""
        state = self.state
        w = state.w[self.planes, : state.n_features].astype(state.dtype)
        b = state.b[self.planes].astype(state.dtype)
        return (w, b) if self.plane is None else (w[0], b)

    def _arrays(self) -> dict[str, Any]:
        """The arrays of the state that the core moves."""
        state, planes, d = self.state, self.planes, self.state.n_features
        variance = state.variance if self.settings.rule.has_variance else None
        u, ub = (state.u, state.ub) if self.settings.keep == "average" else (None, None)
        return {
            "w": state.w[planes, :d],
            "b": state.b[planes],
            "u": None if u is None else u[planes, :d],
            "ub": None if ub is None else ub[planes],
            "variance": None if variance is None else variance[planes],
        }

    def _make(self, **changes: Any) -> _core.Machine:
        settings, state = self.settings, self.state
        order = settings.order if settings.one_row_at_a_time else "order"
        watch = (
            settings.cycle
            and order == "order"
            and self._same_order
            and settings.weights_can_return
            and settings.constant_eta
        )
        by_tol = settings.tol is not None and (self._by_score or not settings.rule.needs_all_rows)
        arguments: dict[str, Any] = self._arrays() | {
            "direct": self.plane is None,
            "positive": self.positive,
            "repeat": settings.weighting == "repeat" and settings.mode == "online",
            "round32": state.dtype == np.float32,
            "order": ORDERS[order],
            "seed": self._seed,
            "pocket": settings.keep == "pocket",
            "log_capacity": self._log_capacity(),
            "class_weight": self._class_weight,
            "visits": float(state.visits[self.first]),
            "updates": int(state.updates[self.first]),
            "max_updates": self._limit(),
            "tol": settings.tol if by_tol and settings.tol is not None else -np.inf,
            "patience": settings.patience,
            "clean": settings.clean and settings.only_updates_move,
            "watch_cycle": watch,
            "size": self.size,
        }
        return _core.Machine(settings.core_rule(self.n_rows), **arguments | changes)

    def moved_to(
        self,
        state: State,
        plane: int | None,
        positive: int,
        sign: float = 1.0,
        *,
        n_classes: int | None = None,
        class_weight: list[float] | None = None,
    ) -> Machine:
        """A machine that continues this run in hyperplane `plane` of another state.

        `state` may have more features. A sign of -1: its hyperplane has the classes exchanged.
        `class_weight` has a number per class; None: all 1, not those of this machine.
        """
        moved = copy.copy(self)
        moved.state, moved.plane, moved.positive = state, plane, positive
        together = n_classes or state.n_planes
        moved.planes = slice(0, together) if plane is None else slice(plane, plane + 1)
        moved.first, moved._class_weight = plane or 0, class_weight or []
        moved.core = self.core.moved(
            **moved._arrays(), direct=plane is None, positive=positive, sign=sign,
            class_weight=moved._class_weight,
        )  # fmt: skip
        return moved

    def _width(self) -> int:
        w, b = self.start
        return int(w.size + b.size)

    def _limit(self) -> int:
        """No update is made beyond this many, including those of earlier calls."""
        if self.settings.max_updates is not None:
            return self.settings.max_updates
        if self.settings.keep == "vote":
            return log_capacity(VOTE_BYTES, self._width())
        return NO_LIMIT

    def _log_capacity(self) -> int:
        capacity = 0
        if self.settings.record:
            capacity = log_capacity(RECORD_BYTES, self._width())
        if self.settings.keep == "vote":
            capacity = max(self._limit() - int(self.state.updates[self.first]), capacity)
            if 8 * capacity * self._width() > MOST_LOG_BYTES:
                raise ParameterError(
                    f"max_updates={self.settings.max_updates} hyperplanes of {self._width()} "
                    "numbers do not fit in memory. Lower max_updates, or use keep='average'."
                )
        return capacity

    # ------------------------------------------------------------------------ visits

    @property
    def n_epochs(self) -> int:
        return self.core.n_epochs

    def visit(self, block: Block, seen: Array | None = None, resident: bool = False) -> None:
        """Visit the rows of a block; `seen` receives the score of each before its visit."""
        began = time.perf_counter()
        rows = block.in_core(seen)
        if resident:
            self._resident = rows
        if self.settings.eta_per_epoch:
            self.core.set_etas(self.settings.etas(self.n_epochs + 1, 1).tolist())
        self._after(self.core.visit(rows), began)

    def end_epoch(self, score: Callable[[Machine], float] | None = None) -> None:
        """Close the epoch and make the stop tests, on `score` of held-out rows if there is one."""
        self.close_epoch()
        self.judge(None if score is None else score(self))

    def close_epoch(self) -> None:
        """Take the batch step, and note the totals of the epoch."""
        began = time.perf_counter()
        self._after(self.core.close_epoch(self._resident), began)

    def judge(self, accuracy: float | None = None) -> None:
        """Make the stop tests, on the accuracy on held-out rows if there are some."""
        if accuracy is not None:
            self.scores.append(accuracy)
            if accuracy > self.best.score:
                self.best = Best(accuracy, self.n_epochs, *self.kept())
        code = self.core.judge(self._resident, None if accuracy is None else -accuracy)
        self.reason = REASONS.get(code)

    def epochs(self, block: Block, n: int) -> None:
        """Train on a resident block until there is a reason to stop or n epochs are finished."""
        if self.settings.eta_per_epoch:
            while self.reason is None and self.n_epochs < n:
                self.visit(block, resident=True)
                self.end_epoch()
            return
        began = time.perf_counter()
        rows = self._resident = block.in_core()
        code = self.core.epochs(rows, n - self.n_epochs)
        self._after(code, began)
        self.reason = REASONS.get(code)

    def cancel(self) -> None:
        """Make a call in another thread return soon."""
        self.core.cancel()

    def _after(self, code: _core.Code, began: float) -> None:
        self.seconds += time.perf_counter() - began
        self.write_counts()
        if code is _core.Code.INTERRUPTED:
            raise KeyboardInterrupt
        if code is _core.Code.OVERFLOW:
            raise self.overflowed(self.n_epochs + self.core.get_state()["in_epoch"])

    def overflowed(self, epoch: int) -> OverflowedError:
        """An error that says in which epoch numbers became too large."""
        return OverflowedError(
            f"Floating-point under-/overflow occurred at epoch #{epoch}: a "
            f"score or a weight left the range of {np.dtype(self.state.dtype)}. Scale the data "
            "(sklearn.preprocessing.StandardScaler)"
            + (" or lower eta0." if self.settings.rule.has_rate else ".")
        )

    def write_counts(self) -> None:
        """Copy visits and updates from the core to the state."""
        self.state.visits[self.planes] = self.core.visits
        self.state.updates[self.first] = self.core.updates

    # ----------------------------------------------------------------------- results

    def kept(self) -> tuple[Array, Array]:
        """The weights that `keep` returns now: (d,) and (1,), or (K, d) and (K,) if direct."""
        state, keep = self.state, self.settings.keep
        if keep == "pocket":
            w, b, _ = self.core.pocket
            w, b = w.astype(state.dtype), b.astype(state.dtype)
        else:
            w, b = state.kept(keep)
            w, b = w[self.planes], b[self.planes]
        return (w, b) if self.plane is None else (w[0], b)

    def result(self) -> tuple[Array, Array]:
        """The weights to return: the best on held-out rows, or those that `keep` keeps."""
        if self.best.w is not None and self.best.b is not None:
            return self.best.w, self.best.b
        return self.kept()

    def mean_loss(self, loss: Any) -> Any:
        """The loss of an epoch per row (or visit, where weights are visits)."""
        return loss / (self.size or self.n_rows or 1)

    def finish(self) -> None:
        """Add the mistakes and the votes of the run to the state, once, at its end."""
        self.state.mistakes[self.first] += int(self.core.totals()["mistakes"].sum())
        if self.settings.keep == "vote":
            self._collect_votes()

    def trace(self, problem: Problem | None = None, held_out: Array | None = None) -> Trace:
        """Totals of the run. `problem` is the rows in memory, for the record and for cycles."""
        totals, settings = self.core.totals(), self.settings
        margin = None
        if settings.rule.needs_all_rows:
            lower, upper = self.core.margin
            margin = MarginInterval(lower, upper, settings.fit_intercept)
        reason = self.reason or StopReason.MAX_ITER
        cycle = None
        if reason is StopReason.CYCLE and problem is not None:
            cycle = self.prove_cycle(problem)
        return Trace(
            reason,
            totals["mistakes"].astype(np.int64),  # printed as numpy's own integers are
            totals["updates"].astype(np.int64),
            self.mean_loss(totals["loss"]),
            totals["norm"],
            self.seconds,
            self.n_rows or 0,
            cycle,
            self._record(totals["updates"], problem, held_out) if settings.record else None,
            np.array(self.scores) if self.scores else None,
            settings.keep,
            self.best.epoch or self._kept_epoch(),
            margin,
        )

    def _kept_epoch(self) -> int | None:
        if self.settings.keep == "pocket":
            return int(self.core.pocket[2])
        return self.n_epochs if self.settings.keep == "last" else None

    def _logged(self) -> tuple[dict[str, Any], Array, Array]:
        log, (w0, _) = self.core.log(), self.start
        w = log["w"].astype(w0.dtype, copy=False).reshape(-1, *w0.shape)
        return log, w, log["b"].astype(w0.dtype, copy=False)

    def _collect_votes(self) -> None:
        log, w, b = self._logged()
        w0, b0 = self.start
        votes = self.state.votes
        before = votes[self.first] or Votes(w0[None], b0[None], np.array([self.start_visits]))
        votes[self.first] = before.extended(w, b, log["visit"])

    def _record(self, updates: Array, problem: Problem | None, held_out: Array | None) -> Record:
        log, w, b = self._logged()
        n = len(log["row"])
        epochs = np.repeat(np.arange(1, len(updates) + 1), updates)
        order = self.settings.order if self.settings.one_row_at_a_time else "order"
        setting = Setting(problem, self.start, self.start_visits, self.settings, order, held_out)
        return Record(
            epochs[:n], log["row"].astype(np.int64), log["amount"], log["visit"], w, b,
            int(log["count"]), setting,
        )  # fmt: skip

    def prove_cycle(self, problem: Problem) -> Cycle:
        """Repeat the cycle, count the updates of each row, and test whether they sum to zero."""
        direct = self.plane is None
        length, updates = self.core.cycle_length, self.core.cycle_updates
        tally = self._tally_of_cycle(length).reshape(problem.n_rows, -1)
        rows = np.flatnonzero(tally.any(axis=1))
        intercept = self.settings.fit_intercept
        if not direct:
            counts = tally[rows, 0]
            exact = cancels(problem.X, rows, counts * problem.y[rows], intercept)
        else:
            counts = tally[rows]
            signed = -counts
            own = problem.class_numbers()[rows]
            signed[np.arange(len(rows)), own] += counts.sum(axis=1)
            exact = all(
                cancels(problem.X, rows, np.ascontiguousarray(signed[:, k]), intercept)
                for k in range(signed.shape[1])
            )
        kind = "no set of one hyperplane per class" if direct else "no hyperplane"
        kind += "" if intercept else " through the origin"
        return Cycle(length, updates, exact, rows, counts, kind)

    def _tally_of_cycle(self, length: int) -> Array:
        """How often each row moved the weights in the last `length` epochs, times its weight."""
        state, planes, settings = self.state, self.planes, self.settings
        w, b = state.w[planes, : state.n_features].copy(), state.b[planes].copy()
        from_zero = settings.rule.needs_all_rows  # such a run cannot begin at other weights
        again = self._make(
            w=np.zeros_like(w) if from_zero else w, b=np.zeros_like(b) if from_zero else b,
            u=None, ub=None, tally=not from_zero, clean=False, tol=-np.inf, watch_cycle=False,
            max_updates=NO_LIMIT, log_capacity=0, pocket=False,
        )  # fmt: skip
        rows = self._resident
        assert rows is not None
        if from_zero:
            again.epochs(rows, self.n_epochs - length)
            before = again.get_state()["counts"]
            again.epochs(rows, length)
            counts = again.get_state()["counts"]
            return np.asarray(counts - before if before.size else counts, np.float64)
        if settings.mode != "batch-mean":
            again.epochs(rows, length)
            return np.asarray(again.tally)
        seen, steps = np.zeros(1), []
        for _ in range(length):
            again.epochs(rows, 1)
            steps.append(again.tally - seen)
            seen = again.tally
        return _sum_of_means(steps)


def _sum_of_means(steps: list[Array]) -> Array:
    """The sum of step / step.sum(), times a common denominator where that is exact in float64."""
    totals = [Fraction(float(step.sum())) for step in steps]
    shares = [1 / total if total else Fraction(0) for total in totals]
    common = math.lcm(*(share.denominator for share in shares))
    scale = common if common <= 2**53 else 1
    return np.asarray(sum(s * float(scale * share) for s, share in zip(steps, shares, strict=True)))
