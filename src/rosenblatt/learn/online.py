"""Online learner: machines that learn from one row at a time, with features and classes that may
appear late.

The core reads plain rows and visits them (core/bind_one_row.cpp). What it leaves to Python is done
on a copy, which replaces the learner if the row can be learned from: a new class, a feature beyond
the room there is, numbers so large that they might overflow. So a bad row changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt.data.block import Csr, core_rows
from rosenblatt.data.labels import as_labels, one_label, sorted_classes
from rosenblatt.data.problem import Problem
from rosenblatt.errors import DataError, NotSupportedError, OverflowedError
from rosenblatt.features.row_encoder import (
    IndexedRows,
    Row,
    RowColumns,
    RowKind,
    as_row,
    sparse_width,
)
from rosenblatt.learn.machine import Machine
from rosenblatt.learn.multiclass import Learner, Planes, weights_of
from rosenblatt.learn.run_context import RunContext
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.trace import OneVsRestTrace, Trace

Array = npt.NDArray[Any]
FIRST_ROOM = 256  # columns, where features may appear at any time
MODERATE = 1e30  # parameters and weights beyond it, or below its inverse, might overflow


@dataclass(eq=False)
class OnlineLearner:
    """A model between two rows.

    Attributes
    ----------
    settings : TrainingSettings
    learner : Learner or None
        Its state has `room` columns, and weights as the machines store them; None before the first
        row.
    features : RowColumns
    class_weight : dict or None
    t : float
        1 + the rows that other methods learned from.
    context : RunContext or None
        Start and settings of the first run, if this is not the first.
    n_rows, n_mistakes : int
        Rows so far, and those whose answer was wrong before they were learned from.
    saved : list of dict
        Set for pickling: the state of each machine in the core.
    paused : bool
        Whether parameters are read again before the next row.
    shown : (coef, intercept) or None
        The attributes that were made last, to see whether they were edited.
    """

    settings: TrainingSettings
    learner: Learner | None = None
    features: RowColumns = field(default_factory=RowColumns)
    class_weight: Mapping[Any, float] | None = None
    t: float = 1.0
    context: RunContext | None = None
    n_rows: int = 0
    n_mistakes: int = 0
    saved: list[dict[str, Any]] = field(default_factory=list)
    paused: bool = False
    shown: tuple[Array, Array] | None = None

    def __post_init__(self) -> None:
        self.settings = replace(self.settings, order="order", cycle=False)
        self.machines: dict[int, Machine] = {}
        if self.learner is not None:
            self.learner.state.dtype = np.dtype(np.float64)
            self._connect()

    def _connect(self, planes: Planes | None = None) -> None:
        """Make the machines, and the model in the core that reads rows for them.

        `planes`: for each hyperplane, the earlier one from which it goes on, and its sign; None:
        begin new machines.
        """
        learner = self.learner
        assert learner is not None
        labels, weights = learner.classes.tolist(), None
        if self.class_weight is not None:
            weights = weights_of(self.class_weight, labels)
        if planes is None:
            self.machines = learner.machines(self.settings, weights)
            for machine, saved in zip(self.machines.values(), self.saved, strict=False):
                machine.core.set_state(saved)
        else:
            self.machines = learner.moved_machines(self.machines, planes, self.settings, weights)
        self.model = _core.OnlineModel(
            [machine.core for machine in self.machines.values()], labels, self.features.index,
            int(self.features.kind), self.features.plain_columns, self.features.n_features,
            learner.open, self.settings.keep == "average", self._moderate(weights),
            learner.counts.tolist(), self.n_rows, self.n_mistakes,
        )  # fmt: skip

    def _moderate(self, weights: Array | None) -> bool:
        """Whether moderate rows cannot overflow, see core/bind_one_row.cpp."""
        assert self.learner is not None
        settings, state = self.settings, self.learner.state
        numbers = [v for v in settings.rule.get_params().values() if isinstance(v, (int, float))]
        numbers += [*settings.etas(1, 1), settings.rule.first_variance]
        if settings.penalty is not None:
            numbers.append(settings.penalty.alpha)
        if settings.rate is not None:
            numbers.append(settings.rate.alpha)
        numbers += [] if weights is None else weights.tolist()
        usual = all(1 / MODERATE <= abs(v) <= MODERATE for v in numbers if v)
        arrays = [a for a in (state.w, state.b, state.u, state.ub) if a is not None]
        return usual and all(np.abs(a).max(initial=0.0) <= MODERATE for a in arrays)

    def refresh(self) -> None:
        """Copy what the core counted to the fields of this object."""
        if self.learner is None:
            return
        model = self.model
        self.features.n_features = model.n_features
        self.learner.counts = np.array(model.counts, np.int64)
        self.n_rows, self.n_mistakes = model.n_rows, model.n_mistakes
        for machine in self.machines.values():
            machine.write_counts()

    def __getstate__(self) -> dict[str, Any]:
        self.refresh()
        self.saved = [machine.core.get_state() for machine in self.machines.values()]
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    def copy(self) -> OnlineLearner:
        """An independent copy."""
        self.refresh()
        copied = self._trial()
        if copied.learner is not None:
            copied._connect(copied._same_planes())
        return copied

    def _trial(self) -> OnlineLearner:
        """A copy to be changed, whose machines are made afterwards by `_connect`."""
        trial = object.__new__(OnlineLearner)
        vars(trial).update(vars(self))
        trial.features = self.features.copy()
        if self.learner is not None:
            trial.learner = self.learner.copy()
        return trial

    def counting_from(self, other: OnlineLearner) -> OnlineLearner:
        """Go on with the count of rows and mistakes of an earlier learner."""
        self.t -= other.model.n_rows
        self.n_rows, self.n_mistakes = other.model.n_rows, other.model.n_mistakes
        if self.learner is not None:
            self._connect(self._same_planes())
        return self

    # ------------------------------------------------------------------------- rows

    def learn(self, x: Any, y: Any) -> OnlineLearner:
        """Learn from a row that the core left to Python; returns the learner to go on with."""
        row = as_row(x)
        kind, width = self._kind_with(row), sparse_width(x)
        plain = self.learner is not None and kind is self.features.kind
        if plain and width <= self.model.n_features and self.model.learn(row, y):
            return self
        return self.learn_many([x if width else row], one_label(y))

    def learn_many(self, X: Any, y: Any) -> OnlineLearner:
        """Learn from rows in order; returns the learner to go on with."""
        self.refresh()
        rows = IndexedRows.of(X, self.features)
        labels = as_labels(y, rows.n_rows)
        if self._learn_in_place(rows, labels):
            return self
        trial = self._trial()
        trial.features = self.features.with_rows(rows)
        for part, of_part in _stretches(rows.X, labels, trial._numbers()):
            planes = trial._admit(of_part[:1])
            trial._make_room(rows.n_features)
            trial._connect(planes)
            if trial._learn_rows(rows._replace(X=part), of_part, careful=True) < len(of_part):
                raise _overflowed()
            trial.refresh()
        return trial

    def _learn_in_place(self, rows: IndexedRows, labels: Array) -> bool:
        """Learn from many plain rows; False if nothing was done."""
        if self.learner is None or rows.kind is not self.features.kind:
            return False
        if rows.plain_columns != self.features.plain_columns:
            return False
        if rows.n_features > self.room or not set(labels.tolist()) <= set(self._numbers()):
            return False
        done = self._learn_rows(rows, labels, careful=False)
        if 0 <= done < rows.n_rows:
            raise _overflowed()
        return done >= 0

    def _learn_rows(self, rows: IndexedRows, labels: Array, careful: bool) -> int:
        """Let the core visit rows that there is room for, see core/bind_one_row.cpp."""
        numbers, X = self._numbers(), rows.X
        codes = np.array([numbers[label] for label in labels.tolist()], np.int32)
        X = X._replace(n_features=self.room) if isinstance(X, Csr) else X
        return self.model.learn_rows(core_rows(X), codes, rows.n_features, rows.new_names, careful)

    def predict(self, x: Any) -> Any:
        """The label of a row that the core left to Python."""
        row = as_row(x)
        self._kind_with(row)
        found = self.model.predict(row)
        if found is NotImplemented:
            raise _overflowed()
        return found

    def _kind_with(self, row: Row) -> RowKind:
        if self.learner is not None:
            self.features.n_features = self.model.n_features
        return self.features.kind_with(row)

    # ------------------------------------------------------- late classes and features

    @property
    def room(self) -> int:
        """Columns that there is room for."""
        assert self.learner is not None
        return self.learner.state.n_features

    def _numbers(self) -> dict[Any, int]:
        """The number of each class."""
        classes = [] if self.learner is None else self.learner.classes.tolist()
        return {label: k for k, label in enumerate(classes)}

    def _same_planes(self) -> Planes:
        assert self.learner is not None
        return [(k, 1.0) for k in range(self.learner.state.n_planes)]

    def _admit(self, labels: Array) -> Planes | None:
        """Make room for a class; a late one goes on from the spare hyperplane.

        Returns where each hyperplane comes from; None if there were no machines before.
        """
        if self.learner is None:
            self.learner = Learner.begin(
                sorted_classes(labels), 0, np.float64, self.settings, open_ended=True
            )
            return None
        planes = self.learner.admit(labels, self.settings)
        if planes is not None:
            self.settings.check_classes(len(self.learner.classes))
        return planes or self._same_planes()

    def _make_room(self, n_features: int) -> None:
        assert self.learner is not None
        state, rule = self.learner.state, self.settings.rule
        for_later = self.features.kind is not RowKind.ARRAYS and not rule.full_covariance
        room = max(FIRST_ROOM if for_later else 1, n_features)
        try:
            state.widen(room, rule, spare_room=for_later)
        except MemoryError as e:
            raise DataError(
                f"There is no memory for the weights of {room} columns. Give dicts of the features "
                "that are not 0, or use Hashing(bits=18)."
            ) from e
        state.n_features = state.w.shape[1]

    # ------------------------------------------------------------------------ results

    def result(self) -> tuple[Learner, Trace | OneVsRestTrace, RunContext]:
        """The model as other methods go on from it, what the rows did, and how it began.

        The run itself is not touched: a copy of it ends its epoch.
        """
        ended = self.copy()
        learner = ended.learner
        assert learner is not None
        machines = list(ended.machines.values())
        for machine in machines:
            machine.n_rows = self.n_rows
            machine.end_epoch()
            machine.finish()
        trace = learner.trace_of([machine.trace() for machine in machines])
        learner.state = learner.state.without_room(ended.features.n_features, self.settings.rule)
        learner.keep, learner.coef, learner.intercept = self.settings.keep, None, None
        return learner, trace, self._context(learner)

    def _context(self, learner: Learner) -> RunContext:
        """Bounds on mistakes are about rows that are not kept: there were many calls."""
        if self.context is not None:
            return replace(self.context, calls=self.context.calls + self.n_rows)
        d, n = learner.state.n_features, learner.n_planes
        problem = Problem.labelled(np.zeros((1, d)), learner.classes[:1], None, learner.classes)
        starts = [(np.zeros(d), np.zeros(1)) for _ in range(n)]
        if learner.together:
            starts = [(np.zeros((n, d)), np.zeros(n))]
        context = RunContext.of(problem, starts, self.settings)
        return replace(context, n_rows=self.n_rows, calls=max(2, self.n_rows))


def check_online(settings: TrainingSettings, params: Mapping[str, Any]) -> None:
    """Refuse what cannot be learned one row at a time."""
    if settings.rule.needs_all_rows:
        raise NotSupportedError(
            f"learn_one does not support rule={settings.rule.name!r}, which compares all rows "
            "before each step. Use fit, or another rule."
        )
    refused = {
        f"keep={settings.keep!r}": settings.keep not in ("last", "average"),
        f"mode={settings.mode!r}": settings.mode != "online",
        "max_updates": settings.max_updates is not None,
        "record": settings.record,
        "early_stopping": bool(params["early_stopping"]),
        "class_weight='balanced'": isinstance(params["class_weight"], str),
    }
    for name, is_refused in refused.items():
        if is_refused:
            raise NotSupportedError(
                f"learn_one does not support {name}: it visits each row once, as it arrives, and "
                "keeps the last weights or their average. Use fit or partial_fit, or leave it out."
            )


def _stretches(
    X: Array | Csr, labels: Array, known: Mapping[Any, int]
) -> Iterator[tuple[Array | Csr, Array]]:
    """Rows and labels, cut before the first row of every new class."""
    seen, starts = set(known), [0]
    for i, label in enumerate(labels.tolist()):
        if label not in seen:
            seen.add(label)
            starts += [i] if i else []
    for first, last in zip(starts, [*starts[1:], len(labels)], strict=True):
        if isinstance(X, Csr):
            yield X._replace(indptr=X.indptr[first : last + 1]), labels[first:last]
        else:
            yield X[first:last], labels[first:last]


def _overflowed() -> OverflowedError:
    return OverflowedError(
        "Floating-point under-/overflow occurred: a score or a weight left the range of float64. "
        "Scale the data or lower eta0. The row changed nothing."
    )
