"""Callbacks: what scikit-learn's watchers and the terminal are told about every pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.problem import Problem
from rosenblatt.learn.options import Options
from rosenblatt.learn.training import Monitor, Progress


class Listener:
    """Tells scikit-learn's callbacks, and the terminal if verbose, about every pass.

    The task of `fit` has one subtask per pass, or one per class with one per pass each.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, problem: Problem, options: Options) -> None:
        self.estimator, self.problem = estimator, problem
        self.listening = hasattr(estimator, "_skl_callbacks")
        self.each = len(problem.classes) > 2 and not options.direct
        self.can_predict = not self.each and options.keep != "vote"
        weight = problem.sample_weight
        self.told = {
            "estimator": estimator,
            "X": X,
            "y": y,
            "metadata": None if weight is None else {"sample_weight": weight},
        }
        passes = estimator.max_iter
        self.root = estimator._init_callback_context(
            max_subtasks=len(problem.classes) if self.each else passes
        )
        self.root.call_on_fit_task_begin(**self.told)
        self.open: list[Any] = []

    def monitor_for(self, k: int | None) -> Monitor | None:
        """The watcher of one run: class number k against the rest, or the only one."""
        if not self.listening and not self.estimator.verbose:
            return None
        name, task = "" if k is None else f"class {self.problem.classes[k]}", self.root
        if self.listening and k is not None:
            self.close_class()
            task = self.root.subcontext(task_name=name, max_subtasks=self.estimator.max_iter)
            task.call_on_fit_task_begin(estimator=self.estimator)
            self.open.append(task)
        return _PassMonitor(self, task, f"{name}, " if name else "")

    def close_class(self) -> None:
        """The class before is done."""
        for task in self.open:
            task.call_on_fit_task_end(estimator=self.estimator)
        self.open.clear()

    def close(self) -> None:
        """The fit is done."""
        self.close_class()
        self.root.call_on_fit_task_end(**self.told, reconstruction_attributes={})


class _PassMonitor:
    """One run's passes, told to a Listener's callbacks and the terminal."""

    def __init__(self, listener: Listener, task: Any, name: str) -> None:
        self.listener, self.task, self.name = listener, task, name
        self.current: Any = None

    def before_pass(self) -> None:
        if self.listener.listening:
            self.current = self.task.subcontext(task_name="pass")
            self.current.call_on_fit_task_begin(**self.listener.told)

    def after_pass(self, now: Progress) -> bool:
        if self.listener.estimator.verbose:
            held = "" if now.score is None else f", held out {now.score:.4f}"
            print(
                f"{self.name}pass {now.pass_number}: {now.mistakes} mistakes, "
                f"{now.updates} updates, mean loss {now.loss:.6g}, "
                f"||w|| {now.norm:.6g}{held}, {now.seconds:.2f} s"
            )
        if not self.listener.listening:
            return False
        attributes = self._attributes(now) if self.listener.can_predict else None
        return bool(
            self.current.call_on_fit_task_end(
                **self.listener.told, reconstruction_attributes=attributes
            )
        )

    def _attributes(self, now: Progress) -> dict[str, Any]:
        w, b = now.weights()
        classes = self.listener.problem.classes
        return {"classes_": classes, "coef_": np.atleast_2d(w), "intercept_": b}
