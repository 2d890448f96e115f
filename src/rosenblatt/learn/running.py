"""Running: hyperplanes that learn from one row at a time, each as soon as it comes.

The arithmetic is that of a pass in order (kernels/one_row.py), so a loop over rows, many at once
and `fit` without shuffling give the same weights, to the bit. A feature that is met late had the
weight 0 until then. One against the rest, a class that is met late has had every row so far as a
negative one: it starts from the plane without a class, see multiclass.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.features import FLOAT64, Features, bad_value, check_row
from rosenblatt.data.labels import as_labels, check_same_kind, sorted_classes
from rosenblatt.data.problem import Problem
from rosenblatt.errors import DataError, NotSupportedError, OverflowedError
from rosenblatt.learn.keep import State
from rosenblatt.learn.kernels import one_row as kernel
from rosenblatt.learn.machine import first_variances
from rosenblatt.learn.multiclass import Standing
from rosenblatt.learn.options import Options
from rosenblatt.learn.planes import stream_rule
from rosenblatt.learn.rules import ALMA, Adaptive, MinOver, SecondOrder
from rosenblatt.learn.run_context import RunContext
from rosenblatt.learn.trace import OneVsRestTrace, StopReason, Trace

Array = npt.NDArray[Any]
Arrays = np.ndarray
NO_LABELS: Array = np.empty(0)


class Frame:
    """Where the arrays of kernels/one_row.py stand in memory. It keeps those it names alive."""

    def __init__(self, marks: Array, model: tuple[Array, Array, Array, Array, Array], classes: int):
        table, heads, memory, counts, setting = model
        self.held: list[Array | None] = [*model, marks]
        self.places = np.zeros(kernel.FRAME, dtype=np.int64)
        self.places[kernel.MARKS : kernel.SETTING + 1] = [
            _place(marks, np.int64), *(_place(a, np.float64) for a in (table, heads, memory)),
            _place(counts, np.int64), _place(setting, np.float64),
        ]  # fmt: skip
        self.places[kernel.N] = marks.shape[1] - 1
        self.places[kernel.D :] = [
            table.shape[2], *table.shape[:2], memory.shape[1], counts.shape[1], classes
        ]  # fmt: skip
        self.sparse: int | None = None
        self.data: Array | None = None

    def of(self, data: Array, indices: Array | None) -> Frame:
        """The same with these rows."""
        self.data, self.sparse = data, None if indices is None else 0
        self.held[6:] = [data, indices]
        self.places[kernel.DATA] = _place(data, np.float64)
        self.places[kernel.SIZE] = data.size
        if indices is not None:
            self.places[kernel.INDICES] = _place(indices, np.int32)
        return self


def _place(array: Array, dtype: Any) -> int:
    """The address of an array, of which compiled code believes that it is of this type."""
    if array.dtype != dtype or not array.flags.c_contiguous:
        raise TypeError(f"an array of {array.dtype} for compiled code that expects {dtype}")
    return array.ctypes.data


class Running:
    """Where the hyperplanes stand while rows come one at a time.

    Parameters
    ----------
    options : what was asked for: the rule, what is kept
    standing : where the model stands, or None to begin
    width, names : the features so far
    t, began : of the estimator: 1 + rows so far, and how its first run began
    """

    table: Array
    heads: Array
    memory: Array
    counts: Array

    def __init__(
        self,
        options: Options,
        standing: Standing | None = None,
        width: int = 0,
        names: Sequence[str] = (),
        t: float = 1.0,
        began: RunContext | None = None,
    ) -> None:
        check_options(options)
        self.options, self.update = options, options.update
        self.marks = np.zeros((3, 2), dtype=np.int64)
        self.features = Features(width, names, self.marks[kernel.BEGINS])
        self.classes = NO_LABELS
        self.open_ended = True
        self.setting = np.zeros(kernel.SETTINGS)
        self.setting[:5] = _numbers(options)
        states = [State(np.zeros(width), np.zeros(1))]
        counts = np.zeros(0, dtype=np.int64)
        if standing is None:
            options.check_open_ended(True)
        else:
            self.classes, counts = standing.classes, standing.counts
            self.open_ended = standing.spare is not None
            states = [] if len(self.classes) == 1 else list(standing.states)
            states += [standing.spare] if standing.spare is not None else []
        self._take(states, counts, width)
        self._t, self._began = t, began
        self._given: tuple[Array, Array] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Addresses are of one process."""
        return {k: v for k, v in vars(self).items() if k not in ("_frame", "_model")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lay_out()
        self.features.begins = self.marks[kernel.BEGINS]  # a view, which copies do not keep

    # ---------------------------------------------------------------- one row

    def learn(self, x: Any, y: Any) -> None:
        """Learn from one row; a row that cannot be learned from changes nothing."""
        try:
            number = self.number[y]
        except (KeyError, TypeError):
            number = self._number(x, y)
        features = self.features
        if type(x) is Arrays and x.shape == features.shape and x.dtype is FLOAT64:
            features.data[0] = x  # what `read` does, without a call
        else:
            features.read(x, True)
            if features.width > self._room:
                self._widen()
        self.marks[1, 0] = number
        frame = self._frame
        if frame.data is not features.data:
            frame.of(features.data, features.indices)
        code = self._kernel(frame.places, frame.sparse)
        if code < 0:
            raise _refused(code, x)

    def predict(self, x: Any) -> Any:
        """The label of one row, or None before any row was learned from."""
        if not self.n_classes:
            return None
        features = self.features
        if type(x) is Arrays and x.shape == features.shape and x.dtype is FLOAT64:
            features.data[0] = x
        else:
            features.read(x, False)
        frame = self._frame
        if frame.data is not features.data:
            frame.of(features.data, features.indices)
        code = kernel.answer(frame.places, frame.sparse)
        if code < 0:
            raise _refused(code, x)
        return self.labels[code]

    def learn_rows(self, data: Array, indices: Array | None, begins: Array, labels: Array) -> None:
        """Learn from many rows, in order: a loop of `learn`, compiled."""
        if self.features.width > self._room:
            self._widen()
        known = set(self.number)  # a new class begins a new stretch
        listed = labels.tolist()
        starts = [0] + [i for i, y in enumerate(listed) if y not in known and not known.add(y)]  # type: ignore[func-returns-value]  # `add` gives None: each new label once
        for first, last in zip(starts, [*starts[1:], len(listed)], strict=True):
            if first == last:
                continue
            self._admit(labels[first : first + 1])
            marks = np.zeros((3, last - first + 1), dtype=np.int64)
            marks[kernel.BEGINS] = begins[first : last + 1]
            marks[kernel.LABEL, :-1] = [self.number[y] for y in listed[first:last]]
            rows = data[first:last] if indices is None else data
            frame = Frame(marks, self._model, self.n_classes).of(rows, indices)
            code = self._kernel(frame.places, frame.sparse)
            if code < 0:
                raise _refused(code, None)

    def check_labels(self, labels: Array) -> None:
        """Labels that can be learned from."""
        if self.n_classes:
            check_same_kind(labels, self.classes)
        if not self.open_ended:
            Standing(self.classes, self.counts[kernel.SEEN], [], None).admit(labels, self.options)

    # ------------------------------------------------------------ late classes

    def _number(self, x: Any, y: Any) -> int:
        """The number of a class that is not found as it is written, perhaps a new one."""
        labels = as_labels([y] if np.ndim(y) == 0 else y, 1)
        label = labels.tolist()[0]
        if label not in self.number:
            check_row(x)
            self.predict(x)  # a row that will be refused must not leave a class behind
            self._admit(labels)
        return self.number[label]

    def _admit(self, labels: Array) -> None:
        """Make room for a class: the plane of each is another's, its mirror image, or the spare."""
        if labels.tolist()[0] in self.number:
            return
        self.check_labels(labels)
        old = self.labels
        new = sorted_classes(np.concatenate([self.classes, labels]) if old else labels)
        spare = self.heads.shape[1] - 1
        if len(old) == 1:
            heirs = {old[0]: (spare, -1.0)}
        elif len(old) == 2:
            heirs = {old[0]: (0, -1.0), old[1]: (0, 1.0)}
        else:
            heirs = {label: (k, 1.0) for k, label in enumerate(old)}
        wanted = new.tolist()[1:] if len(new) == 2 else new.tolist() if len(new) > 2 else []
        planes = [heirs.get(label, (spare, 1.0)) for label in wanted] + [(spare, 1.0)]
        seen = dict(zip(old, self.counts[kernel.SEEN].tolist(), strict=False))
        self._gather(planes, [seen.get(label, 0) for label in new.tolist()])
        self._name(new)
        self.setting[kernel.NEW] = 1.0

    def _gather(self, planes: list[tuple[int, float]], seen: list[int]) -> None:
        which = [k for k, _ in planes]
        signs = np.array([s for _, s in planes])
        self.table = np.ascontiguousarray(self.table[:, which] * signs[:, None])
        self.heads = np.ascontiguousarray(self.heads[:, which])
        self.heads[: kernel.VISITS] *= signs
        self.memory = np.ascontiguousarray(self.memory[which])
        if isinstance(self.update.rule, ALMA):
            self.memory[:, 4:] *= signs[:, None]
        counts = np.zeros((7, max(len(which), len(seen))), dtype=np.int64)
        counts[:, : len(which)] = self.counts[:, which]
        counts[kernel.SEEN] = 0
        counts[kernel.SEEN, : len(seen)] = seen
        self.counts = counts

    def _name(self, classes: Array) -> None:
        self.classes, self.labels = classes, classes.tolist()
        self.number = {label: k for k, label in enumerate(self.labels)}
        self.n_classes = len(self.labels)
        self._lay_out()

    def _lay_out(self) -> None:
        """The arrays as the compiled loops take them, together: it is asked for at every row."""
        self._room = self.table.shape[2]
        self._model = (self.table, self.heads, self.memory, self.counts, self.setting)
        self._frame = Frame(self.marks, self._model, self.n_classes)

    # ----------------------------------------------------------- late features

    def _widen(self) -> None:
        """Room for more features; for later ones too unless rows are arrays."""
        has = self.table.shape[2]
        width = self.features.width
        if self.features.indices is not None:
            width = max(width, min(2 * has, has + (1 << 20)), 16)
        more = width - has
        self.table = np.pad(self.table, ((0, 0), (0, 0), (0, more)))
        if isinstance(self.update.rule, Adaptive):
            variance = 1.0 / float(getattr(self.update.rule, "a", 1.0))
            self.memory = np.pad(self.memory, ((0, 0), (0, more)), constant_values=variance)
        elif isinstance(self.update.rule, ALMA):  # the offset stays last
            wide = np.pad(self.memory, ((0, 0), (0, more)))
            wide[:, -1], wide[:, has + 4] = self.memory[:, -1], 0.0
            self.memory = wide
        self._lay_out()

    # -------------------------------------------------- from and to a standing

    def _take(self, states: list[State], seen: Array, width: int) -> None:
        """The arrays of kernels/one_row.py from states of hyperplanes, the spare one last."""
        rule, average = self.update.rule, self.options.keep == "average"
        n = len(states)
        self.table = np.zeros((2 if average else 1, n, width))
        self.heads = np.zeros((5, n))
        self.heads[kernel.SCALE] = 1.0
        self.memory = np.zeros((n, width + 5 if isinstance(rule, ALMA) else 0))
        self._kernel: Any = kernel.learn_alma if isinstance(rule, ALMA) else kernel.learn_online
        if isinstance(rule, Adaptive):
            self._kernel = kernel.learn_adaptive
            self.memory = first_variances(rule, (n, width), self.update.fit_intercept)
        # two rows more than the loops know: mistakes and updates made before
        self.counts = np.zeros((7, max(n, len(seen))), dtype=np.int64)
        self.counts[kernel.SEEN, : len(seen)] = seen
        for k, state in enumerate(states):
            self.table[0, k], self.heads[kernel.B, k] = state.w, state.b[0]
            self.heads[kernel.VISITS, k] = state.visits
            if average and state.u.size:
                self.table[1, k], self.heads[kernel.UB, k] = state.u, state.ub[0]
            elif average:  # it counts the visits from here on
                self.heads[kernel.VISITS, k] = 0.0
            if state.spread.size and isinstance(rule, Adaptive):
                self.memory[k] = state.spread
            if isinstance(rule, ALMA):
                self.memory[k, 4:] = np.append(state.w.astype(np.float64), float(state.b[0]))
            self.counts[[kernel.MISTAKES, kernel.SEEN + 1], k] = state.mistakes
            self.counts[[kernel.UPDATES, kernel.SEEN + 2], k] = state.updates
        self._name(self.classes)

    def progress(self) -> tuple[int, int]:
        """Rows, and how many of them were answered wrong before they were learned from."""
        return int(self.setting[kernel.ROWS]), int(self.setting[kernel.WRONG])

    def set_progress(self, progress: tuple[int, int]) -> None:
        """Go on counting."""
        self.setting[[kernel.ROWS, kernel.WRONG]] = progress
        self._t -= progress[0]

    def still(self, coef: Any, intercept: Any) -> bool:
        """Whether these are the weights that were given last: nobody edited them."""
        if self._given is None or sp.issparse(coef):
            return False
        return np.array_equal(self._given[0], coef) and np.array_equal(self._given[1], intercept)

    def attributes(self) -> dict[str, Any]:
        """What an estimator shows of a model that learned so far."""
        standing, width = self.standing(), self.features.width
        kept = [state.kept(self.options.keep) for state in standing.states]
        coef, intercept = np.stack([w for w, _ in kept]), np.concatenate([b for _, b in kept])
        self._given = coef.copy(), intercept.copy()
        names, n_rows = self.features.names(), self.progress()[0]
        made = {
            "coef_": coef,
            "intercept_": intercept,
            "classes_": standing.classes,
            "n_features_in_": width,
            "t_": self._t + n_rows,
            "n_mistakes_": sum(s.mistakes for s in standing.states),
            "n_updates_": sum(s.updates for s in standing.states),
            "n_iter_": 1,
            "stop_reason_": str(StopReason.MAX_ITER),
            "trace_": self._trace(standing, n_rows),
            "_standing": standing,
            "_began": self._beginning(standing, n_rows),
        }
        return made if names is None else made | {"feature_names_in_": np.array(names, object)}

    def _trace(self, standing: Standing, n_rows: int) -> Trace | OneVsRestTrace:
        """One pass over the rows that came one at a time. The loss is not known."""
        before = self.counts[kernel.SEEN + 1 :]
        traces = tuple(
            Trace(
                StopReason.MAX_ITER,
                np.array([state.mistakes - before[0, k]]),
                np.array([state.updates - before[1, k]]),
                np.array([np.nan]),
                np.array([np.linalg.norm(state.w)]),
                0.0,
                n_rows,
                keep=self.options.keep,
                kept_pass=1 if self.options.keep == "last" else None,
            )
            for k, state in enumerate(standing.states)
        )
        return traces[0] if len(traces) == 1 else OneVsRestTrace(standing.classes, traces)

    def _beginning(self, standing: Standing, n_rows: int) -> RunContext:
        """Bounds on mistakes are about rows that are not kept: there were many calls."""
        if self._began is not None:
            return replace(self._began, calls=self._began.calls + n_rows)
        problem = Problem.labelled(
            np.zeros((1, self.features.width)), standing.classes[:1], None, standing.classes
        )
        starts = [(np.zeros_like(s.w), np.zeros_like(s.b)) for s in standing.states]
        began = RunContext.of_run(problem, starts, self.update, "order")
        return replace(began, n_rows=n_rows, calls=max(2, n_rows))

    def standing(self) -> Standing:
        """Where the model stands, for all that does not learn one row at a time."""
        if not all(np.isfinite(part).all() for part in (self.table, self.heads)):
            raise _refused(kernel.TOO_LARGE, None)
        states = [self._state(k) for k in range(self.heads.shape[1])]
        spare = states.pop() if self.open_ended else None
        if self.n_classes == 1 and spare is not None:
            states = [spare.mirrored()]
        counts = self.counts[kernel.SEEN, : self.n_classes].copy()
        return Standing(self.classes, counts, states, spare, self.options.keep)

    def _state(self, k: int) -> State:
        width, average = self.features.width, len(self.table) == 2
        w, b, ub, visits, scale, owed = self.table[0, k, :width], *(
            self.heads[row, k : k + 1].copy()
            for row in (kernel.B, kernel.UB, kernel.VISITS, kernel.SCALE, kernel.OWED)
        )  # fmt: skip
        state = State(scale * w, scale * b, visits=float(visits[0]))
        if average:
            state.u, state.ub = self.table[1, k, :width] + owed * w, ub + owed * b
        if isinstance(self.update.rule, Adaptive):
            state.spread = self.memory[k, : width + 1].copy()
        state.mistakes = int(self.counts[kernel.MISTAKES, k])
        state.updates = int(self.counts[kernel.UPDATES, k])
        return state


def _refused(code: int, x: Any) -> DataError:
    if code == kernel.NOT_FINITE:
        return bad_value(x)
    if code == kernel.TWICE:
        return DataError("a feature comes twice in one row. Add its values up first.")
    return OverflowedError(
        "Floating-point under-/overflow occurred: a score or a weight left the range of float64. "
        "Scale the data or lower eta0."
    )


def predicted(features: Features, x: Any, coef: Array, intercept: Array, n_classes: int) -> int:
    """The number of the class of one row, from weights as they are given."""
    features.read(x, False)
    heads = np.zeros((5, len(coef)))
    heads[kernel.B], heads[kernel.SCALE] = intercept, 1.0
    table = np.require(coef, np.float64, ["C", "W"])[None]
    marks = np.zeros((3, 2), dtype=np.int64)
    marks[kernel.BEGINS] = features.begins
    none = np.zeros((1, 0)), np.zeros((7, 1), dtype=np.int64), np.zeros(kernel.SETTINGS)
    frame = Frame(marks, (table, heads, *none), n_classes).of(features.data, features.indices)
    code = kernel.answer(frame.places, frame.sparse)
    if code < 0:
        raise _refused(code, x)
    return int(code)


def check_options(options: Options) -> None:
    """What cannot be learned one row at a time."""
    update, rule = options.update, options.update.rule
    wrong = {
        f"keep={options.keep!r}": options.keep not in ("last", "average"),
        f"mode={update.mode!r}": update.mode != "online",
        "a penalty": update.penalty is not None,
        "multiclass='direct'": options.direct,
        "max_updates": options.stop.max_updates is not None,
        "record": options.record,
        "covariance='full'": isinstance(rule, SecondOrder) and rule.covariance == "full",
    }
    if isinstance(rule, MinOver):
        raise NotSupportedError(
            "learn_one has no rule='minover', which looks at all rows before each step. Use fit, "
            "or another rule."
        )
    for name, is_so in wrong.items():
        if is_so:
            raise NotSupportedError(
                f"learn_one has no {name}: it keeps the last weights or their average, one "
                "hyperplane for each class. Use partial_fit, or leave it out."
            )


def _numbers(options: Options) -> tuple[float, ...]:
    """The numbers of the rule, in its order."""
    rule, update = options.update.rule, options.update
    if isinstance(rule, ALMA):
        from rosenblatt.learn.kernels import TIES

        return (rule.bar, rule.step, 2.0, TIES[update.tie], update.fit_intercept)
    return tuple(stream_rule(update)[:5])
