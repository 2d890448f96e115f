"""GaussianPair: two Gaussian classes, the least possible error, and the error of any rule.

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
from scipy.special import ndtr

from rosenblatt.errors import DataError, ParameterError, UndecidedError
from rosenblatt.theory.best_linear import best_direction
from rosenblatt.theory.covariance import (
    SMALL,
    Coordinates,
    Covariance,
    Gaussian,
    as_covariance,
    as_vector,
    divided,
)
from rosenblatt.theory.quadratic_form import Quadratic
from rosenblatt.theory.validation import as_plane

Array = npt.NDArray[Any]
AGREED = 1e-7  # two ways to compute an error agree to this, so that 1e-6 is safe


@dataclass(frozen=True, eq=False)
class GaussianRule:
    """Class 1 where x'A x + w.x + b >= 0; a linear rule has no A, a constant one w = 0.

    Attributes
    ----------
    w, b : array, float
    error : float
        Its error for the pair it was made for.
    A : array or None
    """

    w: Array
    b: float
    error: float
    A: Array | None = None

    def decision(self, X: npt.ArrayLike) -> Array:
        """x'A x + w.x + b for each row."""
        points = _as_points(X, len(self.w))
        linear = np.asarray(points @ self.w + self.b)
        return linear if self.A is None else np.sum((points @ self.A) * points, axis=1) + linear

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """0 or 1 for each row."""
        return np.asarray(self.decision(X) >= 0, dtype=np.int64)

    def __str__(self) -> str:
        kind = "linear rule" if self.A is None else f"quadratic rule A = {self.A},"
        return f"{kind} w = {self.w}, b = {self.b:.9g}, error {self.error:.9g}"


@dataclass(frozen=True, eq=False)
class GaussianPair:
    """Two Gaussian classes, 0 and 1, with the true errors of the rules that tell them apart.

    Parameters
    ----------
    mean0 : array-like of shape (d,), or float for d = 1
        Mean of class 0.
    cov0 : array-like of shape (d, d), or float
        Covariance matrix of class 0, or its variance in every direction. It must be positive
        semidefinite and may be singular.
    mean1 : array-like of shape (d,), or float for d = 1
        Mean of class 1.
    cov1 : array-like of shape (d, d), or float
        Covariance of class 1.
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
        mean0, mean1 = as_vector(self.mean0, "mean0"), as_vector(self.mean1, "mean1")
        d, p = len(mean0), self.prior1
        if len(mean1) != d:
            raise DataError(
                f"mean0 has {d} entries and mean1 {len(mean1)}. Give both the same features."
            )
        number = isinstance(p, (int, float, np.floating, np.integer)) and not isinstance(p, bool)
        if not number or not 0 <= p <= 1:
            raise ParameterError(
                f"prior1 is the probability of class 1 and must be from 0 to 1, got {p!r}."
            )
        given = {"mean0": mean0, "mean1": mean1, "prior1": float(p)}
        given |= {k: as_covariance(getattr(self, k), d, k) for k in ("cov0", "cov1")}
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.mean0)

    @property
    def linear(self) -> bool:
        """Whether the Bayes rule is linear: equal covariances."""
        return bool(np.array_equal(self.cov0, self.cov1))

    @cached_property
    def _classes(self) -> tuple[Gaussian, Gaussian]:
        return Gaussian(self.cov0, self.mean0), Gaussian(self.cov1, self.mean1)

    @cached_property
    def _coordinates(self) -> Coordinates:
        return Coordinates.of(*self._classes)

    @property
    def _log_odds(self) -> float:
        """log(p1 / p0)."""
        if self.prior1 in (0.0, 1.0):
            return math.inf if self.prior1 else -math.inf
        return math.log(self.prior1) - math.log1p(-self.prior1)

    # ----------------------------------------------------------------------- draws

    def sample(self, n: int | tuple[int, int], seed: int = 0) -> tuple[Array, Array]:
        """Draw rows and their labels 0 and 1.

        Parameters
        ----------
        n : int or (int, int)
            Number of rows, with classes drawn by `prior1`; or the numbers of rows of class 0 and of
            class 1, which are shuffled.
        seed : int, default=0
            The same seed gives the same rows.

        Returns
        -------
        X : array of shape (n, d)
            Rows.
        y : array of shape (n,)
            Labels.

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
        X = rng.standard_normal((len(y), self.n_features))
        for k in (0, 1):
            X[y == k] = self.drawn(k, X[y == k])
        return X, y

    def drawn(self, label: int, z: Array) -> Array:
        """Turn rows of independent standard normal numbers into rows of one class.

        Parameters
        ----------
        label : {0, 1}
            The class.
        z : array of shape (n, d)
            Standard normal numbers.

        Returns
        -------
        array of shape (n, d)
            Rows of the class.
        """
        one = self._classes[label]
        return np.asarray(one.mean + z[:, : one.root.shape[1]] @ one.root.T)

    def density(self, X: npt.ArrayLike, label: int) -> Array:
        """Return the density of one class at the rows of X, without its prior.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.
        label : {0, 1}
            The class.

        Returns
        -------
        array of shape (n,)
            Densities.

        Raises
        ------
        DataError
            If the covariance of the class is singular.

        Examples
        --------
        >>> GaussianPair(0.0, 1.0, 2.0, 1.0).density([[0.0]], 0)
        array([0.39894228])
        """
        if label not in (0, 1):
            raise ParameterError(f"label must be 0 or 1, got {label!r}.")
        one = self._classes[label]
        if not one.regular:
            raise DataError(
                f"cov{label} is singular, so class {label} has no density. Add a little to its "
                "diagonal, or leave out features that others determine."
            )
        z = divided(one.root, (_as_points(X, self.n_features) - one.mean).T)
        with np.errstate(over="ignore"):
            logs = -np.sum(z * z, axis=0) / 2 - np.log(np.diagonal(one.root)).sum()
        return np.asarray(np.exp(logs - self.n_features * math.log(2 * math.pi) / 2))

    # ------------------------------------------------------------------ the Bayes rule

    def decision(self, X: npt.ArrayLike) -> Array:
        """Return the log-odds of class 1 at the rows of X; the Bayes rule is their sign.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.

        Returns
        -------
        array of shape (n,)
            Log-odds. Infinite where only one class is possible: with a prior of 0 or 1, or with
            singular covariances.

        Examples
        --------
        >>> GaussianPair(0.0, 1.0, 2.0, 1.0).decision([[0.0], [1.0], [3.0]])
        array([-2.,  0.,  4.])
        """
        points = _as_points(X, self.n_features)
        if math.isinf(self._log_odds):
            return np.full(len(points), self._log_odds)
        at = self._coordinates
        if not at.overlap:
            return np.where(self._in_class_0(points), -math.inf, math.inf)
        u = (points - self.mean0) @ at.T.T
        if self.linear:  # the squares cancel; share = rest = 1/2
            return np.asarray(2 * (u @ at.m) - at.m @ at.m + self._log_odds)
        with np.errstate(over="ignore", invalid="ignore"):
            terms = u**2 / at.share - (u - at.m) ** 2 / at.rest
        logs = float(np.sum(np.log(at.share) - np.log(at.rest)))
        return np.asarray((terms.sum(axis=1) + logs) / 2 + self._log_odds)

    def _in_class_0(self, X: Array) -> npt.NDArray[np.bool_]:
        """Whether a row belongs to class 0, where a row can belong to one class only.

        Floats are rarely exactly on the line or plane that holds a class, so near counts.
        """
        of0, of1 = self._classes
        far0, far1 = of0.distance(X), of1.distance(X)
        if of0.rank == of1.rank:
            return np.asarray(far0 <= far1)
        scale = Covariance(self.cov0 + self.cov1).scale
        near = SMALL * (1 + np.abs((X - self.mean0) * scale).max(axis=1))
        return np.asarray(far0 <= near if of0.rank < of1.rank else far1 > near)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the label of each row by the Bayes rule: 1 if the log-odds are >= 0.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.

        Returns
        -------
        int array of shape (n,)
            0 or 1.
        """
        return np.asarray(self.decision(X) >= 0, dtype=np.int64)

    def bayes_error(self) -> float:
        """Return the smallest error of any rule, with a relative error of at most 1e-6.

        For equal covariances there is a closed form; otherwise the characteristic function of the
        log-odds is inverted along a path on which nothing cancels. The error is computed twice,
        with the classes exchanged and the features in reverse.

        Returns
        -------
        float
            The Bayes error.

        Raises
        ------
        UndecidedError
            If the two results differ because of rounding.

        Examples
        --------
        >>> round(GaussianPair(0.0, 1.0, 1.0, 4.0, prior1=0.7).bayes_error(), 6)
        0.299658
        """
        p0, p1 = 1 - self.prior1, self.prior1
        other = Coordinates.of(*(one.reversed() for one in self._classes[::-1]))
        return _agreed(
            _least_error(self._coordinates, p0, p1, self._log_odds, self.linear),
            _least_error(other, p1, p0, -self._log_odds, self.linear),
        )

    def bayes_rule(self) -> GaussianRule:
        """Return the coefficients of the Bayes rule, if both covariances are regular.

        Returns
        -------
        GaussianRule
            A linear or quadratic rule, and its error.

        Raises
        ------
        DataError
            If a covariance is singular.

        Examples
        --------
        >>> rule = GaussianPair([0, 0], 1.0, [2, 0], 1.0).bayes_rule()
        >>> rule.w, rule.b
        (array([2., 0.]), -2.0)
        """
        if not all(one.regular for one in self._classes):
            raise DataError(
                "a covariance is singular, so the log-odds are no quadratic. Use decision(X)."
            )
        if math.isinf(self._log_odds):
            return self._constant(self.prior1 == 1)
        A, w, b = self.log_odds_coefficients()
        return GaussianRule(w, b, self.bayes_error(), None if self.linear else A)

    def log_odds_coefficients(self) -> tuple[Array, Array, float]:
        """Return the coefficients of the log-odds x'A x + w.x + b, for regular covariances.

        A = (S0^-1 - S1^-1) / 2,   w = S1^-1 m1 - S0^-1 m0,
        b = (m0'S0^-1 m0 - m1'S1^-1 m1 + log(det S0 / det S1)) / 2 + log(p1 / p0).

        Returns
        -------
        A : array of shape (d, d)
            Quadratic coefficients.
        w : array of shape (d,)
            Linear coefficients.
        b : float
            The constant.
        """
        inverses = [np.linalg.inv(one.S) for one in self._classes]
        slopes = [S @ one.mean for S, one in zip(inverses, self._classes, strict=True)]
        logs = [2 * np.log(np.diagonal(one.root)).sum() for one in self._classes]
        heights = self.mean0 @ slopes[0] - self.mean1 @ slopes[1]
        b = float(heights + logs[0] - logs[1]) / 2 + self._log_odds
        return (inverses[0] - inverses[1]) / 2, slopes[1] - slopes[0], b

    # ------------------------------------------------------------------- other rules

    def error_of(self, w: npt.ArrayLike, b: npt.ArrayLike = 0.0) -> float:
        """Return the true error of the linear rule "class 1 if w.x + b >= 0", in closed form.

        The score is normal in each class, with mean w.m_k + b and variance w'S_k w; both are summed
        without rounding.

        Parameters
        ----------
        w : array-like of shape (d,) or (1, d)
            Weights, for example `coef_`.
        b : float or array-like of shape (1,), default=0.0
            Offset, for example `intercept_`.

        Returns
        -------
        float
            The probability of a wrong label.

        Examples
        --------
        >>> GaussianPair(0.0, 1.0, 2.0, 1.0).error_of([1.0], -1.0)
        0.15865525393145707
        """
        weights, offset = as_plane(w, b, self.n_features)
        score0, score1 = (one.standard_score(weights, offset) for one in self._classes)
        return float(self.prior1 * ndtr(-score1) + (1 - self.prior1) * ndtr(score0))

    def error_of_quadratic(
        self, A: npt.ArrayLike, w: npt.ArrayLike, b: npt.ArrayLike = 0.0
    ) -> float:
        """Return the true error of the rule "class 1 if x'A x + w.x + b >= 0".

        Its relative error is at most 1e-6. It is computed twice, with the features in either order.

        Parameters
        ----------
        A : array-like of shape (d, d)
            Quadratic coefficients.
        w : array-like of shape (d,) or (1, d)
            Weights.
        b : float or array-like of shape (1,), default=0.0
            Offset.

        Returns
        -------
        float
            The probability of a wrong label.

        Raises
        ------
        UndecidedError
            If the two results differ because of rounding.

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
        errors = []
        for order in (1, -1):
            of0, of1 = (one.quadratic(matrix, weights, offset, order) for one in self._classes)
            errors.append((1 - self.prior1) * of0.positive() + self.prior1 * of1.negative())
        return _agreed(*errors)

    def best_linear(self) -> GaussianRule:
        """Return the linear rule with the smallest true error (Anderson and Bahadur).

        All directions that can have the smallest error are searched, and constant rules. If a class
        does not vary in some direction, there may be no best rule but only a sequence of better
        ones; then one of these is returned.

        Returns
        -------
        GaussianRule
            The rule, with its own error.

        Examples
        --------
        >>> rule = GaussianPair([0, 0], 1.0, [0, 0], 1.0, prior1=0.2).best_linear()
        >>> rule.w, rule.b, rule.error       # always class 0
        (array([0., 0.]), -1.0, 0.2)
        """
        at = self._coordinates
        if self.prior1 not in (0.0, 1.0) and at.gap.any():
            # the classes never meet along a direction in which neither varies
            k = int(np.abs(at.gap).argmax())
            w = Covariance(self.cov0 + self.cov1).null[:, k] * np.sign(at.gap[k])
            return self._rule(w, -float(w @ (self.mean0 + self.mean1)) / 2)
        if self.prior1 not in (0.0, 1.0) and at.m.size:
            found = best_direction(at, self.prior1)
            if found is not None:
                w = found[0] @ at.T
                return self._rule(w, -found[1] - float(w @ self.mean0))
        return self._constant(self.prior1 > 0.5)

    def _rule(self, w: Array, b: float) -> GaussianRule:
        return GaussianRule(w, b, self.error_of(w, b))

    def _constant(self, one: bool) -> GaussianRule:
        return self._rule(np.zeros(self.n_features), 1.0 if one else -1.0)

    def __str__(self) -> str:
        kind = "equal covariances" if self.linear else "different covariances"
        return (
            f"two Gaussian classes of {self.n_features} features, {kind}, prior of class 1 "
            f"{self.prior1:g}"
        )


def _as_points(X: Any, d: int) -> Array:
    """Rows of d numbers."""
    points = np.asarray(X, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 and d == 1 else points
    if points.ndim != 2 or points.shape[1] != d:
        raise DataError(f"X has shape {np.shape(X)}. Give rows of {d} features, shape (n, {d}).")
    return points


def _least_error(at: Coordinates, p0: float, p1: float, log_odds: float, equal: bool) -> float:
    """The Bayes error; in closed form for equal covariances.

    With t = share / rest and c = m / sqrt(rest), the log-odds are for x of class 0
    sum (1 - t) / 2 z^2 + sqrt(t) c z - c^2 / 2, for x of class 1 sum (1 / t - 1) / 2 z^2 + c / t z
    + c^2 / (2 t), apart from constants. At its vertex either is -c^2 / (2 (1 - t)), which cancels
    nothing.
    """
    if p1 in (0.0, 1.0) or not at.overlap:
        return 0.0
    if not at.m.any() and equal:
        return min(p0, p1)
    if equal:
        D = math.sqrt(2.0) * float(np.linalg.norm(at.m))
        return float(p0 * ndtr(-D / 2 + log_odds / D) + p1 * ndtr(-D / 2 - log_odds / D))
    t, c = at.share / at.rest, at.m / np.sqrt(at.rest)
    logs = np.log(t) / 2
    with np.errstate(all="ignore"):
        vertex = -(c**2) / (2 * (1 - t)) + logs
        of0 = Quadratic.of((1 - t) / 2, np.sqrt(t) * c, -(c**2) / 2 + logs, vertex, log_odds)
        of1 = Quadratic.of((1 / t - 1) / 2, c / t, c**2 / (2 * t) + logs, vertex, log_odds)
    return p0 * of0.positive() + p1 * of1.negative()


def _agreed(one: float, other: float) -> float:
    """The first of two values that were computed in different ways, if they agree."""
    if abs(one - other) > AGREED * max(abs(one), abs(other)):
        raise UndecidedError(
            f"rounding leaves an error between {one:.9g} and {other:.9g}, further apart than a "
            "millionth of it. The covariances are nearly singular, or differ by too many orders of "
            "magnitude: leave out features that others determine."
        )
    return one
