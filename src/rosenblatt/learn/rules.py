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

from rosenblatt import _core
from rosenblatt.errors import ParameterError

# of MinOver: steps in an epoch, margins compared in one, bytes of the Gram matrix that are kept
MOST_STEPS, MOST_MARGINS, GRAM_BYTES = 10_000, 10**8, 2**28


@dataclass(frozen=True)
class Rule:
    """A training rule: its name, its parameters, what it supports and its form in the core.

    Nothing else asks for the type of a rule: what the rest of the package needs to know of it is
    declared here.
    """

    name: ClassVar[str]
    has_rate: ClassVar[bool] = True  # the learning rate eta0 means something
    repeats: ClassVar[bool] = False  # a weight of k can mean k visits in a row
    adds_rows: ClassVar[bool] = True  # an update adds a multiple of its row and nothing else
    has_direct_form: ClassVar[bool] = True  # it can train all classes at once
    needs_all_rows: ClassVar[bool] = False  # every step compares all rows
    has_variance: ClassVar[bool] = False  # it keeps a variance for each weight
    full_covariance: ClassVar[bool] = False  # or a covariance for each pair of weights
    weights_refused: ClassVar[str | None] = None  # why weights of rows other than 0 and 1 are
    mixing_refused: ClassVar[str | None] = None  # why runs over parts of the rows cannot be mixed

    @property
    def first_variance(self) -> float:
        """The variance of a weight before any row."""
        return 1.0

    @property
    def required_margin(self) -> float:
        """Rows with a margin up to this move the weights of an additive rule."""
        return 0.0

    @property
    def moves_at_margin(self) -> bool:
        """Whether rows at the required margin itself move the weights, whatever `tie` says."""
        return False

    def in_core(self, eta: float, tie: int, fit_intercept: bool, n_rows: int | None) -> Any:
        """The rule as the core takes it; `n_rows` is needed by rules that compare all rows."""
        return _core.AdditiveRule(
            eta, self.required_margin, tie, self.moves_at_margin, fit_intercept
        )

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
    repeats: ClassVar[bool] = True


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
        _check(self, "tau", lambda v: 0 <= v < np.inf, "a number >= 0", "the required margin")

    @property
    def required_margin(self) -> float:
        return float(self.tau)

    @property
    def moves_at_margin(self) -> bool:
        return True


@dataclass(frozen=True)
class Adaptive(Rule):
    """A rule whose step follows from the margin z = y (w.x + b) and the variance v = x'Sx.

    All do w += step y S x and S -= beta Sx (Sx)'; they differ in step and beta. An offset counts as
    a feature that is always 1. They have no learning rate.
    """

    has_rate: ClassVar[bool] = False
    has_variance: ClassVar[bool] = True
    kind: ClassVar[int]  # of core/rule_adaptive.hpp

    @property
    def core_parameter(self) -> float:
        """C or r."""
        return 1.0

    def in_core(self, eta: float, tie: int, fit_intercept: bool, n_rows: int | None) -> Any:
        phi = float(getattr(self, "phi", 0.0))
        return _core.AdaptiveRule(
            self.kind, float(self.core_parameter), phi, tie, self.full_covariance
        )


@dataclass(frozen=True)
class PA(Adaptive):
    """Passive-aggressive: the nearest weights that give the row a margin of 1.

    l = max(0, 1 - z), w += (l / ||x||^2) y x, after which y w.x = 1. Where some u gives every row
    a margin of 1, the sum of l^2 is at most R^2 ||u||^2. [Crammer et al. 2006]
    """

    name: ClassVar[str] = "pa"
    kind: ClassVar[int] = 0
    weights_refused: ClassVar[str | None] = (
        "rule='pa' gives every row a margin of 1, so that the weight of a row or class can change "
        "nothing. Use rule='pa1' or 'pa2', where it multiplies C."
    )


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
    kind: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _check(self, "C", _positive, "a number > 0", "the largest step")

    @property
    def core_parameter(self) -> float:
        return self.C


@dataclass(frozen=True)
class PA2(Adaptive):
    """Passive-aggressive for noisy rows: steps are shortened.

    w += l / (||x||^2 + 1/(2C)) y x. A weight of a row multiplies C. [PA-II, Crammer et al. 2006]
    """

    C: float = 1.0
    name: ClassVar[str] = "pa2"
    kind: ClassVar[int] = 2

    def __post_init__(self) -> None:
        _check(self, "C", _positive, "a number > 0", "how much an unmet margin costs")

    @property
    def core_parameter(self) -> float:
        return self.C


@dataclass(frozen=True)
class SecondOrder(Adaptive):
    """A rule that learns how sure it is of each weight: S, at first the identity.

    covariance : "full" keeps all of S, at a cost of d^2 an update. "diagonal" keeps of every
        update of S its diagonal; d numbers.
    """

    covariance: str = field(default="diagonal", kw_only=True)
    adds_rows: ClassVar[bool] = False

    @property
    def full_covariance(self) -> bool:  # type: ignore[override]  # a constant of other rules
        return self.covariance == "full"

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
    kind: ClassVar[int] = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self, "r", _positive, "a number > 0", "how noisy a label is")

    @property
    def core_parameter(self) -> float:
        return self.r


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
    kind: ClassVar[int] = 4
    mixing_refused: ClassVar[str | None] = (
        "rule='scw' moves by how sure it is of its weights, so what shards learned cannot be added "
        "up. Use rule='arow', whose steps are least squares and can."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self, "C", _positive, "a number > 0", "the largest step")
        _check(self, "eta", lambda v: 0.5 < v < 1, "between 0.5 and 1", "the confidence")

    @property
    def core_parameter(self) -> float:
        return self.C

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
    kind: ClassVar[int] = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self, "a", _positive, "a number > 0", "the first diagonal")

    @property
    def first_variance(self) -> float:
        return 1.0 / float(self.a)


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
    adds_rows: ClassVar[bool] = False
    has_direct_form: ClassVar[bool] = False
    mixing_refused: ClassVar[str | None] = (
        "rule='alma' lowers its step by the number of its own corrections and stays in a ball: "
        "nothing is known of a mean of such runs. Use rule='margin'."
    )
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

    def in_core(self, eta: float, tie: int, fit_intercept: bool, n_rows: int | None) -> Any:
        return _core.AlmaRule(self.bar, self.step, tie, fit_intercept)


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
    has_direct_form: ClassVar[bool] = False
    needs_all_rows: ClassVar[bool] = True
    weights_refused: ClassVar[str | None] = (
        "rule='minover' looks for the largest margin, which the weight of a row or class does not "
        "change. Give weights of 1, or 0 to leave rows out."
    )
    mixing_refused: ClassVar[str | None] = (
        "rule='minover' compares all rows at every step. Use rule='margin', or Perceptron."
    )
    name: ClassVar[str] = "minover"

    def __post_init__(self) -> None:
        _check(self, "gap", lambda v: 0 < v < 1, "between 0 and 1", "the share of margin missing")

    def in_core(self, eta: float, tie: int, fit_intercept: bool, n_rows: int | None) -> Any:
        n = n_rows or 1
        steps = max(1, min(MOST_STEPS, MOST_MARGINS // n))
        kept = max(1, min(n, GRAM_BYTES // (8 * (-(-n // 16) * 16))))
        return _core.MinOverRule(float(self.gap), steps, kept, tie, fit_intercept)


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
