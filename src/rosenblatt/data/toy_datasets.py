"""Small data sets of two classes, labels -1 and +1: flowers, wines, tumours, points of lectures."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

Array = npt.NDArray[Any]
Examples = tuple[Array, Array]

# sutd: the test example, and the start it calls random
TEST_EXAMPLE: Examples = np.array([[1.0, 2.0], [-1.0, 2.0], [0.0, -1.0]]), np.array([1, -1, -1])
THETA_START = np.array([1.0, -0.8])
# sutd, definition 1.1: crosswise, so that no line can part them
CROSSED: Examples = (
    np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]]),
    np.array([1, -1, 1, -1]),
)
# sutd, exercise 3: both classes on one side of every line through the origin that could part them
BEYOND: Examples = (
    np.array([[1.0, 1.0], [2.0, 0.5], [2.0, 2.0], [3.0, 1.5]]),
    np.array([-1, -1, 1, 1]),
)
# radivojac, 1.0.1: exclusive or
XOR: Examples = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), np.array([-1, -1, 1, 1])
# chan: w^(k), and the sample x_1 with label y_1 that it gets wrong
ONE_W, ONE_X, ONE_Y = np.array([1.0, 2.0]), np.array([2.0, 0.5]), -1
# cisc271, figure 30.1
PETALS = [2, 3]  # length and width: the plane in which the figure is drawn
SLOW = 0.01  # "exaggerated by slowing the algorithm's convergence with a value eta"
STARTS = range(34, 38)  # seeds, picked for lines that differ well; others end more alike


def setosa() -> Examples:
    """Fisher's Iris, 150 flowers with 4 measurements in cm: setosa (+1) or not. It separates."""
    X, species = load_iris(return_X_y=True)
    return X, np.where(species == 0, 1, -1)


def versicolor() -> Examples:
    """The same flowers: versicolor (+1) or not. No hyperplane separates them."""
    X, species = load_iris(return_X_y=True)
    return X, np.where(species == 1, 1, -1)


def cultivar() -> Examples:
    """178 Italian wines with 13 measurements: the second cultivar (+1) or not. It separates."""
    X, kind = load_wine(return_X_y=True)
    return X, np.where(kind == 1, 1, -1)


def tumours() -> Examples:
    """569 breast tumours with 30 measurements: malignant (+1) or benign. It separates."""
    X, benign = load_breast_cancer(return_X_y=True)
    return X, np.where(benign == 0, 1, -1)


def rounds(n: int = 400, seed: int = 7) -> Examples:
    """online: n points of the plane, none closer than 0.1 to a line through 0."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (4 * n, 2))
    along = X @ [0.6, 0.8]
    apart = np.abs(along) > 0.1
    return X[apart][:n], np.where(along[apart][:n] > 0, 1, -1)


def two_clouds(n: int = 100, apart: float = 6.0, seed: int = 16) -> Examples:
    """chan: n points around (0, 0), label -1, n around (apart, apart), label +1; deviation 1."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((2 * n, 2))
    X[n:] += apart
    return X, np.repeat([-1, 1], n)


def random_start(seed: int, n_features: int) -> Array:
    """cisc271: a random augmented weight vector, the offset last."""
    return np.random.default_rng(seed).standard_normal(n_features + 1)


def in_turn(examples: Examples, groups: int) -> Examples:
    """Groups of one size that stand one after the other, now one row of each in turn."""
    order = np.arange(len(examples[1])).reshape(groups, -1).T.ravel()
    return examples[0][order], examples[1][order]


def sepals() -> Examples:
    """150 flowers, one of each species in turn: setosa (+1) or not. Length and width in cm of a
    sepal, less 5 and 3, so that the origin lies among them."""
    X, y = setosa()
    return in_turn((np.round(X[:, :2] - [5, 3], 1), y), groups=3)


def two_species() -> Examples:
    """100 flowers in turn, versicolor (+1) or virginica: petals in cm. No line separates them."""
    X, y = versicolor()
    return in_turn((X[50:, PETALS], y[50:]), groups=2)


def petals(species: str = "setosa") -> Examples:
    """150 flowers, length and width of a petal in cm: setosa or versicolor (+1) or not."""
    X, y = setosa() if species == "setosa" else versicolor()
    return X[:, PETALS], y
