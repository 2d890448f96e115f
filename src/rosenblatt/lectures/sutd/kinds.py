"""Kinds: the learning problems the lecture shows first, each drawn from data."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris, make_circles
from sklearn.linear_model import LinearRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from rosenblatt.estimators import Perceptron
from rosenblatt.lectures.lecture import Given, Note, Picture, Section, Table
from rosenblatt.lectures.sutd import drawing
from rosenblatt.prove.separability import separability

Array = npt.NDArray[Any]
SUPERVISED = "Supervised Learning"


def perceptron(_: Given) -> Section:
    """The title, and how this lecture's perceptron is written here."""
    options = {"shuffle": False, "tol": None, "tie": "mistake", "fit_intercept": False}
    written = ", ".join(f"{k}={v!r}" for k, v in options.items())
    return Section(
        "Perceptron",
        "50.007 Machine Learning, Lecture 2: kinds of learning problems, a case study, linear "
        "classifiers without and with an offset.",
        (
            Note(
                f"This lecture's perceptron is Perceptron({written}); in its last part with "
                "fit_intercept=True. A score of 0 counts as a mistake in training."
            ),
        ),
        {"options": options},
    )


def learning_problems(_: Given) -> Section:
    """What the pictures that follow are about."""
    rows = [
        ["classification", "one number", "one of k classes", "petal lengths of Iris"],
        ["classification, linear", "two numbers", "one of 2 classes", "petals of Iris"],
        ["classification, non-linear", "two numbers", "one of 2 classes", "two rings"],
        ["regression, linear", "one number", "a number", "petals of Iris"],
        ["regression, non-linear", "one number", "a number", "cell nuclei, radius and area"],
        ["clustering", "two numbers", "none is given", "the mouse"],
    ]
    return Section(
        "Learning Problems",
        "Problems differ in what is given and in what is asked for.",
        (Table.of(["problem", "input x", "output y", "here"], rows),),
        {"problems": [row[0] for row in rows]},
    )


# --------------------------------------------------------------------------- classification


def lengths() -> tuple[Array, Array, Perceptron]:
    """Petal lengths, species, and a perceptron with one score a species."""
    data = load_iris()
    x, species = data.data[:, [2]], data.target_names[data.target]
    clf = Perceptron(multiclass="direct", keep="pocket", tol=None, max_iter=300)
    clf.fit(x, species)
    return x, species, clf


def borders(clf: Perceptron) -> list[float]:
    """Where the answer changes as x grows: where two lines w x + b cross, inside the data."""
    w, b = clf.coef_[:, 0], clf.intercept_
    order = np.argsort(w)  # the steepest line wins in the end
    return [float((b[j] - b[k]) / (w[k] - w[j])) for j, k in itertools.pairwise(order)]


def one_feature(_: Given) -> Section:
    """y = f(x), x a number, y one of k classes."""
    x, species, clf = lengths()
    wrong, at = int((clf.predict(x) != species).sum()), borders(clf)
    return Section(
        SUPERVISED,
        "Learning a function y = f(x) from a number to one of k classes.",
        (
            Note(
                f"Iris, {len(x)} petal lengths, k = {len(clf.classes_)} species: the answer "
                f"changes at {at[0]:.2f} and {at[1]:.2f} cm, and {wrong} flowers get the wrong one."
            ),
            Picture(
                "one-feature",
                lambda: drawing.on_a_line(x, species, clf.classes_, at),
                "Petal lengths of three species, and where the answer changes.",
            ),
        ),
        {"wrong": wrong, "rows": len(x), "borders": at},
        step="classification (1-d features)",
    )


def petals() -> tuple[Array, Array]:
    """Length and width of the petals of setosa and versicolor."""
    data = load_iris()
    two = data.target < 2
    return data.data[two][:, 2:], data.target_names[data.target[two]]


def two_features(_: Given) -> Section:
    """A line between two classes."""
    X, y = petals()
    verdict = separability(X, y).verdict
    clf = Perceptron(shuffle=False, tol=None).fit(X, y)
    wrong = int((clf.predict(X) != y).sum())
    return Section(
        SUPERVISED,
        "With two features, a line can part two classes.",
        (
            Note(
                f"Petals of setosa and versicolor: {verdict}, with a proof. The perceptron finds a "
                f"line with {wrong} wrong after {clf.n_updates_} updates."
            ),
            Picture(
                "linear",
                lambda: drawing.decisions({"": clf}, X, y, ("petal length, cm", "petal width, cm")),
                "Petals of two species, the line, and how far the nearest petals are from it.",
            ),
        ),
        {"verdict": verdict, "wrong": wrong, "updates": clf.n_updates_},
        step="classification (2-d features), linear",
    )


def rings() -> tuple[Array, Array]:
    """Two noisy rings, one inside the other."""
    X, y = make_circles(200, noise=0.08, factor=0.45, random_state=0)
    return X, np.where(y == 1, "inner", "outer")


def with_square(X: Array) -> Array:
    """One more feature, x1^2 + x2^2."""
    return np.column_stack([X, (X**2).sum(axis=1)])


def non_linear(_: Given) -> Section:
    """No line parts two rings; a plane does, with one more feature."""
    X, y = rings()
    rows, numbers, lifted = [], {}, FunctionTransformer(with_square)
    for name, Z in {"x1, x2": X, "x1, x2, x1^2 + x2^2": with_square(X)}.items():
        clf = Perceptron(keep="pocket", shuffle=False, tol=None).fit(Z, y)
        verdict, wrong = separability(Z, y).verdict, int((clf.predict(Z) != y).sum())
        rows.append([name, verdict, wrong])
        numbers[name] = {"verdict": verdict, "wrong": wrong}
    plain = Perceptron(keep="pocket", shuffle=False, tol=None)
    models = {"x1, x2": plain, "with x1^2 + x2^2": make_pipeline(lifted, clone(plain))}
    return Section(
        SUPERVISED,
        "Some classes need a curve.",
        (
            Table.of(["features", "verdict", f"wrong, of {len(X)}"], rows),
            Picture(
                "non-linear",
                lambda: drawing.decisions({n: m.fit(X, y) for n, m in models.items()}, X, y),
                "No line parts two rings; with one more feature the same rule draws a circle.",
            ),
            Note("A linear classifier draws curves if it is given features that are not linear."),
        ),
        numbers,
        step="classification (non-linear)",
    )


# ------------------------------------------------------------------------------- regression


def powers(x: Array, degree: int) -> Array:
    """x, ..., x^degree as columns."""
    return np.column_stack([x**k for k in range(1, degree + 1)])


def fitted(x: Array, y: Array, degree: int) -> tuple[Any, float]:
    """Least squares on the powers of x: the model, and R^2."""
    Z = powers(x, degree)
    model = LinearRegression().fit(Z, y)
    return model, float(model.score(Z, y))


def _along(model: Any, degree: int) -> Any:
    return lambda x: model.predict(powers(x, degree))


def sizes() -> tuple[Array, Array]:
    """Petal lengths and widths of all of Iris."""
    X = load_iris().data
    return X[:, 2], X[:, 3]


def nuclei() -> tuple[Array, Array]:
    """Mean radius and mean area of the cell nuclei of 569 tumours."""
    X = load_breast_cancer().data
    return X[:, 0], X[:, 3]


def line(_: Given) -> Section:
    """y = f(x), both numbers, f a line."""
    x, y = sizes()
    model, r2 = fitted(x, y, degree=1)
    names = ("petal length, cm", "petal width, cm")
    return Section(
        SUPERVISED,
        "Learning a function y = f(x) from a number to a number.",
        (
            Note(
                f"Iris: width = {model.coef_[0]:.3f} length {model.intercept_:+.3f} explains "
                f"{r2:.1%} of the variance of the petals' widths."
            ),
            Picture(
                "line",
                lambda: drawing.fits(x, y, {"a line": _along(model, 1)}, names),
                "Petals of Iris: a number from a number.",
            ),
        ),
        {"slope": float(model.coef_[0]), "r2": r2},
        step="regression (linear)",
    )


def curve(_: Given) -> Section:
    """f a curve: the area of a cell grows with the square of its radius."""
    x, y = nuclei()
    (straight, r2), (bent, r2_bent) = fitted(x, y, 1), fitted(x, y, 2)
    curves = {"a line": _along(straight, 1), "a parabola": _along(bent, 2)}
    names = ("mean radius", "mean area")
    return Section(
        SUPERVISED,
        "The function may be a curve.",
        (
            Note(
                f"Area of cell nuclei from their radius: a line explains {r2:.1%} of the variance, "
                f"a parabola {r2_bent:.1%}. Its leading coefficient is {bent.coef_[1]:.2f}; the "
                "area of a disc is 3.14 times the square of its radius."
            ),
            Picture(
                "curve",
                lambda: drawing.fits(x, y, curves, names),
                "Cell nuclei of 569 tumours: the line misses both ends.",
            ),
        ),
        {"line": r2, "parabola": r2_bent, "leading": float(bent.coef_[1])},
        step="regression (non-linear)",
    )


# ------------------------------------------------------------------------------- clustering


def mouse(seed: int = 0) -> tuple[Array, Array]:
    """A large head and two small ears: three round clouds of unequal size."""
    rng = np.random.default_rng(seed)
    parts = [((0.0, 0.0), 0.5, 300), ((-0.9, 1.05), 0.17, 100), ((0.9, 1.05), 0.17, 100)]
    X = np.vstack([rng.normal(middle, spread, (n, 2)) for middle, spread, n in parts])
    return X, np.repeat(np.arange(3), [n for _, _, n in parts])


@functools.cache
def clusterings() -> dict[str, Array]:
    """Three clusters by k-means and by EM, without looking at the labels."""
    X, _ = mouse()
    return {
        "k-Means Clustering": KMeans(3, n_init=4, random_state=0).fit_predict(X),
        "EM Clustering": GaussianMixture(3, random_state=0).fit_predict(X),
    }


def clustering(_: Given) -> Section:
    """No labels: k-means cuts the head, EM finds the ears."""
    X, truth = mouse()
    found = clusterings()
    agree = {name: float(adjusted_rand_score(truth, c)) for name, c in found.items()}
    return Section(
        "Unsupervised Learning",
        "Clustering: no output is given. Different analyses of the mouse data set differ.",
        (
            Table.of(
                ["", "agreement with the parts drawn from"],
                [[name, round(v, 3)] for name, v in agree.items()],
                "Adjusted Rand index: 1 is the same partition, 0 is chance.",
            ),
            Picture(
                "clustering",
                lambda: drawing.clusters(X, {"Original Data": truth, **found}),
                "The mouse: a head and two ears.",
            ),
            Note(
                "k-means gives each point to the nearest centre, so the ears take their share of "
                "the head; EM also learns that the ears are small."
            ),
        ),
        {"agreement": agree},
        step="clustering",
    )


SECTIONS = (
    perceptron,
    learning_problems,
    one_feature,
    two_features,
    non_linear,
    line,
    curve,
    clustering,
)
