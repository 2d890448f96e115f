"""Multiclass: the hyperplanes of a model with two classes or more, and classes that come late.

Two classes share one hyperplane, whose positive class is the second. More have one each, class
against rest, or, for the direct rule, one each in a common machine.

One against the rest, a class that was never seen has had every row so far on its negative side. The
spare hyperplane, the last one, is that run, so that a class which appears late starts where it
would be had it been known from the first row. For the direct rule it starts at zero.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.labels import check_same_kind, check_two_classes, joined_classes
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.learn.engine import Observer
from rosenblatt.learn.in_memory import class_weight_table, held_rows, run_machine
from rosenblatt.learn.machine import NO_CLASS, Machine
from rosenblatt.learn.schedule import generator
from rosenblatt.learn.settings import Keep, TrainingSettings
from rosenblatt.learn.state import Ballot, State
from rosenblatt.learn.trace import OneVsRestTrace, Trace

if TYPE_CHECKING:  # scipy.sparse: not for files and streams
    from rosenblatt.data.problem import Problem

Array = npt.NDArray[Any]
Planes = list[tuple[int, float]]  # which hyperplane each one was before, and its sign


@dataclass
class Learner:
    """The hyperplanes of a model and the classes they separate: all that training changes.

    Attributes
    ----------
    classes : array
        The labels, sorted.
    counts : int array
        Rows seen of each class.
    state : State
        One hyperplane for two classes, one per class for more; then the spare one, if `open`.
    open : bool
        Whether further classes may appear.
    direct : bool
        Whether more than two classes are trained at once.
    keep : str
        Which weights were returned last.
    coef, intercept : arrays or None
        The weights that were returned last, where they do not follow from the state: the pocket,
        or the best on held-out rows.
    """

    classes: Array
    counts: Array
    state: State
    open: bool = False
    direct: bool = False
    keep: Keep = "last"
    coef: Array | None = None
    intercept: Array | None = None

    @classmethod
    def begin(
        cls,
        classes: Array,
        n_features: int,
        dtype: Any,
        settings: TrainingSettings,
        random_state: Any = 0,
        coef_init: Any = None,
        intercept_init: Any = None,
        open_ended: bool = False,
    ) -> Learner:
        """Before the first visit."""
        if not open_ended:
            check_two_classes(classes)
        if open_ended:
            settings.check_open_classes()
        w, b = start_weights(
            settings, len(classes), n_features, dtype, random_state, coef_init, intercept_init
        )
        if open_ended:
            w, b = np.vstack([w, np.zeros_like(w[:1])]), np.append(b, np.zeros_like(b[:1]))
        counts = np.zeros(len(classes), np.int64)
        return cls(classes, counts, State.at(w, b, dtype), open_ended, settings.direct)

    def copy(self) -> Learner:
        """A copy that can be trained without touching this one."""
        return replace(self, state=self.state.copy(), counts=self.counts.copy())

    @property
    def n_planes(self) -> int:
        """Hyperplanes of classes, without the spare one."""
        return self.state.n_planes - self.open

    @property
    def together(self) -> bool:
        """Whether one machine moves the hyperplanes of all classes."""
        return self.direct and len(self.classes) > 2

    @property
    def n_runs(self) -> int:
        """Runs that train the classes: one, or one for each class against the rest."""
        return 1 if len(self.classes) <= 2 or self.together else len(self.classes)

    def trace_of(self, traces: Sequence[Trace]) -> Trace | OneVsRestTrace:
        """The trace of all runs."""
        if self.n_runs == 1:
            return traces[0]
        return OneVsRestTrace(self.classes, tuple(traces[: self.n_runs]))

    def set_weights(self, coef: Array, intercept: Array) -> None:
        """Continue from weights that the user may have edited."""
        state, n = self.state, self.n_planes
        if coef.shape != (n, state.n_features) or intercept.shape != (n,):
            raise DataError(
                f"coef_ has shape {coef.shape}, which is not what this model has. Set it back or "
                "call fit."
            )
        state.w[:n, : state.n_features] = coef.astype(state.dtype)
        state.b[:n] = intercept.astype(state.dtype)

    def admit(self, labels: Array, settings: TrainingSettings) -> Planes | None:
        """Make room for the classes among `labels` that were not seen before.

        Returns where the new hyperplanes come from; None if there is no new class.
        """
        check_same_kind(labels, self.classes)
        if not self.open:
            unknown = sorted(set(labels.tolist()) - set(self.classes.tolist()))[:5]
            if unknown:
                raise LabelError(
                    f"y holds labels {unknown} that are not among the classes "
                    f"{self.classes[:10].tolist()}. fit, and classes named in the first "
                    "partial_fit, close the list; start with partial_fit without classes to let "
                    "them appear."
                )
            return None
        new = joined_classes(self.classes, labels)
        if len(new) == len(self.classes):
            return None
        old, spare = self.classes.tolist(), self.state.n_planes - 1
        if len(old) == 1:
            planes = {old[0]: (spare, -1.0)}
        elif len(old) == 2:
            planes = {old[0]: (0, -1.0), old[1]: (0, 1.0)}
        else:
            planes = {label: (k, 1.0) for k, label in enumerate(old)}
        direct = settings.direct and len(new) > 2
        start = (-1, 1.0) if direct else (spare, 1.0)
        wanted = new.tolist()[1:] if len(new) == 2 else new.tolist()
        chosen = [planes.get(label, start) for label in wanted] + [(spare, 1.0)]
        before = self.state
        self.state = before.gather(chosen, settings.rule, settings.fit_intercept)
        if direct:  # one machine counts for all
            from_spare = spare if len(old) == 1 else 0
            self.state.votes = [None] * self.state.n_planes
            for name in ("updates", "mistakes"):
                counts = getattr(self.state, name)
                counts[:-1] = 0
                counts[0] = getattr(before, name)[from_spare]
        seen = dict(zip(old, self.counts.tolist(), strict=True))
        self.counts = np.array([seen.get(label, 0) for label in new.tolist()])
        self.classes = new
        return chosen

    def rename(self, classes: Array, before: Sequence[int], settings: TrainingSettings) -> Planes:
        """Give the classes other labels, in another order: class k was class before[k].

        Returns where the hyperplanes come from.
        """
        spare = self.state.n_planes - 1
        if len(before) == 2:
            chosen = [(0, 1.0 if before[0] == 0 else -1.0)]
        else:
            chosen = [(k, 1.0) for k in before][: self.n_planes]
        chosen += [(spare, 1.0)] if self.open else []
        self.state = self.state.gather(chosen, settings.rule, settings.fit_intercept)
        self.counts, self.classes = self.counts[list(before)], classes
        return chosen

    def planes(self) -> dict[int, int]:
        """The positive class of each hyperplane that is trained; the spare one is the last.

        The direct rule trains all classes in one machine, listed as hyperplane 0.
        """
        n = len(self.classes)
        planes = {k: k for k in range(n)}
        if n == 1:
            planes = {}
        elif n == 2 or self.together:
            planes = {0: 1}
        return planes | {self.state.n_planes - 1: NO_CLASS} if self.open else planes

    def machines(
        self,
        settings: TrainingSettings,
        class_weight: Array | None = None,
        same_order: bool = True,
    ) -> dict[int, Machine]:
        """Machines that visit rows side by side, by the hyperplane of `planes`."""
        n, made = len(self.classes), {}
        for k, positive in self.planes().items():
            if positive == NO_CLASS:
                plain = replace(settings, direct=False, record=False)
                made[k] = Machine(plain, self.state, k, NO_CLASS, same_order=same_order)
                continue
            table = class_weight_table(class_weight, positive, n, self.together)
            settings.check_weights(np.array(table))
            made[k] = Machine(
                settings, self.state, None if self.together else k, positive,
                same_order=same_order, n_classes=n, class_weight=table,
            )  # fmt: skip
        return made

    def moved_machines(
        self,
        machines: dict[int, Machine],
        planes: Planes,
        settings: TrainingSettings,
        class_weight: Array | None = None,
    ) -> dict[int, Machine]:
        """Machines of the present hyperplanes, moved from those before.

        Hyperplane k was planes[k][0], and planes[k][1] is its sign. The direct rule's one machine
        is moved from the first hyperplane that is not new.
        """
        n, made = len(self.classes), {}
        for k, positive in self.planes().items():
            if positive == NO_CLASS:
                machine, (_, sign) = machines[planes[k][0]], planes[k]
                made[k] = machine.moved_to(self.state, k, NO_CLASS, sign)
                continue
            origin, sign = next(p for p in planes[k:] if p[0] >= 0)
            table = class_weight_table(class_weight, positive, n, self.together)
            settings.check_weights(np.array(table))
            made[k] = machines[origin].moved_to(
                self.state, None if self.together else k, positive, sign, n_classes=n,
                class_weight=table,
            )  # fmt: skip
        return made

    def close(self, settings: TrainingSettings) -> Planes:
        """No further class may appear: drop the spare hyperplane."""
        chosen = [(k, 1.0) for k in range(self.n_planes)]
        self.state = self.state.gather(chosen, settings.rule, settings.fit_intercept)
        self.open = False
        return chosen

    # ---------------------------------------------------------------------- training

    def fit(
        self,
        problem: Problem,
        settings: TrainingSettings,
        seeds: Sequence[int],
        *,
        class_weight: Array | None = None,
        held_out: Array | None = None,
        observers_for: Callable[[int | None], Sequence[Observer]] = lambda k: (),
        n_jobs: int | None = None,
    ) -> Trace | OneVsRestTrace:
        """Train on rows in memory whose class numbers are those of `classes`."""
        held = None if held_out is None else held_rows(problem, held_out)

        def one(
            plane: int, positive: int, seed: int, weights: Array | None, k: int | None
        ) -> tuple[Machine, Trace]:
            machine = run_machine(
                problem, settings, self.state, plane, positive, seed=seed, class_weight=weights,
                held_out=held, observers=observers_for(k), running=machines,
            )  # fmt: skip
            known = problem if k is None else problem.versus_rest(k)
            return machine, machine.trace(known, held_out)

        self.state.prepare(settings.rule, settings.keep, settings.fit_intercept)
        machines: list[Machine] = []
        n_classes = len(self.classes)
        if n_classes == 1:
            done = [one(self.state.n_planes - 1, NO_CLASS, seeds[0], None, None)]
        elif self.n_runs == 1:
            done = [one(0, 1, seeds[0], class_weight, None)]
        else:

            def class_against_rest(k: int) -> tuple[Machine, Trace]:
                return one(k, k, seeds[k], class_weight, k)

            done = _in_threads(class_against_rest, n_classes, _threads(n_jobs), machines)
        if self.open and n_classes > 1:
            plain = replace(settings, direct=False, record=False)
            spare = self.state.n_planes - 1
            run_machine(problem, plain, self.state, spare, NO_CLASS, seed=seeds[0])
        self._keep(settings, [machine for machine, _ in done])
        return self.trace_of([trace for _, trace in done])

    def _keep(self, settings: TrainingSettings, machines: list[Machine]) -> None:
        self.keep, self.coef, self.intercept = settings.keep, None, None
        if settings.keep == "pocket" or machines[0].best.w is not None:
            results = [machine.result() for machine in machines]
            self.coef = np.concatenate([np.atleast_2d(w) for w, _ in results])
            self.intercept = np.concatenate([b for _, b in results])

    # ----------------------------------------------------------------------- results

    def last(self) -> tuple[Array, Array]:
        """The last weights of the hyperplanes of classes."""
        return self._of_classes(*self.state.kept("last"))

    def kept(self) -> tuple[Array, Array]:
        """(coef, intercept) that `keep` returns; not for votes."""
        if self.coef is not None and self.intercept is not None:
            return self.coef.copy(), self.intercept.copy()
        return self._of_classes(*self.state.kept(self.keep))

    def _of_classes(self, w: Array, b: Array) -> tuple[Array, Array]:
        if len(self.classes) == 1 and self.open:  # every row was on its positive side
            return -w[-1:], -b[-1:]
        return w[: self.n_planes], b[: self.n_planes]

    def ballots(self) -> tuple[Ballot, ...]:
        """The votes of each hyperplane, for keep="vote"."""
        state, single = self.state, len(self.classes) == 1
        which = [state.n_planes - 1] if single else [0] if self.together else range(self.n_planes)
        ballots = [state.ballot(k) for k in which]
        if single:
            ballots = [Ballot(-b.w, -b.b, b.counts) for b in ballots]
        return tuple(ballots)

    @property
    def n_mistakes(self) -> int:
        return self._total(self.state.mistakes)

    @property
    def n_updates(self) -> int:
        return self._total(self.state.updates)

    def _total(self, counts: Array) -> int:
        if len(self.classes) == 1 and self.open:
            return int(counts[-1])
        return int(counts[: self.n_planes].sum())


def start_weights(
    settings: TrainingSettings,
    n_classes: int,
    d: int,
    dtype: Any,
    random_state: Any = 0,
    coef_init: Any = None,
    intercept_init: Any = None,
) -> tuple[Array, Array]:
    """The first weights: W of shape (rows, d) and b of shape (rows,), one row for two classes."""
    rows, init = 1 if n_classes <= 2 else n_classes, settings.init
    w, b = np.zeros((rows, d), dtype), np.zeros(rows, dtype)
    names = ("coef_init", "intercept_init")
    if coef_init is None and intercept_init is None and not isinstance(init, str):
        coef_init, intercept_init = _split_init(init, rows, d, settings.fit_intercept)
        names = ("init", "init")
    elif coef_init is None and isinstance(init, str) and init == "random":
        rng = generator(random_state)
        w = rng.standard_normal((rows, d)).astype(dtype)
        if settings.fit_intercept:
            b = rng.standard_normal(rows).astype(dtype)
    if coef_init is not None:
        w = _shaped(coef_init, (rows, d), names[0], dtype)
    if intercept_init is not None:
        b = _shaped(intercept_init, (rows,), names[1], dtype)
    check_start(settings, w, b)
    return w, b


def check_start(settings: TrainingSettings, w: Array, b: Array) -> None:
    """Refuse a start from which tie='correct' would never learn anything."""
    if settings.tie != "correct" or settings.rule.moves_at_margin or not settings.rule.has_rate:
        return
    flat = not (w.any(axis=1) | (b != 0)).all()
    level = settings.direct and len(b) > 1 and not (np.ptp(w, axis=0).any() or np.ptp(b))
    if flat or level:
        raise ParameterError(
            "tie='correct' never counts a score of 0 as a mistake, and from w = 0 every score is "
            "0: nothing would ever be learned. Give a start (init='random' or an array), or use "
            "tie='mistake'."
        )


def _shaped(values: Any, shape: tuple[int, ...], name: str, dtype: Any) -> Array:
    try:
        with np.errstate(over="ignore"):
            given = values.toarray() if hasattr(values, "toarray") else values
            array = np.array(given, dtype=np.float64).astype(dtype)
    except (TypeError, ValueError) as e:
        raise DataError(f"{name} holds something that is not a number: {e}.") from e
    if array.size == np.prod(shape) and (array.shape == shape or shape[0] == 1):
        array = array.reshape(shape)
    if array.shape != shape:
        raise DataError(
            f"Provided {name} does not match dataset: its shape is {array.shape}, expected "
            f"{shape}. (With warm_start, it is that of the last fit.)"
        )
    if not np.isfinite(array).all():
        raise DataError(
            f"{name} holds NaN, infinity or a value too large for {dtype}. Start from finite "
            "weights."
        )
    return array


def _split_init(init: Any, rows: int, d: int, intercept: bool) -> tuple[Array, Array | None]:
    """An `init` array as weights and, if one more column came along, offsets."""
    try:
        array = np.array(init, dtype=np.float64)
    except (TypeError, ValueError) as e:
        raise ParameterError(f"init must be 'zero', 'random' or an array, got {init!r}.") from e
    if rows == 1 and array.ndim == 1:
        array = array[None]
    if array.shape == (rows, d + 1) and intercept:
        return array[:, :d], array[:, d]
    if array.shape != (rows, d):
        shown = f"shape {array.shape}" if array.ndim else repr(init)
        raise ParameterError(
            f"init must be 'zero', 'random' or an array of the shape of coef_, {(rows, d)}"
            + (f", or {(rows, d + 1)} with the offset as last column" if intercept else "")
            + f". Got {shown}."
        )
    return array, None


def class_weights(class_weight: Any, problem: Problem, counts: Array | None = None) -> Array | None:
    """One weight per class, or None for all ones.

    "balanced": rows / (classes * rows of the class), from `counts` where given.
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        counts = problem.counts() if counts is None else counts
        balanced: Array = counts.sum() / (len(problem.classes) * np.maximum(counts, 1))
        return balanced
    known = problem.classes.tolist()
    unknown = [label for label in class_weight if label not in known]
    if unknown and any(label not in class_weight for label in known):
        raise ParameterError(
            f"class_weight names {unknown}, which are not among the classes {known}."
        )
    return weights_of(class_weight, known)


def weights_of(class_weight: Any, known: list[Any]) -> Array:
    """The weights that a dict gives to some classes; those it does not name weigh 1."""
    try:
        weights = np.array([float(class_weight.get(label, 1.0)) for label in known])
    except (TypeError, ValueError) as e:
        raise ParameterError(f"class_weight must hold numbers, got {class_weight!r}.") from e
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ParameterError(
            f"class_weight must hold finite weights >= 0, not all 0, got {class_weight!r}."
        )
    return weights


def _in_threads(
    job: Callable[[int], Any], n: int, threads: int, machines: list[Machine]
) -> list[Any]:
    """job(0), ..., job(n - 1). The core releases the GIL; Ctrl-C cancels all machines."""
    if threads == 1:
        return [job(k) for k in range(n)]
    pool = ThreadPoolExecutor(threads)
    futures = [pool.submit(job, k) for k in range(n)]
    try:
        return [future.result() for future in futures]
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        while running := [future for future in futures if not future.done()]:
            for machine in machines:  # again and again: a job may have made its machine just now
                machine.cancel()
            wait(running, timeout=0.05)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _threads(n_jobs: int | None) -> int:
    """scikit-learn's meaning: None is 1, -1 is all cores, -2 all but one."""
    if n_jobs is None:
        return 1
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
