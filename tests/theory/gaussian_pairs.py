"""Random pairs of Gaussians, tame and wild: nearly singular, very unequal, aligned or not."""

import math
from fractions import Fraction

import numpy as np


def turned(rng, sizes):
    """A covariance with about these eigenvalues; positive definite as floats."""
    d = len(sizes)
    Q, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return settled((Q * sizes) @ Q.T)


def settled(S):
    S = (S + S.T) / 2
    while not definite(S):
        S = S + 1e-16 * np.trace(S) * np.eye(len(S))
    return S


def definite(S):
    """Positive definite, by rationals."""
    a = [[Fraction(float(v)) for v in row] for row in S]
    for k in range(len(a)):
        if a[k][k] <= 0:
            return False
        for i in range(k + 1, len(a)):
            f = a[i][k] / a[k][k]
            a[i] = [x - f * y for x, y in zip(a[i], a[k], strict=True)]
    return True


def random_pair(seed, d=2):
    """(mean0, cov0, mean1, cov1, prior1); the classes overlap more often than not."""
    rng = np.random.default_rng(seed)
    kind = seed % 5
    wide = [1.0, 6.0, 13.0, 13.0, 6.0][kind]  # decades of the eigenvalues
    unequal = [0.5, 4.0, 1.0, 1.0, 10.0][kind]  # decades of the sizes
    sizes0 = 10.0 ** -rng.uniform(0, wide, d)
    cov0 = turned(rng, sizes0)
    if kind == 3:  # nearly singular in the same direction
        cov1 = settled(cov0 * rng.uniform(0.3, 3) + 1e-15 * np.trace(cov0) * np.eye(d))
    else:
        cov1 = turned(rng, 10.0 ** -rng.uniform(0, wide, d))
    cov1 = cov1 * 10.0 ** rng.uniform(-unequal, unequal)
    mean0 = rng.normal(size=d) * 10.0 ** rng.uniform(-2, 2)
    root = np.linalg.eigh(cov0 if rng.random() < 0.5 else cov1)
    step = root[1] @ (np.sqrt(np.maximum(root[0], 0)) * rng.normal(size=d))
    mean1 = mean0 + step * 10.0 ** rng.uniform(-1.5, 0.6)
    prior1 = float(rng.choice([0.5, 0.3, 0.9, rng.uniform(1e-4, 1 - 1e-4)]))
    return mean0, cov0, mean1, cov1, prior1


def condition(S):
    values = np.linalg.eigvalsh(S)
    return math.inf if values[0] <= 0 else values[-1] / values[0]
