"""Update: what one visit does, apart from the row: a rule and how it is applied."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from rosenblatt.errors import ParameterError
from rosenblatt.learn.rules import ALMA, Margin, Rosenblatt, Rule, SecondOrder

Tie = Literal["mistake", "positive", "correct", "half"]
Mode = Literal["online", "batch", "batch-mean"]
Weighting = Literal["scale", "repeat"]
Falling = Literal["optimal", "invscaling", "adaptive"]
Eta = float | Callable[[int], float] | Sequence[float]


def _called(eta0: Callable[[int], float], k: int) -> float:
    try:
        return eta0(k)
    except Exception as e:
        raise ParameterError(
            f"eta0, called with the pass number {k}, raised {type(e).__name__}: {e}. It must take "
            "one number and give one > 0."
        ) from e


PERCEPTRON = Rosenblatt()


@dataclass(frozen=True)
class Penalty:
    """alpha ((1 - l1_ratio) ||w||^2 / 2 + l1_ratio |w|_1); the offset is never penalised."""

    alpha: float
    l1_ratio: float


@dataclass(frozen=True)
class Rate:
    """How the learning rate falls, in scikit-learn's words and arithmetic.

    At visit t, counted from 1 over all passes and calls: "optimal", 1 / (alpha (t0 + t - 1)) with
    t0 such that the first is alpha^(-1/4); "invscaling", eta0 / t^power_t. "adaptive": eta0, a
    fifth of it each time training would stop for want of a gain, until it is at most 1e-6.
    """

    kind: Falling
    alpha: float = 0.0001
    power_t: float = 0.5
    t: float = 1.0  # of the first visit to come

    @property
    def t0(self) -> float:
        """Bottou's: weights are about typical = alpha^(-1/4), and so is the first step."""
        if self.kind != "optimal":
            return 0.0
        typical = np.sqrt(1.0 / np.sqrt(self.alpha))
        return float(1.0 / (typical * self.alpha))


@dataclass(frozen=True)
class Update:
    """What one visit does: everything about a step that does not depend on the row."""

    rule: Rule = PERCEPTRON
    tie: Tie = "mistake"
    eta0: Eta = 1.0
    mode: Mode = "online"
    weighting: Weighting = "scale"
    penalty: Penalty | None = None
    fit_intercept: bool = True
    rate: Rate | None = None  # None: eta0 throughout, or that of the pass

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("tie", self.tie, get_args(Tie)),
            ("mode", self.mode, get_args(Mode)),
            ("weighting", self.weighting, get_args(Weighting)),
        ):
            if value not in choices:
                raise ParameterError(f"{name} must be one of {choices}, got {value!r}.")

    @property
    def tau(self) -> float:
        """The margin up to which rows move the weights."""
        return float(self.rule.tau) if isinstance(self.rule, Margin) else 0.0

    @property
    def only_mistakes_move(self) -> bool:
        """Whether a pass that moves nothing leaves the weights as they are for good."""
        return self.penalty is None

    @property
    def moves_by_rows(self) -> bool:
        """Whether weights are the start plus eta times rows: without a penalty, a step of its own
        for each row or visit, or a memory besides the weights. Then states can come back."""
        return self.penalty is None and self.rate is None and self.rule.has_rate

    @property
    def adds_rows(self) -> bool:
        """Whether every update adds a multiple of its row, and nothing else moves the weights."""
        return self.penalty is None and not isinstance(self.rule, (SecondOrder, ALMA))

    def etas(self, first: int, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The learning rates alpha_k of passes first, ..., first + count - 1 (from 1).

        A sequence that has run out keeps its last value.

        >>> Update(eta0=lambda k: 1 / k, mode="batch").etas(1, 3)
        array([1.        , 0.5       , 0.33333333])
        """
        if callable(self.eta0):
            values = [_called(self.eta0, k) for k in range(first, first + count)]
        elif isinstance(self.eta0, (int, float, np.number)):
            values = [float(self.eta0)]
        else:
            given = [float(v) for v in self.eta0]
            values = [given[min(k, len(given)) - 1] for k in range(first, first + count)]
        for k, v in enumerate(values, start=first):
            if not (isinstance(v, (int, float, np.number)) and 0 < v < np.inf):
                raise ParameterError(f"eta0 must be > 0 and finite, got {v!r} for pass {k}.")
        return np.array(values, dtype=np.float64)

    @property
    def constant_eta(self) -> bool:
        return self.rate is None and isinstance(self.eta0, (int, float, np.number))
