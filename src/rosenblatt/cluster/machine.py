"""Cluster machine: the hyperplanes of a model, trained on all shards at once, one visit per epoch.

States, not machines, travel: a worker gets weights, visits its shard from there, and returns what
it adds to sums that are taken in a fixed tree. What follows from the sums (the batch step, stop
tests, averages, traces, checkpoints) is that of machines on one computer.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt.cluster.mixing import Mixing, Sums, added, mixed, term
from rosenblatt.cluster.source import DaskSource
from rosenblatt.data.block import START, Block, Position, core_rows
from rosenblatt.data.source import Source
from rosenblatt.errors import NotSupportedError, OverflowedError, ParameterError
from rosenblatt.learn.in_memory import class_weight_table
from rosenblatt.learn.machine import Best, Machine
from rosenblatt.learn.machine_group import MachineGroup
from rosenblatt.learn.multiclass import Learner
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.state import State

Array = npt.NDArray[Any]
Weights = tuple[Array, Array]
COUNTS = ("epoch_mistakes", "epoch_updates", "epoch_loss", "rows_visited")


class AllShards(Source):
    """A source for the engine: one block per epoch, without rows, stands for all shards."""

    def __init__(self, source: DaskSource) -> None:
        self.labels = source.labels
        self.n_rows, self.n_features = source.n_rows, source.n_features

    def blocks(self, epoch: int = 1, after: Position = START) -> Iterator[Block]:
        """The one block, which has no position."""
        yield Block(np.zeros((0, self.n_features or 0)), np.zeros(0, np.int32))

    def get_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Nothing that a checkpoint needs."""
        return {}, {}

    def set_state(self, facts: dict[str, Any], arrays: dict[str, Array]) -> None:
        """Do nothing: there is no state."""


class Visit(NamedTuple):
    """The work for one shard: hyperplanes that are not done, and how they visit a shard.

    Attributes
    ----------
    settings : TrainingSettings
    w, b : arrays
        Weights and offsets of the hyperplanes, one line each.
    variance : array or None
    dtype : dtype
        Of the rows.
    positive : tuple of int
        The class of each machine; the direct rule has one machine for all hyperplanes.
    class_weight : tuple of list
        The weights of the classes for each machine.
    mixing : str
    seed, epoch : int
        They draw the order of visits, of each shard and machine its own.
    progressive : bool
        Whether to count the rows that are predicted wrongly before they are learned from.
    """

    settings: TrainingSettings
    w: Array
    b: Array
    variance: Array | None
    dtype: Any
    positive: tuple[int, ...]
    class_weight: tuple[list[float], ...]
    mixing: Mixing
    seed: int
    epoch: int
    progressive: bool


def visit_shard(block: Block, job: Visit) -> Sums:
    """Visit the rows of a shard from common weights, on copies of them; what that adds to sums."""
    settings, state = job.settings, State.at(job.w, job.b, job.dtype)
    settings.check_weights(block.sample_weight)
    if job.variance is not None:
        state.variance = job.variance.copy()
    runs, direct = [], settings.direct and state.n_planes > 1
    predicted, best = np.zeros(0, np.int32), np.zeros(0)
    if job.progressive:
        predicted, best = np.zeros(block.n_rows, np.int32), np.full(block.n_rows, -np.inf)
    for k, (positive, table) in enumerate(zip(job.positive, job.class_weight, strict=True)):
        key = (job.seed, job.epoch, block.first_row, positive)
        seed = int(np.random.SeedSequence(key).generate_state(1)[0]) >> 1
        plane = None if direct else k
        machine = Machine(settings, state, plane, positive, seed=seed, class_weight=table)
        seen = (
            np.zeros((block.n_rows, state.n_planes if direct else 1)) if job.progressive else None
        )
        machine.visit(block, seen)
        runs.append(machine.core.get_state(order=False))
        if seen is not None and len(job.positive) == 1:
            predicted = _core.decide(seen)
        elif seen is not None:  # the first of the best scores
            better = seen[:, 0] > best
            predicted[better], best[better] = positive, seen[better, 0]
    sums: Sums = {name: np.array([run[name] for run in runs]) for name in COUNTS}
    if settings.mode == "online":
        sums |= _moved(job, state, sums["epoch_updates"])
    else:
        for name in ("sum", "sum_b", "total"):
            sums[name] = np.array([run[name] for run in runs])
    if job.progressive:
        counted = block.y >= 0
        if block.sample_weight is not None:
            counted &= block.sample_weight > 0
        sums["errors"] = int(np.count_nonzero((predicted != block.y) & counted))
        sums["n_scored"] = int(np.count_nonzero(counted))
    return sums


def _moved(job: Visit, state: State, updates: Array) -> Sums:
    """What the weights of a shard add to a mixture, and to the sums of averages."""
    counts = np.broadcast_to(updates, state.n_planes).astype(np.float64)
    weight = np.ones(state.n_planes) if job.mixing == "uniform" else counts
    S = _covariances(job.settings, state.variance, state.n_features)
    sums = term(_theta(state.w, state.b), S, weight)
    sums |= {"mistakes": weight * counts, "visits": state.visits}
    if state.u is not None and state.ub is not None:  # sums of the weights after each visit
        visits = state.visits[:, None]
        sums["path"] = visits * _theta(state.w, state.b) - _theta(state.u, state.ub)
    return sums


def _theta(w: Array, b: Array) -> Array:
    return np.concatenate([b[:, None], w], axis=1)


def _covariances(settings: TrainingSettings, variance: Array | None, d: int) -> Array | None:
    """Variances or matrices that training changes; None if it changes none."""
    if variance is None or settings.rule.adds_rows:
        return None
    full = settings.rule.full_covariance
    return variance.reshape(-1, d + 1, d + 1) if full else variance


class ClusterMachine(MachineGroup):
    """The hyperplanes of all classes, trained on the shards of a source.

    Parameters
    ----------
    settings : TrainingSettings
    learner : Learner
        Classes and first weights; changed in place.
    source : DaskSource
        The shards to learn from.
    mixing : {'uniform', 'mistakes'}
    seed : int
        Seed of the orders of visits.
    class_weight : array or None
        One weight per class.
    progressive : bool
        Whether to count `errors` in the first epoch.

    Attributes
    ----------
    weighted_mistakes : array of shape (machines,)
        What the bound of mixing counts; in batch mode, the mistakes.
    """

    def __init__(
        self,
        settings: TrainingSettings,
        learner: Learner,
        source: DaskSource,
        *,
        mixing: Mixing = "uniform",
        seed: int = 0,
        class_weight: Array | None = None,
        progressive: bool = False,
    ) -> None:
        in_order = settings.order == "order" or settings.mode != "online"
        super().__init__(replace(settings, order="order"), source.labels, same_order=in_order)
        online = settings.mode == "online"  # a batch takes its steps here
        self.work = replace(
            settings, init="zero", tol=None, clean=False, cycle=False,
            eta0=settings.eta0 if online else 1.0,
        )  # fmt: skip
        self.source, self.mixing, self.seed = source, mixing, seed
        self.class_weight, self.progressive = class_weight, progressive
        self.learner, self.machines = learner, self._new_machines(learner)
        self.weighted_mistakes = np.zeros(len(self.machines))

    def _new_machines(self, learner: Learner) -> dict[int, Machine]:
        made = {}
        rows, weights = self.source.class_rows.sum(axis=0), self.source.class_weights.sum(axis=0)
        for k, positive in learner.planes().items():
            table = self._table(positive)
            self.settings.check_weights(np.array(table))
            size = float(rows.sum())
            if self.settings.weighting == "repeat":
                size = float((weights * (table or 1.0)).sum())
            made[k] = Machine(
                self.settings, learner.state, None if learner.together else k, positive,
                n_rows=self.source.n_rows, size=size, same_order=self._same_order,
            )  # fmt: skip
        return made

    def _table(self, positive: int) -> list[float]:
        n = len(self.labels)
        return class_weight_table(self.class_weight, positive, n, self.settings.direct and n > 2)

    def visit(self, block: Block, seen: Array | None = None, resident: bool = False) -> None:
        """Visit all shards, and take the sum of what they did; `block` has no rows."""
        began, active = time.perf_counter(), self._active()
        state, source = self._begun.state, self.source
        planes = np.concatenate([np.arange(state.n_planes)[m.planes] for m in active])
        for machine in active:  # begins the epoch
            machine.visit(block)
        positive = tuple(machine.positive for machine in active)
        job = Visit(
            self.work, state.w[planes].astype(state.dtype), state.b[planes],
            None if state.variance is None else state.variance[planes], state.dtype, positive,
            tuple(map(self._table, positive)), self.mixing, self.seed, self.n_epochs + 1,
            self.progressive and self.n_epochs == 0,
        )  # fmt: skip
        try:
            total = source.reduce(visit_shard, added, job)
        except OverflowedError as e:  # a worker does not know how many epochs there were
            raise active[0].overflowed(self.n_epochs + 1) from e
        which = [k for k, machine in enumerate(self.machines.values()) if machine.reason is None]
        if self.settings.mode == "online":
            self._mix(total, planes, len(source))
            weight = np.where(total["weight"] > 0, total["weight"], 1.0)
            self.weighted_mistakes[which] += (total["mistakes"] / weight)[: len(active)]
        else:
            self.weighted_mistakes[which] += total["epoch_mistakes"]
        for k, machine in enumerate(active):
            run = machine.core.get_state()
            run |= {name: type(run[name])(total[name][k]) for name in COUNTS}
            run["updates"] += run["epoch_updates"] if self.settings.mode == "online" else 0
            run["visits"] = float(state.visits[machine.first])
            if self.settings.mode != "online":
                run |= {name: total[name][k] for name in ("sum", "sum_b", "total")}
            machine.core.set_state(run)
            machine.write_counts()
            machine.seconds += (time.perf_counter() - began) / len(active)
        self._rows_now, self._any_weight = source.n_rows, True
        self.errors += total.get("errors", 0)
        self.n_scored += total.get("n_scored", 0)

    def _mix(self, total: Sums, planes: Array, n_shards: int) -> None:
        """Take the mixture as common weights."""
        state, settings = self._begun.state, self.settings
        moved = total["weight"] > 0 if self.mixing == "mistakes" else total["mistakes"] > 0
        before, at = _theta(state.w[planes], state.b[planes]), planes[moved]
        S = _covariances(settings, state.variance, state.n_features)
        some: Sums = {"weight": total["weight"][moved], "theta": total["theta"][moved]}
        if S is not None:
            some["precision"] = total["precision"][moved]
        theta, S = mixed(some, before[moved], None if S is None else S[at], n_shards)
        theta = theta.astype(state.dtype)
        state.w[at], state.b[at] = theta[:, 1:], theta[:, 0]
        if S is not None and state.variance is not None:
            state.variance[at] = S.reshape(state.variance[at].shape)
        if state.u is not None and state.ub is not None:
            visits, now = state.visits[planes][:, None], _theta(state.w[planes], state.b[planes])
            more = total["visits"][:, None]
            # (T + n) w' - u' is to be T w - u plus the sum of the weights after the new visits
            change = more * now + visits * (now - before) - total["path"]
            state.u[planes] += change[:, 1:]
            state.ub[planes] += change[:, 0]
        state.visits[planes] += total["visits"]

    # ------------------------------------------------------------------------- results

    def kept(self) -> Weights:
        """(coef, intercept): the best on held-out shards, or what `keep` returns."""
        results = [machine.result() for machine in self.machines.values()]
        w, b = (np.concatenate([np.atleast_1d(r[i]) for r in results]) for i in (0, 1))
        return w.reshape(len(b), -1), b

    def get_state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """All that the rest of the run depends on: as JSON and as arrays."""
        facts, arrays = super().get_state()
        machines = self.machines.values()
        facts["scores"] = [machine.scores for machine in machines]
        facts["best_epochs"] = [machine.best.epoch for machine in machines]
        arrays["weighted_mistakes"] = self.weighted_mistakes
        for k, machine in enumerate(machines):
            if machine.best.w is not None and machine.best.b is not None:
                arrays |= {f"best_w.{k}": machine.best.w, f"best_b.{k}": machine.best.b}
        return facts, arrays

    def set_state(self, facts: dict[str, Any], arrays: dict[str, Array]) -> None:
        """Go on from a state; ValueError if it is not one of a run like this."""
        super().set_state(facts, arrays)
        self.weighted_mistakes = np.array(arrays["weighted_mistakes"])
        for k, machine in enumerate(self.machines.values()):
            machine.scores = [float(score) for score in facts["scores"][k]]
            epoch = int(facts["best_epochs"][k])
            if epoch:
                w, b = np.array(arrays[f"best_w.{k}"]), np.array(arrays[f"best_b.{k}"])
                machine.best = Best(machine.scores[epoch - 1], epoch, w, b)


@dataclass(frozen=True, eq=False)
class HeldOutShards:
    """Shards held out for early stopping."""

    source: DaskSource

    def score(self, machines: list[Machine]) -> list[float]:
        """The accuracy of the weights that each machine keeps; each row counts its weight."""
        kept = [(*m.kept(), None if m.plane is None else m.positive) for m in machines]
        right = np.sum(self.source.map(_right, kept), axis=0)
        return [float(share) for share in right[:-1] / right[-1]]


def _right(block: Block, kept: list[tuple[Array, Array, int | None]]) -> Array:
    """The weight of the rows that each hyperplane predicts right, and of all rows."""
    rows, weight = core_rows(block.X), block.sample_weight
    each = np.where(block.y >= 0, 1.0 if weight is None else weight, 0.0)
    found = []
    for w, b, positive in kept:
        scores = _core.scores(rows, np.atleast_2d(w).astype(np.float64), b.astype(np.float64))
        y = block.y if positive is None else block.y == positive
        found.append(float(each @ (_core.decide(scores) == y)))
    return np.array([*found, each.sum()])


def check_mixing(settings: TrainingSettings, mixing: Mixing) -> None:
    """Refuse what cannot be shared between machines, or not so that something is known about it."""
    rule = settings.rule
    if mixing not in ("uniform", "mistakes"):
        raise ParameterError(f"mixing must be 'uniform' or 'mistakes', got {mixing!r}.")
    if settings.keep == "vote":
        raise NotSupportedError(
            "keep='vote' keeps every hyperplane there was, and shards would each have to send all "
            "of theirs. Use keep='average', which comes close."
        )
    if settings.keep == "pocket":
        raise NotSupportedError(
            "keep='pocket' compares weights by their errors on all rows after every update, and a "
            "shard has a part of the rows. Use keep='average', or early_stopping=True."
        )
    if rule.mixing_refused:
        raise NotSupportedError(rule.mixing_refused)
    if rule.full_covariance and mixing != "uniform":
        raise NotSupportedError(
            "covariance='full' adds up what the shards learned; nothing is weighted by mistakes. "
            "Leave mixing out."
        )
    if settings.order == "sample" and settings.mode == "online":
        raise NotSupportedError(
            "shuffle='sample' draws from all rows, and a shard has a part of them. Use "
            "shuffle=True, which permutes the rows of every shard in every epoch."
        )
