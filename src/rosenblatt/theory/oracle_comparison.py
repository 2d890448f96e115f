"""Comparison of learners with the oracle: true errors over many samples of a Gaussian pair.

The learners are the perceptron with every `keep`, linear and quadratic discriminant analysis, and
logistic regression, with the defaults of `Perceptron` and of scikit-learn.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from rosenblatt.data.problem import Problem
from rosenblatt.errors import ParameterError
from rosenblatt.learn.in_memory import train
from rosenblatt.learn.schedule import seeds_and_split
from rosenblatt.learn.settings import Keep, TrainingSettings
from rosenblatt.learn.state import Ballot, State
from rosenblatt.text import TableReport
from rosenblatt.theory.gaussian_pair import GaussianPair

Array = npt.NDArray[Any]
Learner = Callable[[GaussianPair, Array, Array, int], float]
KEEPS: tuple[Keep, ...] = ("last", "average", "vote", "pocket")
DRAWN = 1 << 16  # rows of each class on which a vote is tried
HEADER = ["rule", "error", "from", "to", "worst", "above Bayes"]


@dataclass(frozen=True, eq=False)
class Line:
    """One learner: its true error after each sample.

    Attributes
    ----------
    name : str
    errors : array, one true error per seed; nan where nothing could be learned
    """

    name: str
    errors: Array

    @property
    def exact(self) -> bool:
        """Whether the errors are computed; those of a vote are sampled."""
        return "vote" not in self.name

    @property
    def mean(self) -> float:
        return float(np.nanmean(self.errors)) if self.n else math.nan

    @property
    def n(self) -> int:
        """Samples from which something was learned."""
        return int((~np.isnan(self.errors)).sum())

    def interval(self, confidence: float) -> tuple[float, float]:
        """For the mean error over all samples of this size: Student's, cut at 0 and 1."""
        if self.n < 2:
            return 0.0, 1.0
        spread = float(np.nanstd(self.errors, ddof=1)) / math.sqrt(self.n)
        reach = float(stdtrit(self.n - 1, (1 + confidence) / 2)) * spread
        return max(self.mean - reach, 0.0), min(self.mean + reach, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class OracleComparison(TableReport):
    """Learners on samples of one pair, and what the oracle knows.

    Attributes
    ----------
    pair : GaussianPair
    n : rows of each sample, or rows of each class
    seeds : tuple of int
    confidence : float
    bayes, best_linear : float
        The least error of any rule, and of any linear one.
    lines : tuple of Line
    """

    pair: GaussianPair
    n: int | tuple[int, int]
    seeds: tuple[int, ...]
    confidence: float
    bayes: float
    best_linear: float
    lines: tuple[Line, ...]

    def __getitem__(self, name: str) -> Line:
        for line in self.lines:
            if line.name == name:
                return line
        raise KeyError(f"{name!r}; there are {', '.join(repr(x.name) for x in self.lines)}")

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the lines of the table.

        Returns
        -------
        header : list of str
            Names of the columns.
        lines : list of list of str
            The cells of each line.
        """
        known = [("Bayes rule", self.bayes), ("best linear rule", self.best_linear)]
        out = [
            [name, _short(error), "", "", "", _short(error - self.bayes)] for name, error in known
        ]
        for line in self.lines:
            low, high = line.interval(self.confidence)
            name = line.name if line.exact else f"{line.name} (sampled)"
            if line.n < len(self.seeds):
                name = f"{name} ({line.n} of {len(self.seeds)})"
            worst = float(np.nanmax(line.errors)) if line.n else math.nan
            cells = [line.mean, low, high, worst, line.mean - self.bayes]
            out.append([name, *map(_short, cells)])
        return HEADER, out

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, for JSON; what was not learned is None."""
        return {
            "n": list(self.n) if isinstance(self.n, tuple) else self.n,
            "seeds": list(self.seeds),
            "confidence": self.confidence,
            "bayes_error": self.bayes,
            "best_linear_error": self.best_linear,
            "rules": [
                {
                    "name": line.name,
                    "exact": line.exact,
                    "mean": None if line.n == 0 else line.mean,
                    "interval": list(line.interval(self.confidence)),
                    "errors": [None if math.isnan(e) else e for e in line.errors.tolist()],
                }
                for line in self.lines
            ],
        }

    @property
    def notes(self) -> list[str]:
        """What the table is about."""
        rows = f"{self.n[0]} + {self.n[1]}" if isinstance(self.n, tuple) else f"{self.n}"
        return [
            f"True errors after {len(self.seeds)} samples of {rows} rows; from, to: where the mean "
            f"lies with confidence {self.confidence:g}."
        ]


def versus_oracle(
    pair: GaussianPair,
    n: int | tuple[int, int] = 200,
    *,
    seeds: int | Iterable[int] = 20,
    rules: Iterable[str] | None = None,
    confidence: float = 0.95,
) -> OracleComparison:
    """Train on samples of a Gaussian pair, and compare the true errors with the oracle's.

    A linear or quadratic rule has a true error, which is computed and not estimated from test
    rows. The error of a vote is sampled, and the table says so.

    Parameters
    ----------
    pair : GaussianPair
        The two classes.
    n : int or (int, int), default=200
        Number of rows of each sample, with classes drawn by the prior; or of each class.
    seeds : int or iterable of int, default=20
        Number of samples, or their seeds. The seed also determines the order of visits.
    rules : iterable of str, optional
        Some of 'perceptron, last', 'perceptron, average', 'perceptron, vote', 'perceptron, pocket',
        'LDA', 'QDA' and 'logistic regression'; all by default.
    confidence : float, default=0.95
        Confidence level of the interval for the mean error over all samples of this size.

    Returns
    -------
    OracleComparison
        The true errors of each rule; prints as a table.

    Raises
    ------
    ParameterError
        If a parameter is invalid.

    Examples
    --------
    >>> from rosenblatt import GaussianPair
    >>> pair = GaussianPair([0, 0], 1.0, [2, 0], 1.0)
    >>> table = versus_oracle(pair, 100, seeds=3, rules=["perceptron, average", "LDA"])
    >>> round(table.bayes, 6), table["LDA"].mean > table.bayes
    (0.158655, True)
    """
    named = tuple(LEARNERS) if rules is None else tuple(rules)
    strange = [name for name in named if name not in LEARNERS]
    if strange or not named:
        raise ParameterError(
            f"rules must be some of {', '.join(map(repr, LEARNERS))}, got {strange or named!r}."
        )
    if not isinstance(pair, GaussianPair):
        raise ParameterError(f"pair must be a GaussianPair, got {type(pair).__name__}.")
    if (sum(n) if isinstance(n, tuple) else n) < 3:
        raise ParameterError(f"n must be at least 3 rows in all, got {n!r}.")
    if isinstance(n, tuple) and min(n) < 1:
        raise ParameterError(f"n must be at least 1 row of each class, got {n!r}.")
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence must lie between 0 and 1, got {confidence!r}.")
    chosen = tuple(range(seeds)) if isinstance(seeds, int) else tuple(int(s) for s in seeds)
    if not chosen:
        raise ParameterError(f"seeds must be at least one sample, got {seeds!r}.")
    errors: dict[str, list[float]] = {name: [] for name in named}
    for seed in chosen:
        X, y = pair.sample(n, seed)
        for name in named:
            if y.min() == y.max():  # trained on one class, it predicts that class
                errors[name].append(pair.prior1 if y[0] == 0 else 1 - pair.prior1)
            else:
                errors[name].append(LEARNERS[name](pair, X, y, seed))
    lines = tuple(Line(name, np.array(found)) for name, found in errors.items())
    best = pair.best_linear().error
    return OracleComparison(pair, n, chosen, confidence, pair.bayes_error(), best, lines)


def _short(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"


# ---------------------------------------------------------------------- learners


def perceptron(keep: Keep) -> Learner:
    """The estimator's run with this `keep`; nan where a vote had too many hyperplanes."""

    def learn(pair: GaussianPair, X: Array, y: Array, seed: int) -> float:
        state = State.at(np.zeros(X.shape[1]), np.zeros(1))
        settings = TrainingSettings(order="shuffle", keep=keep, tol=1e-3)  # as the estimator's
        drawn = seeds_and_split(seed, 1, lambda: None)[0][0]
        _, w, b = train(Problem.of(X, y), settings, state=state, seed=drawn)
        if keep != "vote":
            return pair.error_of(w, b)
        return error_of_vote(pair, state.ballot(0), seed)

    return learn


def error_of_vote(pair: GaussianPair, votes: Ballot, seed: int = 0) -> float:
    """From `DRAWN` rows of each class: how often the vote is wrong."""
    said_1 = []
    for k in (0, 1):
        z = np.random.default_rng((seed, k)).standard_normal((DRAWN, pair.n_features))
        said_1.append(float((votes.scores(pair.drawn(k, z)) >= 0).mean()))
    return (1 - pair.prior1) * said_1[0] + pair.prior1 * (1 - said_1[1])


def linear(module: str, name: str, **options: Any) -> Learner:
    """A linear classifier of scikit-learn."""

    def learn(pair: GaussianPair, X: Array, y: Array, seed: int) -> float:
        clf = getattr(import_module(f"sklearn.{module}"), name)(**options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # collinear features, no convergence: the error tells
            clf.fit(X, y)
        return pair.error_of(clf.coef_, clf.intercept_)

    return learn


def qda(pair: GaussianPair, X: Array, y: Array, seed: int) -> float:
    """Quadratic discriminant analysis; nan where a class has too few rows for a covariance."""
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    clf = QuadraticDiscriminantAnalysis(store_covariance=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.fit(X, y)
    except (np.linalg.LinAlgError, ValueError):
        return math.nan
    if any(min(s) <= 0 for s in clf.scalings_):
        return math.nan
    (m0, m1), (S0, S1) = clf.means_, clf.covariance_
    fitted = GaussianPair(m0, S0, m1, S1, float(clf.priors_[1]))
    return pair.error_of_quadratic(*fitted.log_odds_coefficients())


LEARNERS: dict[str, Learner] = {
    **{f"perceptron, {keep}": perceptron(keep) for keep in KEEPS},
    "LDA": linear("discriminant_analysis", "LinearDiscriminantAnalysis"),
    "QDA": qda,
    # with scikit-learn's penalty: without, it may diverge
    "logistic regression": linear("linear_model", "LogisticRegression", max_iter=10_000),
}
