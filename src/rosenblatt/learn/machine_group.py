"""Machine group: the hyperplanes of all classes, trained side by side on blocks of rows.

Labels and features may appear at any time. A feature that appears late had the weight 0 before, as
it would have had. A class that appears late goes on from the spare hyperplane, which has had every
row so far on its negative side (learn/multiclass.py). So the weights are those of one run over all
rows, to the bit, however the rows are cut into blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt.data.block import Block, Csr
from rosenblatt.data.labels import check_two_classes
from rosenblatt.data.source import LabelIndex, label_key
from rosenblatt.errors import DataError, LabelError, NotSupportedError
from rosenblatt.learn.machine import Machine
from rosenblatt.learn.multiclass import Learner, Planes
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.state import State
from rosenblatt.learn.trace import OneVsRestTrace, StopReason, Trace

Array = npt.NDArray[Any]
MOST_CLASSES = 1000  # each has weights of its own
MOST_SCORES = 1 << 20  # of the first epoch, held at a time


class MachineGroup:
    """One machine per class (one for two classes), and a spare one while classes may appear.

    Parameters
    ----------
    settings : TrainingSettings
    labels : LabelIndex
        Of the source of the blocks. Classes may appear in the first epoch unless it is closed.
    same_order : bool
        Whether every epoch has the rows in the same order.

    Attributes
    ----------
    learner : Learner or None
        None before the first block.
    n_epochs : int
        Finished ones.
    n_rows : int
        Rows of the last finished epoch.
    errors, n_scored : int
        Rows of the first epoch that were predicted wrongly before they were learned from, of those
        whose weight is not 0. Only classes that were seen before can be predicted; the first row of
        a class is an error unless the classes were named beforehand.
    """

    def __init__(
        self, settings: TrainingSettings, labels: LabelIndex, same_order: bool = True
    ) -> None:
        settings.check_source(resident=False)
        if settings.direct and not labels.closed:
            raise NotSupportedError(
                "multiclass='direct' trains all classes at once. Name them before (classes=...)."
            )
        self.settings, self.labels, self._same_order = settings, labels, same_order
        self.learner: Learner | None = None
        self.machines: dict[int, Machine] = {}
        self.n_epochs = self.n_rows = self.errors = self.n_scored = 0
        self._rows_now = 0  # visited in this epoch
        self._any_weight = False

    # ---------------------------------------------------------------- what the engine calls

    @property
    def reason(self) -> StopReason | None:
        """None while any machine has more to do."""
        reasons = [machine.reason for machine in self.machines.values()]
        return reasons[0] if reasons and None not in reasons else None

    @reason.setter
    def reason(self, value: StopReason | None) -> None:
        for machine in self.machines.values():
            machine.reason = machine.reason or value

    def visit(self, block: Block, seen: Array | None = None, resident: bool = False) -> None:
        """Visit the rows of a block, of classes and features that may be new."""
        if not block.n_rows or not len(self.labels):
            return
        first_rows = self._admit(block)
        learner = self._begun
        self._widen(block.X)
        X, y = block.X, self.labels.class_numbers[block.y]
        if isinstance(X, Csr):
            X = X._replace(n_features=learner.state.n_features)
        block = block._replace(X=X, y=y)
        learner.counts += np.bincount(y[y >= 0], minlength=len(learner.classes))
        self._rows_now += block.n_rows
        weight = block.sample_weight
        self._any_weight = self._any_weight or weight is None or bool(weight.any())
        if self.n_epochs:
            for machine in self._active():
                machine.visit(block)
            return
        step = max(1, MOST_SCORES // learner.state.n_planes)
        for start in range(0, block.n_rows, step):
            part = block.rows(start, min(start + step, block.n_rows))
            self._count_errors(part, self._visit_and_score(part), first_rows - start)

    def end_epoch(self, score: Callable[[Any], Any] | None = None) -> None:
        """Close the epoch. After the first, no class may appear.

        `score` returns the accuracy of each of a list of machines on held-out rows.
        """
        if self.n_epochs == 0:
            self._end_first_epoch()
        active = self._active()
        for machine in active:
            machine.close_epoch()
        accuracies = [None] * len(active) if score is None else score(active)
        for machine, accuracy in zip(active, accuracies, strict=True):
            machine.judge(accuracy)
        self.n_epochs += 1
        self.n_rows, self._rows_now = self._rows_now, 0

    def epochs(self, block: Block, n: int) -> None:
        """Train on one block until there is a reason to stop or n epochs are finished."""
        while self.reason is None and self.n_epochs < n:
            self.visit(block)
            self.end_epoch()

    # ------------------------------------------------------------ classes and features

    @property
    def _begun(self) -> Learner:
        assert self.learner is not None
        return self.learner

    def _active(self) -> list[Machine]:
        return [machine for machine in self.machines.values() if machine.reason is None]

    def _admit(self, block: Block) -> npt.NDArray[np.int64]:
        """Machines for the classes of a block. Returns the first row in it of each class: -1 for
        classes that were seen before, the number of rows for those that were not seen yet."""
        known = 0 if self.learner is None else len(self.learner.classes)
        if len(self.labels) > MOST_CLASSES:
            raise LabelError(
                f"there are more than {MOST_CLASSES} different labels. Is it a measurement rather "
                "than a label?"
            )
        if self.learner is None:
            d, settings, labels = block.X.shape[1], self.settings, self.labels
            classes = labels.classes if labels.closed else labels.values[:1]
            self.learner = Learner.begin(
                classes, d, np.float64, settings, open_ended=not labels.closed
            )
            settings.check_classes(len(classes))
            self.machines = self._new_machines(self.learner)
        learner, values = self.learner, self.labels.values
        if known and (values.dtype.kind == "U") != (learner.classes.dtype.kind == "U"):
            numbers = [label_key(word) for word in self.labels.words[:known]]
            rank = np.argsort(np.argsort(np.array(numbers, learner.classes.dtype)))
            order = np.argsort(values[:known])
            self._rebuild(learner.rename(values[order], rank[order].tolist(), self.settings))
        if not learner.open:
            return np.full(len(self.labels), -1)
        if known < len(self.labels):
            planes = learner.admit(self.labels.values[known:], self.settings)
            if planes is not None:
                self._rebuild(planes)
        # a source may name classes of which it has given no row yet
        first_rows = np.where(learner.counts == 0, block.n_rows, -1)
        if not (first_rows >= 0).any():
            return first_rows
        codes, rows = np.unique(block.y, return_index=True)
        given = self.labels.class_numbers[codes[codes >= 0]]
        first_rows[given] = np.minimum(first_rows[given], rows[codes >= 0])
        return first_rows

    def _widen(self, X: Any) -> None:
        state, d = self._begun.state, X.shape[1]
        sparse = isinstance(X, Csr)
        if not sparse and d != state.n_features:
            raise DataError(f"rows of {d} features after rows of {state.n_features}.")
        if d > state.n_features:
            state.widen(d, self.settings.rule, spare_room=True)
            self._rebuild([(k, 1.0) for k in range(state.n_planes)])

    def _new_machines(self, learner: Learner) -> dict[int, Machine]:
        return learner.machines(self.settings, same_order=self._same_order)

    def _rebuild(self, planes: Planes) -> None:
        """Machines on other arrays. Hyperplane k goes on from hyperplane planes[k][0]."""
        self.machines = self._begun.moved_machines(self.machines, planes, self.settings)

    def _end_first_epoch(self) -> None:
        if self.learner is None:
            raise DataError("there are no rows. Give at least one.")
        if not self.learner.state.n_features:
            raise DataError("no row has a feature: there is nothing to learn from but the labels.")
        if not self._any_weight:
            raise DataError("Sample weights must contain at least one non-zero number; all are 0.")
        check_two_classes(self.learner.classes)
        self.labels.closed = True
        if self.learner.open:
            self._rebuild(self.learner.close(self.settings))

    # --------------------------------------------------------------- progressive error

    def _visit_and_score(self, block: Block) -> Array:
        """Visit a block; the scores (rows, hyperplanes of classes) before each row was visited."""
        learner, n = self._begun, block.n_rows
        if learner.together:
            scores = np.zeros((n, learner.n_planes))
            self.machines[0].visit(block, scores)
            return scores
        by_plane = np.zeros((learner.n_planes, n, 1))
        for plane, machine in self.machines.items():
            machine.visit(block, by_plane[plane] if plane < learner.n_planes else None)
        return np.ascontiguousarray(by_plane[..., 0].T)

    def _count_errors(self, block: Block, scores: Array, first_rows: Array) -> None:
        counted = block.y >= 0
        if block.sample_weight is not None:
            counted &= block.sample_weight > 0
        predicted = _core.decide(scores)
        if len(first_rows) == 1:
            predicted[:] = 0  # the only class
        if (last := int(first_rows.max(initial=-1))) >= 0:
            predicted[: last + 1] = _among_seen(scores[: last + 1], first_rows)
        self.errors += int(np.count_nonzero((predicted != block.y) & counted))
        self.n_scored += int(np.count_nonzero(counted))

    # -------------------------------------------------------------------------- results

    def trace(self) -> Trace | OneVsRestTrace:
        """Totals of each epoch, one trace for each class against the rest."""
        for machine in self.machines.values():
            machine.n_rows = machine.n_rows or self.n_rows  # known at the end of an epoch
        return self._begun.trace_of([machine.trace() for machine in self.machines.values()])

    @property
    def reasons(self) -> tuple[StopReason, ...]:
        """Why each hyperplane stopped."""
        return tuple(m.reason or StopReason.MAX_ITER for m in self.machines.values())

    def kept(self) -> tuple[Array, Array]:
        """(coef, intercept) that `keep` returns."""
        learner = self._begun
        w, b = learner.state.kept(self.settings.keep)
        return w[: learner.n_planes], b[: learner.n_planes]

    # --------------------------------------------------------------------- saving a run

    def get_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """All that the rest of the run depends on, besides the labels: as JSON and as arrays."""
        learner, state = self._begun, self._begun.state
        d = state.n_features
        arrays = {
            "w": state.w[:, :d], "b": state.b, "visits": state.visits, "updates": state.updates,
            "mistakes": state.mistakes, "counts": learner.counts,
        }  # fmt: skip
        if state.u is not None and state.ub is not None:
            arrays |= {"u": state.u[:, :d], "ub": state.ub}
        if state.variance is not None:
            full = self.settings.rule.full_covariance
            arrays["variance"] = state.variance[:, : (d + 1) ** 2 if full else d + 1]
        runs = [machine.core.get_state() for machine in self.machines.values()]
        if not any(run["saved_w"].any() for run in runs):  # as in the first epoch
            for run in runs:
                run["saved_w"] = run["saved_w"][:0]
        sizes: dict[str, list[int]] = {}
        for name, value in runs[0].items():
            if isinstance(value, np.ndarray):
                sizes[name] = [run[name].size for run in runs]
                arrays[f"run.{name}"] = np.concatenate([run[name].ravel() for run in runs])
            else:
                dtype = np.float64 if isinstance(value, float) else np.int64
                arrays[f"run.{name}"] = np.array([run[name] for run in runs], dtype)
        reasons = [machine.reason for machine in self.machines.values()]
        facts = {
            "n_features": d, "open": learner.open, "n_epochs": self.n_epochs,
            "n_rows": self.n_rows, "rows_now": self._rows_now, "errors": self.errors,
            "n_scored": self.n_scored, "any_weight": self._any_weight, "sizes": sizes,
            "reasons": [reason and str(reason) for reason in reasons],
        }  # fmt: skip
        return facts, {name: values for name, values in arrays.items() if values.size}

    def set_state(self, facts: dict[str, Any], arrays: dict[str, Array]) -> None:
        """Go on from a state; ValueError if it is not one of a run like this."""
        classes, d, is_open = self.labels.classes, int(facts["n_features"]), bool(facts["open"])
        planes = (1 if len(classes) <= 2 else len(classes)) + is_open
        width = (d + 1) ** 2 if self.settings.rule.full_covariance else d + 1
        floats, integers = np.dtype(np.float64), np.dtype(np.int64)

        def get(name: str, shape: tuple[int, ...], dtype: np.dtype[Any] = floats) -> Array:
            held = arrays.get(name, np.zeros(0, dtype))
            if held.size == 0 == np.prod(shape):
                held = np.zeros(shape, dtype)
            if (held.shape, held.dtype) != (shape, dtype):
                raise ValueError(f"{name} is not {dtype} of shape {shape}")
            return np.array(held)

        dtype = floats if self.learner is None else self.learner.state.dtype
        state = State(
            get("w", (planes, d)), get("b", (planes,)), d, dtype, visits=get("visits", (planes,)),
            updates=get("updates", (planes,), integers),
            mistakes=get("mistakes", (planes,), integers), votes=[None] * planes,
        )  # fmt: skip
        if self.settings.keep == "average":
            state.u, state.ub = get("u", (planes, d)), get("ub", (planes,))
        if self.settings.rule.has_variance:
            state.variance = get("variance", (planes, width))
        counts = get("counts", (len(classes),), integers)
        learner = Learner(classes, counts, state, is_open, self.settings.direct)
        self.machines = self._new_machines(learner)
        reasons, sizes = facts["reasons"], facts["sizes"]
        if len(reasons) != len(self.machines):
            raise ValueError(f"it has {len(reasons)} hyperplanes, the run {len(self.machines)}")
        place = dict.fromkeys(sizes, 0)
        for k, machine in enumerate(self.machines.values()):
            run: dict[str, Any] = {}
            for name, fresh in machine.core.get_state().items():
                many = isinstance(fresh, np.ndarray)
                n = sum(sizes[name]) if many else len(reasons)
                dtype = fresh.dtype if many else floats if isinstance(fresh, float) else integers
                held = get(f"run.{name}", (n,), dtype)
                if not many:
                    run[name] = type(fresh)(held[k].item())
                    continue
                start, place[name] = place[name], place[name] + int(sizes[name][k])
                if not 0 <= start <= place[name] <= n:
                    raise ValueError(f"the sizes of {name} are wrong")
                run[name] = held[start : place[name]].reshape(-1, *fresh.shape[1:])
            if not len(run["saved_w"]):
                run["saved_w"] = np.zeros(len(run["saved_b"]) * d)
            if run["position"] or len(run["order"]) or len(run["epochs"]) > facts["n_epochs"]:
                raise ValueError("a machine is not between two blocks")
            machine.core.set_state(run)
            machine.reason = None if reasons[k] is None else StopReason(reasons[k])
        self.learner = learner
        self.n_epochs, self.n_rows = int(facts["n_epochs"]), int(facts["n_rows"])
        self._rows_now, self._any_weight = int(facts["rows_now"]), bool(facts["any_weight"])
        self.errors, self.n_scored = int(facts["errors"]), int(facts["n_scored"])


def _among_seen(scores: Array, first_rows: Array) -> npt.NDArray[np.int32]:
    """The class that each row would have been given among those with a row before it; -1: none.

    first_rows : of each class: its first row, -1 if it was there before these rows, `len(scores)`
        or more if it is not among them
    """
    n, n_classes = len(scores), len(first_rows)
    seen = np.arange(n)[:, None] > first_rows
    number = seen.sum(axis=1)
    if n_classes == 1:
        return np.where(number == 0, -1, 0).astype(np.int32)
    if n_classes == 2:
        scores = np.hstack([-scores, scores])
    best = _core.decide(np.where(seen, scores, -np.inf))
    first, second = seen.argmax(axis=1), n_classes - 1 - seen[:, ::-1].argmax(axis=1)
    is_second = _core.decide(scores[np.arange(n), second][:, None])
    best = np.where(number == 2, np.where(is_second, second, first), best)
    return np.where(number == 0, -1, best).astype(np.int32)
