"""Training: a Problem goes through a rule in the order of a schedule and yields a Trace."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.problem import Problem
from rosenblatt.errors import OverflowedError, ParameterError
from rosenblatt.learn import kernels
from rosenblatt.learn.cycle import cancels
from rosenblatt.learn.keep import (
    RECORD_BYTES,
    VOTE_BYTES,
    Keep,
    State,
    Votes,
    empty_log,
    keeper_for,
    logged,
)
from rosenblatt.learn.prepared import Prepared
from rosenblatt.learn.rules import MinOver
from rosenblatt.learn.schedule import Schedule
from rosenblatt.learn.shortcuts import NO_GRAM, Choice
from rosenblatt.learn.sketch import Sketching, no_sketch
from rosenblatt.learn.trace import Cycle, Record, Setting, StopReason, Trace
from rosenblatt.learn.update import Update

Array = npt.NDArray[Any]
NO_LIMIT = np.iinfo(np.int64).max
SECONDS_PER_CALL = 0.2  # how long the compiled loop may run before Ctrl-C is heard
MOST_PASSES_PER_CALL = 4096
COMPILED: set[tuple[Any, ...]] = set()  # the kinds of data this process has kernels for

REASONS = {
    kernels.SEPARATED: StopReason.SEPARATED,
    kernels.CYCLE: StopReason.CYCLE,
    kernels.NO_IMPROVEMENT: StopReason.NO_IMPROVEMENT,
    kernels.FULL: StopReason.MAX_UPDATES,
}


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
    best_score, best, kept_pass, stalled = -np.inf, None, 0, 0
    scores: list[float] = []
    reason: StopReason | None = None
    while reason is None:
        if monitor:
            monitor.before_pass()
        code = run.advance(1 if held_out or monitor else None)
        if code == kernels.OVERFLOW:
            raise OverflowedError(
                f"Floating-point under-/overflow occurred at epoch #{run.n_passes}: a score or a "
                f"weight left the range of {state.w.dtype}. Scale the data "
                "(sklearn.preprocessing.StandardScaler)"
                + (" or lower eta0." if update.rule.has_rate else ".")
            )
        reason = REASONS.get(code)
        if held_out:
            w, b = run.kept()
            score = held_out.score(w, b)
            scores.append(score)
            gained = stop.tol is None or score >= best_score + stop.tol
            stalled = 0 if gained else stalled + 1
            if score > best_score:
                best_score, best, kept_pass = score, (w.copy(), b.copy()), run.n_passes
            if stalled >= stop.patience:
                if run.prepared.slower():
                    stalled = 0
                else:
                    reason = reason or StopReason.NO_IMPROVEMENT
        if monitor and monitor.after_pass(run.progress(scores[-1] if scores else None)):
            reason = reason or StopReason.CALLBACK
        if run.n_passes >= stop.max_iter:
            reason = reason or StopReason.MAX_ITER
    w, b = best if best else run.kept()
    trace = run.trace(reason, np.array(scores) if held_out else None, kept_pass)
    return trace, w, b


class _Run:
    """The arrays of one run, and the calls into the compiled loop."""

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
        all_rows = update.mode != "online" or isinstance(update.rule, MinOver)  # at every step
        self.schedule = Schedule() if all_rows else schedule
        self.tapes: list[kernels.Tape] = []
        self.prepared = Prepared(update, problem, state)
        self.n_passes, self.per_call, self.seconds = 0, 1, 0.0
        self.run = self._arrays(held_out)
        self.compile_seconds = self._compile()

    def _compile(self) -> float:
        """Compile, or load from the cache, apart from the passes; once for each kind of data."""
        rule = self.prepared.rule(1, 1)
        kind = self._kind(rule, self.run.gram is not NO_GRAM)
        if kind in COMPILED:
            return 0.0
        began = time.perf_counter()
        kernels.passes(self.run, rule, 0)
        COMPILED.add(kind)
        return time.perf_counter() - began

    def _kind(self, rule: Any, kept: bool) -> tuple[Any, ...]:
        target, rows = self.run.target, self.run.rows
        return (type(rule), kept, target.y.dtype, *(part.dtype for part in rows))

    def _arrays(self, held_out: HeldOut | None) -> kernels.Run:
        problem, state, stop = self.problem, self.state, self.stop
        X = problem.X
        if sp.issparse(X):
            rows: Any = kernels.Sparse(*map(_read_only, (X.indptr, X.indices, X.data)))
        else:
            rows = kernels.Dense(_read_only(X))
        y = problem.class_numbers() if self.direct else problem.y
        if held_out is not None:
            y = np.where(held_out.mask, -1 if self.direct else 0, y).astype(y.dtype)
        weight = np.empty(0) if problem.sample_weight is None else problem.sample_weight
        repeated = self.update.weighting == "repeat" and weight.size > 0
        self.n_rows = len(y) if held_out is None else int(np.count_nonzero(~held_out.mask))
        self.size = float(self.n_rows)
        if repeated:
            self.size = float((weight if held_out is None else weight[~held_out.mask]).sum())
        minover = isinstance(self.update.rule, MinOver)
        watch = (
            stop.cycle
            and self.schedule.fixed
            and (self.update.moves_by_rows or minover)
            and self.update.constant_eta
        )
        by_loss = stop.tol is not None and held_out is None and not minover
        flat = state.w.reshape(-1)
        single = self.update.mode == "online" and self.update.moves_by_rows and not self.direct
        bare = self.keep in ("last", "average") and not self.wants_record
        possible = single and bare and not repeated
        self.choice = Choice(problem, y, self.update.fit_intercept, possible)
        self.sketching = Sketching(
            rows, self.schedule.kind == "order", single and not repeated, stop.max_iter
        )
        return kernels.Run(
            rows,
            kernels.Target(y, weight),
            _model(state),
            self.schedule.order(len(y)),
            keeper_for(self.keep, state, np.inf),
            self._log(),
            kernels.Stop(
                self._limit(),
                float(stop.tol) if by_loss and stop.tol is not None else -np.inf,
                stop.patience,
                stop.clean and self.update.only_mistakes_move,
                self.update.mode != "online",
                self.size,
                flat.copy() if watch else flat[:0],
                state.b.copy(),
                np.array([state.updates, 0, 1, 0, state.updates], dtype=np.int64),
                np.array([np.inf]),
            ),
            self._tape(0),
            np.empty(0),
            self.choice.gram,
            self.sketching.sketch,
        )

    def _limit(self) -> int:
        """No update is made beyond this many, those of earlier calls counted."""
        if self.stop.max_updates is not None:
            return self.stop.max_updates
        if self.keep == "vote":
            return logged(VOTE_BYTES, self.state.w.size + self.state.b.size)
        return NO_LIMIT

    def _log(self) -> kernels.Log:
        state, capacity = self.state, 0
        if self.wants_record:
            capacity = logged(RECORD_BYTES, state.w.size + state.b.size)
        if self.keep == "vote":
            capacity = max(self._limit() - state.updates, capacity)
        try:
            return empty_log(capacity, state.w, state.b)
        except (MemoryError, ValueError) as e:
            raise ParameterError(
                f"max_updates={self.stop.max_updates} hyperplanes of {state.w.size} numbers do not "
                "fit in memory. Lower max_updates, or use keep='average'."
            ) from e

    @staticmethod
    def _tape(n: int) -> kernels.Tape:
        whole = np.zeros(n, dtype=np.int64)
        return kernels.Tape(whole, whole.copy(), np.zeros(n), np.zeros(n))

    def advance(self, n: int | None) -> int:
        """One call into the compiled loop, of n passes or of about SECONDS_PER_CALL."""
        n = min(n or self.per_call, self.stop.max_iter - self.n_passes)
        tape, rule = self._tape(n), self.prepared.rule(self.n_passes + 1, n)
        began = time.perf_counter()
        done, code = kernels.passes(self.run._replace(tape=tape), rule, n)
        elapsed = time.perf_counter() - began
        self.seconds += elapsed
        self.n_passes += done
        self.tapes.append(kernels.Tape(*(column[:done] for column in tape)))
        if code == kernels.NO_IMPROVEMENT and self.prepared.slower():
            self.run.stop.counters[kernels.STALLED] = 0
            code = kernels.RUNNING
        if elapsed < SECONDS_PER_CALL / 2:
            self.per_call = min(2 * self.per_call, MOST_PASSES_PER_CALL)
        elif elapsed > SECONDS_PER_CALL:
            self.per_call = max(1, self.per_call // 2)
        self._remember()
        ready = self._kind(rule, True) in COMPILED
        gram = self.choice.after(tape.updates[:done], self.seconds, ready)
        if gram is not self.run.gram:
            self.run = self.run._replace(gram=gram)
            self.compile_seconds += self._compile()
        began = time.perf_counter()
        sketch = self.sketching.after(tape.updates[:done])
        if sketch is not self.run.sketch:
            self.run = self.run._replace(sketch=sketch)
        self.seconds += time.perf_counter() - began
        return int(code)

    def _remember(self) -> None:
        state = self.state
        state.visits = float(self.run.keeper.stats[kernels.VISITS])
        state.updates = int(self.run.stop.counters[kernels.UPDATES])

    def kept(self) -> tuple[Array, Array]:
        """The weights that `keep` would give back now."""
        if self.keep == "pocket":
            return self.run.keeper.best_w.reshape(self.state.w.shape), self.run.keeper.best_b
        return self.state.kept(self.keep)

    def _copied(self) -> tuple[Array, Array]:
        w, b = self.kept()
        return w.copy(), b.copy()

    def progress(self, score: float | None) -> Progress:
        last = self.tapes[-1]
        return Progress(
            self.n_passes,
            int(last.mistakes[-1]),
            int(last.updates[-1]),
            float(last.loss[-1]) / self.size,
            float(last.norm[-1]),
            score,
            self.seconds,
            self._copied,
        )

    def trace(self, reason: StopReason, scores: Array | None, kept_pass: int) -> Trace:
        tape = self.tapes[0]
        if len(self.tapes) > 1:
            tape = kernels.Tape(*map(np.concatenate, zip(*self.tapes, strict=True)))
        self.state.mistakes += int(tape.mistakes.sum())
        if self.keep == "vote":
            self._collect_votes()
        margin = self.prepared.margin()  # before a cycle goes round once more
        return Trace(
            reason,
            tape.mistakes,
            tape.updates,
            tape.loss / self.size,
            tape.norm,
            self.seconds,
            self.compile_seconds,
            self.n_rows,
            self._cycle() if reason is StopReason.CYCLE else None,
            self._record(tape) if self.wants_record else None,
            scores,
            self.keep,
            kept_pass or self._kept_pass(),
            margin,
        )

    def _kept_pass(self) -> int | None:
        if self.keep == "pocket":
            return int(self.run.keeper.stats[kernels.BEST_PASS])
        return self.n_passes if self.keep == "last" else None

    def _collect_votes(self) -> None:
        log, (w, b, visits, _) = self.run.log, self.start
        n = min(int(log.count[0]), len(log.index))
        before = self.state.votes or Votes(w[None], b[None], np.array([visits]))
        planes = log.w[:n].reshape(-1, *self.state.w.shape)
        self.state.votes = before.extended(planes, log.b[:n], log.visit[:n])

    def _record(self, tape: kernels.Tape) -> Record:
        log = self.run.log
        n = min(int(log.count[0]), len(log.index))
        numbers = np.repeat(np.arange(1, len(tape.updates) + 1), tape.updates)
        row, amount, visit, w, b = (
            c[:n].copy() for c in (log.index, log.step, log.visit, log.w, log.b)
        )
        w = w.reshape(-1, *self.state.w.shape)
        w0, b0, visits, _ = self.start
        setting = Setting(
            self.problem, (w0, b0), visits, self.update, self.schedule.kind, self.held_mask
        )
        return Record(numbers[:n], row, amount, visit, w, b, int(log.count[0]), setting)

    def _cycle(self) -> Cycle:
        """Go round once more, counting, and see whether the updates sum to exactly zero."""
        counters, problem = self.run.stop.counters, self.problem
        length = int(counters[kernels.LENGTH])
        updates = int(counters[kernels.UPDATES] - counters[kernels.UPDATES_AT_SAVE])
        n_classes = len(self.state.b)
        copy = replace(self.state, w=self.state.w.copy(), b=self.state.b.copy())
        run = self.run._replace(
            model=_model(copy),
            keeper=keeper_for("last", copy, 0.0),
            log=empty_log(0, copy.w, copy.b),
            stop=self.run.stop._replace(
                max_updates=NO_LIMIT,
                tol=-np.inf,
                clean=False,
                saved_w=copy.w.reshape(-1)[:0],
                counters=counters.copy(),
            ),
            tape=self._tape(length),
            gram=NO_GRAM,
            sketch=no_sketch(),
            tally=np.zeros(problem.n_rows * (n_classes if self.direct else 1)),
        )
        kernels.passes(run, self.prepared.rule(self.n_passes + 1, length), length)
        tally = run.tally.reshape(problem.n_rows, -1)
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


def _model(state: State) -> kernels.Model:
    return kernels.Model(
        state.w, state.b, state.w.reshape(-1), state.w.astype(np.float64, copy=False)
    )


def _read_only(array: Array) -> Array:
    """A view that cannot be written to, so that memory maps compile no second kernel."""
    view = array.view()
    view.flags.writeable = False
    return view
