"""KernelPerceptron: a scikit-learn class. Parameters in, attributes out; no algorithm here."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rosenblatt.data.problem import Problem
from rosenblatt.errors import LabelError, ParameterError
from rosenblatt.estimators._base import RowsMixin as TakesRows
from rosenblatt.estimators._base import unchanged_on_error
from rosenblatt.learn.kernel_trick.budget import Budget, resolve
from rosenblatt.learn.kernel_trick.functions import Kernel
from rosenblatt.learn.kernel_trick.machine import Machine, Passed, Rows, Steps
from rosenblatt.learn.kernel_trick.options import KernelOptions
from rosenblatt.learn.settings import split_params
from rosenblatt.learn.trace import OneVsRestTrace, StopReason, Trace


# scikit-learn has no type hints, hence the `type: ignore`
class KernelPerceptron(TakesRows, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The perceptron in the feature space of a kernel; docs/kernel.md tells more.

    The score of a row is f(x) = sum_j coef_j K(x_j, x) over the support rows x_j, the rows at which
    a mistake was made. There is no offset: (1 + x.z)^d and other kernels with a constant have one
    of their own. More than two classes are each set against the rest and share the support rows.
    A score of exactly 0 is a mistake in training, and predicts the second class.

    Parameters
    ----------
    kernel : {'rbf', 'poly', 'linear'} or function, default='rbf'
        K(x, z): exp(-gamma ||x - z||^2), (gamma x.z + coef0)^degree, x.z, or a symmetric function
        of two blocks of rows that gives an array with a number for each pair. Freund and
        Schapire's (1 + x.z)^d is kernel='poly', gamma=1, coef0=1, degree=d.
    degree : int, default=3
        Of 'poly'.
    gamma : {'scale', 'auto'} or float, default='scale'
        Of 'poly' and 'rbf'. 'scale' is 1 / (n_features * X.var()), 'auto' 1 / n_features, both
        of the first rows seen.
    coef0 : float, default=0.0
        Of 'poly'.
    keep : {'last', 'average', 'vote'}, default='last'
        What predicts: the last coefficients; their mean after every visit; or a vote of all the
        hyperplanes there were, each with one vote per visit it survived.
    budget : None, 'random', 'projectron' or Budget, default=None
        Bounds the support rows: ``RandomBudget(size=1000)`` drops a random one when a new one
        comes, ``Projectron(size=1000, eta=0.1)`` projects onto those it has. Goes with
        keep='last', the Projectron also with 'average'. Reached as ``budget__size``.
    max_iter : int, default=1000
        Most passes over the data in `fit`.
    tol : float or None, default=1e-3
        Stop after `n_iter_no_change` passes whose share of mistakes is not below the best by
        `tol`. None: go on to a clean pass or to `max_iter`.
    n_iter_no_change : int, default=5
        How many passes without a gain of `tol` end training.
    shuffle : bool, default=True
        True: a new permutation each pass, for two classes the one `Perceptron` makes. False: in
        order.
    random_state : int, RandomState or None, default=0
        Seed of the order of visits, and of the rows that a random budget drops.
    verbose : int, default=0
        1 prints a line a pass.

    Attributes
    ----------
    classes_ : array
    support_ : int array of shape (n_support,)
        Which rows the support rows are; `partial_fit` counts rows over all calls.
    support_vectors_ : array or CSR matrix of shape (n_support, n_features)
    dual_coef_ : array of shape (1, n_support), or (n_classes, n_support) for more than two
        The coefficients that predict. keep='vote' has none: `steps_` has its hyperplanes.
    steps_ : Steps
        Without a budget, each change of a coefficient and the visit it was made at.
    gamma_ : float
        The number that `gamma` stood for; of a named kernel.
    n_iter_ : int
        Passes made in the last call.
    n_mistakes_ : int
        Mistakes of all classes, summed over calls of `partial_fit`. On rows that the kernel
        separates with the margin g, each class makes at most max K(x, x) / g^2.
    stop_reason_ : str
        'separated' (a pass without a mistake), 'no_improvement' or 'max_iter'.
    trace_ : Trace or OneVsRestTrace
        Pass by pass; `loss` is the share of mistakes, `norms` are in the feature space (NaN with
        a random budget, which does not follow them).
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> clf = KernelPerceptron(kernel="poly", degree=2, gamma=1, coef0=1, shuffle=False, tol=None)
    >>> clf.fit(X, y).predict(X), clf.n_mistakes_, clf.stop_reason_
    (array([0, 1, 1, 0]), 21, 'separated')
    """

    classes_: Any
    steps_: Steps
    _machine: Machine
    _keep: str
    _asked: tuple[Any, ...]

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        keep: str = "last",
        budget: str | Budget | None = None,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        random_state: Any = 0,
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
        """Set parameters; `budget__size=100` replaces the budget by one of 100 rows."""
        own, inside = split_params(params, "budget")
        super().set_params(**own)
        if inside:
            budget = resolve(self.budget)
            if budget is None:
                raise ParameterError(
                    f"budget is None and has no parameter {sorted(inside)}. Set budget='random' "
                    "or budget='projectron' first."
                )
            self.budget = budget.with_params(**inside)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # -------------------------------------------------------------------- training

    @unchanged_on_error
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelPerceptron:
        """Train on X and y from zero.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
        y : labels of any kind, shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            A weight multiplies the update; a row of weight 0 is never a mistake.
        """
        options = KernelOptions.of(self.get_params(deep=False))
        problem = Problem.labelled(self._matrix(X, y, reset=True), y, sample_weight)
        passes, seed = options.passes(problem.n_rows, self.random_state)
        machine = self._begin(problem, options, seed)
        passed = machine.train(_rows(problem), passes, options.stop, self._say)
        self._publish(machine, problem, options, passed)
        if passed.reason is StopReason.MAX_ITER and self.tol is not None:
            warnings.warn(
                "Maximum number of iteration reached before convergence. Consider increasing "
                "max_iter to improve the fit.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    @unchanged_on_error
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> KernelPerceptron:
        """One pass over X and y, going on from where the model stands.

        With a budget, memory is bounded however long the stream is.

        Parameters
        ----------
        classes : array
            All labels that will ever come: on the first call, unless `y` has them all.
        """
        options = KernelOptions.of(self.get_params(deep=False)).once()
        first = not hasattr(self, "_machine")
        checked = self._matrix(X, y, reset=first)
        if first:
            problem = Problem.labelled(checked, y, sample_weight, classes)
        else:
            self._check_same(classes)
            problem = Problem.labelled(checked, y, sample_weight, self.classes_)
        passes, seed = options.passes(problem.n_rows, self.random_state)
        machine = self._begin(problem, options, seed) if first else self._machine.copy()
        passed = machine.train(_rows(problem), passes, options.stop, self._say)
        self._publish(machine, problem, options, passed)
        return self

    def _begin(self, problem: Problem, options: KernelOptions, seed: int) -> Machine:
        n_classes = len(problem.classes)
        if n_classes < 2:
            raise LabelError(
                "The number of classes has to be greater than one; got 1 class "
                f"({problem.classes.tolist()[0]!r}). Add another class, or name all classes in the "
                "first call of partial_fit."
            )
        kernel = Kernel.of(self.kernel, self.degree, self.gamma, self.coef0, problem.X)
        return Machine.begin(kernel, 1 if n_classes == 2 else n_classes, options.budget, seed)

    def _asks(self) -> tuple[Any, ...]:
        return self.kernel, self.degree, self.gamma, self.coef0, resolve(self.budget)

    def _check_same(self, classes: Any) -> None:
        """What cannot change while a model learns on."""
        if self._asks() != self._asked:
            raise ParameterError(
                "the kernel or the budget was changed after the first call, from "
                f"{self._asked} to {self._asks()}. The coefficients belong to the old one: set it "
                "back, or call fit."
            )
        named = self.classes_ if classes is None else np.unique(classes)
        if not np.array_equal(named, self.classes_):
            raise LabelError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_!r}. Leave classes out on later calls."
            )

    def _say(self, number: int, mistakes: Any) -> None:
        if self.verbose:
            print(f"pass {number}: {int(mistakes.sum())} mistakes")

    def _publish(
        self, machine: Machine, problem: Problem, options: KernelOptions, passed: Passed
    ) -> None:
        """Set the attributes of a finished run."""
        for name in ("steps_", "gamma_"):
            self.__dict__.pop(name, None)
        store = machine.store
        self._machine, self._keep, self._asked = machine, options.keep, self._asks()
        self.classes_ = problem.classes
        self.support_ = store.numbers[: store.size].copy()
        if options.budget is None:
            self.steps_ = machine.steps
        if machine.kernel.function is None:
            self.gamma_ = machine.kernel.gamma
        self.n_mistakes_ = int(machine.mistakes.sum())
        self.n_iter_ = len(passed.mistakes)
        self.stop_reason_ = str(passed.reason)
        traces = tuple(_trace(passed, k, problem, options.keep) for k in range(passed.planes))
        self.trace_ = traces[0] if len(traces) == 1 else OneVsRestTrace(problem.classes, traces)

    # --------------------------------------------------------------------- results

    @property
    def support_vectors_(self) -> Any:
        """The support rows, put together when asked for."""
        return self._fitted("support_vectors_").store.rows()

    @property
    def dual_coef_(self) -> Any:
        """The coefficients that predict."""
        machine = self._fitted("dual_coef_")
        if self._keep == "vote":
            raise AttributeError(
                "keep='vote' has no dual_coef_: it keeps all hyperplanes, in steps_ (visit, "
                "support, plane, amount)."
            )
        return machine.coefficients(average=self._keep == "average").T.copy()

    def _fitted(self, name: str) -> Machine:
        if "_machine" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self._machine

    # ------------------------------------------------------------------ prediction

    def decision_function(self, X: Any) -> Any:
        """Scores f(x) (with keep='vote', the mean vote): shape (n,) or (n, n_classes)."""
        check_is_fitted(self, "classes_")
        X = self._matrix(X, reset=False)
        machine = self._machine
        if self._keep == "vote":
            scores = machine.scores_after(X, [machine.visits]).vote[0]
        else:
            scores = machine.scores(X, average=self._keep == "average")
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> Any:
        """Labels. Two classes: a score >= 0 is the second class, always."""
        scores = self.decision_function(X)
        number = (scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[number]


def _rows(problem: Problem) -> Rows:
    """Two classes are one hyperplane; more are one each, against the rest."""
    n, k = problem.n_rows, len(problem.classes)
    y = problem.y[None] if k == 2 else np.where(problem.y == np.arange(k)[:, None], 1, -1)
    weight = np.ones(n) if problem.sample_weight is None else problem.sample_weight
    return Rows(problem.X, y.astype(np.int8), weight)


def _trace(passed: Passed, k: int, problem: Problem, keep: str) -> Trace:
    mistakes = passed.mistakes[:, k]
    return Trace(
        passed.reason,
        mistakes.copy(),
        mistakes.copy(),
        mistakes / problem.n_rows,
        passed.norms[:, k].copy(),
        passed.seconds / passed.planes,
        problem.n_rows,
        keep=keep,
        kept_pass=len(mistakes) if keep == "last" else None,
    )
