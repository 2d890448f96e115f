"""Run context: the start and settings of a run, as far as bounds on its mistakes depend on them."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rosenblatt.data.problem import Problem
from rosenblatt.learn.settings import TrainingSettings

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class RunContext:
    """The start and the settings of a run, as plain values.

    Attributes
    ----------
    starts : tuple of (w, b)
        Where each hyperplane started; for the direct rule one pair with a row per class.
    mode, tie, tau, fit_intercept, penalty, direct : as the estimator had them
    rule, has_rate : the rule as a string, and whether it uses the learning rate
    eta : float or None
        The learning rate; None if it changes from epoch to epoch or visit to visit.
    shuffle : str
        "order", "shuffle" or "sample".
    weights : str
        "none": every row counts 1. "visits": whole numbers of visits. "other".
    n_rows : int
        Rows of the first call, those held out counted.
    fingerprint : int
        Checksum of its labels and some of its rows, to detect other data later.
    calls : int
        1, or the number of `partial_fit` calls that led here, an earlier `fit` counted.
    """

    starts: tuple[tuple[Array, Array], ...]
    mode: str
    tie: str
    tau: float
    moves_at_margin: bool
    rule: str
    has_rate: bool
    fit_intercept: bool
    penalty: bool
    direct: bool
    eta: float | None
    shuffle: str
    weights: str
    n_rows: int
    fingerprint: int
    calls: int = 1

    @classmethod
    def of(
        cls,
        problem: Problem,
        starts: Sequence[tuple[Array, Array]],
        settings: TrainingSettings,
        class_weight: Array | None = None,
    ) -> RunContext:
        """Before the first visit; `starts` has (w, b) of each hyperplane."""
        repeat = settings.weighting == "repeat" and settings.mode == "online"
        return cls(
            starts=tuple((w.copy(), b.copy()) for w, b in starts),
            mode=settings.mode,
            tie=settings.tie,
            tau=settings.rule.required_margin,
            moves_at_margin=settings.rule.moves_at_margin,
            rule=str(settings.rule),
            has_rate=settings.rule.has_rate,
            fit_intercept=settings.fit_intercept,
            penalty=settings.penalty is not None,
            direct=starts[0][0].ndim == 2,
            eta=float(settings.etas(1, 1)[0]) if settings.constant_eta else None,
            shuffle=settings.order,
            weights=_kind_of_weights((problem.sample_weight, class_weight), repeat),
            n_rows=problem.n_rows,
            fingerprint=fingerprint(problem),
        )

    def again(self) -> RunContext:
        """After one more call."""
        return replace(self, calls=self.calls + 1)


def fingerprint(problem: Problem) -> int:
    """A checksum of the labels and of about a hundred rows, spread over all; not a proof."""
    some = problem.X[:: max(1, problem.n_rows // 100)]
    values = some.data if sp.issparse(some) else some
    total = zlib.crc32(np.ascontiguousarray(problem.y).data.cast("B"))
    return zlib.crc32(np.ascontiguousarray(values, dtype=np.float64).data.cast("B"), total)


def _kind_of_weights(weights: tuple[Array | None, ...], repeat: bool) -> str:
    given = [w for w in weights if w is not None]
    if all((w == 1).all() for w in given):
        return "none"
    return "visits" if repeat and all((w == np.floor(w)).all() for w in given) else "other"
