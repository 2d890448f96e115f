"""Online: what a perceptron does with one row at a time. Rows in, attributes on demand.

While rows come, the model lives in `_running` (learn/running.py). Its attributes are made when
somebody asks for one of them, and are gone again at the next row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rosenblatt.errors import DataError


@dataclass(frozen=True)
class Progressive:
    """How well rows were answered, each before it was learned from.

    Attributes
    ----------
    n_rows : rows learned from since `learn_one` or `learn_many` began, or went on after `fit`
    mistakes : rows of these that `predict_one` got wrong, or would have got wrong; the first row of
        a class that was never there is always one

    Examples
    --------
    >>> Progressive(n_rows=200, mistakes=30).error
    0.15
    """

    n_rows: int
    mistakes: int

    @property
    def error(self) -> float:
        """The share of mistakes: the progressive error. NaN before the first row."""
        return self.mistakes / self.n_rows if self.n_rows else float("nan")


@dataclass(frozen=True)
class Regret:
    """Mistakes made while learning, beyond those of the best fixed hyperplane on the same rows.

    To find the best one is hard in general, so the answer is an interval; both ends are proven.

    Attributes
    ----------
    mistakes : made while learning
    best_at_least, best_at_most : how many the best fixed hyperplane makes
    """

    mistakes: int
    best_at_least: int
    best_at_most: int

    @property
    def at_least(self) -> int:
        """The regret is not smaller; it may be negative, if weights that move did better."""
        return self.mistakes - self.best_at_most

    @property
    def at_most(self) -> int:
        """The regret is not larger."""
        return self.mistakes - self.best_at_least


class OnlineMixin:
    """`learn_one`, `predict_one` and `learn_many`, for an estimator with a `_standing`."""

    _running: Running

    def learn_one(self, x: Any, y: Any) -> Any:
        """Learn from one row, as soon as it comes.

        A loop over rows gives the weights of `learn_many`, and of `fit` in order (shuffle=False,
        one pass), to the bit. A row that cannot be learned from raises and changes nothing.
        Parameters are read before the first row, and again after `fit`, `partial_fit` and
        `set_params`.

        Parameters
        ----------
        x : dict, list of pairs (feature, value), array, or one sparse row
            Features are named by text or numbered from 0, and may appear at any time; those that
            are left out are 0. A model keeps to the kind of its first row. docs/online.md
        y : the label; classes may appear at any time

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> clf = Perceptron()
        >>> for words, label in [("cheap pills", "spam"), ("see you", "ham"), ("pills", "spam")]:
        ...     clf = clf.learn_one({word: 1 for word in words.split()}, label)
        >>> clf.predict_one({"cheap": 1, "flights": 1}), clf.progress_.mistakes
        ('spam', 2)
        >>> dict(zip(clf.feature_names_in_.tolist(), clf.coef_[0].tolist()))
        {'cheap': 1.0, 'pills': 1.0, 'see': -1.0, 'you': -1.0}
        """
        state = self.__dict__
        if "coef_" in state or "_running" not in state:
            self._resume()
        self._running.learn(x, y)
        return self

    def predict_one(self, x: Any) -> Any:
        """The label of one row, as `predict` gives it; None before any row was learned from.

        Parameters
        ----------
        x : a row as `learn_one` takes it; features that the model does not know are ignored
        """
        state = self.__dict__
        if "_running" in state and "coef_" not in state:
            return self._running.predict(x)
        return self._predict_fitted(x) if "classes_" in state else None

    def learn_many(self, X: Any, y: Any) -> Any:
        """Learn from rows in order: what a loop of `learn_one` does, many times as fast.

        Parameters
        ----------
        X : array, sparse matrix, frame (its columns are named features), or a list of rows as
            `learn_one` takes them
        y : one label a row

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> clf = Perceptron().learn_many([{"a": 1}, {"b": 1}, {"a": 1, "c": 2}], [0, 1, 0])
        >>> clf.coef_, clf.progress_
        (array([[-1.,  1.,  0.]]), Progressive(n_rows=3, mistakes=2))
        """
        if "coef_" in self.__dict__ or "_running" not in self.__dict__:
            self._resume()
        running = self._running
        rows = Gathered.of(X, running.features)
        labels = as_labels(y, len(rows))
        running.check_labels(labels)
        rows.settle(running.features)
        running.learn_rows(rows.data, rows.indices, rows.begins, labels)
        return self

    @property
    def progress_(self) -> Progressive:
        """How well rows were answered before they were learned from."""
        running = self.__dict__.get("_running")
        if running is None:
            raise AttributeError("there is no progress_ before learn_one or learn_many.")
        return Progressive(*running.progress())

    def regret(self, X: Any, y: Any, max_seconds: float = 20.0) -> Regret:
        """Mistakes so far beyond those of the best fixed hyperplane, which is looked for in X, y.

        Parameters
        ----------
        X : the rows that were learned from one at a time, as `learn_many` takes them
        y : their labels, of two classes
        max_seconds : how long to look for the best hyperplane and for a proof that it is

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> X, y = [[0], [1], [2], [3]], [0, 1, 0, 1]
        >>> Perceptron().learn_many(X, y).regret(X, y)
        Regret(mistakes=4, best_at_least=1, best_at_most=1)
        """
        from rosenblatt.prove.offenders import offenders  # flint and highspy: only if asked

        told = self.progress_
        running = self._running
        matrix = Gathered.of(X, running.features).matrix()
        if matrix.shape[0] != told.n_rows:
            raise DataError(
                f"X has {matrix.shape[0]} rows, the model learned from {told.n_rows} one at a "
                "time. Give those."
            )
        found = offenders(
            matrix, y, fit_intercept=running.update.fit_intercept, max_seconds=max_seconds
        )
        return Regret(told.mistakes, int(found.lower_bound), len(found.rows))

    # ------------------------------------------------------------------- plumbing

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def _make_attributes(self) -> None:
        """Make the attributes of a model that learned one row at a time."""

    def _pause(self) -> None:
        """Parameters may change: the next row reads them again."""

    def _stop_online(self) -> None:
        """Another method trained the model."""
