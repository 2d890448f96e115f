"""Validation: accuracy on rows that were not learned from, progressively and by folds.

Progressive validation (Blum, Kalai and Langford 1999) predicts each row and then learns from it,
in one pass in order; the share of wrong predictions is its error. Here this is done block by block,
for every rule and keep alike: a block is predicted with what was learned from all rows before it,
and then learned. The first row is a block of its own and counts as wrong, since nothing is known
yet; then a block is as long as everything before it, but at most a hundredth of the rows. With 100
rows or fewer, every block is a row.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing

from rosenblatt.data.problem import as_matrix
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.learn.trace import plural

Array = npt.NDArray[Any]
BLOCKS = 100


@dataclass(frozen=True, eq=False)
class Rows:
    """Checked rows with labels and perhaps weights."""

    X: Any
    y: Array
    sample_weight: Array | None

    def __getitem__(self, which: Any) -> Rows:
        weight = None if self.sample_weight is None else self.sample_weight[which]
        return Rows(self.X[which], self.y[which], weight)

    def __len__(self) -> int:
        return len(self.y)

    def wrong(self, model: Any) -> float:
        """The weight of the rows that the model gets wrong."""
        missed = model.predict(self.X) != self.y
        return float(missed.sum() if self.sample_weight is None else self.sample_weight @ missed)

    @property
    def weight(self) -> float:
        return float(len(self) if self.sample_weight is None else self.sample_weight.sum())


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from and rows held out."""

    train: Rows
    test: Rows

    def accuracy(self, model: Any) -> tuple[float, float]:
        """Share of held-out rows that are right, and the processor seconds of training.

        Of this thread only, so that trials beside it do not count.
        """
        began = time.thread_time()
        model.fit(self.train.X, self.train.y, sample_weight=self.train.sample_weight)
        seconds = time.thread_time() - began
        return 1.0 - self.test.wrong(model) / self.test.weight, seconds


class Majority:
    """The class with most rows so far; of equal ones the first."""

    def __init__(self) -> None:
        self._counts: dict[Any, float] = {}

    def fit(self, X: Any, y: Array, sample_weight: Array | None = None) -> Majority:
        self._counts = {}
        return self.partial_fit(X, y, sample_weight=sample_weight)

    def partial_fit(
        self, X: Any, y: Array, classes: Any = None, sample_weight: Array | None = None
    ) -> Majority:
        labels, numbers = np.unique(y, return_inverse=True)
        counts = np.bincount(numbers, sample_weight, minlength=len(labels))
        for label, count in zip(labels.tolist(), counts.tolist(), strict=True):
            self._counts[label] = self._counts.get(label, 0.0) + count
        return self

    def predict(self, X: Any) -> Array:
        most = max(sorted(self._counts), key=lambda label: self._counts[label])
        return np.full(X.shape[0], most)


def blocks(n: int) -> list[tuple[int, int]]:
    """Where each block starts and ends.

    >>> blocks(6), len(blocks(1000)), blocks(1000)[:6]
    ([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)], 104,
     [(0, 1), (1, 2), (2, 4), (4, 8), (8, 16), (16, 26)])
    """
    longest, cuts = -(-n // BLOCKS), [0, 1]
    while cuts[-1] < n:
        cuts.append(min(n, cuts[-1] + min(cuts[-1], longest)))
    return list(itertools.pairwise(cuts))


def progressive_error(model: Any, rows: Rows, classes: Array) -> float:
    """The share of rows that were wrong when predicted before they were learned, block by block."""
    wrong = 0.0
    for start, end in blocks(len(rows)):
        block = rows[start:end]
        wrong += block.wrong(model) if start else block.weight
        model.partial_fit(block.X, block.y, classes=classes, sample_weight=block.sample_weight)
    return wrong / rows.weight


def splitter_for(rows: Rows, cv: Any, seed: int) -> Any:
    """What cuts the rows into folds: `cv` of them with the classes in proportion, or `cv` itself.

    A class with a single row is refused: it cannot be both learned from and held out.
    """
    if hasattr(cv, "split") and hasattr(cv, "get_n_splits"):
        return cv
    whole = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)
    if not (whole and cv >= 2):
        raise ParameterError(
            f"cv must be a whole number >= 2 or a splitter of scikit-learn, got {cv!r}."
        )
    labels, counts = np.unique(rows.y, return_counts=True)
    if counts.min() < 2:
        raise LabelError(
            f"class {labels[counts.argmin()].item()!r} has a single row, which cannot be both "
            "learned from and held out. Give more rows of it, or leave it out."
        )
    return StratifiedKFold(int(cv), shuffle=True, random_state=seed)


def folds(rows: Rows, splitter: Any, before: Any = None, raw: Any = None) -> Iterator[Fold]:
    """One fold at a time, since each is a copy of the rows.

    If there is a transformer `before`, it learns from the `raw` rows of each fold but the one held
    out, and makes the columns of both.
    """
    try:
        for train, test in splitter.split(np.zeros((len(rows), 1)), rows.y):
            train, test = np.sort(train), np.sort(test)
            fold = Fold(rows[train], rows[test])
            if before is not None:
                maker, given = clone(before), _safe_indexing(raw, train)
                made = as_matrix(maker.fit_transform(given, fold.train.y))
                held = as_matrix(maker.transform(_safe_indexing(raw, test)))
                fold = Fold(replace(fold.train, X=made), replace(fold.test, X=held))
            yield fold
    except ValueError as e:
        raise DataError(f"the rows cannot be cut into folds: {e} Use a smaller cv.") from e


def remarks_on(rows: Rows, cv: Any, shuffled: bool, before: Any) -> tuple[str, ...]:
    """What makes the figures mean less than they seem to."""
    said = []
    if before is not None:
        said.append(
            f"Columns are made by {type(before).__name__}, anew in each fold; for the progressive "
            "error, from all rows. The seconds are without it."
        )
    _, numbers, counts = np.unique(rows.y, return_inverse=True, return_counts=True)
    changes = int((np.diff(numbers) != 0).sum())
    shares = counts / len(rows)
    expected = (len(rows) - 1) * (1 - float(shares @ shares))
    if changes < 0.5 * expected and not shuffled:
        said.append(
            f"The labels come in runs: from row to row they change {plural(changes, 'time')}, "
            f"where {expected:.0f} would be expected of mixed rows. The progressive error is that "
            "of this order and says little about others; the folds are mixed, and shuffle=True "
            "mixes the progressive pass too."
        )
    if isinstance(cv, (int, np.integer)) and counts.min() < cv:
        said.append(
            f"The smallest class has {counts.min()} rows, fewer than there are folds ({cv})."
        )
    if not sp.issparse(rows.X):
        scale = np.abs(rows.X).max(axis=0)
        scale = scale[scale > 0]
        if len(scale) and scale.max() > 1000 * scale.min():
            said.append(
                f"The largest values of the columns lie between {scale.min():.3g} and "
                f"{scale.max():.3g}. Scaled columns (StandardScaler) often do better."
            )
    return tuple(said)
