"""radivojac: the perceptron, why it converges, and what it does on data that do not separate."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data import samples
from rosenblatt.data.taught import XOR
from rosenblatt.estimators import Perceptron
from rosenblatt.learn import reference
from rosenblatt.lectures.lecture import Given, Lecture, Note, Picture, Section, Slip, Table
from rosenblatt.prove.margin import MaxMargin, max_margin
from rosenblatt.prove.separability import separability

Array = npt.NDArray[Any]
ONE = "1 Perceptron"
TIES = ("mistake", "positive", "correct", "half")


def setosa() -> tuple[Array, Array]:
    """Iris in tenths of a centimetre with x_0 = 1 first: whole numbers, so sums are exact."""
    X, y = samples.setosa()
    return np.hstack([np.ones((len(X), 1)), np.round(X * 10)]), y


def standardised(sample: tuple[Array, Array]) -> tuple[Array, Array]:
    """Every feature with mean 0 and deviation 1, and x_0 = 1 first."""
    X, y = sample
    return np.hstack([np.ones((len(X), 1)), (X - X.mean(axis=0)) / X.std(axis=0)]), y


def machine(_: Given) -> Section:
    """Eq. (1): f(x) = +1 where w.x >= 0, else -1; x_0 = 1."""
    X, y = setosa()
    clf = _trained(X, y)
    at_zero = np.where(X @ np.zeros(X.shape[1]) >= 0, 1, -1)
    return Section(
        ONE,
        "f(x) = +1 if w.x >= 0, else -1, with x_0 = 1; w is found by training.",
        (
            Note(
                "Iris, setosa against the rest, in millimetres, so that all sums are of whole "
                f"numbers and exact. At w = 0 every score is 0 and f is +1: "
                f"{int((at_zero != y).sum())} of {len(y)} flowers are wrong. After training "
                f"{int((clf.predict(X) != y).sum())} are."
            ),
        ),
        {
            "wrong_at_zero": int((at_zero != y).sum()),
            "wrong_after": int((clf.predict(X) != y).sum()),
        },
        "Eq. (1), the machine",
    )


def training_rule(_: Given) -> Section:
    """Eq. (2): w += y x at a mistake, which moves w.x by ||x||^2 in the right direction."""
    X, y = setosa()
    w, rows, rises = np.zeros(X.shape[1]), [], []
    for k, u in enumerate(_trained(X, y).trace_.record):
        x, label = X[u.row], y[u.row]
        before, after = label * (x @ w), label * (x @ u.w)
        rows.append([k + 1, u.row, int(label), before, after, float(x @ x)])
        rises.append(float(after - before - x @ x))
        w = u.w
    header = ["update", "flower", "y", "y w.x before", "after", "||x||^2"]
    return Section(
        ONE,
        "If x is misclassified, w becomes w + y x, and w.x moves by ||x||^2 to the right side.",
        (Table.of(header, rows, "Every update of the run: after = before + ||x||^2."),),
        {"rises_less_norms": rises, "updates": len(rows)},
        "Eq. (2), the training rule",
    )


def all_positive(_: Given) -> Section:
    """D+: x <- -x, y <- -y for every negative example."""
    X, y = setosa()
    flipped, ones = X * y[:, None], np.ones(len(y), dtype=int)
    counts = {
        tie: [
            reference.train(rows.astype(int).tolist(), labels.tolist(), tie=tie, intercept=False)
            for rows, labels in ((X, y), (flipped, ones))
        ]
        for tie in TIES
    }
    made = {tie: [len(run.updates) for run in runs] for tie, runs in counts.items()}
    same = {tie: runs[0].weights == runs[1].weights for tie, runs in counts.items()}
    return Section(
        ONE,
        "Turning every negative example x into the positive example -x does not affect the "
        "weight updates.",
        (
            Table.of(
                ["a score of 0 is", "updates on D", "on D+", "same weights"],
                [[f'tie="{tie}"', *made[tie], same[tie]] for tie in TIES],
            ),
            Slip(
                "With the lecture's own f(0) = +1 it does: from w = 0 every flipped example "
                "scores 0, which is the right answer for a positive one, and nothing is ever "
                "learned. Unflipped, the negative examples are mistakes. Under every other "
                "reading of a score of 0 the flip changes nothing (and tie='correct' learns "
                "nothing on either)."
            ),
        ),
        {"updates": made, "same": same},
        "the set D+",
    )


def convergence(_: Given) -> Section:
    """Eq. (3) to (5): w_0.w grows like l, ||w|| like sqrt(l), and the cosine is at most 1."""
    X, y = standardised(samples.cultivar())
    steps = list(_trained(X, y).trace_.record)
    star, eps, M = _separator(X, y)
    along = [float(u.w @ star) for u in steps]
    norm = [float(np.linalg.norm(u.w)) for u in steps]
    rows = [
        [k, a, k * eps, size, k**0.5 * M, a / size]
        for k, (a, size) in enumerate(zip(along, norm, strict=True), 1)
        if k in (1, 2, 3, 5, 10, 20, 40, len(steps))
    ]
    at_zero = _updates_at_zero(X, y, steps)
    header = ["l", "w0.w", ">= l eps", "||w||", "<= sqrt(l) M", "cosine"]
    return Section(
        ONE,
        "The numerator of the cosine grows at least linearly with the number of updates l, the "
        "denominator at most like its square root; so l < M^2 / eps^2.",
        (
            Note(
                "Wine, one cultivar against the other two (13 measurements, standardised). w0 is "
                "the hyperplane of largest margin, eps that margin, M the largest norm."
            ),
            Table.of(header, rows),
            Note(f"{len(steps)} updates; the bound M^2 / eps^2 is {(M / eps) ** 2:.1f}."),
            Picture("cosine", _cosine, "Numerator, denominator and cosine, update by update."),
            Slip(
                "Eq. (5) says < where it is <=: at a score of exactly 0 the norm grows by all of "
                f"||x||^2. That happens at {at_zero} of these updates, the first, and may happen "
                "later. The final bound is strict in the lecture because its eps is below the "
                "margin; with the margin itself it is l <= M^2 / eps^2."
            ),
        ),
        {
            "updates": len(steps),
            "along": along,
            "norm": norm,
            "eps": eps,
            "M": M,
            "bound": (M / eps) ** 2,
            "at_a_score_of_zero": at_zero,
        },
        "Eq. (3) to (5), convergence",
    )


def finitely_many(_: Given) -> Section:
    """l_max < M^2 / eps^2 on three real sets."""
    rows = []
    for name, (X, y) in _sets().items():
        eps, M = _separator(X, y)[1:]
        made = _trained(X, y).n_updates_
        rows.append([name, len(X), X.shape[1], made, (M / eps) ** 2])
    return Section(
        ONE,
        "The perceptron training algorithm will find a separating hyperplane after a finite "
        "number of updates.",
        (
            Table.of(
                ["data", "rows", "features", "updates", "M^2 / eps^2"],
                rows,
                "Iris: setosa. Wine: one cultivar. Tumours: the diagnostic set, standardised. "
                "x_0 = 1 is counted as a feature.",
            ),
        ),
        {
            "sets": [
                dict(zip(("name", "rows", "features", "updates", "bound"), r, strict=True))
                for r in rows
            ]
        },
        "l_max, the theorem",
    )


def _growth(seen: list[int], mistakes: list[int]) -> Any:
    from rosenblatt.show.figures.canvas import Canvas

    canvas = Canvas.on()
    canvas.ax.plot([0, *seen], [0, *mistakes], color=canvas.hue(0), lw=1.8)
    canvas.ax.set(xlabel="examples seen", ylabel="mistakes so far", xlim=(0, None), ylim=(0, None))
    canvas.ax.xaxis.set_major_formatter("{x:,.0f}")
    canvas.ax.yaxis.set_major_formatter("{x:,.0f}")
    return canvas.ax.figure


def _cosine() -> Any:
    from rosenblatt.show.plots import CosineDisplay

    X, y = standardised(samples.cultivar())
    return CosineDisplay.from_estimator(_trained(X, y), X, y).figure_


def _sets() -> dict[str, tuple[Array, Array]]:
    return {
        "iris": setosa(),
        "wine": standardised(samples.cultivar()),
        "tumours": standardised(samples.tumours()),
    }


def stream(_: Given) -> Section:
    """An endless stream: each example is seen once; the mistakes stay below one bound."""
    rng, clf = np.random.default_rng(3), Perceptron(shuffle=False, fit_intercept=False)
    direction = np.full(20, 20**-0.5)
    seen, marks, mistakes, radius = 0, [], [], 0.0
    while seen < 300_000:
        X = rng.uniform(-1, 1, (5_000, 20))
        along = X @ direction
        apart = np.abs(along) > 0.02
        clf.partial_fit(X[apart], np.where(along[apart] > 0, 1, -1), classes=[-1, 1])
        seen, radius = seen + int(apart.sum()), max(radius, float(np.linalg.norm(X, axis=1).max()))
        marks.append(seen)
        mistakes.append(int(clf.n_mistakes_))
    bound = (radius / 0.02) ** 2
    shown = [k for k in range(len(marks)) if k in (0, 1, 3, 7, 15, 31, len(marks) - 1)]
    return Section(
        ONE,
        "If the data are an endless stream, examples are presented, used if needed and deleted; "
        "the number of mistakes is finite.",
        (
            Table.of(
                ["examples seen", "mistakes so far"], [[marks[k], mistakes[k]] for k in shown]
            ),
            Picture(
                "stream",
                lambda: _growth(marks, mistakes),
                "Mistakes on the stream: they come ever more rarely.",
            ),
            Note(
                "20 features; no example is closer than 0.02 to the hyperplane, so there will "
                f"never be more than M^2 / eps^2 = {bound:.0f} mistakes, however long the stream."
            ),
        ),
        {"seen": marks, "mistakes": mistakes, "bound": bound},
        "an endless stream",
    )


def learning_rate(_: Given) -> Section:
    """w += eta y x with eta in (0, 1]."""
    X, y = setosa()
    rates = [1.0, 0.5, 0.125, 2.0**-10]
    start = np.array([-400.0, 30.0, -20.0, 10.0, 5.0])
    zero = [_trained(X, y, eta0=eta).n_updates_ for eta in rates]
    other = [_trained(X, y, eta0=eta, init=start).n_updates_ for eta in rates]
    return Section(
        ONE,
        "In practice w += eta y x with eta in (0, 1] avoids rapid movements of the hyperplane.",
        (
            Table.of(
                ["eta", "updates from w = 0", "from another start"],
                [list(row) for row in zip(rates, zero, other, strict=True)],
            ),
            Slip(
                "From w = 0 the learning rate only rescales w: the mistakes are the same ones "
                "and the hyperplane moves just as far. From another start it matters: with a "
                "small eta the start is remembered for long."
            ),
        ),
        {"rates": rates, "from_zero": zero, "from_elsewhere": other},
        "the learning rate",
    )


def problems(_: Given) -> Section:
    """1.0.1: not separable, cycles, and the pocket."""
    X, y = XOR
    run = Perceptron(shuffle=False, tol=None).fit(X, y)
    verdict = separability(X, y)
    assert run.trace_.cycle is not None
    kept = {keep: _errors(keep) for keep in ("last", "pocket")}
    return Section(
        "1.0.1 Problems with the perceptron algorithm",
        "If the data are not linearly separable, the algorithm never stops and the cycles in "
        "weight updates can be hard to detect. This is corrected by the Pocket Algorithm.",
        (
            Note(
                f"Exclusive or: {run.stop_reason_} after {run.n_iter_} passes, of length "
                f"{run.trace_.cycle.epochs}: the weights came back, so this run would never end. "
                f"The verdict, with a proof: {verdict.verdict}."
            ),
            Table.of(
                ["keep", "wrong of 150 after 200 passes"],
                [[f'"{k}"', v] for k, v in kept.items()],
                "Iris, versicolor against the rest, which no hyperplane separates.",
            ),
        ),
        {
            "stop_reason": str(run.stop_reason_),
            "cycle": run.trace_.cycle.epochs,
            "verdict": verdict.verdict,
            "verified": bool(verdict.verify(X, y)),
            "errors": kept,
        },
    )


def _errors(keep: str) -> int:
    """Flowers that 200 passes over an inseparable set leave wrong."""
    X, y = samples.versicolor()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it does not converge is what is shown
        clf = Perceptron(keep=keep, tol=None, max_iter=200, random_state=0).fit(X, y)
    return int((clf.predict(X) != y).sum())


def _trained(X: Array, y: Array, **options: Any) -> Any:
    """x_0 = 1 is in X, so there is no other offset; a score of 0 is a mistake."""
    clf = Perceptron(
        fit_intercept=False,
        shuffle=False,
        tol=None,
        max_iter=1_000_000,
        record="updates",
        **options,
    )
    return clf.fit(X, y)


def _separator(X: Array, y: Array) -> tuple[Array, float, float]:
    """The unit vector w0 of largest margin, that margin, and M = max ||x||."""
    best = max_margin(X, y, fit_intercept=False)
    assert isinstance(best, MaxMargin)
    star = best.w / np.linalg.norm(best.w)
    return star, float((y * (X @ star)).min()), float(np.linalg.norm(X, axis=1).max())


def _updates_at_zero(X: Array, y: Array, steps: list[Any]) -> int:
    before = [np.zeros(X.shape[1]), *(u.w for u in steps[:-1])]
    return sum(float(y[u.row] * (X[u.row] @ w)) == 0.0 for u, w in zip(steps, before, strict=True))


LECTURE = Lecture(
    "radivojac",
    "Machine Learning Lecture Notes: Perceptron (Predrag Radivojac, 2015)",
    (
        machine,
        training_rule,
        all_positive,
        convergence,
        finitely_many,
        stream,
        learning_rate,
        problems,
    ),
)
