"""Training and proofs on the rows of a Dask cluster."""

from rosenblatt.cluster.estimator import DaskPerceptron
from rosenblatt.cluster.source import DaskSource
from rosenblatt.cluster.verdict import separability

__all__ = ["DaskPerceptron", "DaskSource", "separability"]
