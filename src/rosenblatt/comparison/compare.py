"""Compare: every rule and keep on the user's data, at once."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from rosenblatt.comparison.result import Comparison
from rosenblatt.comparison.trial import Refusal, Trial, rule_name
from rosenblatt.comparison.validation import (
    Fold,
    Majority,
    Rows,
    blocks,
    folds,
    progressive_error,
    remarks_on,
    splitter_for,
)
from rosenblatt.data.head import head
from rosenblatt.data.problem import Problem
from rosenblatt.errors import (
    LabelError,
    NotSupportedError,
    OverflowedError,
    ParameterError,
)
from rosenblatt.estimators import Perceptron
from rosenblatt.learn.options import Options
from rosenblatt.learn.rules import RULES, Rule, resolve
from rosenblatt.show.trials import TrialsBar

Progress = Callable[[int, int, str], Any]
KEEPS = ("last", "average")
# an update of these looks at all rows: not for many of them unless asked for
FOR_FEW_ROWS = {"minover": 10_000}
ROWS_OF_A_FILE = 100_000


@dataclass(eq=False)
class _Runs:
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


def compare(
    X: Any,
    y: Any,
    *,
    rules: Iterable[str | Rule] | None = None,
    keeps: Iterable[str] = KEEPS,
    passes: int | Iterable[int] = 2,
    cv: Any = 5,
    shuffle: bool = False,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress | bool | None = None,
    **settings: Any,
) -> Comparison:
    """All rules and keeps on these data: accuracy, time, and which to use.

    Each is trained on all folds but one and predicts that one, in turn; and once, in the order
    given, it predicts blocks of rows before it learns them. docs/compare.md says how the figures
    are defined.

    Parameters
    ----------
    X, y : rows and labels, as `Perceptron.fit` takes them; two classes or more
    rules : names or objects of rules
        None: all there are, but those that look at all rows for one update (minover) only up to
        10,000 rows.
    keeps : which weights are kept; "vote" and "pocket" only if named
    passes : int or several
        Passes over the rows in each fold. With several, every rule and keep is tried with each.
    cv : int or splitter
        The number of folds, mixed and with the classes in proportion; or an object of
        scikit-learn with a method `split`.
    shuffle : mix the rows before progressive validation, which else goes in the order given
    sample_weight : one weight a row; a row of weight k counts k times, learned or predicted
    n_jobs : int or None
        Trials made at a time, in threads; -1: as many as there are cores. It changes no accuracy.
    random_state : seed of the folds and of the order of visits
    progress : callable, False or None
        Is called with the number of runs made, their number in all, and the name of the last. None:
        a bar on standard error if that is a terminal. False: silence.
    settings : what else every `Perceptron` is given, e.g. ``fit_intercept=False``

    Returns
    -------
    Comparison
        Prints as a table with a recommendation. A choice that is not supported is listed with the
        reason.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from rosenblatt.data.samples import tumours
    >>> X, y = tumours()
    >>> found = compare(scale(X), y, rules=["perceptron", "margin"])
    >>> found.recommended.call, round(found.recommended.accuracy, 3)
    ('Perceptron(keep="average", max_iter=2, tol=None)', 0.975)
    """
    problem = Problem.of(X, y, sample_weight)
    if len(problem.classes) < 2:
        raise LabelError(
            f"y holds one class ({problem.classes.tolist()[0]!r}), and a comparison needs two. "
            "Give rows of another class."
        )
    rows = Rows(problem.X, problem.classes[problem.class_numbers()], problem.sample_weight)
    if rows.sample_weight is not None:
        rows = rows[rows.sample_weight > 0]  # the others neither teach nor count
    seed = _seed(random_state)
    if shuffle:
        rows = rows[np.random.default_rng(seed).permutation(len(rows))]
    splitter = splitter_for(rows, cv, seed)
    runs, refused = _choices(rules, keeps, passes, len(rows), settings, seed)
    with warnings.catch_warnings(), _watched(progress) as watch:
        warnings.simplefilter("ignore")  # of small classes and full ballots; see the remarks
        _run(runs, rows, problem.classes, splitter, n_jobs, watch)
    floor, *others = runs
    refused += [Refusal(_name(r), r.keep, r.refused) for r in others if r.refused]
    done = sorted(
        (r.trial() for r in others if not r.refused), key=lambda t: (-t.accuracy, *t.simplicity)
    )
    if not done:
        reasons = "; ".join(f"{r.rule}, {r.keep}: {r.reason}" for r in refused)
        raise NotSupportedError(f"none of the choices can be tried on these data. {reasons}")
    return Comparison(
        tuple(done), floor.trial(), tuple(refused), len(rows), problem.n_features,
        len(problem.classes), len(floor.accuracies), len(blocks(len(rows))),
        remarks_on(rows, cv, shuffle),
    )  # fmt: skip


def compare_file(
    file: str | Path,
    *,
    rows: int = ROWS_OF_A_FILE,
    reading: dict[str, Any] | None = None,
    **choices: Any,
) -> Comparison:
    """The same on the first rows of a file.

    Parameters
    ----------
    file : rows and labels: LIBSVM, VW text, CSV or Parquet
    rows : most rows to read, from the start; the remarks say so if there are more
    reading : settings of :func:`rosenblatt.read_chunks`
    choices : as for :func:`compare`
    """
    start = head(file, rows, **(reading or {}))
    table = start.table
    try:
        found = compare(table.X, table.y, sample_weight=table.sample_weight, **choices)
    except LabelError as e:
        if start.more:
            raise LabelError(
                f"of the first {rows:,} rows of {file}: {e} Take more rows, or mix the file."
            ) from e
        raise
    said = []
    if start.more:
        said.append(f"These are the first {rows:,} rows of {file}; it has more.")
    if table.skipped.count:
        said.append(f"{table.skipped.count:,} malformed lines were left out.")
    if start.unlabelled:
        said.append(f"{start.unlabelled:,} rows without a label were left out.")
    return replace(found, remarks=(*said, *found.remarks))


def _choices(
    rules: Iterable[str | Rule] | None,
    keeps: Iterable[str],
    passes: int | Iterable[int],
    n_rows: int,
    settings: dict[str, Any],
    seed: int,
) -> tuple[list[_Runs], list[Refusal]]:
    """What is to be tried, the majority class first; and what is left out or not supported."""
    own = {"rule", "keep", "max_iter", "tol", "n_jobs", "random_state", "shuffle"} & set(settings)
    unknown = set(settings) - set(Perceptron().get_params(deep=False))
    if own or unknown:
        raise ParameterError(
            f"compare cannot hand on {sorted(own | unknown)}: it sets rule, keep, max_iter, tol, "
            "shuffle, n_jobs and random_state itself, and Perceptron must have the others."
        )
    many = [passes] if isinstance(passes, (int, np.integer)) else list(passes)
    keeps = [keeps] if isinstance(keeps, str) else list(keeps)
    named = [rules] if isinstance(rules, (str, Rule)) else rules
    chosen = [resolve(r) for r in (RULES if named is None else named)]
    if not (many and keeps and chosen):
        raise ParameterError("rules, keeps and passes must each hold something to compare.")
    runs, refused = [_Runs(None, "", max(many), {}, seed)], []
    for rule in chosen:
        most = FOR_FEW_ROWS.get(rule.name, n_rows) if rules is None else n_rows
        if n_rows > most:
            why = f"left out beyond {most:,} rows unless it is named"
            refused += [Refusal(rule_name(rule), keep, why) for keep in keeps]
            continue
        for keep in keeps:
            tried = [_Runs(rule, keep, k, settings, seed) for k in many]
            try:
                for one in tried:
                    Options.of(one.model().get_params(deep=False))
            except NotSupportedError as e:
                refused.append(Refusal(rule_name(rule), keep, str(e)))
            else:
                runs += tried
    return runs, refused


def _run(
    runs: list[_Runs],
    rows: Rows,
    classes: Any,
    splitter: Any,
    n_jobs: int | None,
    watch: Progress,
) -> None:
    """All runs, in threads, fold by fold; the kernels release the GIL.

    Progressive validation does not depend on the number of passes: it is done once for all.
    """
    firsts: dict[Any, _Runs] = {}
    for one in runs:
        firsts.setdefault((one.rule, one.keep), one)
    n_folds = splitter.get_n_splits(rows.X, rows.y)
    total, made = len(firsts) + n_folds * len(runs), 0

    def through(jobs: list[_Runs], work: Callable[[_Runs], None]) -> None:
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
        for fold in folds(rows, splitter):
            through(runs, lambda one, fold=fold: one.fold(fold))  # type: ignore[misc]
    finally:
        pool.shutdown(cancel_futures=True)


def _seed(random_state: Any) -> int:
    """One number, so that all threads see the same."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def _name(one: _Runs) -> str:
    return rule_name(one.rule) if one.rule else ""


def _watched(progress: Progress | bool | None) -> AbstractContextManager[Progress]:
    if callable(progress):
        return nullcontext(progress)
    return TrialsBar(progress is not False and sys.stderr.isatty())
