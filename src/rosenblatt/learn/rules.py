"""Training rules: the list of them, their names and parameters. A new rule begins here.

What a rule does at a visit is in core/rules.hpp and core/rule_*.hpp. A rule is a frozen object with
its own parameters, so that the estimator has one parameter for all rules. `resolve` accepts the
object or its name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from rosenblatt import _core
from rosenblatt.errors import ParameterError
from rosenblatt.learn.parameters import Parameters

# MinOver: most steps and margins compared per epoch, bytes of the Gram matrix that are kept
MOST_STEPS, MOST_MARGINS, GRAM_BYTES = 10_000, 10**8, 2**28


@dataclass(frozen=True)
class Rule(Parameters):
    """A training rule: its name, its parameters, what it supports and its form in the core.

    The rest of the package reads these declarations and never tests the type of a rule.
    """

    kind_of_object: ClassVar[str] = "rule"
    has_rate: ClassVar[bool] = True  # it uses the learning rate eta0
    repeats: ClassVar[bool] = False  # a weight of k can mean k visits in a row
    adds_rows: ClassVar[bool] = True  # an update adds a multiple of its row and nothing else
    has_direct_form: ClassVar[bool] = True  # it can train all classes at once
    needs_all_rows: ClassVar[bool] = False  # every step compares all rows
    has_variance: ClassVar[bool] = False  # it keeps a variance for each weight
    full_covariance: ClassVar[bool] = False  # or a covariance for each pair of weights
    weights_refused: ClassVar[str | None] = None  # error for sample weights other than 0 and 1
    mixing_refused: ClassVar[str | None] = None  # error for mixing runs over parts of the rows

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
        """Return the rule as the core takes it.

        Parameters
        ----------
        eta : float
            Learning rate, for rules that have one.
        tie : int
            What a score of 0 is, as the core numbers it.
        fit_intercept : bool
            Whether there is an offset.
        n_rows : int or None
            Number of rows, for rules that compare all rows.

        Returns
        -------
        object
            A rule of `rosenblatt._core`.
        """
        return _core.AdditiveRule(
            eta, self.required_margin, tie, self.moves_at_margin, fit_intercept
        )

    def __str__(self) -> str:
        """As `resolve` reads it, for example arow(r=0.1, covariance=diagonal)."""
        values = ", ".join(f"{name}={value}" for name, value in self.get_params().items())
        return f"{self.name}({values})" if values else self.name

    def _hint(self, unknown: list[str]) -> str:
        others = [r.name for r in RULES.values() if set(unknown) <= {f.name for f in fields(r)}]
        return f" Rules that have: {others}." if others else ""


@dataclass(frozen=True)
class Rosenblatt(Rule):
    """The perceptron rule: at a mistake, w += eta y x.

    `tie` determines whether a score of exactly 0 is a mistake. Source: Rosenblatt 1958.

    Examples
    --------
    >>> resolve("perceptron")
    Rosenblatt()
    """

    name: ClassVar[str] = "perceptron"
    repeats: ClassVar[bool] = True


@dataclass(frozen=True)
class Margin(Rule):
    """The perceptron with margin: if y (w.x + b) <= tau, w += eta y x.

    Updates that are not mistakes are counted separately. From w = 0 it makes at most
    (R^2 + 2 tau / eta) / gamma^2 updates on data with the largest margin gamma > 0, and the last
    hyperplane has a margin of at least gamma tau / (2 tau + eta R^2). Source: Krauth and Mezard
    1987.

    Parameters
    ----------
    tau : float, default=1.0
        Required margin.

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

    The update is w += step y S x, S -= beta Sx (Sx)'; rules differ in step and beta. An offset
    counts as a feature that is always 1. There is no learning rate.
    """

    has_rate: ClassVar[bool] = False
    has_variance: ClassVar[bool] = True
    kind: ClassVar[int]  # of core/rule_adaptive.hpp

    @property
    def core_parameter(self) -> float:
        """The parameter C or r of the rule."""
        return 1.0

    def in_core(self, eta: float, tie: int, fit_intercept: bool, n_rows: int | None) -> Any:
        phi = float(getattr(self, "phi", 0.0))
        return _core.AdaptiveRule(
            self.kind, float(self.core_parameter), phi, tie, self.full_covariance
        )


@dataclass(frozen=True)
class PA(Adaptive):
    """Passive-aggressive: the nearest weights that give the row a margin of 1.

    With l = max(0, 1 - z): w += (l / ||x||^2) y x, after which y w.x = 1. If some u gives every row
    a margin of 1, the sum of l^2 is at most R^2 ||u||^2. Source: Crammer et al. 2006.

    Examples
    --------
    >>> resolve("pa")
    PA()
    """

    name: ClassVar[str] = "pa"
    kind: ClassVar[int] = 0
    weights_refused: ClassVar[str | None] = (
        "rule='pa' gives every row a margin of 1, so sample and class weights have no effect. Use "
        "rule='pa1' or 'pa2', where a weight multiplies C."
    )


@dataclass(frozen=True)
class PA1(Adaptive):
    """Passive-aggressive for noisy rows: no step is larger than C.

    w += min(C, l / ||x||^2) y x. For every u, it makes at most
    max(R^2, 1/C) (||u||^2 + 2 C sum l(u)) mistakes. A sample weight multiplies C. Source: PA-I,
    Crammer et al. 2006.

    Parameters
    ----------
    C : float, default=1.0
        Largest step.

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

    w += l / (||x||^2 + 1/(2C)) y x. A sample weight multiplies C. Source: PA-II, Crammer et al.
    2006.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin below 1.

    Examples
    --------
    >>> PA2(C=0.1)
    PA2(C=0.1)
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
    """A rule with a covariance matrix S of the weights, at first a multiple of the identity."""

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
    """Adaptive regularisation of weights: weights of small variance move little.

    If z < 1: beta = 1 / (v + r), w += (1 - z) beta y S x, S -= beta Sx (Sx)'. No variance ever
    grows. The bound on mistakes does not need separable data. A sample weight divides r. Source:
    Crammer, Kulesza, Dredze 2009.

    Parameters
    ----------
    r : float, default=1.0
        Noise of the labels.
    covariance : {'diagonal', 'full'}, default='diagonal'
        'full' keeps all of S, at a cost of d^2 per update; 'diagonal' keeps d numbers.

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
    """Soft confidence-weighted: each row is right with probability eta, as far as C allows.

    If z < phi sqrt(v), with phi the eta-quantile of the normal distribution, move to the nearest
    Gaussian over weights with z >= phi sqrt(v), by a step of at most C. A sample weight multiplies
    C. Source: SCW-I, Wang, Zhao, Hoi 2012.

    Parameters
    ----------
    C : float, default=1.0
        Largest step.
    eta : float, default=0.9
        Confidence, between 0.5 and 1.
    covariance : {'diagonal', 'full'}, default='diagonal'
        'full' keeps all of S, at a cost of d^2 per update; 'diagonal' keeps d numbers.

    Examples
    --------
    >>> SCW(C=0.1).get_params()
    {'covariance': 'diagonal', 'C': 0.1, 'eta': 0.9}
    """

    C: float = 1.0
    eta: float = 0.9
    name: ClassVar[str] = "scw"
    kind: ClassVar[int] = 4
    mixing_refused: ClassVar[str | None] = (
        "rule='scw' takes steps that depend on its variances, so runs over shards cannot be added. "
        "Use rule='arow', whose steps are least squares and can be added."
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
    """The second-order perceptron: the perceptron in the metric of its mistakes.

    At a mistake v += y x and S = (a I + sum of x x' over mistakes)^-1; the hyperplane is w = S v.
    As a step of w itself: S is I / a at first, beta = 1 / (x'Sx + 1), w += (1 - z) beta y S x. A
    sample weight multiplies x x'. Source: Cesa-Bianchi, Conconi, Gentile 2005.

    Parameters
    ----------
    a : float, default=1.0
        The first diagonal of the inverse of S.
    covariance : {'diagonal', 'full'}, default='diagonal'
        'full' keeps all of S, at a cost of d^2 per update; 'diagonal' keeps d numbers.

    Examples
    --------
    >>> SOP(a=2.0)
    SOP(covariance='diagonal', a=2.0)
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
    """ALMA: an approximately largest margin, with steps that shrink with their number k.

    Rows are scaled to length 1 and w stays in the unit ball. If y w.x <= (1 - alpha) B / sqrt(k):
    w += C / sqrt(k) y x, then w /= max(1, ||w||). With the default B and C, rows of margin gamma
    are separated with margin (1 - alpha) gamma after O(1 / (alpha gamma)^2) steps. Source: Gentile
    2001, for p = 2.

    Parameters
    ----------
    alpha : float, default=0.9
        Share of the largest margin that may be missing, above 0 and at most 1.
    B : float or None, default=None
        Constant of the theorem; None is sqrt(8) / alpha.
    C : float or None, default=None
        Constant of the theorem; None is sqrt(2).

    Examples
    --------
    >>> ALMA(alpha=0.5)
    ALMA(alpha=0.5, B=None, C=None)
    """

    alpha: float = 0.9
    B: float | None = None
    C: float | None = None
    has_rate: ClassVar[bool] = False
    adds_rows: ClassVar[bool] = False
    has_direct_form: ClassVar[bool] = False
    mixing_refused: ClassVar[str | None] = (
        "rule='alma' has no guarantee for a mean of several runs: its steps depend on the number "
        "of its own updates. Use rule='margin'."
    )
    name: ClassVar[str] = "alma"

    def __post_init__(self) -> None:
        _check(self, "alpha", lambda v: 0 < v <= 1, "above 0, at most 1", "the margin given away")
        for name in ("B", "C"):
            if getattr(self, name) is not None:
                _check(self, name, _positive, "a number > 0 or None", "the theorem's constant")

    @property
    def bar(self) -> float:
        """The factor (1 - alpha) B of the required margin."""
        B = math.sqrt(8) / self.alpha if self.B is None else float(self.B)
        return (1.0 - self.alpha) * B

    @property
    def step(self) -> float:
        """The factor C of a step."""
        return math.sqrt(2) if self.C is None else float(self.C)

    def in_core(self, eta: float, tie: int, fit_intercept: bool, n_rows: int | None) -> Any:
        return _core.AlmaRule(self.bar, self.step, tie, fit_intercept)


@dataclass(frozen=True)
class MinOver(Rule):
    """MinOver: each step adds the row of smallest margin, which finds the largest margin.

    With z_i = y_i (x_i, 1) and w including the offset: w += z_i, i = argmin z_i.w, the first row on
    a tie. After M steps from w = 0 the largest margin gamma (offset counted in the norm) lies
    between min z_i.w / ||w|| and ||w|| / M. The run stops when the first is at least 1 - gap of the
    second, after about (R / gamma)^2 / gap steps; both are in ``trace_.margin``. Source: Krauth and
    Mezard 1987.

    Every step compares all rows, so the order of visits has no effect. An epoch has 10,000 steps
    (10^8 / n_rows with more than 10,000 rows). `tol` does not stop the run; data that are not
    separable reach `max_iter`, unless w returns to earlier weights at the end of an epoch.

    Parameters
    ----------
    gap : float, default=0.01
        Share of the largest margin that may be missing.

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
        "rule='minover' finds the largest margin, and sample and class weights do not change it. "
        "Use weights of 1, or 0 to leave rows out."
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
    """Return the rule for a name, a name with parameters, or an object.

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
