"""Work: what is done to one shard, by whatever worker has it. Pure functions, nothing is kept.

Given the same shard and the same job they give the same bits, so it does not matter who does it,
when, or how often.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt import _core
from rosenblatt.cluster.batch_sum import BatchSum, batch_sum
from rosenblatt.cluster.batch_sum import added as sums_added
from rosenblatt.cluster.mixing import NOTHING, Mixing, Passed, Term, term
from rosenblatt.cluster.mixing import added as terms_added
from rosenblatt.cluster.shards import Shard
from rosenblatt.data.block import core_rows
from rosenblatt.data.problem import Problem
from rosenblatt.learn.in_memory import train
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.state import State

Array = npt.NDArray[Any]


class Common(NamedTuple):
    """The common weights of one hyperplane at the beginning of a round."""

    w: Array
    b: Array
    spread: Array


@dataclass(frozen=True, eq=False)
class Job:
    """One round: where the hyperplanes stand, None for those that are done, and what is asked.

    `seed` and `round` draw the order of visits, of each shard and hyperplane its own.
    """

    planes: tuple[Common | None, ...]
    options: TrainingSettings
    class_weight: Array | None
    mixing: Mixing
    seed: int
    round: int

    @property
    def nbytes(self) -> int:
        """Of the weights that go to a shard."""
        return sum(part.nbytes for plane in self.planes if plane for part in plane)


def one_pass(shard: Shard, job: Job) -> list[Term | None]:
    """Every hyperplane that is not done makes a pass over the shard."""
    return [
        None if plane is None else term(_passed(shard, job, k, plane), job.mixing)
        for k, plane in enumerate(job.planes)
    ]


def passed_over(problem: Problem, plane: Common, options: TrainingSettings, seed: int) -> Passed:
    """One pass over the rows of `problem` from common weights, on copies of them."""
    state = State.at(plane.w, plane.b, plane.w.dtype)
    if plane.spread.size:
        state.variance = plane.spread.reshape(state.n_planes, -1).copy()
    average = options.keep == "average"
    one_epoch = replace(
        options, keep="average" if average else "last", max_iter=1, tol=None, clean=False,
        cycle=False,
    )  # fmt: skip
    trace, _, _ = train(problem, one_epoch, state=state, seed=seed)
    sums: tuple[Array, Array] = (NOTHING, NOTHING)
    if average and state.u is not None and state.ub is not None:
        w, b = state.w * state.visits[0] - state.u, state.b * state.visits[0] - state.ub
        sums = (w.reshape(plane.w.shape), b)
    size = _size(problem, options)
    spread: Array = NOTHING
    if plane.spread.size and state.variance is not None:
        spread = state.variance.reshape(plane.spread.shape)
    w, b = state.kept("last")
    return Passed(
        w.reshape(plane.w.shape), b, spread, *sums, float(problem.n_rows), trace.n_updates,
        trace.n_mistakes, float(trace.loss[0]) * size,
    )  # fmt: skip


def _passed(shard: Shard, job: Job, k: int, plane: Common) -> Passed:
    seed = np.random.SeedSequence((job.seed, job.round, shard.number, k)).generate_state(1)[0]
    return passed_over(_part(shard, job, k), plane, job.options, int(seed) >> 1)


def one_sum(shard: Shard, job: Job) -> list[BatchSum | None]:
    """Every hyperplane that is not done adds up its mistakes on the shard."""
    return [
        None if plane is None else batch_sum(_part(shard, job, k), job.options, plane.w, plane.b)
        for k, plane in enumerate(job.planes)
    ]


def all_terms(parts: Sequence[list[Term | None]]) -> list[Term | None]:
    """The sums of some shards, hyperplane by hyperplane."""
    return [_sum(ones, terms_added) for ones in zip(*parts, strict=True)]


def all_sums(parts: Sequence[list[BatchSum | None]]) -> list[BatchSum | None]:
    """The same for batch steps."""
    return [_sum(ones, sums_added) for ones in zip(*parts, strict=True)]


def _sum(ones: Sequence[Any], added: Any) -> Any:
    return None if ones[0] is None else added(list(ones))


def size_of(
    shard: Shard, options: TrainingSettings, class_weight: Array | None, planes: int
) -> Array:
    """What a mean over the shard divides by, for each hyperplane."""
    sizes = []
    for k in range(planes):
        problem = _weighted(shard.problem, class_weight, k, options, planes)
        sizes.append(_size(problem, options))
    return np.array(sizes)


def scored(shard: Shard, coef: Array, intercept: Array) -> tuple[float, float]:
    """The weight of rows that are answered right, and of all; for early stopping."""
    problem = shard.problem
    W, b = np.ascontiguousarray(coef, np.float64), np.ascontiguousarray(intercept, np.float64)
    scores = _core.scores(core_rows(problem.X), W, b)
    right = _core.decide(scores) == problem.class_numbers()
    weight = problem.sample_weight
    if weight is None:
        return float(right.sum()), float(len(right))
    return float(weight @ right), float(weight.sum())


def identity(shard: Shard) -> tuple[int, int]:
    """Enough to notice that a run goes on with other rows: how many, and a checksum of all."""
    problem = shard.problem
    X = problem.X
    parts = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    weights = () if problem.sample_weight is None else (problem.sample_weight,)
    return problem.n_rows, checksum((*parts, problem.y, *weights))


def checksum(arrays: Iterable[Array]) -> int:
    """Of the bytes of arrays, one after another, and of how long each is."""
    total = 0
    for array in arrays:
        total = zlib.crc32(f"{array.dtype}{array.shape}".encode(), total)
        if array.size:
            total = zlib.crc32(np.ascontiguousarray(array).data.cast("B"), total)
    return total


def _part(shard: Shard, job: Job, k: int) -> Problem:
    return _weighted(shard.problem, job.class_weight, k, job.options, len(job.planes))


def _weighted(
    problem: Problem, class_weight: Array | None, k: int, options: TrainingSettings, planes: int
) -> Problem:
    """Rows of hyperplane k with what they count: sample weight times class weight."""
    versus = planes > 1
    one = problem.versus_rest(k) if versus else problem
    if class_weight is None:
        return one
    number = problem.class_numbers()
    each = np.where(number == k, class_weight[k], 1.0) if versus else class_weight[number]
    if problem.sample_weight is not None:
        each = each * problem.sample_weight
    return replace(one, sample_weight=each)


def _size(problem: Problem, options: TrainingSettings) -> float:
    if options.weighting == "repeat" and problem.sample_weight is not None:
        return float(problem.sample_weight.sum())
    return float(problem.n_rows)
