"""Dask: the perceptron on the rows of a Dask cluster. Parameters in, attributes out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rosenblatt.cluster.checkpoint import saved
from rosenblatt.cluster.futures import PATIENCE
from rosenblatt.cluster.partitions import is_collection
from rosenblatt.cluster.prediction import accuracy, answered
from rosenblatt.cluster.progress import Rounded
from rosenblatt.cluster.rounds import Plan, Rounds
from rosenblatt.cluster.settings import options_of
from rosenblatt.cluster.shard_work import checksum, identity
from rosenblatt.cluster.shards import MOST_SHARDS, Shards
from rosenblatt.data.problem import Problem
from rosenblatt.errors import DataError, DataTypeError, LabelError, ParameterError
from rosenblatt.estimators._base import unchanged_on_error
from rosenblatt.learn.multiclass import class_weights, start_weights
from rosenblatt.learn.rules import Rule, resolve
from rosenblatt.learn.schedule import MAX_INT, generator
from rosenblatt.learn.settings import TrainingSettings, split_params
from rosenblatt.learn.trace import StopReason
from rosenblatt.model.linear_model import LinearModel

Array = npt.NDArray[Any]


# scikit-learn has no type hints, hence the `type: ignore`s in this file
class DaskPerceptron(
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """The perceptron on dask arrays and frames, on the cluster that is in use.

    Parameters have the names and meanings of :class:`rosenblatt.Perceptron`, with a round over all
    shards for an epoch. The result depends on the rows, on how they are cut into partitions, and on
    the parameters; never on the number of workers, or on which of them die during the run.
    docs/how-to/cluster.md has the costs, and what is refused and why.

    Parameters
    ----------
    mode : {'online', 'batch', 'batch-mean'}, default='online'
        'online' is iterative parameter mixing: in every round each shard makes one epoch from the
        common weights, and the common weights become a mean of theirs. 'batch', 'batch-mean': all
        misclassified rows at once, their sum or mean, as ``Perceptron(mode='batch')`` has it on
        one machine: to the bit where sums are exact (whole numbers), whatever the partitions.
    mixing : {'uniform', 'mistakes'}, default='uniform'
        Every shard counts the same in the mean, or as many times as it moved its weights.
    n_shards : int, default=256
        Partitions are merged, neighbours only, into at most so many shards.
    fit_intercept : bool, default=True
        Learn an offset.
    max_iter : int, default=1000
        Most rounds.
    tol : float or None, default=1e-3
        Stop after `n_iter_no_change` rounds whose mean loss is not below the best by `tol`.
    shuffle : bool, default=True
        Visit the rows of every shard in a new order each round, or as they stand.
    verbose : int, default=0
        1 draws a bar with progressive metrics in a terminal or a notebook, and prints a line a
        round elsewhere.
    eta0 : float, default=1.0
        The learning rate; of a batch also a sequence or a function of the round, from 1.
    random_state : int, RandomState or None, default=0
        Seed of the orders of visits, of init='random' and of the held-out shards.
    early_stopping : bool, default=False
        Hold out shards, stop when the accuracy on them does not rise by `tol`, and give back the
        best weights seen.
    validation_fraction : float, default=0.1
        The share of shards that are held out, one at least.
    n_iter_no_change : int, default=5
        How many rounds without a gain of `tol` end training.
    class_weight : dict, 'balanced' or None, default=None
        Weights by class.
    warm_start : bool, default=False
        Start `fit` from the weights of the last one.
    rule : str or Rule, default='perceptron'
        'perceptron', 'margin', 'pa', 'pa1', 'pa2'; 'arow' and 'sop', whose precisions add up.
    keep : {'last', 'average'}, default='last'
        The last common weights, or the mean of the weights after every visit of every shard.
    tie : {'mistake', 'positive', 'correct', 'half'}, default='mistake'
        As in Perceptron.
    init : {'zero', 'random'} or array, default='zero'
        As in Perceptron.
    weighting : {'scale', 'repeat'}, default='scale'
        As in Perceptron.
    multiclass : {'ovr', 'direct'}, default='ovr'
        As in Perceptron.
    checkpoint : str, Path or None, default=None
        A folder where every round is saved.
    resume : bool, default=False
        Go on from the newest checkpoint, if there is one: the weights are those of a run that was
        never interrupted.
    timeout : float, default=60
        Seconds without any worker before work is given up with an error.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_ : as in Perceptron
    n_iter_ : int
        Rounds made.
    n_mistakes_, n_updates_ : int
        Visits that were mistakes, and changes of weights, of all shards and hyperplanes.
    weighted_mistakes_ : tuple of float
        Of every hyperplane, what the bound R^2 / gamma^2 of mixing counts.
    stop_reason_ : str
        'separated' (a round moved nothing on any shard: all rows are right), 'cycle',
        'no_improvement' or 'max_iter'.
    history_ : tuple of Round
        Round by round: mistakes, weighted mistakes, progressive error, loss, score, seconds, bytes.
    shard_sizes_ : tuple of int
        Rows of every shard that was learned from.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     X = da.from_array(X, chunks=(40, 4))
    ...     clf = DaskPerceptron(shuffle=False).fit(X, y == 0)
    ...     print(clf.predict(X).sum().compute(), clf.stop_reason_, clf.n_mistakes_)
    50 separated 17
    """

    coef_: Any
    intercept_: Any
    classes_: Any
    n_features_in_: int

    def __init__(
        self,
        *,
        mode: str = "online",
        mixing: str = "uniform",
        n_shards: int = MOST_SHARDS,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: Any = 1.0,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        rule: str | Rule = "perceptron",
        keep: str = "last",
        tie: str = "mistake",
        init: Any = "zero",
        weighting: str = "scale",
        multiclass: str = "ovr",
        checkpoint: str | Path | None = None,
        resume: bool = False,
        timeout: float = PATIENCE,
    ) -> None:
        self.mode = mode
        self.mixing = mixing
        self.n_shards = n_shards
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.rule = rule
        self.keep = keep
        self.tie = tie
        self.init = init
        self.weighting = weighting
        self.multiclass = multiclass
        self.checkpoint = checkpoint
        self.resume = resume
        self.timeout = timeout

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def set_params(self, **params: Any) -> DaskPerceptron:
        """Set parameters; `rule__tau=2.0` replaces the rule by one with tau = 2.

        Parameters
        ----------
        **params : Any
            Parameters of the estimator, and of its rule as ``rule__name``.

        Returns
        -------
        DaskPerceptron
            The estimator.
        """
        own, inside = split_params(params, "rule")
        super().set_params(**own)
        if inside:
            self.rule = resolve(self.rule).with_params(**inside)
        return self

    # -------------------------------------------------------------------- training

    @unchanged_on_error
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DaskPerceptron:
        """Train on rows of the cluster.

        Parameters
        ----------
        X : dask array (dense blocks or scipy CSR), dask frame, or list of delayed blocks
            Columns of known categories become one feature per category.
        y : dask array or series, list of delayed blocks, or array
            Labels in the partitions of X; an array if the sizes of those are known.
        sample_weight : as y, optional
            One weight per row.

        Returns
        -------
        DaskPerceptron
            The fitted estimator.
        """
        options_of(self.get_params(deep=False))  # before any row is read
        shards = Shards.of(X, y, sample_weight, most=self._shards(), timeout=self._timeout())
        self._train(shards)
        return self

    @unchanged_on_error
    def fit_shards(
        self, shards: Shards, say: Callable[[str], object] = lambda _: None
    ) -> DaskPerceptron:
        """Train on rows that are on the cluster already: several fits need one reading.

        Parameters
        ----------
        shards : Shards
            Rows that :meth:`Shards.of` validated.
        say : callable, optional
            Called with a sentence if a saved run is resumed.

        Returns
        -------
        DaskPerceptron
            The fitted estimator.
        """
        if not isinstance(shards, Shards):
            raise DataTypeError(
                f"fit_shards takes what Shards.of(X, y) gave, got {type(shards).__name__}. Use "
                "fit(X, y) for a collection."
            )
        self._train(shards, say)
        return self

    def _train(self, shards: Shards, say: Callable[[str], object] = lambda _: None) -> None:
        options = options_of(self.get_params(deep=False))
        options.check_classes(len(shards.classes))
        seed = int(generator(self.random_state).randint(MAX_INT))
        learn, held = self._split(shards, seed)
        starts = self._start(shards, options)
        weights = class_weights(self.class_weight, _nothing(shards), shards.counts)
        rounds = Rounds(
            learn, held, Plan(options, self.mixing, weights, seed),  # type: ignore[arg-type]  # checked
            starts,
        )  # fmt: skip

        def asked() -> dict[str, Any]:
            return self._asked(shards, seed, starts)

        with (
            Rounded(bool(self.verbose), options.max_iter) as bar,
            saved(self.checkpoint, bool(self.resume), asked, say) as keeper,
        ):
            if keeper is not None:
                keeper.begin(rounds)

            def after(now: Rounds) -> None:
                bar.after(now)
                if keeper is not None:
                    keeper.after(now)

            reason = rounds.run(after)
        self._publish(shards, learn, rounds, reason)
        if reason is StopReason.MAX_ITER and self.tol is not None:
            warnings.warn(
                "Maximum number of iteration reached before convergence. Consider increasing "
                "max_iter to improve the fit.",
                ConvergenceWarning,
                stacklevel=4,  # of whom called fit or fit_shards
            )

    def _shards(self) -> int:
        n = self.n_shards
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
            raise ParameterError(
                "The 'n_shards' parameter of DaskPerceptron must be a whole number >= 1. Got "
                f"{n!r} instead."
            )
        return int(n)

    def _timeout(self) -> float:
        seconds: Any = self.timeout
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds >= 0:
            raise ParameterError(
                "The 'timeout' parameter of DaskPerceptron must be a number of seconds >= 0. Got "
                f"{seconds!r} instead."
            )
        return float(seconds)

    def _split(self, shards: Shards, seed: int) -> tuple[Shards, Shards | None]:
        """The shards to learn from, and those that early stopping holds out."""
        if not self.early_stopping:
            return shards, None
        n = len(shards)
        if n < 2:
            raise DataError(
                "early_stopping holds out whole shards, and there is one. Cut the rows into more "
                "partitions, or use early_stopping=False."
            )
        count = min(n - 1, max(1, round(self.validation_fraction * n)))
        out = set(np.random.RandomState(seed).permutation(n)[:count].tolist())
        return shards.only([k for k in range(n) if k not in out]), shards.only(sorted(out))

    def _start(self, shards: Shards, options: TrainingSettings) -> list[tuple[Any, Any]]:
        """(w, b) of each hyperplane before the first round; all in one pair if direct."""
        coef = intercept = None
        if self.warm_start and hasattr(self, "coef_"):
            coef, intercept = self.coef_, self.intercept_
        if len(shards.classes) < 2:
            raise LabelError(
                "The number of classes has to be greater than one; got 1 class "
                f"({shards.classes.tolist()[0]!r}). Add another class."
            )
        w, b = start_weights(
            options, len(shards.classes), shards.n_features, _nothing(shards).X.dtype,
            self.random_state, coef, intercept,
        )  # fmt: skip
        if options.direct and len(shards.classes) > 2:
            return [(w, b)]
        return [(w[k], b[k : k + 1]) for k in range(len(b))]

    def _asked(self, shards: Shards, seed: int, starts: list[tuple[Any, Any]]) -> dict[str, Any]:
        """What a run must have in common with the one it goes on with."""
        params = self.get_params(deep=False)
        named = (
            "mode", "mixing", "fit_intercept", "tol", "shuffle", "eta0", "early_stopping",
            "validation_fraction", "n_iter_no_change", "class_weight", "keep", "tie", "weighting",
            "multiclass",
        )  # fmt: skip
        rows = [list(one) for one in shards.each(identity)]
        return {
            **{name: _plain(params[name]) for name in named},
            "rule": repr(resolve(self.rule)), "init": _plain(self.init), "seed": seed,
            "start": checksum(part for start in starts for part in start),
            "shards": rows, "features": shards.n_features,
            "classes": list(map(str, shards.classes.tolist())),
        }  # fmt: skip

    def _publish(self, shards: Shards, learn: Shards, rounds: Rounds, reason: StopReason) -> None:
        coef, intercept = rounds.kept()
        self.coef_, self.intercept_ = coef.copy(), intercept.copy()
        self.classes_, self.n_features_in_ = shards.classes, shards.n_features
        self.__dict__.pop("feature_names_in_", None)
        if shards.feature_names:
            self.feature_names_in_ = np.array(shards.feature_names, dtype=object)
        self.columns_ = shards.columns
        self.n_iter_, self.history_ = len(rounds.history), tuple(rounds.history)
        self.n_mistakes_ = sum(plane.mistakes for plane in rounds.planes)
        self.n_updates_ = sum(plane.updates for plane in rounds.planes)
        self.weighted_mistakes_ = tuple(plane.weighted for plane in rounds.planes)
        self.stop_reason_ = str(reason)
        self.shard_sizes_ = learn.sizes
        self.t_ = 1.0 + self.n_iter_ * learn.n_rows

    # ------------------------------------------------------------------ prediction

    def decision_function(self, X: Any) -> Any:
        """Return the scores w.x + b.

        Parameters
        ----------
        X : dask array, dask frame, list of delayed blocks, or array
            Rows of numbers.

        Returns
        -------
        dask collection or array
            Scores: a lazy collection for a dask collection, an array for an array.
        """
        check_is_fitted(self, "coef_")
        return answered(self._model(), self.columns_, X, labels=False)

    def predict(self, X: Any) -> Any:
        """Return the label of each row. Two classes: a score >= 0 is the second class.

        Parameters
        ----------
        X : dask array, dask frame, list of delayed blocks, or array
            Rows of numbers.

        Returns
        -------
        dask collection or array
            Labels: a lazy collection for a dask collection, an array for an array.
        """
        check_is_fitted(self, "coef_")
        return answered(self._model(), self.columns_, X, labels=True)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, computed at once.

        Parameters
        ----------
        X : dask array, dask frame, list of delayed blocks, or array
            Rows of numbers.
        y : dask array or series, list of delayed blocks, or array
            Their labels.
        sample_weight : as y, optional
            One weight per row.

        Returns
        -------
        float
            Share of rows, or of their weights, whose label is predicted.
        """
        check_is_fitted(self, "coef_")
        if not is_collection(X):
            return float(super().score(X, y, sample_weight))
        return accuracy(self._model(), self.columns_, X, y, sample_weight)

    def _model(self) -> LinearModel:
        names = getattr(self, "feature_names_in_", ()) if self.columns_ is None else ()
        return LinearModel(self.coef_, self.intercept_, self.classes_, tuple(map(str, names)))


def _nothing(shards: Shards) -> Problem:
    """A problem without rows, for what depends on its shape alone."""
    X = np.empty((0, shards.n_features), dtype=shards.dtype)
    return Problem(X, np.empty(0, dtype=np.int8), shards.classes)


def _plain(value: Any) -> Any:
    """As JSON has it; what JSON has not, as it is written."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, (bool, int, float, str, type(None))) else repr(value)
