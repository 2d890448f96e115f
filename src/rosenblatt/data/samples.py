"""Samples: small real data sets that are always there, two classes, labels -1 and +1."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

Array = npt.NDArray[Any]


def setosa() -> tuple[Array, Array]:
    """Fisher's Iris, 150 flowers with 4 measurements in cm: setosa (+1) or not. It separates."""
    X, species = load_iris(return_X_y=True)
    return X, np.where(species == 0, 1, -1)


def versicolor() -> tuple[Array, Array]:
    """The same flowers: versicolor (+1) or not. No hyperplane separates them."""
    X, species = load_iris(return_X_y=True)
    return X, np.where(species == 1, 1, -1)


def cultivar() -> tuple[Array, Array]:
    """178 Italian wines with 13 measurements: the second cultivar (+1) or not. It separates."""
    X, kind = load_wine(return_X_y=True)
    return X, np.where(kind == 1, 1, -1)


def tumours() -> tuple[Array, Array]:
    """569 breast tumours with 30 measurements: malignant (+1) or benign. It separates."""
    X, benign = load_breast_cancer(return_X_y=True)
    return X, np.where(benign == 0, 1, -1)
