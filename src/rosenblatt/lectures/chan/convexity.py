"""chan, second part: the soft loss is convex, and what follows from that."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.taught import two_clouds
from rosenblatt.lectures.lecture import Given, Note, Picture, Section, Slip, Table
from rosenblatt.theory import losses

Array = npt.NDArray[Any]
HEADING = "Convexity of Perceptron (Soft) Loss"


def affine(_: Given) -> Section:
    """y_n g(x_n) = a.theta with a = (y_n x_n, y_n)."""
    X, y = two_clouds(20, apart=2.0)
    theta = np.array([0.5, -1.0, 0.25])
    margins = y * (X @ theta[:2] + theta[2])
    a = np.column_stack([y[:, None] * X, y])
    return Section(
        HEADING,
        "y g(x) = a.theta with a = (y x, y) and theta = (w, w0): each term is a function of one "
        "linear form.",
        (
            Note(
                f"On {len(y)} points the two sides differ by at most "
                f"{float(abs(margins - a @ theta).max()):.1e}."
            ),
        ),
        {"difference": float(abs(margins - a @ theta).max())},
        "a linear form",
    )


def maximum(_: Given) -> Section:
    """max(a + b, 0) <= max(a, 0) + max(b, 0), so f(s) = max(-s, 0) is convex."""
    values = np.linspace(-3, 3, 61)
    a, b = np.meshgrid(values, values)
    left, right = np.maximum(a + b, 0), np.maximum(a, 0) + np.maximum(b, 0)
    same_sign = (a * b > 0) & (abs(a + b) > 0)
    return Section(
        HEADING,
        "max(a + b, 0) <= max(a, 0) + max(b, 0), with equality when a and b have the same sign.",
        (
            Note(
                f"On a grid of {a.size} pairs the largest left side less right side is "
                f"{float((left - right).max()):.1e}; for pairs of one sign the two differ by "
                f"{float(abs(left - right)[same_sign].max()):.1e}."
            ),
        ),
        {
            "largest_excess": float((left - right).max()),
            "difference_same_sign": float(abs(left - right)[same_sign].max()),
        },
        "the maximum",
    )


def inequality(_: Given) -> Section:
    """J(mixture) <= mixture of J, for the soft loss; a counterexample for the hard one."""
    X, y = two_clouds(30, apart=1.5)
    rng, excess = np.random.default_rng(1), []
    for one, other in rng.standard_normal((200, 2, 3)):
        share = rng.random()
        mixed = share * one + (1 - share) * other
        J = [losses.value("soft", X, y, t[:2], t[2]) for t in (one, other, mixed)]
        excess.append(J[2] - share * J[0] - (1 - share) * J[1])
    ends, middle = _hard_counterexample()
    return Section(
        HEADING,
        "J(c theta1 + (1 - c) theta2) <= c J(theta1) + (1 - c) J(theta2): the soft loss is convex.",
        (
            Note(
                f"On 200 random segments the left side exceeds the right by at most "
                f"{max(excess):.1e}."
            ),
            Note(
                "The hard loss is not convex. One point x = 1 with label +1, no offset: "
                f"J_hard is {ends[0]:.0f} at w = -1 and {ends[1]:.0f} at w = 4. Nine tenths of the "
                f"way from 4 to -1 it is {middle:.0f}, and convexity would allow only "
                f"{0.9 * ends[0] + 0.1 * ends[1]:.1f}."
            ),
            Picture("convexity", _segment, "Soft and hard loss along one segment of weights."),
        ),
        {"largest_excess": float(max(excess)), "hard_ends": ends, "hard_middle": middle},
        "the inequality",
    )


def _hard_counterexample() -> tuple[list[float], float]:
    X, y = [[1.0], [-1.0]], [1, 0]  # x = 1, and its mirror image: two classes, one constraint
    at = [losses.value("hard", X, y, [w]) / 2 for w in (-1.0, 4.0, 0.9 * -1.0 + 0.1 * 4.0)]
    return at[:2], at[2]


def implication(_: Given) -> Section:
    """The convex problem, solved: existence, uniqueness, the optimal value."""
    apart, mixed = two_clouds(40, apart=6.0), two_clouds(40, apart=1.5)
    rows, values = [], {}
    for name, (X, y) in {"separable": apart, "overlapping": mixed}.items():
        found = {solver: losses.soft_minimum(X, y, solver=solver) for solver in _solvers()}
        values[name] = {solver: best.value for solver, best in found.items()}
        verdict = next(iter(found.values())).certificate.verdict
        rows.append([name, losses.value("soft", X, y, [0, 0]), *values[name].values(), verdict])
    falling = _logistic_on(*apart)
    return Section(
        "Implication of Convexity",
        "CVX solves the soft problem. A minimiser exists; any local one is global; the optimum is "
        "0 if the classes are separable, and positive otherwise.",
        (
            Table.of(
                ["classes", "J(0)", *(f"normalised, {s}" for s in _solvers()), "verdict, proven"],
                rows,
            ),
            Slip(
                "J_soft(0) = 0 whatever the data, so the minimum is never positive. Excluding 0 "
                "does not help, since J scales. Normalised by a mean margin of 1 the problem does "
                "tell: its minimum is 0 exactly when the classes are separable or "
                "quasi-separable. Whether it is 0 is decided by the certificate, not by a small "
                "number."
            ),
            Slip(
                "Convexity does not give existence. The logistic loss of separable data falls for "
                f"ever along a separator: {', '.join(f'{v:.2g}' for v in falling)} at 1, 2, 4, 8 "
                "times its weights."
            ),
        ),
        {"values": values, "logistic_along_a_separator": falling},
    )


def _solvers() -> list[str]:
    return ["highs"]


def _logistic_on(X: Any, y: Any) -> list[float]:
    best = losses.soft_minimum(X, y, solver="highs")
    w, b = best.w / 4, best.b / 4
    return [losses.value("logistic", X, y, c * w, c * b) for c in (1, 2, 4, 8)]


def _segment() -> Any:
    from rosenblatt.show.plots import LossesDisplay

    X, y = two_clouds(30, apart=1.5)
    one, other = np.array([1.0, -2.0, 0.5]), np.array([-0.5, 2.0, -0.5])

    def along(loss: str, shares: Array) -> Array:
        mixed = [(1 - s) * one + s * other for s in shares]
        return np.array([losses.value(loss, X, y, t[:2], t[2]) for t in mixed])

    return LossesDisplay.from_functions(
        {loss: partial(along, loss) for loss in ("soft", "hard")},
        span=(0.0, 1.0),
        xlabel=r"share of the way from $\theta_1$ to $\theta_2$",
        ylabel=r"$J(\theta)$",
    ).figure_
