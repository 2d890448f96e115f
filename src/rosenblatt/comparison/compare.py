"""Compare: cross-validation and progressive error of every rule and keep on the user's data."""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from rosenblatt.comparison.result import Comparison, Refusal, Trial, rule_name
from rosenblatt.data.labels import as_labels
from rosenblatt.data.problem import Problem
from rosenblatt.errors import (
    DataError,
    LabelError,
    NotSupportedError,
    OverflowedError,
    ParameterError,
)
from rosenblatt.estimators import Perceptron
from rosenblatt.io.reader import labelled_rows, read
from rosenblatt.learn.rules import RULES, Rule, resolve
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.show.trials import TrialsBar
from rosenblatt.text import plural

Array = npt.NDArray[Any]
Progress = Callable[[int, int, str], Any]
KEEPS = ("last", "average")
BLOCKS = 100
# an update of these looks at all rows: not for many of them unless asked for
FOR_FEW_ROWS = {"minover": 10_000}
ROWS_OF_A_FILE = 100_000


def compare(
    X: Any,
    y: Any,
    *,
    rules: Iterable[str | Rule] | str | Rule | None = None,
    keeps: Iterable[str] | str = KEEPS,
    max_iter: int | Iterable[int] = 2,
    cv: Any = 5,
    before: Any = None,
    shuffle: bool = False,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Progress | bool | None = None,
    **settings: Any,
) -> Comparison:
    """Compare rules and keeps on the user's data: accuracy, time, and which to use.

    Each is cross-validated; and once, in the order given, it predicts blocks of rows before it
    learns them. docs/how-to/compare.md defines the figures.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n_samples, n_features)
        Rows of numbers, or whatever `before` takes.
    y : array of shape (n_samples,)
        Labels of two classes or more.
    rules : iterable of str or Rule, str, Rule or None, default=None
        Names or objects of rules. None: all, but those that look at all rows for one update
        (minover) only up to 10,000 rows.
    keeps : iterable of str or str, default=("last", "average")
        Which weights are kept; "vote" and "pocket" only if named.
    max_iter : int or iterable of int, default=2
        Epochs in each fold. With several, every rule and keep is tried with each.
    cv : int or splitter, default=5
        Number of shuffled, stratified folds, or a splitter of scikit-learn.
    before : transformer or None, default=None
        A transformer of scikit-learn that makes the columns of X, such as ``StandardScaler()`` or
        a vectoriser. It is fitted in each fold; for the progressive error, on all rows.
    shuffle : bool, default=False
        Whether to shuffle the rows before progressive validation.
    sample_weight : array of shape (n_samples,) or None, default=None
        A row of weight k counts k times, when learned and when predicted.
    n_jobs : int or None, default=None
        Folds trained at the same time, in threads; -1: one per core. It changes no accuracy.
    random_state : int, RandomState or None, default=0
        Seed of the folds and of the order of visits.
    progress : callable, bool or None, default=None
        Called with the number of finished trials, their number in all, and the name of the last.
        None: a bar on standard error if that is a terminal. False: nothing.
    **settings : Any
        Further parameters of every `Perceptron`, such as ``fit_intercept=False``.

    Returns
    -------
    Comparison
        Prints as a table with a recommendation. A choice that is not supported is listed with the
        reason.

    Raises
    ------
    ParameterError
        If a parameter is invalid.
    DataError
        If X or the weights are invalid, or cannot be cut into folds.
    LabelError
        If y has one class, or a class with one row.
    NotSupportedError
        If none of the choices can be tried.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from rosenblatt.data.toy_datasets import tumours
    >>> X, y = tumours()
    >>> found = compare(scale(X), y, rules=["perceptron", "margin"])
    >>> found.recommended.call, round(found.recommended.accuracy, 3)
    ('Perceptron(keep="average", max_iter=2, tol=None)', 0.975)
    """
    _check(n_jobs=n_jobs, random_state=random_state)
    if not isinstance(shuffle, (bool, np.bool_)):
        raise ParameterError(f"shuffle must be True or False, got {shuffle!r}.")
    if not isinstance(random_state, (int, np.integer)):  # one number for all trials
        random_state = int(check_random_state(random_state).randint(2**31))
    made = X if before is None else clone(before).fit_transform(X, as_labels(y))
    problem = Problem.of(made, y, sample_weight)
    if len(problem.classes) < 2:
        raise LabelError(
            f"y holds one class ({problem.classes.tolist()[0]!r}), and a comparison needs two. "
            "Give rows of another class."
        )
    order = np.arange(problem.n_rows)
    if problem.sample_weight is not None:
        order = order[problem.sample_weight > 0]  # the others neither teach nor count
    if shuffle:
        order = np.random.default_rng(random_state).permutation(order)
    choices, refused = _choices(rules, keeps, max_iter, len(order), settings, random_state)
    raw = problem.X if before is None else X
    data = _Data(raw, problem, order, _splits(problem, order, cv, random_state), before)
    trials = []
    with (
        warnings.catch_warnings(),
        _watched(progress) as watch,
        joblib.parallel_config("threading", n_jobs=n_jobs or 1),
    ):
        warnings.simplefilter("ignore")  # of small classes and full ballots; see the remarks
        progressive: dict[Any, float | None] = {}
        for k, choice in enumerate(choices, start=1):
            try:
                accuracies, seconds = data.cross_validated(choice.model(random_state))
                key = choice.rule, choice.keep
                if key not in progressive:  # the number of epochs does not matter
                    progressive[key] = data.progressive_error(choice.model(random_state))
            except (NotSupportedError, OverflowedError) as e:
                refused.append(Refusal(choice.name, choice.keep, str(e)))
            else:
                error = progressive[key]
                trials.append(
                    replace(choice, accuracies=accuracies, progressive_error=error, seconds=seconds)
                )
            watch(k, len(choices), f"{choice.name}, {choice.keep}")
        accuracies, _ = data.cross_validated(DummyClassifier(strategy="most_frequent"))
    if not trials:
        reasons = "; ".join(f"{r.rule}, {r.keep}: {r.reason}" for r in refused)
        raise NotSupportedError(f"none of the choices can be tried on these data. {reasons}")
    majority = Trial(None, "", trials[0].max_iter, accuracies, data.majority_error(), 0.0)
    return Comparison(
        tuple(sorted(trials, key=lambda t: (-t.accuracy, *t.simplicity))), majority,
        tuple(refused), len(order), problem.n_features, len(problem.classes), len(accuracies),
        len(blocks(len(order))), data.remarks(cv, shuffle),
    )  # fmt: skip


def compare_file(
    file: str | Path,
    *,
    max_rows: int = ROWS_OF_A_FILE,
    scale: bool = False,
    reading: Mapping[str, Any] | None = None,
    **choices: Any,
) -> Comparison:
    """Compare rules and keeps on the first rows of a file.

    Parameters
    ----------
    file : str or Path
        Rows and labels: LIBSVM, VW text, CSV or Parquet.
    max_rows : int, default=100000
        Most rows to read, from the start; the remarks say so if there are more.
    scale : bool, default=False
        Whether to divide every column by its deviation, after centring if rows are dense.
    reading : dict or None, default=None
        Settings of :func:`rosenblatt.read_chunks`.
    **choices : Any
        Parameters of :func:`compare`.

    Returns
    -------
    Comparison
        As of :func:`compare`, with remarks on the rows that were left out.

    Raises
    ------
    DataError
        If the file cannot be read.
    LabelError
        If the rows that were read have one class.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "rows.csv")
    ...     _ = path.write_text("0,no\\n1,no\\n2,yes\\n3,yes\\n" * 5)
    ...     compare_file(path, reading={"target": -1}, rules="perceptron", keeps="last").n_rows
    20
    """
    whole = read(file, max_rows=max_rows, **(reading or {}))
    table = labelled_rows(whole)
    unlabelled = len(whole.y) - len(table.y)
    if scale:
        choices["before"] = StandardScaler(with_mean=not sp.issparse(table.X))
    try:
        found = compare(table.X, table.y, sample_weight=table.sample_weight, **choices)
    except LabelError as e:
        if table.has_more:
            raise LabelError(
                f"of the first {max_rows:,} rows of {file}: {e} Take more rows, or mix the file."
            ) from e
        raise
    remarks = []
    if table.has_more:
        remarks.append(f"These are the first {max_rows:,} rows of {file}; it has more.")
    if table.skipped.count:
        remarks.append(f"{table.skipped.count:,} malformed lines were left out.")
    if unlabelled:
        remarks.append(f"{unlabelled:,} rows without a label were left out.")
    return replace(found, remarks=(*remarks, *found.remarks))


def blocks(n: int) -> list[tuple[int, int]]:
    """Where each block of progressive validation starts and ends.

    A block is as long as everything before it, but at most a hundredth of the rows.

    >>> blocks(6), len(blocks(1000)), blocks(1000)[:6]
    ([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)], 104,
     [(0, 1), (1, 2), (2, 4), (4, 8), (8, 16), (16, 26)])
    """
    longest, cuts = -(-n // BLOCKS), [0, 1]
    while cuts[-1] < n:
        cuts.append(min(n, cuts[-1] + min(cuts[-1], longest)))
    return list(itertools.pairwise(cuts))


@dataclass(frozen=True, eq=False)
class _Data:
    """The rows of a comparison: as they are given to `before` or a model, and validated."""

    raw: Any
    problem: Problem
    order: Array  # of progressive validation; without rows of weight 0
    splits: list[tuple[Array, Array]]
    before: Any

    @property
    def y(self) -> Array:
        return self.problem.classes[self.problem.class_numbers()]

    def cross_validated(self, model: Any) -> tuple[tuple[float, ...], float]:
        """The accuracy on each fold, and the seconds of the quickest training run."""
        weight, y = self.problem.sample_weight, self.y
        name, pipeline = type(model).__name__.lower(), model
        if self.before is not None:
            pipeline = make_pipeline(clone(self.before), model)
        params = None
        if weight is not None:
            prefix = "" if self.before is None else f"{name}__"
            params = {f"{prefix}sample_weight": weight}
        done = cross_validate(
            pipeline, self.raw, y, cv=self.splits, params=params, error_score="raise",
            scoring=lambda model, X, y: (model.predict(X) == y).mean(), return_estimator=True,
        )  # fmt: skip
        accuracies = done["test_score"]
        if weight is not None:
            accuracies = [
                np.average(model.predict(self._rows(test)) == y[test], weights=weight[test])
                for model, (_, test) in zip(done["estimator"], self.splits, strict=True)
            ]
        return tuple(map(float, accuracies)), float(done["fit_time"].min())

    def _rows(self, which: Array) -> Any:
        if hasattr(self.raw, "iloc"):
            return self.raw.iloc[which]
        return [self.raw[k] for k in which] if isinstance(self.raw, list) else self.raw[which]

    def _in_order(self) -> tuple[Any, Array, Array]:
        """Rows, labels and weights in the order of progressive validation."""
        weight = self.problem.sample_weight
        weight = np.ones(self.problem.n_rows) if weight is None else weight
        return self.problem.X[self.order], self.y[self.order], weight[self.order]

    def progressive_error(self, model: Perceptron) -> float | None:
        """Share of rows that are wrong when predicted before they are learned, block by block.

        Blum, Kalai and Langford 1999. The first row counts as wrong, since nothing is known yet.
        """
        model.set_params(shuffle=False, max_iter=1)
        if not hasattr(model, "partial_fit"):
            return None
        X, y, weight = self._in_order()
        wrong = 0.0
        for start, end in blocks(len(y)):
            part = slice(start, end)
            missed = model.predict(X[part]) != y[part] if start else np.ones(1)
            wrong += float(weight[part] @ missed)
            model.partial_fit(X[part], y[part], self.problem.classes, weight[part])
        return wrong / float(weight.sum())

    def majority_error(self) -> float:
        """The progressive error of the class with most rows so far; of equal ones the first."""
        _, y, weight = self._in_order()
        codes = np.searchsorted(self.problem.classes, y)
        wrong = float(weight[0])
        for start, end in blocks(len(y))[1:]:
            most = np.bincount(codes[:start], weight[:start]).argmax()
            wrong += float(weight[start:end] @ (codes[start:end] != most))
        return wrong / float(weight.sum())

    def remarks(self, cv: Any, shuffled: bool) -> tuple[str, ...]:
        """What makes the figures mean less than they seem to."""
        said = []
        if self.before is not None:
            said.append(
                f"Columns are made by {type(self.before).__name__}, fitted in each fold; for the "
                "progressive error, on all rows. The seconds include it."
            )
        X, y, _ = self._in_order()
        _, numbers, counts = np.unique(y, return_inverse=True, return_counts=True)
        changes = int((np.diff(numbers) != 0).sum())
        shares = counts / len(y)
        expected = (len(y) - 1) * (1 - float(shares @ shares))
        if changes < 0.5 * expected and not shuffled:
            said.append(
                f"The labels come in runs: from row to row they change {plural(changes, 'time')}, "
                f"where {expected:.0f} would be expected of shuffled rows. The progressive error "
                "is that of this order and says little about others; the folds are shuffled, and "
                "shuffle=True shuffles the progressive pass too."
            )
        if isinstance(cv, (int, np.integer)) and counts.min() < cv:
            said.append(
                f"The smallest class has {counts.min()} rows, fewer than there are folds ({cv})."
            )
        if not sp.issparse(X):
            scale = np.abs(X).max(axis=0)
            scale = scale[scale > 0]
            if len(scale) and scale.max() > 1000 * scale.min():
                said.append(
                    f"The largest values of the columns lie between {scale.min():.3g} and "
                    f"{scale.max():.3g}. Scaled columns (StandardScaler) often do better."
                )
        return tuple(said)


def _splits(problem: Problem, order: Array, cv: Any, seed: int) -> list[tuple[Array, Array]]:
    """Row numbers of training and held-out rows of each fold."""
    y = problem.classes[problem.class_numbers()][order]
    if not (hasattr(cv, "split") and hasattr(cv, "get_n_splits")):
        whole = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)
        if not (whole and cv >= 2):
            raise ParameterError(
                f"cv must be a whole number >= 2 or a splitter of scikit-learn, got {cv!r}."
            )
        labels, counts = np.unique(y, return_counts=True)
        if counts.min() < 2:
            raise LabelError(
                f"class {labels[counts.argmin()].item()!r} has a single row, which cannot be both "
                "learned from and held out. Give more rows of it, or leave it out."
            )
        cv = StratifiedKFold(int(cv), shuffle=True, random_state=seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of small classes; see the remarks
            splits = list(cv.split(np.zeros((len(y), 1)), y))
    except ValueError as e:
        raise DataError(f"the rows cannot be cut into folds: {e} Use fewer folds (cv).") from e
    return [(order[np.sort(train)], order[np.sort(test)]) for train, test in splits]


def _choices(
    rules: Any, keeps: Any, max_iter: Any, n_rows: int, settings: dict[str, Any], seed: int
) -> tuple[list[Trial], list[Refusal]]:
    """What is to be tried, without results; and what is left out or not supported."""
    own = {"rule", "keep", "max_iter", "tol", "n_jobs", "random_state", "shuffle"} & set(settings)
    unknown = set(settings) - set(Perceptron().get_params(deep=False))
    if own or unknown:
        raise ParameterError(
            f"compare cannot hand on {sorted(own | unknown)}: it sets rule, keep, max_iter, tol, "
            "shuffle, n_jobs and random_state itself, and Perceptron must have the others."
        )
    many: list[Any] = [max_iter] if isinstance(max_iter, (int, np.integer)) else list(max_iter)
    keeps = [keeps] if isinstance(keeps, str) else list(keeps)
    named = [rules] if isinstance(rules, (str, Rule)) else rules
    chosen = [resolve(r) for r in (RULES if named is None else named)]
    if not (many and keeps and chosen):
        raise ParameterError("rules, keeps and max_iter must each hold something to compare.")
    trials, refused = [], []
    for rule, keep in itertools.product(chosen, keeps):
        if rules is None and n_rows > (most := FOR_FEW_ROWS.get(rule.name, n_rows)):
            why = f"left out beyond {most:,} rows unless it is named"
            refused.append(Refusal(rule_name(rule), keep, why))
            continue
        tried = [Trial(rule, keep, k, (), None, 0.0, settings) for k in many]
        try:
            for one in tried:
                _check(**one.model(seed).get_params(deep=False))
        except NotSupportedError as e:
            refused.append(Refusal(rule_name(rule), keep, str(e)))
        else:
            trials += tried
    return trials, refused


def _check(**params: Any) -> None:
    """Refuse invalid parameters of Perceptron, alone and together."""
    TrainingSettings.from_params(Perceptron().get_params(deep=False) | params, "compare")


def _watched(progress: Progress | bool | None) -> Any:
    if callable(progress):
        return nullcontext(progress)
    return TrialsBar(progress is not False and sys.stderr.isatty())
