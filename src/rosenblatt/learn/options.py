"""Options: what a user may ask of a training run, checked before any work is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from rosenblatt.errors import NotSupportedError, ParameterError
from rosenblatt.learn.keep import Keep
from rosenblatt.learn.rules import ALMA, MinOver, Rosenblatt, resolve
from rosenblatt.learn.schedule import Schedule
from rosenblatt.learn.training import NO_LIMIT, Stop
from rosenblatt.learn.update import Penalty, Rate, Update

Check = tuple[Callable[[Any], bool], str]


def _is_number(v: Any, kind: Any = Real) -> bool:
    return isinstance(v, kind) and not isinstance(v, (bool, np.bool_))


def _choice(*names: Any) -> Check:
    """One of some words, flags or None; 1 is not taken for True."""

    def test(v: Any) -> bool:
        if isinstance(v, (bool, np.bool_)):
            v = bool(v)
        return any(type(v) is type(n) and v == n for n in names)

    return test, f"one of {', '.join(map(repr, names))}"


def _whole(low: int, optional: bool = False) -> Check:
    def test(v: Any) -> bool:
        return (optional and v is None) or (_is_number(v, Integral) and bool(v >= low))

    return test, f"a whole number >= {low}" + (" or None" if optional else "")


def _number(inside: Callable[[float], bool], words: str, optional: bool = False) -> Check:
    def test(v: Any) -> bool:
        return (optional and v is None) or (_is_number(v) and inside(float(v)))

    return test, words + (" or None" if optional else "")


def _flag() -> Check:
    return (lambda v: isinstance(v, (bool, np.bool_))), "True or False"


CHECKS: dict[str, Check] = {
    "penalty": _choice(None, "l2", "l1", "elasticnet"),
    "alpha": _number(lambda v: 0 <= v < np.inf, "a finite number >= 0"),
    "l1_ratio": _number(lambda v: 0 <= v <= 1, "a number from 0 to 1"),
    "learning_rate": _choice("constant", "optimal", "invscaling", "adaptive"),
    "power_t": _number(lambda v: 0 <= v < np.inf, "a finite number >= 0"),
    "fit_intercept": _flag(),
    "max_iter": _whole(1),
    "tol": _number(lambda v: 0 <= v < np.inf, "a finite number >= 0", optional=True),
    "shuffle": _choice(True, False, "sample"),
    "verbose": (
        lambda v: isinstance(v, (Integral, bool, np.bool_)) and int(v) >= 0,
        "True, False or a whole number >= 0",
    ),
    "n_jobs": (
        lambda v: v is None or (_is_number(v, Integral) and int(v) != 0),
        "a whole number other than 0, or None",
    ),
    "random_state": (
        lambda v: (
            v is None
            or v is np.random
            or isinstance(v, np.random.RandomState)
            or (_is_number(v, Integral) and 0 <= int(v) < 2**32)
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
    "keep": _choice("last", "average", "vote", "pocket"),
    "mode": _choice("online", "batch", "batch-mean"),
    "tie": _choice("mistake", "positive", "correct", "half"),
    "weighting": _choice("scale", "repeat"),
    "multiclass": _choice("ovr", "direct"),
    "max_updates": _whole(1, optional=True),
    "record": _choice(None, "updates"),
}


@dataclass(frozen=True)
class Options:
    """A checked set of choices, as the rooms want them."""

    update: Update
    keep: Keep
    stop: Stop
    init: Any
    shuffle: bool | str
    direct: bool
    record: bool

    @classmethod
    def of(cls, params: Mapping[str, Any], owner: str = "Perceptron") -> Options:
        """Check raw parameters, alone and together."""
        for name, (test, words) in CHECKS.items():
            if not test(params[name]):
                raise ParameterError(
                    f"The {name!r} parameter of {owner} must be {words}. Got {params[name]!r} "
                    "instead."
                )
        if isinstance(params["init"], str) and params["init"] not in ("zero", "random"):
            raise ParameterError(
                f"The 'init' parameter of {owner} must be 'zero', 'random' or an array of the "
                f"shape of coef_. Got {params['init']!r} instead."
            )
        ratios = {"l2": 0.0, "l1": 1.0, "elasticnet": params["l1_ratio"]}
        penalty = params["penalty"] and Penalty(
            float(params["alpha"]), float(ratios[params["penalty"]])
        )
        rate = None
        if params["learning_rate"] != "constant":
            rate = Rate(params["learning_rate"], float(params["alpha"]), float(params["power_t"]))
        update = Update(
            rule=resolve(params["rule"]),
            tie=params["tie"],
            eta0=_eta(params["eta0"], params["mode"], owner),
            mode=params["mode"],
            weighting=params["weighting"],
            penalty=penalty or None,
            fit_intercept=bool(params["fit_intercept"]),
            rate=rate,
        )
        stop = Stop(
            max_iter=int(params["max_iter"]),
            max_updates=params["max_updates"] and min(int(params["max_updates"]), NO_LIMIT),
            tol=None if params["tol"] is None else float(params["tol"]),
            patience=min(int(params["n_iter_no_change"]), NO_LIMIT),
        )
        options = cls(
            update,
            params["keep"],
            stop,
            params["init"],
            params["shuffle"] if isinstance(params["shuffle"], str) else bool(params["shuffle"]),
            params["multiclass"] == "direct",
            params["record"] == "updates",
        )
        options._check_together()
        return options

    def _check_together(self) -> None:
        update = self.update
        plain = isinstance(update.rule, Rosenblatt)
        if not update.rule.has_rate:
            self._check_own_steps()
        if update.penalty and self.keep in ("vote", "pocket"):
            raise NotSupportedError(
                f"keep={self.keep!r} counts how long weights stay as they are, and a penalty moves "
                "them at every visit. Use keep='last' or 'average', or penalty=None."
            )
        if update.penalty and update.mode != "online":
            raise NotSupportedError(
                f"mode={update.mode!r} has no penalty. Use mode='online' or penalty=None."
            )
        if update.rate is not None:
            self._check_rate(update.rate.kind)
        if update.weighting == "repeat" and not (plain and update.penalty is None):
            raise NotSupportedError(
                "weighting='repeat' is defined for rule='perceptron' without a penalty, got "
                f"rule={update.rule!r}, penalty={update.penalty!r}. Use weighting='scale'."
            )

    def _check_rate(self, kind: str) -> None:
        """Rates that fall from visit to visit."""
        update = self.update
        if kind == "optimal" and update.rate and update.rate.alpha == 0:
            raise ParameterError(
                "alpha must be > 0 with learning_rate='optimal', which is computed from it; got 0. "
                "Use another alpha, or learning_rate='invscaling'."
            )
        if update.mode != "online":
            raise NotSupportedError(
                f"learning_rate={kind!r} counts visits to single rows, got mode={update.mode!r}, "
                "where eta0 may be a sequence or a function of the pass number. Use that, or "
                "mode='online'."
            )
        if update.weighting == "repeat":
            raise NotSupportedError(
                f"weighting='repeat' makes several visits of one, all with the same rate, got "
                f"learning_rate={kind!r}. Use weighting='scale' or learning_rate='constant'."
            )

    def _check_own_steps(self) -> None:
        """Rules that find the size of each step themselves."""
        update, name = self.update, self.update.rule.name
        if update.penalty:
            raise NotSupportedError(
                f"rule={name!r} has no penalty: what keeps its weights small is in its own "
                "parameters. Use penalty=None, or rule='perceptron' or 'margin'."
            )
        if update.mode != "online":
            raise NotSupportedError(
                f"rule={name!r} learns from one row at a time, got mode={update.mode!r}. Use "
                "mode='online', or rule='perceptron' or 'margin'."
            )
        if update.rate is not None:
            raise NotSupportedError(
                f"rule={name!r} finds the size of its steps itself, got "
                f"learning_rate={update.rate.kind!r}. Leave learning_rate out, or use "
                "rule='perceptron' or 'margin'."
            )
        if update.eta0 != 1.0:
            raise NotSupportedError(
                f"rule={name!r} finds the size of its steps itself, got eta0={update.eta0!r}. "
                f"Leave eta0 out; it has the parameters {sorted(update.rule.get_params())}."
            )

        if isinstance(update.rule, MinOver) and self.keep in ("vote", "pocket"):
            raise NotSupportedError(
                f"keep={self.keep!r} counts how long weights stay as they are, and rule='minover' "
                "moves them at every step. Use keep='last', or 'average'."
            )

    def check_for(self, n_classes: int) -> None:
        """What the direct multiclass rule cannot be combined with."""
        update = self.update
        if not self.direct or n_classes <= 2:
            return
        if isinstance(update.rule, (ALMA, MinOver)):
            raise NotSupportedError(
                f"rule={update.rule.name!r} is defined for two classes. Use multiclass='ovr', or "
                "another rule."
            )
        if update.tie in ("positive", "half"):
            raise NotSupportedError(
                f"tie={update.tie!r} is defined for two classes; the direct multiclass rule takes "
                "'mistake' or 'correct'. Or use multiclass='ovr'."
            )
        if update.rate:
            raise NotSupportedError(
                f"multiclass='direct' has one learning rate, got learning_rate={update.rate.kind!r}"
                ". Use learning_rate='constant' or multiclass='ovr'."
            )
        if update.penalty or update.mode != "online":
            raise NotSupportedError(
                "multiclass='direct' goes with mode='online' and penalty=None, got "
                f"mode={update.mode!r}, penalty={update.penalty!r}. Or use multiclass='ovr'."
            )

    def check_open_ended(self, open_ended: bool) -> None:
        """Which of two classes is the second can only be left open if it does not matter."""
        if open_ended and self.update.tie == "positive":
            raise ParameterError(
                "tie='positive' treats the two classes differently, so partial_fit must know "
                "which is the second. Name all classes on the first call."
            )
        if open_ended and not (isinstance(self.init, str) and self.init == "zero"):
            raise ParameterError(
                f"init={self.init!r} gives a start to the classes there are; a class that appears "
                "later starts from zero. Name all classes on the first call, or use init='zero'."
            )

    def once(self, t: float) -> Options:
        """One pass from visit t on and no other test: what partial_fit does."""
        if isinstance(self.update.rule, MinOver):
            raise NotSupportedError(
                "rule='minover' compares all rows at every step, and partial_fit sees a part at a "
                "time. Use fit, or rule='margin' or 'alma'."
            )
        if self.keep == "pocket":
            raise NotSupportedError(
                "keep='pocket' needs the whole training set to compare weights, and partial_fit "
                "sees a part at a time. Use fit, or keep='average'."
            )
        stop = replace(self.stop, max_iter=1, tol=None, clean=False, cycle=False)
        update = self.update
        rate = update.rate and replace(update.rate, t=t)
        return replace(self, stop=stop, update=replace(update, rate=rate))

    def schedule(self, seed: int) -> Schedule:
        """The order of visits from one seed."""
        if self.shuffle == "sample":
            return Schedule("sample", seed)
        return Schedule("shuffle" if self.shuffle else "order", seed)


def _eta(eta0: Any, mode: str, owner: str) -> Any:
    def step(v: Any) -> bool:
        return _is_number(v) and 0 < float(v) < np.inf

    many = mode != "online" and isinstance(eta0, (Sequence, np.ndarray)) and len(eta0) > 0
    if step(eta0):
        return float(eta0)
    if mode != "online" and callable(eta0):
        return eta0
    if many and all(step(v) for v in eta0):
        return tuple(float(v) for v in eta0)
    words = "a finite number > 0"
    if mode != "online":
        words += ", a sequence of them, or a function of the pass number (from 1)"
    raise ParameterError(
        f"The 'eta0' parameter of {owner} must be {words} with mode={mode!r}. Got {eta0!r} instead."
    )


def apart(params: dict[str, Any], name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters of an estimator itself, and those that `name__x` gives to its part `name`.

    >>> apart({"eta0": 2.0, "rule__tau": 1.0}, "rule")
    ({'eta0': 2.0}, {'tau': 1.0})
    """
    prefix = f"{name}__"
    own = {k: v for k, v in params.items() if not k.startswith(prefix)}
    return own, {k.removeprefix(prefix): v for k, v in params.items() if k not in own}
