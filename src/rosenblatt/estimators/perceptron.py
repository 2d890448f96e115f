"""Perceptron: a linear classifier as a scikit-learn estimator."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rosenblatt import _core
from rosenblatt.data.block import core_rows
from rosenblatt.data.cone import as_cone
from rosenblatt.data.labels import as_labels, check_same_classes
from rosenblatt.data.matrix import as_matrix
from rosenblatt.data.problem import Problem
from rosenblatt.errors import (
    DataError,
    NotSupportedError,
    ParameterError,
    RosenblattWarning,
)
from rosenblatt.estimators._base import (
    FittedAttribute,
    RowsMixin,
    unchanged_on_error,
    warn_of_max_iter,
)
from rosenblatt.estimators._callbacks import (
    CallbackSupportMixin,
    EpochCallbacks,
    has_callbacks,
    with_callbacks,
)
from rosenblatt.estimators._online import OnlineMixin
from rosenblatt.learn.multiclass import Learner, class_weights
from rosenblatt.learn.rules import Rule, resolve
from rosenblatt.learn.run_context import RunContext, fingerprint
from rosenblatt.learn.schedule import seeds_and_split
from rosenblatt.learn.settings import TrainingSettings, split_params
from rosenblatt.learn.trace import OneVsRestTrace, StopReason
from rosenblatt.model.explain import Explanation, ModelExplanation
from rosenblatt.model.linear_model import LinearModel, check_scores

if TYPE_CHECKING:  # flint and highspy: only if asked
    from rosenblatt.prove.bounds.result import OneVsRestBounds, RunBounds
    from rosenblatt.prove.certificate import Certificate

Array = npt.NDArray[Any]


def _has_one_hyperplane(estimator: Any) -> bool:
    return bool(estimator.keep != "vote")


def _learns_in_parts(estimator: Any) -> bool:
    """Whether `partial_fit` is there; the error says why not."""
    keep: Any = str(estimator.keep)
    try:
        settings = TrainingSettings(rule=resolve(estimator.rule), keep=keep)
    except ParameterError:
        return True  # partial_fit says what is wrong with the parameter
    settings.check_parts("partial_fit")
    return True


# scikit-learn has no type hints, hence the `type: ignore`s in this file
class Perceptron(
    OnlineMixin,
    RowsMixin,
    CallbackSupportMixin,  # type: ignore[misc]
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Linear perceptron classifier, a drop-in for scikit-learn's.

    With default parameters it gives the model of ``sklearn.linear_model.Perceptron`` on dense
    data; docs/how-to/from_sklearn.md lists every deviation. docs/explanation/conventions.md
    explains what a score of exactly 0 means, and which parameters reproduce each lecture.

    Parameters
    ----------
    penalty : {None, 'l2', 'l1', 'elasticnet'}, default=None
        Shrinks the weights at every visit. Training then does not stop after an epoch without
        updates, and keep='vote' and 'pocket' are not supported.
    alpha : float, default=0.0001
        Strength of the penalty; with learning_rate='optimal' it also determines the step size.
    l1_ratio : float or None, default=0.15
        Share of L1 in 'elasticnet'; None where there is no such penalty.
    learning_rate : {'constant', 'optimal', 'invscaling', 'adaptive'}, default='constant'
        The rate at visit t (`t_`), as in ``SGDClassifier``. 'constant': eta0. 'optimal':
        1 / (alpha (t0 + t - 1)), with t0 such that the first rate is alpha^(-1/4); eta0 is not
        used. 'invscaling': eta0 / t^power_t. 'adaptive': eta0, divided by 5 whenever training
        would stop because it does not gain `tol`, until it is at most 1e-6.
    power_t : float, default=0.5
        Exponent of 'invscaling'. A negative one makes the rate grow.
    fit_intercept : bool, default=True
        Whether to learn an offset b. False: hyperplanes through the origin.
    max_iter : int, default=1000
        Largest number of epochs in `fit`.
    tol : float or None, default=1e-3
        Stop when the mean loss is greater than the best loss minus `tol` for `n_iter_no_change`
        epochs in a row. None: train until the data are separated, the weights cycle, or a limit
        is reached.
    shuffle : bool or 'sample', default=True
        True: a new permutation in each epoch. False: rows in order; cycles are found only then.
        'sample': as many draws with replacement as there are rows.
    verbose : int, default=0
        If 1, print one line per epoch.
    eta0 : float, sequence of float or function, default=1.0
        Learning rate. From zero weights it only rescales them. With mode='batch' or 'batch-mean'
        it may be a sequence or a function of the epoch (from 1).
    n_jobs : int or None, default=None
        Threads for the one-vs-rest problems; the result does not depend on it.
    random_state : int, RandomState or None, default=0
        Seed of the order of visits, of init='random' and of the held-out rows.
    early_stopping : bool, default=False
        Hold out `validation_fraction` of the rows, stop when the accuracy on them does not rise by
        `tol`, and return the best weights instead of the last.
    validation_fraction : float, default=0.1
        Share of rows held out by early stopping.
    n_iter_no_change : int, default=5
        Number of epochs without a gain of `tol` after which training stops.
    class_weight : dict, 'balanced' or None, default=None
        Weights by class; in `partial_fit`, 'balanced' uses the counts seen so far.
    warm_start : bool, default=False
        Whether `fit` starts from the weights of the previous fit.
    rule : str or Rule, default='perceptron'
        What moves the weights: 'perceptron' (mistakes), 'margin' (rows with y * score <= tau),
        'pa', 'pa1', 'pa2' (passive-aggressive), 'arow', 'scw', 'sop' (second order), 'alma' or
        'minover'; see docs/how-to/rules.md. Parameters are given with an object, ``AROW(r=0.1)``,
        or a string, 'arow(r=0.1)', and set as ``rule__r``.
    keep : {'last', 'average', 'vote', 'pocket'}, default='last'
        Which weights are returned: the last; their mean after every visit; a vote of all of them
        (no `coef_`; at most `max_updates` hyperplanes, by default what fits in 1 GiB and 10,000);
        those with the fewest training errors (Gallant's pocket with ratchet).
    mode : {'online', 'batch', 'batch-mean'}, default='online'
        One row at a time, or all misclassified rows at once: their sum, or their mean.
    tie : {'mistake', 'positive', 'correct', 'half'}, default='mistake'
        How training treats a score of exactly 0.
    init : {'zero', 'random'} or array, default='zero'
        Initial weights. 'random' draws from the standard normal distribution. An array has the
        shape of `coef_` (flat for two classes), with or without the offset as the last column.
    weighting : {'scale', 'repeat'}, default='scale'
        A weight of k multiplies the update by k, or has the effect of k visits in a row.
    multiclass : {'ovr', 'direct'}, default='ovr'
        One hyperplane per class against the rest, or Kesler's construction.
    max_updates : int or None, default=None
        Largest number of updates of each hyperplane, including updates from earlier `partial_fit`
        calls.
    record : {None, 'updates'}, default=None
        Store the updates and their weights in ``trace_.record``, at most 10,000 per hyperplane;
        ``record.complete`` tells whether these are all.

    Attributes
    ----------
    coef_ : array of shape (1, n_features), or (n_classes, n_features) for more than two classes
        Weights. Not with keep='vote'.
    intercept_ : array of shape (1,) or (n_classes,)
        Offsets. Not with keep='vote'.
    classes_ : array of shape (n_classes,)
        Labels.
    n_iter_ : int
        Epochs of the last call; the most of any one-vs-rest problem.
    n_mistakes_ : int
        Visits that were mistakes, summed over calls of `partial_fit`.
    n_updates_ : int
        Changes of the weights, summed over calls of `partial_fit`. Some rules also move on correct
        rows, and a batch step answers many mistakes.
    stop_reason_ : str
        'separated' (an epoch without updates), 'cycle', 'no_improvement', 'max_iter',
        'max_updates' or 'callback'. It is about the last weights of the run, which `keep` and
        `early_stopping` may not return.
    trace_ : Trace or OneVsRestTrace
        Totals of each epoch of the last call.
    t_ : float
        1 + rows visited, as scikit-learn counts.
    votes_ : tuple of Ballot
        The hyperplanes and their votes. Only with keep='vote'.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, where X had them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = Perceptron(shuffle=False).fit(X, y == 0)
    >>> clf.score(X, y == 0), clf.n_mistakes_, clf.stop_reason_
    (1.0, 5, 'separated')
    """

    coef_: Any = FittedAttribute()
    intercept_: Any = FittedAttribute()
    classes_: Any = FittedAttribute()
    n_iter_: Any = FittedAttribute()
    n_mistakes_: Any = FittedAttribute()
    n_updates_: Any = FittedAttribute()
    stop_reason_: Any = FittedAttribute()
    trace_: Any = FittedAttribute()
    t_: Any = FittedAttribute()
    votes_: Any = FittedAttribute()
    n_features_in_: Any = FittedAttribute()
    feature_names_in_: Any = FittedAttribute()
    _learner: Learner
    _context: RunContext

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float | None = 0.15,
        learning_rate: str = "constant",
        power_t: float = 0.5,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool | str = True,
        verbose: int = 0,
        eta0: float | Sequence[float] | Callable[[int], float] = 1.0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        warm_start: bool = False,
        rule: str | Rule = "perceptron",
        keep: str = "last",
        mode: str = "online",
        tie: str = "mistake",
        init: str | npt.ArrayLike = "zero",
        weighting: str = "scale",
        multiclass: str = "ovr",
        max_updates: int | None = None,
        record: str | None = None,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.learning_rate = learning_rate
        self.power_t = power_t
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.rule = rule
        self.keep = keep
        self.mode = mode
        self.tie = tie
        self.init = init
        self.weighting = weighting
        self.multiclass = multiclass
        self.max_updates = max_updates
        self.record = record

    # ------------------------------------------------------------------ parameters

    @classmethod
    @functools.cache
    def _get_param_names(cls) -> list[str]:
        """scikit-learn's; it inspects the signature at every call."""
        return list(super()._get_param_names())

    def set_params(self, **params: Any) -> Perceptron:
        """Set parameters; `rule__tau=2.0` replaces the rule by one with tau = 2.

        Parameters
        ----------
        **params : Any
            Parameters of the estimator, and of its rule as ``rule__name``.

        Returns
        -------
        Perceptron
            The estimator.
        """
        self._pause()
        own, inside = split_params(params, "rule")
        super().set_params(**own)
        if inside:
            self.rule = resolve(self.rule).with_params(**inside)
        return self

    # -------------------------------------------------------------------- training

    @unchanged_on_error
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: Any,
        y: npt.ArrayLike,
        coef_init: npt.ArrayLike | None = None,
        intercept_init: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Perceptron:
        """Train on X and y.

        Initial weights are `coef_init` and `intercept_init`, else those of the previous fit with
        `warm_start`, else `init`. If training fails, the estimator stays as it was.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows of numbers.
        y : array of shape (n_samples,)
            Labels of any kind.
        coef_init : array, optional
            Initial weights, of the shape of `coef_`.
        intercept_init : array, optional
            Initial offsets, of the shape of `intercept_`.
        sample_weight : array of shape (n_samples,), optional
            Per-sample weights, multiplied by the class weights; see `weighting`.

        Returns
        -------
        Perceptron
            The fitted estimator.

        Raises
        ------
        ParameterError
            If a parameter is invalid.
        NotSupportedError
            If parameters cannot be combined.
        DataError
            If X, y or the weights are invalid.
        OverflowedError
            If a score or a weight is not finite.
        """
        settings = TrainingSettings.from_params(self.get_params(deep=False))
        checked = self._matrix(X, y, reset=True)
        problem = Problem.labelled(checked, y, sample_weight)
        settings.check_classes(len(problem.classes))
        if self.warm_start and hasattr(self, "coef_"):
            coef_init = self.coef_ if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        learner = Learner.begin(
            problem.classes, problem.n_features, checked.dtype, settings, self.random_state,
            coef_init, intercept_init,
        )  # fmt: skip
        if has_callbacks(self):
            self._forget()  # what callbacks see is this run's
        weights = class_weights(self.class_weight, problem)
        context = RunContext.of(problem, _starts(learner), settings, weights)
        seeds, held_out = seeds_and_split(
            self.random_state, learner.n_runs, lambda: self._held_out(problem)
        )
        callbacks = EpochCallbacks(self, X, y, problem, learner.together)
        trace = learner.fit(
            problem, settings, seeds, class_weight=weights, held_out=held_out,
            observers_for=callbacks.observers_for,
            n_jobs=None if callbacks.listening else self.n_jobs,
        )  # fmt: skip
        learner.counts = problem.counts()
        self.t_ = 1.0 + trace.n_epochs * problem.n_rows
        self.n_mistakes_, self.n_updates_ = trace.n_mistakes, trace.n_updates
        self._publish(learner, trace)
        self._context = context
        callbacks.close()
        self._warn(trace)
        return self

    @available_if(_learns_in_parts)  # type: ignore[untyped-decorator]
    @unchanged_on_error
    def partial_fit(
        self,
        X: Any,
        y: npt.ArrayLike,
        classes: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Perceptron:
        """Continue training with one epoch over X and y.

        Not with keep='pocket' or rule='minover', which need all rows at once.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows of numbers.
        y : array of shape (n_samples,)
            Labels of any kind.
        classes : array, optional
            All labels, on the first call. Without it, classes may appear in any call; one against
            the rest, a late class has the weights it would have if it had been named at the start
            (exactly so for rows in order and without class weights).
        sample_weight : array of shape (n_samples,), optional
            Per-sample weights, multiplied by the class weights; see `weighting`.

        Returns
        -------
        Perceptron
            The fitted estimator.

        Raises
        ------
        ParameterError
            If a parameter is invalid, or `early_stopping` is set.
        NotSupportedError
            If parameters cannot be combined.
        DataError
            If X, y or the weights are invalid.
        OverflowedError
            If a score or a weight is not finite.
        """
        t = float(getattr(self, "t_", 1.0))
        settings = TrainingSettings.from_params(self.get_params(deep=False)).for_partial_fit(t)
        if self.early_stopping:
            raise ParameterError("early_stopping should be False with partial_fit: use fit.")
        first = not hasattr(self, "classes_") or "_learner" not in self.__dict__
        checked = self._matrix(X, y, reset=first)
        if first:
            problem = Problem.labelled(checked, y, sample_weight, classes)
            learner = Learner.begin(
                problem.classes, problem.n_features, checked.dtype, settings, self.random_state,
                open_ended=classes is None,
            )  # fmt: skip
        else:
            learner = self._current_learner()
            labels = as_labels(y, checked.shape[0])
            check_same_classes(classes, learner.classes)
            learner.admit(labels, settings)
            checked = checked.astype(learner.state.dtype, copy=False)
            problem = Problem.labelled(checked, labels, sample_weight, learner.classes)
        settings.check_classes(len(problem.classes))
        learner.counts = learner.counts + problem.counts()
        weights = class_weights(self.class_weight, problem, learner.counts)
        if first:
            context = RunContext.of(problem, _starts(learner), settings, weights)
        else:
            context = self._context.again()
        seeds, _ = seeds_and_split(self.random_state, learner.n_runs, lambda: None)
        trace = learner.fit(problem, settings, seeds, class_weight=weights, n_jobs=self.n_jobs)
        self.t_ = t + problem.n_rows
        self.n_mistakes_, self.n_updates_ = learner.n_mistakes, learner.n_updates
        self._publish(learner, trace)
        self._context = context
        self._warn_of_bound(trace)
        return self

    # ------------------------------------------------------------------ prediction

    def decision_function(self, X: Any) -> Array:
        """Return the scores w.x + b; with keep='vote', the mean vote.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows of numbers.

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_classes) for more than two classes
            Scores.
        """
        X, scores = self._scores(X)
        if X.dtype == np.float32 and self._single_precision():
            scores = scores.astype(np.float32)
        return scores.ravel() if scores.ndim == 2 and scores.shape[1] == 1 else scores

    def _single_precision(self) -> bool:
        fitted = self.__dict__["_fitted"]
        return "coef_" in fitted and bool(fitted["coef_"].dtype == np.float32)

    def _scores(self, X: Any) -> tuple[Any, Array]:
        """The rows as they were checked, and their scores in float64."""
        check_is_fitted(self, "classes_")
        X = self._matrix(X, reset=False)
        return X, self._checked_scores(X)

    def _checked_scores(self, X: Any) -> Any:
        """Scores of rows that were checked."""
        if hasattr(self, "votes_"):
            columns = [v.scores(X) for v in self.votes_]
            return columns[0] if columns[0].ndim == 2 else np.stack(columns, axis=1)
        if self.coef_.shape[1] != X.shape[1]:
            raise DataError(
                f"coef_ has shape {self.coef_.shape}, which is not what this model has. Set it "
                "back or call fit."
            )
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        W = np.ascontiguousarray(coef, dtype=np.float64)
        b = np.ascontiguousarray(self.intercept_, dtype=np.float64)
        scores = _core.scores(core_rows(X), W, b)
        check_scores(scores, X)
        return scores

    def predict(self, X: Any) -> Array:
        """Return the label of each row. Two classes: a score >= 0 is the second class.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows of numbers.

        Returns
        -------
        array of shape (n_samples,)
            Labels.
        """
        return self._labels(self._scores(X)[1])

    def _labels(self, scores: Array) -> Array:
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(scores))
        labels: Array = self.classes_[_core.decide(scores.reshape(len(scores), -1))]
        return labels

    @available_if(_has_one_hyperplane)  # type: ignore[untyped-decorator]
    def densify(self) -> Perceptron:
        """Convert `coef_` back to a dense array.

        Returns
        -------
        Perceptron
            The estimator.
        """
        check_is_fitted(self, "coef_")
        if sp.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    @available_if(_has_one_hyperplane)  # type: ignore[untyped-decorator]
    def sparsify(self) -> Perceptron:
        """Convert `coef_` to a sparse matrix, which needs less memory after an L1 penalty.

        Returns
        -------
        Perceptron
            The estimator.
        """
        check_is_fitted(self, "coef_")
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    # ------------------------------------------------------------------- explanation

    def explain(self, x: Any) -> Explanation:
        """Explain the label of one row: what every feature adds to the score.

        Parameters
        ----------
        x : array, sparse row or dict
            One row. A dict has features by name; those it does not name are 0.

        Returns
        -------
        Explanation
            A table when printed. For more than two classes, the winner against the runner-up.

        Examples
        --------
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
        >>> why = Perceptron(shuffle=False).fit(X, y).explain([1, 1])
        >>> why.label, why.score, why.offset, why.contributions
        ('yes', 1.0, -4.0, array([3., 2.]))
        """
        return LinearModel.of(self).explain(x)

    def explain_model(self, most: int = 10) -> ModelExplanation:
        """Return the largest weights of each hyperplane, by name.

        Parameters
        ----------
        most : int, default=10
            Number of weights per hyperplane.

        Returns
        -------
        ModelExplanation
            A table when printed.

        Examples
        --------
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
        >>> found = Perceptron(shuffle=False).fit(X, y).explain_model(2)
        >>> [(w.feature, w.weight) for w in found.planes[0].weights]
        [('x0', 3.0), ('x1', 2.0)]
        """
        return LinearModel.of(self).explain_model(most)

    def to_sklearn(self) -> Any:
        """Return a fitted ``sklearn.linear_model.Perceptron`` with the same weights.

        It predicts the same labels, with one exception: with two classes, a score of exactly 0 is
        the first class there and the second here. Not with keep='vote'.

        Returns
        -------
        sklearn.linear_model.Perceptron
            The fitted estimator.
        """
        return LinearModel.of(self).to_sklearn()

    # ----------------------------------------------------------------------- proof

    def bounds(
        self, X: Any, y: npt.ArrayLike, max_seconds: float | None = None
    ) -> RunBounds | OneVsRestBounds:
        """Compare the updates of the run with theoretical bounds.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            The rows the model was trained on.
        y : array of shape (n_samples,)
            Their labels.
        max_seconds : float, optional
            For each class, the time for the margin and for Freund and Schapire's bound. What was
            found by then holds, and the table says if there was no margin.

        Returns
        -------
        RunBounds or OneVsRestBounds
            R, the largest margin, and the bounds of Novikoff and of Freund and Schapire for the
            start, learning rate, rule and mode of this run. Where a theorem does not apply (a
            penalty, unequal weights, `partial_fit` after other rows), the reason. See
            docs/explanation/bounds.md.

        Raises
        ------
        DataError
            If X and y are not the data of the last fit.

        Examples
        --------
        >>> clf = Perceptron(shuffle=False).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
        >>> told = clf.bounds([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
        >>> told.made, told["Novikoff"].most
        (18, 51)
        """
        from rosenblatt.prove.bounds.run_bounds import (
            run_bounds,  # flint and highspy: only if asked
        )

        problem = self._trained_on(X, y)
        return run_bounds(problem, self._context, self.trace_, self._planes(), max_seconds)

    def certificate(self, X: Any, y: npt.ArrayLike) -> Certificate:
        """Return a verified certificate of what the run proved about its training rows.

        ``rosenblatt.separability(X, y)`` decides every case.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            The rows the model was trained on.
        y : array of shape (n_samples,)
            Their labels, of two classes.

        Returns
        -------
        Separable, Overlapping or QuasiSeparable
            `Separable` if the trained hyperplane has every row strictly on its side, checked
            without rounding. One of the others if the run ended in a cycle whose updates sum to
            exactly zero.

        Raises
        ------
        NothingProvenError
            If the run proved nothing.
        NotSupportedError
            If the model does not have two classes.

        Examples
        --------
        >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
        >>> clf = Perceptron(shuffle=False, tol=None).fit(X, y)
        >>> clf.stop_reason_, clf.certificate(X, y).verdict
        ('cycle', 'overlapping')
        """
        from rosenblatt.prove.bounds.run_certificate import (
            run_certificate,  # flint and highspy: only if asked
        )

        check_is_fitted(self, "classes_")
        if len(self.classes_) != 2 or isinstance(self.trace_, OneVsRestTrace):
            raise NotSupportedError(
                f"a certificate is about two classes, the model has {len(self.classes_)}. Ask "
                "separability_table(X, y) for more."
            )
        self._matrix(X, y, reset=False)
        rows = as_cone(X, y, self._context.fit_intercept)
        planes = [(w[0], b[0]) for w, b in self._planes()]
        return run_certificate(rows, planes, self.trace_)

    def _planes(self) -> list[tuple[Any, Any]]:
        """The returned weights, if they are hyperplanes, and the last ones of the run."""
        planes = [self._learner.last()]
        if not hasattr(self, "votes_"):
            coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
            planes.insert(0, (coef, self.intercept_))
        return planes

    def _trained_on(self, X: Any, y: Any) -> Problem:
        """The rows of the last `fit`, checked against its fingerprint."""
        check_is_fitted(self, "classes_")
        if len(self.classes_) < 2:
            raise DataError("the model has seen one class. Train it on two.")
        checked = self._matrix(X, y, reset=False)
        checked = checked.astype(self._learner.state.dtype, copy=False)
        if checked.shape[0] != self._context.n_rows and self._context.calls == 1:
            raise DataError(
                f"X has {checked.shape[0]} rows, the model was trained on {self._context.n_rows}. "
                "Give the rows and labels it was trained on."
            )
        problem = Problem.labelled(checked, y, classes=self.classes_)
        if self._context.calls == 1 and fingerprint(problem) != self._context.fingerprint:
            raise DataError(
                "these are not the rows and labels the model was trained on. Give those, in the "
                "same order."
            )
        return replace(problem, X=as_matrix(problem.X))

    # --------------------------------------------------------------------- helpers

    def _held_out(self, problem: Problem) -> Any:
        """Which rows are held out for early stopping, or None."""
        if not self.early_stopping:
            return None
        splitter = StratifiedShuffleSplit(
            test_size=self.validation_fraction, random_state=self.random_state
        )
        labels = problem.classes[problem.class_numbers()]
        try:
            _, held = next(splitter.split(np.zeros((problem.n_rows, 1)), labels))
        except ValueError as e:
            raise DataError(
                f"{e}. early_stopping holds out {100 * self.validation_fraction:g}% of "
                f"{problem.n_rows} rows; give more rows, change validation_fraction, or use "
                "early_stopping=False."
            ) from e
        weight = problem.sample_weight
        if weight is not None and not weight[held].any():
            raise DataError(
                "The sample weights for validation set are all zero, consider using a different "
                "random state."
            )
        mask = np.zeros(problem.n_rows, dtype=bool)
        mask[held] = True
        return mask

    def _forget(self) -> None:
        """Drop the weights of an earlier fit."""
        fitted = self.__dict__.get("_fitted", {})
        kept = {k: v for k, v in fitted.items() if k not in ("coef_", "intercept_", "votes_")}
        self.__dict__["_fitted"] = kept
        self._stop_online()

    def _publish(self, learner: Learner, trace: Any) -> None:
        """Set the attributes of a finished run, all at once: other threads may predict."""
        weights = ("coef_", "intercept_", "votes_")
        fitted = {k: v for k, v in self.__dict__.get("_fitted", {}).items() if k not in weights}
        if learner.keep == "vote":
            fitted["votes_"] = learner.ballots()
        else:
            fitted["coef_"], fitted["intercept_"] = learner.kept()
        fitted |= {
            "classes_": learner.classes,
            "n_iter_": trace.n_epochs,
            "stop_reason_": str(trace.stop_reason),
            "trace_": trace,
        }
        self.__dict__ |= {"_fitted": fitted, "_learner": learner}
        self._stop_online()

    def _current_learner(self) -> Learner:
        """A copy of the learner, with weights that the user may have edited."""
        learner = self._learner.copy()
        if learner.keep == "last" and hasattr(self, "coef_"):
            coef = self.coef_.toarray() if sp.issparse(self.coef_) else np.asarray(self.coef_)
            if len(learner.classes) > 1:
                learner.set_weights(coef, np.asarray(self.intercept_))
        return learner

    def _warn_of_bound(self, trace: Any) -> None:
        bounded = self.keep == "vote" and self.max_updates is None
        if bounded and trace.stop_reason is StopReason.MAX_UPDATES:
            warnings.warn(
                "keep='vote' stopped at the most hyperplanes it keeps by default. Set max_updates "
                "for more.",
                RosenblattWarning,
                stacklevel=5,
            )

    def _warn(self, trace: Any) -> None:
        self._warn_of_bound(trace)
        if trace.stop_reason is StopReason.MAX_ITER and self.tol is not None:
            warn_of_max_iter(stacklevel=6)
        zero = self.keep != "vote" and not (self.coef_.any(axis=1) | (self.intercept_ != 0)).all()
        if self.tie == "correct" and zero:
            warnings.warn(
                "Training ended at w = 0, where tie='correct' never sees a mistake: nothing was "
                "learned or proven. Use another start or tie='mistake'.",
                RosenblattWarning,
                stacklevel=5,
            )


def _starts(learner: Learner) -> list[tuple[Any, Any]]:
    """(w, b) of each machine before its first visit."""
    w, b = learner.state.kept("last")
    w, b = w[: learner.n_planes], b[: learner.n_planes]
    if learner.together:
        return [(w, b)]
    return [(w[k], b[k : k + 1]) for k in range(len(b))]
