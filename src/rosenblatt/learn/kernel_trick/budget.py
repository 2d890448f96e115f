"""Budget: how a kernel perceptron stays within bounded memory.

A budget is a small frozen object with its own parameters; `resolve` accepts the object, its
name, or None for no budget.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from rosenblatt.errors import ParameterError


def _is_number(v: Any, kind: Any) -> bool:
    return isinstance(v, kind) and not isinstance(v, (bool, np.bool_))


@dataclass(frozen=True)
class Budget:
    """What every budget has: a name, and at most `size` support rows."""

    size: int = 1000
    name: ClassVar[str]

    def __post_init__(self) -> None:
        if not (_is_number(self.size, Integral) and self.size >= 1):
            raise ParameterError(
                f"size must be a whole number >= 1, got {self.size!r}. It is the most support "
                "rows that are kept."
            )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, as scikit-learn asks for them (`budget__size`)."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def with_params(self, **params: Any) -> Budget:
        """A copy with some parameters changed; budgets never change in place."""
        unknown = set(params) - {f.name for f in fields(self)}
        if unknown:
            raise ParameterError(
                f"budget {self.name!r} has no parameter {sorted(unknown)}; it has "
                f"{[f.name for f in fields(self)]}."
            )
        return replace(self, **params)


@dataclass(frozen=True)
class RandomBudget(Budget):
    """The randomised budget perceptron: a full store drops a random support row for the new one.

    Source: Cavallanti, Cesa-Bianchi, Gentile 2007. All classes lose the dropped row at once.

    Examples
    --------
    >>> RandomBudget(size=500).get_params()
    {'size': 500}
    """

    name: ClassVar[str] = "random"


@dataclass(frozen=True)
class Projectron(Budget):
    """The Projectron: a row that the store nearly spans is projected onto it, not added.

    With d = G^-1 k, G the Gram matrix of the store and k its kernel values with x, the part of
    phi(x) outside the span has the squared length K(x, x) - k.d. If that is at most eta^2, the
    update goes to the coefficients as y d, else x joins the store. A full store is projected
    onto whatever the distance. Source: Orabona, Keshet, Caputo 2008.

    With eta=0 and room enough, it is the perceptron itself with fewer support rows. A row whose
    squared distance is below about 1e-8 K(x, x) (float32: 3e-4) counts as spanned: dividing by
    it would only spread rounding errors.

    Parameters
    ----------
    size : int, default=1000
        The most support rows. The inverse Gram matrix has size^2 numbers.
    eta : float, default=0.1
        How far from the span a row may lie, in feature space, and still be projected.

    Examples
    --------
    >>> Projectron(size=500).get_params()
    {'size': 500, 'eta': 0.1}
    """

    eta: float = 0.1
    name: ClassVar[str] = "projectron"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (_is_number(self.eta, Real) and 0 <= self.eta < np.inf):
            raise ParameterError(f"eta must be a finite number >= 0, got {self.eta!r}.")


BUDGETS: dict[str, type[Budget]] = {b.name: b for b in (RandomBudget, Projectron)}


def resolve(budget: Any) -> Budget | None:
    """The budget that a name or an object stands for.

    >>> resolve("random")
    RandomBudget(size=1000)
    """
    if budget is None or isinstance(budget, (RandomBudget, Projectron)):
        return budget
    if isinstance(budget, str) and budget in BUDGETS:
        return BUDGETS[budget]()
    raise ParameterError(
        f"budget must be None, one of {sorted(BUDGETS)} or an object such as "
        f"RandomBudget(size=1000), got {budget!r}."
    )
