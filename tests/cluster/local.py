"""Shards without a cluster: the same work in this process."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from rosenblatt.cluster import DaskPerceptron
from rosenblatt.cluster.machine import ClusterMachine
from rosenblatt.cluster.train import train
from rosenblatt.data.block import Block, Csr
from rosenblatt.data.problem import Problem
from rosenblatt.data.source import LabelIndex, Source
from rosenblatt.learn.multiclass import Learner


class LocalShards(Source):
    """Rows cut at some places, none of the parts empty."""

    def __init__(self, X: Any, y: Any, cuts: Any) -> None:
        problem = Problem.of(X, y)
        rows: Any = problem.X
        if hasattr(rows, "indptr"):
            rows = Csr(rows.data, rows.indices, rows.indptr, rows.shape[1])
        codes = problem.class_numbers().astype(np.int32)
        whole = Block(rows, codes)
        edges = sorted({0, *cuts, problem.n_rows})
        self.parts = [whole.rows(a, b) for a, b in itertools.pairwise(edges)]
        self.labels = LabelIndex(problem.classes, closed=True)
        self.n_rows, self.n_features, self.dtype = (*rows.shape, rows.dtype)
        n = len(problem.classes)
        self.class_rows = np.array([np.bincount(part.y, minlength=n) for part in self.parts])
        self.class_weights = self.class_rows.astype(float)

    def __len__(self) -> int:
        return len(self.parts)

    def blocks(self, *_: Any) -> Any:
        return iter(self.parts)

    def reduce(self, function: Any, combine: Any, *args: Any) -> Any:
        return combine(self.map(function, *args))


def trained(X: Any, y: Any, cuts: Any, seed: int = 0, **params: Any) -> ClusterMachine:
    """A run of DaskPerceptron(**params) on these shards, until it ends."""
    model = DaskPerceptron(**params)
    settings = model._settings()
    source: Any = LocalShards(X, y, cuts)
    settings.check_classes(len(source.labels))
    learner = Learner.begin(source.labels.classes, source.n_features, source.dtype, settings)
    mixing: Any = model.mixing
    machine = ClusterMachine(settings, learner, source, mixing=mixing, seed=seed)
    train(machine)
    return machine
