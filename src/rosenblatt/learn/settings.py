"""Settings: the parameters of a training run, validated alone and together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt.errors import NotSupportedError, ParameterError
from rosenblatt.learn.parameters import is_number
from rosenblatt.learn.rules import Rosenblatt, Rule, resolve

Keep = Literal["last", "average", "vote", "pocket"]
Tie = Literal["mistake", "positive", "correct", "half"]
Mode = Literal["online", "batch", "batch-mean"]
Weighting = Literal["scale", "repeat"]
OrderOfVisits = Literal["order", "shuffle", "sample"]
ChangingRate = Literal["optimal", "invscaling", "adaptive"]
Eta = float | Callable[[int], float] | Sequence[float]
Check = tuple[Callable[[Any], bool], str]
PERCEPTRON = Rosenblatt()
NO_LIMIT = np.iinfo(np.int64).max
TIES = {"mistake": 0, "positive": 1, "correct": 2, "half": 3}
RATES = {"adaptive": 0, "optimal": 1, "invscaling": 2}


def _choice(*names: Any) -> Check:
    """One of some words, flags or None; 1 is not taken for True."""

    def test(v: Any) -> bool:
        if isinstance(v, (bool, np.bool_)):
            v = bool(v)
        return any(type(v) is type(n) and v == n for n in names)

    return test, f"one of {', '.join(map(repr, names))}"


def _whole(low: int, optional: bool = False) -> Check:
    def test(v: Any) -> bool:
        return (optional and v is None) or (is_number(v, Integral) and bool(v >= low))

    return test, f"a whole number >= {low}" + (" or None" if optional else "")


def _number(inside: Callable[[float], bool], words: str, optional: bool = False) -> Check:
    def test(v: Any) -> bool:
        return (optional and v is None) or (is_number(v) and inside(float(v)))

    return test, words + (" or None" if optional else "")


def _flag() -> Check:
    return (lambda v: isinstance(v, (bool, np.bool_))), "True or False"


CHECKS: dict[str, Check] = {
    "penalty": _choice(None, "l2", "l1", "elasticnet"),
    "alpha": _number(lambda v: 0 <= v < np.inf, "a finite number >= 0"),
    "l1_ratio": _number(lambda v: 0 <= v <= 1, "a number from 0 to 1", optional=True),
    "learning_rate": _choice("constant", "optimal", "invscaling", "adaptive"),
    "power_t": _number(lambda v: -np.inf < v < np.inf, "a finite number"),
    "fit_intercept": _flag(),
    "max_iter": _whole(1),
    "tol": _number(lambda v: 0 <= v < np.inf, "a finite number >= 0", optional=True),
    "shuffle": _choice(True, False, "sample"),
    "verbose": (
        lambda v: isinstance(v, (Integral, bool, np.bool_)) and int(v) >= 0,
        "True, False or a whole number >= 0",
    ),
    "n_jobs": (
        lambda v: v is None or (is_number(v, Integral) and int(v) != 0),
        "a whole number other than 0, or None",
    ),
    "random_state": (
        lambda v: (
            v is None
            or v is np.random
            or isinstance(v, np.random.RandomState)
            or (is_number(v, Integral) and 0 <= int(v) < 2**32)
        ),
        "None, a whole number from 0 to 2**32 - 1, or a numpy RandomState",
    ),
    "early_stopping": _flag(),
    "validation_fraction": _number(lambda v: 0 < v < 1, "a number between 0 and 1"),
    "n_iter_no_change": _whole(1),
    "class_weight": (
        lambda v: v is None or isinstance(v, Mapping) or (isinstance(v, str) and v == "balanced"),
        "None, 'balanced' or a dict of weights by class",
    ),
    "warm_start": _flag(),
    "keep": _choice(*get_args(Keep)),
    "mode": _choice(*get_args(Mode)),
    "tie": _choice(*get_args(Tie)),
    "weighting": _choice(*get_args(Weighting)),
    "multiclass": _choice("ovr", "direct"),
    "max_updates": _whole(1, optional=True),
    "record": _choice(None, "updates"),
}


def check_params(params: Mapping[str, Any], checks: Mapping[str, Check], owner: str) -> None:
    """Refuse a parameter whose value is invalid by itself."""
    for name, (test, words) in checks.items():
        if not test(params[name]):
            raise ParameterError(
                f"The {name!r} parameter of {owner} must be {words}. Got {params[name]!r} instead."
            )


@dataclass(frozen=True)
class Penalty:
    """alpha ((1 - l1_ratio) ||w||^2 / 2 + l1_ratio |w|_1); the offset is never penalised."""

    alpha: float
    l1_ratio: float


@dataclass(frozen=True)
class Rate:
    """A learning rate that changes, in scikit-learn's words and arithmetic.

    At visit t, counted from 1 over all epochs and calls: "optimal", 1 / (alpha (t0 + t - 1)) with
    t0 such that the first is alpha^(-1/4); "invscaling", eta0 / t^power_t. "adaptive": eta0,
    divided by 5 whenever training would stop because it does not gain tol, until at most 1e-6.
    """

    kind: ChangingRate
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
class TrainingSettings:
    """Settings of a training run: the rule, the order of visits, what is kept, when to stop.

    Attributes
    ----------
    rule, tie, eta0, mode, weighting, penalty, rate, fit_intercept
        What one visit does.
    order : "order", "shuffle" or "sample"
        In which order rows are visited.
    keep : "last", "average", "vote" or "pocket"
    direct : bool
        More than two classes are trained at once, by Kesler's construction.
    init : "zero", "random" or array
    record : bool
        Note every update, the first 10,000 at most.
    max_iter, max_updates, tol, patience
        When to stop; None is no limit.
    clean : bool
        Stop after an epoch that moved nothing.
    cycle : bool
        Stop when the weights return to earlier ones, if rows are visited in a fixed order.
    """

    rule: Rule = PERCEPTRON
    tie: Tie = "mistake"
    eta0: Eta = 1.0
    mode: Mode = "online"
    weighting: Weighting = "scale"
    penalty: Penalty | None = None
    fit_intercept: bool = True
    rate: Rate | None = None  # None: eta0 throughout, or that of the epoch
    order: OrderOfVisits = "order"
    keep: Keep = "last"
    direct: bool = False
    init: Any = "zero"
    record: bool = False
    max_iter: int = 1000
    max_updates: int | None = None
    tol: float | None = None
    patience: int = 5
    clean: bool = True
    cycle: bool = True

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("tie", self.tie, get_args(Tie)),
            ("mode", self.mode, get_args(Mode)),
            ("weighting", self.weighting, get_args(Weighting)),
            ("keep", self.keep, get_args(Keep)),
            ("order", self.order, get_args(OrderOfVisits)),
        ):
            if value not in choices:
                raise ParameterError(f"{name} must be one of {choices}, got {value!r}.")

    @classmethod
    def from_params(cls, params: Mapping[str, Any], owner: str = "Perceptron") -> TrainingSettings:
        """Check the parameters of an estimator, alone and together."""
        params = {k: str(v) if isinstance(v, np.str_) else v for k, v in params.items()}
        check_params(params, CHECKS, owner)
        if isinstance(params["init"], str) and params["init"] not in ("zero", "random"):
            raise ParameterError(
                f"The 'init' parameter of {owner} must be 'zero', 'random' or an array of the "
                f"shape of coef_. Got {params['init']!r} instead."
            )
        if params["penalty"] == "elasticnet" and params["l1_ratio"] is None:
            raise ParameterError("l1_ratio must be set when penalty is 'elasticnet'; got None.")
        ratios = {"l2": 0.0, "l1": 1.0, "elasticnet": params["l1_ratio"]}
        penalty = params["penalty"] and Penalty(
            float(params["alpha"]), float(ratios[params["penalty"]])
        )
        rate = None
        if params["learning_rate"] != "constant":
            rate = Rate(params["learning_rate"], float(params["alpha"]), float(params["power_t"]))
        orders: dict[Any, OrderOfVisits] = {False: "order", True: "shuffle", "sample": "sample"}
        settings = cls(
            rule=resolve(params["rule"]),
            tie=params["tie"],
            eta0=_eta(params["eta0"], params["mode"], owner),
            mode=params["mode"],
            weighting=params["weighting"],
            penalty=penalty or None,
            fit_intercept=bool(params["fit_intercept"]),
            rate=rate,
            order=orders[params["shuffle"]],
            keep=params["keep"],
            direct=params["multiclass"] == "direct",
            init=params["init"],
            record=params["record"] == "updates",
            max_iter=min(int(params["max_iter"]), NO_LIMIT),
            max_updates=params["max_updates"] and min(int(params["max_updates"]), NO_LIMIT),
            tol=None if params["tol"] is None else float(params["tol"]),
            patience=min(int(params["n_iter_no_change"]), NO_LIMIT),
        )
        settings._check_combination()
        return settings

    def _check_combination(self) -> None:
        if not self.rule.has_rate:
            self._check_own_steps()
        if self.penalty and self.keep in ("vote", "pocket"):
            raise NotSupportedError(
                f"keep={self.keep!r} counts how long weights stay as they are, and a penalty moves "
                "them at every visit. Use keep='last' or 'average', or penalty=None."
            )
        if self.penalty and self.mode != "online":
            raise NotSupportedError(
                f"mode={self.mode!r} has no penalty. Use mode='online' or penalty=None."
            )
        if self.rate is not None:
            self._check_rate(self.rate.kind)
        if self.weighting == "repeat" and not (self.rule.repeats and self.penalty is None):
            raise NotSupportedError(
                "weighting='repeat' is defined for rule='perceptron' without a penalty, got "
                f"rule={self.rule!r}, penalty={self.penalty!r}. Use weighting='scale'."
            )

    def _check_rate(self, kind: str) -> None:
        """Rates that fall from visit to visit."""
        if kind == "optimal" and self.rate and self.rate.alpha == 0:
            raise ParameterError(
                "alpha must be > 0 with learning_rate='optimal', which is computed from it; got 0. "
                "Use another alpha, or learning_rate='invscaling'."
            )
        if self.mode != "online":
            raise NotSupportedError(
                f"learning_rate={kind!r} counts visits to single rows, got mode={self.mode!r}, "
                "where eta0 may be a sequence or a function of the epoch. Use that, or "
                "mode='online'."
            )
        if self.weighting == "repeat":
            raise NotSupportedError(
                f"weighting='repeat' makes several visits at the same rate, got "
                f"learning_rate={kind!r}. Use weighting='scale' or learning_rate='constant'."
            )

    def _check_own_steps(self) -> None:
        """Rules that find the size of each step themselves."""
        name = self.rule.name
        if self.penalty:
            raise NotSupportedError(
                f"rule={name!r} has no penalty: what keeps its weights small is in its own "
                "parameters. Use penalty=None, or rule='perceptron' or 'margin'."
            )
        if self.mode != "online":
            raise NotSupportedError(
                f"rule={name!r} learns from one row at a time, got mode={self.mode!r}. Use "
                "mode='online', or rule='perceptron' or 'margin'."
            )
        if self.rate is not None:
            raise NotSupportedError(
                f"rule={name!r} finds the size of its steps itself, got "
                f"learning_rate={self.rate.kind!r}. Leave learning_rate out, or use "
                "rule='perceptron' or 'margin'."
            )
        if self.eta0 != 1.0:
            own = ", ".join(sorted(self.rule.get_params())) or "none"
            raise NotSupportedError(
                f"rule={name!r} finds the size of its steps itself, got eta0={self.eta0!r}. "
                f"Leave eta0 out. Parameters of the rule: {own}."
            )

        if self.rule.needs_all_rows and self.keep in ("vote", "pocket"):
            raise NotSupportedError(
                f"keep={self.keep!r} counts how long weights stay as they are, and rule={name!r} "
                "moves them at every step. Use keep='last', or 'average'."
            )

    def check_classes(self, n_classes: int) -> None:
        """Refuse what the direct multiclass rule does not support."""
        if not self.direct or n_classes <= 2:
            return
        if not self.rule.has_direct_form:
            raise NotSupportedError(
                f"rule={self.rule.name!r} is defined for two classes. Use multiclass='ovr', or "
                "another rule."
            )
        if self.tie in ("positive", "half"):
            raise NotSupportedError(
                f"tie={self.tie!r} is defined for two classes; the direct multiclass rule takes "
                "'mistake' or 'correct'. Or use multiclass='ovr'."
            )
        if self.rate:
            raise NotSupportedError(
                f"multiclass='direct' has one learning rate, got learning_rate={self.rate.kind!r}"
                ". Use learning_rate='constant' or multiclass='ovr'."
            )
        if self.penalty or self.mode != "online":
            raise NotSupportedError(
                "multiclass='direct' goes with mode='online' and penalty=None, got "
                f"mode={self.mode!r}, penalty={self.penalty!r}. Or use multiclass='ovr'."
            )

    def check_open_classes(self) -> None:
        """Refuse settings that depend on the order of the classes, before all are known."""
        if self.tie == "positive":
            raise ParameterError(
                "tie='positive' treats the two classes differently, so it must be known "
                "which is the second. Name all classes in a first call of partial_fit."
            )
        if not (isinstance(self.init, str) and self.init == "zero"):
            raise ParameterError(
                f"init={self.init!r} gives a start to the classes there are; a class that appears "
                "later starts from zero. Name all classes in a first call of partial_fit, or use "
                "init='zero'."
            )

    def check_weights(self, weight: npt.NDArray[np.float64] | None) -> None:
        """Refuse sample weights that the rule does not support."""
        refused = self.rule.weights_refused
        if refused and weight is not None and not np.isin(weight, (0, 1)).all():
            raise NotSupportedError(refused)

    def check_parts(self, who: str) -> None:
        """Refuse what needs all rows at once, where `who` sees a part at a time."""
        if self.rule.needs_all_rows:
            raise NotSupportedError(
                f"rule={self.rule.name!r} compares all rows at every step, and {who} sees a "
                "part at a time. Use Perceptron.fit, or rule='margin' or 'alma'."
            )
        if self.keep == "pocket":
            raise NotSupportedError(
                f"keep='pocket' needs the whole training set to compare weights, and {who} "
                "sees a part at a time. Use Perceptron.fit, or keep='average'."
            )

    def check_source(self, resident: bool) -> None:
        """Refuse what cannot be trained on rows that come in blocks."""
        if resident:
            return
        self.check_parts("a file or stream")
        if self.order != "order":
            raise NotSupportedError(
                f"order={self.order!r} draws from all rows, and a file or stream gives a part at a "
                "time. Shuffle its blocks with shuffle=True of fit_file or fit_stream."
            )
        if self.keep == "vote" or self.record:
            what = "keep='vote'" if self.keep == "vote" else "record='updates'"
            raise NotSupportedError(
                f"{what} notes the weights after every update, and a file or stream may have more "
                "features later. Use Perceptron.fit, or keep='average'."
            )

    def for_partial_fit(self, t: float) -> TrainingSettings:
        """One epoch from visit t on, and no stop test."""
        self.check_parts("partial_fit")
        rate = self.rate and replace(self.rate, t=t)
        return replace(self, max_iter=1, tol=None, clean=False, cycle=False, rate=rate)

    # ------------------------------------------------------------------ what follows

    @property
    def tau(self) -> float:
        """The margin up to which rows move the weights."""
        return self.rule.required_margin

    @property
    def only_updates_move(self) -> bool:
        """Whether an epoch without updates leaves the weights as they are for good."""
        return self.penalty is None

    @property
    def weights_can_return(self) -> bool:
        """Whether weights are the start plus eta times rows: without a penalty, a step
        size per row or visit, or state other than the weights."""
        steps = self.rule.has_rate or self.rule.needs_all_rows
        return self.penalty is None and self.rate is None and steps

    @property
    def adds_rows(self) -> bool:
        """Whether every update adds a multiple of its row, and nothing else moves the weights."""
        return self.penalty is None and self.rule.adds_rows

    @property
    def one_row_at_a_time(self) -> bool:
        """Whether a step looks at one row; otherwise the order of visits means nothing."""
        return self.mode == "online" and not self.rule.needs_all_rows

    @property
    def constant_eta(self) -> bool:
        return self.rate is None and isinstance(self.eta0, (int, float, np.number))

    @property
    def eta_per_epoch(self) -> bool:
        return not isinstance(self.eta0, (int, float, np.number))

    def etas(self, first: int, count: int) -> npt.NDArray[np.float64]:
        """The learning rates of epochs first, ..., first + count - 1 (from 1).

        A sequence that has run out keeps its last value.

        >>> TrainingSettings(eta0=lambda k: 1 / k, mode="batch").etas(1, 3)
        array([1.        , 0.5       , 0.33333333])
        """
        if callable(self.eta0):
            values = [_called(self.eta0, k) for k in range(first, first + count)]
        elif isinstance(self.eta0, (int, float, np.number)):
            values = [float(self.eta0)] * count
        else:
            given = [float(v) for v in self.eta0]
            values = [given[min(k, len(given)) - 1] for k in range(first, first + count)]
        for k, v in enumerate(values, start=first):
            if not (isinstance(v, (int, float, np.number)) and 0 < v < np.inf):
                raise ParameterError(f"eta0 must be > 0 and finite, got {v!r} for epoch {k}.")
        return np.array(values, dtype=np.float64)

    def core_rule(self, n_rows: int | None = None) -> Any:
        """The rule, penalty and rate as the core takes them."""
        eta = float(self.etas(1, 1)[0])
        rule = self.rule.in_core(eta, TIES[self.tie], self.fit_intercept, n_rows)
        if self.mode != "online":
            return _core.BatchRule(rule, [eta], self.mode == "batch-mean")
        if self.penalty is None and self.rate is None:
            return rule
        penalty, rate = self.penalty or Penalty(0.0, 0.0), self.rate
        return _core.ScaledRule(
            rule,
            penalty.alpha,
            penalty.l1_ratio,
            rate=RATES[rate.kind] if rate else 0,
            adaptive=rate is not None and rate.kind == "adaptive",
            power=rate.power_t if rate else 0.5,
            rate_alpha=rate.alpha if rate else 0.0,
            t0=rate.t0 if rate else 0.0,
            t=rate.t if rate else 1.0,
        )


def _called(eta0: Callable[[int], float], k: int) -> float:
    try:
        return eta0(k)
    except Exception as e:
        raise ParameterError(
            f"eta0, called with the epoch {k}, raised {type(e).__name__}: {e}. It must take "
            "one number and give one > 0."
        ) from e


def _eta(eta0: Any, mode: str, owner: str) -> Any:
    def step(v: Any) -> bool:
        return is_number(v) and 0 < float(v) < np.inf

    many = mode != "online" and isinstance(eta0, (Sequence, np.ndarray)) and len(eta0) > 0
    if step(eta0):
        return float(eta0)
    if mode != "online" and callable(eta0):
        return eta0
    if many and all(step(v) for v in eta0):
        return tuple(float(v) for v in eta0)
    words = "a finite number > 0"
    if mode != "online":
        words += ", a sequence of them, or a function of the epoch (from 1)"
    raise ParameterError(
        f"The 'eta0' parameter of {owner} must be {words} with mode={mode!r}. Got {eta0!r} instead."
    )


def split_params(params: dict[str, Any], name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters of an estimator itself, and those that `name__x` gives to its part `name`.

    >>> split_params({"eta0": 2.0, "rule__tau": 1.0}, "rule")
    ({'eta0': 2.0}, {'tau': 1.0})
    """
    prefix = f"{name}__"
    own = {k: v for k, v in params.items() if not k.startswith(prefix)}
    return own, {k.removeprefix(prefix): v for k, v in params.items() if k not in own}
