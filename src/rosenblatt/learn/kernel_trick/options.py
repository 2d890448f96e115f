"""Options: what a user may ask of a kernel perceptron, checked before any work is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import NotSupportedError, ParameterError
from rosenblatt.learn import options
from rosenblatt.learn.kernel_trick.budget import Budget, Projectron, resolve
from rosenblatt.learn.kernel_trick.machine import Stop, in_order, shuffled
from rosenblatt.learn.schedule import seeds_and_split

Array = npt.NDArray[Any]

SHARED = ("max_iter", "tol", "n_iter_no_change", "random_state", "verbose")
KEPT = ("last", "average", "vote")


@dataclass(frozen=True)
class KernelOptions:
    """A checked set of choices; the kernel itself also depends on the rows."""

    keep: str
    budget: Budget | None
    stop: Stop
    shuffle: bool

    @classmethod
    def of(cls, params: Mapping[str, Any], owner: str = "KernelPerceptron") -> KernelOptions:
        """Check raw parameters, alone and together."""
        checks = {name: options.CHECKS[name] for name in SHARED}
        checks["keep"] = (lambda v: isinstance(v, str) and v in KEPT), f"one of {KEPT}"
        checks["shuffle"] = (lambda v: isinstance(v, (bool, np.bool_))), "True or False"
        for name, (test, words) in checks.items():
            if not test(params[name]):
                raise ParameterError(
                    f"The {name!r} parameter of {owner} must be {words}. Got {params[name]!r} "
                    "instead."
                )
        tol = params["tol"]
        stop = Stop(
            int(params["max_iter"]),
            None if tol is None else float(tol),
            int(params["n_iter_no_change"]),
        )
        found = cls(params["keep"], resolve(params["budget"]), stop, bool(params["shuffle"]))
        found._check_together()
        return found

    def _check_together(self) -> None:
        """What was dropped cannot be asked again: a budget limits what can be kept."""
        if self.budget is None or self.keep == "last":
            return
        if self.keep == "average" and isinstance(self.budget, Projectron):
            return
        raise NotSupportedError(
            f"keep={self.keep!r} needs every support row there ever was, and {self.budget!r} does "
            "not hold them. Use keep='last', budget=None, or keep='average' with a Projectron."
        )

    def once(self) -> KernelOptions:
        """One pass and no other test: what partial_fit does."""
        return replace(self, stop=Stop(max_iter=1, tol=None, clean=False))

    def passes(self, n_rows: int, random_state: Any) -> tuple[Iterator[Array], int]:
        """The order of visits, the one of `Perceptron` for two classes; and the seed of it."""
        (seed,), _ = seeds_and_split(random_state, 1, lambda: None)
        return (shuffled(n_rows, seed) if self.shuffle else in_order(n_rows)), seed
