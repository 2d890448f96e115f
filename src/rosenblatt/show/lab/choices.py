"""Choices: the settings of a segment of the lab, and the weights that a run starts from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rosenblatt.data.problem import Problem
from rosenblatt.learn.multiclass import start_weights
from rosenblatt.learn.rules import resolve
from rosenblatt.learn.schedule import seeds_and_split
from rosenblatt.learn.settings import TrainingSettings
from rosenblatt.learn.state import State
from rosenblatt.show.lab.situation import Segment, Situation


def settings_of(situation: Situation, segment: Segment, passes: int = 1) -> TrainingSettings:
    """The settings of a segment; ParameterError for combinations that a Perceptron refuses."""
    has_rate = resolve(segment.rule).has_rate
    return TrainingSettings.from_params(
        {
            "penalty": None, "alpha": 0.0001, "l1_ratio": 0.15, "learning_rate": "constant",
            "power_t": 0.5, "fit_intercept": situation.offset, "max_iter": passes, "tol": None,
            "shuffle": {"order": False, "shuffle": True}.get(segment.order, "sample"),
            "verbose": 0, "n_jobs": None, "random_state": segment.seed, "early_stopping": False,
            "validation_fraction": 0.1, "n_iter_no_change": 5, "class_weight": None,
            "warm_start": False, "keep": segment.keep, "mode": segment.mode, "tie": segment.tie,
            "weighting": "scale", "multiclass": "ovr", "max_updates": None, "record": "updates",
            "rule": segment.rule, "eta0": segment.eta if has_rate else 1.0, "init": "zero",
        },
        owner="the lab",
    )  # fmt: skip


def first_weights(situation: Situation, settings: TrainingSettings, problem: Problem) -> State:
    """Where the run starts."""
    start, coef, offset = situation.start, None, None
    if start.kind == "given":
        coef, offset = list(start.w), [start.b if situation.offset else 0.0]
    init = "random" if start.kind == "random" else "zero"
    settings = replace(settings, init=init)
    w, b = start_weights(settings, 2, problem.n_features, np.float64, start.seed, coef, offset)
    return State.at(w[0], b)


def seed_of(segment: Segment) -> int:
    """The seed of the visits that random_state=segment.seed gives a Perceptron."""
    return seeds_and_split(segment.seed, 1, lambda: None)[0][0]
