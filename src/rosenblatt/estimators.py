"""Estimators: scikit-learn classes. Parameters in, attributes out; no algorithm lives here."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt.data.problem import Problem, as_labels, as_matrix
from rosenblatt.errors import (
    DataError,
    LabelError,
    NotSupportedError,
    ParameterError,
    RosenblattWarning,
)
from rosenblatt.learn.keep import Ballot, State, ballot
from rosenblatt.learn.multiclass import grown, in_threads
from rosenblatt.learn.options import Options
from rosenblatt.learn.rules import Rule, resolve
from rosenblatt.learn.schedule import generator, seed_for_two_classes, seeds_for_each_class
from rosenblatt.learn.trace import OneVsRestTrace, StopReason, Trace
from rosenblatt.learn.training import HeldOut, Monitor, Progress, train
from rosenblatt.learn.weights import class_weights, row_weights, start_weights


def _unchanged_on_error(method: Callable[..., Any]) -> Callable[..., Any]:
    """A failed fit leaves the estimator as it was."""

    @functools.wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return guarded


def _has_one_hyperplane(estimator: Any) -> bool:
    return bool(estimator.keep != "vote")


class Perceptron(CallbackSupportMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The perceptron of all five lectures; a drop-in for scikit-learn's.

    With its defaults it gives the model that ``sklearn.linear_model.Perceptron`` gives on
    dense data; docs/from_sklearn.md lists every deviation. What a score of exactly 0 is,
    and what each lecture does, is in docs/conventions.md.

    Parameters
    ----------
    penalty : {None, 'l2', 'l1', 'elasticnet'}, default=None
        Shrinks the weights a little at every visit. Training then no longer ends at a
        clean pass, and keep='vote' and 'pocket' have no meaning.
    alpha : float, default=0.0001
        How strong the penalty is.
    l1_ratio : float, default=0.15
        The share of L1 in 'elasticnet'.
    fit_intercept : bool, default=True
        Learn an offset b. False: hyperplanes through the origin.
    max_iter : int, default=1000
        Most passes over the data in `fit`.
    tol : float or None, default=1e-3
        Stop after `n_iter_no_change` passes whose mean loss is not below the best by
        `tol`. None: go on until the data are separated, the weights cycle, or a limit.
    shuffle : bool or 'sample', default=True
        True: a new permutation each pass. False: in order; only then can a cycle be seen.
        'sample': as many draws with replacement as there are rows.
    verbose : int, default=0
        1 prints a line a pass.
    eta0 : float, default=1.0
        The learning rate. From zero weights it only rescales them. With mode='batch' also
        a sequence or a function of the pass number (from 1): the step sizes alpha_k.
    n_jobs : int or None, default=None
        Threads for the one-vs-rest problems; never changes the result.
    random_state : int, RandomState or None, default=0
        Seed of the order of visits, of init='random' and of the held-out rows.
    early_stopping : bool, default=False
        Hold out `validation_fraction` of the rows, stop when the accuracy on them does
        not rise by `tol`, and give back the best weights seen, not the last.
    validation_fraction : float, default=0.1
    n_iter_no_change : int, default=5
    class_weight : dict, 'balanced' or None, default=None
        Weights by class; in `partial_fit`, 'balanced' follows the counts seen so far.
    warm_start : bool, default=False
        Start `fit` from the weights of the last one.
    rule : str or Rule, default='perceptron'
        What moves the weights: 'perceptron' (mistakes), 'margin' or ``Margin(tau=1.0)``
        (every row with y*score <= tau). Its parameters are reached as ``rule__tau``.
    keep : {'last', 'average', 'vote', 'pocket'}, default='last'
        Which weights are given back: the last; their mean after every visit; a vote of
        all of them (no `coef_`; at most `max_updates` hyperplanes, by default what fits
        in 1 GiB and 10,000); the ones with fewest training errors (Gallant's pocket with
        ratchet).
    mode : {'online', 'batch', 'batch-mean'}, default='online'
        One row at a time, or all misclassified rows at once: their sum, or their mean.
    tie : {'mistake', 'positive', 'correct', 'half'}, default='mistake'
        What a score of exactly 0 is in training.
    init : {'zero', 'random'} or array, default='zero'
        The start. 'random' draws from the standard normal distribution. An array has the
        shape of `coef_` (flat for two classes), with or without the offset as a last column.
    weighting : {'scale', 'repeat'}, default='scale'
        A weight k multiplies the update, or does exactly what k visits in a row do.
    multiclass : {'ovr', 'direct'}, default='ovr'
        One hyperplane per class against the rest, or Kesler's construction.
    max_updates : int or None, default=None
        Most updates altogether.
    record : {None, 'updates'}, default=None
        Keep the first updates with their weights in ``trace_.record`` (10,000 at most).

    Attributes
    ----------
    coef_ : array of shape (1, n_features), or (n_classes, n_features) for more than two
    intercept_ : array of shape (1,) or (n_classes,)
    classes_ : array
    n_iter_ : int
        Passes made (the most of any one-vs-rest problem).
    n_mistakes_, n_updates_ : int
        Visits that were mistakes, and changes of the weights; not the same thing.
    stop_reason_ : str
        'separated', 'cycle', 'no_improvement', 'max_iter', 'max_updates' or 'callback'.
    trace_ : Trace or OneVsRestTrace
        What happened, pass by pass.
    t_ : float
        1 + visits, as scikit-learn counts.
    votes_ : tuple of Ballot
        Only with keep='vote'.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = Perceptron(shuffle=False).fit(X, y == 0)
    >>> clf.score(X, y == 0), clf.n_mistakes_, clf.stop_reason_
    (1.0, 5, 'separated')
    """

    coef_: Any
    intercept_: Any
    classes_: Any
    n_features_in_: int
    trace_: Trace | OneVsRestTrace
    votes_: tuple[Ballot, ...]
    _states: list[State]
    _spare: State | None  # what a class never seen so far would start from
    _class_counts: Any

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool | str = True,
        verbose: int = 0,
        eta0: Any = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        rule: str | Rule = "perceptron",
        keep: str = "last",
        mode: str = "online",
        tie: str = "mistake",
        init: Any = "zero",
        weighting: str = "scale",
        multiclass: str = "ovr",
        max_updates: int | None = None,
        record: str | None = None,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
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

    def set_params(self, **params: Any) -> Perceptron:
        """Set parameters; `rule__tau=2.0` replaces the rule by one with tau = 2."""
        inside = {k: v for k, v in params.items() if k.startswith("rule__")}
        super().set_params(**{k: v for k, v in params.items() if k not in inside})
        if inside:
            changes = {k.removeprefix("rule__"): v for k, v in inside.items()}
            self.rule = resolve(self.rule).with_params(**changes)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # -------------------------------------------------------------------- training

    @_unchanged_on_error
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Perceptron:
        """Train on X and y from the start that `init`, `warm_start` or coef_init give.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
        y : labels of any kind, shape (n_samples,)
        coef_init, intercept_init : arrays, optional
            The weights to start from, of the shapes of `coef_` and `intercept_`.
        sample_weight : array of shape (n_samples,), optional
            What a weight means, `weighting` says; it multiplies the class weight.
        """
        options = Options.of(self.get_params(deep=False))
        problem = self._problem(X, y, sample_weight, classes=None, reset=True)
        if len(problem.classes) < 2:
            raise LabelError(
                "The number of classes has to be greater than one; got 1 class "
                f"({problem.classes[0]!r} in all {problem.n_rows} rows). Add rows of another class."
            )
        wide = options.direct and len(problem.classes) > 2
        if wide:
            options.check_direct()
        if self.warm_start and coef_init is None and hasattr(self, "coef_"):
            coef_init, intercept_init = self.coef_, self.intercept_
        w, b = start_weights(
            self.init, coef_init, intercept_init, problem, generator(self.random_state)
            if isinstance(self.init, str) and self.init == "random" else None, options.update,
        )  # fmt: skip
        states = [State.at(w, b, w.dtype)] if wide else [
            State.at(w[k], b[k : k + 1], w.dtype) for k in range(len(b))
        ]  # fmt: skip
        weights = class_weights(self.class_weight, problem)
        held_out = self._held_out_rows(problem) if self.early_stopping else None
        trace, coef, intercept = self._train(problem, options, states, weights, held_out)
        self.t_ = 1.0 + trace.n_passes * problem.n_rows
        self._states, self._spare, self._class_counts = states, None, problem.counts()
        self._publish(problem.classes, options, trace, coef, intercept)
        self.n_mistakes_, self.n_updates_ = trace.n_mistakes, trace.n_updates
        self._warn(trace, coef, intercept)
        return self

    @_unchanged_on_error
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Perceptron:
        """One pass over X and y, going on from where the model stands.

        Parameters
        ----------
        classes : array, optional
            All labels that will ever come, on the first call. Left out, classes may appear
            at any time; one against the rest, a late class starts where it would stand had
            it been named at the start.
        """
        options = Options.of(self.get_params(deep=False))
        if options.keep == "pocket":
            raise NotSupportedError(
                "keep='pocket' needs the whole training set to compare weights, and partial_fit "
                "sees a part at a time. Use fit, or keep='average'."
            )
        if self.early_stopping:
            raise ParameterError("early_stopping should be False with partial_fit: use fit.")
        first = not hasattr(self, "_states")
        problem, states, spare = self._streamed(X, y, classes, sample_weight, options, first)
        wide = options.direct and len(problem.classes) > 2
        if wide:
            options.check_direct()
        counts = problem.counts() if first else problem.counts() + self._counts(problem.classes)
        weights = class_weights(self.class_weight, problem, counts)
        trace, coef, intercept = self._train(problem, options, states, weights, None, streamed=True)
        if spare is not None:
            others = Problem(
                problem.X,
                np.full(problem.n_rows, -1, np.int8),
                problem.classes,
                problem.sample_weight,
            )
            self._run(others, options, spare, others.sample_weight, 0, None, None, streamed=True)
            if len(problem.classes) == 1:
                states = [spare.mirrored()]
                coef, intercept = self._kept(options, states)
        self.t_ = getattr(self, "t_", 1.0) + problem.n_rows
        self._states, self._spare, self._class_counts = states, spare, counts
        self._publish(problem.classes, options, trace, coef, intercept)
        self.n_mistakes_ = sum(s.mistakes for s in states)
        self.n_updates_ = sum(s.updates for s in states)
        return self

    # ------------------------------------------------------------------ prediction

    def decision_function(self, X: Any) -> Any:
        """Scores w.x + b (with keep='vote', the mean vote): shape (n,) or (n, n_classes)."""
        check_is_fitted(self, "classes_")
        X = self._matrix(X, reset=False)
        if hasattr(self, "votes_"):
            columns = [v.scores(X) for v in self.votes_]
            scores = columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
        else:
            product = X @ self.coef_.T
            scores = (product.toarray() if sp.issparse(product) else product) + self.intercept_
        return scores.ravel() if scores.ndim == 2 and scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> Any:
        """Labels. Two classes: a score >= 0 is the second class, always."""
        scores = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(scores))
        number = (scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[number]

    @available_if(_has_one_hyperplane)  # type: ignore[untyped-decorator]
    def densify(self) -> Perceptron:
        """Make `coef_` a dense array again."""
        check_is_fitted(self, "coef_")
        if sp.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    @available_if(_has_one_hyperplane)  # type: ignore[untyped-decorator]
    def sparsify(self) -> Perceptron:
        """Make `coef_` a sparse matrix: less memory after an L1 penalty."""
        check_is_fitted(self, "coef_")
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    # -------------------------------------------------------------------- plumbing

    def _matrix(self, X: Any, reset: bool) -> Any:
        """X checked, and its feature names remembered or compared."""
        checked = as_matrix(X)
        try:
            validate_data(self, X, reset=reset, skip_check_array=True)
            if not reset and checked.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"X has {checked.shape[1]} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
        except ValueError as e:
            raise DataError(f"{e} Give the columns the model was trained on.") from e
        self.n_features_in_ = int(checked.shape[1])
        return checked

    def _problem(self, X: Any, y: Any, sample_weight: Any, classes: Any, reset: bool) -> Problem:
        if y is None:
            as_labels(y)
        return Problem.of(self._matrix(X, reset), y, sample_weight, classes)

    def _streamed(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, options: Options, first: bool
    ) -> tuple[Problem, list[State], State | None]:
        """The chunk as a problem, and the states to go on from, grown to its classes."""
        if y is None:
            as_labels(y)
        checked = self._matrix(X, reset=first)
        labels = as_labels(y, checked.shape[0])
        if first:
            open_ended = classes is None
            known = np.unique(labels if open_ended else as_labels(classes))
            if open_ended and options.update.tie == "positive":
                raise ParameterError(
                    "tie='positive' treats the two classes differently, so partial_fit must know "
                    "which is the second. Name all classes on the first call."
                )
        else:
            open_ended, known = self._spare is not None, self.classes_
            if classes is not None and not np.array_equal(np.unique(as_labels(classes)), known):
                raise LabelError(
                    f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                    f"{known!r}. Leave classes out on later calls."
                )
        before = known
        if open_ended:
            known = np.unique(np.concatenate([known, labels])) if not first else known
        problem = Problem.of(checked, labels, sample_weight, known)
        if len(known) == 1 and not open_ended:
            raise LabelError(
                "The number of classes has to be greater than one; got 1 class. Name all classes "
                "in partial_fit's `classes`, or leave it out to let them appear."
            )
        if first:
            n_states = 1 if len(known) <= 2 or options.direct else len(known)
            w, b = start_weights(
                self.init, None, None, problem, generator(self.random_state)
                if isinstance(self.init, str) and self.init == "random" else None, options.update,
            )  # fmt: skip
            if options.direct and len(known) > 2:
                states = [State.at(w, b, w.dtype)]
            else:
                states = [State.at(w[k], b[k : k + 1], w.dtype) for k in range(n_states)]
            spare = State.at(np.zeros_like(w[0]), np.zeros(1), w.dtype) if open_ended else None
            return problem, states, spare
        states = [s.copy() for s in self._states]
        spare = self._spare.copy() if self._spare is not None else None
        if spare is not None and len(known) > len(before):
            states = grown(before, known, states, spare, options.direct)
        dtype = states[0].w.dtype
        if problem.X.dtype != dtype:  # the model's type stays what the first chunk made it
            problem = Problem(problem.X.astype(dtype), problem.y, known, problem.sample_weight)
        return problem, states, spare

    def _counts(self, classes: Any) -> Any:
        """Rows seen so far of each of `classes`."""
        seen = dict(zip(self.classes_.tolist(), self._class_counts, strict=True))
        return np.array([seen.get(label, 0) for label in classes.tolist()])

    def _train(
        self,
        problem: Problem,
        options: Options,
        states: list[State],
        weights: Any,
        held_out: Any,
        streamed: bool = False,
    ) -> tuple[Trace | OneVsRestTrace, Any, Any]:
        """Train one problem, or each class against the rest."""
        n_classes = len(problem.classes)
        passes = 1 if streamed else self.max_iter
        each = n_classes > 2 and not options.direct
        root = None
        if not streamed:
            metadata = (
                None if problem.sample_weight is None else {"sample_weight": problem.sample_weight}
            )
            told = {
                "X": problem.X,
                "y": problem.classes[problem.class_numbers()],
                "metadata": metadata,
            }
            root = self._init_callback_context(max_subtasks=n_classes if each else passes)
            root.call_on_fit_task_begin(estimator=self, **told)
        if not each:
            weight = row_weights(problem, weights)
            monitor = self._monitor(root, problem, told if root else {}, "")
            trace, w, b = self._run(
                problem, options, states[0], weight, None, held_out, monitor, streamed
            )
            result: tuple[Any, Any, Any] = trace, np.atleast_2d(w), b
        else:
            seeds = seeds_for_each_class(self.random_state, n_classes)

            def job(k: int) -> tuple[Trace, Any, Any]:
                one = problem.versus_rest(k)
                task = root and root.subcontext(
                    task_name=f"class {problem.classes[k]}", max_subtasks=passes
                )
                if task:
                    task.call_on_fit_task_begin(estimator=self)
                monitor = self._monitor(task, None, {}, f"class {problem.classes[k]}, ")
                done = self._run(
                    one, options, states[k], row_weights(problem, weights, versus=k),
                    seeds[k], held_out, monitor, streamed,
                )  # fmt: skip
                if task:
                    task.call_on_fit_task_end(estimator=self)
                return done

            jobs = [functools.partial(job, k) for k in range(n_classes)]
            parallel = None if root is not None and hasattr(self, "_skl_callbacks") else self.n_jobs
            traces, ws, bs = zip(*in_threads(jobs, parallel), strict=True)
            result = OneVsRestTrace(problem.classes, traces), np.stack(ws), np.concatenate(bs)
        if root is not None:
            attributes = self._attributes(problem.classes, options, result[1], result[2])
            root.call_on_fit_task_end(estimator=self, **told, reconstruction_attributes=attributes)
        return result

    def _run(
        self,
        problem: Problem,
        options: Options,
        state: State,
        weight: Any,
        seed: int | None,
        held_out: Any,
        monitor: Monitor | None,
        streamed: bool,
    ) -> tuple[Trace, Any, Any]:
        """One run of the rule; `state` moves."""
        if seed is None:
            seed = seed_for_two_classes(self.random_state)
        return train(
            Problem(problem.X, problem.y, problem.classes, weight),
            options.update,
            options.schedule(seed),
            options.keep,
            options.stop.once() if streamed else options.stop,
            state,
            record=options.record,
            held_out=None if held_out is None else HeldOut.of(problem, *held_out),
            monitor=monitor,
        )

    def _held_out_rows(self, problem: Problem) -> tuple[Any, Any]:
        """Which rows are held out for early stopping, and the weights they are scored with."""
        splitter = StratifiedShuffleSplit(
            test_size=self.validation_fraction, random_state=self.random_state
        )
        try:
            _, held = next(splitter.split(np.zeros((problem.n_rows, 1)), problem.y))
        except ValueError as e:
            raise DataError(
                f"{e} early_stopping holds out {self.validation_fraction:.0%} of {problem.n_rows} "
                "rows; give more rows, change validation_fraction, or use early_stopping=False."
            ) from e
        weight = problem.sample_weight
        if weight is not None and not weight[held].any():
            raise DataError(
                "The sample weights for validation set are all zero, consider using a different "
                "random state."
            )
        mask = np.zeros(problem.n_rows, dtype=bool)
        mask[held] = True
        return mask, weight

    def _monitor(self, task: Any, problem: Problem | None, told: Any, name: str) -> Monitor | None:
        """After each pass: tell scikit-learn's callbacks, and print a line if verbose."""
        listening = task is not None and hasattr(self, "_skl_callbacks")
        if not listening and not self.verbose:
            return None
        upcoming: list[Any] = []

        def begin() -> None:
            upcoming.append(task.subcontext(task_name="pass"))
            upcoming[-1].call_on_fit_task_begin(estimator=self, **told)

        def tell(now: Progress) -> bool:
            if self.verbose:
                held = "" if now.score is None else f", held out {now.score:.4f}"
                print(
                    f"{name}pass {now.pass_number}: {now.mistakes} mistakes, "
                    f"{now.updates} updates, mean loss {now.loss:.6g}, "
                    f"||w|| {now.norm:.6g}{held}, {now.seconds:.2f} s"
                )
            if not listening:
                return False
            begin()
            attributes = None
            if problem is not None and self.keep != "vote":
                w, b = now.weights()
                attributes = {
                    "classes_": problem.classes, "coef_": np.atleast_2d(w), "intercept_": b
                }  # fmt: skip
            return bool(
                upcoming.pop().call_on_fit_task_end(
                    estimator=self, **told, reconstruction_attributes=attributes
                )
            )

        return tell

    def _kept(self, options: Options, states: list[State]) -> tuple[Any, Any]:
        pairs = [s.average() if options.keep == "average" else (s.w, s.b) for s in states]
        return np.concatenate([np.atleast_2d(w) for w, _ in pairs]), np.concatenate(
            [b for _, b in pairs]
        )

    def _attributes(self, classes: Any, options: Options, coef: Any, intercept: Any) -> Any:
        """What prediction needs."""
        if options.keep == "vote":
            return None
        return {"classes_": classes, "coef_": coef.copy(), "intercept_": intercept.copy()}

    def _publish(
        self, classes: Any, options: Options, trace: Any, coef: Any, intercept: Any
    ) -> None:
        """Set the attributes of a finished run."""
        self.classes_ = classes
        for name in ("coef_", "intercept_", "votes_"):
            self.__dict__.pop(name, None)
        if options.keep == "vote":
            self.votes_ = tuple(ballot(s) for s in self._states)
        else:
            self.coef_, self.intercept_ = coef.copy(), intercept.copy()
        self.n_iter_ = trace.n_passes
        self.stop_reason_ = str(trace.stop_reason)
        self.trace_ = trace

    def _warn(self, trace: Any, coef: Any, intercept: Any) -> None:
        if trace.stop_reason is StopReason.MAX_ITER and self.tol is not None:
            warnings.warn(
                "Maximum number of iteration reached before convergence. Consider increasing "
                "max_iter to improve the fit.",
                ConvergenceWarning,
                stacklevel=4,
            )
        if self.tie == "correct" and not coef.any() and not intercept.any():
            warnings.warn(
                "Training ended at w = 0, where tie='correct' never sees a mistake: nothing was "
                "learned, and a clean pass proves nothing. Use another start or tie='mistake'.",
                RosenblattWarning,
                stacklevel=4,
            )
