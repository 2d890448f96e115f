"""Run: what a situation leads to, visit by visit, computed by the engine.

Every segment is trained by :func:`rosenblatt.learn.in_memory.train`, on from the state that the one
before left. The engine trains whole passes; a segment that is cut in the middle of one is q passes
over all n rows and one pass over the r rows that the next would have begun with. In the given order
the next segment goes on with the row after the last one visited: its rows are rolled.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rosenblatt.data.problem import Problem
from rosenblatt.learn.in_memory import train
from rosenblatt.learn.multiclass import check_start
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.state import State
from rosenblatt.learn.trace import StopReason, Trace
from rosenblatt.show.lab import limits
from rosenblatt.show.lab.choices import first_weights, seed_of, settings_of
from rosenblatt.show.lab.orders import visited
from rosenblatt.show.lab.situation import Segment, Situation

Array = npt.NDArray[Any]
LABELS = np.array([-1, 1])


@dataclass(frozen=True, eq=False)
class Call:
    """One call of the engine: the rows in their order, and what it was asked."""

    segment: int
    rows: Array
    settings: TrainingSettings
    seed: int


@dataclass(frozen=True, eq=False)
class Stretch:
    """What one segment did: visits `begin` + 1 to `end` of the run."""

    segment: Segment
    settings: TrainingSettings
    begin: int
    end: int
    since: int  # the visit after which its average or its votes begin
    kept: tuple[Array, Array]  # given back by the engine at `end`
    carried: tuple[str, ...]  # what of the state went on into it, besides the weights

    @property
    def keep(self) -> str:
        return str(self.settings.keep)

    @property
    def batch(self) -> bool:
        return self.settings.mode != "online"


@dataclass(frozen=True, eq=False)
class Run:
    """A whole run.

    Attributes
    ----------
    situation : Situation
    stretches : one for each segment
    row : int array (T,)
        The row of each visit, -1 for a batch step.
    visit : int array (K + 1,)
        The visit of each update, from 1; 0 for the start.
    amount : array (K + 1,)
        The multiple of the row that was added, as the engine's record has it.
    w, b : arrays (K + 1, 2) and (K + 1,)
        The weights after each update.
    ends, mistakes : int arrays
        Of each pass: its last visit, and how many mistakes it counted.
    reason, told : why the run ended, and what its cycle proves, if there is one
    cut : what a limit of the lab left out, or nothing
    trace : of the last call of the engine
    calls : of the engine, so that the run can be made again
    """

    situation: Situation
    stretches: tuple[Stretch, ...]
    row: Array
    visit: Array
    amount: Array
    w: Array
    b: Array
    ends: Array
    mistakes: Array
    reason: str
    sentence: str
    cut: str | None
    trace: Trace | None
    calls: tuple[Call, ...]

    @property
    def total(self) -> int:
        return len(self.row)

    @property
    def updates(self) -> int:
        return len(self.visit) - 1

    @property
    def nbytes(self) -> int:
        """About how much memory it holds, what is computed later included."""
        return 200_000 + 5 * self.row.nbytes + 200 * len(self.visit) + 64 * self.situation.n_rows

    @cached_property
    def problem(self) -> Problem:
        return Problem(self.situation.X, self.situation.y, LABELS)

    def update_at(self, visits: Any) -> Array:
        """The number of updates made in so many visits."""
        return np.asarray(np.searchsorted(self.visit, visits, side="right") - 1)

    def stretch_at(self, visits: Any) -> Array:
        """The segment that a visit belongs to; 0 for the start."""
        begins = np.array([s.begin for s in self.stretches])
        return np.asarray(np.maximum(np.searchsorted(begins, visits, side="left") - 1, 0))


def run_of(situation: Situation) -> Run:
    """Train, segment by segment."""
    return _Course(situation).whole()


@dataclass
class _Course:
    """A run in the making."""

    situation: Situation
    rows: list[Array] = field(default_factory=list)
    visit: list[Array] = field(default_factory=list)
    amount: list[Array] = field(default_factory=list)
    w: list[Array] = field(default_factory=list)
    b: list[Array] = field(default_factory=list)
    ends: list[Array] = field(default_factory=list)
    mistakes: list[Array] = field(default_factory=list)
    done: int = 0
    updates: int = 0
    next_row: int = 0
    trace: Trace | None = None
    calls: list[Call] = field(default_factory=list)
    segment: int = 0
    carries: tuple[str, ...] = ()
    cut: str | None = None

    def whole(self) -> Run:
        situation, segments = self.situation, self.situation.segments
        self.problem = Problem(situation.X, situation.y, LABELS)
        settings = settings_of(situation, segments[0])
        self.state = first_weights(situation, settings, self.problem)
        self.w.append(self.state.w.copy())
        self.b.append(self.state.b.copy())
        self.visit.append(np.zeros(1, dtype=np.int64))
        self.amount.append(np.zeros(1))
        stretches: list[Stretch] = []
        since = 0
        for k, segment in enumerate(segments):
            last, self.segment = k + 1 == len(segments), k
            goal = None if last else max(segments[k + 1].begin, self.done)
            settings = settings_of(situation, segment, situation.passes)
            if k:
                since = self._carried(stretches[-1], settings)
            begin = self.done
            kept = self._segment(segment, settings, goal)
            stretches.append(
                Stretch(segment, settings, begin, self.done, since, kept, self.carries)
            )
        return self._run(tuple(stretches))

    def _carried(self, before: Stretch, settings: TrainingSettings) -> int:
        """The state that the next segment begins with; the visit since which it averages."""
        old, earlier = self.state, before.settings
        check_start(settings, old.w, old.b)
        self.state = State.at(old.w, old.b)
        rules = earlier.rule, settings.rule
        same_rule = type(rules[0]) is type(rules[1]) and _covariance(rules[0]) == _covariance(
            rules[1]
        )
        self.carries = ()
        if same_rule:
            self.state.variance, self.state.updates = old.variance, old.updates
            self.carries = ("variance", "updates")
        if earlier.keep == settings.keep and settings.keep in ("average", "vote"):
            self.state.u, self.state.ub, self.state.visits = old.u, old.ub, old.visits
            self.state.votes = old.votes
            self.carries += ("u", "ub", "visits", "votes")
            return before.since
        return self.done

    def _segment(
        self, segment: Segment, settings: TrainingSettings, goal: int | None
    ) -> tuple[Array, Array]:
        """Train until `goal` visits are done in all, or to the end."""
        n, kept = self.situation.n_rows, (self.state.w[0].copy(), self.state.b.copy())
        all_rows = settings.mode != "online"
        if n == 0 or goal == self.done:
            return kept
        if settings.rule.needs_all_rows:
            return self._minover(settings, goal)
        roll = self.next_row if segment.order == "order" and not all_rows else 0
        seed = seed_of(segment)
        each = 1 if all_rows else n
        room = limits.VISITS - self.done
        wanted = self.situation.passes if goal is None else (goal - self.done) // each
        passes = min(wanted, room // each)
        if goal is None and passes < wanted:
            self.cut = f"the lab shows the first {limits.VISITS:,} visits of a run at most"
        order = np.arange(n) if roll == 0 else np.roll(np.arange(n), -roll)
        reason, began = None, self.done
        if passes:
            kept = self._call(replace(settings, max_iter=passes), seed, order, n)
            reason = cast(Trace, self.trace).stop_reason
        left = 0 if goal is None else goal - self.done
        if reason in (None, StopReason.MAX_ITER) and left > 0 and not all_rows:
            visits = visited(segment.order, n, seed, self.done - began + left)
            part = order[visits[self.done - began :]]
            rest = replace(settings, order="order", max_iter=1, clean=False, cycle=False)
            kept = self._call(rest, 0, part, left)
        return kept

    def _minover(self, settings: TrainingSettings, goal: int | None) -> tuple[Array, Array]:
        order = np.arange(self.situation.n_rows)
        most = None if goal is None else goal - self.done
        return self._call(replace(settings, order="order"), 0, order, 0, most)

    def _call(
        self, settings: TrainingSettings, seed: int, order: Array, n: int, most: int | None = None
    ) -> tuple[Array, Array]:
        """One call of the engine on the rows in `order`; n visits a pass, 0 if they are steps."""
        state, done = self.state, self.done
        X, y = self.situation.X, self.situation.y
        problem = Problem(np.ascontiguousarray(X[order]), y[order], LABELS)
        fresh = settings.keep == "average" and state.u is None
        base, before = (0.0 if fresh else float(state.visits[0])), int(state.updates[0])
        room = limits.UPDATES - self.updates
        allowed = room if most is None else min(room, most)
        settings = replace(settings, max_updates=before + allowed)
        self.calls.append(Call(self.segment, order, settings, seed))
        trace, w, b = train(problem, settings, state=state, seed=seed)
        record = trace.record
        assert record is not None
        made = int(state.visits[0] - base)
        self.trace, self.done = trace, done + made
        self.updates += len(record)
        self.visit.append((record.visit - base).astype(np.int64) + done + 1)
        self.amount.append(record.amount)
        self.w.append(record.w)
        self.b.append(record.b[:, 0])
        all_rows = settings.mode != "online"
        if all_rows:
            self.rows.append(np.full(made, -1, dtype=np.int32))
        elif n == 0:
            self.rows.append(order[record.row].astype(np.int32))
        else:
            rows = order[visited(settings.order, len(order), seed, made)]
            self.rows.append(rows.astype(np.int32))
            self.next_row = int(rows[-1] + 1) % self.situation.n_rows if made else self.next_row
        if n == 0:  # steps, each of which looks at all rows
            self.ends.append(np.array([self.done]))
            self.mistakes.append(np.array([trace.n_mistakes]))
        else:
            each = 1 if all_rows else n
            ends = done + np.minimum(np.arange(1, trace.n_epochs + 1) * each, made)
            self.ends.append(ends)
            self.mistakes.append(trace.mistakes)
        full = trace.stop_reason is StopReason.MAX_UPDATES
        if full and allowed == room:
            self.cut = f"the lab shows the first {limits.UPDATES:,} updates of a run at most"
        return w.copy(), b.copy()

    def _run(self, stretches: tuple[Stretch, ...]) -> Run:
        trace = self.trace
        reason, sentence = "max_iter", "no visit was made"
        if trace is not None:
            reason, sentence = str(trace.stop_reason), trace.stop_reason.sentence
            if trace.cycle is not None:
                sentence = str(trace.cycle)
            rule = stretches[-1].settings.rule
            if rule.needs_all_rows and trace.stop_reason is StopReason.SEPARATED:
                share = 1 - getattr(rule, "gap", 0.0)
                sentence = f"its margin is proven to be {share:.4g} of the largest or more"
        if self.situation.n_rows == 0:
            reason, sentence = "empty", "there are no points yet"
        empty = np.empty(0, dtype=np.int64)

        def joined(parts: list[Array]) -> Array:
            return np.concatenate(parts) if parts else empty

        return Run(
            self.situation, stretches, joined(self.rows), joined(self.visit), joined(self.amount),
            joined(self.w), joined(self.b), joined(self.ends), joined(self.mistakes),
            reason, sentence, self.cut, trace, tuple(self.calls),
        )  # fmt: skip


def _covariance(rule: Any) -> str:
    return str(getattr(rule, "covariance", ""))
