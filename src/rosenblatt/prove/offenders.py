"""Offenders: rows whose removal makes two classes separable, and how many must go at least.

To find the fewest is hard in general (it is the smallest training error of a hyperplane), so the
answer is an interval: a removal that is proven to be enough, and a proven bound from below.
Where both meet, the removal is proven to be smallest.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.cone import two_classes
from rosenblatt.data.problem import Problem
from rosenblatt.errors import ParameterError, RosenblattError, UndecidedError
from rosenblatt.prove import checker
from rosenblatt.prove.certificate import Separable, data_digest
from rosenblatt.prove.certificate.offenders import Offenders, Witness, labels_of
from rosenblatt.prove.checker.removal import distances
from rosenblatt.prove.margin import max_margin
from rosenblatt.prove.removal.rays import Rays, in_memory
from rosenblatt.prove.removal.search import Search
from rosenblatt.prove.separability import separability

Array = npt.NDArray[Any]
Number = float | Fraction
SMALL = 100_000  # numbers of data for which the hyperplane of largest margin is looked for


def offenders(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    max_seconds: float = 20.0,
    random_state: Any = 0,
) -> Offenders:
    """A small set of rows whose removal makes the data separable, and how many must go at least.

    Separable means strictly: some (w, b) has y_i (w.x_i + b) > 0 for every row that stays. Rows of
    one class alone count as separable with an offset (w = 0 and the offset does it); without an
    offset they need a w like any others. Rows of zeros can never stay without an offset.

    The removal is verified exactly, and so is the bound. Whether they meet depends on the data
    and on time: finding the smallest removal is NP-hard.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d), in memory
    y : labels of two classes
    fit_intercept : bool, default=True
        Hyperplanes with an offset, or through the origin.
    max_seconds : float, default=20.0
        When to stop looking for fewer rows and better bounds. It returns earlier if both meet.
        What is found is then put together and verified, which may take a little longer.
    random_state : int, default=0
        Seed of the random choices of the search. Any seed gives a true answer; if time decides
        when it ends, the same seed need not give the same one.

    Examples
    --------
    >>> X, y = [[0], [1], [2], [3], [4], [5]], ["a", "a", "b", "a", "b", "b"]
    >>> found = offenders(X, y)
    >>> len(found.rows), found.lower_bound, found.minimum
    (1, 1, True)
    >>> bool(found.verify(X, y))
    True
    """
    began = time.perf_counter()
    if not max_seconds > 0:
        raise ParameterError(
            f"max_seconds must be a number > 0, got {max_seconds!r}. Give at least a second or two."
        )
    problem = Problem.exact(X, y)
    two_classes(problem.classes)
    rays = Rays.of(problem, bool(fit_intercept))
    search = Search(rays, 0.8 * max_seconds - (time.perf_counter() - began), random_state)
    search.run()
    left = max(began + max_seconds - time.perf_counter(), 0.1 * max_seconds)
    found = _put_together(search, problem, left)
    return replace(found, seconds=time.perf_counter() - began)


def _put_together(search: Search, problem: Problem, seconds: float) -> Offenders:
    """The result, verified. A bound whose search cannot be checked again is not claimed."""
    rays, end = search.rays, time.perf_counter() + seconds
    rows = in_memory(problem, np.arange(problem.n_rows))
    certificate = _certificate(problem, rays.rows(np.flatnonzero(search.out)), rays, seconds)
    w, b = _best_placed(search, problem, certificate, max(end - time.perf_counter(), 0.0))
    removed = tuple(rays.rows(np.flatnonzero(search.out)).tolist())
    found = Offenders(
        rows=removed,
        lower_bound=search.bound,
        witnesses=_witnesses(search, search.by_search),
        copies=_copies(search, search.by_search),
        by_search=search.by_search,
        w=w,
        b=b,
        certificate=certificate,
        labels=labels_of(rows, removed),
        distances=distances(rows, removed, w, b, rays.intercept),
        fit_intercept=rays.intercept,
        n_rows=problem.n_rows,
        n_features=problem.n_features,
        data=data_digest(rows),
        seconds=0.0,
    )
    untrue = found._untrue(rows)
    if untrue and found.by_search:
        packed = sum(search.packed.values(), Fraction(0))
        found = replace(
            found,
            lower_bound=-int(-packed // 1),
            witnesses=_witnesses(search, False),
            copies=_copies(search, False),
            by_search=False,
        )
        untrue = found._untrue(rows)
    if untrue:
        raise RosenblattError(
            f"the answer did not verify ({'; '.join(untrue)}), so it is not given. Please report "
            "these data."
        )
    return found


def _certificate(problem: Problem, removed: Array, rays: Rays, seconds: float) -> Separable | None:
    X, y = kept(problem, removed.tolist())
    if len(set(y.tolist())) < 2:
        return None
    try:
        found = separability(X, y, fit_intercept=rays.intercept, max_seconds=seconds)
    except UndecidedError:
        return None
    return found if isinstance(found, Separable) else None


def _best_placed(
    search: Search, problem: Problem, certificate: Separable | None, seconds: float
) -> tuple[tuple[Number, ...], Number]:
    """The hyperplane of largest margin where that is quick, else the one that was found."""
    plain = search.plane.w, search.plane.b
    if certificate is None or problem.n_rows * problem.n_features > SMALL:
        return plain
    X, y = kept(problem, search.rays.rows(np.flatnonzero(search.out)).tolist())
    try:
        with np.errstate(all="ignore"):  # norms overflow where exact signs do not
            found = max_margin(
                X, y, fit_intercept=search.rays.intercept, max_steps=1000, max_seconds=seconds
            )
    except RosenblattError:
        return plain
    w, b = tuple(found.w.tolist()), found.b
    rest = in_memory(problem, np.flatnonzero(~search.out[search.rays.ray]))
    if (checker.signs(rest, w, b, search.rays.intercept) <= 0).any():
        return plain
    return w, b


def _witnesses(search: Search, by_search: bool) -> tuple[Witness, ...]:
    first = search.rays.first
    sets = search.searched if by_search else list(search.packed)
    return tuple(
        Witness(
            tuple(int(first[g]) for g in search.pool[W].rays),
            search.pool[W].weights,
            search.packed.get(W, Fraction(0)),
        )
        for W in sets
    )


def _copies(search: Search, by_search: bool) -> tuple[tuple[int, ...], ...]:
    """The groups of several rows that the witnesses speak of."""
    rays = search.rays
    named = set().union(*(search.searched if by_search else search.packed))
    several = [g for g in sorted(named) if rays.mass[g] > 1]
    place = {g: k for k, g in enumerate(several)}
    groups: list[list[int]] = [[] for _ in several]
    chosen = np.isin(rays.ray, several)
    for i in np.flatnonzero(chosen).tolist():
        groups[place[int(rays.ray[i])]].append(i)
    return tuple(tuple(group) for group in groups)


def kept(problem: Problem, removed: Sequence[int]) -> tuple[Any, Array]:
    """The rows that stay, with their labels as the user writes them."""
    keep = np.ones(problem.n_rows, dtype=bool)
    keep[list(removed)] = False
    return problem.X[keep], problem.classes[(problem.y[keep].astype(np.int64) + 1) // 2]
