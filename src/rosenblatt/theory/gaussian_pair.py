"""Oracle: two Gaussian classes, the least possible error, and the error of any rule.

Class 1 has probability p1, class 0 the rest; x of class k is N(m_k, S_k). The Bayes rule says
class 1 where the log-odds

    q(x) = log p1 f1(x) - log p0 f0(x)

are >= 0: a linear rule if S0 = S1, else a quadratic one. Its error is P(q < 0 | 1) p1 +
P(q >= 0 | 0) p0, computed and not sampled (`theory/quadratic_form.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import DataError, ParameterError, Undecided
from rosenblatt.theory.best_linear import best_plane
from rosenblatt.theory.canonical import Canonical
from rosenblatt.theory.covariance import Spread, as_covariance, as_mean, as_prior
from rosenblatt.theory.gaussian_rules import (
    LinearRule,
    QuadraticRule,
    as_plane,
    as_points,
    log_odds_coefficients,
    quadratic_of,
    sides,
)
from rosenblatt.theory.oracle_comparison import Comparison, versus_oracle

Array = npt.NDArray[Any]
AGREED = 1e-7  # two ways to compute an error agree to this, so that 1e-6 is safe
__all__ = ["Comparison", "GaussianPair", "LinearRule", "QuadraticRule", "versus_oracle"]


@dataclass(frozen=True, eq=False)
class GaussianPair:
    """Two Gaussian classes, 0 and 1, with the exact errors of the rules that tell them apart.

    Parameters
    ----------
    mean0, mean1 : vector of d numbers, or a number for d = 1
    cov0, cov1 : d x d covariance matrix, or a number: that variance in every direction
        Positive semidefinite; singular ones are allowed.
    prior1 : float, default=0.5
        The probability of class 1.

    Examples
    --------
    >>> pair = GaussianPair([0, 0], 4.0, [10, 10], 4.0)
    >>> round(pair.bayes_error(), 9)
    0.000203476
    >>> pair.error_of([1.0, 0.0], -5.0)      # only the first feature
    0.006209665325776132
    """

    mean0: Array
    cov0: Array
    mean1: Array
    cov1: Array
    prior1: float = 0.5

    def __post_init__(self) -> None:
        means = as_mean(self.mean0, "mean0"), as_mean(self.mean1, "mean1")
        d = len(means[0])
        if len(means[1]) != d:
            raise DataError(
                f"mean0 has {d} entries and mean1 {len(means[1])}. Give both the same features."
            )
        for name, value in (
            ("mean0", means[0]),
            ("mean1", means[1]),
            ("cov0", as_covariance(self.cov0, d, "cov0")),
            ("cov1", as_covariance(self.cov1, d, "cov1")),
            ("prior1", as_prior(self.prior1)),
        ):
            object.__setattr__(self, name, value)

    @property
    def n_features(self) -> int:
        return len(self.mean0)

    @property
    def linear(self) -> bool:
        """Whether the Bayes rule is linear: equal covariances."""
        return bool(np.array_equal(self.cov0, self.cov1))

    @cached_property
    def _spreads(self) -> tuple[Spread, Spread]:
        return Spread(self.cov0), Spread(self.cov1)

    @cached_property
    def _canonical(self) -> Canonical:
        return Canonical.of(*self._spreads, self.mean1 - self.mean0)

    @property
    def _log_odds(self) -> float:
        """log(p1 / p0)."""
        if self.prior1 in (0.0, 1.0):
            return math.inf if self.prior1 else -math.inf
        return math.log(self.prior1) - math.log1p(-self.prior1)

    # ----------------------------------------------------------------------- draws

    def sample(self, n: int | tuple[int, int], seed: int = 0) -> tuple[Array, Array]:
        """Rows and labels 0 and 1.

        Parameters
        ----------
        n : int or (int, int)
            How many rows, their classes drawn with `prior1`; or how many of class 0 and of
            class 1, in this order and then shuffled.
        seed : int, default=0
            The same seed gives the same rows.

        Examples
        --------
        >>> X, y = GaussianPair([0, 0], 1.0, [3, 3], 1.0).sample((50, 20), seed=1)
        >>> X.shape, int(y.sum())
        ((70, 2), 20)
        """
        rng = np.random.default_rng(seed)
        counts = n if isinstance(n, tuple) else (n, 0)
        whole = all(isinstance(k, (int, np.integer)) and k >= 0 for k in counts)
        if len(counts) != 2 or not whole or sum(counts) < 1:
            raise ParameterError(
                f"n must be a number of rows, or of rows of class 0 and of class 1, got {n!r}."
            )
        if isinstance(n, tuple):
            y = rng.permutation(np.repeat([0, 1], n))
        else:
            y = (rng.random(n) < self.prior1).astype(np.int64)
        z = rng.standard_normal((len(y), self.n_features))
        X = np.empty(z.shape)
        for k, mean, spread in zip((0, 1), (self.mean0, self.mean1), self._spreads, strict=True):
            R = spread.root
            X[y == k] = mean + z[y == k][:, : R.shape[1]] @ R.T
        return X, y

    def density(self, X: Any, label: int) -> Array:
        """The density of class `label` (0 or 1) at the rows of X, without its prior.

        >>> GaussianPair(0.0, 1.0, 2.0, 1.0).density([[0.0]], 0)
        array([0.39894228])
        """
        if label not in (0, 1):
            raise ParameterError(f"label must be 0 or 1, got {label!r}.")
        spread, mean = self._spreads[label], (self.mean0, self.mean1)[label]
        if not spread.full:
            raise DataError(
                f"cov{label} is singular, so class {label} has no density. Add a little to its "
                "diagonal, or leave out features that others determine."
            )
        return np.asarray(np.exp(spread.log_density(as_points(X, self.n_features) - mean)))

    # ------------------------------------------------------------------ the Bayes rule

    def decision(self, X: Any) -> Array:
        """The log-odds of class 1 at the rows of X; class 1 where they are >= 0.

        Infinite where only one class can be: a prior of 0 or 1, or singular covariances.

        >>> GaussianPair(0.0, 1.0, 2.0, 1.0).decision([[0.0], [1.0], [3.0]])
        array([-2.,  0.,  4.])
        """
        points = as_points(X, self.n_features)
        if math.isinf(self._log_odds):
            return np.full(len(points), self._log_odds)
        means = self.mean0, self.mean1
        return self._canonical.decision(points, *means, self._log_odds, self.linear)

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """The Bayes rule: 0 or 1 for each row."""
        return np.asarray(self.decision(X) >= 0, dtype=np.int64)

    def bayes_error(self) -> float:
        """The least error that any rule can have, to a millionth of itself or better.

        In closed form for one feature and for equal covariances; otherwise by inverting the
        characteristic function of the log-odds along a path on which nothing cancels. It is
        computed twice, with the classes exchanged and the features in reverse; `Undecided` is
        raised where rounding makes these differ.

        >>> round(GaussianPair(0.0, 1.0, 1.0, 4.0, prior1=0.7).bayes_error(), 6)
        0.299658
        """
        return self._bayes_error

    @cached_property
    def _bayes_error(self) -> float:
        p0, p1, log_odds = 1 - self.prior1, self.prior1, self._log_odds
        found = self._canonical.least_error(p0, p1, log_odds, self.linear)
        of1, of0 = (Spread(S[::-1, ::-1]) for S in (self.cov1, self.cov0))
        other = Canonical.of(of1, of0, (self.mean0 - self.mean1)[::-1])
        return _agreed(found, other.least_error(p1, p0, -log_odds, self.linear))

    def bayes_rule(self) -> LinearRule | QuadraticRule:
        """The Bayes rule by its coefficients, if both covariances are regular.

        >>> rule = GaussianPair([0, 0], 1.0, [2, 0], 1.0).bayes_rule()
        >>> rule.w, rule.b
        (array([2., 0.]), -2.0)
        """
        if not all(spread.full for spread in self._spreads):
            raise DataError(
                "a covariance is singular, so the log-odds are no quadratic. Use decision(X)."
            )
        if math.isinf(self._log_odds):
            return self._constant(self.prior1 == 1)
        A, w, b = log_odds_coefficients((self.mean0, self.mean1), self._spreads, self._log_odds)
        if self.linear:
            return LinearRule(w, b, self.bayes_error())
        return QuadraticRule(A, w, b, self.bayes_error())

    # ------------------------------------------------------------------- other rules

    def error_of(self, w: Any, b: Any = 0.0) -> float:
        """The true error of the linear rule "class 1 where w.x + b >= 0", in closed form.

        Parameters
        ----------
        w : d numbers, also as `coef_` has them
        b : the offset, default=0

        Examples
        --------
        >>> GaussianPair(0.0, 1.0, 2.0, 1.0).error_of([1.0], -1.0)
        0.15865525393145707
        """
        weights, offset = as_plane(w, b, self.n_features)
        missed = sides(weights, offset, self.mean1, self.cov1)[0]
        false = sides(weights, offset, self.mean0, self.cov0)[1]
        return self.prior1 * missed + (1 - self.prior1) * false

    def error_of_quadratic(self, A: Any, w: Any, b: Any = 0.0) -> float:
        """The true error of "class 1 where x'A x + w.x + b >= 0", to a millionth of itself.

        Computed twice, with the features in either order; `Undecided` where rounding makes these
        differ.

        Parameters
        ----------
        A : d x d matrix
        w, b : as for `error_of`

        Examples
        --------
        >>> pair = GaussianPair([0, 0], 1.0, [0, 0], 9.0)
        >>> round(pair.error_of_quadratic([[1, 0], [0, 1]], [0, 0], -4.0), 9)
        0.16729894
        """
        d = self.n_features
        weights, offset = as_plane(w, b, d)
        matrix = np.asarray(A, dtype=np.float64)
        if matrix.shape != (d, d) or not np.isfinite(matrix).all():
            raise DataError(f"A has shape {matrix.shape}. Give a finite {d} x {d} matrix.")
        if not matrix.any():
            return self.error_of(weights, offset)
        return _agreed(*(self._quadratic_error(matrix, weights, offset, k) for k in (1, -1)))

    def _quadratic_error(self, A: Array, w: Array, b: float, order: int) -> float:
        """With the features as they are, order = 1, or in reverse, order = -1."""
        parts = []
        for mean, S in ((self.mean0, self.cov0), (self.mean1, self.cov1)):
            R = Spread(S[::order, ::order]).root
            parts.append(quadratic_of(A[::order, ::order], w[::order], b, mean[::order], R))
        return (1 - self.prior1) * parts[0].positive() + self.prior1 * parts[1].negative()

    def best_linear(self) -> LinearRule:
        """The linear rule of least true error (Anderson and Bahadur), constant rules included.

        The least error is searched for among all directions that can have it, and the rule
        that is returned has exactly the error it says. If a class does not vary in some direction
        there may be no best rule, only ever better ones; then it is one of these.

        >>> rule = GaussianPair([0, 0], 1.0, [0, 0], 1.0, prior1=0.2).best_linear()
        >>> rule.w, rule.b, rule.error       # always class 0
        (array([0., 0.]), -1.0, 0.2)
        """
        return self._best_linear

    @cached_property
    def _best_linear(self) -> LinearRule:
        plane = best_plane(self._canonical, self.mean0, self.mean1, self.prior1)
        return self._rule(*plane) if plane else self._constant(self.prior1 > 0.5)

    def _rule(self, w: Array, b: float) -> LinearRule:
        return LinearRule(w, b, self.error_of(w, b))

    def _constant(self, one: bool) -> LinearRule:
        return self._rule(np.zeros(self.n_features), 1.0 if one else -1.0)

    def __str__(self) -> str:
        kind = "equal covariances" if self.linear else "different covariances"
        return (
            f"two Gaussian classes of {self.n_features} features, {kind}, prior of class 1 "
            f"{self.prior1:g}"
        )


def _agreed(one: float, other: float) -> float:
    """The first of two values that were computed in different ways, if they agree."""
    if abs(one - other) > AGREED * max(abs(one), abs(other)):
        raise Undecided(
            f"rounding leaves an error between {one:.9g} and {other:.9g}, further apart than a "
            "millionth of it. The covariances are nearly singular, or differ by too many orders of "
            "magnitude: leave out features that others determine."
        )
    return one
