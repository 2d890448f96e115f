"""Training: a Problem goes through a rule in the order of a schedule and yields a Trace."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt.data.problem import Problem
from rosenblatt.errors import NotSupportedError, OverflowedError, ParameterError
from rosenblatt.learn.cycle import cancels
from rosenblatt.learn.keep import RECORD_BYTES, VOTE_BYTES, Keep, State, Votes, logged
from rosenblatt.learn.machine import (
    ORDERS,
    REASONS,
    check_weights,
    core_rows,
    core_rule,
    first_variances,
)
from rosenblatt.learn.rules import Adaptive, MinOver
from rosenblatt.learn.schedule import Schedule
from rosenblatt.learn.trace import Cycle, MarginInterval, Record, Setting, StopReason, Trace
from rosenblatt.learn.update import Update

Array = npt.NDArray[Any]
NO_LIMIT = np.iinfo(np.int64).max
MOST_LOG_BYTES = 2**36  # more hyperplanes than this cannot be kept


@dataclass(frozen=True)
class Stop:
    """When to stop: passes, updates, and no gain of `tol` for `patience` passes."""

    max_iter: int = 1000
    max_updates: int | None = None
    tol: float | None = None
    patience: int = 5
    clean: bool = True  # stop after a pass that moved nothing
    cycle: bool = True  # stop when the weights come back, where that can be seen


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows kept aside, and how to score weights on them."""

    mask: npt.NDArray[np.bool_]
    score: Callable[[Array, Array], float]

    @classmethod
    def of(
        cls, problem: Problem, mask: npt.NDArray[np.bool_], weight: Array | None = None
    ) -> HeldOut:
        """Accuracy on the rows in `mask`, each counting its weight."""
        X, y = problem.X[mask], problem.y[mask]
        weight = None if weight is None else weight[mask]

        def score(w: Array, b: Array) -> float:
            scores = X @ w.T + b
            if w.ndim == 2:
                right = np.argmax(scores, axis=1) == y
            else:
                right = np.where(scores >= 0, 1, -1) == y
            return float(np.average(right, weights=weight))

        return cls(mask, score)


@dataclass(frozen=True, eq=False)
class Progress:
    """What a monitor is told after each pass."""

    pass_number: int
    mistakes: int
    updates: int
    loss: float
    norm: float
    score: float | None
    seconds: float
    weights: Callable[[], tuple[Array, Array]]


class Monitor(Protocol):
    """Somebody who watches a run pass by pass."""

    def before_pass(self) -> None: ...

    def after_pass(self, now: Progress) -> bool:
        """True asks to stop."""


def train(
    problem: Problem,
    update: Update,
    schedule: Schedule,
    keep: Keep,
    stop: Stop,
    state: State,
    *,
    record: bool = False,
    held_out: HeldOut | None = None,
    monitor: Monitor | None = None,
) -> tuple[Trace, Array, Array]:
    """Move `state` by `update`, in the order of `schedule`, until `stop`.

    `state.w` of shape (d,) trains two classes, of shape (K, d) the direct multiclass rule.
    Returns the trace and the weights that `keep` keeps; `state` is changed in place and
    can be trained further.
    """
    run = _Run(problem, update, schedule, keep, stop, state, record, held_out)
    best_score, best, kept_pass = -np.inf, None, 0
    scores: list[float] = []
    reason: StopReason | None = None
    stepwise = held_out is not None or monitor is not None or run.eta_changes

    def score() -> float:
        nonlocal best_score, best, kept_pass
        assert held_out is not None
        w, b = run.kept()
        accuracy = held_out.score(w, b)
        if accuracy > best_score:
            best_score, best, kept_pass = accuracy, (w.copy(), b.copy()), run.n_passes
        return accuracy

    while reason is None:
        if stepwise:
            if monitor:
                monitor.before_pass()
            code, accuracy = run.one_epoch(score if held_out is not None else None)
            if accuracy is not None:
                scores.append(accuracy)
        else:
            code = run.all_epochs()
        if code is _core.Code.INTERRUPTED:
            raise KeyboardInterrupt
        reason = REASONS.get(code)
        if monitor and monitor.after_pass(run.progress(scores[-1] if scores else None)):
            reason = reason or StopReason.CALLBACK
        if run.n_passes >= stop.max_iter:
            reason = reason or StopReason.MAX_ITER
    w, b = best if best else run.kept()
    trace = run.trace(reason, np.array(scores) if held_out else None, kept_pass)
    return trace, w, b


class _Run:
    """The machine of one run, and the block of rows it visits."""

    def __init__(
        self,
        problem: Problem,
        update: Update,
        schedule: Schedule,
        keep: Keep,
        stop: Stop,
        state: State,
        record: bool,
        held_out: HeldOut | None,
    ) -> None:
        _check_shapes(problem, keep, state)
        self.problem, self.update, self.keep, self.stop = problem, update, keep, stop
        self.state, self.wants_record = state, record
        self.held_mask = None if held_out is None else held_out.mask
        self.direct = state.w.ndim == 2
        self.start = (state.w.copy(), state.b.copy(), state.visits, state.updates)
        self.minover = isinstance(update.rule, MinOver)
        all_rows = update.mode != "online" or self.minover  # at every step
        self.schedule = Schedule() if all_rows else schedule
        self.eta_changes = not isinstance(update.eta0, (int, float, np.number))
        self.seconds = 0.0
        check_weights(update, problem.sample_weight)
        self._prepare_state()
        self.block = self._block(held_out)
        self.machine = self._machine(held_out)

    def _prepare_state(self) -> None:
        state, update = self.state, self.update
        if self.minover and (state.w.any() or state.b.any() or state.visits):
            raise NotSupportedError(
                "rule='minover' starts from w = 0: its bound on the largest margin counts steps "
                "from there. Use init='zero' and warm_start=False, without coef_init and "
                "intercept_init."
            )
        if isinstance(update.rule, Adaptive) and state.spread.size == 0:
            state.spread = first_variances(update.rule, state.w.shape, update.fit_intercept)
        if self.keep == "average" and state.u.size == 0:  # it counts the visits from here on
            state.u, state.ub, state.visits = np.zeros(state.w.shape), np.zeros(state.b.shape), 0.0
        # the core works on float64; float32 weights are written back after each call
        self.w = np.atleast_2d(state.w).astype(np.float64, copy=False)
        self.b = state.b.astype(np.float64, copy=False)

    def _block(self, held_out: HeldOut | None) -> _core.Block:
        numbers = self.problem.class_numbers() if self.direct else self.problem.y > 0
        y = numbers.astype(np.int32)
        if held_out is not None:
            y[held_out.mask] = -1
        weight = self.problem.sample_weight
        self.n_rows = len(y) if held_out is None else int(np.count_nonzero(~held_out.mask))
        self.size = float(self.n_rows)
        if self._repeats():
            assert weight is not None
            self.size = float((weight if held_out is None else weight[~held_out.mask]).sum())
        return _core.Block(core_rows(self.problem.X), y, weight)

    def _repeats(self) -> bool:
        online = self.update.mode == "online"
        weighted = self.problem.sample_weight is not None
        return self.update.weighting == "repeat" and weighted and online

    def _machine(self, held_out: HeldOut | None, **changes: Any) -> _core.Machine:
        state, stop, update = self.state, self.stop, self.update
        average = self.keep == "average"
        by_tol = stop.tol is not None and not (self.minover and held_out is None)
        watch = (
            stop.cycle
            and self.schedule.fixed
            and (update.moves_by_rows or self.minover)
            and update.constant_eta
        )
        adaptive = isinstance(update.rule, Adaptive)
        settings: dict[str, Any] = {
            "u": np.atleast_2d(state.u) if average else None,
            "ub": state.ub if average else None,
            "variance": state.spread.reshape(len(self.b), -1) if adaptive else None,
            "direct": self.direct,
            "repeat": self._repeats(),
            "round32": state.w.dtype == np.float32,
            "order": ORDERS[self.schedule.kind],
            "seed": self.schedule.seed,
            "pocket": self.keep == "pocket",
            "log_capacity": self._log_capacity(),
            "visits": state.visits,
            "updates": state.updates,
            "max_updates": self._limit(),
            "tol": float(stop.tol) if by_tol and stop.tol is not None else -np.inf,
            "patience": stop.patience,
            "clean": stop.clean and update.only_mistakes_move,
            "watch_cycle": watch,
            "size": self.size,
        }
        rule = core_rule(update, self.problem.n_rows)
        weights = {"w": self.w, "b": self.b}
        return _core.Machine(rule, **weights | settings | changes)

    def _limit(self) -> int:
        """No update is made beyond this many, including those of earlier calls."""
        if self.stop.max_updates is not None:
            return self.stop.max_updates
        if self.keep == "vote":
            return logged(VOTE_BYTES, self.state.w.size + self.state.b.size)
        return NO_LIMIT

    def _log_capacity(self) -> int:
        state, capacity = self.state, 0
        if self.wants_record:
            capacity = logged(RECORD_BYTES, state.w.size + state.b.size)
        if self.keep == "vote":
            capacity = max(self._limit() - state.updates, capacity)
            if 8 * capacity * (state.w.size + state.b.size) > MOST_LOG_BYTES:
                raise ParameterError(
                    f"max_updates={self.stop.max_updates} hyperplanes of {state.w.size} numbers do "
                    "not fit in memory. Lower max_updates, or use keep='average'."
                )
        return capacity

    @property
    def n_passes(self) -> int:
        return self.machine.n_epochs

    def all_epochs(self) -> _core.Code:
        """Epoch after epoch, until there is a reason to stop or max_iter."""
        began = time.perf_counter()
        code = self.machine.epochs(self.block, min(self.stop.max_iter, NO_LIMIT))
        self._after(began, code)
        return code

    def one_epoch(self, score: Callable[[], float] | None) -> tuple[_core.Code, float | None]:
        """One epoch; `score` is asked for the accuracy on held-out rows before the stop tests."""
        began = time.perf_counter()
        if self.eta_changes:
            self.machine.set_etas(self.update.etas(self.n_passes + 1, 1).tolist())
        code = self.machine.visit(self.block)
        if code not in (_core.Code.OVERFLOW, _core.Code.INTERRUPTED):
            code = self.machine.close_epoch(self.block)
        self._after(began, code)
        accuracy = score() if score and code is _core.Code.RUNNING else None
        if code is _core.Code.RUNNING:
            code = self.machine.judge(self.block, None if accuracy is None else -accuracy)
        return code, accuracy

    def _after(self, began: float, code: _core.Code) -> None:
        self.seconds += time.perf_counter() - began
        state = self.state
        if state.w.dtype != np.float64:
            state.w[...] = self.w.reshape(state.w.shape)
            state.b[...] = self.b
        state.visits, state.updates = self.machine.visits, self.machine.updates
        if code is _core.Code.OVERFLOW:
            raise OverflowedError(
                f"Floating-point under-/overflow occurred at epoch #{self.n_passes or 1}: a score "
                f"or a weight left the range of {state.w.dtype}. Scale the data "
                "(sklearn.preprocessing.StandardScaler)"
                + (" or lower eta0." if self.update.rule.has_rate else ".")
            )

    def kept(self) -> tuple[Array, Array]:
        """The weights that `keep` would return now."""
        if self.keep == "pocket":
            w, b, _ = self.machine.pocket
            dtype = self.state.w.dtype
            return w.reshape(self.state.w.shape).astype(dtype), b.astype(dtype)
        return self.state.kept(self.keep)

    def _copied(self) -> tuple[Array, Array]:
        w, b = self.kept()
        return w.copy(), b.copy()

    def progress(self, score: float | None) -> Progress:
        totals = self.machine.totals()
        return Progress(
            self.n_passes,
            int(totals["mistakes"][-1]),
            int(totals["updates"][-1]),
            float(totals["loss"][-1]) / self.size,
            float(totals["norm"][-1]),
            score,
            self.seconds,
            self._copied,
        )

    def trace(self, reason: StopReason, scores: Array | None, kept_pass: int) -> Trace:
        totals = self.machine.totals()
        self.state.mistakes += int(totals["mistakes"].sum())
        if self.keep == "vote":
            self._collect_votes()
        margin = None
        if self.minover:
            lower, upper = self.machine.margin
            margin = MarginInterval(lower, upper, self.update.fit_intercept)
        return Trace(
            reason,
            totals["mistakes"],
            totals["updates"],
            totals["loss"] / self.size,
            totals["norm"],
            self.seconds,
            self.n_rows,
            self._cycle() if reason is StopReason.CYCLE else None,
            self._record(totals["updates"]) if self.wants_record else None,
            scores,
            self.keep,
            kept_pass or self._kept_pass(),
            margin,
        )

    def _kept_pass(self) -> int | None:
        if self.keep == "pocket":
            return int(self.machine.pocket[2])
        return self.n_passes if self.keep == "last" else None

    def _logged_weights(self, log: dict[str, Any]) -> tuple[Array, Array]:
        state = self.state
        w = log["w"].astype(state.w.dtype, copy=False).reshape(-1, *state.w.shape)
        return w, log["b"].astype(state.b.dtype, copy=False)

    def _collect_votes(self) -> None:
        log, (w, b, visits, _) = self.machine.log(), self.start
        before = self.state.votes or Votes(w[None], b[None], np.array([visits]))
        self.state.votes = before.extended(*self._logged_weights(log), log["visit"])

    def _record(self, updates: Array) -> Record:
        log = self.machine.log()
        n = len(log["row"])
        numbers = np.repeat(np.arange(1, len(updates) + 1), updates)
        w0, b0, visits, _ = self.start
        setting = Setting(
            self.problem, (w0, b0), visits, self.update, self.schedule.kind, self.held_mask
        )
        w, b = self._logged_weights(log)
        return Record(
            numbers[:n], log["row"], log["amount"], log["visit"], w, b, int(log["count"]), setting
        )

    def _cycle(self) -> Cycle:
        """Go round once more, counting, and see whether the updates sum to exactly zero."""
        problem, n_classes = self.problem, len(self.state.b)
        length, updates = self.machine.cycle_length, self.machine.cycle_updates
        again = self._machine(
            None, w=self.w.copy(), b=self.b.copy(), u=None, ub=None, tally=True, clean=False,
            tol=-np.inf, watch_cycle=False, max_updates=NO_LIMIT, log_capacity=0, pocket=False,
        )  # fmt: skip
        again.epochs(self.block, length)
        tally = again.tally.reshape(problem.n_rows, -1)
        rows = np.flatnonzero(tally.any(axis=1))
        counts = tally[rows] if self.direct else tally[rows, 0]
        intercept = self.update.fit_intercept
        if not self.direct:
            exact = cancels(problem.X, rows, counts * problem.y[rows], intercept)
        else:
            own = problem.class_numbers()[rows]
            signed = -counts
            signed[np.arange(len(rows)), own] += counts.sum(axis=1)
            exact = all(
                cancels(problem.X, rows, np.ascontiguousarray(signed[:, k]), intercept)
                for k in range(n_classes)
            )
        kind = "no hyperplane" + ("" if intercept else " through the origin")
        kind = (
            kind.replace("no hyperplane", "no set of one hyperplane a class")
            if self.direct
            else kind
        )
        return Cycle(length, updates, exact, rows, counts, kind)


def _check_shapes(problem: Problem, keep: str, state: State) -> None:
    """The compiled loop trusts the shapes it is given."""
    d, k = problem.n_features, len(problem.classes)
    wide = (k, d) if state.w.ndim == 2 else (d,)
    if state.w.shape != wide or state.b.shape != wide[:-1] + (1,) * (2 - len(wide)):
        raise ParameterError(
            f"the state has weights of shape {state.w.shape} and {state.b.shape} for {k} classes "
            f"and {d} features. Give (d,) and (1,), or (classes, d) and (classes,)."
        )
    if state.w.ndim == 1 and k > 2:
        raise ParameterError(
            f"a flat state trains two classes, the problem has {k}. Use problem.versus_rest(k), or "
            "one row of weights per class."
        )
    if state.w.dtype != problem.X.dtype or state.b.dtype != problem.X.dtype:
        raise ParameterError(
            f"the state is {state.w.dtype}, the rows are {problem.X.dtype}. Use one type."
        )
    if keep not in ("last", "average", "vote", "pocket"):
        raise ParameterError(f"keep must be last, average, vote or pocket, got {keep!r}.")
