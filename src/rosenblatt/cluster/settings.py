"""Asked: which choices have a meaning on a cluster; the others are refused with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rosenblatt.cluster.mixing import Mixing
from rosenblatt.errors import NotSupportedError, ParameterError
from rosenblatt.learn.settings import TrainingSettings

# what Perceptron has and a cluster has not
LEFT_OUT: dict[str, Any] = {
    "penalty": None, "alpha": 0.0001, "l1_ratio": 0.15, "learning_rate": "constant",
    "power_t": 0.5, "n_jobs": None, "max_updates": None, "record": None,
}  # fmt: skip


def options_of(params: Mapping[str, Any], owner: str = "DaskPerceptron") -> TrainingSettings:
    """Parameters as the rooms want them, checked alone and together."""
    mixing = params["mixing"]
    if mixing not in ("uniform", "mistakes"):
        raise ParameterError(
            f"The 'mixing' parameter of {owner} must be 'uniform' or 'mistakes'. Got {mixing!r} "
            "instead."
        )
    options = TrainingSettings.from_params({**LEFT_OUT, **params}, owner)
    check(options, mixing)
    return options


def check(options: TrainingSettings, mixing: Mixing) -> None:
    """What cannot be shared between machines, or not so that something is known about it."""
    rule = options.rule
    if options.keep == "vote":
        raise NotSupportedError(
            "keep='vote' keeps every hyperplane there was, and shards would each have to send all "
            "of theirs. Use keep='average', which comes close."
        )
    if options.keep == "pocket":
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
    if options.order == "sample" and options.mode == "online":
        raise NotSupportedError(
            "shuffle='sample' draws from all rows, and a shard has a part of them. Use "
            "shuffle=True, which permutes the rows of every shard in every round."
        )
