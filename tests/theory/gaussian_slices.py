"""The error of the Bayes rule by quadrature: slices through two features, closed form on each.

It shares nothing with the inversion of `theory`. Error = integral of min(p0 f0, p1 f1).
For fixed x the other feature is Gaussian in either class; measured from the mean of class 0, in
its standard deviations, t is N(0, 1) in class 0 and N(a + c x, r^2) in class 1, and the integral
over t has a closed form with two thresholds. The integral over x is halved, piece by piece,
until two Gauss rules agree. The coefficients come from the floats as rationals.
"""

import math
from fractions import Fraction

import numpy as np
from scipy.special import ndtr

RULES = [np.polynomial.legendre.leggauss(n) for n in (40, 80)]


def slice_error(log0, log1, mean, spread):
    """integral over t of min(exp(log0) N(t; 0, 1), exp(log1) N(t; mean, spread^2)), vectorised."""
    w0, w1 = np.exp(log0), np.exp(log1)
    # class 1 where A t^2 + B t + C > 0
    A = (1 - 1 / spread**2) / 2
    B, C = mean / spread**2, log1 - log0 - np.log(spread) - (mean / spread) ** 2 / 2
    with np.errstate(all="ignore"):
        if A == 0:
            low = -C / B
            below, under = ndtr(low), ndtr(low - mean)
            up = np.where(mean > 0, w1 * under + w0 * (1 - below), w1 * (1 - under) + w0 * below)
            return np.where(mean == 0, np.minimum(w0, w1), up)
        disc = B * B - 4 * A * C
        root = np.sqrt(np.maximum(disc, 0))
        q = -(B + np.where(B >= 0, root, -root)) / 2
        r = np.sort(np.stack([q / A, np.where(q == 0, 0.0, C / q)]), axis=0)

        def inside(lo, hi):
            flip = lo > 0
            return ndtr(np.where(flip, -lo, hi)) - ndtr(np.where(flip, -hi, lo))

        def outside(lo, hi):
            return ndtr(lo) + ndtr(-hi)

        s = (r - mean) / spread
        if A > 0:  # class 1 outside the roots
            found = w1 * inside(*s) + w0 * outside(*r)
        else:
            found = w1 * outside(*s) + w0 * inside(*r)
        constant = np.where(A > 0, w0, w1)
        return np.where(disc <= 0, constant, found)


def bayes_error_2d(mean0, cov0, mean1, cov1, prior1):
    """The Bayes error of two features, regular covariances, to about 1e-11."""
    m0, m1 = ([Fraction(float(v)) for v in m] for m in (mean0, mean1))
    S0, S1 = ([[Fraction(float(v)) for v in row] for row in S] for S in (cov0, cov1))
    b0, b1 = S0[0][1] / S0[0][0], S1[0][1] / S1[0][0]  # slopes of the conditional means
    var0, var1 = S0[1][1] - b0 * S0[0][1], S1[1][1] - b1 * S1[0][1]
    unit = Fraction(math.sqrt(var0))
    spread = math.sqrt(var1 / var0)
    # x = m0 + s0 u: the mean of class 1 at x, from that of class 0, in units
    s0, s1 = Fraction(math.sqrt(S0[0][0])), Fraction(math.sqrt(S1[0][0]))
    steep = float((b1 - b0) * s0 / unit)
    start = float((m1[1] + b1 * (m0[0] - m1[0]) - m0[1]) / unit)
    gap, ratio = float((m0[0] - m1[0]) / s1), float(s0 / s1)
    logs = math.log1p(-prior1), math.log(prior1)
    base = -math.log(2 * math.pi) / 2

    def f(u):
        v = gap + ratio * u
        log0 = logs[0] + base - u * u / 2
        log1 = logs[1] + base - v * v / 2 + math.log(ratio)
        return slice_error(
            np.maximum(log0, -800), np.maximum(log1, -800), start + steep * u, spread
        )

    marks = np.concatenate([np.arange(-9.0, 9.5), (np.arange(-9.0, 9.5) - gap) / ratio])
    if steep:
        sizes = np.outer([spread, 1.0], [0.0, 0.3, 1, 2, 4, 8, 16, 40]).ravel()
        marks = np.concatenate([marks, (np.concatenate([sizes, -sizes]) - start) / steep])
    low, high = max(-9.0, (-9 - gap) / ratio), min(9.0, (9 - gap) / ratio)
    if low >= high:
        return 0.0
    return halved(
        f, np.unique(np.concatenate([[low, high], marks[(marks > low) & (marks < high)]]))
    )


def halved(f, marks, enough=2e-14):
    """The integral of f, pieces halved until two rules agree."""
    a, b, total = marks[:-1], marks[1:], 0.0
    for _ in range(60):
        values = []
        for x, w in RULES:
            at = (a + b)[:, None] / 2 + (b - a)[:, None] / 2 * x
            values.append((f(at.ravel()).reshape(at.shape) * w).sum(axis=1) * (b - a) / 2)
        bad = np.abs(values[0] - values[1]) > enough
        total += values[1][~bad].sum()
        if not bad.any():
            return float(total)
        middle = (a + b)[bad] / 2
        a, b = np.concatenate([a[bad], middle]), np.concatenate([middle, b[bad]])
    raise AssertionError("the quadrature did not settle")
