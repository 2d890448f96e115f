"""Online: learn from one row at a time.

Between rows the model is in `_online` (learn/online.py), and `_learn_row` and `_predict_row` are
its functions in the core. Reading an attribute such as `coef_` makes all of them, in `_fitted`; the
next row drops them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.errors import DataError, NotSupportedError
from rosenblatt.features.row_encoder import IndexedRows, RowColumns, RowKind, as_row
from rosenblatt.learn.multiclass import Learner
from rosenblatt.learn.online import OnlineLearner, check_online
from rosenblatt.learn.settings import TrainingSettings


@dataclass(frozen=True)
class Progressive:
    """Rows that were learned from one at a time, and mistakes made in predicting them before.

    Attributes
    ----------
    n_rows : int
        Rows learned from by `learn_one` and `learn_many`, since the first of them or since `fit`.
    mistakes : int
        Rows among these whose label `predict_one` would have predicted wrongly just before. The
        first row of a new class always counts.

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

    Finding the best hyperplane is hard in general, so the regret is an interval with proven ends.

    Attributes
    ----------
    mistakes : int
        Mistakes made while learning.
    best_at_least, best_at_most : int
        Bounds on the mistakes of the best fixed hyperplane.

    Examples
    --------
    >>> found = Regret(mistakes=9, best_at_least=2, best_at_most=3)
    >>> found.at_least, found.at_most
    (6, 7)
    """

    mistakes: int
    best_at_least: int
    best_at_most: int

    @property
    def at_least(self) -> int:
        """Lower bound on the regret; negative if the changing weights made fewer mistakes."""
        return self.mistakes - self.best_at_most

    @property
    def at_most(self) -> int:
        """Upper bound on the regret."""
        return self.mistakes - self.best_at_least


class OnlineMixin:
    """`learn_one`, `predict_one` and `learn_many`."""

    def learn_one(self, x: Any, y: Any) -> Self:
        """Learn from one row.

        A loop over rows gives the weights of `learn_many`, and of `fit` in order (shuffle=False,
        max_iter=1), to the bit. A row that cannot be learned from raises an error and changes
        nothing. Parameters are read before the first row, and again after `fit`, `partial_fit` and
        `set_params`.

        Parameters
        ----------
        x : dict, Series, array, or sparse row
            Features are named by text or numbered from 0, and may appear at any time; those that a
            row leaves out are 0. A Series whose index is text, such as a row of a frame, is read by
            name. All rows of a model are of one kind. See docs/how-to/online.md.
        y : label
            Classes may appear at any time.

        Returns
        -------
        Perceptron
            The estimator.

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
        learn = self.__dict__.get("_learn_row")
        if learn is None or not learn(x, y):
            self._go_on(self._online_learner().learn(x, y))
        return self

    def predict_one(self, x: Any) -> Any:
        """Predict the label of one row, as `predict` does.

        Parameters
        ----------
        x : dict, Series, array, or sparse row
            Features that the model does not know are ignored.

        Returns
        -------
        label or None
            The label; None before the first row.
        """
        predict = self.__dict__.get("_predict_row")
        label = NotImplemented if predict is None else predict(x)
        return self._predict_one(x) if label is NotImplemented else label

    def learn_many(self, X: Any, y: npt.ArrayLike) -> Self:
        """Learn from rows in order: a loop of `learn_one` in one call.

        All rows are checked before the first is learned from. Arrays, sparse matrices and frames
        are the fastest.

        Parameters
        ----------
        X : array, sparse matrix, frame, or list of rows
            The columns of a frame are named features; rows are as `learn_one` takes them.
        y : array of shape (n_samples,)
            Labels.

        Returns
        -------
        Perceptron
            The estimator.

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> clf = Perceptron().learn_many([{"a": 1}, {"b": 1}, {"a": 1, "c": 2}], [0, 1, 0])
        >>> clf.coef_, clf.progress_
        (array([[-1.,  1.,  0.]]), Progressive(n_rows=3, mistakes=2))
        """
        online = self._online_learner()
        try:
            self._go_on(online.learn_many(X, y))
        except KeyboardInterrupt:
            if online is self.__dict__.get("_online"):  # rows before Ctrl-C were learned from
                self._go_on(online)
            raise
        return self

    @property
    def progress_(self) -> Progressive:
        """Rows learned from one at a time, and how many were predicted wrongly before that."""
        online: OnlineLearner | None = self.__dict__.get("_online")
        if online is None:
            raise AttributeError("There is no progress_ before learn_one or learn_many.")
        return Progressive(online.model.n_rows, online.model.n_mistakes)

    def regret(self, X: Any, y: npt.ArrayLike, max_seconds: float = 20.0) -> Regret:
        """Return the mistakes so far beyond those of the best fixed hyperplane for the same rows.

        Parameters
        ----------
        X : array, sparse matrix, frame, or list of rows
            The rows that were learned from one at a time, as `learn_many` takes them.
        y : array of shape (n_samples,)
            Their labels, of two classes.
        max_seconds : float, default=20
            Time limit of the search for the best hyperplane and of the proof.

        Returns
        -------
        Regret
            Mistakes made, and proven bounds on those of the best hyperplane.

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> X, y = [[0], [1], [2], [3]], [0, 1, 0, 1]
        >>> Perceptron().learn_many(X, y).regret(X, y)
        Regret(mistakes=4, best_at_least=1, best_at_most=1)
        """
        from rosenblatt.prove.offenders import offenders  # flint and highspy: only if asked

        online: OnlineLearner | None = self.__dict__.get("_online")
        if online is None:
            raise NotSupportedError(
                "regret compares the mistakes of rows learned one at a time, and there are none. "
                "Use learn_one or learn_many first."
            )
        progress = self.progress_
        online.refresh()
        rows = IndexedRows.of(X, online.features)
        if rows.n_rows != progress.n_rows:
            raise DataError(
                f"X has {rows.n_rows} rows, the model learned from {progress.n_rows} one at a "
                "time. Give those."
            )
        found = offenders(
            rows.matrix, y, fit_intercept=online.settings.fit_intercept, max_seconds=max_seconds
        )
        return Regret(progress.mistakes, int(found.lower_bound), len(found.rows))

    # ------------------------------------------------------------------- plumbing

    def __sklearn_is_fitted__(self) -> bool:
        return "_online" in self.__dict__ or "classes_" in self.__dict__.get("_fitted", {})

    def __getstate__(self) -> dict[str, Any]:
        whole: Any = super().__getstate__()
        state = dict(whole)
        for name in ("_learn_row", "_predict_row"):
            state.pop(name, None)
        if "_online" in state:
            state["_online"] = state["_online"].copy()  # copies of the estimator learn alone
        return state

    def _go_on(self, online: OnlineLearner) -> None:
        """The next row goes to this learner."""
        state = self.__dict__
        state.pop("_fitted", None)
        state["_online"] = online
        state["_learn_row"], state["_predict_row"] = online.model.learn, online.model.predict

    def _stop_online(self) -> None:
        """Another method trained the model."""
        if "_online" in self.__dict__:
            self.__dict__["_columns"] = self.__dict__["_online"].features
        for name in ("_online", "_learn_row", "_predict_row"):
            self.__dict__.pop(name, None)

    def _pause(self) -> None:
        """Parameters may change: the next row reads them again."""
        self._make_attributes()
        if "_online" in self.__dict__:
            self.__dict__["_online"].paused = True

    def _make_attributes(self) -> None:
        """Make the attributes of a model that learned one row at a time."""
        state = self.__dict__
        online: OnlineLearner | None = state.get("_online")
        if online is None or "_fitted" in state or not online.model.n_features:
            return
        learner, trace, context = online.result()
        coef, intercept = learner.kept()
        fitted = {
            "coef_": coef,
            "intercept_": intercept,
            "classes_": learner.classes,
            "n_features_in_": learner.state.n_features,
            "t_": online.t + online.n_rows,
            "n_mistakes_": learner.n_mistakes,
            "n_updates_": learner.n_updates,
            "n_iter_": trace.n_epochs,
            "stop_reason_": str(trace.stop_reason),
            "trace_": trace,
        }
        if (names := online.features.listed()) is not None:
            fitted["feature_names_in_"] = np.array(names, object)
        online.shown = coef.copy(), intercept.copy()
        state |= {"_fitted": fitted, "_learner": learner, "_context": context}
        for name in ("_learn_row", "_predict_row"):
            state.pop(name, None)

    def _online_learner(self) -> OnlineLearner:
        """The learner for the next row: the present one, or one that goes on from attributes."""
        state = self.__dict__
        online: OnlineLearner | None = state.get("_online")
        if online is not None and not online.paused and self._unedited(online):
            return online
        params: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]  # every estimator has it
        settings = TrainingSettings.from_params(params)
        check_online(settings, params)
        t, learner, features, context = 1.0, None, RowColumns(), None
        if hasattr(self, "classes_") and "_learner" in state:
            learner, context = self._current_learner(), state["_context"]
            fitted = state["_fitted"]
            t, features = float(fitted["t_"]), self._row_columns()
        begun = OnlineLearner(
            settings.for_partial_fit(t), learner, features, params["class_weight"], t, context
        )
        return begun if online is None else begun.counting_from(online)

    def _row_columns(self) -> RowColumns:
        """The columns of rows that come one at a time, as the attributes have them."""
        state = self.__dict__
        fitted = state["_fitted"]
        online: OnlineLearner | None = state.get("_online")
        if online is not None:
            return online.features.copy()
        names, n = fitted.get("feature_names_in_"), fitted["n_features_in_"]
        kept: RowColumns | None = state.get("_columns")  # before another method went on
        if kept is not None and kept.n_features == n and len(kept.index):
            listed = kept.listed()
            if listed == (None if names is None else list(names)):
                return replace(kept.copy(), kind=RowKind.COLUMNS if names is None else RowKind.NONE)
        return RowColumns.of(names, n)

    def _current_learner(self) -> Learner:
        """A copy of the learner with the weights that the attributes have."""
        raise NotImplementedError

    def _unedited(self, online: OnlineLearner) -> bool:
        """Whether the weights are those of the learner. Edits of an average are ignored."""
        fitted = self.__dict__.get("_fitted")
        if fitted is None or online.settings.keep != "last":
            return True
        coef, intercept = fitted.get("coef_"), fitted.get("intercept_")
        if online.shown is None or coef is None or intercept is None or sp.issparse(coef):
            return False
        return np.array_equal(online.shown[0], coef) and np.array_equal(online.shown[1], intercept)

    def _predict_one(self, x: Any) -> Any:
        """Predict a row that the core left to Python, or with the attributes as they are."""
        state = self.__dict__
        if "_online" in state and "_fitted" not in state:
            return state["_online"].predict(x)
        if "classes_" not in state.get("_fitted", {}):
            return None
        features = self._row_columns()
        row = as_row(x)
        features.kind_with(row)
        return self._labels(self._checked_scores(features.known(row))).tolist()[0]  # type: ignore[attr-defined]  # Perceptron's
