"""Runs: every trial through all folds and once in order, in threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from joblib import effective_n_jobs

from rosenblatt.comparison.trial import Trial, rule_name
from rosenblatt.comparison.validation import Fold, Majority, Rows, progressive_error
from rosenblatt.errors import NotSupportedError, OverflowedError
from rosenblatt.estimators import Perceptron
from rosenblatt.learn.rules import Rule

Progress = Callable[[int, int, str], Any]


@dataclass(eq=False)
class Runs:
    """All runs of one rule, keep and number of passes, as they are made."""

    rule: Rule | None
    keep: str
    passes: int
    settings: dict[str, Any]
    seed: int
    accuracies: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    progressive: float | None = None
    refused: str = ""

    @property
    def called(self) -> str:
        return f"{rule_name(self.rule)}, {self.keep}" if self.rule else "majority class"

    def model(self, **others: Any) -> Any:
        if self.rule is None:
            return Majority()
        return Perceptron(**{**self.trial().params, "random_state": self.seed, **others})

    def trial(self) -> Trial:
        seconds = min(self.seconds, default=0.0)
        return Trial(
            self.rule, self.keep, self.passes, tuple(self.accuracies), self.progressive, seconds,
            self.settings,
        )  # fmt: skip

    def progress(self, rows: Rows, classes: Any) -> None:
        """One pass in order."""
        model = self.model(shuffle=False, max_iter=1)
        try:
            self.progressive = progressive_error(model, rows, classes)
        except NotSupportedError:  # it may still learn from all rows at once
            self.progressive = None
        except OverflowedError as e:
            self.refused = str(e)

    def fold(self, fold: Fold) -> None:
        """One fold, unless an earlier one could not be learned."""
        if self.refused:
            return
        try:
            accuracy, seconds = fold.accuracy(self.model())
        except (NotSupportedError, OverflowedError) as e:
            self.refused = str(e)
            return
        self.accuracies.append(accuracy)
        self.seconds.append(seconds)


def run_all(
    runs: list[Runs],
    rows: Rows,
    classes: Any,
    cut: Iterable[Fold],
    n_folds: int,
    n_jobs: int | None,
    watch: Progress,
) -> None:
    """All runs, in threads, fold by fold; the core releases the GIL.

    Progressive validation does not depend on the number of passes: it is done once for all.
    """
    firsts: dict[Any, Runs] = {}
    for one in runs:
        firsts.setdefault((one.rule, one.keep), one)
    total, made = len(firsts) + n_folds * len(runs), 0

    def through(jobs: list[Runs], work: Callable[[Runs], None]) -> None:
        nonlocal made
        for one, _ in zip(jobs, pool.map(work, jobs), strict=True):
            made += 1
            watch(made, total, one.called)

    pool = ThreadPoolExecutor(effective_n_jobs(n_jobs))
    try:
        through(list(firsts.values()), lambda one: one.progress(rows, classes))
        for one in runs:
            first = firsts[one.rule, one.keep]
            one.progressive, one.refused = first.progressive, first.refused
        for fold in cut:
            # mypy cannot infer a lambda that keeps its fold
            through(runs, lambda one, fold=fold: one.fold(fold))  # type: ignore[misc]
    finally:
        pool.shutdown(cancel_futures=True)
