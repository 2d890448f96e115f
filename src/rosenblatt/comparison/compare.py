"""Compare rules by cross-validation and by their progressive error."""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from inspect import signature
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
from sklearn.utils import _safe_indexing, check_random_state

from rosenblatt.comparison.result import Comparison, Refusal, Trial
from rosenblatt.data.block import Block, Csr, stack
from rosenblatt.data.labels import as_labels
from rosenblatt.data.problem import Problem
from rosenblatt.data.source import ChunkSource, LabelIndex, Source
from rosenblatt.errors import (
    DataError,
    LabelError,
    NotSupportedError,
    OverflowedError,
    ParameterError,
)
from rosenblatt.estimators import Perceptron
from rosenblatt.io.file_source import FileSource
from rosenblatt.io.parquet import is_dataset
from rosenblatt.io.reader import FileChunks
from rosenblatt.io.text_format import ReadOptions, is_whole
from rosenblatt.learn.rules import RULES, Rule, resolve
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.stream.fit import encode_table, open_table
from rosenblatt.text import plural

Array = npt.NDArray[Any]
Progress = Callable[[int, int, str], Any]
KEEPS = ("last", "average")
# an update of these looks at all rows: not for many of them unless asked for
FOR_FEW_ROWS = {"minover": 10_000}
ROWS_OF_A_FILE = 100_000


def compare(
    X: Any,
    y: npt.ArrayLike,
    *,
    rules: Iterable[str | Rule] | str | Rule | None = None,
    keeps: Iterable[str] | str = KEEPS,
    max_iter: int | Iterable[int] = 2,
    cv: Any = 5,
    before: Any = None,
    shuffle: bool = False,
    sample_weight: npt.ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    progress: Progress | bool | None = None,
    **settings: Any,
) -> Comparison:
    """Compare rules, and which weights to keep, and recommend a combination.

    Each combination is cross-validated. In addition it predicts every row once, in the order given,
    just before it learns from it. docs/how-to/compare.md defines the figures.

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
        a vectorizer. It is fitted in each fold; for the progressive error, on all rows.
    shuffle : bool, default=False
        Whether to shuffle the rows before progressive validation.
    sample_weight : array of shape (n_samples,) or None, default=None
        A row of weight k counts k times, in training and in the accuracy. With different weights
        there is no progressive error.
    n_jobs : int or None, default=None
        Number of folds to train at the same time, in threads; -1: one per core. The accuracies do
        not depend on it.
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
        Prints as a table with a recommendation. Combinations that are not supported are listed with
        the reason.

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
    numbers = X if before is None else clone(before).fit_transform(X, as_labels(y))
    problem = Problem.of(numbers, y, sample_weight)
    if len(problem.classes) < 2:
        raise LabelError(
            f"y holds one class ({problem.classes.tolist()[0]!r}), and a comparison needs two. "
            "Give rows of another class."
        )
    order = np.arange(problem.n_rows)
    if problem.sample_weight is not None:
        order = order[problem.sample_weight > 0]
    if shuffle:
        order = np.random.default_rng(random_state).permutation(order)
    trials, refused = _choices(rules, keeps, max_iter, len(order), settings, random_state)
    data = _Data(problem, problem.X if before is None else X, order, before)
    found: list[Trial] = []
    with (
        warnings.catch_warnings(),
        _watched(progress) as watch,
        joblib.parallel_config("threading", n_jobs=n_jobs or 1),
    ):
        warnings.simplefilter("ignore")  # of small classes and full ballots; see the remarks
        splits = data.splits(cv, random_state)
        for k, trial in enumerate(trials, start=1):
            model = trial.model(random_state)
            try:
                accuracies, seconds = data.cross_validated(model, splits)
                error = data.progressive_error(model)
            except (NotSupportedError, OverflowedError) as e:
                refused.append(Refusal(trial.name, trial.keep, str(e)))
            else:
                tried = replace(trial, accuracies=accuracies, seconds=seconds)
                found.append(replace(tried, progressive_error=error))
            watch(k, len(trials), f"{trial.name}, {trial.keep}")
        accuracies, _ = data.cross_validated(DummyClassifier(strategy="most_frequent"), splits)
    if not found:
        reasons = "; ".join(f"{r.rule}, {r.keep}: {r.reason}" for r in refused)
        raise NotSupportedError(f"none of the choices can be tried on these data. {reasons}")
    majority = Trial(None, "", found[0].max_iter, accuracies, data.majority_error(), 0.0)
    return Comparison(
        tuple(sorted(found, key=lambda t: (-t.accuracy, *t.simplicity))), majority,
        tuple(refused), len(order), problem.n_features, len(problem.classes), len(splits),
        data.remarks(cv, shuffle),
    )  # fmt: skip


def compare_file(
    file: Any,
    *,
    max_rows: int = ROWS_OF_A_FILE,
    scale: bool | None = None,
    **settings: Any,
) -> Comparison:
    """Compare rules, and which weights to keep, on the first rows of a file.

    Parameters
    ----------
    file : str, Path, pyarrow dataset, chunks or Source
        Rows and labels: LIBSVM, VW text, CSV or Parquet; or chunks as :func:`fit_stream` takes
        them.
    max_rows : int, default=100000
        Largest number of rows to read, from the start. A remark says so if there are more.
    scale : bool or None, default=None
        Whether to divide every column by its standard deviation in each fold, after centering it
        if the rows are dense. None: only for tables with columns that are not numbers, and only
        without `before`.
    **settings : Any
        Parameters of :func:`compare`; settings of :func:`rosenblatt.read_chunks` except `progress`;
        `kinds` of columns as for :func:`fit_file`.

    Returns
    -------
    Comparison
        The result of :func:`compare`, with remarks on rows that were left out.

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
    ...     compare_file(path, target=-1, rules="perceptron", keeps="last").n_rows
    20
    """
    if not (is_whole(max_rows) and max_rows >= 1):
        raise ParameterError(f"max_rows must be a whole number from 1, got {max_rows!r}.")
    names = {field.name for field in fields(ReadOptions)} - {"progress", "optional_label"}
    reading = {name: settings.pop(name) for name in sorted(names & settings.keys())}
    own = signature(compare).parameters.keys() - {"X", "y", "sample_weight"}
    _check_names("compare_file", settings.keys() - own)
    prepared = settings.get("before") is not None
    if scale and prepared:
        raise ParameterError("scale=True and before= both prepare columns. Give one of them.")
    remarks: list[str] = []
    source, has_texts = _source(file, reading, remarks.append)
    block, has_more = _first_rows(source, max_rows)
    known = block.y >= 0
    if not known.any():
        raise LabelError(f"the first {len(known):,} rows have no labels. Give rows that do.")
    X, weight, place, n_skipped = block.X, block.sample_weight, "the chunks", 0
    if isinstance(source, FileSource):
        X = source.columns_from(X, source.format.first_column)
        place, n_skipped = source.place, source.skipped.count
        remarks += [] if source.format.encoder is None else source.format.encoder.remarks()
    X = X.to_scipy() if isinstance(X, Csr) else X
    if (has_texts and not prepared) if scale is None else scale:
        settings["before"] = StandardScaler(with_mean=not sp.issparse(X))
    if has_more:
        remarks.append(f"These are the first {max_rows:,} rows of {place}; there are more.")
    if n_skipped:
        remarks.append(f"{n_skipped:,} malformed lines were left out.")
    if not known.all():
        remarks.append(f"{np.count_nonzero(~known):,} rows without a label were left out.")
    try:
        found = compare(
            X[known], source.labels.values[block.y[known]],
            sample_weight=None if weight is None else weight[known], **settings,
        )  # fmt: skip
    except LabelError as e:
        if not has_more:
            raise
        raise LabelError(
            f"of the first {max_rows:,} rows of {place}: {e} Take more rows, or shuffle them."
        ) from e
    return replace(found, remarks=(*remarks, *found.remarks))


def _source(
    file: Any, reading: Mapping[str, Any], say: Callable[[str], object]
) -> tuple[Source, bool]:
    """The rows as a source, and whether it is a table with columns that are not numbers."""
    if isinstance(file, (str, Path)) or is_dataset(file):
        return open_table(file, ReadOptions.of(reading), None, say)
    if reading:
        raise ParameterError(
            f"{min(reading)} is a setting for reading files, but these rows have been read "
            "already. Leave it out."
        )
    if isinstance(file, FileChunks):
        source = file.source(LabelIndex())
        return source, encode_table(source, None, say)
    return file if hasattr(file, "blocks") else ChunkSource(file, copy=True), False


def _first_rows(source: Source, most: int) -> tuple[Block, bool]:
    """The first `most` rows, and whether there are more."""
    parts, left = [], most
    for block in source.blocks():
        parts.append(block.rows(0, min(left, block.n_rows)))
        left -= block.n_rows
        if left < 0:
            break
    return stack([part for part in parts if part.n_rows]), left < 0


@dataclass(frozen=True, eq=False)
class _Data:
    """The rows of a comparison.

    `raw` is what `before` takes, or the numbers of `problem`; `order` has the rows that count, in
    the order of progressive validation.
    """

    problem: Problem
    raw: Any
    order: Array
    before: Any

    def splits(self, cv: Any, seed: int) -> list[tuple[Array, Array]]:
        """Row numbers of training and held-out rows of each fold."""
        y = self.labels[self.order]
        if not hasattr(cv, "split"):
            if isinstance(cv, bool) or not isinstance(cv, (int, np.integer)) or cv < 2:
                raise ParameterError(
                    f"cv must be a whole number >= 2 or a splitter of scikit-learn, got {cv!r}."
                )
            labels, counts = np.unique(y, return_counts=True)
            if counts.min() < 2:
                raise LabelError(
                    f"class {labels[counts.argmin()].item()!r} has a single row, which cannot be "
                    "both learned from and held out. Give more rows of it, or leave it out."
                )
            cv = StratifiedKFold(int(cv), shuffle=True, random_state=seed)
        try:
            splits = list(cv.split(np.zeros((len(y), 1)), y))
        except ValueError as e:
            raise DataError(f"the rows cannot be cut into folds: {e} Use fewer folds (cv).") from e
        return [(self.order[np.sort(train)], self.order[np.sort(held)]) for train, held in splits]

    @cached_property
    def labels(self) -> Array:
        return self.problem.classes[self.problem.class_numbers()]

    def cross_validated(
        self, model: Any, splits: list[tuple[Array, Array]]
    ) -> tuple[tuple[float, ...], float]:
        """The accuracy on each fold, and the seconds of the quickest training run."""
        steps = [model] if self.before is None else [clone(self.before), model]
        weight, name = self.problem.sample_weight, type(model).__name__.lower()
        done = cross_validate(
            make_pipeline(*steps), self.raw, self.labels, cv=splits,
            params=None if weight is None else {f"{name}__sample_weight": weight},
            error_score="raise", scoring="accuracy", return_estimator=True,
        )  # fmt: skip
        accuracies = done["test_score"]
        if weight is not None:
            predicted = (
                (model.predict(_safe_indexing(self.raw, held)), held)
                for model, (_, held) in zip(done["estimator"], splits, strict=True)
            )
            accuracies = [np.average(y == self.labels[k], weights=weight[k]) for y, k in predicted]
        return tuple(map(float, accuracies)), float(done["fit_time"].min())

    @property
    def is_weighted(self) -> bool:
        """Whether rows that count have different weights."""
        weight = self.problem.sample_weight
        return weight is not None and bool(np.ptp(weight[self.order]))

    def progressive_error(self, model: Perceptron) -> float | None:
        """Share of rows that are wrong when predicted before they are learned [Blum, Kalai and
        Langford 1999]; None where rows cannot be learned one at a time."""
        if self.is_weighted:
            return None
        try:
            model.learn_many(self.problem.X[self.order], self.labels[self.order])
        except NotSupportedError:
            return None
        return model.progress_.error

    def majority_error(self) -> float | None:
        """The progressive error of the class with most rows so far; of equal ones the first."""
        if self.is_weighted:
            return None
        seen, most, wrong = [0] * len(self.problem.classes), -1, 0
        for code in self.problem.class_numbers()[self.order].tolist():
            wrong += code != most
            seen[code] += 1
            most = max(most, code, key=lambda k: (seen[k], -k) if k >= 0 else (0, 0))
        return wrong / len(self.order)

    def remarks(self, cv: Any, shuffled: bool) -> tuple[str, ...]:
        """What makes the figures mean less than they seem to."""
        said = []
        if self.before is not None:
            said.append(
                f"Columns are made by {type(self.before).__name__}, fitted in each fold; for the "
                "progressive error, on all rows. The seconds include it."
            )
        codes = self.problem.class_numbers()[self.order]
        counts = np.bincount(codes)
        counts = counts[counts > 0]
        changes = int(np.count_nonzero(np.diff(codes)))
        expected = (len(codes) - 1) * (1 - float(np.square(counts / len(codes)).sum()))
        if changes < 0.5 * expected and not shuffled:
            said.append(
                f"The labels come in runs: from row to row they change {plural(changes, 'time')}, "
                f"where {expected:.0f} would be expected of shuffled rows. The progressive error "
                "is that of this order and says little about others; the folds are shuffled, and "
                "shuffle=True shuffles them for the progressive error too."
            )
        if isinstance(cv, (int, np.integer)) and counts.min() < cv:
            said.append(
                f"The smallest class has {counts.min()} rows, fewer than there are folds ({cv})."
            )
        if not sp.issparse(self.problem.X):
            scale = np.abs(self.problem.X[self.order]).max(axis=0)
            scale = scale[scale > 0]
            if len(scale) and scale.max() > 1000 * scale.min():
                said.append(
                    f"The largest values of the columns lie between {scale.min():.3g} and "
                    f"{scale.max():.3g}. Scaled columns (StandardScaler) often do better."
                )
        return tuple(said)


def _choices(
    rules: Any, keeps: Any, max_iter: Any, n_rows: int, settings: dict[str, Any], seed: int
) -> tuple[list[Trial], list[Refusal]]:
    """What is to be tried, without results; and what is left out or not supported."""
    _check_names("compare", settings)
    many: list[Any] = [max_iter] if isinstance(max_iter, (int, np.integer)) else list(max_iter)
    keeps = [keeps] if isinstance(keeps, str) else list(keeps)
    named = [rules] if isinstance(rules, (str, Rule)) else rules
    chosen = [resolve(r) for r in (RULES if named is None else named)]
    if not (many and keeps and chosen):
        raise ParameterError("rules, keeps and max_iter must each hold something to compare.")
    trials, refused = [], []
    for rule, keep in itertools.product(chosen, keeps):
        several = [Trial(rule, keep, k, (), None, 0.0, settings) for k in many]
        most = FOR_FEW_ROWS.get(rule.name, n_rows) if rules is None else n_rows
        try:
            if n_rows > most:
                raise NotSupportedError(f"left out beyond {most:,} rows unless it is named")
            for trial in several:
                _check(**trial.model(seed).get_params(deep=False))
            trials += several
        except NotSupportedError as e:
            refused.append(Refusal(several[0].name, keep, str(e)))
    return trials, refused


def _check_names(function: str, settings: Iterable[str]) -> None:
    """Refuse what a comparison sets itself, and what Perceptron does not have."""
    own = {"rule", "keep", "max_iter", "tol", "n_jobs", "random_state", "shuffle"}
    unknown = set(settings) - (Perceptron().get_params(deep=False).keys() - own)
    if unknown:
        raise ParameterError(
            f"{function} has no setting {', '.join(map(repr, sorted(unknown)))}. Use those in "
            "its documentation, or parameters of Perceptron except tol, rule and keep (for these "
            "there are rules and keeps)."
        )


def _check(**params: Any) -> None:
    """Refuse invalid parameters of Perceptron, alone and together."""
    TrainingSettings.from_params(Perceptron().get_params(deep=False) | params, "compare")


@contextmanager
def _watched(progress: Progress | bool | None) -> Iterator[Progress]:
    """The caller's function, or a bar on standard error."""
    if callable(progress):
        yield progress
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    hidden = progress is False or (progress is None and not sys.stderr.isatty())
    with Bar(console=Console(stderr=True), disable=hidden) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, name: bar.update(
            task, completed=done, total=total, description=name
        )
