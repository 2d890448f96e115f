"""Margin: the hyperplane of largest margin (optimal stability), with both bounds.

The largest margin is a distance, so it is found as one:

- offset free: half the distance of the two convex hulls;
- offset inside the norm (the constant 1 as a feature), or no offset: the norm of the smallest
  point of the hull of the z_i = y_i (x_i, 1), or y_i x_i.

Every point p of the set bounds the margin from above by its norm (half of it, offset free);
every hyperplane bounds it from below by the smallest of its own y_i (w.x_i + b) / ||w||. The
smallest point over a working set of rows is found in floats; a reading of all rows says which
others are further down, and the lowest few join. What is returned is computed from the rows
without rounding; where floats cannot close the interval, Wolfe's algorithm over integers finishes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from rosenblatt.data.cone import Cone, ConeBlock, as_cone
from rosenblatt.data.exact import to_integers
from rosenblatt.errors import NotSupportedError, ParameterError, RosenblattError, UndecidedError
from rosenblatt.prove.certificate import (
    Certificate,
    Combination,
    Separable,
    data_digest,
    spoken_of,
)
from rosenblatt.prove.certificate.margin import MaxMargin
from rosenblatt.prove.checker.norms import nearest, root, sqrt_down, sqrt_up
from rosenblatt.prove.checker.signs import Plane, least_scores
from rosenblatt.prove.limits import Limits
from rosenblatt.prove.separability.decide import verdict_of
from rosenblatt.prove.separability.nearest_point import Corral
from rosenblatt.prove.separability.scaling import dense, signed_rows
from rosenblatt.prove.separability.working_set import hardest_rows

Array = npt.NDArray[Any]
Number = float | Fraction
EASY_ROWS, EASY_STEPS = 40, 3  # what is finished in rationals though floats would do
SMALL = 100  # columns up to which the rationals are tried before `separability` is asked
# rows of each class that a reading adds, besides a quarter of the number of columns
PER_READING = 150
NOTHING = 1e-15  # a square, relative to the largest, that floats cannot tell from 0
BALANCE = 1e3  # how much more two sums of weights must agree than sum to 1
EXACT_ROWS = 400  # of a rational system that is tried


class NotSeparableError(RosenblattError, ValueError):
    """There is no margin to maximise; `certificate` proves it.

    Parameters
    ----------
    certificate : Certificate
        The verdict with its proof, which becomes an attribute.

    Examples
    --------
    >>> try:
    ...     max_margin([[0], [1], [2]], [0, 1, 0])
    ... except NotSeparableError as e:
    ...     print(e.certificate.verdict)
    overlapping
    """

    def __init__(self, certificate: Certificate) -> None:
        self.certificate = certificate
        super().__init__(
            f"the classes are {certificate.verdict}, so no margin is positive. The proof is in "
            f"`certificate`:\n{certificate.explain()}"
        )


def max_margin(
    X: Any,
    y: Any = None,
    *,
    fit_intercept: bool = True,
    augmented: bool = False,
    rtol: float = 1e-6,
    max_seconds: float | None = None,
) -> MaxMargin:
    """The hyperplane of largest margin, with bounds that lie within `rtol` of each other.

    Parameters
    ----------
    X : array, memory map, frame or CSR matrix of shape (n_samples, n_features), or chunks
        Chunks are pairs (X, y), in something that can be iterated several times or is returned by
        a function.
    y : array of shape (n_samples,), optional
        Labels of two classes. None if X is chunks.
    fit_intercept : bool, default=True
        With an offset, or through the origin.
    augmented : bool, default=False
        Count the offset in the norm, as the mistake bound does.
    rtol : float, default=1e-6
        How close `lower` and `upper` must be, relatively.
    max_seconds : float, optional
        After this time it returns what it has, with exact bounds; `closed` says whether that is
        enough.

    Returns
    -------
    MaxMargin
        The hyperplane, both bounds and their proof.

    Raises
    ------
    NotSeparableError
        If nothing separates the classes; it carries the certificate.
    UndecidedError
        If no hyperplane that separates them was found within `max_seconds`.

    Examples
    --------
    >>> found = max_margin([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]], [0, 0, 1, 1])
    >>> found.w, found.b, found.lower, found.upper
    (array([1., 0.]), -1.0, 1.0, 1.0)
    """
    if not 0 < rtol < 1:
        raise ParameterError(f"rtol must lie between 0 and 1, got {rtol!r}.")
    limits = Limits.starting_now(max_seconds, None)
    limits.stage = "before a hyperplane was found"
    groups = 2 if fit_intercept and not augmented else 1
    cone = replace(as_cone(X, y, fit_intercept), constant=bool(fit_intercept) and groups == 1)
    if not cone.signs.all():
        raise NotSupportedError("rows of equality lie on every hyperplane, so there is no margin.")
    search = _Search(cone, groups, rtol, limits)
    search.by_floats()
    spoken = spoken_of(cone, fit_intercept) | {"data": data_digest(cone)}
    found = _result(search, spoken, exact=False)
    if found.closed:
        exact = search.by_rationals(EASY_ROWS, EASY_STEPS)
        return _result(search, spoken, exact) if exact else found
    hidden = found.lower <= 0  # floats see no hyperplane that separates
    wide = hidden and cone.n_columns > SMALL
    certificate = _certified(cone, fit_intercept, limits) if wide else None
    exact = search.by_rationals()
    if hidden and certificate is None and not exact:
        certificate = _certified(cone, fit_intercept, limits)
    return _result(search, spoken, exact, certificate)


def _certified(cone: Cone, fit_intercept: bool, limits: Limits) -> Separable:
    """The hyperplane that `separability` finds, or the error that there is none."""
    limits.check_time()
    certificate = verdict_of(replace(cone, constant=fit_intercept), limits)
    if not isinstance(certificate, Separable):
        raise NotSeparableError(certificate)
    return certificate


# ---------------------------------------------------------------------- the smallest point


class _Search:
    """A search for the smallest point: a working set in floats, a corral in rationals.

    Attributes
    ----------
    groups : int
        2: the nearest points of the hulls of the two classes. 1: of the hull of all z_i and 0.
    means : array of shape (2, n_features)
        Of the two classes, +1 first, in floats: where `by_floats` begins.
    rtol : float
        The floats stop when rows further down by this, relatively, are no longer found.
    corral : Corral
        After `by_floats`, the rows of the working set with positive weights; after a
        `by_rationals` that is True, the answer.
    """

    def __init__(self, cone: Cone, groups: int, rtol: float, limits: Limits) -> None:
        self.cone, self.groups, self.rtol, self.limits = cone, groups, rtol, limits
        exponents, firsts, counts, sums = zip(*cone.map(_summary), strict=True)
        # powers of two bring the largest entry to about 1: exact, and squares stay in range
        self.exponent = max(*exponents, 1 if cone.constant else -1000)
        shifts = np.array(exponents) - self.exponent
        sums = np.ldexp(sums, shifts[:, None, None]).sum(axis=0)
        self.means = sums / np.sum(counts, axis=0)[:, None]  # of the classes
        self.rows = np.zeros(0, dtype=np.int64)  # the working set
        self.Z, self.group = np.zeros((0, cone.n_columns)), np.zeros(0, dtype=np.int64)
        self.weights = np.zeros(0)
        self._add(np.array([min(r for r in rows if r >= 0) for rows in zip(*firsts, strict=True)]))
        self.weights += 1.0
        self.pace = 0.0  # seconds that the last solve took, divided by the cube of its size

    @property
    def _late(self) -> bool:
        return time.time() > self.limits.deadline

    def by_floats(self) -> None:
        """Start at the difference of the class means, then alternate between reading all rows and
        solving over the working set.
        """
        p, square = np.zeros(self.cone.n_columns), math.inf
        p[: self.cone.n_features] = self.means[0] - self.means[1]
        while not self._late:
            most = PER_READING + self.cone.n_columns // 4
            found = hardest_rows(self.cone, np.ldexp(p, -self.exponent), most)
            lowest = [float(scores.min(initial=math.inf)) for _, scores in found]
            level = sum(lowest) if self.groups == 2 else min(lowest)
            fresh = self._add(np.concatenate([rows for rows, _ in found]))
            if level >= (1 - self.rtol / 8) * square or not fresh or not self._solve():
                break
            sums = np.bincount(self.group, self.weights, self.groups)
            p, least = self.Z.T @ (self.weights / sums[self.group]), square
            square = float(p @ p)
            if square <= NOTHING * self._size**2 or square >= least:
                break
        self.corral = self._exact_corral()

    def _add(self, rows: Array) -> bool:
        """Put rows, as floats of size about 1, in place of those without weight.

        Whether one was not there. The point comes closer with every solution, so this ends.
        """
        fresh, kept = bool(np.setdiff1d(rows, self.rows).size), self.weights > 0
        new = np.setdiff1d(rows, self.rows[kept])
        block = self.cone.take(new)
        Z = dense(signed_rows(block, self.cone.constant))
        self.Z = np.vstack([self.Z[kept], np.ldexp(Z, -self.exponent)])
        side = block.sign < 0 if self.groups == 2 else np.zeros(len(new))
        self.group = np.append(self.group[kept], side.astype(np.int64))
        self.weights = np.append(self.weights[kept], np.zeros(len(new)))
        self.rows = np.append(self.rows[kept], new)
        return fresh

    @property
    def _size(self) -> float:
        """The length of the longest row."""
        return math.sqrt(float(np.einsum("ij,ij->i", self.Z, self.Z).max())) or 1.0

    def _solve(self) -> bool:
        """The weights of the smallest point over the working set; False without time for it.

        Lawson and Hanson's method: minimise ||sum_i a_i z_i||^2 + (sum_i a_i - size)^2 with a >= 0,
        a multiple of the answer; with two groups the sums of their weights must be equal.
        """
        began, n, size = time.time(), len(self.rows), self._size
        if began + self.pace * n**3 > self.limits.deadline:
            return False
        ends = [np.full((1, n), size)]
        if self.groups == 2:
            ends.append(BALANCE * size * (1.0 - 2.0 * self.group)[None])
        right = np.zeros(self.cone.n_columns + self.groups)
        right[self.cone.n_columns] = size
        try:
            found, _ = nnls(np.vstack([self.Z.T, *ends]), right, maxiter=20 * n)
        except RuntimeError:  # too many steps
            return False
        self.pace = (time.time() - began) / n**3
        if any(not found[self.group == g].any() for g in range(self.groups)):
            return False
        self.weights = found
        return True

    def _exact_corral(self) -> Corral:
        """The rows with positive weights, which are made to sum to exactly 1 in each group."""
        corral, inside = Corral(self.groups, self.limits), np.flatnonzero(self.weights)
        weights = [Fraction(a) for a in self.weights[inside].tolist()]
        totals = [Fraction(0)] * self.groups
        for g, a in zip(self.group[inside].tolist(), weights, strict=True):
            totals[g] += a
        numbers = zip(*self._integers(self.rows[inside]), strict=True)
        for k, a, (vector, exponent) in zip(inside.tolist(), weights, numbers, strict=True):
            group = int(self.group[k])
            corral.add(int(self.rows[k]), vector, a / totals[group], group, exponent)
        return corral

    def _integers(self, rows: Sequence[int] | Array) -> tuple[list[list[int]], list[int]]:
        """The z_i as integers and the exponents of two they were multiplied by."""
        return to_integers(signed_rows(self.cone.take(rows), self.cone.constant))

    def by_rationals(self, most_rows: int = EXACT_ROWS, most_steps: float = math.inf) -> bool:
        """Finish without rounding: True if the smallest point was reached."""
        corral, steps = self.corral, 0
        while len(corral.rows) <= most_rows and steps <= most_steps and not self._late:
            try:
                corral.settle()
            except UndecidedError:  # not in the time left
                return False
            point = corral.point()[0]
            if not any(point):
                return False
            found = self.least(point)
            level = corral.levels(point)
            short = [mu - low.value for mu, low in zip(level, found, strict=True)]
            most, g = max((s, g) for g, s in enumerate(short))
            if most <= 0:
                return True
            vectors, exponents = self._integers([found[g].row])
            corral.add(found[g].row, vectors[0], Fraction(0), g, exponents[0])
            steps += 1
        return False

    def least(self, v: Sequence[Number]) -> Any:
        """The least score in direction v, of each group; the constant's entry is the last."""
        d = self.cone.n_features
        plane = Plane(v[:d], v[d] if self.cone.constant else 0)
        return least_scores(self.cone, plane, self.groups == 2, self.rtol / 100)

    def point(self) -> tuple[list[int], Fraction]:
        """A positive multiple of the point reached, and its norm squared, exactly."""
        point, common = self.corral.point()
        square = Fraction(sum(v * v for v in point), common * common)
        return point, square / Fraction(4) ** self.corral.exponent


def _summary(block: ConeBlock) -> tuple[int, list[int], list[int], list[Array]]:
    """The exponent e of the largest entry of a block, and what it has of each class.

    For each class (+1 first): its first row (-1: none), its number of rows, and the sum of its x_i
    times 2^-e.
    """
    top = max(float(block.X.max()), -float(block.X.min()))
    exponent = max(math.frexp(top)[1], -1000)
    mine = [block.sign == label for label in (1, -1)]
    first = [block.first_row + int(rows.argmax()) if rows.any() else -1 for rows in mine]
    unit = math.ldexp(1.0, -exponent)
    sums = [np.asarray(unit * rows @ block.X) for rows in mine]
    return exponent, first, [int(rows.sum()) for rows in mine], sums


# ---------------------------------------------------------------------- what is returned


def _result(
    search: _Search, spoken: dict[str, Any], exact: bool, certificate: Separable | None = None
) -> MaxMargin:
    """Both bounds from exact sums; `exact`: the point that was reached is the smallest."""
    point, square = search.point()
    square /= search.groups**2
    upper = sqrt_up(square)
    norm = root(Fraction(sum(v * v for v in point))) or Fraction(1)
    w, b, lower = _hyperplane(search, [nearest(v / norm) for v in point])
    closed = lower > 0 and upper < math.inf and upper - lower <= search.rtol * upper
    if exact and not closed:
        w, b, lower = _hyperplane(search, [Fraction(v) for v in point])
    elif lower <= 0 and certificate is not None:
        inside = [certificate.b] if search.cone.constant else []
        w, b, lower = _hyperplane(search, [*certificate.w, *inside])
    used = sorted(zip(search.corral.rows, search.corral.weights, strict=True))
    proof = [(row, Fraction(a)) for row, a in used if a > 0]
    return MaxMargin(
        **spoken,
        w=w,
        b=b,
        lower=lower,
        upper=upper,
        augmented=search.cone.constant,
        rtol=search.rtol,
        proof=Combination(tuple(i for i, _ in proof), tuple(a for _, a in proof)),
        square=square if exact else None,
    )


def _hyperplane(search: _Search, v: Sequence[Number]) -> tuple[Array, Number, float]:
    """The best hyperplane in direction v: (w, b), and its margin rounded down.

    If the offset is inside the norm, it is the last entry of v.
    """
    d = search.cone.n_features
    lows = [low.value for low in search.least(v)]
    floats = all(isinstance(c, float) for c in v)
    w = np.array(v[:d], dtype=np.float64 if floats else object)
    b: Number = v[d] if search.cone.constant else 0.0
    if search.groups == 2:
        middle = (lows[1] - lows[0]) / 2
        b = nearest(middle) if floats else middle
        if b in (math.inf, -math.inf):
            return w, b, -math.inf
        lows = [lows[0] + Fraction(b), lows[1] - Fraction(b)]
    low = min(lows)
    square = sum((Fraction(c) ** 2 for c in v), Fraction(0))
    if square == 0:
        return w, b, -math.inf
    ratio = low * low / square
    return w, b, sqrt_down(ratio) if low >= 0 else -sqrt_up(ratio)
