"""River: a Perceptron as a classifier of River, for its pipelines, metrics and evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rosenblatt.errors import MissingPackageError
from rosenblatt.estimators.perceptron import Perceptron

try:
    from river import base
except ImportError as e:
    raise MissingPackageError(
        "rosenblatt.compat.river needs the package river: pip install river."
    ) from e


# River is an optional package without complete type hints
class RiverPerceptron(base.Classifier):  # type: ignore[misc]
    """A :class:`rosenblatt.Perceptron` that learns and predicts as a classifier of River.

    `learn_one` and `predict_one` are those of the estimator; labels are of any one kind, classes
    and features may appear at any time. There are no probabilities, so metrics of labels apply.

    Parameters
    ----------
    estimator : Perceptron or None, default=None
        Parameters of the model; not trained itself. None: ``Perceptron()``.

    Attributes
    ----------
    model : Perceptron
        The model that learns, a copy of `estimator` with its parameters.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from rosenblatt import Perceptron
    >>> model = preprocessing.StandardScaler() | RiverPerceptron(Perceptron(keep="average"))
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 89.03%
    """

    def __init__(self, estimator: Perceptron | None = None) -> None:
        self.estimator = estimator
        self.model = Perceptron(**(estimator or Perceptron()).get_params(deep=False))

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Learn from one row.

        Parameters
        ----------
        x : dict
            Features by name, as `Perceptron.learn_one` takes them.
        y : label
            Its class.
        """
        self.model.learn_one(x, y)

    def predict_one(self, x: Mapping[Any, Any], **kwargs: Any) -> Any:
        """Predict the label of one row.

        Parameters
        ----------
        x : dict
            Features by name.
        **kwargs : Any
            Ignored.

        Returns
        -------
        label or None
            The label; None before the first row.
        """
        return self.model.predict_one(x)
