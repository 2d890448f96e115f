"""Compare: every rule and keep on the user's data, at once."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing, check_random_state

from rosenblatt.comparison.result import Comparison
from rosenblatt.comparison.runs import Progress, Runs, run_all
from rosenblatt.comparison.trial import Refusal, rule_name
from rosenblatt.comparison.validation import (
    Rows,
    blocks,
    folds,
    remarks_on,
    splitter_for,
)
from rosenblatt.data.head import head
from rosenblatt.data.problem import Problem, as_labels
from rosenblatt.errors import (
    LabelError,
    NotSupportedError,
    ParameterError,
)
from rosenblatt.estimators import Perceptron
from rosenblatt.learn.rules import RULES, Rule, resolve
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.show.trials import TrialsBar

KEEPS = ("last", "average")
# an update of these looks at all rows: not for many of them unless asked for
FOR_FEW_ROWS = {"minover": 10_000}
ROWS_OF_A_FILE = 100_000


def compare(
    X: Any,
    y: Any,
    *,
    rules: Iterable[str | Rule] | None = None,
    keeps: Iterable[str] = KEEPS,
    passes: int | Iterable[int] = 2,
    cv: Any = 5,
    before: Any = None,
    shuffle: bool = False,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress | bool | None = None,
    **settings: Any,
) -> Comparison:
    """All rules and keeps on these data: accuracy, time, and which to use.

    Each is trained on all folds but one and predicts that one, in turn; and once, in the order
    given, it predicts blocks of rows before it learns them. docs/how-to/compare.md says how the
    figures are defined.

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
    before : transformer of scikit-learn, e.g. ``StandardScaler()`` or a vectoriser, or None
        Makes the columns of X; X may then be whatever it takes: texts, a frame. In each fold it
        learns from the rows that are not held out; for the progressive pass from all of them.
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
    made = X if before is None else clone(before).fit_transform(X, as_labels(y))
    problem = Problem.of(made, y, sample_weight)
    if len(problem.classes) < 2:
        raise LabelError(
            f"y holds one class ({problem.classes.tolist()[0]!r}), and a comparison needs two. "
            "Give rows of another class."
        )
    rows = Rows(problem.X, problem.classes[problem.class_numbers()], problem.sample_weight)
    seed, order = _seed(random_state), np.arange(len(rows))
    if rows.sample_weight is not None:
        order = order[rows.sample_weight > 0]  # the others neither teach nor count
    if shuffle:
        order = np.random.default_rng(seed).permutation(order)
    rows = rows[order]
    splitter = splitter_for(rows, cv, seed)
    runs, refused = _choices(rules, keeps, passes, len(rows), settings, seed)
    with warnings.catch_warnings(), _watched(progress) as watch:
        warnings.simplefilter("ignore")  # of small classes and full ballots; see the remarks
        cut = folds(rows, splitter, before, before and _safe_indexing(X, order))
        total = splitter.get_n_splits(rows.X, rows.y)
        run_all(runs, rows, problem.classes, cut, total, n_jobs, watch)
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
        remarks_on(rows, cv, shuffle, before),
    )  # fmt: skip


def compare_file(
    file: str | Path,
    *,
    rows: int = ROWS_OF_A_FILE,
    scale: bool = False,
    reading: dict[str, Any] | None = None,
    **choices: Any,
) -> Comparison:
    """The same on the first rows of a file.

    Parameters
    ----------
    file : rows and labels: LIBSVM, VW text, CSV or Parquet
    rows : most rows to read, from the start; the remarks say so if there are more
    scale : divide every column by its deviation, after taking its mean off if rows are dense
    reading : settings of :func:`rosenblatt.read_chunks`
    choices : as for :func:`compare`
    """
    start = head(file, rows, **(reading or {}))
    table = start.table
    if scale:
        choices["before"] = StandardScaler(with_mean=not sp.issparse(table.X))
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
) -> tuple[list[Runs], list[Refusal]]:
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
    runs, refused = [Runs(None, "", max(many), {}, seed)], []
    for rule in chosen:
        most = FOR_FEW_ROWS.get(rule.name, n_rows) if rules is None else n_rows
        if n_rows > most:
            why = f"left out beyond {most:,} rows unless it is named"
            refused += [Refusal(rule_name(rule), keep, why) for keep in keeps]
            continue
        for keep in keeps:
            tried = [Runs(rule, keep, k, settings, seed) for k in many]
            try:
                for one in tried:
                    TrainingSettings.from_params(one.model().get_params(deep=False))
            except NotSupportedError as e:
                refused.append(Refusal(rule_name(rule), keep, str(e)))
            else:
                runs += tried
    return runs, refused


def _seed(random_state: Any) -> int:
    """One number, so that all threads see the same."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def _name(one: Runs) -> str:
    return rule_name(one.rule) if one.rule else ""


def _watched(progress: Progress | bool | None) -> AbstractContextManager[Progress]:
    if callable(progress):
        return nullcontext(progress)
    return TrialsBar(progress is not False and sys.stderr.isatty())
