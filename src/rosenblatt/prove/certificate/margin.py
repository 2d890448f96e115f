"""MaxMargin: a hyperplane and the interval of the largest margin, with what proves both bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

import numpy.typing as npt

from rosenblatt.data.cone import Cone
from rosenblatt.prove.certificate.base import Combination, DataResult
from rosenblatt.prove.certificate.codec import kind_of_result
from rosenblatt.prove.checker.margin import margin_problems
from rosenblatt.text import plural

Number = float | Fraction


@kind_of_result("margin")
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MaxMargin(DataResult):
    """A hyperplane (w, b) and an interval that contains its margin and the largest margin.

    Attributes
    ----------
    w : array
        The weights. ||w|| is 1 up to rounding (||(w, b)|| if augmented). They are Fractions if no
        hyperplane of floats that was tried has the margin to within `rtol`.
    b : float or Fraction
        The offset.
    lower, upper : float
        The margin of (w, b) is at least `lower`; no hyperplane has more than `upper`. Rounded
        down and up, from exact sums.
    proof : Combination
        Rows and positive weights that prove `upper`: the weights sum to 1, or to 1 in each class
        where the offset is free, and no margin is larger than the norm of sum_i weight_i z_i (half
        of it where the offset is free).
    square : Fraction or None
        The largest margin squared, if it is known exactly.
    augmented : bool
        Whether the offset is counted in the norm.
    rtol : float
        How close the bounds were meant to be, relatively.

    Examples
    --------
    >>> from rosenblatt import max_margin
    >>> found = max_margin([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]], [0, 0, 1, 1])
    >>> found.w, found.b, found.lower <= 1 <= found.upper
    (array([1., 0.]), -1.0, True)
    """

    _not_checked = ("rtol",)

    w: npt.NDArray[Any]
    b: Number
    lower: float
    upper: float
    augmented: bool
    rtol: float
    square: Fraction | None = None
    proof: Combination

    @property
    def support(self) -> tuple[int, ...]:
        """The rows that hold the hyperplane in its place."""
        return self.proof.rows

    @property
    def closed(self) -> bool:
        """Whether the interval is as narrow as `rtol`, or the largest margin is known exactly."""
        if self.square is not None:
            return True
        near = self.upper - self.lower <= self.rtol * self.upper
        return self.lower > 0 and self.upper < math.inf and near

    def _checked(self, cone: Cone) -> tuple[list[str], str]:
        return margin_problems(self, cone)

    def __str__(self) -> str:
        inside = " (offset counted in the norm)" if self.augmented else ""
        if self.square is not None and self.upper < math.inf:
            known = f"largest margin {self.upper:.9g}, known exactly up to a root"
        else:
            known = f"largest margin between {self.lower:.9g} and {self.upper:.9g}"
        end = "" if self.closed else "; the interval did not close, nothing more is known"
        return f"{known}{inside}, held by {plural(len(self.support), 'row')}{end}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"
