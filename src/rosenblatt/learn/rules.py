"""Rules: what a mistake is, and what it does.

A rule is a small frozen object with its own parameters, so that the estimator does not
grow one parameter per rule. `resolve` accepts the object or its name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from rosenblatt.errors import ParameterError

Tie = Literal["mistake", "positive", "correct", "half"]
Mode = Literal["online", "batch", "batch-mean"]
Weighting = Literal["scale", "repeat"]
Eta = float | Callable[[int], float] | Sequence[float]


@dataclass(frozen=True)
class Rule:
    """What every rule has: a name, and parameters that a grid search can reach."""

    name: ClassVar[str]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, as scikit-learn asks for them (`rule__tau`)."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def with_params(self, **params: Any) -> Rule:
        """A copy with some parameters changed; rules never change in place."""
        unknown = set(params) - {f.name for f in fields(self)}
        if unknown:
            have = [f.name for f in fields(self)]
            others = [r.name for r in RULES.values() if unknown <= {f.name for f in fields(r)}]
            hint = f" Rules that have: {others}." if others else ""
            raise ParameterError(
                f"rule {self.name!r} has no parameter {sorted(unknown)}; it has {have}.{hint}"
            )
        return replace(self, **params)


@dataclass(frozen=True)
class Rosenblatt(Rule):
    """The perceptron rule: at a mistake, w += eta y x.

    What a score of exactly 0 is, `tie` decides.
    """

    name: ClassVar[str] = "perceptron"


@dataclass(frozen=True)
class Margin(Rule):
    """The perceptron with margin: while y (w.x + b) <= tau, w += eta y x.

    Updates that are not mistakes are counted apart. From w = 0 it makes at most
    (R^2 + 2 tau / eta) / gamma^2 updates on separable data, and the hyperplane it stops
    at has at least tau / (2 tau + eta R^2) of the largest margin gamma there is.

    Examples
    --------
    >>> Margin(tau=2.0).get_params()
    {'tau': 2.0}
    """

    tau: float = 1.0
    name: ClassVar[str] = "margin"

    def __post_init__(self) -> None:
        number = isinstance(self.tau, (int, float, np.number)) and not isinstance(self.tau, bool)
        if not (number and 0 <= self.tau < np.inf):
            raise ParameterError(
                f"tau must be a number >= 0, got {self.tau!r}. It is the margin asked for."
            )


RULES: dict[str, type[Rule]] = {r.name: r for r in (Rosenblatt, Margin)}


def resolve(rule: str | Rule) -> Rule:
    """The rule that a name or an object stands for.

    >>> resolve("margin")
    Margin(tau=1.0)
    """
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, str) and rule in RULES:
        return RULES[rule]()
    raise ParameterError(
        f"rule must be one of {sorted(RULES)} or a rule object such as Margin(tau=1.0), "
        f"got {rule!r}."
    )


def _called(eta0: Callable[[int], float], k: int) -> float:
    try:
        return eta0(k)
    except Exception as e:
        raise ParameterError(
            f"eta0, called with the pass number {k}, raised {type(e).__name__}: {e}. It must take "
            "one number and give one > 0."
        ) from e


@dataclass(frozen=True)
class Penalty:
    """alpha ((1 - l1_ratio) ||w||^2 / 2 + l1_ratio |w|_1); the offset is never penalised."""

    alpha: float
    l1_ratio: float


@dataclass(frozen=True)
class Update:
    """What one visit does: everything about a step that does not depend on the row."""

    rule: Rule = Rosenblatt()
    tie: Tie = "mistake"
    eta0: Eta = 1.0
    mode: Mode = "online"
    weighting: Weighting = "scale"
    penalty: Penalty | None = None
    fit_intercept: bool = True

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
        return isinstance(self.eta0, (int, float, np.number))
