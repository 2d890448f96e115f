"""Callbacks: scikit-learn's callbacks and verbose output as observers of a run."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rosenblatt.data.problem import Problem
from rosenblatt.learn.engine import Observer, Progress

__all__ = ["CallbackSupportMixin", "EpochCallbacks", "has_callbacks", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: this scikit-learn has no callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Call the method and nothing else: this scikit-learn has no callbacks."""

        @functools.wraps(method)
        def called(*args: Any, **kwargs: Any) -> Any:  # one frame, as in scikit-learn's
            return method(*args, **kwargs)

        return called


def has_callbacks(estimator: Any) -> bool:
    """Whether callbacks were set on the estimator."""
    return hasattr(estimator, "_skl_callbacks")


def epoch_line(epoch: int, machines: Sequence[Any]) -> str:
    """What the last epoch of one machine, or of several side by side, did."""
    totals = [machine.core.totals() for machine in machines]
    mistakes, updates = (sum(int(t[name][-1]) for t in totals) for name in ("mistakes", "updates"))
    loss = np.mean([m.mean_loss(t["loss"][-1]) for m, t in zip(machines, totals, strict=True)])
    norm = math.hypot(*(t["norm"][-1] for t in totals))
    scores = [machine.scores[-1] for machine in machines if machine.scores]
    held = f", held out {np.mean(scores):.4f}" if scores else ""
    return (
        f"epoch {epoch}: {mistakes} mistakes, {updates} updates, mean loss {loss:.6g}, "
        f"||w|| {norm:.6g}{held}, {sum(machine.seconds for machine in machines):.2f} s"
    )


class PrintEpochs:
    """Prints a line after each epoch, for `verbose`."""

    def __init__(self, line: Callable[[Progress], str]) -> None:
        self.line = line

    def begin_epoch(self, epoch: int) -> None: ...

    def after_block(self, progress: Progress) -> None: ...

    def end_epoch(self, progress: Progress) -> bool:
        print(self.line(progress))
        return False


class EpochCallbacks:
    """Calls scikit-learn's callbacks, and prints if verbose, after every epoch.

    The task of `fit` has one subtask per epoch, or one per class with one per epoch each.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, problem: Problem, together: bool) -> None:
        self.estimator, self.problem = estimator, problem
        self.listening = has_callbacks(estimator)
        self.per_class = len(problem.classes) > 2 and not together
        self.can_predict = not self.per_class and estimator.keep != "vote"
        weight = problem.sample_weight
        self.arguments = {
            "estimator": estimator,
            "X": X,
            "y": y,
            "metadata": None if weight is None else {"sample_weight": weight},
        }
        self.open: list[Any] = []
        self.root: Any = None
        if self.listening:
            self.root = estimator._init_callback_context(
                max_subtasks=len(problem.classes) if self.per_class else estimator.max_iter
            )
            self.root.call_on_fit_task_begin(**self.arguments)

    def observers_for(self, k: int | None) -> list[Observer]:
        """The observers of one run: class number k against the rest, or the only one."""
        if not self.listening and not self.estimator.verbose:
            return []
        name, task = "" if k is None else f"class {self.problem.classes[k]}", self.root
        if self.listening and k is not None:
            self.close_class()
            task = self.root.subcontext(task_name=name, max_subtasks=self.estimator.max_iter)
            task.call_on_fit_task_begin(estimator=self.estimator)
            self.open.append(task)
        return [_EpochObserver(self, task, f"{name}, " if name else "")]

    def close_class(self) -> None:
        """End the task of the class before."""
        for task in self.open:
            task.call_on_fit_task_end(estimator=self.estimator)
        self.open.clear()

    def close(self) -> None:
        """End the task of the fit."""
        if not self.listening:
            return
        self.close_class()
        self.root.call_on_fit_task_end(**self.arguments, reconstruction_attributes={})


class _EpochObserver:
    """The epochs of one run, for the callbacks and the terminal."""

    def __init__(self, callbacks: EpochCallbacks, task: Any, name: str) -> None:
        self.callbacks, self.task, self.name = callbacks, task, name
        self.current: Any = None

    def begin_epoch(self, epoch: int) -> None:
        if self.callbacks.listening:
            self.current = self.task.subcontext(task_name="epoch")
            self.current.call_on_fit_task_begin(**self.callbacks.arguments)

    def after_block(self, progress: Progress) -> None: ...

    def end_epoch(self, progress: Progress) -> bool:
        (machine,) = progress.machines
        if self.callbacks.estimator.verbose:
            print(f"{self.name}{epoch_line(progress.epoch, [machine])}")
        if not self.callbacks.listening:
            return False
        attributes = self._attributes(machine) if self.callbacks.can_predict else None
        return bool(
            self.current.call_on_fit_task_end(
                **self.callbacks.arguments, reconstruction_attributes=attributes
            )
        )

    def _attributes(self, machine: Any) -> dict[str, Any]:
        w, b = machine.kept()
        classes = self.callbacks.problem.classes
        return {"classes_": classes, "coef_": np.atleast_2d(w), "intercept_": b}
