"""The bounds of a run: :mod:`.theorems` applied to its start, learning rate, rule and mode.

These decide which theorem holds and in which form; where none does, the reason takes the place of
the number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.cone import Cone, cone_of_arrays
from rosenblatt.data.problem import Problem
from rosenblatt.errors import UndecidedError
from rosenblatt.learn.run_context import RunContext
from rosenblatt.learn.trace import OneVsRestTrace, Trace
from rosenblatt.prove.bounds import theorems
from rosenblatt.prove.bounds.directions import good_directions, losses
from rosenblatt.prove.bounds.multinomial_rows import multinomial_rows, too_large
from rosenblatt.prove.bounds.result import NAMES, Bound, OneVsRestBounds, RunBounds
from rosenblatt.prove.certificate import Certificate
from rosenblatt.prove.certificate.margin import MaxMargin
from rosenblatt.prove.checker.norms import largest_square, sqrt_up
from rosenblatt.prove.checker.signs import Plane, least_scores
from rosenblatt.prove.limits import Limits
from rosenblatt.prove.margin import NotSeparableError, max_margin
from rosenblatt.text import plural

Array = npt.NDArray[Any]
Weights = tuple[Any, Any]


def run_bounds(
    problem: Problem,
    began: RunContext,
    trace: Trace | OneVsRestTrace,
    planes: Sequence[Weights],
    max_seconds: float | None = None,
) -> RunBounds | OneVsRestBounds:
    """The bounds of the run that `trace` tells of, on the rows it was trained on.

    `planes`: (coef, intercept) of hyperplanes the run came to, for Freund and Schapire's bound
    to begin its search with. `max_seconds` is for the margin and for that search, of each class.
    """

    def run(trace: Trace, cone: Cone, start: Weights) -> _Run:
        limits = Limits.starting_now(max_seconds, None)
        return _Run(began, trace, cone, _vector(*start, began.fit_intercept), limits)

    def vectors(k: int | slice) -> list[Array]:
        return [_vector(w[k], b[k], began.fit_intercept) for w, b in planes]

    if isinstance(trace, OneVsRestTrace):
        cones = (_cone(problem.versus_rest(k), began.fit_intercept) for k in range(len(trace)))
        each = tuple(
            run(trace[k], cone, began.starts[k]).bounds(vectors(k)) for k, cone in enumerate(cones)
        )
        return OneVsRestBounds(problem.classes, each)
    if not began.direct:
        cone = _cone(problem, began.fit_intercept)
        return run(trace, cone, began.starts[0]).bounds(vectors(0))
    if reason := too_large(problem):
        return run(trace, _cone(problem, False), began.starts[0]).none(reason)
    cone = cone_of_arrays(*multinomial_rows(problem, began.fit_intercept), constant=False)
    return run(trace, cone, began.starts[0]).bounds(vectors(slice(None)))


def _cone(problem: Problem, intercept: bool) -> Cone:
    return cone_of_arrays(problem.X, problem.y, problem.classes, intercept)


def _vector(w: Any, b: Any, intercept: bool) -> Array:
    """Weights and offset as one vector; of many classes one after the other."""
    rows = np.column_stack([np.atleast_2d(w), np.atleast_1d(b)]) if intercept else np.asarray(w)
    return np.asarray(rows, dtype=np.float64).ravel()


@dataclass
class _Run:
    """One run and its rows, in the terms of the theorems."""

    began: RunContext
    trace: Trace
    cone: Cone
    start: Array
    limits: Limits

    # ---------------------------------------------------------------- what it was

    @property
    def half(self) -> bool:
        """Whether half updates were made; the mean of a batch makes whole ones of them."""
        began = self.began
        return began.tie == "half" and not began.moves_at_margin and began.mode != "batch-mean"

    @property
    def counted(self) -> tuple[int, str]:
        if self.began.mode == "batch":
            return self.trace.n_mistakes, "mistakes"
        return self.trace.n_updates, "updates" if self.began.mode == "online" else "steps"

    @property
    def visits(self) -> int:
        return self.trace.n_epochs * self.trace.n_rows

    @property
    def words(self) -> str:
        began = self.began
        rule = f"margin rule, tau {began.tau:g}" if began.moves_at_margin else began.rule
        eta = "" if began.eta is None else f", eta {began.eta:g}"
        start = ", from w0 != 0" if self.start.any() else ""
        rows = f"{plural(self.trace.n_epochs, 'epoch')} over {self.trace.n_rows} rows"
        kind = ", Kesler's rows" if began.direct else ""
        return f"{rule}, {began.mode}, tie {began.tie}{eta}{start}{kind}: {rows}"

    def _formulas(self) -> tuple[str, str, str]:
        began = self.began
        plain = "n R^2" if began.mode == "batch" else "R^2"
        if began.tau:
            plain = f"({plain} + 2 tau/eta)"
        G = {"R^2": "R", "n R^2": "sqrt(n) R"}.get(plain, f"sqrt{plain}")
        some, twice = ("9/8 ", "2 (%s)") if self.half else ("", "%s")
        some = "" if self.start.any() else some
        end = " from w0" if self.start.any() else ""
        return (
            f"{some}{plain} / gamma^2{end}",
            f"{some}({G} + D)^2 / gamma^2{end}",
            f"{twice % f'L + {G} |v| sqrt(L) + {plain} |v|^2'}{end}",
        )

    # --------------------------------------------------------------- what it may do

    def why_none(self) -> str:
        """Why no theorem here holds for this run, or nothing."""
        began = self.began
        if not began.has_rate:
            page = "docs/how-to/rules.md"
            return f"rule {began.rule} has steps of its own; {page} says what it guarantees"
        if began.penalty:
            return "a penalty moves the weights at every visit"
        if began.eta is None:
            return "the learning rate changes during the run"
        if began.weights == "other":
            return (
                "weights of rows or classes make updates of different sizes (whole numbers with "
                "weighting='repeat' would not)"
            )
        if began.calls > 1:
            return f"the weights come from {began.calls} calls, perhaps with other rows"
        if not began.fit_intercept and any(b.any() for _, b in began.starts):
            return "it starts with an offset that is never trained"
        return ""

    def none(self, why: str, radius: float | None = None) -> RunBounds:
        """No number, but a reason."""
        pairs = zip(NAMES, self._formulas(), strict=True)
        return self._told(tuple(Bound(name, formula, None, why) for name, formula in pairs), radius)

    def _told(
        self,
        each: tuple[Bound, ...],
        radius: float | None,
        found: MaxMargin | None = None,
        certificate: Certificate | None = None,
    ) -> RunBounds:
        made, counted = self.counted
        return RunBounds(
            made=made,
            counted=counted,
            bounds=each,
            radius=radius,
            margin=found,
            certificate=certificate,
            mistakes=self.trace.n_mistakes,
            visits=self.visits,
            run=self.words,
        )

    def bounds(self, planes: Sequence[Array]) -> RunBounds:
        """All theorems that hold for it."""
        square = largest_square(self.cone) + int(self.cone.constant)
        radius = sqrt_up(square)
        why = self.why_none()
        if why:
            return self.none(why, radius)
        assert self.began.eta is not None
        self.eta = Fraction(self.began.eta)
        n = self.trace.n_rows if self.began.mode == "batch" else 1
        self.growth = n * square + 2 * Fraction(self.began.tau) / self.eta
        found, why = self._margin()
        first, second, third = self._formulas()
        each = (self._novikoff(first, found, why), *self._soft((second, third), planes))
        return self._told(
            each,
            radius,
            found if isinstance(found, MaxMargin) else None,
            found if isinstance(found, Certificate) else None,
        )

    def _margin(self) -> tuple[MaxMargin | Certificate | None, str]:
        """The largest margin, or the proof that none is positive; why there is no margin."""
        try:
            found = max_margin(
                self.cone,
                fit_intercept=self.cone.constant,
                augmented=True,
                max_seconds=self.limits.max_seconds,
            )
        except NotSeparableError as e:
            return e.certificate, f"no margin, the classes are {e.certificate.verdict}"
        except UndecidedError:
            return None, f"no margin was found within {self.limits.max_seconds:g} s"
        return found, "" if found.lower > 0 else "no margin, the classes are hard to tell apart"

    def _plane(self, v: Sequence[Any]) -> Plane:
        return Plane(v[:-1], v[-1]) if self.cone.constant else Plane(v, 0)

    def _start(self, v: Sequence[Any]) -> tuple[theorems.Start, Fraction]:
        """Where the run started along v, and growth ||v||^2."""
        exact, w0 = [Fraction(c) for c in v], [Fraction(c) for c in self.start.tolist()]
        square = sum((c * c for c in exact), Fraction(0))
        return theorems.start_along(exact, w0, self.eta), square * self.growth

    def _novikoff(self, formula: str, found: MaxMargin | Certificate | None, why: str) -> Bound:
        name = NAMES[0]
        if why or not isinstance(found, MaxMargin):
            return Bound(name, formula, None, why)
        v = [*found.w.tolist(), found.b] if self.cone.constant else found.w.tolist()
        (low,) = least_scores(self.cone, self._plane(v))
        start, growth = self._start(v)
        return Bound(name, formula, floor(theorems.novikoff(growth, low.value, start, self.half)))

    def _soft(self, formulas: tuple[str, str], planes: Sequence[Array]) -> tuple[Bound, Bound]:
        """Freund and Schapire's bound and the hinge form."""
        why = ""
        if self.began.mode == "batch-mean":
            why = "not for steps along the mean of many rows"
        elif self.began.weights != "none":
            why = "the weights say how often a row is visited, and are not remembered"
        elif self.began.shuffle == "sample" and self.began.mode == "online":
            why = "which rows were drawn is not remembered"
        if why:
            one, two = (
                Bound(name, f, None, why) for name, f in zip(NAMES[1:], formulas, strict=True)
            )
            return one, two
        passes = self.trace.n_epochs
        squares, hinges = [self.visits], [self.visits]  # an update a visit at most
        for v in good_directions(self.cone, self.growth, passes, planes, self.limits.deadline):
            found = losses(self.cone, self._plane(v.tolist()))
            if found is not None:
                loss, square = found
                start, growth = self._start(v.tolist())
                most = theorems.freund_schapire(growth, passes * square, start, self.half)
                squares.append(floor(most))
                hinges.append(floor(theorems.hinge(growth, passes * loss, start, self.half)))
        return (
            Bound(NAMES[1], formulas[0], min(squares)),
            Bound(NAMES[2], formulas[1], min(hinges)),
        )
