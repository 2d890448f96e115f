"""Prepared: a rule as the compiled loops want it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import NotSupportedError, ParameterError
from rosenblatt.learn import kernels
from rosenblatt.learn.keep import State
from rosenblatt.learn.rules import ALMA, PA, Adaptive, Margin, MinOver, SecondOrder
from rosenblatt.learn.trace import MarginInterval
from rosenblatt.learn.update import Penalty, Update

if TYPE_CHECKING:  # scipy.sparse comes with it, which a command on a file can do without
    from rosenblatt.data.problem import Problem

Array = npt.NDArray[Any]
MOST_BYTES = 2**31  # of a full covariance
COLUMN_BYTES = 2**28  # of the products with single rows that minover keeps
MOST_STEPS, MOST_MARGINS = 10_000, 10**8  # steps in a pass of minover, and margins compared
LEAST_ETA = 1e-6  # an adaptive rate this small is not lowered
KINDS = {
    "pa": kernels.PA,
    "pa1": kernels.PA1,
    "pa2": kernels.PA2,
    "arow": kernels.AROW,
    "scw": kernels.SCW,
    "sop": kernels.SOP,
}


class Prepared:
    """Makes the tuple for each call of the loops, and keeps what the rule remembers between."""

    def __init__(self, update: Update, problem: Problem, state: State) -> None:
        self.update, self.problem, self.state = update, problem, state
        self.direct = state.w.ndim == 2
        self.owing: tuple[Array, ...] | None = None  # what an L1 penalty remembers
        self.eta = 0.0
        rule, weight = update.rule, problem.sample_weight
        if isinstance(rule, PA) and weight is not None and not np.isin(weight, (0, 1)).all():
            raise NotSupportedError(
                "rule='pa' gives every row a margin of 1, so that the weight of a row or class can "
                "change nothing. Use rule='pa1' or 'pa2', where it multiplies C."
            )
        if isinstance(rule, Adaptive):
            if state.spread.size == 0:
                state.spread = first_spread(rule, state.w.shape, update.fit_intercept)
            self.work = np.zeros((*state.w.shape[:-1], state.w.shape[-1] + 1))
        elif isinstance(rule, ALMA):
            self.theta = before_link(state.w, state.b, rule.p)
        elif isinstance(rule, MinOver):
            self.minover = stability(rule, update, problem, state)

    def margin(self) -> MarginInterval | None:
        """What a run of minover has proven about the largest margin so far."""
        if not isinstance(self.update.rule, MinOver):
            return None
        state = self.minover.state
        lower, upper = float(state[kernels.LOWER]), float(state[kernels.UPPER])
        return MarginInterval(lower, upper, self.update.fit_intercept)

    def rule(self, first: int, n: int) -> Any:
        """For passes first, ..., first + n - 1 (from 1)."""
        u = self.update
        if isinstance(u.rule, Adaptive):
            kind = kernels.DirectAdaptive if self.direct else kernels.Adaptive
            return kind(*_adaptive(u), self.state.spread, self.work)
        if isinstance(u.rule, ALMA):
            return kernels.Alma(
                u.rule.bar, u.rule.step, float(u.rule.p), kernels.TIES[u.tie], u.fit_intercept,
                self.theta, np.zeros(4),
            )  # fmt: skip
        if isinstance(u.rule, MinOver):
            return self.minover
        common = (u.tau, kernels.TIES[u.tie], isinstance(u.rule, Margin), u.fit_intercept)
        if u.mode != "online":
            return kernels.Batch(u.etas(first, n), *common, u.mode == "batch-mean")
        eta = float(u.etas(1, 1)[0])
        if u.penalty is not None or u.rate is not None:
            return self._penalised(eta, common)
        repeat = u.weighting == "repeat" and self.problem.sample_weight is not None
        return (kernels.Direct if self.direct else kernels.Online)(eta, *common, repeat)

    def _penalised(self, eta: float, common: tuple[float, int, bool, bool]) -> Any:
        penalty, rate = self.update.penalty or Penalty(0.0, 0.0), self.update.rate
        alpha, ratio = penalty.alpha, penalty.l1_ratio
        if self.owing is None:
            d, n = self.state.w.size, self.problem.n_rows + 1
            lazy = ratio * alpha > 0 and hasattr(self.problem.X, "indptr")
            d_lazy, n_lazy = (d, n) if lazy else (0, 0)
            sums = (np.zeros(n_lazy) for _ in range(5))
            self.owing = (
                np.zeros(d),
                np.array([0.0, np.nan, np.nan, rate.t if rate else 1.0]),
                np.zeros(d_lazy, dtype=np.int64),
                *sums,
            )
            self.eta = eta
        falling = kernels.Rate(kernels.STEADY, self.eta, 0.0, 0.0, 0.0)
        if rate is not None:
            kind = kernels.RATES[rate.kind]
            falling = kernels.Rate(kind, self.eta, rate.power_t, rate.alpha, rate.t0)
        return kernels.Penalised(falling, *common, alpha, ratio, *self.owing)

    def slower(self) -> bool:
        """Where the rate is adaptive and not yet small: go on with a fifth of it."""
        rate = self.update.rate
        if rate is None or rate.kind != "adaptive" or self.eta <= LEAST_ETA:
            return False
        self.eta /= 5
        return True


def stream_rule(update: Update) -> Any:
    """For rows that come in pieces, whose hyperplanes keep their own variances."""
    if isinstance(update.rule, Adaptive):
        return kernels.Adaptive(*_adaptive(update), np.empty(0), np.empty(0))
    return kernels.Online(
        float(update.etas(1, 1)[0]), update.tau, kernels.TIES[update.tie],
        isinstance(update.rule, Margin), update.fit_intercept, False,
    )  # fmt: skip


def _adaptive(update: Update) -> tuple[int, float, float, int, bool]:
    """What a step depends on but for the row and S."""
    values = update.rule.get_params()
    c, phi = values.get("C", values.get("r", 1.0)), getattr(update.rule, "phi", 0.0)
    kind = KINDS[update.rule.name]
    return kind, float(c), float(phi), kernels.TIES[update.tie], update.fit_intercept


def first_spread(rule: Adaptive, shape: tuple[int, ...], intercept: bool) -> Array:
    """S before any row, the offset first; for weights of that shape, one S for each class."""
    width = shape[-1] + 1
    diagonal = np.full(width, 1.0 / float(getattr(rule, "a", 1.0)))
    diagonal[0] *= intercept
    one = diagonal
    if isinstance(rule, SecondOrder) and rule.covariance == "full":
        classes = 1 if len(shape) == 1 else shape[0]
        if 8 * classes * width**2 > MOST_BYTES:
            raise ParameterError(
                f"covariance='full' keeps {width:,} x {width:,} numbers"
                + (f" for each of {classes} classes" if classes > 1 else "")
                + f", more than {MOST_BYTES / 2**30:g} GiB. Use covariance='diagonal'."
            )
        one = np.diag(diagonal)
    return one.copy() if len(shape) == 1 else np.repeat(one[None], shape[0], axis=0)


def stability(rule: MinOver, update: Update, problem: Problem, state: State) -> kernels.MinOver:
    """What minover works with; it starts from w = 0, on rows that all count the same."""
    weight, (n, d) = problem.sample_weight, problem.X.shape
    if weight is not None and not np.isin(weight, (0, 1)).all():
        raise NotSupportedError(
            "rule='minover' looks for the largest margin, which the weight of a row or class does "
            "not change. Give weights of 1, or 0 to leave rows out."
        )
    if state.w.any() or state.b.any() or state.visits:
        raise NotSupportedError(
            "rule='minover' starts from w = 0: its bound on the largest margin counts steps from "
            "there. Use init='zero' and warm_start=False, without coef_init and intercept_init."
        )
    wide = -(-n // kernels.BLOCK_OF_MARGINS) * kernels.BLOCK_OF_MARGINS
    kept = max(1, min(n, COLUMN_BYTES // (8 * wide)))
    return kernels.MinOver(
        0.0, kernels.TIES[update.tie], False, update.fit_intercept, float(rule.gap),
        max(1, min(MOST_STEPS, MOST_MARGINS // n)),
        np.zeros(n, np.int64), np.zeros(n), np.full(wide, np.inf), np.zeros(kept * wide),
        np.full(n, -1), np.full(kept, -1), np.zeros(kept, np.bool_), np.zeros(d), np.zeros(8),
    )  # fmt: skip


def before_link(w: Array, b: Array, p: float) -> Array:
    """The theta of which w and b are the image, see kernels/alma.py: f itself, the inverse link."""
    whole = np.append(w.astype(np.float64), float(b[0]))
    if p == 2:
        return whole
    q = p / (p - 1)
    size = float((np.abs(whole) ** q).sum() ** (1 / q))
    if size == 0:
        return whole
    theta: Array = np.sign(whole) * np.abs(whole) ** (q - 1) / size ** (q - 2)
    return theta
