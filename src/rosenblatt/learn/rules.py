"""Rules: what a mistake is, and what it does.

A rule is a small frozen object with its own parameters, so that the estimator does not
grow one parameter per rule. `resolve` accepts the object or its name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from rosenblatt.errors import ParameterError


@dataclass(frozen=True)
class Rule:
    """What every rule has: a name, and parameters that a grid search can reach."""

    name: ClassVar[str]
    has_rate: ClassVar[bool] = True  # whether the learning rate eta0 means something

    def __str__(self) -> str:
        """As `resolve` reads it, for example arow(r=0.1, covariance=diagonal)."""
        values = ", ".join(f"{name}={value}" for name, value in self.get_params().items())
        return f"{self.name}({values})" if values else self.name

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
        _check(self, "tau", lambda v: 0 <= v < np.inf, "a number >= 0", "the margin asked for")


@dataclass(frozen=True)
class Adaptive(Rule):
    """A rule whose step follows from the margin z = y (w.x + b) and the variance v = x'Sx.

    All do w += step y S x and S -= beta Sx (Sx)'; they differ in step and beta. An offset counts as
    a feature that is always 1. They have no learning rate.
    """

    has_rate: ClassVar[bool] = False


@dataclass(frozen=True)
class PA(Adaptive):
    """Passive-aggressive: the nearest weights that give the row a margin of 1.

    l = max(0, 1 - z), w += (l / ||x||^2) y x, after which y w.x = 1. Where some u gives every row
    a margin of 1, the sum of l^2 is at most R^2 ||u||^2. [Crammer et al. 2006]
    """

    name: ClassVar[str] = "pa"


@dataclass(frozen=True)
class PA1(Adaptive):
    """Passive-aggressive for noisy rows: no step is larger than C.

    w += min(C, l / ||x||^2) y x. Mistakes are at most max(R^2, 1/C) (||u||^2 + 2 C sum l(u)),
    whatever u. A weight of a row multiplies C. [PA-I, Crammer et al. 2006]

    Examples
    --------
    >>> PA1(C=0.1)
    PA1(C=0.1)
    """

    C: float = 1.0
    name: ClassVar[str] = "pa1"

    def __post_init__(self) -> None:
        _check(self, "C", _positive, "a number > 0", "the largest step")


@dataclass(frozen=True)
class PA2(Adaptive):
    """Passive-aggressive for noisy rows: steps are shortened.

    w += l / (||x||^2 + 1/(2C)) y x. A weight of a row multiplies C. [PA-II, Crammer et al. 2006]
    """

    C: float = 1.0
    name: ClassVar[str] = "pa2"

    def __post_init__(self) -> None:
        _check(self, "C", _positive, "a number > 0", "how much an unmet margin costs")


@dataclass(frozen=True)
class SecondOrder(Adaptive):
    """A rule that learns how sure it is of each weight: S, at first the identity.

    covariance : "full" keeps all of S, at a cost of d^2 an update. "diagonal" keeps of every
        update of S its diagonal; d numbers.
    """

    covariance: str = field(default="diagonal", kw_only=True)

    def __post_init__(self) -> None:
        if self.covariance not in ("diagonal", "full"):
            raise ParameterError(
                f"covariance must be 'diagonal' or 'full', got {self.covariance!r}."
            )


@dataclass(frozen=True)
class AROW(SecondOrder):
    """Adaptive regularisation of weights: sure weights move little, unsure ones much.

    If z < 1: beta = 1 / (v + r), w += (1 - z) beta y S x, S -= beta Sx (Sx)'. The variance of no
    direction ever grows. The bound on mistakes needs no separability. A weight of a row divides
    r. [Crammer, Kulesza, Dredze 2009]

    Examples
    --------
    >>> AROW(r=0.1)
    AROW(covariance='diagonal', r=0.1)
    """

    r: float = 1.0
    name: ClassVar[str] = "arow"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self, "r", _positive, "a number > 0", "how noisy a label is")


@dataclass(frozen=True)
class SCW(SecondOrder):
    """Soft confidence-weighted: y w.x is right with probability eta, as far as C allows.

    If phi sqrt(v) > z, with phi the eta-quantile of the normal distribution, the nearest Gaussian
    over weights that has z >= phi sqrt(v), the step never larger than C. A weight of a row
    multiplies C. [SCW-I, Wang, Zhao, Hoi 2012]
    """

    C: float = 1.0
    eta: float = 0.9
    name: ClassVar[str] = "scw"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self, "C", _positive, "a number > 0", "the largest step")
        _check(self, "eta", lambda v: 0.5 < v < 1, "between 0.5 and 1", "the confidence")

    @property
    def phi(self) -> float:
        """The quantile of the normal distribution for eta."""
        return NormalDist().inv_cdf(float(self.eta))


@dataclass(frozen=True)
class SOP(SecondOrder):
    """The second-order perceptron: the perceptron in the metric of the rows it erred on.

    At a mistake w += y x and S = (a I + sum of x x' over mistakes)^-1, the hyperplane being S w.
    Mistakes only, as the theorem has it. As a step of the hyperplane itself: S is I / a at first,
    beta = 1 / (v + 1) and S w += (1 - z) beta y S x. A weight of a row multiplies its x x'.
    [Cesa-Bianchi, Conconi, Gentile 2005]
    """

    a: float = 1.0
    name: ClassVar[str] = "sop"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self, "a", _positive, "a number > 0", "the first diagonal")


@dataclass(frozen=True)
class ALMA(Rule):
    """An approximate large margin: steps and the required margin shrink with their number k.

    Rows are scaled to length 1 and w stays in the unit ball. If y w.x <= (1 - alpha) B / sqrt(k):
    w += C / sqrt(k) y x, then back into the ball. With B = sqrt(8) / alpha and C = sqrt(2), the
    defaults, rows with margin gamma are separated with (1 - alpha) gamma after
    O(1 / (alpha gamma)^2) steps. [Gentile 2001, for p = 2]
    """

    alpha: float = 0.9
    B: float | None = None
    C: float | None = None
    has_rate: ClassVar[bool] = False
    name: ClassVar[str] = "alma"

    def __post_init__(self) -> None:
        _check(self, "alpha", lambda v: 0 < v <= 1, "above 0, at most 1", "the margin given away")
        for name in ("B", "C"):
            if getattr(self, name) is not None:
                _check(self, name, _positive, "a number > 0 or None", "the theorem's constant")

    @property
    def bar(self) -> float:
        """(1 - alpha) B"""
        B = math.sqrt(8) / self.alpha if self.B is None else float(self.B)
        return (1.0 - self.alpha) * B

    @property
    def step(self) -> float:
        """C"""
        return math.sqrt(2) if self.C is None else float(self.C)


@dataclass(frozen=True)
class MinOver(Rule):
    """Optimal stability: each step adds the row of smallest margin, right or wrong.

    With z_i = y_i (x_i, 1) and w counting the offset: w += z_i, i = argmin z_i.w, ties to the first
    row. After M steps from w = 0 the largest margin gamma (the offset counted in the norm) lies
    between min z_i.w / ||w|| and ||w|| / M; the run ends when the first is at least 1 - gap of the
    second, after some (R / gamma)^2 / gap steps. Both are in ``trace_.margin``. Every step looks
    at all rows: the order of visits means nothing, and a pass is 10,000 steps (10^8 / n beyond
    10,000 rows). `tol` does not end it; data that are not separable use up `max_iter`, unless w
    comes back at the end of a pass. [Krauth, Mezard 1987]

    gap : how much of the largest margin may be missing.

    Examples
    --------
    >>> MinOver(gap=0.001)
    MinOver(gap=0.001)
    """

    gap: float = 0.01
    has_rate: ClassVar[bool] = False
    name: ClassVar[str] = "minover"

    def __post_init__(self) -> None:
        _check(self, "gap", lambda v: 0 < v < 1, "between 0 and 1", "the share of margin missing")


def _positive(v: float) -> bool:
    return 0 < v < np.inf


def _check(rule: Rule, name: str, inside: Callable[[Any], bool], words: str, what: str) -> None:
    value = getattr(rule, name)
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not (number and inside(value)):
        raise ParameterError(f"{name} must be {words}, got {value!r}. It is {what}.")


RULES: dict[str, type[Rule]] = {
    r.name: r for r in (Rosenblatt, Margin, PA, PA1, PA2, AROW, SCW, SOP, ALMA, MinOver)
}


def resolve(rule: str | Rule) -> Rule:
    """The rule that a name, a name with parameters, or an object stands for.

    >>> resolve("margin"), resolve("arow(r=0.1, covariance=full)")
    (Margin(tau=1.0), AROW(covariance='full', r=0.1))
    >>> resolve("AROW(covariance='full', r=0.1)")  # as it is printed
    AROW(covariance='full', r=0.1)
    """
    if isinstance(rule, Rule):
        return rule
    found = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", rule) if isinstance(rule, str) else None
    named = found[1].lower() if found else ""
    if found is None or named not in RULES:
        raise ParameterError(
            f"rule must be one of {sorted(RULES)} or a rule object such as Margin(tau=1.0), "
            f"got {rule!r}."
        )
    return RULES[named]().with_params(**_parsed(found[2] or ""))


def _parsed(text: str) -> dict[str, Any]:
    """The parameters in `r=0.1, covariance=full`."""
    values: dict[str, Any] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, given, value = (p.strip() for p in part.partition("="))
        if not given or not value:
            raise ParameterError(
                f"parameters of a rule are written name=value, got {part!r}. For example "
                "arow(r=0.1)."
            )
        try:
            values[name] = float(value)
        except ValueError:
            values[name] = None if value == "None" else value.strip("'\"")
    return values
