"""Estimator: the perceptron on the rows of a Dask cluster. Parameters in, attributes out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from rosenblatt.cluster.futures import PATIENCE
from rosenblatt.cluster.machine import ClusterMachine, check_mixing
from rosenblatt.cluster.partitions import is_collection
from rosenblatt.cluster.prediction import accuracy, answered
from rosenblatt.cluster.source import MOST_SHARDS, DaskSource
from rosenblatt.cluster.train import train
from rosenblatt.data.problem import Problem
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.estimators._base import unchanged_on_error, warn_of_max_iter
from rosenblatt.estimators._callbacks import PrintEpochs, epoch_line
from rosenblatt.learn.engine import Progress
from rosenblatt.learn.multiclass import Learner, class_weights
from rosenblatt.learn.parameters import is_number
from rosenblatt.learn.rules import Rule, resolve
from rosenblatt.learn.schedule import MAX_INT, generator
from rosenblatt.learn.settings import TrainingSettings, split_params
from rosenblatt.learn.trace import StopReason
from rosenblatt.model.linear_model import LinearModel
from rosenblatt.stream.checkpoint import check_folder

Array = npt.NDArray[Any]
# what Perceptron has and a cluster has not
LEFT_OUT: dict[str, Any] = {
    "penalty": None, "alpha": 0.0001, "l1_ratio": 0.15, "learning_rate": "constant",
    "power_t": 0.5, "n_jobs": None, "max_updates": None, "record": None,
}  # fmt: skip
# parameters that a run may have otherwise than the one it resumes
FREE = (
    "max_iter", "verbose", "n_shards", "checkpoint", "resume", "timeout", "warm_start",
    "random_state",
)  # fmt: skip


# scikit-learn has no type hints, hence the `type: ignore`s in this file
class DaskPerceptron(
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """The perceptron on dask arrays and frames, on the cluster that is in use.

    Parameters have the names and meanings of :class:`rosenblatt.Perceptron`; in an epoch all shards
    are visited. The result depends on the rows, on how they are cut into partitions, and on
    the parameters; never on the number of workers, or on which of them die during the run.
    docs/how-to/cluster.md has the costs, and what is refused and why.

    Parameters
    ----------
    mode : {'online', 'batch', 'batch-mean'}, default='online'
        'online' is iterative parameter mixing: in every epoch each shard is visited from the
        common weights, and the common weights become a mean of theirs. 'batch', 'batch-mean': all
        misclassified rows at once, their sum or mean, as ``Perceptron(mode='batch')`` has it on
        one machine: to the bit where sums are exact (whole numbers), whatever the partitions.
    mixing : {'uniform', 'mistakes'}, default='uniform'
        Every shard counts the same in the mean, or as many times as it moved its weights.
    n_shards : int, default=256
        Partitions are merged, neighbours only, into at most this many shards.
    fit_intercept : bool, default=True
        Learn an offset.
    max_iter : int, default=1000
        Most epochs.
    tol : float or None, default=1e-3
        Stop after `n_iter_no_change` epochs whose mean loss is not below the best by `tol`.
    shuffle : bool, default=True
        Visit the rows of every shard in a new order each epoch, or as they stand.
    verbose : int, default=0
        1 prints a line after each epoch.
    eta0 : float, default=1.0
        The learning rate; of a batch also a sequence or a function of the epoch, from 1.
    random_state : int, RandomState or None, default=0
        Seed of the orders of visits, of init='random' and of the held-out shards.
    early_stopping : bool, default=False
        Hold out shards, stop when the accuracy on them does not rise by `tol`, and return the best
        weights; one against the rest, for each class by itself, as in Perceptron.
    validation_fraction : float, default=0.1
        The share of shards that are held out, one at least.
    n_iter_no_change : int, default=5
        How many epochs without a gain of `tol` end training.
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
        A folder where the run is saved after every epoch, and when Ctrl-C stops it.
    resume : bool, default=False
        Go on from the newest checkpoint, if there is one: the weights are those of a run that was
        never interrupted.
    timeout : float, default=60
        Seconds without any worker before work is given up with an error.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_ : as in Perceptron
    trace_ : Trace or OneVsRestTrace
        Mistakes, updates and loss of each epoch, and why training stopped.
    n_iter_ : int
        Epochs.
    n_mistakes_, n_updates_ : int
        Visits that were mistakes, and changes of weights, of all shards and hyperplanes.
    weighted_mistakes_ : tuple of float
        Of every hyperplane, what the bound R^2 / gamma^2 of mixing counts.
    stop_reason_ : str
        'separated' (an epoch moved nothing on any shard: all rows are right), 'cycle',
        'no_improvement' or 'max_iter'.
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
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DaskPerceptron:
        """Train on rows of the cluster.

        Parameters
        ----------
        X : dask array (dense blocks, scipy CSR), dask frame, delayed blocks, or DaskSource
            Each text or category of a column becomes one feature. A DaskSource was read before and
            brings its labels and weights.
        y : dask array or series, list of delayed blocks, or array
            Labels in the partitions of X; an array if the sizes of those are known.
        sample_weight : as y, optional
            One weight per row.

        Returns
        -------
        DaskPerceptron
            The fitted estimator.

        Raises
        ------
        ParameterError
            If a parameter is invalid.
        NotSupportedError
            If parameters cannot be combined, or have no meaning on a cluster.
        DataError
            If X, y or the weights are invalid.
        ClusterError
            If there is no cluster, or it is lost.
        OverflowedError
            If a score or a weight is not finite.
        """
        settings = self._settings()  # before any row is read
        source = X
        if not isinstance(X, DaskSource):
            source = DaskSource.of(
                X, y, sample_weight, n_shards=self.n_shards, timeout=float(self.timeout),
                exact=False,
            )  # fmt: skip
        self._train(source, settings)
        return self

    def _settings(self) -> TrainingSettings:
        """The parameters, checked alone and together."""
        params = self.get_params(deep=False)
        settings = TrainingSettings.from_params({**LEFT_OUT, **params}, type(self).__name__)
        check_folder(self.checkpoint, None, bool(self.resume))
        check_mixing(settings, self.mixing)  # type: ignore[arg-type]  # checked there
        if not (is_number(self.timeout) and self.timeout >= 0):
            raise ParameterError(f"timeout must be a number of seconds >= 0, got {self.timeout!r}.")
        return settings

    def _train(self, source: DaskSource, settings: TrainingSettings) -> None:
        classes = source.labels.classes
        settings.check_classes(len(classes))
        seed = int(generator(self.random_state).randint(MAX_INT))
        learn, held = self._split(source, seed)
        warm = self.warm_start and hasattr(self, "coef_")
        learner = Learner.begin(
            classes, source.n_features, source.dtype, settings, self.random_state,
            self.coef_ if warm else None, self.intercept_ if warm else None,
        )  # fmt: skip
        learner.counts = source.class_rows.sum(axis=0)
        no_rows = Problem(np.empty((0, learner.state.n_features)), np.empty(0, np.int8), classes)
        params = self.get_params(deep=False)
        machine = ClusterMachine(
            settings, learner, learn, seed=seed,
            mixing=self.mixing,  # type: ignore[arg-type]  # checked in _settings
            class_weight=class_weights(self.class_weight, no_rows, learner.counts),
        )  # fmt: skip
        train(
            machine, held_out=held,
            asked={k: _plain(v) for k, v in params.items() if k not in FREE},
            checkpoint=self.checkpoint, resume=bool(self.resume),
            observers=[PrintEpochs(_epoch_line)] if self.verbose else [],
        )  # fmt: skip
        self.coef_, self.intercept_ = machine.kept()
        self.classes_, self.n_features_in_ = classes, source.n_features
        self.__dict__.pop("feature_names_in_", None)
        if source.feature_names:
            self.feature_names_in_ = np.array(source.feature_names, dtype=object)
        self.columns_ = source.columns
        self.trace_ = trace = machine.trace()
        self.n_iter_, self.stop_reason_ = trace.n_epochs, str(trace.stop_reason)
        self.n_mistakes_, self.n_updates_ = trace.n_mistakes, trace.n_updates
        self.weighted_mistakes_ = tuple(machine.weighted_mistakes.tolist())
        self.shard_sizes_ = learn.sizes
        self.t_ = 1.0 + self.n_iter_ * learn.n_rows
        if trace.stop_reason is StopReason.MAX_ITER and self.tol is not None:
            warn_of_max_iter(stacklevel=5)

    def _split(self, source: DaskSource, seed: int) -> tuple[DaskSource, DaskSource | None]:
        """The shards to learn from, and those that early stopping holds out."""
        if not self.early_stopping:
            return source, None
        n = len(source)
        if n < 2:
            raise DataError(
                "early_stopping holds out whole shards, and there is one. Cut the rows into more "
                "partitions, or use early_stopping=False."
            )
        count = min(n - 1, max(1, round(self.validation_fraction * n)))
        out = set(np.random.RandomState(seed).permutation(n)[:count].tolist())
        return source.only([k for k in range(n) if k not in out]), source.only(sorted(out))

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
        return accuracy(
            self._model(), self.columns_, X, y, sample_weight, timeout=float(self.timeout)
        )

    def _model(self) -> LinearModel:
        names = getattr(self, "feature_names_in_", ()) if self.columns_ is None else ()
        return LinearModel(self.coef_, self.intercept_, self.classes_, tuple(map(str, names)))


def _epoch_line(progress: Progress) -> str:
    (group,) = progress.machines
    machines = [m for m in group.machines.values() if m.n_epochs == progress.epoch]
    return epoch_line(progress.epoch, machines)


def _plain(value: Any) -> Any:
    """As JSON has it; what JSON has not, as it is written."""
    return value if isinstance(value, bool | int | float | str | None) else repr(value)
