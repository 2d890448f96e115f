"""chan, last part: gradient descent on the soft loss, and one sample that moves w."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.taught import ONE_W as W
from rosenblatt.data.taught import ONE_X as X1
from rosenblatt.data.taught import ONE_Y as Y1
from rosenblatt.data.taught import two_clouds
from rosenblatt.errors import ParameterError
from rosenblatt.estimators import Perceptron
from rosenblatt.lectures.lecture import Given, Note, Picture, Section, Slip, Table
from rosenblatt.theory import losses

Array = npt.NDArray[Any]
ONE = "Updating One Sample"


def _batch(X: Array, y: Array, steps: int, **options: Any) -> Any:
    """Chan's algorithm: all of M_k at once, a score of 0 no mistake, not from zero."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an oscillating run is what is shown
        return Perceptron(
            mode="batch", tie="correct", tol=None, max_iter=steps, record="updates", **options
        ).fit(X, y)


def descent(_: Given) -> Section:
    """The goal is J_hard, the way is J_soft."""
    X, y = two_clouds(40, apart=6.0)
    start = [1.0, -1.0, 0.0]
    clf = _batch(X, y, 1_000, init=start)
    planes = [(np.array(start[:2]), start[2])]
    planes += [(u.w, float(np.ravel(u.b)[0])) for u in clf.trace_.record]
    table = [
        [k, losses.value("soft", X, y, w, b), losses.value("hard", X, y, w, b)]
        for k, (w, b) in enumerate(planes)
    ]
    return Section(
        "Perceptron with Hard Loss",
        "The goal is a solution for J_hard; the approach is gradient descent on J_soft.",
        (
            Table.of(["step k", "J_soft", "J_hard"], table, "Two separable clouds, alpha = 1."),
            Note("J_soft may rise on the way: the steps are not small. J_hard ends at 0."),
        ),
        {"soft": [r[1] for r in table], "hard": [r[2] for r in table]},
    )


def redefined(_: Given) -> Section:
    """J_soft = - sum over M(theta) of y g."""
    X, y = two_clouds(40, apart=1.5)
    rng, differences = np.random.default_rng(5), []
    for theta in rng.standard_normal((100, 3)):
        w, b = theta[:2], theta[2]
        wrong = losses.misclassified(X, y, w, b)
        minus = -float((y[wrong] * (X[wrong] @ w + b)).sum())
        differences.append(abs(losses.value("soft", X, y, w, b) - minus))
    return Section(
        "Re-defining the Loss",
        "J_soft is the same as minus the sum of y g(x) over the misclassified samples M(theta).",
        (Note(f"At 100 random theta the two differ by at most {max(differences):.1e}."),),
        {"largest_difference": max(differences)},
    )


def algorithm(_: Given) -> Section:
    """M_k, the step, and how it ends."""
    apart, mixed = two_clouds(40, apart=6.0), two_clouds(40, apart=1.5)
    start = [1.0, -1.0, 0.0]
    converges = _batch(*apart, 1_000, init=start)
    oscillates = _batch(*mixed, 400, init=start)
    sizes = oscillates.trace_.mistakes
    return Section(
        "Perceptron Algorithm",
        "M_k can grow or shrink. If the samples are separable the algorithm converges to zero "
        "training loss, otherwise it oscillates.",
        (
            Table.of(
                ["classes", "stopped because", "steps", "M_k grew", "M_k shrank", "wrong at last"],
                [
                    _ending("separable", converges, *apart),
                    _ending("overlapping", oscillates, *mixed),
                ],
            ),
            Note(f"Overlapping clouds, first steps: M_k has {sizes[:15].tolist()} samples."),
            Picture("batch", _oscillation, "The size of M_k, step by step."),
            Slip(
                "With y g < 0 as the mistake and theta = 0 as the start, no sample is ever "
                f"misclassified, and nothing is learned. We refuse it: '{_refused(*apart)}'"
            ),
        ),
        {
            "converges": str(converges.stop_reason_),
            "oscillates": str(oscillates.stop_reason_),
            "sizes": sizes.tolist(),
            "wrong": int((converges.predict(apart[0]) != apart[1]).sum()),
            "refused": _refused(*apart),
        },
        "gradient descent",
    )


def _ending(name: str, clf: Any, X: Array, y: Array) -> list[Any]:
    moves = np.diff(clf.trace_.mistakes)
    grew, shrank = int((moves > 0).sum()), int((moves < 0).sum())
    wrong = int((clf.predict(X) != y).sum())
    return [name, str(clf.stop_reason_), clf.n_iter_, grew, shrank, wrong]


def _refused(X: Array, y: Array) -> str:
    try:
        Perceptron(mode="batch", tie="correct").fit(X, y)
    except ParameterError as e:
        return str(e)
    return ""


# --------------------------------------------------------------- one sample, five frames


def _frame(k: int, says: str, note: Callable[[], str]) -> Callable[[Given], Section]:
    def frame(_: Given) -> Section:
        after = _after()
        return Section(
            ONE,
            says,
            (
                Note(note()),
                Picture(f"one-sample-{k}", lambda: _one_sample(k), f"Frame {k} of 5."),
            ),
            {
                "w": W.tolist(),
                "x": X1.tolist(),
                "margin_before": float(Y1 * (W @ X1)),
                "margin_after": float(Y1 * (after @ X1)),
                "after": after.tolist(),
            },
            f"frame {k}",
        )

    return frame


def _after() -> Array:
    w = Perceptron(
        fit_intercept=False, shuffle=False, tol=None, max_iter=1, init=W, record="updates"
    )
    w.fit(np.array([X1, -X1]), [Y1, -Y1])
    record = getattr(w.trace_, "record", None)
    assert record is not None
    return np.asarray(record[0].w)


FRAMES = (
    _frame(
        1,
        "Initially there is a w, and a misclassified training sample x1.",
        lambda: f"w = {W}, x1 = {X1} with label {Y1}: y1 w.x1 = {Y1 * (W @ X1):g}, a mistake.",
    ),
    _frame(
        2,
        "The algorithm finds y1 x1, which is opposite to x1.",
        lambda: f"y1 x1 = {Y1 * X1}.",
    ),
    _frame(
        3,
        "The new w is a linear combination of w and y1 x1.",
        lambda: f"w + y1 x1 = {_after()}, as the trained perceptron has it.",
    ),
    _frame(
        4,
        "The new w gives a new separating hyperplane.",
        lambda: f"The line orthogonal to {_after()}.",
    ),
    _frame(
        5,
        "Now you are happy!",
        lambda: (
            f"y1 w.x1 went from {Y1 * (W @ X1):g} to {Y1 * (_after() @ X1):g}, by ||x1||^2 = "
            f"{X1 @ X1:g}. One update need not be enough; here it is."
        ),
    ),
)


def reading(_: Given) -> Section:
    """Where the lecture points to."""
    return Section(
        "Perceptron Algorithm",
        "Abu-Mostafa, Learning from Data, 1.2; Duda, Hart and Stork, Pattern Classification, 5.5; "
        "lectures of Cornell and UCSD.",
        (Note("Books and lectures to read on; nothing is computed here."),),
        {},
        "reading",
    )


def _one_sample(k: int) -> Any:
    from rosenblatt.show.plots import UpdateDisplay

    return UpdateDisplay.from_example(W, X1, Y1, fit_intercept=False, frame=k).figure_


def _oscillation() -> Any:
    from rosenblatt.show.plots import MistakesDisplay

    X, y = two_clouds(40, apart=1.5)
    return MistakesDisplay.from_trace(_batch(X, y, 60, init=[1.0, -1.0, 0.0]).trace_).figure_
