"""Verdicts for many classes: every pair, and every class against the rest, in one table."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from rosenblatt.data.cone import rows_and_labels
from rosenblatt.data.problem import Problem
from rosenblatt.errors import LabelError, UndecidedError
from rosenblatt.prove.certificate import Certificate
from rosenblatt.prove.certificate.explain import word
from rosenblatt.prove.limits import Limits
from rosenblatt.prove.separability import separability
from rosenblatt.text import TableReport, text_table

SHORT = {"separable": "sep", "quasi-separable": "quasi", "overlapping": "over", "undecided": "?"}
WIDE = 100  # columns of text; a wider table gets the short words


@dataclass(frozen=True, eq=False, repr=False)
class VerdictTable(TableReport):
    """One certificate per pair of classes, and one per class against the rest.

    A certificate of a pair speaks of the rows of these two classes, in their order; one against
    the rest, of all rows with the labels False and True. None where time ran out.

    Attributes
    ----------
    classes : the labels
    pairs : dict from (class, class) to certificate
    versus_rest : dict from class to certificate
    """

    classes: npt.NDArray[Any]
    pairs: dict[tuple[Any, Any], Certificate | None]
    versus_rest: dict[Any, Certificate | None]

    @property
    def all_separable(self) -> bool:
        """Whether every class is separable from every other, and from the rest."""
        found = [*self.pairs.values(), *self.versus_rest.values()]
        return all(c is not None and c.verdict == "separable" for c in found)

    def verdicts(self) -> dict[str, Any]:
        """The verdicts as plain values, for JSON."""
        return {
            "classes": self.classes.tolist(),
            "pairs": [[*pair, _verdict(c)] for pair, c in self.pairs.items()],
            "versus_rest": [[label, _verdict(c)] for label, c in self.versus_rest.items()],
        }

    def rows(self, short: bool = False) -> tuple[list[str], list[list[str]]]:
        """Header and lines: a class a line, its verdict against each other and the rest."""
        labels, lines = self.classes.tolist(), []
        for a in labels:
            found = [self.pairs.get((a, b), self.pairs.get((b, a))) for b in labels]
            cells = ["" if a == b else _verdict(c) for b, c in zip(labels, found, strict=True)]
            cells.append(_verdict(self.versus_rest[a]))
            lines.append([word(a), *(SHORT[c] if short and c else c for c in cells)])
        return ["class", *map(word, labels), "rest" if short else "the rest"], lines

    def __str__(self) -> str:
        text = text_table(*self.rows())
        if len(text.partition("\n")[0]) <= WIDE:
            return text
        legend = ", ".join(f"{s} = {long}" for long, s in SHORT.items() if long in text)
        return f"{text_table(*self.rows(short=True))}\n{legend}"


def separability_table(
    X: Any,
    y: npt.ArrayLike | None = None,
    *,
    fit_intercept: bool = True,
    max_seconds: float | None = None,
) -> VerdictTable:
    """Decide for every pair of classes, and for each class against the rest, if it is separable.

    Parameters
    ----------
    X : array, frame or CSR matrix of shape (n_samples, n_features)
        Rows of numbers; or a table of :func:`rosenblatt.read`.
    y : array of shape (n_samples,), optional
        Labels of two or more classes. Left out for a table that was read.
    fit_intercept : bool, default=True
        Hyperplanes with an offset, or through the origin.
    max_seconds : float, optional
        Time limit for the whole table. Each question gets an equal share of the time that is left;
        a question that needs more stays undecided.

    Returns
    -------
    VerdictTable
        The verdicts with their certificates; prints as a table.

    Raises
    ------
    DataError
        If X is invalid, or holds numbers that float64 rounds.
    LabelError
        If y has one class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> print(separability_table(*load_iris(return_X_y=True)))
    class            0            1            2     the rest
        0                 separable    separable    separable
        1    separable               overlapping  overlapping
        2    separable  overlapping               overlapping
    """
    problem = Problem.exact(*rows_and_labels(X, y))
    if len(problem.classes) < 2:
        raise LabelError(f"there is one class, {problem.classes.tolist()[0]!r}. Add another.")
    labels, number = problem.classes.tolist(), problem.class_numbers()
    couples = list(combinations(range(len(labels)), 2))
    Limits.starting_now(max_seconds, None)  # refuses what is no time
    shares = _shares(max_seconds, len(couples) + len(labels))

    def asked(rows: Any, y: Any) -> Certificate | None:
        try:
            return separability(
                problem.X[rows], y, fit_intercept=fit_intercept, max_seconds=next(shares)
            )
        except UndecidedError:
            if max_seconds is None:
                raise
            return None

    pairs = {}
    for a, b in couples:
        both = np.flatnonzero((number == a) | (number == b))
        pairs[labels[a], labels[b]] = asked(both, problem.classes[number[both]])
    rest = {label: asked(slice(None), number == k) for k, label in enumerate(labels)}
    return VerdictTable(problem.classes, pairs, rest)


def _shares(max_seconds: float | None, questions: int) -> Iterator[float | None]:
    """How long each question may take."""
    began = time.perf_counter()
    for left in range(questions, 0, -1):
        spent = time.perf_counter() - began
        yield None if max_seconds is None else max(max_seconds - spent, 0.0) / left


def _verdict(certificate: Certificate | None) -> str:
    return "undecided" if certificate is None else certificate.verdict
