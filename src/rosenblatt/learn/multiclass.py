"""Multiclass: two classes or more, one against the rest or all at once, and late classes.

Two classes share one hyperplane, whose positive class is the second. More have one each,
class against rest, or, for the direct rule, one state with a row of weights per class.

One against the rest, a class that was never there has had every row so far as a negative
one. `spare` is that run, so that a class which appears late starts where it would stand
had it been known from the first row. For the direct rule it starts at zero.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.problem import Problem, as_labels, check_same_kind, sorted_classes
from rosenblatt.errors import DataError, LabelError
from rosenblatt.learn.keep import Ballot, Keep, State, ballot
from rosenblatt.learn.machine import first_variances
from rosenblatt.learn.options import Options
from rosenblatt.learn.rules import Adaptive
from rosenblatt.learn.schedule import seeds_and_split
from rosenblatt.learn.trace import OneVsRestTrace, Trace
from rosenblatt.learn.training import HeldOut, Monitor, train
from rosenblatt.learn.update import Update
from rosenblatt.learn.weights import row_weights, start_weights

Array = npt.NDArray[Any]
T = TypeVar("T")


@dataclass
class Standing:
    """Where all hyperplanes of a model stand: enough to go on training or to predict."""

    classes: Array
    counts: Array  # rows seen of each class
    states: list[State]
    spare: State | None = None  # None: the classes are closed
    keep: Keep = "last"  # which weights were given back last

    @classmethod
    def begin(
        cls,
        problem: Problem,
        options: Options,
        random_state: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        open_ended: bool = False,
    ) -> Standing:
        """Before the first visit."""
        if len(problem.classes) < 2 and not open_ended:
            raise LabelError(
                "The number of classes has to be greater than one; got 1 class "
                f"({problem.classes.tolist()[0]!r}). Add another class."
            )
        w, b = start_weights(
            options.init, coef_init, intercept_init, problem, random_state, options.update,
            options.direct and len(problem.classes) > 2,
        )  # fmt: skip
        if options.direct and len(problem.classes) > 2:
            states = [State.at(w, b, w.dtype)]
        else:
            states = [State.at(w[k], b[k : k + 1], w.dtype) for k in range(len(b))]
        spare = State.at(np.zeros_like(w[0]), np.zeros(1), w.dtype) if open_ended else None
        return cls(problem.classes, np.zeros(len(problem.classes), np.int64), states, spare)

    def copy(self) -> Standing:
        """A copy that can be trained without touching this one."""
        spare = None if self.spare is None else self.spare.copy()
        return replace(self, states=[s.copy() for s in self.states], spare=spare)

    def check_classes(self, classes: Any) -> None:
        """Later calls may name the classes again, but not others."""
        if classes is None:
            return
        named = sorted_classes(as_labels(classes, name="classes"), "classes")
        if not np.array_equal(named, self.classes):
            raise LabelError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes!r}. Leave classes out on later calls."
            )

    def adopt(self, coef: Any, intercept: Any) -> None:
        """Go on from weights that the user may have edited."""
        coef = np.asarray(coef.toarray() if sp.issparse(coef) else coef)
        for k, state in enumerate(self.states):
            rows = slice(None) if state.w.ndim == 2 else k
            if coef[rows].shape != state.w.shape:
                raise DataError(
                    f"coef_ has shape {coef.shape}, which is not what this model has. Set it back "
                    "or call fit."
                )
            state.w = np.array(coef[rows], dtype=state.w.dtype, order="C")
            own = slice(None) if state.w.ndim == 2 else slice(k, k + 1)
            state.b = np.array(intercept[own], dtype=state.b.dtype)

    def admit(self, labels: Array, options: Options) -> None:
        """Make room for the classes among `labels` that were not there before."""
        check_same_kind(labels, self.classes)
        if self.spare is None:
            strangers = sorted(set(labels.tolist()) - set(self.classes.tolist()))[:5]
            if strangers:
                raise LabelError(
                    f"y holds labels {strangers} that are not among the classes "
                    f"{self.classes[:10].tolist()}. fit, and classes named in the first "
                    "partial_fit, close the list; start with partial_fit without classes to let "
                    "them appear."
                )
            return
        new = np.unique(np.concatenate([self.classes, labels]))
        if len(new) == len(self.classes):
            return
        old = self.classes.tolist()
        counts = dict(zip(old, self.counts.tolist(), strict=True))
        each = self._each(options.direct)
        rows = [each.get(label) for label in new.tolist()]
        if len(new) == 2:
            self.states = [rows[1] or self.spare.copy()]
        elif options.direct:
            self.states = [_stacked(rows, self.states[0], options.update)]
        else:
            self.states = [row or self.spare.copy() for row in rows]
        self.classes = new
        self.counts = np.array([counts.get(label, 0) for label in new.tolist()])

    def _each(self, direct: bool) -> dict[Any, State]:
        """One state per class, against the rest."""
        labels = self.classes.tolist()
        if len(labels) == 1:
            assert self.spare is not None
            return {labels[0]: self.spare.mirrored()}
        if len(labels) == 2:
            return {labels[0]: self.states[0].mirrored(), labels[1]: self.states[0]}
        if direct:
            return {label: self.states[0].row(k) for k, label in enumerate(labels)}
        return dict(zip(labels, self.states, strict=True))

    def train(
        self,
        problem: Problem,
        options: Options,
        class_weight: Array | None,
        random_state: Any,
        *,
        n_jobs: int | None = None,
        hold_out: Callable[[], Array | None] = lambda: None,
        monitor_for: Callable[[int | None], Monitor | None] = lambda k: None,
    ) -> tuple[Trace | OneVsRestTrace, Array, Array]:
        """Train on `problem`; the trace, and the weights that `options.keep` keeps.

        `hold_out` gives the mask of rows to keep aside for early stopping, or None.
        """

        def run(
            one: Problem, state: State, weight: Array | None, seed: int, k: int | None
        ) -> tuple[Trace, Array, Array]:
            return train(
                replace(one, sample_weight=weight),
                options.update,
                options.schedule(seed),
                options.keep,
                options.stop,
                state,
                record=options.record,
                held_out=None if held is None else HeldOut.of(one, held, problem.sample_weight),
                monitor=monitor_for(k),
            )

        n_classes = len(problem.classes)
        one_run = n_classes <= 2 or options.direct
        seeds, held = seeds_and_split(random_state, 1 if one_run else n_classes, hold_out)
        if one_run:
            weight = row_weights(problem, class_weight)
            trace, w, b = run(problem, self.states[0], weight, seeds[0], None)
            result: tuple[Any, Array, Array] = trace, np.atleast_2d(w), b
        else:

            def class_against_rest(k: int) -> tuple[Trace, Array, Array]:
                weight = row_weights(problem, class_weight, versus=k)
                return run(problem.versus_rest(k), self.states[k], weight, seeds[k], k)

            done = _in_threads(class_against_rest, n_classes, _threads(n_jobs))
            traces, ws, bs = zip(*done, strict=True)
            result = OneVsRestTrace(problem.classes, traces), np.stack(ws), np.concatenate(bs)
        if self.spare is not None:
            nobody = replace(problem.versus_rest(0), y=np.full(problem.n_rows, -1, np.int8))
            run(nobody, self.spare, problem.sample_weight, seeds[0], None)
            if n_classes == 1:
                self.states = [self.spare.mirrored()]
                w, b = self.states[0].kept(options.keep)
                result = result[0], w[None], b
        return result

    def weights(self) -> tuple[Array, Array]:
        """The last weights of all hyperplanes: W with a row for each, and b."""
        rows = [np.atleast_2d(state.w) for state in self.states]
        return np.concatenate(rows), np.concatenate([state.b for state in self.states])

    def ballots(self) -> tuple[Ballot, ...]:
        """The votes as they stand, for keep="vote"."""
        return tuple(ballot(state) for state in self.states)


def _stacked(rows: list[State | None], like: State, update: Update) -> State:
    """One state with a row per class; a class without one starts at zero."""
    d = like.w.shape[-1]
    wide = State.at(np.zeros((len(rows), d)), np.zeros(len(rows)), like.w.dtype)
    wide.visits, wide.updates, wide.mistakes = like.visits, like.updates, like.mistakes
    if like.u.size:
        wide.u, wide.ub = np.zeros((len(rows), d)), np.zeros(len(rows))
    if isinstance(update.rule, Adaptive):
        wide.spread = first_variances(update.rule, wide.w.shape, update.fit_intercept)
    for k, row in enumerate(rows):
        if row is not None:
            wide.w[k], wide.b[k] = row.w, row.b[0]
            if row.spread.size:
                wide.spread[k] = row.spread
            if like.u.size:
                wide.u[k], wide.ub[k] = row.u, row.ub[0]
    return wide


def _in_threads(job: Callable[[int], T], n: int, threads: int) -> list[T]:
    """job(0), ..., job(n - 1); the kernels release the GIL."""
    if threads == 1:
        return [job(k) for k in range(n)]
    pool = ThreadPoolExecutor(threads)
    try:
        return list(pool.map(job, range(n)))
    finally:
        pool.shutdown(cancel_futures=True)


def _threads(n_jobs: int | None) -> int:
    """scikit-learn's meaning: None is 1, -1 is all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
