"""Machine: bind a rule, the arrays of a state and the stop tests to the compiled core."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt import _core
from rosenblatt.errors import NotSupportedError, ParameterError
from rosenblatt.learn.rules import ALMA, PA, Adaptive, Margin, MinOver, SecondOrder
from rosenblatt.learn.trace import StopReason
from rosenblatt.learn.update import Penalty, Update

Array = npt.NDArray[Any]
TIES = {"mistake": 0, "positive": 1, "correct": 2, "half": 3}
ORDERS = {"order": 0, "shuffle": 1, "sample": 2}
RATES = {"adaptive": 0, "optimal": 1, "invscaling": 2}
ADAPTIVE_KINDS = {"pa": 0, "pa1": 1, "pa2": 2, "arow": 3, "scw": 4, "sop": 5}
REASONS = {
    _core.Code.SEPARATED: StopReason.SEPARATED,
    _core.Code.CYCLE: StopReason.CYCLE,
    _core.Code.NO_IMPROVEMENT: StopReason.NO_IMPROVEMENT,
    _core.Code.FULL: StopReason.MAX_UPDATES,
}
MOST_COVARIANCE_BYTES = 2**31
GRAM_BYTES = 2**28  # columns of the Gram matrix that MinOver keeps
MOST_STEPS, MOST_MARGINS = 10_000, 10**8  # steps in an epoch of MinOver, and margins compared


def core_rows(X: Any) -> _core.Rows:
    """The rows of a validated matrix, dense or CSR, read in place."""
    if hasattr(X, "indptr"):
        return _core.Rows(X.data, X.indices, X.indptr, int(X.shape[1]))
    return _core.Rows(X)


def core_rule(update: Update, n_rows: int | None = None) -> Any:
    """The rule as the core takes it; `n_rows` is needed by MinOver only."""
    rule, tie = update.rule, TIES[update.tie]
    if isinstance(rule, Adaptive):
        values = rule.get_params()
        c, phi = values.get("C", values.get("r", 1.0)), getattr(rule, "phi", 0.0)
        full = isinstance(rule, SecondOrder) and rule.covariance == "full"
        return _core.AdaptiveRule(ADAPTIVE_KINDS[rule.name], float(c), float(phi), tie, full)
    if isinstance(rule, ALMA):
        return _core.AlmaRule(rule.bar, rule.step, tie, update.fit_intercept)
    if isinstance(rule, MinOver):
        assert n_rows is not None
        padded = -(-n_rows // 16) * 16
        steps = max(1, min(MOST_STEPS, MOST_MARGINS // n_rows))
        kept = max(1, min(n_rows, GRAM_BYTES // (8 * padded)))
        return _core.MinOverRule(float(rule.gap), steps, kept, tie, update.fit_intercept)
    eta = float(update.etas(1, 1)[0])
    margin = isinstance(rule, Margin)
    additive = _core.AdditiveRule(eta, update.tau, tie, margin, update.fit_intercept)
    if update.mode != "online":
        return _core.BatchRule(additive, [eta], update.mode == "batch-mean")
    if update.penalty is None and update.rate is None:
        return additive
    penalty, rate = update.penalty or Penalty(0.0, 0.0), update.rate
    return _core.ScaledRule(
        additive,
        penalty.alpha,
        penalty.l1_ratio,
        rate=RATES[rate.kind] if rate else 0,
        adaptive=rate is not None and rate.kind == "adaptive",
        power=rate.power_t if rate else 0.5,
        rate_alpha=rate.alpha if rate else 0.0,
        t0=rate.t0 if rate else 0.0,
        t=rate.t if rate else 1.0,
    )


def first_variances(rule: Adaptive, shape: tuple[int, ...], intercept: bool) -> Array:
    """S before any row, the offset first; for weights of that shape, one S per class."""
    width = shape[-1] + 1
    diagonal = np.full(width, 1.0 / float(getattr(rule, "a", 1.0)))
    diagonal[0] *= intercept
    one = diagonal
    if isinstance(rule, SecondOrder) and rule.covariance == "full":
        classes = 1 if len(shape) == 1 else shape[0]
        if 8 * classes * width**2 > MOST_COVARIANCE_BYTES:
            raise ParameterError(
                f"covariance='full' keeps {width:,} x {width:,} numbers"
                + (f" for each of {classes} classes" if classes > 1 else "")
                + f", more than {MOST_COVARIANCE_BYTES / 2**30:g} GiB. Use covariance='diagonal'."
            )
        one = np.diag(diagonal)
    return one.copy() if len(shape) == 1 else np.repeat(one[None], shape[0], axis=0)


def check_weights(update: Update, weight: Array | None) -> None:
    """Refuse weights of rows where the rule has no use for them."""
    if weight is None or np.isin(weight, (0, 1)).all():
        return
    if isinstance(update.rule, PA):
        raise NotSupportedError(
            "rule='pa' gives every row a margin of 1, so that the weight of a row or class can "
            "change nothing. Use rule='pa1' or 'pa2', where it multiplies C."
        )
    if isinstance(update.rule, MinOver):
        raise NotSupportedError(
            "rule='minover' looks for the largest margin, which the weight of a row or class does "
            "not change. Give weights of 1, or 0 to leave rows out."
        )
