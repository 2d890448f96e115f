"""Shards without a cluster: the same work in this process."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from rosenblatt.cluster import DaskPerceptron
from rosenblatt.cluster.rounds import Plan, Rounds
from rosenblatt.cluster.settings import options_of
from rosenblatt.cluster.shards import Shard
from rosenblatt.data.problem import Problem
from rosenblatt.learn.multiclass import start_weights


class LocalShards:
    """Rows cut at some places, none of the parts empty."""

    def __init__(self, X: Any, y: Any, cuts: Any) -> None:
        whole = Problem.of(X, y)
        edges = sorted({0, *cuts, whole.n_rows})
        self.n_rows, self.classes = whole.n_rows, whole.classes
        self.shards = [
            Shard(Problem.of(whole.X[a:b], np.asarray(y)[a:b], classes=whole.classes), k, a)
            for k, (a, b) in enumerate(itertools.pairwise(edges))
        ]

    def __len__(self) -> int:
        return len(self.shards)

    def each(self, function: Any, *args: Any) -> list[Any]:
        return [function(shard, *args) for shard in self.shards]

    def reduce(self, function: Any, combine: Any, *args: Any) -> Any:
        return combine(self.each(function, *args))


def rounds_of(X: Any, y: Any, cuts: Any, seed: int = 0, **params: Any) -> Rounds:
    """A run of DaskPerceptron(**params) on these shards, until it ends."""
    model = DaskPerceptron(**params)
    options = options_of(model.get_params(deep=False))
    problem = Problem.of(X, y)
    n_classes = len(problem.classes)
    options.check_classes(n_classes)
    w, b = start_weights(options, n_classes, problem.n_features, problem.X.dtype)
    starts = [(w[k], b[k : k + 1]) for k in range(len(b))]
    if options.direct and n_classes > 2:
        starts = [(w, b)]
    shards: Any = LocalShards(X, y, cuts)
    rounds = Rounds(shards, None, Plan(options, model.mixing, None, seed), starts)
    rounds.run()
    return rounds
