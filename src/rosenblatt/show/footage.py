"""Footage: the run a record tells of, update by update, in numbers for a picture.

Frame k is the state after k updates; frame 0 is the start. Let (w_k, b_k) be its weights and
(x, y) the example of update k. The frame knows the example's margin before and after,
y (w_{k-1}.x + b_{k-1}) and y (w_k.x + b_k), and the counters at that visit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.problem import Problem
from rosenblatt.errors import DataError, NotSupportedError, ParameterError
from rosenblatt.learn.trace import OneVsRestTrace, Record, Setting, StopReason, Trace
from rosenblatt.text import plural

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Footage:
    """All frames of a run: K updates give K + 1 of them.

    Attributes
    ----------
    trace, record, setting, problem : what it was made from
    w : array (K + 1, d), b : array (K + 1,)
    row : int array (K + 1,)
        The example of the update; -1 at the start and for a batch step.
    before, after : arrays (K + 1,)
        Its margin, NaN where there is no one example.
    epoch, visit, mistakes : arrays (K + 1,)
        Counters after the update; 0 at the start.
    x : array (K + 1, d)
        The example itself, zeros where there is none.
    """

    trace: Trace
    record: Record
    setting: Setting
    problem: Problem
    w: Array
    b: Array
    row: Array
    before: Array
    after: Array
    epoch: Array
    visit: Array
    mistakes: Array
    x: Array

    @classmethod
    def of(cls, trace: Any, X: Any = None, y: Any = None) -> Footage:
        """The frames of `trace`, on the rows it remembers or on X and y given again."""
        record, setting = _recorded(trace)
        problem = _rows(setting, X, y)
        n_updates, d = record.w.shape
        if problem.n_features != d:
            raise DataError(
                f"X has {problem.n_features} features, the run had {d}. Give the rows of the run."
            )
        w0, b0 = setting.start
        w = np.concatenate([w0[None], record.w]).astype(np.float64)
        b = np.concatenate([b0, record.b[:, 0]]).astype(np.float64)
        row = np.concatenate([[-1], record.row])
        if (row >= problem.n_rows).any():
            raise DataError(
                f"the run visited row {row.max()}, X has {problem.n_rows} rows. Give the rows of "
                "the run, in the same order."
            )
        x = np.zeros((n_updates + 1, d))
        one = row >= 0
        some = problem.X[row[one]]
        x[one] = some.toarray() if sp.issparse(some) else some
        amount = np.concatenate([[0.0], record.amount])
        if setting.settings.adds_rows:
            _check_steps(w, x, amount, one, problem)
        before, after = _margins(w, b, x, amount, problem, setting, one, row)
        started = setting.visits if record.visit[0] >= setting.visits else 0.0
        return cls(
            trace,
            record,
            setting,
            problem,
            w,
            b,
            row,
            before,
            after,
            np.concatenate([[0], record.epoch]),
            np.concatenate([[0.0], record.visit - started + 1.0]),
            _mistakes(trace, record, setting, before, problem.y[row]),
            x,
        )

    def __len__(self) -> int:
        return len(self.row)

    @property
    def batch(self) -> bool:
        return self.setting.settings.mode != "online"

    def averages(self) -> tuple[Array, Array] | None:
        """The mean of the weights after each visit so far, where that is what the run keeps.

        Frame k counts the visits that its weights survived; with V visits up to the next
        update it is (1 / V) sum_j n_j (w_j, b_j), n_j the visits after which w_j stood.
        """
        trace, setting = self.trace, self.setting
        if trace.keep != "average" or setting.settings.penalty is not None or setting.visits:
            return None
        until = np.append(self.record.visit, self.record.visit[-1] + 1.0)
        whole = trace.stop_reason is not StopReason.MAX_UPDATES
        if self.record.complete and whole and setting.settings.weighting == "scale":
            until[-1] = trace.n_epochs * (1 if self.batch else trace.n_rows)
        stood = np.diff(until, prepend=0.0)
        visits = np.maximum(until, 1.0)
        mean_w = np.cumsum(stood[:, None] * self.w, axis=0) / visits[:, None]
        mean_b = np.cumsum(stood * self.b) / visits
        none_yet = until == 0
        mean_w[none_yet], mean_b[none_yet] = self.w[none_yet], self.b[none_yet]
        return mean_w, mean_b

    def cosines(self, w: Array, b: float) -> Array:
        """The cosine between each frame's weights and (w, b), the offset counted if trained."""
        mine, other = self.w, np.asarray(w, dtype=np.float64)
        if self.setting.settings.fit_intercept:
            mine, other = np.column_stack([mine, self.b]), np.append(other, float(b))
        lengths = np.linalg.norm(mine, axis=1) * np.linalg.norm(other)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(lengths > 0, np.clip(mine @ other / lengths, -1, 1), np.nan)

    def came_back(self) -> tuple[int, int] | None:
        """The two frames with the same weights, bit for bit, that a cycle was seen by."""
        cycle = self.trace.cycle
        if cycle is None or not self.record.complete:
            return None
        last = len(self) - 1
        first = last - cycle.updates
        if first < 0 or not self._same(first, last):
            return None
        return first, last

    def _same(self, j: int, k: int) -> bool:
        return bool((self.w[j] == self.w[k]).all() and self.b[j] == self.b[k])


def _recorded(trace: Any) -> tuple[Record, Setting]:
    """The updates of a trace of two classes, or what to do to get them."""
    if isinstance(trace, OneVsRestTrace):
        raise NotSupportedError(
            f"a film shows one hyperplane, the trace has {len(trace)}, one for each class. Give "
            "one of them, for instance film(trace[0], path), or film(trace.of(label), path)."
        )
    if not isinstance(trace, Trace):
        raise ParameterError(
            f"film needs a Trace or a fitted Perceptron, got {type(trace).__name__}. Fit with "
            "record='updates' and give clf.trace_."
        )
    record = trace.record
    if record is None or record.setting is None:
        raise ParameterError(
            "the trace has no updates to show, only passes. Fit with record='updates': "
            "Perceptron(record='updates').fit(X, y)."
        )
    if record.w.ndim == 3:
        raise NotSupportedError(
            f"a film shows one hyperplane, multiclass='direct' moves {record.w.shape[1]} at once. "
            "Fit with multiclass='ovr' and film one class: film(clf.trace_[0], path)."
        )
    if len(record) == 0:
        raise ParameterError(
            "the run made no update, so nothing moves: the start had every row right already. "
            "Start elsewhere, for instance with init='zero' and tie='mistake'."
        )
    return record, record.setting


def _rows(setting: Setting, X: Any, y: Any) -> Problem:
    if X is None and y is None:
        if setting.problem is None:
            raise DataError(
                "the trace was stored or copied, and the rows are not stored with it. Give them: "
                "film(trace, path, X, y)."
            )
        return _two_classes(setting.problem)
    if X is None or y is None:
        raise ParameterError(
            f"{'X' if X is None else 'y'} is missing. Give both X and y, or neither."
        )
    return _two_classes(Problem.of(X, y))


def _two_classes(problem: Problem) -> Problem:
    if len(problem.classes) != 2:
        raise DataError(
            f"y has {plural(len(problem.classes), 'class', 'classes')}, the film is about two. For "
            "one class against the rest give y == label."
        )
    return problem


def _check_steps(w: Array, x: Array, amount: Array, one: Array, problem: Problem) -> None:
    """Every update must be `amount` times its row: else these are other rows."""
    if not one.any():
        return
    k = np.flatnonzero(one)
    step = amount[k, None] * x[k]
    gap = np.abs(w[k] - w[k - 1] - step).max(axis=1)
    size = np.abs(w[k]).max(axis=1) + np.abs(w[k - 1]).max(axis=1) + np.abs(step).max(axis=1)
    wrong = gap > 1e-5 * size  # rounding of float32 is far below, another row far above
    if wrong.any():
        raise DataError(
            f"update {k[wrong][0]} of the trace is not a multiple of its row in X: these are not "
            "the rows the run was made on, or they were changed since. Give those as X and y."
        )


def _margins(
    w: Array,
    b: Array,
    x: Array,
    amount: Array,
    problem: Problem,
    setting: Setting,
    one: Array,
    row: Array,
) -> tuple[Array, Array]:
    label = np.where(one, problem.y[row], 0).astype(np.float64)
    if (label[one] != np.sign(amount[one])).any():
        raise DataError(
            "the labels are not those of the run: some update goes the other way. Give the y it "
            "was made on."
        )
    score = np.einsum("ij,ij->i", w, x) + b
    if setting.settings.penalty is None:
        earlier = np.empty_like(score)
        earlier[0], earlier[1:] = 0.0, np.einsum("ij,ij->i", w[:-1], x[1:]) + b[:-1]
    else:  # the weights shrank between two updates: take this one back instead
        square = np.einsum("ij,ij->i", x, x) + setting.settings.fit_intercept
        earlier = score - amount * square
    nothing = np.where(one, 0.0, np.nan)
    return label * earlier + nothing, label * score + nothing


def _mistakes(trace: Trace, record: Record, setting: Setting, before: Array, label: Array) -> Array:
    """Mistakes so far, those of the update counted.

    A batch step answers all mistakes of its pass. Online, each update is a mistake, except
    where the rule also moves on right answers; there a score is recomputed, and what the
    trace counted in the passes before is taken as it stands, so that rounding cannot add up.
    """
    passed = np.concatenate([[0], np.cumsum(trace.mistakes)])
    if setting.settings.mode != "online":
        return np.concatenate([[0], passed[record.epoch]])
    if setting.settings.rule.name == "perceptron":
        return np.arange(len(record) + 1)
    z, tie = before[1:], setting.settings.tie
    tied = {"mistake": z == 0, "correct": z != z, "positive": (z == 0) & (label[1:] < 0)}
    wrong = (z < 0) | tied.get(tie, z == 0)
    total = np.concatenate([[0], np.cumsum(wrong)])
    first = np.searchsorted(record.epoch, record.epoch)  # of the same pass
    inside = total[1:] - total[first]
    most = trace.mistakes[record.epoch - 1]
    return np.concatenate([[0], passed[record.epoch - 1] + np.minimum(inside, most)])
