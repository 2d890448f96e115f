"""Perceptron with a kernel, as a scikit-learn estimator."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from rosenblatt._core import decide
from rosenblatt.data.labels import check_same_classes, check_two_classes
from rosenblatt.data.problem import Problem
from rosenblatt.data.source import ArraySource
from rosenblatt.errors import NotSupportedError, ParameterError
from rosenblatt.estimators._base import RowsMixin, unchanged_on_error, warn_of_max_iter
from rosenblatt.estimators._callbacks import PrintEpochs
from rosenblatt.learn.engine import Progress, run
from rosenblatt.learn.kernel import Kernel
from rosenblatt.learn.kernel_machine import (
    Budget,
    CoefficientSteps,
    KernelMachine,
    KernelModel,
    Projectron,
    resolve_budget,
)
from rosenblatt.learn.schedule import seeds_and_split
from rosenblatt.learn.settings import CHECKS, check_params, split_params
from rosenblatt.learn.trace import OneVsRestTrace, StopReason, Trace

KEEPS = ("last", "average", "vote")


# scikit-learn has no type hints, hence the `type: ignore`
class KernelPerceptron(RowsMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Perceptron in the feature space of a kernel; see docs/how-to/kernel.md.

    The score of a row is f(x) = sum_j coef_j K(x_j, x) over the support rows x_j, the rows at which
    a mistake was made. There is no intercept: kernels with a constant, such as (1 + x.z)^d, include
    one. With more than two classes, each is trained against the rest; all share the support rows.
    A score of exactly 0 is a mistake in training, and predicts the second class.

    Parameters
    ----------
    kernel : {'rbf', 'poly', 'linear'} or function, default='rbf'
        K(x, z): exp(-gamma ||x - z||^2), (gamma x.z + coef0)^degree, x.z, or a symmetric function
        of two blocks of rows that returns an array with one number per pair. Freund and
        Schapire's (1 + x.z)^d is kernel='poly', gamma=1, coef0=1, degree=d.
    degree : int, default=3
        Degree of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        Factor of 'poly' and 'rbf'. 'scale' is 1 / (n_features * X.var()), 'auto' is
        1 / n_features, both of the rows of the first call.
    coef0 : float, default=0.0
        Constant of 'poly'.
    keep : {'last', 'average', 'vote'}, default='last'
        What predicts: the last coefficients; their mean after every visit; or a vote of all
        hyperplanes of the run, each with one vote per visit it survived.
    budget : None, 'random', 'projectron' or Budget, default=None
        Limit on the number of support rows: with ``RandomBudget(size=1000)`` a new support row
        replaces a random one, with ``Projectron(size=1000, eta=0.1)`` rows are projected onto the
        support rows. Requires keep='last'; the Projectron also supports 'average'. Its parameters
        are set as ``budget__size``.
    max_iter : int, default=1000
        Largest number of epochs in `fit`.
    tol : float or None, default=1e-3
        Stop when the share of mistakes is greater than the best share minus `tol` for
        `n_iter_no_change` epochs in a row. None: stop only after an epoch without a mistake, or
        after `max_iter` epochs.
    n_iter_no_change : int, default=5
        Number of epochs without a gain of `tol` after which training stops.
    shuffle : bool, default=True
        True: a new permutation in each epoch, for two classes the one of `Perceptron`. False: rows
        in order.
    random_state : int, RandomState or None, default=0
        Seed of the order of visits, and of the rows that a random budget drops.
    verbose : int, default=0
        1 prints one line per epoch.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels.
    support_ : int array of shape (n_support,)
        Row numbers of the support rows; `partial_fit` counts rows over all calls.
    support_vectors_ : array or CSR matrix of shape (n_support, n_features)
        Support rows.
    dual_coef_ : array of shape (1, n_support), or (n_classes, n_support) for more than two
        Coefficients used by `predict`. Not with keep='vote', which uses `steps_`.
    steps_ : CoefficientSteps
        Every change of a coefficient and its visit. Not with a budget.
    gamma_ : float
        Value of `gamma`. Not with a function as kernel.
    n_iter_ : int
        Epochs of the last call.
    n_mistakes_ : int
        Mistakes of all classes, summed over calls of `partial_fit`. On rows that the kernel
        separates with the margin g, each class makes at most max K(x, x) / g^2.
    stop_reason_ : str
        'separated' (an epoch without a mistake), 'no_improvement' or 'max_iter'.
    trace_ : Trace or OneVsRestTrace
        Totals of each epoch; `loss` is the share of mistakes, `norms` are in the feature space (NaN
        with a random budget).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, where X had them.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> clf = KernelPerceptron(kernel="poly", degree=2, gamma=1, coef0=1, shuffle=False, tol=None)
    >>> clf.fit(X, y).predict(X), clf.n_mistakes_, clf.stop_reason_
    (array([0, 1, 1, 0]), 21, 'separated')
    """

    classes_: Any
    steps_: CoefficientSteps
    _model: KernelModel
    _keep: str
    _fixed: tuple[Any, ...]

    def __init__(
        self,
        *,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        keep: str = "last",
        budget: str | Budget | None = None,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = 0,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.keep = keep
        self.budget = budget
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose

    def set_params(self, **params: Any) -> KernelPerceptron:
        """Set parameters; `budget__size=100` sets the size of the budget.

        Parameters
        ----------
        **params : Any
            Parameters of the estimator, and of its budget as ``budget__name``.

        Returns
        -------
        KernelPerceptron
            The estimator.
        """
        own, inside = split_params(params, "budget")
        super().set_params(**own)
        if inside:
            budget = resolve_budget(self.budget)
            if budget is None:
                raise ParameterError(
                    f"budget is None and has no parameter {sorted(inside)}. Set budget='random' "
                    "or budget='projectron' first."
                )
            self.budget = budget.with_params(**inside)
        return self

    # -------------------------------------------------------------------- training

    @unchanged_on_error
    def fit(
        self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> KernelPerceptron:
        """Train on X and y from zero.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows of numbers.
        y : array of shape (n_samples,)
            Labels of any kind.
        sample_weight : array of shape (n_samples,), optional
            A weight multiplies the update; a row of weight 0 is never a mistake.

        Returns
        -------
        KernelPerceptron
            The fitted estimator.
        """
        budget = self._check_params()
        problem = Problem.labelled(self._matrix(X, y, reset=True), y, sample_weight)
        seed = self._seed()
        machine = KernelMachine(
            self._new_model(problem, budget, seed),
            shuffle=bool(self.shuffle),
            seed=seed,
            tol=None if self.tol is None else float(self.tol),
            patience=int(self.n_iter_no_change),
        )
        self._train(machine, problem, int(self.max_iter))
        if machine.reason is StopReason.MAX_ITER and self.tol is not None:
            warn_of_max_iter(stacklevel=4)
        return self

    @unchanged_on_error
    def partial_fit(
        self,
        X: Any,
        y: npt.ArrayLike,
        classes: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> KernelPerceptron:
        """Continue training with one epoch over X and y.

        With a budget, memory is bounded for a stream of any length.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows of numbers.
        y : array of shape (n_samples,)
            Labels.
        classes : array, optional
            All labels of the stream: on the first call, unless `y` has them all.
        sample_weight : array of shape (n_samples,), optional
            A weight multiplies the update; a row of weight 0 is never a mistake.

        Returns
        -------
        KernelPerceptron
            The fitted estimator.
        """
        budget = self._check_params()
        first = not hasattr(self, "_model")
        checked = self._matrix(X, y, reset=first)
        if not first:
            self._check_unchanged(classes)
            classes = self.classes_
        problem = Problem.labelled(checked, y, sample_weight, classes)
        seed = self._seed()
        model = self._new_model(problem, budget, seed) if first else self._model.copy()
        machine = KernelMachine(model, shuffle=bool(self.shuffle), seed=seed, clean=False)
        self._train(machine, problem, max_iter=1)
        return self

    def _check_params(self) -> Budget | None:
        """Check all parameters but those of the kernel, which may depend on the rows."""
        shared = ("max_iter", "tol", "n_iter_no_change", "random_state", "verbose")
        checks = {name: CHECKS[name] for name in shared}
        checks["keep"] = (lambda v: isinstance(v, str) and v in KEEPS), f"one of {KEEPS}"
        checks["shuffle"] = (lambda v: isinstance(v, (bool, np.bool_))), "True or False"
        check_params(self.get_params(deep=False), checks, "KernelPerceptron")
        budget = resolve_budget(self.budget)
        average = self.keep == "average" and isinstance(budget, Projectron)
        if budget is not None and self.keep != "last" and not average:
            raise NotSupportedError(
                f"keep={self.keep!r} needs all support rows of the run, and {budget!r} drops some. "
                "Use keep='last', budget=None, or keep='average' with a Projectron."
            )
        return budget

    def _seed(self) -> int:
        """Draw the seed that `Perceptron` would draw for two classes."""
        (seed,), _ = seeds_and_split(self.random_state, 1, lambda: None)
        return seed

    def _new_model(self, problem: Problem, budget: Budget | None, seed: int) -> KernelModel:
        check_two_classes(problem.classes)
        n_classes = len(problem.classes)
        kernel = Kernel.from_params(self.kernel, self.degree, self.gamma, self.coef0, problem.X)
        return KernelModel.zero(kernel, 1 if n_classes == 2 else n_classes, budget, seed)

    def _kernel_and_budget(self) -> tuple[Any, ...]:
        return self.kernel, self.degree, self.gamma, self.coef0, resolve_budget(self.budget)

    def _check_unchanged(self, classes: Any) -> None:
        """Check what cannot change between calls of partial_fit."""
        if self._kernel_and_budget() != self._fixed:
            raise ParameterError(
                "the kernel or the budget was changed after the first call, from "
                f"{self._fixed} to {self._kernel_and_budget()}. The coefficients belong to the old "
                "one: set it back, or call fit."
            )
        check_same_classes(classes, self.classes_)

    def _train(self, machine: KernelMachine, problem: Problem, max_iter: int) -> None:
        """Run the machine and set the fitted attributes."""
        numbers, labels = problem.class_numbers(), problem.classes.tolist()
        source = ArraySource(problem.X, numbers, labels, problem.sample_weight)
        observers = [PrintEpochs(_epoch_line)] if self.verbose else []
        started = time.perf_counter()
        run(source, [machine], max_iter=max_iter, observers=observers)
        seconds = time.perf_counter() - started
        model, store = machine.model, machine.model.store
        for name in ("steps_", "gamma_"):
            self.__dict__.pop(name, None)
        self._model, self._keep, self._fixed = model, self.keep, self._kernel_and_budget()
        self.classes_ = problem.classes
        self.support_ = store.row_numbers[: store.size].copy()
        if model.budget is None:
            self.steps_ = model.steps
        if model.kernel.function is None:
            self.gamma_ = model.kernel.gamma
        self.n_mistakes_ = int(model.mistakes.sum())
        self.n_iter_ = len(machine.mistakes)
        self.stop_reason_ = str(machine.reason)
        planes = range(len(model.mistakes))
        traces = tuple(self._trace(machine, k, problem.n_rows, seconds) for k in planes)
        self.trace_ = traces[0] if len(traces) == 1 else OneVsRestTrace(problem.classes, traces)

    def _trace(self, machine: KernelMachine, plane: int, n_rows: int, seconds: float) -> Trace:
        assert machine.reason is not None
        mistakes = np.array([m[plane] for m in machine.mistakes])
        return Trace(
            machine.reason,
            mistakes,
            mistakes.copy(),
            loss=mistakes / n_rows,
            norms=np.array([norm[plane] for norm in machine.norms]),
            seconds=seconds / len(machine.model.mistakes),
            n_rows=n_rows,
            keep=self.keep,
            kept_epoch=len(mistakes) if self.keep == "last" else None,
        )

    # --------------------------------------------------------------------- results

    @property
    def support_vectors_(self) -> Any:
        """The support rows as one matrix."""
        return self._fitted_model("support_vectors_").store.rows()

    @property
    def dual_coef_(self) -> npt.NDArray[np.float64]:
        """The coefficients used by predict."""
        model = self._fitted_model("dual_coef_")
        if self._keep == "vote":
            raise AttributeError(
                "keep='vote' has no dual_coef_: it uses all hyperplanes of the run, see steps_ "
                "(visit, support, plane, amount)."
            )
        return model.coefficients(average=self._keep == "average").T.copy()

    def _fitted_model(self, name: str) -> KernelModel:
        if "_model" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self._model

    # ------------------------------------------------------------------ prediction

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the scores f(x); with keep='vote', the mean vote.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows of numbers.

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_classes) for more than two classes
            Scores.
        """
        check_is_fitted(self, "classes_")
        X = self._matrix(X, reset=False)
        model = self._model
        scores: npt.NDArray[np.float64]
        if self._keep == "vote":
            scores = model.scores_after(X, [model.visits]).vote[0]
        else:
            scores = model.scores(X, average=self._keep == "average")
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
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
        scores = self.decision_function(X)
        labels: npt.NDArray[Any] = self.classes_[decide(scores.reshape(len(scores), -1))]
        return labels


def _epoch_line(progress: Progress) -> str:
    (machine,) = progress.machines
    return f"epoch {progress.epoch}: {machine.mistakes[-1].sum()} mistakes"
