"""chan, first part: a soft threshold made hard, and what a loss of the hard one can be."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression

from rosenblatt.data.taught import two_clouds
from rosenblatt.estimators import Perceptron
from rosenblatt.lectures.lecture import Given, Note, Picture, Section, Slip, Table
from rosenblatt.theory import losses

Array = npt.NDArray[Any]


def overview(_: Given) -> Section:
    """Two ways to a linear discriminant."""
    X, y = two_clouds()
    made = {
        "generative: estimate the model (LDA)": LinearDiscriminantAnalysis().fit(X, y),
        "discriminative: the classifier itself (perceptron)": Perceptron(tol=None).fit(X, y),
    }
    wrong = {name: int((clf.predict(X) != y).sum()) for name, clf in made.items()}
    rows = [
        [name, *(clf.coef_[0] / np.linalg.norm(clf.coef_)).tolist(), wrong[name]]
        for name, clf in made.items()
    ]
    return Section(
        "Overview",
        "A linear discriminant is found by estimating a model first (generative), or by defining "
        "the classifier directly (discriminative).",
        (
            Table.of(
                ["approach", "w1", "w2", "wrong of 200"], rows, "Weights are scaled to length 1."
            ),
        ),
        {"wrong": list(wrong.values())},
    )


def outline(_: Given) -> Section:
    """The plan of the lecture."""
    return Section(
        "Outline",
        "From logistic to perceptron; the perceptron loss and its relatives; convexity; the "
        "comparison with the Bayesian oracle; a preview of the algorithm.",
        (Note("The sections below follow it."),),
    )


def single_layer(_: Given) -> Section:
    """One score, two thresholds."""
    scores = np.array([-4.0, -0.5, 0.0, 0.5, 4.0])
    soft, hard = expit(scores), np.where(scores >= 0, 1, -1)
    rows = [list(row) for row in zip(scores.tolist(), soft.tolist(), hard.tolist(), strict=True)]
    return Section(
        "Perceptron as a Single-Layer Network",
        "Logistic regression puts a soft threshold on w.x + w0, the perceptron a hard one.",
        (Table.of(["w.x + w0", "soft: 1 / (1 + exp(-score))", "hard: sign"], rows),),
        {"soft": soft.tolist(), "hard": hard.tolist()},
    )


def to_the_step(_: Given) -> Section:
    """lim h(x) = 1 / (1 + exp(-a (x - x0))) as a grows."""
    x, x0 = np.array([-1.0, -0.1, 0.0, 0.1, 1.0]) + 0.5, 0.5
    slopes = [1.0, 10.0, 100.0, 10_000.0]
    limits = {a: expit(a * (x - x0)).tolist() for a in slopes}
    rows = [[a, *limits[a]] for a in slopes]
    return Section(
        "From Logistic to Perceptron",
        "With a growing, the logistic function 1 / (1 + exp(-a (x - x0))) becomes a step, which "
        "the lecture writes as sign(a (x - x0)).",
        (
            Table.of(["a", *(f"x - x0 = {v - x0:+.1f}" for v in x)], rows),
            Picture("logistic-to-step", _steps, "The logistic function for a = 1, 2, 5, 20, 100."),
            Slip(
                "The limit is the step from 0 to 1, not sign, which goes from -1 to +1. It is "
                "2 h - 1 that tends to sign. At x = x0 both stay in the middle, for every a."
            ),
        ),
        {"limits": [limits[a] for a in slopes], "signs": np.sign(x - x0).tolist()},
        "the limit",
    )


def two_stages(_: Given) -> Section:
    """Train g, then threshold it."""
    X, y = two_clouds()
    regression = LinearRegression().fit(X, y)
    logistic = LogisticRegression().fit(X, y)
    perceptron = Perceptron(tol=None).fit(X, y)
    scores = {
        "linear regression": regression.predict(X),
        "logistic regression": logistic.decision_function(X),
        "perceptron": perceptron.decision_function(X),
    }
    wrong = {name: int((np.where(g >= 0, 1, -1) != y).sum()) for name, g in scores.items()}
    return Section(
        "From Logistic to Perceptron",
        "Stage 1 trains the discriminant g(x) = w.x + w0, stage 2 decides by sign(g(x)).",
        (
            Table.of(
                ["stage 1", "smallest |g|", "largest |g|", "wrong after stage 2"],
                [
                    [name, float(abs(g).min()), float(abs(g).max()), wrong[name]]
                    for name, g in scores.items()
                ],
            ),
        ),
        {"wrong": wrong},
        "two stages",
    )


def candidate(_: Given) -> Section:
    """Cross-entropy of a hard decision is 0 or infinite; max(-y h, 0) is not."""
    decided = [(1, 1), (1, 0), (0, 0), (0, 1)]
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = [0.0 - float(np.log(h if y == 1 else 1 - np.float64(h))) for y, h in decided]
    signed = [float(max(-(2 * y - 1) * (2 * h - 1), 0)) for y, h in decided]
    return Section(
        "How to Define Perceptron Loss Function",
        "The logistic loss is not okay if h is binary: either all fit or none fit. Without the "
        "logarithm, max(-y h, 0) does not run into infinity.",
        (
            Table.of(
                ["y", "decision h", "cross-entropy", "max(-y h, 0), labels -1 and +1"],
                [[y, h, e, s] for (y, h), e, s in zip(decided, entropy, signed, strict=True)],
            ),
            Slip(
                "One wrong hard decision makes the whole cross-entropy infinite: it cannot tell "
                "one mistake from a thousand. That, and not only its minimum, is why the loss is "
                "changed."
            ),
        ),
        {"cross_entropy": [str(e) for e in entropy], "candidate": signed},
    )


def _cases(loss: str) -> tuple[list[list[Any]], list[float]]:
    """The four cases of a decision: (g, y), whether it is right, the loss."""
    cases = [(2.0, 1), (-2.0, -1), (2.0, -1), (-2.0, 1)]
    found = [float(losses.LOSSES[loss](np.array([g * y]))[0]) for g, y in cases]
    rows = [
        [g, y, "correct" if g * y > 0 else "wrong", f]
        for (g, y), f in zip(cases, found, strict=True)
    ]
    return rows, found


def hard_cases(_: Given) -> Section:
    """J_hard: 0 for a right decision, 1 for a wrong one; a step."""
    rows, found = _cases("hard")
    X, y = two_clouds(apart=2.0)
    count = losses.value("hard", X, y, [1.0, 1.0], -2.0)
    here, near = (losses.value("hard", X, y, [1.0, 1.0], -2.0 + e) for e in (0.0, 1e-9))
    return Section(
        "Understanding the Perceptron Loss function",
        "With hard decisions the loss is 0 if the decision is correct and 1 if it is wrong; "
        "J_hard is not differentiable.",
        (
            Table.of(["g(x)", "y", "decision", "loss"], rows),
            Note(
                f"So J_hard counts: {count:.0f} of {len(y)} points of two overlapping clouds are "
                "on the wrong side of x1 + x2 = 2. Moved a little, the line errs on just as many: "
                "the slope is 0 almost everywhere, and tells nobody where to go."
            ),
        ),
        {"losses": found, "count": count, "change_nearby": near - here},
    )


def soft_cases(_: Given) -> Section:
    """J_soft: 0 for a right decision, |g| for a wrong one."""
    rows, found = _cases("soft")
    return Section(
        "Perceptron Loss function",
        "With g in the place of h the loss of a correct decision is 0, that of a wrong one is "
        "positive: the perceptron loss max(-y g(x), 0).",
        (Table.of(["g(x)", "y", "decision", "loss"], rows),),
        {"losses": found},
    )


def comparing(_: Given) -> Section:
    """Convex or not, and how many minimisers."""
    X, y = two_clouds(30, apart=1.5)
    rng = np.random.default_rng(0)
    rows, worst = [], {}
    for loss in ("squared", "logistic", "hard", "soft"):
        gap = _convexity_gap(loss, X, y, rng)
        worst[loss] = gap
        rows.append([loss, gap, losses.value(loss, X, y, [0, 0])])
    return Section(
        "Comparing the loss function",
        "Squared, logistic and soft losses are convex, the hard loss is not. Usually: a unique "
        "global minimiser, for the hard loss many.",
        (
            Table.of(
                ["loss", "largest violation of convexity", "J(0)"],
                rows,
                "Violation: J(middle) less the mean of J at both ends, over 200 segments: above 0 "
                "by more than rounding only where the loss is not convex.",
            ),
            Slip(
                "J_soft(0) = 0 on every data set, and J_soft(c theta) = c J_soft(theta) for "
                "c >= 0: theta = 0 "
                "is always a minimiser. It is the only one exactly when the classes overlap (and "
                "the features are independent); where they separate there are many others. That "
                "is the opposite of 'usually unique'."
            ),
        ),
        {"violation": worst, "soft_at_zero": losses.value("soft", X, y, [0, 0])},
    )


def _convexity_gap(loss: str, X: Array, y: Array, rng: np.random.Generator) -> float:
    gaps = []
    for one, other in rng.standard_normal((200, 2, 3)):
        J = [losses.value(loss, X, y, t[:2], t[2]) for t in (one, other, (one + other) / 2)]
        gaps.append(J[2] - (J[0] + J[1]) / 2)
    return float(max(gaps))


def relatives(_: Given) -> Section:
    """max(-s, 0), max(1 - s, 0), max(s, 0), and the gradient of the first."""
    x, s = np.array([2.0, -1.0]), np.array([[1.0, 5.0], [1.0, 2.0], [3.0, 1.0]])
    found = [losses.gradient("soft", [x, -x], [1, 0], at).w / 2 for at in s]
    said = [-x if x @ at < 0 else 0 * x for at in s]
    rows = [[str(at), float(x @ at), str(g + 0.0)] for at, g in zip(s, found, strict=True)]
    return Section(
        "Perceptron Loss, Hinge Loss and ReLU",
        "f(s) = max(-s, 0) is the perceptron loss, max(1 - s, 0) the hinge, max(s, 0) the ReLU; "
        "the gradient of max(-x.s, 0) is -x where x.s < 0, else 0.",
        (
            Table.of(["s", "x.s", "gradient"], rows, f"x = {x}; computed from the data."),
            Picture("relatives", _relatives, "Perceptron loss, hinge and ReLU."),
            Note("At x.s = 0 the loss has a corner: 0 is one of its subgradients, so is -x."),
        ),
        {"gradients": [g.tolist() for g in found], "said": [np.asarray(g).tolist() for g in said]},
    )


def pictures(_: Given) -> Section:
    """All losses in one plot."""
    s = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    table = {name: loss(s).tolist() for name, loss in losses.LOSSES.items()}
    return Section(
        "Comparing Loss functions",
        "Zero-one, perceptron, hinge, logistic and squared loss in one plot.",
        (
            Table.of(["loss", *(f"s = {v:+.0f}" for v in s)], [[n, *v] for n, v in table.items()]),
            Picture("losses", _all_losses, "The losses as functions of the margin s = y g(x)."),
        ),
        table,
    )


# ----------------------------------------------------------------------------- figures


def _steps() -> Any:
    from rosenblatt.show.plots import LossesDisplay

    functions = {f"a = {a}": partial(_logistic, a) for a in (1, 2, 5, 20, 100)}
    return LossesDisplay.from_functions(
        functions, span=(-1.5, 1.5), xlabel="$x - x_0$", ylabel="$h(x)$"
    ).figure_


def _logistic(a: float, x: Array) -> Array:
    return np.asarray(expit(a * x))


def _relatives() -> Any:
    from rosenblatt.show.plots import LossesDisplay

    functions = {
        "perceptron loss max(-s, 0)": losses.soft,
        "hinge max(1 - s, 0)": losses.hinge,
        "ReLU max(s, 0)": lambda s: np.maximum(s, 0),
    }
    return LossesDisplay.from_functions(functions, span=(-2.5, 2.5), ylabel="$f(s)$").figure_


def _all_losses() -> Any:
    from rosenblatt.show.plots import LossesDisplay

    return LossesDisplay.from_names().figure_
