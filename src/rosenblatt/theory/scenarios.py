"""Scenarios: the five pairs of Gaussians that chan sets beside the Bayesian oracle.

The text gives N(0, 2) and N(10, 2), and says neither whether the 2 is a variance or a standard
deviation nor how many dimensions there are. Here: two dimensions, means (0, 0) and (10, 10), and
either reading, the same in every direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rosenblatt.theory.gaussian_pair import GaussianPair


@dataclass(frozen=True)
class Scenario:
    """Spreads of the two classes, how many samples of each, and the prior of the second."""

    number: int
    spreads: tuple[float, float]
    samples: tuple[int, int]
    prior1: float
    concludes: str

    def pair(self, spread: str = "deviation") -> GaussianPair:
        """The two classes; the second parameter is a "deviation" or a "variance".

        >>> FIVE[0].pair().cov0[0, 0], FIVE[0].pair("variance").cov0[0, 0]
        (np.float64(4.0), np.float64(2.0))
        """
        first, second = (s**2 if spread == "deviation" else s for s in self.spreads)
        eye = np.eye(2)
        return GaussianPair(np.zeros(2), first * eye, np.full(2, 10.0), second * eye, self.prior1)

    @property
    def said(self) -> str:
        """In the lecture's words."""
        (s0, s1), (n0, n1) = self.spreads, self.samples
        priors = f", priors {1 - self.prior1:g} and {self.prior1:g}" if self.number == 5 else ""
        return (
            f"N(0, {s0:g}) with {n0} samples and N(10, {s1:g}) with {n1}{priors}. "
            f"The lecture concludes: {self.concludes}"
        )


FIVE = (
    Scenario(1, (2, 2), (50, 50), 0.5, "when everything is ideal, the perceptron is pretty good."),
    Scenario(
        2,
        (4, 4),
        (200, 200),
        0.5,
        "even when the data sets overlap, the perceptron is still okay.",
    ),
    Scenario(
        3,
        (2, 0.3),
        (200, 200),
        0.5,
        "when Gaussians have different covariances, the perceptron does not work.",
    ),
    Scenario(
        4,
        (1, 1),
        (1800, 200),
        0.5,
        "the number of training samples does not seem to affect the algorithm.",
    ),
    Scenario(
        5,
        (1, 1),
        (1800, 200),
        0.1,
        "intrinsic imbalance does not seem to affect the algorithm.",
    ),
)
